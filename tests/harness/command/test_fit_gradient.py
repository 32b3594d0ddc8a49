# SPDX-License-Identifier: Apache-2.0
"""isohull fit --grad: gradients against their formula in rational numbers, and against differences of the fit."""
import random
import unittest
from fractions import Fraction

from support import LISTED, CommandTest, exact_fit

WITH_GRADIENT = [i["name"] for i in LISTED["implementations"] if i["gradient"] and i["available"]]


def formula(y, w, g, low=None, high=None):
    """w G / W and (y - z) G / W; nothing passes an element whose mean is strictly outside the bounds."""
    blocks = exact_fit(y, w)
    ends = [b[0] for b in blocks[1:]] + [len(y)]
    in_y, in_w = [], []
    for (first, weight, mean), end in zip(blocks, ends):
        dead = (low is not None and mean < low) or (high is not None and mean > high)
        total = Fraction(0) if dead else sum(map(Fraction, g[first:end]))
        for j in range(first, end):
            in_y.append((Fraction(w[j]) if w else 1) * total / weight)
            in_w.append((Fraction(y[j]) - mean) * total / weight)
    return in_y, in_w


class Gradient(CommandTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(1)
        self.y = [draw.gauss(0, 1) for _ in range(120)]
        self.w = [draw.uniform(0.5, 1.5) for _ in range(120)]
        self.g = [draw.gauss(0, 1) for _ in range(120)]
        for name, values in ("y.npy", self.y), ("w.npy", self.w), ("g.npy", self.g):
            self.write_npy(name, values)

    def near(self, name, exact, bits=44, want_dtype="<f8"):
        dtype, shape, values = self.read_npy(name)
        largest = max(abs(v) for v in exact)
        self.assertEqual((dtype, shape), (want_dtype, (len(exact),)))
        for value, want in zip(values, exact):
            self.assertLessEqual(abs(Fraction(value) - want), largest / 2 ** bits)
        return values

    def test_formula(self):
        self.assertTrue(WITH_GRADIENT)
        for impl in WITH_GRADIENT:
            for weighted in True, False:
                with self.subTest(impl=impl, weighted=weighted):
                    weights = ["--weights", "w.npy"] if weighted else []
                    self.good("fit", "y.npy", *weights, "--impl", impl, "-o", "z.npy", "--grad", "g.npy", "--grad-y", "gy.npy", "--grad-w", "gw.npy")
                    in_y, in_w = formula(self.y, self.w if weighted else None, self.g)
                    self.near("gy.npy", in_y)
                    self.near("gw.npy", in_w)

    def test_float32(self):
        y, w, g = ([round(2**20 * v) / 2**20 for v in values] for values in (self.y, self.w, self.g))
        for name, values in ("y.npy", y), ("w.npy", w), ("g.npy", g):
            self.write_npy(name, values, "<f4")
        y, w, g = (self.read_npy(name)[2] for name in ("y.npy", "w.npy", "g.npy"))
        self.good("fit", "y.npy", "--weights", "w.npy", "-o", "z.npy", "--grad", "g.npy", "--grad-y", "gy.npy", "--grad-w", "gw.npy")
        for name, exact in zip(("gy.npy", "gw.npy"), formula(y, w, g)):
            self.near(name, exact, bits=20, want_dtype="<f4")

    def test_bounds(self):
        self.good("fit", "y.npy", "--min", "-0.0625", "--max", "0.0625", "-o", "z.npy", "--grad", "g.npy", "--grad-y", "gy.npy")
        in_y, _ = formula(self.y, None, self.g, Fraction(-1, 16), Fraction(1, 16))
        values = self.near("gy.npy", in_y)
        zeros = [k for k, v in enumerate(in_y) if v == 0]
        self.assertTrue(zeros)
        self.assertTrue(all(values[k] == 0 for k in zeros))

    def test_differences(self):
        """d(sum g z) / dw by moving one weight; the fit of neighbours has the same blocks."""
        self.good("fit", "y.npy", "--weights", "w.npy", "--grad", "g.npy", "--grad-y", "gy.npy", "--grad-w", "gw.npy", "--json")
        in_w = self.read_npy("gw.npy")[2]
        self.assertEqual(self.files(), ["g.npy", "gw.npy", "gy.npy", "w.npy", "y.npy"])
        for j in 0, 50, 119:
            step, losses = 2.0 ** -20, []
            for sign in -1, 1:
                w = list(self.w)
                w[j] += sign * step
                self.write_npy("w2.npy", w)
                self.good("fit", "y.npy", "--weights", "w2.npy", "-o", "z.npy")
                losses.append(sum(a * b for a, b in zip(self.g, self.read_npy("z.npy")[2])))
            self.assertAlmostEqual((losses[1] - losses[0]) / (2 * step), in_w[j], places=6)

    def test_ragged_and_shape(self):
        self.write_npy("o.npy", [0, 50, 50, 120], "<i8")
        self.good("fit", "y.npy", "--offsets", "o.npy", "-o", "z.npy", "--grad", "g.npy", "--grad-y", "gy.npy")
        self.near("gy.npy", formula(self.y[:50], None, self.g[:50])[0] + formula(self.y[50:], None, self.g[50:])[0])
        self.write_npy("y2.npy", self.y, "<f4", (4, 30))
        self.write_npy("g2.npy", [round(16 * v) / 16 for v in self.g], "<f8", (4, 30))  # exact in float32
        self.good("fit", "y2.npy", "-o", "z.npy", "--grad", "g2.npy", "--grad-w", "gw.npy")
        self.assertEqual(self.read_npy("gw.npy")[:2], ("<f4", (4, 30)))

    def test_refusals(self):
        self.write_npy("short.npy", [1.0] * 119)
        self.write_npy("nan.npy", [0.0] * 119 + [float("nan")])
        out = ["-o", "z.npy", "--grad-y", "gy.npy"]
        self.bad("fit", "y.npy", *out, says="--grad FILE")
        self.bad("fit", "y.npy", "-o", "z.npy", "--grad", "g.npy", says="--grad-y FILE")
        self.bad("fit", "y.npy", *out, "--grad", "short.npy", says=["short.npy", "(119,)", "(120,)"])
        self.bad("fit", "y.npy", *out, "--grad", "nan.npy", says=["g: NaN at row 0, index 119", "nan.npy"])


if __name__ == "__main__":
    unittest.main()
