"""Control moment gyros of a rigid body: what they are, and their table in the parameters of a system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Annotated, Any

import numpy as np

from polhode.algebra.quaternion import rotate_inverse
from polhode.arguments import Array, array, of_each, unit_vectors
from polhode.arguments.frozen import frozen
from polhode.arguments.recorded import plain
from polhode.arguments.words import Form, Unit
from polhode.errors import InvalidInput, answering

UNLIMITED = 1e300
SQUARE = 1e-6
"""Cosine of the angle between two axes that counts as a right angle."""


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

    def table(self, first: int, work: int, frame: Any) -> list[float]:
        """The table in the parameters; ``first`` and ``work``: auxiliary variables."""

        def inside(axis: Any) -> list[float]:
            return list(map(float, rotate_inverse(tuple(frame), tuple(axis))))

        numbers: list[float] = [self.count, self.gimbals, first, work]
        for k in range(self.count):
            numbers += [self.momentum[k], *inside(self.axes[k, 0]), *inside(self.axes[k, -1]), *inside(self.spin[k])]
            for j in range(2):
                most = self.most_rate[k, j] if j < self.gimbals else 0.0
                numbers += [min(most, UNLIMITED), 1.0]
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
    gimbal_axes: Annotated[Any, Form.VECTORS],
    spin_axes: Annotated[Any, Form.VECTORS],
    momentum: Annotated[Any, Form.NUMBER_OR_NUMBERS, Unit("N_m_s")],
    *,
    inner_axes: Annotated[Any, Form.VECTORS] | None = None,
    max_rate: Annotated[Any, Form.NUMBER_OR_NUMBERS, Unit("rad_s")] | None = None,
    max_angle: Annotated[Any, Form.NUMBER_OR_NUMBERS, Unit("rad")] | None = None,
    angle: Annotated[Any, Form.NUMBER_OR_NUMBERS, Unit("rad")] = 0.0,
    command: Annotated[Any, Form.NUMBER_OR_NUMBERS, Unit("rad_s")] = 0.0,
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

    Returns
    -------
    Gyros

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

    def each(value: Any, name: str, unit: str, positive: bool = False) -> Array:
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
    most_rate, most_angle = np.full((2, n, gimbals), inf)
    if max_rate is not None:
        most_rate = each(max_rate, "max_rate", "rad / s", True)
    if max_angle is not None:
        most_angle = each(max_angle, "max_angle", "rad", True)
    angles, commands = each(angle, "angle", "rad"), each(command, "command", "rad / s")
    over = np.abs(angles) > most_angle
    if over.any():
        k = int(np.argmax(over.any(axis=1)))
        raise InvalidInput(f"a gimbal of gyro {k} is beyond its stop from the start: its angle is "
                           f"{np.abs(angles[k]).max():g}, the largest {most_angle[k].min():g}")  # fmt: skip
    return Gyros(frozen(given), np.stack(axes, axis=1), spin, h, most_rate, most_angle, angles, commands)
