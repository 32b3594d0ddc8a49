/* SPDX-License-Identifier: Apache-2.0
 * cuda_data.h: one problem on a CUDA device: inputs, outputs, what they are compared with, and the gradient's arrays. */
#ifndef IH_BENCH_CUDA_DATA_H
#define IH_BENCH_CUDA_DATA_H

#include "device.h"
#include "problem_load.h"
#include "target.h"

typedef struct cuda_data {
    device        *d;
    problem_arrays arrays;    /* in host memory                                                        */
    ih_problem     host;      /* over them                                                             */
    int64_t        elements;
    size_t         item;      /* bytes of an element                                                   */
    int64_t       *starts, *offsets, blocks; /* of the canonical fit, in host memory; NULL: not known   */
    /* on the device */
    ih_problem     problem;
    void          *y, *w, *row_offsets, *z, *z_want;
    int64_t       *block_starts, *block_offsets; /* outputs; NULL until cuda_data_blocks              */
    void          *g, *grad, *grad_want;         /* NULL until cuda_data_gradient                     */
    double         grad_tolerance;               /* how far two right gradients may be apart          */
} cuda_data;

/* Generate or read the problem, fit it by the referee, bring all to the device. */
fault_kind cuda_data_open(cuda_data *s, device *d, const ih_spec *spec, problem_info *info, fault *f);

/* The same with the canonical z given, of the shape of y: blocks are then not known and gradients not possible. */
fault_kind cuda_data_open_given(cuda_data *s, device *d, const ih_spec *spec, const array *z_want, fault *f);

fault_kind cuda_data_blocks(cuda_data *s, fault *f);   /* make block_starts and block_offsets */

/* Make g (uniform in [-1, 1), the same for all), the gradient in y and what it should be, by the CPU's default. */
fault_kind cuda_data_gradient(cuda_data *s, fault *f);

void cuda_data_close(cuda_data *s);

#endif
