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

from typing import Any

import numpy
import torch

from . import ArgumentError, Error, Kernel
from ._operators import Shapes, flat, identifier, nested, parameters, results

__all__ = ["op"]

_names: dict[str, int] = {}  # of operators, and how often each was taken


def _dtype(base: str) -> torch.dtype:
    found = getattr(torch, base, None)
    if not isinstance(found, torch.dtype):
        raise Error(f"fcl.torch: this version of PyTorch has no type {base}")
    return found


class _Operator:
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.groups, self.results = parameters(kernel), results(kernel)
        self.dtypes = {base: _dtype(base) for group in (*sum(self.groups, []), *self.results) for base in group.bases}
        self.shapes: Shapes | None = None
        self.compiled: dict[str, Kernel] = {}  # by targets

    def schema(self) -> str:
        arguments = []
        for group in (group for groups in self.groups for group in groups):
            for name, dtype in zip(group.names, (self.dtypes[base] for base in group.bases)):
                number = "bool" if dtype == torch.bool else "float" if dtype.is_floating_point else "SymInt"
                arguments.append(f"{'Tensor' if group.rank is not None else number} {name}")
        count = sum(len(group.names) for group in self.results)
        return f"({', '.join(arguments)}) -> {'Tensor' if count == 1 else '(' + ', '.join(['Tensor'] * count) + ')'}"

    def check(self, arguments: tuple[Any, ...]) -> torch.device:
        """Are the tensors what the types say? Where they are."""
        device, at = None, iter(arguments)
        for (name, text, _), groups in zip(self.kernel._parameters, self.groups):
            for group in groups:
                for dtype, value in zip((self.dtypes[base] for base in group.bases), at):
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
        parts = [nested(of, values) for _, _, of in self.kernel._parameters]
        kernel = self.compiled.get(target) or self.compiled.setdefault(target, self.kernel._variant({"target": target}))
        found = kernel(*parts, keep=device.type == "cuda")
        dtypes = [self.dtypes[base] for group in self.results for base in group.bases]
        tensors = tuple(_tensor(part, dtype, device) for part, dtype in zip(flat(found), dtypes))
        return tensors[0] if len(tensors) == 1 else tensors

    def trace(self, *arguments: Any) -> Any:
        """The same without running it: tensors of these shapes."""
        device = self.check(arguments)
        if self.shapes is None:
            self.shapes = Shapes(self.kernel, torch.sym_min, torch.sym_max)
        sizes = self.shapes.sizes(arguments)
        made = [torch.empty(shape, dtype=self.dtypes[base], device=device)
                for base, shape in self.shapes.parts(self.results, lambda formula: self.extent(formula, sizes))]
        return made[0] if len(made) == 1 else tuple(made)

    def extent(self, formula: Any, sizes: dict[str, Any]) -> Any:
        known = self.shapes and self.shapes.extent(formula, sizes)
        return torch.library.get_ctx().new_dynamic_size() if known is None else known


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
    chosen = identifier(name or kernel.__name__)
    if name is None:
        _names[chosen] = _names.get(chosen, 0) + 1
        chosen += f"_{_names[chosen]}" if _names[chosen] > 1 else ""
    made = torch.library.custom_op(f"fcl::{chosen}", one.run, mutates_args=(), schema=one.schema())
    made.register_fake(one.trace)
    return made
