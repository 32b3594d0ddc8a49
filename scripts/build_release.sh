#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/build_release.sh: the command for carrying to other machines: linked statically but for the C library, device code
# for every architecture. Leaves out/release/isohull and out/release/build.txt: of which source, with what, how long it took.
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh

folder=out/release/build
case ${1:-} in
"") ;;
*)
    echo "usage: scripts/build_release.sh"
    echo "Needs nvcc. Options of meson that are of use: in the environment variable MESON_OPTIONS."
    [ "$1" = --help ] || [ "$1" = -h ] || exit 2
    exit 0
    ;;
esac
[ -n "$(find_nvcc)" ] || die "no nvcc here. $lost_without_nvcc"

# With the line numbers that profilers show, device code is large: a quarter remains. Drivers for CUDA 13 unpack it, older ones may not.
version=$("$(find_nvcc)" --version | sed -n 's/.*, V//p')
compress=""
[ "${version%%.*}" -lt 13 ] || compress=-Dnvcc_args=--compress-mode=size

rm -rf "$folder"
mkdir -p out/release
began=$(now)
commit=$(git describe --always --abbrev=40 --exclude='*' --dirty=+dirty 2>/dev/null || echo unknown) # before it can change
# shellcheck disable=SC2086
CC=gcc CXX=g++ configure "$folder" -Dcuda=enabled -Dstatic_deps=true -Ddefault_library=static -Dtests=disabled $compress ${MESON_OPTIONS:-} ||
    die "the build could not be configured"
configured=$(now)
ninja -C "$folder" isohull >out/release/build.log 2>&1 || {
    tail -n 40 out/release/build.log >&2
    die "the build failed (whole log: out/release/build.log)"
}
done_=$(now)
cp "$folder/isohull" out/release/isohull

{
    printf 'commit      %s\n' "$commit"
    printf 'compilers   gcc %s, nvcc %s\n' "$(gcc -dumpfullversion)" "$version"
    printf 'processors  %d\n' "$jobs"
    printf 'configure   %d s\n' $((configured - began))
    printf 'build       %d s\n' $((done_ - configured))
    printf 'command     %d bytes, sha256 %s\n' "$(stat -c %s out/release/isohull)" "$(sha256sum out/release/isohull | cut -d' ' -f1)"
    printf '\nseconds of each kernel source, all architectures\n'
    # .ninja_log: begin and end in ms, time stamp, output
    awk -F '\t' '$4 ~ /\.cu\.o$/ { printf "  %-40s %6.1f\n", $4, ($2 - $1) / 1000 }' "$folder/.ninja_log" | sort
    printf '\n'
    cat "$folder/algorithms/cuda/kernels.txt"
} >out/release/build.txt
say "out/release/isohull: built in $(minutes $((done_ - began))); what and how: out/release/build.txt"
