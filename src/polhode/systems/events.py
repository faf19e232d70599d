"""Events of a motion: sign changes of a function of bodies, for ``polhode.integrate(..., events=[...])``.

    from polhode import events
    ph.integrate(system, step=10.0, t_end=86400.0, events=["periapsis", events.altitude(20e3, radius=1.7e6)], **start)

================ ============================ ========================== ============================
event            function                     rising                     falling
================ ============================ ========================== ============================
apsis            r . v                        periapsis                  apoapsis
node             r . n                        ascending_node             descending_node
altitude         d - radius - height          altitude_rising            altitude_falling
eclipse          cylinder: max(r . s,         shadow_exit                shadow_entry
                 e - radius)
                 cone: c - (a + b) and        penumbra_exit, umbra_exit  penumbra_entry, umbra_entry
                 c - (b - a)
closest_approach r . v of one from another    closest_approach
distance         d - distance                 distance_rising            distance_falling
transit          e - radius, or behind        transit_end                transit_begin
of, user         the user's function          its name                   its name
================ ============================ ========================== ============================

r and v are position and velocity relative to the origin or another body, d the distance from it, n the normal of a
plane, s the unit vector to the Sun, e = |r x s| the distance from the axis of the shadow, or from the line of sight; a
and b are the apparent radii of the Sun and of the body that casts the shadow, c the angle between their centres.

A run evaluates the functions after every step, and locates a zero by repeating a part of that step with the same
method. Two sign changes within one step are missed, and so is a function that only touches zero: steps must be shorter
than the time between two events of one kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from polhode.arguments import choice, identifier, number, text, truth, unit_vector
from polhode.arguments.recorded import called, each_made, plain
from polhode.arguments.words import Function, Length, Position, Positions, Times, Vector, described_by
from polhode.errors import InvalidInput, answering, shown
from polhode.lazy import public_names
from polhode.loads import Load
from polhode.loads.load import bodies_of, made, of_user
from polhode.plugins import Registry
from polhode.programs.purity import findings
from polhode.surroundings.light import between_discs, covered, out_of_cylinder, sunlight, touching
from polhode.surroundings.paths import Circle, Ephemerides, Path, path, path_to_sun, place_at
from polhode.surroundings.surrounding import Table
from polhode.systems.around import places
from polhode.systems.event_record import Event, Watch
from polhode.systems.record import System
from polhode.systems.user.forms import FORMS
from polhode.systems.user.function import UserFunction, record_of, refusal

__all__ = [
    "Event", "add_event", "altitude", "apsis", "closest_approach", "distance", "eclipse", "node", "of", "transit",
    "user",
]  # fmt: skip
__dir__ = public_names(__all__)

Which = Literal["rising", "falling"]
UP = (0.0, 0.0, 1.0)


# ------------------------------------------------------------------ functions of bodies
def receding(body):
    """r . r', positive while a body moves away from the origin."""
    return body.position @ body.velocity


def receding_from(about, body):
    """The same from another body."""
    return (body.position - about.position) @ (body.velocity - about.velocity)


def above(body, normal):
    """r . n, the height above a plane through the origin."""
    return body.position @ normal


def above_plane_of(about, body, normal):
    """The same above a plane through another body."""
    return (body.position - about.position) @ normal


def higher(body, radius):
    """The height above a sphere about the origin."""
    return (body.position @ body.position) ** 0.5 - radius


def beyond(a, b, distance):
    """|d| - distance."""
    d = b.position - a.position
    return (d @ d) ** 0.5 - distance


def outside_disc(body, behind, radius, toward):
    """Beside the disc of the body behind it: the distance across the line of sight, less its radius; or behind it."""
    d = body.position - behind.position
    along = d @ toward
    across = d - along * toward
    return np.maximum((across @ across) ** 0.5 - radius, -along)


def out_of_shadow(body, t, sun, radius):
    """Positive out of the cylinder behind a body at the origin; a length."""
    return out_of_cylinder(body, np.array(place_at(sun.p, sun.at, t)), radius)


def out_of_penumbra(body, t, sun, radius, sun_radius):
    """Positive where the disc of the Sun is seen whole; rad."""
    return touching(body, np.array(place_at(sun.p, sun.at, t)), radius, sun_radius)


def out_of_umbra(body, t, sun, radius, sun_radius):
    """Positive where some of it is seen."""
    c, a, b = between_discs(body, np.array(place_at(sun.p, sun.at, t)), radius, sun_radius)
    return c - (b - a)


def uncovered(body, t, sun, radius, sun_radius):
    """Negative where one disc lies within the other, in the umbra or an annular eclipse."""
    return covered(body, np.array(place_at(sun.p, sun.at, t)), radius, sun_radius)


# ------------------------------------------------------------------ ready events
@answering
def apsis(
    which: Literal["periapsis", "apoapsis"] | None = None,
    *,
    body: str | None = None,
    about: str | None = None,
    terminal: bool = False,
) -> Event:
    """Where a body is nearest to the origin or to another body, or farthest from it. On a circle round-off decides.

    Parameters
    ----------
    which : {"periapsis", "apoapsis"}, optional
        Only these events.
    body : str, optional
        Its name, in a system of several.
    about : str, optional
        Name of the other body; without, the origin.
    terminal : bool
        Whether the run ends at the first such event.

    Examples
    --------
    >>> apsis("periapsis", body="moon", about="earth")
    apsis(body='moon', about='earth', which='periapsis', terminal=False)
    """
    given = {"about": about, "body": body}
    acts = (receding if about is None else receding_from, "periapsis", "apoapsis")
    return _made("apsis", given, {}, which, terminal, acts)


@answering
@described_by(apsis)
def node(
    which: Literal["ascending", "descending"] | None = None,
    normal: Vector = UP,
    *,
    body: str | None = None,
    about: str | None = None,
    terminal: bool = False,
) -> Event:
    """Where a body crosses a plane through the origin or through another body. In that plane round-off decides.

    Parameters
    ----------
    which : {"ascending", "descending"}, optional
        Only crossings along the normal, or against it.
    normal : array_like (3,)
        Normal of the plane, space frame; any length.

    Examples
    --------
    >>> node("ascending", body="moon", about="earth").watches[0].rising
    'ascending_node'
    """
    given, numbers = {"about": about, "body": body}, {"normal": unit_vector(normal, "normal")}
    acts = (above if about is None else above_plane_of, "ascending_node", "descending_node")
    return _made("node", given, numbers, which, terminal, acts, told={"normal": plain(normal)})


@answering
@described_by(apsis)
def altitude(
    height: Length, radius: Length, which: Which | None = None, *, body: str | None = None, terminal: bool = False
) -> Event:
    """Where a body crosses a height above a sphere about the origin.

    Parameters
    ----------
    height : float
        Height above the sphere.
    radius : float
        Radius of the sphere.
    which : {"rising", "falling"}, optional
        Only crossings upwards, or only downwards.

    Examples
    --------
    >>> import polhode as ph
    >>> mu, start = ph.planets.EARTH.mu, {"position": (6778e3, 0, 0), "velocity": (0, 7.8e3, 0)}
    >>> up = ph.events.altitude(450e3, radius=6378e3, which="rising")
    >>> ds = ph.integrate(ph.orbit(mu), step=30.0, t_end=3600.0, start=start, events=[up])
    >>> ds.event_time.values.round(1)
    array([589.4])
    """
    h, R = number(height, "height", "m"), number(radius, "radius", "m", positive=True)
    if not h + R > 0.0:
        raise InvalidInput(f"height is {h:g}, below the centre of a sphere of radius {R:g}; give a height above it")
    acts = (higher, "altitude_rising", "altitude_falling")
    return _made("altitude", {"body": body}, {"radius": h + R}, which, terminal, acts, told={"height": h, "radius": R})


@answering
@described_by(path, sunlight, apsis)
def eclipse(
    radius: Length,
    *,
    direction: Vector | None = None,
    position: Position | None = None,
    times: Times | None = None,
    positions: Positions | None = None,
    circle: Circle | None = None,
    ephemeris: Ephemerides | None = None,
    shadow: Literal["cylinder", "cone"] = "cylinder",
    sun_radius: Length | None = None,
    which: Literal["entry", "exit"] | None = None,
    body: str | None = None,
    terminal: bool = False,
) -> Event:
    """Where a body enters or leaves the shadow of the centre.

    Parameters
    ----------
    radius : float
        Radius of the body at the centre that casts the shadow.
    shadow : {"cylinder", "cone"}
        A single edge, or those of penumbra and umbra.
    which : {"entry", "exit"}, optional
        Only these events.

    Examples
    --------
    >>> import polhode as ph
    >>> mu, start = ph.planets.EARTH.mu, {"position": (6878e3, 0, 0), "velocity": (0, 7.613e3, 0)}
    >>> shadow = ph.events.eclipse(6378e3, direction=(1.0, 0.0, 0.0))
    >>> ds = ph.integrate(ph.orbit(mu), step=30.0, t_end=5400.0, start=start, events=[shadow])
    >>> ds.event_time.values.round(), ds.event_kind.values.tolist()
    (array([1766., 3911.]), ['shadow_entry', 'shadow_exit'])
    """
    R = number(radius, "radius", "m", positive=True)
    choice(shadow, "shadow", SHADOWS)
    path = path_to_sun(direction, position, times, positions, circle, ephemeris)
    if (shadow == "cone") != (sun_radius is not None):
        wrong = "missing; the cone needs it" if sun_radius is None else "given, but shadow is 'cylinder'; leave it out"
        raise InvalidInput(f"sun_radius is {wrong}")
    if shadow == "cone" and direction is not None:
        raise InvalidInput("the cone needs a place of the Sun; give position instead of direction")
    sizes = {"radius": R} | ({} if sun_radius is None else
                             {"sun_radius": number(sun_radius, "sun_radius", "m", positive=True)})  # fmt: skip
    return _made("eclipse", {"body": body}, {"sun": Table(path.numbers), **sizes}, which, terminal, *SHADOWS[shadow],
                 told={**sizes, **path.arguments, "shadow": shadow})  # fmt: skip


SHADOWS: dict[str, tuple[tuple[Callable[..., Any], str, str], ...]] = {
    "cylinder": ((out_of_shadow, "shadow_exit", "shadow_entry"),),
    "cone": ((out_of_penumbra, "penumbra_exit", "penumbra_entry"), (out_of_umbra, "umbra_exit", "umbra_entry")),
}
"""Function and names of each edge."""


@answering
@described_by(apsis)
def closest_approach(a: str, b: str, *, terminal: bool = False) -> Event:
    """Where the distance of two bodies is least.

    Parameters
    ----------
    a, b : str
        Their names.

    Examples
    --------
    >>> closest_approach("chaser", "target")
    closest_approach(a='chaser', b='target', terminal=False)
    """
    return _made("closest_approach", {"a": a, "b": b}, {}, None, terminal, (receding_from, "closest_approach", ""))


@answering
@described_by(apsis)
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

    Examples
    --------
    >>> distance("sun", "comet", 1.5e11, "falling", terminal=True).kind
    'distance'
    """
    numbers = {"distance": number(distance, "distance", "m", positive=True)}
    acts = (beyond, "distance_rising", "distance_falling")
    return _made("distance", {"a": a, "b": b}, numbers, which, terminal, acts)


@answering
@described_by(apsis)
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

    Examples
    --------
    >>> transit("planet", "star", 6.96e8, toward=(1, 0, 0)).kind
    'transit'
    """
    numbers = {"radius": number(radius, "radius", "m", positive=True), "toward": unit_vector(toward, "toward")}
    acts = (outside_disc, "transit_end", "transit_begin")
    return _made("transit", {"body": body, "behind": behind}, numbers, which, terminal, acts)


def _made(
    kind: str, on: Mapping[str, Any], numbers: Mapping[str, Any], which: object, terminal: object,
    *rows: tuple[Callable[..., Any], str, str], told: Mapping[str, Any] | None = None,
) -> Event:  # fmt: skip
    """The event of functions of bodies by these words, called so where they rise and fall, restricted to ``which``."""
    named = {word: identifier(one, word) for word, one in on.items() if one is not None}
    if "about" in named and "body" not in named:
        raise InvalidInput("about is given without body; say which body it is")
    if len(set(named.values())) < len(named):
        raise InvalidInput(f"{' and '.join(named)} are both {next(iter(named.values()))!r}; name two bodies")
    watches = []
    for function, rising, falling in rows:
        up, down = (set(name.split("_")) for name in (rising, falling))  # a word is what one has and the other has not
        words = dict.fromkeys(sorted(up - down), rising) | dict.fromkeys(sorted(down - up), falling)
        if which is not None:
            chosen = words[choice(which, f"which of {kind}", words)]
            rising, falling = (name if name == chosen else "" for name in (rising, falling))
        load = made(function, kind, **numbers).on(*named.values())
        watches.append(watched(load, rising, falling, truth(terminal, "terminal")))
    given: dict[str, Any] = {one: named[one] for one in sorted(named, key=("a", "b", "body", "about", "behind").index)}
    given |= {word: plain(one) for word, one in (numbers if told is None else told).items()}
    given |= ({} if which is None else {"which": which}) | {"terminal": terminal}
    return Event(kind, {"kind": kind, **given}, tuple(watches))


class Watched(Load):
    """The function of an event."""

    what = "event"


def watched(load: Load, rising: str, falling: str, terminal: bool = False) -> Watch:
    """What a run watches for the function of a load."""
    return Watch(tuple(places(load.parameters, 0)[1]), rising, falling, terminal, of=load)


def impact(radius: float, *body: str) -> Watch:
    """The ground of a centre at the origin, where a run ends."""
    return watched(made(higher, "impact", radius=radius).on(*body), "", "impact", True)


def edges_of_shadow(path: Path, body: float, sun: float, shadow: str, flag: int = -1) -> tuple[Watch, ...]:
    """Where runs cut their steps as light jumps or kinks, behind a body at the origin."""
    every: dict[str, Any] = {"none": (), "cylinder": (out_of_shadow,), "cone": (out_of_penumbra, uncovered)}
    numbers: dict[str, Any] = {"sun": Table(path.numbers), "radius": body} | (
        {"sun_radius": sun} if shadow == "cone" else {}
    )
    found = (watched(made(act, "eclipse", **numbers), "", "") for act in every[shadow])
    return tuple(replace(one, cuts=True, flag=flag if shadow == "cylinder" else -1) for one in found)


# ------------------------------------------------------------------ functions of the user's
@answering
@described_by(apsis)
def user(
    function: Function, direction: Literal[-1, 0, 1] = 0, terminal: bool = False, name: str | None = None
) -> Event:
    """Where a user's function changes sign.

    Parameters
    ----------
    function : callable
        ``function(t, position, velocity, q, omega, parameters) -> number``, for one body; ``parameters`` are those of
        the system. With one more argument, ``states``, it reads the states of the system: those of the user's, of
        wheels, and the like. Compiled if possible.
    direction : {0, 1, -1}
        All sign changes, only rising ones, or only falling ones.
    name : str, optional
        Name of the event; by default that of the function.

    Examples
    --------
    >>> import polhode as ph
    >>> def upright(t, position, velocity, q, omega, parameters):
    ...     return ph.rotation.rotate(q, (0.0, 0.0, 1.0))[2] - 0.95
    >>> top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    >>> ds = ph.integrate(top, step=0.01, t_end=2.0, angular_velocity=(0.3, 0, 5), events=[ph.events.user(upright)])
    >>> ds.event_time.values.round(3)
    array([0.758])
    """
    form = FORMS["event"]
    if form.takes_states(function):
        form = form.with_states((("any", 0),), 1)
    taken = UserFunction(form, function, np.zeros(0))
    label = taken.name if name is None else name
    if not isinstance(label, str) or not label:
        raise InvalidInput(f"name must be text, not {shown(name)}")
    watch = Watch((), *_rising_and_falling(label, direction), truth(terminal, "terminal"), function=taken)
    given = {"kind": "user", "function": record_of(function), "direction": int(direction), "terminal": terminal}
    return Event("user", given | {"name": label}, (watch,))


@answering
@described_by(user)
def of(
    function: Function,
    direction: Literal[-1, 0, 1] = 0,
    terminal: bool = False,
    name: str | None = None,
    on: str | Sequence[str] = (),
    **parameters: Any,
) -> Event:
    """Where a function of bodies changes sign.

    Parameters
    ----------
    function : function
        As of ``polhode.loads.of``: bodies first, then by name the time, parameters, states; it returns one number.
    on : sequence of str, optional
        The bodies, as of ``.on``.
    **parameters : float or array_like
        Numbers of the function by name.

    Returns
    -------
    Event
        Of the one body of a system; say ``.on("a", "b")`` otherwise.

    Examples
    --------
    >>> def apart(a, b):
    ...     return (b.position - a.position) @ (b.velocity - a.velocity)
    >>> of(apart, direction=1, name="closest approach").on("a", "b")
    of(direction=1, terminal=False, name='closest approach', on=['a', 'b'])
    """
    load = of_user(function, parameters, make=Watched)
    label = load.name if name is None else text(name, "name of an event")
    load = replace(load, name=label)
    told = findings(load.function)
    if told and told[0].kind in ("memory", "outside"):
        raise InvalidInput(refusal(f"event {label!r}", told[0], False))
    watch = watched(load, *_rising_and_falling(label, direction), truth(terminal, "terminal"))
    given = {"kind": "of", "function": record_of(load.function), "direction": int(direction), "terminal": terminal}
    given |= {"name": label} | {key: plain(value) for key, value in load.parameters.items()}
    event = Event("of", given, (watch,))
    named = bodies_of(on)
    return event.on(*named) if named else event


def _rising_and_falling(label: str, direction: object) -> tuple[str, str]:
    """Names of an event where its function rises and where it falls, empty where that is none in this direction."""
    if isinstance(direction, bool) or not isinstance(direction, int | np.integer) or direction not in (0, 1, -1):
        raise InvalidInput(f"direction is {shown(direction)}; it must be 0 (both), 1 (rising) or -1 (falling)")
    return label if direction >= 0 else "", label if direction <= 0 else ""


EVENTS: Registry[Callable[..., Event]] = Registry(
    {build.__name__: build for build in (apsis, node, altitude, eclipse, user, closest_approach, distance, transit)}
)
"""Every kind of event by the name of the function that makes it."""
SHORT: dict[str, Callable[[], Event]] = {
    "apsis": apsis, "periapsis": lambda: apsis("periapsis"), "apoapsis": lambda: apsis("apoapsis"),
    "node": node, "ascending_node": lambda: node("ascending"), "descending_node": lambda: node("descending"),
}  # fmt: skip
"""Events that can be given by one word."""


def add_event(build: Callable[..., Event]) -> Callable[..., Event]:
    """Add a kind of event of one's own under the name of the function that makes it; returns the function.

    From then on it is a ``kind`` of mappings and scenarios. Adding the same function twice does nothing.

    Parameters
    ----------
    build : function
        Returns what one of the functions above makes, as ``user`` of a function of time and state. Its arguments are
        annotated with words of ``polhode.arguments.words``.

    Raises
    ------
    InvalidInput
        Not a function, a name that another event has, or an argument whose annotation says nothing to a scenario.

    Examples
    --------
    >>> import polhode as ph
    >>> from polhode.arguments.words import Length
    >>> @ph.events.add_event
    ... def below(height: Length):
    ...     return ph.events.user(lambda t, position, velocity, q, omega, parameters: position[2] - height)
    >>> falling = ph.particle(1.0, gravity=(0, 0, -9.81))
    >>> asked = [{"kind": "below", "height": -1.0}]
    >>> ph.integrate(falling, step=0.1, t_end=1.0, events=asked).event_time.values.round(4)
    array([0.4515])
    """
    return EVENTS.add(build, "an event", "an Event")


def event_of(description: object) -> Event:
    """An ``Event``, or one made from a word of ``SHORT`` or from its arguments as a mapping with a ``kind``."""
    if isinstance(description, Event):
        return description
    if isinstance(description, str):
        return SHORT[choice(description, "event", SHORT)]()
    if not isinstance(description, Mapping):
        raise InvalidInput(
            f"an event must be made by polhode.events (apsis, altitude, ...) or be a word such as 'periapsis', not "
            f"{shown(description)}"
        )
    arguments = dict(description)
    kind = arguments.pop("kind", None)
    if kind == "of":  # which no scenario knows
        return called(of, arguments)
    choice(kind, "kind of event", EVENTS)
    return called(EVENTS[kind], arguments)


def events_of(descriptions: object, refuses: Callable[[Event], str]) -> list[Event]:
    """Events as records, checked against a system: ``refuses`` says why one is none of it (``why_not``)."""
    if type(descriptions) is tuple and not descriptions:
        return []
    if isinstance(descriptions, str | Event | Mapping):
        descriptions = [descriptions]

    def made(description: object) -> Event:
        event = event_of(description)
        if why := refuses(event):
            raise InvalidInput(why)
        return event

    return each_made(descriptions, made, "events", "what polhode.events makes")


def why_not(event: Event, system: System) -> str:
    """Why an event is none of a system, in words; empty where it is."""
    named = [watch.of is not None and (watch.of.bodies or event.kind == "of") for watch in event.watches]
    if system.N != 1 and not all(named):
        say = "take polhode.events.of(function).on(...)" if event.kind == "user" else "say which: body=..."
        return f"an event {event.kind!r} is that of one body, but {system.name!r} has {system.N}; {say}"
    if event.kind in ("apsis", "node", "altitude", "eclipse") and not system.translates:
        return (f"the body of {system.name!r} does not move through space; it has no {event.kind}, but events.of takes "
                "a function of its attitude")  # fmt: skip
    return ""
