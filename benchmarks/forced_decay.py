"""How well a weak drag is followed over ten days at equal cost: forced variational schemes against Runge and Kutta's.

    python benchmarks/forced_decay.py [--days 10] [--methods mkrk:heun,variational:0,...]

Carson's orbits in air whose drag is a = -kd exp(-(r - r0)/50 km) |v| v, kd = 2e-9/km for the circular one and 2e-8/km
for the elliptic: they lose 5e-3 and 8e-3 of their energy in ten days. The error of a method is that of its energy at
the end over this loss; 1 means that it does not see the drag for its own errors.

Every method gets the same number of load evaluations: its number of steps follows. ``forced verlet`` is written out
here: the discrete Lagrangian with alpha = 0 and the symmetric discrete forces of [carson2005, eq. 28], the drag at
fixed places solved exactly, drag(h/2) kick(h/2) drift(h) kick(h/2) drag(h/2); one evaluation a step, since a kick and
the drags beside it see one place. ``forced midpoint``, alpha = 1/2, is iterated to round-off and shown twice: with the
steps of forced Verlet, as though its equations cost nothing, and with as many as its evaluations allow. The others are
polhode's methods; one that is not known is an error. The last column is the better of the two methods of Runge and
Kutta of order 2 over forced Verlet.
"""

from __future__ import annotations

import argparse

import numpy as np
from numba import njit

import polhode as ph

MU, R0, DEPTH = 3200.9998, 1664.029, 50.0
ORBITS = {"circular": (1.386955, 2e-9), "elliptic": (1.550663, 2e-8)}
BUDGETS = {"circular": (17280, 34560, 86400, 172800), "elliptic": (17280, 34560, 86400)}
SECOND = ("mkrk:explicit_midpoint", "mkrk:heun")
METHODS = (*SECOND, "mkrk:rk4", "v2")


@njit
def gravity(r):
    """Acceleration by the centre."""
    return r * (-MU / (r[0] ** 2 + r[1] ** 2 + r[2] ** 2) ** 1.5)


@njit
def thickness(kd, r):
    """The factor of -|v| v."""
    return kd * np.exp(-(np.sqrt(r[0] ** 2 + r[1] ** 2 + r[2] ** 2) - R0) / DEPTH)


@njit
def verlet(kd, r, v, h, n):
    """n steps; evaluations."""
    a, k = gravity(r), thickness(kd, r)
    for _ in range(n):
        v = v / (1.0 + 0.5 * h * k * np.sqrt(np.sum(v * v))) + 0.5 * h * a
        r = r + h * v
        a, k = gravity(r), thickness(kd, r)
        v = v + 0.5 * h * a
        v = v / (1.0 + 0.5 * h * k * np.sqrt(np.sum(v * v)))
    return r, v, n + 1


@njit
def midpoint(kd, r, v, h, n):
    """The same of the implicit midpoint rule, by fixed-point iteration."""
    count = 0
    u = v
    for _ in range(n):
        u = v + 0.5 * h * gravity(r)
        for _ in range(60):
            x = r + 0.5 * h * u
            w = v + 0.5 * h * (gravity(x) - thickness(kd, x) * np.sqrt(np.sum(u * u)) * u)
            count += 1
            change = np.max(np.abs(w - u))
            u = w
            if change < 1e-15:
                break
        r, v = r + h * u, 2.0 * u - v
    return r, v, count


def energy(r, v) -> float:
    """Of a unit of mass."""
    return float(0.5 * np.dot(v, v) - MU / np.linalg.norm(r))


def ends(name: str, orbit: str, n: int, span: float) -> tuple[float, int]:
    """Energy at the end, and evaluations."""
    speed, kd = ORBITS[orbit]
    r, v = np.array([0.0, R0, 0.0]), np.array([speed, 0.0, 0.0])
    if name in ("forced verlet", "forced midpoint"):
        r, v, count = (verlet if name == "forced verlet" else midpoint)(kd, r, v, span / n, n)
        return energy(r, v), count
    system = ph.orbit(MU, forces=[ph.forces.drag(kd=kd, radius=R0, scale=DEPTH)])
    ds = ph.integrate(system, name, step=span / n, steps=n, every=n, settings={"guard": False}, position=r, velocity=v)
    return energy(ds.position.values[-1], ds.velocity.values[-1]), ds.attrs["load_evaluations"]


def at_cost(name: str, orbit: str, budget: int, span: float) -> float:
    """Energy at the end for so many evaluations; not a number where steps of that size have no solution."""
    n = budget
    for _ in range(4):  # evaluations of an implicit step depend on its size
        try:
            found, count = ends(name, orbit, n, span)
        except ph.errors.ConvergenceError:
            return np.nan
        if abs(count / budget - 1.0) < 0.01:
            break
        n = max(1, round(n * budget / count))
    return found


def truth(orbit: str, span: float) -> tuple[float, float]:
    """Energy at the end, and what was lost."""
    speed, kd = ORBITS[orbit]
    system = ph.orbit(MU, forces=[ph.forces.drag(kd=kd, radius=R0, scale=DEPTH)])
    start = {"position": (0.0, R0, 0.0), "velocity": (speed, 0.0, 0.0)}
    ds = ph.integrate(system, "mkrk:dp8", steps=ph.Tolerance(1e-13), t_end=span, t_eval=[0.0, span], **start)
    before, after = (energy(r, v) for r, v in zip(ds.position.values, ds.velocity.values, strict=True))
    return after, before - after


def main() -> None:
    """Print the table."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--days", type=float, default=10.0)
    words.add_argument("--methods", default=",".join(METHODS))
    given = words.parse_args()
    span, names = 86400.0 * given.days, given.methods.split(",")
    heads = ["forced verlet", "midpoint, same h", "forced midpoint", *(name.removeprefix("mkrk:") for name in names)]
    print(f"{'':<10}{'evaluations':>12}" + "".join(f"{head:>18}" for head in heads) + f"{'ratio':>8}")
    for orbit, budgets in BUDGETS.items():
        end, lost = truth(orbit, span)
        print(f"{orbit:<10}{'lost':>12}{lost / abs(end + lost):>18.2e}")
        for budget in budgets:
            found = {"forced verlet": ends("forced verlet", orbit, budget, span)[0]}
            found["same"] = ends("forced midpoint", orbit, budget, span)[0]
            for name in ("forced midpoint", *names):
                found[name] = at_cost(name, orbit, budget, span)
            errors = {name: abs(value - end) / lost for name, value in found.items()}
            better = min((errors[name] for name in SECOND if name in errors), default=np.nan)
            row = "".join(f"{error:>18.1e}" for error in errors.values())
            print(f"{'':<10}{budget:>12}{row}{better / errors['forced verlet']:>8.0f}", flush=True)


if __name__ == "__main__":
    main()
