/* SPDX-License-Identifier: Apache-2.0
 * exact_rows.cu: rows that were given up. Those with a fault are filled with NaN; the others are solved in integers
 * (algorithms/exact), without the host: a block a row, a thread a lane of 32 points or a join.
 *
 * Workspace, for each place p of elements (a block's row of a rectangular batch; the whole of a ragged one):
 *   | level 0 | level 1 | ..    sets of points as trees of bits: 1/8 byte an element and a little
 *   | stops                     prefix sums; how dense they are follows from the limbs that the row's exponents take
 *   | rooms                     two sums of each thread: limbs of neighbouring threads side by side */
#include "launch.h"
#include "stage.h"

#include "../exact/hull.h"
#include "../exact/round.h"

enum { THREADS_MOST = 512, THREADS_RAGGED = 256, ALL_THREADS = 32768, ELEMENTS_A_THREAD = 256 };

typedef struct exact_layout {
    int64_t blocks;
    int32_t threads, levels;            /* threads of a block; levels of bits */
    int64_t places, rows;               /* elements and rows that have a place */
    int64_t level[IH_VERTICES_LEVELS];  /* word at which a part begins        */
    int64_t stops, rooms, room;         /* room: words of a block             */
    int64_t words;
} exact_layout;

/* From the shape alone. */
IH_HD exact_layout layout_of(const ih_cuda_fit *f)
{
    const int64_t longest = f->offsets ? f->total : f->n, fair = f->total / ELEMENTS_A_THREAD;
    const int64_t all = fair < THREADS_MOST ? (int64_t)THREADS_MOST : fair < ALL_THREADS ? fair : (int64_t)ALL_THREADS;
    ih_frame      most;
    exact_layout  l;
    int64_t       at = 0;

    l.threads = 32;
    while (l.threads < (f->offsets ? THREADS_RAGGED : THREADS_MOST) && l.threads < longest / 32) l.threads *= 2;
    l.blocks = f->rows < all / l.threads ? f->rows : all / l.threads;
    if (f->total <= 0) l.blocks = 0;
    l.places = f->offsets ? f->total : l.blocks * f->n;
    l.rows   = f->offsets ? f->rows : l.blocks;
    if (l.blocks == 0) l.rows = 0;
    l.levels = ih_vertices_top(2 * (longest > 32 ? longest : 32)) + 1;
    for (int32_t k = 0; k < IH_VERTICES_LEVELS; ++k) {
        l.level[k] = at;
        if (k < l.levels) at += (l.places >> 5 * (k + 1)) + l.rows;
    }
    l.stops = at;
    at += ih_exact_stops_words(f->kind, l.places);
    l.rooms = at;
    most.ky = ih_frame_most_y(f->kind);
    most.kx = ih_frame_most_x(f->kind);
    most.ey = most.ex = 0;
    l.room  = ih_exact_space_words(most) * l.threads;
    l.words = at + l.room * l.blocks;
    return l;
}

/* What the threads of a block share. */
typedef struct exact_team {
    exact_layout layout;
    ih_exact_row row;
    ih_vertices  vertices;
    int32_t      reach[4][THREADS_MOST]; /* low of y, top of y, low of w, top of w */
} exact_team;

IH_DEV int32_t least_of(const int32_t *v, int32_t count)
{
    int32_t least = v[0];
    for (int32_t k = 1; k < count; ++k) least = v[k] < least ? v[k] : least;
    return least;
}

IH_DEV int32_t most_of(const int32_t *v, int32_t count)
{
    int32_t most = v[0];
    for (int32_t k = 1; k < count; ++k) most = v[k] > most ? v[k] : most;
    return most;
}

/* On output team->row and team->vertices are the row at `flat` of n elements, its stops not yet there. */
IH_DEV_SLOW void take_row(const ih_cuda_fit *f, exact_team *team, int64_t row, int64_t flat, int64_t n)
{
    const exact_layout *l = &team->layout;
    const int32_t t = (int32_t)threadIdx.x, threads = (int32_t)blockDim.x;
    const int64_t place = f->offsets ? flat : (int64_t)blockIdx.x * n, number = f->offsets ? row : (int64_t)blockIdx.x;
    ih_reach      y = ih_reach_none(), w = ih_reach_none();

    for (int64_t i = t; i < n; i += threads) {
        ih_reach_value(&y, f->y, flat + i, f->kind);
        if (f->kind & IH_KIND_WEIGHTED) ih_reach_value(&w, f->w, flat + i, f->kind);
    }
    team->reach[0][t] = y.low;
    team->reach[1][t] = y.top;
    team->reach[2][t] = w.low;
    team->reach[3][t] = w.top;
    __syncthreads();
    if (t == 0) {
        const int64_t first = ih_exact_stops_words(f->kind, place), end = ih_exact_stops_words(f->kind, place + n);
        y.low = least_of(team->reach[0], threads);
        y.top = most_of(team->reach[1], threads);
        w.low = least_of(team->reach[2], threads);
        w.top = most_of(team->reach[3], threads);
        team->row            = ih_exact_row_of(ih_cuda_at(f->y, flat, f->kind), f->kind & IH_KIND_WEIGHTED ? ih_cuda_at(f->w, flat, f->kind) : NULL, n,
                                               f->kind, f->sign < 0, y, w);
        team->row.stops      = f->exact + l->stops + first;
        team->row.shift      = ih_exact_shift(team->row.frame, f->kind, n, end - first);
        for (int32_t k = 0; k < l->levels; ++k) team->vertices.level[k] = f->exact + l->level[k] + (place >> 5 * (k + 1)) + number;
    }
    __syncthreads();
}

/* Prefix sums: each thread adds up a range, the ranges are scanned, and each thread puts its stops. */
IH_DEV_SLOW void put_stops(const exact_team *team, ih_exact_space room)
{
    const ih_exact_row *r = &team->row;
    const int32_t       t = (int32_t)threadIdx.x, threads = (int32_t)blockDim.x, weighted = r->kind & IH_KIND_WEIGHTED;
    const int64_t       stops = r->n >> r->shift, each = (stops + threads - 1) / threads;
    const int64_t       from = each * t < stops ? each * t : stops, to = from + each < stops ? from + each : stops;
    const int32_t       busy = each ? (int32_t)((stops + each - 1) / each) : 0;
    int32_t             now  = 0;
    ih_exact_sum        sum  = ih_exact_sum_at(room, r->frame, 0);

    if (stops == 0) return;
    ih_exact_add_stops(r, &sum, from, to, NULL);
    ih_wide_store(&sum.s, sum.s.d, sum.s.step, r->frame.ky);
    if (weighted) ih_wide_store(&sum.w, sum.w.d, sum.w.step, r->frame.kx);
    for (int32_t by = 1; by < busy; by *= 2) { /* from one half of the room into the other */
        const ih_exact_sum a = ih_exact_sum_at(room, r->frame, now), b = ih_exact_sum_at(room, r->frame, now ^ 1);
        ih_wide            s = a.s, w = a.w;
        s.d -= by;
        w.d -= by;
        __syncthreads();
        ih_wide_sum(&b.s, &a.s, t >= by ? &s : NULL, r->frame.ky);
        if (weighted) ih_wide_sum(&b.w, &a.w, t >= by ? &w : NULL, r->frame.kx);
        now ^= 1;
    }
    __syncthreads();
    {
        const ih_exact_sum a = ih_exact_sum_at(room, r->frame, now);
        ih_wide            s = a.s, w = a.w;
        sum = ih_exact_sum_at(room, r->frame, now ^ 1);
        if (t > 0) {
            s.d -= 1;
            w.d -= 1;
            ih_wide_sum(&sum.s, &s, NULL, r->frame.ky);
            ih_wide_trim(&sum.s, r->frame.ky);
            if (weighted) {
                ih_wide_sum(&sum.w, &w, NULL, r->frame.kx);
                ih_wide_trim(&sum.w, r->frame.kx);
            }
        }
    }
    ih_exact_add_stops(r, &sum, from, to, (uint32_t *)r->stops);
    __syncthreads();
}

/* The hull; returns the highest level of bits in use. */
IH_DEV_SLOW int32_t find_hull(const exact_team *team, ih_exact_hull *h)
{
    const int64_t n = team->row.n;
    const int32_t t = (int32_t)threadIdx.x, threads = (int32_t)blockDim.x;
    int32_t       top = 0;

    for (int64_t lane = t; lane <= n / 32; lane += threads) team->vertices.level[0][lane] = ih_exact_lane(h, lane);
    __syncthreads();
    for (int64_t width = 32; width < n; width *= 2) {
        if (ih_vertices_top(2 * width) > top) {
            ++top;
            for (int64_t j = t; j < ih_vertices_words(n, top); j += threads) ih_vertices_build(&team->vertices, n, top, j);
            __syncthreads();
        }
        for (int64_t start = 2 * width * t; start + width < n; start += 2 * width * threads)
            ih_exact_join(h, top, start, start + width, n - start < 2 * width ? n : start + 2 * width);
        __syncthreads();
    }
    for (int32_t level = top; level > 0; --level) {
        for (int64_t j = t; j < ih_vertices_words(n, level); j += threads) ih_vertices_settle(&team->vertices, n, level, j);
        __syncthreads();
    }
    return top;
}

IH_DEV double clipped(const ih_cuda_fit *f, double z) { return z < f->y_min ? f->y_min + 0.0 : z > f->y_max ? f->y_max + 0.0 : z; }

/* z at the first element of each block, then over the others. */
IH_DEV_SLOW int64_t write_values(const ih_cuda_fit *f, const exact_team *team, ih_exact_space room, int32_t top, int64_t flat)
{
    const ih_exact_row *r = &team->row;
    const int32_t       t = (int32_t)threadIdx.x, threads = (int32_t)blockDim.x;
    int64_t             means = 0;

    for (int64_t word = t; word <= (r->n - 1) / 32; word += threads) {
        for (uint32_t bits = team->vertices.level[0][word]; bits; bits &= bits - 1) {
            const int64_t i = 32 * word + ih_bit_low(bits);
            if (i >= r->n) break;
            const int64_t end = ih_vertices_after(&team->vertices, top, i, r->n);
            double        z;
            if (end == i + 1) {
                z = ih_load(r->y, i, r->kind) + 0.0;
            } else {
                const ih_exact_sum sum = ih_exact_sum_of(r, room, 0, i, end);
                z = ih_exact_mean_of(r, &sum, r->kind);
                ++means;
            }
            ih_cuda_store_z(f, flat + i, clipped(f, z), r->kind);
        }
    }
    __syncthreads();
    for (int64_t i = t; i < r->n; i += threads) {
        if (team->vertices.level[0][i / 32] >> (i & 31) & 1u) continue;
        const int64_t first = ih_vertices_up_to(&team->vertices, top, i);
        ih_cuda_store_z(f, flat + i, ih_load(f->z, flat + first, r->kind), r->kind);
    }
    return means;
}

/* Bits of the elements flat .. flat + n - 1; set: of points of the row, NULL: of its first element only. */
IH_DEV_SLOW void write_bits(const ih_cuda_fit *f, const uint32_t *set, int64_t flat, int64_t n)
{
    const int64_t last = (n - 1) / 32;

    for (int64_t word = flat / 32 + (int64_t)threadIdx.x; word <= (flat + n - 1) / 32; word += blockDim.x) {
        const int64_t begin = 32 * word - flat; /* point at bit 0 */
        uint32_t      own = ~0u, bits = 0;
        if (begin < 0) own &= ~0u << -begin;
        if (begin + 32 > n) own &= ~0u >> (begin + 32 - n);
        if (set) {
            const int64_t low = begin >= 0 ? begin / 32 : -1;
            const int32_t shift = (int32_t)(begin & 31);
            if (low >= 0) bits = set[low] >> shift;
            if (shift && low + 1 <= last) bits |= set[low + 1] << (32 - shift);
        } else if (begin <= 0) {
            bits = 1u << -begin;
        }
        if (own == ~0u) {
            f->bits[word] = bits;
        } else { /* rows on both sides write other bits of this word */
            atomicAnd(&f->bits[word], ~own);
            atomicOr(&f->bits[word], bits & own);
        }
    }
}

IH_KERNEL(THREADS_MOST, 1) exact_rows_kernel(IH_CONSTANT ih_cuda_fit f)
{
    ih_follow();
    IH_SHARED(shared);
    const int64_t rows = (int64_t)f.status->given_up;
    ih_exact_space room;

    if (blockIdx.x >= rows) return; /* mostly all: there is no row, and no fault */
    if (blockIdx.x == 0 && threadIdx.x == 0) ih_cuda_find_fault(&f);
    exact_team *team = (exact_team *)shared;
    if (threadIdx.x == 0) team->layout = layout_of(&f);
    __syncthreads();
    room.d    = f.exact + team->layout.rooms + team->layout.room * blockIdx.x + threadIdx.x;
    room.step = (int64_t)blockDim.x;
    for (int64_t k = blockIdx.x; k < rows; k += gridDim.x) {
        const int64_t row = f.list[k], flat = ih_cuda_row_begin(&f, row), n = ih_cuda_row_length(&f, row);
        if (f.state[row] & IH_ROW_FAULT) {
            for (int64_t i = threadIdx.x; i < n; i += blockDim.x) ih_cuda_store_z(&f, flat + i, NAN, f.kind);
            if (f.bits) write_bits(&f, NULL, flat, n);
            continue;
        }
        take_row(&f, team, row, flat, n);
        put_stops(team, room);
        ih_exact_hull hull = { &team->row, &team->vertices, room, 0, 0 };
        const int32_t top   = find_hull(team, &hull);
        const int64_t means = write_values(&f, team, room, top, flat);
        if (f.bits) write_bits(&f, team->vertices.level[0], flat, n);
        if (f.counting && hull.near) atomicAdd((unsigned long long *)&f.status->decisions_filter, (unsigned long long)hull.near);
        if (hull.exact) atomicAdd((unsigned long long *)&f.status->decisions_exact, (unsigned long long)hull.exact);
        if (means) atomicAdd((unsigned long long *)&f.status->roundings_exact, (unsigned long long)means);
        if (threadIdx.x == 0) {
            atomicAdd((unsigned long long *)&f.status->rows_exact, 1ull);
            atomicAdd((unsigned long long *)&f.status->elements_exact, (unsigned long long)n);
        }
        __syncthreads(); /* the team's row is read no more */
    }
}

extern "C" size_t ih_cuda_exact_words(const ih_cuda_fit *f)
{
    const int64_t most = (int64_t)1 << 50; /* far beyond any memory, and nothing overflows below it */
    return f->total > most || f->rows > most ? SIZE_MAX / 4 : (size_t)layout_of(f).words;
}

extern "C" cudaError_t ih_cuda_launch_exact_rows(const ih_cuda_fit *f, cudaStream_t stream)
{
    const exact_layout l = layout_of(f);
    if (l.blocks > 0) IH_LAUNCH_NEXT(exact_rows_kernel, l.blocks, l.threads, sizeof(exact_team), stream, f->overlap, *f);
    return cudaGetLastError();
}
