/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a fuzz target over the files of a folder: the kept corpus is part of every build's tests.
 */
#include <dirent.h>
#include <string.h>

#include "fuzz.h"

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    int  n      = 0;
    CHECK(folder != NULL);
    for (struct dirent *e; (e = readdir(folder)) != NULL;) {
        char path[4096];
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
        FILE *file = fopen(path, "rb");
        CHECK(file != NULL);
        fseek(file, 0, SEEK_END);
        const size_t size  = (size_t)ftell(file);
        uint8_t     *bytes = malloc(size > 0 ? size : 1); /* of its exact size: an overrun is seen */
        CHECK(bytes != NULL);
        rewind(file);
        CHECK(fread(bytes, 1, size, file) == size);
        fclose(file);
        LLVMFuzzerTestOneInput(bytes, size);
        free(bytes);
        n++;
    }
    closedir(folder);
    CHECK(n > 0);
    printf("%d inputs\n", n);
    return 0;
}
