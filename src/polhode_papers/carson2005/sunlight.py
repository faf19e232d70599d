"""Solar radiation pressure on the elliptic orbit, without and with the shadow of the planet."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import drawing
from polhode_papers.carson2005 import common
from polhode_papers.criteria import at_most, falling
from polhode_papers.measure import relative_energy_error, unwarned, whole
from polhode_papers.study import Claim, Figure, Finding, Reporter

SIZE, RADIUS = 1e-7, 1560.8  # acceleration of a large sail, km/s^2; radius of Europa, km
SUN = (0.8, -0.5, 0.33166247903554)  # unit vector towards the Sun
LIGHT: dict[str, dict[str, Any]] = {"no shadow": {"shadow": "none"}, "shadow": {"shadow": "cylinder", "radius": RADIUS}}
ORDERS = {common.SYMPLECTIC: 2, common.RK4: 4, "rkn6_14a": 6, common.GAUSS: 8}
STEPS = {common.SYMPLECTIC: (40.0, 20.0, 10.0), common.RK4: (20.0, 5.0, 2.5), "rkn6_14a": (400.0, 200.0, 100.0),
         common.GAUSS: (480.0, 240.0, 120.0)}  # fmt: skip
REFERENCE = (("mkrk:gauss12", 50.0), ("rkn8_17", 50.0))
LABELS = (common.SYMPLECTIC, common.RK4, common.GAUSS)
UNCUT = (200.0, 160.0, 100.0, 80.0, 60.0, 50.0, 40.0, 32.0, 25.0, 20.0, 16.0, 12.5, 10.0)  # s, of RK4


def light(kind: str) -> list[ph.forces.Force]:
    return [ph.forces.radiation_pressure(SIZE, direction=SUN, **LIGHT[kind])]


def unaware(t, r, v, parameters):  # type: ignore[no-untyped-def]
    """Gravity and light with the shadow as a branch in the force, so that the run cannot detect its edges."""
    x, y, z = r
    mu, size, sx, sy, sz, radius = parameters
    square = x * x + y * y + z * z
    k = -mu / (square * np.sqrt(square))
    along = x * sx + y * sy + z * sz
    lit = 0.0 if along < 0.0 and square - along * along < radius * radius else size
    return (k * x - lit * sx, k * y - lit * sy, k * z - lit * sz)


@unwarned()
def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    errors, reference_gaps, truth = np.zeros((len(LIGHT), len(ORDERS), 3)), [], {}
    for i, kind in enumerate(LIGHT):
        report_progress(f"reference, {kind}")
        truth[kind], gap = common.reference(REFERENCE, common.ELLIPTIC, light(kind))
        reference_gaps.append(gap)
        for j, label in enumerate(ORDERS):
            report_progress(f"{label}, {kind}")
            ends = [common.last(label, common.ELLIPTIC, step=h, forces=light(kind)) for h in STEPS[label]]
            errors[i, j] = [np.linalg.norm(run.position - truth[kind]) for run in ends]
    report_progress("steps that ignore the shadow's edge")
    blind = ph.particle(force=unaware, parameters=(common.MU, SIZE, *SUN, RADIUS))
    given = {"t_end": common.DAY} | common.STARTS[common.ELLIPTIC]
    unseen = [ph.integrate(blind, "mkrk:rk4", step=h, every=whole(common.DAY, h), **given) for h in UNCUT]
    uncut = [np.linalg.norm(run.isel(time=-1).position - truth["shadow"]) for run in unseen]
    t = 60.0 * np.arange(round(common.DAY / 60.0) + 1)
    runs = [[common.run(k, common.ELLIPTIC, forces=light(kind), t_eval=t) for k in LABELS] for kind in LIGHT]
    eclipses = [ph.events.eclipse(RADIUS, direction=SUN)]
    result = common.run(common.GAUSS, common.ELLIPTIC, forces=light("shadow"), events=eclipses)
    over = ("light", "method", "time")
    return xr.Dataset(
        {
            "energy": (over, [[ds.energy.values for ds in row] for row in runs]),
            "unaccounted": (over, [[relative_energy_error(ds).values for ds in row] for row in runs]),
            "error": (("light", "scheme", "level"), errors),
            "steps": (("scheme", "level"), list(STEPS.values())),
            "uncut": ("uncut_step", uncut),
            "crossing": ("edge", result.event_time.values),
            "edge_kind": ("edge", result.event_kind.values.astype(str)),
        },
        dict(light=list(LIGHT), method=list(LABELS), time=t, scheme=list(ORDERS), level=range(3))
        | {"uncut_step": list(UNCUT), "edge": np.arange(result.event_time.size)},
        {
            "reference": ", ".join(f"{method} with steps of {h:g} s" for method, h in REFERENCE)
            + f" differ by {max(reference_gaps):.1e} km",
            "light": f"{SIZE:g} km/s^2, shadow a cylinder of radius {RADIUS:g} km",
        },
    )


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, (axes,) = drawing.canvas(1, 3, width=12.6, height=4.0)
    hours = data.time / 3600
    energy = data.energy.sel({"light": "shadow", "method": common.GAUSS})
    start = float(energy[0])
    axes[0].plot(hours, 1e6 * (energy - start) / abs(start), color=common.COLOUR[common.GAUSS])
    edges = data.crossing.values / 3600
    for a, b, kind in zip([0.0, *edges[:-1]], edges, data.edge_kind.values, strict=True):
        if kind == "shadow_exit":
            axes[0].axvspan(a, b, color="#e4e4e4", linewidth=0)
    axes[0].set(title="energy with eclipses (grey)", xlabel="time (h)", ylabel="change, millionths", xlim=(0, 24))
    for label in LABELS:
        y = np.abs(data.unaccounted.sel({"light": "shadow", "method": label}))
        axes[1].semilogy(hours, y.where(y > 0), color=common.COLOUR[label], linewidth=0.8)
    axes[1].set(title="change less the work of the light", xlabel="time (h)", ylabel="relative to the energy")
    common.order_panel(axes[2], data, "error at the end, with eclipses", light="shadow")
    axes[2].loglog(data.uncut_step, data.uncut, "x--", color=common.COLOUR[common.RK4], label="RK4, edges ignored")
    drawing.legend_below(picture, axes[2], 5)
    return {"sunlight": picture}


def steady(data: xr.Dataset) -> Finding:
    """Judge energy conservation without shadow, where light has a potential."""
    t, T = data.time.values, common.period(common.ELLIPTIC)
    line = data.unaccounted.sel(light="no shadow")
    means = {k: common.revolutions(t, common.of(line, k), T) for k in (common.SYMPLECTIC, common.RK4)}
    move, swing = {k: float(x[-1] - x[0]) for k, x in means.items()}, float(np.ptp(common.of(line, common.SYMPLECTIC)))
    parts = {
        "symplectic: its mean does not move (by 1 % of the swing)": at_most(abs(move[common.SYMPLECTIC]) / swing, 0.01),
        "RK4 loses energy in every revolution": falling(means[common.RK4]),
    }
    return Finding(parts, {"move of the mean, relative": move, "symplectic swing": swing})


def orders(data: xr.Dataset) -> Finding:
    slope = common.power(data.uncut_step, data.uncut)
    ignored = {"RK4 that ignores the edges falls below order 3": at_most(slope, 3.0)}
    return Finding.joined(
        [
            Finding({}, {"edges met": int(data.crossing.size)}),
            *(common.orders_kept(data, ORDERS, kind, light=kind) for kind in LIGHT),
            Finding(ignored, {"slope of RK4 that ignores them": slope}),
        ]
    )


def accounted(data: xr.Dataset) -> Finding:
    residual = common.largest(data.unaccounted.sel(light="shadow"), LABELS)
    change = float(np.ptp(common.of(data.energy.sel(light="shadow"), common.GAUSS))) / abs(float(data.energy[0, 0, 0]))
    parts = {
        f"{common.GAUSS}: to round-off": at_most(residual[common.GAUSS], 1e-12),
        "RK4: to a thousandth of the change": at_most(residual[common.RK4] / change, 1e-3),
    }
    return Finding(parts, {"change less work, relative": residual, "swing of the energy": change})


CLAIMS = (
    Claim(
        "(to be determined) Symplectic integration remains valid: without shadow, light has a potential",
        "objective",
        steady,
    ),
    Claim(
        "Radiation pressure can be incorporated, starts and stops included, with known accuracies",
        "future steps",
        orders,
    ),
    Claim("(to be examined) The change of the energy is the work of the light", "objective", accounted),
)
FIGURE = Figure("sunlight", f"solar radiation pressure, {common.DAY:g} s", compute, draw, CLAIMS)
