// The simulated machine, as its parts see it: device memory (memory.cc), the shadow that finds races (shadow.cc),
// and the threads of the running block (threads.cc). The driver API (driver.cc) and NVRTC (nvrtc.cc) sit on top.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cudasim {

constexpr unsigned most_lanes = 64; // of a warp: AMD's
constexpr unsigned most_threads = 1024;
constexpr size_t stack_bytes = 128 * 1024;
constexpr size_t most_static_shared = 48 * 1024; // of a kernel of CUDA's
constexpr size_t most_shared = 64 * 1024;        // what Turing has
constexpr uint64_t device_bytes = 16ull << 30;
constexpr unsigned char fresh_byte = 0xA5;     // what memory nobody has written holds
constexpr uint64_t most_filled = 256ull << 20; // bytes of an allocation: the device has more memory than the host may

struct dim {
    unsigned x, y, z;
    uint64_t count() const { return static_cast<uint64_t>(x) * y * z; }
};

struct range {
    uintptr_t begin = 0, end = 0;
    bool holds(uintptr_t address, size_t bytes) const { return address >= begin && address + bytes <= end; }
};

// How many lanes a wave of HIP's device has: what CUDASIM_WAVE says, 32 or 64; 64 without it.
unsigned wave_size();

// ---------------------------------------------------------------- modules and kernels

struct module {
    void *library = nullptr;
    int device = 0;
    int file = -1; // the memory file it was loaded from
    bool is_hip = false;
    unsigned warp_size = 32;
    range image;  // the whole loaded library
    range shared; // all __shared__ variables of all its kernels
    struct variable {
        std::string symbol, name; // as the linker and as the source call it
        range place;
    };
    std::vector<variable> shared_variables;
    std::vector<struct kernel *> kernels;
};

struct kernel {
    std::string name;
    module *owner;
    void (*entry)(void **arguments);
    std::vector<module::variable> shared_variables; // of the module's, those it may use
    size_t static_shared = 0;
    size_t dynamic_limit = most_static_shared;
    unsigned most_threads = cudasim::most_threads;
    unsigned local_bytes = 0;
};

// ---------------------------------------------------------------- threads (threads.cc)

enum class state : uint8_t { fresh, ready, at_barrier, at_warp, done };
enum class collective : uint8_t { sync, shuffle, ballot, match };

struct thread {
    void *stack_pointer;
    char *stack;
    state now;
    unsigned number, warp, lane;
    dim index;
    // Where it waits, and what it brought.
    int line;
    const char *what;
    collective kind;
    uint64_t mask;
    int source_lane;
    uint64_t value, result;
    // clock[l]: the newest event of lane l of this warp that is known to have happened before.
    uint32_t clock[most_lanes];
};

// The launch in progress; there is one at a time.
struct launch {
    const kernel *what = nullptr;
    void **arguments = nullptr;
    dim grid{}, block{};
    size_t dynamic_shared = 0;
    dim block_index{};
    uint64_t block_number = 0;
    uint64_t seed = 0;
    bool check_uninitialised = true;
    std::string error; // the first thing found wrong
};

extern launch running;
extern unsigned warp_size; // of the running kernel
extern thread *current;    // null outside a launch
extern thread *threads;    // of the running block, by number

// Run the whole launch; false, and running.error says why, when something was wrong.
bool execute();
// Record what is wrong and leave the launch. Called by a running thread; does not return.
[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
// ` (kernel NAME, block B, …)`, for messages.
std::string place();
// ` at FILE:LINE` for an address of the kernel's code, as far as known.
std::string source_of(const void *code);

// ---------------------------------------------------------------- memory (memory.cc)

// The device whose context is current in the call that is being done: an allocation belongs to it,
// and no other one sees that.
extern int current_device;

// A new allocation, its first most_filled bytes filled with fresh_byte, or 0.
uintptr_t allocate(size_t bytes);
bool release(uintptr_t address);
// Does the whole range lie in one live allocation of the current device?
bool is_live(uintptr_t address, size_t bytes);
// Why it does not: `4 bytes past the end of an allocation of 400 bytes`.
std::string describe_address(uintptr_t address);
// The address must be live.
size_t offset_in_allocation(uintptr_t address);
uint64_t bytes_free();
extern range arena;
extern range dynamic_shared_memory;

// ---------------------------------------------------------------- races (shadow.cc)

enum class access : uint8_t { read, write, atomic, load, store }; // load, store: volatile ones, as relaxed atomics

// A number that grows with every barrier, block and launch; two accesses of different phases of one block are ordered.
extern uint32_t phase;
void begin_launch();
void end_launch();
void begin_block();
void begin_phase();
// A __threadfence(): atomics after it publish what the block has written.
void fence();
// Every load and store of a kernel comes here first.
void touch(uintptr_t address, size_t bytes, access how, const void *code);
void touch_whole(uintptr_t address, size_t bytes, access how, const void *code);

// ---------------------------------------------------------------- what accesses cost (traffic.cc)

void count_traffic(uintptr_t address, size_t bytes, access how, bool is_shared, const void *code);
void count_barrier();
void traffic_of_block();
void traffic_of_launch();

} // namespace cudasim
