/* SPDX-License-Identifier: Apache-2.0
 *
 * Outputs appear together or not at all, whatever goes wrong; temporaries never stay.
 */
#include "io/outputs.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static void test_commit(void **state)
{
    (void)state;
    outputs   o;
    fault     f;
    FILE     *a, *b;
    const int before = count_files();
    write_text("b", "old");
    outputs_init(&o);
    assert_fault(FAULT_NONE, outputs_add(&o, in_folder("a"), &a, &f), f);
    assert_fault(FAULT_NONE, outputs_add(&o, in_folder("b"), &b, &f), f);
    fputs("new a", a);
    fputs("new b", b);
    fflush(a);
    assert_int_not_equal(access(in_folder("a"), F_OK), 0); /* nothing to be seen yet */
    assert_file("b", "old");
    assert_fault(FAULT_NONE, outputs_commit(&o, &f), f);
    outputs_discard(&o);
    assert_file("a", "new a");
    assert_file("b", "new b");
    assert_int_equal(count_files(), before + 2);
}

static void test_discard(void **state)
{
    (void)state;
    outputs   o;
    fault     f;
    FILE     *a, *b;
    write_text("kept", "old");
    const int before = count_files();
    outputs_init(&o);
    assert_fault(FAULT_NONE, outputs_add(&o, in_folder("fresh"), &a, &f), f);
    assert_fault(FAULT_NONE, outputs_add(&o, in_folder("kept"), &b, &f), f);
    fputs("half", b);
    outputs_discard(&o);
    outputs_discard(&o); /* twice is fine */
    assert_file("kept", "old");
    assert_int_equal(count_files(), before);
}

static void test_refused(void **state)
{
    (void)state;
    outputs   o;
    fault     f;
    FILE     *a;
    const int before = count_files();
    outputs_init(&o);
    assert_fault(FAULT_WRITE, outputs_add(&o, "", &a, &f), f);
    assert_fault(FAULT_WRITE, outputs_add(&o, in_folder("."), &a, &f), f);
    assert_non_null(strstr(f.message, "is a directory"));
    assert_fault(FAULT_WRITE, outputs_add(&o, in_folder("none/z.npy"), &a, &f), f);
    assert_fault(FAULT_WRITE, outputs_add(&o, in_folder("none/"), &a, &f), f);
    assert_fault(FAULT_NONE, outputs_add(&o, in_folder("once"), &a, &f), f);
    assert_fault(FAULT_WRITE, outputs_add(&o, in_folder("./once"), &a, &f), f);
    assert_non_null(strstr(f.message, "two outputs"));
    assert_int_equal(f.exit_code, 2);
    outputs_discard(&o);
    assert_int_equal(symlink("nowhere", in_folder("dangling")), 0);
    assert_fault(FAULT_WRITE, outputs_add(&o, in_folder("dangling"), &a, &f), f);
    outputs_discard(&o);
    assert_int_equal(unlink(in_folder("dangling")), 0);
    if (geteuid() != 0) {
        write_text("read only", "old");
        assert_int_equal(chmod(in_folder("read only"), 0444), 0);
        assert_fault(FAULT_WRITE, outputs_add(&o, in_folder("read only"), &a, &f), f);
        outputs_discard(&o);
        assert_int_equal(unlink(in_folder("read only")), 0);
    }
    assert_int_equal(count_files(), before);
}

static void test_mode_and_links(void **state)
{
    (void)state;
    outputs     o;
    fault       f;
    FILE       *a, *b;
    struct stat st;
    umask(027);
    write_text("target", "old");
    assert_int_equal(chmod(in_folder("target"), 0604), 0);
    assert_int_equal(symlink("target", in_folder("link")), 0);
    outputs_init(&o);
    assert_fault(FAULT_NONE, outputs_add(&o, in_folder("link"), &a, &f), f);
    assert_fault(FAULT_NONE, outputs_add(&o, in_folder("fresh mode"), &b, &f), f);
    fputs("new", a);
    assert_fault(FAULT_NONE, outputs_commit(&o, &f), f);
    outputs_discard(&o);
    assert_file("target", "new");
    assert_int_equal(lstat(in_folder("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(in_folder("target"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0604);
    assert_int_equal(stat(in_folder("fresh mode"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

static void test_devices(void **state)
{
    (void)state;
    outputs   o;
    fault     f;
    FILE     *null, *full, *a;
    const int before = count_files();
    outputs_init(&o);
    assert_fault(FAULT_NONE, outputs_add(&o, "/dev/null", &null, &f), f);
    fputs("gone", null);
    assert_fault(FAULT_NONE, outputs_commit(&o, &f), f);
    outputs_discard(&o);
    /* A disk that is full: the fault is found at the commit, and the other output does not appear. */
    assert_fault(FAULT_NONE, outputs_add(&o, in_folder("beside"), &a, &f), f);
    assert_fault(FAULT_NONE, outputs_add(&o, "/dev/full", &full, &f), f);
    fputs("too much", full);
    assert_fault(FAULT_WRITE, outputs_commit(&o, &f), f);
    assert_true(strncmp(f.message, "/dev/full: ", 11) == 0);
    outputs_discard(&o);
    assert_int_equal(count_files(), before);
}

static void test_pipe(void **state)
{
    (void)state;
    outputs o;
    fault   f;
    FILE   *a;
    int     ends[2];
    char    path[32], got[8] = "";
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    outputs_init(&o);
    assert_fault(FAULT_NONE, outputs_add(&o, path, &a, &f), f);
    fputs("text", a);
    assert_fault(FAULT_NONE, outputs_commit(&o, &f), f);
    outputs_discard(&o);
    assert_int_equal(read(ends[0], got, sizeof got), 4);
    assert_string_equal(got, "text");
    close(ends[0]);
    close(ends[1]);
}

/* When the second file cannot be put in its place, the first one is taken back. */
static void test_rename_fails(void **state)
{
    (void)state;
    outputs   o;
    fault     f;
    FILE     *a, *b;
    const int before = count_files();
    outputs_init(&o);
    assert_fault(FAULT_NONE, outputs_add(&o, in_folder("first"), &a, &f), f);
    assert_fault(FAULT_NONE, outputs_add(&o, in_folder("second"), &b, &f), f);
    assert_int_equal(mkdir(in_folder("second"), 0777), 0);
    assert_fault(FAULT_WRITE, outputs_commit(&o, &f), f);
    outputs_discard(&o);
    assert_int_equal(rmdir(in_folder("second")), 0);
    assert_int_equal(count_files(), before);
}

static void stop(int number)
{
    if (!outputs_abandon(number)) return;
    _exit(number == SIGINT ? EXIT_INTERRUPTED : 128 + number);
}

static void test_signal(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM};
    write_text("result", "old");
    const int before = count_files();
    for (int k = 0; k < 2; k++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            outputs o;
            FILE   *a, *b;
            signal(signals[k], stop);
            outputs_init(&o);
            if (outputs_add(&o, in_folder("result"), &a, NULL) || outputs_add(&o, in_folder("other"), &b, NULL)) _exit(1);
            fputs("half", a);
            fflush(a);
            raise(signals[k]);
            _exit(1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 128 + signals[k]);
        assert_int_equal(count_files(), before);
        assert_file("result", "old");
    }
}

/* Signals at any moment: the two outputs are both the old ones or both the new ones. */
static void test_signal_at_any_time(void **state)
{
    (void)state;
    const int before = count_files();
    for (int k = 0; k < 60; k++) {
        write_text("one", "old");
        write_text("two", "old");
        int ready[2];
        assert_int_equal(pipe(ready), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            signal(SIGTERM, stop);
            close(ready[0]);
            for (int i = 0;; i++) {
                outputs o;
                FILE   *a, *b;
                outputs_init(&o);
                if (outputs_add(&o, in_folder("one"), &a, NULL) || outputs_add(&o, in_folder("two"), &b, NULL)) _exit(1);
                fprintf(a, "%d", i);
                fprintf(b, "%d", i);
                if (outputs_commit(&o, NULL)) _exit(1);
                outputs_discard(&o);
                if (i == 0 && write(ready[1], "x", 1) != 1) _exit(1);
            }
        }
        char byte;
        int  status;
        close(ready[1]);
        assert_int_equal(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        usleep((useconds_t)(13 * k));
        kill(child, SIGTERM);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 128 + SIGTERM);
        char *one = read_file("one", NULL), *two = read_file("two", NULL);
        assert_string_equal(one, two);
        free(one);
        free(two);
        assert_int_equal(count_files(), before + 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commit),  cmocka_unit_test(test_discard), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_mode_and_links), cmocka_unit_test(test_devices), cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_rename_fails), cmocka_unit_test(test_signal), cmocka_unit_test(test_signal_at_any_time),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
