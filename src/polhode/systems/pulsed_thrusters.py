"""Thrusters of a spacecraft that fire in pulses: ``polhode.loads.pulsed_thrusters``, and the states that it brings."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from polhode.arguments.recorded import called
from polhode.errors import InvalidInput, answering, shown
from polhode.loads import Load
from polhode.loads.thrust import CLOSES, COMMAND, FIRED, OPEN
from polhode.loads.thrust import pulsed_thrusters as of_load
from polhode.systems.record import AuxiliaryVariable
from polhode.systems.user.forms import Sizes

WORDS = {
    COMMAND: "commanded shares of the period in which thrusters fire", OPEN: "whether the valves of thrusters are open",
    CLOSES: "times at which the valves of thrusters close", FIRED: "how long thrusters have fired",
}  # fmt: skip


@dataclass(frozen=True)
class PulsedThrusters:
    """Thrusters of a spacecraft that fire in pulses."""

    acting: Load

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What they are made from, in JSON types."""
        return self.acting.recorded or {}

    @property
    def count(self) -> int:
        """How many there are."""
        return self.acting.valves.thrusters  # type: ignore[no-any-return]

    @property
    def commands(self) -> Sizes:
        """The states that controllers may set."""
        return ((COMMAND, self.count),)

    @property
    def variables(self) -> tuple[AuxiliaryVariable, ...]:
        """Commands, whether valves are open, when they close, and how long each has fired."""
        return tuple(AuxiliaryVariable(name, str(k), True, True, start, "pulsed_thruster", "", words)
                     for name, words in WORDS.items() for k, start in enumerate(self.acting.starts[name]))  # fmt: skip

    def load(self, turned: Callable[..., Any]) -> Load:
        """Their load, with ``turned`` as of ``devices.loads_of_devices``."""
        return replace(self.acting, parameters={name: turned(one) for name, one in self.acting.parameters.items()},
                       kind="thrust", starts={})  # fmt: skip

    def __repr__(self) -> str:
        return f"pulsed_thrusters({', '.join(f'{key}={value!r}' for key, value in self.arguments.items())})"


@answering
@functools.wraps(of_load, assigned=("__doc__", "__annotations__"))
def pulsed_thrusters(*arguments: Any, **given: Any) -> PulsedThrusters:
    return PulsedThrusters(of_load(*arguments, **given))


def pulses_of(given: Any, N: int) -> PulsedThrusters | None:
    """The pulsed thrusters of one spacecraft; None without."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        given = called(pulsed_thrusters, given)
    if not isinstance(given, PulsedThrusters):
        raise InvalidInput("pulsed_thrusters must be made by polhode.systems.pulsed_thrusters, or be a mapping of its "
                           f"arguments, not {shown(given)}")  # fmt: skip
    if N > 1:
        raise InvalidInput(f"pulsed_thrusters are those of one spacecraft, but there are {N}; build a system for each")
    return given
