"""Files of molecular dynamics: read back by ASE, MDAnalysis and gsd, and what is refused."""

import sys
import warnings

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation

import polhode as ph
from each import each
from polhode import cli
from polhode.errors import InvalidInput, MissingExtra
from polhode.systems.record import IDENTITY, System

N = 5
EDGES = np.array([3.0, 4.0, 5.0])
MOMENTS = np.array([1.0, 1.88, 2.88])
MASS = np.array([1.0, 2.0, 3.0, 0.7, 18.015])
DIPOLE = np.array([0.0, 0.6, 0.8])
SITES = np.array([[0.0, 0.0, -0.1], [0.0, 0.8, 0.5], [0.0, -0.8, 0.5]])


def free_bodies(box):
    """A run of five bodies on which nothing acts, with the dipole of each."""
    rng = np.random.default_rng(5)
    system = System(
        name="free_bodies", arguments={}, mass=MASS, moments=np.tile(MOMENTS, (N, 1)), box=box,
        frames=np.array([IDENTITY] * N), provides={"velocity_independent"}, conserves=("energy", "total_momentum"),
    )  # fmt: skip
    ds = ph.integrate(system, step=0.25, steps=12, every=2, position=rng.normal(scale=6.0, size=(N, 3)),
                      momentum=rng.normal(size=(N, 3)), angular_momentum=rng.normal(size=(N, 3)),
                      attitude=Rotation.random(N, random_state=3).as_quat()[:, [3, 0, 1, 2]])  # fmt: skip
    return ds.assign(dipole=(("body", "axis"), np.tile(DIPOLE, (N, 1))))


@pytest.fixture(scope="module")
def boxed():
    """In a periodic box, from which all bodies have gone."""
    return free_bodies(EDGES)


@pytest.fixture(scope="module")
def free():
    """In free space."""
    return free_bodies(None)


@pytest.fixture(scope="module")
def water(boxed):
    """The same as molecules of three sites."""
    sites = {
        "site_position": (("site", "axis"), SITES),
        "site_mass": ("site", [16.0, 1.0, 1.0]),
        "site_charge": ("site", [-0.8, 0.4, 0.4]),
    }
    return boxed.assign(sites).assign_coords(site=["O", "H1", "H2"])


@pytest.fixture(scope="module")
def ase_read():
    """``ase.io.read`` of all frames."""
    io = pytest.importorskip("ase.io", reason="the package ase is not installed (extra 'test')")

    def read(path, **options):
        with warnings.catch_warnings():  # ASE sets shapes of arrays, which NumPy 2.5 warns of
            warnings.filterwarnings("ignore", "Setting the shape", DeprecationWarning)
            return io.read(path, index=":", **options)

    return read


@pytest.fixture(scope="module")
def hoomd():
    """``gsd.hoomd``."""
    return pytest.importorskip("gsd.hoomd", reason="the package gsd is not installed (extra 'md')")


def turned(ds, vectors):
    """Vectors of the bodies in space, by SciPy: (time, body, 3)."""
    q = ds.attitude.values.reshape(-1, 4)[:, [1, 2, 3, 0]]
    rows = np.array(np.broadcast_to(vectors, (ds.sizes["time"], N, 3))).reshape(-1, 3)
    return Rotation.from_quat(q).apply(rows).reshape(-1, N, 3)


def atoms_of(ds):
    """Positions and velocities of all sites, by SciPy, (time, body, site, 3): atoms of one body side by side."""
    places = [ds.position + turned(ds, site) for site in SITES]
    moves = [ds.velocity + turned(ds, np.cross(ds.angular_velocity, site)) for site in SITES]
    return np.stack(places, axis=2), np.stack(moves, axis=2)


# ------------------------------------------------------------------ extended XYZ
def test_extended_xyz_has_every_digit(boxed, ase_read, tmp_path):
    frames = ase_read(ph.trajectory.export.extended_xyz(boxed, tmp_path / "a.xyz"), format="extxyz")
    assert len(frames) == boxed.sizes["time"] == 7
    for k, frame in enumerate(frames):
        row = boxed.isel(time=k)
        np.testing.assert_array_equal(frame.positions, row.position)
        np.testing.assert_array_equal(frame.arrays["velo"], row.velocity)
        np.testing.assert_array_equal(frame.arrays["quaternion"], row.attitude)
        np.testing.assert_array_equal(frame.arrays["angular_momentum"], row.angular_momentum)
        np.testing.assert_allclose(frame.arrays["dipoles"], turned(boxed, DIPOLE)[k], rtol=0, atol=1e-14)
        np.testing.assert_allclose(frame.get_dipole_moment(), turned(boxed, DIPOLE)[k].sum(axis=0), rtol=0, atol=1e-14)
        np.testing.assert_allclose(frame.get_masses(), MASS, rtol=1e-14)
        np.testing.assert_array_equal(frame.cell.lengths(), EDGES)
        assert frame.pbc.all() and frame.get_chemical_symbols() == ["X"] * N
        assert (frame.info["time"], frame.info["step"]) == (float(row.time), 2 * k)
        assert frame.info["total_energy"] == float(row.energy)
        assert frame.info["kinetic_energy"] == float(row.kinetic_energy)


def test_extended_xyz_in_free_space_and_of_chosen_rows(free, ase_read, tmp_path):
    path = ph.trajectory.export.extended_xyz(free, tmp_path / "a.xyz", every=3, species=["Ar", "Ne", "Ar", "Xe", "He"])
    frames = ase_read(path, format="extxyz")
    assert [frame.info["time"] for frame in frames] == [0.0, 1.5, 3.0] == free.time.values[::3].tolist()
    assert not frames[0].pbc.any() and not frames[0].cell.any()
    assert frames[0].get_chemical_symbols() == ["Ar", "Ne", "Ar", "Xe", "He"]


def test_molecules_become_atoms_and_stay_whole(water, ase_read, tmp_path):
    places, moves = atoms_of(water)
    frames = ase_read(ph.trajectory.export.extended_xyz(water, tmp_path / "a.xyz"), format="extxyz")
    for k, frame in enumerate(frames):
        np.testing.assert_allclose(frame.positions, places[k].reshape(-1, 3), rtol=0, atol=1e-13)
        np.testing.assert_allclose(frame.arrays["velo"], moves[k].reshape(-1, 3), rtol=0, atol=1e-13)
    assert frames[0].get_chemical_symbols() == ["O", "H", "H"] * N
    assert frames[0].get_masses().tolist() == [16.0, 1.0, 1.0] * N
    assert frames[0].get_initial_charges().tolist() == [-0.8, 0.4, 0.4] * N
    assert frames[0].arrays["body"].tolist() == np.repeat(range(N), 3).tolist()
    wrapped = ase_read(ph.trajectory.export.extended_xyz(water, tmp_path / "b.xyz", wrap=True), format="extxyz")
    for k, frame in enumerate(wrapped):
        by_body = frame.positions.reshape(N, 3, 3)
        np.testing.assert_allclose(by_body - by_body[:, :1], places[k] - places[k][:, :1], rtol=0, atol=1e-13)
        away = (by_body - places[k]) / EDGES
        np.testing.assert_allclose(away, np.rint(away), rtol=0, atol=1e-12)
        centres = by_body[:, 0] - turned(water, SITES[0])[k]
        assert (centres >= 0.0).all() and (centres < EDGES).all()
    assert abs(np.rint(away)).max() >= 2


def test_sites_may_be_given_or_left_out(boxed, water, ase_read, tmp_path):
    given = [("O", SITES[0]), ("H", SITES[1]), ("H", SITES[2])]
    (first, *_) = ase_read(ph.trajectory.export.extended_xyz(boxed, tmp_path / "a.xyz", sites=given), format="extxyz")
    np.testing.assert_allclose(first.positions, atoms_of(water)[0][0].reshape(-1, 3), rtol=0, atol=1e-13)
    assert "masses" not in first.arrays
    (first, *_) = ase_read(ph.trajectory.export.extended_xyz(water, tmp_path / "b.xyz", sites=False), format="extxyz")
    assert len(first) == N


def test_one_body(ase_read, tmp_path):
    ds = ph.integrate(ph.particle(), step=0.5, steps=2, velocity=(1.0, 0, 0), position=(0, 0, 3.0))
    frames = ase_read(ph.trajectory.export.extended_xyz(ds, tmp_path / "a.xyz"), format="extxyz")
    np.testing.assert_array_equal([frame.positions[0] for frame in frames], ds.position)


# ------------------------------------------------------------------ LAMMPS
def dumped(path):
    """The frames of a dump by the names of its columns, read without help."""
    frames = []
    for text in path.read_text().split("ITEM: TIMESTEP\n")[1:]:
        lines = text.splitlines()
        assert lines[1] == "ITEM: NUMBER OF ATOMS" and lines[3].startswith("ITEM: BOX BOUNDS ")
        names = lines[7].removeprefix("ITEM: ATOMS ").split()
        rows = [line.split() for line in lines[8:]]
        assert len(rows) == int(lines[2]) and {len(row) for row in rows} == {len(names)}
        frame = {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
        frame = {name: v if name == "element" else v.astype(float) for name, v in frame.items()}
        bounds = np.array([line.split() for line in lines[4:7]], dtype=float)
        frames.append({**frame, "step": int(lines[0]), "style": lines[3].split()[3:], "bounds": bounds})
    return frames


def columns(frame, *names):
    """Columns side by side."""
    return np.column_stack([frame[name] for name in names])


def test_a_dump_has_images_and_turned_momenta(boxed, tmp_path):
    frames = dumped(ph.trajectory.export.lammps_dump(boxed, tmp_path / "a.dump"))
    images = []
    for k, frame in enumerate(frames):
        place, image = columns(frame, "x", "y", "z"), columns(frame, "ix", "iy", "iz")
        assert (place >= 0.0).all() and (place < EDGES).all()
        np.testing.assert_allclose(place + image * EDGES, boxed.position[k], rtol=0, atol=4e-15)
        images.append(image)
        np.testing.assert_array_equal(columns(frame, "vx", "vy", "vz"), boxed.velocity[k])
        np.testing.assert_array_equal(columns(frame, *(f"c_q[{i}]" for i in (1, 2, 3, 4))), boxed.attitude[k])
        spin = turned(boxed, boxed.angular_momentum.values)[k]
        np.testing.assert_allclose(columns(frame, "angmomx", "angmomy", "angmomz"), spin, rtol=0, atol=1e-14)
        np.testing.assert_allclose(columns(frame, "mux", "muy", "muz"), turned(boxed, DIPOLE)[k], rtol=0, atol=1e-14)
        np.testing.assert_allclose(frame["mu"], 1.0, rtol=1e-14)
        np.testing.assert_allclose(frame["mass"], MASS, rtol=1e-14)
        assert frame["style"] == ["pp"] * 3 and frame["bounds"].tolist() == [[0.0, edge] for edge in EDGES]
        assert frame["step"] == 2 * k and frame["id"].tolist() == [1, 2, 3, 4, 5]
    assert min(map(np.min, images)) < -1 and max(map(np.max, images)) > 1


def test_a_dump_in_ase(boxed, ase_read, tmp_path):
    units = pytest.importorskip("ase.units")
    frames = ase_read(ph.trajectory.export.lammps_dump(boxed, tmp_path / "a.dump"), format="lammps-dump-text")
    for k, frame in enumerate(frames):
        moved = (frame.positions - boxed.position[k].values) / EDGES
        np.testing.assert_allclose(moved, np.rint(moved), rtol=0, atol=1e-14)
        np.testing.assert_array_equal(frame.arrays["quaternions"], boxed.attitude[k])
        metal = units.Angstrom / (1e-12 * units.second)
        np.testing.assert_allclose(frame.get_velocities() / metal, boxed.velocity[k], rtol=1e-13)
        assert frame.pbc.all() and frame.cell.lengths().tolist() == EDGES.tolist() and frame.info["timestep"] == 2 * k


def test_a_dump_of_molecules_in_ase_and_mdanalysis(water, ase_read, tmp_path):
    path = ph.trajectory.export.lammps_dump(water, tmp_path / "a.lammpstrj")
    places = atoms_of(water)[0].reshape(7, -1, 3)
    frame = ase_read(path, format="lammps-dump-text")[3]
    assert frame.get_chemical_symbols() == ["O", "H", "H"] * N and frame.arrays["type"].tolist() == [1, 2, 2] * N
    assert frame.get_initial_charges()[0] == -0.8
    assert dumped(path)[0]["mol"].tolist() == np.repeat(range(1, N + 1), 3).tolist()
    module = pytest.importorskip("MDAnalysis", reason="the package MDAnalysis is not installed")
    universe = module.Universe(str(path), format="LAMMPSDUMP", unwrap_images=True, convert_units=False, dt=0.25)
    assert len(universe.trajectory) == 7
    for k, row in enumerate(universe.trajectory):
        np.testing.assert_allclose(row.positions, places[k], rtol=0, atol=4e-6)  # 32 bits
        np.testing.assert_allclose(row.dimensions[:3], EDGES)
        assert row.time == water.time[k]


def test_a_dump_in_free_space_is_shrink_wrapped(free, ase_read, tmp_path):
    flat = free.assign(position=free.position * xr.DataArray([1.0, 1.0, 0.0], dims="axis"))
    path = ph.trajectory.export.lammps_dump(flat, tmp_path / "a.dump")
    for k, frame in enumerate(dumped(path)):
        place = columns(frame, "x", "y", "z")
        np.testing.assert_array_equal(place, flat.position[k])
        assert frame["style"] == ["ss"] * 3 and not columns(frame, "ix", "iy", "iz").any()
        low, high = frame["bounds"].T
        assert (low < place.min(axis=0)).all() and (high > place.max(axis=0)).all()
        assert (high - low)[:2] == pytest.approx(np.ptp(place, axis=0)[:2], rel=3e-4) and high[2] - low[2] == 1.0
    assert not ase_read(path, format="lammps-dump-text")[0].pbc.any()


def test_steps_are_those_of_the_run_or_rows(boxed, tmp_path):
    def steps(ds):
        return [frame["step"] for frame in dumped(ph.trajectory.export.lammps_dump(ds, tmp_path / "a.dump", every=2))]

    assert steps(boxed) == [0, 4, 8, 12]
    assert steps(boxed.isel(time=slice(1, None))) == [2, 6, 10]
    assert steps(boxed.assign_coords(time=boxed.time + 0.1)) == [0, 1, 2, 3]


# ------------------------------------------------------------------ GSD
def test_gsd_as_hoomd_has_it(boxed, hoomd, tmp_path):
    path = ph.trajectory.export.gsd(boxed, tmp_path / "a.gsd")
    with hoomd.open(path, "r") as file:
        assert len(file) == 7
        for k, frame in enumerate(file):
            found = frame.particles
            np.testing.assert_array_equal(frame.configuration.box, [*EDGES, 0, 0, 0])
            assert (abs(found.position) <= EDGES / 2).all() and (found.position < EDGES / 2).all()
            np.testing.assert_allclose(found.position + found.image * EDGES, boxed.position[k], rtol=0, atol=4e-7)
            np.testing.assert_allclose(found.velocity, boxed.velocity[k], rtol=1e-7)
            np.testing.assert_allclose(found.orientation, boxed.attitude[k], rtol=1e-7)
            np.testing.assert_allclose(found.mass, MASS, rtol=1e-7)
            np.testing.assert_allclose(found.moment_inertia, np.tile(MOMENTS, (N, 1)), rtol=1e-7)
            # The body's angular momentum is half the vector part of conj(q) P, and the scalar part vanishes.
            w, v = found.orientation[:, :1].astype(float), found.orientation[:, 1:].astype(float)
            P = found.angmom.astype(float)
            scalar = w[:, 0] * P[:, 0] + (v * P[:, 1:]).sum(axis=1)
            vector = w * P[:, 1:] - v * P[:, :1] - np.cross(v, P[:, 1:])
            np.testing.assert_allclose(scalar, 0.0, rtol=0, atol=1e-6)
            np.testing.assert_allclose(vector / 2, boxed.angular_momentum[k], rtol=0, atol=1e-6)
            assert frame.configuration.step == 2 * k and found.types == ["A"]
            assert frame.log["time"][0] == float(boxed.time[k]) and frame.log["energy"][0] == float(boxed.energy[k])


def test_gsd_in_free_space_has_a_box_around_all(free, hoomd, tmp_path):
    with hoomd.open(ph.trajectory.export.gsd(free, tmp_path / "a.gsd"), "r") as file:
        least = 2 * abs(free.position).max(("time", "body")).values
        np.testing.assert_allclose(file[0].configuration.box[:3], 1.01 * least, rtol=1e-6)
        for k, frame in enumerate(file):
            np.testing.assert_allclose(frame.particles.position, free.position[k], rtol=0, atol=2e-6)
            assert not frame.particles.image.any()
    with hoomd.open(ph.trajectory.export.gsd(free, tmp_path / "b.gsd", box=(90, 91, 92)), "r") as file:
        assert file[6].configuration.box[:3].tolist() == [90, 91, 92]
    with pytest.raises(InvalidInput, match="the bodies need more than"):
        ph.trajectory.export.gsd(free, tmp_path / "c.gsd", box=1.0)


def test_gsd_of_molecules(water, hoomd, tmp_path):
    places = atoms_of(water)[0].reshape(7, -1, 3)
    with hoomd.open(ph.trajectory.export.gsd(water, tmp_path / "a.gsd"), "r") as file:
        found = file[4].particles
    np.testing.assert_allclose(found.position + found.image * EDGES, places[4], rtol=0, atol=1e-6)
    assert found.types == ["O", "H"] and found.typeid.tolist() == [0, 1, 1] * N
    assert found.charge[:3] == pytest.approx([-0.8, 0.4, 0.4]) and found.mass[:3].tolist() == [16, 1, 1]
    np.testing.assert_array_equal(found.orientation, np.tile([1, 0, 0, 0], (3 * N, 1)))


def test_positions_at_a_face_stay_inside(boxed, hoomd, tmp_path):
    face = np.array([[1.5, 2.0, 2.5], [-1.5, -2.0, -2.5], [1.5 - 1e-12, 2.0, -1e-30], [3.0, 4.0, 5.0], [-3e-17, 0, 0]])
    ds = boxed.isel(time=[0]).assign(position=(("time", "body", "axis"), face[None]))
    with hoomd.open(ph.trajectory.export.gsd(ds, tmp_path / "a.gsd"), "r") as file:
        found = file[0].particles
    assert (found.position >= -EDGES / 2).all() and (found.position < EDGES / 2).all()
    np.testing.assert_allclose(found.position + found.image * EDGES, face, rtol=0, atol=1e-11)
    (frame,) = dumped(ph.trajectory.export.lammps_dump(ds, tmp_path / "a.dump"))
    place, image = columns(frame, "x", "y", "z"), columns(frame, "ix", "iy", "iz")
    assert (place >= 0).all() and (place < EDGES).all()
    np.testing.assert_allclose(place + image * EDGES, face, rtol=0, atol=1e-15)


def test_moments_that_cannot_be_told_are_zero(boxed, hoomd, tmp_path):
    def moments(ds, **options):
        with hoomd.open(ph.trajectory.export.gsd(ds, tmp_path / "a.gsd", **options), "r") as file:
            return file[0].particles.moment_inertia

    # Axes turned by an eighth about z are not principal.
    c = np.sqrt(0.5)
    turn = xr.DataArray([[c, -c, 0], [c, c, 0], [0, 0, 1]], dims=("new", "axis"))
    other = {name: boxed[name].dot(turn).rename(new="axis") for name in ("angular_momentum", "angular_velocity")}
    assert not moments(boxed.assign(other)).any()
    assert moments(boxed.assign(other), inertia=(1, 2, 3)).tolist() == [[1, 2, 3]] * N
    named = boxed.assign(inertia=(("body", "axis"), np.tile([4.0, 5.0, 6.0], (N, 1))))
    assert moments(named).tolist() == [[4, 5, 6]] * N


# ------------------------------------------------------------------ what is refused
def test_masses_that_cannot_be_told(boxed, hoomd, ase_read, tmp_path):
    still = boxed.assign(velocity=0 * boxed.velocity, momentum=0 * boxed.momentum)
    with pytest.raises(InvalidInput, match="mass is missing"):
        ph.trajectory.export.gsd(still, tmp_path / "a.gsd")
    assert not (tmp_path / "a.gsd").exists()
    (frame, *_) = ase_read(ph.trajectory.export.extended_xyz(still, tmp_path / "a.xyz"), format="extxyz")
    assert "masses" not in frame.arrays
    with hoomd.open(ph.trajectory.export.gsd(still, tmp_path / "a.gsd", mass=2.0), "r") as file:
        assert file[0].particles.mass.tolist() == [2.0] * N
    named = still.assign(mass=("body", MASS))
    (frame, *_) = ase_read(ph.trajectory.export.extended_xyz(named, tmp_path / "a.xyz"), format="extxyz")
    assert frame.get_masses().tolist() == MASS.tolist()


@each(
    ("options", "words"),
    [
        ({"every": 0}, "every is 0"),
        ({"species": ["Ar"]}, "species has 1 names for 5 bodies"),
        ({"species": "two words"}, "species must be words"),
        ({"sites": [("O", (0, 0))]}, "sites must be"),
        ({"sites": 3.0}, "sites must be"),
        ({"mass": (1, 2)}, "mass must be numbers of the shape"),
        ({"mass": np.nan}, "mass is nan"),
    ],
)
def test_wrong_arguments_leave_no_file(boxed, tmp_path, options, words):
    for writer in (ph.trajectory.export.extended_xyz, ph.trajectory.export.lammps_dump, ph.trajectory.export.gsd):
        with pytest.raises(InvalidInput, match=words):
            writer(boxed, tmp_path / "a", **options)
    assert not list(tmp_path.iterdir())


def test_trajectories_that_cannot_be_written(boxed, free, tmp_path):
    top = ph.integrate(ph.free_body((1, 2, 3)), step=0.1, steps=2, angular_velocity=(0, 0, 1))
    with pytest.raises(InvalidInput, match="no position"):
        ph.trajectory.export.extended_xyz(top, tmp_path / "a.xyz")
    with pytest.raises(InvalidInput, match="no rows"):
        ph.trajectory.export.extended_xyz(boxed.isel(time=slice(0, 0)), tmp_path / "a.xyz")
    torn = boxed.copy(deep=True)
    torn.position[3, 1, 2] = np.nan
    with pytest.raises(InvalidInput, match="position is not finite in row 3"):
        ph.trajectory.export.lammps_dump(torn, tmp_path / "a.dump")
    with pytest.raises(InvalidInput, match="wrap=True needs a periodic box"):
        ph.trajectory.export.extended_xyz(free, tmp_path / "a.xyz", wrap=True)
    with pytest.raises(InvalidInput, match="has its own"):
        ph.trajectory.export.gsd(boxed, tmp_path / "a.gsd", box=(9, 9, 9))


def test_without_gsd_there_is_one_sentence(boxed, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gsd.hoomd", None)
    with pytest.raises(MissingExtra, match=r"pip install 'polhode\[md\]'"):
        ph.trajectory.export.gsd(boxed, tmp_path / "a.gsd")
    assert not list(tmp_path.iterdir())


@each("suffix", ["xyz", "extxyz", "gsd", "dump", "lammpstrj"])
def test_the_command_writes_by_the_ending(water, tmp_path, suffix, capsys, monkeypatch):
    def call(*words):
        monkeypatch.setattr("sys.argv", ["polhode", "export", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert not ended.value.code

    if suffix == "gsd":
        pytest.importorskip("gsd.hoomd")
    ph.save(water, tmp_path / "a.nc")
    target = tmp_path / f"a.{suffix}"
    call(tmp_path / "a.nc", target, "--every", 3)
    assert target.stat().st_size > 500 and "3 rows" in capsys.readouterr().err
    if suffix in ("xyz", "dump"):
        assert target.read_text().count("\n") == 3 * (3 * N + (2 if suffix == "xyz" else 9))
        call(tmp_path / "a.nc", target, "--bodies", "--species", "Ar", "-q")
        assert target.read_text().count("Ar") == 7 * N


@each(
    ("words", "told"),
    [
        (("a.xyz", "--name", "WATER"), "--name means nothing to a .xyz file; leave it out"),
        (("a.gsd", "--scalar", "first"), "--scalar means nothing to a .gsd file; leave it out"),
        (("a.oem", "--name", "A", "--center", "B", "--every", 10), "--every means nothing to a .oem file"),
    ],
)
def test_no_option_is_ignored(water, tmp_path, words, told, capsys, monkeypatch):
    ph.save(water, tmp_path / "a.nc")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["polhode", "export", "a.nc", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 3 and told in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["a.nc"]
