"""Several methods at several steps on one problem: errors against a checked reference, orders, cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil, nan
from time import perf_counter
from typing import Any, cast

import numpy as np
import xarray as xr

from polhode.arguments import array, number, numbers
from polhode.display import Display, teller
from polhode.errors import Interrupted, InvalidInput, StepFailed, UserFunctionError, answering, unknown_name, unwarned
from polhode.methods import Method, MethodSpec, as_here, method as find_method
from polhode.runs.again import OVERFLOWING
from polhode.runs.initial_state import rows_by_name
from polhode.runs.integrate import integrate
from polhode.runs.request import in_units_of
from polhode.runs.result import release
from polhode.runs.settings import Settings, refuse_moved
from polhode.runs.state import Start, State, refuse_own_states, state_of
from polhode.runs.steps import span
from polhode.systems import System
from polhode.systems.record import present_system
from polhode.trajectory.convergence import errors_between, observed_order
from polhode.trajectory.schema import CONVENTIONS, trajectory

ANY_LOADS, LOADS_BY_PLACE = ("mkrk:gauss8", "mkrk:cv8:cayley"), ("rkn8_17", "sp8/exact_matrix")
"""The reference and what it is checked by, for loads of any kind: another tableau, explicit where the first is
implicit, another chart; for loads that do not depend on velocities: another splitting, another form of free rotation,
both of them far more accurate where bodies turn fast."""
REFERENCE_LIMIT = 2**22
"""Most steps of a reference."""
GOOD_ENOUGH = 3e-14
"""Relative agreement of the two references at which they are refined no further."""
CLAIM = 3.0
"""An error is claimed where it is this many times the accuracy of the reference; below, only a bound is given."""
TIMED_STEPS = 4000
"""Least number of steps of a timed run, where a run of the span takes less than SHORT seconds."""
SHORT = 5e-3
REPEATS, LEAST_SECONDS, MOST_SECONDS = 3, 0.1, 1.0
"""A run is timed at least so many times and for so many seconds, unless it alone takes the most."""
FACTORS = (4.0, 2.0, 1.0, 0.5)
"""Usual steps of a comparison, in units of a problem's own."""
ROWS = 100_000
"""Most rows recorded of one run."""

ENERGY_FLOOR = 1e-12
"""Energy errors below are round-off: no order is read from them."""

STATE = ("attitude", "angular_momentum", "position", "momentum")
ERRORS = ("angular_momentum_error", "attitude_error", "attitude_angle", "position_error", "momentum_error")
_NOT_HERE = (
    "step", "every", "t_eval", "progress", "store", "coordinates", "thermostat", "compensation", "time_variables",
    "tableau", "map", "branch", "center", "form",
)  # fmt: skip


@dataclass(frozen=True)
class Reference:
    """The state all runs are compared with."""

    state: xr.Dataset  # one row of a trajectory, at the end time
    accuracy: Mapping[str, float]  # by the name of an error, how far the reference may be off; 0 where it was given
    description: str  # where it comes from, in one sentence


@unwarned()
@answering
def compare(
    system: System,
    methods: str | Method | Iterable[str | Method],
    steps: float | Iterable[float],
    *,
    t_end: float,
    start: Start = None,
    reference: Mapping[str, Any] | xr.Dataset | None = None,
    progress: Callable[[str], None] | bool | None = None,
    **arguments: Any,
) -> xr.Dataset:
    """Run each method at each step from the same state and tell errors, orders and cost.

    Parameters
    ----------
    system : System
        What moves.
    methods : str, or sequence of str
        Method strings, or rows.
    steps : float or sequence of float
        Step sizes, positive; each must divide the span as in ``polhode.integrate``.
    t_end : float
        End; the errors are those there.
    start : State, mapping or xarray.Dataset, optional
        As of ``polhode.integrate``; of a Dataset only time and motion of its last row are taken.
    reference : xarray.Dataset or mapping, optional
        The state at the end: a trajectory with a row there, or ``attitude``, ``angular_momentum`` (body frame),
        ``position``, ``momentum`` (space frame) by name. It is taken to be exact. Without one polhode computes it:
        by Gauss of order 8 in exponential coordinates, refined until an explicit method of order 8 in Cayley
        coordinates agrees; their difference is the accuracy of the reference.
    progress : function or True, optional
        Called with a sentence before each method and each try of a reference; True shows it.
    **arguments
        Initial state and other arguments of ``polhode.integrate`` (``angular_velocity``, ``settings``...).

    Returns
    -------
    xarray.Dataset
        Along ``integrator`` (the method string; ``method`` is a word of ``Dataset.sel``) and ``step``:
        ``angular_momentum_error`` (2-norm, body frame), ``attitude_error`` (spectral norm of R - R_ref),
        ``attitude_angle`` (rad), ``position_error`` and ``momentum_error`` (2-norms, space frame), of several bodies
        the largest; ``energy_error`` (the largest of the run, where the system conserves energy);
        ``seconds`` (wall time without recording, the best of some repeats), ``ns_per_step``, ``iterations`` (mean of a
        step), ``load_evaluations`` (counted, mean of a step); ``status`` (``ok`` or the kind of failure) and
        ``message``. Errors that the reference is too coarse to tell are upper bounds, marked by
        ``<name>_is_bound``. Along ``integrator``: ``order`` (promised) and ``<name>_order`` (observed, without
        bounds). Along ``step``: ``steps``, their number.

    Raises
    ------
    InvalidInput
        Unknown method, a step that does not divide the span, a reference without the end time.
    UserFunctionError
        A function of the user failed.
    StepFailed
        No reference could be computed.
    Interrupted
        Ctrl-C; ``.trajectory`` holds the table so far.

    Examples
    --------
    >>> import polhode as ph
    >>> start = {"angular_velocity": (0.2, 1.0, 0.1)}
    >>> table = ph.compare(ph.free_body((1, 2, 2.5)), ["trapm", "mkrk:rk4"], [0.1, 0.05], t_end=2.0, start=start)
    >>> table.order.values, table.attitude_angle_order.values.round(1)
    (array([2, 4]), array([2., 4.]))
    """
    if progress is True:
        with Display() as display:
            told_by = display.sentence
            return compare(
                system, methods, steps, t_end=t_end, start=start, reference=reference, progress=told_by, **arguments
            )
    system = present_system(system)
    names: list[Any] = list(methods) if isinstance(methods, list | tuple) else [methods]
    refuse_moved(arguments)
    state, settings = common_start(system, start), Settings.of(arguments.get("settings"))
    for name in _NOT_HERE:
        if name in arguments or getattr(state, name, None) is not None:
            raise InvalidInput(f"{name} has no place in a comparison; leave it out")
    words = {"step": steps, "t_end": t_end, "time": state.time}
    units, times = in_units_of(system.units, system.name, system.arguments, settings.units, words)
    given = numbers(times["step"], "steps", "").tolist()
    t_end, t0 = number(times["t_end"], "t_end"), number(times["time"], "time")
    arguments |= {"start": replace(state, time=t0), "settings": replace(settings, units=units)}
    if not names or not given:
        raise InvalidInput("give at least one method and one step to compare")
    chosen = [find_method(name) for name in names]
    for row in chosen:
        if row.promises.thermal:
            raise InvalidInput(f"method {row.label!r} has a heat bath, so that its motion is not the system's and no "
                               "reference says how far off it is; leave it out")  # fmt: skip
    counts = [cast(int, span(size, t_end, None, t0)[0].steps) for size in given]
    sizes = [float(size) for size in given]
    labels = [row.label for row in chosen]
    for keys, what in ((labels, "method"), (sizes, "step")):
        twice = next((k for k, key in enumerate(keys) if key in keys[:k]), None)
        if twice is not None:
            raise InvalidInput(f"{what} {keys[twice]!r} is given twice; keep one of them")
    if min(counts) == 0:
        raise InvalidInput("t_end is the time of the start: there is nothing to compare")
    report_line = teller(None if progress is False else progress, "progress", "True or a function")
    runs = len(chosen) * len(sizes)
    report_line(
        f"runs: {runs} (methods: {len(chosen)}, steps: {len(sizes)}), of {min(counts):,} to {max(counts):,} steps, "
        f"each timed for {LEAST_SECONDS:g} s or more: {runs * LEAST_SECONDS:.1f} s at least"
    )
    if reference is None:
        goal = compute_reference(
            system, t_end=t_end, largest=max(sizes), smallest=min(sizes), progress=report_line, **arguments
        )
    else:
        goal = given_reference(system, reference, t_end, units)
    told = [as_here(name) if isinstance(name, str) else row.label for name, row in zip(names, chosen, strict=True)]
    table, begun = _Table(system, told, sizes, counts), perf_counter()
    try:
        for i, row in enumerate(chosen):
            left = f", about {(perf_counter() - begun) / i * (len(chosen) - i):.0f} s to go" if i else ""
            report_line(f"{told[i]}, {i + 1} of {len(chosen)}: step {', '.join(f'{size:g}' for size in sizes)}{left}")
            for k in range(len(sizes)):
                table.fill(i, k, row, goal, t_end=t_end, **arguments)
    except (KeyboardInterrupt, Interrupted):
        partial = table.dataset(goal, t_end, t0)
        raise Interrupted("interrupted; the runs so far are in .trajectory", trajectory=partial) from None
    return table.dataset(goal, t_end, t0)


def common_start(system: System, start: Any, who: str = "these runs") -> State:
    """The start of all methods, which must not have numbers of one of them."""
    refuse_own_states(system, start, who)
    if not hasattr(type(start), "isel"):
        return state_of(rows_by_name(system.names, start))
    if trajectory(start).attrs.get("system") != system.name:
        raise InvalidInput(
            f"start is a trajectory of {start.attrs.get('system')!r}, but {who} would be of {system.name!r}"
        )
    return State.of(start, method=find_method(system.recommended))


# ------------------------------------------------------------------ the reference
def compute_reference(
    system: System, *, t_end: float, largest: float, smallest: float, start: State | None = None,
    progress: Callable[[str], None] | None = None, **arguments: Any,
) -> Reference:  # fmt: skip
    """A state at the end time that two methods of order 8 agree on.

    The number of steps is doubled from that of ``largest`` until both agree to round-off, or to something better than
    1e-8 that no longer improves, or four times as many steps as with ``smallest`` are reached."""
    start = State() if start is None else start
    length = abs(t_end - start.time)
    methods = ANY_LOADS if system.velocity_dependent else LOADS_BY_PLACE
    n = max(8, ceil(length / largest * (1.0 - 1e-9)))
    limit = min(REFERENCE_LIMIT, max(2**14, 4 * ceil(length / smallest)))
    best: tuple[float, int, xr.Dataset, dict[str, float]] | None = None
    failed: StepFailed | None = None
    while n <= limit:
        if progress is not None:
            progress(f"reference, {n} steps")
        try:
            first, second = (
                integrate(system, name, step=length / n, t_end=t_end, start=start, every=n, **arguments).isel(time=-1)
                for name in methods
            )
        except StepFailed as problem:
            failed, n = problem, 2 * n
            continue
        gaps = _worst(errors_between(first, second))
        scales = {name: _size(first, name) for name in gaps}
        gap = max(gaps[name] / scales[name] for name in gaps)
        previous = best
        if best is None or gap < best[0]:
            floor = 4.0 * float(np.finfo(float).eps)
            best = (gap, n, first, {name: max(gaps[name], floor * scales[name]) for name in gaps})
        if gap <= GOOD_ENOUGH or (previous is not None and previous[0] < 1e-8 and gap > previous[0] / 4.0):
            break
        n *= 2
    if best is None:
        raise failed or StepFailed("no reference could be computed: the span is too long for the steps allowed")
    gap, n, state, accuracy = best
    return Reference(
        state, accuracy,
        f"computed by {methods[0]} with {n} steps; {methods[1]} agrees to {gap:.1e} relative",
    )  # fmt: skip


def given_reference(system: System, reference: object, t_end: float, units: str = "consistent") -> Reference:
    """The user's own reference: a trajectory with a row at the end time, or a mapping of states."""
    if isinstance(reference, xr.Dataset):
        if "time" in reference.dims:
            there = np.flatnonzero(np.abs(reference["time"].values - t_end) <= 1e-9 * max(abs(t_end), 1e-300))
            if not there.size:
                raise InvalidInput(f"the reference has no row at t = {t_end:g}, where the errors are taken")
            reference = reference.isel(time=int(there[-1]))
        state = reference
    elif isinstance(reference, Mapping):
        known = [name for name in STATE if (system.rotates if name in STATE[:2] else system.translates)]
        variables = {}
        for name in reference:
            if name not in known:
                raise unknown_name("part of the reference", name, known)
        for name, value in in_units_of(system.units, system.name, system.arguments, units, reference)[1].items():
            width = 4 if name == "attitude" else 3
            shape = (width,) if system.N == 1 else (system.N, width)
            numbers_given = array(value, f"{name} of the reference")
            if numbers_given.shape != shape:
                raise InvalidInput(f"{name} of the reference must be of shape {shape}, not {numbers_given.shape}")
            if np.abs(numbers_given).max() > OVERFLOWING:
                raise InvalidInput(f"{name} of the reference has entries beyond {OVERFLOWING:g}; check its units")
            last = "quaternion" if name == "attitude" else "axis"
            variables[name] = ([last] if system.N == 1 else ["body", last], numbers_given)
        if not variables:
            raise InvalidInput(f"the reference is empty; give one of {', '.join(known)}")
        state = xr.Dataset(variables)
    else:
        raise InvalidInput(f"reference must be a Dataset or a mapping of states, not {type(reference).__name__}")
    return Reference(state, dict.fromkeys(ERRORS, 0.0), "given, taken to be exact")


def _worst(errors: xr.Dataset) -> dict[str, float]:
    """Largest error of all bodies, by name."""
    return {name: float(errors[name].max()) for name in ERRORS if name in errors}


def _size(state: xr.Dataset, error: str) -> float:
    """What an error is to be measured by: the size of the vector; 1 of an attitude."""
    if error.startswith("attitude"):
        return 1.0
    return float(np.linalg.norm(state[error.removesuffix("_error")].values)) or 1.0


# ------------------------------------------------------------------ the table
class _Table:
    """Results by method and step as they come in."""

    def __init__(self, system: System, labels: list[str], sizes: list[float], counts: list[int]) -> None:
        self.system, self.labels, self.sizes, self.counts = system, labels, sizes, counts
        shape = (len(labels), len(sizes))
        self.errors = [name for name in ERRORS if _has(system, name)]
        self.numbers: dict[str, Any] = {
            name: np.full(shape, nan)
            for name in (*self.errors, "energy_error", "seconds", "ns_per_step", "iterations", "load_evaluations")
        }
        self.bounds: dict[str, Any] = {name: np.zeros(shape, dtype=bool) for name in self.errors}
        self.status: list[list[str]] = [["not run"] * shape[1] for _ in labels]
        self.message: list[list[str]] = [[""] * shape[1] for _ in labels]
        self.units: dict[str, str] = {}

    def fill(self, i: int, k: int, chosen: MethodSpec, goal: Reference, **arguments: Any) -> None:
        """Run one method at one step."""
        size, n = self.sizes[k], self.counts[k]
        try:
            ds = integrate(self.system, chosen.label, step=size, every=max(1, n // ROWS), **arguments)
            seconds = self.seconds(chosen.label, size, n, ds.encoding["seconds"], arguments)
        except StepFailed as problem:
            self.status[i][k], self.message[i][k] = type(problem).__name__, str(problem)
            return
        self.status[i][k] = "ok"
        errors = errors_between(ds.isel(time=-1), goal.state)
        self.units |= {name: errors[name].attrs["units"] for name in self.errors if name in errors}
        for name, error in _worst(errors).items():
            accuracy = goal.accuracy[name]
            bound = error < CLAIM * accuracy
            self.bounds[name][i, k] = bound
            self.numbers[name][i, k] = error + accuracy if bound else error
        put, taken = self.numbers, max(1, ds.attrs["steps"])  # with a time transformation not n
        if "energy" in self.system.conserves:
            put["energy_error"][i, k] = float(np.abs(ds["energy_error"]).max())
        put["seconds"][i, k], put["ns_per_step"][i, k] = seconds * taken, 1e9 * seconds
        put["iterations"][i, k] = float(ds["iterations"].values[1:].mean())
        put["load_evaluations"][i, k] = ds.attrs["load_evaluations"] / taken

    def seconds(self, label: str, size: float, n: int, first: float, arguments: dict[str, Any]) -> float:
        """Wall time of a step, the best of some repeats.

        Short runs are timed over more steps, beyond the end: the cost of calling the loop would hide that of the steps.
        """
        t0 = arguments["start"].time
        forward = 1.0 if arguments["t_end"] >= t0 else -1.0
        best, spent = float("inf"), 0.0
        count = max(n, TIMED_STEPS) if first < SHORT else n
        done = 0
        while spent < MOST_SECONDS and (done < REPEATS or spent < LEAST_SECONDS):
            longer = arguments | ({} if count == n else {"t_end": t0 + forward * size * count})
            try:
                ds = integrate(self.system, label, step=size, every=count, **longer)
            except (StepFailed, UserFunctionError):
                if count == n:
                    raise
                count, best = n, float("inf")
                continue
            best = min(best, ds.encoding["seconds"] / max(1, ds.attrs["steps"]))
            spent += ds.encoding["seconds"]
            done += 1
        return best

    def dataset(self, goal: Reference, t_end: float, t0: float) -> xr.Dataset:
        """The table as a Dataset."""
        both, along = ["integrator", "step"], ["integrator"]
        variables: dict[str, Any] = {}
        for name, values in self.numbers.items():
            if name in self.errors and np.isnan(values).all() and goal.accuracy.get(name) == 0.0:
                continue
            variables[name] = (both, values, {"long_name": WORDS[name], "units": self.units.get(name, UNITS[name])})
        for name in [name for name in self.errors if name in variables]:
            variables[f"{name}_is_bound"] = (
                both, self.bounds[name], {"long_name": "the error is only an upper bound: the reference tells no more"},
            )  # fmt: skip
            good = np.where(self.bounds[name], nan, self.numbers[name])
            orders = [observed_order(self.sizes, row, CLAIM * goal.accuracy[name]) for row in good]
            variables[f"{name}_order"] = (along, np.array(orders), {"long_name": "observed order", "units": "1"})
            variables[name][2]["reference_accuracy"] = goal.accuracy[name]
        orders = [observed_order(self.sizes, row, ENERGY_FLOOR) for row in self.numbers["energy_error"]]
        variables["energy_error_order"] = (along, np.array(orders), {"long_name": "observed order", "units": "1"})
        variables["steps"] = ("step", np.array(self.counts), {"long_name": "number of steps"})
        promised = [find_method(label).promises.order for label in self.labels]
        variables["order"] = (along, np.array(promised), {"long_name": "order the method promises", "units": "1"})
        variables["status"] = (both, np.array(self.status), {"long_name": "ok, or the kind of failure"})
        variables["message"] = (both, np.array(self.message), {"long_name": "what failed"})
        coordinates = {
            "integrator": ("integrator", np.array(self.labels), {"long_name": "method"}),
            "step": ("step", np.array(self.sizes), {"long_name": "step"}),
        }
        attributes = {
            "title": f"{self.system.name}, {len(self.labels)} methods, errors at t = {t_end:g}",
            "system": self.system.name,
            "t0": float(t0),
            "t_end": float(t_end),
            "reference": goal.description,
            "conventions": CONVENTIONS,
            "polhode_version": release(),
        }
        return xr.Dataset(variables, coordinates, attributes)


def _has(system: System, error: str) -> bool:
    return system.rotates if error.startswith(("angular", "attitude")) else system.translates


WORDS = {
    "angular_momentum_error": "error of the angular momentum, body frame",
    "attitude_error": "attitude error, spectral norm of R − R_ref",
    "attitude_angle": "attitude error, angle",
    "position_error": "error of the position",
    "momentum_error": "error of the momentum",
    "energy_error": "largest energy error over the energies so far",
    "seconds": "wall time",
    "ns_per_step": "wall time of a step",
    "iterations": "solver iterations of a step, mean",
    "load_evaluations": "evaluations of all loads in a step, mean",
}
UNITS = {
    "attitude_error": "1", "attitude_angle": "rad", "energy_error": "1", "seconds": "s", "ns_per_step": "ns",
    "iterations": "1", "load_evaluations": "1", "angular_momentum_error": "mass length2 / time",
    "position_error": "length", "momentum_error": "mass length / time",
}  # fmt: skip


def records(table: xr.Dataset) -> list[dict[str, Any]]:
    """The rows of a comparison in JSON's types, one for each method and step; what is unknown is None."""
    rows = []
    for i, name in enumerate(table["integrator"].values):
        for k, size in enumerate(table["step"].values):
            row: dict[str, Any] = {"method": str(name), "step": float(size), "steps": int(table["steps"][k])}
            for key, values in table.data_vars.items():
                if values.dims == ("integrator", "step"):
                    row[str(key)] = _plain(values.values[i, k])
                elif values.dims == ("integrator",):
                    row[str(key)] = _plain(values.values[i])
            rows.append(row)
    return rows


def _plain(value: object) -> bool | int | float | str | None:
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.floating):
        return float(value) if np.isfinite(value) else None
    return str(value)


def fitting_steps(step: float, t_end: float, t0: float = 0.0, factors: Iterable[float] = FACTORS) -> list[float]:
    """Multiples of a step that divide the span; where one does not, the nearest step that does."""
    n = cast(int, span(step, t_end, None, t0)[0].steps)
    length = abs(t_end - t0)
    found: list[float] = []
    for factor in factors:
        count = max(1, round(n / factor))
        size = step * factor if abs(count * factor - n) < 1e-9 else length / count
        if not any(abs(size - other) <= 1e-12 * size for other in found):
            found.append(size)
    return found
