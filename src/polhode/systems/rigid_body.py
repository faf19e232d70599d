"""A rigid body under the user's own torque, potential or load.

    m' = m x I^-1 m + T(t, q, omega),       R' = R hat(I^-1 m)                            [krysl2006, eq. 7]

and, if a mass is given, ``p' = F``, ``r' = p / mass``. Conserved: energy, if only a potential is given and it does not
read the time. A torque or load is added to that of the potential. Its work, and that of a potential that reads the
time, is recorded beside the energy; beside a ``reported_energy`` it is taken to derive from that, and has no work.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from polhode.arguments import in_unit, number, truth
from polhode.arguments.words import Function, Inertia, Loads, Mass, Numbers, States, TableOf, described_by
from polhode.bodies.inertia import KG_M2, mass_of, moments_and_frame
from polhode.bodies.wheels import Gyros, Wheels, control_moment_gyros, reaction_wheels
from polhode.errors import InvalidInput, answering
from polhode.systems.builders import assembled, bodies_of, carrying, given_of
from polhode.systems.controllers import Controllers
from polhode.systems.free_body import free_body
from polhode.systems.record import System


@answering
@described_by(given_of, carrying, free_body)
def rigid_body(
    inertia: Inertia,
    torque: Function | None = None,
    potential: Function | None = None,
    parameters: Numbers | None = None,
    mass: Mass | None = None,
    load: Function | None = None,
    work: bool = True,
    states: States | None = None,
    wheels: Annotated[Wheels | Mapping[str, Any], TableOf(reaction_wheels)] | None = None,
    controllers: Controllers = (),
    gyros: Annotated[Gyros | Mapping[str, Any], TableOf(control_moment_gyros)] | None = None,
    reported_energy: Function | None = None,
    physical: bool = True,
    loads: Loads = (),
) -> System:
    """A rigid body with loads written by the user in plain Python.

    Parameters
    ----------
    inertia : array_like (3,) or (3, 3)
        Principal moments in any order or full tensor, in the user's body frame, which is also that of the functions.
    torque : function, optional
        ``torque(t, q, omega, parameters) -> (x, y, z)`` in the body frame; ``q`` the attitude (w, x, y, z), ``omega``
        the angular velocity in the body frame.
    potential : function, optional
        ``potential(t, q, parameters) -> float``. Its torque is its negative gradient: exact where it can be traced,
        else by differences of order 6 (error 1e-13 if smooth). ``torque`` or ``load`` are added to it.
    mass : float, optional
        Mass of a body that also translates; needed for ``load``.
    load : function, optional
        ``load(t, position, velocity, q, omega, parameters) -> (force, torque)``: force in the space frame, torque in
        the body frame.
    reported_energy : function, optional
        ``reported_energy(t, q, parameters) -> float``: the potential that ``torque`` or ``load`` has by what you know,
        in the place of ``potential``. It is reported as the potential energy and moves nothing, and the work of the
        torque or load is not recorded: an energy error beyond the method's says that the two do not agree.

    Raises
    ------
    InvalidInput
        Invalid inertia, a function with other arguments, or functions that cannot be combined.

    Examples
    --------
    A pendulum with friction: the weight by its potential, and a torque beside it.

    >>> import polhode as ph
    >>> def height(t, q, parameters):
    ...     w, x, y, z = q
    ...     return 1.0 - 2.0 * (x * x + y * y)
    >>> def friction(t, q, omega, parameters):
    ...     return -0.1 * omega
    >>> body = rigid_body((1, 2, 2.5), potential=height, torque=friction)
    >>> ds = ph.integrate(body, step=0.01, t_end=10.0, angular_velocity=(1, 0, 0.2))  # doctest: +SKIP
    >>> [float(abs(ds.energy_error).max()) < 1e-12, float(ds.work[-1]) < 0.0]  # doctest: +SKIP
    [True, True]
    """
    inertia, mass = in_unit(inertia, KG_M2, "inertia"), in_unit(mass, "kg", "mass")
    if mass is not None:
        mass = mass_of(inertia, mass)
    axes = moments_and_frame(inertia, truth(physical, "physical"))
    if load is not None and torque is not None:
        raise InvalidInput("torque and load are both given; a load contains its torque, so leave torque out")
    if load is not None and mass is None:
        raise InvalidInput("a load acts on a body that moves through space; give its mass too, or use torque")
    masses = [np.inf if mass is None else number(mass, "mass", positive=True)]
    (one,) = carrying(bodies_of(masses, [axes]), wheels, gyros)
    given = given_of(
        {"torque": torque, "load": load, "potential": potential, "reported_energy": reported_energy}, "attitude",
        parameters, states, controllers, loads, work, one.states,
    )  # fmt: skip
    return assembled(
        "rigid_body", [one], [],
        {"inertia": inertia, "parameters": None, "mass": mass, **one.rotors,
         **({} if physical else {"physical": False})},
        given,
    )  # fmt: skip
