#!/usr/bin/env python3
"""The side of Numba: loops as its user would write them, compiled with parallel=True. Called as numpy_side.py."""

import sys

sys.dont_write_bytecode = True
import numpy_side  # noqa: E402  beside this file, and ends the program where NumPy is missing

try:
    import numba
except ImportError as why:
    print(why, file=sys.stderr)
    sys.exit(3)
import numpy as np  # noqa: E402

parallel = numba.njit(parallel=True, error_model="numpy")


@parallel
def sobel(rows, columns, flat):
    image, out = flat.reshape((rows, columns)), np.empty((rows, columns), np.float32)
    for r in numba.prange(rows):
        up, down = max(r - 1, 0), min(r + 1, rows - 1)
        for c in range(columns):
            left, right = max(c - 1, 0), min(c + 1, columns - 1)
            across = (image[up, right] + 2 * image[r, right] + image[down, right]
                      - image[up, left] - 2 * image[r, left] - image[down, left])  # fmt: skip
            along = (image[down, left] + 2 * image[down, c] + image[down, right]
                     - image[up, left] - 2 * image[up, c] - image[up, right])  # fmt: skip
            out[r, c] = np.sqrt(across * across + along * along)
    return out.ravel()


@parallel
def mandelbrot(rows, columns):
    out = np.empty((rows, columns), np.uint8)
    left, top = np.float32(-2.2), np.float32(1.5)
    dx, dy = np.float32(np.float32(3) / columns), np.float32(np.float32(3) / rows)
    for r in numba.prange(rows):
        for c in range(columns):
            cx, cy = left + np.float32(c) * dx, top - np.float32(r) * dy
            x, y, count = np.float32(0), np.float32(0), 0
            while x * x + y * y < np.float32(4) and count < 512:
                x, y = x * x - y * y + cx, np.float32(2) * x * y + cy
                count += 1
            out[r, c] = (count & 15) * 17
    return out.ravel()


@parallel
def saxpy(x, y):
    out = np.empty_like(x)
    for i in numba.prange(len(x)):
        out[i] = np.float32(2) * x[i] + y[i]
    return out


@parallel
def total(xs):
    result = np.int32(0)
    for i in numba.prange(len(xs)):
        result += xs[i]
    return np.array([result], dtype=np.int32)


if __name__ == "__main__":
    sys.exit(numpy_side.main(
        "numba", f"Numba {numba.__version__}", {"saxpy": saxpy, "reduce": total},
        {"sobel": sobel, "mandelbrot": mandelbrot}))
