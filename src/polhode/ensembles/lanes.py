"""Members of an ensemble in SIMD lanes: eight or sixteen of them take each step together, on one core.

The kernels are those of single runs, translated once more (``kernel.lane_mode``), and the loads are the system's
program (``System.dynamics``), so any system that can be traced is served, a user's torque too. What cannot be done over
lanes has a reason instead of an engine. A member's numbers depend on its own alone, and differ from those of a single
run by rounding: sine and cosine are computed without the library, and loads in the order of the program.

**Taylor ensembles** (four or eight members at a time) take each its own time and steps of its own size: those that
``polhode.integrate`` takes for it alone with ``taylor`` at a tolerance, by the same rules and of the same order
(``flows.polynomial_lanes``); only sums of products are added in another order. So sizes of steps and states agree to
rounding, which the motion then magnifies: a top after 2 s by 3 ulp, orbits after 9 hours by 130, and where neighbouring
motions part (tumbling), runs part too, as they do for two tolerances. Loads that choose between formulas (plates,
``abs``) cut steps where the choice changes, each member at its own time: those ensembles are for threads, and so is
every single member that does not reach the end in its lane. Steps of one size are those of other methods, with the
series in the place of the loads.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from polhode.algebra import elementary
from polhode.arguments import Array
from polhode.ensembles.engines import Block, Engine, ThreadsEngine
from polhode.ensembles.legs import in_legs, looked_after
from polhode.errors import InvalidInput
from polhode.flows import free_rotation, polynomial_lanes
from polhode.flows.polynomial_lanes import ADDRESSES, MARCH_TAYLOR, SAMPLES, march_taylor
from polhode.kernel import jit, lane_drive as D, layout as L
from polhode.kernel.lane_drive import lane_width
from polhode.kernel.simd import aligned
from polhode.kernel.source import Unsupported
from polhode.methods import MethodSpec
from polhode.methods.record import CompiledMethod
from polhode.programs.dynamics import Dynamics
from polhode.programs.series_lanes import SeriesOfLanes
from polhode.runs.integrator import flags, lengths_of
from polhode.runs.stepping import Run
from polhode.runs.steps import Tolerance
from polhode.runs.tangent.engine import by_series, loads_of_steps, series_of
from polhode.systems import System
from polhode.systems.pairs import MOST_IN_FULL, memory_one_by_one, one_by_one
from polhode.systems.sampling import loads_for_programs, untraced

IN_LANES = (free_rotation.increment,) * 2, *(
    (function, helper)
    for functions, helper in (
        ((math.sin, np.sin), elementary.near_sine), ((math.cos, np.cos), elementary.near_cosine),
        ((math.exp, np.exp), elementary.exponential), ((math.log, np.log), elementary.logarithm),
        ((math.atan2, np.arctan2), elementary.arctangent2), ((math.atan, np.arctan), elementary.arctangent),
        ((math.asin, np.arcsin), elementary.arcsine), ((math.acos, np.arccos), elementary.arccosine),
    )
    for function in functions
)  # fmt: skip
"""What computes functions over lanes; others are called lane by lane."""
MOST_KNOWN = 2
"""Of systems of more bodies one kernel serves all numbers."""


@dataclass(frozen=True, eq=False)
class LaneEngine:
    """Takes blocks of members through their steps, several at a time."""

    width: int  # members in a vector
    fill: Callable[[Block], None]  # takes a block under the same loads
    fixed: tuple[tuple[int, float], ...]  # parameters that decide what the loads are, with the values they must have
    # makes the engine that repeats members which fail here, so that they fail, or not, as a single run does
    again: Callable[[], Engine] | None
    more: str = ""  # beside the width
    cut: Run | None = None  # a run of the first member that has not begun, where steps are cut
    name: str = "lanes"

    @property
    def about(self) -> str:
        return f"{self.width} members at a time{self.more}"

    def refuses(self, parameters: Array) -> str:
        """Why members with these parameters (M or 1, P) have other loads than the system, one sentence; empty where
        they have not."""
        for k, value in self.fixed:
            others = np.flatnonzero(parameters[:, k] != value)
            if others.size:
                return (
                    f"parameter {k} decides what the loads are, and is {parameters[others[0], k]:g} for member "
                    f"{others[0]} where the system has {value:g}"
                )
        return ""

    def run(self, block: Block) -> None:
        """Fill what a block receives; may be called by several threads at once."""
        if self.cut is not None:
            in_legs(self.cut, block, self.take)
        else:
            self.take(block)

    def take(self, block: Block) -> None:
        """The same under the same loads."""
        self.fill(block)
        failed = np.flatnonzero(block.status)
        if self.again is not None and failed.size:
            other = self.again()
            for k in map(int, failed):
                other.run(block.part(k, k + 1))


def strides_of(block: Block) -> tuple[tuple[Array, ...], list[int]]:
    """Constants of members, and how far apart theirs lie."""
    M, constants = len(block.states), (block.bodies, block.frames, block.parameters)
    return constants, [a.shape[1] if len(a) == M and M > 1 else 0 for a in constants]


def engine_of(run: Run, parameters: Array, tolerances: bool = False) -> LaneEngine | str:
    """The engine for members such as that of a run, of these parameters (M or 1, P), or why there is none."""
    looks = looked_after(run)
    again = None if looks else functools.partial(ThreadsEngine, run)  # those are wholly runs by themselves
    if jit.disabled():
        return "kernels are not compiled (NUMBA_DISABLE_JIT), so there are no lanes"
    if run.adaptive or run.integrator.prepared.polynomial:
        made = taylor_engine_for(run, again, tolerances)
    else:
        made = engine_for(run.system, run.chosen, run.guard, None, again, run if run.breaks or looks else None)
    return made if isinstance(made, str) else made.refuses(parameters) or made


bound = functools.lru_cache(jit.KEPT_KERNELS)(jit.bind)


def engine_for(
    system: System, method: MethodSpec, guard: bool = True, width: int | None = None,
    again: Callable[[], Engine] | None = None, cut: Run | None = None,
) -> LaneEngine | str:  # fmt: skip
    """The engine for members of this system by this method in lanes, or one sentence that says why there is none."""
    width = lane_width() if width is None else width
    prepared = method.prepare().suited(system.provides)
    reason = _reason(system, method, prepared, cut)
    if reason:
        return reason
    kernel, rotates = template(system, prepared, guard), system.rotates
    try:
        loop = jit.compile_kernel(kernel, D.MARCH_LANES, lanes=width, thorough=rotates)  # type: ignore[no-untyped-call]
    except Unsupported as problem:
        return f"method {method.label!r} with {system.name!r} is not done over lanes, because of {problem}"
    fill = filled(system, prepared, loop, width, method.method.range if guard else math.inf)
    fixed = fixed_of(system.dynamics_of(prepared.part))
    if one_by_one(system):
        fixed = tuple((k, float(system.parameters[k])) for k in sorted(system.decided))
    return LaneEngine(width, fill, fixed, again, cut=cut)


def fixed_of(dynamics: Dynamics) -> tuple[tuple[int, float], ...]:
    """Parameters for whose values a program is made."""
    return tuple((int(name[1:]), value) for name, value in dynamics.fixed.items())


def filled(
    system: System, prepared: CompiledMethod, kernel: Callable[..., None], width: int, limit: float = math.inf
) -> Callable[[Block], None]:
    """What fills a block by steps of one size; ``limit`` is the largest rotation (rad) of a body allowed in a step,
    infinite where steps are not guarded."""

    def fill(block: Block) -> None:
        M, blocks, (constants, strides) = len(block.states), system.blocks, strides_of(block)
        lengths, counts = lengths_over(system, prepared), (system.N, len(blocks) // 2, len(system.auxiliary))
        sizes = np.array([*counts, *lengths[:4], block.rows.shape[1], *strides, width], dtype=np.int64)
        given = block.states.shape[1], block.parameters.shape[1]
        if given != lengths[:2]:
            raise ValueError(
                f"members have {given[0]} numbers and {given[1]} parameters, not {lengths[0]} and {lengths[1]}"
            )
        memory = aligned(D.memory_of(system.N, lengths) * width)
        coefficients = np.concatenate([prepared.coefficients, system.parameters if system.sampled else []])
        arrays = (
            block.states, *constants, coefficients, np.asarray(prepared.int_coefficients, dtype=np.int64), blocks,
            memory, memory, block.rows, block.status, block.done, block.iterations,
        )  # fmt: skip
        addresses = np.array([0, 0, *map(jit.begin_of, arrays)], dtype=np.int64)
        kernel(
            0, -(-M // width), M, block.begin, block.n, block.every, float(block.t0), float(block.h), limit, sizes,
            addresses,
        )  # fmt: skip

    return fill


def template(
    system: System, prepared: CompiledMethod, guard: bool, series: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """The loop over members with the step of a method and the loads of a system, or the series in their place, to be
    compiled over lanes."""
    of_pairs = one_by_one(system)
    loads = series or loads_for_programs(of_pairs or loads_of_steps(system, prepared), system.sampled)
    of_loop: dict[str, Any] = {"step": prepared.step}
    if system.sampled:
        of_loop = D.set_in_lanes(len(prepared.coefficients), prepared.step, any(one.pulses for one in system.sampled))
    if prepared.processed and prepared.converter is not None:
        of_loop |= {"convert": prepared.converter[1], "PROCESSED": True}
    commutes = float(system.commutator is not None) if prepared.modified else -1.0
    return bound(  # type: ignore[no-any-return]
        D.march_lanes, loads=loads, IN_LANES=IN_LANES, SHAPE=shape_of(system),
        LENGTHS=lengths_over(system, prepared), KNOWN=known(system, guard, commutes), **of_loop,
    )  # fmt: skip


def lengths_over(system: System, prepared: CompiledMethod) -> tuple[int, ...]:
    """Those of a single run, and of the memory that loads have behind the parameters."""
    return *lengths_of(system, prepared), memory_one_by_one(system) if one_by_one(system) else 0


def known(system: System, guard: bool, commutes: float = 0.0) -> tuple[tuple[int, float | None], ...]:
    """The flags of a run that nothing changes, as pairs (slot of ``step_info``, value)."""
    never: dict[int, float | None] = dict.fromkeys((L.SPLIT_LOADS, L.HAS_SLOPES, L.RELATIVE, L.ABSOLUTE), 0.0)
    never |= dict.fromkeys([L.NEXT_TIME for one in system.sampled if one.pulses])  # each lane's own
    return *flags(system, guard, commutes), *never.items(), (L.COMMANDED, math.inf)


def shape_of(system: System) -> tuple[tuple[str, Any], ...]:
    """What is known of a workspace over lanes: of few bodies their number, and how they move."""
    if system.N > MOST_KNOWN:
        return ()
    blocks = tuple(map(int, system.blocks))
    return (("N", system.N), ("B", len(blocks) // 2), ("S", len(system.auxiliary)), ("blocks", blocks))


def _reason(system: System, method: MethodSpec, prepared: CompiledMethod, cut: Run | None) -> str:
    """Why a system and a method have no engine, before anything is compiled; empty where nothing is in the way."""
    label = f"method {method.label!r}"
    if prepared.made_for is not None or prepared.role is not None:
        return f"{label} is written for each system, which is not done over lanes"
    if prepared.step_density:
        return f"{label} chooses its steps, which differ from lane to lane"
    if prepared.bath is not None:
        return f"{label} keeps more than positions, momenta and attitudes, which is not done over lanes"
    if prepared.modified and system.commutator is None:
        return f"{label} takes commutator loads, which {system.name!r} does not state in a form for lanes"
    if "mutual_gravity" in prepared.needs:
        return f"{label} follows orbits of several bodies about each other, which is not done over lanes"
    if told := untraced(system.sampled):
        return f"its {told}, which is not done over lanes"
    if cut is not None and looked_after(cut) and system.sampled:
        return f"controllers of {system.name!r} set states between steps in which events are looked for"
    if (cut is not None or system.switches) and prepared.processed:
        return (
            f"steps of {system.name!r} are cut or looked into, and {label}, which is processed, would begin anew there"
        )
    dynamics = system.dynamics_of(prepared.part)
    if dynamics.traced or one_by_one(system):
        return ""
    if system.serve is not None:
        return (
            f"loads on pairs of {system.N} bodies are done sooner by threads, over neighbours; lanes take all, of "
            f"{MOST_IN_FULL} bodies at most, or of fewer that are made of many numbers"
        )
    return f"the loads of {system.name!r} are no program: {dynamics.reason}"


# ------------------------------------------------------------------ Taylor steps
def taylor_engine_for(run: Run, again: Callable[[], Engine] | None, tolerances: bool) -> LaneEngine | str:
    """The engine for members such as that of a run, or one sentence that says why there is none."""
    own, label = run.integrator, f"method {run.chosen.label!r}"
    system = own.system
    if not own.prepared.polynomial:
        return f"members of {label} choose their steps by an error estimate, each its own, which is done one by one"
    if system.sampled:
        return f"controllers of {system.name!r} set what its loads read, which their series in lanes do not see"
    try:
        made = series_of(system)
    except InvalidInput as problem:
        return str(problem)
    if made is None:
        return f"the loads of {system.name!r} choose between formulas, so that steps are cut, each member's elsewhere"
    width, fixed = lane_width(series=True), fixed_of(system.in_full)
    try:
        if not run.adaptive:
            prepared = by_series(own.prepared, made)
            loop = jit.compile_kernel(template(system, prepared, True, made.series), D.MARCH_LANES, lanes=width)  # type: ignore[no-untyped-call]
            cut = run if run.breaks or looked_after(run) else None
            return LaneEngine(width, filled(system, prepared, loop, width), fixed, again, cut=cut)
        kernel = taylor_template(system, made, (
            (L.COMPENSATION_AT, float(own.step_info[L.COMPENSATION_AT])),
            *(((L.RELATIVE, None), (L.ABSOLUTE, None)) if tolerances else ()),
        ))  # fmt: skip
        loop = jit.compile_kernel(kernel, MARCH_TAYLOR, lanes=width)  # type: ignore[no-untyped-call]
    except Unsupported as problem:
        return f"{label} with {system.name!r} is not done over lanes, because of {problem}"
    return LaneEngine(width, filled_to_the_end(run, made, loop, width), fixed, again, ", each with its own steps")


def taylor_template(system: System, made: SeriesOfLanes, known: tuple[Any, ...]) -> Callable[..., Any]:
    """The loop over members with the series of a system, to be compiled over lanes."""
    of_system = {"SHAPE": shape_of(system), "series": made.series, "increments": made.increments}
    return bound(march_taylor, KNOWN=known, IN_LANES=IN_LANES, **of_system)


def filled_to_the_end(
    run: Run, made: SeriesOfLanes, kernel: Callable[..., None], width: int
) -> Callable[[Block], None]:
    """What fills a block by Taylor steps of members' own, from a run of the first that has not begun."""
    own, asked = run.integrator, cast(Tolerance, run.request.steps)
    order_of = own.prepared.by_tolerance or (lambda rtol: own.int_coefficients[0])

    def fill(block: Block) -> None:
        if block.tolerances is None:
            return fill_by_order(block, own.int_coefficients[0], np.empty((1, 0)))
        levels, which = np.unique(block.tolerances[:, 0], return_inverse=True)
        orders = np.array([order_of(one) for one in levels])[which]
        for order in np.unique(orders):
            some = np.flatnonzero(orders == order)
            part = block.part(0, 0, some)
            fill_by_order(part, order, part.tolerances)
            for name in ("rows", "iterations", "status", "done", "sizes"):
                getattr(block, name)[some] = getattr(part, name)

    def fill_by_order(block: Block, order: int, tolerances: Array) -> None:
        constants, strides = strides_of(block)
        sizes = np.array([
            own.system.N, own.blocks.size // 2, len(own.system.auxiliary), block.states.shape[1],
            block.parameters.shape[1], tolerances.shape[1], made.size, block.rows.shape[1], *strides, width,
        ])  # fmt: skip
        memory = aligned(int(polynomial_lanes.memory_of(sizes)) * width)  # type: ignore[no-untyped-call]
        numbers = np.array([order, made.states, made.width, 0, 0, made.sums], dtype=np.int64)
        arrays = {
            D.STATES: block.states, D.BODIES: constants[0], D.FRAMES: constants[1], D.CONSTANTS: constants[2],
            D.INT_COEFFICIENTS: numbers, D.BLOCKS: own.blocks, D.STEP_INFO: own.step_info.copy(), D.MEMORY: memory,
            D.RECORD: block.rows, D.STATUS: block.status, D.DONE: block.done,
        }  # fmt: skip
        addresses = [0] * ADDRESSES
        for slot, a in [*arrays.items(), *enumerate((block.samples, block.sizes, tolerances), SAMPLES)]:
            addresses[slot] = jit.begin_of(a)
        block.iterations[:] = 0
        kernel(
            0, len(block.states), asked.max_steps, float(block.t0), float(block.t0 + block.h),
            float(asked.max_step or np.inf), float(asked.first_step or 0.0), sizes, np.array(addresses),
        )  # fmt: skip

    return fill
