# SPDX-License-Identifier: Apache-2.0
"""Interrupted runs leave nothing half-written; a long fit keeps within its memory."""
import json
import os
import resource
import signal
import subprocess
import time
import unittest

from support import CPU_IMPLEMENTATIONS, EXE, IMPLEMENTATIONS, CommandTest


class Interrupt(CommandTest):
    def interrupt(self, number, *args):
        """Send the signal once the outputs are open. Returns the exit status, or None if the command was faster."""
        before = self.files()
        child = subprocess.Popen([EXE, *map(str, args)], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while self.files() == before and child.poll() is None:
            time.sleep(0.001)
        early = child.poll() is None
        child.send_signal(number)
        out, err = child.communicate(timeout=120)
        if not early or child.returncode == 0:
            for name in set(self.files()) - set(before):
                os.remove(self.path(name))
            return None
        self.assertEqual((out, err), (b"", b""))
        self.assertEqual(self.files(), before)
        return child.returncode

    def test_fit(self):
        self.good("gen", "noise:f64:n=3e6:w=extreme", "-o", "y.npy", "--weights-out", "w.npy")
        for number, want in (signal.SIGINT, 130), (signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGHUP, 128 + signal.SIGHUP), (signal.SIGQUIT, 128 + signal.SIGQUIT), (signal.SIGXCPU, 128 + signal.SIGXCPU):
            # --json: four fits or more, so that the signal meets one
            got = [self.interrupt(number, "fit", "y.npy", "--weights", "w.npy", "--impl", IMPLEMENTATIONS[0], "-o", "z.npy", "--blocks", "b.npy", "--json")
                   for _ in range(3)]
            self.assertIn(want, got)
            self.assertLessEqual(set(got), {want, None})

    def test_gen(self):
        got = [self.interrupt(signal.SIGINT, "gen", "noise:f64:n=1e7", "-o", "y.npy", "--weights-out", "w.npy") for _ in range(3)]
        self.assertIn(130, got)
        self.assertLessEqual(set(got), {130, None})

    def test_old_output_survives(self):
        self.good("gen", "noise:f64:n=3e6", "-o", "y.npy")
        self.write("z.npy", "old")
        child = subprocess.Popen([EXE, "fit", "y.npy", "--impl", IMPLEMENTATIONS[0], "-o", "z.npy", "--json"], cwd=self.dir, stdout=subprocess.PIPE)
        while len(self.files()) == 2 and child.poll() is None:
            time.sleep(0.001)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=120)
        self.assertEqual(self.files(), ["y.npy", "z.npy"])
        self.assertEqual(child.returncode == 130, self.read("z.npy") == b"old")

    def test_ignored_interrupt_stays_ignored(self):
        self.write_npy("y.npy", [3, 1, 2])
        done = subprocess.run(["sh", "-c", 'trap "" INT; "$@" & kill -INT $!; wait $!', "sh", EXE, "fit", "y.npy", "-o", "z.npy"],
                              cwd=self.dir, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read_npy("z.npy")[2], [2, 2, 2])


# clang's OpenMP runtime writes a small file of its own and ends the process itself where it gets no thread.
@unittest.skipIf(os.environ.get("ISOHULL_OPENMP_OF") == "clang", "clang's OpenMP runtime does not outlive these limits")
class Limits(CommandTest):
    """What the system refuses is a fault like any other: exit 2, and nothing half-written."""

    def limited(self, what, value, *args):
        return self.isohull(*args, preexec_fn=lambda: resource.setrlimit(what, (value, value)))

    def test_file_size(self):
        self.good("gen", "noise:f64:n=1e5", "-o", "y.npy")
        for args in ["fit", "y.npy", "-o", "z.npy", "--blocks", "b.npy"], ["gen", "noise:f64:n=1e5", "-o", "z.npy"]:
            for limit in 0, 1, 4096, 500000:
                done = self.limited(resource.RLIMIT_FSIZE, limit, *args)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn("npy", done.stderr)
                self.assertEqual(self.files(), ["y.npy"])

    @unittest.skipIf(os.environ.get("ISOHULL_SANITIZED"), "sanitizers take memory of their own")
    def test_more_threads_than_can_be_started(self):
        self.good("gen", "noise:f64:n=1e5:rows=40", "-o", "y.npy")
        want = self.json("fit", "y.npy", "--threads", 1)["digest"]
        for impl in CPU_IMPLEMENTATIONS:
            for threads in 39, 4096:  # the stacks alone are past the limit
                for limit in 300, 400, 600:
                    done = self.limited(resource.RLIMIT_AS, limit << 20, "fit", "y.npy", "--impl", impl, "--threads", threads, "--json",
                                        "-o", "z.npy", "--grad", "y.npy", "--grad-y", "gy.npy")
                    self.assertIn(done.returncode, (0, 2), done.stderr)
                    self.assertNotIn("libgomp", done.stderr)
                    if done.returncode == 0:
                        self.assertEqual(json.loads(done.stdout)["digest"], want)
                        os.remove(self.path("z.npy"))
                        os.remove(self.path("gy.npy"))
                    self.assertEqual(self.files(), ["y.npy"])


class Memory(CommandTest):
    @unittest.skipIf(os.environ.get("ISOHULL_SANITIZED"), "sanitizers take memory of their own")
    def test_peak_of_a_long_fit(self):
        """1e8 float32 have to fit into 2.5 GiB: 26 bytes an element. y and z take 8 of them."""
        n = 10**7
        self.good("gen", f"noise:n={n}", "-o", "y.npy")
        for args in ["-o", "z.npy"], ["-o", "z.npy", "--json"]:
            child = subprocess.Popen([EXE, "fit", "y.npy", *args], cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(child.returncode, 0)
            self.assertLess(usage.ru_maxrss * 1024, 26 * n + (16 << 20))


if __name__ == "__main__":
    unittest.main()
