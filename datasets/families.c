/* SPDX-License-Identifier: Apache-2.0
 * families.c: the tables behind families.h, read from the .def files. */
#include "datasets/families.h"

#define IH_NO_PARAMETERS { NULL, 0, 0, 0, 0, NULL }
#define IH_PARAMETER(id, initial, least, most, whole, summary) { #id, initial, least, most, whole, summary }
#define IH_FAMILY(id, summary, ...) { #id, summary, { __VA_ARGS__ } },
static const ih_family_info families[] = {
#include "datasets/families.def"
};
#undef IH_FAMILY

const ih_family_info *ih_family_at(int32_t k) { return k >= 0 && k < IH_FAMILY_COUNT ? &families[k] : NULL; }

static const ih_name_info weightings[] = {
#define IH_WEIGHTING(id, summary) { #id, summary },
#include "datasets/weightings.def"
#undef IH_WEIGHTING
};

const ih_name_info *ih_weighting_at(int32_t k) { return k >= 0 && k < IH_WEIGHTING_COUNT ? &weightings[k] : NULL; }

static const ih_name_info laws[] = {
#define IH_RAGGED(id, summary) { #id, summary },
#include "datasets/ragged.def"
#undef IH_RAGGED
};

const ih_name_info *ih_ragged_at(int32_t k) { return k >= 0 && k < IH_RAGGED_COUNT ? &laws[k] : NULL; }
