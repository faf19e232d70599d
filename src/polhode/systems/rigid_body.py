"""A rigid body under the user's own torque, potential or load.

    m' = m x I^-1 m + T(t, q, omega),       R' = R hat(I^-1 m)                            [krysl2006, eq. 7]

and, if a mass is given, ``p' = F``, ``r' = p / mass``. Conserved: energy, if only a potential is given and it does not
read the time. The work of a torque or load, or of a potential that reads the time, is recorded beside the energy; a
torque given with a potential is taken to derive from it, and no work is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import numpy as np

from polhode.arguments import in_unit, number, numbers, truth
from polhode.capabilities import stated
from polhode.errors import InvalidInput, answering
from polhode.kernel import layout as L
from polhode.systems.controllers import controlled, controller, controllers_of, parted
from polhode.systems.equipment import Fitting, cleared, sizes_of
from polhode.systems.gyros import control_moment_gyros
from polhode.systems.inertia import KG_M2, mass_of, principal
from polhode.systems.loads_roles import no_loads, no_series
from polhode.systems.record import AuxiliaryVariable, System, plain
from polhode.systems.rotors import Rotors, at_first, rotors_alone, rotors_of
from polhode.systems.states import states_of
from polhode.systems.user import (
    CACHE_SIZE,
    FORMS,
    WORK_ONLY,
    Behind,
    UserFunction,
    added_functions,
    attitude_gradient_loads,
    attitude_potential,
    general_loads,
    load_added,
    loads_with_states,
    torque_added,
    torque_loads,
)
from polhode.systems.wheels import no_gravity, reaction_wheels
from polhode.systems.words import Function, Inertia, ListOf, Mass, Numbers, States, TableOf


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
        ``potential(t, q, parameters) -> float``. Without ``torque``, the torque is its negative gradient: exact
        where it can be traced, else by differences of order 6 (error 1e-13 if smooth). With ``torque``, it only
        enters the reported energy.
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

    Returns
    -------
    System

    Raises
    ------
    InvalidInput
        Invalid inertia, a function with other arguments, or functions that cannot be combined.
    """
    inertia, mass = in_unit(inertia, KG_M2, "inertia"), in_unit(mass, "kg", "mass")
    if mass is not None:
        mass = mass_of(inertia, mass)
    moments, frame = principal(inertia)
    values, steered = numbers(parameters, "parameters"), controllers_of(controllers)
    inside = (float(frame[0]), float(frame[1]), float(frame[2]), float(frame[3]))
    if load is not None and torque is not None:
        raise InvalidInput("torque and load are both given; a load contains its torque, so leave torque out")
    if load is not None and mass is None:
        raise InvalidInput("a load acts on a body that moves through space; give its mass too, or use torque")
    if load is not None and potential is not None:
        raise InvalidInput("potential and load are both given; keep the load, and leave the potential out")
    rotors = rotors_of(wheels, gyros, inertia)
    if rotors is not None:
        if potential is not None:
            raise InvalidInput(f"potential and {rotors.work_names[0]} are both given; write the potential's torque as "
                               "a torque")  # fmt: skip
        whole = None if mass is None else number(mass, "mass", positive=True)
        one = _Given(inertia, plain(parameters), whole, truth(work, "work"), states, steered)
        return _with_rotors(rotors, one, values, torque=torque, load=load)
    functions = {}
    held, rated = parted(states_of(states), steered)
    sizes, variables = (*held.sizes, *rated.sizes), (*held.auxiliary, *rated.auxiliary)
    if (states is not None or steered) and torque is None and load is None:
        raise InvalidInput("states are read and changed by a torque or a load, but neither is given; write it, with "
                           "states as its last argument")  # fmt: skip
    work_slot: dict[str, Any] = WORK_ONLY if truth(work, "work") and potential is None else {}

    def with_states(name: str, function: Any, role: Any) -> UserFunction:
        role = loads_with_states if sizes else role
        form, own = FORMS[name].with_states(sizes, len(held.sizes), len(held.auxiliary)), bool(work_slot)
        return UserFunction(form, function, role, inside, values, own=own - 1, states_at=int(own),
                            size=L.LOAD + own + len(variables))  # fmt: skip

    if torque is not None:
        functions["torque"] = with_states("torque", torque, torque_loads)
    if potential is not None:
        functions["potential"] = UserFunction(FORMS["potential"], potential, attitude_potential, inside, values)
    if load is not None:
        functions["load"] = with_states("load", load, general_loads)
    loads: Any = functions.get("load") or functions.get("torque")
    if loads is None and potential is not None:
        loads = UserFunction(FORMS["potential"], potential, attitude_gradient_loads, inside, values)
        if work and loads.drives:
            loads = replace(loads, **WORK_ONLY)
    free = not functions
    conserves: tuple[str, ...] = ("energy", "angular_momentum_space") if free else ()
    if list(functions) == ["potential"] and loads.autonomous:
        conserves = ("energy",)
    reads = not free and loads.velocity_dependent
    own = tuple(AuxiliaryVariable("work", name) for name in functions) if work_slot else ()
    if potential is not None and loads.own >= 0:
        own = (AuxiliaryVariable("work", "potential", False),)
    own += variables
    resting = bool(work_slot) and not free and not reads
    made = System(
        name="rigid_body",
        arguments={
            "inertia": plain(inertia),
            "parameters": plain(parameters),
            "mass": plain(mass),
            **({} if work else {"work": False}),
            **({"states": rated.arguments} if sizes else {}),
            **{key: function.record() for key, function in functions.items()},
        },
        mass=np.array([np.inf if mass is None else number(mass, "mass", positive=True)]),
        moments=moments[None],
        frames=frame[None],
        loads=no_loads if free else loads,
        potential=functions.get("potential"),
        commutator=no_loads if free else None,
        series=no_series if free else None,
        provides=stated(velocity_independent=not reads, split_loads=resting),
        auxiliary=own,
        memory=CACHE_SIZE if resting else 0,
        parameters=values if len(values) else np.zeros(1),
        conserves=conserves,
        functions=functions,
    )
    return controlled(made, steered, states)


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
    fitting = Fitting(first, 0, 0, rotors.quaternion, at_first, no_gravity)
    loads = rotors.loads(cleared(rotors_alone, 0, count), fitting)
    added = added_functions(
        {"torque": (functions["torque"], torque_added), "load": (functions["load"], load_added)},
        loads, no_loads, np.array(rotors.table(fitting)), len(work_names),
        None if given.parameters is None else values, frame=rotors.quaternion, record_work=given.work,
        states=Behind((*sizes_of(rotors.variables), *held.sizes), rated.sizes, 0, bool(given.controllers)),
    )  # fmt: skip
    booked = [AuxiliaryVariable("work", name) for name in (*work_names, added.work) if name]
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
