"""Potentials of every two bodies: plain functions in the SIMD pass over pairs (``kernel.pairs``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InvalidInput
from polhode.kernel import jit, layout as L
from polhode.kernel.jit import inlined
from polhode.kernel.pairs import ONE_BY_ONE, ROW, WIDTH, bound
from polhode.loads import Load
from polhode.programs import derive
from polhode.programs.dynamics import Dynamics
from polhode.programs.factor import factored, of_unit_sums
from polhode.programs.graph import Graph
from polhode.programs.of_two import Each, OfTwo
from polhode.programs.opaque import called_in
from polhode.programs.primitives import PRIMITIVES
from polhode.programs.roles import of_each, of_flat_memory
from polhode.programs.text import HEAD, HEAD_OF_LANES, PAIRS, Lines
from polhode.programs.written import module_of
from polhode.systems.conserved import Acting, conserved
from polhode.systems.loads_roles import roles_of_both
from polhode.systems.molecules import edges_of, thermodynamics, within_of
from polhode.systems.record import System
from polhode.systems.seen import OFFERED, Seen
from polhode.systems.summands import OPEN, Shape, Structure, Sum, Within
from polhode.systems.tracing import Tracing

DATA = 3  # numbers of a body before its data: its position
MOST_IN_FULL = 64  # most bodies all pairs of which are a program
MOST_IN_LANES = 700  # most numbers of all bodies in the pass, above which lanes are slower than neighbours and threads
FEW = 3  # most data that turn with a body whose slopes are summed over the pairs; of more, torques are
IMPORTS = (
    f"{HEAD_OF_LANES}from polhode.kernel.pairs import gathered, switched\n"
    "from polhode.kernel.simd import reciprocal_roots\n"
)
IMPORTS_OF_ONE = f"{HEAD}from polhode.kernel.pairs import " + ", ".join(
    f"{name}_of_one as {other}"
    for name, other in (("gathered",) * 2, ("switched",) * 2, ("root", "reciprocal_roots"), ("where",) * 2)
)
IMPORTS_OF_BODIES = (
    f"{HEAD}from polhode.algebra.quaternion import rotate_inverse\nfrom polhode.kernel.access import get4\n"
)


class Pairs(NamedTuple):
    """The roles of loads on pairs."""

    loads: Callable[..., Any]  # loads, potential, serve: as of a system
    potential: Callable[..., Any]
    serve: Callable[..., Any]
    width: int  # numbers of a body in the pass

    def beside(self, loads: Callable[..., Any], potential: Callable[..., Any] | None) -> tuple[Any, Any]:
        """Loads and potential with those of others, which add their loads."""
        return roles_of_both(False, self.loads, self.potential, loads, potential)


def _outputs(two: OfTwo, alike: bool) -> tuple[list[int], list[int], bool]:
    """Rows of a pair in the order of ``kernel.pairs``; the data that turn; whether their slopes are summed."""
    h, V = two.graph, two.potential
    S, slope, d = h.input("S"), h.input("slope"), h.inputs("r", 3)
    turning = two.turning
    leaves = [*d, *(h.input(f"{body}{k}") for body in "ab" for k in turning)]
    if derive.chooses(h, V):
        slopes = [derive.forward(h, [V], {a: h.const(1.0)})[0] for a in leaves]
    else:
        slopes = derive.backward(h, V, leaves)
    at_edge = h.mul(slope, V)
    force = [h.sum((h.mul(S, a), -1.0), (h.mul(at_edge, x), 1.0)) for a, x in zip(slopes[:3], d, strict=True)]
    sides = slopes[3 : 3 + len(turning)], slopes[3 + len(turning) :]
    few = len(turning) <= FEW
    twists = list[list[int]]()
    for body, side, sign in zip("ab", sides, (1.0, -1.0), strict=True):
        if alike and twists and not few:
            rows = [h.sum((a, 1.0), (h.mul(d[j - 2], force[j - 1]), 1.0), (h.mul(d[j - 1], force[j - 2]), -1.0))
                    for j, a in enumerate(twists[0])]  # fmt: skip
        elif few:
            rows = [h.sum((h.mul(S, a), sign)) for a in side] + [h.const(0.0)] * (FEW - len(turning))
        else:
            changes = [two.turned(k) for k in turning]
            rows = [
                h.mul(S, h.sum(*((h.mul(a, h.input(f"{body}{n}")), -sign * f)
                                 for a, change in zip(side, changes, strict=True) for n, f in change[j])))
                for j in range(3)
            ]  # fmt: skip
        twists.append(rows)
    virial = h.sum(*((h.mul(f, x), 1.0) for f, x in zip(force, d, strict=True)))
    return [*force, h.mul(S, V), *twists[0], virial, *twists[1]], turning, few


def pairs_of(two: OfTwo, alike: bool) -> Pairs:
    """The roles of the program of two bodies, whose potential may be ``alike`` in all directions of space."""
    outputs, turning, few = _outputs(two, alike)
    changes = [two.turned(k) for k in turning]
    read = {int(name[1:]) for name in two.graph.names(outputs) if name[0] == "b"}
    order = sorted(range(len(two.data)), key=lambda k: k not in read)
    at = {k: DATA + n for n, k in enumerate(order)}
    twist = [f"c[sums + {j}]" for j in range(3)]
    if few:
        terms = [[f"c[sums + {n}] * {-f} * c[at + {at[k]}]" for n, change in enumerate(changes) for k, f in change[j]]
                 for j in range(3)]  # fmt: skip
        twist = [" + ".join(one) or "0.0" for one in terms]
    turned = ["def turned(i, at, sums, y, c):", f"q = get4(y, {L.BODY} * i + {L.ATTITUDE})",
              f"return rotate_inverse(q, ({', '.join(twist)}))"]  # fmt: skip
    own = module_of("\n\n".join(["\n    ".join(one) + "\n" for one in (_pack(two, at), turned)]), IMPORTS_OF_BODIES)
    plain = of_unit_sums(two.graph, outputs)
    both = plain, factored(two.graph, plain)
    lines = min((_pair(two, rows, at, len(read)) for rows in both), key=len)
    pair, of_one = (module_of("\n    ".join(lines) + "\n", head).pair for head in (IMPORTS, IMPORTS_OF_ONE))
    roles = bound(*map(inlined, (own.pack, pair, own.turned, of_one)))
    return Pairs(*roles, -(-(DATA + len(order)) // 4) * 4)


def _pair(two: OfTwo, outputs: Sequence[int], at: Mapping[int, int], read: int) -> list[str]:
    """Lines of ``pair``, which reads so many data of the others; roots first, as processors look ahead over few."""
    h, d = two.graph, two.graph.inputs("r", 3)
    square = h.sum(*((h.mul(x, x), 1.0) for x in d))
    powers = [one for a in h.needed(outputs) if h.rows[a][0] == "mul" for one in h.rows[a][1]]
    squares = list(dict.fromkeys([square, *(b for b, e in powers if e < 0.0 and e % 1.0 == 0.5)]))
    rows = [*squares, h.power(square, -0.5), *outputs]
    given = {"r0": "x", "r1": "y", "r2": "z", "S": "S", "slope": "slope"}
    given |= {f"a{k}": f"c[a + {n}]" for k, n in at.items()} | {f"b{k}": f"d{n}" for k, n in at.items()}
    given |= {name: f"c[{name[1:]}]" for name in h.names(rows) if name[0] == "p"}
    body = Lines(h, rows, given, PAIRS, at_once=False)
    needed = h.needed(rows)
    given_rows = {a for a in needed if h.rows[a][0] == "in" or {n[0] for n in h.names([a])} <= set("ap")}
    body.write_in_turn(h.needed(squares), given_rows)
    body.prepare({b: {-0.5} for b in squares})
    body.write([root := h.power(square, -0.5)])
    square_name, inverse = body.names[square], body.names[root]
    body.lines.append(f"S, slope = switched({inverse} * {square_name}, {inverse}, left, c)")
    last = dict.fromkeys(needed, 0)
    for a in needed:
        last[a] = max([squares.index(a) if a in squares else 0, *(last[b] for b in h.arguments(a))])
    body.write_in_turn(sorted(needed, key=lambda a: last[a]), given_rows)
    lines = ["def pair(a, b, d, left, c):", "x, y, z, d3 = d"]
    for n in range(4, DATA + read, 4):
        lines.append(f"{', '.join(f'd{n + k}' for k in range(4))} = gathered(c, b, {n})")
    results = [f"{body.names[a]} + 0.0 * x" if h.value(a) is not None else body.names[a] for a in outputs]
    return [*lines, *body.lines, f"return ({', '.join(results)})"]


def _pack(two: OfTwo, at: Mapping[int, int]) -> list[str]:
    """Lines of ``pack``."""

    def slot(array: str, k: int) -> str:
        if array in ("y", "bodies"):
            return of_each(array, k)
        own = next((one for one in two.own if 0 <= k - one.first < one.size), None)
        return f"c[{k}]" if own is None else f"c[{own.first} + {own.size} * i + {k - own.first}]"

    rows = factored(two.g, [two.data[k] for k in at])
    lines, given = of_flat_memory(two.g.names(rows), 1, slot)
    body = Lines(two.g, rows, given)
    stores = [f"c[at + {k}] = y[{L.BODY} * i + {L.POSITION + k}]" for k in range(3)]
    stores += [f"c[at + {n}] = {body.names[a]}" for n, a in zip(at.values(), rows, strict=True)]
    return ["def pack(i, at, N, y, bodies, c):", *lines, *body.lines, *stores]


def one_by_one(system: System) -> Callable[..., Any] | None:
    """The loads of a system of pairs, pair after pair, for kernels of several members; None where there are none such,
    or too many for these to be quicker than threads."""
    loads, p = ONE_BY_ONE.get(system.loads), system.parameters
    if loads is None or system.N > MOST_IN_FULL or system.N * p[WIDTH] > MOST_IN_LANES:
        return None
    return _placed(loads, len(p), int(p[WIDTH]))


def memory_one_by_one(system: System) -> int:
    """How many numbers they need behind the parameters."""
    return (int(system.parameters[WIDTH]) + ROW) * system.N


@lru_cache(jit.KEPT_KERNELS)
def _placed(loads: Callable[..., Any], data: int, width: int) -> Callable[..., Any]:
    return loads(DATA=data, WIDE=width)  # type: ignore[no-any-return]


def measured(system: System, structure: Structure) -> System:
    """The system with temperatures and pressure, where it is in a box and all loads are in the pass."""
    if structure.pairs is None or structure.table or system.box is None:
        return system
    return replace(system, quantities=thermodynamics(lambda: system))


def within_of_loads(loads: Sequence[Load], box: object, cutoff: object, switch: object, skin: object) -> Within:
    """Box and cut-off of loads on pairs."""
    if not any(load.of_pairs for load in loads):
        for name, value in (("box", box), ("cutoff", cutoff), ("switch", switch), ("skin", skin)):
            if value is not None:
                raise InvalidInput(
                    f"{name} is given, but no load is on polhode.pairs, to which it belongs; leave it out"
                )
        return OPEN
    return within_of(edges_of(box), cutoff, switch, skin)


def numbers_of_each(load: Load, N: int, first: int) -> tuple[dict[str, tuple[int, Shape]], list[float]]:
    """Where the numbers of a load stand of which each body has its own, from an index on, and these."""
    places: dict[str, tuple[int, Shape]] = {}
    numbers: list[float] = []
    for name, value in load.own.items():
        if len(value) != N:
            raise InvalidInput(f"load {load.name!r} has {name} for {len(value)} bodies, but there are {N}")
        if hasattr(Seen, name) or name in OFFERED:
            raise InvalidInput(f"load {load.name!r} gives each body {name!r}, which a body has; call it otherwise")
        places[name] = (first + len(numbers), np.shape(value)[1:])
        numbers += np.ravel(value).tolist()
    return places, numbers


@dataclass(frozen=True, eq=False)
class OfPass:
    """The program of N bodies with loads in the pass: the reason why there is none, but in full."""

    N: int
    _sum: Sum

    def __call__(self, part: int) -> Dynamics:
        reason = (
            f"its loads on all pairs of {self.N} bodies are a pass over neighbours; Taylor series are of "
            f"{MOST_IN_FULL} at most, without works and states"
        )
        if self._sum.within.cutoff:
            reason = (
                "its loads on pairs are a pass over neighbours within a cut-off: these change along the way, each "
                "member's of their own, and only four derivatives are continuous there, so that no series crosses it"
            )
        return Dynamics(Graph(), self.N, reason=reason)

    @cached_property
    def in_full(self) -> Dynamics:
        """The program of all pairs, of bodies that are few and see each other from anywhere."""
        sum = self._sum
        if sum.within.cutoff or self.N > MOST_IN_FULL:
            return self(L.ALL)
        on = tuple(combinations(range(self.N), 2))
        tracing = Tracing(replace(sum, summands=tuple(replace(one, on=one.on or on) for one in sum.summands)))
        fixed, total = tracing.traced(), tracing.total
        if tracing.work or sum.states or sum.registers:
            return self(L.ALL)
        return Dynamics(total.graph, self.N, tuple(total.force), tuple(total.torque), fixed=fixed)


def of_two(sum: Sum) -> tuple[Tracing, Mapping[str, float], bool]:
    """What the loads on pairs come to on the first two bodies, the parameters that they decide by, and whether the
    potential is alike in all directions of space."""
    first = sum.of_pairs[0].load
    if not sum.of_one_kind:
        raise InvalidInput(f"{first.described} is on all pairs, whose bodies must be of one kind: all rigid bodies or "
                           "all points, none pinned, without wheels; name the bodies it is on with .on")  # fmt: skip
    two = replace(sum.of((0, 1), [replace(one, on=((0, 1),)) for one in sum.of_pairs]), turned=(any(sum.turned),) * 2)
    whole = Tracing(two)
    fixed = whole.traced()
    if whole.named:
        raise InvalidInput(f"{first.described} is on all pairs and reads the names of bodies; give each body a number "
                           "by .each")  # fmt: skip
    rows = [whole.g.rows[a] for a in whole.g.needed([whole.level])]
    if called_in(whole.g, [whole.level]) or any(row[0] == "fun" and row[1] in PRIMITIVES for row in rows):
        raise InvalidInput(f"{first.described} is on all pairs and looks up a table or calls a kernel; write it with "
                           "numbers, arrays and numpy")  # fmt: skip
    for word, name in (("t", "time"), ("v", "velocity"), ("m", "angular velocity"), ("aux", "states")):
        if any(one.rstrip("0123456789") == word for one in whole.g.names([whole.level])):
            raise InvalidInput(f"{first.described} is on all pairs and reads the {name}; it may read the bodies and "
                               "its parameters")  # fmt: skip
    if {*whole.acting} - {L.POTENTIAL_PART}:
        raise InvalidInput(f"{first.described} is on all pairs and must return one number, a potential")
    kept = conserved(two.moves, [whole.total], two.parameters, fixed)
    if "total_momentum" not in kept:
        raise InvalidInput(f"{first.described} is on all pairs and depends on where they are in space; it may depend "
                           "on b.position - a.position")  # fmt: skip
    return whole, fixed, "total_angular_momentum" in kept


def acting_on_pairs(sum: Sum) -> tuple[Pairs, Acting, dict[str, float]]:
    """Roles of loads on pairs; the loads on a ring of bodies; the parameters that they decide by."""
    whole, fixed, alike = of_two(sum)
    g = whole.g
    (level,) = g.rebuilt([whole.level], inputs={g.input(f"r{k}"): g.const(0.0) for k in (3, 4, 5)})
    own = [Each(at, int(np.prod(shape))) for one in sum.of_pairs for at, shape in one.each.values()]
    N = len(sum.names)
    ring = np.array([(i, (i + 1) % N) for i in range(N)] if N > 2 else [(0, 1)])
    places = {f"p{one.first + one.size * n + j}": one.first + one.size * ring[:, n] + j
              for one in own for n in range(2) for j in range(one.size)}  # fmt: skip
    return pairs_of(OfTwo(g, level, own), alike), whole.total._replace(on=ring, places=places), dict(fixed)
