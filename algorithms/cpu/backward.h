/* SPDX-License-Identifier: Apache-2.0
 * backward.h: the backward pass of every CPU implementation: the gradient depends on the blocks alone. */
#ifndef IH_CPU_BACKWARD_H
#define IH_CPU_BACKWARD_H

#include "isohull.h"

/* Members of ih_impl with IH_HAS_GRADIENT. No workspace is needed; nothing is allocated. */
ih_status ih_cpu_backward_workspace_bytes(const ih_problem *p, const ih_options *o, const ih_gradient *gradient, size_t *bytes);
ih_status ih_cpu_backward(const ih_problem *p, const ih_options *o, const ih_gradient *gradient, void *ws, size_t ws_bytes, void *stream);

#endif
