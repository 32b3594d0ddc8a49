/* SPDX-License-Identifier: Apache-2.0
 * nvml.h: clocks, power, temperature and throttle reasons of a GPU, read through the driver's NVML, which is looked for when
 * it is first needed and never required. Nothing is ever set. */
#ifndef IH_BENCH_NVML_H
#define IH_BENCH_NVML_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

typedef struct nvml nvml;

/* NULL if it is not there, with the reason. uuid: of the GPU, "GPU-..."; "" takes the one numbered `ordinal`. */
nvml *nvml_open(const char *uuid, int ordinal, char *why, size_t why_bytes);
void  nvml_close(nvml *n); /* takes NULL */

/* Reasons for lowered clocks that make a sample not count: heat, and the brake of power supply or board. That clocks follow a
 * power limit set for the card, or an idle GPU, is recorded, but the way some cards always run. */
int nvml_throttled(const nvml *n); /* 0 for NULL */

/* Object of numbers: sm_mhz, memory_mhz, power_w, temperature_c, throttle_reasons (bits of NVML); what cannot be read is absent.
 * NULL for NULL. */
json_t *nvml_state(const nvml *n);

/* What does not change: driver (text), sm_mhz_max, memory_mhz_max, power_limit_w, persistence. NULL for NULL. */
json_t *nvml_constants(const nvml *n);

#endif
