# SPDX-License-Identifier: Apache-2.0
"""isohull fit: what is refused, with which exit code and words; nothing is written then."""
import math
import unittest

from support import IMPLEMENTATIONS, CommandTest, npy_bytes

NAN, INF = math.nan, math.inf


class Refusals(CommandTest):
    def setUp(self):
        super().setUp()
        self.write_npy("y.npy", [3.0, 1.0, 2.0, 5.0, 4.0, 6.0], "<f8", (2, 3))
        self.write_npy("flat.npy", [3.0, 1.0, 2.0, 5.0, 4.0, 6.0])

    def test_values_of_y(self):
        for bad, word in (NAN, "NaN"), (INF, "infini"), (-INF, "infini"):
            for dtype in "<f4", "<f8":
                for impl in IMPLEMENTATIONS:
                    with self.subTest(bad=bad, dtype=dtype, impl=impl):
                        self.write_npy("bad.npy", [1, 2, 3, 4, bad, NAN], dtype, (2, 3))
                        self.bad("fit", "bad.npy", "--impl", impl, "-o", "z.npy", says=["y: ", word, "row 1, index 1", "bad.npy"])
                        self.bad("fit", "bad.npy", "--impl", impl, "--json", says=["row 1, index 1"])

    def test_values_of_weights(self):
        for bad, word in (NAN, "NaN"), (INF, "infini"), (0.0, "zero"), (-0.0, "zero"), (-1.0, "negative"), (-INF, "negative"):
            for impl in IMPLEMENTATIONS:
                with self.subTest(bad=bad, impl=impl):
                    self.write_npy("w.npy", [1, 2, bad, 4, 5, 6], "<f8", (2, 3))
                    self.bad("fit", "y.npy", "--weights", "w.npy", "--impl", impl, "-o", "z.npy", says=["w: ", word, "row 0, index 2", "w.npy"])

    def test_first_fault_is_named(self):
        self.write_npy("bad.npy", [1, 2, 3, 4, NAN, 6], "<f8", (2, 3))
        self.write_npy("w.npy", [1, 1, 1, 1, 0, 1], "<f8", (2, 3))
        self.bad("fit", "bad.npy", "--weights", "w.npy", "-o", "z.npy", says=["y: ", "row 1, index 1"])
        self.write_npy("w.npy", [1, 0, 1, 1, 0, 1], "<f8", (2, 3))
        self.bad("fit", "bad.npy", "--weights", "w.npy", "-o", "z.npy", says=["w: ", "row 0, index 1"])

    def test_row_of_a_ragged_batch(self):
        self.write_npy("bad.npy", [1, 2, 3, 4, NAN, 6])
        self.write_npy("o.npy", [0, 0, 3, 3, 6], "<i8")
        self.bad("fit", "bad.npy", "--offsets", "o.npy", "-o", "z.npy", says="row 3, index 1")

    def test_offsets(self):
        for offsets in [1, 6], [0, 4, 3, 6], [0, 5], [0, 7], [0], [-1, 6], []:
            with self.subTest(offsets=offsets):
                self.write_npy("o.npy", offsets, "<i8")
                self.bad("fit", "flat.npy", "--offsets", "o.npy", "-o", "z.npy", says="o.npy")
        self.write_npy("o.npy", [0, 3, 6], "<i8")
        self.bad("fit", "y.npy", "--offsets", "o.npy", "-o", "z.npy", says="2-D")
        self.write_npy("o.npy", [0.0, 6.0], "<f8")
        self.bad("fit", "flat.npy", "--offsets", "o.npy", "-o", "z.npy", says="o.npy")

    def test_shapes(self):
        self.bad("fit", "y.npy", "--weights", "flat.npy", "-o", "z.npy", says=["flat.npy", "(6,)", "(2, 3)"])
        self.write_npy("w.npy", [1.0] * 6, "<f8", (3, 2))
        self.bad("fit", "y.npy", "--weights", "w.npy", "-o", "z.npy", says=["(3, 2)", "(2, 3)"])
        self.write_npy("cube.npy", [1.0] * 8, "<f8", (2, 2, 2))
        self.bad("fit", "cube.npy", "-o", "z.npy", says="cube.npy")

    def test_files(self):
        self.bad("fit", "absent.npy", "-o", "z.npy", says="absent.npy")
        self.bad("fit", ".", "-o", "z.npy")
        self.bad("fit", "y.npy", "--weights", "absent.npy", "-o", "z.npy", says="absent.npy")
        self.write("text.npy", "x,y\n1,2\n")
        self.bad("fit", "text.npy", "-o", "z.npy", says="text.npy")
        whole = npy_bytes([1.0, 2.0, 3.0])
        for size in 0, 5, 9, 64, len(whole) - 1:
            with self.subTest(size=size):
                self.write("short.npy", whole[:size])
                self.bad("fit", "short.npy", "-o", "z.npy", says="short.npy")
        self.write("long.npy", whole + b"\0")
        self.bad("fit", "long.npy", "-o", "z.npy", says="long.npy")

    def test_outputs(self):
        self.bad("fit", "y.npy", "-o", "no/such/folder/z.npy", says="no/such/folder/z.npy")
        self.bad("fit", "y.npy", "-o", "y.npy/z.npy", says="y.npy/z.npy")
        self.bad("fit", "y.npy", "-o", "z.npy", "--blocks", "absent/b.npy", says="absent/b.npy")
        self.bad("fit", "y.npy", "-o", "z.npy", "--blocks", "z.npy", says="z.npy")
        self.bad("fit", "y.npy", "-o", "/dev/full", says="/dev/full")
        self.bad("fit", "y.npy", says="-o FILE")
        self.bad("fit", "y.npy", "-o", "z.csv", says="-o: what is written is .npy")

    def test_bounds(self):
        self.bad("fit", "y.npy", "-o", "z.npy", "--min", "2", "--max", "1", says=["--min 2", "--max 1"])
        self.bad("fit", "y.npy", "-o", "z.npy", "--min", "inf", "--max", "-inf", says="--min inf")
        for text in "nan", "NaN", "-nan":
            self.bad("fit", "y.npy", "-o", "z.npy", "--max", text, says=["--max", "NaN"])
        for text in "", "one", "1,5", "1 ", " 1", "1e", "--decreasing":
            self.bad("fit", "y.npy", "-o", "z.npy", "--min", text, says=["--min", "not a number"])

    def test_implementation(self):
        name = IMPLEMENTATIONS[0]
        self.bad("fit", "y.npy", "-o", "z.npy", "--impl", "nonsense", says="nonsense")
        self.bad("fit", "y.npy", "-o", "z.npy", "--impl", name[:-1], says=f"did you mean {name}?")
        self.bad("fit", "y.npy", "-o", "z.npy", "--impl", "", says="--impl")
        self.bad("fit", "y.npy", "-o", "z.npy", "--impl", name + ":colour=blue", says="colour")
        self.bad("fit", "y.npy", "-o", "z.npy", "--impl", name + ":chunk", says="chunk")

    def test_device_and_threads(self):
        self.bad("fit", "y.npy", "-o", "z.npy", "--device", "cuda:99", code=77, says="cuda:99")
        self.bad("fit", "y.npy", "--json", "--device", "cuda:98", code=77, says="cuda:98")
        for text in "cuda", "cuda:", "cuda:-1", "cuda:x", "gpu", "":
            self.bad("fit", "y.npy", "-o", "z.npy", "--device", text, says="--device")
        self.bad("fit", "y.npy", "-o", "z.npy", "--impl", IMPLEMENTATIONS[0], "--device", "cuda:0", says="CPU")
        self.bad("fit", "y.npy", "-o", "z.npy", "--device", "cuda:0", "--min", "nan", says="--min")  # 2 before 77
        for text in "0", "-1", "many", "1.5", "5000", "":
            self.bad("fit", "y.npy", "-o", "z.npy", "--threads", text, says="--threads")

    def test_kinds_of_input(self):
        self.bad("fit", "y.npy", "-o", "z.npy", "--x", "a", says="--x")
        self.bad("fit", "y.npy", "-o", "z.npy", "--skip-missing", says="--skip-missing")
        self.write("t.csv", "x,y\n1,2\n")
        for option in "--weights", "--offsets", "--blocks":
            self.bad("fit", "t.csv", "--x", "x", "--y", "y", "-o", "c.csv", option, "y.npy", says=option)
        self.bad("fit", "t.csv", "-o", "c.csv", says="--x COL")


if __name__ == "__main__":
    unittest.main()
