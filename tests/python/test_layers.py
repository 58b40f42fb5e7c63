"""Layers of neural networks, and products in batches, against NumPy, which adds up in doubles."""

import os

import numpy as np
import pytest

import fcl

TEXT = """import "matrix"
import "nn"
kernel products (n : int) (r : int) (k : int) (c : int) (a : [f16]) (b : [f16]) = matMulBatched n r k c a b
kernel convolved (n : int) (h : int) (w : int) (c : int) (size : int) (f : int) (xs : [f16]) (ys : [f16]) =
  conv2d 2 1 (n, h, w, c) (size, size, f) xs ys
"""
ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
EXAMPLE = os.path.join(ROOT, "examples", "attention", "attention.fcl")
LAYER = os.path.join(ROOT, "tests", "run", "library", "transformer.fcl")
D = 64  # elements of a head


def halves(seed, *shape):
    return (np.random.default_rng(seed).random(shape) * 2 - 1).astype(np.float16)


def softmax(xs):
    es = np.exp(xs - xs.max(axis=-1, keepdims=True))
    return es / es.sum(axis=-1, keepdims=True)


def attention(q, k, v, is_causal):
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(D)
    n = scores.shape[1]
    return softmax(np.where(np.tri(n, dtype=bool), scores, -np.inf) if is_causal else scores) @ v


@pytest.mark.parametrize("n,r,k,c", [(3, 16, 16, 16), (5, 7, 20, 24), (2, 40, 33, 35)])
def test_products(device, n, r, k, c):
    a, b = halves(1, n, r, k), halves(2, n, k, c)
    got = fcl.source(TEXT, target=device).products(n, r, k, c, a.ravel(), b.ravel())
    assert np.allclose(got, (a.astype(float) @ b.astype(float)).ravel(), atol=1e-4)


@pytest.mark.parametrize("h,w,c,size,f", [(6, 7, 32, 3, 16), (5, 4, 3, 2, 5)])
def test_convolutions(device, h, w, c, size, f):
    xs, ys = halves(3, 2, h, w, c), halves(4, size, size, c, f)
    around = np.pad(xs.astype(float), ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(around, (size, size), axis=(1, 2))[:, ::2, ::2]
    due = np.einsum("nyxcij,ijcf->nyxf", windows, ys.astype(float))
    got = fcl.source(TEXT, target=device).convolved(2, h, w, c, size, f, xs.ravel(), ys.ravel())
    assert np.allclose(got, due.ravel(), atol=1e-4)


@pytest.mark.parametrize("is_causal", [False, True])
def test_attention(device, is_causal):
    q, k, v = (halves(seed, 2, 35, D) for seed in (5, 6, 7))
    due = attention(*(x.astype(float) for x in (q, k, v)), is_causal).ravel()
    m = fcl.load(EXAMPLE, target=device)
    for kernel in m.attended, m.stepByStep:
        assert np.allclose(kernel(is_causal, 2, 35, q.ravel(), k.ravel(), v.ravel()), due, atol=4e-3)


def test_a_layer(device):
    heads, n, width = 2, 19, 2 * D
    gain, bias = halves(8, width), halves(9, width)
    weights = [halves(seed, width, width) / 16 for seed in range(10, 14)]
    xs = halves(14, n, width)
    rows = xs.astype(float)
    normal = (rows - rows.mean(1, keepdims=True)) / np.sqrt(rows.var(1, keepdims=True) + 1e-5) * gain + bias
    q, k, v = ((normal @ w.astype(float)).reshape(n, heads, D).transpose(1, 0, 2) for w in weights[:3])
    due = rows + attention(q, k, v, True).transpose(1, 0, 2).reshape(n, width) @ weights[3].astype(float)
    got = fcl.load(LAYER, target=device).layer(heads, n, gain, bias, *(w.ravel() for w in weights), xs.ravel())
    assert np.allclose(got.astype(float), due.ravel(), atol=2e-2)
