#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The measuring job of ./reproduce: accuracy of every solver, a short benchmark beside SciPy, one report of both.

usage: reproduce_measure.py ISOHULL FOLDER      exit status 0, 5 if a fit is not the canonical one, 1 if something else failed
"""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEER = "scipy"
FAMILIES = ["noise", "increasing", "sawtooth", "trend"]
LENGTHS = ["10000", "100000", "1000000"]
BENCH_TIME = "75s"
SETUP_SECONDS = 240  # installing the peer: most of it is the download


def run(words, accepted=(0,), **more):
    """Run from the top of the tree, printed as a person would type it. Exit status; a status that is not accepted is said."""
    print("   $ " + shlex.join(map(str, words)), flush=True)
    try:
        done = subprocess.run(list(map(str, words)), cwd=ROOT, text=True, capture_output=True, stdin=subprocess.DEVNULL, **more)
    except subprocess.TimeoutExpired:
        print(f"     not done after {more['timeout']} seconds: given up", flush=True)
        return 124
    if done.returncode not in accepted:
        sys.stdout.write(done.stdout[-2000:])
        sys.stdout.write(done.stderr[-2000:])
        print(f"     exit status {done.returncode}", flush=True)
    return done.returncode


def measure_peer(isohull, folder, journal):
    """Errors of the peer's fits: it fits what `gen` writes, `accuracy` compares."""
    python = pathlib.Path(os.environ.get("ISOHULL_PEERS_DIR") or "out/peers") / "venv" / "bin" / "python"
    y, z = folder / "y.npy", folder / "z.npy"
    for family in FAMILIES:
        problem = f"{family}:f64:n={LENGTHS[0]}"
        if run([isohull, "gen", problem, "-o", y]) or run([python, "scripts/peer_fit.py", y, z], timeout=120):
            return
        run([isohull, "accuracy", "--problem", problem, "--fit", z, "--name", PEER, "-o", journal])
    for made in (y, z):
        (ROOT / made).unlink()


def main():
    isohull, folder = sys.argv[1], (ROOT / sys.argv[2]).resolve()
    folder = folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder
    shutil.rmtree(ROOT / folder, ignore_errors=True)  # nothing of an earlier run may pass for a result of this one
    (ROOT / folder).mkdir(parents=True)
    journal = folder / "journal.jsonl"

    statuses = [run([isohull, "accuracy", "-o", journal])]
    have_peer = run(["scripts/peers", "setup", PEER], accepted=range(256), timeout=SETUP_SECONDS) == 0
    print(f"     {PEER} is {'there' if have_peer else 'not there: its rows say so'}", flush=True)
    problems = [word for family in FAMILIES for n in LENGTHS for word in ("--problem", f"{family}:f64:n={n}")]
    command = [isohull, "bench", *problems, "--peer", PEER, "--time", BENCH_TIME, "-o", journal]
    bench = run(command, accepted=(0, 3, 6))
    if bench == 6:  # a busy machine: the same command goes on with what is left
        bench = run(command, accepted=(0, 3, 6))
    statuses.append(0 if bench in (3, 6) else bench)  # some cells may still be left; the report has the others
    if have_peer:
        measure_peer(isohull, folder, journal)
    statuses.append(run([isohull, "report", journal, "-o", folder]))
    statuses.append(run([isohull, "verify", folder / "report.html"]))
    return 5 if 5 in statuses else 1 if any(statuses) else 0


if __name__ == "__main__":
    sys.exit(main())
