"""Numbers of a system's own (works of forces), parts of loads, kicks whose loads depend on velocities, burns."""

import dataclasses

import mpmath
import numpy as np
import pytest

import polhode as ph
from cover import chosen
from each import each
from polhode import forces, planets
from polhode.algebra.quaternion import rotate_inverse
from polhode.algebra.so3 import add, axpy, cross, dot, scale, times
from polhode.capabilities import stated
from polhode.checks import load_caller, slicing_defect, symmetry_defect
from polhode.errors import ConvergenceError, InvalidInput
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3
from polhode.methods import METHODS, method
from polhode.methods.splitting import KEEPERS
from polhode.runs.initial_state import start_state
from polhode.runs.integrator import Integrator
from polhode.systems.record import IDENTITY, AuxiliaryVariable, System
from polhode.trajectory.convergence import observed_order
from test_orbit import MU, R0, SAMPLES, R, V

DAY = 86400.0
SINKING = ph.orbit(MU, forces=[forces.drag(kd=2e-6, radius=R0, scale=50.0)])
ELLIPSE = {"position": (0.0, R0, 0.0), "velocity": (1.550663, 0.0, 0.0)}
WORKING = [name for name in SAMPLES if name not in ("zonal", "uniform", "at rest", "sunlight", "far sunlight")]
NEAR = {"position": R, "velocity": V}


# ------------------------------------------------------------------ a system of bodies that turn and move
def working_loads(part, t, N, y, bodies, parameters, out):
    """Friction and a driving load without potential on every body; their works are two numbers of the system's own.

    Parameters: strength of the friction, 1 where loads are divided, 1 where works are kept.
    """
    works, powers = L.LOAD * N, (0.0, 0.0)
    friction, driving = part & L.MOVING != 0, part & L.RESTING != 0
    if parameters[1] == 0.0:
        friction = driving = True
    for i in range(N):
        r, q = get3(y, L.BODY * i + L.POSITION), get4(y, L.BODY * i + L.ATTITUDE)
        v = scale(bodies[L.CONSTANTS * i + L.INVERSE_MASS], get3(y, L.BODY * i + L.MOMENTUM))
        w = times(get3(bodies, L.CONSTANTS * i + L.INVERSE_INERTIA), get3(y, L.BODY * i + L.ANGULAR))
        up = rotate_inverse(q, (0.0, 0.0, 1.0))
        F = scale(-parameters[0] * (0.5 + dot(v, v)), v)
        T = scale(-parameters[0], times((0.3, 0.5, 0.4 + r[0] * r[0]), w))
        f = axpy(0.5 * np.cos(t), (1.0, 0.0, 0.3), cross((0.3, -0.2, 0.5), r))
        m = axpy(0.2 * np.sin(2.0 * t), (0.4, 1.0, 0.0), scale(up[0], (0.0, 0.6, -0.3)))
        put3(out, L.LOAD * i, (0.0, 0.0, 0.0))
        put3(out, L.LOAD * i + 3, (0.0, 0.0, 0.0))
        if friction:
            powers = (powers[0] + dot(F, v) + dot(T, w), powers[1] + dot(f, v) + dot(m, w))
            put3(out, L.LOAD * i, F)
            put3(out, L.LOAD * i + 3, T)
        if driving:
            put3(out, L.LOAD * i, add(get3(out, L.LOAD * i), f))
            put3(out, L.LOAD * i + 3, add(get3(out, L.LOAD * i + 3), m))
    if parameters[2] == 1.0:
        out[works], out[works + 1] = powers


def working(friction=0.4, divided=True, own=True):
    return System(
        name="working", arguments={}, mass=np.array((1.3, 0.8)), moments=np.array(((1.0, 1.6, 2.3), (0.9, 0.7, 1.1))),
        frames=np.array([IDENTITY, (0.5, 0.5, 0.5, 0.5)]), loads=working_loads,
        provides=stated(velocity_independent=friction == 0.0, split_loads=divided),
        parameters=np.array((friction, float(divided), float(own))),
        auxiliary=(AuxiliaryVariable("work", "friction"), AuxiliaryVariable("work", "drive")) if own else (),
    )  # fmt: skip


PAIR = {
    "attitude": ph.rotation.exp_quaternion(((0.4, -0.7, 0.3), (-0.2, 0.5, 0.9))),
    "angular_momentum": ((0.8, -0.5, 1.1), (0.3, 0.6, -0.4)),
    "position": ((0.6, -0.4, 0.9), (-0.5, 0.7, 0.2)),
    "momentum": ((0.3, 0.5, -0.2), (-0.1, 0.2, 0.4)),
}
FAMILIES = {
    "v2": 2, "s4_6": 4, "s6_10": 6, "rkn6_14a": 4, "p6": 6, "pmlf4": 2, "s4_6/dmv4": 4, "mkrk:rk4": 4, "mkrk:gauss4": 4,
    "mkrk:radau_iia3:cayley": 3, "euler:rk4": 4, "rotation_vector:gauss4": 4, "rotation_vector:semi_implicit_euler": 1,
    "lie_rk:heun": 2, "euler_switching:rk4": 4, "quaternion_rk:gauss4": 4, "forward_euler": 1, "backward_euler": 1,
    "trapm": 2, "imid": 2, "swc1": 2, "bbtrap": 2, "liemid_ea": 2,
}  # fmt: skip


@pytest.fixture(scope="module")
def ends():
    """Works by a method of order 8 whose sum is the change of the kinetic energy."""
    found = {}
    for friction in (0.0, 0.4):
        ds = ph.integrate(working(friction), "mkrk:cv8", step=0.005, t_end=1.0, every=200, **PAIR)
        change = ds.kinetic_energy[-1] - ds.kinetic_energy[0]
        assert float(ds.work[-1].sum()) == pytest.approx(float(change), abs=1e-13) and abs(float(change)) > 0.05
        found[friction] = ds.work.values[-1]
    assert found[0.4][0] < -0.3 and found[0.0][0] == 0.0
    return found


LONG = {"mkrk:radau_iia3:cayley", "rotation_vector:gauss4", "rotation_vector:semi_implicit_euler",
        "quaternion_rk:gauss4", "backward_euler"}  # fmt: skip
"""Whose stages are those of others in other coordinates."""


@each("name, order", chosen(FAMILIES.items(), [one for one in FAMILIES.items() if one[0] not in LONG]))
def test_every_family_advances_works_with_its_order(name, order, ends):
    errors, n = [], {1: 400, 2: 100}.get(order, 40)
    for steps in (n, 2 * n):
        ds = ph.integrate(working(), name, step=1.0 / steps, steps=steps, every=steps, **PAIR)
        errors.append(np.abs(ds.work.values[-1] - ends[0.4]).max())
    assert errors[1] < (3e-3 if order == 1 else 1e-3)
    assert np.log2(errors[0] / errors[1]) > order - 0.35 or errors[1] < 1e-12


@each("name", ["mkrk:dp5", "mkrk:gauss4", "euler:rk4", "trapm", "liemid_ea"])
def test_works_change_nothing_of_the_motion(name):
    """The same numbers with and without them; that they are there shows in the size of the state."""
    ys = []
    for own in (True, False):
        system = working(own=own)
        integrator = Integrator(system, method(name), start_state(system, **PAIR))
        assert integrator.march(0, 20, 21, 0.0, 0.05) == 0
        ys.append(integrator.y)
    assert len(ys[0]) == len(ys[1]) + 2
    np.testing.assert_array_equal(np.delete(ys[0], (26, 27)), ys[1])
    assert np.abs(ys[0][26:28]).min() > 1e-3


@each("name", ["s6_10", "p6", "mkrk:gauss4", "euler:rk4", "euler_switching:rk4", "trapm"])
def test_works_do_not_depend_on_slices(name):
    assert slicing_defect(name, working(), start_state(working(), **PAIR)) == 0.0


def test_works_by_dense_output_and_chosen_steps(ends):
    times = np.linspace(0.0, 1.0, 12)
    for name in ("mkrk:dp8", "mkrk:dp5", "rotation_vector:dp8"):
        ds = ph.integrate(working(), name, steps=ph.Tolerance(1e-10), t_end=1.0, t_eval=times, **PAIR)
        np.testing.assert_allclose(ds.work.values[-1], ends[0.4], rtol=0, atol=1e-9)
        assert float(abs(ds.energy_error).max()) < 3e-9
        np.testing.assert_allclose(ds.work.sum("force"), ds.kinetic_energy - ds.kinetic_energy[0], rtol=0, atol=3e-9)


@each("friction", [0.0, 0.4])
@each("name", ["s6_10", "pmlf4", "s4_6/mr4"])
def test_divided_loads_make_the_same_kicks(name, friction):
    """What is asked for in parts adds up to what is asked for at once; the part at rest is evaluated once in a kick."""
    found = []
    for divided in (True, False):
        system = working(friction, divided)
        integrator = Integrator(system, method(name), start_state(system, **PAIR))
        assert integrator.prepare(0.0, 0.05) == 0 and integrator.march(0, 20, 21, 0.0, 0.05) == 0
        found.append((integrator.y, integrator.evaluations, integrator.repeated))
    (ours, once, again), (whole, total, none) = found
    if friction == 0.0 or name != "pmlf4":  # whose differences are those of the part at rest alone
        np.testing.assert_allclose(ours, whole, rtol=0, atol=3e-14 if name != "pmlf4" else 1e-11)
    # Of 20 steps; those of a splitting without commutators are one for each kick, whatever the friction.
    assert none == 0 and again > 0 and once == {"s6_10": 20 * 10, "s4_6/mr4": 20 * 6, "pmlf4": 103}[name]
    if (name, friction) != ("pmlf4", 0.0):  # where most evaluations are those of the commutator, divided or not
        assert once <= 0.5 * total
    assert once <= 0.82 * total


def test_where_loads_do_not_depend_on_velocities_one_node_is_exact(ends):
    """The change of the energy in a kick is then its work, to round-off, whatever the size of the step."""
    ds = ph.integrate(working(0.0), "v2", step=0.1, t_end=1.0, **PAIR)
    off = ds.work.sum("force") - (ds.kinetic_energy - ds.kinetic_energy[0])
    assert float(abs(off).max()) < 1e-15 and not ds.work[:, 0].any()
    assert 1e-4 < np.abs(ds.work.values[-1] - ends[0.0])[1] < 1e-2
    assert float(abs(ds.energy_error).max()) < 1e-14 and ds.work.attrs["units"] == "mass length2 / time2"


# ------------------------------------------------------------------ kicks
SINKING_ORDERS = {
    "s4_6": (4, (80, 40)), "s6_10": (6, (120, 80)), "kl8": (8, (200, 150)), "rkn6_14a": (4, (80, 40)),
    "s6_10/kepler": (6, (240, 160)),
}  # fmt: skip


@each("name", SINKING_ORDERS)
def test_orders_on_a_sinking_orbit(name):
    order, steps = SINKING_ORDERS[name]
    steps = [DAY / round(DAY / h) for h in steps]
    end = ph.integrate(SINKING, "mkrk:gauss16", step=40.0, t_end=DAY, every=2160, **ELLIPSE)
    assert float(end.work[-1, 0]) < -0.06 and float(abs(end.energy_error[-1])) < 1e-13
    runs = [ph.integrate(SINKING, name, step=h, steps=round(DAY / h), every=10**6, **ELLIPSE) for h in steps]
    errors = np.array([np.linalg.norm(run.position[-1] - end.position[-1]) for run in runs])
    assert observed_order(np.array(steps), errors) == pytest.approx(order, abs=0.2 if order < 8 else 0.6)
    assert errors[-1] < 0.01
    assert abs(float(runs[-1].work[-1, 0] - end.work[-1, 0])) < 1e-6


def test_a_kick_with_drag_is_time_symmetric():
    y = start_state(SINKING, **ELLIPSE)
    strong = ph.orbit(MU, forces=[forces.drag(kd=2e-3, radius=R0, scale=50.0)])
    for name in ("s6_10", "v2", "s4_6/kepler"):
        assert symmetry_defect(name, strong, y, t=0.0, h=40.0) < 1e-12
    assert symmetry_defect("mkrk:rk4", strong, y, t=0.0, h=40.0) > 1e-9


def test_drag_that_stops_the_body_in_a_kick_is_refused_or_right():
    """Nearly a whole speed is lost in each kick: solved, or one sentence that says the step is too large."""
    for kd, solved in ((1e-3, True), (1.0, False)):
        thick = ph.orbit(1e-6, forces=[forces.drag(kd=kd, radius=1.0, scale=1e9)])
        start = {"position": (0.0, 1e3, 0.0), "velocity": (100.0, 0.0, 0.0)}
        if solved:
            ds = ph.integrate(thick, "s6_10", step=1.0, steps=40, **start)
            assert float(ds.velocity[-1, 0]) == pytest.approx(100.0 / (1 + 40 * kd * 100.0), rel=1e-5)
        else:
            with pytest.raises(ConvergenceError, match="smaller step"):
                ph.integrate(thick, "s6_10", step=1.0, steps=40, **start)


def test_rows_that_lose_their_order_say_so():
    ds = ph.integrate(SINKING, "rkn6_14a", step=60.0, steps=2, **ELLIPSE)
    assert (ds.attrs["order"], ds.attrs["order_note"]) == (4, "order 4 with velocity-dependent loads; s6_10 keeps 6")
    ds = ph.integrate(SINKING, "rkn8_17/kepler", step=60.0, steps=2, **ELLIPSE)
    assert ds.attrs["order_note"] == "order 4 with velocity-dependent loads; kl8/kepler keeps 8"
    assert "order_note" not in ph.integrate(SINKING, "s6_10", step=60.0, steps=2, **ELLIPSE).attrs
    assert "order_note" not in ph.integrate(ph.orbit(MU), "rkn6_14a", step=60.0, steps=2, **ELLIPSE).attrs
    pushed = ph.orbit(MU, forces=[forces.thrust(1e-6, "radial")])
    note = ph.integrate(pushed, "rkn6_14a", step=60.0, steps=2, **ELLIPSE).attrs
    assert note["order"] == 6 and note["order_note"] == "order 4 of the work, 6 of the motion; s6_10 keeps 6"
    lost = [name for name in METHODS if method(name).promises.order_velocity < method(name).promises.order]
    assert {"rkn6_14a", "rkn8_17", "pmlf6", "ma5", "sabac4"} < set(lost)
    for name in lost:
        kept = method(method(name).promises.kept_by).promises
        assert kept.order_velocity == kept.order >= method(name).promises.order
    assert all(method(name).promises.order_velocity == order for order, name in KEEPERS.items())


def test_methods_that_do_not_advance_works_refuse():
    system = working(0.0)
    row = method("trapm")
    bare = dataclasses.replace(row.prepare(), auxiliary_work=None)
    other = dataclasses.replace(row, method=dataclasses.replace(row.method, prepare=lambda: bare))
    with pytest.raises(InvalidInput, match=r"'trapm' does not advance numbers .* \(work\); take 'mkrk:cv8'"):
        Integrator(system, other, start_state(system, **PAIR))
    Integrator(working(0.0, own=False), other, start_state(system, **PAIR))


# ------------------------------------------------------------------ works on an orbit
SMOOTH = ("circle", "table", "drag", "even sunlight", "along", "outwards")


@each("names", [SMOOTH, *((name,) for name in WORKING if name not in SMOOTH),
                *(pytest.param((name,), marks=pytest.mark.full) for name in SMOOTH)], ids=str)  # fmt: skip
def test_works_are_the_change_of_the_energy(names):
    system = ph.orbit(2.0, 3.0, [forces.zonal(J2=0.01, radius=0.9), *(SAMPLES[name] for name in names)])
    assert [own.label.partition(" ")[0] for own in system.auxiliary] == [SAMPLES[name].kind for name in names]
    report = ph.checks.check_system(system, **NEAR)
    smooth = names != ("burn",)
    assert report["parts of the loads"].passed and (report["works"].passed or not smooth)
    jump = names[0] in ("cylinder", "air", "cone")
    ds = ph.integrate(system, "mkrk:gauss12", step=0.01, t_end=1.9, every=190, **NEAR)
    assert float(abs(ds.work[-1]).min()) > 1e-4
    assert float(abs(ds.energy_error[-1])) < (1e-6 if jump else 3e-14)
    assert ds.energy_error.attrs["long_name"] == "energy error, (H - H0 - work)/scale"


def test_forces_that_conserve_energy_have_no_work():
    steady = [SAMPLES[name] for name in ("zonal", "uniform", "at rest", "sunlight", "far sunlight")]
    system = ph.orbit(2.0, 3.0, steady)
    ds = ph.integrate(system, "rkn6_14a", step=0.01, steps=1, **NEAR)
    assert system.auxiliary == () and "work" not in ds and "force" not in ds.dims and "energy" in system.conserves
    assert ds.energy_error.attrs["long_name"] == "energy error, (H - H0)/scale"


def test_forces_of_one_kind_are_numbered():
    made = [SAMPLES["at rest"], SAMPLES["drag"], SAMPLES["circle"], SAMPLES["along"], SAMPLES["outwards"]]
    ds = ph.integrate(ph.orbit(2.0, 3.0, made), "s6_10", step=0.01, t_end=0.5, **NEAR)
    assert list(ds.force.values) == ["drag", "third_body 2", "thrust 1", "thrust 2"]
    alone = [ph.integrate(ph.orbit(2.0, 3.0, made), "mkrk:gauss8", step=0.01, t_end=0.5, **NEAR).work[-1]]
    np.testing.assert_allclose(ds.work[-1], alone[0], rtol=1e-8)
    assert (ds.work[-1].values < 0).tolist()[0] and abs(ds.work[-1]).min() > 1e-6


@each("moving", ["third body", "table", "sunlight", "even sunlight"])
@each("far", [1.0, 1e4])
def test_rates_of_potentials_that_change_in_time(moving, far):
    """Against mpmath, also where the other body is so far away that nearly all of the terms cancel."""
    s0, rate, t = np.array((5.0, 3.0, -4.0)) * far, 0.7, 0.3
    circle = {"radius": 8.0 * far, "period": 2 * np.pi / rate, "phase": 0.4}
    grid = np.linspace(-1.0, 2.0, 7)
    places = np.column_stack([s0[0] + far * grid**2, s0[1] - far * grid, s0[2] + 0 * grid])
    force = {
        "third body": lambda: forces.third_body(0.7, circle=circle),
        "table": lambda: forces.third_body(0.7, times=grid, positions=places),
        "sunlight": lambda: forces.radiation_pressure(0.3, circle=circle, distance=8.0 * far),
        "even sunlight": lambda: forces.radiation_pressure(0.3, circle=circle),
    }[moving]()
    system = ph.orbit(1.0, 2.5, [force])
    y, out = start_state(system, **NEAR), np.zeros(7)
    load_caller(L.ALL)(system.compiled_loads(t, y), t, 1, y, system.bodies, system.with_memory, out)

    def potential(t):
        r = mpmath.matrix(R.tolist())
        if moving == "table":
            s = mpmath.matrix([s0[0] + far * t**2, s0[1] - far * t, s0[2]])
        else:
            angle = mpmath.mpf(2 * np.pi / circle["period"]) * t + mpmath.mpf(circle["phase"])
            s = mpmath.mpf(circle["radius"]) * mpmath.matrix([mpmath.cos(angle), mpmath.sin(angle), 0])
        d, near, distance = s - r, mpmath.norm(s - r), mpmath.norm(s)
        del d
        if moving in ("third body", "table"):
            along = sum(a * b for a, b in zip(r, s, strict=True))
            return -mpmath.mpf(0.7) * (1 / near - 1 / distance - along / distance**3)
        if moving == "sunlight":
            return mpmath.mpf(0.3) * mpmath.mpf(8.0 * far) ** 2 * (1 / near - 1 / distance)
        return -mpmath.mpf(0.3) * (near - distance)

    with mpmath.workdps(60):
        exact = float(mpmath.diff(potential, mpmath.mpf(t)))
    assert out[6] == pytest.approx(2.5 * exact, rel=1e-9 if moving == "table" else 3e-13)


# ------------------------------------------------------------------ burns
def test_the_rocket_equation():
    """Two burns in empty space, the second partly in the time of the first; speeds add up to that of Tsiolkovsky."""
    burns = [
        forces.thrust(vector=(1, 0, 0), force=400.0, specific_impulse=300.0, start=10.0, stop=110.0),
        forces.thrust(vector=(1, 0, 0), force=-200.0, exhaust_velocity=2000.0, start=60.0, stop=200.0),
    ]
    g0, m0 = 9.80665, 100.0
    system = ph.orbit(1e-30, m0, burns)
    ds = ph.integrate(system, "mkrk:gauss12", step=0.5, t_end=250.0, every=20, position=(1.0, 0.0, 0.0), velocity=0)
    first, second = 400.0 / (300.0 * g0), 200.0 / 2000.0

    def mass(t):
        return m0 - first * (np.clip(t, 10, 110) - 10) - second * (np.clip(t, 60, 200) - 60)

    np.testing.assert_allclose(ds.mass, mass(ds.time.values), rtol=1e-15)
    one, two = 300.0 * g0 * np.log(mass(10) / mass(60)), 2000.0 * np.log(mass(110) / mass(200))
    between = (400.0 - 200.0) / (first + second) * np.log(mass(60) / mass(110))
    assert float(ds.velocity[-1, 0]) == pytest.approx(one + between - two, rel=1e-12)
    np.testing.assert_allclose(ds.momentum, m0 * ds.velocity, rtol=1e-15)
    assert float(ds.energy_change[-1]) == pytest.approx(float(ds.work[-1].sum()), abs=1e-9 * float(abs(ds.work).max()))
    assert list(ds.force.values) == ["thrust 1", "thrust 2"] and ds.mass.attrs["units"] == "mass"
    np.testing.assert_array_equal(ph.rerun(ds).velocity, ds.velocity)


def test_drag_and_sunlight_grow_as_the_mass_falls():
    burn = forces.thrust(vector=(0, 0, 1), force=1.0, exhaust_velocity=2.0, start=0.0, stop=3.0)
    surface = [SAMPLES["drag"], SAMPLES["sunlight"]]
    heavy, light = ph.orbit(1.0, 2.0, [burn, *surface]), ph.orbit(1.0, 2.0, surface)
    found = []
    for system in (heavy, light):
        y, out, parameters = start_state(system, **NEAR), np.zeros(6 + len(system.auxiliary)), system.with_memory
        system.set_switches(parameters, 4.0)
        for part in (L.ALL, 1):
            load_caller(part)(system.compiled_loads(4.0, y), 4.0, 1, y, system.bodies, parameters, out)
            found.append(out[:3].copy())
    np.testing.assert_allclose(found[0] - found[1], (found[2] - found[3]) * 2.0 / 0.5, rtol=1e-14)
    assert heavy.potential is not None and [own.label for own in heavy.auxiliary] == [
        "thrust",
        "drag",
        "radiation_pressure",
    ]
    ds = ph.integrate(heavy, "mkrk:gauss8", step=0.01, t_end=2.0, every=200, **NEAR)
    assert float(ds.mass[-1]) == 1.0 and float(abs(ds.energy_error[-1])) < 1e-13


ENGINE = {"direction": "radial", "force": 1.0, "start": 0.0, "stop": 2.0, "exhaust_velocity": 1.0}
WRONG = {
    "both": (lambda: forces.thrust(1.0, **ENGINE), "acceleration and force are both given"),
    "none": (forces.thrust, "acceleration and force are both missing"),
    "no impulse": (lambda: forces.thrust(**{**ENGINE, "exhaust_velocity": None}), "specific_impulse is missing"),
    "two": (lambda: forces.thrust(**ENGINE, specific_impulse=1.0), "exhaust_velocity are both given; keep one"),
    "alone": (lambda: forces.thrust(1.0, "radial", exhaust_velocity=1.0), "exhaust_velocity is given without force"),
    "no end": (lambda: forces.thrust(**{**ENGINE, "stop": None}), "stop is missing"),
    "dry": (lambda: ph.orbit(1.0, 2.0, [forces.thrust(**ENGINE)]), "would use up a mass of 2, but mass is 2"),
}


@each("build, sentence", WRONG.values(), ids=WRONG)
def test_burns_that_cannot_be(build, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        build()


def test_a_burn_about_the_earth():
    """A tangential burn of a real engine: energy balances, and the mass is what the flow leaves."""
    burn = forces.thrust(direction="velocity", force=450.0, specific_impulse=320.0, start=600.0, stop=1800.0)
    system = ph.orbit(planets.EARTH.mu, 1200.0, [forces.zonal(**planets.EARTH.zonal), burn])
    start = {"position": (7e6, 0.0, 0.0), "velocity": (0.0, 7.5e3, 500.0)}
    ds = ph.integrate(system, "mkrk:gauss8", step=10.0, t_end=3000.0, settings={"units": "SI"}, **start)
    assert float(ds.mass[-1]) == pytest.approx(1200.0 - 450.0 * 1200.0 / (320.0 * 9.80665), rel=1e-14)
    assert float(abs(ds.energy_error).max()) < 1e-13 and float(ds.work[-1, 0]) > 1e9
    assert (ds.mass.attrs["units"], ds.work.attrs["units"]) == ("kg", "J") and "before the burns" in ds.mass.attrs[
        "note"
    ]


# ------------------------------------------------------------------ orbits without bookkeeping
def test_an_orbit_without_works_moves_as_one_with_them():
    drag = ph.forces.drag(kd=1e-4, radius=1.0, scale=1e30)
    moon = ph.forces.third_body(0.01, circle={"radius": 20.0, "period": 300.0})
    start = {"position": (1.5, 0.3, 0.2), "velocity": (0.1, 1.0, 0.3), "t_end": 5.0}
    runs = []
    for work in (True, False):
        system = ph.orbit(2.0, forces=[drag, moon], work=work)
        ph.checks.check_system(system, position=start["position"], velocity=start["velocity"]).raise_for_failure()
        runs.append(ph.integrate(system, "mkrk:dp8", steps=ph.Tolerance(1e-10), **start))
    kept, bare = runs
    np.testing.assert_allclose(bare.position, kept.position, rtol=0.0, atol=1e-13)  # other sums, rounded otherwise
    assert "work" in kept and "work" not in bare and kept.system == bare.system
    assert "not recorded" in bare.energy_error.attrs["note"] and "note" not in kept.energy_error.attrs
    np.testing.assert_array_equal(ph.rerun(bare).position, bare.position)


def test_of_an_orbit_without_works_impulses_and_conserved_energies_stay():
    oblate = ph.orbit(2.0, forces=[ph.forces.zonal(J2=1e-3, radius=1.0)], work=False)
    assert "energy" in oblate.conserves and oblate.balanced
    pushed = ph.orbit(2.0, forces=[ph.forces.impulse(1.0, 0.1, "velocity")], work=False,
                      force=lambda t, r, v, p: -1e-3 * v)  # fmt: skip
    assert [own.label for own in pushed.auxiliary] == ["impulse"] and not pushed.balanced
    ds = ph.integrate(pushed, step=0.01, t_end=2.0, position=(1.5, 0.0, 0.0), velocity=(0.0, 1.1, 0.0))
    assert float(ds.work[-1, 0]) > 0.1


SPINNING = ph.reaction_wheels(np.eye(3), 2e-3, speed=(0.5, -0.7, 0.6), command=(1e-4, -2e-4, 1e-4), viscous=1e-4)
TURN = {"attitude": (1.0, 0.0, 0.0, 0.0), "angular_velocity": (0.3, -0.2, 0.4)}
WITHOUT_BOOKS = {
    "spacecraft": (
        lambda work: ph.spacecraft((3.0, 2.0, 2.5), 2.0, 1.0, wheels=SPINNING, work=work,
                                   loads=[ph.loads.thrust((0.0, 1e-3, 0.0))],
                                   forces=[ph.forces.drag(kd=1e-3, radius=1.0, scale=1e30),
                                           ph.forces.impulse(1.0, 0.1, "velocity")]),
        NEAR | TURN, ["impulse"]),
    "rigid body": (lambda work: ph.rigid_body((3.0, 2.0, 2.5), wheels=SPINNING, work=work), TURN, []),
}  # fmt: skip
"""Systems that need not book, their starts, and what is booked in any case: impulses."""


@each("name", WITHOUT_BOOKS)
@each("how", [("s6_10", {"step": 0.02}), ("taylor", {"steps": ph.Tolerance(1e-9)}), ("mkrk:gauss4", {"step": 0.02})])
def test_bodies_without_works_move_as_with_them(name, how):
    """To the bit, but for the order of sums in a Taylor series, which has the products of powers no more."""
    made, start, stays = WITHOUT_BOOKS[name]
    kept, bare = (ph.integrate(made(work), how[0], t_end=2.0, **how[1], **start) for work in (True, False))
    lost = set(kept.variables) - set(bare.variables)
    assert lost == (set() if stays else {"work", "force"}) and not set(bare.variables) - set(kept.variables)
    assert "wheels" in kept.force and (not stays or [*bare.force.values] == stays)
    for one in {"position", "velocity", "attitude", "angular_velocity", "wheel_momentum"} & {*kept}:
        np.testing.assert_allclose(bare[one], kept[one], 0.0, 1e-13 * (how[0] == "taylor"), err_msg=one)
    assert 10.0 * abs(kept.energy_error).max() < abs(bare.energy_error).max()
    assert "work=False" in bare.energy_error.attrs["note"] and "note" not in kept.energy_error.attrs
    assert kept.system == bare.system and ph.rerun(bare).equals(bare)


@each("distance", [None, 3.0])
def test_light_of_a_sun_that_moves_does_the_work_of_its_potential(distance):
    """A Sun so near, and whose distance changes so fast, that each term of the potential's rate is in the balance."""
    times = np.linspace(-0.5, 20.5, 211)
    towards = np.column_stack([np.cos(0.7 * times), np.sin(0.7 * times), 0.2 + 0.0 * times])
    way = (4.0 + np.sin(0.8 * times))[:, None] * towards
    sun = {"times": times, "positions": way} | ({} if distance is None else {"distance": distance})
    system = ph.orbit(1.0, forces=[forces.radiation_pressure(0.05, **sun)])
    ds = ph.integrate(system, "mkrk:cv8", step=0.02, t_end=20.0, position=(1.0, 0, 0.2), velocity=(0, 0.9, 0.3))
    assert np.abs(ds.work.values).max() > 1e-2 and np.abs(ds.energy_error.values).max() < 1e-9
