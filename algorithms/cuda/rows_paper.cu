/* SPDX-License-Identifier: Apache-2.0
 * rows_paper.cu: rows.cu with the paper's own predicates and sums. */
#include "../paper/names.h"

#include "rows.cu"
