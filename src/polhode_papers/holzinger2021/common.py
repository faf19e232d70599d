"""Shared by the figures of this paper: motions, their exact final states, errors over sequences of steps, two plots.

The exact motion of a free body is the method ``exact``. The motion near the unstable axis amplifies the round-off of
every step by 1e8 and more, so it must be computed in one step; it is then within 2e-14 rad of ``KNOWN``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import nan, pi
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

import polhode as ph
from polhode_papers.criteria import at_most, order_is
from polhode_papers.drawing import INK, canvas, legend_below, style
from polhode_papers.measure import attempt, whole
from polhode_papers.study import Check, Reporter

BOX = ph.free_body((5.2988, 1.1775, 4.3568))  # [holzinger2021, 7.1]
VECTOR, ANGLES = "rotation_vector", "euler_angles"
METHODS_OF = {VECTOR: "rotation_vector", ANGLES: "euler"}  # prefix of the names of methods that store these parameters
ATTITUDE_OF: dict[str, Any] = {VECTOR: ph.rotation.exp_quaternion, ANGLES: ph.rotation.quaternion_from_euler}
ACCURACY = 1e-13  # of exact final attitudes and runs of some thousand steps, rad; smaller errors count in no order
ROUND_OFF = 1e-12  # round-off of the attitude after some thousand steps, rad
NEAR = 0.2  # how far an observed order may be from the expected one
FLOOR = 1e-17  # where plots show an error of zero

Row = xr.Dataset
"""One row of a trajectory."""


@dataclass(frozen=True)
class Motion:
    """A motion of a body, by default the box of section 7.1, from an angular velocity in the body frame (rad/s).

    ``coordinates`` are the initial rotation parameters of the kind ``chart``: ``rotation_vector`` or ``euler_angles``
    (Cardan angles, XYZ), rad.
    """

    angular_velocity: tuple[float, float, float]
    t_end: float
    coordinates: tuple[float, float, float] = (0.0, 0.0, 0.0)
    chart: str = VECTOR
    system: ph.systems.System = BOX

    def run(self, method: str, step: float, every: int = 1) -> tuple[xr.Dataset, str]:
        """Trajectory without the step guard, and ``completed`` or the reason why it ended early.

        Methods that store these parameters start from them, others from the attitude they describe.
        """
        if method.startswith(METHODS_OF[self.chart]):
            start: dict[str, Any] = {"start": {"coordinates": self.coordinates}}
        else:
            start = {"attitude": ATTITUDE_OF[self.chart](self.coordinates)}
        n = whole(self.t_end, step)
        return attempt(
            self.system, method, step=step, steps=n, every=every, settings={"guard": False},
            angular_velocity=self.angular_velocity, **start,
        )  # fmt: skip

    def end(self, method: str, step: float) -> tuple[Row, str]:
        """The last row of a run, and its outcome."""
        ds, outcome = self.run(method, step, every=whole(self.t_end, step))
        return ds.isel(time=-1), outcome

    def exact(self) -> Row:
        """The exact final state; for a free body only."""
        return self.end("exact", self.t_end)[0]


# The motion near the unstable axis: attitudes at these times by elliptic functions in 60 digits and by Taylor series
# in 45 digits, which agree to 1e-36; the initial data are the printed decimals.
BESIDE_UNSTABLE = (0.01, 0.0, 100.0)  # [holzinger2021, 7.1.3 and 7.1.4]
KNOWN = {
    0.5: (-0.8046733648269444476, 0.01096292398790103634, 0.02700013012828989387, 0.5930021780809696813),
    1.0: (0.01093651713800911394, -0.8510168134644343103, -0.5238482790145478417, -0.03512486821650276129),
}


def from_known(t_end: float) -> str:
    """How far the computed exact attitude is from the known one, in words."""
    end = Motion(BESIDE_UNSTABLE, t_end).exact()
    off = ph.rotation.angle_between(end.attitude.values, KNOWN[t_end])
    return f"the exact flow in one step is {off:.1e} rad from it"


# ------------------------------------------------------------------ errors
def halvings(first: int, last: int, quick: bool = False) -> tuple[float, ...]:
    """Steps 2^-first ... 2^-last; every second one in the reduced form."""
    return tuple(0.5**k for k in range(first, last + 1, 2 if quick else 1))


def parameter_distance(row: Row, reference: Row) -> float:
    """2-norm of the difference of rotation parameters, rad (the paper's error); NaN if the rows have other parameters.

    Cardan angles are compared modulo 2 pi, using the nearer of the two sets that describe the same attitude, as the
    paper converts them. Rotation vectors on either side of their jump at 2 pi are far apart.
    """
    if VECTOR in row and VECTOR in reference:
        return float(np.linalg.norm(row[VECTOR].values - reference[VECTOR].values))
    if ANGLES not in row or ANGLES not in reference:
        return nan
    a1, a2, a3 = row[ANGLES].values
    both = np.array([(a1, a2, a3), (a1 + pi, pi - a2, a3 + pi)]) - reference[ANGLES].values
    return float(np.linalg.norm(np.remainder(both + pi, 2 * pi) - pi, axis=1).min())


def ladder(
    motion: Motion, methods: Mapping[str, str], steps: Sequence[float], report_progress: Reporter,
    truth: Row | None = None, reference: Row | None = None, more: Mapping[str, Callable[[Row], float]] | None = None,
) -> xr.Dataset:  # fmt: skip
    """Errors at the end of a motion over (method, step); NaN of runs that ended early.

    Attitudes are compared with ``truth``, by default the exact final state, rotation parameters with ``reference``, the
    paper's own. ``more``: further functions of the last row, by variable name.
    """
    exact = motion.exact() if truth is None else truth
    measures: dict[str, Callable[[Row], float]] = {
        "attitude_error": lambda row: float(ph.rotation.angle_between(row.attitude.values, exact.attitude.values)),
        **({} if reference is None else {"parameter_error": lambda row: parameter_distance(row, reference)}),
        **(more or {}),
    }
    shape = (len(methods), len(steps))
    results = {name: np.full(shape, nan) for name in measures}
    outcome = np.full(shape, "", dtype=object)
    for i, (label, method) in enumerate(methods.items()):
        report_progress(label)
        for j, h in enumerate(steps):
            row, outcome[i, j] = motion.end(method, h)
            if outcome[i, j] == "completed":
                for name, measure in measures.items():
                    results[name][i, j] = measure(row)
    dims = ("method", "step")
    return xr.Dataset(
        {**{name: (dims, values) for name, values in results.items()}, "outcome": (dims, outcome.astype(str))},
        {"method": list(methods), "step": list(steps)},
    )


def of(data: Any, method: str) -> Any:
    """The data of one method (``method=`` has another meaning in ``sel``)."""
    return data.sel({"method": method})


def by_epsilon(parts: Mapping[float, xr.Dataset]) -> xr.Dataset:
    """Concatenate data of several initial conditions along the dimension ``epsilon``."""
    return xr.concat(parts.values(), xr.DataArray(list(parts), dims="epsilon", name="epsilon"), combine_attrs="drop")


def orders(
    data: xr.Dataset, method: str, floor: float = ACCURACY, variable: str = "attitude_error"
) -> dict[str, float]:
    """Observed order of a method for each epsilon except 0, where it is exact up to round-off."""
    steps, observed = data.step.values, ph.trajectory.convergence.observed_order
    lines = {e: of(data[variable], method).sel(epsilon=e) for e in data.epsilon.values if e}
    return {f"{e:g}": observed(steps, line.values, floor) for e, line in lines.items()}


def first_end(outcomes: xr.DataArray) -> str:
    """``completed``, or the first other outcome."""
    return next((str(x) for x in outcomes.values.ravel() if x != "completed"), "completed")


def ended_or_off(error: float, outcome: str, bound: float) -> Check:
    """Check that a run ended early, or that its error is above a bound (rad)."""
    ended = outcome != "completed"
    return Check(f"ends early, or off by over {bound:g} rad", outcome if ended else error, ended or error > bound)


def order_parts(data: xr.Dataset, method: str, at_zero: float = ROUND_OFF) -> dict[str, Check]:
    """Checks: order 4 for each epsilon, and for eps = 0 errors of at most ``at_zero`` (rad) at every step."""
    parts = {f"eps = {e}: order 4": order_is(order, 4.0, NEAR) for e, order in orders(data, method).items()}
    worst = of(data.attitude_error, method).sel(epsilon=0.0).max(skipna=False)
    return {**parts, "eps = 0: to round-off at every step": at_most(float(worst), at_zero)}


# ------------------------------------------------------------------ angles converted
def continued(angles: Any, sequence: str = "XYZ") -> Any:
    """Euler angles (n, 3) of a run, made continuous: each row is the set nearest to the row before.

    The body must rotate by less than half a turn from row to row.
    """
    q = ph.rotation.quaternion_from_euler(angles, sequence)
    turns = ph.rotation.log_quaternion(ph.rotation.multiply(ph.rotation.conjugate(q[:-1]), q[1:]))
    out = np.array(angles, dtype=float)
    for k, turn in enumerate(turns):
        out[k + 1] = out[k] + ph.rotation.euler_increment(out[k], turn, sequence, branch="continuous")
    return out


# ------------------------------------------------------------------ pictures
def error_panel(ax: Axes, steps: Any, lines: Mapping[str, Any], title: str, ylabel: str = "", open: int = 99) -> None:
    """Errors against the step, one line per label; zeros are drawn at ``FLOOR``, failed runs as crosses.

    Lines from index ``open`` on are dashed with open markers.
    """
    steps = np.asarray(steps)
    for i, (label, y) in enumerate(lines.items()):
        line_style = style(i, i < open)
        if i >= open:
            line_style |= {"markerfacecolor": "none", "markersize": 9}
        ax.loglog(steps, np.maximum(y, FLOOR), label=label, **line_style)
        lost, colour = steps[np.isnan(y)], line_style["color"]
        ax.plot(lost, 0.03 + 0.0 * lost, "x", color=colour, transform=ax.get_xaxis_transform())
    ax.minorticks_off()
    ax.set(xlabel="step $h$ (s)", ylabel=ylabel, title=title)


def slope(ax: Axes, order: int, left: float = 0.06) -> None:
    """A slope triangle of this order in the upper left of a log-log panel whose limits are final."""
    (x0, x1), (y0, y1) = np.log10(ax.get_xlim()), np.log10(ax.get_ylim())
    run = min(0.16 * (x1 - x0), 0.25 * (y1 - y0) / order)
    x, y = x0 + left * (x1 - x0), y1 - 0.04 * (y1 - y0) - order * run
    corners = np.array([[x, y], [x + run, y], [x + run, y + order * run], [x, y]])
    ax.plot(*(10**corners.T), color=INK, linewidth=0.9)
    middle = 10 ** (corners[1] + [0.0, order * run / 2])
    ax.annotate(str(order), middle, (3, 0), textcoords="offset points", va="center")


def history_panel(ax: Axes, time: Any, lines: Mapping[str, Any], title: str, labels: tuple[str, str]) -> None:
    """Time series, later ones thinner, so that coinciding lines remain visible."""
    for i, (label, y) in enumerate(lines.items()):
        ax.plot(time, y, label=label, color=style(i)["color"], linewidth=max(4.8 - 1.7 * i, 1.2))
    ax.set(xlabel=labels[0], ylabel=labels[1], title=title)


def epsilon_label(e: Any) -> str:
    """Label of an initial condition."""
    return rf"$\epsilon = {float(e):g}$" if float(e) in (0.0, 1.0) else rf"$\epsilon = 10^{{{np.log10(float(e)):.0f}}}$"


def epsilon_picture(data: xr.Dataset, rows: Mapping[str, str], methods: Mapping[str, str]) -> Picture:
    """Errors against the step: one row per variable (with its label), one column per method (with its title)."""
    columns = len(methods)
    picture, axes = canvas(len(rows), columns, width=4.0 * columns, height=3.6, sharex=True, sharey=True)
    for i, (name, ylabel) in enumerate(rows.items()):
        for j, (method, title) in enumerate(methods.items()):
            lines = {epsilon_label(e): of(data[name], method).sel(epsilon=e).values for e in data.epsilon}
            error_panel(axes[i, j], data.step, lines, "" if i else title, "" if j else ylabel)
            axes[i, j].label_outer()
    axes[0, 0].set_ylim(3e-18, 1e6)
    for ax in axes.flat:
        slope(ax, 4)
    legend_below(picture, axes[0, 0], 4)
    return picture
