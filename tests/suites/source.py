"""The sources themselves: their format, the order of the stages, the manual page."""

import json
import os
import passes as passes_def
import re
import shutil
import test_index
from harness import Case, Skip
from targets import targets

ORDER = 10

# The most lines that a folder may have; SLACK fewer are too few for its figure. A change that needs more says so here.
LINES = {
    "compiler/backend": 4600,
    "compiler/driver": 6230,
    "compiler/elaborate": 11940,
    "compiler/host": 2150,
    "compiler/interp": 3200,
    "compiler/ir": 18453,
    "compiler/map": 8992,
    "compiler/report": 4730,
    "compiler/support": 2270,
    "compiler/syntax": 5150,
    "compiler/tools": 7640,
    "compiler/types": 10705,
    "compiler/values": 3960,
    "runtime": 6050,
}
SLACK = 100


FOLDERS = ("benchmarks", "compiler", "docs", "editors", "examples", "lib", "packaging", "prelude", "python", "runtime",
           "tests", "web")


def written(env, folders, endings):
    """(path, text) of each source file in these folders."""
    for folder in folders:
        for place, _, names in os.walk(env.path(folder)):
            for name in names:
                if name.endswith(endings):
                    path = os.path.join(place, name)
                    with open(path, encoding="utf-8", errors="replace") as file:
                        yield os.path.relpath(path, env.root), file.read()


def cases(env):
    def format_check():
        if not shutil.which("clang-format"):
            raise Skip("no clang-format")
        env.must("make", "--no-print-directory", "format-check")

    def columns():
        folders = ("benchmarks", "compiler", "docs", "examples", "lib", "prelude", "python", "runtime", "tests", "web")
        endings = (".c", ".h", ".cc", ".y", ".re", ".py", ".js", ".html", ".css", ".sh", ".fcl", "Makefile")
        one_line = re.compile(r"-- (test|run|fails|>|Pass:)")  # tests, and examples of documentation
        wide = [f"{path}:{number}" for path, text in written(env, folders, endings)
                for number, line in enumerate(text.split("\n"), 1)
                if len(line) > 120 and not (path.endswith(".fcl") and one_line.match(line))
                and not path.startswith("tests/errors/")]  # where a message shows the line
        assert not wide, "more than 120 columns: " + ", ".join(wide)

    def budget():
        endings = (".c", ".h", ".def", ".y", ".re", ".cu", ".cl", ".hip", ".in", ".css")
        wrong = []
        for folder, most in LINES.items():
            lines = sum(text.count("\n") for _, text in written(env, [folder], endings))
            if not most - SLACK < lines <= most:
                wrong.append(f"{folder} has {lines:,} lines, its budget is {most:,}")
        folders = {f"compiler/{name}" for name in os.listdir(env.path("compiler"))} | {"runtime"}
        wrong += [f"{folder} has no budget" for folder in sorted(folders ^ set(LINES))]
        assert not wrong, "; ".join(wrong) + " (LINES of tests/suites/source.py)"

    def layers():
        env.must(env.path("tests/support/check-layers"))

    def manual():
        tool = env.tool("mandoc")
        env.must(tool, "-Tlint", env.file("man", "fclc.1"))

    def library_manuals():
        env.must(env.path("docs", "man3.py"), "--check")
        tool = env.tool("mandoc")
        for name in ("fcl.3", "fcl.5"):
            env.must(tool, "-Tlint", "-Wwarning", env.file("man", name))

    def manual_is_complete():
        tool = env.tool("mandoc")
        text = env.must(tool, "-Tascii", "-Owidth=1000", env.file("man", "fclc.1"))
        text = re.sub(".\b", "", text)  # bold and underlined letters are struck twice
        options = re.findall(r"^ +(?:-\w, +)?(--[a-z-]+)", env.must(env.fclc, "help", "options"), re.MULTILINE)
        variables = set()
        for _, source in written(env, ("compiler", "runtime"), ".c"):
            variables |= set(re.findall(r'(?:getenv\(|fclrt_load\(|variable = )"([A-Z_]+)"', source))
        told = env.must(env.fclc, "--help")
        commands = [f"fclc {name}" for name in re.findall(r"^  fclc ([a-z]+) ", told, re.MULTILINE)]
        prompt = re.findall(r"^  (:[a-z]+) ", env.must(env.fclc, "repl", input=":help\n"), re.MULTILINE)
        assert "--unroll" in options and "FCL_CC" in variables, (options, variables)
        assert "fclc repl" in commands and ":type" in prompt, (commands, prompt)
        usual = {"HOME", "PATH", "TMPDIR"}
        wanted = commands + options + prompt + sorted(variables - usual)
        missing = [word for word in wanted if not re.search(rf"{word}\b", text)]
        assert not missing, "not in man/fclc.1: " + ", ".join(missing)

    def help_fits():
        """A screen has 40 lines of 100 columns; what does not fit there is a word away."""
        told, options = env.must(env.fclc, "--help"), env.must(env.fclc, "help", "options")
        lines = told.splitlines()
        assert len(lines) <= 40 and max(map(len, lines + options.splitlines())) <= 100, told + options
        for _, text in written(env, ("compiler/driver",), "options.def"):
            missing = [name for name in re.findall(r'^OPTION\(\w+, "([a-z-]+)"', text, re.MULTILINE)
                       if f"--{name}" not in options]
            assert not missing, f"`fclc help options` has not {missing}"
        for _, text in written(env, ("compiler/driver",), "commands.def"):
            missing = [name for name in re.findall(r'^COMMAND\(\w+, \w+, "([a-z]+)"', text, re.MULTILINE)
                       if f"  fclc {name} " not in told]
            assert not missing, f"`fclc --help` has not {missing}"
        assert "fclc help options" in told and "--limit" in env.must(env.fclc, "help", "run")

    def targets_are_named():
        """In the help, the manual page, the names of outputs and the schema of reports, which are text."""
        told = " ".join(env.must(env.fclc, "--help").split())
        taken = re.search(r"--target=TARGET (.*?)--", told)[1]
        outputs = re.search(r"OUT\.\{([^}]*)\}", told)[1].split(",")
        with open(env.file("man", "fclc.1"), encoding="utf-8") as file:
            page = file.read()
        manual = re.search(r"^\.It Fl -target Ns = Ns Cm (.*)", page,
                           re.MULTILINE)[1].split(" | ")
        with open(env.file("docs", "report.schema.json"), encoding="utf-8") as file:
            reported = json.load(file)["properties"]["target"]["enum"]
        missing = []
        for name, extension in targets().items():
            missing += [f"{name} in {where}" for where, names in (
                ("the help", re.findall(r"\w+", taken)), ("man/fclc.1", manual), ("docs/report.schema.json", reported)
            ) if name not in names]
            if extension not in outputs:
                missing.append(f"{extension} in the help")
        assert not missing, "not named: " + ", ".join(missing)

    def one_version():
        version = env.must(env.fclc, "--version").split()[1]
        for path, pattern in (("pyproject.toml", r'^version = "(.*)"'),
                              ("editors/emacs/fcl-mode.el", ";; Version: (.*)"),
                              ("editors/vscode/package.json", '"version": "(.*)"'),
                              ("editors/tree-sitter-fcl/package.json", '"version": "(.*)"'),
                              ("compiler/driver/fclc.h", '^// "(.*)"'), ("CHANGELOG.md", r"^## (\d.*)")):
            with open(env.path(path), encoding="utf-8") as file:
                found = re.search(pattern, file.read(), re.MULTILINE)[1]
            assert found == version, f"{path}: {found}, and fclc is {version}"

    def tracked_files():
        tool = env.tool("git")
        if env.run(tool, "rev-parse", "--git-dir").returncode:
            raise Skip("not a git checkout")
        tracked = env.must(tool, "ls-files").split("\n")
        generated = [name for name in tracked if name.startswith("build") or name.endswith((".o", ".so", ".a"))]
        assert not generated, "generated files are tracked: " + ", ".join(generated)

    def named_tests():
        tool = env.tool("git")
        if env.run(tool, "rev-parse", "--git-dir").returncode:
            raise Skip("not a git checkout")
        named = env.must(tool, "grep", "-ohIE", r"tests/run/[a-z_0-9/]+\.fcl", "--", ":!benchmarks/results",
                         ":!tests/suites/source.py")
        absent = sorted({path for path in named.split() if not os.path.exists(env.path(path))})
        assert "tests/run/" in named and not absent, "named, and not there: " + ", ".join(absent)

    def index():
        with open(env.path("tests", "README.md"), encoding="utf-8") as file:
            wrong = test_index.wrong_in(file.read())
        assert not wrong, f"tests/README.md: {wrong}: run tests/support/test_index.py --write"
        untested = [name for name, _, paths in test_index.tests_of_primitives() if not paths]
        assert not untested and len(test_index.primitives()) > 100, f"no program names: {' '.join(untested)}"

    def table():
        """The table of docs/ARCHITECTURE.md has the rows of ir/passes/passes.def. Its figures are of a day."""
        with open(env.path("docs", "ARCHITECTURE.md"), encoding="utf-8") as file:
            there = passes_def.in_page(file.read())
        assert there == passes_def.table(passes_def.figures_there()), "run tests/support/passes.py --write"
        said = env.must(env.fclc, "--stats", env.path("examples", "reduce", "reduce.fcl"))
        assert re.findall(r"^ *[-\d]+  ([\w-]+)", said, re.M) == passes_def.names(), said

    def given(*options):
        """What is printed and written for CUDA and as C."""
        for extension in ("cu", "c"):
            folder = env.tmp()
            done = env.run(env.fclc, *options, "-o", f"out.{extension}", cwd=folder)
            assert done.returncode == 0, done.stderr
            with open(os.path.join(folder, f"out.{extension}"), encoding="utf-8") as file:
                yield done.stderr, file.read()

    def passes():
        tests, known = test_index.tests_of_passes(), passes_def.names()
        wrong = [name for name in known if not tests[name]] + sorted(set(tests) - set(known))
        assert len(known) > 10 and not wrong, f"passes without a test that names them, or none: {' '.join(wrong)}"
        steps = [row.name for row in passes_def.rows() if row.is_step]
        # The options without which a pass has nothing to do.
        needed = dict.fromkeys(("ask-before", "merge-checks"), ["--check"])
        for at, name in enumerate(known):
            for path, options in ((path, needed.get(name, [])) for path in tests[name]):
                # The IR before and after a pass. A step, or what later passes alone see, is in the text.
                dumps = [[env.must(env.fclc, f"--dump={known[at + step]}" if at + step >= 0 else "--dump=ir",
                                   f"--target={target}", *options, env.path(path)) for target in ("cuda", "c")]
                         for step in (-1, 0) if name not in steps]
                assert dumps[:1] != dumps[1:] or list(given(*options, env.path(path))) != list(
                    given(f"--skip={name}", *options, env.path(path))
                ), f"{path} names {name}, which changes nothing there"
                counts = [env.must(env.fclc, "--stats", f"--target={target}", *options, env.path(path))
                          for target in ("cuda", "c")]
                assert any(re.search(rf"^ *[1-9]\d*  {name} ", said, re.M) for said in counts), \
                    f"{path} names {name}, which counts no change there"

    def notes():
        """`note [x]` on a line of its own, or before a colon, begins a note; elsewhere it cites one."""
        gone, stages = [], "|".join(os.listdir(env.path("compiler")))
        files = re.compile(rf"\b((?:{stages})/[a-z_0-9]+\.(?:c|h|def|re|y))\b")
        citation = re.compile(r"notes? \[([^\]]+)\](?: and \[([^\]]+)\])?")
        with open(env.path("docs", "ARCHITECTURE.md"), encoding="utf-8") as file:
            defined, cited = [], {note for pair in citation.findall(file.read()) for note in pair}
        endings = (".c", ".h", ".cu", ".cl", ".def", ".re", ".y")
        for path, text in written(env, ("compiler", "runtime", "python"), endings):
            text = re.sub(r"\n[ \t]+", "\n ", text)
            begun = re.compile(r"^ ?(?:/\*|//)? ?note \[([^\]]+)\](?::|$)", re.M)
            defined += begun.findall(text)
            cited |= {note for pair in citation.findall(begun.sub("", text)) for note in pair}
            gone += [f"{os.path.basename(path)}: {file}" for file in files.findall(text)
                     if not os.path.exists(env.path("compiler", file))]
        assert len(defined) > 50
        cited = {" ".join(note.split()) for note in cited if note}
        twice = sorted({note for note in defined if defined.count(note) > 1})
        assert not twice, f"notes that are there twice: {', '.join(twice)}"
        assert not set(defined) - cited, f"notes that nothing cites: {', '.join(sorted(set(defined) - cited))}"
        assert not cited - set(
            defined
        ), f"notes that are cited, and not there: {', '.join(sorted(cited - set(defined)))}"
        assert not gone, "files that are named, and not there: " + ", ".join(gone)
    yield Case("each note is there once and cited", notes)

    def subjects():
        """Comments in blocks, and lines of comments that follow one another, are read as one text each."""
        begins = re.compile(r"(?:^|[.:?!;] )((?:Of|What|Who|As|Whether|By) [^.?]*)(?:\.|$)")
        marks = {"//": (".c", ".cc", ".cl", ".cu", ".def", ".h", ".hip", ".l", ".y"), "--": (".fcl",),
                 "#": (".py", ".sh", "Makefile", "run", "check")}
        dangling, comments = [], 0
        for mark, endings in marks.items():
            lines = re.compile(rf"(?m)(?:^[ \t]*{mark} (?!test |cost |also: |> |error).*\n)+")
            for path, text in written(env, FOLDERS, endings):
                found = [re.sub(rf"(?m)^[ \t]*{mark}", "", block) for block in lines.findall(text)]
                found += re.findall(r"/\*(.*?)\*/", text, re.S) if mark == "//" else []
                comments += len(found)
                dangling += [f"{path}: {said}" for one in found for said in begins.findall(" ".join(one.split()))]
        assert comments > 5000, comments
        assert not dangling, "sentences that begin without their subject: " + "; ".join(dangling)
    yield Case("sentences of comments begin with their subject", subjects)

    def quirks():
        """A row of quirks.def is named by what mends it, and its tests are there."""
        table = "compiler/map/quirks/quirks.def"
        with open(env.path(table), encoding="utf-8") as file:
            rows = file.read()
        ids = set(re.findall(r"^QUIRK\((\w+),", rows, re.M))
        named = {name for _, source in written(env, ("compiler", "runtime"), (".c", ".h"))
                 for name in re.findall(r"\bQUIRK_([A-Z_]+)\b", source)} - {"COUNT"}
        assert len(ids) > 20 and not ids ^ named, f"rows that nothing names, or none: {ids ^ named}"
        gone = [path for path in re.findall(r"\b((?:tests|examples|benchmarks)/[\w/.]+)", rows)
                if not os.path.exists(env.path(path))]
        assert not gone, f"{table} names what is not there: {', '.join(gone)}"
    yield Case("each quirk of other compilers is mended, and its tests are there", quirks)

    yield Case("format-check", format_check)
    yield Case("programs have at most 120 columns", columns)
    yield Case("no folder has more lines than its budget", budget)
    yield Case("no stage includes a later one", layers)
    yield Case("mandoc -Tlint man/fclc.1", manual)
    yield Case("man/fcl.3 is what docs/man3.py writes; mandoc -Tlint", library_manuals)
    yield Case("man/fclc.1 has every command, option and variable", manual_is_complete)
    yield Case("the help fits a screen, and leads to every option", help_fits)
    yield Case("every target is in the help, the manual page and the schema of reports", targets_are_named)
    yield Case("every file names the version of fclc", one_version)
    yield Case("no generated file is tracked", tracked_files)
    yield Case("tests/README.md has each primitive's tests", index)
    yield Case("docs/ARCHITECTURE.md has the list of passes", table)
    yield Case("each pass has a test that names it, and changes it", passes)
    yield Case("programs of tests/run that are named somewhere are there", named_tests)
