#!/usr/bin/env python3
"""The side of JAX, on CPUs: whole arrays, compiled with jit, inputs and results on its device. Called as
numpy_side.py."""

import os
import sys

sys.dont_write_bytecode = True
os.environ.setdefault("JAX_PLATFORMS", "cpu")
import numpy_side  # noqa: E402  beside this file, and ends the program where NumPy is missing

try:
    import jax
except ImportError as why:
    print(why, file=sys.stderr)
    sys.exit(3)
import jax.numpy as jnp  # noqa: E402

MOST_STEPS = 512


def sobel(rows, columns, flat):
    image = jnp.pad(flat.reshape(rows, columns), 1, mode="edge")
    smooth = image[:-2] + 2 * image[1:-1] + image[2:]
    across = smooth[:, 2:] - smooth[:, :-2]
    smooth = image[:, :-2] + 2 * image[:, 1:-1] + image[:, 2:]
    along = smooth[2:] - smooth[:-2]
    return jnp.sqrt(across * across + along * along).ravel()


def mandelbrot(rows, columns):
    cx = (jnp.float32(-2.2) + jnp.arange(columns, dtype=jnp.float32) * jnp.float32(3 / columns))[None, :]
    cy = (jnp.float32(1.5) - jnp.arange(rows, dtype=jnp.float32) * jnp.float32(3 / rows))[:, None]

    def is_inside(x, y):
        return x * x + y * y < 4

    def step(state):
        i, x, y, count = state
        inside = is_inside(x, y)
        return (i + 1, jnp.where(inside, x * x - y * y + cx, x), jnp.where(inside, 2 * x * y + cy, y), count + inside)

    def goes_on(state):
        return (state[0] < MOST_STEPS) & jnp.any(is_inside(state[1], state[2]))

    zero = jnp.zeros((rows, columns), jnp.float32)
    count = jax.lax.while_loop(goes_on, step, (0, zero, zero, jnp.zeros((rows, columns), jnp.int32)))[3]
    return ((count & 15) * 17).astype(jnp.uint8).ravel()


def product(a, b):
    side = int(round(a.size**0.5))
    return jnp.matmul(a.reshape(side, side), b.reshape(side, side), precision="highest").ravel()


TASKS = {
    "exp": jnp.exp,
    "convolution": lambda taps, xs: jnp.convolve(xs, taps, "valid"),
    "product64": product,
    "sgemm512": product,
    "sgemm1024": product,
    "saxpy": lambda x, y: jnp.float32(2) * x + y,
    "reduce": lambda xs: jnp.sum(xs).reshape(1),
    "scan": jnp.cumsum,
    "sort": jnp.sort,
    "sortFloat": jnp.sort,
}
OF_MATRICES = {"sobel": sobel, "mandelbrot": mandelbrot}


def on_device(function, static=()):
    """Compiled, and waited for; what comes in is put on the device once."""
    compiled, there = jax.jit(function, static_argnums=static), {}

    def run(*arguments):
        for at, argument in enumerate(arguments):
            if at not in static and id(argument) not in there:
                there[id(argument)] = jnp.asarray(argument)
        return compiled(*(a if at in static else there[id(a)] for at, a in enumerate(arguments))).block_until_ready()

    return run


def filtered(xs):  # its length is known only when it has run, so that jit has no such function
    return xs[xs > 0].block_until_ready()


if __name__ == "__main__":
    sys.exit(numpy_side.main(
        "jax", f"JAX {jax.__version__}",
        {**{name: on_device(task) for name, task in TASKS.items()}, "filter": lambda xs: filtered(jnp.asarray(xs))},
        {name: on_device(task, (0, 1)) for name, task in OF_MATRICES.items()}))
