"""``Joint``: what holds two bodies of a system together, or a body to the ground, as a few equations between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from polhode.arguments import identifier
from polhode.errors import InvalidInput, answering, shown

ground = GROUND = "ground"
"""What holds a body in space, ``polhode.ground``: the second of the two that a joint is on."""
JOINTS: dict[str, Callable[..., Joint]] = {}  # the joints by the name of the function that makes them

Numbers = tuple[float, float, float]


class Piece(NamedTuple):
    """One or three equations of a joint, as ``polhode.flows.mechanism`` lists them, with vectors in users' own axes."""

    kind: int
    u: Numbers  # of the first body
    w: Numbers  # of the second, in space of the ground
    n: Numbers = (0.0, 0.0, 0.0)  # the third vector, or the length of a rod


@dataclass(frozen=True)
class Joint:
    """What holds two bodies together; made by ``polhode.joints.hinge`` and its like.

    Attributes
    ----------
    kind : str
        The function of ``polhode.joints`` that makes it again.
    name : str
        Its name in the system.
    recorded : mapping
        What that function takes, in JSON types.
    pieces : tuple
        Its equations.
    bodies : tuple of str
        Names of the two bodies, the second may be ``polhode.ground``; empty before ``on``.
    """

    kind: str
    name: str
    recorded: Mapping[str, Any]
    pieces: tuple[Piece, ...]
    bodies: tuple[str, ...] = ()

    @answering
    def on(self, first: str, second: str) -> Joint:
        """The same joint between these bodies.

        Parameters
        ----------
        first : str
            Name of the body in whose axes ``at`` and ``axis`` are.
        second : str
            Name of the other, or ``polhode.ground``, whose points and axes are those of space.

        Raises
        ------
        InvalidInput
            No names, the ground first, or a body twice.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.joints.ball().on("top", ph.ground).bodies
        ('top', 'ground')
        """
        for one in (first, second):
            identifier(one, f"name of a body that joint {self.name!r} is on")
        if first == GROUND:
            raise InvalidInput(f"joint {self.name!r} is on the ground first; name the body first, then polhode.ground")
        if first == second:
            raise InvalidInput(f"joint {self.name!r} is on body {first!r} twice; it holds two bodies, or one to "
                               "polhode.ground")  # fmt: skip
        return replace(self, bodies=(first, second))

    @answering
    def named(self, name: str) -> Joint:
        """The same joint under another name: two joints of one kind need two.

        Parameters
        ----------
        name : str
            An identifier.

        Raises
        ------
        InvalidInput
            No identifier.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.joints.ball().named("hip").name
        'hip'
        """
        return replace(self, name=identifier(name, "name of a joint"))

    @property
    def arguments(self) -> dict[str, Any]:
        """What it is made from again, in JSON types."""
        return {"kind": self.kind, **self.recorded} | ({"on": [*self.bodies]} if self.bodies else {})

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={shown(value)}" for name, value in self.recorded.items())
        there = f".on({', '.join(map(repr, self.bodies))})" if self.bodies else ""
        return f"joint {self.name}({self.kind + ': ' if self.kind != self.name else ''}{inside}){there}"
