# SPDX-License-Identifier: Apache-2.0
"""isohull accuracy as a user meets it: canonical fits, a fit from a file, its journal and going on with it.

Standard library only. The command's path is in the environment variable ISOHULL."""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

EXE = os.path.abspath(os.environ["ISOHULL"])


def run(*words):
    return subprocess.run([EXE, *map(str, words)], text=True, capture_output=True, check=False)


class Accuracy(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="isohull-accuracy-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def cells(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_implementations_are_canonical(self):
        done = run("accuracy", "--problem", "ties:f64:w=extreme:rows=3:n=500", "--problem", "near_ties:n=700:dec=1", "--format", "json")
        cells = self.cells(done)
        self.assertEqual(len(cells), 2 * len({c["impl"] for c in cells}))
        for cell in cells:
            self.assertEqual((cell["status"], cell["digest"]), ("ok", cell["digest_want"]))
            measures = cell["accuracy"]
            for name in ("not_rounded", "not_finite", "missing", "extra", "step_down"):
                self.assertEqual(measures[name], 0)
            self.assertLessEqual(measures["ulps"], 0.5)

    def test_the_preset_covers_everything(self):
        listed = json.loads(run("list", "--json").stdout)
        want = {(f["name"], dtype, w["name"]) for f in listed["families"] for dtype in ("f32", "f64") for w in listed["weightings"]}
        got = set()
        for cell in self.cells(run("accuracy", "--impl", "cpu_pav", "--format", "json")):
            family, dtype, *items = cell["problem"].split(":")
            got.add((family, dtype, next((item[2:] for item in items if item.startswith("w=")), "unit")))
            self.assertEqual(cell["status"], "ok")
        self.assertEqual(got, want)

    def test_options_and_several_implementations(self):
        done = run("accuracy", "--impl", "cpu_pav,cpu_hulls:chunk=1024", "--impl", "cpu_exact", "--problem", "noise:n=5000")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual([line.split()[-2].rstrip(",") for line in lines[1:]], ["cpu_pav", "cpu_hulls:chunk=1024", "cpu_exact"])

    def test_a_fit_from_a_file(self):
        y, z = self.folder / "y.f64", self.folder / "z.f64"
        y.write_bytes(struct.pack("<3d", 3, 1, 2))
        z.write_bytes(struct.pack("<3d", 1.5, 2, 2.5))
        journal = self.folder / "a.jsonl"
        cells = self.cells(run("accuracy", "--problem", f"file:{y}", "--fit", z, "--name", "mine", "--format", "json", "-o", journal))
        self.assertEqual(cells[0]["impl"], "mine")
        measures = cells[0]["accuracy"]
        self.assertEqual((measures["not_rounded"], measures["deviation"], measures["objective_excess"], measures["kkt"]), (2, 0.5 / 3, 0.75, 0.25))
        self.assertNotIn("blocks", measures)
        kinds = [json.loads(line)["kind"] for line in journal.read_text().splitlines()]
        self.assertEqual(kinds, ["run", "cell"])
        z.write_bytes(struct.pack("<2d", 1.5, 2))
        self.assertEqual(run("accuracy", "--problem", f"file:{y}", "--fit", z).returncode, 2)

    def test_goes_on(self):
        journal = self.folder / "a.jsonl"
        words = ("accuracy", "--impl", "cpu_pav", "-o", journal, "--problem", "noise:n=100")
        self.assertEqual(run(*words).returncode, 0)
        with open(journal, "ab") as stream:
            stream.write(b'{"schema":1,"kind":"cell","ru')  # torn
        done = run(*words, "--problem", "trend:n=100")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("torn", done.stderr)
        lines = [json.loads(line) for line in journal.read_text().splitlines()]
        self.assertEqual([line.get("problem", "run") for line in lines], ["run", "noise:f32:n=100", "run", "trend:f32:n=100"])
        self.assertEqual(run("results", "check", journal).returncode, 0)

    def test_refusals(self):
        for words in (("--preset", "accurcy"), ("--impl", "cpu_pavv"), ("--problem", "noise"), ("--fit", "z.npy"), ("--format", "xml"),
                      ("--name", "mine"), ("--problem", "noise:n=10", "--fit", "absent.npy")):
            done = run("accuracy", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertTrue(done.stderr.startswith("isohull accuracy: "), done.stderr)


if __name__ == "__main__":
    unittest.main()
