/* SPDX-License-Identifier: Apache-2.0
 * team.c: starts threads that wait for each other, to see how many there can be at once. */
#include "team.h"

#ifdef _OPENMP
#  include <omp.h>
#  include <pthread.h>
#  include <stdlib.h>

static void *wait_for_all(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/* How many of `count` threads can live at once beside this one. */
static int32_t start_and_end(int32_t count)
{
    pthread_mutex_t gate    = PTHREAD_MUTEX_INITIALIZER;
    pthread_t      *threads = malloc((size_t)count * sizeof *threads);
    int32_t         started = 0;

    if (!threads) return 0;
    pthread_mutex_lock(&gate);
    while (started < count && pthread_create(&threads[started], NULL, wait_for_all, &gate) == 0) ++started;
    pthread_mutex_unlock(&gate);
    for (int32_t t = 0; t < started; ++t) pthread_join(threads[t], NULL);
    free(threads);
    return started;
}

int32_t ih_team_size(int32_t wanted)
{
    static _Thread_local int32_t tried = 1; /* the largest team that could be started */
    int32_t                      started;

    if (wanted <= tried || omp_get_active_level() >= omp_get_max_active_levels()) return wanted; /* there a team is one thread */
    started = start_and_end(wanted - 1);
    if (started < wanted - 1) return 1 + started / 2; /* what is left to others, and to the runtime's own memory */
    tried = wanted;
    return wanted;
}
#endif
