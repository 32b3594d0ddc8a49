# SPDX-License-Identifier: Apache-2.0
"""compare.py of Google Benchmark reads what the front end writes: cells pair up by name, and its ratios are ours.

The environment names GBENCH_FAKE. Skips where compare.py (Debian: libbenchmark-tools) or a python with the numpy and SciPy
that it imports is not there."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

FAKE = os.environ["GBENCH_FAKE"]
COMPARE = pathlib.Path(os.environ.get("GBENCH_COMPARE", "/usr/share/benchmark/compare.py"))


def python_with_scipy():
    for python in ("/usr/bin/python3", sys.executable):
        if subprocess.run([python, "-c", "import numpy, scipy.stats"], capture_output=True).returncode == 0:
            return python
    return None


class Compare(unittest.TestCase):
    def test_reads_and_pairs(self):
        python = python_with_scipy()
        with tempfile.TemporaryDirectory() as folder:
            files = [os.path.join(folder, name) for name in ("old.json", "new.json")]
            for path, factor, impls in zip(files, ("1", "1.5"), ("steady,other,gone", "other,steady")):
                subprocess.run([FAKE, factor, impls, "--benchmark_repetitions=9", f"--benchmark_out={path}"], check=True, capture_output=True)
            dump = os.path.join(folder, "dump.json")
            done = subprocess.run([python, COMPARE, "--no-color", "-d", dump, "benchmarks", *files], text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(dump, encoding="utf-8") as stream:
                rows = json.load(stream)
        name = "{}/noise:f64:rows=2:n=500/cold/iterations:1/manual_time"
        singles = [r for r in rows if r["run_type"] == "iteration"]
        self.assertEqual([r["name"] for r in singles], [name.format("steady"), name.format("other")])
        for row in singles:
            self.assertEqual(len(row["measurements"]), 9)
            for k, pair in enumerate(row["measurements"]):
                self.assertAlmostEqual(pair["real_time"], 3 + k)
                self.assertAlmostEqual(pair["real_time_other"], 1.5 * (3 + k))
                self.assertAlmostEqual(pair["time"], 0.5)
            self.assertLess(row["utest"]["time_pvalue"], 0.5)
        self.assertIn(name.format("steady"), done.stdout)
        self.assertIn("+0.5000", done.stdout)
        self.assertNotIn("gone/", done.stdout)


if __name__ == "__main__":
    missing = None
    if not COMPARE.exists():
        missing = f"no {COMPARE} (Debian: libbenchmark-tools)"
    elif not python_with_scipy():
        missing = "no python with numpy and SciPy (Debian: python3-scipy)"
    if missing:
        print("skipped:", missing)
        sys.exit(77)
    unittest.main()
