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
        largest = method.prepare(**method.resolve_options()).largest
        return "no limit" if largest is None else "that of the free rotation"
    return "pi (180 degrees)" if method.range == pi else f"{method.range:.4g} rad"


def flow_of(method: Method) -> str | None:
    """Name of a method's free rotation, None where it has none."""
    if method.family not in ("splitting", "thermostats"):
        return None
    base, _, flows = method.name.partition("/")
    flow = flows.removeprefix("kepler").removeprefix("+")
    return flow or (base if base in FLOW_NAMES else "exact")


# ------------------------------------------------------------------ tables
def _kept_as(chosen: MethodSpec) -> str:
    chart = chosen.prepare().coordinates
    return NONE if chart is None else f"{chart.name.replace('_', ' ')} ({chart.size} numbers)"


def _flow_keeps(chosen: MethodSpec) -> str:
    flow = free_flow(chosen.method.name)
    kept = (("energy", flow.keeps_energy), ("axial momentum", flow.keeps_axial))
    return ", ".join(name for name, is_kept in kept if is_kept) or NONE


def _flow_traits(chosen: MethodSpec) -> str:
    flow = free_flow(chosen.method.name)
    other = ["depends on the numbering of axes"] * flow.axis_order_dependent
    return traits(chosen.promises, *other, *["limited step"] * (flow.largest is not None))


Column = tuple[str, Callable[[MethodSpec], str]]
LABEL: Column = "method", lambda chosen: chosen.label
ORDER: Column = "order", lambda chosen: order_words(chosen.promises.order)
LOADS: Column = "loads", loads_words
WHAT: Column = "what it is", lambda chosen: chosen.method.description
CITE: Column = "cite", lambda chosen: chosen.method.cite
_ONE_STEP: tuple[Column, ...] = (
    LABEL, ORDER, ("kept, free body", lambda chosen: words(chosen.promises.keeps_free)),
    ("kept, heavy top", lambda chosen: words(chosen.promises.keeps_top)),
    ("traits", lambda chosen: traits(chosen.promises, "implicit" if chosen.promises.implicit else "explicit")),
    LOADS, CITE,
)  # fmt: skip
_POINT = (LABEL, ORDER, LOADS, ("traits", lambda chosen: traits(chosen.promises)), WHAT, CITE)
_REST = (
    LOADS, ("traits", lambda chosen: traits(chosen.promises, *["processed"] * chosen.prepare().processed)), WHAT, CITE
)  # fmt: skip
_SPLITTING: tuple[Column, ...] = (LABEL, ("order", lambda chosen: both_orders(chosen.promises)), *_REST)
_NEAR = (
    *_SPLITTING[:2], ("generalised", lambda chosen: generalised_words(chosen.promises.generalised)),
    ("needs", lambda chosen: "commutator load" if commutator_loads(chosen) else
     "configuration only" if chosen.promises.requires else NONE), *_REST,
)  # fmt: skip
_CHART: tuple[Column, ...] = (
    LABEL, ORDER, ("attitude kept as", _kept_as),
    ("branch or form", lambda chosen: next(
        (" | ".join(option.choices()) for name, option in chosen.method.options.items() if name in ("branch", "form")),
        NONE)), WHAT, CITE,
)  # fmt: skip
_BATH = (
    ("method", lambda chosen: chosen.method.name), ("order of averages", ORDER[1]), ("to be given",
     lambda chosen: ":".join(f"{name}=..." for name, option in chosen.method.options.items() if option.needed) or NONE),
    LOADS, WHAT, CITE,
)  # fmt: skip
_FLOW = (
    ("flow", lambda chosen: free_flow(chosen.method.name).name),
    ("order", lambda chosen: order_words(free_flow(chosen.method.name).order)), ("keeps besides", _flow_keeps),
    ("traits", _flow_traits), ("what it is", lambda chosen: free_flow(chosen.method.name).description),
    ("cite", lambda chosen: free_flow(chosen.method.name).cite),
)  # fmt: skip

KINDS: dict[str, tuple[str, str, tuple[Column, ...]]] = {
    "krysl": (
        "Trapezoid, midpoint and their rivals on the rotation group",
        "Implicit ones solve for the new momentum of each body by Newton's method to round-off.", _ONE_STEP,
    ),
    "munthe_kaas": (
        "Runge-Kutta on the rotation group",
        "Any tableau, as an option after a colon: mkrk:gauss6. For loads of any kind.", _ONE_STEP,
    ),
    "commutator_free": (
        "Runge-Kutta by products of exponentials: Crouch and Grossman's, and commutator-free",
        "Explicit, with equal steps, for loads of any kind.", _ONE_STEP,
    ),
    "rotation_parameters": (
        "Runge-Kutta with attitudes kept as numbers of one's choice",
        "Any tableau and, of Euler angles, any sequence: euler:gauss4:ZXZ, rotation_vector:dp5:continuous. Six rows "
        "pass all singular points; the printed updates lose digits there, and the last four integrate the rates of the "
        "numbers, which are infinite there.", _CHART,
    ),
    "taylor": (
        "Taylor series",
        "Any order from 2 to 30: taylor14; with a tolerance taylor chooses the order too. For all systems whose loads "
        "can be traced, functions of users included.", _ONE_STEP,
    ),
    "variational": (
        "Variational integrators, for bodies that move through space and do not turn",
        "Discrete Euler-Lagrange equations with forces, solved to round-off: variational:0.25 for another alpha, "
        "galerkin10 for another even order.", _POINT,
    ),
    "conic": (
        "The exact orbit",
        "Steps of any size, for a centre of attraction and nothing else.", _POINT,
    ),
    "any": (
        "Splittings: kicks by the loads between free rotations",
        "Between kicks a body turns exactly; another free rotation goes after a slash: s6_10/mr6. The order is the "
        "same where loads depend on velocities; what depends on them is then evaluated several times in a kick.",
        _SPLITTING,
    ),
    "nystrom": (
        "Splittings for loads that depend on time and configuration only (Nystroem)",
        "Such as a gravity gradient, a heavy top, a magnet in a field. '6 (4)': where loads depend on velocities the "
        "order is 4; s4_6, s6_10 and kl8 keep theirs.", _SPLITTING,
    ),
    "gradient": (
        "The same with the commutator load (modified kicks)",
        "'3 + 1 c': three loads and one commutator load in a step. Systems of polhode provide it; of your own "
        "functions it is taken by four more evaluations. '6 (2)': where loads depend on velocities the order is 2.",
        _SPLITTING,
    ),
    "near": (
        "Splittings for loads that are small beside the free motion, H = A + eps B",
        "(8,6,4): errors linear in the loads are of order 8 in the step, quadratic ones of order 6, all others of "
        "order 4.",
        _NEAR,
    ),
    "thermostats": (
        "Thermostats: kicks and free rotations beside a heat bath",
        "baoab:temperature=300:friction=5:seed=1, with any free rotation after a slash: baoab/mr. Energies are not "
        "conserved but those of a temperature.", _BATH,
    ),
    "flow": (
        "Free rotations, written after the slash of a splitting",
        "All keep the spatial angular momentum of a free body. By its own name one stands between two half kicks: "
        "dmv10 is v2/dmv10.", _FLOW,
    ),
}  # fmt: skip
"""Title, remark and columns, by kind of method, in the order of display."""


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
        title, about, columns = KINDS.get(kind, (f"Of the family {kind!r}", "Added by you.", _ONE_STEP))
        groups = list(_siblings(chosen)) if brief and kind != "flow" else [[row] for row in chosen]
        lines = tuple(_merged([tuple(cell(row) for _, cell in columns) for row in group]) for group in groups)
        members = tuple(tuple(row.method.name for row in group) for group in groups)
        tables.append(Listing(title, about, tuple(head for head, _ in columns), lines, members))
    return tables


# ------------------------------------------------------------------ one row
def in_full(chosen: MethodSpec) -> list[tuple[str, str]]:
    """All properties of a method, as pairs of a heading and text."""
    method, p, prepared = chosen.method, chosen.promises, chosen.prepare()
    flow, chart = flow_of(method), prepared.coordinates
    in_free = order_words(p.order_free) if not isfinite(p.order_free) else f"order {p.order_free:g}"
    order = [
        order_words(p.order) + ", of averages" * p.thermal,
        *[f"{in_free} for a free body"] * (p.order_free != p.order),
        *[f"order {p.order_velocity} where loads depend on velocities"] * (p.order_velocity != p.order),
    ]
    pairs = [
        ("also called", ", ".join(OTHER_NAMES.get(chosen.label, ()))),
        ("order", "; ".join(order)),
        ("with such loads", p.kept_by and f"{p.kept_by} keeps order {p.order}"),
        ("generalised order", p.generalised and f"{generalised_words(p.generalised)}, for loads that are small"),
        ("needs", p.requires or (flow and "nothing of the loads")),
        *(("needs a system with", needed) for needed in _needed(prepared)),
        *(("or one with", needed) for needed in (_needed(prepared.mutual(False)) if prepared.mutual else ())),
        ("free rotation", flow and free_flow(flow).description),
        (
            "motion through space",
            "about the centre of attraction, exactly; kicks by all other loads" * ("central_gravity" in prepared.needs),
        ),
        (
            "of bodies that attract each other",
            prepared.mutual and "orbits in Jacobi coordinates; kicks by what is left",
        ),
        ("kept, free body", words(p.keeps_free)),
        ("kept, symmetric heavy top", words(p.keeps_top)),
        ("time-symmetric", _yes(p.time_symmetric)),
        ("symplectic", _yes(p.symplectic)),
        ("processed", flow and _yes(prepared.processed)),
        ("solves equations", "yes, by Newton's method to round-off" if p.implicit else "no, explicit in the loads"),
        ("load evaluations in a step", loads_words(chosen)),
        ("largest rotation in a step", range_words(method)),
        ("attitude kept as", chart and f"{chart.name.replace('_', ' ')}, {chart.size} numbers"),
        ("depends on", "the numbering of the body's axes, within its error" * p.axis_order_dependent),
        ("depends on", "the body frame the inertia is given in, within its error" * p.frame_dependent),
    ]
    return [(heading, text) for heading, text in pairs if text]


def _needed(prepared: CompiledMethod) -> list[str]:
    """What a method needs of a system, in words."""
    return [f"{name.replace('_', ' ')}: {CAPABILITIES[name].meaning}" for name in in_order(prepared.needs)]


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
