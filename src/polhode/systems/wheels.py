"""Reaction wheels of a rigid body: loads, tables, saturation.

The angular momentum of the body in the state is m = J w, where J leaves out what the wheels add about their own axes
a_k; wheel k has h_k = i_k (s_k + a_k . w), with its inertia i_k and its speed s_k relative to the body. Then

    m' = (m + sum h_k a_k) x w + T - sum u_k a_k,        h_k' = u_k,                     [hughes1986, ch. 6]

with the torque u_k on the wheel about its axis: that of the motor, limited, less friction. The sum of both equations is
the motion of the whole, m + sum h_k a_k, on which T alone acts. Momenta and commands of the wheels are auxiliary
variables that loads read; commands stay until something sets them.

A wheel whose centre of mass lies off its axis, with the static imbalance b = mass times distance, pushes the body at
its position x_k by the force b s_k^2 along the direction of that centre, which turns with the wheel; its angle is an
auxiliary variable. This force is prescribed: what it takes from the wheel is neglected.

Table in the parameters of a system, from ``at`` on: number of wheels, index of the auxiliary variable that is the
momentum of the first (behind all momenta come the commands), where the table of gyros is, axes (principal frame), index
of the work; then of each wheel what ``INERTIA`` to ``FREE`` name; and where some are imbalanced, of each wheel what
``IMBALANCE`` to ``ACROSS`` name. Angles of imbalanced wheels follow the commands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Annotated, Any, Literal

import numpy as np

from polhode.algebra.quaternion import rotate, rotate_inverse
from polhode.algebra.so3 import add, axpy, cross, dot, scale, times
from polhode.arguments import array, choice, in_unit
from polhode.arguments.recorded import plain
from polhode.arguments.words import Form, NumberOrNumbers, Unit
from polhode.errors import InvalidInput, answering
from polhode.flows.gyrostat import AXES, AXIS, COUNT, FIRST, OF_WHEEL
from polhode.kernel import jit
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3
from polhode.kernel.jit import bind, helper, hole, inlined
from polhode.surroundings.paths import unit_vectors
from polhode.systems.record import AuxiliaryVariable

INERTIA, MOST_TORQUE, VISCOUS, COULOMB, SMOOTH, GAIN, FREE = range(OF_WHEEL)
"""Numbers of a wheel: moment about its axis; largest torque of the motor; viscous friction, torque per speed; Coulomb
friction, and the speed within which it changes its sign; gain of a motor that keeps a speed, torque per speed, 0 of one
that gives a torque; 1 while its momentum is below the limit, set by the run."""

UNLIMITED = 1e300
IMBALANCE, POSITION, ACROSS, OF_IMBALANCE = 0, 1, 4, 7
"""Numbers of the imbalance of a wheel: mass times distance, position of the wheel, direction of its centre of mass from
the axis at angle 0."""

inner = hole("inner(part, t, N, y, bodies, parameters, out)", "The loads without wheels.")
wheels_at = hole("wheels_at(parameters) -> int", "Where the table of wheels begins.")


@inlined
def motor(p, row, command, speed, h):
    """Torque on a wheel about its axis, of its motor and of friction."""
    u = command
    if p[row + GAIN] > 0.0:
        u = p[row + GAIN] * (command - speed)
    most = p[row + MOST_TORQUE]
    u = min(max(u, -most), most)
    if p[row + VISCOUS] != 0.0:
        u -= p[row + VISCOUS] * speed
    if p[row + COULOMB] != 0.0:
        u -= p[row + COULOMB] * np.tanh(speed / p[row + SMOOTH])
    if p[row + FREE] == 0.0 and u * h > 0.0:
        u = 0.0
    return u


def loads_with_wheels(part, t, N, y, bodies, parameters, out):
    """The loads of a system of one body, and those of its wheels; the rates of their momenta. The part WITHOUT_COUPLING
    leaves out H x w, which a flow solves."""
    inner(part, t, N, y, bodies, parameters, out)
    at = wheels_at(parameters)
    count, first = int(parameters[at + COUNT]), int(parameters[at + FIRST])
    table = at + AXES + AXIS * count
    if part & L.MOVING != 0:
        w = times(get3(bodies, L.INVERSE_INERTIA), get3(y, L.ANGULAR))
        T, H = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(count):
            row, a = table + 1 + OF_WHEEL * k, get3(parameters, at + AXES + AXIS * k)
            h, command = y[L.BODY * N + first + k], y[L.BODY * N + first + count + k]
            u = motor(parameters, row, command, h / parameters[row + INERTIA] - dot(a, w), h)
            out[L.LOAD * N + first + k] = u
            T, H = axpy(-u, a, T), axpy(h, a, H)
        out[L.LOAD * N + int(parameters[table])] = dot(T, w)
        if part & L.WITHOUT_COUPLING == 0:
            T = add(T, cross(H, w))
        put3(out, 3, add(get3(out, 3), T))


@helper
def with_wheels(parameters, at, I):
    """Moments of inertia and products (yz, zx, xy) of a body, whose own moments these are, and its wheels'."""
    count, K = int(parameters[at + COUNT]), (0.0, 0.0, 0.0)
    table = at + AXES + AXIS * count
    for k in range(count):
        i, a = parameters[table + 1 + OF_WHEEL * k], get3(parameters, at + AXES + AXIS * k)
        I = axpy(i, (a[0] * a[0], a[1] * a[1], a[2] * a[2]), I)
        K = axpy(i, (a[1] * a[2], a[2] * a[0], a[0] * a[1]), K)
    return I, K


def loads_with_imbalance(part, t, N, y, bodies, parameters, out):
    """The loads of a system of one body with wheels, and those of their imbalance; the rates of their angles."""
    inner(part, t, N, y, bodies, parameters, out)
    if part & L.MOVING != 0:
        at = wheels_at(parameters)
        count, first = int(parameters[at + COUNT]), int(parameters[at + FIRST])
        table = at + AXES + AXIS * count
        w = times(get3(bodies, L.INVERSE_INERTIA), get3(y, L.ANGULAR))
        F, T = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(count):
            row, a = table + 1 + OF_WHEEL * k, get3(parameters, at + AXES + AXIS * k)
            off = table + 1 + OF_WHEEL * count + OF_IMBALANCE * k
            speed = y[L.BODY * N + first + k] / parameters[row + INERTIA] - dot(a, w)
            out[L.LOAD * N + first + 2 * count + k] = speed
            angle, e = y[L.BODY * N + first + 2 * count + k], get3(parameters, off + ACROSS)
            push = parameters[off + IMBALANCE] * speed * speed
            f = axpy(push * np.cos(angle), e, scale(push * np.sin(angle), cross(a, e)))
            F, T = add(F, f), add(T, cross(get3(parameters, off + POSITION), f))
        F = rotate(get4(y, L.ATTITUDE), F)
        v = scale(bodies[L.INVERSE_MASS], get3(y, L.MOMENTUM))
        out[L.LOAD * N + int(parameters[table])] += dot(F, v) + dot(T, w)
        put3(out, 0, add(get3(out, 0), F))
        put3(out, 3, add(get3(out, 3), T))


@lru_cache(jit.KEPT_KERNELS)
def wheels_of_body(loads: Any, where: Any) -> Any:
    """``loads_with_wheels`` with these loads and the place of the table."""
    return bind(loads_with_wheels, inner=loads, wheels_at=where)


@lru_cache(jit.KEPT_KERNELS)
def imbalance_of_body(loads: Any, where: Any) -> Any:
    """``loads_with_imbalance`` with these loads and the place of the table."""
    return bind(loads_with_imbalance, inner=loads, wheels_at=where)


# ------------------------------------------------------------------ the record
@dataclass(frozen=True)
class Wheels:
    """Reaction wheels of a body.

    Attributes
    ----------
    arguments : mapping
        What they are made from, in JSON types.
    axes : array (n, 3)
        Their axes, user's body frame, of unit length.
    inertia, most_torque, most_momentum : array (n,)
        Moments about the axes; limits, infinite without.
    momentum, command : array (n,)
        Angular momenta about the axes relative to the body, and commands, at the start.
    friction : array (n, 3)
        Viscous, Coulomb, and the speed within which the latter changes its sign.
    gain : array (n,)
        Of motors that keep a speed; 0 of those that give a torque.
    imbalance, positions : array (n,), (n, 3), or None
        Mass times distance of the centre of mass from the axis, and where the wheels are, user's body frame; None of
        balanced wheels.
    """

    arguments: Mapping[str, Any]
    axes: Any
    inertia: Any
    most_torque: Any
    most_momentum: Any
    momentum: Any
    command: Any
    friction: Any
    gain: Any
    imbalance: Any = None
    positions: Any = None

    @property
    def count(self) -> int:
        """How many wheels there are."""
        return len(self.inertia)

    @property
    def variables(self) -> tuple[AuxiliaryVariable, ...]:
        """Momenta and commands; angles of imbalanced wheels."""
        given = [("wheel_momentum", self.momentum, "angular momentum of wheels about their axes"),
                 ("wheel_command", self.command, "commanded torque of motors, or speed that they keep")]  # fmt: skip
        if self.imbalance is not None:
            given.append(("wheel_angle", np.zeros(self.count), "angles through which wheels have turned"))
        return tuple(
            AuxiliaryVariable(name, str(k), True, True, float(start[k]), "wheel", "", words)
            for name, start, words in given for k in range(self.count)
        )  # fmt: skip

    def numbers(self, frame: Any) -> list[float]:
        """What follows the index of the work in the table in the parameters."""
        found: list[float] = []
        for k in range(self.count):
            found += [self.inertia[k], min(self.most_torque[k], UNLIMITED), *self.friction[k], self.gain[k], 1.0]
        for k in range(self.count if self.imbalance is not None else 0):
            inside = [rotate_inverse(tuple(frame), tuple(v)) for v in (self.positions[k], across(self.axes[k]))]
            found += [self.imbalance[k], *inside[0], *inside[1]]
        return [float(x) for x in found]

    def __repr__(self) -> str:
        return f"reaction_wheels({', '.join(f'{key}={value!r}' for key, value in self.arguments.items())})"


def across(axis: Any) -> Any:
    """A unit vector at right angles to an axis: that of the body across it which is farthest from it, made so."""
    e = np.eye(3)[int(np.argmin(np.abs(axis)))]
    e = e - (e @ axis) * axis
    return e / np.linalg.norm(e)


@answering
def reaction_wheels(
    axes: Annotated[Any, Form.VECTORS],
    inertia: Annotated[Any, Form.NUMBER_OR_NUMBERS, Unit("kg_m2")],
    *,
    max_torque: Annotated[Any, Form.NUMBER_OR_NUMBERS, Unit("N_m")] | None = None,
    max_momentum: Annotated[Any, Form.NUMBER_OR_NUMBERS, Unit("N_m_s")] | None = None,
    speed: Annotated[Any, Form.NUMBER_OR_NUMBERS, Unit("rad_s")] = 0.0,
    command: NumberOrNumbers = 0.0,
    mode: Literal["torque", "speed"] = "torque",
    gain: NumberOrNumbers | None = None,
    viscous: NumberOrNumbers = 0.0,
    coulomb: Annotated[Any, Form.NUMBER_OR_NUMBERS, Unit("N_m")] = 0.0,
    coulomb_speed: Annotated[Any, Form.NUMBER_OR_NUMBERS, Unit("rad_s")] = 1.0,
    imbalance: Annotated[Any, Form.NUMBER_OR_NUMBERS, Unit("kg_m")] | None = None,
    positions: Annotated[Any, Form.VECTORS, Unit("m")] | None = None,
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

    Returns
    -------
    Wheels

    Raises
    ------
    InvalidInput
        Names the invalid argument; a wheel that is saturated from the start.
    """
    e = unit_vectors(axes, "axes")
    n = len(e)
    given = {"axes": plain(axes)}

    def each(value: Any, name: str, unit: str, least: float = -inf, strict: bool = False) -> Any:
        values = array(in_unit(value, unit, name), name, unit)
        if values.shape not in ((), (n,)):
            raise InvalidInput(f"{name} must be one number or one for each of {n} wheels, but has shape {values.shape}")
        if (values < least).any() or (strict and (values == least).any()):
            wanted = "a positive number" if strict else "0 or more"
            raise InvalidInput(f"{name} is {float(values.min()):g}; give {wanted}")
        given[name] = plain(values if values.ndim else float(values))
        return np.broadcast_to(values, (n,)).copy()

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
        x = np.atleast_2d(array(in_unit(positions, "m", "positions"), "positions"))
        if x.shape != (n, 3):
            raise InvalidInput(
                f"positions must be one row of 3 numbers for each of {n} wheels, but has shape {x.shape}"
            )
        given["positions"] = plain(x)
    over = np.abs(momentum) > most
    if over.any():
        k = int(np.argmax(over))
        raise InvalidInput(f"wheel {k} is saturated from the start: its momentum is {abs(momentum[k]):g}, the largest "
                           f"{most[k]:g}; start it slower, or raise max_momentum")  # fmt: skip
    return Wheels(given, e, moments, torque, most, momentum, commands, friction, gains, off, x)
