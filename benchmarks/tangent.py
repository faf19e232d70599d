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
from collections.abc import Iterator
from typing import Any

import numpy as np

import polhode as ph
from figure import Figure, in_turns
from polhode.methods import method
from polhode.runs.integrator import Integrator
from polhode.runs.request import requested
from polhode.runs.tangent.engine import Steps
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
        ("t_end", "t_eval", "breaks"))})  # fmt: skip
    plain = Integrator(system, method(name), np.asarray(request.state), 0.0, method(name).method.range)
    made = Transition(request)
    columns, engine = made.columns, made.engines[0]
    begun, y = columns.start.state[None], request.state
    steps = Steps(0.0, h, n)
    best = [np.inf, np.inf]
    for _ in range(rounds):
        plain.restart(y)
        t = time.perf_counter()
        plain.march(0, n, n + 1, 0.0, h)
        best[0] = min(best[0], time.perf_counter() - t)
        t = time.perf_counter()
        engine.march(begun, columns.seeds[None], steps)
        best[1] = min(best[1], time.perf_counter() - t)
    return best[0], best[1], len(columns.names)


def figures(words: list[str], quick: bool) -> Iterator[Figure]:
    """For ``all.py``: ``parameters``, thirty of them over the plain run; ``peers``, matrices beside heyoka's."""
    if words == ["parameters"]:
        n = 30
        rng = np.random.default_rng(1)

        def bent(t: Any, q: Any, omega: Any, p: Any) -> Any:
            out = [0.0, 0.0, 0.0]
            for k in range(10):
                for i in range(3):
                    out[i] = out[i] - p[3 * k + i] * omega[i] * q[k % 4]
            return (out[0], out[1], out[2])

        body = ph.rigid_body((1.0, 1.7, 2.3), torque=bent, parameters=list(1e-2 * rng.normal(size=n)), work=False)
        start = {"angular_velocity": (0.3, 0.4, 2.0)}
        how: Any = {"step": 0.02, "steps": 2_000 if quick else 10_000, "every": 10_000}
        names = [f"parameters.{k}" for k in range(n)]
        for name in ("rkn6_14a", "taylor14"):
            spent = in_turns(
                {
                    "plain": lambda name=name: ph.integrate(body, name, **how, **start),
                    "with": lambda name=name: ph.integrate(body, name, tangent=names, **how, **start),
                },
                3 if quick else 9,
            )
            yield Figure(f"thirty, {name}", spent["with"] / spent["plain"])
        return
    yield from matrices(quick)


def matrices(quick: bool) -> Iterator[Figure]:
    """Transition matrices of a J2 orbit after a day, by their error, beside heyoka's variational equations."""
    import heyoka as hk

    from peer_cases import orbits
    from peer_cases.runs import Run, at, front, settle

    problem = orbits.oblate(1)
    start, t_end = problem.initial, problem.t_end

    def made(tol: float, number: Any = float) -> Any:
        pairs, first = problem.forms["powers"](number)
        system = hk.var_ode_sys(pairs, hk.var_args.vars, order=1)
        options = {"compact_mode": True} if number is not float else {"fast_math": True, "compact_mode": False}
        return hk.taylor_adaptive(system, first, tol=number(tol), fp_type=number, **options)

    exact = made(1e-25, hk.real128)
    exact.propagate_until(hk.real128(t_end))
    truth = np.array([float(x) for x in exact.state[6:]]).reshape(6, 6)

    def off(matrix: Any) -> float:
        return float(np.abs(matrix - truth).max() / np.abs(truth).max())

    theirs, ours = [], []
    for k in range(6, 33, 2 if quick else 1):
        ta = made(10.0 ** (-k / 2))
        kept = ta.state.copy()

        def begin(ta: Any = ta, kept: Any = kept) -> None:
            ta.time = 0.0
            ta.state[:] = kept

        run = Run("heyoka", k, begin, lambda ta=ta: ta.propagate_until(t_end), lambda: None)
        run.begin()
        run.go()
        run.error = off(ta.state[6:].reshape(6, 6))
        theirs.append(run)
    for name in ("taylor12", "taylor16", "rkn6_14a", "rkn8_17"):
        kinds, n = [], 60.0
        while n < 4000.0:
            words_of: Any = {
                "step": t_end / round(n),
                "steps": round(n),
                **dict.fromkeys(("t_end", "t_eval", "breaks")),
            }
            request = requested(problem.system, name, {"tangent": True, **words_of, **start})
            transition = Transition(request)
            columns, engine = transition.columns, transition.engines[0]
            y, steps = columns.start.state[None], Steps(0.0, t_end / round(n), round(n))
            kinds.append(Run(name, n, lambda: None, lambda e=engine, y=y, c=columns, s=steps: e.march(
                y, c.seeds[None], s), lambda: None))  # fmt: skip
            kinds[-1].go()
            ds = ph.integrate(problem.system, name, step=t_end / round(n), steps=round(n), every=round(n),
                              tangent=True, **start)  # fmt: skip
            kinds[-1].error = off(by_velocity(ds))
            n *= 1.5 if quick else 1.2
        ours.append(settle(kinds))
    theirs = settle(theirs)
    for _ in range(5 if quick else 15):
        for run in (*theirs, *(run for kinds in ours for run in kinds)):
            run.clock()
    for error in (1e-4, 1e-6, 1e-8, 1e-10):
        best = float(np.nanmin([at(front(kinds), error) for kinds in ours]))
        yield Figure(f"matrix {error:.0e}", 1e6 * best, 1e6 * at(front(theirs), error), (error, error))


def by_velocity(ds: Any) -> Any:
    """The transition matrix of position and velocity at the last row."""
    P = ds.state_transition.isel(time=-1)
    m = float(ds.attrs.get("mass", 1.0))
    names = [str(name) for name in P.row.values]
    order = [names.index(f"{kind}_{axis}") for kind in ("position", "momentum") for axis in "xyz"]
    scale = np.array([1.0, 1.0, 1.0, m, m, m])
    return P.values[np.ix_(order, range(6))] / scale[:, None]


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
