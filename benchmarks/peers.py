"""Work against precision: polhode against heyoka, a Taylor integrator that compiles the equations it is given.

    python benchmarks/peers.py [case ...] [--rounds 15] [--quick] [--methods rkn6_14a,p8] [--every]

Needs heyoka (``pip install heyoka``), which polhode does not. Compilation and setting up are left out on all sides.

free       The free body of Krysl, section 5.1, at t = 100 and 1e5: one exact evaluation, exact steps, and heyoka at
           three tolerances; errors against Jacobi's functions with 50 digits (mpmath).
fast_top, asymmetric_top, satellite, satellite_100
           Tops to t = 20, a body in the gravity gradient to t = 10 and 100.
torque     An asymmetric body under a torque of a user, in Python, that depends on time, attitude and rates; also
           against DOP853 of SciPy with the same torque compiled by numba.
j2, j2_10  An elliptic orbit about an oblate body, 1 and 10 days.
perturbed  A low orbit for a day with J2, drag, Sun and Moon.
zonal      A day with J2 to J6, of which both sides are given the potential by the same recursion.
craft      A spacecraft with gravity gradient, orbit and attitude in one, a day.
wheels, wheels_friction
           A spacecraft with three wheels, J2 and gravity gradient, 28,500 s; with friction, motors and drag, too.
field      Six hours in EGM2008 to degree 10.
planets    Sun, Jupiter to Neptune, and Pluto: 200 years.

heyoka gets the equations in several forms, numbers written into the code, with its defaults, high accuracy, fast math,
and compact mode; each on a coarse grid of tolerances, then the best of them on a fine one, and the best counts at each
error. polhode's methods take steps of one size, or (``rtol``) those of a tolerance; a method that the system refuses is
left out and said. With ``--quick`` grids are coarse and variants few.

The error of a run is the largest at the end of the angle of the attitude (rad) and the relative errors of momentum and
position, against heyoka in quadruple precision. A run at 1e-6 by luck does not count as one: its error is the larger of
its own and that of the next finer run. The table interpolates log time over log error; ``ratio`` is the other's time
over polhode's. Floors are the smallest such errors.

``polhode`` is the compiled loop, with the conversions that processed methods need; ``prepared`` is a whole run of
``ph.prepare``, with arrays as its answer, as an integrator of heyoka that is ready; ``whole call`` is a call of
``ph.integrate``, which checks its arguments, guards the steps, and makes a Dataset with invariants. Times are
microseconds, the smallest of many rounds; all runs of a table that are near the front at first sight take turns.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace

import heyoka as hk
import numpy as np

import polhode as ph
from figure import Figure
from peer_cases import bodies, equipped, orbits
from peer_cases.free_body import free_body
from peer_cases.ours import all_methods
from peer_cases.rivals import all_variants, columns, reference_of, with_scipy
from peer_cases.runs import Problem, Run, at, clock_all, every_method, front, least, show, worth

ERRORS = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
"""Of the rows of ``all.py``."""
CASES: dict[str, Callable[[], Problem]] = {
    "fast_top": lambda: bodies.ready("krysl_fast_top", 20.0, "fast top, t = 20"),
    "asymmetric_top": lambda: bodies.ready("asymmetric_top", 20.0, "asymmetric top, t = 20"),
    "satellite": lambda: bodies.ready("celledoni_satellite", 10.0, "satellite, t = 10"),
    "satellite_100": lambda: bodies.ready("celledoni_satellite", 100.0, "satellite, t = 100"),
    "torque": bodies.steered,
    "j2": lambda: orbits.oblate(1),
    "j2_10": lambda: orbits.oblate(10),
    "perturbed": orbits.perturbed,
    "zonal": orbits.zonal,
    "craft": bodies.craft,
    "wheels": lambda: equipped.wheels(False),
    "wheels_friction": lambda: equipped.wheels(True),
    "field": orbits.field,
    "planets": lambda: orbits.planets(200.0),
}


def compare(problem: Problem, rounds: int, quick: bool, every: bool) -> None:
    """Print the table of one case."""
    reference, agreed = reference_of(problem)
    variants, slowest = theirs(problem, reference, quick)
    others = columns(problem, variants)
    if problem.scipy is not None:
        others["SciPy"] = with_scipy(problem, reference)
    ours = all_methods(problem, problem.methods, reference, slowest)
    confirmed = min(run.error for runs in ours.values() for run in runs)
    title = f"{problem.title}; the reference agrees to {agreed:.0e}, with polhode to {confirmed:.0e}"
    show(title, ours, others, problem.targets, rounds)
    if every:
        every_method(ours, problem.targets)


def theirs(problem: Problem, reference: object, quick: bool) -> tuple[dict[str, list[Run]], float]:
    """The runs of heyoka, and the time of the slowest."""
    variants = all_variants(problem, reference, quick)
    return variants, max(run.seconds for runs in variants.values() for run in runs)


def figures(words: list[str], quick: bool) -> Iterator[Figure]:
    """For ``all.py``: of one case, microseconds of loops and of whole cycles of what is ready, by error.

    Both are interpolated to the error. A cycle is ``run`` of ``ph.prepare`` from a start, and for heyoka time and state
    set, then the integration.
    """
    problem = CASES[words[0]]()
    rounds = 5 if quick else 15
    reference, _ = reference_of(problem)
    rivals, slowest = theirs(problem, reference, quick)
    sides = [worth(all_methods(problem, problem.methods, reference, slowest)), worth(rivals)]
    warnings.simplefilter("ignore")
    for kind in ("loop", "prepared"):
        if kind == "prepared":
            sides = [{name: [cycle(run) for run in runs] for name, runs in side.items()} for side in sides]
        clock_all(sides, rounds)
        curves = [{name: front(runs) for name, runs in side.items()} for side in sides]
        for error in (error for error in ERRORS if error >= min(problem.targets)):
            (one, ours), (other, other_time) = (
                least({name: at(curve, error) for name, curve in side.items()}) for side in curves
            )
            both = f"{one}; {other}"
            yield Figure(f"{kind} {error:.0e}", 1e6 * ours, 1e6 * other_time, (error, error), both)


def cycle(run: Run) -> Run:
    """A whole cycle of a run as another one."""

    def go() -> None:
        run.begin()
        run.go()

    return replace(run, begin=lambda: None, go=run.prepared or go, seconds=np.inf)


def main() -> None:
    """Print the tables that are asked for."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("cases", nargs="*", default=[], help=", ".join(("free", *CASES)))
    words.add_argument("--rounds", type=int, default=15)
    words.add_argument("--methods", default="", help="instead of those of each case")
    words.add_argument("--quick", action="store_true", help="coarse grids, few variants")
    words.add_argument("--every", action="store_true", help="print the times of every method, too")
    given = words.parse_args()
    unknown = set(given.cases) - {"free", *CASES}
    if unknown:
        words.error(f"no case {', '.join(sorted(unknown))}; there are free, {', '.join(CASES)}")
    print(f"heyoka {hk.__version__}, polhode {ph.__version__}")
    for name in given.cases or ("free", *CASES):
        if name == "free":
            free_body(given.rounds)
            continue
        problem = CASES[name]()
        if given.methods:
            problem = replace(problem, methods=given.methods.split(","))
        compare(problem, given.rounds, given.quick, given.every)


if __name__ == "__main__":
    main()
