"""One run: a method over a system, recorded as a Dataset."""

from __future__ import annotations

import inspect
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.algebra.quaternion import multiply, rotate_inverse
from polhode.arguments import UNKNOWN, array, choice, has_quantity, in_unit, number, numbers, path, truth, vector
from polhode.arguments import whole as whole_number
from polhode.errors import (
    CoarseStepWarning,
    EnergyWarning,
    FileProblem,
    Interrupted,
    InvalidInput,
    NotFinite,
    PolhodeError,
    StepFailed,
    UserFunctionError,
    shown,
    unknown_name,
    warn,
)
from polhode.flows.sums import COMPENSATION
from polhode.kernel import drive, jit
from polhode.kernel import layout as L
from polhode.kernel.interrupts import Noticed, held
from polhode.methods import Method, MethodSpec
from polhode.methods import method as find_method
from polhode.runs import stepping
from polhode.runs.display import Display
from polhode.runs.energy_guard import BEYOND, LARGE, blown_up, energy_ratios, first_beyond, first_blown, large_error
from polhode.runs.event_detection import EPSILON, Ended, check_span, rows_of
from polhode.runs.integrator import check_estimate, extended
from polhode.runs.parameters import with_parameters
from polhode.runs.resolution import coarse_loads, coarse_orbit
from polhode.runs.stepping import AdaptiveRun, Record, Run
from polhode.runs.store import SECONDS, LiveStore
from polhode.runs.time_transformed_run import TimeTransformedRun
from polhode.runs.turning import TURNING, as_kept
from polhode.systems import SYSTEMS, System, built
from polhode.systems.events import Event, event_of, events_of
from polhode.systems.inertia import RELATIVE_TOLERANCE
from polhode.systems.record import plain
from polhode.trajectory import CONVENTIONS, UNITS, dataset
from polhode.trajectory.build import with_bath, with_events
from polhode.trajectory.epochs import epoch_of
from polhode.trajectory.schema import MEANING, trajectory

if TYPE_CHECKING:
    import xarray as xr

FIRST_ROWS = 1024

LARGEST = 1e60
"""Moments of inertia and angular momenta beyond this or below its inverse over- or underflow when they are squared."""

TIGHTEST = 1e-14
FLOOR = 1e-3
"""Smallest rtol; the default of atol in units of it."""
MOST_STEPS = 10_000_000
COUNTABLE = 10**15
"""Most steps of one size: beyond it the times of two steps in a row are hardly told apart."""
ADAPTIVE = "mkrk:dp8"
"""The method of a run with rtol that names none."""


@cache
def release() -> str:
    """Version of polhode; reading it off the installation takes as long as a short run."""
    return version("polhode")


@dataclass(frozen=True)
class Progress:
    """Where a run is: handed to the ``progress`` function a few times a second.

    Attributes
    ----------
    done, total : int
        Steps; the total is None where they are chosen by a tolerance.
    seconds : float
        Time computed so far.
    stage : str
        ``preparing``, then ``compiling`` if anything is compiled, then ``running``.
    share : float
        Part of the span of time that is done.
    """

    done: int
    total: int | None
    seconds: float
    stage: str
    share: float = 0.0


# ------------------------------------------------------------------ the span
def span(step: Any, t_end: Any, steps: Any, t0: Any) -> tuple[float, int, float]:
    """Signed step, number of steps and start time from what the user gave.

    Raises
    ------
    InvalidInput
        Step not positive; neither or both of ``t_end`` and ``steps``; ``t_end`` no whole number of steps away.
    """
    h, start = number(step, "step"), number(t0, "t0")
    if not h > 0.0:
        raise InvalidInput(f"step is {h:g}; it must be positive (to run backwards in time, give t_end before t0)")
    if (t_end is None) == (steps is None):
        raise InvalidInput("give either t_end or steps, the one or the other")
    if steps is not None:
        steps = whole_number(steps, "steps", -(2**53))
        if steps < 0:
            raise InvalidInput(f"steps is {steps}; it must not be negative (to run backwards, give t_end before t0)")
        if steps > MOST:
            raise InvalidInput("steps is more than 2^62, which no run takes")
        if steps > COUNTABLE:
            raise InvalidInput(f"steps is {steps:g}, more than can be counted; give at most {COUNTABLE:g}")
        return h, int(steps), start
    end = number(t_end, "t_end")
    ratio = abs(end - start) / h
    if not ratio <= COUNTABLE:
        raise InvalidInput(f"t_end - t0 = {end - start:g} is {ratio:g} steps of {h:g}, more than can be counted; "
                           "give an earlier t_end or a larger step")  # fmt: skip
    n = round(ratio)
    if abs(ratio - n) > 1e-9 * max(1.0, ratio):
        better = abs(end - start) / max(1, n)
        raise InvalidInput(
            f"t_end - t0 = {end - start:g} is {ratio:.9g} steps of {h:g}; the nearest step that fits is {better!r}"
        )
    return (h if end >= start else -h), n, start


def time_transformed_span(step: Any, t_end: Any, steps: Any, t0: Any) -> dict[str, Any]:
    """What a run of a method with a clock is told, checked: any end, or a number of steps.

    Raises
    ------
    InvalidInput
        As ``span``, but for the end.
    """
    if t_end is None or steps is not None:
        h, n, start = span(step, t_end, steps, t0)
        return {"step": h, "steps": n, "backwards": False, "t0": start, "t_end": None}
    h, _, start = span(step, None, 0, t0)
    end = number(t_end, "t_end")
    return {"step": h, "steps": None, "backwards": end < start, "t0": start, "t_end": end}


def tolerances(
    rtol: Any, atol: Any, t_end: Any, steps: Any, t0: Any, first_step: Any, max_step: Any, max_steps: Any
) -> dict[str, Any]:
    """What a run with chosen steps is told, checked, with its defaults put in.

    Raises
    ------
    InvalidInput
        A number out of its range; ``steps``, which is for steps of one size; no ``t_end``.
    """
    found: dict[str, Any] = {"rtol": number(rtol, "rtol")}
    if not TIGHTEST <= found["rtol"] < 1.0:
        raise InvalidInput(
            f"rtol is {found['rtol']:g}; it must be at least {TIGHTEST:g}, where round-off begins, and below 1"
        )
    found["atol"] = found["rtol"] * FLOOR if atol is None else number(atol, "atol")
    if steps is not None or t_end is None:
        raise InvalidInput("with rtol the steps are not counted beforehand; give t_end and no steps")
    found |= {"t0": number(t0, "t0"), "t_end": number(t_end, "t_end")}
    for name, value in (("first_step", first_step), ("max_step", max_step)):
        found[name] = None if value is None else number(value, name)
    for name in ("atol", "first_step", "max_step"):
        if found[name] is not None and not found[name] > 0.0:
            raise InvalidInput(f"{name} is {found[name]:g}; it must be positive")
    return found | {"max_steps": whole_number(max_steps, "max_steps", 1)}


# ------------------------------------------------------------------ the start
def start_state(
    system: System,
    attitude: Any = None,
    angular_velocity: Any = None,
    angular_momentum: Any = None,
    position: Any = None,
    velocity: Any = None,
    momentum: Any = None,
) -> Any:
    """State vector from the initial values, each for one body (shape (k,)) or all (shape (N, k)).

    Raises
    ------
    InvalidInput
        Wrong shapes, not finite, a zero quaternion, two values for one thing, a value the system has no use for, or a
        position at the centre of attraction.
    """
    N = system.N
    y = np.zeros(L.BODY * N)
    body = y.reshape(N, L.BODY)
    body[:, L.ATTITUDE] = 1.0
    turning = {"attitude": attitude, "angular_velocity": angular_velocity, "angular_momentum": angular_momentum}
    moving = {"position": position, "velocity": velocity, "momentum": momentum}
    for names, allowed, does in ((turning, system.rotates, "turn"), (moving, system.translates, "move through space")):
        for name, value in names.items():
            if value is not None and not allowed:
                raise InvalidInput(f"{name} is given, but the bodies of {system.name!r} do not {does}; leave it out")
    if angular_velocity is not None and angular_momentum is not None:
        raise InvalidInput("angular_velocity and angular_momentum are both given; keep one of them")
    if velocity is not None and momentum is not None:
        raise InvalidInput("velocity and momentum are both given; keep one of them")
    frames = np.asarray(system.frames, dtype=float)
    if attitude is not None:
        q = _of_bodies(attitude, "attitude", N, 4)
        length = np.sqrt(np.matmul(q[:, None, :], q[:, :, None])[:, 0, 0])  # rounds as the norm of each alone does
        wrong = np.flatnonzero(np.abs(length - 1.0) > 1e-6)
        if wrong.size:
            i = int(wrong[0])
            raise InvalidInput(
                f"attitude{_whose(attitude, i)} has length {length[i]:g}; give a unit quaternion (w, x, y, z)"
            )
        body[:, L.ATTITUDE : L.ATTITUDE + 4] = q / length[:, None]
    body[:, L.ATTITUDE : L.ATTITUDE + 4] = _by_columns(multiply, body[:, L.ATTITUDE : L.ATTITUDE + 4], frames)
    if angular_velocity is not None:
        omega = _by_columns(rotate_inverse, frames, _of_bodies(angular_velocity, "angular_velocity", N, 3))
        omega = _across(system, omega, "angular_velocity")
        body[:, L.ANGULAR : L.ANGULAR + 3] = _heavy(system.moments, omega, "angular_velocity", "turn")
    if angular_momentum is not None:
        m = _of_bodies(angular_momentum, "angular_momentum", N, 3)
        body[:, L.ANGULAR : L.ANGULAR + 3] = _across(system, _by_columns(rotate_inverse, frames, m), "angular_momentum")
    _check_size(system, body[:, L.ANGULAR :])
    if position is not None:
        body[:, L.POSITION : L.POSITION + 3] = _of_bodies(position, "position", N, 3)
    if velocity is not None:
        v = _of_bodies((0.0, 0.0, 0.0) if _is_zero(velocity) else velocity, "velocity", N, 3)
        body[:, L.MOMENTUM : L.MOMENTUM + 3] = _heavy(system.mass[:, None], v, "velocity", "move through space")
    if momentum is not None:
        body[:, L.MOMENTUM : L.MOMENTUM + 3] = _of_bodies(momentum, "momentum", N, 3)
    distance = np.abs(body[:, L.POSITION : L.POSITION + 3]).max(axis=1)
    if system.attracted and (np.isfinite(system.mass) & (distance < 1.0 / OVERFLOWING)).any():
        given = "is missing" if position is None else "is at the centre, where the attraction is infinite"
        raise InvalidInput(f"position {given}; say where the orbit begins")
    return y


def check_moving(system: System, velocity: Any, momentum: Any) -> None:
    """Refuse a start about a centre of attraction that does not say how anything moves.

    Raises
    ------
    InvalidInput
    """
    if system.attracted and velocity is None and momentum is None:
        raise InvalidInput(
            "velocity is missing, and from rest everything falls into the centre; give velocity or momentum, or say "
            "velocity=0 where that is meant"
        )


def _start(
    system: System, chosen: MethodSpec, coordinates: Any, compensation: Any, clock: Any, thermostat: Any, *state: Any
) -> Any:
    """State vector a method starts from: its own numbers follow the attitudes, or replace them where given."""
    prepared = chosen.prepare()
    chosen.method.check_complete(chosen.options)
    if thermostat is not None:
        if prepared.bath is None:
            raise InvalidInput(f"method {chosen.label!r} has no heat bath; leave thermostat out")
        y = _start(system, chosen, coordinates, compensation, clock, None, *state)
        size, first = prepared.bath.numbers.size, L.BODY * system.N + len(system.auxiliary)
        y[first : first + size] = vector(thermostat, "thermostat", size, UNKNOWN)
        return y
    if prepared.compensation and not system.translates:
        raise InvalidInput(
            "compensated sums are of positions and momenta, but the bodies of "
            f"{system.name!r} do not move through space; leave it out"
        )
    if compensation is not None and not prepared.compensation:
        raise InvalidInput("carries are given without compensated=True, to which they belong; leave them out")
    y = start_state(system, *state)
    if compensation is not None:
        return extended(system, prepared, y, compensation=_of_bodies(compensation, "carries", system.N, COMPENSATION))
    if clock is not None:
        if not prepared.step_density:
            raise InvalidInput(f"method {chosen.label!r} has no clock of its own; leave clock out")
        y = _start(system, chosen, coordinates, None, None, None, *state)
        y[-L.TIME_VARIABLES :] = vector(clock, "clock", L.TIME_VARIABLES, UNKNOWN)
        if not y[2 - L.TIME_VARIABLES] >= 0.0:
            raise InvalidInput(f"clock[2], the density of steps, is {clock[2]:g}; it must be positive")
        return y
    if coordinates is None:
        return extended(system, prepared, y)
    own = prepared.coordinates
    if own is None:
        raise InvalidInput(f"method {chosen.label!r} has no coordinates of its own; give the attitude")
    if state[0] is not None:
        raise InvalidInput(f"attitude and coordinates ({own.name}) are both given; keep one of them")
    return extended(system, prepared, y, _of_bodies(coordinates, "coordinates", system.N, own.size))


def _heavy(inertia: Any, rate: Any, name: str, does: str) -> Any:
    """inertia times rate of every body; what has infinite inertia stays at rest."""
    fixed = ~np.isfinite(inertia)
    moved = np.flatnonzero((fixed & (rate != 0.0)).any(axis=1))
    if moved.size:
        raise InvalidInput(f"{name} of body {moved[0]} is not zero, but that body does not {does}")
    with np.errstate(over="ignore"):
        made = np.where(fixed, 0.0, inertia) * rate
    if not np.isfinite(made).all():
        raise InvalidInput(f"{name} times the inertia is beyond 1e308; check their units")
    return made


def _is_zero(value: Any) -> bool:
    """Whether a value is the number 0, which says that nothing moves."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and value == 0


def _across(system: System, spin: Any, name: str) -> Any:
    """Angular velocities or momenta (N, 3, principal frame), of bodies without thickness across their axis only."""
    along = np.where(system.without_thickness[:, None] & np.isinf(system.moments), spin, 0.0)
    wrong = np.flatnonzero(np.abs(along).max(axis=1) > RELATIVE_TOLERANCE * np.abs(spin).max(axis=1))
    if wrong.size:
        raise InvalidInput(
            f"{name} of body {wrong[0]} has a part along the axis about which its moment of inertia is zero, but a "
            "body without thickness does not turn about its own axis; leave that part out, or give it a thickness"
        )
    return spin - along


def _check_size(system: System, m: Any) -> None:
    """Refuse bodies and momenta whose squares and products would over- or underflow.

    Raises
    ------
    InvalidInput
    """
    turns = np.isfinite(system.moments)
    low = np.min(np.where(turns, system.moments, np.inf), axis=1)
    high = np.max(np.where(turns, system.moments, 0.0), axis=1)
    size = np.abs(m).max(axis=1)
    for name, values in (("moments of inertia", low), ("moments of inertia", high), ("angular momentum", size)):
        wrong = np.flatnonzero(turns.any(axis=1) & (values > 0.0) & ((values < 1.0 / LARGEST) | (values > LARGEST)))
        if wrong.size:
            i = int(wrong[0])
            raise InvalidInput(
                f"{name} of body {i}: {values[i]:.3g} is beyond {1.0 / LARGEST:g} to {LARGEST:g}, where squares over- "
                "or underflow; choose other units"
            )


def _by_columns(kernel: Callable[..., Any], *rows: Any) -> Any:
    """A kernel of tuples on every row of arrays (N, k), rounded as it is on one row alone."""
    return np.stack(kernel(*(tuple(one.T) for one in rows)), axis=1)


def _whose(value: Any, i: int) -> str:
    """Of which body a value is, where every body has its own."""
    return f" of body {i}" if np.ndim(value) == 2 else ""


def _of_bodies(value: Any, name: str, N: int, length: int) -> Any:
    """Numbers (N, length) from those of one body, which are then the same for all, or of each."""
    given = array(value, name, "")
    if given.size and np.abs(given).max() > OVERFLOWING:
        raise InvalidInput(f"{name} has entries beyond {OVERFLOWING:g}; check its units")
    if given.ndim == 1 or (N == 1 and given.shape != (1, length)):
        return np.tile(vector(given, name, length), (N, 1))
    if given.shape != (N, length):
        raise InvalidInput(
            f"{name} must be {length} numbers, or {length} for each of {N} bodies, but has shape {given.shape}"
        )
    return given.copy()


# ------------------------------------------------------------------ the run
def integrate(
    system: System,
    method: str | Method | None = None,
    *,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    t_end: float | None = None,
    steps: int | None = None,
    t0: float = 0.0,
    first_step: float | None = None,
    max_step: float | None = None,
    max_steps: int = MOST_STEPS,
    every: int = 1,
    t_eval: Any = None,
    attitude: Any = None,
    rotation_vector: Any = None,
    euler_angles: Any = None,
    euler_angles_deg: Any = None,
    sequence: str | None = None,
    angular_velocity: Any = None,
    angular_momentum: Any = None,
    angular_velocity_space: Any = None,
    angular_momentum_space: Any = None,
    position: Any = None,
    velocity: Any = None,
    momentum: Any = None,
    coordinates: Any = None,
    events: Any = (),
    breaks: Any = (),
    since: float | None = None,
    clock: Any = None,
    thermostat: Any = None,
    compensated: bool = False,
    compensation: Any = None,
    guard: bool = True,
    units: str = "consistent",
    epoch: Any = None,
    threads: int = 1,
    progress: Callable[[Progress], None] | bool | None = None,
    store: str | os.PathLike[str] | LiveStore | None = None,
    checkpoint_seconds: float = SECONDS,
    parameters: Any = None,
    **options: Any,
) -> xr.Dataset:
    """Integrate a system, with steps of one size or with steps chosen by a tolerance, and record the trajectory.

    Parameters
    ----------
    system : System
        From ``polhode.free_body``, ``polhode.heavy_top`` and so on.
    method : str or Method, optional
        Such as ``"trapm"`` or ``"mkrk:gauss4:cayley"``, also by a name that others use (``"leapfrog"``, ``"RK45"``), or
        a row; without one, what the measured tables recommend for the
        system (the attribute ``method`` of the result says which); with ``rtol`` it is ``"mkrk:dp8"``.
    step : float
        Step size, positive; every consistent unit of time. Of a method with a clock (``"reversible:v2"``) that of the
        first step; the others follow the motion, and the last one ends at ``t_end`` exactly, whatever that is.
    rtol : float
        In the place of ``step``: steps are chosen so that the estimated error of each is at most this, of attitudes in
        rad, of angular velocities and the motion through space relative to their size. Errors of steps add up: expect a
        multiple of it at the end. Methods with an embedded tableau estimate their error (``"mkrk:dp5"``).
    atol : float, optional
        Absolute part of the tolerance of angular velocities, positions and velocities, in their units; it counts where
        they are near zero. By default ``1e-3 * rtol``. The tolerance of a number x is ``atol + rtol |x|``.
    t_end, steps : float, int
        End time, a whole number of steps from ``t0`` (before ``t0``: the run goes backwards), or the number of steps.
        With ``rtol`` any end time; the last step ends there exactly.
    t0 : float
        Start time.
    first_step, max_step : float, optional
        With ``rtol``: the first step to try, else chosen from the loads; the largest step allowed. Steps that are long
        where nothing happens may leap over a load that acts for a short time only: a ``max_step`` below that time finds
        it, ``breaks`` at its beginning and end resolve it.
    max_steps : int
        With ``rtol``: most steps to try.
    every : int
        Record every this many steps; the start and the end are always recorded.
    t_eval : array_like, optional
        Record at exactly these times instead, in the order of the run. Times off the grid are reached by a side step
        from the last grid state, with ``rtol`` by the dense output of the method: so the step sequence is that of a run
        without them.
    attitude : array_like (4,) or (3, 3), or scipy.spatial.transform.Rotation
        Unit quaternion (w, x, y, z), rotation matrix or SciPy ``Rotation``, body to space. Identity by default.
    rotation_vector, euler_angles, euler_angles_deg : array_like (3,)
        In the place of ``attitude``: a rotation vector (rad), or Euler angles (rad, or degrees) in the order of
        ``sequence``.
    sequence : str
        Of the Euler angles, ``"XYZ"`` unless given, and of a method that keeps such; as SciPy: ``"ZXZ"`` intrinsic,
        ``"zxz"`` extrinsic.
    angular_velocity, angular_momentum : array_like (3,)
        In the body frame, one of them, or instead ``angular_velocity_space`` or ``angular_momentum_space`` in the space
        frame, the latter about the body's centre of mass or fixed point. Zero by default.
    position, velocity, momentum : array_like (3,)
        In the space frame. Zero by default, but about a centre of attraction a position and a velocity (or momentum)
        must be given; ``velocity=0`` is a release from rest.
    coordinates : array_like (3,)
        Of a method that keeps attitudes as numbers of its own (rotation vector, Euler angles of its sequence): these,
        in the place of ``attitude``, also where they are longer than principal ones.
    events : sequence
        What to look for, from ``polhode.events`` or words such as ``"periapsis"``; found to round-off, listed in the
        variables ``event_time``, ``event_kind`` and so on. Events that are ``terminal`` end the run.
    breaks : array_like, optional
        Times at which loads of the user's jump or bend (a pulse begins, a table has a kink): steps are cut there, and
        go on after. A load sees no time at or beyond the breaks on either side of a step, so that ``if t < t1`` and
        ``if t <= t1`` mean the same, and methods keep their order. Switches of ``polhode.forces`` need none.
    since : float, optional
        Of a run that is the rest of another: where that began, from ``t0`` on which it goes. What is switched or fired
        between the two times is past, and so is an impulse at ``t0``.
    step_density : array_like (4,), optional
        Of a method with a clock, to go on with the steps of another run: the last row of its variable ``step_density``.
    thermostat : array_like, optional
        Of a method with a heat bath (``"baoab"``, ``"nose_hoover"``), to go on from another run: the last row of its
        variable ``thermostat``.
    compensated : bool
        Carry what rounding leaves out of positions, momenta and work into their next sums: for runs of very many steps,
        and for small forces on ``/kepler`` methods. The Dataset then has ``position_carry`` and ``momentum_carry``.
    compensation : array_like (6,)
        With ``compensated``, of a run that goes on from another: ``position_carry`` and ``momentum_carry`` of that one.
        Zero by default.
    guard : bool
        Refuse steps that turn a body further than the method can represent, end a run whose energy explodes, and warn
        of large energy errors and of steps that do not resolve an orbit or the loads. Without it none of this; only
        runs of molecules end where their energy explodes in any case.
    units : {"consistent", "SI"}
        How the variables are labelled; no number changes. Quantities of astropy among the arguments (times, positions,
        velocities, momenta) are turned into SI, and the run is labelled SI: then plain numbers must be in it too.
    epoch : str, datetime or astropy Time, optional
        Which instant time 0 is, such as ``"2030-01-01T00:00:00 TDB"``, UTC unless it says so: recorded for exports,
        while no load reads it.
    threads : int
        How many processors may share the loads of many bodies; no bit of a result depends on it.
    progress : function or True, optional
        Called with a ``Progress`` a few times a second; True shows a bar, or a line now and then where there is no
        terminal, on stderr.
    store : path, optional
        A new folder (``run.zarr``) that receives the rows while the run goes, so that ``polhode.resume`` goes on from
        its last checkpoint, bit for bit, however the process ended; ``polhode.load`` reads what is there so far.
    checkpoint_seconds : float
        With ``store``: least time between two checkpoints. One more is written at the end, after Ctrl-C or a failure.
    parameters : mapping or sequence of float, optional
        Of the system for this run, in the place of those it was built with: by name (``{"weight": 19.6}``, arguments of
        the function that builds it), or the numbers handed to the user's functions, as many as there were. They are
        recorded, so that ``rerun`` and ``resume`` repeat the run, and nothing is compiled for them.
    **options : str or float
        Options of the method by name, such as ``tableau="gauss4"`` or ``temperature=300``.

    Returns
    -------
    xarray.Dataset
        See ``polhode.trajectory.schema``.

    Raises
    ------
    InvalidInput
        An argument is wrong; the sentence names it.
    ConvergenceError, StepTooLarge, NotFinite, StepTooSmall
        A step failed, with ``rtol`` at every size tried; ``.trajectory`` holds the run so far and the state before it.
    UserFunctionError
        A function of the user failed; ``__cause__`` is its own exception, ``.trajectory`` the run so far.
    Interrupted
        Ctrl-C; ``.trajectory`` holds the run so far and the state where it stopped.
    FileProblem
        The store exists already or cannot be written; ``.trajectory`` holds the run so far.

    Warns
    -----
    EnergyWarning
        The energy, less the works of the loads, is off by more than a tenth of all the energies there are.
    CoarseStepWarning
        The step is longer than a passage of the orbit, or does not resolve the loads; one that would do is named.
    """
    if not isinstance(system, System):
        raise InvalidInput(f"the first argument must be a system such as polhode.free_body(...), not {shown(system)}")
    if parameters is not None:
        system = with_parameters(system, parameters)
    turns = {
        "attitude": attitude, "rotation_vector": rotation_vector, "euler_angles": euler_angles,
        "euler_angles_deg": euler_angles_deg, "sequence": sequence, "angular_velocity": angular_velocity,
        "angular_momentum": angular_momentum, "angular_velocity_space": angular_velocity_space,
        "angular_momentum_space": angular_momentum_space,
    }  # fmt: skip
    named = (system.recommended if rtol is None else ADAPTIVE) if method is None else method
    row = find_method(named).method
    known = [name for name in inspect.signature(integrate).parameters if name != "options"]
    for name in options:
        if name not in row.options:
            raise unknown_name(f"argument of integrate or option of method {row.name!r}", name, [*known, *row.options])
    if sequence is not None and "sequence" in row.options:
        options["sequence"] = sequence
        turns["sequence"] = sequence if euler_angles is not None or euler_angles_deg is not None else None
    times = (step, t_end, t0, first_step, max_step, t_eval, since, breaks)
    measured = dict(zip(TIMES, times, strict=True)) | {name: turns[name] for name in TURNING}
    measured |= {"position": position, "velocity": velocity, "momentum": momentum}
    units, measured = in_units_of(system, units, measured)
    step, t_end, t0, first_step, max_step, t_eval, since, breaks = (measured[name] for name in TIMES)
    position, velocity, momentum = (measured[name] for name in ("position", "velocity", "momentum"))
    coordinates = in_unit(coordinates, UNKNOWN, "coordinates")
    turns = as_kept(turns | {name: measured[name] for name in TURNING})
    attitude = turns.get("attitude")
    angular_velocity, angular_momentum = turns.get("angular_velocity"), turns.get("angular_momentum")
    chosen = replace(find_method(named, **options), compensated=truth(compensated, "compensated"))
    own = chosen.method.tolerances
    if own is not None and step is None:
        rtol, atol = own[0] if rtol is None else rtol, own[1] if atol is None else atol
    if (step is None) == (rtol is None):
        raise InvalidInput("give either step, the size of all steps, or rtol, the tolerance by which they are chosen")
    if rtol is None:
        for name, value in (("atol", atol), ("first_step", first_step), ("max_step", max_step)):
            if value is not None:
                raise InvalidInput(f"{name} is given without rtol, to which it belongs; leave it out")
        if chosen.prepare().step_density:
            step_settings = time_transformed_span(step, t_end, steps, t0)
            h, n, start = whole(step_settings)
        else:
            h, n, start = span(step, t_end, steps, t0)
            step_settings = {"step": abs(h), "steps": n, "backwards": h < 0, "t0": start}
    else:
        check_estimate(chosen)
        step_settings = tolerances(rtol, atol, t_end, steps, t0, first_step, max_step, max_steps)
        h, n, start = whole(step_settings)
    first = start if since is None else number(since, "since")
    end = step_settings.get("t_end", start + n * h)
    check_span(system, first, inf if end is None else end)
    wanted, cuts = events_of(events, system), checked_breaks(breaks, first, end)
    if store is not None and not isinstance(store, LiveStore):
        store = LiveStore(path(store, "store"), checkpoint_seconds)
    every, guard = checked_every(every), truth(guard, "guard")
    if system.units:
        if units not in ("consistent", system.units):
            raise InvalidInput(f"{system.name} is in {system.units} units with k_B = {system.boltzmann:.6g}, not in "
                               f"{units} ones; leave units out and give plain numbers")  # fmt: skip
        units = system.units
    elif units == "molecular":
        raise InvalidInput(f"units is 'molecular', but {system.name} has no such units of its own; leave it out")
    samples = None if t_eval is None else sample_times(t_eval, every, start, h, n)
    turning, moving = (attitude, angular_velocity, angular_momentum), (position, velocity, momentum)
    y = _start(system, chosen, coordinates, compensation, clock, thermostat, *turning, *moving)
    check_moving(system, velocity, momentum)
    if clock is not None:
        y[-L.TIME_VARIABLES] = start
    wrong = "" if system.check is None else system.check(y[: L.BODY * system.N])
    if wrong and position is None:
        raise InvalidInput(
            "position is missing; say where the bodies are, for instance on a lattice: polhode.initial.cubic, or "
            "lattice = 'cubic' in a scenario"
        )
    if wrong:
        raise InvalidInput(f"the run cannot start: {wrong}")
    recipe = {
        "system": {"name": system.name, "arguments": dict(system.arguments)},
        "method": chosen.label,
        **step_settings,
        "every": every,
        "t_eval": None if samples is None else samples.tolist(),
        "guard": bool(guard),
        "units": units,
        "state": y.tolist(),
    }
    if chosen.compensated:
        recipe["compensated"] = True
    if wanted:
        recipe["events"] = [dict(event.arguments) for event in wanted]
    if cuts:
        recipe["breaks"] = cuts
    if first != start:
        recipe["since"] = first
    if parameters is not None:
        by_name = isinstance(parameters, Mapping)
        recipe["parameters"] = {k: system.arguments[k] for k in parameters} if by_name else plain(parameters)
    if epoch is not None:
        recipe["epoch"] = str(epoch_of(epoch))
    return carry_out(system, chosen, recipe, progress, wanted, store, checked_threads(threads))


def checked_threads(threads: Any) -> int:
    """How many threads, checked."""
    return whole_number(threads, "threads", 1, 4096)


MOST = 2**62
"""Largest number of steps: what is counted has 64 bits."""


def checked_every(every: Any) -> int:
    """How many steps a row stands for, checked."""
    return whole_number(every, "every", 1, MOST)


def whole(step_settings: Mapping[str, Any]) -> tuple[float, int, float]:
    """The span of a run with chosen steps as one step: signed size, number, start; no step where it is empty."""
    length = (inf if step_settings["t_end"] is None else step_settings["t_end"]) - step_settings[
        "t0"
    ]  # counted steps of a clock end somewhere
    return (length, 1, step_settings["t0"]) if length else (1.0, 0, step_settings["t0"])


def checked_breaks(breaks: Any, start: float, end: float | None) -> list[float]:
    """Times at which loads jump, in the order of numbers; an unknown end is no limit.

    Raises
    ------
    InvalidInput
        No flat sequence of finite times, or one outside of the run.
    """
    times = numbers(breaks, "breaks", "")
    low, high = (start, inf) if end is None else (min(start, end), max(start, end))
    for t in times:
        if not low <= t <= high:
            raise InvalidInput(f"breaks has t = {t:g}, outside of the run from t = {low:g} to {high:g}; leave it out")
    return sorted(set(times.tolist()))


def sample_times(t_eval: Any, every: int, start: float, h: float, n: int) -> Any:
    if not isfinite(h):
        raise InvalidInput("with t_eval give t_end: when a number of steps with a clock of their own ends is not known")
    if every != 1:
        raise InvalidInput("every and t_eval are both given; t_eval alone says what is recorded")
    times = numbers(t_eval, "t_eval", "")
    if not times.size:
        raise InvalidInput("t_eval must be a flat sequence of at least one finite time")
    along = (times - start) / h
    if (np.diff(along) < 0).any():
        raise InvalidInput("t_eval must be in the order of the run: times must not go back")
    if along[0] < 0 or along[-1] > n * (1 + 1e-12):
        raise InvalidInput(f"t_eval must lie between t0 = {start:g} and the end of the run, {start + n * h:g}")
    return times


OVERFLOWING = 1e100
"""Numbers of a start beyond this would overflow when squared; distances from a centre below its inverse."""
TIMES = ("step", "t_end", "t0", "first_step", "max_step", "t_eval", "since", "breaks")
GIVEN_IN = {
    "SI": {"time": "s", "position": "m", "velocity": "m / s", "momentum": "kg * m / s", "angular_velocity": "rad / s",
           "angular_momentum": "kg * m**2 / s"},
    "molecular": {"time": "ps", "position": "nm", "velocity": "nm / ps", "momentum": "u * nm / ps",
                  "angular_velocity": "rad / ps", "angular_momentum": "u * nm**2 / ps"},
}  # fmt: skip
"""What quantities among the arguments of a run are turned into, by its units."""


def in_units_of(system: System, units: Any, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Values by the names of arguments of a run as plain numbers in its units, and what these are called.

    Parameters
    ----------
    system : System
        Whose units they are, where it has some of its own.
    units : str
        What the user calls them.
    given : mapping
        Times, initial values, with units or without.

    Raises
    ------
    InvalidInput
        Unknown units; a quantity of another kind, or one for a system whose units are not known.
    """
    units = choice(units, "units", UNITS)
    if not any(map(has_quantity, given.values())):
        return units, dict(given)
    own = system.units or ("SI" if units == "consistent" else units)
    if own not in GIVEN_IN:
        raise InvalidInput(f"{system.name} is in units of its own, which a quantity cannot be turned into; give plain "
                           "numbers")  # fmt: skip
    of = GIVEN_IN[own]
    plain = {name: in_unit(value, of.get(name.removesuffix("_space"), of["time"]), name)
             for name, value in given.items()}  # fmt: skip
    return own if units == "consistent" else units, plain


BETWEEN_LOOKS = 2.0
"""Seconds between looks at the energy of a run that could blow up."""


class _Watch(Noticed):
    """Ctrl-C is looked at between slices. A second one breaks off the slice, but not what is left to do when the run
    is over."""

    over = False

    def press(self, number: int, frame: Any) -> None:
        if self.pressed and not self.over:
            self.previous(number, frame)
        self.pressed = True


def recorder(recipe: Mapping[str, Any]) -> Record:
    """Room for the rows of a recipe."""
    samples, total = recipe["t_eval"], recipe.get("steps")
    rows = FIRST_ROWS if total is None else total // recipe["every"]
    return Record((rows if samples is None else len(samples)) + 2, len(recipe["state"]))


def carry_out(
    system: System,
    chosen: MethodSpec,
    recipe: Mapping[str, Any],
    progress: Callable[[Progress], None] | bool | None,
    events: Sequence[Event],
    store: LiveStore | None = None,
    threads: int = 1,
) -> xr.Dataset:
    """Run a recipe; raises what went wrong with the trajectory so far on it."""
    if progress is True:
        with Display() as display:
            return carry_out(system, chosen, recipe, display, events, store, threads)
    report_progress = teller(None if progress is False else progress, "progress", "True or a function")
    if store is None:
        return _carry_out(system, chosen, recipe, report_progress, events, None, threads)
    with store:
        return _carry_out(system, chosen, recipe, report_progress, events, store, threads)


def teller(told: Any, name: str, kind: str = "a function") -> Callable[[Any], None]:
    """A function of the user's that is told how far something is, or one that does nothing where None is given. What it
    raises is the user's, and comes through as it is.

    Raises
    ------
    InvalidInput
        Something else.
    """
    if told is None:
        return lambda state: None
    if not callable(told):
        raise InvalidInput(f"{name} must be {kind}, not {shown(told)}")
    return told  # type: ignore[no-any-return]


def _carry_out(
    system: System,
    chosen: MethodSpec,
    recipe: Mapping[str, Any],
    report_progress: Callable[[Progress], None],
    events: Sequence[Event],
    store: LiveStore | None,
    threads: int,
) -> xr.Dataset:
    every = recipe["every"]
    samples = None if recipe["t_eval"] is None else np.array(recipe["t_eval"])
    total = recipe.get("steps")
    record = recorder(recipe)
    if store is not None:
        with held():
            store.begin(recipe)
    report_progress(Progress(0, total, 0.0, "preparing"))
    with jit.watched(lambda: report_progress(Progress(0, total, 0.0, "compiling"))):
        run = kind_of_run(chosen, recipe)(system, chosen, recipe, events, threads)
        if store is not None:
            store.join(run, record)
        potential = system.compiled_potential(run.t0, run.start)
    coarse = coarse_orbit(run) if run.guard else ""
    if coarse:
        warn(coarse, CoarseStepWarning)
    error: PolhodeError | None = None
    stopped = ""
    with _Watch() as watch:
        report_progress(Progress(run.done, total, run.seconds, "running", run.share if run.resumed else 0.0))
        told = looked = time.perf_counter()

        def between_slices() -> None:
            nonlocal told, looked
            if store is not None:
                store.commit_if_due()
            now = time.perf_counter()
            if run.judged and now - looked > BETWEEN_LOOKS:
                looked = now
                both = np.array([run.start, run.state()])
                energies, problem = None, None
                if potential is not None:
                    energies, problem = _potential_energies(run, potential, np.array([run.t0, run.now]), both)
                if problem is None and first_blown(system, both, energies):
                    raise blown_up(run.now, run.t0, run.done, run.chosen.label, run.finer, system)
            if run.share >= 1.0 or now - told >= stepping.SLICE_SECONDS / 2:
                told = now
                report_progress(Progress(run.done, total, run.seconds, "running", run.share))
            if watch.pressed:
                raise KeyboardInterrupt

        try:
            run.carry_out(record, every, samples, between_slices)
            run.close()
        except Ended as ended:
            run.ended = ended.event
            record.cut(run.ended.time, run.direction)
            if not record.count or record.times[record.count - 1] != run.ended.time:
                most, size = int(run.step_info[L.ROW_ITERATIONS]), run.last
                record.room(1)
                record.add(run.ended.time, run.ended.state, most, size)
            stopped = str(ended)
            report_progress(Progress(run.done, total, run.seconds, "running", 1.0))
        except (StepFailed, UserFunctionError, FileProblem, InvalidInput) as failed:  # the last: rows beyond all memory
            error = failed
        except KeyboardInterrupt:
            of = "" if total is None else f" of {total}"
            where = f", which are in {store.path}" if store is not None and store.kept is not None else ""
            error = Interrupted(f"interrupted after {run.done}{of} steps (t = {run.now:g}){where}")
        watch.over = True
        if not stopped and (samples is None or error is not None):
            t = run.now
            if not record.count or (t - record.times[record.count - 1]) * run.h > 0.0:
                record.add(t, run.state(), int(run.step_info[L.ROW_ITERATIONS]), run.last)
        if store is not None and not isinstance(error, FileProblem):
            try:
                store.commit(over=error is None)
            except FileProblem as refused:
                error = error or refused
        ds = finish(run, recipe, potential, record, error, stopped)
        if watch.pressed:  # since the last look
            raise Interrupted("interrupted when the run was over", trajectory=ds)
        return ds


def _order(system: System, chosen: MethodSpec) -> dict[str, Any]:
    """The order of a method on a system, and what is to be said of it."""
    p = chosen.promises
    if p.thermal:
        return {"order": p.order, "order_note": "order of averages: a heat bath takes part in the motion"}
    if not isfinite(p.order):
        return {"order": "exact"}
    if p.order_velocity == p.order or not (
        system.velocity_dependent or any(own.by_velocity for own in system.auxiliary)
    ):
        return {"order": p.order}
    kept = f"{p.kept_by} keeps {p.order}" if p.kept_by else f"without such loads it is {p.order}"
    lower = f"order {p.order_velocity}"
    if system.velocity_dependent:
        return {"order": p.order_velocity, "order_note": f"{lower} with velocity-dependent loads; {kept}"}
    return {"order": p.order, "order_note": f"{lower} of the work, {p.order} of the motion; {kept}"}


def kind_of_run(chosen: MethodSpec, recipe: Mapping[str, Any]) -> type[Run]:
    if chosen.prepare().step_density:
        return TimeTransformedRun
    return Run if "step" in recipe else AdaptiveRun


def finish(
    run: Run, recipe: Mapping[str, Any], potential: Any, record: Record, error: PolhodeError | None, stopped: str
) -> xr.Dataset:
    """The Dataset of what a run has recorded; where there is an error it is raised, with the Dataset on it."""
    rows = (record.times, record.states, record.iterations, record.sizes)
    times, states, iterations, sizes = (a[: record.count] for a in rows)
    energies = None
    if potential is not None:
        energies, problem = _potential_energies(run, potential, times, states)
        if len(energies) < len(times):
            # A run that had failed before tells of that.
            error = error or problem
            times, states, iterations, sizes = (a[: len(energies)] for a in (times, states, iterations, sizes))
    warned = error is None and run.guard
    if run.judged and len(times):
        ratios = energy_ratios(run.system, states, energies)
        k = first_beyond(ratios, BEYOND)
        if k and (error is None or isinstance(error, NotFinite)):
            error = blown_up(times[k], times[k - 1], run.number(times[k]), run.chosen.label, run.finer, run.system)
            times, states, iterations, sizes = (a[:k] for a in (times, states, iterations, sizes))
            energies = None if energies is None else energies[:k]
        elif warned:
            k = first_beyond(ratios, LARGE)
            if k:
                message = large_error(ratios.max(), times[k], run.chosen.label, run.finer, run.system)
                warn(message, EnergyWarning)
    if warned and error is None:
        told = coarse_loads(run, times, states)
        if told:
            warn(told, CoarseStepWarning)
    step_settings = run.step_settings
    named = next(iter(step_settings))
    bath = run.integrator.prepared.bath
    kept = bath.keeps if bath is not None and run.chosen.promises.thermal else None
    attributes = {
        "title": f"{run.system.name}, {run.chosen.label}, {named} {step_settings[named]:g}",
        "system": run.system.name,
        "method": run.chosen.label,
        "method_description": run.chosen.method.description,
        **_order(run.system, run.chosen),
        "citation": run.chosen.method.cite,
        **step_settings,
        "load_evaluations": run.integrator.evaluations,
        **({"load_evaluations_by_velocity": run.integrator.repeated} if run.integrator.repeated else {}),
        **({"sums": "compensated"} if run.chosen.compensated else {}),
        "conserves": ", ".join(name for name in run.system.conserves if kept is None or name in kept),
        "conventions": CONVENTIONS,
        "units": recipe["units"],
        "polhode_version": release(),
        "run": json.dumps(recipe),
    }
    if "epoch" in recipe:
        attributes["epoch"] = recipe["epoch"]
    if error is not None:
        attributes["incomplete"] = str(error)
    if stopped:
        attributes["stopped"] = stopped
    chart = run.integrator.prepared.coordinates
    compensation = run.integrator.prepared.compensation
    ds = dataset(run.system, times, states, iterations, energies, attributes, recipe["units"], chart, compensation)
    if run.adaptive or run.time_transformed_run:
        ds["step"] = ("time", sizes.copy(), {"long_name": MEANING["step"], "units": UNITS[recipe["units"]]["step"]})
    if recipe.get("events") or run.system.impulses or run.system.watches:
        slack = 4.0 * EPSILON * max(abs(run.t0), abs(run.now), run.last)
        found = [e for e in run.event_detection.found if stopped or (e.time - run.now) * run.direction <= slack]
        ds = with_events(ds, run.system, rows_of(found, L.BODY * run.system.N), recipe["units"])
    if bath is not None:
        first = L.BODY * run.system.N + len(run.system.auxiliary)
        numbers = states[:, first : first + bath.numbers.size].copy()
        ds = with_bath(ds, numbers, bath.energy(numbers, run.integrator.bath_coefficients), recipe["units"])
    if run.time_transformed_run:
        words = {"long_name": MEANING["clock"], "units": UNITS[recipe["units"]]["clock"]}
        ds["clock"] = (("time", "clock_number"), states[:, -L.TIME_VARIABLES :].copy(), words)
    ds.encoding["seconds"] = run.seconds
    if error is not None:
        error.trajectory = ds
        raise error
    return ds


def _potential_energies(
    run: Run, potential: Any, times: Any, states: Any
) -> tuple[Any, UserFunctionError | NotFinite | None]:
    """Potential energy of the rows, up to the first where it fails, and that failure."""
    system = run.system
    energies = np.full(len(times), np.nan)
    problem: Exception | None = None
    try:
        drive.energy_loop()(times, states, run.integrator.bodies, run.integrator.parameters, potential, energies)
    except Exception as caught:
        problem = caught
    failed = np.flatnonzero(~np.isfinite(energies))
    if not failed.size:
        return energies, None
    k = int(failed[0])
    t = float(times[k])
    where: dict[str, Any] = {"step": run.number(t), "time": t}
    bridge = system.bridged_potential()
    if bridge is not None and not isinstance(problem, UserFunctionError):
        try:
            drive.energy_loop()(
                times[k : k + 1],
                states[k : k + 1],
                run.integrator.bodies,
                run.integrator.parameters,
                bridge,
                energies[k : k + 1],
            )
        except Exception as again:
            problem = again
    if problem is None:
        return energies[:k], NotFinite(f"the potential energy is not finite at t = {t:.9g}", **where)
    error = UserFunctionError(str(problem), **where)
    error.__cause__ = problem.__cause__ or problem
    return energies[:k], error


def rerun(
    ds: xr.Dataset, *, progress: Callable[[Progress], None] | bool | None = None, threads: int = 1,
    **functions: Callable[..., Any],
) -> xr.Dataset:  # fmt: skip
    """Run again what a Dataset records; the numbers are the same, bit for bit, on the same machine and version.

    Parameters
    ----------
    ds : xarray.Dataset
        From ``integrate`` or read from disk.
    progress, threads : function or True, int
        As for ``integrate``.
    **functions : function
        The user's functions by keyword (``torque=f``): a Dataset keeps their source for reading and never runs it.

    Raises
    ------
    InvalidInput
        No recipe in the Dataset, or a function missing or not wanted.
    """
    trajectory(ds)
    if "run" not in ds.attrs:
        raise InvalidInput("this Dataset records no run: it has no attribute 'run'")
    recipe, system, chosen, events = rebuilt(ds.attrs["run"], functions)
    return carry_out(system, chosen, recipe, progress, events, None, checked_threads(threads))


def rebuilt(
    text: Any, functions: Mapping[str, Callable[..., Any]], system: System | None = None, call: str = "rerun(ds, "
) -> tuple[dict[str, Any], System, MethodSpec, list[Event]]:
    """A recipe, its system, method and events, with the user's functions, or a system of the user's, handed in again.

    Raises
    ------
    InvalidInput
        What is missing or not wanted; ``call`` is how the words that tell of it begin. The text may come from anybody:
        it is no recipe, or one that ``integrate`` would have refused.
    """
    try:
        recipe = json.loads(text)
        found = _rebuilt(recipe, functions, system, call)
        _check_recipe(recipe, *found[:2])
    except PolhodeError:
        raise
    except Exception as wrong:  # of whatever kind and number things are that should be others
        raise InvalidInput(
            f"the record of this run is not one that polhode wrote ({type(wrong).__name__}: {wrong}); use integrate "
            "instead"
        ) from wrong
    return recipe, *found


def _check_recipe(recipe: Mapping[str, Any], system: System, chosen: MethodSpec) -> None:
    """What ``integrate`` would have refused, and a state that is not as long as its kernels take it to be."""
    prepared = chosen.prepare()
    names = ("t_end", "steps", "t0")
    if "rtol" in recipe:
        end, _, start = (recipe.get(name) for name in names)
        sizes = (recipe[name] for name in ("first_step", "max_step", "max_steps"))
        h, n, start = whole(tolerances(recipe["rtol"], recipe["atol"], end, None, start, *sizes))
    elif prepared.step_density:
        h, n, start = whole(time_transformed_span(recipe["step"], *(recipe[name] for name in names)))
    else:
        h, n, start = span(recipe["step"], None, *(recipe[name] for name in names[1:]))
        h = -h if recipe["backwards"] is True else h
    every = checked_every(recipe["every"])
    if recipe["t_eval"] is not None:
        sample_times(list(recipe["t_eval"]), every, start, h, n)
    if not isinstance(recipe["guard"], bool):
        raise InvalidInput(f"guard is {recipe['guard']!r}, neither true nor false")
    checked_breaks(recipe.get("breaks", []), -inf, inf)
    if recipe["units"] not in UNITS:
        raise unknown_name("units", recipe["units"], UNITS)
    upright = np.zeros((system.N, L.BODY))
    upright[:, L.ATTITUDE] = 1.0
    size = extended(system, prepared, upright.ravel()).size
    vector(np.array(recipe["state"], dtype=float), "state", size)


def _rebuilt(
    recipe: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]], system: System | None, call: str
) -> tuple[System, MethodSpec, list[Event]]:
    events, rest = [], dict(functions)
    for given in recipe.get("events", ()):
        if given["kind"] == "user":
            name = given["name"]
            if name not in functions:
                raise InvalidInput(f"this run used a function for the event {name!r}; hand it in again: "
                                   f"{call}{name}={given['function']['function']})")  # fmt: skip
            rest.pop(name, None)
            given = given | {"function": functions[name]}
        events.append(event_of(given))
    if system is None:
        if recipe["system"]["arguments"].get("n", 0) * L.BODY > len(recipe["state"]):
            raise InvalidInput("the record of this run has more bodies than its state")
        system = rebuild(recipe["system"], rest, call)
    else:
        for key in rest:
            raise unknown_name("function of this run", key, ["(none, for the system is handed in)"])
        name, width = recipe["system"]["name"], L.BODY * system.N + len(system.auxiliary)
        if system.name != name or width > len(recipe["state"]):
            raise InvalidInput(f"this run is of a system {name!r}; {system.name!r} of {system.N} bodies is handed in")
        if "parameters" in recipe:
            system = with_parameters(system, recipe["parameters"])
    chosen = replace(find_method(recipe["method"]), compensated=recipe.get("compensated", False))
    return system, chosen, events


def rebuild(recipe: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]], call: str = "rerun(ds, ") -> System:
    """The system of a recipe, with the user's functions handed in again."""
    if recipe["name"] not in SYSTEMS and not call.startswith("rerun"):
        raise InvalidInput(f"no function of polhode builds the system {recipe['name']!r}; hand it in: {call}system=s)")
    if recipe["name"] not in SYSTEMS:
        raise InvalidInput(f"no function of polhode builds the system {recipe['name']!r}; use integrate instead")
    arguments = dict(recipe["arguments"])
    wanted = {key for key, value in arguments.items() if isinstance(value, dict) and "sha256" in value}
    for key in sorted(wanted - set(functions)):
        name = arguments[key]["function"]
        raise InvalidInput(f"this run used a function for {key!r}, {name!r}; hand it in again: {call}{key}={name})")
    for key in sorted(set(functions) - wanted):
        raise unknown_name("function of this run", key, wanted or ["(none)"])
    return built(recipe["name"], arguments, functions)
