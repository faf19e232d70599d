"""``polhode export``: a trajectory as a message that flight software reads."""

from __future__ import annotations

from pathlib import Path

import click

from polhode.errors import InvalidInput


@click.command("export", short_help="Write a trajectory as a CCSDS message (OEM or AEM).")
@click.argument("trajectory", type=click.Path(path_type=Path))
@click.argument("output", type=click.Path(path_type=Path))
@click.option("--name", required=True, help="OBJECT_NAME: what moves.")
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
@click.option("-q", "--quiet", is_flag=True, help="Say nothing unless something is wrong.")
def command(
    trajectory: Path,
    output: Path,
    name: str,
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
    quiet: bool,
) -> None:
    """Write TRAJECTORY (.nc or .zarr) to OUTPUT: an orbit ephemeris message where it ends in .oem, an attitude
    ephemeris message where it ends in .aem.

    \b
    Examples:
        polhode export orbit.nc orbit.oem --name ORBITER --center EUROPA --units km --epoch '2030-01-01T00:00:00 TDB'
        polhode export craft.nc craft.oem --name ORBITER --center EARTH --id 2030-001A --frame EME2000
        polhode export craft.nc craft.aem --name ORBITER --time-system TAI --scalar last

    Positions are written in km, velocities in km/s; nothing is turned: --frame says what the axes of space are. The
    epoch is the instant of time 0; a scenario may record it (epoch, under [run]). Quaternions are those that take the
    axes of space (frame A) to those of the body (frame B), ATTITUDE_DIR A2B. In Python: polhode.export.oem and .aem.
    """
    from polhode.trajectory import export, load

    suffix = output.suffix.lower()
    if suffix not in (".oem", ".aem"):
        raise InvalidInput(f"{str(output)!r} must end in .oem (orbit) or .aem (attitude)")
    if suffix == ".oem" and center is None:
        raise InvalidInput("--center is missing; an OEM says what is at the origin, such as --center EARTH")
    ds = load(trajectory)
    common = {
        "object_name": name, "object_id": object_id, "ref_frame": frame, "originator": originator, "epoch": epoch,
        "time_system": time_system, "body": body,
    }  # fmt: skip
    if suffix == ".oem":
        written = export.oem(ds, output, center_name=center, units=units, **common)  # type: ignore[arg-type]
    else:
        written = export.aem(ds, output, center_name=center, body_frame=body_frame, scalar=scalar, **common)  # type: ignore[arg-type]
    if not quiet:
        click.echo(f"written: {written}, {ds.sizes['time']} rows", err=True)
