"""Growth of the cost of a step with the number of soft dipolar spheres: potential against free rotation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import criteria, drawing
from polhode_papers.celledoni2008.common import Flow
from polhode_papers.celledoni2008.spheres import INERTIA, clock, lattice_draw
from polhode_papers.drawing import BLUE, GREEN, INK, PURPLE, VERMILION, Pictures
from polhode_papers.measure import named
from polhode_papers.study import Claim, Figure, Finding, Reporter

SIDES, QUICK_SIDES = (2, 3, 5, 7, 10, 14, 22), (2, 3, 5, 7, 10)
"""Lattices of 8 to 10,648 bodies."""
SPACING, CUTOFF = 2.0, 6.0
TURNS = {"exact": Flow("exact", {}, False, (BLUE, "o", "-")), "mr": Flow("mr", {}, False, (GREEN, "s", "-")),
         "mr6": Flow("mr6", {}, False, (PURPLE, "D", "-"))}  # fmt: skip
WAYS = {"all pairs": {}, "lists": {"cutoff": CUTOFF}}
STEP = 1e-4
"""So small that neighbour lists remain valid."""
ROUNDS, QUICK_ROUNDS = 7, 3
PART = 2e-3
"""Least duration of a timed part, s."""
MANY = 100
"""Number of bodies of the paper's example."""


def system_of(side: int, way: str) -> ph.systems.System:
    return ph.dipoles(side**3, inertia=INERTIA, **WAYS[way])


def repeated(part: Callable[[int], Any], before: int) -> Callable[[], float]:
    """A function that measures the seconds of one execution of a part, repeated often enough to be timed.

    What a call does besides counts as so many executions ``before``.
    """
    part(1)  # compile
    begun = clock()
    part(1)
    n = int(np.clip(PART / max(clock() - begun, 1e-7), 1, 20_000))

    def measured() -> float:
        begun = clock()
        part(n)
        return (clock() - begun) / (before + n)

    return measured


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    sides, rounds = (QUICK_SIDES, QUICK_ROUNDS) if quick else (SIDES, ROUNDS)
    step, turn = np.zeros((len(WAYS), len(sides))), np.zeros((len(TURNS), len(sides)))
    for k, side in enumerate(sides):
        report_progress(f"{side**3} bodies")
        parts: dict[tuple[str, str], Callable[[], float]] = {}
        start = lattice_draw(SPACING, 0, True, side)
        for way in WAYS:
            system = system_of(side, way)
            y = ph.runs.start_state(system, **start)
            # the loads of the start are evaluated, too
            parts["step", way] = repeated(partial(ph.checks.stepper("v2", system, y), y, 0.0, STEP), 1)
        moments = np.tile(INERTIA, (side**3, 1))
        for name, flow in TURNS.items():
            bodies = start["attitude"], start["angular_momentum"], moments
            parts["turn", name] = repeated(partial(flow.turn, *bodies, 0.1), 0)
        best = dict.fromkeys(parts, np.inf)
        for _ in range(rounds):
            for key, part in parts.items():
                best[key] = min(best[key], part())
        step[:, k] = [best["step", way] / side**3 for way in WAYS]
        turn[:, k] = [best["turn", name] / side**3 for name in TURNS]
    exact = turn[0]
    rest = np.maximum(step - exact, 0.0)
    share = turn[None] / (rest[:, None] + turn[None])
    return xr.Dataset(
        {
            "step": (("way", "n"), 1e9 * step), "potential": (("way", "n"), 1e9 * rest),
            "turn": (("turn_by", "n"), 1e9 * turn), "share": (("way", "turn_by", "n"), share),
        },
        {"way": list(WAYS), "turn_by": list(TURNS), "n": [side**3 for side in sides]},
        {
            "step": "time for each body, ns, of a step of V2 with the exact rotation: one evaluation of the "
            "potential's forces and torques, one free rotation of each body, drift and kicks; one thread",
            "potential": "the step without its rotations",
            "turn": "time of one free rotation of a body, ns",
            "share": "of a step that has this rotation",
            "lists": f"cut-off {CUTOFF / SPACING:g} spacings of the lattice, in free space; making lists is not timed",
        },
    )  # fmt: skip


LOOKS = {"all pairs": (VERMILION, "o"), "lists": (INK, "D")}


def draw(data: xr.Dataset) -> Pictures:
    picture, ((left, right),) = drawing.canvas(1, 2, width=10.5, height=4.2)
    for way, (colour, marker) in LOOKS.items():
        left.loglog(data.n, data.potential.sel(way=way), color=colour, marker=marker, label=f"potential, {way}")
    for name, flow in TURNS.items():
        # the curve of MR may coincide with that of exact
        over = {"markersize": 9.0, "markerfacecolor": "none"} if name == "mr" else {}
        line_style = flow.style | over | {"linestyle": "--"}
        left.loglog(data.n, data.turn.sel(turn_by=name), label=f"rotation, {name}", **line_style)
        for way in WAYS:
            style = flow.style | over | {"linestyle": "-" if way == "all pairs" else ":"}
            right.loglog(data.n, data.share.sel(way=way, turn_by=name), label=f"{name}, {way}", **style)
    left.set(xlabel="bodies", ylabel="time for each body (ns)", title="one evaluation, one rotation")
    right.set(xlabel="bodies", ylabel="share of the rotation in a step", title="share", ylim=(None, 1.2))
    left.legend(edgecolor="none")
    right.legend(edgecolor="none")
    return {"growth": picture}


# ------------------------------------------------------------------ judges
def slope(n: Any, values: Any) -> float:
    """Exponent with which the time per body grows, over the larger half of the numbers of bodies."""
    k = len(n) // 2
    return float(np.polyfit(np.log(n[k:]), np.log(values[k:]), 1)[0])


def growth(data: xr.Dataset) -> Finding:
    n = data.n.values
    measured = {"potential, all pairs": 1.0 + slope(n, data.potential.sel(way="all pairs").values)}
    measured["potential, lists"] = 1.0 + slope(n, data.potential.sel(way="lists").values)
    measured |= {f"rotation, {name}": 1.0 + slope(n, data.turn.sel(turn_by=name).values) for name in TURNS}
    turns = {name: measured[f"rotation, {name}"] for name in TURNS}
    parts = {
        "potential quadratically: power": criteria.order_is(measured["potential, all pairs"], 2.0, 0.2),
        "rotation linearly: power": criteria.every(turns, criteria.order_is, 1.0, 0.2),
    }
    return Finding(parts, {"power of the number of bodies": measured})


def irrelevant(data: xr.Dataset) -> Finding:
    """Judge the time of a step with the exact rotation relative to that with MR."""
    plain, exact = (data.turn.sel(turn_by=name) for name in ("mr", "exact"))
    ratio = {way: data.step.sel(way=way) / (data.potential.sel(way=way) + plain) for way in WAYS}
    pairs = ratio["all pairs"]
    near = int(np.argmin(np.abs(np.log(data.n.values / MANY))))
    words = "step with the exact rotation / with MR"
    parts = {f"{int(data.n[k])} bodies: {words}": criteria.ratio_within(float(pairs[k]), 1.0, 1.1) for k in (near, -1)}
    numbers: dict[str, Any] = {f"{words}, {way}": named(row) for way, row in ratio.items()}
    return Finding(parts, numbers | {"rotation of a body, ns": {
        name: float(data.turn.sel(turn_by=name).isel(n=-1)) for name in TURNS
    }, "exact / MR": float((exact / plain).isel(n=-1))})  # fmt: skip


def dominates(data: xr.Dataset) -> Finding:
    """Judge the share of the rotation in a step of many bodies."""
    shares = {way: data.share.sel(way=way, turn_by="exact") for way in WAYS}
    numbers = {f"share of the exact rotation, {way}": named(line) for way, line in shares.items()}
    last = {way: float(line[-1]) for way, line in shares.items()}
    parts = {f"{way}: share at the largest number": criteria.at_most(share, 0.05) for way, share in last.items()}
    return Finding(parts, numbers)


FIGURE = Figure("growth", "cost of a step and number of soft dipolar spheres", compute, draw, (
    Claim("The cost of the potential grows quadratically with the number of particles, that of the rotation linearly",
          "3.4, 4", growth, timed=True),
    Claim("For sufficiently many particles it is irrelevant whether MR or the exact rotation is taken", "3.4",
          irrelevant, timed=True),
    Claim("The force evaluations dominate the overall cost", "4", dominates, timed=True),
))  # fmt: skip
