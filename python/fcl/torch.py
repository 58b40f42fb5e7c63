"""FCL's kernels as operators of PyTorch.

    import fcl, fcl.torch, torch
    m = fcl.source("kernel twice (xs : [float]) = push <grid> (map ( * 2.0) xs)")
    twice = fcl.torch.op(m.twice)
    twice(torch.ones(3))                       # tensor([2., 2., 2.])

An operator takes tensors of the CPU, for which its kernel runs in C, and of CUDA. torch.compile keeps it as one node
of its graph. The extents of its results are known there as far as `fclc report` knows them; what data decide, as the
length of a filter, is a size that only the run tells. PyTorch 2.4 or later is wanted.
"""

from __future__ import annotations

import ast
import operator
from typing import Any, Iterator

import numpy
import torch

from . import ArgumentError, Error, Kernel

__all__ = ["op"]

_names: dict[str, int] = {}  # of operators, and how often each was taken


class _Group:
    """A number, or arrays of one shape: what a type has side by side. Each of its leaves is an argument."""

    def __init__(self, names: list[str], bases: list[str], rank: int | None) -> None:
        self.names, self.rank = names, rank  # None: a number
        self.dtypes = [_dtype(base) for base in bases]


def _dtype(base: str) -> torch.dtype:
    found = getattr(torch, base, None)
    if not isinstance(found, torch.dtype):
        raise Error(f"fcl.torch: this version of PyTorch has no type {base}")
    return found


def _leaves(name: str, of: Any) -> Iterator[tuple[str, str]]:
    """The names and base types of the arrays in an array of tuples."""
    if of[0] == "array":
        yield name, of[1]
    else:
        for i, item in enumerate(of[2]):
            yield from _leaves(f"{name}_{i}", item)


def _groups(name: str, of: Any) -> Iterator[_Group]:
    """From a type, as fcl.Kernel has it."""
    if isinstance(of, str):
        yield _Group([name], [of], None)
    elif of[0] == "array" or of[1]:
        leaves = list(_leaves(name, of))
        yield _Group([leaf for leaf, _ in leaves], [base for _, base in leaves], of[2] if of[0] == "array" else of[1])
    else:
        for i, item in enumerate(of[2]):
            yield from _groups(f"{name}_{i}", item)


def _nested(of: Any, values: Iterator[Any]) -> Any:
    """The values as a kernel takes them: in tuples, as the type has these."""
    if isinstance(of, str) or of[0] == "array":
        return next(values)
    return tuple(_nested(item, values) for item in of[2])


def _flat(result: Any) -> Iterator[Any]:
    """The parts of what a kernel gives."""
    if isinstance(result, (dict, tuple)):
        for item in result.values() if isinstance(result, dict) else result:
            yield from _flat(item)
    else:
        yield result


_FOLDS: dict[str, Any] = {"min": torch.sym_min, "max": torch.sym_max}
_OPERATIONS: dict[type, Any] = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


def _value(formula: ast.AST, sizes: dict[str, Any], meanings: dict[str, ast.AST | None]) -> Any:
    """An amount of a report; None: data decide it."""
    if isinstance(formula, ast.Constant):
        return formula.value
    if isinstance(formula, ast.Name):
        meaning = meanings.get(formula.id)
        return sizes[formula.id] if formula.id in sizes else meaning and _value(meaning, sizes, meanings)
    if isinstance(formula, ast.BinOp) and type(formula.op) in _OPERATIONS:
        sides = [_value(side, sizes, meanings) for side in (formula.left, formula.right)]
        return None if None in sides else _OPERATIONS[type(formula.op)](*sides)
    if not isinstance(formula, ast.Call) or not isinstance(formula.func, ast.Name):
        return None
    name, parts = formula.func.id, list(formula.args)
    if name in ("ceil", "floor") and isinstance(parts[0], ast.BinOp) and isinstance(parts[0].op, ast.Div):
        parts = [parts[0].left, parts[0].right]
    values = [_value(part, sizes, meanings) for part in parts]
    if None in values or len(values) != 2:
        return None
    above, below = values
    if name == "ceil":
        return -(-above // below)
    return above // below if name == "floor" else _FOLDS[name](above, below) if name in _FOLDS else None


def _parsed(text: str) -> ast.AST | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:  # words
        return None


class _Operator:
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.groups = [list(_groups(_identifier(name), of)) for name, _, of in kernel._parameters]
        self.results = list(_groups("result", kernel._result[1]))
        self.shapes: Any = None
        self.compiled: dict[str, Kernel] = {}  # by targets

    def schema(self) -> str:
        arguments = []
        for group in (group for groups in self.groups for group in groups):
            for name, dtype in zip(group.names, group.dtypes):
                number = "bool" if dtype == torch.bool else "float" if dtype.is_floating_point else "SymInt"
                arguments.append(f"{'Tensor' if group.rank is not None else number} {name}")
        count = sum(len(group.names) for group in self.results)
        return f"({', '.join(arguments)}) -> {'Tensor' if count == 1 else '(' + ', '.join(['Tensor'] * count) + ')'}"

    def check(self, arguments: tuple[Any, ...]) -> torch.device:
        """Are the tensors what the types say? Where they are."""
        device, at = None, iter(arguments)
        for (name, text, _), groups in zip(self.kernel._parameters, self.groups):
            for group in groups:
                for dtype, value in zip(group.dtypes, at):
                    if group.rank is None:
                        continue
                    where = f"{self.kernel.__name__}: `{name} : {text}` wants"
                    if value.dtype != dtype:
                        raise ArgumentError(f"{where} elements of {dtype}, and this tensor's are {value.dtype}; "
                                            f"`.to({dtype})` converts")
                    if value.dim() != group.rank:
                        raise ArgumentError(f"{where} {group.rank} dimension{'s' * (group.rank != 1)}, and this "
                                            f"tensor has {value.dim()}")
                    if device is not None and value.device != device:
                        raise ArgumentError(f"{where} a tensor on {device}, as the others are, and this is on "
                                            f"{value.device}")
                    device = value.device
        return device or torch.device("cpu")

    def run(self, *arguments: Any) -> Any:
        device = self.check(arguments)
        if device.type not in ("cpu", "cuda"):
            raise ArgumentError(f"{self.kernel.__name__}: a tensor is on {device}; kernels run on the CPU and on CUDA")
        target = "c" if device.type == "cpu" else f"cuda:{device.index or 0}"
        values = map(_given, arguments)
        parts = [_nested(of, values) for _, _, of in self.kernel._parameters]
        kernel = self.compiled.get(target) or self.compiled.setdefault(target, self.kernel._variant({"target": target}))
        found = kernel(*parts, keep=device.type == "cuda")
        dtypes = [dtype for group in self.results for dtype in group.dtypes]
        tensors = tuple(_tensor(part, dtype, device) for part, dtype in zip(_flat(found), dtypes))
        return tensors[0] if len(tensors) == 1 else tensors

    def trace(self, *arguments: Any) -> Any:
        """The same without running it: tensors of these shapes."""
        device = self.check(arguments)
        if self.shapes is None:
            self.shapes = self.read_report()
        names, extents, meanings = self.shapes
        sizes = dict(zip(names, self.sizes(arguments)))
        results, shapes = [], iter(extents)
        for group in self.results:
            for i, dtype in enumerate(group.dtypes):
                formulas = next(shapes)
                if i == 0:  # those of a group have one shape
                    shape = [self.extent(formula, sizes, meanings) for formula in formulas]
                results.append(torch.empty(shape, dtype=dtype, device=device))
        return results[0] if len(results) == 1 else tuple(results)

    def sizes(self, arguments: tuple[Any, ...]) -> Iterator[Any]:
        """Numbers and extents in the order of a report's `parameters`."""
        at = iter(arguments)
        for group in (group for groups in self.groups for group in groups):
            first = [next(at) for _ in group.names][0]
            yield from [first] if group.rank is None else first.shape

    def read_report(self) -> Any:
        report = self.kernel.report("c").json["kernels"][0]
        return ([parameter["name"] for parameter in report["parameters"]],
                [[_parsed(extent["text"]) for extent in result["extents"]] for result in report["results"]],
                {name["name"]: _parsed(name["meaning"]) for name in report["names"]})

    def extent(self, formula: ast.AST | None, sizes: dict[str, Any], meanings: dict[str, ast.AST | None]) -> Any:
        known = formula and _value(formula, sizes, meanings)
        if known is None:
            return torch.library.get_ctx().new_dynamic_size()
        is_size = isinstance(formula, ast.Name) and formula.id in sizes  # which is none below 0
        return known if is_size else torch.sym_max(known, 0)


def _given(value: Any) -> Any:
    """An argument as fcl.Kernel takes it: of bf16 the bits."""
    if not isinstance(value, torch.Tensor):
        return value
    value = value.detach().contiguous()
    if value.dtype == torch.bfloat16:
        value = value.view(torch.uint16)
    return value.numpy() if value.device.type == "cpu" else value


def _tensor(part: Any, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    if device.type == "cuda" and hasattr(part, "__dlpack__"):
        return torch.from_dlpack(part)
    if isinstance(part, numpy.ndarray):
        return torch.from_numpy(part).view(dtype)
    return torch.tensor(part.item(), dtype=dtype, device=device)


def _identifier(name: str) -> str:
    return "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name)


def op(kernel: Kernel, name: str | None = None) -> Any:
    """The operator `fcl::NAME`, called like a function, a torch.library.CustomOpDef: its `register_autograd` gives it
    a derivative. Without a name it has the kernel's, and a number behind it where there is one of that name.

    A number of the kernel's type is a number, an array a tensor; a tuple, a record, and an array of these are an
    argument for each part, in order, `p_0`, `p_1` …. The result is a tensor, or a tuple of one for each part; numbers
    are tensors without dimensions. Tensors that have gaps are copied first. bf16 is torch.bfloat16. Types that
    PyTorch does not have, wrong tensors, and what else the kernel refuses are `fcl.Error`s.

    Cost: on the CPU tensors are not copied."""
    if not hasattr(torch.library, "custom_op"):
        raise Error(f"fcl.torch: PyTorch 2.4 or later is wanted, and this is {torch.__version__}")
    one = _Operator(kernel)
    chosen = _identifier(name or kernel.__name__)
    if name is None:
        _names[chosen] = _names.get(chosen, 0) + 1
        chosen += f"_{_names[chosen]}" if _names[chosen] > 1 else ""
    made = torch.library.custom_op(f"fcl::{chosen}", one.run, mutates_args=(), schema=one.schema())
    made.register_fake(one.trace)
    return made
