"""Equipment of one body whose states controllers set: wheels and control moment gyros, magnetic torquers, and thrusters
that fire in pulses.

States of rotors are momenta and commands of the wheels, then angles and commands of the gyros. Torquers and thrusters
are ``polhode.loads.torquers`` and ``polhode.loads.pulsed_thrusters``, and the states that these bring. The force on
torquers, some 1e-11 N per A m^2 in a low orbit, is neglected.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from polhode.arguments import in_unit
from polhode.arguments.recorded import made_by, plain
from polhode.bodies.body import Body, rotors
from polhode.bodies.inertia import principal
from polhode.bodies.wheels import rest_of
from polhode.errors import InvalidInput, answering
from polhode.loads import Load, pulsed_thrusters as pulsed_load, torquers as torquers_load
from polhode.loads.thrust import CLOSES, COMMAND, FIRED, OPEN
from polhode.systems.record import AuxiliaryVariable


def of_one(name: str, N: int) -> None:
    """Refuse equipment of several spacecraft."""
    if N > 1:
        raise InvalidInput(f"{name} are those of one spacecraft, but there are {N}; build a system for each of them")


def rotors_of(wheels: Any, gyros: Any, inertia: Any, N: int = 1) -> Body | None:
    """A body with these wheels and gyros, and this inertia, that of the whole with locked wheels; None without any.

    Parameters
    ----------
    wheels : Wheels, optional
        From ``polhode.reaction_wheels``, or a mapping of its arguments, for one body. ``inertia`` is then that of the
        whole with locked wheels; the angular momentum in the trajectory that of the body without what wheels add about
        their axes, and ``spin`` that of the whole, in space. Torques may read the states ``wheel_momentum`` and
        ``wheel_command``.
    gyros : Gyros, optional
        From ``polhode.control_moment_gyros``, or a mapping of its arguments, for one body; ``inertia`` is then without
        what their rotors add about their spin axes. Torques may read the states ``gimbal_angle`` and
        ``gimbal_command``.
    """
    spun, turned = rotors(wheels, gyros)
    if spun is None and turned is None:
        return None
    of_one("gyros" if spun is None else "wheels", N)
    moments, frame = rest_of(principal(inertia), spun)
    return Body("body", inf, tuple(moments), tuple(frame), wheels=spun, gyros=turned)


WORDS = {
    "dipole_command": "commanded dipole moments of magnetic torquers",
    COMMAND: "commanded shares of the period in which thrusters fire", OPEN: "whether the valves of thrusters are open",
    CLOSES: "times at which the valves of thrusters close", FIRED: "how long thrusters have fired",
}  # fmt: skip


@dataclass(frozen=True)
class Equipment:
    """What is fixed in the body of a spacecraft and does what it is commanded."""

    maker: str  # the function that makes it
    arguments: Mapping[str, Any]  # what it is made from, in JSON types
    acting: Load
    dimension: str  # along which the labels of its states stand

    @property
    def variables(self) -> tuple[AuxiliaryVariable, ...]:
        """Its states, the commands first."""
        starts = ((name, one["start"] if isinstance(one, Mapping) else one) for name, one in self.acting.starts.items())
        return tuple(AuxiliaryVariable(name, str(k), True, True, float(x), self.dimension, "", WORDS[name])
                     for name, start in starts for k, x in enumerate(start))  # fmt: skip

    def load(self, turned: Callable[..., Any]) -> Load:
        """Its load, with ``turned`` as of ``devices.loads_of_devices``."""
        numbers = {name: turned(one) if one.ndim == 2 else one for name, one in self.acting.parameters.items()}
        return replace(self.acting, parameters=numbers, starts={})

    def __repr__(self) -> str:
        return f"{self.maker}({', '.join(f'{key}={value!r}' for key, value in self.arguments.items())})"


@answering
@functools.wraps(torquers_load, assigned=("__doc__", "__annotations__"))
def magnetic_torquers(axes: Any, max_dipole: Any = None, *, command: Any = 0.0) -> Equipment:
    acting = torquers_load(axes, max_dipole, command=command)
    given = {"max_dipole": max_dipole, "command": command}
    sizes = {name: plain(in_unit(one, "A * m**2", name)) for name, one in given.items() if one is not None}
    return Equipment("magnetic_torquers", {"axes": plain(axes), **sizes}, acting, "torquer")


@answering
@functools.wraps(pulsed_load, assigned=("__doc__", "__annotations__"))
def pulsed_thrusters(*arguments: Any, **given: Any) -> Equipment:
    acting = pulsed_load(*arguments, **given)
    return Equipment("pulsed_thrusters", acting.recorded or {}, replace(acting, kind="thrust"), "pulsed_thruster")


def equipment_of(torquers: Any, field: Any, pulsed: Any, N: int) -> dict[str, Equipment]:
    """Torquers that meet a field, and thrusters that fire in pulses, of one spacecraft, by their arguments."""
    both = ("torquers", magnetic_torquers, torquers), ("pulsed_thrusters", pulsed_thrusters, pulsed)
    found = {}
    for name, make, given in both:
        if given is not None:
            found[name] = made_by(make, Equipment, given, name, f"systems.{make.__name__}")
            if name == "torquers" and field is None:
                raise InvalidInput("torquers are given, but there is no magnetic_field; give it, or leave them out")
            of_one(name, N)
    return found
