"""Two-line elements: published values of SGP4, axes against astropy, runs from them, and what is refused."""

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.errors import InvalidInput

pytest.importorskip("sgp4")
VANGUARD = """1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753
2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667"""
ISS = """ISS (ZARYA)
1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927
2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537"""
EARTH = ph.planets.EARTH


def summed(lines):
    """Lines with the checksums they need."""
    name, *rows = lines.splitlines()
    sums = [sum(int(c) if c.isdigit() else c == "-" for c in row[:68]) % 10 for row in rows]
    return "\n".join([name, *(f"{row[:68]}{total}" for row, total in zip(rows, sums, strict=True))])


def test_published_values():
    """Of the verification run of [vallado2006], km and km/s; minutes from the epoch."""
    r, v = ph.initial.tle(VANGUARD).at([0.0, 360.0 * 60.0], "TEME")
    np.testing.assert_allclose(r[0], np.array((7022.46529266, -1400.08296755, 0.03995155)) * 1e3, rtol=0, atol=0.01)
    np.testing.assert_allclose(v[0], np.array((1.893841015, 6.405893759, 4.534807250)) * 1e3, rtol=0, atol=1e-5)
    np.testing.assert_allclose(
        r[1], np.array((-7154.03120202, -3783.17682504, -3536.19412294)) * 1e3, rtol=0, atol=0.01
    )
    np.testing.assert_allclose(v[1], np.array((4.741887409, -4.151817765, -2.093935425)) * 1e3, rtol=0, atol=1e-5)


def test_epoch_name_and_drag_term():
    one = ph.initial.tle(ISS)
    assert (one.name, one.epoch, one.bstar) == ("ISS (ZARYA)", "2008-09-20T12:25:40.104192 UTC", -1.1606e-5)
    assert ph.initial.tle(*VANGUARD.splitlines()).epoch.startswith("2000-06-27T18:50:19.7") and "00005" in repr(
        ph.initial.tle(VANGUARD)
    )


@each("year", ["90", "00", "08", "26", "50"])
def test_axes_are_those_of_astropy(year):
    pytest.importorskip("astropy")
    import warnings

    from astropy import units
    from astropy.coordinates import GCRS, TEME, CartesianDifferential, CartesianRepresentation
    from astropy.time import Time
    from astropy.utils import iers

    first, second = ISS.splitlines()[1:]
    first = first[:18] + year + first[20:68]
    one = ph.initial.tle(first + str(sum(int(c) if c.isdigit() else c == "-" for c in first) % 10), second)
    times = np.linspace(0.0, 86400.0, 20)
    (r, v), (ours, speeds) = one.at(times, "TEME"), one.at(times)
    old = iers.conf.set_temp("auto_max_age", None), iers.conf.set_temp("iers_degraded_accuracy", "ignore")
    with warnings.catch_warnings(), iers.conf.set_temp("auto_download", False), old[0], old[1]:
        warnings.simplefilter("ignore")
        when = Time(one.epoch[:-4], scale="utc") + times * units.s
        change = CartesianDifferential(v.T * units.m / units.s)
        there = TEME(CartesianRepresentation(r.T * units.m).with_differentials(change), obstime=when)
        theirs = there.transform_to(GCRS(obstime=when))
        np.testing.assert_allclose(ours, theirs.cartesian.xyz.to_value("m").T, rtol=0, atol=3.7)
        np.testing.assert_allclose(speeds, theirs.velocity.d_xyz.to_value("m/s").T, rtol=0, atol=0.0042)


def test_a_run_from_elements_stays_near_sgp4():
    """Two revolutions with the zonal terms of the theory, in its axes; its periodic terms are of first order."""
    one = ph.initial.tle(ISS)
    model = ph.orbit(EARTH.mu, forces=[ph.forces.zonal(**EARTH.zonal)])
    ds = ph.integrate(model, "rkn6_14a/kepler", step=20.0, t_end=11000.0, every=50, **one.start(frame="TEME"))
    theirs = one.at(ds.time, "TEME")[0]
    assert np.linalg.norm(ds.position - theirs, axis=1).max() < 5e3


@each(("lines", "told"), [
    (ISS.replace("2927", "2928"), "line 1 has the checksum 8, but its characters have 7"),
    (ISS.replace("51.6416", "51.6417"), "line 2 has the checksum 7"),
    (ISS.splitlines()[0], "lines are 1; give two"),
    (ISS.splitlines()[2] + "\n" + ISS.splitlines()[1], "line 1 is .* it must begin with 1"),
    (ISS.splitlines()[1] + "\n" + VANGUARD.splitlines()[1], "the lines are of two satellites, 25544 and 00005"),
    (summed(ISS.replace("51.6416", "51,6416")), "line 2 has ' 51,6416' in columns 9 to 16, where the inclination"),
    (summed(ISS.replace(".51782528", ".5178x528")), "line 1 has '264.5178x528' in .* where the day of the year"),
    (summed(ISS.replace("-11606-4", "-116 6-4")), "line 1 has '-116 6-4' in columns 54 to 61, where the drag term"),
    (7, "lines must be the two lines as text"),
])  # fmt: skip
def test_what_is_wrong_is_said(lines, told):
    with pytest.raises(InvalidInput, match=told):
        ph.initial.tle(lines)


def test_a_satellite_that_has_decayed():
    with pytest.raises(InvalidInput, match="SGP4 has no position at t = "):
        fast = ISS.replace("-11606-4 0  2927", " 99999-1 0  2925").splitlines()
        row = fast[1][:68]
        ph.initial.tle(row + str(sum(int(c) if c.isdigit() else c == "-" for c in row) % 10), fast[2]).at(5e8)
