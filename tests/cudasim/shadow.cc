// Finds races: every word of shared and of device memory has a shadow that remembers its last writer and readers.
//
// Order within a block comes from barriers. `phase` counts them (and blocks, and launches) upwards, so one number says
// which launch, block and barrier interval an access belongs to. Inside a phase only threads of one warp can be
// ordered, by __syncwarp; each thread keeps a vector clock over the lanes of its warp for that. Between the blocks of
// a launch nothing is ordered, but for atomics after a __threadfence().
#include "machine.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unordered_map>

namespace cudasim {

uint32_t phase = 1;

namespace {

// One access: whose, when. phase 0 is none.
struct event {
    uint32_t phase;
    uint32_t clock; // of its thread; or, of several readers, their number in `crowds`
    uint16_t thread;
    uint16_t flags;
};

constexpr uint16_t is_atomic = 1, is_crowd = 2, is_split = 4, is_load = 8;

// Four bytes. A word whose bytes are used apart is split: written.clock is then the number of its bytes in `splits`.
struct cell {
    event written;
    event written_earlier; // an atomic of another thread before the last one
    event read;
    event read_earlier; // in another block of this launch
};

struct bytes_apart {
    cell at[4];
};

// Several readers of one word in one phase.
struct crowd {
    uint16_t someone, another; // of two different warps, if several_warps
    bool several_warps;
    uint32_t clock[most_lanes];
};

cell *device_shadow;
std::vector<cell> static_shadow; // of all kernels of the module, which together may have more than one block can
cell dynamic_shadow[most_shared / 4 + 64];
std::vector<crowd> crowds;       // of this phase
std::vector<bytes_apart> splits; // of this launch
uint32_t launch_phase, block_phase;
std::vector<std::pair<uint32_t, uint64_t>> block_starts; // (phase, block number) of this launch, in order

// Which blocks' writes the running block may rely on: by atomics after fences.
std::vector<bool> known_blocks;
bool has_fenced;
std::unordered_map<uintptr_t, std::vector<bool>> published;

// CUDASIM_STALE: what a place held before the last volatile write to it, which each other block
// reads once. A load may be that late, as nothing orders it: it is what a block finds while others
// are still at work, which here have mostly ended.
struct late {
    unsigned char before[16];
    size_t bytes;
    uint64_t writer, reader; // the reader: the block that has read it last
};
std::unordered_map<uintptr_t, late> lates;
bool is_stale;
struct {
    uintptr_t address;
    size_t bytes;
    unsigned char now[16];
} shown; // a place that holds what it held before, until the load that was announced is over; bytes 0: none

uint64_t block_of(uint32_t when) {
    auto after = std::upper_bound(block_starts.begin(), block_starts.end(), when,
                                  [](uint32_t value, const auto &start) { return value < start.first; });
    return after == block_starts.begin() ? 0 : std::prev(after)->second;
}

// Where the access is, for messages.
struct target {
    uintptr_t address, offset;
    bool is_shared;
    size_t bytes;
    const void *code;
};

const char *verb(access how) {
    static const char *const verbs[] = {"read", "write", "atomic", "atomic", "store"};
    return verbs[static_cast<int>(how)];
}

bool is_relaxed(access how) { return how == access::atomic || how == access::load || how == access::store; }

std::string name_of(const target &where) {
    char text[200];
    if (!where.is_shared) {
        snprintf(text, sizeof text, "device memory at 0x%zx (byte %zu of its buffer)",
                 static_cast<size_t>(where.address), static_cast<size_t>(offset_in_allocation(where.address)));
        return text;
    }
    for (const module::variable &one : running.what->shared_variables)
        if (one.place.holds(where.address, 1)) {
            snprintf(text, sizeof text, "shared memory at byte %zu of %s",
                     static_cast<size_t>(where.address - one.place.begin), one.name.c_str());
            return text;
        }
    snprintf(text, sizeof text, "shared memory at byte %zu", static_cast<size_t>(where.offset));
    return text;
}

[[noreturn]] void race(const target &where, const event &before, unsigned other, const char *what, access how) {
    std::string source = source_of(where.code);
    if (before.phase < block_phase)
        fail("race on %s%s: %s by thread %u of block %llu, %s by thread %u of block %llu%s", name_of(where).c_str(),
             place().c_str(), what, other, static_cast<unsigned long long>(block_of(before.phase)), verb(how),
             current->number, static_cast<unsigned long long>(running.block_number), source.c_str());
    fail("race on %s%s: %s by thread %u, %s by thread %u%s, no barrier between", name_of(where).c_str(),
         place().c_str(), what, other, verb(how), current->number, source.c_str());
}

// May an earlier access of this launch, by another thread, happen at the same time as what `current` does now?
bool is_concurrent(const target &where, const event &before) {
    if (before.phase < launch_phase || (where.is_shared && before.phase < block_phase))
        return false;
    if (before.phase < block_phase) {
        uint64_t block = block_of(before.phase);
        return !(block < known_blocks.size() && known_blocks[block]);
    }
    if (before.phase != phase || before.thread == current->number)
        return false;
    return before.thread / warp_size != current->warp || before.clock > current->clock[before.thread % warp_size];
}

void check_readers(const target &where, const event &readers, access how) {
    if (!(readers.flags & is_crowd)) {
        if (is_concurrent(where, readers))
            race(where, readers, readers.thread, "read", how);
        return;
    }
    if (readers.phase < block_phase) {
        if (is_concurrent(where, readers))
            race(where, readers, readers.thread, "read", how);
        return;
    }
    if (readers.phase != phase)
        return;
    const crowd &all = crowds[readers.clock];
    if (all.several_warps || all.someone / warp_size != current->warp)
        race(where, readers, all.someone / warp_size != current->warp ? all.someone : all.another, "read", how);
    for (unsigned lane = 0; lane < warp_size; lane++)
        if (lane != current->lane && all.clock[lane] > current->clock[lane])
            race(where, readers, current->warp * warp_size + lane, "read", how);
}

void note_reader(const target &where, event &readers, const event &now) {
    if (readers.phase != phase) {
        readers = now;
        return;
    }
    if (!(readers.flags & is_crowd)) {
        if (readers.thread == now.thread || !is_concurrent(where, readers)) {
            readers = now;
            return;
        }
        crowd both = {readers.thread, now.thread, readers.thread / warp_size != now.thread / warp_size, {}};
        both.clock[readers.thread % warp_size] = readers.clock;
        if (!both.several_warps)
            both.clock[now.thread % warp_size] = now.clock;
        readers.flags |= is_crowd;
        readers.clock = static_cast<uint32_t>(crowds.size());
        crowds.push_back(both);
        return;
    }
    crowd &all = crowds[readers.clock];
    if (all.several_warps)
        return;
    if (all.someone / warp_size != now.thread / warp_size) {
        all.another = now.thread;
        all.several_warps = true;
    } else {
        all.clock[now.thread % warp_size] = now.clock;
    }
}

void touch_cell(cell &shadow, const target &where, access how) {
    const event now = {phase, current->clock[current->lane], static_cast<uint16_t>(current->number), 0};
    event &writer = shadow.written;
    const bool mine = writer.phase == phase && writer.thread == now.thread;

    if (how == access::read) {
        if (where.is_shared && running.check_uninitialised && writer.phase < block_phase)
            fail("read of %s, not written before%s: by thread %u%s", name_of(where).c_str(), place().c_str(),
                 current->number, source_of(where.code).c_str());
        if (!mine && !(writer.flags & is_load) && is_concurrent(where, writer))
            race(where, writer, writer.thread, writer.flags & is_atomic ? "atomic" : "write", how);
        if (is_concurrent(where, shadow.written_earlier))
            race(where, shadow.written_earlier, shadow.written_earlier.thread,
                 shadow.written_earlier.flags & is_atomic ? "atomic" : "write", how);
        if (shadow.read.phase >= launch_phase && shadow.read.phase < block_phase)
            shadow.read_earlier = shadow.read;
        note_reader(where, shadow.read, now);
        return;
    }
    if ((how == access::atomic || how == access::load) && where.is_shared && running.check_uninitialised &&
        writer.phase < block_phase)
        fail("atomic on %s, not written before%s: by thread %u%s", name_of(where).c_str(), place().c_str(),
             current->number, source_of(where.code).c_str());

    const bool both_atomic = is_relaxed(how) && (writer.flags & is_atomic);
    if (!mine && !both_atomic && is_concurrent(where, writer))
        race(where, writer, writer.thread, writer.flags & is_atomic ? "atomic" : "write", how);
    if (how == access::write && is_concurrent(where, shadow.written_earlier))
        race(where, shadow.written_earlier, shadow.written_earlier.thread, "atomic", how);
    const bool only_reads = how == access::load;
    if (!only_reads) {
        check_readers(where, shadow.read, how);
        if (is_concurrent(where, shadow.read_earlier))
            race(where, shadow.read_earlier, shadow.read_earlier.thread, "read", how);
    }
    // An entry that others may still read at the same time is kept: the store before an atomic, and before a load.
    const bool is_kept = only_reads ? !(writer.flags & is_load) && writer.phase >= launch_phase
                                    : both_atomic && !mine && is_concurrent(where, writer);
    if (is_kept && !is_concurrent(where, shadow.written_earlier))
        shadow.written_earlier = writer;
    writer = now;
    if (is_relaxed(how))
        writer.flags |= is_atomic | (only_reads ? is_load : 0);
}

// All bytes of the access, word by word; words used in part are split.
void touch_words(cell *shadow, uintptr_t base, uintptr_t address, size_t bytes, access how, bool is_shared,
                 const void *code) {
    uintptr_t offset = address - base, end = offset + bytes;
    while (offset < end) {
        cell &word = shadow[offset / 4];
        target where = {base + offset, offset, is_shared, bytes, code};
        bool split = (word.written.flags & is_split) && word.written.phase >= launch_phase;
        if ((word.written.flags & is_split) && !split)
            word = cell{};
        unsigned first = offset % 4, last = std::min<uintptr_t>(4, first + (end - offset));
        if (first == 0 && last == 4 && !split) {
            touch_cell(word, where, how);
        } else {
            if (!split) {
                splits.push_back({{word, word, word, word}});
                for (unsigned i = 1; i < 4 && (word.read.flags & is_crowd) && word.read.phase == phase; i++) {
                    splits.back().at[i].read.clock = static_cast<uint32_t>(crowds.size());
                    crowds.push_back(crowd{crowds[word.read.clock]});
                }
                word = cell{};
                word.written = {phase, static_cast<uint32_t>(splits.size() - 1), 0, is_split};
            }
            for (unsigned i = first; i < last; i++) {
                where.address = base + (offset & ~uintptr_t{3}) + i;
                where.offset = (offset & ~uintptr_t{3}) + i;
                touch_cell(splits[word.written.clock].at[i], where, how);
            }
        }
        offset += last - first;
    }
}

void exchange_order(uintptr_t address) {
    auto found = published.find(address);
    if (found != published.end()) {
        if (known_blocks.size() < found->second.size())
            known_blocks.resize(found->second.size());
        for (size_t i = 0; i < found->second.size(); i++)
            if (found->second[i])
                known_blocks[i] = true;
    }
    if (!has_fenced)
        return;
    std::vector<bool> &all = published[address];
    if (all.size() < running.grid.count())
        all.resize(running.grid.count());
    for (size_t i = 0; i < known_blocks.size(); i++)
        if (known_blocks[i])
            all[i] = true;
    all[running.block_number] = true;
}

void end_late_read() {
    if (shown.bytes)
        memcpy(reinterpret_cast<void *>(shown.address), shown.now, shown.bytes);
    shown.bytes = 0;
}

void begin_late_read(uintptr_t address, size_t bytes) {
    auto found = lates.find(address);
    if (found == lates.end() || found->second.bytes != bytes)
        return;
    late &one = found->second;
    uint64_t self = running.block_number;
    if (one.writer == self || one.reader == self || (one.writer < known_blocks.size() && known_blocks[one.writer]))
        return;
    one.reader = self;
    void *place = reinterpret_cast<void *>(address);
    shown.address = address;
    shown.bytes = bytes;
    memcpy(shown.now, place, bytes);
    memcpy(place, one.before, bytes);
}

void remember(uintptr_t address, size_t bytes) {
    late &one = lates[address];
    one.bytes = std::min(bytes, sizeof one.before);
    one.writer = one.reader = running.block_number;
    memcpy(one.before, reinterpret_cast<void *>(address), one.bytes);
}

void be_late(uintptr_t address, size_t bytes, access how) {
    if (how == access::load)
        begin_late_read(address, bytes);
    else if (how == access::store)
        remember(address, bytes);
    else if (how != access::read)
        lates.erase(address);
}

void clear_shared_shadow() {
    const range &all = running.what->owner->shared;
    static_shadow.assign((all.end - all.begin) / 4 + 2, cell{});
    memset(dynamic_shadow, 0, sizeof dynamic_shadow);
}

} // namespace

void begin_launch() {
    if (!device_shadow && arena.begin) {
        size_t bytes = (arena.end - arena.begin) / 4 * sizeof(cell);
        void *got = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        device_shadow = got == MAP_FAILED ? nullptr : static_cast<cell *>(got);
    }
    launch_phase = ++phase;
    block_starts.clear();
    splits.clear();
    published.clear();
    lates.clear();
    is_stale = getenv("CUDASIM_STALE") != nullptr;
    clear_shared_shadow();
}

void begin_block() {
    end_late_read();
    block_phase = ++phase;
    block_starts.emplace_back(phase, running.block_number);
    crowds.clear();
    known_blocks.clear();
    has_fenced = false;
}

void begin_phase() {
    ++phase;
    crowds.clear();
}

void fence() { has_fenced = true; }

void end_launch() { end_late_read(); }

void touch(uintptr_t address, size_t bytes, access how, const void *code) {
    if (!current)
        return;
    end_late_read();
    if (arena.holds(address, 1)) {
        if (!is_live(address, bytes))
            fail("%s of %zu bytes out of bounds at 0x%zx, %s%s: by thread %u%s", verb(how), bytes,
                 static_cast<size_t>(address), describe_address(address).c_str(), place().c_str(), current->number,
                 source_of(code).c_str());
        if (device_shadow)
            touch_words(device_shadow, arena.begin, address, bytes, how, false, code);
        count_traffic(address, bytes, how, false, code);
        if (is_relaxed(how))
            exchange_order(address);
        if (is_stale)
            be_late(address, bytes, how);
        return;
    }
    const module &owner = *running.what->owner;
    if (owner.shared.holds(address, 1)) {
        bool inside = false;
        for (const module::variable &one : running.what->shared_variables)
            inside |= one.place.holds(address, bytes);
        if (!inside)
            fail("%s of %zu bytes outside the shared arrays%s: by thread %u%s", verb(how), bytes, place().c_str(),
                 current->number, source_of(code).c_str());
        touch_words(static_shadow.data(), owner.shared.begin & ~uintptr_t{3}, address, bytes, how, true, code);
        count_traffic(address, bytes, how, true, code);
        return;
    }
    if (dynamic_shared_memory.holds(address, 1)) {
        if (address + bytes > dynamic_shared_memory.begin + running.dynamic_shared)
            fail("%s of %zu bytes at byte %zu of %zu bytes of dynamic shared memory%s: by thread %u%s", verb(how),
                 bytes, static_cast<size_t>(address - dynamic_shared_memory.begin), running.dynamic_shared,
                 place().c_str(), current->number, source_of(code).c_str());
        touch_words(dynamic_shadow, dynamic_shared_memory.begin, address, bytes, how, true, code);
        count_traffic(address, bytes, how, true, code);
        return;
    }
    uintptr_t stack = reinterpret_cast<uintptr_t>(current->stack);
    if (address - stack < stack_bytes || owner.image.holds(address, bytes))
        return; // its own variables; tables and variables of the module
    fail("%s of %zu bytes out of bounds at 0x%zx, %s%s: by thread %u%s", verb(how), bytes, static_cast<size_t>(address),
         describe_address(address).c_str(), place().c_str(), current->number, source_of(code).c_str());
}

// One load or store, which a device does at multiples of its size alone.
void touch_whole(uintptr_t address, size_t bytes, access how, const void *code) {
    if (address % bytes)
        fail("%s of %zu bytes at 0x%zx, no multiple of them, %s%s: by thread %u%s", verb(how), bytes,
             static_cast<size_t>(address), describe_address(address).c_str(), place().c_str(), current->number,
             source_of(code).c_str());
    touch(address, bytes, how, code);
}

} // namespace cudasim

// ---------------------------------------------------------------- what g++ -fsanitize=thread calls

using cudasim::access;

#define HERE __builtin_return_address(0)
#define TOUCH(p, n, how) cudasim::touch(reinterpret_cast<uintptr_t>(p), n, access::how, HERE)
#define TOUCH_WHOLE(p, n, how) cudasim::touch_whole(reinterpret_cast<uintptr_t>(p), n, access::how, HERE)

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}

#define ACCESSES(n)                                                                                                    \
    void __tsan_read##n(void *p) { TOUCH_WHOLE(p, n, read); }                                                          \
    void __tsan_write##n(void *p) { TOUCH_WHOLE(p, n, write); }                                                        \
    void __tsan_volatile_read##n(void *p) { TOUCH_WHOLE(p, n, load); }                                                 \
    void __tsan_volatile_write##n(void *p) { TOUCH_WHOLE(p, n, store); }                                               \
    void __tsan_unaligned_read##n(void *p) { TOUCH_WHOLE(p, n, read); }                                                \
    void __tsan_unaligned_write##n(void *p) { TOUCH_WHOLE(p, n, write); }                                              \
    void __tsan_unaligned_volatile_read##n(void *p) { TOUCH_WHOLE(p, n, load); }                                       \
    void __tsan_unaligned_volatile_write##n(void *p) { TOUCH_WHOLE(p, n, store); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_read_range(void *p, size_t n) {
    if (n)
        TOUCH(p, n, read);
}
void __tsan_write_range(void *p, size_t n) {
    if (n)
        TOUCH(p, n, write);
}
void *__tsan_memcpy(void *to, const void *from, size_t n) {
    if (n) {
        TOUCH(from, n, read);
        TOUCH(to, n, write);
    }
    return memcpy(to, from, n);
}
void *__tsan_memmove(void *to, const void *from, size_t n) {
    if (n) {
        TOUCH(from, n, read);
        TOUCH(to, n, write);
    }
    return memmove(to, from, n);
}
void *__tsan_memset(void *to, int value, size_t n) {
    if (n)
        TOUCH(to, n, write);
    return memset(to, value, n);
}

// CUDA's atomics, as cuda_sim.h spells them, announce themselves here.
void cudasim_atomic(void *p, size_t n, void *code) {
    cudasim::touch(reinterpret_cast<uintptr_t>(p), n, access::atomic, code);
}

#define ATOMICS(bits)                                                                                                  \
    using atomic_##bits = uint##bits##_t;                                                                              \
    atomic_##bits __tsan_atomic##bits##_load(const volatile atomic_##bits *p, int) {                                   \
        TOUCH(p, sizeof *p, atomic);                                                                                   \
        return *p;                                                                                                     \
    }                                                                                                                  \
    void __tsan_atomic##bits##_store(volatile atomic_##bits *p, atomic_##bits v, int) {                                \
        TOUCH(p, sizeof *p, atomic);                                                                                   \
        *p = v;                                                                                                        \
    }                                                                                                                  \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile atomic_##bits *p, atomic_##bits *expected,              \
                                                      atomic_##bits v, int, int) {                                     \
        TOUCH(p, sizeof *p, atomic);                                                                                   \
        if (*p == *expected) {                                                                                         \
            *p = v;                                                                                                    \
            return 1;                                                                                                  \
        }                                                                                                              \
        *expected = *p;                                                                                                \
        return 0;                                                                                                      \
    }                                                                                                                  \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile atomic_##bits *p, atomic_##bits *expected,                \
                                                    atomic_##bits v, int, int) {                                       \
        return __tsan_atomic##bits##_compare_exchange_strong(p, expected, v, 0, 0);                                    \
    }                                                                                                                  \
    ATOMIC_UPDATE(bits, exchange, v)                                                                                   \
    ATOMIC_UPDATE(bits, fetch_add, static_cast<atomic_##bits>(old + v))                                                \
    ATOMIC_UPDATE(bits, fetch_sub, static_cast<atomic_##bits>(old - v))                                                \
    ATOMIC_UPDATE(bits, fetch_and, old &v)                                                                             \
    ATOMIC_UPDATE(bits, fetch_or, old | v)                                                                             \
    ATOMIC_UPDATE(bits, fetch_xor, old ^ v)
#define ATOMIC_UPDATE(bits, name, updated)                                                                             \
    atomic_##bits __tsan_atomic##bits##_##name(volatile atomic_##bits *p, atomic_##bits v, int) {                      \
        TOUCH(p, sizeof *p, atomic);                                                                                   \
        atomic_##bits old = *p;                                                                                        \
        *p = updated;                                                                                                  \
        return old;                                                                                                    \
    }
ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

void __tsan_atomic_thread_fence(int) { cudasim::fence(); }
void __tsan_atomic_signal_fence(int) {}
}
