"""Rigid water: molecules with three charges and one Lennard-Jones site each, in free space or in a periodic box.

    V = sum over i < j of S(R_ij) ( 4 epsilon ((sigma/r_OO)^12 - (sigma/r_OO)^6)
                                    + k sum over sites a of i, b of j of q_a q_b (1/r_ab + r_ab^2 c) )

R_ij is the distance of the centres of mass: whole, neutral molecules are cut off, whose interaction beyond the cut-off
is weak. S falls from 1 at ``switch`` to 0 at the cut-off with four continuous derivatives; without a cut-off it is 1.
The last term, c = (e - 1) / ((2 e + 1) cutoff^3), is the reaction field of a medium of relative permittivity e beyond
the cut-off [barker1973, tironi1995]; by default e is infinite (a conductor). The load is ``polhode.loads.sites``.

Units: nm, ps, atomic mass units u, elementary charges e. So energies are in u nm^2 / ps^2 = kJ / mol, temperatures in K
with k_B = 0.00831446261815324 kJ / (mol K), pressures in kJ / (mol nm^3) = 1.66053907 MPa, and k is 138.935457644
kJ nm / (mol e^2).

============ ======= ========= =========== ========= ================= ===================== ========================
model        r_OH/nm H-O-H     q_H / e     sigma/nm  epsilon/(kJ/mol)  negative charge       source
============ ======= ========= =========== ========= ================= ===================== ========================
spc/e        0.1     109.4712  0.4238      0.3166    0.650             on the oxygen         [berendsen1987]
tip3p        0.09572 104.52    0.417       0.315061  0.636386          on the oxygen         [jorgensen1983]
tip4p/2005   0.09572 104.52    0.5564      0.31589   0.774907          0.01546 nm from it    [abascal2005]
============ ======= ========= =========== ========= ================= ===================== ========================

The origin of the body frame is the centre of mass; z points from the oxygen to the midpoint of the hydrogens, which lie
in the plane of x and z. The molecule is planar: the moment about y is the sum of the two others.

Conserved: energy, total momentum; in free space the total angular momentum about the origin.
"""

from __future__ import annotations

from functools import cache, lru_cache
from math import cos, inf, radians, sin
from typing import Any, Literal, NamedTuple

import numpy as np

from polhode.arguments import choice, in_unit, number
from polhode.arguments.recorded import plain
from polhode.arguments.words import Loads, NumberOrNumbers, Permittivity
from polhode.errors import InvalidInput, answering
from polhode.loads import Load, sites
from polhode.loads.load import PAIRS
from polhode.systems.liquids import liquid, reaction
from polhode.systems.molecules import count, edges_of, within_of
from polhode.systems.record import System

COULOMB = 138.935457644  # 1 / (4 pi epsilon_0) in kJ nm / (mol e^2)
BOLTZMANN = 0.00831446261815324  # Boltzmann's constant in kJ / (mol K)
DALTON = 1.66053906660  # kg / m^3 per u / nm^3: 1 u is 1.66053906660e-27 kg
MASSES = np.array([15.9994, 1.008, 1.008, 0.0])  # masses of oxygen, both hydrogens and a charge beside them, u


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


CUTOFF, SHORTEST = 0.9, 0.5  # the default cut-off, and the shortest one chosen for a small box; nm


@lru_cache
def interaction(model: Model, reaction: float) -> Load:
    """The load on pairs, with the factor of a reaction field."""
    names, places, charge, _ = geometry(model)
    epsilon = [model.epsilon, *[0.0] * (len(names) - 1)]
    return sites(places, charge, epsilon, model.sigma, COULOMB, reaction).on(PAIRS)


@answering
def rigid_water(
    n: int,
    model: Literal["spc/e", "tip3p", "tip4p/2005"] = "spc/e",
    *,
    box: NumberOrNumbers | None = None,
    density: float | None = None,
    cutoff: float | None = None,
    switch: float | None = None,
    skin: float | None = None,
    reaction_field: Permittivity | None = None,
    loads: Loads = (),
) -> System:
    """Rigid water molecules, in nm, ps, u and kJ / mol.

    Parameters
    ----------
    n : int
        Number of molecules, two or more.
    model : {"spc/e", "tip3p", "tip4p/2005"}
        Geometry, charges and Lennard-Jones site.
    box : float or array_like (3,), optional
        Edges of the periodic box, nm, each at least twice the cut-off; free space without it.
    density : float, optional
        Instead of ``box``: density of the liquid in a cube, kg / m^3.
    cutoff : float, optional
        Distance of centres beyond which molecules do not interact, nm. In a box by default 0.9, or half its smallest
        edge if that is less (at least 0.5); in free space none.
    switch : float, optional
        Distance at which the pair energy begins to be switched off, nm; by default 0.9 of the cut-off.
    skin : float, optional
        Margin of the neighbour lists beyond the cut-off, nm; by default 0.12 of it. No result depends on it.
    reaction_field : float, optional
        Relative permittivity of the medium beyond the cut-off, 1 or more; by default infinite (a conductor).
    loads : sequence of Load
        What acts besides, from ``polhode.loads``; the bodies are called body0, body1 and so on.

    Returns
    -------
    System
        Its trajectories also have ``temperature`` (K), ``temperature_translational``, ``temperature_rotational``,
        ``total_dipole`` (e nm) and, in a box, ``pressure`` (kJ / (mol nm^3)).

    Raises
    ------
    InvalidInput
        Names the invalid argument. A run refuses an initial state in which molecules overlap.

    Examples
    --------
    >>> import polhode as ph
    >>> water = ph.rigid_water(64, density=997.0)
    >>> water.box.round(4).tolist()
    [1.243, 1.243, 1.243]
    >>> start = ph.initial.cubic(4, spacing=water.box[0] / 4).state | ph.initial.thermal(water, 300.0, seed=1)
    >>> ds = ph.integrate(water, step=1e-3, steps=20, start=start)
    >>> ds.total_dipole.shape
    (21, 3)
    """
    N = count(n)
    choice(model, "model", MODELS)
    box, cutoff = in_unit(box, "nm", "box"), in_unit(cutoff, "nm", "cutoff")
    switch, skin = in_unit(switch, "nm", "switch"), in_unit(skin, "nm", "skin")
    if box is not None and density is not None:
        raise InvalidInput("box and density are both given; keep one of them")
    row = MODELS[model]
    weight = float(MASSES.sum())
    edges = edges_of(box)
    if density is not None:
        density = number(density, "density", "kg / m**3", positive=True)
        edges = np.full(3, (N * weight * DALTON / density) ** (1.0 / 3.0))
    usual = min(CUTOFF, 0.5 * float(edges.min())) if cutoff is None and edges is not None else cutoff
    if cutoff is None and usual is not None and usual < SHORTEST:
        raise InvalidInput(
            f"the smallest edge of the box, {edges.min():.4g} nm, leaves no room for a cut-off of {SHORTEST:g} nm, "
            "about where second neighbours are; give more molecules, a larger box or a cutoff"
        )
    within = within_of(edges, usual, switch, skin)
    beyond = reaction(inf if reaction_field is None and within.cutoff else reaction_field, within.cutoff)
    names, places, charge, moments = geometry(row)
    arguments = {
        "n": N, "model": model, "box": plain(box), "density": plain(density), "cutoff": plain(cutoff),
        "switch": plain(switch), "skin": plain(skin), "reaction_field": plain(reaction_field),
    }  # fmt: skip
    frames, dipole = np.tile((1.0, 0.0, 0.0, 0.0), (N, 1)), np.tile(charge @ places, (N, 1))
    molecules = (np.full(N, weight), np.tile(moments, (N, 1)), frames, dipole)
    return liquid(
        "rigid_water", arguments, interaction(row, 0.5 * beyond), within, row.sigma, molecules, loads,
        (BOLTZMANN, COULOMB), units="molecular", recommended="v2",
        constants={
            "site": (("site",), np.array(names)), "site_position": (("site", "axis"), places),
            "site_charge": (("site",), charge), "site_mass": (("site",), MASSES[: len(names)]),
        },
    )  # fmt: skip
