# SPDX-License-Identifier: Apache-2.0
"""isohull gen: files, shapes, options, refusals."""
import json
import os
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

    def test_refusals(self):
        for problem in ("noise", "noise:n=", "noise:n=-1", "noise:n=1.5", "noise:n=nan", "noise:n=1e30", "noise:n=5:n=6", "noise:n=5:colour=blue",
                        "nose:n=5", "", ":", "noise:n=5:", "noise:n=5:w=heavy", "noise:n=5:f16", "noise:n=5:rows=-1", "noise:n=5:seed=x",
                        "noise:n=5:min=nan", "noise:n=5:dec=2", "file:y.npy", "noise:n=4e9:rows=4e9"):
            with self.subTest(problem=problem):
                self.bad("gen", problem, "-o", "y.npy")
        self.bad("gen", says="which problem?")
        self.bad("gen", "noise:n=5", says="-o FILE")
        self.bad("gen", "noise:n=5", "-o", "absent/y.npy", says="absent/y.npy")
        self.bad("gen", "noise:n=5", "-o", "y.npy", "--weights-out", "y.npy", says="y.npy")
        self.bad("gen", "noise:n=5", "-o", "y.npy", "--weights-out", "absent/w.npy", says="absent/w.npy")
        self.bad("gen", "noise:n=5", "-o", "y.npy", "--offsets-out", "o.npy", says="--offsets-out")

    @unittest.skipIf(os.environ.get("ISOHULL_SANITIZED"), "sanitizers have a limit, and words, of their own")
    def test_no_memory(self):
        self.bad("gen", "noise:n=1e15", "-o", "y.npy", says="memory")


if __name__ == "__main__":
    unittest.main()
