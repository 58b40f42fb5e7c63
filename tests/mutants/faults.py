"""Small faults in C, made by rule: what a person who is tired gets wrong, each on one line."""

import re

# These say nothing of a program's meaning: dumps, the check of the compiler by itself, the text of errors. A fault in
# the last two shows only where something else is wrong, too.
LEFT_OUT = re.compile(r"/(print|verify|dump|core_dump|explain|hints)\.c$|^compiler/types/print\.c$")
FOLDERS = (
    "compiler/types",
    "compiler/elaborate",
    "compiler/ir",
    "compiler/map",
    "compiler/map/quirks",
    "compiler/backend",
    "runtime",
)
TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}


class Fault:
    """`old` at `start` of a file's text becomes `new`."""

    def __init__(self, rule, path, text, start, end, new):
        self.rule, self.path, self.start, self.end, self.new = rule, path, start, end, new
        self.noticed = []  # parts of names of cases that are known to notice it: they come first
        begin, stop = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        self.line = text.count("\n", 0, start) + 1
        self.old_line = " ".join(text[begin:stop].split())
        self.new_line = " ".join((text[begin:start] + new + text[end:stop]).split())
        self.before = " ".join(text[:begin].rstrip().rpartition("\n")[2].split())

    def applied(self, text):
        return text[: self.start] + self.new + text[self.end :]

    @property
    def key(self):
        """What names it, though lines above it come and go."""
        return self.path, self.old_line, self.new_line

    def __str__(self):
        return (
            f"{self.path}:{self.line}: {self.rule}\n"
            f"  - {self.old_line}\n  + {self.new_line or '(nothing)'}"
        )


def blanked(text):
    """The text with blanks for comments, strings and directives, each place where it was."""

    def blank(found):
        return re.sub(r"[^\n]", " ", found[0])

    return re.sub(
        r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
        r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
        blank,
        text,
        flags=re.S | re.M,
    )


def operand_end(code, at):
    """Where an operand of && or || that begins at `at` ends: at the next, or what closes it."""
    depth = 0
    while at < len(code):
        if code[at] in "([{":
            depth += 1
        elif code[at] in ")]}":
            if depth == 0:
                return at
            depth -= 1
        elif depth == 0 and (code[at] in ";,?:" or code.startswith(("&&", "||"), at)):
            return at
        at += 1
    return at


def places(code):
    """(rule, start, end, new text) of all faults in code without comments."""
    inside = r"(?m)^[ \t]+"  # of functions, as clang-format lays them out
    for found in re.finditer(r"(?<=[\w)\]] )(<|<=|>|>=|==|!=)(?= [\w(*&!~'-])", code):
        yield "a comparison turned", found.start(), found.end(), TURNED[found[1]]
    for found in re.finditer(r"(?<=[\w)\]]) [+-] 1\b(?![.\w])", code):
        yield "off by one", found.start(), found.end(), ""
    for found in re.finditer(r"(?<=[\w)\]]) (\+|-)(?= (?!1\b)[\w(*])", code):
        yield "a sum turned", found.start(), found.end(), " -" if found[1] == "+" else " +"
    for found in re.finditer(r"\s+(?:&&|\|\|) ", code):
        end = operand_end(code, found.end())
        yield "a condition dropped", found.start(), end - (code[end - 1] == " "), ""
    for found in re.finditer(inside + r"(?:else )?if \((?=[^;{}]*\)[ \n])", code):
        end = operand_end(code, found.end())
        if code[end] == ")":  # of one condition; of several, one is dropped
            yield "an if turned", found.end(), end, f"!({code[found.end():end]})"
    for found in re.finditer(inside + r"([a-z]\w*\((?:[^;{}()]|\([^;{}()]*\))*\);)(?=\n)", code):
        if "(void)" not in found[1] and not re.match(r"\w*(vec_push|free|unused)\(", found[1]):
            yield "a call left out", found.start(1), found.end(1), ";"
    for found in re.finditer(inside + r"(?:return )?[^;{}\n]*?\w\(([^;{}]*)\)", code):
        arguments, start = found[1], found.start(1)
        for pair in re.finditer(
            r"(?<![\w.>)\]-])([\w.>\[\]-]+), ([\w.>\[\]-]+)(?=[,)]|$)", arguments
        ):
            one, two = pair[1], pair[2]
            before = arguments[: pair.start()]
            if (
                one != two
                and before.count('"') % 2 == 0
                and re.match(r"\w", one)
                and re.match(r"\w", two)
            ):
                yield "operands swapped", start + pair.start(), start + pair.end(), f"{two}, {one}"
    for found in re.finditer(r"\breturn (true|false);", code):
        yield "the other truth", found.start(1), found.end(1), (
            "false" if found[1] == "true" else "true"
        )
    for found in re.finditer(r"(?<=[ =(])(?:MIN|MAX|min|max)\w*(?=\()", code):
        if not re.match(r"(?i)(min|max)(imum)?_", found[0]):
            turned = found[0].replace("min", "@").replace("max", "min").replace("@", "max")
            if turned != found[0]:
                yield "the other extreme", found.start(), found.end(), turned
    for found in re.finditer(inside + r"(?:\w[\w>.\[\]-]*) ([|&+-])= ", code):
        yield "an update turned", found.start(1), found.start(1) + 1, {
            "|": "&",
            "&": "|",
            "+": "-",
            "-": "+",
        }[found[1]]


def faults(path, text):
    """All faults of a file, in the order of their places."""
    found = [
        Fault(rule, path, text, start, end, new)
        for rule, start, end, new in places(blanked(text))
        if text[start:end] != new
    ]
    return sorted(
        (fault for fault in found if "abort()" not in fault.old_line),
        key=lambda fault: (fault.start, fault.rule),
    )
