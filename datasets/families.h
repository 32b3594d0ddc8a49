/* SPDX-License-Identifier: Apache-2.0
 * families.h: what families, weightings and laws of row lengths there are, as tables. */
#ifndef IH_DATASETS_FAMILIES_H
#define IH_DATASETS_FAMILIES_H

#include "datasets/elements.h"

typedef enum ih_ragged {
#define IH_RAGGED(id, summary) IH_RAGGED_##id,
#include "datasets/ragged.def"
#undef IH_RAGGED
    IH_RAGGED_COUNT
} ih_ragged;

typedef struct ih_parameter_info {
    const char *name;
    double      initial, least, most;
    int32_t     whole; /* only whole numbers */
    const char *summary;
} ih_parameter_info;

typedef struct ih_family_info {
    const char       *name, *summary;
    ih_parameter_info parameter[IH_MAX_PARAMETERS]; /* behind the last one the name is NULL */
} ih_family_info;

typedef struct ih_name_info {
    const char *name, *summary;
} ih_name_info;

/* k from 0 below IH_FAMILY_COUNT, IH_WEIGHTING_COUNT, IH_RAGGED_COUNT; NULL outside. */
const ih_family_info *ih_family_at(int32_t k);
const ih_name_info   *ih_weighting_at(int32_t k);
const ih_name_info   *ih_ragged_at(int32_t k);

#endif
