# SPDX-License-Identifier: Apache-2.0
"""The process of a peer on a GPU: PyTorch tensors, CUDA events on a stream of its own, direct calls and captured graphs.

Requests and answers: docs/peers.md. Started by scripts/peers through peer_child.py."""
import ast
import gc
import mmap
import sys
import time

# Largest deviation from the canonical fit, over the largest |y|, that passes.
TOLERANCE = {"<f4": 1e-6, "<f8": 1e-9}


class Unsupported(Exception):
    """An answer, not a fault."""


class Torchisotonic:
    """torchisotonic.isotonic, default options, without gradients. Its sources are compiled at its first call, which is made
    here, on a row of three elements, and timed; PyTorch keeps what was compiled."""

    def __init__(self):
        import torch
        import torchisotonic
        self.torch, self.package = torch, torchisotonic
        self.compile_s = 0.0
        if torch.cuda.is_available():
            begin = time.monotonic()
            torchisotonic.isotonic(torch.tensor([3.0, 1.0, 2.0], device="cuda"))
            torch.cuda.synchronize()
            self.compile_s = time.monotonic() - begin

    def versions(self):
        torch = self.torch
        return {"python": sys.version.split()[0], "torch": torch.__version__, "cuda": str(torch.version.cuda),
                "torchisotonic": self.package.__version__}

    def refuses(self, ask):
        if ask.get("offsets"):
            return "torchisotonic has no ragged rows"
        return None

    def refuses_graph(self, weighted):
        return "torchisotonic's check of the weights waits for the device, which a graph cannot capture" if weighted else None

    def fit(self, y, w, ask):
        return self.package.isotonic(y, w, increasing=not ask["decreasing"], y_min=ask["min"], y_max=ask["max"])


SOLVERS = {"torchisotonic": Torchisotonic}


def load_npy(torch, path, device):
    """The array of a .npy file of version 1.0 on the device; without NumPy."""
    with open(path, "rb") as stream:
        head = stream.read(10)
        if head[:8] != b"\x93NUMPY\x01\x00":
            raise ValueError(f"{path} is no .npy file of version 1.0")
        size = int.from_bytes(head[8:10], "little")
        about = ast.literal_eval(stream.read(size).decode())
        data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_COPY)
    dtype = {"<f4": torch.float32, "<f8": torch.float64}[about["descr"]]
    return torch.frombuffer(data, dtype=dtype, offset=10 + size).reshape(about["shape"]).to(device), about["descr"]


class GpuSession:
    """A solver with the problem that it holds, on one device."""

    def __init__(self, solver):
        self.solver, self.torch = solver, solver.torch
        self.stream = self.buffer = None
        self.unload()

    def unload(self):
        self.y = self.w = self.want = self.first = self.graph = self.graph_z = self.ask = None
        if self.stream is not None:
            self.torch.cuda.empty_cache()
        return {}

    def fit(self):
        with self.torch.no_grad():
            return self.solver.fit(self.y, self.w, self.ask)

    def bits(self, z):
        return z.view(self.torch.int32 if z.dtype == self.torch.float32 else self.torch.int64)

    def use(self, device):
        if not str(device).startswith("cuda:"):
            raise Unsupported(f"a GPU peer: it needs --device cuda:N, and this is {device}")
        if not self.torch.cuda.is_available():
            raise Unsupported("PyTorch sees no CUDA device")
        self.torch.cuda.set_device(self.torch.device(device))
        if self.stream is None:
            self.stream = self.torch.cuda.Stream()

    def load(self, ask):
        torch = self.torch
        self.unload()
        self.use(ask.get("device", "cpu"))
        why = self.solver.refuses(ask)
        if why:
            raise Unsupported(why)
        self.ask = ask
        device = torch.device(ask["device"])
        self.y, kind = load_npy(torch, ask["y"], device)
        self.w = load_npy(torch, ask["w"], device)[0] if ask.get("w") else None
        self.want = load_npy(torch, ask["z"], device)[0]
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        with torch.cuda.stream(self.stream):
            z = self.fit()
            self.stream.synchronize()
            peak = torch.cuda.max_memory_allocated() - self.want.numel() * self.want.element_size()
            self.first = z.clone()
            difference = (z.double() - self.want.double()).abs().max().item() if z.numel() else 0.0
            scale = self.y.abs().max().item() if z.numel() else 0.0
            finite = bool(torch.isfinite(z).all().item())
        self.want = None
        del z
        answer = {"max_deviation": None, "tolerance": None}
        if finite:
            answer = {"max_deviation": difference / scale if scale else difference, "tolerance": TOLERANCE[kind]}
        return {**answer, "peak_bytes": peak}

    def capture(self):
        torch = self.torch
        why = self.solver.refuses_graph(self.w is not None)
        if why:
            raise Unsupported(why)
        with torch.cuda.stream(self.stream):
            self.fit()
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=self.stream):
            self.graph_z = self.fit()
        torch.cuda.synchronize()

    def flush(self, size):
        """Write over more than L2 holds, on the stream."""
        if self.buffer is None or self.buffer.numel() != size:
            self.buffer = self.torch.empty(size, dtype=self.torch.uint8, device=self.y.device)
        self.buffer.zero_()

    def sample(self, ask, graph):
        """One call between two events, behind a flush (cold) or an untimed call (hot), with the device at rest before."""
        torch = self.torch
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        call = self.graph.replay if graph else self.fit
        with torch.cuda.stream(self.stream):
            if not ask["cold"]:
                call()
            if graph:
                self.graph_z.fill_(float("nan"))
            torch.cuda.synchronize()
            if ask["cold"]:
                self.flush(ask["flush_bytes"])
            begin.record(self.stream)
            z = call()
            end.record(self.stream)
            end.synchronize()
            same = torch.equal(self.bits(self.graph_z if graph else z), self.bits(self.first))
        return begin.elapsed_time(end), same

    def samples(self, ask):
        if self.y is None:
            raise ValueError("no problem is loaded")
        graph = ask.get("call") == "graph"
        if graph and self.graph is None:
            self.capture()
        times, all_same = [], True
        gc.collect()
        gc.disable()
        for k in range(ask["warmup"] + ask["count"]):
            ms, same = self.sample(ask, graph)
            all_same = all_same and same
            if k >= ask["warmup"]:
                times.append(round(ms, 6))
        gc.enable()
        return {"ms": times, "throttled": [], "same": all_same}

    def answer(self, ask):
        try:
            if ask["do"] == "load":
                return self.load(ask)
            if ask["do"] == "samples":
                return self.samples(ask)
            if ask["do"] == "sample":
                answer = self.samples({**ask, "warmup": 0, "count": 1})
                return {**answer, "ms": answer["ms"][0], "throttled": False}
            if ask["do"] == "empty":  # of one element
                held = self.y, self.w, self.first, self.graph
                self.y, self.graph = self.y.reshape(-1)[:1].clone(), None
                self.w = None if self.w is None else self.w.reshape(-1)[:1].clone()
                self.first = self.fit()
                answer = self.samples({**ask, "call": "direct", "warmup": 0, "count": 1})
                self.y, self.w, self.first, self.graph = held
                return {**answer, "ms": answer["ms"][0], "throttled": False}
            if ask["do"] == "about":
                return {"compile_s": self.solver.compile_s}
            if ask["do"] == "unload":
                return self.unload()
        except Unsupported as why:
            return {"unsupported": str(why)}
        return {"error": f"there is no request '{ask['do']}'"}
