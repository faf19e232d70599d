"""Events of bodies by their names: how near two of them come, apsides, nodes, transits.

Each is a short function of bodies, as ``polhode.events.of`` takes one, whose sign changes a run detects.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from polhode.arguments import choice, identifier, number, truth, unit_vector
from polhode.arguments.recorded import plain
from polhode.arguments.words import Length, Vector
from polhode.errors import InvalidInput, answering
from polhode.loads.load import made
from polhode.systems.event_record import USER, Event, Watch

Which = Literal["rising", "falling"]


# ------------------------------------------------------------------ functions
def receding(a, b):
    """d . d', positive while two bodies move apart."""
    return (b.position - a.position) @ (b.velocity - a.velocity)


def receding_from_centre(body):
    """r . r', of one body from the origin."""
    return body.position @ body.velocity


def beyond(a, b, distance):
    """|d| - distance."""
    d = b.position - a.position
    return (d @ d) ** 0.5 - distance


def above(body, normal):
    """r . n, the height above a plane through the origin."""
    return body.position @ normal


def above_other(body, about, normal):
    """The same above a plane through another body."""
    return (body.position - about.position) @ normal


def outside_disc(body, behind, radius, toward):
    """Beside the disc of the body behind it: the distance across the line of sight, less its radius; or behind it."""
    d = body.position - behind.position
    along = d @ toward
    across = d - along * toward
    return max((across @ across) ** 0.5 - radius, -along)


# ------------------------------------------------------------------ events
@answering
def closest_approach(a: str, b: str, *, terminal: bool = False) -> Event:
    """Where the distance of two bodies is least.

    Parameters
    ----------
    a, b : str
        Their names.
    terminal : bool
        Whether the run ends at the first such event.

    Returns
    -------
    Event

    Raises
    ------
    InvalidInput
        No names.

    Examples
    --------
    >>> closest_approach("chaser", "target")
    closest_approach(a='chaser', b='target', terminal=False)
    """
    return _of("closest_approach", receding, {"a": a, "b": b}, {}, ("closest_approach", ""), None, terminal)


@answering
def distance(a: str, b: str, distance: Length, which: Which | None = None, *, terminal: bool = False) -> Event:
    """Where the distance of two bodies passes a value: an encounter (falling), an ejection (rising), a collision.

    Parameters
    ----------
    a, b : str
        Their names.
    distance : float
        The distance, positive: of a collision the sum of their radii.
    which : {"rising", "falling"}, optional
        Only where it grows, or only where it falls.
    terminal : bool
        Whether the run ends at the first such event.

    Returns
    -------
    Event
        Called "distance_rising" and "distance_falling".

    Raises
    ------
    InvalidInput
        No names, or no positive number.

    Examples
    --------
    >>> distance("sun", "comet", 1.5e11, "falling", terminal=True).kind
    'distance'
    """
    numbers = {"distance": number(distance, "distance", "m", positive=True)}
    names = ("distance_rising", "distance_falling")
    return _of("distance", beyond, {"a": a, "b": b}, numbers, names, which, terminal)


@answering
def apsis_of(
    body: str,
    about: str | None = None,
    which: Literal["periapsis", "apoapsis"] | None = None,
    *,
    terminal: bool = False,
) -> Event:
    """Where a body is nearest to another one, or to the origin, or farthest from it.

    Parameters
    ----------
    body : str
        Its name.
    about : str, optional
        That of the other body; without, the origin.
    which : {"periapsis", "apoapsis"}, optional
        Only these events.
    terminal : bool
        Whether the run ends at the first such event.

    Returns
    -------
    Event

    Raises
    ------
    InvalidInput
        No names.

    Examples
    --------
    >>> apsis_of("moon", about="earth", which="periapsis").kind
    'apsis_of'
    """
    acting, names = (receding_from_centre, {"body": body}) if about is None else (
        receding, {"about": about, "body": body})  # fmt: skip
    return _of("apsis_of", acting, names, {}, ("periapsis", "apoapsis"), which, terminal)


@answering
def node_of(
    body: str, about: str | None = None, which: Literal["ascending", "descending"] | None = None,
    normal: Vector = (0.0, 0.0, 1.0), *, terminal: bool = False,
) -> Event:  # fmt: skip
    """Where a body crosses a plane through another one, or through the origin.

    Parameters
    ----------
    body : str
        Its name.
    about : str, optional
        That of the other body; without, the origin.
    which : {"ascending", "descending"}, optional
        Only crossings along the normal, or against it.
    normal : array_like (3,)
        Normal of the plane, space frame; any length.
    terminal : bool
        Whether the run ends at the first such event.

    Returns
    -------
    Event
        Called "ascending_node" and "descending_node".

    Raises
    ------
    InvalidInput
        No names, or no direction.

    Examples
    --------
    >>> node_of("moon", about="earth").kind
    'node_of'
    """
    acting, names = (above, {"body": body}) if about is None else (above_other, {"body": body, "about": about})
    numbers = {"normal": unit_vector(normal, "normal")}
    return _of("node_of", acting, names, numbers, ("ascending_node", "descending_node"), which, terminal)


@answering
def transit(
    body: str, behind: str, radius: Length, toward: Vector, which: Literal["begin", "end"] | None = None, *,
    terminal: bool = False,
) -> Event:  # fmt: skip
    """Where a body begins and ends to pass in front of another one, seen from far away.

    Parameters
    ----------
    body, behind : str
        Names of the one in front and of the one behind.
    radius : float
        Radius of the disc behind (of both together, for the first contact).
    toward : array_like (3,)
        Direction towards the observer, space frame; any length.
    which : {"begin", "end"}, optional
        Only these events.
    terminal : bool
        Whether the run ends at the first such event.

    Returns
    -------
    Event
        Called "transit_begin" and "transit_end".

    Raises
    ------
    InvalidInput
        No names, no positive radius, or no direction.

    Examples
    --------
    >>> transit("planet", "star", 6.96e8, toward=(1, 0, 0)).kind
    'transit'
    """
    numbers = {"radius": number(radius, "radius", "m", positive=True), "toward": unit_vector(toward, "toward")}
    names = ("transit_end", "transit_begin")
    return _of("transit", outside_disc, {"body": body, "behind": behind}, numbers, names, which, terminal)


def _of(
    kind: str, function: Callable[..., Any], bodies: dict[str, Any], numbers: dict[str, Any],
    names: tuple[str, str], which: Any, terminal: Any,
) -> Event:  # fmt: skip
    """The event of a function of these bodies, called so where it rises and falls, restricted to ``which``."""
    given = {word: identifier(one, word) for word, one in bodies.items()}
    if len(set(given.values())) < len(given):
        raise InvalidInput(f"{' and '.join(given)} are both {next(iter(given.values()))!r}; name two bodies")
    words = {word: name for name in names for word in (*name.split("_"), name) if name}
    if which is not None:
        chosen = words[choice(which, f"which of {kind}", words)]
        names = tuple(name if name == chosen else "" for name in names)  # type: ignore[assignment]
    watched = made(function, kind, **numbers).on(*given.values())
    flat = np.concatenate([np.zeros(0), *(np.ravel(one) for one in watched.parameters.values())])
    watch = Watch(USER, tuple(flat.tolist()), *names, truth(terminal, "terminal"), of=watched)
    told = {"kind": kind, **given, **{name: plain(value) for name, value in numbers.items()}}
    return Event(kind, told | ({} if which is None else {"which": which}) | {"terminal": terminal}, (watch,))
