/* SPDX-License-Identifier: Apache-2.0
 * table.h: what people read: a table per problem, and the same as one JSON object. */
#ifndef IH_BENCH_TABLE_H
#define IH_BENCH_TABLE_H

#include "run.h"

#include <stdio.h>

void table_print(FILE *to, const bench_run *r);

/* {"schema", "run", "cells": [...]}: records as in the journal. NULL: no memory. */
json_t *table_json(const bench_run *r);

#endif
