"""The command `fclc` that the package brings along."""

import os
import sys


def main() -> None:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "fclc")
    os.execv(path, ["fclc", *sys.argv[1:]])
