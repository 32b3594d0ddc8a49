#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Add up what ./check ran: one table by stage, the names of what failed, and the closing line.

Reads a folder with STAGE.json (meson's testlog.json: one object a line) and STAGE.tsv (KIND<tab>NAME). A meson test that
runs cmocka counts as the cases that cmocka reports, any other as one. Exit status 1 if anything failed or nothing ran.
"""
import json
import pathlib
import re
import sys

CASES = {
    "passed": re.compile(r"^\[  PASSED  \] (\d+) test\(s\)\.", re.M),
    "failed": re.compile(r"^\[  FAILED  \] (\d+) test\(s\)", re.M),
    "skipped": re.compile(r"^\[  SKIPPED \] (\d+) test\(s\)", re.M),
}


def count_meson(test):
    """(passed, failed, skipped) of one line of testlog.json."""
    output = test.get("stdout", "") + "\n" + test.get("stderr", "")
    cases = {kind: sum(map(int, pattern.findall(output))) for kind, pattern in CASES.items()}
    result = test["result"]
    if result in ("OK", "EXPECTEDFAIL"):
        if sum(cases.values()) == 0:
            return 1, 0, 0
        return cases["passed"], cases["failed"], cases["skipped"]
    if result == "SKIP":
        return 0, 0, max(1, cases["skipped"])
    # failed, timed out, died half-way: at least one failure, whatever cmocka came to say
    return cases["passed"], max(1, cases["failed"]), cases["skipped"]


def main():
    folder = pathlib.Path(sys.argv[1])
    stages, failures = {}, []
    for path in sorted(folder.iterdir(), key=lambda p: p.stat().st_mtime):
        total = stages.setdefault(path.stem, [0, 0, 0])
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if path.suffix == ".json":
                test = json.loads(line)
                counts, name = count_meson(test), test["name"]
            else:
                kind, name = line.split("\t", 1)
                counts = tuple(int(kind == k) for k in ("passed", "failed", "skipped"))
            for k in range(3):
                total[k] += counts[k]
            if counts[1]:
                failures.append(f"{path.stem}: {name}")
    print(f"   {'stage':<12}{'passed':>8}{'failed':>8}{'skipped':>9}")
    for name, counts in stages.items():
        print(f"   {name:<12}{counts[0]:>8}{counts[1]:>8}{counts[2]:>9}")
    for failure in failures:
        print(f"   FAILED {failure}")
    passed, failed, skipped = (sum(c[k] for c in stages.values()) for k in range(3))
    print()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
