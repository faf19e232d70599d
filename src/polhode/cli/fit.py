"""``polhode fit``: what a scenario describes, fitted to measured data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

import polhode as ph
from polhode.cli.options import ALLOW_CODE, STEP, argument, as_command, option
from polhode.cli.text import complete_method, complete_scenario, noted
from polhode.errors import InvalidInput

INITIAL = ("attitude", "angular_velocity", "angular_momentum", "position", "velocity", "momentum")


@as_command
def command(
    scenario: Path = argument(shell_complete=complete_scenario),
    data: Path = argument(),
    free: tuple[str, ...] = option("--free", "What is fitted; once for each, or with commas.", required=True),
    noise: tuple[str, ...] = option(
        "--noise", "Standard deviation of an instrument or kind: gyro=1e-3, position=5,5,15."
    ),
    references: tuple[str, ...] = option("--reference", "Direction in space that a sensor sees: sun=1,0,0."),
    stations: tuple[str, ...] = option("--station", "Position in space of a station: range.a=6.4e6,0,0."),
    priors: tuple[str, ...] = option("--prior", "Standard deviation of a guess: J2=1e-6."),
    method: str | None = option("--method", "Integrator instead of the scenario's.", shell_complete=complete_method),
    step: float | None = STEP,
    arcs: int = option("--arcs", "Multiple shooting over so many arcs.", type=click.IntRange(min=1), default=1),
    loss: str = option("--loss", "linear, soft_l1, huber, cauchy or arctan: how outliers count.", default="linear"),
    output: Path | None = option("-o --output", "Fitted trajectory to write: .nc or .zarr."),
    as_json: bool = option("--json", "Print values, errors and covariance for machines."),
    allow_code: bool = ALLOW_CODE,
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
    from polhode.estimation.data import read
    from polhode.runs.request import grouped
    from polhode.runs.steps import Tolerance

    if output is not None:
        from polhode.cli.run import check_place

        check_place(output)
    told = ph.runs.read_scenario(scenario, allow_code, method=method, step=step)
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
        found = ph.fit(
            told.system, measurements, names, told.method or None, prior=_numbers(priors, "--prior"), t_end=t_end,
            arcs=arcs, loss=loss, **keep,
        )  # fmt: skip
    click.echo(json.dumps(found.to_json(), indent=2, allow_nan=False) if as_json else repr(found))
    if output is not None:
        ph.save(found.trajectory.assign_attrs(title=f"{told.title}, fitted to {data.name}"), output)
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
