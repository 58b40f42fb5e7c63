// Device memory: one reserved arena from which allocations are cut, each between red zones, none ever reused.
// A table with one entry for each 512 bytes says to which allocation they belong, so that a check takes one look.
#include "machine.h"

#include <cstring>
#include <sys/mman.h>

namespace cudasim {

range arena;
range dynamic_shared_memory;
int current_device;

namespace {

constexpr size_t granule = 512;
constexpr size_t arena_bytes = 64ull << 30;

struct allocation {
    range place;
    bool live;
    int device;
};

std::vector<allocation> allocations; // by number, from 1
uint32_t *owner_of;                  // per granule: the allocation's number, 0 for a red zone
uintptr_t next_free;
uint64_t live_bytes;

void *reserve(size_t bytes) {
    void *got = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return got == MAP_FAILED ? nullptr : got;
}

bool prepare() {
    if (owner_of)
        return true;
    void *memory = reserve(arena_bytes);
    void *table = reserve(arena_bytes / granule * sizeof *owner_of);
    if (!memory || !table)
        return false;
    arena.begin = reinterpret_cast<uintptr_t>(memory);
    arena.end = arena.begin + arena_bytes;
    owner_of = static_cast<uint32_t *>(table);
    next_free = arena.begin + 4096;
    allocations.push_back({{}, false, 0});
    return true;
}

allocation *find(uintptr_t address) {
    if (!arena.holds(address, 1))
        return nullptr;
    uint32_t number = owner_of[(address - arena.begin) / granule];
    return number ? &allocations[number] : nullptr;
}

// Give whole pages inside the range back to the system.
void discard(uintptr_t begin, uintptr_t end) {
    begin = (begin + 4095) & ~uintptr_t{4095};
    end &= ~uintptr_t{4095};
    if (begin < end)
        madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

} // namespace

uintptr_t allocate(size_t bytes) {
    if (!prepare() || bytes > device_bytes - live_bytes || bytes > arena.end - next_free - 4 * granule)
        return 0;
    uintptr_t begin = next_free;
    size_t granules = (bytes + granule - 1) / granule;
    uint32_t number = static_cast<uint32_t>(allocations.size());
    allocations.push_back({{begin, begin + bytes}, true, current_device});
    for (size_t i = 0; i < granules; i++)
        owner_of[(begin - arena.begin) / granule + i] = number;
    next_free = begin + (granules + 2) * granule;
    live_bytes += bytes;
    memset(reinterpret_cast<void *>(begin), fresh_byte, bytes < most_filled ? bytes : most_filled);
    return begin;
}

bool release(uintptr_t address) {
    allocation *found = find(address);
    if (!found || !found->live || found->place.begin != address)
        return false;
    found->live = false;
    live_bytes -= found->place.end - found->place.begin;
    discard(found->place.begin, found->place.end);
    return true;
}

bool is_live(uintptr_t address, size_t bytes) {
    allocation *found = find(address);
    return found && found->live && found->device == current_device && found->place.holds(address, bytes);
}

std::string describe_address(uintptr_t address) {
    char text[160];
    if (address < 4096)
        return "a null pointer";
    if (!arena.holds(address, 1))
        return "not device memory";
    if (allocation *inside = find(address); inside && !inside->live)
        return "in an allocation that was freed";
    else if (inside && inside->device != current_device)
        return "in an allocation of another device";
    const allocation *nearest = nullptr;
    for (const allocation &one : allocations)
        if (one.place.begin && (!nearest || one.place.begin <= address))
            nearest = &one;
    if (!nearest)
        return "outside all allocations";
    size_t bytes = nearest->place.end - nearest->place.begin;
    if (address < nearest->place.begin)
        snprintf(text, sizeof text, "%zu bytes before an allocation of %zu bytes", nearest->place.begin - address,
                 bytes);
    else if (address >= nearest->place.end)
        snprintf(text, sizeof text, "at byte %zu of an allocation of %zu bytes", address - nearest->place.begin, bytes);
    else
        snprintf(text, sizeof text, "across the end of an allocation of %zu bytes", bytes);
    return text;
}

size_t offset_in_allocation(uintptr_t address) {
    allocation *found = find(address);
    return found ? address - found->place.begin : 0;
}

uint64_t bytes_free() { return device_bytes - live_bytes; }

} // namespace cudasim
