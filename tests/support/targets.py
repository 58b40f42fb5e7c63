"""The targets of backend/target_list.h."""

import os
import re

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "compiler", "backend")


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def targets():
    """{name: extension without the dot}, in their order."""
    return {name: re.search(r'\.extension = "\.(\w+)"', read(name + ".c"))[1]
            for name in re.findall(r"^TARGET\((\w+)\)$", read("target_list.h"), re.MULTILINE)}
