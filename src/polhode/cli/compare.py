"""``polhode compare``: errors, orders and cost of several methods on a scenario."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import polhode as ph
from polhode.cli.options import ALLOW_CODE, OVERWRITE, argument, as_command, option
from polhode.cli.run import check_folder
from polhode.cli.text import complete_method, complete_scenario, noted, print_table
from polhode.errors import Interrupted, InvalidInput
from polhode.lazy import xr

if TYPE_CHECKING:
    from polhode.systems import System

METHODS = ("imid", "trapm", "liemid_ea", "v2", "s4_6", "rkn6_14a", "pmlf6", "mkrk:rk4", "mkrk:cv8")
"""Methods compared by default, one of each kind: implicit in rate and in momentum form, explicit, splittings of order
2, 4 and 6, one with commutator loads, Runge-Kutta of order 4 and the default method."""
VELOCITY_METHODS = ("imid", "trapm", "liemid_ea", "v2", "s4_6", "s6_10", "mkrk:rk4", "mkrk:gauss4", "mkrk:cv8")
"""The same under loads that depend on velocities: methods that keep their order."""
POINT_METHODS = ("trap", "imid", "v2", "rkn6_14a", "pmlf6", "mkrk:rk4", "mkrk:gauss4", "mkrk:cv8")
"""The same for point masses, for which several of the methods above coincide."""
VELOCITY_POINT_METHODS = ("trap", "imid", "v2", "s4_6", "s6_10", "mkrk:rk4", "mkrk:gauss4", "mkrk:cv8")
"""The same for point masses under loads that depend on velocities."""
ERRORS = {
    "attitude_error": "attitude",
    "angular_momentum_error": "angular momentum",
    "position_error": "position",
    "momentum_error": "momentum",
    "energy_error": "energy",
}


@as_command
def command(
    scenario: Path = argument(shell_complete=complete_scenario),
    methods: str | None = option(
        "--methods", "Methods, separated by commas. Default: one of each kind.", shell_complete=complete_method
    ),
    steps: str | None = option("--steps", "Steps, separated by commas. Default: 4, 2, 1 and 1/2 times the scenario's."),
    output: Path | None = option("-o --output", "CSV file, or a folder; the picture beside it."),
    as_json: bool = option("--json", "Print the table for machines instead."),
    overwrite: bool = OVERWRITE,
    quiet: bool = option("-q --quiet", "Say nothing but the results."),
    allow_code: bool = ALLOW_CODE,
) -> None:
    """Run several methods with several steps on SCENARIO: errors at its end, observed orders, and cost.

    \b
    Examples:
        polhode compare examples/free-body.toml
        polhode compare examples/fast-top.toml --methods trapm,imidm,mkrk:gauss4 --steps 0.004,0.002,0.001
        polhode compare examples/gravity-gradient.toml --methods v2/exact,v2/mr,v2/dmv10,v2/mr6
        polhode compare examples/gravity-gradient.toml --methods s6_10,rkn6_14a,aba10_6_4,pmlf6

    The first line compares one method of each kind; the third one splitting with several free rotations, which go after
    the slash; the last several splittings with the exact free rotation. Where loads depend on velocities, the default
    methods are those that keep their order under them (see the tables of `polhode methods splitting`).

    The reference is computed by two methods of order 8 that must agree; errors below its accuracy are shown as bounds
    ("<"). A run that fails is marked in the table. The table (CSV) and a picture (PNG), named after the scenario,
    are written to the current folder unless -o says otherwise.
    """
    from polhode.runs.compare import records
    from polhode.trajectory.outputs import check_defaults

    read = ph.runs.read_scenario(scenario, allow_code)
    if "rtol" in read.arguments and not steps:
        raise InvalidInput(
            f"{scenario} chooses its steps by rtol, but a comparison takes steps of one size; add --steps"
        )
    arguments, step, t_end = _span(read.arguments)
    t0 = read.arguments.get("t0", 0.0)
    chosen = [word.strip() for word in methods.split(",")] if methods else list(usual_methods(read.system))
    if not all(chosen):
        raise InvalidInput(f"--methods {methods!r}: expected names separated by commas, such as trapm,imidm")
    sizes: list[float] = [] if steps else _usual(step, t_end, t0, quiet)
    for word in steps.split(",") if steps else ():
        try:
            sizes.append(float(word))
        except ValueError:
            raise InvalidInput(f"--steps {steps!r}: {word.strip()!r} is no number; expected such as 0.1,0.05") from None
    target = _target(output, Path(scenario).stem)
    picture = target.with_suffix(".png")
    check_defaults(output, overwrite, target, picture)

    def report_progress(words: str) -> None:
        if not quiet:
            click.echo(words, err=True)

    stopped = False
    with noted():
        try:
            found = ph.compare(read.system, chosen, sizes, t_end=t_end, progress=report_progress, **arguments)
        except KeyboardInterrupt:
            raise Interrupted("interrupted before the first run was done; nothing was written") from None
        except Interrupted as interrupted:
            if interrupted.trajectory is None or "status" not in interrupted.trajectory:
                raise Interrupted("interrupted before the first run was done; nothing was written") from None
            stopped, found = True, interrupted.trajectory
    found.attrs["title"] = f"{read.title}: errors at t = {t_end:g}"
    rows = records(found)
    _write(rows, target)
    ph.plots.work_precision(found, picture)
    if as_json:
        facts = {
            "title": found.attrs["title"], "reference": found.attrs["reference"], "scenario": str(scenario),
            "rows": rows, "written": [str(target), str(picture)],
        }  # fmt: skip
        click.echo(json.dumps(facts, indent=2, allow_nan=False))
    else:
        _show(found, rows)
    report_progress(f"written: {target}, {picture}")
    if stopped:
        raise Interrupted(f"interrupted; the runs so far are in {target}", trajectory=found)


def usual_methods(system: System) -> tuple[str, ...]:
    """Methods compared by default for this system."""
    if not system.rotates:
        return VELOCITY_POINT_METHODS if system.velocity_dependent else POINT_METHODS
    return VELOCITY_METHODS if system.velocity_dependent else METHODS


def _span(given: dict[str, Any]) -> tuple[dict[str, Any], float, float]:
    """Arguments of a comparison, the scenario's step, and its end time."""
    elsewhere = (
        "every", "t_eval", "events", "progress", "rtol", "atol", "first_step", "max_step", "max_steps", "epoch",
    )  # fmt: skip
    from polhode.runs.request import grouped

    arguments = {name: value for name, value in given.items() if name not in elsewhere}
    step = float(arguments.pop("step", "nan"))
    count = arguments.pop("steps", None)
    t_end = arguments.pop("t_end", None)
    if t_end is None:
        t_end = arguments.get("t0", 0.0) + step * count
    return grouped(arguments), step, float(t_end)


def _usual(step: float, t_end: float, t0: float, quiet: bool) -> list[float]:
    """Steps around the scenario's, adjusted to divide the span, with a note where they were."""
    from polhode.runs.compare import FACTORS, fitting_steps

    sizes = fitting_steps(step, t_end, t0)
    moved = [size for size in sizes if not any(abs(size - step * factor) <= 1e-9 * size for factor in FACTORS)]
    if moved and not quiet:
        click.echo(
            "note: steps moved so that they divide the span: " + ", ".join(f"{size:.6g}" for size in moved), err=True
        )
    return sizes


def _target(output: Path | None, stem: str) -> Path:
    """Path of the CSV file, in a folder that can be written."""
    target = output if output is not None else Path(f"{stem}-compare.csv")
    if target.suffix == "" or target.is_dir():
        target = target / f"{stem}-compare.csv"
    elif target.suffix.lower() != ".csv":
        raise InvalidInput(f"-o {str(output)!r} must end in .csv or be a folder; the picture goes beside the table")
    check_folder(target)
    return target


def _write(rows: list[dict[str, Any]], target: Path) -> None:
    """Write the table; the file is written completely or not at all."""
    from polhode.trajectory.files import appearing_whole

    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with appearing_whole(target) as draft:
        draft.write_text(text.getvalue(), encoding="utf-8")


# ------------------------------------------------------------------ output
def _show(found: xr.Dataset, rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    shown = {name: words for name, words in ERRORS.items() if any(row.get(name) is not None for row in rows)}
    table = Table(title=found.attrs["title"], title_justify="left", box=None, pad_edge=False)
    table.add_column("method")
    for words in ("step", *shown.values(), "iterations", "loads/step", "ns/step", "seconds"):
        table.add_column(words, justify="right")
    for k, row in enumerate(rows):
        if row["status"] == "ok":
            cells = [("<" if row.get(f"{name}_is_bound") else "") + _number(row[name], ".2e") for name in shown]
            cells += [
                _number(row["iterations"], ".2f") if row["iterations"] else "-",
                _number(row["load_evaluations"], ".1f"), _number(row["ns_per_step"], ".0f"),
                _number(row["seconds"], ".2e"),
            ]  # fmt: skip
        else:
            cells = [row["status"], *[""] * (len(shown) + 3)]
        last = k + 1 == len(rows) or rows[k + 1]["method"] != row["method"]
        table.add_row(row["method"], f"{row['step']:g}", *cells)
        if last:
            orders = [_number(row.get(f"{name}_order"), ".2f") for name in shown]
            table.add_row("", "order", *orders, *[""] * 4, style="bold", end_section=True)
    print_table(table)
    click.echo()
    for row in rows:
        if row["message"]:
            click.echo(f"{row['method']}, step {row['step']:g}: {row['message']}")
    click.echo(f"Reference: {found.attrs['reference']}.")
    click.echo("Errors at the end, 2-norms (attitude: of R - R_ref); energy: largest of the run, relative.")
    if any(row.get(f"{name}_is_bound") for row in rows for name in shown):
        click.echo("<: at most so much; the reference tells no more.")


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
