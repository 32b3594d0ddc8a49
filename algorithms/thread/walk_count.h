/* SPDX-License-Identifier: Apache-2.0
 * walk_count.h: what walks cost, for the bounds of Lemma 5.1. */
#ifndef IH_THREAD_WALK_COUNT_H
#define IH_THREAD_WALK_COUNT_H

#include "../common/hd.h"

#include <stdint.h>

typedef struct ih_walk_count {
    int64_t walks, steps; /* begun; turns evaluated in them                           */
    int64_t capped;       /* given up at the cap                                      */
    int64_t excess;       /* largest steps - 3 d of finished walks that removed d     */
} ih_walk_count;

IH_HD void ih_walk_finish(ih_walk_count *c, int64_t steps, int64_t removed)
{
    ++c->walks;
    c->steps += steps;
    if (steps - 3 * removed > c->excess) c->excess = steps - 3 * removed;
}

IH_HD void ih_walk_capped(ih_walk_count *c, int64_t steps)
{
    ++c->walks;
    ++c->capped;
    c->steps += steps;
}

#endif
