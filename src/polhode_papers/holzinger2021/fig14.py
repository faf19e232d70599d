"""Figure 14: angular velocity of the heavy top in the body frame."""

from __future__ import annotations

from functools import partial

import numpy as np
import xarray as xr

from polhode_papers.criteria import at_most
from polhode_papers.drawing import COLOURS, Pictures, canvas
from polhode_papers.holzinger2021 import top
from polhode_papers.study import Claim, Figure, Finding, Reporter


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    report_progress("both charts")
    values = [top.run(method).angular_velocity.values for method in top.CHARTS.values()]
    report_progress(top.SERIES)
    return top.compared("angular_velocity", [*values, top.truth().angular_velocity.values])


def draw(data: xr.Dataset) -> Pictures:
    picture, axes = canvas(3, 1, height=2.5, sharex=True)
    x, by_vector = data.angular_velocity, data.angular_velocity.sel(by=top.VECTOR)
    names = ("$ω_1$", "$ω_2$", "$ω_3$")
    for ax, shown, unit in ((axes[0, 0], (0, 2), "rad/s"), (axes[1, 0], (1,), "rad/s")):
        for k in shown:
            ax.plot(data.time, by_vector[:, k], color=COLOURS[k], label=names[k], linewidth=1.0)
        ax.set_ylabel(unit)
        ax.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderpad=0.0)
    axes[1, 0].set_ylim(top.OMEGA[1] - 8, top.OMEGA[1] + 8)
    axes[0, 0].set_title("angular velocity, body frame")
    lines = {f"from {name}": top.apart(x, top.VECTOR, name) for name in (top.ANGLES, top.SERIES)}
    top.differences(axes[2, 0], data.time, lines, "distance (rad/s)")
    return {"fig14": picture}


def constant(data: xr.Dataset) -> Finding:
    spin_rate = data.angular_velocity.sel(axis=2)
    deviation = {str(name): float(np.abs(spin_rate.sel(by=name) - top.OMEGA[1]).max()) for name in top.CHARTS}
    return Finding(
        {f"by the {name}": at_most(x, 1e-12) for name, x in deviation.items()}, {"|omega_2 - 150|": deviation}
    )


FIGURE = Figure("fig14", "heavy top: angular velocity", compute, draw, (
    Claim("The angular velocity can be had with the Cardan angles as well", "7.2",
          partial(top.alike, "angular_velocity")),
    Claim("omega_2 = 150 rad/s is constant: J11 = J33, and the centre of mass is on axis 2", "polhode", constant),
))  # fmt: skip
