/* SPDX-License-Identifier: Apache-2.0
 * vertices.h: a set of points 0 .. n of a row as a tree of bits, in which neighbours are found past any gap in a few steps
 * and a range goes in a few words.
 *
 *   level 2   . . . . . . . . . . . . 1 1          bit k of a level: word k of the level below is not empty
 *   level 1   1 1 0 1 . . . (32 bits a word)
 *   level 0   points, 32 a word
 *
 * A word under a cleared bit holds garbage until ih_vertices_settle. A node of the hull's tree has 2^k words of level 0 of its
 * own; it uses the levels whose words lie within it, at most 31 words of the highest, so that neighbouring nodes can be at
 * work at the same time. */
#ifndef IH_EXACT_VERTICES_H
#define IH_EXACT_VERTICES_H

#include "../common/bits.h"

enum { IH_VERTICES_LEVELS = 12 };

typedef struct ih_vertices { uint32_t *level[IH_VERTICES_LEVELS]; } ih_vertices;

/* Words of a level for points 0 .. n. */
IH_HD int64_t ih_vertices_words(int64_t n, int32_t level) { return (n >> 5 * (level + 1)) + 1; }

/* The highest level used by nodes of that many points, 32 or more and a power of 2. */
IH_HD int32_t ih_vertices_top(int64_t points)
{
    int32_t level = 0;
    while (points >> 5 * (level + 2) > 0) ++level;
    return level;
}

/* Word j of a level from the level below it. */
IH_HD void ih_vertices_build(const ih_vertices *v, int64_t n, int32_t level, int64_t j)
{
    const int64_t below = ih_vertices_words(n, level - 1);
    uint32_t      bits  = 0;
    for (int32_t k = 0; k < 32 && 32 * j + k < below; ++k) bits |= (uint32_t)(v->level[level - 1][32 * j + k] != 0) << k;
    v->level[level][j] = bits;
}

/* Empty the words of the level below that word j of a level says are empty. */
IH_HD void ih_vertices_settle(const ih_vertices *v, int64_t n, int32_t level, int64_t j)
{
    const int64_t  below = ih_vertices_words(n, level - 1);
    const uint32_t bits  = v->level[level][j];
    for (int32_t k = 0; k < 32 && 32 * j + k < below; ++k)
        if (!(bits >> k & 1u)) v->level[level - 1][32 * j + k] = 0;
}

/* The last vertex before place k of a level, whose words below hold no garbage there; there is one in the node. */
IH_HD int64_t ih_vertices_below(const ih_vertices *v, int32_t top, int32_t level, int64_t k)
{
    int64_t  word;
    uint32_t bits;

    for (;; ++level) {
        word = k >> 5;
        bits = k & 31 ? v->level[level][word] & ~(~0u << (k & 31)) : 0;
        if (bits || level == top) break;
        k = word;
    }
    while (!bits) bits = v->level[level][--word];
    k = 32 * word + ih_bit_high(bits);
    for (; level > 0; --level) k = 32 * k + ih_bit_high(v->level[level - 1][k]);
    return k;
}

/* The vertex before vertex k, which is not the first of its node. */
IH_HD int64_t ih_vertices_before(const ih_vertices *v, int32_t top, int64_t k) { return ih_vertices_below(v, top, 0, k); }

/* The last vertex at or before any point k of a node. */
IH_HD int64_t ih_vertices_up_to(const ih_vertices *v, int32_t top, int64_t k)
{
    int32_t level = top;
    ++k;
    while (level > 0 && v->level[level][k >> 5 * (level + 1)] >> (k >> 5 * level & 31) & 1u) --level;
    return ih_vertices_below(v, top, level, k >> 5 * level);
}

/* The vertex after vertex k, or end, where the node ends, if there is none before it. */
IH_HD int64_t ih_vertices_after(const ih_vertices *v, int32_t top, int64_t k, int64_t end)
{
    int32_t  level = 0;
    int64_t  word, last;
    uint32_t bits;

    if (k + 1 >= end) return end;
    for (;; ++level) {
        word = k >> 5;
        last = (end - 1) >> 5 * (level + 1);
        bits = word <= last ? v->level[level][word] & (~0u << (k & 31)) << 1 : 0;
        if (bits || level == top) break;
        k = word;
    }
    while (!bits) {
        if (++word > last) return end;
        bits = v->level[level][word];
    }
    k = 32 * word + ih_bit_low(bits);
    for (; level > 0; --level) k = 32 * k + ih_bit_low(v->level[level - 1][k]);
    return k < end ? k : end;
}

/* Take out the points strictly between a and b. */
IH_HD void ih_vertices_clear(const ih_vertices *v, int32_t top, int64_t a, int64_t b)
{
    for (int32_t level = 0; a + 1 < b; ++level) {
        const int64_t  from = a >> 5, to = b >> 5;
        const uint32_t above = (~0u << (a & 31)) << 1, below = ~(~0u << (b & 31));
        uint32_t      *words = v->level[level];
        if (from == to) {
            words[from] &= ~(above & below);
            return;
        }
        words[from] &= ~above;
        if (below) words[to] &= ~below; /* else it may be a neighbour's */
        if (level == top) {
            for (int64_t k = from + 1; k < to; ++k) words[k] = 0;
            return;
        }
        a = from;
        b = to;
    }
}

#endif
