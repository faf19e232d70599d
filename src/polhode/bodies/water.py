"""Molecules of rigid water: where their sites are, and what these carry; nm, ps, u and elementary charges."""

from __future__ import annotations

from functools import cache
from math import cos, radians, sin
from typing import Any, NamedTuple

import numpy as np

COULOMB = 138.935457644
"""1 / (4 pi epsilon_0) in kJ nm / (mol e^2)."""
BOLTZMANN = 0.00831446261815324
"""Boltzmann's constant in kJ / (mol K)."""
DALTON = 1.66053906660
"""kg / m^3 per u / nm^3: 1 u is 1.66053906660e-27 kg."""
MASSES = np.array([15.9994, 1.008, 1.008, 0.0])
"""Masses of oxygen, both hydrogens and a charge beside them, u."""


class Model(NamedTuple):
    """A row of the table: lengths in nm, angle in degrees, charge of a hydrogen in e, energy in kJ / mol, distance of
    the negative charge from the oxygen, key of the source."""

    bond: float
    angle: float
    charge: float
    sigma: float
    epsilon: float
    apart: float
    cite: str


MODELS = {
    "spc/e": Model(0.1, 109.4712206, 0.4238, 0.3166, 0.650, 0.0, "berendsen1987"),
    "tip3p": Model(0.09572, 104.52, 0.417, 0.315061, 0.636386, 0.0, "jorgensen1983"),
    "tip4p/2005": Model(0.09572, 104.52, 0.5564, 0.31589, 0.774907, 0.01546, "abascal2005"),
}


@cache
def geometry(model: Model) -> tuple[list[str], Any, Any, Any]:
    """Names of the sites, their positions in the body frame, nm, and charges, e; principal moments, u nm^2."""
    half = radians(0.5 * model.angle)
    x, z = model.bond * sin(half), model.bond * cos(half)
    places = np.array([(0.0, 0.0, 0.0), (x, 0.0, z), (-x, 0.0, z), (0.0, 0.0, model.apart)])
    places[:, 2] -= MASSES @ places[:, 2] / MASSES.sum()
    about = MASSES @ places**2
    moments = np.array([about[2], about[0] + about[2], about[0]])
    if model.apart:
        return ["O", "H1", "H2", "X"], places, model.charge * np.array([0.0, 1.0, 1.0, -2.0]), moments
    return ["O", "H1", "H2"], places[:3], model.charge * np.array([-2.0, 1.0, 1.0]), moments
