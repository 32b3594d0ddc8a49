/* SPDX-License-Identifier: Apache-2.0
 * write.cu: reconstruction of rows with a tree (paper 3.4): the values over edges between segments, each computed once; then a
 * warp a chunk writes the values of its elements. */
#include "edges.h"
#include "launch.h"

#include "../row/root.h"
#include "../warp/warp_values.h"

enum { THREADS = 128, WRITE_WARPS = 4, EDGES = 8 }; /* EDGES: of a warp */

#if !defined(IH_PAPER)
/* The chunk for means of its blocks from its slot: the parts that these look at. */
IH_DEV ih_chunk chunk_of_slot(const ih_cuda_fit *f, int64_t chunk, ih_values values, int64_t begin, int32_t n, int32_t kind)
{
    const ih_chunk_record *record = &f->record[chunk];
    ih_chunk               c;
    c.values  = values;
    c.begin   = begin;
    c.start_y = f->stop + chunk * (kind & IH_KIND_WEIGHTED ? 2 * IH_CUDA_STOPS : IH_CUDA_STOPS);
    c.start_x = c.start_y + IH_CUDA_STOPS;
    c.n       = n;
    c.lost_y  = record->lost_y;
    c.lost_x  = record->lost_x;
    c.near_y  = record->near_y;
    c.near_x  = record->near_x;
    return c;
}
#endif

template <int KIND> IH_KERNEL(THREADS, 1) edge_kernel(IH_CONSTANT ih_cuda_fit f)
{
    ih_follow();
    /* a list is short as a rule: its edges, which lie side by side, to many warps */
    const int32_t lane  = (int32_t)(threadIdx.x & 31);
    const int64_t chunk = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / 32 + lane * ((int64_t)gridDim.x * (THREADS / 32));
    ih_cuda_edges<KIND>(&f, lane < EDGES && chunk < ih_cuda_chunks(&f) ? chunk : -1, lane);
}

/* ih_root_find by a warp. */
IH_DEV int64_t root_find(const ih_segment *segments, int64_t count, int64_t chunk, int32_t lane)
{
    int64_t lo = 0, hi = count; /* segments[lo].chunk <= chunk < segments[hi].chunk */
    while (hi - lo > 1) {
        const int64_t  span = hi - lo - 1, at = lo + 1 + (span <= 32 ? (lane < span ? lane : span - 1) : span * (lane + 1) / 33);
        const uint32_t above = __ballot_sync(IH_ALL_LANES, segments[at].chunk > chunk);
        const int32_t  first = above ? ih_bit_low(above) : 32;
        const int64_t  next  = __shfl_sync(IH_ALL_LANES, (long long)at, first & 31), before = __shfl_sync(IH_ALL_LANES, (long long)at, (first + 31) & 31);
        if (first < 32) hi = next;
        if (first > 0) lo = before;
    }
    return lo;
}

#if !defined(IH_PAPER)
enum { BY_WARP = 8, LONG = 16 };

/* The means of a chunk's blocks that are open: by the lanes, each its own; but long ones (more than LONG elements), if there are few, by the warp.
 * at: the positions of the vertices from the lane's first on. */
template <int KIND> IH_DEV ih_level open_means(const ih_cuda_fit *f, const ih_chunk *c, double *places, const uint16_t *at, uint32_t hull, uint32_t open, int32_t lane)
{
    ih_level worst = IH_LEVEL_FILTER;
    uint32_t by_warp = 0;
    for (uint32_t more = open; more; more &= more - 1) {
        const int32_t bit = ih_bit_low(more);
        if (at[ih_bit_count(hull & ((1u << bit) - 1)) + 1] - (32 * lane + bit) > LONG) by_warp |= 1u << bit;
    }
    if (__reduce_add_sync(IH_ALL_LANES, (unsigned)ih_bit_count(by_warp)) > BY_WARP) by_warp = 0;
    for (uint32_t lanes; (lanes = __ballot_sync(IH_ALL_LANES, by_warp)) != 0;) {
        const int32_t lead = ih_bit_low(lanes), bit = by_warp ? ih_bit_low(by_warp) : 0;
        const int32_t a = __shfl_sync(IH_ALL_LANES, 32 * lane + bit, lead), b = __shfl_sync(IH_ALL_LANES, lane == lead ? at[ih_bit_count(hull & ((1u << bit) - 1)) + 1] : 0, lead);
        ih_sums       sums = { { 0, 0 }, { 0, 0 }, 0, 0 };
#pragma unroll 1
        for (int32_t i = a + lane; i < b; i += 32) ih_sums_add(&sums, &c->values, i, KIND);
        const ih_rounded mean = ih_warp_mean(sums, b - a, f->sign, KIND);
        if (lane == lead) {
            by_warp &= by_warp - 1;
            if (mean.level != IH_LEVEL_NONE) {
                ih_place_z(&places[33 * lane + bit], ih_clipped(mean.z, f->y_min, f->y_max), KIND);
                open &= ~(1u << bit);
            }
        }
    }
    for (; open; open &= open - 1) {
        const int32_t    bit = ih_bit_low(open);
        const ih_rounded mean = ih_chunk_mean_slow(*c, 32 * lane + bit, at[ih_bit_count(hull & ((1u << bit) - 1)) + 1], f->sign);
        ih_place_z(&places[33 * lane + bit], ih_clipped(mean.z, f->y_min, f->y_max), KIND);
        if (mean.level > worst) worst = mean.level;
    }
    return worst;
}
#endif

template <int KIND> IH_KERNEL(32 * WRITE_WARPS, 6) write_kernel(IH_CONSTANT ih_cuda_fit f)
{
    ih_follow();
    typedef typename ih_real<KIND>::type real;
    IH_SHARED(shared);
    const int32_t lane = (int32_t)(threadIdx.x & 31), warp = (int32_t)(threadIdx.x >> 5);
    const int64_t number = (int64_t)blockIdx.x * (blockDim.x >> 5) + warp; /* a row's chunks from both ends inwards: a noisy row's hull has */
    if (number >= ih_cuda_chunks(&f)) return;                               /* its vertices there, so that what takes long comes first     */

    const ih_cuda_row row = ih_cuda_tree_row(&f, ih_cuda_row_of_chunk(&f, number));
    if (f.state[row.row] != IH_ROW_FINE) return;
    const int64_t     turn = number - row.chunk0, own = turn & 1 ? row.chunks - 1 - (turn >> 1) : turn >> 1, chunk = row.chunk0 + own, begin = own * IH_CUDA_CHUNK, flat = row.begin + begin, rest = row.n - begin;
    const int32_t     n   = rest < IH_CUDA_CHUNK ? (int32_t)rest : IH_CUDA_CHUNK;
    real *const       z     = (real *)f.z + flat;
    const real *const y     = (const real *)f.y + flat;
    const ih_segment *list  = f.segment + row.chunk0;
    const double     *edges = f.edge + row.chunk0;
    const int64_t     count = f.length[row.chunk0], k = root_find(list, count, own, lane);
    const ih_segment  mine  = list[k];

    if (mine.chunk != own) { /* an edge spans the chunk */
        const real value = (real)edges[k];
#pragma unroll 8
        for (int32_t i = 0; i < 32; ++i)
            if (32 * i + lane < n) z[32 * i + lane] = value;
        return;
    }

    const ih_lane_part    p      = ih_lane_part_of(lane, 32, n);
    const int64_t         slot   = chunk * (IH_CUDA_CHUNK + 1);
    const uint32_t        hull   = f.hull[32 * chunk + lane];
    const int32_t         begins = f.slot_at[slot + mine.first], ends = f.slot_at[slot + mine.last]; /* first and last vertex that survive */
    double               *places = (double *)shared + warp * IH_WARP_PLACES;
    ih_level              worst  = IH_LEVEL_FILTER;
    ih_warp_hull_part     part;
    const ih_chunk        c      = chunk_of_slot(&f, chunk, ih_cuda_values(&f, flat, KIND), begin, n, KIND);
    int32_t               rank = ih_bit_count(hull);
    uint32_t              word = hull;

    for (int32_t by = 1; by < 32; by *= 2) {
        const int32_t before = __shfl_up_sync(IH_ALL_LANES, rank, (unsigned)by);
        if (lane >= by) rank += before;
    }
    rank -= ih_bit_count(hull); /* vertices of the chunk before the lane's */
    if (begins >= 32 * lane + 32) word = 0;
    else if (begins > 32 * lane) word &= ~0u << (begins - 32 * lane);
    if (ends < 32 * lane) word = 0;
    else if (ends < 32 * lane + 31) word &= (2u << (ends - 32 * lane)) - 1;
    part.last  = ends;
    part.z_in  = k > 0 ? edges[k - 1] : 0;
    part.z_out = k + 1 < count ? edges[k] : 0;
    part.sign  = f.sign;
    part.z_min = f.y_min;
    part.z_max = f.y_max;
    if (f.bits) {
        ih_warp_put_bits(f.bits, flat + 32 * lane, word);
        if (lane == 0 && ends == n && k + 1 < count) ih_warp_put_bits(f.bits, flat + n, 1u); /* the edge's block begins with the next chunk */
    }
    const ih_warp_blocks blocks = ih_warp_blocks_of(word, &part, p);
    const int32_t        before = ih_vertex_before(word, lane, 0, IH_ALL_LANES);
    uint32_t             open = 0; /* means that the slot does not settle */
    for (uint32_t more = blocks.more; more; more &= more - 1) {
        const int32_t bit = ih_bit_low(more), a = 32 * lane + bit;
        const int64_t entry = slot + rank + ih_bit_count(hull & ((1u << bit) - 1));
        const int32_t b     = f.slot_at[entry + 1];
        double        mean;
        if (ih_chunk_mean_quick(&c, a, b, f.slot_y[entry], f.slot_y[entry + 1], KIND & IH_KIND_WEIGHTED ? f.slot_x[entry] : 0, KIND & IH_KIND_WEIGHTED ? f.slot_x[entry + 1] : 0,
                                f.sign, &mean, KIND)) ih_place_z(&places[33 * lane + bit], ih_clipped(mean, f.y_min, f.y_max), KIND);
        else open |= 1u << bit;
    }
    if (__any_sync(IH_ALL_LANES, open)) worst = open_means<KIND>(&f, &c, places, f.slot_at + slot + rank, hull, open, lane);
    if (__any_sync(IH_ALL_LANES, worst == IH_LEVEL_NONE)) {
        if (lane == 0) ih_cuda_give_up(&f, row.row, IH_ROW_UNCERTAIN);
        return;
    }
    __syncwarp();
    ih_warp_write(z, y, n, &part, places, blocks, before, lane);
}

template <int KIND> static void launch(const ih_cuda_fit *f, cudaStream_t stream)
{
    if (!ih_cuda_edges_in_tail(f)) IH_LAUNCH_NEXT(edge_kernel<KIND>, (f->chunks + EDGES * THREADS / 32 - 1) / (EDGES * THREADS / 32), THREADS, 0, stream, f->overlap, *f);
    IH_LAUNCH_NEXT(write_kernel<KIND>, (f->chunks + WRITE_WARPS - 1) / WRITE_WARPS, 32 * WRITE_WARPS, WRITE_WARPS * IH_WARP_PLACES * sizeof(double), stream, f->overlap, *f);
}

extern "C" cudaError_t ih_cuda_launch_write(const ih_cuda_fit *f, cudaStream_t stream)
{
    switch (f->kind) {
    case 0: launch<0>(f, stream); break;
    case IH_KIND_F32: launch<IH_KIND_F32>(f, stream); break;
    case IH_KIND_WEIGHTED: launch<IH_KIND_WEIGHTED>(f, stream); break;
    default: launch<IH_KIND_F32 | IH_KIND_WEIGHTED>(f, stream); break;
    }
    return cudaGetLastError();
}
