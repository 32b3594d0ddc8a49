# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: running it, .npy files, and the exact fit in rational numbers.

Standard library only. The command's path is in the environment variable ISOHULL."""
import ast
import json
import math
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
from fractions import Fraction

EXE = os.path.abspath(os.environ["ISOHULL"])
if os.environ.get("ISOHULL_SANITIZED"):  # end at the first fault
    os.environ["UBSAN_OPTIONS"] = os.environ.get("UBSAN_OPTIONS", "") + ":halt_on_error=1"
LISTED = json.loads(subprocess.run([EXE, "list", "--json"], stdout=subprocess.PIPE, check=True).stdout)
# those that promise the bits of the fit, and those that come near it
IMPLEMENTATIONS = [i["name"] for i in LISTED["implementations"] if i["available"] and i["claim"] == "canonical"]
APPROXIMATE = [i["name"] for i in LISTED["implementations"] if i["available"] and i["claim"] == "approximate"]
CPU_IMPLEMENTATIONS = [i["name"] for i in LISTED["implementations"] if i["device"] == "cpu"]
CODES = {"<f4": "f", "<f8": "d", ">f4": "f", ">f8": "d", "<i8": "q", "<i4": "i", ">i4": "i", "<i2": "h", "|i1": "b", "|u1": "B", "<u2": "H"}


def npy_bytes(values, dtype="<f8", shape=None, fortran=False):
    """values: flat, in C order."""
    values = list(values)
    shape = (len(values),) if shape is None else tuple(shape)
    order = values
    if fortran and len(shape) == 2:
        order = [values[r * shape[1] + i] for i in range(shape[1]) for r in range(shape[0])]
    header = str({"descr": dtype, "fortran_order": fortran, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    endian = ">" if dtype[0] == ">" else "<"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"{endian}{len(order)}{CODES[dtype]}", *order)


def npy_parse(data):
    assert data[:8] == b"\x93NUMPY\x01\x00"
    size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + size].decode())
    body = data[10 + size:]
    assert not header["fortran_order"] and (10 + size) % 64 == 0
    count = math.prod(header["shape"])
    return header["descr"], header["shape"], list(struct.unpack(f"<{count}{CODES[header['descr']]}", body))


def float_of(value, dtype):
    """A rational number rounded once to nearest-even in float32 or float64."""
    if dtype == "<f8":
        return float(value)
    if value == 0:
        return 0.0
    sign, a = (-1 if value < 0 else 1), abs(value)
    e = max(a.numerator.bit_length() - a.denominator.bit_length() - 1, -127)  # 2^e <= a < 2^(e + 2), or subnormal
    while e > -126 and a < Fraction(2) ** e:
        e -= 1
    while a >= Fraction(2) ** (e + 1):
        e += 1
    unit = Fraction(2) ** (max(e, -126) - 23)
    return math.copysign(float(round(a / unit) * unit), sign)


def exact_fit(y, w=None, decreasing=False):
    """Blocks of the exact fit of one row: (first element, weight, mean, ...) as rationals; equal means are one block."""
    sign = -1 if decreasing else 1
    stack = []
    for i, value in enumerate(y):
        weight = Fraction(w[i]) if w else Fraction(1)
        block = [i, weight, sign * Fraction(value) * weight]
        while stack and stack[-1][2] * block[1] >= block[2] * stack[-1][1]:
            top = stack.pop()
            block = [top[0], top[1] + block[1], top[2] + block[2]]
        stack.append(block)
    return [(first, weight, sign * total / weight) for first, weight, total in stack]


def fit_values(blocks, n, dtype="<f8", low=-math.inf, high=math.inf):
    ends = [b[0] for b in blocks[1:]] + [n]
    z = []
    for (first, _, mean), end in zip(blocks, ends):
        value = float_of(mean, dtype)
        if value == 0 and mean == 0:
            value = 0.0
        z += [min(max(value, low), high)] * (end - first)
    return z


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="isohull-test-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def files(self):
        return sorted(os.listdir(self.dir))

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def write_npy(self, name, values, dtype="<f8", shape=None, fortran=False):
        return self.write(name, npy_bytes(values, dtype, shape, fortran))

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def read_npy(self, name):
        return npy_parse(self.read(name))

    def isohull(self, *args, env=None, **kw):
        """Run in the test's folder; output as text, or with text=False as bytes."""
        kw.setdefault("stdout", subprocess.PIPE)
        kw.setdefault("text", True)
        return subprocess.run([EXE, *map(str, args)], cwd=self.dir, stderr=subprocess.PIPE, timeout=300,
                              env={**os.environ, **(env or {})}, **kw)

    def good(self, *args, **kw):
        done = self.isohull(*args, **kw)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def json(self, *args, **kw):
        """A run with --json: standard output is one object and nothing else."""
        return json.loads(self.good(*args, "--json", **kw).stdout, parse_constant=self.fail)

    def bad(self, *args, code=2, says=(), **kw):
        """A run that fails: the code, nothing on standard output, all of `says` in one message; no file appears."""
        before = self.files()
        done = self.isohull(*args, **kw)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("isohull"), done.stderr)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, done.stderr)
        self.assertEqual(self.files(), before)
        return done
