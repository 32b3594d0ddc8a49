/* SPDX-License-Identifier: Apache-2.0
 * chunk_paper.cu: chunk.cu with the paper's own predicates and sums. */
#include "../paper/names.h"

#include "chunk.cu"
