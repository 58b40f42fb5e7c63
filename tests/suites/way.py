"""docs/ARCHITECTURE.md shows what each stage makes of an example: the excerpts are what the compiler prints today."""

import re
from harness import Case

ORDER = 36


def cases(env):
    def excerpts():
        text = open(env.path("docs", "ARCHITECTURE.md"), encoding="utf-8").read()
        way = text[text.index("## The way of one program"):]
        shown = re.findall(r"^\*\*([a-z-]+)\*\*.*?(?:`(--target=\w+)`.*?)?\n\n```text\n(.*?)\n```", way, re.M | re.S)
        assert len(shown) == 8, f"{len(shown)} excerpts are shown"
        for stage, target, excerpt in shown:
            options = ["--dump=" + stage] + ([target] if target else [])
            dump = env.must(env.fclc, *options, "examples/reverse/reverse.fcl")
            missing = [line for line in excerpt.splitlines() if line not in dump.splitlines()]
            assert not missing and (excerpt in dump or stage == "types"), (
                f"{stage}: not what the compiler prints: {missing}\n{dump}")
    yield Case("docs/ARCHITECTURE.md: the way of one program", excerpts)
