/* SPDX-License-Identifier: Apache-2.0
 * registry.h: what the public edge needs of the table of implementations and of option structs. */
#ifndef IH_BATCH_REGISTRY_H
#define IH_BATCH_REGISTRY_H

#include "isohull.h"

/* Copy a caller's struct of any version into one of this version: missing fields get their defaults. NULL: all defaults. */
void ih_options_read(ih_options *to, const ih_options *from);

/* Are the values in range, and known to the implementation where they differ from the default? */
ih_status ih_options_check(const ih_impl *impl, const ih_options *o);

int32_t ih_option_value(const ih_options *o, int32_t k);

#endif
