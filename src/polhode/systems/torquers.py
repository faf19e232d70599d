"""Magnetic torquers of a spacecraft: coils or rods whose dipole moments are commanded, in the field that they meet.

Torquer k has the moment d_k a_k along its axis, with the command d_k within its limit; together they exert the torque

    T = sum d_k a_k x B,

perpendicular to the field B. The force on them, some 1e-11 N per A m^2 in a low orbit, is neglected. Commands are
auxiliary variables that loads read; they stay until something sets them.

Table in the parameters of a system, from ``at`` on: number of torquers, index of the auxiliary variable that is the
first command, index of the work, place of the numbers of the field; then axis (principal frame) and limit of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Annotated, Any

import numpy as np

from polhode.algebra.quaternion import rotate_inverse
from polhode.algebra.so3 import add, axpy, cross, dot, scale, times
from polhode.arguments import array, in_unit, unit_vectors
from polhode.arguments.recorded import called, plain
from polhode.arguments.words import Form, Unit
from polhode.errors import InvalidInput, answering, shown
from polhode.kernel import jit
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3
from polhode.kernel.jit import bind, hole
from polhode.systems.equipment import Fitting
from polhode.systems.event_record import Watch
from polhode.systems.forces.sums import MU
from polhode.systems.record import AuxiliaryVariable
from polhode.systems.user.states import Sizes

COUNT, FIRST, WORK, FIELD, ROWS = range(5)
ROW, LIMIT = 4, 3
"""Numbers of a torquer: its axis, and at LIMIT its largest dipole moment."""
UNLIMITED = 1e300
COMMAND = "dipole_command"

inner = hole("inner(part, t, N, y, bodies, parameters, out)", "The loads without torquers.")
torquers_at = hole("torquers_at(parameters) -> int", "Where the table of torquers begins.")
magnetic = hole("magnetic(p, at, mu, t, r, v) -> vector", "The magnetic field in the axes of space.")


def loads_with_torquers(part, t, N, y, bodies, parameters, out):
    """The loads of one spacecraft and the torque of its torquers."""
    inner(part, t, N, y, bodies, parameters, out)
    at = torquers_at(parameters)
    count, first, work = int(parameters[at + COUNT]), int(parameters[at + FIRST]), int(parameters[at + WORK])
    if part & (L.MOVING | L.RESTING) != 0:
        r = get3(y, L.POSITION)
        v = scale(bodies[L.INVERSE_MASS], get3(y, L.MOMENTUM))
        B = magnetic(parameters, int(parameters[at + FIELD]), parameters[MU], t, r, v)
        M = (0.0, 0.0, 0.0)
        for k in range(count):
            row = at + ROWS + ROW * k
            most = parameters[row + LIMIT]
            M = axpy(min(max(y[L.BODY * N + first + k], -most), most), get3(parameters, row), M)
        T = cross(M, rotate_inverse(get4(y, L.ATTITUDE), B))
        if part & L.RESTING != 0:
            put3(out, 3, add(get3(out, 3), T))
        if part & L.MOVING != 0:
            out[L.LOAD * N + work] = dot(T, times(get3(bodies, L.INVERSE_INERTIA), get3(y, L.ANGULAR)))


@lru_cache(jit.KEPT_KERNELS)
def torquers_of_body(loads: Any, where: Any, field: Any) -> Any:
    """``loads_with_torquers`` with these loads, the place of the table and the field."""
    return bind(loads_with_torquers, inner=loads, torquers_at=where, magnetic=field)


@dataclass(frozen=True)
class Torquers:
    """Magnetic torquers of a spacecraft.

    Attributes
    ----------
    arguments : mapping
        What they are made from, in JSON types.
    axes : array (n, 3)
        Their axes, user's body frame, of unit length.
    most : array (n,)
        Largest dipole moments, infinite without a limit.
    command : array (n,)
        Dipole moments at the start.
    """

    arguments: Mapping[str, Any]
    axes: Any
    most: Any
    command: Any

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.axes)

    @property
    def work_names(self) -> tuple[str, ...]:
        """The name of their work."""
        return ("torquers",)

    @property
    def commands(self) -> Sizes:
        """The states that controllers may set."""
        return ((COMMAND, self.count),)

    @property
    def variables(self) -> tuple[AuxiliaryVariable, ...]:
        """The commands."""
        words = "commanded dipole moments of magnetic torquers"
        return tuple(
            AuxiliaryVariable(COMMAND, str(k), True, True, float(x), "torquer", "", words)
            for k, x in enumerate(self.command)
        )

    def table(self, fitting: Fitting) -> list[float]:
        """The table in the parameters."""
        numbers: list[Any] = [self.count, fitting.first, fitting.work, fitting.field_at]
        for axis, most in zip(self.axes, self.most, strict=True):
            numbers += [*rotate_inverse(tuple(fitting.frame), tuple(axis)), min(most, UNLIMITED)]
        return [float(x) for x in numbers]

    def loads(self, loads: Any, fitting: Fitting) -> Any:
        """Loads with the torque of the torquers."""
        return torquers_of_body(loads, fitting.where, fitting.field)

    def watches(self, fitting: Fitting) -> tuple[Watch, ...]:
        """No events."""
        return ()

    def __repr__(self) -> str:
        return f"magnetic_torquers({', '.join(f'{key}={value!r}' for key, value in self.arguments.items())})"


@answering
def magnetic_torquers(
    axes: Annotated[Any, Form.VECTORS],
    max_dipole: Annotated[Any, Form.NUMBER_OR_NUMBERS, Unit("A_m2")] | None = None,
    *,
    command: Annotated[Any, Form.NUMBER_OR_NUMBERS, Unit("A_m2")] = 0.0,
) -> Torquers:
    """Coils or rods fixed in a ``spacecraft`` whose dipole moments are commanded; they need its ``magnetic_field``.

    Parameters
    ----------
    axes : array_like (n, 3)
        Axes, in the body frame; any length.
    max_dipole : float or array_like (n,), optional
        Largest dipole moment, torque / field (A m^2); larger commands are cut.
    command : float or array_like (n,)
        Dipole moments along the axes at the start. They stay until a controller sets the state ``dipole_command``.

    Returns
    -------
    Torquers

    Raises
    ------
    InvalidInput
        Names the invalid argument; a command beyond the limit.

    Examples
    --------
    >>> magnetic_torquers([(1, 0, 0), (0, 1, 0)], 0.2).count
    2
    """
    e = unit_vectors(axes, "axes")
    arguments = {"axes": plain(axes)}

    def each(value: Any, name: str) -> Any:
        values = array(in_unit(value, "A * m**2", name), name)
        if values.shape not in ((), (len(e),)):
            raise InvalidInput(f"{name} must be one number or one for each of {len(e)} torquers, but has shape "
                               f"{values.shape}")  # fmt: skip
        arguments[name] = plain(values if values.ndim else float(values))
        return np.broadcast_to(values, (len(e),)).copy()

    most = np.full(len(e), inf) if max_dipole is None else each(max_dipole, "max_dipole")
    if not (most > 0.0).all():
        raise InvalidInput(f"max_dipole is {float(most.min()):g}; give a positive number")
    first = each(command, "command")
    if (np.abs(first) > most).any():
        k = int(np.argmax(np.abs(first) > most))
        raise InvalidInput(f"torquer {k} is saturated from the start: its command is {abs(first[k]):g}, the largest "
                           f"moment {most[k]:g}; give a smaller command, or raise max_dipole")  # fmt: skip
    return Torquers(arguments, e, most, first)


def torquers_of(given: Any, field: Any, N: int) -> Torquers | None:
    """The torquers of one spacecraft that meets a field; None without.

    Raises
    ------
    InvalidInput
        They are none, there is no field, or there are several spacecraft.
    """
    if given is None:
        return None
    if isinstance(given, Mapping):
        given = called(magnetic_torquers, given)
    if not isinstance(given, Torquers):
        raise InvalidInput("torquers must be made by polhode.magnetic_torquers, or be a mapping of its arguments, not "
                           f"{shown(given)}")  # fmt: skip
    if field is None:
        raise InvalidInput("torquers are given, but there is no magnetic_field; give it, or leave them out")
    if N > 1:
        raise InvalidInput(f"torquers are those of one spacecraft, but there are {N}; build a system for each of them")
    return given
