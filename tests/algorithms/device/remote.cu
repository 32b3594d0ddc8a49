/* SPDX-License-Identifier: Apache-2.0
 * remote.cu: a kernel for each function of remote.h. Arguments and results travel in a frame of memory that host and device share. */
#include "cuda/stage.h"

#include "remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s on the device: %s\n", what, cudaGetErrorString(error));
    exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 77 : 1); /* skipped, or failed */
}

extern "C" void *remote_memory(size_t bytes)
{
    void *p = NULL;
    must(cudaMallocHost(&p, bytes ? bytes : 1), "memory");
    memset(p, 0, bytes);
    return p;
}

extern "C" void remote_free(void *memory) { must(cudaFreeHost(memory), "memory"); }

/* One frame of each type, for one thread of the host. */
template <class Frame> static Frame *frame_of(void)
{
    static Frame *frame = NULL;
    if (!frame) frame = (Frame *)remote_memory(sizeof(Frame));
    return frame;
}

#define RUN(name, threads, shared, frame, ...)                              \
    do {                                                                    \
        IH_LAUNCH(name##_kernel __VA_ARGS__, 1, threads, shared, NULL, frame); \
        must(cudaGetLastError(), #name);                                    \
        must(cudaDeviceSynchronize(), #name);                               \
    } while (0)

/* A kernel whose only thread executes the statement, and its frame f with the fields that follow. */
#define REMOTE(name, statement, ...)                                        \
    typedef struct name##_frame __VA_ARGS__ name##_frame;                   \
    IH_KERNEL(32, 1) name##_kernel(name##_frame *f) { statement; }

/* ---- pair.h ---- */

REMOTE(two_sum, f->r = ih_two_sum(f->a, f->b), { double a, b; ih_pair r; })
REMOTE(two_diff, f->r = ih_two_diff(f->a, f->b), { double a, b; ih_pair r; })
REMOTE(two_prod, f->r = ih_two_prod(f->a, f->b), { double a, b; ih_pair r; })
REMOTE(sum_add, ih_sum_add(&f->s, f->p, &f->lost), { ih_pair s; double p, lost; })
REMOTE(sum_add_low, ih_sum_add_low(&f->s, f->p, &f->lost), { ih_pair s; double p, lost; })
REMOTE(pair_add, f->r = ih_pair_add(f->a, f->b, &f->lost), { ih_pair a, b, r; double lost; })

#define REMOTE_OF_TWO(name)                                                 \
    extern "C" ih_pair remote_##name(double a, double b)                    \
    {                                                                       \
        name##_frame *f = frame_of<name##_frame>();                         \
        f->a = a, f->b = b;                                                 \
        RUN(name, 1, 0, f);                                                 \
        return f->r;                                                        \
    }
REMOTE_OF_TWO(two_sum)
REMOTE_OF_TWO(two_diff)
REMOTE_OF_TWO(two_prod)

#define REMOTE_SUM(name)                                                    \
    extern "C" void remote_##name(ih_pair *sum, double p, double *lost)     \
    {                                                                       \
        name##_frame *f = frame_of<name##_frame>();                         \
        f->s = *sum, f->p = p, f->lost = *lost;                             \
        RUN(name, 1, 0, f);                                                 \
        *sum = f->s, *lost = f->lost;                                       \
    }
REMOTE_SUM(sum_add)
REMOTE_SUM(sum_add_low)

extern "C" ih_pair remote_pair_add(ih_pair a, ih_pair b, double *lost)
{
    pair_add_frame *f = frame_of<pair_add_frame>();
    f->a = a, f->b = b, f->lost = *lost;
    RUN(pair_add, 1, 0, f);
    *lost = f->lost;
    return f->r;
}

/* ---- expansion.h ---- */

REMOTE(expansion_add, f->r = ih_expansion_add(f->e, f->n, f->v), { double e[IH_SUM_TERMS + 1], v; int32_t n, r; })
REMOTE(expansion_sign, f->r = ih_expansion_sign(f->e, f->n), { double e[IH_SUM_TERMS]; int32_t n, r; })
REMOTE(expansion_cross, f->r = ih_expansion_cross(f->e[0], f->n[0], f->e[1], f->n[1], f->e[2], f->n[2], f->e[3], f->n[3]), { double e[4][IH_SUM_TERMS]; int32_t n[4], r; })

extern "C" int32_t remote_expansion_add(double *e, int32_t n, double v)
{
    expansion_add_frame *f = frame_of<expansion_add_frame>();
    memcpy(f->e, e, (size_t)n * sizeof *e);
    f->n = n, f->v = v;
    RUN(expansion_add, 1, 0, f);
    memcpy(e, f->e, (size_t)f->r * sizeof *e);
    return f->r;
}

extern "C" int32_t remote_expansion_sign(const double *e, int32_t n)
{
    expansion_sign_frame *f = frame_of<expansion_sign_frame>();
    memcpy(f->e, e, (size_t)n * sizeof *e);
    f->n = n;
    RUN(expansion_sign, 1, 0, f);
    return f->r;
}

extern "C" int32_t remote_expansion_cross(double *a, int32_t na, double *b, int32_t nb, double *c, int32_t nc, double *d, int32_t nd)
{
    expansion_cross_frame *f = frame_of<expansion_cross_frame>();
    const double *const    from[4] = { a, b, c, d };
    const int32_t          n[4]    = { na, nb, nc, nd };
    for (int k = 0; k < 4; ++k) {
        memcpy(f->e[k], from[k], (size_t)n[k] * sizeof *a);
        f->n[k] = n[k];
    }
    RUN(expansion_cross, 1, 0, f);
    return f->r;
}

/* ---- turn.h, judge.h ---- */

REMOTE(turn_near, f->r = ih_turn_near(&f->p[0], &f->p[1], &f->p[2]), { ih_point p[3]; ih_turn r; })
REMOTE(turn_pair, f->r = ih_turn_pair(&f->p[0], &f->p[1], &f->p[2]), { ih_point p[3]; ih_turn r; })
REMOTE(turn_pairs, f->r = ih_turn_pairs(f->g[0], f->g[1], f->g[2], f->g[3]), { ih_gap g[4]; ih_turn r; })
REMOTE(judge_convex, f->r = ih_judge_convex(&f->j, &f->p[0], &f->p[1], &f->p[2]), { ih_judge j; ih_point p[3]; int32_t r; })

#define REMOTE_TURN_OF(name)                                                                    \
    extern "C" ih_turn remote_##name(const ih_point *a, const ih_point *b, const ih_point *d)   \
    {                                                                                           \
        name##_frame *f = frame_of<name##_frame>();                                             \
        f->p[0] = *a, f->p[1] = *b, f->p[2] = *d;                                               \
        RUN(name, 1, 0, f);                                                                     \
        return f->r;                                                                            \
    }
REMOTE_TURN_OF(turn_near)
REMOTE_TURN_OF(turn_pair)

extern "C" ih_turn remote_turn_pairs(ih_gap x1, ih_gap y1, ih_gap x2, ih_gap y2)
{
    turn_pairs_frame *f = frame_of<turn_pairs_frame>();
    f->g[0] = x1, f->g[1] = y1, f->g[2] = x2, f->g[3] = y2;
    RUN(turn_pairs, 1, 0, f);
    return f->r;
}

extern "C" int32_t remote_judge_convex(ih_judge *j, const ih_point *a, const ih_point *b, const ih_point *d)
{
    judge_convex_frame *f = frame_of<judge_convex_frame>();
    f->j = *j, f->p[0] = *a, f->p[1] = *b, f->p[2] = *d;
    RUN(judge_convex, 1, 0, f);
    *j = f->j;
    return f->r;
}

/* ---- mean.h ---- */

enum { BLOCK_MOST = 1024 };

REMOTE(block_sum, f->r = ih_block_sum(&f->v, 0, f->n, f->v.kind), { double y[BLOCK_MOST], w[BLOCK_MOST]; ih_values v; int64_t n; ih_block r; })
REMOTE(round_mean, f->r = ih_round_mean(&f->b, f->kind, &f->z), { ih_block b; int32_t kind; double z; ih_level r; })

/* Elements begin .. begin + n - 1 into arrays of the frame. */
static ih_values copied(const ih_values *v, int64_t begin, int64_t n, double *y, double *w)
{
    const size_t item = v->kind & IH_KIND_F32 ? sizeof(float) : sizeof(double);
    ih_values    own  = *v;
    if (n > BLOCK_MOST) {
        fprintf(stderr, "more than %d elements\n", BLOCK_MOST);
        exit(1);
    }
    memcpy(y, (const char *)v->y + (size_t)begin * item, (size_t)n * item);
    if (v->kind & IH_KIND_WEIGHTED) memcpy(w, (const char *)v->w + (size_t)begin * item, (size_t)n * item);
    own.y = y;
    own.w = v->kind & IH_KIND_WEIGHTED ? w : NULL;
    return own;
}

extern "C" ih_block remote_block_sum(const ih_values *v, int64_t a, int64_t b, int32_t kind)
{
    block_sum_frame *f = frame_of<block_sum_frame>();
    f->v      = copied(v, a, b - a, f->y, f->w);
    f->v.kind = kind;
    f->n      = b - a;
    RUN(block_sum, 1, 0, f);
    return f->r;
}

extern "C" ih_level remote_round_mean(const ih_block *b, int32_t kind, double *z)
{
    round_mean_frame *f = frame_of<round_mean_frame>();
    f->b = *b, f->kind = kind, f->z = *z;
    RUN(round_mean, 1, 0, f);
    *z = f->z;
    return f->r;
}

/* ---- chunk_hull.h ---- */

REMOTE(mask_before, f->r = ih_mask_before(f->mask, f->k), { uint32_t mask[32]; int32_t k, r; })
REMOTE(mask_after, f->r = ih_mask_after(f->mask, f->k, f->end), { uint32_t mask[32]; int32_t k, end, r; })
REMOTE(mask_clear, ih_mask_clear(f->mask, f->a, f->b), { uint32_t mask[32]; int32_t a, b; })

extern "C" int32_t remote_mask_before(const uint32_t *mask, int32_t k)
{
    mask_before_frame *f = frame_of<mask_before_frame>();
    memcpy(f->mask, mask, ((size_t)((k - 1) >> 5) + 1) * sizeof *mask);
    f->k = k;
    RUN(mask_before, 1, 0, f);
    return f->r;
}

extern "C" int32_t remote_mask_after(const uint32_t *mask, int32_t k, int32_t end)
{
    mask_after_frame *f = frame_of<mask_after_frame>();
    memcpy(f->mask, mask, ((size_t)(end - 1) / 32 + 1) * sizeof *mask);
    f->k = k, f->end = end;
    RUN(mask_after, 1, 0, f);
    return f->r;
}

extern "C" void remote_mask_clear(uint32_t *mask, int32_t a, int32_t b)
{
    mask_clear_frame *f     = frame_of<mask_clear_frame>();
    const size_t      lanes = (size_t)(b > a ? b - 1 : a) / 32 + 1;
    memcpy(f->mask, mask, lanes * sizeof *mask);
    f->a = a, f->b = b;
    RUN(mask_clear, 1, 0, f);
    memcpy(mask, f->mask, lanes * sizeof *mask);
}

typedef struct chunk_frame {
    double              y[BLOCK_MOST], w[BLOCK_MOST];
    ih_values           v;
    int32_t             n;
    remote_chunk_result r;
} chunk_frame;

/* As chunk.cu does it, one warp. */
template <int KIND> IH_KERNEL(32, 1) chunk_kernel(chunk_frame *f)
{
    IH_SHARED(shared);
    const int32_t       lane = (int32_t)(threadIdx.x & 31);
    const ih_warp_space space = ih_warp_space_at(shared, KIND);
    const ih_lane_part  p     = ih_lane_part_of(lane, 32, f->n);
    ih_judge            judge = { 0, 0, 0, 0 };
    ih_walk_count       walks = { 0, 0, 0, 0 };
    ih_chunk            c;
    ih_sums             end;

    c.values = f->v;
    c.begin  = 0;
    const ih_range   range   = ih_cuda_load<KIND, IH_WARP_WIDE>(&c, &space, p, lane, 0);
    const ih_binades range_y = ih_binades_of(range.most_y, range.least_y, range.low_y, KIND);
    const ih_binades range_w = ih_binades_of(range.most_w, range.least_w, range.low_w, KIND);
    if (!ih_range_good(&range, range_y, range_w, KIND) && !__all_sync(IH_ALL_LANES, ih_cuda_lane_good(&space, p, lane, KIND))) return;
    ih_warp_sums(&c, &space, p, lane, range_y, range_w, &end, KIND);
    if (p.count > 0) {
        f->r.lane[lane] = c.near_y == 0 && c.near_x == 0 ? ih_lane_hull(&c, &judge, p.own, 1, KIND) : ih_lane_hull(&c, &judge, p.own, 0, KIND);
        f->r.turns[lane] = judge.by_filter + judge.by_pair + judge.by_exact;
    }
    const int32_t left = __any_sync(IH_ALL_LANES, judge.undecided);
    __syncwarp();
    judge.undecided = 0;
    ih_warp_hull<KIND>(&c, &judge, p, lane, &walks);
    if (p.count > 0) f->r.mask[lane] = c.mask[p.own];
    f->r.walk[lane] = walks;
    const int32_t undecided = left | __any_sync(IH_ALL_LANES, judge.undecided);
    if (lane == 0) {
        f->r.good      = 1;
        f->r.undecided = undecided;
    }
}

extern "C" int32_t remote_chunk(const ih_values *v, int64_t begin, int32_t n, remote_chunk_result *r)
{
    chunk_frame *f = frame_of<chunk_frame>();
    memset(&f->r, 0, sizeof f->r);
    f->v = copied(v, begin, n, f->y, f->w);
    f->n = n;
    switch (v->kind) {
    case 0: RUN(chunk, 32, ih_warp_space_bytes(0), f, <0>); break;
    case 1: RUN(chunk, 32, ih_warp_space_bytes(1), f, <1>); break;
    case 2: RUN(chunk, 32, ih_warp_space_bytes(2), f, <2>); break;
    default: RUN(chunk, 32, ih_warp_space_bytes(3), f, <3>); break;
    }
    *r = f->r;
    return r->good;
}

/* ---- walk.h, search.h, merge.h, root.h ---- */

REMOTE(walk, f->done = ih_walk(&f->s, &f->j, &f->l, &f->r, f->cap, &f->to, &f->count), { ih_store s; ih_judge j; ih_run l, r; int64_t cap; ih_bridge to; ih_walk_count count; int32_t done; })
REMOTE(search, ih_search(&f->s, &f->j, &f->l, &f->r, f->fan, &f->to), { ih_store s; ih_judge j; ih_run l, r; int64_t fan; ih_bridge to; })
REMOTE(merge, f->n_left = ih_merge_lists(&f->s, &f->j, f->left, f->n_left, f->right, f->n_right, f->rule, &f->count), { ih_store s; ih_judge j; ih_segment *left, *right; int64_t n_left, n_right; ih_merge_rule rule; ih_merge_count count; })
REMOTE(root, f->count = ih_root_find(f->segments, f->count, f->chunk), { ih_segment segments[64]; int64_t count, chunk; })

extern "C" int32_t remote_walk(const ih_store *s, ih_judge *j, const ih_run *l, const ih_run *r, int64_t cap, ih_bridge *to, ih_walk_count *count)
{
    walk_frame *f = frame_of<walk_frame>();
    f->s = *s, f->j = *j, f->l = *l, f->r = *r, f->cap = cap, f->to = *to, f->count = *count;
    RUN(walk, 1, 0, f);
    *j = f->j, *to = f->to, *count = f->count;
    return f->done;
}

extern "C" void remote_search(const ih_store *s, ih_judge *j, const ih_run *l, const ih_run *r, int64_t fan, ih_bridge *to)
{
    search_frame *f = frame_of<search_frame>();
    f->s = *s, f->j = *j, f->l = *l, f->r = *r, f->fan = fan, f->to = *to;
    RUN(search, 1, 0, f);
    *j = f->j, *to = f->to;
}

extern "C" int64_t remote_merge_lists(const ih_store *s, ih_judge *j, ih_segment *left, int64_t n_left, ih_segment *right, int64_t n_right,
                                      ih_merge_rule rule, ih_merge_count *count)
{
    merge_frame *f = frame_of<merge_frame>();
    f->s = *s, f->j = *j, f->left = left, f->n_left = n_left, f->right = right, f->n_right = n_right, f->rule = rule, f->count = *count;
    RUN(merge, 1, 0, f);
    *j = f->j, *count = f->count;
    return f->n_left;
}

extern "C" int64_t remote_root_find(const ih_segment *segments, int64_t count, int64_t chunk)
{
    root_frame *f = frame_of<root_frame>();
    memcpy(f->segments, segments, (size_t)count * sizeof *segments);
    f->count = count, f->chunk = chunk;
    RUN(root, 1, 0, f);
    return f->count;
}
