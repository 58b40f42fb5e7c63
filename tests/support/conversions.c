/* Compares two ways to convert halves, as two compilations of one text have them: all 65,536 to floats, and of all
   floats every n-th, n being the argument, which is odd. Says how many floats it compared. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void narrow_native(void *const *args, int64_t blocks);
void narrow_bits(void *const *args, int64_t blocks);
void wide_native(void *const *args, int64_t blocks);
void wide_bits(void *const *args, int64_t blocks);

enum { COUNT = 1 << 16 };

static uint32_t words[COUNT];
static uint16_t numbers[2][COUNT];
static float floats[2][COUNT];

static void run(void (*kernel)(void *const *args, int64_t blocks), void *from, void *to) {
    int count = COUNT;
    void *args[] = {&from, &to, &count};
    kernel(args, 16);
}

int main(int argc, char **argv) {
    uint64_t step = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, compared = 0;
    for (uint64_t at = 0; at < UINT64_C(1) << 32;) {
        for (int i = 0; i < COUNT; i++, at += step)
            words[i] = (uint32_t)at;
        run(narrow_native, words, numbers[0]);
        run(narrow_bits, words, numbers[1]);
        for (int i = 0; i < COUNT; i++)
            if (numbers[0][i] != numbers[1][i])
                return printf("the float %#x is %#x and %#x\n", words[i], numbers[0][i], numbers[1][i]), 1;
        compared += COUNT;
    }
    for (int i = 0; i < COUNT; i++)
        numbers[0][i] = (uint16_t)i;
    run(wide_native, numbers[0], floats[0]);
    run(wide_bits, numbers[0], floats[1]);
    for (int i = 0; i < COUNT; i++)
        if (isnan(floats[1][i]) ? !isnan(floats[0][i]) : memcmp(&floats[0][i], &floats[1][i], sizeof(float)) != 0)
            return printf("the half %#x is %a and %a\n", (unsigned)i, (double)floats[0][i], (double)floats[1][i]), 1;
    printf("%llu\n", (unsigned long long)compared);
    return 0;
}
