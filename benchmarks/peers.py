"""Against heyoka, a Taylor integrator of any order that compiles the equations it is given: one process, one core.

    python benchmarks/peers.py [free] [tops] [satellite] [--rounds 15] [--methods rkn6_14a,p8]

Needs heyoka (``pip install heyoka``), which polhode does not. Compilation and setting up are left out on both sides.

free       The free body of Krysl, section 5.1, at t = 100 and 1e5: one exact evaluation, exact steps, and heyoka at
           three tolerances; errors against Jacobi's functions with 50 digits (mpmath).
tops       Work against precision on the fast symmetric and on the asymmetric heavy top, t = 20.
satellite  The same in the gravity gradient, t = 10 and 100.

heyoka gets the equations of body momentum or angular velocity with the quaternion, numbers written into the code, no
compact mode, each with its defaults, with high accuracy, and with fast math: six integrators, of which the best counts
at each error. It chooses its steps itself; polhode's are of one size. Formulations with R^T e3 as further unknowns,
with AVX-512, and both at once were tried, too, and are slower.

The error of a run is the largest of the attitude's angle (rad) and the momentum's relative error at the end, against a
run of heyoka in extended precision that polhode confirms. A run at 1e-6 by luck does not count as one: the error at a
step is the larger of its own and that of the next finer step. The table interpolates log time over log error.

``march`` is polhode's compiled loop, with the conversions that processed methods need; ``whole`` is a call of
``ph.integrate``, which checks its arguments, guards the steps, and makes a Dataset with invariants. Every time is the
smallest of many rounds; all runs of a table take turns.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import heyoka as hk
import mpmath as mp
import numpy as np

import polhode as ph
from polhode.kernel import drive
from polhode.kernel import layout as slots
from polhode.methods import method
from polhode.methods.free_flows import free_flow
from polhode.runs.initial_state import start_state
from polhode.runs.integrator import Integrator
from polhode.systems import System, problem

METHODS = (
    "rkn6_14a", "rkn6_7", "rkn6_11b", "pmlf6", "fg6_5", "p8", "sp10", "s6_10", "rkn8_17", "aba10_6_4", "mkrk:cv8",
    "taylor8", "taylor10", "taylor12", "taylor14", "taylor16", "taylor20", "taylor24",
)  # fmt: skip
FORMS = ("momentum", "velocity")
VARIANTS: dict[str, dict[str, bool]] = {
    "": {},
    " high accuracy": {"high_accuracy": True},
    " fast math": {"fast_math": True},
}
TOLERANCES = [10.0 ** (-k / 3) for k in range(4, 52)]
TARGETS = [10.0**-k for k in range(3, 14)]
FINER = 1.25
"""Ratio of the numbers of steps of neighbouring runs."""


# ------------------------------------------------------------------------------------------------ the equations


def weight_torque(I, parameters, u):
    """weight c x u with a minus sign."""
    W, *c = parameters
    return (W * (c[2] * u[1] - c[1] * u[2]), W * (c[0] * u[2] - c[2] * u[0]), W * (c[1] * u[0] - c[0] * u[1]))


def gradient_torque(I, parameters, u):
    """k u x I u."""
    k, (a, b, c) = parameters[0], I
    return (k * (c - b) * (u[1] * u[2]), k * (a - c) * (u[2] * u[0]), k * (b - a) * (u[0] * u[1]))


TORQUES: dict[str, Callable[..., Any]] = {"heavy_top": weight_torque, "gravity_gradient": gradient_torque}


def equations(system: System, form: str, number=float):
    """heyoka's equations of (momentum or angular velocity, quaternion) in the principal frame.

    Constants are computed in the type ``number``.
    """
    I = [number(a) for a in system.moments[0]]
    w, x, y, z = q = hk.make_vars("w", "x", "y", "z")
    u = (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y))  # R^T e3
    T = (0.0, 0.0, 0.0)
    if system.name in TORQUES:
        T = TORQUES[system.name](I, [number(a) for a in system.parameters], u)
    m = hk.make_vars("a", "b", "c")
    pairs = (m[1] * m[2], m[2] * m[0], m[0] * m[1])
    if form == "momentum":
        speed = [0.5 / a * k for a, k in zip(I, m, strict=True)]
        gains = ((I[1] - I[2]) / (I[1] * I[2]), (I[2] - I[0]) / (I[2] * I[0]), (I[0] - I[1]) / (I[0] * I[1]))
        rates = [g * p + t for g, p, t in zip(gains, pairs, T, strict=True)]
    else:
        speed = [0.5 * a for a in m]
        gains = ((I[1] - I[2]) / I[0], (I[2] - I[0]) / I[1], (I[0] - I[1]) / I[2])
        rates = [g * p + t / a for g, p, t, a in zip(gains, pairs, T, I, strict=True)]
    turning = (
        -(x * speed[0] + y * speed[1] + z * speed[2]),
        w * speed[0] + y * speed[2] - z * speed[1],
        w * speed[1] + z * speed[0] - x * speed[2],
        w * speed[2] + x * speed[1] - y * speed[0],
    )
    return list(zip(m, rates, strict=True)) + list(zip(q, turning, strict=True))


# ----------------------------------------------------------------------------------------------------- one run


@dataclass
class Run:
    """Something that can be run again: from the start to the end.

    Attributes
    ----------
    label : str
        Method or integrator.
    cost : float
        What makes it finer: number of steps, or minus the logarithm of the tolerance.
    begin, go : function
        ``begin()`` restores the start, ``go() -> None`` is what is timed.
    end : function
        ``end() -> (momentum, quaternion)`` after it.
    """

    label: str
    cost: float
    begin: Callable[[], None]
    go: Callable[[], None]
    end: Callable[[], tuple[Any, Any]]
    error: float = np.nan
    seconds: float = np.inf
    shown: dict[str, Any] = field(default_factory=dict)

    def measure(self, reference) -> None:
        """Run once, for the error."""
        self.begin()
        self.go()
        self.error = distance(self.end(), reference)

    def clock(self) -> None:
        """Run for the time: short runs thrice, since what ran before has left the memory cold."""
        for _ in range(3):
            self.begin()
            begun = time.perf_counter()
            self.go()
            self.seconds = min(self.seconds, time.perf_counter() - begun)
            if self.seconds > 1e-3:
                break


def distance(end, reference) -> float:
    """The larger of attitude angle and relative error of the momentum."""
    (m, q), (m0, q0) = end, reference
    if not (np.isfinite(m).all() and np.isfinite(q).all()):
        return np.inf
    unit = np.asarray(q, float) / np.linalg.norm(np.asarray(q, float))
    momentum = np.linalg.norm(np.asarray(m - m0, float)) / np.linalg.norm(np.asarray(m0, float))
    return max(float(ph.rotation.angle_between(unit, np.asarray(q0, float))), float(momentum))


def with_heyoka(system: System, y, t_end: float, form: str, tolerance: float, number=float, **options: bool) -> Run:
    """A run of heyoka."""
    I = np.array(system.moments[0], dtype=number)
    m, q = np.array(y[10:13], number), np.array(y[6:10], number)
    start = np.concatenate([m if form == "momentum" else m / I, q])
    integrator = hk.taylor_adaptive(
        equations(system, form, number),
        list(start),
        tol=number(tolerance),
        fp_type=number,
        compact_mode=False,
        **options,
    )

    def begin():
        integrator.time = number(0)
        integrator.state[:] = start

    def end():
        a = integrator.state[:3].copy()
        return a if form == "momentum" else I * a, integrator.state[3:].copy()

    label = f"heyoka, {form}" + "".join(name for name, row in VARIANTS.items() if row == options)
    return Run(label, -np.log10(tolerance), begin, lambda: integrator.propagate_until(number(t_end)), end)


def with_polhode(system: System, y, t_end: float, name: str, n: int) -> Run:
    """A run of polhode in n steps."""
    bench = Integrator(system, method(name), y)
    h = t_end / n

    def begin():
        bench.y[:] = y
        bench.left_at = None

    def go():
        bench.prepare(0.0, h)
        if bench.march(0, n, n + 1, 0.0, h) != slots.OK:
            bench.y[:] = np.nan
        if bench.prepared.processed:
            bench.y[:] = bench.present(t_end, h)[1]

    return Run(name, n, begin, go, lambda: (bench.y[10:13].copy(), bench.y[6:10].copy()))


# ------------------------------------------------------------------------------------------------ work, precision


def ready(name: str):
    """System and state of a ready-made problem."""
    made = problem(name)
    initial = dict(made.initial)
    turned = initial.pop("rotation_vector", (0.0, 0.0, 0.0))
    system = made.build()
    initial["attitude"] = ph.rotation.exp_quaternion(turned)
    return system, start_state(system, **initial), initial


def ladder(system: System, y, t_end: float, name: str, reference) -> list[Run]:
    """Runs of a method from an error of about 1 to its floor of round-off."""
    runs: list[Run] = []
    n, best, worse = 4.0, np.inf, 0
    while worse < 5 and n < 2e6:
        run = with_polhode(system, y, t_end, name, round(n))
        run.measure(reference)
        if run.error < 0.1:
            runs.append(run)
            worse = worse + 1 if run.error > 0.7 * best else 0
            best = min(best, run.error)
        n *= FINER if run.error < 0.1 else 1.5
    return runs


def front(runs: list[Run]) -> tuple[Any, Any]:
    """Logarithms of error and time of the runs worth taking, errors falling, times rising."""
    runs = sorted(runs, key=lambda run: run.cost)
    errors = [max(a.error, b.error) for a, b in zip(runs, runs[1:] + runs[-1:], strict=True)]
    found: list[tuple[float, float]] = []
    for seconds, error in sorted(zip([run.seconds for run in runs], errors, strict=True)):
        if error > 0.0 and (not found or error < found[-1][0]):
            found.append((error, seconds))
    return np.log([f[0] for f in found]), np.log([f[1] for f in found])


def at(curve, target: float) -> float:
    """Seconds for an error; nan outside."""
    errors, seconds = curve
    x = np.log(target)
    if not len(errors) or x < errors[-1]:
        return np.nan
    if x > errors[0]:
        return float(np.exp(seconds[0]))
    return float(np.exp(np.interp(-x, -errors, seconds)))


def label_of(values: dict[str, float]) -> tuple[str, float]:
    """Name and seconds of the fastest."""
    good = {name: value for name, value in values.items() if value == value}
    if not good:
        return "-", np.nan
    name = min(good, key=lambda k: good[k])
    return name, good[name]


def work_precision(title: str, t_end: float, methods, rounds: int) -> None:
    """Print both fronts of a ready-made problem."""
    system, y, initial = ready(title)
    exact = with_heyoka(system, y, t_end, "momentum", 1e-19, np.longdouble)
    exact.begin()
    exact.go()
    reference = exact.end()
    other = with_heyoka(system, y, t_end, "velocity", 1e-18, np.longdouble)
    other.measure(reference)
    ours: dict[str, list[Run]] = {name: ladder(system, y, t_end, name, reference) for name in methods}
    confirmed = min(run.error for runs in ours.values() for run in runs)
    theirs: dict[str, list[Run]] = {}
    for form in FORMS:
        for options in VARIANTS.values():
            for tolerance in TOLERANCES:
                run = with_heyoka(system, y, t_end, form, tolerance, **options)
                run.measure(reference)
                theirs.setdefault(run.label, []).append(run)
    everyone = [run for runs in (*ours.values(), *theirs.values()) for run in runs]
    for _ in range(rounds):
        for run in everyone:
            run.clock()
    mine = {name: front(runs) for name, runs in ours.items()}
    rivals = {name: front(runs) for name, runs in theirs.items()}
    print(
        f"\n{title}, t = {t_end:g}: milliseconds. The reference agrees with heyoka's other form to {other.error:.0e}, "
        f"with polhode to {confirmed:.0e}."
    )
    print(
        f"{'error':>8}{'polhode':>10}  {'method':<12}{'heyoka':>9}  {'variant':<32}{'heyoka/polhode':>14}{'whole':>9}"
    )
    for target in TARGETS:
        name, seconds = label_of({key: at(curve, target) for key, curve in mine.items()})
        rival, rival_seconds = label_of({key: at(curve, target) for key, curve in rivals.items()})
        whole = np.nan
        if name != "-":
            runs = sorted(ours[name], key=lambda run: run.cost)
            n = next((int(r.cost) for r, s in pairwise(runs) if max(r.error, s.error) <= target), 0)
            whole = whole_call(system, name, t_end, n or int(runs[-1].cost), initial, rounds)
        print(
            f"{target:>8.0e}{1e3 * seconds:>10.4f}  {name:<12}{1e3 * rival_seconds:>9.4f}  "
            f"{rival.removeprefix('heyoka, '):<32}{rival_seconds / seconds:>14.2f}{1e3 * whole:>9.2f}",
            flush=True,
        )
    print("every method:")
    print(f"{'':<12}" + "".join(f"{target:>9.0e}" for target in TARGETS))
    for name, curve in mine.items():
        print(f"{name:<12}" + "".join(f"{1e3 * at(curve, target):>9.4f}" for target in TARGETS))
    for name, curve in rivals.items():
        print(f"{name}\n{'':<12}" + "".join(f"{1e3 * at(curve, target):>9.4f}" for target in TARGETS))


def whole_call(system: System, name: str, t_end: float, n: int, initial, rounds: int) -> float:
    """Seconds of a call of ``integrate`` that records the end."""
    best = np.inf
    for _ in range(max(3, rounds // 3)):
        begun = time.perf_counter()
        ph.integrate(system, name, step=t_end / n, steps=n, every=n, **initial)
        best = min(best, time.perf_counter() - begun)
    return best


# ---------------------------------------------------------------------------------------------------- free body


def closed_form(moments, momentum, t: float):
    """Body momentum and quaternion after t with 50 digits, from the attitude 1 [celledoni2008, prop. 2.1].

    The momentum by Jacobi's functions in the case that it circles the axis of the largest or the smallest moment; the
    quaternion from the turn about the constant spatial momentum, whose rate is integrated numerically: (G + M/(...))
    as Kosenko's psi, with the minimal rotations that carry the momentum to an axis at both ends.
    """
    mp.mp.dps = 50
    I, m = [mp.mpf(float(a)) for a in moments], [mp.mpf(float(a)) for a in momentum]
    j = [1 / a for a in I]
    d12, d23, p = j[0] - j[1], j[1] - j[2], j[0] - j[2]
    L = d12 * m[0] ** 2 - d23 * m[2] ** 2
    around_1 = L > 0
    # Axis e is the one that is circled; the other two in the order that keeps the frame right-handed.
    e, b, c = (0, 1, 2) if around_1 else (2, 1, 0)
    hand = 1 if around_1 else -1
    r, w = (d12, d23) if around_1 else (d23, d12)
    sign = 1 if m[e] > 0 else -1
    x, y, z = abs(m[e]), m[b], m[c]
    M, N = p * x**2 + w * y**2, r * y**2 + p * z**2
    lam, k2 = mp.sqrt(M * r), N * w / (M * r)
    way = hand * sign  # dy/dt = way * p z x and so on, for both cases
    u0 = mp.ellipf(mp.atan2(y * mp.sqrt(r), z * mp.sqrt(p)), k2)

    def state(s):
        u = u0 + way * lam * s
        return (
            mp.sqrt(M / p) * mp.ellipfun("dn", u, m=k2),
            mp.sqrt(N / r) * mp.ellipfun("sn", u, m=k2),
            mp.sqrt(N / p) * mp.ellipfun("cn", u, m=k2),
        )

    G = mp.sqrt(x**2 + y**2 + z**2)
    T2 = j[e] * x**2 + j[b] * y**2 + j[c] * z**2

    def rate(s):  # of the turn about e while the minimal rotation carries the momentum there
        a = state(s)[0]
        return (T2 + G * j[e] * a) / (G + a)

    period = 2 * mp.ellipk(k2) / lam
    whole = mp.floor(t / period)
    psi = whole * mp.quad(rate, mp.linspace(0, period, 7)) + mp.quad(rate, mp.linspace(period * whole, mp.mpf(t), 7))
    after = [mp.mpf(0)] * 3
    after[e], after[b], after[c] = state(mp.mpf(t))
    after[e] *= sign

    def minimal(v):  # quaternion that turns v/G into sign e
        axis = [mp.mpf(0)] * 3
        axis[e] = mp.mpf(sign)
        dot = sum(a * k for a, k in zip(v, axis, strict=True)) / G
        turn = [v[1] * axis[2] - v[2] * axis[1], v[2] * axis[0] - v[0] * axis[2], v[0] * axis[1] - v[1] * axis[0]]
        n = mp.sqrt(2 * (1 + dot))
        return [n / 2] + [a / G / n for a in turn]

    def product(a, k):
        return [
            a[0] * k[0] - a[1] * k[1] - a[2] * k[2] - a[3] * k[3],
            a[0] * k[1] + a[1] * k[0] + a[2] * k[3] - a[3] * k[2],
            a[0] * k[2] - a[1] * k[3] + a[2] * k[0] + a[3] * k[1],
            a[0] * k[3] + a[1] * k[2] - a[2] * k[1] + a[3] * k[0],
        ]

    first, last = minimal(m), minimal(after)
    middle = [mp.cos(psi / 2), mp.mpf(0), mp.mpf(0), mp.mpf(0)]
    middle[1 + e] = sign * mp.sin(psi / 2)
    q = product([first[0], -first[1], -first[2], -first[3]], product(middle, last))
    return np.array([float(a) for a in after]), np.array([float(a) for a in q])


def free_body(rounds: int) -> None:
    """Print the table of the free body."""
    system, y, _ = ready("krysl_free_body")
    constants = system.constants_of_bodies.copy()
    loop = drive.sweep_of(free_flow("exact").build())
    status, counts, step_info = np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(slots.STEP_INFO)
    state = y[None].copy()

    def exactly(label, n, h):
        h = np.array([h])

        def begin():
            state[0] = y

        return Run(label, 0, begin, lambda: loop(n, h, state, constants, step_info, status, counts),
                   lambda: (state[0, 10:13].copy(), state[0, 6:10].copy()))  # fmt: skip

    for t_end, steps in ((100.0, (4.0, 1.0, 0.1)), (1e5, (100.0, 1.0, 0.1))):
        reference = closed_form(system.moments[0], y[10:13], t_end)
        runs = [exactly("polhode, one exact step", 1, t_end)]
        runs += [exactly(f"polhode, exact steps of {h:g}", round(t_end / h), h) for h in steps]
        for tolerance in (1e-16, 1e-12, 1e-9):
            for form in FORMS:
                run = with_heyoka(system, y, t_end, form, tolerance)
                run.label += f", {tolerance:g}"
                runs.append(run)
        print(f"\nfree body, t = {t_end:g}\n{'':<34}{'microseconds':>13}{'omega':>10}{'attitude':>10}")
        for run in runs:
            run.begin()
            run.go()
            m, q = run.end()
            speed, speed0 = m / system.moments[0], reference[0] / system.moments[0]
            run.shown["omega"] = np.linalg.norm(speed - speed0) / np.linalg.norm(speed0)
            run.shown["q"] = float(ph.rotation.angle_between(q / np.linalg.norm(q), reference[1]))
        for _ in range(rounds):
            for run in runs:
                run.clock()
        for run in runs:
            print(f"{run.label:<34}{1e6 * run.seconds:>13.1f}{run.shown['omega']:>10.1e}{run.shown['q']:>10.1e}")
        many = 10_000
        begun = [np.inf]
        for _ in range(rounds):
            state[0] = y
            start = time.perf_counter()
            loop(many, np.array([t_end]), state, constants, step_info, status, counts)
            begun.append((time.perf_counter() - start) / many)
        print(f"{'   of which the exact step itself':<34}{1e6 * min(begun):>13.2f}")


def main() -> None:
    """Print the tables that are asked for."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("tables", nargs="*", default=[], help="free, tops, satellite")
    words.add_argument("--rounds", type=int, default=15)
    words.add_argument("--methods", default=",".join(METHODS))
    given = words.parse_args()
    tables, methods = given.tables or ["free", "tops", "satellite"], given.methods.split(",")
    print(f"heyoka {hk.__version__}, polhode {ph.__version__}")
    if "free" in tables:
        free_body(given.rounds)
    if "tops" in tables:
        work_precision("krysl_fast_top", 20.0, methods, given.rounds)
        work_precision("asymmetric_top", 20.0, methods, given.rounds)
    if "satellite" in tables:
        work_precision("celledoni_satellite", 10.0, methods, given.rounds)
        work_precision("celledoni_satellite", 100.0, methods, given.rounds)


if __name__ == "__main__":
    main()
