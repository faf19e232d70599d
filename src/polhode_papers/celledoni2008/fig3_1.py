"""Figure 3.1: free rotation of 100 random bodies to t = 10; error against computing time, cost against the step."""

from __future__ import annotations

import xarray as xr
from matplotlib.ticker import NullFormatter

from polhode_papers import drawing
from polhode_papers.celledoni2008 import averages
from polhode_papers.celledoni2008.common import FLOWS
from polhode_papers.study import Claim, Figure


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, ((left, right),) = drawing.canvas(1, 2, width=10.5, height=5.2)
    cost = averages.relative(data)
    for label, flow in FLOWS.items():
        line = data.sel(flow=label)
        left.semilogx(line.seconds, line.log_error, label=label, **flow.style)
        right.loglog(data.step, cost.sel(flow=label), **flow.style)
    left.set(xlabel="mean time of a run (s)", ylabel=r"mean of $\log_{10}\,|Q - Q_{\rm ref}|_\infty$", title="accuracy")
    right.set(xlabel="step", ylabel="time / time of the paper's cheapest method", title="relative cost")
    right.set_yticks((0.5, 1, 2, 5, 10), ("0.5", "1", "2", "5", "10"))
    right.yaxis.set_minor_formatter(NullFormatter())
    for ax in (left, right):
        drawing.separate_coinciding(ax)
    drawing.legend_below(picture, left, 5)
    return {"fig3_1": picture}


FIGURE = Figure("fig3_1", "free rotation of random bodies: error, time, convergence", averages.averages, draw, (
    Claim("The exact methods are clearly more expensive", "3.2, fig. 3.1", averages.expensive, timed=True),
    Claim("The exact methods always converge; the semiexact ones behave well too", "3.2", averages.always),
    Claim("The DMV methods converge in 75 of 100 runs", "3.2, fig. 3.1", averages.three_quarters),
    Claim("The cost of the semiexact methods is about 1/3 of that with the exact elliptic integral", "3.1, 3.2",
          averages.one_third, timed=True),
    Claim("DMV methods are the cheapest, and their cost increases very slowly with the order", "3.2",
          averages.cheapest, timed=True),
    Claim("The relative cost of exact and semiexact methods is lower for large steps", "3.2", averages.large_steps,
          timed=True),
    Claim("Exact and semiexact methods accumulate more round-off in small steps", "3.2", averages.accumulation),
    Claim("A single step to the end is enough, and avoids the accumulation of round-off", "3.2", averages.one_step),
    Claim("Projection, dividing the quaternion by its norm, improves the propagation of round-off", "3.2",
          averages.projection),
    Claim("Accuracy of the matrix and the quaternion form is very comparable, and so is their cost", "3.2",
          averages.comparable, timed=True),
))  # fmt: skip
