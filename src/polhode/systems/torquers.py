"""Magnetic torquers of a spacecraft: ``polhode.loads.torquers``, and the states that they bring.

The force on them, some 1e-11 N per A m^2 in a low orbit, is neglected.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from polhode.arguments import in_unit
from polhode.arguments.recorded import called, plain
from polhode.errors import InvalidInput, answering, shown
from polhode.loads import Load
from polhode.loads.magnetism import torquers as of_load
from polhode.systems.record import AuxiliaryVariable
from polhode.systems.user.forms import Sizes

COMMAND = "dipole_command"


@dataclass(frozen=True)
class Torquers:
    """Magnetic torquers of a spacecraft."""

    arguments: Mapping[str, Any]  # what they are made from, in JSON types
    acting: Load

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.acting.parameters["axes"])

    @property
    def commands(self) -> Sizes:
        """The states that controllers may set."""
        return ((COMMAND, self.count),)

    @property
    def variables(self) -> tuple[AuxiliaryVariable, ...]:
        """The commands."""
        words = "commanded dipole moments of magnetic torquers"
        return tuple(AuxiliaryVariable(COMMAND, str(k), True, True, float(x), "torquer", "", words)
                     for k, x in enumerate(self.acting.starts[COMMAND]["start"]))  # fmt: skip

    def load(self, turned: Callable[..., Any]) -> Load:
        """Their load, with ``turned`` as of ``devices.loads_of_devices``."""
        given = self.acting.parameters
        return replace(self.acting, parameters={**given, "axes": turned(given["axes"])}, starts={})

    def __repr__(self) -> str:
        return f"magnetic_torquers({', '.join(f'{key}={value!r}' for key, value in self.arguments.items())})"


@answering
@functools.wraps(of_load, assigned=("__doc__", "__annotations__"))
def magnetic_torquers(axes: Any, max_dipole: Any = None, *, command: Any = 0.0) -> Torquers:
    acting = of_load(axes, max_dipole, command=command)
    given = {"max_dipole": max_dipole, "command": command}
    sizes = {name: plain(in_unit(one, "A * m**2", name)) for name, one in given.items() if one is not None}
    return Torquers({"axes": plain(axes), **sizes}, acting)


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
