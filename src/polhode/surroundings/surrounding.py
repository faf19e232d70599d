"""Quantities of the surroundings of a body, as functions of it: the density of the air, a field, the place of the Sun.

    def windy(body, t, speed):
        return [speed * np.cos(t), 0.0, 0.0]

    ph.system(..., surroundings={"wind": ph.surroundings.of(windy, speed=3.0)})

The first argument is the body; every other is found by its name: ``t``, a parameter, a state, another quantity.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from types import FunctionType
from typing import Any, ClassVar, Self

import numpy as np

from polhode.arguments import UNKNOWN, ArrayLike, array, function as callable_of, identifier
from polhode.arguments.recorded import frozen, made_by, plain
from polhode.errors import InvalidInput, answering, shown

RESERVED = ("t", "kind", "function", "name")  # names that no parameter of such a function can have


class Table(tuple[float, ...]):
    """Numbers that a function reads by their index: its argument has ``p`` and ``at``, they are ``p[at]``, ..."""


@dataclass(frozen=True)
class Acting:
    """A function of bodies that is a part of a system, with all that may be said of it; see ``polhode.loads.Load``."""

    function: Callable[..., Any]
    name: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    kind: str = ""
    recorded: Mapping[str, Any] | None = None
    bodies: tuple[str, ...] = ()
    returns: str = ""
    starts: Mapping[str, Any] = field(default_factory=dict)
    own: Mapping[str, Any] = field(default_factory=dict)
    reads: Mapping[str, str] = field(default_factory=dict)
    switches: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    flagged: tuple[Any, ...] = ()
    watches: tuple[Any, ...] = ()
    impulse: Any = None
    when: Mapping[str, Any] = field(default_factory=dict)
    gate: str = ""
    books: bool = True
    made: Any = None
    valves: Any = None
    what: ClassVar[str] = "surroundings"

    @property
    def shipped(self) -> bool:
        """Whether its function is one of polhode's, which no user changes."""
        return bool(self.kind) and str(self.function.__module__).startswith("polhode.")

    @property
    def described(self) -> str:
        """It for messages."""
        code = self.function.__code__
        where = f" ({code.co_filename.rsplit('/', 1)[-1]}:{code.co_firstlineno})"
        return f"{self.what} {self.name!r}" + (where if not self.shipped else "")


@dataclass(frozen=True)
class Surrounding(Acting):
    """A quantity of the surroundings of a body; made by ``polhode.surroundings.of`` and its like.

    Attributes
    ----------
    function : function
        Returns it, a number or an array, for a body.
    name : str
        Its name in the system, "" before a system gives it one.
    parameters : mapping
        The numbers that the function reads, by name; a ``Table`` by their index.
    kind : str
        The function of ``polhode.surroundings`` that makes it again, "" for one of the user's own.
    recorded : mapping or None
        What that function takes, in JSON types, where it is not the numbers themselves.
    edges : tuple of (function, str)
        Functions of a body, of the same arguments, at whose zeros it jumps or kinks; and of each a parameter, one for
        each body, that is 1 where it is positive and else 0, or "".
    """

    edges: tuple[tuple[Callable[..., Any], str], ...] = ()
    form: ClassVar[str] = ""

    def named(self, name: str) -> Surrounding:
        """The same under the name that functions ask for, which must not be taken."""
        if name in RESERVED:
            raise InvalidInput(f"surroundings have a quantity {name!r}, a name that is taken; call it otherwise")
        return replace(self, name=identifier(name, "name of a quantity of the surroundings"))

    def name_of_edge(self, k: int) -> str:
        """The name under which function k of its edges stands among the quantities; no user's is called so."""
        return f"{self.name} edge {k}"

    @property
    def arguments(self) -> dict[str, Any]:
        """What it is made from again, in JSON types, but for the record of a function of the user's."""
        given = self.parameters if self.recorded is None else self.recorded
        return {"kind": self.kind or OWN} | {name: plain(value) for name, value in given.items()}

    def __repr__(self) -> str:
        inside = [f"{name}={shown(value)}" for name, value in self.arguments.items() if name != "kind"]
        return f"surroundings {self.kind or self.function.__name__}({', '.join(inside)})"


OWN = "surroundings"  # kind, in records, of those whose function is the user's


def made(
    act: Callable[..., Any], kind: str, recorded: Mapping[str, Any] | None = None, **parameters: ArrayLike
) -> Surrounding:
    """A quantity of polhode's own."""
    return Surrounding(act, "", as_numbers(parameters), kind, recorded)


def as_numbers(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as arrays of floats, but tables as they are."""
    return {name: one if isinstance(one, Table) else np.asarray(one, dtype=float) for name, one in parameters.items()}


@answering
def of(function: Callable[..., Any], **parameters: ArrayLike) -> Surrounding:
    """A quantity of your own of the surroundings of a body.

    Parameters
    ----------
    function : function
        Its first argument is the body, see ``polhode.loads.of``; the others are found by name: ``t`` (s), a parameter,
        a state, another quantity of the surroundings. It returns a number or an array of numbers.
    **parameters : float or array_like
        Its numbers by name, in SI unless all else is in other units.

    Returns
    -------
    Surrounding
        For ``polhode.system(..., surroundings={"name": ...})``, where loads, controllers and events read it by that
        name.

    Raises
    ------
    InvalidInput
        No plain function, a parameter that it does not take, or no numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> def thin(body, density, scale):
    ...     return density * np.exp(-body.position[2] / scale)
    >>> air = ph.surroundings.of(thin, density=1.2, scale=8.5e3)
    >>> ball = ph.system(ph.body("ball", 0.06), ph.loads.weight(), ph.loads.drag(0.5, 0.004),
    ...                  surroundings={"air_density": air})
    >>> round(float(ph.integrate(ball, step=0.05, t_end=10.0, position=(0, 0, 1000)).velocity[-1, 2]), 2)
    -23.25
    """
    if not isinstance(callable_of(function, "function of surroundings"), FunctionType):
        raise InvalidInput(f"a quantity of the surroundings is a plain Python function, not {shown(function)}")
    named = f"surroundings {function.__name__!r}"
    known = list(inspect.signature(function).parameters)
    if not known:
        raise InvalidInput(f"{named} takes no argument; its first one is the body")
    for name in parameters:
        if name in RESERVED or name == known[0]:
            raise InvalidInput(f"{named} has a parameter {name!r}, a name that is taken; call it otherwise")
        if name not in known:
            raise InvalidInput(f"{named} has no argument {name!r}; its arguments are {', '.join(known)}")
    numbers = {key: array(value, f"{key} of {named}", UNKNOWN) for key, value in parameters.items()}
    return Surrounding(function, "", numbers)


@dataclass(frozen=True)
class AsMade:
    """What records repeat from the arguments, or the file, that it was made of: it knows whether it is still that."""

    _seal: str = field(default="", init=False, repr=False, compare=False)
    maker: ClassVar[str] = ""  # the function of ``polhode.surroundings`` that makes it

    def __post_init__(self) -> None:
        for name, value in [*vars(self).items()]:
            if name == "arguments" or isinstance(value, np.ndarray):
                object.__setattr__(self, name, frozen(value))

    def contents(self) -> str:
        """SHA-256 of all that it holds."""
        held = hashlib.sha256()
        for one in fields(self):
            value = getattr(self, one.name)
            if one.init:
                held.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
        return held.hexdigest()

    def sealed(self) -> Self:
        """Itself, as made now: what ``dataclasses.replace`` makes of it is not."""
        object.__setattr__(self, "_seal", self.contents())
        return self

    @property
    def as_made(self) -> bool:
        """Whether its maker would make it again."""
        return self._seal == self.contents()

    @classmethod
    def unchanged(cls, make: Callable[..., Self], given: object, name: str, remedy: str) -> Self:
        """One from the arguments of its maker, or as it is, if it is as it was made."""
        found: Self = made_by(make, cls, given, name, f"surroundings.{cls.maker}")
        if not found.as_made:
            raise InvalidInput(f"what polhode.surroundings.{cls.maker} made was changed since, so that a run with it "
                               f"could not be repeated; {remedy}")  # fmt: skip
        return found

    def __repr__(self) -> str:
        given: Mapping[str, Any] = getattr(self, "arguments", {})
        return f"{self.maker}({', '.join(f'{name}={value!r}' for name, value in given.items())})"
