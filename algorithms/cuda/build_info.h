/* SPDX-License-Identifier: Apache-2.0
 * build_info.h: how the device code of this build was compiled, and what came of it: for the records of measurements, for
 * `isohull --version` and `doctor`. Filled while building, from the command line of the compiler and its report on the objects. */
#ifndef IH_CUDA_BUILD_INFO_H
#define IH_CUDA_BUILD_INFO_H

#include <stdint.h>

typedef struct ih_cuda_kernel_info {
    const char *name;         /* as the compiler spells it                                                        */
    int32_t     arch;         /* 90 for sm_90                                                                     */
    int32_t     registers;    /* a thread                                                                         */
    int32_t     stack_bytes, spill_store_bytes, spill_load_bytes, shared_bytes; /* shared: static                 */
    const char *hash;         /* of its machine code, 16 hexadecimal digits; "" if it could not be taken          */
} ih_cuda_kernel_info;

typedef struct ih_cuda_build_info {
    const char *compiler;     /* "nvcc 13.0.88", or the C++ compiler of the emulator            */
    const char *flags;        /* command line of a kernel source, without file names            */
    const char *archs;        /* machine code for these: "75 80 90"; "" in the emulator          */
    const char *ptx;          /* architectures of the PTX that is included: "90"              */
    const char *refused;      /* why times of this device code mean nothing ("device code was built with -G", "... with
                                 assertions", "... without optimisation", "... is emulated on the CPU"), or NULL */
    int32_t     emulated;     /* kernels run on the CPU (-Demulate_cuda=true)                  */
    int32_t     kernels;
    const ih_cuda_kernel_info *kernel; /* [kernels], by name, then arch; none in the emulator    */
} ih_cuda_build_info_t;

/* NULL in a build without device code. */
const ih_cuda_build_info_t *ih_cuda_build_info(void);

#endif
