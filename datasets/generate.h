/* SPDX-License-Identifier: Apache-2.0
 * generate.h: the data that a problem string names, whole or in slices. Any slice, made by any number of threads, has
 * the same bits. Works under any floating-point environment of the caller. Not for file problems. */
#ifndef IH_DATASETS_GENERATE_H
#define IH_DATASETS_GENERATE_H

#include "datasets/problem.h"

/* Length of a row. */
int64_t ih_spec_row_length(const ih_spec *s, int64_t row);

/* Elements in all. If offsets is not NULL, it receives the rows + 1 row offsets. Rectangular problems answer at once,
 * ragged ones in time proportional to rows. */
int64_t ih_spec_elements(const ih_spec *s, int64_t *offsets);

/* Elements begin .. end of one row of length row_length (from ih_spec_row_length): y and w are arrays of end - begin
 * values of the problem's type, or NULL if not wanted. Runs in the calling thread. */
void ih_generate_row(const ih_spec *s, int64_t row, int64_t row_length, int64_t begin, int64_t end, void *y, void *w);

/* Elements begin .. end of the flattened problem, likewise, on `threads` threads (0: as many as there are). offsets are
 * those of ih_spec_elements if the problem is ragged, otherwise they are not read. With w=unit w is filled with ones. */
void ih_generate(const ih_spec *s, const int64_t *offsets, int64_t begin, int64_t end, void *y, void *w, int32_t threads);

/* A problem with its data in memory, ready for ih_fit. */
typedef struct ih_data {
    ih_problem problem; /* its pointers are those below */
    void      *y, *w;   /* w is NULL for w=unit     */
    int64_t   *offsets; /* NULL for rectangular rows */
} ih_data;

/* 0, or 1 with a message (memory ran out, or a file problem). Free with ih_data_free in either case. */
int  ih_data_generate(ih_data *out, const ih_spec *s, int32_t threads, char *message, size_t message_bytes);
void ih_data_free(ih_data *d);

#endif
