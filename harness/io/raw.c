/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw little-endian numbers.
 */
#include "io/raw.h"

#include <endian.h>
#include <string.h>

fault_kind raw_read_source(source *s, array_type type, array *a, fault *f)
{
    array_init(a);
    const int64_t width = array_type_bytes(type), bytes = s->size - s->at;
    if (bytes % width != 0)
        return fault_set(f, FAULT_TRUNCATED, "%s: %lld bytes are no multiple of %lld", s->name, (long long)bytes,
                         (long long)width);
    const int64_t shape[2] = {bytes / width, 1};
    fault_kind    kind     = array_alloc(a, type, 1, shape, f);
    if (kind == FAULT_NONE) kind = source_read(s, a->data, bytes, f);
    if (kind != FAULT_NONE) {
        array_free(a);
        return kind;
    }
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (int64_t i = 0; i < a->elements; i++) {
        if (width == 4)
            ((uint32_t *)a->data)[i] = le32toh(((uint32_t *)a->data)[i]);
        else
            ((uint64_t *)a->data)[i] = le64toh(((uint64_t *)a->data)[i]);
    }
#endif
    return FAULT_NONE;
}

fault_kind raw_read(const char *path, array_type type, array *a, fault *f)
{
    source s;
    array_init(a);
    fault_kind kind = source_open(&s, path, f);
    if (kind != FAULT_NONE) return kind;
    kind = raw_read_source(&s, type, a, f);
    source_close(&s);
    return kind;
}
