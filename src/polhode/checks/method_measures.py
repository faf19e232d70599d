"""Measurements on a method: order, time symmetry, conserved quantities, symplecticity, influence of slicing and axes.

Each function returns numbers; whether they are good enough is judged in ``polhode.checks.method``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log, nan
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array, Indices
from polhode.bodies.inertia import principal
from polhode.checks import steps as stepping
from polhode.checks.loads import energies, load_array, load_caller
from polhode.checks.problems import ORDER_SPAN, START, SWITCHES, suited, trial_problem
from polhode.checks.steps import AnyMethod, recorded_states, shifted, state_distance, stepper, trial_form
from polhode.errors import PolhodeError
from polhode.kernel import layout as L
from polhode.systems import System, heavy_top


# ------------------------------------------------------------------ order
@dataclass(frozen=True)
class ConvergenceTable:
    """Errors at smaller and smaller steps.

    Attributes
    ----------
    steps : tuple of int
        Numbers of steps over the span.
    errors : tuple of float
        Error at the end for each; infinite where the method failed.
    order : float
        Slope between the two finest usable errors whose steps differ by a factor of two; NaN when there are none.
    fitted : float
        Slope of a line through all usable errors; NaN when there are fewer than three.

    An error is usable when it lies between round-off (3e-12) and divergence (0.05).
    """

    steps: tuple[int, ...]
    errors: tuple[float, ...]
    order: float
    fitted: float


STEP_COUNTS = tuple(n for k in range(1, 12) for n in (2**k, 3 * 2 ** (k - 1)))
"""2, 3, 4, 6, 8, 12, ... 2048, 3072 steps over the span."""
HIGH_ORDER = 20  # errors of a higher order reach round-off too soon for these numbers of steps
SMALLEST_ERROR, LARGEST_ERROR = 3e-12, 0.05
"""Errors between round-off and divergence, from which orders are computed."""


def measure_order(
    method: AnyMethod, system: System, y: Array, end: Array, t: float, span: float = ORDER_SPAN
) -> ConvergenceTable:
    """Order of a method on a problem whose exact end state is known.

    The errors are those at the time ``t + span``, also of a method with a time transformation, whose steps are nominal.
    The number of steps grows (2, 3, 4, 6, 8, 12, ...; of an order above 20 one by one) until the error reaches
    round-off.

    Parameters
    ----------
    method : str, Method or MethodSpec
        The method.
    system : System
        What moves.
    y, end : array (13 N)
        The states at the times t and t + span.
    t, span : float
        Start of the problem, and its length.

    Examples
    --------
    >>> import polhode as ph
    >>> system, y = ph.checks.trial_problem("potential")
    >>> end = ph.checks.exact_state(system, y, 0.0, 1.0)
    >>> round(ph.checks.measure_order("v2", system, y, end, 0.0, 1.0).order, 1)
    2.0
    """
    counts = STEP_COUNTS if trial_form(method).promises.order <= HIGH_ORDER else range(2, STEP_COUNTS[-1])
    travel = stepping.traveller(method, system, y)
    steps: list[int] = []
    errors: list[float] = []
    for n in counts:
        try:
            error = state_distance(travel(y, t, span, n), end, system)
        except PolhodeError:  # the step is too large for an implicit solve, or for a chart
            error = inf
        steps.append(n)
        errors.append(error)
        if error < SMALLEST_ERROR:
            break
    slopes = [
        log(errors[k] / errors[k + 2]) / log(steps[k + 2] / steps[k])
        for k in range(len(steps) - 2)
        if errors[k] < LARGEST_ERROR and errors[k + 2] > SMALLEST_ERROR
    ]
    usable = [
        (log(n), -log(error)) for n, error in zip(steps, errors, strict=True) if SMALLEST_ERROR < error < LARGEST_ERROR
    ]
    log_steps, log_errors = np.transpose(usable) if usable else (np.zeros(0), np.zeros(0))
    fitted = float(np.polyfit(log_steps, log_errors, 1)[0]) if len(usable) > 2 else nan
    return ConvergenceTable(tuple(steps), tuple(errors), slopes[-1] if slopes else nan, fitted)


def symmetry_defect(method: AnyMethod, system: System, y: Array, t: float = 0.3, h: float = 0.4) -> float:
    """Distance from the initial state after a step of h and a step of -h; zero for a time-symmetric method.

    Parameters
    ----------
    method : str, Method or MethodSpec
        The method.
    system : System
        What moves.
    y : array (13 N)
        The state at the time t.
    t, h : float
        Time of y, and the step.

    Examples
    --------
    >>> import polhode as ph
    >>> system, y = ph.checks.trial_problem("potential")
    >>> [bool(ph.checks.symmetry_defect(method, system, y) < 1e-13) for method in ("v2", "mkrk:rk4")]
    [True, False]
    """
    take_steps = stepper(method, system, y)
    return state_distance(take_steps(take_steps(y, t, h), t + h, -h), y, system)


# ------------------------------------------------------------------ what is kept
QUANTITIES = ("energy", "midpoint_energy", "momentum_length", "spatial_momentum", "vertical_momentum", "axial_momentum")
"""The names a row may use in ``keeps_free`` and ``keeps_top``."""


def quantities(system: System, states: Array, h: float) -> dict[str, Any]:
    """The six ``QUANTITIES`` along states of one pinned body, each of shape (n,) or (n, 3).

    The potential, where there is one, is the system's own; the midpoint energy is that of the state pushed half a
    step of h by forward Euler in rate form.

    Parameters
    ----------
    system : System
        Of one pinned body.
    states : array (n, 13)
        The states.
    h : float
        The step.

    Examples
    --------
    >>> import numpy as np, polhode as ph
    >>> system, y = ph.checks.top_problem()
    >>> found = ph.checks.quantities(system, np.array([y, y]), 0.1)
    >>> found["energy"].shape, found["spatial_momentum"].shape
    ((2,), (2, 3))
    """
    q, m = states[:, L.ATTITUDE : L.ANGULAR], states[:, L.ANGULAR : L.BODY]
    inverse = system.bodies[L.INVERSE_INERTIA : L.CONSTANTS]
    loads, call, load = system.compiled_loads(0.0, states[0]), load_caller(), load_array(system)
    pushed = states.copy()
    for k, y in enumerate(states):
        call(loads, 0.0, 1, y, system.bodies, system.with_memory, load)
        pushed[k, L.ANGULAR : L.BODY] += 0.5 * h * (np.cross(m[k], inverse * m[k]) + load[3 : L.LOAD])
    pushed[:, L.ATTITUDE : L.ANGULAR] = rotation.multiply(q, rotation.exp_quaternion(0.5 * h * inverse * m))
    spatial = rotation.rotate(q, m)
    axis = system.axis if system.axis is not None else (0.0, 0.0, 1.0)
    return {
        "energy": energies(system, states),
        "midpoint_energy": energies(system, pushed),
        "momentum_length": np.linalg.norm(m, axis=1),
        "spatial_momentum": spatial,
        "vertical_momentum": spatial[:, 2],
        "axial_momentum": m @ np.asarray(axis),
    }


def drifts(method: AnyMethod, system: System, y: Array, h: float = 0.25, steps: int = 120) -> dict[str, float]:
    """Largest change of each quantity along a run of one pinned body, relative to its size at the start or 1.

    Parameters
    ----------
    method : str, Method or MethodSpec
        The method.
    system : System
        Of one pinned body.
    y : array (13,)
        The state at the time 0.
    h : float
        The step.
    steps : int
        Their number.

    Examples
    --------
    >>> import polhode as ph
    >>> system, y = ph.checks.top_problem()
    >>> changes = ph.checks.drifts("v2", system, y)
    >>> [name for name, change in changes.items() if change < 1e-11]
    ['vertical_momentum', 'axial_momentum']
    """
    take_steps = stepper(method, system, y)
    states, state = [np.array(y, dtype=float)], y
    for k in range(steps):
        state = take_steps(state, k * h, h)
        states.append(state[: L.BODY])
    return {
        name: float(np.abs(values - values[0]).max() / max(1.0, np.abs(values[0]).max()))
        for name, values in quantities(system, np.array(states), h).items()
    }


# ------------------------------------------------------------------ symplecticity
SYMPLECTIC_BELOW = 2e-12  # defects below this are round-off in the differences


def symplectic_defect(step: Callable[[Any], Any], system: System, y: Array) -> float:
    """How far a map is from preserving the symplectic form: the largest entry of M^T W(y1) M - W(y).

    M is the Jacobian of the map in left-trivialised coordinates, where an attitude varies as q exp(theta) and

        W((theta1, dm1), (theta2, dm2)) = theta1 . dm2 - theta2 . dm1 + m . (theta1 x theta2),

    the form whose Hamiltonian fields are theta = dH/dm, dm = m x dH/dm - dH/dtheta; for positions and momenta it is
    the usual one. The Jacobian is taken by central differences of order 8 with two increments, and the smaller defect
    is returned: about 1e-13 for a symplectic map.

    Parameters
    ----------
    step : function
        ``step(y) -> y1``.
    system : System
        For the degrees of freedom.
    y : array (13 N)
        Where the Jacobian is taken.

    Examples
    --------
    >>> import polhode as ph
    >>> system, y = ph.checks.trial_problem("potential")
    >>> take_steps = ph.checks.stepper("v2", system, y)
    >>> bool(ph.checks.symplectic_defect(lambda y: take_steps(y, 0.0, 0.3), system, y) < 1e-11)
    True
    """
    blocks = system.blocks.reshape(-1, 2)
    center = step(y)
    before, after = _symplectic_form(y, blocks), _symplectic_form(center, blocks)
    found = []
    for size in (0.02, 0.005):
        M = np.zeros((6 * len(blocks), 6 * len(blocks)))
        for c in range(M.shape[1]):
            for n, weight in enumerate(stepping.DIFFERENCE_WEIGHTS):
                plus, minus = (step(shifted(y, blocks, c, sign * (n + 1) * size)) for sign in (1.0, -1.0))
                M[:, c] += weight / size * (_coordinates(plus, center, blocks) - _coordinates(minus, center, blocks))
        found.append(float(np.abs(M.T @ after @ M - before).max()))
        if found[-1] < SYMPLECTIC_BELOW / 10.0:
            break
    return min(found)


def _coordinates(y: Array, center: Array, blocks: Indices) -> Array:
    """Six coordinates of each block relative to the state ``center``, those that ``shifted`` changes."""
    result = []
    for i, kind in blocks:
        a, b = y[L.BODY * i : L.BODY * (i + 1)], center[L.BODY * i : L.BODY * (i + 1)]
        if kind == L.ROTATION:
            between = rotation.multiply(rotation.conjugate(b[L.ATTITUDE : L.ANGULAR]), a[L.ATTITUDE : L.ANGULAR])
            result += [rotation.log_quaternion(between), a[L.ANGULAR :] - b[L.ANGULAR :]]
        else:
            result.append(a[: L.ATTITUDE] - b[: L.ATTITUDE])
    return np.concatenate(result)


def _symplectic_form(y: Array, blocks: Indices) -> Array:
    """The matrix of W at a state, see ``symplectic_defect``."""
    W = np.zeros((6 * len(blocks), 6 * len(blocks)))
    for k, (i, kind) in enumerate(blocks):
        a = 6 * k
        W[a : a + 3, a + 3 : a + 6] = np.eye(3)
        W[a + 3 : a + 6, a : a + 3] = -np.eye(3)
        if kind == L.ROTATION:
            x, z, w = y[L.BODY * i + L.ANGULAR : L.BODY * (i + 1)]
            W[a : a + 3, a : a + 3] = [[0.0, w, -z], [-w, 0.0, x], [z, -x, 0.0]]
    return W


# ------------------------------------------------------------------ what must not influence a run
def slicing_defect(
    method: AnyMethod, system: System, y: Array, t: float = 0.3, h: float = 0.1, steps: int = 24
) -> float:
    """Largest difference made by cutting a run into slices, or by recording it more or less often; must be 0.

    Parameters
    ----------
    method : str, Method or MethodSpec
        The method.
    system : System
        What moves.
    y : array (13 N)
        The state at the time t.
    t, h, steps : float, float, int
        Time of y, the step, and the number of steps.

    Examples
    --------
    >>> import polhode as ph
    >>> system, y = ph.checks.trial_problem("potential")
    >>> float(ph.checks.slicing_defect("v2", system, y))
    0.0
    """
    in_one_piece = recorded_states(method, system, y, t, h, [steps], 1)
    largest = 0.0
    for slices, every in (([steps], 3), ([5, 1, steps - 6], 1), ([7, steps - 7], 4), ([1] * steps, 1)):
        sliced = recorded_states(method, system, y, t, h, slices, every)
        largest = max(largest, float(np.abs(sliced - in_one_piece[every - 1 :: every]).max()))
    return largest


AXIS_NUMBERINGS = ((0.5, 0.5, 0.5, 0.5), (0.5**0.5, 0.5**0.5, 0.0, 0.0), (0.0, 0.0, 0.5**0.5, 0.5**0.5))
"""Quaternions that renumber the axes: 1 2 3 -> 2 3 1, a quarter turn about the first, a swap with a reversal."""


def numbering_defect(method: AnyMethod, h: float = 0.1, steps: int = 20) -> float:
    """Largest difference, in the frame of the problem, made by numbering the body's axes differently.

    Parameters
    ----------
    method : str, Method or MethodSpec
        The method.
    h, steps : float, int
        The step, and the number of steps.

    Examples
    --------
    >>> import polhode as ph
    >>> bool(ph.checks.numbering_defect("trapm") < 1e-12)
    True
    """
    attracted = "central_gravity" in trial_form(method).prepare().needs
    ends = []
    reference, _ = trial_problem(moves=True)
    for frame in ((1.0, 0.0, 0.0, 0.0), *AXIS_NUMBERINGS):
        system, y = trial_problem(*SWITCHES, moves=True, frame=frame, attracted=attracted)
        end = stepper(method, system, y)(y, 0.3, h, steps)
        end[L.ATTITUDE : L.ANGULAR] = rotation.multiply(end[L.ATTITUDE : L.ANGULAR], rotation.conjugate(frame))
        end[L.ANGULAR : L.BODY] = rotation.rotate(frame, end[L.ANGULAR : L.BODY])
        ends.append(end)
    return max(state_distance(end, ends[0], reference) for end in ends)


def frame_defect(method: AnyMethod, h: float = 0.1, steps: int = 20) -> float:
    """Largest difference made by giving a heavy top's inertia as a full tensor in a rotated frame, not as moments.

    Parameters
    ----------
    method : str, Method or MethodSpec
        The method.
    h, steps : float, int
        The step, and the number of steps.

    Examples
    --------
    >>> import polhode as ph
    >>> bool(ph.checks.frame_defect("trapm") < 1e-12)
    True
    """
    # Near a renumbering of the axes, so that diagonalising the tensor numbers them differently.
    turned = rotation.multiply(rotation.exp_quaternion((0.2, -0.1, 0.3)), AXIS_NUMBERINGS[0])
    moments, center = (1.0, 1.6, 2.3), (0.3, -0.2, 0.7)
    R = rotation.matrix_from_quaternion(turned)
    ends = []
    for inertia, center_of_mass, frame in (
        (moments, center, (1.0, 0.0, 0.0, 0.0)),
        (R @ np.diag(moments) @ R.T, R @ center, turned),
    ):
        system = heavy_top(inertia, center_of_mass, 1.2)
        q = rotation.multiply(rotation.exp_quaternion(START["attitude"][0]), rotation.conjugate(frame))
        m = rotation.rotate(frame, START["angular_momentum"][0])
        system, y = suited(trial_form(method), system, attitude=q, angular_momentum=m)
        end = stepper(method, system, y)(y, 0.3, h, steps)
        back = rotation.multiply(rotation.conjugate(principal(inertia).frame), frame)
        end[L.ATTITUDE : L.ANGULAR] = rotation.multiply(end[L.ATTITUDE : L.ANGULAR], back)
        end[L.ANGULAR : L.BODY] = rotation.rotate_inverse(back, end[L.ANGULAR : L.BODY])
        ends.append(end)
    return state_distance(ends[1], ends[0], trial_problem()[0])
