"""States of the user's own: numbers integrated beside the bodies, with rates, that loads may read.

A user's function takes them as its last argument, ``states``, with an attribute for each of them (``states.heat``), and
returns their rates behind the load, one entry for each.
"""

from __future__ import annotations

import keyword
from collections.abc import Collection, Mapping
from math import exp, sqrt
from typing import Any, NamedTuple

import numpy as np

from polhode.arguments import UNKNOWN, array, in_unit, mapping, number, text, truth, whole
from polhode.errors import InvalidInput, shown
from polhode.systems.record import AuxiliaryVariable
from polhode.systems.user.forms import Sizes

MOST = 256
"""Most numbers of states."""
KEYS = ("size", "start", "unit")
OF_NOISE = ("noise", "every", "seed", "phase", "time_constant", "walk")
TAKEN = frozenset((
    "angular_momentum", "angular_momentum_compensation", "angular_momentum_space", "angular_velocity", "attitude",
    "attitude_compensation", "attitude_energy", "axial_angular_momentum", "axis", "body", "boltzmann", "box",
    "column", "conserved_energy", "coulomb", "dipole", "dipole_command", "energy", "energy_change",
    "energy_error", "euler_angles", "event", "event_angular_velocity", "event_attitude", "event_before_velocity",
    "event_kind", "event_position", "event_time", "event_velocity", "event_work", "force", "gibbs_rodrigues",
    "inertia", "iterations", "kinetic_energy", "mass", "member", "modified_rodrigues", "momentum",
    "momentum_compensation", "orbital_energy", "parameters", "position", "position_compensation",
    "potential_energy", "pressure", "q", "quaternion", "rotation_vector", "row", "site", "site_charge",
    "site_mass", "site_position", "spin", "state_transition", "states", "status", "step", "t", "temperature",
    "temperature_rotational", "temperature_translational", "thermostat", "time", "time_variables",
    "total_angular_momentum", "total_dipole", "total_momentum", "velocity", "vertical_angular_momentum", "wheel",
    "wheel_angle", "wheel_command", "wheel_momentum", "work", "gimbal", "gimbal_angle", "gimbal_command",
    "pulsed_thruster", "thruster_closes", "thruster_command", "thruster_fired", "thruster_open",
))  # fmt: skip
"""Names that states may not have: those of other variables, dimensions and labels of a trajectory."""


class Noise(NamedTuple):
    """A state that is noise: numbers drawn at equal intervals of time, x <- kept x + fresh n, with normal numbers n."""

    every: float  # every, phase: time between samples, and a sampling time
    phase: float
    kept: float  # kept, fresh: the factors
    fresh: float
    seed: int  # numbers follow from it, the count of samples and the state's place among noises alone


class States(NamedTuple):
    """States that a user has stated."""

    sizes: Sizes  # names and how many numbers each has
    auxiliary: tuple[AuxiliaryVariable, ...]  # their numbers, one after the other
    arguments: dict[str, Any]  # what they are made from, in JSON types
    noises: tuple[tuple[str, Noise], ...] = ()  # those that are noise


OF_LOADS = {"dipole_command": ("torquer", "commanded dipole moments of magnetic torquers")}
"""States that loads of polhode bring: the dimension of each, and what it is."""


def states_of(given: object, brought: Collection[str] = ()) -> States:
    """States from the argument ``states`` of a system."""
    sizes, auxiliary, arguments, noises = [], [], {}, []
    for name, one in mapping({} if given is None else given, "states").items():
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
            raise InvalidInput(f"states has the name {shown(name)}; take a word of letters, digits and _")
        if name in TAKEN and name not in brought:
            raise InvalidInput(
                f"states has the name {name!r}, which something else in a trajectory has; take another one"
            )
        size, start, unit = _one(one, f"states.{name}")
        single = size == 0
        usual = ("" if single else f"{name}_component", f"state {name!r} of the user")
        dimension, words = OF_LOADS.get(name, usual)
        for k, x in enumerate(start):
            auxiliary.append(AuxiliaryVariable(name, "" if single else str(k), True, True, x, dimension, unit, words))
        sizes.append((name, size))
        kept: dict[str, Any] = {"size": size or 1} if not any(start) else {"start": start[0] if single else list(start)}
        arguments[name] = kept | ({"unit": unit} if unit else {})
        if isinstance(one, Mapping) and any(key in one for key in OF_NOISE):
            noise, told = _noise(one, f"states.{name}")
            arguments[name] |= told
            noises.append((name, noise))
        if len(auxiliary) > MOST:
            raise InvalidInput(f"states has more than {MOST} numbers; a system with so many is one of your own making")
    return States(tuple(sizes), tuple(auxiliary), arguments, tuple(noises))


def _noise(given: Mapping[str, Any], name: str) -> tuple[Noise, dict[str, Any]]:
    """The noise that a state is, and its arguments in JSON types."""
    for key, what in (("noise", "its standard deviation"), ("every", "the time between its samples")):
        if given.get(key) is None:
            raise InvalidInput(f"{name} is noise, but has no {key}; give {what}")
    told: dict[str, Any] = {}
    for key in ("noise", "every", "time_constant"):
        if given.get(key) is not None:
            told[key] = number(in_unit(given[key], UNKNOWN, f"{name}.{key}"), f"{name}.{key}", positive=True)
    seed = given.get("seed", 0)
    told["seed"] = whole(int(seed) if isinstance(seed, float) and seed.is_integer() else seed, f"{name}.seed")
    phase = number(in_unit(given.get("phase", 0.0), "s", f"{name}.phase"), f"{name}.phase")
    walk = truth(given.get("walk", False), f"{name}.walk")
    told |= ({"phase": phase} if phase else {}) | ({"walk": True} if walk else {})
    if walk and "time_constant" in told:
        raise InvalidInput(f"{name} has walk and time_constant; a random walk has none, so leave one of them out")
    size, every = told["noise"], told["every"]
    kept = 1.0 if walk else exp(-every / told["time_constant"]) if "time_constant" in told else 0.0
    fresh = size * sqrt(every) if walk else size * sqrt(1.0 - kept * kept)
    return Noise(every, phase, kept, fresh, told["seed"]), told


def _one(given: object, name: str) -> tuple[int, tuple[float, ...], str]:
    """Size (0: one number, not a vector), values at the start, and unit of a state."""
    unit = ""
    if isinstance(given, Mapping):
        for key in given:
            if key not in KEYS + OF_NOISE:
                raise InvalidInput(f"{name} has the key {shown(key)}; it may have {', '.join(KEYS)}; of noise also "
                                   f"{', '.join(OF_NOISE)}")  # fmt: skip
        unit = text(given.get("unit", ""), f"{name}.unit", 40)
        alone = 1 if any(key in given for key in OF_NOISE) else None  # noise is one number unless it says more
        if ("size" in given) == ("start" in given) and (alone is None or "size" in given):
            raise InvalidInput(f"{name} needs size or start, and not both")
        given = given["start"] if "start" in given else given.get("size", alone)
    if isinstance(given, int) and not isinstance(given, bool):
        if given < 1 or given > MOST:
            raise InvalidInput(
                f"{name} is {given}; give how many numbers it has, 1 to {MOST}, or its values at the start"
            )
        return (0 if given == 1 else given), (0.0,) * given, unit
    values = array(given, name, UNKNOWN)
    if values.ndim == 0:
        return 0, (number(given, name, UNKNOWN),), unit
    if values.ndim != 1 or not 1 <= len(values) <= MOST:
        raise InvalidInput(f"{name} has shape {values.shape}; give its values at the start as a list of numbers")
    if not np.isfinite(values).all():
        raise InvalidInput(f"{name} must be finite numbers")
    return len(values), tuple(values.tolist()), unit
