"""A method set up over a system: the arrays of a run and the compiled loop that works on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from threading import Thread
from typing import Any, NamedTuple

import numpy as np

from polhode.algebra.quaternion import multiply
from polhode.arguments import Array, Indices
from polhode.capabilities import in_order, listed, refusal
from polhode.errors import InvalidInput
from polhode.flows.sums import COMPENSATION
from polhode.kernel import drive, jit, layout as L
from polhode.kernel.pairs import NOW_AT, SLICES, TEAM
from polhode.kernel.signatures import LOADS, SERVE
from polhode.kernel.simd import aligned
from polhode.kernel.work_sharing import CONTROL, STOP
from polhode.methods import CompiledMethod, MethodSpec, tableau, tableau_names
from polhode.systems import SYSTEMS, System
from polhode.systems.loads_roles import compiled_with, loads_between
from polhode.systems.registry import provided_by


def goes_on(system: System, y: Array) -> bool:
    """Whether the variables that loads read begin with other numbers than those of the system, as where a run goes on
    from another; y is a state with them."""
    read, begin = slice(system.read_from, len(system.auxiliary)), L.BODY * system.N
    own = system.auxiliary_at_start(y[:begin])
    return not np.array_equal(y[begin : begin + len(own)][read], own[read])


def extended(
    system: System, prepared: CompiledMethod, y: Array, given: Array | None = None, compensation: Array | None = None,
    bath: Array | None = None,
) -> Array:  # fmt: skip
    """The state with the system's own numbers behind it and those of the method: what it keeps attitudes as, which then
    follow from them; carries of compensated sums; a heat bath; a time transformation."""
    y = np.array(y, dtype=float)
    chart, N, S = prepared.coordinates, system.N, len(system.auxiliary)
    time_variables = np.zeros(L.TIME_VARIABLES if prepared.step_density else 0)
    if y.size == L.BODY * N:
        y = np.concatenate([y, system.auxiliary_at_start(y)])
    if y.size > L.BODY * N + S:
        return y
    if prepared.compensation:
        return np.concatenate(
            [y, np.zeros(COMPENSATION * N) if compensation is None else np.ravel(compensation), np.zeros(S)]
        )
    if prepared.bath is not None:
        time_variables = np.concatenate([prepared.bath.numbers if bath is None else bath, time_variables])
    if chart is None:
        return np.concatenate([y, time_variables])
    numbers = np.zeros((N, chart.size))
    for i, frame in enumerate(system.frames):
        at = slice(L.BODY * i + L.ATTITUDE, L.BODY * i + L.ATTITUDE + 4)
        q = multiply(y[at], (frame[0], -frame[1], -frame[2], -frame[3]))
        numbers[i] = chart.coordinates(q) if given is None else given[i]
        y[at] = multiply(chart.attitude(tuple(numbers[i])), frame)
    return np.concatenate([y, numbers.ravel(), time_variables])


def lengths_of(system: System, prepared: CompiledMethod) -> tuple[int, int, int, int]:
    """Lengths of a state, of the parameters, of the loads and of the scratch memory of the method."""
    S, N = len(system.auxiliary), system.N
    width = extended(system, prepared, np.tile([0.0] * 6 + [1.0] + [0.0] * 6, N)).size
    work = prepared.scratch(N, len(system.blocks) // 2, S, system.read_from)
    return width, max(1, len(system.parameters)), L.LOAD * N + S, max(1, work)


def flags(system: System, guarded: bool, commutes: float) -> tuple[tuple[int, float], ...]:
    """What ``step_info`` tells a step all the run, as pairs (slot, value)."""
    works_only = 0.0 if "exact_kicks" in system.provides else 2.0
    return (
        (L.GUARDED, float(guarded)),
        (L.VELOCITY_DEPENDENT, 1.0 if system.velocity_dependent else works_only),
        (L.HAS_COMMUTATOR, commutes),
        (L.AUXILIARY, float(len(system.auxiliary))),
        (L.READ_FROM, float(system.read_from)),
        (L.WHEELS_AT, float(max(system.wheels_at, 0))),
        (L.SAMPLES_AT, float(max(system.samples_at, 0))),
        (L.COMPENSATION_AT, float(L.BODY * system.N + len(system.auxiliary))),
    )


MANY = 100
"""Bodies from which on a method is that of many: its free rotations are compiled anew, which takes two seconds."""
MOST_WORK = 2.0
"""Most scratch memory of a method, GB. Only one dense system of equations for all bodies comes to that, and its time
grows with the cube of the unknowns: 4 s a step for 3,600 of them (0.2 GB) on one core, minutes at this limit."""


TIGHTEST_DIFFERENCE = 1e-14
"""Smallest relative tolerance of an error that is estimated by a difference, whose round-off begins there."""


def check_estimate(chosen: MethodSpec, rtol: float = 1.0) -> None:
    """Refuse a method that does not estimate the error of its steps, which are then not its to choose, or not to this
    tolerance."""
    prepared = chosen.prepare()
    if rtol < TIGHTEST_DIFFERENCE and prepared.controller != "own":
        raise InvalidInput(
            f"rtol is {rtol:g}, but round-off of the error that {chosen.label!r} estimates begins at "
            f"{TIGHTEST_DIFFERENCE:g}; give a larger one, or take 'taylor'"
        )
    if not prepared.estimate:
        pairs = [name for name in tableau_names() if tableau(name).embedded]
        raise InvalidInput(
            f"method {chosen.label!r} does not estimate its error, so that rtol cannot choose its steps; give step, or "
            f"take 'taylor', or a method with an embedded tableau ({', '.join(pairs)}), such as 'mkrk:{pairs[-1]}'"
        )


class RowArrays(NamedTuple):
    """Where a loop of chosen or time-transformed steps records: times, step sizes, states, iterations; a row each."""

    times: Array
    sizes: Array
    states: Array
    counts: Indices


class ThreadPool:
    """Further threads for the loads of a system, at work within ``with thread_pool:``.

    Results do not depend on how many there are. Where a system's loads are not shared, or nothing is compiled, the
    thread of the run works alone; there are never more threads than slices of work.
    """

    def __init__(self, serve: Callable[..., Any] | None, parameters: Array, threads: int) -> None:
        self.helpers, self.at_work = 0, list[Thread]()
        if serve is not None and threads > 1 and not jit.disabled():
            self.helpers = min(threads, int(parameters[SLICES])) - 1
        if self.helpers:
            self.parameters, self.control_at = parameters, int(parameters[NOW_AT]) + TEAM
            self.control = np.zeros(CONTROL, dtype=np.int64)
            self.serve = jit.compile_kernel(serve, SERVE, thorough=True)  # type: ignore[no-untyped-call]

    def __enter__(self) -> ThreadPool:
        if self.helpers:
            self.control[:] = 0
            help = lambda: self.serve(self.control.ctypes.data)  # noqa: E731  the memory stays while somebody looks at it
            self.at_work = [Thread(target=help, name="polhode", daemon=True) for _ in range(self.helpers)]
            try:
                for thread in self.at_work:
                    thread.start()
            except BaseException:
                self._dismiss()
                raise
            self.parameters[self.control_at] = self.control.ctypes.data
        return self

    def __exit__(self, *_: object) -> None:
        if self.helpers:
            self.parameters[self.control_at] = 0.0
            self._dismiss()

    def _dismiss(self) -> None:
        self.control[STOP] = 1
        for thread in self.at_work:
            if thread.ident is not None:
                thread.join()
        self.at_work = []


class Integrator:
    """The arrays of one run, and the steps it takes."""

    def __init__(
        self, system: System, chosen: MethodSpec, y: Array, t: float = 0.0, limit: float | None = None,
        adaptive: bool = False, threads: int = 1, breaks: bool = False, commanded: bool = False,
    ) -> None:  # fmt: skip
        self.system, self.chosen, self.limit = system, chosen, np.inf if limit is None else limit
        chosen.method.check_complete(chosen.options)
        self.prepared = chosen.prepare().suited(system.provides)
        if self.prepared.made_for is not None:
            self.prepared = self.prepared.made_for(system, adaptive).suited(system.provides)
        if self.prepared.of_many is not None and system.blocks.size // 4 == system.N >= MANY:
            self.prepared = self.prepared.of_many()
        self.coefficients = np.ascontiguousarray(self.prepared.coefficients, dtype=float)
        self.int_coefficients = np.array(self.prepared.int_coefficients, dtype=np.int64)
        self._check_needs()
        self.y = extended(system, self.prepared, y)
        self.bath_coefficients = np.zeros(0)
        if self.prepared.bath is not None:
            free = "total_momentum" in system.conserves
            self.bath_coefficients = self.prepared.bath.coefficients(system.boltzmann, *system.degrees_of_freedom, free)
            self.coefficients = np.concatenate([self.coefficients, self.bath_coefficients])
        if self.prepared.step_density:
            moves = np.isfinite(system.mass)
            places = self.y[: L.BODY * system.N].reshape(-1, L.BODY)[moves, L.POSITION : L.POSITION + 3]
            if not places.any(axis=1).all():
                raise InvalidInput(
                    f"position is the origin, but the steps of {chosen.label!r} follow distances from a centre there; "
                    "say where the body is, or take steps of one size"
                )
        if self.prepared.refuses is not None:
            for moments in np.unique(system.moments[np.isfinite(system.moments).any(axis=1)], axis=0):
                why = self.prepared.refuses(moments)
                if why:
                    raise InvalidInput(f"method {chosen.label!r} {why}")
        self.bodies, self.blocks = system.bodies, system.blocks
        self.frames = np.array(system.frames, dtype=float).ravel()
        self.parameters = system.with_memory  # a copy: a user's function could write into them
        if breaks:
            self.parameters = np.concatenate([self.parameters, [-np.inf, np.inf]])
        self.thread_pool = ThreadPool(system.serve, self.parameters, threads)
        system.set_switches(self.parameters, t)
        self.stage_state = self.y.copy()
        size = self.prepared.scratch(system.N, self.blocks.size // 2, len(system.auxiliary), system.read_from)
        gigabytes = 8e-9 * size
        if gigabytes > MOST_WORK:
            rather = "'mkrk:cv8'" if system.velocity_dependent else "a splitting such as 'rkn6_14a'"
            raise InvalidInput(
                f"method {chosen.label!r} solves one dense system of equations for all {system.N} bodies together, "
                f"which would need {gigabytes:.1f} GB of memory; take {rather}, whose memory grows with the number of "
                "bodies"
            )
        self.work = aligned(max(1, size))
        self.step_info = np.zeros(L.STEP_INFO)
        if self.prepared.step_density:
            time_variables = self.step_info[L.TIME_AT] = self.y.size - L.TIME_VARIABLES
            if self.y[time_variables + 2] == 0.0:
                self.y[time_variables] = t
        commutes = 0.0
        if self.prepared.modified:
            by_parts = system.commutator_by_parts or ("mutual_gravity" in system.provides and system.commutator)
            commutes = 2.0 if by_parts else float("commutator" in system.provides)
        for slot, value in flags(system, limit is not None, commutes):
            self.step_info[slot] = value
        self.step_info[L.JOINTS_AT] = self.prepared.joints_at
        self.step_info[L.SAMPLED_FROM], self.step_info[L.COMMANDED] = abs(t), t if commanded else np.inf
        self.samples, self.valves = system.samples_at >= 0, any(one.pulses for one in system.sampled)
        self.adaptive = adaptive
        self.step_info[L.SPLIT_LOADS] = float("split_loads" in system.provides)
        self.started, self.breaks = t, breaks
        self.sloping = system.compiled_slopes(t, self.y) if self.prepared.slopes else None
        self.step_info[L.HAS_SLOPES] = float(self.sloping is not None)
        behind = 0 if self.sloping is None else L.LOAD * L.SLOPE * system.N * system.N
        self.load = np.zeros(L.LOAD * system.N + len(system.auxiliary) + behind)
        if self.prepared.role is None:
            self.loads = self.loads_of_system
        else:
            own = jit.compile_kernel(self.prepared.role, LOADS, thorough=True)  # type: ignore[no-untyped-call]
            self.loads = self._between(system.with_commands(own, t, self.y))
        self.addresses = self._addresses(self.loads)
        self.no_rows, self.no_counts = np.empty((0, self.y.size)), np.zeros(0, dtype=np.int64)
        self.left_at: tuple[int, float, float] | str | None = None
        self.watch(None, np.zeros(1), 0, 0)
        if self.prepared.step_density:
            self.kept, self.extremes = self.y.copy(), np.array([np.inf, 0.0])

    def _between(self, loads: Callable[..., Any]) -> Callable[..., Any]:
        """Loads that see no time beyond the breaks."""
        return compiled_with(loads_between, loads=loads, at=self.parameters.size - 2) if self.breaks else loads

    @cached_property
    def loads_of_system(self) -> Callable[..., Any]:
        """The compiled loads; ``loads`` is what steps call in their place."""
        own = self.sloping or self.system.compiled_loads(self.started, self.y, self.prepared.modified)
        return self._between(own)

    @property
    def addresses_for_loads(self) -> Indices:
        """Addresses for a kernel that evaluates the loads of the system."""
        return self.addresses if self.prepared.role is None else self._addresses(self.loads_of_system)

    def _check_needs(self) -> None:
        """Refuse a method that needs what the system does not provide."""
        system = self.system
        missing = self.prepared.needs - system.provides
        if missing:
            first = in_order(missing)[0]
            own = system.auxiliary[system.read_from if first == "nothing_read" else 0 :]
            variables = listed(dict.fromkeys(variable.quantity for variable in own))
            havers = [name for name, build in SYSTEMS.items() if first in (provided_by(build) or ())]
            raise refusal(
                missing, self.chosen.label, system.name, system.untraced, variables=variables, havers=listed(havers)
            )

    @cached_property
    def loop(self) -> Callable[..., int]:
        """The compiled loop of steps of one size."""
        samples = self.samples and not self.adaptive
        return drive.loop_for(self.prepared.step, self.prepared.converter, samples, samples and self.valves)

    @cached_property
    def adaptive_loop(self) -> Callable[..., int]:
        """The compiled loop of chosen steps."""
        one = self.prepared
        return drive.adaptive_loop_for(one.step, one.dense, one.controller, self.samples, self.valves)

    @cached_property
    def time_transformed_loop(self) -> Callable[..., int]:
        """The compiled loop of a method with a time transformation."""
        return drive.time_transformed_loop_for(self.prepared.step)

    def _addresses(self, loads: Callable[..., Any]) -> Indices:
        return jit.addresses_of(
            loads, self.bodies, self.parameters, self.coefficients, self.int_coefficients, self.blocks,
            self.stage_state, self.load, self.work, self.step_info, self.frames,
        )  # fmt: skip

    def watch(self, role: Callable[..., Any] | None, table: Array, count: int, cuts: int, ground: float = 0.0) -> None:
        """Have the loops look for this many events, the first ``cuts`` of which cut steps, and for the ground at a
        distance of which this is the square."""
        self.events, self.cuts = table, cuts  # which must outlive the addresses
        self.event_addresses = (None, None, table) if jit.disabled() else np.zeros(3, dtype=np.int64)
        if count:
            self.event_addresses = jit.addresses_of(role, table)
        self.sides, self.before = np.zeros(2 * count + (ground > 0.0)), np.zeros(2 * self.y.size if count else 0)
        self.sides[2 * count :] = ground

    def between(self, low: float, high: float) -> None:
        """Show the loads no time at or beyond these two, which are breaks; infinite where there is none."""
        self.parameters[-2:] = np.nextafter(low, np.inf), np.nextafter(high, -np.inf)

    def forget(self) -> None:
        """Discard cached loads: state or loads changed since the last call."""
        self.left_at, self.step_info[L.LOADED] = None, 0.0

    def _run(self, task: int, first: int, n: int, every: int, t0: float, h: float, rows: Array, counts: Indices,
             y: Array | None, loads: Callable[..., Any] | None) -> int:  # fmt: skip
        sides = self.sides if y is None and loads is None else self.sides[:0]
        y = self.y if y is None else y
        addresses = self.addresses if loads is None else self._addresses(loads)
        remembered = self.work[: self.prepared.remembers]
        kept = remembered.copy()
        status = self.loop(
            task, first, n, every, t0, h, self.limit, self.system.N, self.blocks.size // 2, y, addresses, rows,
            counts, self.event_addresses, sides, self.before,
        )  # fmt: skip
        if y is not self.y or loads is not None:  # beside the run, whose steps must not depend on it
            remembered[:] = kept
        return int(status)

    def restart(self, y: Array) -> None:
        """Another state of the system (13 N numbers, or extended)."""
        self.y[:] = extended(self.system, self.prepared, y)
        self.left_at = None

    def march(
        self, first: int, n: int, every: int, t0: float, h: float, rows: Array | None = None,
        counts: Indices | None = None, *,
        y: Array | None = None, loads: Callable[..., Any] | None = None,
    ) -> int:  # fmt: skip
        """Take steps number ``first`` to ``first + n`` of a run that started at ``t0``; returns the status."""
        rows = self.no_rows if rows is None else rows
        counts = self.no_counts if counts is None else counts
        if self.prepared.step_density:
            into = RowArrays(np.empty(len(rows)), np.empty(len(rows)), rows, counts)
            kept = None if y is None else y.copy()
            return self.march_time_transformed(first, n, every, h, np.inf * h, into, y=y, kept=kept, loads=loads)
        of_run = y is None and loads is None
        if not (of_run and self.left_at == (first, t0, h)):
            self.step_info[L.LOADED] = 0.0  # what ``load`` holds belongs to another state
        self.left_at = None
        with self.thread_pool:
            status = self._run(L.MARCHING, first, n, every, t0, h, rows, counts, y, loads)
        if of_run and status in (L.OK, L.CROSSED):
            self.left_at = (first + int(self.step_info[L.STEPS_DONE]), t0, h)
        return status

    def adapt(self, t: float, rtol: float, atol: float, first: float = 0.0) -> None:
        """Get ready for steps chosen by their error, from time ``t``; the first of them signed, 0 to have it chosen."""
        check_estimate(self.chosen)
        self.step_info[L.RELATIVE], self.step_info[L.ABSOLUTE] = rtol, atol
        if self.prepared.by_tolerance is not None:
            self.int_coefficients[0] = self.prepared.by_tolerance(rtol)
        self.kept, self.controller_state = self.y.copy(), np.zeros(L.CONTROLLER_STATE)
        self.controller_state[L.TIME], self.controller_state[L.NEXT] = t, first
        self.controller_state[L.ERROR_BEFORE], self.controller_state[L.SMALLEST] = 1.0, np.inf
        self.controller_state[L.SAMPLED] = self.step_info[L.COMMANDED]
        self.forget()

    def march_adaptive(
        self, attempts: int, every: int, end: float, samples: Array, times: Array, sizes: Array, rows: Array,
        counts: Indices, *,
        longest: float = np.inf, shortest: float = 0.0,
    ) -> int:  # fmt: skip
        """Try at most so many steps on the way to ``end``; returns the status."""
        try:
            with self.thread_pool:
                return int(
                    self.adaptive_loop(
                        attempts, every, self.prepared.estimate + 1, self.limit, longest, shortest, end, samples,
                        self.system.N, self.blocks.size // 2, self.y, self.addresses, self.controller_state, self.kept,
                        times, sizes, rows, counts, self.cuts, self.event_addresses, self.sides,
                    )
                )  # fmt: skip
        finally:
            if self.controller_state[L.TRYING]:
                self.y[:] = self.kept
                self.controller_state[L.TRYING], self.step_info[L.LOADED] = 0.0, 0.0

    def within(self, begin: Array, t: float, h: float, goal: float) -> Array:
        """The state at a time within the step of h just taken from a state at time t, by the dense output."""
        out = begin.copy()
        drive.dense_for(self.prepared.dense)(
            begin, (goal - t) / h, t, h, self.system.N, self.blocks.size // 2, self.y, self.addresses, out
        )
        return out

    def march_time_transformed(
        self, first: int, n: int, every: int, h: float, end: float, into: RowArrays | None = None, *,
        y: Array | None = None, kept: Array | None = None, loads: Callable[..., Any] | None = None,
    ) -> int:  # fmt: skip
        """Take nominal steps number ``first`` to ``first + n``, up to one that reaches ``end``; returns the status."""
        rows = RowArrays(np.empty(0), np.empty(0), self.no_rows, self.no_counts) if into is None else into
        of_run = y is None and loads is None
        if not (of_run and self.left_at == "time-transformed"):
            self.step_info[L.LOADED] = 0.0  # what ``load`` holds belongs to another state
        self.left_at = None
        addresses = self.addresses if loads is None else self._addresses(loads)
        extremes = self.extremes if of_run else self.extremes.copy()
        with self.thread_pool:
            status = int(
                self.time_transformed_loop(
                    first, n, every, h, end, self.limit, self.system.N, self.blocks.size // 2,
                    self.y if y is None else y, addresses, self.kept if kept is None else kept, extremes, *rows,
                )
            )  # fmt: skip
        if of_run and status in (L.OK, L.PASSED):
            self.left_at = "time-transformed"
        return status

    def prepare(self, t: float, h: float, y: Array | None = None) -> int:
        """Turn ``y``, else the state, into the one the method works on with steps of ``h``; returns the status."""
        if not self.prepared.processed:
            return L.OK
        self.forget()
        return self._run(L.PREPARING, 0, 0, 1, t, h, self.no_rows, self.no_counts, y, None)

    def present(self, t: float, h: float, y: Array | None = None) -> tuple[int, Array]:
        """Status, and the state of the system that belongs to ``y``, else to the method's, which stays as it is."""
        shown = (self.y if y is None else y).copy()
        if not self.prepared.processed:
            return L.OK, shown
        self.forget()
        return self._run(L.PRESENTING, 0, 0, 1, t, h, self.no_rows, self.no_counts, shown, None), shown

    def show(self, t: float, y: Array) -> int:
        """Set states in a state of the system as controllers do at the time of a row; of a run with chosen steps at its
        present time. Returns the status."""
        if not self.samples:
            return L.OK
        load, step_info = self.load.copy(), self.step_info.copy()
        try:
            if self.adaptive:
                none = np.zeros(0)
                return int(
                    self.adaptive_loop(
                        -1, 1, 1, self.limit, np.inf, 0.0, t, none, self.system.N, self.blocks.size // 2, y,
                        self.addresses, self.controller_state, self.kept, none, none, self.no_rows, self.no_counts, 0,
                        self.event_addresses, self.sides,
                    )
                )  # fmt: skip
            return self._run(L.SHOWING, 0, 0, 1, t, 1.0, self.no_rows, self.no_counts, y, None)
        finally:
            self.load[:], self.step_info[:] = load, step_info

    @property
    def evaluations(self) -> int:
        """Load evaluations so far."""
        return int(self.step_info[L.EVALUATIONS])

    @property
    def repeated(self) -> int:
        """Evaluations so far of the part alone that depends on velocities."""
        return int(self.step_info[L.REPEATED])
