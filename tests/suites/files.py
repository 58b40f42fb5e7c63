"""Arguments from files as other programs write them: tables with names, edge lists, Matrix Market, pictures, archives.
The forms of numbers and separators are in tests/unit/test_values.c."""

import os
import struct
import zipfile
from harness import Case, Skip

ORDER = 46
PROGRAM = """
kernel ints (xs : [int]) = push <grid> xs
kernel floats (xs : [float]) = push <grid> xs
kernel rows (xs : [[float]]) = xs
kernel edges (xs : [(int, int)]) = xs
kernel entries (xs : [(int, int, float)]) = xs
kernel whole (xs : [(i8, int, int)]) = xs
kernel grey (xs : [[u8]]) = xs
kernel deep (xs : [[u16]]) = xs
kernel colours (xs : [[(u8, u8, u8)]]) = xs
kernel bytes (xs : [u8]) = xs
type point = { x : float, y : int }
kernel points (xs : [point]) = xs
type body = { p : point, m : int }
kernel bodies (xs : [body]) = xs
kernel both (x : (int, float)) = x
kernel all (xs : [(int, (double, bool))]) = xs
kernel degrees (n : int) (xs : [(int, int)]) =
  (reduceByIndex (+) 0 (replicate n 0) (map (fn (from, _) => (from, 1)) xs) : [int]<grid>)
"""
MARKET = "%%MatrixMarket matrix "

# (name, what the file holds, kernel, what is printed; or of an error a part)
TABLES = [
    ("names.csv", "id,weight\r\n1,0.5\r\n2,-1e3\r\n", "rows", "[[1.0,0.5],[2.0,-1000.0]]"),
    ("quoted.csv", '"id";"weight, kg"\n"1";0.5\n', "rows", "[[1.0,0.5]]"),
    ("names.csv:weight", "id,weight\nBob,0.5\nEve,2\n", "floats", "[0.5,2.0]"),
    ("names.csv", "name,y,x\nBob,1,0.5\nEve,2,3\n", "points", "[{x=0.5,y=1},{x=3.0,y=2}]"),
    ("names.csv", "x,z\n1,2\n", "points", "no column has the name `y`; there is `x`, `z`"),
    ("names.csv", "x,y,x\n1,2,3\n", "points", "2 columns have the name `x`"),
    ("plain.csv", "1.5,2\n", "points", "[{x=1.5,y=2}]"),
    ("names.csv", "m,p_y,p_x\n7,1,0.5\n", "bodies", "[{p={x=0.5,y=1},m=7}]"),
    ("names.csv", "y,x\n", "points", "[]"),
    ("names.csv:height", "id,weight\n1,0.5\n", "floats", "no column has the name `height`; there is `id`, `weight`"),
    ("names.csv:", "id,weight\n1,0.5\n", "floats", "behind `:` the name of a column is wanted"),
    ("edges.txt", "# Directed graph\n# FromNodeId\tToNodeId\n0\t2\n0\t1\n2\t1\n", "edges", "[(0,2),(0,1),(2,1)]"),
    ("edges.txt", "# From To\n0\t2\n0\t1\n2\t1\n", "degrees 3", "[2,0,1]"),
    ("table.tsv", "a\tb\n1\t2.5\n", "rows", "[[1.0,2.5]]"),
    ("table.DAT", " 1   2.5\n 30  4\n", "rows", "[[1.0,2.5],[30.0,4.0]]"),
    ("comma.csv", "1,5;2,5\n", "floats", "comma.csv: line 1, column 1: `1,5` is no number"),
    ("text.txt", "1 2\n", "bytes", "Its bytes are bytes:@text.txt"),
    ("graph.csv", "\x93NUMPY\x01\x00", "ints", "its bytes are those of a .npy file"),
    ("sheet.csv", "PK\x03\x04\x14", "ints", "its bytes are those of a .npz file (or another zip archive)"),
    ("packed.csv.gz", "\x1f\x8b\x08\x00", "ints", "it is compressed: uncompress it"),
    ("data.xyz", "1 2\n", "ints", "the bytes of others are of type [u8]"),
    ("data.xyz", "1 2\n", "bytes", "[49,32,50,10]"),
]
MARKETS = [
    ("coordinate real general\n% by hand\n\n2 3 2\n1 1 1.5\r\n2 3 -2e0\n", "entries", "[(0,0,1.5),(1,2,-2.0)]"),
    ("coordinate integer symmetric\n3 3 2\n3 1 7\n2 2 5\n", "entries", "[(2,0,7.0),(0,2,7.0),(1,1,5.0)]"),
    ("coordinate integer skew-symmetric\n3 3 1\n3 2 5\n", "whole", "[(2,1,5),(1,2,-5)]"),
    ("coordinate pattern general\n3 3 1\n3 2\n", "entries", "[(2,1,1.0)]"),
    ("coordinate pattern symmetric\n3 3 2\n3 2\n1 1", "edges", "[(2,1),(1,2),(0,0)]"),
    ("Array Real General\n2 3\n1\n2\n3\n4\n5\n6\n", "rows", "[[1.0,3.0,5.0],[2.0,4.0,6.0]]"),
    ("array real symmetric\n2 2\n1\n2\n3\n", "rows", "[[1.0,2.0],[2.0,3.0]]"),
    ("array real skew-symmetric\n2 2\n2\n", "rows", "[[0.0,-2.0],[2.0,0.0]]"),
    ("array real general\n2 1\n1\n2\n", "floats", "[1.0,2.0]"),
    ("coordinate real general\n0 0 0\n", "entries", "[]"),
    ("coordinate real general\n2 2 1\n1 1 1\n", "edges", "rows, columns and values of a sparse matrix"),
    ("coordinate real general\n2 2 1\n1 1 1\n", "rows", "rows, columns and values of a sparse matrix"),
    ("array real general\n1 1\n1\n", "entries", "a dense matrix of 1 × 1, and [(int, int, float)] is wanted"),
    ("coordinate real general\n2 2 1\n1 3 1\n", "entries", "line 3: a column from 1 to 2 is wanted, not `3`"),
    ("coordinate real general\n2 2 1\n0 1 1\n", "entries", "line 3: a row from 1 to 2 is wanted, not `0`"),
    ("coordinate real general\n2 2 1\n1 1\n", "entries", "line 3: a value is missing"),
    ("coordinate real general\n2 2 1\n1 1 1,5\n", "entries", "line 3: `1,5` is no number"),
    ("coordinate real general\n2 2 1\n1 1 1 5\n", "entries", "line 3: `5` is too much in this line"),
    ("coordinate real general\n2 2 2\n1 1 1\n", "entries", "the file ends after 1 of 2 entries"),
    ("coordinate real general\n2 2 1\n1 1 1\n% no\n2 2 1\n", "entries", "line 5: more follows than the sizes say"),
    ("coordinate real general\n9 9 2000000000\n1 1 1\n", "entries", "too short for what these sizes say"),
    ("coordinate complex general\n1 1 1\n1 1 1 0\n", "entries", "complex numbers cannot be read"),
    ("coordinate real symmetric\n2 2 1\n1 2 3\n", "entries", "is given on the diagonal and below"),
    ("coordinate integer symmetric\n200 200 1\n200 1 3\n", "whole", "199 does not fit i8"),
    ("coordinate integer skew-symmetric\n2 2 1\n2 1 -2147483648\n", "whole", "twin of the entry does not fit int"),
    ("coordinate real general\n1 1 1\n1 1 1.5\n", "whole", "1.5 is not an integer"),
]
PICTURES = [
    (b"P2\n# by hand\n3 2 # wide\n255\n0 1 2\n3 4 255\n", "grey", "[[0,1,2],[3,4,255]]"),
    (b"P5 2 2\n255\n\x00\x0a#\xff", "grey", "[[0,10],[35,255]]"),
    (b"P5 2 1 65535\n\x01\x02\xff\xfe", "deep", "[[258,65534]]"),
    (b"P5 2 1 15 \x07\x0f\n", "rows", "[[7.0,15.0]]"),
    (b"P3 2 1 255 1 2 3 4 5 6", "colours", "[[(1,2,3),(4,5,6)]]"),
    (b"P6 1 2 255\nabcdef", "colours", "[[(97,98,99)],[(100,101,102)]]"),
    (b"P5 0 2 255\n", "grey", "[[],[]]"),
    (b"P5 2 1 65535\n\x01\x02\xff\xfe", "grey", "grey samples of up to 65535, as [[u16]] holds them, not [[u8]]"),
    (b"P6 1 1 255\nabc", "grey", "as [[(u8, u8, u8)]] holds them, not [[u8]]"),
    (b"P5 1 1 255\na", "colours", "as [[u8]] holds them"),
    (b"P5 2 2 255\nabc", "grey", "cut short: 2 × 2 pixels are wanted, and there are 3"),
    (b"P5 2147483647 2147483647 255\nabc", "grey", "cut short"),
    (b"P5 2 2 255\nabcde", "grey", "byte 15: more follows the picture"),
    (b"P5 2 1 100\nde", "grey", "byte 12: a sample of 101, and the greatest is 100"),
    (b"P2 2 1 255\n1 256", "grey", "byte 13: a sample from 0 to 255 is wanted"),
    (b"P2 2 1 70000\n1 2", "grey", "byte 7: a greatest sample from 1 to 65535 is wanted"),
    (b"P4 8 1\na", "grey", "P4, which cannot be read: convert it to P5"),
    (b"P5", "grey", "the file ends where a width is wanted"),
    (b"1 2 3", "grey", "this is no PGM or PPM file"),
]


def npy(descr, shape, data):
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def cases(env):
    def given(kernel, argument, folder, stdin=None):
        """The printed result, or the error."""
        env.written("p.fcl", PROGRAM, folder)
        words = [env.fclc, "run", "--target=interp", "p.fcl", *kernel.split(), argument]
        done = env.run(*words, cwd=folder, input=stdin)
        assert done.returncode in (0, 2) and (done.returncode == 0) == (done.stderr == ""), done.stderr
        return done.stdout.rstrip("\n") or done.stderr

    def check(name, data, kernel, wanted, folder):
        with open(os.path.join(folder, name.partition(":")[0]), "wb") as file:
            file.write(data)
        got = given(kernel, "@" + name, folder)
        assert got == wanted if wanted[0] in "[(" else wanted in got, f"{name} {data!r}: {got}"

    def tables():
        folder = env.tmp()
        for name, text, kernel, wanted in TABLES:
            check(name, text.encode("latin-1"), kernel, wanted, folder)
    yield Case("tables", tables)

    def markets():
        folder = env.tmp()
        for text, kernel, wanted in MARKETS:
            check("x.mtx", (MARKET + text).encode(), kernel, wanted, folder)
        check("x.mtx", b"1 1 1\n", "entries", "line 1: `%%MatrixMarket matrix` is wanted", folder)
    yield Case("Matrix Market", markets)

    def pictures():
        folder = env.tmp()
        for data, kernel, wanted in PICTURES:
            check("x.pgm", data, kernel, wanted, folder)
    yield Case("pictures", pictures)

    def structured():
        folder = env.tmp()
        data = struct.pack("<if", 3, 0.5) + struct.pack("<if", -4, 2)
        flat = npy("[('a', '<i4'), ('b', '<f4')]", "(2,)", data)
        check("x.npy", flat, "edges", "field `b`: the elements are of type float", folder)
        check("x.npy", flat, "all", "the array has 2 fields (`a`, `b`), and (int, (double, bool)) has 3", folder)
        check("x.npy", npy("[('a', '<i4'), ('b', '<f4')]", "()", data[:8]), "both", "(3,0.5)", folder)
        check("x.npy", npy("'<i4'", "(2,)", data[:8]), "edges", "the fields of a structured array", folder)
        value = "[(1,(2.5,true)),(2,(-0.5,false))]"
        env.must(env.fclc, "run", "--target=interp", "p.fcl", "all", value, "-o", "y.npy", cwd=folder)
        with open(os.path.join(folder, "y.npy"), "rb") as file:
            written = file.read()
        assert b"'descr': [('f0', '<i4'), ('f1', [('f0', '<f8'), ('f1', '|b1')])]" in written, written
        assert written.endswith(struct.pack("<id?", 1, 2.5, True) + struct.pack("<id?", 2, -0.5, False)), written
        assert given("all", "@y.npy", folder) == value
    yield Case("structured arrays of NumPy", structured)

    def archives():
        folder = env.tmp()
        path = os.path.join(folder, "x.npz")
        members = {"xs.npy": npy("'<i4'", "(3,)", struct.pack("<3i", 1, 2, 3)),
                   "ys.npy": npy("'<i4'", "(300,)", bytes(4 * 300))}
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            with zipfile.ZipFile(path, "w", method) as archive:
                for name, data in members.items():
                    with archive.open(name, "w", force_zip64=True) as member:  # as NumPy does
                        member.write(data)
            for argument, wanted in (("@x.npz:xs", "[1,2,3]"), ("@x.npz:xs.npy", "[1,2,3]"),
                                     ("@x.npz:zs", "no array `zs`; it has `xs`, `ys`"),
                                     ("@x.npz", "the file has `xs`, `ys`: name one"),
                                     ("@x.npz:", "behind `:` the name of an array is wanted")):
                got = given("ints", argument, folder)
                assert got == wanted if wanted[0] == "[" else wanted in got, f"{argument}: {got}"
            assert given("ints", "@x.npz:ys", folder).endswith("… 300 elements]")
            assert "array `xs.npy`: the array has 1 dimension" in given("rows", "@x.npz:xs", folder)
            with open(path, "rb") as file:
                whole = file.read()
            for cut in range(0, len(whole), 97):  # none crashes, none is accepted
                check("cut.npz:xs", whole[:cut], "ints", ": ", folder)
            for at in range(3, len(whole), 29):  # a changed byte: the array as it was, or an error
                changed = bytearray(whole)
                changed[at] ^= 0x11
                with open(os.path.join(folder, "changed.npz"), "wb") as file:
                    file.write(changed)
                got = given("ints", "@changed.npz:xs", folder)
                assert got == "[1,2,3]" or "changed.npz: " in got, got
    yield Case("archives of NumPy", archives)

    def without_zlib():
        """Where there is no zlib, what needs it says so, and what is only stored is read."""
        folder = env.tmp()
        hidden = os.path.join(folder, "hidden")
        os.mkdir(hidden)
        env.written("libz.so.1", "no library\n", hidden)
        data = npy("'<i4'", "(3,)", struct.pack("<3i", 1, 2, 3))
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            with zipfile.ZipFile(os.path.join(folder, f"x{method}.npz"), "w", method) as archive:
                archive.writestr("xs.npy", data)
        env.written("p.fcl", PROGRAM, folder)
        run = (env.fclc, "run", "--target=interp", "p.fcl", "ints")
        changed = {**os.environ, "LD_LIBRARY_PATH": hidden}
        assert env.must(*run, "@x0.npz", cwd=folder, env=changed) == "[1,2,3]\n"
        done = env.run(*run, "@x8.npz", cwd=folder, env=changed)
        if done.returncode == 0:
            raise Skip("zlib is found elsewhere")
        assert done.returncode == 2 and "Debian: zlib1g" in done.stderr, done.stderr
    yield Case("archives without zlib", without_zlib)

    def standard_input():
        folder = env.tmp()
        for kernel, argument, text, wanted in (
                ("ints", "@-", "1\n2\n", "[1,2]"), ("floats", "@-:b", "a,b\n1,2\n", "[2.0]"),
                ("bytes", "@-", "1 2\n", "[1,2]"), ("bytes", "bytes:@-", "1 2\n", "[49,32,50,10]"),
                ("edges", "@-", MARKET + "coordinate pattern general\n1 1 1\n1 1\n", "[(0,0)]"),
                ("grey", "@-", "P2 1 1 9 7", "[[7]]"), ("ints", "@-", "", "standard input: it is empty"),
                ("ints", "@-", "1\nx\n", "standard input: line 2, column 1: `x` is no number"),
                ("ints", "bytes:@p.fcl", "", "the bytes of a file are of type [u8], and [int] is wanted")):
            got = given(kernel, argument, folder, text)
            assert got == wanted if wanted[0] == "[" else wanted in got, f"{kernel} {argument} {text!r}: {got}"
    yield Case("standard input, and bytes", standard_input)

    def in_directives():
        """Beside the program, and inside a tuple."""
        folder = env.tmp()
        env.written("a.csv", "x,y\n1,2\n3,4\n", folder)
        env.written("t.fcl", "kernel f (t : ([int], [int])) = t\nkernel g (xs : [u8]) = length xs\n"
                             "-- test f (@a.csv:x,@a.csv:y) == ([1,3],[2,4])\n-- test g bytes:@a.csv == 12\n", folder)
        done = env.must(env.fclc, "test", "--target=interp", os.path.join(folder, "t.fcl"))
        assert "2 passed" in done, done
    yield Case("files in test directives", in_directives)

    def large():
        """In time that grows as the file does."""
        folder = env.tmp()
        env.written("p.fcl", PROGRAM, folder)
        env.written("large.csv", "n,x\n" + "".join(f"{i},{i % 1000}.25\n" for i in range(500_000)), folder)
        got = env.must(env.fclc, "run", "--target=interp", "p.fcl", "rows", "@large.csv", "--limit=2", cwd=folder,
                       timeout=60)
        assert got == "[[0.0,0.25] … 500000x2 elements]\n", got
    yield Case("a large table", large)
