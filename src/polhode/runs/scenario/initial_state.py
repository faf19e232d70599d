"""The initial state that ``[initial]`` describes: given numbers, and what recipes make of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from polhode.algebra import rotation
from polhode.arguments.words import (
    AngularMomenta,
    AngularVelocities,
    Argument,
    Beside,
    Momenta,
    Numbers,
    NumbersOrRows,
    Places,
    Quaternions,
    VectorOrVectors,
    Velocities,
    arguments_of,
)
from polhode.epochs import Epoch
from polhode.kernel import layout as L
from polhode.runs.initial_state import start_state
from polhode.runs.state import ANGLES, ATTITUDES, TURNING, as_kept
from polhode.systems import (
    System,
    initial as initial,  # which adds its recipes
)
from polhode.systems.recipes import RECIPES, keys_of_recipes

AS_GIVEN = ("coordinates", "clock", "thermostat", "compensation")
"""Of these numbers the method knows more; runs that go on from others have them."""
GIVEN = {
    "attitude": (*ATTITUDES, "coordinates"), "angular_momentum": TURNING, "position": ("position",),
    "momentum": ("velocity", "momentum"),
}  # fmt: skip
"""The keys that give a quantity in numbers."""


def given_state(
    attitude: Quaternions | None = None,
    rotation_vector: VectorOrVectors | None = None,
    euler_angles: VectorOrVectors | None = None,
    euler_angles_deg: VectorOrVectors | None = None,
    sequence: Annotated[str | None, Beside(ANGLES)] = None,
    angular_velocity: AngularVelocities | None = None,
    angular_momentum: AngularMomenta | None = None,
    angular_velocity_space: AngularVelocities | None = None,
    angular_momentum_space: AngularMomenta | None = None,
    coordinates: NumbersOrRows | None = None,
    clock: Numbers | None = None,
    thermostat: Numbers | None = None,
    compensation: NumbersOrRows | None = None,
    position: Places | None = None,
    velocity: Velocities | None = None,
    momentum: Momenta | None = None,
) -> dict[str, Any]:
    """Initial state: attitude in one of four forms, one angular velocity or momentum, and the motion through space.

    Of many bodies also drawn at random: places by a draw or on a lattice, attitudes by rotations, momenta by a
    temperature or an energy. Random numbers come from the seed.

    Parameters
    ----------
    attitude : array_like
        unit quaternion (w, x, y, z), body to space; of several bodies a list, or one for all
    rotation_vector : array_like
        rad
    euler_angles : array_like
        rad, in the order of the sequence
    euler_angles_deg : array_like
        degrees, in the order of the sequence
    sequence : str
        'ZXZ' intrinsic, 'zxz' extrinsic; default 'XYZ'
    angular_velocity, angular_momentum : array_like
        body frame; of several bodies a list of vectors, or one for all
    angular_velocity_space, angular_momentum_space : array_like
        space frame
    coordinates : array_like
        of a method with numbers of its own for attitudes
    clock : array_like
        of a method with a clock, to go on with its steps
    thermostat : array_like
        of a method with a heat bath, to go on with it
    compensation : array_like
        of compensated sums, to go on with them: of each body 6 numbers, or 13 where those of rotations are compensated
    position, velocity, momentum : array_like
        space frame; of several bodies a list of vectors, or one for all

    Returns
    -------
    dict
        Arguments of ``integrate``: attitude as a quaternion, angular velocity and momentum in the body frame.
    """
    given = {name: value for name, value in locals().items() if value is not None}
    turns = {name: np.asarray(value).tolist() for name, value in as_kept(given).items()}
    return {name: given[name] for name in ("position", *GIVEN["momentum"], *AS_GIVEN) if name in given} | turns


def keys() -> dict[str, Argument]:
    """What ``[initial]`` may contain: the keys of ``given_state`` and of all recipes, by name."""
    return arguments_of(given_state) | keys_of_recipes()


def ways_to_give(*quantities: str) -> tuple[tuple[str, ...], ...]:
    """For each quantity the keys, one of which may give it; by default for all four."""
    return tuple(
        (*GIVEN[quantity], *(recipe.key for recipe in RECIPES.values() if quantity in recipe.sets))
        for quantity in quantities or GIVEN
    )


def carried_out(
    given: Mapping[str, Any], state: dict[str, Any], system: System, epoch: Epoch | None = None
) -> dict[str, Any]:
    """The state with what the recipes make that [initial] asks for; those that adapt a state come last."""
    made = dict(state)
    for recipe in sorted(RECIPES.values(), key=lambda recipe: "state" in recipe.supplied):
        if recipe.key not in given:
            continue
        adapts = "state" in recipe.supplied
        if adapts:
            made = in_momenta(made, system)
        supplied = {"system": system, "state": made, "epoch": epoch}
        arguments = {name: given[name] for name in recipe.arguments if name in given}
        found = recipe.build(**{name: supplied[name] for name in recipe.supplied}, **arguments)
        groups = ({*ways, quantity} for quantity, ways in GIVEN.items())
        full = [group for group in groups if group & {*made} and not group & {*recipe.sets}]
        said = set() if adapts else set[str]().union(*full)
        made |= {name: value for name, value in found.items() if name not in said}
    return made


def in_momenta(state: dict[str, Any], system: System) -> dict[str, Any]:
    """The same state with momenta instead of velocities."""
    if not {"velocity", "angular_velocity"} & set(state):
        return state
    rows = start_state(system, **state).reshape(-1, L.BODY)
    made: dict[str, Any] = {name: state[name] for name in ("position", "attitude") if name in state}
    made["momentum"] = rows[:, L.MOMENTUM : L.MOMENTUM + 3]
    if system.rotates:
        made["angular_momentum"] = rotation.rotate(system.frames, rows[:, L.ANGULAR : L.ANGULAR + 3])
    return made
