/* SPDX-License-Identifier: Apache-2.0
 * judge.h: what the shared code takes as a judge of turns: here it only counts, for nothing stays undecided. */
#ifndef IH_PAPER_JUDGE_H
#define IH_PAPER_JUDGE_H

#include "../common/hd.h"

#include <stdint.h>

typedef struct ih_judge { int32_t undecided, by_filter, by_pair, by_exact; } ih_judge;

#endif
