/* SPDX-License-Identifier: Apache-2.0
 * write_paper.cu: write.cu with the paper's own predicates and sums. */
#include "../paper/names.h"

#include "write.cu"
