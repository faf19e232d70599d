"""Members of an ensemble in SIMD lanes: eight or sixteen of them take each step together, on one core.

The kernels are those of single runs, translated once more (``kernel.lane_mode``), and the loads are the system's
program (``System.dynamics``), so any system that can be traced is served, a user's torque too. What cannot be done over
lanes has a reason instead of an engine. A member's numbers do not depend on its neighbours, nor on how many there are.

Numbers over lanes differ from those of a single run by rounding: sine and cosine are computed without the library, and
loads in the order of the program.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from polhode.algebra import elementary
from polhode.ensembles.engines import Block, Engine
from polhode.kernel import jit, layout as L
from polhode.kernel.lane_drive import MARCH_LANES, march_lanes, memory_of, set_in_lanes
from polhode.kernel.source import Unsupported
from polhode.methods import MethodSpec
from polhode.methods.record import CompiledMethod
from polhode.runs.integrator import aligned, flags, lengths_of
from polhode.runs.legs import in_legs
from polhode.runs.stepping import Run
from polhode.runs.tangent.engine import loads_of_steps
from polhode.systems import System
from polhode.systems.sampling import loads_for_programs, untraced

IN_LANES = tuple(
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


@functools.cache
def lane_width() -> int:
    """How many members take a step together: two vectors of 8 with registers of 512 bits, else of 4.

    The operations of a step wait for each other; two vectors at once fill the time (measured: 71 million steps of a top
    a second where one vector takes 39, and four 80).
    """
    return 16 if llvm.get_host_cpu_features().get("avx512f") else 8


@dataclass(frozen=True, eq=False)
class LaneEngine:
    """Takes blocks of members through their steps, several at a time."""

    # what the members are copies of; those of its parameters that its program is made for must be theirs too, see
    # ``refuses``
    system: System
    method: MethodSpec  # the method
    width: int  # members in a vector
    prepared: CompiledMethod
    kernel: Any
    fixed: tuple[tuple[int, float], ...] = ()
    limit: float = math.inf  # largest rotation (rad) of a body allowed in a step; infinite where steps are not guarded
    # makes the engine that repeats members which fail here, so that they fail, or not, as a single run does
    again: Callable[[], Engine] | None = None
    cut: Run | None = None  # a run of the first member that has not begun, where steps are cut
    name: str = "lanes"

    @property
    def about(self) -> str:
        return f"{self.width} members at a time"

    def refuses(self, parameters: Any) -> str:
        """Why members with these parameters (M or 1, P) are not served, one sentence; empty where they are."""
        return decided(self.fixed, parameters)

    def run(self, block: Block) -> None:
        """Fill what a block receives; may be called by several threads at once."""
        if self.cut is not None:
            in_legs(self.cut, block, self.take)
        else:
            self.take(block)

    def take(self, block: Block) -> None:
        """The same of steps of one size under the same loads."""
        system, M = self.system, len(block.states)
        constants = (block.bodies, block.frames, block.parameters)
        strides = [a.shape[1] if len(a) == M and M > 1 else 0 for a in constants]
        blocks = system.blocks
        lengths, counts = lengths_of(system, self.prepared), (system.N, len(blocks) // 2, len(system.auxiliary))
        sizes = np.array([*counts, *lengths, block.rows.shape[1], *strides, self.width], dtype=np.int64)
        given = block.states.shape[1], block.parameters.shape[1]
        if given != lengths[:2]:
            raise ValueError(
                f"members have {given[0]} numbers and {given[1]} parameters, not {lengths[0]} and {lengths[1]}"
            )
        memory = aligned(memory_of(system.N, lengths) * self.width)
        coefficients = np.concatenate([self.prepared.coefficients, system.parameters if system.sampled else []])
        arrays = (
            block.states, *constants, coefficients,
            np.asarray(self.prepared.int_coefficients, dtype=np.int64), blocks, memory, memory, block.rows,
            block.status, block.done, block.iterations,
        )  # fmt: skip
        addresses = np.array([0, 0, *(a.ctypes.data for a in arrays)], dtype=np.int64)
        self.kernel(
            0, -(-M // self.width), M, block.n, block.every, float(block.t0), float(block.h), self.limit, sizes,
            addresses,
        )  # fmt: skip
        failed = np.flatnonzero(block.status)
        if self.again is not None and failed.size:
            other = self.again()
            for k in failed:
                other.run(block.part(int(k), int(k) + 1))


def decided(fixed: tuple[tuple[int, float], ...], parameters: Any) -> str:
    """Why members with these parameters (M or 1, P) have other loads than the system, one sentence; empty where not."""
    for k, value in fixed:
        others = np.flatnonzero(parameters[:, k] != value)
        if others.size:
            return (
                f"parameter {k} decides what the loads are, and is {parameters[others[0], k]:g} for member "
                f"{others[0]} where the system has {value:g}"
            )
    return ""


def engine_for(
    system: System, method: MethodSpec, guard: bool = True, width: int | None = None,
    again: Callable[[], Engine] | None = None, cut: Run | None = None,
) -> LaneEngine | str:  # fmt: skip
    """The engine for members of this system by this method in lanes, or one sentence that says why there is none."""
    width = lane_width() if width is None else width
    prepared = method.prepare().suited(system.provides)
    reason = _reason(system, method, prepared)
    if reason:
        return reason
    kernel = template(system, prepared, guard)
    try:
        loop = jit.compile_lanes(kernel, MARCH_LANES, width)  # type: ignore[no-untyped-call]
    except Unsupported as problem:
        return f"method {method.label!r} with {system.name!r} is not done over lanes, because of {problem}"
    fixed = tuple((int(name[1:]), value) for name, value in system.dynamics_of(prepared.part).fixed.items())
    limit = method.method.range if guard else math.inf
    return LaneEngine(system, method, width, prepared, loop, fixed, limit, again, cut)


def template(system: System, prepared: CompiledMethod, guard: bool) -> Callable[..., Any]:
    """The loop over members with the step of a method and the loads of a system, to be compiled over lanes."""
    loads = loads_for_programs(loads_of_steps(system, prepared), system.sampled)
    converting = set_in_lanes(len(prepared.coefficients)) if system.sampled else {}
    if prepared.processed and prepared.converter is not None:
        converting |= {"convert": prepared.converter[1], "PROCESSED": True}
    commutes = float(prepared.modified and system.commutator is not None)
    return jit.bind(  # type: ignore[no-any-return,no-untyped-call]
        march_lanes, step=prepared.step, loads=loads, IN_LANES=IN_LANES, SHAPE=shape_of(system),
        LENGTHS=lengths_of(system, prepared), KNOWN=known(system, guard, commutes), **converting,
    )  # fmt: skip


def known(system: System, guard: bool, commutes: float = 0.0) -> tuple[tuple[int, float], ...]:
    """The flags of a run that nothing changes, as pairs (slot of ``step_info``, value)."""
    never = (L.SPLIT_LOADS, L.HAS_SLOPES, L.RELATIVE, L.ABSOLUTE)
    return *flags(system, guard, commutes), *((slot, 0.0) for slot in never), (L.COMMANDED, math.inf)


def shape_of(system: System) -> tuple[tuple[str, Any], ...]:
    """What is known of a workspace over lanes: of few bodies their number, and how they move."""
    if system.N > MOST_KNOWN:
        return ()
    blocks = tuple(map(int, system.blocks))
    return (("N", system.N), ("B", len(blocks) // 2), ("S", len(system.auxiliary)), ("blocks", blocks))


def _reason(system: System, method: MethodSpec, prepared: CompiledMethod) -> str:
    """Why a system and a method have no engine, before anything is compiled; empty where nothing is in the way."""
    label = f"method {method.label!r}"
    if jit.disabled():
        return "kernels are not compiled (NUMBA_DISABLE_JIT), so there are no lanes"
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
    if any(one.pulses for one in system.sampled):
        return f"valves of {system.name!r} close within steps, each member's at times of its own"
    if told := untraced(system.sampled):
        return f"its {told}, which is not done over lanes"
    if system.watched or system.impulses:
        return f"{system.name!r} has impulses, or shadows or events that change its loads, which each run meets alone"
    if system.switches and prepared.processed:
        return f"switches cut the steps of {system.name!r}, and {label}, which is processed, would begin anew there"
    dynamics = system.dynamics_of(prepared.part)
    if not dynamics.traced:
        return f"the loads of {system.name!r} are no program: {dynamics.reason}"
    return ""
