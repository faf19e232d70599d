"""Ensembles: the time of a whole call of ``polhode.ensemble``, and of heyoka's batch integrator for the same members.

    python benchmarks/ensembles.py [case ...] [--members 10000] [--rounds 5] [--threads 1]

Needs heyoka (``pip install heyoka``) for its columns only. Compilation is left out on both sides.

free       Free bodies, random inertia tensors and angular velocities, to t = 10: ``exact``, one step.
torque     Asymmetric bodies under a damping torque of a user that depends on attitude and rates, 1,000 Strang steps of
           0.01, by each engine.
j2         Elliptic orbits about an oblate body, of which J2 is uncertain, one day, with a tolerance.
craft      Spacecraft with gravity gradient, J2 to J6 and drag, inertia and drag coefficient uncertain, one day.

``call`` is the time from arrays to the Dataset with invariants and energies, the smallest of the rounds; heyoka's is
its integration alone, states and parameters in, states out, eight members at a time (its batch), by one thread. Errors
are the largest differences of quaternions and positions (relative) of the first 64 members from Taylor series at 1e-16;
of spacecraft, some of which tumble, the median.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import polhode as ph
from figure import Figure

try:
    import heyoka as hk
except ImportError:
    hk = None

BATCH = 8
RNG = np.random.default_rng(2026)
EARTH = ph.planets.EARTH
FEW = 64


def seconds(run: Callable[[], Any], rounds: int) -> float:
    """The smallest time of a call."""
    run()
    found = []
    for _ in range(rounds):
        begun = time.perf_counter()
        run()
        found.append(time.perf_counter() - begun)
    return min(found)


TOLD: list[tuple[str, float, float | None]] = []
"""Rows that were printed: name, milliseconds, error."""


def told(name: str, spent: float, members: int, error: float | None, rest: str = "") -> None:
    """Print a row."""
    TOLD.append((name, spent * 1e3, error))
    accuracy = "" if error is None else f"  error {error:.1e}"
    print(f"  {name:34s} {spent * 1e3:10.2f} ms  {spent / members * 1e6:9.3f} us a member{accuracy}  {rest}")


def difference(ds: Any, truth: Any, of: Callable[[Any], Any] = np.max) -> float:
    """The largest error at the end of the first members, of attitudes and of relative positions, or their median."""
    found = [0.0]
    if "attitude" in ds:
        q, p = ds.attitude.values[:FEW, -1], truth.attitude.values[:, -1]
        found.append(of(np.minimum(np.abs(q - p).max(axis=1), np.abs(q + p).max(axis=1))))
    if "position" in ds:
        r, s = ds.position.values[:FEW, -1], truth.position.values[:, -1]
        found.append(of(np.linalg.norm(r - s, axis=1) / np.linalg.norm(s, axis=1)))
    return float(max(found))


def by_heyoka(equations: Any, states: Any, pars: Any, end: float, tolerance: float, rounds: int) -> tuple[float, Any]:
    """Time and final states of heyoka's batch integrator."""
    ta = hk.taylor_adaptive_batch(equations, states[:BATCH].T.copy(), pars=pars[:BATCH].T.copy(), tol=tolerance)
    out = np.empty_like(states)

    def run() -> None:
        for first in range(0, len(states), BATCH):
            ta.set_time(np.zeros(BATCH))
            ta.state[:], ta.pars[:] = states[first : first + BATCH].T, pars[first : first + BATCH].T
            ta.propagate_until(np.full(BATCH, end))
            out[first : first + BATCH] = ta.state.T

    return seconds(run, rounds), out


def rotation(torque: Any) -> Any:
    """Euler's equations with the moments as the first three parameters, and the quaternion."""
    q, w = hk.make_vars("q0", "q1", "q2", "q3"), hk.make_vars("w0", "w1", "w2")
    I = [hk.par[k] for k in range(3)]
    T = torque(q, w)
    rates = [(T[k] + (I[(k + 1) % 3] - I[(k + 2) % 3]) * w[(k + 1) % 3] * w[(k + 2) % 3]) / I[k] for k in range(3)]
    turns = [
        -0.5 * (q[1] * w[0] + q[2] * w[1] + q[3] * w[2]), 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]),
        0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]), 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]),
    ]  # fmt: skip
    return [*zip(q, turns, strict=True), *zip(w, rates, strict=True)]


def moments(members: int) -> Any:
    """Moments of inertia that a body can have."""
    second = RNG.uniform(0.5, 1.0, (members, 3))
    return second.sum(axis=1)[:, None] - second


def first(values: dict[str, Any]) -> dict[str, Any]:
    """The first members alone."""
    return {name: value[:FEW] for name, value in values.items()}


def free(members: int, rounds: int, threads: int) -> None:
    """Free bodies."""
    body, inertia = ph.free_body((1, 1.5, 2)), moments(members)
    values = {"inertia": inertia, "angular_velocity": RNG.normal(size=(members, 3))}
    tight = {"steps": ph.Tolerance(1e-16), "t_end": 10.0}
    truth = ph.ensemble(body, "taylor", members=first(values), **tight)
    for engine in ("threads", "lanes"):

        def call(engine: str = engine) -> Any:
            return ph.ensemble(body, "exact", members=values, step=10.0, steps=1, threads=threads, engine=engine)

        attempt(f"exact, one step, {engine}", call, members, rounds, truth)
    if hk is not None:
        states = np.concatenate([np.tile([1.0, 0, 0, 0], (members, 1)), values["angular_velocity"]], axis=1)
        spent, out = by_heyoka(rotation(lambda q, w: (0.0, 0.0, 0.0)), states, inertia, 10.0, 1e-15, rounds)
        told("heyoka, 1e-15", spent, members, turned(out, truth))


def turned(out: Any, truth: Any) -> float:
    """The largest error of quaternions in states of heyoka."""
    q, p = out[:FEW, :4], truth.attitude.values[:, -1]
    return float(np.minimum(np.abs(q - p).max(axis=1), np.abs(q + p).max(axis=1)).max())


def attempt(
    name: str, call: Callable[[], Any], members: int, rounds: int, truth: Any, steps: int = 0, of: Any = np.max
) -> None:
    """Time a call, or say why it cannot be made."""
    try:
        ds = call()
    except ph.errors.InvalidInput as problem:
        print(f"  {name:34s} {str(problem)[:90]}")
        return
    spent = seconds(call, rounds)
    rest = f"{steps * members / ds.encoding['seconds'] * 1e-6:.1f} M steps/s" if steps else ""
    told(name, spent, members, None if truth is None else difference(ds, truth, of), rest)


def damping(t, q, omega, parameters):
    """A user's torque."""
    k = parameters[0]
    return (-k * omega[0] + 0.1 * q[1], -k * omega[1] - 0.1 * q[2], -k * omega[2])


def torque(members: int, rounds: int, threads: int) -> None:
    """Asymmetric bodies under a user's torque."""
    body, inertia = ph.rigid_body((1, 1.5, 2), torque=damping, parameters=[0.01], work=False), moments(members)
    values = {"inertia": inertia, "angular_velocity": RNG.normal(size=(members, 3))}
    truth = ph.ensemble(body, "taylor", members=first(values), steps=ph.Tolerance(1e-16), t_end=10.0)
    for method in ("v2/mr", "v2/three_rotation"):
        for engine in ("threads", "lanes"):

            def call(engine: str = engine, method: str = method) -> Any:
                return ph.ensemble(body, method, members=values, step=0.01, steps=1000, every=1000, threads=threads,
                                   engine=engine)  # fmt: skip

            attempt(f"{method}, {engine}", call, members, rounds, truth, 1000)
    for tolerance in (1e-4, 1e-6, 1e-15):

        def by_series(tolerance: float = tolerance) -> Any:
            return ph.ensemble(body, "taylor", members=values, steps=ph.Tolerance(tolerance), t_end=10.0,
                               threads=threads)  # fmt: skip

        attempt(f"taylor, {tolerance:g}", by_series, members, rounds, truth)
    if hk is not None:
        states = np.concatenate([np.tile([1.0, 0, 0, 0], (members, 1)), values["angular_velocity"]], axis=1)

        def of(q: Any, w: Any) -> Any:
            return (-0.01 * w[0] + 0.1 * q[1], -0.01 * w[1] - 0.1 * q[2], -0.01 * w[2])

        for tolerance in (1e-4, 1e-6, 1e-15):
            spent, out = by_heyoka(rotation(of), states, inertia, 10.0, tolerance, rounds)
            told(f"heyoka, {tolerance:g}", spent, members, turned(out, truth))


def orbits(members: int) -> dict[str, Any]:
    """Places and velocities of ellipses."""
    r = np.array([7e6, 0.0, 0.0]) + 1e4 * RNG.normal(size=(members, 3))
    return {"position": r, "velocity": np.array([0.0, 5700.0, 5700.0]) + 10.0 * RNG.normal(size=(members, 3))}


def j2(members: int, rounds: int, threads: int) -> None:
    """Orbits about an oblate body whose J2 is uncertain."""
    R, J2 = EARTH.zonal["radius"], 1.0826e-3
    system = ph.orbit(EARTH.mu, forces=[ph.forces.zonal(radius=R, J2=J2)])
    values = orbits(members) | {"forces.0.J2": J2 * (1.0 + 1e-3 * RNG.normal(size=members))}
    truth = ph.ensemble(system, "taylor", members=first(values), steps=ph.Tolerance(1e-17), t_end=86400.0)
    for tolerance in (1e-9, 1e-12):

        def call(tolerance: float = tolerance) -> Any:
            return ph.ensemble(system, "taylor", members=values, steps=ph.Tolerance(tolerance), t_end=86400.0,
                               threads=threads)  # fmt: skip

        attempt(f"taylor, {tolerance:g}", call, members, rounds, truth)
    if hk is not None:
        x, y, z, u, v, w = hk.make_vars("x", "y", "z", "u", "v", "w")
        r2 = x * x + y * y + z * z
        far, bulge = -EARTH.mu * r2**-1.5, 1.5 * hk.par[0] * R * R / r2
        shape = 5.0 * z * z / r2
        equations = [(x, u), (y, v), (z, w), (u, far * x * (1.0 + bulge * (1.0 - shape))),
                     (v, far * y * (1.0 + bulge * (1.0 - shape))),
                     (w, far * z * (1.0 + bulge * (3.0 - shape)))]  # fmt: skip
        states = np.concatenate([values["position"], values["velocity"]], axis=1)
        for tolerance in (1e-9, 1e-12):
            spent, out = by_heyoka(equations, states, values["forces.0.J2"][:, None], 86400.0, tolerance, rounds)
            s = truth.position.values[:, -1]
            error = (np.linalg.norm(out[:FEW, :3] - s, axis=1) / np.linalg.norm(s, axis=1)).max()
            told(f"heyoka, {tolerance:g}", spent, members, float(error))


def craft(members: int, rounds: int, threads: int) -> None:
    """Spacecraft whose drag and inertia are uncertain."""
    air = ph.forces.drag(coefficient=0.02, density=3e-12, radius=6.778e6, scale=60e3, rotation=7.29e-5)
    system = ph.spacecraft((90, 70, 60), EARTH.mu, 120.0, forces=[ph.forces.zonal(**EARTH.zonal), air])
    values = orbits(members) | {
        "forces.1.coefficient": 0.02 * (1.0 + 0.1 * RNG.normal(size=members)),
        "inertia": np.array([90.0, 70.0, 60.0]) * (1.0 + 0.02 * RNG.random((members, 3))),
        "angular_velocity": 1e-3 * RNG.normal(size=(members, 3)),
    }
    truth = ph.ensemble(system, "taylor", members=first(values), steps=ph.Tolerance(1e-17), t_end=86400.0)
    for method in ("taylor", "mkrk:dp8"):

        def call(method: str = method) -> Any:
            return ph.ensemble(system, method, members=values, steps=ph.Tolerance(1e-9), t_end=86400.0, threads=threads)

        attempt(f"{method}, 1e-9", call, members, rounds, truth, of=np.median)  # some tumble without any order


CASES = {"free": free, "torque": torque, "j2": j2, "craft": craft}


def figures(words: list[str], quick: bool) -> Iterator[Figure]:
    """For ``all.py``: milliseconds of whole calls, the cheapest that is as exact as each row of heyoka."""
    warnings.simplefilter("ignore", ph.errors.PolhodeWarning)
    for case in ("free", "torque", "j2"):
        TOLD.clear()
        CASES[case](10_000, 2 if quick else 5, 1)
        for name, spent, error in TOLD:
            if name.startswith("heyoka") and error is not None:
                exact = [row for row in TOLD if not row[0].startswith("heyoka") and row[2] is not None]
                within = [(row[1], row[0], row[2]) for row in exact if row[2] <= max(error, 1e-15)]  # type: ignore[operator]
                ours, who, off = min(within) if within else (float("nan"), "none as exact", float("nan"))
                yield Figure(f"{case}, {name}", ours, spent, (off, error), who)


def main() -> None:
    """Print the tables that are asked for."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("cases", nargs="*", default=[], help=", ".join(CASES))
    words.add_argument("--members", type=int, default=10_000)
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--threads", type=int, default=1)
    given = words.parse_args()
    warnings.simplefilter("ignore", ph.errors.PolhodeWarning)
    for name in given.cases or CASES:
        members = given.members - given.members % BATCH
        print(f"{name}, {members} members, {given.threads} thread{'s' * (given.threads > 1)}")
        CASES[name](members, given.rounds, given.threads)


if __name__ == "__main__":
    main()
