"""What has a file or a model behind it: where it was changed, in memory or on disk, a run is repeated as it was, or not
at all."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from polhode.errors import InvalidInput
from polhode.surroundings.air import Air
from polhode.surroundings.magnetic import field_of

EARTH = ph.planets.EARTH
EPOCH = "2026-03-20T12:00:00 UTC"
START = {"position": (7e6, 0.0, 1e6), "velocity": (0.0, 5e3, 5e3)}


def orbit(force):
    return ph.orbit(EARTH.mu, forces=[force])


def run(system, **words):
    return ph.integrate(system, "rkn6_14a", step=60.0, steps=3, **START, **words)


def stronger(field):
    C = np.array(field.C)
    C[2, 0] *= 2.0
    return replace(field, C=C)


def test_a_gravity_field_changed_in_memory_is_run_but_not_repeated():
    shipped = ph.surroundings.gravity_field("egm2008")
    force = ph.forces.gravity_field(stronger(shipped), degree=4)
    changed, plain = run(orbit(force)), run(orbit(ph.forces.gravity_field(shipped, degree=4)))
    assert np.abs(changed.position - plain.position).max() > 1.0
    assert ph.rerun(plain).position.equals(plain.position)
    assert ph.forces.gravity_field(shipped).arguments == ph.forces.gravity_field("egm2008").arguments
    assert "digest" not in ph.forces.gravity_field(shipped).arguments
    for again in (
        lambda: ph.rerun(changed),
        lambda: ph.fit(orbit(force), {"position": (changed.time, changed.position)}, ["position", "mu"], "rkn6_14a",
                       noise=1.0, step=60.0, **START),
    ):  # fmt: skip
        with pytest.raises(InvalidInput, match=r"changed in memory or made there.*write its coefficients to a .gfc"):
            again()


def test_a_gravity_field_of_ones_own_making_is_not_repeated():
    C = np.zeros((3, 3))
    C[2, 0] = -4.8e-4
    own = ph.surroundings.gravity_fields.GravityField("mine", EARTH.mu, 6.378e6, C, np.zeros((3, 3)), source="egm2008")
    with pytest.raises(InvalidInput, match="changed in memory or made there"):
        ph.rerun(run(orbit(ph.forces.gravity_field(own))))


def test_tables_and_models_that_were_changed_are_refused():
    sun = ph.surroundings.ephemeris("sun", EPOCH, 86400.0, tolerance=1e3)
    with pytest.raises(
        InvalidInput, match=r"polhode.surroundings.ephemeris made was changed.*give its numbers as times and posit"
    ):
        ph.forces.third_body(ephemeris=replace(sun, positions=1.01 * sun.positions))
    with pytest.raises(ValueError, match="read-only"):
        sun.positions[0] = 0.0
    with pytest.raises(InvalidInput, match="cannot be changed"):
        sun.arguments["tolerance"] = 1.0
    np.testing.assert_array_equal(
        ph.surroundings.ephemeris("sun", EPOCH, 86400.0, tolerance=1e3).positions, sun.positions
    )
    dipole = ph.surroundings.magnetic_field()
    with pytest.raises(InvalidInput, match=r"polhode.surroundings.magnetic_field made was changed"):
        field_of(replace(dipole, numbers=tuple(2 * x for x in dipole.numbers)))
    assert field_of(dipole) is dipole
    with pytest.raises(InvalidInput, match=r"polhode.surroundings.nrlmsis made was changed"):
        ph.forces.drag(coefficient=0.01, air=Air({"epoch": EPOCH}, (0.0,) * 9, 0.0, 0.0))


def test_a_magnetic_field_whose_file_was_changed_is_refused(tmp_path):
    file = tmp_path / "own.shc"
    text = "1 1 2 2 0\n2020.0 2030.0\n1 0 -29000 -29000\n1 1 -1500 -1500\n1 -1 4700 4700\n"
    file.write_text(text)
    field = ph.surroundings.magnetic_field("igrf", file=str(file))
    assert len(field.arguments["digest"]) == 64
    again = ph.surroundings.magnetic_field(**field.arguments)
    assert again == field
    file.write_text(text.replace("-29000", "-28000"))
    with pytest.raises(InvalidInput, match="not the file that this run was made with: its SHA-256 differs"):
        ph.surroundings.magnetic_field(**field.arguments)
    assert ph.surroundings.magnetic_field("igrf", file=str(file)).gauss[1, 0] == (
        -28000.0,
        0.0,
    )  # and no cache has the old one


def test_an_ephemeris_whose_file_was_changed_is_refused(tmp_path):
    file = tmp_path / "de.bsp"
    file.write_bytes(b"DAF/SPK")
    with pytest.raises(InvalidInput, match="not the file that this run was made with: its SHA-256 differs"):
        ph.surroundings.ephemeris("mars", EPOCH, 86400.0, source=str(file), digest="0" * 64)
