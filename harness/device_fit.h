/* SPDX-License-Identifier: Apache-2.0
 * device_fit.h: one fit on a CUDA device of a problem in host memory. */
#ifndef IH_HARNESS_DEVICE_FIT_H
#define IH_HARNESS_DEVICE_FIT_H

#include "device.h"

/* Copy in, fit, wait, ask for the status, copy back what `out` (in host memory: z, and block_offsets with block_starts or
 * neither) wants. *status is the library's answer, with its text in the last error. A fault is one of the device: memory
 * that ran out, a call that failed. */
fault_kind device_fit(device *d, const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_outputs *out, ih_status *status, fault *f);

#endif
