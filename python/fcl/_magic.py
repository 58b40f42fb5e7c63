"""`%%fcl`: a cell of FCL, whose kernels become functions of the notebook.

    %load_ext fcl
    %%fcl --target=c -D chunk=512
    kernel sums xs = …
"""

import shlex
from typing import Any

from . import Program


def run_cell(line: str, cell: str, namespace: dict[str, Any]) -> None:
    """Compiles the cell, and puts its kernels into the namespace. `line` has options of `fclc run`."""
    options: dict[str, Any] = {}
    words = iter(shlex.split(line))
    for word in words:
        if word in ("-D", "--define"):
            word = "-D" + next(words, "")
        name, _, value = word[2:].partition("=")
        options[name.replace("-", "_")] = value if value or "=" in word else True
    program = Program((("<cell>", cell),), options)
    namespace.update(program.kernels)
    namespace["fcl_program"] = program


def register(shell: Any) -> None:
    """Adds the magic to an IPython shell."""
    shell.register_magic_function(lambda line, cell: run_cell(line, cell, shell.user_ns), "cell", "fcl")
