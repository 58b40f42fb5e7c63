"""Deep, long and many: whatever a program writes, the compiler ends in a result or a clear error after ten seconds at
most, and the time it takes grows with the length of the program. What is short and grows by a factor with each step
takes five seconds and 250 MB."""

import os
import re
import subprocess
import sys
from harness import Case

ORDER = 38
SANITIZED = True  # whose frames are larger
SECONDS = 10
CPU_SECONDS = 5  # of short programs: the slowest takes 2 to 3, half for checks; what multiplies 60 times does not end
MEGABYTES = 250
DEEP = 10_000
MANY = 100_000
MEGABYTE = 1_000_000

KERNEL = "kernel k (xs : [int]) = push <grid> (map g xs)\n"


def function(body, kernel=KERNEL):
    return f"fun g x = {body}\n{kernel}"


def lines(count, line):
    return "".join(line(i) + "\n" for i in range(count))


def functions(count):
    """A chain of them: each calls the one before."""
    return "fun f0 x = x + 1\n" + lines(count, lambda i: f"fun f{i + 1} x = f{i} x + {i}")


def numbers(length):
    """As many numbers, with commas between, as make that many bytes."""
    text, i = [], 0
    while length > 0:
        text.append(str(i))
        length -= len(text[-1]) + 1
        i += 1
    return ",".join(text)


# name: (the program for a size, the code it may end in, or None, which means that it must compile)
DEPTHS = {
    "parentheses": (lambda n: function("(" * n + "x" + ")" * n), None),
    "open parentheses": (lambda n: function("(" * n + "x"), "E0111"),
    "open lists": (lambda n: "fun g x = " + "[" * n, "E0111"),
    "open conditionals": (lambda n: "fun g x = " + "if x then " * n, "E0110"),
    "lets": (lambda n: function("".join(f"let a{i} = x + {i} in " for i in range(n)) + "x"), "E0117"),
    "lets in lets": (lambda n: function("let a = " * n + "x " + "in a + 1 " * n), "E0117"),
    "bindings of one let": (lambda n: function("let a0 = x\n" + lines(n, lambda i: f"  a{i + 1} = a{i} + 1") +
                                               f"in a{n}"), None),
    "conditionals": (lambda n: function("".join(f"if x == {i} then {i} else " for i in range(n)) + "x"), "E0117"),
    "conditions": (lambda n: function("if " * n + "x > 0 " + "then true else false " * n), "E0117"),
    "lists": (lambda n: "fun g x = " + "[" * n + "x" + "]" * n, "E0117"),
    "tuples": (lambda n: "fun g x = " + "(" * n + "x" + ", x)" * n, "E0117"),
    "lambdas": (lambda n: "fun g x = " + "".join(f"fn a{i} => " for i in range(n)) + "x", "E0117"),
    "operators": (lambda n: function("x" + " + x" * n), "E0117"),
    "negations": (lambda n: function("- " * n + "x"), "E0117"),
    "calls": (lambda n: "fun h x = x + 1\n" + function("h (" * n + "x" + ")" * n), "E0117"),
    "patterns": (lambda n: "fun g " + "(" * n + "x" + ", _)" * n + " = x", "E0117"),
    "parameters": (lambda n: "fun g " + " ".join(f"a{i}" for i in range(n)) + " = a0", None),
    "array types": (lambda n: "sig g : " + "[" * n + "int" + "]" * n + " -> int\nfun g x = 1", "E0117"),
    "function types": (lambda n: "sig g : " + "(" * n + "int" + " -> int)" * n + " -> int\nfun g x = 1", "E0117"),
    "levels": (lambda n: "sig g : [int]<" + "1+" * n + "l> -> int\nfun g x = 1", "E0113"),
    "comments": (lambda n: "(* " * n + " *)" * n + "\n" + function("x + 1"), None),
    "open comments": (lambda n: "(* " * n + function("x"), "E0104"),
}

LITERALS = {
    "digits": (lambda: function("x + " + "7" * MEGABYTE), "E0218"),
    "hexadecimal digits": (lambda: function("x + 0x" + "7" * MEGABYTE), "E0218"),
    "digits after the point": (lambda: "val v = 0." + "7" * MEGABYTE, None),
    "a name": (lambda: function("x + " + "y" * MEGABYTE), "E0201"),
    "a list": (lambda: "val t = [" + numbers(MEGABYTE) + "]\n" + function("t ! x"), None),
    "a list that is written": (lambda: "kernel k = push <grid> [" + numbers(MEGABYTE) + "]\n", None),
    "a tuple": (lambda: "val v = fst (" + numbers(MEGABYTE) + ")\n", "E0211"),
    "a string": (lambda: 'val v = "' + "x" * MEGABYTE + '"\n', "E0106"),
    "a comment": (lambda: "-- " + "x" * MEGABYTE + "\n" + function("x"), None),
}

DECLARATIONS = {
    "values": (lambda n: lines(n, lambda i: f"val v{i} = {i}") + function("x + v0"), None),
    "params": (lambda n: lines(n, lambda i: f"param p{i} : int = 1") + function("x + p0"), None),
    "functions": (lambda n: functions(n) + function("f9 x"), None),
    "functions with sigs": (lambda n: lines(n, lambda i: f"sig f{i} : num a => a -> a\nfun f{i} x = x + 1") +
                            function("f9 x"), None),
    "types of types": (lambda n: "type t0 = int\n" + lines(n, lambda i: f"type t{i + 1} = [t{i}]") + function("x"),
                       None),
    "types that double": (lambda n: "type t0 = int\n" + lines(n, lambda i: f"type t{i + 1} = (t{i}, t{i})") +
                          function("x"), "E0219"),
    "unknown names": (lambda n: lines(n, lambda i: f"fun f{i} x = x + y{i}"), "E0201"),
    "misspelt names": (lambda n: lines(n, lambda i: f"fun function{i} x = functionn{i} x"), "E0201"),
    "names before their definition": (lambda n: lines(n, lambda i: f"fun f{i} x = f{i + 1} x"), "E0201"),
    "definitions of one name": (lambda n: lines(n, lambda i: "fun g x = x + 1") + KERNEL, None),
    "syntax errors": (lambda n: lines(n, lambda i: f"fun f{i} x = x + )"), "E0110"),
    "stray characters": (lambda n: lines(n, lambda i: f"fun f{i} x = x @ @"), "E0101"),
}

# Definitions of which each needs the one before. name: (the definitions, the kernel's parameter, its body)
CHAINS = {
    "functions": (lambda n: functions(n), "(x : int)", "f{n} x"),
    "arguments": (lambda n: "fun f0 x = x\n" + lines(n, lambda i: f"fun f{i + 1} x = f{i} (x * x + {i})"), "(x : int)",
                  "f{n} x"),
    "values": (lambda n: "val v0 = 1\n" + lines(n, lambda i: f"val v{i + 1} = v{i} + {i}"), "(x : int)", "v{n} + x"),
    "functions with lets": (lambda n: "fun f0 x = x\n" + lines(n, lambda i: (
        f"fun f{i + 1} x = let a = f{i} x in if a > {i} then a - x else a")), "(x : int)", "f{n} x"),
    "compositions": (lambda n: "fun f0 x = x\n" + lines(n, lambda i: f"val f{i + 1} = f{i} . (+ {i})"), "(x : int)",
                     "f{n} x"),
    "maps": (lambda n: "fun f0 xs = xs\n" + lines(n, lambda i: f"fun f{i + 1} xs = map (+ {i}) (f{i} xs)"),
             "(xs : [int])",
             "push <grid> (f{n} xs)"),
}

# Programs of two lines whose code doubles with each step of a static recursion.
DOUBLINGS = {
    "compositions": ("(g . g)", "f {n} (+ 1) x", "(x : int)"),
    "maps": ("(g . g)", "f {n} (map (+ 1)) x", "(x : [int])"),
    "functions": ("(fn x => g (g x))", "f {n} (fn y => y * 3 + 1) x", "(x : int)"),
    "appends": ("(append g g)", "f {n} (push <block> x)", "(x : [int])"),
}


NESTED = (13, 28, 60)
ONE = "kernel k (x : int) = "

# Short programs in which something doubles with each of n steps. name: (the program for n, the code it may end in, or
# None) Types: a variable that comes twice is one node of two places.
TYPES = {
    "a variable twice": (lambda n: "fun p x = fn f => f x x\nfun q x = " + "p (" * n + "x" + ")" * n, None),
    "a variable twice, with a name for each": (
        lambda n: "fun p x = fn f => f x x\nkernel k (n : int) = let a0 = p n\n" +
        lines(n, lambda i: f"  a{i + 1} = p a{i}") + "in n", None),
    "pairs of pairs": (lambda n: "fun g x = let a0 = x\n" + lines(n, lambda i: f"  a{i + 1} = (a{i}, a{i})") +
                       f"in a{n}", None),
    "pairs of pairs, of which a part is taken": (lambda n: (
        ONE + "let a0 = x\n" + lines(n, lambda i: f"  a{i + 1} = (a{i}, a{i})") + "in " + "fst (" * n + f"a{n}" +
        ")" * n), None),
    "pairs of pairs as a result": (lambda n: (
        ONE + "let a0 = x\n" + lines(n, lambda i: f"  a{i + 1} = (a{i}, a{i})") + f"in a{n}"), "E0219"),
    "pairs of pairs as elements": (lambda n: (
        "kernel k (xs : [int]) = push <grid> (map (fn x => " + "fst (" * n + "x" + ")" * n +
        ") (force (push <grid> (map (fn x =>\n"
        "let a0 = x\n" + lines(n, lambda i: f"  a{i + 1} = (a{i}, a{i})") + f"in a{n}) xs))))"), "E0219"),
    "functions of functions": (lambda n: "fun f0 x = (x, x)\n" + lines(n, lambda i: f"fun f{i + 1} x = f{i} (f{i} x)"),
                               "E0219"),
    "functions that apply the last twice": (lambda n: "fun f0 x = fn g => g x x\n" + lines(
        n, lambda i: f"fun f{i + 1} x = f{i} (f{i} x)") + ONE + "x", "E0219"),
    "functions of a let that apply the last twice": (lambda n: ONE + "let a0 = fn y => fn g => g y y\n" + lines(
        n, lambda i: f"  a{i + 1} = fn y => a{i} (a{i} y)") + "in x", "E0219"),
    "identities": (lambda n: ONE + "id " * n + "x", None),
    "applied to itself": (lambda n: "fun twice f x = f (f x)\n" + ONE + "twice " * n + "(+ 1) x", "E0301"),
    "polymorphic lets": (lambda n: (
        "fun g a = let f0 = fn x => x in " + "".join(f"let f{i + 1} = fn x => (f{i} x, f{i} x) in " for i in range(n)) +
        f"f{n} a"), "E0219"),
    "two large types that must be one": (lambda n: (
        "fun p x = fn f => f x x\nfun q x y = " + "p (" * n + "(x, y)" + ")" * n +
        "\nfun r c x y = if c then q x y else q y x"), None),
    "two large types that are not one": (lambda n: (
        "fun p x = fn f => f x x\nfun q x = " + "p (" * n + "x" + ")" * n +
        "\nfun r c = if c then q true else q (true, true)"), "E0210"),
}

# Arrays of which each is made of the one before, in two places. name: (what it becomes, the code it may end in, or
# None)
ARRAYS = {
    "flatten (splitUp 2 a)": None,
    "flatten (map reverse (splitUp 3 a))": None,
    "appendPull a (tail a)": None,
    "appendPull a a": None,
    "let (p, q) = halve a in appendPull q p": None,
    "let (p, q) = evenOdds a in appendPull p q": None,
    "if length xs > n then a else reverse a": None,
    "map fst (zip a a)": None,
    "zipWith (+) a (reverse a)": None,
    "zipWith (+) a (tail a)": "E0301",
    "unpair (zip a a)": None,
    "pad 1 1 0 (rotate n a)": None,
    "map (foldl (+) 0) (window 3 a)": None,
    "transpose 3 4 (flatten (rows 2 a))": None,
    "map (fn x => if x > n then x + 1 else x * 2) a": None,
    "gather (map (fn i => i % 3) a) a": "E0301",
    "appendPull a (map (+ 1) a)": "E0301",
    "zipWith (+) a (shift 1 0 a)": "E0301",
}
NESTINGS = {
    "at grid": "kernel k (xs : [int]) = push <grid> (r {n} xs)",
    "in blocks": "kernel k (xs : [int]) = splitUp 64 xs |> map (fn c => push <block> (r {n} c)) |> concat 64",
}

# Functions that call themselves twice. name: (r, the kernel, the code)
CALLS = {
    "append a a": ("if n == 0 then x else let a = r (n - 1) x in append a a",
                   "kernel k (xs : [int]) = r {n} (push <grid> xs)", "E0301"),
    "append a a in blocks": ("if n == 0 then x else let a = r (n - 1) x in append a a",
                             "kernel k (xs : [int]) = splitUp 64 xs |> map (fn c => r {n} (push <block> c)) |> concat "
                             "65536", "E0301"),
    "halves of halves": ("if n == 0 then x else fn c => flatten (map (r (n - 1) x) (splitUp (max 1 (length c / 2)) c))",
                         "kernel k (xs : [int]) = push <grid> (r {n} reverse xs)", None),
    "both halves": ("if n == 0 then x else fn c => let (a, b) = halve c in appendPull (r (n - 1) x a) (r (n - 1) x b)",
                    "kernel k (xs : [int]) = push <grid> (r {n} (map (+ 1)) xs)", "E0301"),
    "chosen functions": ("if n == 0 then (fn y => y) else if x % (n + 2) == 0 then (fn y => r (n - 1) x (y + 1)) else "
                         "(fn y => r (n - 1) x (y * 2))",
                         ONE + "r {n} x x", "E0301"),
    "branches": ("if n == 0 then x else if x > n then r (n - 1) (x + 1) else r (n - 1) (x * 2)", ONE + "r {n} x",
                 "E0301"),
    "loops in loops": ("if n == 0 then x else snd (loop (fn (i, y) => i < 64) (fn (i, y) => (i + 1, r (n - 1) y)) (0, "
                       "x))",
                       ONE + "r {n} x", "E0301"),
    "Fibonacci": ("if n < 2 then x else r (n - 1) x + r (n - 2) x", ONE + "r {n} x", "E0301"),
    "steps in steps": ("if n == 0 then x else power 4 (fn i a => push <block> (map (+ 1) (r (n - 1) a))) (push <block> "
                       "x)",
                       "kernel k (xs : [int]) = splitUp 64 xs |> map (fn c => push <block> (r {n} c)) |> concat 64",
                       "E0301"),
    "splits": ("if n == 0 then x else r (n - 1) (if length x > n then take n x else x)",
               "kernel k (xs : [int]) = splitUp 64 xs |> map (fn c => push <block> (r {n} c)) |> concat 64", None),
}

LONG = ", ".join(str(i) for i in range(MANY))
LISTS = {
    "indexed by the host": f"val t = [{LONG}]\n" + ONE + "t ! x",
    "indexed by the device": f"val t = [{LONG}]\nkernel k (xs : [int]) = push <grid> (map (fn i => t ! i) xs)",
    "indexed a hundred times": (
        f"val t = [{LONG}]\nkernel k (xs : [int]) = push <grid> (map (fn i => " +
        " + ".join(f"t ! (i + {j})" for j in range(100)) + ") xs)"),
    "summed": f"val t = [{LONG}]\n" + ONE + "foldl (+) x t",
    "stored": f"kernel k = push <grid> [{LONG}]",
}


# `c` is bound for each half of a half, and only its upper part uses it: when every thread of the block computed each,
# deeper ones of this kind made tens of thousands of lines.
SPLIT = """fun fan op arr = let (a1, a2) = halve arr  c = a1 ! (length a1 - 1) in appendPull a1 (map (op c) a2)
fun two f xs = let (a, b) = halve xs in appendPull (f a) (f b)
kernel k (xs : [int]) =
  (rows 256 xs |> map (fn c => push <block> (two (two (two (fan (+)))) c)) |> concat 256 : [int]<grid>)
"""
# The last part of what is split may be shorter, so each length is an expression.
HALVES = """fun two f xs = let (a, b) = halve xs in appendPull (f a) (f b)
fun halves k f = if k == 0 then f else two (halves (k - 1) f)
param n : int = 1
kernel k (xs : [int]) =
  (splitUp 256 xs |> map (fn c => push <block> (reverse (force (push <block> (halves n reverse c)))))
    |> concat 256 : [int]<grid>)
"""


def doubling(step, body, parameter, n):
    return f"fun f n g = if n == 0 then g else f (n - 1) {step}\nkernel k {parameter} = {body.format(n=n)}\n"


def chain(definitions, parameter, body, n):
    return f"{definitions(n)}kernel k {parameter} = {body.format(n=n)}\n"


# A small process between: what is forked begins with the memory of whom it is forked from, and the harness may have
# much.
MEASURE = """
import resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]), int(sys.argv[2])))
status = subprocess.call(sys.argv[3:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(status, used.ru_utime + used.ru_stime, used.ru_maxrss, file=open(sys.argv[1], "w"))
"""


def measured(env, program, *command):
    """Exit status and messages of fclc, the seconds that it computed, and its megabytes. Time by the clock says
    nothing: others run, too."""
    folder = env.tmp()
    env.written("p.fcl", program, folder)
    with open(os.path.join(folder, "errors"), "w", encoding="utf-8") as errors:
        subprocess.run([sys.executable, "-S", "-c", MEASURE, "used", str(SECONDS + 1), env.fclc, *command], cwd=folder,
                       env=env.variables(), stderr=errors, check=True)
    with open(os.path.join(folder, "errors"), encoding="utf-8") as errors:
        said = errors.read(MEGABYTE)
    assert len(said) < MEGABYTE, "a megabyte of messages"
    with open(os.path.join(folder, "used"), encoding="utf-8") as used:
        status, seconds, kilobytes = used.read().split()
    return int(status), said, float(seconds), int(kilobytes) / 1024


def ends(env, seconds, megabytes, program, codes, *command):
    """In an error of those, or well where None is among them, and in so much time and memory. What took
    too long is tried twice more: the same compilation takes 0.6 to 1.1 s of a processor that others share."""
    for _ in range(3):
        returncode, said, took, needed = measured(env, program, *command)
        if took < seconds:
            break
    good = returncode == 0 and None in codes
    wrong = returncode == 1 and any(code and f"error[{code}]" in said for code in codes)
    first = said.split("\n", 1)[0][:300]
    assert good or wrong, f"exit status {returncode}, expected {codes}, after {took:.1f} s\n{first}"
    assert took < seconds and needed < megabytes, f"{took:.1f} s and {needed:.0f} MB\n{first}"


def ends_in_time(env, *rest):
    ends(env, SECONDS, float("inf"), *rest)


def ends_at_once(env, *rest):
    ends(env, CPU_SECONDS, MEGABYTES, *rest)


def seconds_of(env, program, runs, *command):
    """CPU time of `runs` runs together. A system may count it in ticks of 4 ms, so one short run says nothing."""
    seconds = 0
    for _ in range(runs):
        returncode, said, took, _ = measured(env, program, *command)
        assert returncode == 0, said
        seconds += took
    return seconds


def maps(count):
    return "kernel k (xs : [int]) =\n  xs\n" + "  |> map (fn x => x * x + x)\n" * count + "  |> push <grid>\n"


def definitions(count):
    """Definitions as a program would generate them: sigs, lets, forces, chunks."""
    def one(i):
        return (f"sig f{i} : (int, float) -> [int] -> [int]<grid>\n"
                f"fun f{i} (a, b) xs =\n  let ys = map (fn x => x + {i}) xs\n"
                "  in splitUp 256 (zipWith (+) ys (reverse ys))\n"
                "     |> map (fn c => push <block> (map (fn x => x + a + int b) (force (push <block> c))))\n"
                "     |> concat 256")
    return lines(count, one) + "kernel k (xs : [int]) = f0 (1, 2.0) xs\n"


def cases(env):
    compile_it = ("p.fcl", "-o", "p.c")
    # One printer writes all, so one of them will do but in a long run.
    outputs = ("p.c", "p.cl", "p.cu") if env.long else ("p.cu",)
    for name, parts in CHAINS.items():
        def chained(parts=parts):
            for output in outputs if not env.sanitized else ("p.cu",):
                for level in ("-O0", "-O2"):
                    ends_in_time(env, chain(*parts, DEEP), (None,), "p.fcl", "-o", output, level)
            ends_in_time(env, chain(*parts, MANY // 2), (None, "E0301"), *compile_it)
        yield Case(f"a chain of {DEEP}: {name}", chained)
    if env.sanitized:
        return

    def chain_runs(target):
        folder = env.tmp()
        env.written("p.fcl", chain(*CHAINS["functions"], DEEP), folder)
        result = env.must(env.fclc, "run", f"--target={target}", "p.fcl", "k", "1", cwd=folder)
        assert result == f"{2 + DEEP * (DEEP - 1) // 2}\n", result
    for target in ("interp", "c"):
        yield Case(f"a chain of {DEEP} functions runs on {target}", lambda target=target: chain_runs(target))
    yield Case("recursion that does not end is an error", lambda: ends_in_time(
        env, "fun f x = f (x + 1) + f (x + 2)\nkernel k (x : int) = f x\n", ("E0301",), *compile_it))
    for name, (program, code) in DEPTHS.items():
        for depth in (DEEP // 2, DEEP, MANY):
            # The limits are reached somewhere below MANY; what is rightly nested below them compiles.
            may_compile = depth < MANY and code in ("E0117", "E0219")

            def deep(program=program, codes=(code, None) if may_compile else (code,), depth=depth):
                ends_in_time(env, program(depth), codes, *compile_it)
            yield Case(f"{depth} nested: {name}", deep)
    for name, (program, code) in LITERALS.items():
        def large(program=program, code=code):
            ends_in_time(env, program(), (code,), *compile_it)
        yield Case(f"a megabyte: {name}", large)
    for name, (program, code) in DECLARATIONS.items():
        count = MANY if env.long else MANY // 5

        def many(program=program, code=code, count=count):
            ends_in_time(env, program(count), (code,), *compile_it)
        yield Case(f"{count} declarations: {name}", many)
    for name, parts in DOUBLINGS.items():
        for n in (12, 25, 60):
            def doubled(parts=parts, n=n):
                ends_in_time(env, doubling(*parts, n), ("E0301",) if n > 12 else (None,), *compile_it)
            yield Case(f"2^{n} {name}", doubled)

    for n in NESTED:
        for name, (program, code) in TYPES.items():
            def grows(program=program, code=code, n=n):
                ends_at_once(env, program(n), (code, None), "check", "p.fcl")
                ends_at_once(env, program(n), (code, None) if n == NESTED[0] else (code,), *compile_it)
            yield Case(f"types, {n} nested: {name}", grows)

        for name, code in ARRAYS.items():
            for place, kernel in NESTINGS.items():
                def arrays(body=name, kernel=kernel, code=code, n=n):
                    program = f"fun r n xs = if n == 0 then xs else let a = r (n - 1) xs in {body}\n" + kernel.format(
                        n=n
                    )
                    for output in outputs:
                        ends_at_once(env, program, (code, None), "p.fcl", "-o", output)
                yield Case(f"arrays, {n} nested {place}: {name}", arrays)
        for name, (body, kernel, code) in CALLS.items():
            def calls(body=body, kernel=kernel, code=code, n=n):
                program = f"fun r n x = {body}\n" + kernel.format(n=n)
                codes = (code, None) if n == NESTED[0] else (code,)
                for output in outputs:
                    ends_at_once(env, program, codes, "p.fcl", "-o", output)
            yield Case(f"calls, {n} nested: {name}", calls)
    for name, program in LISTS.items():
        def long_list(program=program):
            for output in sorted({*outputs, "p.cl"}):  # a kernel of OpenCL may have 48 KiB of constants
                ends_at_once(env, program, (None, "E0301") if output == "p.cl" else (None,), "p.fcl", "-o", output)
        yield Case(f"a list of {MANY}: {name}", long_list)

    def branches():
        folder = env.tmp()
        env.written("p.fcl", SPLIT, folder)
        env.must(env.fclc, "p.fcl", "-o", "p.c", cwd=folder)
        with open(os.path.join(folder, "p.c"), encoding="utf-8") as file:
            count = len(file.readlines())
        assert count < 500, f"{count} lines"
    yield Case("what some branches use is computed in these", branches)

    def halves_of_halves():
        folder = env.tmp()
        env.written("p.fcl", HALVES, folder)
        for depth in range(1, 9):
            env.must(env.fclc, "-D", f"n={depth}", "p.fcl", "-o", "p.cu", cwd=folder)
            with open(os.path.join(folder, "p.cu"), encoding="utf-8") as file:
                pool = re.findall(r"shared_pool\[(\d+)\]", file.read())
            assert set(pool) == {"1024"}, f"{depth}: {pool}"  # also in a copy that checks
    yield Case("the halves of halves are as long as what was halved", halves_of_halves)

    def linear(program, size, *command):
        # Ten small programs take about as long as one ten times as large; by a quadratic step that one would take ten
        # times as long. Other work of the machine only ever adds, so the best of some tries counts.
        ratios = []
        while len(ratios) < 5 and min(ratios, default=3) >= 3:
            few, many = seconds_of(env, program(size), 10, *command), seconds_of(env, program(10 * size), 1, *command)
            ratios.append(many / max(few, 0.01))
        assert min(ratios) < 3, f"{10 * size} takes as long as {[round(10 * r) for r in ratios]} times {size}"
    yield Case("checking is linear in the definitions", lambda: linear(definitions, 1000, "check", "p.fcl"))
    yield Case("checking is linear in a chain of maps", lambda: linear(maps, 330, "check", "p.fcl"))
    yield Case("listing the types is linear in the definitions", lambda: linear(functions, 10_000, "types", "p.fcl"))
    yield Case("compiling is linear in a chain of maps", lambda: linear(maps, 330, *compile_it))
