"""What motion about the centre saves: forces evaluated for an error of 1e-3 km over ten days about an oblate moon.

    python benchmarks/wisdom_holman.py [rows] [starts] [corrected] [--goal 1e-3] [--finer 1.06]

The orbit is Carson's elliptic one, tilted, with J2 = 1e-3 of radius 1560.8 km. Each row of coefficients takes the flow
of straight motion between kicks by all forces, and as ``row/kepler`` that about the centre between kicks by the
oblateness [wisdom1991]. On a ladder of numbers of steps, each finer than the one before by the same ratio, the last two
between which the error passes the goal are taken, and the evaluations in between are interpolated by logarithms.

rows       Every row, from the periapsis: errors at the end, largest errors of 400 states.
starts     The same rows from other places of the orbit, errors at the end.
corrected  As ``row/kepler:corrected``, without errors of first order in the oblateness up to a power of the step.

Errors of a symmetric row that are of first order in the perturbation have no mean over an orbit. What grows with time
comes from the start: the energy that the row keeps differs from the true one by the error's value there, which is
largest at the periapsis. Wisdom's corrector moves the start to where the row keeps the right energy [wisdom1996].
"""

from __future__ import annotations

import argparse
from functools import cache

import numpy as np

import polhode as ph
from polhode.methods.splitting_tables import scheme

MU, R0, SPAN, PERIOD = 3200.9998, 1664.029, 864000.0, 11606.11
OBLATE = ph.orbit(MU, forces=[ph.forces.zonal(J2=1e-3, radius=1560.8)])
START = {"position": (0.0, R0, 0.0), "velocity": (1.550663 * np.cos(0.9), 0.0, 1.550663 * np.sin(0.9))}
SAMPLES, MOST_STEPS = 400, 2e7
ROWS = ("v2", "s4_6", "rkn4_6b", "rkn6_7", "s6_10", "rkn6_14a", "pmlf6", "aba10_6_4", "wisdom7", "wisdom17")
CORRECTED = ("v2", "s4_6", "rkn4_6b", "s6_10", "rkn6_14a")


@cache
def start_of(delay: float):
    """The orbit some time after the periapsis."""
    if delay == 0.0:
        return START
    ds = ph.integrate(
        OBLATE, "mkrk:gauss16", step=delay / round(delay / 100.0), t_end=delay, settings={"guard": False}, **START
    )
    return {"position": ds.position.values[-1], "velocity": ds.velocity.values[-1]}


@cache
def exact(times: tuple[float, ...], delay: float):
    """Positions at these times: by small tolerances, to 1e-7 km."""
    ds = ph.integrate(
        OBLATE,
        "mkrk:dp8",
        steps=ph.Tolerance(1e-14),
        t_end=SPAN,
        t_eval=times,
        settings={"guard": False},
        **start_of(delay),
    )
    return ds.position.values


def errors(label: str, n: int, delay: float, along: bool) -> tuple[float, float, float]:
    """Evaluations, error at the end, and, ``along`` the way, the largest."""
    how = {"step": SPAN / n, "steps": n, "settings": {"guard": False}, **start_of(delay)}
    ds = ph.integrate(OBLATE, label, every=n, **how)
    end = float(np.linalg.norm(ds.position.values[-1] - exact((SPAN,), delay)[0]))
    if not along:
        return ds.attrs["load_evaluations"], end, end
    rows = ph.integrate(OBLATE, label, every=max(1, n // SAMPLES), **how)
    times = tuple(np.minimum(rows.time.values, SPAN).tolist())
    largest = np.linalg.norm(rows.position.values - exact(times, delay), axis=1).max()
    return ds.attrs["load_evaluations"], end, max(end, float(largest))


def needed(label: str, goal: float, finer: float, delay: float = 0.0, along: bool = True) -> np.ndarray:
    """Evaluations for the goal at the end, and all along; from the coarse to three ladder rungs within it."""
    n, found = 300.0, []
    while n < MOST_STEPS:
        try:
            found.append(errors(label, round(n), delay, along))
        except ph.errors.PolhodeError:  # steps so large that the point falls
            found.append((np.nan, np.inf, np.inf))
        if len(found) > 6 and max(row[2] for row in found[-6:]) < goal:
            break
        n *= finer
    table, answer = np.array(found), []
    for column in (1, 2):
        e = table[:, column]
        k = int(np.nonzero(~(e < goal))[0].max(initial=-1))
        if k < 0 or k == len(e) - 1 or not np.isfinite(e[k]):
            answer.append(np.nan)
            continue
        x = np.log([e[k + 1], e[k], table[k + 1, 0], table[k, 0]])
        answer.append(float(np.exp(np.interp(np.log(goal), x[:2], x[2:]))))
    return np.array(answer)


def main() -> None:
    """Print the tables that are asked for."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("tables", nargs="*", default=[], help="rows, starts, corrected")
    words.add_argument("--goal", type=float, default=1e-3)
    words.add_argument("--finer", type=float, default=1.06)
    given = words.parse_args()
    goal, finer, tables = given.goal, given.finer, given.tables or ["rows", "starts", "corrected"]
    line = "{:<12}{:>9.0f}{:>9.0f}{:>7.2f}{:>11.0f}{:>9.0f}{:>7.2f}"
    drifting = {}
    if "rows" in tables or "corrected" in tables:
        names = ROWS if "rows" in tables else CORRECTED
        print(f"{'':<12}{'end':>9}{'/kepler':>9}{'ratio':>7}{'all along':>11}{'/kepler':>9}{'ratio':>7}")
        for name in names:
            alone = scheme(name).requires == "near"  # made for a small perturbation
            drifting[name] = plain = np.full(2, np.nan) if alone else needed(name, goal, finer)
            about = needed(f"{name}/kepler", goal, finer)
            pairs = zip(plain, about, plain / about, strict=True)
            print(line.format(name, *(x for pair in pairs for x in pair)), flush=True)
    if "starts" in tables:
        names = ("rkn4_6b", "s6_10", "rkn6_14a")
        print(f"\nend of the span, from\n{'s after the periapsis':<22}" + "".join(f"{name:>27}" for name in names))
        for delay in np.arange(9) * PERIOD / 9:
            cells = []
            for name in names:
                a = needed(name, goal, finer, delay, False)[0]
                b = needed(f"{name}/kepler", goal, finer, delay, False)[0]
                cells.append(f"{a:>10.0f} {b:>9.0f} {a / b:>6.2f}")
            print(f"{delay:<22.0f}" + "".join(cells), flush=True)
    if "corrected" in tables:
        print("\nthe same with a corrector about the centre; its evaluations are counted")
        for name in CORRECTED:
            about = needed(f"{name}/kepler:corrected", goal, finer)
            plain = drifting[name]
            pairs = zip(plain, about, plain / about, strict=True)
            print(line.format(name, *(x for pair in pairs for x in pair)), flush=True)


if __name__ == "__main__":
    main()
