# SPDX-License-Identifier: Apache-2.0
"""isohull fit --device cuda:0, on a GPU or on the emulator of this build: the files are those of the CPU."""
import math
import unittest

from support import LISTED, CommandTest, npy_parse

CUDA = [i["name"] for i in LISTED["implementations"] if i["device"] == "cuda" and i["available"]]


@unittest.skipUnless(CUDA, "no CUDA device")
class Device(CommandTest):
    def both(self, *args, outputs=("-o", "--blocks")):
        """The same fit on CPU and device; bytes of the outputs of both."""
        got = []
        for k, place in enumerate(("cpu", "cuda:0")):
            files = [word for option in outputs for word in (option, f"{option.strip('-')}{k}.npy")]
            self.good("fit", *args, "--device", place, *files)
            got.append([self.read(f"{option.strip('-')}{k}.npy") for option in outputs])
        return got

    def test_same_files(self):
        for problem, *more in ("noise:f32:n=5000",), ("trend:f64:n=3000:rows=3", "--decreasing"), ("noise:f32:n=100:rows=20", "--min", "-0.1", "--max", "0.2"), \
                ("constant:f64:n=1",), ("wide:f32:n=700",):
            self.good("gen", problem, "-o", "y.npy")
            cpu, cuda = self.both("y.npy", *more)
            self.assertEqual(cpu, cuda, problem)

    def test_weights_and_ragged_rows(self):
        self.good("gen", "noise:f64:w=extreme:ragged=geometric:rows=30:n=60", "-o", "y.npy", "--weights-out", "w.npy", "--offsets-out", "o.npy")
        cpu, cuda = self.both("y.npy", "--weights", "w.npy", "--offsets", "o.npy")
        self.assertEqual(cpu, cuda)

    def test_json(self):
        self.good("gen", "labels:f32:n=400:rows=7", "-o", "y.npy")
        cpu = self.json("fit", "y.npy")
        cuda = self.json("fit", "y.npy", "--device", "cuda:0")
        for key in "digest", "blocks", "rows", "n", "dtype":
            self.assertEqual(cpu[key], cuda[key])
        self.assertEqual(cuda["impl"], CUDA[0])
        self.assertRegex(cuda["device"], "^(cuda|emulated):0$")
        self.assertTrue(cuda["gpu"])
        self.assertGreaterEqual(cuda["calls"], 3)
        self.assertNotIn("gpu", cpu)
        self.assertEqual(self.json("fit", "y.npy", "--impl", CUDA[0])["digest"], cpu["digest"])

    def test_gradients(self):
        self.good("gen", "noise:f64:w=uniform:n=900:rows=2", "-o", "y.npy", "--weights-out", "w.npy")
        self.good("gen", "noise:f64:n=900:rows=2:seed=5", "-o", "g.npy")
        cpu, cuda = self.both("y.npy", "--weights", "w.npy", "--grad", "g.npy", outputs=("-o", "--grad-y", "--grad-w"))
        self.assertEqual(cpu[0], cuda[0])
        for a, b in zip(cpu[1:], cuda[1:]):
            a, b = npy_parse(a)[2], npy_parse(b)[2]
            most = max(map(abs, a))
            self.assertTrue(all(abs(x - y) <= 2 ** -43 * most for x, y in zip(a, b)))

    def test_tables(self):
        rows = "".join(f"{'ab'[k % 2]},{k * 7 % 20 / 10},{k * 5 % 11},{1 + k % 3}\n" for k in range(200))
        self.write("t.csv", "g,x,y,w\n" + rows)
        for k, place in enumerate(("cpu", "cuda:0")):
            self.good("fit", "t.csv", "--x", "x", "--y", "y", "--w", "w", "--by", "g", "--device", place, "-o", f"c{k}.csv")
        self.assertEqual(self.read("c0.csv"), self.read("c1.csv"))

    def test_nothing_to_fit(self):
        self.write_npy("y.npy", [], "<f4")
        self.write_npy("rows.npy", [], "<f8", shape=(5, 0))
        for name in "y.npy", "rows.npy":
            cpu, cuda = self.both(name)
            self.assertEqual(cpu, cuda)

    def test_bad_values(self):
        """Where they are, and no file, as on the CPU."""
        values = [float(k) for k in range(30)]
        for bad, word in (math.nan, "NaN"), (math.inf, "inf"), (-math.inf, "inf"):
            values[17] = values[23] = bad
            self.write_npy("y.npy", values, "<f4", shape=(3, 10))
            done = self.bad("fit", "y.npy", "-o", "z.npy", "--device", "cuda:0", says=["row 1", "index 7", "y.npy"])
            self.assertIn(word, done.stderr)
            self.bad("fit", "y.npy", "--json", "--device", "cuda:0", says=["row 1", "index 7"])
        self.write_npy("y.npy", list(map(float, range(30))), "<f8")
        for bad in 0.0, -1.0, math.nan, math.inf:
            weights = [1.0] * 30
            weights[11] = bad
            self.write_npy("w.npy", weights, "<f8")
            self.bad("fit", "y.npy", "--weights", "w.npy", "-o", "z.npy", "--device", "cuda:0", says=["row 0", "index 11", "w.npy"])
        self.write_npy("w.npy", [1.0] * 30, "<f8")
        self.write_npy("g.npy", [0.0] * 12 + [math.nan] + [0.0] * 17, "<f8")
        self.bad("fit", "y.npy", "-o", "z.npy", "--grad", "g.npy", "--grad-y", "gy.npy", "--device", "cuda:0", says=["index 12", "g.npy"])

    def test_bad_offsets(self):
        self.write_npy("y.npy", list(map(float, range(30))), "<f8")
        for offsets in [0, 20, 10, 30], [1, 30], [0, 29]:
            self.write_npy("o.npy", offsets, "<i8")
            self.bad("fit", "y.npy", "--offsets", "o.npy", "-o", "z.npy", "--device", "cuda:0", says="o.npy")

    def test_memory(self):
        """The emulator's memory is as large as asked for; a GPU's is not, so that there nothing is tested here."""
        self.good("gen", "noise:f32:n=100000", "-o", "y.npy")
        done = self.isohull("fit", "y.npy", "-o", "z.npy", "--device", "cuda:0", env={"IH_EMULATED_MEMORY": "500000"})
        if self.json("fit", "y.npy", "--device", "cuda:0")["device"].startswith("emulated"):
            self.assertEqual(done.returncode, 2)
            self.assertIn("device memory ran out", done.stderr)
            self.assertEqual(self.files(), ["y.npy"])
            self.bad("fit", "y.npy", "-o", "z.npy", "--device", "cuda:0", env={"IH_EMULATED_DEVICES": "0"}, code=77, says="no device cuda:0")


if __name__ == "__main__":
    unittest.main()
