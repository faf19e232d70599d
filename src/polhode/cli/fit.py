"""``polhode fit``: what a scenario describes, fitted to measured data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from polhode.cli.text import complete_method, complete_scenario, noted
from polhode.errors import InvalidInput

INITIAL = ("attitude", "angular_velocity", "angular_momentum", "position", "velocity", "momentum")


@click.command("fit", short_help="Fit initial values and parameters of a scenario to measured data.")
@click.argument("scenario", type=click.Path(path_type=Path), shell_complete=complete_scenario)
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--free", "free", multiple=True, required=True, help="What is fitted; once for each, or with commas.")
@click.option("--noise", multiple=True, help="Standard deviation of an instrument or kind: gyro=1e-3, position=5,5,15.")
@click.option("--reference", "references", multiple=True, help="Direction in space that a sensor sees: sun=1,0,0.")
@click.option("--station", "stations", multiple=True, help="Position in space of a station: range.a=6.4e6,0,0.")
@click.option("--prior", "priors", multiple=True, help="Standard deviation of a guess: J2=1e-6.")
@click.option("--method", shell_complete=complete_method, help="Integrator instead of the scenario's.")
@click.option("--step", type=float, help="Step instead of the scenario's.")
@click.option("--arcs", type=click.IntRange(min=1), default=1, help="Multiple shooting over so many arcs.")
@click.option("--loss", default="linear", help="linear, soft_l1, huber, cauchy or arctan: how outliers count.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Fitted trajectory to write: .nc or .zarr.")
@click.option("--json", "as_json", is_flag=True, help="Print values, errors and covariance for machines.")
@click.option("--allow-code", is_flag=True, help="Load the Python functions the scenario names. Read them first.")
def command(
    scenario: Path,
    data: Path,
    free: tuple[str, ...],
    noise: tuple[str, ...],
    references: tuple[str, ...],
    stations: tuple[str, ...],
    priors: tuple[str, ...],
    method: str | None,
    step: float | None,
    arcs: int,
    loss: str,
    output: Path | None,
    as_json: bool,
    allow_code: bool,
) -> None:
    """Fit what SCENARIO describes, a TOML file, to DATA, a CSV file, and print values with their errors.

    \b
    Examples:
        polhode fit free-body.toml gyro.csv --free inertia,angular_velocity --noise gyro=1e-3
        polhode fit orbit.toml passes.csv --free position,velocity,J2 --noise range=10 -o fitted.nc

    The scenario is the first guess: its initial state, and its parameters. DATA has a line of names: time; gyro_x,
    gyro_y, gyro_z; attitude_w to attitude_z; position_x ...; range, range_rate; sun_x ... for directions. Numbers are
    in the units of the run, angles in rad. Directions and stations that do not move may be given by --reference and
    --station instead of columns.

    In Python: polhode.fit(system, "gyro.csv", ["inertia", "angular_velocity"]).
    """
    from polhode.estimation.batch import fit
    from polhode.estimation.data import read
    from polhode.runs.request import grouped
    from polhode.runs.scenario import read_scenario
    from polhode.runs.steps import Tolerance

    if output is not None:
        from polhode.cli.run import check_place

        check_place(output)
    told = read_scenario(scenario, allow_code, method=method, step=step)
    if told.members is not None:
        raise InvalidInput(f"{scenario} is many members; fit one of them")
    words = grouped(told.arguments)
    steps = words.get("steps")
    keep = {name: words[name] for name in (*INITIAL, "start", "step", "parameters", "settings") if name in words}
    if isinstance(steps, Tolerance):
        keep["steps"] = steps
    t_end = words.get("t_end")
    if t_end is None and isinstance(steps, int) and "step" in words:
        t_end = float(dict(words.get("start", {})).get("time", 0.0)) + steps * words["step"]
    names = [name.strip() for several in free for name in several.split(",") if name.strip()]
    measurements = read(
        data, noise=_numbers(noise, "--noise"), references=_numbers(references, "--reference"),
        stations=_numbers(stations, "--station"),
    )  # fmt: skip
    with noted():
        found = fit(
            told.system, measurements, names, told.method or None, prior=_numbers(priors, "--prior"), t_end=t_end,
            arcs=arcs, loss=loss, **keep,
        )  # fmt: skip
    click.echo(json.dumps(found.to_json(), indent=2, allow_nan=False) if as_json else repr(found))
    if output is not None:
        from polhode.trajectory import save

        save(found.trajectory.assign_attrs(title=f"{told.title}, fitted to {data.name}"), output)
        click.echo(f"wrote {output}", err=True)


def _numbers(given: tuple[str, ...], option: str) -> dict[str, Any]:
    """Numbers by name from words like ``gyro=1e-3`` and ``sun=1,0,0``."""
    found: dict[str, Any] = {}
    for word in given:
        name, equals, text = word.partition("=")
        try:
            numbers = [float(part) for part in text.split(",")]
        except ValueError:
            numbers = []
        if not equals or not name.strip() or not numbers:
            raise InvalidInput(f"{option} is {word!r}; write a name and numbers, such as gyro=1e-3 or sun=1,0,0")
        found[name.strip()] = numbers[0] if len(numbers) == 1 else numbers
    return found
