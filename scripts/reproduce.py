#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The main job of ./reproduce: fit the real data with every solver, draw the curves, write a page about it.

usage: reproduce.py ISOHULL FOLDER      exit status 0, or 5 if two solvers give different fits
"""
import collections
import csv
import datetime
import json
import pathlib
import platform
import shlex
import subprocess
import sys

import reproduce_page

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = "datasets/real/departures.csv"
FITS = [  # (file and title, what to add to the command)
    ("all", "all flights", []),
    ("by_carrier", "per carrier", ["--by", "carrier"]),
]
MADE = ["noise:f64:n=1e6", "noise:f64:w=uniform:n=1e6", "labels:f64:n=1e6", "increasing:f64:n=1e6"]


def run(words, show=True):
    """Run a command from the top of the tree; print it as a person would type it; its output, or the end of the job."""
    if show:
        print("   $ " + shlex.join(words), flush=True)
    try:
        done = subprocess.run(words, cwd=ROOT, text=True, capture_output=True, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        sys.exit(f"reproduce.py: {words[0]} is not installed")
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        sys.exit(f"reproduce.py: exit status {done.returncode} of: {shlex.join(words)}")
    return done.stdout


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def fit_with_every_solver(isohull, folder):
    """Table rows: what was fitted, solver, what `fit --json` says. The curve files are those of the first solver."""
    listed = json.loads(run([isohull, "list", "--json"]))["implementations"]
    solvers = [i["name"] for i in listed if i["device"] == "cpu" and i["claim"] == "canonical" and i["available"]]
    rows = []
    for stem, title, extra in FITS:
        for solver in solvers:
            curve = folder / f"{stem}.csv" if solver == solvers[0] else folder / f"{stem}.{solver}.csv"
            words = [isohull, "fit", DATA, "--x", "dep_delay", "--y", "late", "--w", "flights", *extra]
            words += ["--impl", solver, "-o", str(curve.relative_to(ROOT)), "--json"]
            rows.append({"title": title, "command": shlex.join(words), "curve": curve, **json.loads(run(words))})
    return solvers, rows


def fit_made_data(isohull, folder, solvers):
    """Likewise for data from formulas, large enough for the times to mean something. The arrays are not kept."""
    rows = []
    y, w = str(folder.relative_to(ROOT) / "y.npy"), str(folder.relative_to(ROOT) / "w.npy")
    for problem in MADE:
        weights = ["--weights", w] if ":w=" in problem else []
        title = run([isohull, "gen", problem, "-o", y, *(["--weights-out", w] if weights else [])]).strip()
        for solver in solvers:
            words = [isohull, "fit", y, *weights, "--impl", solver, "--json"]
            rows.append({"title": title, **json.loads(run([*words, "--threads", "1"]))})
            with_all = json.loads(run(words))
            if with_all["threads"] > 1:
                rows.append({"title": title, **with_all})
    for name in ("y.npy", "w.npy"):
        (folder / name).unlink()
    return rows


def agreement(rows):
    """For each fitted set: are all digests, and all curve files if there are any, the same?"""
    same = {}
    for title in dict.fromkeys(row["title"] for row in rows):
        of_title = [row for row in rows if row["title"] == title]
        files = {row["curve"].read_bytes() for row in of_title if "curve" in row}
        same[title] = len({row["digest"] for row in of_title}) == 1 and len(files) <= 1
    return same


def shares(observations, path):
    """Share of late flights at each minute of departure delay, for the dots of the figure."""
    late, flights = collections.Counter(), collections.Counter()
    for row in observations:
        late[int(row["dep_delay"])] += float(row["late"]) * int(row["flights"])
        flights[int(row["dep_delay"])] += int(row["flights"])
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("minute,share,flights\n")
        for minute in sorted(flights):
            stream.write(f"{minute},{late[minute] / flights[minute]!r},{flights[minute]}\n")


def carriers(observations, curves):
    """Per carrier, most flights first: flights, and the departure delay from which lateness is more likely than not."""
    flights = collections.Counter()
    for row in observations:
        flights[row["carrier"]] += int(row["flights"])
    table = []
    for name, count in flights.most_common():
        points = [(int(float(row["x"])), float(row["fit"])) for row in curves if row["carrier"] == name]
        even = next((x for x, fit in points if fit >= 0.5), None)
        at_departure = [fit for x, fit in points if x <= 0]
        table.append({"name": name, "flights": count, "on_time": at_departure[-1] if at_departure else None, "even": even})
    return table


def draw(script, output, **names):
    words = [part for name, value in {**names, "output": output}.items() for part in ("-e", f"{name}='{value}'")]
    run(["gnuplot", *words, script], show=False)
    print(f"   $ gnuplot {script}  ->  {output}", flush=True)


def main():
    isohull, folder = sys.argv[1], (ROOT / sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():  # nothing of an earlier run may pass for a result of this one
        if old.is_file():
            old.unlink()
    solvers, rows = fit_with_every_solver(isohull, folder)
    made = fit_made_data(isohull, folder, solvers)
    same = agreement(rows + made)

    observations = read_csv(ROOT / DATA)
    where = folder.relative_to(ROOT)
    shares(observations, folder / "shares.csv")
    table = carriers(observations, read_csv(folder / "by_carrier.csv"))
    draw("plots/departures_all.gp", f"{where}/all.svg", shares=f"{where}/shares.csv", curve=f"{where}/all.csv")
    draw("plots/departures_by_carrier.gp", f"{where}/by_carrier.svg", curve=f"{where}/all.csv", curves=f"{where}/by_carrier.csv",
         carriers=" ".join(c["name"] for c in table), flights=" ".join(str(c["flights"]) for c in table))
    reproduce_page.write(folder, {
        "version": run([isohull, "--version"], show=False).splitlines()[0],
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": reproduce_page.cpu_name() + ", " + platform.system() + " " + platform.machine(),
        "solvers": solvers, "rows": rows, "made": made, "same": same, "carriers": table,
        "flights": sum(c["flights"] for c in table), "data": DATA,
        "report": "measured/report.html" if (folder / "measured" / "report.html").exists() else None,
    })
    for title, agree in same.items():
        print(f"   {title}: " + (f"the same bits from {' '.join(solvers)}" if agree else "THE SOLVERS DISAGREE"))
    return 0 if all(same.values()) else 5


if __name__ == "__main__":
    sys.exit(main())
