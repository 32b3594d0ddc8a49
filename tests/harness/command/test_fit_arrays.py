# SPDX-License-Identifier: Apache-2.0
"""isohull fit on arrays: every option against the exact fit in rational numbers."""
import json
import math
import random
import struct
import unittest

from support import APPROXIMATE, IMPLEMENTATIONS, CommandTest, exact_fit, fit_values


def numbers(seed, n, dtype="<f8", positive=False):
    """Values of high entropy, of the type."""
    draw = random.Random(seed)
    values = [draw.expovariate(1) + 0.01 if positive else draw.gauss(0, 1) for _ in range(n)]
    return values if dtype == "<f8" else [struct.unpack("<f", struct.pack("<f", v))[0] for v in values]


class FitArrays(CommandTest):
    def check(self, y, shape, dtype="<f8", w=None, decreasing=False, low=-math.inf, high=math.inf, out="z.npy", blocks="b.npy"):
        """z.npy and b.npy of rows of equal length are those of the exact fit."""
        rows, n = (1, shape[0]) if len(shape) == 1 else shape
        z, starts = [], []
        for r in range(rows):
            part = exact_fit(y[r * n:(r + 1) * n], w and w[r * n:(r + 1) * n], decreasing)
            z += fit_values(part, n, dtype, low, high)
            starts += [r * n + b[0] for b in part]
        self.assertEqual(self.read_npy(out), (dtype, shape, z))
        self.assertEqual(self.read_npy(blocks), ("<i8", (len(starts),), starts))
        return starts

    def test_every_implementation_and_type(self):
        self.assertTrue(IMPLEMENTATIONS)
        for impl in IMPLEMENTATIONS:
            for dtype in "<f4", "<f8":
                for weighted in False, True:
                    with self.subTest(impl=impl, dtype=dtype, weighted=weighted):
                        y, w = numbers(1, 300, dtype), numbers(2, 300, dtype, positive=True)
                        self.write_npy("y.npy", y, dtype)
                        self.write_npy("w.npy", w, dtype)
                        weights = ["--weights", "w.npy"] if weighted else []
                        self.good("fit", "y.npy", *weights, "--impl", impl, "-o", "z.npy", "--blocks", "b.npy")
                        self.check(y, (300,), dtype, w if weighted else None)

    def test_default_implementation(self):
        y = numbers(3, 100)
        self.write_npy("y.npy", y)
        done = self.good("fit", "y.npy", "-o", "z.npy", "--blocks", "b.npy")
        self.assertEqual(done.stdout, "")
        self.check(y, (100,))
        default = [i["name"] for i in json.loads(self.good("list", "--json").stdout)["implementations"] if i["default"]]
        self.assertEqual(self.json("fit", "y.npy")["impl"], default[0])

    def test_approximate(self):
        if not APPROXIMATE:
            self.skipTest("all implementations of this build are canonical")
        self.write_npy("y.npy", numbers(11, 700))
        self.good("fit", "y.npy", "-o", "want.npy")
        want = self.read_npy("want.npy")
        for impl in APPROXIMATE:
            self.good("fit", "y.npy", "-o", f"{impl}.npy", "--impl", impl)
            got = self.read_npy(f"{impl}.npy")
            self.assertEqual(got[:2], want[:2])
            self.assertLess(max(abs(a - b) for a, b in zip(got[2], want[2])), 1e-9)

    def test_decreasing_and_bounds(self):
        y = numbers(4, 200)
        self.write_npy("y.npy", y)
        for low, high in ("-0.25", "0.125"), ("-inf", "0"), ("-3e-1", "inf"), ("-Infinity", "Infinity"), ("0.5", "0.5"):
            for down in False, True:
                with self.subTest(low=low, high=high, down=down):
                    self.good("fit", "y.npy", "--min", low, "--max", high, *(["--decreasing"] if down else []), "-o", "z.npy", "--blocks", "b.npy")
                    self.check(y, (200,), decreasing=down, low=float(low), high=float(high))
        self.good("fit", "y.npy", "--min=-0.25", "--max=.125", "-oz.npy", "--blocks=b.npy")
        self.check(y, (200,), low=-0.25, high=0.125)

    def test_bounds_are_rounded_to_the_type(self):
        self.write_npy("y.npy", [-1.0, 0.0, 2.0], "<f4")
        near = 0.1
        as_float = struct.unpack("<f", struct.pack("<f", near))[0]
        self.good("fit", "y.npy", "--min", near, "-o", "z.npy")
        self.assertEqual(self.read_npy("z.npy")[2], [as_float, as_float, 2.0])
        # just above the tie between two float32 values: a detour by float64 would round to the tie, and then to even
        self.good("fit", "y.npy", "--min", "1.000000059604644775390625000000000001", "-o", "z.npy")
        self.assertEqual(self.read_npy("z.npy")[2], [1 + 2.0 ** -23, 1 + 2.0 ** -23, 2.0])
        self.good("fit", "y.npy", "--max", "1e39", "--min", "-1e39", "-o", "z.npy")  # infinite in float32
        self.assertEqual(self.read_npy("z.npy")[2], [-1.0, 0.0, 2.0])

    def test_two_dimensions_orders_and_byte_orders(self):
        y, w = numbers(5, 60), numbers(6, 60, positive=True)
        for dtype in "<f8", ">f8":
            for fortran in False, True:
                with self.subTest(dtype=dtype, fortran=fortran):
                    self.write_npy("y.npy", y, dtype, (4, 15), fortran)
                    self.write_npy("w.npy", w, "<f8", (4, 15), not fortran)
                    self.good("fit", "y.npy", "--weights", "w.npy", "-o", "z.npy", "--blocks", "b.npy")
                    self.check(y, (4, 15), "<f8", w)

    def test_integers_become_float64(self):
        draw = random.Random(7)
        for dtype, low, high in ("<i8", -10**12, 10**12), ("<i4", -9, 9), (">i4", -9, 9), ("<i2", -99, 99), ("|i1", -128, 127), ("|u1", 0, 255), ("<u2", 0, 65535):
            with self.subTest(dtype=dtype):
                y = [draw.randint(low, high) for _ in range(80)]
                self.write_npy("y.npy", y, dtype)
                self.good("fit", "y.npy", "-o", "z.npy", "--blocks", "b.npy")
                self.check([float(v) for v in y], (80,))

    def test_weights_of_another_type(self):
        y, w = numbers(8, 50), [float(random.Random(9).randint(1, 9)) for _ in range(50)]
        for y_type, w_type in ("<f8", "<f4"), ("<f8", "<i4"), ("<f4", "<f8"), ("<f4", "<i4"):
            with self.subTest(y=y_type, w=w_type):
                values = numbers(8, 50, y_type)
                self.write_npy("y.npy", values, y_type)
                self.write_npy("w.npy", w if w_type[1] == "f" else map(int, w), w_type)
                self.good("fit", "y.npy", "--weights", "w.npy", "-o", "z.npy", "--blocks", "b.npy")
                self.check(values, (50,), y_type, w)
        self.write_npy("y.npy", numbers(8, 6, "<f4"), "<f4", (2, 3))
        self.write_npy("w.npy", [1, 1, 1, 1, 0.1, 1], "<f8", (2, 3))
        self.bad("fit", "y.npy", "--weights", "w.npy", "-o", "z.npy", says=["w.npy", "row 1, index 1", "float32"])

    def test_ragged(self):
        y = numbers(10, 100)
        offsets = [0, 0, 7, 7, 40, 99, 100, 100]
        self.write_npy("y.npy", y)
        self.write_npy("o.npy", offsets, "<i8")
        report = self.json("fit", "y.npy", "--offsets", "o.npy", "-o", "z.npy", "--blocks", "b.npy")
        z, starts = [], []
        for a, b in zip(offsets, offsets[1:]):
            part = exact_fit(y[a:b])
            z += fit_values(part, b - a)
            starts += [a + k[0] for k in part]
        self.assertEqual(self.read_npy("z.npy"), ("<f8", (100,), z))
        self.assertEqual(self.read_npy("b.npy"), ("<i8", (len(starts),), starts))
        self.assertEqual((report["rows"], report["n"], report["blocks"]), (7, 100, len(starts)))

    def test_empty(self):
        for shape in (0,), (0, 5), (3, 0):
            with self.subTest(shape=shape):
                self.write_npy("y.npy", [], "<f4", shape)
                report = self.json("fit", "y.npy", "-o", "z.npy", "--blocks", "b.npy")
                self.assertEqual(self.read_npy("z.npy"), ("<f4", shape, []))
                self.assertEqual(self.read_npy("b.npy"), ("<i8", (0,), []))
                self.assertEqual((report["n"], report["blocks"]), (0, 0))
        self.write_npy("y.npy", [])
        self.write_npy("o.npy", [0], "<i8")
        self.assertEqual(self.json("fit", "y.npy", "--offsets", "o.npy")["rows"], 0)

    def test_any_number_of_rows_without_elements(self):
        for rows in 10**12, 2**60, 2**61, 2**63 - 1:  # nothing may take time or memory by them
            for impl in IMPLEMENTATIONS:
                self.write_npy("y.npy", [], "<f8", (rows, 0))
                report = self.json("fit", "y.npy", "--impl", impl, "-o", "z.npy", "--blocks", "b.npy", "--grad", "y.npy", "--grad-y", "gy.npy")
                self.assertEqual((report["rows"], report["n"], report["blocks"]), (rows, 0, 0))
                self.assertEqual(self.read_npy("z.npy"), ("<f8", (rows, 0), []))
                self.assertEqual(self.read_npy("gy.npy"), ("<f8", (rows, 0), []))
                self.assertEqual(self.read_npy("b.npy"), ("<i8", (0,), []))

    def test_json(self):
        self.write_npy("y.npy", numbers(11, 90), "<f8", (3, 30))
        report = self.json("fit", "y.npy", "--impl", IMPLEMENTATIONS[0], "--device", "cpu", "--threads", 1)
        self.assertEqual(self.files(), ["y.npy"])
        self.assertEqual((report["impl"], report["device"], report["threads"], report["dtype"]), (IMPLEMENTATIONS[0], "cpu", 1, "float64"))
        self.assertEqual((report["rows"], report["n"]), (3, 90))
        self.assertGreater(report["ms"], 0)
        self.assertGreaterEqual(report["calls"], 3)
        self.assertGreaterEqual(report["workspace_bytes"], 0)
        self.assertRegex(report["digest"], "^[0-9a-f]{16}$")
        self.assertEqual(self.json("fit", "y.npy", "-o", "z.npy", "--blocks", "b.npy")["digest"], report["digest"])
        self.assertEqual(report["blocks"], self.read_npy("b.npy")[1][0])

    def test_digest(self):
        # XXH3-64 of the bytes, by another program
        self.write_npy("y.npy", [3, 1, 2])
        self.assertEqual(self.json("fit", "y.npy")["digest"], "3475a917a76e0c8b")  # 2.0 2.0 2.0 | 0
        self.write_npy("y.npy", [1, 2, 0.5], "<f4")
        self.assertEqual(self.json("fit", "y.npy", "--max", "1.125")["digest"], "b9e5c68a95c89b7b")  # 1 1.125 1.125 | 0 1
        # blocks count, even where the bounds make the values equal
        self.write_npy("y.npy", [1, 2])
        clipped = self.json("fit", "y.npy", "--max", 1)
        self.write_npy("y.npy", [1, 1])
        self.assertNotEqual(clipped["digest"], self.json("fit", "y.npy")["digest"])
        # -0 counts as +0
        self.write_npy("y.npy", [-2.0 ** -1074, 0, 0, 0, 5])
        self.assertEqual(len({self.json("fit", "y.npy", "--min", b)["digest"] for b in ("0", "-0")}), 1)

    def test_zeros_and_underflow(self):
        tiny = 2.0 ** -1074
        self.write_npy("y.npy", [0.0, -0.0, -tiny], "<f8")
        self.good("fit", "y.npy", "-o", "z.npy")
        self.assertEqual([math.copysign(1, v) for v in self.read_npy("z.npy")[2]], [-1, -1, -1])  # -tiny / 3 underflows
        self.write_npy("y.npy", [-0.0, -0.0], "<f8")
        self.good("fit", "y.npy", "-o", "z.npy")
        self.assertEqual([math.copysign(1, v) for v in self.read_npy("z.npy")[2]], [1, 1])

    def test_threads_change_nothing(self):
        self.good("gen", "random_walk:f64:rows=20:n=3000:w=uniform", "-o", "y.npy", "--weights-out", "w.npy")
        digests = {self.json("fit", "y.npy", "--weights", "w.npy", "--impl", impl, "--threads", t)["digest"]
                   for impl in IMPLEMENTATIONS for t in (1, 2, 3)}
        self.assertEqual(len(digests), 1)

    def test_output_over_input(self):
        y = numbers(12, 40)
        self.write_npy("y.npy", y)
        self.good("fit", "y.npy", "-o", "y.npy", "--blocks", "b.npy")
        self.check(y, (40,), out="y.npy")
        self.assertEqual(self.files(), ["b.npy", "y.npy"])


if __name__ == "__main__":
    unittest.main()
