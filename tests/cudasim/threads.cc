// The threads of a block are fibers on one processor: each runs until it waits at a barrier or a warp-wide operation,
// or returns. Blocks run one after another. CUDASIM_SEED makes the order of blocks and threads a random one.
#include "machine.h"

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <dlfcn.h>
#include <numeric>
#include <random>
#include <sys/mman.h>
#include <unistd.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace cudasim {

launch running;
unsigned warp_size = 32;
thread *current;
thread *threads;

namespace {

unsigned thread_count;
unsigned waiting_count; // at the block's barrier
thread storage[most_threads];
std::vector<char *> free_stacks;
uint64_t votes; // of the barrier that is filling: bit 63 any, 62 not all, below the count
uint64_t last_votes;

// ---------------------------------------------------------------- switching between stacks

#if defined(__x86_64__)

extern "C" void cudasim_switch(void **save, void *load);
asm(".text\n"
    ".globl cudasim_switch\n"
    ".hidden cudasim_switch\n"
    ".type cudasim_switch, @function\n"
    "cudasim_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size cudasim_switch, . - cudasim_switch\n");

void *scheduler_stack;

void enter_thread(thread &one) { cudasim_switch(&scheduler_stack, one.stack_pointer); }

void leave_thread(thread &one) { cudasim_switch(&one.stack_pointer, scheduler_stack); }

void prepare_stack(thread &one, void (*start)()) {
    void **top = reinterpret_cast<void **>(one.stack + stack_bytes);
    *--top = nullptr; // keeps the stack aligned as after a call
    *--top = reinterpret_cast<void *>(start);
    for (int i = 0; i < 6; i++)
        *--top = nullptr;
    one.stack_pointer = top;
}

#else

ucontext_t contexts[most_threads], scheduler_context;

void enter_thread(thread &one) { swapcontext(&scheduler_context, &contexts[one.number]); }

void leave_thread(thread &one) { swapcontext(&contexts[one.number], &scheduler_context); }

void prepare_stack(thread &one, void (*start)()) {
    ucontext_t &context = contexts[one.number];
    getcontext(&context);
    context.uc_stack.ss_sp = one.stack;
    context.uc_stack.ss_size = stack_bytes;
    makecontext(&context, start, 0);
}

#endif

char *take_stack() {
    if (free_stacks.empty()) {
        constexpr size_t guard = 4096;
        void *got = mmap(nullptr, guard + stack_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (got == MAP_FAILED)
            return nullptr;
        mprotect(got, guard, PROT_NONE);
        return static_cast<char *>(got) + guard;
    }
    char *stack = free_stacks.back();
    free_stacks.pop_back();
    return stack;
}

void run_thread() {
    running.what->entry(running.arguments);
    current->now = state::done;
    leave_thread(*current);
    __builtin_unreachable();
}

// ---------------------------------------------------------------- what is wrong

std::string where_is(const thread &one) {
    char text[200];
    if (one.now == state::done)
        snprintf(text, sizeof text, "thread %u has returned", one.number);
    else if (one.now == state::at_warp)
        snprintf(text, sizeof text, "thread %u waits at %s on line %d with mask 0x%08llx", one.number, one.what,
                 one.line, static_cast<unsigned long long>(one.mask));
    else
        snprintf(text, sizeof text, "thread %u waits at %s on line %d", one.number, one.what, one.line);
    return text;
}

// No thread can go on, and some have not returned: say which two do not meet.
void report_divergence() {
    for (unsigned t = 0; t < thread_count; t++) {
        const thread &one = threads[t];
        if (one.now != state::at_warp)
            continue;
        for (unsigned lane = 0; lane < warp_size; lane++) {
            unsigned number = one.warp * warp_size + lane;
            if (!(one.mask >> lane & 1) || number >= thread_count || number == t)
                continue;
            const thread &other = threads[number];
            if (other.now == state::at_warp && other.mask == one.mask && other.line == one.line)
                continue;
            running.error =
                std::string("divergent ") + one.what + place() + ": " + where_is(one) + ", " + where_is(other);
            return;
        }
    }
    for (unsigned t = 0; t < thread_count; t++)
        for (unsigned u = 0; u < thread_count && threads[t].now == state::at_barrier; u++)
            if (threads[u].now != state::at_barrier) {
                running.error =
                    "divergent barrier" + place() + ": " + where_is(threads[t]) + ", " + where_is(threads[u]);
                return;
            }
    running.error = "the threads of the block wait for each other" + place();
}

// ---------------------------------------------------------------- running a block

void start_thread(unsigned number) {
    thread &one = threads[number];
    one.number = number;
    one.warp = number / warp_size;
    one.lane = number % warp_size;
    one.index = {number % running.block.x, number / running.block.x % running.block.y,
                 number / (running.block.x * running.block.y)};
    one.now = state::fresh;
    one.stack = nullptr;
    memset(one.clock, 0, sizeof one.clock);
    one.clock[one.lane] = 1;
}

bool run_block(std::vector<unsigned> &order, std::mt19937_64 *random) {
    begin_block();
    waiting_count = 0;
    votes = 0;
    for (unsigned t = 0; t < thread_count; t++)
        start_thread(t);
    for (unsigned done = 0; done < thread_count;) {
        bool progress = false;
        if (random)
            std::shuffle(order.begin(), order.end(), *random);
        for (unsigned t : order) {
            thread &one = threads[t];
            if (one.now == state::fresh) {
                one.stack = take_stack();
                if (!one.stack) {
                    running.error = "no memory for the stacks of the threads";
                    return false;
                }
                prepare_stack(one, run_thread);
                one.now = state::ready;
            }
            if (one.now != state::ready)
                continue;
            progress = true;
            current = &one;
            enter_thread(one);
            current = nullptr;
            if (!running.error.empty())
                return false;
            if (one.now == state::done) {
                free_stacks.push_back(one.stack);
                one.stack = nullptr;
                done++;
            }
        }
        if (!progress) {
            report_divergence();
            return false;
        }
    }
    return true;
}

} // namespace

bool execute() {
    threads = storage;
    warp_size = running.what->owner->warp_size;
    thread_count = static_cast<unsigned>(running.block.count());
    running.error.clear();
    begin_launch();

    std::mt19937_64 random(running.seed);
    std::vector<unsigned> order(thread_count);
    std::iota(order.begin(), order.end(), 0u);
    uint64_t block_count = running.grid.count();
    std::vector<uint64_t> blocks;
    if (running.seed) {
        blocks.resize(block_count);
        std::iota(blocks.begin(), blocks.end(), uint64_t{0});
        std::shuffle(blocks.begin(), blocks.end(), random);
    }
    const range &shared = running.what->owner->shared;
    bool good = true;
    for (uint64_t i = 0; i < block_count && good; i++) {
        uint64_t b = running.seed ? blocks[i] : i;
        running.block_number = b;
        running.block_index = {static_cast<unsigned>(b % running.grid.x),
                               static_cast<unsigned>(b / running.grid.x % running.grid.y),
                               static_cast<unsigned>(b / running.grid.x / running.grid.y)};
        memset(reinterpret_cast<void *>(shared.begin), fresh_byte, shared.end - shared.begin);
        memset(reinterpret_cast<void *>(dynamic_shared_memory.begin), fresh_byte, running.dynamic_shared);
        good = run_block(order, running.seed ? &random : nullptr);
        traffic_of_block();
    }
    end_launch();
    traffic_of_launch();
    for (unsigned t = 0; t < thread_count; t++)
        if (threads[t].stack) {
            free_stacks.push_back(threads[t].stack);
            threads[t].stack = nullptr;
        }
    return good;
}

void fail(const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    running.error = text;
    leave_thread(*current);
    __builtin_unreachable();
}

std::string place() {
    char text[300];
    const dim &b = running.block_index;
    if (running.grid.y == 1 && running.grid.z == 1)
        snprintf(text, sizeof text, " (kernel %s, block %u)", running.what->name.c_str(), b.x);
    else
        snprintf(text, sizeof text, " (kernel %s, block (%u,%u,%u))", running.what->name.c_str(), b.x, b.y, b.z);
    return text;
}

std::string source_of(const void *code) {
    const module &owner = *running.what->owner;
    Dl_info where;
    if (!dladdr(code, &where) || owner.file < 0)
        return "";
    char command[200], line[400] = "";
    snprintf(command, sizeof command, "addr2line -s -e /proc/%d/fd/%d 0x%zx 2>/dev/null", static_cast<int>(getpid()),
             owner.file,
             static_cast<size_t>(static_cast<const char *>(code) - static_cast<char *>(where.dli_fbase)) - 1);
    if (FILE *answer = popen(command, "r")) {
        if (!fgets(line, sizeof line, answer))
            line[0] = 0;
        pclose(answer);
    }
    line[strcspn(line, " \n")] = 0;
    return !line[0] || line[0] == '?' ? "" : std::string(" at ") + line;
}

} // namespace cudasim

// ---------------------------------------------------------------- what kernels call, through cuda_sim.h

using namespace cudasim;

namespace {

// All threads that `mask` names have come: hand out the results, order what they did, and let them go.
void complete(uint64_t mask) {
    thread *lanes = threads + current->warp * warp_size;
    unsigned there = std::min(warp_size, thread_count - current->warp * warp_size);
    uint32_t merged[most_lanes] = {};
    uint64_t ballot = 0;
    for (unsigned l = 0; l < there; l++)
        if (mask >> l & 1) {
            ballot |= static_cast<uint64_t>(lanes[l].value != 0) << l;
            for (unsigned k = 0; k < warp_size; k++)
                merged[k] = std::max(merged[k], lanes[l].clock[k]);
        }
    for (unsigned l = 0; l < there; l++) {
        if (!(mask >> l & 1))
            continue;
        thread &one = lanes[l];
        switch (one.kind) {
        case collective::sync:
            memcpy(one.clock, merged, sizeof merged);
            one.clock[l]++;
            break;
        case collective::shuffle: {
            unsigned from = static_cast<unsigned>(one.source_lane);
            bool named = from < there && (mask >> from & 1);
            one.result = named ? lanes[from].value : 0xA5A5A5A5A5A5A5A5u; // undefined by CUDA
            break;
        }
        case collective::ballot: one.result = ballot; break;
        case collective::match:
            one.result = 0;
            for (unsigned k = 0; k < there; k++)
                if ((mask >> k & 1) && lanes[k].value == one.value)
                    one.result |= uint64_t{1} << k;
            break;
        }
        one.now = state::ready;
    }
}

uint64_t meet(collective kind, uint64_t mask, uint64_t value, int source_lane, const char *what, int line) {
    thread &me = *current;
    if (!(mask >> me.lane & 1))
        fail("%s on line %d%s: thread %u, which is lane %u, is not in the mask 0x%08llx", what, line, place().c_str(),
             me.number, me.lane, static_cast<unsigned long long>(mask));
    me.now = state::at_warp;
    me.kind = kind;
    me.mask = mask;
    me.value = value;
    me.source_lane = source_lane;
    me.what = what;
    me.line = line;
    thread *lanes = threads + me.warp * warp_size;
    unsigned there = std::min(warp_size, thread_count - me.warp * warp_size);
    bool complete_now = true;
    for (unsigned l = 0; l < there && complete_now; l++)
        if (mask >> l & 1)
            complete_now = lanes[l].now == state::at_warp && lanes[l].mask == mask && lanes[l].line == line &&
                           lanes[l].kind == kind;
    if (complete_now)
        complete(mask);
    else
        leave_thread(me);
    return me.result;
}

} // namespace

extern "C" {

dim cudasim_thread_idx() { return current->index; }
dim cudasim_block_idx() { return running.block_index; }
dim cudasim_block_dim() { return running.block; }
dim cudasim_grid_dim() { return running.grid; }
unsigned cudasim_lane() { return current->lane; }
char *cudasim_dynamic_shared() { return reinterpret_cast<char *>(dynamic_shared_memory.begin); }

// Returns the votes: bit 63 any, bit 62 not all, and how many below.
uint64_t cudasim_syncthreads(const char *what, int line, int vote) {
    thread &me = *current;
    me.now = state::at_barrier;
    me.what = what;
    me.line = line;
    for (unsigned t = 0; t < thread_count && waiting_count; t++) {
        const thread &other = threads[t];
        if (other.now == state::at_barrier) {
            if (t != me.number && other.line != line)
                fail("divergent barrier%s: %s, %s", place().c_str(), where_is(other).c_str(), where_is(me).c_str());
            if (t != me.number)
                break;
        }
    }
    votes += vote != 0;
    votes |= uint64_t{vote != 0} << 63 | uint64_t{vote == 0} << 62;
    if (++waiting_count < thread_count) {
        leave_thread(me);
        return last_votes;
    }
    waiting_count = 0;
    count_barrier();
    last_votes = votes;
    votes = 0;
    begin_phase();
    for (unsigned t = 0; t < thread_count; t++)
        threads[t].now = state::ready;
    return last_votes;
}

void cudasim_syncwarp(int line, uint64_t mask) { meet(collective::sync, mask, 0, 0, "__syncwarp", line); }

uint64_t cudasim_shuffle(const char *what, int line, uint64_t mask, uint64_t value, int source_lane) {
    return meet(collective::shuffle, mask, value, source_lane, what, line);
}

uint64_t cudasim_ballot(const char *what, int line, uint64_t mask, int vote) {
    return meet(collective::ballot, mask, vote != 0, 0, what, line);
}

unsigned cudasim_match(int line, uint64_t mask, uint64_t value) {
    return static_cast<unsigned>(meet(collective::match, mask, value, 0, "__match_any_sync", line));
}

unsigned cudasim_activemask() {
    unsigned mask = 0;
    for (unsigned l = 0; l < warp_size && current->warp * warp_size + l < thread_count; l++)
        mask |= static_cast<unsigned>(threads[current->warp * warp_size + l].now != state::done) << l;
    return mask;
}

void cudasim_fence() { fence(); }
void cudasim_failed() { running.check_uninitialised = false; }
}
