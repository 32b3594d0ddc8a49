# SPDX-License-Identifier: Apache-2.0
"""The front end for Google Benchmark: names, times and counters in its JSON, and the exit codes that it itself does not give.

The environment names GBENCH_FAKE, the front end over a target with made-up times."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

FAKE = os.environ["GBENCH_FAKE"]
PROBLEM = "noise:f64:rows=2:n=500"


class Gbench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name) / "out.json"

    def run_fake(self, impls, *flags, factor="1", out=True):
        words = [FAKE, factor, impls, *flags] + ([f"--benchmark_out={self.out}"] if out else [])
        return subprocess.run(words, text=True, capture_output=True, stdin=subprocess.DEVNULL)

    def rows(self):
        def refuse(word):
            raise AssertionError(f"{word} in the JSON")
        return json.loads(self.out.read_text(), parse_constant=refuse)

    def test_names_times_and_counters(self):
        done = self.run_fake("steady,other", "--benchmark_repetitions=3")
        self.assertEqual(done.returncode, 0, done.stderr)
        read = self.rows()
        rows = [r for r in read["benchmarks"] if r["run_type"] == "iteration"]
        name = f"{{}}/{PROBLEM}/cold/iterations:1/manual_time"
        self.assertEqual([r["name"] for r in rows], [name.format("steady")] * 3 + [name.format("other")] * 3)
        # each repetition is one sample, after a warm-up of 3
        self.assertEqual([r["real_time"] for r in rows], [3, 4, 5] * 2)
        for r in rows:
            self.assertEqual((r["time_unit"], r["iterations"], r["repetitions"]), ("ms", 1, 3))
            self.assertEqual((r["elements"], r["rows"], r["blocks"], r["threads"], r["workspace_bytes"]), (1000, 2, 7, 1, 4096))
            self.assertAlmostEqual(r["ns_per_element"], 1e3 * r["real_time"])
            self.assertAlmostEqual(r["times_copy"], r["real_time"] / 2)
            self.assertEqual(r["label"], "cold digest=0123456789abcdef")
        context = read["context"]
        self.assertEqual((context["isohull_commit"], context["isohull_cpus"], context["isohull_argv"]), ("abc", "2", '["bench","x"]'))
        medians = [r["real_time"] for r in read["benchmarks"] if r.get("aggregate_name") == "median"]
        self.assertEqual(medians, [4, 4])

    def test_unknown_number_is_left_out(self):
        done = self.run_fake("unmeasured")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("workspace_bytes", self.rows()["benchmarks"][0])

    def test_wrong_results_are_exit_code_5(self):
        for impl, why in (("wrong_digest", "digest ffffffffffffffff, canonical 0123456789abcdef"), ("wrong_sample", "not the canonical fit")):
            done = self.run_fake(f"steady,{impl}", "--benchmark_repetitions=3")
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn(why, done.stderr)
            rows = [r for r in self.rows()["benchmarks"] if r["name"].startswith(impl)]
            bad = [r for r in rows if r.get("error_occurred")]
            self.assertTrue(bad)
            self.assertIn("wrong", bad[0]["error_message"])
            if impl == "wrong_digest":  # no time at all
                self.assertEqual(rows[:3], [r for r in bad if r["run_type"] == "iteration"])
            good = [r for r in self.rows()["benchmarks"] if r["name"].startswith("steady") and r["run_type"] == "iteration"]
            self.assertEqual(len(good), 3)

    def test_unsupported_is_a_row(self):
        done = self.run_fake("cannot,steady")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("unsupported: no weights", self.rows()["benchmarks"][0]["error_message"])

    def test_a_failing_cell_is_exit_code_2_and_the_others_run(self):
        done = self.run_fake("breaks,steady")
        self.assertEqual(done.returncode, 2)
        self.assertIn("prepare broke", done.stderr)
        self.assertEqual([bool(r.get("error_occurred")) for r in self.rows()["benchmarks"]], [True, False])
        self.assertEqual(self.run_fake("breaks,wrong_digest").returncode, 5)

    def test_flags(self):
        done = self.run_fake("steady,other", "--benchmark_filter=^oth")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.rows()["benchmarks"]), 1)
        done = self.run_fake("steady", "--benchmark_filter=nothing")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no cell matches", done.stderr)
        for flag in ("--benchmark_no_such_flag", "--benchmark_format=bogus", "--benchmark_repetitions=three"):
            self.assertEqual(self.run_fake("steady", flag, out=False).returncode, 2, flag)
        self.assertEqual(self.run_fake("steady", "--benchmark_out=/nonexistent/x", out=False).returncode, 2)
        done = self.run_fake("steady", "--help", out=False)
        self.assertEqual(done.returncode, 0)
        done = self.run_fake("steady", "--benchmark_list_tests", out=False)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, f"steady/{PROBLEM}/cold/iterations:1/manual_time"))


if __name__ == "__main__":
    unittest.main()
