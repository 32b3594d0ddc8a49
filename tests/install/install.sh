#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh SOURCE BUILD: installs the build into a temporary folder and uses it from outside as a stranger would:
# pkg-config, C17 and C++17, shared and static library, the command.
set -eu
unset LD_LIBRARY_PATH # meson test points it at the build
source=$1
build=$2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
for tool in gcc g++ pkg-config nm; do
    command -v "$tool" >/dev/null || { echo "no $tool here: skipped"; exit 77; }
done
fail() { echo "FAILED: $*"; exit 1; }

echo "== install"
meson install -C "$build" --no-rebuild --destdir "$place" --quiet
prefix=$place$(meson introspect "$build" --buildoptions |
    python3 -c 'import json, sys; print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')
pc=$(find "$prefix" -name isohull.pc)
[ -n "$pc" ] || fail "isohull.pc was not installed"
lib=$(dirname "$(dirname "$pc")")
for file in "$prefix/include/isohull.h" "$lib/libisohull.a" "$lib/libisohull.so" "$prefix/bin/isohull"; do
    [ -e "$file" ] || fail "$file was not installed"
done
export PKG_CONFIG_PATH="${pc%/*}"
flags() { pkg-config --define-variable=prefix="$prefix" "$@" isohull; }

echo "== version and exported functions"
abi=$(sed -n 's/^#define IH_ABI_VERSION //p' "$source/include/isohull.h")
[ -e "$lib/libisohull.so.$abi" ] || fail "the soversion is not IH_ABI_VERSION, $abi"
nm -D --defined-only "$lib/libisohull.so" | sed -e 's/.* //' -e '/^\.gomp_/d' | sort >"$place/exported"
sed -n 's/^IH_API .*[ *]\(ih_[a-z0-9_]*\)(.*/\1/p' "$source/include/isohull.h" | sort >"$place/declared"
diff "$place/declared" "$place/exported" || fail "the library exports (>) other than what isohull.h declares (<)"

strict="-pedantic -Wall -Wextra -Werror"
echo "== C17, shared"
gcc -std=c17 $strict "$source/docs/example.c" -o "$place/shared" $(flags --cflags --libs)
LD_LIBRARY_PATH=$lib sh "$source/tests/install/example.sh" "$place/shared"
LD_LIBRARY_PATH=$lib ldd "$place/shared" | grep -q "libisohull.so.$abi" || fail "the program does not use the shared library"

echo "== C17, static"
gcc -std=c17 $strict -static "$source/docs/example.c" -o "$place/static" $(flags --static --cflags --libs)
sh "$source/tests/install/example.sh" "$place/static"

for compiler in g++ clang++; do
    command -v "$compiler" >/dev/null || continue
    echo "== C++17, shared, $compiler"
    "$compiler" -std=c++17 $strict "$source/tests/install/use.cpp" -o "$place/use" $(flags --cflags --libs)
    LD_LIBRARY_PATH=$lib "$place/use"
done
echo "== C++17, static, g++"
g++ -std=c++17 $strict -static "$source/tests/install/use.cpp" -o "$place/use_static" $(flags --static --cflags --libs)
"$place/use_static"

echo "== command"
"$prefix/bin/isohull" --version
"$prefix/bin/isohull" gen noise:f64:n=1000 -o "$place/y.npy"
"$prefix/bin/isohull" fit "$place/y.npy" -o "$place/z.npy"
[ -s "$place/z.npy" ] || fail "the installed command wrote no fit"
