/* SPDX-License-Identifier: Apache-2.0
 * hulls_plan.c: shapes of a fit by cpu_hulls and the layout of its workspace.
 *
 * Bytes an element of a row that has a tree, C = 1024: positions of vertices 2 (4 if C > 65535), prefix sums 1 (2 with
 * weights), records, lists and edges of its chunk (116 bytes) 0.11; all of it depends on the shape only, dense hulls take
 * the same. Each thread has prefix sums and masks of one chunk, and counts. Rows of one chunk need nothing else. */
#include "hulls.h"

#include "../common/error.h"

#ifdef _OPENMP
#  include <omp.h>
#endif

enum { DEFAULT_CHUNK = 1024 };

static int32_t wanted_threads(const ih_options *o)
{
#ifdef _OPENMP
    return o->threads > 0 ? o->threads : omp_get_max_threads();
#else
    (void)o;
    return 1;
#endif
}

void hulls_shape(hulls *h, const ih_problem *p, const ih_options *o, const ih_outputs *out)
{
    const int64_t most_chunks = (int64_t)1 << 30; /* of a row: chunk numbers of a segment are 32 bits */
    int64_t       total = 0;

    memset(h, 0, sizeof *h);
    h->p       = p;
    h->o       = o;
    h->out     = out;
    h->kind    = (p->dtype == IH_F32 ? IH_KIND_F32 : 0) | (p->w ? IH_KIND_WEIGHTED : 0);
    h->longest = p->rows == 0 ? 0 : p->offsets ? 0 : p->n;
    if (p->offsets)
        for (int64_t r = 0; r < p->rows; ++r)
            if (ih_row_length(p, r) > h->longest) h->longest = ih_row_length(p, r);
    h->size = o->chunk > 0 ? o->chunk : DEFAULT_CHUNK;
    if (h->size > h->longest) h->size = h->longest > 0 ? (int32_t)h->longest : 1;
    if (h->longest / h->size >= most_chunks) h->size = (int32_t)(h->longest / most_chunks + 1);
    h->wide = h->size > UINT16_MAX;
    if (!p->offsets) {
        const int64_t m = hulls_row_chunks(h, p->n);
        if (p->rows > 0 && m > 1) {
            h->rows    = p->rows;
            h->chunks  = p->rows * m;
            h->entries = h->chunks + p->rows * p->n;
        }
        total = p->rows * p->n;
    } else {
        for (int64_t r = 0; r < p->rows; ++r) {
            const int64_t n = ih_row_length(p, r), m = hulls_row_chunks(h, n);
            if (m <= 1) continue;
            ++h->rows;
            h->chunks += m;
            h->entries += n + m;
        }
        total = p->n;
    }
    h->levels  = h->rows ? ih_tree_levels(hulls_row_chunks(h, h->longest)) : 0;
    h->threads = wanted_threads(o);
    /* starting a thread takes as long as some 16 thousand elements; who asks for more may have them, for a unit of work each */
    if (o->threads <= 0 && h->threads > total / 16384 + 1) h->threads = (int32_t)(total / 16384 + 1);
    if (h->threads > h->chunks + p->rows - h->rows) h->threads = (int32_t)(h->chunks + p->rows - h->rows);
    if (h->threads < 1) h->threads = 1;
}

static void *take(char **at, size_t *bytes, size_t wanted)
{
    void *here = *at;
    wanted     = (wanted + 63) / 64 * 64; /* parts begin at cache lines */
    *bytes += wanted;
    if (here) *at += wanted;
    return here;
}

/* Parts of the workspace (NULL to measure it). Returns its bytes. */
size_t hulls_layout(hulls *h, void *ws)
{
    const size_t weighted = h->kind & IH_KIND_WEIGHTED ? 2 : 1, m = (size_t)h->chunks, points = (size_t)h->size + 1;
    const size_t lanes = ((size_t)h->size + 31) / 32, stops = ((size_t)h->size + IH_STOP_STRIDE - 1) / IH_STOP_STRIDE;
    char        *at    = ws;
    size_t       bytes = 0;

    h->scratch_bytes = (points * 2 * weighted * sizeof(double) + 2 * lanes * sizeof(uint32_t) + 127) / 128 * 128;
    h->worker        = take(&at, &bytes, (size_t)h->threads * sizeof *h->worker);
    h->scratch       = take(&at, &bytes, (size_t)h->threads * h->scratch_bytes);
    h->row           = take(&at, &bytes, (size_t)h->rows * sizeof *h->row);
    h->record        = take(&at, &bytes, m * sizeof *h->record);
    h->segment       = take(&at, &bytes, m * sizeof *h->segment);
    h->length        = take(&at, &bytes, m * sizeof *h->length);
    h->rank          = take(&at, &bytes, m * sizeof *h->rank);
    h->edge          = take(&at, &bytes, m * sizeof *h->edge);
    h->stop          = take(&at, &bytes, m * stops * weighted * sizeof *h->stop);
    h->slot          = take(&at, &bytes, (size_t)h->entries * (h->wide ? 4 : 2));
    return bytes;
}

/* Fill in the rows that have a tree. */
void hulls_list_rows(hulls *h)
{
    int64_t k = 0, chunk0 = 0, entries = 0;

    for (int64_t r = 0; h->rows && r < h->p->rows; ++r) {
        const int64_t n = ih_row_length(h->p, r), m = hulls_row_chunks(h, n);
        hulls_row    *row;
        if (m <= 1) continue;
        row = &h->row[k++];
        memset(row, 0, sizeof *row);
        row->row     = r;
        row->n       = n;
        row->chunk0  = chunk0;
        row->chunks  = m;
        row->entries = entries;
        chunk0 += m;
        entries += n + m;
    }
}

const hulls_row *hulls_row_of_chunk(const hulls *h, int64_t chunk)
{
    int64_t lo = 0, hi = h->rows;
    if (!h->p->offsets) return &h->row[chunk / h->row[0].chunks];
    while (hi - lo > 1) {
        const int64_t mid = lo + (hi - lo) / 2;
        if (h->row[mid].chunk0 <= chunk) lo = mid;
        else hi = mid;
    }
    return &h->row[lo];
}
