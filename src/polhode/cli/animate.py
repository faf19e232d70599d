"""``polhode animate``: write a film of a trajectory."""

from __future__ import annotations

from pathlib import Path

import click

from polhode.errors import InvalidInput


@click.command("animate", short_help="Write a film of a trajectory: GIF, animated PNG, MP4, WebM.")
@click.argument("trajectory", type=click.Path(path_type=Path))
@click.argument("output", type=click.Path(path_type=Path), required=False)
@click.option("--seconds", type=float, help="How long the film is. Default: 6, or as long as the run takes at --speed.")
@click.option("--fps", type=int, default=30, show_default=True, help="Frames a second; at most 50 in a GIF.")
@click.option("--size", help="Width and height in pixels, such as 960x600. Default: 760x470 for two panels.")
@click.option("--panels", help="What is shown, separated by commas: body, polhode, orbit, cell; energy below them. "
              "Default: what suits the system.")  # fmt: skip
@click.option("--speed", type=float, help="Time of the run per second of film.")
@click.option("--frame", type=click.Choice(["space", "body"]), default="space", show_default=True,
              help="Whether the body turns, or what is around it.")  # fmt: skip
@click.option("--shape", type=click.Choice(["solid", "ellipsoid"]), default="solid", show_default=True,
              help="How a body is drawn: as a cuboid or a cone, or as an ellipsoid.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace files that polhode did not write.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing unless something is wrong.")
def command(
    trajectory: Path, output: Path | None, seconds: float | None, fps: int, size: str | None, panels: str | None,
    speed: float | None, frame: str, shape: str, overwrite: bool, quiet: bool,
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
    from polhode.display import Display
    from polhode.plots import animate
    from polhode.runs.resume import load
    from polhode.trajectory.outputs import check_defaults

    target = output or Path(f"{trajectory.resolve().stem}.gif")
    if target.resolve() == trajectory.resolve():
        raise InvalidInput(f"{target} is the trajectory itself; name another file for the film")
    if output is None:
        check_defaults(None, overwrite, target)
    pixels = None if size is None else _pixels(size)
    ds = load(trajectory)
    with Display(quiet) as display:
        display.counted = "frames"
        film = animate(
            ds, target, seconds=seconds, fps=fps, size=pixels, panels=panels, speed=speed, frame=frame, shape=shape,
            progress=display,
        )  # fmt: skip
    if not quiet:
        for note in film.notes:
            click.echo(f"note: {note}", err=True)
        megabytes = film.path.stat().st_size / 1e6
        click.echo(f"written: {film}, {film.frames} frames, {film.seconds:.3g} s, {megabytes:.2g} MB", err=True)


def _pixels(size: str) -> tuple[int, int]:
    """Width and height of text such as ``960x600``."""
    words = size.lower().replace("×", "x").split("x")
    try:
        wide, high = map(int, words)
    except ValueError:
        raise InvalidInput(f"--size {size!r} must be width and height in pixels, such as 960x600") from None
    return wide, high
