"""The state vector that a run starts from, of the bodies and of the numbers that the method keeps beside them."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.algebra.quaternion import multiply, rotate_inverse
from polhode.algebra.short_rows import any_of, largest, smallest
from polhode.arguments import (
    NUMBERS,
    UNKNOWN,
    Array,
    ArrayLike,
    InSI,
    Mask,
    array,
    has,
    has_quantity,
    in_unit,
    truth,
    vector,
)
from polhode.bodies.inertia import RELATIVE_TOLERANCE
from polhode.errors import InvalidInput, shown, unknown_name
from polhode.flows.sums import COMPENSATION, OF_POINTS
from polhode.kernel import layout as L
from polhode.kernel.jit import FLOAT
from polhode.methods import CompiledMethod, MethodSpec
from polhode.runs.again import LARGEST, OVERFLOWING, ROUNDED, begin_members, one_body
from polhode.runs.integrator import extended, lengths_of
from polhode.runs.state import FORMS, KNOWN, STATE_WORDS, UNITS_OF_STATE, as_kept, in_si
from polhode.systems import System
from polhode.systems.carried import OF_GYROS, OF_WHEELS
from polhode.systems.joined import met
from polhode.trajectory.quantities import writable

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

UNIT = 1e-14
"""Squared lengths of quaternions this near 1 are those of attitudes a run has had."""
ATTITUDE = slice(L.ATTITUDE, L.ANGULAR)
"""Where the attitude stands among the 13 numbers of a body in a state."""
ANGULAR_MOMENTUM = slice(L.ANGULAR, L.BODY)
"""Where its angular momentum stands there, in the frame of the principal axes."""


SAID = {
    "attitude": (1, 1, 5), "angular_velocity": (2, 5, 8), "angular_momentum": (4, 5, 8), "position": (8, 8, 11),
    "velocity": (16, 11, 14), "momentum": (32, 11, 14),
}  # fmt: skip
"""Of each word of a start its bit, and where its numbers stand in what ``one_body`` takes; the bits are the first."""
UNSAID = [0.0, 1.0, *[0.0] * 12]
"""The same of a start of which nothing is said."""


PUT = {word: (bit, struct.Struct(f"{end - at}d").pack_into, 8 * at) for word, (bit, at, end) in SAID.items()}
"""Of each word its bit, what writes its numbers, and where."""
ALL, UNTURNED = struct.Struct(f"{len(UNSAID)}d"), (1.0, 0.0, 0.0, 0.0)


def say(start: Mapping[str, Any], given: bytearray | memoryview, before: int = 0) -> int:
    """Write a start of plain numbers as ``one_body`` takes it; the bits of its words. Where anything is unusual -1, or
    an exception. ``before``: the bits of what stands there."""
    bits = 0
    for word, value in start.items():
        if value is None:
            continue
        (bit, put, at), kind = PUT[word], type(value)
        if kind is tuple or kind is list:
            for x in value:
                if type(x) not in NUMBERS:
                    return -1
        elif kind is np.ndarray and value.dtype is FLOAT and value.ndim == 1:
            value = value.tolist()
        elif word == "velocity" and _is_zero(value):
            value = (0.0, 0.0, 0.0)
        else:
            return -1
        put(given, at, *value)
        bits |= bit
    if before & ~bits:  # of which nothing is said now
        ALL.pack_into(given, 0, *UNSAID)
        return say(start, given)
    if bits != before:
        struct.pack_into("d", given, 0, bits)
    return bits


def said_of(start: Mapping[str, Any]) -> list[float] | None:
    """A start of plain numbers as ``one_body`` takes it; None where anything is unusual."""
    found = bytearray(ALL.pack(*UNSAID))
    try:
        return list(ALL.unpack(found)) if say(start, found) >= 0 else None
    except (KeyError, OverflowError, struct.error):
        return None


def of_one_body(alone: tuple[float, ...] | None, start: Mapping[str, Any]) -> list[float] | None:
    """What ``start_state`` makes of plain numbers for one body, bit for bit, in a tenth of the time; None where
    anything is unusual."""
    y = [0.0] * L.BODY
    return y if alone and (given := said_of(start)) and one_body(given, alone, y) else None


MANY = 64
"""Bodies from which on one call of a kernel writes where they start."""


def of_arrays(
    said: list[float],
    words: Mapping[str, Any],
    about: Sequence[float],
    mass: Array,
    moments: Array,
    frames: Array,
    count: int,
) -> Array | None:
    """Starts (count, 13) of bodies, or of members of one, by one call of a kernel: what is ``said`` of all, and arrays
    of what is said of each; None where anything is unusual."""
    said, own = said.copy(), [np.empty((0, 0))] * 4
    for name, values in words.items():
        bit, at, end = SAID[name]
        if type(values) is not np.ndarray or values.dtype != FLOAT or values.shape != (count, end - at):
            return None
        said[0], own[at // 3] = said[0] + bit, writable(values)
    made = np.empty((count, L.BODY))
    usual = begin_members(np.array(said), np.array(about), *own, *map(writable, (mass, moments, frames)), made)
    return made if usual == count else None


def start_state(
    system: System,
    attitude: ArrayLike | Rotation | None = None,
    angular_velocity: ArrayLike | None = None,
    angular_momentum: ArrayLike | None = None,
    position: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    momentum: ArrayLike | None = None,
) -> Array:
    """The state in which bodies start, as the flat array that methods step.

    Parameters
    ----------
    system : System
        What moves.
    attitude, angular_velocity, angular_momentum, position, velocity, momentum : array_like, optional
        As of ``polhode.integrate``: of one body, shape (k,), or of all, shape (N, k). What is left out is not turned,
        at rest and at the origin.

    Returns
    -------
    array (13 N)
        Of each body in turn the position (3), momentum (3), attitude (4) and angular momentum (3, in the frame of its
        principal axes): ``ATTITUDE`` and ``ANGULAR_MOMENTUM`` are the slices of the last two.

    Raises
    ------
    InvalidInput
        No system, or values that its bodies cannot have.

    See Also
    --------
    polhode.checks.stepper : takes steps from such a state.

    Examples
    --------
    >>> import polhode as ph
    >>> y = ph.runs.start_state(ph.free_body((1, 2, 3)), angular_velocity=(0, 0, 2))
    >>> y[ph.runs.ATTITUDE].tolist(), y[ph.runs.ANGULAR_MOMENTUM].tolist()
    ([1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 6.0])
    """
    if not has(system, "alone"):
        raise InvalidInput(f"system must be one such as polhode.free_body(...), not {shown(system)}")
    turning = {"attitude": attitude, "angular_velocity": angular_velocity, "angular_momentum": angular_momentum}
    moving = {"position": position, "velocity": velocity, "momentum": momentum}
    if (quick := of_one_body(system.alone, turning | moving)) is not None:
        return np.array(quick)
    attracted, N = "central_gravity" in system.provides, system.N
    if N >= MANY and not attracted and system.pins is None:
        words = {name: value for name, value in (turning | moving).items() if value is not None}
        of_each = system.mass[:, None], system.moments[:, None], system.frames[:, None]
        if (many := of_arrays(UNSAID, words, [0.0] * 9, *of_each, N)) is not None:
            return many.ravel()
    y = np.zeros(L.BODY * N)
    body = y.reshape(N, L.BODY)
    body[:, L.ATTITUDE] = 1.0
    for names, allowed, does in ((turning, system.rotates, "turn"), (moving, system.translates, "move through space")):
        for name, value in names.items():
            if value is not None and not allowed:
                raise InvalidInput(f"{name} is given, but the bodies of {system.name!r} do not {does}; leave it out")
    if angular_velocity is not None and angular_momentum is not None:
        raise InvalidInput("angular_velocity and angular_momentum are both given; keep one of them")
    if velocity is not None and momentum is not None:
        raise InvalidInput("velocity and momentum are both given; keep one of them")
    frames = np.asarray(system.frames, dtype=float)
    axes = system.without_thickness[:, None] & np.isinf(system.moments)
    if attitude is not None:
        q = _of_bodies(attitude, "attitude", N, 4)
        a = q.T
        length = np.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])  # rounds as that of one body does
        wrong = np.flatnonzero(np.abs(length - 1.0) > 1e-6)
        if wrong.size:
            i = int(wrong[0])
            raise InvalidInput(
                f"attitude{f' of body {i}' * (np.ndim(attitude) == 2)} has length {length[i]:g}; give a unit "
                "quaternion (w, x, y, z)"
            )
        body[:, L.ATTITUDE : L.ATTITUDE + 4] = q / np.where(np.abs(length - 1.0) > ROUNDED, length, 1.0)[:, None]
    body[:, L.ATTITUDE : L.ATTITUDE + 4] = _by_columns(multiply, body[:, L.ATTITUDE : L.ATTITUDE + 4], frames)
    if angular_velocity is not None:
        omega = _by_columns(rotate_inverse, frames, _of_bodies(angular_velocity, "angular_velocity", N, 3))
        omega = _across(axes, omega, "angular_velocity")
        body[:, L.ANGULAR : L.ANGULAR + 3] = _heavy(system.moments, omega, "angular_velocity", "turn")
    if angular_momentum is not None:
        m = _of_bodies(angular_momentum, "angular_momentum", N, 3)
        body[:, L.ANGULAR : L.ANGULAR + 3] = _across(axes, _by_columns(rotate_inverse, frames, m), "angular_momentum")
    _check_size(system.moments, body[:, L.ANGULAR :])
    if position is not None:
        body[:, L.POSITION : L.POSITION + 3] = _of_bodies(position, "position", N, 3)
    for i in map(int, np.flatnonzero(np.isinf(system.mass))) if system.pins is not None else ():
        own, pin = body[i, L.POSITION : L.POSITION + 3], system.pins[i]
        if own.any() and (own != pin).any():
            raise InvalidInput(f"body {i} of {system.name!r} is pinned at {pin.tolist()}, but its position at the "
                               f"start is {own.tolist()}; leave it out")  # fmt: skip
        own[:] = pin
    if velocity is not None:
        v = _of_bodies((0.0, 0.0, 0.0) if _is_zero(velocity) else velocity, "velocity", N, 3)
        body[:, L.MOMENTUM : L.MOMENTUM + 3] = _heavy(system.mass[:, None], v, "velocity", "move through space")
    if momentum is not None:
        body[:, L.MOMENTUM : L.MOMENTUM + 3] = _of_bodies(momentum, "momentum", N, 3)
    distance = largest(np.abs(body[:, L.POSITION : L.POSITION + 3])) if attracted else np.inf
    if attracted and (np.isfinite(system.mass) & (distance < 1.0 / OVERFLOWING)).any():
        given = "is missing" if position is None else "is at the centre, where the attraction is infinite"
        raise InvalidInput(f"position {given}; say where the orbit begins")
    return y


OF_BODY = (*FORMS, *STATE_WORDS[3:])
"""Words that a start has of one body."""
OF_ROTORS = (*OF_WHEELS, *OF_GYROS)
"""States of the rotors in it."""


def by_name(names: tuple[str, ...], start: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a start says of all bodies, and of each by its name: words of a body, and states of its rotors."""
    found: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for name, one in start.items():
        if name not in names and (name == "states" or not isinstance(one, Mapping)):
            found[name] = one
            continue
        if name not in names or not isinstance(one, Mapping):
            raise unknown_name("body of the system, given in start", name, names)
        one = one if one.keys() <= KNOWN else in_si(one, f"start.{name}")
        for word in one:
            if word not in (*OF_BODY, *OF_ROTORS):
                raise unknown_name(f"word in start.{name}", word, (*OF_BODY, *OF_ROTORS))
        own[name] = {word: value for word, value in one.items() if word not in OF_ROTORS}
        rotors = {f"{name}.{word}": one[word] for word in OF_ROTORS if one.get(word) is not None}
        if rotors:
            found["states"] = {**(found.get("states") or {}), **rotors}
    return found, own


def rows_by_name(names: tuple[str, ...], start: object) -> Any:
    """A start of bodies by their names, ``{"a": {"position": ...}, ...}``, as rows; any other as it is, but for the
    states of rotors, which stand among the states."""
    if isinstance(start, Mapping) and not {*OF_ROTORS}.isdisjoint(start):
        own = {word: start[word] for word in OF_ROTORS if start.get(word) is not None}
        start = {word: one for word, one in start.items() if word not in OF_ROTORS}
        start["states"] = {**(start.get("states") or {}), **own}
    if not names or not isinstance(start, Mapping) or not any(isinstance(one, Mapping) for one in start.values()):
        return start
    found, own = by_name(names, start)
    measured = set[str]()
    for name, one in own.items():
        said = {word: word.removesuffix("_space") for word, value in one.items() if has_quantity(value)}
        measured |= {*said.values()} & {*STATE_WORDS[1:]}
        one |= {word: in_unit(one[word], UNITS_OF_STATE[base], word) for word, base in said.items() if base in measured}
        moving = {word: one[word] for word in STATE_WORDS[3:] if one.get(word) is not None}
        for word, value in (as_kept(one) | moving).items():
            if word in start:
                raise InvalidInput(f"start has {word} of all bodies and of {name!r}; keep one of them")
            width = 4 if word == "attitude" else 3
            rows = found.setdefault(word, np.tile([1.0, 0.0, 0.0, 0.0] if width == 4 else [0.0] * 3, (len(names), 1)))
            rows[names.index(name)] = vector(value, f"{word} of {name}", width)
    return found | {word: InSI(found[word], UNITS_OF_STATE[word]) for word in measured}


def check_moving(attracted: bool, velocity: object, momentum: object) -> None:
    """Refuse a start about a centre of attraction that does not say how anything moves."""
    if attracted and velocity is None and momentum is None:
        raise InvalidInput(
            "velocity is missing, and from rest everything falls into the centre; give velocity or momentum, or say "
            "velocity=0 where that is meant"
        )


def initial_state(system: System, chosen: MethodSpec, given: Mapping[str, Any], t0: float) -> Array:
    """State vector a method starts from: behind the bodies stand its own numbers, which follow from the start or are
    given (``coordinates``, ``compensation``, ``thermostat``, ``time_variables``)."""
    prepared, N = chosen.prepare(), system.N
    chosen.method.check_complete(chosen.options)
    coordinates, compensation, thermostat, time_variables = (
        given.get(name) for name in ("coordinates", "compensation", "thermostat", "time_variables")
    )
    own, bath = prepared.coordinates, prepared.bath
    if thermostat is not None and bath is None:
        raise InvalidInput(f"method {chosen.label!r} has no heat bath; leave thermostat out")
    check_sums(chosen, system.translates, system.name)
    if compensation is not None and not prepared.compensation:
        raise InvalidInput("compensation is given without the setting compensated, to which it belongs; leave it out")
    y = start_state(system, **{name: given.get(name) for name in STATE_WORDS})
    if system.mechanism is not None or given.get("project"):
        y = met(system, y, truth(given.get("project") or False, "project"))
    if time_variables is not None and not prepared.step_density:
        raise InvalidInput(
            f"method {chosen.label!r} has no time transformation; leave time_variables out (clock in a scenario)"
        )
    if coordinates is not None and own is None:
        raise InvalidInput(f"method {chosen.label!r} has no coordinates of its own; give the attitude")
    if coordinates is not None and own is not None:
        if given.get("attitude") is not None:
            raise InvalidInput(f"attitude and coordinates ({own.name}) are both given; keep one of them")
        coordinates = _of_bodies(coordinates, "coordinates", N, own.size)
    if compensation is not None:
        compensation = _compensation(system, prepared, y, compensation, given.get("attitude"))
    if thermostat is not None and bath is not None:
        thermostat = vector(thermostat, "thermostat", bath.numbers.size, UNKNOWN)
    y = extended(system, prepared, y, coordinates, compensation, thermostat)
    if time_variables is not None:
        y[-L.TIME_VARIABLES :] = vector(time_variables, "time_variables", L.TIME_VARIABLES, UNKNOWN)
        if not y[2 - L.TIME_VARIABLES] >= 0.0:
            density = y[2 - L.TIME_VARIABLES]
            raise InvalidInput(f"time_variables[2], the density of steps, is {density:g}; it must be positive")
        y[-L.TIME_VARIABLES] = t0
    attracted = "central_gravity" in system.provides
    check_moving(attracted, given.get("velocity"), given.get("momentum"))
    wrong = "" if system.check is None else system.check(y[: L.BODY * system.N])
    if wrong and given.get("position") is None:
        raise InvalidInput(
            "position is missing; say where the bodies are, for instance on a lattice: polhode.initial.cubic, or "
            "lattice = 'cubic' in a scenario"
        )
    if wrong:
        raise InvalidInput(f"the run cannot start: {wrong}")
    return y


def check_sums(chosen: MethodSpec, translates: bool, name: str) -> None:
    """Refuse compensated sums of what the bodies of the system of this name do not do."""
    prepared = chosen.prepare()
    if prepared.compensation and not (translates or prepared.compensates_rotation):
        raise InvalidInput(
            f"the compensated sums of method {chosen.label!r} are of positions and momenta, but the bodies of "
            f"{name!r} do not move through space; leave them out, or take a splitting with exact free rotations "
            "such as 'rkn6_14a', or 'mkrk:gauss12'"
        )


def _compensation(system: System, prepared: CompiledMethod, y: Array, given: object, attitude: object) -> Array:
    """Compensation (N, 13, principal frames) from what is given: of positions and momenta only (6), or of all."""
    N, frames = system.N, np.asarray(system.frames, dtype=float)
    numbers, made = array(given, "compensation", ""), np.zeros((N, COMPENSATION))
    if numbers.shape[-1:] == (OF_POINTS,) or not (system.rotates and prepared.compensates_rotation):
        made[:, :OF_POINTS] = _of_bodies(numbers, "compensation", N, OF_POINTS)
        return made
    q, m = slice(L.ATTITUDE, L.ANGULAR), slice(L.ANGULAR, L.BODY)
    made[:] = _of_bodies(numbers, "compensation", N, COMPENSATION)
    made[:, q] = _by_columns(multiply, made[:, q], frames)
    made[:, m] = _by_columns(rotate_inverse, frames, made[:, m])
    if attitude is not None:
        kept = _of_bodies(attitude, "attitude", N, 4)
        unit = np.abs((kept * kept).sum(axis=1) - 1.0) < UNIT
        y[: L.BODY * N].reshape(N, L.BODY)[unit, q] = _by_columns(multiply, kept, frames)[unit]
    return made


def _heavy(inertia: Array, rate: Array, name: str, does: str) -> Array:
    """inertia times rate of every body; what has infinite inertia stays at rest."""
    fixed = ~np.isfinite(inertia)
    moved = np.flatnonzero(any_of(fixed & (rate != 0.0))) if fixed.any() else np.zeros(0)
    if moved.size:
        raise InvalidInput(f"{name} of body {moved[0]} is not zero, but that body does not {does}")
    with np.errstate(over="ignore"):
        made = np.where(fixed, 0.0, inertia) * rate
    if not np.isfinite(made).all():
        raise InvalidInput(f"{name} times the inertia is beyond 1e308; check their units")
    return made


def _is_zero(value: object) -> bool:
    """Whether a value is the number 0, which says that nothing moves."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and value == 0


def _across(axes: Mask, spin: Array, name: str) -> Array:
    """Angular velocities or momenta (N, 3, principal frame), of bodies without thickness across their axis only."""
    if not axes.any():
        return spin
    along = np.where(axes, spin, 0.0)
    wrong = np.flatnonzero(largest(np.abs(along)) > RELATIVE_TOLERANCE * largest(np.abs(spin)))
    if wrong.size:
        raise InvalidInput(
            f"{name} of body {wrong[0]} has a part along the axis about which its moment of inertia is zero, but a "
            "body without thickness does not turn about its own axis; leave that part out, or give it a thickness"
        )
    return spin - along


def _check_size(moments: Array, m: Array) -> None:
    """Refuse bodies and momenta whose squares and products would over- or underflow."""
    sizes = np.abs(m)
    if min(sizes.min(), moments.min()) >= 1.0 / LARGEST and max(sizes.max(), moments.max()) <= LARGEST:
        return
    turns = np.isfinite(moments)
    low, high = smallest(np.where(turns, moments, np.inf)), largest(np.where(turns, moments, 0.0))
    size, rotates = largest(sizes), any_of(turns)
    for name, values in (("moments of inertia", low), ("moments of inertia", high), ("angular momentum", size)):
        wrong = np.flatnonzero(rotates & (values > 0.0) & ((values < 1.0 / LARGEST) | (values > LARGEST)))
        if wrong.size:
            i = int(wrong[0])
            raise InvalidInput(
                f"{name} of body {i}: {values[i]:.3g} is beyond {1.0 / LARGEST:g} to {LARGEST:g}, where squares over- "
                "or underflow; choose other units"
            )


def _by_columns(kernel: Callable[..., Any], *rows: Array) -> Array:
    """A kernel of tuples on every row of arrays (N, k), rounded as it is on one row alone."""
    values, frames = rows if kernel is multiply else rows[::-1]
    if not (frames != UNTURNED).any() and values.all():  # it is they to the bit: what is added are zeros
        return values
    return np.stack(kernel(*(tuple(one.T) for one in rows)), axis=1)


def _of_bodies(value: object, name: str, N: int, length: int) -> Array:
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


def from_json(values: object, system: System, chosen: MethodSpec) -> Array:
    """The state of a record, checked to be as long as kernels take it to be."""
    return vector(np.array(values, dtype=float), "state", lengths_of(system, chosen.prepare())[0])


def to_json(values: Array) -> list[float] | str:
    """A state in JSON's types: a list of numbers, or where these are many the text of their bytes, which takes a
    twentieth of the time and half of the room (see ``numbers_of``)."""
    if values.size <= MOST_AS_LIST:
        return values.tolist()
    return PACKED + base64.b64encode(np.ascontiguousarray(values, dtype="<f8").data).decode("ascii")


MOST_AS_LIST = 1000
"""Most numbers of a state that a record holds as a list; those of 76 bodies."""
PACKED = "float64 little-endian base64:"


def numbers_of(kept: object) -> object:
    """The numbers of a state in a record: a list, or the bytes that ``to_json`` has written."""
    if not isinstance(kept, str):
        return kept
    if not kept.startswith(PACKED):
        raise ValueError("the state is in no form that is known")
    return np.frombuffer(base64.b64decode(kept.removeprefix(PACKED), validate=True), dtype="<f8").astype(float)
