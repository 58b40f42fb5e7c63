// Reversing an array, for CPU devices. Parameters: input, output, and n, the number of elements.
//
// Launch: at least n work-items, in groups of 64 or more (tuned: 1024). The group becomes a loop whose vectorised form
// reads a vector backwards; vectors reversed by hand and larger shares per item were no faster.
kernel void reverse(global const int *restrict in, global int *restrict out, int n) {
    int i = (int)get_global_id(0);
    if (i < n)
        out[i] = in[n - 1 - i];
}
