"""The initial state that ``[initial]`` describes: given numbers, and what recipes make of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from polhode.algebra import rotation
from polhode.arguments.words import Argument, Form, arguments_of
from polhode.epochs import Epoch
from polhode.kernel import layout as L
from polhode.runs.assembled import assemble
from polhode.runs.initial_state import rows_by_name, start_state
from polhode.runs.state import ATTITUDES, TURNING, given_state
from polhode.systems import (
    System,
    initial as initial,  # which adds its recipes
)
from polhode.systems.recipes import RECIPES, add_recipe, keys_of_recipes

GIVEN = {
    "attitude": (*ATTITUDES, "coordinates"), "angular_momentum": TURNING, "position": ("position",),
    "momentum": ("velocity", "momentum"),
}  # fmt: skip
"""The keys that give a quantity in numbers."""


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


def assembled(
    system: System, state: Mapping[str, Any], joints: Annotated[Any, Form.NAMED_NUMBERS],
    joint_rates: Annotated[Any, Form.NAMED_NUMBERS] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """A mechanism with all joints closed; what else is said holds of bodies that float or are on balls.

    Parameters
    ----------
    joints : mapping
        of a mechanism by the names of joints angles of hinges (rad) and lengths of sliders (m); others are zero, unless
        loops need them otherwise
    joint_rates : mapping
        likewise their rates (rad/s, m/s)
    """
    return in_momenta(rows_by_name(system.names, assemble(system, joints, joint_rates, state)), system)


add_recipe(assembled)
