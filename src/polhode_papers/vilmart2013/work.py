"""The free body of figure 1: error of the paper's methods against the step and against computing time."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import criteria, drawing
from polhode_papers.measure import named
from polhode_papers.study import Claim, Figure, Finding, Reporter
from polhode_papers.vilmart2013.common import BOOK, START

FLOWS = ("three_rotation", "symmetric", "implicit_midpoint", "dmv2", "dmv4", "dmv6", "dmv8", "dmv10", "exact", "jacobi")
EXACT_FLOWS = ("exact", "jacobi")
SPAN, STEPS = 10.0, (10, 20, 40, 80, 160, 320, 640, 1280, 2560)
PAIR = ("three_rotation", "symmetric")
RANDOM, RANDOM_STEPS = 200, 400  # number of bodies, and of steps in the span


def ends_of(flow: str, n: int, bodies: Any) -> Any:
    """Attitudes, momenta and success after n steps over the span, of bodies (attitude, momenta, moments)."""
    return ph.runs.free_rotation(flow, guard=False)(*bodies, SPAN / n, n)


def timed(flow: str, n: int, bodies: Any, repeats: int) -> float:
    """Seconds per body, best of several repeats; for short runs the bodies are copied many times."""
    attitude, momenta, moments = bodies
    copies, times = max(1, 4000 // (n * len(moments))), []
    bodies = attitude, np.tile(momenta, (copies, 1)), np.tile(moments, (copies, 1))
    for _ in range(repeats):
        begun = time.perf_counter()
        ends_of(flow, n, bodies)
        times.append(time.perf_counter() - begun)
    return float(min(times)) / (copies * len(moments))


def error(end: Any, truth: Any) -> Any:
    """For each body, the larger of the 2-norm differences of momenta and of rotation matrices."""
    turned = ph.rotation.angle_between(ph.rotation.normalize(end[0]), truth[0])
    return np.maximum(np.linalg.norm(end[1] - truth[1], axis=1), 2.0 * np.sin(turned / 2.0))


def random_bodies() -> tuple[Any, Any]:
    """Moments (K, 3) of bodies with uniform random d_k, and random momenta of length 1."""
    random = np.random.default_rng(39)
    d, m = random.random((RANDOM, 3)), random.normal(size=(RANDOM, 3))
    return d.sum(axis=1, keepdims=True) - d, m / np.linalg.norm(m, axis=1, keepdims=True)


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    book = START["attitude"], [START["angular_momentum"]], [BOOK]
    truth = ends_of("exact", 1, book)
    errors, seconds = np.full((2, len(FLOWS), len(STEPS)), np.nan)
    for i, flow in enumerate(FLOWS):
        report_progress(flow)
        for j, n in enumerate(STEPS):
            end = ends_of(flow, n, book)
            if end[2][0]:
                errors[i, j], seconds[i, j] = error(end, truth)[0], timed(flow, n, book, 3 if quick else 9)
    report_progress("random bodies")
    moments, momenta = random_bodies()
    bodies = (1.0, 0.0, 0.0, 0.0), momenta, moments
    ends = [ends_of(flow, RANDOM_STEPS, bodies) for flow in PAIR]
    ns = [timed(flow, RANDOM_STEPS, bodies, 15) / RANDOM_STEPS * 1e9 for flow in PAIR]
    truth = ends_of("exact", 1, bodies)
    return xr.Dataset(
        {
            "error": (("flow", "steps"), errors), "seconds": (("flow", "steps"), seconds),
            "error_of_random_bodies": (("splitting", "body"), [error(end, truth) for end in ends]),
            "ns_per_step": ("splitting", ns),
        },
        {"flow": list(FLOWS), "steps": list(STEPS), "splitting": list(PAIR), "body": np.arange(RANDOM)},
        {"body": f"figure 1, t = {SPAN:g}", f"ns a step of {SPAN / STEPS[4]:g}": ", ".join(
            f"{flow} {x / STEPS[4] * 1e9:.0f}" for flow, x in zip(FLOWS, seconds[:, 4], strict=True))},
    )  # fmt: skip


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, ((left, right),) = drawing.canvas(1, 2, width=10.0, height=4.8, sharey=True)
    steps = data.steps.values
    for i, flow in enumerate(FLOWS):
        line, kind = data.error.sel(flow=flow), drawing.style(i, flow not in EXACT_FLOWS)
        left.loglog(SPAN / steps, line, label=flow, **kind)
        right.loglog(1e6 * data.seconds.sel(flow=flow), line, label=flow, **kind)
    left.set(ylim=(1e-16, 10), xlabel="step $h$", ylabel=r"error in $y$ and $Q$ at $t = 10$")
    right.set(xlabel="time of the whole run, \N{MICRO SIGN}s")
    drawing.legend_below(picture, left, 5)
    return {"work": picture}


def efficient(data: xr.Dataset) -> Finding:
    three, symmetric = (data.error_of_random_bodies.sel(splitting=name).values for name in PAIR)
    ns = named(data.ns_per_step)
    costs = ns["symmetric"] / ns["three_rotation"]
    gains = three / (symmetric * costs**2)  # both are of order 2: compared at steps that take equal time
    share = float((gains > 1.0).mean())
    return Finding({"smaller error in the same time, share of random bodies": criteria.at_least(share, 0.5)}, {
        "error of three rotations in the same time, median": float(np.median(gains)),
        "ns a step": {name: ns[name] for name in PAIR},
    })  # fmt: skip


FIGURE = Figure("work", "free body: error against step and time", compute, draw, (
    Claim("It is often more efficient to consider symmetric+rotation than three rotations", "Splitting", efficient,
          timed=True),
))  # fmt: skip
