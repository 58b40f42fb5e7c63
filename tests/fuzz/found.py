"""Forms of kernels for what other ways found wrong and no random program had: indices below zero that are divided,
functions on whole arrays in steps and branches, start values, comparisons that are no order, many dimensions."""

FLOATS = ["float", "double", "f16", "bf16"]
# Comparisons that floats with NaN, or any numbers, make no order of.
NO_ORDERS = ["x < y", "x <= y", "x > y", "x >= y", "not (x < y)", "x != y", "x == y", "true", "false"]
WHOLE_SIZES = (0, 1, 2, 7, 33, 64, 257, 1000)


class Found:
    """What Generator inherits; each method of a name and a type makes a kernel of that name."""

    def sized(self, t, sizes, scalars=()):
        """Arguments: an array of each length, behind scalars that are chosen of these."""
        return [" ".join([str(self.random.choice(choice)) for choice in scalars] +
                         [f"random:{size}:{size}" if size else "[]"]) for size in sizes]

    # ---- indices that begin below zero, and borders before chunks ----

    def split_place(self, i):
        """A number of the index i that may be below zero, divided by what is known or is not."""
        c, w = self.pick("1", "5", "40", "64", "n", "(n + 3)"), self.pick("2", "3", "7", "33", "64", "w", "(0 - 3)")
        from_c = f"({i} - {c})"
        quotient = self.pick(f"{from_c} / {w}", f"{from_c} / {w}", f"{from_c} >> {self.random.randint(1, 7)}")
        rest = self.pick(f"{from_c} % {w}", f"{from_c} % {w}", f"{from_c} & {self.pick(3, 7, 63)}")
        return self.pick(f"({quotient})", f"({rest})", f"({quotient} * 1000 + {rest})", f"({quotient} % 5)",
                         f"(if {i} < {c} then n else {quotient})",
                         f"(if {i} < {c} then n else {quotient} + {rest} * 3)")

    def bordered_view(self, v, t):
        """A view of the variable v, most often as long or longer: borders, chunks, and both."""
        wide = self.pick("1", "3", "32", "33", "64", "(max 1 w)")
        x = self.pick(self.literal(t), "s")
        few = self.pick("0", "1", "2", "5", "40", "63", "64", "n", "(-1)", "(-3)")
        other = self.pick("0", "1", "3", "n")
        n = self.random.randint(1, 70)
        each = self.pick("reverse", f"(map (fn x => {self.scalar('x', t, 1)}))", f"(fn r => rotate {n} r)",
                         f"(fn r => mapIx (fn i x => if i == 0 then x else {self.scalar('x', t, 1)}) r)")
        at = f"(i - {n}) / {wide} * {wide} + (i - {n}) % {wide}"
        return self.pick(
            f"flatten (map {each} (splitUp {wide} {v}))",
            f"flatten (map {each} (splitUp {wide} {v}))",
            f"flatten (splitUp {wide} (flatten (map {each} (splitUp {self.pick(2, 7, 50)} {v}))))",
            f"pad {few} {other} {x} {v}",
            f"pad {few} {other} {x} (flatten (map {each} (splitUp {wide} {v})))",
            f"shift ({self.random.randint(-70, 70)}) {x} {v}",
            f"shift {few} {x} (flatten (map {each} (splitUp {wide} {v})))",
            f"appendPull [{x}] (flatten (map {each} (splitUp {wide} {v})))",
            f"appendPull (replicate {n} {x}) {v}",
            f"appendPull {v} (flatten (map {each} (splitUp {wide} (drop {n} {v}))))",
            f"generate (length {v} + {n}) (fn i => if i < {n} then {x} else {v} ! ({at}))",
            f"generate (length {v} + {n}) (fn i => if i < {n} then {x} else {v} ! clamp 0 (length {v} - 1) "
            f"({self.split_place('i')}))",
            f"generate (length {v}) (fn i => let p = {self.split_place('i')} in if 0 <= p && p < length {v} then {v} !"
            f" p else {x})",
            f"mapIx (fn i x => if {self.split_place('i')} > {self.random.randint(-3, 9)} then x else {x}) {v}",
            f"rotate {self.pick(n, f'({-n})')} {v}",
            f"reverse {v}",
            f"drop {n} {v}",
            f"riffle (flatten (map {each} (splitUp {wide} {v})))",
        )

    def divided(self, name, t):
        """Indices that begin below zero and are divided: pads, shifts, rows and borders before chunks."""
        views, text = ["xs"], ""
        for _ in range(self.random.randint(1, 3)):
            v = self.name("v")
            view = self.bordered_view(self.random.choice(views[-2:]), t)
            if self.random.randrange(4) == 0:
                view = f"force (push <grid> ({view}))"
            text += f"{v} = {view}\n      "
            views.append(v)
        last, chunk = views[-1], self.pick("3", "33", "64", "(max 1 w)")
        level, turned = self.pick("thread", "warp", "block", "block"), self.pick("reverse c", "rotate 3 c")
        result = self.pick(
            f"push <grid> {last}", f"push <grid> {last}", last, f"push <{'grid' if 'force' in text else level}> {last}",
            f"(splitUp {chunk} {last} |> map (fn c => push <{level}> ({turned})) |> concat {chunk} : [{t}]<grid>)",
            f"(length {last}, push <grid> (generate (length {last}) (fn i => {self.split_place('i')})), push <grid>"
            f" {last})")
        self.arguments[name] = self.sized(t, (0, 1, 2, 33, 64, 257, 1000), (
            [0, 1, 2, 3, 40, 64, 100], [1, 2, 3, 7, 33, 64, 0, -3], [self.value(t)]))
        return f"kernel {name} (n : int) (w : int) (s : {t}) (xs : [{t}]) =\n  let {text.rstrip()}\n  in {result}\n"

    # ---- operators with a start, of which nothing says that it is neutral ----

    def operator(self, t, a, commutes=False):
        """An associative operator, and an array to use it on: `a`, or `a` without NaN, which no order suits."""
        first_or_last = [] if commutes else [("(fn x y => x)", a), ("(fn x y => y)", a)]
        if t == "bool":
            return self.pick(("(||)", a), ("(&&)", a), ("(fn x y => x != y)", a), *first_or_last)
        if t in FLOATS:
            some = f"(map (fn x => if isnan x then 1.5 else x) {a})"
            return self.pick(("max", some), ("min", some), *first_or_last)
        return self.pick(("(+)", a), ("(+)", a), ("(*)", a), ("max", a), ("min", a), ("(^)", a), ("(|)", a), ("(&)", a),
                         ("(fn x y => x + y)", a), *first_or_last)

    def flags(self, a, t):
        n = self.random.randint(1, 40)
        return self.pick(f"(mapIx (fn i x => i % {n} == {n // 2}) {a})", f"(map (fn x => x == {self.literal(t)}) {a})",
                         f"(map (fn x => false) {a})", f"(map (fn x => true) {a})")

    def started_at_grid(self, a, t, z):
        """A push array at grid, of `a` by an operator that begins with z."""
        f, some = self.operator(t, a)
        w, level = self.pick(1, 3, 9, 40), self.pick("Thread", "Warp", "Block")
        g, commuting = self.operator(t, a, commutes=level != "Thread")
        most = min(w, 32) if level == "Warp" else w
        key = f"(mapIx (fn i x => (i / {w}, x)) {some})"
        return self.pick(
            f"scan {f} {z} {some}",
            f"scan {f} {z} {some}",
            f"scanExclusive {f} {z} {some}",
            f"segScan {f} {z} {self.flags(a, t)} {some}",
            f"push <grid> (segReduce {f} {z} {self.flags(a, t)} {some})",
            f"push <grid> (map snd (reduceByKey {f} {z} {key}))",
            f"reduceRows {f} {z} (rows {w} (take (length {a} / {w} * {w}) {some}))",
            f"(splitUp {most} {some} |> map (scan{level}Exclusive {f} {z}) |> concat {most} : [{t}]<grid>)",
            f"(splitUp {w} {commuting} |> map (reduce{level} {g} {z}) |> concat 1 : [{t}]<grid>)",
            f"(let r = reduce {f} {z} {some} in push <grid> (mapIx (fn i x => if i == 0 then r else x) {a}))",
        )

    def started(self, name, t):
        """Reductions and scans that begin with any value: each row, segment and array begins with it once."""
        z = self.pick("s", "s", self.literal(t), f"(if length xs > 0 then xs ! (length xs / 2) else {self.literal(t)})")
        f, some = self.operator(t, "xs")
        result = self.pick(
            self.started_at_grid("xs", t, z),
            self.started_at_grid("xs", t, z),
            f"(reduce {f} {z} {some}, {self.started_at_grid('xs', t, z)})",
            f"({self.started_at_grid('xs', t, z)}, {self.started_at_grid('xs', t, z)})",
            f"let a = force ({self.started_at_grid('xs', t, z)}) in (length a, {self.started_at_grid('a', t, 's')})",
            f"reduceInOrder {f} {z} {some}",
            f"foldl (fn s x => {f} s x) {z} {some}",
        )
        if t not in ("bool", *FLOATS) and self.random.randrange(4) == 0:  # one that does not commute
            both = f"(fn (a, b) (c, d) => (a * c, b * c + d)) ({z}, {self.literal(t)})"
            pairs = f"(mapIx (fn i x => (x, {t} i)) xs)"
            result = self.pick(f"reduce {both} {pairs}", f"scan {both} {pairs}", f"scanExclusive {both} {pairs}",
                               f"segScan {both} {self.flags('xs', t)} {pairs}",
                               f"segReduce {both} {self.flags('xs', t)} {pairs}",
                               f"reduceRows {both} (rows 9 (take (length xs / 9 * 9) {pairs}))")
        values = [v for v in (self.value(t) for _ in range(9)) if v != "nan"] or ["0.0"]
        self.arguments[name] = self.sized(t, WHOLE_SIZES, [values])
        return f"kernel {name} (s : {t}) (xs : [{t}]) =\n  {result}\n"

    # ---- comparisons that are no order ----

    def unordered(self, name, t):
        """Sorts and merges whatever the comparison says: what they give is what they were given. The order is open, so
        the result is sorted by bits, or looked for in the array."""
        if t == "bool" or self.random.randrange(3):
            t = self.random.choice(FLOATS)
        before = f"(fn x y => {self.random.choice(NO_ORDERS)})"
        a = self.pick("xs", f"(map (fn x => {self.scalar('x', t, 1)}) xs)")
        if t in FLOATS:
            a = self.pick(a, f"(mapIx (fn i x => if i % {self.random.randint(1, 10)} == 0 then 0.0 / 0.0 else x) {a})")
        n, level = self.pick(1, 5, 32, 33, 64, 100, 256), self.pick("warp", "block", "block")
        sort = self.pick(
            *[f"sortBy {before} a"] * 3,
            f"{self.pick('mergeSort', 'bitonicSort', 'oddEvenMergeSort')} <grid> {before} a",
            f"(splitUp {n} a |> map ({self.pick('mergeSort', 'bitonicSort', 'oddEvenMergeSort')} <{level}> {before}) |>"
            f" concat {n} : [{t}]<grid>)",
            f"(let (x, y) = halve a in mergeSorted <grid> {before} x y)",
            f"mergeRuns <grid> {before} {n} a",
        )
        result = f"let b = force ({sort}) in (length b, sort b)"
        if self.random.randrange(4) == 0:
            k = self.pick(1, 3, 40, "(length a)", "(length a / 2)")
            result = (f"let b = topKBy {before} {k} a in (length b, all (fn x => foldl (fn s y => s || orderBits x =="
                      " orderBits y) false a) b)")
        self.arguments[name] = self.arrays(t) + [self.pick("random:300:1", "random:300:1", "random:1000:1")]
        return f"kernel {name} (xs : [{t}]) =\n  let a = force (push <grid> {a})\n  in {result}\n"

    # ---- functions on whole arrays, in steps and branches ----

    def whole_step(self, a, t, depth=1):
        """A push array at grid, of the variable `a` by a function on whole arrays."""
        kept = "x" if t == "bool" else f"x {self.pick('<', '>=', '!=')} {self.literal(t)}"
        before = "not x || y" if t == "bool" else "orderBits x <= orderBits y"
        each = f"(map (fn x => {self.scalar('x', t, 1)}) {a})"
        few = self.pick("2", f"(length {a} / 2 + 1)", f"(max 1 (count (fn x => {kept}) {a}))")
        b = self.pick(a, a, each)
        options = [
            self.started_at_grid(a, t, self.literal(t)),
            self.started_at_grid(a, t, self.literal(t)),
            f"push <grid> (filter (fn x => {kept}) {b})",
            f"push <grid> (unique {b})",
            f"push <grid> (fst (partition (fn x => {kept}) {b}))",
            f"push <grid> (let (p, q) = partition (fn x => {kept}) {b} in appendPull q p)",
            f"push <grid> (map fst (runLengths {b}))",
            f"sortBy (fn x y => {before}) {b}",
            f"mergeSort <grid> (fn x y => {before}) {b}",
            f"push <grid> (reverse {b})",
            f"flattenRagged (mapIx (fn i r => take (i % 4) r) (splitUp 5 {b}))",
            f"(splitUp {few} {a} |> map (fn p => push <block> (reverse (force (push <block> p)))) |> concat {few} :"
            f" [{t}]<grid>)",
        ]
        if t != "bool":
            options += [
                *[f"sort {b}"] * 3,
                f"mapPush fst (sortByKey (mapIx (fn i x => (x, i)) {b}))",
                f"mapPush (fn i => {a} ! i) (argsort {b})",
                f"radixSort (fn x => u64 (orderBits x)) {b}",
                f"push <grid> (topK {self.pick(2, 40, f'(length {a} / 2)')} {b})",
                f"sortDescending {b}",
            ]
        if depth and self.random.randrange(4) == 0:
            return (f"(if {self.whole_condition(a, t)} then {self.whole_step(a, t, depth - 1)} else"
                    f" {self.pick(f'push <grid> {a}', self.whole_step(a, t, depth - 1))})")
        if depth and self.random.randrange(5) == 0:
            w = self.name("w")
            return f"(let {w} = force ({self.whole_step(a, t, 0)}) in {self.whole_step(w, t, 0)})"
        return self.random.choice(options)

    def whole_condition(self, a, t):
        return self.pick(self.condition(a, t), f"length {a} > {self.random.randint(0, 40)}", "n > 1")

    def wholeSteps(self, name, t):  # noqa: N802
        """Functions on whole arrays in power, while and loop, in branches that join, in states of two arrays."""
        steps = self.pick("n", "(n % 3)", str(self.random.randint(0, 3)))
        state = "(push <grid> xs, push <grid> (reverse xs))"
        one, other = self.whole_step("a", t), self.whole_step("b", t)
        pair = self.pick(f"({one}, {other})", f"({other}, {one})", f"(push <grid> b, {one})")
        array = self.pick(
            f"power {steps} (fn k a => {one}) (push <grid> xs)",
            f"fst (while (fn (a, k) => k < {steps} && length a > {self.random.randint(0, 3)}) (fn (a, k) => ({one}, k +"
            " 1)) (push <grid> xs, 0))",
            f"(let (a, b) = power {steps} (fn k (a, b) => {pair}) {state} in appendPull a b)",
            f"(let (a, b, k) = while (fn (a, b, k) => k < {steps}) (fn (a, b, k) => let (p, q) = force {pair} in (push"
            f" <grid> q, push <grid> p, k + 1)) (push <grid> xs, push <grid> xs, 0) in appendPull a b)",
            f"(if {self.whole_condition('xs', t)} then force ({self.whole_step('xs', t)}) else"
            f" {self.pick('xs', f'force ({self.whole_step(chr(120) + chr(115), t)})')})",
            f"(let (a, b) = if {self.whole_condition('xs', t)} then (force ({self.whole_step('xs', t)}), xs) else (xs,"
            f" force ({self.whole_step('xs', t)})) in appendPull a b)",
        )
        result = self.pick(f"push <grid> ({array})", f"let c = {array} in (length c, push <grid> c)",
                           f"let c = {array} in {self.whole_step('c', t)}")
        if self.random.randrange(6) == 0:
            x = self.mixed(t, "x", "s")
            result = (f"fst (loop (fn (s, k) => k < {steps}) (fn (s, k) => let a = map (fn x => {x}) xs\n"
                      f"      b = force ({self.whole_step('a', t)}) in (if length b > 0 then b ! 0 else s, k + 1))"
                      f" ({self.literal(t)}, 0))")
        self.arguments[name] = self.sized(t, (0, 1, 2, 7, 33, 257), [[0, 1, 2, 3]])
        return f"kernel {name} (n : int) (xs : [{t}]) =\n  {result}\n"

    # ---- many dimensions ----

    @staticmethod
    def within(depth, f):
        """The function f on what is so many dimensions further in."""
        for _ in range(depth):
            f = f"(map {f})"
        return f

    def deep(self, name, t):
        """Arrays of up to eight dimensions, turned and cut at some depth."""
        rank, aim, text, last = self.random.randint(3, 8), self.pick(7, 8), "", "m"
        extents = [[str(self.pick(1, 1, 2, 3)) for _ in range(rank)] for _ in range(4)]
        extents[0][self.random.randrange(rank)] = "0"
        kind = "[" * rank + t + "]" * rank
        turn = "(fn p => generate (columns p) (fn j => map (fn r => r ! j) p))"
        steps = self.random.randint(1, 4)
        while steps > 0 or rank < aim:
            steps -= 1
            a, deep = self.name("a"), self.random.randrange(rank)
            form = self.random.randrange(9) if steps > 0 else 0
            if form < 2 and rank < 8:  # one dimension more
                text += f"{a} = " + self.pick(f"generate {self.pick(1, 2)} (fn g => {last})",
                                              f"{self.within(deep, '(rows 1)')} {last}",
                                              f"{self.within(deep, '(fn p => generate 2 (fn g => p))')} {last}")
                rank += 1
            elif form == 2 and rank > 2:  # one less
                text += f"{a} = {self.within(self.random.randrange(rank - 1), 'flatten')} {last}"
                rank -= 1
            elif form in (3, 4):
                text += f"{a} = {self.within(self.random.randrange(rank - 1), turn)} {last}"
            elif form == 5:
                text += f"{a} = {self.within(rank, f'(fn x => {self.scalar(chr(120), t, 1)})')} {last}"
            elif form == 6:
                text += f"{a} = rows 1 (force (push <grid> (flatten {last})))" if rank == 2 else f"{a} = reverse {last}"
            else:
                f = self.pick("reverse", "(take 1)", "(fn p => appendPull p p)", "(drop 1)", "(fn p => rotate 1 p)")
                text += f"{a} = {self.within(deep, f)} {last}"
            text, last = text + "\n      ", a
        result = self.pick(last, last, f"(length {last}, {last})", f"(flatten {last}, {last})")
        self.arguments[name] = [f"random:{'x'.join(e)}:{i}" for i, e in enumerate(extents)]
        return f"kernel {name} (m : {kind}) =\n  let {text.rstrip()}\n  in {result}\n"
