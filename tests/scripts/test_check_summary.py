#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The closing line of ./check: what counts as passed, failed and skipped, and the exit status."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SUMMARY = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_summary.py"


def meson(result, stdout="", stderr=""):
    return {"name": f"a {result} test", "result": result, "stdout": stdout, "stderr": stderr}


class Summary(unittest.TestCase):
    def check(self, stages, closing, status):
        """stages: file name -> its lines (dict: a line of testlog.json)."""
        with tempfile.TemporaryDirectory() as folder:
            for name, lines in stages.items():
                text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
                (pathlib.Path(folder) / name).write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, SUMMARY, folder], text=True, capture_output=True)
        self.assertEqual(done.stdout.splitlines()[-1], closing, done.stdout + done.stderr)
        self.assertEqual(done.returncode, status)
        return done.stdout

    def test_adds_up_stages_and_counts_plain_tests_once(self):
        self.check({"gcc.json": [meson("OK"), meson("SKIP"), meson("EXPECTEDFAIL")], "clang.json": [meson("OK")],
                    "fuzz.tsv": ["passed\tfuzz_npy", "skipped\tfuzz_gpu"]}, "4 passed, 0 failed, 2 skipped", 0)

    def test_counts_the_cases_of_cmocka(self):
        text = "[==========] 3 test(s) run.\n[  PASSED  ] 2 test(s).\n[  SKIPPED ] 1 test(s), listed below:\n"
        self.check({"gcc.json": [meson("OK", text)]}, "2 passed, 0 failed, 1 skipped", 0)

    def test_counts_failed_cases_and_names_the_test(self):
        out, err = "[  PASSED  ] 5 test(s).\n", "[  FAILED  ] 2 test(s), listed below:\n"
        text = self.check({"gcc.json": [meson("FAIL", out, err)]}, "5 passed, 2 failed, 0 skipped", 1)
        self.assertIn("FAILED gcc: a FAIL test", text)

    def test_a_test_that_dies_after_good_cases_has_failed(self):
        for result in ("FAIL", "TIMEOUT", "ERROR", "INTERRUPT"):
            self.check({"gcc.json": [meson(result, "[  PASSED  ] 5 test(s).\n")]}, "5 passed, 1 failed, 0 skipped", 1)

    def test_a_failed_build_fails(self):
        self.check({"gcc.tsv": ["failed\tbuild of out/check/gcc"]}, "0 passed, 1 failed, 0 skipped", 1)

    def test_nothing_run_is_no_success(self):
        self.check({}, "0 passed, 0 failed, 0 skipped", 1)


if __name__ == "__main__":
    unittest.main()
