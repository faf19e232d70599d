"""Events of a motion: sign changes of a function of time and state, for ``polhode.integrate(..., events=[...])``.

    from polhode import events
    ph.integrate(system, step=10.0, t_end=86400.0, events=["periapsis", events.altitude(20e3, radius=1.7e6)], **start)

========= ================================== ========================== ============================
event     function                           rising                     falling
========= ================================== ========================== ============================
apsis     r . v                              periapsis                  apoapsis
node      r . n                              ascending_node             descending_node
altitude  d - radius - height                altitude_rising            altitude_falling
eclipse   cylinder: max(r . s, e - radius)   shadow_exit                shadow_entry
          cone: c - (a + b) and c - (b - a)  penumbra_exit, umbra_exit  penumbra_entry, umbra_entry
user      the user's function                its name                   its name
========= ================================== ========================== ============================

r and v are position and velocity relative to the centre, d the distance from it, n the normal of a plane, s the unit
vector to the Sun, e = |r x s| the distance from the axis of the shadow; a and b are the apparent radii of the Sun and
of the body that casts the shadow, c the angle between their centres.

A run evaluates the functions after every step, and locates a zero by repeating a part of that step with the same
method. Two sign changes within one step are missed, and so is a function that only touches zero: steps must be shorter
than the time between two events of one kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import FunctionType
from typing import Any, Literal

import numpy as np

from polhode.algebra.so3 import axpy, cross, dot, scale
from polhode.arguments import choice, number, text, truth, unit_vector
from polhode.arguments.recorded import called, plain
from polhode.arguments.words import Function, Length, Position, Positions, Times, Vector, arguments_of
from polhode.errors import InvalidInput, answering, shown
from polhode.kernel import jit
from polhode.kernel import layout as L
from polhode.kernel.access import get3
from polhode.kernel.jit import helper
from polhode.kernel.signatures import EVENT
from polhode.loads.load import bodies_of
from polhode.loads.load import of as load_of
from polhode.plugins import Registry
from polhode.programs.purity import findings
from polhode.surroundings.ephemerides import Ephemerides
from polhode.surroundings.paths import Circle, path_to_sun, place_at
from polhode.systems.event_record import (
    ALTITUDE,
    APSIS,
    CYLINDER,
    NODE,
    PENUMBRA,
    UMBRA,
    USER,
    WHEEL,
    WITHIN,
    Event,
    Watch,
)  # fmt: skip
from polhode.systems.events_of_bodies import apsis_of, closest_approach, distance, node_of, transit
from polhode.systems.record import System
from polhode.systems.structure import bodies_of_event, number_of
from polhode.systems.user.function import UserFunction, record_of
from polhode.systems.user.remembering import refusal
from polhode.systems.user.roles import FORMS, event_function, event_with_states
from polhode.systems.user.states import VALUE, sizes_read

__all__ = [
    "Event", "add_event", "altitude", "apsis", "apsis_of", "closest_approach", "distance", "eclipse", "node", "node_of",
    "of", "transit", "user",
]  # fmt: skip

RELEASED = 1e-9
"""Part of its largest momentum by which that of a saturated wheel must fall until its motor is free again."""
NO_LEVEL = float("nan")
"""What the role returns for a code it does not know; ``compiled_events`` recognises it by identity."""


# ------------------------------------------------------------------ the functions
@helper
def outside_cylinder(p, at, t, r):
    """Positive in sunlight, negative in the shadow; a length."""
    s = place_at(p, at + 2, t)
    s = scale(1.0 / np.sqrt(dot(s, s)), s)
    beside = cross(r, s)
    return max(dot(r, s), np.sqrt(dot(beside, beside)) - p[at])


@helper
def outside_cone(p, at, t, r, edge):
    """Angle between the centres minus that at which the discs touch, from outside (PENUMBRA) or inside; rad."""
    d = axpy(-1.0, r, place_at(p, at + 2, t))
    a = np.arcsin(min(1.0, p[at + 1] / np.sqrt(dot(d, d))))
    b = np.arcsin(min(1.0, p[at] / np.sqrt(dot(r, r))))
    across = cross(d, r)
    c = np.arctan2(np.sqrt(dot(across, across)), -dot(d, r))
    if edge == PENUMBRA:
        return c - (a + b)
    return c - (b - a if edge == UMBRA else abs(b - a))


@helper
def below_limit(p, at, y, parameters):
    """Positive while a wheel is not saturated: its largest momentum, less a little once it has been, minus what it has.
    Numbers: index of the momentum in the state, its limit, index of the flag in the parameters."""
    most = p[at + 1]
    if parameters[int(p[at + 2])] == 0.0:
        most *= 1.0 - RELEASED
    return most - abs(y[int(p[at])])


def event_value(k, t, N, y, bodies, parameters, table):
    """The EVENT role. Table: for each event its code and the index of its numbers, then the numbers."""
    code, at = int(table[2 * k]), int(table[2 * k + 1])
    r = get3(y, L.POSITION)
    if code == APSIS:
        return bodies[L.INVERSE_MASS] * dot(r, get3(y, L.MOMENTUM))
    if code == NODE:
        return dot(r, get3(table, at))
    if code == ALTITUDE:
        return np.sqrt(dot(r, r)) - table[at]
    if code == CYLINDER:
        return outside_cylinder(table, at, t, r)
    if code == WHEEL:
        return below_limit(table, at, y, parameters)
    if code in (PENUMBRA, UMBRA, WITHIN):
        return outside_cone(table, at, t, r, code)
    return NO_LEVEL


user_event = jit.hole("user_event(t, N, y, bodies, parameters) -> float", "The user's function.")
others = jit.hole("others(k, t, N, y, bodies, parameters, table) -> float", "The role of all other events.")
which = jit.hole("which", "Number of the user's event, or of the first of them.")
behind = jit.hole("behind", "Number of the first event behind those of a function of bodies.")


of_bodies = jit.hole(
    "of_bodies(t, N, y, bodies, parameters, table, at) -> float", "A function of bodies by their names."
)


def either_of_bodies(k, t, N, y, bodies, parameters, table):
    """The EVENT role with a function of bodies for the events from number ``which`` on, up to ``behind``."""
    if which <= k and k < behind:
        return of_bodies(t, N, y, bodies, parameters, table, int(table[2 * k + 1]))
    return others(k, t, N, y, bodies, parameters, table)


def either_value(k, t, N, y, bodies, parameters, table):
    """The EVENT role with a user's function for event number ``which``."""
    if k == which:
        return user_event(t, N, y, bodies, parameters)
    return others(k, t, N, y, bodies, parameters, table)


# ------------------------------------------------------------------ events of one body
@answering
def apsis(
    which: Literal["periapsis", "apoapsis"] | None = None,
    *,
    terminal: bool = False,
) -> Event:
    """Where the distance from the centre is least or greatest. On a circular orbit round-off decides.

    Parameters
    ----------
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
        Naming the argument that is wrong.
    """
    return _made("apsis", {"which": which, "terminal": terminal}, (APSIS, (), "periapsis", "apoapsis"))


@answering
def node(
    which: Literal["ascending", "descending"] | None = None,
    normal: Vector = (0.0, 0.0, 1.0),
    *,
    terminal: bool = False,
) -> Event:
    """Where the path crosses a plane through the centre. For an orbit in that plane round-off decides.

    Parameters
    ----------
    which : {"ascending", "descending"}, optional
        Only crossings along the normal, or against it.
    normal : array_like (3,)
        Normal of the plane, space frame; any length.
    terminal : bool
        Whether the run ends at the first such event.

    Returns
    -------
    Event

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong.
    """
    n = unit_vector(normal, "normal")
    given = {"which": which, "normal": plain(normal), "terminal": terminal}
    return _made("node", given, (NODE, n, "ascending_node", "descending_node"))


@answering
def altitude(
    height: Length,
    radius: Length,
    which: Literal["rising", "falling"] | None = None,
    *,
    terminal: bool = False,
) -> Event:
    """Where the path crosses a height above a sphere about the centre.

    Parameters
    ----------
    height : float
        Height above the sphere.
    radius : float
        Radius of the sphere.
    which : {"rising", "falling"}, optional
        Only crossings upwards, or only downwards.
    terminal : bool
        Whether the run ends at the first such event.

    Returns
    -------
    Event

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong.
    """
    h, R = number(height, "height", "m"), number(radius, "radius", "m", positive=True)
    if not h + R > 0.0:
        raise InvalidInput(f"height is {h:g}, below the centre of a sphere of radius {R:g}; give a height above it")
    given = {"height": h, "radius": R, "which": which, "terminal": terminal}
    return _made("altitude", given, (ALTITUDE, (h + R,), "altitude_rising", "altitude_falling"))


@answering
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
    terminal: bool = False,
) -> Event:
    """Where the path enters or leaves the shadow of the centre.

    Parameters
    ----------
    radius : float
        Radius of the body at the centre that casts the shadow.
    direction, position, times, positions, circle, ephemeris
        Direction or position of the Sun, as for ``polhode.forces.radiation_pressure``.
    shadow : {"cylinder", "cone"}
        A single edge, or those of penumbra and umbra.
    sun_radius : float, optional
        Radius of the Sun, for the cone: 6.957e8 in metres.
    which : {"entry", "exit"}, optional
        Only these events.
    terminal : bool
        Whether the run ends at the first such event.

    Returns
    -------
    Event

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong or missing.
    """
    R = number(radius, "radius", "m", positive=True)
    choice(shadow, "shadow", SHADOWS)
    path = path_to_sun(direction, position, times, positions, circle, ephemeris)
    if (shadow == "cone") != (sun_radius is not None):
        wrong = "missing; the cone needs it" if sun_radius is None else "given, but shadow is 'cylinder'; leave it out"
        raise InvalidInput(f"sun_radius is {wrong}")
    if shadow == "cone" and direction is not None:
        raise InvalidInput("the cone needs a place of the Sun; give position instead of direction")
    size = 0.0 if sun_radius is None else number(sun_radius, "sun_radius", "m", positive=True)
    given = {"radius": R, **path.arguments, "shadow": shadow, "sun_radius": size or None}
    given |= {"which": which, "terminal": terminal}
    numbers = (R, size, *path.numbers)
    return _made("eclipse", given, *((code, numbers, *names) for code, *names in SHADOWS[shadow]))


SHADOWS = {
    "cylinder": ((CYLINDER, "shadow_exit", "shadow_entry"),),
    "cone": ((PENUMBRA, "penumbra_exit", "penumbra_entry"), (UMBRA, "umbra_exit", "umbra_entry")),
}
"""Code and names of each edge."""


@answering
def user(
    function: Function,
    direction: Literal[-1, 0, 1] = 0,
    terminal: bool = False,
    name: str | None = None,
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
    terminal : bool
        Whether the run ends at the first such event.
    name : str, optional
        Name of the event; by default that of the function.

    Returns
    -------
    Event

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong.
    """
    _direction(direction)
    form, role = FORMS["event"], event_function
    if form.takes_states(function):
        form = replace(form, arguments=f"{form.arguments}, states", states=((VALUE, 0),), sets=(VALUE,))
        role = event_with_states
    made = UserFunction(form, function, role, (1.0, 0.0, 0.0, 0.0), np.zeros(0))
    label = made.name if name is None else name
    if not isinstance(label, str) or not label:
        raise InvalidInput(f"name must be text, not {shown(name)}")
    watch = Watch(
        USER,
        (),
        label if direction >= 0 else "",
        label if direction <= 0 else "",
        truth(terminal, "terminal"),
        function=made,
    )
    given = {"kind": "user", "function": made.record(), "direction": int(direction), "terminal": terminal}
    return Event("user", given | {"name": label}, (watch,))


@answering
def of(
    function: Function,
    direction: Literal[-1, 0, 1] = 0,
    terminal: bool = False,
    name: str | None = None,
    on: Any = (),
    **parameters: Any,
) -> Event:
    """Where a function of bodies changes sign.

    Parameters
    ----------
    function : function
        As of ``polhode.loads.of``: bodies first, then by name the time, parameters, states; it returns one number.
    direction : {0, 1, -1}
        All sign changes, only rising ones, or only falling ones.
    terminal : bool
        Whether the run ends at the first such event.
    name : str, optional
        Name of the event; by default that of the function.
    on : sequence of str, optional
        The bodies, as of ``.on``.
    **parameters : float or array_like
        Numbers of the function by name.

    Returns
    -------
    Event
        Of the one body of a system; say ``.on("a", "b")`` otherwise.

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong.

    Examples
    --------
    >>> def apart(a, b):
    ...     return (b.position - a.position) @ (b.velocity - a.velocity)
    >>> of(apart, direction=1, name="closest approach").on("a", "b")
    of(direction=1, terminal=False, name='closest approach', on=['a', 'b'])
    """
    _direction(direction)
    watched = load_of(function, **parameters)
    label = watched.name if name is None else text(name, "name of an event")
    watched = replace(watched, name=label)
    told = findings(watched.function)
    if told and told[0].kind in ("memory", "outside"):
        raise InvalidInput(refusal(f"event {label!r}", told[0], False))
    numbers = tuple(np.concatenate([np.zeros(0), *(np.ravel(one) for one in watched.parameters.values())]).tolist())
    watch = Watch(
        USER, numbers, label if direction >= 0 else "", label if direction <= 0 else "", truth(terminal, "terminal"),
        of=watched,
    )  # fmt: skip
    given = {"kind": "of", "function": record_of(watched.function), "direction": int(direction), "terminal": terminal}
    given |= {"name": label} | {key: plain(value) for key, value in watched.parameters.items()}
    made = Event("of", given, (watch,))
    named = bodies_of(on)
    return made.on(*named) if named else made


def _direction(direction: Any) -> None:
    if isinstance(direction, bool) or not isinstance(direction, int | np.integer) or direction not in (0, 1, -1):
        raise InvalidInput(f"direction is {shown(direction)}; it must be 0 (both), 1 (rising) or -1 (falling)")


def _made(kind: str, given: dict[str, Any], *functions: tuple[Any, ...]) -> Event:
    """The event of functions (code, numbers, rising name, falling name), restricted to ``given["which"]`` if set."""
    requested, terminal = given["which"], truth(given["terminal"], "terminal")
    watches = []
    for code, numbers, rising, falling in functions:
        words = {_word(rising, kind): rising, _word(falling, kind): falling}
        if requested is not None:
            choice(requested, f"which of {kind}", words)
        up, down = (name if requested in (None, word) else "" for word, name in words.items())
        watches.append(Watch(code, tuple(numbers), up, down, terminal))
    arguments = {name: value for name, value in given.items() if value is not None}
    return Event(kind, {"kind": kind, **arguments}, tuple(watches))


def _word(name: str, kind: str) -> str:
    """The value of ``which`` for an event name, such as "exit" for "shadow_exit"."""
    parts = name.split("_")
    return parts[0] if kind in ("apsis", "node") else parts[-1]


EVENTS: dict[str, Callable[..., Event]] = Registry({
    build.__name__: build
    for build in (apsis, node, altitude, eclipse, user, closest_approach, distance, apsis_of, node_of, transit)
})  # fmt: skip
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
    """
    name = build.__name__ if isinstance(build, FunctionType) else ""
    if not name.isidentifier():
        raise InvalidInput(f"build must be a function that returns an Event, not {shown(build)}")
    if EVENTS.get(name, build) is not build:
        raise InvalidInput(f"there is already an event {name!r}; give the function another name")
    arguments_of(build)
    EVENTS[name] = build
    return build


def event_of(description: Any) -> Event:
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
        return called(of, arguments)  # type: ignore[no-any-return]
    choice(kind, "kind of event", EVENTS)
    return called(EVENTS[kind], arguments)


def events_of(descriptions: Any, refuses: Callable[[Event], str]) -> list[Event]:
    """Events as records, checked against a system: ``refuses`` says why one is none of it (``why_not``)."""
    if type(descriptions) is tuple and not descriptions:
        return []
    if isinstance(descriptions, str | Event | Mapping):
        descriptions = [descriptions]
    if not isinstance(descriptions, Sequence):
        raise InvalidInput(f"events must be a list of what polhode.events makes, not {shown(descriptions)}")
    made = []
    for k, description in enumerate(descriptions):
        try:
            event = event_of(description)
        except InvalidInput as refused:
            raise InvalidInput(f"events[{k}]: {refused}") from None
        if why := refuses(event):
            raise InvalidInput(f"events[{k}]: {why}")
        made.append(event)
    return made


def why_not(event: Event, system: System) -> str:
    """Why an event is none of a system, in words; empty where it is."""
    if all(watch.of is not None for watch in event.watches):
        return ""
    if system.N != 1:
        return (f"an event {event.kind!r} is that of one body, but {system.name!r} has {system.N}; take "
                "polhode.events.of(function).on(...)")  # fmt: skip
    if event.kind != "user" and not system.translates:
        return (f"the body of {system.name!r} does not move through space; it has no {event.kind}, but events.user "
                "takes a function of its attitude")  # fmt: skip
    return ""


# ------------------------------------------------------------------ compiled for a run
def table_of(watches: Sequence[Watch], system: System) -> Any:
    """The table that the EVENT role reads (see ``event_value``), with the numbers of bodies behind those of events."""
    if not watches:
        return np.zeros(1)
    every = [(*one.numbers, *(() if one.of is None else bodies_of_event(one.of, system))) for one in watches]
    at = np.cumsum([2 * len(watches), *map(len, every)])
    rows = [x for watch, first in zip(watches, at[:-1], strict=True) for x in (watch.code, first)]
    return np.array([*rows, *(x for numbers in every for x in numbers), 0.0], dtype=float)


@lru_cache(jit.KEPT_KERNELS)
def _with_bodies(function: Any, others: Any, which: int, behind: int) -> Any:
    """The EVENT role ``others`` with a function of bodies for the events from ``which`` on, up to ``behind``."""
    made = jit.bind(either_of_bodies, of_bodies=function, others=others, which=which, behind=behind)
    return jit.compile_kernel(made, EVENT)


@lru_cache(jit.KEPT_KERNELS)
def _with_function(function: Any, others: Any, which: int) -> Any:
    """The EVENT role ``others`` with a function for event ``which``: (role, "") or (None, reason)."""
    return jit.compile_uncached(jit.bind(either_value, user_event=function, others=others, which=which), EVENT)


def compiled_events(watches: Sequence[Watch], system: System, t: float, y: Any) -> Callable[..., Any]:
    """The EVENT role of these events; a user's function is tried out at this time and state."""
    table = table_of(watches, system)
    for k, watch in enumerate(watches):
        if (
            watch.function is None
            and watch.of is None
            and event_value(k, t, 1, y, system.bodies, system.parameters, table) is NO_LEVEL
        ):
            raise InvalidInput(f"no function is known for the event {watch.rising or watch.falling!r}")
    role = jit.compile_kernel(event_value, EVENT)
    w, x, y3, z = (float(q) for q in system.frames[0])
    functions = [None if watch.of is None else number_of(watch.of, system) for watch in watches]
    for k, function in enumerate(functions):
        if function is not None and (k == 0 or functions[k - 1] is not function):
            behind = next((j for j in range(k, len(watches)) if functions[j] is not function), len(watches))
            role = _with_bodies(function, role, k, behind)
    for k, watch in enumerate(watches):
        if watch.function is not None:
            event = replace(watch.function, frame=(w, x, y3, z), parameters=system.parameters)
            if event.form.states:
                sizes = sizes_read(system.auxiliary[system.read_from :])
                if not sizes:
                    raise InvalidInput(f"{event.described} takes states, but {system.name!r} has none; leave the "
                                       "argument out")  # fmt: skip
                event = replace(event, form=replace(event.form, states=sizes), states_at=system.read_from)
            made, reason = _with_function(event.compile(t, y, system.bodies), role, k)
            if made is None:
                raise InvalidInput(f"{event.described} cannot be watched: {reason}")
            role = made
    return role
