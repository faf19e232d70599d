"""Pressure of sunlight on bodies; they read it from the surroundings."""

from __future__ import annotations

from polhode.arguments import number
from polhode.errors import answering
from polhode.loads.air import Area
from polhode.loads.load import Load, made


def on_ball(body, sunlight, Cr, area):
    """Cr A times the pressure."""
    return {"force": Cr * area * sunlight}


@answering
def radiation(Cr: float, area: Area) -> Load:
    """Pressure of sunlight on a ball, ``Cr A P`` away from the Sun.

    It acts on the centre of mass, and reads ``sunlight`` (N/m2, space) from the surroundings.

    Parameters
    ----------
    Cr : float
        Coefficient of radiation pressure: 1 of a black ball, up to 2.
    area : float
        Cross-section (m2).

    Returns
    -------
    Load

    Raises
    ------
    InvalidInput
        No positive number.

    Examples
    --------
    >>> radiation(1.3, 4.0)
    load radiation(Cr=1.3, area=4.0)
    """
    return made(on_ball, "radiation", Cr=number(Cr, "Cr", positive=True),
                area=number(area, "area", "m**2", positive=True))  # fmt: skip
