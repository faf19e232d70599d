"""A point mass in a potential or under a force.

    p' = F(t, r, v),       r' = p / mass                                                  [krysl2006, eq. 1]

``F`` is a spring to the origin, ``-stiffness r``, plus the weight in a uniform ``gravity`` (acceleration); or the
user's force, or minus the gradient of the user's potential, or the sum of both. Methods for rigid bodies reduce to
their vector-space form.

Conserved: energy, unless a force is given, or a potential that reads the time; the angular momentum about the origin
for an isotropic spring without gravity; the momentum of a free particle. The work of a force, and of a potential that
reads the time, is recorded beside the energy; beside a ``reported_energy`` the force is taken to derive from that, and
has no work.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from polhode.arguments import array, in_unit, number, vector
from polhode.arguments.recorded import plain
from polhode.arguments.words import Function, Loads, Mass, NumberOrVector, Numbers, States, Vector, described_by
from polhode.bodies.body import POINT, Body
from polhode.errors import InvalidInput, answering
from polhode.loads.load import Load, made
from polhode.systems.builders import assembled, given_of
from polhode.systems.controllers import Controllers
from polhode.systems.record import IDENTITY, System
from polhode.systems.states import states_of


def field_level(body, stiffness, weight):
    """Potential energy of spring and weight."""
    r = body.position
    return sum((0.5 * stiffness[k] * r[k] - weight[k]) * r[k] for k in range(3))


@answering
@described_by(given_of)
def particle(
    mass: Mass = 1.0,
    stiffness: NumberOrVector | None = None,
    gravity: Vector | None = None,
    force: Function | None = None,
    potential: Function | None = None,
    parameters: Numbers | None = None,
    work: bool = True,
    states: States | None = None,
    controllers: Controllers = (),
    reported_energy: Function | None = None,
    loads: Loads = (),
) -> System:
    """A point mass.

    Parameters
    ----------
    mass : float
        Mass, positive.
    stiffness : float or array_like (3,), optional
        Stiffness of the spring to the origin, the same for all axes or one per axis.
    gravity : array_like (3,), optional
        Uniform acceleration.
    force : function, optional
        ``force(t, position, velocity, parameters) -> (x, y, z)``, instead of stiffness and gravity.
    potential : function, optional
        ``potential(t, position, parameters) -> float``, instead of stiffness and gravity: its force is its negative
        gradient, exact where it can be traced, else by differences of order 6 (error 1e-13 if smooth). ``force`` is
        added to it.
    reported_energy : function, optional
        ``reported_energy(t, position, parameters) -> float``: the potential that ``force`` has by what you know, in the
        place of ``potential``. It is reported as the potential energy and moves nothing, and the work of the force is
        not recorded.

    Examples
    --------
    >>> import polhode as ph
    >>> weight_on_spring = ph.particle(2.0, stiffness=8.0)
    >>> ds = ph.integrate(weight_on_spring, step=0.01, t_end=1.0, position=(0.0, 0.0, 0.1))
    >>> round(float(ds.position[-1, 2]), 4)
    -0.0416
    """
    mass = number(mass, "mass", "kg", positive=True)
    stiffness, gravity = in_unit(stiffness, "N / m", "stiffness"), in_unit(gravity, "m / s**2", "gravity")
    arguments: dict[str, Any] = {"mass": mass, "stiffness": plain(stiffness, "stiffness"),
                                 "gravity": plain(gravity, "gravity")}  # fmt: skip
    functions = {"force": force, "potential": potential, "reported_energy": reported_energy}
    acting: list[Load] = []
    alone: dict[str, Any] = {}
    if force is potential is reported_energy is None:
        if parameters is not None:
            raise InvalidInput("parameters are handed to a force or a potential, but neither is given")
        if states_of(states).sizes:
            raise InvalidInput("states are read and changed by a force, but none is given; write it, with states as "
                               "its last argument")  # fmt: skip
        spring = [0.0] * 3 if stiffness is None else array(stiffness, "stiffness").tolist()
        spring = vector(spring, "stiffness").tolist() if isinstance(spring, list) else [spring] * 3
        pull = [0.0] * 3 if gravity is None else vector(gravity, "gravity").tolist()
        weight = [mass * x for x in pull]
        if not all(map(isfinite, weight)):
            raise InvalidInput(f"mass {mass:g} times gravity is a force beyond 1e308; check their units")
        there = any(spring) or any(pull)
        acting = [made(field_level, "field", stiffness=np.array(spring), weight=np.array(weight))] if there else []
        isotropic = not any(pull) and spring[0] == spring[1] == spring[2]
        alone = {"conserves": ("energy",) + ("angular_momentum_space",) * isotropic + ("momentum",) * (not acting)}
    elif stiffness is not None or gravity is not None:
        raise InvalidInput("stiffness and gravity cannot be combined with a function; put them into the function")
    given = given_of(functions, "position", parameters, states, controllers, loads, work)
    arguments |= {"parameters": plain(parameters)} if given.users else {}
    return assembled("particle", [Body("body", mass, POINT, IDENTITY)], acting, arguments, given, alone=alone)
