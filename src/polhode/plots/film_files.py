"""Writers of films: GIF and animated PNG through Pillow, with one palette for all frames; MP4 and WebM by ffmpeg."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polhode.arguments import Array, path as checked_path
from polhode.errors import FileProblem, InvalidInput
from polhode.plots.rows import even
from polhode.trajectory.files import appearing_whole
from polhode.trajectory.outputs import MAKER

SUFFIXES = (".gif", ".png", ".apng", ".mp4", ".webm")
PICTURES = (".gif", ".png", ".apng")
"""What Pillow writes."""
CODECS = {".mp4": "libx264", ".webm": "libvpx-vp9"}
COLOURS = 127
"""Colours of a GIF or an animated PNG: of shaded faces on white, more are not seen."""
EXACT, APART = 32, 12
"""Of these, the most frequent ones that differ by so much in a channel are taken as they are."""
SAMPLES = 8
"""Frames from which the colours are chosen."""
MOST_PIXELS = 2_000_000_000
"""Most pixels of all frames of a GIF or an animated PNG, which are held in memory until it is written."""

Pixels = Callable[[int], NDArray[np.uint8]]
"""Red, green and blue (high, wide, 3), 0 to 255, of the frame of a number."""


def film_path(path: str | os.PathLike[str]) -> Path:
    """The path of a film, checked."""
    target = Path(checked_path(path))
    suffix = target.suffix.lower()
    if suffix not in SUFFIXES:
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


def write(pixels: Pixels, size: tuple[int, int], count: int, fps: int, target: Path) -> None:
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


# ------------------------------------------------------------------ GIF and animated PNG
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
    for number in reversed(range(len(common))):
        nearest[_bins(chosen[number])] = number
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


# ------------------------------------------------------------------ MP4 and WebM
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
