"""The sources themselves: their format, the order of the stages, the manual page."""

import shutil
from harness import Case, Skip

ORDER = 10


def cases(env):
    def format_check():
        if not shutil.which("clang-format"):
            raise Skip("no clang-format")
        env.must("make", "--no-print-directory", "format-check")

    def layers():
        env.must(env.path("tests/support/check-layers"))

    def manual():
        tool = env.tool("mandoc")
        env.must(tool, "-Tlint", env.file("man", "fclc.1"))

    def tracked_files():
        tool = env.tool("git")
        if env.run(tool, "rev-parse", "--git-dir").returncode:
            raise Skip("not a git checkout")
        tracked = env.must(tool, "ls-files").split("\n")
        generated = [name for name in tracked if name.startswith("build") or name.endswith((".o", ".so", ".a"))]
        assert not generated, "generated files are tracked: " + ", ".join(generated)

    yield Case("format-check", format_check)
    yield Case("no stage includes a later one", layers)
    yield Case("mandoc -Tlint man/fclc.1", manual)
    yield Case("no generated file is tracked", tracked_files)
