"""Loads on every two bodies, plain functions in the SIMD pass: the same as built-in systems and as written by hand."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from each import each
from polhode.errors import PolhodeError

MOMENTS = (1.0, 1.88, 2.88)


def spheres(a, b, epsilon, sigma, dipole):
    """The soft dipolar spheres of [celledoni2008], as one writes them."""
    d = a.position - b.position
    mine, other = a.in_space(dipole), b.in_space(dipole)
    s = d @ d
    return 4 * epsilon * (sigma**2 / s) ** 6 + (mine @ other) * s**-1.5 - 3 * (mine @ d) * (other @ d) * s**-2.5


def repulsion(a, b, strength, share):
    d = b.position - a.position
    return strength * (a.charge * b.charge + share * a.mass * b.mass) / (d @ d) ** 0.5


def gravity(a, b, G):
    d = b.position - a.position
    return -G * a.mass * b.mass / (d @ d) ** 0.5


def trap(body, k):
    return 0.5 * k * body.position @ body.position


def drag(body, rate):
    return {"force": -rate * body.velocity}


def grid(n, apart, seed=1):
    draw = np.random.default_rng(seed)
    places = apart * np.array([(i, j, k) for i in range(n) for j in range(n) for k in range(n)], dtype=float)
    q = draw.normal(size=(n**3, 4))
    return {"position": places + draw.normal(scale=0.02 * apart, size=places.shape),
            "attitude": q / np.linalg.norm(q, axis=1)[:, None], "velocity": draw.normal(scale=0.2, size=places.shape),
            "angular_velocity": draw.normal(size=places.shape)}  # fmt: skip


@each("around", [{}, {"cutoff": 2.0, "switch": 1.5}, {"box": 6.0, "cutoff": 2.5}])
def test_dipolar_spheres_are_those_of_polhode(around):
    """Ours in axes of their own, in which the tensor of inertia is not diagonal."""
    built = ph.dipoles(64, **around)
    turn = ph.rotation.exp_quaternion((0.4, -0.3, 0.8))
    R, back = ph.rotation.matrix_from_quaternion(turn), ph.rotation.conjugate(turn)
    tensor, dipole = R @ np.diag(MOMENTS) @ R.T, R @ (0.0, 1.0, 1.0)
    ours = ph.system(
        ph.bodies(64, 1.0, tensor), ph.loads.of(spheres, epsilon=1.0, sigma=1.0, dipole=dipole).on(ph.pairs), **around
    )
    run = {"step": 1e-3, "steps": 300, "every": 100, **grid(4, 1.4)}
    turned = run | {"attitude": ph.rotation.multiply(run["attitude"], back),
                    "angular_velocity": run["angular_velocity"] @ R.T}  # fmt: skip
    ends = [ph.integrate(one, "v2", **how) for one, how in ((built, run), (ours, turned))]
    free = ph.integrate(ph.system(ph.bodies(64, 1.0, MOMENTS)), "v2", **run)
    assert abs(ends[1].position.values[-1] - free.position.values[-1]).max() > 1e-2
    attitude = ph.rotation.multiply(ends[1].attitude.values[-1], turn)
    assert abs(attitude - free.attitude.values[-1]).max() > 1e-2
    assert ends[0].attitude.values[-1] == pytest.approx(attitude, abs=1e-12)
    assert ends[0].angular_velocity.values[-1] == pytest.approx(ends[1].angular_velocity.values[-1] @ R, abs=1e-12)
    for name in ("position", "energy"):
        assert ends[0][name].values[-1] == pytest.approx(ends[1][name].values[-1], abs=1e-12), name
    assert float(abs(ends[1].energy_error).max()) < 1e-5
    assert built.conserves == ours.conserves
    for name in ("temperature", "temperature_rotational", "pressure") if "box" in around else ():
        assert ends[0][name].values == pytest.approx(ends[1][name].values, rel=1e-12), name


def test_waters_are_those_of_polhode():
    built = ph.rigid_water(27)
    model = built.constants
    at, charge = model["site_position"][1], model["site_charge"][1]
    ours = ph.system(
        ph.bodies(27, float(built.mass[0]), tuple(built.moments[0])),
        ph.loads.sites(at, charge, epsilon=(0.650, 0.0, 0.0), sigma=0.3166, coulomb=138.935457644).on(ph.pairs),
    )
    assert ours.conserves == built.conserves == ("energy", "total_momentum", "total_angular_momentum")
    run = {"step": 5e-4, "steps": 200, "every": 200, **grid(3, 0.4)}
    ends = [ph.integrate(one, "v2", **run) for one in (built, ours)]
    assert abs(ends[0].angular_velocity.values[-1] - run["angular_velocity"]).max() > 1.0
    for name in ("position", "attitude", "energy"):
        assert ends[0][name].values[-1] == pytest.approx(ends[1][name].values[-1], rel=1e-11, abs=1e-11), name


SHAPE = (1.0, 2.0, 2.5)
TRAP = [ph.loads.of(trap, k=0.9), ph.loads.of(drag, rate=0.05)]


@each("N", [3, 12])
def test_charges_in_a_trap_move_as_their_equations_say(N):
    """Each body has a charge and a mass of its own; a trap and drag act beside the pairs."""
    strength, share, k, rate = 0.7, 0.3, 0.9, 0.05
    charge, start = np.linspace(0.2, 1.5, N), grid(3, 1.0)
    masses = 1.0 + 0.1 * np.arange(N)
    bodies = [ph.body(f"b{i}", masses[i], SHAPE) for i in range(N)]
    ours = ph.system(
        bodies, ph.loads.of(repulsion, strength=strength, share=share).each(charge=charge).on(ph.pairs), TRAP
    )
    x, v = start["position"][:N] - 0.5, start["velocity"][:N]
    run = {"step": 2e-3, "steps": 500, "every": 500, "position": x, "velocity": v}
    ds = ph.integrate(ours, "mkrk:cv8", **run)
    without = ph.integrate(ph.system(bodies, TRAP), "mkrk:cv8", **run)
    assert abs(ds.position.values[-1] - without.position.values[-1]).max() > 0.1

    def rates(t, y):
        x, v = y.reshape(2, N, 3)
        d = x[:, None] - x[None]
        r = np.linalg.norm(d, axis=-1) + np.eye(N)
        sizes = strength * (charge[:, None] * charge[None] + share * masses[:, None] * masses[None])
        F = (sizes / r**3)[..., None] * d
        return np.concatenate([v, (F.sum(axis=1) - k * x - rate * v) / masses[:, None]]).ravel()

    end = solve_ivp(rates, (0.0, 1.0), np.concatenate([x, v]).ravel(), method="DOP853", rtol=1e-13, atol=1e-13)
    assert abs(ds.position.values[-1].ravel() - end.y[: 3 * N, -1]).max() < 1e-9
    assert float(ds.work[-1, 0]) < -1e-3 and float(abs(ds.energy_error).max()) < 1e-10
    assert list(ds.force.values) == ["drag"]


def ions(third=2.0, **more):
    """Charged bodies in a trap, in the pass, for they have a cut-off."""
    charge, more = (1.0, -1.0, third, *np.linspace(-2.0, 1.5, 9)), {"cutoff": 30.0} | more
    pairs = ph.loads.of(repulsion, strength=1.5, share=0.1).each(charge=charge).on(ph.pairs)
    return ph.system(ph.bodies(12, 1.0, SHAPE), pairs, TRAP, **more)


def soft(a, b, k):
    d = b.position - a.position
    return ph.where(d @ d < 2.0 ** (1.0 / 3.0), 4.0 * k * ((d @ d) ** -6 - (d @ d) ** -3) + k, 0.0)


def decided(a, b, k):
    d = b.position - a.position
    if d @ d < 2.5:
        return k * (2.5 - d @ d) ** 3
    return 0.0


def many_functions(a, b, k):
    r = np.linalg.norm(b.position - a.position)
    tied = np.tanh(a.inertia[0, 0] * b.inertia[0, 0] / r) + max(r - 2.0, 0.0) ** 3 + abs(r - 1.2)
    return k * (1.0 - np.exp(1.0 - r)) ** 2 + 0.1 * np.arctan2(r, 1.0) + tied


def leaning(a, b, k):
    d = b.point((0.1, 0.2, 0.3)) - a.point((0.3, 0.2, 0.1))
    up, across = a.in_space((0, 0, 1)), b.in_space((1, 0, 0))
    return k * np.exp(-d @ d) * (1.0 + up @ across) * np.sqrt(a.mass * b.mass)


def all_kinds(a, b, k):
    return soft(a, b, k) + decided(a, b, k) + many_functions(a, b, k) + leaning(a, b, k)


def test_the_pass_computes_what_pairs_named_one_by_one_do(monkeypatch):
    tensor, start, ends = ((2.0, 0.1, 0.0), (0.1, 2.5, 0.2), (0.0, 0.2, 3.0)), grid(3, 1.05), []
    start = {name: start[name][:11] for name in ("position", "attitude")}
    for few in (8, 11):
        monkeypatch.setattr("polhode.systems.summands.FEW_BODIES", few)
        one = ph.system([ph.body(f"b{i}", 1.0 + 0.1 * i, tensor) for i in range(11)],
                        ph.loads.of(all_kinds, k=1.5).on(ph.pairs))  # fmt: skip
        assert bool(one.memory) == (few == 8)
        ends.append(ph.integrate(one, "v2", step=1e-3, steps=200, every=200, **start))
    assert abs(ends[0].position.values[-1] - start["position"]).max() > 1e-2
    for name in ("position", "attitude", "potential_energy"):
        assert ends[0][name].values[-1] == pytest.approx(ends[1][name].values[-1], rel=1e-13, abs=1e-13), name


IONS = {"step": 2e-3, "steps": 100, "every": 100, "position": np.eye(12, 3) + np.arange(12)[:, None]}


def test_numbers_of_each_body_have_names():
    one = ions()
    expected = ph.integrate(ions(2.5), "mkrk:cv8", **IONS).position.values[-1]
    changed = ph.integrate(one, "mkrk:cv8", parameters={"repulsion.each.charge.2": 2.5}, **IONS)
    assert np.array_equal(changed.position.values[-1], expected)
    ds = ph.ensemble(one, "mkrk:cv8", engine="threads", members={"repulsion.each.charge.2": [2.0, 2.5]}, **IONS)
    assert np.array_equal(ds.position.values[1, -1], expected)
    h, along = 1e-4, np.random.default_rng(2).normal(size=(12, 3))
    ends = [ph.integrate(ions(2.0 + x), "mkrk:cv8", **IONS).position.values[-1]
            for x in (h, -h)]  # fmt: skip
    slope = (along * (ends[0] - ends[1])).sum() / (2.0 * h)
    run = IONS | {"every": None}
    found = ph.gradient(lambda s: (along * s.position).sum(), one, "mkrk:cv8", wrt="repulsion.each.charge.2", **run)
    assert abs(found["repulsion.each.charge.2"] - slope) < 1e-8 and abs(slope) > 1e-3


def test_sums_of_pairs_are_repeated_and_shared(tmp_path):
    one = ions(cutoff=3.0)
    ds = ph.integrate(one, "mkrk:cv8", **IONS)
    ph.save(ds, tmp_path / "one.nc")
    again = ph.rerun(ph.load(tmp_path / "one.nc"), repulsion=repulsion, trap=trap, drag=drag)
    assert np.array_equal(again.position, ds.position)
    kept = pickle.loads(pickle.dumps(one))
    assert np.array_equal(ph.integrate(kept, "mkrk:cv8", **IONS).position, ds.position)
    for threads in (1, 2):
        shared = ph.integrate(one, "mkrk:cv8", **IONS, settings={"threads": threads})
        assert np.array_equal(shared.position, ds.position)
    for text in ("repulsion on all pairs", "strength 1.5"):
        assert text in repr(one)


def test_numbers_of_each_body_are_read_wherever_a_load_is():
    def pull(body, k):
        return 0.5 * k * body.stiffness * body.position @ body.position

    def bond(a, b):
        d = b.position - a.position
        return 0.5 * a.tied * b.tied * d @ d

    for n in (1, 3, 6):
        stiffness = 1.0 + np.arange(n)
        one = ph.system(ph.bodies(n, 1.0), ph.loads.of(pull, k=2.0).each(stiffness=stiffness))
        ds = ph.integrate(one, "rkn6_14a", step=0.01, steps=100, every=100, position=np.ones((n, 3)))
        end = ds.position.values[-1].reshape(n, 3)[:, 0]
        assert end == pytest.approx(np.cos(np.sqrt(2.0 * stiffness)), rel=1e-9)
    ends = []
    x = np.arange(18.0).reshape(6, 3) ** 1.5
    for load in (lambda i: ph.loads.of(bond).each(tied=1.0 + np.arange(6)),
                 lambda i: ph.loads.of(lambda a, b, k: 0.5 * k * (b.position - a.position) @ (b.position - a.position),
                                       k=(1.0 + i) * (2.0 + i))):  # fmt: skip
        one = ph.system(ph.bodies(6, 1.0), [load(i).on(f"body{i}", f"body{i + 1}").named(f"s{i}") for i in range(5)])
        ends.append(ph.integrate(one, "rkn6_14a", step=0.01, steps=100, every=100, position=x).position.values[-1])
    assert abs(ends[0] - ends[1]).max() < 1e-12


def refused():
    def known(a, b):
        d = b.position - a.position
        return (2.0 if a.name == "body0" else 1.0) * d @ d

    some, load = ph.bodies(3, 1.0), ph.loads.of(repulsion, strength=1.0, share=1.0).each(charge=np.ones(3))

    def fixed(a, b):
        return a.position @ b.position

    def timed(a, b, t):
        d = b.position - a.position
        return (1.0 + t) * d @ d

    def worn(a, b, wear):
        d = b.position - a.position
        return wear * d @ d

    def pushed(a, b):
        d = b.position - a.position
        return {"force": (d, -d)}

    return {
        "there is one body": lambda: ph.system(some[0], ph.loads.of(gravity, G=1.0).on(ph.pairs)),
        "takes one body; it must take two": lambda: ph.system(some, ph.loads.of(trap, k=1.0).on(ph.pairs)),
        "for 3 bodies, but there are 2": lambda: ph.system(some[:2], load.on(ph.pairs)),
        "give a row for each body": lambda: load.each(charge=1.0),
        "which a body has": lambda: ph.system(some, load.each(mass=np.ones(3)).on(ph.pairs)),
        "all rigid bodies or all points": lambda: ph.system(some, ph.body("c", 1.0, (1, 1, 1)),
                                                             ph.loads.of(gravity, G=1.0).on(ph.pairs), cutoff=2.0),
        "depends on where they are in space": lambda: ph.system(some, ph.loads.of(fixed).on(ph.pairs)),
        "reads the names of bodies": lambda: ph.system(some, ph.loads.of(known).on(ph.pairs)),
        "that depends on velocities or states": lambda: ph.system(
            ph.bodies(20, 1.0), ph.loads.of(worn).states(wear=1.0).on(ph.pairs)
        ),
        "reads the time": lambda: ph.system(some, ph.loads.of(timed).on(ph.pairs)),
        "must return one number, a potential": lambda: ph.system(some, ph.loads.of(pushed).on(ph.pairs)),
        "needs a cut-off": lambda: ph.system(some, load.on(ph.pairs), box=3.0),
        "less than twice the cut-off": lambda: ph.system(some, load.on(ph.pairs), box=3.0, cutoff=2.0),
        "no load is on polhode.pairs": lambda: ph.system(some, cutoff=2.0),
        "'pairs', which stands for every two bodies": lambda: ph.system(ph.body("pairs", 1.0)),
        "as an argument of system that is given": lambda: ph.system(
            ph.bodies(20, 1.0), ph.body("box", 1.0), load.on(ph.pairs), box=9.0, cutoff=2.0
        ),
        "asks for 'strength'": lambda: ph.system(
            some, ph.loads.of(repulsion, share=1.0).each(charge=np.ones(3)).on(ph.pairs)
        ),
        "one for each of 2 points": lambda: ph.loads.sites(np.eye(3)[:2], charge=(1.0, 2.0, 3.0)),
    }  # fmt: skip


@each("said", refused())
def test_what_is_no_load_on_pairs_is_said_in_a_sentence(said):
    with pytest.raises(PolhodeError) as told:
        refused()[said]()
    assert said in str(told.value) and "\n" not in str(told.value)
