/* SPDX-License-Identifier: Apache-2.0
 *
 * .npy readers: any bytes give a fault or an array, and an array survives being written and read again.
 */
#include <string.h>

#include "fuzz.h"
#include "io/npy.h"
#include "io/raw.h"

static void check_again(const array *a, int integers)
{
    char  *bytes = NULL;
    size_t n     = 0;
    array  b;
    source s;
    FILE  *stream = open_memstream(&bytes, &n);
    CHECK(stream != NULL);
    CHECK(npy_write(stream, "memory", a->type, a->dimensions, a->shape, a->data, NULL) == FAULT_NONE);
    CHECK(fclose(stream) == 0);
    source_from_memory(&s, "memory", bytes, n);
    CHECK((integers ? npy_read_int64_source(&s, &b, NULL) : npy_read_source(&s, &b, NULL)) == FAULT_NONE);
    CHECK(b.type == a->type && b.dimensions == a->dimensions && b.elements == a->elements);
    CHECK(b.shape[0] == a->shape[0] && b.shape[1] == a->shape[1]);
    CHECK(memcmp(a->data, b.data, (size_t)(a->elements * array_type_bytes(a->type))) == 0);
    array_free(&b);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    for (int way = 0; way < 4; way++) {
        array  a;
        fault  f;
        source s;
        source_from_memory(&s, "fuzz", bytes, n);
        const fault_kind kind = way == 0 ? npy_read_source(&s, &a, &f)
            : way == 1                   ? npy_read_int64_source(&s, &a, &f)
                                         : raw_read_source(&s, way == 2 ? ARRAY_F32 : ARRAY_F64, &a, &f);
        if (kind == FAULT_NONE) {
            CHECK(a.data != NULL);
            check_again(&a, way == 1);
        } else {
            CHECK(f.kind == kind && f.message[0] != 0 && f.exit_code == 2 && a.data == NULL);
        }
        array_free(&a);
    }
    return 0;
}
