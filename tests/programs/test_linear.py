"""Linear algebra of small matrices in functions that are traced: the numbers of numpy, and derivatives that hold."""

from __future__ import annotations

import re
import warnings

import mpmath as mp
import numpy as np
import pytest

import polhode as ph
from cover import some
from each import each
from oracles.mp_program import FUNCTIONS as PRECISE
from polhode.kernel import jit
from polhode.programs import derive
from polhode.programs.trace import NotTraceable, trace
from polhode.programs.written import module_of
from program_text import function as text_of

RNG = np.random.default_rng(7)


def compiled(function, n, m=0):
    """The function by its program as it is written for kernels, common factors taken out."""
    arguments = {"x": n, "b": m} if m else {"x": n}
    program = trace(function, arguments)
    written = module_of(text_of(program.graph, list(program.outputs), "written", arguments)).written
    plain = getattr(written, "py_func", written)
    return lambda *given: np.array(plain(*(tuple(map(float, one)) for one in given)))


def error(found, wanted):
    return np.abs(np.ravel(found) - np.ravel(wanted)).max() / np.abs(wanted).max()


def matrices(n, count):
    """Random ones, of which some need another pivot than the first."""
    for k in range(count):
        A = RNG.normal(size=(n, n))
        A[0, 0] *= (1.0, 1e-14, 0.0)[k % 3]
        yield A, np.linalg.cond(A)


@each("n", [1, 2, 3, 5])
def test_solutions_inverses_and_determinants(n):
    solve = compiled(lambda x, b: np.linalg.solve(x.reshape(n, n), b), n * n, n)
    several = compiled(lambda x, b: np.linalg.solve(x.reshape(n, n), b.reshape(n, 2)), n * n, 2 * n)
    inverse = compiled(lambda x: np.linalg.inv(x.reshape(n, n)), n * n)
    determinant = compiled(lambda x: np.linalg.det(x.reshape(n, n)), n * n)
    for A, condition in matrices(n, 3 if n == 1 else 30):
        if n == 1:
            A, condition = A + 1.5, 1.0
        b, B = RNG.normal(size=n), RNG.normal(size=(n, 2))
        allowed = 4e-16 * n * condition
        assert error(solve(A.ravel(), b), np.linalg.solve(A, b)) < allowed
        assert error(several(A.ravel(), B.ravel()), np.linalg.solve(A, B)) < allowed
        assert error(inverse(A.ravel()), np.linalg.inv(A)) < allowed
        assert error(determinant(A.ravel()), np.linalg.det(A)) < allowed


@each(("m", "n"), [(4, 2), (3, 3), (2, 5), (1, 3), (6, 1)])
def test_least_squares(m, n):
    def squares(x, b):
        found, residuals, rank, _ = np.linalg.lstsq(x.reshape(m, n), b, rcond=None)
        return np.concatenate([found, residuals, [rank]])

    found = compiled(squares, m * n, m)
    several = compiled(lambda x, b: np.linalg.lstsq(x.reshape(m, n), b.reshape(m, 2))[0], m * n, 2 * m)
    inverse = compiled(lambda x: np.linalg.pinv(x.reshape(m, n)), m * n)
    for _ in range(20):
        A, b, B = RNG.normal(size=(m, n)), RNG.normal(size=m), RNG.normal(size=(m, 2))
        x, residuals, rank, values = np.linalg.lstsq(A, b, rcond=None)
        allowed = 1e-15 * m * n * (values[0] / values[-1]) ** 2
        assert error(found(A.ravel(), b), np.concatenate([x, residuals, [rank]])) < allowed
        assert error(several(A.ravel(), B.ravel()), np.linalg.lstsq(A, B, rcond=None)[0]) < allowed
        assert error(inverse(A.ravel()), np.linalg.pinv(A)) < allowed


def test_what_has_no_solution_is_no_number():
    solve = trace(lambda x: np.linalg.solve(x.reshape(2, 2), [1.0, 2.0]), {"x": 4})
    assert not np.isfinite(solve(x=[1.0, 2.0, 2.0, 4.0])).all()
    squares = trace(lambda x: np.linalg.lstsq(x.reshape(3, 2), [1.0, 2.0, 3.0], rcond=None)[0], {"x": 6})
    assert np.isnan(squares(x=[1.0, 0.1, 2.0, 0.2, 3.0, 0.3])).all()


def test_zeros_cost_nothing():
    def banded(x):
        M = np.diag(x[:4]) + np.diag(x[4:], 1)
        return np.linalg.solve(M, x[:4])

    rows = trace(banded, {"x": 7})
    assert not any(row[:2] in (("fun", "choose"), ("fun", "outweighs")) for row in rows.graph.rows)


NORMS = {
    "of vectors": lambda x: np.array([np.linalg.norm(x, p) for p in (None, 1, 2, 3, -1, np.inf, -np.inf)]),
    "of matrices": lambda x: np.array([np.linalg.norm(x.reshape(2, 3), p) for p in (None, "fro", 1, -1, np.inf)]),
    "of rows": lambda x: np.linalg.norm(x.reshape(2, 3), 3, axis=1),
}
PRODUCTS = {
    "outer": lambda x: np.outer(x[:2], x[2:]) @ np.array([1.0, -1.0, 2.0, 0.5]),
    "einsum": lambda x: np.einsum("ij,jk,k->i", x.reshape(2, 3), x.reshape(3, 2), x[:2]),
    "einsum, implicit": lambda x: (
        np.einsum("ij,ij->", x.reshape(2, 3), np.ones((2, 3))) + np.einsum("ii", np.outer(x, x))
    ),
    "einsum, optimised": lambda x: np.einsum("ij,jk", x.reshape(2, 3), x.reshape(3, 2), optimize=True),
    "@": lambda x: x.reshape(2, 3) @ x.reshape(3, 2) @ x[:2] + x[:2] @ x.reshape(2, 3).T[:2],
}


@each("name", [*NORMS, *PRODUCTS])
def test_norms_and_products(name):
    function = (NORMS | PRODUCTS)[name]
    found = compiled(function, 6)
    for _ in range(5):
        x = RNG.normal(size=6)
        assert error(found(x), function(x)) < 2e-15


@each(
    "function",
    [
        lambda x: np.linalg.solve(x[:6].reshape(2, 3), x[:2]),
        lambda x: np.linalg.inv(x[:8].reshape(2, 2, 2)),
        lambda x: np.linalg.det(np.ones((13, 13)) * x[0]),
        lambda x: np.linalg.lstsq(x[:6].reshape(3, 2), x[:3])[3][-1],
        lambda x: np.linalg.norm(x[:4].reshape(2, 2), 2),
    ],
)
def test_what_has_no_rule_says_so(function):
    with pytest.raises(NotTraceable, match=r"it uses (the singular values of )?np\.linalg.*\(test_linear\.py:\d+\)"):
        trace(function, {"x": 8})


# ------------------------------------------------------------------ derivatives
def test_derivatives_are_those_of_the_exact_solution():
    """d(A^-1 b) = A^-1 (db - dA A^-1 b), of matrices that change rows; against 40 digits."""
    n = 3
    program = trace(lambda x, b: np.linalg.solve(x.reshape(n, n), b), {"x": n * n, "b": n})
    g = program.graph
    along = {g.input(f"x{k}"): g.input(f"u{k}") for k in range(n * n)} | {
        g.input(f"b{k}"): g.input(f"w{k}") for k in range(n)
    }
    rows = derive.forward(g, program.outputs, along)
    for A, condition in matrices(n, 12):
        b, U, w = RNG.normal(size=n), RNG.normal(size=(n, n)), RNG.normal(size=n)
        given = {
            f"{name}{k}": v for name, a in (("x", A), ("b", b), ("u", U), ("w", w)) for k, v in enumerate(a.ravel())
        }
        with mp.workdps(40):
            exact = mp.matrix(A.tolist()) ** -1
            wanted = exact * (mp.matrix(w.tolist()) - mp.matrix(U.tolist()) * (exact * mp.matrix(b.tolist())))
        assert error(g.evaluate(rows, given), np.array(wanted, dtype=float)) < 4e-15 * condition**2
    assert PRECISE["outweighs"](-2, 1) == 1


M0 = np.array([[0.1, 1.0, 0.5], [5.0, 3.0, 0.2], [0.3, -1.0, 2.0]])
START = {"position": (0.5, -0.3, 0.8), "velocity": (0.1, 0.4, -0.2)}


def pulled(t, x, v, p):
    M = M0 + p[0] * np.outer(x, x) + 0.1 * np.diag(v)
    sides = np.array([[1.0, x[0]], [x[1], 2.0], [x[2], v[0]]])
    return -np.linalg.solve(M, x) - 0.1 * np.linalg.lstsq(sides, v)[0].sum() * x


def stiffness(t, x, p):
    y, M = x[:2], (M0 @ M0.T)[:2, :2] + p[0] * np.outer(x[1:], x[1:])
    return 0.5 * y @ np.linalg.solve(M, y) + 0.5 * x @ x + 0.1 * np.log(np.linalg.det(M))


@pytest.mark.full
def test_transition_matrices_of_loads_that_solve():
    system = ph.particle(force=pulled, parameters=[0.3])
    given = {"step": 0.1, "t_end": 1.0}
    first = np.array([*START["position"], *START["velocity"]])
    found = ph.integrate(system, "mkrk:rk4", tangent=True, **given, **START).polhode.transition().values[-1]

    def end(z):
        ds = ph.integrate(system, "mkrk:rk4", **given, position=z[:3], velocity=z[3:])
        return np.concatenate([ds.position.values[-1], ds.velocity.values[-1]])

    h = 1e-3
    differences = [
        (8.0 * (end(first + h * e) - end(first - h * e)) - (end(first + 2.0 * h * e) - end(first - 2.0 * h * e)))
        / (12.0 * h)
        for e in np.eye(6)
    ]
    assert found == pytest.approx(np.transpose(differences), abs=1e-9)


@each(("method", "given"), some([("fg6_5", {"step": 0.05}), ("taylor", {"steps": ph.Tolerance(1e-13)})], 1))
def test_potentials_that_solve_have_loads_commutators_and_taylor_series(method, given):
    """The series of what is solved are compared with many digits in ``test_program_series``."""
    system = ph.particle(potential=stiffness, parameters=[0.3])
    ph.checks.check_system(system, position=START["position"]).raise_for_failure()
    ds = ph.integrate(system, method, t_end=5.0, **given, **START)
    assert abs(ds.energy_error).max() < 1e-9


# ------------------------------------------------------------------ a mass matrix
TANK, MASS, LIQUID, ANCHOR = np.diag([60.0, 80.0, 90.0]), 100.0, 30.0, np.array([0.0, 0.1, 0.8])


def skew(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def slosh(t, position, velocity, q, omega, parameters, states):
    """What the liquid does to its tank, by the accelerations of the tank, its rotation and the liquid: 9 x 9."""
    stiffness, damping = parameters
    arm, one = ANCHOR + states.e, np.eye(3)
    S = LIQUID * skew(arm)
    M = np.block(
        [[(MASS + LIQUID) * one, -S, LIQUID * one], [S, TANK - S @ skew(arm), S], [LIQUID * one, -S, LIQUID * one]]
    )
    rate = LIQUID * (np.cross(omega, np.cross(omega, arm)) + 2.0 * np.cross(omega, states.ed))
    spin, pull = np.cross(omega, TANK @ omega), -stiffness * states.e - damping * states.ed
    found = np.linalg.solve(M, np.concatenate([-rate, -spin - np.cross(arm, rate), pull - rate]))
    force = MASS * ph.rotation.rotate(q, found[:3])
    return force, TANK @ found[3:6] + spin, states.ed, found[6:]


@pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")
def test_the_mass_matrix_of_a_sloshing_tank_is_solved_in_its_load():
    """Traced, without a warning; total momentum and what the springs and the motion have, are kept without damping."""
    tank = ph.rigid_body(TANK, mass=MASS, load=slosh, parameters=[40.0, 0.0],
                         states={"e": [0.05, -0.025, -0.015], "ed": 3})  # fmt: skip
    assert tank.called.no_programs == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds = ph.integrate(tank, "mkrk:rk4", step=0.01, steps=200, angular_velocity=(0.2, -0.1, 0.3))
    R = ph.rotation.matrix_from_quaternion(ds.attitude.values)
    e, ed, w, v = (ds[name].values for name in ("e", "ed", "angular_velocity", "velocity"))
    moving = v + np.einsum("tij,tj->ti", R, np.cross(w, ANCHOR + e) + ed)
    momentum = MASS * v + LIQUID * moving
    assert momentum == pytest.approx(np.broadcast_to(momentum[0], momentum.shape), abs=1e-7)
    energy = 0.5 * (
        MASS * (v * v).sum(1) + ((w @ TANK) * w).sum(1) + LIQUID * (moving**2).sum(1) + 40.0 * (e * e).sum(1)
    )
    assert energy == pytest.approx(np.full(len(energy), energy[0]), rel=1e-8)
    assert not re.search("differences", str(ds.attrs))
