/* SPDX-License-Identifier: Apache-2.0
 * cuda_call.h: an implementation made ready for a problem on a CUDA device: what one call of it is, enqueued by the host or
 * launched as a captured graph. */
#ifndef IH_BENCH_CUDA_CALL_H
#define IH_BENCH_CUDA_CALL_H

#include "cuda_data.h"

typedef struct cuda_call {
    char           text[256]; /* as in the record                                */
    work_kind      work;
    call_kind      kind;
    const ih_impl *impl;
    ih_options     options;
    void          *ws;        /* large enough for everything that is done with it */
    size_t         ws_bytes;  /* of ws                                            */
    size_t         work_bytes; /* that the work needs                             */
    device_graph  *graph;     /* kind CALL_GRAPH                                  */
} cuda_call;

/* Ready c's implementation on the open problem. Where it cannot do this: FAULT_NONE, c->status CELL_UNSUPPORTED and c->why. */
fault_kind cuda_call_make(cuda_call *call, cuda_data *s, cell_record *c, fault *f);
void       cuda_call_free(cuda_call *call, cuda_data *s);

/* Enqueue one call of the work on the stream. */
fault_kind cuda_call_enqueue(cuda_call *call, cuda_data *s, fault *f);

/* Enqueue by the host, with options of its own (hook, counters). */
fault_kind cuda_call_direct(const cuda_call *call, cuda_data *s, const ih_options *options, fault *f);

/* One fit with blocks, and whether the data were right; waits. */
fault_kind cuda_call_fit_blocks(const cuda_call *call, cuda_data *s, const ih_options *options, fault *f);

#endif
