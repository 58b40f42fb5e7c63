#!/usr/bin/env python3
"""The measurements that are recorded of a GPU, as the table and the picture of benchmarks/README.md.

    python3 benchmarks/recorded.py           prints the table
    python3 benchmarks/recorded.py --write   writes the table into README.md, and the picture into results/h200.svg
    python3 benchmarks/recorded.py --check   exit status 1 where these are not what --write would write

Each side's time is its latest in results/*-h200.json, by date and run, at the largest size that FCL's side has.
"""

import argparse
import glob
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
README, PICTURE = os.path.join(HERE, "README.md"), os.path.join(HERE, "results", "h200.svg")
FCL, HAND, LIBRARY = "fcl", "by hand", "CUB, Thrust, cuBLAS"
# Tasks whose size is their own are recorded under 2^24. Obsidian's sizes and more distributions are in results/LOG.md.
TASKS = ("copy saxpy reverse transpose reduce rowsSquare rowsWide rowsTall scan segScan filter "
         "sort sortFloat sortPairs histogram256 histogram65536 D1 D5 D9 D12 matVec sgemm512 sgemm1024 product64 "
         "sobel csr mandelbrot blackScholes").split()
DRAWN = ("copy saxpy reverse reduce rowsSquare scan segScan filter sort sortPairs histogram256 histogram65536 D1 D12 "
         "matVec sgemm1024").split()
BEGIN, END = "<!-- h200: python3 benchmarks/recorded.py --write -->\n", "<!-- end of h200 -->\n"

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1c2330; }
.small { font-size: 11.5px; fill: #5b6675; }
.paper { fill: #fff; } .line { stroke: #8d99aa; } .fcl { fill: #c2410c; } .library { fill: #aab4c2; }
@media (prefers-color-scheme: dark) {
  text { fill: #dde3ec; } .small { fill: #97a3b4; }
  .paper { fill: #14181f; } .line { stroke: #626d7d; } .fcl { fill: #f08a4b; } .library { fill: #5b6675; }
}
"""
ROW, BAR, LEFT, UNIT, WIDTH = 21, 8, 124, 180, 500


def latest():
    """{task: {side: milliseconds}} at the largest size, and {task: size}; what device and which days."""
    times, days, device = {}, set(), None
    for path in sorted(glob.glob(os.path.join(HERE, "results", "*-h200.json"))):
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        device = f'{record["device"]}, driver {record["driver"]}'
        days.add(record["date"])
        for answer in record["answers"]:  # a later run comes after an earlier one
            times[answer["task"], answer["size"], answer["side"]] = answer["median_s"] * 1e3
    sizes = {task: max(size for name, size, side in times if name == task and side == FCL) for task in TASKS}
    rows = {task: {side: times[task, size, side] for side in (FCL, HAND, LIBRARY) if (task, size, side) in times}
            for task, size in sizes.items()}
    return rows, sizes, device, sorted(days)


def table(rows, sizes):
    lines = ["| task | FCL | by hand | CUB, Thrust, cuBLAS | FCL : library |", "|---|---|---|---|---|"]
    for task, sides in rows.items():
        hand, library = (f"{sides[side]:.3f}" if side in sides else "–" for side in (HAND, LIBRARY))
        share = sides[FCL] / sides[LIBRARY] if LIBRARY in sides else None
        ratio = "–" if share is None else f"{share:.2f}" if share >= 0.1 else f"{share:.3f}"
        size = " 2^26" if sizes[task] == 1 << 26 else ""
        lines.append(f"| {task}{size} | {sides[FCL]:.3f} | {hand} | {library} | {ratio} |")
    return "\n".join(lines) + "\n"


def picture(rows, sizes, device, days):
    """For each task a bar of FCL's time and one of the library's, which are all as long."""
    shapes, y = [], 62
    for task in DRAWN:
        ours, library = rows[task][FCL], rows[task][LIBRARY]
        shapes.append(f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{task}</text>')
        for kind, time, top in (("fcl", ours, y), ("library", library, y + BAR)):
            length = UNIT * time / library
            shapes.append(f'<rect class="{kind}" x="{LEFT}" y="{top}" width="{length:.1f}" height="{BAR - 1}"/>')
        end = LEFT + UNIT * max(1, ours / library) + 6
        shapes.append(f'<text class="small" x="{end:.1f}" y="{y + 12}">{ours:.3f} : {library:.3f} ms</text>')
        y += ROW
    sized = ", ".join(task for task in DRAWN if sizes[task] != 1 << 26)
    notes = (f"Of 2^26 elements; {sized} are smaller.", f"{device}; {' and '.join(days)}")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + 44}" '
            f'viewBox="0 0 {WIDTH} {y + 44}" role="img">\n<title>Times of FCL beside CUB, Thrust and cuBLAS</title>\n'
            f"<style>{STYLE}</style>\n"
            '<rect class="paper" width="100%" height="100%"/>\n<text x="12" y="24">Time beside that of '
            'CUB, Thrust and cuBLAS: shorter is faster</text>\n'
            f'<rect class="fcl" x="{LEFT}" y="38" width="10" height="10"/><text x="{LEFT + 16}" y="47">FCL</text>\n'
            f'<rect class="library" x="{LEFT + 60}" y="38" width="10" height="10"/>'
            f'<text x="{LEFT + 76}" y="47">the library</text>\n'
            + "\n".join(shapes) + f'\n<line class="line" x1="{LEFT + UNIT}" y1="56" x2="{LEFT + UNIT}" y2="{y - 4}"/>\n'
            + "".join(f'<text class="small" x="12" y="{y + 14 + 16 * i}">{note}</text>\n'
                      for i, note in enumerate(notes))
            + "</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the table and the picture")
    parser.add_argument("--check", action="store_true", help="compare them with what is there")
    chosen = parser.parse_args()
    rows, sizes, device, days = latest()
    if not (chosen.write or chosen.check):
        print(table(rows, sizes), end="")
        return 0
    with open(README, encoding="utf-8") as file:
        page = file.read()
    wanted = {README: re.sub(f"(?s)(?<={BEGIN}).*?(?={END})", lambda _: table(rows, sizes), page),
              PICTURE: picture(rows, sizes, device, days)}
    for path, text in wanted.items():
        if chosen.write:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        else:
            with open(path, encoding="utf-8") as file:
                if file.read() != text:
                    print(f"{os.path.relpath(path)} is not what benchmarks/recorded.py --write writes", file=sys.stderr)
                    return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
