#!/usr/bin/env python3
"""Pictures in PGM and flat arrays of bytes in NumPy's format: pgm.py from IN.pgm OUT.npy, pgm.py to IN.npy WIDTH
OUT.pgm"""

import re
import sys


def npy_of(pgm):
    """The pixels, and the header that NumPy wants before them; comments in the PGM's header are passed over."""
    head = re.match(rb"P5(?:\s|#.*\n)+(\d+)(?:\s|#.*\n)+(\d+)(?:\s|#.*\n)+255\s", pgm)
    if not head:
        sys.exit("pgm.py: this is no binary PGM of one byte for each pixel")
    pixels = pgm[head.end():head.end() + int(head[1]) * int(head[2])]
    text = b"{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % len(pixels)
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    print("width %d, height %d" % (int(head[1]), int(head[2])))
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + pixels


def pgm_of(npy, width):
    """The whole rows of what is there."""
    pixels = npy[10 + int.from_bytes(npy[8:10], "little"):]
    height = len(pixels) // max(1, width)
    return b"P5\n%d %d\n255\n" % (width, height) + pixels[:width * height]


if len(sys.argv) == 4 and sys.argv[1] == "from":
    CONVERT = npy_of
elif len(sys.argv) == 5 and sys.argv[1] == "to":
    def CONVERT(npy):
        return pgm_of(npy, int(sys.argv[3]))
else:
    sys.exit(__doc__)
with open(sys.argv[2], "rb") as file:
    result = CONVERT(file.read())
with open(sys.argv[-1], "wb") as file:
    file.write(result)
