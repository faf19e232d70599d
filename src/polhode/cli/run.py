"""``polhode run``: integrate a scenario, show progress, write the trajectory and its picture."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
import tomllib
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import polhode as ph
from polhode.cli.members import is_ensemble, picture_of_members, summary_of_members, table_of_members
from polhode.cli.options import ALLOW_CODE, JSON, NO_PICTURE, OUTPUT, QUIET, STEP, THREADS, argument, as_command, option
from polhode.cli.text import complete_method, complete_scenario, laid_out, noted, show_summary
from polhode.display import Display as AnyDisplay, duration
from polhode.errors import FileProblem, Interrupted, InvalidInput, PolhodeError, UserFunctionError
from polhode.kernel.interrupts import Noticed
from polhode.lazy import xr

if TYPE_CHECKING:
    from polhode.display import Progress
    from polhode.runs.scenario import Scenario
    from polhode.runs.scenario.record import Files

SPOKEN = {
    "angular_momentum_space": "spatial momentum",
    "vertical_angular_momentum": "vertical momentum",
    "axial_angular_momentum": "axial momentum",
    "total_momentum": "total momentum",
    "total_angular_momentum": "total angular momentum",
}
"""Names of conserved quantities in the table."""
THERMODYNAMIC = ("temperature", "temperature_translational", "temperature_rotational", "pressure")
MOST_KINDS, MOST_SHOWN = 8, 4  # most kinds of events listed in the table, and numbers of a statistic
OWN = (str(Path(__file__).resolve().parents[1]), "<frozen importlib")
"""How the names of files begin whose lines are no user's."""


@as_command
def command(
    scenario: Path = argument(shell_complete=complete_scenario),
    output: Path | None = OUTPUT,
    method: str | None = option(
        "--method",
        "Method instead of the scenario's, such as mkrk:gauss4 or s6_10/mr6.",
        shell_complete=complete_method,
    ),
    step: float | None = STEP,
    rtol: float | None = option("--rtol", "Steps chosen by this tolerance of each, instead of the scenario's."),
    values: tuple[str, ...] = option("--set", "Another value of a key, such as run.t_end=5.0.", metavar="KEY=VALUE"),
    start: Path | None = option("--from", "Go on where this trajectory stopped."),
    store: Path | None = option(
        "--store", "Write rows while the run goes to this new folder (.zarr); `polhode resume` goes on from it."
    ),
    threads: int = THREADS,
    no_picture: bool = NO_PICTURE,
    overwrite: bool = option(
        "--overwrite", "Replace files that polhode did not write, and leave the folder, if it says so."
    ),
    as_json: bool = JSON,
    quiet: bool = QUIET,
    allow_code: bool = ALLOW_CODE,
) -> None:
    """Integrate SCENARIO, a TOML file, and write the trajectory and its picture.

    \b
    Examples:
        polhode run examples/fast-top.toml
        polhode run examples/fast-top.toml --method mkrk:gauss4 --step 0.001 -o gauss.nc
        polhode run examples/gravity-gradient.toml --method s6_10/dmv6
        polhode run examples/gravity-gradient.toml --method mkrk:dp8 --rtol 1e-10
        polhode run examples/tethered-pair.toml --set tether.stiffness=8.0 --set run.every=100
        polhode run examples/satellite.toml --allow-code
        polhode run examples/gravity-gradient.toml --store long.zarr

    Events the scenario asks for (events = ["periapsis", "node"], or [[events]] tables), impulses and the impact on a
    surface are listed in the trajectory (event_time, event_kind, ...) and counted in the summary.

    The trajectory goes to <scenario name>.nc in the current folder unless -o or the scenario says otherwise, the
    picture beside it. Ctrl-C stops the run and keeps what was computed; --from continues it, to round-off.

    Names in a scenario stay in the current folder, and only trajectories and pictures that polhode wrote are replaced;
    else the run is refused before it begins (exit code 5). -o, --store and --overwrite are your own words, and stand.

    A run with a --store (or store = "long.zarr" under [output]) can be killed at any time, also by a power cut: rows
    and state are written to disk every half minute, and `polhode resume long.zarr` completes it, bit for bit as an
    uninterrupted run. Its rows leave the memory on the way: it may have 10^8 of them. A trajectory of more than 256 MB
    stays in the store, in its folder trajectory, unless -o names a file. `polhode info` and `polhode tail` watch it.

    A scenario with a table [members] is many runs that differ in what it lists: its trajectory has the dimension
    member, or the statistics that its `reduce` asks for, and its picture the bands of them over time.

    In Python: polhode.runs.read_scenario("fast-top.toml").integrate().
    """
    picture = not no_picture

    def computed(display: Display) -> Result:
        told = ph.runs.read_scenario(
            scenario, allow_code, method=method, step=step, rtol=rtol, stored=store is not None,
            changes=dict(map(_value, values)) or None,
        )  # fmt: skip
        named = output or told.output.file
        result = Result(named or Path(f"{scenario.stem}.nc"), told.output.picture, str(scenario))
        live = store or told.output.store
        _check(told.output, result.out, output, store, picture, overwrite)
        if start is not None:
            if start.resolve() == result.out.resolve():
                raise InvalidInput(
                    f"{result.out} is what the run goes on from and would be replaced; name another with -o"
                )
            told = told.continued(ph.load(start))
        if told.members is None:
            result.on = resuming(live, result.out, allow_code) if live else _going_on(told, result.out, allow_code)
            result.store = live if named is None else None
            return result.of(lambda: told.integrate(display, live, threads=threads), display)
        for given, word in ((start, "--from"), (live, "a store")):
            if given is not None:
                raise InvalidInput(f"{told.path} is many members, which go without {word}; leave it out")
        display.counted = "members"
        result.on = f"run it again with: {shlex.join(['polhode', 'run', str(told.path)])}"
        many = None if threads == 1 else threads
        return result.of(lambda: ph.ensembles.ensemble_of(told, display, many), display)

    deliver(computed, quiet, no_picture, as_json)


@dataclass
class Result:
    """What comes of a run, where it is written to, and how to go on after an interruption."""

    out: Path  # file of the trajectory
    picture: Path | None  # file of the picture; None: beside the trajectory
    scenario: str  # what was run, for the summary
    on: str = ""  # how to continue after an interruption: a command, in words
    # where the trajectory is already, if nobody has named a file: a long one is not written again
    store: Path | None = None
    failed: PolhodeError | None = None  # why the run ended early

    def of(self, run: Callable[[], xr.Dataset], display: Display) -> Result:
        """With the trajectory of a run, complete or as far as it came before it failed."""
        try:
            self.ds = run()
        except PolhodeError as failed:
            if failed.trajectory is None:
                raise
            display.stopped()
            self.ds, self.failed = failed.trajectory, failed
        return self

    def write(self) -> xr.Dataset:
        """Write the trajectory, or leave a long one in its store; rows for the summary and the picture."""
        if self.store is None or self.ds.nbytes <= LONG:
            _save(self.ds, self.out)
            return self.ds
        self.picture, self.out = self.picture or self.out.with_suffix(".png"), self.store
        from polhode.plots.rows import even

        rows = self.ds.sizes["time"]
        some = self.ds.isel(time=even(rows, LOOKED_AT)).load()
        some.encoding = {**self.ds.encoding, "rows": rows}
        return some


LONG = 2**28  # bytes of a trajectory from which on it stays in its store, unless a file is named
LOOKED_AT = 2**16  # rows of such a trajectory in the summary and the picture


def deliver(compute: Callable[[Display], Result], quiet: bool, no_picture: bool, as_json: bool) -> None:
    """Run, show progress, save the result, report failures."""
    with noted():
        interrupts = InterruptHandler()
        with interrupts:
            try:
                with Display(quiet, interrupts) as display:
                    result = compute(display)
            except BaseException as wrong:
                # Ctrl-C may surface as another error, for instance of a module half imported.
                if isinstance(wrong, KeyboardInterrupt) or (interrupts.pressed and not interrupts.begun):
                    lost = "in the middle of a step; nothing was kept" if interrupts.begun else "before the first step"
                    raise Interrupted(f"interrupted {lost}") from None
                if isinstance(wrong, UserFunctionError):
                    _show_traceback(wrong)
                raise
            ds = result.write()
            if interrupts.pressed:
                result.failed = result.failed or Interrupted("interrupted when the run was over")
    written = [result.out]
    try:
        if result.failed is None and not no_picture and not last_alone(ds):
            written += _picture(ds, result.picture or result.out.with_suffix(".png"))
        many = is_ensemble(ds)
        facts = summary_of_members(ds) if many else summary(ds)
        facts |= {"scenario": result.scenario, "written": [str(path) for path in written]}
        show_summary(facts, table_of_members if many else table, as_json, quiet)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted when the run was over; written: {', '.join(map(str, written))}") from None
    if result.failed is not None:
        result.on += " --no-picture" * no_picture
        _report(result.failed, facts, result)


def _check(files: Files, out: Path, output: Path | None, store: Path | None, picture: bool, overwrite: bool) -> None:
    """Refuse what a scenario may not write, or where it cannot be written, before anything is computed."""
    from polhode.trajectory.outputs import check_replaceable, check_within

    named = [("file", files.file, output), ("store", files.store, store)]
    named += [("picture", files.picture, None)] if picture else []
    for name, path, instead in named:
        if path is not None and instead is None and not overwrite:
            check_within(path, f"output.{name}", "take the name out of the scenario, or add --overwrite")
    check_place(out, store or files.store)
    if output is None and not overwrite:
        check_replaceable(out, "name another file with -o, or add --overwrite")
    if picture and not overwrite:
        remedy = "add --no-picture or --overwrite, or name another file with -o"
        check_replaceable(files.picture or out.with_suffix(".png"), remedy)


def _value(told: str) -> tuple[str, Any]:
    """A key and its value, as TOML writes it; what is no TOML is a text."""
    key, sign, value = told.partition("=")
    if not (key.strip() and sign):
        raise InvalidInput(f"--set {told!r} is no KEY=VALUE; write it like --set run.t_end=5.0")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except (ValueError, RecursionError):  # no TOML, a number of very many digits, lists without end
        return key.strip(), value.strip()


# ------------------------------------------------------------------ progress
class Display(AnyDisplay):
    """Progress of a run; notes for the interrupt handler that it has begun."""

    def __init__(self, quiet: bool, interrupts: InterruptHandler) -> None:
        super().__init__(quiet)
        self.interrupts = interrupts

    def __call__(self, progress: Progress) -> None:
        """Show progress."""
        if self.interrupts.pressed and not self.interrupts.begun:
            raise KeyboardInterrupt  # again: the first one was lost
        self.interrupts.begun = self.interrupts.begun or progress.stage == "running"
        super().__call__(progress)


# ------------------------------------------------------------------ results
def check_place(out: Path, store: Path | None = None) -> None:
    """Refuse a path that cannot be written, before anything is computed."""
    ph.trajectory.suffix_of(out)
    if store is not None and out.resolve() == store.resolve():
        raise InvalidInput(f"{out} is the store; the trajectory written at the end needs another name, see -o")
    check_folder(out)


def check_folder(out: Path) -> None:
    """Create the folder of a file, and refuse one that cannot be written."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(out.parent, os.W_OK):
            raise PermissionError(13, "the folder is not writable")
    except OSError as refused:
        raise FileProblem(f"cannot write {out}: {refused.strerror}; choose another place with -o") from refused


class InterruptHandler(Noticed):
    """Ctrl-C outside of the run's own handler: before the first step it raises at once. Later the run takes the first
    one, a second one is only noted, so that the rows are saved, and a third one raises."""

    begun = False

    def press(self, *_: object) -> None:
        again, self.pressed = self.pressed, True
        if again or not self.begun:
            raise KeyboardInterrupt


def _save(ds: xr.Dataset, out: Path) -> None:
    """Write the trajectory; where that fails, write it to a temporary folder and say so."""
    try:
        ph.save(ds, out)
    except FileProblem as refused:
        elsewhere = Path(tempfile.mkdtemp(prefix="polhode-")) / out.name
        try:
            ph.save(ds, elsewhere)
        except FileProblem:
            raise refused from None
        raise FileProblem(f"{refused}; the trajectory was kept in {elsewhere}", trajectory=ds) from refused


def _picture(ds: xr.Dataset, path: Path) -> list[Path]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if is_ensemble(ds):
            return [path] if picture_of_members(ds, path) else []
        ph.plots.dashboard(ds, path)
    except OSError as refused:
        why = refused.strerror or refused
        raise FileProblem(f"cannot write the picture {path}: {why}; --no-picture does without") from refused
    return [path]


def statistics(ds: xr.Dataset) -> dict[str, Any]:
    """Statistics of the rows of a run that was asked for any, in JSON's types."""
    return {
        str(name): one.values.tolist() for name, one in ds.data_vars.items()
        if '"reduce"' in ds.attrs["run"] and "time" not in one.dims and not str(name).startswith("event_")
    }  # fmt: skip


def last_alone(ds: xr.Dataset) -> bool:
    """Whether of the rows of a run only the last one is there beside their statistics."""
    return ds.sizes.get("time") == 1 and not is_ensemble(ds) and bool(statistics(ds))


def summary(ds: xr.Dataset) -> dict[str, Any]:
    """Largest errors, iterations and cost of a run, in JSON's types."""
    import numpy as np

    from polhode.trajectory.convergence import momentum_errors
    from polhode.trajectory.schema import CHART_DIMENSION

    def largest(values: Any) -> float | None:
        found = float(np.max(np.abs(np.asarray(values))))
        return found if np.isfinite(found) else None

    conserves = [name for name in str(ds.attrs["conserves"]).split(", ") if name]
    alone = last_alone(ds)  # then errors are those at the end, and there is no start to compare with
    momenta = {name: largest(error) for name, (error, _) in ({} if alone else momentum_errors(ds)).items()}
    bath = None
    if "conserved_energy" in ds:
        bath = largest((ds.conserved_energy - ds.conserved_energy[0]) / (float(ds.kinetic_energy.mean()) or 1.0))
    latter = ds.isel(time=slice(len(ds.time) // 2, None))
    means = {name: float(latter[name].mean()) for name in THERMODYNAMIC if name in ds}
    steps = int(ds.attrs["steps"])
    seconds = ds.encoding.get("seconds")
    counts = ds.iterations.values[1:]
    solved = bool(counts.size and counts.max() > 0)
    charts = [name for name in CHART_DIMENSION if name in ds]
    words = ("sequence", "branch", "note")
    return {
        "title": ds.attrs["title"],
        "system": ds.attrs["system"],
        "method": ds.attrs["method"],
        "order": ds.attrs["order"] if ds.attrs["order"] == "exact" else int(ds.attrs["order"]),
        "citation": ds.attrs["citation"],
        "step": float(ds.attrs["step"]) if "step" in ds.attrs else None,
        "rtol": float(ds.attrs["rtol"]) if "rtol" in ds.attrs else None,
        "steps": steps,
        "steps_rejected": int(ds.attrs.get("steps_rejected", 0)),
        "step_sizes": [float(ds.attrs[name]) for name in ("step_smallest", "step_largest") if name in ds.attrs],
        "t": [json.loads(ds.attrs["run"])["t0"] if alone else float(ds.time.values[0]), float(ds.time.values[-1])],
        "rows": ds.encoding.get("rows", len(ds.time)),
        "rows_looked_at": len(ds.time),
        "complete": "incomplete" not in ds.attrs,
        "error": ds.attrs.get("incomplete"),
        "statistics": statistics(ds),
        "last_row_alone": alone,
        "energy_conserved": "energy" in conserves,
        "energy_error": largest(ds.energy_error),
        "energy_note": ds.energy_error.attrs.get("note"),
        "energy_change": largest(ds.energy_change),
        "conserved_energy_change": bath,
        "means": {name: value for name, value in means.items() if np.isfinite(value)},
        "units_of_means": {name: str(ds[name].attrs["units"]) for name in means},
        "work": dict(zip(ds.force.values.tolist(), ds.work.values[-1].tolist(), strict=True)) if "work" in ds else {},
        "momentum_errors": momenta,
        "charts": {name: {key: ds[name].attrs[key] for key in words if key in ds[name].attrs} for name in charts},
        "attitude_norm_error": largest(np.linalg.norm(ds.attitude.values, axis=-1) - 1.0) if "attitude" in ds else None,
        "events": events(ds),
        "stopped": ds.attrs.get("stopped"),
        "iterations": {"mean": float(counts.mean()), "most": int(counts.max())} if solved else None,
        "seconds": seconds,
        "ns_per_step": 1e9 * seconds / steps if seconds is not None and steps else None,
        "polhode_version": ds.attrs["polhode_version"],
    }


def events(ds: xr.Dataset) -> dict[str, Any]:
    """Count, first and last time of each kind of event found."""
    if "event_time" not in ds:
        return {}
    kinds, times = ds.event_kind.values, ds.event_time.values
    found = {str(kind): times[kinds == kind] for kind in dict.fromkeys(kinds)}
    return {kind: {"count": len(at), "first": float(at[0]), "last": float(at[-1])} for kind, at in found.items()}


def table(facts: dict[str, Any]) -> str:
    """The summary as a short table for people."""
    import numpy as np

    def size(value: float | None) -> str:
        return "not finite" if value is None else f"{value:.1e}"

    def mean(name: str) -> str:
        return f"{facts['means'][name]:.4g} {facts['units_of_means'][name]}"

    (start, end), means, events = facts["t"], facts["means"], list(facts["events"].items())
    if facts["rtol"] is None:
        taken = f"{facts['steps']} steps{', the first' if facts['step_sizes'] else ''} of {facts['step']:g}"
    else:
        taken = f"{facts['steps']} steps accepted and {facts['steps_rejected']} rejected with rtol {facts['rtol']:g}"
    if facts["energy_conserved"]:
        balance = [("energy error", f"{size(facts['energy_error'])} relative"), ("", facts["energy_note"])]
    elif facts["conserved_energy_change"] is not None:
        balance = [("energy with bath", f"change {size(facts['conserved_energy_change'])} of the kinetic energy")]
    elif facts["work"]:
        done = ", ".join(f"{name} {value:.3g}" for name, value in facts["work"].items())
        balance = [("work", done), ("energy less work", f"error {size(facts['energy_error'])} relative")]
    else:
        balance = [("energy change", f"{size(facts['energy_change'])}, not conserved by this system")]
    met = [f"{one['count']} {kind}, t = {one['first']:.9g}" + (f" to {one['last']:.9g}" if one["count"] > 1 else "")
           for kind, one in events[:MOST_KINDS]]  # fmt: skip
    met += [f"and {len(events) - MOST_KINDS} kinds more"] if len(events) > MOST_KINDS else []
    rows = f"{facts['rows']} rows"
    if facts["last_row_alone"]:
        rows = "the last row, whose errors these are, and statistics of all; no picture"
    found = ((name, np.ravel(value)) for name, value in facts["statistics"].items())
    told = [" ".join([name, *(f"{x:.6g}" for x in values[:MOST_SHOWN]), "..." * (len(values) > MOST_SHOWN)]).strip()
            for name, values in found if not name.endswith(("_count", "_row"))]  # fmt: skip
    shown, solved, each = facts["rows_looked_at"], facts["iterations"], facts["ns_per_step"]
    return laid_out(facts["title"], [
        ("method", f"{facts['method']}, order {facts['order']}; cite {facts['citation']}"),
        ("span", f"t = {start:g} to {end:g}, {taken}, {rows}"),
        ("looked at", shown < facts["rows"] and f"{shown} rows among them, for what follows and for the picture"),
        ("steps", facts["step_sizes"] and "{:.3g} smallest, {:.3g} largest".format(*facts["step_sizes"])),
        *balance,
        *((f"{SPOKEN.get(name, name)} error", f"{size(error)} relative")
          for name, error in facts["momentum_errors"].items()),
        *zip(("statistics", *[""] * len(told)), told, strict=False),
        ("temperature", "temperature" in means and f"{mean('temperature')} in the second half; translation "
         f"{mean('temperature_translational')}, rotation {mean('temperature_rotational')}"),
        ("pressure", "pressure" in means and f"{mean('pressure')} in the second half"),
        ("|q| - 1", facts["attitude_norm_error"] is not None and size(facts["attitude_norm_error"])),
        *(row for name, about in facts["charts"].items() for row in (
            (name.replace("_", " "), ", ".join(about[key] for key in ("sequence", "branch") if key in about) or " "),
            ("", about.get("note")))),
        *zip(("events", *[""] * len(met)), met, strict=False),
        ("ended", facts["stopped"]),
        ("iterations", solved and f"{solved['mean']:.2f} mean, {solved['most']} most"),
        ("time", each is not None and f"{duration(1e-9 * each)} per step, {duration(facts['seconds'])}"),
        ("written", ", ".join(facts["written"])),
    ])  # fmt: skip


# ------------------------------------------------------------------ failures
def _show_traceback(failed: UserFunctionError) -> None:
    """Print the traceback of the user's exception, from the first line of the user's code on."""
    if (cause := failed.__cause__) is None:
        return
    at = cause.__traceback__
    while at is not None and at.tb_next is not None and at.tb_frame.f_code.co_filename.startswith(OWN):
        at = at.tb_next
    click.echo("".join(traceback.format_exception(type(cause), cause, at, chain=False)).rstrip(), err=True)


def _report(failed: PolhodeError, facts: dict[str, Any], result: Result) -> None:
    """Raise the failure again, saying where the trajectory so far is and how to continue."""
    if isinstance(failed, UserFunctionError):
        _show_traceback(failed)
    rows = f"the {facts['rows']} rows up to t = {facts['t'][1]:g} are"
    there = "what they computed is" if "members" in facts else rows
    on = f"; {result.on}" if isinstance(failed, Interrupted) and not facts["complete"] else ""
    failed.args = (f"{failed}; {there} in {result.out}{on}",)
    raise failed


def _going_on(scenario: Scenario, out: Path, allow_code: bool) -> str:
    """How to continue an interrupted run of a scenario."""
    from polhode.runs.scenario.starters import as_toml

    words = ["polhode", "run", str(scenario.path)]
    given = {name: scenario.changes.get(name) for name in ("method", "step", "rtol")}
    for name, value in given.items():
        words += [] if value is None else [f"--{name}", str(value)]
    for key, one in scenario.changes.items():
        words += ["--set", f"{key}={as_toml(one)}"] if key not in (*given, "continued_from") else []
    words += ["--allow-code"] if allow_code else []
    if "t_eval" in scenario.arguments and "rtol" not in scenario.arguments:  # the last row may lie off the grid
        return f"run it again with: {shlex.join(words)}"
    words += ["--from", str(out), "-o", str(out.with_name(f"{out.stem}-rest{out.suffix}"))]
    return f"go on with: {shlex.join(words)}"


def resuming(store: Path, out: Path, allow_code: bool) -> str:
    """How to continue an interrupted run that has a store."""
    words = ["polhode", "resume", str(store), "-o", str(out), *(["--allow-code"] if allow_code else [])]
    return f"go on with: {shlex.join(words)}"
