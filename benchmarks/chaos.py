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
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import polhode as ph
from figure import Figure, in_turns

TESTS = Path(__file__).parents[1] / "tests"
sys.path.append(str(TESTS / "support"))


def figures(words: list[str], quick: bool) -> Iterator[Figure]:
    """For ``all.py``: seconds of MEGNO of the outer planets, and of a map of them; REBOUND's if it is installed.

    The map varies the distance and the eccentricity of Saturn, as REBOUND's own example does, over 1,000 years.
    """
    import solar_system

    oracle = SourceFileLoader("oracle_of_chaos", str(TESTS / "oracles" / "chaos.py")).load_module()
    span, rounds = 365.25 * (4_000.0 if quick else 20_000.0), 3 if quick else 7
    system = solar_system.outer_planets()
    both: list[Any] = [None, None]

    def ours() -> None:
        both[0] = ph.chaos.megno(system, "rkn6_14a", step=100.0, t_end=span, **solar_system.START)

    def theirs() -> None:
        both[1] = oracle.rebound_megno(span)[0]

    spent = in_turns({"ours": ours} | ({"theirs": theirs} if find_spec("rebound") else {}), rounds)
    told = ", ".join(f"{float(x):.3f}" for x in (both[0].final, both[1]) if x is not None)
    yield Figure("megno", spent["ours"], spent.get("theirs"), note=f"MEGNO {told}; {span / 365.25:.0f} years")

    side, years = (8, 200.0) if quick else (80, 200.0)
    semi, eccentric = np.meshgrid(np.linspace(7.0, 10.0, side), np.linspace(0.0, 0.5, side))
    sun, planets = 1.0, (9.54e-4, 2.86e-4)
    twopi = 2.0 * np.pi
    giants = ph.gravitating_bodies(mu=(sun, *planets))
    r, v = ellipse(semi.ravel(), eccentric.ravel(), sun + planets[1])
    inner = ellipse(np.full(side**2, 5.2), np.full(side**2, 0.05), sun + planets[0])
    places = np.stack([np.zeros_like(r), inner[0], r], axis=1)
    speeds = np.stack([np.zeros_like(v), inner[1], v], axis=1)
    words_of: Any = {"step": twopi * 0.5, "t_end": twopi * years, "members": {"position": places, "velocity": speeds}}
    found: list[Any] = [None, None]

    def our_map() -> None:
        found[0] = ph.chaos.megno(giants, "v2/kepler", threads=1, **words_of).final.values

    def their_map() -> None:
        found[1] = [map_of_rebound(r, v, (sun, *planets), twopi * 0.5, twopi * years)
                    for r, v in zip(places, speeds, strict=True)]  # fmt: skip

    spent = in_turns({"ours": our_map} | ({"theirs": their_map} if find_spec("rebound") else {}), 2 if quick else 1)
    chaotic = ", ".join(f"{float((np.asarray(x) > 4.0).mean()):.0%}" for x in found if x is not None)
    yield Figure("map", spent["ours"], spent.get("theirs"), note=f"{side} x {side}, chaotic {chaotic}")


def ellipse(a: Any, e: Any, mu: float) -> tuple[Any, Any]:
    """Place and velocity at the periapsis."""
    none, q = np.zeros_like(a), a * (1.0 - e)
    return np.stack([q, none, none], axis=1), np.stack([none, np.sqrt(mu * (1.0 + e) / q), none], axis=1)


def map_of_rebound(r: Any, v: Any, masses: Any, step: float, t_end: float) -> float:
    """MEGNO by REBOUND's WHFast of bodies at such places."""
    import rebound

    sim = rebound.Simulation()
    for m, x, u in zip(masses, r, v, strict=True):
        sim.add(m=m, x=x[0], y=x[1], z=x[2], vx=u[0], vy=u[1], vz=u[2])
    sim.move_to_com()
    sim.integrator, sim.dt = "whfast", step
    sim.init_megno(seed=1)
    sim.integrate(t_end)
    return float(sim.megno())


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
