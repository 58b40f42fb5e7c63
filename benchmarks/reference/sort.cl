// Sorting by keys of 32 bits, stably, for CPU devices: a radix sort from the lowest of four digits of 8 bits. For each
// digit `count` and then `place` (or `placePairs`) are launched alike.
//
// Launch: any number of groups of 1 (tuned: 8 per core), each with a contiguous share of the elements.
#define DIGITS 256

// A word that is ordered as the float of those bits, and the reverse.
static uint ordered(uint key) { return key ^ ((uint)((int)key >> 31) | 0x80000000u); }
static uint unordered(uint word) { return word ^ ((uint)((int)~word >> 31) | 0x80000000u); }

static int share_of(int n) {
    int items = (int)get_global_size(0);
    return (n + items - 1) / items;
}

// How often each digit occurs in the group's share: counts[digit + DIGITS * group]. Four counters
// for each digit, as one cannot be increased twice in a row without waiting.
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

kernel void place(global const uint *restrict in, global uint *restrict out, global const int *restrict counts, int n,
                  int shift, int from_float, int to_float) {
    int share = share_of(n), i = min((int)get_global_id(0) * share, n), end = min(i + share, n), next[DIGITS];
    first_places(counts, next);
    if (from_float) {
        for (; i < end; i++) {
            uint key = ordered(in[i]);
            out[next[key >> shift & (DIGITS - 1)]++] = key;
        }
    } else if (to_float) {
        for (; i < end; i++) {
            uint key = in[i];
            out[next[key >> shift & (DIGITS - 1)]++] = unordered(key);
        }
    } else {
        for (; i < end; i++) {
            uint key = in[i];
            out[next[key >> shift & (DIGITS - 1)]++] = key;
        }
    }
}

kernel void placePairs(global const uint *restrict in, global uint *restrict out, global const int *restrict counts,
                       int n, int shift, global const uint *restrict values, global uint *restrict out_values) {
    int share = share_of(n), i = min((int)get_global_id(0) * share, n), end = min(i + share, n), next[DIGITS];
    first_places(counts, next);
    for (; i < end; i++) {
        uint key = in[i];
        int at = next[key >> shift & (DIGITS - 1)]++;
        out[at] = key;
        out_values[at] = values[i];
    }
}

// Does what `place` does, with stores that bypass the caches, for arrays far larger than them: it gathers what goes to
// one digit's places to a cache line, and writes it when that is full. Lines alone, without such stores, were no
// faster than `place`; the stores are Clang's extension to OpenCL C 1.2. The output must be aligned to 64 bytes.
#if defined __has_builtin
#if __has_builtin(__builtin_nontemporal_store)
#define LINE 16 // elements

kernel void placeStreaming(global const uint *restrict in, global uint *restrict out, global const int *restrict counts,
                           int n, int shift, int from_float, int to_float) {
    int share = share_of(n), first = min((int)get_global_id(0) * share, n), end = min(first + share, n);
    int start[DIGITS], next[DIGITS];
    uint lines[DIGITS * LINE];
    first_places(counts, start);
    for (int d = 0; d < DIGITS; d++)
        next[d] = start[d];
    for (int i = first; i < end; i++) {
        uint key = from_float ? ordered(in[i]) : in[i], d = key >> shift & (DIGITS - 1);
        int at = next[d]++, begin = at - (LINE - 1);
        lines[d * LINE + (at & (LINE - 1))] = to_float ? unordered(key) : key;
        if ((at & (LINE - 1)) != LINE - 1)
            continue;
        if (begin >= start[d])
            __builtin_nontemporal_store(vload16(d, lines), (global uint16 *)(out + begin));
        else // the line begins with what other groups write
            for (int to = start[d]; to <= at; to++)
                out[to] = lines[d * LINE + (to & (LINE - 1))];
    }
    for (int d = 0; d < DIGITS; d++)
        for (int to = max(next[d] & ~(LINE - 1), start[d]); to < next[d]; to++)
            out[to] = lines[d * LINE + (to & (LINE - 1))];
}
#endif
#endif
