"""``polhode animate``: write a film of a trajectory."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

import polhode as ph
from polhode.cli.options import OVERWRITE, QUIET, argument, as_command, option
from polhode.display import Display
from polhode.errors import InvalidInput


@as_command
def command(
    trajectory: Path = argument(),
    output: Path | None = argument(required=False),
    seconds: float | None = option(
        "--seconds", "How long the film is. Default: 6, or as long as the run takes at --speed."
    ),
    fps: int = option("--fps", "Frames a second; at most 50 in a GIF.", default=30, show_default=True),
    size: str | None = option(
        "--size", "Width and height in pixels, such as 960x600. Default: 760x470 for two panels."
    ),
    panels: str | None = option("--panels", "What is shown, separated by commas: body, polhode, orbit, cell; energy "
                                "below them. Default: what suits the system."),
    speed: float | None = option("--speed", "Time of the run per second of film."),
    frame: Literal["space", "body"] = option("--frame", "Whether the body turns, or what is around it.",
                                             default="space", show_default=True),
    shape: Literal["solid", "ellipsoid"] = option("--shape", "How a body is drawn: as a cuboid or a cone, or as an "
                                                  "ellipsoid.", default="solid", show_default=True),
    overwrite: bool = OVERWRITE,
    quiet: bool = QUIET,
) -> None:  # fmt: skip
    """Write a film of TRAJECTORY (.nc, .zarr, or the store of a run) to OUTPUT, in the format of its ending: .gif,
    .apng or .png, and where ffmpeg is installed .mp4 and .webm. Default: a GIF of the same name, in this folder.

    \b
    Examples:
        polhode animate fast-top.nc
        polhode animate fast-top.nc top.mp4 --seconds 10 --size 1280x720
        polhode animate craft.nc craft.gif --panels orbit,body --speed 600
        polhode animate body.nc body.apng --frame body --shape ellipsoid

    A body is drawn with its moments of inertia, its axes and its angular momentum L. A body that turns too fast to be
    followed is shown from the beginning, as long as it can be, unless you say --seconds or --speed. In Python:
    polhode.plots.animate.
    """
    from polhode.trajectory.outputs import check_defaults

    target = output or Path(f"{trajectory.resolve().stem}.gif")
    if target.resolve() == trajectory.resolve():
        raise InvalidInput(f"{target} is the trajectory itself; name another file for the film")
    if output is None:
        check_defaults(None, overwrite, target)
    pixels = None
    if size is not None:
        try:
            wide, high = map(int, size.lower().replace("×", "x").split("x"))
        except ValueError:
            raise InvalidInput(f"--size {size!r} must be width and height in pixels, such as 960x600") from None
        pixels = (wide, high)
    ds = ph.load(trajectory)
    with Display(quiet) as display:
        display.counted = "frames"
        film = ph.plots.animate(
            ds, target, seconds=seconds, fps=fps, size=pixels, panels=panels, speed=speed, frame=frame, shape=shape,
            progress=display,
        )  # fmt: skip
    if not quiet:
        for note in film.notes:
            click.echo(f"note: {note}", err=True)
        megabytes = film.path.stat().st_size / 1e6
        click.echo(f"written: {film}, {film.frames} frames, {film.seconds:.3g} s, {megabytes:.2g} MB", err=True)
