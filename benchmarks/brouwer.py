"""How round-off grows over many revolutions, with compensated sums and without: Brouwer's law.

    python benchmarks/brouwer.py [--revolutions 20000] [--starts 8] [rkn6_14a kl8 ...]

Carson's elliptic orbit about a point mass (e = 0.25), laid into space in several ways, so that each run rounds other
numbers. States at whole revolutions are compared with the exact motion; the root mean square over all starts is printed
for the relative error of the energy and for the distance (km), and the power of time with which it grows.

Where each step makes errors of either sign, those of the energy add up like a random walk, with the power 1/2; the
error of the period follows that of the energy, and the place along the orbit is its sum: the power 3/2 [brouwer1937].
Errors of one sign make that 1 and 2. Sums are one source of them; others are the coefficients, rounded once and for
all, and what an iteration leaves [hairer2008].
"""

from __future__ import annotations

import argparse

import numpy as np

import polhode as ph

MU, R0, V0 = 3200.9998, 1664.029, 1.550663
PERIOD = 2.0 * np.pi * (2.0 / R0 - V0 * V0 / MU) ** -1.5 / np.sqrt(MU)
STEPS = {
    "rkn6_14a": 1000, "kl8": 500, "sp10": 250, "mkrk:cv8": 1500, "mkrk:gauss12": 240, "s6_10/kepler": 100,
}  # fmt: skip
"""Of a revolution; as many as make what is not round-off small."""
FIRST = 16
"""Revolutions before the first row."""


def start(k: int):
    """Position and velocity in an orbital plane and direction of their own."""
    random = np.random.default_rng(k)
    axes, _ = np.linalg.qr(random.normal(size=(3, 3)))
    return R0 * axes[0], V0 * axes[1]


def energy(r, v):
    """In more digits than a double has, where the machine knows such."""
    return 0.5 * (v * v).sum(axis=-1) - np.longdouble(MU) / np.sqrt((r * r).sum(axis=-1))


def errors(method: str, k: int, revolutions: int, compensated: bool):
    """Revolutions, and there relative errors of the energy and distances from the exact place, of start k."""
    n = STEPS[method]
    count = int(2 * np.log2(revolutions / FIRST)) + 1
    rows = np.unique(np.rint(FIRST * 2.0 ** (np.arange(count) / 2)).astype(int))
    r, v = start(k)
    h = PERIOD / n
    times = rows * n * h
    ds = ph.integrate(
        ph.orbit(MU), method, step=h, steps=int(rows[-1]) * n, t_eval=times, position=r, velocity=v,
        settings={"compensated": compensated, "guard": False},
    )  # fmt: skip
    place, speed = ds.position.values.astype(np.longdouble), ds.velocity.values.astype(np.longdouble)
    if compensated:
        place, speed = place + ds.position_compensation.values, speed + ds.momentum_compensation.values
    first = energy(r.astype(np.longdouble), v.astype(np.longdouble))
    exact, _ = ph.kepler.propagate(r, v, times, MU)
    apart = np.linalg.norm(ds.position.values - exact, axis=1)
    return rows, np.abs(energy(place, speed) / first - 1.0).astype(float), apart


def growth(method: str, starts: int, revolutions: int, compensated: bool):
    """Revolutions, root mean squares of errors of energy and place over all starts, and their two powers of time."""
    rows, drift, apart = zip(*(errors(method, k, revolutions, compensated) for k in range(starts)), strict=True)
    sizes = [np.sqrt(np.mean(np.square(of), axis=0)) for of in (drift, apart)]
    return rows[0], *sizes, *(float(np.polyfit(np.log(rows[0]), np.log(size), 1)[0]) for size in sizes)


def main() -> None:
    """Print the table."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("methods", nargs="*", default=list(STEPS))
    words.add_argument("--revolutions", type=float, default=20000)
    words.add_argument("--starts", type=int, default=8)
    given = words.parse_args()
    print(f"{'':<14}{'steps':>6}  {'sums':<12}{'energy':>10}{'power':>7}{'km':>10}{'power':>7}")
    for method in given.methods:
        for compensated in (False, True):
            _, drift, apart, *powers = growth(method, given.starts, int(given.revolutions), compensated)
            print(
                f"{method:<14}{STEPS[method]:>6}  {'compensated' if compensated else 'plain':<12}"
                f"{drift[-1]:>10.1e}{powers[0]:>7.2f}{apart[-1]:>10.1e}{powers[1]:>7.2f}", flush=True,
            )  # fmt: skip


if __name__ == "__main__":
    main()
