"""Tables 2 and 3: operations of an update of the rotation vector and of Cardan angles, counted by running the updates.

The paper counts its own code; here the formulas of ``updates`` are counted. Sharing common subexpressions differently
changes a count by a few operations, so a difference of one or two is not a ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import criteria, drawing
from polhode_papers.criteria import at_least
from polhode_papers.drawing import COLOURS, Pictures
from polhode_papers.holzinger2021.counting import PLAIN, Counts, counted
from polhode_papers.holzinger2021.updates import ANGLES, CAY, EXP, HALF, LIE, PROPOSED, QUATERNION, VECTOR, Update
from polhode_papers.study import Check, Claim, Figure, Finding, Reporter, Table

KINDS = tuple(asdict(Counts()))
SAMPLE, SIZE = 2000, 0.3  # number of random parameters, size of the random rotations (rad) that compare the updates
LARGE = 0.1  # share of all operations taken as significant
RESOLUTION = 2  # a count depends on how subexpressions are shared by so many: smaller differences are undecided


def compute(
    updates: Mapping[str, Update], quaternion: Callable[[Any], Any], quick: bool, report_progress: Reporter
) -> xr.Dataset:
    """Counts of every update, and the median of its attitude errors (rad)."""
    random = np.random.default_rng(2021)
    old, turn = random.uniform(-1.2, 1.2, (SAMPLE, 3)), SIZE * random.normal(size=(SAMPLE, 3))
    turned = {EXP: ph.rotation.exp_quaternion(turn), CAY: ph.rotation.cay_quaternion(turn)}
    results: dict[str, list[float]] = {kind: [] for kind in (*KINDS, "total", "attitude_error")}
    for name, update in updates.items():
        report_progress(name)
        _, counts = counted(update, old[0], turn[0])
        new = np.transpose(update(PLAIN, tuple(old.T), tuple(turn.T)))
        exact = ph.rotation.multiply(quaternion(old), turned[CAY if name.endswith(CAY) else EXP])
        sizes = {**asdict(counts), "total": counts.total,
                 "attitude_error": float(np.median(ph.rotation.angle_between(quaternion(new), exact)))}  # fmt: skip
        for kind, size in sizes.items():
            results[kind].append(size)
    return xr.Dataset(
        {kind: ("method", sizes) for kind, sizes in results.items()},
        {"method": list(updates)},
        {"counted": "multiplications by 2 and 1/2 too; changes of sign and comparisons are free",
         "attitude error": f"median of {SAMPLE} random updates, rad: all of them do the same"},
    )  # fmt: skip


def draw(stem: str, title: str, data: xr.Dataset) -> Pictures:
    rows = np.arange(data.method.size)
    picture, ((ax,),) = drawing.canvas(1, 1, width=9.0, height=1.6 + 0.34 * rows.size)
    start = np.zeros(rows.size)
    for kind, colour in zip(KINDS, COLOURS, strict=False):
        ax.barh(rows, data[kind], left=start, color=colour, height=0.62, label=kind)
        start += data[kind].values
    for row, total in zip(rows, start, strict=True):
        ax.text(total + 1.0, row, f"{total:.0f}", va="center")
    ax.set_yticks(rows, data.method.values)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set(xlabel="operations", title=title)
    drawing.legend_below(picture, ax, len(KINDS))
    return {stem: picture}


def tabulate(caption: str, data: xr.Dataset) -> dict[str, Table]:
    """The columns of the paper's tables."""
    rows = [[str(name), *(int(data[kind].values[i]) for kind in (*KINDS, "total"))]
            for i, name in enumerate(data.method.values)]  # fmt: skip
    return {caption: [["update", *KINDS, "total"], *rows]}


# ------------------------------------------------------------------ judges
def totals(data: xr.Dataset) -> dict[str, float]:
    return {str(name): criteria.count(total) for name, total in zip(data.method.values, data.total.values, strict=True)}


def fewer(less: str, more: str, data: xr.Dataset) -> Finding:
    """Judge whether the updates ``less`` take fewer operations than the updates ``more``, for each coordinate map."""
    measured = totals(data)
    parts: dict[str, Check] = {}
    for name, total in measured.items():
        if name.split(", ")[0] == more:
            map = name.partition(", ")[2]
            rival = f"{less}, {map}" if f"{less}, {map}" in measured else less if less in measured else f"{less}, {EXP}"
            parts[f"{rival} < {name}"] = criteria.fewer(measured[rival], total, RESOLUTION)
    return Finding(parts, {"operations": measured})


def map_matters(data: xr.Dataset) -> Finding:
    """Judge whether the choice of exp or cay changes the operation count of the proposed update by a large share."""
    measured = totals(data)
    share = abs(measured[f"{PROPOSED}, {EXP}"] - measured[f"{PROPOSED}, {CAY}"]) / measured[f"{PROPOSED}, {EXP}"]
    trigonometric = dict(zip(map(str, data.method.values), map(criteria.count, data.trigonometric.values), strict=True))
    map_counts = {name: trigonometric[name] for name in (f"{PROPOSED}, {EXP}", f"{PROPOSED}, {CAY}")}
    parts = {"it has one": at_least(share, 1e-9), "a large share of all operations": at_least(share, LARGE)}
    return Finding(parts, {"share": share, "trigonometric functions": map_counts})


LIE_CLAIM = "The proposed update needs fewer operations than the standard Lie group method"
QUATERNION_CLAIM = "The update by Euler parameters needs fewer operations than the proposed one"

TABLE_2 = Figure(
    "table2", "operations of an update of the rotation vector", partial(compute, VECTOR, ph.rotation.exp_quaternion),
    partial(draw, "table2", "update of the rotation vector"), (
        Claim(LIE_CLAIM, "7.3, 8, Table 2", partial(fewer, PROPOSED, LIE)),
        Claim(QUATERNION_CLAIM, "7.3, 8, Table 2", partial(fewer, QUATERNION, PROPOSED)),
        Claim("The half angle by an arc tangent needs fewer operations than the proposed update", "polhode",
              partial(fewer, HALF, PROPOSED)),
    ),
    partial(tabulate, "Table 2, as we count: operations of an update of the rotation vector"),
)  # fmt: skip

TABLE_3 = Figure(
    "table3", "operations of an update of Cardan angles", partial(compute, ANGLES, ph.rotation.quaternion_from_euler),
    partial(draw, "table3", "update of Cardan angles"), (
        Claim(LIE_CLAIM, "7.3, 8, Table 3", partial(fewer, PROPOSED, LIE)),
        Claim(QUATERNION_CLAIM, "7.3, 8, Table 3", partial(fewer, QUATERNION, PROPOSED)),
        Claim("The choice of the coordinate map has a significant influence on the effort of an update", "3",
              map_matters),
        Claim("Half angles of the quaternion need fewer operations than the proposed update", "polhode",
              partial(fewer, HALF, PROPOSED)),
    ),
    partial(tabulate, "Table 3, as we count: operations of an update of Cardan angles"),
)  # fmt: skip
