/* SPDX-License-Identifier: Apache-2.0
 * remote.h: the stage headers' functions, called on the device. A test source that is compiled with this header before its own text
 * (-include) runs there with the same body: the call takes the same arguments, one thread of a kernel executes it, and the result
 * comes back. The headers are seen as kernels see them (IH_SIMT).
 *
 * REMOTE_... chooses what a test calls there; what only prepares its data stays on the host. Pointers in arguments that are not of fixed
 * length must be memory from remote_memory, which host and device share. */
#ifndef TESTS_DEVICE_REMOTE_H
#define TESTS_DEVICE_REMOTE_H

#include "cuda/fit.h"

#include "chunk/chunk_hull.h"
#include "common/mean.h"
#include "row/merge.h"
#include "row/root.h"

#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

void *remote_memory(size_t bytes); /* zeroed; ends the program if there is none */
void  remote_free(void *memory);

/* ---- pair.h ---- */
ih_pair remote_two_sum(double a, double b);
ih_pair remote_two_diff(double a, double b);
ih_pair remote_two_prod(double a, double b);
void    remote_sum_add(ih_pair *sum, double p, double *lost);
void    remote_sum_add_low(ih_pair *sum, double p, double *lost);
ih_pair remote_pair_add(ih_pair a, ih_pair b, double *lost);

/* ---- expansion.h; e has room for IH_SUM_TERMS ---- */
int32_t remote_expansion_add(double *e, int32_t n, double v);
int32_t remote_expansion_sign(const double *e, int32_t n);
int32_t remote_expansion_cross(double *a, int32_t na, double *b, int32_t nb, double *c, int32_t nc, double *d, int32_t nd);

/* ---- turn.h, judge.h ---- */
ih_turn remote_turn_near(const ih_point *a, const ih_point *b, const ih_point *d);
ih_turn remote_turn_pair(const ih_point *a, const ih_point *b, const ih_point *d);
ih_turn remote_turn_pairs(ih_gap x1, ih_gap y1, ih_gap x2, ih_gap y2);
int32_t remote_judge_convex(ih_judge *j, const ih_point *a, const ih_point *b, const ih_point *d);

/* ---- mean.h; block_sum copies the values a .. b - 1 there ---- */
ih_block remote_block_sum(const ih_values *v, int64_t a, int64_t b, int32_t kind);
ih_level remote_round_mean(const ih_block *b, int32_t kind, double *z);

/* ---- chunk_hull.h: masks of at most 32 lanes ---- */
int32_t remote_mask_before(const uint32_t *mask, int32_t k);
int32_t remote_mask_after(const uint32_t *mask, int32_t k, int32_t end);
void    remote_mask_clear(uint32_t *mask, int32_t a, int32_t b); /* of five lanes */

/* Elements begin .. begin + n - 1 as the chunk of a warp: masks of lanes, and of the whole. Turns of each lane and what the joins cost.
 * 0: a value is out of range. */
typedef struct remote_chunk_result {
    uint32_t      lane[32], mask[32];
    int64_t       turns[32]; /* of the lane's own hull */
    ih_walk_count walk[32];  /* of the joins that the lane does */
    int32_t       good, undecided;
} remote_chunk_result;
int32_t remote_chunk(const ih_values *v, int64_t begin, int32_t n, remote_chunk_result *r);

/* ---- walk.h, search.h, merge.h, root.h: everything that is pointed to is in remote_memory, the arguments themselves excepted ---- */
int32_t remote_walk(const ih_store *s, ih_judge *j, const ih_run *l, const ih_run *r, int64_t cap, ih_bridge *to, ih_walk_count *count);
void    remote_search(const ih_store *s, ih_judge *j, const ih_run *l, const ih_run *r, int64_t fan, ih_bridge *to);
int64_t remote_merge_lists(const ih_store *s, ih_judge *j, ih_segment *left, int64_t n_left, ih_segment *right, int64_t n_right, ih_merge_rule rule,
                           ih_merge_count *count);
int64_t remote_root_find(const ih_segment *segments, int64_t count, int64_t chunk); /* at most 64 segments, copied there */

#if defined(__cplusplus)
}
#endif

#if defined(REMOTE_PAIR)
#  define ih_two_sum remote_two_sum
#  define ih_two_diff remote_two_diff
#  define ih_two_prod remote_two_prod
#  define ih_sum_add remote_sum_add
#  define ih_sum_add_low remote_sum_add_low
#  define ih_pair_add remote_pair_add
#endif
#if defined(REMOTE_EXPANSION)
#  define ih_expansion_add remote_expansion_add
#  define ih_expansion_sign remote_expansion_sign
#  define ih_expansion_cross remote_expansion_cross
#endif
#if defined(REMOTE_TURN)
#  define ih_turn_near remote_turn_near
#  define ih_turn_pair remote_turn_pair
#  define ih_turn_pairs remote_turn_pairs
#  define ih_judge_convex remote_judge_convex
#endif
#if defined(REMOTE_MEAN)
#  define ih_block_sum remote_block_sum
#  define ih_round_mean remote_round_mean
#endif
#if defined(REMOTE_CHUNK)
#  define ih_mask_before remote_mask_before
#  define ih_mask_after remote_mask_after
#  define ih_mask_clear remote_mask_clear
#endif
#if defined(REMOTE_MERGE)
#  define ih_walk remote_walk
#  define ih_search remote_search
#  define ih_merge_lists remote_merge_lists
#  define ih_root_find remote_root_find
#endif

#endif
