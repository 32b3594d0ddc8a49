# SPDX-License-Identifier: Apache-2.0
"""scripts/gpu_goals over journals made here."""
import json
import os
import subprocess
import sys
import tempfile
import unittest


def cell(problem, ms, impl="segments", copy=None, work=None, call="graph", run="r", **more):
    protocol = {"cache": "cold", "settle": 0, "settle_max": 3, "samples_min": 7, "cell_ms": 0, "call": call}
    if work:
        protocol["work"] = work
    line = {"schema": 1, "kind": "cell", "run": run, "impl": impl, "problem": problem, "device": "cuda:0", "code_hash": "c", "status": "ok", "rows": 1,
            "n": 1, "protocol": protocol, "samples_ms": [ms], "median_ms": ms, **more}
    if copy:
        line["copy_samples_ms"] = [copy] * 3
    return line


class Goals(unittest.TestCase):
    def table(self, *lines, code):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "j.jsonl")
            with open(path, "w", encoding="utf-8") as stream:
                stream.write("".join(json.dumps(line) + "\n" for line in ({"schema": 1, "kind": "run", "run": "r"},
                                                                         {"schema": 1, "kind": "run", "run": "bad", "timing_refused": "-G"}, *lines)))
            done = subprocess.run([sys.executable, "-B", os.environ["GPU_GOALS"], path], text=True, capture_output=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_ratios(self):
        noise, batch = "noise:f32:n=100000000", "noise:f32:rows=1000000:n=16"
        text = self.table(cell(noise, 2.0, copy=0.2), cell(noise, 2.2, copy=0.2), cell(noise, 1.8, copy=0.2),  # 2.0 of three processes
                          cell(noise, 1.8, impl="segments_paper"), cell(noise, 99.0, run="bad", copy=0.1),
                          cell(batch, 1.0, counters={"chunks": 5}), cell(batch, 2.4, work="fit+backward"), code=0)
        self.assertIn(f"| {noise}, cold, graph: over the copy | 10 | 10 | yes |", text)
        self.assertIn(f"| {noise}, cold, graph: canonical over approximate | 1.11 | 1.25 | yes |", text)
        self.assertIn(f"| {batch}, cold, graph: fit and gradient over the fit | 2.4 | 2.5 | yes |", text)
        self.assertIn(f"| {batch}: rows solved by the exact path | 0 | 0 | yes |", text)
        self.assertIn("0 not met, 35 not measured", text)

    def test_missed(self):
        noise = "noise:f32:n=100000000"
        text = self.table(cell(noise, 2.1, copy=0.2, counters={"rows_exact": 1}), code=1)
        self.assertIn("over the copy | 10.5 | 10 | no |", text)
        self.assertIn("rows solved by the exact path | 1 | 0 | no |", text)
        self.assertIn("2 not met", text)

    def test_peer(self):
        noise = "noise:f32:n=1000000"
        for slowest, word, code in ((1.04, "yes", 0), (1.2, "no", 1)):
            ours, theirs = (0.98, 0.99, 1.0, 1.01, slowest), (1.0, 1.05, 1.06, 1.07, 1.08)
            text = self.table(*(cell(noise, ms) for ms in ours), *(cell(noise, ms, impl="torchisotonic") for ms in theirs), code=code)
            row = next(line for line in text.splitlines() if "over torchisotonic, upper end" in line)
            self.assertTrue(row.endswith(f"| 1.02 | {word} |"), row)

    def test_what_does_not_count(self):
        emulated = {**cell("noise:f32:n=100000000", 1.0, copy=1.0), "device": "emulated:0"}
        wrong = {**cell("noise:f32:n=100000000", 1.0, copy=1.0), "status": "wrong", "why": "z"}
        self.assertIn("0 not met, 38 not measured", self.table(emulated, wrong, code=0))


if __name__ == "__main__":
    unittest.main()
