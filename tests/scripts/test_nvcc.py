#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""algorithms/cuda/nvcc.py: the report of ptxas as rows, hashes of machine code, the tables made of them."""
import importlib.util
import os
import pathlib
import struct
import tempfile
import unittest

spec = importlib.util.spec_from_file_location("nvcc", pathlib.Path(__file__).resolve().parents[2] / "algorithms" / "cuda" / "nvcc.py")
nvcc = importlib.util.module_from_spec(spec)
spec.loader.exec_module(nvcc)

REPORT = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1kIdEvPT_' for 'sm_75'
ptxas info    : Function properties for _Z1kIdEvPT_
    320 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 320 bytes cumulative stack size, 256 bytes smem, 360 bytes cmem[0]
ptxas info    : Compile time = 9.758 ms
ptxas info    : Function properties for _Z4slowd
    48 bytes stack frame, 1 bytes spill stores, 2 bytes spill loads
ptxas info    : Compiling entry function '_Z1kIdEvPT_' for 'sm_90a'
ptxas info    : Function properties for _Z4slowd
    48 bytes stack frame, 1 bytes spill stores, 2 bytes spill loads
ptxas info    : Function properties for _Z1kIdEvPT_
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers
"""


def elf(sections):
    """A 64 bit ELF file with these (name, bytes), and the table of their names at the end."""
    names, offsets, body, places = b"\0", [], b"", []
    for name, data in sections + [(".shstrtab", b"")]:
        offsets.append(len(names))
        names += name.encode() + b"\0"
        places.append((64 + len(body), len(data)))
        body += data
    places[-1] = (64 + len(body), len(names))
    body += names
    table = bytes(64)
    for at, (place, size) in zip(offsets, places):
        table += struct.pack("<IIQQQQIIQQ", at, 1, 0, 0, place, size, 0, 0, 0, 0)
    count = len(places) + 1
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 1, 190, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, count, count - 1)
    return head + body + table


class Nvcc(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as f:
            f.write(data)
        return path

    def test_report(self):
        self.assertEqual(nvcc.kernels_of(REPORT), [("_Z1kIdEvPT_", 75, 64, 320, 12, 16, 256), ("_Z1kIdEvPT_", 90, 32, 0, 0, 0, 0)])

    def test_hashes(self):
        one = nvcc.code_hashes(self.write("1", elf([(".text.k", b"abcd"), (".nv.info", b"x"), (".text.m", b"efgh")])))
        two = nvcc.code_hashes(self.write("2", elf([(".nv.info", b"other"), (".text.m", b"efgh"), (".text.k", b"abcx")])))
        self.assertEqual(sorted(one), ["k", "m"])
        self.assertRegex(one["k"], "^[0-9a-f]{16}$")
        self.assertEqual(one["m"], two["m"])
        self.assertNotEqual(one["k"], two["k"])
        self.assertEqual(nvcc.code_hashes(self.write("3", b"no object")), {})

    def test_tables(self):
        first = self.write("a.o", b"")
        self.write("a.o.kernels", b"m\t90\t32\t0\t0\t0\t0\t-\nk\t90\t16\t8\t4\t4\t0\t0123456789abcdef\n")
        second = self.write("b.o", b"")
        self.write("b.o.kernels", b"k\t75\t24\t0\t0\t0\t0\tfedcba9876543210\n")
        table, source = os.path.join(self.folder, "kernels.txt"), os.path.join(self.folder, "info.c")
        nvcc.info(table, source, "nvcc 13", '-DX="a"', "75 90", "90", "", "false", [first, second])
        with open(table) as f:
            lines = [line.split() for line in f if not line.startswith("#")]
        self.assertEqual([line[:2] for line in lines], [["k", "75"], ["k", "90"], ["m", "90"]])
        with open(source) as f:
            text = f.read()
        self.assertIn('{ "k", 90, 16, 8, 4, 4, 0, "0123456789abcdef" }', text)
        self.assertIn('{ "m", 90, 32, 0, 0, 0, 0, "" }', text)
        self.assertIn('"-DX=\\"a\\""', text)
        self.assertIn("NULL, 0,", text)
        nvcc.info(table, source, "gcc", "", "", "", "device code is emulated", "true", [])
        with open(source) as f:
            self.assertIn('"device code is emulated", 1,\n    0, NULL', f.read())


if __name__ == "__main__":
    unittest.main()
