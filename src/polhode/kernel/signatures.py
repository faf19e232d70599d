"""The roles of a run, each a typed function, and the workspace a step sees.

State ``y``, flat: N blocks of 13 numbers, then the S numbers of the system's own (such as the work of a force), then
whatever extra block a method declares (the only memory between steps).

====== ========= ===============================================
offset length    meaning
====== ========= ===============================================
0      3         position, space frame
3      3         momentum, space frame
6      4         attitude quaternion (w, x, y, z), body to space
10     3         angular momentum, principal body frame
====== ========= ===============================================

``bodies``, flat: N blocks of 8 numbers: mass, three principal moments, and their inverses in the same order; then of
each body the quaternion from its principal frame to the user's. An inverse mass of zero pins a body; inverse moments of
zero make it a point.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import f8, i8, types

BODY = 13
POSITION, MOMENTUM, ATTITUDE, ANGULAR = 0, 3, 6, 10
CONSTANTS = 8
OF_BODY = CONSTANTS + 4
"""Numbers of a body in ``bodies``, with those of its frame."""
MASS, INERTIA, INVERSE_MASS, INVERSE_INERTIA = 0, 1, 4, 5
LOAD = 6

ATTRACTION, POTENTIAL_PART, RESTING, MOVING = 1, 2, 4, 8
ALL, WITHOUT_SOLVED, DISSIPATIVE = 15, 14, 12
COMMUTATOR, SERIES = 16, 32
"""Parts of a load, bits of which several may be asked for at once: the attraction that a flow may solve; what else has
a potential; what has none and does not depend on velocities; what depends on velocities. Then everything; without the
attraction; without what has a potential. Only a system that says it divides its loads is asked for other parts than
these.

Not to be combined, and asked for only where a system says it provides them: the load of the commutator [V, [T, V]],
which is the gradient of F . M^-1 F; a Taylor coefficient of the torque."""

SERIES_ROW = 32
SERIES_OWN = 3 * SERIES_ROW
SERIES_SIZE = SERIES_OWN + 4 * SERIES_ROW
"""Of the memory of a SERIES call: most coefficients of a series; where the rows begin that are the system's own, four
series or what else it likes to keep from one coefficient to the next; length."""

TRANSLATION, ROTATION = 0, 1
"""Kinds of a block of unknowns, see ``Workspace.blocks``."""

OK, NOT_CONVERGED, TOO_LARGE, NOT_FINITE = 0, 1, 2, 3
"""What a step returns."""
TOO_SMALL = 4
"""What the adaptive loop returns where the tolerance asks for steps that time cannot resolve."""
CROSSED, CUT = 5, 6
"""What a loop returns after a step in which the function of an event changed sign; and, with chosen steps, before one
that is to be cut at such a place: it has not been taken."""
SINGULAR = 7
"""What a step returns where the solution that belongs to it ends at a shorter step, whose equations are singular: ERROR
then holds that step, and RESIDUAL the reciprocal condition number of their matrix just before it."""
LOST = 10
"""What a step returns where the solution that belongs to it, followed from a vanishing step, ends or turns back at a
shorter one: ERROR then holds the longest step reached."""
STOPPED, PASSED = 8, 9
"""What a step with a clock of its own returns where the clock would stand still or turn back; what its loop returns
where a step reached or passed the end."""

ITERATIONS, RESIDUAL, TOTAL_ITERATIONS, STEPS_DONE, ROW_ITERATIONS = 0, 1, 2, 3, 4
EVALUATIONS, LOADED, NEXT_TIME = 5, 6, 7
GUARDED, SLOPED, COMMUTATES = 8, 9, 10
RELATIVE, ABSOLUTE, ERROR = 11, 12, 13
CLOCK = 15
OWN, DIVIDED, REPEATED = 16, 17, 18
CARRIED = 19
REPORT = 20
"""Slots of ``Workspace.report``. What a step tells the loop: solver iterations of this step, size of the last
correction, iterations so far, steps completed in this call, most iterations of a step since the row before (kept from
one call to the next); load evaluations so far; 1 when ``load`` holds all loads of the present state and time. What it
is told: the time at its end, exactly as the next step will see it; 1 when steps out of a method's range are to be
refused; 1 when the loads depend on velocities, 2 when only rates of own numbers do; 1 when the system provides
COMMUTATOR loads; the relative and the absolute tolerance of a step, both 0 where it need not estimate its error. It
then tells the error over the tolerance. Of the system, it is told how many own numbers there are, and 1 where loads
are divided by the bits of their parts; it tells how often the part that depends on velocities was evaluated alone,
which load evaluations leave out. Of a method with a clock: where the clock's numbers begin in the state. With
compensated sums it is told where in the state their carries begin."""

CLOCK_NUMBERS = 4
"""Numbers of a clock, the last ones of a state: time; the part of it that rounding cut off; the density of steps, whose
product with their size is the nominal step (0: not begun, it will be 1); its rate, or the unit it is measured in."""

V3 = types.UniTuple(f8, 3)
V4 = types.UniTuple(f8, 4)
A1 = f8[::1]
A2 = f8[:, ::1]
I1 = i8[::1]
P = types.CPointer(f8)

LOADS = types.void(i8, f8, i8, P, P, P, P)
"""loads(part, t, N, y, bodies, parameters, out): forces (space frame) and torques (body frame), N blocks of 6; behind
them the rates of the S numbers of the system's own, which may depend on all of the state but these numbers, under the
parts ALL, WITHOUT_SOLVED and, where loads are divided, others: a rate that depends on velocities belongs to the part
MOVING, another one to the part of its load, and is 0 where that is not asked for."""
POTENTIAL = f8(f8, i8, P, P, P)
"""potential(t, N, y, bodies, parameters): total potential energy."""
EVENT = f8(i8, f8, i8, P, P, P, P)
"""event(k, t, N, y, bodies, parameters, table): function of event number k, whose zeros are the events; ``table`` holds
the numbers of all events, ``parameters`` those of the system."""
SILENT, MUTED = 2.0, 3.0
"""What a loop knows of an event is the side of its function in the last step but for zeros: 1 or -1; 0 at a start that
is exactly an event, which is told when it is left; SILENT where that is not to be told; MUTED where nothing is."""


class Workspace(NamedTuple):
    """What a step may read and write. ``loads`` is a typed function pointer; what is called an array
    below is a pointer to its first element (``kernel.jit.pointer``), indexed like one.

    Attributes
    ----------
    N : int
        Number of bodies.
    B : int
        Number of blocks.
    S : int
        How many numbers of its own the system has.
    y : array (13 N + S + extra)
        State, changed in place by the step.
    bodies : array (12 N)
        Masses and principal moments with their inverses, and the quaternions of the users' frames.
    parameters : array
        The system's numbers, in the system's own order.
    loads : function
        The LOADS role.
    table : array
        The method's coefficients.
    layout : int array
        The method's integers (stage count and the like).
    blocks : int array (2 B)
        Pairs (body, kind) of the blocks that move; a pinned body has no TRANSLATION block, a particle no ROTATION.
    trial : array (13 N + S + extra)
        A second state, for stages.
    load : array (6 N + S)
        Where a step lets the loads be written.
    work : array
        Scratch memory of the size the method asked for; holds nothing between steps.
    report : array (20)
        What the step tells the loop.
    frames : array (4 N)
        Quaternions from the principal frames to the users' body frames.
    """

    N: Any
    B: Any
    S: Any
    y: Any
    bodies: Any
    parameters: Any
    loads: Any
    table: Any
    layout: Any
    blocks: Any
    trial: Any
    load: Any
    work: Any
    report: Any
    frames: Any


MARCHING, PREPARING, PRESENTING = 0, 1, 2
"""What the time loop is asked for: steps; the state a processed method works on; the state of the system again."""

TIME, NEXT, TAKEN, ERROR_BEFORE, REFUSED = 0, 1, 2, 3, 4
ACCEPTED, REJECTED, SMALLEST, LARGEST = 5, 6, 7, 8
BEGUN, SAMPLE, ROWS, TRYING = 9, 10, 11, 12
COURSE = 13
"""Slots of the course of an adaptive run, all that its loop remembers. Time of the state; size of the next step,
signed, 0 where the loop is to choose the first one; size of the step that led here, 0 at the start; its error over the
tolerance; 1 after a rejection. Steps accepted and rejected so far; smallest and largest step accepted. Time at
which the step before began; number of the next sample; rows written in this call; 1 while a step is tried, so that the
state is kept elsewhere."""

MARCH = i8(i8, i8, i8, i8, f8, f8, f8, i8, i8, A1, I1, A2, I1, I1, A1, A1)
MARCH_ADAPTIVE = i8(i8, i8, i8, f8, f8, f8, f8, A1, i8, i8, A1, I1, A1, A1, A1, A1, A2, I1, i8, I1, A1)
MARCH_CLOCKED = i8(i8, i8, i8, f8, f8, f8, i8, i8, A1, I1, A1, A1, A1, A1, A2, I1)
SERVE = types.void(i8)
SWEEP = types.void(i8, A1, A2, A2, A1, I1, I1)
EVENT_VALUES = types.void(types.FunctionType(EVENT), f8, A1, A1, A1, A1, A1)
LOAD_VALUES = types.void(i8, A1, A2, I1, A2)
ENERGIES = types.void(A1, A2, A1, A1, types.FunctionType(POTENTIAL), A1)
REPEATED_LOADS = types.void(types.FunctionType(LOADS), i8, f8, A1, A1, A1, A1)
REPEATED_POTENTIAL = types.void(types.FunctionType(POTENTIAL), i8, f8, A1, A1, A1, A1)
