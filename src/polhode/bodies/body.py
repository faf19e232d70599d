"""A body: its name, mass and principal moments of inertia, and the rotors in it."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Annotated, Any, NamedTuple

from polhode.arguments import ArrayLike, identifier, in_unit, number, truth, vector, whole
from polhode.arguments.recorded import FrozenDict, made_by, plain
from polhode.arguments.words import Inertia, Mass, Position, TableOf
from polhode.bodies.inertia import KG_M2, MassProperties, MomentsAndFrame, mass_of, moments_and_frame
from polhode.bodies.wheels import Gyros, Wheels, control_moment_gyros, reaction_wheels, rest_of
from polhode.errors import InvalidInput, answering

POINT: tuple[float, ...] = (inf, inf, inf)  # moments of a point mass, which does not rotate


class Body(NamedTuple):
    """A rigid body or a point mass."""

    name: str
    mass: float  # its mass; infinite where it is pinned
    # principal moments of inertia, without what wheels add about their axes; infinite for a point
    moments: tuple[float, ...]
    frame: tuple[float, ...]  # quaternion from the principal frame to the user's body frame
    arguments: Mapping[str, Any] = FrozenDict()  # what it was made from, in JSON types
    wheels: Wheels | None = None  # wheels, gyros: the rotors in it
    gyros: Gyros | None = None
    pin: tuple[float, ...] = (0.0, 0.0, 0.0)  # the place in space where it is pinned

    @property
    def rotors(self) -> dict[str, Any]:
        """The rotors in it, by the arguments that they are."""
        if self.wheels is None and self.gyros is None:
            return {}
        both = {"wheels": self.wheels, "gyros": self.gyros}
        return {name: one for name, one in both.items() if one is not None}

    @property
    def states(self) -> tuple[tuple[str, int], ...]:
        """The states of its rotors, and how many numbers each has."""
        return tuple([(name, len(starts)) for one in self.rotors.values() for name, starts, _ in one.states])

    def __repr__(self) -> str:
        inside = ", ".join(f"{key}={value!r}" for key, value in self.arguments.items())
        return f"body({self.name!r}{', ' * bool(inside)}{inside})"


@answering
def body(
    name: str, mass: Mass | None = None, inertia: Inertia | None = None, *, pinned: bool = False,
    at: Position | None = None, physical: bool = True,
    wheels: Annotated[Wheels | Mapping[str, Any], TableOf(reaction_wheels)] | None = None,
    gyros: Annotated[Gyros | Mapping[str, Any], TableOf(control_moment_gyros)] | None = None,
) -> Body:  # fmt: skip
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
    at : array_like (3,), optional
        The place in space (m) of the pin, by default the origin: the ``position`` that loads read of a pinned body.
    physical : bool
        Whether moments that no body can have are refused, as for ``rigid_body``.
    wheels : Wheels, optional
        Reaction wheels in it, from ``polhode.reaction_wheels``; ``inertia`` is that of the whole with locked wheels.
    gyros : Gyros, optional
        Control moment gyros in it, from ``polhode.control_moment_gyros``.

    Raises
    ------
    InvalidInput
        No identifier, no mass where one is needed, a pinned point, the place of a pin without one, invalid moments;
        wheels in a point, or with more inertia than the body.

    Examples
    --------
    >>> body("top", inertia=(5, 5, 1), pinned=True)
    body('top', inertia=[5.0, 5.0, 1.0], pinned=True)
    >>> body("right", inertia=(1.0, 1.0, 0.1), pinned=True, at=(1.0, 0, 0)).pin
    (1.0, 0.0, 0.0)
    >>> from polhode import reaction_wheels
    >>> body("bus", 4.0, (0.05, 0.04, 0.03), wheels=reaction_wheels([(0, 0, 1)], 1e-5)).wheels.count
    1
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
    if at is not None and not pinned:
        raise InvalidInput(f"body {name!r} has at, the place of a pin, but is not pinned; give pinned=True, or a run "
                           "its position at the start")  # fmt: skip
    pin = (0.0, 0.0, 0.0) if at is None else tuple(vector(at, f"at of body {name!r}", unit="m").tolist())
    if not pinned:
        given["mass"] = mass = number(mass, f"mass of body {name!r}", "kg", positive=True)
    spun, turned = rotors(wheels, gyros, f" of body {name!r}")
    if inertia is None and (spun or turned):
        raise InvalidInput(f"body {name!r} is a point, in which no rotor turns; give its inertia, or leave its "
                           f"{'wheels' if spun else 'gyros'} out")  # fmt: skip
    found: MomentsAndFrame = POINT, (1.0, 0.0, 0.0, 0.0)
    if inertia is not None:
        inertia = in_unit(inertia, KG_M2, "inertia")
        found = moments_and_frame(inertia, truth(physical, "physical"), f"inertia of body {name!r}")
        given["inertia"] = plain(inertia.inertia if isinstance(inertia, MassProperties) else inertia)
    given |= ({"pinned": True} if pinned else {}) | ({} if at is None else {"at": list(pin)}) | (
        {} if physical else {"physical": False}
    ) | {key: dict(one.arguments) for key, one in (("wheels", spun), ("gyros", turned)) if one is not None}  # fmt: skip
    return Body(name, float(mass), *rest_of(found, spun), given, spun, turned, pin)


def rotors(wheels: object, gyros: object, whose: str = "") -> tuple[Wheels | None, Gyros | None]:
    """Wheels and gyros, each from what they are or from the mapping of their arguments; None without."""
    spun = None if wheels is None else made_by(reaction_wheels, Wheels, wheels, f"wheels{whose}", "reaction_wheels")
    return spun, None if gyros is None else made_by(control_moment_gyros, Gyros, gyros, f"gyros{whose}",
                                                    "control_moment_gyros")  # fmt: skip


@answering
def bodies(
    n: int, mass: float | None = None, inertia: ArrayLike | MassProperties | None = None, name: str = "body", *,
    physical: bool = True, wheels: Wheels | Mapping[str, Any] | None = None,
    gyros: Gyros | Mapping[str, Any] | None = None,
) -> list[Body]:  # fmt: skip
    """So many equal bodies, called name0, name1, ...

    Parameters
    ----------
    n : int
        How many.
    mass, inertia, physical, wheels, gyros
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
    >>> import polhode as ph
    >>> three = ph.bodies.bodies(3, 18.0, (0.6, 1.3, 1.9))
    >>> [one.name for one in three]
    ['body0', 'body1', 'body2']
    >>> ph.system(three, ph.loads.gravitation(G=1.0)).N
    3
    """
    first = body(f"{identifier(name, 'name of bodies')}0", mass, inertia, physical=physical, wheels=wheels, gyros=gyros)
    return [first._replace(name=f"{name}{k}") for k in range(whole(n, "n", 1, 10**6))]
