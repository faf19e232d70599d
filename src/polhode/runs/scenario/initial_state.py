"""The initial state that ``[initial]`` describes: given numbers, lattices, random attitudes and momenta."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.errors import InvalidInput
from polhode.kernel import layout as L
from polhode.runs import turning
from polhode.runs.request import start_state
from polhode.systems import System, initial

ATTITUDES = (*turning.ATTITUDES, "coordinates", "rotations", "draw")
TURNING = (*turning.TURNING, "temperature")
AS_GIVEN = ("coordinates", "clock", "thermostat", "compensation")
"""Of these numbers the method knows more; runs that go on from others have them."""
PLACES = ("position", "lattice", "draw")
MOVING = ("velocity", "momentum", "temperature")
BELONGS = {
    "sequence": turning.ANGLES, "scale": ("draw",),
    "cells": ("lattice",), "spacing": ("lattice",), "noise": ("lattice",),
    "zero_total_momentum": ("temperature",), "exact_temperature": ("temperature",), "energy_bodies": ("energy",),
    "seed": ("draw", "noise", "rotations", "temperature", "energy"),
}  # fmt: skip
"""Keys of [initial] that mean something beside others only."""


def given_state(given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of ``integrate`` from the keys of [initial]: attitude as a quaternion, turning in the body frame."""
    turns = {name: np.asarray(value).tolist() for name, value in turning.as_kept(given).items()}
    return {name: given[name] for name in ("position", *MOVING[:2]) if name in given} | turns


def drawn_state(given: Mapping[str, Any], state: dict[str, Any], system: System) -> dict[str, Any]:
    """The state with what [initial] asks for of many bodies: places, attitudes and momenta."""
    seed, made = given.get("seed", 0), dict(state)
    if "draw" in given:
        drawn = initial.gaussian_draw(system.N, seed, given.get("scale"))
        made["position"] = drawn["position"]
        if system.rotates:
            made["attitude"] = drawn["attitude"]
    if "lattice" in given:
        made["position"] = on_lattice(given, system)
    if "rotations" in given:
        made |= initial.random_rotations(system.N, seed)
    if "temperature" in given:
        zero, exact = given.get("zero_total_momentum", True), given.get("exact_temperature", False)
        made |= initial.thermal(system, given["temperature"], seed, zero_total_momentum=zero, exact=exact)
    if "energy" in given:
        if {"velocity", "angular_velocity"} & set(made):
            rows = start_state(system, **made).reshape(-1, L.BODY)
            made = {name: made[name] for name in ("position", "attitude") if name in made}
            made["momentum"] = rows[:, L.MOMENTUM : L.MOMENTUM + 3]
            if system.rotates:
                made["angular_momentum"] = rotation.rotate(system.frames, rows[:, L.ANGULAR : L.ANGULAR + 3])
        made = initial.at_energy(system, made, given["energy"], seed, bodies=given.get("energy_bodies"))
    return made


def on_lattice(given: Mapping[str, Any], system: System) -> Any:
    """Positions on the lattice of [initial], which holds all bodies of the system and fits into its box."""
    lattice, cells, spacing = initial.LATTICES[given["lattice"]], given.get("cells"), given.get("spacing")
    if cells is None:
        cells = round((system.N / len(lattice(1).state["position"])) ** (1.0 / 3.0)) or 1
    along = [cells] * 3 if isinstance(cells, int) else list(cells)
    cell = len(lattice(1).state["position"])
    sites = cell * along[0] * along[1] * along[2]
    if sites != system.N and min(along) > 0:
        what, fits = f"cells is {cells!r}: this", ""
        if "cells" not in given:
            cubes = [cell * k**3 for k in range(1, cells + 2)]
            below, above = [n for n in cubes if n < system.N][-1:], [n for n in cubes if n > system.N][:1]
            what, fits = "cells is missing: a", f"; cubes of it hold {' or '.join(map(str, below + above))}"
        raise InvalidInput(
            f"{what} {given['lattice']} lattice of {cells!r} cells has {sites} sites, but the system has {system.N} "
            f"bodies{fits}"
        )
    if spacing is None:
        spacing = 1.0 if system.box is None else float(np.min(np.asarray(system.box) / lattice(cells).box))
    made, box = lattice(cells, spacing, given.get("noise", 0.0), given.get("seed", 0))
    if system.box is not None and (box > np.asarray(system.box) * (1.0 + 1e-9)).any():
        edges = " x ".join(f"{edge:g}" for edge in box)
        largest = float(np.min(np.asarray(system.box) / (box / spacing)))
        raise InvalidInput(
            f"spacing is {spacing:g}: the lattice fills {edges}, more than the box of the system, so that bodies would "
            f"overlap; the largest that fits is {largest:.9g}"
        )
    return made["position"]
