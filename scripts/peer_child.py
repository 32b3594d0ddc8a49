# SPDX-License-Identifier: Apache-2.0
"""The process of a peer: loads a problem, times calls, compares results. Requests and answers: docs/peers.md.

Started by scripts/peers, in the interpreter that has the peer's packages."""
import array
import ast
import contextlib
import ctypes
import gc
import itertools
import json
import math
import mmap
import os
import signal
import sys
import time
import zlib

import peer_gpu

# Largest deviation from the canonical fit, over the largest |y|, that passes: float64 sums of 1e8 numbers in any order, and
# for float32 half a unit in the last place of the canonical values, which are rounded to it, some times over.
TOLERANCE = {"f64": 1e-9, "f32": 1e-6}
THROTTLE = "/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count"


class Plain:
    """Pool adjacent violators over Python floats; arrays are array.array. Needs the standard library only."""

    def versions(self):
        return {"python": sys.version.split()[0]}

    def load(self, path):
        with open(path, "rb") as stream:
            if stream.read(8) != b"\x93NUMPY\x01\x00":
                raise ValueError(f"{path} is no .npy file of version 1.0")
            head = ast.literal_eval(stream.read(int.from_bytes(stream.read(2), "little")).decode())
            values = array.array({"<f4": "f", "<f8": "d", "<i8": "q"}[head["descr"]])
            values.fromfile(stream, math.prod(head["shape"]))
        return values, head["shape"]

    def dtype(self, values):
        return {"f": "f32", "d": "f64"}[values.typecode]

    def refuses(self, problem):
        return None

    def fit(self, y, w, problem):
        sign = -1.0 if problem["decreasing"] else 1.0
        sums, weights, counts = [], [], []
        for value, weight in zip(y, w if w is not None else itertools.repeat(1.0)):
            total, count = sign * value * weight, 1
            while sums and sums[-1] * weight >= total * weights[-1]:  # the mean before is not below
                total += sums.pop()
                weight += weights.pop()
                count += counts.pop()
            sums.append(total)
            weights.append(weight)
            counts.append(count)
        z = array.array("d")
        for total, weight, count in zip(sums, weights, counts):
            mean = sign * total / weight
            if problem["min"] is not None:
                mean = max(mean, problem["min"])
            if problem["max"] is not None:
                mean = min(mean, problem["max"])
            z.extend(itertools.repeat(mean, count))
        return z

    def bytes_of(self, z):
        return memoryview(z).cast("B")

    def deviation(self, z, want, y):
        """Largest |z - want| and largest |y|; None for the first if z is not finite."""
        if not all(map(math.isfinite, z)):
            return None, 1.0
        return max(map(lambda a, b: abs(a - b), z, want), default=0.0), max(map(abs, y), default=0.0)


class Numpy(Plain):
    """What peers over NumPy arrays share."""

    def __init__(self):
        import numpy
        self.numpy = numpy

    def versions(self):
        return {**super().versions(), "numpy": self.numpy.__version__}

    def load(self, path):
        values = self.numpy.load(path)
        return values.reshape(-1), values.shape

    def dtype(self, values):
        return {4: "f32", 8: "f64"}[values.dtype.itemsize]

    def bytes_of(self, z):
        return memoryview(self.numpy.ascontiguousarray(z)).cast("B")

    def deviation(self, z, want, y):
        if not self.numpy.isfinite(z).all():
            return None, 1.0
        if len(z) == 0:
            return 0.0, 0.0
        difference = z.astype(self.numpy.float64)
        difference -= want
        return float(abs(difference).max()), float(abs(y).max())


class Scipy(Numpy):
    def __init__(self):
        super().__init__()
        import scipy
        from scipy.optimize import isotonic_regression
        self.scipy, self.solve = scipy, isotonic_regression

    def versions(self):
        return {**super().versions(), "scipy": self.scipy.__version__}

    def refuses(self, problem):
        bounded = problem["min"] is not None or problem["max"] is not None
        return "scipy.optimize.isotonic_regression has no bounds" if bounded else None

    def fit(self, y, w, problem):
        return self.solve(y, weights=w, increasing=not problem["decreasing"]).x


class Sklearn(Numpy):
    def __init__(self):
        super().__init__()
        import scipy
        import sklearn
        from sklearn.isotonic import isotonic_regression
        self.scipy, self.sklearn, self.solve = scipy, sklearn, isotonic_regression

    def versions(self):
        return {**super().versions(), "scipy": self.scipy.__version__, "sklearn": self.sklearn.__version__}

    def fit(self, y, w, problem):
        return self.solve(y, sample_weight=w, y_min=problem["min"], y_max=problem["max"], increasing=not problem["decreasing"])


SOLVERS = {"python": Plain, "scipy": Scipy, "sklearn": Sklearn}


class Session:
    """A solver with the problem that it holds: rows of y and w as the solver takes them, the canonical z."""

    def __init__(self, solver):
        self.solver = solver
        self.problem, self.rows, self.want, self.y = None, [], None, None
        self.one, self.check, self.buffer = [], None, None

    def load(self, ask):
        device = ask.get("device", "cpu")
        if device not in ("", "cpu", "replay"):
            return {"unsupported": f"it runs on the CPU, and this is {device}"}
        self.problem = {"decreasing": bool(ask["decreasing"]), "min": ask["min"], "max": ask["max"]}
        why = self.solver.refuses(self.problem)
        if why:
            return {"unsupported": why}
        self.y, shape = self.solver.load(ask["y"])
        w = self.solver.load(ask["w"])[0] if ask["w"] else None
        want = self.solver.load(ask["z"])[0]
        if ask["offsets"]:
            ends = [int(o) for o in self.solver.load(ask["offsets"])[0]]
        else:
            rows, n = shape if len(shape) == 2 else (1, shape[0])
            ends = [r * n for r in range(rows + 1)]
        part = lambda a, begin, end: None if a is None else a[begin:end]
        self.rows = [(self.y[b:e], part(w, b, e)) for b, e in zip(ends, ends[1:]) if e > b]
        self.one = [(self.y[:1], part(w, 0, 1))] if len(self.y) else []
        z = self.fit(self.rows)
        self.check = self.sum_of(z)
        if ask.get("flush_bytes"):  # its pages are made here, not at the first sample
            self.flush(ask["flush_bytes"])
        return self.compare(z, [want[b:e] for b, e in zip(ends, ends[1:]) if e > b])

    def compare(self, z, want):
        largest, scale = 0.0, 0.0
        for got, wanted, (y, _) in zip(z, want, self.rows):
            off, size = self.solver.deviation(got, wanted, y)
            if off is None:
                return {"max_deviation": None, "tolerance": None}
            largest, scale = max(largest, off), max(scale, size)
        return {"max_deviation": largest / scale if scale else largest, "tolerance": TOLERANCE[self.solver.dtype(self.y)]}

    def fit(self, rows):
        """Row by row, as these libraries have it."""
        return [self.solver.fit(y, w, self.problem) for y, w in rows]

    def sum_of(self, z):
        total = 0
        for row in z:
            total = zlib.crc32(self.solver.bytes_of(row), total)
        return total

    def flush(self, size):
        """Write over more than the caches hold."""
        if self.buffer is None or len(self.buffer) != size:
            self.buffer = mmap.mmap(-1, size)
            with contextlib.suppress(AttributeError, OSError):  # fewer pages to walk
                self.buffer.madvise(mmap.MADV_HUGEPAGE)
        ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(self.buffer)), self.buffer[0] + 1 & 255, size)

    def timed(self, rows, ask):
        """Cold: after a flush. Hot: right after an untimed call."""
        gc.collect()
        gc.disable()
        before = throttle_count()
        if ask["cold"]:
            self.flush(ask["flush_bytes"])
        else:
            self.fit(rows)
        begin = time.perf_counter_ns()
        z = self.fit(rows)
        end = time.perf_counter_ns()
        gc.enable()
        return z, {"ms": 1e-6 * (end - begin), "throttled": throttle_count() != before}

    def answer(self, ask):
        if ask["do"] == "load":
            return self.load(ask)
        if ask["do"] == "sample":
            z, answer = self.timed(self.rows, ask)
            return {**answer, "same": self.sum_of(z) == self.check}
        if ask["do"] == "empty":
            return {**self.timed(self.one, ask)[1], "same": True}
        return {"error": f"there is no request '{ask['do']}'"}


def throttle_count():
    with contextlib.suppress(OSError):
        with open(THROTTLE, encoding="ascii") as stream:
            return stream.read()
    return ""


def main(name):
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this decides, and ends it by closing its input
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer
    try:
        session = Session(SOLVERS[name]()) if name in SOLVERS else peer_gpu.GpuSession(peer_gpu.SOLVERS[name]())
    except Exception as error:  # whatever stops a library, it belongs into the row of this peer
        what = "cannot be imported" if isinstance(error, ImportError) else "does not work here"
        words = str(error).strip().splitlines()[:1] or [""]
        print(json.dumps({"peer": name, "unsupported": f"{name} {what}: {words[0][:300]}"}), file=out, flush=True)
        return 0
    print(json.dumps({"peer": name, "versions": session.solver.versions()}), file=out, flush=True)
    for line in sys.stdin:
        try:
            answer = session.answer(json.loads(line))
        except Exception as error:  # of a library: it belongs into the row of this cell
            answer = {"error": f"{type(error).__name__}: {error}"[:400]}
        print(json.dumps(answer, allow_nan=False), file=out, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
