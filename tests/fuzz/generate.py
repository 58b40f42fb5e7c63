"""Random well-typed FCL programs: pipelines of pull arrays, forced and chunked at random levels. Every index is in range."""

import random

LEVELS = ["thread", "warp", "block", "grid"]


class Generator:
    """One program of several kernels from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0

    def pick(self, *options):
        return self.random.choice(options)

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def scalar(self, x, depth=2):
        """An int expression in the int variable (or expression) x."""
        if depth == 0:
            return self.pick(x, x, str(self.random.randint(0, 9)), "(-3)", "1000003", "2147483647")
        a, b = self.scalar(x, depth - 1), self.scalar(x, depth - 1)
        return self.pick(
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / {b})", f"({a} % {b})", f"(min {a} {b})", f"(max {a} {b})",
            f"({a} ^ {b})", f"({a} & {b})", f"({a} << {self.random.randint(0, 40)})", f"({a} >> {self.random.randint(0, 40)})",
            f"(if {a} < {b} then {a} else {b})", f"(if {a} == {b} || {a} > 3 then {b} else {a})",
            f"(int (i8 {a}))", f"(int (u16 {a}) - {b})", f"(int (double {a} * 0.5))", f"(int (i64 {a} * i64 {b} >> 7i64))",
            f"(let t = {a} in t * t + {b})", f"(fst (loop (fn (n, s) => s < 5) (fn (n, s) => (n * 3 + {a}, s + 1)) ({b}, 0)))",
            f"(foldl (fn s y => s * 2 + y) {a} [{b}, 1, {x}])")

    def same_length(self, a, level=None):
        """A pull array expression as long as the variable `a`; `level`: the ambient, where forces are allowed."""
        options = [
            f"reverse {a}", f"map (fn x => {self.scalar('x')}) {a}", f"mapIx (fn i x => {self.scalar('x', 1)} + i) {a}",
            f"generate (length {a}) (fn i => {a} ! ((i * {self.random.randint(1, 9)} + {self.random.randint(0, 9)}) % length {a}))",
            f"zipWith (fn x y => {self.pick('x + y', 'x - y', 'max x y')}) {a} (reverse {a})",
            f"(let (x, y) = halve {a} in appendPull y x)", f"(let (x, y) = evenOdds {a} in appendPull x y)",
            f"map (fn p => fst p - snd p) (zip {a} (reverse {a}))",
            f"(if length {a} > {self.random.randint(0, 40)} then reverse {a} else map (fn x => x + 1) {a})",
        ]
        if level:
            options += [f"force (push <{level}> ({self.same_length(a)}))"] * 4 + [
                f"power {self.random.randint(0, 4)} (fn k b => push <{level}> (map (fn x => x + k) (reverse b))) (push <{level}> {a})",
                f"power (length {a} % 4) (fn k b => push <{level}> (map (fn x => x * 3 + k) (reverse b))) (push <{level}> {a})",
                f"(if length {a} > 1 && length {a} % 2 == 1 then force (push <{level}> (reverse {a})) else {a})",
                f"(let s = foldl (+) 0 {a} in map (fn x => x - s) {a})",
            ]
        return self.random.choice(options)

    def pipeline(self, a, level=None, steps=None):
        """let … in a pull array, each step on the one before."""
        text, last = "", a
        for _ in range(steps if steps is not None else self.random.randint(1, 4)):
            name = self.name("v")
            text += f"{name} = {self.same_length(last, level)}\n      "
            last = name
        return f"let {text}in {last}" if text else last

    def chunked(self, inner, outer, body):
        """A function that splits, works on each chunk at `inner`, and puts them together at `outer`."""
        name, n = self.name("chunked"), self.pick("1", "3", "4", "7", "16", "32", "33")
        order = self.pick("", "", "reverse")
        split = "splitUpEnd" if order else "splitUp"
        turn = " |> reverse" if order else ""
        return name, (f"sig {name} : [int] -> [int]<{outer}>\nfun {name} xs =\n"
                      f"  {split} {n} xs |> map (fn c => push <{inner}> ({body})){turn} |> concat {n}\n")

    def kernel(self):
        name, form = self.name("k"), self.random.randint(0, 5)
        if form == 0:
            level = self.random.choice(LEVELS)
            limit = {"thread": 9, "warp": 40, "block": 300, "grid": 5000}[level]
            return name, f"kernel {name} (xs : [int]) =\n  let a = take {limit} xs in push <{level}> ({self.pipeline('a', level)})\n"
        inner = self.random.randrange(3)
        outer = self.random.randint(inner + 1, 3)
        first, text = self.chunked(LEVELS[inner], LEVELS[outer], self.pipeline("c", LEVELS[inner]))
        if form in (1, 2) or outer == 3:
            take = {1: 64, 2: 400, 3: 3000}[outer]
            return name, f"{text}kernel {name} (xs : [int]) = mapPush (fn x => {self.scalar('x', 1)}) ({first} (take {take} xs))\n"
        if form == 3:
            return name, (f"{text}kernel {name} (xs : [int]) =\n  let a = take 300 xs\n      b = force ({first} a)\n"
                          f"  in push <{LEVELS[outer]}> ({self.pipeline('b', LEVELS[outer], 1)})\n")
        body = f"let d = force ({first} c) in {self.pipeline('d', LEVELS[outer], 2)}"
        second, more = self.chunked(LEVELS[outer], "grid", f"({body})")
        return name, f"{text}{more}kernel {name} (xs : [int]) = {second} xs\n"

    def program(self, kernels=6):
        parts = [self.kernel() for _ in range(kernels)]
        return [name for name, _ in parts], "\n".join(text for _, text in parts)
