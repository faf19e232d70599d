"""Measurements on a system: are its loads, potential, works, series and conserved quantities consistent?

Each function returns a number (zero, or round-off, for a correct system) or a description of what is wrong, which is
judged in ``polhode.checks.system``. Unless said otherwise ``y`` is a state (13 N numbers and
the auxiliary variables) and ``t`` the time at which loads and potential are evaluated.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isnan, nan
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array
from polhode.checks.loads import at_rest, energies, load_array, load_caller, loads_at, velocities
from polhode.checks.steps import central_difference, difference_shifts, recorded_states, shifted, state_distance
from polhode.errors import PolhodeError
from polhode.kernel import layout as L
from polhode.systems import System
from polhode.trajectory.build import Rows, dataset

BEHIND = 64  # how many numbers behind the parameters are looked at


# ------------------------------------------------------------------ what a load function may do
def load_defect(system: System, y: Array, t: float = 0.3, part: int = L.ALL) -> str:
    """What is wrong with the way the loads are written, in words; empty when nothing is.

    The function must write all numbers of this part of the loads and no others, also behind its arguments, not change
    these, and return the same numbers when called again.
    """
    N, call, role = system.N, load_caller(part), system.compiled_loads(t, y)
    guard, size = 4, L.LOAD * N + len(system.auxiliary)
    out = np.full(size + guard, np.nan)
    own = system.with_memory
    state, bodies, parameters = np.array(y), system.bodies, np.concatenate([own, np.full(BEHIND, np.nan)])
    call(role, t, N, state, bodies, parameters, out)
    wrong = []
    for i, load in enumerate(out[: L.LOAD * N].reshape(N, L.LOAD)):
        moves, turns = np.isfinite(system.mass[i]), np.isfinite(system.moments[i]).any()
        if not (np.isfinite(load[: 3 * moves]).all() and np.isfinite(load[3 : 3 + 3 * turns]).all()):
            wrong.append(f"the load of body {i} is not written, or not finite: {load.tolist()}")
    if part < L.COMMUTATOR and not np.isfinite(out[L.LOAD * N : size]).all():
        wrong.append(f"rates of own numbers are not written, or not finite: {out[L.LOAD * N : size].tolist()}")
    if not np.isnan(out[size:]).all():
        wrong.append(f"writes beyond its {size} numbers")
    if not np.isnan(parameters[len(own) :]).all():
        wrong.append(f"writes behind the {len(own)} parameters")
    if not (np.array_equal(state, y) and np.array_equal(parameters[: len(system.parameters)], system.parameters)):
        wrong.append("changes its arguments")
    again = np.full(size + guard, np.nan)
    call(role, t, N, state, bodies, parameters, again)
    if not np.array_equal(out, again, equal_nan=True):
        wrong.append("gives other numbers when called again")
    return "; ".join(wrong)


def velocity_defect(system: System, y: Array, t: float = 0.3) -> float:
    """Largest change of any load when the bodies stop, relative to the largest load."""
    count = L.LOAD * system.N
    moving, resting = loads_at(system, y, t)[:count], loads_at(system, y, t, state=at_rest(system, y))[:count]
    return float(np.abs(moving - resting).max() / (np.abs([moving, resting]).max() or 1.0))


def parts_defect(system: System, y: Array, t: float = 0.3) -> float:
    """Error of the sum of the parts of divided loads, and change by velocities of the parts that must not see them."""
    N, rest = system.N, at_rest(system, y)
    bits = (L.ATTRACTION, L.POTENTIAL_PART, L.RESTING, L.MOVING)
    parts = [loads_at(system, y, t, asked=bit) for bit in bits]
    pairs = []
    for whole in (L.ALL, L.WITHOUT_SOLVED, L.DISSIPATIVE, L.ALL & ~L.MOVING):
        together = np.sum([load for load, bit in zip(parts, bits, strict=True) if whole & bit], axis=0)
        pairs.append((loads_at(system, y, t, asked=whole), together))
    for load, bit in zip(parts, bits, strict=True):
        if bit != L.MOVING:
            pairs.append((load, loads_at(system, y, t, state=rest, asked=bit)))
    worst = 0.0
    for here in (slice(0, L.LOAD * N), slice(L.LOAD * N, None)):
        size = max([float(np.abs(a[here]).max(initial=0.0)) for a, _ in pairs]) or 1.0
        worst = max([worst, *(float(np.abs(a[here] - b[here]).max(initial=0.0)) / size for a, b in pairs)])
    return worst


# ------------------------------------------------------------------ loads and energy
def gradient_defect(system: System, y: Array, t: float = 0.3) -> float:
    """Largest difference between the loads on bodies at rest and minus the derivative of the potential.

    Central differences of order 8, in rotations about body axes and in positions. Relative to the size of the loads, or
    to 1e9 times the round-off of the potential in the differences where this is more; NaN where it is smooth nowhere.
    """
    rest = at_rest(system, y)
    return _derivative_defect(system, rest, -loads_at(system, y, t, state=rest), lambda rows: energies(system, rows))


def power_defect(system: System, y: Array, t: float = 0.3) -> float:
    """Power of the velocity-dependent part of the loads, relative to the power of all loads."""
    count = L.LOAD * system.N
    moving, resting = loads_at(system, y, t)[:count], loads_at(system, y, t, state=at_rest(system, y))[:count]
    rates = np.concatenate(velocities(system, y), axis=1).ravel()
    return abs(float(rates @ (moving - resting))) / (float(np.abs(rates) @ np.abs(moving)) or 1.0)


def balance_defect(system: System, y: Array, t: float = 0.3) -> float:
    """Difference between the rate of the energy along the motion and the sum of the rates of works, over the powers."""
    N, load = system.N, loads_at(system, y, t)
    v, w = velocities(system, y)
    powers = np.concatenate([v, w], axis=1).ravel() * load[: L.LOAD * N]
    work_columns = [k for k, own in enumerate(system.auxiliary) if own.quantity == "work"]
    rates = load[[L.LOAD * N + k for k in work_columns]]
    slope, noise = 0.0, 0.0
    if system.compiled_potential(t, np.array(y)) is not None:
        positions = np.reshape(y[: L.BODY * N], (N, L.BODY))[:, :3]
        step = 0.01 / max(1e-9, float(np.abs(v).max(initial=0.0) / max(1e-9, float(np.linalg.norm(positions)))),
                          float(np.abs(w).max(initial=0.0)))  # fmt: skip

        def along_the_motion(shifts: Array) -> Array:
            rows = np.tile(np.array(y[: L.BODY * N]), (len(shifts), 1))
            for row, shift in zip(rows.reshape(-1, N, L.BODY), shifts, strict=True):
                row[:, L.POSITION : L.MOMENTUM] += shift * v
                row[:, L.ATTITUDE : L.ANGULAR] = rotation.multiply(
                    row[:, L.ATTITUDE : L.ANGULAR], rotation.exp_quaternion(shift * w)
                )
            return system.potential_energies(rows, t + np.array(shifts))

        slope, noise = _smooth_slope(along_the_motion, step, float(np.abs(powers).max(initial=0.0)))
    size = float(np.abs(powers).max(initial=0.0)) + abs(slope)
    return abs(float(powers.sum()) + slope - float(rates.sum())) / max(size, 1e9 * noise, 1e-300)


def commutator_defect(system: System, y: Array, t: float = 0.3, part: int = L.ALL) -> float:
    """Largest difference between the commutator load and the derivative of F . M^-1 F, where F are the other loads, all
    or those WITHOUT_SOLVED."""
    N, role, call = system.N, system.compiled_loads(t, y), load_caller(part)
    rest = at_rest(system, y)
    asked = L.COMMUTATOR if part == L.ALL else L.COMMUTATOR_OF_REST
    load = loads_at(system, y, t, state=rest, asked=asked)
    inverse = system.constants_of_bodies[:, [*[L.INVERSE_MASS] * 3, *range(L.INVERSE_INERTIA, L.CONSTANTS)]].ravel()

    def squares_of_loads(rows: Array) -> Array:
        found, F = [], load_array(system)
        for row in rows:
            call(role, t, N, row, system.bodies, system.with_memory, F)
            found.append(inverse @ F[: L.LOAD * N] ** 2)
        return np.array(found)

    return _derivative_defect(system, rest, load, squares_of_loads)


def _derivative_defect(system: System, y: Array, stated: Array, function: Callable[[Any], Any]) -> float:
    """Largest difference between stated derivatives (6 N) of a function of states and differences of order 8."""
    blocks = system.blocks.reshape(-1, 2)
    largest, noise, expected, scale = nan, 0.0, 0.0, float(np.abs(stated[: L.LOAD * system.N]).max(initial=0.0))
    for k, (i, kind) in enumerate(blocks):
        size = 0.01
        if kind != L.ROTATION:
            size *= max(0.1, min(float(np.linalg.norm(y[L.BODY * i : L.BODY * i + 3])), _nearest(system, y, i)))
        for c in range(3):

            def along(shifts: Array, coordinate: int = 6 * k + c) -> Array:
                return function(np.array([shifted(y, blocks, coordinate, shift) for shift in shifts]))

            slope, rounded = _smooth_slope(along, size, scale)
            if isnan(slope):
                continue
            found = stated[L.LOAD * i + (3 if kind == L.ROTATION else 0) + c]
            largest = float(np.fmax(largest, abs(found - slope)))
            expected, noise = max(expected, abs(slope), abs(found)), max(noise, rounded)
    return float(largest / max(expected, 1e9 * noise, 1e-300))


SHORTER, SHORTENED = 4.0, 6
"""By how much, and how often, the points of a difference are moved together until no kink is among them."""
SMOOTH = 1e-8  # relative change of a difference with its points, above which there is a kink among them


def _smooth_slope(function: Callable[[Any], Any], size: float, scale: float) -> tuple[float, float]:
    """The derivative of a function of shifts at zero, by central differences of order 8, and the round-off in it.

    The points are those of the first size at which points closer by find the same. NaN where there is none: the
    function has a kink there. ``scale`` is a size of derivatives to which differences are compared.
    """
    before: tuple[float, float] | None = None
    for _ in range(SHORTENED):
        values = function(difference_shifts(size))
        slope, noise = float(central_difference(values, size)), 2e-15 * float(np.abs(values).max()) / size
        if before and abs(slope - before[0]) <= SMOOTH * max(scale, abs(slope), abs(before[0]), 1e9 * noise):
            return before
        before, size = (slope, noise), size / SHORTER
    return nan, 0.0


def _nearest(system: System, y: Array, i: int) -> float:
    """Distance from body i to the nearest other one, nearest images in a box; infinite where there is none."""
    r = np.reshape(y[: L.BODY * system.N], (system.N, L.BODY))[:, L.POSITION : L.MOMENTUM]
    d = np.delete(r, i, axis=0) - r[i]
    if system.box is not None:
        d -= system.box * np.rint(d / system.box)
    return float(np.sqrt((d * d).sum(axis=1)).min(initial=inf))


# ------------------------------------------------------------------ the Taylor series of a torque
ANGLES = (5.0, 2.5, 1.2, 0.6, 0.3, 0.15, 0.07, 0.03)
"""Rotation angles (rad) at which the series of a torque is summed; only those at which it has converged count."""


def series_defect(system: System, y: Array, t: float = 0.3) -> float:
    """Largest difference between the loads along a uniform rotation of the body and the sum of the torque's series.

    Also the largest difference between the torques before and after a rotation of space about the vertical, and the
    largest force, which must be zero. Relative to the largest torque; infinite where the series converges at no angle.
    """
    role, call = system.compiled_loads(t, y), load_caller()
    memory, coefficients, load = np.zeros(L.SERIES_SIZE), np.zeros((L.SERIES_ROW - 1, 3)), np.zeros(L.LOAD)
    q, axis = np.array(y[L.ATTITUDE : L.ANGULAR]), np.array((0.48, -0.6, 0.64))
    memory[:3] = rotation.rotate_inverse(q, (0.0, 0.0, 1.0))
    for k in range(len(coefficients)):
        load_caller(L.SERIES)(role, t, k, memory, system.bodies, system.with_memory, load)
        coefficients[k] = load[:3]
        memory[3 * k + 3 : 3 * k + 6] = np.cross(memory[3 * k : 3 * k + 3], axis) / (k + 1)

    def torque_and_force(attitude: Array) -> tuple[Array, float]:
        state = np.array(y)
        state[L.ATTITUDE : L.ANGULAR] = attitude
        call(role, t, 1, state, system.bodies, system.with_memory, load)
        return load[3:].copy(), float(np.abs(load[:3]).max()) if np.isfinite(system.mass[0]) else 0.0

    largest, size, converged = 0.0, 0.0, 0
    for angle in (sign * a for a in ANGLES for sign in (1.0, -1.0)):
        terms = coefficients * angle ** np.arange(len(coefficients))[:, None]
        torque, force = torque_and_force(rotation.multiply(q, rotation.exp_quaternion(angle * axis)))
        scale = float(np.abs(torque).max())
        if np.abs(terms[-3:]).max() <= 1e-11 * scale or not coefficients.any():
            converged += 1
            largest, size = max(largest, force, float(np.abs(terms.sum(axis=0) - torque).max())), max(size, scale)
    about_the_vertical, _ = torque_and_force(rotation.multiply(rotation.exp_quaternion((0.0, 0.0, 1.0)), q))
    largest = max(largest, float(np.abs(about_the_vertical - torque_and_force(q)[0]).max()))
    return largest / (size or 1.0) if converged else inf


# ------------------------------------------------------------------ conserved quantities
MOST_STEPS = 4096  # most steps of a run along which conserved quantities are followed
CONFIRMED = 1e-12  # drift above which a run is taken again, a little further and with shorter steps


def conservation_drifts(
    system: System, y: Array, t: float = 0.0, span: float | None = None, method: str = "mkrk:gauss8"
) -> dict[str, float]:
    """Drift of each quantity a system declares, along a run of high order whose step is halved until it converges.

    Relative to the size of the quantity's parts: angular momentum, momentum, and of the energy what there is of it to
    exchange (``trajectory.energies``), as far as the change is more than rounding of the energy, or of the momentum of
    which a component is kept. The span is, unless given, the time in which the fastest body turns by two radians, and
    at most 2; or a shorter one, in which the loads meet no kink. Empty where 4096 steps are not enough.
    """
    rates = np.linalg.norm(velocities(system, y)[1], axis=1)
    spans = [2.0 / max(1.0, float(rates.max())) / SHORTER**k for k in range(SHORTENED)] if span is None else [span]
    found: dict[str, float] = {}
    for span in spans:
        states = _accurate_states(system, y, t, span, method)
        found = {} if states is None else _drifts(system, t, span, states)
        if max(found.values(), default=0.0) > CONFIRMED:  # as a kink looks that all steps have missed, or at the end
            states = _accurate_states(system, y, t, 1.05 * span, method, MOST_STEPS // 2)
            found = {} if states is None else _drifts(system, t, 1.05 * span, states)
        if found:
            break
    return found


def _drifts(system: System, t: float, span: float, states: Array) -> dict[str, float]:
    """Drift of each quantity along a run; see ``conservation_drifts``."""
    n = len(states) - 1
    rows = Rows(t + span / n * np.arange(n + 1, dtype=float), states, np.zeros(n + 1, dtype=np.int64))
    ds = dataset(system, rows, system.compiled_potential(t, states[0]), {})
    found: dict[str, float] = {}
    for name in system.conserves:
        values = ds[name].values.sum(axis=1) if "body" in ds[name].dims else ds[name].values
        size, change = np.abs(values).max(), np.abs(values - values[0]).max()
        if name in ("energy", "axial_angular_momentum"):
            whole = size if name == "energy" else np.abs(ds.angular_momentum.values).max()
            change = max(0.0, change - 16.0 * np.finfo(float).eps * whole)
        if name == "energy":
            size = ds.kinetic_energy.values.max()
            if "potential_energy" in ds:
                size += np.abs(ds.potential_energy.values - ds.potential_energy.values[0]).max()
        found[name] = float(change / (size or 1.0))
    return found


def _accurate_states(system: System, y: Array, t: float, span: float, method: str, n: int = 32) -> Array | None:
    """The states of a run whose step is halved until it converges; None where 4096 steps fail, or cross a kink."""
    before, width = None, L.BODY * system.N + len(system.auxiliary)
    start = np.concatenate([y[:width], np.zeros(width - len(y[:width]))])
    changes: list[float] = []
    while n <= MOST_STEPS:
        try:
            states = np.concatenate([[start], recorded_states(method, system, y, t, span / n, [n], 1)[:, :width]])
        except PolhodeError:  # the steps are still too large
            states = None
        if states is not None and before is not None:
            changes.append(state_distance(states[-1], before[-1], system))
            if changes[-1] < 1e-12:
                return states
            if len(changes) > 2 and changes[-3] < 1e-2 and changes[-1] > 0.01 * changes[-3]:
                return None
        n, before = 2 * n, states
    return None
