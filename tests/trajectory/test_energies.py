"""The scale of the energy error: what there is of energy to exchange, which no constant in the potential changes."""

import dataclasses
import warnings
from functools import partial
from math import cos, pi, sin

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.checks.system_measures import conservation_drifts
from polhode.runs import streamed
from polhode.runs.initial_state import start_state
from polhode.trajectory import growing
from polhode.trajectory.energies import energy_balance, of_one_body
from polhode.trajectory.quantities import BEYOND, LARGE, ROUNDING, Constants, of_bodies

EPS = np.finfo(float).eps
RUN = {"step": 0.02, "t_end": 10.0}
BODY = (1.0, 1.4, 2.1)


def released(angle=pi / 2, method="mkrk:gauss8", **more):
    """A pendulum that starts at rest, at an angle from the upright."""
    pendulum = ph.heavy_top((1.0, 1.0, 0.1), (0.0, 0.0, 1.0), weight=1.0)
    attitude = (cos(angle / 2), sin(angle / 2), 0.0, 0.0)
    return ph.integrate(pendulum, method, **(RUN | more), attitude=attitude)


def wavy(t, q, p):
    R33 = 1.0 - 2.0 * (q[1] ** 2 + q[2] ** 2)
    return p[0] * R33 + p[1]


def top_of(constant):
    return ph.rigid_body(BODY, potential=wavy, parameters=[3.0, constant])


def scale_of(ds):
    sizes = [ds.kinetic_energy.values, abs(ds.potential_energy.values - ds.potential_energy.values[0])]
    return sum(np.maximum.accumulate(size) for size in sizes)


def test_a_pendulum_released_level():
    ds = released()
    assert abs(float(ds.energy[0])) < 1e-14  # nothing to divide by
    assert float(abs(ds.energy_error).max()) < 1e-10 and float(abs(ds.energy_error[-1])) < 1e-13
    assert float(ds.energy_error[0]) == 0.0
    np.testing.assert_array_equal(ds.energy_error[1:], (ds.energy_change / scale_of(ds))[1:])


@each("method", ["mkrk:heun", "v2", "mkrk:forward_euler"])
def test_a_pendulum_released_level_is_judged_as_any_other(method):
    """With no energy at the start any error exploded; from rest a crude step moves nothing but the velocity."""
    told = []
    for angle in (pi / 2, pi / 2 - 0.3):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ds = released(angle, method, step=0.01, t_end=4.0)
        told.append([one.category for one in caught])
        assert float(abs(ds.energy_error).max()) <= 1.0 + EPS and "incomplete" not in ds.attrs
    assert told == [[], []]


def test_no_constant_in_the_potential_changes_the_error():
    start = {"angular_velocity": (0.3, 0.2, 1.0), "attitude": (cos(0.4), sin(0.4), 0.0, 0.0)}
    plain, raised = (ph.integrate(top_of(c), "v2", step=0.05, t_end=20.0, **start) for c in (0.0, 2.0**20))
    assert float(abs(plain.energy_error).max()) > 1e-4
    np.testing.assert_allclose(raised.energy_error, plain.energy_error, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(raised.attitude, plain.attitude)


def test_no_constant_in_the_potential_silences_the_guard():
    start = {"angular_velocity": (0.6, 1.0, 0.5), "attitude": (cos(0.4), sin(0.4), 0.0, 0.0)}
    for constant in (0.0, 2.0**20):
        with pytest.warns(ph.errors.EnergyWarning, match=r"of all energies there are"):
            ph.integrate(top_of(constant), "mkrk:forward_euler", step=0.1, t_end=6.0, **start)

    def falling(constant):
        force = ph.particle(1.0, potential=deep, parameters=[constant])
        with pytest.raises(ph.errors.NotFinite, match="blew up between") as caught, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ph.integrate(force, "v2", step=0.01, steps=300, position=(1, 0, 0), velocity=(0, 1e-4, 0))
        return caught.value

    plain, raised = falling(0.0), falling(2.0**20)
    assert str(raised) == str(plain) and float(abs(plain.trajectory.energy_error).max()) < 1.0 < BEYOND


def deep(t, r, p):
    return p[0] - 1.0 / (r[0] ** 2 + r[1] ** 2 + r[2] ** 2) ** 0.5


def flat(t, N, y, bodies, parameters):
    return 2.0**36


def test_a_check_of_conservation_sees_through_a_constant():
    """The energy of two stars without their attraction changes, however large a constant is added."""
    stars = ph.gravitating_bodies((1.0, 1.0))
    y = start_state(stars, position=[[0.5, 0, 0], [-0.5, 0, 0]], velocity=[[0, 0.4, 0], [0, -0.4, 0]])
    assert conservation_drifts(stars, y, span=0.5)["energy"] < 1e-11
    assert conservation_drifts(dataclasses.replace(stars, potential=flat), y, span=0.5)["energy"] > 1e-2


def test_all_work_is_energy_to_exchange():
    push = ph.forces.thrust(1e-2, vector=(0.0, 0.0, 1.0))
    drag = ph.forces.drag(kd=1e-2, radius=1.0, scale=1e30)
    ds = ph.integrate(ph.orbit(1.0, forces=[push, drag]), "mkrk:cv8", step=0.05, t_end=8.0, position=(1, 0, 0),
                      velocity=(0, 1, 0))  # fmt: skip
    scale = scale_of(ds) + sum(np.maximum.accumulate(abs(ds.work.values[:, k])) for k in range(2))
    less = (ds.energy_change - ds.work.sum("force")) / scale
    np.testing.assert_allclose(ds.energy_error, less, rtol=1e-12, atol=1e-18)
    words = ds.energy_error.attrs
    assert "no constant" in words["scale"] and "work" in words["long_name"] and "|work|" in words["scale"]


def test_where_nothing_moves_the_error_is_zero():
    ds = ph.integrate(ph.free_body(BODY), "exact", step=1.0, steps=3)
    assert (ds.energy_error == 0.0).all()
    hanging = released(pi, t_end=1.0)
    assert float(abs(hanging.energy_error).max()) <= 1.0


# ------------------------------------------------------------------ rows that are written never change
def test_rows_do_not_depend_on_those_after_them_nor_on_how_many_are_recorded():
    whole = released(2.0)
    short = released(2.0, t_end=3.0)
    np.testing.assert_array_equal(short.energy_error, whole.energy_error[: short.sizes["time"]])
    tenth = released(2.0, every=10)
    change = abs(whole.energy_change[::10]).values
    bound = change[1:] / scale_of(tenth)[1:]
    np.testing.assert_array_equal(abs(tenth.energy_error[1:]), bound)
    assert tenth.energy_error.attrs == whole.energy_error.attrs and "rows so far" in whole.energy_error.attrs["scale"]
    # the scale of few rows is that of all as soon as one of them is where the bodies move
    np.testing.assert_allclose(scale_of(tenth)[-1], scale_of(whole)[-1], rtol=0.05)


@each("piece", [1, 7 * 8 * 13, 2**19])
def test_in_pieces_on_disk_as_in_memory(tmp_path, monkeypatch, piece):
    monkeypatch.setattr(streamed, "PIECE", piece)
    monkeypatch.setattr(growing, "BUFFER", 2**12)
    pushed = ph.orbit(1.0, forces=[ph.forces.thrust(1e-2, vector=(0.0, 0.0, 1.0))])
    run = {"step": 0.1, "steps": 120, "position": (1, 0, 0), "velocity": (0, 0.7, 0)}
    whole = ph.integrate(pushed, "mkrk:cv8", **run)
    ds = ph.integrate(pushed, "mkrk:cv8", **run, store=tmp_path / "run.zarr")
    assert ds.load().identical(whole)


def test_a_resumed_run_has_the_errors_of_one_that_was_not_interrupted(tmp_path, monkeypatch):
    monkeypatch.setattr(streamed, "PIECE", 8 * 13 * 5)
    whole, seen = released(2.0), []

    def stop(progress):
        seen.append(progress)
        if progress.done >= 200:
            raise KeyboardInterrupt

    monkeypatch.setattr("polhode.runs.stepping.SLICE_SECONDS", 1e-9)
    pendulum = ph.heavy_top((1.0, 1.0, 0.1), (0.0, 0.0, 1.0), weight=1.0)
    start = {"attitude": (cos(1.0), sin(1.0), 0.0, 0.0)}
    path = tmp_path / "run.zarr"
    with pytest.raises(ph.errors.Interrupted):
        ph.integrate(pendulum, "mkrk:gauss8", **RUN, **start, store=path, progress=stop)
    ds = ph.resume(path)
    assert seen and ds.energy_error.load().identical(whole.energy_error)


def test_members_have_the_errors_of_single_runs():
    pendulum = ph.heavy_top((1.0, 1.0, 0.1), (0.0, 0.0, 1.0), weight=1.0)
    angles = np.array([pi / 2, 2.0, 1.0])
    attitudes = np.stack([np.cos(angles / 2), np.sin(angles / 2), 0 * angles, 0 * angles], axis=1)
    ds = ph.ensemble(pendulum, "v2", members={"attitude": attitudes}, step=0.02, t_end=4.0, engine="threads")
    for k, angle in enumerate(angles):
        alone = released(angle, "v2", t_end=4.0)
        np.testing.assert_array_equal(ds.energy_error[k], alone.energy_error)
    assert ds.energy_error.attrs["scale"] == alone.energy_error.attrs["scale"]


# ------------------------------------------------------------------ bodies without mass
def test_of_bodies_without_mass_the_energy_says_nothing():
    start = {"position": [[0, 0, 0], [1, 0, 0], [5, 0, 0]], "velocity": [[0, 0, 0], [0, 1, 0], [0, 0.4, 0]]}
    ds = ph.integrate(ph.gravitating_bodies((1.0, 1e-3, 0.0)), "v2", step=0.01, steps=20, **start)
    for name in ("energy", "energy_error", "energy_change"):
        assert ds[name].attrs["note"] == "of bodies without mass (2) the energy says nothing"
    heavy = ph.integrate(ph.gravitating_bodies((1.0, 1e-3, 1e-6)), "v2", step=0.01, steps=20, **start)
    assert "note" not in heavy.energy.attrs


def first_of(true):
    return np.where(true.any(axis=-1), true.argmax(axis=-1), true.shape[-1])


def balance_by_numpy(kinetic, potential, works, before, begins):
    """The balance as its documentation has it, of whole arrays at once."""
    energy = kinetic if potential is None else kinetic + potential
    change = energy - energy[:, :1]
    done = works - works[:, :1]
    off = change - done.sum(axis=-1) if works.shape[-1] else change
    moved = [] if potential is None else [abs(potential - potential[:, :1])]
    sizes = [kinetic, *moved, *(abs(done[..., k]) for k in range(works.shape[-1]))]
    largest = [np.maximum.accumulate(size, axis=-1) for size in sizes]
    for one, floor in zip(largest, before.T, strict=True):
        np.maximum(one[:, 1:], floor[:, None], out=one[:, 1:])
    scale, others = sum(largest), sum(largest[1:], np.zeros_like(energy))
    error = np.where(scale == 0.0, 0.0, off / np.where(scale == 0.0, 1.0, scale))
    size = np.where(abs(off) <= ROUNDING * abs(energy[:, :1]), 0.0, abs(off))
    there = kinetic[:, :1] + sum(sizes[1:], np.zeros_like(energy))
    if begins:
        size[:, 1:2] *= kinetic[:, :1] != 0.0
        there[:, 1:2] += abs(energy[:, :1])
    first = [first_of(~(size <= np.maximum(BEYOND * there, others))), first_of(~(size <= LARGE * scale))]
    return energy, change, error, np.stack([one[:, -1] for one in largest], -1), np.stack(first, -1), size.max(axis=-1)


def test_the_balance_of_rows_is_that_of_whole_arrays():
    """To the bit, with works, with rows of earlier pieces, at rest, where energies explode, are rounded or are NaN."""
    random = np.random.default_rng(1)
    for _ in range(400):
        M, n, F = random.integers(1, 4), random.integers(1, 9), random.integers(0, 4)
        size = lambda low, high, M=M, n=n: 10.0 ** random.integers(low, high, (M, n))  # noqa: E731
        kinetic = abs(random.normal(size=(M, n))) * size(-3, 4) * (random.random((M, 1)) > 0.2)
        potential = random.normal(size=(M, n)) * size(-3, 6) if random.random() < 0.5 else None
        works = random.normal(size=(M, n, F)) * size(-2, 2)[..., None]
        if random.random() < 0.3:  # conserved, but for round-off
            kinetic, potential = kinetic[:, :1] * np.ones(n), 1e5 + size(-11, -8) if potential is not None else None
            works[:] = works[:, :1]
        elif potential is not None and random.random() < 0.5:  # nothing but the energy of the start to compare with
            potential[:] = potential[:, :1]
        kinetic[0, -1] = np.nan if random.random() < 0.2 else kinetic[0, -1]
        before = abs(random.normal(size=(M, 1 + (potential is not None) + F))) * (random.random() < 0.5)
        states = np.concatenate([np.zeros((M, n, 13)), works], axis=-1)
        begins = bool(random.integers(2))
        found = energy_balance([*range(13, 13 + F)], states, kinetic, potential, before, begins)
        told = (found.energy, found.change, found.error, found.largest, found.first, found.worst)
        for one, wanted in zip(told, balance_by_numpy(kinetic, potential, works, before, begins), strict=True):
            np.testing.assert_array_equal(one, wanted)


def test_runs_at_the_same_times_share_an_index_that_cannot_be_written():
    first, second = (ph.integrate(top_of(0.0), step=0.1, steps=4, angular_velocity=(w, 1, 2)) for w in (1.0, 2.0))
    assert first.indexes["time"] is second.indexes["time"]
    with pytest.raises(ValueError, match="read-only"):
        second.time.values[1] = 7.0
    first.time.attrs["units"] = "h"
    assert second.time.attrs["units"] == "time" and first.time.values[1] == 0.1


def test_runs_of_one_system_share_what_is_said_of_variables_but_not_its_attributes():
    top, how = top_of(0.0), {"step": 0.1, "steps": 4, "angular_velocity": (1.0, 1, 2)}
    first = ph.integrate(top, **how)
    for name in ("attitude", "energy_error", "axis", "time"):
        first[name].attrs["mine"] = 1
    again = ph.integrate(top, **how)
    assert not any("mine" in again[name].attrs for name in again.variables) and again.attrs == first.attrs
    assert again.identical(ph.integrate(top_of(0.0), **how))


@each("build, moves", [(ph.free_body, False), (partial(ph.rigid_body, mass=2.0), True)])
def test_velocities_of_a_body_that_only_rotates_take_no_memory(build, moves):
    body, states = build(BODY), np.random.default_rng(1).normal(size=(5, 13))
    constants = Constants(*body.for_kernels)
    made, _, _ = of_one_body(np.arange(5.0), states, constants, body.work_columns, body.translates, None)
    assert np.shares_memory(made.velocity, made.angular_momentum_space) is not moves
    apart = of_bodies(states, constants)
    for name in {*made._fields} - ({"velocity"} if not moves else set()):
        assert np.array_equal(getattr(made, name), getattr(apart, name)), name
