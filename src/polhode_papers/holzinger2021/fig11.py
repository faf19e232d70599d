"""Figure 11: the path of the centre of mass of the heavy top in space."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Picture

from polhode_papers.drawing import BLUE, FAINT, VERMILION
from polhode_papers.holzinger2021 import top
from polhode_papers.study import Claim, Figure, Reporter


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    return top.centre_of_mass("position", report_progress)


def draw(data: xr.Dataset) -> dict[str, Picture]:
    picture = Picture(figsize=(6.2, 5.6), layout="constrained")
    ball: Any = picture.add_subplot(projection="3d", proj_type="ortho")
    u, v = np.mgrid[0 : 2 * np.pi : 37j, 0 : np.pi : 19j]
    ball.plot_wireframe(np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v), color=FAINT, linewidth=0.4)
    path = data.position.sel(by=top.VECTOR).values.T
    ball.plot(*path, color=BLUE, linewidth=1.8, label=f"{top.SPAN:g} s")
    ball.plot(*path[:, :1], "o", color=VERMILION, markersize=5, label="start")
    ball.set(xlabel="x (m)", ylabel="y (m)", zlabel="z (m)", xticks=(-1, 0, 1), yticks=(-1, 0, 1), zticks=(-1, 0, 1))
    ball.view_init(elev=20, azim=130)
    ball.set_box_aspect((1, 1, 1))
    ball.legend(loc="upper left", frameon=False, bbox_to_anchor=(0.0, 0.95))
    return {"fig11": picture}


CLAIMS = (Claim("The path can be had from the Cardan angles as well", "7.2", partial(top.alike, "position")),)
FIGURE = Figure("fig11", "heavy top: path of the centre of mass", compute, draw, CLAIMS)
