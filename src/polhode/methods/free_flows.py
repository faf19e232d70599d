"""The free rotations that a splitting can use, by the names that follow the slash in a method string."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from math import inf, pi, sqrt
from typing import Any

from polhode.errors import unknown_name
from polhode.flows import dmv, elliptic_forms, free_rotation, implicit_midpoint, rotors, semiexact
from polhode.methods.record import Option, number_option, word_option


@dataclass(frozen=True)
class FreeFlow:
    """A map that approximates, or is, the free rotation of a body."""

    name: str  # name, description, cite: what a user types, one line, key in ``references.bib``
    description: str
    cite: str
    # ``build(**options) -> rotate_free``, with ``rotate_free(i, h, workspace) -> status`` for body i
    build: Callable[..., Any]
    order: float = inf  # order of accuracy; infinite where exact to round-off
    # keeps_energy, keeps_axial: whether the kinetic energy, and for a symmetric body the angular momentum about its
    # axis, stay constant to round-off. All flows keep the spatial angular momentum
    keeps_energy: bool = True
    keeps_axial: bool = True
    # symmetric, symplectic: A step with -h undoes a step with h; the symplectic form of T*SO(3) is preserved
    symmetric: bool = True
    symplectic: bool = True
    axis_order_dependent: bool = False  # the result depends on the numbering of the axes, within the error of the flow
    range: float = inf  # largest rotation that one application can represent, rad
    options: Mapping[str, Option] = field(default_factory=dict)  # its options
    # ``largest(momentum, inverse_moments, **options) -> step``: the largest step that the flow accepts, if limited
    largest: Callable[..., float] | None = None
    # ``refuses(moments) -> str``: why the flow cannot rotate a body with these principal moments (infinite where it
    # does not rotate), as words that follow the method's name; empty where it can
    refuses: Callable[[Any], str] | None = None
    compensated: Callable[..., Any] | None = None  # the same rotation with compensated sums, where there is one


def _published(
    name: str, rotate_free: Callable[..., Any], description: str, cite: str = "celledoni2008", thinnest: float = 0.0
) -> FreeFlow:
    """An exact form as published; where moments have ratios below ``thinnest``, round-off takes all but 8 digits."""
    return FreeFlow(name, description, cite, lambda: rotate_free, refuses=dmv.thinner_than(thinnest))


KOSENKO_OPTIONS = {
    "c3": number_option("p3/sqrt(1 + m3) of its frame, p0 = sqrt(1/2 - c3^2) sqrt(1 + m3)", default="0", most=sqrt(0.5))
}

_FIXED = {
    row.name: row
    for row in (
        FreeFlow("exact", "exact free rotation", "celledoni2008", lambda: free_rotation.rotate_free,
                 compensated=free_rotation.rotate_free_compensated),
        _published("exact_matrix", elliptic_forms.turn_matrix, "exact, rotation matrix in the frame of dm/dt"),
        FreeFlow("kosenko", "exact, Kosenko's quaternion", "celledoni2008",
                 lambda c3="0": elliptic_forms.kosenko(float(c3)), options=KOSENKO_OPTIONS,
                 refuses=dmv.thinner_than(1e-6)),
        _published("van_zon", elliptic_forms.turn_van_zon, "exact, form of van Zon and Schofield", thinnest=1e-6),
        _published("jacobi", elliptic_forms.turn_jacobi, "exact, Jacobi's momentum", "vilmart2013", 1e-4),
        FreeFlow("three_rotation", "rotations about axes 3, 2, 1, 2, 3", "vilmart2013", lambda: rotors.turn_three, 2,
                 keeps_energy=False, keeps_axial=False, axis_order_dependent=True, range=rotors.LARGEST_ANGLE,
                 largest=rotors.largest_step, refuses=rotors.without_thickness),
        FreeFlow("symmetric", "rotation and symmetric top, the two closest inertias paired", "vilmart2013",
                 lambda: rotors.turn_symmetric, 2, keeps_energy=False, range=rotors.LARGEST_ANGLE),
        FreeFlow("implicit_midpoint", "implicit midpoint rule, attitude by the Cayley map", "vilmart2013",
                 lambda: implicit_midpoint.rotate_free, 2, symplectic=False, range=pi),
    )
}  # fmt: skip

DMV_OPTIONS = {
    "solver": word_option("how its equation is solved", "newton", "fixed_point"),
    "large": word_option("what happens to a step beyond its range", "refuse", "substep"),
}


SEMIEXACT_OPTIONS = {
    "half_turns": word_option("what happens to whole half turns in a long step", *semiexact.HALF_TURNS)
}


def _mr(order: int) -> FreeFlow:
    name = "mr" if order == 2 else f"mr{order}"
    boost = "" if order == 2 else f", boosted to order {order} by triple jumps"
    longest = max(map(abs, rotors.triple_jumps(order)))
    return FreeFlow(
        name, f"rotations about axes 1, 2, 3, 2, 1{boost}", "dullweber1997",
        lambda: rotors.boosted(rotors.turn_mclachlan_reich, order), order, keeps_energy=False, keeps_axial=False,
        axis_order_dependent=True, range=rotors.LARGEST_ANGLE / longest,
        largest=lambda m, j: rotors.largest_step(m, j, longest), refuses=rotors.without_thickness,
    )  # fmt: skip


def _dmv(order: int) -> FreeFlow:
    words = "discrete Moser-Veselov algorithm" + ("" if order == 2 else f", preprocessed to order {order}")
    return FreeFlow(
        f"dmv{order}", words, "moser1991" if order == 2 else "hairer2006dmv",
        lambda solver="newton", large="refuse": dmv.dmv(order, solver, large), order,
        symplectic=order == 2, options=DMV_OPTIONS, largest=lambda m, j, **options: dmv.largest_step(order, m, j),
        refuses=dmv.thinner_than(dmv.THINNEST),
    )  # fmt: skip


def _semiexact(order: int, form: str) -> FreeFlow:
    shape = "" if form == "quaternion" else "_matrix"
    words = f"exact momentum, angle by {order // 2}-point Gauss quadrature in the amplitude, {form} form"
    return FreeFlow(
        f"semiexact{order}{shape}", words, "celledoni2008",
        lambda half_turns="exact": semiexact.semiexact(order // 2, form, half_turns), order,
        symplectic=False, options=SEMIEXACT_OPTIONS,
        largest=lambda m, j, half_turns="exact": semiexact.largest_step(
            semiexact.gauss_rule(order // 2, form, half_turns), m, j),
    )  # fmt: skip


def _hermite(order: int) -> FreeFlow:
    words = f"exact momentum, angle by Hermite quadrature of order {order}"
    return FreeFlow(
        f"hermite{order}", words, "vanzon2007b", lambda: semiexact.hermite(order // 2 - 1), order, symplectic=False,
        largest=lambda m, j: semiexact.largest_step(semiexact.hermite_rule(order // 2 - 1, "quaternion"), m, j),
    )  # fmt: skip


_FAMILIES: tuple[tuple[str, Callable[..., FreeFlow], Callable[[int], bool]], ...] = (
    (r"mr(\d*)", lambda n: _mr(n or 2), lambda n: n in (0, 4, 6, 8, 10)),
    (r"dmv(\d+)", _dmv, lambda n: n in (2, 4, 6, 8, 10)),
    (r"semiexact(\d+)", lambda n: _semiexact(n, "quaternion"), lambda n: n % 2 == 0 and 2 <= n <= 60),
    (r"semiexact(\d+)_matrix", lambda n: _semiexact(n, "matrix"), lambda n: n % 2 == 0 and 2 <= n <= 60),
    (r"hermite(\d+)", _hermite, lambda n: n in (4, 6, 8)),
)

FLOW_NAMES = (
    *_FIXED, "mr", "mr4", "mr6", "mr8", "dmv2", "dmv4", "dmv6", "dmv8", "dmv10", "semiexact6", "semiexact8",
    "semiexact10", "hermite4",
)  # fmt: skip
"""The free rotations that are listed. ``semiexact`` also takes other even orders, to 60, and ``_matrix`` for the matrix
form; ``mr`` also has order 10, ``hermite`` 6 and 8."""


ALIASES = {"no_squish": "three_rotation"}
"""Synonyms from other fields."""


@cache
def find(name: str) -> FreeFlow | None:
    """The free flow of this name, or None."""
    name = ALIASES.get(name, name)
    if name in _FIXED:
        return _FIXED[name]
    for pattern, build, exists in _FAMILIES:
        match = re.fullmatch(pattern, name)
        if match and exists(int(match[1] or 0)):
            return build(int(match[1] or 0))
    return None


def free_flow(name: str) -> FreeFlow:
    """The free flow of this name."""
    flow = find(name)
    if flow is None:
        raise unknown_name("free flow", name, (*FLOW_NAMES, "kepler"))
    return flow
