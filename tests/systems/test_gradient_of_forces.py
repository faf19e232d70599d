"""The gravity gradient of harmonics and third bodies: against differences of the potential in 50 digits; runs."""

import mpmath as mp
import numpy as np
import pytest

import polhode as ph
from polhode.errors import InvalidInput
from test_spacecraft import MASS, MU, START, TENSOR, load, potential

J2, RADIUS = 0.05, 0.9
ZONAL = {"J2": J2, "J3": -0.02, "radius": RADIUS}
R = START["position"]
FIELD = ph.forces.zonal(**ZONAL)


def level(x):
    """Potential of the harmonics, mpmath."""
    size = mp.sqrt(mp.fsum(c * c for c in x))
    s = x[2] / size
    return (
        MU / size * sum(mp.mpf(J) * (mp.mpf(RADIUS) / size) ** n * mp.legendre(n, s) for n, J in ((2, J2), (3, -0.02)))
    )


def expected():
    """Force in space, torque in the body, energy: of -1/2 sum I_jk d_j d_k phi with derivatives by mpmath."""
    with mp.workdps(50):
        w, x, y, z = (mp.mpf(float(c)) for c in START["attitude"] / np.linalg.norm(START["attitude"]))
        turn = np.array([
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ])  # fmt: skip
        place = [mp.mpf(float(c)) for c in R]
        inertia = turn @ np.array([[mp.mpf(float(c)) for c in row] for row in TENSOR]) @ turn.T

        def slope(*axes):
            orders = tuple(axes.count(k) for k in range(3))
            return mp.diff(lambda a, b, c: level((a, b, c)), tuple(place), orders)

        hessian = np.array([[slope(j, k) for k in range(3)] for j in range(3)])
        energy = -sum(inertia[j, k] * hessian[j, k] for j in range(3) for k in range(3)) / 2
        force = [sum(inertia[j, k] * slope(i, j, k) for j in range(3) for k in range(3)) / 2 for i in range(3)]
        couple = inertia @ hessian
        torque = np.array([couple[1, 2] - couple[2, 1], couple[2, 0] - couple[0, 2], couple[0, 1] - couple[1, 0]])
        return (np.array(force, float), np.array(turn.T @ torque, float), float(energy))


def both(**options):
    """Spacecraft with and without the gradient of the forces."""
    return [
        ph.spacecraft(TENSOR, MU, MASS, gradient_of_forces=on, **({"forces": [FIELD]} | options))
        for on in (True, False)
    ]


def differences(**options):
    ours, without = both(**options)
    (F, T), (F0, T0) = load(ours), load(without)
    return F - F0, T - T0, potential(ours) - potential(without)


def test_it_is_the_gradient_of_the_harmonics():
    force, torque, energy = expected()
    F, T, V = differences()
    np.testing.assert_allclose(T, torque, rtol=0, atol=1e-6 * abs(torque).max())
    np.testing.assert_allclose(F, force, rtol=0, atol=1e-6 * abs(force).max())
    assert pytest.approx(energy, rel=1e-6) == V


def test_the_size_is_a_thousandth_of_the_centres():
    earth, torques = ph.planets.EARTH, []
    r = (4.5e6, 0.0, 5.1e6)
    for on in (True, False):
        craft = ph.spacecraft(
            (90.0, 70.0, 60.0),
            earth.mu,
            100.0,
            forces=[ph.forces.zonal(J2=earth.J["J2"], radius=earth.radius)],
            gradient_of_forces=on,
        )
        torques.append(load(craft, position=r, velocity=(0, 7e3, 0))[1])
    assert 1e-4 < np.linalg.norm(torques[0] - torques[1]) / np.linalg.norm(torques[1]) < 1e-2


def test_wheels_do_not_change_it():
    """Their moments are part of the inertia of the whole, though not of that which flows turn."""
    wheels = ph.reaction_wheels([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]], 0.1)
    with_wheels, bare = differences(wheels=wheels), differences()
    for a, b in zip(with_wheels, bare, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-7 * np.max(np.abs(b)))


def test_two_bodies_have_their_own():
    craft = ph.spacecraft([TENSOR, 2.0 * TENSOR], MU, (MASS, MASS), forces=[FIELD], gradient_of_forces=True)
    alone = both()[0]
    start = {name: (np.array((value, value))) for name, value in START.items()}
    np.testing.assert_allclose(load(craft, **start)[1], load(alone)[1], rtol=1e-13)


def test_energy_is_kept_and_the_order():
    """A body a tenth as large as its orbit, so that the gradient counts."""
    craft, without = (
        ph.spacecraft(TENSOR / 30.0, MU, MASS, forces=[FIELD], gradient_of_forces=on) for on in (True, False)
    )
    ends, errors = [], []
    for step in (0.16, 0.08, 0.04):
        ds = ph.integrate(craft, "s4_6/kepler", step=step, t_end=8.0, **START)
        ends.append(np.concatenate([ds.position[-1], ds.attitude[-1]]))
        errors.append(float(abs(ds.energy_error).max()))
    assert 3.7 < np.log2(np.linalg.norm(ends[0] - ends[1]) / np.linalg.norm(ends[1] - ends[2])) < 4.4
    assert errors[2] < 5e-9 and errors[2] < errors[1] / 10 < errors[0] / 100
    other = ph.integrate(without, "s4_6/kepler", step=0.04, t_end=8.0, **START)
    assert np.linalg.norm(other.attitude[-1] - ends[2][3:]) > 1e-3


def test_a_rotating_field_does_work():
    """Energy less work, where the gradient of the field is part of both."""
    field = ph.forces.gravity_field("egm2008", degree=2)
    earth = ph.planets.EARTH
    r, v = ph.kepler.state(earth.mu, semi_major_axis=6.9e6, eccentricity=0.01, inclination=1.0)
    craft = ph.spacecraft(
        (9e8, 7e8, 4e8), earth.mu, 1e-3, forces=[field], gradient_of_forces=True
    )  # its gradient rules
    ds = ph.integrate(craft, "rkn6_14a/kepler", step=5.0, t_end=3000.0, every=20, position=(r), velocity=v,
                      angular_velocity=(1e-3, 2e-3, 1e-3))  # fmt: skip
    assert float(abs(ds.energy_error).max()) < 1e-9 < float(abs(ds.energy_change).max() / abs(ds.energy[0]))


@pytest.mark.full
def test_the_tangent_follows_it():
    craft = both()[0]
    run = {"step": 0.02, "t_end": 0.5}
    ds = ph.integrate(craft, "s4_6/kepler", tangent=True, **run, **START)
    h, moved = 1e-5, []
    for sign in (1, -1):
        start = START | {"position": R + sign * h * np.eye(3)[0]}
        moved.append(ph.integrate(craft, "s4_6/kepler", **run, **start))
    slope = (moved[0].angular_momentum[-1] - moved[1].angular_momentum[-1]).values / (2 * h)
    np.testing.assert_allclose(ds.state_transition.values[-1][9:, 0], slope, rtol=0, atol=1e-6)


def test_it_is_kept_in_files(tmp_path):
    craft = both()[0]
    ds = ph.integrate(craft, "v2/kepler", step=0.02, t_end=0.2, **START)
    ph.save(ds, tmp_path / "a.nc")
    again = ph.rerun(ph.load(tmp_path / "a.nc"))
    np.testing.assert_array_equal(again.attitude, ds.attitude)


def test_it_is_a_choice_of_yes_or_no():
    with pytest.raises(InvalidInput, match="gradient_of_forces"):
        ph.spacecraft(TENSOR, MU, gradient_of_forces="yes")
