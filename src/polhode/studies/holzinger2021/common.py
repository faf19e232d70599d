"""What the figures of this paper share: motions and their exact ends, errors over ladders of steps, two kinds of panel.

The exact motion of a free body is the flow ``exact``. For the motion beside the unstable axis, which amplifies the
round-off of every step by 1e8 and more, it must be taken in one step: then it is within 2e-14 rad of ``KNOWN``.
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

from polhode.algebra import rotation
from polhode.plots.style import INK
from polhode.studies import drawing
from polhode.studies.criteria import at_most, order_is
from polhode.studies.measure import attempt, whole
from polhode.studies.study import Check, Tell
from polhode.systems import System, free_body
from polhode.trajectory.convergence import attitude_angle, observed_order

BOX = free_body((5.2988, 1.1775, 4.3568))  # [holzinger2021, 7.1]
VECTOR, ANGLES = "rotation_vector", "euler_angles"
METHODS_OF = {VECTOR: "rotation_vector", ANGLES: "euler"}  # how the names begin of methods that keep these parameters
ATTITUDE_OF: dict[str, Callable[..., Any]] = {VECTOR: rotation.exp_quaternion, ANGLES: rotation.quaternion_from_euler}
ACCURACY = 1e-13  # of exact ends and of runs of some thousand steps, rad: smaller errors say nothing about orders
ROUND_OFF = 1e-12  # of the attitude after some thousand steps, rad
NEAR = 0.2  # how far an observed order may be from the expected one
FLOOR = 1e-17  # where pictures show an error of zero

Row = xr.Dataset
"""One row of a trajectory."""


@dataclass(frozen=True)
class Motion:
    """A motion to be integrated.

    Attributes
    ----------
    angular_velocity : tuple of float
        In the body frame.
    t_end : float
        How long.
    coordinates : tuple of float
        Initial rotation parameters.
    chart : str
        What they are: ``rotation_vector`` or ``euler_angles`` (Cardan angles, XYZ).
    system : System
        The box by default.
    """

    angular_velocity: tuple[float, float, float]
    t_end: float
    coordinates: tuple[float, float, float] = (0.0, 0.0, 0.0)
    chart: str = VECTOR
    system: System = BOX

    def run(self, method: str, step: float, every: int = 1) -> tuple[xr.Dataset, str]:
        """What was computed, without the guard, and ``completed`` or why it ended early.

        Methods that keep these parameters begin with them, others with their attitude.
        """
        if method.startswith(METHODS_OF[self.chart]):
            start: dict[str, Any] = {"coordinates": self.coordinates}
        else:
            start = {"attitude": ATTITUDE_OF[self.chart](self.coordinates)}
        n = whole(self.t_end, step)
        return attempt(
            self.system, method, step=step, steps=n, every=every, guard=False,
            angular_velocity=self.angular_velocity, **start,
        )  # fmt: skip

    def end(self, method: str, step: float) -> tuple[Row, str]:
        """The last row of a run."""
        ds, outcome = self.run(method, step, every=whole(self.t_end, step))
        return ds.isel(time=-1), outcome

    def exact(self) -> Row:
        """The exact end, of a free body."""
        return self.end("exact", self.t_end)[0]


# The motion beside the unstable axis: attitudes at these times from elliptic functions in 60 digits and from Taylor
# series in 45, which agree to 1e-36; the data are the printed decimals.
BESIDE_UNSTABLE = (0.01, 0.0, 100.0)  # [holzinger2021, 7.1.3 and 7.1.4]
KNOWN = {
    0.5: (-0.8046733648269444476, 0.01096292398790103634, 0.02700013012828989387, 0.5930021780809696813),
    1.0: (0.01093651713800911394, -0.8510168134644343103, -0.5238482790145478417, -0.03512486821650276129),
}


def from_known(t_end: float) -> str:
    """How far the exact end is from the known attitude."""
    end = Motion(BESIDE_UNSTABLE, t_end).exact()
    return f"the exact flow in one step is {attitude_angle(end.attitude.values, KNOWN[t_end]):.1e} rad from it"


# ------------------------------------------------------------------ errors
def halvings(first: int, last: int, quick: bool = False) -> tuple[float, ...]:
    """Steps 2^-first ... 2^-last; every second of them in the reduced form."""
    return tuple(0.5**k for k in range(first, last + 1, 2 if quick else 1))


def parameter_distance(row: Row, reference: Row) -> float:
    """2-norm of the difference of rotation parameters, the paper's error; NaN where a row has other parameters.

    Cardan angles count up to whole turns, and as the nearer one of the two sets that mean the same attitude: that is
    the conversion of the paper. Rotation vectors on two sides of their jump at 2 pi are far apart.
    """
    if VECTOR in row and VECTOR in reference:
        return float(np.linalg.norm(row[VECTOR].values - reference[VECTOR].values))
    if ANGLES not in row or ANGLES not in reference:
        return nan
    a1, a2, a3 = row[ANGLES].values
    both = np.array([(a1, a2, a3), (a1 + pi, pi - a2, a3 + pi)]) - reference[ANGLES].values
    return float(np.linalg.norm(np.remainder(both + pi, 2 * pi) - pi, axis=1).min())


def ladder(
    motion: Motion, methods: Mapping[str, str], steps: Sequence[float], report_progress: Tell, truth: Row | None = None,
    reference: Row | None = None, more: Mapping[str, Callable[[Row], float]] | None = None,
) -> xr.Dataset:  # fmt: skip
    """Errors at the end of a motion, of methods on a ladder of steps.

    Parameters
    ----------
    methods : mapping
        Method string of each label.
    truth : one row of a trajectory
        What attitudes are compared with: the exact end by default.
    reference : one row of a trajectory
        What rotation parameters are compared with: the paper's own reference.
    more : mapping of functions
        Further measures of the last row, by the name of their variable.

    Returns
    -------
    xarray.Dataset
        ``attitude_error`` (angle, rad), ``parameter_error``, ``outcome`` and the further measures over (method, step);
        errors of runs that ended early are NaN.
    """
    exact = motion.exact() if truth is None else truth
    measures: dict[str, Callable[[Row], float]] = {
        "attitude_error": lambda row: float(attitude_angle(row.attitude.values, exact.attitude.values)),
        **({} if reference is None else {"parameter_error": lambda row: parameter_distance(row, reference)}),
        **(more or {}),
    }
    shape = (len(methods), len(steps))
    found = {name: np.full(shape, nan) for name in measures}
    outcome = np.full(shape, "", dtype=object)
    for i, (label, method) in enumerate(methods.items()):
        report_progress(label)
        for j, h in enumerate(steps):
            row, outcome[i, j] = motion.end(method, h)
            if outcome[i, j] == "completed":
                for name, measure in measures.items():
                    found[name][i, j] = measure(row)
    dims = ("method", "step")
    return xr.Dataset(
        {**{name: (dims, values) for name, values in found.items()}, "outcome": (dims, outcome.astype(str))},
        {"method": list(methods), "step": list(steps)},
    )


def of(data: Any, method: str) -> Any:
    """The data of one method (``method=`` means something else to ``sel``)."""
    return data.sel({"method": method})


def by_epsilon(parts: Mapping[float, xr.Dataset]) -> xr.Dataset:
    """Data of several initial conditions along the dimension ``epsilon``."""
    return xr.concat(parts.values(), xr.DataArray(list(parts), dims="epsilon", name="epsilon"), combine_attrs="drop")


def orders(
    data: xr.Dataset, method: str, floor: float = ACCURACY, variable: str = "attitude_error"
) -> dict[str, float]:
    """Observed order of a method for each initial condition but eps = 0, where it is exact up to round-off."""
    steps, lines = data.step.values, of(data[variable], method)
    return {f"{float(e):g}": observed_order(steps, lines.sel(epsilon=e).values, floor) for e in data.epsilon if e}


def order_parts(data: xr.Dataset, method: str, at_zero: float = ROUND_OFF) -> dict[str, Check]:
    """Whether a method has order 4 for each initial condition, and for eps = 0 errors below ``at_zero`` everywhere."""
    parts = {f"eps = {e}: order 4": order_is(order, 4.0, NEAR) for e, order in orders(data, method).items()}
    worst = of(data.attitude_error, method).sel(epsilon=0.0).max(skipna=False)
    return {**parts, "eps = 0: to round-off at every step": at_most(float(worst), at_zero)}


# ------------------------------------------------------------------ angles converted
def continued(angles: Any, sequence: str = "XYZ") -> Any:
    """Euler angles (n, 3) of the attitudes of a run, each the nearest to the one before.

    From row to row the body may turn by less than half a turn.
    """
    q = rotation.quaternion_from_euler(angles, sequence)
    turns = rotation.log_quaternion(rotation.multiply(rotation.conjugate(q[:-1]), q[1:]))
    out = np.array(angles, dtype=float)
    for k, turn in enumerate(turns):
        out[k + 1] = out[k] + rotation.euler_increment(out[k], turn, sequence, branch="continuous")
    return out


# ------------------------------------------------------------------ pictures
def error_panel(ax: Axes, steps: Any, lines: Mapping[str, Any], title: str, ylabel: str = "", open: int = 99) -> None:
    """Errors against the step, one line for each label; zeros are shown at the floor, crosses are runs that failed.

    Lines from the number ``open`` on are dashed, with open marks.
    """
    steps = np.asarray(steps)
    for i, (label, y) in enumerate(lines.items()):
        line_style = (
            drawing.style(i) if i < open else drawing.style(i, False) | {"markerfacecolor": "none", "markersize": 9}
        )
        ax.loglog(steps, np.maximum(y, FLOOR), label=label, **line_style)
        lost = np.isnan(y)
        ax.plot(
            steps[lost], 0.03 + 0.0 * steps[lost], "x", color=line_style["color"], transform=ax.get_xaxis_transform()
        )
    ax.minorticks_off()
    ax.set_xlabel("step $h$ (s)")
    ax.set_ylabel(ylabel)
    ax.set_title(title)


def slope(ax: Axes, order: int, left: float = 0.06) -> None:
    """A triangle of this slope in the upper left of a log-log panel, whose limits are settled."""
    (x0, x1), (y0, y1) = np.log10(ax.get_xlim()), np.log10(ax.get_ylim())
    run = min(0.16 * (x1 - x0), 0.25 * (y1 - y0) / order)
    x, y = x0 + left * (x1 - x0), y1 - 0.04 * (y1 - y0) - order * run
    corners = np.array([[x, y], [x + run, y], [x + run, y + order * run], [x, y]])
    ax.plot(*(10**corners.T), color=INK, linewidth=0.9)
    middle = 10 ** (corners[1] + [0.0, order * run / 2])
    ax.annotate(str(order), middle, (3, 0), textcoords="offset points", va="center")


def history_panel(ax: Axes, time: Any, lines: Mapping[str, Any], title: str, labels: tuple[str, str]) -> None:
    """Series over time, the later ones thinner, so that lines under lines are seen."""
    for i, (label, y) in enumerate(lines.items()):
        ax.plot(time, y, label=label, color=drawing.style(i)["color"], linewidth=max(4.8 - 1.7 * i, 1.2))
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    ax.set_title(title)


def epsilon_label(e: Any) -> str:
    """The initial condition as a person writes it."""
    return rf"$\epsilon = {float(e):g}$" if float(e) in (0.0, 1.0) else rf"$\epsilon = 10^{{{np.log10(float(e)):.0f}}}$"


def epsilon_lines(data: xr.DataArray, method: str) -> dict[str, Any]:
    """The lines of a method, one for each initial condition."""
    return {epsilon_label(e): of(data, method).sel(epsilon=e).values for e in data.epsilon}


def epsilon_picture(data: xr.Dataset, rows: Mapping[str, str], methods: Mapping[str, str]) -> Picture:
    """Errors against the step: a row for each variable and its label, a column for each method and its title."""
    picture, axes = drawing.canvas(
        len(rows), len(methods), width=4.0 * len(methods), height=3.6, sharex=True, sharey=True
    )
    for i, (name, ylabel) in enumerate(rows.items()):
        for j, (method, title) in enumerate(methods.items()):
            lines = epsilon_lines(data[name], method)
            error_panel(axes[i, j], data.step, lines, "" if i else title, "" if j else ylabel)
            axes[i, j].label_outer()
    axes[0, 0].set_ylim(3e-18, 1e6)
    for ax in axes.flat:
        slope(ax, 4)
    drawing.legend_below(picture, axes[0, 0], 4)
    return picture
