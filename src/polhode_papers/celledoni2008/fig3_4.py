"""Figure 3.4: error of semiexact and DMV methods of order 6, 8, 10 over all bodies, h = 0.4 and h = 0.04."""

from __future__ import annotations

import xarray as xr

from polhode_papers.celledoni2008 import regions
from polhode_papers.celledoni2008.common import DMV, MATRIX_FORM, REDUCED, SAFE, SEMIEXACT, STEPS, map_picture
from polhode_papers.drawing import Pictures
from polhode_papers.study import Claim, Figure

LIMITS = (-15.0, 0.0)


def draw(data: xr.Dataset) -> Pictures:
    large = STEPS[0]
    main = [[(label, h) for h in STEPS for label in pair] for pair in zip(MATRIX_FORM, DMV, strict=True)]
    forms = [[(label, large) for label in pair] for pair in zip(SEMIEXACT, MATRIX_FORM, strict=True)]
    ours = [[(label, h) for h in STEPS] for label in SAFE]
    reduced = [[(label, large) for label in pair] for pair in zip(MATRIX_FORM, REDUCED, strict=True)]
    lost = [[(label, h) for h in STEPS for label in pair] for pair in zip(DMV, SAFE, strict=True)]
    error, failed = "mean log error (grey: no run left)", "share of runs that fail or are refused"
    return {
        "fig3_4": map_picture(data.log_error, main, LIMITS, error),
        "fig3_4_forms": map_picture(data.log_error, forms, LIMITS, error),
        "fig3_4_half_turns": map_picture(data.log_error, reduced, LIMITS, error),
        "fig3_4_newton": map_picture(data.log_error, ours, LIMITS, error),
        "fig3_4_failed": map_picture(data.failed, lost, (0.0, 1.0), failed, "magma_r", "neither"),
    }


FIGURE = Figure("fig3_4", "semiexact and DMV methods over the triangle of inertias", regions.compute, draw, (
    Claim("Gauss-Legendre with 5 points is very accurate even for moderately large steps", "3.1", regions.five_nodes),
    Claim("Semiexact methods in matrix and in quaternion form are virtually indistinguishable", "3.2",
          regions.same_forms, full=("",)),
    Claim("Semiexact and DMV methods are worse in the top left corner, I1 << I2 ~ I3", "3.2", regions.worse_in_corner),
    Claim("At h = 0.4 DMV has on average less accuracy", "3.2", regions.less_accurate),
    Claim("DMV failed to converge for several initial conditions", "3.2", regions.failures),
    Claim("At h = 0.04 DMV, in particular dmv10, performs very well except in the top left corner", "3.2",
          regions.well_at_small_steps),
    Claim("Semiexact methods are of interest for large steps, and in particular in that corner", "3.2",
          regions.of_interest),
    Claim("Half turns integrated exactly, not by (3.1), make semiexact methods better in that corner", "polhode",
          regions.half_turns),
    Claim("The semiexact methods are robust for large steps and arbitrary principal moments of inertia", "4",
          regions.robust, full=("worst point",)),
))  # fmt: skip
