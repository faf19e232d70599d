"""``polhode.gradient``: against the product with the transition matrix, differences of runs, and what it refuses."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

import polhode as ph
from cover import chosen, some
from each import each
from polhode.errors import InvalidInput

pytestmark = pytest.mark.usefixtures("columns_by_twos")
Q = np.array([0.9, 0.1, 0.3, 0.2]) / np.sqrt(0.95)
START = {"attitude": Q, "angular_momentum": [0.3, 0.4, 2.0]}
MU, RADIUS = 398600.4418, 6378.137
ORBIT = {"position": [7000.0, 0.0, 0.0], "velocity": [0.3, 5.5, 5.6]}
ZONAL = [ph.forces.zonal(J2=1.08e-3, radius=RADIUS)]
TARGET = np.array([0.1, -0.2, 0.3])
METHOD = "mkrk:cv8"


def top():
    return ph.heavy_top([1.0, 1.7, 2.3], [0.1, 0.2, 1.0], 2.0)


def tensor():
    turn = ph.rotation.rotate(ph.rotation.exp_quaternion([0.3, 0.2, -0.5]), np.eye(3)).T
    found = turn @ np.diag([1.0, 1.7, 2.3]) @ turn.T
    return 0.5 * (found + found.T)


def coordinates(system):
    """Names of the state in the order of the transition matrix."""
    return [*["position", "momentum"] * system.translates, *["attitude", "angular_momentum"] * system.rotates]


CASES = {
    "free body": (lambda: ph.free_body([1.0, 1.7, 2.3]), "v2", {"step": 0.1, **START}, ["inertia"]),
    "tensor": (lambda: ph.free_body(tensor()), "trapm", {"step": 0.1, **START}, ["inertia"]),
    "top": (top, "rkn6_14a", {"step": 0.05, **START}, ["weight", "center_of_mass", "inertia"]),
    "processed": (top, "kl8", {"step": 0.05, **START}, ["weight"]),
    "lie group": (top, "mkrk:gauss4", {"step": 0.05, **START}, ["inertia"]),
    "chart": (top, "mkrk:rk4", {"step": 0.05, **START}, ["weight"]),
    "taylor": (top, "taylor14", {"step": 0.05, **START}, []),
    "conic": (lambda: ph.orbit(MU, forces=ZONAL), "aba10_6_4/kepler", {"step": 60.0, **ORBIT}, ["mu", "forces.0.J2"]),
    "orbit": (lambda: ph.orbit(MU, forces=ZONAL), METHOD, {"step": 60.0, **ORBIT}, ["mu", "forces.0.J2"]),
    "spacecraft": (lambda: ph.spacecraft([10.0, 14.0, 18.0], MU, 100.0, forces=ZONAL), METHOD,
                   {"step": 20.0, **ORBIT, "attitude": Q, "angular_velocity": [1e-3, 2e-3, 1e-3]}, ["inertia"]),
}  # fmt: skip


def weights(shape):
    """Numbers by which rows are weighed in an objective."""
    return np.cos(1.0 + np.arange(np.prod(shape))).reshape(shape)


EVERY, BETWEEN = {"every": 4}, {"t_eval": [0.0, 3.0, 4.5, 11.25]}
FEW = [("tensor", BETWEEN), ("chart", EVERY), ("orbit", EVERY), ("spacecraft", BETWEEN)]


@each(("name", "rows"), chosen(itertools.product(CASES, [EVERY, BETWEEN]), FEW))
def test_equals_product_with_transition_matrix(name, rows):
    build, method, given, parameters = CASES[name]
    system = build()
    given = given | {"steps": 12}
    if "t_eval" in rows:
        rows = {"t_eval": np.array(rows["t_eval"]) * given["step"]}
    ds = ph.integrate(system, method, tangent=parameters or True, **given, **rows)
    names = coordinates(system)

    def slopes(s):
        return {n: weights(np.shape(getattr(s, n))) / np.abs(getattr(s, n)).max() for n in names}

    def objective(s):
        return sum(float((w * getattr(s, n)).sum()) for n, w in slopes(s).items())

    found = ph.gradient(objective, system, method, wrt=[*names, *parameters], slopes=slopes, **given, **rows)
    for n in names:
        assert_allclose(getattr(found.states, n), ds[n].values, rtol=1e-12, atol=1e-13 * np.abs(ds[n].values).max())
    cotangent = []
    for n, w in slopes(found.states).items():
        if n == "attitude":
            w = 0.5 * ph.rotation.multiply(ph.rotation.conjugate(found.states.attitude), w)[:, 1:]
        cotangent.append(w)
    reference = np.einsum("nr,nrc->c", np.concatenate(cotangent, axis=1), ds.state_transition.values)
    got = found.flat() if name != "tensor" else np.append(
        np.concatenate([found[n] for n in names]), found["inertia"][np.triu_indices(3)]
    )  # fmt: skip
    terms = np.einsum("nr,nrc->c", np.abs(np.concatenate(cotangent, axis=1)), np.abs(ds.state_transition.values))
    assert np.all(np.abs(got - reference) <= 1e-12 * terms)


def test_rows_chosen_by_a_tolerance():
    system = ph.orbit(MU, forces=ZONAL)
    given = {"steps": ph.Tolerance(1e-9), "t_end": 3000.0, "t_eval": [1000.0, 3000.0], **ORBIT}
    ds = ph.integrate(system, "mkrk:dp5", tangent=["mu"], **given)
    found = ph.gradient(lambda s: (s.position**2).sum() / 1e8, system, "mkrk:dp5",
                        wrt=["position", "momentum", "mu"], **given)  # fmt: skip
    reference = np.einsum("nr,nrc->c", found.states.position / 5e7, ds.state_transition.values[:, :3])
    assert_allclose(found.flat(), reference, rtol=1e-12)


def test_many_bodies_in_several_passes():
    system = ph.gravitating_bodies([1.0, 1e-3, 2e-3, 1e-3, 3e-3], G=1.0)
    angle = np.arange(4) * 1.3
    radius = np.array([1.0, 1.6, 2.3, 3.1])[:, None]
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    across = np.stack([-np.sin(angle), np.cos(angle), 0.1 + 0 * angle], axis=1)
    given = {"step": 0.05, "steps": 20, "position": np.vstack([np.zeros(3), radius * ring]),
             "velocity": np.vstack([np.zeros(3), across / np.sqrt(radius)])}  # fmt: skip
    ds = ph.integrate(system, "rkn6_14a", every=20, tangent=True, **given)
    found = ph.gradient(lambda s: (s.position[1:] ** 2).sum(), system, "rkn6_14a", **given)
    assert found["position"].shape == (5, 3)
    cotangent = np.zeros((5, 6))
    cotangent[1:, :3] = 2.0 * ds.position.values[-1, 1:]
    reference = (cotangent.ravel() @ ds.state_transition.values[-1]).reshape(5, 6)
    assert_allclose(found["position"], reference[:, :3], rtol=1e-11, atol=1e-11)
    assert_allclose(found["momentum"], reference[:, 3:], rtol=1e-11, atol=1e-9)


def by_differences(function, x, h=1e-3):
    """Derivatives of a function by differences of order 6."""
    terms = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))
    return np.array([sum(w * (function(x + k * e) - function(x - k * e)) for k, w in terms) / h
                     for e in h * np.eye(len(x))])  # fmt: skip


def objective(s):
    return ((s.angular_velocity - TARGET) ** 2).sum() + s.attitude[1] * s.attitude[2] + np.sin(s.angular_momentum[0])


@each("rotated", some([True, False], 1))
def test_equals_differences_at_a_fixed_rate(rotated):
    omega, moments = np.array([0.3, 0.4, 1.0]), np.array([1.0, 1.7, 2.3])

    def body(moments):
        return ph.free_body(np.diag(moments) + 0.1 * rotated * (np.ones((3, 3)) - np.eye(3)))

    class Last:
        def __init__(self, ds):
            for name in ("attitude", "angular_velocity", "angular_momentum"):
                setattr(self, name, ds[name].values[-1])

    def value(x):
        q = ph.rotation.multiply(Q, ph.rotation.exp_quaternion(x[:3]))
        system = body(x[6:])
        return objective(Last(ph.integrate(system, "trapm", step=0.1, steps=20, attitude=q, angular_velocity=x[3:6])))

    found = ph.gradient(objective, body(moments), "trapm", wrt=["attitude", "angular_velocity", "inertia"], step=0.1,
                        steps=20, attitude=Q, angular_velocity=omega)  # fmt: skip
    reference = by_differences(value, np.concatenate([np.zeros(3), omega, moments]))
    assert found.value == pytest.approx(value(np.concatenate([np.zeros(3), omega, moments])), rel=1e-12)
    assert_allclose(found["attitude"], reference[:3], rtol=1e-8, atol=1e-9)
    assert_allclose(found["angular_velocity"], reference[3:6], rtol=1e-8, atol=1e-9)
    assert_allclose(np.diag(found["inertia"]), reference[6:], rtol=1e-8, atol=1e-9)


def test_memory_does_not_grow_with_the_steps():
    peaks = []
    for steps in (1, 1, 4_000, 40_000):  # what the first one compiles is not measured
        tracemalloc.start() if peaks else None
        ph.gradient(lambda s: s.attitude[0], ph.free_body([1.0, 1.7, 2.3]), "trapm", wrt=["attitude", "inertia.0"],
                    step=0.01, steps=steps, **START)  # fmt: skip
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[3] < peaks[2] + 1e5 and peaks[3] < 3e6  # 40 000 states alone take 4 MB


@each(("method", "every"), chosen(
    itertools.product(["s6_10", "mkrk:cv8"], [0.1, 0.13]), [("mkrk:cv8", 0.1), ("mkrk:cv8", 0.13)],
))  # fmt: skip
def test_what_a_controller_samples_is_a_map_with_a_derivative(method, every):
    """On a spring; between samples, which end steps or lie within them, the motion is known in closed form."""
    gains = np.array([0.7, 0.4])

    def law(body, rate, place):
        return {"push": -rate * body.velocity - place * body.position}

    def pushed(body, push):
        return {"force": push}

    def spring(body):
        return 0.5 * 2.0 * body.position @ body.position

    cart = ph.system(ph.body("a", 2.0), ph.loads.of(spring), ph.loads.of(pushed).on("a"),
                     ph.controller(law, every, parameters={"rate": gains[0], "place": gains[1]}).on("a")
                     .states(push=np.zeros(3)))  # fmt: skip
    x, v, end = np.array([1.0, 0.2, 0.1]), np.array([0.1, 0.4, -0.2]), 2.0

    def exact(x, v, gains):
        """On a spring of frequency 1 about a place that the push moves."""
        t = 0.0
        while t < end - 1e-9:
            span, about = min(every, end - t), (-gains[0] * v - gains[1] * x) / 2.0
            c, s = np.cos(span), np.sin(span)
            x, v, t = about + (x - about) * c + v * s, v * c - (x - about) * s, t + span
        return x @ x + 3.0 * v[1]

    def whole(z):
        return exact(z[:3], z[3:6] / 2.0, z[6:])

    found = ph.gradient(lambda s: (s.position**2).sum() + 3.0 * s.velocity[1], cart, method, step=0.05, t_end=end,
                        wrt=["position", "momentum", "law.rate", "law.place"], position=x, velocity=v)  # fmt: skip
    z = np.concatenate([x, 2.0 * v, gains])
    assert found.value == pytest.approx(whole(z), rel=1e-9)
    assert_allclose(found.flat(), by_differences(whole, z, 1e-2), rtol=1e-7, atol=1e-8)


def test_runs_that_end_by_themselves_have_no_row_at_a_known_time():
    low = ph.orbit(MU, forces=ZONAL, surface=RADIUS)
    start = ORBIT | {"velocity": [0.0, 4.0, 0.0]}
    with pytest.raises(InvalidInput, match=r"ends by itself at t = .* give t_end before it"):
        ph.gradient(lambda s: s.position[0], low, "mkrk:dp5", wrt=["mu"], step=10.0, t_end=3000.0, **start)


def test_no_steps_and_one_number_of_a_tensor():
    found = ph.gradient(lambda s: s.angular_velocity[0], ph.free_body(tensor()), "trapm", step=0.1, steps=0,
                        wrt="inertia.0.1", **START)  # fmt: skip
    inverse = np.linalg.inv(tensor())
    unit = np.zeros((3, 3))
    unit[0, 1] = unit[1, 0] = 1.0
    assert_allclose(found["inertia.0.1"], -(inverse @ unit @ inverse @ START["angular_momentum"])[0], rtol=1e-10)


BAD = {
    "function": ({"objective": 3.0}, "objective must be a function"),
    "no number": ({"objective": lambda s: s.attitude}, "must return one number"),
    "nothing": ({"objective": lambda s: None}, "must return one number"),
    "nan": ({"objective": lambda s: np.nan * s.attitude[0]}, "must be finite"),
    "unknown": ({"wrt": ["inertai"]}, "did you mean 'inertia'"),
    "twice": ({"wrt": ["inertia", "inertia"]}, "twice"),
    "both": ({"wrt": ["angular_velocity", "angular_momentum"]}, "keep one of them"),
    "lacks": ({"wrt": ["position"]}, "does not move through space"),
    "wrt": ({"wrt": 3}, "wrt must be names"),
    "language": ({"written_in": "fortran"}, "written_in"),
    "decides": ({"objective": lambda s: np.linalg.eigvalsh(np.outer(s.attitude, s.attitude))[0]}, "give slopes="),
    "lacking": ({"objective": lambda s: s.position[0]}, "no position"),
    "slopes": ({"slopes": lambda s: 1.0}, "slopes returns"),
    "slope": ({"slopes": lambda s: {"attitude": [1.0]}}, "shape (4,)"),
    "infinite": ({"slopes": lambda s: {"attitude": [np.inf] * 4}}, "not finite"),
    "name": ({"slopes": lambda s: {"attitud": [1.0] * 4}}, "did you mean 'attitude'"),
    "method": ({"method": "baoab:temperature=1:friction=5:seed=1"}, "no derivatives"),
}


@each("name", BAD)
def test_bad_input_is_named(name):
    change, words = BAD[name]
    given = {"objective": lambda s: s.attitude[0], "system": top(), "method": "mkrk:rk4", "step": 0.1, "steps": 2,
             "wrt": ["attitude", "angular_momentum", "weight"]} | START  # fmt: skip
    with pytest.raises(InvalidInput) as problem:
        ph.gradient(**(given | change))
    assert words in str(problem.value)


def with_wheels(inertia=(90.0, 70.0, 60.0)):
    wheels = {"axes": np.eye(3).tolist(), "inertia": 2.0, "speed": 20.0, "command": [0.02, 0.0, -0.01]}
    return ph.rigid_body(inertia, wheels=wheels)


def seen_of_wheels(s):
    return 3.0 * s.attitude[1] + s.attitude[2] * s.attitude[3]


@each("inertia", some([[[90.0, 5.0, 1.0], [5.0, 70.0, -3.0], [1.0, -3.0, 60.0]], [90.0, 70.0, 60.0]], 1))
def test_wheels_keep_the_speeds_they_are_given(inertia):
    """By the rate of the body, whose wheels turn faster in space where the body does, as `integrate` says."""
    body, rate, run = with_wheels(inertia), np.array([1e-2, -2e-2, 1e-2]), {"step": 1.0, "steps": 150}
    momentum = ph.integrate(body, METHOD, angular_velocity=rate, **run).angular_momentum.values[0]
    for name, x in (("angular_velocity", rate), ("angular_momentum", momentum)):

        def value(x, name=name):
            return seen_of_wheels(ph.integrate(body, METHOD, **{name: x}, **run).isel(time=-1))

        found = ph.gradient(lambda s: seen_of_wheels(s), body, METHOD, wrt=[name, "inertia"], **{name: x}, **run)
        assert_allclose(found[name], by_differences(value, x, 1e-2 * np.abs(x).min()), rtol=1e-8)


def test_wheels_of_a_run_that_goes_on_keep_their_momenta():
    body, run = with_wheels(), {"step": 1.0, "steps": 100}
    before = ph.integrate(body, METHOD, angular_velocity=(1e-2, -2e-2, 1e-2), **run)
    moments = np.array([90.0, 70.0, 60.0])

    def value(x):
        return seen_of_wheels(ph.integrate(with_wheels(x), METHOD, start=before, **run).isel(time=-1))

    found = ph.gradient(lambda s: seen_of_wheels(s), body, METHOD, wrt=["inertia"], start=before, **run)
    assert_allclose(found["inertia"], by_differences(value, moments, 0.05), rtol=1e-7)


def lorenz(x, y, z, sigma, rho, beta):
    return {"x": sigma * (y - x), "y": x * (rho - z) - y, "z": x * y - beta * z}


def warmed(body, heat, power):
    return {"force": heat * body.in_space(np.array([1.0, 0.0, 0.5])), "heat": power - 0.1 * heat[::-1]}


def test_states_of_the_systems_own_are_seen_by_objectives():
    """One number or several, alone, of a body and of wheels; against the transition matrix."""
    weather = ph.system(ph.states.of(lorenz, {"sigma": 10.0, "rho": 28.0, "beta": 8 / 3}, x=1.0, y=1.0, z=1.0))
    wheels = ph.reaction_wheels(np.eye(3), 0.01, speed=20.0, viscous=1e-3)
    warm = ph.system(ph.body("a", 2.0, (1.0, 2.0, 2.5), wheels=wheels),
                     ph.loads.of(warmed, power=[1.0, 0.2, -0.3]).states(heat=(0.5, 0.1, 0.2)))  # fmt: skip
    cases = [
        (weather, ["lorenz.rho", "lorenz.states.x"], {}, lambda s: (s.z**2 + s.x).sum(),
         lambda ds: {"z": 2.0 * ds.z.values, "x": np.ones(ds.time.size)}),
        (warm, ["warmed.power.1", "a.wheels.viscous"], {"angular_velocity": (0.1, 0.3, -0.2)},
         lambda s: (s.heat[:, 1] * s.wheel_momentum[:, 2] + s.position[:, 0]).sum(),
         lambda ds: {"heat.1": ds.wheel_momentum.values[:, 2], "wheel_momentum.2": ds.heat.values[:, 1],
                     "position_x": np.ones(ds.time.size)}),
    ]  # fmt: skip
    for system, names, start, objective, slopes_of in cases:
        run = {"step": 0.01, "steps": 100, **start}
        found = ph.gradient(objective, system, "mkrk:cv8", wrt=names, every=25, **run)
        ds = ph.integrate(system, "mkrk:cv8", tangent=names, every=25, **run)
        for name in names:
            column = ds.state_transition.sel(column=name)
            wanted = sum(float(w @ column.sel(row=row).values) for row, w in slopes_of(ds).items())
            assert_allclose(found[name], wanted, rtol=1e-11)
    with pytest.raises(InvalidInput, match=r"by heat must be an array of shape \(3,\)"):
        ph.gradient(lambda s: s.heat[0], warm, "mkrk:cv8", wrt=["warmed.power.1"], step=0.01, steps=3,
                    slopes=lambda s: {"heat": 1.0})  # fmt: skip
