/* SPDX-License-Identifier: Apache-2.0
 * call.c: a device's side of a call: an image of all arrays and their guard zones, made on the host and copied as one piece. */
#include "call.h"

#include "rng.h"
#include "support.h"

#include "common/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int on_device(const ih_impl *impl) { return impl && impl->device != IH_DEVICE_CPU; }

#if defined(IH_WITH_CUDA)
#  include <cuda_runtime_api.h>
#  include <pthread.h>

int emulated(void)
{
#  if defined(IH_CUDA_EMULATED)
    return 1;
#  else
    return 0;
#  endif
}

#  if defined(__has_feature)
#    if __has_feature(address_sanitizer)
#      define WITH_ASAN 1
#    endif
#  endif
#  if defined(__SANITIZE_ADDRESS__)
#    define WITH_ASAN 1
#  endif
#  if !defined(WITH_ASAN)
#    define WITH_ASAN 0
#  endif

enum { GUARD = 256, PATTERN = 0x5c, FILL = 0xc9 };

/* ---- memory and streams, kept from call to call ---- */

struct arena {
    void         *image, *ws;             /* of the device */
    unsigned char *host;                  /* [image_bytes] */
    size_t        image_bytes, ws_bytes;
    cudaStream_t  stream;
    int           taken;
    struct arena *next;
};

static struct arena   *arenas;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static void close_arenas(void)
{
    for (struct arena *a = arenas, *next; a; a = next) {
        next = a->next;
        cudaFree(a->image);
        cudaFree(a->ws);
        cudaStreamDestroy(a->stream);
        free(a->host);
        free(a);
    }
    arenas = NULL;
}

static struct arena *take_arena(void)
{
    struct arena *a;

    pthread_mutex_lock(&lock);
    for (a = arenas; a && a->taken; a = a->next) {}
    if (!a) {
        a = calloc(1, sizeof *a);
        must(a ? cudaStreamCreateWithFlags(&a->stream, cudaStreamNonBlocking) : cudaErrorMemoryAllocation, "stream of a test");
        if (!arenas) atexit(close_arenas);
        a->next = arenas;
        arenas  = a;
    }
    a->taken = 1;
    pthread_mutex_unlock(&lock);
    return a;
}

static void give_arena(struct arena *a)
{
    pthread_mutex_lock(&lock);
    a->taken = 0;
    pthread_mutex_unlock(&lock);
}

/* Grow, without the contents. */
static void reserve(void **at, size_t *has, size_t bytes)
{
    if (*has >= bytes) return;
    cudaFree(*at);
    *at  = NULL;
    *has = bytes + bytes / 2;
    must(cudaMalloc(at, *has), "device memory of a test");
}

static int exact_memory(void)
{
    const char *text = getenv("IH_TEST_EXACT_MEMORY");
    return WITH_ASAN || (text && *text == '1');
}

/* ---- opening ---- */

static void *copy_struct(const void *from, size_t size)
{
    void *to = malloc(size);
    memcpy(to, from, size);
    return to;
}

/* slot: a pointer field of a struct copy, which holds the caller's pointer. */
static void add(call *c, const char *name, void *slot, size_t bytes, int output)
{
    call_array *a = &c->array[c->arrays];
    memset(a, 0, sizeof *a);
    a->slot   = slot;
    a->name   = name;
    a->host   = *a->slot;
    a->bytes  = bytes;
    a->output = output;
    if (a->host) ++c->arrays;
}

/* Where each array lies in the image: an odd address among those that its type allows, drawn from the data. */
static void lay_out(call *c, size_t item)
{
    rng r = rng_seeded(c->arrays > 0 ? hash_bytes(c->array[0].host, c->array[0].bytes < 64 ? c->array[0].bytes : 64) : 0);

    c->image_bytes = 0;
    for (int k = 0; k < c->arrays; ++k) {
        call_array  *a     = &c->array[k];
        const int    wide  = strncmp(a->name, "block_", 6) == 0 || strcmp(a->name, "offsets") == 0;
        const size_t shift = rng_one_in(&r, 2) ? 0 : (size_t)rng_below(&r, 16);
        a->at          = c->image_bytes + GUARD + shift * (wide ? 8 : item);
        c->image_bytes = (a->at + a->bytes + GUARD + 255) / 256 * 256;
    }
}

static void put(call *c)
{
    struct arena *a = c->arena;

    if (c->exact) {
        for (int k = 0; k < c->arrays; ++k) {
            call_array *r = &c->array[k];
            must(cudaMalloc(&r->device, r->bytes ? r->bytes : 1), r->name);
            if (!c->plain || !r->output) must(cudaMemcpy(r->device, r->host, r->bytes, cudaMemcpyHostToDevice), r->name);
            else if (exact_memory()) must(cudaMemset(r->device, 0, r->bytes), r->name); /* it is copied back whole: not a read of nothing */
        }
        must(c->ws_bytes ? cudaMalloc(&c->ws, c->ws_bytes) : cudaSuccess, "workspace of a test");
    } else {
        if (a->image_bytes < c->image_bytes) {
            free(a->host);
            a->host = malloc(c->image_bytes + c->image_bytes / 2);
            reserve(&a->image, &a->image_bytes, c->image_bytes);
        }
        if (c->image_bytes) memset(a->host, PATTERN, c->image_bytes);
        for (int k = 0; k < c->arrays; ++k) {
            call_array *r = &c->array[k];
            memcpy(a->host + r->at, r->host, r->bytes);
            r->device = (char *)a->image + r->at;
        }
        if (c->image_bytes) must(cudaMemcpy(a->image, a->host, c->image_bytes, cudaMemcpyHostToDevice), "arrays of a test");
        reserve(&a->ws, &a->ws_bytes, c->ws_bytes + 2 * GUARD);
        must(cudaMemset(a->ws, PATTERN, c->ws_bytes + 2 * GUARD), "workspace of a test");
        c->ws = (char *)a->ws + GUARD;
        if (!c->caller_ws) must(cudaMemset(c->ws, FILL, c->ws_bytes), "workspace of a test");
    }
    if (c->caller_ws) must(cudaMemcpy(c->ws, c->caller_ws, c->ws_bytes, cudaMemcpyHostToDevice), "workspace of a test");
    if (!c->ws_bytes) c->ws = NULL;
    must(cudaDeviceSynchronize(), "arrays of a test"); /* copies from pageable memory and sets may be under way still */
    for (int k = 0; k < c->arrays; ++k) *c->array[k].slot = c->array[k].device;
}

static size_t item_of(const ih_problem *p) { return p->dtype == IH_F32 ? 4 : 8; }

static void add_problem(call *c, ih_problem *p)
{
    const size_t total = (size_t)problem_elements(p);

    add(c, "y", &p->y, total * item_of(p), 0);
    add(c, "w", &p->w, total * item_of(p), 0);
    add(c, "offsets", &p->offsets, ((size_t)p->rows + 1) * 8, 0);
}

static void open_on_device(call *c, const ih_problem *p, void *ws, size_t ws_bytes, size_t needed)
{
    c->caller_ws = ws;
    c->ws_bytes  = ws ? ws_bytes : needed;
    c->exact     = c->plain || exact_memory();
    c->arena     = take_arena();
    lay_out(c, item_of(p));
    put(c);
}

static void open_fit(call *c, const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_outputs *out, void *ws, size_t ws_bytes)
{
    size_t needed = 0;

    if (!on_device(impl) || ih_workspace_bytes(impl, p, o, out, &needed) != IH_OK) return; /* arguments that are refused are not looked at */
    if ((ws || ws_bytes) && (ws_bytes < needed || !ws || (uintptr_t)ws % IH_WORKSPACE_ALIGN)) return; /* nor is such a workspace */
    ih_problem *pc  = copy_struct(p, p->size);
    ih_outputs *oc  = copy_struct(out, out->size);
    const size_t total = (size_t)problem_elements(p);
    c->direct  = 0;
    c->problem = pc;
    c->what    = oc;
    add_problem(c, pc);
    add(c, "z", &oc->z, total * item_of(p), 1);
    add(c, "block_offsets", &oc->block_offsets, ((size_t)p->rows + 1) * 8, 1);
    add(c, "block_starts", &oc->block_starts, total * 8, 1);
    add(c, "block_weights", &oc->block_weights, total * 8, 1);
    add(c, "block_means", &oc->block_means, total * 8, 1);
    open_on_device(c, p, ws, ws_bytes, needed);
}

static void open_backward(call *c, const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_gradient *g, void *ws, size_t ws_bytes)
{
    size_t needed = 0;

    if (!on_device(impl) || ih_backward_workspace_bytes(impl, p, o, g, &needed) != IH_OK) return;
    if ((ws || ws_bytes) && (ws_bytes < needed || !ws || (uintptr_t)ws % IH_WORKSPACE_ALIGN)) return;
    ih_problem  *pc    = copy_struct(p, p->size);
    ih_gradient *gc    = copy_struct(g, g->size);
    const size_t total = (size_t)problem_elements(p);
    size_t       blocks = (size_t)g->block_offsets[p->rows]; /* which a test may have made nonsense of */
    if (blocks > total) blocks = total;
    c->direct  = 0;
    c->problem = pc;
    c->what    = gc;
    add_problem(c, pc);
    add(c, "block_offsets", &gc->block_offsets, ((size_t)p->rows + 1) * 8, 0);
    add(c, "block_starts", &gc->block_starts, blocks * 8, 0);
    add(c, "g", &gc->g, total * item_of(p), 0);
    add(c, "grad_y", &gc->grad_y, total * item_of(p), 1);
    add(c, "grad_w", &gc->grad_w, total * item_of(p), 1);
    open_on_device(c, p, ws, ws_bytes, needed);
}

/* ---- closing ---- */

static int all_equal(const unsigned char *at, size_t bytes, unsigned char value)
{
    return bytes == 0 || (at[0] == value && memcmp(at, at + 1, bytes - 1) == 0);
}

static ih_status wrong(const char *what, const char *name)
{
    return ih_set_error(IH_EINTERNAL, IH_FAULT_NONE, name, -1, -1, "in device memory, %s %s", what, name);
}

/* Outputs back to the caller; inputs and guard zones as they were? */
static ih_status take_back(call *c)
{
    const int      exact  = c->exact;
    unsigned char  guards[2][GUARD];
    ih_status      st     = IH_OK;
    size_t         behind = 0; /* end of the array before in the image */
    unsigned char *host   = c->arena->host;

    if (!exact && c->image_bytes) must(cudaMemcpy(host, c->arena->image, c->image_bytes, cudaMemcpyDeviceToHost), "arrays of a test");
    for (int k = 0; k < c->arrays; ++k) {
        call_array    *a    = &c->array[k];
        unsigned char *back = NULL;
        if (c->plain) {
            if (a->output) must(cudaMemcpy(a->host, a->device, a->bytes, cudaMemcpyDeviceToHost), a->name);
            must(cudaFree(a->device), a->name);
            continue;
        }
        back = exact ? malloc(a->bytes + 1) : host + a->at;
        if (exact) must(cudaMemcpy(back, a->device, a->bytes, cudaMemcpyDeviceToHost), a->name);
        if (a->output) memcpy(a->host, back, a->bytes);
        else if (memcmp(a->host, back, a->bytes) != 0) st = wrong("it changed", a->name);
        if (!exact && !all_equal(host + behind, a->at - behind, PATTERN)) st = wrong("something was written before", a->name);
        behind = a->at + a->bytes;
        if (exact) free(back);
        if (exact) must(cudaFree(a->device), a->name);
    }
    if (!exact && !all_equal(host + behind, c->image_bytes - behind, PATTERN)) st = wrong("something was written behind", c->array[c->arrays - 1].name);
    if (c->caller_ws) must(cudaMemcpy(c->caller_ws, c->ws, c->ws_bytes, cudaMemcpyDeviceToHost), "workspace of a test");
    if (exact) {
        must(cudaFree(c->ws), "workspace of a test");
        return st;
    }
    must(cudaMemcpy(guards[0], c->arena->ws, GUARD, cudaMemcpyDeviceToHost), "workspace of a test");
    must(cudaMemcpy(guards[1], (char *)c->arena->ws + GUARD + c->ws_bytes, GUARD, cudaMemcpyDeviceToHost), "workspace of a test");
    if (!all_equal(guards[0], GUARD, PATTERN)) st = wrong("something was written before", "the workspace");
    if (!all_equal(guards[1], GUARD, PATTERN)) st = wrong("something was written behind", "the workspace");
    return st;
}

static void launch_on_device(call *c)
{
    if (c->is_fit) c->status = ih_fit(c->impl, c->problem, c->options, c->what, c->ws, c->ws_bytes, c->arena->stream);
    else c->status = ih_backward(c->impl, c->problem, c->options, c->what, c->ws, c->ws_bytes, c->arena->stream);
}

static void close_on_device(call *c)
{
    const cudaError_t error = cudaStreamSynchronize(c->arena->stream);
    ih_status         st;

    if (error != cudaSuccess) { /* nothing can be done on this device any more */
        fprintf(stderr, "the device failed: %s\n", cudaGetErrorString(error));
        exit(1);
    }
    if (c->status == IH_OK) c->status = ih_device_status(c->impl, c->problem, c->options, c->ws, c->ws_bytes);
    st = take_back(c);
    if (st != IH_OK) c->status = st;
    give_arena(c->arena);
    free((void *)(uintptr_t)c->problem);
    free((void *)(uintptr_t)c->what);
}

#else /* no device: implementations of one are not in this build */

int emulated(void) { return 0; }

static void open_fit(call *c, const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_outputs *out, void *ws, size_t ws_bytes)
{
    (void)c, (void)impl, (void)p, (void)o, (void)out, (void)ws, (void)ws_bytes;
}

static void open_backward(call *c, const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_gradient *g, void *ws, size_t ws_bytes)
{
    (void)c, (void)impl, (void)p, (void)o, (void)g, (void)ws, (void)ws_bytes;
}

static void launch_on_device(call *c) { (void)c; }
static void close_on_device(call *c) { (void)c; }

#endif

void call_open_fit(call *c, const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_outputs *out, void *ws, size_t ws_bytes)
{
    *c = (call){ .impl = impl, .options = o, .direct = 1, .problem = p, .what = out, .is_fit = 1, .ws = ws, .ws_bytes = ws_bytes };
    open_fit(c, impl, p, o, out, ws, ws_bytes);
}

void call_open_backward(call *c, const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_gradient *g, void *ws, size_t ws_bytes)
{
    *c = (call){ .impl = impl, .options = o, .direct = 1, .problem = p, .what = g, .is_fit = 0, .ws = ws, .ws_bytes = ws_bytes };
    open_backward(c, impl, p, o, g, ws, ws_bytes);
}

void call_launch(call *c)
{
    if (!c->direct) launch_on_device(c);
    else if (c->is_fit) c->status = ih_fit(c->impl, c->problem, c->options, c->what, c->ws, c->ws_bytes, NULL);
    else c->status = ih_backward(c->impl, c->problem, c->options, c->what, c->ws, c->ws_bytes, NULL);
}

ih_status call_close(call *c)
{
    if (!c->direct) close_on_device(c);
    return c->status;
}

ih_status call_fit(const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_outputs *out, void *ws, size_t ws_bytes)
{
    call c;
    call_open_fit(&c, impl, p, o, out, ws, ws_bytes);
    call_launch(&c);
    return call_close(&c);
}

ih_status call_fit_large(const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_outputs *out)
{
    call c = { .impl = impl, .options = o, .direct = 1, .plain = 1, .problem = p, .what = out, .is_fit = 1 };
    open_fit(&c, impl, p, o, out, NULL, 0);
    call_launch(&c);
    return call_close(&c);
}

ih_status call_backward(const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_gradient *g, void *ws, size_t ws_bytes)
{
    call c;
    call_open_backward(&c, impl, p, o, g, ws, ws_bytes);
    call_launch(&c);
    return call_close(&c);
}
