"""A rigid body under the user's own torque, potential or load.

    m' = m x I^-1 m + T(t, q, omega),       R' = R hat(I^-1 m)                            [krysl2006, eq. 7]

and, if a mass is given, ``p' = F``, ``r' = p / mass``. Conserved: energy, if only a potential is given and it does not
read the time. The work of a torque or load, or of a potential that reads the time, is recorded beside the energy; a
torque given with a potential is taken to derive from it, and no work is recorded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from polhode.arguments import in_unit, number, numbers, truth
from polhode.capabilities import stated
from polhode.errors import InvalidInput, answering
from polhode.systems.inertia import KG_M2, mass_of, principal
from polhode.systems.loads_roles import no_loads, no_series
from polhode.systems.record import AuxiliaryVariable, System, plain
from polhode.systems.user import (
    CACHE_SIZE,
    FORMS,
    WORK_ONLY,
    UserFunction,
    attitude_gradient_loads,
    attitude_potential,
    general_loads,
    torque_loads,
)
from polhode.systems.words import Function, Inertia, Mass, Numbers


@answering
def rigid_body(
    inertia: Inertia,
    torque: Function | None = None,
    potential: Function | None = None,
    parameters: Numbers | None = None,
    mass: Mass | None = None,
    load: Function | None = None,
    work: bool = True,
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
    values = numbers(parameters, "parameters")
    inside = (float(frame[0]), float(frame[1]), float(frame[2]), float(frame[3]))
    if load is not None and torque is not None:
        raise InvalidInput("torque and load are both given; a load contains its torque, so leave torque out")
    if load is not None and mass is None:
        raise InvalidInput("a load acts on a body that moves through space; give its mass too, or use torque")
    if load is not None and potential is not None:
        raise InvalidInput("potential and load are both given; keep the load, and leave the potential out")
    functions = {}
    work_slot: dict[str, Any] = WORK_ONLY if truth(work, "work") and potential is None else {}
    if torque is not None:
        functions["torque"] = UserFunction(FORMS["torque"], torque, torque_loads, inside, values, **work_slot)
    if potential is not None:
        functions["potential"] = UserFunction(FORMS["potential"], potential, attitude_potential, inside, values)
    if load is not None:
        functions["load"] = UserFunction(FORMS["load"], load, general_loads, inside, values, **work_slot)
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
    resting = bool(work_slot) and not free and not reads
    return System(
        name="rigid_body",
        arguments={
            "inertia": plain(inertia),
            "parameters": plain(parameters),
            "mass": plain(mass),
            **({} if work else {"work": False}),
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
