/* SPDX-License-Identifier: Apache-2.0
 * example.c: one increasing fit. Outside: cc -std=c17 example.c $(pkg-config --cflags --libs isohull) */
#include <isohull.h>
#include <stdio.h>

int main(void)
{
    double     y[6] = {1, 3, 2, 4, 3.5, 5}, z[6];
    ih_problem p;
    ih_outputs out;
    ih_error   error = {.size = sizeof error};

    ih_problem_init(&p), ih_outputs_init(&out);
    p.dtype = IH_F64, p.rows = 1, p.n = 6, p.y = y;
    out.z = z;
    if (ih_fit(NULL, &p, NULL, &out, NULL, 0, NULL) != IH_OK)
        return ih_last_error(&error), fprintf(stderr, "%s\n", error.message), 1;
    for (int i = 0; i < 6; i++) printf("%g ", z[i]);
    return printf("\n") < 0;
}
