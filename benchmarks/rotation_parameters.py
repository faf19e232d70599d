"""Rotation parameters: the cost of a step, where it goes, and a heavy top against SciPy and Exudyn.

    python benchmarks/rotation_parameters.py [steps] [parts] [top] [--rounds 25]

steps  Nanoseconds a step of every parametrisation with rk4, and the ratio to quaternions turned by the increment
       (``terze:rk4``), for the heavy top and the free box of [holzinger2021, 7.2 and 7.1.4], turned a little at the
       start, where some parameters are singular otherwise.
parts  A step of ``rotation_vector:rk4`` and ``euler:rk4`` with parts left out or replaced by something trivial.
top    The heavy top to the same attitude error at t = 1: methods of polhode, SciPy's DOP853 (right-hand side in NumPy
       and compiled by numba), Exudyn's explicit integrators (rotation vectors) and its implicit ones (Euler
       parameters). Needs ``pip install scipy exudyn`` for the peers; without them they are left out.

Steps and parts: the compiled loop (``Integrator.march``) takes 10,000 steps in a call; the best of many rounds, in
which all rows take turns. A row that stops (at a singular point) is timed up to where it does.

Top: all errors are angles between the attitude at t = 1 and the same reference, on which two methods of polhode that
share no formulas agree. Everyone's resolution grows by the same rule, a fifth more steps or a tolerance 0.7 times as
large, until the error is below the target; to rule out luck, that of the run before must be below 30 targets. A search
ends where a run takes 2 s. ``loop`` is polhode's compiled loop, ``whole`` a whole call: ``integrate`` with its checks
and its Dataset, ``solve_ivp``, or ``SolveDynamic``. Compilation and the building of models are left out. Exudyn runs
its fast version, on one thread, without output. Its explicit model is that of its own test
``explicitLieGroupIntegratorTest``: the body is free at the fixed point and has the moments about it, so three
coordinates of a translation are carried along. The implicit one is its ``heavyTop``, where constraints hold the point.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

import numpy as np

import polhode as ph
from polhode.algebra.quaternion import conjugate, from_matrix, multiply
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import bind, helper, hole, inlined
from polhode.methods import method, rotation_parameters as rows
from polhode.methods.record import CompiledMethod, MethodSpec
from polhode.methods.stages import UNKNOWNS, origin, steps_of
from polhode.runs.initial_state import start_state
from polhode.runs.integrator import Integrator
from polhode.systems import System

MOMENTS, CENTER, WEIGHT, SPEED = (15.234375, 0.46875, 15.234375), (0.0, 1.0, 0.0), 15.0 * 9.81, (0.0, 150.0, -4.61538)
TOP = ph.heavy_top(MOMENTS, CENTER, WEIGHT)
BOX = ph.free_body((5.2988, 1.1775, 4.3568))
TURNED = ph.rotation.exp_quaternion((0.3, 0.2, 0.1))
PROBLEMS: dict[str, tuple[System, dict[str, Any], float]] = {
    "top": (TOP, {"angular_velocity": SPEED, "attitude": TURNED}, 1e-3),
    "box": (BOX, {"angular_velocity": (0.01, 0.0, 100.0), "attitude": TURNED}, 1e-3),
}
STEPS = 10_000
BASE = "terze:rk4"

CHARTS = (
    "rotation_vector:rk4:{}:tracked", "rotation_vector:rk4:{}:principal", "rotation_vector:rk4:{}:continuous",
    "euler:rk4:{}:XYZ:principal", "euler:rk4:{}:XYZ:continuous",
    "euler:rk4:{}:ZXZ:principal", "euler:rk4:{}:ZXZ:continuous",
    "gibbs_rodrigues:rk4:{}", "modified_rodrigues:rk4:{}:principal", "modified_rodrigues:rk4:{}:tracked",
    "lie_rk:rk4:{}", "terze:rk4:{}:renormalised", "terze:rk4:{}:free", "mkrk:rk4:{}",
    "rotation_vector_as_printed:rk4:{}", "rotation_vector_bch:rk4:{}",
    "euler_as_printed:rk4:{}:XYZ", "euler_as_printed:rk4:{}:ZXZ",
)  # fmt: skip
DIRECT = (
    "quaternion_rk:rk4:renormalised", "quaternion_rk:rk4:free", "rotation_vector_direct:rk4:regularised",
    "rotation_vector_direct:rk4:printed", "euler_direct:rk4:XYZ:printed", "euler_direct:rk4:ZXZ:printed",
    "euler_switching:rk4:XYZ",
)  # fmt: skip

OURS = ("rotation_vector:rk4", "euler:rk4", "rotation_vector:cv8", "terze:cv8", "fg6_5", "taylor12")
TARGETS = (1e-4, 1e-7, 1e-10)
NEAR = 30.0
T_END = 1.0
FINER, SHARPER = 1.2, 0.7
MOST_STEPS, SHARPEST = 300_000, 2.3e-14
LONGEST = 2.0
"""Seconds of a run that nobody may exceed."""


# -------------------------------------------------------------------------------------------------- cost of a step
class March:
    """Steps of a method on a problem, from the start."""

    def __init__(self, problem: str, chosen: Any):
        system, start, self.h = PROBLEMS[problem]
        self.y = start_state(system, **start)
        self.integrator = Integrator(system, chosen, self.y)
        self.best, self.done = np.inf, 0

    def clock(self) -> None:
        """Run once; keeps the smallest time a step, and how many steps were taken."""
        self.integrator.restart(self.y)
        begun = time.perf_counter()
        self.integrator.march(0, STEPS, STEPS + 1, 0.0, self.h)
        seconds = time.perf_counter() - begun
        self.done = int(self.integrator.step_info[L.STEPS_DONE])
        self.best = min(self.best, seconds / max(1, self.done))

    def words(self, base: float) -> str:
        """Nanoseconds, ratio, and where it stopped."""
        if self.done < STEPS // 100:
            return f"{'stops at once':>22}"
        stopped = "" if self.done == STEPS else f" (stops after {self.done})"
        return f"{1e9 * self.best:>12.0f}{self.best / base:>10.2f}{stopped}"


def clock_all(marches, rounds: int) -> None:
    """All in turn, many times."""
    for _ in range(rounds):
        for march in marches:
            march.clock()


def steps_table(rounds: int) -> None:
    """Print what a step costs."""
    names = [name.format(map) for map in ("exp", "cayley") for name in CHARTS] + list(DIRECT)
    marches = {(name, problem): March(problem, method(name)) for name in (BASE, *names) for problem in PROBLEMS}
    clock_all(marches.values(), rounds)
    print(f"\nns a step, and ratio to {BASE}")
    print(f"{'':<46}" + "".join(f"{problem:>12}{'ratio':>10}" for problem in PROBLEMS))
    for name in names:
        cells = [marches[name, problem].words(marches[BASE, problem].best) for problem in PROBLEMS]
        print(f"{name:<46}" + "".join(cells))


# ----------------------------------------------------------------------------------------------- where the time goes
start = hole("start(p)", "Local coordinates of the state.")
finish = hole("finish(at, begin, out, p)", "The state with given local coordinates.")
SMALL = (1e-3, 0.15, -5e-3)


@helper
def nothing(at, begin, out, p):
    """The state stays as it is."""


@helper
def no_loads(part, t, y, out, p):
    """No evaluation."""


WITHOUT_LOADS = FunctionType(
    rows.local_field.__code__, vars(rows) | {"loads_at": no_loads}, "local_field_without_loads"
)


@inlined
def small_turn(psi):
    """A turn of first order."""
    return (1.0, 0.5 * psi[0], 0.5 * psi[1], 0.5 * psi[2])


@inlined
def same_rate(psi, omega):
    """No tangent map."""
    return omega


def update_alone(t, h, p):
    """The chart turned by an angle that is always the same; no stages."""
    start(p)
    z = origin(p) + UNKNOWNS * p.B
    put3(p.work, z, SMALL)
    put3(p.work, z + 3, get3(p.work, origin(p) + 3))
    finish(z, p.y, p.y, p)
    return L.OK


@dataclass(frozen=True)
class Spoiled:
    """A method with another step."""

    chosen: MethodSpec
    step: Callable[..., int]
    label: str = "spoiled"

    def prepare(self) -> CompiledMethod:
        """The method's own numbers, with that step."""
        return replace(self.chosen.prepare(), step=self.step)


def spoiled(chart, branch: str) -> dict[str, Callable[..., int]]:
    """Explicit steps of a chart by what is missing."""
    rotation_map, tangent = rows.MAPS["exp"]
    get, put = rows.ACCESS[chart.size]
    names = {"get": get, "put": put, "SIZE": chart.size, "attitude_of": chart.attitude}
    move = helper(bind(rows.turned_chart, rotation_map=rotation_map, turned=chart.branches[branch], **names))

    def step(field=rows.FIELDS["exp"], move=move):
        return steps_of(rows.start_values, field, move, rotation_map)[0]

    def field(template=rows.local_field, **changed):
        return helper(bind(template, **{"rotation_map": rotation_map, "tangent": tangent, **changed}))

    return {
        "whole step": step(),
        "no chart update": step(move=nothing),
        "no loads": step(field(WITHOUT_LOADS)),
        "turns of stages of first order": step(field(rotation_map=small_turn)),
        "no tangent map": step(field(tangent=same_rate)),
        "neither of the two": step(field(rotation_map=small_turn, tangent=same_rate)),
        "nothing of all this": step(field(WITHOUT_LOADS, rotation_map=small_turn, tangent=same_rate), nothing),
        "chart update alone": bind(update_alone, start=rows.start_values, finish=move),
    }


PARTS = {
    "rotation_vector:rk4": (rows.VECTOR, "tracked"),
    "rotation_vector:rk4:continuous": (rows.VECTOR, "continuous"),
    "euler:rk4": (rows.ANGLES, "principal"),
    "euler:rk4:continuous": (rows.ANGLES, "continuous"),
    BASE: (rows.QUATERNION, "renormalised"),
}


def parts_table(rounds: int) -> None:
    """Print what is left of a step without its parts."""
    marches = {
        name: {word: March("top", Spoiled(method(name), step)) for word, step in spoiled(*chart).items()}
        for name, chart in PARTS.items()
    }
    clock_all([march for row in marches.values() for march in row.values()], rounds)
    print("\nns a step of the top")
    print(f"{'':<34}" + "".join(f"{name:>32}" for name in PARTS))
    for word in marches[BASE]:
        print(f"{word:<34}" + "".join(f"{1e9 * marches[name][word].best:>32.0f}" for name in PARTS))


# --------------------------------------------------------------------------------------------------- the heavy top
@dataclass
class Contender:
    """Something that solves the top at a resolution of its choice.

    Attributes
    ----------
    run : function
        ``run(resolution) -> (seconds, attitude)``: the quaternion of the body frame at the end, or None.
    by_tolerance : bool
        Whether the resolution is a tolerance, else a number of steps.
    whole : function, optional
        ``whole(resolution) -> seconds`` of a whole call, where ``run`` times less.
    """

    name: str
    run: Callable[[Any], tuple[float, Any]]
    by_tolerance: bool = False
    whole: Callable[[Any], float] | None = None
    found: list[Any] = field(default_factory=list)
    best: dict[float, float] = field(default_factory=dict)
    called: dict[float, float] = field(default_factory=dict)

    def ladder(self):
        """Resolutions, coarse to fine."""
        if self.by_tolerance:
            r = 1e-3
            while r > SHARPEST:
                yield r
                r *= SHARPER
        else:
            n = 4
            while n < MOST_STEPS:
                yield n
                n = max(n + 1, round(n * FINER))

    def search(self, reference) -> None:
        """For each target the coarsest resolution that meets it, and not by luck."""
        errors: list[tuple[Any, float]] = []
        self.found = [None] * len(TARGETS)
        for resolution in self.ladder():
            seconds, q = self.run(resolution)
            errors.append((resolution, np.inf if q is None else float(ph.rotation.angle_between(q, reference))))
            if len(errors) > 1:
                for k, target in enumerate(TARGETS):
                    if self.found[k] is None and errors[-1][1] < target and errors[-2][1] < NEAR * target:
                        self.found[k] = errors[-1]
            if self.found[-1] is not None or seconds > LONGEST:
                return

    def clock(self) -> None:
        """Time the runs found: thrice, since what ran before has left the memory cold."""
        for found in self.found:
            for _ in range(3 if found else 0):
                seconds = self.run(found[0])[0]
                self.best[found[0]] = min(self.best.get(found[0], np.inf), seconds)
                if self.whole:
                    self.called[found[0]] = min(self.called.get(found[0], np.inf), self.whole(found[0]))
                if seconds > 0.01:
                    break


def with_polhode(name: str) -> Contender:
    """A method of polhode."""
    start = {"angular_velocity": SPEED}
    y = start_state(TOP, **start)
    integrator = Integrator(TOP, method(name), y)
    back = conjugate(tuple(TOP.frames[0]))

    def run(n):
        h = T_END / n
        integrator.restart(y)
        integrator.left_at = None
        begun = time.perf_counter()
        status = integrator.prepare(0.0, h)
        status = status if status != L.OK else integrator.march(0, n, n + 1, 0.0, h)
        seconds = time.perf_counter() - begun
        status, shown = (status, None) if status != L.OK else integrator.present(T_END, h)
        return seconds, multiply(tuple(shown[6:10]), back) if status == L.OK else None

    def whole(n):
        begun = time.perf_counter()
        ph.integrate(TOP, name, step=T_END / n, steps=n, every=n, settings={"guard": False}, **start)
        return time.perf_counter() - begun

    return Contender(f"polhode {name}", run, whole=whole)


def rates_in_numpy():
    """The right-hand side as a user would write it: quaternion, then body angular velocity."""
    J, c = np.array(MOMENTS), np.array(CENTER)

    def rates(t, s):
        w, x, y, z = s[:4]
        omega = s[4:]
        up = np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])
        torque = -WEIGHT * np.cross(c, up)
        turning = 0.5 * np.array([
            -x * omega[0] - y * omega[1] - z * omega[2], w * omega[0] + y * omega[2] - z * omega[1],
            w * omega[1] + z * omega[0] - x * omega[2], w * omega[2] + x * omega[1] - y * omega[0],
        ])  # fmt: skip
        return np.concatenate([turning, (torque - np.cross(omega, J * omega)) / J])

    return rates


def rates_compiled():
    """The same in scalars, compiled."""
    import numba

    (I1, I2, I3), (c1, c2, c3), W = MOMENTS, CENTER, WEIGHT

    @numba.njit
    def rates(t, s):
        w, x, y, z, a, b, c = s
        u1, u2, u3 = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)
        out = np.empty(7)
        out[0] = -0.5 * (x * a + y * b + z * c)
        out[1] = 0.5 * (w * a + y * c - z * b)
        out[2] = 0.5 * (w * b + z * a - x * c)
        out[3] = 0.5 * (w * c + x * b - y * a)
        out[4] = ((I2 - I3) * b * c - W * (c2 * u3 - c3 * u2)) / I1
        out[5] = ((I3 - I1) * c * a - W * (c3 * u1 - c1 * u3)) / I2
        out[6] = ((I1 - I2) * a * b - W * (c1 * u2 - c2 * u1)) / I3
        return out

    return rates


def with_scipy(kind: str) -> Contender:
    """DOP853, one tolerance for both kinds of error."""
    from scipy.integrate import solve_ivp

    rates = rates_compiled() if kind == "numba" else rates_in_numpy()
    first = np.array([1.0, 0.0, 0.0, 0.0, *SPEED])
    rates(0.0, first)

    def run(tolerance):
        begun = time.perf_counter()
        end = solve_ivp(rates, (0.0, T_END), first, method="DOP853", rtol=tolerance, atol=tolerance)
        seconds = time.perf_counter() - begun
        return seconds, tuple(end.y[:4, -1] / np.linalg.norm(end.y[:4, -1])) if end.success else None

    return Contender(f"SciPy DOP853, {kind}", run, by_tolerance=True)


def exudyn_model(exu, euler_parameters: bool):
    """The top as Exudyn's own tests build it; returns the system and the number of the node."""
    from exudyn import itemInterface as item

    system = exu.SystemContainer().AddSystem()
    if euler_parameters:  # e' = (0, omega)/2 at the attitude 1
        coordinates, speeds = [0.0] * 3 + [1.0, 0.0, 0.0, 0.0], [0.0] * 4 + [0.5 * w for w in SPEED]
        node = system.AddNode(item.NodeRigidBodyEP(referenceCoordinates=coordinates, initialVelocities=speeds))
    else:
        coordinates, speeds = [0.0] * 6, [0.0] * 3 + list(SPEED)
        node = system.AddNode(item.NodeRigidBodyRotVecLG(referenceCoordinates=coordinates, initialVelocities=speeds))
    body = system.AddObject(item.ObjectRigidBody(mass=15.0, inertia=[*MOMENTS, 0, 0, 0], nodeNumber=node))
    center = system.AddMarker(item.MarkerBodyPosition(bodyNumber=body, localPosition=list(CENTER)))
    system.AddLoad(item.Force(markerNumber=center, loadVector=[0.0, 0.0, -WEIGHT]))
    if euler_parameters:
        ground = system.AddNode(item.NodePointGround())
        held = system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
        for k in range(3):
            moving = system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=node, coordinate=k))
            system.AddObject(item.CoordinateConstraint(markerNumbers=[held, moving]))
    system.Assemble()
    return system, node


def with_exudyn(exu, solver: str) -> Contender:
    """One of Exudyn's integrators."""
    implicit, by_tolerance = solver in ("GeneralizedAlpha", "TrapezoidalIndex2"), solver in ("DOPRI5", "ODE23")
    system, node = exudyn_model(exu, euler_parameters=implicit)
    kind, matrix = getattr(exu.DynamicSolverType, solver), exu.OutputVariableType.RotationMatrix
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    settings.parallel.numberOfThreads = 1
    times = settings.timeIntegration
    times.endTime = T_END
    times.explicit.computeEndOfStepAccelerations = False
    times.generalizedAlpha.computeInitialAccelerations = implicit

    def run(resolution):
        if by_tolerance:
            times.absoluteTolerance = times.relativeTolerance = resolution
            times.numberOfSteps, times.minimumStepSize = 10, 1e-9
        else:
            times.numberOfSteps = resolution
        begun = time.perf_counter()
        try:
            with contextlib.redirect_stdout(None):
                system.SolveDynamic(settings, solverType=kind)
        except Exception:  # Newton did not converge
            return time.perf_counter() - begun, None
        seconds = time.perf_counter() - begun
        R = np.asarray(system.GetNodeOutput(node, matrix))
        return seconds, from_matrix(tuple(R)) if np.isfinite(R).all() else None

    kept = "Euler parameters" if implicit else "rotation vector"
    return Contender(f"Exudyn {solver}, {kept}", run, by_tolerance=by_tolerance)


def contenders() -> list[Contender]:
    """Those that are installed."""
    chosen = [with_polhode(name) for name in OURS]
    try:
        import scipy

        print(f"SciPy {scipy.__version__}")
        chosen += [with_scipy("NumPy"), with_scipy("numba")]
    except ImportError:
        print("SciPy is not installed: pip install scipy")
    sys.exudynFast = True  # type: ignore[attr-defined]  # its version without checks of ranges
    try:
        import exudyn as exu

        print(f"Exudyn {exu.__version__}")
        chosen += [with_exudyn(exu, solver) for solver in ("RK44", "RK67", "DOPRI5", "TrapezoidalIndex2")]
    except ImportError:
        print("Exudyn is not installed: pip install exudyn")
    return chosen


def top_table(rounds: int) -> None:
    """Print the time to the same error."""
    print(f"\nheavy top to t = {T_END:g}; recommended: {TOP.recommended}; polhode {ph.__version__}")
    reference = with_polhode("taylor20").run(4000)[1]
    check = float(ph.rotation.angle_between(with_polhode("mkrk:gauss10").run(8000)[1], reference))
    print(f"references (taylor20, mkrk:gauss10) agree to {check:.1e}")
    if not check < 1e-12:
        raise SystemExit("the references do not agree: no errors can be measured")
    everyone = contenders()
    for one in everyone:
        one.search(reference)
    for _ in range(rounds):
        for one in everyone:
            one.clock()
    print(f"milliseconds\n{'':<36}" + "".join(f"{f'error {target:g}':>38}" for target in TARGETS))
    print(f"{'':<36}" + f"{'loop':>9}{'whole':>9}{'resolution':>11}{'error':>9}" * len(TARGETS))
    for one in everyone:
        cells = []
        for found in one.found:
            if not found:
                cells.append(f"{'not reached':>38}")
                continue
            resolution, error = found
            seconds = one.best[resolution]
            loop, whole = (seconds, one.called[resolution]) if one.whole else (np.nan, seconds)
            shown = f"{resolution:.1e}" if one.by_tolerance else str(resolution)
            cells.append(f"{1e3 * loop:>9.3f}{1e3 * whole:>9.3f}{shown:>11}{error:>9.0e}")
        print(f"{one.name:<36}" + "".join(cells), flush=True)


def main() -> None:
    """Print the tables that are asked for."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("tables", nargs="*", default=[], help="steps, parts, top")
    words.add_argument("--rounds", type=int, default=25)
    given = words.parse_args()
    tables = given.tables or ["steps", "parts", "top"]
    for name, table in (("steps", steps_table), ("parts", parts_table), ("top", top_table)):
        if name in tables:
            table(given.rounds)


if __name__ == "__main__":
    main()
