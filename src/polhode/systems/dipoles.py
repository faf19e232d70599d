"""Soft spheres with dipoles: many rigid bodies with pair interactions.

    V = sum over i < j of  4 epsilon ((sigma/r)^12 - a (sigma/r)^6)
                           + mu_i . mu_j / r^3 - 3 (mu_i . d)(mu_j . d) / r^5         [celledoni2008, eqs. 3.10-3.12]

d = q_i - q_j, r = |d|, mu_i = R(q_i) mubar_i. In the paper there is no attraction (a = 0), and all pairs interact in
free space. Force on i, field at i and torque in its body frame:

    F_i = (48 epsilon (sigma/r)^12 / r^2 + 3 mu_i.mu_j / r^5 - 15 (mu_i.d)(mu_j.d) / r^7) d
              + 3 / r^5 ((mu_j.d) mu_i + (mu_i.d) mu_j)
    E_i = -mu_j / r^3 + 3 (mu_j.d) d / r^5,     T_i = mubar_i x R^T E_i

With ``cutoff`` the energy of a pair is multiplied by S(r), which falls from 1 at ``switch`` to 0 at the cut-off with
four continuous derivatives. With ``box`` the nearest images interact. With ``reaction_field`` the medium beyond the
cut-off, of relative permittivity e, is polarised by the dipoles within it [barker1973]:

    V_ij -= 2 (e - 1) / (2 e + 1) mu_i . mu_j / cutoff^3                    e = infinity: a conductor

The constant energy of each dipole in its own reaction field is left out.

Conserved: energy, total momentum; in free space the total angular momentum about the origin.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Annotated, Any

from polhode.algebra import rotation
from polhode.algebra.quaternion import rotate, rotate_inverse
from polhode.algebra.so3 import cross
from polhode.arguments import UNKNOWN, in_unit, number
from polhode.arguments.recorded import plain
from polhode.arguments.words import Form, Inertia, Loads, NumberOrNumbers, Permittivity, VectorOrVectors
from polhode.bodies.inertia import mass_of, principals
from polhode.errors import InvalidInput, answering, naming
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3
from polhode.kernel.jit import inlined
from polhode.kernel.neighbours import FIRST_PARAMETER, parameters_of
from polhode.kernel.pairs import apart, bound, switched
from polhode.kernel.simd import load4, roots, transposed
from polhode.systems.molecules import (
    constants_of,
    count,
    edges_of,
    masses_of,
    of_each,
    overlapping,
    surroundings,
    thermodynamics,
)
from polhode.systems.record import System
from polhode.systems.sum import with_loads

STRENGTH, SQUARE, ATTRACTED, REACTION = (
    FIRST_PARAMETER,
    FIRST_PARAMETER + 1,
    FIRST_PARAMETER + 2,
    FIRST_PARAMETER + 3,
)
DIPOLES = FIRST_PARAMETER + 4
"""Slots of the parameters: 4 epsilon; sigma^2; a; factor of the reaction field; dipoles in the principal frames."""
DATA = 8
"""Numbers per body in the pair data: position, padding, dipole in space, padding."""


@inlined
def pack_dipole(i, at, N, y, bodies, c):
    """Write position and dipole of body i, in space, to its pair data."""
    put3(c, at, get3(y, L.BODY * i + L.POSITION))
    put3(c, at + 4, rotate(get4(y, L.BODY * i + L.ATTITUDE), get3(c, DIPOLES + 3 * i)))


@inlined
def dipole_pair(a, b0, b1, b2, b3, c):
    """Force on a and energy; field at a and virial; field at the other four."""
    x, y, z = apart(a, b0, b1, b2, b3, c)
    u, v, w, _ = transposed(load4(c, b0 + 4), load4(c, b1 + 4), load4(c, b2 + 4), load4(c, b3 + 4))
    p, q, s = c[a + 4], c[a + 5], c[a + 6]
    square = x * x + y * y + z * z
    r = roots(square)
    i1 = 1.0 / r
    i2 = i1 * i1
    i3 = i2 * i1
    i5 = i3 * i2
    mine = x * p + y * q + z * s
    other = x * u + y * v + z * w
    both = u * p + v * q + w * s
    s2 = c[SQUARE] * i2
    s6 = s2 * s2 * s2
    core = c[STRENGTH] * (s6 * s6)
    well = c[STRENGTH] * c[ATTRACTED] * s6
    product = 3.0 * i5 * mine * other
    potential = core - well + i3 * both - product - c[REACTION] * both
    S, slope = switched(r, i1, c)
    along = S * (i2 * (12.0 * core - 6.0 * well - 5.0 * product) + 3.0 * i5 * both) + slope * potential
    k5 = 3.0 * S * i5
    at_mine, at_other = k5 * other, k5 * mine
    fx = along * x + at_mine * p + at_other * u
    fy = along * y + at_mine * q + at_other * v
    fz = along * z + at_mine * s + at_other * w
    k3 = S * (c[REACTION] - i3)
    return (
        fx, fy, fz, S * potential,
        at_mine * x + k3 * u, at_mine * y + k3 * v, at_mine * z + k3 * w, fx * x + fy * y + fz * z,
        at_other * x + k3 * p, at_other * y + k3 * q, at_other * z + k3 * s, k3,
    )  # fmt: skip


@inlined
def dipole_turned(i, at, sums, y, c):
    """Torque of the field on the dipole of body i, body frame."""
    E = rotate_inverse(get4(y, L.BODY * i + L.ATTITUDE), get3(c, sums))
    return cross(get3(c, DIPOLES + 3 * i), E)


@answering
def dipoles(
    n: int,
    mass: NumberOrNumbers | None = None,
    inertia: Inertia = (1.0, 1.88, 2.88),
    dipole: VectorOrVectors = (0.0, 1.0, 1.0),
    sigma: float = 1.0,
    epsilon: float = 1.0,
    *,
    attraction: Annotated[float | bool, Form.NUMBER] = False,
    cutoff: float | None = None,
    switch: float | None = None,
    skin: float | None = None,
    box: NumberOrNumbers | None = None,
    reaction_field: Permittivity | None = None,
    loads: Loads = (),
) -> System:
    """Soft spheres with dipoles; by default those of [celledoni2008, section 3.4], in free space.

    Parameters
    ----------
    n : int
        Number of bodies, two or more.
    mass : float or array_like (n,), optional
        Positive; by default that of ``inertia`` if it comes from ``polhode.inertia``, else 1.
    inertia : array_like (3,), (3, 3), (n, 3) or (n, 3, 3)
        Moments or tensor about the centre of mass, for all bodies or one for each; a (3, 3) array is one tensor.
    dipole : array_like (3,) or (n, 3)
        Dipole in the body frame, for all bodies or one for each.
    sigma : float
        Diameter of the spheres, positive.
    epsilon : float
        Strength of their repulsion, not negative.
    attraction : float or bool
        Factor of the attraction in -4 epsilon (sigma/r)^6, True for 1.
    cutoff : float, optional
        Distance beyond which pairs do not interact; without it all pairs do.
    switch : float, optional
        Distance at which the pair energy begins to be switched off; by default 0.9 of the cut-off.
    skin : float, optional
        Margin of the neighbour lists beyond the cut-off; by default 0.12 of it. No result depends on it.
    box : float or array_like (3,), optional
        Edges of the periodic box, each at least twice the cut-off; free space without it.
    reaction_field : float, optional
        Relative permittivity of the medium beyond the cut-off, 1 or more; infinite for a conductor.
    loads : sequence of Load
        What acts besides, from ``polhode.loads``; the bodies are called body0, body1 and so on.

    Returns
    -------
    System
        Its trajectories also have ``temperature``, ``temperature_translational``, ``temperature_rotational``,
        ``total_dipole`` and, in a box, ``pressure``; with k_B = 1.

    Raises
    ------
    InvalidInput
        Names the invalid argument. A run refuses an initial state in which bodies overlap.

    Examples
    --------
    >>> dipoles(100).conserves
    ('energy', 'total_momentum', 'total_angular_momentum')
    >>> dipoles(500, attraction=True, cutoff=3.0, box=10.0, reaction_field=float("inf")).conserves
    ('energy', 'total_momentum')
    """
    N, mass = count(n), mass_of(inertia, mass, 1.0)
    mass, inertia = in_unit(mass, UNKNOWN, "mass"), in_unit(inertia, UNKNOWN, "inertia")
    sizes = {
        "sigma": number(sigma, "sigma", UNKNOWN, positive=True, most=1e100),
        "epsilon": number(epsilon, "epsilon", UNKNOWN, most=1e100),
    }
    pull = float(attraction) if isinstance(attraction, bool) else number(attraction, "attraction", UNKNOWN)
    for name, value in (("epsilon", sizes["epsilon"]), ("attraction", pull)):
        if value < 0.0:
            raise InvalidInput(f"{name} is {value:g}; it must not be negative")
    edges = edges_of(box)
    rc, on, wide = surroundings(cutoff, switch, skin, edges)
    moments, frames = principals(inertia, N)
    masses = masses_of(mass, N)
    moment = of_each(dipole, N, "dipole")
    own = [4.0 * sizes["epsilon"], sizes["sigma"] ** 2, pull, reaction(reaction_field, rc)]
    with naming(v="dipole"):
        inside = rotation.rotate(rotation.conjugate(frames), moment)
    parameters, memory = parameters_of(N, DATA, [*own, *inside.ravel()], rc, wide, edges, on, sizes["sigma"])
    pulls, potential, serve = bound(pack_dipole, dipole_pair, dipole_turned)
    arguments = {
        "n": N, "mass": plain(mass), "inertia": plain(inertia), "dipole": plain(dipole), **sizes, "attraction": pull,
        "cutoff": plain(cutoff), "switch": plain(switch), "skin": plain(skin), "box": plain(box),
        "reaction_field": plain(reaction_field),
    }  # fmt: skip
    bare = System(
        name="dipoles",
        arguments=arguments,
        mass=masses,
        moments=moments,
        frames=frames,
        loads=pulls,
        potential=potential,
        serve=serve,
        provides={"velocity_independent"},
        parameters=parameters,
        memory=memory,
        box=edges,
        units="consistent",
        check=overlapping(sizes["sigma"], edges),
        constants=constants_of(masses, moments, frames, moment),
        conserves=("energy", "total_momentum", *(() if box is not None else ("total_angular_momentum",))),
        recommended="rkn4_6b",
    )
    return with_loads(replace(bare, quantities=thermodynamics(bare, moment)), loads)


def reaction(permittivity: Any, cutoff: float) -> float:
    """The factor 2 (e - 1) / ((2 e + 1) cutoff^3) of a reaction field; 0 without one.

    Raises
    ------
    InvalidInput
    """
    if permittivity is None:
        return 0.0
    if not cutoff:
        raise InvalidInput("reaction_field is given without cutoff, beyond which it would begin; give both")
    if isinstance(permittivity, float) and permittivity == inf:
        return 1.0 / cutoff**3
    e = number(permittivity, "reaction_field")
    if not 1.0 <= e <= 1e100:
        raise InvalidInput(f"reaction_field is {e:g}; a relative permittivity is 1 or more, inf that of a conductor")
    return 2.0 * (e - 1.0) / ((2.0 * e + 1.0) * cutoff**3)
