/* SPDX-License-Identifier: Apache-2.0
 * cmd_doctor.c: isohull doctor, what this machine can do, in words. */
#include "args.h"
#include "commands.h"
#include "device.h"
#include "machine.h"
#include "say.h"

#include "bench/nvtx.h"
#if IH_WITH_GSL
#  include "bench/env.h"
#  include "bench/gbench.h"
#  include "bench/peer.h"
#endif

#include <isohull.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void line(const char *what, const char *finding) { printf("%-14s%s\n", what, finding); }
static void more(const char *finding) { printf("%-14s%s\n", "", finding); }

/* The widest instruction set that the default solver takes here: build and machine have both to have it. */
static const char *isa_in_use(void)
{
    static const char *const names[] = { [IH_ISA_BASE] = "base", [IH_ISA_AVX2] = "AVX2", [IH_ISA_AVX512] = "AVX-512" };
    ih_problem empty;
    ih_outputs out;
    ih_options o;
    size_t     bytes;

    ih_problem_init(&empty);
    ih_outputs_init(&out);
    ih_options_init(&o);
    for (o.isa = IH_ISA_AVX512; o.isa > IH_ISA_BASE; --o.isa)
        if (ih_workspace_bytes(NULL, &empty, &o, &out, &bytes) == IH_OK) break;
    return names[o.isa];
}

static void report_cpu(void)
{
    char name[256], text[512];

    machine_cpu_name(name, sizeof name);
    line("CPU", name);
    snprintf(text, sizeof text, "%d usable by this process; instruction set in use: %s", machine_cpus(), isa_in_use());
    line("processors", text);
#if defined(_OPENMP)
    snprintf(text, sizeof text, "yes: OpenMP, up to %d unless --threads says otherwise", machine_cpus());
    line("threads", text);
#else
    line("threads", "no: built without OpenMP. Lost: fits use one processor.");
    more("Remedy: apt install gcc (it brings libgomp), then build again: meson setup --reconfigure build");
#endif
}

static void report_memory(void)
{
    int64_t all, available;
    char    text[256];

    machine_memory(&all, &available);
    if (all < 0 || available < 0) {
        line("memory", "not known");
        return;
    }
    snprintf(text, sizeof text, "%.1f GiB, of which %.1f GiB can be had now", (double)all / 0x1p30, (double)available / 0x1p30);
    line("memory", text);
    /* y, z and, in the worst case, 8 bytes each of workspace and block starts */
    snprintf(text, sizeof text, "enough for about %.0f million float64 elements in one fit", (double)available / 32 / 1e6);
    more(text);
}

/* The solver for GPUs in this build, and the GPUs that it can use. */
static void report_cuda(void)
{
    char  text[1280], code[256], why[256];
    int   count;
    fault f;

    device_build_text(code, sizeof code);
    line("CUDA", code);
    count = device_count(why, sizeof why);
    if (count == 0) {
        snprintf(text, sizeof text, "none: %s", why);
        line("GPU", text);
        more("Lost: --device cuda:N ends with exit code 77; fits run on the CPU.");
    }
    for (int k = 0; k < count; ++k) {
        device *d;
        fault_clear(&f);
        if (device_open(&d, k, &f) == FAULT_NONE) {
            const device_info *a = device_about(d);
            snprintf(text, sizeof text, "%s, compute capability %d.%d, %.1f GiB: --device cuda:%d", a->name, a->major, a->minor, (double)a->memory_bytes / 0x1p30, k);
            device_close(d);
        } else {
            snprintf(text, sizeof text, "%s", f.message);
        }
        line(k ? "" : "GPU", text);
    }
}

static void report_gpu(void)
{
    const int gpus = machine_nvidia_gpus(), driver = machine_nvidia_driver();
    char      text[256];

    if (device_built() != DEVICE_BUILD_NONE) {
        report_cuda();
        return;
    }
    if (gpus || driver) snprintf(text, sizeof text, "NVIDIA GPU found (driver %s), but this build has no CUDA solver.", driver ? "loaded" : "not loaded");
    else snprintf(text, sizeof text, "no NVIDIA GPU found, and this build has no CUDA solver.");
    line("GPU", text);
    more("Lost: --device cuda:N ends with exit code 77; fits run on the CPU.");
    if (machine_has_program("nvcc")) more("Remedy: nvcc is installed; meson setup -Dcuda=enabled build2");
    else more("Remedy: install the CUDA toolkit of NVIDIA (nvcc), then build again");
}

static void report_implementations(void)
{
    char text[512];

    for (int32_t k = 0; k < ih_impl_count(); ++k) {
        const ih_impl *impl   = ih_impl_at(k);
        ih_error       error  = { .size = sizeof error };
        const int      usable = ih_impl_available(impl) == IH_OK;
        if (!usable) ih_last_error(&error);
        snprintf(text, sizeof text, "%s%s: %s", impl->name, impl == ih_impl_default(IH_DEVICE_CPU) ? " (default)" : "",
                 usable ? impl->summary : error.message);
        line(k ? "" : "solvers", text);
    }
    if (ih_impl_count() == 0) line("solvers", "none in this build: fits are not possible");
}

/* Other libraries beside isohull: each is started once, which shows that it can be. */
static void report_peers(void)
{
#if IH_WITH_GSL
    static const char *const names[] = { "scipy", "sklearn" };
    char  hash[PEER_HASH], why[PEER_WHY], text[PEER_WHY + 128];
    int   lost = 0;
    peer *process;
    fault f;

    for (int k = 0; k < 2 && !lost; ++k) {
        fault_clear(&f);
        if (peer_start(&process, names[k], hash, why, &f) != FAULT_NONE) {
            snprintf(text, sizeof text, "%.500s", f.message);
            lost = 1;
        } else if (why[0]) {
            snprintf(text, sizeof text, "%s", why);
            lost = 1;
        } else {
            snprintf(text, sizeof text, "%s runs here (bench --peer %s)", names[k], names[k]);
        }
        peer_stop(process);
        line(k ? "" : "peers", text);
    }
    if (!lost) return;
    more("Lost: timings beside other libraries (bench --peer); fits are not touched.");
    more("Remedy: apt install python3-venv; then, in the folder of the project, scripts/peers setup, and bench from there");
#else
    line("peers", "no. Lost: timings beside other libraries, which are a matter of bench: see GSL");
#endif
}

static void report_programs(void)
{
    if (machine_has_program("gnuplot")) {
        line("gnuplot", "yes");
    } else {
        line("gnuplot", "no. Lost: ./reproduce draws no curves; fits and tables are not touched.");
        more("Remedy: apt install gnuplot-nox");
    }
    if (!machine_has_program("python3")) {
        line("python3", "no. Lost: comparisons with SciPy, and the tests of this command. Remedy: apt install python3");
        return;
    }
    line("python3", "yes");
    report_peers();
}

static void report_libraries(void)
{
#if IH_WITH_GSL
    line("GSL", "yes: " IH_GSL_VERSION " (GPL-3: this command as a whole is GPL-3; the library is not)");
    if (env_timing_refused()) {
        char text[256];
        snprintf(text, sizeof text, "not in this build: %s", env_timing_refused());
        line("timing", text);
        more("Lost: isohull bench refuses to measure. Remedy: meson setup --buildtype=release build2");
    }
    if (gbench_built()) {
        line("GBenchmark", "yes");
    } else {
        line("GBenchmark", "no. Lost: isohull bench --format gbench; tables and journals are not touched.");
        more("Remedy: apt install libbenchmark-dev g++, then build again");
    }
#else
    line("GSL", "no. Lost: the commands that measure (bench, results, accuracy); fits are not touched.");
    more("Remedy: apt install libgsl-dev, then build again");
#endif
    if (nvtx_built()) {
        line("NVTX", "yes");
    } else {
        line("NVTX", "no. Lost: names of cases and stages in profilers; nothing else.");
        more("Remedy: install the CUDA toolkit's headers (nvtx3), then build again");
    }
}

static const arg_page page = {
    .usage = "isohull doctor",
    .about = "Says in words what this machine and this build can do: processor, threads, memory, GPU, solvers, and the programs\n"
             "that only some jobs need; and for what is missing, what is lost and what to install. Nothing is changed.\n",
    .rest  = "Example:\n"
             "  $ isohull doctor\n\n"
             "Exit codes: 0 always, whatever is missing (2 for a wrong command line).\n",
};

int cmd_doctor(int argc, char **argv)
{
    int       n_operands;
    const int code = args_read(&page, argc, argv, NULL, 0, &n_operands);
    char      text[128];

    if (code != ARGS_GO_ON) return code;
    snprintf(text, sizeof text, "%s (ABI %d)", ih_version(), (int)ih_abi_version());
    line("isohull", text);
    report_cpu();
    report_memory();
    report_gpu();
    report_implementations();
    report_programs();
    report_libraries();
    return EXIT_GOOD;
}
