// Counts what the loads and stores of a launch would cost a GPU: with CUDASIM_TRAFFIC=FILE, a line
// for each instruction of a kernel is added to FILE:
//
//     KERNEL LINE SPACE HOW requests=N units=N least=N bytes=N lanes=N turns=N
//     KERNEL barriers=N
//
// SPACE is global or shared, HOW read, write or atomic. A request is one instruction of one warp.
// Its units are, of global memory, sectors of 32 bytes that its lanes touch; of shared memory,
// turns: the most different words of one of 32 banks that its lanes want, which take turns (lanes
// with elements of 8 bytes go by halves of a warp, those with 16 by quarters). `least` is how many
// there would be were the bytes, each counted once, next to each other; `bytes` is how many a lane
// has, and `lanes` how many loads or stores of an element these were. `turns` is of
// read-modify-writes, 0 of others: as many of a request as lanes of it are at one place, the most
// at any, for these wait for each other. The barriers are those of all blocks, each where all
// threads of its block meet.
//
// A thread's n-th time at an instruction goes together with the n-th times of the other lanes of
// its warp: as in a loop that all of them go round equally often.
#include "machine.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace cudasim {

namespace {

struct request {
    bool is_shared;
    access how;
    size_t bytes;                                      // of a lane
    std::vector<std::pair<unsigned, uintptr_t>> lanes; // and what they touch
};

struct total {
    uint64_t requests = 0, units = 0, least = 0, lanes = 0, turns = 0;
};

using instruction = std::tuple<const void *, bool, access, size_t>;

std::map<std::tuple<const void *, unsigned, uint32_t>, request> requests; // of this block: code, warp, n-th time
std::unordered_map<const void *, std::vector<uint32_t>> times;            // of this block: by thread
std::map<instruction, total> totals;                                      // of this launch
uint64_t barriers;                                                        // likewise

uint64_t blocks_of(const request &one, size_t size) {
    std::set<uintptr_t> touched;
    for (const auto &[lane, address] : one.lanes)
        for (uintptr_t at = address / size; at <= (address + one.bytes - 1) / size; at++)
            touched.insert(at);
    return touched.size();
}

uint64_t turns_of(const request &one) {
    constexpr unsigned banks = 32, word = 4;
    const unsigned group = one.bytes > 8 ? warp_size / 4 : one.bytes > 4 ? warp_size / 2 : warp_size;
    uint64_t turns = 0;
    for (unsigned first = 0; first < warp_size; first += group) {
        std::set<uintptr_t> wanted[banks];
        size_t most = 0;
        for (const auto &[lane, address] : one.lanes)
            if (lane >= first && lane < first + group)
                for (uintptr_t at = address / word; at <= (address + one.bytes - 1) / word; at++) {
                    wanted[at % banks].insert(at);
                    most = std::max(most, wanted[at % banks].size());
                }
        turns += most;
    }
    return turns;
}

uint64_t turns_at_places(const request &one) {
    std::map<uintptr_t, uint64_t> at;
    uint64_t most = 0;
    for (const auto &[lane, address] : one.lanes)
        most = std::max(most, ++at[address]);
    return most;
}

void add_block() {
    for (const auto &[key, one] : requests) {
        total &sum = totals[{std::get<0>(key), one.is_shared, one.how, one.bytes}];
        sum.requests++;
        sum.lanes += one.lanes.size();
        const uint64_t size = one.is_shared ? 128 : 32, distinct = blocks_of(one, 1);
        sum.units += one.is_shared ? turns_of(one) : blocks_of(one, size);
        sum.least += (distinct + size - 1) / size;
        if (one.how == access::atomic)
            sum.turns += turns_at_places(one);
    }
    requests.clear();
    times.clear();
}

const char *path() {
    static const char *const file = getenv("CUDASIM_TRAFFIC");
    return file;
}

} // namespace

void count_traffic(uintptr_t address, size_t bytes, access how, bool is_shared, const void *code) {
    if (!path())
        return;
    std::vector<uint32_t> &by_thread = times[code];
    if (by_thread.size() <= current->number)
        by_thread.resize(most_threads);
    request &one = requests[{code, current->warp, by_thread[current->number]++}];
    one.is_shared = is_shared;
    one.how = how;
    one.bytes = bytes;
    one.lanes.emplace_back(current->lane, address);
}

void count_barrier() { barriers++; }

void traffic_of_block() {
    if (path())
        add_block();
}

void traffic_of_launch() {
    if (!path())
        return;
    if (FILE *file = fopen(path(), "a")) {
        for (const auto &[key, sum] : totals) {
            const auto &[code, is_shared, how, bytes] = key;
            std::string source = source_of(code);
            const char *verb = how == access::read                            ? "read"
                               : how == access::atomic || how == access::load ? "atomic"
                                                                              : "write";
            fprintf(file,
                    "%s %s %s %s requests=%llu units=%llu least=%llu bytes=%zu lanes=%llu "
                    "turns=%llu\n",
                    running.what->name.c_str(), source.empty() ? "?" : source.c_str() + 4,
                    is_shared ? "shared" : "global", verb, static_cast<unsigned long long>(sum.requests),
                    static_cast<unsigned long long>(sum.units), static_cast<unsigned long long>(sum.least), bytes,
                    static_cast<unsigned long long>(sum.lanes), static_cast<unsigned long long>(sum.turns));
        }
        fprintf(file, "%s barriers=%llu\n", running.what->name.c_str(), static_cast<unsigned long long>(barriers));
        fclose(file);
    }
    totals.clear();
    barriers = 0;
}

} // namespace cudasim
