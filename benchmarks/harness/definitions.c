#include "definitions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void define_copy(struct problem *p) { memcpy(p->out[0].at, p->in[0].at, array_bytes(&p->in[0])); }

void define_saxpy(struct problem *p) {
    const float *x = p->in[0].at, *y = p->in[1].at;
    float *out = p->out[0].at;
    for (size_t i = 0; i < p->out[0].count; i++)
        out[i] = SAXPY_FACTOR * x[i] + y[i];
}

void define_reverse(struct problem *p) {
    const int32_t *in = p->in[0].at;
    int32_t *out = p->out[0].at;
    size_t n = p->in[0].count;
    for (size_t i = 0; i < n; i++)
        out[i] = in[n - 1 - i];
}

void define_transpose(struct problem *p) {
    const int32_t *in = p->in[0].at;
    int32_t *out = p->out[0].at;
    size_t rows = (size_t)p->rows, columns = (size_t)p->columns;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            out[c * rows + r] = in[r * columns + c];
}

void define_reduce(struct problem *p) {
    const uint32_t *in = p->in[0].at;
    uint32_t sum = 0;
    for (size_t i = 0; i < p->in[0].count; i++)
        sum += in[i];
    *(uint32_t *)p->out[0].at = sum;
}

void define_rows(struct problem *p) {
    const uint32_t *in = p->in[0].at;
    uint32_t *out = p->out[0].at;
    size_t columns = (size_t)p->columns;
    for (size_t r = 0; r < (size_t)p->rows; r++) {
        out[r] = 0;
        for (size_t c = 0; c < columns; c++)
            out[r] += in[r * columns + c];
    }
}

void define_scan(struct problem *p) {
    const uint32_t *in = p->in[0].at;
    uint32_t *out = p->out[0].at, sum = 0;
    for (size_t i = 0; i < p->in[0].count; i++)
        out[i] = sum += in[i];
}

void define_seg_scan(struct problem *p) {
    const unsigned char *begins = p->in[0].at;
    const uint32_t *in = p->in[1].at;
    uint32_t *out = p->out[0].at, sum = 0;
    for (size_t i = 0; i < p->in[1].count; i++)
        out[i] = sum = begins[i] ? in[i] : sum + in[i];
}

void define_filter(struct problem *p) {
    const int32_t *in = p->in[0].at;
    int32_t *out = p->out[0].at;
    size_t kept = 0;
    for (size_t i = 0; i < p->in[0].count; i++)
        if (in[i] > 0)
            out[kept++] = in[i];
    p->out[0].count = kept;
}

// A word that is ordered as the key: of a float, the sign decides which way the others count.
static uint32_t ordered(uint32_t key, bool is_float) {
    return !is_float ? key : key & 0x80000000u ? ~key : key | 0x80000000u;
}

// Sorts by 16 bits and then by the other 16, stably, with the values that belong to the keys if there are any.
void define_sort(struct problem *p) {
    enum { BITS = 16, DIGITS = 1 << BITS };
    size_t n = p->in[0].count;
    bool is_float = p->in[0].element == ELEMENT_FLOAT, has_values = p->inputs > 1;
    uint32_t *keys = allocate(n * 4), *values = has_values ? allocate(n * 4) : NULL;
    const uint32_t *from = p->in[0].at, *from_values = has_values ? p->in[1].at : NULL;
    for (int pass = 0; pass < 2; pass++) {
        uint32_t *to = pass == 0 ? keys : p->out[0].at, *to_values = pass == 0 || !has_values ? values : p->out[1].at;
        size_t *place = allocate((DIGITS + 1) * sizeof *place);
        memset(place, 0, (DIGITS + 1) * sizeof *place);
        for (size_t i = 0; i < n; i++)
            place[(ordered(from[i], is_float) >> pass * BITS & (DIGITS - 1)) + 1]++;
        for (size_t d = 0; d < DIGITS; d++)
            place[d + 1] += place[d];
        for (size_t i = 0; i < n; i++) {
            size_t at = place[ordered(from[i], is_float) >> pass * BITS & (DIGITS - 1)]++;
            to[at] = from[i];
            if (has_values)
                to_values[at] = from_values[i];
        }
        free(place);
        from = keys;
        from_values = values;
    }
    free(keys);
    free(values);
}

void define_unique(struct problem *p) {
    const int32_t *in = p->in[0].at;
    int32_t *out = p->out[0].at;
    size_t range = (size_t)p->buckets, kept = 0;
    unsigned char *occurs = allocate(range);
    memset(occurs, 0, range);
    for (size_t i = 0; i < p->in[0].count; i++)
        occurs[in[i]] = 1;
    for (size_t x = 0; x < range; x++)
        if (occurs[x])
            out[kept++] = (int32_t)x;
    p->out[0].count = kept;
    free(occurs);
}

void define_histogram(struct problem *p) {
    const int32_t *in = p->in[0].at;
    uint32_t *out = p->out[0].at;
    memset(out, 0, array_bytes(&p->out[0]));
    for (size_t i = 0; i < p->in[0].count; i++)
        out[in[i]]++;
}

void define_by_index(struct problem *p) {
    const int32_t *at = p->in[0].at;
    const uint32_t *values = p->in[1].at;
    uint32_t *out = p->out[0].at;
    memset(out, 0, array_bytes(&p->out[0]));
    for (size_t i = 0; i < p->in[0].count; i++)
        out[at[i]] += values[i];
}

void define_matvec(struct problem *p) {
    const float *matrix = p->in[0].at, *vector = p->in[1].at;
    float *out = p->out[0].at;
    size_t columns = (size_t)p->columns;
    for (size_t r = 0; r < (size_t)p->rows; r++) {
        double sum = 0;
        for (size_t c = 0; c < columns; c++)
            sum += (double)matrix[r * columns + c] * (double)vector[c];
        out[r] = (float)sum;
    }
}

void define_sgemm(struct problem *p) {
    const float *a = p->in[0].at, *b = p->in[1].at;
    float *out = p->out[0].at;
    size_t n = (size_t)p->columns;
    double *row = allocate(n * sizeof *row);
    for (size_t i = 0; i < n; i++) {
        memset(row, 0, n * sizeof *row);
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++)
                row[j] += (double)a[i * n + k] * (double)b[k * n + j];
        for (size_t j = 0; j < n; j++)
            out[i * n + j] = (float)row[j];
    }
    free(row);
}

static size_t clamped(int32_t i, int32_t n) { return (size_t)(i < 0 ? 0 : i >= n ? n - 1 : i); }

// The length of Sobel's gradient; outside there is the nearest element.
void define_sobel(struct problem *p) {
    const float *in = p->in[0].at;
    float *out = p->out[0].at;
    for (int32_t r = 0; r < p->rows; r++) {
        const float *above = in + clamped(r - 1, p->rows) * (size_t)p->columns;
        const float *here = in + (size_t)r * (size_t)p->columns;
        const float *below = in + clamped(r + 1, p->rows) * (size_t)p->columns;
        for (int32_t c = 0; c < p->columns; c++) {
            size_t left = clamped(c - 1, p->columns), right = clamped(c + 1, p->columns), at = (size_t)c;
            float across = above[right] + 2 * here[right] + below[right] - above[left] - 2 * here[left] - below[left];
            float down = below[left] + 2 * below[at] + below[right] - above[left] - 2 * above[at] - above[right];
            out[(size_t)r * (size_t)p->columns + at] = sqrtf(across * across + down * down);
        }
    }
}

void define_blur(struct problem *p) {
    int32_t taps = p->task->variant, radius = taps / 2;
    double weights[16] = {1}, all = 1;
    for (int32_t t = 1; t < taps; t++)
        weights[t] = weights[t - 1] * (taps - t) / t;
    for (int32_t t = 1; t < taps; t++)
        all *= 4; // the weights of a side add up to 2^(taps - 1)
    for (size_t plane = 0; plane < 3; plane++) {
        const double *in = p->in[plane].at;
        double *out = p->out[plane].at;
        for (int32_t r = 0; r < p->rows; r++)
            for (int32_t c = 0; c < p->columns; c++) {
                double sum = 0;
                for (int32_t y = 0; y < taps; y++)
                    for (int32_t x = 0; x < taps; x++)
                        sum += weights[y] * weights[x] *
                               in[clamped(r + y - radius, p->rows) * (size_t)p->columns +
                                  clamped(c + x - radius, p->columns)];
                *out++ = sum / all;
            }
    }
}

void define_csr(struct problem *p) {
    const int32_t *starts = p->in[0].at, *columns = p->in[1].at;
    const float *values = p->in[2].at, *vector = p->in[3].at;
    float *out = p->out[0].at;
    for (size_t r = 0; r < p->out[0].count; r++) {
        double sum = 0;
        for (int32_t k = starts[r]; k < starts[r + 1]; k++)
            sum += (double)values[k] * (double)vector[columns[k]];
        out[r] = (float)sum;
    }
}

const struct window windows[5] = {
    {-2.2f, 0.8f, -1.5f, 1.5f},
    {-2.0f, 1.2f, -1.2f, 1.2f},
    {-0.691060f, -0.690906f, 0.387103f, 0.387228f},
    {-0.793114f, -0.723005f, 0.037822f, 0.140974f},
    {-0.745464f, -0.745388f, 0.112967f, 0.113030f},
};

// How often z := z² + c can be done before |z| is above 2, in 16 greys.
void define_mandelbrot(struct problem *p) {
    unsigned char *out = p->out[0].at;
    const struct window w = windows[p->task->variant];
    float dx = (w.right - w.left) / (float)p->columns, dy = (w.top - w.bottom) / (float)p->rows;
    double steps = 0;
    for (int32_t r = 0; r < p->rows; r++) {
        for (int32_t c = 0; c < p->columns; c++) {
            float cx = w.left + (float)c * dx, cy = w.top - (float)r * dy, x = 0, y = 0;
            int count = 0;
            for (; x * x + y * y < 4 && count < PICTURE_ITERATIONS; count++) {
                float next = x * x - y * y + cx;
                y = 2 * x * y + cy;
                x = next;
            }
            *out++ = (unsigned char)((count & 15) * 17);
            steps += count;
        }
    }
    p->operations = 8 * steps; // three products, three sums and differences, and |z|², of which the squares are there
}

void define_black_scholes(struct problem *p) {
    const float *prices = p->in[0].at, *strikes = p->in[1].at, *years = p->in[2].at;
    float *calls = p->out[0].at, *puts = p->out[1].at;
    double interest = (double)INTEREST, volatility = (double)VOLATILITY;
    for (size_t i = 0; i < p->in[0].count; i++) {
        double price = (double)prices[i], strike = (double)strikes[i], t = (double)years[i];
        double spread = volatility * sqrt(t), paid = strike * exp(-interest * t);
        double d = (log(price / strike) + (interest + volatility * volatility / 2) * t) / spread, e = d - spread;
        // The chance that a normally distributed number is below x is erfc(-x / √2) / 2.
        calls[i] = (float)(price * erfc(-d * M_SQRT1_2) / 2 - paid * erfc(-e * M_SQRT1_2) / 2);
        puts[i] = (float)(paid * erfc(e * M_SQRT1_2) / 2 - price * erfc(d * M_SQRT1_2) / 2);
    }
}

void define_exp(struct problem *p) {
    const float *in = p->in[0].at;
    float *out = p->out[0].at;
    for (size_t i = 0; i < p->out[0].count; i++)
        out[i] = expf(in[i]);
}

void define_convolution(struct problem *p) {
    const float *taps = p->in[0].at, *in = p->in[1].at;
    float *out = p->out[0].at;
    size_t count = p->in[0].count;
    for (size_t i = 0; i < p->out[0].count; i++) {
        double sum = 0;
        for (size_t t = 0; t < count; t++)
            sum += (double)taps[t] * (double)in[i + count - 1 - t];
        out[i] = (float)sum;
    }
}

static bool is_blank(unsigned char c) { return c == ' ' || c == '\n'; }

void define_words(struct problem *p) {
    const unsigned char *text = p->in[0].at;
    int32_t words = 0;
    for (size_t i = 0; i < p->in[0].count; i++)
        words += !is_blank(text[i]) && (i == 0 || is_blank(text[i - 1]));
    *(int32_t *)p->out[0].at = words;
}

void define_run_lengths(struct problem *p) {
    const int32_t *in = p->in[0].at;
    int32_t *values = p->out[0].at, *lengths = p->out[1].at;
    size_t runs = 0;
    for (size_t i = 0; i < p->in[0].count; i++) {
        if (i == 0 || in[i] != in[i - 1]) {
            values[runs] = in[i];
            lengths[runs++] = 0;
        }
        lengths[runs - 1]++;
    }
    p->out[0].count = p->out[1].count = runs;
}

void define_bfs(struct problem *p) {
    const int32_t *starts = p->in[0].at, *degrees = p->in[1].at, *edges = p->in[2].at;
    int32_t *out = p->out[0].at;
    size_t nodes = p->out[0].count, found = 0;
    int32_t *queue = allocate(nodes * sizeof *queue);
    for (size_t i = 0; i < nodes; i++)
        out[i] = i == 0 ? 0 : -1;
    queue[found++] = 0;
    for (size_t next = 0; next < found; next++) {
        int32_t from = queue[next];
        for (int32_t e = starts[from]; e < starts[from] + degrees[from]; e++)
            if (out[edges[e]] < 0) {
                out[edges[e]] = out[from] + 1;
                queue[found++] = edges[e];
            }
    }
    free(queue);
}
