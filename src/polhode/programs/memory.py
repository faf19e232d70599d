"""What a role reads and writes while it is traced: state, constants of the bodies, parameters, loads.

A role is a plain Python function of flat memory (``kernel.layout``). Here each slot is an input of the program:

=================== =========================================================================== ======
t                   time
r{3i} r{3i+1} ...   position of body i, space frame                                             3
v{3i} ...           its velocity; the momentum is mass times velocity                           3
q{4i} ...           its attitude, with the rows q_u{3i} ..., q_v{3i} ..., q_w{3i} ... of R(q)   4
m{3i} ...           its angular momentum, principal body frame                                  3
mass{i}             its mass
I{3i} ... j{3i} ... its principal moments, and their inverses                                   3
f{4i} ...           quaternion from its principal frame to the user's body frame                4
aux{k}              auxiliary variable k
p{k}                parameter k of the system
=================== =========================================================================== ======
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

from polhode.arguments import Array
from polhode.kernel import layout as L
from polhode.programs.attitude import Attitude, attitude
from polhode.programs.graph import Graph
from polhode.programs.tracer import NotTraceable, Traced, Tracer, array_of, row_of

LATER = "it keeps numbers from call to call, behind its parameters"


def _sliced(memory: Parameters, piece: slice) -> Traced:
    return array_of([memory[k] for k in range(*piece.indices(len(memory)))])


class State:
    """The state of N bodies, and auxiliary variables."""

    def __init__(self, g: Graph, N: int) -> None:
        self.g, self.N = g, N

    def __getitem__(self, k: int) -> Tracer:
        g, (i, slot) = self.g, divmod(k, L.BODY)
        if i >= self.N:
            return Tracer(g, g.input(f"aux{k - L.BODY * self.N}"))
        if slot < L.MOMENTUM:
            return Tracer(g, g.input(f"r{3 * i + slot}"))
        if slot < L.ATTITUDE:
            return Tracer(g, g.mul(g.input(f"mass{i}"), g.input(f"v{3 * i + slot - L.MOMENTUM}")))
        if slot < L.ANGULAR:
            return Tracer(g, g.input(f"q{4 * i + slot - L.ATTITUDE}"))
        return Tracer(g, g.input(f"m{3 * i + slot - L.ANGULAR}"))

    def attitude(self, i: int) -> Attitude:
        """The attitude of body i."""
        return attitude(self.g, "q", body=i)


class Bodies:
    """Constants of N bodies. ``turns``: about which axes each of them turns, N times 3."""

    def __init__(self, g: Graph, N: int, turns: Sequence[Sequence[bool]]) -> None:
        self.g, self.N, self.turns = g, N, turns

    def __getitem__(self, k: int) -> Tracer:
        g = self.g
        if k >= L.CONSTANTS * self.N:
            return Tracer(g, g.input(f"f{k - L.CONSTANTS * self.N}"))
        i, slot = divmod(k, L.CONSTANTS)
        if slot == L.MASS:
            return Tracer(g, g.input(f"mass{i}"))
        if slot == L.INVERSE_MASS:
            return Tracer(g, g.power(g.input(f"mass{i}"), -1.0))
        if slot < L.INVERSE_MASS:
            return Tracer(g, g.input(f"I{3 * i + slot - L.INERTIA}"))
        return Tracer(g, g.input(f"j{3 * i + slot - L.INVERSE_INERTIA}"))


class Parameters:
    """The first ``count`` parameters."""

    def __init__(self, g: Graph, count: int) -> None:
        self.g, self.count = g, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, k: int | slice | Tracer) -> Tracer | Traced:
        if isinstance(k, slice):
            return _sliced(self, k)
        if isinstance(k, Tracer):
            known = known_index(k)
            if known is None:
                return Tracer(self.g, self.g.fun("entry", k.row))
            k = known
        if not 0 <= k < self.count:
            raise NotTraceable(f"it reads parameter {int(k)}, but there are {self.count}")
        return Tracer(self.g, self.g.input(f"p{int(k)}"))

    def __setitem__(self, k: object, value: object) -> None:
        raise NotTraceable(LATER)


class Rows(NamedTuple):
    """Parameters that are read by their index, and that of the first."""

    p: Parameters
    at: int


class Values(Mapping[str, float]):
    """Values of parameters by the names of their inputs, but of those that are ``changing``; read when asked for."""

    def __init__(self, parameters: Array, changing: Collection[int]) -> None:
        self.parameters, self.changing = parameters, changing

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name[:1] == "p" and name[1:].isdigit() and self._has(int(name[1:]))

    def _has(self, k: int) -> bool:
        return k < len(self.parameters) and k not in self.changing

    def __getitem__(self, name: str) -> float:
        if name not in self:
            raise KeyError(name)
        return float(self.parameters[int(name[1:])])

    def __iter__(self) -> Iterator[str]:
        return (f"p{k}" for k in range(len(self.parameters)) if self._has(k))

    def __len__(self) -> int:
        return len(self.parameters)


class Written(dict[int, Any]):
    """What a role writes to; nothing is there before."""

    def __missing__(self, k: int) -> float:
        raise NotTraceable("it reads loads that it has not written")


# ------------------------------------------------------------------ stand-ins of kernels
def get4(y: Any, k: int) -> Any:
    """Four numbers; an attitude of the state with the rows of its matrix."""
    if isinstance(y, State) and k % L.BODY == L.ATTITUDE:
        return y.attitude(k // L.BODY)
    return (y[k], y[k + 1], y[k + 2], y[k + 3])


def view(pointer: Parameters, length: int) -> Traced:
    """Parameters as an array."""
    return _sliced(pointer, slice(length))


def effective_torque(T: Iterable[Tracer | float], bodies: Bodies, i: int) -> tuple[Tracer | float, ...]:
    """A torque without its parts about axes that a body does not turn about."""
    return tuple(a if turns else 0.0 for a, turns in zip(T, bodies.turns[i], strict=True))


def known_index(k: Tracer) -> int | None:
    """The number of an index that depends on numbers only that may be constants; else None."""
    value = k.graph.exactly(k.row)
    return None if value is None else int(value)


def whole(x: object) -> Any:
    """A whole number for an index, where it is known."""
    known = known_index(x) if isinstance(x, Tracer) else None
    return x if known is None else known


def segment(p: Parameters, at: object, stride: int, count: Tracer | float, x: Tracer) -> Tracer | int:
    """A row of a table by what is looked up; the only one there is."""
    if not isinstance(count, Tracer) and count <= 1:
        return 0
    g = x.graph
    return Tracer(g, g.fun("segment", *(row_of(g, one) for one in (at, stride, count, x))))


def inside(x: Any, beyond: float) -> Tracer:
    """x where it lies between 0 and 1 or slightly beyond; nothing elsewhere."""
    g = x.graph
    return nan_if(Tracer(g, g.fun("less", g.mul((x + beyond).row, (1.0 + beyond - x).row), g.const(0.0))), x)


def nan_if(condition: Tracer, x: Tracer) -> Tracer:
    """Nothing where a condition holds, else x."""
    g = condition.graph
    return Tracer(g, g.fun("choose", condition.row, g.nan(), x.row))


MOST_TERMS, OF_SERIES = 4, 40
"""Most degrees of a sum that is traced, and of one for a Taylor series."""
most_terms = ContextVar("most_terms", default=MOST_TERMS)


def few(n: int) -> int:
    """A number of terms, if it is small."""
    if n > most_terms.get():
        raise NotTraceable(f"it sums terms to degree {n}, more than {most_terms.get()}")
    return n


STAND_INS = {
    ("polhode.kernel.access", "get4"): get4,
    ("polhode.kernel.access", "segment"): segment,
    ("polhode.kernel.access", "in_kernels"): few,
    ("polhode.kernel.access", "whole"): whole,
    ("polhode.kernel.access", "nan_if"): nan_if,
    ("polhode.kernel.access", "one_if"): lambda x: x if isinstance(x, Tracer) else float(x),
    ("polhode.kernel.jit", "_viewed"): view,
    ("polhode.kernel.jit", "_leading"): view,
    ("polhode.systems.loads_roles", "effective_torque"): effective_torque,
    ("polhode.surroundings.paths", "inside"): inside,
}
"""What a role calls in the place of functions of memory, by module and name."""
