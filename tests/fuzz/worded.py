"""Forms of kernels of the language's words: records and alternatives as parameters, results, elements and states,
`match` around values, arrays and schemes, characters and texts, and searches that end early."""

FLOATS = ["float", "double", "f16", "bf16"]
TEXTS = ['"a"', '"hello, world"', '"aabbbcccc"', '"\\n\\t\\x00\\xff~"', '"0123456789abcdefABCDEF"', '"ab" ']
CHARACTERS = ["'a'", "'b'", "'e'", "'\\n'", "'\\x41'", "'0'", "'~'", "'\\xff'", "' '"]
BYTES = ["[]", "[97]", "[104,101,108,108,111,10,65]", "random:33:1", "random:257:2:90:110", "random:1000:3:0:127"]


class Worded:
    """What Generator inherits; each method of a name and a type makes a kernel of that name."""

    # ---- values ----

    def into_some(self, x, t):
        """The variable x of type t as an alternative."""
        a, b = self.scalar(x, t, 1), self.scalar(x, t, 1)
        made = [self.pick("None", f"One {a}"), f"One {x}", f"Two ({a}, {x})", f"Two ({x}, {b})",
                f"Of {{ left = {a}, right = {x} }}", f"Of {{ right = {b}, left = {x} }}"]
        self.random.shuffle(made)
        condition = lambda: (x if t == "bool" else f"{x} {self.pick('<', '==', '>=', '!=')} {self.literal(t)}")
        chain = made.pop()
        for _ in range(self.random.randint(1, 4)):
            chain = f"if {condition()} then {made.pop()} else {chain}"
        return f"({chain})"

    def out_of_some(self, o, t):
        """An expression of type t of an alternative; each case has patterns of its own, and the last takes the rest."""
        x = self.literal(t)
        cases = [
            self.pick(f"One y => {self.scalar('y', t, 1)}", "One y => y", f"One _ => {x}"),
            self.pick("Two (y, z) => " + self.mixed(t, "y", "z"), f"Two (_, y) => {self.scalar('y', t, 1)}",
                      "Two p => fst p", "Two (y, z) => if y == z then y else z"),
            self.pick("Of r => r.left", "Of { left, right } => " + self.mixed(t, "left", "right"),
                      f"Of {{ right = y }} => {self.scalar('y', t, 1)}",
                      "Of r => let s = { r with left = r.right } in s.left"),
            f"None => {x}",
        ]
        merged = self.pick(None, "One y | Two (y, _) | Of { left = y } => y", "One y | Two (_, y) => y")
        if merged:
            cases = [merged] + cases[2 if "Of" not in merged else 3:]
        self.random.shuffle(cases)
        if self.random.randrange(2):
            cases[-1] = f"_ => {x}"
        return f"(match {o} with {' | '.join(cases)})"

    def combined_some(self, t):
        """An associative operator on alternatives, which commutes if its second value says so."""
        forms = [("(fn x y => match y with None => x | _ => y)", False),
                 ("(fn x y => match x with None => y | One _ | Two _ | Of _ => x)", False)]
        if t not in FLOATS:
            forms += [("(fn x y => if x < y then y else x)", True), ("(fn x y => if x <= y then x else y)", True)]
        return self.random.choice(forms)

    def matched(self, x, t):
        """An expression of type t of x by `match` on it, on tuples of it, and on bools."""
        a, b = self.scalar(x, t, 1), self.scalar(x, t, 1)
        yes = x if t == "bool" else f"({x} < {self.literal(t)})"
        no = x if t == "bool" else f"({x} == {self.literal(t)})"
        forms = [
            f"(match ({yes}, {no}) with (true, false) => {a} | (_, true) => {b} | (false, false) => {x})",
            f"(match {{ left = {yes}, right = {no} }} with {{ left = true, right }} => (if right then {a} else {b}) | _"
            f" => {x})",
            f"(match ({self.into_some(x, t)}, {yes}) with (One y, true) | (Two (_, y), false) => y | (Of _, _) => {a} |"
            f" _ => {b})",
            f"(match ({self.into_some(x, t)}, {self.into_some(x, t)}) with (None, None) => {x} | (One y, One z) => "
            f"{self.mixed(t, 'y', 'z')} | (Two (y, _), _) | (_, Of {{ left = y }}) => y | _ => {a})",
            f"(match One ({self.into_some(x, t)}, {yes}) with One (Two (y, z), true) => {self.mixed(t, 'y', 'z')} | One"
            f" (o, false) => {self.out_of_some('o', t)} | _ => {b})",
        ]
        if t not in ("bool", *FLOATS):
            n = "" if t.startswith("u") else "| -1 | -3 "
            forms += [f"(match {x} with 0 | 1 {n}=> {a} | 2 | 7 => {b} | y => y + 1)",
                      f"(match ({x}, {yes}) with (0, _) | (_, true) => {a} | (5, false) => {b} | (y, _) => y)"]
        return self.random.choice(forms)

    # ---- kernels ----

    def worded(self, name, t):
        return self.pick(self.recorded, self.recorded_states, self.alternatives, self.alternatives, self.matching,
                         self.matching, self.spelt, self.searching)(name, t)

    def array_text(self, t, length):
        return "[" + ",".join(self.value(t) for _ in range(length)) + "]"

    def recorded(self, name, t):
        """Records of arrays, arrays of records and records of records as parameters and results."""
        step = self.scalar("x", t, 1)
        places = "generate (length ps) (fn i => "
        fields = [self.pick("map (fn p => p.left) ps", "map (fn { right } => right) ps", "(unzipped ps).left"),
                  f"map (fn x => {step}) r.{self.pick('left', 'right')}",
                  f"{places}let p = ps ! (length ps - 1 - i) in " + self.mixed(t, "p.left", "p.right") + ")"]
        unzipped = "unzipped qs = { left = map (fn p => p.right) qs, right = map (fn { left } => left) qs }"
        one = self.pick("map (fn p => { p with left = p.right }) ps", "map (fn { left, right } => { left = right, right"
                        f" = {self.scalar('left', t, 1)} }}) ps", "reverse ps",
                        "force (push <grid> (map (fn p => { value = p.left, count = int (p.left == p.right) }) ps))",
                        f"map (fn p => if {{ left = p.right, right = {self.literal(t)} }} {self.pick('<', '==', '<=')}"
                        " p then p else { p with right = p.left }) ps" if t not in FLOATS else "ps",
                        f"{places}{{ s with count = i, value = (ps ! i).left }})")
        result = self.pick(one, f"{{ left = {fields[0]}, right = {fields[1]} }}",
                           f"{{ value = {one}, count = length ps + s.count }}",
                           f"(push <grid> ({fields[2]}), {{ s with count = length r.left }}, {one})",
                           f"{{ left = push <grid> ({fields[0]}), right = push <grid> ({fields[2]}) }}",
                           "{ left = { left = s, right = s }, right = { left = s, right = { s with value = "
                           f"{self.scalar('s.value', t, 1)} }} }} }}")
        self.arguments[name] = [
            f"{{left={self.array_text(t, a)},right={self.array_text(t, b)}}} {'random:%d:%d' % (n, n) if n else '[]'} "
            f"{{value={self.value(t)},count={n}}}" for a, b, n in ((0, 0, 0), (1, 0, 1), (2, 3, 7), (5, 4, 33),
                                                                   (3, 3, 257))]
        return (f"kernel {name} (r : two [{t}]) (ps : [two {t}]) (s : step {t}) =\n  let {unzipped}\n  in {result}\n")

    def recorded_states(self, name, t):
        """States that are records of arrays and alternatives, at all levels."""
        level = self.pick("thread", "warp", "block", "grid", "grid")
        if self.does("E0503"):  # what is too long below grid may be too long for its memory first
            level = "grid"
        source = "xs" if level == "grid" else "c"
        a = lambda: self.pick("r.left", "r.right")
        push = lambda: self.pick(f"push <{level}> {a()}", f"push <{level}> ({self.same_length(a(), t)})",
                                 f"push <{level}> (mapIx (fn i x => if i < length {a()} then "
                                 f"{self.mixed(t, 'x', 'x')} else x) {a()})", self.pushed("r.left", t, level),
                                 self.update("r.right", t, level, None))
        begin = f"{{ left = push <{level}> {source}, right = push <{level}> (reverse {source}) }}"
        new = self.pick(f"{{ left = {push()}, right = {push()} }}", f"{{ right = {push()}, left = {push()} }}")
        element = f"(if length {source} > 0 then r.left ! (length {source} / 2) else {self.literal(t)})"
        form = self.random.randrange(3)
        if form == 0:
            run = f"power (n % 4) (fn k r => {new}) {begin}"
        elif form == 1:  # an alternative beside it says what comes next
            going = self.pick("One _ => k < n | Two _ => k <= n | _ => false", "None => false | _ => k < n",
                              "Of _ => false | One _ | Two _ => k < n | None => k == 0")
            run = (f"let (r, _, _) = while (fn (r, o, k) => match o with {going}) (fn (r, o, k) => match o with "
                   f"None => ({new}, {self.into_some(element, t)}, k + 1) | _ => ({{ left = {push()}, right = push "
                   f"<{level}> r.left }}, {self.into_some(element, t)}, k + 2)) ({begin}, One {self.literal(t)}, 0) in"
                   " r")
        else:
            run = f"let r = force {begin} in force {new}"
        result = (f"let r = ({run}) in push <{level}> (generate (length {source}) (fn i => if i < length r.left && i < "
                  f"length r.right then {self.mixed(t, '(r.left ! i)', '(r.right ! i)')} else {self.literal(t)}))")
        self.arguments[name] = [f"{self.pick(0, 1, 2, 3, 5)} {argument}" for argument in self.arrays(t)]
        head = f"kernel {name} (n : int) (xs : [{t}]) =\n  "
        return head + self.at_level(level, result, t)

    def alternatives(self, name, t):
        """Functions on whole arrays of alternatives and of records, which are compared, sorted and combined."""
        some, out = self.into_some("x", t), self.out_of_some("o", t)
        (f, commutes), z = self.combined_some(t), self.pick("None", f"(One {self.literal(t)})")
        n = self.random.randint(1, 40)
        a = self.pick("map some xs", "force (push <grid> (map some xs))")
        kept = self.pick("fn o => o != None", f"fn o => match o with None | Of _ => false | _ => true",
                         f"fn o => o == One {self.literal(t)}")
        options = [
            f"scan {f} {z} a", f"scanExclusive {f} {z} a", f"segScan {f} {z} (mapIx (fn i o => i % {n} == 0) a) a",
            f"push <grid> (filter ({kept}) a)", f"push <grid> (snd (partition ({kept}) a))",
            f"push <grid> (segReduce {f} {z} (mapIx (fn i o => i % {n} == 0) a) a)",
            f"reduceRows {f} {z} (rows {n} (take (length a / {n} * {n}) a))",
            f"(splitUp {n} a |> map (fn c => push <block> (reverse (force (push <block> c)))) |> concat {n} :"
            f" [some {t}]<grid>)",
            f"(scatter a (generate (length a / 2) (fn i => (2 * i, a ! i))) : [some {t}]<grid>)",
            f"(splitUp {n} a |> map (fn c => let r = foldl {f} {z} c in push <thread> (map (fn o => if o == r then None"
            f" else o) c)) |> concat {n} : [some {t}]<grid>)",
            f"(splitUp {n} a |> map (fn c => let w = force (push <block> c) in let told = lookback {f} None"
            f" (w ! (length w - 1)) in push <block> (map (fn o => match o with None => told | _ => o) w)) |> concat {n}"
            f" : [some {t}]<grid>)",
            f"push <grid> (replicate (length a) (reduce {f} {z} a))",
        ]
        if t not in FLOATS:
            options += [f"sortBy (fn o p => o <= p) a", f"sortBy (fn o p => o <= p) a", "push <grid> (unique a)",
                        f"(splitUp {n} a |> map (mergeSort <block> (fn o p => o <= p)) |> concat {n} :"
                        f" [some {t}]<grid>)",
                        f"sortBy (fn o p => {{ left = p, right = o }} >= {{ left = o, right = p }}) a"]
        if commutes and "then y" in f:  # of which None is neutral
            options += [f"(reduceByIndex {f} None a (mapIx (fn i o => (i * {n} % 40 - 2, o)) (reverse a)) :"
                        f" [some {t}]<grid>)"] * 3
        whole = self.random.choice(options)
        result = self.pick(f"mapPush (fn o => {out}) ({whole})",
                           f"let b = force ({whole}) in (length b, push <grid> (map (fn o => {out}) b))",
                           f"let b = force ({whole}) in push <grid> (map (fn o => match o with One y => {{ value = y, "
                           f"count = 1 }} | o => {{ value = {out}, count = 0 }}) b)")
        self.arguments[name] = self.arrays(t)
        return f"kernel {name} (xs : [{t}]) =\n  let some x = {some}\n      a = {a}\n  in {result}\n"

    def matching(self, name, t):
        """`match` that chooses elements, arrays and schemes, alike for all threads of a level."""
        level = self.pick("thread", "warp", "block", "grid", "grid")
        source = "xs" if level == "grid" else "c"
        element = f"(if length {source} > 0 then {source} ! (length {source} / 2) else {self.literal(t)})"
        arm = lambda a: self.pick(self.same_length(a, t), f"force ({self.pushed(a, t, level)})", a,
                                  f"map (fn x => {self.matched('x', t)}) {a}")
        o = self.into_some("e", t)
        y = self.mixed(t, "x", "y")
        arms = [f"One y => map (fn x => {y}) ({arm(source)})", f"Two (y, _) => zipWith (fn x y => {y}) {source} "
                f"({arm(source)})", f"Of _ => {arm(source)}", f"None => {arm(source)}"]
        self.random.shuffle(arms)
        if self.random.randrange(2):
            arms[-1] = f"_ => {self.pick(source, arm(source))}"
        array = f"(match {o} with {' | '.join(arms)})"
        result = self.pick(f"push <{level}> {array}", f"push <{level}> (map (fn x => {self.matched('x', t)}) {array})",
                           f"push <{level}> (map (fn x => {self.matched('x', t)}) {source})",
                           f"(match {o} with One y => push <{level}> (map (fn x => {y}) {source}) | "
                           f"Two _ | Of _ => {self.pushed(source, t, level)} | None => push <{level}> ({arm(source)}))"
                           if level != "thread" else f"push <thread> {array}")
        result = f"let e = {element} in {result}"
        self.arguments[name] = self.arrays(t)
        return f"kernel {name} (xs : [{t}]) =\n  {self.at_level(level, result, t)}"

    def spelt(self, name, _):
        """Bytes as characters, and texts that are read at places that are known and that are not."""
        text, other = self.random.choice(TEXTS), self.random.choice(TEXTS)
        some = self.random.sample(CHARACTERS, self.random.randint(2, 5))
        half = len(some) // 2
        classes = (f"(match c with {' | '.join(some[:half])} => 1 | {' | '.join(some[half:])} => 2 | d => int d / "
                   f"{self.random.randint(1, 9)})")
        in_text = f"foldl (fn s d => if d == c then s + 1 else s * {self.random.randint(1, 3)}) 0 {text}"
        at = self.pick("int c % length t", "(i + int c) % length t", f"min {self.random.randint(0, 3)} (length t - 1)")
        upper = f"(if c >= 'a' && c <= 'z' then c - 'a' + 'A' else {self.pick('c', chr(39) + 'x' + chr(39))})"
        element = self.pick(f"u8 {classes}", f"t ! ({at})", upper, f"u8 ({in_text})",
                            f"(match (c, t ! ({at})) with ('a', d) | (d, 'l') => d | (_, '0') => c | _ => 'z')")
        result = self.pick(
            f"push <grid> (mapIx (fn i c => {element}) xs)",
            f"(push <grid> (mapIx (fn i c => {element}) xs), any (fn c => c == {some[0]}) xs, t)",
            f"(splitUp 16 xs |> map (fn r => let w = force (push <block> r) in push <block> (mapIx (fn i c => {element}"
            f") (reverse w))) |> concat 16 : [u8]<grid>)",
            f"push <grid> (filter (fn c => int c > 1) (mapIx (fn i c => {element}) xs))",
            f"push <grid> (appendPull t (appendPull (mapIx (fn i c => {element}) xs) {other}))")
        self.arguments[name] = BYTES
        return f"kernel {name} (xs : [u8]) =\n  let t = {text}\n  in {result}\n"

    def searching(self, name, t):
        """find, any, all and their sequential kin, at grid, in chunks and in elements."""
        p = self.pick("x", "not x") if t == "bool" else self.pick(
            f"x {self.pick('<', '==', '>', '!=')} {self.literal(t)}", "x == y", "x > y")
        y = f"(if length xs > 0 then xs ! (length xs - 1) else {self.literal(t)})"
        a = self.pick("xs", "(reverse xs)", f"(map (fn x => {self.scalar('x', t, 1)}) xs)", "(drop 3 xs)",
                      "(take 1 xs)")
        n = self.pick(1, 7, 33, 64)
        search = lambda of: self.pick(f"findSeq (fn x => {p}) {of}", f"int (anySeq (fn x => {p}) {of})",
                                      f"int (allSeq (fn x => {p}) {of})")
        whole = self.pick(f"find (fn x => {p}) {a}", f"any (fn x => {p}) {a}", f"all (fn x => {p}) {a}",
                          f"(find (fn x => {p}) {a}, all (fn x => {p}) {a})")
        inside = self.pick(
            f"push <grid> (map (fn r => {search('r')}) (splitUp {n} {a}))",
            f"(splitUp {n} {a} |> map (fn c => let w = force (push <block> c) in let k = {search('w')} in push <block> "
            f"(map (fn x => if k > 0 then x else w ! 0) w)) |> concat {n} : [{t}]<grid>)",
            f"push <grid> (mapIx (fn i x => let y = x in {search('(take 9 xs)')}) {a})")
        result = self.pick(whole, inside, f"({whole}, {inside})", f"(if any (fn x => {p}) {a} then push <grid> xs else "
                           f"push <grid> (reverse xs))")
        self.arguments[name] = self.arrays(t) + ["random:5000:5"]
        return f"kernel {name} (xs : [{t}]) =\n  let y = {y}\n  in {result}\n"
