/* SPDX-License-Identifier: Apache-2.0
 * call.h: calls of the library with every array in host memory, whatever the implementation's device.
 *
 * For a CPU implementation they are ih_fit and ih_backward. For a device the inputs and the outputs' contents are copied into device
 * memory, between guard zones and at addresses aligned no better than their type needs; the call is made on a stream of its own;
 * after it the stream is waited for, ih_device_status is asked, and the outputs are copied back. A guard zone that was overwritten
 * or an input that changed gives IH_EINTERNAL, with ih_last_error naming the array.
 *
 * With the environment variable IH_TEST_EXACT_MEMORY=1, and under AddressSanitizer, each array has an allocation of its exact size
 * instead of guard zones, and the workspace is not filled, so that compute-sanitizer and the emulator see what is read as well. */
#ifndef TESTS_CALL_H
#define TESTS_CALL_H

#include "isohull.h"

enum { CALL_ARRAYS = 10 };

typedef struct call_array {
    const char *name;
    void      **slot;    /* the pointer to it, in the structs below */
    void       *host;    /* the caller's                            */
    size_t      bytes;
    int         output;
    size_t      at;      /* in the image */
    void       *device;
} call_array;

typedef struct call {
    const ih_impl    *impl;
    const ih_options *options;
    int               direct;       /* the caller's own structs and arrays */
    const void       *problem, *what; /* the structs that the call gets; what: ih_outputs or ih_gradient */
    int               is_fit, exact, plain; /* exact: an allocation for each array; plain: inputs are only copied there, outputs only back */
    void             *ws, *caller_ws;
    size_t            ws_bytes;
    call_array        array[CALL_ARRAYS];
    int               arrays;
    size_t            image_bytes;
    struct arena     *arena;
    ih_status         status;
} call;

int on_device(const ih_impl *impl);
int emulated(void); /* devices are the emulator's */

/* ws NULL with ws_bytes 0: the library's own workspace, or for a device one of the size asked for. The contents of another are
 * copied to the device and back. */
ih_status call_fit(const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_outputs *out, void *ws, size_t ws_bytes);
ih_status call_backward(const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_gradient *g, void *ws, size_t ws_bytes);

/* A fit of much data: as call_fit, but on a device without guard zones, and only what must be copied is. */
ih_status call_fit_large(const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_outputs *out);

/* The same in three steps, of which the middle one is the call of the library and nothing else. Arguments live until the last. */
void      call_open_fit(call *c, const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_outputs *out, void *ws, size_t ws_bytes);
void      call_open_backward(call *c, const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_gradient *g, void *ws, size_t ws_bytes);
void      call_launch(call *c);
ih_status call_close(call *c);

#endif
