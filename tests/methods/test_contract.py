"""What the table of methods promises, measured for every row; and each checker once with something spoiled."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from cover import chosen, some
from each import each
from loads_by_hand import top_loads
from polhode.algebra import rotation
from polhode.algebra.quaternion import rotate_inverse
from polhode.algebra.so3 import axpy, cross, scale
from polhode.checks import (
    ORDER_PROBLEMS,
    SWITCHES,
    PromiseBroken,
    check_method,
    check_system,
    exact_state,
    frame_defect,
    measure_order,
    numbering_defect,
    slicing_defect,
    state_distance,
    stepper,
    symplectic_defect,
    trial_problem,
)
from polhode.errors import InvalidInput, StepFailed
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3
from polhode.kernel.jit import inlined
from polhode.methods import METHODS, CompiledMethod, Method, method, tableau_names
from polhode.methods.free_flows import FLOW_NAMES
from polhode.methods.krysl import forward_euler
from polhode.methods.splitting_tables import SCHEMES
from polhode.methods.tableaux import tableau
from polhode.runs.initial_state import start_state
from polhode.systems import (
    SYSTEMS,
    System,
    dipoles,
    free_body,
    gravitating_bodies,
    gravity_gradient,
    heavy_top,
    orbit,
    particle,
    rigid_body,
    rigid_water,
    soft_wall,
    spacecraft,
)
from polhode.systems.forces import zonal
from polhode.systems.registry import sample_arguments

FAMILIES = ("gauss", "radau_iia", "lobatto_iiia", "lobatto_iiib", "lobatto_iiic")
NAMED = [name for name in tableau_names() if not name.startswith(FAMILIES)]
SHIPPED = [*NAMED, "gauss4", "gauss6", "gauss8", "radau_iia3", "radau_iia5", "lobatto_iiib2", "lobatto_iiia4",
           "lobatto_iiib4", "lobatto_iiic2", "lobatto_iiic4"]  # fmt: skip
ROWS = [name for name in METHODS if METHODS[name].family in ("krysl", "munthe_kaas")]
TABLEAUX = [f"mkrk:{name}" for name in SHIPPED]
WITH_CAYLEY = [f"mkrk:{name}:cayley" for name in ("backward_euler", "rk4", "midpoint", "gauss4")]
CHARTED = [
    "euler:gauss4:cayley:zxz:continuous", "euler:cv8:ZYX", "euler:semi_implicit_euler:cayley:yxz:continuous",
    "rotation_vector:gauss6:cayley:principal", "rotation_vector:kutta3:continuous", "rotation_vector:radau_iia3",
    "modified_rodrigues:midpoint:cayley:tracked", "gibbs_rodrigues:cv8:cayley", "lie_rk:gauss4",
    "terze:gauss6:cayley:free", "euler:gauss4:start", "rotation_vector:lobatto_iiia4:cayley", "quaternion_rk:gauss4",
    "quaternion_rk:heun:free", "euler_direct:rk4_38:xyx", "euler_switching:kutta3:zxz", "rotation_vector:sdirk2",
    "rotation_vector_direct:midpoint:printed",
]  # fmt: skip
"""Charts with every tableau family, map, branch and kind of sequence at least once."""
LIMITED = {"rotation_vector_bch"}
"""Right up to a quarter turn only, see ``test_rotation_parameters``."""
PAIRS = [f"{scheme}/{FLOW_NAMES[5 * k % len(FLOW_NAMES)]}" for k, scheme in enumerate(SCHEMES) if scheme != "yoshida8a"]
"""Every scheme with some free flow, every free flow with several schemes; but for the one whose substeps are so long
that round-off grows to a turn within the largest step that is looked at."""
TRANSFORMED = [
    "reversible:v2", "reversible:distance:v2", "logarithmic:kl8", "reversible:v2/kepler", "reversible:kepler",
    "reversible:mkrk:midpoint", "reversible:distance:s6_10", "logarithmic:v2/mr6",
]  # fmt: skip
"""Methods whose steps do not have the size asked for."""
ORBITAL = ["v2/kepler", "rkn6_14a/kepler", "v2/kepler:corrected", "s6_10/kepler+mr6", "sbabc1/kepler:corrected"]
"""Methods that follow orbits about a centre between kicks by the other loads."""
PRODUCT = [f"mkrk:{name}:{map}" for name, map in product(SHIPPED, ("exp", "cayley"))]


OF_ONE_STEP = [name for name in METHODS if name in SCHEMES]
"""Rows of coefficients of one compiled step, whose conditions of order ``test_splitting_tables`` looks at."""
OTHERS = [name for name in METHODS if name not in {*LIMITED, *SCHEMES}]


EVERY_KIND = (
    "v2", "rkn8_17", "wisdom11", "sbabc10", "liemid_e2", "cf4", "dmv6", "semiexact10", "baoab",
    "variational_midpoint4", "mkrk:dp8", "mkrk:gauss8", "mkrk:rk4:cayley", "euler:gauss4:cayley:zxz:continuous",
    "gibbs_rodrigues", "quaternion_rk", "rotation_vector_direct",
)  # fmt: skip
"""One of each kind of step, but for those whose promises are spoiled below, and Taylor steps (``test_taylor``)."""


@each("label", chosen([*OF_ONE_STEP, *OTHERS, *TABLEAUX, *WITH_CAYLEY, *CHARTED], EVERY_KIND))
def test_promises(label):
    check_method(label).raise_for_failure()


@each("label", ["reversible:v2", "logarithmic:kl8", "v2/kepler"])
def test_promises_of_transformed_steps_and_of_orbits_between_kicks(label):
    """Errors are those at the time asked for, which a shortened last step reaches; a centre attracts the bodies."""
    check_method(label).raise_for_failure()


@pytest.mark.full
@pytest.mark.parametrize("label", [*TRANSFORMED, *ORBITAL])
def test_promises_of_more_transformed_steps_and_orbits(label):
    check_method(label).raise_for_failure()


@pytest.mark.full
@pytest.mark.parametrize("label", PRODUCT)
def test_promises_of_the_full_product(label):
    check_method(label).raise_for_failure()


def kept(label):
    """Broken promises of a scheme with a free flow, but for orders and faults: many are too accurate."""
    faults = ("not symplectic", "not symmetric", "some influence")
    return [x for x in check_method(label).failures if not (x.what.startswith("order") or x.promised in faults)]


@each("label", ["chin4b/three_rotation"])
def test_what_schemes_keep_with_other_flows(label):
    assert not kept(label)


@pytest.mark.full
@pytest.mark.parametrize("label", PAIRS)
def test_what_every_scheme_keeps_with_some_flow(label):
    assert not kept(label)


# ------------------------------------------------------------------ symplecticity
def defects(label, *loads, turns=True, moves=False):
    system, y = trial_problem(*loads, turns=turns, moves=moves)
    advance = stepper(label, system, y)
    return [symplectic_defect(lambda z, h=h: advance(z, 0.0, h), system, y) for h in (0.4, 0.2, 0.1)]


def test_the_form_is_the_one_of_the_exact_flow():
    """Sign and factor of m . (theta1 x theta2): only with both right is the exact flow symplectic."""
    for loads in ((), ("potential",)):
        system, y = trial_problem(*loads, moves=True)
        advance = stepper("mkrk:gauss8", system, y)
        assert symplectic_defect(lambda z, advance=advance: advance(z, 0.0, 0.02, 40), system, y) < 1e-12
    system, y = trial_problem("rate")  # friction
    advance = stepper("mkrk:gauss8", system, y)
    assert symplectic_defect(lambda z: advance(z, 0.0, 0.02, 40), system, y) > 1e-2


@each("loads", [(), ("potential",)], ids=["free", "potential"])
@each("label", some([name for name in ROWS if method(name).promises.order == 2], 4))
def test_no_method_of_order_two_is_symplectic(label, loads):
    """The paper holds IMIDM to be symplectic: its defect is of the size h^3 of any method of order 2."""
    coarse, middle, fine = defects(label, *loads)
    assert fine > 1e-6
    assert middle / fine == pytest.approx(8, rel=0.2)
    assert coarse / middle == pytest.approx(8, rel=0.3)


SYMPLECTIC_IN_SPACE = {
    "imid": True, "imidm": True, "swc1": True, "trap": False, "akw": False, "liemid_e1": True, "liemid_e2": True,
    "liemid_ea": True,
}  # fmt: skip


@each("label", SYMPLECTIC_IN_SPACE)
def test_symplectic_on_a_vector_space(label):
    found = defects(label, "potential", turns=False, moves=True)
    if SYMPLECTIC_IN_SPACE[label]:
        assert max(found) < 1e-12
    else:
        assert found[0] > 1e-6


def test_symplectic_tableaux_on_a_vector_space():
    midpoint_in_disguise = {"lobatto_iiib2"}  # two equal stages, which the condition on the tableau does not see
    for name in SHIPPED:
        found = defects(f"mkrk:{name}", "potential", turns=False, moves=True)[0]
        assert (found < 1e-12) == (tableau(name).symplectic or name in midpoint_in_disguise), (name, found)


# ------------------------------------------------------------------ several bodies
@inlined
def arm(y, body, where):
    q = get4(y, body + L.ATTITUDE)
    return rotate_inverse((q[0], -q[1], -q[2], -q[3]), where)


def two_loads(part, t, N, y, bodies, parameters, out):
    """Two bodies on a spring between points fixed in them, with friction, driven in time."""
    a = axpy(1.0, arm(y, 0, (0.3, 0.1, -0.2)), get3(y, L.POSITION))
    b = axpy(1.0, arm(y, L.BODY, (-0.2, 0.4, 0.1)), get3(y, L.BODY + L.POSITION))
    drag = axpy(
        -1.0,
        scale(bodies[L.INVERSE_MASS], get3(y, L.MOMENTUM)),
        scale(bodies[L.CONSTANTS + L.INVERSE_MASS], get3(y, L.BODY + L.MOMENTUM)),
    )
    pull = axpy(parameters[0] * (1.0 + 0.5 * np.sin(2.0 * t)), axpy(-1.0, a, b), scale(parameters[1], drag))
    put3(out, 0, pull)
    put3(out, 3, cross((0.3, 0.1, -0.2), rotate_inverse(get4(y, L.ATTITUDE), pull)))
    put3(out, L.LOAD, scale(-1.0, pull))
    put3(out, L.LOAD + 3, cross((-0.2, 0.4, 0.1), rotate_inverse(get4(y, L.BODY + L.ATTITUDE), scale(-1.0, pull))))


def two_bodies(strength=2.0, friction=0.3):
    system = System(
        name="two_bodies",
        arguments={},
        mass=np.array([1.2, 0.7]),
        moments=np.array([[1.0, 1.6, 2.3], [0.5, 0.8, 0.6]]),
        frames=np.array([[1.0, 0.0, 0.0, 0.0]] * 2),
        loads=two_loads,
        parameters=np.array([strength, friction]),
        conserves=() if friction else ("momentum", "angular_momentum_space"),
    )
    y = start_state(
        system, position=[[0.0, 0, 0], [1.0, 0.3, -0.2]], momentum=[[0.1, 0.5, -0.3], [-0.1, -0.4, 0.6]],
        attitude=rotation.exp_quaternion([[0.4, -0.7, 0.3], [-0.2, 0.5, 0.9]]),
        angular_momentum=[[0.8, -0.5, 1.1], [0.2, 0.6, -0.3]],
    )  # fmt: skip
    return system, y


@pytest.fixture(scope="module")
def pair():
    system, y = two_bodies()
    return system, y, exact_state(system, y, 0.2, 1.5)


@each("label", some([*ROWS, "mkrk:gauss4"], 4))
def test_two_bodies_by_hand(pair, label):
    """The sweeps of the implicit methods over four coupled blocks, and the explicit methods, keep their order."""
    system, y, end = pair
    convergence = measure_order(label, system, y, end, 0.2, 1.5)
    assert convergence.order == pytest.approx(method(label).promises.order, abs=0.2)


def test_two_bodies_keep_what_actions_and_reactions_keep():
    system, y = two_bodies(friction=0.0)
    start = {
        "position": y.reshape(2, L.BODY)[:, L.POSITION : L.MOMENTUM],
        "momentum": y.reshape(2, L.BODY)[:, L.MOMENTUM : L.ATTITUDE],
    }
    report = check_system(system, angular_momentum=y.reshape(2, L.BODY)[:, L.ANGULAR :], **start)
    report.raise_for_failure()
    assert "conserves momentum" in str(report)


def thrust(t, position, velocity, q, omega, parameters):
    w, x, y, z = q[0], q[1], q[2], q[3]
    nose = (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y))
    push = parameters[0] * (1.0 + 0.3 * np.cos(2.0 * t) - 0.2 * omega[1])
    force = (push * nose[0] - position[0], push * nose[1] - 1.5 * position[1], push * nose[2] - 0.1 * velocity[2])
    return force, (0.3 * position[1] - 0.2 * omega[0], 0.4 * velocity[0], -0.5 * position[0] * nose[2])


@pytest.fixture(scope="module")
def craft():
    system = rigid_body((1.0, 1.6, 2.3), mass=1.3, load=thrust, parameters=(0.8,))
    y = start_state(system, angular_momentum=(0.8, -0.5, 1.1), position=(0.6, -0.4, 0.9), velocity=(0.2, 0.4, -0.1))
    return system, y, exact_state(system, y, 0.2, 1.5)


@each("label", some(ROWS, 4))
def test_place_and_attitude_coupled_by_a_user_load(craft, label):
    system, y, end = craft
    convergence = measure_order(label, system, y, end, 0.2, 1.5)
    assert convergence.order == pytest.approx(method(label).promises.order, abs=0.2)


ADJOINTS = {"backward_euler": "forward_euler", "backward_euler_m": "forward_euler_m", "liemid_e2": "liemid_e1"}


@each("label", [*ADJOINTS, "trap", "imid", "trapm", "imidm", "swc1", "akw", "bbtrap"])
def test_sweeps_end_at_round_off(label):
    """Of strongly coupled blocks too: a step back with the adjoint method ends where the step began."""
    system, y = two_bodies(strength=6.0)
    end = stepper(label, system, y)(y, 0.2, 0.25)
    back = stepper(ADJOINTS.get(label, label), system, y)(end, 0.45, -0.25)
    assert state_distance(back, y, system) < 5e-14


@each("label", [name for name in ROWS if method(name).promises.implicit])
def test_rest_in_an_equilibrium(label):
    """Loads that cancel leave a momentum of pure round-off; a solver that asks for more of it never ends."""
    center = np.array([0.1, 0.2, 0.9])
    axis = np.cross(center, (0.0, 0.0, -1.0))
    turn = np.arccos(-center[2] / np.linalg.norm(center)) / np.linalg.norm(axis) * axis
    system = heavy_top((1.0, 1.5, 2.2), center, 9.81)
    hanging = start_state(system, attitude=rotation.exp_quaternion(turn))
    end = stepper(label, system, hanging)(hanging, 0.0, 0.05, 400)
    assert state_distance(end, hanging, system) < 1e-13
    system = particle(1.7, stiffness=5.1, gravity=(0.0, 0.0, -9.81))
    resting = start_state(system, position=(0.0, 0.0, -3.27))
    end = stepper(label, system, resting)(resting, 0.0, 0.05, 400)
    assert state_distance(end, resting, system) < 1e-13


# ------------------------------------------------------------------ the checkers, spoiled
def row(label, **changes):
    """The method as a row of its own with other promises, or another way to prepare it."""
    chosen = method(label)
    prepare = changes.pop("prepare", chosen.prepare)
    promised = replace(chosen.promises, **changes)
    return Method("spoiled", "tests", "a spoiled method", "krysl2006", prepare, lambda: promised)


def failed(label, **changes):
    report = check_method(row(label, **changes))
    with pytest.raises(PromiseBroken, match="breaks its promises"):
        report.raise_for_failure()
    return {line.what for line in report.failures}


def spoiled_table(label, entry, amount):
    prepared = method(label).prepare()
    numbers = prepared.coefficients.copy()
    numbers[entry] += amount
    return lambda: replace(prepared, coefficients=numbers)


def test_a_good_row_outside_the_table_passes():
    report = check_method(row("trapm"))
    report.raise_for_failure()
    assert "12 of 12 checks passed" in str(report)
    assert report["time symmetry"].passed
    with pytest.raises(KeyError, match="order, particle"):
        report["nothing of the kind"]


def test_order_sees_a_spoiled_coefficient():
    assert failed("mkrk:rk4", prepare=spoiled_table("mkrk:rk4", 9, 1e-3)) == set(ORDER_PROBLEMS)


def test_order_sees_a_spoiled_node():
    """Only an explicitly time-dependent load sees the nodes c."""
    found = failed("mkrk:rk4", prepare=spoiled_table("mkrk:rk4", 21, 1e-2))
    assert found == set(ORDER_PROBLEMS)


@each("label", ["reversible:v2", "v2/kepler"])
def test_orders_and_symmetry_see_what_is_spoiled_in_transformed_steps_and_beside_orbits(label):
    found = failed(label, prepare=spoiled_table(label, 0, 1e-3))
    assert found >= {*ORDER_PROBLEMS, "time symmetry"}


def test_symmetry_sees_steps_that_follow_the_past_only():
    """A step whose size is that of its beginning is not undone by a step back."""
    prepared = method("reversible:v2").prepare()
    inner = inlined(method("v2").prepare().step)

    def hasty(_, s, p):
        at = int(p.step_info[L.TIME_AT])
        h = s / (1.0 + p.y[L.ANGULAR] ** 2)
        status = inner(p.y[at], h, p)
        p.y[at] += h
        p.y[at + 2] = 1.0
        p.step_info[L.NEXT_TIME] = p.y[at]
        return status

    report = check_method(row("reversible:v2", prepare=lambda: replace(prepared, step=hasty)))
    assert "time symmetry" in {line.what for line in report.failures}


def test_symmetry_sees_a_spoiled_coefficient():
    found = failed("mkrk:midpoint", prepare=spoiled_table("mkrk:midpoint", 0, 1e-6))
    assert "time symmetry" in found


BOTH_SYMPLECTIC = ["symplectic, free body", "symplectic, in a potential"]
WRONG = [
    ("mkrk:rk4", ORDER_PROBLEMS, {"order": 3}),
    ("trap", ["time symmetry"], {"time_symmetric": False}),
    ("imidm", BOTH_SYMPLECTIC, {"symplectic": True}),
    ("v2", BOTH_SYMPLECTIC, {"symplectic": False}),
    ("trapm", ["kept, free body"], {"keeps_free": ("energy", "momentum_length", "spatial_momentum")}),
    ("akw", ["kept, heavy top"], {"keeps_top": ("vertical_momentum", "axial_momentum")}),
    ("liemid_ea", ["kept, heavy top"], {"keeps_top": ("vertical_momentum",)}),
    ("mkrk:rk4", ["time symmetry"], {"time_symmetric": True}),
    ("trapm", ["kept, free body"], {"keeps_free": ()}),
    ("imid", ["kept, free body"], {"keeps_free": ("energy",)}),
    ("trap", ["kept, free body"], {"keeps_free": ()}),
    ("swc1", ["kept, heavy top"], {"keeps_top": ("energy", "vertical_momentum")}),
]


@each("label, what, changes", chosen(WRONG, WRONG[:6]))
def test_wrong_promises_are_found(label, what, changes):
    """And these alone."""
    assert failed(label, **changes) == {*what}


def test_promises_have_known_names():
    with pytest.raises(InvalidInput, match="spatial_momentum"):
        check_method(row("trap", keeps_free=("angular_momentum",)))


def leaky(t, h, p):
    """Forward Euler with a step that grows with every step since its arrays were made."""
    p.work[0] += 1.0
    return forward_euler(t, h * (1.0 + 1e-9 * p.work[0]), p)


def biased(t, h, p):
    """Forward Euler with a preference for the first axis."""
    status = forward_euler(t, h, p)
    p.y[L.ANGULAR] += 1e-7 * h
    return status


def with_step(step):
    return row("forward_euler", prepare=lambda: CompiledMethod(step, lambda bodies, blocks: 1))


def test_slicing_sees_memory_outside_the_state():
    system, y = trial_problem(*SWITCHES)
    assert slicing_defect("forward_euler", system, y) == 0.0
    assert slicing_defect(with_step(leaky), system, y) > 1e-12


def test_numbering_and_frame_see_a_preferred_axis():
    assert numbering_defect("forward_euler") < 2e-14
    assert numbering_defect(with_step(biased)) > 1e-8
    assert frame_defect("forward_euler") < 2e-14
    assert frame_defect(with_step(biased)) > 1e-8


def test_a_step_that_fails_says_so():
    system, y = trial_problem()
    with pytest.raises(StepFailed, match="mkrk:gauss4"):
        stepper("mkrk:gauss4", system, y)(y, 0.0, 1e3)


# ------------------------------------------------------------------ systems
SOUND = {
    "free_body": lambda: (free_body((1.0, 1.5, 2.0)), {"angular_velocity": (0.1, 3.0, 0.2)}),
    "tensor": lambda: (free_body([[1.5, 0.1, 0.2], [0.1, 1.8, -0.1], [0.2, -0.1, 2.0]]), {}),
    "symmetric top": lambda: (heavy_top((5, 5, 1), (0, 0, 1), 20.0), {"angular_velocity": (0, 0, 5)}),
    "asymmetric top": lambda: (heavy_top((1.0, 1.5, 2.2), (0.1, 0.2, 0.9), 1.0), {}),
    "gravity gradient": lambda: (gravity_gradient((1.0, 1.5, 2.2), 2.0, 1.7), {"angular_velocity": (0.3, 1.0, 0.2)}),
    "symmetric body, gravity gradient": lambda: (gravity_gradient((2.0, 1.2, 2.0), 2.0, 1.7), {}),
    "soft wall, printed": lambda: (soft_wall(), {}),
    "soft wall, physical": lambda: (soft_wall(sign="physical"), {}),
    "particle": lambda: (particle(), {}),
    "spring": lambda: (particle(2.0, stiffness=3.0), {"position": (100.0, 0, 0)}),
    "springs": lambda: (particle(stiffness=(1, 2, 3), gravity=(0, 0, -9.81)), {}),
    "spacecraft": lambda: (
        spacecraft((0.1, 0.15, 0.22), 2.0, 3.0),
        {"position": (1.5, 0.3, 0.2), "velocity": (0.1, 1.0, 0.3), "angular_velocity": (0.3, 1.0, 0.2)},
    ),
    "gravitating bodies": lambda: (
        gravitating_bodies((1.0, 0.4)),
        {"position": [(0.3, 0.1, 0.0), (-0.6, 0.2, 0.3)], "velocity": [(0.1, 0.5, 0.2), (-0.2, -0.6, 0.1)]},
    ),
    "dipoles": lambda: (
        dipoles(3, inertia=[np.diag(J) for J in ((1.0, 1.88, 2.88), (2.0, 1.2, 1.5), (1.0, 1.0, 1.3))]),
        {"position": [(0.0, 0.1, 0.0), (2.0, 0.2, 0.3), (0.3, 2.1, -0.2)], "velocity": np.eye(3)},
    ),
    "rigid water": lambda: (
        rigid_water(3),
        {"position": [(0.0, 0.1, 0.0), (0.9, 0.0, 0.2), (0.1, 0.9, -0.4)], "span": 0.2},
    ),
    "orbit": lambda: (orbit(2.0, 3.0), {"position": (1.5, 0.3, 0.2), "velocity": (0.1, 1.0, 0.3)}),
    "orbit, oblate centre": lambda: (
        orbit(2.0, forces=[zonal(J2=0.1, J3=-0.02, J4=0.03, radius=1.0)]),
        {"position": (1.5, 0.3, 0.2), "velocity": (0.1, 1.0, 0.3)},
    ),
}


HERE = {SOUND[name]()[0].name for name in SOUND} | {"rigid_body"}
SOUND |= {name: lambda name=name: (SYSTEMS[name](**sample_arguments(SYSTEMS[name])), {}) for name in SYSTEMS
          if name not in HERE}  # fmt: skip
"""Systems that are not above start from any state."""


ELSEWHERE = {"spacecraft", "gravitating bodies", "dipoles", "orbit", "orbit, oblate centre"}
"""Checked in the same way in files of their own."""


@each("name", chosen(SOUND, {*SOUND} - ELSEWHERE))
def test_shipped_systems_keep_what_they_declare(name):
    system, start = SOUND[name]()
    report = check_system(system, **start)
    report.raise_for_failure()
    assert {f"conserves {what}" for what in system.conserves} <= {line.what for line in report.lines}


def test_a_users_potential():
    def potential(t, q, parameters):
        return parameters[0] * (q[1] * q[3] - q[0] * q[2]) + q[1] ** 2 * q[3] ** 2

    system = rigid_body((1.0, 1.5, 2.0), potential=potential, parameters=(2.0,))
    report = check_system(system, states=2)
    report.raise_for_failure()
    assert report["loads and potential"].numbers["defect"] < 1e-10


def wrong_potential(t, N, y, bodies, parameters):
    """The potential of the heavy top with its weight 1e-6 too large."""
    return 1.000001 * parameters[0] * rotate_inverse(get4(y, L.ATTITUDE), (0.0, 0.0, 1.0))[2]


def greedy_loads(part, t, N, y, bodies, parameters, out):
    """Write one number too many."""
    for k in range(L.LOAD * N + 1):
        out[k] = 0.0


def lazy_loads(part, t, N, y, bodies, parameters, out):
    """Write only the first component of the torque."""
    out[3] = 1.0


def meddling_loads(part, t, N, y, bodies, parameters, out):
    """Change the state."""
    y[L.ANGULAR] += 1.0
    for k in range(L.LOAD * N):
        out[k] = 0.0


def dragging_loads(part, t, N, y, bodies, parameters, out):
    """Friction that nobody declared."""
    put3(out, 0, (0.0, 0.0, 0.0))
    put3(out, 3, scale(-1e-3, get3(y, L.ANGULAR)))


@each(
    "changes, what",
    [
        ({"potential": wrong_potential, "loads": top_loads, "commutator": None}, "loads and potential"),
        ({"loads": dragging_loads}, "loads in motion"),
        ({"loads": dragging_loads, "potential": None}, "conserves energy"),
        ({"loads": greedy_loads}, "loads"),
        ({"loads": lazy_loads}, "loads"),
        ({"loads": meddling_loads}, "loads"),
        ({"conserves": ("energy", "angular_momentum_space")}, "conserves angular_momentum_space"),
        ({"conserves": ("energy", "helicity")}, "shapes and names"),
        ({"conserves": ("axial_angular_momentum",), "axis": None}, "shapes and names"),
        ({"moments": np.array([1.0, 1.0, 2.0])}, "shapes and names"),
        ({"mass": np.array([-1.0])}, "shapes and names"),
        ({"frames": np.array([[1.0, 1.0, 0.0, 0.0]])}, "shapes and names"),
        ({"parameters": [1, 2, 3]}, "shapes and names"),
    ],
)
def test_spoiled_systems_are_found(changes, what):
    system = replace(heavy_top((2.0, 2.0, 1.0), (0.0, 0.0, 1.0), 3.0), **changes)
    report = check_system(system, states=1)
    assert what in {line.what for line in report.failures}
    with pytest.raises(PromiseBroken):
        report.raise_for_failure()


def test_a_drift_nobody_sees_at_a_glance():
    """An axial momentum declared of a body whose first two moments differ by 1e-6."""
    system = heavy_top((2.0, 2.000001, 1.0), (0.0, 0.0, 1.0), 3.0)
    spoiled = replace(system, conserves=("axial_angular_momentum",), axis=np.array([0.0, 0.0, 1.0]))
    assert not check_system(spoiled, states=1)["conserves axial_angular_momentum"].passed


def test_wrong_arguments():
    with pytest.raises(InvalidInput, match="free_body"):
        check_system("heavy_top")
    with pytest.raises(InvalidInput, match="tramp"):
        check_method("tramp")
    with pytest.raises(InvalidInput, match="shorter"):
        check_system(free_body((1.0, 1.5, 2.0)), span=1e6)
