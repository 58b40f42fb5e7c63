"""Reads the machine code that a CUDA device gets: of FCL's kernels, of those by hand, of CUB's.

    python3 benchmarks/sass.py          a table of FCL's kernels
    python3 benchmarks/sass.py --all    and of the others, as benchmarks/results/LOG.md has it
    python3 benchmarks/sass.py --save   writes benchmarks/sass.json, which the suite `sass` reads

No GPU is needed: NVIDIA's run-time compiler makes machine code, as the runtime has it do, and
cuobjdump and nvdisasm read it. `make sass` installs all three; CUB's kernels need a CUDA toolkit
with nvcc, too.
"""

import argparse
import ctypes
import glob
import heapq
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BOUNDS = os.path.join(HERE, "sass.json")
ARCHITECTURES = ("80", "90")

# The kernels that each program is read for: those of the tasks of benchmarks/run.
PROGRAMS = {
    "benchmarks/fcl/copy.fcl": "copyGrid",
    "examples/linear/linear.fcl": "saxpy",
    "examples/reverse/reverse.fcl": "reverseGrid",
    "benchmarks/fcl/whole.fcl": ".*",
    "benchmarks/fcl/matrices.fcl": "timesVector|product|unitProduct|batched(16|32)?|edges|transposed",
    "benchmarks/fcl/plain.fcl": ".*",
    "examples/sparse/sparse.fcl": "times",
    "examples/mandelbrot/mandelbrot.fcl": "picture",
    "examples/finance/finance.fcl": "options",
    "examples/sorting/sorting.fcl": "prefixSumsInTwo",
    "examples/reductions/reductions.fcl": "sum",
}
# Bytes that an element has in all inputs of a kernel, or of all kernels of an entry, where they are
# not 4.
ELEMENT_BYTES = {
    "saxpy": 8,
    "segmentSums": 5,
    "segScan": 5,
    "options": 12,
    "blackScholes": 12,
    "placePairs": 8,
    "unitProduct": 2,
    "batched": 2,
    "batched16": 2,
    "batched32": 2,
    **{f"sortedPairs_{i}": 8 for i in (2, 3, 4, 5)},
}

# A multiprocessor has so many registers, threads, blocks, and bytes of shared memory; a block
# takes 1024 bytes beside its own.
REGISTERS, THREADS, BLOCKS = 65536, 2048, 32
SHARED = {"80": 164 * 1024, "90": 228 * 1024}


class Missing(Exception):
    """A tool that is not there; the text says which."""


# ---------------------------------------------------------------- tools


def _roots(build):
    """Where the tools are looked for: what `make sass` installs, and a CUDA toolkit."""
    yield from glob.glob(
        os.path.join(build, "sass", "venv", "lib", "python*", "site-packages", "nvidia", "cu*")
    )
    nvcc = shutil.which("nvcc")
    yield from filter(
        None,
        (
            os.environ.get("CUDA_HOME"),
            nvcc and os.path.dirname(os.path.dirname(os.path.realpath(nvcc))),
            "/usr/local/cuda",
        ),
    )


def _found(what, build, *patterns):
    for root in _roots(build):
        for pattern in patterns:
            for path in sorted(glob.glob(os.path.join(root, pattern))):
                return path
    raise Missing(f"no {what}: `make sass` installs it, and it is part of the CUDA toolkit")


class Tools:
    def __init__(self, build):
        self.build = build
        self.cuobjdump = _found("cuobjdump", build, "bin/cuobjdump")
        self.nvdisasm = _found("nvdisasm", build, "bin/nvdisasm")
        path = _found("NVRTC", build, "lib/libnvrtc.so.*[0-9]", "lib64/libnvrtc.so.*[0-9]")
        try:
            self.nvrtc = ctypes.CDLL(path)
        except OSError as error:
            raise Missing(f"NVRTC cannot be loaded: {error}") from error
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        self.version = f"{major.value}.{minor.value}"

    def compile(self, text, architecture):
        """Machine code, by the options that the runtime has for its kernels."""
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        words = [b"--fmad=false", f"--gpu-architecture=sm_{architecture}".encode()]
        self.nvrtc.nvrtcCreateProgram(
            ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None
        )
        failed = self.nvrtc.nvrtcCompileProgram(
            program, len(words), (ctypes.c_char_p * len(words))(*words)
        )
        read = ("ProgramLog", "ProgramLogSize") if failed else ("CUBIN", "CUBINSize")
        getattr(self.nvrtc, "nvrtcGet" + read[1])(program, ctypes.byref(size))
        got = ctypes.create_string_buffer(size.value)
        getattr(self.nvrtc, "nvrtcGet" + read[0])(program, got)
        self.nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
        if failed:
            raise RuntimeError("NVRTC: " + got.value.decode())
        return got.raw

    def read(self, code):
        """Of machine code: name of each kernel to (resources, instructions as nvdisasm writes
        them)."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "k.cubin")
            with open(path, "wb") as file:
                file.write(code)
            usage = subprocess.run(
                [self.cuobjdump, "--dump-resource-usage", path],
                capture_output=True,
                text=True,
                check=True,
            )
            code = subprocess.run(
                [self.nvdisasm, "-c", path], capture_output=True, text=True, check=True
            )
        resources = {
            name: {key: int(value) for key, value in re.findall(r"(\w+)(?:\[0\])?:(\d+)", line)}
            for name, line in re.findall(r"Function (\S+):\n(.*)", usage.stdout)
        }
        bodies = re.findall(r"^\.text\.(\S+):\n(.*?)(?=^//-----|\Z)", code.stdout, re.M | re.S)
        return {name: (resources[name], body) for name, body in bodies if name in resources}


# ---------------------------------------------------------------- instructions


class Instruction:
    def __init__(self, guard, opcode, operands):
        self.guard, self.opcode, self.operands = guard, opcode, operands
        self.base = opcode.split(".")[0]
        self.target = re.search(r"`\((\.L_x_\d+)\)", operands)
        self.target = self.target and self.target[1]
        registers = [
            (int(n), 2 if wide else 1)
            for n, wide in re.findall(r"\bR(\d+)(?:\.reuse)?(\.64)?", operands)
        ]
        self.is_load = self.base in ("LDG", "LD")
        self.is_store = self.base in ("STG", "ST", "STS", "STL", "RED", "ATOM", "ATOMG", "ATOMS")
        self.bytes = self.width() if self.is_load or self.base in ("STG", "ST", "LDGSTS") else 0
        words = max(1, self.width() // 4)
        first_is_result = (
            not self.is_store
            and self.base not in ("BRA", "EXIT", "BAR")
            and re.match(r"R\d", operands)
        )
        self.results, self.reads = set(), set()
        for place, (number, count) in enumerate(registers):
            if place == 0 and first_is_result:
                self.results = set(range(number, number + (words if self.is_load else count)))
            else:
                wide = words if self.is_store and place == len(registers) - 1 else count
                self.reads |= set(range(number, number + wide))

    def width(self):
        return (
            16
            if ".128" in self.opcode
            else (
                8
                if re.search(r"\.64(?!\.H)", self.opcode)
                else (
                    1
                    if re.search(r"\.[US]8\b", self.opcode)
                    else 2 if re.search(r"\.[US]16\b", self.opcode) else 4
                )
            )
        )


class Block:
    """Instructions that are all done, but for guards, once the first is."""

    def __init__(self):
        self.code, self.next, self.goes_on = [], [], False


def blocks_of(body):
    """The flow of a kernel: blocks, each with the numbers of those that may follow; and the targets
    of branches back."""
    lines = []
    for line in body.splitlines():
        label = re.match(r"(\.L_x_\d+):", line)
        code = re.match(r"\s+/\*[0-9a-f]+\*/\s+(@!?U?P\w+ +)?([A-Z][\w.]*)\s*(.*?)\s*;", line)
        if label:
            lines.append(label[1])
        elif code:
            lines.append(Instruction((code[1] or "").strip(), code[2], code[3]))
    blocks, labels = [Block()], {}
    for line in lines:
        if isinstance(line, str):
            if blocks[-1].code:
                blocks.append(Block())
            labels[line] = len(blocks) - 1
            continue
        blocks[-1].code.append(line)
        if line.base in ("BRA", "EXIT", "RET", "BSYNC", "BRX", "BREAK") and line.base != "BREAK":
            blocks.append(Block())
    reconverge, back = {}, set()
    for number, block in enumerate(blocks):
        for one in block.code:
            if one.base == "BSSY":
                reconverge[one.operands.split(",")[0]] = one.target
        last = block.code[-1] if block.code else None
        ends = last is not None and last.base in ("BRA", "EXIT", "RET", "BSYNC", "BRX")
        maybe = (
            not ends
            or last.guard
            or re.match(r"!?U?P\d", last.operands)
            or ".DIV" in last.opcode
            or ".CONV" in last.opcode
        )
        if ends and last.base == "BRA" and last.target in labels:
            block.next.append(labels[last.target])
        if ends and last.base == "BSYNC":
            target = labels.get(reconverge.get(last.operands.split(",")[0]), number + 1)
            block.next.append(target)
        if maybe and number + 1 < len(blocks):
            block.next.append(number + 1)
            block.goes_on = True
        back |= {n for n in block.next if n <= number}
    return blocks, back


def cheapest(blocks, start, goals):
    """The blocks on the way with the fewest instructions from behind `start` to one of the goals;
    None: there is none."""
    queue, came = [(0, n, start) for n in blocks[start].next], {}
    heapq.heapify(queue)
    while queue:
        cost, number, before = heapq.heappop(queue)
        if number in came:
            continue
        came[number] = before
        if goals(number):
            way = [number]
            while came[way[-1]] != start:
                way.append(came[way[-1]])
            return way[::-1]
        for following in blocks[number].next:
            if following not in came:
                heapq.heappush(queue, (cost + len(blocks[number].code), following, number))
    return None


def in_flight(blocks, back):
    """Bytes that a thread has asked for at most before it waits for one of them, and the block that
    asks for the last."""
    most, where, waiting, got = 0, None, set(), 0
    for number, block in enumerate(blocks):
        if number in back or (number and not blocks[number - 1].goes_on):
            waiting, got = set(), 0
        for one in block.code:
            if waiting & (one.reads | (one.results if not one.is_load else set())):
                waiting, got = set(), 0
            if one.is_load or one.base == "LDGSTS":
                waiting |= one.results
                got += one.bytes
                if got > most:
                    most, where = got, number
    return most, where


def occupancy(architecture, registers, shared, threads):
    """Threads that a multiprocessor holds, in percent of those that it can."""
    warps = (threads + 31) // 32
    by_registers = REGISTERS // max(256, (registers * 32 + 255) // 256 * 256) // 4 * 4 // warps
    by_shared = SHARED[architecture] // ((shared + 1024 + 127) // 128 * 128)
    return round(
        100 * min(by_registers, by_shared, THREADS // (32 * warps), BLOCKS) * warps * 32 / THREADS
    )


def around(blocks, where):
    """The shortest way from a block to itself, or else from the kernel's begin to its end by that
    block."""
    way = cheapest(blocks, where, lambda n: n == where)
    if way is None:
        before = (
            [] if where == 0 else [0] + (cheapest(blocks, 0, lambda n: n == where) or [where])[:-1]
        )
        after = cheapest(blocks, where, lambda n: any(one.base == "EXIT" for one in blocks[n].code))
        way = before + [where] + (after or [])
    return way


def instructions(blocks, numbers):
    return [one for n in numbers for one in blocks[n].code if one.base != "NOP"]


def measures(resources, body, architecture, threads, shared, element):
    """What there is to say of a kernel."""
    blocks, back = blocks_of(body)
    code = instructions(blocks, range(len(blocks)))
    own = resources["SHARED"] - (1024 if architecture >= "90" and resources["SHARED"] else 0)
    shared = max(shared, own)
    most, where = in_flight(blocks, back)
    if where is None:  # it loads nothing: where it stores most
        where = max(range(len(blocks)), key=lambda n: sum(one.bytes for one in blocks[n].code))
    numbers = around(blocks, where)
    way, whole = instructions(blocks, numbers), instructions(
        blocks, range(min(numbers), max(numbers) + 1)
    )
    moved = sum(one.bytes for one in way if one.is_load) or sum(
        one.bytes for one in way if one.base in ("STG", "ST")
    )
    fused = [sum(one.base == "FFMA" for one in block.code) for block in blocks]
    busiest = instructions(blocks, around(blocks, fused.index(max(fused))))
    widths = {}
    for one in code:
        if one.is_load or one.base == "LDGSTS":
            widths[one.bytes * 8] = widths.get(one.bytes * 8, 0) + 1
    return {
        "registers": resources["REG"],
        "spills": sum(one.base in ("STL", "LDL") for one in code),
        "shared": shared,
        "occupancy": occupancy(architecture, resources["REG"], shared, threads),
        "loads": " ".join(f"{widths[width]}×{width}" for width in sorted(widths)),
        "in_flight": most,
        "barriers": sum(one.base == "BAR" for one in code),
        "shortest": round(len(way) * element / moved, 1) if moved else 0,
        "whole": round(len(whole) * element / moved, 1) if moved else 0,
        "fused": (
            round(100 * sum(one.base == "FFMA" for one in busiest) / len(busiest))
            if max(fused) >= 64
            else 0
        ),
        "products": sum(one.base == "HMMA" for one in code),
    }


# ---------------------------------------------------------------- programs


def shared_bytes(comment):
    """What a kernel's comment says, with 256 for what the launch decides."""
    fixed = re.search(r"Shared memory: (\d+) bytes", comment)
    asked = re.search(r"Dynamic shared memory, bytes: (.*?)(, each part|\.$)", comment, re.M)
    names = {name: 256 for name in re.findall(r"[a-z_]\w*", asked[1])} if asked else {}
    names.update(max=max, min=min)
    return (int(fixed[1]) if fixed else 0) + (eval(asked[1], {}, names) if asked else 0)


def kernels_of(tools, fclc, program, architecture, *options):
    """The measures of a program's kernels that are read: name to measures."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.cu")
        subprocess.run(
            [fclc, "--check=none", *options, os.path.join(ROOT, program), "-o", path],
            check=True,
            capture_output=True,
        )
        with open(path, encoding="utf-8") as file:
            text = file.read()
    heads = {}
    head = r"/\*((?:(?!\*/).)*)\*/\s*extern \"C\" __global__ void __launch_bounds__\((\d+)[^)]*\) (\w+)\("
    for comment, threads, name in re.findall(head, text, re.S):
        heads[name] = int(threads), shared_bytes(comment)
    found = {}
    for name, (resources, body) in tools.read(tools.compile(text, architecture)).items():
        entry = re.sub(r"_\d+$", "", name)
        if re.fullmatch(PROGRAMS[program], entry):
            threads, shared = heads[name]
            row = measures(
                resources,
                body,
                architecture,
                threads,
                shared,
                ELEMENT_BYTES.get(name, ELEMENT_BYTES.get(entry, 4)),
            )
            found[name] = {"program": program, **row}
    return found


# How many threads a block of these has; the others have 256 (reference/plans_cuda.c).
HAND_THREADS = {}


def by_hand(tools, architecture):
    """The same of the hand-written kernels."""
    found = {}
    with open(os.path.join(HERE, "reference", "device.cuh"), encoding="utf-8") as file:
        common = file.read()
    for path in sorted(glob.glob(os.path.join(HERE, "reference", "*.cu"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for name, (resources, body) in tools.read(
            tools.compile(common + "\n" + text, architecture)
        ).items():
            found[name] = measures(
                resources,
                body,
                architecture,
                HAND_THREADS.get(name, 256),
                0,
                ELEMENT_BYTES.get(name, 4),
            )
    return found


# CUB's kernels that do the work: what is in their names, mangled, and what they are for.
CUB = {
    "18DeviceReduceKernel": "reduce",
    "16DeviceScanKernel": "scan",
    "23DeviceSelectSweepKernel": "filter",
    "33DeviceRadixSortHistogramKernel|30DeviceRadixSortHistogramKernel": "sort: counts",
    "29DeviceRadixSortOnesweepKernel": "sort: sweep",
    "26DeviceHistogramSweepKernel.*ELi0E": "histogram256",
    "27DeviceSegmentedReduceKernel": "rows",
}


def of_cub(tools, architecture):
    """The same of CUB's kernels, where there is a toolkit with nvcc and its headers."""
    nvcc = _found("nvcc", tools.build, "bin/nvcc")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.cubin")
        subprocess.run(
            [
                nvcc,
                "-std=c++17",
                "-O3",
                f"-arch=sm_{architecture}",
                "-cubin",
                "-o",
                path,
                os.path.join(HERE, "peers", "cub_kernels.cu"),
            ],
            check=True,
        )
        elf = subprocess.run(
            [tools.cuobjdump, "-elf", path], capture_output=True, text=True, check=True
        ).stdout
        with open(path, "rb") as file:
            kernels = tools.read(file.read())
    threads = {}
    for part in re.split(r"^\.nv\.info\.", elf, flags=re.M)[1:]:
        most = re.search(r"EIATTR_MAX_THREADS\n.*\n\s*Value:\s*0x([0-9a-f]+)", part)
        threads[part.split("\n")[0].strip()] = int(most[1], 16) if most else 256
    found = {}
    for pattern, what in CUB.items():
        for name, (resources, body) in kernels.items():
            if re.search(pattern, name):
                found[what] = measures(resources, body, architecture, threads[name], 0, 4)
    return found


# ---------------------------------------------------------------- launches

# A program's kernel is run with these on the simulator, to see what the host does: 70,001
# elements.
RUNS = {
    "copyGrid": ("benchmarks/fcl/copy.fcl", "iota:70001"),
    "saxpy": ("examples/linear/linear.fcl", "2.0 iota:70001 iota:70001"),
    "reverseGrid": ("examples/reverse/reverse.fcl", "iota:70001"),
    "transposed": ("benchmarks/fcl/matrices.fcl", "256 256 iota:65536"),
    "total": ("benchmarks/fcl/whole.fcl", "iota:70001"),
    "centred": ("tests/run/optimiser/kept_on_device.fcl", "iota:70001"),
    "sums": ("benchmarks/fcl/whole.fcl", "iota:70001"),
    "positive": ("benchmarks/fcl/whole.fcl", "random:70001:1:-9:9"),
    "sorted": ("benchmarks/fcl/whole.fcl", "random:70001:1"),
    "sortedPairs": ("benchmarks/fcl/whole.fcl", "random:70001:1 iota:70001"),
    "counts": ("benchmarks/fcl/whole.fcl", "256 random:70001:1:0:255"),
    "bucketSums": ("benchmarks/fcl/whole.fcl", "256 random:70001:1:0:255 iota:70001"),
    "timesVector": ("benchmarks/fcl/matrices.fcl", "256 iota:65536 iota:256"),
    "product": ("benchmarks/fcl/matrices.fcl", "128 iota:16384 iota:16384"),
    "unitProduct": ("benchmarks/fcl/matrices.fcl", "128 fill:16384:1 fill:16384:2"),
    "edges": ("benchmarks/fcl/matrices.fcl", "256 256 iota:65536"),
}


def launches(fclc, kernel, variables):
    """What the host does for one run of a kernel: launches, fills of memory, and how often it waits
    for a number that the
    device has found before it goes on, or which is the result. `variables` make the simulator the
    device.
    """
    program, arguments = RUNS[kernel]
    with tempfile.TemporaryDirectory() as folder:
        calls = os.path.join(folder, "calls")
        subprocess.run(
            [
                fclc,
                "run",
                "--target=cuda",
                "--no-check",
                "-o",
                os.path.join(folder, "r.npy"),
                os.path.join(ROOT, program),
                kernel,
                *arguments.split(),
            ],
            check=True,
            capture_output=True,
            env={**os.environ, **variables, "CUDASIM_CALLS": calls},
        )
        with open(calls, encoding="utf-8") as file:
            done = [line.split() for line in file]
    last = max(n for n, words in enumerate(done) if words[0] == "launch")
    waits = sum(
        words[0] == "read" and (n < last or int(words[1]) <= 8) for n, words in enumerate(done)
    )
    return {
        "launches": sum(words[0] == "launch" for words in done),
        "fills": sum(words[0] == "fill" for words in done),
        "waits": waits,
    }


# ---------------------------------------------------------------- bounds


def worse(bound, got):
    """What is worse than it was, in words."""
    more = [
        key
        for key in ("spills", "shared", "barriers", "launches", "fills", "waits")
        if got.get(key, 0) > bound.get(key, 0)
    ]
    more += [
        key for key in ("shortest", "whole") if got.get(key, 0) > 1.02 * bound.get(key, 0) + 0.1
    ]
    less = [key for key in ("occupancy", "in_flight", "products") if got.get(key, 0) < bound.get(key, 0)]
    less += [key for key in ("fused",) if got.get(key, 0) < bound.get(key, 0) - 1]
    return [f"{key} was {bound.get(key, 0)} and is {got.get(key, 0)}" for key in more + less]


def load_bounds():
    with open(BOUNDS, encoding="utf-8") as file:
        return json.load(file)


def save_bounds(bounds):
    """A line for each kernel, without what is 0."""
    with open(BOUNDS, "w", encoding="utf-8") as file:
        parts = []
        for part, rows in bounds.items():
            if not isinstance(rows, dict):
                parts.append(f'"{part}": {json.dumps(rows)}')
                continue
            kept = {
                name: {key: value for key, value in row.items() if value}
                for name, row in sorted(rows.items())
            }
            lines = ",\n".join(
                f"{json.dumps(name)}: {json.dumps(row, ensure_ascii=False)}"
                for name, row in kept.items()
            )
            parts.append(f'"{part}": {{\n{lines}\n}}')
        file.write("{\n" + ",\n".join(parts) + "\n}\n")


# ---------------------------------------------------------------- tables

COLUMNS = (
    ("registers", "registers"),
    ("spills", "spills"),
    ("shared", "shared"),
    ("occupancy", "occupancy %"),
    ("loads", "loads"),
    ("in_flight", "in flight"),
    ("barriers", "barriers"),
    ("shortest", "instructions an element"),
    ("fused", "fused %"),
    ("products", "products"),
)


def cell(key, row):
    if key == "shortest":
        return (
            f"{row['shortest']:g}–{row['whole']:g}"
            if row["whole"] > row["shortest"]
            else f"{row['shortest']:g}"
        )
    return str(row[key]) if row[key] else "–"


def table(rows):
    """Markdown of name to (measures on sm_80, on sm_90)."""
    lines = [
        "| kernel | " + " | ".join(title for _, title in COLUMNS) + " |",
        "|---" * (len(COLUMNS) + 1) + "|",
    ]
    for name, both in rows.items():
        cells = []
        for key, _ in COLUMNS:
            values = [cell(key, row) for row in both]
            cells.append(values[0] if len(set(values)) == 1 else " / ".join(values))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--build", default=os.path.join(ROOT, "build"), help="where fclc is, and the simulator"
    )
    parser.add_argument(
        "--all", action="store_true", help="also what is written by hand, and CUB's"
    )
    parser.add_argument("--save", action="store_true", help="write benchmarks/sass.json")
    parser.add_argument("--program", help="only this one")
    options = parser.parse_args()
    try:
        tools, fclc = Tools(options.build), os.path.join(options.build, "fclc")
        programs = [options.program] if options.program else PROGRAMS
        ours = {
            architecture: {
                name: row
                for program in programs
                for name, row in kernels_of(tools, fclc, program, architecture).items()
            }
            for architecture in ARCHITECTURES
        }
        others = [("by hand", by_hand), ("CUB", of_cub)] if options.all else []
        print(table({name: [ours[a][name] for a in ARCHITECTURES] for name in sorted(ours["80"])}))
        for title, measured in others:
            found = {architecture: measured(tools, architecture) for architecture in ARCHITECTURES}
            print(
                f"\n{title}\n\n"
                + table({name: [found[a][name] for a in ARCHITECTURES] for name in found["80"]})
            )
    except Missing as missing:
        sys.exit(f"sass.py: {missing}")
    done = {}
    simulator = os.path.join(options.build, "tests", "libcudasim.so")
    if os.path.exists(simulator) and not options.program:
        variables = {"FCL_LIBCUDA": simulator, "FCL_LIBNVRTC": simulator}
        done = {kernel: launches(fclc, kernel, variables) for kernel in RUNS}
        print("\n| kernel | launches | fills | host waits |\n|---|---|---|---|")
        for kernel, row in done.items():
            print(f"| {kernel} | {row['launches']} | {row['fills']} | {row['waits']} |")
    if options.save:
        save_bounds(
            {"NVRTC": tools.version, **{"sm_" + a: ours[a] for a in ARCHITECTURES}, "host": done}
        )


if __name__ == "__main__":
    main()
