"""What acts between points of two bodies: charges, Lennard-Jones sites, tethers."""

from __future__ import annotations

from typing import Any

from polhode.arguments import UNKNOWN, array, number, of_each, vector
from polhode.arguments.words import Length, NumberOrNumbers, Position, Rows, Stiffness
from polhode.errors import InvalidInput, answering
from polhode.loads.load import Load, made


def between_sites(a, b, at, charge, epsilon, sigma, coulomb, reaction):
    """Sum over sites i of a and j of b: k q_i q_j (1 / r + c r^2) + 4 e ((s / r)^12 - (s / r)^6), with the mean s of
    their sigma and the root e of the product of their epsilon."""
    total = 0.0
    for i in range(len(at)):
        for j in range(len(at)):
            d = a.point(at[i]) - b.point(at[j])
            square = d @ d
            both = coulomb * charge[i] * charge[j]
            if both != 0.0:
                total = total + both * square**-0.5 + (reaction * both * square if reaction != 0.0 else 0.0)
            if epsilon[i] * epsilon[j] != 0.0:
                s6, r6 = (0.25 * (sigma[i] + sigma[j]) ** 2) ** 3, square**-3
                deep = 4.0 * (epsilon[i] * epsilon[j]) ** 0.5 * s6
                total = total + deep * s6 * r6 * r6 - deep * r6
    return total


@answering
def sites(
    at: Rows,
    charge: NumberOrNumbers = 0.0,
    epsilon: NumberOrNumbers = 0.0,
    sigma: NumberOrNumbers = 1.0,
    coulomb: float = 1.0,
    reaction: float = 0.0,
) -> Load:
    """Charges and Lennard-Jones sites at points of bodies, on ``polhode.pairs`` or on two bodies; all have the same.

    Parameters
    ----------
    at : array_like (n, 3)
        Points of the body (its own axes).
    charge : float or array_like (n,)
        Charge of each.
    epsilon, sigma : float or array_like (n,)
        Depth and diameter of the Lennard-Jones potential of each; of two sites the geometric mean of the depths and the
        mean of the diameters.
    coulomb : float
        1 / (4 pi epsilon_0) in the units of all these: 138.935457644 with nm, u, ps and elementary charges.
    reaction : float
        Factor c of the reaction field of a medium beyond the cut-off, which adds c r^2 to the 1 / r of two charges of
        neutral bodies: (e - 1) / ((2 e + 1) cutoff^3) with its relative permittivity e [barker1973, tironi1995].

    Raises
    ------
    InvalidInput
        Other numbers of charges than of points, a negative epsilon or sigma.

    Examples
    --------
    >>> import polhode as ph
    >>> charges = ph.loads.sites([(0.0, 0.0, 0.1), (0.0, 0.0, -0.1)], charge=(1.0, -1.0)).on("pairs")
    >>> pair = ph.system(ph.bodies(2, 1.0, (0.01, 0.01, 0.01)), charges)
    >>> ds = ph.integrate(pair, step=0.001, steps=100, position=[(0, 0, 0), (0, 0, 1)])
    >>> bool(ds.position[-1, 1, 2] < 1.0)
    True
    """
    points = array(at, "at", UNKNOWN)
    if points.ndim != 2 or points.shape[1] != 3 or not len(points):
        raise InvalidInput(f"at must be points, rows of 3 numbers, but has shape {points.shape}")
    given = dict[str, Any]()
    for name, value in (("charge", charge), ("epsilon", epsilon), ("sigma", sigma)):
        numbers = of_each(value, name, len(points), "points of at")
        if name != "charge" and (numbers < 0.0).any():
            raise InvalidInput(f"{name} is {numbers.min():g}; it must not be negative")
        given[name] = numbers
    return made(between_sites, "sites", at=points, **given, coulomb=number(coulomb, "coulomb"),
                reaction=number(reaction, "reaction"))  # fmt: skip


def taut(a, b, stiffness, length, of_a, of_b):
    """k (d - length)^2 / 2 where the distance d of the two points is beyond the length."""
    d = b.point(of_b) - a.point(of_a)
    stretch = (d @ d) ** 0.5 - length
    return 0.5 * stiffness * max(stretch, 0.0) ** 2


@answering
def tether(
    stiffness: Stiffness, length: Length, of_a: Position = (0.0, 0.0, 0.0), of_b: Position = (0.0, 0.0, 0.0)
) -> Load:
    """A tether between points of two bodies, which pulls where it is stretched and is slack otherwise.

    Parameters
    ----------
    stiffness : float
        Its stiffness (N/m).
    length : float
        Its length (m).
    of_a, of_b : array_like (3,)
        The point of each body (m, its own axes).

    Returns
    -------
    Load
        On two bodies: say which with ``.on``.

    Raises
    ------
    InvalidInput
        A negative number, or no vector.

    Examples
    --------
    >>> import polhode as ph
    >>> pair = ph.system(ph.body("a", 100.0), ph.body("b", 10.0), ph.loads.tether(5.0, 100.0).on("a", "b"))
    >>> ds = ph.integrate(pair, step=0.1, steps=300, position=[(0, 0, 0), (120, 0, 0)])
    >>> round(float(ds.sel(body="b").position[-1, 0]), 1)
    57.0
    """
    return made(taut, "tether", stiffness=number(stiffness, "stiffness", "N / m", positive=True),
                length=number(length, "length", "m", zero=True),
                of_a=vector(of_a, "of_a", unit="m"), of_b=vector(of_b, "of_b", unit="m"))  # fmt: skip
