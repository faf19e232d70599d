"""Rigid water: molecules with three charges and one Lennard-Jones site each, in free space or in a periodic box.

    V = sum over i < j of S(R_ij) ( 4 epsilon ((sigma/r_OO)^12 - (sigma/r_OO)^6)
                                    + k sum over sites a of i, b of j of q_a q_b (1/r_ab + r_ab^2 c) )

R_ij is the distance of the centres of mass: whole, neutral molecules are cut off, whose interaction beyond the cut-off
is weak. S falls from 1 at ``switch`` to 0 at the cut-off with four continuous derivatives; without a cut-off it is 1.
The last term, c = (e - 1) / ((2 e + 1) cutoff^3), is the reaction field of a medium of relative permittivity e beyond
the cut-off [barker1973, tironi1995]; by default e is infinite (a conductor).

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

from dataclasses import replace
from math import cos, inf, radians, sin
from typing import Any, Literal, NamedTuple

import numpy as np

from polhode.algebra.quaternion import rotate, rotate_inverse
from polhode.arguments import choice, in_unit, number
from polhode.arguments.recorded import plain
from polhode.arguments.words import Loads, NumberOrNumbers, Permittivity
from polhode.errors import InvalidInput, answering
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3
from polhode.kernel.jit import inlined
from polhode.kernel.neighbours import FIRST_PARAMETER, parameters_of
from polhode.kernel.pairs import apart, bound, switched
from polhode.kernel.simd import load4, roots, transposed
from polhode.systems.dipoles import reaction
from polhode.systems.molecules import constants_of, count, edges_of, overlapping, surroundings, thermodynamics
from polhode.systems.record import System
from polhode.systems.sum import with_loads

COULOMB = 138.935457644
"""1 / (4 pi epsilon_0) in kJ nm / (mol e^2)."""
BOLTZMANN = 0.00831446261815324
"""Boltzmann's constant in kJ / (mol K)."""
DALTON = 1.66053906660
"""kg / m^3 per u / nm^3: 1 u is 1.66053906660e-27 kg."""
OXYGEN, HYDROGEN = 15.9994, 1.008
"""Masses in u."""
CUTOFF, SHORTEST = 0.9, 0.5
"""The default cut-off, and the shortest one chosen for a small box; nm."""


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

STRENGTH, SQUARE, REACTION = FIRST_PARAMETER, FIRST_PARAMETER + 1, FIRST_PARAMETER + 2
CHARGES, SITES = FIRST_PARAMETER + 3, FIRST_PARAMETER + 6
"""Slots of the parameters: 4 epsilon; sigma^2; twice the factor c of the reaction field; the three charges times the
square root of k; positions of the oxygen and of the three charges in the body frame."""
DATA = 20
"""Numbers per molecule in the pair data: centre of mass, then oxygen and charges relative to it; each padded to 4."""


@inlined
def pack_water(i, at, N, y, bodies, c):
    """Write the centre of molecule i and its sites, in space, to its pair data."""
    q = get4(y, L.BODY * i + L.ATTITUDE)
    put3(c, at, get3(y, L.BODY * i + L.POSITION))
    put3(c, at + 4, rotate(q, get3(c, SITES)))
    put3(c, at + 8, rotate(q, get3(c, SITES + 3)))
    put3(c, at + 12, rotate(q, get3(c, SITES + 6)))
    put3(c, at + 16, rotate(q, get3(c, SITES + 9)))


@inlined
def site(k, b0, b1, b2, b3, c):
    """Positions of one site of four molecules, relative to their centres."""
    x, y, z, _ = transposed(load4(c, b0 + k), load4(c, b1 + k), load4(c, b2 + k), load4(c, b3 + k))
    return x, y, z


@inlined
def charges(product, x, y, z, c):
    """Energy of two charges with this product, and force on the first divided by the distance vector (x, y, z)."""
    square = x * x + y * y + z * z
    inverse = 1.0 / roots(square)
    u = product * inverse
    return u + 0.5 * (product * c[REACTION]) * square, u * (inverse * inverse) - product * c[REACTION]


@inlined
def against(k, a, x, y, z, p, q, s, c):
    """Charge k of one molecule with the charges of others: energy, force on it, and the three parts of that force."""
    first = c[CHARGES + k]
    at = a + 8 + 4 * k
    mx, my, mz = c[at], c[at + 1], c[at + 2]
    ax, ay, az = x + mx - p[0], y + my - p[1], z + mz - p[2]
    bx, by, bz = x + mx - q[0], y + my - q[1], z + mz - q[2]
    dx, dy, dz = x + mx - s[0], y + my - s[1], z + mz - s[2]
    u, f = charges(first * c[CHARGES], ax, ay, az, c)
    v, g = charges(first * c[CHARGES + 1], bx, by, bz, c)
    w, h = charges(first * c[CHARGES + 2], dx, dy, dz, c)
    A, B, D = (f * ax, f * ay, f * az), (g * bx, g * by, g * bz), (h * dx, h * dy, h * dz)
    return u + v + w, (A[0] + B[0] + D[0], A[1] + B[1] + D[1], A[2] + B[2] + D[2]), A, B, D


@inlined
def plus3(a, b, c):
    """Sum of three forces."""
    return (a[0] + b[0] + c[0], a[1] + b[1] + c[1], a[2] + b[2] + c[2])


@inlined
def turning(r, F, T):
    """T + r x F."""
    return (
        T[0] + (r[1] * F[2] - r[2] * F[1]),
        T[1] + (r[2] * F[0] - r[0] * F[2]),
        T[2] + (r[0] * F[1] - r[1] * F[0]),
    )


@inlined
def water_pair(a, b0, b1, b2, b3, c):
    """Force on a and energy; torque on a and virial; torques on the other four; all in space."""
    x, y, z = apart(a, b0, b1, b2, b3, c)
    square = x * x + y * y + z * z
    r = roots(square)
    S, slope = switched(r, 1.0 / r, c)
    o = site(4, b0, b1, b2, b3, c)
    p, q, s = site(8, b0, b1, b2, b3, c), site(12, b0, b1, b2, b3, c), site(16, b0, b1, b2, b3, c)
    O, P, Q, R = get3(c, a + 4), get3(c, a + 8), get3(c, a + 12), get3(c, a + 16)
    dx, dy, dz = x + O[0] - o[0], y + O[1] - o[1], z + O[2] - o[2]
    i2 = 1.0 / (dx * dx + dy * dy + dz * dz)
    s2 = c[SQUARE] * i2
    s6 = s2 * s2 * s2
    core, well = c[STRENGTH] * (s6 * s6), c[STRENGTH] * s6
    k = i2 * (12.0 * core - 6.0 * well)
    F = (k * dx, k * dy, k * dz)
    u0, F0, A0, B0, C0 = against(0, a, x, y, z, p, q, s, c)
    u1, F1, A1, B1, C1 = against(1, a, x, y, z, p, q, s, c)
    u2, F2, A2, B2, C2 = against(2, a, x, y, z, p, q, s, c)
    potential = core - well + u0 + u1 + u2
    nothing = (0.0 * x, 0.0 * x, 0.0 * x)
    mine = turning(R, F2, turning(Q, F1, turning(P, F0, turning(O, F, nothing))))
    # The forces on the others are opposite: r x (-F) = F x r, so arms and forces are exchanged.
    theirs = turning(plus3(A0, A1, A2), p, turning(plus3(B0, B1, B2), q, nothing))
    theirs = turning(plus3(C0, C1, C2), s, turning(F, o, theirs))
    g = slope * potential
    fx = S * (F[0] + F0[0] + F1[0] + F2[0]) + g * x
    fy = S * (F[1] + F0[1] + F1[1] + F2[1]) + g * y
    fz = S * (F[2] + F0[2] + F1[2] + F2[2]) + g * z
    return (
        fx, fy, fz, S * potential,
        S * mine[0], S * mine[1], S * mine[2], fx * x + fy * y + fz * z,
        S * theirs[0], S * theirs[1], S * theirs[2], nothing[0],
    )  # fmt: skip


@inlined
def water_turned(i, at, sums, y, c):
    """The torque on molecule i, from space to its body frame."""
    return rotate_inverse(get4(y, L.BODY * i + L.ATTITUDE), get3(c, sums))


def geometry(model: Model) -> tuple[Any, Any, Any]:
    """Positions of oxygen, first hydrogen, second hydrogen and negative charge in the body frame, (4, 3), nm; charges
    of these four, e; principal moments, u nm^2."""
    half = radians(0.5 * model.angle)
    x, z = model.bond * sin(half), model.bond * cos(half)
    sites = np.array([(0.0, 0.0, 0.0), (x, 0.0, z), (-x, 0.0, z), (0.0, 0.0, model.apart)])
    masses = np.array([OXYGEN, HYDROGEN, HYDROGEN])
    sites[:, 2] -= masses @ sites[:3, 2] / masses.sum()
    about = [float(masses @ (sites[:3, k] ** 2)) for k in range(3)]
    moments = np.array([about[2], 0.0, about[0]])
    moments[1] = moments[0] + moments[2]
    return sites, np.array([0.0, model.charge, model.charge, -2.0 * model.charge]), moments


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
    >>> rigid_water(1000, density=997.0).box.round(4).tolist()
    [3.1074, 3.1074, 3.1074]
    """
    N = count(n)
    choice(model, "model", MODELS)
    box, cutoff = in_unit(box, "nm", "box"), in_unit(cutoff, "nm", "cutoff")
    switch, skin = in_unit(switch, "nm", "switch"), in_unit(skin, "nm", "skin")
    if box is not None and density is not None:
        raise InvalidInput("box and density are both given; keep one of them")
    row = MODELS[model]
    weight = OXYGEN + 2.0 * HYDROGEN
    edges = edges_of(box)
    if density is not None:
        density = number(density, "density", "kg / m**3", positive=True)
        volume = N * weight * DALTON / density
        edges = np.full(3, volume ** (1.0 / 3.0))
    usual = min(CUTOFF, 0.5 * float(edges.min())) if cutoff is None and edges is not None else cutoff
    if cutoff is None and usual is not None and usual < SHORTEST:
        raise InvalidInput(
            f"the smallest edge of the box, {edges.min():.4g} nm, leaves no room for a cut-off of {SHORTEST:g} nm, "
            "about where second neighbours are; give more molecules, a larger box or a cutoff"
        )
    rc, on, wide = surroundings(usual, switch, skin, edges)
    beyond = inf if reaction_field is None and rc else reaction_field
    sites, charge, moments = geometry(row)
    first = 3 if row.apart else 0
    charged = [first, 1, 2]
    strengths = np.sqrt(COULOMB) * np.array([charge[3], charge[1], charge[2]])
    own = [4.0 * row.epsilon, row.sigma**2, reaction(beyond, rc), *strengths, *sites[0], *sites[charged].ravel()]
    parameters, memory = parameters_of(N, DATA, own, rc, wide, edges, on, row.sigma)
    pulls, potential, serve = bound(pack_water, water_pair, water_turned)
    names = ["O", "H1", "H2", "X"] if row.apart else ["O", "H1", "H2"]
    site_positions = sites[: len(names)]
    carried = np.array([0.0, charge[1], charge[2], charge[3]]) if row.apart else charge[[3, 1, 2]]
    arguments = {
        "n": N, "model": model, "box": plain(box), "density": plain(density), "cutoff": plain(cutoff),
        "switch": plain(switch), "skin": plain(skin), "reaction_field": plain(reaction_field),
    }  # fmt: skip
    moment = np.tile(carried @ site_positions, (N, 1))
    mass, inertia, frames = np.full(N, weight), np.tile(moments, (N, 1)), np.tile((1.0, 0.0, 0.0, 0.0), (N, 1))
    bare = System(
        name="rigid_water",
        arguments=arguments,
        mass=mass,
        moments=inertia,
        frames=frames,
        loads=pulls,
        potential=potential,
        serve=serve,
        provides={"velocity_independent"},
        parameters=parameters,
        memory=memory,
        box=edges,
        boltzmann=BOLTZMANN,
        units="molecular",
        check=overlapping(row.sigma, edges),
        constants={
            **constants_of(mass, inertia, frames, moment, BOLTZMANN, COULOMB),
            "site": (("site",), np.array(names)),
            "site_position": (("site", "axis"), site_positions),
            "site_charge": (("site",), carried),
            "site_mass": (("site",), np.array([OXYGEN, HYDROGEN, HYDROGEN, 0.0])[: len(names)]),
        },
        conserves=("energy", "total_momentum", *(() if edges is not None else ("total_angular_momentum",))),
        recommended="v2",
    )
    return with_loads(replace(bare, quantities=thermodynamics(bare, moment)), loads)
