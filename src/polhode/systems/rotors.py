"""Rotors in a body, wheels and control moment gyros: what they contribute to its system.

Variables: momenta and commands of the wheels, then angles and commands of the gyros. Table in the parameters: that of
the wheels, of which there may be none, with that of the gyros behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.algebra.quaternion import rotate_inverse
from polhode.arguments.recorded import called
from polhode.bodies.gyros import Gyros, control_moment_gyros
from polhode.bodies.inertia import principal
from polhode.bodies.wheels import FREE, Wheels, reaction_wheels, rest_of
from polhode.errors import InvalidInput
from polhode.flows.gyrostat import AXES, AXIS, GYROS, OF_WHEEL
from polhode.kernel import jit
from polhode.kernel import layout as L
from polhode.kernel.access import put3
from polhode.kernel.jit import bind, hole, inlined
from polhode.systems.equipment import Fitting, sizes_of
from polhode.systems.event_record import WHEEL, Watch
from polhode.systems.gyros import gyros_of_body, watches_of
from polhode.systems.record import AuxiliaryVariable
from polhode.systems.user.states import Sizes
from polhode.systems.wheels import imbalance_of_body, wheels_of_body

wheels_at = hole("wheels_at(parameters) -> int", "Where the table of wheels begins.")


@inlined
def at_first(parameters):
    """Of a body without other loads: the table is at the beginning of the parameters."""
    return 0


def rotors_alone(part, t, N, y, bodies, parameters, out):
    """No loads but those of the rotors."""
    put3(out, 0, (0.0, 0.0, 0.0))
    put3(out, 3, (0.0, 0.0, 0.0))


def gyros_behind(parameters):
    """Where the table of gyros begins."""
    return int(parameters[wheels_at(parameters) + GYROS])


@lru_cache(jit.KEPT_KERNELS)
def _gyros_at(where: Any) -> Any:
    return inlined(bind(gyros_behind, wheels_at=where))  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Spin:
    """The angular momentum of body and rotors about the centre of mass, in space, from recorded states.

    Attributes
    ----------
    wheels : array (n, 3)
        Axes of the wheels, principal frame.
    gyros : Gyros, optional
        The gyros.
    frame : array (4,)
        Quaternion from the principal to the user's body frame.
    angles : int
        The first angle of a gimbal, among the variables that loads read; the first are the momenta of the wheels.
    others : function, optional
        Further quantities.
    """

    wheels: Any
    gyros: Gyros | None
    frame: Any
    angles: int
    others: Any = None

    def __call__(self, body: Any, read: Any) -> dict[str, Any]:
        found = {} if self.others is None else dict(self.others(body))
        m = body[:, 0, L.ANGULAR :] + read[:, : len(self.wheels)] @ self.wheels
        if self.gyros is not None:
            H = self.gyros.momentum_at(read[:, self.angles : self.angles + self.gyros.count * self.gyros.gimbals])
            m = m + rotation.rotate_inverse(np.asarray(self.frame), H)
        found["spin"] = rotation.rotate(body[:, 0, L.ATTITUDE : L.ANGULAR], m)[:, None]
        return found


@dataclass(frozen=True)
class Rotors:
    """Rotors in a body.

    Attributes
    ----------
    wheels, gyros : Wheels, Gyros or None
        What they are; at least one is there.
    moments, frame : array (3,), quaternion
        Principal moments of the inertia without what wheels add about their axes, and its frame.
    """

    wheels: Wheels | None
    gyros: Gyros | None
    moments: Any
    frame: Any

    @property
    def quaternion(self) -> tuple[float, float, float, float]:
        """The frame as a tuple."""
        w, x, y, z = map(float, self.frame)
        return (w, x, y, z)

    @property
    def axes(self) -> Any:
        """Axes of the wheels in the principal frame (n, 3)."""
        if self.wheels is None:
            return np.zeros((0, 3))
        return np.array([rotated(self.frame, axis) for axis in self.wheels.axes])

    @property
    def arguments(self) -> dict[str, Any]:
        """What they are made from, as the system takes them."""
        both = {"wheels": self.wheels, "gyros": self.gyros}
        return {name: dict(one.arguments) for name, one in both.items() if one is not None}

    @property
    def work_names(self) -> tuple[str, ...]:
        """Names of their works."""
        return tuple(self.arguments)

    @property
    def variables(self) -> tuple[AuxiliaryVariable, ...]:
        """Their auxiliary variables."""
        return (*variables_of(self.wheels, "wheel"), *variables_of(self.gyros, "gimbal"))

    @property
    def _of_wheels(self) -> int:
        return len(variables_of(self.wheels, "wheel"))

    @property
    def _numbers_of_wheels(self) -> int:
        return 0 if self.wheels is None else len(self.wheels.numbers(self.frame))

    @property
    def aligned(self) -> bool:
        """Whether there are wheels, and these have no products of inertia in the principal frame of the body."""
        if self.wheels is None:
            return False
        tensor = np.einsum("k,ki,kj->ij", self.wheels.inertia, self.axes, self.axes)
        return not tensor[np.triu_indices(3, 1)].any()

    @property
    def commands(self) -> Sizes:
        """The states that controllers may set."""
        return tuple((name, size) for name, size in sizes_of(self.variables) if name.endswith("_command"))

    def table(self, fitting: Fitting) -> list[float]:
        """The table in the parameters."""
        one, axes = self.wheels, self.axes
        numbers: list[float] = [len(axes), fitting.first, 0.0, *axes.ravel(), fitting.work]
        if one is not None:
            numbers += one.numbers(self.frame)
        if self.gyros is not None:
            numbers[GYROS] = fitting.at + len(numbers)
            numbers += self.gyros.table(fitting.first + self._of_wheels, fitting.work + (one is not None), self.frame)
        return [float(x) for x in numbers]

    def loads(self, loads: Any, fitting: Fitting) -> Any:
        """The loads with those of the rotors."""
        if self.wheels is not None:
            loads = wheels_of_body(loads, fitting.where)
            if self.wheels.imbalance is not None:
                loads = imbalance_of_body(loads, fitting.where)
        return loads if self.gyros is None else gyros_of_body(loads, _gyros_at(fitting.where))

    def watches(self, fitting: Fitting) -> tuple[Watch, ...]:
        """The events of saturation, and at the stops of gimbals."""
        n, one, first = len(self.axes), self.wheels, fitting.first
        rows, found = fitting.at + AXES + AXIS * n + 1, list[Watch]()
        if one is not None:
            for k in range(n):
                flag, most = rows + OF_WHEEL * k + FREE, float(one.most_momentum[k])
                if most < inf:
                    found.append(Watch(WHEEL, (float(L.BODY + first + k), most, float(flag)), rising="wheel_released",
                                       falling="wheel_saturated", cuts=True, flag=flag))  # fmt: skip
        if self.gyros is not None:
            found += watches_of(self.gyros, rows + self._numbers_of_wheels, first + self._of_wheels)
        return tuple(found)

    def spin(self, others: Any = None) -> Spin:
        """The momentum of the whole, from recorded states."""
        return Spin(self.axes, self.gyros, self.frame, self._of_wheels, others)


def variables_of(one: Wheels | Gyros | None, dimension: str) -> tuple[AuxiliaryVariable, ...]:
    """The states of wheels or gyros as auxiliary variables."""
    return tuple(
        AuxiliaryVariable(name, str(k), True, True, float(x), dimension, "", words)
        for name, starts, words in (() if one is None else one.states) for k, x in enumerate(starts)
    )  # fmt: skip


def rotated(frame: Any, axis: Any) -> list[float]:
    """An axis of the user's body frame in the principal frame."""
    return list(map(float, rotate_inverse(tuple(frame), tuple(axis))))


def rotors_of(wheels: Any, gyros: Any, inertia: Any, N: int = 1) -> Rotors | None:
    """Wheels and gyros in one body with this inertia, that of the whole with locked wheels; None without any.

    Raises
    ------
    InvalidInput
        They are no wheels or gyros, there are several bodies, or wheels have more inertia than the body.
    """

    def of_kind(given: Any, make: Any, kind: type, name: str) -> Any:
        given = called(make, given) if isinstance(given, Mapping) else given
        if given is not None and not isinstance(given, kind):
            raise InvalidInput(f"{name} must be made by polhode.{make.__name__}, or be a mapping of its arguments")
        if given is not None and N > 1:
            raise InvalidInput(f"{name} are those of one spacecraft, but there are {N}; build a system for each of "
                               "them")  # fmt: skip
        return given

    spun = of_kind(wheels, reaction_wheels, Wheels, "wheels")
    turned = of_kind(gyros, control_moment_gyros, Gyros, "gyros")
    if spun is None and turned is None:
        return None
    whole = principal(inertia)
    if spun is None:
        return Rotors(None, turned, whole.moments, whole.frame)
    parts = rest_of(whole, spun)
    return Rotors(spun, turned, parts.moments, parts.frame)
