# SPDX-License-Identifier: Apache-2.0
"""isohull fit and predict on tables."""
import csv
import io
import math
import random
import unittest
from fractions import Fraction

from support import CommandTest, exact_fit, float_of


def curve(rows, decreasing=False):
    """rows: (x, y, w). The exact curve: one (x, fit, weight) per distinct x, tied x pooled."""
    pooled = {}
    for x, y, w in rows:
        weight, total = pooled.get(x, (Fraction(0), Fraction(0)))
        pooled[x] = (weight + Fraction(w), total + Fraction(w) * Fraction(y))
    xs = sorted(pooled)
    blocks = exact_fit([pooled[x][1] / pooled[x][0] for x in xs], [pooled[x][0] for x in xs], decreasing)
    ends = [b[0] for b in blocks[1:]] + [len(xs)]
    fit = [b[2] for b, end in zip(blocks, ends) for _ in range(b[0], end)]
    return [(x, float_of(f, "<f8"), float_of(pooled[x][0], "<f8")) for x, f in zip(xs, fit)]


class Table(CommandTest):
    def rows_of(self, name):
        rows = list(csv.reader(io.StringIO(self.read(name).decode(), newline="")))
        return rows[0], rows[1:]

    def numbers_of(self, name):
        header, rows = self.rows_of(name)
        self.assertEqual(header, ["x", "fit", "weight"])
        return [tuple(map(float, row)) for row in rows]

    def setUp(self):
        super().setUp()
        draw = random.Random(1)
        self.rows = [(draw.randint(-20, 20) / 8, draw.gauss(0, 1), draw.uniform(0.1, 3)) for _ in range(200)]
        self.groups = [draw.choice(["b", "a", "c c", 'q"q', "x,y", "é"]) for _ in self.rows]
        text = io.StringIO()
        table = csv.writer(text)
        table.writerow(["grp", "score", "outcome", "count"])
        for group, row in zip(self.groups, self.rows):
            table.writerow([group, *map(repr, row)])
        self.write("t.csv", text.getvalue())

    def test_curve(self):
        for weighted in False, True:
            for down in False, True:
                with self.subTest(weighted=weighted, down=down):
                    self.good("fit", "t.csv", "--x", "score", "--y", "outcome", *(["--w", "count"] if weighted else []),
                              *(["--decreasing"] if down else []), "-o", "c.csv")
                    want = curve([(x, y, w if weighted else 1.0) for x, y, w in self.rows], down)
                    self.assertEqual(self.numbers_of("c.csv"), want)

    def test_groups(self):
        report = self.json("fit", "t.csv", "--x", "score", "--y", "outcome", "--by", "grp", "-o", "c.csv")
        header, rows = self.rows_of("c.csv")
        self.assertEqual(header, ["grp", "x", "fit", "weight"])
        self.assertEqual((report["groups"], report["rows"], report["n"], report["skipped"]), (6, 6, 200, 0))
        for group in set(self.groups):
            got = [tuple(map(float, row[1:])) for row in rows if row[0] == group]
            self.assertEqual(got, curve([(x, y, 1.0) for g, (x, y, _) in zip(self.groups, self.rows) if g == group]))

    def test_bounds_and_implementation(self):
        self.good("fit", "t.csv", "--x", "score", "--y", "outcome", "--min", "-0.125", "--max", "inf", "--impl", "cpu_exact", "-o", "c.csv")
        self.assertTrue(all(fit >= -0.125 for _, fit, _ in self.numbers_of("c.csv")))
        self.assertIn(-0.125, [fit for _, fit, _ in self.numbers_of("c.csv")])

    def test_missing(self):
        self.write("m.csv", "x,y,z\n1,1,NA\n2,NA,1\n,5,1\n4,0,\n")
        self.bad("fit", "m.csv", "--x", "x", "--y", "y", "-o", "c.csv", says=["line 3", "y", "--skip-missing"])
        self.bad("fit", "m.csv", "--x", "x", "--y", "q", "-o", "c.csv", says="no column is called 'q'; there are 'x', 'y', 'z'\n")
        self.write("many.csv", ",".join(f"c{i}" for i in range(1000)) + "\n")
        self.bad("fit", "many.csv", "--x", "q", "--y", "y", "-o", "c.csv", says=["'q'; there are 'c0', 'c1', ", ", ...\n"])
        self.write("long.csv", ",".join("%d" % i * 300 for i in range(9)) + "\n")
        self.bad("fit", "long.csv", "--x", "q", "--y", "y", "-o", "c.csv", says="there are '" + "0" * 40 + "...', '")
        done = self.good("fit", "m.csv", "--x", "x", "--y", "y", "-o", "c.csv", "--skip-missing")
        self.assertIn("2 rows left out", done.stderr)
        self.assertEqual(self.numbers_of("c.csv"), [(1, 0.5, 1), (4, 0.5, 1)])
        self.assertEqual(self.json("fit", "m.csv", "--x", "x", "--y", "y", "--skip-missing")["skipped"], 2)

    def test_bad_cells(self):
        for cell, word in ("abc", "abc"), ("nan", "nan"), ("inf", "inf"), ("1;5", "1;5"), ("1,5", "line 3"), ('"1,5"', "1,5"), ("1e999", "1e999"):
            with self.subTest(cell=cell):
                self.write("b.csv", f"x,y\n1,1\n2,{cell}\n")
                self.bad("fit", "b.csv", "--x", "x", "--y", "y", "-o", "c.csv", says=["b.csv", "line 3", word])
        for weight in "0", "-1", "nan", "inf":
            self.write("b.csv", f"x,y,w\n1,1,1\n2,2,{weight}\n")
            self.bad("fit", "b.csv", "--x", "x", "--y", "y", "--w", "w", "-o", "c.csv", says=["line 3", "w"])
        self.bad("fit", "t.csv", "--x", "scores", "--y", "outcome", "-o", "c.csv", says="scores")
        self.bad("fit", "absent.csv", "--x", "x", "--y", "y", "-o", "c.csv", says="absent.csv")
        self.write("b.csv", "")
        self.bad("fit", "b.csv", "--x", "x", "--y", "y", "-o", "c.csv", says="b.csv")

    def test_predict(self):
        self.write("c.csv", "x,fit,weight\n0,0,1\n1,0.5,1\n3,1,1\n")
        self.write("d.csv", "id,x\na,0.5\nb,-1\nc,2\nd,3\ne,9\n")
        args = ["predict", "c.csv", "d.csv", "--x", "x", "-o", "out.csv"]
        for mode, low, high in (None, "nan", "nan"), ("nan", "nan", "nan"), ("clip", "0", "1"):
            self.good(*args, *(["--out-of-range", mode] if mode else []))
            header, rows = self.rows_of("out.csv")
            self.assertEqual(header, ["id", "x", "fit"])
            self.assertEqual([row[2] for row in rows], ["0.25", low, "0.75", "1", high])
            self.assertEqual([row[:2] for row in rows], [["a", "0.5"], ["b", "-1"], ["c", "2"], ["d", "3"], ["e", "9"]])
        self.bad(*args[:-1], "out2.csv", "--out-of-range", "error", says="line 3")
        self.bad(*args[:-1], "out2.csv", "--out-of-range", "what", says="what")
        self.bad("predict", "c.csv", "--x", "x", "-o", "out2.csv")
        self.bad("predict", "c.csv", "d.csv", "-o", "out2.csv", says="--x COL")
        self.bad("predict", "c.csv", "d.csv", "--x", "x", says="-o FILE")
        self.bad("predict", "c.csv", "d.csv", "--x", "x", "-o", "out.npy", says="-o: what is written is .csv")
        self.bad("fit", "d.csv", "--x", "x", "--y", "x", "-o", "curve.NPY", says="-o: what is written is .csv")
        self.bad("predict", "c.csv", "d.csv", "--x", "y", "-o", "out2.csv", says="y")
        self.bad("predict", "absent.csv", "d.csv", "--x", "x", "-o", "out2.csv", says="absent.csv")
        self.bad("predict", "c.csv", "d.csv", "--x", "x", "-o", "absent/out.csv", says="absent/out.csv")

    def test_predict_groups(self):
        """At the points of the fit, prediction gives the fit; an unknown group is out of range."""
        self.good("fit", "t.csv", "--x", "score", "--y", "outcome", "--by", "grp", "-o", "c.csv")
        self.good("predict", "c.csv", "t.csv", "--x", "score", "--by", "grp", "-o", "out.csv")
        fit = {(row[0], float(row[1])): row[2] for row in self.rows_of("c.csv")[1]}
        header, rows = self.rows_of("out.csv")
        self.assertEqual(header, ["grp", "score", "outcome", "count", "fit"])
        self.assertEqual(len(rows), 200)
        self.assertTrue(all(row[4] == fit[row[0], float(row[1])] for row in rows))
        self.write("d.csv", "x,grp\n0,nobody\n")
        for mode in "nan", "clip":
            self.good("predict", "c.csv", "d.csv", "--x", "x", "--by", "grp", "-o", "out.csv", "--out-of-range", mode)
            self.assertTrue(math.isnan(float(self.rows_of("out.csv")[1][0][2])))
        self.bad("predict", "c.csv", "d.csv", "--x", "x", "--by", "grp", "-o", "out2.csv", "--out-of-range", "error", says="nobody")


if __name__ == "__main__":
    unittest.main()
