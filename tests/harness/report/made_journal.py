#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A journal whose times are made up, for tests of reports: three implementations and a peer on four families at three
lengths, accuracy cells, a wrong cell, a peer that could not be installed. made_journal.py FILE"""
import json
import random
import sys

COST = {"cpu_pav": 4.0, "cpu_hulls": 9.0, "cpu_hulls:threads=1": 15.0, "cpu_exact": 160.0, "scipy": 21.0}  # ns per element
FAMILY = {"noise": 1.0, "increasing": 0.7, "sawtooth": 1.3, "trend": 1.9}
PROTOCOL = {"cache": "cold", "settle": 0.05, "settle_max": 10, "samples_min": 7, "cell_ms": 1000.0}


def run():
    return {"schema": 1, "kind": "run", "run": "r1", "version": "0.1.0", "commit": "0123456789ab", "dirty": False,
            "argv": ["isohull", "bench", "--preset", "made up"], "seed": 7, "time": "2026-01-02T03:04:05Z", "cpu": "a made-up processor",
            "cpus": 2, "isa": "avx512", "memory_bytes": 16 << 30, "os": "Linux", "compiler": "gcc 12", "flags": "-O3",
            "buildtype": "release", "gsl": "2.7.1", "code_hash": "c0de"}


def cell(impl, problem, n, **more):
    return {"schema": 1, "kind": "cell", "run": "r1", "impl": impl, "problem": problem, "device": "cpu", "code_hash": "c0de",
            "status": "ok", "rows": 1, "n": n, **more}


def times(random_, ms, count=9):
    return [ms * (1 + random_.random() / 10) for _ in range(count)]


def lines():
    random_ = random.Random(1)
    yield run()
    for family, factor in FAMILY.items():
        for n in (100_000, 1_000_000, 10_000_000):
            for impl, ns in COST.items():
                ms = ns * factor * n / 1e6
                stages = {"chunk": 0.5 * ms, "scan": 0.05 * ms, "merge": 0.2 * ms, "reconstruct": 0.25 * ms} if "hulls" in impl else {}
                digest = {} if impl == "scipy" else {"digest": "00112233445566aa", "digest_want": "00112233445566aa"}
                yield cell(impl, f"{family}:f64:n={n}", n, protocol=PROTOCOL, threads=1 if "threads=1" in impl else 2, order_seed=7, warmup_calls=3,
                           samples_ms=times(random_, ms), median_ms=1.0, ci_ms=[0.5, 2.0], copy_samples_ms=times(random_, 0.6 * n / 1e6),
                           read_ms=0.3 * n / 1e6, empty_call_ms=0.0009, **digest, **({"stages_ms": stages} if stages else {}))
    for family in FAMILY:
        for impl in COST:
            peer = impl == "scipy"
            accuracy = {"elements": 1000, "not_finite": 0, "not_rounded": 812 if peer else 0, "step_down": 0.0,
                        "deviation": random_.random() * (1e-14 if peer else 1e-16), "ulps": random_.uniform(20, 60) if peer else 0.5,
                        "objective_excess": 1e-30, "kkt": 3.5e-17, "blocks_exact": 17, "coinciding": 0, "coinciding_exact": 0}
            blocks = {} if peer else {"blocks": 17, "missing": 0, "extra": 0}
            digest = {} if peer else {"digest": "00112233445566aa", "digest_want": "00112233445566aa"}
            yield cell(impl, f"{family}:f64:n=1000", 1000, accuracy={**accuracy, **blocks}, **digest)
    wrong = cell("cpu_hulls", "wide:f64:n=1000", 1000, protocol=PROTOCOL, samples_ms=[0.25, 0.5, 1.0], median_ms=0.5,
                 digest="00112233445566aa", digest_want="ffffffffffffffff", why="digest differs")
    yield {**wrong, "status": "wrong"}
    yield {**cell("scikit-learn", "noise:f64:n=1000", 1000, protocol=PROTOCOL, samples_ms=[]), "status": "error", "why": "could not be installed"}


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as stream:
        for line in lines():
            stream.write(json.dumps(line) + "\n")
