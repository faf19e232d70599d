"""Quantities of the surroundings in a sum: read from what a user gives, and traced once for each body that asks; and
where they jump or kink, so that runs cut their steps there: the edges of shadows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from polhode.arguments import mapping, text
from polhode.arguments.recorded import called
from polhode.errors import InvalidInput, UserFunctionError, shown, unknown_name
from polhode.loads import Load
from polhode.programs.graph import Graph
from polhode.programs.trace import flat, shape_of
from polhode.programs.tracer import Traced, Tracer, array_of, row_of
from polhode.surroundings import SURROUNDINGS, Surrounding
from polhode.surroundings.paths import Ephemeris, path
from polhode.surroundings.surrounding import OWN, Table, of
from polhode.systems.event_record import Watch
from polhode.systems.summands import Shape, Sum, Summand


def surroundings_of(given: object) -> list[Surrounding]:
    """The argument ``surroundings`` of a system: by name what ``polhode.surroundings`` makes, or a record of it."""
    return [surrounding_of(name, one) for name, one in mapping({} if given is None else given, "surroundings").items()]


def surrounding_of(name: str, given: object) -> Surrounding:
    """One of them; an ephemeris is the path by it."""
    given = path(ephemeris=given) if isinstance(given, Ephemeris) else given
    if isinstance(given, Surrounding):
        return given.named(name)
    if callable(given):
        raise InvalidInput(f"surroundings {name!r} is the function {shown(given)}; make a quantity of it: "
                           "polhode.surroundings.of(...)")  # fmt: skip
    if not isinstance(given, Mapping):
        raise InvalidInput(f"surroundings {name!r} must be made by polhode.surroundings, or be a mapping of its "
                           f"arguments with a kind, not {shown(given)}")  # fmt: skip
    told = dict(given)
    kind = text(told.pop("kind", ""), f"kind of surroundings {name!r}")
    if kind in SURROUNDINGS:
        return called(SURROUNDINGS[kind], told).named(name)
    if kind != OWN:
        raise unknown_name(f"kind of surroundings {name!r}", kind, SURROUNDINGS)
    function = told.pop("function", None)
    if not callable(function):
        raise InvalidInput(f"surroundings {name!r} is a function of yours, which no record keeps; hand it in again: "
                           f"{name}=...")  # fmt: skip
    return of(function, **told).named(name)


class Around:
    """The quantities of a sum around its bodies, each traced once for a body."""

    def __init__(self, g: Graph, quantities: tuple[Summand, ...]) -> None:
        self.g = g
        self.quantities = {one.load.name: one for one in quantities}
        self.known: dict[tuple[str, int], Any] = {}
        self.asking: list[str] = []

    def at(self, name: str, i: int, rows: Callable[..., Mapping[str, list[int]]]) -> Traced | Tracer:
        """A quantity around body i; ``rows`` traces a function on bodies, reading what it returns by another."""
        if (name, i) not in self.known:
            if name in self.asking:
                asked = " asks for ".join(map(repr, [*self.asking[self.asking.index(name) :], name]))
                raise InvalidInput(f"surroundings go in a circle: {asked}; give one of them without the next")
            self.asking.append(name)
            try:
                one, shapes = self.quantities[name], list[Shape]()

                def read(result: object) -> list[tuple[str, list[int]]]:
                    shape = shape_of(result)
                    if shape is None:
                        raise UserFunctionError(f"{one.load.described} returns no numbers; it must return a number or "
                                                "an array")  # fmt: skip
                    shapes[:] = [shape]
                    return [("", [row_of(self.g, x) for x in flat(result)])]

                found = [Tracer(self.g, a) for a in rows(one, (i,), read)[""]]
                self.known[name, i] = array_of(found).reshape(shapes[0]) if shapes[0] else found[0]
            finally:
                self.asking.pop()
        return self.known[name, i]


def places(parameters: Mapping[str, Any], first: int) -> tuple[dict[str, tuple[int, Shape]], list[float]]:
    """Where numbers stand among the parameters that have so many already, and they one after another."""
    found: dict[str, tuple[int, Shape]] = {}
    numbers: list[float] = []
    for key, value in parameters.items():
        table = isinstance(value, Table)
        found[key] = (first + len(numbers), (len(value),) if table else value.shape)
        numbers += value if table else value.ravel().tolist()
    return found, numbers


def value(body, edge):
    """The value of a function of a body."""
    return edge


def edges_of(sum: Sum) -> tuple[Watch, ...]:
    """The edges around all bodies."""
    found = []
    for one in sum.around:
        quantity = one.load
        assert isinstance(quantity, Surrounding)
        for k, (_, flag) in enumerate(quantity.edges):
            first, reads = one.each[flag][0] if flag else -1, {"edge": quantity.name_of_edge(k)}
            loads = (Load(value, "edge", bodies=(body,), kind="edge", reads=reads) for body in sum.names)
            found += [Watch(cuts=True, flag=first + i if flag else -1, of=load) for i, load in enumerate(loads)]
    return tuple(found)
