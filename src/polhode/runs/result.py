"""What a run leaves: its Dataset, and the failure the Dataset rides on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from polhode.arguments import Array, Indices
from polhode.errors import CoarseStepWarning, EnergyWarning, NotFinite, PolhodeError, UserFunctionError, warn
from polhode.kernel import layout as L
from polhode.kernel.many import NONE, write_energies
from polhode.lazy import later, xr
from polhode.runs.event_detection import EPSILON, rows_of
from polhode.runs.resolution import coarse_loads, tell_of_stiffness
from polhode.runs.stepping import Run
from polhode.systems import System
from polhode.trajectory import CONVENTIONS, UNITS, dataset
from polhode.trajectory.build import Rows, with_bath, with_events
from polhode.trajectory.energies import EnergyBalance, energy_balance, of_one_body
from polhode.trajectory.quantities import BEYOND, LARGE, OfBodies, of_bodies
from polhode.trajectory.schema import MEANING


@cache
def release() -> str:
    """Version of polhode; reading it off the installation takes as long as a short run."""
    return version("polhode")


def labelled(labels: Mapping[str, Any], make: Callable[[], xr.Dataset]) -> xr.Dataset:
    """A Dataset, or that of a failure, with the attributes that a scenario gives."""
    try:
        ds = make()
        ds.attrs.update(labels)
        return ds
    except PolhodeError as failed:
        if failed.trajectory is not None:
            failed.trajectory.attrs.update(labels)
        raise


def finish(
    run: Run, recorded: tuple[Array, Array, Indices, Array], error: PolhodeError | None = None, stopped: str = ""
) -> xr.Dataset:
    """The Dataset of what a run has ``recorded`` (see ``Record.between``); where there is an error it is raised, with
    the Dataset on it."""
    times, states, iterations, sizes = recorded
    made, balance, large = None, None, len(times)
    virials = np.empty(large * (run.system.serve is not None))
    if (found := _of_one_body(run, times, states)) is not None:
        made, energies, balance = found
        large = int(balance.first[1])
    else:
        energies, problem = potential_energies(run, times, states, virials)
        if energies is not None and (k := len(energies)) < len(times):
            # A run that had failed before tells of that.
            error = error or problem
            times, states, iterations, sizes = times[:k], states[:k], iterations[:k], sizes[:k]
        if run.judged and len(times):
            made = of_bodies(states, run.constants)
            balance = energy_balance(run.system.work_columns, states, made.kinetic_energy, energies)
            k, large = balance.first.tolist()
            if 0 < k < len(times) and (error is None or isinstance(error, NotFinite)):
                error = blown_up(run, times[k], times[k - 1], run.number(times[k]))
                times, states, iterations, sizes = times[:k], states[:k], iterations[:k], sizes[:k]
                energies, made, balance = None if energies is None else energies[:k], None, None
    if run.guard and error is None:
        off = None if balance is None or large == len(times) else (balance.worst, balance.largest, times[large])
        warn_of_errors(run, off, times, states)
    if len(times):
        tell_of_stiffness(run, float(times[-1]), states[-1], error)
    rows = Rows(times, states, iterations, made, balance, virials[: len(times)])
    ds = columns(run, rows, sizes, energies, attributes(run, error, stopped))
    if (running := statistics(run)) is not None and len(times):
        try:
            running.add(0, ds)
            ds = ds.assign(running.result())
        except PolhodeError as failed:
            error = error or failed
            ds.attrs["incomplete"] = str(error)
    return concluded(run, with_found(run, ds, stopped), error)


def statistics(run: Run) -> Any:
    """What takes statistics of rows, where the run is asked for any."""
    running = later("polhode.trajectory.reductions", "Running")
    return running(list(run.request.reduce), 2**53, "time") if run.request.reduce else None


def _of_one_body(run: Run, times: Array, states: Array) -> tuple[OfBodies, Array | None, EnergyBalance] | None:
    """What follows from the rows of one body; None where there is more to look at."""
    if not run.judged or run.system.N > 1 or run.system.serve is not None or not len(times):
        return None
    of_system = run.system.work_columns, run.system.translates
    try:
        found = of_one_body(times, states, run.constants, *of_system, run.for_potential)
    except Exception:  # a function of the user's
        return None
    return found if found[2].first[0] == len(times) else None


def causes(system: System) -> str:
    """What may be behind a large energy error, in words."""
    found = ["mixed units (kilometres for metres, degrees for radians)"]
    found += ["bodies that come too near each other"] * (system.N > 1)
    return ", ".join(found + ["a function that jumps"] * bool(system.functions))


def blown_up(run: Run, t: float, before: float, step: int) -> NotFinite:
    """The error for a run that has blown up between two rows."""
    return NotFinite(
        f"the run blew up between t = {before:.9g} and t = {t:.9g}: {run.chosen.label!r} has changed the energy by "
        f"more than {BEYOND:g} times what there was; {run.finer}, and look for {causes(run.system)} (with "
        "settings={'guard': False} nothing looks)",
        step=step, time=t,
    )  # fmt: skip


def large_ratio(worst: Any, largest: Array) -> Any:
    """The largest error of a run over the scale at its end, before which that of the first rows is small.

    It counts no further than something moved: rows that all lie at turning points have a scale that is too small.
    """
    return np.minimum(worst, largest[..., 0]) / np.maximum(largest.sum(axis=-1), np.finfo(float).tiny)


def warn_of_errors(run: Run, large: tuple[Any, Array, float] | None, times: Array, states: Array) -> None:
    """Warn of a large energy error, given with the largest energies and when it became large, and of steps that do not
    resolve the loads."""
    if large is not None and (ratio := large_ratio(*large[:2])) > LARGE:
        warn(f"the energy error of {run.chosen.label!r} reaches {ratio:.2g} of all energies there are (from t = "
             f"{large[2]:.6g} on it is above {LARGE:g}), so that this run is no approximation; {run.finer}, or look "
             f"for {causes(run.system)}", EnergyWarning)  # fmt: skip
    if told := coarse_loads(run, times, states):
        warn(told, CoarseStepWarning)


def concluded(run: Run, ds: xr.Dataset, error: PolhodeError | None) -> xr.Dataset:
    """The Dataset of a run; where there is an error it is raised, with the Dataset on it."""
    ds.encoding["seconds"] = run.seconds
    if error is not None:
        error.trajectory = ds
        raise error
    return ds


def attributes(run: Run, error: PolhodeError | None, stopped: str) -> dict[str, Any]:
    """Attributes of the Dataset of a run as far as it is; ``incomplete`` where there is an error."""
    if run.repeats and run.told is None:
        run.told = usual_attributes(run)
    found = usual_attributes(run) if run.told is None else run.told.copy()
    found["load_evaluations"], repeated = run.integrator.evaluations, run.integrator.repeated
    if repeated:
        found["load_evaluations_by_velocity"] = repeated
    found["run"] = run.request.to_text()
    if error is not None:
        found["incomplete"] = str(error)
    if stopped:
        found["stopped"] = stopped
    return found


def usual_attributes(run: Run) -> dict[str, Any]:
    """The same of runs that end as they should and differ in the start alone; some numbers are still to be put in."""
    request, step_settings = run.request, run.step_settings
    named, bath, told = next(iter(step_settings)), run.integrator.prepared.bath, run.system.called
    kept = bath.keeps if bath is not None and run.chosen.promises.thermal else None
    found = {
        "title": f"{run.system.title}, {run.chosen.label}, {named} {step_settings[named]:g}",
        "system": run.system.name,
        "method": run.chosen.label,
        "method_description": run.chosen.method.description,
        **request.order,
        **({"loads_note": told.by_differences} if told and told.by_differences else {}),
        "citation": run.chosen.method.cite,
        **step_settings,
        "load_evaluations": 0,
        **({"load_evaluations_by_velocity": 0} if run.integrator.repeated else {}),
        **({"sums": "compensated"} if run.integrator.prepared.compensation else {}),
        "conserves": ", ".join(name for name in run.system.conserves if kept is None or name in kept),
        "conventions": CONVENTIONS,
        "units": request.settings.units,
        "polhode_version": release(),
        "run": "",
    }
    if request.settings.epoch is not None:
        found["epoch"] = request.settings.epoch
    if bath is not None and (note := bath.note(run.integrator.bath_coefficients, run.h)):
        found["transport_note"] = note
    if run.chosen.method.family == "taylor":
        found["drift_note"] = "errors of steps add up: what is conserved may drift, linearly in time; " + (
            f"the tolerance allows {found['rtol']:g} of it in a step"
            + (f", {found['rtol'] * run.done:.2g} in {run.done}" if run.done else "") if run.adaptive  # members differ
            else f"half the step divides the drift by 2^{found['order']}"
        )  # fmt: skip
    return found


def columns(run: Run, rows: Rows, sizes: Array, energies: Array | None, attributes: dict[str, Any]) -> xr.Dataset:
    """The Dataset of rows of a run, of which the first is the start of the run; without its events."""
    units, prepared, states = run.request.settings.units, run.integrator.prepared, rows.states
    compensation = "bodies" if prepared.compensates_rotation else "points" if prepared.compensation else ""
    more: dict[str, Any] = {}
    if run.adaptive or run.time_transformed_run:
        more["step"] = (("time",), sizes.copy(), {"long_name": MEANING["step"], "units": UNITS[units]["step"]})
    if run.time_transformed_run:
        words = {"long_name": MEANING["time_variables"], "units": UNITS[units]["time_variables"]}
        more["time_variables"] = (("time", "time_variable"), states[:, -L.TIME_VARIABLES :].copy(), words)
    ds = dataset(
        run.system, rows, energies, attributes, units, prepared.coordinates, compensation, more=more,
    )  # fmt: skip
    if prepared.bath is not None:
        first = L.BODY * run.system.N + len(run.system.auxiliary)
        numbers = states[:, first : first + prepared.bath.numbers.size].copy()
        ds = with_bath(ds, numbers, prepared.bath.energy(numbers, run.integrator.bath_coefficients), units)
    return ds


def with_found(run: Run, ds: xr.Dataset, stopped: str) -> xr.Dataset:
    """The Dataset with the events of the run, where it looks for any."""
    system = run.system
    if not (run.request.events or run.ended or system.impulses or system.watched):
        return ds
    slack = 4.0 * EPSILON * max(abs(run.t0), abs(run.now), run.last)
    found = [e for e in run.event_detection.found if stopped or (e.time - run.now) * run.direction <= slack]
    return with_events(ds, system, rows_of(found, L.BODY * system.N), run.request.settings.units)


def potential_energies(
    run: Run, times: Array, states: Array, virials: Array = NONE
) -> tuple[Array | None, UserFunctionError | NotFinite | None]:
    """Potential energy of the rows, up to the first where it fails, and that failure; None where there is none."""
    if run.potential is None:
        return None, None
    now, energies = run.integrator, np.full(len(times), np.nan)
    problem: Exception | None = None
    try:
        write_energies(times, states, now.bodies, now.parameters, run.potential, energies, virials)
    except Exception as caught:
        problem = caught
    finite = np.isfinite(energies)
    if finite.all():
        return energies, None
    k = int(finite.argmin())
    t = float(times[k])
    where: dict[str, Any] = {"step": run.number(t), "time": t}
    bridge = run.system.bridged_potential()
    if bridge is not None and not isinstance(problem, UserFunctionError):
        try:
            row = slice(k, k + 1)
            write_energies(times[row], states[row], now.bodies, now.parameters, bridge, energies[row])
        except Exception as again:
            problem = again
    if problem is None:
        return energies[:k], NotFinite(f"the potential energy is not finite at t = {t:.9g}", **where)
    error = UserFunctionError(str(problem), **where)
    error.__cause__ = problem.__cause__ or problem
    return energies[:k], error
