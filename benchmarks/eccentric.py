"""Eccentric orbits: what a position to 1e-8 costs, and what becomes of the energy in ten thousand turns.

    python benchmarks/eccentric.py            # tables: cost at an error, long runs, soft wall

Costs are the fewest evaluations of the loads a turn with which the position after 3.3 turns is within the tolerance of
the exact one (``polhode.kepler.propagate``), found by halving steps. All orbits have the axis and the gravity parameter
1; errors are in units of the axis.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

import polhode as ph
from polhode.errors import PolhodeError

ROUND = 2.0 * pi
TURNS = 3.3
TOLERANCE = 1e-8
ORBIT = ph.orbit(1.0)
FINEST = 22
"""Most halvings of a step of one turn."""


def periapsis(e: float) -> dict[str, Any]:
    """Start at the nearest point."""
    return {"position": (1.0 - e, 0.0, 0.0), "velocity": (0.0, sqrt((1.0 + e) / (1.0 - e)), 0.0)}


def apoapsis(e: float) -> dict[str, Any]:
    """Start at the farthest point."""
    return {"position": (-1.0 - e, 0.0, 0.0), "velocity": (0.0, -sqrt((1.0 - e) / (1.0 + e)), 0.0)}


def cost_of(method: str, e: float) -> tuple[float, float, float]:
    """Evaluations and microseconds a turn, and the error, at the largest step that meets the tolerance; else infinite.

    Steps are halved until the tolerance is met, tolerances divided by 10.
    """
    start, t = periapsis(e), TURNS * ROUND
    truth, _ = ph.kepler.propagate(start["position"], start["velocity"], t, 1.0)
    best = np.inf
    for k in range(FINEST):
        if method == "mkrk:dp8":
            if k > 11:
                break
            pace: dict[str, Any] = {"steps": ph.Tolerance(10.0 ** -(3 + k))}
        elif ":" in method and not method.startswith("mkrk"):
            pace = {"step": (1.0 - e) ** 1.5 * 2.0**-k}
        else:
            pace = {"step": t / np.ceil(TURNS * 2.0**k)}
        try:
            ds = ph.integrate(ORBIT, method, t_end=t, every=10**9, **pace, **start)
        except PolhodeError:
            continue
        error = float(np.linalg.norm(ds.position.values[-1] - truth))
        best = min(best, error)
        if error <= TOLERANCE:
            return ds.attrs["load_evaluations"] / TURNS, 1e6 * ds.encoding["seconds"] / TURNS, error
    return np.inf, np.inf, best


def costs() -> None:
    """Cost at the tolerance by eccentricity."""
    methods = (
        "rkn6_14a", "mkrk:dp8", "reversible:distance:rkn6_14a", "reversible:rkn6_14a", "reversible:distance:kl8",
        "logarithmic", "logarithmic:kl4", "logarithmic:kl6", "logarithmic:kl8", "v2/kepler",
    )  # fmt: skip
    print(f"evaluations a turn (microseconds) for an error of {TOLERANCE:g} after {TURNS} turns; (least error) else")
    print(f"{'method':30}" + "".join(f"{f'e = {e}':>24}" for e in (0.5, 0.9, 0.99, 0.999)))
    for method in methods:
        line = f"{method:30}"
        for e in (0.5, 0.9, 0.99, 0.999):
            evaluations, micro, error = cost_of(method, e)
            told = f"{evaluations:.0f} ({micro:.0f} us)" if np.isfinite(evaluations) else f"({error:.0e})"
            line += f"{told:>24}"
        print(line, flush=True)


def long_runs(turns: int = 10_000, e: float = 0.9) -> None:
    """Energy over many turns of an orbit of eccentricity 0.9, from its farthest point."""
    print(f"\nlargest energy error in the first and last tenth of {turns} turns, e = {e}; turn of the apsides a turn")
    runs: list[tuple[str, dict[str, Any]]] = [
        ("v2", {"step": ROUND / 800}), ("reversible:distance:v2", {"step": 0.0275}), ("rkn6_14a", {"step": ROUND / 44}),
        ("reversible:distance:rkn6_14a", {"step": 0.5}), ("mkrk:dp8", {"steps": ph.Tolerance(1e-7)}),
        ("mkrk:dp8", {"steps": ph.Tolerance(1e-9)}),
        ("logarithmic", {"step": 0.1}), ("logarithmic:kl8", {"step": 1.0}),
    ]  # fmt: skip
    for method, pace in runs:
        ds = ph.integrate(ORBIT, method, t_end=turns * ROUND, every=37, **pace, **apoapsis(e))
        error = np.abs(ds.energy_error.values)
        r, v = ds.position.values, ds.velocity.values
        nearest = np.cross(v, np.cross(r, v)) - r / np.linalg.norm(r, axis=1)[:, None]
        turned = np.unwrap(np.arctan2(nearest[:, 1], nearest[:, 0]))
        tenth = len(error) // 10
        name = method + (f", rtol {pace['rtol']:g}" if "rtol" in pace else "")
        print(
            f"{name:30} {ds.attrs['load_evaluations'] / turns:7.0f} evaluations a turn   {error[:tenth].max():8.1e} "
            f"{error[-tenth:].max():8.1e}   {(turned[-1] - turned[0]) / turns:9.1e} rad", flush=True,
        )  # fmt: skip


def soft_wall(t_end: float = 500.0) -> None:
    """Energy of a body that bounces off a wall, at several costs."""
    wall = ph.systems.soft_wall(sign="physical")
    start = {"angular_velocity": (0.5, 0.7, 0.2), "attitude": ph.rotation.exp_quaternion((0.3, 0.2, 0.0))}
    print(f"\nsoft wall, physical sign, to t = {t_end:g}: evaluations a unit of time, largest energy error")
    for method, steps in (
        ("v2", (0.02, 0.01, 0.005)), ("reversible:v2", (0.05, 0.02, 0.01)), ("s6_10", (0.08, 0.05, 0.03)),
        ("reversible:s6_10", (0.07, 0.05, 0.03)), ("fg6_5", (0.08, 0.05, 0.03)), ("reversible:fg6_5", (0.1, 0.05)),
        ("rkn6_14a", (0.1, 0.0625, 0.05)), ("reversible:rkn6_14a", (0.1, 0.07, 0.05)),
    ):  # fmt: skip
        for step in steps:
            n = round(t_end / step)
            ds = ph.integrate(wall, method, step=t_end / n, t_end=t_end, **start)
            worst, cost = np.abs(ds.energy_error.values).max(), ds.attrs["load_evaluations"] / t_end
            print(f"{method:22} step {step:<7g} {cost:6.0f}   {worst:8.1e}", flush=True)


if __name__ == "__main__":
    costs()
    long_runs()
    soft_wall()
