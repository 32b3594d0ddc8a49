/* SPDX-License-Identifier: Apache-2.0
 * serve.h: requests of docs/peers.md, answered by an implementation on a CUDA device. */
#ifndef IH_BENCH_SERVE_H
#define IH_BENCH_SERVE_H

#include <jansson.h>

/* Until standard input ends. impl: canonical text; run: what "manifest" is answered with. Returns the exit code. */
int serve(const char *impl, int ordinal, const json_t *run);

#endif
