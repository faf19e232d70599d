"""One run: a method over a system, recorded as a Dataset."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from polhode.arguments import Array, ArrayLike, Indices, room_for
from polhode.display import Display, Progress, teller
from polhode.errors import (
    FileProblem,
    Interrupted,
    InvalidInput,
    PolhodeError,
    PolhodeWarning,
    StepFailed,
    UserFunctionError,
    answering,
    warn,
)
from polhode.kernel import jit
from polhode.kernel.interrupts import Noticed, held
from polhode.lazy import later, opened, xr
from polhode.methods import Method, MethodSpec
from polhode.runs import stepping
from polhode.runs.repeated import Repeated
from polhode.runs.request import (
    WITHOUT_SERIES,
    Events,
    Parameters,
    Request,
    asked_before,
    key_of,
    requested,
    with_options,
)
from polhode.runs.resolution import tell_of_orbit
from polhode.runs.result import blown_up, finish, potential_energies
from polhode.runs.rows import Record
from polhode.runs.settings import Settings, only_functions
from polhode.runs.state import STATE_SET, AtStart, Start
from polhode.runs.stepping import FormulasChange, Run
from polhode.runs.steps import FixedStep, TimeTransformed, Tolerance
from polhode.systems import System
from polhode.systems.record import present_system
from polhode.trajectory.energies import energy_balance
from polhode.trajectory.schema import trajectory

if TYPE_CHECKING:
    from polhode.runs.store import LiveStore, Store
    from polhode.runs.streamed import Passing
    from polhode.runs.tangent.columns import Columns

BETWEEN_LOOKS = 2.0
"""Seconds between looks at the energy of a run that could blow up."""
RUNS: dict[Any, Callable[..., Run]] = {
    FixedStep: Run, Tolerance: later("polhode.runs.variable_steps", "AdaptiveRun"),
    TimeTransformed: later("polhode.runs.variable_steps", "TimeTransformedRun"),
}  # fmt: skip
"""Which run takes which steps."""
NOTHING = contextlib.nullcontext()
UNSAID = Tolerance(1e-10)
"""How steps are chosen where nothing is said of them, and of the method."""


@answering
def integrate(
    system: System,
    method: str | Method | MethodSpec | None = None,
    *,
    step: float | None = None,
    steps: int | Tolerance | None = None,
    t_end: float | None = None,
    every: int = 1,
    t_eval: ArrayLike | None = None,
    start: Start = None,
    parameters: Parameters = None,
    events: Events = (),
    breaks: ArrayLike = (),
    tangent: bool | str | Sequence[str] | None = None,
    store: str | os.PathLike[str] | Store | None = None,
    progress: Callable[[Progress], None] | bool | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    project: bool = False,
    **at_start: Unpack[AtStart],
) -> xr.Dataset:
    """Integrate a system, with steps of one size or with steps chosen by a tolerance, and record the trajectory.

    Parameters
    ----------
    system : System
        From ``polhode.free_body``, ``polhode.heavy_top`` and so on.
    method : str or MethodSpec, optional
        Such as ``"trapm"``, also by a name that others use (``"leapfrog"``, ``"RK45"``), or with options
        ``polhode.methods.baoab(temperature=300, friction=5)``, which as a string is
        ``"baoab:temperature=300:friction=5"``; without one, what the measured tables recommend for the system (the
        attribute ``method`` of the result says which); with a tolerance it is ``"taylor"``, or ``"mkrk:dp8"`` where the
        loads cannot be traced.
    step : float
        Step size, positive; every consistent unit of time. Of a method with a time transformation (``"reversible:v2"``)
        that of the first step; the others follow the motion, the last ends at ``t_end`` exactly, wherever that is.
    steps : int or Tolerance
        The number of steps, or in the place of ``step`` a ``polhode.Tolerance`` by which they are chosen: the estimated
        error of each, of attitudes in rad, of angular velocities and the motion through space relative to their size,
        is at most this. Errors of steps add up: expect a multiple of it at the end. Methods with an embedded tableau
        estimate their error (``"mkrk:dp5"``). Without step, steps and method, ``polhode.Tolerance(1e-10)``.
    t_end : float
        End time, a whole number of steps from the start (before it: the run goes backwards). With a tolerance any end
        time; the last step ends there exactly. By default the last of ``t_eval``, if steps are not counted.
    every : int
        Record every this many steps; the start and the end are always recorded.
    t_eval : array_like, optional
        Record at exactly these times instead, in the order of the run. Times off the grid are reached by a side step
        from the last grid state, with a tolerance by the dense output of the method: so the step sequence is that of a
        run without them.
    start : State, mapping or xarray.Dataset, optional
        Where to start. A ``polhode.State``, or a mapping of its names, says the time (0 by default), and attitudes and
        rates in all their forms (``euler_angles_deg`` with their ``sequence``, ``angular_velocity_space``...), words of
        a mapping also with a unit behind them (``position_km``). It may have the six words of ``**at_start`` as well;
        what is given in both places is refused. Angles whose sequence it does not say are in that of the method, as of
        ``polhode.methods.euler(sequence="ZXZ")``, else ``"XYZ"``.
        A Dataset of an earlier run goes on from its last row, with all that a continued run needs: the state, the time,
        the numbers that the method keeps beside the state, and unless given the method, its step or tolerance, units
        and epoch.
    parameters : mapping or sequence of float, optional
        Of the system for this run, in the place of those it was built with: by name (``{"weight": 19.6}``, arguments of
        the function that builds it), or the numbers handed to the user's functions, as many as there were. They are
        recorded, so that ``rerun`` and ``resume`` repeat the run, and nothing is compiled for them.
    events : sequence
        What to look for, from ``polhode.events`` or words such as ``"periapsis"``; found to round-off, listed in the
        variables ``event_time``, ``event_kind`` and so on. Events that are ``terminal`` end the run.
    breaks : array_like, optional
        Times at which loads of the user's jump or bend (a pulse begins, a table has a kink): steps are cut there, and
        go on after. A load sees no time at or beyond the breaks on either side of a step, so that ``if t < t1`` and
        ``if t <= t1`` mean the same, and methods keep their order. Switches of ``polhode.forces`` need none.
    tangent : bool, str or sequence of str, optional
        Derivatives of the numerical map itself, to round-off: the Dataset receives ``state_transition`` (time, row,
        column), those of the state at each row with respect to the state at the start and to the parameters named here
        (``["inertia", "mu"]``, arguments of the function that builds the system, by path as ``members`` of
        ``polhode.ensemble``); True or ``"state"``: to the state alone. Coordinates, body after body, without what a
        body lacks: position and momentum (space frame), rotation (rotation vector theta in the body frame, R to
        R exp[theta]x, rad), angular momentum (body frame). Derivatives by parameters are at fixed initial values of
        these. Burns, impulses and edges of shadows on the way are part of the map; rows are at fixed times.
    store : path or Store, optional
        A new folder (``run.zarr``) that receives the rows while the run goes, so that ``polhode.resume`` goes on from
        its last checkpoint, bit for bit, however the process ended; ``polhode.load`` reads what is there so far. Rows
        leave the memory on the way, so that a run may have any number of them. A ``polhode.Store`` says how often
        checkpoints are written.
    progress : function or True, optional
        Called with a ``Progress`` a few times a second; True shows a bar, or a line now and then where there is no
        terminal, on stderr.
    settings : Settings or mapping, optional
        A ``polhode.Settings``, or a mapping of its names: ``compensated`` sums, ``guard``, ``units`` and ``epoch`` of
        the Dataset, ``threads``, and ``reduce`` to statistics of the rows.
    project : bool
        Whether a start that does not meet the joints of the system is changed to the nearest that does, near as the
        masses weigh it; by default it is refused, with the gaps of the joints.
    **at_start : array_like
        The six words of a ``polhode.State`` that are wanted most. ``attitude`` (4,) or (3, 3): unit quaternion
        (w, x, y, z), rotation matrix or SciPy ``Rotation``, body to space; identity by default. ``angular_velocity`` or
        ``angular_momentum`` (3,), in the body frame; zero by default. ``position`` and ``velocity`` or ``momentum``
        (3,), in the space frame; zero by default, but about a centre of attraction both must be given, and
        ``velocity=0`` is a release from rest. Options of the method, which stood here before, go on for one version
        with a warning that says what to write.

    Returns
    -------
    xarray.Dataset
        See ``polhode.trajectory.schema``. With a ``store`` it is opened from there, as by
        ``xarray.open_zarr("run.zarr/trajectory", decode_times=False)``: a variable is read when it is used, the part of
        it that is used, and ``.load()`` reads all into memory.

    Raises
    ------
    InvalidInput
        An argument is wrong; the sentence names it.
    ConvergenceError, StepTooLarge, NotFinite, StepTooSmall
        A step failed, with a tolerance at every size tried; ``.trajectory`` holds the run so far and the state before
        it.
    UserFunctionError
        A function of the user failed; ``__cause__`` is its own exception, ``.trajectory`` the run so far.
    Interrupted
        Ctrl-C; ``.trajectory`` holds the run so far and the state where it stopped.
    FileProblem
        The store exists already or cannot be written; ``.trajectory`` holds the run so far.

    Warns
    -----
    PolhodeWarning
        The loads change formula again and again, so that ``taylor``, which a tolerance chooses, gave way to
        ``mkrk:dp8``.
    EnergyWarning
        The energy, less the works of the loads, is off by more than a tenth of all the energies there are.
    CoarseStepWarning
        The step is longer than a passage of the orbit, or does not resolve the loads; one that would do is named.

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    >>> leaning = ph.rotation.exp_quaternion((0.3, 0.0, 0.0))
    >>> ds = ph.integrate(top, step=0.01, steps=500, attitude=leaning, angular_velocity=(0, 0, 20))
    >>> ds.attitude.shape, bool(abs(ds.energy_error).max() < 1e-6)
    ((501, 4), True)
    """
    given: dict[str, Any] = {
        "step": step, "steps": steps, "t_end": t_end, "every": every, "t_eval": t_eval, "start": start,
        "parameters": parameters, "events": events, "breaks": breaks, "tangent": tangent,
        "settings": settings, "project": project, **at_start,
    }  # fmt: skip
    if not STATE_SET.issuperset(at_start):
        method = with_options(method, system, given, "integrate")
    ends = t_end is not None or t_eval is not None
    if ends and step is None and steps is None and method is None and not hasattr(type(start), "isel"):
        given["steps"] = UNSAID
    if store is None and progress is None:
        if type(system) is not System or system.made_again is not None:
            system = present_system(system)
        chosen = system.recommended if method is None else method
        before = asked_before(system.__dict__.get("_requests", ()), chosen, key_of(method, given))
        if before is not None and (ds := once_more(before.__dict__["idle"], at_start)) is not None:
            return ds
    request = requested(system, method, given)
    if store is None:
        return carry_out(request, progress)
    from polhode.runs.store import LiveStore, Store

    return carry_out(request, progress, LiveStore(Store.of(store)))


def _keep(run: Run) -> None:
    """Let others have the run, which is over, where their requests differ in the start alone."""
    idle = run.request.__dict__.get("idle")
    if idle is not None and (one := Repeated.of(run)) and one.tells:
        idle.append(one)


def once_more(idle: list[Repeated], start: object) -> xr.Dataset | None:
    """The Dataset of another run on what one like it has left; None where none has, or the ordinary run has to tell."""
    try:
        run = idle.pop()  # one call, so that no two threads take the same
    except IndexError:
        return None
    with Watch() as watch:
        ds = run.dataset(start)
        idle.append(run)
    if watch.pressed:
        raise Interrupted("interrupted when the run was over", trajectory=ds)
    return ds


@answering
def rerun(
    ds: xr.Dataset, *, progress: Callable[[Progress], None] | bool | None = None, threads: int = 1,
    **functions: Callable[..., Any],
) -> xr.Dataset:  # fmt: skip
    """Run again what a Dataset records; the numbers are the same, bit for bit, on the same machine and version.

    Parameters
    ----------
    ds : xarray.Dataset
        From ``integrate`` or read from disk.
    progress : function or True
        As for ``integrate``.
    threads : int
        As in ``polhode.Settings``.
    **functions : function
        The user's functions by keyword (``torque=f``): a Dataset keeps their source for reading and never runs it.

    Raises
    ------
    InvalidInput
        No record of a run in the Dataset, or a function missing or not wanted.

    See Also
    --------
    resume : an interrupted run with a store to its end.

    Examples
    --------
    >>> import polhode as ph
    >>> ds = ph.integrate(ph.free_body((1, 2, 2.5)), step=0.1, steps=100, angular_velocity=(0.2, 1, 0.1))
    >>> ph.rerun(ds).equals(ds)
    True
    """
    only_functions(functions, "rerun", ("progress", "threads"))
    trajectory(ds)
    if "run" not in ds.attrs:
        raise InvalidInput("this Dataset records no run: it has no attribute 'run'")
    request = Request.from_json(ds.attrs["run"], functions)
    return carry_out(request.on(threads), progress)


@contextlib.contextmanager
def reporting(progress: object, counted: str) -> Iterator[Callable[[Progress], None]]:
    """What is told how far something is, as ``progress=`` says; a display of its own for True."""
    if progress is True:
        with Display() as display:
            display.counted = counted
            yield display
    else:
        yield teller(None if progress is False else progress, "progress", "True or a function")


class Watch(Noticed):
    """Ctrl-C is looked at between slices. A second one breaks off the slice, but not what is left to do when the run
    is over."""

    def __init__(self) -> None:
        opened("xarray")  # before the first step: Ctrl-C must not find it half imported when the run is over

        super().__init__()
        self.over = False

    def press(self, number: int, frame: FrameType | None) -> None:
        if self.pressed and not self.over:
            self.previous(number, frame)
        self.pressed = True


def instead(request: Request, told: FormulasChange) -> Request:
    """The request with the method that takes the place of the one a tolerance chose, which has failed."""
    if not request.by_tolerance:
        raise told
    try:
        return request.without_series()
    except InvalidInput:
        raise told from None


def taken_instead(told: FormulasChange) -> str:
    """What is to be said of it."""
    return f"taken with {WITHOUT_SERIES!r} in the place of 'taylor', which a tolerance chooses: {told}"


def taken(request: Request, failing: list[PolhodeError] | None = None) -> tuple[Run, Record]:
    """A run at its end, and its rows; nobody looks at energies on the way. One that fails, to where it does, if there
    is a list for what it says."""
    run, record = RUNS[type(request.steps)](request), request.record()
    try:
        run.to_the_end(record, request.samples, lambda: None)
    except PolhodeError as problem:
        if failing is None:
            raise
        failing.append(problem)
    if run.ended is None and (failing or request.samples is None):
        run.record_end(record)
    return run, record


def differentiated(request: Request, by_start: bool) -> tuple[Columns, Array, list[tuple[Indices, Array, Array]]]:
    """Columns of a run, the times of its rows, and all that ``Transition.carried`` has of them."""
    from polhode.runs.tangent.engine import MOST_STEPS
    from polhode.runs.tangent.transition import Transition

    transition = Transition(request, by_start)
    times, run, n, every = request.samples, None, request.total or 0, request.recording.every
    if n > MOST_STEPS:
        raise InvalidInput(f"the run has {n:g} steps, more than the {MOST_STEPS:g} that gradients are taken along; "
                           "take a larger step, or an earlier end")  # fmt: skip
    rows = 2 + n // every if times is None else len(times)
    numbers = float(rows * transition.columns.seeds.size)
    room_for(numbers, f"a gradient over {n:g} steps, {rows:g} of them shown,")
    if transition.changes or not isinstance(request.steps, FixedStep):
        run, record = taken(request)
        times = record.between(0, record.count)[0]
        if run.ended is not None:
            raise InvalidInput(f"the run ends by itself at t = {run.ended.time:.9g}, by an event; gradients are of "
                               "rows at known times: give t_end before it")  # fmt: skip
    elif times is None:
        times = request.t0 + np.append(np.arange(0, n, every), n) * request.steps.h
    return transition.columns, times, list(transition.carried(times, run))


def carry_out(
    request: Request,
    progress: Callable[[Progress], None] | bool | None = None,
    store: LiveStore | Passing | None = None,
) -> xr.Dataset:
    """Run what is asked for, from the beginning or from where a store stands."""
    if progress is True:
        with Display() as display:
            return carry_out(request, display, store)
    listener = None if progress is None or progress is False else teller(progress, "progress", "True or a function")
    report_progress: Callable[..., None] = lambda *how_far: listener and listener(Progress(*how_far))  # noqa: E731
    total, derivatives = request.total, None
    if store is None and request.reduce:
        from polhode.runs.streamed import Passing

        store = Passing()
    try:
        with NOTHING if store is None else store:
            if request.tangent is not None:
                if store is not None:
                    word = "reduce" if request.reduce else "store"
                    raise InvalidInput(
                        f"tangent and {word} are both given, but derivatives are kept in memory; leave one out"
                    )
                from polhode.runs.tangent.transition import Transition

                derivatives = Transition(request)
            record = request.record(stored=store is not None and store.streams)
            if store is not None:
                with held():
                    store.begin(request)
            report_progress(0, total, 0.0, "preparing")
            compiling = lambda: report_progress(0, total, 0.0, "compiling")  # noqa: E731
            with NOTHING if listener is None else jit.watched(compiling):
                run = RUNS[type(request.steps)](request)
                _ = run.potential  # compiled now, too
                if store is not None:
                    store.join(run, record)
            tell_of_orbit(run)
            ds = _to_the_end(run, record, store, report_progress)
            return ds if derivatives is None else derivatives.added(ds, run)
    except FormulasChange as told:
        request = instead(request, told)
        warn(f"the run was {taken_instead(told)}", PolhodeWarning)
    if store is not None:
        store.restart(request)
    return carry_out(request, progress, store)


def _to_the_end(
    run: Run, record: Record, store: LiveStore | Passing | None, report_progress: Callable[..., None]
) -> xr.Dataset:
    """What a run leaves that is set up: it is taken to its end, or to what ends it."""
    samples, total = run.request.samples, run.request.total
    error: PolhodeError | None = None
    stopped = ""
    with Watch() as watch:
        report_progress(run.done, total, run.seconds, "running", run.share if run.resumed else 0.0)
        told = looked = time.perf_counter()

        def between_slices() -> None:
            nonlocal told, looked
            if store is not None:
                store.commit_if_due()
            now = time.perf_counter()
            if now - looked > BETWEEN_LOOKS and run.judged:
                looked, one = now, run.integrator  # in whose work are commutator loads that the next step takes
                kept = one.load.copy(), one.work.copy(), run.step_info.copy(), one.left_at
                both, at = np.array([run.start, run.state()]), np.array([run.t0, run.now])
                one.load[:], one.work[:], run.step_info[:], one.left_at = kept  # as if nobody had asked
                energies, problem = potential_energies(run, at, both)
                kinetic = run.system.kinetic_energies(both)
                if problem is None and energy_balance(run.system.work_columns, both, kinetic, energies).first[0] == 1:
                    raise blown_up(run, run.now, run.t0, run.done)
            if now - told >= stepping.SLICE_SECONDS / 2 or run.share >= 1.0:
                told = now
                report_progress(run.done, total, run.seconds, "running", run.share)
            if watch.pressed:
                raise KeyboardInterrupt

        def interrupted() -> Interrupted:
            of = "" if total is None else f" of {total}"
            where = f", which are in {store.path}" if store is not None and store.kept is not None else ""
            return Interrupted(f"interrupted after {run.done}{of} steps (t = {run.now:g}){where}")

        try:
            stopped = run.to_the_end(record, samples, between_slices)
            if stopped:
                report_progress(run.done, total, run.seconds, "running", 1.0)
        except (StepFailed, UserFunctionError, FileProblem, InvalidInput) as failed:  # the last: rows beyond all memory
            error = interrupted() if watch.pressed and isinstance(failed, FormulasChange) else failed
        except KeyboardInterrupt:
            error = interrupted()
        watch.over = True
        if not stopped and (samples is None or error is not None):
            try:
                run.record_end(record)
            except PolhodeError as failed:
                error = error or failed
        if store is not None and not isinstance(error, FileProblem):
            try:
                store.commit(over=error is None)
            except FileProblem as refused:
                error = error or refused
        if store is None:
            ds = finish(run, record.between(0, record.count), error, stopped)
            _keep(run)
        else:
            ds = store.finish(error, stopped)
        if watch.pressed:  # since the last look
            raise Interrupted("interrupted when the run was over", trajectory=ds)
        return ds
