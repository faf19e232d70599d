"""How tangent vectors grow along the runs of many members: the plan of the members, their vectors, threads, slices.

Members are planned as those of ``polhode.ensemble``. A member's vectors are drawn by its number and the seed, so that
no number depends on the other members, on threads or on slices.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.arguments import Array, ArrayLike, array, room_for, whole
from polhode.display import Progress
from polhode.ensembles.engines import NOT_RUN, over_threads
from polhode.ensembles.members import Kind
from polhode.ensembles.outcome import code_of
from polhode.ensembles.plan import Plan, planned
from polhode.errors import Interrupted, InvalidInput, PolhodeError, StepFailed, unknown_name
from polhode.kernel import layout as L, tangent_drive as D
from polhode.methods import Method
from polhode.operating_system import processors
from polhode.runs.integrate import Watch, reporting, taken
from polhode.runs.request import ARGUMENTS, Request
from polhode.runs.steps import FixedStep, Recording
from polhode.runs.tangent.columns import SLOTS, Columns, quantities, read_by_loads, seeds_along, state_names
from polhode.runs.tangent.engine import MOST_STEPS, Constants, Steps, TangentEngine
from polhode.runs.tangent.passage import Cut, Passage
from polhode.runs.tangent.transition import changes_loads, check_same_states, seen_of
from polhode.systems.record import System

SLICE_SECONDS = 0.4
CHECKED = 64  # steps of a member that are compared with those of its run
FIRST_STEPS = 512  # steps of the first slice, by which the time of others is judged
LONGEST = 2**20
"""Most steps of a slice."""
AT_ONCE = 32  # most members of a slice
WHY = {
    NOT_RUN: "not run",
    L.NOT_CONVERGED: "the method did not converge",
    L.TOO_LARGE: "a step turned a body further than the method, or the guard, allows",
    L.NOT_FINITE: "the state became infinite or not a number",
    L.SINGULAR: "the equations of a step became singular",
    L.LOST: "the solution of a step could be followed no further",
}
"""What the statuses of steps say."""
UNUSED = ("events", "t_eval", "tangent", "store", "breaks")  # arguments of ``integrate`` that say nothing here


def plan_of(
    system: System, method: str | Method | None, members: int | Mapping[str, Any] | None, run: Mapping[str, Any]
) -> Plan:
    """The plan of all members, from the arguments of an indicator."""
    for name in UNUSED:
        if run.get(name) is not None:
            raise InvalidInput(f"{name} says nothing of an indicator of chaos; leave it out")
    given = {name: run.get(name) for name in ARGUMENTS if name not in ("start", "progress", "store")}
    given |= {"every": 1 if run.get("every") is None else run["every"], "events": (), "breaks": ()}
    options = {name: value for name, value in run.items() if name not in ARGUMENTS}
    return planned(system, method, 1 if members is None else members, given, run.get("start"), options)


class Growth:
    """Tangent vectors carried along the runs of all members, and what is known of their growth."""

    def __init__(
        self, plan: Plan, vectors: Array | int, treatment: int, *, rows: int | None, between: int, seed: int,
        threads: int | None, progress: Callable[[Progress], None] | bool | None, volumes: bool = False,
    ) -> None:  # fmt: skip
        self.plan, self.treatment, self.between = plan, treatment, between
        with reporting(progress, "members") as report_progress:
            workers = processors() if threads is None else whole(threads, "threads", 1, 4096)
            whole(seed, "seed", 0)
            self._prepare(vectors, rows, seed, report_progress, volumes)
            self._carry(workers, report_progress)

    def of_vectors(self, slot: int) -> Array:
        """One number of all vectors (M, rows, vectors)."""
        return self.numbers[..., slot : D.OF_VECTOR * self.vectors : D.OF_VECTOR]

    @property
    def elapsed(self) -> Array:
        """The time since the start (rows,), without its sign."""
        return np.abs(self.times - self.times[0])

    def _prepare(
        self, vectors: Array | int, rows: int | None, seed: int, report_progress: Callable[[Progress], None],
        volumes: bool,
    ) -> None:  # fmt: skip
        """The members' arrays: where they start, and their vectors there."""
        plan = self.plan
        try:
            self.request = request = plan.request(0)
        except InvalidInput as problem:
            raise (problem if plan.varied.count == 1 else plan.whose(0, problem)) from None
        system = request.system
        if not isinstance(request.steps, FixedStep):
            raise InvalidInput("indicators of chaos are for steps of one size; give step, and no tolerance")
        if system.ground is not None and not system.ground.assumed:
            raise InvalidInput(f"runs of {system.name!r} end at its surface; leave it out (surface=0)")
        self.kind, states = plan.together(request)
        if self.kind.alone:
            raise InvalidInput(f"these members cannot be run together: {self.kind.alone}")
        names = state_names(system)
        self.vectors = K = vectors if isinstance(vectors, int) else len(vectors)
        report_progress(Progress(0, plan.varied.count, 0.0, "compiling"))
        self.engine = engine = TangentEngine(system, request.method, K, False, request.settings.guard)
        self.n, self.h = n, h = request.total or 0, request.steps.h
        if n < 1:
            raise InvalidInput("the run has no step; give a later t_end")
        if n > MOST_STEPS:
            raise InvalidInput(f"the run has {n:g} steps, more than {MOST_STEPS:g}; give fewer, or longer ones")
        self.every = request.recording.every if rows is None else max(1, n // rows)
        M, R = len(states), 1 + -(-n // self.every)
        kinds = D.OF_VECTOR * K + D.OF_ALL
        room_for(float(M * (R * kinds + engine.width * (engine.stride + 2))), "numbers of the indicator")
        self.states = start = np.zeros((M, engine.width))
        shared = min(engine.width, states.shape[1])
        start[:, :shared] = states[:, :shared]
        frames = np.array(self.kind.constants.frames, dtype=float)
        scales, self.weights = _scales(engine, self.kind, start, h)
        self.seeds, self.growth = np.zeros((M, engine.width, engine.stride)), np.zeros((M, kinds))
        # of rows, as of ``kernel.tangent_drive``, NaN behind a failure; and 0 of members that ran to their end
        self.numbers, self.status = np.full((M, R, kinds), np.nan), np.full(M, NOT_RUN)
        self.volumes: Any = np.full((M, R), np.nan) if volumes else None  # spanned by vectors of length 1
        self.changing = changes_loads(request)  # of members whose loads change, each at its own times
        for k in {0, M // 2} if not self.changing else ():
            _check_steps(engine, plan.request(k) if k else request, self.kind, start, k, min(n, CHECKED))
        chosen = np.asarray(vectors, dtype=float)[None]
        if isinstance(vectors, int):
            chosen = scales * [np.random.default_rng([seed, k]).normal(size=(K, len(names))) for k in range(M)]
        along = seeds_along(system, start, frames, chosen)
        self.seeds[:, :, :K] = _of_length_one(along, self.weights, self.treatment == D.ORTHOGONAL)
        self.times = request.t0 + h * np.append(np.arange(0, n, self.every), n)

    def past_changes(self, k: int) -> None:
        """Take a member whose loads change to its end."""
        orthogonal, K = self.treatment == D.ORTHOGONAL, self.vectors

        def row_done(row: int, vectors: Array) -> None:
            self.numbers[k, row], self.seeds[k, :, :K] = self.growth[k], vectors
            if self.volumes is not None:
                self.volumes[k, row] = self._volumes(slice(k, k + 1))[0]

        try:
            carry_past_changes(self.plan.request(k), self.engine, self.every, self.seeds[k, :, :K], self.weights,
                               orthogonal, self.growth[k], row_done)  # fmt: skip
            self.status[k] = L.OK
        except PolhodeError as failed:
            if len(self.states) == 1 or isinstance(failed, InvalidInput):
                raise
            self.status[k] = code_of(failed)

    def take(self, first: int, last: int, stopped: Callable[[], bool], told: Callable[[float], None]) -> None:
        """Take some members to their end, in slices of whole rows."""
        t0, h, n, every = self.request.t0, self.h, self.n, self.every
        if self.changing:
            self.numbers[first:last, 0] = self.growth[first:last]
            for k in range(first, last):
                if not stopped():
                    self.past_changes(k)
                    told(1.0 / (last - first))
            return
        constants, done, size = _constants(self.kind, first, last), 0, FIRST_STEPS
        here, alive = slice(first, last), np.ones(last - first, dtype=bool)
        growth = self.growth[here]
        self.numbers[here, 0] = growth
        while done < n and not stopped():
            left = every - done % every  # of a row
            whole_rows = left == every <= size and self.volumes is None
            count = min(size // every * every if whole_rows else min(size, left), n - done)
            before = time.perf_counter()
            marched = self.engine.march(
                self.states[here], self.seeds[here], Steps(t0, h, count, done), every=min(every, count),
                constants=constants, treatment=self.treatment, weights=self.weights, between=self.between,
                growth=growth,
            )  # fmt: skip
            spent = time.perf_counter() - before
            failed = alive & (marched.status != L.OK)
            self.status[here][failed] = marched.status[failed]
            alive &= ~failed
            numbers = marched.derivatives[:, 1:]
            numbers[~alive] = np.nan
            row = 1 + done // every
            done += count
            if done % every == 0 or done == n:
                self.numbers[here, row : row + numbers.shape[1]] = numbers
                if self.volumes is not None:
                    self.volumes[here, row][alive] = self._volumes(here)[alive]
            told(count / n)
            if not alive.any():
                break
            if spent < SLICE_SECONDS / 2:
                size = min(LONGEST, size * max(1, min(16, int(SLICE_SECONDS / max(spent, 1e-6)))))
        if done == n:
            self.status[here][alive] = L.OK

    def _volumes(self, here: slice) -> Array:
        """Volumes of the vectors of some members as they are now: products of singular values."""
        vectors = np.sqrt(self.weights)[:, None] * self.seeds[here, :, : self.vectors]
        with np.errstate(all="ignore"):  # of members that have failed
            vectors = vectors / np.abs(vectors).max(axis=1, keepdims=True)
            vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        found = np.full(len(vectors), np.nan)
        good = np.isfinite(vectors).all(axis=(1, 2))
        found[good] = np.prod(np.linalg.svd(vectors[good], compute_uv=False), axis=-1)
        return found

    def _carry(self, workers: int, report_progress: Callable[[Progress], None]) -> None:
        """Take all members to their end."""
        M, begun = len(self.states), time.perf_counter()
        each = max(1, min(AT_ONCE, -(-M // (4 * workers))))
        ranges = [(k, min(k + each, M)) for k in range(0, M, each)]
        lock, done, looked = threading.Lock(), 0.0, begun
        with Watch() as watch:

            def told(share: float, members: int) -> None:
                nonlocal done, looked
                with lock:
                    done += share * members
                    now = time.perf_counter()
                    if now - looked > SLICE_SECONDS / 2 or done >= M:
                        looked = now
                        report_progress(Progress(int(done), M, now - begun, "running", min(1.0, done / M)))

            def take(part: tuple[int, int]) -> None:
                if not watch.pressed:
                    self.take(*part, lambda: watch.pressed, lambda share: told(share, part[1] - part[0]))

            over_threads(take, ranges, workers)
            if watch.pressed:
                finished = int((self.status == L.OK).sum())
                raise Interrupted(f"interrupted after {finished} of {M} members")
        self.seconds = time.perf_counter() - begun


def _check_steps(engine: TangentEngine, request: Request, kind: Kind, start: Array, k: int, count: int) -> None:
    """Compare the first steps of a member with those of its run."""
    assert isinstance(request.steps, FixedStep)
    steps = replace(request.steps, steps=count)
    try:
        _, record = taken(replace(request, steps=steps, recording=Recording(every=count)))
    except PolhodeError:
        return  # the run fails, and so will the member, which says so
    marched = engine.march(
        start[k : k + 1].copy(), np.zeros((1, engine.width, engine.directions)),
        Steps(request.t0, request.steps.h, count), every=count,
        constants=_constants(kind, k, k + 1),
    )  # fmt: skip
    seen, failed = seen_of(request.system.N, record.states[: record.count]), marched.status[0] != L.OK
    check_same_states(request, seen, marched.states[0], np.inf if failed else 1.0)


def _of_length_one(vectors: Array, weights: Array, orthogonal: bool) -> Array:
    """Vectors (members, width, vectors) of length 1 by the weights, and orthogonal if asked."""
    roots = np.sqrt(weights)[:, None]
    if not orthogonal:
        lengths = np.linalg.norm(roots * vectors, axis=1, keepdims=True)
        if not lengths.all():
            raise InvalidInput("a vector has no length, because it changes nothing that moves; give another")
        return vectors / lengths
    moving = weights > 0.0
    Q, R = np.linalg.qr((roots * vectors)[:, moving])
    sizes = np.abs(np.diagonal(R, axis1=1, axis2=2))
    if (sizes.min(axis=1) <= 1e-12 * sizes.max(axis=1)).any():
        raise InvalidInput("vectors depend on each other linearly; give others, or their number")
    found = np.zeros_like(vectors)
    found[:, moving] = Q / roots[moving]
    found[~vectors.any(axis=2)] = 0.0  # round-off would leave a subspace that the motion keeps
    return found


def _scales(engine: TangentEngine, kind: Kind, states: Array, h: float) -> tuple[Array, Array]:
    """Natural sizes of the coordinates, and the weights of the numbers of a state by which vectors have lengths.

    Rotations are in rad, angular momenta over moment times rate (of the bodies, of orbits, or of the loads at the
    start), positions over the distance from their mean, momenta and states that loads read over their size.
    """
    system = engine.system
    weights, scales = np.zeros(engine.width), np.ones(len(state_names(system)))
    bodies = states[:, : L.BODY * system.N].reshape(len(states), system.N, L.BODY)
    position, momentum = bodies[..., L.POSITION : L.POSITION + 3], bodies[..., L.MOMENTUM : L.MOMENTUM + 3]
    mean = position.mean(axis=1, keepdims=True) if system.N > 1 else 0.0
    distance = float(np.sqrt(np.mean(np.sum((position - mean) ** 2, axis=-1)))) or 1.0
    mass = np.where(np.isfinite(system.mass), system.mass, 0.0)
    of_orbits = 0.0
    if mass.any():
        speeds = np.linalg.norm(momentum, axis=-1) / np.where(mass > 0.0, mass, np.inf)
        of_orbits = float(np.sqrt(np.mean(speeds**2))) / distance
    moments = np.where(np.isfinite(system.moments), system.moments, 0.0).max(axis=1)
    spins = np.linalg.norm(bodies[..., L.ANGULAR : L.ANGULAR + 3], axis=-1) / np.where(moments > 0.0, moments, np.inf)
    rate = float(np.sqrt(np.mean(spins**2))) or of_orbits or _rate_of_loads(engine, kind, states) or 0.01 / abs(h)
    for n, (i, quantity) in enumerate(quantities(system)):
        size = {
            "rotation": 0.5, "position": distance, "angular_momentum": moments[i] * rate,
            "momentum": mass[i] * distance * (of_orbits or rate),
        }[quantity]  # fmt: skip
        at = L.BODY * i + SLOTS[quantity]
        weights[at : at + (4 if quantity == "rotation" else 3)] = 1.0 / (size * size)
        scales[3 * n : 3 * n + 3] = 1.0 if quantity == "rotation" else size
    read, own = read_by_loads(system), [one.quantity for one in system.auxiliary[system.read_from :]]
    for k, slot in enumerate(read):
        alike = states[:, [at for at, one in zip(read, own, strict=True) if one == own[k]]]
        size = float(np.sqrt(np.mean(alike**2))) or 1.0
        weights[slot], scales[len(scales) - len(read) + k] = 1.0 / (size * size), size
    return scales, weights


def _rate_of_loads(engine: TangentEngine, kind: Kind, states: Array) -> float:
    """The rate, the root of angular acceleration, that the torques at the start of the first member lead to."""
    h = 1e-3
    marched = engine.march(
        states[:1].copy(), np.zeros((1, engine.width, engine.directions)), Steps(0.0, h, 1),
        constants=_constants(kind, 0, 1),
    )  # fmt: skip
    N = engine.system.N
    change = (marched.states[0, -1] - states[0])[: L.BODY * N].reshape(N, L.BODY)[:, L.ANGULAR : L.ANGULAR + 3]
    moments = np.where(np.isfinite(engine.system.moments), engine.system.moments, np.inf)
    gained = float(np.abs(change / moments).max()) / h
    return float(np.sqrt(gained)) if np.isfinite(gained) else 0.0


def _constants(kind: Kind, first: int, last: int) -> Constants:
    """The constants of a range of members, as kernels read them."""
    c = kind.constants
    bodies, frames = c.bodies, np.ascontiguousarray(c.frames.reshape(len(c.frames), -1))
    parameters = np.ascontiguousarray(c.parameters) if c.parameters.shape[1] else np.zeros((1, 1))
    parts = [a if len(a) == 1 else a[first:last] for a in (bodies, frames, parameters)]
    return Constants(parts[0], parts[1], parts[2])


def vectors_of(
    given: ArrayLike, system: System, least: int, most: int | None = None, dependent: str = ""
) -> Array | int:
    """What ``vectors=`` says: a number of vectors, or vectors in the coordinates of the system; ``dependent`` is what
    is said of those that depend on each other, where they must not."""
    names = state_names(system)
    most = len(names) if most is None else most
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return whole(given, "vectors", least, most)
    if isinstance(given, str):
        raise unknown_name("vectors", given, ["a number", "an array"])
    found = np.atleast_2d(array(given, "vectors"))
    if found.ndim != 2 or found.shape[1] != len(names) or not least <= len(found) <= most:
        raise InvalidInput(
            f"vectors has shape {found.shape}; give {least} to {most} vectors of {len(names)} numbers each: "
            f"{', '.join(names[:3])} and so on"
        )
    if not np.isfinite(found).all() or not found.any(axis=1).all():
        raise InvalidInput("vectors must be finite and none of them zero")
    if dependent and np.linalg.matrix_rank(found) < least:
        raise InvalidInput(dependent)
    return found


APART = 1e-6  # largest relative distance from the run, from row to row, that round-off may lead to


def carry_past_changes(
    request: Request, engine: TangentEngine, every: int, vectors: Array, weights: Array, orthogonal: bool,
    growth: Array, row_done: Callable[[int, Array], None],
) -> None:  # fmt: skip
    """Carry vectors (width, K) along a run and add to its numbers of ``kernel.tangent_drive``; ``row_done`` gets the
    numbers of rows and the vectors there. At rows the bodies are put where they are in the run, so that round-off does
    not part the ways."""
    run, record = taken(replace(request, recording=Recording(every=every), events=(), tangent=()))
    steps, columns = Steps(run.t0, run.h, run.total or 0), Columns(request.system, engine.prepared, request.state, ())
    passage, rows = Passage(steps, request.system, run), record.count
    times, states = record.between(0, rows)[:2]
    known = [cut.time for cut in passage.cuts if cut.crossing < 0]
    passage.cuts += [Cut(t) for t in times[1:] if not any(run.same_time(t, other) for other in known)]
    bodies, K, row = L.BODY * request.system.N, engine.directions, 0

    def visit(t: float, state: Array, change: Array) -> tuple[Array, Array]:
        nonlocal row
        if row + 1 == rows or not run.same_time(t, times[row + 1]):
            return state, change
        row, there, now = row + 1, states[row + 1, :bodies], np.ascontiguousarray(change)
        with np.errstate(invalid="ignore"):  # of what has no length
            D.scaled.py_func(now.ravel(), K, len(state), weights, K, orthogonal, t - times[row - 1], growth)
        if not np.abs(state[:bodies] - there).max() <= APART * np.abs(there).max():
            raise StepFailed(f"the steps of {request.method.label!r} with derivatives lead elsewhere than the run; "
                             "give a smaller every", step=0, time=t)  # fmt: skip
        row_done(row, now)
        return np.concatenate([there, state[bodies:]]), now

    passage.march(columns, engine, times[-1:], vectors, np.arange(K), visit)
