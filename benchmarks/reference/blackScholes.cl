// Computes what options are worth, by Black and Scholes' formula, for CPU devices. Parameters: interest and
// volatility; the share's and the option's price and the years; calls and puts; n, a number of options that need not
// be a multiple of 16.
//
// Launch: any number of groups of 1 (tuned: 8 per core), with a contiguous share each, 16 options
// at a time.

// The chance that a normally distributed number is above |x|: Abramowitz and Stegun's formula 26.2.17.
static float16 beyond(float16 x) {
    float16 k = 1 / fma(0.2316419f, fabs(x), 1.0f);
    float16 s = fma(fma(fma(fma(1.330274429f, k, -1.821255978f), k, 1.781477937f), k, -0.356563782f), k, 0.319381530f);
    return 0.3989422804f * exp(-0.5f * x * x) * s * k;
}

static void options(float interest, float volatility, float16 price, float16 strike, float16 years, float16 *call,
                    float16 *put) {
    float16 spread = volatility * sqrt(years), paid = strike * exp(-interest * years);
    float16 d = (log(price / strike) + (interest + 0.5f * volatility * volatility) * years) / spread, e = d - spread;
    float16 p = beyond(d), q = beyond(e);
    float16 rises = d > 0 ? 1 - p : p, bought = e > 0 ? 1 - q : q;
    *call = price * rises - paid * bought;
    *put = paid * (1 - bought) - price * (1 - rises);
}

kernel void blackScholes(float interest, float volatility, global const float *restrict prices,
                         global const float *restrict strikes, global const float *restrict years,
                         global float *restrict calls, global float *restrict puts, int n) {
    int vectors = n / 16, items = (int)get_global_size(0), share = (vectors + items - 1) / items;
    int v = min((int)get_global_id(0) * share, vectors), end = min(v + share, vectors);
    float16 call, put;
    for (; v < end; v++) {
        options(interest, volatility, vload16(v, prices), vload16(v, strikes), vload16(v, years), &call, &put);
        vstore16(call, v, calls);
        vstore16(put, v, puts);
    }
    if (get_global_id(0) == 0)
        for (int i = vectors * 16; i < n; i++) {
            options(interest, volatility, prices[i], strikes[i], years[i], &call, &put);
            calls[i] = call.s0;
            puts[i] = put.s0;
        }
}
