# SPDX-License-Identifier: Apache-2.0
"""isohull report and isohull verify: numbers derived from raw samples, and every changed number found.

Standard library only. The command's path is in the environment variable ISOHULL."""
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import unittest

import made_journal

EXE = os.path.abspath(os.environ["ISOHULL"])
GNUPLOT = shutil.which("gnuplot")
PEER = "scipy"


def run(*words, **more):
    return subprocess.run([EXE, *map(str, words)], text=True, capture_output=True, **more)


def shorter(lines):
    """One family at one length: fewer numbers, of every kind."""
    return [line for line in lines if line["kind"] == "run" or re.match(r"noise:f64:n=(100000|1000)$|wide", line["problem"])]


def shortest(lines):
    """One implementation beside the peer: short enough to change every number of the report in turn."""
    return [line for line in shorter(lines) if line.get("impl", "cpu_hulls") in ("cpu_hulls", PEER)]


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="isohull-report-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = self.folder / "out"
        self.empty = self.folder / "no programs"
        self.empty.mkdir()

    def make(self, lines, figures=False):
        journal = self.folder / "a journal; with -- odd % name.jsonl"
        journal.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        self.without = {} if figures else {"env": {**os.environ, "PATH": str(self.empty)}}
        done = run("report", journal, "-o", self.out, **self.without)
        self.assertEqual(done.returncode, 0, done.stderr)
        return journal

    def verify(self, name):
        return run("verify", self.out / name, **self.without)

    def table(self, name):
        """Rows of a table of report.md as dictionaries."""
        text = (self.out / "report.md").read_text(encoding="utf-8")
        lines = text[text.index(f"<!-- table {name},"):].splitlines()
        rows = [line for line in lines[: next(k for k, line in enumerate(lines + ["<!-- table"]) if k and line.startswith("<!-- table"))]
                if line.startswith("|")]
        cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
        return [dict(zip(cells[0], row)) for row in cells[2:]]

    def test_numbers_are_those_of_the_samples(self):
        lines = list(made_journal.lines())
        self.make(lines)
        cells = [line for line in lines if line["kind"] == "cell" and line["status"] == "ok" and "samples_ms" in line]
        rows = self.table("times")
        self.assertEqual(len(rows), len(cells))
        for cell in cells:
            row = next(r for r in rows if (r["problem"], r["implementation"]) == (cell["problem"], cell["impl"]))
            samples, n = sorted(cell["samples_ms"]), cell["n"]
            median = statistics.median(samples)
            peer = next(c for c in cells if (c["problem"], c["impl"]) == (cell["problem"], PEER))
            want = {"median (ms)": median, "ns per element": median * 1e6 / n, "× copy": median / statistics.median(cell["copy_samples_ms"])}
            if n < 1e6:
                want["µs over the empty call"] = (median - cell["empty_call_ms"]) * 1e3
            if cell is not peer:
                want[f"{PEER} / this"] = statistics.median(peer["samples_ms"]) / median
            for field, value in want.items():
                self.assertLess(abs(float(row[field]) - value), 6e-4 * value, (field, row))
            low, high = map(float, row["95 % interval (ms)"].split("–"))  # of 9: second smallest and second largest
            self.assertLess(abs(low - samples[1]) + abs(high - samples[-2]), 2e-3 * median)
        refused = {(r["implementation"], r["status"]) for r in self.table("refused")}
        self.assertEqual(refused, {("cpu_hulls", "wrong"), ("scikit-learn", "error")})
        accuracy = {r["implementation"]: r for r in self.table("accuracy")}
        self.assertEqual(accuracy["cpu_pav"]["canonical bits"], "4")
        self.assertEqual(accuracy[PEER]["unrounded"], str(4 * 812))
        self.assertEqual(accuracy[PEER]["missing"], "")  # it has no blocks: nothing is said

    def test_the_later_record_counts(self):
        lines = shorter(made_journal.lines())
        again = json.loads(json.dumps(next(line for line in lines if line.get("impl") == "cpu_pav" and "samples_ms" in line)))
        again["samples_ms"], again["code_hash"] = [3.25] * 9, "beef"
        self.make(lines + [again])
        rows = [r for r in self.table("times") if r["implementation"] == "cpu_pav"]
        self.assertEqual([r["median (ms)"] for r in rows], ["3.250"])

    def test_throttled_samples_do_not_count(self):
        lines = shortest(made_journal.lines())
        cell = next(line for line in lines if line.get("impl") == "cpu_hulls" and "samples_ms" in line)
        cell["samples_ms"], cell["throttled"] = [9.0, 1.0, 2.0, 3.0, 9.0], [0, 4]
        self.make(lines)
        row = next(r for r in self.table("times") if r["implementation"] == "cpu_hulls")
        self.assertEqual((row["samples"], row["median (ms)"], row["95 % interval (ms)"]), ("3", "2.000", ""))

    def test_every_changed_number_is_found(self):
        self.make(shortest(made_journal.lines()))
        for name in ("report.md", "report.html"):
            path = self.out / name
            text = path.read_text(encoding="utf-8")
            self.assertEqual(self.verify(name).returncode, 0)
            mark_end = text.index("-->")
            body = text.index("<body>") if name.endswith(".html") else 0
            places = [m.start() for m in re.finditer(r"\d+", text) if m.start() >= body]
            self.assertGreater(len(places), 100)
            for at in places:
                digit = "7" if text[at] != "7" else "3"
                path.write_text(text[:at] + digit + text[at + 1:], encoding="utf-8")
                done = self.verify(name)
                if at > mark_end:
                    self.assertEqual(done.returncode, 1, text[max(0, at - 40):at + 10])
                    self.assertIn("the report has", done.stdout)
                else:  # of the journal's name or digest: another journal, or none
                    self.assertIn(done.returncode, (1, 2), text[max(0, at - 40):at + 10])
            path.write_text(text + "more\n", encoding="utf-8")
            self.assertEqual(self.verify(name).returncode, 1)
            path.write_text(text[:-20], encoding="utf-8")
            self.assertEqual(self.verify(name).returncode, 1)
            path.write_text(text, encoding="utf-8")

    def test_differences_are_named(self):
        self.make(shorter(made_journal.lines()))
        path = self.out / "report.md"
        row = self.table("times")[0]
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(f"| {row['median (ms)']} |", "| 0.0001 |", 1), encoding="utf-8")
        done = self.verify("report.md")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"median (ms) of {row['problem']}, {row['implementation']}: the report has '0.0001', the journal gives '{row['median (ms)']}'", done.stdout)

    def test_numbers_of_figures(self):
        self.make(shorter(made_journal.lines()))
        path = self.out / "times_copy.tsv"
        text = path.read_text(encoding="utf-8")
        places = [m.start() for m in re.finditer(r"\d+", text[text.index("\n"):])]
        for at in random.Random(3).sample(places, 10):
            at += text.index("\n")
            path.write_text(text[:at] + ("7" if text[at] != "7" else "3") + text[at + 1:], encoding="utf-8")
            self.assertEqual(self.verify("report.html").returncode, 1)

    def test_changed_and_missing_journals(self):
        journal = self.make(shorter(made_journal.lines()))
        bytes_ = journal.read_bytes()
        journal.write_bytes(bytes_.replace(b"0.0009", b"0.0008", 1))
        done = self.verify("report.md")
        self.assertEqual(done.returncode, 2)
        self.assertIn("changed since the report was made", done.stderr)
        journal.unlink()
        self.assertEqual(self.verify("report.md").returncode, 2)
        journal.write_bytes(bytes_)
        self.assertEqual(self.verify("report.md").returncode, 0)
        (self.folder / "no report.md").write_text("# something else\n", encoding="utf-8")
        self.assertEqual(run("verify", self.folder / "no report.md").returncode, 2)
        self.assertEqual(run("report", self.folder / "absent.jsonl", "-o", self.out).returncode, 2)

    def test_says_that_figures_are_missing(self):
        self.make(shorter(made_journal.lines()))
        self.assertIn("gnuplot was not there", (self.out / "report.md").read_text(encoding="utf-8"))
        self.assertFalse(list(self.out.glob("*.svg")))

    @unittest.skipUnless(GNUPLOT, "without gnuplot")
    def test_figures(self):
        self.make(shorter(made_journal.lines()), figures=True)
        for name in ("ns_per_element", "times_copy", "stages", "accuracy_speed"):
            svg = (self.out / f"{name}.svg").read_text(encoding="utf-8")
            self.assertGreater((self.out / f"{name}.png").stat().st_size, 5000)
            if name != "stages":
                for impl in made_journal.COST:
                    self.assertIn(f">{impl}<", svg)
            self.assertRegex(svg, r"time of the fit / time of a copy|\(ns\)|ns per element")
        html = self.out / "report.html"
        text = html.read_text(encoding="utf-8")
        self.assertEqual(text.count("<svg "), 4)
        self.assertNotRegex(text, r"<(link|script|img|iframe)[ >]|url\(h|src=")
        self.assertEqual(self.verify("report.html").returncode, 0)
        self.assertEqual(self.verify("report.md").returncode, 0)
        inside = [m.start() for m in re.finditer(r"\d+", text) if "<svg " in text[:m.start()] and m.start() < text.rindex("</svg>")]
        for at in random.Random(5).sample(inside, 3):
            html.write_text(text[:at] + ("7" if text[at] != "7" else "3") + text[at + 1:], encoding="utf-8")
            self.assertEqual(self.verify("report.html").returncode, 1)


if __name__ == "__main__":
    unittest.main()
