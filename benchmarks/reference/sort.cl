// Sorting by keys of 32 bits, stably, for CPU devices: a radix sort from the lowest of four digits of 8 bits. For each
// digit `count` and then `place` (or `placePairs`) are launched alike.
//
// Launch: any number of groups of 1 (tuned: 8 per core), each with a contiguous share of the elements. What is to go to
// one place after another is gathered in a cache line for each digit, and written when the line is full: 256 places far
// apart are more than there are entries of the address cache.
#define DIGITS 256
#define LINE 16 // elements

// A word that is ordered as the float of those bits, and the reverse.
static uint ordered(uint key) { return key ^ ((uint)((int)key >> 31) | 0x80000000u); }
static uint unordered(uint word) { return word ^ ((uint)((int)~word >> 31) | 0x80000000u); }

static int share_of(int n) {
    int items = (int)get_global_size(0);
    return (n + items - 1) / items;
}

// How often each digit occurs in the group's share: counts[digit + DIGITS * group]. Four counters for each digit, as one
// cannot be increased twice in a row without waiting.
kernel void count(global const uint *restrict in, global int *restrict counts, int n, int shift, int from_float) {
    int share = share_of(n), group = (int)get_global_id(0), i = min(group * share, n), end = min(i + share, n);
    int c[4][DIGITS];
    for (int d = 0; d < DIGITS; d++)
        c[0][d] = c[1][d] = c[2][d] = c[3][d] = 0;
    if (from_float)
        for (; i < end; i++)
            c[i & 3][ordered(in[i]) >> shift & (DIGITS - 1)]++;
    for (; i + 4 <= end; i += 4) {
        uint4 d = vload4(0, in + i) >> shift & (DIGITS - 1);
        c[0][d.s0]++;
        c[1][d.s1]++;
        c[2][d.s2]++;
        c[3][d.s3]++;
    }
    for (; i < end; i++)
        c[0][in[i] >> shift & (DIGITS - 1)]++;
    for (int d = 0; d < DIGITS; d++)
        counts[group * DIGITS + d] = c[0][d] + c[1][d] + c[2][d] + c[3][d];
}

// Where the group's first element of each digit goes: after all of lower digits and those of the groups before.
static void first_places(global const int *restrict counts, int *places) {
    int groups = (int)get_global_size(0), group = (int)get_global_id(0), total[DIGITS];
    for (int d = 0; d < DIGITS; d++)
        total[d] = places[d] = 0;
    for (int g = 0; g < groups; g++)
        for (int d = 0; d < DIGITS; d++) {
            int c = counts[g * DIGITS + d];
            places[d] += g < group ? c : 0;
            total[d] += c;
        }
    for (int d = 0, lower = 0; d < DIGITS; d++) {
        places[d] += lower;
        lower += total[d];
    }
}

#define WRITE_LINE(out, lines, d, from, to)                                                                            \
    if ((to) - (from) == LINE)                                                                                         \
        vstore16(vload16(d, lines), 0, (out) + (from));                                                                \
    else                                                                                                               \
        for (int one = (from); one < (to); one++)                                                                      \
            (out)[one] = (lines)[(d) * LINE + (one & (LINE - 1))];

static void place_keys(global const uint *restrict in, global uint *restrict out, global const int *restrict counts,
                       int n, int shift, bool from_float, bool to_float) {
    int share = share_of(n), first = min((int)get_global_id(0) * share, n), end = min(first + share, n);
    int start[DIGITS], next[DIGITS];
    uint lines[DIGITS * LINE] __attribute__((aligned(64)));
    first_places(counts, start);
    for (int d = 0; d < DIGITS; d++)
        next[d] = start[d];
    for (int i = first; i < end; i++) {
        uint key = in[i];
        if (from_float)
            key = ordered(key);
        uint d = key >> shift & (DIGITS - 1);
        int at = next[d]++;
        lines[d * LINE + (at & (LINE - 1))] = to_float ? unordered(key) : key;
        if ((at & (LINE - 1)) == LINE - 1) {
            WRITE_LINE(out, lines, d, max(at - (LINE - 1), start[d]), at + 1)
        }
    }
    for (int d = 0; d < DIGITS; d++) {
        WRITE_LINE(out, lines, d, max(next[d] & ~(LINE - 1), start[d]), next[d])
    }
}

kernel void place(global const uint *restrict in, global uint *restrict out, global const int *restrict counts, int n,
                  int shift, int from_float, int to_float) {
    if (from_float)
        place_keys(in, out, counts, n, shift, true, false);
    else if (to_float)
        place_keys(in, out, counts, n, shift, false, true);
    else
        place_keys(in, out, counts, n, shift, false, false);
}

// The same, without lines: for comparison.
kernel void placePlain(global const uint *restrict in, global uint *restrict out, global const int *restrict counts, int n,
                       int shift, int from_float, int to_float) {
    int share = share_of(n), i = min((int)get_global_id(0) * share, n), end = min(i + share, n);
    int next[DIGITS];
    first_places(counts, next);
    for (; i < end; i++) {
        uint key = in[i];
        out[next[key >> shift & (DIGITS - 1)]++] = key;
    }
}

kernel void placePairs(global const uint *restrict in, global uint *restrict out, global const int *restrict counts,
                       int n, int shift, global const uint *restrict values, global uint *restrict out_values) {
    int share = share_of(n), first = min((int)get_global_id(0) * share, n), end = min(first + share, n);
    int start[DIGITS], next[DIGITS];
    uint lines[DIGITS * LINE] __attribute__((aligned(64))), value_lines[DIGITS * LINE] __attribute__((aligned(64))) __attribute__((aligned(64)));
    first_places(counts, start);
    for (int d = 0; d < DIGITS; d++)
        next[d] = start[d];
    for (int i = first; i < end; i++) {
        uint key = in[i], d = key >> shift & (DIGITS - 1);
        int at = next[d]++;
        lines[d * LINE + (at & (LINE - 1))] = key;
        value_lines[d * LINE + (at & (LINE - 1))] = values[i];
        if ((at & (LINE - 1)) == LINE - 1) {
            int from = max(at - (LINE - 1), start[d]);
            WRITE_LINE(out, lines, d, from, at + 1)
            WRITE_LINE(out_values, value_lines, d, from, at + 1)
        }
    }
    for (int d = 0; d < DIGITS; d++) {
        int from = max(next[d] & ~(LINE - 1), start[d]);
        WRITE_LINE(out, lines, d, from, next[d])
        WRITE_LINE(out_values, value_lines, d, from, next[d])
    }
}
