# SPDX-License-Identifier: Apache-2.0
"""isohull list and isohull doctor."""
import json
import os
import unittest

from support import EXE, CommandTest


class List(CommandTest):
    def test_json(self):
        done = self.good("list", "--json")
        listed = json.loads(done.stdout)
        self.assertEqual(done.stderr, "")
        self.assertLessEqual({"implementations", "families", "weightings", "presets"}, set(listed))
        for item in listed["implementations"]:
            self.assertIn(item["claim"], ("canonical", "approximate"))
            self.assertIn(item["device"], ("cpu", "cuda"))
            self.assertLessEqual(set(item["dtypes"]), {"float32", "float64"})
            for key in "weights", "ragged", "gradient", "available":
                self.assertIsInstance(item[key], bool)
            self.assertEqual(item["why"] == "", item["available"])
            self.write_npy("y.npy", [2, 1])
            if not item["available"]:
                self.assertEqual(self.isohull("fit", "y.npy", "--impl", item["name"], "--json").returncode, 77)
                continue
            for option, value in ("threads", 1), ("chunk", 64), ("walk_cap", 1), ("thread_merges", 1), ("isa", "base"):
                done = self.isohull("fit", "y.npy", "--impl", f"{item['name']}:{option}={value}", "--json")
                self.assertEqual(done.returncode, 0 if option in item["options"] else 2, option)
        names = [item["name"] for item in listed["implementations"]]
        self.assertEqual(len(set(names)), len(names))
        for place in {item["device"] for item in listed["implementations"]}:
            self.assertEqual(sum(item["default"] for item in listed["implementations"] if item["device"] == place), 1)
        self.assertIn("noise", [f["name"] for f in listed["families"]])
        for family in listed["families"]:
            self.assertTrue(family["summary"])
            for p in family["parameters"]:
                self.assertTrue(p["least"] <= p["default"] <= p["most"])
        self.assertEqual(listed["weightings"][0]["name"], "unit")
        self.assertIsInstance(listed["presets"], list)

    def test_table_names_everything(self):
        text = self.good("list").stdout
        listed = json.loads(self.good("list", "--json").stdout)
        for kind in "implementations", "families", "weightings", "ragged":
            for item in listed[kind]:
                self.assertRegex(text, rf"(?m)^  [ *]? ?{item['name']} ")


class Doctor(CommandTest):
    def test_words(self):
        text = self.good("doctor").stdout
        for word in "CPU", "processors", "threads", "memory", "GPU", "solvers", "gnuplot", "python3", "GSL":
            self.assertIn(word, text)

    def test_always_good(self):
        """Also where nothing is installed: then it says what to install."""
        for path in "", "/nowhere":
            text = self.good("doctor", env={"PATH": path}).stdout
            for package in "gnuplot-nox", "python3":
                self.assertIn("apt install " + package, text)
            if "no CUDA solver" in text:
                self.assertIn("install the CUDA toolkit", text)
        self.assertRegex(self.good("doctor", env={"PATH": self.with_failing_python()}).stdout, "peers(.|\\n)*(apt install python3-venv|see GSL)")

    def with_failing_python(self):
        os.mkdir(self.path("bin"))
        self.write("bin/python3", "#!/bin/sh\nexit 1\n")
        os.chmod(self.path("bin/python3"), 0o755)
        return self.path("bin")


if __name__ == "__main__":
    unittest.main()
