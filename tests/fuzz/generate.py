"""Random well-typed FCL programs: pipelines of pull arrays of all base types, forced and chunked at random levels,
and put together by every primitive. Every index is in range and every place is written once, so that all executors
must agree bit for bit; or, in programs that are to fail, each kernel does wrong in some places what has one code, so
that all executors must agree on that."""

import collections
import random
import re

from found import FLOATS, Found
from worded import Worded

LEVELS = ["thread", "warp", "block", "grid"]
SIGNED, UNSIGNED = ["i8", "i16", "int", "i64"], ["u8", "u16", "uint", "u64"]
INTEGERS = SIGNED + UNSIGNED
NUMBERS = INTEGERS + FLOATS
TYPES = ["int"] * 4 + NUMBERS + ["bool"]
BITS = {"i8": 8, "i16": 16, "int": 32, "i64": 64, "u8": 8, "u16": 16, "uint": 32, "u64": 64}


# The faults of kernels that are to fail: an index, a length, the lengths of chunks, a place outside, a place twice,
# the lengths of rows.
FAULTS = ["E0501"] * 3 + ["E0502", "E0503", "E0503", "E0504", "E0505", "E0512"]

# Declarations that programs use: records, alternatives, and rows that leave a remainder out.
TYPES_DECLARED = """\
type two a = { left : a, right : a }
type step a = { value : a, count : int }
data some a = None | One a | Two (a, a) | Of (two a)
fun fullRows n xs = rows n (take (length xs / max 1 n * n) xs)
"""

# The features that are counted: kernels whose text has this, or functions of theirs.
FEATURES = {
    name: re.compile(pattern)
    for name, pattern in {
        "several parameters": r"kernel \w+ \(.*\) \(",
        "parameters that are scalars": r"kernel .*\(\w+ : \w+\)",
        "parameters that are tuples": r"kernel .*\(\w+ : \(",
        "records": r"\bleft = |\bvalue = ",
        "records with other fields": r" with (left|value) = ",
        "match": r"\bmatch ",
        "match on tuples": r"match \(\(|match \(\w+, ",
        "match around arrays": r"(None|_) => (push|force|\()[^|]*(push|map|xs|c\b)",
        "alternatives sorted, scanned, updated": r"(scan|segScan|sortBy|unique|reduceByIndex|reduce) .*\ba\b",
        "records of arrays": r"\(r : two \[|left = push <",
        "texts": r'"',
        "characters": r"'(\\|\w')",
        "find, any, all": r"\b(find|any|all|findSeq|anySeq|allSeq) \(fn",
        "stored alternatives": r"force \(push <\w+> \(map \(fn x => \(if [^()]* then None",
        "functions returned": r"\(fn n => fn t =>",
        "functions chosen": r"then \(fn t =>",
        "functions given": r"\(fn f => f \(f",
        "shadowed names": r"let t = .* in let t = ",
        "recursion": r"fun again\w+ n x = if",
        "a val": r"^val ",
        "a param": r"^param ",
        "imports": r"\bimported\w+ ",
        "NaN, infinities, -0": r"0\.0 / 0\.0|1\.0 / 0\.0|-0\.0",
        "shifts": r"<<|>>",
        "rotations": r"rotateLeft",
        "filter": r"\bfilter ",
        "scan": r"\bscan(Exclusive)? ",
        "sort, sortBy": r"\bsort(By)? ",
        "reduceByKey": r"reduceByKey",
        "segScan, segReduce": r"seg(Scan|Reduce)",
        "partition": r"partition",
        "unique, runLengths": r"unique|runLengths",
        "while on data": r"while \(fn b => length b > 1 &&",
        "branches around schemes": r"&& a?v?\w+ ! 0.* then force \(",
        "forces inside an element": r"let w = force \(push <thread>",
        "captured arrays": r"ys ! \(|pairs ! \(",
        "scatterEach": r"scatterEach",
        "reduceByIndexEach": r"reduceByIndexEach",
        "scatter": r"scatter ",
        "reduceByIndex": r"reduceByIndex",
        "rankByIndex": r"rankByIndex",
        "lookback": r"lookback ",
        "lookbackCounts": r"lookbackCounts",
        "forceUpTo": r"forceUpTo",
        "shuffles": r"shuffle",
        "votes": r"anyWarp|allWarp|ballot",
        "mma": r"\bmma ",
        "powerAhead": r"powerAhead ",
        "matrices": r"\[\[",
        "loops in an element": r"\bloop ",
        "borders": r"generate \(length xs\) \(fn i =>",
        "results with shapes": r"-- shapes",
        "results of seven or eight dimensions": r"kernel \w+ \(m : \[\[\[",
        "indices below zero, divided": r"- \w+\) (/|%|>>) ",
        "borders before chunks": r"(appendPull|pad|shift) .*\(flatten \(map ",
        "sorts by what is no order": r"sort b\)|topKBy",
        "functions on whole arrays in steps": r"(power|while|loop) .*(ort|scan|filter|unique|partition|topK)",
        "starts": r"kernel \w+ \(s : \w+\) \(xs",
        "flattenRagged": r"flattenRagged",
        "shifts by other types": r"(<<|>>) \(\w+ ",
        "patterns": r"\b(two|ilv|evens|odds|riffle|binSplit|foldr1?|scanr) ",
        **{
            f"{name} at {level}": rf"\({name} [^:]*: \[\w+\]<{level}>\)"
            for level in LEVELS
            for name in (
                "scatter",
                "scatterEach",
                "scatterEachPush",
                "reduceByIndex",
                "reduceByIndexEach",
                "reduceByIndexEachPush",
            )
        },
    }.items()
}


class Generator(Found, Worded):
    """One program of several kernels from a seed."""

    def __init__(self, seed, fails=False, tag="", only=None):
        """`tag` ends all names, so that several programs can be one file. `only`: all kernels are of that form, a
        method's name."""
        self.random, self.tag, self.only = random.Random(seed), tag, only
        self.fails = fails
        self.faulty = []  # the codes of what the present kernel does wrong
        self.faults = collections.Counter()  # of each, in how many places
        self.codes = {}  # of a kernel's name: those codes
        self.helpers = f"parts{seed}.fcl", f"more{seed}.fcl"  # what the program imports, and what that does
        self.files = dict.fromkeys(self.helpers, "")
        self.made = collections.Counter()  # how many kernels have what
        self.count = 0
        self.arguments = {}  # of a kernel's name: what it can be run with

    def pick(self, *options):
        return self.random.choice(options)

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}{self.tag}"

    # ---- scalars ----

    def literal(self, t):
        if t == "bool":
            return self.pick("true", "false")
        if t in FLOATS:
            if self.random.randrange(6) == 0:
                return self.pick("(0.0 / 0.0)", "(1.0 / 0.0)", "(-1.0 / 0.0)", "(-0.0)")
            return self.pick("0.0", "1.5", "(-2.25)", "60000.0" if t == "f16" else "1e10", "0.1", "7.0")
        top = 2 ** (BITS[t] - (t in SIGNED)) - 1
        small = str(self.random.randint(0, 9))
        return self.pick(small, small, "(-3)" if t in SIGNED else "3", f"({top} : {t})", f"({top // 3} : {t})")

    def scalar(self, x, t="int", depth=2):
        """An expression of type t in the variable (or expression) x of that type."""
        if depth == 0:
            return self.pick(x, x, self.literal(t))
        a, b = self.scalar(x, t, depth - 1), self.scalar(x, t, depth - 1)
        if t == "bool":
            return self.pick(f"(not {a})", f"({a} && {b})", f"({a} || {b})", f"({a} == {b})", f"({a} < {b})",
                             f"(if {a} then {b} else not {b})", f"(int {a} + int {b} > 0)")
        always = [
            f"({a} + {b})",
            f"({a} - {b})",
            f"({a} * {b})",
            f"({a} / {b})",
            f"(min {a} {b})",
            f"(max {a} {b})",
            f"(abs {a})",
            f"(if {a} < {b} then {a} else {b})",
            f"(if {a} == {b} || {a} > 3 then {b} else {a})",
            f"({t} ({self.pick(*NUMBERS)} {a}))",
            f"({t} (bool {a}))",
            f"(let t = {a} in t * t + {b})",
            f"(fst (loop (fn (n, s) => s < 5) (fn (n, s) => (n * 3 + {a}, s + 1)) ({b}, 0)))",
            f"(foldl (fn s y => s * 2 + y) {a} [{b}, 1, {x}])",
            f"(let t = {a} in let t = t + {b} in let t = (if t < {b} then t else t * 2) in t)",  # shadowed
            f"((fn f => f (f {a})) (fn t => t * 2 + {b}))",
            f"((fn n => fn t => n - t) {a} {b})",
            f"((if {self.pick('true', 'false', '1 < 2')} then (fn t => t + {b}) else (fn t => t - {b})) {a})",
            f"(let (p, q, r) = ({a}, {b}, {x}) in if p < q then r - p else q)",
            f"(let both = {{ left = {a}, right = {b} }} in if both.left < both.right then both.right else both.left -"
            f" {x})",
            f"(let {{ right, left = l }} = {{ {{ left = {a}, right = {x} }} with left = {b} }} in l + right)",
            f"((loop (fn at => at.count < 4) (fn at => {{ at with value = at.value * 3 + {a}, count = at.count + 1 }}) "
            f"{{ value = {b}, count = 0 }}).value)",
            f"(match (if {a} < {b} then One {a} else if {a} == {x} then None else Two ({a}, {b})) with "
            f"One t => t | Two (t, u) => t - u | Of r => r.left | None => {x})",
            f"(match foldl (fn s y => match s with One t => Two (t, y) | Two (t, u) => if t < u then Of {{ left = u, "
            f"right = t }} else None | Of {{ left, right }} => One (left + right) | None => One y) None "
            f"[{a}, {b}, {x}, {a}] with One t | Two (t, _) | Of {{ right = t }} => t | None => {x})",
            f"(match {a} with 0 | 1 => {b} | 2 => {x} | t => t + 1)",
            f"(match (if Two ({a}, {x}) == Two ({b}, {x}) then One {a} else None) with One t => t + {b} | _ => {x})",
        ]
        if t in FLOATS:
            return self.random.choice(
                always + [f"(floor {a})", f"(trunc {a} + {b})", f"(sqrt (abs {a}))", f"(fma {a} {b} {x})"]
            )
        n = self.pick(self.random.randint(0, 130), BITS[t], BITS[t] - 1)  # counts are taken modulo the width
        n = min(n, 127)  # and are of the type itself
        return self.random.choice(
            always
            + [
                f"({a} % {b})",
                f"({a} ^ {b})",
                f"({a} & {b})",
                f"({a} | {b})",
                f"(~ {a})",
                f"({a} << {n})",
                f"({a} >> {n})",
                f"({a} {self.pick('<<', '>>')} ({self.random.choice(INTEGERS)} {b}))",
                f"({a} {self.pick('<<', '>>')} ({n} : {self.random.choice(INTEGERS)}))",
                f"({t} (clz {a}) + {t} (popcount {b}))",
                f"(rotateLeft {a} {n})",
                f"({t} (ctz {a}) + reverseBits {b})",
                f"(mulHigh {a} {b})",
                f"(addSaturate {a} {b})",
                f"({t} (double {a} * 0.5))",
            ]
        )

    # ---- several values at once, by branches and loops inside one another ----

    def leaf(self, env, t):
        """A variable of type t, or a conversion of another, or a literal."""
        name, other = self.random.choice(env)
        same = [name for name, other in env if other == t]
        if same and self.random.randrange(4):
            return self.random.choice(same)
        if other == t:
            return name
        return f"({t} {name})" if self.random.randrange(3) == 0 else self.literal(t)

    def anything(self, env, t):
        return self.scalar(self.leaf(env, t), t, 1)

    def lane(self, env, t, depth=2):
        """An expression of int, uint, float or bool of the kind of which CPUs' kernels have vectors."""
        if depth == 0:
            return self.random.choice([name for name, other in env if other == t] + [self.literal(t)])
        if t == "bool":
            other = self.pick("int", "float", "uint")
            a, b = self.lane(env, other, depth - 1), self.lane(env, other, depth - 1)
            p, q = self.lane(env, t, depth - 1), self.lane(env, t, depth - 1)
            return self.pick(
                f"({a} {self.pick('<', '<=', '>', '==', '!=')} {b})", f"({p} && {q})", f"({p} || {q})", f"(not {p})"
            )
        a, b = self.lane(env, t, depth - 1), self.lane(env, t, depth - 1)
        options = [f"({a} {self.pick('+', '-', '*')} {b})"] * 3 + [
            f"(min {a} {b})", f"(max {a} {b})", f"(if {self.lane(env, 'bool', depth - 1)} then {a} else {b})"]
        if t == "float":
            options += [
                f"({self.pick('floor', 'ceil', 'trunc', 'abs')} {a})",
                f"(fma {a} {b} 0.5)",
                f"({a} / {b})",
                f"(sqrt (abs {a}))",
                f"(float {self.lane(env, 'int', depth - 1)})",
            ]
        else:
            options += [f"({a} {self.pick('&', '|')} {b})", f"({a} >> {self.random.randint(0, 40)})",
                        f"({a} {self.pick('/', '%')} {self.pick('1', '3', '5', '8', '11', '3', '16', b)})"]
        return self.random.choice(options)

    def values(self, env, types, depth, scalar):
        """A tuple of these types, of expressions scalar(env, type). Loops end: each counts, to 15 at most."""
        plain = "(" + ", ".join(scalar(env, t) for t in types) + ")"
        form = self.random.randrange(5) if depth else 0
        if form == 0:
            return plain
        names = [self.name(self.pick("p", "q", "x", "mask", "next")) for _ in types]
        pattern, inside = "(" + ", ".join(names) + ")", env + list(zip(names, types))
        first = self.values(env, types, depth - 1, scalar)
        if form == 1:
            return f"(if {scalar(env, 'bool')} then {first} else {self.values(env, types, depth - 1, scalar)})"
        if form == 2:
            return f"(let {pattern} = {first} in {self.values(inside, types, depth - 1, scalar)})"
        n = self.name("n")
        inside = inside + [(n, "int")]
        limit = self.pick(str(self.random.randint(0, 6)), f"({scalar(env, 'int')} & {self.pick(3, 7, 15)})")
        more = "" if self.random.randrange(2) else f" && {scalar(inside, 'bool')}"
        new = [self.name("r") for _ in types]
        step = (
            f"let ({', '.join(new)}) = {self.values(inside, types, depth - 1, scalar)} in ({n} + 1, ({', '.join(new)}))"
        )
        return f"(snd (loop (fn ({n}, {pattern}) => {n} < {limit}{more}) (fn ({n}, {pattern}) => {step}) (0, {plain})))"

    def elementwise(self, name):
        """Much for each element: of some of these loops CPUs' kernels have vectors."""
        count = self.random.randint(2, 3)
        if self.random.randrange(3) == 0:
            t, types, scalar = (
                self.random.choice(TYPES),
                [self.random.choice(TYPES) for _ in range(count)],
                self.anything,
            )
        else:
            t, types, scalar = (
                self.pick("int", "float", "uint"),
                [self.pick("int", "int", "float", "uint", "bool") for _ in range(count)],
                self.lane,
            )
        self.arguments[name] = self.arrays(t)
        results = [self.name("s") for _ in types]
        values = self.values([("i", "int"), ("x", t)], types, 3, scalar)
        stored = [
            f"(if {s} then x else {self.literal(t)})" if u == "bool" and scalar == self.lane else s
            for s, u in zip(results, types)
        ]
        own = ""
        if self.random.randrange(3) == 0:  # an array of the element's own
            n = self.random.randint(1, 9)
            places = f"generate {n} (fn j => if j % 2 == i % 2 then x else {self.scalar('x', t, 1)})"
            own = f"let w = force (push <thread> ({self.pick(places, f'reverse ({places})')}))  x = w ! (i % {n}) in "
        return (
            f"kernel {name} (xs : [{t}]) =\n  push <grid> (mapIx (fn i x => {own}let ({', '.join(results)}) = {values}"
            f" in ({', '.join(stored)})) xs)\n"
        )

    # ---- pull arrays ----

    def chosen_places(self, a, t):
        """Elements from places that are cut by a mask or chosen by what is true: compilers' vectorisers go wrong
        there."""
        mask, c, d = self.pick(3, 7, 15, 31), self.random.randint(2, 9), self.random.randint(0, 9)
        true = (
            f"{a} ! i"
            if t == "bool"
            else self.pick(f"{a} ! i > {self.literal(t)}", f"{a} ! i == {a} ! (length {a} - 1 - i)")
        )
        truth = self.pick(
            f"int ({true})",
            f"(1 - int ({true}))",
            f"(if {true} then 0 else 1)",
            f"(if {true} && i % {c} > 0 then 1 else 0)",
        )
        most, place = self.pick(
            (mask, f"(i * {c} + {self.pick(0, 0, d)} & {mask})"),
            (mask, f"(int (u8 (i * {c})) & {mask})"),
            (1, truth),
            (c, f"{truth} * {c}"),
            (c + 1, f"({c} + {truth})"),
        )
        return f"(if length {a} > {most} then generate (length {a}) (fn i => {a} ! ({place})) else {a})"

    def up_to(self, a, t, level):
        """As long as the variable `a`: a force of as many elements as one of these says, and then the others."""
        n = self.random.randint(1, 40)
        many, place = self.pick(
            (f"length {a}", f"length {a} - 1 - i"),
            (f"(length {a} + 1) / 2", "if i % 2 == 0 then i / 2 else -1"),
            (
                f"(if {a} ! 0 == {a} ! (length {a} - 1) then length {a} / 2 else length {a})",
                "if i < many then i else -1",
            ),
        )
        said = self.pick("0", f"length {a} - 1", f"length {a} / 2")
        return (
            f"(let some = forceUpTo {self.pick(f'(length {a})', f'(min {n} (length {a}))')} (push <{level}> (mapIx (fn"
            f" i x => let many = {many} in (if i == {said} then many else -1, {place}, x)) {a})) in generate (length"
            f" {a}) (fn i => if i < length some then some ! i else {a} ! i))"
        )

    def does(self, code):
        return code in self.faulty

    def some(self, code):
        """A number that is passed by few arrays, or by many; what it is for goes wrong with this code."""
        self.faults[code] += 1
        return self.random.randint(1, self.pick(1, 3, 9, 40, 300))

    def wrong_index(self, a, t):
        """As long as the variable `a`; of some elements an index is outside, if `a` is short, or long, or by its
        data."""
        n = self.some("E0501")
        chosen = self.pick(f"i == {n}", f"i % {n} == {n - 1}", f"x == {self.literal(t)}", f"length {a} < {n}")
        far = self.pick(
            f"i + {n}",
            f"i - {n}",
            f"length {a}",
            "-1",
            f"(i + 1) * {n}",
            f"(if {chosen} then i - {n} else i)",
            "2147483647 - i",
        )
        wrong = f"{a} ! ({far})"
        return self.pick(
            f"mapIx (fn i x => if {chosen} then {wrong} else x) {a}",
            f"mapIx (fn i x => let far = if {chosen} then {far} else i in let y = {a} ! far in"
            f" {self.scalar('y', t, 1)}) {a}",
            f"mapIx (fn i x => foldl (fn s j => if s == x && {chosen} then {wrong} else s) x (iota 3)) {a}",
            f"mapIx (fn i x => fst (loop (fn (y, j) => j < 3) (fn (y, j) => (if j == 1 && {chosen} then {wrong} else y,"
            f" j + 1)) (x, 0))) {a}",
            f"generate (length {a}) (fn i => {a} ! (i + (if i == {n} then {n} else 0)))",
        )

    def wrong_length(self, a, t):
        """As long as the variable `a`; there is an array of a negative length in it where `a` is short, or long."""
        n = self.some("E0502")
        length = self.pick(f"length {a} - {n}", f"{n} - length {a}", f"(if length {a} > {n} then -1 else length {a})")
        return (
            f"(let few = generate ({length}) (fn i => i) in mapIx (fn i x => if i < length few then"
            f" {self.scalar('x', t, 1)} else x) {a})"
        )

    def wrong_push(self, a, t, level):
        """As long as the variable `a`, where nothing is wrong."""
        code = self.random.choice([code for code in self.faulty if code in ("E0503", "E0504", "E0505")])
        n = self.some(code)
        if code == "E0503":
            m = self.random.randint(1, 9)
            grown = (  # the last may be longer, and be no error
                f"if k == {n - 1} && (k + 1) * {m} < length {a} then 1 else 0"
            )
            return (f"concatSeq {m} (mapIx (fn k c => append (push <{level}> c) (push <{level}> (take ({grown}) c))) "
                    f"(splitUp {m} {a}))")
        place = (
            self.pick(f"if i == {n} then length {a} else i", f"i + length {a} / {n}", f"if i >= {n} then -1 else i")
            if code == "E0504"
            else self.pick(f"if i == {n} then i - 1 else i", f"if i >= {n} then i - {n} else i")
        )
        return f"permute (fn i => {place}) (push <{level}> {a})"

    def same_length(self, a, t, level=None):
        """A pull array expression as long as the variable `a`; `level`: the ambient, where forces are allowed."""
        if self.does("E0501") and self.random.randrange(3) == 0:
            return self.wrong_index(a, t)
        if self.does("E0502") and self.random.randrange(3) == 0:
            return self.wrong_length(a, t)
        combine = self.pick("x == y", "x || y") if t == "bool" else self.pick("x + y", "x - y", "max x y", "x * y")
        options = [
            f"reverse {a}",
            f"map (fn x => {self.scalar('x', t)}) {a}",
            f"mapIx (fn i x => if i % 3 == 0 then x else {self.scalar('x', t, 1)}) {a}",
            (
                f"generate (length {a}) (fn i => {a} ! ((i * {self.random.randint(1, 9)} + {self.random.randint(0, 9)})"
                f" % length {a}))"
            ),
            self.chosen_places(a, t),
            f"zipWith (fn x y => {combine}) {a} (reverse {a})",
            f"(let (x, y) = halve {a} in appendPull y x)",
            f"(let (x, y) = evenOdds {a} in appendPull x y)",
            f"map (fn ((x, i), y) => if i % 2 == 0 then x else y) (zip (mapIx (fn i x => (x, i)) {a}) (reverse {a}))",
            (
                f"(if length {a} > {self.random.randint(0, 40)} then reverse {a} else map (fn x =>"
                f" {self.scalar('x', t, 1)}) {a})"
            ),
            f"(gather (generate (length {a}) (fn i => length {a} - 1 - i)) {a})",
            self.patterned(a, t),
        ]
        if self.random.randrange(12) == 0:
            return f"{self.imported(t)} {a}"
        if level:
            step = self.scalar("x", t, 1)
            options += [f"force (push <{level}> ({self.same_length(a, t)}))"] * 3 + [
                f"force ({self.pushed(a, t, level)})",
                f"force ({self.pushed(a, t, level)})",
                (
                    f"(let b = force (push <{level}> (mapIx (fn i x => (x, i)) {a})) in map (fn (x, i) => if i % 2 == 0"
                    f" then x else {step}) (reverse b))"
                ),
                (
                    f"power {self.random.randint(0, 4)} (fn k b => push <{level}> (map (fn x => {step}) (reverse b)))"
                    f" (push <{level}> {a})"
                ),
                (
                    f"power (length {a} % 4) (fn k b => push <{level}> (map (fn x => {step}) (reverse b))) (push"
                    f" <{level}> {a})"
                ),
                (
                    f"powerAhead {self.random.randint(0, 4)} (length {a} % {self.random.randint(2, 6)}) (fn k => push"
                    f" <{level}> (generate (length {a}) (fn i => {a} ! ((i + k) % length {a})))) (fn k c b => push"
                    f" <{level}> (zipWith (fn x y => {self.mixed(t, 'x', 'y')}) b c)) (push <{level}> {a})"
                ),
                f"(if length {a} > 1 && length {a} % 2 == 1 then force (push <{level}> (reverse {a})) else {a})",
                (
                    f"(let b = while (fn b => length b > {self.random.randint(1, 9)}) (fn b => push <{level}> (let (x,"
                    f" y) = halve b in mapIx (fn i p => if i < length y then y ! i else p) x)) (push <{level}> {a}) in"
                    f" generate (length {a}) (fn i => b ! (i % length b)))"
                ),
                self.up_to(a, t, level),
                (
                    f"(let b = force (push <{level}> (map (fn x => {{ left = x, right = {step} }}) {a})) in map (fn r"
                    f" => if r.left == r.right then r.left else r.right) (reverse b))"
                ),
                (
                    f"(let b = force (push <{level}> (map (fn x => (if x == {self.literal(t)} then None else if x =="
                    f" {step} then One x else Two ({step}, x))) {a})) in mapIx (fn i o => match o with One x => x |"
                    f" Two (y, z) => if i % 2 == 0 then y else z | _ => {self.literal(t)}) b)"
                ),
            ]
            if self.random.randrange(8) == 0:
                going = "b ! 0" if t == "bool" else f"b ! (length b - 1) {self.pick('<', '!=', '>=')} {self.literal(t)}"
                return (
                    f"(let b = while (fn b => length b > 1 && {going}) (fn b => push <{level}> (let (x, y) = halve b in"
                    f" mapIx (fn i p => if i < length y then y ! i else p) x)) (push <{level}> {a}) in generate (length"
                    f" {a}) (fn i => b ! (i % length b)))"
                )
            if self.random.randrange(8) == 0:
                on = f"{a} ! 0" if t == "bool" else f"{a} ! 0 {self.pick('<', '==', '>=')} {self.literal(t)}"
                return (f"(if length {a} > {self.pick(0, 0, 5)} && {on} then force ({self.pushed(a, t, level)}) "
                        f"else {self.pick(a, f'force ({self.pushed(a, t, level)})')})")
            if level == "warp":
                true = f"push <warp> (map (fn x => x == {self.literal(t)}) {a})"
                vote = self.pick(f"anyWarp ({true})", f"allWarp ({true})", f"popcount (ballot ({true})) % 2 == 1")
                options.append(f"(let vote = {vote} in map (fn x => if vote then x else {step}) {a})")
            if t != "bool":
                options.append(f"(let s = foldl (fn p q => p * 3 + q) 1 {a} in map (fn x => x - s) {a})")
        return self.random.choice(options)

    def patterned(self, a, t):
        """As long as the variable `a`, by the prelude's patterns of networks and its folds from the right."""
        f = self.pick("reverse", f"(map (fn x => {self.scalar('x', t, 1)}))", "(rotate 1)")
        n = self.random.randint(0, 5)
        return self.pick(
            f"appendPull (evens {a}) (odds {a})",
            f"riffle {a}",
            f"riffle (two {f} {a})",
            f"(let b = {self.pick('two', 'ilv', f'binSplit {n}')} {f} {a} in generate (length {a}) (fn i => if i <"
            f" length b then b ! i else {a} ! i))",
            f"(let s = foldr (fn x s => if s == x then {self.literal(t)} else x) {self.literal(t)} {a} in map (fn x => "
            f"if x == s then {self.literal(t)} else s) {a})",
            f"(let s = if length {a} > 0 then foldr1 (fn x y => if x == y then {self.literal(t)} else x) {a} else"
            f" {self.literal(t)} in mapIx (fn i x => if i % 2 == 0 then x else s) {a})",
        )

    def imported(self, t):
        """The name of a function of another file, from arrays to arrays as long; some call what that file imports."""
        name, step = self.name("imported"), self.scalar("x", t, 1)
        if self.random.randrange(2):
            other = self.name("far")
            self.files[self.helpers[1]] += f"sig {other} : {t} -> {t}\nfun {other} x = {step}\n"
            step = f"{other} ({self.scalar('x', t, 1)})"
        faulty, self.faulty = self.faulty, []  # what is wrong is in the program itself
        body = self.pick(f"map (fn x => {step}) xs", f"map (fn x => {step}) ({self.same_length('xs', t)})")
        self.faulty = faulty
        self.files[self.helpers[0]] += f"sig {name} : [{t}] -> [{t}]\nfun {name} xs = {body}\n"
        return name

    def pipeline(self, a, t, level=None, steps=None):
        """let … in a pull array, each step on the one before."""
        text, last = "", a
        for _ in range(steps if steps is not None else self.random.randint(1, 4)):
            name = self.name("v")
            text += f"{name} = {self.same_length(last, t, level)}\n      "
            last = name
        return f"let {text}in {last}" if text else last

    # ---- push arrays ----

    def place(self, n, many):
        """Where element e of chunk k goes, of so many chunks of n elements: each to a place of its own, from 0 on."""
        size = f"({n} * {many})"
        return self.pick(
            f"k * {n} + e",
            f"e * {many} + k",
            f"{size} - 1 - (k * {n} + e)",
            f"(k * {n} + e + {self.random.randint(0, 9)}) % {size}",
            f"k * {n} + (e + k) % {n}",
            f"e * {many} + (k + e) % {many}",
            f"({many} - 1 - k) * {n} + e",
        )

    def place_into(self, a, i):
        """Where element i of `a` goes; what is behind its last element goes nowhere."""
        n = self.random.randint(0, 9)
        return self.pick(i, f"length {a} - 1 - {i}", f"(if {i} < length {a} then ({i} + {n}) % length {a} else -1)")

    def pushed(self, a, t, level):
        """A push array of the pull array variable `a`, as long as it is."""
        if {"E0503", "E0504", "E0505"} & set(self.faulty) and self.random.randrange(2):
            return self.wrong_push(a, t, level)
        n = self.random.randint(1, 9)
        of_all = [
            f"mapPush (fn x => {self.scalar('x', t, 1)}) (push <{level}> {a})",
            f"mapPushIx (fn i x => if i < {n} then x else {self.scalar('x', t, 1)}) (push <{level}> {a})",
            f"(let (x, y) = splitAt {n} {a} in append (push <{level}> x) (push <{level}> (reverse y)))",
            f"permute (fn i => length {a} - 1 - i) (push <{level}> {a})",
            f"permute (fn i => if length {a} == 0 then 0 else (i + {n}) % length {a}) (push <{level}> {a})",
            f"pushEach <{level}> (length {a}) (length {a}) (fn i => [(length {a} - 1 - i, {a} ! i)])",
            (
                f"(if length {a} % 2 == 0 then pushEach <{level}> (length {a}) (length {a} / 2) (fn i => "
                f"[(2 * i, {a} ! i), (2 * i + 1, {a} ! (length {a} - 1 - i))]) else push <{level}> {a})"
            ),
            f"concatSeq {n} (map (fn c => push <{level}> (reverse c)) (splitUp {n} {a}))",
            (
                f"(let full = length {a} / {n} * {n} in append (interleaveSeq {n} (fn (k, e) =>"
                f" {self.place(n, f'(length {a} / {n})')}) (map (fn c => push <{level}> (reverse c)) (splitUp {n} (take"
                f" full {a})))) (push <{level}> (drop full {a})))"
            ),
            f"permuteInto (length {a}) (push <{level}> (mapIx (fn i x => ({self.place_into(a, 'i')}, x)) {a}))",
            (
                f"permuteInto (length {a}) (append (push <{level}> (map (fn x => ({self.pick('-1', f'length {a}')}, x))"
                f" (take {n} {a}))) (mapPushIx (fn i x => ({self.place_into(a, 'i')}, x)) (push <{level}> {a})))"
            ),
        ]
        of_some = []  # what not all levels have
        if level == "thread":
            of_some += [
                f"scanr (fn x s => if s == x then {self.literal(t)} else x) {self.literal(t)} {a}",
                f"scanl (fn s x => if s == x then {self.literal(t)} else x) {self.literal(t)} {a}",
                f"seqfor (length {a}) (fn i before => if i % 3 == 2 then before ! (i / 2) else {a} ! i)",
                (
                    f"scanByIndex (fn s x => if s == x then {self.literal(t)} else {self.scalar('x', t, 1)})"
                    f" {self.pick(f'(take {n} {a})', f'(replicate {n} {self.literal(t)})')} (mapIx (fn i x => (i * {n}"
                    f" % 11 - 1, x)) {a})"
                ),
            ]
        else:
            of_some += [f"(load <{level}> {n} {a})", f"(pushN <{level}> {n} {a})"]
        if level == "warp":
            of_some += [f"{self.pick('shuffleUp', 'shuffleDown', 'shuffleXor')} {n} (push <warp> {a})",
                        f"shuffle (fn i => length {a} - 1 - i) (push <warp> {a})"]
            if t in FLOATS:
                tile = f"(fn i => if i < length {a} then {self.pick('f16', 'bf16', 'float')} ({a} ! i) else {n}.5)"
                of_some += [
                    f"(append (permuteInto (min 128 (length {a})) (mapPushIx (fn i x => (i, {t} x)) (mma (generate 256"
                    f" {tile}) (generate 128 {tile}) (generate 128 float)))) (push <warp> (drop 128 {a})))"
                ]
        if level == "block":
            index = "int (x & 15) - 2" if t in ("int", "uint", "i64", "u64", "u8", "i16") else f"i * {n} % 11 - 1"
            of_some += [
                f"(let (r, counts) = rankByIndex {n} (mapIx (fn i x => {index}) {a}) in mapPushIx (fn i rank => "
                f"if (rank + counts ! (i % {n})) % 2 == 0 then {a} ! i else {self.literal(t)}) r)"
            ]
        of_some += [self.update(a, t, level, None)] * 2
        if level in ("block", "grid"):
            of_some += [f"(scatter {a} (generate (length {a} / 2) (fn i => (2 * i, {a} ! i))) : [{t}]<{level}>)"]
            if t in ("int", "uint", "i64", "u64", "u8", "i16"):
                of_some += [
                    (
                        f"(reduceByIndex {self.pick('(+)', 'max', '(^)')} 0 "
                        f"(map (fn x => x & 7) {a}) (map (fn x => (int (x & 63) - 2, x & 31)) {a}) : [{t}]<{level}>)"
                    ),
                    (
                        f"(reduceByIndex (+) 0 (map (fn x => x & 7) {a}) (map (fn x => ({self.pick(0, 1, 2, -1)}, x &"
                        f" 31)) {a}) : [{t}]<{level}>)"
                    ),
                ]
            if t in INTEGERS:  # components that depend on each other
                top = 2 ** (BITS[t] - (t in SIGNED)) - 1
                of_some += [
                    f"mapPush (fn (x, i) => x + {t} i) (reduceByIndex (fn (x, i) (y, j) => if x < y || x == y && i < j"
                    f" then (x, i) else (y, j)) (({top} : {t}), 2147483647) (mapIx (fn i x => (x, i + 1)) {a}) (mapIx"
                    f" (fn i x => (i * {n} % 40 - 2, (x, i % 9))) (reverse {a})) : [({t}, int)]<{level}>)"
                ]
            if t in FLOATS:  # sums of few small numbers are exact
                of_some += [
                    f"(reduceByIndex (+) 0.0 (map (fn x => if x < 3.0 then 1.0 else 2.0) {a}) (mapIx (fn i x =>"
                    f" ({self.pick(0, 2, -1, 'i % 3', 'i % 40 - 4')}, if x < 1.0 then 4.0 else 0.5)) {a}) :"
                    f" [{t}]<{level}>)"
                ]
        return self.random.choice(of_some if self.random.randrange(2) else of_all)

    def chunked(self, t, inner, outer, body):
        """A function that splits, works on each chunk at `inner`, and puts them together at `outer`."""
        name, n = self.name("chunked"), self.pick("1", "3", "4", "7", "16", "32", "33")
        order = self.pick("", "", "reverse")
        split = "splitUpEnd" if order else "splitUp"
        turn = " |> reverse" if order else ""
        push = f"push <{inner}> ({body})"
        if self.does("E0503") and self.random.randrange(2):
            k = self.some("E0503")
            if outer == "grid":
                push = (
                    f"append (push <{inner}> ({body})) (push <{inner}> (take (if length c < {k} || c ! 0 =="
                    f" {self.literal(t)} then 0 else 1) c))"
                )
            else:  # where a last chunk whose length depends on data must not be longer than the others
                push = f"push <{inner}> (let w = {body} in drop (if length c < {k} then 0 else 1) w)"
            # Elements with places of their own would be written twice.
            return name, (f"sig {name} : [{t}] -> [{t}]<{outer}>\nfun {name} xs =\n"
                          f"  {split} {n} xs |> map (fn c => {push}){turn} |> concat {n}\n")
        if self.random.randrange(3) == 0:
            push = f"let w = {body} in {self.pushed('w', t, inner)}"
        loses = self.does("E0503")  # a chunk within may be too short for what looks at its end or has places for all
        if inner == "block" and outer == "grid" and not loses and self.random.randrange(3) == 0:
            push = self.looking_back(t, body)
        each = f"map (fn c => {push})"
        head = f"sig {name} : [{t}] -> [{t}]<{outer}>\nfun {name} xs =\n"
        form = None if loses else self.random.randrange(8)
        if form == 0:  # whole chunks, and then what is left
            return name, (f"{head}  let full = length xs / {n} * {n}\n"
                          f"      chunks = {split} {n} (take full xs) |> {each}{turn}\n"
                          f"      places (k, e) = {self.place(n, f'(length xs / {n})')}\n"
                          f"  in append (interleave {n} places chunks) (push <{outer}> (drop full xs))\n")
        if form == 1:
            return name, (f"{head}  let places (k, e) = {self.place_into('xs', f'(k * {n} + e)')}\n"
                          f"  in {split} {n} xs |> {each}{turn} |> interleaveInto (length xs) places\n")
        if form == 2:  # of each chunk an element too many, which goes nowhere
            return (
                name,
                (
                    f"{head}  let places (k, e) = if e < {n} then {self.place_into('xs', f'(k * {n} + e)')} else -1\n"
                    f"  in {split} {n} xs |> map (fn c => append ({push}) (push <{inner}> (take 1 c))){turn} |> "
                    "interleaveInto (length xs) places\n"
                ),
            )
        if form == 3:  # tiles of a matrix, of which some reach over its borders, and then what is left
            width, side = self.random.randint(1, 9), self.random.randint(1, 4)
            across = (width + side - 1) // side
            return (
                name,
                (
                    f"{head}  let rows = length xs / {width}\n      tiles = split2DGrid {side} {width} {across} (divUp"
                    f" rows {side}) xs |> {each}\n      places (k, e) = let (x, y) = (k % {across} * {side} + e %"
                    f" {side}, k / {across} * {side} + e / {side})\n                      in if x < {width} && y < rows"
                    f" then y * {width} + x else -1\n  in append (interleaveInto ({width} * rows) places tiles) (push"
                    f" <{outer}> (drop ({width} * rows) xs))\n"
                ),
            )
        return name, f"{head}  {split} {n} xs |> {each}{turn} |> concat {n}\n"

    def looking_back(self, t, body):
        """What a block does with its chunk depends on what the blocks before it have told."""
        form = self.random.randrange(4)
        if form == 0:  # their lengths
            m = self.random.randint(1, 300)
            return (
                f"let w = {body}\n      found = lookbackCounts (generate {m} (fn d => d % 3 * length w))\n"
                f"    in push <block> (mapIx (fn i x => if found ! (i % {m}) % 2 == 0 then x else {self.literal(t)}) w)"
            )
        if form == 1 and t in INTEGERS:
            f, neutral = self.pick(("(+)", "0"), ("(^)", "0"), ("(|)", "0"), ("(&)", f"(~ (0 : {t}))"))
            found = f"lookback {f} {neutral} (w ! (length w / 2))"
        elif form == 2 and t in INTEGERS:  # what they do to a number, one after another
            found = f"snd (lookback (fn (a, b) (c, d) => (a * c, b * c + d)) (1, 0) (w ! 0, ({t} (length w))))"
        else:  # the last of them that is not the neutral element
            neutral = "1.5" if t in FLOATS else self.literal(t)
            found = f"lookback (fn x y => if y == {neutral} then x else y) {neutral} (w ! (length w - 1))"
        return (
            f"let w = {body}\n      found = {found}\n    in push <block> (mapIx (fn i x => if i % 3 == 0 || x == found"
            f" then found else {self.scalar('x', t, 1)}) w)"
        )

    def compacted(self, name, t):
        """Which elements are left, and so how many, depends on them; blocks look back for how many are left before
        theirs."""
        self.arguments[name] = self.arrays(t)
        n = self.pick("3", "16", "33", "256")
        kept = self.pick(
            f"x {self.pick('<', '>=', '!=')} {self.literal(t)}", f"{self.literal(t)} < {self.scalar('x', t, 1)}"
        )
        result = self.pick("left", "(length left, left)", f"push <grid> (map (fn x => {self.scalar('x', t, 1)}) left)")
        left = (
            f"forceUpTo {self.pick('(length xs)', '(min 20 (length xs))')} (concat {n} (mapIx chunk (splitUp {n} xs)))"
        )
        return (f"kernel {name} (xs : [{t}]) =\n  let kept x = {kept}\n      chunk c tile =\n"
                f"        let ranks = force (scanBlock (+) (map (fn x => if kept x then 1 else 0) tile))\n"
                f"            before = lookback (+) 0 (last ranks)\n"
                f"            place i x = if kept x then before + ranks ! i - 1 else -1\n"
                f"            said i = if c * {n} + i == length xs - 1 then before + last ranks else -1\n"
                f"        in push <block> (mapIx (fn i x => (said i, place i x, x)) tile)\n"
                f"      left = {left}\n  in {result}\n")

    # ---- several parameters ----

    def value(self, t):
        """A scalar as an argument."""
        if t == "bool":
            return self.pick("true", "false")
        if t in FLOATS:
            return self.pick("0.0", "-0.0", "1.5", "-2.25", "60000" if t == "f16" else "1e10", "nan", "inf", "-inf")
        top = 2 ** (BITS[t] - (t in SIGNED)) - 1
        return str(
            self.pick(self.random.randint(0, 9), self.random.randint(0, 99), top, -top - 1 if t in SIGNED else top - 1)
        )

    def several(self, name, t):
        """Scalars, a tuple and arrays of other lengths, which the functions of elements read, too; a param, a
        recursion."""
        u, v = self.random.choice(TYPES), self.random.choice(TYPES)
        has_pairs = self.random.randrange(2)
        again, width, base = self.name("again"), self.name("width"), self.name("base")
        env = [("i", "int"), ("x", t), ("y", u), ("n", "int"), ("s", v), ("q", "int"), ("r", v), (base, v)]
        env += [("a", "int"), ("b", v)] if has_pairs else []
        parameters = [("n", "int"), ("s", v), ("p", f"(int, {v})"), ("xs", f"[{t}]"), ("ys", f"[{u}]")]
        if has_pairs:
            parameters.append(("pairs", f"[(int, {v})]"))
        self.random.shuffle(parameters)
        at = self.pick("i", "length ys - 1 - i", f"i * {self.random.randint(1, 9)}")
        text = (
            f"param {width} : int = {self.pick(3, 16, 33)} in {{3, 16, 32, 33}}\nval {base} ="
            f" ({self.scalar(self.literal(v), v, 1)} : {v})\nfun {again} n x = if n == 0 then x else {again} (n - 1)"
            f" ({self.scalar('x', t, 1)})\nkernel {name} {' '.join(f'({p} : {kind})' for p, kind in parameters)} =\n "
            f" let (q, r) = p\n      zs = mapIx (fn i x => let y = if 0 <= {at} && {at} < length ys then ys ! ({at})"
            f" else {self.literal(u)}\n"
        )
        if has_pairs:
            text += (f"                            (a, b) = if length pairs > 0 then pairs ! (i % length pairs) "
                     f"else (7, {self.literal(v)})\n")
        results = [self.random.choice([t, u, v]), self.random.choice(TYPES)]
        text += f"        in {self.values(env, results, 2, self.anything)}) xs\n"
        first = results[0]
        chunk = self.pick(width, "max 1 (n & 63)", "max 1 (length ys)")
        body = self.pipeline("c", first, "block", 2)
        text += f"      (as1, bs1) = unzip zs\n      once = map (fn x => {again} {self.random.randint(0, 4)} x) xs\n"
        text += (
            "  in "
            + self.pick(
                "push <grid> zs",
                "(n + length ys, r, push <grid> zs)",
                "(push <grid> as1, push <grid> once)",
                f"(splitUp ({chunk}) as1 |> map (fn c => push <block> ({body})) |> concat ({chunk}) : [{first}]<grid>)",
                f"(splitUp ({chunk}) as1 |> map (fn c => push <block> (mapIx (fn i x => if n > i then x else"
                f" {self.literal(first)}) ({body}))) |> concat ({chunk}) : [{first}]<grid>)",
            )
            + "\n"
        )
        self.arguments[name] = []
        for few, many in (
            ("[]", "[]"),
            ("[]", "random:7:2"),
            ("random:7:1", "[]"),
            ("random:33:1", "random:40:2"),
            ("random:257:3", "random:5:4"),
        ):
            given = {
                "n": self.pick("0", "1", "5", "-3", "100", "2147483647"),
                "s": self.value(v),
                "p": f"({self.value('int')},{self.value(v)})",
                "xs": few,
                "ys": many,
                "pairs": self.pick("[]", f"[({self.value('int')},{self.value(v)}),(3,{self.value(v)})]"),
            }
            self.arguments[name].append(" ".join(given[p] for p, _ in parameters))
        return text

    def whole(self, name, t):
        """Functions of the prelude on whole arrays whose results depend on data, one after another."""
        self.arguments[name] = self.arrays(t)
        kept = "x" if t == "bool" else f"x {self.pick('<', '>=', '!=')} {self.literal(t)}"
        true = f"(fn x => {kept})"
        f, neutral = ("(||)", "false") if t == "bool" else self.pick(("max", None), ("min", None), ("(+)", "0"))
        if t in FLOATS:  # sums of which are not the same in every order
            f, neutral = self.pick(("max", "(-1.0 / 0.0)"), ("min", "(1.0 / 0.0)"))
        elif neutral is None:
            top = 2 ** (BITS[t] - (t in SIGNED)) - 1
            neutral = f"({top} : {t})" if f == "min" else f"(-{top} - 1 : {t})" if t in SIGNED else "0"
        keys = f"map (fn x => ({self.pick('x', f'if {kept} then 1 else 0')}, x)) a"
        flags = f"map {true} a"
        ordered = (
            "(fn x y => x <= y)"
            if t not in ("bool", *FLOATS)
            else "(fn x y => orderBits x <= orderBits y)" if t in FLOATS else "(fn x y => not x || y)"
        )
        step = lambda: self.random.choice(
            [  # noqa: E731
                f"filter {true} a",
                f"scan {f} {neutral} a |> force",
                f"scanExclusive {f} {neutral} a |> force",
                "unique a",
                f"segScan {f} {neutral} ({flags}) a |> force",
                f"segReduce {f} {neutral} ({flags}) a",
                f"fst (partition {true} a)",
                f"snd (partition {true} a)",
                f"map snd (reduceByKey {f} {neutral} ({keys}))",
                "map fst (runLengths a)",
                f"sortBy {ordered} a |> force",
                f"rotate ({self.random.randint(-9, 9)}) a",
            ]
            + (["sort a |> force"] if t != "bool" else [])
        )
        x = self.scalar("x", t, 1)
        if t in FLOATS:  # no number is neutral with NaN
            x = f"let y = {x} in if isnan y then 1.5 else y"
        text = f"kernel {name} (xs : [{t}]) =\n  let a = map (fn x => {x}) xs\n"
        for _ in range(self.random.randint(1, 3)):
            text += f"      a = force (push <grid> a)\n      a = {step()}\n"
        result = self.pick(
            "push <grid> a",
            f"(length a, count {true} a, push <grid> a)",
            f"(reduce {f} {neutral} a, push <grid> a)",
        )
        return f"{text}  in {result}\n"

    # ---- states: tuples of arrays and scalars that steps store ----

    def into(self, t, u, e):
        """An expression of type u as one of type t."""
        return e if t == u else f"({t} {e})"

    def mixed(self, t, x, y):
        return f"({x} != {y})" if t == "bool" else self.pick(f"({x} + {y})", f"(max {x} {y})", f"({x} - {y})")

    def nested(self, parts):
        """A tuple of these, or one of a tuple of the first two and of the others."""
        if len(parts) > 2 and self.is_nested:
            return f"(({parts[0]}, {parts[1]}), {', '.join(parts[2:])})"
        return f"({', '.join(parts)})" if len(parts) > 1 else parts[0]

    def update(self, a, t, level, old):
        """An update of the array `a`, of which the result does not depend on the order of its pairs: places are
        apart, or the operator is exact. `old`: what pairs put there, of j, on top of old elements of `a`; or None."""
        m, step, off = self.random.randint(1, 9), self.random.randint(1, 4), self.random.randint(-2, 3)
        count = self.pick(f"(length {a} / {step})", str(m), f"(length {a} / 2 + 1)", "0", f"(length {a})")
        values = [
            self.literal(t),
            self.into(t, "int", "j"),
            f"(if length {a} > 0 then {a} ! ((j * {m} + 1) % length {a}) else {self.literal(t)})",
        ]
        values += [old] * 2 if old else []
        x, y = self.random.choice(values), self.random.choice(values)
        name = (
            self.pick("scatter", "scatter", "scatterEach", "scatterEachPush")
            if t in FLOATS
            else self.pick(
                "scatter",
                "scatterEach",
                "scatterEachPush",
                "reduceByIndex",
                "reduceByIndex",
                "reduceByIndexEach",
                "reduceByIndexEachPush",
            )
        )
        place = (
            f"j * {step} + {off}"
            if name.startswith("scatter")
            else self.pick(f"j * {m} % 40 - 2", f"j % {m}", "0", f"j / {step}")
        )
        start = f"({name} {a}"
        if name.startswith("reduce"):
            operator = (
                "(fn x y => x != y) false"
                if t == "bool"
                else self.pick("(+) 0", "(^) 0", f"max {-2 ** (BITS[t] - 1) if t in SIGNED else 0}")
            )
            operator = operator.replace("max -", "max (-") + (")" if "max -" in operator else "")
            start = f"({name} {operator} {a}"
        if name.endswith("Push"):  # as many as the element says
            pair = f"fn q => (j * {step + 3} + q + {off}, if q == 0 then {x} else {y})"
            pairs = (
                f"generate {count} (fn j => push <thread> (generate {self.pick('(j % 4)', '2', '(j / 3 % 3)')}"
                f" ({pair})))"
            )
        elif name.endswith("Each"):
            second = f"{place} + 1" if step > 1 or name.startswith("reduce") else f"-1 - ({place} + 2)"
            pairs = f"generate {count} (fn j => [({place}, {x}), ({second}, {y})])"
        else:
            pairs = f"generate {count} (fn j => ({place}, {x}))"
        return f"{start} ({pairs}) : [{t}]<{level}>)"

    def stored_next(self, a, t, level, arrays, scalars, bound):
        """What a step makes of the array `a` of its state, and what that is."""
        other, u = self.random.choice(arrays)
        s, v = self.random.choice(scalars) if scalars else (self.literal(t), t)
        kind = self.pick(
            "handed on", "same", "same", "scheme", "mixed", "mixed", "forced", "shrunk", "grown", *["updated"] * 6
        )
        if kind == "updated":
            old = self.pick(
                None,
                self.into(t, v, s),
                f"(if j < length {other} then {self.into(t, u, f'({other} ! j)')} else {self.literal(t)})",
            )
            text = self.update(a, t, level, old)
            if self.random.randrange(4) == 0:
                instead = self.pick(f"push <{level}> {a}", f"push <{level}> {a}", self.update(a, t, level, old))
                return (
                    f"(if length {other} % 2 == {self.pick(0, 1)} then {text} else {instead})",
                    "states updated in a branch",
                )
            if self.random.randrange(4) == 0:
                w = self.name("w")
                after = self.pick(
                    f"push <{level}> {w}",
                    self.update(w, t, level, old),
                    f"push <{level}> (mapIx (fn j x => if j % 2 == 0 then x else {a} ! j) {w})",
                )
                return f"(let {w} = force {text} in {after})", "states updated twice"
            return text, "states updated"
        if kind == "handed on":
            return f"push <{level}> {a}", "states handed on"
        if kind == "scheme" and not (level == "grid" and self.random.randrange(2)):
            return self.pushed(a, t, level), None
        if kind == "forced":
            w = self.name("w")
            return f"(let {w} = force ({self.pushed(a, t, level)}) in push <{level}> (reverse {w}))", None
        if kind == "mixed":
            x = self.mixed(
                t,
                "x",
                self.pick(
                    self.into(t, v, s),
                    f"(if j < length {other} then {self.into(t, u, f'({other} ! j)')} else x)",
                    f"(if j > 0 then {a} ! (j - 1) else x)",
                    f"({a} ! (length {a} - 1 - j))",
                ),
            )
            return f"push <{level}> (mapIx (fn j x => {x}) {a})", None
        if kind == "shrunk":
            x = self.pick(
                f"take (length {a} - 1) {a}", f"take (length {a} / 2 + 1) {a}", f"drop 1 {a}", f"fst (halve {a})"
            )
            return f"push <{level}> ({x})", "states that shrink"
        if kind == "grown" and bound:
            if level != "grid":
                more = (
                    f"generate (min {bound} (length {a} + 1)) (fn j => if j < length {a} then {a} ! j else"
                    f" {self.literal(t)})"
                )
                return f"push <{level}> ({more})", "states that grow, below grid"
            return (
                self.pick(
                    f"append (push <grid> {a}) (push <grid> (take 5 {a}))",
                    f"push <grid> (appendPull (take 99 {a}) {a})",
                    f"push <grid> (generate (length {a} + 1) (fn j => if j == 0 then {self.literal(t)} else {a} ! (j -"
                    " 1)))",
                ),
                "states that grow, at grid",
            )
        return f"push <{level}> ({self.same_length(a, t)})", None

    def stepped(self, name, t):
        """`while`, `power` and `force` over tuples of arrays and scalars, at a level of the four."""
        level = self.random.choice(LEVELS)
        if level != "grid" and self.does("E0503"):  # what is too long there may be too long for its memory first
            level = "grid"
        bound = self.random.randint(1, 12)
        types = [t] + [self.pick(t, self.random.choice(TYPES)) for _ in range(self.random.randint(0, 2))]
        kinds = [self.random.choice(TYPES) for _ in range(self.random.randint(0, 2))]
        arrays, scalars = [(self.name("a"), u) for u in types], [(self.name("s"), u) for u in kinds]
        self.is_nested = self.random.randrange(3) == 0
        form = self.pick("power", "power", "while", "while", "force")
        counter = [("k", "int")] if form == "while" else []
        pattern = self.nested([a for a, _ in arrays + scalars + counter])
        source = "xs" if level == "grid" else "c"

        order = list(arrays)
        if self.random.randrange(2):
            self.random.shuffle(order)
        if self.random.randrange(4) == 0:  # two arrays come from one
            at = self.random.randrange(len(order))
            order[at] = self.random.choice([one for one in arrays if one[1] == order[at][1]])
        takes = {u: [a for a, v in order if v == u] for u in types}  # in another order they are exchanged
        exchanged = any(takes[u] != [a for a, v in arrays if v == u] for u in types)
        self.made["states exchanged"] += exchanged
        if exchanged and level != "grid":  # below it what an array becomes is no longer than it was in the beginning
            bound = None

        def start(u):
            view = self.pick(
                source, f"reverse {source}", *([f"take {bound} {source}", f"drop 1 {source}"] if bound else [])
            )
            return f"push <{level}> ({view if u == t else f'map (fn x => {self.into(u, t, chr(120))}) ({view})'})"

        def first(u):
            return self.pick(self.literal(u), self.into(u, "int", f"(length {source})"), self.into(u, "int", "n"))
        begin = self.nested([start(u) for u in types] + [first(u) for u in kinds] + ["0"] * len(counter))
        new = []
        for _, u in arrays:
            text, what = self.stored_next(takes[u].pop(0), u, level, arrays, scalars, bound)
            self.made[what or "states stepped otherwise"] += 1
            new.append(text)
        index = "k" if form != "force" else "0"
        for s, u in scalars:
            a, v = self.random.choice(arrays)
            other, w = self.random.choice(scalars)
            new.append(
                self.pick(
                    s,
                    self.into(u, w, other),
                    self.mixed(u, s, self.into(u, "int", f"(length {a})")),
                    self.mixed(u, s, self.into(u, "int", index)),
                    self.scalar(s, u, 1),
                    self.mixed(
                        u, s, f"(if length {a} > 0 then {self.into(u, v, f'({a} ! (length {a} - 1))')} else {s})"
                    ),
                )
            )
        steps = self.pick("n", "n", str(self.random.randint(0, 4)), "(n + 1)", f"(length {source} % 4)")
        if form == "while":
            a, v = self.random.choice(arrays)
            more = self.pick(
                "",
                "",
                f" && length {a} > {self.random.randint(0, 4)}",
                f" && (length {a} == 0 || {'not ' if v == 'bool' else ''}{a} !"
                f" 0{'' if v == 'bool' else f' != {self.literal(v)}'})",
            )
            if scalars and self.random.randrange(3) == 0:
                s, v = self.random.choice(scalars)
                more = f" && {s}" if v == "bool" else f" && {s} != {self.literal(v)}"
            run = (
                f"while (fn {pattern} => k < {steps}{more}) (fn {pattern} => {self.nested(new + ['k + 1'])})"
                f" {self.braced(begin)}"
            )
        elif form == "power":
            run = f"power {steps} (fn k {pattern} => {self.nested(new)}) {self.braced(begin)}"
        else:
            run = f"let {pattern} = force {self.braced(begin)} in force {self.braced(self.nested(new))}"
        self.made[f"{form} over tuples at {level}"] += len(arrays + scalars + counter) > 1
        self.made[f"states of {len(arrays)} arrays and {len(scalars + counter)} scalars"] += 1
        head = f"kernel {name} (n : int) (xs : [{t}]) =\n  "
        self.arguments[name] = [f"{self.pick(0, 1, 2, 3, 5)} {argument}" for argument in self.arrays(t)] + [
            "4 " + self.arrays(t)[-1]
        ]
        if level == "grid" and self.random.randrange(2):  # as it is
            return f"{head}{run if form != 'force' or self.random.randrange(2) else f'({run})'}\n"
        seen = [
            f"(if length {a} > 0 then {self.into(t, u, f'({a} ! (i % length {a}))')} else {self.literal(t)})"
            for a, u in arrays
        ]
        seen += [self.into(t, "int", f"(length {a})") for a, _ in arrays] + [
            self.into(t, u, s) for s, u in scalars + counter
        ]
        x = seen[0]
        for y in seen[1:]:
            x = self.mixed(t, x, y)
        result = f"let {pattern} = {run} in push <{level}> (generate (length {source}) (fn i => {x}))"
        return head + self.at_level(level, result, t)

    def at_level(self, level, body, t):
        """The body of a kernel that makes elements of type `t` from `xs`; below grid from each chunk `c` of it."""
        if level == "grid":
            return f"{body}\n"
        chunk = self.random.choice({"thread": [1, 3, 7], "warp": [3, 16, 33, 40], "block": [7, 33, 64, 300]}[level])
        return f"(splitUp {chunk} xs |> map (fn c => {body}) |> concat {chunk} : [{t}]<grid>)\n"

    # ---- updates: which arrays are read later, and which can be written in place ----

    def condition(self, a, t):
        """Of the scalar n or of the array `a`, alike for all threads of a level."""
        seen = f"{a} ! 0" if t == "bool" else f"{a} ! (length {a} / 2) {self.pick('<', '!=', '>=')} {self.literal(t)}"
        return self.pick(
            "n > 2", "n % 2 == 0", f"length {a} % 2 == 1", f"length {a} > 0 && {seen}", f"length {a} > 0 && {seen}"
        )

    def updated_once(self, t, level, arrays, depth=2):
        """A push array, as long as the others, most often an update of one of these."""
        a, b = self.random.choice(arrays), self.random.choice(arrays)
        form = self.random.randrange(10) if depth else 0
        if form < 4:
            old = self.pick(None, f"(if j < length {b} then {b} ! j else {self.literal(t)})",
                            f"(if length {b} > 0 then {b} ! ((j * 5 + 2) % length {b}) else {self.literal(t)})")
            return self.update(a, t, level, old)
        if form == 4:
            return self.pick(f"push <{level}> {a}", f"push <{level}> (reverse {a})")
        if form == 5:
            return f"push <{level}> (zipWith (fn x y => {self.mixed(t, 'x', 'y')}) {a} {b})"
        if form in (6, 7):
            return (f"(if {self.condition(a, t)} then {self.updated_once(t, level, arrays, depth - 1)} "
                    f"else {self.updated_once(t, level, arrays, depth - 1)})")
        steps = self.pick("n", "(n % 3)", str(self.random.randint(0, 3)))
        q = self.name("q")
        if form == 8:
            return (
                f"(push <{level}> (power {steps} (fn k {q} =>"
                f" {self.updated_once(t, level, arrays + [q, q, q], depth - 1)}) (push <{level}> {a})))"
            )
        r = self.name("r")
        one, other = (self.updated_once(t, level, arrays + [q, r, q, r], depth - 1) for _ in range(2))
        return (
            f"(let ({q}, {r}) = power {steps} (fn k ({q}, {r}) => ({one}, {other})) (push <{level}> {a}, push <{level}>"
            f" {b}) in {self.updated_once(t, level, arrays + [q, r, q, r], depth - 1)})"
        )

    def updated(self, name, t):
        """Arrays of one length, of which each is most often an update of one before; some are read again later, and
        some are not."""
        level = self.random.choice(LEVELS)
        source = "xs" if level == "grid" else "c"
        arrays, text, seen = [self.name("a")], "", []
        text = f"{arrays[0]} = force (push <{level}> {source})"
        for _ in range(self.random.randint(2, 6)):
            a = self.name("a")
            text += (
                f"\n      {a} = force ({self.updated_once(t, level, self.random.sample(arrays, min(len(arrays), 2)))})"
            )
            arrays.append(a)
            if self.random.randrange(4) == 0:
                s = self.name("s")
                text += (
                    f"\n      {s} = if length {a} > 1 then {self.random.choice(arrays)} ! (length {source} - 1) else"
                    f" {self.literal(t)}"
                )
                seen.append(s)
        used = self.random.sample(arrays, self.random.randint(1, min(3, len(arrays))))
        x = f"({used[0]} ! i)"
        for y in [f"({a} ! (length {source} - 1 - i))" for a in used[1:]] + seen:
            x = self.mixed(t, x, y)
        result = f"push <{level}> (generate (length {source}) (fn i => {x}))"
        self.arguments[name] = [f"{self.pick(0, 1, 2, 3)} {argument}" for argument in self.arrays(t)] + [
            "4 " + self.arrays(t)[-1]
        ]
        head = f"kernel {name} (n : int) (xs : [{t}]) =\n  "
        if level == "grid":
            parts = (
                [result] + [f"push <grid> {a}" for a in self.random.sample(arrays, self.random.randint(0, 2))] + seen
            )
            return f"{head}let {text}\n  in {f'({chr(44).join(parts)})' if len(parts) > 1 else result}\n"
        return head + self.at_level(level, f"let {text}\n  in {result}", t)

    # ---- results with shapes ----

    def matrix(self, t, rank, level, known):
        """Something of that rank, 2 or 3, with rows equally long; `known`: names of what there is, by rank."""
        width = self.pick(1, 2, 3, 7, "n", f"(if length xs > 0 && xs ! 0 == {self.literal(t)} then 2 else 3)")
        m = self.random.choice(known[2])
        other = self.random.choice(known[2])
        step = self.scalar("x", t, 1)
        if rank == 3:
            v = self.random.choice(known[3])
            return self.pick(
                v,
                f"fullRows {width} {m}",
                f"reverse {v}",
                f"map (map (map (fn x => {step}))) {v}",
                f"map (map reverse) {v}",
                f"map reverse {v}",
                f"map (fn p => map (fn r => {self.same_length('r', t)}) p) {v}",
                f"map (fn p => generate (columns p) (fn j => map (fn r => r ! j) p)) {v}",
                f"generate {width} (fn k => map (fn r => mapIx (fn j x => if (j + k) % 2 == 0 then x else {step}) r)"
                f" {m})",
                f"generate {width} (fn k => {m})",
                f"zipWith (zipWith (zipWith (fn x y => {self.mixed(t, 'x', 'y')}))) {v} (reverse {v})",
                f"fullRows {width} (fullRows {self.pick(1, 2, 5)} (force (push <{level}> (flatten {m}))))",
                f"(if length {v} > {self.pick(0, 1, 2)} then {v} else map (map reverse) {v})",
            )
        return self.pick(
            m,
            f"map reverse {m}",
            f"reverse {m}",
            f"map (map (fn x => {step})) {m}",
            f"map (take {self.random.randint(0, 4)}) {m}",
            f"map (fn r => {self.same_length('r', t)}) {m}",
            f"mapIx (fn i r => mapIx (fn j x => if (i + j) % 3 == 0 then x else {step}) r) {m}",
            f"generate (columns {m}) (fn j => generate (length {m}) (fn i => {m} ! i ! j))",
            f"appendPull {m} (reverse {m})",
            f"zipWith (zipWith (fn x y => {self.mixed(t, 'x', 'y')})) {m} {other}",
            f"take {self.random.randint(0, 3)} {m}",
            f"generate {width} (fn i => generate {self.pick(0, 1, 4, 9, 'n')} (fn j => if i < length xs then xs ! i"
            f" else {self.into(t, 'int', 'j')}))",
            f"fullRows {width} xs",
            f"fullRows {width} (flatten {m})",
            f"fullRows {width} (force (push <{level}> ({self.same_length('xs', t)})))",
            f"fullRows {width} (force (push <{level}> (flatten {m})))",
            f"flatten {self.random.choice(known[3])}",
            f"fullRows {width} (power n (fn k b => push <{level}> (map (fn x => {step}) (reverse b))) (push <{level}>"
            f" xs))",
            f"(if length {m} > {self.random.randint(0, 5)} then {m} else map reverse {m})",
            f"map (fn p => map (foldl (fn s x => {self.mixed(t, 's', 'x')}) {self.literal(t)}) p)"
            f" {self.random.choice(known[3])}",
        )

    def ragged_planes(self, t, v):
        """The same of three dimensions, or two of these put together: rows or planes that are not equally long."""
        k = self.some("E0512")
        fewer = self.pick("take 1 r", "drop 1 r", "appendPull r r", f"take {k - 1} r")
        ragged = self.pick(
            f"map (fn p => mapIx (fn i r => if i == {k} then {fewer} else r) p) {v}",
            f"mapIx (fn i p => if i == {k} then map (fn r => {fewer}) p else p) {v}",
            f"mapIx (fn i p => if i == {k} then take 1 p else p) {v}",
            f"map (fn p => appendPull (map (fn r => {fewer}) p) p) {v}",
            f"map (fn p => splitUp {k + 1} (flatten p)) {v}",
        )
        return self.pick(ragged, f"generate {self.pick(1, 2)} (fn g => {ragged})", f"flatten ({ragged})",
                         f"map flatten ({ragged})")

    def ragged(self, t, m):
        """Rows of the matrix, of which some are shorter or longer than the others, if there are any."""
        k = self.some("E0512")
        fewer = self.pick("take 1 r", "drop 1 r", "appendPull r r", f"take {k} r")
        return self.pick(f"mapIx (fn i r => if i == {k} then {fewer} else r) {m}", f"splitUp {k + 1} (flatten {m})",
                         f"map (fn r => if length r > 0 && r ! 0 == {self.literal(t)} then {fewer} else r) {m}")

    def shaped(self, name, t):
        """Matrices, and arrays of three dimensions: what is made of them, how long their rows are, and they
        themselves."""
        level = self.pick("grid", "grid", "grid", "block")
        known, text = {2: ["m"], 3: ["v"]}, ""
        for _ in range(self.random.randint(1, 4)):
            rank = self.pick(2, 2, 3)
            a = self.name("a")
            text += f"      {a} = {self.matrix(t, rank, level, known)}\n"
            known[rank].append(a)
        last = known[rank][-1]
        parts = [self.pick(last, f"map (map (fn x => (x, {self.literal('int')}))) {last}") if rank == 2 else last]
        for _ in range(self.random.randint(0, 2)):
            m, v = self.random.choice(known[2]), self.random.choice(known[3])
            parts.append(
                self.pick(
                    m,
                    v,
                    f"columns {m}",
                    f"columns {v}",
                    f"columns (flatten {v})",
                    f"length {m}",
                    f"flatten {m}",
                    f"flatten (flatten {v})",
                    f"map (fn r => {self.same_length('r', t, 'thread')}) {m}",
                    f"map (fn r => length r) {m}",
                    f"(columns {m}, {m})",
                )
            )
        if level == "block" or self.random.randrange(5) == 0:
            parts.append(f"push <{level}> (flatten {known[2][-1]})")
        if self.does("E0512"):
            parts.append(self.pick(self.ragged(t, self.random.choice(known[2])),
                                   self.ragged_planes(t, self.random.choice(known[3]))))
        self.random.shuffle(parts)
        result = f"({', '.join(parts)})" if len(parts) > 1 else parts[0]
        self.arguments[name] = []
        for shape, deep in (
            ("0x4", "0x3x2"),
            ("3x0", "2x0x3"),
            ("1x1", "1x1x1"),
            ("2x3", "2x3x0"),
            ("7x5", "3x1x4"),
            ("33x17", "4x3x5"),
        ):
            self.arguments[name].append(
                f"{self.pick(0, 1, 2, 5)} random:{shape}:1 random:{deep}:2"
                f" {self.pick('[]', 'random:7:3', 'random:40:3')}"
            )
        return (f"kernel {name} (n : int) (m : [[{t}]]) (v : [[[{t}]]]) (xs : [{t}]) = -- shapes\n  let {text.lstrip()}"
                f"  in {result}\n")

    def bordered(self, name, t):
        """Elements that depend on where they are: the index, or a part of it by rows, is compared and clamped."""
        constant = lambda: self.pick("0 - 1", "0", "1", "2", "5", "63", "64", "65", "100", "2147483647", "-2147483648")
        widths = ["n", "3", "64", "(n + 1)"]
        row, box = self.random.choice(widths), self.random.choice(widths)
        parts = ["i", "i", f"(i / {row})", f"(i % {row})", f"(i / ({row} * {box}))", f"(i / {row} % {box})"]
        part = lambda: f"({self.random.choice(parts)} {self.pick('+', '-')} {self.random.randint(0, 3)})"
        limits = ["length xs", "length xs - 1", "n", "n - 1", row, f"{row} - 1", f"{box} - 2", "m"]
        limit = lambda: f"({constant() if self.random.randrange(3) == 0 else self.random.choice(limits)})"

        def condition(depth=2):
            if depth and self.random.randrange(2):
                return f"({condition(depth - 1)} {self.pick('&&', '||')} {condition(depth - 1)})"
            sides = [part(), limit()]
            self.random.shuffle(sides)
            return f"({sides[0]} {self.pick('<', '<=', '>', '>=', '==', '!=')} {sides[1]})"

        def element(depth=3):
            kind = self.random.randrange(5) if depth else self.random.randrange(2)
            if kind == 0:
                return f"xs ! clamp 0 (length xs - 1) (clamp {limit()} {limit()} {part()})"
            if kind == 1:
                return f"(let e = {part()} in if e >= 0 && e < length xs then xs ! e else {self.literal(t)})"
            return f"(if {condition()} then {element(depth - 1)} else {element(depth - 1)})"

        self.arguments[name] = []
        for size in (0, 1, 2, 64, 66, 257, 1000):
            n = self.random.choice([0, 1, 2, 3, 10, 31, 100, size, -1])
            m = self.random.choice([0, 1, 7, 65, size - 1, 2147483647, -5])
            self.arguments[name].append(f"{n} {m} {'[]' if not size else f'random:{size}:{size}'}")
        return (f"kernel {name} (n : int) (m : int) (xs : [{t}]) =\n"
                f"  push <{self.pick('grid', 'grid', 'grid', 'block')}> (generate (length xs) (fn i => {element()}))\n")

    @staticmethod
    def braced(text):
        return text if text.startswith("(") else f"({text})"

    # ---- kernels ----

    def arrays(self, t):
        few = {"bool": ["[true]", "[false,true]"]}.get(t, ["[5]", "[2,1]"])
        more = ["random:7:1", "random:33:2", "random:257:4"]
        if t == "int":
            more.append("random:100:3:-2147483648:2147483647")
        if t in FLOATS:
            more += ["random:100:3:-1000:1000", "[nan,inf,-inf,-0.0,0.0,1.5,-2.25]"]
        return ["[]"] + few + more

    def kernel(self):
        name, form, t = self.name("k"), self.random.randint(0, 37), self.random.choice(TYPES)
        self.arguments[name] = self.arrays(t)
        if self.only:
            return name, getattr(self, self.only)(name, t)
        if form == 0:
            level = self.random.choice(LEVELS)
            limit = {"thread": 9, "warp": 40, "block": 300, "grid": 5000}[level]
            return (
                name,
                (
                    f"kernel {name} (xs : [{t}]) =\n  let a = take {limit} xs\n      b ="
                    f" {self.pipeline('a', t, level)}\n  in"
                    f" {self.pick(f'push <{level}> b', self.pushed('b', t, level))}\n"
                ),
            )
        if form == 6:  # a scalar and an array, in a tuple
            return (
                name,
                (
                    f"kernel {name} (xs : [{t}]) =\n  let b = force (push <grid>"
                    f" ({self.pipeline('xs', t, 'grid', 2)}))\n  in (length b, if length b > 3 then b ! (length b / 2)"
                    f" else {self.literal(t)}, map (fn x => {self.scalar('x', t, 1)}) b)\n"
                ),
            )
        if form == 7:  # a matrix
            self.arguments[name] = ["random:3x5:1", "random:1x7:2", "random:6x1:3", "random:33x17:4"]
            return (
                name,
                (
                    f"kernel {name} (m : [[{t}]]) =\n  let rows = map (fn r => foldl (fn x y => if x == y then"
                    f" {self.scalar('y', t, 1)} else x) {self.literal(t)} (reverse r)) m\n  in push"
                    f" <{self.pick('block', 'grid')}> ({self.pipeline('rows', t, None, 1)})\n"
                ),
            )
        if form == 10:
            return name, self.compacted(name, t)
        if form in (11, 12):
            return name, self.several(name, t)
        if form in (13, 14):
            return name, self.whole(name, t)
        if form > 33:
            return name, self.worded(name, t)
        if form > 23:
            return name, self.pick(self.divided, self.divided, self.started, self.unordered, self.wholeSteps,
                                   self.wholeSteps, self.deep)(name, t)
        if form > 22:
            return name, self.bordered(name, t)
        if form > 20:
            return name, self.shaped(name, t)
        if form > 14:
            return name, self.stepped(name, t)
        if form >= 8:
            return name, self.elementwise(name)
        inner = self.random.randrange(3)
        outer = self.random.randint(inner + 1, 3)
        first, text = self.chunked(t, LEVELS[inner], LEVELS[outer], self.pipeline("c", t, LEVELS[inner]))
        if form in (1, 2) or outer == 3:
            take = {1: 64, 2: 400, 3: 3000}[outer]
            return (
                name,
                (
                    f"{text}kernel {name} (xs : [{t}]) = mapPush (fn x => {self.scalar('x', t, 1)}) ({first} (take"
                    f" {take} xs))\n"
                ),
            )
        if form == 3:
            return name, (f"{text}kernel {name} (xs : [{t}]) =\n  let a = take 300 xs\n      b = force ({first} a)\n"
                          f"  in push <{LEVELS[outer]}> ({self.pipeline('b', t, LEVELS[outer], 1)})\n")
        body = f"let d = force ({first} c) in {self.pipeline('d', t, LEVELS[outer], 2)}"
        second, more = self.chunked(t, LEVELS[outer], "grid", f"({body})")
        return name, f"{text}{more}kernel {name} (xs : [{t}]) = {second} xs\n"

    def failing_kernel(self):
        """A kernel in which something is wrong, of one code or of two; the first of these that has a place for each."""
        self.faulty = sorted({self.random.choice(FAULTS), self.random.choice(FAULTS)} if self.random.randrange(3) == 0
                             else {self.random.choice(FAULTS)})
        while True:
            self.faults.clear()
            name, text = self.kernel()
            if len(self.faults) == len(self.faulty):
                self.codes[name] = self.faulty
                self.made.update(self.faulty)
                self.made["two codes"] += len(self.faulty) == 2
                return name, text
            del self.arguments[name]

    def head(self):
        """What comes before any kernel."""
        return (f'import "{self.helpers[0]}"\n' if self.files.get(self.helpers[0]) else "") + TYPES_DECLARED

    def program(self, kernels=6):
        """The names of its kernels and its text, which needs `files` beside it."""
        self.parts = dict(self.failing_kernel() if self.fails else self.kernel() for _ in range(kernels))
        if self.files[self.helpers[1]]:
            self.files[self.helpers[0]] = f'import "{self.helpers[1]}"\n' + self.files[self.helpers[0]]
        self.files = {name: TYPES_DECLARED + text for name, text in self.files.items() if text}
        for text in self.parts.values():
            self.made.update(name for name, pattern in FEATURES.items() if pattern.search(text))
        return list(self.parts), self.head() + "\n".join(self.parts.values())
