/* SPDX-License-Identifier: Apache-2.0
 * device_fit.h: one fit, and its gradient, with everything in device memory, enqueued when and where a test wants. */
#ifndef TESTS_DEVICE_FIT_H
#define TESTS_DEVICE_FIT_H

#include "support.h"

#include "../algorithms/cuda/device.h"

typedef struct device_fit {
    const ih_impl    *impl;
    const ih_options *options;
    ih_problem        host, problem; /* arrays in host memory, and in device memory */
    ih_outputs        out;
    void             *ws;
    size_t            ws_bytes;
    ih_gradient       gradient;      /* without g, grad_y and grad_w until device_fit_with_gradient */
    void             *gradient_ws;
    size_t            gradient_ws_bytes;
} device_fit;

/* Allocate and copy; p and o live as long as f. Every output is asked for. */
void device_fit_open(device_fit *f, const ih_impl *impl, const ih_problem *p, const ih_options *o);
void device_fit_with_gradient(device_fit *f, const void *g); /* g in host memory */
void device_fit_close(device_fit *f);

/* Other values of y, in the same place, when the stream gets there; y lives until then. */
void device_fit_set_y(device_fit *f, const void *y, cudaStream_t stream);

/* The calls of the library. */
ih_status device_fit_enqueue(device_fit *f, cudaStream_t stream);
ih_status device_fit_enqueue_gradient(device_fit *f, cudaStream_t stream);

/* After the stream was waited for: status and outputs into r, which is open. */
ih_status device_fit_read(const device_fit *f, fit_result *r);

#endif
