/* Names in generated code: readable, unique where they are visible, and no word that C, C++, CUDA, OpenCL C or what
   their compilers include by themselves already gives a meaning. */
#include <ctype.h>
#include <string.h>

#include "map/lower.h"

/* One list for all targets, so that a kernel's names do not depend on the target. */
/* clang-format off */
static const char *const reserved[] = {
    /* C and C++ */
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const",
    "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
    "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
    "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict", "return",
    "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
    "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "union", "unsigned", "using",
    "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "final", "override", "main", "linux", "unix",
    "i386", "defined", "near", "far",
    /* OpenCL C */
    "kernel", "global", "local", "constant", "generic", "pipe", "read_only", "write_only", "read_write", "uniform",
    "uchar", "ushort", "uint", "ulong", "half", "quad", "complex", "imaginary", "event_t", "sampler_t", "image1d_t",
    "image2d_t", "image3d_t", "ptrdiff_t", "size_t", "intptr_t", "uintptr_t", "barrier", "mem_fence",
    "read_mem_fence", "write_mem_fence", "prefetch", "select", "mix", "step", "smoothstep", "sign", "degrees",
    "radians", "clamp", "dot", "cross", "distance", "length", "normalize", "fast_length", "fast_normalize",
    "fast_distance", "any", "all", "bitselect", "shuffle", "shuffle2", "printf", "as_int", "as_uint", "as_float",
    "vec_step", "hadd", "rhadd", "mad", "mad24", "mad_hi", "mad_sat", "mul24", "mul_hi", "rotate", "upsample",
    "add_sat", "sub_sat", "abs_diff", "popcount", "clz", "ctz", "min", "max", "abs", "isequal", "isnan", "isinf",
    "isfinite", "signbit", "isordered", "get_global_id", "get_local_id", "get_group_id", "get_global_size",
    "get_local_size", "get_num_groups", "get_work_dim", "vload16", "vstore16", "float16", "int16", "uint16", "as_int16",
    "as_uint16",
    /* the mathematics and general functions of all three */
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "cospi",
    "erf", "erfc", "exp", "exp2", "exp10", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "fract",
    "frexp", "hypot", "ilogb", "ldexp", "lgamma", "log", "log2", "log10", "log1p", "logb", "maxmag", "minmag", "modf",
    "nan", "nextafter", "pow", "pown", "powr", "remainder", "remquo", "rint", "rootn", "round", "rsqrt", "sin",
    "sincos", "sinh", "sinpi", "sqrt", "tan", "tanh", "tgamma", "trunc", "llabs", "labs", "div", "j0", "j1", "jn",
    "iscanonical", "iseqsig", "isgreater", "isgreaterequal", "isless", "islessequal", "islessgreater", "isnormal",
    "issignaling", "issubnormal", "isunordered", "iszero", "fpclassify", "math_errhandling",
    "y0", "y1", "yn", "norm", "rnorm", "norm3d", "norm4d", "saturate", "clock", "malloc", "free", "memcpy", "memset",
    "memmove", "assert", "acosf", "asinf", "atanf", "atan2f", "cbrtf", "ceilf", "cosf", "coshf", "erff", "expf",
    "exp2f", "exp10f", "expm1f", "fabsf", "fdimf", "floorf", "fmaf", "fmaxf", "fminf", "fmodf", "hypotf", "ldexpf",
    "logf", "log2f", "log10f", "log1pf", "logbf", "modff", "powf", "remainderf", "rintf", "roundf", "rsqrtf", "sinf",
    "sinhf", "sqrtf", "tanf", "tanhf", "truncf", "scalbn", "lrint", "lround", "llrint", "llround", "nearbyint",
    "gamma", "drem", "significand", "umin", "umax", "ullmin", "ullmax", "llmin", "llmax", "uabs", "signgam", "exit",
    "abort", "signal",
    /* CUDA */
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3", "uint2", "uint3", "uint4", "int2", "int3",
    "int4", "float2", "float3", "float4", "double2", "double3", "double4", "char2", "char3", "char4", "uchar2",
    "uchar4", "short2", "short4", "long2", "long4", "atomicAdd", "atomicMin", "atomicMax", "atomicAnd", "atomicOr",
    "atomicXor", "atomicCAS", "atomicExch", "surfaceReference", "textureReference", "cudaStream_t",
    /* integer types and others of the C library */
    "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "NULL", "INFINITY",
    "NAN", "MAXFLOAT", "I", "EOF", "stdin", "stdout", "stderr", "errno",
    /* macros of the systems' headers */
    "BIG_ENDIAN", "BYTE_ORDER", "LITTLE_ENDIAN", "MAX_WORK_DIM", "NFDBITS", "PDP_ENDIAN", "WCONTINUED", "WEXITED",
    "WEXITSTATUS", "WNOHANG", "WNOWAIT", "WSTOPPED", "WSTOPSIG", "WTERMSIG", "WUNTRACED", "alloca", "be16toh",
    "be32toh", "be64toh", "htobe16", "htobe32", "htobe64", "htole16", "htole32", "htole64", "kernel_exec", "le16toh",
    "le32toh", "le64toh", "offsetof", "strdupa", "strndupa",
    /* what the printed kernels themselves use */
    "args", "block", "blocks",
};

/* Beginnings of names that are taken: by our own helpers, by implementations, by macros of headers that generated text
   includes, or of a compiler of OpenCL. None ends in a digit and _, as numbered names may go on so. */
static const char *const beginnings[] = {
    "fcl_", "FCL_", "_", "CL_", "CLK_", "cl_", "cles_", "cuda", "convert_", "as_", "native_", "half_", "atomic_",
    "atom_", "ATOMIC_", "CHAR_", "DBL_", "EXIT_", "FD_", "FLT_", "FP_", "HALF_", "HUGE_VAL", "INT8", "INT16",
    "INT32", "INT64", "INTMAX_", "INTPTR_", "INT_", "LDBL_", "LLONG_", "LONG_", "MATH_ERR", "MB_", "M_",
    "PTRDIFF_", "RAND_", "SCHAR_", "SHRT_", "SIG_", "SIZE_", "SNAN", "UCHAR_", "UINT8", "UINT16", "UINT32",
    "UINT64", "UINTMAX_", "UINTPTR_", "UINT_", "ULLONG_", "ULONG_", "USHRT_", "WCHAR_", "WIF", "WINT_",
};

/* Names of the C library: a kernel of such a name would take its place in a program that the
   printed C is linked into, or be declared twice where a compiler of CUDA includes its headers. */
static const char *const linked[] = {
    "accept", "access", "alarm", "atof", "atoi", "atol", "bcmp", "bcopy", "bind", "brk", "bsearch", "bzero", "calloc",
    "chdir", "chmod", "close", "connect", "creat", "ctime", "daemon", "difftime", "dup", "environ", "error", "fclose",
    "ffs", "fflush", "fopen", "fork", "fread", "fscanf", "fsync", "fwrite", "getenv", "gmtime", "index", "ioctl",
    "isatty", "kill", "ldiv", "link", "listen", "localtime", "lseek", "memccpy", "memchr", "memcmp", "mktime", "mmap",
    "munmap", "nice", "open", "pause", "pipe2", "poll", "puts", "qsort", "raise", "rand", "random", "read", "realloc",
    "realpath", "recv", "remove", "rename", "rindex", "sbrk", "scanf", "send", "setenv", "shutdown", "sleep",
    "snprintf", "socket", "sprintf", "srand", "srandom", "stat", "strcat", "strchr", "strcmp", "strcpy", "strdup",
    "strlen", "strncpy", "strtod", "strtok", "strtol", "swab", "symlink", "sync", "syscall", "system", "time",
    "times", "truncate", "unlink", "usleep", "wait", "write",
};
/* clang-format on */

struct names {
    struct arena *arena;
    struct symbols *symbols;
    struct map *bases;  /* symbol of a hint → that of the identifier made of it */
    struct map *in_use; /* symbol → itself, or NULL when released */
    struct map
        *last; /* symbol of a hint → the number that its last name had: numbers need not be tried from the start */
    VEC(symbol) used;
};

static bool is_among(const char *name, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (list[i][0] == name[0] && strcmp(list[i], name) == 0) /* most differ in their first letter */
            return true;
    return false;
}

static bool begins_as_reserved(const char *name) {
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (beginnings[i][0] == name[0] && strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* True for a macro that a header's user defines, such as OUT_IMPLEMENTATION. */
static bool is_switch(const char *name) {
    static const char ending[] = "_IMPLEMENTATION";
    size_t length = strlen(name);
    return length >= sizeof ending - 1 && strcmp(name + length - (sizeof ending - 1), ending) == 0;
}

static bool is_reserved(const char *name) {
    return is_among(name, reserved, sizeof reserved / sizeof *reserved) || begins_as_reserved(name) || is_switch(name);
}

const char *names_identifier(struct arena *arena, const char *text) {
    size_t length = strlen(text);
    char *name = arena_strndup(arena, text, length);
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i])) /* nothing beyond ASCII is, as no locale is set */
            name[i] = '_';
    if (!length || isdigit((unsigned char)name[0]))
        return arena_printf(arena, "k_%s", name);
    if (!is_reserved(name))
        return name;
    const char *longer = arena_printf(arena, "%s_", name); /* unless it is a beginning that is reserved */
    return is_reserved(longer) ? arena_printf(arena, "k_%s", name) : longer;
}

const char *names_of_kernel(struct arena *arena, const char *text) {
    const char *name = names_identifier(arena, text);
    if (is_among(name, linked, sizeof linked / sizeof *linked) || !strncmp(name, "pthread_", 8) ||
        !strncmp(name, "omp_", 4) || !strncmp(name, "GOMP_", 5)) /* the last two are called by what OpenMP makes */
        return arena_printf(arena, "k_%s", name);
    return name;
}

struct names *names_new(struct arena *arena) {
    struct names *names = ARENA_NEW(arena, struct names);
    names->arena = arena;
    names->symbols = symbols_new(arena);
    names->bases = map_new(arena);
    names->in_use = map_new(arena);
    names->last = map_new(arena);
    return names;
}

const char *names_fresh(struct names *names, const char *hint, const char *fallback) {
    symbol said = symbol_of(names->symbols, hint && *hint ? hint : fallback);
    symbol key = map_get(names->bases, said), name;
    if (!key) {
        key = symbol_of(names->symbols, names_identifier(names->arena, said->text));
        map_set(names->bases, said, (void *)key);
    }
    name = key;
    const char *join = isdigit((unsigned char)key->text[key->length - 1]) ? "_" : "";
    if (map_get(names->in_use, key)) {
        size_t number = (size_t)(uintptr_t)map_get(names->last, key);
        number = number ? number : 1;
        do
            name = symbol_of(names->symbols, arena_printf(names->arena, "%s%s%zu", key->text, join, ++number));
        while (map_get(names->in_use, name) || (!map_has(names->in_use, name) && is_reserved(name->text)));
        map_set(names->last, key, (void *)(uintptr_t)number);
    } else {
        map_set(names->last, key, NULL);
    }
    map_set(names->in_use, name, (void *)name);
    vec_push(names->arena, &names->used, name);
    return name->text;
}

void names_take(struct names *names, const char *text) {
    symbol name = symbol_of(names->symbols, text);
    if (map_get(names->in_use, name))
        return;
    map_set(names->in_use, name, (void *)name);
    vec_push(names->arena, &names->used, name);
}

size_t names_mark(const struct names *names) { return names->used.count; }

void names_release(struct names *names, size_t mark) {
    while (names->used.count > mark)
        map_set(names->in_use, names->used.at[--names->used.count], NULL);
}
