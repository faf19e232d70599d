"""The Dataset of many members at once: bit for bit those of single runs, without Python for each of them."""

from __future__ import annotations

import numpy as np
import xarray as xr

import polhode as ph
from each import each
from polhode.kernel import layout as L
from polhode.runs.result import dataset
from polhode.trajectory import build, quantities
from polhode.trajectory.build import Rows
from polhode.trajectory.quantities import Constants

TENSOR = ((3.0, 0.2, 0.1), (0.2, 2.0, 0.3), (0.1, 0.3, 2.5))
ORBIT = {"position": (1.0, 0, 0), "velocity": (0, 1.1, 0.1)}
DRAG = ph.forces.drag(kd=1e-3, radius=0.5, scale=1.0)
KINDS = {
    "bodies": ([ph.free_body((1, 2, 2.5)), ph.free_body(TENSOR)], {"angular_velocity": (0.1, 2.0, 0.3)}, "v2/mr"),
    "tops": ([ph.heavy_top((5, 5, 1), (0, 0, w / 9), w) for w in (18, 20)], {"angular_velocity": (0, 0.1, 9)}, "v2"),
    "orbits": ([ph.orbit(mu, forces=[DRAG]) for mu in (1.0, 1.02)], ORBIT, "mkrk:cv8"),
    "planets": (
        [ph.gravitating_bodies(m) for m in ((1.0, 0.1, 0.1), (1.1, 0.1, 0.2))],
        {"position": ((0, 0, 0), (1, 0, 0), (0, 2.0, 0)), "velocity": ((0, 0, 0), (0, 1, 0), (-0.7, 0, 0))}, "v2",
    ),
    "angles": (
        [ph.free_body((1, 2, 2.5)), ph.free_body((1, 2, 2.6))], {"angular_velocity": (0.1, 2.0, 0.3)},
        "euler_direct:gauss4",
    ),
}  # fmt: skip


def alone(system):
    """The constants of one system."""
    return Constants(*system.for_kernels)


def stacked(systems):
    """The constants of several systems, by members."""
    those = [alone(system) for system in systems]
    axis = None if those[0].axis is None else np.concatenate([one.axis for one in those])
    return Constants(*(np.concatenate([one[k] for one in those]) for k in range(4)), axis)


def runs(name, monkeypatch, steps=5):
    """Datasets of single runs, and what they were made of."""
    systems, start, method = KINDS[name]
    kept = []

    def keeping(*given, **how):
        kept.append((given, how))
        return build.dataset(*given, **how)

    monkeypatch.setattr("polhode.runs.result.dataset", keeping)
    return [ph.integrate(one, method, step=0.01, steps=steps, **start) for one in systems], kept


def together(systems, kept, **how):
    """One Dataset of them all."""
    (_, rows, potential, attributes, units, chart, compensation), _ = kept[0]
    columns = [np.array([given[1][k] for given, _ in kept]) for k in (1, 2)]
    energies = None if potential is None else np.array([given[2] for given, _ in kept])
    return build.dataset(
        systems[0],
        Rows(rows.times, *columns),
        energies,
        attributes,
        units,
        chart,
        compensation,
        members=stacked(systems),
        **how,
    )


@each("name", KINDS)
def test_members_are_bit_for_bit_single_runs(name, monkeypatch):
    single, kept = runs(name, monkeypatch)
    systems = KINDS[name][0]
    ds = together(systems, kept)
    assert ds.sizes["member"] == len(single) and ds.energy.dims == ("member", "time")
    assert list(ds.indexes) and "member" in ds.indexes and ds.attrs == single[0].attrs
    for k, one in enumerate(single):
        mine = ds.isel(member=k).drop_vars("member")
        assert set(mine.variables) == set(one.variables) - {"event_time"}
        for variable in mine.variables:
            assert mine[variable].dims == one[variable].dims, variable
            assert (mine[variable].values == one[variable].values).all(), variable
            left_out = {"note"}  # of the coordinates of one run
            told = {key: text for key, text in one[variable].attrs.items() if key not in left_out}
            assert {key: text for key, text in mine[variable].attrs.items() if key not in left_out} == told


def test_potentials_of_members_from_the_role(monkeypatch):
    single, kept = runs("tops", monkeypatch)
    systems = KINDS["tops"][0]
    states, times = np.array([given[1].states for given, _ in kept]), kept[0][0][1].times
    role = systems[0].compiled_potential(0.0, states[0, 0])
    rows = Rows(times, states, np.zeros(states.shape[:2], int))
    ds = build.dataset(systems[0], rows, role, {}, members=stacked(systems))
    assert (ds.potential_energy.values == [one.potential_energy.values for one in single]).all()
    times.flags.writeable = states.flags.writeable = False
    alone = build.dataset(systems[0], Rows(times, states[0], np.zeros(states.shape[1], int)), role, {})
    assert (alone.potential_energy.values == single[0].potential_energy.values).all()


def test_times_of_their_own_further_variables_and_rows_after_a_failure(monkeypatch):
    single, kept = runs("bodies", monkeypatch)
    systems = KINDS["bodies"][0]
    first, states = kept[0][0][1], np.array([given[1].states for given, _ in kept])
    states[1, 3:] = np.nan
    times = np.array([first.times, 2.0 * first.times])
    ds = build.dataset(
        systems[0], Rows(times, states, np.zeros((2, 6), int)), None, {"title": "two"}, members=stacked(systems),
        more={"status": (("member",), np.array([0, 3]), {"long_name": "status"})},
        varied={"shape": (("member", "axis"), np.eye(3)[:2], {"units": "1"})},
    )  # fmt: skip
    assert ds.time.dims == ("member", "time") and (ds.time.values == times).all() and "shape" in ds.coords
    assert ds.status.values.tolist() == [0, 3] and ds.title == "two"
    assert np.isnan(ds.energy.values[1, 3:]).all() and np.isfinite(ds.energy_error.values[:, :3]).all()
    assert np.isnan(ds.attitude.values[1, 3:]).all()
    assert (ds.attitude.values[0] == single[0].attitude.values).all()


def test_a_thousand_members_cost_as_many_calls_as_two(monkeypatch):
    system, loop, called = ph.free_body((1, 2, 2.5)), quantities.quantities_of_rows, []
    monkeypatch.setattr(quantities, "quantities_of_rows", lambda *given: called.append(1) or loop(*given))
    states = np.zeros((1000, 2, L.BODY))
    states[:, :, L.ATTITUDE] = states[:, :, L.ANGULAR] = 1.0
    one = alone(system)
    many = Constants(*(np.repeat(a, 1000, axis=0) for a in one[:4]))
    ds = dataset(system, Rows(np.arange(2.0), states, np.zeros((1000, 2), int)), None, {}, members=many)
    assert called == [1] and (ds.kinetic_energy.values == 0.5).all()


def test_it_is_the_dataset_that_xarray_makes():
    """What is put together by hand is what the public constructor makes of the same pieces."""
    ds = ph.integrate(ph.heavy_top(TENSOR, (0, 0, 1), 20.0), "v2", step=0.01, steps=3, angular_velocity=(0, 0, 9))
    again = xr.Dataset(dict(ds.data_vars), ds.coords, ds.attrs)
    assert ds.identical(again) and ds.sizes == again.sizes and set(ds.indexes) == set(again.indexes)
    assert ds.sel(time=0.02, axis="z").identical(again.sel(time=0.02, axis="z"))
    ds["axis"].attrs["mine"] = 1
    assert "mine" not in ph.integrate(ph.free_body((1, 2, 3)), step=0.1, steps=1)["axis"].attrs


def test_a_version_of_xarray_without_the_short_way(monkeypatch):
    def run():
        return ph.integrate(ph.free_body(TENSOR), "v2/mr", step=0.1, steps=3, angular_velocity=(0, 1.0, 0.1))

    ds, direct, asked = run(), xr.Dataset._construct_direct, []

    def refused(cls, *given, **how):
        asked.append(1)
        if len(asked) == 1:
            raise TypeError("an unexpected argument")
        return direct(*given, **how)

    monkeypatch.setattr(xr.Dataset, "_construct_direct", classmethod(refused))
    assert run().identical(ds) and asked
