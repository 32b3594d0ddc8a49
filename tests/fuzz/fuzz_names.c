/* SPDX-License-Identifier: Apache-2.0
 *
 * Names: any text is refused with a message, or names an implementation with options, or a problem. What is named is
 * written in its canonical form, which reads back as the same; a small problem has finite data, the same in any slice.
 */
#include <math.h>
#include <string.h>

#include "datasets/generate.h"
#include "fuzz.h"

static void implementation(const char *text)
{
    const ih_impl *impl = NULL, *again = NULL;
    ih_options     o, before, back;
    char           canonical[512], cut[8];

    ih_options_init(&o);
    before = o;
    if (ih_impl_parse(text, &impl, &o) != IH_OK) {
        ih_error e = { .size = sizeof e };
        ih_last_error(&e);
        CHECK(e.status == IH_EARGUMENT || e.status == IH_EUNSUPPORTED);
        CHECK(e.message[0] != 0 && memchr(e.message, 0, sizeof e.message) != NULL);
        CHECK(impl == NULL && memcmp(&o, &before, sizeof o) == 0);
        return;
    }
    const size_t length = ih_impl_format(impl, &o, canonical, sizeof canonical);
    CHECK(length == strlen(canonical));
    CHECK(ih_impl_format(impl, &o, cut, sizeof cut) == length && strncmp(cut, canonical, sizeof cut - 1) == 0 && strlen(cut) < sizeof cut);
    ih_options_init(&back);
    CHECK(ih_impl_parse(canonical, &again, &back) == IH_OK);
    CHECK(again == impl && memcmp(&o, &back, sizeof o) == 0);
}

static double value(const ih_spec *s, const void *array, int64_t i)
{
    return s->dtype == IH_F32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

static void data_of(const ih_spec *s)
{
    const size_t item = s->dtype == IH_F32 ? 4 : 8;
    ih_data      d;
    char         message[IH_SPEC_MESSAGE];

    CHECK(ih_data_generate(&d, s, 1, message, sizeof message) == 0);
    const int64_t total = d.problem.offsets ? d.problem.n : d.problem.rows * d.problem.n;
    const int64_t begin = total / 3, end = total - total / 4;
    char         *slice = malloc((size_t)(end - begin) * item + 1);
    CHECK(slice != NULL);
    for (int64_t i = 0; i < total; ++i) {
        CHECK(isfinite(value(s, d.y, i)));
        CHECK(!d.w || (isfinite(value(s, d.w, i)) && value(s, d.w, i) > 0));
    }
    ih_generate(s, d.offsets, begin, end, slice, NULL, 1);
    CHECK(memcmp(slice, (char *)d.y + (size_t)begin * item, (size_t)(end - begin) * item) == 0);
    if (d.w) {
        ih_generate(s, d.offsets, begin, end, NULL, slice, 1);
        CHECK(memcmp(slice, (char *)d.w + (size_t)begin * item, (size_t)(end - begin) * item) == 0);
    }
    free(slice);
    ih_data_free(&d);
}

static void problem(const char *text)
{
    static char canonical[4 * IH_SPEC_PATH], again[4 * IH_SPEC_PATH];
    static char file_text[16];
    ih_spec     s, back;
    char        message[IH_SPEC_MESSAGE];

    memset(message, 1, sizeof message);
    if (ih_spec_parse(&s, text, message, sizeof message) != 0) {
        CHECK(message[0] != 0 && memchr(message, 0, sizeof message) != NULL && strchr(message, '\n') == NULL);
        CHECK(ih_spec_parse(&s, text, file_text, sizeof file_text) != 0 && memchr(file_text, 0, sizeof file_text) != NULL);
        return;
    }
    const size_t length = ih_spec_format(&s, canonical, sizeof canonical);
    CHECK(length == strlen(canonical));
    CHECK(ih_spec_parse(&back, canonical, message, sizeof message) == 0);
    CHECK(ih_spec_equal(&s, &back));
    CHECK(ih_spec_format(&back, again, sizeof again) == length && strcmp(canonical, again) == 0);
    if (strcmp(ih_spec_family_name(&s), "file") != 0 && s.n <= 2000 && s.rows <= 20) data_of(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = malloc(n + 1);
    CHECK(text != NULL);
    memcpy(text, bytes, n);
    text[n] = 0;
    implementation(text);
    problem(text);
    free(text);
    return 0;
}
