"""Splitting methods: one step for any scheme of ``splitting_tables`` with any free rotation of ``free_flows``.

    "s6_10"              kicks by the loads between exact free motions
    "s6_10/mr6"          the same scheme with McLachlan and Reich's rotations, boosted to order 6
    "dmv10"              short for "v2/dmv10": the free rotation dmv10 between two half kicks
    "s6_10/kepler"       Kepler motion about a centre of attraction instead of the drift
    "s6_10/joints"       free motion on joints, which "s6_10" and "s6_10/kepler" are in a system that has some
    "s6_10/kepler:corrected"       the same with a processor that removes errors of first order in all other loads

A kick changes momenta by the loads at a frozen configuration; free motion drifts positions and rotates attitudes. The
scheme alternates them. Each stage has a row of coefficients: its fraction of the step, the factor of h^3 of its
commutator load, and its time in units of the step. The loads at the end of a step serve the start of the next and are
evaluated once, but the two kicks are not merged, so results do not depend on where a run is interrupted.

A processed scheme advances z = pre(y) and outputs y = post(z), post being the inverse of pre. Where the free motions of
the processor do not sum to zero, z is ahead of y in time, and its loads are evaluated at that later time.

A kick by velocity-dependent loads integrates the momenta at the frozen configuration by a Gauss rule with as many nodes
as the order requires (see ``flows.kick``). Schemes for arbitrary loads keep their order. Nystroem schemes assume
[V, [V, [V, T]]] = 0, which velocity-dependent loads violate: error terms of order h^5 return, and the order is 4 at
most. Schemes with the commutator load fall to order 2, because that load is then only part of the commutator.

With compensated sums, the rounding errors of positions and momenta are added to the next drift, kick or Kepler motion.
Kicks by small forces gain most, which otherwise are rounded the same way in every step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from polhode.arguments import LONGEST_WORD, text
from polhode.capabilities import stated
from polhode.errors import InvalidInput, shown
from polhode.flows import gyrostat
from polhode.flows.drift import drift, drift_compensated, kepler_drift, kepler_drift_compensated
from polhode.flows.glide import glides_over, held_part, held_step, kick_on_joints
from polhode.flows.jacobi import jacobi_drift, jacobi_drift_compensated, jacobi_memory
from polhode.flows.kick import kick_of
from polhode.kernel import layout as L
from polhode.kernel.jit import bind, helper, hole, inlined, replaceable
from polhode.kernel.later import LANES, in_lanes, lane_numbers, some_lane
from polhode.kernel.signatures import Workspace
from polhode.lazy import Table, unmade
from polhode.methods import free_flows
from polhode.methods.free_flows import FLOW_NAMES, FreeFlow, free_flow
from polhode.methods.joints import glides_of, plan_of
from polhode.methods.record import CompiledMethod, Method, Option, Promises
from polhode.methods.splitting_tables import HIGHEST, SCHEMES, Scheme, corrected, scheme, stages_of
from polhode.methods.tableaux import tableau as find_tableau

KICK, FREE, LAST_KICK, BATH = 0, 1, 2, 3
WIDTH = 3
NODES, COUNTS = 3, 4
"""Slots of the integer coefficients. First the numbers of stages of the kernel, the processor and its inverse; at NODES
the Gauss nodes of a velocity-dependent kick; from COUNTS the kind of every stage. In the coefficients, WIDTH for a
stage, two Gauss rules follow the stages (see ``flows.kick``)."""
WORDS = {"kepler": "motion about the centre of attraction", "joints": "motion on joints"}
"""What stands in the place of a free rotation, and may have one behind it: "kepler+mr6"."""
KEEPERS = {2: "v2", 4: "s4_6", 6: "s6_10", 8: "kl8", 10: "sp10"}
"""For each order, a scheme that keeps it under velocity-dependent loads."""


free = hole("free(i, h, p) -> status", "The free rotation of body i.")
move = hole("move(i, h, p) -> status", "The motion of the centre of mass of body i.")
push = hole("push(t, h, g, s, rules, p) -> status", "The kick.")
free_motion = hole("free_motion(h, p) -> status", "The free motion of all bodies.")
rotation_map = hole("rotation_map(h, N, y, bodies, step_info) -> status", "The free rotation of all bodies.")
run_stages = hole("run_stages(first, last, t, h, p) -> status", "``stages`` with all of these.")


@replaceable
@inlined
def bathe(h, p):
    """The heat bath of a thermostat (see ``thermostats``); by default none."""
    return L.OK


@inlined
def uniform(i, h, p):
    """Uniform motion of body i."""
    drift(i, h, p)
    return L.OK


@inlined
def uniform_compensated(i, h, p):
    """Uniform motion of body i, with compensated sums."""
    drift_compensated(i, h, p)
    return L.OK


@inlined
def about_the_centre(i, h, p):
    """Kepler motion of body i about the centre of attraction; the system's first parameter is mu."""
    return kepler_drift(i, h, p.parameters[0], p)


@inlined
def about_the_centre_compensated(i, h, p):
    """Kepler motion of body i, with compensated sums."""
    return kepler_drift_compensated(i, h, p.parameters[0], p)


MOTIONS = {
    "drift": (uniform, uniform_compensated, L.ALL),
    "kepler": (about_the_centre, about_the_centre_compensated, L.WITHOUT_SOLVED),
    "jacobi": (jacobi_drift, jacobi_drift_compensated, L.WITHOUT_SOLVED),
}
"""Motion of the centre of mass between kicks, without and with compensated sums, and the part of the loads that the
kicks apply. Under "jacobi", of all points together."""


@inlined
def one_by_one(h, p):
    """Free motion of each body by itself; returns a status."""
    for k in range(p.B):
        i = p.blocks[2 * k]
        if p.blocks[2 * k + 1] == L.ROTATION:
            status = free(i, h, p)
            if status != L.OK:
                return status
        else:
            status = move(i, h, p)
            if status != L.OK:
                return status
    return L.OK


def rotate_all(h, N, y, bodies, step_info):
    """Free rotation of all bodies, LANES at a time; returns a status."""
    p = Workspace(N, 0, 0, y, bodies, y, 0, y, 0, 0, y, y, y, step_info, y)
    for k in range(0, N, LANES):
        if some_lane(free(min(k + lane_numbers(), N - 1), h, p) != L.OK):
            return L.NOT_FINITE
    return L.OK


@inlined
def all_together(h, p):
    """Free motion of bodies that all translate and rotate; returns a status."""
    for i in range(p.N):
        move(i, h, p)
    return rotation_map(h, p.N, p.y, p.bodies, p.step_info)


def stages(first, last, t, h, p):
    """Carry out the stages from ``first`` up to ``last``, exclusive; returns a status."""
    rules = WIDTH * (p.int_coefficients[0] + p.int_coefficients[1] + p.int_coefficients[2])
    for s in range(first, last):
        fraction, factor, time_fraction = (
            p.coefficients[WIDTH * s],
            p.coefficients[WIDTH * s + 1],
            p.coefficients[WIDTH * s + 2],
        )
        if p.int_coefficients[COUNTS + s] == FREE:
            status = free_motion(fraction * h, p)
            if status != L.OK:
                return status
            p.step_info[L.LOADED] = 0.0
        elif p.int_coefficients[COUNTS + s] == BATH:
            status = bathe(fraction * h, p)
            if status != L.OK:
                return status
        else:
            # A kick that ends the step is at exactly the time of the next step's first kick, to the last bit.
            at = (p.step_info[L.NEXT_TIME] if p.int_coefficients[COUNTS + s] == LAST_KICK else t) + time_fraction * h
            status = push(at, fraction * h, factor * h * h * h, p.int_coefficients[NODES], rules, p)
            if status != L.OK:
                return status
    return L.OK


def free_motion_of(
    rotate_free: Callable[..., Any], translate: Callable[..., Any], many: bool = False
) -> Callable[..., Any]:
    """``one_by_one`` with a free rotation and a motion of the centre of mass of one body; of many ``all_together``."""
    if many:
        return inlined(bind(all_together, move=translate, rotation_map=in_lanes(bind(rotate_all, free=rotate_free))))
    return inlined(bind(one_by_one, free=rotate_free, move=translate))


def compose_step(t, h, p):
    """One step of size h from time t: the stages of the kernel."""
    return run_stages(0, p.int_coefficients[0], t, h, p)


def convert_state(task, t, h, p):
    """Apply the processor where ``task`` is PREPARING, else its inverse; returns a status."""
    first = p.int_coefficients[0] + (0 if task == L.PREPARING else p.int_coefficients[1])
    return run_stages(first, first + p.int_coefficients[1 if task == L.PREPARING else 2], t, h, p)


@inlined
def is_processed(p):
    """Whether the scheme has a processor."""
    return p.int_coefficients[1] > 0


@cache
def functions_of(
    rotate_free: Callable[..., Any], motion: str, compensation: bool = False, reads: bool = False, wheels: bool = False,
    many: bool = False,
) -> tuple[Any, tuple[Any, Any]]:  # fmt: skip
    """The step, and the converter of processed schemes, for a free rotation and a motion of ``MOTIONS``; ``reads``:
    for loads that read auxiliary variables, ``wheels``: without the coupling of wheels, ``many``: rigid bodies."""
    plain, compensated, part = MOTIONS[motion]
    part |= L.WITHOUT_COUPLING if wheels else 0
    translate, kick = compensated if compensation else plain, kick_of(part, compensation, reads)
    together = translate if motion == "jacobi" else free_motion_of(rotate_free, translate, many)
    bound = helper(bind(stages, free_motion=together, push=kick))
    return bind(compose_step, run_stages=bound), (is_processed, bind(convert_state, run_stages=bound))


@cache
def step_on_joints(rotate_free: Callable[..., Any], motion: str, wheels: bool) -> Any:
    """The step on joints, for a free rotation and a motion of ``MOTIONS``."""
    translate, _, part = MOTIONS[motion]
    free = free_motion_of(rotate_free, translate)
    kick = kick_on_joints(part | (L.WITHOUT_COUPLING if wheels else 0))
    bound = helper(bind(stages, free_motion=glides_over(free), push=kick))
    return bind(held_step, one_part=helper(bind(held_part, run_stages=bound)))


def tables(rule: Scheme, nodes: int = 1) -> tuple[Any, Any]:
    """Float and integer coefficients of a scheme as the step reads them; layout as at ``NODES``."""
    rows: list[tuple[float, float, float]] = []
    kinds: list[int] = []
    ahead = sum(step[1] for step in rule.exact_pre if step[0] == "A")
    inverse = tuple((step[0], *(-x for x in step[1:])) for step in reversed(rule.exact_pre))
    for part, time_fraction in ((rule.exact_stages, ahead), (rule.exact_pre, 0), (inverse, ahead)):
        for k, (letter, fraction, *factor) in enumerate(part):
            last = part is rule.exact_stages and letter == "B" and k == len(part) - 1
            kinds.append(FREE if letter == "A" else LAST_KICK if last else KICK)
            time_fraction += fraction if letter == "A" else 0
            at = float(time_fraction - 1 if last else time_fraction)
            rows.append((float(fraction), *map(float, factor or [0]), at))  # type: ignore[arg-type]
    counts = [len(rule.stages), len(rule.pre), len(rule.pre)]
    gauss = find_tableau(f"gauss{2 * nodes}")
    numbers = [np.array(rows).ravel(), (0.5, 1.0), gauss.A.ravel(), gauss.b]
    return np.concatenate(numbers), np.array([*counts, nodes, *kinds], dtype=np.int64)


NEEDS = {
    "any": "",
    "near": "",
    "nystrom": "loads that depend on time and configuration only",
    "gradient": "loads that depend on time and configuration only, and their commutator load",
}
RIGID_FREE = ("momentum_length", "spatial_momentum")
CORRECTOR = Option(
    "", "corrected".__eq__, lambda: ("corrected",), "remove errors of first order in the loads besides the centre's"
)
"""The option of symmetric schemes with Kepler motion between kicks."""


def splitting(chosen: str | Scheme, flow: str | FreeFlow = "exact", name: str | None = None) -> Method:
    """The method of a scheme with a free rotation, ready for ``add_method``.

    Between kicks, positions drift; with ``"kepler"``, or ``"kepler+mr6"`` with a free rotation, they follow Kepler
    orbits about the attracting centre, and kicks are by all other loads [wisdom1991].

    Parameters
    ----------
    chosen : str or Scheme
        The scheme, or its name.
    flow : str or FreeFlow
        The free rotation, or its name, or ``"kepler"`` as above.
    name : str, optional
        Name of a row that is listed as a free rotation; by default the scheme's name, with the flow after a slash
        unless exact.

    Raises
    ------
    InvalidInput
        Unknown scheme or flow, or a ``name`` that is no text.

    Examples
    --------
    >>> mine = Scheme("mine", "kicks of a third", "", 2, [("B", "1/3"), ("A", 1), ("B", "2/3")])
    >>> splitting(mine).promises().order
    2
    """
    rule = scheme(chosen)
    if not isinstance(flow, str | FreeFlow):
        raise InvalidInput(f"flow must be the name of a free rotation or a FreeFlow, not {shown(flow)}")
    if name is not None:
        text(name, "name", LONGEST_WORD)
    motion, word = "drift", flow.partition("+")[0] if isinstance(flow, str) else ""
    if isinstance(flow, str) and word in WORDS:
        motion, flow = "kepler" if word == "kepler" else motion, flow.partition("+")[2] or "exact"
    rotation = free_flow(flow) if isinstance(flow, str) else flow
    order = int(min(rule.order, rotation.order))
    limits = {"nystrom": 4 if rule.symmetric else 3, "gradient": 2}
    order_velocity = min(order, limits.get(rule.requires, order))
    nodes = (order_velocity + 1) // 2
    longest = max(abs(step[1]) for step in (*rule.stages, *rule.pre) if step[0] == "A")
    largest = rotation.largest
    plain = rotation.name == "exact"
    on_glides = rule.requires != "gradient" and not rule.pre and motion != "jacobi"
    correctable = motion == "kepler" and rule.symmetric and rule.order <= HIGHEST

    @cache
    def tables_of(corrector: str) -> tuple[Any, Any]:
        return tables(corrected(rule) if corrector else rule, nodes)

    def compiled(
        options: Mapping[str, str], corrector: str, motion: str, compensation: bool, reads: bool = False,
        wheels: bool = False, many: bool = False,
    ) -> CompiledMethod:  # fmt: skip
        carried, lanes = wheels and plain, plain and motion == "drift" and not wheels
        turning = rotation.compensated if compensation else None
        rotating = turning or rotation.build(**options)
        if carried:
            rotating = gyrostat.rotate_free_compensated if compensation else gyrostat.rotate_free
        step, converter = functions_of(rotating, motion, compensation, reads, carried, many)
        numbers, kinds = tables_of(corrector)
        kicks = (s for s in range(sum(kinds[:3])) if kinds[COUNTS + s] in (KICK, LAST_KICK))

        def mutual(reads: bool) -> CompiledMethod:
            return compiled(options, corrector, "jacobi", compensation, reads)

        def work(bodies: int, blocks: int) -> int:
            own = jacobi_memory(bodies) if motion == "jacobi" else gyrostat.WORK if carried else 0
            return max((2 + nodes + reads) * L.LOAD * bodies, own)

        def on_joints(reads: bool, wheels: bool) -> CompiledMethod:
            carried = wheels and plain
            moving = step_on_joints(gyrostat.rotate_free if carried else rotating, motion, carried)

            def made_for(system: Any, adaptive: bool) -> CompiledMethod:
                flows = int(np.count_nonzero(kinds[COUNTS:] == FREE))
                integers, S = system.mechanism.integers, len(system.auxiliary)
                glides = glides_of(rule)
                whole, size, remembered = plan_of(
                    integers, system.N, S, gyrostat.WORK, flows, len(glides), numbers.size, nodes
                )
                return CompiledMethod(
                    moving, lambda bodies, blocks: size, np.concatenate([numbers, glides]),
                    np.concatenate([kinds, whole]), joints_at=kinds.size, largest=one.largest, refuses=rotation.refuses,
                    needs=one.needs, auxiliary_work=0, remembers=remembered,
                    carries_wheels=carried,
                )  # fmt: skip

            return replace(one, made_for=made_for)

        one = CompiledMethod(
            step, work, numbers, kinds, converter, bool(kinds[1]),
            None if largest is None else lambda m, j: largest(m, j, **options) / longest, rotation.refuses,
            needs=stated(
                central_gravity=motion == "kepler", mutual_gravity=motion == "jacobi", joints=word == "joints"
            ),
            auxiliary_work=2 + nodes + reads, compensation=compensation,
            compensates_rotation=turning is not None, modified=any(numbers[WIDTH * s + 1] for s in kicks),
            compensated=None if compensation else lambda: compiled(options, corrector, motion, True),
            reading=lambda wheels: compiled(options, corrector, motion, compensation, True, wheels),
            of_many=(lambda: compiled(options, corrector, motion, compensation, reads, False, True)) if lanes else None,
            carries_wheels=carried,
            mutual=mutual if motion == "kepler" else None,
            on_joints=on_joints if on_glides and not compensation else None,
        )  # fmt: skip
        return one

    def prepare(corrector: str = "", **options: str) -> CompiledMethod:
        return compiled(options, corrector, motion, False)

    def promised(corrector: str = "", **options: str) -> Promises:
        if not corrector:
            return promises
        processed = corrected(rule)
        lower, with_velocity = int(min(rotation.order, processed.order)), min(order_velocity, 4)
        kept_by = promises.kept_by or (keeper_of(lower) if lower > order else label)
        return replace(
            promises, order=lower, order_velocity=min(lower, with_velocity),
            at_least=promises.at_least or lower < order,
            kept_by=kept_by if with_velocity < lower else "",
            generalised=processed.generalised,
            time_symmetric=False,
        )  # fmt: skip

    known_by_flow = name is not None
    flows = [word] * (word in WORDS) + [rotation.name] * (not plain)

    def keeper_of(order: int) -> str:
        keeper = next((KEEPERS[k] for k in sorted(KEEPERS) if k >= order), "")
        return "/".join([keeper, *["+".join(flows)] * bool(flows)]) if keeper else f"mkrk:gauss{order + order % 2}"

    promises = Promises(
        order=order,
        order_free=rotation.order,
        at_least=rotation.order < rule.order,
        order_velocity=order_velocity,
        kept_by=keeper_of(order) if order_velocity < order else "",
        generalised=rule.generalised,
        requires=NEEDS[rule.requires],
        keeps_free=("energy", *RIGID_FREE) if rotation.keeps_energy else RIGID_FREE,
        keeps_top=("vertical_momentum", "axial_momentum") if rotation.keeps_axial else ("vertical_momentum",),
        time_symmetric=rule.symmetric and rotation.symmetric,
        symplectic=rotation.symplectic,
        evaluations=stages_of(rule),
        axis_order_dependent=rotation.axis_order_dependent,
    )
    flow_titles = [WORDS[one] for one in (word,) if one in WORDS] + [rotation.description] * (not plain)
    description = "; ".join([rule.title, *flow_titles])
    label = name or "/".join([rule.name, *["+".join(flows)] * bool(flows)])
    return Method(
        label, "splitting", rotation.description if known_by_flow else description,
        rotation.cite if known_by_flow else rule.cite, prepare, promised,
        {**rotation.options, **({"corrector": CORRECTOR} if correctable else {})}, range=rotation.range / longest,
        with_flow=None if known_by_flow else lambda other: splitting(rule, other),
    )  # fmt: skip


LGVI = "Lie group variational integrator, v2/dmv2"
ROWS: Mapping[str, Method] = Table({
    **{name: unmade(splitting, name) for name in SCHEMES},
    **{name: unmade(splitting, "v2", name, name) for name in FLOW_NAMES},
    "lgvi": unmade(lambda: replace(splitting("v2", "dmv2", "lgvi"), description=LGVI, cite="lee2007")),
})  # fmt: skip
"""Every scheme with the exact free rotation, every free flow by its own name, and a method known by one of its own."""


def find(name: str) -> Method | None:
    """``v2`` with the free rotation of this name, or None where there is none."""
    return None if free_flows.find(name) is None else splitting("v2", name, name)
