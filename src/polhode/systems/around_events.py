"""Where quantities of the surroundings jump or kink, so that runs cut their steps there: the edges of shadows."""

from __future__ import annotations

from polhode.loads import Load
from polhode.surroundings import Surrounding
from polhode.systems.event_record import Watch
from polhode.systems.summands import Sum


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
