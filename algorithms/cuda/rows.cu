/* SPDX-License-Identifier: Apache-2.0
 * rows.cu: rows of at most one chunk, finished in one kernel (paper 3.5): a warp holds one row of up to 1024 elements, or
 * several, each on the least power of two of lanes that has 32 elements a lane. Rows side by side share the bounds on errors of their
 * sums; where their magnitudes are too far apart for that, they take turns. */
#include "launch.h"
#include "stage.h"

#include "../warp/warp_values.h"

enum {
    CLASSES     = 6, /* rows on 1, 2, 4, 8, 16, 32 lanes             */
    RESIDENT    = 6, /* blocks of a multiprocessor, by shared memory */
    AT_ONCE     = 8, /* loads of a lane that are under way together  */
    MOST_BLOCKS = 1 << 30
};

IH_HD int32_t rows_warps(int32_t kind) { return kind & IH_KIND_WEIGHTED ? 2 : 4; }

IH_HD int32_t lanes_of(int64_t n)
{
    int32_t lanes = 1;
    while (32 * lanes < n) lanes *= 2;
    return lanes;
}

/* The row of this lane's group in unit u of work: -1: none. */
IH_DEV int64_t row_of_unit(const ih_cuda_fit *f, int64_t u, int32_t lane, int32_t *lanes)
{
    int64_t base = 0;

    if (!f->offsets) {
        *lanes = lanes_of(f->n);
        const int64_t row = u * (32 / *lanes) + lane / *lanes;
        return row < f->rows ? row : -1;
    }
    *lanes = 1;
    for (int32_t k = 0; k < CLASSES; ++k) {
        const int64_t count = (int64_t)f->status->class_rows[k], each = 32 >> k, units = (count + each - 1) / each;
        if (u < units) {
            *lanes = 1 << k;
            const int64_t at = u * each + (lane >> k);
            return at < count ? f->short_rows[base + at] : -1;
        }
        u -= units;
        base += count;
    }
    return -1;
}

IH_DEV int64_t units_of(const ih_cuda_fit *f)
{
    int64_t units = 0;
    if (!f->offsets) {
        const int32_t each = 32 / lanes_of(f->n);
        return (f->rows + each - 1) / each;
    }
    for (int32_t k = 0; k < CLASSES; ++k) units += ((int64_t)f->status->class_rows[k] + (32 >> k) - 1) / (32 >> k);
    return units;
}

/* A warp whose values cannot be treated all alike: which rows are left out, at fault, for the exact level, or for another turn (turn not NULL),
 * and what the values of the others have in common. flat: the lane's first element. */
typedef struct some_rows { ih_range range; uint32_t out; } some_rows;

IH_DEV_SLOW some_rows rows_of_turn(const ih_cuda_fit *f, const ih_warp_space *space, ih_lane_part p, int32_t lane, uint32_t group, int64_t row, int64_t flat,
                                   int32_t kind, uint32_t *turn)
{
    const int32_t good = ih_cuda_lane_good(space, p, lane, kind);
    some_rows     some;

    some.out = __ballot_sync(IH_ALL_LANES, (__ballot_sync(IH_ALL_LANES, !good) & group) != 0);
    if (!good) ih_cuda_suspect(f, row, flat, p.count);
    if (turn) {
        const uint32_t done = some.out | *turn, now = ih_cuda_groups_alike(space, p, lane, done, kind);
        __syncwarp();
        if (lane == 0) *turn = ~(done | now) ? done | now : 0;
        some.out = ~now;
    }
    some.range = ih_cuda_range_of_some(space, p, lane, some.out >> lane & 1u, kind);
    return some;
}

template <int KIND, int SHAPE> IH_KERNEL(KIND & IH_KIND_WEIGHTED ? 64 : 128, RESIDENT) rows_kernel(IH_CONSTANT ih_cuda_fit f)
{
    ih_follow();
    typedef typename ih_real<KIND>::type real;
    constexpr int32_t WIDE = IH_WARP_WIDE, SIDE_BY_SIDE = SHAPE == IH_WARP_LANES || SHAPE == IH_WARP_PACKED;
    IH_SHARED(shared);
    const int32_t       lane  = (int32_t)(threadIdx.x & 31), warp = (int32_t)(threadIdx.x >> 5), warps = (int32_t)(blockDim.x >> 5);
    const ih_warp_space space = ih_warp_space_at(shared + warp * ih_warp_space_bytes(KIND), KIND);
    const int64_t       units = units_of(&f);
    uint32_t *const     turn  = (uint32_t *)(shared + warps * ih_warp_space_bytes(KIND)) + warp; /* lanes of the unit that have had theirs, if it takes several */

    if (SHAPE != WIDE && lane == 0) *turn = 0;
    __syncwarp();
    for (int64_t u = (int64_t)blockIdx.x * warps + warp; u < units; u += SHAPE != WIDE && *turn ? 0 : (int64_t)gridDim.x * warps) {
        int32_t            lanes = 32, equal = 0;
        const int64_t      row   = SHAPE == WIDE ? u : row_of_unit(&f, u, lane, &lanes);
        const int64_t      flat  = row >= 0 ? ih_cuda_row_begin(&f, row) : 0;
        const int32_t      n     = row >= 0 ? (int32_t)ih_cuda_row_length(&f, row) : 0;
        const ih_lane_part p     = ih_lane_part_of(lane, SHAPE == WIDE ? 32 : SHAPE == IH_WARP_LANES ? 1 : lanes, n);
        const int32_t      first = lane - p.own;
        const uint32_t     group = (lanes == 32 ? IH_ALL_LANES : (1u << lanes) - 1) << first;
        ih_judge           judge = { 0, 0, 0, 0 };
        ih_walk_count      walks = { 0, 0, 0, 0 };
        ih_level           worst = IH_LEVEL_FILTER;
        ih_warp_hull_part  part;
        ih_chunk           c;
        ih_sums            end;
        uint32_t           out = 0; /* lanes of rows that are left out */

        if (SIDE_BY_SIDE) { /* elements of the warp */
            const int64_t here = f.rows - u * (32 / lanes);
            equal = (int32_t)f.n * (here < 32 / lanes ? (int32_t)here : 32 / lanes);
        }
        __syncwarp(); /* the places of the unit before are read no more */
        c.values = ih_cuda_values(&f, flat, KIND);
        c.begin  = 0;
        {
            ih_range   range   = ih_cuda_load<KIND, SHAPE>(&c, &space, p, lane, equal);
            ih_binades range_y = ih_binades_of(range.most_y, range.least_y, range.low_y, KIND), range_w = ih_binades_of(range.most_w, range.least_w, range.low_w, KIND);
            if (!ih_range_good(&range, range_y, range_w, KIND) || (SHAPE != WIDE && ih_range_apart(&range, IH_CUDA_APART, KIND))) {
                const some_rows some = rows_of_turn(&f, &space, p, lane, group, row, flat + 32 * p.own, KIND, SHAPE == WIDE ? NULL : turn);
                out     = some.out;
                range   = some.range;
                range_y = ih_binades_of(range.most_y, range.least_y, range.low_y, KIND);
                range_w = ih_binades_of(range.most_w, range.least_w, range.low_w, KIND);
            }
            ih_warp_sums(&c, &space, p, lane, range_y, range_w, &end, KIND);
            if (out >> lane & 1u) c.n = 0; /* nothing is decided or written for this row here */
        }
        const ih_lane_part q = ih_lane_part_of(lane, p.lanes, c.n);
        ih_warp_hull<KIND>(&c, &judge, q, lane, &walks);
        part.last  = c.n;
        part.z_in  = part.z_out = 0;
        part.sign  = f.sign;
        part.z_min = f.y_min;
        part.z_max = f.y_max;
        ih_warp_blocks blocks = ih_warp_blocks_of(q.count > 0 ? c.mask[q.own] : 0, &part, q);
        ih_warp_means(&c, &part, q, blocks, &worst, KIND);
        {
            const uint32_t undecided = __ballot_sync(IH_ALL_LANES, judge.undecided || worst == IH_LEVEL_NONE) & group;
            if (undecided && c.n > 0) {
                if (p.own == 0) ih_cuda_give_up(&f, row, IH_ROW_UNCERTAIN);
                c.n = 0;
            }
            if (c.n == 0) blocks.all = 0;
        }
        /* the last vertex before the lane's points; none at all in a row that is not written: the row's first point is a vertex */
        const int32_t before = SHAPE == IH_WARP_LANES ? -1 : ih_vertex_before(blocks.all, lane, first, group);
        const int32_t written = (int32_t)blocks.all | (before + 1);
        const int32_t whole   = __all_sync(IH_ALL_LANES, written || p.count == 0); /* every row is */
        part.last = IH_CUDA_CHUNK + 1; /* of none of these */
        if (SIDE_BY_SIDE) {
            const int32_t     n0 = (int32_t)f.n, groups = 32 / n0, rest = 32 % n0; /* 32 elements on: so many rows and elements */
            const int64_t     begin = u * (32 / lanes) * f.n;
            const real *const y = (const real *)f.y + begin;
            real *const       z = (real *)f.z + begin;
            const auto *const places = ih_warp_places<KIND>(&space, 0);
            const int32_t     read = __any_sync(IH_ALL_LANES, blocks.single);
            int32_t           at = lane / n0, k = lane % n0;
            ih_warp_fill<real>(&part, ih_warp_places<KIND>(&space, 33 * first), q, blocks, before);
            for (int32_t i = 0; 32 * i < equal; i += AT_ONCE) {
                real held[AT_ONCE];
                ih_warp_hold<AT_ONCE>(held, y, i, equal, read, lane);
#pragma unroll
                for (int32_t j = 0; j < AT_ONCE; ++j) {
                    const int32_t  e = 32 * (i + j) + lane, from = at * p.lanes + (k >> 5);
                    const uint32_t single = __shfl_sync(IH_ALL_LANES, blocks.single, from);
                    const int32_t  there  = whole || __shfl_sync(IH_ALL_LANES, written, from);
                    if (e < equal && there)
                        z[e] = single >> (k & 31) & 1u ? ih_within<real>(held[j] + (real)0, (real)f.y_min, (real)f.y_max) : *(const real *)&places[33 * from + (k & 31)];
                    k += rest;
                    at += groups;
                    if (k >= n0) k -= n0, ++at;
                }
            }
        } else if (SHAPE == WIDE) {
            ih_warp_write((real *)f.z + flat, (const real *)f.y + flat, c.n, &part, ih_warp_places<KIND>(&space, 0), blocks, before, lane);
        } else {
            const real *const y = (const real *)f.y + flat;
            real *const       z = (real *)f.z + flat;
#pragma unroll 4
            for (int32_t i = 0; i < 32; ++i) {
                const int32_t  k = i * p.lanes + p.own, from = first + (k >> 5);
                const int32_t  before_k = __shfl_sync(IH_ALL_LANES, before, from);
                const uint32_t word = __shfl_sync(IH_ALL_LANES, blocks.all, from), single = __shfl_sync(IH_ALL_LANES, blocks.single, from);
                if (k < c.n) z[k] = ih_warp_value<real>(&part, ih_warp_places<KIND>(&space, 33 * first), single >> (k & 31) & 1u ? y[k] : (real)0, k, word, single, before_k);
            }
        }
        if (f.bits && q.count > 0 && c.n > 0) ih_warp_put_bits(f.bits, flat + 32 * p.own, blocks.all);
        if (f.counting) {
            ih_cuda_count_decisions(&f, &judge, lane);
            ih_cuda_count(&f.status->lane_walks, walks.walks, lane);
            ih_cuda_count(&f.status->lane_walk_steps, walks.steps, lane);
            ih_cuda_count(&f.status->chunks, p.own == 0 && q.count > 0, lane);
            ih_cuda_count(&f.status->vertices_chunks, ih_bit_count(blocks.all) + (p.own == 0 && q.count > 0), lane);
        }
    }
}

template <int KIND> static cudaError_t launch(const ih_cuda_fit *f, int32_t processors, cudaStream_t stream)
{
    const int32_t warps = rows_warps(KIND), each = f->offsets ? 1 : 32 / lanes_of(f->n), many = MOST_BLOCKS;
    const int64_t blocks = ((f->rows + each - 1) / each + warps - 1) / warps, most = 4 * RESIDENT * (int64_t)processors;
    const size_t  bytes  = (size_t)warps * (ih_warp_space_bytes(KIND) + sizeof(uint32_t));
    if (f->offsets) IH_LAUNCH((rows_kernel<KIND, IH_WARP_RAGGED>), blocks < most ? blocks : most, 32 * warps, bytes, stream, *f);
    else if (each == 1) IH_LAUNCH((rows_kernel<KIND, IH_WARP_WIDE>), blocks < many ? blocks : many, 32 * warps, bytes, stream, *f);
    else if (each < 32) IH_LAUNCH((rows_kernel<KIND, IH_WARP_PACKED>), blocks < many ? blocks : many, 32 * warps, bytes, stream, *f);
    else IH_LAUNCH((rows_kernel<KIND, IH_WARP_LANES>), blocks < many ? blocks : many, 32 * warps, bytes, stream, *f);
    return cudaGetLastError();
}

extern "C" cudaError_t ih_cuda_launch_rows(const ih_cuda_fit *f, int32_t processors, cudaStream_t stream)
{
    switch (f->kind) {
    case 0: return launch<0>(f, processors, stream);
    case IH_KIND_F32: return launch<IH_KIND_F32>(f, processors, stream);
    case IH_KIND_WEIGHTED: return launch<IH_KIND_WEIGHTED>(f, processors, stream);
    default: return launch<IH_KIND_F32 | IH_KIND_WEIGHTED>(f, processors, stream);
    }
}
