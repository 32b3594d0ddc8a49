# SPDX-License-Identifier: Apache-2.0
"""bench, accuracy, serve and scripts/bench_gpu_peer on a CUDA device: the one that the emulator of this build is."""
import json
import os
import subprocess
import sys
import unittest

from bench_support import BenchTest, interval
from support import EXE

ANYWAY = {"ISOHULL_TIMING_ANYWAY": "1"}
FAST = ("--time", "1s", "--device", "cuda:0")
UNITS = ("--problem", "noise:f32:n=3000", "--problem", "trend:f64:w=uniform:rows=20:n=40")


class Bench(BenchTest):
    def bench(self, *args, code=0, env=None):
        done = self.isohull("bench", *FAST, "--impl", "segments", "-o", "j", *args, env={**ANYWAY, **(env or {})})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_emulated_times_are_refused(self):
        self.bad("bench", *FAST, *UNITS, says="would mean nothing")
        self.bad("serve", says="would mean nothing")

    def test_records(self):
        table = self.bench(*UNITS).stdout
        self.assertIn("THESE TIMES DO NOT COUNT", table)
        self.assertIn("enqueued by the host", table)
        run = self.lines("j")[0]
        self.assertEqual(run["device"], "emulated:0")
        self.assertRegex(run["timing_refused"], "emulated|sanitizers")
        self.assertEqual(run["gpu"]["name"], "emulated")
        self.assertGreater(run["gpu"]["l2_bytes"], 0)
        self.assertTrue(run["device_code"]["emulated"])
        cells = self.cells("j")
        self.assertEqual(len(cells), 2)
        for cell in cells:
            self.assertEqual((cell["status"], cell["impl"], cell["device"]), ("ok", "segments", "emulated:0"))
            self.assertEqual(cell["digest"], cell["digest_want"])
            self.assertEqual(cell["protocol"]["call"], "direct")
            self.assertNotIn("work", cell["protocol"])
            self.check_numbers(cell)
            self.assertGreaterEqual(len(cell["samples_ms"]), 7)
            self.assertGreaterEqual(len(cell["copy_samples_ms"]), 7)
            self.assertLess(cell["empty_call_ms"], cell["median_ms"])
            self.assertGreater(cell["read_ms"], 0)
            item = 4 if ":f32" in cell["problem"] else 8
            self.assertEqual(cell["peak_bytes"], cell["workspace_bytes"] + cell["n"] * item * (3 if "w=" in cell["problem"] else 2))
            self.assertAlmostEqual(cell["closure"], sum(cell["stages_ms"].values()) / (sum(cell["stages_ms"].values()) / cell["closure"]))
            self.assertTrue(0.3 < cell["closure"] <= 1.0, cell["closure"])
            self.assertGreater(cell["counters"]["chunks"], 0)
            self.assertNotIn("referee", cell)
            self.assertNotIn("gpu_before", cell)
        self.assertIn("merge", cells[0]["stages_ms"])
        self.good("results", "check", "j")

    def test_calls_and_works_are_cells_of_their_own(self):
        for more in [], ["--call", "graph"], ["--what", "backward"], ["--what", "fit+backward", "--call", "graph"], ["--protocol", "hot"]:
            self.bench(*UNITS, *more)
            self.assertIn("2 of 2 cells", self.bench(*UNITS, *more).stderr)
        cells = self.cells("j")
        self.assertEqual(len(cells), 10)
        self.assertEqual({cell["status"] for cell in cells}, {"ok"})
        self.assertEqual([cell["protocol"].get("work") for cell in cells[::2]], [None, None, "backward", "fit+backward", None])
        self.assertEqual([cell["protocol"]["call"] for cell in cells[::2]], ["direct", "graph", "direct", "graph", "direct"])
        self.assertIn("backward", cells[4]["stages_ms"])
        self.assertTrue({"chunk", "blocks", "backward"} <= set(cells[6]["stages_ms"]))
        for cell in cells[4:8]:
            item = 4 if ":f32" in cell["problem"] else 8
            self.assertGreater(cell["peak_bytes"], cell["workspace_bytes"] + (8 + 3 * item) * cell["n"])  # block starts; y, g, its gradient
        self.good("results", "check", "j")

    def test_both_calls(self):
        table = self.bench(*UNITS, "--call", "both").stdout
        self.assertEqual((table.count("segments, direct "), table.count("segments, graph ")), (2, 2))
        self.assertEqual([cell["protocol"]["call"] for cell in sorted(self.cells("j"), key=lambda cell: (cell["problem"], cell["protocol"]["call"]))],
                         ["direct", "graph"] * 2)
        self.assertIn("4 of 4 cells", self.bench(*UNITS, "--call", "both").stderr)
        self.good("results", "check", "j")

    def test_faults_of_the_device(self):
        done = self.isohull("bench", *FAST, *UNITS, env={**ANYWAY, "IH_EMULATED_DEVICES": "0"})
        self.assertEqual((done.returncode, done.stdout), (77, ""))
        self.assertIn("no device cuda:0", done.stderr)
        done = self.isohull("bench", *UNITS, "--device", "cuda:1", env=ANYWAY)
        self.assertEqual(done.returncode, 77)
        for k, memory in enumerate(("1000", "9000000", "25000000")):  # not enough for the device itself, for the data, for the workspace
            self.bench("--problem", f"noise:n={1000000 + k}", "--format", "json", code=1, env={"IH_EMULATED_MEMORY": memory})
            cell = self.cells("j")[-1]
            self.assertEqual(cell["status"], "error")
            self.assertIn("device memory ran out", cell["why"])
        for command in "bench", "accuracy":
            self.bad(command, "--device", "cuda:0", "--impl", "cpu_pav", says="--device cpu", env=ANYWAY)
            self.bad(command, "--impl", "segments", says="--device cuda:N", env=ANYWAY)
            self.bad(command, "--device", "cuda:x", says="cuda:N", env=ANYWAY)

    def test_referee_of_long_problems(self):
        """Past 2e7 elements the digest of another referee is compared with the one that is kept, before any call."""
        problem = "constant:f32:rows=10000001:n=2"
        self.write("other", f"{problem} 0123456789abcdef 1\n")
        self.bench("--problem", problem, "--digests", "other", code=1)
        self.assertIn("cpu_pav finds the digest", self.cells("j")[-1]["why"])
        self.assertIn("keeps 0123456789abcdef of cpu_exact", self.cells("j")[-1]["why"])
        self.bad("bench", "--digests", "other", says="--digests")

    @unittest.skipUnless(os.environ.get("NVML_FAKE"), "no library stands for NVML")
    def test_clocks(self):
        env = {"ISOHULL_NVML_ANYWAY": "1", "LD_LIBRARY_PATH": os.environ["NVML_FAKE"]}
        self.bench("--problem", "noise:n=200", env=env)
        run, cell = self.lines("j")
        self.assertEqual(run["gpu"]["nvml"]["driver"], "580.00")
        self.assertEqual(run["gpu"]["nvml"]["sm_mhz_max"], 1980)
        for when in "gpu_before", "gpu_after":
            self.assertEqual(cell[when], {"sm_mhz": 1755, "memory_mhz": 2619, "power_w": 123.5, "temperature_c": 41, "throttle_reasons": 4})
        self.assertNotIn("throttled", cell)

        self.bench("--problem", "noise:n=300", env={**env, "NVML_FAKE_HOT": "6"})
        cell = self.cells("j")[-1]
        self.assertTrue(0 < len(cell["throttled"]) < len(cell["samples_ms"]) - 6)
        self.check_numbers(cell)

        done = self.bench("--problem", "noise:n=400", env={**env, "NVML_FAKE_HOT": "1"}, code=3)
        self.assertIn("undecided", done.stdout)
        self.good("results", "check", "j")

    def test_report(self):
        """What was emulated is in no table of times; the same records of a GPU are, by kind of call, with its kernels."""
        self.bench(*UNITS)
        self.good("report", "j", "-o", "emulated")
        text = self.read("emulated/report.md").decode()
        self.assertNotIn("table times", text)
        self.assertIn("Left out: 2 cells of an emulated device.", text)
        self.assertIn("Device code: emulated on the CPU", text)
        self.good("verify", "emulated/report.md")
        lines = self.lines("j")
        lines[0]["device_code"]["kernels"] = [{"name": f"chunk_{arch}", "arch": arch, "registers": 40 + arch, "stack_bytes": 0, "spill_store_bytes": 0,
                                               "spill_load_bytes": 0, "shared_bytes": 16, "hash": "0123456789abcdef"} for arch in (80, 90, 100)]
        self.write("k", "".join(json.dumps(line).replace("emulated:0", "cuda:0") + "\n" for line in lines))
        self.good("report", "k", "-o", "there")
        text = self.read("there/report.md").decode()
        self.assertEqual(text.count("| segments | cold; cuda:0, direct |"), 2)
        self.assertIn("| chunk_90 | 90 | 130 | 0 | 0 | 0 | 16 | 0123456789abcdef |", text)
        self.assertNotIn("chunk_80", text)
        self.good("verify", "there/report.md")

    def test_accuracy(self):
        self.good("accuracy", "--device", "cuda:0", "--impl", "segments", *UNITS, "-o", "j")
        self.assertIn("0 cells", self.good("accuracy", "--device", "cuda:0", "--impl", "segments", *UNITS, "-o", "j").stderr)
        for cell in self.cells("j"):
            self.assertEqual((cell["impl"], cell["device"], cell["status"]), ("segments", "emulated:0", "ok"))
            self.assertEqual((cell["accuracy"]["not_rounded"], cell["accuracy"]["missing"], cell["accuracy"]["extra"]), (0, 0, 0))
        self.assertEqual(self.lines("j")[0]["gpu"]["name"], "emulated")
        self.bad("accuracy", "--device", "cuda:9", *UNITS[:2], says="cuda:9", code=77)


class Serve(BenchTest):
    def setUp(self):
        super().setUp()
        self.good("gen", "trend:f64:w=uniform:rows=9:n=50", "-o", "y.npy", "--weights-out", "w.npy")
        self.good("fit", "y.npy", "--weights", "w.npy", "-o", "z.npy")
        self.load = {"do": "load", "y": "y.npy", "w": "w.npy", "offsets": None, "z": "z.npy", "decreasing": False, "min": None, "max": None,
                     "flush_bytes": 0, "device": "cuda:0"}

    def talk(self, *asks):
        lines = [ask if isinstance(ask, str) else json.dumps(ask) for ask in asks]
        done = self.isohull("serve", input="\n".join(lines) + "\n", env=ANYWAY)
        self.assertEqual(done.returncode, 0, done.stderr)
        greeting, *answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(greeting["peer"], "segments")
        self.assertEqual(len(answers), len(asks))
        return answers

    def test_answers(self):
        samples = {"do": "samples", "count": 3, "warmup": 1, "cold": True}
        load, direct, graph, one, empty, ceilings, manifest, state, unloaded, gone = self.talk(
            self.load, {**samples, "call": "direct"}, {**samples, "call": "graph"}, {"do": "sample", "cold": False}, {"do": "empty", "cold": True},
            {"do": "ceilings", "count": 2, "cold": True}, {"do": "manifest"}, {"do": "state"}, {"do": "unload"}, samples)
        self.assertEqual((load["same"], load["max_deviation"], load["tolerance"]), (True, 0, 0))
        self.assertGreater(load["peak_bytes"], load["workspace_bytes"])
        for answer in direct, graph:
            self.assertEqual((len(answer["ms"]), answer["throttled"], answer["same"]), (3, [], True))
        self.assertTrue(one["ms"] > empty["ms"] > 0)
        self.assertEqual(len(ceilings["copy_ms"]), 2)
        self.assertEqual((manifest["kind"], manifest["device"]), ("run", "emulated:0"))
        self.assertEqual((state, unloaded), ({}, {}))
        self.assertIn("no problem", gone["error"])

    def test_wrong_and_bad_requests(self):
        self.good("fit", "y.npy", "-o", "z1.npy")
        other, samples, shape, missing, unknown, broken = self.talk(
            {**self.load, "z": "z1.npy"}, {"do": "samples", "count": 1, "warmup": 0, "cold": True}, {**self.load, "w": "y1.npy"},
            {**self.load, "z": None}, {"do": "dance"}, "{")
        self.assertEqual((other["same"], other["max_deviation"], samples["same"]), (False, None, False))
        for answer in shape, missing, unknown, broken:
            self.assertIn("error", answer)


class Peer(BenchTest):
    def judge(self, peer, *args, code=0):
        done = subprocess.run([sys.executable, "-B", os.environ["BENCH_GPU_PEER"], "--isohull", EXE, "--peer", peer, *args], cwd=self.dir, text=True,
                              capture_output=True, timeout=300, env={**os.environ, **ANYWAY, "ISOHULL_PEERS": os.environ["PEER_FAKE_GPU"]})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_not_slower(self):
        text = self.judge("slow", *UNITS, "-o", "j")
        self.assertEqual(text.count("not slower"), 3)
        self.assertIn("graph: segments", text)
        self.assertIn("slow unsupported: no graphs with weights", text)
        self.good("results", "check", "j")
        lines = self.lines("j")
        runs, cells = [line for line in lines if line["kind"] == "run"], [line for line in lines if line["kind"] == "cell"]
        self.assertEqual((len(runs), len(cells)), (10, 40))
        self.assertEqual(len({cell["run"] for cell in cells}), 10)
        self.assertEqual({run["peer_compile_s"] for run in runs if "peers" in run}, {2.5})
        for cell in cells:
            if cell["status"] == "ok":
                self.check_numbers(cell)
                self.assertEqual(cell.get("ci_ms"), interval(cell["samples_ms"]))
        orders = [[cell["run"] for cell in cells if cell["problem"] == problem and cell["protocol"]["call"] == "direct"] for problem in UNITS[1::2]]
        self.assertNotEqual(*orders)
        before = len(lines)
        self.assertEqual(self.judge("slow", *UNITS[:2], "--calls", "direct", "-o", "j").count("not slower"), 1)
        self.assertEqual([line for line in self.lines("j")[before:] if UNITS[1] in line.get("problem", "")], [])  # it was there

    def test_other_verdicts(self):
        few = (*UNITS[:2], "--calls", "direct", "--samples", "2", "--warmup", "0")
        self.assertIn("SLOWER", self.judge("quick", *few, code=1))
        self.assertIn("undecided", self.judge("slow", *few, "--processes", "2", code=3))  # no 95 % interval from 2 and 2
        self.assertIn("differs from the canonical fit by 0.001", self.judge("off", *few))
        self.assertIn("absent not measured", self.judge("absent", *few, "--processes", "1", code=3))
        self.judge("slow", "--problem", "noize:n=3", code=2)
        self.judge("slow", "--preset", "nothing", code=2)
        self.assertIn("not measured, the time is spent", self.judge("slow", *few, "--processes", "1", "--time", "0.001", code=6))


if __name__ == "__main__":
    unittest.main()
