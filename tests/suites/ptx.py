"""NVIDIA's own PTX on an independent processor: what NVRTC makes of the CUDA code of every program is run by an
interpreter of PTX that knows nothing of the compiler, as devices of several capabilities, with threads in order and
at random.

The processor is not part of this repository. It is a libcuda.so.1 that FCL_PTXEMU names, or that lies at
build/ptxemu; without it, or without NVRTC, the suite is skipped. It writes what is wrong, such as a race or a barrier
that some threads do not come to, to the file that PTXEMU_LOG names, a line each."""

import importlib.util
import os
import random
import re
from executors import EXECUTORS, require
from harness import Case, Counts
from programs import programs as tested_programs

ORDER = 47
THOROUGH = True

IN_ORDER = {"PTXEMU_SEED": "0"}
LANES = {"PTXEMU_SEED": "7"}
BLOCKS = {"PTXEMU_SEED": "11", "PTXEMU_BLOCKS": "random"}
WEAK = {"PTXEMU_SEED": "13", "PTXEMU_BLOCKS": "random", "PTXEMU_WEAK": "1"}
RACES = {"PTXEMU_SEED": "0", "PTXEMU_GRACES": "1"}
ORDERS = {"in order": IN_ORDER, "lanes at random": LANES, "blocks at random": BLOCKS, "weak memory": WEAK,
          "races in device memory": RACES}
CAPABILITIES = ("75", "90", "120")
# Each program runs as one of these in every check that has this suite: the first and the last capability, and all that
# is at random together.
IN_TURN = [("75", "in order"), ("90", "weak memory"), ("120", "races in device memory")]
ALL = [(capability, order) for capability in CAPABILITIES for order in ORDERS]
# Programs that take the processor minutes, and have the parts of others, are left to long runs.
LENGTHY = {name + ".fcl" for name in (
    "any_order attention convolutions lookback_during matrix_batches matrix_units reduce_by_index sorted_parts"
    " sorts_in_steps start_values stencil_borders top_and_repeated transformer").split()}

# NVVM loads, and divides, ahead of the condition that asks for it, and does not use what it got; and after a check
# has failed what is read does not matter.
HARMLESS = re.compile(r"unwritten (global|shared|local) memory read: |division by zero: ")


def suite(name):
    """Another suite, as a module."""
    spec = importlib.util.spec_from_file_location("of_ptx_" + name, os.path.join(os.path.dirname(__file__), name +
                                                                                 ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def programs(env):
    """(name, path) of all programs with test directives."""
    for path in tested_programs(env):
        yield os.path.relpath(path, env.root), path
    reference, prelude = suite("reference"), suite("prelude")
    yield from reference.programs(env, env.tmp())
    folder = env.tmp()
    for source, text in prelude.programs(env):
        yield f"{source} examples", reference.write(folder, source.replace("/", "_"), text)


def test(env, path, capability, extra, executor="ptx"):
    """Counts of `fclc test` as such a device, and what the processor has to say."""
    require(env, executor)
    log = os.path.join(env.tmp(), "log")
    done = env.run(env.fclc, "test", "--check=none", *EXECUTORS[executor][0], path, timeout=3000 if env.long else 900,
                   env=env.ptx_processor(PTXEMU_CC=capability, PTXEMU_LOG=log, **extra))
    said = open(log, encoding="utf-8").read() if os.path.exists(log) else ""
    knows(done.stderr + said)
    counts = Counts.of_last_line(done.stdout)
    assert counts, f"no counts, exit status {done.returncode}\n{done.stdout}{done.stderr}"
    assert counts.passed + counts.failed + counts.skipped, "no test directives"
    counts.output += done.stderr + said
    return counts, [line for line in said.splitlines() if not HARMLESS.search(line)]


def knows(said):
    """An instruction that the processor does not know is its failure, or the compiler's: never a reason to pass."""
    unknown = re.search(r"unknown instruction (\S+)", said)
    assert not unknown, f"the processor does not know {unknown[1]}"


def signed(x, bits=32):
    """The number that is congruent modulo 2^bits, as a signed one has it."""
    return (x + 2 ** (bits - 1)) % 2 ** bits - 2 ** (bits - 1)


class Subscripts:
    """Random kernels whose subscripts are sums that wrap, by constants on both sides of 2^31."""

    ROOM = 50  # elements of xs, each of which is its index

    def __init__(self, seed):
        self.random = random.Random(seed)

    def number(self):
        near = self.random.choice([0, 2 ** 31, self.random.getrandbits(32), self.random.getrandbits(8)])
        return signed(near + self.random.randrange(-6, 6))

    def base(self, s, t):
        """What a subscript is but for its constant: text and value at 0, and what index i adds."""
        m, k = self.random.choice([3, 4, 2 ** 30, self.random.getrandbits(31)]), self.random.randrange(1, 31)
        text, value = self.random.choice([
            ("t", t), ("(s + t)", s + t), ("(s - t)", s - t), (f"t * {m}", t * m), (f"(t << {k})", t << k),
            ("(-t)", -t),
            (f"(t + ({s}) + s)", t + s + s), (f"(max t ({signed(t - 2)}) + s)", max(t, signed(t - 2)) + s)])
        step = self.random.choice([0, 1, 1])
        return text + " + i" * step, value, step

    def subscript(self, base):
        """A subscript with that base, and the index that it is at i = 0."""
        text, value, step = base
        place = self.random.choice([self.random.randrange(0, 4), self.random.randrange(0, self.ROOM - 3 * step)])
        constant = signed(place - value)
        if signed(value) ^ -2 ** 31 in range(self.ROOM) and not step and self.random.random() < 0.5:
            return f"({text}) ^ (-2147483648)", signed(value) ^ -2 ** 31
        return self.random.choice([
            f"({text}) + ({constant})",
            f"({constant}) + ({text})",
            f"({text}) - ({signed(-constant)})",
            f"int (uint ({text}) + {constant % 2 ** 32}u32)",
            f"int (uint ({text}) - {-constant % 2 ** 32}u32)",
            f"int (i64 ({text}) + ({constant + self.random.choice([0, 2 ** 32, -2 ** 32])}))",
        ]), place

    def reads(self, name):
        """Several subscripts of one base, in one expression or by name."""
        s, t = self.number(), self.number()
        bases = [self.base(s, t) for _ in range(self.random.choice([1, 1, 2]))]
        chosen = [self.random.choice(bases) for _ in range(self.random.randrange(2, 5))]
        found = [self.subscript(base) for base in chosen]
        named = [self.random.random() < 0.4 for _ in found]
        lets = "".join(f"\n      n{j} = {text}" for j, (text, _) in enumerate(found) if named[j])
        values = " + ".join(f"{100 ** j} * " + (f"(if n{j} < 0 then 1 else xs ! n{j})" if named[j]
                                                else self.guarded(text, chosen[j]))
                            for j, (text, _) in enumerate(found))
        wanted = [signed(sum(100 ** j * (place + i * base[2]) for j,
                             ((_, place), base) in enumerate(zip(found, chosen))))
                  for i in range(4)]
        return self.kernel(name, f"push <grid> (generate 4 (fn i => let s = is ! 0  t = is ! 1  u = is ! 2{lets} in\n  "
                                 f"  {values}))",
                           (s, t, 0), wanted)

    def guarded(self, text, base):
        """The element, as it is or beside one of a place that there is not, for which it is never asked."""
        if self.random.random() < 0.6:
            return f"xs ! ({text})"
        return f"(if u > 0 then xs ! ({base[0]} + ({signed(self.random.getrandbits(32))})) else xs ! ({text}))"

    def kernel(self, name, body, numbers, wanted):
        return (f"kernel {name} (is : [int]) (xs : [int]) =\n  {body}\n"
                f"-- test {name} {str(list(numbers)).replace(' ', '')} iota:{self.ROOM} == "
                f"{str(wanted).replace(' ', '')}\n")

    def unrolled(self, name):
        """A subscript in a loop of few turns, in one of which it is asked for."""
        step = self.random.choice([1, 3, 2 ** 28 + 1, 2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, self.random.getrandbits(32)])
        turn, place = self.random.randrange(4), self.random.randrange(self.ROOM - 3)
        t = signed(place + turn * step)
        body = (f"push <grid> (generate 1 (fn _ => let t = is ! 0  d = is ! 1 in\n    foldl (fn got j => if j == d "
                f"then "
                f"100 * xs ! (t - j * ({signed(step)})) + xs ! (t - j * ({signed(step)}) + 3) else got) 0 (iota 4)))")
        return self.kernel(name, body, (t, turn), [100 * place + place + 3])

    def writes(self, name):
        """The same as places that are written."""
        s, t = self.number(), self.number()
        base = self.base(s, t)
        found = dict((place, text) for text, place in (self.subscript(base) for _ in range(3)))
        wanted = list(range(self.ROOM))
        for value, place in enumerate(found):
            wanted[place] = 1000 + value
        pairs = ", ".join(f"({text}, {1000 + value})" for value, text in enumerate(found.values()))
        return self.kernel(name, f"let s = is ! 0  t = is ! 1  i = 0 in (scatter xs [{pairs}] : [int]<grid>)", (s, t),
                           wanted)

    def program(self):
        kinds = [self.reads, self.reads, self.reads, self.reads, self.unrolled, self.unrolled, self.writes]
        return "\n".join(kind(f"k{i}") for i, kind in enumerate(kinds))


def cases(env):
    reference = suite("reference")
    for seed in range(60):
        def subscripts(seed=seed):
            path = reference.write(env.tmp(), "subscripts.fcl", Subscripts(seed).program())
            total = Counts()
            for executor in "ptx", "ptx-unoptimised":
                counts, wrong = test(env, path, random.Random(seed).choice(CAPABILITIES), IN_ORDER, executor)
                assert not wrong, "\n".join(wrong) + "\n" + counts.output
                assert not counts.failed, f"{open(path, encoding='utf-8').read()}\n{counts.output}"
                total.passed += counts.passed
            return total
        yield Case(f"subscripts that wrap, seed {seed}", subscripts, long=seed >= 6)

    for number, (name, path) in enumerate(programs(env)):
        for capability, order in ALL:
            def run(path=path, capability=capability, extra=ORDERS[order]):
                counts, wrong = test(env, path, capability, extra)
                assert not wrong, "\n".join(wrong) + "\n" + counts.output
                return counts
            yield Case(f"{name} as {capability}, {order}", run,
                       long=(capability, order) != IN_TURN[number % len(IN_TURN)] or os.path.basename(path) in LENGTHY)

    def unknown():
        knows("out.ptx:12: red zones are whole\n")
        try:
            knows("module: unknown instruction tcgen05.ld at line 12\n")
        except AssertionError as problem:
            assert "tcgen05.ld" in str(problem)
        else:
            raise AssertionError("it passes")
    yield Case("an instruction that the processor does not know is a failure", unknown)

    # That the processor finds what is wrong: with its barriers left out it must.
    def finds():
        counts, wrong = test(env, env.path("examples", "reduce", "reduce.fcl"), "75",
                             {**IN_ORDER, "PTXEMU_DROP": "bar.sync"})
        assert any("race" in line for line in wrong), counts.output
    yield Case("a barrier that is left out is found", finds)
