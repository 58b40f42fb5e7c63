"""Generated code as text, for suites that hold what is in it."""

import os
import re

from harness import Case


def body(text, kernel):
    """The text of one kernel, from its signature to the end."""
    found = re.search(r"(?:__global__|__kernel|FCL_BLOCK static)[^{;]*\b" + kernel + r"\([^{]*\{(.*?)\n\}", text, re.S)
    assert found, f"no kernel {kernel} in\n{text}"
    return found.group(1)


def count(pattern, text):
    return len(re.findall(pattern, text))


class Emitted:
    def __init__(self, env):
        self.env = env

    def compile_to(self, extension, path, *options):
        """The file of code that a program's file becomes; without checks, if the options ask for none."""
        if not any(option.startswith(("--check", "--no-check")) for option in options):
            options = ("--check=none", *options)
        out = os.path.join(self.env.tmp(), "out." + extension)
        self.env.must(self.env.fclc, *options, path, "-o", out)
        return out

    def of_file(self, extension, *place, options=()):
        """The code of a program of this repository."""
        with open(self.compile_to(extension, self.env.path(*place), *options), encoding="utf-8") as file:
            return file.read()

    def of_text(self, extension, source, options=()):
        """The code of a program that is given as text."""
        path = os.path.join(self.env.tmp(), "golden.fcl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        with open(self.compile_to(extension, path, *options), encoding="utf-8") as file:
            return file.read()

    def golden(self, name, source, kernel, patterns={}, options=(), extension="cu", **wanted):
        """How often each pattern is in a kernel, and how many there are of what has a name here."""
        def check():
            text = body(self.of_text(extension, source, options), kernel)
            got = {"loops": count(r"\bfor \(", text), "barriers": count(r"__syncthreads\(\)", text),
                   "shared": count(r"__shared__", text), "private": count(r"\blocal_array\w*\[\w+\];", text),
                   "divisions": count(r"[^/]/[^/*]|%", text),
                   "branches": count(r"\bif \(", text), "choices": count(r" \? ", text),
                   "unrolled": count(r"#pragma unroll\n", text), "loads": count(r"= [^;=]*\bxs\[", text),
                   "shuffles": count(r"__shfl\w*_sync\(", text),
                   # before any bucket is updated
                   "early loads": count(r"= [^;=]*\bxs\[", text.partition("atomicAdd")[0]),
                   "stores": len(re.findall(r"^\s*(?:\(\(volatile \w+ \*\))?\w+\)?\[.*?\] = ", text, re.M))}
            for key, value in wanted.items():
                assert got[key] == value, f"{key}: {got[key]}, expected {value}, in\n{text}"
            for pattern, value in patterns.items():
                assert count(pattern, text) == value, f"{pattern}: {count(pattern, text)}, expected {value}, in\n{text}"
        return Case(name, check)
