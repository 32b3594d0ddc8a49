# SPDX-License-Identifier: Apache-2.0
"""isohull gen: files, shapes, options, refusals."""
import json
import os
import struct
import unittest

from support import CommandTest


class Gen(CommandTest):
    def test_shapes_and_types(self):
        for problem, dtype, shape in (
            ("noise:n=10", "<f4", (10,)),
            ("noise:n=1e3", "<f4", (1000,)),
            ("noise:f64:n=10", "<f8", (10,)),
            ("noise:rows=3:n=10", "<f4", (3, 10)),
            ("noise:n=10:rows=1:f64", "<f8", (10,)),
            ("noise:n=0", "<f4", (0,)),
            ("noise:n=7:rows=0", "<f4", (0, 7)),
        ):
            with self.subTest(problem=problem):
                self.good("gen", problem, "-o", "y.npy")
                self.assertEqual(self.read_npy("y.npy")[:2], (dtype, shape))
                self.assertEqual(self.files(), ["y.npy"])

    def test_canonical_name(self):
        """Any order of the keys gives the same data, and the same name on standard output."""
        names = set()
        for k, problem in enumerate(["trend:f64:slope=0.5:w=uniform:rows=2:n=30:seed=4", "trend:seed=4:n=30:w=uniform:rows=2:slope=5e-1:f64"]):
            done = self.good("gen", problem, "-o", f"{k}.npy", "--weights-out", f"w{k}.npy")
            names.add(done.stdout)
        self.assertEqual(len(names), 1)
        self.assertEqual(self.read("0.npy"), self.read("1.npy"))
        self.assertEqual(self.read("w0.npy"), self.read("w1.npy"))
        name = names.pop().strip()
        self.good("gen", name, "-o", "2.npy")
        self.assertEqual(self.read("0.npy"), self.read("2.npy"))

    def test_weights(self):
        self.good("gen", "noise:rows=2:n=5", "-o", "y.npy", "--weights-out", "w.npy")
        self.assertEqual(self.read_npy("w.npy"), ("<f4", (2, 5), [1.0] * 10))
        self.good("gen", "noise:f64:n=50:w=uniform", "-o", "y.npy", "--weights-out", "w.npy")
        dtype, shape, w = self.read_npy("w.npy")
        self.assertEqual((dtype, shape), ("<f8", (50,)))
        self.assertTrue(all(0.5 <= v < 1.5 for v in w) and len(set(w)) > 40)

    def test_ragged(self):
        done = self.good("gen", "noise:ragged=uniform:rows=20:n=10", "-o", "y.npy", "--offsets-out", "o.npy", "--weights-out", "w.npy")
        self.assertEqual(done.stderr, "")
        dtype, shape, offsets = self.read_npy("o.npy")
        self.assertEqual((dtype, shape), ("<i8", (21,)))
        self.assertEqual((offsets[0], sorted(offsets)), (0, offsets))
        self.assertEqual(self.read_npy("y.npy")[1], (offsets[-1],))
        self.assertEqual(self.read_npy("w.npy")[1], (offsets[-1],))
        self.assertEqual(self.json("fit", "y.npy", "--offsets", "o.npy")["rows"], 20)
        self.assertIn("--offsets-out", self.good("gen", "noise:ragged=uniform:rows=20:n=10", "-o", "y.npy").stderr)

    def test_seeds_and_rows_differ(self):
        self.good("gen", "noise:n=50:rows=2", "-o", "a.npy")
        self.good("gen", "noise:n=50:rows=2:seed=1", "-o", "b.npy")
        a, b = self.read_npy("a.npy")[2], self.read_npy("b.npy")[2]
        self.assertNotEqual(a, b)
        self.assertNotEqual(a[:50], a[50:])

    def test_every_family_and_weighting(self):
        listed = json.loads(self.good("list", "--json").stdout)
        for family in listed["families"]:
            for dtype in "f32", "f64":
                with self.subTest(family=family["name"], dtype=dtype):
                    keys = "".join(f":{p['name']}={p['default']!r}" for p in family["parameters"])
                    self.good("gen", f"{family['name']}:{dtype}:n=100{keys}", "-o", "y.npy")
                    self.assertEqual(self.json("fit", "y.npy")["n"], 100)
        for weighting in listed["weightings"]:
            self.good("gen", f"noise:n=100:w={weighting['name']}", "-o", "y.npy", "--weights-out", "w.npy")
            self.json("fit", "y.npy", "--weights", "w.npy")
        for law in listed["ragged"]:
            if law["name"] != "none":
                self.good("gen", f"noise:n=9:rows=30:ragged={law['name']}", "-o", "y.npy", "--offsets-out", "o.npy")
                self.json("fit", "y.npy", "--offsets", "o.npy")

    def test_files(self):
        """file: problems: text, raw and .npy come out as .npy, with weights and offsets of other files or generated."""
        self.write("a:b%.csv", "y,w\n0.1,2\n3,4\n-1,5\n")
        self.assertEqual(self.good("gen", "file:a%3ab%25.csv", "-o", "y.npy").stdout, "file:a%3Ab%25.csv\n")
        self.assertEqual(self.read_npy("y.npy"), ("<f8", (3,), [0.1, 3, -1]))
        self.good("gen", "file:a%3Ab%25.csv:f32:w=wide", "-o", "y32.npy", "--weights-out", "w32.npy")
        self.assertEqual(self.read_npy("y32.npy"), ("<f4", (3,), [struct.unpack("<f", struct.pack("<f", 0.1))[0], 3, -1]))
        self.good("gen", "noise:n=3:w=wide", "-o", "x.npy", "--weights-out", "x.npy.w")
        self.assertEqual(self.read("w32.npy"), self.read("x.npy.w"))
        self.write_npy("w.npy", [1, 2, 5], "<i4")
        self.good("gen", "file:y.npy:weights=w.npy:dec=1", "-o", "y2.npy", "--weights-out", "w2.npy")
        self.assertEqual(self.read("y.npy"), self.read("y2.npy"))
        self.assertEqual(self.read_npy("w2.npy"), ("<f8", (3,), [1, 2, 5]))
        self.good("gen", "file:w.npy:f32", "-o", "w3.npy", "--weights-out", "ones.npy")
        self.assertEqual(self.read_npy("w3.npy"), ("<f4", (3,), [1, 2, 5]))
        self.assertEqual(self.read_npy("ones.npy"), ("<f4", (3,), [1, 1, 1]))
        self.write("y.raw", struct.pack("<3f", 1, 2, 3))
        self.good("gen", "file:y.raw:f32", "-o", "r.npy")
        self.assertEqual(self.read_npy("r.npy"), ("<f4", (3,), [1, 2, 3]))
        self.write_npy("o.npy", [0, 0, 2, 3], "<i8")
        self.good("gen", "file:y.npy:offsets=o.npy:w=uniform", "-o", "y4.npy", "--weights-out", "w4.npy", "--offsets-out", "o4.npy")
        self.assertEqual(self.read_npy("o.npy"), self.read_npy("o4.npy"))
        self.assertEqual(len(set(self.read_npy("w4.npy")[2])), 3)

        self.write_npy("two.npy", [1, 2, 3, 4], "<f8", (2, 2))
        self.write_npy("falls.npy", [0, 2, 1, 3], "<i8")
        for problem, says in (("file:y.npy:f32", "index 0"), ("file:y.raw", "which type"), ("file:absent.npy", "absent.npy"),
                              ("file:y.npy:weights=absent.npy", "absent.npy"), ("file:y.npy:weights=two.npy", "shape"),
                              ("file:two.npy:offsets=o.npy", "2-D"), ("file:w.npy:offsets=falls.npy", "row 1"),
                              ("file:y.npy:offsets=two.npy", "two.npy"), ("file:y.npy:n=3", "unknown key"),
                              ("file:y.npy:w=uniform:weights=w.npy", "exclude")):
            with self.subTest(problem=problem):
                self.bad("gen", problem, "-o", "none.npy", "--weights-out", "none2.npy", says=says)

    def test_refusals(self):
        for problem in ("noise", "noise:n=", "noise:n=-1", "noise:n=1.5", "noise:n=nan", "noise:n=1e30", "noise:n=5:n=6", "noise:n=5:colour=blue",
                        "nose:n=5", "", ":", "noise:n=5:", "noise:n=5:w=heavy", "noise:n=5:f16", "noise:n=5:rows=-1", "noise:n=5:seed=x",
                        "noise:n=5:min=nan", "noise:n=5:dec=2", "file:y.npy", "noise:n=4e9:rows=4e9"):
            with self.subTest(problem=problem):
                self.bad("gen", problem, "-o", "y.npy")
        self.bad("gen", says="which problem?")
        self.bad("gen", "noise:n=5", says="-o FILE")
        self.bad("gen", "noise:n=5", "-o", "absent/y.npy", says="absent/y.npy")
        self.bad("gen", "noise:n=5", "-o", "y.csv", says="-o: what is written is .npy")
        self.bad("gen", "noise:n=5", "-o", "y.npy", "--weights-out", "w.csv", says="--weights-out: what is written is .npy")
        self.bad("gen", "noise:n=5", "-o", "y.npy", "--weights-out", "y.npy", says="y.npy")
        self.bad("gen", "noise:n=5", "-o", "y.npy", "--weights-out", "absent/w.npy", says="absent/w.npy")
        self.bad("gen", "noise:n=5", "-o", "y.npy", "--offsets-out", "o.npy", says="--offsets-out")

    @unittest.skipIf(os.environ.get("ISOHULL_SANITIZED"), "sanitizers have a limit, and words, of their own")
    def test_no_memory(self):
        self.bad("gen", "noise:n=1e15", "-o", "y.npy", says="memory")


if __name__ == "__main__":
    unittest.main()
