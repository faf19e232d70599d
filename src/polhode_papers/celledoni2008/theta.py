"""Free rotation by theta functions, in one step to any time and in extended precision: the reference of section 3.

The paper mentions this form, which is that of its reference 29 [vanzon2007] and goes back to Jacobi. It has nothing in
common with the flows compared: no Landen transformation of sn, no integral of the third kind, no Taylor series. All
numbers are NumPy long doubles. On ARM with macOS and on Windows these are plain doubles (see ``DIGITS``): the functions
work there too, but suffer cancellation, and their last digits are round-off like that of the flows. Claims about
round-off are then reported as undecided (``with_long_doubles``).

Notation, for momenta of length 1:

======= ===============================================================================================================
a, b, c axes in this order: the momentum circles a, and b is the middle axis. Half turns make the axes right-handed
        and the component along a positive
k, k1   modulus and complementary modulus; ``K``, ``K1`` quarter periods; ``q`` nome; ``u`` = u0 + lam t
motion  m = (B_ac dn u, B_ba sn u, B_ca cn u)                                           [celledoni2008, prop. 2.1]
psi     t/I_c + (1/I_a - 1/I_c)/lam [Pi(u; n)], n = -(B_ca/B_ac)^2, the angle of the frame m x e_c, m x (m x e_c), m
        [celledoni2008, sec. 2.6], where
[Pi]    = u + (s c/d) (arg Theta(u + i v) - u zeta(v)), the theta function of the pole of the integrand at u = i v:
        s, c = sin, cos of the amplitude of v with modulus k1, d = dn; zeta = -i Theta'(i v)/Theta(i v)
======= ===============================================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode_papers.study import Check, Finding

if TYPE_CHECKING:
    import xarray as xr

Real = np.longdouble
PI = 4 * np.arctan(Real(1))
EPS = float(np.finfo(Real).eps)
DIGITS = 1 - int(np.log2(EPS))
"""Binary digits of a long double: 64 on most processors, 113 on some, 53 where it is a double."""
REMARK = "binary digits of the reference"
"""Attribute of a Dataset that records ``DIGITS`` of the machine that computed it."""
TERMS = 40
"""Terms of the theta series: enough for nomes up to 0.97, that is 1 - k^2 = 1e-80."""


def with_long_doubles(judge: Callable[[xr.Dataset], Finding]) -> Callable[[xr.Dataset], Finding]:
    """Decorate a judge of round-off: all parts are undecided if the reference is only in double precision."""

    @wraps(judge)
    def judged(data: xr.Dataset) -> Finding:
        measured = judge(data)
        digits = int(data.attrs.get(REMARK, 64))
        if digits > np.finfo(float).nmant + 1:
            return measured
        parts = {name: Check(x.criterion, x.measured, None) if isinstance(x, Check) else Check("", x, None)
                 for name, x in measured.parts.items()}  # fmt: skip
        why = f"the reference has {digits} binary digits on this machine, no more than a double"
        return Finding(parts, {"not decided": why, **measured.numbers})

    return judged


def agm(a: Any, b: Any) -> Any:
    """Arithmetic-geometric mean."""
    for _ in range(12):
        a, b = (a + b) / 2, np.sqrt(a * b)
    return a


def first_kind(s: Any, c: Any, k1: Any) -> Any:
    """F(phi, k) of an amplitude in (-pi, pi] given by sine and cosine, by ascending amplitudes."""
    phi, a, b, power = np.arctan2(s, c), np.ones_like(k1), k1, 1
    for _ in range(12):
        turns = np.floor(phi / PI + 0.5)
        phi = phi + np.arctan(b / a * np.tan(phi - turns * PI)) + turns * PI
        a, b, power = (a + b) / 2, np.sqrt(a * b), 2 * power
    return phi / (power * a)


def series(q: Any) -> tuple[Any, Any, Any]:
    """n, q^(n^2) and q^((n - 1/2)^2) for n = 1, 2, ..., along the last axis."""
    n = np.arange(1, TERMS + 1).astype(Real)
    log = np.log(q)[..., None]
    return n, np.exp(n * n * log), np.exp((n - 0.5) ** 2 * log)


def jacobi(z: Any, q: Any) -> tuple[Any, Any, Any]:
    """sn, cn, dn of u = 2 K z/pi as quotients of theta functions."""
    n, whole, half = series(q)
    sign, z = (-1) ** n, z[..., None]
    at = {
        1: -2 * (sign * half * np.sin((2 * n - 1) * z)).sum(-1), 2: 2 * (half * np.cos((2 * n - 1) * z)).sum(-1),
        3: 1 + 2 * (whole * np.cos(2 * n * z)).sum(-1), 4: 1 + 2 * (sign * whole * np.cos(2 * n * z)).sum(-1),
    }  # fmt: skip
    two, three, four = 2 * half.sum(-1), 1 + 2 * whole.sum(-1), 1 + 2 * (sign * whole).sum(-1)
    return three / two * at[1] / at[4], four / two * at[2] / at[4], four / three * at[3] / at[4]


def angle_of_theta(z: Any, y: Any, q: Any) -> Any:
    """arg Theta(u + i v) for z = pi u/2K and y = pi v/2K < pi K1/2K: it never reaches pi."""
    n, whole, _ = series(q)
    sign, z, y = (-1) ** n, z[..., None], y[..., None]
    x = 1 + 2 * (sign * whole * np.cos(2 * n * z) * np.cosh(2 * n * y)).sum(-1)
    return np.arctan2(-2 * (sign * whole * np.sin(2 * n * z) * np.sinh(2 * n * y)).sum(-1), x)


def zeta(y: Any, q: Any, K: Any) -> Any:
    """-i Theta'(i v)/Theta(i v), for y = pi v/2K."""
    n, whole, _ = series(q)
    terms, y = (-1) ** n * whole, y[..., None]
    above = -2 * (terms * n * np.sinh(2 * n * y)).sum(-1)
    return PI / K * above / (1 + 2 * (terms * np.cosh(2 * n * y)).sum(-1))


def frame(m: Any) -> Any:
    """Rows v = m x e3/|m x e3|, m x v, m, with the axes a, b, c along the last axis."""
    v = np.stack([m[..., 1], -m[..., 0], np.zeros_like(m[..., 0])], -1)
    v = v / np.hypot(m[..., 0], m[..., 1])[..., None]
    return np.stack([v, np.cross(m, v), m], -2)


def free_rotation(moments: Any, momenta: Any, t: Any) -> tuple[Any, Any]:
    """Rotation matrices and momenta (K, 3) in long double after a time t, from the identity attitude.

    Moments are distinct, in any order; momenta of any length, not on the separatrix or at an equilibrium.
    """
    I, m = np.asarray(moments, dtype=Real), np.asarray(momenta, dtype=Real)
    length = np.sqrt((m * m).sum(-1, keepdims=True))
    m, t = m / length, length[..., 0] * Real(t)
    order = np.argsort(I, axis=-1)
    I, m = np.take_along_axis(I, order, -1), np.take_along_axis(m, order, -1)
    turn = np.eye(3, dtype=Real)[order]  # rows: the axes a, b, c in the body axes
    first = (1 / I[:, 0] - 1 / I[:, 1]) * m[:, 0] ** 2 > (1 / I[:, 1] - 1 / I[:, 2]) * m[:, 2] ** 2
    I, m = (np.where(first[:, None], x, x[:, ::-1]) for x in (I, m))
    turn = np.where(first[:, None, None], turn, turn[:, ::-1])
    x = np.where(m[:, 0] < 0, Real(-1), Real(1))
    handed = np.where(np.linalg.det(turn.astype(float)) < 0, Real(-1), Real(1))
    signs = np.stack(
        [x, np.ones_like(x), x * handed], -1
    )  # determinant 1 when combined with the permutation of the axes
    m, turn = signs * m, signs[:, :, None] * turn

    (Ia, Ib, Ic), (ma, mb, mc) = I.T, m.T
    gap_ab, gap_bc, gap_ac = abs(Ia - Ib), abs(Ib - Ic), abs(Ia - Ic)
    Da = mb**2 * gap_ab / Ib + mc**2 * gap_ac / Ic  # |1 - 2 T I|, sums of terms of one sign
    Dc = ma**2 * gap_ac / Ia + mb**2 * gap_bc / Ib
    Db = abs(ma**2 * (Ia - Ib) / Ia + mc**2 * (Ic - Ib) / Ic)
    Bac, Bba, Bca = np.sqrt(Ia * Dc / gap_ac), np.sqrt(Ib * Da / gap_ab), np.sqrt(Ic * Da / gap_ac)
    k, k1 = np.sqrt(Da * gap_bc / (Dc * gap_ab)), np.sqrt(gap_ac * Db / (gap_ab * Dc))
    lam = np.sign(Ic - Ib) * np.sqrt(Dc * gap_ab / (Ia * Ib * Ic))
    K, K1 = PI / (2 * agm(np.ones_like(k1), k1)), PI / (2 * agm(np.ones_like(k), k))
    q = np.exp(-PI * K1 / K)

    u0 = first_kind(mb / Bba, mc / Bca, k1)
    z0, z1 = PI * u0 / (2 * K), PI * (u0 + lam * t) / (2 * K)
    sn, cn, dn = jacobi(z1, q)
    h = np.hypot(Bca, k * Bac)
    y = PI * first_kind(Bca / h, k * Bac / h, k) / (2 * K)
    part = lam * t + Bca * Bac / h * (angle_of_theta(z1, y, q) - angle_of_theta(z0, y, q) - lam * t * zeta(y, q, K))
    psi = t / Ic + (1 / Ia - 1 / Ic) / lam * part

    end = np.stack([Bac * dn, Bba * sn, Bca * cn], -1)
    end = end / np.sqrt((end * end).sum(-1, keepdims=True))
    cos, sin, zero = np.cos(psi), np.sin(psi), np.zeros_like(psi)
    about = np.stack([cos, -sin, zero, sin, cos, zero, zero, zero, zero + 1], -1).reshape(-1, 3, 3)
    back = np.swapaxes(turn, -1, -2)
    Q = back @ np.swapaxes(frame(m), -1, -2) @ about @ frame(end) @ turn
    return Q, length * (back @ end[..., None])[..., 0]
