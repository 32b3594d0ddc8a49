/* SPDX-License-Identifier: Apache-2.0
 * example_gpu.c: the fit of example.c on a GPU. Everything is enqueued on a stream; what was found is asked for after it.
 * Outside: cc -std=c17 example_gpu.c -I/usr/local/cuda/include $(pkg-config --cflags --libs isohull) -L/usr/local/cuda/lib64 -lcudart */
#include <cuda_runtime_api.h>
#include <isohull.h>
#include <stdio.h>

static int failed(const char *what)
{
    return fprintf(stderr, "%s\n", what), 1;
}

static int refused(void)
{
    ih_error error = {.size = sizeof error};
    return ih_last_error(&error), failed(error.message);
}

int main(void)
{
    const double   y[6] = {1, 3, 2, 4, 3.5, 5};
    double         z[6], *device_y, *device_z;
    const ih_impl *gpu = ih_impl_default(IH_DEVICE_CUDA);
    ih_problem     p;
    ih_outputs     out;
    size_t         bytes;
    void          *workspace;
    cudaStream_t   stream;

    if (!gpu) return failed("this build of isohull has no implementation for GPUs"), 77;
    if (ih_impl_available(gpu) != IH_OK) return refused(), 77;
    if (cudaStreamCreate(&stream) || cudaMalloc((void **)&device_y, sizeof y) || cudaMalloc((void **)&device_z, sizeof z)) return failed("no device memory");
    ih_problem_init(&p), ih_outputs_init(&out);
    p.dtype = IH_F64, p.rows = 1, p.n = 6, p.y = device_y;
    out.z = device_z;
    if (ih_workspace_bytes(gpu, &p, NULL, &out, &bytes) != IH_OK) return refused();
    if (cudaMalloc(&workspace, bytes)) return failed("no device memory"); /* once: for all fits of this shape, one after the other */
    cudaMemcpyAsync(device_y, y, sizeof y, cudaMemcpyHostToDevice, stream);
    if (ih_fit(gpu, &p, NULL, &out, workspace, bytes, stream) != IH_OK) return refused();
    cudaMemcpyAsync(z, device_z, sizeof z, cudaMemcpyDeviceToHost, stream);
    if (cudaStreamSynchronize(stream)) return failed("the fit failed on the device");
    if (ih_device_status(gpu, &p, NULL, workspace, bytes) != IH_OK) return refused(); /* a NaN in y, say: its row is NaN in z */
    for (int i = 0; i < 6; i++) printf("%g ", z[i]);
    cudaFree(workspace), cudaFree(device_z), cudaFree(device_y), cudaStreamDestroy(stream);
    return printf("\n") < 0;
}
