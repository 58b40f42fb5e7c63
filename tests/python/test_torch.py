"""Operators of PyTorch; skipped where that is not installed: `pip install torch` in the environment of the tests."""

import numpy as np
import pytest

import fcl
import operators

torch = pytest.importorskip("torch")
if not hasattr(torch.library, "custom_op"):
    pytest.skip("PyTorch 2.4 or later is wanted", allow_module_level=True)
import fcl.torch  # noqa: E402  (there may be no PyTorch)

SOURCE = operators.SOURCE + """
kernel doubled (xs : [bf16]) = push <grid> (map (fn x => x + x) xs)
"""


@pytest.fixture(scope="module")
def ops():
    return {name: fcl.torch.op(kernel) for name, kernel in fcl.source(SOURCE).kernels.items()}


def some(*shape):
    return torch.arange(int(np.prod(shape)), dtype=torch.float32).reshape(shape) - 2


ints = torch.tensor([1, -2, 3], dtype=torch.int32)
CALLS = [("axpy", (2.0, some(5), some(3))), ("positive", (some(6),)), ("total", (some(6),)), ("total", (some(0),)),
         ("turned", (some(2, 3).t(),)), ("turned", (some(0, 3),)), ("both", (ints, some(3), 4, True)),
         ("doubled", (torch.ones(3, dtype=torch.bfloat16),)), ("heavier", (1.0, 2.0, some(2), some(2))),
         ("windows", (2, some(5))), ("windows", (7, some(5)))]


def test_results(ops):
    assert torch.equal(ops["axpy"](2.0, some(5), some(3)), 2 * some(3) + some(3))
    assert torch.equal(ops["positive"](some(5)), torch.tensor([1.0, 2.0]))
    assert ops["total"](some(6)).shape == () and ops["total"](some(6)) == 3
    assert torch.equal(ops["turned"](some(2, 3).t()), some(2, 3))
    firsts, total, more = ops["both"](ints, some(3), 4, True)
    assert torch.equal(firsts, ints) and total == -3 and more == 5 and more.dtype == torch.int32
    assert torch.equal(ops["doubled"](torch.ones(3, dtype=torch.bfloat16)), torch.full((3,), 2, dtype=torch.bfloat16))
    places, masses = ops["heavier"](0.0, 2.0, some(4), some(4))
    assert torch.equal(places, some(4)) and torch.equal(masses, some(4) + 2)
    assert ops["turned"](some(0, 3)).shape == (3, 0)


@pytest.mark.parametrize("name, arguments", CALLS)
def test_what_pytorch_asks_of_operators(ops, name, arguments):
    """Shapes without a run among it, and sizes that are not known."""
    torch.library.opcheck(ops[name], arguments)


def test_results_are_not_the_arguments(ops):
    x = some(4)
    y = ops["axpy"](1.0, x, torch.zeros(4))
    y += 1
    assert torch.equal(x, some(4))


@pytest.mark.parametrize("tensors, says", [
    ((some(3).double(), some(3)), r"wants elements of torch.float32, and this tensor's are torch.float64; "
                                  r"`.to\(torch.float32\)` converts"),
    ((some(3), some(3, 1)), "`ys : .float.` wants 1 dimension, and this tensor has 2"),
])
def test_wrong_tensors(ops, tensors, says):
    with pytest.raises(fcl.ArgumentError, match=says):
        ops["axpy"](1.0, *tensors)


def test_derivative():
    axpy = fcl.torch.op(fcl.source(SOURCE).axpy)

    def keep(ctx, inputs, output):
        ctx.a = inputs[0]
    axpy.register_autograd(lambda ctx, grad: (None, ctx.a * grad, grad), setup_context=keep)
    x = torch.ones(4, requires_grad=True)
    axpy(3.0, x, x).sum().backward()
    assert torch.equal(x.grad, torch.full((4,), 4.0))


def test_names():
    kernel = fcl.source(SOURCE).total
    first, second, third = fcl.torch.op(kernel), fcl.torch.op(kernel), fcl.torch.op(kernel, "my_total")
    assert str(third._opoverload) == "fcl.my_total.default"
    assert str(first._opoverload) != str(second._opoverload)


def test_compiled(ops):
    """One graph, of sizes that change and sizes that data decide."""
    def program(x, y):
        z = ops["axpy"](2.0, x, y) + 1
        w = ops["windows"](3, z)
        return (ops["positive"](w - 5) * 2).sum(), w
    compiled = torch.compile(program, fullgraph=True, backend="aot_eager")
    for n in (5, 100, 101, 3, 2, 0):
        x, y = torch.randn(n), torch.randn(n)
        (total, windows), (other_total, other_windows) = program(x, y), compiled(x, y)
        assert torch.equal(windows, other_windows) and torch.allclose(total, other_total), n
