# SPDX-License-Identifier: Apache-2.0
"""What the tests of bench share: replayed runs and their journals."""
import json
import os
import statistics
from math import comb

from support import CommandTest

REPLAY = os.environ["ISOHULL_REPLAY"]  # tests/data/replay


def interval(samples, level=0.95):
    """Exact interval of the median from order statistics, or None."""
    n, k = len(samples), 0
    while 2 * (k + 1) <= n and 2 ** n - 2 * sum(comb(n, i) for i in range(k + 1)) >= level * 2 ** n:
        k += 1
    ordered = sorted(samples)
    return [ordered[k - 1], ordered[n - k]] if k else None


class BenchTest(CommandTest):
    def replay(self, trace, *args, code=0, problems=(), **kw):
        """Run bench on a trace of tests/data/replay; the finished process."""
        names = [word for p in problems for word in ("--problem", p)]
        done = self.isohull("bench", "--device", f"replay:{REPLAY}/{trace}.jsonl", "--impl", "cpu_pav,cpu_hulls", *names, *args, **kw)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def replay_json(self, trace, *args, **kw):
        return json.loads(self.replay(trace, *args, "--format", "json", **kw).stdout, parse_constant=self.fail)

    def lines(self, name):
        """The objects of a journal; a torn last line is left out."""
        with open(self.path(name), "rb") as file:
            return [json.loads(line) for line in file.read().split(b"\n")[:-1]]

    def cells(self, name):
        return [line for line in self.lines(name) if line["kind"] == "cell"]

    def counting(self, cell):
        return [ms for k, ms in enumerate(cell["samples_ms"]) if k not in cell.get("throttled", [])]

    def check_numbers(self, cell):
        """Median and interval are those of the samples."""
        self.assertAlmostEqual(cell["median_ms"], statistics.median(self.counting(cell)), delta=1e-12 * cell["median_ms"])
        self.assertEqual(cell.get("ci_ms"), interval(self.counting(cell)))
