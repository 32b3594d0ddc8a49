# SPDX-License-Identifier: Apache-2.0
"""results check: sound journals pass, every kind of damage is named; journal.schema.json says the same of each line as far as
a schema can (needs the Python package jsonschema; skipped without it)."""
import copy
import json
import os
import unittest

from bench_support import BenchTest

try:
    import jsonschema
except ImportError:
    jsonschema = None

ABSENT = object()
A = "noise:f32:n=1000"


def changed(line, path, value):
    """A copy with one field set or taken away. path: keys with dots between."""
    line = copy.deepcopy(line)
    *outer, last = path.split(".")
    inner = line
    for key in outer:
        inner = inner[key]
    if value is ABSENT:
        del inner[last]
    else:
        inner[last] = value
    return line


REQUIRED = ["schema", "kind", "run", "impl", "problem", "device", "code_hash", "status", "rows", "n", "protocol", "samples_ms", "median_ms",
            "protocol.cache", "protocol.settle", "protocol.settle_max", "protocol.samples_min", "protocol.cell_ms"]
RUN_REQUIRED = ["run", "version", "commit", "dirty", "argv", "seed", "time", "cpu", "cpus", "isa", "memory_bytes", "os", "compiler", "flags",
                "buildtype", "gsl", "code_hash"]
# bad for both
BAD = [("max_deviation", -1), ("max_deviation", "0"), ("schema", 2), ("schema", "1"), ("kind", "sell"), ("run", ""), ("run", 7), ("impl", "x" * 256), ("problem", ""), ("code_hash", "0" * 32),
       ("status", "fine"), ("status", "error"), ("rows", -1), ("n", 1.5), ("n", "9"), ("digest", "0123456789abcdeF"), ("digest", "0123"),
       ("blocks", -1), ("protocol.cache", "warm"), ("protocol.settle", -1), ("protocol.settle_max", 2**31), ("protocol.more", 1), ("protocol.call", "slow"), ("protocol.work", "none"), ("threads", 0.5),
       ("samples_ms", []), ("samples_ms", [1, -1]), ("samples_ms", [1, "2"]), ("samples_ms", 3), ("throttled", []), ("throttled", [0.5]), ("throttled", [0, 0]),
       ("median_ms", -1), ("median_ms", None), ("ci_ms", [1]), ("ci_ms", [1, -2]), ("copy_samples_ms", [None]), ("stages_ms", {"chunk": -1}),
       ("stages_ms", {str(k): 1 for k in range(17)}), ("workspace_bytes", "many"), ("closure", -1), ("peak_bytes", 0.5), ("referee", 5), ("gpu_before", {"sm_mhz": "fast"}), ("gpu_after", 1), ("counters", {"walks": 0.5}), ("counters", []), ("accuracy", {"x": 1}),
       ("colour", "red")]
# what only the command sees
DEEP = [("median_ms", 5.5), ("ci_ms", ABSENT), ("ci_ms", [1, 12]), ("ci_ms", [3, 2]), ("digest", "fedcba9876543210"), ("throttled", [1000]), ("run", "another")]
GOOD = [("why", "no reason"), ("digest", ABSENT), ("digest_want", ABSENT), ("blocks", ABSENT), ("threads", ABSENT), ("copy_samples_ms", ABSENT),
        ("read_ms", ABSENT), ("counters", {"walks": 3}), ("stages_ms", {"chunk": 0.5}), ("workspace_bytes", 0), ("closure", 0.98),
        ("peak_bytes", 12), ("referee", "cpu_pav"), ("gpu_before", {"sm_mhz": 1980, "power_w": 90.5}), ("gpu_after", {}), ("protocol.call", "graph"), ("protocol.work", "backward")]


class Results(BenchTest):
    def setUp(self):
        super().setUp()
        self.replay("good", "--time", "1s", "-o", "j", problems=[A])
        self.run_line, self.cell, _ = self.lines("j")
        with open(os.environ["ISOHULL_SCHEMA"], encoding="utf-8") as file:
            self.schema = json.load(file)

    def check(self, *lines, end="\n"):
        self.write("c", "".join(json.dumps(line) + "\n" for line in lines)[:-1] + end)
        return self.isohull("results", "check", "c")

    def valid(self, line):
        return jsonschema.Draft202012Validator(self.schema).is_valid(line)

    def test_sound(self):
        for trace, args, code in ("good", ["--time", "1s"], 0), ("faults", ["--limit", "300ms", "--time", "10s"], 5):
            problems = [A] if trace == "good" else [f"noise:f32:n={k}" for k in range(1, 8)]
            self.replay(trace, *args, "-o", trace, problems=problems, code=code)
        done = self.good("results", "check", "good", "faults")
        self.assertIn("good: 1 runs, 2 cells, 0 differences\n", done.stdout)
        self.assertIn("faults: 1 runs, 14 cells, 0 differences\n", done.stdout)
        if jsonschema:
            jsonschema.Draft202012Validator.check_schema(self.schema)
            for line in self.lines("good") + self.lines("faults"):
                jsonschema.validate(line, self.schema)

    def each(self, cases, code, valid):
        for path, value in cases:
            with self.subTest(path=path, value=str(value)[:40]):
                line = changed(self.cell, path, value)
                done = self.check(self.run_line, line)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                if code:
                    self.assertIn("c:2: ", done.stderr)
                if jsonschema:
                    self.assertEqual(self.valid(line), valid)

    def test_bad_lines(self):
        self.each(BAD + [(key, ABSENT) for key in REQUIRED], 1, False)

    def test_what_a_schema_cannot_see(self):
        self.each(DEEP, 1, True)

    def test_good_lines(self):
        self.each(GOOD, 0, True)

    def test_accuracy_cell(self):
        line = {k: v for k, v in self.cell.items() if k in ("schema", "kind", "run", "impl", "problem", "device", "code_hash", "status", "rows", "n")}
        line["accuracy"] = {"largest": 0.5}
        self.assertEqual(self.check(self.run_line, line).returncode, 0)
        wrong = {**line, "accuracy": {"largest": "much"}}
        self.assertEqual(self.check(self.run_line, wrong).returncode, 1)
        if jsonschema:
            self.assertTrue(self.valid(line))
            self.assertFalse(self.valid(wrong))

    def test_runs(self):
        for key in RUN_REQUIRED:
            line = changed(self.run_line, key, ABSENT)
            self.assertEqual(self.check(line).returncode, 1, key)
            if jsonschema:
                self.assertFalse(self.valid(line), key)
        for key, value in ("dirty", 1), ("argv", "x"), ("argv", [1]), ("cpus", 0.5), ("seed", -1):
            line = changed(self.run_line, key, value)
            self.assertEqual(self.check(line).returncode, 1, key)
            if jsonschema:
                self.assertFalse(self.valid(line), key)
        more = changed(self.run_line, "gpu", {"name": "a device"})  # a run may say more
        self.assertEqual(self.check(more).returncode, 0)

    def test_first_differences_are_named(self):
        line = changed(self.cell, "median_ms", 5.5)
        done = self.check(self.run_line, *[line] * 30)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"c:2: median_ms is 5.5, but the samples give {self.cell['median_ms']:.15g}", done.stderr)
        self.assertIn("10 differences more", done.stderr)

    def test_torn_and_unreadable(self):
        done = self.check(self.run_line, self.cell, end="")
        self.assertEqual(done.returncode, 0)
        self.assertIn("torn", done.stderr)
        self.write("c", "[1,\n")
        self.assertEqual(self.isohull("results", "check", "c").returncode, 1)
        self.assertEqual(self.isohull("results", "check", "none").returncode, 2)
        self.assertEqual(self.isohull("results", "check", "none", "c").returncode, 2)
        self.bad("results", says="results check")
        self.bad("results", "check", says="which journals")
        self.bad("results", "chek", "x", says="results check")

    @unittest.skipUnless(jsonschema, "the Python package jsonschema is not there: the schema file has not been compared with the command")
    def test_schema_was_compared(self):
        self.assertTrue(self.valid(self.cell))


if __name__ == "__main__":
    unittest.main()
