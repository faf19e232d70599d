"""Loads: functions of bodies that return a potential energy, or forces, torques and rates of states.

    def tether(a, b, stiffness, length):
        stretch = np.linalg.norm(b.position - a.position) - length
        return 0.5 * stiffness * ph.where(stretch > 0, stretch, 0.0)**2

    ph.loads.of(tether, stiffness=5.0, length=100.0).on("a", "b")

The first arguments are the bodies that the load is on; every other is found by its name: ``t`` is the time, then there
are the parameters given to ``of``, and the states of the system. What a body offers is listed at ``of``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from inspect import CO_VARARGS, CO_VARKEYWORDS, Parameter, Signature, signature
from types import CodeType, FunctionType
from typing import Any, ClassVar, Self

from polhode.arguments import UNKNOWN, ArrayLike, array, function, identifier, number
from polhode.arguments.recorded import plain
from polhode.errors import InvalidInput, answering, shown
from polhode.surroundings.surrounding import Acting, Table, as_numbers

pairs = PAIRS = "pairs"
"""What a load is on that is on every two bodies, ``polhode.pairs``."""
RESERVED = ("t", "kind", "function", "on", "states", "each", "renamed", "name", "after", "until")
"""Names that no parameter of a load can have."""

RETURNS = ("", "acceleration", "states")
"""What functions of users return: a potential or a mapping, an acceleration, rates of states of no body."""


@dataclass(frozen=True)
class Load(Acting):
    """What acts on bodies; made by ``polhode.loads.of`` and its like.

    Attributes
    ----------
    function : function
        Returns a potential, or forces, torques and rates by name.
    name : str
        Its name in the system.
    parameters : mapping
        Its numbers by name.
    bodies : tuple of str
        Names of the bodies it is on; empty for every body in turn.
    kind : str
        The function of ``polhode.loads`` that makes it again, "" for one of the user's own that was not added there.
    returns : str
        "acceleration" of one that returns that, not a force; "states" of one that is on no body; "reported" of a
        potential that moves nothing, and is reported in the place of that which acts.
    starts : mapping
        The states that it brings, with their values at the start.
    recorded : mapping or None
        What the function of its kind takes, in JSON types, where it is not the numbers themselves.
    own : mapping
        Numbers of which each body has its own, a row a body.
    reads : mapping of str to str
        By arguments of its function states and quantities of the surroundings that are called otherwise.
    switches : mapping of str to (float, float)
        Parameters that are 1 between two times, and 0 elsewhere.
    flagged, watches : tuple
        Of its first parameter, a table, what is 1 between two times, and where the load jumps or kinks: ``Switch`` and
        ``Watch`` of a system, with indices in the table.
    impulse : Impulse or None
        A sudden change of velocity, in the place of what the function returns.
    when : mapping of str to float or Event
        Times or events at which the load begins (``after``), ends (``until``), or happens (``at``).
    gate : str
        Name of the state, or the parameter, by which all that it returns is multiplied; empty for one that acts always.
    books : bool
        Whether its work is recorded.
    made : object
        What its function is equal to, if that is known: other functions that come to the same program are, too.
    valves : polhode.loads.thrust.Valves, optional
        How thrusters among its states fire in pulses.
    """

    what: ClassVar[str] = "load"
    reserved: ClassVar[tuple[str, ...]] = RESERVED

    @answering
    def on(self, *bodies: str) -> Self:
        """The same load on these bodies; without, a load acts on every body in turn.

        Parameters
        ----------
        *bodies : str
            Their names, in the order of the first arguments of its function; or ``polhode.pairs``, for every two bodies
            of the system, the one of lower number first.

        Raises
        ------
        InvalidInput
            Another number of bodies than the function takes, or one twice.

        Examples
        --------
        >>> from polhode import loads
        >>> loads.weight().on("lower").bodies
        ('lower',)
        """
        if self.returns == "states" and bodies:
            raise InvalidInput(f"states {self.name!r} are of no body; make a load of the function to put them on one")
        for one in bodies:
            identifier(one, f"name of a body that {self.what} {self.name!r} is on")
        if len(set(bodies)) < len(bodies):
            raise InvalidInput(f"{self.what} {self.name!r} is on a body twice: {', '.join(bodies)}; name each once")
        return replace(self, bodies=tuple(bodies)).checked()

    @answering
    def named(self, name: str) -> Self:
        """The same load under another name: two loads of one function need two.

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
        >>> from polhode import loads
        >>> loads.weight().named("pull").name
        'pull'
        """
        return replace(self, name=identifier(name, f"name of a {self.what}"))

    @answering
    def each(self, **numbers: ArrayLike) -> Self:
        """The same load with numbers of which each body has its own: its function reads them of a body, by name.

        Parameters
        ----------
        **numbers : array_like (N, ...)
            A row for each body of the system.

        Raises
        ------
        InvalidInput
            No rows, or a name that is taken.

        Examples
        --------
        >>> from polhode import loads
        >>> def coulomb(a, b):
        ...     d = b.position - a.position
        ...     return a.charge * b.charge / (d @ d) ** 0.5
        >>> loads.of(coulomb).each(charge=[1.0, -1.0]).on("pairs").own["charge"]
        array([ 1., -1.])
        """
        found = {name: array(value, f"{name} of load {self.name!r}", UNKNOWN) for name, value in numbers.items()}
        for name, value in found.items():
            if not value.ndim:
                raise InvalidInput(f"load {self.name!r} has one {name} for each body, but is given one number; give a "
                                   f"row for each body, or {name} as a parameter")  # fmt: skip
        return replace(self, own={**self.own, **found}).checked()

    @answering
    def states(self, **starts: ArrayLike | Mapping[str, Any]) -> Self:
        """The same load with states of its own, which its function reads by name and whose rates it returns by name.

        Parameters
        ----------
        **starts : float, array_like or mapping
            Their values at the start, or a mapping with ``size`` or ``start``, and ``unit``, as of ``rigid_body``.

        Raises
        ------
        InvalidInput
            A name that is taken, or no numbers.

        Examples
        --------
        >>> from polhode import loads
        >>> def friction(body, wear, rate):
        ...     return {"torque": -rate * body.angular_velocity, "wear": rate}
        >>> loads.of(friction, rate=0.1).states(wear=0.0).starts
        {'wear': 0.0}
        """
        of = f"of {self.what} {self.name!r}"
        made = {k: (number if isinstance(x, float) else plain)(x, f"state {k!r} {of}") for k, x in starts.items()}
        return replace(self, starts={**self.starts, **made}).checked()

    @answering
    def renamed(self, **names: str) -> Self:
        """The same load where states, or quantities of the surroundings, have other names than in its function.

        Two loads that bring the same states need it, such as torquers on two bodies, each commanded by itself.

        Parameters
        ----------
        **names : str
            By the name in the function the name in the system.

        Raises
        ------
        InvalidInput
            No identifier, or a name that the function does not have.

        Examples
        --------
        >>> from polhode import loads
        >>> left = loads.torquers([(1, 0, 0)]).renamed(dipole_command="left_command").on("left")
        >>> list(left.starts)
        ['left_command']
        """
        for old, new in names.items():
            identifier(new, f"name of {old} of {self.what} {self.name!r}")
            if old not in names_of(self.function) and old not in self.starts:
                raise InvalidInput(f"{self.described} has no state {old!r} and asks for none; its arguments are "
                                   f"{', '.join(names_of(self.function))}")  # fmt: skip
        starts = {names.get(name, name): one for name, one in self.starts.items()}
        return replace(self, starts=starts, reads={**self.reads, **names}).checked()

    @answering
    def until(self, at: object) -> Self:
        """The same load up to an event, or a time: a tether that breaks, a body that is released.

        All that it returns is multiplied by ``NAME_on``, 1 or 0, at an event a state, and its work is recorded, also
        that of a potential. Steps are cut there, so that every method keeps its order.

        Parameters
        ----------
        at : Event or float
            From ``polhode.events``, or a mapping of its arguments with a ``kind``, in runs forwards in time; or a time
            (s), as that of a burn.

        Raises
        ------
        InvalidInput
            An impulse, or a controller.

        Examples
        --------
        >>> import numpy as np
        >>> import polhode as ph
        >>> def cable(a, b, stiffness, length):
        ...     d = b.position - a.position
        ...     return 0.5 * stiffness * (np.sqrt(d @ d) - length) ** 2
        >>> def stretched(a, b, most):
        ...     d = b.position - a.position
        ...     return np.sqrt(d @ d) - most
        >>> breaks = ph.events.of(stretched, most=1.1, direction=1).on("a", "b")
        >>> pair = ph.system(ph.body("a", 2.0), ph.body("b", 1.0),
        ...                  ph.loads.of(cable, stiffness=50.0, length=1.0).on("a", "b").until(breaks))
        >>> ds = ph.integrate(pair, step=0.01, steps=50, start={"b": {"position": (1, 0, 0), "velocity": (1, 0, 0)}})
        >>> ds.event_kind.values, ds.cable_on.values[[0, -1]]
        (array(['cable_ends'], dtype=object), array([1., 0.]))
        """
        return self._when("until", at)

    @answering
    def after(self, at: object) -> Self:
        """The same load from an event, or a time, on; with ``until``, too, each time from the one to the other.

        Parameters
        ----------
        at : Event or float
            As of ``until``.

        Raises
        ------
        InvalidInput
            As ``until``.

        Examples
        --------
        >>> from polhode import events, loads
        >>> down, up = (events.node(one, body="craft") for one in ("descending", "ascending"))
        >>> list(loads.thrust((0.1, 0, 0)).on("craft").after(down).until(up).when)
        ['after', 'until']
        """
        return self._when("after", at)

    def _when(self, word: str, at: object) -> Self:
        if self.impulse is not None or self.what != "load":
            raise InvalidInput(f"{self.described} happens at single times, and has no {word}; give it to the load that "
                               "shall begin or end")  # fmt: skip
        return replace(self, when={**self.when, word: time_or_event(at, word)})

    def switched(self, name: str, start: float, stop: float) -> Self:
        """The same load with a parameter that is 1 between two times."""
        return replace(self, switches={**self.switches, name: (start, stop)})

    def checked(self) -> Self:
        """Itself, if its names agree with the arguments of its function; else InvalidInput."""
        for name in (*self.parameters, *self.starts, *self.own):
            if name in self.reserved:
                raise InvalidInput(
                    f"{self.what} {self.name!r} has a parameter {name!r}, a name that is taken; call it otherwise"
                )
        both = set(self.parameters) & set(self.starts)
        if both:
            raise InvalidInput(f"{self.what} {self.name!r} has {sorted(both)[0]!r} as parameter and as state; keep one")
        places = self.takes
        for name in self.parameters:
            if name not in names_of(self.function):
                raise InvalidInput(f"{self.described} has no argument {name!r}; its arguments are "
                                   f"{', '.join(names_of(self.function))}")  # fmt: skip
        if self.of_pairs and len(places) < 2:
            raise InvalidInput(f"{self.described} is on all pairs, but takes one body; it must take two")
        among = self.kind == "gravitation"  # each other, however many they are
        if among and len(self.bodies) == 1 and not self.of_pairs:
            raise InvalidInput(f"{self.described} is the attraction of bodies on each other, but is on "
                               f"{self.bodies[0]!r} alone; name two or more, or none for all")  # fmt: skip
        if self.bodies and not (self.of_pairs or among) and len(self.bodies) > len(places):
            raise InvalidInput(f"{self.described} takes {len(places)} bodies, but is on {', '.join(self.bodies)}")
        return self

    @property
    def of_pairs(self) -> bool:
        """Whether it is on every two bodies."""
        return self.bodies == (PAIRS,)

    @property
    def takes(self) -> list[str]:
        """Arguments of its function of which nothing is known yet: bodies, then what the system gives by name."""
        known = {"t", *self.parameters, *self.starts, *self.reads}
        return [name for name in names_of(self.function) if name not in known]

    @property
    def form(self) -> tuple[Any, ...]:
        """What else than function, names and shapes its program depends on."""
        return self.returns, tuple(self.reads.items()), self.books, self.gate

    @cached_property
    def bare(self) -> tuple[Any, ...] | None:
        """What sums depend on of a load of polhode's own but its parameters; None where it has more than these."""
        told = self.impulse or self.made or self.valves or self.gate or self.starts or self.own or self.reads
        if told or self.switches or self.flagged or self.watches or self.when or self.of_pairs or not self.shipped:
            return None
        stays = type(self) is Load and self.function.__closure__ is None  # it is no user's, nor calls one
        return (self.function, self.name, self.kind, self.bodies, self.returns, self.books) if stays else None

    @property
    def but_numbers(self) -> tuple[Any, ...] | None:
        """The same with the shapes of its parameters."""
        if self.recorded or self.bare is None:
            return None
        return self.bare, *[(name, len(one) if isinstance(one, Table) else one.shape)
                            for name, one in self.parameters.items()]  # fmt: skip

    @property
    def arguments(self) -> dict[str, Any]:
        """What it is made from again, in JSON types, but for the record of a function of the user's."""
        kind, given = self.kind or self.returns, self.parameters if self.recorded is None else self.recorded
        found: dict[str, Any] = {"kind": kind} if kind else {}
        found |= {name: value if isinstance(value, Mapping) else plain(value) for name, value in given.items()}
        found |= {"each": {name: plain(value) for name, value in self.own.items()}} if self.own else {}
        found |= {word: getattr(one, "arguments", one) for word, one in self.when.items()}
        found |= ({"renamed": dict(self.reads)} if self.reads else {}) | ({"on": [*self.bodies]} if self.bodies else {})
        return found | ({"states": {name: plain(one) for name, one in self.starts.items()}} if self.starts else {})

    def __repr__(self) -> str:
        inside = [f"{name}={shown(value)}" for name, value in {**self.arguments, **self.when}.items()
                  if name != "on" and (name, value) not in (("kind", self.name), ("kind", self.what))]  # fmt: skip
        there = f".on({', '.join(map(repr, self.bodies))})" if self.bodies else ""
        return f"{self.what} {self.name}({', '.join(inside)}){there}"


def names_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the arguments of a function."""
    code = getattr(function, "__code__", None)
    if isinstance(code, CodeType) and not vars(function) and not code.co_flags & (CO_VARARGS | CO_VARKEYWORDS):
        return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return tuple(signature(function).parameters)


def around(acting: Callable[..., Any], act: Callable[..., Any]) -> Callable[..., Any]:
    """A function ``acting(body, ..., **given)`` that is also given what another function of a body takes, by name."""
    (body, *own), (_, *others) = (signature(one).parameters.values() for one in (acting, act))
    named = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in (*others, *own[:-1])]
    acting.__signature__ = Signature([body, *named])  # type: ignore[attr-defined]
    return acting


def bodies_of(given: object) -> tuple[str, ...]:
    """Names of bodies, or one, as an argument ``on``."""
    named = (given,) if isinstance(given, str) else given
    if not isinstance(named, list | tuple) or not all(isinstance(one, str) for one in named):
        raise InvalidInput(f"on must be names of bodies, such as ('a', 'b'), not {shown(given)}")
    return tuple(named)


def time_or_event(at: object, name: str) -> Any:
    """A time, or an event or its record, from an argument of this name."""
    described = isinstance(at, Mapping) and isinstance(at.get("kind"), str)
    return at if described or "watches" in getattr(type(at), "__dataclass_fields__", ()) else number(at, name, "s")


def made(act: Callable[..., Any], kind: str, recorded: Mapping[str, Any] | None = None, /, **parameters: Any) -> Load:
    """A load of polhode's own."""
    load = object.__new__(Load)  # what is the same in all of the kind is made once
    load.__dict__.update(_of_kind(act, kind), parameters=as_numbers(parameters), recorded=recorded)
    return load


@lru_cache
def _of_kind(act: Callable[..., Any], kind: str) -> dict[str, Any]:
    load = Load(act, kind, kind=kind)
    return {**load.__dict__, "bare": load.bare}


def numbers_of(parameters: Mapping[str, Any], whose: str) -> dict[str, Any]:
    """The numbers of a load as arrays."""
    return {key: array(value, f"{key} of {whose}", UNKNOWN) for key, value in parameters.items()}


def of_user(act: Callable[..., Any], parameters: Mapping[str, Any], returns: str = "", make: type[Load] = Load) -> Load:
    """A load of the user's own."""
    what = make.what
    if not isinstance(function(act, f"function of a {what}"), FunctionType):
        raise InvalidInput(f"a {what} is a plain Python function, not {shown(act)}")
    name = act.__name__ if act.__name__.isidentifier() else what
    return make(act, name, numbers_of(parameters, f"{what} {name!r}"), returns=returns).checked()


@answering
def of(function: Callable[..., Any], **parameters: ArrayLike) -> Load:
    """A load of your own.

    Parameters
    ----------
    function : function
        Its first arguments are the bodies it is on; the others are found by name: ``t`` (s), a parameter, a state. It
        returns a number, its potential (J); or a mapping of ``"force"`` (N, space) and ``"torque"`` (N m, about the
        centre of mass, body axes), 3 numbers for each body, one row a body if there are several, and of names of
        states to their rates. A mapping with ``"potential"``, too, is that of a potential whose force and torque you
        have in a shorter form than their derivation; ``"potential_rate"`` is its slope in time. They are compared with
        what is derived.

        A body has ``position``, ``velocity`` (space), ``attitude`` (quaternion w, x, y, z, body to space),
        ``angular_velocity`` (body axes), ``mass``, ``inertia`` (3 x 3, body axes); ``point(x)`` is the place in space
        of a point x of its axes, ``in_space(v)`` and ``in_body(v)`` turn a vector.
    **parameters : float or array_like
        Its numbers by name, in SI unless all else is in other units.

    Returns
    -------
    Load
        On every body in turn; say ``.on("a", "b")`` otherwise.

    Raises
    ------
    InvalidInput
        No plain function, a parameter that it does not take, or no numbers.

    See Also
    --------
    acceleration : of a function that returns an acceleration.

    Examples
    --------
    >>> import polhode as ph
    >>> def spring(body, stiffness):
    ...     return 0.5 * stiffness * body.position @ body.position
    >>> bead = ph.system(ph.body("bead", 2.0), ph.loads.of(spring, stiffness=8.0))
    >>> ds = ph.integrate(bead, step=0.01, t_end=1.0, position=(0.1, 0, 0))
    >>> round(float(ds.position[-1, 0]), 4)
    -0.0416
    """
    return of_user(function, parameters)


@answering
def acceleration(function: Callable[..., Any], **parameters: ArrayLike) -> Load:
    """A load of your own that is an acceleration: what acts on the body is its mass times that.

    Parameters
    ----------
    function : function
        As of ``of``; it returns the 3 numbers of an acceleration (m/s2, space).
    **parameters : float or array_like
        Its numbers by name.

    Raises
    ------
    InvalidInput
        As ``of``.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> def wind(body, t, strength):
    ...     return strength * np.cos(t) * np.array([1.0, 0.0, 0.0])
    >>> leaf = ph.system(ph.body("leaf", 0.01), ph.loads.acceleration(wind, strength=1e-3))
    >>> round(float(ph.integrate(leaf, step=0.01, t_end=1.0).velocity[-1, 0]), 6)
    0.000841
    """
    return of_user(function, parameters, "acceleration")
