"""Rotors in the bodies of a sum, wheels and gyros: their states, their tables in the parameters, and the angular
momentum of the whole.

States of rotors come first among those that loads read, body after body: momenta of wheels, commands, angles where some
wheel of the system is imbalanced, then angles and commands of gimbals. Functions know them by their names where only
one body has some, and as ``body.wheel_momentum`` anyway; else their labels begin with the name of the body.

Parameters: of several bodies the indices of their tables, 0 of one without rotors; then a table for each
(``bodies.wheels``, behind it ``flows.gimbals``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain
from math import inf, sqrt
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.algebra.quaternion import normalize, rotate, rotate_inverse
from polhode.algebra.so3 import dot
from polhode.arguments import Array, ArrayLike
from polhode.bodies.body import Body
from polhode.bodies.wheels import COULOMB, FREE, OF_IMBALANCE, Gyros, Wheels
from polhode.flows import gimbals
from polhode.flows.gyrostat import AXES, AXIS, COUNT, FIRST, GYROS, OF_WHEEL, tables_in
from polhode.kernel import jit, layout as L
from polhode.kernel.access import get3, get4, put3
from polhode.kernel.jit import pointer
from polhode.kernel.signatures import ENERGIES_APART
from polhode.systems.event_record import Watch
from polhode.systems.record import AuxiliaryVariable, System

OF_WHEELS = ("wheel_momentum", "wheel_command", "wheel_angle")
OF_GYROS = ("gimbal_angle", "gimbal_command")  # quantities of the states of rotors


@dataclass(frozen=True)
class Carried:
    """The rotors in a body of a sum, but for their numbers."""

    body: int  # number of the body
    at: int  # where its table begins in the parameters
    first: int  # the first of its states among those that loads read
    wheels: int  # wheels, gyros, gimbals: how many wheels there are, how many gyros, and gimbals of each of these
    gyros: int
    gimbals: int
    angles: bool  # whether the angles of wheels are states
    # what its wheels and gyros have: "limit" (of torque), "saturation", "speed" (motors that keep one), "coulomb",
    # "imbalance", "rate" (a largest one of gimbals), "stops"; "aligned" of wheels without products of inertia
    kinds: frozenset[str] = frozenset()
    # what labels of wheels and gyros begin with: nothing where only this body has some
    before: tuple[str, str] = ("", "")

    @cached_property
    def states(self) -> Mapping[str, tuple[int, int]]:
        """By quantity the first of its numbers among the states that loads read, and how many there are."""
        found, first = dict[str, tuple[int, int]](), self.first
        counts = [self.wheels, self.wheels, self.wheels * self.angles, *[self.gyros * self.gimbals] * 2]
        for name, count in zip((*OF_WHEELS, *OF_GYROS), counts, strict=True):
            if count:
                found[name], first = (first, count), first + count
        return found

    @cached_property
    def size(self) -> int:
        """How many states they have."""
        return sum(count for _, count in self.states.values())

    @property
    def row(self) -> int:
        """Where the numbers of the first wheel are in the parameters."""
        return self.at + AXES + AXIS * self.wheels + 1

    @property
    def imbalance_at(self) -> int:
        """Where those of the imbalance of the first wheel are."""
        return self.row + OF_WHEEL * self.wheels

    @property
    def gyros_at(self) -> int:
        """Where the table of gyros is; 0 without."""
        return self.end - gimbals.ROWS - gimbals.ROW * self.gyros if self.gyros else 0

    @property
    def end(self) -> int:
        """Where its table ends."""
        behind = self.imbalance_at + OF_IMBALANCE * self.wheels * ("imbalance" in self.kinds)
        return behind + (gimbals.ROWS + gimbals.ROW * self.gyros if self.gyros else 0)

    @property
    def flags(self) -> tuple[int, ...]:
        """Parameters that a run changes: whether wheels and gimbals are free to turn on."""
        found = [self.wheel_flag(k) for k in range(self.wheels * ("saturation" in self.kinds))]
        gyros = range(self.gyros * ("stops" in self.kinds))
        return (*found, *(self.gimbal_flag(k, j) for k in gyros for j in range(self.gimbals)))

    def wheel_flag(self, k: int) -> int:
        """The one of wheel k."""
        return self.row + OF_WHEEL * k + FREE

    def gimbal_flag(self, k: int, j: int) -> int:
        """The one of gimbal j of gyro k."""
        row = self.gyros_at + gimbals.ROWS + gimbals.ROW * k
        return row + gimbals.OF_GIMBALS + gimbals.OF_GIMBAL * j + gimbals.FREE

    @property
    def absent(self) -> tuple[int, ...]:
        """Parameters that are zero, and because they are zero leave a term of the loads out."""
        return () if "coulomb" in self.kinds else tuple(self.row + OF_WHEEL * k + COULOMB for k in range(self.wheels))

    @property
    def work(self) -> list[str]:
        """Names of their works, which come first."""
        both = (("wheels", self.wheels, "wheel_momentum"), ("gyros", self.gyros, "gimbal_angle"))
        return [self.label(quantity) + name for name, count, quantity in both if count]

    def label(self, quantity: str) -> str:
        """What the labels of a quantity begin with."""
        return self.before[quantity in OF_GYROS]

    def variables(self, body: Body) -> tuple[AuxiliaryVariable, ...]:
        """Its states as auxiliary variables."""
        return _variables(self, body.wheels, body.gyros)


@lru_cache
def _variables(carried: Carried, *rotors: Wheels | Gyros | None) -> tuple[AuxiliaryVariable, ...]:
    words = {name: (starts, told) for one in rotors if one is not None for name, starts, told in one.states}
    words.setdefault("wheel_angle", (np.zeros(carried.wheels), "angles through which wheels have turned"))
    return tuple(
        AuxiliaryVariable(name, f"{carried.label(name)}{k}", True, True, float(words[name][0][k]),
                          "gimbal" if name in OF_GYROS else "wheel", "", words[name][1])
        for name, (_, count) in carried.states.items() for k in range(count)
    )  # fmt: skip


def carried_by(bodies: Sequence[Body], at: int) -> tuple[Carried, ...]:
    """The rotors of bodies, whose numbers begin at ``at`` in the parameters."""
    if not any([one.wheels or one.gyros for one in bodies]):
        return ()
    return _carried(tuple((one.name, one.wheels, one.gyros, one.frame) for one in bodies), at)


@lru_cache
def _carried(rotors: tuple[tuple[str, Wheels | None, Gyros | None, Any], ...], at: int) -> tuple[Carried, ...]:
    spun, turned = ([one[0] for one in rotors if one[kind] is not None] for kind in (1, 2))
    angles = any(one is not None and one.imbalance is not None for _, one, _, _ in rotors)
    found, first = list[Carried](), 0
    at += len(rotors) if len(rotors) > 1 else 0
    for i, (name, wheels, gyros, frame) in enumerate(rotors):
        if wheels is None and gyros is None:
            continue
        before = [f"{name}." if len(names) > 1 else "" for names in (spun, turned)]
        n, each = (0, 0) if gyros is None else (gyros.count, gyros.gimbals)
        kinds, count = _kinds(wheels, gyros, frame), 0 if wheels is None else wheels.count
        found.append(Carried(i, at, first, count, n, each, angles, kinds, (before[0], before[1])))
        at, first = found[-1].end, first + found[-1].size
    return tuple(found)


@lru_cache
def _kinds(wheels: Wheels | None, gyros: Gyros | None, frame: tuple[float, ...]) -> frozenset[str]:
    """What rotors have; what may be varied by a number is there as soon as it is given."""
    of_gyros = {} if gyros is None else gyros.arguments
    found = {"stops": "max_angle" in of_gyros, "rate": "max_rate" in of_gyros}
    if wheels is not None:
        axes = wheels.axes_in(frame)
        products = [
            sum(i * a[k] * a[k - 1] for i, a in zip(wheels.inertia.tolist(), axes, strict=True)) for k in range(3)
        ]
        found |= {
            "limit": "max_torque" in wheels.arguments, "saturation": "max_momentum" in wheels.arguments,
            "speed": wheels.arguments["mode"] == "speed", "coulomb": bool(wheels.friction[:, 1].any()),
            "imbalance": wheels.imbalance is not None, "aligned": not any(products),
        }  # fmt: skip
    return frozenset(name for name, there in found.items() if there)


def numbers_of(bodies: Sequence[Body], carried: Sequence[Carried]) -> list[float]:
    """What stands in the parameters, but for the numbers of states, which ``fitted`` writes there."""
    at = {one.body: float(one.at) for one in carried} if len(bodies) > 1 else {}
    found = [at.get(i, 0.0) for i in range(len(bodies) if at else 0)]
    for one in carried:
        found += _table(one, bodies[one.body].wheels, bodies[one.body].gyros, bodies[one.body].frame)
    return found


@lru_cache
def _table(one: Carried, wheels: Wheels | None, gyros: Gyros | None, frame: tuple[float, ...]) -> list[float]:
    axes = () if wheels is None else chain.from_iterable(wheels.axes_in(frame))
    found = [float(x) for x in (one.wheels, 0, one.gyros_at, *axes, 0)]
    found += () if wheels is None else wheels.numbers(frame)
    return found + ([] if gyros is None else gyros.table(0, 0, frame))


def fitted(parameters: Array, carried: Sequence[Carried], before: int) -> Array:
    """The parameters of a system with so many auxiliary variables before the states of rotors."""
    found = np.array(parameters) if carried else parameters
    for one in carried:
        found[one.at + FIRST] = before + one.first
        if one.gyros:
            found[one.gyros_at + gimbals.FIRST] = before + one.states["gimbal_angle"][0]
    return found


def carried_in(system: System) -> tuple[Carried, ...]:
    """The rotors of a built system, without what only their own loads read."""
    p, quantities = system.parameters, {own.quantity for own in system.auxiliary}
    found = []
    for i, at in tables_in(p, system.wheels_at, system.N):
        gyros = int(p[at + GYROS])
        counts = (int(p[gyros + gimbals.COUNT]), int(p[gyros + gimbals.GIMBALS])) if gyros else (0, 0)
        first = int(p[at + FIRST]) - system.read_from
        found.append(Carried(i, at, first, int(p[at + COUNT]), *counts, "wheel_angle" in quantities))
    return tuple(found)


EVENTS = {
    "wheel_momentum": ("wheel_released", "wheel_saturated"),
    "gimbal_angle": ("gimbal_released", "gimbal_stopped"),
}
"""Names of events where a motor is free again, and where it is not."""


def watches_of(one: Carried, body: Body, first: int) -> tuple[Watch, ...]:
    """The events of the rotors in a body; ``first``: index in the state of the first variable that loads read."""
    wheels = [] if body.wheels is None else body.wheels.most_momentum
    gyros = [] if body.gyros is None else body.gyros.most_angle
    limits = [("wheel_momentum", k, most, one.wheel_flag(k)) for k, most in enumerate(wheels) if most < inf]
    limits += [("gimbal_angle", one.gimbals * k + j, most, one.gimbal_flag(k, j))
               for k, angles in enumerate(gyros) for j, most in enumerate(angles) if most < inf]  # fmt: skip
    return tuple(
        Watch((float(first + one.states[quantity][0] + k), float(most), float(flag)), *EVENTS[quantity], cuts=True,
              flag=flag)
        for quantity, k, most, flag in limits
    )  # fmt: skip


@dataclass(frozen=True)
class Spin:
    """The angular momenta of bodies with their rotors about their centres of mass, in space, from recorded states."""

    carried: tuple[Carried, ...]  # the rotors
    parameters: Array  # (P,): of the system
    kept: str  # which angular momentum of all bodies about the origin is conserved, in which they then are; "" for none

    def of_members(self, mass: object, moments: object, parameters: Array) -> Spin:
        """The same with parameters of their own for each row."""
        return replace(self, parameters=parameters)

    def __call__(self, body: Array, read: Array) -> dict[str, Any]:
        m, p = np.array(body[..., L.ANGULAR :]), np.atleast_2d(self.parameters)
        for one in self.carried:
            m[:, one.body] += _momentum_of(one, p, read)
        found = {"spin": rotation.rotate(body[..., L.ATTITUDE : L.ANGULAR], m)}
        if self.kept:
            about = np.cross(body[..., L.POSITION : L.MOMENTUM], body[..., L.MOMENTUM : L.ATTITUDE])
            total = (found["spin"] + about).sum(axis=-2)
            found[self.kept] = total[..., 2] if self.kept == "vertical_angular_momentum" else total
        return found


def _momentum_of(one: Carried, p: Array, read: Array) -> Array:
    """The sum of the momenta (n, 3) of rotors, principal frame, from parameters (1 or n, P) and states (n, R)."""
    axes = p[:, one.at + AXES : one.at + AXES + AXIS * one.wheels].reshape(len(p), one.wheels, AXIS)
    H = np.einsum("nk,nki->ni", read[:, one.first : one.first + one.wheels], axes + np.zeros((len(read), 1, 1)))
    first = one.states["gimbal_angle"][0] if one.gyros else 0
    for k in range(one.gyros):
        row = one.gyros_at + gimbals.ROWS + gimbals.ROW * k
        s = p[:, row + gimbals.SPIN : row + gimbals.SPIN + 3]
        for j in reversed(range(one.gimbals)):
            at = row + (gimbals.INNER if j else gimbals.OUTER)
            g, angle = p[:, at : at + 3], read[:, first + one.gimbals * k + j, None]
            along = np.sum(s * g, axis=1, keepdims=True)
            s = np.cos(angle) * s + np.sin(angle) * np.cross(g, s) + (1.0 - np.cos(angle)) * along * g
        H = H + p[:, row + gimbals.MOMENTUM, None] * s
    return H


# ------------------------------------------------------------------ energies of orbit and attitude apart
@jit.loop(ENERGIES_APART)
def energies_apart(rows, mu, mass, moments, axes, inertia, spin, attitude, orbital):
    """Write them of each body in each row, from ``Energies.constants`` of all or of its own [hughes1986, ch. 8]."""
    for k in range(rows.shape[0]):
        y, j = pointer(rows[k]), k if mass.shape[0] > 1 else 0
        for i in range(mass.shape[1]):
            b, a, energy, tide = L.BODY * i, 3 * i, 0.0, 0.0
            r, p, m = get3(y, b + L.POSITION), get3(y, b + L.MOMENTUM), get3(y, b + L.ANGULAR)
            q, size = normalize(get4(y, b + L.ATTITUDE)), sqrt(dot(r, r))
            for c in range(3):
                energy += 0.5 * m[c] * m[c] / moments[j, a + c] if moments[j, a + c] > 0.0 else 0.0
            for c in range(inertia.size):
                along = dot(rotate_inverse(q, r), get3(pointer(axes[c]), 0)) / size
                tide += (1.0 - 3.0 * along * along) * (inertia[c] if c > 2 else moments[j, a + c] - moments[j, a + 2])
            put3(pointer(spin[k]), a, rotate(q, m))
            attitude[k, i] = energy - 0.5 * mu[j, 0] / size**3 * tide
            orbital[k, i] = 0.5 * dot(p, p) / mass[j, i] - mu[j, 0] * mass[j, i] / size


@dataclass
class Energies:
    """Spin, attitude energy and orbital energy from recorded states: for a real satellite the attitude's is below the
    round-off of their sum."""

    mu: ArrayLike  # as all constants: of all rows, or of each
    mass: ArrayLike  # (N), or (n, N)
    moments: ArrayLike  # (N, 3), or (n, N, 3)
    gradient: bool
    wheels: tuple[Any, ...]  # their axes, and their moments about them, which the others leave out
    spin: Spin | None  # of body and rotors

    @classmethod
    def of(cls, mu: float, bodies: Sequence[Body], gradient: bool, spin: Spin | None) -> Energies:
        """Those of bodies, the one of which may have wheels."""
        wheels = bodies[0].wheels
        own = ((), ()) if wheels is None else (wheels.axes_in(bodies[0].frame), tuple(wheels.inertia.tolist()))
        _, mass, moments, *_ = zip(*bodies, strict=True)
        return cls(mu, mass, moments, gradient, own, spin)

    def of_members(self, mass: Array, moments: Array, parameters: Array) -> Energies:
        """The same with constants of their own for each row: masses (n, N), moments (n, N, 3), parameters (n, P)."""
        spin = self.spin and self.spin.of_members(mass, moments, parameters)
        return replace(self, mu=parameters[:, 0], mass=mass, moments=moments, spin=spin)

    @cached_property
    def constants(self) -> tuple[Array, ...]:
        """What ``energies_apart`` reads; of wheels in a gradient the first axes are those of the body."""
        mass, moments = np.array(self.mass, dtype=float, ndmin=2), np.array(self.moments, dtype=float, ndmin=3)
        moments[np.isinf(moments)] = 0.0
        axes = np.reshape([*np.eye(3), *self.wheels[0]] if self.gradient else [], (-1, 3))
        inertia = np.array([0.0, 0.0, 0.0, *self.wheels[1]] if self.gradient else [])
        return np.reshape(self.mu, (-1, 1)).astype(float), mass, moments.reshape(len(moments), -1), axes, inertia

    def __call__(self, body: Array, read: Any = None) -> dict[str, Any]:
        n, N = body.shape[:2]
        spin, attitude, orbital = np.empty((n, 3 * N)), np.empty((n, N)), np.empty((n, N))
        energies_apart(np.ascontiguousarray(body).reshape(n, -1), *self.constants, spin, attitude, orbital)
        found = self.spin(body, read) if self.spin else {"spin": spin.reshape(n, N, 3)}
        return {**found, "attitude_energy": attitude, "orbital_energy": orbital}
