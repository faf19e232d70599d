"""``polhode export``: write a trajectory for flight software or molecular dynamics."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click
from click.core import ParameterSource

import polhode as ph
from polhode.cli.options import QUIET, argument, as_command, option
from polhode.errors import InvalidInput

MESSAGES = ("name", "center", "object_id", "epoch", "time_system", "frame", "body_frame", "scalar", "units", "body",
            "originator")  # fmt: skip
MOLECULAR = ("every", "species", "bodies")  # options of CCSDS messages, and of files of molecular dynamics


@as_command
def command(
    trajectory: Path = argument(),
    output: Path = argument(),
    name: str | None = option("--name", "OBJECT_NAME: what moves. An OEM or AEM needs it."),
    center: str | None = option("--center", "CENTER_NAME: what is at the origin, such as EARTH. An OEM needs it."),
    object_id: str = option("--id", "OBJECT_ID, such as 2030-001A.", default="UNKNOWN"),
    epoch: str | None = option(
        "--epoch", "Instant of time 0, such as '2030-01-01T00:00:00 TDB'. Default: the one recorded."
    ),
    time_system: str | None = option("--time-system", "UTC, TAI, TT or TDB. Default: that of the epoch."),
    frame: str = option("--frame", "Axes of space: ICRF, EME2000, GCRF, TEME, ...", default="ICRF", show_default=True),
    body_frame: str = option(
        "--body-frame", "AEM: name of the axes of the body.", default="SC_BODY_1", show_default=True
    ),
    scalar: Literal["first", "last"] = option(
        "--scalar", "AEM: place of the quaternion's scalar.", default="first", show_default=True
    ),
    units: Literal["km", "m"] | None = option("--units", "OEM: lengths of a trajectory that is not labelled SI."),
    body: int | None = option("--body", "Which of several bodies, from 0."),
    originator: str = option(
        "--originator", "ORIGINATOR: who writes the message.", default="POLHODE", show_default=True
    ),
    every: int = option("--every", "Molecular dynamics: write one row of so many.", type=click.IntRange(min=1),
                        default=1, show_default=True),
    species: str | None = option(
        "--species", "Molecular dynamics: name of the bodies, such as Ar. Default: X, in GSD A."
    ),
    bodies: bool = option("--bodies", "Molecular dynamics: write bodies, not the sites of molecules."),
    quiet: bool = QUIET,
) -> None:  # fmt: skip
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
    export = ph.trajectory.export
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
    context, others = click.get_current_context(), MESSAGES if suffix in molecules else MOLECULAR
    for one in context.command.params:
        if one.name in others and context.get_parameter_source(one.name) is ParameterSource.COMMANDLINE:
            raise InvalidInput(f"{one.opts[0]} means nothing to a {suffix} file; leave it out")
    if suffix in molecules:
        ds = ph.load(trajectory)
        options: dict[str, Any] = {"every": every, "sites": False if bodies else None}
        options |= {} if species is None else {"species": species}
        written = molecules[suffix](ds, output, **options)
        rows = len(range(0, ds.sizes["time"], every))
    else:
        if name is None:
            raise click.MissingParameter(param_hint="'--name'", param_type="option")
        if suffix == ".oem" and center is None:
            raise InvalidInput("--center is missing; an OEM says what is at the origin, such as --center EARTH")
        ds = ph.load(trajectory)
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
