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

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from polhode.arguments import array, in_unit, number, numbers, truth, vector
from polhode.arguments.recorded import plain
from polhode.arguments.words import Function, ListOf, Loads, Mass, NumberOrVector, Numbers, States, Vector
from polhode.capabilities import stated
from polhode.errors import InvalidInput, answering
from polhode.kernel import layout as L
from polhode.systems.controllers import controlled, controller, controllers_of, parted
from polhode.systems.loads_roles import no_loads
from polhode.systems.record import IDENTITY, AuxiliaryVariable, System
from polhode.systems.states import states_of
from polhode.systems.sum import with_loads
from polhode.systems.user import (
    CACHE_SIZE,
    Behind,
    UserFunction,
    added_functions,
    force_added,
    position_gradient_loads,
    position_potential,
    records_of,
)

# parameters of the built-in loads: stiffness (3), weight (3)


def field_potential(t, N, y, bodies, parameters):
    """Potential energy of spring and weight."""
    total = 0.0
    for k in range(3):
        total += (0.5 * parameters[k] * y[L.POSITION + k] - parameters[3 + k]) * y[L.POSITION + k]
    return total


@answering
def particle(
    mass: Mass = 1.0,
    stiffness: NumberOrVector | None = None,
    gravity: Vector | None = None,
    force: Function | None = None,
    potential: Function | None = None,
    parameters: Numbers | None = None,
    work: bool = True,
    states: States | None = None,
    controllers: Annotated[Sequence[Any], ListOf(controller)] = (),
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
    parameters : sequence of float, optional
        Passed to the functions as an array.
    work : bool
        Record the work of ``force``, or of a ``potential`` that reads the time, as for ``rigid_body``.
    states : mapping, optional
        States of your own, as for ``rigid_body``: ``force`` then takes them as its last argument and returns their
        rates behind the force.
    controllers : sequence, optional
        From ``polhode.controller``, or mappings of its arguments, as for ``rigid_body``.
    reported_energy : function, optional
        ``reported_energy(t, position, parameters) -> float``: the potential that ``force`` has by what you know, in the
        place of ``potential``. It is reported as the potential energy and moves nothing, and the work of the force is
        not recorded.
    loads : sequence of Load
        What acts besides, from ``polhode.loads``; the body is called "body".

    Returns
    -------
    System

    Raises
    ------
    InvalidInput
        Names the invalid argument.
    """
    mass = number(mass, "mass", "kg", positive=True)
    stiffness, gravity = in_unit(stiffness, "N / m", "stiffness"), in_unit(gravity, "m / s**2", "gravity")
    arguments: dict[str, Any] = {"mass": mass, "stiffness": plain(stiffness, "stiffness"),
                                 "gravity": plain(gravity, "gravity")}  # fmt: skip
    functions = {}
    conserves: tuple[str, ...]
    role_of_loads: Any
    role: Any
    commutator: Any = None
    booked_work: tuple[str, ...] = ()
    worked, steered = truth(work, "work"), controllers_of(controllers)
    held, rated = parted(states_of(states), steered)
    sizes = (*held.sizes, *rated.sizes)
    given = {
        "force": (force, force_added), "potential": (potential, position_potential, position_gradient_loads),
        "reported_energy": (reported_energy, position_potential),
    }  # fmt: skip
    if sizes and force is None:
        raise InvalidInput("states are read and changed by a force, but none is given; write it, with states as its "
                           "last argument")  # fmt: skip
    if any(one is not None for one, *_ in given.values()):
        if stiffness is not None or gravity is not None:
            raise InvalidInput("stiffness and gravity cannot be combined with a function; put them into the function")
        values = numbers(parameters, "parameters")
        added = added_functions(
            given, None, None, np.zeros(0), 0, values, record_work=worked,
            states=Behind(held.sizes, rated.sizes, len(held.auxiliary), bool(steered)),
        )  # fmt: skip
        functions, role_of_loads, role, booked_work = added.given, added.loads, added.potential, added.work
        conserves = ("energy",) if added.conservative else ()
        arguments |= {"parameters": plain(parameters)} | ({} if work else {"work": False})
        arguments |= {"states": rated.arguments} if sizes else {}
        arguments |= records_of(functions)
    else:
        if parameters is not None:
            raise InvalidInput("parameters are handed to a force or a potential, but neither is given")
        spring = np.zeros(3) if stiffness is None else array(stiffness, "stiffness")
        spring = np.full(3, float(spring)) if spring.ndim == 0 else vector(spring, "stiffness")
        pull = np.zeros(3) if gravity is None else vector(gravity, "gravity")
        with np.errstate(over="ignore"):
            values = np.concatenate([spring, mass * pull])
        if not np.isfinite(values).all():
            raise InvalidInput(f"mass {mass:g} times gravity is a force beyond 1e308; check their units")
        role_of_loads, role, commutator = no_loads, None, no_loads
        if values.any():
            role, commutator = field_potential, None
        conserves = ("energy",)
        if not pull.any() and np.ptp(spring) == 0.0:
            conserves += ("angular_momentum_space",)
        if not values.any():
            conserves += ("momentum",)
    reads = isinstance(role_of_loads, UserFunction) and role_of_loads.velocity_dependent
    booked = (AuxiliaryVariable("work", name, name != "potential") for name in booked_work)
    resting = booked_work == ("force",) and potential is None and not reads
    made = System(
        name="particle",
        arguments=arguments,
        mass=np.array([mass]),
        moments=np.full((1, 3), np.inf),
        frames=np.array([IDENTITY]),
        loads=role_of_loads,
        potential=role,
        commutator=commutator,
        provides=stated(velocity_independent=not reads, split_loads=resting),
        auxiliary=(*booked, *held.auxiliary, *rated.auxiliary),
        memory=CACHE_SIZE if resting else 0,
        parameters=values if len(values) else np.zeros(1),
        conserves=conserves,
        records_work=worked or len(functions) < 2 or reported_energy is not None,
        functions=functions,
    )
    return with_loads(controlled(made, steered, states), loads)
