"""Densities of the air around a body."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from polhode.arguments import number
from polhode.arguments.words import Length, Unit
from polhode.errors import answering
from polhode.surroundings.surrounding import Surrounding, made


def falling(body, density, radius, scale):
    """rho exp(-(r - R) / H)."""
    return density * np.exp(-((body.position @ body.position) ** 0.5 - radius) / scale)


@answering
def exponential_air(density: Annotated[float, Unit("kg_m3")], radius: Length, scale: Length) -> Surrounding:
    """Air whose density falls exponentially with the distance from the origin: ``density exp(-(r - radius) / scale)``.

    Parameters
    ----------
    density : float
        Density (kg/m3) at ``radius``.
    radius : float
        Distance from the origin (m), not altitude, at which the density is given.
    scale : float
        Scale height (m).

    Returns
    -------
    Surrounding
        A density (kg/m3), such as the ``air_density`` that ``polhode.loads.drag`` reads.

    Raises
    ------
    InvalidInput
        No positive number.

    Examples
    --------
    >>> exponential_air(1e-12, 6878e3, 60e3).kind
    'exponential_air'
    """
    return made(
        falling, "exponential_air", density=number(density, "density", "kg / m**3", positive=True),
        radius=number(radius, "radius", "m", positive=True), scale=number(scale, "scale", "m", positive=True),
    )  # fmt: skip
