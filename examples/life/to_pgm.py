#!/usr/bin/env python3
"""Makes a picture in PGM of a flat array of bytes in NumPy's format, row by row: to_pgm.py IN.npy WIDTH OUT.pgm"""

import sys

with open(sys.argv[1], "rb") as file:
    data = file.read()
header = 10 + int.from_bytes(data[8:10], "little")
pixels = data[header:]
width = int(sys.argv[2])
height = len(pixels) // width
with open(sys.argv[3], "wb") as file:
    file.write(b"P5\n%d %d\n255\n" % (width, height) + pixels[:width * height])
