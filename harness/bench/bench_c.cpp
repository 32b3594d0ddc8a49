/* SPDX-License-Identifier: Apache-2.0
 * bench_c.cpp: Google Benchmark behind C functions: the one C++ file. */
#include "bench_c.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <unistd.h>

struct bench_state {
    benchmark::State &state;
};

namespace {

char error_text[512] = "";

int failed(const char *what)
{
    std::snprintf(error_text, sizeof error_text, "%s", what);
    return -1;
}

/* Run body; an exception becomes -1 and its text. */
template <class Body> int guarded(Body body)
{
    try {
        body();
        return 0;
    } catch (const std::exception &e) {
        return failed(e.what());
    } catch (...) {
        return failed("unknown exception");
    }
}

/* Google Benchmark prints its usage and calls exit(0) over a wrong value of some flags, and exit(1) over an output file
 * that it cannot open: whoever reads our exit code must not take that for a good run or a verdict. */
bool inside = false;

void at_exit()
{
    if (!inside) return;
    std::fflush(nullptr);
    _exit(2);
}

bool asks_for_help(int argc, char **argv)
{
    for (int k = 1; k < argc; ++k)
        if (std::strcmp(argv[k], "--help") == 0) return true;
    return false;
}

} // namespace

extern "C" int bench_register(const char *name, bench_function function, void *user, const bench_options *options)
{
    return guarded([=] {
        auto *b = benchmark::RegisterBenchmark(name, [function, user](benchmark::State &state) {
            bench_state s = { state };
            function(&s, user);
        });
        b->Unit(benchmark::kMillisecond);
        if (options->manual_time) b->UseManualTime();
        if (options->iterations > 0) b->Iterations(options->iterations);
    });
}

extern "C" int bench_add_context(const char *key, const char *value)
{
    return guarded([=] { benchmark::AddCustomContext(key, value); });
}

extern "C" int bench_run(int argc, char **argv, int64_t *ran)
{
    int flags = 0;

    *ran = 0;
    std::atexit(at_exit);
    inside = !asks_for_help(argc, argv);
    const int code = guarded([&] {
        benchmark::Initialize(&argc, argv);
        flags = benchmark::ReportUnrecognizedArguments(argc, argv);
        if (!flags) *ran = static_cast<int64_t>(benchmark::RunSpecifiedBenchmarks());
        benchmark::Shutdown();
    });
    inside = false;
    return code ? BENCH_FAILED : flags ? BENCH_FLAGS : BENCH_GOOD;
}

extern "C" const char *bench_error(void) { return error_text; }

extern "C" int bench_keep_running(bench_state *s) { return s->state.KeepRunning(); }

extern "C" void bench_set_iteration_time(bench_state *s, double seconds) { s->state.SetIterationTime(seconds); }

extern "C" void bench_set_counter(bench_state *s, const char *name, double value)
{
    if (std::isfinite(value)) guarded([=] { s->state.counters[name] = benchmark::Counter(value); });
}

extern "C" void bench_set_label(bench_state *s, const char *text)
{
    guarded([=] { s->state.SetLabel(text); });
}

extern "C" void bench_skip_error(bench_state *s, const char *why)
{
    guarded([=] { s->state.SkipWithError(why); });
}
