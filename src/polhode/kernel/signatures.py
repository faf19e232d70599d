"""Typed signatures of the functions a run is made of (loads, potential, events, loops), and the workspace of a step.

State ``y``, flat: N blocks of 13 numbers, then the S auxiliary variables of the system (such as the work of a force),
then the extra block that a method declares (the only memory between steps). Slots are named in ``kernel.layout``.

====== ========= ===============================================
offset length    meaning
====== ========= ===============================================
0      3         position, space frame
3      3         momentum, space frame
6      4         attitude quaternion (w, x, y, z), body to space
10     3         angular momentum, principal body frame
====== ========= ===============================================

``bodies``, flat: N blocks of 8 numbers, then N quaternions from the principal frames to the users' frames.

====== ========= ===============================================
offset length    meaning
====== ========= ===============================================
0      1         mass
1      3         principal moments
4      1         inverse mass; 0 pins the body
5      3         inverse principal moments; 0 makes it a point
====== ========= ===============================================
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Kind(str):
    """A type by its name in numba; called with those of the arguments, the signature of a function."""

    def __call__(self, *arguments: str) -> Kind:
        return Kind(f"{self}({', '.join(arguments)})")


f8, i8, void, boolean, function_type = map(Kind, ("f8", "i8", "void", "boolean", "FunctionType"))
A1, A2, A3, I1, I2 = map(Kind, ("f8[::1]", "f8[:, ::1]", "f8[:, :, ::1]", "i8[::1]", "i8[:, ::1]"))
P = Kind("CPointer")(f8)

LOADS = void(i8, f8, i8, P, P, P, P)
"""loads(part, t, N, y, bodies, parameters, out): writes N blocks of force (space frame) and torque (body frame), then
the rates of the S auxiliary variables. Loads and rates may depend on all of the state, but for works. ``part`` is ALL,
WITHOUT_SOLVED or, for split loads, other bits (SLOPES, where a run says so: all loads, with their slopes behind the
rates): a rate that depends on velocities belongs to the part MOVING, any other
to the part of its load, and is written as 0 where its part is not requested."""
POTENTIAL = f8(f8, i8, P, P, P)
"""potential(t, N, y, bodies, parameters): total potential energy."""
EVENT = f8(i8, f8, i8, P, P, P, P)
"""event(k, t, N, y, bodies, parameters, table): function of event number k, whose zeros are the events; ``table`` holds
the parameters of all events, ``parameters`` those of the system."""


class Workspace(NamedTuple):
    """What a step may read and write; each array is a pointer to its first element (``kernel.jit.pointer``)."""

    N: int  # number of bodies
    B: int  # number of blocks of unknowns
    S: int  # number of auxiliary variables
    y: Any  # (13 N + S + extra): state, changed in place by the step
    bodies: Any  # (12 N): masses, principal moments, their inverses, then quaternions of the users' frames
    parameters: Any  # of the system, in an order of its own
    loads: Any  # a typed pointer to the LOADS role
    coefficients: Any  # the method's
    int_coefficients: Any  # the method's integer coefficients (such as the number of stages)
    # (2 B): pairs (body, kind) of the blocks that move; a pinned body has no TRANSLATION block, a particle no ROTATION
    blocks: Any
    stage_state: Any  # (13 N + S + extra): a second state, for stages
    load: Any  # (6 N + S): receives the loads; behind them their slopes (6 N times 12 N), if a run has them
    work: Any  # scratch memory of the size the method requested; only its first numbers may be kept, for joints
    step_info: Any  # (28): flags and counters shared by run, loop and step; slots in ``kernel.layout``
    frames: Any  # (4 N): quaternions from the principal frames to the users' body frames


MARCH = i8(i8, i8, i8, i8, f8, f8, f8, i8, i8, A1, I1, A2, I1, I1, A1, A1)
MARCH_ADAPTIVE = i8(i8, i8, i8, f8, f8, f8, f8, A1, i8, i8, A1, I1, A1, A1, A1, A1, A2, I1, i8, I1, A1)
DENSE = i8(A1, f8, f8, f8, i8, i8, A1, I1, A1)
MARCH_TIME_TRANSFORMED = i8(i8, i8, i8, f8, f8, f8, i8, i8, A1, I1, A1, A1, A1, A1, A2, I1)
SERVE = void(i8)
SWEEP = void(i8, A1, A2, A2, A1, I1, I1)
EVENT_VALUES = void(function_type(EVENT), f8, A1, A1, A1, A1, A1)
LOAD_CHANGES = void(i8, i8, i8, A2, A2, I1, f8, f8, A2, A1)
ENERGIES = void(A1, A2, i8, A2, A2, I1, A1, A1)
BALANCE = void(A1, A1, A2, A2, boolean, A1, A1, A1, A2, I2, A1)
ENERGIES_APART = void(*[A2] * 5, A1, *[A2] * 3)
TURNED = void(A2, i8, i8, A3, A3, A3)
QUANTITIES = void(A2, i8, A2, *[A3] * 7, A2)
OF_RUN = void(A1, A2, A2, *[A3] * 7, A2, A2, A2, I1, A1, A1, A2, A2, A1, A1, A1, A1, A2, I2, A1)
ONE_LOADS = void(function_type(LOADS), f8, A1, A1, A1, A1)
ONE_POTENTIAL = void(function_type(POTENTIAL), f8, A1, A1, A1, A1)
