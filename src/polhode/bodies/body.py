"""A body: its name, mass and principal moments of inertia."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from polhode.arguments import identifier, in_unit, number, truth, whole
from polhode.arguments.recorded import plain
from polhode.arguments.words import Inertia, Mass
from polhode.bodies.inertia import KG_M2, MassProperties, mass_of, principal
from polhode.errors import InvalidInput, answering

POINT = (inf, inf, inf)
"""Moments of a point mass, which does not rotate."""


@dataclass(frozen=True)
class Body:
    """A rigid body or a point mass.

    Attributes
    ----------
    name : str
        Its name.
    mass : float
        Its mass; infinite where it is pinned.
    moments : tuple of float
        Principal moments of inertia; infinite for a point.
    frame : tuple of float
        Quaternion from the principal frame to the user's body frame.
    arguments : mapping
        What it was made from, in JSON types.
    """

    name: str
    mass: float
    moments: tuple[float, ...]
    frame: tuple[float, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        inside = ", ".join(f"{key}={value!r}" for key, value in self.arguments.items())
        return f"body({self.name!r}{', ' * bool(inside)}{inside})"


@answering
def body(
    name: str, mass: Mass | None = None, inertia: Inertia | None = None, *, pinned: bool = False, physical: bool = True
) -> Body:
    """A body of a system.

    Parameters
    ----------
    name : str
        An identifier, by which loads, states and results know it.
    mass : float, optional
        Mass (kg). Not needed for a body that is pinned, or whose inertia comes from ``polhode.inertia``.
    inertia : array_like (3,) or (3, 3), or MassProperties, optional
        Principal moments in any order, or the full tensor (kg m2), in the body's own axes, about its centre of mass;
        for a pinned body about the point at which it is pinned. Without, the body is a point, which does not rotate.
    pinned : bool
        Whether it only rotates, about the origin of its axes.
    physical : bool
        Whether moments that no body can have are refused, as for ``rigid_body``.

    Returns
    -------
    Body

    Raises
    ------
    InvalidInput
        No identifier, no mass where one is needed, a pinned point, or invalid moments.

    Examples
    --------
    >>> body("top", inertia=(5, 5, 1), pinned=True)
    body('top', inertia=[5.0, 5.0, 1.0], pinned=True)
    """
    identifier(name, "name of a body")
    given: dict[str, Any] = {}
    if pinned := truth(pinned, "pinned"):
        if inertia is None:
            raise InvalidInput(f"body {name!r} is pinned and has no inertia; give the moments about its pin")
        if mass is not None:
            raise InvalidInput(f"body {name!r} is pinned, so that its mass plays no part; leave it out, and give its "
                               "weight to a load")  # fmt: skip
        mass = inf
    elif isinstance(inertia, MassProperties):
        mass = mass_of(inertia, mass)
    elif mass is None:
        raise InvalidInput(f"body {name!r} has no mass; give it, or pinned=True for a body that only rotates")
    if not pinned:
        given["mass"] = mass = number(mass, f"mass of body {name!r}", "kg", positive=True)
    moments, frame = np.array(POINT), np.array((1.0, 0.0, 0.0, 0.0))
    if inertia is not None:
        inertia = in_unit(inertia, KG_M2, "inertia")
        moments, frame = principal(inertia, triangle=truth(physical, "physical"), name=f"inertia of body {name!r}")
        given["inertia"] = plain(inertia.inertia if isinstance(inertia, MassProperties) else inertia)
    given |= {"pinned": True} if pinned else {}
    given |= {} if physical else {"physical": False}
    return Body(name, float(mass), tuple(map(float, moments)), tuple(map(float, frame)), given)


@answering
def bodies(n: int, mass: Any = None, inertia: Any = None, name: str = "body", *, physical: bool = True) -> list[Body]:
    """So many equal bodies, called name0, name1, ...

    Parameters
    ----------
    n : int
        How many.
    mass, inertia, physical
        Those of each, as of ``body``.
    name : str
        What their names begin with.

    Returns
    -------
    list of Body

    Raises
    ------
    InvalidInput
        As ``body``.

    Examples
    --------
    >>> [one.name for one in bodies(3, 18.0, (0.6, 1.3, 1.9))]
    ['body0', 'body1', 'body2']
    """
    first = body(f"{identifier(name, 'name of bodies')}0", mass, inertia, physical=physical)
    return [Body(f"{name}{k}", first.mass, first.moments, first.frame, first.arguments)
            for k in range(whole(n, "n", least=1))]  # fmt: skip
