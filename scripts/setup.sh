# SPDX-License-Identifier: Apache-2.0
# scripts/setup.sh: what ./reproduce and ./check share. Sourced by both: package lists, installation of what is
# missing (apt; said before it is done; nothing is fetched when all is there), and a few words for progress.

packages_build="gcc libc6-dev meson ninja-build pkg-config libjansson-dev libcsv-dev libxxhash-dev"
packages_main="gnuplot-nox libgsl-dev python3 python3-venv"
packages_tests="g++ libcmocka-dev libgmp-dev libgsl-dev libbenchmark-dev libbenchmark-tools python3-scipy clang llvm python3"

jobs=$(nproc)

# nvcc is not installed from here: it comes with NVIDIA's CUDA toolkit.
find_nvcc() { command -v nvcc || { [ -x /usr/local/cuda/bin/nvcc ] && printf '/usr/local/cuda/bin/nvcc\n'; } || true; }
lost_without_nvcc="Lost: the solver on NVIDIA GPUs (--device cuda:N) is not built. Remedy: install the CUDA toolkit, then build again."

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "$0" "$*" >&2; exit 1; }
now() { date +%s; }

# minutes SECONDS: as a person writes it
minutes() { if [ "$1" -lt 60 ]; then printf '%d s' "$1"; else printf '%d min %d s' $(($1 / 60)) $(($1 % 60)); fi; }

# missing_packages NAME...: those of them that dpkg does not have installed
missing_packages() {
    local name
    for name; do
        dpkg-query -W -f='${db:Status-Abbrev}' "$name" 2>/dev/null | grep -q '^.i' || printf '%s ' "$name"
    done
}

# need_packages NAME...: install by apt what is missing, as root or through sudo
need_packages() {
    local missing as_root=""
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "   No apt here: going on with the tools that this machine has. On Debian these packages are used:"
        say "   $*"
        return 0
    fi
    missing=$(missing_packages "$@")
    if [ -z "$missing" ]; then
        return 0
    fi
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null ||
            die "packages are missing and there is no sudo; as root: apt-get install --no-install-recommends $missing"
        as_root=sudo
    fi
    say "   Installing with ${as_root:+sudo }apt-get: $missing"
    if [ -z "${apt_updated:-}" ]; then
        $as_root apt-get -qq update || say "   apt-get update reported a fault; trying to install all the same"
        apt_updated=yes
    fi
    mkdir -p out
    # The log is for the case of a fault: dpkg prints several lines a package.
    # shellcheck disable=SC2086 # the list is split into words on purpose
    if ! $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -y -q --no-install-recommends install $missing >out/apt.log 2>&1 </dev/null; then
        tail -n 15 out/apt.log >&2
        die "apt-get could not install: $missing(whole log: out/apt.log)"
    fi
}

# need_clang_libraries: sanitizers, libFuzzer and OpenMP of the clang that is installed (their package names carry its version)
need_clang_libraries() {
    local version
    version=$(clang -dumpversion) || die "clang does not run"
    version=${version%%.*}
    need_packages "libclang-rt-$version-dev" "libomp-$version-dev"
}

# configure FOLDER OPTION...: meson setup, or a fresh start when the folder there can't be used again
configure() {
    local folder=$1 log
    shift
    log=out/configure-$(basename "$folder").log
    mkdir -p out "$(dirname "$folder")"
    if [ -f "$folder/build.ninja" ] && meson setup --reconfigure "$@" "$folder" >"$log" 2>&1; then
        return 0
    fi
    rm -rf "$folder"
    meson setup "$@" "$folder" >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        return 1
    }
}
