/* SPDX-License-Identifier: Apache-2.0
 * segments_paper.c: the implementation `segments_paper`: `segments` with the paper's own predicates and sums, approximate: what
 * canonical fits cost is the ratio of their times. Its workspace has no prefix sums and no exact level. */
#include "../paper/names.h"

#include "segments.c"
