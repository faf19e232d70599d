"""The claims that are equations: each is a residual, of the formula as printed and, where that fails, corrected."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure as Picture

from polhode.algebra import elliptic, rotation
from polhode.plots.style import GREEN, VERMILION
from polhode.runs.check import stepper
from polhode.runs.single import start_state
from polhode.studies import drawing
from polhode.studies.study import Claim, Figure, Finding, Tell
from polhode.studies.vilmart2013 import printed
from polhode.studies.vilmart2013.common import (
    BOOK,
    EXACT,
    START,
    STATE,
    Y0,
    as_matrix,
    body_map,
    casimir_and_energy,
    distance,
)
from polhode.systems import heavy_top

I, H = np.array([1.0, 1.5, 2.2]), 0.4  # a body whose d_k are of one size, and the step of one-step measurements
MOMENTS = tuple(I)
D = np.diag(I.sum() / 2 - I)
y, Q = STATE
OMEGA = printed.hat(y / I)
ROUND_3, ROUND_1 = np.array(Y0), np.array([0.9, 0.2, -0.3])  # momenta of the two cases of algorithm 1


def rattle_free() -> float:
    return distance(printed.rattle(np.zeros_like, I)(y, Q, H), body_map("dmv2", MOMENTS)(y, Q, H))


def rattle_top() -> float:
    """U = Q33: RATTLE against half a kick, a step of DMV, half a kick."""
    top = heavy_top(MOMENTS, (0.0, 0.0, 1.0), 1.0)
    state = start_state(top, **START)
    gradient = np.zeros((3, 3))
    gradient[2, 2] = 1.0
    composed = as_matrix(stepper("v2/dmv2", top, state)(state, 0.0, H))
    return distance(printed.rattle(lambda Q: gradient, I)(y, Q, H), composed)


def rattle_keeps() -> float:
    y1, Q1 = printed.rattle(np.zeros_like, I)(y, Q, H)
    kept = np.subtract(casimir_and_energy(y1, I), casimir_and_energy(y, I))
    return float(max(np.abs(Q1 @ y1 - Q @ y).max(), np.abs(kept).max()))


def cayley(sign: float) -> float:
    """Omega^T D - D Omega = h hat(y) for the solution of (14)."""
    turn = printed.cayley(printed.fixed_point(H, y, 1.0 / I)[1], sign)
    return float(np.abs(turn @ D - D @ turn.T - H * printed.hat(y)).max())


def midpoint_rule() -> float:
    y1, _ = body_map("implicit_midpoint", MOMENTS)(y, Q, H)
    mean = (y + y1) / 2
    return float(np.abs(y1 - y - H * np.cross(mean, mean / I)).max())


def without_alpha() -> float:
    return distance(printed.algorithm_3(H, y, Q, 1.0 / I, alpha=False), body_map("implicit_midpoint", MOMENTS)(y, Q, H))


def same_as_akw() -> float:
    return distance(printed.algorithm_3(H, y, Q, 1.0 / I, alpha=False), body_map("akw", MOMENTS)(y, Q, H))


def momentum(formula: Callable[..., Any], start: Any) -> float:
    """Over times from a tenth of a period to several periods."""
    exact = body_map("exact", BOOK)
    return max(float(np.abs(formula(start, BOOK, t) - exact(start, Q, t)[0]).max()) for t in (-3.0, 0.8, 2.5, 30.0))


def kinetic(factor: float) -> float:
    """trace(Q' D Q'^T) times a factor against half of omega . J omega."""
    rate = Q @ OMEGA
    return abs(float(factor * np.trace(rate @ D @ rate.T)) - float(y @ (y / I)) / 2)


def constrained() -> float:
    """hat(y) = Q^T P - P^T Q and P on the manifold, for P = Q' D."""
    P = Q @ OMEGA @ D
    bound = Q.T @ P @ np.linalg.inv(D)
    return float(max(np.abs(Q.T @ P - P.T @ Q - printed.hat(y)).max(), np.abs(bound + bound.T).max()))


def quaternion() -> float:
    """|q|^2 I + 2 q0 hat(e) + 2 hat(e)^2 against a product of axis rotations, and their quaternions u, v, a."""

    def matrix(q: Any) -> Any:
        e = printed.hat(q[1:])
        return (q @ q) * np.eye(3) + 2 * q[0] * e + 2 * e @ e

    c, s, angle = np.cos(0.35), np.sin(0.35), float(np.linalg.norm(y))
    a = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) / angle * y])
    parts = [np.array([c, -s, 0.0, 0.0]), np.array([c, 0.0, 0.0, -s]), a]
    turns = [printed.exp([-0.7, 0.0, 0.0]), printed.exp([0.0, 0.0, -0.7]), printed.exp(y)]
    whole = rotation.multiply(rotation.multiply(*parts[:2]), parts[2])
    turns.append(turns[0] @ turns[1] @ turns[2])
    return float(np.abs([matrix(p) - turn for p, turn in zip((*parts, whole), turns, strict=True)]).max())


def by_agm() -> float:
    """sn, cn, dn by the arithmetic-geometric mean against those of the library, for moduli up to 1 - 1e-6."""
    found = []
    for m in (0.1, 0.5, 0.9, 1.0 - 1e-6):
        for u in (-3.0, 0.3, 1.7, 12.0):
            found.append(np.subtract(printed.jacobi_by_agm(u, m), elliptic.jacobi(u, 1.0 - m)[:3]))
    return float(np.abs(found).max())


RESIDUALS: dict[str, Callable[[], float]] = {
    "RATTLE and DMV, free body": rattle_free,
    "RATTLE and kick, DMV, kick, heavy top": rattle_top,
    "change of Qy, C, H by RATTLE": rattle_keeps,
    "transform as printed": partial(cayley, 1.0),
    "transform (I + e)(I - e)^-1": partial(cayley, -1.0),
    "(14), (15) without alpha and the midpoint rule": without_alpha,
    "the midpoint rule of Euler's equations": midpoint_rule,
    "the midpoint rule and AKW": same_as_akw,
    "algorithm 1 and the exact flow, its case": partial(momentum, printed.algorithm_1, ROUND_3),
    "the facsimile's formulas and the exact flow": partial(momentum, printed.jacobi_1850, ROUND_3),
    "algorithm 1 used in the other case": partial(momentum, printed.algorithm_1, ROUND_1),
    "axes 1 and 3 exchanged, the other case": partial(momentum, printed.algorithm_1_other, ROUND_1),
    "sn, cn, dn by the AGM": by_agm,
    "T and trace(Q' D Q'^T)": partial(kinetic, 1.0),
    "T and half of it": partial(kinetic, 0.5),
    "hat(y) = Q^T P - P^T Q": constrained,
    "matrix of a quaternion": quaternion,
}
TURNS = (0.01, 0.1, 0.4, 0.8)  # steps of the fixed point iteration; the body of figure 1 has a speed of 1.25
FEW = 15


def compute(quick: bool, tell: Tell) -> xr.Dataset:
    found = []
    for name, residual in RESIDUALS.items():
        tell(name)
        found.append(residual())
    counts = [printed.fixed_point(h, np.array(Y0), 1.0 / np.array(BOOK))[3] for h in TURNS]
    return xr.Dataset(
        {"residual": ("equation", found), "iterations": ("step", counts)},
        {"equation": list(RESIDUALS), "step": list(TURNS)},
    )


def draw(data: xr.Dataset) -> dict[str, Picture]:
    picture, ((ax,),) = drawing.canvas(1, 1, width=8.0)
    sizes = np.maximum(np.nan_to_num(data.residual.values, nan=10.0), 1e-17)
    ax.barh(np.arange(sizes.size), sizes, color=[GREEN if x < EXACT * 10 else VERMILION for x in sizes], height=0.6)
    ax.set_xscale("log")
    ax.set_xlim(1e-17, 100)
    ax.set_yticks(np.arange(sizes.size), data.equation.values)
    ax.invert_yaxis()
    ax.set_title("residuals of the paper's equations")
    return {"claims": picture}


def hold(*names: str, bound: float = EXACT) -> Callable[[xr.Dataset], Finding]:
    """These equations hold to round-off."""

    def judge(data: xr.Dataset) -> Finding:
        found = {name: float(data.residual.sel(equation=name)) for name in names}
        return Finding({name: bool(x < bound) for name, x in found.items()}, {"residual": found})

    return judge


def few(data: xr.Dataset) -> Finding:
    counts = {f"{float(h):g}": int(n) for h, n in zip(data.step, data.iterations, strict=True)}
    shown = {h: "none succeeds" if n >= printed.MOST_ITERATIONS else n for h, n in counts.items()}
    parts = {f"at most {FEW} at the step {h}": n <= FEW for h, n in counts.items()}
    return Finding(parts, {"iterations by step": shown})


FIGURE = Figure("claims", "equations of the paper", compute, draw, (
    Claim("The formulas of Jacobi and of algorithm 1 solve the Euler equations", "Alg. 1, Fig. 2",
          hold("algorithm 1 and the exact flow, its case", "the facsimile's formulas and the exact flow", bound=1e-12)),
    Claim("Similar formulas hold for c2 k1^2 >= c1 k3^2", "Alg. 1",
          hold("axes 1 and 3 exchanged, the other case", bound=1e-12)),
    Claim("sn, cn, dn can be evaluated by the arithmetic-geometric mean", "Jacobi",
          hold("sn, cn, dn by the AGM", bound=1e-12)),
    Claim("DMV is equivalent to RATTLE applied to the free rigid body equations", "DMV",
          hold("RATTLE and DMV, free body", "RATTLE and kick, DMV, kick, heavy top")),
    Claim("RATTLE exactly conserves Qy, C(y) and H(y) of the free body", "RATTLE",
          hold("change of Qy, C, H by RATTLE")),
    Claim("The rotation of a step is the Cayley transform as printed", "above (13)",
          hold("transform as printed", "transform (I + e)(I - e)^-1")),
    Claim("Equation (14) can be solved by using a few fixed-point iterations", "Alg. 3", few),
    Claim("Suppressing alpha in (14) and (15) yields the implicit midpoint rule", "Remark 4",
          hold("(14), (15) without alpha and the midpoint rule", "the midpoint rule of Euler's equations")),
    Claim("For the free body that is the algorithm AKW, in momentum and attitude", "polhode",
          hold("the midpoint rule and AKW")),
    Claim("The kinetic energy is trace(Q' D Q'^T)", "above (7)", hold("T and trace(Q' D Q'^T)", "T and half of it")),
    Claim("The matrices P = Q' D satisfy the constraint, and their skew part is the momentum", "(7), (8)",
          hold("hat(y) = Q^T P - P^T Q")),
    Claim("A rotation is |q|^2 I + 2 q0 e + 2 e^2 of its quaternion; u, v, a represent U, V, exp", "Quaternions",
          hold("matrix of a quaternion")),
))  # fmt: skip
