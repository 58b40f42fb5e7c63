"""The plot of a run of benchmarks/run: for each task a bar for each side, the share of the ceiling that it reaches."""

from xml.sax.saxutils import escape

COLOURS = {"fcl": "#c2410c", "fcl-loop": "#f59e0b", "fcl-simt": "#fcd34d", "reference": "#1f2937",
           "streaming": "#6b7280",
           "boost": "#2563eb", "clblast": "#7c3aed", "blas": "#0d9488", "cuda": "#65a30d", "pyopencl": "#db2777"}
BAR, GAP, LEFT, WIDTH = 12, 10, 210, 620
TEXT = 'font-family="sans-serif" font-size="11"'


def size_text(size):
    """2^24, or the number where it is no power of two."""
    power = size.bit_length() - 1
    return f"2^{power}" if size == 1 << power else str(size)


def share_text(share):
    return f"{share:.2f}" if share >= 0.1 else f"{share:.3f}"


def write(path, record, name_of):
    """Draws the rows of a record that benchmarks/run saves. Bars beyond the ceiling end there; their number tells."""
    groups = {}
    for row in record["rows"]:
        if row["of_ceiling"] is not None:
            groups.setdefault((row["task"], row["size"], row["bound"]), []).append(row)
    sides = dict.fromkeys(row["side"] for row in record["rows"])
    shapes, y = [], 70
    top = y
    for (task, size, bound), rows in groups.items():
        middle = y + len(rows) * BAR / 2 + 4
        shapes.append(f'<text x="{LEFT - 8}" y="{middle}" text-anchor="end" {TEXT}>{escape(task)}, {size_text(size)}'
                      f'{"" if bound == "copy" else " ×"}</text>')
        for row in rows:
            length = min(1.0, row["of_ceiling"]) * WIDTH
            shapes.append(f'<rect x="{LEFT}" y="{y}" width="{max(length, 0.5):.1f}" height="{BAR - 1}" '
                          f'fill="{COLOURS.get(row["side"], "#999999")}"/>')
            shapes.append(f'<text x="{LEFT + length + 4:.1f}" y="{y + BAR - 2}" {TEXT} fill="#444444">'
                          f'{share_text(row["of_ceiling"])}</text>')
            y += BAR
        y += GAP
    lines = [f'<line x1="{LEFT + tenth * WIDTH / 10:.1f}" y1="{top - 6}" x2="{LEFT + tenth * WIDTH / 10:.1f}" y2="{y}" '
             f'stroke="{"#000000" if tenth in (0, 10) else "#dddddd"}"/>' for tenth in range(11)]
    legend, x = [], LEFT
    for side in sides:
        legend.append(f'<rect x="{x}" y="36" width="10" height="10" fill="{COLOURS.get(side, "#999999")}"/>'
                      f'<text x="{x + 14}" y="45" {TEXT}>{escape(name_of(side))}</text>')
        x += 28 + 6 * len(name_of(side))
    title = f'Share of the ceiling: {record["device"]}, {record["date"][:10]}, {record["commit"]}'
    notes = [f'ceilings: {", ".join(record["ceilings"])}', "×: limited by multiply-adds; the others by copying"]
    width = max(LEFT + WIDTH + 60, x + 10)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y + 45}" '
                   f'viewBox="0 0 {width} {y + 45}">\n<rect width="100%" height="100%" fill="#ffffff"/>\n'
                   f'<text x="10" y="20" font-family="sans-serif" font-size="14">{escape(title)}</text>\n'
                   + "\n".join(lines + shapes + legend)
                   + "".join(f'\n<text x="10" y="{y + 18 + 15 * i}" {TEXT}>{escape(note)}</text>'
                             for i, note in enumerate(notes)) + "\n</svg>\n")
