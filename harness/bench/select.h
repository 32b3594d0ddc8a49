/* SPDX-License-Identifier: Apache-2.0
 * select.h: which implementations and problems a command of the laboratory was asked for, by name or by preset. */
#ifndef IH_BENCH_SELECT_H
#define IH_BENCH_SELECT_H

#include "io/fault.h"

#include <isohull.h>

typedef struct selection {
    char **impls;    /* [n_impls] canonical texts of implementations    */
    int    n_impls;
    char **problems; /* [n_problems] canonical problem strings          */
    int    n_problems;
} selection;

/* Presets: names and what is in them; NULL out of range. */
typedef struct select_preset { const char *name, *summary; } select_preset;
const select_preset *select_preset_at(int k);

/* What is asked for, each once, in the order in which it is named first.
 *   device    of the implementations
 *   impls     texts of implementations, each possibly several separated by commas, ended by NULL; none: all of the device
 *   problems  problem strings, ended by NULL; more of them come from the preset (or NULL)
 * The fault names what is unknown. */
fault_kind select_make(selection *out, ih_device device, const char *const *impls, const char *const *problems, const char *preset, fault *f);
void       select_free(selection *s);

#endif
