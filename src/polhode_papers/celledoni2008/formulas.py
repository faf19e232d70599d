"""The formulas of section 2 as printed and, where misprinted, corrected, against the exact rotation.

Elliptic functions are scipy's; integrals of the third kind are quadratures of eq. 4.2 for any amplitude (the printed
domain of Pi, (-pi/2, pi/2), is too small for all of these formulas). Bodies are physical, momenta have length 1.

``I``: moments; ``T``: kinetic energy; ``m(t)``: body momentum; ``lam`` and ``u = lam t - nu`` as in prop. 2.1;
``phi``: amplitude of u; ``s``: the sign sigma; ``B``, ``D`` (Delta) and ``gap`` (I_jh) as in section 2.2.
"""

from __future__ import annotations

from collections.abc import Callable
from math import atan, atan2, atanh, cosh, sqrt, tanh
from typing import Any

import numpy as np
import xarray as xr
from scipy.integrate import quad
from scipy.special import ellipj, ellipkinc

import polhode as ph
from polhode_papers import criteria, drawing
from polhode_papers.celledoni2008.common import FLOWS, OURS, SEED, Bodies, physical_moments, turned
from polhode_papers.drawing import BLUE, GREY, VERMILION, Pictures
from polhode_papers.study import Claim, Figure, Finding, Reporter

COUNT, QUICK_COUNT = 100, 8
RIGHT = 1e-9
"""Above the round-off of the quadratures, far below the effect of a misprint."""
E3 = np.array((0.0, 0.0, 1.0))


# ------------------------------------------------------------------ motions
class Motion:
    """A free motion of momentum 1, moments ascending, with the constants of section 2.2; ``t``: time of comparison."""

    def __init__(self, moments: Any, momentum: Any, t: float) -> None:
        self.I, self.m0, self.t = np.asarray(moments), np.asarray(momentum), t
        self.T = float((self.m0**2 / self.I).sum() / 2.0)
        self.case_i = 2.0 * self.T * self.I[1] > 1.0
        self.k2 = self.D(1) * self.gap(3, 2) / (self.D(3) * self.gap(2, 1))
        if self.case_i:
            self.m, self.s, self.lam = self.k2, np.sign(self.m0[0]), self.rate(3, 1)
            self.phi0 = atan2(self.m0[1] / self.B(2, 1), self.m0[2] / self.B(3, 1))
        else:
            self.m, self.s, self.lam = 1.0 / self.k2, np.sign(self.m0[2]), self.rate(1, 3)
            self.phi0 = atan2(self.m0[1] / self.B(2, 3), self.m0[0] / self.B(1, 3))
        self.lam = self.lam * self.s
        self.u0 = float(ellipkinc(self.phi0, self.m))

    def gap(self, j: int, h: int) -> float:
        return abs(float(self.I[j - 1] - self.I[h - 1]))

    def D(self, j: int) -> float:
        return abs(1.0 - 2.0 * self.T * float(self.I[j - 1]))

    def B(self, j: int, h: int) -> float:
        return sqrt(self.I[j - 1] * self.D(h) / self.gap(j, h))

    def rate(self, j: int, h: int) -> float:
        """lambda_1 or lambda_3."""
        return sqrt(self.D(j) * self.gap(h, 2) / float(self.I.prod()))

    def functions(self, t: float) -> tuple[float, float, float, float]:
        """sn, cn, dn and amplitude at time t."""
        sn, cn, dn, phi = ellipj(self.u0 + self.lam * t, self.m)
        return float(sn), float(cn), float(dn), float(phi)

    def momentum(self, t: float) -> Any:
        """Momentum at time t by proposition 2.1, (i) and (ii)."""
        sn, cn, dn, _ = self.functions(t)
        if self.case_i:
            return np.array((self.s * self.B(1, 3) * dn, self.B(2, 1) * sn, self.B(3, 1) * cn))
        return np.array((self.B(1, 3) * cn, self.B(2, 3) * sn, self.s * self.B(3, 1) * dn))

    def third(self, n: float) -> float:
        """Integral of the third kind: Pi at the amplitude at t, minus that at 0."""
        values = quad(
            lambda x: 1.0 / ((1.0 - n * np.sin(x) ** 2) * np.sqrt(1.0 - self.m * np.sin(x) ** 2)),
            self.phi0, self.functions(self.t)[3], epsabs=1e-13, epsrel=1e-13, limit=400,
        )  # fmt: skip
        return float(values[0])

    def end(self) -> tuple[Any, Any]:
        """Quaternion and momentum at t by polhode's exact rotation."""
        q, m, _ = turned(FLOWS[OURS], 1, self.t, Bodies(self.I[None], self.m0[None]))
        return q[0], m[0]

    def attitude_error(self, frame: Callable[[Any], Any], psi: float) -> float:
        """2-norm of the error of Q = P0^T exp(psi e3) P, where ``frame`` gives the matrix P of a momentum."""
        q, m = self.end()
        value = frame(self.m0).T @ ph.rotation.exp_matrix(psi * E3) @ frame(m)
        return float(np.linalg.norm(value - ph.rotation.matrix_from_quaternion(q), 2))

    def along_rate(self, m: Any) -> Any:
        """P = [v, w, m]^T with v along dm/dt."""
        v = np.cross(m, m / self.I)
        return rows(v / np.linalg.norm(v), m)


def rows(v: Any, m: Any) -> Any:
    return np.array((v, np.cross(m, v), m))


def smallest(m: Any) -> Any:
    """The matrix E(p) of corollary 2.7."""
    return ph.rotation.matrix_from_quaternion(np.array((1.0 + m[2], m[1], -m[0], 0.0)) / sqrt(2.0 + 2.0 * m[2]))


# ------------------------------------------------------------------ formulas: their errors
def euler(x: Motion, printed: bool) -> float:
    return float(np.linalg.norm(x.momentum(x.t) - x.end()[1]))


def separatrix(sign: float) -> Callable[[Motion, bool], float]:
    """Proposition 2.1, (iii), from its own value at 0. The printed first component lacks the factor sigma."""

    def error(x: Motion, printed: bool) -> float:
        body = Motion(x.I, np.array((0.0, 1.0, 0.0)), x.t)  # 2 T I2 = 1: constants of the separatrix
        other, nu = np.sign(x.m0[2]), atanh(0.6 * x.m0[1])
        lam = sign * sqrt(body.D(3) * body.gap(1, 2) / float(x.I.prod()))
        first = other * (1.0 if printed else sign)

        def m(t: float) -> Any:
            u = lam * t - nu
            return np.array((first * body.B(1, 3) / cosh(u), tanh(u), other * body.B(3, 1) / cosh(u)))

        return float(np.linalg.norm(m(x.t) - Motion(x.I, m(0.0), x.t).end()[1]))

    return error


def any_length(x: Motion, printed: bool) -> float:
    """Remark after proposition 2.1: momentum of length G. Time must be multiplied by G too."""
    length = 1.7
    value = length * x.momentum(x.t if printed else length * x.t)
    ends = turned(FLOWS[OURS], 1, x.t, Bodies(x.I[None], length * x.m0[None]))
    return float(np.linalg.norm(value - ends.momenta[0]))


def any_frame(x: Motion, printed: bool) -> float:
    """Proposition 2.2 with v along m x a for some vector a."""
    a = np.array((0.3, 1.1, -0.7)) + 2.0 * x.m0

    def speed(t: float) -> float:
        m = x.momentum(t)
        across, change = np.cross(m, a), np.cross(np.cross(m, m / x.I), a)
        size = np.linalg.norm(across)
        v = across / size
        return float(2.0 * x.T + np.cross(m, v) @ (change - v * (v @ change)) / size)

    def frame(m: Any) -> Any:
        v = np.cross(m, a)
        return rows(v / np.linalg.norm(v), m)

    return x.attitude_error(frame, quad(speed, 0.0, x.t, epsabs=1e-12, epsrel=1e-12, limit=400)[0])


def matrix_form(x: Motion, printed: bool) -> float:
    """Corollary 2.3, (2.9), printed with n = 1/B23 and the sign +; the remark after it, with n = 1/B21."""
    b = x.B(2, 3) if x.case_i else x.B(2, 1)
    sign = -1.0 if x.case_i and not printed else 1.0
    n = 1.0 / b if printed else 1.0 / b**2
    return x.attitude_error(x.along_rate, 2.0 * x.T * x.t + sign * x.D(2) / (x.lam * x.I[1]) * x.third(n))


def any_quaternion(x: Motion, printed: bool) -> float:
    """Proposition 2.5 and lemma 2.6 with p0 + i p3 = sqrt((1 + m3)/2) exp(i (0.2 + 0.3 t))."""

    def p(m: Any, t: float) -> Any:
        p0, p3 = sqrt((1.0 + m[2]) / 2.0) * np.array((np.cos(0.2 + 0.3 * t), np.sin(0.2 + 0.3 * t)))
        return np.array((p0, (p3 * m[0] + p0 * m[1]) / (1.0 + m[2]), (p3 * m[1] - p0 * m[0]) / (1.0 + m[2]), p3))

    def speed(t: float) -> float:
        third = x.momentum(t)[2]
        return float((2.0 * x.T + third / x.I[2]) / (1.0 + third) - 0.6)  # 4 (p3 p0' - p0 p3')/(1 + m3) = -2 * 0.3

    psi = quad(speed, 0.0, x.t, epsabs=1e-12, epsrel=1e-12, limit=400)[0]
    q, m = x.end()
    y = np.array((np.cos(psi / 2.0), 0.0, 0.0, np.sin(psi / 2.0)))
    value = ph.rotation.multiply(ph.rotation.conjugate(p(x.m0, 0.0)), ph.rotation.multiply(y, p(m, x.t)))
    return float(np.linalg.norm(ph.rotation.matrix_from_quaternion(value) - ph.rotation.matrix_from_quaternion(q), 2))


def kosenko(x: Motion, printed: bool) -> float:
    """Corollary 2.7; the printed sign of f is wrong."""

    def f(t: float) -> float:
        sn, _, dn, _ = x.functions(t)
        return x.B(1, 3) * x.B(3, 1) / x.B(2, 1) * atan(x.B(2, 1) / x.B(1, 3) * sn / dn)

    change = (f(x.t) - f(0.0)) * (1.0 if printed else -1.0)
    n = -((x.B(3, 1) / x.B(1, 3)) ** 2)
    factor = x.gap(3, 1) / (x.I[0] * x.I[2] * x.lam)
    return x.attitude_error(smallest, x.t / x.I[2] + factor * (x.third(n) + change))


def van_zon(x: Motion, printed: bool) -> float:
    """Section 2.6: n is printed as -1/(B31 B13)^2 instead of -(B31/B13)^2."""

    def frame(m: Any) -> Any:
        v = np.cross(m, E3)
        return rows(v / np.linalg.norm(v), m)

    n = -((x.B(3, 1) ** (-1.0 if printed else 1.0) / x.B(1, 3)) ** 2)
    return x.attitude_error(frame, x.t / x.I[2] + x.gap(3, 1) / (x.lam * x.I[0] * x.I[2]) * x.third(n))


def component(x: Motion, printed: bool) -> float:
    """Section 2.6: p3^2 of the frame along dm/dt, against (2.21); B32 is printed instead of its square."""
    m = x.momentum(x.t)
    v, w, _ = x.along_rate(m)
    size = np.linalg.norm(np.cross(m, m / x.I))
    b = x.B(3, 2) if printed else x.B(3, 2) ** 2
    value = (1.0 + m[2]) / 4.0 + x.gap(3, 2) * m[1] / (4.0 * x.I[1] * x.I[2] * size) * (m[2] - b)
    return float(abs(value - (1.0 - v[0] - w[1] + m[2]) / 4.0))


def component_across(x: Motion, printed: bool) -> float:
    """Section 2.6: p3^2 of van Zon and Schofield's frame, against (2.21)."""
    m = x.momentum(x.t)
    v = np.cross(m, E3)
    v, w, _ = rows(v / np.linalg.norm(v), m)
    value = (1.0 + m[2]) / 4.0 - m[1] * (1.0 + m[2]) / (4.0 * sqrt(1.0 - m[2] ** 2))
    return float(abs(value - (1.0 - v[0] - w[1] + m[2]) / 4.0))


def turned_onto(general: bool) -> Callable[[Motion, bool], float]:
    """(2.22) with a right-handed frame, or with that of the remark, v2 = (g2, -g1, 0), which is left-handed."""

    def error(x: Motion, printed: bool) -> float:
        m = x.momentum(x.t)
        if general:
            v1, v2, v3 = x.along_rate(np.roll(m, 1))
        else:
            g = m[:2] / np.hypot(*m[:2])
            v1, v2, v3 = np.array((*g, 0.0)), np.array((g[1], -g[0], 0.0)) * (1.0 if printed else -1.0), E3
        pure = np.insert(np.array((v1, v2, m)), 0, 0.0, axis=1)
        p = pure[1] + ph.rotation.multiply(pure[0], pure[2])
        p = p / np.linalg.norm(p)
        return float(
            np.linalg.norm(ph.rotation.multiply(ph.rotation.multiply(p, pure[2]), ph.rotation.conjugate(p))[1:] - v3)
        )

    return error


def display(which: str) -> Callable[[Motion, bool], float]:
    """The displays of the proof of corollary 2.3, against v . I^-1 v; the last member has the wrong sign in print."""

    def error(x: Motion, printed: bool) -> float:
        m = x.momentum(x.t)
        v = x.along_rate(m)[0]
        products = (m[1] * m[2] * x.gap(2, 3), m[0] * m[2] * x.gap(1, 3), m[0] * m[1] * x.gap(1, 2))
        value = {
            "ratio": sum(I * p**2 for I, p in zip(x.I, products, strict=True))
            / sum((I * p) ** 2 for I, p in zip(x.I, products, strict=True)),
            "first": 2.0 * x.T - x.I[1] * x.D(1) * x.D(2) * x.D(3)
            / (x.I[1] ** 2 * x.D(1) * x.D(3) - x.gap(1, 2) * x.gap(2, 3) * m[1] ** 2),
            "last": 2.0 * x.T + (1.0 if printed else -1.0) * x.D(2) / x.I[1]
            / (1.0 - (x.functions(x.t)[0] / x.B(2, 3)) ** 2),
        }[which]  # fmt: skip
        true = float(v @ (v / x.I))
        return abs(float(value) - true) / true

    return error


def adjoint(x: Motion, printed: bool) -> float:
    """2.4, before (2.14): E_*(q u q^-1) = E(q) E_*(u) E(q)^-1, printed with E(u)."""
    q, u = x.end()[0], np.insert(x.m0, 0, 0.0)
    K, Q = ph.rotation.hat(x.m0), ph.rotation.matrix_from_quaternion(q)
    inner = np.eye(3) + 2.0 * K @ K if printed else 2.0 * K
    turned_u = ph.rotation.multiply(ph.rotation.multiply(q, u), ph.rotation.conjugate(q))
    return float(np.abs(2.0 * ph.rotation.hat(turned_u[1:]) - Q @ inner @ Q.T).max())


def relative_sign(x: Motion, printed: bool) -> float:
    """2.6: 4 p0 p3 = w1 - v2 for the frame of corollary 2.3, printed with the other sign."""
    P = x.along_rate(x.momentum(x.t))
    p = ph.rotation.quaternion_from_matrix(P)
    return float(abs(4.0 * p[0] * p[3] - (P[0, 1] - P[1, 0]) * (1.0 if printed else -1.0)))


def turned_by_s(x: Motion, printed: bool) -> float:
    """2.6, remark, last formula: p = k (s e2 s^-1 + s e1 s^-1 m), printed with e2 twice, turns m into v3."""
    s, m = x.end()[0], np.insert(x.momentum(x.t), 0, 0.0)

    def along(k: int) -> Any:
        return ph.rotation.multiply(ph.rotation.multiply(s, np.eye(4)[k]), ph.rotation.conjugate(s))

    p = along(2) + ph.rotation.multiply(along(2 if printed else 1), m)
    p = p / np.linalg.norm(p)
    return float(np.linalg.norm(ph.rotation.multiply(ph.rotation.multiply(p, m), ph.rotation.conjugate(p)) - along(3)))


Error = Callable[[Motion, bool], float]
FORMULAS: dict[str, tuple[Error, str, bool]] = {
    "prop. 2.1 (i)": (euler, "i", False),
    "prop. 2.1 (ii)": (euler, "ii", False),
    "prop. 2.1 (iii), sigma = 1": (separatrix(1.0), "i", False),
    "prop. 2.1 (iii), sigma = -1": (separatrix(-1.0), "i", True),
    "2.2, norm G": (any_length, "i", True),
    "prop. 2.2": (any_frame, "i", False),
    "cor. 2.3, case (i)": (matrix_form, "i", True),
    "cor. 2.3, case (ii)": (matrix_form, "ii", True),
    "cor. 2.3, proof: ratio": (display("ratio"), "i", False),
    "cor. 2.3, proof: first member": (display("first"), "i", False),
    "cor. 2.3, proof: last member": (display("last"), "i", True),
    "2.4, before (2.14)": (adjoint, "i", True),
    "lemma 2.6": (any_quaternion, "i", False),
    "cor. 2.7": (kosenko, "i", True),
    "2.6, p3, van Zon": (component_across, "i", False),
    "2.6, p3, along dm/dt": (component, "i", True),
    "2.6, 4 p0 p3": (relative_sign, "i", True),
    "2.6, psi, van Zon": (van_zon, "i", True),
    "(2.22)": (turned_onto(True), "i", False),
    "(2.22), frame printed": (turned_onto(False), "i", True),
    "2.6, last formula": (turned_by_s, "i", True),
}
"""For each formula: error function, case of proposition 2.1, and whether it is misprinted."""


def motions(count: int, case_i: bool) -> list[Motion]:
    """Random motions of a case of proposition 2.1, away from its borders: k^2 (or its inverse) below 0.95."""
    random = np.random.default_rng(SEED)
    results: list[Motion] = []
    while len(results) < count:
        moments, m = physical_moments(random, 1)[0], random.normal(size=3)
        motion = Motion(moments, m / np.linalg.norm(m), random.uniform(1.0, 5.0))
        if motion.case_i == case_i and motion.m < 0.95 and motion.m0[2] > -0.9:
            results.append(motion)
    return results


def compute(quick: bool, report_progress: Reporter) -> xr.Dataset:
    """Largest error of every formula over the motions, as printed and corrected."""
    count = QUICK_COUNT if quick else COUNT
    samples = {"i": motions(count, True), "ii": motions(count, False)}
    largest = np.full((len(FORMULAS), 2), np.nan)
    for k, (name, (error, case, wrong)) in enumerate(FORMULAS.items()):
        report_progress(name)
        for j, printed in enumerate((True, False)[: 1 + wrong]):
            largest[k, j] = max(error(x, printed) for x in samples[case])
    return xr.Dataset(
        {"error": (("formula", "form"), largest)},
        {"formula": list(FORMULAS), "form": ["printed", "corrected"]},
        {
            "bodies": f"{count} random physical ones in each case (seed {SEED}), momenta all over the unit sphere",
            "error": "largest 2-norm, of the momentum, of the attitude matrix at a random t in (1, 5), or of what the "
            "formula gives",
        },
    )


def draw(data: xr.Dataset) -> Pictures:
    picture, ((ax,),) = drawing.canvas(1, 1, width=7.5, height=4.6)
    positions = np.arange(data.formula.size)
    for form, colour, mark in (("corrected", BLUE, "o"), ("printed", VERMILION, "D")):
        values = np.maximum(data.error.sel(form=form), 1e-17)
        ax.plot(values, positions, mark, color=colour, markerfacecolor="white", label=form, markersize=6)
    ax.axvline(RIGHT, color=GREY, linewidth=1.0, linestyle=":")
    ax.set(xscale="log", xlim=(1e-17, 1e2), yticks=positions, xlabel="largest error of the formula")
    ax.set_yticklabels([str(name) for name in data.formula.values])
    ax.invert_yaxis()
    ax.set_title("formulas of section 2")
    ax.legend(loc="center", bbox_to_anchor=(0.66, 0.5), edgecolor="none")
    return {"formulas": picture}


def right(data: xr.Dataset, *names: str) -> Finding:
    """Judge whether these formulas are correct as printed, and the corrected ones."""
    checks = {
        form: {name: criteria.at_most(float(data.error.sel(formula=name, form=form)), RIGHT) for name in names}
        for form in ("printed", "corrected")
    }
    corrected = {name: check for name, check in checks["corrected"].items() if FORMULAS[name][2]}
    return Finding(checks["printed"], {"motions": data.attrs["bodies"]}, corrected)


FIGURE = Figure("formulas", "section 2: the closed forms as printed", compute, draw, (
    Claim("The Euler equation is solved by Jacobi's functions, cases (i) and (ii)", "prop. 2.1",
          lambda d: right(d, "prop. 2.1 (i)", "prop. 2.1 (ii)")),
    Claim("On the separatrix it is solved by (iii), for all four branches", "prop. 2.1",
          lambda d: right(d, "prop. 2.1 (iii), sigma = 1", "prop. 2.1 (iii), sigma = -1")),
    Claim("Solutions of norm G follow with m -> G m and T -> T/G^2", "2.2", lambda d: right(d, "2.2, norm G")),
    Claim("The attitude follows from any frame that has m as its third axis, and an integral", "prop. 2.2",
          lambda d: right(d, "prop. 2.2")),
    Claim("Angle of the frame along dm/dt, case (i)", "cor. 2.3", lambda d: right(d, "cor. 2.3, case (i)")),
    Claim("Angle of the frame along dm/dt, case (ii)", "2.3, remark", lambda d: right(d, "cor. 2.3, case (ii)")),
    Claim("Its rate is v . I^-1 v, by the three displays of the proof", "cor. 2.3, proof",
          lambda d: right(d, *(f"cor. 2.3, proof: {member}" for member in ("ratio", "first member", "last member")))),
    Claim("The derivative of the covering intertwines the adjoint representations", "2.4, before (2.14)",
          lambda d: right(d, "2.4, before (2.14)")),
    Claim("Any p0, p3 with the sum of squares (1 + m3)/2 give the quaternion", "prop. 2.5, lemma 2.6",
          lambda d: right(d, "lemma 2.6")),
    Claim("Angle of the quaternion", "cor. 2.7", lambda d: right(d, "cor. 2.7")),
    Claim("Component p3 of the quaternions of both frames", "2.6",
          lambda d: right(d, "2.6, p3, van Zon", "2.6, p3, along dm/dt")),
    Claim("The relative sign of p0 and p3 is that of v2 - w1", "2.6", lambda d: right(d, "2.6, 4 p0 p3")),
    Claim("Angle of van Zon and Schofield", "2.6", lambda d: right(d, "2.6, psi, van Zon")),
    Claim("p = v2 + v1 m, normalised, turns m into v3; and into e3 with the frame given", "2.6, remark",
          lambda d: right(d, "(2.22)", "(2.22), frame printed")),
    Claim("It does so for any orthonormal v1, v2, v3, by p = k (s e2 s^-1 + s e2 s^-1 m)", "2.6, remark",
          lambda d: right(d, "2.6, last formula")),
))  # fmt: skip
