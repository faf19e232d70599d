"""Magnetic torquers of a spacecraft: coils or rods whose dipole moments are commanded, in the field that they meet.

Torquer k has the moment d_k a_k along its axis, with the command d_k within its limit; together they exert the torque

    T = sum d_k a_k x B,

perpendicular to the field B. The force on them, some 1e-11 N per A m^2 in a low orbit, is neglected. Commands are
auxiliary variables that loads read; they stay until something sets them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Annotated, Any

import numpy as np

from polhode.arguments import array, in_unit, unit_vectors
from polhode.arguments.recorded import called, plain
from polhode.arguments.words import Form, Unit
from polhode.errors import InvalidInput, answering, shown
from polhode.loads import Load
from polhode.loads.magnetism import of_commands, within_limits
from polhode.systems.record import AuxiliaryVariable
from polhode.systems.user.forms import Sizes

COMMAND = "dipole_command"


@dataclass(frozen=True)
class Torquers:
    """Magnetic torquers of a spacecraft."""

    arguments: Mapping[str, Any]  # what they are made from, in JSON types
    axes: Any  # (n, 3): their axes, user's body frame, of unit length
    most: Any  # (n,): largest dipole moments, infinite without a limit
    command: Any  # (n,): dipole moments at the start

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.axes)

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

    def load(self, turned: Callable[..., Any]) -> Load:
        """Their load, with ``turned`` as of ``devices.loads_of_devices``."""
        given = {"axes": turned(self.axes)}
        if np.isinf(self.most).all():
            return Load(of_commands, "torquers", given, kind="torquers")
        return Load(within_limits, "torquers", {**given, "max_dipole": self.most}, kind="torquers")

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
    """The torquers of one spacecraft that meets a field; None without."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        given = called(magnetic_torquers, given)
    if not isinstance(given, Torquers):
        raise InvalidInput("torquers must be made by polhode.systems.magnetic_torquers, or be a mapping of its "
                           f"arguments, not {shown(given)}")  # fmt: skip
    if field is None:
        raise InvalidInput("torquers are given, but there is no magnetic_field; give it, or leave them out")
    if N > 1:
        raise InvalidInput(f"torquers are those of one spacecraft, but there are {N}; build a system for each of them")
    return given
