/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of the harness share.
 */
#include "support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/isohull-test-XXXXXX");
    return mkdtemp(folder) == NULL;
}

int remove_folder(void **state)
{
    (void)state;
    DIR *d = opendir(folder);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && unlink(in_folder(e->d_name)) != 0)
            rmdir(in_folder(e->d_name));
    if (d != NULL) closedir(d);
    return rmdir(folder);
}

const char *in_folder(const char *name)
{
    static char     paths[8][512];
    static unsigned next;
    char           *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

void write_file(const char *name, const void *bytes, size_t n)
{
    FILE *file = fopen(in_folder(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

void write_text(const char *name, const char *text)
{
    write_file(name, text, strlen(text));
}

char *read_file(const char *name, size_t *n)
{
    FILE *file = fopen(in_folder(name), "rb");
    if (file == NULL) return NULL;
    fseek(file, 0, SEEK_END);
    const long size  = ftell(file);
    char      *bytes = malloc((size_t)size + 1);
    rewind(file);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)size, file), size);
    bytes[size] = 0;
    fclose(file);
    if (n != NULL) *n = (size_t)size;
    return bytes;
}

int count_files(void)
{
    int  n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    while (readdir(d) != NULL) n++;
    closedir(d);
    return n - 2;
}

void assert_file(const char *name, const char *text)
{
    char *got = read_file(name, NULL);
    assert_non_null(got);
    assert_string_equal(got, text);
    free(got);
}

unsigned char *npy_bytes(int version, const char *dict, const void *data, size_t data_bytes, size_t *n)
{
    const size_t   begin = version == 1 ? 10 : 12;
    const size_t   end   = (begin + strlen(dict) + 1 + 63) / 64 * 64;
    const size_t   pad   = end - begin;
    unsigned char *bytes = malloc(end + data_bytes);
    assert_non_null(bytes);
    memset(bytes, ' ', end);
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (unsigned char)version;
    bytes[7] = 0;
    for (size_t i = 8; i < begin; i++) bytes[i] = (unsigned char)(pad >> (8 * (i - 8)));
    memcpy(bytes + begin, dict, strlen(dict));
    bytes[end - 1] = '\n';
    if (data_bytes > 0) memcpy(bytes + end, data, data_bytes);
    *n = end + data_bytes;
    return bytes;
}

uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z          = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z          = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
