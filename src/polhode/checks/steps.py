"""Single steps of a method, a reference solution, and the distance between two states.

A state is the flat array of 13 numbers per body that ``polhode.kernel.signatures`` describes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import numpy as np
from scipy.integrate import DOP853
from scipy.optimize import brentq

from polhode.algebra import rotation
from polhode.arguments import Array, Indices
from polhode.checks.loads import load_array, load_caller
from polhode.errors import StepFailed
from polhode.kernel import layout as L
from polhode.methods import Method, MethodSpec, method as find_method
from polhode.runs.integrator import Integrator
from polhode.systems import System

AnyMethod = str | Method | MethodSpec


# ------------------------------------------------------------------ steps
def trial_form(method: AnyMethod, **options: str) -> MethodSpec:
    """The method with trial values for options that have no default (a heat bath that does nothing)."""
    return find_method(method, **options).with_trials


def stepper(method: AnyMethod, system: System, y: Array) -> Callable[..., Any]:
    """A function ``take_steps(y, t, h, n=1) -> state`` that takes n steps of a method; ``y`` is not changed.

    Parameters
    ----------
    method : str, Method or MethodSpec
        The method to step with.
    system : System
        The system to step.
    y : array (13 N)
        Any state of the system; a user's functions are tried out on it.

    Raises
    ------
    StepFailed
        Raised by ``take_steps``: a step does not converge, is too large, or its result is not finite.

    Notes
    -----
    Of a method with a time transformation the steps are nominal, and the state returned is followed by the time
    variables, so that a further step goes on with them; for the state at a given time see ``traveller``.

    Examples
    --------
    >>> import polhode as ph
    >>> system, y = ph.checks.trial_problem("potential")
    >>> take_steps = ph.checks.stepper("v2", system, y)
    >>> there = take_steps(y, 0.0, 0.1, 10)
    >>> bool(ph.checks.state_distance(take_steps(there, 1.0, -0.1, 10), y, system) < 1e-12)
    True
    """
    integrator = Integrator(system, trial_form(method), y)

    def take_steps(y: Array, t: float, h: float, n: int = 1) -> Array:
        _restart(integrator, y, t)
        _require_ok(integrator, integrator.prepare(t, h), h, 0, t)
        _require_ok(integrator, integrator.march(0, n, n + 1, t, h), h, 0, t)
        status, end = integrator.present(t + n * h, h)
        _require_ok(integrator, status, h, 0, t)
        return end if integrator.prepared.step_density else end[: L.BODY * system.N]

    return take_steps


def traveller(method: AnyMethod, system: System, y: Array) -> Callable[..., Any]:
    """A function ``travel(y, t, span, n) -> state`` that gives the state a time ``span`` after t, in n equal steps."""
    integrator = Integrator(system, trial_form(method), y)
    if not integrator.prepared.step_density:
        take_steps = stepper(method, system, y)
        return lambda y, t, span, n: take_steps(y, t, span / n, n)

    def after(before: Array, h: float) -> Array:
        """The state after one nominal step; ``before`` is not changed."""
        after = before.copy()
        status = integrator.march_time_transformed(0, 1, 2, h, inf * h, y=after, kept=before.copy())
        _require_ok(integrator, status, h, 0, before[time_at])
        return after

    def travel(y: Array, t: float, span: float, n: int) -> Array:
        _restart(integrator, y, t)
        h, most = span / n, MOST_STEPS * n
        status = integrator.march_time_transformed(0, most, most + 1, h, t + span)
        if status != L.PASSED:
            _require_ok(integrator, status, h, 0, t)
            raise StepFailed(f"{most} steps of {integrator.chosen.label!r} do not last {span:g}", step=most, time=t)
        before = integrator.kept.copy()

        def late(part: float) -> float:
            state = after(before, part * h) if part else before
            return float((state[time_at] - (t + span)) + state[time_at + 1])

        part = brentq(late, 0.0, 1.0, xtol=1e-16, rtol=4 * float(np.finfo(float).eps))
        return (after(before, part * h) if part else before)[: L.BODY * system.N]

    time_at = int(integrator.step_info[L.TIME_AT])
    return travel


MOST_STEPS = 1000
"""Most steps of a time transformation, in units of those that there would be if all had the size of the first one."""


def _restart(integrator: Integrator, y: Array, t: float) -> None:
    """Put in a state; time variables that are not in it begin at the time t."""
    integrator.restart(y)
    if integrator.prepared.step_density:
        time_at = int(integrator.step_info[L.TIME_AT])
        if integrator.y[time_at + 2] == 0.0:
            integrator.y[time_at] = t


def recorded_states(
    method: AnyMethod, system: System, y: Array, t: float, h: float, slices: Sequence[int], every: int
) -> Array:
    """States after every ``every`` steps of a run cut into slices of these lengths, each with new scratch arrays."""
    integrator = Integrator(system, trial_form(method), y)
    _require_ok(integrator, integrator.prepare(t, h), h, 0, t)
    state, first, recorded = integrator.y, 0, []
    for n in slices:
        integrator = Integrator(system, trial_form(method), state)
        count = (first + n) // every - first // every
        rows = np.empty((count, integrator.y.size))
        status = integrator.march(first, n, every, t, h, rows, np.zeros(count, dtype=np.int64))
        _require_ok(integrator, status, h, first, t)
        recorded.append(rows)
        state, first = integrator.y, first + n
    return np.concatenate(recorded)


def _require_ok(integrator: Integrator, status: int, h: float, first: int, t0: float) -> None:
    if status != L.OK:
        label = integrator.chosen.label
        raise StepFailed(f"a step of {label!r} with h = {h:g} failed: status {status}", step=first, time=t0)


# ------------------------------------------------------------------ the exact motion
def exact_state(system: System, y: Array, t: float, span: float) -> Array:
    """The state a time ``span`` after t, by SciPy's DOP853 at its tightest tolerance.

    An independent reference, which shares only the loads with the methods. The quaternion is integrated as four numbers
    and normalised at the end; relative error about 1e-13 for spans of a few turns.

    Parameters
    ----------
    system : System
        What moves.
    y : array (13 N)
        The state at the time t.
    t, span : float
        Time of y, and how much later the state is wanted.

    Examples
    --------
    >>> import polhode as ph
    >>> system, y = ph.checks.trial_problem("potential")
    >>> end = ph.checks.exact_state(system, y, 0.0, 1.0)
    >>> found = ph.checks.stepper("mkrk:gauss6", system, y)(y, 0.0, 0.05, 20)
    >>> bool(ph.checks.state_distance(found, end, system) < 1e-7)
    True
    """
    N, bodies, loads, call = system.N, system.bodies, system.compiled_loads(t, y), load_caller()
    constants = system.constants_of_bodies
    state, load = np.empty(L.BODY * N), load_array(system)

    def derivative(t: float, z: Array) -> Array:
        state[:] = z
        call(loads, t, N, state, bodies, system.with_memory, load)
        b, f = state.reshape(N, L.BODY), load[: L.LOAD * N].reshape(N, L.LOAD)
        w = b[:, L.ANGULAR :] * constants[:, L.INVERSE_INERTIA :]
        d = np.empty((N, L.BODY))
        d[:, L.POSITION : L.MOMENTUM] = b[:, L.MOMENTUM : L.ATTITUDE] * constants[:, L.INVERSE_MASS, None]
        d[:, L.MOMENTUM : L.ATTITUDE] = np.where(constants[:, L.INVERSE_MASS, None] > 0, f[:, :3], 0.0)
        q = b[:, L.ATTITUDE : L.ANGULAR]
        d[:, L.ATTITUDE] = -0.5 * (q[:, 1:] * w).sum(axis=1)
        d[:, L.ATTITUDE + 1 : L.ANGULAR] = 0.5 * (q[:, :1] * w + np.cross(q[:, 1:], w))
        turns = constants[:, L.INVERSE_INERTIA :].any(axis=1, keepdims=True)
        d[:, L.ANGULAR :] = np.where(turns, np.cross(b[:, L.ANGULAR :], w) + f[:, 3:], 0.0)
        return d.ravel()

    solver = DOP853(derivative, t, np.array(y, dtype=float), t + span, rtol=1e-13, atol=1e-15)
    while solver.status == "running":
        solver.step()
    end = np.array(solver.y)
    for i in range(N):
        q = end[L.BODY * i + L.ATTITUDE : L.BODY * i + L.ANGULAR]
        q /= np.linalg.norm(q)
    return end


# ------------------------------------------------------------------ states and their differences
def state_distance(a: Array, b: Array, system: System) -> float:
    """Largest difference between two states of a system, over all blocks that can move.

    For attitudes the angle between them (rad), for vectors the length of their difference relative to the length of
    b's vector, or to 1 where that is shorter. Infinite where a is not finite.

    Parameters
    ----------
    a, b : array (13 N)
        The states.
    system : System
        For what can move.

    Examples
    --------
    >>> import polhode as ph
    >>> system, y = ph.checks.trial_problem("potential")
    >>> step = ph.checks.stepper("v2", system, y)
    >>> round(ph.checks.state_distance(step(y, 0.0, 0.1), step(y, 0.0, 0.05, 2), system), 4)
    0.0001
    """
    if not np.isfinite(a).all() or np.abs(a).max() > 1e150:
        return inf
    largest = 0.0
    for i, kind in system.blocks.reshape(-1, 2):
        x, z = a[L.BODY * i : L.BODY * (i + 1)], b[L.BODY * i : L.BODY * (i + 1)]
        vectors = [slice(L.POSITION, L.MOMENTUM), slice(L.MOMENTUM, L.ATTITUDE)]
        if kind == L.ROTATION:
            between = rotation.multiply(rotation.conjugate(z[L.ATTITUDE : L.ANGULAR]), x[L.ATTITUDE : L.ANGULAR])
            largest = max(largest, 2.0 * float(np.linalg.norm(between[1:])))
            vectors = [slice(L.ANGULAR, L.BODY)]
        for vector in vectors:
            size = max(1.0, float(np.linalg.norm(z[vector])))
            largest = max(largest, float(np.linalg.norm(x[vector] - z[vector])) / size)
    return largest


def shifted(y: Array, blocks: Indices, coordinate: int, amount: float) -> Array:
    """The state moved along one of its 6 coordinates per block."""
    moved = np.array(y, dtype=float)
    (i, kind), k = blocks[coordinate // 6], coordinate % 6
    if kind != L.ROTATION:
        moved[L.BODY * i + k] += amount
    elif k >= 3:
        moved[L.BODY * i + L.ANGULAR + k - 3] += amount
    else:
        q = slice(L.BODY * i + L.ATTITUDE, L.BODY * i + L.ANGULAR)
        moved[q] = rotation.multiply(moved[q], rotation.exp_quaternion(amount * np.eye(3)[k]))
    return moved


DIFFERENCE_WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
"""Weights of f(nh) - f(-nh), n = 1 to 4, in a central difference of order 8."""


def difference_shifts(size: float) -> list[float]:
    """Points at which a central difference of order 8 evaluates: h, -h, 2h, -2h, 3h, -3h, 4h, -4h for h = ``size``."""
    return [sign * (n + 1) * size for n in range(4) for sign in (1.0, -1.0)]


def central_difference(values: Array, size: float) -> Any:
    """The derivative, of order 8, from the values at ``difference_shifts(size)``."""
    return sum(weight * (values[2 * n] - values[2 * n + 1]) for n, weight in enumerate(DIFFERENCE_WEIGHTS)) / size
