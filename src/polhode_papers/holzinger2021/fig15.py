"""Figure 15: the rotation vector of the heavy top, past 0 and 2 pi."""

from __future__ import annotations

from math import pi

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers.criteria import at_least, at_most
from polhode_papers.drawing import GREY, INK, Pictures, canvas
from polhode_papers.holzinger2021 import top
from polhode_papers.study import Claim, Figure, Finding, Reporter

FINE = 10  # rows of the power series per step
WINDOW = (0.0, 0.2)


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    report_progress("rotation vector")
    ds, matrix = top.run(top.CHARTS[top.VECTOR]), top.run("lie_rk")
    report_progress(top.SERIES)
    q = ph.rotation.exp_quaternion(ds.rotation_vector.values)
    fine = top.exact(top.SPAN, FINE * round(top.SEGMENT / top.STEP)).attitude.values
    length = 2.0 * np.arctan2(np.linalg.norm(fine[:, 1:], axis=1), fine[:, 0])
    inner = length[1:-1]
    return xr.Dataset(
        {
            "vector": (("time", "component"), ds.rotation_vector.values),
            "length": ("time", np.linalg.norm(ds.rotation_vector.values, axis=1)),
            "from_the_matrix": ("time", ph.rotation.angle_between(q, matrix.attitude.values)),
            "same_branch": ("time", (q * fine[::FINE]).sum(axis=1)),
            "turned": ("time", np.append(0.0, ph.rotation.angle_between(q[1:], q[:-1]))),
            "highest": ("pass", inner[(inner > length[:-2]) & (inner >= length[2:])]),
            "lowest": ("back", inner[(inner < length[:-2]) & (inner <= length[2:])]),
        },
        {"time": ds.time.values, "component": [1, 2, 3]},
        {"run": f"steps of {top.STEP:g} for {top.SPAN:g} s (the paper names no span)",
         "highest, lowest": "lengths of the vector where it turns back, from the power series"},
    )  # fmt: skip


def draw(data: xr.Dataset) -> Pictures:
    picture, axes = canvas(2, 1, height=3.0)
    for ax, part in zip(axes[:, 0], (data, data.sel(time=slice(*WINDOW))), strict=True):
        top.components(ax, part.time, part.vector, ("$v_1$", "$v_2$", "$v_3$"), "rotation vector (rad)")
        ax.plot(part.time, part.length, color=INK, linewidth=0.8, linestyle=":", label="$|v|$")
        ax.axhline(2 * pi, color=GREY, linewidth=0.8)
        ax.set_yticks([-2 * pi, -pi, 0, pi, 2 * pi], ["−2π", "−π", "0", "π", "2π"])
        ax.legend(frameon=False, ncols=4, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderpad=0.0)
    axes[1, 0].set_xlabel("time (s)")
    return {"fig15": picture}


def passes(data: xr.Dataset) -> Finding:
    deviation, jump = float(data.from_the_matrix.max()), np.linalg.norm(np.diff(data.vector, axis=0), axis=1)
    parts = {
        "the attitude is that of a rotation matrix at every row": at_most(deviation, top.ALIKE),
        "the vector never leaves its branch, that of the quaternion": at_least(float(data.same_branch.min()), 0.0),
    }
    numbers = {
        "attitude, from the matrix": deviation, "times it turns back before 2 pi": int(data.highest.size),
        "closest to 2 pi": 2 * pi - float(data.highest.max()), "closest to 0 after the start": float(data.lowest.min()),
        "largest change of the vector in a step": float(jump.max()),
        "largest turn in a step": float(data.turned.max()),
    }  # fmt: skip
    return Finding(parts, numbers)


CLAIMS = (Claim("Singular points can be passed through: the rotation vector near 2 pi", "8", passes),)
FIGURE = Figure("fig15", "heavy top: components of the rotation vector", compute, draw, CLAIMS)
