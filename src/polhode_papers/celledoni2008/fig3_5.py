"""Figure 3.5: weakly perturbed bodies; energy error against time and load evaluations, exact rotation and MR."""

from __future__ import annotations

import xarray as xr
from matplotlib.ticker import NullFormatter

from polhode_papers.celledoni2008 import perturbed
from polhode_papers.celledoni2008.perturbed import EPSILONS, EXACT, MR, SCHEMES
from polhode_papers.drawing import GREY, Pictures, canvas, legend_below, style
from polhode_papers.study import Claim, Figure

AGAINST = {"seconds": "time of a run on one thread (s)", "evaluations": "load evaluations of a run"}


def draw(data: xr.Dataset) -> Pictures:
    picture, axes = canvas(2, 2, width=10.0, height=3.6, sharey=True)
    for row, (variable, words) in zip(axes, AGAINST.items(), strict=True):
        for ax, eps, title in zip(row, EPSILONS, ("10^{-3}", "10^{-6}"), strict=True):
            for flow in (EXACT, MR):
                for i, name in enumerate(SCHEMES):
                    x, y = (data[key].sel(scheme=name, flow=flow) for key in (variable, "energy_error"))
                    x = x.sel(epsilon=eps) if "epsilon" in x.dims else x
                    line_style = style(i, flow == EXACT)
                    ax.loglog(x, y.sel(epsilon=eps), label=f"{name}, {flow}", **line_style)
            ax.axhline(eps, color=GREY, linewidth=1.0, linestyle=":")
            ax.annotate(r"$\varepsilon$", (1.0, eps), (-2, 2), ("axes fraction", "data"), "offset points", ha="right")
            ax.set(title=rf"$\varepsilon = {title}$", xlabel=words)
            if variable == "evaluations":
                ax.set_xticks((30, 100, 300), ("30", "100", "300"))
                ax.xaxis.set_minor_formatter(NullFormatter())
        row[0].set_ylabel("mean of largest $|H/H_0-1|$")
    legend_below(picture, axes[0, 0], 5)
    return {"fig3_5": picture}


FIGURE = Figure("fig3_5", "weakly perturbed bodies: energy error against cost", perturbed.perturbed, draw, (
    Claim("All of the splitting schemes perform the same number of force evaluations", "3.3.1", perturbed.same_loads),
    Claim("With the exact rotation the error goes to zero as epsilon does; with MR only smaller steps help", "3.3.1",
          perturbed.scales, full=("MR: not at all",)),
    Claim("The more MR is boosted, the more its cost becomes similar to that of the exact solution", "3.3.1",
          perturbed.cost, timed=True),
    Claim("Boosted MR has a high leading error, which dominates the small error of the optimised scheme", "3.3.1",
          perturbed.leading_error),
    Claim("Only with the exact rotation is the error below epsilon even for very large steps", "3.3.1",
          perturbed.below_epsilon, full=("all draws",)),
    Claim("The exact rotation is definitively of interest in the integration of perturbed systems", "3.3.1, 4",
          perturbed.of_interest, timed=True),
))  # fmt: skip
