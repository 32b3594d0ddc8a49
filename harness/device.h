/* SPDX-License-Identifier: Apache-2.0
 * device.h: a CUDA device as the command uses it: memory, one stream, events, graphs. The only place of the harness that
 * knows the CUDA runtime; a build without CUDA, or with the emulator, has the same functions.
 *
 * Nothing but device_put, device_get, device_wait, device_elapsed and device_differ waits for the device. */
#ifndef IH_HARNESS_DEVICE_H
#define IH_HARNESS_DEVICE_H

#include "io/fault.h"

#include <isohull.h>
#include <stddef.h>
#include <stdint.h>

typedef enum device_build { DEVICE_BUILD_NONE, DEVICE_BUILD_CUDA, DEVICE_BUILD_EMULATED } device_build;

device_build device_built(void);

/* In words: what compiled the device code of this build, and for which architectures. */
void device_build_text(char *text, size_t bytes);

/* Versions of the CUDA runtime in this build and of the newest that the driver can serve: 13000 for 13.0; 0: there is none. */
void device_versions(int *runtime, int *driver);

/* N of "cuda:N", 0 to 1023, or -1: it is nothing of the kind. */
int device_number(const char *text);

/* As in records: "cuda:0", or "emulated:0" where this build runs device code on the CPU, or "cpu" for a number below 0. */
void device_label(int ordinal, char text[32]);

typedef struct device_info {
    char    name[256], uuid[64]; /* uuid as nvidia-smi writes it: "GPU-..."; "" if not known */
    int     driver, runtime;     /* versions: 13000 for 13.0                                  */
    int     major, minor;        /* compute capability                                        */
    int     multiprocessors;
    int64_t l2_bytes, memory_bytes, free_bytes;
} device_info;

/* Devices that can be seen; 0 with a reason (a build without CUDA, no driver, none there). */
int device_count(char *why, size_t why_bytes);

typedef struct device device;

/* Take a device and make a stream. Faults: exit code EXIT_NO_DEVICE if it is not there; EXIT_USAGE if this build has no code
 * for its architecture. Other faults of the functions below are FAULT_LIBRARY, but FAULT_MEMORY where memory ran out. */
fault_kind         device_open(device **out, int ordinal, fault *f);
void               device_close(device *d); /* frees events and stream; takes NULL */
const device_info *device_about(const device *d);
void              *device_stream(const device *d); /* not the default stream */

fault_kind device_alloc(device *d, size_t bytes, void **at, fault *f); /* of 0 bytes: something that can be freed */
void       device_release(device *d, void *at);                        /* takes NULL                              */
fault_kind device_put(device *d, void *to, const void *from, size_t bytes, fault *f); /* to the device   */
fault_kind device_get(device *d, void *to, const void *from, size_t bytes, fault *f); /* from the device */
fault_kind device_copy(device *d, void *to, const void *from, size_t bytes, fault *f);  /* on the stream: within the device */
fault_kind device_fill(device *d, void *to, int byte, size_t bytes, fault *f);          /* on the stream                    */
fault_kind device_wait(device *d, fault *f);    /* until the stream is done; tells of what failed on it */

/* Kernels on the stream: one that does nothing; one that reads all of a buffer. */
fault_kind device_nothing(device *d, fault *f);
fault_kind device_read(device *d, const void *from, size_t bytes, fault *f);

/* How many elements differ: neither equal as numbers nor within the tolerance; NaN differs from everything. */
fault_kind device_differ(device *d, const void *a, const void *b, int64_t n, ih_dtype dtype, double tolerance, int64_t *count, fault *f);

/* Events, by number from 0; made when first used. */
enum { DEVICE_EVENTS = 512 };
fault_kind device_mark(device *d, int event, fault *f);                                     /* on the stream                        */
fault_kind device_elapsed(device *d, int from, int to, double *ms, fault *f);               /* waits for `to`                       */

/* A graph of what is put on the stream between begin and end; end gives it back ready to be launched, or NULL on a fault. */
typedef struct device_graph device_graph;
fault_kind device_capture(device *d, fault *f);
fault_kind device_captured(device *d, device_graph **out, fault *f);
fault_kind device_replay(device *d, device_graph *graph, fault *f); /* on the stream */
void       device_graph_free(device_graph *graph);                  /* takes NULL    */

#endif
