"""Instants and time scales: against astropy, against each other, and what is refused."""

import datetime
import sys
from decimal import Decimal

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode import epochs
from polhode.epochs import LEAPS, SCALES, Epoch, epoch_of, instants, texts
from polhode.errors import InvalidInput, MissingExtra


@pytest.fixture
def astropy_time():
    """The module ``astropy.time``."""
    return pytest.importorskip("astropy.time", reason="astropy is not installed (extra 'astropy')")


@each(
    ("given", "scale", "since"),
    [
        ("2000-01-01", "UTC", "0"),
        ("2000-01-01T12:00", "UTC", "43200"),
        ("2000-01-01T00:00:00.123456789012 TDB", "TDB", "0.123456789012"),
        ("1999-12-31T23:59:59.5 tai", "TAI", "-0.5"),
        ("2000-001T00:00:01Z", "UTC", "1"),
        ("2000-01-01 01:00:00+01:00", "UTC", "0"),
        ("1999-12-31T22:30:00-01:30", "UTC", "0"),
        ("2016-12-31T23:59:59", "UTC", "536544003"),
        ("2016-12-31T23:59:60.25", "UTC", "536544004.25"),
        ("2017-01-01", "UTC", "536544005"),
        ("2017-01-01 TT", "TT", "536544000"),
        ("1972-01-01", "UTC", "-883612822"),
        ("2024-366", "UTC", "788918405"),
        (datetime.datetime(2000, 1, 1, 0, 0, 0, 250000), "UTC", "0.25"),
        (datetime.datetime(2000, 1, 1, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=2))), "UTC", "0"),
    ],
)
def test_what_is_read(given, scale, since):
    found = epoch_of(given)
    assert (found.scale, found.since) == (scale, Decimal(since))
    assert epoch_of(str(found)) == found


def test_a_scale_is_taken_only_where_none_is_given():
    assert epoch_of("2026-01-01", "TDB").scale == "TDB" and epoch_of("2026-01-01Z", "TDB").scale == "UTC"
    assert epoch_of("2026-01-01 TT", "TDB").scale == "TT"
    assert epoch_of(Epoch("TAI", Decimal(1)), "TDB") == Epoch("TAI", Decimal(1))


@each(
    ("given", "says"),
    [
        ("yesterday", "epoch is 'yesterday'; expected such as"),
        (3.0, "expected such as"),
        (None, "expected such as"),
        ("2026-02-30", "no such day"),
        ("2026-366", "no such day"),
        ("2026-01-01T24:00:00", "no such time of day"),
        ("2026-01-01T12:61:00", "no such time of day"),
        ("2026-01-01T12:00:61", "no such time of day"),
        ("2015-12-31T23:59:60", "no leap second was there"),
        ("2016-12-31T23:59:60 TAI", "no leap second was there"),
        ("2016-12-31T12:59:60", "no leap second was there"),
        ("1971-12-31T23:59:59", "before 1972"),
        ("2026-01-01T00:00:00 GPS", "unknown time scale in epoch"),
    ],
)
def test_what_is_no_instant(given, says):
    with pytest.raises(InvalidInput, match=says):
        epoch_of(given)
    with pytest.raises(InvalidInput, match="unknown time system 'GPS'"):
        epoch_of("2026-01-01", "GPS")


def test_a_leap_second_has_a_name_of_its_own():
    start = epoch_of("2016-12-31T23:59:58")
    rows = instants(start, [0.0, 1.0, 1.5, 2.0, 2.75, 3.0, 4.0], "UTC")
    assert [text[11:] for text in texts("UTC", rows, 2)] == [
        "23:59:58.00", "23:59:59.00", "23:59:59.50", "23:59:60.00", "23:59:60.75", "00:00:00.00", "00:00:01.00",
    ]  # fmt: skip
    atomic = texts("TAI", instants(start, [0.0, 3.0], "TAI"), 0)
    assert atomic == ["2017-01-01T00:00:34", "2017-01-01T00:00:37"]
    assert texts("UTC", [Decimal("536544003.9996")], 3) == ["2016-12-31T23:59:60.000"]  # rounded into it
    assert texts("TT", instants(epoch_of("2017-01-01 TAI"), [0.0], "TT"), 3) == ["2017-01-01T00:00:32.184"]


def test_nothing_of_a_double_is_lost():
    start = epoch_of("2026-01-01T00:00:00.000000000001")
    for t in (0.1, 86400.123456789, 1e-12, 3.0e9 + 1e-6, 2.0**-10):
        (found,) = instants(start, [t], "UTC")
        assert float(found - start.since) == t


def test_times_that_have_no_utc():
    with pytest.raises(InvalidInput, match="before 1972"):
        instants(epoch_of("1972-01-01"), [-1.0], "UTC")
    with pytest.raises(InvalidInput, match="before 1972"):
        instants(epoch_of("1960-01-01 TT"), [0.0], "UTC")


def test_tdb_needs_astropy_only_for_other_scales(monkeypatch):
    monkeypatch.setitem(sys.modules, "erfa", None)
    start = epoch_of("2026-01-01 TDB")
    assert instants(start, [1.5], "TDB") == [start.since + Decimal("1.5")]
    for scale in ("UTC", "TT"):
        with pytest.raises(MissingExtra, match=r"pip install 'polhode\[astropy\]'"):
            instants(start, [1.5], scale)
        with pytest.raises(MissingExtra, match="astropy"):
            instants(epoch_of(f"2026-01-01 {scale}"), [1.5], "TDB")


def test_tdb_without_astropy_is_within_ten_microseconds():
    """Of erfa 2.0's ``dtdb`` at the Earth's centre, at days from 2000-01-01."""
    days = np.array([-36000.25, -18000.7, 91.4, 1234.56, 9862.2, 36200.9])
    known = (6.8722487e-4, -1.60460868e-3, 1.63988837e-3, 1.16263884e-3, -7.690793e-5, 1.01308810e-3)
    np.testing.assert_allclose(epochs.tdb_less_tt(days * epochs.DAY), known, rtol=0, atol=1e-5)
    there = epochs.without_tdb(Epoch("TDB", Decimal(str(days[3])) * 86400))
    assert there.scale == "TT" and float(there.since) == pytest.approx(days[3] * 86400 - known[3], rel=0, abs=1e-5)
    assert epochs.without_tdb(there) is there


def test_all_scales_against_astropy(astropy_time):
    rng = np.random.default_rng(7)
    kinds = ([f"{rng.integers(1973, 2026)}-{rng.integers(1, 365):03d}" for _ in range(60)], LEAPS)
    for k, text in enumerate([*kinds[0], *kinds[1]]):
        at = rng.uniform(0, 86400) if k < 60 else rng.uniform(-2.5, 2.5)
        there = astropy_time.Time(text.replace("-", ":") if k < 60 else text, scale="utc")
        there = there + astropy_time.TimeDelta(at, format="sec")
        for scale in SCALES:
            given = getattr(there, scale.lower())
            found = epoch_of(given)
            assert found.scale == scale
            for other in SCALES:
                same = getattr(given, other.lower())
                (moved,) = instants(found, [0.0], other)
                assert abs(moved - epoch_of(same).since) <= Decimal("2e-9"), (text, scale, other)
                same.precision = 9
                (mine,) = texts(other, [epoch_of(same).since], 9)
                assert mine[:17] == same.isot[:17] and abs(float(mine[17:]) - float(same.isot[17:])) < 3e-9


def test_astropy_times_of_other_scales(astropy_time):
    t = astropy_time.Time("2020-06-01T12:00:00", scale="tcb")
    assert epoch_of(t).scale == "TDB" and abs(epoch_of(t).since - epoch_of(t.tdb).since) <= Decimal("1e-9")
    t = astropy_time.Time("2020-06-01T12:00:00", scale="tcg")
    assert epoch_of(t) == epoch_of(t.tt)
    with pytest.raises(InvalidInput, match="holds 2 times"):
        epoch_of(astropy_time.Time(["2020-01-01", "2020-01-02"]))
    with pytest.raises(InvalidInput, match="scale 'local'"):
        epoch_of(astropy_time.Time("2020-01-01", scale="local"))


def test_leap_seconds_are_those_of_the_iers(astropy_time):
    import erfa

    table = erfa.leap_seconds.get()
    known = [f"{row['year']}-{row['month']:02d}-01" for row in table if row["year"] >= 1972][1:]
    assert tuple(known[: len(LEAPS)]) == LEAPS
    assert len(epochs.STARTS) == len(LEAPS) and np.diff(epochs.STARTS).min() > 180 * 86400


def test_a_run_records_its_epoch():
    orbit = ph.orbit(1.0)
    ds = ph.integrate(
        orbit, step=0.1, steps=3, position=(1, 0, 0), velocity=(0, 1, 0), settings={"epoch": "2026-03-01 TDB"}
    )
    assert ds.attrs["epoch"] == "2026-03-01T00:00:00 TDB"
    assert ph.rerun(ds).attrs["epoch"] == ds.attrs["epoch"]
    plain = ph.integrate(orbit, step=0.1, steps=3, position=(1, 0, 0), velocity=(0, 1, 0))
    assert "epoch" not in plain.attrs and plain.position.equals(ds.position)
    with pytest.raises(InvalidInput, match="epoch is 'soon'"):
        ph.integrate(orbit, step=0.1, steps=3, position=(1, 0, 0), velocity=(0, 1, 0), settings={"epoch": "soon"})


# ------------------------------------------------------------------ quantities
def test_quantities_become_si(astropy_time):
    import astropy.units as u

    orbit = ph.orbit(398600.4415 * u.km**3 / u.s**2, mass=500 * u.g)
    assert orbit.arguments["mu"] == pytest.approx(398600.4415e9, rel=1e-15) and orbit.arguments["mass"] == 0.5
    ds = ph.integrate(
        orbit, "kepler" if "kepler" in ph.methods.METHODS else "v2/kepler", step=1 * u.min, t_end=1 * u.h,
        position=[7000, 0, 0] * u.km, velocity=[0, 7.5, 0] * u.km / u.s,
    )  # fmt: skip
    assert ds.attrs["units"] == "SI" and ds.position.attrs["units"] == "m" and ds.time[-1] == 3600.0
    plain = ph.integrate(
        ph.orbit(orbit.arguments["mu"], 0.5), ds.attrs["method"], step=60.0, t_end=3600.0,
        position=(7e6, 0, 0), velocity=(0, 7500.0, 0),
    )  # fmt: skip
    np.testing.assert_array_equal(ds.position, plain.position)
    with pytest.raises(InvalidInput, match=r"mu is a quantity in km, which does not turn into"):
        ph.orbit(3 * u.km)
    with pytest.raises(InvalidInput, match=r"velocity is a quantity in km"):
        ph.integrate(orbit, step=1.0, steps=1, position=(7e6, 0, 0), velocity=[1, 2, 3] * u.km)


def test_no_unit_is_dropped_in_silence(astropy_time):
    import astropy.units as u

    km = ph.forces.zonal(J2=1e-3, radius=6378 * u.km)
    assert km.arguments["radius"] == 6378e3
    table = ph.forces.third_body(1.0, times=[0, 1, 2, 3] * u.min, positions=np.ones((4, 3)) * u.km)
    assert table.arguments["times"] == [0.0, 60.0, 120.0, 180.0] and table.arguments["positions"][0] == [1e3] * 3
    assert ph.forces.uniform([1, 2, 3] * u.km / u.s**2).arguments["acceleration"] == [1e3, 2e3, 3e3]
    calls = {
        "radius": lambda: ph.forces.zonal(J2=1e-3, radius=6378 * u.s),
        "positions": lambda: ph.forces.third_body(1.0, times=[0, 1, 2, 3], positions=np.ones((4, 3)) * u.deg),
        "acceleration": lambda: ph.forces.uniform([1, 2, 3] * u.km),
        "attitude": lambda: ph.integrate(
            ph.free_body((1, 2, 3)), step=0.1, steps=1, attitude=[1, 0, 0, 0] * u.m, angular_velocity=(1, 1, 1)
        ),
    }
    for name, call in calls.items():
        with pytest.raises(InvalidInput, match=f"{name} is a quantity in"):
            call()
