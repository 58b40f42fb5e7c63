/* NumPy's .npz: a zip archive of .npy files, stored or deflated. The directory at its end says where each one is. */
#include "values/value.h"

#include <string.h>

enum {
    END_BYTES = 22,
    END_LOCATOR_BYTES = 20,
    END_64_BYTES = 56,
    ENTRY_BYTES = 46,
    LOCAL_BYTES = 30,
    COMMENT_LONGEST = 65535,
    STORED = 0,
    DEFLATED = 8,
    ENCRYPTED = 1,
    EXTRA_64 = 1,
};
static const uint64_t IN_EXTRA = 0xFFFFFFFF; /* a number that is too long for its field */

struct archive {
    struct arena *arena;
    struct value_bytes bytes;
    uint64_t directory, count;
    const char *why;
};

struct member {
    const char *name;
    unsigned flags, method;
    uint32_t checksum;
    uint64_t packed, length, header;
};

static uint64_t number_at(const unsigned char *at, size_t bytes) {
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++)
        number |= (uint64_t)at[i] << (8 * i);
    return number;
}

/* The bytes there; NULL: the archive ends before them. */
static const unsigned char *part(const struct archive *a, uint64_t at, uint64_t bytes) {
    return at <= a->bytes.length && bytes <= a->bytes.length - at ? a->bytes.at + at : NULL;
}

static bool is_damaged(struct archive *a) {
    a->why = "the .npz file is damaged or cut short";
    return false;
}

/* ---- the directory ---- */

static bool find_directory(struct archive *a) {
    uint64_t length = a->bytes.length,
             least = length > END_BYTES + COMMENT_LONGEST ? length - END_BYTES - COMMENT_LONGEST : 0;
    if (length < 4 || memcmp(a->bytes.at, "PK", 2) != 0) {
        a->why = "not a .npz file";
        return false;
    }
    for (uint64_t at = length; at-- > least;) {
        const unsigned char *end = part(a, at, END_BYTES);
        if (!end || memcmp(end, "PK\5\6", 4) != 0)
            continue;
        a->count = number_at(end + 10, 2);
        a->directory = number_at(end + 16, 4);
        const unsigned char *locator =
            at >= END_LOCATOR_BYTES ? part(a, at - END_LOCATOR_BYTES, END_LOCATOR_BYTES) : NULL;
        if (!locator || memcmp(locator, "PK\6\7", 4) != 0)
            return true;
        const unsigned char *end64 = part(a, number_at(locator + 8, 8), END_64_BYTES);
        if (!end64 || memcmp(end64, "PK\6\6", 4) != 0)
            return is_damaged(a);
        a->count = number_at(end64 + 32, 8);
        a->directory = number_at(end64 + 48, 8);
        return true;
    }
    return is_damaged(a);
}

static void read_extra(const unsigned char *extra, size_t length, struct member *m) {
    for (size_t at = 0; at + 4 <= length;) {
        size_t bytes = (size_t)number_at(extra + at + 2, 2), next = at + 4;
        if (number_at(extra + at, 2) == EXTRA_64) {
            uint64_t *numbers[] = {&m->length, &m->packed, &m->header};
            for (size_t i = 0; i < 3; i++)
                if (*numbers[i] == IN_EXTRA && next + 8 <= length) {
                    *numbers[i] = number_at(extra + next, 8);
                    next += 8;
                }
        }
        at += 4 + bytes;
    }
}

/* The member whose entry is there; `at` is moved behind it. */
static bool read_member(struct archive *a, uint64_t *at, struct member *m) {
    const unsigned char *entry = part(a, *at, ENTRY_BYTES);
    if (!entry || memcmp(entry, "PK\1\2", 4) != 0)
        return is_damaged(a);
    size_t name = (size_t)number_at(entry + 28, 2), extra = (size_t)number_at(entry + 30, 2);
    uint64_t whole = ENTRY_BYTES + name + extra + number_at(entry + 32, 2);
    if (!part(a, *at, whole))
        return is_damaged(a);
    *m = (struct member){.name = arena_strndup(a->arena, (const char *)entry + ENTRY_BYTES, name),
                         .flags = (unsigned)number_at(entry + 8, 2),
                         .method = (unsigned)number_at(entry + 10, 2),
                         .checksum = (uint32_t)number_at(entry + 16, 4),
                         .packed = number_at(entry + 20, 4),
                         .length = number_at(entry + 24, 4),
                         .header = number_at(entry + 42, 4)};
    read_extra(entry + ENTRY_BYTES + name, extra, m);
    *at += whole;
    return true;
}

/* ---- a member ---- */

static uint32_t checksum_of(struct value_bytes bytes) {
    uint32_t table[256], sum = UINT32_MAX;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT32_C(0xEDB88320) : 0);
    }
    for (size_t i = 0; i < bytes.length; i++)
        sum = sum >> 8 ^ table[(sum ^ bytes.at[i]) & 0xFF];
    return ~sum;
}

/* Deflate makes at most 1032 bytes of one, so a length that is not true asks for no more memory. */
static bool unpack(struct archive *a, const struct member *m, struct value_bytes packed, struct value_bytes *bytes) {
    if (m->length / 1032 > m->packed)
        return is_damaged(a);
    *bytes = (struct value_bytes){arena_alloc(a->arena, m->length), m->length};
    return value_inflate(packed, *bytes, &a->why);
}

static bool read_bytes(struct archive *a, const struct member *m, struct value_bytes *bytes) {
    const unsigned char *local = part(a, m->header, LOCAL_BYTES);
    if (!local || memcmp(local, "PK\3\4", 4) != 0)
        return is_damaged(a);
    uint64_t start = m->header + LOCAL_BYTES + number_at(local + 26, 2) + number_at(local + 28, 2);
    const unsigned char *data = part(a, start, m->packed);
    if (!data || (m->method == STORED && m->packed != m->length))
        return is_damaged(a);
    if (m->flags & ENCRYPTED || (m->method != STORED && m->method != DEFLATED)) {
        a->why = "it is packed as NumPy packs none: save it with numpy.savez or numpy.savez_compressed";
        return false;
    }
    struct value_bytes packed = {a->bytes.at + start, m->packed};
    *bytes = packed;
    if (m->method == DEFLATED && !unpack(a, m, packed, bytes))
        return false;
    return checksum_of(*bytes) == m->checksum || is_damaged(a);
}

/* ---- the whole ---- */

/* `x.npy` of the archive is the array x. */
static bool is_named(const char *file, const char *name) {
    size_t length = strlen(name);
    return strncmp(file, name, length) == 0 && (file[length] == '\0' || strcmp(file + length, ".npy") == 0);
}

/* That of the name; without a name the only one. */
static bool find_member(struct archive *a, const char *name, struct member *found) {
    struct text known;
    text_init(&known, a->arena);
    size_t matches = 0;
    uint64_t at = a->directory;
    for (uint64_t i = 0; i < a->count; i++) {
        struct member member;
        if (!read_member(a, &at, &member))
            return false;
        size_t stem = strlen(member.name) - (text_ends_with(member.name, ".npy") ? strlen(".npy") : 0);
        text_printf(&known, "%s`%.*s`", i ? ", " : "", (int)stem, member.name);
        if ((!name || is_named(member.name, name)) && matches++ == 0)
            *found = member;
    }
    if (matches == 1)
        return true;
    a->why = a->count == 0 ? "the .npz file has no arrays"
             : matches     ? arena_printf(a->arena, "the file has %s: name one, @FILE.npz:NAME", text_string(&known))
                           : arena_printf(a->arena, "the file has no array `%s`; it has %s", name, text_string(&known));
    return false;
}

struct host_value *value_from_npz(struct arena *arena, struct type *type, struct value_bytes bytes, const char *name,
                                  const char **why) {
    struct archive archive = {.arena = arena, .bytes = bytes};
    struct member member = {0};
    struct value_bytes file;
    struct host_value *result = NULL;
    if (!find_directory(&archive) || !find_member(&archive, name, &member)) {
        *why = archive.why;
        return NULL;
    }
    if (!read_bytes(&archive, &member, &file))
        *why = archive.why;
    else
        result = value_from_npy(arena, type, file, why);
    if (!result)
        *why = arena_printf(arena, "array `%s`: %s", member.name, *why);
    return result;
}
