# SPDX-License-Identifier: Apache-2.0
"""bench over recorded traces: protocol, tables, statuses, every exit code, resumption."""
import json
import os
import re
import subprocess
import unittest

from bench_support import REPLAY, BenchTest
from support import EXE

A, B = "noise:f32:n=1000", "noise:f32:n=2000000"


def fault(k):
    return f"noise:f32:n={k}"


class Good(BenchTest):
    def test_numbers_of_a_run(self):
        got = self.replay_json("good", problems=[A, B], *["--time", "1s"])
        self.assertEqual([(c["problem"], c["impl"], c["status"]) for c in got["cells"]],
                         [(A, "cpu_pav", "ok"), (A, "cpu_hulls", "ok"), (B, "cpu_pav", "ok"), (B, "cpu_hulls", "ok")])
        for cell in got["cells"]:
            self.check_numbers(cell)
            self.assertGreaterEqual(len(cell["samples_ms"]), 7)
            self.assertEqual(cell["digest"], cell["digest_want"])
        pav, hulls = got["cells"][:2]
        self.assertEqual(pav["warmup_calls"], 4)  # 4 2 2 2: settled once three agree
        self.assertEqual(pav["samples_ms"][:7], [1, 3, 5, 7, 9, 11, 13])
        self.assertEqual((pav["empty_call_ms"], pav["read_ms"], pav["workspace_bytes"]), (0.001, 0.125, 64))
        self.assertEqual((hulls["stages_ms"], hulls["counters"]), ({"chunk": 5, "merge": 2.5}, {"walks": 7}))
        self.assertEqual(set(pav["copy_samples_ms"]), {0.25, 0.5})

    def test_budget_sets_the_number_of_samples(self):
        few, many = (self.replay_json("good", "--time", t, problems=[A])["cells"] for t in ("1s", "100s"))
        self.assertLess(len(few[1]["samples_ms"]), 101)
        self.assertEqual(len(many[1]["samples_ms"]), 101)

    def test_table(self):
        table = self.replay("good", "--time", "1s", problems=[A, B]).stdout
        self.assertIn("Cold samples", table)
        self.assertIn("Replayed from", table)
        rows = {m[1]: m[2].split() for m in re.finditer(r"^  (cpu_hulls) (.*)$", table.split(B)[0], re.M)}
        # median 8 ms, copy 0.5: 16 times; 1000 elements: 8000 ns each; 2 us of it are the empty call
        self.assertEqual((rows["cpu_hulls"][0], rows["cpu_hulls"][5:8]), ("8", ["16", "8000", "7998"]))
        self.assertNotIn("us > empty", table.split(B)[1])  # from a million elements on
        self.assertIn("Hot samples", self.replay("good", "--protocol", "hot", problems=[A]).stdout)

    def test_same_seed_same_run(self):
        one, two = (self.replay_json("good", "--seed", "5", problems=[A])["cells"] for _ in range(2))
        self.assertEqual([c["samples_ms"] for c in one], [c["samples_ms"] for c in two])
        self.assertEqual(one[0]["order_seed"], 5)

    def test_names_with_options(self):
        trace = self.write("t.jsonl", '{"problem": "noise:f32:n=9", "n": 9, "blocks": 1, "digest": "0123456789abcdef", "copy_ms": [1]}\n'
                                      '{"problem": "noise:f32:n=9", "impl": "cpu_hulls:threads=1:chunk=2048", "calls_ms": [1]}\n')
        got = json.loads(self.good("bench", "--device", f"replay:{trace}", "--problem", "noise:n=9", "--impl", "cpu_hulls:chunk=2048",
                                   "--threads", "1", "--format", "json").stdout)
        self.assertEqual(got["cells"][0]["impl"], "cpu_hulls:threads=1:chunk=2048")


class Faults(BenchTest):
    def cell(self, k, impl, *args, **kw):
        cells = self.replay_json("faults", *args, problems=[fault(k)], **kw)["cells"]
        return next(c for c in cells if c["impl"] == impl)

    def test_wrong_digest(self):
        cell = self.cell(1, "cpu_hulls", code=5)
        self.assertEqual((cell["status"], cell["samples_ms"]), ("wrong", []))
        self.assertNotIn("median_ms", cell)
        table = self.replay("faults", problems=[fault(1)], code=5).stdout
        self.assertRegex(table, r"cpu_hulls +wrong: the digest")
        self.assertRegex(table, r"cpu_pav +1 ")  # the other one is measured

    def test_wrong_sample(self):
        cell = self.cell(2, "cpu_pav", code=5)
        self.assertEqual((cell["status"], cell["samples_ms"]), ("wrong", []))
        self.assertEqual(self.cell(2, "cpu_hulls", code=5)["status"], "ok")

    def test_death(self):
        cell = self.cell(3, "cpu_pav", code=1)
        self.assertEqual(cell["status"], "error")
        self.assertIn("signal 11", cell["why"])
        self.assertEqual(self.cell(3, "cpu_hulls", code=1)["status"], "ok")  # measured again without the culprit

    def test_hang(self):
        cell = self.cell(4, "cpu_pav", "--limit", "300ms", code=6)
        self.assertEqual(cell["status"], "timeout")
        self.assertIn("--limit", cell["why"])
        self.assertEqual(self.cell(4, "cpu_hulls", "--limit", "300ms", code=6)["status"], "ok")

    def test_failure_and_unsupported(self):
        self.assertEqual(self.cell(5, "cpu_pav", code=1)["status"], "error")
        cell = self.cell(5, "cpu_hulls", code=1)
        self.assertEqual((cell["status"], cell["why"]), ("unsupported", "not on Sundays"))

    def test_unsupported_alone_is_no_fault(self):
        done = self.isohull("bench", "--device", f"replay:{REPLAY}/faults.jsonl", "--problem", fault(5), "--impl", "cpu_hulls")
        self.assertEqual(done.returncode, 0)
        self.assertIn("unsupported: not on Sundays", done.stdout)

    def test_throttled(self):
        got = {c["impl"]: c for c in self.replay_json("faults", "--time", "80ms", problems=[fault(6)], code=3)["cells"]}
        pav, hulls = got["cpu_pav"], got["cpu_hulls"]
        self.assertEqual(pav["status"], "ok")
        self.assertEqual([pav["samples_ms"][k] for k in pav["throttled"]], [900, 900])  # marked, kept, not counted
        self.assertEqual(pav["median_ms"], 1)
        self.assertGreaterEqual(len(pav["samples_ms"]) - 2, 7)                         # and repeated
        self.check_numbers(pav)
        self.assertEqual(hulls["status"], "error")  # none counts: undecided
        self.assertIn("throttled", hulls["why"])
        table = self.replay("faults", "--time", "80ms", problems=[fault(6)], code=3).stdout
        self.assertIn("(2 throttled, left out)", table)
        self.assertRegex(table, r"cpu_hulls +undecided: throttled")

    def test_too_slow_for_the_time(self):
        cell = self.cell(7, "cpu_pav", "--time", "10s", code=6)
        self.assertEqual(cell["status"], "timeout")
        self.assertIn("60 s", cell["why"])

    def test_time_spent(self):
        done = self.replay("good", "--time", "100ms", problems=[A, B], code=6)
        self.assertIn("not measured: cpu_hulls on " + B, done.stderr)
        self.assertRegex(done.stdout.split(B)[1], r"cpu_pav +not measured")

    def test_precedence(self):
        args = ["--limit", "300ms", "--time", "30s"]
        self.replay("faults", *args, problems=[fault(k) for k in (3, 1, 6, 4)], code=5)
        self.replay("faults", *args, problems=[fault(k) for k in (6, 3, 4)], code=1)
        self.replay("faults", *args, problems=[fault(k) for k in (4, 6)], code=3)

    def test_unknown_problem_in_a_trace(self):
        done = self.replay("good", problems=["noise:n=77"], code=1)
        self.assertIn("the trace has no problem noise:f32:n=77", done.stdout)


class Usage(BenchTest):
    def test_refused(self):
        for args, says in (["--time", "soon"], "--time"), (["--time", "-3s"], "--time"), (["--protocol", "warm"], "--protocol"), (["--format", "xml"], "--format"), \
                (["--impl", "cpu_pov"], "cpu_pov"), (["--impl", "cpu_hulls,cpu_hulls:chunk=0:chunk=1"], "chunk"), (["--problem", "noize:n=3"], "noize"), \
                (["--preset", "smok"], "smoke"), (["--device", "gpu"], "--device"), (["--device", "replay:none"], "none"), (["--seed", "x"], "--seed"), \
                (["--threads", "0"], "--threads"), (["--limit", "1y"], "--limit"), (["extra"], "extra"):
            self.bad("bench", *args, says=says)
        self.bad("bench", "--device", "cuda:99", says="cuda:99", code=77, env={"ISOHULL_TIMING_ANYWAY": "1"})
        for args, says in (["--call", "graph"], "--call"), (["--what", "backward"], "--what"), (["--device", "cuda:x"], "--device"), (["--device", "cuda:"], "--device"):
            self.bad("bench", *args, says=says)

    def test_malformed_trace(self):
        for line, says in ("{}", '"problem"'), ("[]", '"problem"'), ('{"problem": "a", "impl": "b"}', "calls_ms"), ("{", ":1:"), \
                ('{"problem": "a", "impl": "b", "calls_ms": [1], "colour": 2}', "not known"):
            self.bad("bench", "--device", "replay:" + self.write("t", line + "\n"), says=says)
            os.remove(self.path("t"))


class Pages(BenchTest):
    def test_examples_work_as_they_stand(self):
        for name in "bench", "results":
            page = self.good(name, "--help").stdout
            self.assertEqual(page, self.good("help", name).stdout)
            self.assertIn("Exit codes: 0 ", page)
            examples = re.findall(r"^  \$ (.*)$", page, re.M)
            self.assertTrue(examples)
            for example in examples:
                env = {**os.environ, "PATH": os.path.dirname(EXE) + ":" + os.environ["PATH"], "ISOHULL_TIMING_ANYWAY": "1"}
                done = subprocess.run(["sh", "-ec", example], cwd=self.dir, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                # 6: a machine so slow that the time does not suffice
                self.assertIn(done.returncode, (0, 6), done.stderr)

    def test_builds_that_cannot_time(self):
        """The replay is always allowed; a measurement is refused, or made and marked if a test insists."""
        args = ["bench", "--problem", "noise:n=100", "--impl", "cpu_pav", "--time", "1s", "--protocol", "hot", "--format", "json"]
        run = json.loads(self.good(*args, env={"ISOHULL_TIMING_ANYWAY": "1"}).stdout)["run"]
        if os.environ.get("ISOHULL_SANITIZED"):
            self.bad(*args, says="this build has sanitizers")
            self.assertIn("sanitizers", run["timing_refused"])
        elif "timing_refused" not in run:
            self.good(*args)
        else:
            self.bad(*args, says=run["timing_refused"])


class Journal(BenchTest):
    def test_resume(self):
        args = ["--time", "100ms", "-o", "j"]
        self.replay("good", *args, problems=[A, B], code=6)
        self.assertEqual(len(self.cells("j")), 2)
        done = self.replay("good", *args, problems=[A, B])
        self.assertIn("2 of 4 cells have been measured earlier", done.stderr)
        self.assertEqual(len(self.cells("j")), 4)
        before = self.read("j")
        again = self.replay("good", *args, problems=[A, B])
        self.assertEqual(self.read("j"), before)  # nothing to do, nothing written
        self.assertEqual(again.stdout, done.stdout)
        self.assertEqual([line["kind"] for line in self.lines("j")].count("run"), 2)
        self.replay("good", *args, "--protocol", "hot", problems=[A], code=0)  # another protocol: other cells
        self.assertEqual(len(self.cells("j")), 6)

    def test_more_problems_or_more_time(self):
        self.replay("good", "--time", "1s", "-o", "j", problems=[A])
        self.assertIn("2 of 4 cells", self.replay("good", "--time", "1s", "-o", "j", problems=[A, B]).stderr)
        self.assertNotIn("earlier", self.replay("good", "--time", "9s", "-o", "j", problems=[A, B]).stderr)  # more samples are asked for
        self.assertEqual(len(self.cells("j")), 8)
        self.assertIn("4 of 4 cells", self.replay("good", "--time", "1s", "-o", "j", problems=[A, B]).stderr)

    def test_faults_are_tried_again(self):
        for k, code, again in (3, 1, 1), (1, 5, 0):
            for _ in range(2):
                self.replay("faults", "--time", "1s", "-o", f"j{k}", problems=[fault(k)], code=code)
            self.assertEqual(len(self.cells(f"j{k}")), 2 + again)

    def test_torn_line(self):
        self.replay("good", "--time", "1s", "-o", "j", problems=[A])
        whole = self.read("j")
        self.write("j", whole[:-30])
        done = self.replay("good", "--time", "1s", "-o", "j", problems=[A])
        self.assertIn("torn", done.stderr)
        self.assertIn("1 of 2 cells", done.stderr)
        self.good("results", "check", "j")

    def test_malformed_line_is_not_touched(self):
        self.write("j", "no json\n")
        self.bad("bench", "--device", f"replay:{REPLAY}/good.jsonl", "--problem", A, "-o", "j", says="j:1:")
        self.assertEqual(self.read("j"), b"no json\n")

    def test_another_machine(self):
        self.replay("good", "--time", "1s", "-o", "j", problems=[A])
        run, *rest = self.lines("j")
        run["cpu"] = "Another CPU"
        self.write("j", "".join(json.dumps(line) + "\n" for line in [run, *rest]))
        done = self.replay("good", "--time", "1s", "-o", "j", problems=[A], code=4)
        self.assertIn("Another CPU", done.stderr)

    def test_unwritable(self):
        self.bad("bench", "--device", f"replay:{REPLAY}/good.jsonl", "--problem", A, "-o", "no/j", says="no/j")
        self.bad("bench", "--device", f"replay:{REPLAY}/good.jsonl", "--problem", A, "-o", "/dev/null", says="regular file")


if __name__ == "__main__":
    unittest.main()
