"""Slots of the flat arrays that kernels share (used as ``L.LOADED``), and the values of their flags and statuses."""

# ------------------------------------------------------------------ state ``y``: per body, then auxiliary variables
BODY = 13  # numbers of a body in the state
POSITION = 0  # 3 numbers, space frame
MOMENTUM = 3  # 3 numbers, space frame
ATTITUDE = 6  # quaternion (w, x, y, z), body to space
ANGULAR = 10  # angular momentum: 3 numbers, principal body frame

# ------------------------------------------------------------------ ``bodies``: N blocks of constants, then N frames
CONSTANTS = 8  # numbers of a block
OF_BODY = CONSTANTS + 4  # numbers of a body in all, with the quaternion from its principal frame to the user's
MASS = 0
INERTIA = 1  # 3 principal moments
INVERSE_MASS = 4  # 0: pinned
INVERSE_INERTIA = 5  # 3 inverse moments, 0: a point
TRANSLATION, ROTATION = 0, 1  # kinds of a block of unknowns, see ``Workspace.blocks``

# ------------------------------------------------------------------ loads, and the parts that may be requested
LOAD = 6  # numbers of a body in ``load``: force (space frame), torque (principal body frame)
# Bits, to be combined. Only a system with split loads is asked for parts other than ALL and WITHOUT_SOLVED.
ATTRACTION = 1  # the attraction that a flow may solve exactly
POTENTIAL_PART = 2  # other loads that have a potential
RESTING = 4  # loads without potential that do not depend on velocities
MOVING = 8  # loads that depend on velocities
ALL = 15
WITHOUT_SOLVED = 14  # without the attraction
DISSIPATIVE = 12  # without the loads that have a potential
# Not to be combined; requested only from a system that provides them.
COMMUTATOR = 16  # load of the commutator [V, [T, V]]: gradient of F . M^-1 F
COMMUTATOR_OF_REST = 30  # the same of WITHOUT_SOLVED, whose loads the array to be written must hold before
SERIES = 32  # one Taylor coefficient of the torque
SAMPLE = 256  # this and numbers behind it, one for each controller: no loads, but new values of states behind them
WITHOUT_COUPLING = 128  # beside others: without the gyroscopic torque of wheels, which a flow solves
SLOPES = 64  # all loads, and behind them and the rates of auxiliary variables their slopes: see ``programs.slopes``

# ------------------------------------------------------------------ slopes of loads, by rows: LOAD N rows of SLOPE N
SLOPE = 12  # numbers of a body in a row: derivatives by displacements, turns (body frame), momentum, angular momentum
BY_MOMENTUM = 6  # the first of those by momenta

# ------------------------------------------------------------------ memory of a SERIES call
SERIES_ROW = 32  # most coefficients of a series
SERIES_AUXILIARY = 3 * SERIES_ROW  # the first of four rows for the system's own series, kept between coefficients
SERIES_SIZE = SERIES_AUXILIARY + 4 * SERIES_ROW  # length

# ------------------------------------------------------------------ statuses of steps and loops
OK = 0
NOT_CONVERGED = 1  # step: the solver did not reach round-off
TOO_LARGE = 2  # step: beyond the method's range, or a rotation beyond the guard's limit
NOT_FINITE = 3  # step: infinite or nan
TOO_SMALL = 4  # adaptive loop: the tolerance asks for steps that time cannot resolve
CROSSED = 5  # loop: an event function changed sign in the step just taken
CUT = 6  # adaptive loop: an event function changes sign in the next step, which must end there and was not taken
SINGULAR = 7  # step: equations singular at a shorter step: ERROR holds it, RESIDUAL 1/condition just before it
STOPPED = 8  # time-transformed step: time would stand still or turn back
PASSED = 9  # time-transformed loop: a step reached or passed the end
LOST = 10  # step: the solution, followed from a vanishing step, ends at a shorter one: ERROR holds the longest reached
BELOW = 11  # loop: a step ended below the ground, which events are now to find

# ------------------------------------------------------------------ step info: ``Workspace.step_info``
ITERATIONS = 0  # step: solver iterations of this step
RESIDUAL = 1  # step: size of the last correction
TOTAL_ITERATIONS = 2  # loop: iterations so far
STEPS_DONE = 3  # loop: steps completed in this call
ROW_ITERATIONS = 4  # loop: most iterations of a step since the last recorded row, kept between calls
EVALUATIONS = 5  # step: load evaluations so far
LOADED = 6  # step: 1 when ``load`` holds the loads of the present state and time, 2 with the commutator's; 0 discards
NEXT_TIME = 7  # loop: time at the end of the step, exactly as the next step will see it; a step may end before
GUARDED = 8  # run: 1 when steps beyond a method's range are to be refused
VELOCITY_DEPENDENT = 9  # run: 1 when loads depend on velocities, 2 when only rates of auxiliary variables do
HAS_COMMUTATOR = 10  # run: 1 when the system provides COMMUTATOR loads, 2 COMMUTATOR_OF_REST, too; -1: unused
RELATIVE = 11  # run: relative tolerance of a step, 0 where no error estimate is needed
ABSOLUTE = 12  # run: absolute tolerance of a step, likewise
ERROR = 13  # step: estimated error over the tolerance; see SINGULAR and LOST
SCALE = 14  # step: scale of the last Taylor coefficients, a power of two; 0 before the first step
TIME_AT = 15  # run: where the time variables of a time transformation begin in the state
AUXILIARY = 16  # run: how many auxiliary variables the system has
SPLIT_LOADS = 17  # run: 1 when the system evaluates the parts of its loads separately
REPEATED = 18  # step: evaluations of MOVING loads alone, which EVALUATIONS leaves out
COMPENSATION_AT = 19  # run: where the compensation of compensated sums begins in the state
CUTS = 20  # step: how many steps in a row have ended almost at once, where loads change their formulas
HAS_SLOPES = 21  # run: 1 when the loads answer to SLOPES
READ_FROM = 22  # run: the first auxiliary variable that loads read, all behind it being read, too
WHEELS_AT = 23  # run: where the table of wheels begins in the parameters, of a system that has some
SAMPLES_AT = 24  # run: where the table of controllers begins in the parameters, of a system that has some
SAMPLED_FROM = 25  # run: size of its first time, to which the round-off of times is relative
COMMANDED = 26  # run: time at which controllers have set states before it begins; infinite for none
JOINTS_AT = 27  # run: where the whole numbers of joints begin behind those of the method, of a system that has some
STEP_INFO = 28  # length

# ------------------------------------------------------------------ time transformation: last numbers of the state
TIME_VARIABLES = 4  # time; what rounding cut off it; step density (0: unset, will be 1); its rate, or its unit

# ------------------------------------------------------------------ events: side of each function after the last step
# 1 or -1: its sign; 0: the start is exactly an event, reported when it is left.
EVENT_UNARMED = 2.0  # the start is exactly an event, not reported
EVENT_DISABLED = 3.0  # never reported

# ------------------------------------------------------------------ tasks of the time loop
MARCHING = 0  # take steps
PREPARING = 1  # convert the state to the one a processed method works on
PRESENTING = 2  # convert it back
SHOWING = 3  # set states as controllers do at its time

# ------------------------------------------------------------------ controller state: all an adaptive loop remembers
TIME = 0  # of the state
NEXT = 1  # size of the next step, signed; 0: the loop is to choose the first one
TAKEN = 2  # size of the last step accepted, 0 at the start
ERROR_BEFORE = 3  # its error over the tolerance
REFUSED = 4  # 1 after a rejection
ACCEPTED = 5  # steps accepted so far
REJECTED = 6  # steps rejected so far
SMALLEST = 7  # smallest step accepted
LARGEST = 8  # largest step accepted
BEGUN = 9  # time at which the last step accepted began
SAMPLE = 10  # number of the next sample
ROWS = 11  # rows written in this call
TRYING = 12  # 1 while a step is tried, the state before it being in ``kept``
SAMPLED = 13  # time at which controllers have set states last
CONTROLLER_STATE = 14  # length
