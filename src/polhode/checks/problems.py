"""Test problems for methods: no term vanishes, and no symmetry hides a mistake.

* ``trial_problem``: asymmetric bodies, pinned or moving through space, one or two of them, under any of the load terms
  below, also under a torque that depends on the vertical only, with its Taylor series.
* ``top_problem``: a symmetric heavy top, for what is conserved there.
* ``orbit_problem``: a point attracted by a centre, for methods that solve that motion only.

The loads of the trial problem, with switches c in the parameters, the vertical u = R^T e3 and s = R^T e1 seen from the
body, position r, attitude R, and another body with attitude R':

    T = c_time (...)(t, u) + c_potential (u x a + s x K s) + c_rate (...)(omega) + c_place (b x R^T R' d + ...)
    F = c_time (...)(t, r) - c_potential (S r + |r|^2 r)   + c_rate (...)(v)     + c_place (...)     - mu m r / |r|^3

With c_potential alone the energy is conserved; the potential is a . u + s . K s / 2 for the attitude and
r . S r / 2 + |r|^4 / 4 for the position. Under "vertical" the torque is u x (a + K u), and there is no force. The
attraction by the centre acts for methods that follow orbits between kicks, with all other forces reduced to a tenth, so
that no body comes near the centre; for other methods mu is zero.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.algebra.quaternion import multiply, rotate, rotate_inverse
from polhode.algebra.so3 import axpy, cross, dot, scale, times
from polhode.capabilities import stated
from polhode.checks.steps import exact_state
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3
from polhode.methods import MethodSpec
from polhode.runs.initial_state import start_state
from polhode.systems import System, heavy_top, orbit

# ------------------------------------------------------------------ the loads
# Parameters: mu of the centre, quaternion from the principal frame to the frame of the problem (4), then one switch for
# each term: time, potential, rate, place, vertical.
MU, FRAME, TERMS = 0, 1, 5
ARM, SPREAD = (0.6, -0.4, 1.4), (1.0, -0.6, 0.8)


def trial_loads(part, t, N, y, bodies, parameters, out):  # type: ignore[no-untyped-def]
    """Loads of the trial problem; each body is also coupled to the next one."""
    mu, frame = parameters[MU], get4(parameters, FRAME)
    back = (frame[0], -frame[1], -frame[2], -frame[3])
    at_time, by_potential, by_rate = parameters[TERMS], parameters[TERMS + 1], parameters[TERMS + 2]
    by_place, by_vertical = parameters[TERMS + 3], parameters[TERMS + 4]
    for i in range(N):
        k = L.BODY * i
        n = L.BODY * ((i + 1) % N)
        q = multiply(get4(y, k + L.ATTITUDE), back)
        w = rotate(frame, times(get3(bodies, L.CONSTANTS * i + L.INVERSE_INERTIA), get3(y, k + L.ANGULAR)))
        r = get3(y, k + L.POSITION)
        v = scale(bodies[L.CONSTANTS * i + L.INVERSE_MASS], get3(y, k + L.MOMENTUM))
        u = rotate_inverse(q, (0.0, 0.0, 1.0))
        s = rotate_inverse(q, (1.0, 0.0, 0.0))

        T = axpy(1.0, cross(u, (0.6, -0.4, 1.4)), cross(s, times((1.0, -0.6, 0.8), s)))
        T = scale(by_potential, T)
        forced = (2.0 * np.cos(1.3 * t) * u[1], np.sin(2.1 * t) + 0.6 * s[2], -0.8 * np.cos(0.7 * t) * u[0])
        T = axpy(at_time, forced, T)
        damped = (0.4 * w[1] * w[2] - 0.6 * w[0], 0.8 * w[0] - 0.4 * w[1], 0.6 * w[1] - 0.2 * w[2] * w[2])
        T = axpy(by_rate, damped, T)
        other = rotate_inverse(q, rotate(multiply(get4(y, n + L.ATTITUDE), back), (0.6, 0.0, 0.8)))
        pulled = axpy(0.5, rotate_inverse(q, get3(y, n + L.POSITION)), axpy(0.4 * by_rate, rotate_inverse(q, v), other))
        T = axpy(by_place, cross((0.2, 0.5, -0.3), pulled), T)

        F = scale(-by_potential, axpy(dot(r, r), r, times((2.0, 2.8, 1.6), r)))
        pushed = (0.8 * np.cos(1.7 * t), -0.6 * np.sin(0.9 * t) * r[0], 0.4 * np.sin(2.3 * t))
        F = axpy(at_time, pushed, F)
        F = axpy(by_rate, axpy(-0.4 - 0.2 * dot(v, v), v, cross(v, (0.6, -1.0, 0.4))), F)
        apart = axpy(-1.0, r, get3(y, n + L.POSITION))
        F = axpy(
            by_place, axpy(0.6 + 0.1 * dot(apart, apart), apart, rotate(q, axpy(0.3 * by_rate, w, (0.4, -0.2, 0.3)))), F
        )
        if mu > 0.0 and bodies[L.CONSTANTS * i + L.INVERSE_MASS] > 0.0:
            F = scale(0.1, F)
            if part & L.ATTRACTION != 0:
                F = axpy(-mu * bodies[L.CONSTANTS * i + L.MASS] / dot(r, r) ** 1.5, r, F)

        T = axpy(by_vertical, cross(u, axpy(1.0, ARM, times(SPREAD, u))), T)
        put3(out, L.LOAD * i, F)
        put3(out, L.LOAD * i + 3, rotate_inverse(frame, T))


def trial_series(part, t, k, u, bodies, parameters, out):  # type: ignore[no-untyped-def]
    """The k-th Taylor coefficient of the torque that depends on the vertical only."""
    frame = get4(parameters, FRAME)
    T = cross(rotate(frame, get3(u, 3 * k)), ARM)
    for n in range(k + 1):
        T = axpy(1.0, cross(rotate(frame, get3(u, 3 * n)), times(SPREAD, rotate(frame, get3(u, 3 * (k - n))))), T)
    put3(out, 0, scale(parameters[TERMS + 4], rotate_inverse(frame, T)))


# ------------------------------------------------------------------ the problems
INERTIA = ((1.0, 1.6, 2.3), (0.9, 0.7, 1.1))
MASSES = (1.3, 0.8)
START = {
    "attitude": ((0.4, -0.7, 0.3), (-0.2, 0.5, 0.9)),
    "angular_momentum": ((0.8, -0.5, 1.1), (0.3, 0.6, -0.4)),
    "position": ((0.6, -0.4, 0.9), (-0.5, 0.7, 0.2)),
    "momentum": ((0.3, 0.5, -0.2), (-0.1, 0.2, 0.4)),
}
"""Initial values of both bodies; attitudes as rotation vectors (rad)."""

SWITCHES = ("time", "potential", "rate", "place")
"""Terms of the loads that can be combined."""
CONFIGURATION = ("time", "potential", "place")
"""Terms that depend on time and configuration only, not on velocities."""
VERTICAL = "vertical"  # the term that has a Taylor series; not combined with others
PULL = 0.25  # mu of the centre where there is one: both bodies would move about it on bound orbits


@cache
def _trial_system(
    loads: tuple[str, ...], turns: bool, moves: bool, bodies: int, frame: tuple[float, ...], attracted: bool
) -> System:
    """The system of the trial problem, once: what follows from its loads is derived once."""
    turned = np.array([np.abs(rotation.rotate_inverse(frame, moments)) for moments in INERTIA[:bodies]])
    return System(
        name="trial",
        arguments={"loads": list(loads)},
        mass=np.array(MASSES[:bodies]) if moves else np.full(bodies, np.inf),
        moments=turned if turns else np.full((bodies, 3), np.inf),
        frames=np.tile(np.asarray(frame, dtype=float), (bodies, 1)),
        loads=trial_loads,
        series=trial_series if bodies == 1 and set(loads) <= {VERTICAL} else None,
        parameters=np.array([PULL * attracted, *frame, *(float(name in loads) for name in (*SWITCHES, VERTICAL))]),
        provides=stated(velocity_independent="rate" not in loads, central_gravity=attracted),
    )


def trial_problem(
    *loads: str, turns: bool = True, moves: bool = False, bodies: int = 1,
    frame: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0), attracted: bool = False,
) -> tuple[System, Any]:  # fmt: skip
    """The trial problem with these load terms, and its initial state.

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
        in which the problem is stated. It must map axes to axes.
    attracted : bool
        A centre at the origin attracts bodies that move through space.

    Examples
    --------
    >>> import polhode as ph
    >>> system, y = ph.checks.trial_problem("time", "rate", moves=True, bodies=2)
    >>> system.N, y.shape
    (2, (26,))
    """
    system = _trial_system(loads, turns, moves, bodies, tuple(frame), attracted)
    given = [name for name in START if (moves if name in ("position", "momentum") else turns)]
    start: dict[str, Any] = {name: START[name][0] if bodies == 1 else START[name][:bodies] for name in given}
    if turns:
        start["attitude"] = rotation.exp_quaternion(start["attitude"])
    return system, start_state(system, **start)


def top_problem(chosen: MethodSpec | None = None) -> tuple[System, Any]:
    """A symmetric heavy top, tilted and rotating about all three axes, in a form the method can take.

    Parameters
    ----------
    chosen : MethodSpec, optional
        The method that is to take it.

    Examples
    --------
    >>> import polhode as ph
    >>> system, y = ph.checks.top_problem()
    >>> system.conserves
    ('energy', 'vertical_angular_momentum', 'axial_angular_momentum')
    """
    return suited(chosen, heavy_top((1.5, 1.5, 0.8), (0.0, 0.0, 1.0), 1.2))


def suited(chosen: MethodSpec | None, system: System, **start: Any) -> tuple[System, Any]:
    """A pinned body without force, and its initial state, in a form the method can take."""
    q = rotation.exp_quaternion(START["attitude"][0])
    start = {"attitude": q, "angular_momentum": START["angular_momentum"][0], **start}
    if chosen is not None and "central_gravity" in chosen.prepare().needs:
        system = replace(system, provides=system.provides | {"central_gravity"})
    if chosen is not None and needs_places(chosen):
        system = replace(system, mass=np.array(MASSES[:1]))
        start["position"] = START["position"][0]
    return system, start_state(system, **start)


def orbit_problem() -> tuple[System, Any]:
    """A point attracted by a centre, on an inclined orbit of eccentricity 0.66."""
    system = orbit(1.3, MASSES[0])
    return system, start_state(system, position=START["position"][0], momentum=START["momentum"][0])


def body_problem(chosen: MethodSpec) -> tuple[System, Any]:
    """The free body whose constants of motion are measured, in a form the method can take."""
    return suited(chosen, trial_problem()[0])


# ------------------------------------------------------------------ the problem that suits a method
def sums_series(chosen: MethodSpec) -> bool:
    """Whether the method sums Taylor series: accurate to round-off at steps that show the errors of others."""
    return chosen.prepare().made_for is not None


def needs_places(chosen: MethodSpec) -> bool:
    """Whether all bodies must move through space: the steps follow their distances from the origin."""
    return "translation" in chosen.prepare().needs


def problem_for(chosen: MethodSpec, *loads: str, bodies: int = 1) -> tuple[System, Any]:
    """The trial problem in a form the method can take: pinned bodies, points for a method that moves points only, an
    orbit for one that solves a central attraction only, bodies in space for one that follows places."""
    needs = chosen.prepare().needs
    if "only_central_gravity" in needs:
        return orbit_problem()
    points, attracted = "points" in needs, "central_gravity" in needs
    moves = points or attracted or needs_places(chosen)
    return trial_problem(*loads, turns=not points, moves=moves, bodies=bodies, attracted=attracted)


# ------------------------------------------------------------------ the problems on which orders are measured
ORDER_SPAN = 2.0
"""Time over which orders are measured: the leading term of the error dominates, for methods of orders 1 to 8."""
LONG_SPAN = 5.0
"""The same for orders above 24: in fewer steps than for a shorter time, errors fall from too large to round-off."""
FREE_SPAN = 8.0  # the same for a free body, where errors are smaller

ORDER_PROBLEMS = {
    "order, pinned body": (True, False, 1, 0.9),
    "order, particle": (False, True, 1, 1.7),
    "order, body in space": (True, True, 1, 1.7),
    "order, two coupled bodies": (True, True, 2, 1.7),
}
"""By the name of the line in the report: whether bodies rotate, whether they translate, how many; initial time."""

POINT_PROBLEMS = {"order, particle": (False, True, 1, 1.7), "order, two coupled particles": (False, True, 2, 1.7)}
"""Order problems for methods that move points only."""

SPACE_PROBLEMS = ("order, particle", "order, body in space", "order, two coupled bodies")
"""Order problems for methods whose steps follow places."""

SERIES_PROBLEM = "order, pinned body"
"""The problem on which a method that sums series is measured under a torque that has a series of its own."""


@cache
def order_problem(
    what: str, *loads: str, attracted: bool = False, span: float = ORDER_SPAN
) -> tuple[System, Any, Any, float]:
    """System, initial state, state after ``span`` and initial time of the problem of this name, under these loads."""
    turns, moves, bodies, t = {**ORDER_PROBLEMS, **POINT_PROBLEMS}[what]
    system, y = trial_problem(*loads, turns=turns, moves=moves, bodies=bodies, attracted=attracted)
    return system, y, exact_state(system, y, t, span), t


@cache
def free_problem(moves: bool = False, attracted: bool = False) -> tuple[System, Any, Any, float]:
    """System, initial state, exact end state and initial time of two free bodies; their centres of mass are fixed, or
    move uniformly."""
    system, y = trial_problem(bodies=2, moves=moves, attracted=attracted)
    return system, y, exact_state(system, y, 0.0, FREE_SPAN), 0.0
