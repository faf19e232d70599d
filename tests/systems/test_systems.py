"""Systems: loads are the derivative of the potential, invariants are kept, bodies are described in any axes."""

from __future__ import annotations

import dataclasses
import functools

import numba
import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.algebra import rotation
from polhode.bodies.inertia.fixed_points import symmetry_axis
from polhode.kernel.signatures import LOADS, POTENTIAL
from polhode.methods import method
from polhode.runs.initial_state import start_state
from polhode.systems.user.function import one_call

METHOD = "mkrk:rk4"
TENSOR = np.array([[2.0, 0.1, 0.0], [0.1, 1.5, 0.2], [0.0, 0.2, 1.0]])
TURN = np.array((0.7, -0.1, 0.5, 0.5)) / np.linalg.norm((0.7, -0.1, 0.5, 0.5))


def attitudes(count=6):
    q = np.random.default_rng(2).normal(size=(count, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def load_at(system, y):
    """Force and torque, the torque in the principal frame."""
    out = np.zeros(6)
    one_call[LOADS](system.compiled_loads(0.0, y), 0.0, y, system.bodies, system.with_memory, out)
    return out[:3], out[3:]


def potential_at(system, y):
    out = np.zeros(1)
    one_call[POTENTIAL](system.compiled_potential(0.0, y), 0.0, y, system.bodies, system.with_memory, out)
    return out[0]


POTENTIALS = {
    "symmetric top": lambda: ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0),
    "asymmetric top": lambda: ph.heavy_top(TENSOR, (0.1, 0.2, 0.9), 3.0),
    "soft wall, printed": lambda: ph.systems.soft_wall(),
    "soft wall, physical": lambda: ph.systems.soft_wall(sign="physical"),
    "soft wall, tensor": lambda: ph.systems.soft_wall(TENSOR),
    "gravity gradient": lambda: ph.systems.gravity_gradient((1.0, 1.5, 2.2), 2.0, 1.7),
    "gravity gradient, tensor": lambda: ph.systems.gravity_gradient(TENSOR, 2.0, 1.7),
}


@each("name", POTENTIALS)
def test_torque_is_minus_the_derivative_of_the_potential(name):
    system = POTENTIALS[name]()
    h = 1e-5
    for q in attitudes():
        if "wall" in name and rotation.rotate(q, np.array((0, 0, 1.0)))[2] < -0.3:
            continue  # so near the wall differences say nothing
        y = start_state(system, attitude=q)
        _, torque = load_at(system, y)
        for k in range(3):
            turned = []
            for sign in (1, -1):
                state = y.copy()
                spin = rotation.exp_quaternion(sign * h * np.eye(3)[k])
                state[6:10] = rotation.multiply(y[6:10], spin)
                turned.append(potential_at(system, state))
            slope = (turned[0] - turned[1]) / (2 * h)
            assert -slope == pytest.approx(torque[k], abs=1e-8)


def test_force_is_minus_the_derivative_of_the_potential():
    system = ph.particle(mass=2.0, stiffness=(1, 2, 3), gravity=(0, 0.5, -9.81))
    y = start_state(system, position=(0.3, -0.2, 0.5))
    force, torque = load_at(system, y)
    np.testing.assert_allclose(force, [-0.3, 0.4 + 1.0, -1.5 - 2 * 9.81], rtol=1e-15)
    np.testing.assert_array_equal(torque, 0)
    for k in range(3):
        ends = [potential_at(system, y + sign * 1e-5 * np.eye(13)[k]) for sign in (1, -1)]
        assert (ends[1] - ends[0]) / 2e-5 == pytest.approx(force[k], abs=1e-8)


# ------------------------------------------------------------------ the printed problems
@each(("sign", "energy"), [("printed", 2.587300987776925), ("physical", 1.634921234445296)])  # errata, section 1.1.1
def test_soft_wall_starts_with_the_energy_of_the_errata(sign, energy):
    ds = ph.integrate(ph.systems.soft_wall(sign=sign), METHOD, step=0.01, steps=0, angular_momentum=(2, 2, 2))
    assert ds.energy.item() == pytest.approx(energy, rel=1e-15)


@each("name", ph.systems.PROBLEMS)
def test_ready_made_problems_run_and_keep_what_they_say(name):
    ready = ph.systems.problem(name)
    initial = dict(ready.initial)
    if "rotation_vector" in initial:
        initial["attitude"] = ph.rotation.exp_quaternion(initial.pop("rotation_vector"))
    system = ready.build()
    step = min(ready.step / 2, 0.0025)
    ds = ph.integrate(system, METHOD, step=step, steps=400, **initial)
    assert "energy" in system.conserves
    for quantity in system.conserves:
        values = ds[quantity].values
        assert np.abs(values - values[0]).max() <= 1e-6 * np.abs(values).max(), quantity


def test_unknown_names_are_answered_with_close_ones():
    with pytest.raises(ph.errors.InvalidInput, match="krysl_fast_top"):
        ph.systems.problem("krysl_fst_top")
    with pytest.raises(ph.errors.InvalidInput, match="physical"):
        ph.systems.soft_wall(sign="physicl")


# ------------------------------------------------------------------ what is conserved
def test_what_each_system_says_it_keeps():
    top = ("energy", "vertical_angular_momentum", "axial_angular_momentum")
    assert ph.free_body((1, 2, 2.5)).conserves == ("energy", "angular_momentum_space")
    assert ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0).conserves == top
    assert ph.heavy_top((5, 5, 1), (0, 0.1, 1), 20.0).conserves == top[:2]
    assert ph.heavy_top((5, 4, 3), (0, 0, 1), 20.0).conserves == top[:2]
    assert ph.heavy_top((5, 1, 5), (0, -2, 0), 20.0).conserves == top
    assert ph.systems.soft_wall().conserves == top[:2]
    assert ph.particle().conserves == ("energy", "angular_momentum_space", "momentum")
    assert ph.particle(stiffness=2.0).conserves == ("energy", "angular_momentum_space")
    assert ph.particle(stiffness=(1, 2, 3)).conserves == ("energy",)
    assert ph.particle(gravity=(0, 0, -1)).conserves == ("energy",)
    assert ph.rigid_body((1, 2, 2.5)).conserves == ("energy", "angular_momentum_space")
    assert ph.rigid_body((1, 2, 2.5), torque=lambda t, q, w, p: (0, 0, w[2])).conserves == ()


def test_a_symmetric_top_is_seen_in_any_axes():
    R = rotation.matrix_from_quaternion(attitudes(20))
    for turn in R:
        tensor = turn @ np.diag((5.0, 5.0, 1.0)) @ turn.T
        tensor = (tensor + tensor.T) / 2
        system = ph.heavy_top(tensor, turn @ (0, 0, 1.0), 20.0)
        assert "axial_angular_momentum" in system.conserves
        np.testing.assert_allclose(system.axis, turn[:, 2], rtol=0, atol=4e-15)
        assert symmetry_axis(tensor + 1e-9 * np.diag((1.0, -1.0, 0.5)), turn @ (0, 0, 1.0)) is None
    assert symmetry_axis((5, 5, 1), (0, 0, 0)) is None


def test_conserved_quantities_of_a_turned_symmetric_top():
    R = rotation.matrix_from_quaternion(TURN)
    tensor = R @ np.diag((5.0, 5.0, 1.0)) @ R.T
    ds = ph.integrate(ph.heavy_top((tensor + tensor.T) / 2, R @ (0, 0, 1.0), 20.0), METHOD, step=1e-3, steps=500,
                      angular_velocity=R @ (0.3, 0.0, 20.0), attitude=rotation.conjugate(TURN))  # fmt: skip
    assert ds.axial_angular_momentum[0] == pytest.approx(20.0, rel=1e-14)
    for name in ("energy", "vertical_angular_momentum", "axial_angular_momentum"):
        assert np.ptp(ds[name].values) < 1e-8 * np.abs(ds[name].values).max()


# ------------------------------------------------------------------ inertia
@each("order", [(0, 1, 2), (1, 2, 0), (2, 1, 0), (0, 2, 1)])
def test_moments_in_any_order(order):
    """Renumbering the axes (with a reversal where needed to stay right-handed) renumbers the motion."""
    P = np.eye(3)[list(order)]
    P *= np.linalg.det(P)
    moments, omega = np.array((1.0, 2.0, 2.5)), np.array((0.3, -0.2, 1.1))
    first = ph.integrate(ph.free_body(moments), METHOD, step=0.02, steps=50, angular_velocity=omega)
    second = ph.integrate(ph.free_body(moments[list(order)]), METHOD, step=0.02, steps=50, angular_velocity=P @ omega)
    np.testing.assert_allclose(second.angular_momentum, first.angular_momentum.values @ P.T, rtol=0, atol=1e-14)


def test_a_full_tensor_and_its_moments_move_alike():
    R = rotation.matrix_from_quaternion(TURN)
    omega = np.array((0.3, -0.2, 1.1))
    first = ph.integrate(ph.free_body((1.0, 2.0, 2.5)), METHOD, step=0.02, steps=50, angular_velocity=omega)
    tensor = R @ np.diag((1.0, 2.0, 2.5)) @ R.T
    second = ph.integrate(ph.free_body((tensor + tensor.T) / 2), METHOD, step=0.02, steps=50,
                          angular_velocity=R @ omega)  # fmt: skip
    np.testing.assert_allclose(second.angular_velocity, first.angular_velocity.values @ R.T, rtol=0, atol=1e-13)
    np.testing.assert_allclose(second.kinetic_energy, first.kinetic_energy, rtol=1e-13)


def test_a_rod_that_hardly_resists_turning_about_its_axis():
    ds = ph.integrate(ph.free_body((1.0, 1.0, 1e-8)), "akw", step=0.01, steps=100, angular_velocity=(0.5, 0.3, 2.0))
    assert np.abs(ds.energy_error).max() < 1e-8
    np.testing.assert_allclose(ds.angular_momentum_space, ds.angular_momentum_space[0].values[None].repeat(101, 0),
                               rtol=0, atol=1e-14)  # fmt: skip
    np.testing.assert_allclose(ds.angular_velocity[:, 2], 2.0, rtol=1e-8)


# ------------------------------------------------------------------ the record
def test_a_system_describes_itself():
    top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    assert repr(top) == "heavy_top(inertia=(5, 5, 1), center_of_mass=[0.0, 0.0, 1.0], weight=20.0)" or (
        "heavy_top(" in repr(top) and "weight=20.0" in repr(top)
    )
    assert (top.N, top.rotates, top.translates) == (1, True, False)
    assert (ph.particle().rotates, ph.particle().translates) == (False, True)
    body = ph.rigid_body((1, 2, 2.5), mass=3.0)
    assert (body.rotates, body.translates) == (True, True)
    np.testing.assert_array_equal(body.blocks, [0, 0, 0, 1])
    np.testing.assert_array_equal(top.blocks, [0, 1])
    np.testing.assert_array_equal(body.bodies[:8], [3, 1, 2, 2.5, 1 / 3, 1, 0.5, 0.4])
    np.testing.assert_array_equal(body.bodies[8:], np.ravel(body.frames))
    np.testing.assert_array_equal(top.bodies[[0, 4]], [np.inf, 0])
    with pytest.raises(dataclasses.FrozenInstanceError):
        top.name = "other"


def damping(body, rate):
    return {"torque": -rate * body.angular_velocity}


def slowed(t, q, omega, p):
    return -p[0] * omega


def test_functions_and_loads_of_a_printed_system_are_named_not_quoted():
    body = ph.rigid_body((1, 2, 2.5), torque=slowed, parameters=[0.1], loads=[ph.loads.of(damping, rate=0.5)])
    call, load = repr(body).splitlines()
    assert call == "rigid_body(inertia=[1.0, 2.0, 2.5], parameters=[0.1], torque=slowed)"
    assert load == "  damping: your function damping on every body: rate 0.5"
    assert "source" not in body._repr_html_() and "rate 0.5" in body._repr_html_()
    craft = ph.orbit(1.0, forces=[ph.forces.thrust(1e-4, "velocity", start=1.0)])
    assert "forces=[thrust(acceleration=0.0001, " in repr(craft)


def test_every_system_is_in_the_table():
    assert set(ph.systems.SYSTEMS) >= {
        "particle",
        "free_body",
        "rigid_body",
        "heavy_top",
        "gravity_gradient",
        "soft_wall",
        "orbit",
        "spacecraft",
        "gravitating_bodies",
        "dipoles",
        "rigid_water",
    }
    for name, build in ph.systems.SYSTEMS.items():
        assert getattr(ph.systems, name) is build


# ------------------------------------------------------------------ velocities
def reads(t, q, omega, parameters):
    return (q[1], -omega[1], 0.0)


def passes_on(t, q, omega, parameters):
    return reads(t, q, omega, parameters)


def renames(t, q, omega, parameters):
    both = q, omega
    return (both[1][0], 0.0, 0.0)


def encloses(t, q, omega, parameters):
    return tuple((lambda k: -omega[k])(k) for k in range(3))


def comprehends(t, q, omega, parameters):
    return [-omega[k] for k in range(3)]


def looks_around(t, q, omega, parameters):
    return locals()["omega"]


def takes_any(t, q, *rest):
    return rest[0]


def names_another_thing_so(t, q, rate, parameters):
    omega = q[1]
    return (omega, 0.0, 0.0)


def only_place(t, q, omega, parameters):
    return (q[1] * q[2], parameters[0], np.sin(t))


class Callable:
    def __call__(self, t, q, omega, parameters):
        return (0.0, 0.0, 0.0)


@each("torque", [reads, passes_on, renames, encloses, comprehends, looks_around, takes_any,
                                    Callable(), functools.partial(only_place)])  # fmt: skip
def test_torques_that_may_read_the_angular_velocity(torque):
    assert ph.rigid_body((1, 2, 2.5), torque=torque).velocity_dependent


@each("torque", [only_place, names_another_thing_so, numba.njit(only_place)])
def test_torques_that_cannot_read_it(torque):
    assert not ph.rigid_body((1, 2, 2.5), torque=torque).velocity_dependent


def test_forces_loads_and_potentials():
    assert ph.particle(force=lambda t, r, v, p: (-v[0], 0.0, 0.0)).velocity_dependent
    assert not ph.particle(force=lambda t, r, v, p: (-r[0], 0.0, 0.0)).velocity_dependent
    zero = (0.0, 0.0, 0.0)
    for load, depends in (
        (lambda t, r, v, q, w, p: (zero, w), True),
        (lambda t, r, v, q, w, p: (v, zero), True),
        (lambda t, r, v, q, w, p: (r, zero), False),
    ):
        assert ph.rigid_body((1, 2, 2.5), mass=1.0, load=load).velocity_dependent is depends
    assert not ph.rigid_body((1, 2, 2.5), potential=lambda t, q, p: q[1]).velocity_dependent
    assert not ph.particle(potential=lambda t, r, p: r[0]).velocity_dependent
    assert ph.rigid_body((1, 2, 2.5), torque=reads, potential=lambda t, q, p: q[1]).velocity_dependent
    assert not any(ready.build().velocity_dependent for ready in ph.systems.PROBLEMS.values())
    unknown = ph.systems.System("x", {}, np.ones(1), np.full((1, 3), np.inf), np.eye(4)[:1])
    assert unknown.velocity_dependent


def test_methods_recommended():
    """By kind of load, as measured by benchmarks/which_method.py."""
    free = ph.rigid_body((1, 2, 2.5))
    steered = ph.rigid_body((1, 2, 2.5), torque=lambda t, q, w, p: (q[1], 0.0, 0.0))
    damped = ph.rigid_body((1, 2, 2.5), torque=lambda t, q, w, p: (-w[0], 0.0, 0.0))
    found = [s.recommended for s in (free, ph.free_body((1, 2, 2.5)), steered, damped, ph.particle(stiffness=1.0))]
    assert found == ["exact", "exact", "rkn6_14a", "mkrk:cv8", "rkn6_14a"]
    for name in ph.systems.PROBLEMS:
        system = ph.systems.problem(name).build()
        assert method(system.recommended).promises.order >= 4 or system.name == "free_body"


def drag(part, t, N, y, bodies, parameters, out):
    """Friction."""
    for k in range(6):
        out[k] = 0.0
    out[3] = -1e-9 * y[10]


def test_a_system_that_denies_its_friction_is_found():
    top = ph.heavy_top((1.0, 1.5, 2.2), (0.1, 0.2, 0.9), 1.0)
    spoiled = dataclasses.replace(top, loads=drag, commutator=None, series=None, conserves=())
    assert [line.what for line in ph.checks.check_system(spoiled).failures] == ["loads and velocities"]
    assert ph.checks.check_system(
        dataclasses.replace(spoiled, provides=spoiled.provides - {"velocity_independent"})
    ).passed
