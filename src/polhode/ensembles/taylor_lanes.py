"""Taylor ensembles in SIMD lanes: four or eight members at a time, each with its own time and steps of its own size.

A member takes the steps that ``polhode.integrate`` takes for it alone with ``taylor`` at a tolerance, by the same
rules and of the same order (``flows.polynomial_lanes``); only sums of products are added in another order. So sizes of
steps and states agree to rounding, which the motion then magnifies: a top after 2 s by 3 ulp, orbits after 9 hours by
130, and where neighbouring motions part (tumbling), runs part too, as they do for two tolerances. A member's numbers
do not depend on its neighbours, on how many there are, on chunks or threads.

Loads that choose between formulas (shadows, plates, ``abs``) cut steps where the choice changes, each member at its
own time: those ensembles are for the scalar engine, and so is every single member that does not reach the end in its
lane. Steps of one size are those of ``lanes``, with the series in the place of the loads.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import llvmlite.binding as llvm
import numpy as np

from polhode.ensembles.engines import Block, Engine
from polhode.ensembles.lanes import IN_LANES, LaneEngine, decided, known, shape_of
from polhode.errors import InvalidInput
from polhode.flows.polynomial_lanes import ADDRESSES, MARCH_TAYLOR, march_taylor, memory_of
from polhode.kernel import jit, lane_drive as D, layout as L
from polhode.kernel.source import Unsupported
from polhode.programs.series_lanes import SeriesOfLanes
from polhode.runs.integrator import aligned, lengths_of
from polhode.runs.stepping import Run
from polhode.runs.steps import Tolerance
from polhode.runs.tangent.engine import by_series, series_of
from polhode.systems import System


@functools.cache
def lane_width() -> int:
    """How many members take a step together: as many as a register has numbers.

    Several products are summed at a time, so that one vector keeps the processor busy, other than in ``lanes``.
    """
    return 8 if llvm.get_host_cpu_features().get("avx512f") else 4


@dataclass(frozen=True, eq=False)
class TaylorLaneEngine:
    """Takes blocks of members to the end by Taylor steps of their own, several members at a time."""

    run_of_first: Run  # A run of the first member that has not begun
    made: SeriesOfLanes  # the sizes of the series
    kernel: Any  # the compiled ``march_taylor``
    width: int  # members in a vector
    again: Callable[[], Engine]  # makes the engine for members that do not reach the end in their lanes
    # parameters that decide what the loads are, with the values they must have
    fixed: tuple[tuple[int, float], ...] = ()
    name: str = "lanes"

    @property
    def about(self) -> str:
        return f"{self.width} members at a time, each with its own steps"

    def refuses(self, parameters: Any) -> str:
        """As of ``LaneEngine``."""
        return decided(self.fixed, parameters)

    def run(self, block: Block) -> None:
        """Take all members of a block to the end; may be called by several threads at once."""
        own, made, M = self.run_of_first.integrator, self.made, len(block.states)
        system, asked = own.system, cast(Tolerance, self.run_of_first.request.steps)
        assert block.samples is not None
        sizes = np.zeros(D.SIZES, dtype=np.int64)
        constants = (block.bodies, block.frames, block.parameters)
        strides = [a.shape[1] if len(a) == M and M > 1 else 0 for a in constants]
        sizes[:] = (
            system.N, own.blocks.size // 2, len(system.auxiliary), block.states.shape[1], block.parameters.shape[1], 0,
            made.size, block.rows.shape[1], *strides, self.width,
        )  # fmt: skip
        memory = aligned(int(memory_of(sizes)) * self.width)  # type: ignore[no-untyped-call]
        numbers = np.array([own.int_coefficients[0], made.states, made.width, 0, 0, made.sums], dtype=np.int64)
        arrays = {
            D.STATES: block.states, D.BODIES: block.bodies, D.FRAMES: block.frames, D.CONSTANTS: block.parameters,
            D.INT_COEFFICIENTS: numbers, D.BLOCKS: own.blocks, D.STEP_INFO: own.step_info.copy(), D.MEMORY: memory,
            D.RECORD: block.rows, D.STATUS: block.status, D.DONE: block.done,
        }  # fmt: skip
        addresses = np.zeros(ADDRESSES, dtype=np.int64)
        for slot, a in [*arrays.items(), *enumerate((block.samples, block.sizes), ADDRESSES - 2)]:
            addresses[slot] = a.ctypes.data
        block.iterations[:] = 0
        end = block.t0 + block.h
        self.kernel(
            0, M, asked.max_steps, float(block.t0), float(end),
            float(asked.max_step or np.inf), float(asked.first_step or 0.0), sizes, addresses,
        )  # fmt: skip
        failed = np.flatnonzero(block.status != L.OK)
        if failed.size:
            engine = self.again()
            for k in map(int, failed):
                engine.run(block.part(k, k + 1))


def engine_for(run: Run, again: Callable[[], Engine], width: int | None = None) -> TaylorLaneEngine | LaneEngine | str:
    """The engine for members such as that of a run, or one sentence that says why there is none."""
    own, label = run.integrator, f"method {run.chosen.label!r}"
    system = own.system
    if jit.disabled():
        return "kernels are not compiled (NUMBA_DISABLE_JIT), so there are no lanes"
    if not own.prepared.polynomial:
        return f"members of {label} choose their steps by an error estimate, each its own, which is done one by one"
    if system.switches or system.watched or system.impulses or run.breaks or system.sampled:
        return f"{system.name!r} changes its loads during a run (burns, shadows, impulses), each member at its own time"
    try:
        made = series_of(system)
    except InvalidInput as problem:
        return str(problem)
    if made is None:
        return f"the loads of {system.name!r} choose between formulas, so that steps are cut, each member's elsewhere"
    width = lane_width() if width is None else width
    fixed = tuple((int(name[1:]), value) for name, value in system.dynamics.fixed.items())
    try:
        if not run.adaptive:
            prepared = by_series(own.prepared, made)
            kernel = jit.bind(  # type: ignore[no-untyped-call]
                D.march_lanes, step=prepared.step, loads=made.series, IN_LANES=IN_LANES, SHAPE=shape_of(system),
                LENGTHS=lengths_of(system, prepared), KNOWN=known(system, True),
            )  # fmt: skip
            loop = jit.compile_lanes(kernel, D.MARCH_LANES, width)  # type: ignore[no-untyped-call]
            return LaneEngine(system, run.chosen, width, prepared, loop, fixed, again=again)
        kernel = template(system, made, ((L.COMPENSATION_AT, float(own.step_info[L.COMPENSATION_AT])),))
        loop = jit.compile_lanes(kernel, MARCH_TAYLOR, width)  # type: ignore[no-untyped-call]
    except Unsupported as problem:
        return f"{label} with {system.name!r} is not done over lanes, because of {problem}"
    return TaylorLaneEngine(run, made, loop, width, again, fixed)


def template(system: System, made: SeriesOfLanes, known: tuple[tuple[int, float], ...]) -> Callable[..., Any]:
    """The loop over members with the series of a system, to be compiled over lanes."""
    bound = {"series": made.series, "increments": made.increments, "IN_LANES": IN_LANES}
    return jit.bind(march_taylor, SHAPE=shape_of(system), KNOWN=known, **bound)  # type: ignore[no-any-return,no-untyped-call]
