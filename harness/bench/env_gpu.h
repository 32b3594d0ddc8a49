/* SPDX-License-Identifier: Apache-2.0
 * env_gpu.h: the part of a run's manifest that is about a CUDA device, and about the device code of this build. */
#ifndef IH_BENCH_ENV_GPU_H
#define IH_BENCH_ENV_GPU_H

#include "io/fault.h"

#include <jansson.h>

/* NULL, or in words why times of this build's device code mean nothing; NULL too in a build without any. */
const char *env_gpu_refused(void);

/* Hash of the code that runs for a device: the host's part and all kernels. */
const char *env_gpu_code_hash(void);

/* Put "gpu" and "device_code" into the record of a run, and "timing_refused" where it is. A process of its own asks the device:
 * the one that measures is forked later, and CUDA must not have been started before that. Faults as of device_open. */
fault_kind env_gpu_add(json_t *run, int ordinal, fault *f);

#endif
