"""What calls want of NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import numpy.typing

_KINDS = {"f": "fiu", "i": "iu", "u": "iu"}  # what is converted to a kind of numbers


def converted(array: numpy.typing.ArrayLike, wanted: type[Any]) -> numpy.typing.NDArray[Any] | None:
    """The array with elements of that type, floats rounded to it; None where no such array becomes one. Raises
    OverflowError where an element is out of the type's range."""
    found, to = numpy.asarray(array), numpy.dtype(wanted)
    if found.dtype.kind not in _KINDS.get(to.kind, ""):
        return None
    if to.kind != "f" and found.size:
        range_ = numpy.iinfo(to)
        if int(found.min()) < range_.min or int(found.max()) > range_.max:
            raise OverflowError(f"the elements are from {found.min()} to {found.max()}")
    with numpy.errstate(over="ignore", under="ignore"):
        result = found.astype(to, order="C")
    if to.kind == "f" and not numpy.array_equal(numpy.isinf(result), numpy.isinf(found)):
        raise OverflowError("a finite number would become infinite")
    return result
