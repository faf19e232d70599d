"""A rigid body under the user's own torque, potential or load.

    m' = m x I^-1 m + T(t, q, omega),       R' = R hat(I^-1 m)                            [krysl2006, eq. 7]

and, if a mass is given, ``p' = F``, ``r' = p / mass``. Conserved: energy, if only a potential is given and it does not
read the time. A torque or load is added to that of the potential. Its work, and that of a potential that reads the
time, is recorded beside the energy; beside a ``reported_energy`` it is taken to derive from that, and has no work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from polhode.arguments import in_unit, number, numbers, truth
from polhode.arguments.recorded import plain
from polhode.arguments.words import Function, Inertia, ListOf, Loads, Mass, Numbers, States, TableOf
from polhode.bodies.gyros import control_moment_gyros
from polhode.bodies.inertia import KG_M2, mass_of, principal
from polhode.bodies.wheels import reaction_wheels
from polhode.capabilities import stated
from polhode.errors import InvalidInput, answering
from polhode.systems.controllers import controlled, controller, controllers_of, parted
from polhode.systems.equipment import Fitting, cleared, sizes_of
from polhode.systems.loads_roles import no_loads, no_series
from polhode.systems.record import AuxiliaryVariable, System
from polhode.systems.rotors import Rotors, at_first, rotors_alone, rotors_of
from polhode.systems.states import states_of
from polhode.systems.sum import with_loads
from polhode.systems.user import (
    CACHE_SIZE,
    AddedFunctions,
    Behind,
    added_functions,
    attitude_gradient_loads,
    attitude_potential,
    load_added,
    records_of,
    torque_added,
)


@answering
def rigid_body(
    inertia: Inertia,
    torque: Function | None = None,
    potential: Function | None = None,
    parameters: Numbers | None = None,
    mass: Mass | None = None,
    load: Function | None = None,
    work: bool = True,
    states: States | None = None,
    wheels: Annotated[Mapping[str, Any], TableOf(reaction_wheels)] | None = None,
    controllers: Annotated[Sequence[Any], ListOf(controller)] = (),
    gyros: Annotated[Mapping[str, Any], TableOf(control_moment_gyros)] | None = None,
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
    parameters : sequence of float, optional
        Passed to the functions as an array.
    mass : float, optional
        Mass of a body that also translates; needed for ``load``.
    load : function, optional
        ``load(t, position, velocity, q, omega, parameters) -> (force, torque)``: force in the space frame, torque in
        the body frame.
    work : bool
        Record the work of torque or load, or of a potential that reads the time and can be traced, so that the energy
        error is that of the method. It costs explicit methods almost nothing, others up to one or two evaluations of
        the function per step.
    states : mapping, optional
        States of your own, integrated beside the body: a name to how many numbers it has, to its values at the start,
        or to a table with ``size`` or ``start`` and ``unit``. ``torque`` or ``load`` then takes one more argument,
        ``states``, with the state ``states.name``, a number or a vector, and returns the rate of each state behind the
        load: ``return torque, rate_of_first, rate_of_second``. They start at zero, are recorded under their names, and
        keep the order of the method. A table with ``noise`` (standard deviation) and ``every``, perhaps ``seed``,
        ``walk``, ``time_constant`` and ``phase``, is noise, drawn at these intervals and held between them.
    wheels : Wheels, optional
        From ``polhode.reaction_wheels``, or a mapping of its arguments. ``inertia`` is then that of the whole with
        locked wheels; the angular momentum in the trajectory that of the body without what wheels add about their
        axes, and ``spin`` that of the whole, in space. Torques may read the states ``wheel_momentum`` and
        ``wheel_command``.
    controllers : sequence, optional
        From ``polhode.controller``, or mappings of its arguments: functions that set states at equal intervals of time.
        ``torque`` or ``load`` returns no rates of the states that they set.
    gyros : Gyros, optional
        From ``polhode.control_moment_gyros``, or a mapping of its arguments; ``inertia`` is then without what their
        rotors add about their spin axes. Torques may read the states ``gimbal_angle`` and ``gimbal_command``.
    reported_energy : function, optional
        ``reported_energy(t, q, parameters) -> float``: the potential that ``torque`` or ``load`` has by what you know,
        in the place of ``potential``. It is reported as the potential energy and moves nothing, and the work of the
        torque or load is not recorded: an energy error beyond the method's says that the two do not agree.
    physical : bool
        Whether a moment above the sum of the two others, which no body can have, is refused. Euler's equations alone
        are defined for any positive moments: those of textbooks, or of a body in a fluid with its added inertia.
    loads : sequence of Load
        What acts besides, from ``polhode.loads``; the body is called "body".

    Returns
    -------
    System

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
    moments, frame = principal(inertia, triangle=truth(physical, "physical"))
    values, steered = numbers(parameters, "parameters"), controllers_of(controllers)
    inside = (float(frame[0]), float(frame[1]), float(frame[2]), float(frame[3]))
    if load is not None and torque is not None:
        raise InvalidInput("torque and load are both given; a load contains its torque, so leave torque out")
    if load is not None and mass is None:
        raise InvalidInput("a load acts on a body that moves through space; give its mass too, or use torque")
    rotors = rotors_of(wheels, gyros, inertia)
    if rotors is not None:
        if potential is not None:
            raise InvalidInput(f"potential and {rotors.work_names[0]} are both given; write the potential's torque as "
                               "a torque")  # fmt: skip
        if reported_energy is not None:
            raise InvalidInput(f"reported_energy and {rotors.work_names[0]} are both given; leave reported_energy out, "
                               "so that the work of the torque is recorded")  # fmt: skip
        whole = None if mass is None else number(mass, "mass", positive=True)
        one = _Given(inertia, plain(parameters), whole, truth(work, "work"), states, steered)
        return with_loads(_with_rotors(rotors, one, values, torque=torque, load=load), loads)
    held, rated = parted(states_of(states), steered)
    worked = truth(work, "work")
    given = {
        "torque": (torque, torque_added), "load": (load, load_added),
        "potential": (potential, attitude_potential, attitude_gradient_loads),
        "reported_energy": (reported_energy, attitude_potential),
    }  # fmt: skip
    if (states is not None or steered) and torque is None and load is None:
        raise InvalidInput("states are read and changed by a torque or a load, but neither is given; write it, with "
                           "states as its last argument")  # fmt: skip
    free = all(one is None for one, *_ in given.values())
    added = AddedFunctions(no_loads, None, values) if free else added_functions(
        given, None, None, np.zeros(0), 0, values, frame=inside, record_work=worked,
        states=Behind(held.sizes, rated.sizes, len(held.auxiliary), bool(steered)),
    )  # fmt: skip
    conserves: tuple[str, ...] = ("energy",) * added.conservative + ("angular_momentum_space",) * free
    booked = (AuxiliaryVariable("work", name, name != "potential") for name in added.work)
    resting = bool(added.work) and potential is None and not added.velocity_dependent
    made = System(
        name="rigid_body",
        arguments={
            "inertia": plain(inertia),
            "parameters": plain(parameters),
            "mass": plain(mass, "mass"),
            **({} if physical else {"physical": False}),
            **({} if work else {"work": False}),
            **({"states": rated.arguments} if held.sizes or rated.sizes else {}),
            **records_of(added.given),
        },
        mass=np.array([np.inf if mass is None else number(mass, "mass", positive=True)]),
        moments=moments[None],
        frames=frame[None],
        loads=added.loads,
        potential=added.potential,
        commutator=no_loads if free else None,
        series=no_series if free else None,
        provides=stated(velocity_independent=not added.velocity_dependent, split_loads=resting),
        auxiliary=(*booked, *held.auxiliary, *rated.auxiliary),
        memory=CACHE_SIZE if resting else 0,
        parameters=values if len(values) else np.zeros(1),
        conserves=conserves,
        records_work=worked or potential is None or len(added.given) == 1,
        functions=added.given,
    )
    return with_loads(controlled(made, steered, states), loads)


class _Given(NamedTuple):
    """Arguments of ``rigid_body`` as they were given."""

    inertia: Any
    parameters: Any
    mass: float | None
    work: bool
    states: Any
    controllers: Any


def _with_rotors(rotors: Rotors, given: _Given, values: Any, **functions: Any) -> System:
    """A rigid body with wheels or gyros, under a torque or load of the user's."""
    held, rated = parted(states_of(given.states), given.controllers, rotors.commands)
    worked = given.work and any(function is not None for function in functions.values())
    work_names = rotors.work_names
    first = len(work_names) + worked
    count = first + len(rotors.variables) + len(held.auxiliary)
    fitting = Fitting(first, 0, 0, rotors.quaternion, at_first)
    loads = rotors.loads(cleared(rotors_alone, 0, count), fitting)
    added = added_functions(
        {"torque": (functions["torque"], torque_added), "load": (functions["load"], load_added)},
        loads, no_loads, np.array(rotors.table(fitting)), len(work_names),
        None if given.parameters is None else values, frame=rotors.quaternion, record_work=given.work,
        states=Behind((*sizes_of(rotors.variables), *held.sizes), rated.sizes, 0, bool(given.controllers)),
    )  # fmt: skip
    booked = [AuxiliaryVariable("work", name) for name in (*work_names, *added.work)]
    made = System(
        name="rigid_body",
        arguments={
            "inertia": plain(given.inertia), "mass": given.mass, **rotors.arguments,
            **({} if given.work else {"work": False}),
            **({"states": rated.arguments} if rated.arguments else {}), **added.arguments,
        },
        mass=np.array([np.inf if given.mass is None else given.mass]),
        moments=rotors.moments[None],
        frames=rotors.frame[None],
        loads=added.loads,
        provides=stated(split_loads=True),
        auxiliary=(*booked, *rotors.variables, *held.auxiliary, *rated.auxiliary),
        watches=rotors.watches(fitting),
        parameters=added.parameters,
        conserves=() if added.given else ("spin",),
        functions=added.given,
        quantities=rotors.spin(),
        wheels_at=0,
    )  # fmt: skip
    return controlled(made, given.controllers, given.states)
