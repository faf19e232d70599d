"""Films of runs: a body that turns, its polhode, an orbit, molecules in their box, with the energy error so far."""

from __future__ import annotations

import base64
import os
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from polhode.arguments import Array, choice, number, path as checked_path, whole
from polhode.display import Display, Progress, teller
from polhode.errors import FileProblem, InvalidInput, answering, shown
from polhode.lazy import matplotlib, xr
from polhode.plots import moving_panels, style
from polhode.plots.film_frames import Frames, frames_of
from polhode.plots.rows import even
from polhode.plots.shown import Shown
from polhode.plots.style import Artist, Axes, Figure
from polhode.trajectory.files import appearing_whole
from polhode.trajectory.outputs import MAKER
from polhode.trajectory.schema import trajectory

FPS = 30
MOST_FRAMES = 20_000
SIZE = {1: (560, 500), 2: (760, 470), 3: (1080, 470)}
"""Pixels of a film with so many panels beside the energy."""
LARGEST_SHOWN = 20_000_000  # bytes of the largest film that a notebook shows
HOURS = 3.0 * 3600.0
DAYS = 3.0 * 86400.0
KINDS = {".gif": "image/gif", ".png": "image/png", ".apng": "image/png", ".mp4": "video/mp4", ".webm": "video/webm"}


@dataclass(frozen=True)
class Film:
    """A film that was written: usable as a path, and shown by a notebook.

    Attributes
    ----------
    path : Path
        The file.
    frames, fps : int
        How many frames, and how many a second.
    notes : tuple of str
        What a viewer should know, such as that rows are coarse: one sentence each.
    """

    path: Path
    frames: int
    fps: int
    notes: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.frames / self.fps

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)

    def _repr_html_(self) -> str:
        """The film itself, playing."""
        try:
            data = self.path.read_bytes()
        except OSError:
            return f"<code>{escape(str(self.path))}</code> is no longer there"
        if len(data) > LARGEST_SHOWN:
            return f"<code>{escape(str(self.path))}</code>: {len(data) / 1e6:.0f} MB, too large to be shown here"
        kind = KINDS[self.path.suffix.lower()]
        source = f"data:{kind};base64,{base64.b64encode(data).decode()}"
        if kind.startswith("image"):
            return f'<img src="{source}" alt="film of a run" style="max-width:100%">'
        return f'<video src="{source}" style="max-width:100%" controls loop autoplay muted></video>'


@answering
def animate(
    ds: xr.Dataset, path: str | os.PathLike[str], *, seconds: float | None = None, fps: int = FPS,
    size: tuple[int, int] | None = None, panels: str | Iterable[str] | None = None, speed: float | None = None,
    frame: str = "space", shape: str = "solid", progress: Callable[[Progress], None] | bool | None = None,
) -> Film:  # fmt: skip
    """Write a film of a run: GIF, animated PNG, MP4 or WebM.

    A body is drawn as a cuboid of uniform density with its moments of inertia (a heavy top as a cone on its tip), with
    its axes, its angular momentum L and the path of one of its axes so far; beside it its polhode, or its orbit about
    the central body to scale; molecules as dots in their box; below, the energy error so far. Between rows the body
    turns evenly where they are close, else the nearest row is shown, and the film says so. Nothing is at ``path``
    until the film is complete, and what was there stays until then.

    Parameters
    ----------
    ds : xarray.Dataset
        From ``polhode.integrate`` or a file.
    path : path
        Ends in ``.gif``, ``.apng`` or ``.png``, ``.mp4`` or ``.webm``; the last two need ffmpeg. Its folder is created
        if missing.
    seconds : float, optional
        How long the film is. Default: 6 s, or as long as the run takes at ``speed``.
    fps : int
        Frames a second; at most 50 in a GIF.
    size : (int, int), optional
        Width and height in pixels, even numbers. Default: 760 x 470 for two panels.
    panels : str or sequence of str, optional
        Up to three of ``body``, ``polhode``, ``orbit`` and ``cell`` from left to right, and ``energy`` below them; as
        names or as one string separated by commas. Default: those that suit the system.
    speed : float, optional
        Time of the run per second of film. Default: all of the run, or, of a body that would turn too far from frame
        to frame to be followed, as much of its beginning as can be.
    frame : {"space", "body"}
        Whether the body turns, or what is around it as seen from the body.
    shape : {"solid", "ellipsoid"}
        How a body is drawn: as a cuboid or a cone, or as an ellipsoid.
    progress : function or True, optional
        Called with a ``Progress`` for each frame; True shows a bar.

    Returns
    -------
    Film
        Path, frames, and ``notes``: what a viewer should know. A notebook shows it.

    Raises
    ------
    InvalidInput
        The Dataset is not a trajectory with at least two rows, an option is impossible, or ffmpeg is missing.
    FileProblem
        The file cannot be written.

    Examples
    --------
    >>> ph.plots.animate(ds, "top.gif", seconds=4, panels="body,polhode")  # doctest: +SKIP
    """
    trajectory(ds)
    if "energy_error" not in ds or "time" not in ds.dims:
        raise InvalidInput("this Dataset is no trajectory: it has no variable 'energy_error' along 'time'")
    if {"member", "draw"} & set(ds.dims):
        raise InvalidInput("this Dataset has many members; take one, such as ds.isel(member=0)")
    target = film_path(path)
    many = whole(fps, "fps", 1, 50 if target.suffix.lower() == ".gif" else 120)
    chosen = moving_panels.usual_panels(ds) if panels is None else moving_panels.checked_panels(ds, panels)
    choice(frame, "frame", ("space", "body"))
    choice(shape, "shape", ("solid", "ellipsoid"))
    frames = frames_of(ds, _positive(seconds, "seconds"), many, _positive(speed, "speed"), MOST_FRAMES)
    pixels = _size(size, sum(name != "energy" for name in chosen))
    if progress is True:
        with Display() as display:
            display.counted = "frames"
            return _film(ds, target, frames, chosen, (pixels, frame, shape), display)
    report = teller(None if progress is False else progress, "progress", "True or a function")
    return _film(ds, target, frames, chosen, (pixels, frame, shape), report)


def _positive(value: object, name: str) -> float | None:
    if value is None:
        return None
    found = float(number(value, name))
    if not found > 0.0:
        raise InvalidInput(f"{name} is {found:g}; it must be greater than 0")
    return found


def _size(size: tuple[int, int] | None, panels: int) -> tuple[int, int]:
    if size is None:
        return SIZE[max(1, panels)]
    try:
        wide, high = size
    except Exception:  # whatever an object of the user does when it is unpacked
        raise InvalidInput(f"size must be width and height in pixels, such as (760, 470), not {shown(size)}") from None
    found = (whole(wide, "size[0]", 160, 4096), whole(high, "size[1]", 120, 4096))
    if found[0] % 2 or found[1] % 2:
        raise InvalidInput(f"size is {found[0]} x {found[1]}; films need even numbers of pixels")
    return found


def _film(
    ds: xr.Dataset, target: Path, frames: Frames, panels: tuple[str, ...], drawing: tuple[tuple[int, int], str, str],
    report: Callable[[Progress], None],
) -> Film:  # fmt: skip
    count = len(frames.times)
    report(Progress(0, count, 0.0, "preparing"))
    with matplotlib.rc_context(style.RC):
        figure, show = picture_of(ds, frames, panels, *drawing)
        taken = Taken(figure)
        begun = time.perf_counter()
        furthest = 0

        def pixels(k: int) -> NDArray[np.uint8]:
            nonlocal furthest
            show(k)
            if k == furthest:  # the frames that choose the colours are drawn twice
                furthest += 1
                report(Progress(furthest, count, time.perf_counter() - begun, "running", furthest / count))
            return taken.pixels()

        write_film(pixels, drawing[0], count, frames.fps, target)
    return Film(target, count, frames.fps, tuple(frames.notes))


class Taken:
    """What a figure looks like, time and again: only artists that are ``animated``, and all but the text at the foot in
    axes without frame, are drawn anew."""

    def __init__(self, figure: Figure) -> None:
        self.canvas = cast(Any, figure.canvas)  # that of Agg
        self.moving: list[tuple[Axes, list[Artist]]] = []
        for axes in figure.axes:
            if not axes.axison:
                for artist in [*axes.lines, *axes.patches, *axes.collections, *axes.texts]:
                    artist.set_animated(artist.get_transform() is not axes.transAxes)
            self.moving.append((axes, [artist for artist in axes.get_children() if artist.get_animated()]))
        self.texts = [text for text in figure.texts if text.get_animated()]
        self.canvas.draw()
        self.still = self.canvas.copy_from_bbox(figure.bbox)

    def pixels(self) -> NDArray[np.uint8]:
        """The figure as it is now (high, wide, 3)."""
        self.canvas.restore_region(self.still)
        for axes, moving in self.moving:
            for artist in sorted(moving, key=lambda one: one.get_zorder()):
                axes.draw_artist(artist)
        for text in self.texts:
            text.draw(self.canvas.get_renderer())
        return np.asarray(self.canvas.buffer_rgba())[..., :3].copy()


def picture_of(
    ds: xr.Dataset, frames: Frames, panels: tuple[str, ...], pixels: tuple[int, int], frame: str, shape: str
) -> tuple[Figure, moving_panels.Show]:
    """The figure of a film, and a function that shows the frame of a number in it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    dots = style.DPI * (
        min(pixels[0] / SIZE[max(1, sum(name != "energy" for name in panels))][0], pixels[1] / 470) or 1.0
    )
    dots = max(40.0, dots)
    figure = Figure(figsize=(pixels[0] / dots, pixels[1] / dots), dpi=dots)
    FigureCanvasAgg(figure)
    run, (wide, high) = Shown(ds), figure.get_size_inches()
    factor, unit = _clock(ds, frames)
    head, foot = 0.52 / high, (0.98 / high if "energy" in panels else 0.10 / high)
    pictures = [name for name in panels if name != "energy"]
    shows: list[moving_panels.Show] = []
    pad = 0.12 / wide
    each = (1.0 - 2.0 * pad) / max(1, len(pictures))
    for k, name in enumerate(pictures):
        axes = figure.add_axes((pad + k * each, foot, each - pad / 2, 1.0 - head - foot))
        if name == "body":
            shows.append(moving_panels.draw_body(axes, run, frames, shape, frame))
        else:
            make = {"polhode": moving_panels.draw_polhode, "orbit": moving_panels.draw_orbit,
                    "cell": moving_panels.draw_cell}[name]  # fmt: skip
            shows.append(make(axes, run, frames))
    if "energy" in panels:
        height = 0.40 / high if pictures else 1.0 - head - 0.6 / high
        axes = figure.add_axes((0.62 / wide, 0.36 / high, 1.0 - 0.85 / wide, height))
        shows.append(moving_panels.draw_energy(axes, run, frames, factor, unit))
    attrs = ds.attrs
    titled = str(attrs["title"]) if "scenario" in attrs and attrs.get("title") else ""
    what = titled or f"{attrs.get('system', 'trajectory')}, {str(attrs.get('method', '')).partition(':')[0]}".rstrip(
        ", "
    )
    room = max(12, int((wide - 1.7) / 0.1))
    figure.text(0.12 / wide, 1.0 - 0.2 / high, what if len(what) <= room else what[: room - 1] + "…", fontsize=11,
                fontweight="bold", va="center")  # fmt: skip
    clock = figure.text(
        1.0 - 0.14 / wide, 1.0 - 0.2 / high, "", fontsize=11, va="center", ha="right", family="monospace", animated=True
    )
    marked = [
        note for note in frames.notes if note.startswith(("rows are coarse", "the run is incomplete", "the body"))
    ]
    if marked:
        words = marked[0].partition(",")[0].partition(";")[0]
        figure.text(0.12 / wide, 1.0 - 0.41 / high, words, fontsize=8.5, color=style.VERMILION, va="center")
    largest = max(abs(frames.times[0]), abs(frames.times[-1])) * factor
    digits = 0 if largest >= 1000 else 1 if largest >= 100 else 2 if largest >= 1.0 else 4
    after = f" {unit}" if unit else ""

    def show(k: int) -> None:
        for one in shows:
            one(k)
        clock.set_text(f"t = {frames.times[k] * factor:,.{digits}f}{after}")

    return figure, show


def _clock(ds: xr.Dataset, frames: Frames) -> tuple[float, str]:
    """By what times are multiplied to be read, and their unit: seconds become hours or days where there are many."""
    unit = "" if ds.attrs.get("units", "consistent") == "consistent" else str(ds["time"].attrs.get("units", ""))
    largest = max(abs(frames.times[0]), abs(frames.times[-1]))
    if unit == "s" and largest > DAYS:
        return 1.0 / 86400.0, "d"
    return (1.0 / 3600.0, "h") if unit == "s" and largest > HOURS else (1.0, unit)


# ------------------------------------------------------------------ GIF and animated PNG by Pillow, others by ffmpeg
PICTURES = (".gif", ".png", ".apng")  # what Pillow writes
CODECS = {".mp4": "libx264", ".webm": "libvpx-vp9"}
COLOURS = 127  # colours of a GIF or an animated PNG: of shaded faces on white, more are not seen
EXACT, APART = 32, 12
"""Of these, the most frequent ones that differ by so much in a channel are taken as they are."""
SAMPLES = 8  # frames from which the colours are chosen
MOST_PIXELS = 2_000_000_000
"""Most pixels of all frames of a GIF or an animated PNG, which are held in memory until it is written."""

Pixels = Callable[[int], NDArray[np.uint8]]
"""Red, green and blue (high, wide, 3), 0 to 255, of the frame of a number."""


def film_path(path: str | os.PathLike[str]) -> Path:
    """The path of a film, checked."""
    target = Path(checked_path(path))
    suffix = target.suffix.lower()
    if suffix not in KINDS:
        raise InvalidInput(f"{str(path)!r} must end in .gif, .apng (or .png), .mp4 or .webm: that says what is written")
    if suffix in CODECS and not ffmpeg():
        raise InvalidInput(
            f"a {suffix} needs ffmpeg, which is not installed: install it (apt install ffmpeg, or conda "
            "install ffmpeg), or write a .gif or .apng"
        )
    return target


def ffmpeg() -> bool:
    """Whether matplotlib finds an ffmpeg."""
    from matplotlib.animation import FFMpegWriter

    return bool(FFMpegWriter.isAvailable())


def write_film(pixels: Pixels, size: tuple[int, int], count: int, fps: int, target: Path) -> None:
    """Write a film."""
    suffix = target.suffix.lower()
    wide, high = size
    if suffix in PICTURES and count * wide * high > MOST_PIXELS:
        raise InvalidInput(f"{count} frames of {wide} x {high} pixels are too many for a {suffix}: write an .mp4, or "
                           "take a smaller size, fewer seconds or a lower fps")  # fmt: skip
    with appearing_whole(target) as draft:
        if suffix in PICTURES:
            _write_pictures(pixels, count, fps, draft)
        else:
            _write_video(pixels, size, count, fps, draft)


def _palette(samples: Sequence[NDArray[np.uint8]]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Colours (k, 3) for these frames, and of every colour of 5 bits a channel the number of the nearest of them."""
    from PIL import Image

    r, g, b = np.concatenate(samples).reshape(-1, 3).astype(np.int64).T
    packed, many = np.unique(r << 16 | g << 8 | b, return_counts=True)
    colours = (packed[:, None] >> np.array([16, 8, 0]) & 255).astype(np.uint8)
    common: list[Array] = []  # the background, faces, the insides of lines: exactly as they are
    for colour in colours[np.argsort(-many)[: 20 * EXACT]].astype(float):
        if len(common) < EXACT and all(np.abs(colour - other).max() > APART for other in common):
            common.append(colour)
    # Thin lines count for more than their few pixels.
    strip = Image.fromarray(np.repeat(colours, np.ceil(many**0.4).astype(int), axis=0)[None])
    found = strip.quantize(COLOURS - len(common), method=Image.Quantize.MEDIANCUT, kmeans=2).getpalette() or []
    others = np.array(found, dtype=float).reshape(-1, 3)[: COLOURS - len(common)]
    chosen = np.concatenate([np.array(common), others])
    level = (np.arange(32) * 255.0 / 31.0).round()
    grid = np.stack(np.meshgrid(level, level, level, indexing="ij"), axis=-1).reshape(-1, 3)
    nearest = np.empty(len(grid), dtype=np.uint8)
    for start in range(0, len(grid), 4096):
        part = grid[start : start + 4096]
        nearest[start : start + 4096] = np.argmin(((part[:, None] - chosen) ** 2).sum(axis=-1), axis=1)
    for k in reversed(range(len(common))):
        nearest[_bins(chosen[k])] = k
    return chosen.astype(np.uint8), nearest


def _bins(pixels: Array | NDArray[np.uint8]) -> NDArray[np.int32]:
    """Number of each colour (..., 3) among those of 5 bits a channel."""
    p = (np.asarray(pixels).astype(np.int32) * 31 + 127) // 255
    return (p[..., 0] << 10) | (p[..., 1] << 5) | p[..., 2]


def _write_pictures(pixels: Pixels, count: int, fps: int, draft: Path) -> None:
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    colours, nearest = _palette([pixels(int(k)) for k in even(count, SAMPLES)])
    unchanged = len(colours)  # a transparent colour: what is as it was costs next to nothing
    flat = [int(value) for value in [*colours.ravel(), 0, 0, 0]]

    def pictures() -> Iterator[Image.Image]:
        before = None
        for k in range(count):
            indices = nearest[_bins(pixels(k))]
            shown = indices if before is None else np.where(indices == before, np.uint8(unchanged), indices)
            if before is not None and (shown == unchanged).all():
                shown[0, 0] = indices[0, 0]  # some readers leave out a frame without any change
            before = indices
            picture = Image.fromarray(shown)
            picture.putpalette(flat)
            picture.info["transparency"] = unchanged
            yield picture

    first, *others = pictures()
    gif = draft.suffix.lower() == ".gif"
    ends = [round((100 if gif else 1000) * (k + 1) / fps) for k in range(count)]
    durations = [(end - start) * (10 if gif else 1) for start, end in zip([0, *ends], ends, strict=False)]
    made_by = PngInfo()
    made_by.add_text("Software", MAKER)
    options: dict[str, Any] = (
        {"optimize": False, "disposal": 1, "comment": MAKER} if gif else {"disposal": 0, "blend": 1, "pnginfo": made_by}
    )
    first.save(draft, format="GIF" if gif else "PNG", save_all=True, append_images=others, duration=durations, loop=0,
               transparency=unchanged, **options)  # fmt: skip


def _write_video(pixels: Pixels, size: tuple[int, int], count: int, fps: int, draft: Path) -> None:
    from matplotlib.animation import FFMpegWriter
    from matplotlib.figure import Figure

    suffix = draft.suffix.lower()
    extra = ["-pix_fmt", "yuv420p"]
    extra += (
        ["-crf", "20", "-movflags", "+faststart"] if suffix == ".mp4" else ["-crf", "30", "-b:v", "0", "-row-mt", "1"]
    )
    writer = FFMpegWriter(fps=fps, codec=CODECS[suffix], metadata={"comment": MAKER}, extra_args=extra)
    plate = Figure(figsize=(size[0] / 100, size[1] / 100), dpi=100)
    image = plate.figimage(np.zeros((size[1], size[0], 3), dtype=np.uint8))
    stopped: BaseException | None = None
    try:
        with writer.saving(plate, str(draft), 100):
            try:
                for k in range(count):
                    image.set_data(pixels(k)[::-1])
                    writer.grab_frame()
            except KeyboardInterrupt as pressed:  # ffmpeg was stopped by it too, and may complain
                stopped = pressed
    except (subprocess.CalledProcessError, BrokenPipeError) as problem:
        if stopped is not None:
            raise stopped from None
        said = str(getattr(problem, "stderr", None) or "").strip().splitlines()
        raise FileProblem(
            f"ffmpeg cannot write this {suffix}{': ' + said[-1] if said else ''}; is it built with {CODECS[suffix]}? "
            "A .gif or .apng needs no ffmpeg"
        ) from None
    if stopped is not None:
        raise stopped
