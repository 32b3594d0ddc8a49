# SPDX-License-Identifier: Apache-2.0
"""`isohull bench` with peers, through Google Benchmark, and under a profiler.

The environment names the command (ISOHULL), scripts/peers (PEERS), fake_peers (FAKE_PEERS); NVTX_RECORD, a profiling tool, and
GBENCH, if the build has them."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

EXE = os.path.abspath(os.environ["ISOHULL"])
PEERS, FAKE_PEERS = os.environ["PEERS"], os.environ["FAKE_PEERS"]
NVTX_RECORD = os.environ.get("NVTX_RECORD")


class FrontEnds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.journal = self.folder / "bench.jsonl"

    def bench(self, *words, program=PEERS, **environment):
        known = {k: v for k, v in os.environ.items() if not k.startswith(("NVTX_INJECTION", "CUDA_INJECTION"))}
        return subprocess.run([EXE, "bench", "--protocol", "hot", "--time", "4s", *map(str, words)], text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, cwd=self.folder,
                              env={**known, "ISOHULL_TIMING_ANYWAY": "1", "ISOHULL_PEERS": program, **environment})

    def records(self, kind):
        lines = [json.loads(line) for line in self.journal.read_text().splitlines()]
        return [line for line in lines if line["kind"] == kind]

    def check(self):
        done = subprocess.run([EXE, "results", "check", self.journal], text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    # ---- peers ----

    def test_peer_beside_implementations(self):
        words = ["--impl", "cpu_pav,cpu_exact", "--peer", "python,torchsort", "--problem", "noise:f64:w=uniform:n=300",
                 "--problem", "labels:f32:ragged=geometric:rows=4:n=50:dec=1", "-o", self.journal]
        done = self.bench(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check()
        cells = {(c["problem"].split(":")[0], c["impl"]): c for c in self.records("cell")}
        self.assertEqual(len(cells), 8)
        for family in ("noise", "labels"):
            ours, peer, absent = cells[family, "cpu_pav"], cells[family, "python"], cells[family, "torchsort"]
            self.assertEqual((peer["status"], peer["device"], peer["protocol"], peer["order_seed"]),
                             ("ok", "cpu", ours["protocol"], ours["order_seed"]))
            self.assertEqual((peer["n"], peer["rows"]), (ours["n"], ours["rows"]))
            self.assertGreaterEqual(len(peer["samples_ms"]), 7)
            self.assertGreaterEqual(peer["warmup_calls"], 3)
            self.assertEqual(peer["copy_samples_ms"], ours["copy_samples_ms"])  # of the same run
            self.assertGreater(peer["median_ms"], 0)
            self.assertLess(peer["max_deviation"], 1e-6)
            self.assertIn("empty_call_ms", peer)
            self.assertNotIn("digest", peer)
            self.assertNotIn("blocks", peer)
            self.assertNotIn("max_deviation", ours)
            self.assertEqual(len({peer["code_hash"], absent["code_hash"], ours["code_hash"]}), 3)
            self.assertEqual(absent["status"], "unsupported")
            self.assertIn("GPU", absent["why"])
            self.assertEqual(absent["samples_ms"], [])
        peers = self.records("run")[0]["peers"]
        self.assertEqual(list(peers), ["python", "torchsort"])
        self.assertRegex(peers["python"]["python"], r"^3\.")
        self.assertIn("GPU", peers["torchsort"])
        self.assertIn("z within", done.stdout)
        again = self.bench(*words)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("8 of 8 cells have been measured earlier", again.stderr)
        self.assertEqual(len(self.records("cell")), 8)

    def test_wrong_peer(self):
        done = self.bench("--impl", "cpu_pav", "--peer", "off,good", "--problem", "noise:n=9", "-o", self.journal, program=FAKE_PEERS)
        self.assertEqual(done.returncode, 5, done.stderr)
        cells = {c["impl"]: c for c in self.records("cell")}
        self.assertEqual([cells[name]["status"] for name in ("cpu_pav", "off", "good")], ["ok", "wrong", "ok"])
        self.assertIn("allowed is 1e-09", cells["off"]["why"])
        self.assertEqual(cells["off"]["samples_ms"], [])
        self.assertEqual(set(cells["good"]["samples_ms"]), {1.5})  # it says so itself
        self.check()

    def test_failing_peers_cost_no_other_cell(self):
        done = self.bench("--impl", "cpu_pav", "--peer", "dies,babbles,raises,missing,refuses", "--problem", "noise:n=9", "-o", self.journal,
                          program=FAKE_PEERS)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual({c["impl"]: c["status"] for c in self.records("cell")},
                         {"cpu_pav": "ok", "dies": "error", "babbles": "error", "raises": "error", "missing": "unsupported", "refuses": "unsupported"})
        self.assertIn("missing is not installed here", done.stdout)
        self.check()

    def test_refusals(self):
        for words, program, message in (
                (["--peer", "sipy"], PEERS, "no peer 'sipy'"),
                (["--peer", "python"], "/nonexistent/peers", "/nonexistent/peers"),
                (["--peer", "python,python"], PEERS, "twice"),
                (["--peer", "cpu_pav"], PEERS, "--impl"),
                (["--peer", "python,"], PEERS, "no name"),
                (["--peer", "python", "--device", "replay:x"], PEERS, "--device cpu")):
            done = self.bench(*words, "--problem", "noise:n=9", program=program)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(message, done.stderr)

    def test_peer_that_cannot_be_installed(self):
        if not importlib.util.find_spec("ensurepip"):
            self.skipTest("this python makes no virtual environments")
        offline = {"ISOHULL_PEERS_DIR": str(self.folder / "peers"), "PIP_NO_INDEX": "1"}
        done = subprocess.run([sys.executable, PEERS, "setup", "scipy"], text=True, capture_output=True, env={**os.environ, **offline})
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("scipy: ERROR", done.stderr)
        done = self.bench("--impl", "cpu_pav", "--peer", "scipy,sklearn", "--problem", "noise:n=9", "-o", self.journal, **offline)
        self.assertEqual(done.returncode, 0, done.stderr)
        cells = {c["impl"]: c for c in self.records("cell")}
        self.assertEqual([cells[name]["status"] for name in ("cpu_pav", "scipy", "sklearn")], ["ok", "unsupported", "unsupported"])
        self.assertIn("scipy could not be installed: ERROR", cells["scipy"]["why"])
        self.assertIn("scripts/peers setup sklearn", cells["sklearn"]["why"])

    def test_bench_scipy(self):
        script = pathlib.Path(PEERS).parent / "bench_scipy"
        words = [sys.executable, script, "--isohull", EXE, "--peers", "python", "--impls", "cpu_pav,cpu_exact", "--families", "noise",
                 "--sizes", "200", "--time", "4s", "-o", self.journal]
        done = subprocess.run(words, text=True, capture_output=True, env={**os.environ, "ISOHULL_TIMING_ANYWAY": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        cells = {(c["problem"], c["impl"].split(":")[0]): c["median_ms"] for c in self.records("cell")}
        self.assertEqual(len(cells), 6)
        lines = [[word.strip() for word in line.split("|")[1:-1]] for line in done.stdout.splitlines() if line.startswith("| noise")]
        self.assertEqual(len(lines), 4)
        for problem, impl, ours, theirs, ratio, aim, met in lines:
            self.assertEqual((aim, met), ("", ""))
            self.assertAlmostEqual(float(ratio), cells[problem, "python"] / cells[problem, impl], delta=0.005)
        self.check()

    # ---- Google Benchmark ----

    def test_gbench(self):
        if not os.environ.get("GBENCH"):
            done = self.bench("--format", "gbench", "--problem", "noise:n=9")
            self.assertEqual(done.returncode, 2)
            self.assertIn("libbenchmark-dev", done.stderr)
            return
        out = self.folder / "out.json"
        done = self.bench("--impl", "cpu_pav,cpu_hulls:threads=1", "--peer", "python", "--problem", "noise:f64:n=300", "--format", "gbench", "--",
                          "--benchmark_repetitions=2", f"--benchmark_out={out}", "--benchmark_filter=pav|hulls|python")
        self.assertEqual(done.returncode, 0, done.stderr)
        read = json.loads(out.read_text())
        rows = [r for r in read["benchmarks"] if r["run_type"] == "iteration"]
        self.assertEqual([r["run_name"].split("/")[0] for r in rows], [n for n in ("cpu_pav", "cpu_hulls:threads=1", "python") for _ in range(2)])
        subprocess.run([EXE, "gen", "noise:f64:n=300", "-o", self.folder / "y.npy"], check=True, capture_output=True)
        fit = subprocess.run([EXE, "fit", self.folder / "y.npy", "-o", self.folder / "z.npy", "--json"], check=True, capture_output=True)
        for r in rows:
            self.assertNotIn("error_occurred", r)
            self.assertEqual(r["label"], "hot" + ("" if r["name"].startswith("python") else " digest=" + json.loads(fit.stdout)["digest"]))
            self.assertEqual(r["elements"], 300)
            self.assertGreater(r["real_time"], 0)
        self.assertIn("isohull_cpu", read["context"])

    # ---- NVTX ----

    def test_profiled_run(self):
        if not NVTX_RECORD:
            self.skipTest("this build has no NVTX")
        events = self.folder / "events"
        words = ["--impl", "cpu_hulls:threads=1:chunk=1024", "--problem", "noise:f64:n=5000", "-o", self.journal]
        done = self.bench(*words, NVTX_INJECTION64_PATH=NVTX_RECORD, ISOHULL_NVTX_RECORD=str(events))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([r["profiled"] for r in self.records("run")], [True])
        lines = events.read_text().splitlines()
        case = "push isohull cpu_hulls:threads=1:chunk=1024 noise:f64:n=5000 payload=5000 category=0"
        cell = self.records("cell")[0]
        self.assertGreaterEqual(lines.count(case), len(cell["samples_ms"]) + cell["warmup_calls"])
        self.assertEqual(lines.count(case), lines.count("pop isohull "))
        # every sample shows its stages, in their order, three levels of merges among them
        self.assertGreaterEqual(lines.count("  push isohull.stages chunk payload=0 category=1"), len(cell["samples_ms"]))
        at = lines.index(case)
        pushed = [line.split()[2] for line in lines[at + 1:lines.index("pop isohull ", at)] if "push" in line]
        calls = 2  # a hot sample follows an untimed call
        self.assertEqual(pushed, ["chunk", "scan", "merge", "merge", "merge", "reconstruct"] * calls)
        self.assertIn("under a profiler", done.stdout)
        # its times carry the tool's cost: they stay by themselves
        done = self.bench(*words)
        self.assertEqual(done.returncode, 4)
        self.assertIn("profiled", done.stderr)


if __name__ == "__main__":
    unittest.main()
