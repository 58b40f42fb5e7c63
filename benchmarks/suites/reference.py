"""The programs of this folder as one would write them with NumPy and Numba, and inputs of any size.

They are what table.py measures beside, and where the results come from of the data sets that are no
suite's own: `python reference.py` makes these (in data/) anew. NumPy and Numba are from PyPI.
"""

import os
import sys

import numpy as np
from numba import njit, prange

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import datasets

f4, f8, i4, i8 = np.float32, np.float64, np.int32, np.int64  # what prange counts with is unsigned
parallel = njit(parallel=True, cache=True)
sequential = njit(cache=True)


# ---- Rodinia ----


@parallel
def sobol(directions, first, count):
    numbers = np.empty(count, f4)
    for k_ in prange(count):
        k = i8(k_)
        gray, x = (first + k) ^ (first + k) >> 1, 0
        for i in range(len(directions)):
            if gray >> i & 1:
                x ^= directions[i]
        numbers[k] = f4(x) * (f4(1) / (f4(1 << len(directions)) + f4(1)))
    return numbers


def rodinia_backprop(n, directions):
    w = sobol(directions, 1, (n + 1) * 17).reshape(n + 1, 17)
    v = sobol(directions, 1 + w.size, 34).reshape(17, 2)
    inputs = sobol(directions, 2 + w.size + v.size, n)
    squash = lambda x: 1 / (1 + np.exp(-x))
    middle = squash(inputs @ w[1:, 1:] + w[0, 1:])
    output = squash(middle @ v[1:, 1:] + v[0, 1:])
    last = output * (1 - output) * (f4(0.1) - output)
    hidden = middle * (1 - middle) * (v[1:, 1:] @ last)
    w[:, 1:] += f4(0.3) * np.outer(np.append(f4(1), inputs), hidden)
    v[:, 1:] += f4(0.3) * np.outer(np.append(f4(1), middle), last)
    return np.abs(last).sum(), np.abs(hidden).sum(), w, v


@parallel
def bfs_round(starts, degrees, edges, distance, front):
    new = np.zeros(len(starts), np.bool_)
    for i_ in prange(len(starts)):
        i = i8(i_)
        if front[i]:
            for e in range(starts[i], starts[i] + degrees[i]):
                to = edges[e]
                if distance[to] < 0:
                    new[to] = True
    return new


def rodinia_bfs(starts, degrees, edges):
    distance = np.full(len(starts), -1, i4)
    front = np.zeros(len(starts), bool)
    distance[0], front[0], far = 0, True, 0
    while front.any():
        front, far = bfs_round(starts, degrees, edges, distance, front), far + 1
        distance[front] = far
    return distance


@parallel
def hotspot_step(t, power, out, across, down, up, time):
    rows, cols = t.shape
    for i_ in prange(rows):
        i = i8(i_)
        for j in range(cols):
            x = t[i, j]
            n, s = t[max(i - 1, 0), j], t[min(i + 1, rows - 1), j]
            w, e = t[i, max(j - 1, 0)], t[i, min(j + 1, cols - 1)]
            out[i, j] = x + time * (
                power[i, j]
                + (e + w - f4(2) * x) / across
                + (s + n - f4(2) * x) / down
                + (f4(80) - x) / up
            )


def rodinia_hotspot(steps, start, power):
    rows, cols = start.shape
    thick, conduct, heat = f4(0.0005), f4(100), f4(0.5 * 1.75e6)
    height, width = f4(0.016) / f4(rows), f4(0.016) / f4(cols)
    capacity = heat * thick * width * height
    across, down = width / (2 * conduct * thick * height), height / (2 * conduct * thick * width)
    up = thick / (conduct * height * width)
    time = f4(0.001) / (f4(3e6) / (heat * thick)) / capacity
    t, out = start.copy(), np.empty_like(start)
    for _ in range(steps):
        hotspot_step(t, power, out, f4(across), f4(down), f4(up), f4(time))
        t, out = out, t
    return t


@parallel
def nearest(points, centres):
    members = np.empty(len(points), i4)
    for p_ in prange(len(points)):
        p = i8(p_)
        best, least = 0, f4(np.inf)
        for c in range(len(centres)):
            s = f4(0)
            for j in range(points.shape[1]):
                d = points[p, j] - centres[c, j]
                s += d * d
            if s < least:
                best, least = c, s
        members[p] = best
    return members


def means(points, members, k):
    counts = np.bincount(members, minlength=k)
    sums = np.stack(
        [np.bincount(members, weights=points[:, j], minlength=k) for j in range(points.shape[1])], 1
    )
    return (sums / np.maximum(1, counts)[:, None]).astype(f4)


def rodinia_kmeans(threshold, k, rounds, points):
    members, centres, changed, done = (
        np.arange(len(points), dtype=i4) % k,
        points[:k],
        threshold + 1,
        0,
    )
    while changed > threshold and done < rounds:
        new = nearest(points, centres)
        centres, changed, members, done = (
            means(points, new, k),
            np.count_nonzero(new != members),
            new,
            done + 1,
        )
    return centres, i4(done)


@parallel
def lud_step(a, k):
    for i_ in prange(k + 1, len(a)):
        i = i8(i_)
        a[i, k] /= a[k, k]
        a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]


def rodinia_lud(m):
    a = m.copy()
    for k in range(len(a) - 1):
        lud_step(a, k)
    return a


@sequential
def rodinia_nw(penalty, scores, matches):
    table = scores.copy()
    for i in range(1, len(table)):
        for j in range(1, len(table)):
            skip = max(table[i, j - 1], table[i - 1, j]) - penalty
            table[i, j] = max(skip, table[i - 1, j - 1] + matches[i, j])
    return table


@sequential
def srad_slopes(x, i, j):
    rows, cols = x.shape
    return (
        x[max(i - 1, 0), j] - x[i, j],
        x[min(i + 1, rows - 1), j] - x[i, j],
        x[i, max(j - 1, 0)] - x[i, j],
        x[i, min(j + 1, cols - 1)] - x[i, j],
    )


@parallel
def srad_step(x, spread, cs, out):
    rows, cols = x.shape
    for i_ in prange(rows):
        i = i8(i_)
        for j in range(cols):
            n, s, w, e = srad_slopes(x, i, j)
            g = (n * n + s * s + w * w + e * e) / (x[i, j] * x[i, j])
            l = (n + s + w + e) / x[i, j]
            d = f4(1) + f4(0.25) * l
            q = (f4(0.5) * g - l * l / f4(16)) / (d * d)
            cs[i, j] = min(
                max(f4(1) / (f4(1) + (q - spread) / (spread * (f4(1) + spread))), f4(0)), f4(1)
            )
    for i_ in prange(rows):
        i = i8(i_)
        for j in range(cols):
            n, s, w, e = srad_slopes(x, i, j)
            below, right = cs[min(i + 1, rows - 1), j], cs[i, min(j + 1, cols - 1)]
            out[i, j] = x[i, j] + f4(0.125) * (cs[i, j] * n + below * s + cs[i, j] * w + right * e)


def rodinia_srad(image):
    x = np.exp(image.astype(f4) / f4(255))
    cs, out = np.empty_like(x), np.empty_like(x)
    for _ in range(100):
        mean = x.mean(dtype=f8)
        spread = ((x.astype(f8) ** 2).mean() - mean * mean) / (mean * mean)
        srad_step(x, f4(spread), cs, out)
        x, out = out, x
    return np.log(x) * f4(255)


def rodinia_nn(k, latitude, longitude, latitudes, longitudes):
    far = np.sqrt((latitude - latitudes) ** 2 + (longitude - longitudes) ** 2)
    places = np.argsort(far, kind="stable")[:k]
    return places.astype(i4), far[places]


@parallel
def pathfinder_walls(cols, rows):
    walls = np.empty((rows, cols), i4)
    for r_ in prange(rows):
        r = i8(r_)
        for c in range(cols):
            n = r * cols + c + 1
            gray, x = (n >> 1) ^ n, 0
            for i in range(30):
                if gray >> i & 1:
                    x ^= 1 << (29 - i)
            walls[r, c] = x % 10
    return walls


def rodinia_pathfinder(cols, rows):
    walls = pathfinder_walls(cols, rows)
    best = walls[0]
    for r in range(1, rows):
        padded = np.pad(best, 1, mode="edge")
        best = walls[r] + np.minimum(best, np.minimum(padded[:-2], padded[2:]))
    return best


@parallel
def lava(alpha, numbers, neighbours, counts, vs, xs, ys, zs, charges, out):
    boxes, size = vs.shape
    for b_ in prange(boxes):
        b = i8(b_)
        for p in range(size):
            v, x, y, z = vs[b, p], xs[b, p], ys[b, p], zs[b, p]
            f0, f1, f2, f3 = f4(0), f4(0), f4(0), f4(0)
            for k in range(counts[b] + 1):
                o = numbers[b if k == 0 else neighbours[k - 1, b]]
                for q in range(size):
                    far = v + vs[o, q] - (x * xs[o, q] + y * ys[o, q] + z * zs[o, q])
                    u = np.exp(-(f4(2) * alpha * alpha * far))
                    s = f4(2) * u
                    c = charges[o, q]
                    f0 += c * u
                    f1 += c * (s * (x - xs[o, q]))
                    f2 += c * (s * (y - ys[o, q]))
                    f3 += c * (s * (z - zs[o, q]))
            out[0, b, p], out[1, b, p], out[2, b, p], out[3, b, p] = f0, f1, f2, f3


def rodinia_lavaMD(
    alpha, bx, by, bz, numbers, nx, ny, nz, neighbours, counts, vs, xs, ys, zs, charges
):
    out = np.empty((4,) + vs.shape, f4)
    lava(alpha, numbers, neighbours, counts, vs, xs, ys, zs, charges, out)
    return tuple(out)


@sequential
def lcg_uniform(seed):
    product = (np.uint64(seed) * np.uint64(1103515245) + np.uint64(12345)) & np.uint64(0xFFFFFFFF)
    return np.uint32(product % np.uint64(0x7FFFFFFF))


@sequential
def lcg_normal(seed):
    u = lcg_uniform(seed)
    v = lcg_uniform(u)
    turned = 2 * np.pi * (v / 0x7FFFFFFF)
    return np.sqrt(-2 * np.log(u / 0x7FFFFFFF)) * np.cos(turned), v


@parallel
def particle_move(film, k, disk, xs, ys, seeds, weights):
    height, width, _ = film.shape
    for i_ in prange(len(seeds)):
        i = i8(i_)
        down, seed = lcg_normal(seeds[i])
        across, seeds[i] = lcg_normal(seed)
        xs[i] += 1 + 5 * down
        ys[i] += 2 * across - 2
        row, column = int(np.round(xs[i])), int(np.round(ys[i]))
        light = 0.0
        for d in range(len(disk)):
            r, c = row + disk[d, 0], column + disk[d, 1]
            inside = 0 <= r < height and 0 <= c < width
            p = f8(film[r, c, k] if inside else film[0, 0, k])
            light += ((p - 100) * (p - 100) - (p - 228) * (p - 228)) / 50
        weights[i] = np.exp(light / len(disk))


def rodinia_particlefilter(film, seeds):
    height, width, frames = film.shape
    n, seeds = len(seeds), seeds.copy()
    square = np.stack(np.indices((9, 9)), -1).reshape(-1, 2) - 4
    disk = square[(square**2).sum(1) < 25]
    xs, ys = np.full(n, height // 2, f8), np.full(n, width // 2, f8)
    distances, weights = np.zeros(frames), np.empty(n)
    for k in range(1, frames):
        particle_move(film, k, disk, xs, ys, seeds, weights)
        shares = weights / weights.sum()
        distances[k] = np.hypot(shares @ xs - height // 2, shares @ ys - width // 2)
        first = lcg_uniform(seeds[0]) / 0x7FFFFFFF
        drawn = np.searchsorted(np.cumsum(shares), (np.arange(n) + first) / n)
        xs, ys = (x[np.minimum(n - 1, drawn)] for x in (xs, ys))
    return distances


# The cell is computed in double precision. Where a step is far too long, floats overflow and doubles
# do not, so after the second step the two choose other sizes of steps.
MYOCYTE = np.zeros((13, 12))  # the weights of Fehlberg's stages
MYOCYTE[1, :1] = 2 / 27
MYOCYTE[2, :2] = np.array([1, 3]) / 36
MYOCYTE[3, :3] = np.array([1, 0, 3]) / 24
MYOCYTE[4, :4] = np.array([20, 0, -75, 75]) / 48
MYOCYTE[5, :5] = np.array([1, 0, 0, 5, 4]) / 20
MYOCYTE[6, :6] = np.array([-25, 0, 0, 125, -260, 250]) / 108
MYOCYTE[7, :7] = np.array([93, 0, 0, 0, 244, -200, 13]) / 900
MYOCYTE[8, :8] = np.array([180, 0, 0, -795, 1408, -1070, 67, 270]) / 90
MYOCYTE[9, :9] = np.array([-455, 0, 0, 115, -3904, 3110, -171, 1530, -45]) / 540
MYOCYTE[10, :10] = np.array([2383, 0, 0, -8525, 17984, -15050, 2133, 2250, 1125, 1800]) / 4100
MYOCYTE[11, :10] = np.array([3, 0, 0, 0, 0, -30, -3, -15, 15, 30]) / 205
MYOCYTE[12, :12] = np.array([-1777, 0, 0, -8525, 17984, -14450, 2193, 2550, 825, 1200, 0, 4100])
MYOCYTE[12] /= 4100
MYOCYTE_TIMES = np.array([0, 2 / 27, 1 / 9, 1 / 6, 5 / 12, 1 / 2, 5 / 6, 1 / 6, 2 / 3, 1 / 3, 1, 0, 1])
CELL = 3.1416 * 10.25**2 * 1e-13  # liters
CYTOSOL, RETICULUM, SHELL, JUNCTION = 0.65 * CELL, 0.035 * CELL, 0.02 * CELL, 0.000539 * CELL
FARADAY, VOLT = 96485.0, 96485 / 8314 / 310


@sequential
def sigmoid(x):
    return 1 / (1 + np.exp(x))


@sequential
def nernst(outer, inner):
    return np.log(outer / inner) / VOLT


@sequential
def through_field(v, z, permeability, inner, outer):
    e = np.exp(z * v * VOLT)
    return permeability * z * z * v * FARADAY * VOLT * (inner * e - outer) / (e - 1)


@sequential
def through_membrane(v, gates, pump, v_slow, v_cl, share, opening, slow_gate, na, ca):
    v_na = v - nernst(140.0, na)
    sodium = share * (16 * gates + 0.297e-3) * v_na
    sodium_l = through_field(v, 1.0, 1.5e-8, 0.75 * na, 0.75 * 140) * opening
    pumped = share * 1.90719 * pump * 5.4 / (1 + (11 / na) ** 4) / (5.4 + 1.5)
    slow = share * 0.07 * (0.057 + 0.19 * sigmoid((-4.2 - np.log10(ca)) / 0.6))
    slow *= slow_gate**2 * v_slow
    chloride = share * 0.109625 / (1 + 0.1 / ca) * v_cl
    calcium_l = through_field(v, 2.0, 5.4e-4, 0.341 * ca, 0.341 * 1.8) * opening
    out, back = np.exp(0.35 * v * VOLT), np.exp(-0.65 * v * VOLT)
    weight = 3.59e-3 * 140**3 * (1 + (na / 12.29) ** 3) + 87.5**3 * ca
    weight += 12.29**3 * 1.8 * (1 + ca / 3.59e-3) + (1.3 + 1.8) * na**3 + 140**3 * ca
    exchanged = share * 9 / (1 + (0.256e-3 / ca) ** 3)
    exchanged *= (out * na**3 * 1.8 - back * 140**3 * ca) / weight / (1 + 0.27 * back)
    driven = share * 0.0673 * ca**1.6 / (0.5e-3**1.6 + ca**1.6)
    leaked = share * 2.513e-4 * (v - nernst(1.8, ca) / 2)
    na_in = sodium + sodium_l + 3 * exchanged + 3 * pumped
    ca_in = calcium_l + leaked + driven - 2 * exchanged
    return na_in, ca_in, slow - 2 * pumped + chloride, calcium_l, exchanged, driven, leaked


@sequential
def membrane(period, time, y, d):
    v, r, o, i = y[38], y[13], y[14], y[15]
    csqn, ca_r, na_j, na_s, na_c, k, ca_j, ca_s, ca_c = y[29:38]
    d[0] = 0.32 * (v + 47.13) / (1 - np.exp(-0.1 * (v + 47.13))) * (1 - y[0])
    d[0] -= 0.08 * np.exp(-v / 11) * y[0]
    if v >= -40:
        up_h, down_h = 0.0, 1 / 0.13 * sigmoid(-(v + 10.66) / 11.1)
        up_j, down_j = 0.0, 0.3 * np.exp(-2.535e-7 * v) * sigmoid(-0.1 * (v + 32))
    else:
        up_h = 0.135 * np.exp((80 + v) / -6.8)
        down_h = 3.56 * np.exp(0.079 * v) + 3.1e5 * np.exp(0.35 * v)
        up_j = -127140 * np.exp(0.2444 * v) - 3.474e-5 * np.exp(-0.04391 * v)
        up_j *= (v + 37.78) * sigmoid(0.311 * (v + 79.23))
        down_j = 0.1212 * np.exp(-0.01052 * v) * sigmoid(-0.1378 * (v + 40.14))
    d[1], d[2] = up_h * (1 - y[1]) - down_h * y[1], up_j * (1 - y[2]) - down_j * y[2]
    v_k, v_cl = v - nernst(5.4, k), v - nernst(15.0, 150.0)
    v_slow = v - nernst(5.4 + 0.01833 * 140, k + 0.01833 * na_c)
    d[11] = sigmoid(-(v + 50) / 7.5) - y[11]
    d[11] *= (
        0.00138 * (v + 7) / (1 - np.exp(-0.123 * (v + 7)))
        + 6.1e-4 * (v + 10) / (np.exp(0.145 * (v + 10)) - 1)
    )
    d[12] = sigmoid(-(v - 1.5) / 16.7) - y[12]
    d[12] *= (
        7.19e-5 * (v + 30) / (1 - np.exp(-0.148 * (v + 30)))
        + 1.31e-4 * (v + 30) / (np.exp(0.0687 * (v + 30)) - 1)
    )
    x, s, late = sigmoid(-(v + 3) / 15), sigmoid((v + 33.5) / 10), sigmoid((v + 60) / 10)
    d[7] = (x - y[7]) / (9 * sigmoid((v + 3) / 15) + 0.5)
    d[8] = (s - y[8]) / (3000 * late + 30)
    d[9] = (x - y[9]) / (3.5 * np.exp(-((v / 30) ** 2)) + 1.5)
    d[10] = (s - y[10]) / (20 * s + 20)
    d[39] = (s - y[39]) / (2800 * late + 220)
    a = 1.02 * sigmoid(0.2385 * (v_k - 59.215))
    b = 0.49124 * np.exp(0.08032 * (v_k + 5.476)) + np.exp(0.06175 * (v_k - 594.31))
    b *= sigmoid(-0.5143 * (v_k + 4.753))
    current = 0.03 * y[11] * sigmoid((v + 33) / 22.4) + 0.001 * sigmoid(7.488 - v / 5.98)
    current += 0.06 * y[7] * (y[8] + 0.5 * y[39]) + 0.02 * y[9] * y[10] + 0.9 * a / (a + b)
    current = current * v_k + 9e-3 * v_cl
    sigma = (np.exp(140 / 67.3) - 1) / 7
    pump = 1 / (1 + 0.1245 * np.exp(-0.1 * v * VOLT) + 0.0365 * sigma * np.exp(-v * VOLT))
    top = sigmoid(-(v + 14.5) / 6)
    d[3] = (top - y[3]) * (0.035 * (v + 14.5)) / (top * (1 - np.exp(-(v + 14.5) / 6)))
    d[4] = sigmoid((v + 35.06) / 3.6) + 0.6 * sigmoid((50 - v) / 20) - y[4]
    d[4] *= 0.0197 * np.exp(-((0.0337 * (v + 14.5)) ** 2)) + 0.02
    d[5] = 1.7 * ca_j * (1 - y[5]) - 11.9e-3 * y[5]
    d[6] = 1.7 * ca_s * (1 - y[6]) - 11.9e-3 * y[6]
    opening = 0.45 * y[3] * y[4]
    open_j, open_s = opening * 0.9 * (1 - y[5]), opening * 0.1 * (1 - y[6])
    current += through_field(v, 1.0, 2.7e-7, 0.75 * k, 0.75 * 5.4) * (open_j + open_s)
    gates = y[0] ** 3 * y[1] * y[2]
    na_in_j, ca_in_j, other_j, l_j, x_j, p_j, b_j = through_membrane(
        v, gates, pump, v_slow, v_cl, 0.11, open_j, y[11], na_j, ca_j
    )
    na_in_s, ca_in_s, other_s, l_s, x_s, p_s, b_s = through_membrane(
        v, gates, pump, v_slow, v_cl, 0.89, open_s, y[12], na_s, ca_s
    )
    current += na_in_j + na_in_s + ca_in_j + ca_in_s + other_j + other_s
    load = 15 - 14 / (1 + (0.45 / ca_r) ** 2.5)
    rest = 1 - r - o - i
    opens = 10 / load * ca_j**2 * r - 0.06 * o
    shuts = 0.5 * load * ca_j * o - 0.005 * i
    d[13] = 0.005 * rest - 0.5 * load * ca_j * r - opens
    d[14], d[15] = opens - shuts, shuts - 0.06 * i + 10 / load * ca_j**2 * rest
    released, leak = 25 * o * (ca_r - ca_j), 5.348e-6 * (ca_r - ca_j)
    c_part, r_part = (ca_c / 0.246e-3) ** 1.787, (ca_r / 1.7) ** 1.787
    taken = 2.86e-4 * (c_part - r_part) / (1 + c_part + r_part)
    d[16] = 0.1e-3 * na_j * (7.561 - y[16]) - 1e-3 * y[16]
    d[17] = 0.1e-3 * na_s * (1.65 - y[17]) - 1e-3 * y[17]
    d[18] = 32.7 * ca_c * (0.07 - y[18]) - 19.6e-3 * y[18]
    d[19] = 2.37 * ca_c * (0.14 - y[19] - y[20]) - 0.032e-3 * y[19]
    d[20] = 3e-3 * (0.14 - y[19] - y[20]) - 3.33e-3 * y[20]
    d[22] = 13.8 * ca_c * (0.14 - y[22] - y[23]) - 0.46e-3 * y[22]
    d[23] = 0.0157 * (0.14 - y[22] - y[23]) - 0.057e-3 * y[23]
    d[24] = 100 * ca_c * (19 * 0.9e-3 - y[24]) - 0.06 * y[24]
    d[25] = 100 * ca_j * (4.62e-4 * CYTOSOL / JUNCTION - y[25]) - 1.3 * y[25]
    d[26] = 100 * ca_s * (37.38e-3 * CYTOSOL / SHELL - y[26]) - 1.3 * y[26]
    d[27] = 100 * ca_j * (1.65e-4 * CYTOSOL / JUNCTION - y[27]) - 0.03 * y[27]
    d[28] = 100 * ca_s * (13.35e-3 * CYTOSOL / SHELL - y[28]) - 0.03 * y[28]
    d[29] = 100 * ca_r * (2.7 - csqn) - 65 * csqn
    d[30] = (taken - leak) * CYTOSOL / RETICULUM - released - d[29]
    na_js, na_sc = (na_s - na_j) / 1.6382e12 * 0.03, (na_c - na_s) / 1.8308e10 * 0.03
    ca_js, ca_sc = (ca_s - ca_j) / 1.2134e12, (ca_c - ca_s) / 2.6851e11
    per = 1.381e-10 / FARADAY
    d[31] = (na_js - na_in_j * per) / JUNCTION - d[16]
    d[32] = (na_sc - na_js - na_in_s * per) / SHELL - d[17]
    d[33] = -na_sc / CYTOSOL
    d[35] = (ca_js - ca_in_j * per / 2 + released * RETICULUM + leak * CYTOSOL) / JUNCTION
    d[35] -= d[25] + d[27]
    d[36] = (ca_sc - ca_js - ca_in_s * per / 2) / SHELL - d[26] - d[28]
    d[37] = -ca_sc / CYTOSOL - taken - d[18:25].sum()
    d[38] = (9.5 if time % period <= 5 else 0.0) - current
    per *= 1000 / (2 * CYTOSOL)
    d[42], d[43] = -(l_j + l_s) * per, -(p_j + p_s) * per
    d[44], d[45] = 2 * (x_j + x_s) * per, -(b_j + b_s) * per


@sequential
def calmodulin(buffer, kinase, calcineurin, phosphatase, ca, y, d):
    cam, cam2, cam4, buffered, buffered2, buffered4, b2, b, t, t2, a, cn, cn0, cn2, cn4 = y
    to2 = 10 / (0.0025 * (1 + 135 / 0.94 - 1 / 0.012) * (1 + 135 / 8.1 + 1 / 0.022)) * ca**2
    to4 = 500 / (0.128 * (1 + 135 / 0.64 + 1 / 0.0014) * (1 + 135 / 13 - 1 / 0.153)) * ca**2
    takes2, takes4 = to2 * cam - 10 * cam2, to4 * cam2 - 500 * cam4
    buffer2, buffer4 = to2 * buffered - 0.1 * buffered2, to4 * buffered2 - 500 * buffered4
    free = (buffer - buffered - buffered2 - buffered4) * 0.007
    enters, enters2 = free * cam - 0.0014 * buffered, free * cam2 - 1.4e-5 * buffered2
    enters4 = free * cam4 - 1.4e-5 * buffered4
    cn_takes = 2 * ca**2 * (calcineurin - cn - cn0 - cn2 - cn4) - cn
    cn_takes2, cn_takes4 = to2 * cn0 - 10 / 165 * cn2, to4 * cn2 - 10 / 2508 * cn4
    cn_joins, cn_joins2 = 46 * cam * cn - 537.966 * cn0, 46 * cam2 * cn - 3.2604 * cn2
    cn_joins4 = 46 * cam4 * cn - 0.0013 * cn4
    join, inactive, active = 2.2 / 33.5e-3, 1 - b2 - b - t - t2 - a, b + t + t2 + a
    joins2 = join * cam2 * inactive - 5 * join * b2
    joins4 = join * cam4 * inactive - 2.2 * b
    fills, empties = to4 * b2 - 3.35 * b, 0.00335 * t - to4 * t2
    turns = (0.055 * active + 0.0074 * active**2 + 0.015 * active**3) * b
    turns -= 1.72 * phosphatase * t / (11.5 + kinase * t)
    shed2 = 1.72 * phosphatase * t2 / (11.5 + kinase * t2)
    parts4, parts2 = 0.0022 * t - join * cam4 * a, 5 * join * t2 - join * cam2 * a
    d[0] = -takes2 - enters - cn_joins
    d[1] = takes2 - takes4 - enters2 - cn_joins2 + kinase * (parts2 - joins2)
    d[2] = takes4 - enters4 - cn_joins4 + kinase * (parts4 - joins4)
    d[3], d[4], d[5] = enters - buffer2, buffer2 + enters2 - buffer4, buffer4 + enters4
    d[6], d[7] = joins2 - fills + shed2, joins4 + fills - turns
    d[8], d[9] = turns - parts4 - empties, empties - parts2 - shed2
    d[10] = parts4 + parts2 - 1.72 * phosphatase * a / (11.5 + kinase * a)
    d[11], d[12] = cn_takes - cn_joins - cn_joins2 - cn_joins4, cn_joins - cn_takes2
    d[13], d[14] = cn_joins2 + cn_takes2 - cn_takes4, cn_joins4 + cn_takes4
    d *= 1e-3
    taken = takes2 + takes4 + buffer2 + buffer4 + cn_takes + cn_takes2 + cn_takes4
    return 2e-3 * (kinase * (empties - fills) - taken)


@sequential
def myocyte_changes(parameters, time, y, d):
    membrane(parameters[0], time, y, d)
    for c in range(3):
        _, buffer, kinase, calcineurin, phosphatase = parameters[1 + 5 * c : 6 + 5 * c]
        own = slice(46 + 15 * c, 61 + 15 * c)
        taken = calmodulin(
            buffer, kinase, calcineurin, phosphatase, 1000 * y[35 + c], y[own], d[own]
        )
        d[35 + c] += 1e-3 * taken
    held = y[46:52].sum() + parameters[3] * y[52:56].sum() + y[58:61].sum()
    for j in range(3):
        leaves = (0.0014 if j == 0 else 1.4e-5) * y[46 + j]
        leaves = 1e-3 * (leaves - (parameters[2] - held) * 0.007 * y[61 + j])
        sinks = 8.587e-15 * (y[61 + j] - y[76 + j])
        d[46 + j] -= leaves
        d[61 + j] += (leaves * 1.779e-14 - sinks) / 6.6013e-13
        d[76 + j] += sinks / 2.1454e-11
    for i in range(91):
        if not np.isfinite(d[i]):
            d[i] = 1e-4


@parallel
def myocyte(shifts, end, start, parameters, times, weights, out):
    good = np.ones(len(shifts), np.bool_)
    tolerance = 10 / end if end else 1.0
    for cell_ in prange(len(shifts)):
        cell = i8(cell_)
        y, d = start + shifts[cell], np.zeros((13, 91))
        new = y.copy()
        time = 0
        while good[cell] and time < end:
            h, tries, good[cell] = 1.0, 0, False
            while not good[cell] and tries < 12:
                for s in range(13):
                    new[:] = y
                    for k in range(s):
                        new += h * weights[s, k] * d[k]
                    myocyte_changes(parameters, time + times[s] * h, new, d[s])
                new = 41 / 840 * (d[0] + d[10]) + 34 / 105 * d[5]
                new = y + h * (new + 9 / 35 * (d[6] + d[7]) + 9 / 280 * (d[8] + d[9]))
                wrong = np.abs(41 / 840 * (d[0] + d[10] - d[11] - d[12]))
                ratio = np.inf
                for i in range(91):
                    allowed = tolerance * (abs(y[i]) if y[i] != 0 else tolerance)
                    if wrong[i] > 0:
                        ratio = min(ratio, allowed / wrong[i])
                good[cell], tries = ratio >= 1, tries + 1
                h = min(0.9, h * min(4.0, max(0.125, 0.8 * ratio ** (1 / 7))))
                if time + 1.5 * h > end:
                    h *= 0.5
            y[:] = new
            time += 1
        out[cell] = y
    return good


def rodinia_myocyte(repeat, eps, workload, end, start, parameters):
    shifts = (np.arange(workload) % repeat).astype(f4) * eps
    out = np.empty((len(shifts), 91), f4)
    good = myocyte(
        shifts, int(end), start.astype(f8), parameters.astype(f8), MYOCYTE_TIMES, MYOCYTE, out
    )
    return good.all(), out


# ---- Accelerate's examples ----


def accelerate_kmeans(k, points):
    centres, moved, rounds = points[:k], True, -1
    while moved:
        new = means(points, nearest(points, centres), k)
        moved, centres, rounds = (np.abs(new - centres) > f4(0.01)).any(), new, rounds + 1
    return centres, i4(rounds)


@parallel
def nbody_step(p, v, m, softening, time):
    a = np.zeros_like(p)
    for i_ in prange(len(m)):
        i = i8(i_)
        x, y, z = p[0, i], p[1, i], p[2, i]
        ax, ay, az = f4(0), f4(0), f4(0)
        for j in range(len(m)):
            dx, dy, dz = p[0, j] - x, p[1, j] - y, p[2, j] - z
            r = f4(1) / np.sqrt(dx * dx + dy * dy + dz * dz + softening * softening)
            s = m[j] * (r * r * r)
            ax, ay, az = ax + s * dx, ay + s * dy, az + s * dz
        a[0, i], a[1, i], a[2, i] = m[i] * ax, m[i] * ay, m[i] * az
    p += time * v
    v += time * a


def accelerate_nbody(steps, softening, time, xs, ys, zs, masses, us, vs, ws):
    p, v = np.array([xs, ys, zs]), np.array([us, vs, ws])
    for _ in range(steps):
        nbody_step(p, v, masses, softening, time)
    return (*p, masses, *v)


def accelerate_pagerank(froms, tos, sizes, rounds):
    n = len(sizes)
    ranks = np.full(n, 1 / n, f4)
    for _ in range(rounds):
        got = np.bincount(tos, weights=ranks[froms] / sizes[froms], minlength=n).astype(f4)
        ranks = got + got[sizes == 0].sum() / f4(n)
    return ranks


def shifted(x, i, j):
    """x with row r and column c taken from row r + i and column c + j, or the nearest."""
    rows, cols = x.shape
    return x[
        np.clip(np.arange(rows) + i, 0, rows - 1)[:, None],
        np.clip(np.arange(cols) + j, 0, cols - 1),
    ]


def accelerate_canny(low, high, image):
    colour = lambda shift: (image >> shift).astype(np.int8).astype(f4)
    x = f4(0.3) * colour(24) + f4(0.59) * colour(16) + f4(0.11) * colour(8)
    taps = [(k, f4(w / 16)) for k, w in zip(range(-2, 3), (1, 4, 6, 4, 1))]
    x = sum(w * shifted(x, 0, k) for k, w in taps)
    x = sum(w * shifted(x, k, 0) for k, w in taps)
    at = lambda i, j: shifted(x, i, j)
    down = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1)
    left = at(-1, -1) + 2 * at(0, -1) + at(1, -1) - at(-1, 1) - 2 * at(0, 1) - at(1, 1)
    steep = np.sqrt(down * down + left * left)
    angle = (np.arctan2(left, down) - f4(np.pi / 8)) * f4(4 / np.pi)
    eighth = (angle + np.where(angle <= 0, f4(8), f4(0))).astype(i4) % 4
    way = np.where((abs(down) <= low) & (abs(left) <= low), 0, np.minimum(255, 64 * (1 + eighth)))
    i, j = np.indices(image.shape)
    di, dj = np.where(way > 128, -1, np.where(way < 128, 1, 0)), np.where(way < 255, -1, 0)
    limit = lambda k, n: np.clip(k, 0, n - 1)
    beside = lambda s: steep[limit(i + s * di, len(image)), limit(j + s * dj, image.shape[1])]
    strong = (
        (way != 0) & (steep >= low) & (steep >= high) & (steep >= beside(1)) & (steep >= beside(-1))
    )
    places = np.flatnonzero(strong)
    return places[places > 0].astype(i4)


@parallel
def accelerate_mandelbrot(width, height, left, bottom, right, top, limit, radius):
    out = np.empty(width * height, i4)
    for e_ in prange(width * height):
        e = i8(e_)
        x = left + f4(e % width) * (right - left) / f4(width)
        y = bottom + f4(e // width) * (top - bottom) / f4(height)
        re, im, n = x, y, 0
        while n < limit and re * re + im * im < radius * radius:
            re, im, n = re * re - im * im + x, f4(2) * re * im + y, n + 1
        out[e] = n
    return out


@parallel
def accelerate_crystal(size, scale, degree, steps, delta):
    out = np.empty(steps * size * size, np.uint32)
    for e_ in prange(len(out)):
        e = i8(e_)
        x, y = f4(e % size) / f4(size) * scale, f4(e // size % size) / f4(size) * scale
        time = f4(e // (size * size)) * delta
        angle = f4(np.pi) / (f4(1) + f4(time ** f4(1.5)) * f4(0.005))
        total = f4(0)
        for i in range(degree):
            a = f4(i) * angle
            total += (np.cos(np.cos(a) * x + np.sin(a) * y) + f4(1)) / f4(2)
        rest = total - np.trunc(total)
        v = f4(1) - rest if int(total) & 1 else rest
        out[e] = 255 << 16 | int(f4(255) * (f4(0.4) + v * f4(0.6))) << 8 | int(f4(255) * v)
    return out


def accelerate_fft(reals, imaginaries):
    all = np.fft.fft2(reals + 1j * imaginaries)
    return all.real.astype(f4), all.imag.astype(f4)


@parallel
def bordered(x, flips):
    g = len(x)
    i_sign, j_sign = f4(-1 if flips == 1 else 1), f4(-1 if flips == 2 else 1)
    for k_ in prange(1, g - 1):
        k = i8(k_)
        x[0, k], x[g - 1, k] = i_sign * x[1, k], i_sign * x[g - 2, k]
        x[k, 0], x[k, g - 1] = j_sign * x[k, 1], j_sign * x[k, g - 2]
    for i in (0, g - 1):
        for j in (0, g - 1):
            x[i, j] = f4(0.5) * (
                x[abs(i - 1) if i == 0 else i - 1, j] + x[i, abs(j - 1) if j == 0 else j - 1]
            )


@parallel
def fluid_solve(steps, flips, a, c, s):
    x, new = np.zeros_like(s), np.zeros_like(s)
    g = len(s)
    for _ in range(steps):
        for i_ in prange(1, g - 1):
            i = i8(i_)
            for j in range(1, g - 1):
                new[i, j] = (
                    s[i, j] + a * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])
                ) / c
        bordered(new, flips)
        x, new = new, x
    return x


@parallel
def fluid_advect(flips, s, u, v, time):
    g, out = len(s), np.zeros_like(s)
    far = f4(g - 2)
    for i_ in prange(1, g - 1):
        i = i8(i_)
        for j in range(1, g - 1):
            x = min(max(f4(i) - time * far * u[i, j], f4(0.5)), far + f4(0.5))
            y = min(max(f4(j) - time * far * v[i, j], f4(0.5)), far + f4(0.5))
            k, l = int(x), int(y)
            s1, t1 = x - f4(k), y - f4(l)
            s0, t0 = f4(1) - s1, f4(1) - t1
            out[i, j] = s0 * (t0 * s[k, l] + t1 * s[k, l + 1]) + s1 * (
                t0 * s[k + 1, l] + t1 * s[k + 1, l + 1]
            )
    bordered(out, flips)
    return out


def accelerate_fluid(u, v, d, steps, solver_steps, time, diffusion, viscosity):
    g = len(u)

    def diffuse(flips, rate, s):
        a = f4(time * rate * f4(g - 2) * f4(g - 2))
        return fluid_solve(solver_steps, flips, a, f4(1) + f4(4) * a, s)

    def project(u, v):
        spread, u1, v1 = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
        spread[1:-1, 1:-1] = (
            f4(-0.5) * (u[2:, 1:-1] - u[:-2, 1:-1] + v[1:-1, 2:] - v[1:-1, :-2]) / f4(g)
        )
        bordered(spread, 0)
        p = fluid_solve(solver_steps, 0, f4(1), f4(4), spread)
        u1[1:-1, 1:-1] = u[1:-1, 1:-1] - f4(0.5) * f4(g - 2) * (p[2:, 1:-1] - p[:-2, 1:-1])
        v1[1:-1, 1:-1] = v[1:-1, 1:-1] - f4(0.5) * f4(g - 2) * (p[1:-1, 2:] - p[1:-1, :-2])
        bordered(u1, 1)
        bordered(v1, 2)
        return u1, v1

    for _ in range(steps):
        u1, v1 = project(diffuse(1, viscosity, u), diffuse(2, viscosity, v))
        u2, v2 = project(fluid_advect(1, u1, u1, v1, time), fluid_advect(2, v1, u1, v1, time))
        u, v, d = u2, v2, fluid_advect(0, diffuse(0, diffusion, d), u, v, time)
    return u, v, d


@sequential
def dot(v, w):
    return v[0] * w[0] + v[1] * w[1] + v[2] * w[2]


@sequential
def along(v, k, w):
    return v[0] + k * w[0], v[1] + k * w[1], v[2] + k * w[2]


@sequential
def unit(v):
    return along((f4(0), f4(0), f4(0)), f4(1) / np.sqrt(dot(v, v)), v)


@sequential
def cross(v, w):
    return v[1] * w[2] - v[2] * w[1], v[2] * w[0] - v[0] * w[2], v[0] * w[1] - v[1] * w[0]


@sequential
def ray_to_ball(point, way, ball):
    centre, radius = (ball[0], ball[1], ball[2]), ball[3]
    out = along(centre, f4(-1), point)
    far = dot(out, way)
    ahead = (far * way[0], far * way[1], far * way[2])
    off = along(along(point, f4(1), ahead), f4(-1), centre)
    aside = np.sqrt(dot(off, off))
    if aside >= radius or dot(ahead, way) <= 0:
        return f4(np.inf)
    return np.sqrt(dot(ahead, ahead)) - np.sqrt(radius * radius - aside * aside)


@sequential
def ray_to_floor(point, way, below, normal):
    slope = dot(way, normal)
    return f4(np.inf) if slope >= 0 else dot(along(below, f4(-1), point), normal) / slope


@sequential
def ray_pixel(balls, limit, point, way):
    below, floor = (f4(0), f4(-100), f4(0)), (f4(0), f4(0.9805807), f4(-0.19611613))
    lamp = (f4(250), f4(350), f4(200))
    red, green, blue, visibility = f4(0), f4(0), f4(0), f4(1)
    for _ in range(limit):
        least, best = f4(np.inf), -1
        for i in range(len(balls)):
            far = ray_to_ball(point, way, balls[i])
            if far < least:
                least, best = far, i
        down = ray_to_floor(point, way, below, floor)
        if least == np.inf and down == np.inf:
            break
        if least < down:
            point = along(point, least, way)
            ball = balls[best]
            normal = unit(along(point, f4(-1), (ball[0], ball[1], ball[2])))
            colour, shine = (ball[4], ball[5], ball[6]), ball[7]
        else:
            point, normal, shine = along(point, down, way), floor, f4(0.2)
            odd = int(point[0] / f4(100)) + int(point[2] / f4(100)) + (point[0] < 0) + (point[2] < 0)
            gray = f4(1 if odd & 1 else 0.4)
            colour = (gray, gray, gray)
        beam = along(lamp, f4(-1), point)
        far = np.sqrt(dot(beam, beam))
        beam = (f4(1) / far * beam[0], f4(1) / far * beam[1], f4(1) / far * beam[2])
        hidden = ray_to_floor(point, beam, below, floor) < far
        for i in range(len(balls)):
            hidden |= ray_to_ball(point, beam, balls[i]) < far
        lit = f4(0) if hidden else min(f4(1), max(f4(0), dot(normal, beam)))
        lit = min(f4(1), lit + f4(0.3))
        own, rest = f4(1) - shine, f4(1) - visibility
        total = rest + visibility
        m, n = rest / total, visibility / total
        r, g, b = own * (lit * colour[0]), own * (f4(0.3) * colour[1]), own * (f4(0.3) * colour[2])
        red = min(f4(1), np.sqrt(m * (red * red) + n * (r * r)))
        green = min(f4(1), np.sqrt(m * (green * green) + n * (g * g)))
        blue = min(f4(1), np.sqrt(m * (blue * blue) + n * (b * b)))
        way = along(way, -(f4(2) * dot(normal, way)), normal)
        visibility *= shine
    return 255 << 24 | int(f4(255) * red) << 16 | int(f4(255) * green) << 8 | int(f4(255) * blue)


@parallel
def accelerate_ray(width, height, degrees, x, y, z, a, b, limit, time):
    s, c, half = np.sin(time), np.cos(time), f4(np.pi) / f4(2)
    rise, fall = f4(40) * np.sin(time + half), f4(40) * np.sin(time - half)
    balls = np.array(
        [  # centre, radius, colour and shine
            [f4(40) * s, f4(-80), f4(0), f4(20), f4(1), f4(0.3), f4(1), f4(0.4)],
            [f4(200) * s, rise, f4(200) * c, f4(100), f4(0.4), f4(0.4), f4(1), f4(0.8)],
            [f4(-200) * s, fall, f4(-200) * c, f4(100), f4(0.4), f4(0.4), f4(1), f4(0.5)],
            [f4(0), f4(150), f4(-100), f4(50), f4(1), f4(1), f4(1), f4(0.8)],
        ]
    )
    forward = unit((np.cos(a) * np.cos(b), np.sin(b), np.sin(a) * np.cos(b)))
    right = unit(cross(forward, (f4(0), f4(1), f4(0))))
    up = unit(cross(right, forward))
    across = np.tan(f4(np.pi) * f4(degrees // 2) / f4(180))
    tall = f4(height) / f4(width) * across
    image = np.empty((height, width), np.uint32)
    for i_ in prange(height):
        i = i8(i_)
        v = f4(height - 1 - i) * (f4(2) * tall / (f4(height) - f4(1))) - tall
        for j in range(width):
            u = f4(j) * (f4(2) * across / (f4(width) - f4(1))) - across
            aside = along((u * right[0], u * right[1], u * right[2]), v, up)
            way = unit(along(forward, f4(1), aside))
            image[i, j] = ray_pixel(balls, limit, (x, y, z), way)
    return image


# ---- Parboil ----


@parallel
def parboil_mri_q(kx, ky, kz, xs, ys, zs, reals, imaginaries):
    q, p = np.empty_like(xs), np.empty_like(xs)
    for i_ in prange(len(xs)):
        i = i8(i_)
        a, b = f4(0), f4(0)
        for k in range(len(kx)):
            angle = f4(6.2831853071795864) * (kx[k] * xs[i] + ky[k] * ys[i] + kz[k] * zs[i])
            m = reals[k] * reals[k] + imaginaries[k] * imaginaries[k]
            a += m * np.cos(angle)
            b += m * np.sin(angle)
        q[i], p[i] = a, b
    return q, p


def parboil_sgemm(a, b, c, alpha, beta):
    return alpha * (a @ b) + beta * c


@parallel
def box_step(a, out):
    layers, ny, nz = a.shape
    for i_ in prange(1, layers - 1):
        i = i8(i_)
        for j in range(1, ny - 1):
            for k in range(1, nz - 1):
                out[i, j, k] = (
                    a[i, j, k + 1]
                    + a[i, j, k - 1]
                    + a[i, j - 1, k]
                    + a[i, j + 1, k]
                    + a[i - 1, j, k]
                    + a[i + 1, j, k]
                ) * f4(1 / 36) + a[i, j, k] * f4(1 / 6)


def parboil_stencil(steps, layers, layer):
    a = np.repeat(layer[None], layers, axis=0)
    out = a.copy()
    for _ in range(steps):
        box_step(a, out)
        a, out = out, a
    return a[0]


def parboil_histo(width, height, image):
    return np.minimum(255, np.bincount(image.ravel(), minlength=height * width)).astype(i4)


WAYS = np.array(
    [
        (0, 0, 0),
        (0, -1, 0),
        (0, 1, 0),
        (-1, 0, 0),
        (1, 0, 0),
        (0, 0, -1),
        (0, 0, 1),
        (-1, -1, 0),
        (1, -1, 0),
        (-1, 1, 0),
        (1, 1, 0),
        (0, -1, -1),
        (0, -1, 1),
        (0, 1, -1),
        (0, 1, 1),
        (-1, 0, -1),
        (-1, 0, 1),
        (1, 0, -1),
        (1, 0, 1),
    ]
)
OPPOSITE = np.array([0, 2, 1, 4, 3, 6, 5, 10, 9, 8, 7, 14, 13, 12, 11, 18, 17, 16, 15])
SHARES = np.array([3] + 6 * [18] + 12 * [36], f4)


@parallel
def lbm_pass(moves, collides, width, height, x, out, ways, opposite, shares):
    n = x.shape[1]
    margin, omega = 2 * width * height, f4(1.95)
    for i_ in prange(n):
        i = i8(i_)
        flag, edge = x[19, i], i < margin or i > n - margin
        rhos = np.empty(19, f4)
        rho, ux, uy, uz = f4(0), f4(0), f4(0), f4(0)
        for d in range(19):
            from_ = (
                i - ways[d, 0] - width * (ways[d, 1] + height * ways[d, 2])
                if moves and not edge
                else i
            )
            r = x[d, from_]
            rhos[d] = r
            rho += r
            ux, uy, uz = ux + f4(ways[d, 0]) * r, uy + f4(ways[d, 1]) * r, uz + f4(ways[d, 2]) * r
        out[19, i] = flag
        if not collides or edge:
            for d in range(19):
                out[d, i] = rhos[d]
        elif flag == 1:
            for d in range(19):
                out[d, i] = rhos[opposite[d]]
        else:
            ux, uy, uz = ux / rho, uy / rho, uz / rho
            if flag == 2:
                ux, uy, uz = f4(0.005), f4(0.002), f4(0)
            u2 = f4(1.5) * (ux * ux + uy * uy + uz * uz)
            for d in range(19):
                along = f4(ways[d, 0]) * ux + f4(ways[d, 1]) * uy + f4(ways[d, 2]) * uz
                out[d, i] = (f4(1) - omega) * rhos[d] + omega * rho / shares[d] * (
                    f4(1) + along * (f4(4.5) * along + f4(3)) - u2
                )


def parboil_lbm(steps, width, height, start):
    def step(moves, collides, x):
        out = np.empty_like(x)
        lbm_pass(moves, collides, width, height, x, out, WAYS, OPPOSITE, SHARES)
        return out

    x = step(False, True, start)
    for _ in range(steps - 1):
        x = step(True, True, x)
    return step(True, False, x)


@parallel
def pairs(a, b, same, ends):
    parts = np.zeros((len(a), 22), i4)
    for i_ in prange(len(a)):
        i = i8(i_)
        for j in range(i + 1 if same else 0, len(b)):
            c = a[i, 0] * b[j, 0] + a[i, 1] * b[j, 1] + a[i, 2] * b[j, 2]
            low, high = 0, 21
            while low < high:
                mid = (low + high) // 2
                if ends[mid] > c:
                    low = mid + 1
                else:
                    high = mid
            parts[i, low] += 1
    return parts.sum(0)


def parboil_tpacf(xs, ys, random_xs, random_ys):
    ends = np.cos(10 ** (np.arange(21) / 5) / 60 * np.radians(1))

    def sphere(a, d):
        a, d = np.radians(a), np.radians(d)
        return np.stack([np.cos(a) * np.cos(d), np.sin(a) * np.cos(d), np.sin(d)], 1)

    data, sets = sphere(xs, ys), [sphere(a, d) for a, d in zip(random_xs, random_ys)]
    counts = [
        pairs(data, data, True, ends),
        sum(pairs(data, r, False, ends) for r in sets),
        sum(pairs(r, r, True, ends) for r in sets),
    ]
    return np.stack(counts, 1)[1:21].ravel().astype(i4)


@parallel
def parboil_spmv(offsets, columns, values, vector):
    out = np.empty(len(offsets) - 1, f4)
    for r_ in prange(len(out)):
        r = i8(r_)
        s = f4(0)
        for k in range(offsets[r], offsets[r + 1]):
            s += values[k] * vector[columns[k]]
        out[r] = s
    return out


# ---- FinPar ----


@sequential
def poly(x, c):
    s = f4(0)
    for a in c:
        s = s * x + a
    return s


TOP = [
    np.array(c, f4)
    for c in (
        (
            2509.0809287301226727,
            33430.575583588128105,
            67265.770927008700853,
            45921.953931549871457,
            13731.693765509461125,
            1971.5909503065514427,
            133.14166789178437745,
            3.387132872796366608,
        ),
        (
            7.7454501427834140764e-4,
            0.0227238449892691845833,
            0.24178072517745061177,
            1.27045825245236838258,
            3.64784832476320460504,
            5.7694972214606914055,
            4.6303378461365452959,
            1.42343711074968357734,
        ),
        (
            2.01033439929228813265e-7,
            2.71155556874348757815e-5,
            0.0012426609473880784386,
            0.026532189526576123093,
            0.29656057182850489123,
            1.7848265399172913358,
            5.4637849111641143699,
            6.6579046435011037772,
        ),
    )
]
BOTTOM = [
    np.array(c, f4)
    for c in (
        (
            5226.495278852854561,
            28729.085735721942674,
            39307.89580009271061,
            21213.794301586595867,
            5394.1960214247511077,
            687.1870074920579083,
            42.313330701600911252,
            1.0,
        ),
        (
            1.05075007164441684324e-9,
            5.475938084995344946e-4,
            0.0151986665636164571966,
            0.14810397642748007459,
            0.68976733498510000455,
            1.6763848301838038494,
            2.05319162663775882187,
            1.0,
        ),
        (
            2.04426310338993978564e-15,
            1.4215117583164458887e-7,
            1.8463183175100546818e-5,
            7.868691311456132591e-4,
            0.0148753612908506148525,
            0.13692988092273580531,
            0.59983220655588793769,
            1.0,
        ),
    )
]


@sequential
def normal(p, top, bottom):
    d = p - f4(0.5)
    if abs(d) <= f4(0.425):
        x = f4(0.180625) - d * d
        return d * poly(x, top[0]) / poly(x, bottom[0])
    r = np.sqrt(-np.log(p if d < 0 else f4(1) - p))
    x = (
        poly(r - f4(1.6), top[1]) / poly(r - f4(1.6), bottom[1])
        if r <= f4(5)
        else poly(r - f4(5), top[2]) / poly(r - f4(5), bottom[2])
    )
    return -x if d < 0 else x


@parallel
def option_paths(
    contract,
    paths,
    directions,
    c,
    vols,
    drifts,
    starts,
    value,
    discounts,
    bridge,
    weights,
    top,
    bottom,
):
    dates, shares = bridge.shape[1], len(starts)
    pay = np.empty(paths, f4)
    for n_ in prange(paths):
        n = i8(n_)
        b = np.zeros((dates, shares), f4)
        p = np.empty((dates, shares), f4)
        for i in range(dates):
            at, left, right = bridge[0, i] - 1, bridge[1, i] - 1, bridge[2, i] - 1
            for j in range(shares):
                x, code, k = 0, (n + 1) ^ ((n + 1) >> 1), 0
                while code:
                    if code & 1:
                        x ^= directions[i * shares + j, k]
                    code, k = code >> 1, k + 1
                z = weights[0, i] * normal(f4(x) / f4(1 << directions.shape[1]), top, bottom)
                if i > 0:
                    z += weights[2, i] * b[right, j]
                    if left >= 0:
                        z += weights[1, i] * b[left, j]
                b[at, j] = z
        for d in range(dates):
            for j in range(shares):
                s = f4(0)
                for k in range(j + 1):
                    s += (b[d, k] - (b[d - 1, k] if d > 0 else f4(0))) * c[j, k]
                p[d, j] = (p[d - 1, j] if d > 0 else starts[j]) * np.exp(
                    drifts[d, j] + s * vols[d, j]
                )
        if contract == 1:
            pay[n] = max(f4(0), p[0, 0] - f4(4000)) * value * discounts[0]
            continue
        worst = np.empty(dates, f4)
        low = False
        for d in range(dates):
            worst[d] = min(p[d, 0] / f4(3758.05), min(p[d, 1] / f4(11840), p[d, 2] / f4(1200)))
            low = low or p[d, 0] <= f4(2630.635) or p[d, 1] <= f4(8288) or p[d, 2] <= f4(840)
        if contract == 2:
            d = 0
            while d < 4 and worst[d] < 1:
                d += 1
            amount = f4(1150 + 150 * d)
            if d == 4 and worst[4] < 1:
                amount = f4(1000) if worst[4] > f4(0.75) else f4(1000) * worst[4]
            pay[n] = amount * discounts[d]
        else:
            end = worst[dates - 1]
            pay[n] = (
                f4(100) * discounts[0]
                + f4(1000) * (end if low and end < 1 else f4(1)) * discounts[1]
            )
    return pay


def finpar_OptionPricing(
    contract,
    paths,
    directions,
    correlations,
    vols,
    drifts,
    starts,
    values,
    discounts,
    bridge,
    weights,
):
    shares, dates, means = starts.shape[1], bridge.shape[1], []
    for m in range(len(starts)):
        own, days = slice(m * shares, (m + 1) * shares), slice(m * dates, (m + 1) * dates)
        pay = option_paths(
            contract,
            paths,
            directions,
            correlations[own],
            vols[days],
            drifts[days],
            starts[m],
            values[m, 0],
            discounts[m],
            bridge,
            weights,
            np.array(TOP),
            np.array(BOTTOM),
        )
        means.append(pay.mean(dtype=f8))
    return np.array(means, f4)


@sequential
def second(n, d, i):
    w = 1 / (d * d)
    return (0.0, 0.0, 0.0) if i == 0 or i == n - 1 else (w, -2 * w, w)


@sequential
def tridiagonal(a, b, c, y):
    n = len(y)
    for i in range(1, n):
        f = a[i] / b[i - 1]
        b[i] -= f * c[i - 1]
        y[i] -= f * y[i - 1]
    y[n - 1] /= b[n - 1]
    for i in range(n - 2, -1, -1):
        y[i] = (y[i] - c[i] * y[i + 1]) / b[i]


@parallel
def finpar_LocVolCalib(strikes, nx, ny, nt, price, strike, t, alpha, nu, beta):
    dx, dy = 20 * alpha * price * np.sqrt(t) / nx, 10 * nu * np.sqrt(t) / ny
    ix, iy = int(price / dx), ny // 2
    out = np.empty(strikes)
    for s_ in prange(strikes):
        s = i8(s_)
        x = np.arange(nx) * dx - ix * dx + price
        y = np.arange(ny) * dy - iy * dy + np.log(alpha)
        grid, u, ey = np.empty((ny, nx)), np.empty((ny, nx)), np.empty((ny, nx))
        for j in range(ny):
            grid[j] = np.maximum(0.0, x - 0.001 * s)
        a, b, c = np.empty(max(nx, ny)), np.empty(max(nx, ny)), np.empty(max(nx, ny))
        for k in range(nt - 2, -1, -1):
            now, after = t * k / (nt - 1.0), t * (k + 1) / (nt - 1.0)
            per = 1 / (after - now)
            for j in range(ny):
                lo, ow, hi = second(ny, dy, j)
                for i in range(nx):
                    ey[j, i] = (
                        0.5
                        * nu
                        * nu
                        * (
                            lo * grid[max(j - 1, 0), i]
                            + ow * grid[j, i]
                            + hi * grid[min(j + 1, ny - 1), i]
                        )
                    )
                for i in range(nx):
                    var = np.exp(2 * (beta * np.log(x[i]) + y[j] - 0.5 * nu * nu * now))
                    lo, ow, hi = second(nx, dx, i)
                    ex = (
                        0.5
                        * var
                        * (
                            lo * grid[j, max(i - 1, 0)]
                            + ow * grid[j, i]
                            + hi * grid[j, min(i + 1, nx - 1)]
                        )
                    )
                    u[j, i] = per * grid[j, i] + 0.5 * ex + ey[j, i]
                    w = -0.25 * var
                    a[i], b[i], c[i] = w * lo, per + w * ow, w * hi
                tridiagonal(a[:nx], b[:nx], c[:nx], u[j])
            for i in range(nx):
                column = np.empty(ny)
                for j in range(ny):
                    lo, ow, hi = second(ny, dy, j)
                    w = -0.25 * nu * nu
                    a[j], b[j], c[j] = w * lo, per + w * ow, w * hi
                    column[j] = per * u[j, i] - 0.5 * ey[j, i]
                tridiagonal(a[:ny], b[:ny], c[:ny], column)
                grid[:, i] = column
        out[s] = grid[iy, ix]
    return out


# ---- the others ----


def misc_radix_sort(xs):
    return np.sort(xs)


@parallel
def bfast_errors(n, terms, images, out):
    p = len(terms)
    for s_ in prange(len(images)):
        s = i8(s_)
        a = np.zeros((p, p + 1))
        for t in range(n):
            if not np.isnan(images[s, t]):
                for r in range(p):
                    for c in range(p):
                        a[r, c] += terms[r, t] * terms[c, t]
                    a[r, p] += terms[r, t] * images[s, t]
        for i in range(p):
            a[i] /= a[i, i]
            for r in range(p):
                if r != i:
                    a[r] -= a[r, i] * a[i]
        for t in range(images.shape[1]):
            fit = 0.0
            for r in range(p):
                fit += terms[r, t] * a[r, p]
            out[s, t] = 0.0 if np.isnan(images[s, t]) else images[s, t] - fit


def misc_bfast(k, n, period, share, level, images):
    dates = np.arange(1, images.shape[1] + 1, dtype=f4)
    angles = [f4(2 * np.pi) * f4(i) * dates / period for i in range(1, k + 1)]
    waves = [wave(angle) for angle in angles for wave in (np.sin, np.cos)]
    terms = np.stack([np.ones_like(dates), dates, *waves])
    errors = np.empty_like(images)
    bfast_errors(n, terms, images, errors)
    scale = np.sqrt((errors[:, :n] ** 2).sum(1) / f4(n - len(terms)) * f4(n))
    sums = np.cumsum(errors, 1, f8)
    width = int(f4(n) * share)
    with np.errstate(divide="ignore", invalid="ignore"):
        moving = ((sums[:, n:] - sums[:, n - width : -width]) / scale[:, None]).astype(f4)
    x = np.arange(n + 1, images.shape[1] + 1, dtype=f4) / f4(n)
    bound = level * np.sqrt(np.where(x > np.exp(f4(1)), np.log(x), f4(1)))
    return np.where(np.isnan(moving), f4(0), np.abs(moving) - bound)


def misc_life(generations, board):
    x = board.astype(np.int8)
    for _ in range(generations):
        n = sum(np.roll(np.roll(x, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1))
        x = ((n == 3) | ((n == 4) & (x == 1))).astype(np.int8)
    return x.astype(bool)


@parallel
def crypt(key, text):
    out = np.empty_like(text)
    key = key.astype(np.int64)
    words = text[0::2].astype(np.int64) | text[1::2].astype(np.int64) << 8
    for b_ in prange(len(text) // 8):
        b = i8(b_)
        x1, x2, x3, x4 = words[4 * b], words[4 * b + 1], words[4 * b + 2], words[4 * b + 3]
        for r in range(8):
            k = key[6 * r : 6 * r + 6]
            x1, x4 = x1 * k[0] % 65537 & 65535, x4 * k[3] % 65537 & 65535
            x2, x3 = x2 + k[1] & 65535, x3 + k[2] & 65535
            e = (x1 ^ x3) * k[4] % 65537 & 65535
            f = (e + (x2 ^ x4) & 65535) * k[5] % 65537 & 65535
            g = e + f & 65535
            x1, x2, x3, x4 = x1 ^ f, x3 ^ f, x2 ^ g, x4 ^ g
        last = (
            x1 * key[48] % 65537 & 65535,
            x3 + key[49] & 65535,
            x2 + key[50] & 65535,
            x4 * key[51] % 65537 & 65535,
        )
        for i in range(4):
            out[8 * b + 2 * i], out[8 * b + 2 * i + 1] = last[i] & 255, last[i] >> 8
    return out


def jgf_crypt(key, back, text):
    encrypted = crypt(key, text)
    return encrypted, crypt(back, encrypted)


@parallel
def jgf_series(n):
    a, b = np.empty(n), np.empty(n)
    dx = 2.0 / 1000
    for i_ in prange(n):
        i = i8(i_)
        omega, x = 3.1415926535897932 * i, 0.0
        u, v = 0.5, 0.0
        for _ in range(998):
            x += dx
            p = (x + 1) ** x
            u += p * np.cos(omega * x)
            v += p * np.sin(omega * x)
        u += 9 * np.cos(omega * 2) / 2
        v += 9 * np.sin(omega * 2) / 2
        a[i], b[i] = (u * dx / 2, 0.0) if i == 0 else (u * dx, v * dx)
    return a, b


@sequential
def pbbs_maximalIndependentSet(offsets, edges):
    taken = np.zeros(len(offsets) - 1, np.bool_)
    for i in range(len(taken)):
        free = True
        for k in range(offsets[i], offsets[i + 1]):
            free = free and not taken[edges[k]]
        taken[i] = free
    return taken


@sequential
def chain(xs, ys, order):
    """Half of the hull: the chain of points that turns left at each."""
    hull, n = np.empty(len(order), np.int64), 0
    for i in order:
        while n >= 2:
            a, b = hull[n - 2], hull[n - 1]
            if (xs[b] - xs[a]) * (ys[i] - ys[a]) - (ys[b] - ys[a]) * (xs[i] - xs[a]) > 0:
                break
            n -= 1
        hull[n], n = i, n + 1
    return hull[:n]


def pbbs_convexHull(xs, ys):
    order = np.lexsort((ys, xs))
    return np.unique(np.append(chain(xs, ys, order), chain(xs, ys, order[::-1]))).astype(i4)


def function(program):
    return globals()[program.replace("-", "_")]


def results(program, inputs):
    """What the program gives, as a tuple of arrays."""
    out = function(program)(*(x[()] if x.shape == () else x for x in inputs))
    return tuple(np.asarray(x) for x in (out if isinstance(out, tuple) else (out,)))


# ---- inputs ----


def graph(rng, n, degree):
    """A random graph without loops: (offsets, edges), each edge in both directions."""
    a, b = rng.integers(0, n, (2, n * degree // 2))
    both = np.unique(np.concatenate([a * n + b, b * n + a])[np.concatenate([a != b, a != b])])
    return np.searchsorted(both, np.arange(n + 1) * n).astype(i4), (both % n).astype(i4)


def lava_boxes(rng, side, size):
    n = side**3
    z, y, x = np.unravel_index(np.arange(n), (side,) * 3)
    near, counts = np.zeros((4, 26, n), i4), np.zeros(n, i4)
    for b in range(n):
        for d in np.ndindex(3, 3, 3):
            o = np.array([z[b], y[b], x[b]]) + d - 1
            if d != (1, 1, 1) and (0 <= o).all() and (o < side).all():
                near[:, counts[b], b] = (*o[::-1], np.ravel_multi_index(o, (side,) * 3))
                counts[b] += 1
    places = [rng.random((n, size)).astype(f4) for _ in range(5)]
    return (
        f4(0.5),
        x.astype(i4),
        y.astype(i4),
        z.astype(i4),
        np.arange(n, dtype=i4),
        *near,
        counts,
        *places,
    )


def aligned(n):
    """The table of an alignment at first: what gaps cost, in its first row and column."""
    table = np.zeros((n + 1, n + 1), i4)
    table[0] = table[:, 0] = -10 * np.arange(n + 1)
    return table


def disk_film(rng, size, frames):
    """A bright disk that moves over a dark ground, and noise; frame by frame in the last dimension."""
    x, y, k = np.indices((size, size, frames))
    inside = (x - size // 2 - k) ** 2 + (y - size // 2 + 2 * k) ** 2 < 25
    return np.clip(100 + 128 * inside + 5 * rng.normal(size=inside.shape), 0, 255).astype(np.uint8)


def box(rng, width, height, layers):
    n = width * height * (layers + 4)
    cells = np.repeat(
        np.array([1 / 3] + 6 * [1 / 18] + 12 * [1 / 36] + [0], f4)[:, None], n, axis=1
    )
    cells[:19] *= rng.uniform(0.9, 1.1, (19, n)).astype(f4)
    cells[19] = rng.choice(np.array([0, 0, 0, 0, 0, 0, 1, 2], f4), n)
    return cells


def seasons(rng, pixels, dates, n, k):
    """Pixels of a season each, a trend, chance, and clouds; half of them break after date n."""
    t = np.arange(dates, dtype=f4)
    height, phase, trend = rng.uniform(500, 3000, (pixels, 3, 1)).transpose(1, 0, 2)
    y = 5000 + height * np.sin(6.2831853 * t / 23 + phase) + (trend - 1750) * t / dates
    y += rng.normal(0, 300, y.shape) + 2000 * (t > (n + dates) // 2) * (np.arange(pixels) % 2)[:, None]
    y[rng.random(y.shape) < 0.2] = np.nan
    return i4(k), i4(n), f4(23), f4(0.25), f4(1.736126), y.astype(f4)


def cells(rng, workload, end):
    start, parameters = (
        np.load(os.path.join(datasets.SMALL, f"rodinia_myocyte_100_in.{i}.npy")) for i in (4, 5)
    )
    return i4(8), f4(1e-4), i8(workload), i4(end), start, parameters


def option(rng, paths):
    """FinPar's medium data set, with fewer paths."""
    inputs = [
        np.load(path)
        for path in datasets.data_sets("finpar_OptionPricing", [datasets.SMALL])[1].inputs
    ]
    return [inputs[0], i4(paths), *inputs[2:]]


floats = lambda rng, *shape: rng.random(shape).astype(f4)
MAKE = {
    "rodinia_backprop": lambda r, n: (i4(n), (1 << np.arange(29, -1, -1)).astype(i4)),
    "rodinia_bfs": lambda r, n, degree: (
        lambda offsets, edges: (offsets[:-1], np.diff(offsets), edges)
    )(*graph(r, n, degree)),
    "rodinia_hotspot": lambda r, steps, n: (
        i4(steps),
        320 + 10 * floats(r, n, n),
        floats(r, n, n) / 100,
    ),
    "rodinia_kmeans": lambda r, rounds, k, n, d: (i4(0), i4(k), i4(rounds), floats(r, n, d)),
    "rodinia_lud": lambda r, n: (floats(r, n, n) + n * np.eye(n, dtype=f4),),
    "rodinia_nw": lambda r, n: (i4(10), aligned(n), r.integers(-4, 10, (n + 1, n + 1), i4)),
    "rodinia_nn": lambda r, n, k: (
        i4(k),
        f4(30),
        f4(90),
        f4(60) * floats(r, n),
        f4(180) * floats(r, n),
    ),
    "rodinia_particlefilter": lambda r, size, frames, n: (
        disk_film(r, size, frames),
        r.integers(1, 1 << 31, n, np.uint32),
    ),
    "rodinia_pathfinder": lambda r, cols, rows: (i4(cols), i4(rows)),
    "rodinia_srad": lambda r, rows, cols: (r.integers(0, 256, (rows, cols), np.uint8),),
    "rodinia_lavaMD": lava_boxes,
    "rodinia_myocyte": cells,
    "accelerate_kmeans": lambda r, k, n: (i4(k), floats(r, n, 2)),
    "accelerate_nbody": lambda r, steps, n: (
        i4(steps),
        f4(50),
        f4(0.1),
        *(100 * floats(r, n) for _ in range(7)),
    ),
    "accelerate_pagerank": lambda r, n, links: (
        lambda froms, tos: (froms, np.sort(tos), np.bincount(froms, minlength=n).astype(i4), i4(20))
    )(*r.integers(0, n, (2, links), i4)),
    "accelerate_canny": lambda r, rows, cols: (
        f4(50),
        f4(100),
        r.integers(-(2**31), 2**31, (rows, cols), i4),
    ),
    "accelerate_mandelbrot": lambda r, w, h, limit: (
        i4(w),
        i4(h),
        f4(-2.23),
        f4(-1.15),
        f4(0.83),
        f4(1.15),
        i4(limit),
        f4(2),
    ),
    "accelerate_ray": lambda r, w, h, limit: (
        *(i4(w), i4(h), i4(100)),
        *(f4(50), f4(-100), f4(-700), f4(1.5707), f4(0)),
        *(i4(limit), f4(0.5)),
    ),
    "accelerate_crystal": lambda r, size, degree, steps: (
        i4(size),
        f4(30),
        i4(degree),
        i4(steps),
        f4(0.5),
    ),
    "accelerate_fft": lambda r, h, w: (floats(r, h, w), floats(r, h, w)),
    "accelerate_fluid": lambda r, g, steps, solver: (
        floats(r, g, g),
        floats(r, g, g),
        floats(r, g, g),
        i4(steps),
        i4(solver),
        f4(0.1),
        f4(0.0001),
        f4(0.0001),
    ),
    "parboil_mri-q": lambda r, k, n: tuple(floats(r, m) for m in (k, k, k, n, n, n, k, k)),
    "parboil_sgemm": lambda r, n: (
        floats(r, n, n),
        floats(r, n, n),
        floats(r, n, n),
        f4(0.5),
        f4(2),
    ),
    "parboil_stencil": lambda r, steps, layers, n: (i4(steps), i4(layers), floats(r, n, n)),
    "parboil_histo": lambda r, w, h, n: (
        i4(w),
        i4(h),
        np.clip(r.normal(w * h / 2, w * h / 20, (n, n)), 0, w * h - 1).astype(i4),
    ),
    "parboil_lbm": lambda r, steps, w, h, layers: (i4(steps), i4(w), i4(h), box(r, w, h, layers)),
    "parboil_tpacf": lambda r, n, m, sets: (
        r.uniform(0, 360, n),
        r.uniform(-90, 90, n),
        r.uniform(0, 360, (sets, m)),
        r.uniform(-90, 90, (sets, m)),
    ),
    "parboil_spmv": lambda r, n, longest: (
        lambda lengths: (
            np.append(0, np.cumsum(lengths)).astype(i4),
            r.integers(0, n, lengths.sum(), i4),
            floats(r, lengths.sum()),
            floats(r, n),
        )
    )(r.integers(0, longest, n)),
    "finpar_OptionPricing": option,
    "finpar_LocVolCalib": lambda r, strikes, nx, ny, nt: (
        i4(strikes),
        i4(nx),
        i4(ny),
        i4(nt),
        f8(0.03),
        f8(0.03),
        f8(5),
        f8(0.2),
        f8(0.6),
        f8(0.5),
    ),
    "misc_bfast": seasons,
    "misc_life": lambda r, generations, rows, cols: (i4(generations), r.random((rows, cols)) < 0.3),
    "misc_radix_sort": lambda r, n: (r.integers(0, 2**32, n, np.uint32),),
    "jgf_crypt": lambda r, n: (
        r.integers(0, 65536, 52, np.uint16),
        r.integers(0, 65536, 52, np.uint16),
        r.integers(0, 256, n, np.uint8),
    ),
    "jgf_series": lambda r, n: (i4(n),),
    "pbbs_maximalIndependentSet": graph,
    "pbbs_convexHull": lambda r, n: tuple(r.normal(size=(2, n))),
}
# The data sets `tiny` and `small` have these sizes: results fit a repository, and the interpreter.
SIZES = {
    "rodinia_nn": [(1, 1), (300, 10)],
    "rodinia_particlefilter": [(9, 3, 1), (32, 6, 100)],
    "rodinia_pathfinder": [(1, 1), (300, 20)],
    "rodinia_srad": [(1, 7), (17, 23)],
    "rodinia_lavaMD": [(1, 3), (2, 10)],
    "rodinia_myocyte": [(0, 3), (9, 2)],
    "accelerate_canny": [(3, 5), (30, 37)],
    "accelerate_mandelbrot": [(1, 1, 100), (33, 20, 100)],
    "accelerate_ray": [(2, 2, 1), (40, 30, 4)],
    "accelerate_crystal": [(1, 5, 1), (13, 5, 3)],
    "accelerate_fft": [(1, 2), (16, 32)],
    "accelerate_fluid": [(4, 1, 2), (17, 2, 5)],
    "parboil_mri-q": [(3, 1), (40, 100)],
    "parboil_histo": [(2, 3, 5), (16, 16, 60)],
    "parboil_lbm": [(2, 3, 2, 2), (4, 5, 4, 3)],
    "parboil_tpacf": [(3, 2, 1), (40, 30, 3)],
    "parboil_spmv": [(1, 4), (150, 20)],
    "finpar_OptionPricing": [(1,), (300,)],
    "finpar_LocVolCalib": [(1, 8, 8, 4), (3, 32, 16, 8)],
    "misc_bfast": [(1, 9, 8, 1), (13, 60, 40, 3)],
    "misc_life": [(1, 3, 4), (10, 31, 20)],
    "misc_radix_sort": [(1,), (1500,)],
    "jgf_crypt": [(8,), (1000,)],
    "jgf_series": [(1,), (9,)],
    "pbbs_maximalIndependentSet": [(2, 1), (200, 6)],
    "pbbs_convexHull": [(4,), (300,)],
}


# These sizes are measured by table.py.
LARGE = {
    "rodinia_backprop": (1 << 18,),
    "rodinia_bfs": (1 << 17, 8),
    "rodinia_hotspot": (100, 512),
    "rodinia_kmeans": (10, 5, 20000, 35),
    "rodinia_lud": (512,),
    "rodinia_nw": (1024,),
    "rodinia_nn": (1 << 20, 100),
    "rodinia_particlefilter": (128, 10, 10000),
    "rodinia_pathfinder": (100000, 100),
    "rodinia_srad": (502, 458),
    "rodinia_lavaMD": (5, 64),
    "rodinia_myocyte": (4096, 2),
    "accelerate_kmeans": (5, 50000),
    "accelerate_nbody": (1, 8192),
    "accelerate_pagerank": (1 << 17, 1 << 20),
    "accelerate_canny": (1024, 1024),
    "accelerate_mandelbrot": (800, 600, 256),
    "accelerate_ray": (800, 600, 4),
    "accelerate_crystal": (256, 5, 10),
    "accelerate_fft": (512, 512),
    "accelerate_fluid": (256, 2, 20),
    "parboil_mri-q": (1024, 16384),
    "parboil_sgemm": (512,),
    "parboil_stencil": (10, 128, 128),
    "parboil_histo": (256, 4096, 1000),
    "parboil_lbm": (5, 32, 32, 32),
    "parboil_tpacf": (1000, 1000, 4),
    "parboil_spmv": (1 << 17, 32),
    "finpar_OptionPricing": (1 << 17,),
    "finpar_LocVolCalib": (16, 256, 32, 16),
    "misc_bfast": (16384, 256, 128, 3),
    "misc_life": (50, 512, 512),
    "misc_radix_sort": (1 << 20,),
    "jgf_crypt": (1 << 20,),
    "jgf_series": (1000,),
    "pbbs_maximalIndependentSet": (1 << 16, 8),
    "pbbs_convexHull": (1 << 17,),
}


def save(program, name, inputs, outputs, folder):
    for kind, arrays in (("in", inputs), ("out", outputs)):
        for i, array in enumerate(arrays):
            np.save(os.path.join(folder, f"{program}_{name}_{kind}.{i}.npy"), array)


def made(program, sizes, seed=1):
    """Inputs of these sizes; the same ones every time."""
    return [np.asarray(x) for x in MAKE[program](np.random.default_rng(seed), *sizes)]


def main():
    for program in sorted(SIZES):
        if not sys.argv[1:] or program in sys.argv[1:]:
            for name, sizes in zip(("tiny", "small"), SIZES[program]):
                inputs = made(program, sizes)
                save(program, name, inputs, results(program, inputs), datasets.SMALL)


if __name__ == "__main__":
    main()
