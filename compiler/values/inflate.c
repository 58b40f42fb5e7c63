/* Deflated data by zlib, which is loaded when the first such data is met: what needs none runs without it. */
#include "values/value.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

/* z_stream of zlib 1.x, whose layout is part of its ABI. */
struct stream {
    const unsigned char *next_in;
    unsigned available_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned available_out;
    unsigned long total_out;
    const char *message;
    void *state, *allocate, *release, *opaque;
    int data_type;
    unsigned long adler, reserved;
};

enum { RAW = -15, AT_ONCE = 0, GOOD = 0, END = 1 }; /* windowBits without a header, Z_NO_FLUSH, Z_OK, Z_STREAM_END */

struct zlib {
    int (*begin)(struct stream *, int window, const char *version, int bytes);
    int (*inflate)(struct stream *, int flush);
    int (*end)(struct stream *);
};

static bool find(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool load(struct zlib *zlib) {
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    return library && find(library, "inflateInit2_", &zlib->begin) && find(library, "inflate", &zlib->inflate) &&
           find(library, "inflateEnd", &zlib->end);
}

static unsigned at_most_int(size_t bytes) { return bytes < INT_MAX ? (unsigned)bytes : INT_MAX; }

bool value_inflate(struct value_bytes packed, struct value_bytes bytes, const char **why) {
    struct zlib zlib;
    struct stream stream = {.next_in = packed.at, .next_out = bytes.at};
    if (!load(&zlib)) {
        *why =
            "it is compressed, and zlib is not here to read it: install it (Debian: zlib1g), or save with numpy.savez";
        return false;
    }
    int status = zlib.begin(&stream, RAW, "1", sizeof stream);
    if (status != GOOD) {
        *why = "zlib cannot begin";
        return false;
    }
    while (status == GOOD) {
        stream.available_in = at_most_int((size_t)(packed.at + packed.length - stream.next_in));
        stream.available_out = at_most_int((size_t)(bytes.at + bytes.length - stream.next_out));
        status = zlib.inflate(&stream, AT_ONCE);
    }
    zlib.end(&stream);
    bool is_whole = status == END && stream.next_out == bytes.at + bytes.length;
    if (!is_whole)
        *why = "its compressed data are damaged";
    return is_whole;
}
