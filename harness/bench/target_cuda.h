/* SPDX-License-Identifier: Apache-2.0
 * target_cuda.h: what only the target of CUDA devices can do. */
#ifndef IH_BENCH_TARGET_CUDA_H
#define IH_BENCH_TARGET_CUDA_H

#include "target.h"

#include "io/array.h"

/* open with the canonical z given (of the shape of y), so that no referee has to find it: digest and gradients are then out of
 * reach. t: of target_cuda. */
fault_kind target_cuda_open_given(target *t, const ih_spec *spec, const array *z_want, problem_info *info, fault *f);

#endif
