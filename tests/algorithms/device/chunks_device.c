/* SPDX-License-Identifier: Apache-2.0
 * chunks_device.c: chunks.h on a device: masks by a warp, and the store of a row by the kernels of chunk stage and scan, in memory that
 * host and device share. */
#include "remote.h"

#include "chunks.h"
#include "cuda/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int32_t chunk_masks_of(chunk_masks *m, const ih_values *v, int64_t begin, int32_t n, diagram *d)
{
    remote_chunk_result r;

    (void)d;
    memset(m, 0, sizeof *m);
    if (!remote_chunk(v, begin, n, &r)) return 0;
    memcpy(m->lane, r.lane, sizeof m->lane);
    memcpy(m->mask, r.mask, sizeof m->mask);
    m->undecided = r.undecided;
    for (int l = 0; l < 32; ++l) {
        m->turns += r.turns[l];
        m->walk.walks += r.walk[l].walks;
        m->walk.steps += r.walk[l].steps;
        if (r.walk[l].excess > m->walk.excess) m->walk.excess = r.walk[l].excess;
    }
    return 1;
}

static void *shared(chunked *c, size_t bytes) { return c->memory[c->memories++] = remote_memory(bytes); }

static void *shared_copy(chunked *c, const void *from, size_t bytes)
{
    return from ? memcpy(shared(c, bytes), from, bytes) : NULL;
}

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

/* One row; j is not asked, size is that of the device and wide has no meaning there. */
void chunked_open(chunked *c, ih_judge *j, const ih_values *v, int64_t n, int32_t size, int32_t wide)
{
    const size_t item = v->kind & IH_KIND_F32 ? sizeof(float) : sizeof(double), m = (size_t)((n + IH_CUDA_CHUNK - 1) / IH_CUDA_CHUNK);
    const int    weighted = (v->kind & IH_KIND_WEIGHTED) != 0;
    ih_store    *s = &c->store;
    ih_cuda_fit  f;

    (void)j, (void)size, (void)wide;
    memset(c, 0, sizeof *c);
    memset(&f, 0, sizeof f);
    f.y             = shared_copy(c, v->y, (size_t)n * item);
    f.w             = shared_copy(c, v->w, (size_t)n * item);
    f.rows          = 1;
    f.n             = n;
    f.total         = n;
    f.sign          = v->sign;
    f.kind          = v->kind;
    f.walk_cap      = 64;
    f.thread_merges = 256;
    f.status        = shared(c, sizeof *f.status);
    f.state         = shared(c, sizeof *f.state);
    f.list          = shared(c, sizeof *f.list);
    f.tree_rows     = 1;
    f.chunks        = (int64_t)m;
    f.row_chunks    = (int64_t)m;
    f.levels        = ih_tree_levels((int64_t)m);
    f.record        = shared(c, m * sizeof *f.record);
    f.tile          = shared(c, (m / 256 + 1) * IH_CUDA_TILE_BYTES);
    f.segment       = shared(c, m * sizeof *f.segment);
    f.hull          = shared(c, m * 32 * sizeof *f.hull);
    f.length        = shared(c, m * sizeof *f.length);
    f.edge          = shared(c, m * sizeof *f.edge);
    f.stop          = shared(c, m * (size_t)(weighted ? 2 : 1) * (IH_CUDA_CHUNK / IH_CUDA_STOP) * sizeof *f.stop);
    f.slot_at       = shared(c, m * (IH_CUDA_CHUNK + 1) * sizeof *f.slot_at);
    f.slot_y        = shared(c, m * (IH_CUDA_CHUNK + 1) * sizeof *f.slot_y);
    if (weighted) f.slot_x = shared(c, m * (IH_CUDA_CHUNK + 1) * sizeof *f.slot_x);
    must(ih_cuda_launch_chunk(&f, NULL), "chunk");
    must(ih_cuda_launch_scan(&f, NULL), "scan");
    must(cudaDeviceSynchronize(), "chunk and scan");
    c->given_up    = f.status->given_up != 0;
    c->segments    = f.segment;
    s->values      = *v;
    s->values.y    = f.y;
    s->values.w    = f.w;
    s->n           = n;
    s->chunks      = (int64_t)m;
    s->size        = IH_CUDA_CHUNK;
    s->at          = f.slot_at;
    s->y           = f.slot_y;
    s->x           = f.slot_x;
    s->stops       = f.stop;
    s->records     = f.record;
}

void chunked_close(chunked *c)
{
    for (int k = 0; k < c->memories; ++k) remote_free(c->memory[k]);
    memset(c, 0, sizeof *c);
}

int64_t chunked_vertices(const chunked *c, const ih_segment *list, int64_t count, int64_t *vertices)
{
    int64_t n = 0;
    for (int64_t k = 0; k < count; ++k)
        for (int32_t v = list[k].first; v <= list[k].last; ++v) vertices[n++] = ih_store_index(&c->store, &list[k], v);
    return n;
}
