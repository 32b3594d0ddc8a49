/* SPDX-License-Identifier: Apache-2.0
 *
 * isohull.h: weighted isotonic regression by merging lower hulls. The whole public C API.
 *
 * The problem: for every row, minimise sum_i w_i (z_i - y_i)^2 subject to z_1 <= z_2 <= ... <= z_n (or >=, decreasing).
 *
 * The canonical fit: inputs are finite binary floating-point numbers, so the minimiser z* is a definite vector of
 * rationals. A canonical implementation returns z_i = z*_i rounded once to nearest-even in the type of y, and as blocks
 * the maximal runs of equal exact z*. The fit is therefore a function of the input alone: the same bits from every
 * implementation, at every number of threads, chunk size and batch position. An exact zero is returned as +0; a
 * negative mean too small for the type is -0.
 *
 * Conventions
 *   - Every struct begins with its size in bytes, set by its ..._init function, so that later versions of the library
 *     can add fields at the end: call the init function, then set what you need.
 *   - Rows and indices count from 0; an index is the position within its row. Lengths and offsets are int64_t.
 *   - The structs themselves live in host memory. The arrays they point to live in the memory space of the
 *     implementation's device (ih_impl.device): host memory for IH_DEVICE_CPU, device memory for IH_DEVICE_CUDA.
 *   - Functions return an ih_status; on anything but IH_OK, ih_last_error() says which argument, row and index.
 *     The library never prints, exits or aborts.
 *   - Results do not depend on the caller's floating-point environment (rounding mode, flush-to-zero), which is saved,
 *     set and restored by each call.
 *   - All functions may be called from several threads at once, on different outputs and workspaces.
 */
#ifndef ISOHULL_H
#define ISOHULL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#  define IH_API __attribute__((visibility("default")))
#else
#  define IH_API
#endif

/* Raised whenever a struct or a function changes incompatibly. Plug-ins and bindings compare it with ih_abi_version(). */
#define IH_ABI_VERSION 1

/* ---------------------------------------------------------------- status and errors ---- */

typedef int32_t ih_status;
enum {
    IH_OK           = 0,
    IH_EARGUMENT    = 1, /* an argument is wrong: null, out of range, reversed bounds, offsets that fall            */
    IH_EDATA        = 2, /* a value of y, w or g is not allowed; the error names row and index                      */
    IH_EOVERFLOW    = 3, /* a length or a size does not fit in 63 bits (or in size_t)                               */
    IH_EUNSUPPORTED = 4, /* the implementation cannot do this; the message says why                                 */
    IH_ENODEVICE    = 5, /* the implementation's device is not there                                                */
    IH_EMEMORY      = 6, /* memory ran out                                                                          */
    IH_EWORKSPACE   = 7, /* the workspace is too small or not aligned to IH_WORKSPACE_ALIGN                         */
    IH_EDEVICE      = 8, /* the device reported an error                                                            */
    IH_EINTERNAL    = 9  /* an invariant of the library failed: please report                                       */
};

/* What is wrong with a value; with IH_EDATA and IH_EARGUMENT. */
typedef int32_t ih_fault;
enum {
    IH_FAULT_NONE     = 0,
    IH_FAULT_NAN      = 1, /* NaN                                                    */
    IH_FAULT_INFINITE = 2, /* an infinity                                            */
    IH_FAULT_ZERO     = 3, /* a weight of zero                                       */
    IH_FAULT_NEGATIVE = 4, /* a negative weight                                      */
    IH_FAULT_REVERSED = 5, /* y_min > y_max                                          */
    IH_FAULT_OFFSETS  = 6  /* row offsets that do not rise from 0 to n               */
};

typedef struct ih_error {
    size_t    size;          /* sizeof(ih_error)                                                     */
    ih_status status;        /* of the last failing call on this thread                              */
    ih_fault  fault;
    int64_t   row, index;    /* where; -1 if the fault has no place                                  */
    char      argument[32];  /* the argument at fault as it is called here ("y", "y_min", "workspace" for ws) */
    char      message[256];  /* one line for a person, without a newline: "y: NaN at row 0, index 7" */
} ih_error;

/* Copy the error of the last failing call made on this thread. out->size must be set. A call that succeeds leaves the
 * last error as it was; before any failure it is IH_OK with an empty message. */
IH_API void        ih_last_error(ih_error *out);
IH_API const char *ih_status_name(ih_status status); /* "IH_EDATA"; never NULL */

IH_API int32_t     ih_abi_version(void);
IH_API const char *ih_version(void); /* "0.1.0" */

/* ---------------------------------------------------------------- problem ---- */

typedef int32_t ih_dtype;
enum { IH_F32 = 0, IH_F64 = 1 };

typedef int32_t ih_direction;
enum { IH_INCREASING = 0, IH_DECREASING = 1 };

/* A batch of rows. Rectangular: offsets is NULL, row r is y[r n .. (r+1) n). Ragged: row r is y[offsets[r] ..
 * offsets[r+1]), offsets rise (not strictly) from 0 to n. Empty rows and empty batches are fine. */
typedef struct ih_problem {
    size_t         size;
    ih_dtype       dtype;        /* of y, w, z, bounds and gradients                                              */
    ih_direction   direction;
    int64_t        rows;         /* >= 0                                                                          */
    int64_t        n;            /* rectangular: length of a row; ragged: elements in all                         */
    const int64_t *offsets;      /* [rows + 1] or NULL; memory of the device                                      */
    const void    *y;            /* [elements], finite; memory of the device, aligned to its type                 */
    const void    *w;            /* [elements], positive and finite, or NULL for weights of 1                     */
    double         y_min, y_max; /* bounds; -INFINITY and INFINITY (from ih_problem_init) for none. Rounded to    */
                                 /* nearest in dtype, they clip the finished fit. y_min <= y_max, not NaN.         */
} ih_problem;

/* What the caller wants back. z is always written; the block arrays on request: all need block_offsets.
 * No output may overlap an input or another output, and arrays are aligned to their type: on every device a call that breaks this
 * is refused. If a call fails because of its arguments or data nothing is written. */
typedef struct ih_outputs {
    size_t   size;
    void    *z;             /* [elements], dtype: the fit after the bounds                                            */
    int64_t *block_offsets; /* [rows + 1] or NULL: the blocks of row r are block_offsets[r] .. block_offsets[r + 1]   */
    int64_t *block_starts;  /* [elements] or NULL: first element of each block, an index into the flattened y         */
    double  *block_weights; /* [elements] or NULL: sum of weights of each block, rounded once (may be infinite)        */
    double  *block_means;   /* [elements] or NULL: mean of each block before the bounds, rounded once to double        */
} ih_outputs;

/* ---------------------------------------------------------------- options, counters, stage hook ---- */

/* Called on the host at the begin (begin = 1) and end (begin = 0) of each stage: "chunk", "scan", "merge" (level = tree
 * level, from 0), "reconstruct"; of a device also "exact" (rows that are left to integers), "blocks" (block outputs) and
 * "backward". For a device implementation the calls bracket what is enqueued on `stream`. */
typedef void (*ih_stage_hook)(void *user, const char *stage, int32_t level, int32_t begin, void *stream);

#define IH_MAX_LEVELS 64

/* What a fit did; every field is added to, so zero them first (ih_counters_init). Implementations fill what applies. */
typedef struct ih_counters {
    size_t  size;
    /* decisions (turns, comparisons of means) by the level that settled them, and roundings of means likewise */
    int64_t decisions_filter, decisions_pair, decisions_exact;
    int64_t roundings_filter, roundings_pair, roundings_exact;
    int64_t elements_exact; /* elements summed again from the inputs by exact decisions                    */
    int64_t rows_exact;     /* rows solved wholly in integers                                              */
    /* the hull method: vertices surviving each level; 0 = lanes, 1 = chunks, 2 + r = tree level r            */
    int64_t chunks;         /* m, over all rows                                                            */
    int64_t levels;         /* tree levels of the deepest row                                              */
    int64_t vertices[IH_MAX_LEVELS];
    int64_t segments[IH_MAX_LEVELS];      /* descriptors over all lists after tree level r, at 2 + r        */
    int64_t longest_list[IH_MAX_LEVELS];  /* longest list after tree level r, at 2 + r (a maximum)          */
    int64_t walks, walk_steps, walks_capped, searches; /* of tree merges                                    */
    int64_t lane_walks, lane_walk_steps;  /* of merges inside chunks                                       */
    int64_t walk_excess;    /* maximum over finished walks of steps - 3 d, d the vertices removed (Lemma 5.1: <= 2) */
    int64_t list_excess;    /* maximum over lists of length - chunks of the node (Theorem 4.4: <= 0)        */
    int64_t list_faults;    /* segments with l > h, or chunk indices that do not rise (must be 0)          */
    int64_t move_rounds;    /* sequential rounds of descriptor moves over the levels, per level the longest (Prop. 5.3) */
} ih_counters;

/* Options of a fit. Options that an implementation does not know are refused by it when they differ from the default;
 * but for threads, a limit that one thread keeps, too. */
typedef struct ih_options {
    size_t        size;
    int32_t       threads;       /* CPU: threads to use; 0 = as many as the process may use                          */
    int32_t       chunk;         /* elements of a chunk; 0 = the implementation's default                            */
    int32_t       walk_cap;      /* steps of a walk before the search takes over; -1 = never; default 64 (paper 3.3) */
    int32_t       thread_merges; /* a level with at least so many merges gives each one thread, else a warp; 256     */
    int32_t       isa;           /* CPU: instruction set; IH_ISA_AUTO or a lower one to force it                     */
    ih_stage_hook hook;          /* or NULL                                                                          */
    void         *hook_user;
    ih_counters  *counters;      /* or NULL; counting may cost time                                                  */
} ih_options;

enum { IH_ISA_AUTO = 0, IH_ISA_BASE = 1, IH_ISA_AVX2 = 2, IH_ISA_AVX512 = 3 };

/* ---------------------------------------------------------------- gradients ---- */

/* Backward pass of a fit (block averages): with W_b the weight, z_b the exact mean and G_b = sum g of block b,
 *   grad_y[j] = w[j] G_b / W_b,   grad_w[j] = (y[j] - z_b) G_b / W_b,
 * where an element whose exact mean is strictly outside the bounds contributes and receives exactly 0 (one equal to a
 * bound passes). Accurate to 2^-44 (float64) or 2^-20 (float32) of the row's largest entry; the same bits at any number
 * of threads and batch position. Without weights grad_w is the derivative at weights of 1. */
typedef struct ih_gradient {
    size_t         size;
    const int64_t *block_offsets; /* [rows + 1] as the fit wrote them                         */
    const int64_t *block_starts;  /* as the fit wrote them                                    */
    const void    *g;             /* [elements], dtype, finite: gradient with respect to z    */
    void          *grad_y;        /* [elements], dtype, or NULL                               */
    void          *grad_w;        /* [elements], dtype, or NULL                               */
} ih_gradient;

/* ---------------------------------------------------------------- implementations ---- */

typedef int32_t ih_device;
enum { IH_DEVICE_CPU = 0, IH_DEVICE_CUDA = 1 };

enum { /* ih_impl.features */
    IH_HAS_F32      = 1 << 0,
    IH_HAS_F64      = 1 << 1,
    IH_HAS_WEIGHTS  = 1 << 2,
    IH_HAS_RAGGED   = 1 << 3,
    IH_HAS_GRADIENT = 1 << 4,
    IH_HAS_BLOCKS   = 1 << 5,
    IH_HAS_BOUNDS   = 1 << 6,
    IH_HAS_THREADS  = 1 << 7, /* uses more than one thread if allowed                              */
    IH_CANONICAL    = 1 << 8, /* claims the canonical fit; otherwise approximate                    */
    IH_CHECKS_DATA  = 1 << 9  /* fit checks y and w itself (before it writes); else ih_fit does it   */
};

enum { /* ih_impl.options: which fields of ih_options it reads, as bits */
    IH_OPT_THREADS       = 1 << 0,
    IH_OPT_CHUNK         = 1 << 1,
    IH_OPT_WALK_CAP      = 1 << 2,
    IH_OPT_THREAD_MERGES = 1 << 3,
    IH_OPT_ISA           = 1 << 4
};

/* An implementation: a name, its claims, and functions over one problem description.
 *
 *   available        IH_OK, or IH_ENODEVICE with the reason in the last error. NULL: always there.
 *   supports         IH_OK, or IH_EUNSUPPORTED with the reason: an answer, not an error. Arguments are valid. NULL: by features.
 *   workspace_bytes  bytes that fit needs for this shape (not for these values); y and w are not read.
 *   fit              enqueues the fit on `stream` (a CPU implementation runs it and ignores the stream). Arguments have been
 *                    checked by ih_fit. Workspace contents are undefined before and after. A device implementation neither
 *                    allocates nor synchronises; a CPU implementation may allocate for the exact level (IH_EMEMORY).
 *   backward_workspace_bytes, backward    likewise for the gradient; NULL without IH_HAS_GRADIENT.
 *   status           of a device implementation: what its last fit or gradient left in the workspace (ih_device_status).
 */
typedef struct ih_impl {
    size_t      size;
    int32_t     abi_version; /* IH_ABI_VERSION it was compiled with */
    ih_device   device;
    uint32_t    features;
    uint32_t    options;
    const char *name;        /* file, symbol, list entry, record and plot label     */
    const char *section;     /* section of the paper it comes from, or "" for ours  */
    const char *summary;     /* one line                                            */
    ih_status (*available)(void);
    ih_status (*supports)(const ih_problem *, const ih_options *, const ih_outputs *);
    ih_status (*workspace_bytes)(const ih_problem *, const ih_options *, const ih_outputs *, size_t *bytes);
    ih_status (*fit)(const ih_problem *, const ih_options *, const ih_outputs *, void *ws, size_t ws_bytes, void *stream);
    ih_status (*backward_workspace_bytes)(const ih_problem *, const ih_options *, const ih_gradient *, size_t *bytes);
    ih_status (*backward)(const ih_problem *, const ih_options *, const ih_gradient *, void *ws, size_t ws_bytes, void *stream);
    ih_status (*status)(const ih_problem *, const ih_options *, const void *ws, size_t ws_bytes);
} ih_impl;

#define IH_WORKSPACE_ALIGN 256

IH_API int32_t        ih_impl_count(void);
IH_API const ih_impl *ih_impl_at(int32_t k);             /* NULL out of range; order of the registry  */
IH_API const ih_impl *ih_impl_find(const char *name);    /* NULL if there is none, which ih_fit takes for the default */
IH_API const ih_impl *ih_impl_default(ih_device device); /* the fastest canonical one of that device, or NULL */

/* Parse "NAME[:option=value...]", as it stands in records and labels, into an implementation and options (whose other
 * fields are kept). IH_EARGUMENT names what is unknown or out of range. */
IH_API ih_status ih_impl_parse(const char *text, const ih_impl **impl, ih_options *options);
/* The canonical text: the name, then the options that differ from the default, in fixed order. Returns the length
 * without the terminating 0, as snprintf does. */
IH_API size_t ih_impl_format(const ih_impl *impl, const ih_options *options, char *text, size_t text_bytes);

IH_API ih_status ih_impl_available(const ih_impl *impl);

/* Bytes of workspace that ih_fit needs. o may be NULL for defaults. Of arrays only whether they are NULL counts: y and z must not
 * be, w, offsets and the block arrays are part of the shape. So any other address will do before they are allocated. */
IH_API ih_status ih_workspace_bytes(const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_outputs *out,
                                    size_t *bytes);

/* Fit. impl NULL: the CPU default. o NULL: defaults. On a CPU implementation ws may be NULL with ws_bytes 0: the library
 * then allocates and frees its workspace. ws is aligned to IH_WORKSPACE_ALIGN and overlaps nothing. stream: a
 * cudaStream_t for a CUDA implementation, else ignored; the current device (cudaSetDevice) is the one that it, the arrays and ws
 * belong to. With several faults in the data the smallest (row, index) is
 * reported, y before w at one place. Returns every status above. */
IH_API ih_status ih_fit(const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_outputs *out, void *ws,
                        size_t ws_bytes, void *stream);

/* What a fit, or a gradient, of a device implementation found: to be called with the same arguments after the caller has
 * waited for the stream, before the workspace is used again. It copies a few bytes by cudaMemcpy, which waits for the default stream, and
 * so not while a stream of the process is captured. After a gradient it speaks of g too, whose rows at fault are NaN in the gradient.
 * On a device values cannot be refused beforehand: a row with a NaN, an infinity or a weight that is not positive is filled
 * with NaN (one block), the other rows are fitted, and this returns IH_EDATA with the smallest (row, index), y before w;
 * wrong offsets (looked at where there are elements): IH_EARGUMENT, and nothing was written but zeros to block_offsets.
 * o->counters, if the fit had counters too, are added to here and not by ih_fit. IH_OK for CPU implementations. */
IH_API ih_status ih_device_status(const ih_impl *impl, const ih_problem *p, const ih_options *o, const void *ws, size_t ws_bytes);

/* Gradient of a fit of p. impl, o, ws and stream as for ih_fit; the blocks may come from any canonical implementation. */
IH_API ih_status ih_backward_workspace_bytes(const ih_impl *impl, const ih_problem *p, const ih_options *o,
                                             const ih_gradient *gradient, size_t *bytes);
IH_API ih_status ih_backward(const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_gradient *gradient,
                             void *ws, size_t ws_bytes, void *stream);

/* ---------------------------------------------------------------- init functions ---- */

/* Each sets size, and the defaults of the fields that the caller's struct has. The functions without a size, for C and C++,
 * are compiled into the caller; a binding calls these with the size of its own struct. */
IH_API void ih_problem_init_sized(ih_problem *p, size_t size);
IH_API void ih_outputs_init_sized(ih_outputs *out, size_t size);
IH_API void ih_options_init_sized(ih_options *o, size_t size);
IH_API void ih_counters_init_sized(ih_counters *c, size_t size);
IH_API void ih_gradient_init_sized(ih_gradient *g, size_t size);

static inline void ih_problem_init(ih_problem *p) { ih_problem_init_sized(p, sizeof *p); }
static inline void ih_outputs_init(ih_outputs *out) { ih_outputs_init_sized(out, sizeof *out); }
static inline void ih_options_init(ih_options *o) { ih_options_init_sized(o, sizeof *o); }
static inline void ih_counters_init(ih_counters *c) { ih_counters_init_sized(c, sizeof *c); }
static inline void ih_gradient_init(ih_gradient *g) { ih_gradient_init_sized(g, sizeof *g); }

#ifdef __cplusplus
}
#endif
#endif
