"""Figure 16: the Cardan angles of the heavy top, past their singular middle angles."""

from __future__ import annotations

from math import pi

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import criteria, drawing
from polhode_papers.criteria import at_most
from polhode_papers.drawing import GREY, Pictures
from polhode_papers.holzinger2021 import top
from polhode_papers.measure import named
from polhode_papers.study import Claim, Figure, Finding, Reporter

FINE = 10  # rows of the power series per step
NEAR = 0.1  # distance of the middle angle from a singular one, rad
WINDOW = (0.0, 0.2)
BRANCHES = {"principal": "euler", "continuous": "euler:rk4:exp:XYZ:continuous"}
CAYLEY = "euler:rk4:cayley"


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    report_progress("Cardan angles")
    runs = {name: top.run(method) for name, method in (BRANCHES | {"cayley": CAYLEY}).items()}
    report_progress(top.SERIES)
    angles = {name: ds.euler_angles.values for name, ds in runs.items()}
    q = {name: ph.rotation.quaternion_from_euler(a) for name, a in angles.items()}
    fine = top.exact(top.SPAN, FINE * round(top.SEGMENT / top.STEP)).attitude.values
    row = ph.rotation.matrix_from_quaternion(fine)[:, 0]
    to_singular = np.arctan2(np.hypot(row[:, 0], row[:, 1]), np.abs(row[:, 2]))
    inner = to_singular[1:-1]
    return xr.Dataset(
        {
            "angles": (("branch", "time", "angle"), [angles[name] for name in BRANCHES]),
            "from_the_matrix": ("time", ph.rotation.angle_between(q["principal"], top.run("lie_rk").attitude.values)),
            "between_branches": ("time", ph.rotation.angle_between(q["principal"], q["continuous"])),
            "error": (("coordinate_map", "time"), [ph.rotation.angle_between(q[name], fine[::FINE]) for name in
                                        ("principal", "cayley")]),
            "turned": ("time", np.append(0.0, ph.rotation.angle_between(q["principal"][1:], q["principal"][:-1]))),
            "closest": ("pass", inner[(inner < to_singular[:-2]) & (inner <= to_singular[2:])]),
        },
        {"branch": list(BRANCHES), "time": runs["principal"].time.values, "angle": [1, 2, 3],
         "coordinate_map": ["exp", "Cayley"]},
        {"run": f"steps of {top.STEP:g} for {top.SPAN:g} s (the paper names no span)",
         "closest": "distances of the middle angle from pi/2 or -pi/2 where it turns back, from the power series"},
    )  # fmt: skip


def draw(data: xr.Dataset) -> Pictures:
    picture, axes = drawing.canvas(3, 1, height=2.6)
    shown = (("principal", data), *((name, data.sel(time=slice(*WINDOW))) for name in BRANCHES))
    for ax, (name, part) in zip(axes[:, 0], shown, strict=True):
        top.components(ax, part.time, part.angles.sel(branch=name), ("$α_1$", "$α_2$", "$α_3$"), "angle (rad)")
        ax.set_title(f"{name} branch")
        for side in (-pi / 2, pi / 2):
            ax.axhline(side, color=GREY, linewidth=0.8)
        if name == "principal":
            ax.set_yticks([-pi, -pi / 2, 0, pi / 2, pi], ["−π", "−π/2", "0", "π/2", "π"])
    axes[2, 0].set_xlabel("time (s)")
    return {"fig16": picture}


def passes(data: xr.Dataset) -> Finding:
    deviation, between = float(data.from_the_matrix.max()), float(data.between_branches.max())
    change = np.abs(np.diff(data.angles.sel(branch="principal"), axis=0))
    parts = {"the attitude is that of a rotation matrix at every row": at_most(deviation, top.ALIKE),
             "the same in the continuous branch": at_most(between, top.ALIKE)}  # fmt: skip
    numbers = {
        "attitude, from the matrix": deviation, "between the branches": between,
        "times the middle angle turns back": int(data.closest.size),
        "nearer than 0.1 rad to pi/2 or -pi/2": int((data.closest < NEAR).sum()),
        "closest": float(data.closest.min()), "largest change of alpha_2 in a step": float(change[:, 1].max()),
        "of alpha_1": float(change[:, 0].max()), "largest turn in a step": float(data.turned.max()),
    }  # fmt: skip
    return Finding(parts, numbers)


def either_map(data: xr.Dataset) -> Finding:
    worst = named(data.error.max("time"))
    ratio = max(worst.values()) / min(worst.values())
    parts = {"largest error of both": criteria.at_most(max(worst.values()), 1e-2),
             "errors of one size": criteria.ratio_within(ratio, 1.0, 1.5)}  # fmt: skip
    return Finding(parts, {f"largest attitude error in {top.SPAN:g} s": worst})


FIGURE = Figure("fig16", "heavy top: Cardan angles", compute, draw, (
    Claim("Singular points can be passed through: Cardan angles near pi/2", "8", passes),
    Claim("Similar results can be obtained with the Cayley transform as a coordinate map", "7.2", either_map),
))  # fmt: skip
