#!/usr/bin/env python3
"""Makes a square picture in PGM of a flat array of bytes in NumPy's format: to_pgm.py IN.npy OUT.pgm"""

import sys

with open(sys.argv[1], "rb") as file:
    data = file.read()
header = 10 + int.from_bytes(data[8:10], "little")
pixels = data[header:]
side = int(len(pixels) ** 0.5)
with open(sys.argv[2], "wb") as file:
    file.write(b"P5\n%d %d\n255\n" % (side, side) + pixels[:side * side])
