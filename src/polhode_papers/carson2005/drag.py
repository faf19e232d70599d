"""Drag: forced discrete Euler-Lagrange equations against Runge-Kutta methods at equal numbers of load evaluations.

The drag is a_drag = -kd exp(-(r - r0) / 50 km) |v| v, so weak that the orbit loses less than a hundredth of its energy
in ten days. The measure is the error of the energy relative to this loss.

Verlet with drag is the explicit form of the forced equations with alpha = 0: kicks by gravity and drag at a fixed
position. Within a kick only drag is evaluated again, which is not counted. The forced equations are solved by
iterations that evaluate all loads, and all of these are counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import drawing
from polhode_papers.carson2005 import common
from polhode_papers.carson2005.claims import gradient
from polhode_papers.criteria import at_least, at_most
from polhode_papers.measure import named, whole
from polhode_papers.study import Check, Claim, Figure, Finding, Reporter

SCALE = 50.0  # km
AIR = {common.CIRCULAR: 2e-9, common.ELLIPTIC: 2e-8}  # kd, 1/km
STAGES = {common.VERLET: 1, common.FORCED: 1, common.SYMPLECTIC: 1, common.MIDPOINT: 2, common.HEUN: 2, common.RK4: 4}
COUNTS = (1728, 3456, 8640, 17_280)  # load evaluations per day; the symplectic rule uses the steps of Verlet
RK2 = (common.MIDPOINT, common.HEUN)
VARIATIONAL = (common.VERLET, common.FORCED, common.SYMPLECTIC)
REFERENCE = (("mkrk:gauss12", 50.0), ("mkrk:cv8", 10.0))


def air(kd: float) -> list[ph.forces.Force]:
    return [ph.forces.drag(kd=kd, radius=common.R0, scale=SCALE)]


def residual(kd: float) -> float:
    """Residual of the midpoint rule with drag in the forced equations (28), relative to the momentum."""
    ds = common.run(common.SYMPLECTIC, common.ELLIPTIC, forces=air(kd))
    q = ds.position.values
    middle, v = 0.5 * (q[1:] + q[:-1]), np.diff(q, axis=0) / common.STEP
    pull = -np.array([gradient(np.concatenate([x, np.zeros(3)]))[:3] for x in middle])
    density = kd * np.exp(-(np.linalg.norm(middle, axis=1) - common.R0) / SCALE) * np.linalg.norm(v, axis=1)
    F = 0.5 * common.STEP * (-density[:, None] * v)  # [carson2005, eq. 28], F_d^- and F_d^+
    defect = (0.5 * common.STEP * pull - v + F)[1:] + (0.5 * common.STEP * pull + v + F)[:-1]
    return float(np.abs(defect).max() / np.linalg.norm(v, axis=1).min())


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    days = 2 if quick else 10
    counts = COUNTS[:3] if quick else COUNTS
    shape = (len(AIR), len(STAGES), len(counts))
    energy, position, spent = np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape, np.nan)
    decay, reference_gaps = [], []
    for i, (name, kd) in enumerate(AIR.items()):
        report_progress(f"reference, {name}")
        ends = [common.last(method, name, step=h, t_end=days * common.DAY, forces=air(kd)) for method, h in REFERENCE]
        E0, E1 = float(common.run(common.RK4, name, t_end=common.STEP, forces=air(kd)).energy[0]), float(ends[0].energy)
        decay.append((E1 - E0) / abs(E0))
        reference_gaps.append(abs(float(ends[1].energy) - E1) / abs(E1 - E0))
        for j, (label, s) in enumerate(STAGES.items()):
            report_progress(f"{label}, {name}")
            for k, n in enumerate(counts):
                h = s * common.DAY / n
                if whole(days * common.DAY, h):
                    end = common.last(label, name, step=h, t_end=days * common.DAY, forces=air(kd))
                    energy[i, j, k] = abs(float(end.energy) - E1) / abs(E1 - E0)
                    position[i, j, k] = np.linalg.norm(end.position - ends[0].position)
                    spent[i, j, k] = end.attrs["load_evaluations"] / days
    over = ("orbit", "method", "count")
    return xr.Dataset(
        {"energy": (over, energy), "place": (over, position), "spent": (over, spent), "decay": ("orbit", decay),
         "forced_residual": ("law", [residual(2e-6)])},
        {"orbit": list(AIR), "method": list(STAGES), "count": list(counts), "law": ["(28)"]},
        {"span": f"{days} days", "air": ", ".join(f"{name} kd = {kd:g}/km" for name, kd in AIR.items()),
         "reference": f"{' and '.join(m for m, _ in REFERENCE)} differ by {max(reference_gaps):.1e} of the decay"},
    )  # fmt: skip


def draw(data: xr.Dataset) -> drawing.Pictures:
    picture, (axes,) = drawing.canvas(1, 2, width=10.6, height=4.3, sharey=True)
    for ax, name in zip(axes, AIR, strict=True):
        x, table = (common.lines_of(data[kind].sel(orbit=name)) for kind in ("spent", "energy"))
        common.ladder_panel(ax, x, table, "load evaluations a day", "error of the energy / its decay")
        ax.set_title(f"{name} orbit, {data.attrs['span']}")
    axes[1].set_ylabel("")
    drawing.legend_below(picture, axes[0], 6)
    return {"drag": picture}


def values(data: xr.Dataset, name: str, label: str) -> Any:
    """Energy errors relative to the decay, by nominal evaluation count."""
    return common.of(data.energy.sel(orbit=name), label)


def at_cost(data: xr.Dataset, name: str, rival: str, label: str) -> np.ndarray:
    """Error of ``rival`` over that of a method at equal evaluations; log-log interpolation between the rival's runs."""
    n, e = (np.log(common.of(data[kind].sel(orbit=name), rival)) for kind in ("spent", "energy"))
    x = np.log(common.of(data.spent.sel(orbit=name), label))
    k = np.clip(np.searchsorted(n, x) - 1, 0, n.size - 2)
    rival_error = np.exp(e[k] + (x - n[k]) * (e[k + 1] - e[k]) / (n[k + 1] - n[k]))
    return np.asarray(rival_error / values(data, name, label))


def tracks(data: xr.Dataset) -> Finding:
    """Compare with Runge-Kutta methods of the same order."""
    parts: dict[str, Check] = {}
    numbers: dict[str, Any] = {}
    for name in AIR:
        for label, least in ((common.VERLET, 10.0), (common.FORCED, 1.0)):
            gain = np.min([at_cost(data, name, rk2, label) for rk2 in RK2], axis=0)
            words = "ten times better" if least > 1.0 else "better"
            parts[f"{label}, {name}: {words} than either RK2 at every cost"] = at_least(float(gain.min()), least)
            numbers[f"{label}, {name}: the better RK2 over it"] = counted(data, gain)
    return Finding(parts, numbers)


def counted(data: xr.Dataset, x: np.ndarray) -> dict[str, float]:
    return {f"{int(n)}/day": float(y) for n, y in zip(data["count"].values, x, strict=True)}


def traditional(data: xr.Dataset) -> Finding:
    """Compare with RK4 at equal cost."""
    parts: dict[str, Check] = {}
    numbers: dict[str, Any] = {}
    for name in AIR:
        gain = at_cost(data, name, common.RK4, common.VERLET)
        for n, g in zip(data["count"].values, gain, strict=True):
            parts[f"{name}, {int(n)} evaluations a day"] = at_least(float(g), 1.0)
        numbers[f"{name}: RK4 over {common.VERLET}"] = counted(data, gain)
    return Finding(parts, numbers)


def derivable(data: xr.Dataset) -> Finding:
    error = float(data.forced_residual[0])
    words = "the midpoint rule with drag satisfies (28), F_d = (h/2) F(q_m, v_m) at either end"
    return Finding({words: at_most(error, 1e-12)}, {"largest residual, relative to the momentum, kd = 2e-6/km": error})


def elements(data: xr.Dataset) -> Finding:
    """Judge what is preserved of the forced dynamics: the decay, to 10 % even at the largest step."""
    worst = {name: {label: float(values(data, name, label)[0]) for label in STAGES} for name in AIR}
    parts = {f"{label}, {name}: decay to 10 % at the largest step": at_most(worst[name][label], 0.1)
             for name in AIR for label in VARIATIONAL}  # fmt: skip
    parts |= {f"{label}, {name}: not so": at_least(worst[name][label], 0.1) for name in AIR for label in RK2}
    return Finding(parts, {f"error / decay, {name}": worst[name] for name in AIR} | {
        "decay": named(data.decay)})  # fmt: skip


CLAIMS = (
    Claim(
        "From the forced DEL equations an implicit algorithm is likely derivable, as in theorem 1", "(28)", derivable
    ),
    Claim(
        "Can forced DEL equations preserve some element of the forced dynamics? Of the loss of energy",
        "future steps",
        elements,
    ),
    Claim(
        "... thus providing an even higher accuracy than traditional techniques: than RK of equal order",
        "future steps",
        tracks,
        ("",),
    ),
    Claim("... than RK4", "future steps", traditional),
)
FIGURE = Figure("drag", "drag: forced variational integrators against Runge-Kutta", compute, draw, CLAIMS)
