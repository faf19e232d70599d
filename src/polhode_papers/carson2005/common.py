"""Shared by the figures of this paper: its orbits and methods, distances from the conic, plots of the orbital plane.

The paper gives neither step nor tolerance nor its method of order 2. A step of 10 s reproduces its energies to the
digit it names, MATLAB's default tolerances its figure of RK45; both usual methods of order 2 are run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import FormatStrFormatter, NullFormatter

import polhode as ph
from polhode_papers.criteria import order_is
from polhode_papers.drawing import BLUE, COLOURS, GREEN, GREY, INK, ORANGE, PURPLE, VERMILION, style
from polhode_papers.measure import unwarned, whole
from polhode_papers.study import Check, Finding

MU, R0 = 3200.9998, 1664.029  # km^3/s^2, km [carson2005, table 1]
DAY, STEP = 86_400.0, 10.0  # s
DEFAULTS = ph.Tolerance(1e-3, 1e-6)  # tolerances of MATLAB's ode45

CIRCULAR, ELLIPTIC = "circular", "elliptic"
STARTS: dict[str, dict[str, Any]] = {
    name: {key: np.array(value) for key, value in ph.systems.PROBLEMS[f"carson_{name}"].initial.items()}
    for name in (CIRCULAR, ELLIPTIC)
}
"""Position (km) and momentum (kg km/s) of the two orbits, as printed."""

SYMPLECTIC, RK45, RK4, HEUN, MIDPOINT, CONIC = "symplectic", "RK45", "RK4", "RK2 (Heun)", "RK2 (midpoint)", "analytic"
CORRECTED, VERLET, FORCED, GAUSS = "symplectic, corrected", "Verlet", "forced DEL, a = 0", "Gauss 8"
METHODS = {
    SYMPLECTIC: "variational_midpoint",
    RK45: "ode45",
    RK4: "mkrk:rk4",
    HEUN: "mkrk:heun",
    MIDPOINT: "mkrk:explicit_midpoint",
    CONIC: "kepler",
    CORRECTED: "variational_midpoint4",
    VERLET: "v2",
    FORCED: "variational:0",
    GAUSS: "mkrk:gauss8",
}
"""Method string of each label of this study."""

RK2 = (HEUN, MIDPOINT)
COLOUR = {
    SYMPLECTIC: BLUE, RK45: GREEN, RK4: VERMILION, HEUN: ORANGE, MIDPOINT: PURPLE, CONIC: INK, CORRECTED: GREEN,
    VERLET: GREY, FORCED: GREEN, GAUSS: GREEN,
}  # fmt: skip


# ------------------------------------------------------------------ runs
@unwarned()
def run(label: str, orbit_name: str, *, forces: Sequence[Any] = (), start: Mapping[str, Any] | None = None,
        **step_settings: Any) -> xr.Dataset:  # fmt: skip
    """Run the method of this label (or method string) from the initial state of an orbit, by default for a day."""
    step_settings = {"t_end": DAY} | ({} if "steps" in step_settings else {"step": STEP}) | step_settings
    return ph.integrate(
        ph.orbit(MU, forces=list(forces)), METHODS.get(label, label), **step_settings, **(start or STARTS[orbit_name])
    )


def last(label: str, orbit_name: str, *, step: float, t_end: float = DAY, **more: Any) -> xr.Dataset:
    """The last row of a run, with the attributes of the run."""
    return run(label, orbit_name, step=step, t_end=t_end, every=whole(t_end, step), **more).isel(time=-1)


def reference(methods: Sequence[tuple[str, float]], orbit_name: str, forces: Sequence[Any]) -> tuple[Any, float]:
    """Position (km) after a day by the first of two methods with their steps, and its distance from the second."""
    first, second = (last(label, orbit_name, step=h, forces=forces).position.values for label, h in methods)
    return first, float(np.linalg.norm(second - first))


def conic(orbit_name: str, t: Any) -> tuple[Any, Any]:
    """Position (km) and velocity (km/s) on the two-body orbit at times t (s)."""
    start = STARTS[orbit_name]
    r, v = ph.kepler.propagate(start["position"], start["momentum"], t, MU)
    return r, v


def period(orbit_name: str) -> float:
    """Period of the conic, s."""
    return float(ph.kepler.period(STARTS[orbit_name]["position"], STARTS[orbit_name]["momentum"], MU))


def energy_of(orbit_name: str) -> float:
    """Initial energy, km^2/s^2 [carson2005, eq. 1]."""
    start = STARTS[orbit_name]
    return float(ph.kepler.specific_energy(start["position"], start["momentum"], MU))


@cache
def day(orbit_name: str) -> xr.Dataset:
    """A day of one orbit by the methods of its figures, every 10 s, and the steps chosen by RK45.

    ``distance`` is from the position on the conic, ``offset`` of the path; ``chosen_...``: RK45 at its own times.
    """
    labels = [SYMPLECTIC, RK45, RK4, *(RK2 if orbit_name == ELLIPTIC else ()), CONIC]
    times = STEP * np.arange(whole(DAY, STEP) + 1)
    runs = {label: run(label, orbit_name) for label in labels if label != RK45}
    runs[RK45] = run(RK45, orbit_name, t_eval=times, steps=DEFAULTS)
    steps = run(RK45, orbit_name, steps=DEFAULTS)
    positions = np.array([runs[label].position.values for label in labels])
    over = ("method", "time")
    return xr.Dataset(
        {
            "position": ((*over, "axis"), positions),
            "energy": (over, [runs[label].energy.values for label in labels]),
            "distance": (over, np.linalg.norm(positions - conic(orbit_name, times)[0], axis=-1)),
            "offset": (over, [offset(orbit_name, position) for position in positions]),
            "chosen_radius": ("chosen", np.linalg.norm(steps.position, axis=1)),
            "chosen_energy": ("chosen", steps.energy.values),
        },
        {"method": labels, "time": times, "axis": ["x", "y", "z"], "chosen": steps.time.values},
        {
            "steps": f"{STEP:g} s; the paper does not tell it",
            "RK45": f"tolerances {DEFAULTS.rtol:g} and {DEFAULTS.atol:g} (MATLAB's defaults), "
            f"{steps.attrs['steps_accepted']} steps, {steps.attrs['steps_rejected']} rejected",
        },
    )


def shown(orbit_name: str, labels: Sequence[str], *variables: str) -> xr.Dataset:
    """Some methods and variables of ``day``."""
    data = day(orbit_name)
    chosen = [name for name in data.data_vars if str(name).startswith("chosen_")] if RK45 in labels else []
    return data[[*variables, *chosen]].sel({"method": list(labels)})


# ------------------------------------------------------------------ measures
def of(data: xr.DataArray, label: str) -> Any:
    """Values of one method."""
    return data.sel({"method": label}).values


def offset(orbit_name: str, position: Any) -> Any:
    """Radial distance of positions outside the conic, km: the error of the path, without that of the time along it."""
    r, v = STARTS[orbit_name]["position"], STARTS[orbit_name]["momentum"]
    e, h = ph.kepler.eccentricity_vector(r, v, MU), ph.kepler.angular_momentum(r, v)
    size = np.linalg.norm(position, axis=-1)
    return size - float(h @ h) / MU / (1.0 + position @ e / size)


def chord(step: float, orbit_name: str = CIRCULAR) -> float:
    """Largest distance between a circle and the chord over one step, km."""
    return R0 * (1.0 - float(np.cos(np.pi * step / period(orbit_name))))


def revolutions(t: Any, values: Any, T: float) -> Any:
    """Mean of a time series over each whole revolution of period T."""
    integral = np.append(0.0, np.cumsum(0.5 * np.diff(t) * (values[1:] + values[:-1])))
    return np.diff(np.interp(np.arange(int(t[-1] / T) + 1) * T, t, integral)) / T


def order_of(steps: Any, errors: Any) -> float:
    """Order from the errors at the two smallest steps, which come last."""
    return float(np.log(errors[-2] / errors[-1]) / np.log(steps[-2] / steps[-1]))


def orders_kept(data: xr.Dataset, orders: Mapping[str, int], case: str, **at: str) -> Finding:
    """Judge the orders of ``error`` over (scheme, level), with the ``steps`` of each level."""
    lines, steps = lines_of(data.error.sel(at), "scheme"), lines_of(data.steps, "scheme")
    measured = {label: order_of(steps[label].values, lines[label].values) for label in orders}
    parts = {f"{label}, {case}": keeps(measured[label], p) for label, p in orders.items()}
    return Finding(parts, {f"orders, {case}": measured})


def keeps(order: float, promised: int) -> Check:
    """Check that a measured order equals that of the method to within 0.3.

    Position errors contain a part that grows with the square of time and is one order higher in the step; the steps
    must be small enough for it not to dominate.
    """
    return order_is(order, promised, 0.3)


def power(x: Any, y: Any) -> float:
    """Exponent of a power law fitted to all points."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def pick(values: Mapping[str, float], *labels: str) -> dict[str, float]:
    """The values of these labels, in this order."""
    return {label: values[label] for label in labels}


def largest(data: xr.DataArray, labels: Sequence[str]) -> dict[str, float]:
    """The largest magnitude of a variable, by method."""
    return {label: float(np.abs(of(data, label)).max()) for label in labels}


def lines_of(data: xr.DataArray, dim: str = "method") -> dict[str, xr.DataArray]:
    """A variable along the other dimensions, for each label of this one."""
    return {str(label): data.sel({dim: label}) for label in data[dim].values}


# ------------------------------------------------------------------ pictures
DASHED = (0, (5, 4))


def plane(ax: Axes, data: xr.Dataset, labels: Sequence[str]) -> None:
    """Plot paths in the orbital plane, with the centre of the planet."""
    for label in labels:
        x, y, _ = of(data.position, label).T
        dashed: dict[str, Any] = {"linestyle": DASHED, "zorder": 3} if label == CONIC else {}
        ax.plot(x, y, color=COLOUR[label], linewidth=0.9, label=label, **dashed)
    ax.plot(0.0, 0.0, "o", color=INK, markersize=4)
    ax.annotate("centre of\nthe planet", (0.0, 0.0), (0, -6), textcoords="offset points", ha="center", va="top")
    ax.set(xlabel="x (km)", ylabel="y (km)")
    ax.locator_params(nbins=6)
    ax.set_aspect("equal", adjustable="datalim")


def passes(orbit_name: str, labels: Sequence[str], corner: Any, reach: float) -> xr.Dataset:
    """Positions within ``reach`` (km) of a point, for a close-up: ``crossing`` over (method, passing, plane), km."""
    data = day(orbit_name)
    near = np.linalg.norm(of(data.position, CONIC)[:, :2] - corner, axis=1) < reach
    places = data.position.sel({"method": list(labels)})[:, near, :2]
    return xr.Dataset({"crossing": (("method", "passing", "plane"), places.values)}, {
        "method": list(labels), "passing": data.time.values[near], "plane": ["x", "y"]})  # fmt: skip


def conic_nearby(ax: Axes, radius: Callable[[Any], Any], corner: Any) -> None:
    """Plot the conic around the point 45 degrees beside the y axis, seen from ``corner``."""
    angle = np.radians(np.linspace(134.0, 136.0, 2000))
    x, y = radius(angle) * np.cos(angle) - corner[0], radius(angle) * np.sin(angle) - corner[1]
    ax.plot(x, y, linestyle=DASHED, color=COLOUR[CONIC], label=CONIC, zorder=3)


def close_up(ax: Axes, data: xr.Dataset, labels: Sequence[str], corner: Any, half: float) -> None:
    """Plot the passes in a square window about a point, with straight lines between the steps."""
    pauses = np.flatnonzero(np.diff(data.passing) > 1.5 * STEP) + 1
    for label in labels:
        for k, part in enumerate(np.split(of(data.crossing, label), pauses)):
            ax.plot(*(part - corner).T, color=COLOUR[label], linewidth=0.9, label=None if k else label)
    x, y = corner
    ax.set(xlabel=f"x + {-x:.3f} (km)", ylabel=f"y − {y:.3f} (km)", xlim=(-half, half), ylim=(-half, half))
    ax.set_aspect("equal", adjustable="box")


def lines(ax: Axes, data: xr.DataArray, labels: Sequence[str], hours: bool = True) -> None:
    """Plot a variable against time."""
    for label in labels:
        line = data.sel({"method": label})
        ax.plot(line.time / 3600.0, line, color=COLOUR[label], linewidth=1.0, label=label,
                linestyle="--" if label == CONIC else "-")  # fmt: skip
    ax.set(xlim=(0.0, float(data.time[-1]) / 3600.0), xlabel="time (h)")


def digits(ax: Axes, places: int) -> None:
    """Label the vertical axis with this many decimal places."""
    ax.yaxis.set_major_formatter(FormatStrFormatter(f"%.{places}f"))


def order_panel(ax: Axes, data: xr.Dataset, title: str, **at: str) -> None:
    """Errors at the end, ``error`` over (scheme, level), against the ``steps`` of each level."""
    ladder_panel(ax, lines_of(data.steps, "scheme"), lines_of(data.error.sel(at), "scheme"), "step (s)", "km")
    ax.set_title(title)


def ladder_panel(ax: Axes, x: Any, table: Mapping[str, Any], x_label: str, y_label: str) -> None:
    """Errors on logarithmic axes, one line per label; up to six lines use the study's colours where defined."""
    own = {label: COLOUR[label] for label in table if label in COLOUR} if len(table) <= 6 else {}
    free = iter([colour for colour in (*COLOURS, GREY) if colour not in own.values()])
    for i, (label, y) in enumerate(table.items()):
        line_style = style(i, i < 8)
        if own:
            colour = own.get(label) or next(free)
            line_style |= {"color": colour, "markerfacecolor": colour}
        ax.loglog(x[label] if isinstance(x, Mapping) else x, y, label=label, **line_style)
    ax.set(xlabel=x_label, ylabel=y_label)
    ax.xaxis.set_minor_formatter(NullFormatter())
    if not isinstance(x, Mapping):
        ax.set_xticks(x, [f"{float(h):g}" for h in x])
        ax.minorticks_off()
