/* SPDX-License-Identifier: Apache-2.0
 * scan_paper.cu: scan.cu with the paper's own predicates and sums. */
#include "../paper/names.h"

#include "scan.cu"
