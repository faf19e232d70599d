"""Every row against an independent transcription; compositions, conjugacies and identities of the paper."""

import itertools

import numpy as np
import pytest

import as_printed
import trial_law as law
from cover import chosen
from each import each
from polhode.checks import state_distance, stepper, trial_problem
from polhode.kernel import layout as L
from polhode.methods import METHODS, tableau

ALL = ("time", "potential", "rate")
LAWS = [(), ("time",), ("potential",), ("rate",), ALL]
T0, H = 0.3, 0.3


def matrix_of(y):
    w, v = y[L.ATTITUDE], y[L.ATTITUDE + 1 : L.ANGULAR]
    A = as_printed.skew(v)
    return np.eye(3) + 2 * w * A + 2 * A @ A


def polhode_step(label, terms=ALL, t=T0, h=H):
    system, y = trial_problem(*terms)
    end = stepper(label, system, y)(y, t, h)
    return matrix_of(end), end[L.ANGULAR : L.BODY]


def printed_step(function, terms=ALL, t=T0, h=H):
    return function(t, h, law.R0, law.PI0, law.I, law.torque(*terms))


def assert_same(a, b, tolerance=1e-13):
    np.testing.assert_allclose(a[0], b[0], rtol=0, atol=tolerance)
    np.testing.assert_allclose(a[1], b[1], rtol=0, atol=tolerance)


def tableau_step(name, **map):
    chosen = tableau(name)
    return as_printed.mkrk(chosen.A, chosen.b, chosen.c, **map)


PRINTED = {name: getattr(as_printed, name) for name in METHODS if name != "mkrk" and hasattr(as_printed, name)}
PRINTED["ode45"] = tableau_step("dp5")
PRINTED |= {f"mkrk:{name}": tableau_step(name) for name in ("rk4", "dp5", "gauss4", "radau_iia3", "lobatto_iiic4")}
CAYLEY = {"turn": as_printed.cay, "tangent": as_printed.dcay}
PRINTED |= {f"mkrk:{name}:cayley": tableau_step(name, **CAYLEY) for name in ("rk4", "gauss4")}


def lie_step(name, **options):
    chosen = tableau(name)
    return as_printed.lie(chosen.A, chosen.b, chosen.c, **options)


def rates_step(name, *chart):
    chosen = tableau(name)
    return as_printed.rates(chosen.A, chosen.b, chosen.c, *chart)


CHARTS = ("rotation_vector", "euler", "gibbs_rodrigues", "modified_rodrigues", "lie_rk", "terze",
          "rotation_vector_as_printed", "rotation_vector_bch", "euler_as_printed")  # fmt: skip
PRINTED |= {f"{chart}:rk4": lie_step("rk4") for chart in CHARTS}
PRINTED |= {f"{chart}:dp5:cayley": lie_step("dp5", **CAYLEY) for chart in CHARTS}
PRINTED |= {
    "rotation_vector:gauss4": lie_step("gauss4", middle=True), "euler:gauss6:start": lie_step("gauss6"),
    "euler:radau_iia3:cayley:ZXZ:continuous": lie_step("radau_iia3", middle=True, **CAYLEY),
    "euler:semi_implicit_euler:yxy": as_printed.semi_implicit_euler,
    "rotation_vector_direct:rk4": rates_step(
        "rk4", as_printed.vector_of, as_printed.exp, lambda v, w: np.linalg.solve(as_printed.dexp(-v), w)
    ),
    "euler_direct:rk4": rates_step("rk4", as_printed.cardan_of, as_printed.cardan, as_printed.cardan_rates),
    "euler_switching:rk4": rates_step("rk4", as_printed.cardan_of, as_printed.cardan, as_printed.cardan_rates),
    "quaternion_rk:rk4": rates_step(
        "rk4", as_printed.quaternion_of, as_printed.quaternion_matrix, as_printed.quaternion_rates
    ),
}  # fmt: skip


ELSEWHERE = ("splitting", "thermostats", "taylor", "variational", "conic", "commutator_free")  # with files of their own


def test_every_row_has_a_transcription():
    assert {name.partition(":")[0] for name in PRINTED} == {
        name for name, row in METHODS.items() if row.family not in ELSEWHERE
    }


DEAR = {f"{chart}:dp5:cayley" for chart in CHARTS if chart != "modified_rodrigues"}
SHORT = {*PRINTED} - {"mkrk:dp5", "euler:gauss6:start", *DEAR}
"""Each row, each chart with exponentials, one with the other map too."""


@each(("label", "terms"), chosen(itertools.product(PRINTED, [ALL, ()]), itertools.product(SHORT, [ALL])))
def test_one_step(label, terms):
    assert_same(polhode_step(label, terms), printed_step(PRINTED[label], terms))


def test_one_step_notices_a_spoiled_coefficient():
    spoiled = tableau("rk4").A.copy()
    spoiled[2, 1] += 1e-9
    step = as_printed.mkrk(spoiled, tableau("rk4").b, tableau("rk4").c)
    with pytest.raises(AssertionError):
        assert_same(polhode_step("mkrk:rk4"), printed_step(step))


@each("turn, tangent", [(as_printed.exp, as_printed.dexp), (as_printed.cay, as_printed.dcay)])
def test_tangents_of_the_transcription(turn, tangent):
    psi, d, e = np.array([0.5, -0.3, 0.7]), np.array([0.2, 0.9, -0.4]), 1e-5
    slope = (turn(psi + e * d) - turn(psi - e * d)) / (2 * e) @ turn(psi).T
    np.testing.assert_allclose(slope, as_printed.skew(tangent(psi) @ d), rtol=0, atol=1e-9)


def test_the_problem_is_the_same_in_both_languages():
    system, y = trial_problem(*ALL, moves=True)
    np.testing.assert_allclose(matrix_of(y), law.R0, rtol=0, atol=1e-15)
    h = 1e-3  # one explicit step is the loads themselves
    end = stepper("forward_euler", system, y)(y, T0, h)
    rate = as_printed.rate(law.I, law.PI0) + law.torque(*ALL)(T0, law.R0, law.PI0 / law.I)
    np.testing.assert_allclose((end[L.ANGULAR : L.BODY] - law.PI0) / h, rate, rtol=0, atol=1e-12)
    pushed = (end[L.MOMENTUM : L.ATTITUDE] - law.P0) / h
    np.testing.assert_allclose(pushed, law.force(*ALL)(T0, law.U0, law.P0 / law.MASS), rtol=0, atol=1e-12)


# ------------------------------------------------------------------ adjoints
ADJOINTS = [("forward_euler", "backward_euler"), ("forward_euler_m", "backward_euler_m"), ("liemid_e1", "liemid_e2")]


@each("terms", LAWS, ids=lambda terms: "+".join(terms) or "free")
@each("pair", ADJOINTS, ids=lambda pair: pair[0])
def test_adjoint_pairs(pair, terms):
    system, y = trial_problem(*terms)
    for one, other in (pair, pair[::-1]):
        back = stepper(other, system, y)(stepper(one, system, y)(y, T0, H), T0 + H, -H)
        assert state_distance(back, y, system) < 2e-14


def test_adjointness_notices_another_method():
    system, y = trial_problem(*ALL)
    back = stepper("backward_euler_m", system, y)(stepper("forward_euler", system, y)(y, T0, H), T0 + H, -H)
    assert state_distance(back, y, system) > 1e-3


# ------------------------------------------------------------------ compositions and conjugacies
COMPOSED = {
    "trap": (as_printed.forward_euler, as_printed.backward_euler),
    "imid": (as_printed.backward_euler, as_printed.forward_euler),
    "trapm": (as_printed.forward_euler_m, as_printed.backward_euler_m),
    "imidm": (as_printed.backward_euler_m, as_printed.forward_euler_m),
}


@each("name", COMPOSED)
def test_compositions(name):
    first, second = COMPOSED[name]
    T = law.torque(*ALL)
    half = first(T0, H / 2, law.R0, law.PI0, law.I, T)
    assert_same(second(T0 + H / 2, H / 2, *half, law.I, T), printed_step(PRINTED[name]))
    assert_same(second(T0 + H / 2, H / 2, *half, law.I, T), polhode_step(name))


@each("euler, trapezoid, midpoint", [("forward_euler", "trap", "imid"), ("forward_euler_m", "trapm", "imidm")])
@each("moves", [False, True])
def test_conjugacy(euler, trapezoid, midpoint, moves):
    """IMID o FE(h/2) = FE(h/2) o TRAP."""
    system, y = trial_problem(*ALL, moves=moves)
    push, trap, middle = (stepper(name, system, y) for name in (euler, trapezoid, midpoint))
    one = middle(push(y, T0, H / 2), T0 + H / 2, H)
    other = push(trap(y, T0, H), T0 + H, H / 2)
    assert state_distance(one, other, system) < 2e-14
    assert state_distance(middle(y, T0, H), trap(y, T0, H), system) > 1e-4


def test_trap_keeps_the_energy_of_the_pushed_state():
    """Section 3.5: pushed half a step by forward Euler, the states of TRAP are those of IMID."""
    system, y = trial_problem()
    push, trap, middle = (stepper(name, system, y) for name in ("forward_euler", "trap", "imid"))
    z = push(y, 0.0, H / 2)
    for _ in range(20):
        y, z = trap(y, 0.0, H), middle(z, 0.0, H)
    assert state_distance(push(y, 0.0, H / 2), z, system) < 1e-13


def energy_error(label, h, t_end):
    system, y = trial_problem()
    step = stepper(label, system, y)
    start = 0.5 * y[L.ANGULAR : L.BODY] @ (y[L.ANGULAR : L.BODY] / law.I)
    worst = 0.0
    for k in range(round(t_end / h)):
        y = step(y, k * h, h)
        worst = max(worst, abs(0.5 * y[L.ANGULAR : L.BODY] @ (y[L.ANGULAR : L.BODY] / law.I) / start - 1))
    return worst


@each("label", ["imidm", "trapm"])
def test_energy_error_of_the_momentum_pair(label):
    """Section 3.7: the energy error is bounded for long times, and in proportion to h^2."""
    short, long = energy_error(label, 0.2, 60.0), energy_error(label, 0.2, 600.0)
    assert long < 1.05 * short
    assert energy_error(label, 0.1, 60.0) == pytest.approx(short / 4, rel=0.05)


# ------------------------------------------------------------------ vector spaces
SPACE = {
    "forward_euler": as_printed.vector_forward_euler,
    "backward_euler": as_printed.vector_backward_euler,
    "trap": as_printed.vector_trapezoid,
    "imid": as_printed.vector_midpoint,
}
# Without rotation the forms, and the rivals, are the same rules.
SPACE |= {f"{name}_m": SPACE[name] for name in ("forward_euler", "backward_euler")}
SPACE |= {"trapm": SPACE["trap"], "imidm": SPACE["imid"], "swc1": SPACE["imid"], "akw": SPACE["trap"]}
SPACE |= {"bbtrap": SPACE["trap"], "bbtrapwd": SPACE["trap"], "mkrk:midpoint": SPACE["imid"]}


@each("label", SPACE)
def test_one_step_of_a_particle(label):
    system, y = trial_problem(*ALL, turns=False, moves=True)
    end = stepper(label, system, y)(y, T0, H)
    u, p = SPACE[label](T0, H, law.U0, law.P0, law.MASS, law.force(*ALL))
    np.testing.assert_allclose(end[L.POSITION : L.MOMENTUM], u, rtol=0, atol=1e-13)
    np.testing.assert_allclose(end[L.MOMENTUM : L.ATTITUDE], p, rtol=0, atol=1e-13)


@each("rule, order", [("trap", ("forward_euler", "backward_euler")), ("imid", ("backward_euler", "forward_euler"))])
def test_compositions_on_a_vector_space(rule, order):
    """(4) = (3) o (2) and (5) = (2) o (3)."""
    f, M = law.force(*ALL), law.MASS
    half = SPACE[order[0]](T0, H / 2, law.U0, law.P0, M, f)
    for a, b in zip(
        SPACE[order[1]](T0 + H / 2, H / 2, *half, M, f), SPACE[rule](T0, H, law.U0, law.P0, M, f), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-13)


# ------------------------------------------------------------------ identities
SAME = [
    ("forward_euler_m", "mkrk:forward_euler"),
    ("backward_euler_m", "mkrk:backward_euler"),
    ("imidm", "mkrk:midpoint"),
    ("imidm", "mkrk:gauss2"),
    ("bbtrapwd", "mkrk:trapezoid"),
    ("bbtrapwd", "mkrk:lobatto_iiia2"),
]


@each("one, other", SAME)
def test_identities(one, other):
    system, y = trial_problem(*ALL, "place", moves=True)
    a, b = stepper(one, system, y)(y, T0, H, 5), stepper(other, system, y)(y, T0, H, 5)
    assert state_distance(a, b, system) < 5e-14


@each("other", ["imidm", "bbtrap", "bbtrapwd", "swc1", "mkrk:midpoint", "mkrk:trapezoid", "mkrk:heun"])
def test_trapm_is_none_of_them(other):
    for terms in ((), ALL):
        (R, Pi), (S, Qi) = polhode_step("trapm", terms), polhode_step(other, terms)
        assert max(np.abs(R - S).max(), np.abs(Pi - Qi).max()) > 1e-5


def test_free_identities():
    """Without torque SWC1 is BBTRAP; the momenta of AKW are those of IMID, its attitudes are not."""
    assert_same(polhode_step("swc1", ()), polhode_step("bbtrap", ()), 2e-15)
    imid, akw = polhode_step("imid", ()), polhode_step("akw", ())
    np.testing.assert_allclose(imid[1], akw[1], rtol=0, atol=2e-15)
    assert np.abs(imid[0] - akw[0]).max() > 1e-4
    with_torque = polhode_step("swc1"), polhode_step("bbtrap")
    assert np.abs(with_torque[0][1] - with_torque[1][1]).max() > 1e-4


def test_the_attitude_stays_a_unit_quaternion():
    system, y = trial_problem("potential")
    end = stepper("trapm", system, y)(y, 0.0, 0.05, 20000)
    assert abs(np.linalg.norm(end[L.ATTITUDE : L.ANGULAR]) - 1) < 2e-12
