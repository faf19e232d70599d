"""Where every number stands: slots of the state, of a body, of a run's records, and what they may hold."""

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
SERIES_AUXILIARY = 3 * SERIES_ROW
SERIES_SIZE = SERIES_AUXILIARY + 4 * SERIES_ROW
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
GUARDED, VELOCITY_DEPENDENT, HAS_COMMUTATOR = 8, 9, 10
RELATIVE, ABSOLUTE, ERROR = 11, 12, 13
TIME_AT = 15
AUXILIARY, SPLIT_LOADS, REPEATED = 16, 17, 18
COMPENSATION_AT = 19
STEP_INFO = 20
"""Slots of ``Workspace.step_info``. What a step tells the loop: solver iterations of this step, size of the last
correction, iterations so far, steps completed in this call, most iterations of a step since the row before (kept from
one call to the next); load evaluations so far; 1 when ``load`` holds all loads of the present state and time. What it
is told: the time at its end, exactly as the next step will see it; 1 when steps out of a method's range are to be
refused; 1 when the loads depend on velocities, 2 when only rates of own numbers do; 1 when the system provides
COMMUTATOR loads; the relative and the absolute tolerance of a step, both 0 where it need not estimate its error. It
then tells the error over the tolerance. Of the system, it is told how many own numbers there are, and 1 where loads
are divided by the bits of their parts; it tells how often the part that depends on velocities was evaluated alone,
which load evaluations leave out. Of a method with a clock: where the clock's numbers begin in the state. With
compensated sums it is told where in the state their carries begin."""
TIME_VARIABLES = 4
"""Numbers of a clock, the last ones of a state: time; the part of it that rounding cut off; the density of steps, whose
product with their size is the nominal step (0: not begun, it will be 1); its rate, or the unit it is measured in."""
EVENT_UNARMED, EVENT_DISABLED = 2.0, 3.0
"""What a loop knows of an event is the side of its function in the last step but for zeros: 1 or -1; 0 at a start that
is exactly an event, which is told when it is left; SILENT where that is not to be told; MUTED where nothing is."""
MARCHING, PREPARING, PRESENTING = 0, 1, 2
"""What the time loop is asked for: steps; the state a processed method works on; the state of the system again."""
TIME, NEXT, TAKEN, ERROR_BEFORE, REFUSED = 0, 1, 2, 3, 4
ACCEPTED, REJECTED, SMALLEST, LARGEST = 5, 6, 7, 8
BEGUN, SAMPLE, ROWS, TRYING = 9, 10, 11, 12
CONTROLLER_STATE = 13
"""Slots of the course of an adaptive run, all that its loop remembers. Time of the state; size of the next step,
signed, 0 where the loop is to choose the first one; size of the step that led here, 0 at the start; its error over the
tolerance; 1 after a rejection. Steps accepted and rejected so far; smallest and largest step accepted. Time at
which the step before began; number of the next sample; rows written in this call; 1 while a step is tried, so that the
state is kept elsewhere."""
