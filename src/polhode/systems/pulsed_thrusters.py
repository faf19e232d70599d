"""Thrusters of a spacecraft that fire in pulses, by a pulse-width modulation.

At the beginning of each period thruster k is opened for the share of the period that it is commanded, rounded to the
resolution of its valve; a pulse shorter than the shortest possible one is left out. Steps are cut, within the compiled
loop, where a valve closes. While it is open, thruster k exerts the force F_k and the torque x_k x F_k, both fixed in
the body.

Auxiliary variables that loads read: commanded shares, whether the valves are open (1 or 0), when they close, and for
how long each thruster has fired.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from polhode.arguments import UNKNOWN, array, in_unit, number, unit_vectors
from polhode.arguments.recorded import called, plain
from polhode.arguments.words import Form, Time, Unit
from polhode.errors import InvalidInput, answering, shown
from polhode.kernel.sampling import PULSE
from polhode.loads import Load
from polhode.loads.thrust import pulsed
from polhode.systems.record import AuxiliaryVariable
from polhode.systems.sampling import Sampled
from polhode.systems.user.forms import Sizes

COMMAND, OPEN, CLOSES, FIRED = "thruster_command", "thruster_open", "thruster_closes", "thruster_fired"


@dataclass(frozen=True)
class PulsedThrusters:
    """Thrusters of a spacecraft that fire in pulses."""

    arguments: Mapping[str, Any]  # what they are made from, in JSON types
    force: Any  # force, torque: (n, 3): of each while it fires, user's body frame
    torque: Any
    command: Any  # (n,): shares of the period at the start
    every: float  # every, phase: the period, and a time at which one begins
    phase: float
    min_on_time: float  # min_on_time, resolution: shortest pulse, and that of the valves' times; 0 without
    resolution: float

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.force)

    @property
    def commands(self) -> Sizes:
        """The states that controllers may set."""
        return ((COMMAND, self.count),)

    @property
    def variables(self) -> tuple[AuxiliaryVariable, ...]:
        """Commands, whether valves are open, when they close, and how long each has fired."""
        return tuple(
            AuxiliaryVariable(name, str(k), True, True, float(start[k]), "pulsed_thruster", "", words)
            for name, start, words in (
                (COMMAND, self.command, "commanded shares of the period in which thrusters fire"),
                (OPEN, np.zeros(self.count), "whether the valves of thrusters are open"),
                (CLOSES, np.zeros(self.count), "times at which the valves of thrusters close"),
                (FIRED, np.zeros(self.count), "how long thrusters have fired"),
            )
            for k in range(self.count)
        )

    def load(self, turned: Callable[..., Any]) -> Load:
        """Their load, with ``turned`` as of ``devices.loads_of_devices``."""
        given = {"force": turned(self.force), "torque": turned(self.torque)}
        return Load(pulsed, "pulsed_thrusters", given, kind="thrust")

    def sampled(self, at: Mapping[str, list[int]]) -> tuple[list[float], Sampled]:
        """The row of the table of what sets states (``kernel.sampling``); ``at``: indices of auxiliary variables."""
        row: list[float] = [self.every, self.phase, PULSE, self.count]
        for command, valve, closes in zip(at[COMMAND], at[OPEN], at[CLOSES], strict=True):
            row += [command, valve, self.min_on_time, self.resolution, 0, closes]
        return row, Sampled(self.every, self.phase, None, True)

    def __repr__(self) -> str:
        return f"pulsed_thrusters({', '.join(f'{key}={value!r}' for key, value in self.arguments.items())})"


@answering
def pulsed_thrusters(
    force: Annotated[Any, Form.NUMBER_OR_NUMBERS, Unit("N")],
    directions: Annotated[Any, Form.VECTORS],
    every: Time,
    *,
    positions: Annotated[Any, Form.VECTORS, Unit("m")] | None = None,
    min_on_time: Time = 0.0,
    resolution: Time = 0.0,
    phase: Time = 0.0,
    command: Annotated[Any, Form.NUMBER_OR_NUMBERS] = 0.0,
) -> PulsedThrusters:
    """Thrusters of a ``spacecraft`` whose valves open at the beginning of each period, for a commanded share of it.

    The states ``thruster_open`` (1 or 0), ``thruster_closes`` (times) and ``thruster_fired`` (seconds of thrust so far,
    for the propellant) are recorded beside the command; a row at a time when a valve moves shows what was before.

    Parameters
    ----------
    force : float or array_like (n,)
        Thrust of each while it fires.
    directions : array_like (n, 3)
        Directions of the forces on the body, in body axes; any length.
    every : float
        Period of the modulation.
    positions : array_like (n, 3), optional
        Points of action relative to the centre of mass, in body axes; there by default, so that there is no torque.
    min_on_time : float
        Shortest pulse; shorter ones are left out.
    resolution : float
        Pulses are whole multiples of it; 0 for any length.
    phase : float
        A time at which a period begins; the others are whole multiples of ``every`` from it.
    command : float or array_like (n,)
        Shares of the period at the start, from 0 to 1. They stay until a controller sets the state
        ``thruster_command``; values beyond 0 and 1 count as these. The mean thrust is force times command.

    Returns
    -------
    PulsedThrusters

    Raises
    ------
    InvalidInput
        Names the invalid argument.

    Examples
    --------
    >>> pulsed_thrusters(0.5, [(1, 0, 0), (-1, 0, 0)], 1.0, min_on_time=0.02).count
    2
    """
    e = unit_vectors(directions, "directions")
    n = len(e)

    def each(value: Any, name: str, unit: Any) -> Any:
        values = array(in_unit(value, unit, name), name)
        if values.shape not in ((), (n,)):
            raise InvalidInput(f"{name} must be one number or one for each of {n} thrusters, but has shape "
                               f"{values.shape}")  # fmt: skip
        given[name] = plain(values if values.ndim else float(values))
        return np.broadcast_to(values, (n,)).copy()

    given: dict[str, Any] = {}
    size = each(force, "force", "N")
    if (size <= 0.0).any():
        raise InvalidInput(f"force is {float(size.min()):g}; give a positive number, and the sign by the direction")
    given["directions"] = plain(directions)
    given["every"] = period = number(every, "every", "s", positive=True)
    x = np.zeros((n, 3))
    if positions is not None:
        x = np.atleast_2d(array(in_unit(positions, "m", "positions"), "positions"))
        if x.shape != (n, 3):
            raise InvalidInput(f"positions must be one row of 3 numbers for each of {n} thrusters, but has shape "
                               f"{x.shape}")  # fmt: skip
        given["positions"] = plain(x)
    times_given = {}
    for name, value in (("min_on_time", min_on_time), ("resolution", resolution)):
        times_given[name] = given[name] = number(value, name, "s")
        if not 0.0 <= given[name] <= period:
            raise InvalidInput(f"{name} is {given[name]:g}; give 0, or a time up to the period, {period:g}")
    given["phase"] = begun = number(phase, "phase", "s")
    shares = each(command, "command", UNKNOWN)
    if not ((shares >= 0.0) & (shares <= 1.0)).all():
        k = int(np.argmax((shares < 0.0) | (shares > 1.0)))
        raise InvalidInput(f"the command of thruster {k} is {shares[k]:g} at the start; it is a share of the period, "
                           "so give a number from 0 to 1")  # fmt: skip
    F = size[:, None] * e
    return PulsedThrusters(given, F, np.cross(x, F), shares, period, begun, **times_given)


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
