"""The rows and columns of a state transition matrix: names, derivatives at the start, and their reading at the rows.

A state has minimal coordinates, body after body, without what a body lacks: position and momentum (space frame),
rotation and angular momentum (body frame of the user). The rotation is left-trivialised: R changes to R exp[theta]x.
The state of the kernels has quaternions and angular momenta in principal frames instead, which may vary with the
inertia.

How constants of a system depend on an argument of the function that builds it is found by differences of order 8, exact
where the dependence is a polynomial of degree 8, else to about 1e-14 of the constant; at the edge of what can be built
(the inertia of a flat body) by a polynomial of degree 10 on the side that can, to about 1e-12.
Inverse masses and moments follow from masses and moments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from polhode.algebra.quaternion import multiply, to_matrix
from polhode.arguments import Array, Indices
from polhode.capabilities import listed
from polhode.errors import InvalidInput, PolhodeError, unknown_name
from polhode.flows.gyrostat import tables_in, wheels_in
from polhode.kernel import layout as L
from polhode.methods.record import CompiledMethod
from polhode.programs.derive import alike
from polhode.runs.integrator import extended, goes_on
from polhode.runs.parameters import arguments_of, system_with, value_at
from polhode.runs.tangent.engine import Constants
from polhode.systems import System

AXES = "xyz"
POINT, TURNING = ("position", "momentum"), ("rotation", "angular_momentum")
SLOTS = {"position": L.POSITION, "momentum": L.MOMENTUM, "rotation": L.ATTITUDE, "angular_momentum": L.ANGULAR}
STENCIL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
"""Offsets and weights of differences of order 8."""
MIDDLE = (4 / 5, -2 / 5, 4 / 35, -1 / 70)
"""Weights of the sums of both sides by which a function of degree 8 is known in the middle."""
OFFSETS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""Offsets tried, relative to the value; smaller ones where a system cannot be built with the larger, or where its
constants are not smooth so far, as principal axes of moments that are nearly equal."""
FEW = 3
"""Numbers of one argument from which on it is tried whether they stand in a start as they are."""
SMOOTH, ROUNDED = 1e-10, 1e-15
"""Largest difference of constants from what their neighbours say, relative; and of such as vanish."""
STRAIGHT = 2e-15
"""Largest distance of values from a straight line, relative."""
INVERSES = range(L.INVERSE_INERTIA, L.INVERSE_INERTIA + 3)
ONE_SIDED = (0.1, -0.1, 0.01, -0.01)
"""Intervals tried, relative to the value, where a system can be built on one side of it only."""


def state_names(system: System) -> tuple[str, ...]:
    """Names of the minimal coordinates of all bodies, then of the auxiliary variables that loads read."""
    found = []
    for i, quantity in quantities(system):
        ending = f".{i}" if system.N > 1 else ""
        found += [f"{quantity}_{axis}{ending}" for axis in AXES]
    read = system.auxiliary[system.read_from :]
    return (*found, *(".".join([own.quantity, own.label]) if own.label else own.quantity for own in read))


def read_by_loads(system: System) -> range:
    """Where the states that loads read stand, whose coordinates are the last ones."""
    return range(L.BODY * system.N + system.read_from, L.BODY * system.N + len(system.auxiliary))


def seeds_along(system: System, y: Array, frames: Array, vectors: Array) -> Array:
    """Derivatives (..., width, vectors) of states along vectors (..., vectors, rows) in minimal coordinates."""
    along, read = np.swapaxes(vectors, -1, -2), read_by_loads(system)
    found = np.zeros((*y.shape, along.shape[-1]))
    found[..., read, :] = along[..., along.shape[-2] - len(read) :, :]
    for n, (i, quantity) in enumerate(quantities(system)):
        part, at = along[..., 3 * n : 3 * n + 3, :], L.BODY * i + SLOTS[quantity]
        if quantity in TURNING:
            part = np.swapaxes(_matrix(frames[..., i, :]), -1, -2) @ part
        if quantity == "rotation":
            w, a, b, c = np.moveaxis(y[..., at : at + 4], -1, 0)
            turns = np.array([[-a, -b, -c], [w, -c, b], [c, w, -a], [-b, a, w]])
            found[..., at : at + 4, :] = 0.5 * np.moveaxis(turns, (0, 1), (-2, -1)) @ part
        else:
            found[..., at : at + 3, :] = part
    return found


def quantities(system: System) -> Iterator[tuple[int, str]]:
    """Body and quantity of each three coordinates."""
    moves, turns = np.isfinite(system.mass), np.any(np.isfinite(system.moments), axis=1)
    for i in range(system.N):
        for quantity in (*POINT * bool(moves[i]), *TURNING * bool(turns[i])):
            yield i, quantity


def parameter_names(system: System, wanted: Sequence[str]) -> tuple[tuple[str, str, tuple[int, ...]], ...]:
    """Columns of parameters: name, path of the argument, and where in it the number is."""
    found: list[tuple[str, str, tuple[int, ...]]] = []
    known = arguments_of(system)
    for name in wanted:
        head = name.partition(".")[0]
        if head not in known:
            raise unknown_name("name in tangent", name, known)
        value = value_at(system, name)
        try:
            numbers = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            numbers = np.array(np.nan)
        if not np.isfinite(numbers).all():
            plain = [one for one in arguments_of(system) if type(system.arguments.get(one)) in (int, float)]
            raise InvalidInput(f"tangent has {name}, which is no number of {system.name}; name numbers, such as "
                               f"{listed(plain[:3]) or 'arguments'}")  # fmt: skip
        if not numbers.ndim:
            found.append((name, *_entry_of_tensor(system, name)))
        for where in np.ndindex(numbers.shape) if numbers.ndim else ():
            if len(where) == 2 and numbers.shape[0] == numbers.shape[1] and where[0] > where[1]:
                continue  # a symmetric tensor has each number once
            found.append((".".join([name, *map(str, where)]), name, tuple(where)))
    names = [name for name, _, _ in found]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput(f"tangent has {name} twice; keep one of them")
    return tuple(found)


def _entry_of_tensor(system: System, name: str) -> tuple[str, tuple[int, ...]]:
    """The path of a symmetric tensor and where in it the number of this name is: its mirror image changes with it. Of
    other numbers, their own path."""
    parent, *where = name.rsplit(".", 2)
    if len(where) == 2 and all(word.isdigit() for word in where) and where[0] != where[1]:
        tensor = np.array(value_at(system, parent), dtype=object)
        if tensor.shape == (3, 3) and (tensor == tensor.T).all():
            return parent, (int(where[0]), int(where[1]))
    return name, ()


class Start(NamedTuple):
    """Where a run starts as kernels see it: state, constants of bodies, frames, parameters; and what it reads of the
    system beside these; flat arrays."""

    state: Array
    bodies: Array
    frames: Array
    parameters: Array
    numbers: Array
    """Components of impulses, then numbers of the events at which steps are cut."""
    times: Array
    """When loads are switched, and impulses."""


def start_of(system: System, prepared: CompiledMethod, values: Array, frames: Array) -> Start:
    """The start for a system, with the attitudes and angular momenta in the users' frames of a state."""
    y = np.array(values, dtype=float)
    for i, (old, new) in enumerate(zip(frames, system.frames, strict=True)):
        if tuple(old) == tuple(new):
            continue
        at = L.BODY * i
        q, m = slice(at + L.ATTITUDE, at + L.ATTITUDE + 4), slice(at + L.ANGULAR, at + L.ANGULAR + 3)
        y[q] = multiply(multiply(tuple(y[q]), _conjugate(old)), tuple(new))
        y[m] = _matrix(new).T @ (_matrix(old) @ y[m])
    whole = extended(system, prepared, y[: L.BODY * system.N])
    numbers = [x for one in system.sudden for x in one.numbers]
    numbers += [x for watch in system.watches for x in (watch.numbers if watch.cuts else ())]
    times = [t for switch in system.switches for t in (switch.start, switch.stop)]
    times += [impulse.time for impulse in system.impulses]
    found = [np.array(one, dtype=float).ravel() for one in (system.frames, system.with_memory, numbers, times)]
    return Start(whole, system.bodies, *found)


def wheels_by_momentum(system: System) -> Array:
    """Derivatives (S, N, 3) of the states that loads read, where a run starts, by the angular momenta of the bodies in
    their principal frames: wheels start at speeds relative to the body."""
    found = np.zeros((len(system.auxiliary), system.N, 3))
    for i, at in tables_in(system.parameters, system.wheels_at, system.N):  # type: ignore[no-untyped-call]
        wheels, axes, inertia = wheels_in(system.parameters, at)  # type: ignore[no-untyped-call]
        found[wheels, i] = inertia[:, None] * axes / system.moments[i]
    return found[system.read_from :]


def _conjugate(q: Array) -> tuple[float, ...]:
    return (q[0], -q[1], -q[2], -q[3])


def _matrix(q: Array) -> Array:
    rows = np.array(to_matrix(tuple(np.moveaxis(q, -1, 0))), dtype=float)
    return np.moveaxis(rows, 0, -1).reshape(*q.shape[:-1], 3, 3)


def _products(a: Array, b: Array) -> Array:
    """Quaternion products of arrays (..., 4)."""
    return np.stack(multiply(tuple(np.moveaxis(a, -1, 0)), tuple(np.moveaxis(b, -1, 0))), axis=-1)


class Columns:
    """The columns of the transition matrix of a run: its names, and the derivatives with which kernels begin."""

    def __init__(self, system: System, prepared: CompiledMethod, values: Array, wanted: Sequence[str]) -> None:
        self.system, self.rows = system, state_names(system)
        self.kept: dict[Any, Any] = system.__dict__.setdefault("_named", {})
        if tuple(wanted) not in self.kept:
            self.kept[tuple(wanted)] = parameter_names(system, wanted)
        self.parameters: tuple[tuple[str, str, tuple[int, ...]], ...] = self.kept[tuple(wanted)]
        self.names = (*self.rows, *(name for name, _, _ in self.parameters))
        self.start = start_of(system, prepared, values, system.frames)
        if len(values) == self.start.state.size:
            self.start.state[:] = values
        K = len(self.names)
        self.seeds = np.zeros((self.start.state.size, K))
        self._of_state(prepared, values)
        self.varied: tuple[Array, Array, Array] | None = None
        self.changing = None
        if self.parameters:
            slopes = [self.seeds, *(np.zeros((a.size, K)) for a in self.start[1:5])]
            found = self._as_they_are(prepared)
            whole = [found[name] if name in found else self._by_parameter(prepared, name, path, where)
                     for name, path, where in self.parameters]  # fmt: skip
            for a, slope in zip(slopes, self._split(np.stack(whole, axis=1)), strict=True):
                a[:, len(self.rows) :] = slope
            self.varied, self.changing = (slopes[1][None], slopes[2][None], slopes[3][None]), slopes[4]

    def alike(self, part: int) -> Indices:
        """For each column the first one that is the same, as loads know some parameters by their sum alone; ``part``:
        those of the loads that a method calls."""
        programs = [self.system.dynamics_of(one) for one in {L.ALL, part}]
        if self.varied is None or self.changing is None or not all(one.traced for one in programs):
            return np.arange(len(self.names))
        changes = self.varied[2][0]
        sums, names = np.zeros_like(changes), tuple(f"p{slot}" for slot in np.flatnonzero(changes.any(axis=1)))
        whole = [alike(one.graph, (*one.force, *one.torque, *one.rates), names) for one in programs]
        firsts: dict[tuple[int | None, ...], int] = {}
        to = [firsts.setdefault(tuple(some.get(f"p{k}") for some in whole), k) if f"p{k}" in whole[0] else k
              for k in range(len(sums))]  # fmt: skip
        np.add.at(sums, to, changes)
        known, first = dict[bytes, int](), len(self.rows)
        every = np.concatenate([self.seeds, self.varied[0][0], self.varied[1][0], sums, self.changing]) + 0.0
        found = (known.setdefault(column.tobytes(), k) for k, column in enumerate(every.T[first:], first))
        return np.array([*range(first), *found])

    def constants_of(self, part: Indices) -> Constants:
        """The constants of the system with their derivatives for some columns."""
        _, bodies, frames, parameters, *_ = self.start
        varied: Any = self.varied and tuple(one[..., part] for one in self.varied)
        return Constants(bodies[None], frames[None], parameters[None], varied)

    def _of_state(self, prepared: CompiledMethod, values: Array) -> None:
        """Derivatives of the state at the start with respect to its minimal coordinates."""
        y, own = self.start.state, L.BODY * self.system.N
        self.seeds[:, : len(self.rows)] = seeds_along(self.system, y, self.system.frames, np.eye(len(self.rows)))
        if prepared.coordinates is not None:  # numbers in which the method keeps attitudes follow from these
            for k in range(len(self.rows)):

                def shifted(s: float, k: int = k) -> Array:
                    near = y[:own] + s * self.seeds[:own, k]
                    for i in range(self.system.N):
                        q = slice(L.BODY * i + L.ATTITUDE, L.BODY * i + L.ATTITUDE + 4)
                        near[q] /= np.linalg.norm(near[q])
                    return extended(self.system, prepared, near)[own:]

                self.seeds[own:, k] = slope(shifted, OFFSETS[1])

    @property
    def read_by_loads(self) -> tuple[range, int]:
        """Where the auxiliary variables that loads read stand in the state, and the first of their rows."""
        read = read_by_loads(self.system)
        return read, len(self.rows) - len(read)

    def following(self, by_state: Array) -> Array:
        """Derivatives (rows,) by the state at the start, where wheels start at the speeds which the system gives and so
        follow the angular momenta of their bodies; from those by a state of its own for each wheel."""
        _, first = self.read_by_loads
        found, by_momentum = by_state.copy(), wheels_by_momentum(self.system)
        for n, (i, quantity) in enumerate(() if self.given else quantities(self.system)):
            if quantity == "angular_momentum":
                slopes = by_momentum[:, i] @ _matrix(self.system.frames[i]).T
                found[3 * n : 3 * n + 3] += slopes.T @ by_state[first:]
        return found

    @property
    def given(self) -> bool:
        """Whether what loads read beside the bodies was given with the start."""
        return goes_on(self.system, self.start.state)

    def _numbers(self, prepared: CompiledMethod, other: System, name: str) -> Array:
        """All numbers of the start, in one row, of the system or one with another value of this argument."""
        system, read = self.system, self.read_by_loads[0]
        start = start_of(other, prepared, self.start.state[: L.BODY * system.N], system.frames)
        if self.given:
            start.state[read] = self.start.state[read]
        if any(a.shape != b.shape for a, b in zip(start, self.start, strict=True)):
            raise InvalidInput(f"{name} decides how many numbers {system.name} has; there is no derivative by it")
        if (start.times != self.start.times).any():
            raise _NoDerivative(f"{name} decides when the loads of {system.name!r} change, so there is no "
                                "derivative by it; name numbers that stay between these times")  # fmt: skip
        signs = np.sign(np.sum(start.frames.reshape(-1, 4) * self.start.frames.reshape(-1, 4), axis=1))
        frames = start.frames.reshape(-1, 4) * signs[:, None]
        own = start.bodies[: L.CONSTANTS * system.N].reshape(-1, L.CONSTANTS)
        own[:, [L.INVERSE_MASS, *INVERSES]] = 0.0  # they follow
        return np.concatenate([start.state, start.bodies, frames.ravel(), start.parameters, start.numbers])

    def _as_they_are(self, prepared: CompiledMethod) -> dict[str, Array]:
        """Derivatives of all numbers of the start by parameters that stand there as they are and where nothing else
        follows from them: two systems tell, in which all of one argument have values that differ."""
        found: dict[str, Array] = {}
        groups: dict[str, list[str]] = {}
        for name, path, where in self.parameters:
            if name == path and not where:
                groups.setdefault(name.partition(".")[0], []).append(name)
        for head, names in groups.items():
            if len(names) < FEW:
                continue
            with suppress(PolhodeError), np.errstate(invalid="ignore"):
                before, whose = self._numbers(prepared, self.system, head), []
                values, neighbours = self._neighbours(tuple(names))
                for others, neighbour in neighbours:
                    after = self._numbers(prepared, neighbour, head)
                    same = (after == before) | (np.isnan(after) & np.isnan(before))
                    here = (before[:, None] == values) & (after[:, None] == others) & ~same[:, None]
                    whose.append(here if (here.sum(axis=1) == ~same).all() else 0.0 * here)
                if (whose[0] == whose[1]).all() and whose[0].any(axis=0).all():
                    found |= {name: whose[0][:, k].astype(float) for k, name in enumerate(names)}
        return found

    def _neighbours(self, names: tuple[str, ...]) -> tuple[Array, list[tuple[Array, System]]]:
        """Values of numbers, and two systems in which all of them differ, with their values there; kept."""
        if ("near", names) not in self.kept:
            values = np.array([value_at(self.system, name) for name in names])
            away = OFFSETS[1] * (1.0 + np.arange(len(names)) / len(names))
            near = [values + share * np.where(values == 0.0, 1.0, np.abs(values)) for share in (-away, away)]
            made = [system_with(self.system, dict(zip(names, one.tolist(), strict=True))) for one in near]
            self.kept["near", names] = values, list(zip(near, made, strict=True))
        found: tuple[Array, list[tuple[Array, System]]] = self.kept["near", names]
        return found

    def _split(self, whole: Array) -> list[Array]:
        """Derivatives of all numbers as those of state, bodies, frames, parameters and the rest, with inverses."""
        own = slice(0, L.CONSTANTS * self.system.N)
        split = list(np.split(np.where(np.isfinite(whole), whole, 0.0), np.cumsum([a.size for a in self.start[:4]])))
        constants = self.start.bodies[own].reshape(-1, L.CONSTANTS, 1)
        slopes = split[1][own].reshape(-1, L.CONSTANTS, whole.shape[1])
        for numbers, inverses in ((L.MASS, L.INVERSE_MASS), (L.INERTIA, L.INVERSE_INERTIA)):
            n = 1 if numbers == L.MASS else 3
            known = constants[:, inverses : inverses + n]
            slopes[:, inverses : inverses + n] = -known * known * slopes[:, numbers : numbers + n]
        return split  # infinite masses of pinned bodies stay

    def _by_parameter(self, prepared: CompiledMethod, name: str, path: str, where: tuple[int, ...]) -> Array:
        """Those of all numbers of the start by a parameter, at fixed attitudes and momenta in the users' frames."""
        system, value = self.system, value_at(self.system, path)
        at = float(np.asarray(value, dtype=float)[where])
        problem: PolhodeError | None = None

        @cache  # differences and their checks share places
        def built(s: float) -> Array:
            changed: Array | float = at + s
            if where:
                changed = np.array(value, dtype=float)
                changed[where] += s
                if len(where) == 2 and where[0] != where[1]:
                    changed[where[::-1]] += s
            changes = {path: changed if where else float(changed)}
            return self._numbers(prepared, system_with(system, changes) if s else system, name)

        ways = [(_smooth_slope, offset) for offset in OFFSETS] + [
            (_smooth_slope_of_one_side, offset) for offset in ONE_SIDED
        ]
        for differences, offset in ways:
            try:
                with np.errstate(invalid="ignore"):
                    whole = differences(built, offset * (abs(at) or 1.0))
            except _Jumps as jumps:
                if offset == OFFSETS[-1] or differences is _smooth_slope_of_one_side:
                    raise InvalidInput(f"no derivative by {name}: {jumps}; give moments that differ") from None
                continue
            except _NoDerivative as told:
                raise InvalidInput(str(told)) from None
            except PolhodeError as refused:
                problem = refused
                continue
            sides, small = np.array((-1.0, 1.0, 0.5)) * offset * (abs(at) or 1.0), not whole[np.isfinite(whole)].any()
            if small and all(np.array_equal(built(s), built(0.0), equal_nan=True) for s in sides):
                raise InvalidInput(f"nothing in a run of {system.name!r} follows from {name}, so there is no "
                                   "derivative by it; leave it out")  # fmt: skip
            return whole
        raise InvalidInput(f"no derivative by {name}: a system with a value near {at:g} cannot be built ({problem})")

    def read(self, states: Array, derivatives: Array, part: Indices) -> Array:
        """Derivatives of the minimal coordinates at rows (n, rows, columns) by some columns."""
        n, columns = len(states), derivatives.shape[-1]
        found = np.zeros((n, len(self.rows), columns))
        changes = None if self.varied is None else self.varied[1][0][:, part]
        for r, (i, quantity) in enumerate(quantities(self.system)):
            at, out = L.BODY * i, slice(3 * r, 3 * r + 3)
            frame = np.array(self.system.frames[i], dtype=float)
            F = _matrix(frame)
            turn = np.zeros((3, columns))
            if changes is not None:
                slopes = changes[4 * i : 4 * i + 4].T
                turn = 2.0 * _products(np.array(_conjugate(frame)), slopes)[:, 1:].T
            if quantity == "rotation":
                q = states[:, at + L.ATTITUDE : at + L.ATTITUDE + 4] * (1.0, -1.0, -1.0, -1.0)
                slopes = np.moveaxis(derivatives[:, at + L.ATTITUDE : at + L.ATTITUDE + 4], 1, 2)
                theta = 2.0 * np.moveaxis(_products(q[:, None, :], slopes)[..., 1:], 2, 1)
                found[:, out] = F @ (theta - turn)
            elif quantity == "angular_momentum":
                m = states[:, at + L.ANGULAR : at + L.ANGULAR + 3]
                change = derivatives[:, at + L.ANGULAR : at + L.ANGULAR + 3]
                found[:, out] = F @ (change + np.cross(turn.T[None], m[:, None, :]).transpose(0, 2, 1))
            else:
                begin = at + (L.POSITION if quantity == "position" else L.MOMENTUM)
                found[:, out] = derivatives[:, begin : begin + 3]
        own, behind = self.read_by_loads
        found[:, behind:] = derivatives[:, own.start : own.stop]
        return found


def slope(function: Callable[[float], Array], offset: float) -> Array:
    """The derivative of a function at 0, by differences of order 8."""
    total: Array = np.zeros(())
    for k, weight in STENCIL:
        total = total + weight * (function(k * offset) - function(-k * offset))
    return total / offset


class _NoDerivative(InvalidInput):
    """A name by which there is no derivative, however small its change."""


class _Jumps(InvalidInput):
    """What is differentiated is not smooth."""


def _smooth_slope(function: Callable[[float], Array], offset: float) -> Array:
    """``slope`` of a function that is smooth there; of one that is straight by five of its values."""
    here, size = function(0.0), _sizes(function, offset)
    if (straight := _straight_slope(function, size, [k * offset for k in (-4, -1, 1, 4)])) is not None:
        return straight
    middle: Array | float = 0.0
    for (k, _), share in zip(STENCIL, MIDDLE, strict=True):
        middle = middle + share * (function(k * offset) + function(-k * offset))
    found = slope(function, offset)
    _check_smooth(middle - here, size)
    _check_smooth((found - slope(function, 0.5 * offset)) * offset, size)
    return found


def _smooth_slope_of_one_side(function: Callable[[float], Array], offset: float) -> Array:
    """``_slope_of_one_side``, checked in the same way."""
    size = _sizes(function, offset)
    straight = _straight_slope(function, size, [share * offset for share in (0.0, 0.1, 0.4, 1.0)])
    if straight is not None:
        return straight
    found = _slope_of_one_side(function, offset)
    _check_smooth((found - _slope_of_one_side(function, 0.5 * offset)) * offset, size)
    return found


def _straight_slope(function: Callable[[float], Array], size: Array, places: Sequence[float]) -> Array | None:
    """The slope of a function that is straight from the first to the last of these places; None if it is not."""
    values = [function(s) for s in places]
    found = (values[-1] - values[0]) / (places[-1] - places[0])
    for s, value in zip(places[1:-1], values[1:-1], strict=True):
        if (np.abs(values[0] + (s - places[0]) * found - value) > STRAIGHT * size).any():
            return None
    return found


def _sizes(function: Callable[[float], Array], offset: float) -> Array:
    """Sizes of the numbers near."""
    return np.maximum(np.abs(function(0.0)), np.abs(function(offset)))


def _check_smooth(gap: Array, size: Array) -> None:
    """Refuse gaps that are more than rounding."""
    if (np.abs(gap) > SMOOTH * size + ROUNDED).any():
        raise _Jumps("principal axes and what depends on them jump there, as where moments of inertia are equal")


def _slope_of_one_side(function: Callable[[float], Array], offset: float) -> Array:
    """The derivative of a function at 0 by its values between 0 and the offset, at 11 Chebyshev points."""
    n, begin = 10, function(0.0)
    total = np.zeros_like(begin)
    for k in range(1, n + 1):
        away = 1.0 - np.cos(np.pi * k / n)
        weight = (2 if k < n else 1) * (-1) ** k / away
        total = total + weight * (function(0.5 * offset * away) - begin)
    return -2.0 / offset * total
