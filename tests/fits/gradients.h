/* SPDX-License-Identifier: Apache-2.0
 * gradients.h: the backward pass of an implementation against that of the referee: bit for bit, of a device within its tolerance. */
#ifndef TESTS_GRADIENTS_H
#define TESTS_GRADIENTS_H

#include "support.h"

/* Both gradients, together and each alone, for a random g made from seed; fit is that of the referee. The workspace has
 * the size asked for and is watched like that of a fit. SKIPPED if impl or the referee has no gradient. */
outcome gradient_check(const ih_impl *impl, const ih_problem *p, const ih_options *o, const fit_result *fit, uint64_t seed, verdict *v);

#endif
