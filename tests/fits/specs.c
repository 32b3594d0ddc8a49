/* SPDX-License-Identifier: Apache-2.0
 * specs.c: problem strings made by tests. */
#include "specs.h"

#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) ((int64_t)(sizeof array / sizeof array[0]))

ih_spec spec_of(ih_family family, int64_t n)
{
    ih_spec s;
    char    text[128], message[IH_SPEC_MESSAGE];

    snprintf(text, sizeof text, "%s:n=%lld", ih_family_at((int32_t)family)->name, (long long)n);
    if (ih_spec_parse(&s, text, message, sizeof message) != 0) {
        fprintf(stderr, "%s: %s\n", text, message);
        exit(1);
    }
    return s;
}

void spec_vary_parameters(ih_spec *s, rng *r)
{
    static const double   whole[] = { 1, 2, 3, 7, 31, 32, 33, 64, 100, 1000 }, factors[] = { 0, 0x1p-10, 0.5, 1, -1, 3, 1000 };
    const ih_family_info *family  = ih_family_at((int32_t)s->family);

    for (int k = 0; k < IH_MAX_PARAMETERS && family->parameter[k].name; ++k) {
        const ih_parameter_info *p = &family->parameter[k];
        double v = p->whole ? whole[rng_below(r, COUNT(whole))] : (p->initial != 0 ? p->initial : 1) * factors[rng_below(r, COUNT(factors))];
        s->parameter[k] = v < p->least ? p->least : v > p->most ? p->most : v;
    }
}

ih_spec spec_random(rng *r, int64_t max_n)
{
    const int64_t most = rng_one_in(r, 4) ? max_n : rng_one_in(r, 2) ? 70 : 300;
    ih_spec       s    = spec_of((ih_family)rng_below(r, IH_FAMILY_COUNT), 1 + rng_below(r, most < max_n ? most : max_n));

    if (rng_one_in(r, 2)) spec_vary_parameters(&s, r);
    s.dtype      = rng_one_in(r, 2) ? IH_F32 : IH_F64;
    s.weighting  = (ih_weighting)(rng_one_in(r, 2) ? 0 : rng_below(r, IH_WEIGHTING_COUNT));
    s.decreasing = rng_one_in(r, 3);
    s.seed       = rng_below(r, 1 << 30);
    if (rng_one_in(r, 4)) {
        s.rows   = 1 + rng_below(r, 5);
        s.ragged = (ih_ragged)rng_below(r, IH_RAGGED_COUNT);
    }
    return s;
}
