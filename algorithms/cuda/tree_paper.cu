/* SPDX-License-Identifier: Apache-2.0
 * tree_paper.cu: tree.cu with the paper's own predicates and sums. */
#include "../paper/names.h"

#include "tree.cu"
