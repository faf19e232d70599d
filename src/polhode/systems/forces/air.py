"""The standard exponential atmosphere of the Earth."""

from __future__ import annotations

import numpy as np

from polhode.arguments import number
from polhode.errors import answering

STANDARD = (
    (0, 1.225, 7.249), (25, 3.899e-2, 6.349), (30, 1.774e-2, 6.682), (40, 3.972e-3, 7.554), (50, 1.057e-3, 8.382),
    (60, 3.206e-4, 7.714), (70, 8.770e-5, 6.549), (80, 1.905e-5, 5.799), (90, 3.396e-6, 5.382), (100, 5.297e-7, 5.877),
    (110, 9.661e-8, 7.263), (120, 2.438e-8, 9.473), (130, 8.484e-9, 12.636), (140, 3.845e-9, 16.149),
    (150, 2.070e-9, 22.523), (180, 5.464e-10, 29.740), (200, 2.789e-10, 37.105), (250, 7.248e-11, 45.546),
    (300, 2.418e-11, 53.628), (350, 9.518e-12, 53.298), (400, 3.725e-12, 58.515), (450, 1.585e-12, 60.828),
    (500, 6.967e-13, 63.822), (600, 1.454e-13, 71.835), (700, 3.614e-14, 88.667), (800, 1.170e-14, 124.64),
    (900, 5.245e-15, 181.05), (1000, 3.019e-15, 268.00),
)  # fmt: skip
"""Altitude (km), density (kg / m^3) and scale height (km) [vallado2013, table 8-4]: US Standard Atmosphere 1976 below
25 km, CIRA-72 above, for mean activity of the Sun."""


@answering
def standard_air(surface: float = 6378137.0) -> list[list[float]]:
    """Radius (m) and density (kg / m^3) of the standard exponential atmosphere, as a ``table`` for drag.

    It holds for mean activity of the Sun, everywhere alike. By NRLMSIS 2.1, between a quiet and an active Sun (F10.7
    from 70 to 250), night and day, the air has 0.2 to 3.5 times this density at 300 km, and 0.05 to 10 times at 500 km.
    The last row, at 1268 km, continues the last scale height.

    Parameters
    ----------
    surface : float
        Radius of the surface, m.

    Returns
    -------
    list of [float, float]

    Raises
    ------
    InvalidInput
        The radius is not positive.

    Examples
    --------
    >>> from polhode.systems.forces import drag
    >>> drag(coefficient=0.02, table=standard_air()).description
    'drag in an atmosphere at rest'
    """
    base = number(surface, "surface", "m", positive=True)
    last, density, height = STANDARD[-1]
    rows = [[base + 1e3 * altitude, rho] for altitude, rho, _ in STANDARD]
    return [*rows, [base + 1e3 * (last + height), density * float(np.exp(-1.0))]]
