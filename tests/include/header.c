/* SPDX-License-Identifier: Apache-2.0
 * header.c: isohull.h alone, twice, as pedantic C17 and C++17: every public struct begins with its size, the inline
 * functions compile, constants are usable in constant expressions. Only compiled. */
#include "isohull.h"
#include "isohull.h"

#ifdef __cplusplus
#  define ASSERT_STATIC static_assert
#else
#  define ASSERT_STATIC _Static_assert
#endif

#define BEGINS_WITH_SIZE(type) \
    ASSERT_STATIC(offsetof(type, size) == 0 && sizeof(((type *)0)->size) == sizeof(size_t), #type " begins with its size")

BEGINS_WITH_SIZE(ih_error);
BEGINS_WITH_SIZE(ih_problem);
BEGINS_WITH_SIZE(ih_outputs);
BEGINS_WITH_SIZE(ih_counters);
BEGINS_WITH_SIZE(ih_options);
BEGINS_WITH_SIZE(ih_gradient);
BEGINS_WITH_SIZE(ih_impl);
ASSERT_STATIC(IH_ABI_VERSION >= 1 && IH_OK == 0, "constants of the interface");

int main(void)
{
    ih_problem  p;
    ih_outputs  out;
    ih_options  o;
    ih_counters c;
    ih_gradient g;

    ih_problem_init(&p);
    ih_outputs_init(&out);
    ih_options_init(&o);
    ih_counters_init(&c);
    ih_gradient_init(&g);
    return ih_fit(NULL, &p, &o, &out, NULL, 0, NULL) == IH_OK;
}
