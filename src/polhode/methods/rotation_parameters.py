"""Runge-Kutta methods for attitudes in coordinates of the user's choice, past their singular points [holzinger2021].

The state holds the attitude as three rotation parameters, a rotation matrix or a quaternion. A tableau of the registry
integrates the incremental rotation vector of the step and the angular momentum,

    Omega' = T^-1(Omega) omega,     m' = T + m x omega,     Omega(0) = 0,                   [holzinger2021, eq. 51]

and the coordinates are then composed with that rotation. Their rates, which are singular somewhere, do not occur.
Omega starts at zero in every step, so the only singular point left is a whole turn within one step. The quaternion of
the state is computed from the coordinates after every step.

A ``Chart`` defines the coordinates: their number, the attitude they represent, and how a rotation changes them under
each branch policy. Methods that integrate the coordinates' rates, for comparison, are at the end (``Rates``).

Legend: ``c`` coordinates, ``e`` unit quaternion of the incremental rotation, ``psi`` = Omega, ``j`` inverse principal
moments, ``plan`` the Euler sequence (see ``algebra.euler``), ``f`` quaternion from the principal to the user's body
frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import cos, sin, sqrt, tan
from typing import Any

from polhode.algebra import charts, euler, printed_charts, so3
from polhode.algebra.quaternion import conjugate, from_matrix, multiply, normalize, rotate, to_matrix
from polhode.algebra.so3 import add, axpy, cross, dexpinv, dot, exp_quaternion, scale, times
from polhode.flows.kick import enter, loads_at
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, get9, put3, put4, put9
from polhode.kernel.jit import bind, helper, hole, inlined
from polhode.methods.munthe_kaas import OPTIONS
from polhode.methods.record import CompiledMethod, Coordinates, Method, Option, Promises, word_option
from polhode.methods.stage_layout import (
    AUXILIARY,
    MAPS,
    MIDDLE,
    UNKNOWNS,
    auxiliary_size,
    coefficients,
    embedding,
    origin,
    work_size,
)
from polhode.methods.stages import start_values, steps_of
from polhode.methods.tableaux import is_tableau, tableau as find_tableau, tableau_names

LARGEST_STAGE = 5.5
"""Rotation (rad) of a stage beyond which a guarded step is refused: T^-1 of the exponential map grows without bound
towards 2 pi."""

DAMPING = 1e-3
"""Width (rad) of the regularisation of Euler rates: this close to the singular middle angle they are wrong."""

PLAN, EXPONENTIAL, SECOND = AUXILIARY, AUXILIARY + 4, AUXILIARY + 5
"""Slots of the integer coefficients: the Euler sequence (4); 1 where the coordinate map is the exponential; the
sequence to switch to (4)."""

SIZE = hole("SIZE", "Coordinates of an attitude that are integrated.")
KEPT = hole("KEPT", "Coordinates of an attitude that the state holds.")
get = hole("get(numbers, k) -> coordinates", "Reads the coordinates of an attitude.")
put = hole("put(numbers, k, c)", "Writes the coordinates of an attitude.")
rotation_map = hole("rotation_map(psi) -> quaternion", "The coordinate map.")
tangent = hole("tangent(psi, w) -> 3-tuple", "Its inverse tangent map.")
turned = hole("turned(c, e, plan) -> c", "The coordinates after the rotation e.")
attitude_of = hole("attitude_of(c, plan) -> quaternion", "The attitude that coordinates represent.")
rates_of = hole("rates_of(c, w, plan) -> c'", "The rates of coordinates.")
finish = hole("finish(at, begin, out, p)", "The state with given local coordinates.")
finished = hole("finished(c) -> c", "The correction of coordinates at the end of a step.")


# ------------------------------------------------------------------ the step on (Omega, angular momentum)
@inlined
def plan_of(p):
    """The Euler sequence; meaningless for other coordinates."""
    return (
        p.int_coefficients[PLAN],
        p.int_coefficients[PLAN + 1],
        p.int_coefficients[PLAN + 2],
        p.int_coefficients[PLAN + 3],
    )


def local_field(t, at, to, p):
    """Time derivative of the local coordinates at ``work[at:]`` into ``work[to:]``; returns a status."""
    for k in range(p.B):
        i, z, dz = p.blocks[2 * k], at + UNKNOWNS * k, to + UNKNOWNS * k
        a, m = L.BODY * i, get3(p.work, z + 3)
        if p.blocks[2 * k + 1] == L.ROTATION:
            psi = get3(p.work, z)
            size = dot(psi, psi)
            if (
                p.int_coefficients[EXPONENTIAL] == 1
                and p.step_info[L.GUARDED] > 0.0
                and size > LARGEST_STAGE * LARGEST_STAGE
            ):
                return L.TOO_LARGE
            if not size < 1e200:
                return L.NOT_FINITE
            omega = times(get3(p.bodies, L.CONSTANTS * i + L.INVERSE_INERTIA), m)
            e, rate = rotation_map(psi), tangent(scale(-1.0, psi), omega)  # [holzinger2021, eq. 6]
            put4(p.stage_state, a + L.ATTITUDE, multiply(get4(p.work, 1 + 4 * k), e))
            put3(p.stage_state, a + L.ANGULAR, m)
            put3(p.work, dz, rate)
            put3(p.work, dz + 3, cross(m, omega))
        else:
            put3(p.stage_state, a + L.POSITION, get3(p.work, z))
            put3(p.stage_state, a + L.MOMENTUM, m)
            put3(p.work, dz, scale(p.bodies[L.CONSTANTS * i + L.INVERSE_MASS], m))
            put3(p.work, dz + 3, (0.0, 0.0, 0.0))
    loads_at(L.ALL, t, p.stage_state, p.load, p)
    for k in range(p.B):  # [holzinger2021, eq. 1]
        dz = to + UNKNOWNS * k + 3
        load = get3(p.load, L.LOAD * p.blocks[2 * k] + 3 * p.blocks[2 * k + 1])
        put3(p.work, dz, add(load, get3(p.work, dz)))
    return L.OK


def turned_chart(at, begin, out, p):
    """Write the state with the local coordinates ``work[at:]`` to ``out``: those of ``begin``, rotated."""
    for k in range(p.B):
        i, z = p.blocks[2 * k], at + UNKNOWNS * k
        a, x = L.BODY * i, L.BODY * p.N + p.S + SIZE * i
        if p.blocks[2 * k + 1] == L.ROTATION:
            e = rotation_map(get3(p.work, z))
            if p.int_coefficients[MIDDLE] == 1:
                e = multiply(rotation_map(scale(-1.0, get3(p.work, origin(p) + UNKNOWNS * k))), e)
            f = get4(p.frames, 4 * i)
            c = turned(get(begin, x), multiply(f, multiply(e, conjugate(f))), plan_of(p))
            put(out, x, c)
            put4(out, a + L.ATTITUDE, multiply(attitude_of(c, plan_of(p)), f))
            put3(out, a + L.ANGULAR, get3(p.work, z + 3))
        else:
            put3(out, a + L.POSITION, get3(p.work, z))
            put3(out, a + L.MOMENTUM, get3(p.work, z + 3))


def semi_implicit_step(t, h, p):
    """Explicit Euler as printed: rotation at the final angular velocity [holzinger2021, eqs. 53, 54]."""
    o = origin(p)
    start_values(p)
    loads_at(L.ALL, t, p.y, p.load, p)
    for k in range(p.B):
        i, z = p.blocks[2 * k], o + UNKNOWNS * k
        u = get3(p.work, z + 3)
        if p.blocks[2 * k + 1] == L.ROTATION:
            j = get3(p.bodies, L.CONSTANTS * i + L.INVERSE_INERTIA)
            u = axpy(h, axpy(1.0, cross(u, times(j, u)), get3(p.load, L.LOAD * i + 3)), u)
            rate = times(j, u)
        else:
            u = axpy(h, get3(p.load, L.LOAD * i), u)
            rate = scale(p.bodies[L.CONSTANTS * i + L.INVERSE_MASS], u)
        put3(p.work, z, axpy(h, rate, get3(p.work, z)))
        put3(p.work, z + 3, u)
    finish(o, p.y, p.y, p)
    enter(h, p.load, 0, p)
    return L.OK


# ------------------------------------------------------------------ the charts
kernel = hole("kernel(...) -> coordinates", "The formula of a chart, by its arguments.")
meaning = hole("meaning(c) -> quaternion", "The attitude that coordinates represent.")


def of_turn(c, e, plan):
    """Composition with a rotation, for coordinates without an Euler sequence."""
    return kernel(c, e)


def of_numbers(c, plan):
    """Conversion from or to a quaternion, for coordinates without an Euler sequence."""
    return kernel(c)


def of_quaternion(c, e, plan):
    """Composition by way of the quaternion."""
    return kernel(multiply(meaning(c), e))


def of_increment(c, e, plan):
    """Composition by the increment of the coordinates [holzinger2021, eq. 49]."""
    return so3.add(c, kernel(c, e, plan))


def _bound(template, **values):
    return inlined(bind(template, **values))


@inlined
def tracked_vector(q):
    """Rotation vector of angle 0 to 2 pi that corresponds to the sign of the quaternion."""
    return charts.compose_tracked((0.0, 0.0, 0.0), q)


@inlined
def angles_principal(c, e, plan):
    """Euler angles in their principal ranges: the outer ones between -pi and pi."""
    a = so3.add(c, charts.euler_principal(c, e, plan))
    return (charts.reduced(a[0]), a[1], charts.reduced(a[2]))


@inlined
def matrix_turned(c, e, plan):
    """R phi(Omega), without orthogonalisation [holzinger2021, eq. 5]."""
    return so3.matrix_product(c, to_matrix(e))


@inlined
def quaternion_turned(c, e, plan):
    """q exp(Omega), without normalisation [terze2016]."""
    return multiply(c, e)


@inlined
def quaternion_renormalised(c, e, plan):
    """q exp(Omega), normalised."""
    return normalize(multiply(c, e))


@inlined
def same(c, plan):
    """The identity conversion, for quaternions."""
    return c


ACCESS = {3: (get3, put3), 4: (get4, put4), 9: (get9, put9)}
FIELDS = {
    name: helper(bind(local_field, rotation_map=rotation_map, tangent=tangent))
    for name, (rotation_map, tangent, *_) in MAPS.items()
}


@dataclass(frozen=True, eq=False)
class Chart:
    """Coordinates of an attitude."""

    name: str  # name of their variable in a Dataset
    size: int  # coordinates of one body
    attitude: Callable[..., Any]  # ``(c, plan) -> q``, the quaternion they represent
    coordinates: Callable[..., Any]  # ``(q, plan) -> c``, for the initial state
    # ``(c, e, plan) -> c``, the coordinates after the rotation e, by branch policy; the first is the default
    branches: Mapping[str, Callable[..., Any]]


VECTOR = Chart(
    "rotation_vector", 3, _bound(of_numbers, kernel=charts.vector_attitude),
    _bound(of_numbers, kernel=tracked_vector),
    {
        "tracked": _bound(of_turn, kernel=charts.compose_tracked),
        "principal": _bound(of_turn, kernel=charts.compose_principal),
        "continuous": _bound(of_turn, kernel=charts.compose_continuous),
    },
)  # fmt: skip
ANGLES = Chart(
    "euler_angles", 3, euler.to_quaternion, euler.from_quaternion,
    {"principal": angles_principal, "continuous": _bound(of_increment, kernel=charts.euler_continuous)},
)  # fmt: skip
GIBBS = Chart(
    "gibbs_rodrigues", 3, _bound(of_numbers, kernel=charts.gibbs_attitude),
    _bound(of_numbers, kernel=charts.gibbs_rodrigues),
    {"": _bound(of_quaternion, kernel=charts.gibbs_rodrigues, meaning=charts.gibbs_attitude)},
)  # fmt: skip
MODIFIED = Chart(
    "modified_rodrigues", 3, _bound(of_numbers, kernel=charts.modified_attitude),
    _bound(of_numbers, kernel=charts.modified_rodrigues),
    {
        "principal": _bound(of_quaternion, kernel=charts.modified_rodrigues, meaning=charts.modified_attitude),
        "tracked": _bound(of_quaternion, kernel=charts.modified_unswitched, meaning=charts.modified_attitude),
    },
)  # fmt: skip
VECTOR_AS_PRINTED = replace(VECTOR, branches={"tracked": _bound(of_turn, kernel=printed_charts.compose_as_printed)})
VECTOR_BCH = replace(
    VECTOR, coordinates=_bound(of_numbers, kernel=so3.log_quaternion),
    branches={"principal": _bound(of_turn, kernel=printed_charts.compose_bch)},
)  # fmt: skip
ANGLES_AS_PRINTED = replace(
    ANGLES, branches={"principal": _bound(of_increment, kernel=printed_charts.euler_as_printed)}
)
MATRIX = Chart(
    "rotation_matrix", 9, _bound(of_numbers, kernel=from_matrix), _bound(of_numbers, kernel=to_matrix),
    {"": matrix_turned},
)  # fmt: skip
QUATERNION = Chart("quaternion", 4, same, same, {"renormalised": quaternion_renormalised, "free": quaternion_turned})


@cache
def steps_for(chart: Chart, branch: str, map: str) -> tuple[Callable[..., Any], ...]:
    """The explicit step, the implicit step, dense output and the semi-implicit step for a chart."""
    get, put = ACCESS[chart.size]
    move = helper(
        bind(
            turned_chart, rotation_map=MAPS[map][0], turned=chart.branches[branch], attitude_of=chart.attitude, get=get,
            put=put, SIZE=chart.size,
        )
    )  # fmt: skip
    steps = steps_of(start_values, FIELDS[map], move, MAPS[map][0], tangents=MAPS[map][1:])
    return (*steps, bind(semi_implicit_step, finish=move))


NO_SEQUENCE = (0, 0, 0, 0)
SEMI_IMPLICIT = "semi_implicit_euler"


def prepared(chart, tableau="rk4", map="exp", branch="", sequence="", center="middle"):
    """The compiled method for a chart, a tableau and a coordinate map."""
    plan = euler.plan(sequence) if sequence else NO_SEQUENCE
    branch = branch or next(iter(chart.branches))
    explicit, implicit, dense, semi_implicit = steps_for(chart, branch, map)
    printed = tableau == SEMI_IMPLICIT
    chosen = find_tableau("forward_euler" if printed else tableau)
    middle = not chosen.explicit and center == "middle"
    numbers, int_coefficients = coefficients(chosen, *plan, int(map == "exp"), middle=middle)
    about = {"branch": branch, "sequence": sequence}
    estimates = {} if chart is VECTOR_BCH else embedding(chosen, dense)  # the estimate misses that chart's failure
    return CompiledMethod(
        semi_implicit if printed else explicit if chosen.explicit else implicit,
        lambda bodies, blocks: work_size(blocks, chosen), numbers, int_coefficients,
        auxiliary_work=auxiliary_size(chosen), **estimates, slopes=not chosen.explicit and not printed,
        coordinates=Coordinates(
            chart.name, chart.size, {key: word for key, word in about.items() if word},
            lambda c: chart.attitude(c, plan), lambda q: chart.coordinates(q, plan),
        ),
    )  # fmt: skip


def promised(tableau="rk4", map="exp", center="middle", **_: str) -> Promises:
    """The promises, which follow from the tableau: in (Omega, m) the step is a Runge-Kutta step."""
    if tableau == SEMI_IMPLICIT:
        return Promises(order=1, keeps_top=("axial_momentum",))
    chosen = find_tableau(tableau)
    return Promises(
        order=chosen.order,
        keeps_free=("energy", "momentum_length") if chosen.symplectic else (),
        keeps_top=("axial_momentum",),
        time_symmetric=not chosen.explicit and chosen.symmetric and center == "middle",
        implicit=not chosen.explicit,
        evaluations=chosen.stages,
    )


# ------------------------------------------------------------------ for comparison: integrate the coordinates' rates
@inlined
def one_plan(i, p):
    """The Euler sequence of all bodies."""
    return plan_of(p)


@inlined
def active_plan(i, p):
    """The Euler sequence of the present angles of body i."""
    if p.y[L.BODY * p.N + p.S + 4 * i + 3] > 0.5:
        return (
            p.int_coefficients[SECOND],
            p.int_coefficients[SECOND + 1],
            p.int_coefficients[SECOND + 2],
            p.int_coefficients[SECOND + 3],
        )
    return plan_of(p)


plan_at = hole("plan_at(i, p) -> 4-tuple", "The Euler sequence of body i.")
prepare_chart = hole("prepare_chart(i, p)", "What is done with the coordinates of body i before a step.")


@inlined
def left_alone(i, p):
    """Coordinates that need no preparation before a step."""


@inlined
def switched(i, p):
    """Switch to the other Euler sequence where the middle angle is within 30 degrees of a singular value."""
    x = L.BODY * p.N + p.S + 4 * i
    plan = active_plan(i, p)
    c = get3(p.y, x)
    margin = sin(c[1]) if plan[0] == plan[2] else cos(c[1])
    if abs(margin) < 0.5:
        q = euler.to_quaternion(c, plan)
        p.y[x + 3] = 1.0 - p.y[x + 3]
        put3(p.y, x, euler.from_quaternion(q, active_plan(i, p)))


def start_rates(p):
    """Local coordinates of the present state: (position, momentum), or (attitude coordinates, angular momentum)."""
    for k in range(p.B):
        i = p.blocks[2 * k]
        a, z = L.BODY * i, origin(p) + (SIZE + 3) * k
        if p.blocks[2 * k + 1] == L.ROTATION:
            prepare_chart(i, p)
            put(p.work, z, get(p.y, L.BODY * p.N + p.S + KEPT * i))
            put3(p.work, z + SIZE, get3(p.y, a + L.ANGULAR))
        else:
            p.work[z + SIZE - 1] = 0.0
            put3(p.work, z, get3(p.y, a + L.POSITION))
            put3(p.work, z + SIZE, get3(p.y, a + L.MOMENTUM))


def field_of_rates(t, at, to, p):
    """Time derivative of the local coordinates at ``work[at:]`` into ``work[to:]``; returns a status."""
    for k in range(p.B):
        i = p.blocks[2 * k]
        a, z = L.BODY * i, at + (SIZE + 3) * k
        if p.blocks[2 * k + 1] == L.ROTATION:
            q = attitude_of(get(p.work, z), plan_at(i, p))
            put4(p.stage_state, a + L.ATTITUDE, multiply(q, get4(p.frames, 4 * i)))
            put3(p.stage_state, a + L.ANGULAR, get3(p.work, z + SIZE))
        else:
            put3(p.stage_state, a + L.POSITION, get3(p.work, z))
            put3(p.stage_state, a + L.MOMENTUM, get3(p.work, z + SIZE))
    loads_at(L.ALL, t, p.stage_state, p.load, p)
    for k in range(p.B):
        i, z, dz = p.blocks[2 * k], at + (SIZE + 3) * k, to + (SIZE + 3) * k
        if p.blocks[2 * k + 1] == L.ROTATION:
            m = get3(p.work, z + SIZE)
            omega = times(get3(p.bodies, L.CONSTANTS * i + L.INVERSE_INERTIA), m)
            put(p.work, dz, rates_of(get(p.work, z), rotate(get4(p.frames, 4 * i), omega), plan_at(i, p)))
            put3(p.work, dz + SIZE, axpy(1.0, cross(m, omega), get3(p.load, L.LOAD * i + 3)))
        else:
            p.work[dz + SIZE - 1] = 0.0
            put3(p.work, dz, scale(p.bodies[L.CONSTANTS * i + L.INVERSE_MASS], get3(p.work, z + SIZE)))
            put3(p.work, dz + SIZE, get3(p.load, L.LOAD * i))
    return L.OK


def rated_chart(at, begin, out, p):
    """Write the state with the local coordinates ``work[at:]`` to ``out``; they include those of the attitude."""
    for k in range(p.B):
        i, z = p.blocks[2 * k], at + (SIZE + 3) * k
        a = L.BODY * i
        if p.blocks[2 * k + 1] == L.ROTATION:
            c = finished(get(p.work, z))
            put(out, L.BODY * p.N + p.S + KEPT * i, c)
            put4(out, a + L.ATTITUDE, multiply(attitude_of(c, plan_at(i, p)), get4(p.frames, 4 * i)))
            put3(out, a + L.ANGULAR, get3(p.work, z + SIZE))
        else:
            put3(out, a + L.POSITION, get3(p.work, z))
            put3(out, a + L.MOMENTUM, get3(p.work, z + SIZE))


@inlined
def as_it_is(c):
    """Coordinates at the end of a step, uncorrected."""
    return c


@inlined
def vector_rates(c, w, plan):
    """Rates of the rotation vector, regular at the angle 0 [holzinger2021, eq. 87]."""
    return dexpinv(scale(-1.0, c), w)


@inlined
def vector_rates_as_printed(c, w, plan):
    """The same with the quotient as printed, which is NaN at the angle 0 [holzinger2021, eq. 87]."""
    x = dot(c, c)
    half = 0.5 * sqrt(x)
    a = cross(c, w)
    return axpy((1.0 - half / tan(half)) / x, cross(c, a), axpy(0.5, a, w))


@inlined
def angle_rates(c, w, plan):
    """Rates of the Euler angles [holzinger2021, eq. 88]."""
    return euler.rates(c, w, plan)


@inlined
def angle_rates_damped(c, w, plan):
    """The same, damped near the singular middle angle."""
    return euler.damped_rates(c, w, plan, DAMPING)


@inlined
def quaternion_rates(c, w, plan):
    """q' = q (0, omega)/2."""
    return multiply(c, (0.0, 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]))


@inlined
def switching_attitude(c, plan):
    """Quaternion of Euler angles in the first sequence; the fourth number is ignored."""
    return euler.to_quaternion((c[0], c[1], c[2]), plan)


@inlined
def switching_of(q, plan):
    """Euler angles in the first sequence, and a zero, which says so."""
    a = euler.from_quaternion(q, plan)
    return (a[0], a[1], a[2], 0.0)


@dataclass(frozen=True, eq=False)
class Rates:
    """Attitude coordinates whose rates are integrated."""

    chart: Chart  # the coordinates; its branches are not used
    # ``(c, omega, plan) -> c'``, omega in the user's body frame, and the correction ``c -> c`` at the end of a step, by
    # value of the option ``form``; the first is the default
    forms: Mapping[str, tuple[Callable[..., Any], Callable[..., Any]]]
    switches: bool = False  # whether Euler angles switch to another sequence near singular values


@cache
def steps_of_rates(rates: Rates, form: str) -> tuple[Callable[..., Any], ...]:
    """The explicit and the implicit step."""
    stored = rates.chart.size
    size = 3 if rates.switches else stored
    get, put = ACCESS[size]
    slope, finished = rates.forms[form]
    plan_at = active_plan if rates.switches else one_plan
    common = {"get": get, "put": put, "SIZE": size, "KEPT": stored}
    prepare_chart = switched if rates.switches else left_alone
    attitude_of = euler.to_quaternion if rates.switches else rates.chart.attitude
    start = helper(bind(start_rates, prepare_chart=prepare_chart, get=get, put=put, SIZE=size, KEPT=stored))
    field = helper(
        bind(field_of_rates, attitude_of=attitude_of, rates_of=slope, plan_at=plan_at, get=get, put=put, SIZE=size)
    )
    move = helper(bind(rated_chart, attitude_of=attitude_of, finished=finished, plan_at=plan_at, **common))
    return steps_of(start, field, move, exp_quaternion, size)


def other_sequence(sequence: str) -> str:
    """A sequence never singular together with the given one: it differs in the last axis."""
    first, second, last = tuple(sequence.lower())
    other = first + second + (first if last != first else next(iter(set("xyz") - {first, second})))
    return other.upper() if sequence.isupper() else other


def prepared_rates(rates, tableau="rk4", sequence="", form=""):
    """The compiled method that integrates the rates of attitude coordinates with a tableau."""
    plan = euler.plan(sequence) if sequence else NO_SEQUENCE
    second = euler.plan(other_sequence(sequence)) if rates.switches else NO_SEQUENCE
    explicit, implicit, _ = steps_of_rates(rates, form or next(iter(rates.forms)))
    chosen, chart = find_tableau(tableau), rates.chart
    numbers, int_coefficients = coefficients(chosen, *plan, 0, *second)
    unknowns = 3 + (3 if rates.switches else chart.size)
    return CompiledMethod(
        explicit if chosen.explicit else implicit, lambda bodies, blocks: work_size(blocks, chosen, unknowns), numbers,
        int_coefficients, auxiliary_work=auxiliary_size(chosen), coordinates=Coordinates(
            chart.name, chart.size, {"branch": "continuous"} | ({"sequence": sequence} if sequence else {}),
            lambda c: chart.attitude(c, plan), lambda q: chart.coordinates(q, plan), rates=True,
        ),
    )  # fmt: skip


def promised_of_rates(rates: Rates, tableau: str) -> Promises:
    """The promises, which follow from the tableau: the rates are an ordinary differential equation.

    In quaternions the energy of a heavy top is quadratic, so symplectic tableaux keep it.
    """
    chosen = find_tableau(tableau)
    quadratic = chosen.symplectic and rates.chart is QUATERNION
    return replace(
        promised(tableau), frame_dependent=True, time_symmetric=chosen.symmetric and not chosen.explicit,
        keeps_top=("energy", "axial_momentum") if quadratic else ("axial_momentum",),
    )  # fmt: skip


SWITCHING = Chart("switching_euler_angles", 4, switching_attitude, switching_of, {})
VECTOR_RATES = Rates(VECTOR, {"regularised": (vector_rates, as_it_is), "printed": (vector_rates_as_printed, as_it_is)})
ANGLE_RATES = Rates(ANGLES, {"printed": (angle_rates, as_it_is), "regularised": (angle_rates_damped, as_it_is)})
SWITCHING_RATES = Rates(SWITCHING, {"printed": (angle_rates, as_it_is)}, switches=True)
QUATERNION_RATES = Rates(
    QUATERNION, {"renormalised": (quaternion_rates, normalize), "free": (quaternion_rates, as_it_is)}
)


# ------------------------------------------------------------------ the rows
ANY_TABLEAU = Option(
    "rk4", lambda word: word == SEMI_IMPLICIT or is_tableau(word), lambda: (*tableau_names(), SEMI_IMPLICIT),
    "Runge-Kutta tableau, or explicit Euler as printed",
)  # fmt: skip
SEQUENCE = Option(
    "XYZ", euler.SEQUENCES.__contains__, lambda: euler.SEQUENCES, "Euler sequence: 'ZXZ' intrinsic, 'zxz' extrinsic"
)
CENTER = word_option("where in an implicit step the chart is centred", "middle", "start")


def row(name: str, chart: Chart, description: str, cite: str = "holzinger2021") -> Method:
    """The row of a method that composes attitude coordinates with incremental rotations."""
    branches = tuple(chart.branches)
    options = OPTIONS | {"tableau": ANY_TABLEAU}
    if chart.name == "euler_angles":
        options["sequence"] = SEQUENCE
    if len(branches) > 1:
        options["branch"] = word_option("which of the numbers of an attitude are taken", *branches)
    options["center"] = CENTER
    return Method(
        name, "rotation_parameters", description, cite, lambda **chosen: prepared(chart, **chosen), promised, options
    )


def row_of_rates(name: str, rates: Rates, description: str, cite: str = "holzinger2021") -> Method:
    """The row of a method that integrates the rates of attitude coordinates."""
    forms = tuple(rates.forms)
    options = {"tableau": OPTIONS["tableau"]}
    if "euler_angles" in rates.chart.name:
        options["sequence"] = SEQUENCE
    if len(forms) > 1:
        options["form"] = word_option("how rates or results are corrected", *forms)
    return Method(
        name, "rotation_parameters", description, cite, lambda **chosen: prepared_rates(rates, **chosen),
        lambda tableau="rk4", **_: promised_of_rates(rates, tableau), options,
    )  # fmt: skip


ROWS = (
    row("rotation_vector", VECTOR, "rotation vector through its singular points, any tableau"),
    row("euler", ANGLES, "Euler angles of any sequence through their singular points, any tableau"),
    row("gibbs_rodrigues", GIBBS, "Rodrigues parameters through half turns, any tableau"),
    row("modified_rodrigues", MODIFIED, "modified Rodrigues parameters with the shadow switch", "shuster1993"),
    row("lie_rk", MATRIX, "rotation matrix: the standard Lie group method, any tableau", "bruls2010"),
    row("terze", QUATERNION, "quaternion turned by the increment, any tableau", "terze2016"),
    row("rotation_vector_as_printed", VECTOR_AS_PRINTED, "rotation vector by the printed update: fails near 2 pi"),
    row("rotation_vector_bch", VECTOR_BCH, "rotation vector by the closed BCH formula: fails beyond pi/2", "engo2001"),
    row("euler_as_printed", ANGLES_AS_PRINTED, "Euler angles by five matrix entries: lose digits near singular points"),
    row_of_rates("rotation_vector_direct", VECTOR_RATES, "rates of the rotation vector: singular at 2 pi"),
    row_of_rates("euler_direct", ANGLE_RATES, "rates of Euler angles: singular at the middle angle's ends"),
    row_of_rates("euler_switching", SWITCHING_RATES, "rates of Euler angles of two sequences in turn", "singla2005"),
    row_of_rates("quaternion_rk", QUATERNION_RATES, "rates of the quaternion, as four numbers"),
)
"""Coordinates composed with rotations, then with published updates; then coordinates whose rates are integrated."""
