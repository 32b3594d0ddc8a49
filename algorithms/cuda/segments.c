/* SPDX-License-Identifier: Apache-2.0
 * segments.c: the implementation `segments`: the paper's method and schedule on a CUDA device, canonical. The host side:
 * workspace, launches, status. Nothing here waits for the device but segments_status.
 *
 * Workspace, bytes an element of one long row: slots 10 (18 with weights), prefix sums at every 32nd point 0.5 (1), the exact
 * level at most 1.5 (float32 without weights; exact_rows.cu), 1/8 for the hulls as bits, 0.13 for chunks, 1/8 with block outputs (and their scratch). Short rows
 * take 12 bytes a row and the exact level. */
#include "fit.h"
#include "launch.h"

#include "../common/error.h"
#include "../row/merge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#if defined(IH_PAPER)
#  define SEGMENTS "segments_paper"
#else
#  define SEGMENTS "segments"
#endif

static ih_status device_error(cudaError_t error, const char *what)
{
    const ih_status st = error == cudaErrorMemoryAllocation ? IH_EMEMORY : error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? IH_ENODEVICE : IH_EDEVICE;
    if (error == cudaErrorNoKernelImageForDevice)
        return ih_set_error(IH_ENODEVICE, IH_FAULT_NONE, "stream", -1, -1, SEGMENTS ": this build has no code for the device's architecture (isohull --version lists them)");
    return ih_set_error(st, IH_FAULT_NONE, "stream", -1, -1, SEGMENTS ": %s: %s", what, cudaGetErrorString(error));
}

#define IH_CUDA_TRY(call, what)                            \
    do {                                                   \
        const cudaError_t error_ = (call);                 \
        if (error_ != cudaSuccess) return device_error(error_, what); \
    } while (0)

static ih_status segments_available(void)
{
    static int  known = 0; /* a device that was there once is taken to stay */
    int         count = 0;
    cudaError_t error;

    if (__atomic_load_n(&known, __ATOMIC_RELAXED)) return IH_OK;
    error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        (void)cudaGetLastError();
        if (error == cudaErrorInsufficientDriver) /* its own text speaks of a version where there may be no driver at all */
            return ih_set_error(IH_ENODEVICE, IH_FAULT_NONE, NULL, -1, -1, "there is no CUDA device: no NVIDIA driver, or one too old for CUDA runtime %d.%d",
                                CUDART_VERSION / 1000, CUDART_VERSION % 100 / 10);
        return ih_set_error(IH_ENODEVICE, IH_FAULT_NONE, NULL, -1, -1, "there is no CUDA device%s%s", error != cudaSuccess ? ": " : "",
                            error != cudaSuccess ? cudaGetErrorString(error) : "");
    }
    __atomic_store_n(&known, 1, __ATOMIC_RELAXED);
    return IH_OK;
}

/* ---- workspace ---- */

typedef struct area { char *at; size_t bytes; int overflow; } area;

static void *take(area *a, int64_t count, size_t each)
{
    void  *here = a->at;
    size_t wanted;
    if (count < 0 || __builtin_mul_overflow((size_t)count, each, &wanted) || wanted > SIZE_MAX / 8 || a->bytes > SIZE_MAX / 8) {
        a->overflow = 1;
        return NULL;
    }
    wanted = (wanted + 255) / 256 * 256;
    a->bytes += wanted;
    if (here) a->at += wanted;
    return here;
}

typedef struct plan {
    ih_cuda_fit fit;
    size_t      zeroed;   /* bytes from the begin of the workspace that each fit sets to 0 */
    void       *blocks;   /* scratch of the block outputs                                */
    int         short_rows, long_rows;
} plan;

/* The level from which on a row has so few merges that a block does them, several a warp by threads or one a warp. */
static int32_t tail_of(const ih_cuda_fit *f)
{
    for (int32_t level = 0; level < f->levels; ++level) {
        const int64_t merges = ih_tree_merges(f->row_chunks, level);
        if (merges <= (f->tree_rows * merges < f->thread_merges ? 16 : 64)) return level;
    }
    return f->levels;
}

/* Shapes, and the parts of a workspace (NULL to measure it). */
static ih_status make_plan(plan *q, const ih_problem *p, const ih_options *o, const ih_outputs *out, void *ws, size_t *bytes)
{
    ih_cuda_fit  *f = &q->fit;
    area          a = { ws, 0, 0 };
    const int64_t per_slot = IH_CUDA_CHUNK + 1;
    int32_t       weighted;

    memset(q, 0, sizeof *q);
    f->y             = p->y;
    f->w             = p->w;
    f->z             = out->z;
    f->offsets       = p->offsets;
    f->rows          = p->rows;
    f->n             = p->n;
    f->total         = p->offsets ? p->n : p->rows * p->n;
    f->sign          = p->direction == IH_DECREASING ? -1 : 1;
    f->kind          = (p->dtype == IH_F32 ? IH_KIND_F32 : 0) | (p->w ? IH_KIND_WEIGHTED : 0);
    f->counting      = o->counters != NULL;
    f->y_min         = p->y_min;
    f->y_max         = p->y_max;
    f->walk_cap      = o->walk_cap;
    f->thread_merges = o->thread_merges;
    weighted         = f->kind & IH_KIND_WEIGHTED;
    if (!p->offsets) {
        q->long_rows = p->rows > 0 && p->n > IH_CUDA_CHUNK;
        q->short_rows = p->rows > 0 && p->n > 0 && !q->long_rows;
        if (q->long_rows) {
            f->row_chunks = (p->n + IH_CUDA_CHUNK - 1) / IH_CUDA_CHUNK;
            f->tree_rows  = p->rows;
            f->chunks     = p->rows * f->row_chunks;
            f->levels     = ih_tree_levels(f->row_chunks);
            f->tail       = tail_of(f);
        }
    } else { /* at most: a row with a tree has more than a chunk of elements */
        q->short_rows = p->rows > 0 && p->n > 0;
        q->long_rows  = q->short_rows && p->n > IH_CUDA_CHUNK;
        if (q->long_rows) {
            f->tree_rows = p->n / (IH_CUDA_CHUNK + 1) < p->rows ? p->n / (IH_CUDA_CHUNK + 1) : p->rows;
            f->chunks    = p->n / IH_CUDA_CHUNK + f->tree_rows;
            f->levels    = ih_tree_levels((p->n + IH_CUDA_CHUNK - 1) / IH_CUDA_CHUNK);
            f->tail      = f->levels;
        }
    }
    if (f->row_chunks > INT32_MAX || (p->offsets && f->chunks > INT32_MAX))
        return ih_set_error(IH_EOVERFLOW, IH_FAULT_NONE, "n", -1, -1, "n: a row may have at most 2^31 chunks of %d elements", IH_CUDA_CHUNK);

    f->status = take(&a, 1, sizeof *f->status);
    f->state  = take(&a, f->total > 0 ? p->rows : 0, sizeof *f->state);
    if (out->block_offsets) f->bits = take(&a, (f->total + 31) / 32, sizeof *f->bits);
    q->zeroed = a.bytes;
    f->list   = take(&a, f->total > 0 ? p->rows : 0, sizeof *f->list);
    if (p->offsets) {
        f->short_rows = take(&a, p->rows, sizeof *f->short_rows);
        f->row_tiles  = take(&a, p->rows / 1024 + 1, 8 * sizeof *f->row_tiles);
        f->tree       = take(&a, f->tree_rows, sizeof *f->tree);
        f->chunk_row  = take(&a, f->chunks, sizeof *f->chunk_row);
    }
    f->record  = take(&a, f->chunks, sizeof *f->record);
    f->tile    = take(&a, f->chunks ? (f->chunks + 255) / 256 : 0, IH_CUDA_TILE_BYTES);
    f->segment = take(&a, f->chunks, sizeof *f->segment);
    f->hull    = take(&a, f->chunks, 32 * sizeof *f->hull);
    f->length  = take(&a, f->chunks, sizeof *f->length);
    f->edge    = take(&a, f->chunks, sizeof *f->edge);
#if !defined(IH_PAPER)
    f->stop    = take(&a, f->chunks, (size_t)(weighted ? 2 : 1) * (IH_CUDA_CHUNK / IH_CUDA_STOP) * sizeof *f->stop);
#endif
    f->slot_at = take(&a, f->chunks, (size_t)per_slot * sizeof *f->slot_at);
    f->slot_y  = take(&a, f->chunks, (size_t)per_slot * sizeof *f->slot_y);
    f->slot_x  = weighted ? take(&a, f->chunks, (size_t)per_slot * sizeof *f->slot_x) : NULL;
    f->exact_words = ih_cuda_exact_words(f);
    f->exact       = take(&a, (int64_t)f->exact_words, sizeof *f->exact);
    if (out->block_offsets) q->blocks = take(&a, (int64_t)ih_cuda_blocks_scratch(f->total, p->rows, out), 1);
    *bytes = a.bytes;
    if (a.overflow) return ih_set_error(IH_EOVERFLOW, IH_FAULT_NONE, "rows", -1, -1, "rows: the workspace of %lld rows overflows", (long long)p->rows);
    return IH_OK;
}

static ih_status segments_workspace_bytes(const ih_problem *p, const ih_options *o, const ih_outputs *out, size_t *bytes)
{
    plan q;
    return make_plan(&q, p, o, out, NULL, bytes);
}

/* ---- fit ---- */

static void stage(const ih_options *o, const char *name, int32_t level, int32_t begin, void *stream)
{
    if (o->hook) o->hook(o->hook_user, name, level, begin, stream);
}

/* Multiprocessors of the current device; and whether its kernels may overlap: from compute capability 9.0 on. */
static ih_status device_of(int *processors, int32_t *overlap)
{
    int device, major;
    IH_CUDA_TRY(cudaGetDevice(&device), "device");
    IH_CUDA_TRY(cudaDeviceGetAttribute(processors, cudaDevAttrMultiProcessorCount, device), "device");
    IH_CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "device");
    *overlap = major >= 9;
    return IH_OK;
}

static ih_status segments_fit(const ih_problem *p, const ih_options *o, const ih_outputs *out, void *ws, size_t ws_bytes, void *stream)
{
    const cudaStream_t s = stream;
    plan               q;
    size_t             bytes;
    int                processors;
    ih_status          st = make_plan(&q, p, o, out, ws, &bytes);

    (void)ws_bytes;
    if (st == IH_OK) st = device_of(&processors, &q.fit.overlap);
    if (st != IH_OK) return st;
    IH_CUDA_TRY(cudaMemsetAsync(ws, 0, q.zeroed, s), "memset");
    stage(o, "chunk", 0, 1, stream);
    if (p->offsets) IH_CUDA_TRY(ih_cuda_launch_ragged(&q.fit, s), "ragged");
    if (q.short_rows) IH_CUDA_TRY(ih_cuda_launch_rows(&q.fit, processors, s), "rows");
    if (q.long_rows) IH_CUDA_TRY(ih_cuda_launch_chunk(&q.fit, s), "chunk");
    stage(o, "chunk", 0, 0, stream);
    if (q.long_rows) {
        stage(o, "scan", 0, 1, stream);
        IH_CUDA_TRY(ih_cuda_launch_scan(&q.fit, s), "scan");
        stage(o, "scan", 0, 0, stream);
        for (int32_t level = 0; level < q.fit.tail; ++level) {
            stage(o, "merge", level, 1, stream);
            IH_CUDA_TRY(ih_cuda_launch_merge(&q.fit, level, s), "merge");
            stage(o, "merge", level, 0, stream);
        }
        if (q.fit.tail < q.fit.levels) { /* its levels count as one stage */
            stage(o, "merge", q.fit.tail, 1, stream);
            IH_CUDA_TRY(ih_cuda_launch_tail(&q.fit, s), "tail");
            stage(o, "merge", q.fit.tail, 0, stream);
        }
        stage(o, "reconstruct", 0, 1, stream);
        IH_CUDA_TRY(ih_cuda_launch_write(&q.fit, s), "write");
        stage(o, "reconstruct", 0, 0, stream);
    }
    stage(o, "exact", 0, 1, stream);
    IH_CUDA_TRY(ih_cuda_launch_exact_rows(&q.fit, s), "exact rows");
    stage(o, "exact", 0, 0, stream);
    if (out->block_offsets) {
        stage(o, "blocks", 0, 1, stream);
        IH_CUDA_TRY(ih_cuda_launch_blocks(&q.fit, out, q.blocks, s), "blocks");
        stage(o, "blocks", 0, 0, stream);
    }
    return IH_OK;
}

/* ---- status ---- */

static ih_status fault_error(const ih_problem *p, const ih_cuda_status *s)
{
    static const char *const arguments[] = { "y", "w", "g", "offsets" };
    static const char *const words[] = { "fault", "NaN", "infinity", "weight of zero", "negative weight", "bounds", "offsets do not rise from 0 to the length of y" };
    const uint64_t key      = ~s->fault;
    const int32_t  argument = (int32_t)(key >> 3 & 7), fault = (int32_t)(key & 7);
    const int64_t  flat     = (int64_t)(key >> 6);
    int64_t        row = s->fault_row, index = p->offsets ? flat - s->fault_begin : p->n > 0 ? flat % p->n : 0;

    if (argument == IH_ARGUMENT_OFFSETS) row = flat, index = -1;
    else if (!p->offsets && p->n > 0) row = flat / p->n;
    return ih_set_error(argument == IH_ARGUMENT_OFFSETS ? IH_EARGUMENT : IH_EDATA, fault, arguments[argument & 3], row, index,
                        index < 0 ? "%s: %s at %lld" : "%s: %s at row %lld, index %lld", arguments[argument & 3], words[fault < 7 ? fault : 0], (long long)row, (long long)index);
}

static void add_counters(ih_counters *c, const ih_cuda_status *s)
{
    c->decisions_filter += (int64_t)s->decisions_filter;
    c->decisions_pair += (int64_t)s->decisions_pair;
    c->decisions_exact += (int64_t)s->decisions_exact;
    c->roundings_filter += (int64_t)s->roundings_filter;
    c->roundings_pair += (int64_t)s->roundings_pair;
    c->roundings_exact += (int64_t)s->roundings_exact;
    c->elements_exact += (int64_t)s->elements_exact;
    c->rows_exact += (int64_t)s->rows_exact;
    c->chunks += (int64_t)s->chunks;
    c->vertices[1] += (int64_t)s->vertices_chunks;
    c->walks += (int64_t)s->walks;
    c->walk_steps += (int64_t)s->walk_steps;
    c->walks_capped += (int64_t)s->walks_capped;
    c->searches += (int64_t)s->searches;
    c->lane_walks += (int64_t)s->lane_walks;
    c->lane_walk_steps += (int64_t)s->lane_walk_steps;
}

static ih_status segments_status(const ih_problem *p, const ih_options *o, const void *ws, size_t ws_bytes)
{
    ih_cuda_status s;

    if (ws_bytes < sizeof s) return ih_set_error(IH_EWORKSPACE, IH_FAULT_NONE, "workspace", -1, -1, "workspace: %zu bytes are no workspace of a fit", ws_bytes);
    IH_CUDA_TRY(cudaMemcpy(&s, ws, sizeof s, cudaMemcpyDeviceToHost), "status");
    if (o->counters) {
        add_counters(o->counters, &s);
        if (!p->offsets && p->n > IH_CUDA_CHUNK && o->counters->levels < ih_tree_levels((p->n + IH_CUDA_CHUNK - 1) / IH_CUDA_CHUNK))
            o->counters->levels = ih_tree_levels((p->n + IH_CUDA_CHUNK - 1) / IH_CUDA_CHUNK);
    }
    return s.fault ? fault_error(p, &s) : IH_OK;
}

/* ---- gradient ---- */

static ih_status segments_backward_bytes(const ih_problem *p, const ih_options *o, const ih_gradient *g, size_t *bytes)
{
    (void)o;
    *bytes = ih_cuda_backward_bytes(p, g);
    return IH_OK;
}

static ih_status segments_backward(const ih_problem *p, const ih_options *o, const ih_gradient *g, void *ws, size_t ws_bytes, void *stream)
{
    (void)ws_bytes;
    stage(o, "backward", 0, 1, stream);
    IH_CUDA_TRY(ih_cuda_launch_backward(p, g, ws, stream), "backward");
    stage(o, "backward", 0, 0, stream);
    return IH_OK;
}

#if defined(IH_PAPER)
const ih_impl ih_impl_segments_paper = {
    .section = "3, 5, B", .summary = "segments with the paper's own predicates and sums, approximate",
#else
const ih_impl ih_impl_segments = {
    .section = "3, 5", .summary = "lower hulls merged as segment lists on a CUDA device, canonical",
#endif
    .size = sizeof(ih_impl), .abi_version = IH_ABI_VERSION, .name = SEGMENTS, .device = IH_DEVICE_CUDA,
#if !defined(IH_PAPER)
    .features = IH_CANONICAL |
#else
    .features =
#endif
        IH_HAS_F32 | IH_HAS_F64 | IH_HAS_WEIGHTS | IH_HAS_RAGGED | IH_HAS_BLOCKS | IH_HAS_BOUNDS | IH_HAS_GRADIENT | IH_CHECKS_DATA,
    .options = IH_OPT_WALK_CAP | IH_OPT_THREAD_MERGES,
    .available = segments_available, .workspace_bytes = segments_workspace_bytes, .fit = segments_fit, .status = segments_status,
    .backward_workspace_bytes = segments_backward_bytes, .backward = segments_backward,
};
