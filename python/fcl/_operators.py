"""A kernel as other libraries' operators have it: a tensor for each part of its types, and shapes without a run."""

from __future__ import annotations

import ast
import operator
from typing import Any, Callable, Iterator

from . import Kernel


class Group:
    """A number, or arrays of one shape: what a type has side by side. Each of its leaves is an argument."""

    def __init__(self, names: list[str], bases: list[str], rank: int | None) -> None:
        self.names, self.bases, self.rank = names, bases, rank  # None: a number


def identifier(name: str) -> str:
    """The name with letters, digits and _ alone."""
    return "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name)


def _leaves(name: str, of: Any) -> Iterator[tuple[str, str]]:
    """The names and base types of the arrays in an array of tuples."""
    if of[0] == "array":
        yield name, of[1]
    else:
        for i, item in enumerate(of[2]):
            yield from _leaves(f"{name}_{i}", item)


def groups(name: str, of: Any) -> Iterator[Group]:
    """From a type, as fcl.Kernel has it."""
    if isinstance(of, str):
        yield Group([name], [of], None)
    elif of[0] == "array" or of[1]:
        leaves = list(_leaves(name, of))
        yield Group([leaf for leaf, _ in leaves], [base for _, base in leaves], of[2] if of[0] == "array" else of[1])
    else:
        for i, item in enumerate(of[2]):
            yield from groups(f"{name}_{i}", item)


def parameters(kernel: Kernel) -> list[list[Group]]:
    """Those of each parameter."""
    return [list(groups(identifier(name), of)) for name, _, of in kernel._parameters]


def results(kernel: Kernel) -> list[Group]:
    return list(groups("result", kernel._result[1]))


def nested(of: Any, values: Iterator[Any]) -> Any:
    """The values as a kernel takes them: in tuples, as the type has these."""
    if isinstance(of, str) or of[0] == "array":
        return next(values)
    return tuple(nested(item, values) for item in of[2])


def flat(result: Any) -> Iterator[Any]:
    """The parts of what a kernel gives."""
    if isinstance(result, (dict, tuple)):
        for item in result.values() if isinstance(result, dict) else result:
            yield from flat(item)
    else:
        yield result


_OPERATIONS: dict[type, Any] = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


def _parsed(text: str) -> ast.AST | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:  # words
        return None


class Shapes:
    """The extents of a kernel's results, by its report. `least` and `most` are min and max of two sizes."""

    def __init__(self, kernel: Kernel, least: Any = min, most: Any = max) -> None:
        report = kernel.report("c").json["kernels"][0]
        self.folds = {"min": least, "max": most}
        self.parameters = parameters(kernel)
        self.names = [parameter["name"] for parameter in report["parameters"]]
        self.meanings = {name["name"]: _parsed(name["meaning"]) for name in report["names"]}
        self.extents = [[_parsed(extent["text"]) for extent in result["extents"]] for result in report["results"]]

    def sizes(self, arguments: tuple[Any, ...]) -> dict[str, Any]:
        """Numbers and extents by the names that the report has for them."""
        at = iter(arguments)
        found: list[Any] = []
        for group in (group for groups in self.parameters for group in groups):
            first = [next(at) for _ in group.names][0]
            found += [first] if group.rank is None else first.shape
        return dict(zip(self.names, found))

    def extent(self, formula: ast.AST | None, sizes: dict[str, Any]) -> Any:
        """None: data decide it."""
        known = formula and self._value(formula, sizes)
        if known is None:
            return None
        is_size = isinstance(formula, ast.Name) and formula.id in sizes  # which is none below 0
        return known if is_size else self.folds["max"](known, 0)

    def parts(self, groups: list[Group], extent: Callable[[ast.AST | None], Any]) -> Iterator[tuple[str, list[Any]]]:
        """The base type and the shape of each part of the results; `extent` is asked once for a group."""
        extents = iter(self.extents)
        for group in groups:
            for i, base in enumerate(group.bases):
                formulas = next(extents)
                if i == 0:  # those of a group have one shape
                    shape = [extent(formula) for formula in formulas]
                yield base, shape

    def _value(self, formula: ast.AST, sizes: dict[str, Any]) -> Any:
        if isinstance(formula, ast.Constant):
            return formula.value
        if isinstance(formula, ast.Name):
            meaning = self.meanings.get(formula.id)
            return sizes[formula.id] if formula.id in sizes else meaning and self._value(meaning, sizes)
        if isinstance(formula, ast.BinOp) and type(formula.op) in _OPERATIONS:
            sides = [self._value(side, sizes) for side in (formula.left, formula.right)]
            return None if None in sides else _OPERATIONS[type(formula.op)](*sides)
        if not isinstance(formula, ast.Call) or not isinstance(formula.func, ast.Name):
            return None
        name, parts = formula.func.id, list(formula.args)
        if name in ("ceil", "floor") and isinstance(parts[0], ast.BinOp) and isinstance(parts[0].op, ast.Div):
            parts = [parts[0].left, parts[0].right]
        values = [self._value(part, sizes) for part in parts]
        if None in values or len(values) != 2:
            return None
        above, below = values
        if name == "ceil":
            return -(-above // below)
        return above // below if name == "floor" else self.folds[name](above, below) if name in self.folds else None
