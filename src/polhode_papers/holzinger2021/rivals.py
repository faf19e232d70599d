"""Other ways to avoid singular points, section 1: artificial rotation, and Euler parameters with a constraint.

**Artificial rotation** (Shuster). The attitude is composed of an artificial rotation, either none or half a turn about
axis k of space, and a remaining rotation p described by small parameters:

    q = e_k p,     e_0 = 1, e_1 ... e_3 the half turns,     p = (1, g)/sqrt(1 + |g|^2)  or  p = exp(v/2).

The components of p are those of q, permuted and with other signs; choosing the artificial rotation with the largest
scalar part keeps the angle of p within 120 degrees. The rates are those of the parameters of p,

    g' = (w + g x w + (g . w) g)/2,     v' = T^-1(v) w                                             [shuster1993]

and after a step the artificial rotation is changed if another component of q has become the largest.

**Euler parameters with a constraint**: Lagrange's equations of the first kind, with G q' = w/2,

    4 G^T J G q'' + 8 G'^T J G q' + l q = 2 G^T T,     q . q = 1,

a differential-algebraic equation. With the constraint differentiated twice, q'' and the multiplier l follow from a
linear system of five equations in every Runge-Kutta stage.

All are integrated by the classical Runge-Kutta method in NumPy. ``J``: principal moments; ``w``, ``T``: angular
velocity and torque in the body frame.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

import polhode as ph
from polhode_papers import criteria, drawing
from polhode_papers.drawing import GREY, Pictures
from polhode_papers.holzinger2021 import top
from polhode_papers.holzinger2021.updates import multiply
from polhode_papers.measure import whole
from polhode_papers.study import Check, Claim, Figure, Finding, Reporter

J = np.array(top.MOMENTS) + top.MASS * (np.dot(top.CENTRE, top.CENTRE) - np.square(top.CENTRE))  # about the fixed point
CENTRE = np.array(top.CENTRE)
T_END = 1.0
STEPS = tuple(0.01 * 0.5**k for k in range(4, 8))
RODRIGUES, VECTOR = "Rodrigues, artificial rotation", "rotation vector, artificial rotation"
MULTIPLIER, PROJECTED = "Euler parameters, multiplier", "Euler parameters, multiplier, projected"
PROPOSED, TERZE = "proposed (rotation vector)", "Euler parameters, Terze et al."
METHODS = {PROPOSED: "rotation_vector", TERZE: "terze:rk4:exp:free"}
RIVALS = (RODRIGUES, VECTOR, MULTIPLIER, PROJECTED)
DRIFT_ORDER = 5  # of a length that RK4 does not keep: |R(iz)| = 1 - z^6/144, so a step changes it by h^6
MOST_ANGLE = 2.0 * np.pi / 3.0  # rad, of the remaining rotation p: its scalar part is at least 1/2
UNITS = np.eye(4)


# ------------------------------------------------------------------ the heavy top
def cross(a: Any, b: Any) -> Any:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def product(a: Any, b: Any) -> Any:
    return np.array(multiply(a, b))


def conjugate(q: Any) -> Any:
    return q[0], -q[1], -q[2], -q[3]


def torque(q: Any) -> Any:
    """Torque about the fixed point, body frame [holzinger2021, eq. 76]."""
    a, b, c = top.GRAVITY * q[2], -top.GRAVITY * q[1], -top.GRAVITY * q[0]
    gravity = (2.0 * (q[3] * b - q[2] * c), 2.0 * (q[1] * c - q[3] * a), 2.0 * (q[2] * a - q[1] * b) - top.GRAVITY)
    return top.MASS * cross(CENTRE, gravity)


def acceleration(q: Any, w: Any) -> Any:
    """Angular acceleration in the body frame [holzinger2021, eq. 74]."""
    return (cross(J * w, w) + torque(q)) / J


def rk4(f: Callable[[Any], Any], y: Any, h: float) -> Any:
    k1 = f(y)
    k2 = f(y + 0.5 * h * k1)
    k3 = f(y + 0.5 * h * k2)
    k4 = f(y + h * k3)
    return y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


# ------------------------------------------------------------------ artificial rotation
def vector_attitude(v: Any) -> Any:
    half = 0.5 * np.sqrt(v @ v)
    return np.array([np.cos(half), *(0.5 * np.sinc(half / np.pi) * v)])


def rodrigues_attitude(g: Any) -> Any:
    return np.array([1.0, *g]) / np.sqrt(1.0 + g @ g)


def rodrigues_of(p: Any) -> Any:
    return p[1:] / p[0]


def rodrigues_rates(g: Any, w: Any) -> Any:
    return 0.5 * (w + cross(g, w) + (g @ w) * g)


def vector_of(p: Any) -> Any:
    angle = 2.0 * np.arctan2(np.linalg.norm(p[1:]), abs(p[0]))
    return np.copysign(2.0 / np.sinc(0.5 * angle / np.pi), p[0]) * p[1:] if angle > 0.0 else np.zeros(3)


def vector_rates(v: Any, w: Any) -> Any:
    """T^-1(v) w, by its series in |v|^2 up to |v| = 1 (radius of convergence |v| = 2 pi), in closed form beyond."""
    x = v @ v
    half = 0.5 * np.sqrt(x)
    c = (
        (1.0 - half / np.tan(half)) / x
        if x > 1.0
        else 1 / 12 + x / 720 + x**2 / 30240 + x**3 / 1209600 + x**4 / 47900160
    )
    a = cross(v, w)
    return w + 0.5 * a + c * cross(v, a)


CHARTS = {RODRIGUES: (rodrigues_attitude, rodrigues_of, rodrigues_rates),
          VECTOR: (vector_attitude, vector_of, vector_rates)}  # fmt: skip


def with_artificial_rotation(name: str, steps: int) -> dict[str, Any]:
    """Final attitude of the top, number of changes of the artificial rotation, and largest remaining angle (rad)."""
    attitude, parameters, rates = CHARTS[name]
    k, h = 0, T_END / steps
    y = np.array([0.0, 0.0, 0.0, *top.OMEGA])
    changes, largest = 0, 0.0

    def field(y: Any) -> Any:
        return np.concatenate([rates(y[:3], y[3:]), acceleration(product(UNITS[k], attitude(y[:3])), y[3:])])

    for _ in range(steps):
        y = rk4(field, y, h)
        p = attitude(y[:3])
        largest = max(largest, 2.0 * float(np.arccos(min(1.0, abs(p[0])))))
        q = product(UNITS[k], p)
        other = int(np.argmax(np.abs(q)))
        if other != k:
            k, changes = other, changes + 1
            y[:3] = parameters(product(conjugate(UNITS[k]), q))
    return {"attitude": product(UNITS[k], attitude(y[:3])), "changes": changes, "largest": largest}


# ------------------------------------------------------------------ Euler parameters with a constraint
def rates_matrix(q: Any) -> Any:
    """The matrix G, (3, 4): the angular velocity in the body frame is 2 G q'."""
    a, b, c, d = q
    return np.array([(-b, a, d, -c), (-c, -d, a, b), (-d, c, -b, a)])


def constrained_field(y: Any) -> Any:
    """(q', q'') by Lagrange's equations of the first kind with the constraint differentiated twice."""
    q, dq = y[:4], y[4:]
    G, dG = rates_matrix(q), rates_matrix(dq)
    matrix = np.zeros((5, 5))
    matrix[:4, :4] = 4.0 * G.T @ (J[:, None] * G)
    matrix[:4, 4] = matrix[4, :4] = q
    right = np.append(2.0 * G.T @ torque(q / np.linalg.norm(q)) - 8.0 * dG.T @ (J * (G @ dq)), -(dq @ dq))
    return np.concatenate([dq, np.linalg.solve(matrix, right)[:4]])


def with_multiplier(steps: int, projected: bool) -> dict[str, Any]:
    """Final attitude of the top, and the largest deviation of |q| from 1."""
    q = np.array([1.0, 0.0, 0.0, 0.0])
    y = np.concatenate([q, 0.5 * rates_matrix(q).T @ top.OMEGA])
    drift = 0.0
    for _ in range(steps):
        y = rk4(constrained_field, y, T_END / steps)
        drift = max(drift, abs(float(np.linalg.norm(y[:4])) - 1.0))
        if projected:
            y[:4] /= np.linalg.norm(y[:4])
            y[4:] -= (y[:4] @ y[4:]) * y[:4]
    return {"attitude": y[:4] / np.linalg.norm(y[:4]), "drift": drift}


# ------------------------------------------------------------------ the figure
def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    steps = STEPS[:3] if quick else STEPS
    truth = top.exact(T_END).attitude.values[-1]
    names = (*RIVALS, *METHODS)
    error = np.zeros((len(names), len(steps)))
    changes, largest, drift = np.zeros((2, len(steps)), int), np.zeros((2, len(steps))), np.zeros((3, len(steps)))
    for j, h in enumerate(steps):
        report_progress(f"h = {h:g}")
        n = whole(T_END, h)
        results = {name: with_artificial_rotation(name, n) for name in CHARTS}
        for i, name in enumerate(CHARTS):
            changes[i, j], largest[i, j] = results[name]["changes"], results[name]["largest"]
        results |= {MULTIPLIER: with_multiplier(n, False), PROJECTED: with_multiplier(n, True)}
        for name, method in METHODS.items():
            ds = ph.integrate(top.TOP, method, step=h, steps=n, angular_velocity=top.OMEGA)
            results[name] = {"attitude": ds.attitude.values[-1]}
        lengths = np.linalg.norm(
            ds.attitude.values, axis=-1
        )  # of the last method (Terze), stored without normalisation
        drift[:, j] = results[MULTIPLIER]["drift"], results[PROJECTED]["drift"], np.abs(lengths - 1.0).max()
        error[:, j] = [float(ph.rotation.angle_between(results[name]["attitude"], truth)) for name in names]
    return xr.Dataset(
        {"error": (("method", "step"), error), "changes": (("chart", "step"), changes),
         "largest": (("chart", "step"), largest), "drift": (("form", "step"), drift)},
        {"method": list(names), "chart": list(CHARTS), "form": [MULTIPLIER, PROJECTED, TERZE], "step": list(steps)},
        {"motion": f"the heavy top of section 7.2 over {T_END:g} s, RK4; truth: a power series in 30 digits"},
    )  # fmt: skip


def draw(data: xr.Dataset) -> Pictures:
    picture, ((left, right),) = drawing.canvas(1, 2, width=11.0, height=4.6)
    for i, name in enumerate(map(str, data.method.values)):
        # four of them coincide: open markers, from large to small
        line_style = drawing.style(i) | {"markerfacecolor": "none", "markersize": 15.0 - 2.2 * i}
        left.loglog(data.step, data.error.sel({"method": name}), label=name, **line_style)
    left.set(title="heavy top: attitude at $t = 1$ s", xlabel="step $h$ (s)", ylabel="attitude error (rad)")
    drawing.triangle(left, 4)
    for i, name in enumerate(map(str, data.form.values)):
        size = data.drift.sel(form=name)
        right.loglog(data.step, size.where(size > 0.0), label=name, **drawing.style((2, 3, 5)[i]))
    right.axhline(2.0**-52, color=GREY, linewidth=0.8, linestyle=":")
    right.set(title="largest deviation of $|q|$ from 1 before a correction", xlabel="step $h$ (s)")
    for ax in (left, right):
        ax.set_xticks(data.step.values, [f"{h:.3g}" for h in data.step.values])
        ax.minorticks_off()
    drawing.legend_below(picture, left, 3)
    return {"rivals": picture}


# ------------------------------------------------------------------ judges
def order(data: xr.Dataset, name: str, tolerance: float = 0.3) -> Check:
    return criteria.order_within(data.step.values, data.error.sel({"method": name}).values, 4, tolerance, 1e-12)


def artificial(data: xr.Dataset) -> Finding:
    changes = {name: criteria.count(data.changes.sel(chart=name)[-1]) for name in CHARTS}
    parts: dict[str, Any] = {}
    for name in CHARTS:
        parts[f"{name}: order 4"] = order(data, name)
        size = float(data.largest.sel(chart=name).max())
        parts[f"{name}: far from its singular points"] = criteria.at_most(size, MOST_ANGLE + top.OMEGA[1] * max(STEPS))
        parts[f"{name}: the artificial rotation was needed"] = criteria.at_least(changes[name], 2)
    return Finding(parts, {"changes of the artificial rotation in 1 s": changes})


def as_good(data: xr.Dataset) -> Finding:
    """Errors of the alternatives at the smallest step, relative to the proposed approach."""
    ratio = {name: float((data.error.sel({"method": name}) / data.error.sel({"method": PROPOSED})).isel(step=-1))
             for name in RIVALS}  # fmt: skip
    return Finding({f"{name}: the proposed approach is more accurate at the smallest step": criteria.at_least(x, 1.0)
                    for name, x in ratio.items()}, {"errors over those of the proposed approach": ratio})  # fmt: skip


def needs_correction(data: xr.Dataset) -> Finding:
    drift = data.drift.sel(form=MULTIPLIER)
    fall = criteria.order_within(data.step.values, drift.values, DRIFT_ORDER, 0.45, 1e-13)
    parts = {"its constraint deviates by more than round-off": criteria.at_least(float(drift.min()), 1e-12),
             "the deviation is an error of the integrator: it falls with a power of the step": fall,
             "with the constraint kept it is of order 4": order(data, PROJECTED, 0.45)}  # fmt: skip
    return Finding(parts, {"largest deviation of |q|": {f"{h:.2g}": float(x) for h, x in zip(
        data.step.values, drift.values, strict=True)}})  # fmt: skip


def eliminated(data: xr.Dataset) -> Finding:
    size = float(data.drift.sel(form=TERZE).max())
    ratio = float((data.error.sel({"method": TERZE}) / data.error.sel({"method": PROPOSED})).isel(step=-1))
    parts = {"no constraint is solved for, and |q| stays 1": criteria.at_most(size, 1e-12),
             "order 4": order(data, TERZE),
             "as accurate as the proposed approach": criteria.ratio_within(ratio, 1.0, 1.01)}  # fmt: skip
    return Finding(parts, {"largest deviation of |q|": size, "error over that of the proposed approach": ratio})


FIGURE = Figure("rivals", "other ways around singular points: artificial rotation, Euler parameters", compute, draw, (
    Claim("With artificial rotation, Rodrigues parameters or axis and angle meet no singular point", "1, [29], [45]",
          artificial),
    Claim("(to be examined) The proposed approach is more accurate than these rates", "1", as_good, full=("",)),
    Claim("Euler parameters need extra work: renormalisation, or a differential-algebraic equation", "1, [5], [17]",
          needs_correction),
    Claim("The need of solving one is eliminated by the scheme of [51]: no redundancy appears", "1, [51]", eliminated),
))  # fmt: skip
