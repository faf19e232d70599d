"""The Dataset of an ensemble: trajectories by members, what varied among them, and which of them failed and why."""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from threading import Lock
from time import perf_counter
from typing import Any, NamedTuple, cast

import numpy as np

from polhode import errors
from polhode.arguments import Array, Indices
from polhode.display import Progress
from polhode.ensembles.engines import ENDED, NOT_RUN, RAISED, Block, over_threads
from polhode.ensembles.members import STARTING, Kind, Varied
from polhode.ensembles.plan import Plan, rows_of
from polhode.errors import EnergyWarning, InvalidInput, PolhodeError, PolhodeWarning, warn
from polhode.kernel import layout as L
from polhode.kernel.many import TOO_MANY_STEPS
from polhode.lazy import xr
from polhode.runs.event_detection import rows_of as rows_of_events
from polhode.runs.integrate import RUNS, carry_out, instead, taken, taken_instead
from polhode.runs.request import WITHOUT_SERIES, Request
from polhode.runs.result import causes, large_ratio, usual_attributes
from polhode.runs.stepping import ON_THE_GROUND, FormulasChange, Run
from polhode.runs.steps import FixedStep, Tolerance
from polhode.trajectory import dataset
from polhode.trajectory.build import Rows, with_bath, with_events
from polhode.trajectory.energies import EnergyBalance, energy_balance, of_one_body
from polhode.trajectory.quantities import LARGE, Constants, OfBodies, of_bodies, potential_energies
from polhode.trajectory.schema import MEANING, UNITS

CODES: tuple[tuple[type[PolhodeError], int], ...] = (
    (errors.ConvergenceError, L.NOT_CONVERGED), (errors.StepTooLarge, L.TOO_LARGE), (errors.NotFinite, L.NOT_FINITE),
    (errors.StepTooSmall, L.TOO_SMALL), (errors.UserFunctionError, RAISED), (PolhodeError, TOO_MANY_STEPS),
)  # fmt: skip
STATUS = (
    "0: ran to its end; 1: a solver did not converge; 2: a step too large; 3: not finite, or the energy exploded; 4: "
    "steps too small; 12: ended at the surface of the planet; 100: stopped otherwise; 101: a function of the user "
    "failed; -1: its turn did not come"
)
"""What the variable ``status`` means."""


LANDED = 12
"""Status of a member that ended at the surface of the planet."""

_alone = threading.Lock()


def code_of(error: PolhodeError) -> int:
    """The number by which a failure is told in the variable ``status``."""
    return next(code for kind, code in CODES if isinstance(error, kind))


def warn_of(run: Run, off: list[tuple[int, int, float]], members: Sequence[Instead], count: int) -> None:
    """Warn once of the members whose energy error is large, and once of those that another method has taken."""
    if off and run.guard:
        many, first, worst = sum(one[0] for one in off), min(one[1] for one in off), max(one[2] for one in off)
        warn(
            f"the energy error of {run.chosen.label!r} exceeds {LARGE:g} of all energies there are in {many} of "
            f"{count} members (member {first} is the first, {worst:.2g} the largest), so that these runs are no "
            f"approximations; {run.finer}, or look for {causes(run.system)}", EnergyWarning,
        )  # fmt: skip
    if members:
        one = min(members, key=lambda one: one.member)
        warn(f"{len(members)} of {count} members, the first of them {one.member}, were {taken_instead(one.why)}",
             PolhodeWarning)  # fmt: skip


def told_by(plan: Plan, k: int) -> tuple[int, str, Any]:
    """Code, sentence and time of the end of a member that has failed or met the ground, as ``integrate`` tells it: it
    runs once more alone."""
    with _alone, warnings.catch_warnings():  # which is not safe among threads
        warnings.simplefilter("ignore", PolhodeWarning)
        try:
            alone = carry_out(plan.request(k))
        except PolhodeError as error:
            return code_of(error), str(error), getattr(error, "time", np.nan)
    stopped = alone.attrs.get("stopped", "")
    return (LANDED, stopped, float(alone["time"][-1])) if stopped else (L.OK, "", np.nan)


class Work:
    """What all blocks of an ensemble have in common, and what becomes of a block."""

    def __init__(self, plan: Plan, request: Request, run: Run, kind: Kind, states: Array) -> None:
        self.plan, self.run, self.constants, self.chosen = plan, run, kind.constants, None
        constants = kind.constants
        M, width = states.shape
        if run.adaptive:
            final = request.final
            low, high = min(request.t0, final), max(request.t0, final)
            self.times = (
                np.array([request.t0, final]) if request.samples is None else np.clip(request.samples, low, high)
            )
            n = every = 1
            h, self.R = final - request.t0, len(self.times)
        else:
            every, self.times, self.chosen = rows_of(request)  # type: ignore[misc]
            fixed = cast(FixedStep, request.steps)
            n, h = cast(int, fixed.steps), fixed.h
            self.R = 1 + -(-n // every)
        self.numbers = self.R * width
        size = request.system.parameters.size
        own = np.array(constants.parameters[:, :size]) if size else np.zeros((1, 1))
        frames = np.array(constants.frames.reshape(len(constants.frames), -1))
        self.block = Block(
            np.ascontiguousarray(states), kind.bodies, frames, np.ascontiguousarray(own), request.t0, h, n, every,
            np.empty((M, 0, width)), np.zeros((M, 0), dtype=np.int64), np.full(M, NOT_RUN),
            np.zeros(M, dtype=np.int64), self.times if run.adaptive else None,
            tolerances=plan.tolerances(cast(Tolerance, request.steps)) if plan.names.tolerances else None,
            found=np.full(M, None) if run.event_detection or request.system.impulses else None,
        )  # fmt: skip

    def with_room(self, block: Block, **more: Any) -> Block:
        """The block with memory for its rows, and with other arrays."""
        M, width = more.get("states", block.states).shape
        return block.having(
            rows=np.empty((M, self.R, width)), iterations=np.zeros((M, self.R), dtype=np.int64),
            sizes=np.zeros((M, self.R)) if self.run.adaptive else None, **more,
        )  # fmt: skip


class Outcome:
    """What an ensemble, or a block of its members whose first has this number, has computed."""

    def __init__(self, work: Work, block: Block, first: int) -> None:
        self.plan, self.run, self.first, self.times = work.plan, work.run, first, work.times
        rows, iterations, good, chosen = block.rows, block.iterations, block.done, work.chosen
        if not self.run.adaptive:
            good = np.where(block.status == L.OK, work.R, 1 + block.done // block.every)
        if block.status.any():
            good = np.where(block.status == NOT_RUN, 0, good)
        if chosen is not None:
            good = np.searchsorted(chosen, good)
            edges = np.concatenate([[0], chosen[:-1] + 1]).clip(max=work.R - 1)
            parts = [iterations[:, a : b + 1].max(axis=1, initial=0) for a, b in zip(edges, chosen, strict=True)]
            rows, iterations = np.ascontiguousarray(rows[:, chosen]), np.stack(parts, axis=1)
        self.rows, self.iterations, self.sizes = rows, iterations, block.sizes
        of_all = (None if a is None else a if len(a) == 1 else a[first : first + len(rows)] for a in work.constants)
        self.constants, status, self.found = Constants._make(of_all), block.status, block.found
        self.status, self.good, self.states = status, good, block.states
        self.failures, self.off = [""] * len(rows), None  # type: list[str], tuple[int, int, float] | None
        self._land()
        if self.found is not None:
            self._end()
        if self.found is not None or status.any():
            self._forget()
        self.energies, self.of_rows, self.balance = self._at_once(block.bodies)
        if self.balance is None:
            self.energies = self._energies()
            self._judge()
        if (status != L.OK).any():
            self._forget()
            self.of_rows = self.balance = None
        for k in map(int, np.flatnonzero(status != L.OK)):
            if status[k] == NOT_RUN:
                self.failures[k] = "its turn did not come before the ensemble was interrupted"
                continue
            if status[k] == LANDED:
                continue
            code, sentence, _ = told_by(self.plan, self.first + k)
            self.status[k] = code if sentence else status[k]
            self.failures[k] = sentence or f"its loop stopped with status {status[k]}"

    def _land(self) -> None:
        """End members at the ground, which no engine looks for: those run alone that an orbit without further forces
        would lead below it from any of their rows.

        Its periapsis is p / (1 + e), with p = |r x v|^2 / mu and e^2 = 1 + 2 E p / mu.
        """
        ground = self.run.system.ground if self.run.direction > 0.0 else None
        if ground is None:
            return
        mass, mu = self.constants.mass[:, None, :1], self.constants.parameters[:, None, 0]
        r, v = self.rows[..., :3], self.rows[..., L.MOMENTUM : L.MOMENTUM + 3] / mass
        with np.errstate(all="ignore"):
            p = (np.cross(r, v) ** 2).sum(axis=-1) / mu
            energy = 0.5 * (v**2).sum(axis=-1) - mu / np.sqrt((r**2).sum(axis=-1))
            nearest = p / (1.0 + np.sqrt(np.maximum(0.0, 1.0 + 2.0 * energy * p / mu)))
            counts = np.arange(self.rows.shape[1]) < self.good[:, None]
            low = ((nearest < ground.radius) & counts).any(axis=1) & (self.status != NOT_RUN)
        for k in map(int, np.flatnonzero(low)):
            code, self.failures[k], time = told_by(self.plan, self.first + k)
            if code == LANDED:
                times = self.times_of(k)[: self.good[k]]
                self.status[k], self.good[k] = LANDED, np.searchsorted(times, time, "right")

    def _forget(self) -> None:
        """Put the start in the place of rows that do not count, as numbers that nothing stumbles over."""
        for k in map(int, np.flatnonzero(self.good < self.rows.shape[1])):
            self.rows[k, self.good[k] :] = self.states[k]
            self.iterations[k, self.good[k] :] = 0 if self.found is None else -1

    def times_of(self, k: int) -> Array:
        """Times of the rows of a member."""
        return cast(Array, self.times[k] if self.times.ndim > 1 else self.times)

    def _end(self) -> None:
        """Give members the rows at which events have ended them; those that failed or landed the rows and events that
        they have by themselves."""
        found, direction, (M, R, width) = self.found, self.run.direction, self.rows.shape
        self.times = np.concatenate([np.tile(self.times, (M, 1)), np.full((M, 1), self.times[-1])], axis=1)
        self.rows = np.concatenate([self.rows, np.zeros((M, 1, width))], axis=1)
        self.iterations = np.concatenate([self.iterations, np.zeros((M, 1), dtype=np.int64)], axis=1)
        for k in map(int, np.flatnonzero((self.status != NOT_RUN) & (self.status != L.OK))):
            if self.status[k] == ENDED:
                end = found[k][-1]
                n = int((self.times[k, :R] * direction <= end.time * direction).sum())
                if self.times[k, n - 1] != end.time:
                    self.times[k, n], self.rows[k, n], n = end.time, end.state, n + 1
                self.status[k] = L.OK
            else:
                failing: list[PolhodeError] = []
                run, record = taken(self.plan.request(self.first + k), failing)
                if not failing and self.status[k] != LANDED:
                    self.status[k] = L.OK
                n = record.count
                self.times[k, :n], self.rows[k, :n], self.iterations[k, :n], _ = record.between(0, n)
                last = self.times[k, n - 1] * direction
                found[k] = [one for one in run.event_detection.found if one.time * direction <= last]
            self.good[k] = n
        most = max(1, int(self.good.max()))
        self.times, self.rows, self.iterations = self.times[:, :most], self.rows[:, :most], self.iterations[:, :most]

    def _at_once(self, bodies: Array) -> tuple[Array | None, OfBodies | None, EnergyBalance | None]:
        """Energies, quantities and balances of members that are one body each, in one call; nothing of them where one
        is to be judged."""
        run, constants = self.run, self.constants
        if run.judged and run.system.N == 1 and self.rows.size:
            role = run.for_potential
            potential = role and (bodies, np.array(constants.parameters), role[2])
            of_system = run.system.work_columns, run.system.translates
            try:
                found = of_one_body(self.times.ravel(), self.rows, constants, *of_system, potential)
            except Exception:  # a function of the user's
                return None, None, None
            if (found[2].first == self.rows.shape[1]).all():
                return found[1], found[0], found[2]
        return None, None, None

    def _energies(self) -> Array | None:
        """Potential energies (M, R), where there are any."""
        run = self.run
        potential = run.potential
        if potential is None:
            return None
        M, R, width = self.rows.shape
        at = np.broadcast_to(self.times, (M, R)).reshape(-1)
        try:
            found = potential_energies(at, self.rows.reshape(M * R, width), self.constants, potential).reshape(M, R)
        except Exception:
            if not run.system.functions:
                raise
            found = np.full((M, R), np.nan)
            for k in range(M):
                try:
                    own = Constants._make(None if a is None else a[[min(k, len(a) - 1)]] for a in self.constants)
                    found[k] = potential_energies(self.times_of(k), self.rows[k], own, potential)
                except Exception:
                    self.status[k], self.good[k] = RAISED, 0
        wrong = ~np.isfinite(found) & (np.arange(R) < self.good[:, None])
        for k in map(int, np.flatnonzero(wrong.any(axis=1))):
            self.good[k] = min(self.good[k], int(np.argmax(wrong[k])))
            self.status[k] = self.status[k] or L.NOT_FINITE
        return found

    def _judge(self) -> None:
        """Members whose energy has exploded have failed; of others it may be off."""
        run, system = self.run, self.run.system
        if not run.judged or not self.rows.size:
            return
        M, R, _ = self.rows.shape
        of_rows = of_bodies(self.rows.reshape(M * R, -1), self.constants)
        with np.errstate(all="ignore"):
            balance = energy_balance(
                system.work_columns, self.rows, of_rows.kinetic_energy.reshape(M, R), self.energies
            )
            beyond, worst = balance.first[:, 0], large_ratio(balance.worst, balance.largest)
        self.of_rows, self.balance = of_rows, balance
        blown = (beyond > 0) & (beyond < self.good)
        self.good[blown], self.status[blown] = beyond[blown], L.NOT_FINITE
        off = np.flatnonzero((worst > LARGE) & (self.status == L.OK))
        if off.size:
            self.off = int(off.size), self.first + int(off[0]), float(worst[off].max())

    def dataset(self, about: Mapping[str, Any], varied: Varied) -> xr.Dataset:
        """The trajectories, of dimensions ``member`` and ``time``, with what varied as coordinates."""
        run, plan = self.run, self.plan
        prepared, units, system = run.integrator.prepared, run.request.settings.units, run.system
        compensation = "bodies" if prepared.compensates_rotation else "points" if prepared.compensation else ""
        told = np.array(self.failures) if any(self.failures) else np.zeros(len(self.failures), dtype="<U1")
        more: dict[str, Any] = {
            "status": (("member",), np.asarray(self.status), {"long_name": "how a member ended", "flags": STATUS}),
            "failure": (("member",), told, {"long_name": "why a member failed"}),
        }
        if run.adaptive:
            words = {"long_name": MEANING["step"], "units": UNITS[units]["step"]}
            more["step"] = (("member", "time"), self.sizes, words)
        taken = {*more, *system.constants, *(("mass",) if system.mass_at is not None else ())}
        times, there = self.times, np.arange(self.rows.shape[1]) < self.good[:, None]
        if self.found is not None:
            longest = times[self.good.argmax()]
            times = longest if ((times == longest) | ~there).all() else np.where(there, times, np.nan)
        ds = dataset(
            system, Rows(times, self.rows, self.iterations, self.of_rows, self.balance), self.energies,
            attributes_of(plan, run, about), units, prepared.coordinates, compensation, members=self.constants,
            more=more, varied=coordinates_of(varied, system.rotates, taken),
        )  # fmt: skip
        if prepared.bath is not None:
            begin = L.BODY * system.N + len(system.auxiliary)
            numbers = self.rows[..., begin : begin + prepared.bath.numbers.size].copy()
            flat = prepared.bath.energy(numbers.reshape(-1, numbers.shape[-1]), run.integrator.bath_coefficients)
            ds = with_bath(ds, numbers, flat.reshape(numbers.shape[:2]), units)
        for one in ds.data_vars.values() if not there.all() else ():
            if one.dims[:2] == ("member", "time") and one.dtype.kind == "f":
                one.values[~there] = np.nan
        if self.found is None:
            return ds
        flat, counts = [one for own in self.found for one in own or ()], [len(own or ()) for own in self.found]
        filled, found = np.arange(max(counts, default=0)) < np.array(counts)[:, None], dict[str, Any]()
        for name, values in rows_of_events(flat, L.BODY * system.N).items():
            found[name] = np.full((*filled.shape, *values.shape[1:]), "" if name == "kind" else np.nan, values.dtype)
            found[name][filled] = values
        return with_events(ds, system, found, units, self.constants)


def attributes_of(plan: Plan, run: Run, about: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes of the Dataset of an ensemble: those of a run, but for what belongs to one alone."""
    if run.told is not None:
        return run.told | dict(about)
    found, record = usual_attributes(run), run.request.to_json()
    for name in ["run", *(name for name in found if name.startswith(("load_evaluations", "step_", "steps_")))]:
        del found[name]
    if isinstance(run.request.steps, FixedStep):
        found["steps"] = run.request.total
    else:
        del found["steps"]
    varied = plan.varied
    found["title"] = f"{varied.total} members: {found['title']}"
    record.pop("state")
    shapes = {name: list(value.shape[1:]) for name, value in varied.values.items()}  # the values are coordinates
    drawn = {} if varied.drawn is None else {"drawn": dict(varied.drawn)}
    found["ensemble"] = json.dumps({"members": varied.total, "varied": shapes, **drawn, "first": record})
    run.told = found
    return found | dict(about)


def coordinates_of(varied: Varied, rotates: bool, taken: Collection[str]) -> dict[str, Any]:
    """What varied, as coordinates along ``member``: initial quantities as ``initial_...``, others by their names."""
    found: dict[str, Any] = {}
    for name, values in varied.values.items():
        starting = name in STARTING or name.partition(".")[2] in STARTING  # of all bodies, or of one by its name
        called = f"initial_{name}" if starting else name
        if called in taken:
            called = f"member_{called}"
        dims: tuple[str, ...] = ("member",)
        for axis, length in enumerate(values.shape[1:]):
            if name == "attitude" and length == 4 and rotates:
                dims += ("quaternion",)
            elif length == 3 and "axis" not in dims and (starting or name in ("inertia", "center_of_mass")):
                dims += ("axis",)
            else:
                dims += (f"{called}_{axis}",)
        found[called] = (dims, values, {"long_name": f"{name} of the member"})
    return found


MOST_NAMED = 10
"""Most members that an attribute names."""


class Instead(NamedTuple):
    """A member that another method has taken, and why."""

    member: int
    why: FormulasChange


def take_instead(plan: Plan, block: Block, first: int) -> list[Instead]:
    """Fill the rows of those members of a block, whose first has this number, that have no series; who they are."""
    found = []
    for k in map(int, np.flatnonzero((block.status == L.NOT_CONVERGED) | (block.status == L.TOO_SMALL))):
        try:
            try:
                taken(plan.request(first + k))
                continue
            except FormulasChange as told:
                why = told
                run, record = taken(instead(plan.request(first + k), told))
        except PolhodeError:  # which is told where all failures are
            continue
        if run.ended is not None:
            continue
        _, states, iterations, sizes = record.between(0, record.count)
        block.rows[k] = 0.0  # behind the numbers of the other method, such as carries of sums
        block.rows[k, :, : states.shape[1]], block.iterations[k], block.sizes[k] = states, iterations, sizes
        block.status[k], block.done[k] = L.OK, record.count
        found.append(Instead(first + k, why))
    return found


def note_of(members: Sequence[int]) -> dict[str, str]:
    """The attribute that names them, where there are any."""
    if not members:
        return {}
    named = sorted(members)
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    return {"method_note": f"members {', '.join(map(str, named[:MOST_NAMED]))}{more}: {WITHOUT_SERIES}"}


# ------------------------------------------------------------------ members that are runs by themselves
class Members:
    """Runs of the members of a plan, each by itself."""

    def __init__(
        self, plan: Plan, about: Mapping[str, Any], workers: int, report_progress: Callable[[Progress], None]
    ) -> None:
        self.plan, self.about, self.workers, self.report_progress = plan, about, workers, report_progress
        self.done, self.begun, self.lock = 0, perf_counter(), Lock()
        self.stopped: Callable[[], bool] = lambda: False  # whether no further one is to begin
        self.refused: list[tuple[int, InvalidInput]] = []
        self.instead: list[int] = []
        self.warnings: list[tuple[type[PolhodeWarning], str]] = []
        request = plan.request(0)
        self.run = RUNS[type(request.steps)](request)

    @property
    def seconds(self) -> float:
        return perf_counter() - self.begun

    def together(self, first: int, last: int) -> xr.Dataset:
        """The Dataset of members ``first`` to ``last - 1``; a member that cannot begin is named by its number."""
        M = last - first
        found: list[Any] = [None] * M
        status, failures = np.full(M, NOT_RUN), [""] * M
        total = self.plan.varied.count

        def one(k: int) -> None:
            if self.stopped() or self.refused:
                return
            try:
                request = self.plan.request(first + k)
                ds, code = carry_out(request), L.OK
                sentence = ds.attrs.get("stopped", "")
                if sentence.endswith(ON_THE_GROUND):
                    code = LANDED
                else:  # an event that was asked for
                    sentence = ""
            except InvalidInput as problem:
                self.refused.append((first + k, problem))
                return
            except PolhodeError as error:
                ds, code, sentence = error.trajectory, code_of(error), str(error)
            with self.lock:
                if ds is not None and ds.attrs["method"] != self.run.chosen.label:
                    self.instead.append(first + k)
                found[k], status[k], failures[k] = ds, code, sentence
                self.done += 1
                self.report_progress(Progress(self.done, total, self.seconds, "running", self.done / total))

        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always", PolhodeWarning)
            over_threads(one, range(M), self.workers)
        self.warnings += [(w.category, str(w.message)) for w in given if issubclass(w.category, PolhodeWarning)]
        if self.refused:
            raise self.plan.whose(*min(self.refused, key=lambda pair: pair[0])) from None
        about = attributes_of(self.plan, self.run, dict(self.about) | note_of(self.instead))
        return combined(found, status, failures, self.plan.varied.part(first, last), about)

    def warn(self) -> None:
        """Give the warnings of all members, one of each kind."""
        for category in dict.fromkeys(category for category, _ in self.warnings):
            alike = [message for other, message in self.warnings if other is category]
            warn(f"{len(alike)} of {self.plan.varied.count} members, the first of them: {alike[0]}", category)


def _of_all(found: list[Any], name: str, shape: tuple[int, ...], kind: np.dtype[Any]) -> Any:
    """The values of a variable of all members, in a corner of this shape each."""
    empty: Any = "" if kind.kind in "OU" else -1 if kind.kind == "i" else np.nan
    made = np.full((len(found), *shape), empty, dtype=object if kind.kind in "OU" else kind)
    for k, ds in enumerate(found):
        if ds is not None:
            values = ds[name].values
            corner: Any = (k, *(slice(length) for length in values.shape))
            made[corner] = values
    return made


def combined(
    found: list[Any], status: Indices, failures: list[str], varied: Varied, attributes: dict[str, Any]
) -> xr.Dataset:
    """One Dataset from those of members, which may have unequal numbers of rows and events: missing numbers are NaN,
    whole ones -1, words empty."""
    M = varied.count
    there = [ds for ds in found if ds is not None]
    for k in map(int, np.flatnonzero(status == NOT_RUN)):
        failures[k] = "its turn did not come before the ensemble was interrupted"
    more: dict[str, Any] = {
        "status": (("member",), status, {"long_name": "how a member ended", "flags": STATUS}),
        "failure": (("member",), np.array(failures), {"long_name": "why a member failed"}),
    }
    if not there:
        return xr.Dataset({name: xr.Variable(*given) for name, given in more.items()}, attrs=attributes)
    whole = max(there, key=lambda ds: ds.sizes.get("time", 0))
    variables: dict[str, Any] = {}
    for name in whole.data_vars:
        if not all(name in ds for ds in there):  # what only some of them conserve
            continue
        own = whole[name]
        ragged = {"time", "event"} & set(map(str, own.dims))
        if not ragged and all(np.array_equal(own.values, ds[name].values) for ds in there):
            variables[str(name)] = (own.dims, own.values, own.attrs)
            continue
        odd = next((dim for dim in own.dims if dim not in ragged and len({ds.sizes[dim] for ds in there}) > 1), None)
        if odd is not None and str(name).endswith("_delayed"):  # what is on its way, of delays of several lengths
            continue
        if odd is not None:
            counts = " and ".join(map(str, sorted({ds.sizes[odd] for ds in there})))
            raise InvalidInput(f"members have {counts} numbers of {name!r}, which no Dataset of all of them can hold; "
                               "run them one by one")  # fmt: skip
        shape = tuple(max(ds.sizes[dim] for ds in there) if dim in ragged else own.sizes[dim] for dim in own.dims)
        variables[str(name)] = (("member", *own.dims), _of_all(found, str(name), shape, own.dtype), own.attrs)
    times = [ds.time.values for ds in there]
    used = {dim for dims, *_ in variables.values() for dim in dims}
    coords: dict[str, Any] = {str(name): one for name, one in whole.coords.items()
                              if name != "time" and used.issuperset(one.dims)}  # fmt: skip
    longest = whole.time.values
    if all(np.array_equal(own, longest[: len(own)]) for own in times):
        coords["time"] = ("time", longest, whole.time.attrs)
    else:
        coords["time"] = (("member", "time"), _of_all(found, "time", longest.shape, longest.dtype), whole.time.attrs)
    coords["member"] = ("member", np.arange(M), {"long_name": "number of the member"})
    coords |= coordinates_of(varied, "quaternion" in coords, variables | more)
    return xr.Dataset(variables | more, coords, attributes)
