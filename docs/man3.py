#!/usr/bin/env python3
"""Write man/fcl.3 from the headers fcl.h and fclc.h, which document each function.

usage: docs/man3.py [--check]
With --check nothing is written; the exit status is 1 when the page is not what it should be.
"""

import os
import re
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "man", "fcl.3")
HEADERS = [("runtime/fcl.h", "fcl.h", "The runtime"), ("compiler/driver/fclc.h", "fclc.h", "The compiler as a library")]
HEAD = r""".\" Written by docs/man3.py from fcl.h and fclc.h.
.Dd November 24, 2026
.Dt FCL 3
.Os
.Sh NAME
.Nm fcl ,
.Nm fclc
.Nd run FCL kernels, and compile them while a program runs
.Sh LIBRARY
The runtime is linked with
.Fl lfcl ;
the compiler is
.Fl lfclc ,
and wants the first.
.Sh SYNOPSIS
.In fcl.h
.In fclc.h
.Sh DESCRIPTION
"""
TAIL = r""".Sh SEE ALSO
.Xr fclc 1 ,
.Xr fcl 5
"""


def roff(text):
    """A paragraph, each sentence on lines of its own, none of which is taken for a request."""
    text = text.replace("\\", "\\e")
    lines = [line for sentence in re.split(r"(?<=[.!?:]) +", text)
             for line in textwrap.wrap(sentence, 78, break_long_words=False, break_on_hyphens=False)]
    return "\n".join("\\&" + line if line[:1] in ".'" else line for line in lines)


def shorten(line):
    """A declaration in lines that fit a terminal, broken behind commas; a comment anywhere."""
    if len(line) <= 76:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    if "/*" in line:
        return textwrap.wrap(line.strip(), 76, initial_indent=indent, subsequent_indent=indent + "   ")
    lines = [""]
    for piece in re.findall(r"[^,]+,?\s*", line.strip()):
        if lines[-1] and len(indent) + 4 + len(lines[-1]) + len(piece.rstrip()) > 76:
            lines.append("")
        lines[-1] += piece
    return [indent + (" " * 4 if i else "") + text.rstrip() for i, text in enumerate(lines)]


def joined(lines):
    """Declarations of functions that go on on the next line as one line."""
    out = []
    for line in lines:
        if out and "(" in out[-1] and not re.search(r"[;{}]|//", out[-1]):
            out[-1] += " " + line.strip()
        else:
            out.append(line)
    return out


def code(lines):
    out = [".Bd -literal"]
    for line in joined(lines):
        line, _, comment = line.partition("// ")
        line = line.rstrip()
        if comment and len(line) + len(comment) < 66:
            pieces = [f"{line}  /* {comment} */"]
        elif comment:
            pieces = [f"{line[:len(line) - len(line.lstrip())]}/* {comment} */", line]
        else:
            pieces = [line]
        for short in [short for piece in pieces for short in shorten(piece)]:
            short = short.replace("\\", "\\e")
            out.append("\\&" + short if short[:1] in ".'" else short)
    return out + [".Ed"]


def blocks(text):
    """(comment, declarations) pairs of a header; a section's line is (None, [name])."""
    comment, lines = [], []
    depth = 0
    for line in text.split("\n") + [""]:
        section = re.match(r"// -{10,} (.*)", line)
        if section:
            yield None, [section[1]]
        elif line.startswith("//") and not lines:
            comment.append(line[2:].strip())
        elif depth == 0 and (not line or line.startswith("//")):
            if comment or lines:
                yield " ".join(comment), lines
            comment, lines = ([line[2:].strip()] if line else []), []
        else:
            lines.append(line)
            depth += line.count("{") - line.count("}")


def undocumented(comment, lines):
    """What of these declarations no comment says anything of: a comment is of the first, and of those that it names."""
    if not comment:
        return [lines[0].strip()]
    functions = [(name[1], line) for line in joined(lines) if (name := re.match(r"\w[\w *]*?(\w+)\(", line))]
    return [name for name, line in functions[1:] if name not in comment and "//" not in line]


def body(path, name, title):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"\\\n\s*", "", text)
    text = re.sub(r"\n#if[^\n]*GNUC[^\n]*\n.*?#endif", "", text, flags=re.S)
    introduction, text = re.split(r"#ifndef \w+_H\n", text, maxsplit=1)
    text = re.split(r"\n#endif\n*$", re.split(r"extern \"C\" \{\n#endif\n", text, maxsplit=1)[1], maxsplit=1)[0]
    text = text.split("#ifdef __cplusplus")[0]
    out = [f".Ss {title}: {name}"]
    for paragraph in "\n".join(line[2:].strip() for line in introduction.strip().split("\n")).split("\n\n"):
        out += [".Pp", roff(" ".join(paragraph.split("\n")))]
    for comment, lines in blocks(text):
        if comment is None:
            out.append(f".Ss {lines[0][0].upper()}{lines[0][1:]}")
            continue
        declared = "\n".join(lines)
        if declared.strip() and (bare := undocumented(comment, lines)):
            sys.exit(f"{path}: there is no comment that says what this is: {', '.join(bare)}")
        if declared.startswith("static inline"):  # its body is no business of the reader's
            declared = declared[:declared.index(" {")] + ";"
        if comment:
            out += [".Pp", roff(comment)]
        if declared.strip():
            out += code(declared.strip("\n").split("\n"))
    return out


def page():
    lines = [line for header in HEADERS for line in body(*header)]
    text = HEAD + "\n".join(lines) + "\n" + TAIL
    text = text.replace("…", "...").replace("×", "x")
    return re.sub(r"(\.Ss [^\n]*\n)\.Pp\n", r"\1", text)


def main():
    text = page()
    if sys.argv[1:] == ["--check"]:
        with open(PAGE, encoding="utf-8") as file:
            if file.read() != text:
                sys.exit("man/fcl.3 is not what the headers say: run docs/man3.py")
        return
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)


main()
