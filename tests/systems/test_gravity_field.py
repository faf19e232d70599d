"""Spherical harmonic gravity: against sums in many digits, at the poles too; files of fields; rotation and work."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import polhode as ph
from acting import acting
from each import each
from mp_harmonics import legendre
from polhode.errors import InvalidInput
from polhode.surroundings.gravity_fields import GravityField, gravity_of_harmonics, pulled, slopes_of_harmonics

MU = 3.986004415e14
EGM = ph.surroundings.gravity_field("egm2008")
START = {"position": (7e6, 0.0, 1e5), "velocity": (0.0, 5400.0, 5400.0)}


def random_field(degree):
    """Coefficients of the size that Kaula's rule gives."""
    rng = np.random.default_rng(degree)
    C, S = (np.tril(rng.normal(size=(degree + 1, degree + 1))) for _ in range(2))
    size = 1e-5 / np.maximum(np.arange(degree + 1.0), 1.0)[:, None] ** 2
    C, S = C * size, S * size
    C[:2], S[:2], S[:, 0] = 0.0, 0.0, 0.0
    return GravityField("random", MU, 6378136.3, C, S)


def level(field, x, angle, degree):
    """The potential in many digits."""
    c, s = mp.cos(angle), mp.sin(angle)
    x = [c * x[0] + s * x[1], c * x[1] - s * x[0], x[2]]
    r = mp.sqrt(sum(one * one for one in x))
    u, root = x[2] / r, mp.sqrt(x[0] ** 2 + x[1] ** 2) / r
    longitude = mp.atan2(x[1], x[0]) if root else mp.mpf(0)
    turns = [(mp.cos(m * longitude), mp.sin(m * longitude)) for m in range(degree + 1)]
    total = mp.mpf(0)
    for n in range(2, degree + 1):
        for m, (cosine, sine) in enumerate(turns[: n + 1]):
            angles = float(field.C[n, m]) * cosine + float(field.S[n, m]) * sine
            total += (mp.mpf(field.radius) / r) ** n * legendre(n, m, u, root, (2 - (m == 0)) * (2 * n + 1)) * angles
    return -mp.mpf(field.mu) / r * total


def pull(field, x, angle, degree):
    with mp.workdps(degree + 40):
        h = mp.mpf(10) ** -15 * 7e6
        found = []
        for k in range(3):
            ends = []
            for sign in (1, -1):
                near = [mp.mpf(float(one)) for one in x]
                near[k] += sign * h
                ends.append(level(field, near, mp.mpf(angle), degree))
            found.append(float((ends[1] - ends[0]) / (2 * h)))
        return np.array(found)


PLACES = {
    "somewhere": (5e6, -3e6, 4e6),
    "pole": (0.0, 0.0, 6.6e6),
    "near it": (-3.0, 2.0, -6.9e6),
    "equator": (6.5e6, 1e6, 0.0),
}
CASES = [(2, name) for name in PLACES] + [(20, "somewhere"), (20, "pole"), (30, "near it")] + [
    pytest.param(*case, marks=pytest.mark.full)
    for case in ((20, "near it"), (20, "equator"), (70, "near it"), (200, "somewhere"), (200, "near it"))
]  # fmt: skip


@each(("degree", "place"), CASES)
def test_it_is_the_gradient_of_the_sum(degree, place):
    field = EGM if degree <= 20 else random_field(degree)
    force, x = ph.forces.gravity_field(field, degree=degree, rotation=1e-4, angle=0.3), PLACES[place]
    p, t = np.array([7.0, *force.load.parameters["numbers"]]), 1234.5
    found = np.array(pulled(p, 1, t, x))
    expected = pull(field, x, 0.3 + 1e-4 * t, degree)
    assert_allclose(found, expected, rtol=0, atol=3e-15 * degree * np.abs(expected).max())
    with mp.workdps(degree + 40):
        V = float(level(field, [mp.mpf(one) for one in x], mp.mpf(0.3 + 1e-4 * t), degree))
    assert gravity_of_harmonics(p, 1, t, x) == pytest.approx(V, rel=1e-13)
    h = 1e-2  # of time
    slopes = [gravity_of_harmonics(p, 1, t + k * h, x) for k in (-2, -1, 1, 2)]
    rate = (slopes[0] - 8 * slopes[1] + 8 * slopes[2] - slopes[3]) / (12 * h)
    assert slopes_of_harmonics(p, 1, t, x)[0] == pytest.approx(rate, rel=1e-5, abs=abs(V) * 1e-12)


def of_field(force, r):
    """Its acceleration at time 0."""
    return np.array(pulled(np.array(force.load.parameters["numbers"]), 0, 0.0, r))


def test_zonal_terms_are_those_of_zonal():
    J = {f"J{n}": -np.sqrt(2 * n + 1) * EGM.C[n, 0] for n in range(2, 7)}
    r = (7e6, 1e6, 3e6)
    one, other = ph.forces.zonal(radius=EGM.radius, **J), ph.forces.gravity_field(EGM, degree=6, order=0)
    found = of_field(other, r)
    expected = acting(one, r, mu=MU)["force"]
    assert_allclose(found, expected, rtol=0, atol=4e-15 * np.abs(expected).max())
    assert other.autonomous and ph.orbit(MU, forces=[other]).conserves == ("energy", "vertical_angular_momentum")
    tilted = ph.forces.gravity_field(EGM, degree=6, order=0, axis=(1, 2, 3))
    zonal = ph.forces.zonal(radius=EGM.radius, axis=(1, 2, 3), **J)
    assert_allclose(of_field(tilted, r), acting(zonal, r, mu=MU)["force"], rtol=1e-12)


@each("method", ["rkn6_14a/kepler", "s6_10", "mkrk:cv8"])
def test_the_work_of_the_rotation_balances_the_energy(method):
    system = ph.orbit(MU, forces=[ph.forces.gravity_field(EGM, degree=12)])
    ds = ph.integrate(system, method, step=20.0, t_end=20000.0, every=100, **START)
    assert np.abs(ds.energy_error.values).max() < (1e-12 if method == "rkn6_14a/kepler" else 1e-9)
    jacobi = ds.energy.values - EGM.rotation * ds.angular_momentum_space.values[:, 2]
    assert np.abs(jacobi / jacobi[0] - 1.0).max() < (1e-11 if method == "rkn6_14a/kepler" else 1e-9)
    assert abs(ds.energy_change.values).max() > 1e-7 * abs(ds.energy.values[0])


def test_derivatives_go_through_the_sums():
    system = ph.orbit(MU, forces=[ph.forces.gravity_field(EGM, degree=8)])
    words = {"step": 30.0, "steps": 20, "every": 20}
    P = ph.integrate(system, "mkrk:cv8", tangent=True, **words, **START).state_transition.values[-1]
    assert np.linalg.det(P) == pytest.approx(1.0, abs=1e-12)

    def end(shift):
        ds = ph.integrate(system, "mkrk:cv8", **words, **START | {"position": (7e6 + shift, 0.0, 1e5)})
        return np.concatenate([ds.position.values[-1], ds.momentum.values[-1]])

    weights = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
    expected = sum(w * (end(1e3 * k) - end(-1e3 * k)) for k, w in weights) / 1e3
    assert_allclose(P[:, 0], expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_low_degrees_are_programs_and_high_ones_are_for_taylor_series_alone():
    low = ph.orbit(MU, forces=[ph.forces.gravity_field(EGM, degree=2)])
    high = ph.orbit(MU, forces=[ph.forces.gravity_field(EGM)])
    assert low.dynamics.traced and "sums terms to degree 20" in high.dynamics.reason
    words = {"step": 60.0, "t_end": 6000.0, "every": 100}
    one = ph.integrate(low, "taylor16", **words, **START)
    other = ph.integrate(low, "s6_10/kepler", **words | {"step": 10.0, "every": 600}, **START)
    assert_allclose(one.position.values[-1], other.position.values[-1], rtol=1e-10)
    one = ph.integrate(high, "taylor16", **words, **START)
    other = ph.integrate(high, "rkn8_17", **words | {"step": 5.0, "every": 1200}, **START)
    assert_allclose(one.position.values[-1], other.position.values[-1], rtol=0, atol=1e-4)


def test_a_spacecraft_is_repeated_from_its_file(tmp_path):
    path = tmp_path / "mine.gfc"
    path.write_text(SMALL)
    craft = ph.spacecraft((10, 14, 18), MU, 50.0, forces=[ph.forces.gravity_field(str(path))])
    ds = ph.integrate(craft, "rkn6_14a/kepler", step=10.0, steps=20, angular_velocity=(0.01, 0.0, 0.02), **START)
    ph.save(ds, tmp_path / "run.nc")
    assert_array_equal(ph.rerun(ph.load(tmp_path / "run.nc")).position.values, ds.position.values)
    path.write_text(SMALL.replace("2.439", "2.5"))
    with pytest.raises(InvalidInput, match="is not the file that this run was made with"):
        ph.rerun(ph.load(tmp_path / "run.nc"))


# ------------------------------------------------------------------ files
SMALL = """made for a test
product_type gravity_field
modelname SMALL
earth_gravity_constant 0.3986004415D+15
radius 6378136.3
max_degree 3
norm fully_normalized
tide_system zero_tide
end_of_head ===
gfc 0 0 1.0 0.0
gfc 2 0 -4.841D-04 0.0 1e-12 1e-12
gfc 2 2 2.439e-06 -1.4e-06
gfc 3 1 2.03e-06 2.48e-07
"""


def written(tmp_path, text):
    path = tmp_path / "field.gfc"
    path.write_text(text)
    return ph.surroundings.gravity_field(path)


def test_fields_are_read(tmp_path):
    field = written(tmp_path, SMALL)
    assert (field.name, field.tide, field.degree, field.mu) == ("SMALL", "zero_tide", 3, 3.986004415e14)
    assert field.C[2, 0] == -4.841e-4 and field.S[3, 1] == 2.48e-7 and field.C[0, 0] == 0.0 and field.C[3, 3] == 0.0
    assert EGM.C[20, 20] == 0.373507214738094e-8 and EGM.rotation == ph.planets.EARTH.rotation


def test_unnormalised_coefficients_are_normalised(tmp_path):
    text = SMALL.replace("fully_normalized", "unnormalized").replace("-4.841D-04", "-1.0826D-03")
    field = written(tmp_path, text)
    assert field.C[2, 0] == pytest.approx(-1.0826e-3 / np.sqrt(5.0), rel=1e-15)
    assert field.C[2, 2] == pytest.approx(2.439e-6 / np.sqrt(10.0 / 24.0), rel=1e-15)


def test_coefficients_that_change_are_those_of_the_epoch(tmp_path):
    text = SMALL + ("gfct 3 0 9.5e-07 0.0 1e-12 1e-12 20050101\ntrnd 3 0 1e-11 0.0 0 0\n"
                    "acos 3 0 2e-11 0.0 0 0 1.0\nasin 3 0 3e-11 0.0 0 0 1.0\n")  # fmt: skip
    with pytest.raises(InvalidInput, match="line 14: coefficients change with time; give epoch, the decimal year"):
        written(tmp_path, text)
    (tmp_path / "t.gfc").write_text(text)
    field = ph.surroundings.gravity_field(tmp_path / "t.gfc", epoch=2007.25)
    assert field.C[3, 0] == pytest.approx(9.5e-7 + 2.25e-11 + 3e-11, rel=1e-9)


INTERVALS = (
    SMALL
    + """gfct 3 0 1e-06 0.0 1e-12 1e-12 20000101 20100101
trnd 3 0 1e-09 0.0 0 0 20000101 20100101
acos 3 0 2e-09 0.0 0 0 20000101 20100101 0.5
gfct 3 0 2e-06 0.0 1e-12 1e-12 20100101 20200101
trnd 3 0 5e-09 0.0 0 0 20100101 20200101
acos 3 0 3e-09 0.0 0 0 20100101 20200101 0.5
"""
)


def test_coefficients_of_intervals(tmp_path):
    """In the format icgem2.0; the trend and the periods are those of the interval of the epoch alone."""
    (tmp_path / "t.gfc").write_text(INTERVALS)
    for epoch, expected in ((2007.125, 1e-6 + 7.125e-9), (2012.25, 2e-6 + 11.25e-9 - 3e-9)):
        assert ph.surroundings.gravity_field(tmp_path / "t.gfc", epoch=epoch).C[3, 0] == pytest.approx(
            expected, rel=1e-12
        )
    for epoch in (1999.0, 2021.0):
        with pytest.raises(InvalidInput, match="line 14: coefficients of degree 3 and order 0 are not given for epoch"):
            ph.surroundings.gravity_field(tmp_path / "t.gfc", epoch=epoch)


TORN = {
    "has coefficients to degree 2, but max_degree 3; it may be torn": SMALL[: SMALL.index("gfc 3 1")],
    "line 15, the last one, has fewer numbers than that before": SMALL + "gfc 3 2 1 0 0 0\ngfc 3 3 1 0",
    "line 16, has no period": INTERVALS.replace("20100101 0.5", "20100101"),
    "line 14, has 20051301, which is no date": SMALL + "gfct 3 0 1e-7 0 0 0 20051301",
    "line 14, .*numbers that are not finite": SMALL + "gfct 3 0 1e-7 0 0 0 1e999",
    "line 14, is the change of a coefficient of degree 3 and order 0 before": SMALL + "trnd 3 0 1e-7 0 0 0",
}


@each("said", TORN)
def test_torn_files_that_change(said, tmp_path):
    (tmp_path / "t.gfc").write_text(TORN[said])
    with pytest.raises(InvalidInput, match=said):
        ph.surroundings.gravity_field(tmp_path / "t.gfc", epoch=2005.0)


WRONG = {
    "line 11, has no degree, order and two numbers": SMALL.replace("-4.841D-04", "minus"),
    "line 12, has degree 2 and order 3": SMALL.replace("gfc 2 2", "gfc 2 3"),
    "line 12, begins with 'gfx'": SMALL.replace("gfc 2 2", "gfx 2 2"),
    "has no line end_of_head": SMALL.replace("end_of_head", "end"),
    "has no radius": SMALL.replace("radius", "breadth"),
    "has the norm 'schmidt'": SMALL.replace("fully_normalized", "schmidt"),
    "has the product_type 'topography'": SMALL.replace("gravity_field", "topography"),
    "coefficients of degree 1": SMALL + "gfc 1 0 1e-6 0.0\n",
    "no coefficients behind end_of_head": SMALL[: SMALL.index("gfc 0")],
}


@each("said", WRONG)
def test_torn_and_foreign_files_are_named_by_line(said, tmp_path):
    with pytest.raises(InvalidInput, match=said):
        written(tmp_path, WRONG[said])


REFUSED = {
    "degree is 30, but EGM2008 has 20": lambda: ph.forces.gravity_field("egm2008", degree=30),
    "order is 5, more than the degree 4": lambda: ph.forces.gravity_field("egm2008", degree=4, order=5),
    "of a centre with the gravity parameter": lambda: ph.orbit(4.9e12, forces=[ph.forces.gravity_field("egm2008")]),
    "cannot be read: No such file": lambda: ph.forces.gravity_field("nowhere.gfc"),
    "rotation is missing": lambda: ph.forces.gravity_field(GravityField("x", 1.0, 1.0, EGM.C, EGM.S)),
    "source must be 'egm2008' or the path": lambda: ph.surroundings.gravity_field(3),
}


@each("said", REFUSED)
def test_wrong_arguments_are_refused(said):
    with pytest.raises(InvalidInput, match=said):
        REFUSED[said]()
