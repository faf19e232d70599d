"""The methods formatted for reading: a table for each kind with suitable columns, and all properties of one method.

Used by the command line, ``method_table`` and the documentation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from math import isfinite, pi
from typing import Any

from polhode.capabilities import CAPABILITIES, in_order
from polhode.html import Table, facts
from polhode.methods.free_flows import FLOW_NAMES, free_flow
from polhode.methods.other_names import OTHER_NAMES
from polhode.methods.record import CompiledMethod, Method, MethodSpec, Promises
from polhode.methods.splitting import COUNTS, FREE, WIDTH

NONE = "-"
SIBLINGS = 4
"""In brief tables, at least so many consecutively numbered rows are merged into one line."""


@dataclass(frozen=True)
class Listing(Table):
    """A table of methods of one kind; the first cell of a row is the name, the last the key of the reference."""

    members: tuple[tuple[str, ...], ...]  # of every row, the methods it stands for


# ------------------------------------------------------------------ text of one property
def words(names: Iterable[str]) -> str:
    """The names, such as those of invariants, as text."""
    return ", ".join(names).replace("_", " ") or NONE


def order_words(order: float) -> str:
    """An order of accuracy; ``exact`` where infinite."""
    return f"{order:g}" if isfinite(order) else "exact"


def both_orders(p: Promises) -> str:
    """The order, followed by that under velocity-dependent loads in brackets if it differs."""
    return str(p.order) if p.order_velocity == p.order else f"{p.order} ({p.order_velocity})"


def generalised_words(orders: tuple[int, ...]) -> str:
    """A generalised order as the papers write it, such as (8,6,4)."""
    return f"({','.join(map(str, orders))})" if orders else NONE


def kicks(prepared: CompiledMethod) -> list[float]:
    """For a splitting, the coefficient of the commutator load in every kick of a step."""
    stages = range(prepared.int_coefficients[0])
    return [
        float(prepared.coefficients[WIDTH * s + 1]) for s in stages if prepared.int_coefficients[COUNTS + s] != FREE
    ]


def commutator_loads(chosen: MethodSpec) -> int:
    """Evaluations of commutator loads in a step; those at its end serve the next step too and count once."""
    if chosen.method.family != "splitting":
        return 0
    factors = kicks(chosen.prepare())
    kick_at_both_ends = len(factors) > chosen.promises.evaluations
    return sum(c != 0.0 for c in factors) - (kick_at_both_ends and factors[0] != 0.0)


def loads_words(chosen: MethodSpec) -> str:
    """Cost of a step in load evaluations; ``c``: commutator loads."""
    p = chosen.promises
    if p.implicit:
        return f"{p.evaluations} an iteration"
    if chosen.method.family == "taylor":
        return f"{p.evaluations} series"
    extra = commutator_loads(chosen)
    return f"{p.evaluations} + {extra} c" if extra else str(p.evaluations)


def traits(p: Promises, *others: str) -> str:
    """Symmetric, symplectic and so on."""
    return ", ".join([*["symmetric"] * p.time_symmetric, *["symplectic"] * p.symplectic, *others]) or NONE


def range_words(method: Method) -> str:
    """Largest rotation in a step."""
    if method.family == "taylor":
        return "no limit; of free bodies, tops, satellites and walls pi (180 degrees) of the vertical in the body frame"
    if not isfinite(method.range):
        return "no limit" if limit_of(method) is None else "that of the free rotation"
    return "pi (180 degrees)" if method.range == pi else f"{method.range:.4g} rad"


def limit_of(method: Method) -> Any:
    """The method's function ``largest``, which returns the largest step it accepts, or None."""
    return method.prepare(**method.resolve_options()).largest


def flow_of(method: Method) -> str | None:
    """Name of a method's free rotation, None where it has none."""
    if method.family not in ("splitting", "thermostats"):
        return None
    base, _, flows = method.name.partition("/")
    flow = flows.removeprefix("kepler").removeprefix("+")
    return flow or (base if base in FLOW_NAMES else "exact")


# ------------------------------------------------------------------ tables
def _one_step(chosen: MethodSpec) -> tuple[str, ...]:
    p = chosen.promises
    return (
        chosen.label, str(p.order), words(p.keeps_free), words(p.keeps_top),
        traits(p, "implicit" if p.implicit else "explicit"), loads_words(chosen), chosen.method.cite,
    )  # fmt: skip


def _point(chosen: MethodSpec) -> tuple[str, ...]:
    p = chosen.promises
    return (
        chosen.label, order_words(p.order), loads_words(chosen), traits(p), chosen.method.description,
        chosen.method.cite,
    )  # fmt: skip


def _splitting(chosen: MethodSpec) -> tuple[str, ...]:
    p = chosen.promises
    processed = ["processed"] * chosen.prepare().processed
    return (
        chosen.label, both_orders(p), loads_words(chosen), traits(p, *processed), chosen.method.description,
        chosen.method.cite,
    )  # fmt: skip


def _near(chosen: MethodSpec) -> tuple[str, ...]:
    needs = (
        "commutator load" if commutator_loads(chosen) else "configuration only" if chosen.promises.requires else NONE
    )
    name, order, *rest = _splitting(chosen)
    return (name, order, generalised_words(chosen.promises.generalised), needs, *rest)


def _flow(chosen: MethodSpec) -> tuple[str, ...]:
    flow = free_flow(chosen.method.name)
    keeps = [name for name, kept in (("energy", flow.keeps_energy), ("axial momentum", flow.keeps_axial)) if kept]
    other = ["depends on the numbering of axes"] * flow.axis_order_dependent + ["limited step"] * (
        flow.largest is not None
    )
    return (
        flow.name, order_words(flow.order), ", ".join(keeps) or NONE, traits(chosen.promises, *other),
        flow.description, flow.cite,
    )  # fmt: skip


def _bath(chosen: MethodSpec) -> tuple[str, ...]:
    p, row = chosen.promises, chosen.method
    options = ":".join(f"{name}=..." for name, option in row.options.items() if option.needed) or NONE
    return (row.name, f"{p.order}", options, loads_words(chosen), row.description, row.cite)


def _chart(chosen: MethodSpec) -> tuple[str, ...]:
    p, row, chart = chosen.promises, chosen.method, chosen.prepare().coordinates
    kept_as = "-" if chart is None else f"{chart.name.replace('_', ' ')} ({chart.size} numbers)"
    option = next((name for name in ("branch", "form") if name in row.options), None)
    choices = " | ".join(row.options[option].choices()) if option else NONE
    return (chosen.label, str(p.order), kept_as, choices, row.description, row.cite)


_ONE_STEP = ("method", "order", "kept, free body", "kept, heavy top", "traits", "loads", "cite")
_SPLITTING = ("method", "order", "loads", "traits", "what it is", "cite")
_POINT = _SPLITTING
_NEAR = ("method", "order", "generalised", "needs", *_SPLITTING[2:])
_CHART = ("method", "order", "attitude kept as", "branch or form", "what it is", "cite")
_BATH = ("method", "order of averages", "to be given", "loads", "what it is", "cite")
_FLOW = ("flow", "order", "keeps besides", "traits", "what it is", "cite")

KINDS: dict[str, tuple[str, str, tuple[str, ...], Callable[[MethodSpec], tuple[str, ...]]]] = {
    "krysl": (
        "Trapezoid, midpoint and their rivals on the rotation group",
        "Implicit ones solve for the new momentum of each body by Newton's method to round-off.", _ONE_STEP, _one_step,
    ),
    "munthe_kaas": (
        "Runge-Kutta on the rotation group",
        "Any tableau, as an option after a colon: mkrk:gauss6. For loads of any kind.", _ONE_STEP, _one_step,
    ),
    "commutator_free": (
        "Runge-Kutta by products of exponentials: Crouch and Grossman's, and commutator-free",
        "Explicit, with equal steps, for loads of any kind.", _ONE_STEP, _one_step,
    ),
    "rotation_parameters": (
        "Runge-Kutta with attitudes kept as numbers of one's choice",
        "Any tableau and, of Euler angles, any sequence: euler:gauss4:ZXZ, rotation_vector:dp5:continuous. Six rows "
        "pass all singular points; the printed updates lose digits there, and the last four integrate the rates of the "
        "numbers, which are infinite there.", _CHART, _chart,
    ),
    "taylor": (
        "Taylor series",
        "Any order from 2 to 30: taylor14; with a tolerance taylor chooses the order too. For all systems whose loads "
        "can be traced, functions of users included.", _ONE_STEP, _one_step,
    ),
    "variational": (
        "Variational integrators, for bodies that move through space and do not turn",
        "Discrete Euler-Lagrange equations with forces, solved to round-off: variational:0.25 for another alpha, "
        "galerkin10 for another even order.", _POINT, _point,
    ),
    "conic": (
        "The exact orbit",
        "Steps of any size, for a centre of attraction and nothing else.", _POINT, _point,
    ),
    "any": (
        "Splittings: kicks by the loads between free rotations",
        "Between kicks a body turns exactly; another free rotation goes after a slash: s6_10/mr6. The order is the "
        "same where loads depend on velocities; what depends on them is then evaluated several times in a kick.",
        _SPLITTING, _splitting,
    ),
    "nystrom": (
        "Splittings for loads that depend on time and configuration only (Nystroem)",
        "Such as a gravity gradient, a heavy top, a magnet in a field. '6 (4)': where loads depend on velocities the "
        "order is 4; s4_6, s6_10 and kl8 keep theirs.", _SPLITTING, _splitting,
    ),
    "gradient": (
        "The same with the commutator load (modified kicks)",
        "'3 + 1 c': three loads and one commutator load in a step. Systems of polhode provide it; of your own "
        "functions it is taken by four more evaluations. '6 (2)': where loads depend on velocities the order is 2.",
        _SPLITTING, _splitting,
    ),
    "near": (
        "Splittings for loads that are small beside the free motion, H = A + eps B",
        "(8,6,4): errors linear in the loads are of order 8 in the step, quadratic ones of order 6, all others of "
        "order 4.",
        _NEAR, _near,
    ),
    "thermostats": (
        "Thermostats: kicks and free rotations beside a heat bath",
        "baoab:temperature=300:friction=5:seed=1, with any free rotation after a slash: baoab/mr. Energies are not "
        "conserved but those of a temperature.", _BATH, _bath,
    ),
    "flow": (
        "Free rotations, written after the slash of a splitting",
        "All keep the spatial angular momentum of a free body. By its own name one stands between two half kicks: "
        "dmv10 is v2/dmv10.", _FLOW, _flow,
    ),
}  # fmt: skip
"""Title, remark, column names and function that makes the cells, by kind of method, in the order of display."""


def kind_of(chosen: MethodSpec) -> str:
    """The table that lists a method: a key of ``KINDS``, or the family's name for a method of the user's."""
    method, p = chosen.method, chosen.promises
    if method.family != "splitting":
        return method.family
    if method.name in FLOW_NAMES:
        return "flow"
    if p.generalised:
        return "near"
    return "gradient" if commutator_loads(chosen) else "nystrom" if p.requires else "any"


def _siblings(chosen: list[MethodSpec]) -> Iterator[list[MethodSpec]]:
    """Group consecutive rows that differ only in a number counting up by 1; other rows form groups of one."""

    def run(numbered_row: tuple[int, MethodSpec]) -> tuple[Any, ...]:
        at, row = numbered_row
        stem, number = re.fullmatch(r"(.*?)(\d*)", row.label).groups()  # type: ignore[union-attr]
        return stem, int(number or 0) - at, row.promises.order, row.method.cite

    for _, group in groupby(enumerate(chosen), run):
        rows = [row for _, row in group]
        yield from [rows] if len(rows) >= SIBLINGS else ([row] for row in rows)


def _merged(cells: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Merge lines into one: cells that differ become ``first ... last``."""
    return tuple(a if a == b else f"{a} ... {b}" for a, b in zip(cells[0], cells[-1], strict=True))


def listings(rows: Iterable[MethodSpec], brief: bool = True) -> list[Listing]:
    """Tables of methods, one for each kind."""
    by_kind: dict[str, list[MethodSpec]] = {kind: [] for kind in KINDS}
    for row in rows:
        by_kind.setdefault(kind_of(row), []).append(row)
    tables = []
    for kind, chosen in by_kind.items():
        if not chosen:
            continue
        title, about, head, cells = KINDS.get(kind, (f"Of the family {kind!r}", "Added by you.", _ONE_STEP, _one_step))
        groups = list(_siblings(chosen)) if brief and kind != "flow" else [[row] for row in chosen]
        lines = tuple(_merged([cells(row) for row in group]) for group in groups)
        members = tuple(tuple(row.method.name for row in group) for group in groups)
        tables.append(Listing(title, about, head, lines, members))
    return tables


# ------------------------------------------------------------------ one row
def in_full(chosen: MethodSpec) -> list[tuple[str, str]]:
    """All properties of a method, as pairs of a heading and text."""
    method, p = chosen.method, chosen.promises
    prepared = chosen.prepare()
    order = [order_words(p.order) + ", of averages" * p.thermal]
    if p.order_free != p.order:
        order.append(f"{'exact' if not isfinite(p.order_free) else f'order {p.order_free:g}'} for a free body")
    if p.order_velocity != p.order:
        order.append(f"order {p.order_velocity} where loads depend on velocities")
    pairs = [("order", "; ".join(order))]
    if chosen.label in OTHER_NAMES:
        pairs.insert(0, ("also called", ", ".join(OTHER_NAMES[chosen.label])))
    if p.kept_by:
        pairs.append(("with such loads", f"{p.kept_by} keeps order {p.order}"))
    if p.generalised:
        pairs.append(("generalised order", f"{generalised_words(p.generalised)}, for loads that are small"))
    flow = flow_of(method)
    if flow is not None or p.requires:
        pairs.append(("needs", p.requires or "nothing of the loads"))
    for name in in_order(prepared.needs):
        pairs.append(("needs a system with", f"{name.replace('_', ' ')}: {CAPABILITIES[name].meaning}"))
    if prepared.mutual is not None:
        for name in in_order(prepared.mutual(False).needs):
            pairs.append(("or one with", f"{name.replace('_', ' ')}: {CAPABILITIES[name].meaning}"))
    if flow is not None:
        pairs.append(("free rotation", free_flow(flow).description))
    if "central_gravity" in prepared.needs:
        pairs.append(("motion through space", "about the centre of attraction, exactly; kicks by all other loads"))
    if prepared.mutual is not None:
        pairs.append(("of bodies that attract each other", "orbits in Jacobi coordinates; kicks by what is left"))
    pairs += [
        ("kept, free body", words(p.keeps_free)),
        ("kept, symmetric heavy top", words(p.keeps_top)),
        ("time-symmetric", _yes(p.time_symmetric)),
        ("symplectic", _yes(p.symplectic)),
    ]
    if flow is not None:
        pairs.append(("processed", _yes(prepared.processed)))
    pairs += [
        ("solves equations", "yes, by Newton's method to round-off" if p.implicit else "no, explicit in the loads"),
        ("load evaluations in a step", loads_words(chosen)),
        ("largest rotation in a step", range_words(method)),
    ]
    if prepared.coordinates is not None:
        chart = prepared.coordinates
        pairs.append(("attitude kept as", f"{chart.name.replace('_', ' ')}, {chart.size} numbers"))
    if p.axis_order_dependent:
        pairs.append(("depends on", "the numbering of the body's axes, within its error"))
    if p.frame_dependent:
        pairs.append(("depends on", "the body frame the inertia is given in, within its error"))
    return pairs


def in_html(chosen: MethodSpec) -> str:
    """All properties of a method for a notebook."""
    row = chosen.method
    pairs = [*in_full(chosen), ("cite", row.cite)]
    for name, option in row.options.items():
        usual = f"; default {option.default}" if option.default else "; to be given" if option.needed else ""
        choices = option.must or ", ".join(option.choices())
        pairs.append((f"option :{name}{'=' * bool(option.must)}", f"{option.description}: {choices}{usual}"))
    return facts(chosen.usage, row.description, pairs)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def step_in_words(chosen: MethodSpec) -> str:
    """The stages of a splitting in fractions of the step; empty for other methods."""
    if chosen.method.family != "splitting":
        return ""
    prepared = chosen.prepare()
    stages = []
    for s in range(prepared.int_coefficients[0]):
        fraction, factor = prepared.coefficients[WIDTH * s], prepared.coefficients[WIDTH * s + 1]
        kick = prepared.int_coefficients[COUNTS + s] != FREE
        stages.append(f"{'kick' if kick else 'turn'} {fraction:.6g}" + (f" (c {factor:.6g})" if factor else ""))
    return ", ".join(stages)
