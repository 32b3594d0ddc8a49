/* SPDX-License-Identifier: Apache-2.0
 * judge.h: one decision through all its levels, with counts. The third level is the caller's: a function on the host, a
 * flag on a device (the row is then solved again where everything can be decided). */
#ifndef IH_COMMON_JUDGE_H
#define IH_COMMON_JUDGE_H

#include "turn.h"

#if defined(IH_SIMT)
typedef int32_t ih_tally; /* decisions of one unit of work */
#else
typedef int64_t ih_tally;
#endif

typedef struct ih_judge {
#if !defined(IH_SIMT)
    /* Third level: 1 if turn(a, b, d) of indices within the row is convex, else 0. NULL: undecided is set and the turn
     * is taken as flat, which keeps every loop within bounds. */
    int32_t (*exact)(void *user, int64_t a, int64_t b, int64_t d);
    /* Debug: called after each decision of the first two levels; NULL otherwise. */
    void (*check)(void *user, int64_t a, int64_t b, int64_t d, int32_t convex, int32_t level);
    void    *user;
#endif
    int32_t  undecided;
    ih_tally by_filter, by_pair, by_exact;
} ih_judge;

/* Functions of whichever kind of judge. On a device there are two: ih_judge goes through the first two levels; ih_judge_quick
 * has the filter only and sets undecided where that does not decide, so that the loops that it is used in hold no call;
 * what was undecided is then done again with the other. */
#if defined(IH_SIMT) && defined(__cplusplus)
#  define IH_ANY_JUDGE template <class ih_any_judge>
#  if defined(IH_PAPER)
typedef ih_judge ih_judge_quick; /* nothing stays undecided there */
#  else
typedef struct ih_judge_quick {
    int32_t  undecided;
    ih_tally by_filter;
} ih_judge_quick;
#  endif
#else
#  define IH_ANY_JUDGE
typedef ih_judge ih_any_judge;
#endif

IH_ANY_JUDGE IH_HD int32_t ih_judge_settled(ih_any_judge *j, int64_t a, int64_t b, int64_t d, ih_turn turn, int32_t level)
{
    const int32_t convex = turn == IH_TURN_CONVEX;
#if defined(IH_SIMT)
    (void)a, (void)b, (void)d, (void)level;
    ++j->by_filter;
#else
    if (level == 0) ++j->by_filter;
    else ++j->by_pair;
    if (j->check) j->check(j->user, a, b, d, convex, level);
#endif
    return convex;
}

IH_HD_SLOW int32_t ih_judge_exact(ih_judge *j, int64_t a, int64_t b, int64_t d)
{
    ++j->by_exact;
#if defined(IH_SIMT)
    (void)a, (void)b, (void)d;
#else
    if (j->exact) return j->exact(j->user, a, b, d);
#endif
    j->undecided = 1;
    return 0;
}

/* Everything after the first filter. */
IH_HD_SLOW int32_t ih_judge_pair(ih_judge *j, const ih_point *a, const ih_point *b, const ih_point *d)
{
    const ih_turn turn = ih_turn_pair(a, b, d);
    if (turn != IH_TURN_UNDECIDED) return ih_judge_settled(j, a->index, b->index, d->index, turn, 1);
    return ih_judge_exact(j, a->index, b->index, d->index);
}

/* Is the turn at b convex? 1 or 0. */
IH_HD int32_t ih_judge_convex(ih_judge *j, const ih_point *a, const ih_point *b, const ih_point *d)
{
    const ih_turn turn = ih_turn_near(a, b, d);
    if (turn != IH_TURN_UNDECIDED) return ih_judge_settled(j, a->index, b->index, d->index, turn, 0);
    return ih_judge_pair(j, a, b, d);
}

#if defined(IH_SIMT)
/* Count what a slow function answered: 1 if convex, + 2 if settled by pairs, + 4 if undecided. */
IH_HD int32_t ih_judge_slow(ih_judge *j, int32_t answer)
{
    if (answer & 4) {
        ++j->by_exact;
        j->undecided = 1;
        return 0;
    }
    if (answer & 2) ++j->by_pair;
    else ++j->by_filter;
    return answer & 1;
}

#  if defined(__cplusplus)
IH_HD void ih_judge_add(ih_judge *j, const ih_judge *more)
{
    j->by_filter += more->by_filter;
    j->by_pair += more->by_pair;
    j->by_exact += more->by_exact;
}

#    if !defined(IH_PAPER)
IH_HD void ih_judge_add(ih_judge_quick *j, const ih_judge_quick *more) { j->by_filter += more->by_filter; }
IH_HD void ih_judge_add(ih_judge *j, const ih_judge_quick *more) { j->by_filter += more->by_filter; }
#    endif
#  endif
#endif

#endif
