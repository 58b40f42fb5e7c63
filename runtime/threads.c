// The threads that run a C kernel's blocks together with the thread that launches it.
//
// Three things make a launch of a few microseconds worth sharing, and none of them may cost more
// than it gains:
//
// - A thread that waits for the next launch spins for a short while, then sleeps. It spins only
//   where launches have been coming that fast, and not on a machine that has other work: then a
//   spinning thread takes the time of one that could do something.
// - Nobody is waited for who has not begun. Each thread takes blocks from its own stretch first (so
//   that its cache has what it had in the last launch) and then from the others', and a thread that
//   wakes up late finds the launch closed. Beside other work the caller is more patient: a system
//   that shares processors out fairly gives more to two threads that sleep now and then than to one
//   that does all the work.
// - Launches that are known to be short from earlier ones are done by the caller alone.
#if !defined _GNU_SOURCE
#define _GNU_SOURCE // sched_getaffinity
#endif
#include "internal.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    APART = 128, // bytes: processors fetch cache lines in pairs
    MOST_THREADS = 1024,
    STACK_BYTES = 4 << 20, // kernels have arrays of a few hundred KiB on theirs
    // All in nanoseconds.
    SPIN = 200000,          // a sleeping thread takes up to a tenth of this to wake up
    SPIN_ON_END = 50000,    // for the last blocks of others,
    SPIN_BUSY = 5000,       // and beside other work
    PREEMPTED = 30000,      // spinning took so long between two looks at the clock: do others want the processor?
    PATIENCE = 1000000,     // of a caller whose own share is done, beside other work
    LOOK_AGAIN = 50000000,  // after that, whether there is other work,
    LOOK_TWICE = 2000000,   // (and again so soon: a system's own threads want a processor for less)
    BUSY_MOST = 1600000000, // and after up to that, where spinning was found out to be wrong again and again
    SHORT = 3000,           // not worth sharing even if the others are awake,
    SHORT_ASLEEP = 30000,   // or have to be woken,
    SHORT_BUSY = 500000     // or wait until others give them a processor
};

// Blocks of a launch. The thread that begins with this share goes on with other shares.
struct share {
    _Alignas(APART) _Atomic int64_t next;
    int64_t end;
    _Atomic bool is_begun; // by the one whose it is
};

struct member {
    _Alignas(APART) struct fclrt_team *team;
    unsigned number;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    _Atomic bool is_asleep;
};

// gate: OPEN while blocks may be taken, and INSIDE for each member that is taking them.
enum { OPEN = 1, INSIDE = 2 };

struct fclrt_team {
    unsigned size;    // threads, the caller included
    unsigned started; // members 1 to this have a thread
    pid_t process;    // a fork's child has none of them

    fclrt_part *part;
    void *const *args;
    int64_t blocks;
    unsigned used; // members that the launch is for
    int64_t last;  // when the last launch ended

    _Alignas(APART) _Atomic uint64_t gate;
    _Alignas(APART) _Atomic uint64_t launches;
    _Atomic int64_t busy_until, avoid; // do not spin before that; how long that was
    _Atomic int64_t look_at;           // then it is to be seen whether there is other work
    _Atomic bool seems_busy;           // there was at the last look
    _Atomic bool is_ending, is_caller_asleep;
    pthread_mutex_t lock;
    pthread_cond_t is_done;
    struct share *shares;
    struct member *members;
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void relax(void) {
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__ && defined __GNUC__
    __asm__ volatile("yield");
#endif
}

// ---------------------------------------------------------------- how many

// The share of the processors that a control group leaves: quota and period; 0: no limit.
static unsigned quota(void) {
    char *text = fclrt_read_file("/sys/fs/cgroup/cpu.max", NULL, NULL);
    double most = 0, period = 0;
    bool is_limited = text && sscanf(text, "%lf %lf", &most, &period) == 2 && most > 0 && period > 0;
    free(text);
    return is_limited && most / period < MOST_THREADS ? (unsigned)(most / period + 0.999) : 0;
}

unsigned fclrt_processors(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
#if defined __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        count = CPU_COUNT(&set);
#endif
    unsigned processors = count < 1 ? 1 : count > MOST_THREADS ? MOST_THREADS : (unsigned)count;
    unsigned limit = quota();
    return limit && limit < processors ? limit : processors;
}

// The number that a variable begins with; 0: none.
static unsigned number_in(const char *variable) {
    const char *text = getenv(variable);
    long number = text ? strtol(text, NULL, 10) : 0;
    return number < 1 ? 0 : number > MOST_THREADS ? MOST_THREADS : (unsigned)number;
}

unsigned fclrt_thread_count(void) {
    unsigned wanted = number_in("FCL_THREADS");
    if (!wanted)
        wanted = number_in("OMP_NUM_THREADS");
    return wanted ? wanted : fclrt_processors();
}

// ---------------------------------------------------------------- members

static void wake(struct member *member) {
    if (!atomic_load(&member->is_asleep))
        return;
    pthread_mutex_lock(&member->lock);
    pthread_mutex_unlock(&member->lock);
    pthread_cond_signal(&member->wake);
}

// Each wakes two more, so that nobody wakes many.
static void wake_others(struct fclrt_team *team, unsigned number) {
    for (unsigned i = 2 * number + 1; i <= 2 * number + 2 && i < team->used && i <= team->started; i++)
        wake(&team->members[i]);
}

// From so many stretches, that of member `number` first.
static void take_blocks(struct fclrt_team *team, unsigned number, unsigned stretches) {
    for (unsigned i = 0; i < stretches; i++) {
        struct share *share = &team->shares[(number + i) % team->used];
        // The last block is left to the one whose stretch it is, if that one is at it: its cache
        // has what the block needs, and to wait for it takes less time than to fetch that.
        bool is_left = i > 0 && atomic_load_explicit(&share->is_begun, memory_order_relaxed);
        if (i == 0)
            atomic_store_explicit(&share->is_begun, true, memory_order_relaxed);
        while (atomic_load_explicit(&share->next, memory_order_relaxed) + is_left < share->end) {
            int64_t block = atomic_fetch_add_explicit(&share->next, 1, memory_order_relaxed);
            if (block < share->end)
                team->part(team->args, block, block + 1, team->blocks);
        }
    }
}

static bool enter(struct fclrt_team *team) {
    uint64_t gate = atomic_load(&team->gate);
    while (gate & OPEN)
        if (atomic_compare_exchange_weak(&team->gate, &gate, gate + INSIDE))
            return true;
    return false;
}

static void leave(struct fclrt_team *team) {
    bool is_last = (atomic_fetch_sub(&team->gate, INSIDE) & ~(uint64_t)OPEN) == INSIDE;
    if (!is_last || !atomic_load(&team->is_caller_asleep))
        return;
    pthread_mutex_lock(&team->lock);
    pthread_cond_signal(&team->is_done);
    pthread_mutex_unlock(&team->lock);
}

// Do more threads want a processor than there are?
static bool has_other_work(void) {
    char *text = fclrt_read_file("/proc/loadavg", NULL, NULL);
    long running = 0;
    bool is_known = text && sscanf(text, "%*f %*f %*f %ld/", &running) == 1;
    free(text);
    return is_known && running > sysconf(_SC_NPROCESSORS_ONLN);
}

static bool is_busy(struct fclrt_team *team, int64_t time) { return time < atomic_load(&team->busy_until); }

static void avoid_spinning(struct fclrt_team *team, int64_t time) {
    int64_t before = atomic_load(&team->avoid);
    bool is_again = time - atomic_load(&team->busy_until) < before;
    int64_t avoid = !is_again ? LOOK_AGAIN : 2 * before < BUSY_MOST ? 2 * before : BUSY_MOST;
    atomic_store(&team->avoid, avoid);
    atomic_store(&team->busy_until, time + avoid);
}

static bool may_spin(struct fclrt_team *team, int64_t time) {
    int64_t look_at = atomic_load(&team->look_at);
    if (time >= look_at && atomic_compare_exchange_strong(&team->look_at, &look_at, time + LOOK_AGAIN) &&
        !is_busy(team, time)) {
        bool had = atomic_load(&team->seems_busy), has = has_other_work();
        atomic_store(&team->seems_busy, has);
        if (has && had)
            avoid_spinning(team, time);
        else if (has)
            atomic_store(&team->look_at, time + LOOK_TWICE);
    }
    return !is_busy(team, time);
}

// Waits for a launch that is not the one of that number. `spins` says whether the last one came
// soon enough to be worth it.
static void await_launch(struct member *member, uint64_t seen, bool *spins) {
    struct fclrt_team *team = member->team;
    int64_t begin = now(), before = begin;
    while (*spins && may_spin(team, before)) {
        for (int i = 0; i < 50; i++) {
            if (atomic_load(&team->launches) != seen)
                return;
            relax();
        }
        int64_t time = now();
        if (time - before > PREEMPTED)
            atomic_store(&team->look_at, 0);
        if (time - begin > SPIN)
            break;
        before = time;
    }
    pthread_mutex_lock(&member->lock);
    atomic_store(&member->is_asleep, true);
    while (atomic_load(&team->launches) == seen)
        pthread_cond_wait(&member->wake, &member->lock);
    atomic_store(&member->is_asleep, false);
    pthread_mutex_unlock(&member->lock);
    *spins = now() - begin <= SPIN;
}

static void *live(void *argument) {
    FCLRT_ENTER; // a thread begins as the one was set that made it
    struct member *member = argument;
    struct fclrt_team *team = member->team;
    uint64_t seen = 0;
    bool spins = true;
    for (;;) {
        await_launch(member, seen, &spins);
        seen = atomic_load(&team->launches);
        if (atomic_load(&team->is_ending))
            return NULL;
        if (!enter(team))
            continue;
        if (member->number < team->used) {
            wake_others(team, member->number);
            take_blocks(team, member->number, team->used);
        }
        leave(team);
    }
}

// The application's signals are for its own threads. False: the system gives no more threads.
static bool start(struct member *member) {
    sigset_t all, before;
    pthread_attr_t attributes;
    size_t bytes = 0;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    if (pthread_attr_getstacksize(&attributes, &bytes) == 0 && bytes < STACK_BYTES)
        pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_started = pthread_create(&member->thread, &attributes, live, member) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return is_started;
}

// ---------------------------------------------------------------- teams

static void reset(struct fclrt_team *team) {
    team->started = 0;
    team->process = getpid();
    atomic_init(&team->gate, 0);
    atomic_init(&team->launches, 0);
    atomic_init(&team->busy_until, 0);
    atomic_init(&team->avoid, 0);
    atomic_init(&team->look_at, 0);
    atomic_init(&team->seems_busy, false);
    atomic_init(&team->is_ending, false);
    atomic_init(&team->is_caller_asleep, false);
    pthread_mutex_init(&team->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&team->is_done, &attributes);
    pthread_condattr_destroy(&attributes);
    for (unsigned i = 0; i < team->size; i++) {
        struct member *member = &team->members[i];
        *member = (struct member){.team = team, .number = i};
        pthread_mutex_init(&member->lock, NULL);
        pthread_cond_init(&member->wake, NULL);
    }
}

static void *aligned(size_t count, size_t bytes) {
    void *memory = NULL;
    return posix_memalign(&memory, APART, count * bytes) == 0 ? memset(memory, 0, count * bytes) : NULL;
}

struct fclrt_team *fclrt_team_new(unsigned size) {
    struct fclrt_team *team = aligned(1, sizeof *team);
    if (!team)
        return NULL;
    team->size = size ? size : 1;
    team->shares = aligned(team->size, sizeof *team->shares);
    team->members = aligned(team->size, sizeof *team->members);
    if (!team->shares || !team->members) {
        free(team->shares);
        free(team->members);
        free(team);
        return NULL;
    }
    reset(team);
    return team;
}

void fclrt_team_free(struct fclrt_team *team) {
    if (!team)
        return;
    if (team->process == getpid()) {
        atomic_store(&team->is_ending, true);
        atomic_fetch_add(&team->launches, 1);
        for (unsigned i = 1; i <= team->started; i++)
            wake(&team->members[i]);
        for (unsigned i = 1; i <= team->started; i++)
            pthread_join(team->members[i].thread, NULL);
    }
    free(team->shares);
    free(team->members);
    free(team);
}

static bool has_blocks(struct fclrt_team *team) {
    for (unsigned i = 0; i < team->used; i++)
        if (atomic_load(&team->shares[i].next) < team->shares[i].end)
            return true;
    return false;
}

// Lets the others do what is theirs, for a while.
static void await_others(struct fclrt_team *team) {
    int64_t end = now() + PATIENCE;
    struct timespec until = {.tv_sec = end / 1000000000, .tv_nsec = end % 1000000000};
    pthread_mutex_lock(&team->lock);
    atomic_store(&team->is_caller_asleep, true);
    while (has_blocks(team) && pthread_cond_timedwait(&team->is_done, &team->lock, &until) == 0) {
    }
    atomic_store(&team->is_caller_asleep, false);
    pthread_mutex_unlock(&team->lock);
}

static void await_end(struct fclrt_team *team) {
    uint64_t gate = atomic_fetch_and(&team->gate, ~(uint64_t)OPEN) & ~(uint64_t)OPEN;
    int64_t begin = gate ? now() : 0, end = begin + (is_busy(team, begin) ? SPIN_BUSY : SPIN_ON_END);
    // A pause takes 10 to 140 cycles, by the processor: looks at the gate after each.
    while (gate && now() < end)
        for (int i = 0; gate && i < 20; i++) {
            relax();
            gate = atomic_load(&team->gate);
        }
    if (!gate)
        return;
    pthread_mutex_lock(&team->lock);
    atomic_store(&team->is_caller_asleep, true);
    while (atomic_load(&team->gate))
        pthread_cond_wait(&team->is_done, &team->lock);
    atomic_store(&team->is_caller_asleep, false);
    pthread_mutex_unlock(&team->lock);
}

// The blocks from `first` on.
static void share_out(struct fclrt_team *team, fclrt_part *part, void *const *args, int64_t first, int64_t blocks) {
    if (team->process != getpid())
        reset(team);
    int64_t left = blocks - first;
    unsigned used = left < team->size ? (unsigned)left : team->size;
    while (team->started + 1 < used && start(&team->members[team->started + 1]))
        team->started++;
    team->part = part;
    team->args = args;
    team->blocks = blocks;
    team->used = used;
    for (unsigned i = 0; i < used; i++) {
        atomic_store_explicit(&team->shares[i].next, first + left * i / used, memory_order_relaxed);
        team->shares[i].end = first + left * (i + 1) / used;
        atomic_store_explicit(&team->shares[i].is_begun, false, memory_order_relaxed);
    }
    atomic_store(&team->gate, OPEN);
    atomic_fetch_add(&team->launches, 1);
    wake_others(team, 0);
    if (team->started + 1 >= used && !may_spin(team, now())) {
        take_blocks(team, 0, 1);
        await_others(team);
    }
    take_blocks(team, 0, used);
    await_end(team);
}

// All blocks, with the others' help for those that are left at time `end`. True: none were.
static bool do_alone(struct fclrt_team *team, fclrt_part *part, void *const *args, int64_t blocks, int64_t end) {
    for (int64_t block = 0; block < blocks; block++) {
        part(args, block, block + 1, blocks);
        if (block + 1 < blocks && now() > end) {
            share_out(team, part, args, block + 1, blocks);
            return false;
        }
    }
    return true;
}

double fclrt_team_run(struct fclrt_team *team, fclrt_part *part, void *const *args, int64_t blocks, int64_t *work) {
    int64_t begin = now();
    bool is_soon = begin - team->last < SPIN;
    int64_t least = is_busy(team, begin) ? SHORT_BUSY : is_soon ? SHORT : SHORT_ASLEEP;
    bool is_alone = true;
    if (blocks < 2 || team->size < 2) {
        part(args, 0, blocks, blocks);
    } else if (*work && *work < least) {
        is_alone = do_alone(team, part, args, blocks, begin + 2 * least);
    } else {
        share_out(team, part, args, 0, blocks);
        is_alone = false;
    }
    team->last = now();
    int64_t time = team->last - begin, now_work = is_alone ? time : time * team->used;
    // Work elsewhere on the machine makes it longer, and nothing makes it shorter.
    *work = !*work || now_work < *work ? now_work : *work + (now_work - *work + 3) / 4;
    return (double)time * 1e-9;
}
