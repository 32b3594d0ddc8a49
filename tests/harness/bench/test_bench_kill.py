# SPDX-License-Identifier: Apache-2.0
"""bench interrupted: kill -9 at random moments loses no recorded cell and the same command completes the work; signals
keep what was measured."""
import os
import random
import signal
import subprocess
import time
import unittest

from bench_support import REPLAY, BenchTest
from support import EXE

TRIES = 20


class Kill(BenchTest):
    def begin(self, args, **kw):
        return subprocess.Popen([EXE, "bench", *args], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw)

    def complete(self, args):
        """Run until the work is done: a slow machine may need the command's time more than once."""
        for _ in range(10):
            done = self.isohull("bench", *args, "-o", "j")
            if done.returncode != 6:
                break
        self.assertEqual(done.returncode, 0, done.stderr)

    def kill_and_complete(self, args, want):
        """Each try: kill the command at a random moment of its work, look at the journal, let the same command complete it."""
        rng = random.Random(4)
        began = time.monotonic()
        self.isohull("bench", *args, "-o", "j")
        lasts = time.monotonic() - began  # of one run, even if a slow machine needs several
        self.complete(args)
        alive = partial = tries = 0
        while alive < TRIES and tries < 5 * TRIES:  # a run that ended before its moment does not count
            tries += 1
            os.remove(self.path("j"))
            began = time.monotonic()
            child = self.begin([*args, "-o", "j"])
            try:
                child.wait(timeout=rng.uniform(0, lasts))
                lasts = min(lasts, time.monotonic() - began)
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                alive += 1
            child.communicate(timeout=60)
            left = self.read("j") if os.path.exists(self.path("j")) else b""
            left = left[:left.rfind(b"\n") + 1]  # whole lines
            partial += 0 < left.count(b'"kind":"cell"') < len(want)
            self.complete(args)
            self.assertTrue(self.read("j").startswith(left))  # none of them is lost or changed
            self.assertEqual(sorted((c["problem"], c["impl"]) for c in self.cells("j") if c["status"] == "ok"), sorted(want))  # each once
            self.good("results", "check", "j")
        self.assertEqual(alive, TRIES)
        self.assertGreater(partial, 0)

    def test_kill_replay(self):
        problems = [f"noise:f32:n={k}" for k in (8, 9, 10)]
        args = ["--device", f"replay:{REPLAY}/faults.jsonl", "--impl", "cpu_pav,cpu_hulls", "--time", "300ms"]
        for p in problems:
            args += ["--problem", p]
        self.kill_and_complete(args, [(p, i) for p in problems for i in ("cpu_pav", "cpu_hulls")])

    @unittest.skipIf(os.environ.get("ISOHULL_CHECKED"), "with checked decisions a fit takes as long as the whole time of the command")
    def test_kill_cpu(self):
        problems = [f"noise:f32:n={n}" for n in (100000, 200000, 300000)]
        args = ["--impl", "cpu_pav,cpu_hulls:threads=1", "--time", "1s", "--protocol", "hot"]
        for p in problems:
            args += ["--problem", p]
        os.environ["ISOHULL_TIMING_ANYWAY"] = "1"  # builds of ./check may have sanitizers
        self.addCleanup(os.environ.pop, "ISOHULL_TIMING_ANYWAY")
        self.kill_and_complete(args, [(p, i) for p in problems for i in ("cpu_pav", "cpu_hulls:threads=1")])

    def test_no_child_outlives_the_command(self):
        child = self.begin(["--device", f"replay:{REPLAY}/faults.jsonl", "--problem", "noise:f32:n=4", "--impl", "cpu_pav"])
        measuring = []
        while not measuring and child.poll() is None:
            with open(f"/proc/{child.pid}/task/{child.pid}/children") as file:
                measuring = file.read().split()
            time.sleep(0.01)
        child.kill()
        child.communicate(timeout=60)
        for _ in range(500):
            if not os.path.exists(f"/proc/{measuring[0]}"):
                return
            with open(f"/proc/{measuring[0]}/stat") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return  # ended; nobody has asked for its status yet
            time.sleep(0.01)
        self.fail("the measuring process goes on")

    def test_signals(self):
        """The first problem is measured, the second hangs: interrupted there, the first is kept."""
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            name = f"s{int(number)}"
            child = self.begin(["--device", f"replay:{REPLAY}/faults.jsonl", "--problem", "noise:f32:n=8", "--problem", "noise:f32:n=4", "--impl", "cpu_pav",
                                "--time", "100ms", "-o", name])
            while not os.path.exists(self.path(name)) or len(self.cells(name)) < 1:
                self.assertIsNone(child.poll())
                time.sleep(0.01)
            child.send_signal(number)
            out, err = child.communicate(timeout=60)
            self.assertEqual(child.returncode, 130, err)
            self.assertIn(b"interrupted", err)
            self.assertRegex(out.decode(), r"noise:f32:n=8\n[^\n]*\n[^\n]*\n  cpu_pav +1 ")
            self.assertEqual([c["problem"] for c in self.cells(name)], ["noise:f32:n=8"])


if __name__ == "__main__":
    unittest.main()
