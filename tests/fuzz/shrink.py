#!/usr/bin/env python3
"""Make a failing random program small: it still checks, and the executor still disagrees with the interpreter.

usage: tests/fuzz/shrink.py [--fclc PATH] [--failing | --check] [--only FORM] --executor c-optimised SEED
       tests/fuzz/shrink.py [--fclc PATH] [--failing | --check] --executor c-optimised FILE KERNEL ARGUMENT…

With --check the executor checks, too. With --failing the program may fail in the interpreter, and the executor
disagrees on that, or on the code.
"""

import argparse
import glob
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "support")]

from executors import EXECUTORS, variables  # noqa: E402
from generate import Generator  # noqa: E402
from harness import Env  # noqa: E402


class Shrinker:
    """Keeps the smallest text for which `fails` holds."""

    def __init__(self, env, executor, kernel, arguments, may_fail=False, files=None, checks=False):
        self.env, self.executor, self.kernel, self.arguments = env, executor, kernel, arguments
        self.may_fail, self.files, self.checks = may_fail, files or {}, checks or may_fail
        self.tries = 0

    def fails(self, text):
        """Does it run in the interpreter, and not so on the executor?"""
        self.tries += 1
        path = os.path.join(self.env.tmp(), "small.fcl")
        for name, part in [(path, text), *self.files.items()]:
            with open(os.path.join(os.path.dirname(path), name), "w", encoding="utf-8") as file:
                file.write(part)
        command = [self.env.fclc, "run", "--limit=0", *([] if self.checks else ["--no-check"])]
        wanted = self.env.run(self.env.fclc, "run", "--limit=0", "--target=interp", path, self.kernel, *self.arguments)
        code = re.search(r"error\[(E05\d\d)\]", wanted.stderr)
        if wanted.returncode and not (self.may_fail and wanted.returncode == 1 and code):
            return False
        got = self.env.run(*command, *EXECUTORS[self.executor][0], path, self.kernel, *self.arguments,
                           env=variables(self.env, self.executor), timeout=120)
        if wanted.returncode:
            return f"error[{code[1]}]" not in got.stderr and not re.search(r"error\[E030[23]\]", got.stderr)
        return got.returncode != 0 or got.stdout != wanted.stdout

    def try_all(self, text, candidates):
        """The first candidate that is shorter and fails, or the text."""
        for candidate in candidates:
            if len(candidate) < len(text) and self.fails(candidate):
                return candidate
        return text

    def shrink(self, text):
        before = None
        while before != text:
            before = text
            for step in (without_declarations, without_lines, simpler_groups):
                once = None
                while once != text:
                    once = text
                    text = self.try_all(text, step(text))
        return text


def without_declarations(text):
    """Without one `sig`, `fun` or `kernel` and what belongs to it."""
    parts = re.split(r"(?m)^(?=(?:sig|fun|kernel)\b)", text)
    for i in range(len(parts)):
        if parts[i].strip():
            yield "".join(parts[:i] + parts[i + 1:])


def without_lines(text):
    """Without one binding: `v2 = e`, where v2 becomes the array it was made from."""
    for found in re.finditer(r"(\w+) = ([^\n]*)\n\s*", text):
        name, rest = found.group(1), text[:found.start()] + text[found.end():]
        for other in set(re.findall(r"\b[vabcdw]\d*\b|\bxs\b", found.group(2))):
            yield re.sub(rf"\b{name}\b", other, rest)
    yield re.sub(r"let\s+in ", "", text)


def simpler_groups(text):
    """Something in parentheses becomes a part of it, or a number."""
    stack, groups = [], []
    for i, c in enumerate(text):
        if c in "([":
            stack.append(i)
        elif c in ")]" and stack:
            groups.append((stack.pop(), i + 1))
    groups.sort(key=lambda g: g[0] - g[1])
    for begin, end in groups:
        inside = [(b, e) for b, e in groups if begin < b and e < end]
        for b, e in inside[:8]:
            yield text[:begin] + text[b:e] + text[end:]
        for word in ("x", "0", "1", "c", "xs", "true"):
            yield text[:begin] + word + text[end:]
        yield text[:begin] + text[begin + 1:end - 1] + text[end:]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--fclc", default=os.path.join(ROOT, "build", "fclc"))
    options.add_argument("--executor", required=True, choices=sorted(EXECUTORS))
    options.add_argument("--failing", action="store_true", help="the program may fail in the interpreter, too")
    options.add_argument("--check", action="store_true", help="the executor checks, too")
    options.add_argument("--only", metavar="FORM", help="of a seed all kernels are of that form")
    options.add_argument("what", help="a seed of generate.py, or a file")
    options.add_argument("kernel", nargs="*", help="with a file: its kernel and the arguments")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        env = Env(ROOT, os.path.dirname(os.path.abspath(chosen.fclc)), False, scratch)
        if chosen.kernel:
            text, files = open(chosen.what, encoding="utf-8").read(), {}
            for name in glob.glob(os.path.join(os.path.dirname(os.path.abspath(chosen.what)), "*.fcl")):
                if os.path.basename(name) in text:
                    files[os.path.basename(name)] = open(name, encoding="utf-8").read()
            runs = [(chosen.kernel[0], chosen.kernel[1:])]
        else:
            generator = Generator(int(chosen.what), chosen.failing, only=chosen.only)
            _, text = generator.program()
            files = generator.files
            runs = [(name, value.split()) for name, values in generator.arguments.items() for value in values]
        for kernel, arguments in runs:
            shrinker = Shrinker(env, chosen.executor, kernel, arguments, chosen.failing, files, chosen.check)
            if shrinker.fails(text):
                small = shrinker.shrink(text)
                print(f"-- {chosen.executor} differs from the interpreter ({shrinker.tries} programs tried):")
                shown = ([] if shrinker.checks else ["--no-check"]) + EXECUTORS[chosen.executor][0]
                print(f"-- fclc run {' '.join(shown)} FILE {kernel} {' '.join(arguments)}")
                print(small.strip())
                return 1
    print("no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
