"""Attitude as a matrix or as a quaternion: which costs more, and which collects more round-off?

    python benchmarks/matrix_or_quaternion.py

A footnote of [vilmart2013] says that matrices are usually more costly and subject to round-off. Two measurements: the
bare product of attitudes, repeated, with the same increments given either way; and the free rotation by elliptic
functions with its attitude carried as a matrix or as a quaternion. Times are the best of seven, in this process.
"""

from __future__ import annotations

import time

import numpy as np

import polhode as ph
from polhode.algebra.quaternion import compose, from_matrix, multiply, to_matrix
from polhode.algebra.so3 import Ad, axpy, columns, cross, dot, scale
from polhode.flows.elliptic_forms import matrix_product
from polhode.flows.semiexact import semiexact
from polhode.kernel import jit, layout as L
from polhode.kernel.drive import sweep_of
from polhode.kernel.jit import inlined

STEPS = 1_000_000
KINDS = 64
"""Increments differ from step to step, in turn, so that the same rounding is not made every time."""


@inlined
def read(a, k):
    """Row k as 4 numbers."""
    return (a[k, 0], a[k, 1], a[k, 2], a[k, 3])


@inlined
def read_matrix(a, k):
    """Row k as 9 numbers."""
    return (a[k, 0], a[k, 1], a[k, 2], a[k, 3], a[k, 4], a[k, 5], a[k, 6], a[k, 7], a[k, 8])


@inlined
def orthogonal(A, B):
    """A B with its columns made orthonormal again (Gram and Schmidt)."""
    m = matrix_product(A, B)
    a, b = (m[0], m[3], m[6]), (m[1], m[4], m[7])
    a = scale(1.0 / dot(a, a) ** 0.5, a)
    b = axpy(-dot(a, b), a, b)
    b = scale(1.0 / dot(b, b) ** 0.5, b)
    return columns(a, b, cross(a, b))


product = jit.hole("product(a, b) -> attitude", "The product of two attitudes.")


def quaternions(n, increments, out):
    """out = out * increments[0] * increments[1] * ..., n times."""
    q = read(out, 0)
    for k in range(n):
        q = product(q, read(increments, k % KINDS))
    for k in range(4):
        out[0, k] = q[k]


def matrices(n, increments, out):
    """The same with matrices."""
    m = read_matrix(out, 0)
    for k in range(n):
        m = product(m, read_matrix(increments, k % KINDS))
    for k in range(9):
        out[0, k] = m[k]


LOOPS = {
    "matrix": (matrices, matrix_product),
    "matrix, orthogonalised": (matrices, orthogonal),
    "quaternion": (quaternions, multiply),
    "quaternion, kept to length 1": (quaternions, compose),
}


def best(run, repeats=7):
    """Smallest wall time."""
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        run()
        times.append(time.perf_counter() - begun)
    return min(times)


def products():
    """Cost and round-off of the bare product; returns (ns a step, angle, departure from a rotation) by name."""
    v = np.random.default_rng(1).normal(size=(KINDS, 3)) * 0.01
    q = ph.rotation.exp_quaternion(v)
    exact = np.longdouble(0) + np.array([1.0, 0, 0, 0], dtype=np.longdouble)
    block = exact.copy()
    for row in v.astype(np.longdouble):  # the product of one round, in extended precision
        angle = np.sqrt((row * row).sum())
        e = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) / angle * row])
        block = hamilton(block, e)
    turns = STEPS // KINDS
    while turns:  # its power by squaring
        if turns & 1:
            exact = hamilton(exact, block)
        block, turns = hamilton(block, block), turns >> 1
    truth = (exact / np.sqrt((exact * exact).sum())).astype(float)
    found = {}
    for name, (template, formula) in LOOPS.items():
        wide = template is matrices
        increments = np.array([to_matrix(tuple(e)) for e in q]) if wide else q
        begin = np.eye(3).reshape(1, 9) if wide else np.array([[1.0, 0, 0, 0]])
        kernel = jit.compile_kernel(jit.bind(template, product=formula), "void(i8, f8[:, ::1], f8[:, ::1])")
        seconds = best(lambda k=kernel, i=increments, b=begin: k(STEPS, i, b.copy()))
        out = begin.copy()
        kernel(STEPS, increments, out)
        attitude = from_matrix(tuple(out[0])) if wide else out[0]
        R = out.reshape(3, 3) if wide else None
        off = np.abs(R @ R.T - np.eye(3)).max() if wide else abs((out**2).sum() - 1)
        found[name] = (seconds / STEPS * 1e9, float(ph.rotation.angle_between(attitude, truth)), off)
    return found


def hamilton(a, b):
    """Hamilton product in whatever precision the arrays have."""
    return np.array(multiply(tuple(a), tuple(b)))


def rotate_by_matrix(n, m, v):
    """v = R v, n times."""
    R, x = read_matrix(m, 0), (v[0], v[1], v[2])
    for _ in range(n):
        x = Ad(R, x)
    for k in range(3):
        v[k] = x[k]


def rotate_by_quaternion(n, q, v):
    """v = R(q) v, n times."""
    e, x = read(q, 0), (v[0], v[1], v[2])
    for _ in range(n):
        a = e[2] * x[2] - e[3] * x[1] + e[0] * x[0]
        b = e[3] * x[0] - e[1] * x[2] + e[0] * x[1]
        c = e[1] * x[1] - e[2] * x[0] + e[0] * x[2]
        x = (x[0] + 2 * (e[2] * c - e[3] * b), x[1] + 2 * (e[3] * a - e[1] * c), x[2] + 2 * (e[1] * b - e[2] * a))
    for k in range(3):
        v[k] = x[k]


def flows():
    """ns a step and attitude error after 40 units of time in 10,000 steps, of the semiexact flow in both forms."""
    inertia, m, n, t = np.array([0.6, 0.8, 1.0]), (0.3, 0.6, -0.8), 10_000, 40.0
    begin = np.zeros((1, 13))
    begin[0, 6], begin[0, 10:] = 1.0, m
    bodies = np.concatenate([[1.0], inertia, [1.0], 1 / inertia])[None]
    status = np.zeros(1, np.int64)

    def run(turn, steps):
        y = begin.copy()
        sweep_of(turn)(steps, np.array([t / steps]), y, bodies, np.zeros(L.STEP_INFO), status, status.copy())
        return y[0, 6:10]

    reference = run(semiexact(20), 40)
    return {
        form: (
            best(lambda f=form: run(semiexact(5, f), n)) / n * 1e9,
            float(ph.rotation.angle_between(run(semiexact(5, form), n), reference)),
        )
        for form in ("matrix", "quaternion")
    }


def main() -> None:
    """Print the measurements and what they say of the claim."""
    found = products()
    print(f"{STEPS:,} products of attitudes")
    print(f"{'carried as':<30}{'ns a step':>12}{'attitude error':>18}{'not a rotation by':>20}")
    for name, (ns, angle, off) in found.items():
        print(f"{name:<30}{ns:>12.2f}{angle:>18.1e}{off:>20.1e}")
    q = ph.rotation.exp_quaternion((0.1, 0.2, -0.3))[None]
    R = ph.rotation.exp_matrix((0.1, 0.2, -0.3)).reshape(1, 9)
    by = {}
    for name, template, a in (("matrix", rotate_by_matrix, R), ("quaternion", rotate_by_quaternion, q)):
        kernel = jit.compile_kernel(template, "void(i8, f8[:, ::1], f8[::1])")
        by[name] = best(lambda k=kernel, a=a: k(STEPS, a, np.ones(3))) / STEPS * 1e9
    print(f"\nturning a vector: {by['matrix']:.2f} ns by a matrix, {by['quaternion']:.2f} ns by a quaternion")
    whole = flows()
    print("\nfree rotation, semiexact with 5 nodes, 10,000 steps (the state is a quaternion in both)")
    for form, (ns, angle) in whole.items():
        print(f"{form:<30}{ns:>12.1f}{angle:>18.1e}")
    cost = found["matrix"][0] / found["quaternion"][0]
    error = found["matrix"][1] / found["quaternion, kept to length 1"][1]
    plain = found["matrix"][1] / found["quaternion"][1]
    repair = found["matrix, orthogonalised"][0] / found["matrix"][0]
    ratio = whole["matrix"][0] / whole["quaternion"][0]
    turning = by["quaternion"] / by["matrix"]
    print(
        f"\nVerdict. More costly: no. A product of matrices takes {cost:.1f} times as long as one of quaternions (more "
        f"operations,\nbut side by side), the whole flow {ratio:.2f} times, because the elliptic functions decide it; "
        f"turning vectors, which loads\ndo, takes {turning:.1f} times as long with a quaternion. Subject to round-off: "
        f"yes. The attitude error of the matrix is {error:.0f} times\n"
        f"that of a quaternion kept to length 1, {plain:.0f} times that of one left alone; orthogonalising the matrix "
        f"repairs it, at\n{repair:.0f} times the cost."
    )


if __name__ == "__main__":
    main()
