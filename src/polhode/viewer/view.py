"""``polhode.view``: runs as one page to look at."""

from __future__ import annotations

import html
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polhode.arguments import path as checked_path, text, truth, vector, whole
from polhode.errors import InvalidInput, answering, shown
from polhode.lazy import xr
from polhode.operating_system import show_page
from polhode.trajectory.files import appearing_whole
from polhode.viewer.page import page
from polhode.viewer.scene import members_of, scene_of
from polhode.viewer.shapes import mesh_of

FRAMES = 5000
MOST_FRAMES = 200_000
MOST_RUNS = 8
HEIGHT = 820  # height of a view in a notebook, pixels
RULE = ':is([data-jp-theme-light="{1}"],body[data-theme="{0}"],.vscode-{0}) .polhode-view{{color-scheme:{0}}}'
THEMES = f"<style>{RULE.format('dark', 'false')}{RULE.format('light', 'true')}</style>"
"""Frames take the theme of JupyterLab, Sphinx's furo or VS Code where it differs from that of the browser."""


@dataclass(frozen=True, repr=False)
class View:
    """A page that shows runs, made by ``polhode.view``. A notebook displays it in its cell.

    Attributes
    ----------
    scene : dict
        What there is to see, in JSON's types.
    arrays : bytes
        Its numbers.
    """

    scene: dict[str, Any]
    arrays: bytes

    def __repr__(self) -> str:
        runs = self.scene["runs"]
        frames = max(run["clock"]["values"]["shape"][0] for run in runs)
        return f"<View of {len(runs)} run{'s' * (len(runs) > 1)}, {frames:,} frames: show(), save(path), html()>"

    def html(self) -> str:
        """The page: one HTML text with everything in it, which asks for nothing from anywhere."""
        return page(self.scene, self.arrays)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, atomically.

        Parameters
        ----------
        path : path
            Ends in ``.html``; its folder is created if missing.

        Returns
        -------
        Path

        Raises
        ------
        InvalidInput
            Another ending.
        FileProblem
            The disk is full, the folder not writable, and the like.
        """
        target = Path(html_path(path))
        with appearing_whole(target) as draft:
            draft.write_text(self.html(), encoding="utf-8", newline="\n")
        return target

    def show(self) -> Path:
        """Write the page to a temporary file and open it in the default browser; returns the file.

        Raises
        ------
        FileProblem
            There is no room for temporary files.
        """
        target = self.save(Path(tempfile.mkdtemp(prefix="polhode-view-")) / "view.html")
        show_page(target)
        return target

    def _repr_html_(self) -> str:
        """The page in a frame, for notebooks: its scripts run there and reach nothing outside.

        In ASCII, since the policy of the page names digests of its scripts, and these must arrive as they are whatever
        encoding the notebook is saved or shown in. The frame is dark or light as the notebook is.
        """
        frame = (
            f'{THEMES}<iframe class="polhode-view" srcdoc="{html.escape(self.html(), quote=True)}" '
            'sandbox="allow-scripts" width="100%" '
            f'height="{HEIGHT}" style="border:0" title="{html.escape(str(self.scene["title"]), quote=True)}"></iframe>'
        )
        return frame.encode("ascii", "xmlcharrefreplace").decode("ascii")


def html_path(path: object) -> str:
    """The name of a page."""
    name = checked_path(path)
    if Path(name).suffix.lower() not in (".html", ".htm"):
        raise InvalidInput(f"{name!r} must end in .html")
    return name


@answering
def view(
    ds: xr.Dataset | str | os.PathLike[str], *others: xr.Dataset | str | os.PathLike[str],
    labels: Sequence[str] | None = None, mesh: Any = None, frames: int = FRAMES, span: Sequence[float] | None = None,
    members: Sequence[int] | None = None, title: str | None = None, live: bool = False,
) -> Any:  # fmt: skip
    """Show runs: the body turning in space, its polhode, its orbit, and its errors beside it, in one page.

    Parameters
    ----------
    ds : xarray.Dataset or path
        Trajectory, as from ``polhode.integrate`` or ``polhode.load``, or its file or live store; of an ensemble, its
        members are shown.
    *others : xarray.Dataset or path
        More of them, shown beside it on the same clock.
    labels : sequence of str, optional
        What to call them; default: their methods and steps.
    mesh : path or (vertices, faces), optional
        Shape of the bodies in place of the one that follows from their inertia: a file of triangles (STL, OBJ, PLY,
        OFF, GLB; needs ``polhode[mesh]``), or corners (V, 3) and triangles (F, 3). In the axes of the body, relative to
        its centre of mass; of a top, to its fixed point.
    frames : int
        Most frames of each run, spread evenly in time. With many bodies there are fewer.
    span : (float, float), optional
        Times between which to show the run, in its units. Default: all of it, or the first part, where ``frames`` are
        too few to show the motion without being coarse; the page says which.
    members : sequence of int, optional
        Which members of an ensemble, from 0; default: the first four.
    title : str, optional
        Heading of the page.
    live : bool
        Follow a run while it goes on: a widget for notebooks that grows with the live store given as a path, which need
        not be there yet (needs ``polhode[notebook]``).

    Returns
    -------
    View
        A notebook displays it; ``show()`` opens a browser, ``save(path)`` writes a page of its own, ``html()`` is its
        text. With ``live`` a widget; ``wait()`` waits for the end of its run, ``stop()`` leaves it.

    Raises
    ------
    InvalidInput
        Nothing to show: not a trajectory, no rows, no such member; another argument that is wrong.
    FileProblem
        A file is missing, torn, or no trajectory.
    MissingExtra
        A mesh from a file, or a live view, without the package it needs.

    Examples
    --------
    >>> import polhode as ph
    >>> ds = ph.integrate(ph.free_body((1, 2, 3)), step=0.1, t_end=20.0, angular_velocity=(0.01, 1, 0))
    >>> ph.view(ds)
    <View of 1 run, 201 frames: show(), save(path), html()>
    """
    most = whole(frames, "frames", 2, MOST_FRAMES)
    between = None
    if span is not None:
        first, last = between = tuple(vector(span, "span", 2).tolist())
        if not first <= last:
            raise InvalidInput(f"span is {first:g} to {last:g}; give the earlier time first")
    heading = None if title is None else text(title, "title", 1000)
    shape = mesh_of(mesh)
    if truth(live, "live"):
        from polhode.viewer.live import live_view

        if others or members is not None:
            raise InvalidInput("a live view follows one run; give one store")
        return live_view(ds, _names(labels, 1)[0], most, between, shape, heading, HEIGHT)
    runs = [run for one in (ds, *others) for run in members_of(read(one), members)]
    if len(runs) > MOST_RUNS:
        raise InvalidInput(f"there are {len(runs)} runs to show; a page holds {MOST_RUNS} or fewer")
    runs = [(name or own, ds) for name, (own, ds) in zip(_names(labels, len(runs)), runs, strict=True)]
    return View(*scene_of(runs, most, between, shape, heading))


def read(one: object) -> xr.Dataset:
    """The Dataset, or that of a file or a store."""
    if isinstance(one, xr.Dataset):
        return one
    if not isinstance(one, str | os.PathLike):
        raise InvalidInput(f"a Dataset is expected, such as polhode.integrate gives, or its file, not {shown(one)}")
    from polhode.runs.resume import load
    from polhode.trajectory.files import is_store

    return load(one, lazy=is_store(Path(checked_path(one))))


def _names(labels: Sequence[str] | None, many: int) -> list[str]:
    if labels is None:
        return [""] * many
    if isinstance(labels, str) or not isinstance(labels, Sequence):
        raise InvalidInput(f"labels must be a list of words, one for each run, not {shown(labels)}")
    if len(labels) != many:
        raise InvalidInput(f"there are {len(labels)} labels for {many} run{'s' * (many != 1)}; give one for each")
    return [text(label, "labels", 200) for label in labels]
