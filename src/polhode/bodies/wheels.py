"""Rotors of a rigid body, reaction wheels and control moment gyros: what they are, and their numbers as loads read
them.

Table of wheels in the parameters of a system, from ``at`` on: number of wheels, index of the auxiliary variable that is
the momentum of the first, where the table of gyros is, axes (principal frame), index of the work; then of each wheel
what ``INERTIA`` to ``FREE`` name; and where some are imbalanced, of each wheel what ``IMBALANCE`` to ``ACROSS`` name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import inf
from typing import Annotated, Any, Literal

import numpy as np

from polhode.algebra.quaternion import rotate_inverse
from polhode.arguments import Array, ArrayLike, array, choice, of_each, unit_vectors
from polhode.arguments.recorded import frozen, plain
from polhode.arguments.words import Form, NumberOrNumbers, Positions, Unit, Vectors
from polhode.bodies.inertia import MomentsAndFrame, moments_and_frame
from polhode.errors import InvalidInput, answering
from polhode.flows.gyrostat import OF_WHEEL

INERTIA, MOST_TORQUE, VISCOUS, COULOMB, SMOOTH, GAIN, FREE = range(OF_WHEEL)
"""Numbers of a wheel: moment about its axis; largest torque of the motor; viscous friction, torque per speed; Coulomb
friction, and the speed within which it changes its sign; gain of a motor that keeps a speed, torque per speed, 0 of one
that gives a torque; 1 while its momentum is below the limit, set by the run."""

Directions = tuple[tuple[float, ...], ...]
UNLIMITED = 1e300
IMBALANCE, POSITION, ACROSS, OF_IMBALANCE = 0, 1, 4, 7
"""Numbers of the imbalance of a wheel: mass times distance, position of the wheel, direction of its centre of mass from
the axis at angle 0."""


@dataclass(frozen=True, eq=False)
class Wheels:
    """Reaction wheels of a body."""

    arguments: Mapping[str, Any]  # what they are made from, in JSON types
    axes: Array  # (n, 3): their axes, user's body frame, of unit length
    inertia: Array  # inertia, most_torque, most_momentum: (n,): moments about the axes; limits, infinite without
    most_torque: Array
    most_momentum: Any
    # momentum, command: (n,): angular momenta about the axes relative to the body, and commands, at the start
    momentum: Array
    command: Array
    friction: Array  # (n, 3): viscous, Coulomb, and the speed within which the latter changes its sign
    gain: Array  # (n,): of motors that keep a speed; 0 of those that give a torque
    # imbalance, positions: (n,): mass times distance of the centre of mass from the axis, and where the wheels are,
    # user's body frame; None of balanced wheels
    imbalance: Any = None
    positions: Any = None

    @property
    def count(self) -> int:
        """How many wheels there are."""
        return len(self.inertia)

    @property
    def states(self) -> tuple[tuple[str, Any, str], ...]:
        """Momenta and commands, and angles of imbalanced wheels: names, values at the start and words."""
        given: list[tuple[str, Any, str]] = [
            ("wheel_momentum", self.momentum, "angular momentum of wheels about their axes"),
            ("wheel_command", self.command, "commanded torque of motors, or speed that they keep"),
        ]
        angles = ("wheel_angle", np.zeros(self.count), "angles through which wheels have turned")
        return (*given, angles) if self.imbalance is not None else tuple(given)

    @lru_cache  # noqa: B019  it keeps some
    def numbers(self, frame: tuple[float, ...]) -> tuple[float, ...]:
        """What follows the index of the work in the table in the parameters."""
        found: list[float] = []
        rows = zip(*(one.tolist() for one in (self.inertia, self.most_torque, self.friction, self.gain)), strict=True)
        for moment, most, friction, gain in rows:
            found += [moment, min(most, UNLIMITED), *friction, gain, 1.0]
        for k in range(self.count if self.imbalance is not None else 0):
            inside = [rotate_inverse(frame, tuple(v)) for v in (self.positions[k], across(self.axes[k]))]
            found += [self.imbalance[k], *inside[0], *inside[1]]
        return tuple(map(float, found))

    @lru_cache  # noqa: B019  it keeps some
    def axes_in(self, frame: tuple[float, ...]) -> Directions:
        """Their axes in the principal frame."""
        return tuple(rotate_inverse(frame, tuple(axis)) for axis in self.axes.tolist())

    @cached_property
    def tensor(self) -> Array:
        """What they add about their axes to the inertia, in the user's body frame."""
        return np.einsum("k,ki,kj->ij", self.inertia, self.axes, self.axes)

    def __repr__(self) -> str:
        return f"reaction_wheels({', '.join(f'{key}={value!r}' for key, value in self.arguments.items())})"


def rest_of(whole: MomentsAndFrame, wheels: Wheels | None) -> MomentsAndFrame:
    """Principal moments and frame of a body without what wheels add about their axes, from those of the whole."""
    return whole if wheels is None else _rest(*whole, wheels)


@lru_cache
def _rest(moments: tuple[float, ...], frame: tuple[float, ...], wheels: Wheels) -> MomentsAndFrame:
    F = np.eye(3) if frame == (1.0, 0.0, 0.0, 0.0) else np.array([rotate_inverse(frame, tuple(e)) for e in np.eye(3)])
    rest = F @ np.diag(moments) @ F.T - wheels.tensor
    if np.count_nonzero(rest) == 3 and min(diagonal := rest.diagonal().tolist()) > 0.0:
        return tuple(diagonal), (1.0, 0.0, 0.0, 0.0)
    if not (least := float(np.linalg.eigvalsh(rest).min())) > 0.0:
        raise InvalidInput(f"the inertia without that of the wheels about their axes has the moment {least:g}; give "
                           "the inertia of the whole, wheels included, or smaller wheels")  # fmt: skip
    return moments_and_frame(rest, False)


def across(axis: Array) -> Array:
    """A unit vector at right angles to an axis: that of the body across it which is farthest from it, made so."""
    e = np.eye(3)[int(np.argmin(np.abs(axis)))]
    e = e - (e @ axis) * axis
    return e / np.linalg.norm(e)


@answering
def reaction_wheels(
    axes: Vectors,
    inertia: Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS, Unit("kg_m2")],
    *,
    max_torque: Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS, Unit("N_m")] | None = None,
    max_momentum: Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS, Unit("N_m_s")] | None = None,
    speed: Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS, Unit("rad_s")] = 0.0,
    command: NumberOrNumbers = 0.0,
    mode: Literal["torque", "speed"] = "torque",
    gain: NumberOrNumbers | None = None,
    viscous: NumberOrNumbers = 0.0,
    coulomb: Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS, Unit("N_m")] = 0.0,
    coulomb_speed: Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS, Unit("rad_s")] = 1.0,
    imbalance: Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS, Unit("kg_m")] | None = None,
    positions: Positions | None = None,
) -> Wheels:
    """Reaction wheels fixed in the body, for ``rigid_body`` and ``spacecraft``.

    Their moments across the axis are part of the body's inertia: the inertia given for the body is that of the whole
    with locked wheels.

    Parameters
    ----------
    axes : array_like (n, 3)
        Axes, in the body frame; any length.
    inertia : float or array_like (n,)
        Moment of inertia of a wheel about its axis.
    max_torque : float or array_like (n,), optional
        Largest torque of a motor; larger ones are cut.
    max_momentum : float or array_like (n,), optional
        Largest momentum of a wheel about its axis. Beyond it the motor only brakes; the crossings are the events
        "wheel_saturated" and "wheel_released", and steps are cut there.
    speed : float or array_like (n,)
        Speeds relative to the body at the start, rad / time.
    command : float or array_like (n,)
        Torques of the motors on the wheels (``mode`` "torque"), or speeds that they keep ("speed"), at the start. They
        stay until a controller sets the state ``wheel_command``.
    mode : {"torque", "speed"}
        What is commanded.
    gain : float or array_like (n,), optional
        Of motors that keep a speed: torque per difference of speeds, torque * time.
    viscous : float or array_like (n,)
        Viscous friction: torque per speed.
    coulomb : float or array_like (n,)
        Coulomb friction, a torque against the speed.
    coulomb_speed : float or array_like (n,)
        Speed within which Coulomb friction changes its sign: it is coulomb tanh(speed / coulomb_speed).
    imbalance : float or array_like (n,), optional
        Static imbalance, mass times length (kg m): the mass of a wheel times the distance of its centre of mass from
        its axis. It shakes the body by the force imbalance * speed^2, which turns with the wheel (the state
        ``wheel_angle``), so that steps must follow the wheels. Without it they are balanced.
    positions : array_like (n, 3), optional
        Centres of the wheels relative to the centre of mass, body frame, at which that force acts; there by default.

    Raises
    ------
    InvalidInput
        Names the invalid argument; a wheel that is saturated from the start.

    Examples
    --------
    >>> import polhode as ph
    >>> wheels = ph.reaction_wheels([(1, 0, 0), (0, 1, 0), (0, 0, 1)], 0.01, command=(0.0, 0.0, 0.02))
    >>> ds = ph.integrate(ph.rigid_body((2.0, 2.5, 3.0), wheels=wheels), step=0.1, steps=100)
    >>> round(float(ds.angular_velocity[-1, 2]), 4)
    -0.0669
    """
    e = unit_vectors(axes, "axes")
    n = len(e)
    given = {"axes": plain(axes)}

    def each(value: ArrayLike, name: str, unit: str, least: float = -inf, strict: bool = False) -> Array:
        values = of_each(value, name, n, "wheels", unit, given)
        if least > -inf and ((values < least).any() or (strict and (values == least).any())):
            wanted = "a positive number" if strict else "0 or more"
            raise InvalidInput(f"{name} is {float(values.min()):g}; give {wanted}")
        return values

    choice(mode, "mode", ("torque", "speed"))
    moments = each(inertia, "inertia", "kg * m**2", 0.0, True)
    unlimited = np.full(n, inf)
    torque = unlimited if max_torque is None else each(max_torque, "max_torque", "N * m", 0.0, True)
    most = unlimited if max_momentum is None else each(max_momentum, "max_momentum", "N * m * s", 0.0, True)
    with np.errstate(over="ignore"):
        momentum = moments * each(speed, "speed", "rad / s")
    if not np.isfinite(momentum).all():
        raise InvalidInput("inertia times speed is beyond 1e308; check their units")
    commands = each(command, "command", "N * m" if mode == "torque" else "rad / s")
    friction = np.stack([
        each(viscous, "viscous", "N * m * s", 0.0), each(coulomb, "coulomb", "N * m", 0.0),
        each(coulomb_speed, "coulomb_speed", "rad / s", 0.0, True),
    ], axis=1)  # fmt: skip
    given["mode"] = mode
    if (mode == "speed") != (gain is not None):
        raise InvalidInput("gain is missing; a motor that keeps a speed needs it" if mode == "speed" else
                           "gain is that of motors that keep a speed; write mode='speed', or leave it out")  # fmt: skip
    gains = np.zeros(n) if gain is None else each(gain, "gain", "N * m * s", 0.0, True)
    off = None if imbalance is None else each(imbalance, "imbalance", "kg * m", 0.0)
    if positions is not None and off is None:
        raise InvalidInput("positions are where imbalanced wheels shake the body, but there is no imbalance; give it, "
                           "or leave them out")  # fmt: skip
    x = None if off is None else np.zeros((n, 3))
    if positions is not None:
        x = np.atleast_2d(array(positions, "positions", "m"))
        if x.shape != (n, 3):
            raise InvalidInput(f"positions must be one row of 3 numbers for each of {n} wheels, but has shape "
                               f"{x.shape}")  # fmt: skip
        given["positions"] = plain(x)
    over = np.abs(momentum) > most
    if over.any():
        k = int(np.argmax(over))
        raise InvalidInput(f"wheel {k} is saturated from the start: its momentum is {abs(momentum[k]):g}, the largest "
                           f"{most[k]:g}; start it slower, or raise max_momentum")  # fmt: skip
    return Wheels(*map(frozen, (given, e, moments, torque, most, momentum, commands, friction, gains, off, x)))


SQUARE = 1e-6  # cosine of the angle between two axes that counts as a right angle


@dataclass(frozen=True, eq=False)
class Gyros:
    """Control moment gyros of a body."""

    arguments: Mapping[str, Any]  # what they are made from, in JSON types
    axes: (
        Array  # (n, gimbals, 3): axes of the gimbals at angle 0, the outer one first, user's body frame, of unit length
    )
    spin: Array  # (n, 3): spin axes at angle 0
    momentum: Array  # (n,): angular momenta of the rotors
    # most_rate, most_angle, angle, command: (n, gimbals): limits, infinite without; angles and commanded rates at the
    # start
    most_rate: Array
    most_angle: Any
    angle: Array
    command: Array

    @property
    def count(self) -> int:
        """How many gyros there are."""
        return len(self.momentum)

    @property
    def gimbals(self) -> int:
        """How many gimbals each has."""
        return int(self.axes.shape[1])

    @property
    def states(self) -> tuple[tuple[str, Any, str], ...]:
        """Angles and commands: names, values at the start and words."""
        return (
            ("gimbal_angle", self.angle.ravel(), "angles of gimbals"),
            ("gimbal_command", self.command.ravel(), "commanded rates of gimbals"),
        )

    def table(self, first: int, work: int, frame: Iterable[float]) -> list[float]:
        """The table in the parameters; ``first`` and ``work``: auxiliary variables."""

        def inside(axis: Array) -> list[float]:
            return list(map(float, rotate_inverse(tuple(frame), tuple(axis))))

        numbers: list[float] = [self.count, self.gimbals, first, work]
        for k in range(self.count):
            numbers += [self.momentum[k], *inside(self.axes[k, 0]), *inside(self.axes[k, -1]), *inside(self.spin[k])]
            for j in range(2):
                numbers += [min(self.most_rate[k, j] if j < self.gimbals else 0.0, UNLIMITED), 1.0]
        return [float(x) for x in numbers]

    def spin_axes_at(self, angles: Array) -> Array:
        """Spin axes (..., n, 3), user's body frame, for angles (..., n gimbals) as in the state ``gimbal_angle``."""
        angles = np.asarray(angles, dtype=float)
        angles = angles.reshape(*angles.shape[:-1], self.count, self.gimbals)
        s = np.broadcast_to(self.spin, (*angles.shape[:-1], 3))
        for j in reversed(range(self.gimbals)):
            e = self.axes[:, j]
            c, along = np.cos(angles[..., j, None]), np.einsum("...ki,ki->...k", s, e)[..., None]
            s = c * s + np.sin(angles[..., j, None]) * np.cross(e, s) + (1.0 - c) * along * e
        return s

    def __repr__(self) -> str:
        return f"control_moment_gyros({', '.join(f'{key}={value!r}' for key, value in self.arguments.items())})"


@answering
def control_moment_gyros(
    gimbal_axes: Vectors,
    spin_axes: Vectors,
    momentum: Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS, Unit("N_m_s")],
    *,
    inner_axes: Vectors | None = None,
    max_rate: Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS, Unit("rad_s")] | None = None,
    max_angle: Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS, Unit("rad")] | None = None,
    angle: Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS, Unit("rad")] = 0.0,
    command: Annotated[ArrayLike, Form.NUMBER_OR_NUMBERS, Unit("rad_s")] = 0.0,
) -> Gyros:
    """Control moment gyros for ``rigid_body`` and ``spacecraft``: rotors of constant angular momentum in one gimbal, or
    with ``inner_axes`` in two, whose rates are commanded.

    The inertia given for the body is that of the whole without what the rotors add about their spin axes, taken as
    constant; the momenta of the gimbals are neglected.

    Parameters
    ----------
    gimbal_axes : array_like (n, 3)
        Axes fixed in the body about which the gimbals, with ``inner_axes`` the outer ones, turn; any length.
    spin_axes : array_like (n, 3)
        Spin axes of the rotors at angle 0, at right angles to the axis of the gimbal that holds them.
    momentum : float or array_like (n,)
        Angular momentum of a rotor about its spin axis.
    inner_axes : array_like (n, 3), optional
        Axes of the inner gimbals at outer angle 0, at right angles to the outer axes.
    max_rate : float or array_like (n,), optional
        Largest rate of a gimbal, rad / time; larger commands are cut.
    max_angle : float or array_like (n,), optional
        Angle of the stops on both sides, rad. A gimbal there turns back only; the events "gimbal_stopped" and
        "gimbal_released" tell when, and steps are cut there. Without it gimbals turn without end.
    angle, command : float or array_like (n,)
        Angles (rad) and commanded rates at the start; the latter stay until a controller sets the state
        ``gimbal_command``. The states ``gimbal_angle`` and ``gimbal_command`` have one number for each gimbal: of two
        gimbals the outer, then the inner one of each gyro. All numbers above may also be given in these shapes, (n, 2).

    Raises
    ------
    InvalidInput
        Names the invalid argument; axes that are not at right angles, a gimbal that is beyond its stop at the start.

    Examples
    --------
    >>> import polhode as ph
    >>> gyros = ph.control_moment_gyros([(0, 0, 1)], [(1, 0, 0)], 2.0, max_rate=1.0, command=(0.1,))
    >>> craft = ph.rigid_body((90.0, 70.0, 60.0), gyros=gyros)
    >>> ds = ph.integrate(craft, step=0.1, steps=50)
    >>> round(float(ds.angular_velocity[-1, 1]), 5)
    -0.01364
    """
    outer, spin = unit_vectors(gimbal_axes, "gimbal_axes"), unit_vectors(spin_axes, "spin_axes")
    given: dict[str, Any] = {"gimbal_axes": plain(gimbal_axes), "spin_axes": plain(spin_axes)}
    axes = [outer]
    if inner_axes is not None:
        axes.append(unit_vectors(inner_axes, "inner_axes"))
        given["inner_axes"] = plain(inner_axes)
    n, gimbals = len(outer), len(axes)
    for name, rows in (("spin_axes", spin), ("inner_axes", axes[-1])):
        if len(rows) != n:
            raise InvalidInput(f"{name} has {len(rows)} rows, but there are {n} gimbal_axes; give one for each")
    pairs = [("spin_axes", spin, "inner_axes" if gimbals == 2 else "gimbal_axes", axes[-1])]
    pairs += [("inner_axes", axes[-1], "gimbal_axes", outer)] if gimbals == 2 else []
    for name, rows, other, against in pairs:
        off = np.abs(np.einsum("ki,ki->k", rows, against))
        if off.max() > SQUARE:
            k = int(np.argmax(off))
            raise InvalidInput(f"{name}[{k}] is not at right angles to {other}[{k}]; their cosine is {off[k]:.3g}")

    def each(value: ArrayLike, name: str, unit: str, positive: bool = False) -> Array:
        values = array(value, name, unit)
        if values.shape == (n, gimbals):
            given[name] = plain(values)
        else:
            values = of_each(value, name, n, "gyros", unit, given)[:, None]
        if positive and (values <= 0.0).any():
            raise InvalidInput(f"{name} is {float(values.min()):g}; give a positive number")
        return np.broadcast_to(values, (n, gimbals)).copy()

    h = of_each(momentum, "momentum", n, "gyros", "N * m * s", given)
    if (h <= 0.0).any():
        raise InvalidInput(f"momentum is {float(h.min()):g}; give a positive number")
    unlimited = np.full((n, gimbals), inf)
    most_rate = unlimited if max_rate is None else each(max_rate, "max_rate", "rad / s", True)
    most_angle = unlimited if max_angle is None else each(max_angle, "max_angle", "rad", True)
    angles, commands = each(angle, "angle", "rad"), each(command, "command", "rad / s")
    over = np.abs(angles) > most_angle
    if over.any():
        k = int(np.argmax(over.any(axis=1)))
        raise InvalidInput(f"a gimbal of gyro {k} is beyond its stop from the start: its angle is "
                           f"{np.abs(angles[k]).max():g}, the largest {most_angle[k].min():g}")  # fmt: skip
    return Gyros(*map(frozen, (given, np.stack(axes, axis=1), spin, h, most_rate, most_angle, angles, commands)))
