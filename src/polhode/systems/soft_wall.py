"""A pinned body in a Coulomb potential with a soft wall.

The force acts along the body's third axis; with ``d = 1.1 + R33`` and ``s = +1`` (``sign="printed"``) or ``-1``
(``"physical"``),

    V = s (1/d - 0.001/d^10),     spatial torque  V'(R33) (-R23, R13, 0)                   [krysl2006, 5.4]

The text of the paper describes an attractive Coulomb force and a repelling wall, which is ``"physical"``; its printed
torque has the opposite sign, and the printed sign reproduces the published figures at a step of 0.5. The wall of the
physical problem needs steps of 0.05 or less.

Conserved: energy, and the vertical component of the spatial angular momentum.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from polhode.algebra.quaternion import rotate_inverse
from polhode.algebra.so3 import axpy, cross, dot, scale
from polhode.arguments import choice, in_unit
from polhode.arguments.words import Inertia, Loads, described_by
from polhode.bodies.body import Body
from polhode.bodies.inertia import KG_M2, moments_and_frame
from polhode.errors import answering
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.loads.load import made
from polhode.systems.builders import assembled, given_of
from polhode.systems.record import System

SIGNS = {"printed": 1.0, "physical": -1.0}

# parameters: s, then the body's third axis in the principal frame


D, A, B = L.SERIES_AUXILIARY, L.SERIES_AUXILIARY + L.SERIES_ROW, L.SERIES_AUXILIARY + 2 * L.SERIES_ROW
"""Slots of the series that ``wall_series`` keeps between calls: d, 0.01 d^-11 and d^-2."""


def wall_series(part, t, k, u, bodies, parameters, out):
    """Taylor coefficient of the torque; a power v = d^p of a series follows from d v' = p v d'."""
    e = get3(parameters, 1)
    u[D + k] = dot(get3(u, 3 * k), e)
    if k == 0:
        u[D] += 1.1
        u[A], u[B] = 0.01 * u[D] ** -11, u[D] ** -2
    else:
        a = b = 0.0
        for n in range(k):
            a += (11 * k - 10 * n) * u[D + k - n] * u[A + n]
            b += (2 * k - n) * u[D + k - n] * u[B + n]
        u[A + k], u[B + k] = -a / (k * u[D]), -b / (k * u[D])
    s = (0.0, 0.0, 0.0)
    for n in range(k + 1):
        s = axpy(u[A + n] - u[B + n], get3(u, 3 * (k - n)), s)
    put3(out, 0, scale(parameters[0], cross(s, e)))


def wall_level(body, sign, third):
    """Potential energy of Coulomb force and wall."""
    d = 1.1 + body.in_space(third)[2]
    return sign * (1.0 / d - 0.001 * d**-10)


@answering
@described_by(given_of)
def soft_wall(
    inertia: Inertia = (2.0, 3.0, 4.5), sign: Literal["printed", "physical"] = "printed", loads: Loads = ()
) -> System:
    """The rigid body with soft wall contact of Krysl's section 5.4.

    Parameters
    ----------
    inertia : array_like (3,) or (3, 3)
        Principal moments or tensor.
    sign : {"printed", "physical"}
        Sign of the potential, see above.

    Raises
    ------
    InvalidInput
        Invalid inertia or unknown sign.

    Examples
    --------
    >>> import polhode as ph
    >>> ds = ph.integrate(ph.systems.soft_wall(), step=0.01, steps=100, angular_velocity=(0.45, 0.3, -0.5))
    >>> bool(abs(ds.energy_error).max() < 1e-4)
    True
    """
    inertia = in_unit(inertia, KG_M2, "inertia")
    moments, frame = moments_and_frame(inertia)
    choice(sign, "sign", SIGNS)
    given, z = given_of({}, loads=loads), (0.0, 0.0, 1.0)
    third = np.array(z if given.acts else rotate_inverse(frame, z))
    return assembled(
        "soft_wall", [Body("body", np.inf, moments, frame)],
        [made(wall_level, "wall", sign=SIGNS[sign], third=third)],
        {"inertia": inertia, "sign": sign}, given, how={"principal": not given.acts},
        alone={"series": wall_series, "recommended": "fg6_5"},
    )  # fmt: skip
