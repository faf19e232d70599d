"""``polhode export``: write a trajectory for flight software or molecular dynamics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from polhode.errors import InvalidInput

MESSAGES = ("name", "center", "object_id", "epoch", "time_system", "frame", "body_frame", "scalar", "units", "body",
            "originator")  # fmt: skip
MOLECULAR = ("every", "species", "bodies")
"""Options of CCSDS messages, and of files of molecular dynamics."""


@click.command("export", short_help="Write a trajectory for flight software (CCSDS) or molecular dynamics.")
@click.argument("trajectory", type=click.Path(path_type=Path))
@click.argument("output", type=click.Path(path_type=Path))
@click.option("--name", help="OBJECT_NAME: what moves. An OEM or AEM needs it.")
@click.option("--center", help="CENTER_NAME: what is at the origin, such as EARTH. An OEM needs it.")
@click.option("--id", "object_id", default="UNKNOWN", help="OBJECT_ID, such as 2030-001A.")
@click.option("--epoch", help="Instant of time 0, such as '2030-01-01T00:00:00 TDB'. Default: the one recorded.")
@click.option("--time-system", help="UTC, TAI, TT or TDB. Default: that of the epoch.")
@click.option("--frame", default="ICRF", show_default=True, help="Axes of space: ICRF, EME2000, GCRF, TEME, ...")
@click.option("--body-frame", default="SC_BODY_1", show_default=True, help="AEM: name of the axes of the body.")
@click.option("--scalar", type=click.Choice(["first", "last"]), default="first", show_default=True,
              help="AEM: place of the quaternion's scalar.")  # fmt: skip
@click.option("--units", type=click.Choice(["km", "m"]), help="OEM: lengths of a trajectory that is not labelled SI.")
@click.option("--body", type=int, help="Which of several bodies, from 0.")
@click.option("--originator", default="POLHODE", show_default=True, help="ORIGINATOR: who writes the message.")
@click.option("--every", type=click.IntRange(min=1), default=1, show_default=True,
              help="Molecular dynamics: write one row of so many.")  # fmt: skip
@click.option("--species", help="Molecular dynamics: name of the bodies, such as Ar. Default: X, in GSD A.")
@click.option("--bodies", is_flag=True, help="Molecular dynamics: write bodies, not the sites of molecules.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing unless something is wrong.")
def command(
    trajectory: Path,
    output: Path,
    name: str | None,
    center: str | None,
    object_id: str,
    epoch: str | None,
    time_system: str | None,
    frame: str,
    body_frame: str,
    scalar: str,
    units: str | None,
    body: int | None,
    originator: str,
    every: int,
    species: str | None,
    bodies: bool,
    quiet: bool,
) -> None:
    """Write TRAJECTORY (.nc or .zarr) to OUTPUT, in the format of its ending: an orbit ephemeris message (.oem), an
    attitude ephemeris message (.aem), extended XYZ (.xyz, .extxyz), GSD (.gsd), a LAMMPS dump (.dump, .lammpstrj).

    \b
    Examples:
        polhode export orbit.nc orbit.oem --name ORBITER --center EUROPA --units km --epoch '2030-01-01T00:00:00 TDB'
        polhode export craft.nc craft.oem --name ORBITER --center EARTH --id 2030-001A --frame EME2000
        polhode export craft.nc craft.aem --name ORBITER --time-system TAI --scalar last
        polhode export water.nc water.xyz --every 10
        polhode export dipoles.nc dipoles.gsd

    Messages have positions in km, velocities in km/s; no axes are rotated: --frame names the axes of space. The epoch
    is the instant of time 0; a scenario may record it (epoch, under [run]). Quaternions are those that take the axes of
    space (frame A) to those of the body (frame B), ATTITUDE_DIR A2B. Molecules are written as their atoms, other bodies
    as one particle each with its attitude. In Python: polhode.trajectory.export.oem, .aem, .extended_xyz, .gsd and
    .lammps_dump.
    """
    from polhode.runs.resume import load
    from polhode.trajectory import export

    suffix = output.suffix.lower()
    molecules: dict[str, Any] = {
        ".xyz": export.extended_xyz, ".extxyz": export.extended_xyz, ".gsd": export.gsd,
        ".dump": export.lammps_dump, ".lammpstrj": export.lammps_dump,
    }  # fmt: skip
    if suffix not in (".oem", ".aem", *molecules):
        raise InvalidInput(
            f"{str(output)!r} must end in .oem (orbit) or .aem (attitude); or, for molecular dynamics, in .xyz, "
            ".extxyz, .gsd, .dump or .lammpstrj"
        )
    _only(MESSAGES if suffix in molecules else MOLECULAR, suffix)
    if suffix in molecules:
        ds = load(trajectory)
        options: dict[str, Any] = {"every": every, "sites": False if bodies else None}
        options |= {} if species is None else {"species": species}
        written = molecules[suffix](ds, output, **options)
        rows = len(range(0, ds.sizes["time"], every))
    else:
        if name is None:
            raise click.MissingParameter(param_hint="'--name'", param_type="option")
        if suffix == ".oem" and center is None:
            raise InvalidInput("--center is missing; an OEM says what is at the origin, such as --center EARTH")
        ds = load(trajectory)
        common: dict[str, Any] = {
            "object_name": name, "object_id": object_id, "ref_frame": frame, "originator": originator, "epoch": epoch,
            "time_system": time_system, "body": body,
        }  # fmt: skip
        if suffix == ".oem":
            written = export.oem(ds, output, center_name=str(center), units=units, **common)
        else:
            written = export.aem(ds, output, center_name=center, body_frame=body_frame, scalar=scalar, **common)
        rows = ds.sizes["time"]
    if not quiet:
        click.echo(f"written: {written}, {rows} rows", err=True)


def _only(others: tuple[str, ...], suffix: str) -> None:
    """Refuse options that have no effect on this kind of file."""
    context = click.get_current_context()
    for option in context.command.params:
        if option.name in others and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            raise InvalidInput(f"{option.opts[0]} means nothing to a {suffix} file; leave it out")
