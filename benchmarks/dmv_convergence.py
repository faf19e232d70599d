"""How often the discrete Moser-Veselov maps can take a step of random bodies, and how often what they find is wrong.

    python benchmarks/dmv_convergence.py [bodies]

The experiment of [celledoni2008, section 3.2], where the fixed-point iteration of the maps of order 6, 8 and 10
converged in 75 runs of 100. Here bodies have three uniform random numbers for moments, sorted and scaled to a largest
one of 1, by default without regard to the triangle inequality, which the paper does not mention; momenta are of length
1, all directions in the first octant alike. A run of length 10 counts as converged when all its steps did. Off are
those of the converged whose first step differs from the motion by more than 0.05, 0.01, 0.001 rad, or should have
turned the body by more than 20 rad.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from polhode.flows.dmv import dmv
from polhode.kernel import drive, layout as L

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "oracles"))
from free_motion import angle_between, fastest, moved

KINDS = ("fixed point", "Newton", "Newton, guarded")
LIMITS = (0.05, 0.01, 0.001)
LENGTH = 10.0


class Row(NamedTuple):
    """Shares of all bodies; ``off`` of the converged ones, for each of LIMITS."""

    h: float
    order: int
    kind: str
    converged: float
    refused: float
    off: tuple[float, ...]
    iterations: float


def drawn(bodies, seed, triangle):
    """Moments and momenta."""
    random = np.random.default_rng(seed)
    moments = np.empty((0, 3))
    while len(moments) < bodies:
        more = np.sort(random.random((bodies, 3)), axis=1)
        more /= more[:, 2:]
        moments = np.concatenate([moments, more[more[:, 0] + more[:, 1] >= 1.0] if triangle else more])
    m = np.abs(random.normal(size=(bodies, 3)))
    return moments[:bodies], m / np.linalg.norm(m, axis=1, keepdims=True)


def motion(inertia, m, h):
    """Exact attitudes; NaN where the body turns by more than 20 rad."""
    q = np.full((len(m), 4), np.nan)
    angle = h * fastest(inertia, m)
    for low, high in ((0, 1), (1, 5), (5, 20)):  # each group needs its own number of series
        those = (angle >= low) & (angle < high)
        if those.any():
            q[those] = moved(inertia[those], m[those], h, order=16)[1]
    return q


def swept(turn, n, h, inertia, m, guarded):
    """Attitude, status and iterations of n steps."""
    y, constants, step_info = np.zeros((len(m), 13)), np.zeros((len(m), 8)), np.zeros(L.STEP_INFO)
    y[:, 6], y[:, 10:], step_info[L.GUARDED] = 1.0, m, float(guarded)
    constants[:, 1:4], constants[:, 5:] = inertia, 1 / inertia
    status, iterations = np.zeros(len(m), np.int64), np.zeros(len(m), np.int64)
    drive.sweep_of(turn)(n, np.full(len(m), h), y, constants, step_info, status, iterations)
    return y[:, 6:10], status, iterations


def table(bodies=1000, seed=0, triangle=False, steps=(0.4, 0.2, 0.1, 0.04), orders=(6, 8, 10)):
    """The rows for every step, order and kind of solve."""
    inertia, m = drawn(bodies, seed, triangle)
    rows = []
    for h in steps:
        exact = motion(inertia, m, h)
        for order in orders:
            for kind in KINDS:
                turn, guarded = dmv(order, "fixed_point" if kind == KINDS[0] else "newton"), kind == KINDS[2]
                _, status, iterations = swept(turn, round(LENGTH / h), h, inertia, m, guarded)
                done = status == L.OK
                error = angle_between(swept(turn, 1, h, inertia, m, guarded)[0], exact)[done]
                off = tuple(float((~(error <= limit)).mean()) for limit in LIMITS)
                mean = float((iterations[done] / round(LENGTH / h)).mean())
                rows.append(Row(h, order, kind, float(done.mean()), float((status == L.TOO_LARGE).mean()), off, mean))
    return rows


def main() -> None:
    """Print the tables."""
    bodies = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    for triangle in (False, True):
        print(f"{bodies} random bodies, triangle inequality {'kept' if triangle else 'not regarded'}")
        print(f"{'h':>5}{'order':>6}  {'':<16}{'converged':>10}{'refused':>9}   of these off by {LIMITS}   iterations")
        for row in table(bodies, triangle=triangle, orders=(2, 4, 6, 8, 10)):
            off = "".join(f"{share:9.2%}" for share in row.off)
            print(
                f"{row.h:5.2f}{row.order:6}  {row.kind:<16}{row.converged:10.1%}{row.refused:9.1%}  {off}"
                f"{row.iterations:14.1f}"
            )


if __name__ == "__main__":
    main()
