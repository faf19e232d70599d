"""The steps of a method with derivatives: a compiled loop for a system, and the memory it works on.

The loop is that of the method's own step, translated with derivatives (``kernel.tangent_mode``); the loads are the
system's program where it has one, else its role.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from polhode.arguments import Array, Indices, Mask
from polhode.errors import InvalidInput
from polhode.flows import tangent_rules, taylor_plain
from polhode.flows.polynomial_lanes import step_by_slopes, taylor_step
from polhode.kernel import jit, layout as L, tangent_drive as D
from polhode.kernel.pairs import WITHOUT_THREADS
from polhode.kernel.sampling import sample, sample_valves, step_between_moving_closings
from polhode.kernel.simd import aligned
from polhode.kernel.source import Unsupported
from polhode.kernel.tangent_mode import chunks, padded
from polhode.methods import MethodSpec
from polhode.methods.record import CompiledMethod
from polhode.methods.taylor_series import taylor_step as turned_by_taylor
from polhode.programs.chained import HEAD_OF_CHAINED, chained_text
from polhode.programs.roles import member_text
from polhode.programs.series_lanes import SeriesOfLanes, series_of_lanes
from polhode.programs.series_slopes import SeriesWithSlopes, series_with_slopes
from polhode.programs.text import HEAD
from polhode.programs.written import module_of
from polhode.runs.integrator import flags, lengths_of
from polhode.runs.tangent import attraction
from polhode.systems import System
from polhode.systems.gravitation import gravity_loads
from polhode.systems.loads_roles import loads_between, no_loads, parted_loads
from polhode.systems.sampling import loads_for_programs, untraced

MOST_STEPS = 10**10
"""Most steps of indicators and gradients, which take hours."""
ON_GRID = 1e-12
"""Distance of a time from the end of a step, in steps, that counts as being there."""
FEW_LINES = 60
"""Programs of at most so many lines are written wherever they are called."""


@dataclass(frozen=True, eq=False)
class Steps:
    """n steps of one size h, of which the first is number ``first`` from t0 on; or those between ``ends``."""

    t0: float
    h: float
    n: int
    first: int = 0
    ends: Array | None = None

    @classmethod
    def between(cls, ends: Array) -> Steps:
        """Steps from each time to the next."""
        return cls(float(ends[0]), float(ends[-1] - ends[0]), len(ends) - 1, 0, ends)

    def end(self, k: int | Indices) -> Any:
        """Time at which k steps have been taken."""
        return self.t0 + (self.first + k) * self.h if self.ends is None else self.ends[k]

    def size(self, k: int | Indices) -> Any:
        """Size of step number k."""
        return self.h if self.ends is None else self.ends[k + 1] - self.ends[k]

    def of_times(self, times: Array) -> tuple[Indices, Mask]:
        """How many whole steps lead up to each time, and whether one ends there."""
        if self.ends is None:
            k = np.floor((times - self.t0) / self.h).astype(np.int64) - self.first
        else:
            forwards = np.sign(self.h)
            k = np.searchsorted(self.ends * forwards, times * forwards, side="right") - 1
        k = np.clip(k, 0, self.n)
        here, ahead = self._end_at(k, times), (k < self.n) & self._end_at(np.minimum(k + 1, self.n), times)
        return np.where(here, k, np.where(ahead, k + 1, np.minimum(k, self.n - 1))), here | ahead

    def _end_at(self, k: Indices, times: Array) -> Mask:
        """Whether times are where steps of these numbers end."""
        size = np.abs(self.size(np.maximum(k - 1, 0)))
        found: Mask = np.abs(self.end(k) - times) <= ON_GRID * np.maximum(size, np.where(k > 0, np.abs(times), 0.0))
        return found

    def part(self, first: int, last: int) -> Steps:
        """Some of the steps."""
        ends = None if self.ends is None else self.ends[first : last + 1]
        return Steps(self.t0, self.h, last - first, self.first + first, ends)

    @property
    def each(self) -> tuple[Array, Array, Array]:
        """Where each begins, its size, and its end as the next step sees it; of no steps where the first would."""
        k = np.arange(self.n)
        return self.end(np.arange(max(1, self.n))), np.broadcast_to(self.size(k), self.n), self.end(k + 1)


@dataclass(frozen=True, eq=False)
class Constants:
    """Numbers of bodies (12 N), frames (4 N) and parameters (P), each (M or 1, length), with derivatives or None."""

    bodies: Array
    frames: Array
    parameters: Array
    varied: tuple[Array, Array, Array] | None = None


@dataclass(frozen=True, eq=False)
class Marched:
    """What a march has found: states (M, rows, width), derivatives (M, rows, width, directions) or, of vectors that
    were scaled, no states and numbers of their growth (M, rows, kinds); statuses and completed steps (M)."""

    states: Array
    derivatives: Array
    status: Indices
    done: Indices


class TangentEngine:
    """Takes states and their derivatives through the steps of a method."""

    def __init__(
        self, system: System, method: MethodSpec, directions: int, varied: bool = False, guard: bool = True,
        adaptive: bool = False, breaks: bool = False, timed: bool = False, of_bodies: bool | None = None,
    ) -> None:  # fmt: skip
        memory = system.memory and (system.loads is not gravity_loads or method.prepare().modified)
        varied = varied or bool(memory)  # memory behind the parameters holds what follows from the state
        self.system, self.method, self.directions, self.varied = system, method, directions, varied
        self.adaptive, self.breaks, self.timed = adaptive, breaks, timed
        self.of_bodies = varied if of_bodies is None else of_bodies
        self.prepared, self.kernel = _compiled(self, system, method, directions, varied)
        self.guard = guard
        self.limit = float(method.method.range) if guard else np.inf
        prepared = self.prepared
        self.width, _, self.load, self.work = lengths_of(system, prepared)
        self.stride, self.blocks = padded(directions), system.blocks
        self.coefficients = np.ascontiguousarray(prepared.coefficients, dtype=float)
        self.int_coefficients = np.asarray(prepared.int_coefficients, dtype=np.int64)
        self.step_info, commutes = np.zeros(L.STEP_INFO), 0.0
        if prepared.modified:
            commutes = 2.0 if system.commutator_by_parts else float(system.commutator is not None)
        joints = (L.JOINTS_AT, float(prepared.joints_at))
        for slot, value in (*flags(system, guard, commutes), (L.COMMANDED, np.inf), joints):
            self.step_info[slot] = value

    def march(
        self, states: Array, seeds: Array, steps: Steps, *, every: int = 0, constants: Constants | None = None,
        treatment: int = D.RECORDED, weights: Array | None = None, between: int = 1, growth: Array | None = None,
        moving: tuple[Array, Array] | None = None,
    ) -> Marched:  # fmt: skip
        """Take members through steps."""
        states = np.ascontiguousarray(states, dtype=float)
        M, n = len(states), steps.n
        every = every or max(1, n)
        rows = 1 + -(-n // every)
        still, frames = self.system, np.array(self.system.frames, dtype=float)
        constants = constants or Constants(still.bodies[None], frames.reshape(1, -1), still.with_memory[None])
        recorded = treatment <= D.COMMANDED
        vectors = 0 if recorded else self.directions
        given = self.padded(seeds) if growth is None else seeds
        numbers = [np.ascontiguousarray(a, float) for a in (constants.bodies, constants.frames, constants.parameters)]
        if self.system.memory:
            numbers[2] = numbers[2].copy()  # which kernels write into
        changes = constants.varied or tuple(np.zeros((*a.shape, self.directions)) for a in numbers)
        derived = [self.padded(a) for a in changes] if self.varied else [np.zeros(1)] * 3
        before = 3 * self.width + self.load  # three states, loads; then scratch memory, which is aligned
        memory = before + self.work
        record = np.zeros((M, rows * recorded, self.width))
        kinds = D.OF_VECTOR * vectors + D.OF_ALL
        shown = np.zeros((M, rows, self.width, self.stride) if recorded else (M, rows, kinds))
        status, done = np.zeros(M, np.int64), np.zeros(M, np.int64)
        weighing = np.ones(self.width) if weights is None else np.ascontiguousarray(weights, dtype=float)
        grown = np.zeros((M, kinds)) if growth is None else growth
        sizes = np.array([
            self.system.N, len(self.blocks) // 2, len(self.system.auxiliary), self.width, numbers[2].shape[1],
            self.load, self.work, self.stride, rows, every, treatment, vectors, between,
            *(a[0].size if len(a) == M > 1 else 0 for a in (*numbers, given)),
        ], np.int64)  # fmt: skip
        arrays = (
            states, given, numbers[0], derived[0], numbers[1], derived[1], numbers[2], derived[2], self.coefficients,
            self.int_coefficients, self.blocks, self.step_info.copy(), aligned(memory + 7)[-before % 8 :],
            np.zeros(memory * self.stride), *(np.ascontiguousarray(a, dtype=float) for a in
                                              steps.each),
            record, shown, weighing, status, done, grown,
            *(self.padded(a) for a in (moving or (np.zeros((n if self.timed else 0, self.directions)),) * 2)),
        )  # fmt: skip
        addresses = np.array([0, 0, *(a.ctypes.data for a in arrays)], dtype=np.int64)
        self.kernel(0, M, n, self.limit, sizes, addresses)
        found = shown[..., : self.directions] if recorded else shown
        return Marched(record, found, status, done)

    def shown(self, state: Array, change: Array, t: float, constants: Constants) -> tuple[Array, Array]:
        """A state and its derivatives with what controllers set at its time."""
        if not self.system.sampled:
            return state, change
        marched = self.march(state[None], change[None], Steps(t, 0.0, 0), constants=constants, treatment=D.COMMANDED)
        return marched.states[0, -1], marched.derivatives[0, -1]

    def padded(self, derivatives: Array) -> Array:
        """Derivatives as they lie in memory."""
        given = np.zeros((*derivatives.shape[:-1], self.stride))
        given[..., : self.directions] = derivatives
        return given


def method_and_loads(
    system: System, method: MethodSpec, adaptive: bool, vectors: int = 0, varied: tuple[bool, bool] = (False, False)
) -> tuple[CompiledMethod, Callable[..., Any]]:
    """The method as the loop takes it, and the loads, with derivatives in so many vectors of the state alone (0: of
    times, too), where parameters or constants of bodies may have some."""
    label = f"method {method.label!r}"
    if jit.disabled():
        raise InvalidInput("derivatives of runs need compiled kernels, which NUMBA_DISABLE_JIT turns off")
    prepared = method.prepare().suited(system.provides)
    if prepared.bath is not None:
        raise InvalidInput(f"{label} has a heat bath, so that its runs have no derivatives here")
    if prepared.step_density:
        raise InvalidInput(f"{label} chooses its steps along the motion; derivatives are for steps of one size or a "
                           "tolerance")  # fmt: skip
    if "unconstrained" not in system.provides and prepared.made_for is not None:
        prepared = prepared.made_for(system, adaptive)
    if prepared.made_for is None:
        if prepared.modified and system.commutator is None and not system.commutator_by_parts:
            raise InvalidInput(
                f"{label} takes the commutator of the loads, which {system.name!r} has by differences only; take a "
                "splitting without it, such as 'rkn6_14a'"
            )
        loads = loads_of_steps(system, prepared, vectors)
    else:
        prepared, loads = _taylor(system, method, prepared, adaptive, vectors, varied)
    if told := untraced(system.sampled):
        raise InvalidInput(f"runs of {system.name!r} have no derivatives, because its {told}")
    return prepared, loads_for_programs(loads, system.sampled)


def _compiled(
    engine: TangentEngine, system: System, method: MethodSpec, directions: int, varied: bool
) -> tuple[CompiledMethod, Callable[..., Any]]:
    """The method as the loop takes it, and the compiled loop."""
    vectors = 0 if engine.timed else len(chunks(directions))
    prepared, loads = method_and_loads(system, method, engine.adaptive, vectors, (varied, varied and engine.of_bodies))
    if engine.breaks:
        loads = _between(loads, len(system.with_memory))
    step, valves = prepared.step, any(one.pulses for one in system.sampled)
    if valves:
        step = jit.bind(step_between_moving_closings, step=step)  # type: ignore[no-untyped-call]
    converting: dict[str, Any] = {}
    if system.sampled:
        converting = {"set_states": sample_valves if valves else sample, "SAMPLES": True}
    if prepared.processed and prepared.converter is not None:
        converting |= {"convert": prepared.converter[1], "PROCESSED": True}
    try:
        how = {"VARIED": varied, "OF_BODIES": engine.of_bodies, "TIMED": engine.timed}
        return prepared, _loop(padded(directions), step=step, loads=loads, **how, **converting)
    except Unsupported as problem:
        raise InvalidInput(
            f"method {method.label!r} with {system.name!r} has no derivatives here, because of {problem}"
        ) from None


@lru_cache(maxsize=64)
def _loop(directions: int, **bound: Any) -> Callable[..., Any]:
    """The compiled loop with these functions and choices."""
    rules = {"RULES": (*tangent_rules.RULES, *attraction.RULES), "APART": tangent_rules.APART}
    template = jit.bind(D.march_tangents, **rules, **bound)  # type: ignore[no-untyped-call]
    return jit.compile_kernel(template, D.MARCH_TANGENTS, directions=directions)  # type: ignore[no-any-return, no-untyped-call]


@lru_cache(32)
def _loads_of(text: str, head: str = HEAD) -> Callable[..., Any]:
    """The loads of a text, short ones to be inlined."""
    loads: Callable[..., Any] = module_of(text, head).loads
    return jit.inlined(loads) if text.count("\n") <= FEW_LINES else loads  # type: ignore[no-untyped-call]


def loads_of_steps(system: System, prepared: CompiledMethod, vectors: int = 1) -> Callable[..., Any]:
    """The loads as a plain function, for steps that call them, with derivatives in so many vectors."""
    dynamics, loads = system.dynamics_of(prepared.part), system.loads
    if dynamics.traced:
        text = chained_text(dynamics, vectors) if vectors > 1 else None
        loads = _loads_of(text, HEAD_OF_CHAINED) if text else _loads_of(member_text(dynamics))
    elif system.called:
        raise InvalidInput(f"the loads of {system.name!r} have no derivatives, because they are no program: "
                           f"{dynamics.reason}")  # fmt: skip
    else:
        loads = (
            attraction.rest if loads is gravity_loads and not prepared.modified else WITHOUT_THREADS.get(loads, loads)
        )
    if not prepared.modified:
        return loads
    return jit.bind(  # type: ignore[no-untyped-call]
        parted_loads, plain_loads=loads, commutator_loads=system.commutator or system._from_program("commutator")
    )


@lru_cache(maxsize=64)
def _between(loads: Callable[..., Any], number: int) -> Callable[..., Any]:
    """Loads that see no time beyond two parameters."""
    return jit.bind(loads_between, loads=loads, at=number)  # type: ignore[no-untyped-call]


@lru_cache(maxsize=64)
def _rotating(order: int, series: Callable[..., Any]) -> Callable[..., int]:
    """The step by ``flows.taylor_plain`` of an order with the series of a torque."""
    made = jit.bind(  # type: ignore[no-untyped-call]
        taylor_plain.rotate_free,
        ORDER=order,
        COUNT=4 * ((order + 7) // 8),
        series=jit.inlined(series),  # type: ignore[no-untyped-call]
    )
    return jit.bind(turned_by_taylor, rotate_free=jit.helper(made))  # type: ignore[no-untyped-call]


@lru_cache(maxsize=64)
def _stepping(made: SeriesOfLanes | SeriesWithSlopes) -> Callable[..., int]:
    if isinstance(made, SeriesWithSlopes):
        return jit.bind(step_by_slopes, with_slopes=jit.helper(made.series))  # type: ignore[no-untyped-call]
    return jit.bind(taylor_step, increments=made.increments)  # type: ignore[no-untyped-call]


def _motion_of(system: System) -> tuple[Any, ...]:
    """What series are made of."""
    dynamics = system.in_full
    moves, turns = (tuple(np.isfinite(one).tolist()) for one in (system.mass, np.min(system.moments, axis=1)))
    return dynamics.graph, system.N, dynamics.force, dynamics.torque, dynamics.rates, moves, turns


def series_of(system: System, vectors: int = 1) -> SeriesOfLanes | None:
    """The series of all numbers of a system, with derivatives in so many vectors; None where its loads choose between
    formulas."""
    return series_of_lanes(*_motion_of(system), vectors)


def by_series(prepared: CompiledMethod, made: SeriesOfLanes | SeriesWithSlopes) -> CompiledMethod:
    """The Taylor method of an order with a series."""
    numbers = np.array([int(prepared.int_coefficients[0]), made.states, made.width, 0, 0, made.sums], dtype=np.int64)
    return replace(prepared, step=_stepping(made), work=lambda bodies, blocks: made.size, int_coefficients=numbers)


def _taylor(
    system: System, method: MethodSpec, prepared: CompiledMethod, adaptive: bool, vectors: int,
    varied: tuple[bool, bool],
) -> tuple[CompiledMethod, Callable[..., Any]]:  # fmt: skip
    """The Taylor method with the series of all numbers, or with slopes of the series, in the place of the loads; for a
    torque of the vertical alone, in steps of one size, with plain numbers."""
    if "series" in system.provides and not adaptive:
        own = prepared.made_for(system, False)  # type: ignore[misc]
        return replace(own, step=_rotating(method.promises.order, system.series_role)), no_loads
    own = prepared.made_for(system, True)  # type: ignore[misc]
    if vectors and (by_slopes := series_with_slopes(*_motion_of(system), vectors, *varied)):
        return by_series(own, by_slopes), by_slopes.loads
    made = series_of(system, max(1, vectors))
    if made is None:
        raise InvalidInput(f"the loads of {system.name!r} choose between formulas, so that steps of {method.label!r} "
                           "are cut; its runs have no derivatives here")  # fmt: skip
    return by_series(own, made), made.series
