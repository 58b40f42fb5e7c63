"""docs/errors.md: a section for every code of diag.def, and every program in it does what the page says."""

import json
import os
import re
import shlex
from harness import Case

ORDER = 37
SANITIZED = True

# Codes that no program gets: the page says why.
NOT_MADE = {"E0000", "E0120", "E0510", "E0530"}


def sections(text):
    """{code: (title, body)} of the page."""
    parts = re.split(r"^## ([EW]\d+) (.*)$", text, flags=re.M)
    return {code: (title, body) for code, title, body in zip(parts[1::3], parts[2::3], parts[3::3])}


def programs(body):
    """[(kind, program)] of a section; those that are no text are expressions that make it."""
    found = re.findall(r"^```(fcl|python) (\w+)\n(.*?)^```", body, re.M | re.S)
    return [(kind, text.encode() if language == "fcl" else eval(text, {"__builtins__": {}}))
            for language, kind, text in found]


def run(env, program):
    """The codes that a program gets, whether a warning is among them, and what ran, by the command in its first line
    or by `fclc check`."""
    folder = env.tmp()
    with open(os.path.join(folder, "program.fcl"), "wb") as file:
        file.write(program)
    first = program.split(b"\n")[0].decode(errors="replace")
    command = ["check", "program.fcl"]
    if first.startswith("-- fclc "):
        command = [word.replace("FILE", "program.fcl") for word in shlex.split(first[len("-- fclc "):])]
    done = env.run(env.fclc, *command, "--diagnostics=json", cwd=folder)  # all of them, where text ends after a hundred
    found = json.loads(done.stderr or "[]")
    return [one["code"] for one in found], any(one["severity"] == "warning" for one in found), done


def cases(env):
    page = sections(open(env.path("docs", "errors.md"), encoding="utf-8").read())
    rows = re.findall(r'^(?:DIAG|WARNING|ALWAYS)\(\w+, "([EW]\d+)", (?:"\w+", )?(".*")\)$',
                      open(env.path("compiler/support/diag.def"), encoding="utf-8").read(), re.M)

    def complete():
        known = {code: json.loads(title) for code, title in rows}
        assert known, "no codes in diag.def"
        missing, extra = sorted(known.keys() - page.keys()), sorted(page.keys() - known.keys())
        assert not missing and not extra, f"without a section: {missing}; sections of no code: {extra}"
        wrong = [code for code in known if page[code][0] != known[code]]
        assert not wrong, f"other titles than in diag.def: {wrong}"
        with open(env.path("docs", "language.md"), encoding="utf-8") as file:
            table = file.read().partition("\n## Errors")[2]
        unsaid = [code for code in known if f"`{code}`" not in table]
        assert not unsaid, f"not in docs/language.md, Errors: {unsaid}"
    yield Case("docs/errors.md and the table of docs/language.md have every code", complete)

    def explained():
        for code, (title, body) in page.items():
            section = re.split(r"^# ", body, flags=re.M)[0]  # the next chapter's heading
            wanted = f"## {code} {title}{section}".rstrip() + "\n"
            got = env.must(env.fclc, "explain", code.lower())
            assert got == wanted, f"got\n{got}wanted\n{wanted}"
        listed = env.must(env.fclc, "explain").splitlines()
        assert listed == [f"{code} {title}" for code, (title, _) in page.items()], listed
        done = env.run(env.fclc, "explain", "E0212", "E02210", "--bogus")
        assert done.returncode == 2 and not done.stdout and "--bogus" in done.stderr, done.stderr
        done = env.run(env.fclc, "explain", "E02210")
        assert done.returncode == 2 and "did you mean `E0210`?" in done.stderr, done.stderr
    yield Case("fclc explain prints the section of each code", explained)

    for code, (_, body) in page.items():
        def section(code=code, body=body):
            found = programs(body)
            if code in NOT_MADE:
                assert not found and "no program" in " ".join(body.split()), "it has programs, or no sentence why not"
                return
            assert [kind for kind, _ in found] == ["wrong", "right"], [kind for kind, _ in found]
            for kind, program in found:
                codes, warns, done = run(env, program)
                if kind == "wrong":
                    allowed = {code, "E0101"} if code == "E0118" else {code}  # the errors before the last one
                    assert set(codes) <= allowed and code in codes, f"got {codes}\n{done.stdout}{done.stderr}"
                    assert len(codes) == 1 or code == "E0118", f"more than one error\n{done.stderr}"
                    status = 2 if code == "E0525" else 0 if warns else 1
                    assert done.returncode == status, f"exit status {done.returncode}"
                else:
                    assert (
                        not codes and done.returncode == 0
                    ), f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
        yield Case(f"docs/errors.md: {code}", section)
