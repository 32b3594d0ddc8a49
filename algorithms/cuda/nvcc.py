#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the build does with nvcc besides calling it.

nvcc.py where NVCC
    prints the folder of cuda_runtime.h and the path of libcudart_static.a, one a line
nvcc.py compile OBJECT NVCC ARGUMENT...
    compiles a kernel source; OBJECT.kernels tells registers, memory and a hash of the machine code of each kernel
nvcc.py info TABLE SOURCE COMPILER FLAGS ARCHS PTX REFUSED EMULATED OBJECT...
    makes kernels.txt (TABLE) and the C file behind build_info.h (SOURCE) from all OBJECT.kernels
"""
import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys


def where(nvcc):
    """Folders as nvcc itself would pass them to the compiler and the linker, then the usual places beside it."""
    dry = subprocess.run([nvcc, "--dryrun", "-x", "cu", "/dev/null", "-o", "/dev/null"], stderr=subprocess.PIPE, text=True).stderr
    top = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
    include = re.findall(r'"-I([^"]*)"', dry) + [top + "/include", "/usr/include"]
    library = re.findall(r'"-L([^"]*)"', dry) + [top + "/lib64", top + "/lib", "/usr/lib/x86_64-linux-gnu"]
    for name, folders in (("cuda_runtime.h", include), ("libcudart_static.a", library)):
        found = [f for f in folders if os.path.isfile(os.path.join(f, name))]
        if not found:
            sys.exit("no %s beside %s" % (name, nvcc))
        folder = os.path.realpath(found[0])
        print(folder if name.endswith(".h") else os.path.join(folder, name))


def code_hashes(cubin):
    """kernel -> hash of its section .text.KERNEL of an ELF file (64 bit, little endian)."""
    with open(cubin, "rb") as f:
        data = f.read()
    if data[:6] != b"\x7fELF\x02\x01":
        return {}
    at, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count)]
    result = {}
    for name, kind, _flags, _address, offset, length in sections:
        begin = sections[names][4] + name
        text = data[begin:data.index(b"\0", begin)].decode()
        if kind == 1 and text.startswith(".text."):
            result[text[6:]] = hashlib.sha256(data[offset:offset + length]).hexdigest()[:16]
    return result


def kernels_of(report):
    """Rows (name, arch, registers, stack, spill stores, spill loads, static shared memory) of the report of ptxas -v."""
    rows, name, arch, memory, of_kernel = [], None, None, (0, 0, 0), False
    for line in report.splitlines():
        entry = re.search(r"Compiling entry function '([^']+)' for 'sm_(\d+)", line)
        if entry:
            name, arch = entry.group(1), int(entry.group(2))
        about = re.search(r"Function properties for (\S+)", line)
        if about:
            of_kernel = about.group(1) == name
        bytes_ = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)
        if bytes_ and of_kernel:
            memory = tuple(int(v) for v in bytes_.groups())
        used = re.search(r"Used (\d+) registers", line)
        if used and name:
            shared = re.search(r"(\d+) bytes smem", line)
            rows.append((name, arch, int(used.group(1))) + memory + (int(shared.group(1)) if shared else 0,))
            name, memory = None, (0, 0, 0)
    return rows


def compile_(obj, nvcc, arguments):
    keep = obj + ".keep"
    shutil.rmtree(keep, ignore_errors=True)
    os.makedirs(keep)
    try:
        run = subprocess.run([nvcc, *arguments, "-Xptxas", "-v", "--keep", "--keep-dir", keep, "-o", obj],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = [line for line in run.stdout.splitlines()
                if not re.match(r"ptxas info|\s+\d+ bytes stack frame|\s*$", line)]
        if said:
            print("\n".join(said), file=sys.stderr)
        if run.returncode:
            sys.exit(run.returncode)
        hashes = {}
        for name in os.listdir(keep):
            arch = re.search(r"(?:compute|sm)_(\d+)[a-z]*\.cubin$", name)
            if arch:
                hashes[int(arch.group(1))] = code_hashes(os.path.join(keep, name))
    finally:
        shutil.rmtree(keep, ignore_errors=True)
    with open(obj + ".kernels", "w") as f:
        for row in kernels_of(run.stdout):
            print(*row, hashes.get(row[1], {}).get(row[0], "-"), sep="\t", file=f)


def info(table, source, compiler, flags, archs, ptx, refused, emulated, objects):
    rows = []
    for obj in objects:
        with open(obj + ".kernels") as f:
            rows += [line.rstrip("\n").split("\t") for line in f]
    rows.sort(key=lambda r: (r[0], int(r[1])))
    with open(table, "w") as f:
        print("# %s %s" % (compiler, flags), file=f)
        print("# name arch registers stack_bytes spill_store_bytes spill_load_bytes shared_bytes code_hash", file=f)
        for row in rows:
            print(*row, file=f)

    def text(s):
        return '"%s"' % s.replace("\\", "\\\\").replace('"', '\\"')

    with open(source, "w") as f:
        print("/* SPDX-License-Identifier: Apache-2.0\n * Made by nvcc.py while building: what build_info.h tells. */", file=f)
        print('#include "cuda/build_info.h"\n\n#include <stddef.h>\n', file=f)
        if rows:
            print("static const ih_cuda_kernel_info kernels[] = {", file=f)
            for row in rows:
                print("    { %s, %s, %s }," % (text(row[0]), ", ".join(row[1:7]), text("" if row[7] == "-" else row[7])), file=f)
            print("};\n", file=f)
        print("static const ih_cuda_build_info_t build_info = {", file=f)
        print("    %s,\n    %s,\n    %s, %s,\n    %s, %d,\n    %d, %s\n};\n" % (
            text(compiler), text(flags), text(archs), text(ptx), text(refused) if refused else "NULL", emulated == "true",
            len(rows), "kernels" if rows else "NULL"), file=f)
        print("const ih_cuda_build_info_t *ih_cuda_build_info(void) { return &build_info; }", file=f)


if __name__ == "__main__":
    if sys.argv[1] == "where":
        where(sys.argv[2])
    elif sys.argv[1] == "compile":
        compile_(sys.argv[2], sys.argv[3], sys.argv[4:])
    else:
        info(*sys.argv[2:10], sys.argv[10:])
