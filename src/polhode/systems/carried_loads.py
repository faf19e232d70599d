"""What the rotors in the bodies of a sum do: plain functions, and what they add to its rows.

    m' = (m + H) x w + T - sum u_k a_k - sum h_j r_j g_j x s_j,    h_k' = u_k,    angle_j' = r_j     [hughes1986, ch. 6]

with the torques u of motors and friction on wheels about their axes a, the momenta h of gyros about spin axes s that
gimbals turn about g at the rates r, and the momentum H of all rotors. The torque H x w is written apart, for a flow may
solve it. What rotors do to their body is inside of the whole: what that conserves does not depend on it. Wheel k turns
at the speed h_k / i_k - a_k . w relative to the body, whose J leaves out what the wheels add about their own axes.

Neglected are the momenta of the gimbals themselves and how the inertia changes with their angles, as small against the
momentum of a rotor as the rates of gimbal and body against its speed [wie2008]; and what the force b s^2 of a wheel
whose centre of mass lies off its axis takes from the wheel: b is mass times distance, the force turns with the wheel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.bodies import wheels
from polhode.flows import gimbals
from polhode.flows.gyrostat import AXES, AXIS, OF_WHEEL
from polhode.kernel import layout as L
from polhode.programs.attitude import matrix_of, vector
from polhode.programs.graph import Graph
from polhode.programs.rewire import rewired
from polhode.programs.tracer import Traced, Tracer, array_of, row_of, where
from polhode.systems.carried import Carried

if TYPE_CHECKING:
    from polhode.systems.tracing import Tracing

on_tracers = lru_cache(None)(rewired)


# ------------------------------------------------------------------ the physics
def limited(value, most):
    """A value within a limit on both sides."""
    return min(max(value, -most), most)


def rubbing(speed, coulomb, smooth):
    """Coulomb friction, smooth where the speed changes its sign."""
    return coulomb * np.tanh(speed / smooth)


def held(rate, value, free):
    """A rate, or zero where it would lead farther beyond a limit."""
    return where(free == 0.0, where(rate * value > 0.0, 0.0, rate), rate)


def turned(axis, angle, v):
    """A vector turned about a unit vector by an angle."""
    c, s = np.cos(angle), np.sin(angle)
    return c * v + s * np.cross(axis, v) + (1.0 - c) * (axis @ v) * axis


# ------------------------------------------------------------------ the numbers of rotors as inputs
class Rotors:
    """The numbers of the rotors in a body, as inputs of a program."""

    def __init__(self, g: Graph, one: Carried) -> None:
        self.g, self.one = g, one

    def number(self, k: int) -> Tracer:
        """A parameter."""
        return Tracer(self.g, self.g.input(f"p{k}"))

    def vector(self, k: int) -> Traced:
        """Three of them."""
        return vector(self.g, "p", 3, k)

    def state(self, quantity: str) -> Any:
        """The numbers of a state; None of one that is not there."""
        first, count = self.one.states.get(quantity, (0, 0))
        return vector(self.g, "aux", count, first) if count else None

    def read(self, name: str, w: Traced) -> Any:
        """What is read of a body that turns so: a state, or the speeds of wheels; None of what is not there."""
        return self.state(name) if name != "wheel_speed" else self.speeds(w) if self.one.wheels else None

    def axis(self, k: int) -> Traced:
        """The axis of wheel k, principal frame."""
        return self.vector(self.one.at + AXES + AXIS * k)

    def of_wheel(self, k: int, which: int) -> Tracer:
        """A number of wheel k, such as ``wheels.INERTIA``."""
        return self.number(self.one.row + OF_WHEEL * k + which)

    def speeds(self, w: Traced) -> Traced:
        """Speeds of the wheels relative to a body that turns so, principal frame."""
        h = self.state("wheel_momentum")
        return array_of([h[k] / self.of_wheel(k, wheels.INERTIA) - self.axis(k) @ w for k in range(self.one.wheels)])

    def inertia(self) -> Traced:
        """What the wheels add to the inertia tensor, principal frame."""
        (a, b, c), (d, e, f) = self.moments(), self.products()
        return array_of([[a, f, e], [f, b, d], [e, d, c]])

    def _sum(self, each: Callable[[Any], list[Any]]) -> Traced:
        """What wheels add to moments or products, by the three of each axis."""
        found = array_of([0.0, 0.0, 0.0])
        for k in range(self.one.wheels):
            found = found + self.of_wheel(k, wheels.INERTIA) * array_of(each(self.axis(k)))
        return found

    def moments(self) -> Traced:
        """What the wheels add to the moments of inertia, principal frame."""
        return self._sum(lambda a: [a[0] * a[0], a[1] * a[1], a[2] * a[2]])

    def products(self) -> Traced:
        """What they add to the products yz, zx and xy."""
        return self._sum(lambda a: [a[1] * a[2], a[2] * a[0], a[0] * a[1]])


# ------------------------------------------------------------------ what they add
def add_rotors(tracing: Tracing, one: Carried) -> None:
    """Add what the rotors of a body do to the rows of a sum."""
    rotors, w = Rotors(tracing.g, one), tracing.bodies[one.body].turning
    H: Any = array_of([0.0, 0.0, 0.0])
    if one.wheels:
        H = H + _wheels(tracing, rotors, w)
    if one.gyros:
        H = H + _gyros(tracing, rotors, w)
    _add(tracing, tracing.coupling, one.body, np.cross(H, w))


def _wheels(tracing: Tracing, rotors: Rotors, w: Traced) -> Traced:
    """The torque of motors and friction and the rates of the momenta; the sum of the momenta."""
    one, h, u = rotors.one, rotors.state("wheel_momentum"), rotors.state("wheel_command")
    speeds, rates = rotors.speeds(w), []
    T, H = array_of([0.0, 0.0, 0.0]), array_of([0.0, 0.0, 0.0])
    for k in range(one.wheels):
        torque, speed = u[k], speeds[k]
        if "speed" in one.kinds:
            torque = rotors.of_wheel(k, wheels.GAIN) * (torque - speed)  # of a motor that keeps a speed
        if "limit" in one.kinds:
            torque = on_tracers(limited)(torque, rotors.of_wheel(k, wheels.MOST_TORQUE))
        torque = torque - rotors.of_wheel(k, wheels.VISCOUS) * speed
        if "coulomb" in one.kinds:
            torque = torque - on_tracers(rubbing)(
                speed, rotors.of_wheel(k, wheels.COULOMB), rotors.of_wheel(k, wheels.SMOOTH)
            )
        if "saturation" in one.kinds:
            torque = on_tracers(held)(torque, h[k], rotors.of_wheel(k, wheels.FREE))
        rates.append(torque)
        T, H = T - torque * rotors.axis(k), H + h[k] * rotors.axis(k)
    _add(tracing, tracing.inside, one.body, T, w, f"{one.label('wheel_momentum')}wheels")
    _turn(tracing, one, "wheel_momentum", rates)
    if one.angles:
        _turn(tracing, one, "wheel_angle", speeds)
    if "imbalance" in one.kinds:
        _imbalance(tracing, rotors, speeds)
    return H


def _imbalance(tracing: Tracing, rotors: Rotors, speeds: Traced) -> None:
    """Force and torque of imbalanced wheels."""
    one, angles = rotors.one, rotors.state("wheel_angle")
    F, T = array_of([0.0, 0.0, 0.0]), array_of([0.0, 0.0, 0.0])
    for k in range(one.wheels):
        at = one.imbalance_at + wheels.OF_IMBALANCE * k
        toward = on_tracers(turned)(rotors.axis(k), angles[k], rotors.vector(at + wheels.ACROSS))
        force = rotors.number(at + wheels.IMBALANCE) * speeds[k] ** 2 * toward
        F, T = F + force, T + np.cross(rotors.vector(at + wheels.POSITION), force)
    body, work = tracing.bodies[one.body], f"{one.label('wheel_momentum')}wheels"
    force, torque = tracing.parts[L.MOVING]
    _add(tracing, force, one.body, matrix_of(body.principal) @ F, body.velocity, work)
    _add(tracing, torque, one.body, T, body.turning, work)


def _gyros(tracing: Tracing, rotors: Rotors, w: Traced) -> Traced:
    """The torque of turning gimbals and the rates of their angles; the sum of the momenta."""
    one, angles, commands = rotors.one, rotors.state("gimbal_angle"), rotors.state("gimbal_command")
    rates, T, H = [], array_of([0.0, 0.0, 0.0]), array_of([0.0, 0.0, 0.0])
    turn = on_tracers(turned)
    for k in range(one.gyros):
        at, first = one.gyros_at + gimbals.ROWS + gimbals.ROW * k, one.gimbals * k
        for j in range(one.gimbals):
            numbers = at + gimbals.OF_GIMBALS + gimbals.OF_GIMBAL * j
            rate = commands[first + j]
            if "rate" in one.kinds:
                rate = on_tracers(limited)(rate, rotors.number(numbers + gimbals.MOST_RATE))
            if "stops" in one.kinds:
                rate = on_tracers(held)(rate, angles[first + j], rotors.number(numbers + gimbals.FREE))
            rates.append(rate)
        outer, s = rotors.vector(at + gimbals.OUTER), rotors.vector(at + gimbals.SPIN)
        turning = rates[first] * outer
        if one.gimbals == 2:
            inner = rotors.vector(at + gimbals.INNER)
            s = turn(inner, angles[first + 1], s)
            turning = turning + rates[first + 1] * turn(outer, angles[first], inner)
        s = turn(outer, angles[first], s)
        h = rotors.number(at + gimbals.MOMENTUM)
        T, H = T - h * np.cross(turning, s), H + h * s
    _add(tracing, tracing.inside, one.body, T, w, f"{one.label('gimbal_angle')}gyros")
    _turn(tracing, one, "gimbal_angle", rates)
    return H


def _add(tracing: Tracing, to: list[int], i: int, load: Any, rate: Traced | None = None, work: str = "") -> None:
    """Add a force or torque on body i to rows, and the power that it has at this rate to a work."""
    g = tracing.g
    for k, x in enumerate(load):
        row = row_of(g, x)
        to[3 * i + k] = g.sum((to[3 * i + k], 1.0), (row, 1.0))
        if rate is not None:
            tracing.work.setdefault(work, []).append((g.mul(row, row_of(g, rate[k])), 1.0))


def _turn(tracing: Tracing, one: Carried, quantity: str, rates: Iterable[Any]) -> None:
    """Write the rates of a state."""
    first, count = one.states[quantity]
    tracing.turning[first : first + count] = [row_of(tracing.g, x) for x in rates]
