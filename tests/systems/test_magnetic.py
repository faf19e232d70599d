"""The magnetic field against sums with mpmath and published coefficients, and dipoles in it."""

import mpmath
import numpy as np
import pytest

import polhode as ph
from each import each
from mp_harmonics import legendre
from public_calls import field_file

MU = ph.planets.EARTH.mu
BODY = (0.06, 0.05, 0.03)
START = {"position": (7e6, 0.0, 0.0), "velocity": (0.0, 5.0e3, 5.6e3), "angular_velocity": (0.01, 0.02, 0.03)}
SURFACE = 6371200.0


def by_angles(field, place):
    """Minus the gradient of the potential by Legendre functions, differentiated numerically in 30 digits."""
    with mpmath.workdps(30):

        def potential(x, y, z):
            r = mpmath.sqrt(x * x + y * y + z * z)
            total, phi, root = mpmath.mpf(0), mpmath.atan2(y, x), mpmath.sqrt(x * x + y * y) / r
            for (n, m), (g, h) in field.gauss.items():
                angles = g * mpmath.cos(m * phi) + h * mpmath.sin(m * phi)
                total += (SURFACE / r) ** (n + 1) * legendre(n, m, z / r, root, 2 if m else 1) * angles
            return SURFACE * total * mpmath.mpf("1e-9")

        at = [mpmath.mpf(float(x)) for x in place]
        return [-float(mpmath.diff(potential, at, tuple(int(i == k) for i in range(3)))) for k in range(3)]


@each("place", [(7e6, 0.0, 1e5), (-3e6, 4e6, 5e6), (1e5, -2e5, -6.9e6)])
@each(
    "make",
    [ph.surroundings.magnetic_field, lambda **more: ph.surroundings.magnetic_field("igrf", file=field_file(), **more)],
)
def test_the_field_is_minus_the_gradient_of_its_potential(make, place):
    field = make(rotation=0.0)
    np.testing.assert_allclose(field.at(0.0, place), by_angles(field, place), rtol=1e-12, atol=1e-18)


def test_axes_and_poles_of_the_dipole_of_2025():
    field = ph.surroundings.magnetic_field(rotation=0.0)
    at_equator, at_pole = field.at(0.0, [(SURFACE, 0.0, 0.0), (0.0, 0.0, SURFACE)]) * 1e9
    np.testing.assert_allclose(at_equator, (2 * -1410.3, -4545.5, 29350.0), rtol=1e-14)
    np.testing.assert_allclose(at_pole, (1410.3, -4545.5, 2 * -29350.0), rtol=1e-14)


def test_epochs_are_linear_between_models():
    early, middle, late = (
        ph.surroundings.magnetic_field(epoch=year).gauss[1, 0][0] for year in (2020, "2022-07-02T12:00", 2025.0)
    )
    assert (early, late) == (-29403.41, -29350.0)
    np.testing.assert_allclose(middle, (early + late) / 2, rtol=1e-12)


def test_it_turns_with_the_body():
    rate, angle, t = 7.292115e-5, 0.3, 5000.0
    there = np.array((5e6, 3e6, -4e6))
    c, s = np.cos(angle + rate * t), np.sin(angle + rate * t)
    R = np.array([(c, -s, 0), (s, c, 0), (0, 0, 1)])
    turned = ph.surroundings.magnetic_field(rotation=rate, angle=angle).at(t, R @ there)
    np.testing.assert_allclose(turned, R @ ph.surroundings.magnetic_field(rotation=0.0).at(0.0, there), rtol=1e-13)


def test_the_axis_may_be_tilted():
    field = ph.surroundings.magnetic_field(coefficients=(-3e4, 0.0, 0.0), axis=(1.0, 0.0, 0.0), rotation=0.0)
    np.testing.assert_allclose(field.at(0.0, (SURFACE, 0.0, 0.0)), (-6e-5, 0.0, 0.0), rtol=0, atol=1e-18)


def test_igrf_of_ppigrf():
    ppigrf = pytest.importorskip("ppigrf")
    import datetime

    field = ph.surroundings.magnetic_field("igrf", epoch=2025.0, rotation=0.0)
    angles = np.linspace(0.1, 3.0, 20)
    theta, phi, r = angles, 2.0 * angles, 6.4e6 + 1e5 * angles
    out = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=-1)
    expected = ppigrf.igrf_gc(r / 1e3, np.degrees(theta), np.degrees(phi), datetime.datetime(2025, 1, 1))[0][0]
    np.testing.assert_allclose(
        np.sum(field.at(0.0, r[:, None] * out) * out, axis=-1) * 1e9, expected, rtol=0, atol=1e-6
    )


def craft(**more):
    field = {"kind": "igrf", "file": field_file()}
    return ph.spacecraft(BODY, MU, 4.0, magnetic_field=field, dipoles=[{"moment": (0.1, 0.0, 0.3)}], **more)


def test_the_torque_is_moment_times_field_and_its_work_is_booked():
    ds = ph.integrate(craft(), step=2.0, t_end=600.0, **START)
    assert list(ds.force.values) == ["dipoles"]
    assert abs(ds.energy_error).max() < 1e-13
    field = ph.surroundings.magnetic_field("igrf", file=field_file())
    work = ds.work.sel(force="dipoles")
    B = ph.rotation.rotate_inverse(ds.attitude.values, field.at(ds.time.values, ds.position.values))
    power = np.sum(np.cross((0.1, 0.0, 0.3), B) * ds.angular_velocity.values, axis=-1)
    slope = np.gradient(work.values, ds.time.values, edge_order=2)
    np.testing.assert_allclose(slope[5:-5], power[5:-5], rtol=0, atol=3e-3 * abs(power).max())
    attitude = ds.attitude_energy - ds.attitude_energy[0]
    assert abs(attitude).max() > 1e-7


def test_moments_add_up_in_the_users_axes():
    tensor = np.array([(0.05, 0.004, 0.0), (0.004, 0.06, 0.002), (0.0, 0.002, 0.03)])
    one = ph.spacecraft(tensor, MU, magnetic_field={}, dipoles=[ph.systems.magnetic_dipole((0.1, 0.2, 0.3))])
    two = ph.spacecraft(tensor, MU, magnetic_field=ph.surroundings.magnetic_field(),
                        dipoles=[ph.systems.magnetic_dipole((0.1, 0.0, 0.3)), {"moment": (0.0, 0.2, 0.0)}])  # fmt: skip
    ends = [ph.integrate(s, step=5.0, t_end=100.0, **START).attitude.values for s in (one, two)]
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-14)


def test_derivatives_of_runs_in_the_field():
    run = {"method": "mkrk:rk4", "step": 5.0, "t_end": 100.0}
    ds = ph.integrate(craft(), tangent=True, **run, **START)
    d = 1e-6
    ends = [ph.integrate(craft(), **run, **{**START, "angular_velocity": (0.01 + s, 0.02, 0.03)}) for s in (d, -d)]
    slopes = (ends[0].angular_momentum[-1] - ends[1].angular_momentum[-1]).values / (2 * d * BODY[0])
    rows = [f"angular_momentum_{axis}" for axis in "xyz"]
    found = ds.state_transition[-1].sel(row=rows, column="angular_momentum_x").values
    np.testing.assert_allclose(found, slopes, rtol=0, atol=1e-6 * abs(slopes).max())


def test_a_field_without_dipoles_does_nothing():
    bare, around = (ph.spacecraft(BODY, MU, 4.0, **more) for more in ({}, {"magnetic_field": {}}))
    assert around.conserves[:1] == bare.conserves[:1] == ("energy",)


@each(
    ("call", "told"),
    [
        (lambda: ph.surroundings.magnetic_field(epoch=1800), "1900 to 2030"),
        (lambda: ph.surroundings.magnetic_field(epoch="soon"), "not a date"),
        (lambda: ph.surroundings.magnetic_field("moon"), "kind"),
        (lambda: ph.surroundings.magnetic_field(degree=3), "kind='igrf'"),
        (lambda: ph.surroundings.magnetic_field("igrf", file=field_file(), degree=3), "ends at 2"),
        (lambda: ph.surroundings.magnetic_field(coefficients=(0, 0, 0)), "not all zero"),
        (lambda: ph.surroundings.magnetic_field(axis=(0, 0, 0)), "axis"),
        (lambda: ph.surroundings.magnetic_field().at(0.0, (1.0, 2.0)), "position"),
        (lambda: ph.surroundings.magnetic_field().at([0.0, 1.0], [(7e6, 0, 0)] * 3), "does not fit"),
        (lambda: ph.spacecraft(BODY, MU, dipoles=[{"moment": (0, 0, 1)}]), "no magnetic_field"),
        (lambda: ph.spacecraft(BODY, MU, magnetic_field=3), "magnetic_field must be"),
        (lambda: ph.spacecraft(BODY, MU, magnetic_field={"epoch": 1800}), "magnetic_field: epoch"),
    ],
)
def test_wrong_input_gets_a_sentence(call, told):
    with pytest.raises(ph.errors.InvalidInput, match=told):
        call()


def test_files_that_are_no_coefficients(tmp_path):
    wrong = tmp_path / "wrong.shc"
    wrong.write_text("nothing")
    for file in (wrong, tmp_path / "none.shc"):
        with pytest.raises(ph.errors.FileProblem, match=file.name):
            ph.surroundings.magnetic_field("igrf", file=str(file))


SMALL = "# mine\n1 2 2 2 1 2020.0 2025.0\n2020.0 2025.0\n" + "".join(
    f"{n} {m} {10.0 * n + m} {11.0 * n + m}\n"
    for n in (1, 2)
    for m in (0, *(s * k for k in range(1, n + 1) for s in (1, -1)))
)


TORN = {
    "degree": SMALL[: SMALL.index("2 0")],
    "row": SMALL[:-5],
    "far": SMALL.replace("2 2 ", "7000000 2 "),
    "head": "1 2 2",
}


@each("what", TORN)
def test_torn_files_of_coefficients(what, tmp_path):
    (tmp_path / "mine.shc").write_text(TORN[what])
    with pytest.raises(ph.errors.FileProblem, match=r"mine.shc is no whole .shc file"):
        ph.surroundings.magnetic_field("igrf", epoch=2022.5, file=str(tmp_path / "mine.shc"))


def test_a_file_of_your_own(tmp_path):
    (tmp_path / "mine.shc").write_text(SMALL)
    field = ph.surroundings.magnetic_field("igrf", epoch=2022.5, file=str(tmp_path / "mine.shc"))
    assert np.abs(field.at(0.0, (7e6, 0.0, 1e5))).max() > 1e-9


def test_without_ppigrf_one_sentence(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ppigrf", None)
    with pytest.raises(ph.errors.MissingExtra, match=r"polhode\[magnetic\]"):
        ph.surroundings.magnetic_field("igrf")
