"""The table of the differential tests: its rows, by what they are about, and what runs them."""

from . import layers, matrices, numbers, push, segments, sorts, views, whole  # noqa: F401  their rows go to TABLE
from .matrices import BOUNDED  # noqa: F401
from .rows import EVERY, MILLION, TABLE  # noqa: F401
