#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a C header that defines IH_CODE_HASH: a hash of compiled objects, so that records know which code they measured.

usage: hash_objects.py HEADER OBJECT..."""
import hashlib
import pathlib
import sys

total = hashlib.blake2b(digest_size=8)
for path in sorted(sys.argv[2:], key=lambda path: pathlib.Path(path).name):
    total.update(hashlib.blake2b(pathlib.Path(path).read_bytes()).digest())
pathlib.Path(sys.argv[1]).write_text(f'/* SPDX-License-Identifier: Apache-2.0 */\n#define IH_CODE_HASH "{total.hexdigest()}"\n')
