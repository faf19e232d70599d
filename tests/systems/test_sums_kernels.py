"""Loads and surroundings whose kernels a sum calls as they are: gravity fields, models of the air and of the field."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from cover import some
from each import each
from polhode.errors import PolhodeError
from polhode.programs.text import HEAD
from polhode.surroundings.gravity_fields import gravity_of_harmonics
from public_calls import field_file

MU, RATE = 3.986004415e14, 7.292115e-5
LOW = {"position": (6878e3, 0.0, 0.0), "velocity": (0.0, 5383.0, 5383.0)}
RUN = {"step": 5.0, "steps": 400, "every": 100}
INERTIA = (5.0, 4.0, 3.0)
SPIN = {"angular_velocity": (0.01, 0.02, 0.03)}


def craft(*loads, **around):
    return ph.system(ph.body("bus", 120.0, INERTIA), ph.loads.central(MU), *loads, surroundings=around)


@each("how", [{"degree": 12}, {"degree": 12, "rotation": 0.0}, {"degree": 12, "order": 0}, {"degree": 2, "angle": 0.4}])
def test_harmonics_are_those_of_an_orbit(how):
    ours, built = (craft(ph.loads.harmonics("egm2008", **how)),
                   ph.orbit(MU, mass=120.0, forces=[ph.forces.gravity_field("egm2008", **how)]))  # fmt: skip
    assert ours.conserves == built.conserves  # a body that turns, and a point
    assert (ours.recommended, built.recommended) == ("rkn6_14a/kepler", "abah10_6_4/kepler")
    free = ph.integrate(craft(), **RUN, **LOW).position.values[-1]
    for method in ("rkn6_14a/kepler", "mkrk:cv8"):
        a, b = (ph.integrate(one, method, **RUN, **LOW) for one in (ours, built))
        assert abs(a.position.values - b.position.values).max() < 1e-14 * 6878e3, method
        assert abs(a.position.values[-1] - free).max() > 1e-6 * 6878e3
        assert float(abs(a.energy_error).max()) < 1e-13
        assert ("work" in a) == ("work" in b)
        if "work" in a:
            assert a.work.values[-1] == pytest.approx(b.work.values[-1], rel=1e-11)
    again = ph.system(**ours.arguments)
    assert again.arguments == ours.arguments and np.array_equal(again.parameters, ours.parameters)


def of_degree_8():
    return (ph.system(ph.body("a", 120.0), ph.loads.central(MU), ph.loads.harmonics("egm2008", degree=8)),
            ph.orbit(MU, mass=120.0, forces=[ph.forces.gravity_field("egm2008", degree=8)]))  # fmt: skip


@pytest.mark.full
def test_derivatives_of_harmonics_are_those_of_an_orbit():
    ends = []
    for one in of_degree_8():
        found = ph.integrate(one, "mkrk:rk4", tangent=True, step=5.0, steps=20, **LOW).state_transition
        ends.append(found[-1, :6, :6].values)
        assert list(found.row.values[[0, 5]]) == ["position_x", "momentum_z"]
    assert abs(ends[0] - ends[1]).max() < 1e-12 * abs(ends[1]).max()


def test_harmonics_of_high_degree_have_a_series():
    ends = [ph.integrate(one, "taylor", steps=ph.Tolerance(1e-13), t_end=1000.0, **LOW) for one in of_degree_8()]
    other = ph.integrate(of_degree_8()[0], "rkn8_17", step=2.0, t_end=1000.0, every=500, **LOW).position.values[-1]
    for one in ends:
        assert abs(one.position.values[-1] - other).max() < 1e-12 * abs(other).max()


def test_harmonics_about_the_origin_alone_need_no_centre():
    """A potential that is a kernel, and nothing else: its loads are written, and its commutator is not derived."""
    one = ph.system(ph.body("a", 2.0), ph.loads.harmonics("egm2008", degree=10, rotation=0.0))
    ds = ph.integrate(one, "rkn6_14a", step=5.0, steps=200, **LOW)
    field = ph.forces.gravity_field("egm2008", degree=10, rotation=0.0)
    p = np.array(field.load.parameters["numbers"])
    levels = [gravity_of_harmonics(p, 0, 0.0, tuple(r)) for r in ds.position.values[[0, -1]]]
    speeds = np.linalg.norm(ds.velocity.values[[0, -1]], axis=-1) ** 2 / 2.0
    assert abs(levels[1] - levels[0]) > 1e3 and speeds[1] - speeds[0] == pytest.approx(levels[0] - levels[1], rel=1e-9)


def test_each_of_many_bodies_feels_the_field_where_it_is():
    field = ph.loads.harmonics("egm2008", degree=6)
    places = 6878e3 * np.eye(6, 3) + np.array([1e6, 2e6, 3e6]) * np.arange(6)[:, None]
    together = ph.system(ph.bodies(6, 3.0), field)
    moved = ph.system(ph.bodies(6, 3.0), [field.on(f"body{i}").named(f"field{i}") for i in range(6)])
    alone = ph.system(ph.body("a", 3.0), field)
    apart = [ph.integrate(alone, "v2", step=1.0, steps=20, position=r).velocity.values[-1] for r in places]
    for one in (together, moved):
        ds = ph.integrate(one, "v2", step=1.0, steps=20, position=places)
        assert ds.velocity.values[-1] == pytest.approx(np.array(apart), rel=1e-13) and abs(np.array(apart)).min() > 1e-6


LAYERS = [(6.6e6, 1e-10), (6.85e6, 2e-11), (6.88e6, 8e-12), (7e6, 1e-12)]


@pytest.mark.parametrize("kind", some(["layers", "model"], 1))
def test_air_of_a_model_and_of_a_table_is_that_of_an_orbit(kind):
    epoch = "2026-03-20T12:00:00 UTC"
    if kind == "model":
        pytest.importorskip("pymsis")
    air = ph.surroundings.nrlmsis_air(epoch) if kind == "model" else ph.surroundings.layered_air(LAYERS)
    given = {"air": ph.surroundings.nrlmsis(epoch)} if kind == "model" else {"table": LAYERS}
    ours = craft(ph.loads.drag(2.2, 50.0, rotation=RATE), air_density=air)
    built = ph.orbit(MU, mass=120.0, forces=[ph.forces.drag(coefficient=2.2 * 50.0 / 120.0, rotation=RATE, **given)])
    free = ph.integrate(craft(), **RUN, **LOW).position.values[-1]
    for method in ("rkn6_14a/kepler", "mkrk:cv8"):
        a, b = (ph.integrate(one, method, **RUN, **LOW) for one in (ours, built))
        assert abs(a.position.values - b.position.values).max() < 1e-13 * 6878e3, method
        assert abs(a.position.values[-1] - free).max() > 1e-6 * 6878e3
        assert a.work.values[-1] == pytest.approx(b.work.values[-1], rel=1e-12)
        assert float(abs(a.energy_error).max()) < 1e-13
    members = ph.ensemble(ours, "mkrk:cv8", engine="lanes", members={"drag.Cd": [1.0, 2.2]}, **RUN, **LOW)
    assert members.position.values[1, -1] == pytest.approx(a.position.values[-1], rel=1e-13)
    assert ph.system(**ours.arguments).arguments == ours.arguments


def test_a_field_of_many_terms_is_that_of_a_spacecraft():
    file = str(field_file())
    ours = craft(
        ph.loads.magnet((0.0, 0.1, 0.05)), field=ph.surroundings.igrf_field(file=file, epoch=2024.5, angle=0.3)
    )
    built = ph.spacecraft(
        INERTIA, MU, 120.0, magnetic_field=ph.surroundings.magnetic_field("igrf", file=file, epoch=2024.5, angle=0.3),
        dipoles=[ph.systems.magnetic_dipole((0.0, 0.1, 0.05))], gravity_gradient=False,
    )  # fmt: skip
    free = ph.integrate(craft(), "mkrk:cv8", **RUN, **LOW, **SPIN).attitude.values[-1]
    for method in ("rkn6_14a/kepler", "mkrk:cv8"):
        a, b = (ph.integrate(one, method, **RUN, **LOW, **SPIN) for one in (ours, built))
        assert abs(a.attitude.values - b.attitude.values).max() < 1e-12, method
        assert abs(a.attitude.values[-1] - free).max() > 1e-6
        assert float(abs(a.energy_error).max()) < 1e-13
    assert ph.system(**ours.arguments).arguments == ours.arguments


def test_a_potential_that_needs_a_derivative_which_there_is_not_is_refused():
    def deep(body, field):
        return -1e-3 * field[2] * body.mass

    field = ph.surroundings.igrf_field(file=str(field_file()), epoch=2024.5)
    with pytest.raises(PolhodeError, match=r"load 'deep' .* depends on a magnetic field of many terms, of which there"):
        craft(ph.loads.of(deep), field=field)
    ds = ph.integrate(craft(ph.loads.of(deep), field=ph.surroundings.dipole_field()), **RUN, **LOW)
    assert float(abs(ds.energy_error).max()) < 1e-12  # of a dipole there is one


def test_programs_without_such_kernels_are_the_same_texts_whatever_was_imported(forked):
    found = forked("import json, polhode.programs.text as t; print(json.dumps(t.HEAD))")
    assert found == HEAD and "gravity_of_harmonics" not in HEAD
