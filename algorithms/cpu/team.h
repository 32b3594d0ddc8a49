/* SPDX-License-Identifier: Apache-2.0
 * team.h: how many threads can be started. OpenMP runtimes end the process when they cannot start one (a limit of
 * processes or of memory); a library must not, so a team is tried with plain threads before it is asked for. */
#ifndef IH_CPU_TEAM_H
#define IH_CPU_TEAM_H

#include <stdint.h>

#ifdef _OPENMP
/* `wanted`, or fewer if so many cannot be started; at least 1. Tried once for each thread that calls and larger team. */
int32_t ih_team_size(int32_t wanted);
#else
static inline int32_t ih_team_size(int32_t wanted)
{
    (void)wanted;
    return 1;
}
#endif

#endif
