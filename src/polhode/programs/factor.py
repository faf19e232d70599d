"""Fewer products: common factors taken out of sums, products of pairs of factors made once."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from polhode.programs.graph import Graph

Powers = tuple[tuple[int, float], ...]


def depending(g: Graph, rows: Iterable[int]) -> Callable[[int], bool]:
    """Whether a row, also one that is made later, depends on one of these."""
    known = dict.fromkeys(rows, True)

    def depends(a: int) -> bool:
        if a not in known:
            for b in g.needed([a]):
                if b not in known:
                    known[b] = any(known[c] for c in g.arguments(b))
        return known[a]

    return depends


def factored(
    g: Graph, outputs: Sequence[int], whole: bool = False, among: Callable[[int], bool] | None = None
) -> list[int]:
    """The outputs with common factors of the terms of sums taken out, those of most terms first."""

    def best_of(terms: list[tuple[Powers, float]]) -> tuple[int, float]:
        """The base that most terms share, with one sign of its exponents, and the least exponent; (-1, 0) if none."""
        found: dict[int, list[float]] = {}
        for product, _ in terms:
            for b, e in product:
                one = found.setdefault(b, [0.0, e, e])
                one[0] += 1.0
                one[1], one[2] = min(one[1], e), max(one[2], e)
        best, most = -1, (1.0, False, 0)
        for b, (count, least, largest) in found.items():
            if least * largest <= 0.0 or (whole and least < 0.0) or (among is not None and not among(b)):
                continue
            rank = (count, g.rows[b][0] != "in", b)
            if rank > most and count > 1:
                best, most = b, rank
        return (best, min(found[best][1:], key=abs)) if best >= 0 else (-1, 0.0)

    def taken(constant: float, terms: list[tuple[Powers, float]]) -> int:
        parts: list[tuple[int, float]] = []
        while len(terms) > 1:
            best, e = best_of(terms)
            if best < 0:
                break
            inside, rest = [], []
            for p, f in terms:
                if best in (b for b, _ in p):
                    left = tuple((b, x - e if b == best else x) for b, x in p if b != best or x != e)
                    inside.append((left, f))
                else:
                    rest.append((p, f))
            parts.append((g.mul(g.power(best, e), taken(0.0, inside)), 1.0))
            terms = rest
        parts += [(g.mul(*(g.power(b, e) for b, e in p)), f) for p, f in terms]
        return g.sum((g.const(constant), 1.0), *parts) if constant or len(parts) > 1 else g.sum(*parts)

    def sums(constant: float, terms: list[tuple[int, float]]) -> int:
        split = []
        for b, f in terms:
            factor, product = g.as_product(b)
            split.append((product, f * factor))
        return taken(constant, split)

    return g.rebuilt(outputs, sums=sums)


def without_content(g: Graph, outputs: Sequence[int]) -> list[int]:
    """The outputs with what all terms of a sum have in common taken out of it, where the sum is a factor: (x/R + y/R)^2
    becomes (x + y)^2 R^-2, whose power of R meets others. A fractional power of a sum stays."""

    def content(terms: Sequence[Powers]) -> dict[int, float]:
        common = dict(terms[0])
        for term in terms[1:]:
            powers = dict(term)
            common = {b: min(e, powers[b], key=abs) for b, e in common.items() if e * powers.get(b, 0.0) > 0.0}
        return common

    def products(powers: list[tuple[int, float]]) -> int:
        factors = []
        for b, e in powers:
            constant, terms = g.as_sum(b)
            split = [(*g.as_product(c), f) for c, f in terms]
            common = content([p for _, p, _ in split]) if constant == 0.0 and len(terms) > 1 and e == int(e) else {}
            if common:
                left = [
                    (g.mul(*(g.power(c, x - common.get(c, 0.0)) for c, x in p)), factor * f) for factor, p, f in split
                ]
                b = g.sum(*left)
            factors += [g.power(b, e), *(g.power(c, e * x) for c, x in common.items())]
        return g.mul(*factors)

    return g.rebuilt(outputs, products=products)


def with_steady_inside(g: Graph, outputs: Sequence[int], moving: Callable[[int], bool]) -> list[int]:
    """The outputs with factors that stay multiplied into the sums of what moves, which are then joined with others."""

    def sums(constant: float, terms: list[tuple[int, float]]) -> int:
        return g.sum((g.const(constant), 1.0), *terms, joined=True)

    def products(powers: list[tuple[int, float]]) -> int:
        changing = [(b, e) for b, e in powers if moving(b)]
        if len(changing) != 1 or changing[0][1] != 1.0 or len(powers) == 1:
            return g.mul(*(g.power(b, e) for b, e in powers))
        steady = [g.power(b, e) for b, e in powers if not moving(b)]
        constant, terms = g.as_sum(changing[0][0])
        return g.sum((g.mul(*steady), constant), *((g.mul(*steady, b), f) for b, f in terms), joined=True)

    return g.rebuilt(outputs, sums=sums, products=products)


def of_unit_sums(g: Graph, outputs: Sequence[int]) -> list[int]:
    """The outputs with the number that all terms of a sum are multiplied by taken out of it, to the end of products."""

    def sums(constant: float, terms: list[tuple[int, float]]) -> int:
        size = terms[0][1] if len({f for _, f in terms}) == 1 else abs(terms[0][1])
        if constant != 0.0 or len(terms) == 1 or any(abs(f) != abs(size) for _, f in terms):
            return g.sum((g.const(constant), 1.0), *terms)
        return g.sum((g.sum(*((b, f / size) for b, f in terms)), size))

    return g.rebuilt(outputs, sums=sums)


def expanded(g: Graph, outputs: Sequence[int], most: int = 8) -> list[int]:
    """The outputs with products by sums with a constant term, 1 + small, multiplied out, up to ``most`` terms."""

    def sums(constant: float, terms: list[tuple[int, float]]) -> int:
        return g.sum((g.const(constant), 1.0), *terms, joined=True)

    def products(powers: list[tuple[int, float]]) -> int:
        terms = [g.const(1.0)]
        for b, e in powers:
            constant, parts = g.as_sum(b)
            if e == 1.0 and constant != 0.0 and parts and len(terms) * (len(parts) + 1) <= most:
                rows = [g.const(constant)] + [g.sum(part) for part in parts]
            else:
                rows = [g.power(b, e)]
            terms = [g.mul(x, y) for x in terms for y in rows]
        return g.sum(*((x, 1.0) for x in terms), joined=True)

    return g.rebuilt(outputs, sums=sums, products=products)


def keys_of(
    powers: Powers, rank: Mapping[int, int], known: dict[str, tuple[int, float]], rooted: bool = False
) -> list[str]:
    """Keys of the factors of a product, base and exponent of each put into ``known``; small powers are repeated, and
    with ``rooted`` reciprocals of roots are factors of their own."""
    found = []
    split = [(b, x) for b, e in powers for x in ((-0.5, e + 0.5) if rooted and e < -0.5 and e % 1.0 == 0.5 else (e,))]
    for b, e in split:
        whole = e == int(e) and 0 < e <= 3
        found += [f"{rank[b]:06d}"] * int(e) if whole else [f"{rank[b]:06d}^{e!r}"]
        known[found[-1]] = (b, 1.0 if whole else e)
    return found


def shared_pairs(products: Sequence[Sequence[str]]) -> tuple[list[list[str]], list[tuple[str, tuple[str, str]]]]:
    """Lists of factors in which pairs that occur in several lists are factors of their own, the most frequent first."""
    lists = [sorted(p) for p in products]
    places: dict[tuple[str, str], set[int]] = defaultdict(set)

    def pairs_of(p: list[str]) -> set[tuple[str, str]]:
        return {(min(a, b), max(a, b)) for i, a in enumerate(p) for b in p[i + 1 :]}

    def enter(pair: tuple[str, str]) -> None:
        if len(places[pair]) > 1:
            heapq.heappush(heap, (-len(places[pair]), pair))

    for n, p in enumerate(lists):
        for pair in sorted(pairs_of(p)):
            places[pair].add(n)
    heap = [(-len(where), pair) for pair, where in places.items() if len(where) > 1]
    heapq.heapify(heap)
    made: list[tuple[str, tuple[str, str]]] = []
    while heap:
        count, pair = heapq.heappop(heap)
        if len(places[pair]) != -count:
            enter(pair)  # what was pushed is out of date
            continue
        name = f"m{len(made)}"
        made.append((name, pair))
        changed: set[tuple[str, str]] = set()
        for n in sorted(places[pair]):
            p = lists[n]
            old = pairs_of(p)
            for a in pair:
                p.remove(a)
            p.append(name)
            new = pairs_of(p)
            for one in old - new:
                places[one].discard(n)
            for one in new - old:
                places[one].add(n)
                changed.add(one)
        for one in sorted(changed):
            enter(one)
    return lists, made
