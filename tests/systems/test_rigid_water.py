"""Rigid water against sums written out in NumPy, published dipoles and dimer energies, and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import polhode as ph
from cover import chosen
from each import each
from polhode.algebra import rotation
from polhode.errors import InvalidInput
from polhode.kernel.many import write_energies
from polhode.kernel.pairs import BUILDS, NOW_AT
from polhode.methods import method
from polhode.runs.initial_state import start_state
from polhode.runs.integrator import Integrator

COULOMB = 138.935457644
DEBYE = 48.0320427
"""e nm in debye."""
MODELS = {  # bond, angle, charge of hydrogen, sigma, epsilon, distance of the negative charge from the oxygen
    "spc/e": (0.1, 109.4712206, 0.4238, 0.3166, 0.650, 0.0),
    "tip3p": (0.09572, 104.52, 0.417, 0.315061, 0.636386, 0.0),
    "tip4p/2005": (0.09572, 104.52, 0.5564, 0.31589, 0.774907, 0.01546),
}


def sites(model):
    """Oxygen and three charges of a molecule about its centre of mass, and the charges."""
    bond, angle, charge, _, _, apart = MODELS[model]
    half = np.radians(angle) / 2
    r = np.array([[0, 0, 0], [bond * np.sin(half), 0, bond * np.cos(half)], [-bond * np.sin(half), 0,
                  bond * np.cos(half)], [0, 0, apart]])  # fmt: skip
    mass = np.array([15.9994, 1.008, 1.008])
    return r - mass @ r[:3] / mass.sum(), np.array([charge, charge, -2 * charge])


def energy(model, x, q, box=None, cutoff=None, permittivity=np.inf):
    """The sum over all pairs, term by term."""
    places, charge = sites(model)
    _, _, _, sigma, epsilon, _ = MODELS[model]
    inside = np.array([rotation.rotate(q, place) for place in places])
    factor = 0.0
    if cutoff:
        factor = (0.5 if np.isinf(permittivity) else (permittivity - 1) / (2 * permittivity + 1)) / cutoff**3
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            d = x[i] - x[j]
            if box is not None:
                d = d - box * np.round(d / box)
            weight = 1.0
            if cutoff:
                t = np.clip((np.linalg.norm(d) - 0.9 * cutoff) / (0.1 * cutoff), 0, 1)
                weight = 1 - 126 * t**5 + 420 * t**6 - 540 * t**7 + 315 * t**8 - 70 * t**9
            r = np.linalg.norm(d + inside[0, i] - inside[0, j])
            u = 4 * epsilon * ((sigma / r) ** 12 - (sigma / r) ** 6)
            r = np.linalg.norm(d + inside[1:, i][:, None] - inside[None, 1:, j], axis=-1)
            u += COULOMB * (charge[:, None] * charge * (1 / r + factor * r * r)).sum()
            total += weight * u
    return total


def liquid(cells, spacing, seed=5):
    """Places on a cubic lattice with noise, and random attitudes."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*[np.arange(cells)] * 3, indexing="ij"), -1).reshape(-1, 3) * spacing
    q = rng.standard_normal((cells**3, 4))
    return grid + 0.01 * rng.standard_normal(grid.shape), q / np.linalg.norm(q, axis=1, keepdims=True)


def potential(system, y):
    stored = np.zeros(1)
    role = system.compiled_potential(0.0, y)
    write_energies(np.zeros(1), np.array(y)[None], system.bodies, system.with_memory, role, stored)
    return float(stored[0])


def loads(system, y):
    integrator = Integrator(system, method("v2"), y)
    integrator.march(0, 1, 2, 0.0, 1e-300)
    return integrator.load.reshape(-1, 6), integrator.parameters


BOXED = {"box": 0.96, "cutoff": 0.45}


ALL = [(model, around) for model in MODELS for around in (BOXED, {}, BOXED | {"reaction_field": 78.5})]


@each(("model", "around"), chosen(ALL, [ALL[4], ALL[5], ALL[6]]))
def test_energy_is_the_sum_over_sites(model, around):
    x, q = liquid(3, 0.32)
    system = ph.rigid_water(27, model, **around)
    y = start_state(system, position=x, attitude=q)
    expected = energy(model, x, q, around.get("box"), around.get("cutoff"), around.get("reaction_field", np.inf))
    assert potential(system, y) == pytest.approx(expected, rel=1e-10)


@each("model", chosen(MODELS, ["tip3p"]))
def test_loads_are_the_gradient(model):
    x, q = liquid(2, 0.32)
    system = ph.rigid_water(8, model, box=1.3, cutoff=0.65, switch=0.05)  # all pairs in the zone of the switch
    y = start_state(system, position=x, attitude=q)
    found, _ = loads(system, y)
    scale = np.abs(found).max()
    for i in (0, 5):
        for k in range(6):

            def at(e, i=i, k=k):
                z = y.copy()
                if k < 3:
                    z[13 * i + k] += e
                else:
                    turn = rotation.exp_quaternion(e * np.eye(3)[k - 3])
                    z[13 * i + 6 : 13 * i + 10] = rotation.multiply(z[13 * i + 6 : 13 * i + 10], turn)
                return potential(system, z)

            weights = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
            h = 1.5e-4
            slope = sum(w * (at(n * h) - at(-n * h)) for n, w in weights) / h
            assert found[i, k] == pytest.approx(-slope, abs=1e-9 * scale)


def test_action_is_reaction_and_nothing_turns_the_whole():
    x, q = liquid(3, 0.32)
    system = ph.rigid_water(27, "tip3p")
    found, _ = loads(system, start_state(system, position=x, attitude=q))
    F, T = found[:, :3], rotation.rotate(q, found[:, 3:])
    assert np.abs(F.sum(axis=0)).max() < 1e-13 * np.abs(F).max() * 27
    assert np.abs((T + np.cross(x, F)).sum(axis=0)).max() < 1e-13 * np.abs(F).max() * 27


@each(("model", "debye"), [("spc/e", 2.351), ("tip3p", 2.347), ("tip4p/2005", 2.305)])
def test_dipole_is_the_published_one(model, debye):
    system = ph.rigid_water(2, model)
    moment = system.constants["dipole"][1][0]
    assert np.linalg.norm(moment) * DEBYE == pytest.approx(debye, abs=1e-3)
    assert moment[2] > 0.0
    assert abs(moment[0]) < 1e-15


def test_dimer_has_the_published_energy():
    """TIP3P: -6.50 kcal/mol with oxygens 2.74 angstrom apart [jorgensen1983, table II]."""
    system = ph.rigid_water(2, "tip3p")

    def of(z):
        q = np.array([[1.0, 0, 0, 0], z[3:] / np.linalg.norm(z[3:])])
        return potential(system, start_state(system, position=np.array([[0, 0, 0], z[:3]]), attitude=q))

    best = minimize(of, np.array([0.2, 0.0, 0.2, 0.5, -0.6, 0.3, 0.5]), method="Nelder-Mead",
                    options={"maxiter": 4000, "maxfev": 4000, "xatol": 1e-7, "fatol": 1e-8})  # fmt: skip
    assert best.fun / 4.184 == pytest.approx(-6.50, abs=0.06)


def test_no_bit_depends_on_lists_or_threads():
    x, q = liquid(5, 0.3107)
    starts = {"position": x, "attitude": q}
    runs = [
        ph.integrate(
            ph.rigid_water(125, box=1.5535, cutoff=0.6, skin=skin),
            "v2",
            step=1e-3,
            steps=20,
            settings={"threads": threads},
            **starts,
        )
        for skin, threads in ((0.1, 1), (0.02, 1), (0.17, 3))
    ]
    for other in runs[1:]:
        assert np.array_equal(runs[0].position, other.position)
        assert np.array_equal(runs[0].attitude, other.attitude)
        assert np.array_equal(runs[0].energy, other.energy)


def test_lists_are_kept_while_nobody_moves_far():
    x, q = liquid(5, 0.3107)
    system = ph.rigid_water(125, box=1.5535, cutoff=0.6)
    _, parameters = loads(system, start_state(system, position=x, attitude=q))
    assert parameters[int(parameters[NOW_AT]) + BUILDS] == 1.0


def test_motion_keeps_energy_and_momenta():
    x, q = liquid(3, 0.4)
    ds = ph.integrate(ph.rigid_water(27), "rkn4_6b", step=1e-3, steps=100, position=x, attitude=q)
    assert float(np.abs(ds.energy_change).max()) < 2e-5 * float(ds.kinetic_energy.max())
    assert float(np.abs(ds.total_momentum).max()) < 1e-11
    assert float(np.abs(ds.total_angular_momentum - ds.total_angular_momentum[0]).max()) < 1e-11


def test_pressure_is_the_derivative_by_the_volume():
    x, q = liquid(4, 0.3107)

    def at(factor):
        system = ph.rigid_water(64, box=1.2428 * factor, cutoff=0.55)
        return system, start_state(system, position=x * factor, attitude=q)

    system = at(1.0)[0]
    ds = ph.integrate(system, "v2", step=1e-3, steps=0, position=x, attitude=q)
    e = 1e-5
    high, low = potential(*at(1 + e)), potential(*at(1 - e))
    volumes = [(1.2428 * (1 + s * e)) ** 3 for s in (1, -1)]
    assert float(ds.pressure[0]) == pytest.approx(-(high - low) / (volumes[0] - volumes[1]), rel=1e-6)


def test_density_makes_the_box():
    assert ph.rigid_water(1000, density=997.0).box == pytest.approx(
        [(1000 * 18.0154 / 0.602214076 / 997.0) ** (1 / 3)] * 3, rel=1e-9
    )


def test_units_are_those_of_molecules():
    """Boltzmann's constant from the SI, labels of the trajectory, and the masses of the sites."""
    v = np.random.default_rng(4).standard_normal((8, 3))
    system = ph.rigid_water(8, box=2.0)
    ds = ph.integrate(system, "v2", step=1e-3, steps=0, position=liquid(2, 0.4)[0], velocity=v)
    kB = 1.380649e-23 * 6.02214076e23 / 1000
    u = v - v.mean(axis=0)
    expected = 18.0154 * (u * u).sum() / (3 * 8 - 3) / kB
    assert float(ds.temperature_translational[0]) == pytest.approx(expected, rel=1e-12)
    names = ("time", "position", "energy", "temperature", "pressure", "dipole", "angular_velocity")
    assert [ds[name].attrs["units"] for name in names] == [
        "ps", "nm", "kJ / mol", "K", "kJ / mol / nm3", "e nm", "rad / ps"
    ]  # fmt: skip
    assert dict(zip(ds.site.values, ds.site_mass.values, strict=True)) == {"O": 15.9994, "H1": 1.008, "H2": 1.008}
    assert dict(zip(ds.site.values, ds.site_charge.values, strict=True)) == {"O": -0.8476, "H1": 0.4238, "H2": 0.4238}
    middle = ds.site_mass.values @ ds.site_position.values
    assert np.abs(middle).max() < 1e-15


@each(
    ("arguments", "told"),
    [
        ({"n": 1}, "n is 1; it must be 2 or more"),
        ({"n": 8, "model": "spce"}, "spc/e"),
        ({"n": 8, "box": 3.0, "density": 997.0}, "keep one"),
        ({"n": 8, "density": -1.0}, "must be positive"),
        ({"n": 8, "box": 1.5, "cutoff": 0.9}, "less than twice the cut-off"),
        ({"n": 8, "box": -1.5}, "must be positive"),
        ({"n": 8, "density": 997.0}, "leaves no room for a cut-off of 0.5 nm"),
        ({"n": 8, "reaction_field": 80.0}, "without cutoff"),
    ],
)
def test_wrong_arguments_are_named(arguments, told):
    with pytest.raises(InvalidInput, match=told):
        ph.rigid_water(**arguments)


def test_overlapping_molecules_are_named():
    x, q = liquid(2, 0.32)
    x[5] = x[2] + 0.02
    with pytest.raises(InvalidInput, match="bodies 2 and 5 overlap"):
        ph.integrate(ph.rigid_water(8), "v2", step=1e-3, steps=1, position=x, attitude=q)


def test_a_cut_off_leaves_methods_of_order_4_their_order():
    x, q = liquid(4, 0.3107)
    system = ph.rigid_water(64, box=1.2428, cutoff=0.6)
    bath = ph.methods.baoab(temperature=300.0, friction=20.0)
    warm = ph.integrate(system, bath, step=1e-3, steps=200, every=200, position=x, attitude=q)
    start = {k: warm[k].values[-1] for k in ("position", "attitude", "momentum", "angular_momentum")}
    ends = [
        ph.integrate(system, "rkn4_6b", step=0.016 / n, steps=n, every=n, **start).position.values[-1]
        for n in (8, 16, 32, 128)
    ]
    errors = [float(np.abs(end - ends[-1]).max()) for end in ends[:-1]]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 3.7).all(), errors


def test_no_squish_is_the_rotation_by_axes_3_2_1():
    x, q = liquid(2, 0.35)
    runs = [
        ph.integrate(ph.rigid_water(8), name, step=1e-3, steps=20, position=x, attitude=q)
        for name in ("v2/no_squish", "v2/three_rotation")
    ]
    assert np.array_equal(runs[0].attitude, runs[1].attitude)
