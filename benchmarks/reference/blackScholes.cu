// Computes what options are worth, by Black and Scholes' formula, for CUDA devices. Parameters: interest and
// volatility; the share's and the option's price and the years; calls and puts, all aligned to 16 bytes; n, the number
// of options.
//
// Launch: at least n / 4 threads, rounded up (tuned: blocks of 256); each has four options, and
// reads and writes 16 bytes at a time.

// The chance that a normally distributed number is above |x|: Abramowitz and Stegun's formula 26.2.17.
__device__ __forceinline__ float beyond(float x) {
    float k = __fdividef(1.0f, fmaf(0.2316419f, fabsf(x), 1.0f));
    float s = fmaf(fmaf(fmaf(fmaf(1.330274429f, k, -1.821255978f), k, 1.781477937f), k, -0.356563782f), k, 0.319381530f);
    return 0.3989422804f * __expf(-0.5f * x * x) * s * k;
}

__device__ __forceinline__ void option(float interest, float volatility, float price, float strike, float years,
                                              float *call, float *put) {
    float spread = volatility * sqrtf(years), paid = strike * __expf(-interest * years);
    float d = __fdividef(__logf(__fdividef(price, strike)) + (interest + 0.5f * volatility * volatility) * years, spread);
    float e = d - spread, p = beyond(d), q = beyond(e);
    float rises = d > 0 ? 1 - p : p, bought = e > 0 ? 1 - q : q;
    *call = price * rises - paid * bought;
    *put = paid * (1 - bought) - price * (1 - rises);
}

extern "C" __global__ void __launch_bounds__(1024)
    blackScholes(float interest, float volatility, const float *__restrict__ prices, const float *__restrict__ strikes,
                 const float *__restrict__ years, float *__restrict__ calls, float *__restrict__ puts, int n) {
    long long v = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n / 4) {
        float4 price = reinterpret_cast<const float4 *>(prices)[v], strike = reinterpret_cast<const float4 *>(strikes)[v];
        float4 t = reinterpret_cast<const float4 *>(years)[v], call, put;
        option(interest, volatility, price.x, strike.x, t.x, &call.x, &put.x);
        option(interest, volatility, price.y, strike.y, t.y, &call.y, &put.y);
        option(interest, volatility, price.z, strike.z, t.z, &call.z, &put.z);
        option(interest, volatility, price.w, strike.w, t.w, &call.w, &put.w);
        reinterpret_cast<float4 *>(calls)[v] = call;
        reinterpret_cast<float4 *>(puts)[v] = put;
    } else if (v == n / 4) {
        for (int i = n / 4 * 4; i < n; i++)
            option(interest, volatility, prices[i], strikes[i], years[i], &calls[i], &puts[i]);
    }
}
