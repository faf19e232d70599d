"""Chaos: the time of MEGNO for a step and a member, of a map of tops, and REBOUND's for the same planets.

    python benchmarks/chaos.py [--side 200] [--t-end 200] [--years 20000]

map        side x side asymmetric tops over two components of their angular momentum, ``v2`` with steps of 0.1; and
           the time of the same runs without derivatives, by ``polhode.ensemble`` in threads.
planets    The Sun, four planets and Pluto: MEGNO by ``rkn6_14a`` and ``v2/kepler`` here, by WHFast in REBOUND (``pip
           install rebound``), with the mean MEGNO that each finds at the end.
"""

from __future__ import annotations

import argparse
import sys
import time
from importlib.machinery import SourceFileLoader
from pathlib import Path

import numpy as np

import polhode as ph

TESTS = Path(__file__).parents[1] / "tests"
sys.path.append(str(TESTS / "support"))


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--side", type=int, default=200)
    reader.add_argument("--t-end", type=float, default=200.0)
    reader.add_argument("--years", type=float, default=20_000.0)
    given = reader.parse_args()
    top = ph.heavy_top([1.0, 1.7, 2.3], [0.1, 0.2, 1.0], 2.0)
    n = given.side
    m1, m3 = np.meshgrid(np.linspace(-3, 3, n), np.linspace(-3, 3, n))
    spins = np.stack([m1, 0.4 + 0 * m1, m3], axis=-1).reshape(-1, 3)
    words = {"step": 0.1, "attitude": ph.rotation.exp_quaternion([0.2, 0.6, 0.4])}
    ph.chaos.megno(top, "v2", t_end=1.0, members={"angular_momentum": spins[:4]}, **words)
    begun = time.perf_counter()
    ds = ph.chaos.megno(top, "v2", t_end=given.t_end, members={"angular_momentum": spins}, progress=True, **words)
    spent, steps = time.perf_counter() - begun, round(given.t_end / 0.1)
    chaotic = float((ds.final > 4.0).mean())
    words |= {"members": {"angular_momentum": spins}, "engine": "threads"}
    plain = time.perf_counter()
    ph.ensemble(top, "v2", t_end=given.t_end, every=round(given.t_end / 0.1), **words)
    plain = time.perf_counter() - plain
    per_step = spent / n**2 / steps * 1e9
    print(f"map      {n} x {n} tops, {steps} steps: {spent:.1f} s, {per_step:.0f} ns a step and member; "
          f"{chaotic:.0%} chaotic; {spent / plain:.1f} times plain runs")  # fmt: skip

    import solar_system

    oracle = SourceFileLoader("oracle_of_chaos", str(TESTS / "oracles" / "chaos.py")).load_module()

    span = 365.25 * given.years
    for method, step in (("rkn6_14a", 100.0), ("v2/kepler", 50.0)):
        system = solar_system.outer_planets()
        ph.chaos.megno(system, method, step=step, t_end=10 * step, **solar_system.START)  # compiles
        begun = time.perf_counter()
        ds = ph.chaos.megno(system, method, step=step, t_end=span, **solar_system.START)
        print(f"planets  {method}, {step:g} days: {time.perf_counter() - begun:.2f} s, MEGNO {float(ds.final):.2f}")
    try:
        oracle.rebound_megno(1000.0)
        begun = time.perf_counter()
        megno, _ = oracle.rebound_megno(span)
        print(f"planets  REBOUND WHFast, 50 days: {time.perf_counter() - begun:.2f} s, MEGNO {megno:.2f}")
    except ImportError:
        print("planets  REBOUND is not installed")


if __name__ == "__main__":
    main()
