/* SPDX-License-Identifier: Apache-2.0
 * use.cpp: the installed library from C++17: a weighted decreasing fit of two ragged rows, and an error with its place. */
#include <isohull.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

static int fail(const char *what)
{
    std::fprintf(stderr, "use.cpp: %s\n", what);
    return 1;
}

int main()
{
    const std::vector<float>   y{1, 2, 4, 5, 1, 3}, w{1, 3, 1, 1, 1, 1};
    const std::vector<float>   expected{1.75F, 1.75F, 4.5F, 4.5F, 2, 2};
    const std::vector<int64_t> offsets{0, 2, 6};
    std::vector<float>         z(6, std::numeric_limits<float>::quiet_NaN());
    std::vector<int64_t>       starts(6), block_offsets(3);

    if (ih_abi_version() != IH_ABI_VERSION) return fail("library and header differ in ABI version");

    ih_problem p;
    ih_outputs out;
    ih_problem_init(&p);
    ih_outputs_init(&out);
    p.dtype     = IH_F32;
    p.direction = IH_DECREASING;
    p.rows      = 2;
    p.n         = 6;
    p.offsets   = offsets.data();
    p.y         = y.data();
    p.w         = w.data();

    out.z             = z.data();
    out.block_offsets = block_offsets.data();
    out.block_starts  = starts.data();
    if (ih_fit(nullptr, &p, nullptr, &out, nullptr, 0, nullptr) != IH_OK) return fail("the fit failed");
    if (z != expected) return fail("the fit is wrong");
    if (block_offsets != std::vector<int64_t>{0, 1, 3} || starts[0] != 0 || starts[1] != 2 || starts[2] != 4)
        return fail("the blocks are wrong");

    std::vector<float> bad(y);
    bad[4] = std::numeric_limits<float>::quiet_NaN();
    p.y    = bad.data();
    if (ih_fit(nullptr, &p, nullptr, &out, nullptr, 0, nullptr) != IH_EDATA) return fail("NaN was not refused");
    if (z != expected) return fail("a refused fit wrote its output");

    ih_error error;
    error.size = sizeof error;
    ih_last_error(&error);
    if (error.fault != IH_FAULT_NAN || error.row != 1 || error.index != 2 || std::strcmp(error.argument, "y") != 0)
        return fail("the error names the wrong place");
    return 0;
}
