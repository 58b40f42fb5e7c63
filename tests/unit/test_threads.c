// The runtime's threads for C kernels: every block is done once, whoever does it, however many there are.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 300 };

struct counts {
    _Atomic int done[MOST];
    _Atomic int wrong;
    int64_t blocks;
    pthread_t caller;
    _Atomic int by_others;
};

static void count(void *const *args, int64_t first, int64_t end, int64_t blocks) {
    struct counts *counts = args[0];
    if (blocks != counts->blocks || first < 0 || end > blocks)
        atomic_fetch_add(&counts->wrong, 1);
    for (int64_t i = first; i < end; i++) {
        atomic_fetch_add(&counts->done[i], 1);
        if (!pthread_equal(pthread_self(), counts->caller))
            atomic_fetch_add(&counts->by_others, 1);
    }
}

// The same, and every block takes a millisecond.
static void count_slowly(void *const *args, int64_t first, int64_t end, int64_t blocks) {
    for (int64_t i = first; i < end; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        count(args, i, i + 1, blocks);
    }
}

// One launch; false unless each block was done once. Gives how many others did.
static bool launch(struct fclrt_team *team, fclrt_part *part, int64_t blocks, int64_t *work, int *by_others) {
    struct counts *counts = calloc(1, sizeof *counts);
    counts->blocks = blocks;
    counts->caller = pthread_self();
    void *args[] = {counts};
    bool is_good = fclrt_team_run(team, part, args, blocks, work) >= 0 && !counts->wrong;
    for (int64_t i = 0; i < MOST; i++)
        is_good &= counts->done[i] == (i < blocks);
    if (by_others)
        *by_others = counts->by_others;
    free(counts);
    return is_good;
}

static void do_little(void *const *args, int64_t first, int64_t end, int64_t blocks) {
    (void)args, (void)first, (void)end, (void)blocks;
}

static void does_each_block_once(void **state) {
    (void)state;
    static const unsigned sizes[] = {1, 2, 3, 7, 20};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct fclrt_team *team = fclrt_team_new(sizes[s]);
        assert_non_null(team);
        int64_t kept = 0;
        for (int round = 0; round < 300; round++) {
            int64_t unknown = 0, blocks = round % (round % 3 ? 9 : MOST + 1);
            assert_true(launch(team, count, blocks, round % 2 ? &kept : &unknown, NULL));
            if (round % 50 == 0) // the others fall asleep
                nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        }
        fclrt_team_free(team);
    }
}

static void shares_what_is_long(void **state) {
    (void)state;
    struct fclrt_team *team = fclrt_team_new(4);
    int by_others = 0;
    int64_t work = 0;
    assert_true(launch(team, count_slowly, 40, &work, &by_others));
    assert_true(by_others > 0);
    // A launch that was short before is begun alone, and not ended so.
    work = 1;
    assert_true(launch(team, count_slowly, 40, &work, &by_others));
    assert_true(by_others > 0);
    // A launch that is known to be short wakes nobody.
    for (int i = 0; i < 20; i++)
        assert_true(launch(team, count, 8, &work, NULL));
    work = 1;
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    assert_true(launch(team, count, 2, &work, &by_others));
    assert_int_equal(by_others, 0);
    fclrt_team_free(team);
}

// How much a launch is, in ns of one thread, is the time of one that was done alone; what was estimated goes a quarter
// of the way to it. On a busy machine others may have helped: then it is tried again.
static void measures_what_was_alone(void **state) {
    (void)state;
    struct fclrt_team *team = fclrt_team_new(8);
    bool is_right = false;
    for (int i = 0; i < 100 && !is_right; i++) {
        int64_t work = 1;
        double seconds = fclrt_team_run(team, do_little, NULL, 2, &work);
        int64_t time = (int64_t)(seconds * 1e9 + 0.5);
        is_right = work == 1 + (time - 1 + 3) / 4;
    }
    assert_true(is_right);
    fclrt_team_free(team);
}

// A child has none of its parent's threads.
static void works_after_fork(void **state) {
    (void)state;
    struct fclrt_team *team = fclrt_team_new(3);
    int64_t work = 0;
    assert_true(launch(team, count_slowly, 10, &work, NULL));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int by_others = 0;
        bool is_good = launch(team, count_slowly, 20, &work, &by_others) && by_others > 0;
        fclrt_team_free(team);
        struct fclrt_team *another = fclrt_team_new(3);
        is_good &= launch(another, count_slowly, 10, &work, NULL);
        _exit(is_good ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(launch(team, count_slowly, 10, &work, NULL));
    // A child that only closes it.
    child = fork();
    if (child == 0) {
        fclrt_team_free(team);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    fclrt_team_free(team);
}

static void *have_own_team(void *argument) {
    _Atomic bool *is_good = argument;
    struct fclrt_team *team = fclrt_team_new(3);
    int64_t work = 0;
    for (int i = 0; i < 200; i++) {
        work = i % 2 ? 0 : work;
        if (!launch(team, count, i % 40, &work, NULL))
            *is_good = false;
    }
    fclrt_team_free(team);
    return NULL;
}

static void teams_are_apart(void **state) {
    (void)state;
    pthread_t threads[4];
    _Atomic bool is_good = true;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, have_own_team, &is_good), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_true(is_good);
}

static void counts_threads(void **state) {
    (void)state;
    unsetenv("OMP_NUM_THREADS");
    unsetenv("FCL_THREADS");
    unsigned processors = fclrt_processors();
    assert_true(processors >= 1);
    assert_int_equal(fclrt_thread_count(), processors);
    setenv("OMP_NUM_THREADS", "3,2", 1);
    assert_int_equal(fclrt_thread_count(), 3);
    setenv("FCL_THREADS", "5", 1);
    assert_int_equal(fclrt_thread_count(), 5);
    setenv("FCL_THREADS", "0", 1);
    assert_int_equal(fclrt_thread_count(), 3);
    setenv("FCL_THREADS", "many", 1);
    unsetenv("OMP_NUM_THREADS");
    assert_int_equal(fclrt_thread_count(), processors);
    unsetenv("FCL_THREADS");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(does_each_block_once),    cmocka_unit_test(shares_what_is_long),
        cmocka_unit_test(measures_what_was_alone), cmocka_unit_test(works_after_fork),
        cmocka_unit_test(teams_are_apart),         cmocka_unit_test(counts_threads),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
