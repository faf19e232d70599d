"""Claims that are equations: residuals of each formula as printed and, where that fails, corrected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from scipy.integrate import solve_ivp

import polhode as ph
from polhode_papers import criteria, drawing
from polhode_papers.drawing import GREEN, VERMILION, Pictures
from polhode_papers.measure import derivative
from polhode_papers.study import Claim, Figure, Finding, Reporter
from polhode_papers.vilmart2013 import common, printed

I, H = np.array([1.0, 1.5, 2.2]), 0.4  # a body with d_k of similar size, and the step of the one-step measurements
MOMENTS = tuple(I)
D = np.diag(I.sum() / 2 - I)
y, Q = common.STATE
OMEGA = printed.hat(y / I)
ROUND_3, ROUND_1 = np.array(common.Y0), np.array([0.9, 0.2, -0.3])  # momenta of the two cases of algorithm 1


def rattle_free() -> float:
    return common.distance(printed.rattle(np.zeros_like, I)(y, Q, H), common.body_map("dmv2", MOMENTS)(y, Q, H))


def rattle_top() -> float:
    """For U = Q33: RATTLE against half a kick, a DMV step, half a kick."""
    return common.distance(printed.rattle(weight, I)(y, Q, H), top_after("v2/dmv2", H))


def top_after(method: str, h: float, n: int = 1) -> tuple[Any, Any]:
    """Momentum and matrix of the library's heavy top, for U = Q33, after n steps."""
    top = ph.heavy_top(MOMENTS, (0.0, 0.0, 1.0), 1.0)
    state = ph.runs.start_state(top, **common.START)
    return common.as_matrix(ph.checks.stepper(method, top, state)(state, 0.0, h, n))


def rattle_keeps() -> float:
    y1, Q1 = printed.rattle(np.zeros_like, I)(y, Q, H)
    changes = np.subtract(common.casimir_and_energy(y1, I), common.casimir_and_energy(y, I))
    return float(max(np.abs(Q1 @ y1 - Q @ y).max(), np.abs(changes).max()))


def cayley(sign: float) -> float:
    """Residual of Omega D - D Omega^T = h hat(y), Omega the Cayley transform of the solution of (14)."""
    turn = printed.cayley(printed.fixed_point(H, y, 1.0 / I)[1], sign)
    return float(np.abs(turn @ D - D @ turn.T - H * printed.hat(y)).max())


def midpoint_rule() -> float:
    y1, _ = common.body_map("implicit_midpoint", MOMENTS)(y, Q, H)
    mean = (y + y1) / 2
    return float(np.abs(y1 - y - H * np.cross(mean, mean / I)).max())


def from_algorithm_3(method: str) -> float:
    """Distance of a step of a polhode method from (14), (15) without alpha."""
    step = printed.algorithm_3(H, y, Q, 1.0 / I, alpha=False)
    return common.distance(step, common.body_map(method, MOMENTS)(y, Q, H))


def momentum(formula: Callable[..., Any], start: Any) -> float:
    """Largest error of a formula for the momentum, over times from a tenth of a period to several periods."""
    exact, times = common.body_map("exact", common.BOOK), (-3.0, 0.8, 2.5, 30.0)
    return max(float(np.abs(formula(start, common.BOOK, t) - exact(start, Q, t)[0]).max()) for t in times)


def kinetic(factor: float) -> float:
    """Difference between a factor times trace(Q' D Q'^T) and the kinetic energy, half of omega . J omega."""
    rate = Q @ OMEGA
    return abs(float(factor * np.trace(rate @ D @ rate.T)) - float(y @ (y / I)) / 2)


def constrained() -> float:
    """Residuals of hat(y) = Q^T P - P^T Q and of the constraint on P, for P = Q' D."""
    P = Q @ OMEGA @ D
    bound = Q.T @ P @ np.linalg.inv(D)
    return float(max(np.abs(Q.T @ P - P.T @ Q - printed.hat(y)).max(), np.abs(bound + bound.T).max()))


def quaternion() -> float:
    """|q|^2 I + 2 q0 hat(e) + 2 hat(e)^2 of the quaternions u, v, a and their product, against rotation matrices."""

    def matrix(q: Any) -> Any:
        e = printed.hat(q[1:])
        return (q @ q) * np.eye(3) + 2 * q[0] * e + 2 * e @ e

    c, s, angle = np.cos(0.35), np.sin(0.35), float(np.linalg.norm(y))
    a = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) / angle * y])
    parts = [np.array([c, -s, 0.0, 0.0]), np.array([c, 0.0, 0.0, -s]), a]
    turns = [printed.exp([-0.7, 0.0, 0.0]), printed.exp([0.0, 0.0, -0.7]), printed.exp(y)]
    whole = ph.rotation.multiply(ph.rotation.multiply(*parts[:2]), parts[2])
    turns.append(turns[0] @ turns[1] @ turns[2])
    return float(np.abs([matrix(p) - turn for p, turn in zip((*parts, whole), turns, strict=True)]).max())


def by_agm() -> float:
    """sn, cn, dn by the arithmetic-geometric mean against the library, for k^2 up to 1 - 1e-6."""
    results = []
    for m in (0.1, 0.5, 0.9, 1.0 - 1e-6):
        for u in (-3.0, 0.3, 1.7, 12.0):
            results.append(np.subtract(printed.jacobi_by_agm(u, m), ph.algebra.elliptic.jacobi(u, 1.0 - m)[:3]))
    return float(np.abs(results).max())


def amplitudes() -> float:
    """k1, k2, k3 of random momenta against functions of C and H alone."""
    (I1, I2, I3), worst = common.BOOK, 0.0
    c1 = I1 * (I3 - I2) / (I2 * (I3 - I1))
    for v in np.random.default_rng(0).normal(size=(50, 3)):
        C, energy = common.casimir_and_energy(v, common.BOOK)
        first, third = I1 * (2 * I3 * energy - 2 * C) / (I3 - I1), I3 * (2 * C - 2 * I1 * energy) / (I3 - I1)
        squares = (v[0] ** 2 + c1 * v[1] ** 2, v[0] ** 2 / c1 + v[1] ** 2, (1 - c1) * v[1] ** 2 + v[2] ** 2)
        worst = max(worst, float(np.abs(np.subtract(squares, (first, first / c1, third))).max()))  # footnote 3
    return worst


def half_angle() -> float:
    """tan(theta/2) of random rotation matrices, by trace and skew part, against |e|/q0; and Q e against e."""
    worst = 0.0
    for q in np.random.default_rng(1).normal(size=(50, 4)):
        q = np.copysign(1.0, q[0]) * q / np.linalg.norm(q)
        turn = np.array(ph.rotation.matrix_from_quaternion(q))
        sine = np.linalg.norm([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
        apart = np.linalg.norm(q[1:]) * (1 + (np.trace(turn) - 1) / 2) - q[0] * sine  # no quotient: q0 may be small
        worst = max(worst, abs(float(apart)), float(np.abs(turn @ q[1:] - q[1:]).max()))
    return worst


# ------------------------------------------------------------------ remark 2
structure = printed.hat
"""The structure matrix B(y)."""


def euler_as_lie_poisson() -> float:
    """Rate of the exact motion, by differences of order 8, against B(y) grad H(y)."""
    rate = derivative(lambda t: common.body_map("exact", MOMENTS)(y, Q, t)[0], 0.01)
    return float(np.abs(rate - structure(y) @ (y / I)).max())


def bracket_is_poisson() -> float:
    """Residuals of skewness and of the Jacobi identity, sum over cyclic i, j, k of B_il dB_jk/dy_l = 0."""
    B = structure(y)
    slopes = np.stack([structure(e) for e in np.eye(3)], -1)  # dB_jk/dy_l: B is linear
    term = np.einsum("il,jkl->ijk", B, slopes)
    jacobi = term + term.transpose(2, 0, 1) + term.transpose(1, 2, 0)
    return float(max(np.abs(B + B.T).max(), np.abs(jacobi).max()))


def casimir() -> float:
    """B(y) grad C(y) = B(y) y; as it vanishes, B is singular and C constant for any H."""
    return float(np.abs(structure(y) @ y).max())


def smallest_singular_value() -> float:
    """Smallest singular value of B(y); a skew matrix of odd dimension is singular."""
    return float(np.linalg.svd(structure(y), compute_uv=False)[-1])


# ------------------------------------------------------------------ (7), the change of variables
def on_the_manifold(v: Any, turn: Any) -> tuple[Any, Any]:
    """P = Q' D for momentum v, and Q rotated by ``turn``: a point on the constraint manifold of (7)."""
    turned = Q @ printed.exp(turn)
    return turned @ printed.hat(v / I) @ D, turned


def changed(P: Any, Q: Any) -> Any:
    """P - Q (Q^T P + P^T Q)/2."""
    return P - Q @ (Q.T @ P + P.T @ Q) / 2


def form(change: Callable[[Any, Any], Any]) -> Any:
    """The form sum dP_ij ^ dQ_ij on six directions tangent to the manifold, by differences of order 8."""

    def along(e: Any, t: float) -> Any:
        P, turned = on_the_manifold(y + t * e[:3], t * e[3:])
        return np.concatenate([change(P, turned).ravel(), turned.ravel()])

    J = np.column_stack([derivative(partial(along, e), 0.01) for e in np.eye(6)])
    dP, dQ = J[:9], J[9:]
    return dP.T @ dQ - dQ.T @ dP


def symplectic_change() -> float:
    return float(np.abs(form(changed) - form(lambda P, Q: P)).max())


def cotangent() -> float:
    """Residuals of Q^T Pbar + Pbar^T Q = 0 and of the momentum, 2 Q^T Pbar = hat(y)."""
    P, _ = on_the_manifold(y, np.zeros(3))
    bar = changed(P, Q)
    return float(max(np.abs(Q.T @ bar + bar.T @ Q).max(), np.abs(2 * Q.T @ bar - printed.hat(y)).max()))


# ------------------------------------------------------------------ (7) against (8) with a potential
SPAN = 2.0


def gradient(Q: Any) -> Any:
    """Gradient of U(Q) = Q33 + 0.3 Q12^2 Q21 + 0.2 Q13 Q32, which has no symmetry."""
    result = np.zeros((3, 3))
    result[2, 2] = 1.0
    result[0, 1], result[1, 0] = 0.6 * Q[0, 1] * Q[1, 0], 0.3 * Q[0, 1] ** 2
    result[0, 2], result[2, 1] = 0.2 * Q[2, 1], 0.2 * Q[0, 2]
    return result


def weight(Q: Any) -> Any:
    """Gradient of U(Q) = Q33."""
    result = np.zeros((3, 3))
    result[2, 2] = 1.0
    return result


def solved(rates: Callable[[float, Any], Any], start: Any) -> Any:
    """Solution of an ordinary differential equation at ``SPAN``, by DOP853."""
    return solve_ivp(rates, (0.0, SPAN), start, method="DOP853", rtol=3e-14, atol=1e-15).y[:, -1]


def constrained_motion(slope: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Final y and Q by (7); the multipliers follow from the constraint differentiated twice."""
    inverse = 1.0 / np.diag(D)

    def rates(t: float, x: Any) -> Any:
        Q, P = x[:9].reshape(3, 3), x[9:].reshape(3, 3)
        rate, force = P * inverse, slope(Q)
        known = Q.T @ (force * inverse)
        multiplier = (2 * rate.T @ rate - known - known.T) / (inverse[:, None] + inverse)
        return np.concatenate([rate.ravel(), (-force - Q @ multiplier).ravel()])

    P, _ = on_the_manifold(y, np.zeros(3))
    x = solved(rates, np.concatenate([Q.ravel(), P.ravel()]))
    end, P = x[:9].reshape(3, 3), x[9:].reshape(3, 3)
    Y = end.T @ P - P.T @ end
    return np.array([Y[2, 1], Y[0, 2], Y[1, 0]]), end


def reduced_motion(slope: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Final y and Q by the component equations below (8)."""

    def rates(t: float, x: Any) -> Any:
        v, Q = x[:3], x[3:].reshape(3, 3)
        T = Q.T @ slope(Q)
        torque = np.array([T[1, 2] - T[2, 1], T[2, 0] - T[0, 2], T[0, 1] - T[1, 0]])
        return np.concatenate([np.cross(v, v / I) + torque, (Q @ printed.hat(v / I)).ravel()])

    x = solved(rates, np.concatenate([y, Q.ravel()]))
    return x[:3], x[3:].reshape(3, 3)


def equivalent() -> float:
    return common.distance(constrained_motion(gradient), reduced_motion(gradient))


def equivalent_to_the_top() -> float:
    """Distance of (7) and (8) from the library's heavy top, for U = Q33."""
    library = top_after("mkrk:gauss8", SPAN / 200, 200)
    return max(common.distance(constrained_motion(weight), library), common.distance(reduced_motion(weight), library))


RESIDUALS: dict[str, Callable[[], float]] = {
    "RATTLE and DMV, free body": rattle_free,
    "RATTLE and kick, DMV, kick, heavy top": rattle_top,
    "change of Qy, C, H by RATTLE": rattle_keeps,
    "transform as printed": partial(cayley, 1.0),
    "transform (I + e)(I - e)^-1": partial(cayley, -1.0),
    "(14), (15) without alpha and the midpoint rule": partial(from_algorithm_3, "implicit_midpoint"),
    "the midpoint rule of Euler's equations": midpoint_rule,
    "the midpoint rule and AKW": partial(from_algorithm_3, "akw"),
    "algorithm 1 and the exact flow, its case": partial(momentum, printed.algorithm_1, ROUND_3),
    "the facsimile's formulas and the exact flow": partial(momentum, printed.jacobi_1850, ROUND_3),
    "algorithm 1 used in the other case": partial(momentum, printed.algorithm_1, ROUND_1),
    "axes 1 and 3 exchanged, the other case": partial(momentum, printed.algorithm_1_other, ROUND_1),
    "sn, cn, dn by the AGM": by_agm,
    "T and trace(Q' D Q'^T)": partial(kinetic, 1.0),
    "T and half of it": partial(kinetic, 0.5),
    "hat(y) = Q^T P - P^T Q": constrained,
    "matrix of a quaternion": quaternion,
    "tan(theta/2) = |e|/q0, and Q e = e": half_angle,
    "k1, k2, k3 by C and H": amplitudes,
    "Euler's equations and B(y) grad H(y)": euler_as_lie_poisson,
    "B skew, Jacobi identity": bracket_is_poisson,
    "B(y) grad C(y)": casimir,
    "smallest singular value of B(y)": smallest_singular_value,
    "forms of P, Q and of Pbar, Q": symplectic_change,
    "Pbar is in T*SO(3), with the same momentum": cotangent,
    "(7) and (8), a potential without symmetry": equivalent,
    "(7), (8) and polhode's heavy top": equivalent_to_the_top,
}
TURNS = (0.01, 0.1, 0.4, 0.8)  # steps of the fixed-point iteration; the body's angular velocity is 1.25
FEW = 10


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    results = []
    for name, residual in RESIDUALS.items():
        report_progress(name)
        results.append(residual())
    counts = [printed.fixed_point(h, np.array(common.Y0), 1.0 / np.array(common.BOOK))[3] for h in TURNS]
    return xr.Dataset(
        {"residual": ("equation", results), "iterations": ("step", counts)},
        {"equation": list(RESIDUALS), "step": list(TURNS)},
    )


def draw(data: xr.Dataset) -> Pictures:
    picture, ((ax,),) = drawing.canvas(1, 1, width=8.0)
    sizes = np.maximum(np.nan_to_num(data.residual.values, nan=10.0), 1e-17)
    colours = [GREEN if x < common.EXACT * 10 else VERMILION for x in sizes]
    ax.barh(np.arange(sizes.size), sizes, color=colours, height=0.6)
    ax.set(xscale="log", xlim=(1e-17, 100))
    ax.set_yticks(np.arange(sizes.size), data.equation.values)
    ax.invert_yaxis()
    ax.set_title("residuals of the paper's equations")
    return {"claims": picture}


def hold(data: xr.Dataset, *names: str, bound: float = common.EXACT, corrected: Sequence[str] = ()) -> Finding:
    """Judge whether these equations hold to round-off, and the ``corrected`` ones for misprints."""
    printed, right = (
        {name: criteria.at_most(float(data.residual.sel(equation=name)), bound) for name in those}
        for those in (names, corrected)
    )
    return Finding(printed, {"equations": len(names)}, right)


def few(data: xr.Dataset) -> Finding:
    counts = {f"{float(h):g}": criteria.count(n) for h, n in zip(data.step, data.iterations, strict=True)}
    shown = {h: "none succeeds" if n >= printed.MOST_ITERATIONS else n for h, n in counts.items()}
    parts = {f"iterations at the step {h}": criteria.at_most(n, FEW) for h, n in counts.items()}
    return Finding(parts, {"iterations by step": shown})


FIGURE = Figure("claims", "equations of the paper", compute, draw, (
    Claim("The formulas of Jacobi and of algorithm 1 solve the Euler equations", "Alg. 1, Fig. 2",
          lambda d: hold(d, "algorithm 1 and the exact flow, its case",
                          "the facsimile's formulas and the exact flow", bound=1e-12)),
    Claim("Similar formulas hold for c2 k1^2 >= c1 k3^2", "Alg. 1",
          lambda d: hold(d, "axes 1 and 3 exchanged, the other case", bound=1e-12)),
    Claim("sn, cn, dn can be evaluated by the arithmetic-geometric mean", "Jacobi",
          lambda d: hold(d, "sn, cn, dn by the AGM", bound=1e-12)),
    Claim("DMV is equivalent to RATTLE applied to the free rigid body equations", "DMV",
          lambda d: hold(d, "RATTLE and DMV, free body", "RATTLE and kick, DMV, kick, heavy top")),
    Claim("RATTLE exactly conserves Qy, C(y) and H(y) of the free body", "RATTLE",
          lambda d: hold(d, "change of Qy, C, H by RATTLE")),
    Claim("The rotation of a step is the Cayley transform as printed", "above (13)",
          lambda d: hold(d, "transform as printed", corrected=["transform (I + e)(I - e)^-1"])),
    Claim("Equation (14) can be solved by using a few fixed-point iterations", "Alg. 3", few),
    Claim("Suppressing alpha in (14) and (15) yields the implicit midpoint rule", "Remark 4",
          lambda d: hold(d, "(14), (15) without alpha and the midpoint rule",
                          "the midpoint rule of Euler's equations")),
    Claim("For the free body that is the algorithm AKW, in momentum and attitude", "polhode",
          lambda d: hold(d, "the midpoint rule and AKW")),
    Claim("The kinetic energy is trace(Q' D Q'^T)", "above (7)",
          lambda d: hold(d, "T and trace(Q' D Q'^T)", corrected=["T and half of it"])),
    Claim("The matrices P = Q' D satisfy the constraint, and their skew part is the momentum", "(7), (8)",
          lambda d: hold(d, "hat(y) = Q^T P - P^T Q")),
    Claim("Euler's equations are a Lie-Poisson system with the structure matrix B(y), skew, with the Jacobi identity",
          "Remark 2",
          lambda d: hold(d, "Euler's equations and B(y) grad H(y)", "B skew, Jacobi identity", bound=1e-12)),
    Claim("It cannot be cast as a canonical system in R^3 because B(y) is not invertible", "Remark 2",
          lambda d: hold(d, "B(y) grad C(y)", "smallest singular value of B(y)")),
    Claim("The change of variables to Pbar = P - Q (Q^T P + P^T Q)/2 is symplectic and leads to T*SO(3)", "(7)",
          lambda d: hold(d, "forms of P, Q and of Pbar, Q", "Pbar is in T*SO(3), with the same momentum", bound=1e-12)),
    Claim("With a potential the reduced equations (8) are equivalent to (7)", "(8)",
          lambda d: hold(d, "(7) and (8), a potential without symmetry", "(7), (8) and polhode's heavy top",
                          bound=1e-11)),
    Claim("A rotation is |q|^2 I + 2 q0 e + 2 e^2 of its quaternion; u, v, a represent U, V, exp", "Quaternions",
          lambda d: hold(d, "matrix of a quaternion")),
    Claim("The vector part of a quaternion is the axis of its rotation, the angle has tan(theta/2) = |e|/q0",
          "Quaternions", lambda d: hold(d, "tan(theta/2) = |e|/q0, and Q e = e")),
    Claim("k1, k2, k3 depend on y via C(y) and H(y) only", "footnote 3", lambda d: hold(d, "k1, k2, k3 by C and H")),
))  # fmt: skip
