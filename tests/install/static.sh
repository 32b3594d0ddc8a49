#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# static.sh SOURCE: builds the command with -Dstatic_deps=true and checks that it needs nothing but the C library.
set -eu
source=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
CC=gcc meson setup -Dcuda=disabled -Dstatic_deps=true -Dtests=disabled "$place/build" "$source"
ninja -C "$place/build"
ldd "$place/build/isohull"
if ldd "$place/build/isohull" | grep -v -E 'linux-vdso|ld-linux|lib(c|m|dl|pthread|rt)\.so'; then
    echo "FAILED: the command needs the libraries above"
    exit 1
fi
"$place/build/isohull" gen noise:f64:n=1000 -o "$place/y.npy"
"$place/build/isohull" fit "$place/y.npy" -o "$place/z.npy"
