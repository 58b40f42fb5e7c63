"""Functions of JAX; skipped where that is not installed: `pip install jax` in the environment of the tests."""

import numpy as np
import pytest

import fcl
import operators

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402  (there may be no JAX)
import fcl.jax  # noqa: E402

SOURCE = operators.SOURCE + """
kernel doubled (xs : [bf16]) (x : bf16) = (push <grid> (map (fn y => y + x) xs), x + x)
kernel at (i : int) (xs : [float]) = xs ! i
"""


@pytest.fixture(scope="module")
def ops():
    return {name: fcl.jax.op(kernel) for name, kernel in fcl.source(SOURCE, check=True).kernels.items()}


def some(*shape):
    return jnp.arange(int(np.prod(shape)), dtype=jnp.float32).reshape(shape) - 2


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit])
def test_results(ops, wrap):
    assert np.array_equal(wrap(ops["axpy"])(2.0, some(5), some(3)), 2 * some(3) + some(3))
    assert wrap(ops["total"])(some(6)).shape == () and wrap(ops["total"])(some(6)) == 3
    assert wrap(ops["total"])(some(0)) == 0
    assert np.array_equal(wrap(ops["turned"])(some(2, 3).T), some(2, 3))
    assert wrap(ops["turned"])(some(0, 3)).shape == (3, 0)
    ints = jnp.array([1, -2, 3], jnp.int32)
    firsts, total, more = wrap(ops["both"])(ints, some(3), 4, True)
    assert np.array_equal(firsts, ints) and total == -3 and more == 5 and more.dtype == jnp.int32
    twice, one = wrap(ops["doubled"])(jnp.ones(3, jnp.bfloat16), 1.5)
    assert twice.dtype == one.dtype == jnp.bfloat16 and np.array_equal(twice, jnp.full(3, 2.5)) and one == 3
    places, masses = wrap(ops["heavier"])(0.0, 2.0, some(4), some(4))
    assert np.array_equal(places, some(4)) and np.array_equal(masses, some(4) + 2)


def test_numbers_that_decide_shapes(ops):
    assert np.array_equal(jax.jit(ops["windows"], static_argnums=0)(2, some(5)), some(5)[:-1] + some(5)[1:])
    assert ops["windows"](7, some(5)).shape == (0,)
    with pytest.raises(fcl.ArgumentError, match="windows: a number decides a result's shape, and is traced"):
        jax.jit(ops["windows"])(2, some(5))
    with pytest.raises(fcl.Error, match="positive: the data decide a result's shape"):
        ops["positive"](some(5))


def test_it_is_part_of_what_jax_transforms(ops):
    @jax.custom_vjp
    def axpy(a, x, y):
        return ops["axpy"](a, x, y)
    axpy.defvjp(lambda a, x, y: (axpy(a, x, y), (a, x)), lambda kept, d: (jnp.sum(d * kept[1]), kept[0] * d, d))
    da, dx = jax.grad(lambda a, x: axpy(a, x, some(3)).sum(), (0, 1))(2.0, some(3))
    assert da == some(3).sum() and np.array_equal(dx, [2, 2, 2])
    rows = jax.vmap(ops["total"])(some(3, 4))
    assert np.array_equal(rows, some(3, 4).sum(axis=1))
    nested = jax.jit(lambda x: jax.lax.fori_loop(0, 3, lambda i, y: ops["axpy"](1.0, y, x), x))
    assert np.array_equal(nested(some(4)), 4 * some(4))


@pytest.mark.parametrize("name, arguments, says", [
    ("axpy", (1.0, some(3).astype(jnp.float16), some(3)),
     r"axpy: `xs : \[float\]` wants elements of type float32, .* are float16; `.astype\(\"float32\"\)` converts"),
    ("axpy", (1.0, np.zeros(3), some(3)), "are float64"),
    ("axpy", (1.0, some(3), some(3, 1)), "`ys : .float.` wants 1 dimension, and this array has 2"),
    ("axpy", (some(3), some(3)), "axpy: 3 arguments are wanted, one for each part, and 2 were given"),
    ("windows", (2.5, some(3)), "`k : int` wants a number of type int32, not 2.5"),
])
def test_wrong_arguments(ops, name, arguments, says):
    with pytest.raises(fcl.ArgumentError, match=says):
        ops[name](*arguments)


def test_types_that_jax_has_not_as_it_is_set():
    wide = fcl.source("kernel wide (xs : [double]) = push <grid> (map ( * 2.0) xs)").wide
    with pytest.raises(fcl.Error, match="no float64 as it is set"):
        fcl.jax.op(wide)
    with jax.enable_x64(True):
        assert np.array_equal(fcl.jax.op(wide)(np.array([1.5, 2])), [3, 4])


def test_a_check_that_fails(ops):
    with pytest.raises(Exception, match="index 7"):
        jax.block_until_ready(ops["at"](7, some(3)))
    assert ops["at"](2, some(3)) == 0
