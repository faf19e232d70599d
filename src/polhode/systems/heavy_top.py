"""A rigid body with a fixed point, in uniform gravity.

    m' = m x I^-1 m - weight c x u,     u = R^T up,     up = (0, 0, 1)                     [krysl2006, 5.2]

with the centre of mass ``c`` relative to the fixed point, in the body frame. Potential ``U = weight (R c) . up``. A
torque of the user's is added, and its work recorded beside the energy.

Conserved, without such a torque: energy; the vertical component of the spatial angular momentum; for a symmetric top
with its centre of mass on the axis, also the angular momentum about that axis.

The inertia about the fixed point follows from ``J`` about the centre of mass by the parallel-axis theorem,
``I = J + mass (|c|^2 - c c^T)`` [holzinger2021, eq. 75].
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from polhode.algebra.quaternion import rotate_inverse
from polhode.algebra.so3 import cross, scale
from polhode.arguments import truth, words
from polhode.arguments.recorded import frozen
from polhode.bodies.body import Body
from polhode.bodies.inertia import RELATIVE_TOLERANCE
from polhode.bodies.inertia.fixed_points import STANDARD_GRAVITY, held_at_a_point, symmetry_axis
from polhode.errors import InvalidInput, answering
from polhode.kernel.access import get3, put3
from polhode.loads import weight as weight_load
from polhode.systems.builders import NOTHING, assembled, given_of
from polhode.systems.controllers import Controllers
from polhode.systems.free_body import free_body
from polhode.systems.record import System

# parameters: weight, then the centre of mass in the principal frame
DIRECT = frozen({"weight": (0, False)})


def top_series(part, t, k, u, bodies, parameters, out):
    """Taylor coefficient of the torque, which is linear in u."""
    put3(out, 0, scale(-parameters[0], cross(get3(parameters, 1), get3(u, 3 * k))))


@answering
@words.described_by(given_of, free_body)
def heavy_top(
    inertia: words.Inertia,
    center_of_mass: words.Position | None = None,
    weight: words.Newtons | None = None,
    *,
    mass: words.Mass | None = None,
    gravity: words.Acceleration = STANDARD_GRAVITY,
    inertia_about: Literal["fixed_point", "center_of_mass"] = "fixed_point",
    torque: words.Function | None = None,
    parameters: words.Numbers | None = None,
    work: bool = True,
    states: words.States | None = None,
    controllers: Controllers = (),
    physical: bool = True,
    loads: words.Loads = (),
) -> System:
    """A rigid body that rotates about a fixed point under its weight.

    Parameters
    ----------
    inertia : array_like (3,) or (3, 3), or MassProperties
        Principal moments in any order or full tensor, in the user's body frame, about the point ``inertia_about``. A
        body from ``polhode.inertia`` provides its mass, and its inertia is about its centre of mass.
    center_of_mass : array_like (3,), optional
        Position relative to the fixed point, in the user's body frame. A body from ``polhode.inertia`` provides it
        too, with the fixed point at the origin of its axes.
    weight : float, optional
        Mass times the acceleration of gravity, which points along -z in space. Give this or ``mass``.
    mass : float, optional
        Positive; the weight is then ``mass * gravity``.
    gravity : float
        Acceleration of gravity along -z in space (negative: upwards), used with ``mass``.
    inertia_about : {"fixed_point", "center_of_mass"}
        Reference point of ``inertia``. For the centre of mass give the mass: the inertia about the fixed point is
        ``inertia + mass (|c|^2 - c c^T)`` [holzinger2021, eq. 75].
    torque : function, optional
        ``torque(t, q, omega, parameters) -> (x, y, z)`` in the user's body frame, about the fixed point, added to that
        of the weight: friction, a motor.
    loads : sequence of Load
        What acts besides, from ``polhode.loads``; the body is called "top".

    Raises
    ------
    InvalidInput
        Names the invalid argument and entry; both or neither of ``weight`` and ``mass``; an inertia about the fixed
        point that is too small for the mass at that distance.

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    >>> top.conserves
    ('energy', 'vertical_angular_momentum', 'axial_angular_momentum')
    >>> ph.heavy_top((0.5, 0.5, 1), (0, 0, 1), mass=2.0, inertia_about="center_of_mass").moments
    array([[2.5, 2.5, 1. ]])
    >>> leaning = ph.rotation.exp_quaternion((0.3, 0.0, 0.0))
    >>> ds = ph.integrate(top, step=0.01, t_end=5.0, attitude=leaning, angular_velocity=(0, 0, 20))
    >>> bool(abs(ds.energy_error).max() < 1e-6)
    True
    """
    tensor, moments, frame, center, newtons, recorded = held_at_a_point(
        inertia, center_of_mass, weight, mass, gravity, inertia_about, truth(physical, "physical")
    )
    axis = symmetry_axis(tensor, center)
    inside = np.array(rotate_inverse(frame, tuple(center.tolist())))
    if 0.0 in moments and np.abs(inside[np.array(moments) > 0.0]).max() > RELATIVE_TOLERANCE * np.abs(inside).max():
        raise InvalidInput(
            "center_of_mass is beside the axis about which the moment of inertia is zero, where all mass is; check both"
        )
    given = given_of({"torque": torque}, "", parameters, states, controllers, loads, work)
    return assembled(
        "heavy_top", [Body("top", np.inf, moments, frame)],
        [weight_load(newtons, at=center if given.acts else inside)],
        {**recorded, **({} if physical else {"physical": False})},
        given, how={"principal": not given.acts}, direct=NOTHING if mass is not None else DIRECT,
        axis=axis, alone={"series": top_series, "recommended": "fg6_5"},
    )  # fmt: skip
