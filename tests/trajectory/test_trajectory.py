"""The trajectory: a plain Dataset as specified, and its way to disk and back."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import polhode as ph
from each import each
from polhode.algebra import rotation
from polhode.trajectory import CONVENTIONS, UNITS
from polhode.trajectory.schema import MEANING

METHOD = "mkrk:rk4"


@pytest.fixture(scope="module")
def top():
    system = ph.heavy_top([[4, 0.1, 0], [0.1, 4.5, 0], [0, 0, 1]], (0.1, 0, 1), 20.0)
    return ph.integrate(system, METHOD, step=0.01, steps=20, attitude=(0.8, 0.6, 0, 0), angular_velocity=(0.3, -0.2, 4))


@pytest.fixture(scope="module")
def particle():
    return ph.integrate(ph.particle(mass=2.0, stiffness=3.0), METHOD, step=0.01, steps=20, settings={"units": "SI"},
                        position=(1, 0, 0), velocity=(0, 1, 0))  # fmt: skip


def test_names_dimensions_and_units(top, particle):
    body = {"attitude", "angular_momentum", "angular_velocity", "angular_momentum_space"}
    energies = {"kinetic_energy", "potential_energy", "energy", "energy_error", "energy_change", "iterations"}
    assert set(top) == body | energies | {"vertical_angular_momentum"}
    assert set(particle) == {"position", "momentum", "velocity", "angular_momentum_space"} | energies
    assert type(top) is xr.Dataset
    for ds, units in ((top, "consistent"), (particle, "SI")):
        assert ds.attrs["units"] == units and ds.attrs["conventions"] == CONVENTIONS
        for name, variable in ds.variables.items():
            if name in ("axis", "quaternion"):
                continue
            assert variable.attrs["units"] == UNITS[units][name]
            assert variable.dims[0] == "time" and variable.dtype == (np.int64 if name == "iterations" else np.float64)
        for name in ds:
            assert ds[name].attrs["long_name"] == MEANING[name]
    assert top.attitude.dims == ("time", "quaternion") and list(top["quaternion"].values) == ["w", "x", "y", "z"]
    assert top.angular_momentum.dims == ("time", "axis") and list(top["axis"].values) == ["x", "y", "z"]
    assert "quaternion" not in particle.dims
    assert set(UNITS["SI"]) == set(UNITS["consistent"]) == set(MEANING) - {"event_kind"} | {"time"}


def test_quantities_follow_from_each_other(top):
    inertia = np.array([[4, 0.1, 0], [0.1, 4.5, 0], [0, 0, 1]])
    m, omega = top.angular_momentum.values, top.angular_velocity.values
    np.testing.assert_allclose(m, omega @ inertia, rtol=0, atol=1e-13)
    np.testing.assert_allclose(top.kinetic_energy, 0.5 * (m * omega).sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(top.energy, top.kinetic_energy + top.potential_energy, rtol=1e-15)
    spatial = rotation.rotate(top.attitude.values, m)
    np.testing.assert_allclose(top.angular_momentum_space, spatial, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(top.vertical_angular_momentum, top.angular_momentum_space[:, 2])
    np.testing.assert_allclose(np.linalg.norm(top.attitude, axis=1), 1.0, rtol=1e-14)


def test_quantities_of_a_particle(particle):
    r, v = particle.position.values, particle.velocity.values
    np.testing.assert_array_equal(particle.momentum, 2.0 * v)
    np.testing.assert_allclose(particle.angular_momentum_space, 2.0 * np.cross(r, v), rtol=0, atol=1e-15)
    np.testing.assert_allclose(particle.kinetic_energy, (v * v).sum(axis=1), rtol=1e-15)
    np.testing.assert_allclose(particle.potential_energy, 1.5 * (r * r).sum(axis=1), rtol=1e-15)


@each("suffix", [".nc", ".zarr"])
def test_to_disk_and_back(tmp_path, top, particle, suffix):
    path = tmp_path / "new folder" / f"run{suffix}"
    for ds in (top, particle):  # the second replaces the first
        assert ph.save(ds, path) == path
        found = ph.load(path)
        for name in ds.variables:
            np.testing.assert_array_equal(found[name], ds[name])
            assert found[name].attrs == ds[name].attrs
        assert found.attrs == ds.attrs
    assert [p.name for p in path.parent.iterdir()] == [path.name]  # nothing else is left


def test_a_trajectory_without_rows_can_be_kept(tmp_path, top):
    empty = top.isel(time=slice(0, 0))
    assert ph.load(ph.save(empty, tmp_path / "run.nc")).sizes["time"] == 0


def test_wrong_names(tmp_path, top):
    for name in ("run", "run.csv", "run.nc4"):
        with pytest.raises(ph.errors.InvalidInput, match=r"must end in \.nc .* or \.zarr"):
            ph.save(top, tmp_path / name)
        with pytest.raises(ph.errors.InvalidInput, match=r"must end in \.nc"):
            ph.load(tmp_path / name)


def test_files_that_are_none(tmp_path, top):
    with pytest.raises(ph.errors.FileProblem, match="there is no file"):
        ph.load(tmp_path / "missing.nc")
    whole = ph.save(top, tmp_path / "run.nc").read_bytes()
    (tmp_path / "torn.nc").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.nc").write_text("time, energy")
    (tmp_path / "empty.zarr").mkdir()
    for name in ("torn.nc", "text.nc", "empty.zarr"):
        with pytest.raises(ph.errors.FileProblem, match=r"torn or (not a trajectory|was changed)"):
            ph.load(tmp_path / name)
    xr.Dataset({"x": ("time", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(ph.errors.FileProblem, match="not written by polhode"):
        ph.load(tmp_path / "other.nc")


def test_a_disk_that_refuses(tmp_path, top):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ph.errors.FileProblem, match="cannot write") as caught:
        ph.save(top, tmp_path / "file" / "run.nc")
    assert caught.value.exit_code == 5 and isinstance(caught.value, OSError)


@each("name", ["run.nc", "run.zarr"])
def test_a_folder_with_other_things_is_never_replaced(tmp_path, top, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "thesis.tex").write_text("not ours")
    with pytest.raises(ph.errors.FileProblem, match="other things in it"):
        ph.save(top, tmp_path / name)
    assert (tmp_path / name / "thesis.tex").read_text() == "not ours"
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_the_trajectory_of_a_failed_run_can_be_kept(tmp_path):
    def torque(t, q, omega, parameters):
        if t > 0.051:
            raise ValueError("on purpose")
        return (0.0, 0.0, 1.0)

    system = ph.rigid_body((1, 2, 2.5), torque=torque)
    for more, rows in (({}, 6), ({"t_eval": [0.06]}, 1)):
        with pytest.raises(ph.errors.UserFunctionError) as caught:
            ph.integrate(system, METHOD, step=0.01, steps=20, **more)
        found = ph.load(ph.save(caught.value.trajectory, tmp_path / "run.nc"))
        assert found.sizes["time"] == rows and "on purpose" in found.attrs["incomplete"]
        assert found.attrs["steps"] == 5 and found.time[-1] == pytest.approx(0.05)
