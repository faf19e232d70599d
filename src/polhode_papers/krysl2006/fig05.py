"""Figure 5: soft wall, H/H0 of the present algorithms over 40,000 steps of 0.5, one fifth of figure 4's scale."""

from __future__ import annotations

import numpy as np
import xarray as xr

from polhode_papers.criteria import at_least, at_most, every, fact, ratio_within
from polhode_papers.drawing import Pictures
from polhode_papers.krysl2006.common import PRESENT, RIVALS, SLIGHTLY, STEPS, by_method, shown, wall_pictures
from polhode_papers.krysl2006.fig04 import WINDOW as WINDOW_OF_4
from polhode_papers.study import Claim, Figure, Finding

WINDOW = tuple(1.0 + (edge - 1.0) / 5.0 for edge in WINDOW_OF_4)


def draw(data: xr.Dataset) -> Pictures:
    return wall_pictures(data, "fig05", PRESENT, 2, (WINDOW[0], WINDOW[1]))


def one_fifth(data: xr.Dataset) -> Finding:
    ranges = by_method(data.half_range.median("start"))
    ratio = np.mean([ranges[label] for label in PRESENT]) / np.mean([ranges[label] for label in RIVALS])
    inside = bool(((data.energy_ratio >= WINDOW[0]) & (data.energy_ratio <= WINDOW[1])).all())
    parts = {
        "all present methods": fact(inside, "in one fifth of figure 4's window"),
        "mean half-range over that of the reference methods: 1/5": ratio_within(float(ratio), 0.2, 1.5),
    }
    return Finding(parts, {"half-range (median of the starts)": ranges, "mean of present / mean of reference": ratio})


def clean(data: xr.Dataset) -> Finding:
    wander, steps = by_method(data.wander, PRESENT), by_method(data.steps_kept.min("start"), PRESENT)
    parts = {"steps kept, least of all starts": every(steps, at_least, STEPS),
             "moves of the mean of H, in half-ranges": every(wander, at_most, 0.1)}  # fmt: skip
    spread = data.half_range.max("start") / data.half_range.min("start") - 1.0
    return Finding(parts, {"moves of the mean, in half-ranges": wander,
                           "spread of the half-range over the starts": by_method(spread, PRESENT)})  # fmt: skip


def trapezoids(data: xr.Dataset) -> Finding:
    """Ratios trapezoid/midpoint: frequency and power share of the strongest line of H, and half-range."""
    f, share = by_method(data.peak_frequency, PRESENT), by_method(data.peak_share, PRESENT)
    r = by_method(data.half_range.sel(start=0), PRESENT)
    over = {
        name: {f"{a} / {b}": x[a] / x[b] for a, b in (("TRAP", "IMID"), ("TRAPM", "IMIDM"))}
        for name, x in (("share", share), ("frequency", f), ("error", r))
    }
    parts = {
        "more pronounced: share of power of the strongest line": every(over["share"], at_least, 1.1),
        "lower frequency: of the strongest line": every(over["frequency"], at_most, 0.95),
        "higher error: half-range": every(over["error"], at_least, 1.1),
        "somewhat: the same ratio": every(over["error"], at_most, SLIGHTLY),
    }
    return Finding(parts, {"strongest line of H, frequency": f, "share of power": share, "half-range": r})


def superior(data: xr.Dataset) -> Finding:
    ranges, wander = by_method(data.half_range.median("start")), by_method(data.wander)
    parts = {f"largest {name} of the present methods over the smallest of the others":
             at_most(max(x[a] for a in PRESENT) / min(x[a] for a in RIVALS), 1.0)
             for name, x in (("half-range", ranges), ("move of the mean", wander))}  # fmt: skip
    series = {label: data.energy_ratio.sel(shown=label).values for label in PRESENT}
    extremes = {label: f"[{values.min():.5g}, {values.max():.5g}]" for label, values in series.items()}
    return Finding(parts, {"half-range (median of the starts)": ranges, "extremes of H/H0": extremes})


FIGURE = Figure("fig05", "soft wall, 40,000 steps of 0.5: H/H0 of the present methods", shown(PRESENT), draw, (
    Claim("On 1/5 of figure 4's scale: the error in the Hamiltonian is generally much smaller", "5.4", one_fifth),
    Claim("The present algorithms yield very clean and well behaved solutions", "5.4", clean),
    Claim("Trapezoids display a more pronounced periodic pattern of lower frequency and somewhat higher error than "
          "midpoints", "5.4", trapezoids),
    Claim("All of the present algorithms are superior to the reference algorithms here", "5.4", superior),
))  # fmt: skip
