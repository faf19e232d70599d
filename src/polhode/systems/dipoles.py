"""Soft spheres with dipoles: many rigid bodies with pair interactions.

    V = sum over i < j of  4 epsilon ((sigma/r)^12 - a (sigma/r)^6)
                           + mu_i . mu_j / r^3 - 3 (mu_i . d)(mu_j . d) / r^5         [celledoni2008, eqs. 3.10-3.12]

d = q_i - q_j, r = |d|, mu_i = R(q_i) mubar_i. In the paper there is no attraction (a = 0), and all pairs interact in
free space. Forces and torques are the derivatives.

With ``cutoff`` the energy of a pair is multiplied by S(r), which falls from 1 at ``switch`` to 0 at the cut-off with
four continuous derivatives. With ``box`` the nearest images interact. With ``reaction_field`` the medium beyond the
cut-off, of relative permittivity e, is polarised by the dipoles within it [barker1973]:

    V_ij -= 2 (e - 1) / (2 e + 1) mu_i . mu_j / cutoff^3                    e = infinity: a conductor

The constant energy of each dipole in its own reaction field is left out.

Conserved: energy, total momentum; in free space the total angular momentum about the origin.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from polhode.algebra import rotation
from polhode.arguments import UNKNOWN, in_unit, number
from polhode.arguments.recorded import plain
from polhode.arguments.words import Form, Inertia, Loads, NumberOrNumbers, Permittivity, VectorOrVectors
from polhode.bodies.inertia import mass_of, principals
from polhode.errors import InvalidInput, answering, naming
from polhode.loads.load import PAIRS, made
from polhode.systems.liquids import liquid, reaction
from polhode.systems.molecules import count, edges_of, masses_of, vectors_of, within_of
from polhode.systems.record import System


def spheres(a, b, epsilon, sigma, attraction, reaction):
    """Energy of two spheres [celledoni2008, eqs. 3.10-3.12], with an attraction and a reaction field."""
    d = a.position - b.position
    mine, other = a.in_space(a.dipole), b.in_space(b.dipole)
    square = d @ d
    s6 = (sigma**2 / square) ** 3
    ends = (mine @ other) * (square**-1.5 - reaction) - 3.0 * (mine @ d) * (other @ d) * square**-2.5
    return 4.0 * epsilon * (s6 * s6 - attraction * s6) + ends


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
    >>> import polhode as ph
    >>> liquid = ph.dipoles(27, attraction=True, cutoff=1.9, box=3.9, reaction_field=float("inf"))
    >>> liquid.conserves
    ('energy', 'total_momentum')
    >>> start = ph.initial.cubic(3, spacing=1.3).state | ph.initial.random_rotations(27, seed=1)
    >>> ds = ph.integrate(liquid, step=0.002, steps=50, start=start)
    >>> bool(abs(ds.energy_error).max() < 1e-2)
    True
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
    within = within_of(edges_of(box), cutoff, switch, skin)
    moments, frames = principals(inertia, N)
    masses = masses_of(mass, N)
    moment = vectors_of(dipole, N, "dipole")
    beyond = reaction(reaction_field, within.cutoff)
    with naming(v="dipole"):
        inside = rotation.rotate(rotation.conjugate(frames), moment)
    acting = made(spheres, "spheres", **sizes, attraction=pull, reaction=beyond)
    acting = replace(acting, own={"dipole": inside}, bodies=(PAIRS,))
    arguments = {
        "n": N, "mass": plain(mass), "inertia": plain(inertia), "dipole": plain(dipole), **sizes, "attraction": pull,
        "cutoff": plain(cutoff), "switch": plain(switch), "skin": plain(skin), "box": plain(box),
        "reaction_field": plain(reaction_field),
    }  # fmt: skip
    molecules = (masses, moments, frames, moment)
    return liquid("dipoles", arguments, acting, within, sizes["sigma"], molecules, loads, units="consistent",
                  recommended="rkn4_6b")  # fmt: skip
