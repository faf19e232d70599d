"""Derivatives: the time of a step with its tangent map over that of a plain step, and how symplectic the map is.

    python benchmarks/tangent.py [--steps 20000] [--rounds 7]

Turns alternate between the two, and the smallest time of each counts. ``columns`` are the directions carried along: 6
of a top, an orbit or a free body, 12 of a spacecraft. ``symplectic`` is the largest error of P^T J1 P - J0 over |P|^2:
P is the transition matrix of the last row and J the form of the state it belongs to (left-trivialised rotations: their
block of the form is -[m]x).
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

import polhode as ph
from polhode.methods import method
from polhode.runs.integrator import Integrator
from polhode.runs.request import requested
from polhode.runs.tangent.engine import Schedule
from polhode.runs.tangent.transition import Transition

EARTH = ph.planets.EARTH
J2 = 1.08263e-3
TOP = (
    ph.heavy_top([1.0, 1.7, 2.3], [0.1, 0.2, 1.0], 2.0),
    {"attitude": np.array([0.9, 0.1, 0.3, 0.2]) / np.sqrt(0.95), "angular_momentum": [0.3, 0.4, 2.0]},
    0.02,
)
BODY = (ph.free_body([1.0, 1.7, 2.3]), TOP[1], 0.02)
ORBIT = (
    ph.orbit(EARTH.mu, forces=[ph.forces.zonal(J2=J2, radius=EARTH.radius)]),
    {"position": [7e6, 0, 0], "velocity": [0, 5500, 5500]},
    30.0,
)
CRAFT = (
    ph.spacecraft([10.0, 14.0, 18.0], EARTH.mu, 100.0, forces=[ph.forces.zonal(J2=J2, radius=EARTH.radius)]),
    {**ORBIT[1], "attitude": [0.5, 0.5, 0.5, 0.5], "angular_velocity": [1e-3, 2e-3, 1e-3]},
    20.0,
)
CASES = {
    "free body": (BODY, ("v2", "rkn6_14a", "dmv6", "mr6", "mkrk:rk4", "taylor14")),
    "heavy top": (TOP, ("v2", "rkn6_14a", "kl8", "dmv6", "mkrk:rk4", "mkrk:gauss4", "taylor14")),
    "J2 orbit": (ORBIT, ("v2", "rkn6_14a", "aba10_6_4/kepler", "taylor14")),
    "spacecraft": (CRAFT, ("v2", "rkn6_14a", "s6_10/kepler", "taylor14")),
}


def form(system: Any, row: Any) -> Any:
    """The symplectic form in the coordinates of the rows at a row of a Dataset."""
    names = [str(name) for name in row.row.values]
    J = np.zeros((len(names), len(names)))
    for k, name in enumerate(names):
        if name.startswith("position"):
            n = names.index(name.replace("position", "momentum"))
            J[k, n], J[n, k] = 1.0, -1.0
        if name.startswith("rotation"):
            n = names.index(name.replace("rotation", "angular_momentum"))
            J[k, n], J[n, k] = 1.0, -1.0
    if "rotation_x" in names:
        k = names.index("rotation_x")
        x, y, z = row.angular_momentum.values
        J[k : k + 3, k : k + 3] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
    return J


def symplectic(system: Any, name: str, start: Any, h: float) -> float:
    """The error of the form after 200 steps."""
    ds = ph.integrate(system, name, step=h, steps=200, tangent=True, **start)
    P = ds.state_transition.values[-1]
    scale = np.ones(len(P))
    for k, row in enumerate(map(str, ds.row.values)):  # positions and momenta of the size of 1
        if row.startswith(("position", "momentum")):
            scale[k] = np.abs(ds[row[:-2]].values).max()
    P = P * scale[None, :] / scale[:, None]
    J0, J1 = (form(system, ds.isel(time=k)) * np.outer(scale, scale) for k in (0, -1))
    return float(np.abs(P.T @ J1 @ P - J0).max() / (np.abs(P).max() ** 2 * np.abs(J0).max()))


def seconds(system: Any, name: str, start: Any, h: float, n: int, rounds: int) -> tuple[float, float, int]:
    """The smallest times of n plain steps and of n steps with all columns of the state, and how many these are."""
    request = requested(system, name, {"step": h, "steps": n, "tangent": True, **start, **dict.fromkeys(
        ("t_end", "t_eval", "breaks"))}, {})  # fmt: skip
    plain = Integrator(system, method(name), request.state.values, 0.0, method(name).method.range)
    made = Transition(request)
    columns, engine = made.columns, made.engines[0]
    begun, y = columns.start.state[None], request.state.values
    schedule = Schedule.equal(0.0, h, n)
    best = [np.inf, np.inf]
    for _ in range(rounds):
        plain.restart(y)
        t = time.perf_counter()
        plain.march(0, n, n + 1, 0.0, h)
        best[0] = min(best[0], time.perf_counter() - t)
        t = time.perf_counter()
        engine.march(begun, columns.seeds[None], schedule)
        best[1] = min(best[1], time.perf_counter() - t)
    return best[0], best[1], len(columns.names)


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--steps", type=int, default=20_000)
    reader.add_argument("--rounds", type=int, default=7)
    given = reader.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'':12s}{'method':20s}{'columns':>8s}{'plain':>10s}{'with':>10s}{'ratio':>7s}   symplectic")
    for case, ((system, start, h), names) in CASES.items():
        for name in names:
            plain, with_columns, columns = seconds(system, name, start, h, given.steps, given.rounds)
            error = symplectic(system, name, start, h)
            times = [spent / given.steps * 1e9 for spent in (plain, with_columns)]
            ratio = with_columns / plain
            print(f"{case:12s}{name:20s}{columns:8d}{times[0]:7.0f} ns{times[1]:7.0f} ns{ratio:7.2f}   {error:.1e}")


if __name__ == "__main__":
    main()
