"""The contract as tests that anyone can run on a method or a system of their own.

    ph.check_method("trapm").raise_for_failure()
    print(ph.check_system(my_system, angular_velocity=(0, 0, 2)))

``check_method`` measures what a row promises: order, time symmetry, what it keeps in free motion and for a symmetric
heavy top, symplecticity; and what no row may break: results that depend neither on how a run is sliced or recorded nor
on how the axes of the body are numbered. Promises are checked in both directions: what is kept without being promised
is reported as a failure too, so that the table of methods stays true. ``check_system`` measures what a system
declares: shapes, loads that are the derivative of the potential, conserved quantities.

Each checker is a small function that returns numbers; only ``check_method`` and ``check_system`` judge.

The problem of the checks, N bodies, with switches c in the parameters and u = R^T e3, s = R^T e1 in the body frame:

    T = c_t (...)(t, u) + c_u (u x a + s x K s) + c_w (...)(omega) + c_r (b x R^T r + ...),   F alike

where the terms with c_u alone have the potential a . u + s . K s / 2 (and r . S r / 2 + |r|^4 / 4 in space). Methods
that need the Taylor series of the torque are given T = u x (a + K u) or nothing instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import inf, log, nan
from typing import Any

import numpy as np
from scipy.integrate import DOP853

from polhode.algebra import rotation
from polhode.algebra.quaternion import multiply, rotate, rotate_inverse
from polhode.algebra.so3 import axpy, cross, dot, scale, times
from polhode.arguments import number, whole
from polhode.errors import InvalidInput, PolhodeError, StepFailed, shown
from polhode.kernel import drive, jit
from polhode.kernel.access import get3, get4, put3
from polhode.kernel.signatures import (  # type: ignore[attr-defined]
    A1,
    ALL,
    ANGULAR,
    ATTITUDE,
    ATTRACTION,
    BODY,
    COMMUTATOR,
    CONSTANTS,
    DISSIPATIVE,
    INVERSE_INERTIA,
    INVERSE_MASS,
    LOAD,
    LOADS,
    MOMENTUM,
    MOVING,
    OK,
    POSITION,
    POTENTIAL_PART,
    RESTING,
    ROTATION,
    SERIES,
    SERIES_ROW,
    SERIES_SIZE,
    WITHOUT_SOLVED,
    f8,
    i8,
    types,
)
from polhode.methods import Chosen, Method
from polhode.methods import method as find_method
from polhode.runs.bench import Bench
from polhode.runs.single import start_state
from polhode.systems import System, heavy_top, orbit
from polhode.systems.inertia import principal
from polhode.trajectory import dataset

__all__ = [
    "QUANTITIES",
    "Ladder",
    "Line",
    "PromiseBroken",
    "Report",
    "check_method",
    "check_system",
    "drifts",
    "exact_state",
    "frame_defect",
    "measure_order",
    "numbering_defect",
    "slicing_defect",
    "state_distance",
    "stepper",
    "symmetry_defect",
    "symplectic_defect",
    "top_problem",
    "trial_problem",
]

QUANTITIES = (
    "energy",
    "midpoint_energy",
    "momentum_length",
    "spatial_momentum",
    "vertical_momentum",
    "axial_momentum",
)
"""The names a row may use in ``keeps_free`` and ``keeps_top``."""

# Where the order is measured: a span on which the leading term of the error dominates for methods of orders 1 to 8.
SPAN = 2.0
FREE_SPAN = 8.0  # of a free body, where errors are smaller
SLOPE = 0.2  # how far a measured order may be from the promised one
# High orders meet round-off before the leading term of their error dominates: from 6 on they may lie above by a third,
# from 8 on below by a tenth, and a line through all usable errors counts where it is nearer.
FLOOR, CEILING = 3e-12, 0.05  # errors between round-off and divergence
KEPT, BROKEN = 2e-12, 1e-11  # relative drifts below and above which a quantity is constant, or is not
LONG = (1.6, 2.0, 2.4, 2.8)  # steps that show what a Taylor series of high order does not keep
EXACT = 1e-12  # of one long step of free motion, and of its oracle
SAME = 1e-13  # per step: equal but for round-off
SYMPLECTIC, CURVED = 2e-12, 1e-11  # defects of the symplectic form, as for drifts


# ------------------------------------------------------------------ reports
class PromiseBroken(PolhodeError, AssertionError):
    """A method or a system does not do what its row says."""


@dataclass(frozen=True)
class Line:
    """One thing that was checked.

    Attributes
    ----------
    what : str
        What was measured.
    passed : bool
        Whether the promise was kept.
    promised, measured : str
        Both in words.
    numbers : mapping of str to numbers
        What was measured, for further use.
    """

    what: str
    passed: bool
    promised: str
    measured: str
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{'ok  ' if self.passed else 'FAIL'}  {self.what:32}  {self.promised:44}  {self.measured}"


@dataclass(frozen=True)
class Report:
    """What ``check_method`` or ``check_system`` found; ``str(report)`` is a table.

    Attributes
    ----------
    subject : str
        The method string, or the system.
    lines : tuple of Line
        One for each check.
    """

    subject: str
    lines: tuple[Line, ...]

    @property
    def passed(self) -> bool:
        """True when every line passed."""
        return all(line.passed for line in self.lines)

    @property
    def failures(self) -> tuple[Line, ...]:
        """The lines that failed."""
        return tuple(line for line in self.lines if not line.passed)

    def __getitem__(self, what: str) -> Line:
        for line in self.lines:
            if line.what == what:
                return line
        raise KeyError(f"{what!r} was not checked; the lines are: {', '.join(line.what for line in self.lines)}")

    def __str__(self) -> str:
        head = f"{self.subject}: {len(self.lines) - len(self.failures)} of {len(self.lines)} checks passed"
        title = f"      {'checked':32}  {'promised':44}  measured"
        return "\n".join([head, title, *map(str, self.lines)])

    def raise_for_failure(self) -> None:
        """Do nothing when every check passed.

        Raises
        ------
        PromiseBroken
            With the lines that failed.
        """
        if not self.passed:
            raise PromiseBroken("\n".join([f"{self.subject} breaks its promises:", *map(str, self.failures)]))


# ------------------------------------------------------------------ the problems
# parameters: quaternion from principal to law frame (4) | switches: time, potential, rate, place, vertical
ARM, SPREAD = (0.6, -0.4, 1.4), (1.0, -0.6, 0.8)


def trial_loads(part, t, N, y, bodies, parameters, out):  # type: ignore[no-untyped-def]
    """Loads of the trial problem; each body is also coupled to the next one."""
    frame = get4(parameters, 0)
    back = (frame[0], -frame[1], -frame[2], -frame[3])
    at_time, by_place, by_rate, coupled = parameters[4], parameters[5], parameters[6], parameters[7]
    by_vertical = parameters[8]
    for i in range(N):
        k = BODY * i
        n = BODY * ((i + 1) % N)
        q = multiply(get4(y, k + ATTITUDE), back)
        w = rotate(frame, times(get3(bodies, CONSTANTS * i + INVERSE_INERTIA), get3(y, k + ANGULAR)))
        r = get3(y, k + POSITION)
        v = scale(bodies[CONSTANTS * i + INVERSE_MASS], get3(y, k + MOMENTUM))
        u = rotate_inverse(q, (0.0, 0.0, 1.0))
        s = rotate_inverse(q, (1.0, 0.0, 0.0))

        T = axpy(1.0, cross(u, (0.6, -0.4, 1.4)), cross(s, times((1.0, -0.6, 0.8), s)))
        T = scale(by_place, T)
        forced = (2.0 * np.cos(1.3 * t) * u[1], np.sin(2.1 * t) + 0.6 * s[2], -0.8 * np.cos(0.7 * t) * u[0])
        T = axpy(at_time, forced, T)
        damped = (0.4 * w[1] * w[2] - 0.6 * w[0], 0.8 * w[0] - 0.4 * w[1], 0.6 * w[1] - 0.2 * w[2] * w[2])
        T = axpy(by_rate, damped, T)
        other = rotate_inverse(q, rotate(multiply(get4(y, n + ATTITUDE), back), (0.6, 0.0, 0.8)))
        pulled = axpy(0.5, rotate_inverse(q, get3(y, n + POSITION)), axpy(0.4 * by_rate, rotate_inverse(q, v), other))
        T = axpy(coupled, cross((0.2, 0.5, -0.3), pulled), T)

        F = scale(-by_place, axpy(dot(r, r), r, times((2.0, 2.8, 1.6), r)))
        pushed = (0.8 * np.cos(1.7 * t), -0.6 * np.sin(0.9 * t) * r[0], 0.4 * np.sin(2.3 * t))
        F = axpy(at_time, pushed, F)
        F = axpy(by_rate, axpy(-0.4 - 0.2 * dot(v, v), v, cross(v, (0.6, -1.0, 0.4))), F)
        apart = axpy(-1.0, r, get3(y, n + POSITION))
        F = axpy(
            coupled, axpy(0.6 + 0.1 * dot(apart, apart), apart, rotate(q, axpy(0.3 * by_rate, w, (0.4, -0.2, 0.3)))), F
        )

        T = axpy(by_vertical, cross(u, axpy(1.0, ARM, times(SPREAD, u))), T)
        put3(out, LOAD * i, F)
        put3(out, LOAD * i + 3, rotate_inverse(frame, T))


def trial_series(part, t, k, u, bodies, parameters, out):  # type: ignore[no-untyped-def]
    """Taylor coefficient of the torque by the vertical alone."""
    frame = get4(parameters, 0)
    T = cross(rotate(frame, get3(u, 3 * k)), ARM)
    for n in range(k + 1):
        T = axpy(1.0, cross(rotate(frame, get3(u, 3 * n)), times(SPREAD, rotate(frame, get3(u, 3 * (k - n))))), T)
    put3(out, 0, scale(parameters[8], rotate_inverse(frame, T)))


INERTIA = ((1.0, 1.6, 2.3), (0.9, 0.7, 1.1))
MASSES = (1.3, 0.8)
START = {
    "attitude": ((0.4, -0.7, 0.3), (-0.2, 0.5, 0.9)),
    "angular_momentum": ((0.8, -0.5, 1.1), (0.3, 0.6, -0.4)),
    "position": ((0.6, -0.4, 0.9), (-0.5, 0.7, 0.2)),
    "momentum": ((0.3, 0.5, -0.2), (-0.1, 0.2, 0.4)),
}
"""Initial values of both bodies; attitudes by their rotation vectors."""

SWITCHES = ("time", "potential", "rate", "place")
VERTICAL = "vertical"


def trial_problem(
    *loads: str, turns: bool = True, moves: bool = False, bodies: int = 1, frame: Any = (1.0, 0.0, 0.0, 0.0)
) -> tuple[System, Any]:
    """The problem of the checks and its start state: asymmetric bodies without any symmetry in the loads.

    Parameters
    ----------
    *loads : {"time", "potential", "rate", "place", "vertical"}
        Terms switched on: depending explicitly on time; with a potential; depending on (angular) velocity; coupling
        position, attitude and neighbouring bodies (with ``rate``, also their velocities); depending on the vertical in
        the body frame only, with its Taylor series where it acts alone on one body.
    turns, moves : bool
        Bodies turn; bodies move through space.
    bodies : int
        1 or 2.
    frame : array_like (4,)
        Another numbering of the body's axes: the quaternion from the principal frame of the computation to the frame
        in which the problem is stated. It must turn axes into axes.
    """
    turned = np.array([np.abs(rotation.rotate_inverse(frame, moments)) for moments in INERTIA[:bodies]])
    system = System(
        name="trial",
        arguments={"loads": list(loads)},
        mass=np.array(MASSES[:bodies]) if moves else np.full(bodies, np.inf),
        moments=turned if turns else np.full((bodies, 3), np.inf),
        frames=np.tile(np.asarray(frame, dtype=float), (bodies, 1)),
        loads=trial_loads,
        series=trial_series if bodies == 1 and set(loads) <= {VERTICAL} else None,
        parameters=np.array([*frame, *(float(name in loads) for name in (*SWITCHES, VERTICAL))]),
        velocity_dependent="rate" in loads,
    )
    given = [name for name in START if (moves if name in ("position", "momentum") else turns)]
    start: dict[str, Any] = {name: START[name][0] if bodies == 1 else START[name][:bodies] for name in given}
    if turns:
        start["attitude"] = rotation.exp_quaternion(start["attitude"])
    return system, start_state(system, **start)


def top_problem() -> tuple[System, Any]:
    """A symmetric heavy top and a start state in which nothing vanishes."""
    system = heavy_top((1.5, 1.5, 0.8), (0.0, 0.0, 1.0), 1.2)
    q = rotation.exp_quaternion(START["attitude"][0])
    return system, start_state(system, attitude=q, angular_momentum=START["angular_momentum"][0])


def orbit_problem() -> tuple[System, Any]:
    """A point that orbits a centre, nothing else acting, and a start state of eccentricity 0.66, tilted."""
    system = orbit(1.3, MASSES[0])
    return system, start_state(system, position=START["position"][0], momentum=START["momentum"][0])


def problem_for(chosen: Chosen, *loads: str, bodies: int = 1) -> tuple[System, Any]:
    """The trial problem with these loads in the form a method can take: for one that moves points only, points; for
    one that follows a centre of attraction alone, an orbit."""
    prepared = chosen.prepare()
    if prepared.alone:
        return orbit_problem()
    loads = _suitable(chosen, *loads)
    return trial_problem(*loads, turns=not prepared.points, moves=prepared.points, bodies=bodies)


# ------------------------------------------------------------------ steps and exact states
def _bench(method: Any, system: System, y: Any) -> Bench:
    return Bench(system, _chosen(method), y)


def _take(bench: Bench, status: int, h: float, first: int, t0: float) -> None:
    if status != OK:
        label = bench.chosen.label
        raise StepFailed(f"a step of {label!r} with h = {h:g} failed: status {status}", step=first, time=t0)


def stepper(method: Any, system: System, y: Any) -> Callable[..., Any]:
    """A function ``advance(y, t, h, n=1) -> state`` that takes n steps of a method and leaves its argument alone.

    Parameters
    ----------
    method : str, Method or Chosen
        What to step with.
    system : System
        What to step.
    y : array (13 N)
        Any state of it, for trying out a user's functions.
    """
    bench = _bench(method, system, y)

    def advance(y: Any, t: float, h: float, n: int = 1) -> Any:
        bench.restart(y)
        _take(bench, bench.prepare(t, h), h, 0, t)
        _take(bench, bench.march(0, n, n + 1, t, h), h, 0, t)
        status, shown = bench.present(t + n * h, h)
        _take(bench, status, h, 0, t)
        return shown[: BODY * system.N]

    return advance


def _chosen(method: Any) -> Chosen:
    return find_method(method).tried


part = ALL  # what bind puts in


def call_loads(loads, t, N, y, bodies, parameters, out):  # type: ignore[no-untyped-def]
    """Call a LOADS role once."""
    loads(part, t, N, jit.pointer(y), jit.pointer(bodies), jit.pointer(parameters), jit.pointer(out))


@cache
def _caller(asked: int = ALL) -> Callable[..., None]:
    signature = types.void(types.FunctionType(LOADS), f8, i8, A1, A1, A1, A1)
    bound = jit.bind(call_loads, part=asked)  # type: ignore[no-untyped-call]
    compiled: Callable[..., None] = jit.compile_kernel(bound, signature)  # type: ignore[no-untyped-call]
    return compiled


def _memory(system: System) -> Any:
    """For loads and what stands behind them."""
    return np.zeros(LOAD * system.N + len(system.own))


def exact_state(system: System, y: Any, t: float, span: float) -> Any:
    """The state after ``span``, by SciPy's DOP853 at its tightest: an oracle that shares only the loads with a method.

    Integrates the quaternion as four numbers; relative error about 1e-13 for spans of a few turns.
    """
    N, bodies, loads, call = system.N, system.bodies, system.compiled_loads(t, y), _caller()
    constants = system.constants_of_bodies
    state, load = np.empty(BODY * N), _memory(system)

    def slope(t: float, z: Any) -> Any:
        state[:] = z
        call(loads, t, N, state, bodies, system.with_memory, load)
        b, f = state.reshape(N, BODY), load[: LOAD * N].reshape(N, LOAD)
        w = b[:, ANGULAR:] * constants[:, INVERSE_INERTIA:]
        d = np.empty((N, BODY))
        d[:, POSITION:MOMENTUM] = b[:, MOMENTUM:ATTITUDE] * constants[:, INVERSE_MASS, None]
        d[:, MOMENTUM:ATTITUDE] = np.where(constants[:, INVERSE_MASS, None] > 0, f[:, :3], 0.0)
        q = b[:, ATTITUDE:ANGULAR]
        d[:, ATTITUDE] = -0.5 * (q[:, 1:] * w).sum(axis=1)
        d[:, ATTITUDE + 1 : ANGULAR] = 0.5 * (q[:, :1] * w + np.cross(q[:, 1:], w))
        turning = constants[:, INVERSE_INERTIA:].any(axis=1)[:, None]
        d[:, ANGULAR:] = np.where(turning, np.cross(b[:, ANGULAR:], w) + f[:, 3:], 0.0)
        return d.ravel()

    solver = DOP853(slope, t, np.array(y, dtype=float), t + span, rtol=1e-13, atol=1e-15)
    while solver.status == "running":
        solver.step()
    end = np.array(solver.y)
    for i in range(N):
        q = end[BODY * i + ATTITUDE : BODY * i + ANGULAR]
        q /= np.linalg.norm(q)
    return end


def state_distance(a: Any, b: Any, system: System) -> float:
    """Largest difference between two states of a system, over what moves in it.

    The angle between attitudes, and the length of the difference of vectors relative to their length or 1.
    """
    if not np.isfinite(a).all() or np.abs(a).max() > 1e150:
        return inf
    largest = 0.0
    for i, kind in system.blocks.reshape(-1, 2):
        x, z = a[BODY * i : BODY * (i + 1)], b[BODY * i : BODY * (i + 1)]
        parts = [slice(POSITION, MOMENTUM), slice(MOMENTUM, ATTITUDE)]
        if kind == ROTATION:
            between = rotation.multiply(rotation.conjugate(z[ATTITUDE:ANGULAR]), x[ATTITUDE:ANGULAR])
            largest = max(largest, 2.0 * float(np.linalg.norm(between[1:])))
            parts = [slice(ANGULAR, BODY)]
        for part in parts:
            size = max(1.0, float(np.linalg.norm(z[part])))
            largest = max(largest, float(np.linalg.norm(x[part] - z[part])) / size)
    return largest


# ------------------------------------------------------------------ checkers of methods
@dataclass(frozen=True)
class Ladder:
    """Errors at smaller and smaller steps.

    Attributes
    ----------
    steps : tuple of int
        Numbers of steps.
    errors : tuple of float
        Error at the end for each.
    order : float
        Slope in the finest part that lies between round-off and divergence; NaN when there is none.
    fitted : float
        Slope of a line through all errors between round-off and divergence.
    """

    steps: tuple[int, ...]
    errors: tuple[float, ...]
    order: float
    fitted: float


RUNGS = tuple(n for k in range(1, 12) for n in (2**k, 3 * 2 ** (k - 1)))


def measure_order(method: Any, system: System, y: Any, end: Any, t: float, span: float = SPAN) -> Ladder:
    """Order of a method on a problem whose exact end state is known.

    Steps shrink in two stages for each factor of two until the error meets round-off. The order is the slope between
    the finest two errors, a factor of two in step apart, that lie between 3e-12 and 0.05.
    """
    advance = stepper(method, system, y)
    steps: list[int] = []
    errors: list[float] = []
    for n in RUNGS:
        try:
            error = state_distance(advance(y, t, span / n, n), end, system)
        except PolhodeError:  # too coarse for an implicit solve, or for a chart
            error = inf
        steps.append(n)
        errors.append(error)
        if error < FLOOR:
            break
    slopes = [
        log(errors[k] / errors[k + 2]) / log(steps[k + 2] / steps[k])
        for k in range(len(steps) - 2)
        if errors[k] < CEILING and errors[k + 2] > FLOOR
    ]
    good = [(log(n), -log(error)) for n, error in zip(steps, errors, strict=True) if FLOOR < error < CEILING]
    x, y_of_x = np.transpose(good) if good else (np.zeros(0), np.zeros(0))
    fitted = float(np.polyfit(x, y_of_x, 1)[0]) if len(good) > 2 else nan
    return Ladder(tuple(steps), tuple(errors), slopes[-1] if slopes else nan, fitted)


def symmetry_defect(method: Any, system: System, y: Any, t: float = 0.3, h: float = 0.4) -> float:
    """Distance from the start after a step of h and a step of -h."""
    advance = stepper(method, system, y)
    return state_distance(advance(advance(y, t, h), t + h, -h), y, system)


def quantities(system: System, states: Any, h: float) -> dict[str, Any]:
    """The six quantities of ``Promises`` along states of one pinned body, each of shape (n,) or (n, 3).

    The potential, where there is one, is the system's own; the midpoint energy is that of the state
    pushed half a step of h by forward Euler in rate form.
    """
    q, m = states[:, ATTITUDE:ANGULAR], states[:, ANGULAR:BODY]
    inverse = system.bodies[INVERSE_INERTIA:CONSTANTS]
    loads, call, load = system.compiled_loads(0.0, states[0]), _caller(), _memory(system)
    pushed = states.copy()
    for k, y in enumerate(states):
        call(loads, 0.0, 1, y, system.bodies, system.with_memory, load)
        pushed[k, ANGULAR:BODY] += 0.5 * h * (np.cross(m[k], inverse * m[k]) + load[3:LOAD])
    pushed[:, ATTITUDE:ANGULAR] = rotation.multiply(q, rotation.exp_quaternion(0.5 * h * inverse * m))
    spatial = rotation.rotate(q, m)
    axis = system.axis if system.axis is not None else (0.0, 0.0, 1.0)
    return {
        "energy": _energy(system, states),
        "midpoint_energy": _energy(system, pushed),
        "momentum_length": np.linalg.norm(m, axis=1),
        "spatial_momentum": spatial,
        "vertical_momentum": spatial[:, 2],
        "axial_momentum": m @ np.asarray(axis),
    }


def _energy(system: System, states: Any) -> Any:
    rows = np.ascontiguousarray(states)
    stored = np.zeros(len(rows))
    potential = system.compiled_potential(0.0, rows[0])
    if potential is not None:
        drive.energy_loop()(np.zeros(len(rows)), rows, system.bodies, system.with_memory, potential, stored)
    body = rows[:, : BODY * system.N].reshape(len(rows), system.N, BODY)
    constants = system.constants_of_bodies
    stored += 0.5 * (body[:, :, ANGULAR:] ** 2 * constants[:, INVERSE_INERTIA:]).sum(axis=(1, 2))
    stored += 0.5 * (body[:, :, MOMENTUM:ATTITUDE] ** 2 * constants[:, INVERSE_MASS, None]).sum(axis=(1, 2))
    return stored


def drifts(method: Any, system: System, y: Any, h: float = 0.25, steps: int = 120) -> dict[str, float]:
    """Largest change of each quantity along a run of one pinned body, relative to its size at the start or 1."""
    advance = stepper(method, system, y)
    states = [np.array(y, dtype=float)]
    for k in range(steps):
        states.append(advance(states[-1], k * h, h))
    return {
        name: float(np.abs(values - values[0]).max() / max(1.0, np.abs(values[0]).max()))
        for name, values in quantities(system, np.array(states), h).items()
    }


def symplectic_defect(step: Callable[[Any], Any], system: System, y: Any) -> float:
    """How far a map is from preserving the symplectic form: the largest entry of M^T W(y1) M - W(y).

    M is the Jacobian of the map in left-trivialised coordinates, where an attitude varies as q exp(theta) and

        W((theta1, dm1), (theta2, dm2)) = theta1 . dm2 - theta2 . dm1 + m . (theta1 x theta2),

    the form whose Hamiltonian fields are theta = dH/dm, dm = m x dH/dm - dH/dtheta; for positions and momenta it is
    the usual one. Differences are central of order 8, of two sizes of which the better counts: about 1e-13 is left.

    Parameters
    ----------
    step : function
        ``step(y) -> y1``.
    system : System
        For the degrees of freedom.
    y : array (13 N)
        Where the Jacobian is taken.
    """
    blocks = system.blocks.reshape(-1, 2)
    center = step(y)
    before, after = _form(y, blocks), _form(center, blocks)
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    found = []
    for size in (0.02, 0.005):
        M = np.zeros((6 * len(blocks), 6 * len(blocks)))
        for c in range(M.shape[1]):
            for n, weight in enumerate(weights):
                forth, other = (step(_shifted(y, blocks, c, s * (n + 1) * size)) for s in (1.0, -1.0))
                M[:, c] += weight / size * (_coordinates(forth, center, blocks) - _coordinates(other, center, blocks))
        found.append(float(np.abs(M.T @ after @ M - before).max()))
        if found[-1] < SYMPLECTIC / 10.0:
            break
    return min(found)


def _shifted(y: Any, blocks: Any, c: int, amount: float) -> Any:
    moved = np.array(y, dtype=float)
    (i, kind), k = blocks[c // 6], c % 6
    if kind != ROTATION:
        moved[BODY * i + k] += amount
    elif k >= 3:
        moved[BODY * i + ANGULAR + k - 3] += amount
    else:
        q = slice(BODY * i + ATTITUDE, BODY * i + ANGULAR)
        moved[q] = rotation.multiply(moved[q], rotation.exp_quaternion(amount * np.eye(3)[k]))
    return moved


def _coordinates(y: Any, center: Any, blocks: Any) -> Any:
    result = []
    for i, kind in blocks:
        a, b = y[BODY * i : BODY * (i + 1)], center[BODY * i : BODY * (i + 1)]
        if kind == ROTATION:
            between = rotation.multiply(rotation.conjugate(b[ATTITUDE:ANGULAR]), a[ATTITUDE:ANGULAR])
            result += [rotation.log_quaternion(between), a[ANGULAR:] - b[ANGULAR:]]
        else:
            result.append(a[:ATTITUDE] - b[:ATTITUDE])
    return np.concatenate(result)


def _form(y: Any, blocks: Any) -> Any:
    W = np.zeros((6 * len(blocks), 6 * len(blocks)))
    for k, (i, kind) in enumerate(blocks):
        a = 6 * k
        W[a : a + 3, a + 3 : a + 6] = np.eye(3)
        W[a + 3 : a + 6, a : a + 3] = -np.eye(3)
        if kind == ROTATION:
            x, z, w = y[BODY * i + ANGULAR : BODY * (i + 1)]
            W[a : a + 3, a : a + 3] = [[0.0, w, -z], [-w, 0.0, x], [z, -x, 0.0]]
    return W


def slicing_defect(method: Any, system: System, y: Any, t: float = 0.3, h: float = 0.1, steps: int = 24) -> float:
    """Largest difference that slicing a run, recording it more or less often, or a fresh start makes; must be 0."""
    whole = _march(method, system, y, t, h, [steps], 1)
    largest = 0.0
    for slices, every in (([steps], 3), ([5, 1, steps - 6], 1), ([7, steps - 7], 4), ([1] * steps, 1)):
        part = _march(method, system, y, t, h, slices, every)
        largest = max(largest, float(np.abs(part - whole[every - 1 :: every]).max()))
    return largest


def _march(method: Any, system: System, y: Any, t: float, h: float, slices: Sequence[int], every: int) -> Any:
    """Recorded states of a run in slices, each with scratch arrays of its own."""
    bench = _bench(method, system, y)
    _take(bench, bench.prepare(t, h), h, 0, t)
    state, first, kept = bench.y, 0, []
    for n in slices:
        bench = _bench(method, system, state)
        made = (first + n) // every - first // every
        rows = np.empty((made, bench.y.size))
        _take(bench, bench.march(first, n, every, t, h, rows, np.zeros(made, dtype=np.int64)), h, first, t)
        kept.append(rows)
        state, first = bench.y, first + n
    return np.concatenate(kept)


NUMBERINGS = ((0.5, 0.5, 0.5, 0.5), (0.5**0.5, 0.5**0.5, 0.0, 0.0), (0.0, 0.0, 0.5**0.5, 0.5**0.5))
"""Quaternions that renumber the axes: 1 2 3 -> 2 3 1, a quarter turn about the first, a swap with a reversal."""


def numbering_defect(method: Any, h: float = 0.1, steps: int = 20) -> float:
    """Largest difference that another numbering of the body's axes makes, in the frame of the problem."""
    loads = _suitable(_chosen(method), *SWITCHES)
    results = []
    whole, _ = trial_problem(moves=True)
    for frame in ((1.0, 0.0, 0.0, 0.0), *NUMBERINGS):
        system, y = trial_problem(*loads, moves=True, frame=frame)
        end = stepper(method, system, y)(y, 0.3, h, steps)
        end[ATTITUDE:ANGULAR] = rotation.multiply(end[ATTITUDE:ANGULAR], rotation.conjugate(frame))
        end[ANGULAR:BODY] = rotation.rotate(frame, end[ANGULAR:BODY])
        results.append(end)
    return max(state_distance(end, results[0], whole) for end in results)


def frame_defect(method: Any, h: float = 0.1, steps: int = 20) -> float:
    """Largest difference when the body is given by a full tensor in a turned frame instead of by its moments."""
    # Near a renumbering of the axes, so that diagonalising the tensor numbers them differently.
    turn = rotation.multiply(rotation.exp_quaternion((0.2, -0.1, 0.3)), NUMBERINGS[0])
    moments, center = (1.0, 1.6, 2.3), (0.3, -0.2, 0.7)
    R = rotation.matrix_from_quaternion(turn)
    ends = []
    for inertia, middle, frame in (
        (moments, center, (1.0, 0.0, 0.0, 0.0)),
        (R @ np.diag(moments) @ R.T, R @ center, turn),
    ):
        system = heavy_top(inertia, middle, 1.2)
        q = rotation.multiply(rotation.exp_quaternion(START["attitude"][0]), rotation.conjugate(frame))
        y = start_state(system, attitude=q, angular_momentum=rotation.rotate(frame, START["angular_momentum"][0]))
        end = stepper(method, system, y)(y, 0.3, h, steps)
        back = rotation.multiply(rotation.conjugate(principal(inertia).frame), frame)
        end[ATTITUDE:ANGULAR] = rotation.multiply(end[ATTITUDE:ANGULAR], back)
        end[ANGULAR:BODY] = rotation.rotate_inverse(back, end[ANGULAR:BODY])
        ends.append(end)
    return state_distance(ends[1], ends[0], trial_problem()[0])


# ------------------------------------------------------------------ the judge of methods
ORDER_PROBLEMS = {
    "order, pinned body": (True, False, 1, 0.9),
    "order, particle": (False, True, 1, 1.7),
    "order, body in space": (True, True, 1, 1.7),
    "order, two coupled bodies": (True, True, 2, 1.7),
}
"""Problems by the names of their lines: whether bodies turn, whether they move, how many, and the time at the start."""


POINT_PROBLEMS = {
    "order, particle": (False, True, 1, 1.7),
    "order, two coupled particles": (False, True, 2, 1.7),
}
"""The same for methods that move bodies through space only."""

ALONE = ("order, pinned body", "order, body in space")
"""Those of one body that turns."""

CONFIGURATION = ("time", "potential", "place")
"""Switches of loads that depend on time and configuration only."""


def _needs_series(chosen: Chosen) -> bool:
    return chosen.prepare().series


def _suitable(chosen: Chosen, *loads: str) -> tuple[str, ...]:
    """These loads, or those with a Taylor series for a method that needs it."""
    return (VERTICAL,) if loads and _needs_series(chosen) else loads


@cache
def order_problem(what: str, *loads: str) -> tuple[System, Any, Any, float]:
    """System, start state, exact end state and start time of one of ``ORDER_PROBLEMS`` with these loads."""
    turns, moves, bodies, t = {**ORDER_PROBLEMS, **POINT_PROBLEMS}[what]
    system, y = trial_problem(*loads, turns=turns, moves=moves, bodies=bodies)
    return system, y, exact_state(system, y, t, SPAN), t


@cache
def _free_problem() -> tuple[System, Any, Any, float]:
    system, y = trial_problem(bodies=2)
    return system, y, exact_state(system, y, 0.0, FREE_SPAN), 0.0


def _order_lines(chosen: Chosen) -> list[Line]:
    """Orders under the loads the method is made for, then under others where its order is another."""
    promises = chosen.promises
    falls = promises.order_velocity != promises.order
    loads = _suitable(chosen, *(CONFIGURATION if falls else SWITCHES))
    prepared = chosen.prepare()
    if prepared.alone:
        system, y = orbit_problem()
        end = exact_state(system, y, 0.0, SPAN)
        error = state_distance(stepper(chosen, system, y)(y, 0.0, SPAN), end, system)
        return [Line("orbit", error <= EXACT, "exact", f"error of one step {error:.1e}", {"error": error})]
    problems = ALONE if _needs_series(chosen) else POINT_PROBLEMS if prepared.points else ORDER_PROBLEMS
    lines = [_order_line(chosen, what, promises.order, order_problem(what, *loads)) for what in problems]
    if falls:
        problem = order_problem("order, particle" if prepared.points else "order, body in space", *SWITCHES)
        lines.append(_order_line(chosen, "order, loads by velocity", promises.order_velocity, problem))
    if promises.order_free == inf:
        system, y, end, t = _free_problem()
        error = state_distance(stepper(chosen, system, y)(y, t, FREE_SPAN), end, system)
        lines.append(Line("free body", error <= EXACT, "exact", f"error of one step {error:.1e}", {"error": error}))
    elif promises.order_free != promises.order:
        lines.append(_order_line(chosen, "order, free body", promises.order_free, _free_problem(), FREE_SPAN))
    return lines


def _order_line(
    chosen: Chosen, what: str, promised: float, problem: tuple[System, Any, Any, float], span: float = SPAN
) -> Line:
    ladder = measure_order(chosen, *problem, span)
    order = ladder.order
    if promised >= 8 and not abs(ladder.fitted - promised) >= abs(order - promised):
        order = ladder.fitted
    numbers = {"order": order, "steps": ladder.steps, "errors": ladder.errors}
    above = inf if chosen.promises.at_least else SLOPE if promised < 6 else promised / 3.0
    below = SLOPE if promised < 8 else promised / 10.0
    good = promised - below <= order <= promised + above
    return Line(what, good, f"{promised:g}", f"{order:.2f}", numbers)


def _symmetry_line(chosen: Chosen) -> Line:
    promised = chosen.promises.time_symmetric
    defects: dict[float, float] = {}
    system, y = problem_for(chosen, "time", "potential")
    for h in (0.2, 0.4, 0.8, *LONG * _needs_series(chosen)):
        try:
            defects[h] = symmetry_defect(chosen, system, y, h=h)
        except PolhodeError:
            break
    worst = max(defects.values(), default=inf)
    symmetric = bool(defects) and all(defect <= SAME for defect in defects.values())
    return Line(
        "time symmetry",
        symmetric == promised and (symmetric or worst > 10 * SAME),
        "a step back undoes a step" if promised else "not symmetric",
        f"defect {worst:.1e}",
        {"defects": defects},
    )


def _kept_line(chosen: Chosen, what: str, problem: tuple[System, Any], promised: Sequence[str]) -> Line:
    """Both directions: a quantity is kept when it is constant at every step size that works."""
    if set(promised) - set(QUANTITIES):
        raise InvalidInput(f"{chosen.label!r} promises {sorted(set(promised) - set(QUANTITIES))}; known: {QUANTITIES}")
    worst = dict.fromkeys(QUANTITIES, 0.0)
    sizes = []
    for h, steps in ((0.25, 120), (0.5, 60), (1.0, 20), (1.6, 12), *((h, 8) for h in LONG * _needs_series(chosen))):
        try:
            found = drifts(chosen, *problem, h=h, steps=steps)
        except PolhodeError:  # large steps are tried only to make small drifts visible
            break
        sizes.append(h)
        worst = {name: max(worst[name], found[name]) for name in QUANTITIES}
        if all(worst[name] > BROKEN for name in QUANTITIES if name not in promised):
            break
    kept = {name for name in QUANTITIES if worst[name] <= KEPT}
    implied = {"vertical_momentum", "momentum_length"} if "spatial_momentum" in promised else set()
    lost = [name for name in promised if name not in kept]
    extra = [name for name in QUANTITIES if name in kept and name not in promised and name not in implied]
    unclear = [name for name in QUANTITIES if name not in promised and KEPT < worst[name] <= BROKEN]
    said = [f"{name} changes by {worst[name]:.1e}" for name in lost]
    said += [f"{name} is kept too ({worst[name]:.1e})" for name in extra]
    said += [f"{name} changes by {worst[name]:.1e} only, too little to tell" for name in unclear]
    least = min((worst[name] for name in QUANTITIES if name not in {*promised, *implied}), default=inf)
    told = f"others change by {least:.1e} and more"
    if promised:
        told = f"within {max(worst[name] for name in promised):.1e}, {told}"
    return Line(
        what,
        bool(sizes) and not said,
        ", ".join(promised) or "nothing",
        "; ".join(said) or (told if sizes else "no step works"),
        {"drifts": worst, "steps": tuple(sizes)},
    )


def _symplectic_line(chosen: Chosen, what: str, promised: bool, *loads: str) -> Line:
    system, y = problem_for(chosen, *loads)
    advance = stepper(chosen, system, y)
    defects: dict[float, float] = {}
    # What is symplectic shows it at small steps; at large ones the differences that make the Jacobian err.
    for h in (0.1, 0.2, 0.4) if promised else (0.1, 0.2, 0.4, 0.8, 1.2, *LONG * _needs_series(chosen)):
        try:
            defects[h] = symplectic_defect(lambda z, h=h: advance(z, 0.0, h), system, y)  # type: ignore[misc]
        except PolhodeError:
            break
        if h >= 0.4 and defects[h] > CURVED:
            break
    worst = max(defects.values(), default=inf)
    symplectic = bool(defects) and worst <= SYMPLECTIC
    return Line(
        what,
        symplectic if promised else worst > CURVED,
        "symplectic" if promised else "not symplectic",
        "defect " + ", ".join(f"{defect:.1e} (h = {h:g})" for h, defect in defects.items()),
        {"defects": defects},
    )


def _axes_line(what: str, defect: float, promised: bool) -> Line:
    told = "some influence" if promised else "no influence"
    return Line(what, (defect > 20 * SAME) == promised, told, f"difference {defect:.1e}", {"defect": defect})


def check_method(method: str | Method | Chosen, **options: str) -> Report:
    """Measure everything a method promises, and what every method owes.

    Parameters
    ----------
    method : str, Method or Chosen
        A method string such as ``"mkrk:gauss4:cayley"``, or a row, which need not be in the table.
    **options : str
        Options by name.

    Returns
    -------
    Report
        Lines: order of a pinned body, a particle, a body in space and two coupled bodies, under loads that depend on
        time, attitude, place and velocity (of a method whose order falls with velocities: without these, and on a
        line of its own with them; of a method that needs the series of the torque: a body pinned and in space, under a
        torque by the vertical); order of a free body where it is another; time symmetry; what is kept by a free
        body and a symmetric heavy top;
        symplecticity of the step for a free body and one in a potential; independence of slicing and recording
        (exact), of the numbering of the axes and of the frame of the inertia (to round-off). Of a method that moves
        bodies through space only: order of a particle and of two coupled ones, time symmetry, symplecticity in a
        potential, and slicing; of one that follows a centre of attraction alone, the same on an orbit, exact in place
        of an order. Of one with a heat bath, slicing; what has to be given and is not makes it one without (no
        friction, an infinite relaxation time), which is then measured as any other.

    Raises
    ------
    InvalidInput
        Unknown method, or a promise with an unknown name.

    Notes
    -----
    Order within 0.2 of the promise (from order 6 on, up to a third above it, and without a bound where the promise is
    "at least"; from 8 on, up to a tenth below); drifts below 2e-12 are constant, above 1e-11 not; time symmetry to
    1e-13; the symplectic form to 2e-12. A method for bodies that a load couples refuses (``PolhodeError``) where it
    cannot solve; such a line fails with order NaN.
    """
    chosen = find_method(method, **options).tried
    promises = chosen.promises
    series = _needs_series(chosen)
    if chosen.prepare().points:
        system, y = problem_for(chosen, *SWITCHES, bodies=2)
    else:
        system, y = trial_problem(*_suitable(chosen, *SWITCHES), moves=True, bodies=1 if series else 2)
    sliced = slicing_defect(chosen, system, y)
    slicing = Line(
        "slicing and recording", sliced == 0.0, "no influence", f"difference {sliced:.1e}", {"defect": sliced}
    )
    if promises.thermal:
        return Report(chosen.label, (slicing,))
    if chosen.prepare().points:
        in_potential = _symplectic_line(chosen, "symplectic, in a potential", promises.symplectic, "potential")
        return Report(chosen.label, (*_order_lines(chosen), _symmetry_line(chosen), in_potential, slicing))
    numbered, framed = numbering_defect(chosen), frame_defect(chosen)
    lines = [
        *_order_lines(chosen),
        _symmetry_line(chosen),
        _kept_line(chosen, "kept, free body", trial_problem(), promises.keeps_free),
        _kept_line(chosen, "kept, heavy top", top_problem(), promises.keeps_top),
        _symplectic_line(chosen, "symplectic, free body", promises.symplectic),
        _symplectic_line(chosen, "symplectic, in a potential", promises.symplectic, "potential"),
        slicing,
        _axes_line("numbering of the axes", numbered, promises.numbered),
        _axes_line("frame of the inertia", framed, promises.numbered or promises.framed),
    ]
    return Report(chosen.label, tuple(lines))


# ------------------------------------------------------------------ checkers of systems
CONSERVED = (
    "energy",
    "angular_momentum_space",
    "vertical_angular_momentum",
    "axial_angular_momentum",
    "momentum",
    "total_momentum",
    "total_angular_momentum",
)
"""The names a system may use in ``conserves``."""


def _shape_line(system: System) -> Line:
    """Arrays of the right shapes, positive masses and moments, unit frames, known names."""
    N = system.N
    wrong = []
    for name, shape in (("mass", (N,)), ("moments", (N, 3)), ("frames", (N, 4))):
        found = np.shape(getattr(system, name))
        if found != shape:
            wrong.append(f"{name} has shape {found} instead of {shape}")
    if not wrong:
        if not (np.all(np.asarray(system.mass) > 0) and np.all(np.asarray(system.moments) > 0)):
            wrong.append("masses and moments must be positive (infinite: pinned, or a point)")
        if np.abs(np.linalg.norm(system.frames, axis=1) - 1.0).max() > 1e-14:
            wrong.append("frames are not unit quaternions")
    if np.ndim(system.parameters) != 1 or np.asarray(system.parameters).dtype != np.float64:
        wrong.append("parameters is not a flat array of float64")
    unknown = sorted(set(system.conserves) - set(CONSERVED))
    if unknown:
        wrong.append(f"conserves names {', '.join(unknown)}; known: {', '.join(CONSERVED)}")
    if "axial_angular_momentum" in system.conserves and system.axis is None:
        wrong.append("conserves names axial_angular_momentum, but axis is None")
    return Line("shapes and names", not wrong, f"{N} bod{'y' if N == 1 else 'ies'}", "; ".join(wrong) or "as declared")


def load_defect(system: System, y: Any, t: float = 0.3, part: int = ALL) -> str:
    """What a LOADS role does that it must not, asked for this part: in words, empty when nothing."""
    N, call, role = system.N, _caller(part), system.compiled_loads(t, y)
    guard, size = 4, LOAD * N + len(system.own)
    out = np.full(size + guard, np.nan)
    state, bodies, parameters = np.array(y), system.bodies, system.with_memory
    call(role, t, N, state, bodies, parameters, out)
    wrong = []
    for i, load in enumerate(out[: LOAD * N].reshape(N, LOAD)):
        moves, turns = np.isfinite(system.mass[i]), np.isfinite(system.moments[i]).any()
        if not (np.isfinite(load[: 3 * moves]).all() and np.isfinite(load[3 : 3 + 3 * turns]).all()):
            wrong.append(f"the load of body {i} is not written, or not finite: {load.tolist()}")
    if part < COMMUTATOR and not np.isfinite(out[LOAD * N : size]).all():
        wrong.append(f"rates of own numbers are not written, or not finite: {out[LOAD * N : size].tolist()}")
    if not np.isnan(out[size:]).all():
        wrong.append(f"writes beyond its {size} numbers")
    if not (np.array_equal(state, y) and np.array_equal(parameters[: len(system.parameters)], system.parameters)):
        wrong.append("changes its arguments")
    again = np.full(size + guard, np.nan)
    call(role, t, N, state, bodies, parameters, again)
    if not np.array_equal(out, again, equal_nan=True):
        wrong.append("gives other numbers when called again")
    return "; ".join(wrong)


def gradient_defect(system: System, y: Any, t: float = 0.3) -> float:
    """Largest difference between the loads on bodies at rest and minus the derivative of the potential.

    Attitudes are turned about body axes and places shifted, with central differences of order 8; relative to the size
    of the loads, or to that of 1e9 times what round-off in the potential leaves where this is more.
    """
    rest = _at_rest(system, y)
    load = _memory(system)
    _caller()(system.compiled_loads(t, y), t, system.N, rest, system.bodies, system.with_memory, load)
    return _derivative_defect(system, rest, -load, lambda rows: _energy(system, rows))


def commutator_defect(system: System, y: Any, t: float = 0.3) -> float:
    """Largest difference between the commutator's loads and the derivative of F . M^-1 F, F being the other loads.

    Differences and relative sizes as in ``gradient_defect``; the bodies are at rest.
    """
    N, role, call = system.N, system.compiled_loads(t, y), _caller()
    rest, load = _at_rest(system, y), _memory(system)
    _caller(COMMUTATOR)(role, t, N, rest, system.bodies, system.with_memory, load)
    inverse = system.constants_of_bodies[:, [*[INVERSE_MASS] * 3, *range(INVERSE_INERTIA, CONSTANTS)]].ravel()

    def squares(rows: Any) -> Any:
        found, F = [], _memory(system)
        for row in rows:
            call(role, t, N, row, system.bodies, system.with_memory, F)
            found.append(inverse @ F[: LOAD * N] ** 2)
        return np.array(found)

    return _derivative_defect(system, rest, load, squares)


ANGLES = (5.0, 2.5, 1.2, 0.6, 0.3, 0.15, 0.07, 0.03)
"""Rotations (rad) over which the series of a torque is summed, those of them at which it has converged."""


def series_defect(system: System, y: Any, t: float = 0.3) -> float:
    """Largest difference between the loads along a uniform rotation of the body and the sum of the torque's series.

    Also between the loads before and after turning space about the vertical, and of the forces from zero. Relative to
    the largest torque; infinite where the series converges at no angle.
    """
    role, call = system.compiled_loads(t, y), _caller()
    memory, coefficients, load = np.zeros(SERIES_SIZE), np.zeros((SERIES_ROW - 1, 3)), np.zeros(LOAD)
    q, axis = np.array(y[ATTITUDE:ANGULAR]), np.array((0.48, -0.6, 0.64))
    memory[:3] = rotation.rotate_inverse(q, (0.0, 0.0, 1.0))
    for k in range(len(coefficients)):
        _caller(SERIES)(role, t, k, memory, system.bodies, system.with_memory, load)
        coefficients[k] = load[:3]
        memory[3 * k + 3 : 3 * k + 6] = np.cross(memory[3 * k : 3 * k + 3], axis) / (k + 1)

    def loads_at(attitude: Any) -> Any:
        state = np.array(y)
        state[ATTITUDE:ANGULAR] = attitude
        call(role, t, 1, state, system.bodies, system.with_memory, load)
        moves = np.isfinite(system.mass[0])
        return load[3:].copy(), float(np.abs(load[:3]).max()) if moves else 0.0

    largest, size, sums = 0.0, 0.0, 0
    for angle in (s * a for a in ANGLES for s in (1.0, -1.0)):
        terms = coefficients * angle ** np.arange(len(coefficients))[:, None]
        torque, force = loads_at(rotation.multiply(q, rotation.exp_quaternion(angle * axis)))
        scale = float(np.abs(torque).max())
        if np.abs(terms[-3:]).max() <= 1e-11 * scale or not coefficients.any():
            sums += 1
            largest, size = max(largest, force, float(np.abs(terms.sum(axis=0) - torque).max())), max(size, scale)
    turned, _ = loads_at(rotation.multiply(rotation.exp_quaternion((0.0, 0.0, 1.0)), q))
    largest = max(largest, float(np.abs(turned - loads_at(q)[0]).max()))
    return largest / (size or 1.0) if sums else inf


def _at_rest(system: System, y: Any) -> Any:
    rest = np.array(y)
    body = rest.reshape(-1, BODY)[: system.N]
    body[:, MOMENTUM:ATTITUDE] = 0.0
    body[:, ANGULAR:] = 0.0
    return rest


def _derivative_defect(system: System, y: Any, stated: Any, function: Callable[[Any], Any]) -> float:
    """Largest difference between stated derivatives (6 N) of a function of states and central differences of order 8.

    Relative to the derivatives, or to 1e9 times what round-off in the function leaves of them where this is more.
    """
    blocks = system.blocks.reshape(-1, 2)
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    largest, noise, expected = 0.0, 0.0, 0.0
    for k, (i, kind) in enumerate(blocks):
        size = 0.01
        if kind != ROTATION:
            size *= max(0.1, min(float(np.linalg.norm(y[BODY * i : BODY * i + 3])), _nearest(system, y, i)))
        for c in range(3):
            shifts = [s * (n + 1) * size for n in range(4) for s in (1.0, -1.0)]
            values = function(np.array([_shifted(y, blocks, 6 * k + c, shift) for shift in shifts]))
            slope = sum(weight * (values[2 * n] - values[2 * n + 1]) for n, weight in enumerate(weights)) / size
            found = stated[LOAD * i + (3 if kind == ROTATION else 0) + c]
            largest = max(largest, abs(found - slope))
            expected = max(expected, abs(slope), abs(found))
            noise = max(noise, 2e-15 * float(np.abs(values).max()) / size)
    return float(largest / max(expected, 1e9 * noise, 1e-300))


def _nearest(system: System, y: Any, i: int) -> float:
    """Distance of the body that is nearest to another, nearest images in a box; infinite where there is none."""
    r = np.reshape(y[: BODY * system.N], (system.N, BODY))[:, POSITION:MOMENTUM]
    d = np.delete(r, i, axis=0) - r[i]
    if system.box is not None:
        d -= system.box * np.rint(d / system.box)
    return float(np.sqrt((d * d).sum(axis=1)).min(initial=inf))


def power_defect(system: System, y: Any, t: float = 0.3) -> float:
    """Power of what the loads add when the bodies move, relative to the loads: what conserves energy does no work."""
    role, call, N, rest = system.compiled_loads(t, y), _caller(), system.N, _at_rest(system, y)
    moving, still = _memory(system), _memory(system)
    call(role, t, N, np.array(y), system.bodies, system.with_memory, moving)
    call(role, t, N, rest, system.bodies, system.with_memory, still)
    body, constants = np.reshape(y, (-1, BODY))[:N], system.constants_of_bodies
    v = body[:, MOMENTUM:ATTITUDE] * constants[:, INVERSE_MASS, None]
    w = body[:, ANGULAR:] * constants[:, INVERSE_INERTIA:]
    rates = np.concatenate([v, w], axis=1).ravel()
    moving, still = moving[: LOAD * N], still[: LOAD * N]
    scale = float(np.abs(rates) @ np.abs(moving)) or 1.0
    return abs(float(rates @ (moving - still))) / scale


def velocity_defect(system: System, y: Any, t: float = 0.3) -> float:
    """Largest change of any load when the bodies stop, relative to the largest load."""
    role, call, N = system.compiled_loads(t, y), _caller(), system.N
    moving, still = _memory(system), _memory(system)
    call(role, t, N, np.array(y), system.bodies, system.with_memory, moving)
    call(role, t, N, _at_rest(system, y), system.bodies, system.with_memory, still)
    moving, still = moving[: LOAD * N], still[: LOAD * N]
    return float(np.abs(moving - still).max() / (np.abs([moving, still]).max() or 1.0))


def parts_defect(system: System, y: Any, t: float = 0.3) -> float:
    """How far divided loads are from the sum of their parts, and those that must not depend on velocities from that.

    Relative to the largest load, and for the rates behind them to the largest of these.
    """
    role, N, rest = system.compiled_loads(t, y), system.N, _at_rest(system, y)

    def asked(part: int, state: Any) -> Any:
        out = _memory(system)
        _caller(part)(role, t, N, np.array(state), system.bodies, system.with_memory, out)
        return out

    bits = (ATTRACTION, POTENTIAL_PART, RESTING, MOVING)
    parts = [asked(bit, y) for bit in bits]
    pairs = [(asked(whole, y), sum(x for x, bit in zip(parts, bits, strict=True) if whole & bit)) for whole in
             (ALL, WITHOUT_SOLVED, DISSIPATIVE, ALL & ~MOVING)]  # fmt: skip
    pairs += [(x, asked(bit, rest)) for x, bit in zip(parts, bits, strict=True) if bit != MOVING]
    worst = 0.0
    for here in (slice(0, LOAD * N), slice(LOAD * N, None)):
        size = max([float(np.abs(a[here]).max(initial=0.0)) for a, _ in pairs]) or 1.0
        worst = max([worst, *(float(np.abs(a[here] - b[here]).max(initial=0.0)) / size for a, b in pairs)])
    return worst


def balance_defect(system: System, y: Any, t: float = 0.3) -> float:
    """How far the rate of the energy along the motion is from the sum of the rates of the works, relative to powers.

    The rate of the potential is a central difference of order 8 in time, along the present velocities.
    """
    role, N, load = system.compiled_loads(t, y), system.N, _memory(system)
    _caller()(role, t, N, np.array(y), system.bodies, system.with_memory, load)
    body, constants = np.reshape(y[: BODY * N], (N, BODY)), system.constants_of_bodies
    v = body[:, MOMENTUM:ATTITUDE] * constants[:, INVERSE_MASS, None]
    w = body[:, ANGULAR:] * constants[:, INVERSE_INERTIA:]
    powers = np.concatenate([v, w], axis=1).ravel() * load[: LOAD * N]
    works = [k for k, own in enumerate(system.own) if own.quantity == "work"]
    rates = load[[LOAD * N + k for k in works]]
    slope, noise = 0.0, 0.0
    potential = system.compiled_potential(t, np.array(y))
    if potential is not None:
        step = 0.01 / max(1e-9, float(np.abs(v).max(initial=0.0) / max(1e-9, float(np.linalg.norm(body[:, :3])))),
                          float(np.abs(w).max(initial=0.0)))  # fmt: skip
        shifts = np.array([s * (n + 1) * step for n in range(4) for s in (1.0, -1.0)])
        rows = np.tile(np.array(y[: BODY * N]), (8, 1))
        for row, shift in zip(rows.reshape(8, N, BODY), shifts, strict=True):
            row[:, POSITION:MOMENTUM] += shift * v
            row[:, ATTITUDE:ANGULAR] = rotation.multiply(row[:, ATTITUDE:ANGULAR], rotation.exp_quaternion(shift * w))
        values = np.zeros(8)
        drive.energy_loop()(t + shifts, rows, system.bodies, system.with_memory, potential, values)
        weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
        slope = sum(x * (values[2 * n] - values[2 * n + 1]) for n, x in enumerate(weights)) / step
        noise = 2e-15 * float(np.abs(values).max()) / step
    size = float(np.abs(powers).max(initial=0.0)) + abs(slope)
    return abs(float(powers.sum()) + slope - float(rates.sum())) / max(size, 1e9 * noise, 1e-300)


def conservation_drifts(
    system: System, y: Any, t: float = 0.0, span: float | None = None, method: str = "mkrk:gauss8"
) -> dict[str, float]:
    """Drift of each quantity a system declares, along a run of high order whose step is halved until nothing changes.

    Relative to the size of the quantity's parts: kinetic plus potential energy, angular momentum, momentum.

    Raises
    ------
    InvalidInput
        When 4096 steps are not enough for the span.
    """
    constants = system.constants_of_bodies
    rates = np.linalg.norm(np.reshape(y, (-1, BODY))[: system.N, ANGULAR:] * constants[:, INVERSE_INERTIA:], axis=1)
    span = 2.0 / max(1.0, float(rates.max())) if span is None else span
    n, before, width = 32, None, BODY * system.N + len(system.own)
    start = np.concatenate([y[: BODY * system.N], np.zeros(len(system.own))])
    while True:
        try:
            states = np.concatenate([[start], _march(method, system, y, t, span / n, [n], 1)[:, :width]])
        except PolhodeError:
            states = None
        if states is not None and before is not None and state_distance(states[-1], before[-1], system) < 1e-12:
            break
        if n >= 4096:
            raise InvalidInput(f"{system!r} changes too fast for a span of {span:g}; give check_system a shorter one")
        n, before = 2 * n, states
    times = t + span / n * np.arange(n + 1)
    potential = system.compiled_potential(t, y)
    ds = dataset(system, times, states, np.zeros(n + 1, dtype=np.int64), potential, {})
    found: dict[str, float] = {}
    for name in system.conserves:
        values = np.asarray(ds[name].values)
        if "body" in ds[name].dims:
            values = values.sum(axis=1)
        size = np.abs(values).max()
        if name == "energy":
            size = np.abs(ds.kinetic_energy.values).max()
            if "potential_energy" in ds:
                size += np.abs(ds.potential_energy.values).max()
        found[name] = float(np.abs(values - values[0]).max() / (size or 1.0))
    return found


MOST_STATES = 10_000
"""States at which loads are compared with the potential, at most."""


def check_system(system: System, *, states: int = 3, span: float | None = None, seed: int = 0, **start: Any) -> Report:
    """Measure everything a system declares.

    Parameters
    ----------
    system : System
        Shipped or built by hand.
    states : int
        Number of states at which the loads are compared with the potential.
    span : float, optional
        Length of the run along which what it conserves is followed; by default two radians of the fastest body.
    seed : int
        Of the random states.
    **start : array_like
        A state in the system's own range, as for ``integrate`` (``attitude``, ``angular_velocity``, ``position``, ...);
        the states tried are near it (up to 0.5 rad and 20 percent away). By default random, of size one, attitudes
        within 0.5 rad of the identity.

    Returns
    -------
    Report
        Lines: shapes and names; that the loads write their own numbers only, change nothing and repeat; where they are
        said not to depend on velocities, that they do not (exact); where they are divided, that their parts add up;
        where there are works, and no potential of the user's beside a load or with a time in it, that their rates are
        that of the energy (relative 1e-8); where there is a commutator, that its loads are the derivative of F . M^-1 F
        (relative 1e-8); where there is a series, that it sums up to the torque along a rotation of the body, and that
        the loads are a torque by the vertical (relative 1e-8); where energy is declared and there is a potential, that
        loads at rest are minus its derivative (relative 1e-8) and that what they add in motion does no work; each
        declared quantity along a run of high order (relative 1e-11).

    Raises
    ------
    InvalidInput
        Not a system, or a start it has no use for.
    """
    if not isinstance(system, System):
        raise InvalidInput(f"check_system takes a system such as polhode.free_body(...), not {shown(system)}")
    states, seed = whole(states, "states", 1, MOST_STATES), whole(seed, "seed")
    span = None if span is None else number(span, "span", "s", positive=True)
    lines = [_shape_line(system)]
    if not lines[0].passed:
        return Report(repr(system), tuple(lines))
    trials = _states_near(system, states, np.random.default_rng(seed), start)
    wrong = next((found for found in (load_defect(system, y) for y in trials) if found), "")
    lines.append(Line("loads", not wrong, "write their own numbers only", wrong or "as they must"))
    if not wrong and not system.velocity_dependent:
        change = max(velocity_defect(system, y) for y in trials)
        lines.append(
            Line("loads and velocities", change == 0.0, "do not depend on them", f"relative change {change:.1e}",
                 {"defect": change})
        )  # fmt: skip
    if not wrong and system.divided:
        defect = max(parts_defect(system, y) for y in trials)
        lines.append(
            Line("parts of the loads", defect <= 1e-13, "add up, and depend on velocities or not",
                 f"relative difference {defect:.1e}", {"defect": defect})
        )  # fmt: skip
    if not wrong and system.balanced and any(own.quantity == "work" for own in system.own):
        defect = max(balance_defect(system, y) for y in trials)
        lines.append(
            Line("works", defect <= 1e-8, "are the change of the energy", f"relative difference {defect:.1e}",
                 {"defect": defect})
        )  # fmt: skip
    if not wrong and system.commutates:
        lines.append(_commutator_line(system, trials))
    if not wrong and system.series is not None:
        defect = max(series_defect(system, y) for y in trials)
        lines.append(
            Line("series of the torque", defect <= 1e-8, "sums up to the loads", f"relative difference {defect:.1e}",
                 {"defect": defect})
        )  # fmt: skip
    if "energy" in system.conserves and not wrong:
        if system.potential is not None:
            gradient = max(gradient_defect(system, y) for y in trials)
            lines.append(
                Line("loads and potential", gradient <= 1e-8, "loads are -dU", f"relative difference {gradient:.1e}",
                     {"defect": gradient})
            )  # fmt: skip
        power = max(power_defect(system, y) for y in trials)
        lines.append(
            Line("loads in motion", power <= 1e-12, "do no work of their own", f"relative power {power:.1e}",
                 {"defect": power})
        )  # fmt: skip
    if not wrong and system.conserves:
        worst = dict.fromkeys(system.conserves, 0.0)
        for y in trials:
            for name, drift in conservation_drifts(system, y, span=span).items():
                worst[name] = max(worst[name], drift)
        for name, drift in worst.items():
            told = f"changes by {drift:.1e}"
            lines.append(Line(f"conserves {name}", drift <= 1e-11, "constant", told, {"drift": drift}))
    return Report(repr(system), tuple(lines))


def _commutator_line(system: System, trials: Sequence[Any]) -> Line:
    what, promised = "loads of the commutator", "are d(F . M^-1 F)"
    wrong = next((found for found in (load_defect(system, y, part=COMMUTATOR) for y in trials) if found), "")
    if wrong:
        return Line(what, False, promised, wrong)
    defect = max(commutator_defect(system, y) for y in trials)
    return Line(what, defect <= 1e-8, promised, f"relative difference {defect:.1e}", {"defect": defect})


def _states_near(system: System, count: int, rng: np.random.Generator, start: Mapping[str, Any]) -> list[Any]:
    base = start_state(system, **start)
    found = []
    for _ in range(count):
        y = base.copy()
        for i, kind in system.blocks.reshape(-1, 2):
            a = BODY * i
            if kind == ROTATION:
                turn = rng.uniform(-1.0, 1.0, 3)
                turn *= 0.5 * rng.uniform() / np.linalg.norm(turn)
                q = slice(a + ATTITUDE, a + ANGULAR)
                y[q] = rotation.multiply(y[q], rotation.exp_quaternion(turn))
                parts = [(slice(a + ANGULAR, a + BODY), float(np.mean(system.moments[i])))]
            else:
                parts = [(slice(a + POSITION, a + MOMENTUM), 1.0)]
                parts += [(slice(a + MOMENTUM, a + ATTITUDE), float(system.mass[i]))]
            for part, unit in parts:
                size = float(np.linalg.norm(base[part]))
                y[part] += rng.uniform(-1.0, 1.0, 3) * (0.2 * size if size > 0.0 else unit)
        found.append(y)
    return found
