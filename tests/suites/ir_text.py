"""The IR as text: what is written is read back, and becomes the same code; what is wrong is told with its place, and
nothing that is read crashes."""

import filecmp
import glob
import os
import random
import re

from harness import Case
from targets import targets

ORDER = 35
SANITIZED = True

TARGETS = targets()
FUZZED = ("examples/linear/linear.fcl", "tests/run/prelude/lookback.fcl", "tests/run/prelude/updates.fcl",
          "tests/run/language/loops_and_folds.fcl")
WORDS = ["%3", "%0", "%x", "@0", "@2", "1", "-1", "0", "2147483647", "4294967295u32", "1.5f32", "true", "i64", "float",
         "bool",
         "load", "store", "forall", "if", "}", "{", "in", "at", "grid/block", "block/thread", "volatile", "nowrap",
         "next"]

# A kernel that is right, and what is wrong when one of its lines is another: line, column and a part of the message.
RIGHT = """fclir 1
kernel k {
  takes [int]
  gives [int]<grid>
  site 0 INDEX
  buffer @0 input int
  buffer @1 output int[%n]
  buffer @2 table int[2] = 4, 5
  extent 0.0 "n" dimension 0 = int %n
  array 0.0 "xs" = @0
  allocate @1
  forall int %i < %n at grid/thread {
    int %x = load @0[%i]
    int %y = add %x, 1
    store @1[%i], %y
  }
  return @1 %n
}
"""
PARAMETERS = """  extent 0.0 "n" dimension 0 = int %n
  array 0.0 "xs" = @0
  allocate @1
  forall int %i < %n at grid/thread {
    int %x = load """
WRONG = [
    ("fclir 1", "fclir 2", "1:7", "reads version 1"),
    ("fclir 1", "kernel", "1:1", "`fclir 1`, which a file begins with"),
    ("kernel k {", "kernel k block 4096 {", "2:16", "from 1 to 1024"),
    ("kernel k {", "kernel 3 {", "2:8", "the kernel's name"),
    ("gives [int]<grid>", "takes [int]", "2:8", "`gives` is missing"),
    ("gives [int]<grid>", "gives (int, [int])", "17:3", "result 1 of `k` is an array, and `gives` says (int, [int])"),
    ("gives [int]<grid>", "gives []", "4:10", "a type of numbers is expected, not `]`"),
    ("site 0 INDEX", "site 1 INDEX", "5:8", "sites are numbered from 0 on"),
    ("site 0 INDEX", "site 0 INDEKS", "5:10", "a kind of check"),
    ("output int[%n]", "output int[%m]", "7:24", "%m has not been defined"),
    ("output int[%n]", "output int[-1]", "7:24", "no length of a buffer"),
    ("output int[%n]", "private int[4]", "11:3", "private memory is allocated by threads"),
    ("= 4, 5", "= 4, 5.0", "8:31", "a table of int has no double in it"),
    ("= 4, 5", "= 4", "8:29", "`,` is expected, and the end of the line comes"),
    ('array 0.0 "xs" = @0', 'array 1.0 "xs" = @0', "10:20", "the extents of an array stand before it"),
    ('array 0.0 "xs" = @0', 'array 0 "xs" = @0', "10:9", "are written as in `0.0`"),
    ('array 0.0 "xs" = @0', 'array 4194304.0 "xs" = @0', "10:9", "are written as in `0.0`"),
    ('array 0.0 "xs" = @0', 'array 0.4194304 "xs" = @0', "10:9", "are written as in `0.0`"),
    ('array 0.0 "xs" = @0', "", "3:9", "`array 0.0` is due behind these, as argument 0 is [int]"),
    (PARAMETERS + "@0", "  buffer @9 input int\n" + PARAMETERS + "@9", "14:5", "this input is no parameter's"),
    ("takes [int]", "takes [u8]", "10:3", "part 0 of argument 0 is int here, and `takes` says u8"),
    ("takes [int]", "takes [[int]]", "10:3", "`extent 0.0` of dimension 1 is due here, as argument 0 is [[int]]"),
    ("takes [int]", "takes int", "9:3", "`scalar 0.0` is due here, as argument 0 is int"),
    ("takes [int]", "takes [int]<grid>", "3:9", "an array that is taken has no level"),
    ("takes [int]", "takes [([int], int)]", "3:9", "scalars, or tuples of these"),
    ("takes [int]", "takes [[[[[[[[[int]]]]]]]]]", "3:9", "at most 8 dimensions"),
    ("takes [int]", "takes [int]\n  takes int", "4:9", "`scalar 1.0` is due behind these, as argument 1 is int"),
    ("  takes [int]\n", "", "8:3", "no `takes` says what this is of"),
    ("gives [int]<grid>", "gives [double]<grid>", "17:3", "an array of int, and `gives` says [double]<grid>"),
    ("gives [int]<grid>", "gives [[int]]", "17:3", "an array of 1 dimension, and `gives` says [[int]]"),
    ("gives [int]<grid>", "gives ([int], int)", "2:8", "result 2 of `k` is missing"),
    ("return @1 %n\n", "return @1 %n\n  return %n\n", "18:3", "`k` has more results than `gives` says"),
    ("gives [int]<grid>", "gives int", "17:3", "result 1 of `k` is an array, and `gives` says int"),
    ("return @1 %n", "return @1 3 extents %n", "17:3", "as many elements as its extent says"),
    ("    store @1[%i], %y\n", "", "16:3", "nothing stores the elements of @1"),
    ("int %x = load @0[%i]", "int %x = load @1[%i]", "13:5", "the parallel loop around this stores to @1, too"),
    ("%i < %n at grid/thread {\n    int %x = load @0[%i]\n    int %y = add %x, 1\n    store @1[%i]",
     "%i < 9 at grid/thread {\n    int %x = load @0[%i]\n    int %y = add %x, 1\n    store @1[5]", "15:5",
     "all iterations of a parallel loop around this store the same elements of @1"),
    ("int %x = load @0[%i]", "int %x = load @2[2]", "13:5", "the index comes to 2, and @2 has 2 elements"),
    ("int %y = add %x, 1", "int %y = sqrt %x", "14:5", "there is no `sqrt` of type int"),
    ("int %y = add %x, 1", "int %y = add %x, 1\n    double %q = bits %x", "15:5", "int and double differ"),
    ("site 0 INDEX", 'site 0 INDEX\n  traced "50%"', "6:10", "behind `%` in a record's form"),
    ("  allocate @1\n", "", "14:5", "not allocated here"),
    ("  allocate @1", "  allocate @1\n  allocate @1", "12:3", "allocated twice"),
    ("int %i < %n", "int %i < %k", "12:19", "%k has not been defined"),
    ("grid/thread", "thread/grid", "12:3", "a parallel loop from thread to grid"),
    ("int %y = add %x, 1", "int %y = add %x, 1i64", "14:5", "is int instead of i64"),
    ("int %y = add %x, 1", "int %y = ad %x, 1", "14:14", "an instruction is expected, not `ad`"),
    ("int %y = add %x, 1", "int %x = add %x, 1", "14:9", "%x is defined twice"),
    ("int %y = add %x, 1", "int %y in 5..2 = add %x, 1", "14:18", "no int lies between"),
    ("int %y = add %x, 1", "int %y = add %x, 99999999999", "14:22", "no number of type int"),
    ("int %y = add %x, 1", "int %y = add %x", "14:5", "wrong number of operands"),
    ("int %y = add %x, 1", 'int %y "y = add %x, 1', "14:12", "this string has no end"),
    ("store @1[%i], %y", "store @0[%i], %y", "15:5", "a store to an input"),
    ("store @1[%i], %y", "int %z = store @1[%i], %y", "15:5", "has no result"),
    ("store @1[%i], %y", "store @1[%i], %y again again", "15:28", "the end of the line"),
    ("  return @1 %n\n}", "", "18:1", "`}` is expected, and the end of the file comes"),
    ("return @1 %n", "return @1 %y", "2:8", "used outside its scope"),
    ("return @1 %n", "return @2 %n", "17:3", "an output that is there at the end"),
    ("return @1 %n", "int %z = load @0[%n] site 4\n  return @1 %n", "17:3", "wants a site"),
]

# A kernel of blocks, and what is wrong when a part of it is another.
BLOCKS = """fclir 1
kernel "sums" block 256 {
  takes [int]
  gives [int]<grid>
  buffer @xs "xs" input int
  buffer @out "out" output int[%blocks]
  buffer @tile shared int[256]
  extent 0.0 "n" dimension 0 = int %n in 0..2147483647
  array 0.0 "xs" = @xs
  int %n1 = add %n, 255
  int %blocks in 0..8388608 = div %n1, 256
  allocate @out
  forall int %b < %blocks at grid/block {
    allocate @tile
    int %base = mul %b, 256
    forall int %t < 256 at block/thread {
      int %i = add %base, %t
      bool %in = lt %i, %n
      int %x = if %in {
        int %y = load @xs[%i]
        yield %y
      } else {
        yield 0
      }
      store @tile[%t], %x
    }
    forall int %u < 1 at block/thread {
      int %s = for int %k < 256 with int %acc = 0 {
        int %v = load @tile[%k]
        int %acc2 = add %acc, %v
        next %acc2
      }
      store @out[%b], %s
    }
  }
  return @out %blocks
}
"""
WRONG_BLOCKS = [
    ("shared int[256]", "shared int[16]", "25:7", "the index comes to 255, and @2 (tile) has 16 elements"),
    ("      store @tile[%t], %x\n", "", "28:9", "nothing stores what this loads of @2 (tile)"),
    ("%u < 1 at", "%u < 256 at", "33:7", "all iterations of a parallel loop around this store the same elements of @1"),
]

# A kernel that goes by its arguments, what one of its parts is instead, with which arguments, and what a run finds:
# line and column, code, a part of the message; on a device with checks, too, or in the interpreter alone.
GATHER = """fclir 1
kernel "k" {
  takes [int]
  takes [int]
  gives [int]<grid>
  buffer @xs "xs" input int
  buffer @is "is" input int
  buffer @out "out" output int[%m]
  extent 0.0 "n" dimension 0 = int %n
  array 0.0 "xs" = @xs
  extent 1.0 "m" dimension 0 = int %m
  array 1.0 "is" = @is
  allocate @out
  forall int %i < %m at grid/thread {
    int %j = load @is[%i]
    int %x = load @xs[%j]
    store @out[%i], %x
  }
  return @out %m
}
"""
RESULT = GATHER[GATHER.index("  buffer @out"):GATHER.index("%i], %x")]
FOUND = [
    ("", "", "[0,3]", "16:5", "E0501", "3"),
    ("", "", "[0,-1]", "16:5", "E0501", "-1"),
    ("int %j = load", "int %j in 0..2 = load", "[0,3]", "1[56]:5", "E0501", "3"),
    ("store @out[%i]", "store @out[%j]", "[0,2]", "17:5", "E0504", "2"),
    ("return @out %m", "return @out %n", "[0]", "", "E0504", "a result has 3 elements"),
    ("  allocate @out", "  int %two in 0..2 = add %n, 0\n  allocate @out", "[0]", "1[34]:", "E0501", "3"),
    (RESULT[:RESULT.index("  forall")], RESULT[:RESULT.index("  allocate")].replace("[%m]", "[%l]") +
     "  int %l = sub %m, 5\n  allocate @out\n", "[0]", "", "E0502", "the length"),
    ("  allocate @out\n", "  bool %some = lt 1, %m\n  if %some {\n    allocate @out\n  }\n", "[0]", "", "E050[14]",
     ""),
    ("  allocate @out", "  int %more = add %n, 2147483647 nowrap\n  allocate @out", "[0]", "13:", "E0501", "wraps"),
    ("  allocate @out", "  uint %u = convert %n\n  uint %less = sub %u, 4u32 nowrap\n  allocate @out", "[0]", "14:",
     "E0501", "wraps"),
    ("  allocate @out", "  int %half = shl %n, 29 nowrap\n  int %less = neg %half nowrap\n  allocate @out", "[0]", "",
     None, ""),
    ("store @out[%i]", "store @out[%j]", "[0,0]", "17:5", "E0505", "twice"),
    ("    store @out[%i], %x", "    bool %c = lt 0, %i\n    if %c {\n      store @out[%i], %x\n    }", "[0,1]", "",
     "E0506", "never"),
    ("  return", "  forall int %k < 1 at grid/thread {\n    int %z = load @out[%k]\n  }\n  return", "[0,0]", "", None,
     ""),
]
FOUND_BY_INTERPRETER = [
    ("int %x = load", "int %k = mul %j, 1073741824 nowrap\n    int %x = load", "[0,2]", "16:5", "E0501", "wraps"),
    (RESULT + "%i]", RESULT.replace("[%m]", "[%m] rewritten") + "%j]", "[0,0]", "17:5", "E0505",
     "while another thread may store"),
    (RESULT + "%i]", RESULT.replace("[%m]", "[%m] rewritten") + "%i]", "[0,0]", "", None, ""),
]


def sample(type_text):
    """A value of that type, as an argument: three of each dimension."""
    text = re.sub(r"double|float|b?f16", "1.5", re.sub(r"bool", "true", re.sub(r"\b[iu]\d+|u?int", "2", type_text)))
    while "[" in text:
        text = re.sub(r"\[([^][]*)\]", r"<\1,\1,\1>", text)
    return text.replace("<", "[").replace(">", "]")


def cases(env):
    def compiled(source, out, *options):
        env.must(env.fclc, source, *options, "-o", out)

    def round_trip(path, target):
        """The text is the same when it was read, and so is the code."""
        folder = env.tmp()
        direct, again = (os.path.join(folder, name) for name in ("direct", "again"))
        os.mkdir(direct)
        os.mkdir(again)
        text, second = os.path.join(folder, "k.fclir"), os.path.join(folder, "second.fclir")
        compiled(path, text, f"--target={target}")
        compiled(text, second)
        assert filecmp.cmp(text, second, shallow=False), f"{path} {target}: other text after it was read"
        for source, place in ((path, direct), (text, again)):
            compiled(source, os.path.join(place, "k." + TARGETS[target]), "--check=none")
        names = sorted(os.listdir(direct))
        assert names == sorted(os.listdir(again)) and names, names
        _, different, failed = filecmp.cmpfiles(direct, again, names, shallow=False)
        assert not different and not failed, f"{path} {target}: {different} is other code"

    paths = sorted(os.path.relpath(path, env.root) for folder in ("examples/*", "tests/run/*", "benchmarks/fcl")
                   for path in glob.glob(env.path(folder, "*.fcl")))

    def everything(which, step, all_targets):
        def check():
            names = list(TARGETS)
            for number, path in enumerate(paths):
                targets = names if all_targets else [names[number // step % len(names)]]
                for target in targets if number % step == which else []:
                    round_trip(path, target)
        return check
    if env.sanitized:
        yield Case("some programs there and back", everything(7, 20, False))
    else:
        yield Case("a third of all programs there and back, for a target each", everything(0, 3, False),
                   thorough=True)
        yield Case("all programs there and back, for all targets", everything(0, 1, True), long=True)

    def failed_check():
        """What a kernel finds wrong is told with its place in the program, whichever file that is in."""
        folder = env.tmp()
        text = os.path.join(folder, "k.fclir")
        env.written("gathered.fcl", "fun gathered xs is = push <grid> (map (fn i =>\n    xs ! i) is)\n", folder)
        env.written("k.fcl", 'import "gathered.fcl"\n\nkernel k (xs : [int]) (is : [int]) = gathered xs is\n'
                             "kernel own (xs : [int]) = push <grid> (generate 9 (fn i =>\n      xs ! i))\n", folder)
        env.must(env.fclc, "--check", "--target=c", "k.fcl", "-o", text, cwd=folder)
        for kernel, arguments, place in (("k", ("[1,2]", "[1,2]"), "gathered.fcl:2:5: "),
                                         ("own", ("[1]",), "k.fcl:5:7: ")):
            for program in ("k.fcl", text):
                done = env.run(env.fclc, "run", "--target=c", program, kernel, *arguments, cwd=folder)
                assert done.returncode == 1 and f"{place}error[E0501]" in done.stderr, done.stderr
    yield Case("a check that fails is told with its place in the program", failed_check)

    def wrong():
        folder = env.tmp()
        path, out = os.path.join(folder, "k.fclir"), os.path.join(folder, "k.cu")

        def read(text):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return env.run(env.fclc, "k.fclir", "-o", out, cwd=folder)
        done = read(RIGHT)
        assert done.returncode == 0, done.stderr
        for before, after, place, message in WRONG:
            assert before in RIGHT, before
            done = read(RIGHT.replace(before, after, 1))
            first = done.stderr.split("\n")[0]
            assert done.returncode == 1 and first.startswith(f"k.fclir:{place}: error[E0120]: ") and message in first, \
                f"{before!r} as {after!r}: {place} {message}\n{done.stderr}"
        for text in ("", "\n", "fclir", "\0", "fclir 1 \0", "kernel k {" * 2000, RIGHT[:100] + "\xff",
                     "fclir 1\nkernel k {\n" + "if true {\n" * 5000):
            done = read(text)
            assert done.returncode == 1 and "error[E0120]" in done.stderr, (text[:20], done.returncode, done.stderr)
        assert read("fclir 1\n").returncode == 0
        for command in (["k.fclir", "-o", "k.py"], ["test", "k.fclir"], ["tune", "k.fclir", "k"],
                        ["--dump=ir", "k.fclir"], ["--dump=tokens", "k.fclir"], ["--dump=ast", "k.fclir"],
                        ["fmt", "k.fclir"], ["fmt", "--check", "k.fclir"], ["doc", "--check", "k.fclir"]):
            done = env.run(env.fclc, *command, cwd=folder)
            assert done.returncode == 2 and "is the IR of one" in done.stderr, done.stderr
        done = env.run(env.fclc, "nothing.fclir", "-o", out, cwd=folder)
        assert done.returncode == 2 and "nothing.fclir" in done.stderr, done.stderr
    yield Case("what is wrong is told, with its place", wrong)

    def of_blocks():
        path = os.path.join(env.tmp(), "k.fclir")
        for before, after, place, message in [("", "", None, "")] + WRONG_BLOCKS:
            assert before in BLOCKS
            with open(path, "w", encoding="utf-8") as file:
                file.write(BLOCKS.replace(before, after, 1))
            for target in ("c", "interp"):
                done = env.run(env.fclc, "run", f"--target={target}", path, "sums", "iota:300")
                if place:
                    assert done.returncode == 1 and f":{place}: error[E0120]: {message}" in done.stderr, done.stderr
                else:
                    assert done.stdout == "[32640,12210]\n", done.stderr
        with open(path, "w", encoding="utf-8") as file:
            store = "      store @tile[%t], %x\n"
            file.write(BLOCKS.replace(store, f"      if %in {{\n{store}      }}\n"))
        done = env.run(env.fclc, "run", "--target=interp", path, "sums", "iota:300")
        assert done.returncode == 1 and "E0506" in done.stderr and "element 44 of @2 (tile) is loaded" in done.stderr, \
            done.stderr
    yield Case("what a block does is verified", of_blocks)

    def units():
        """Products by matrix units, whose fragments the interpreter reads as the lanes hold them."""
        path = os.path.join(env.tmp(), "k.fclir")
        compiled(env.path("tests", "run", "prelude", "mma.fcl"), path, "--target=cuda")
        with open(env.path("tests", "run", "prelude", "mma.fcl"), encoding="utf-8") as file:
            calls = re.findall(r"^-- test (.*?) (?:==|~=)", file.read(), re.M)
        for call in calls[:3]:
            runs = [env.must(env.fclc, "run", "--target=interp", "--limit=0", program, *call.split())
                    for program in (env.path("tests", "run", "prelude", "mma.fcl"), path)]
            assert runs[0] == runs[1] != "", f"{call}: {runs}"
    yield Case("products by matrix units in the interpreter of IR", units)

    def stored_again():
        """For CPUs a filter stores what it does not keep, too, where the next one goes."""
        source, path = (os.path.join(env.tmp(), name) for name in ("p.fcl", "p.fclir"))
        with open(source, "w", encoding="utf-8") as file:
            file.write("kernel large (xs : [int]) = filter (fn x => x > 1) xs\n")
        env.must(env.fclc, source, "--target=c", "-o", path)
        for target in "interp", "c":
            assert env.must(env.fclc, "run", "--target=" + target, path, "large", "[1,2,0,3]") == "[2,3]\n"
    yield Case("a thread stores an element again in a loop of its own", stored_again)

    def found():
        """What the text does not show is found by a run with checks."""
        path = os.path.join(env.tmp(), "k.fclir")

        def run(target, before, after, argument):
            assert before in GATHER
            text = GATHER.replace(before, after, 1)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return env.run(env.fclc, "run", *target, path, "k", "[10,20,30]", argument)
        devices = [["--target=c"], ["--target=opencl", "--map=simt"]]
        for before, after, argument, place, code, message in FOUND + FOUND_BY_INTERPRETER:
            every = [] if (before, after, argument, place, code, message) in FOUND_BY_INTERPRETER else devices
            for target in [["--target=interp"]] + every:
                done = run(target, before, after, argument)
                pattern = rf"k\.fclir:{place}.*error\[{code}\].*{re.escape(message)}"
                is_right = done.returncode == 1 and re.search(pattern, done.stderr) if code else done.returncode == 0
                assert is_right, (target, before, after, argument, done.returncode, done.stdout, done.stderr)
        for target in [["--target=interp"]] + devices:
            done = run(target, "", "", "[2,0,1,1]")
            assert done.stdout == "[30,10,20,20]\n", done.stderr
    yield Case("what is wrong in a run is found with checks", found)

    def commands():
        """The commands that need no text in FCL do with the IR as they do with the program."""
        folder = env.tmp()
        text = os.path.join(folder, "k.fclir")

        def printed(*words, status=0, **options):
            return env.must(env.fclc, *words, status=status, **options)
        runs = (("examples/reduce/reduce.fcl", "sumBlocks", "iota:1000"),
                ("examples/linear/linear.fcl", "saxpy", "2.5", "[100,90]", "[1,2]"),
                ("examples/images/images.fcl", "equalise", "[10,10,20,30,30,30]"),
                ("examples/sorting/sorting.fcl", "countingSort", "10", "[3,1,4,1,5]"))
        for path, *call in runs:
            for target, options in (("interp", ()), ("c", ()), ("opencl", ("--map=simt",))):
                compiled(path, text, f"--target={target if target in TARGETS else 'cuda'}")
                assert printed("run", f"--target={target}", *options, text,
                               *call) == printed("run", f"--target={target}", path, *call)
            assert printed("check", text) == "", f"{path}: something is said of its IR"
            types = printed("types", path).splitlines()
            assert set(printed("types", text).splitlines()) <= set(types), path
            # Places are lines of the one or of the other.
            # IR has no lines, by which the dearest ones are told
            without = r"(?m)^  dearest:.*\n(?:           .*\n)*"
            reports = [re.sub(r",? *\(?(?:in )?(?:line|value) \d+\)?", "",
                              re.sub(without, "", printed("report", "--target=opencl", one))) for one in (path, text)]
            assert reports[0] == reports[1] != "", f"{path}:\n{reports[0]}\n{reports[1]}"
        done = env.run(env.fclc, "run", "--target=opencl", text, *runs[-1][1:])  # on a processor
        assert (
            done.returncode == 0 or done.returncode == 1 and "`--map=simt` makes them threads" in done.stderr
        ), done.stderr
        simulator = env.cudasim()
        compiled(runs[2][0], text)
        assert printed("run", "--target=cuda", text, *runs[2][1:],
                       env=simulator) == printed("run", "--target=cuda", *runs[2], env=simulator)
        compiled("examples/linear/linear.fcl", text)
        done = env.run(env.fclc, "run", "--target=c", text, "matVecByWarp", "[[1,2]]", "[1,1]")
        assert done.returncode == 1 and "goes by what cuda has and c has not" in done.stderr, done.stderr
        with open(text, "w", encoding="utf-8") as file:
            file.write(RIGHT)
        for given, said in (("[]", "[]"), ("[1,2,3]", "[2,3,4]")):
            assert printed("run", "--target=c", text, "k", given) == said + "\n"
        for words, status, said in ((["k", "[1.5]"], 2, "argument 1 (`xs`)"), (["kk"], 2, "its kernels are k"),
                                    (["k"], 2, "takes 1 argument (xs : [int])")):
            done = env.run(env.fclc, "run", text, *words)
            assert done.returncode == status and said in done.stderr, (words, done.returncode, done.stderr)
        with open(text, "w", encoding="utf-8") as file:
            file.write(RIGHT.replace("add %x", "ad %x"))
        for command in (["check", text], ["run", "--target=c", text, "k", "[1]"], ["report", text], ["types", text]):
            done = env.run(env.fclc, *command)
            assert done.returncode == 1 and ":14:14: error[E0120]" in done.stderr, (command, done.stderr)
    yield Case("check, types, run and report of the IR", commands)

    def traced():
        path = env.written("traced.fcl",
            'kernel k (xs : [int]) = push <grid> (map (fn x => trace "a label" (x + 1)) xs)\n')
        for target in TARGETS:
            round_trip(path, target)
    yield Case("a program with traces there and back", traced)

    def bound():
        folder = env.tmp()
        text = os.path.join(folder, "k.fclir")
        compiled("examples/linear/linear.fcl", text)
        done = env.run(env.fclc, text, "-o", os.path.join(folder, "k.c"))
        assert done.returncode == 1 and "goes by what cuda has and c has not" in done.stderr, done.stderr
        compiled(text, os.path.join(folder, "k.hip"))
        with open(text, encoding="utf-8") as file:
            assert file.readline() == 'fclir 1 for cuda from "examples/linear/linear.fcl"\n'
        # A program that goes by nothing of the kind may be for any.
        with open(env.path("docs/ir.md"), encoding="utf-8") as file:
            whole = re.search(r"^    (fclir 1 .*?^    }\n)", file.read(), re.S | re.M)[1].replace("\n    ", "\n")
        with open(text, "w", encoding="utf-8") as file:
            file.write(whole)
        for extension in TARGETS.values():
            compiled(text, os.path.join(folder, "k." + extension))
    yield Case("kernels for one target, and those for any", bound)

    def fuzzed():
        rng, folder, kernels = random.Random(20261124), env.tmp(), []
        path = os.path.join(folder, "k.fclir")
        for number, source in enumerate(FUZZED):
            target = list(TARGETS)[number % 3]
            compiled(source, path, f"--target={target}")
            with open(path, encoding="utf-8") as file:
                head, *parts = file.read().split("\nkernel ")
            kernels += [(target, f"{head}\nkernel {part}") for part in parts if len(part) < 6000]
        assert len(kernels) > 20
        read = 0
        for _ in range(40 if env.sanitized else 250):
            target, text = rng.choice(kernels)
            lines = text.split("\n")
            for _ in range(rng.choice([1, 1, 2, 3])):
                at, how = rng.randrange(len(lines)), rng.randrange(6)
                if how == 0:
                    del lines[at]
                elif how == 1:
                    lines.insert(at, rng.choice(lines))
                elif how == 2:
                    other = rng.randrange(len(lines))
                    lines[at], lines[other] = lines[other], lines[at]
                else:
                    words = lines[at].split(" ")
                    words[rng.randrange(len(words))] = rng.choice(
                        [rng.choice(WORDS), rng.choice(rng.choice(lines).split(" ")), ""]
                    )
                    lines[at] = " ".join(words)
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(lines))
            done = env.run(env.fclc, path, "-o", os.path.join(folder, "k." + TARGETS[target]), timeout=60)
            read += done.returncode == 0
            is_told = done.returncode == 1 and "error[E0120]" in done.stderr
            assert done.returncode == 0 or is_told, f"{done.returncode} {done.stderr}\n" + "\n".join(lines)
            if done.returncode == 0:  # it runs, goes on for ever, or is told where it is wrong
                arguments = [sample(one) for one in re.findall(r"^ *takes (.*)$", "\n".join(lines), re.M)]
                name = re.search(r'^kernel "(\w+)', "\n".join(lines), re.M)[1]
                done = env.run("timeout", "10", env.fclc, "run", "--target=interp", path, name, *arguments)
                is_told = done.returncode == 1 and "error[E" in done.stderr
                is_good = done.returncode in (0, 2, 124) or is_told
                assert is_good, f"{done.returncode} {done.stderr}\n" + "\n".join(lines)
        assert read, "nothing that was altered could be read"
    yield Case("altered texts are read or refused, and crash nothing", fuzzed)
