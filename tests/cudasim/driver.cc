// The CUDA driver API over the simulated machine, as far as a thin runtime uses it. Streams are
// synchronous. There is one device, or CUDASIM_DEVICES of them, with a context each; fault and
// shared memory are those of all.
#include "machine.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <elf.h>
#include <functional>
#include <link.h>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

using namespace cudasim;

namespace {

enum : int {
    success = 0,
    invalid_value = 1,
    out_of_memory = 2,
    not_initialised = 3,
    no_device = 100,
    invalid_device = 101,
    invalid_image = 200,
    invalid_ptx = 218,
    not_found = 500,
    launch_out_of_resources = 701,
    peer_access_already_enabled = 704,
    launch_failed = 719,
    capture_unsupported = 900,
    capture_invalidated = 901,
    capture_implicit = 906,
};

std::recursive_mutex one_at_a_time;
std::string last_failure;
int fault = success; // of a launch that failed: from then on every call gives it, as a broken CUDA context does
bool initialised;
constexpr int most_devices = 8;
int contexts[most_devices];                     // the address of a device's is its context's handle
thread_local std::vector<int> current_contexts; // devices, the current one last; none: the first device

int device_count() {
    const char *given = getenv("CUDASIM_DEVICES");
    int count = given ? atoi(given) : 1;
    return count < 1 ? 1 : count > most_devices ? most_devices : count;
}

int device_now() { return current_contexts.empty() ? 0 : current_contexts.back(); }

int device_of(const void *context) { return static_cast<int>(static_cast<const int *>(context) - contexts); }

// One call at a time, for the device whose context is current.
struct guard {
    std::lock_guard<std::recursive_mutex> lock;
    explicit guard(std::recursive_mutex &mutex) : lock(mutex) { current_device = device_now(); }
};

int complain(int status, const char *what) {
    fprintf(stderr, "cudasim: %s\n", what);
    return status;
}

// ---------------------------------------------------------------- modules

// The bytes that nvrtc.cc wrote into the text as hexadecimal digits.
std::string decode(const char *image) {
    const char *digits = strstr(image, "// cudasim:");
    std::string bytes;
    if (!digits)
        return bytes;
    digits += strlen("// cudasim:");
    auto value = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
    for (; value(digits[0]) >= 0 && value(digits[1]) >= 0; digits += 2)
        bytes.push_back(static_cast<char>(value(digits[0]) * 16 + value(digits[1])));
    return bytes;
}

// The variable's name in a symbol _ZZ…E<length><name>, or the symbol itself.
std::string source_name(const std::string &symbol) {
    for (size_t at = symbol.rfind('E'); symbol.compare(0, 3, "_ZZ") == 0 && at != std::string::npos && at > 0;
         at = symbol.rfind('E', at - 1)) {
        size_t begin = symbol.find_first_not_of("0123456789", at + 1);
        size_t length = strtoul(symbol.c_str() + at + 1, nullptr, 10);
        if (begin != std::string::npos && length && begin + length <= symbol.size())
            return symbol.substr(begin, length);
    }
    return symbol;
}

// The places of the __shared__ variables, from the symbol table.
void read_symbols(module &into, const std::string &file, uintptr_t base) {
    const char *data = file.data();
    const auto *header = reinterpret_cast<const ElfW(Ehdr) *>(data);
    const auto *sections = reinterpret_cast<const ElfW(Shdr) *>(data + header->e_shoff);
    for (unsigned s = 0; s < header->e_shnum; s++) {
        if (sections[s].sh_type != SHT_SYMTAB)
            continue;
        const auto *symbols = reinterpret_cast<const ElfW(Sym) *>(data + sections[s].sh_offset);
        const char *names = data + sections[sections[s].sh_link].sh_offset;
        for (size_t i = 0; i < sections[s].sh_size / sizeof *symbols; i++) {
            const char *name = names + symbols[i].st_name;
            range place = {base + symbols[i].st_value, base + symbols[i].st_value + symbols[i].st_size};
            if (symbols[i].st_size && into.shared.holds(place.begin, symbols[i].st_size) &&
                !strstr(name, "cudasim_guard"))
                into.shared_variables.push_back({name, source_name(name), place});
        }
    }
}

void unload(module *one) {
    for (kernel *k : one->kernels)
        delete k;
    if (one->library)
        dlclose(one->library);
    if (one->file >= 0)
        close(one->file);
    delete one;
}

int load(module **result, const char *image) {
    std::string file = decode(image);
    if (file.empty())
        return complain(invalid_image, "this is not an image that the simulator's NVRTC made");
    // Kernels find what they call in this library, which the runtime may have loaded privately.
    Dl_info self;
    if (!dladdr(reinterpret_cast<void *>(&unload), &self) ||
        !dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL))
        return complain(invalid_image, "the simulator cannot find itself");
    auto one = new module;
    char path[64];
    one->file = memfd_create("cudasim", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", one->file);
    if (one->file < 0 || write(one->file, file.data(), file.size()) != static_cast<ssize_t>(file.size()) ||
        !(one->library = dlopen(path, RTLD_NOW | RTLD_LOCAL))) {
        const char *why = dlerror();
        complain(invalid_image, why ? why : "a module cannot be written");
        unload(one);
        return invalid_image;
    }
    auto bounds = reinterpret_cast<void (*)(char **, char **)>(dlsym(one->library, "cudasim_shared_range"));
    if (!bounds) {
        unload(one);
        return complain(invalid_image, "the module has no description");
    }
    char *begin, *end;
    bounds(&begin, &end);
    one->shared = {reinterpret_cast<uintptr_t>(begin), reinterpret_cast<uintptr_t>(end)};
    link_map *map;
    dlinfo(one->library, RTLD_DI_LINKMAP, &map);
    const auto *header = reinterpret_cast<const ElfW(Ehdr) *>(file.data());
    const auto *segments = reinterpret_cast<const ElfW(Phdr) *>(file.data() + header->e_phoff);
    one->image.begin = map->l_addr;
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD)
            one->image.end =
                std::max<uintptr_t>(one->image.end, map->l_addr + segments[i].p_vaddr + segments[i].p_memsz);
    read_symbols(*one, file, map->l_addr);
    if (const void *lanes = dlsym(one->library, "cudasim_hip")) {
        one->is_hip = true;
        one->warp_size = *static_cast<const unsigned *>(lanes);
    }
    *result = one;
    return success;
}

// Is a __shared__ variable another kernel's own? Its symbol is _ZZ<length><kernel>E….
bool is_foreign(const std::string &symbol, const module &owner, const std::string &name) {
    std::string own = "_ZZ" + std::to_string(name.size()) + name + "E";
    if (symbol.compare(0, own.size(), own) == 0 || symbol.compare(0, 3, "_ZZ") != 0)
        return false;
    size_t length = strtoul(symbol.c_str() + 3, nullptr, 10);
    size_t at = symbol.find_first_not_of("0123456789", 3);
    return length && at + length < symbol.size() && symbol[at + length] == 'E' &&
           dlsym(owner.library, ("cudasim_entry_" + symbol.substr(at, length)).c_str());
}

int find_kernel(kernel **result, module *owner, const char *name) {
    auto entry =
        reinterpret_cast<void (*)(void **)>(dlsym(owner->library, (std::string("cudasim_entry_") + name).c_str()));
    if (!entry || !dlsym(owner->library, name))
        return not_found;
    for (kernel *one : owner->kernels)
        if (one->name == name) {
            *result = one;
            return success;
        }
    auto one = new kernel{name, owner, entry, {}};
    if (owner->is_hip)
        one->dynamic_limit = most_shared;
    for (const module::variable &variable : owner->shared_variables)
        if (!is_foreign(variable.symbol, *owner, name)) {
            one->shared_variables.push_back(variable);
            one->static_shared += variable.place.end - variable.place.begin;
        }
    if (void *bound = dlsym(owner->library, (std::string("cudasim_bound_") + name).c_str()))
        one->most_threads = std::min(one->most_threads, *static_cast<unsigned *>(bound));
    if (void *local = dlsym(owner->library, (std::string("cudasim_local_") + name).c_str()))
        one->local_bytes = *static_cast<unsigned *>(local);
    owner->kernels.push_back(one);
    *result = one;
    return success;
}

// ---------------------------------------------------------------- launches

int start(const kernel &what, dim grid, dim block, size_t dynamic_shared, void **arguments) {
    if (!grid.count() || !block.count() || grid.y > 65535 || grid.z > 65535 || grid.x > 0x7FFFFFFF)
        return complain(invalid_value, "a launch with an empty or too large grid");
    if (block.count() > most_threads || block.x > 1024 || block.y > 1024 || block.z > 64)
        return complain(invalid_value, "a launch with too many threads in a block");
    if (block.count() > what.most_threads)
        return complain(launch_out_of_resources, "a launch with more threads in a block than __launch_bounds__ says");
    if (what.static_shared > (what.owner->is_hip ? most_shared : most_static_shared) ||
        dynamic_shared > what.dynamic_limit || what.static_shared + dynamic_shared > most_shared)
        return complain(invalid_value, "a launch with more shared memory than a block may have");
    const char *seed = getenv("CUDASIM_SEED"), *uninitialised = getenv("CUDASIM_UNINIT");
    running.what = &what;
    running.arguments = arguments;
    running.grid = grid;
    running.block = block;
    running.dynamic_shared = dynamic_shared;
    running.seed = seed ? strtoull(seed, nullptr, 10) : 0;
    running.check_uninitialised = !uninitialised || strcmp(uninitialised, "0") != 0;
    if (execute())
        return success;
    last_failure = running.error;
    fprintf(stderr, "cudasim: %s\n", last_failure.c_str());
    return fault = launch_failed;
}

// CUDASIM_REFUSE=MESSAGE:TEXT: as if ptxas had that to say against programs with the text in a name.
const char *refusal(const char *image) {
    const char *given = getenv("CUDASIM_REFUSE"), *colon = given ? strrchr(given, ':') : nullptr;
    return colon && decode(image).find(colon + 1) != std::string::npos ? given : nullptr;
}

struct event {
    timespec at;
};

// The operations that a stream records, in its order; each step does one.
struct graph {
    std::vector<std::function<int()>> nodes;
};
struct stream {
    bool is_blocking, is_strict = false, is_broken = false;
    std::unique_ptr<graph> recorded;
};
std::set<stream *> streams;      // but for the default one
std::map<void *, size_t> pinned; // page-locked memory of the host

stream *capturing(void *one) {
    auto found = streams.find(static_cast<stream *>(one));
    return found != streams.end() && (*found)->recorded ? *found : nullptr;
}

bool is_capture_strict() {
    for (stream *one : streams)
        if (one->recorded && one->is_strict)
            return true;
    return false;
}

// A call that waits, or uses the default stream, spoils a recording.
int expect_no_capture(void *one) {
    if (stream *found = capturing(one)) {
        found->is_broken = true;
        return capture_unsupported;
    }
    for (stream *other : streams)
        if (!one && other->recorded && other->is_blocking) {
            other->is_broken = true;
            return capture_implicit;
        }
    return success;
}

int do_or_record(void *one, std::function<int()> step) {
    guard lock(one_at_a_time);
    if (stream *to = capturing(one)) {
        to->recorded->nodes.push_back(std::move(step));
        return success;
    }
    int status = expect_no_capture(one);
    return status ? status : step();
}

struct error_name {
    int status;
    const char *name, *text;
};

const error_name error_names[] = {
    {success, "CUDA_SUCCESS", "no error"},
    {invalid_value, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {not_initialised, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {no_device, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {invalid_device, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {invalid_image, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {invalid_ptx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {not_found, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {launch_out_of_resources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {launch_failed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {capture_unsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {capture_invalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {capture_implicit, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
};

// A copy that leaves its allocation is as wrong as a kernel that does.
bool is_good(uintptr_t address, size_t bytes, const char *what) {
    if (!bytes || is_live(address, bytes))
        return true;
    fprintf(stderr, "cudasim: %s of %zu bytes out of bounds at 0x%zx, %s\n", what, bytes, static_cast<size_t>(address),
            describe_address(address).c_str());
    return false;
}

} // namespace

extern "C" {

int cuInit(unsigned) {
    guard lock(one_at_a_time);
    if (!dynamic_shared_memory.begin) {
        void *got = mmap(nullptr, most_shared * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (got == MAP_FAILED)
            return out_of_memory;
        dynamic_shared_memory = {reinterpret_cast<uintptr_t>(got), reinterpret_cast<uintptr_t>(got) + most_shared * 2};
    }
    initialised = true;
    return success;
}

int cuDriverGetVersion(int *version) {
    *version = 12000;
    return success;
}

int cuDeviceGetCount(int *count) {
    *count = device_count();
    return initialised ? success : not_initialised;
}

int cuDeviceGet(int *device, int ordinal) {
    *device = ordinal;
    return !initialised ? not_initialised : ordinal < 0 || ordinal >= device_count() ? invalid_device : success;
}

int cuDeviceGetName(char *name, int length, int) {
    snprintf(name, static_cast<size_t>(length), "fcl CUDA simulator");
    return success;
}

int cuDeviceGetUuid(unsigned char *uuid, int) {
    memcpy(uuid, "fcl cuda simul.", 16);
    return success;
}

int cuDeviceTotalMem_v2(size_t *bytes, int) {
    *bytes = device_bytes;
    return success;
}

int cuMemGetInfo_v2(size_t *available, size_t *total) {
    *available = bytes_free();
    *total = device_bytes;
    return success;
}

int cuDeviceGetAttribute(int *value, int attribute, int) {
    switch (attribute) {
    case 1: *value = most_threads; break; // threads per block
    case 2:
    case 3: *value = 1024; break; // block dimensions
    case 4: *value = 64; break;
    case 5: *value = 0x7FFFFFFF; break; // grid dimensions
    case 6:
    case 7: *value = 65535; break;
    case 8: *value = most_static_shared; break; // shared memory per block
    case 9: *value = 65536; break;              // constant memory
    case 10: *value = 32; break;
    case 12: *value = 65536; break;        // registers per block
    case 13: *value = 1000000; break;      // clock, kHz
    case 16: *value = 4; break;            // multiprocessors
    case 36: *value = 1000000; break;      // memory clock, kHz
    case 37: *value = 64; break;           // bus width, bits
    case 38: *value = 1 << 20; break;      // L2 cache
    case 39: *value = most_threads; break; // threads per multiprocessor
    case 41: *value = 1; break;            // unified addressing
    case 75: *value = 7; break;            // compute capability
    case 76: *value = 5; break;
    case 81: *value = most_shared; break; // shared memory per multiprocessor
    case 97: *value = most_shared; break; // shared memory per block, when asked for
    case 115: {                           // memory pools: cuMemAllocAsync
        const char *given = getenv("CUDASIM_ASYNC");
        *value = !given || strcmp(given, "0") != 0;
        break;
    }
    default: *value = 0; break;
    }
    return success;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
    if (!initialised || device < 0 || device >= device_count())
        return !initialised ? not_initialised : invalid_device;
    *context = &contexts[device];
    return success;
}
int cuDevicePrimaryCtxRelease_v2(int) { return success; }
int cuDevicePrimaryCtxRelease(int) { return success; }
int cuCtxSetCurrent(void *context) {
    current_contexts = {device_of(context)};
    return success;
}
int cuCtxCreate_v2(void **context, unsigned, int device) {
    int status = cuDevicePrimaryCtxRetain(context, device);
    return status == success ? cuCtxSetCurrent(*context) : status;
}
int cuCtxDestroy_v2(void *) { return success; }
int cuCtxGetCurrent(void **context) {
    *context = &contexts[device_now()];
    return success;
}
int cuCtxGetDevice(int *device) {
    *device = device_now();
    return success;
}
int cuCtxPushCurrent_v2(void *context) {
    current_contexts.push_back(device_of(context));
    return success;
}
int cuCtxPopCurrent_v2(void **context) {
    if (context)
        *context = &contexts[device_now()];
    if (!current_contexts.empty())
        current_contexts.pop_back();
    return success;
}
int cuDeviceCanAccessPeer(int *can, int device, int peer) {
    *can = device != peer;
    return success;
}
int cuCtxEnablePeerAccess(void *peer, unsigned) {
    static bool enabled[most_devices][most_devices];
    bool &one = enabled[device_now()][device_of(peer)];
    int status = one ? peer_access_already_enabled : success;
    one = true;
    return status;
}
int cuCtxSynchronize() { return fault; }

int cuModuleLoadData(void **result, const void *image) {
    guard lock(one_at_a_time);
    if (fault)
        return fault;
    if (refusal(static_cast<const char *>(image)))
        return invalid_ptx;
    module *one = nullptr;
    int status = load(&one, static_cast<const char *>(image));
    if (one)
        one->device = current_device;
    *result = one;
    return status;
}
int cuModuleLoadDataEx(void **result, const void *image, unsigned count, int *options, void **values) {
    const char *why = refusal(static_cast<const char *>(image));
    char *log = nullptr;
    size_t room = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == 5) // the log of errors
            log = static_cast<char *>(values[i]);
        else if (options[i] == 6) // its bytes
            room = reinterpret_cast<size_t>(values[i]);
    }
    if (why && log && room)
        snprintf(log, room, "%.*s", static_cast<int>(strrchr(why, ':') - why), why);
    return cuModuleLoadData(result, image);
}
int cuModuleUnload(void *one) {
    guard lock(one_at_a_time);
    if (fault)
        return fault;
    unload(static_cast<module *>(one));
    return success;
}
int cuModuleGetFunction(void **result, void *owner, const char *name) {
    guard lock(one_at_a_time);
    if (fault)
        return fault;
    kernel *one = nullptr;
    int status = find_kernel(&one, static_cast<module *>(owner), name);
    *result = one;
    return status;
}

int cuFuncGetAttribute(int *value, int attribute, void *function) {
    const kernel &one = *static_cast<kernel *>(function);
    switch (attribute) {
    case 0: *value = static_cast<int>(one.most_threads); break;
    case 1: *value = static_cast<int>(one.static_shared); break;
    case 3: *value = static_cast<int>(one.local_bytes); break;
    case 4: *value = 32; break; // registers
    case 5:
    case 6: *value = 75; break;
    case 8: *value = static_cast<int>(one.dynamic_limit); break;
    default: *value = 0; break;
    }
    return success;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
    kernel &one = *static_cast<kernel *>(function);
    if (attribute == 8) {
        if (value < 0 || static_cast<size_t>(value) + one.static_shared > most_shared)
            return invalid_value;
        one.dynamic_limit = static_cast<size_t>(value);
    }
    return success;
}
int cuFuncSetCacheConfig(void *, int) { return success; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, void *, int block, size_t) {
    *count = block > 0 ? std::max(1, static_cast<int>(most_threads) / block) : 0;
    return success;
}

// Writes what the host asks of the device, a line each, for who counts it: CUDASIM_CALLS names the file.
static void note_call(const char *what, size_t amount, const char *name = "") {
    static const char *const path = getenv("CUDASIM_CALLS");
    FILE *file = path ? fopen(path, "a") : nullptr;
    if (!file)
        return;
    fprintf(file, "%s %zu %s\n", what, amount, name);
    fclose(file);
}

static int new_memory(uintptr_t *result, size_t bytes, const char *how) {
    guard lock(one_at_a_time);
    if (fault)
        return fault;
    if (!bytes)
        return invalid_value;
    if (is_capture_strict())
        return capture_unsupported;
    note_call("alloc", bytes, how);
    *result = allocate(bytes);
    return *result ? success : out_of_memory;
}
static int free_memory(uintptr_t address, const char *how) {
    guard lock(one_at_a_time);
    if (fault)
        return fault;
    if (!address)
        return success;
    note_call("free", 0, how);
    return release(address) ? success : complain(invalid_value, "memory is freed that is not a live allocation");
}
int cuMemAlloc_v2(uintptr_t *result, size_t bytes) { return new_memory(result, bytes, "now"); }
int cuMemFree_v2(uintptr_t address) { return free_memory(address, "now"); }
int cuMemAllocAsync(uintptr_t *result, size_t bytes, void *) { return new_memory(result, bytes, "in order"); }
int cuMemFreeAsync(uintptr_t address, void *) { return free_memory(address, "in order"); }

// The device may use what is mapped, as memory of its own; it is checked in the same way.
int cuMemHostAlloc(void **result, size_t bytes, unsigned flags) {
    enum { is_mapped = 2 };
    guard lock(one_at_a_time);
    if (fault)
        return fault;
    if (!bytes)
        return invalid_value;
    *result = flags & is_mapped ? reinterpret_cast<void *>(allocate(bytes)) : malloc(bytes);
    if (*result)
        pinned[*result] = bytes;
    return *result ? success : out_of_memory;
}
int cuMemHostGetDevicePointer_v2(uintptr_t *address, void *memory, unsigned) {
    guard lock(one_at_a_time);
    if (fault)
        return fault;
    if (!pinned.count(memory) || !is_live(reinterpret_cast<uintptr_t>(memory), 1))
        return complain(invalid_value, "the device is to use memory that is not mapped for it");
    *address = reinterpret_cast<uintptr_t>(memory);
    return success;
}
int cuMemFreeHost(void *memory) {
    guard lock(one_at_a_time);
    if (!pinned.erase(memory))
        return complain(invalid_value, "what is no page-locked memory is freed");
    if (!release(reinterpret_cast<uintptr_t>(memory)))
        free(memory);
    return success;
}

int cuMemcpyHtoD_v2(uintptr_t to, const void *from, size_t bytes) {
    guard lock(one_at_a_time);
    if (fault)
        return fault;
    if (!is_good(to, bytes, "copy to the device"))
        return invalid_value;
    memcpy(reinterpret_cast<void *>(to), from, bytes);
    return success;
}
int cuMemcpyDtoH_v2(void *to, uintptr_t from, size_t bytes) {
    guard lock(one_at_a_time);
    if (fault)
        return fault;
    if (!is_good(from, bytes, "copy from the device"))
        return invalid_value;
    auto found = pinned.find(to);
    note_call("read", bytes, found != pinned.end() && bytes <= found->second ? "page-locked" : "pageable");
    memcpy(to, reinterpret_cast<void *>(from), bytes);
    return success;
}
int cuMemcpyDtoD_v2(uintptr_t to, uintptr_t from, size_t bytes) {
    guard lock(one_at_a_time);
    if (fault)
        return fault;
    if (!is_good(to, bytes, "copy on the device") || !is_good(from, bytes, "copy on the device"))
        return invalid_value;
    memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
    return success;
}
// Copies from and to the host are not recorded: their memory would have to stay.
int cuMemcpyHtoDAsync_v2(uintptr_t to, const void *from, size_t bytes, void *stream) {
    int status = expect_no_capture(stream);
    return status ? status : cuMemcpyHtoD_v2(to, from, bytes);
}
int cuMemcpyDtoHAsync_v2(void *to, uintptr_t from, size_t bytes, void *stream) {
    int status = expect_no_capture(stream);
    return status ? status : cuMemcpyDtoH_v2(to, from, bytes);
}
int cuMemcpyDtoDAsync_v2(uintptr_t to, uintptr_t from, size_t bytes, void *stream) {
    return do_or_record(stream, [=] { return cuMemcpyDtoD_v2(to, from, bytes); });
}
int cuMemcpyPeerAsync(uintptr_t to, void *to_context, uintptr_t from, void *from_context, size_t bytes, void *) {
    guard lock(one_at_a_time);
    if (fault)
        return fault;
    current_device = device_of(to_context);
    bool good = is_good(to, bytes, "copy between devices");
    current_device = device_of(from_context);
    if (!good || !is_good(from, bytes, "copy between devices"))
        return invalid_value;
    note_call("peer", bytes);
    memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
    return success;
}
int cuMemsetD8_v2(uintptr_t to, unsigned char value, size_t bytes) {
    guard lock(one_at_a_time);
    if (fault)
        return fault;
    if (!is_good(to, bytes, "fill on the device"))
        return invalid_value;
    note_call("fill", bytes);
    memset(reinterpret_cast<void *>(to), value, bytes);
    return success;
}
int cuMemsetD8Async(uintptr_t to, unsigned char value, size_t bytes, void *stream) {
    return do_or_record(stream, [=] { return cuMemsetD8_v2(to, value, bytes); });
}
int cuMemsetD32_v2(uintptr_t to, unsigned value, size_t count) {
    guard lock(one_at_a_time);
    if (fault)
        return fault;
    if (!is_good(to, count * 4, "fill on the device"))
        return invalid_value;
    note_call("fill", count * 4);
    for (size_t i = 0; i < count; i++)
        reinterpret_cast<unsigned *>(to)[i] = value;
    return success;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **arguments,
                   void **extra) {
    guard lock(one_at_a_time);
    if (fault)
        return fault;
    if (!function || extra)
        return invalid_value;
    auto one = static_cast<kernel *>(function);
    if (one->owner->device != current_device)
        return complain(invalid_value, "a launch of another device's kernel");
    dim grid = {grid_x, grid_y, grid_z}, block = {block_x, block_y, block_z};
    if (!capturing(stream)) {
        int status = expect_no_capture(stream);
        if (status)
            return status;
        note_call("launch", grid_x, one->name.c_str());
        return start(*one, grid, block, shared_bytes, arguments);
    }
    auto sizes = reinterpret_cast<unsigned (*)(unsigned *)>(
        dlsym(one->owner->library, (std::string("cudasim_sizes_") + one->name).c_str()));
    std::vector<unsigned> bytes(4096);
    if (!sizes)
        return not_found;
    bytes.resize(sizes(bytes.data()));
    std::vector<std::string> values;
    for (size_t i = 0; i < bytes.size(); i++)
        values.emplace_back(static_cast<const char *>(arguments[i]), bytes[i]);
    return do_or_record(stream, [=]() mutable {
        std::vector<void *> pointers;
        for (std::string &value : values)
            pointers.push_back(&value[0]);
        note_call("launch", grid.x, one->name.c_str());
        return start(*one, grid, block, shared_bytes, pointers.data());
    });
}

int cuStreamCreate(void **result, unsigned flags) {
    guard lock(one_at_a_time);
    auto one = new stream;
    one->is_blocking = !(flags & 1);
    streams.insert(one);
    *result = one;
    return success;
}
int cuStreamSynchronize(void *stream) {
    guard lock(one_at_a_time);
    note_call("wait", 0);
    int status = expect_no_capture(stream);
    return fault ? fault : status;
}
int cuStreamDestroy_v2(void *one) {
    guard lock(one_at_a_time);
    if (!streams.erase(static_cast<stream *>(one)))
        return complain(invalid_value, "what is no stream is destroyed");
    delete static_cast<stream *>(one);
    return success;
}
int cuStreamBeginCapture_v2(void *one, int mode) {
    guard lock(one_at_a_time);
    if (!streams.count(static_cast<stream *>(one)))
        return capture_unsupported; // the default stream
    auto to = static_cast<stream *>(one);
    if (to->recorded)
        return invalid_value;
    to->recorded.reset(new graph);
    to->is_strict = mode != 2;
    return success;
}
int cuStreamEndCapture(void *one, void **result) {
    guard lock(one_at_a_time);
    *result = nullptr;
    stream *from = capturing(one);
    if (!from)
        return invalid_value;
    bool is_broken = from->is_broken;
    from->is_broken = false;
    std::unique_ptr<graph> recorded = std::move(from->recorded);
    if (is_broken)
        return capture_invalidated;
    *result = recorded.release();
    return success;
}
int cuGraphInstantiateWithFlags(void **result, void *from, unsigned long long) {
    guard lock(one_at_a_time);
    *result = new graph(*static_cast<graph *>(from));
    return success;
}
int cuGraphLaunch(void *one, void *stream) {
    guard lock(one_at_a_time);
    int status = fault ? fault : expect_no_capture(stream);
    if (status)
        return status;
    auto what = static_cast<graph *>(one);
    note_call("graph", what->nodes.size());
    for (size_t i = 0; i < what->nodes.size() && !status; i++)
        status = what->nodes[i]();
    return status;
}
int cuGraphDestroy(void *one) {
    delete static_cast<graph *>(one);
    return success;
}
int cuGraphExecDestroy(void *one) { return cuGraphDestroy(one); }
int cuStreamWaitEvent(void *, void *event, unsigned) {
    guard lock(one_at_a_time);
    note_call("follow", 0);
    return static_cast<::event *>(event)->at.tv_sec ? success
                                                    : complain(invalid_value, "an event that was not recorded");
}

int cuEventCreate(void **result, unsigned) {
    if (fault)
        return fault;
    *result = new ::event{};
    return success;
}
int cuEventRecord(void *one, void *) {
    if (fault)
        return fault;
    static const char *const milliseconds = getenv("CUDASIM_EVENT_MS");
    if (milliseconds)
        usleep(static_cast<useconds_t>(atoi(milliseconds)) * 1000);
    clock_gettime(CLOCK_MONOTONIC, &static_cast<::event *>(one)->at);
    return success;
}
int cuEventSynchronize(void *) { return fault; }
int cuEventQuery(void *) { return success; }
int cuEventElapsedTime(float *milliseconds, void *from, void *to) {
    const timespec &a = static_cast<::event *>(from)->at, &b = static_cast<::event *>(to)->at;
    *milliseconds = static_cast<float>(static_cast<double>(b.tv_sec - a.tv_sec) * 1e3 +
                                       static_cast<double>(b.tv_nsec - a.tv_nsec) * 1e-6);
    return success;
}
int cuEventDestroy_v2(void *one) {
    delete static_cast<::event *>(one);
    return success;
}

int cuGetErrorName(int status, const char **name) {
    for (const error_name &one : error_names)
        if (one.status == status) {
            *name = one.name;
            return success;
        }
    *name = nullptr;
    return invalid_value;
}

// For a failed launch, what the simulator found.
int cuGetErrorString(int status, const char **text) {
    if (status == launch_failed && !last_failure.empty()) {
        *text = last_failure.c_str();
        return success;
    }
    for (const error_name &one : error_names)
        if (one.status == status) {
            *text = one.text;
            return success;
        }
    *text = nullptr;
    return invalid_value;
}
}
