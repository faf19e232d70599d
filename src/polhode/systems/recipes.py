"""Recipes of initial states: what ``[initial]`` of a scenario makes from a few keys, such as lattice or temperature.

    def ring(system: System, ring: Length, tilt: float = 0.0) -> dict[str, Any]:
        \"\"\"All bodies on a circle about the origin, at equal angles.\"\"\"
        ...
        return {"position": positions}

    add_recipe(ring, sets=["position"])        # from now on:  [initial]  ring = 2.0

A recipe is a function of the system, where it has an argument ``state`` also of what the file and other recipes say,
where it has an argument ``epoch`` of the instant at which the run starts, and of keys of ``[initial]``. It is carried
out where its first key is given; the others are optional. Its annotated signature and the section Parameters of its
docstring are all that is said about the keys, see ``polhode.arguments.words``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from types import FunctionType
from typing import Any

from polhode.arguments import choice
from polhode.arguments.words import Argument, Form, arguments_of
from polhode.errors import InvalidInput, shown
from polhode.plugins import Registry

SUPPLIED = ("system", "state", "epoch")  # arguments of a recipe that are no keys
QUANTITIES = ("position", "attitude", "momentum", "angular_momentum")
"""What a recipe may set."""


@dataclass(frozen=True)
class Recipe:
    """A recipe of initial states."""

    # ``build([system], [state], [epoch], key, ...) -> mapping`` with some of the keys ``position``, ``attitude``,
    # ``momentum`` and ``angular_momentum``, or ``velocity`` and ``angular_velocity`` in their place
    build: Callable[..., Any]
    # which of them it sets, so that the file may not give them too; empty if it adapts what is there
    sets: tuple[str, ...] = ()

    @cached_property
    def arguments(self) -> dict[str, Argument]:
        """Its keys; the first one asks for it."""
        return arguments_of(self.build, SUPPLIED)

    @property
    def key(self) -> str:
        """The key that asks for it."""
        return next(iter(self.arguments))

    @cached_property
    def supplied(self) -> tuple[str, ...]:
        """Which of system, state and epoch it takes."""
        every = self.build.__code__.co_varnames[: self.build.__code__.co_argcount]
        return tuple(name for name in SUPPLIED if name in every)


RECIPES: Registry[Recipe] = Registry()  # the recipes by the key that asks for them


def add_recipe(build: Callable[..., Any], sets: Iterable[str] = ()) -> Callable[..., Any]:
    """Add a recipe of initial states; returns the function.

    From then on ``[initial]`` of scenarios and their schema have its keys. Adding the same function twice does nothing.

    Parameters
    ----------
    build : function
        ``build(system, key, ...) -> mapping`` with ``position``, ``attitude``, ``momentum`` or ``angular_momentum``, of
        all bodies. With an argument ``state`` it is also given what the file and the other recipes say, as such a
        mapping, and comes after them; with an argument ``epoch`` the instant at which the run starts, an ``Epoch``, or
        None where the file has none. What it returns beyond ``sets`` holds where the file does not say it. Its keys
        are annotated with words of ``polhode.arguments.words``.
    sets : iterable of str
        Which of these quantities it sets.

    Raises
    ------
    InvalidInput
        Not a function of keys, a key that another recipe has, an unknown quantity, or an argument whose annotation says
        nothing to a scenario.

    Examples
    --------
    >>> import polhode as ph
    >>> from polhode.arguments.words import Length
    >>> def row_of(system, gap: Length):
    ...     return {"position": [(k * gap, 0.0, 0.0) for k in range(system.N)]}
    >>> ph.initial.add_recipe(row_of, sets=["position"]).__name__
    'row_of'
    """
    if not isinstance(build, FunctionType):
        raise InvalidInput(f"build must be a function that returns an initial state, not {shown(build)}")
    if not isinstance(sets, list | tuple | set | frozenset):
        raise InvalidInput(f"sets must be a list of quantities of {', '.join(QUANTITIES)}, not {shown(sets)}")
    made = Recipe(build, tuple(sets))
    for quantity in made.sets:
        choice(quantity, "quantity of an initial state", QUANTITIES)
    if not made.arguments:
        raise InvalidInput(f"recipe {build.__name__!r} has no key; give it an argument that asks for it in a scenario")
    for other in dict.values(RECIPES):  # without looking for plug-ins, one of which may be calling
        if other.build is build:
            return build
        shared = [name for name, argument in made.arguments.items()
                  if name in other.arguments and argument.type is not Form.SEED]  # fmt: skip
        if shared:
            raise InvalidInput(f"recipe {other.build.__name__!r} has a key {shared[0]!r} already; take another name")
    RECIPES[made.key] = made
    return build


def keys_of_recipes() -> dict[str, Argument]:
    """All keys of recipes by name; each of those that do not ask for a recipe says which others it stands beside."""
    found: dict[str, Argument] = {}
    for recipe in RECIPES.values():
        for name, argument in recipe.arguments.items():
            beside = () if name == recipe.key else argument.beside or (recipe.key,)
            if name in found:
                beside = (*found[name].beside, *beside)
            found[name] = replace(found.get(name, argument), beside=beside, required=False)
    return found
