# SPDX-License-Identifier: Apache-2.0
"""The command line itself: help pages and their examples, version, mistyped words, standard streams."""
import os
import re
import subprocess
import unittest

from support import EXE, CommandTest

COMMANDS = ["fit", "predict", "list", "gen", "doctor"]


class CommandLine(CommandTest):
    def page(self, *args):
        done = self.good(*args)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_help_pages(self):
        main = self.page("--help")
        for name in COMMANDS:
            self.assertRegex(main, rf"\n  {name} ")
            page = self.page(name, "--help")
            self.assertEqual(page, self.page(name, "-h"))
            self.assertEqual(page, self.page("help", name))
            self.assertTrue(page.startswith(f"Usage: isohull {name}"))
            self.assertIn("Exit codes: 0 ", page)
            self.assertIn("\n  $ ", page)
        self.assertEqual(main, self.page("-h"))
        self.assertEqual(main, self.page("help"))

    def test_examples_work_as_they_stand(self):
        for name in [None] + COMMANDS:
            page = self.page(name, "--help") if name else self.page("--help")
            examples = re.findall(r"^  \$ (.*)$", page, re.M)
            self.assertTrue(examples)
            folder = self.path(name or "main")  # a page needs no other page's files
            os.mkdir(folder)
            for example in examples:
                with self.subTest(command=name, example=example):
                    env = {**os.environ, "PATH": os.path.dirname(EXE) + ":" + os.environ["PATH"]}
                    done = subprocess.run(["sh", "-ec", example], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_help_names_every_option_of_the_interface(self):
        options = {
            "fit": "--weights --offsets --decreasing --min --max --impl --device --threads -o --blocks --grad --grad-y --grad-w --json "
                   "--x --y --w --by --skip-missing",
            "predict": "--x --by -o --out-of-range", "gen": "-o --weights-out", "list": "--json", "doctor": "",
        }
        for name, text in options.items():
            page = self.page(name, "--help")
            for option in text.split():
                self.assertRegex(page, rf"\n  {option}( |\n)")

    def test_version(self):
        text = self.page("--version")
        self.assertRegex(text, r"^isohull \d+\.\d+\.\d+ \(ABI \d+\)\n")
        self.assertIn("Apache-2.0", text)
        self.assertIn("GSL", text)

    def test_no_command(self):
        done = self.isohull()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, self.page("--help"))

    def test_mistyped(self):
        self.bad("fitt", says="did you mean fit?")
        self.bad("docotr", says="did you mean doctor?")
        self.bad("help", "lits", says="did you mean list?")
        self.bad("--verison")
        self.bad("digest", says="unknown command 'digest' (isohull")
        self.bad("", says="unknown command")
        self.bad("x" * 500, says="unknown command")
        self.bad("fit", "y.npy", "--weigths", "w.npy", says="did you mean --weights?")
        self.bad("fit", "y.npy", "--" + "q" * 500, says="unknown option")
        self.bad("list", "--jsno", says="did you mean --json?")
        self.bad("gen", "noise:n=3", "--weights-ouf=w.npy", says="did you mean --weights-out?")

    def test_options(self):
        self.write_npy("y.npy", [3, 1, 2])
        self.bad("fit", "y.npy", "-o", "a.npy", "-o", "b.npy", says="-o is given twice")
        self.bad("fit", "y.npy", "--json", "--json", says="twice")
        self.bad("fit", "y.npy", "--json=yes", says="takes no value")
        self.bad("fit", "y.npy", "-o", says="needs a value")
        self.bad("fit", "y.npy", "z.npy", "-o", "a.npy", says="unexpected argument 'z.npy'")
        self.bad("fit", "-o", "a.npy", says="which file?")
        for name in "list", "doctor":
            self.bad(name, "more", says="unexpected argument 'more'")

    def test_operands_that_look_like_options(self):
        self.write_npy("--json", [3, 1, 2])
        self.good("fit", "-o", "--z", "--", "--json")
        self.assertEqual(self.read_npy("--z")[2], [2, 2, 2])

    def test_odd_paths(self):
        for name in "a b.npy", "ä ö ü.npy", "日本.npy", "quote'\".npy", "new\nline.npy", "%s%n.npy", "x" * 200 + ".npy":
            with self.subTest(name=name):
                self.write_npy("in " + name, [3, 1, 2])
                self.good("fit", "in " + name, "-o", "out " + name)
                self.assertEqual(self.read_npy("out " + name)[2], [2, 2, 2])

    def locale_with_comma(self):
        """Make a locale whose decimal point is a comma, if the system has the sources; its environment, or None."""
        made = subprocess.run(["sh", "-c", "localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 && LOCPATH=$PWD LC_ALL=de_DE.UTF-8 locale decimal_point"],
                              cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return {"LOCPATH": self.dir, "LC_ALL": "de_DE.UTF-8"} if made.stdout.strip() == "," else None

    def test_every_locale(self):
        """Numbers keep their point, also where the locale has a comma."""
        self.write_npy("y.npy", [0.25, 0.5])
        self.write("t.csv", "x,y\n0.5,0.25\n1.5,0.75\n")
        for env in {"LC_ALL": "C"}, {"LC_ALL": "C.UTF-8"}, self.locale_with_comma():
            if env is None:
                continue
            report = self.json("fit", "y.npy", "--max", "0.375", "-o", "z.npy", env=env)
            self.assertIsInstance(report["ms"], float)
            self.assertEqual(self.read_npy("z.npy")[2], [0.25, 0.375])
            self.good("fit", "t.csv", "--x", "x", "--y", "y", "-o", "c.csv", env=env)
            self.assertEqual(self.read("c.csv"), b"x,fit,weight\n0.5,0.25,1\n1.5,0.75,1\n")
            self.good("gen", "trend:slope=0.5:n=3", "-o", "g.npy", env=env)
            self.assertIn("slope=0.5", self.good("gen", "trend:slope=0.5:n=3", "-o", "g.npy", env=env).stdout)


class Streams(CommandTest):
    def test_reader_that_leaves(self):
        for args in ["--help"], ["fit", "--help"], ["list", "--json"], ["doctor"]:
            read, write = os.pipe()
            os.close(read)
            done = subprocess.run([EXE, *args], stdout=write, stderr=subprocess.PIPE, text=True)
            os.close(write)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_full_or_closed_output(self):
        self.write_npy("y.npy", [3, 1, 2])
        for args in ["--version"], ["--help"], ["list", "--json"], ["fit", "y.npy", "--json"]:
            with open("/dev/full", "w") as full:
                done = self.isohull(*args, stdout=full)
            self.assertEqual(done.returncode, 2)
            self.assertIn("standard output", done.stderr)
            done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", EXE, *args], cwd=self.dir, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn("standard output", done.stderr)

    def test_outputs_on_standard_output(self):
        """Pipes take the file and nothing else; a file that is standard output is gone on with, not begun anew."""
        self.good("gen", "noise:n=5", "-o", "y.npy")
        done = self.isohull("gen", "noise:n=5", "-o", "/dev/stdout", text=False)
        self.assertEqual((done.returncode, done.stdout), (0, self.read("y.npy")))
        self.assertIn(b"noise:f32:n=5", done.stderr)
        self.write("t.csv", "x,y\n1,2\n")
        fit = ["fit", "t.csv", "--x", "x", "--y", "y", "-o"]
        for name in "/dev/stdout", "/dev/fd/1":
            for mode in "w", "a":
                self.write("all.txt", "first\n")
                with open(self.path("all.txt"), mode) as file:
                    for _ in range(2):
                        self.good(*fit, name, stdout=file)
                self.assertEqual(self.read("all.txt").decode(), ("first\n" if mode == "a" else "") + "x,fit,weight\n1,2,1\n" * 2)
            self.bad(*fit, name, "--json", says="--json")

    def test_broken_output_is_said_once(self):
        self.write_npy("y.npy", [3, 1, 2])
        for args in ["list", "--json"], ["fit", "y.npy", "--json"], ["doctor"]:
            with open("/dev/full", "w") as full:
                self.assertEqual(self.isohull(*args, stdout=full).stderr.count("standard output"), 1)

    def test_closed_streams_do_not_end_up_in_files(self):
        self.write_npy("y.npy", [3, 1, 2])
        subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", EXE, "fit", "y.npy", "-o", "z.npy"], cwd=self.dir)
        self.assertEqual(self.read_npy("z.npy")[2], [2, 2, 2])


if __name__ == "__main__":
    unittest.main()
