"""Files of strangers: what is no file, or too large, is refused in one sentence, at once and in little memory."""

import json
import os
import socket
import struct

import pytest

import polhode as ph
from bounds import bounded, counted
from polhode import operating_system, reading
from polhode.errors import FileProblem, InvalidInput

SECONDS, MEMORY = 20, 2**30
ORBIT = '[system]\ntype = "orbit"\nmu_m3_s2 = 3.986e14\n{system}\n[run]\nstep = 1.0\nsteps = 2\n[initial]\n{initial}\n'


def scenario_with(system="", initial="position = [7e6, 0, 0]\nvelocity = [0, 7.5e3, 0]"):
    """What reads a scenario that names a file."""

    def read(path):
        asking = path.with_name("asking.toml")
        asking.write_text(ORBIT.format(system=system.format(path.name), initial=initial.format(path.name)))
        return ph.runs.read_scenario(asking)

    return read


def with_code(path):
    asking = path.with_name("asking.toml")
    asking.write_text(f'[system]\ntype = "rigid_body"\ninertia = [1, 2, 2.5]\ntorque = "{path.name}:torque"\n'
                      "[run]\nstep = 0.1\nsteps = 2\n[initial]\nangular_velocity = [1, 0, 0]\n")  # fmt: skip
    return ph.runs.read_scenario(asking, allow_code=True)


def shaped(path):
    pytest.importorskip("trimesh")
    return ph.view(turn(), mesh=path)


def with_members(path):
    asking = path.with_name("asking.toml")
    asking.write_text(f'problem = "krysl_fast_top"\n[run]\nstep = 0.01\nsteps = 2\n[members]\ntable = "{path.name}"\n')
    return ph.ensembles.ensemble_of(ph.runs.read_scenario(asking))


READERS = {
    "scenario": ("x.toml", ph.runs.read_scenario, FileProblem),
    "swept scenario": ("x.toml", ph.sweep, FileProblem),
    "functions": ("x.py", with_code, FileProblem),
    "gravity field": ("x.gfc", ph.forces.gravity_field, InvalidInput),
    "gravity field of a scenario":
        ("x.gfc", scenario_with('forces = [{{ kind = "gravity_field", field = "{}" }}]'), InvalidInput),
    "two lines": ("x.tle", scenario_with(initial='tle = "{}"'), InvalidInput),
    "elements": ("x.xml", ph.initial.omm, InvalidInput),
    "elements of a scenario": ("x.xml", scenario_with(initial='omm = "{}"'), InvalidInput),
    "orbit": ("x.oem", ph.initial.oem, InvalidInput),
    "orbit of a scenario": ("x.oem", scenario_with(initial='oem = "{}"'), InvalidInput),
    "attitude": ("x.aem", ph.initial.aem, InvalidInput),
    "magnetic field": (
        "x.shc", lambda path: ph.surroundings.magnetic_field("igrf", epoch=2022.5, file=str(path)), FileProblem,
    ),
    "ephemeris": (
        "x.bsp", lambda path: ph.surroundings.ephemeris("moon", "2026-03-20", 9.0, source=str(path)), InvalidInput,
    ),
    "mesh": ("x.obj", shaped, FileProblem),
    "mesh in bytes": ("x.stl", shaped, FileProblem),
    "measurements": ("x.csv", ph.estimation.read, FileProblem),
    "table of members": ("x.csv", ph.ensembles.sampling.members, FileProblem),
    "members of a scenario": ("x.csv", with_members, FileProblem),
    "trajectory": ("x.nc", ph.load, FileProblem),
    "trajectory in a view": ("x.nc", ph.view, FileProblem),
}  # fmt: skip


@pytest.fixture
def bounds():
    with bounded(MEMORY, SECONDS):
        yield


def huge(path):
    path.touch()
    os.truncate(path, 2**42)  # without a byte on the disk


def listening(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))  # whose names are short


SPECIAL = {
    "endless": (lambda path: path.symlink_to("/dev/zero"), "a device, not a file|no file|is not a file"),
    "pipe": (os.mkfifo, "a pipe, not a file|no file|is not a file"),
    "socket": (listening, "a socket, not a file|no file|is not a file"),
    "huge": (huge, r"it has 4.4e\+03 GB, but at most .* are read; POLHODE_LARGEST_FILE_MB in the environment raises"),
    "folder": (lambda path: path.mkdir(), "directory|no file|is not a file"),
    "absent": (lambda path: None, "no such file|No such file|no file"),
}


@counted
@pytest.mark.parametrize("special", SPECIAL)
@pytest.mark.parametrize("kind", READERS)
def test_what_is_no_file_or_too_large_is_refused_in_one_sentence(kind, special, tmp_path, monkeypatch, bounds):
    monkeypatch.chdir(tmp_path)
    name, read, error = READERS[kind]
    make, words = SPECIAL[special]
    make(tmp_path / name)
    with pytest.raises((InvalidInput, FileProblem), match=words) as refused:
        read(tmp_path / name)
    said = str(refused.value)
    assert type(refused.value) is error or special in ("folder", "absent") or kind == "functions"
    assert name in said and "\n" not in said and len(said) < 500


def test_the_environment_raises_what_is_stated(tmp_path, monkeypatch):
    path = tmp_path / "x.tle"
    path.touch()
    os.truncate(path, 3 * reading.MB)
    with pytest.raises(InvalidInput, match=r"it has 3 MB, but at most 1 MB are read; POLHODE_LARGEST_FILE_MB in"):
        reading.text(path, "tle")
    monkeypatch.setenv(reading.LIMIT, "4")
    assert len(reading.text(path, "tle")) == 3 * reading.MB
    assert reading.limit(16) == 16 * reading.MB, "it lowers nothing"
    for wrong in ("much", "nan", "inf", "-1", "0"):
        monkeypatch.setenv(reading.LIMIT, wrong)
        with pytest.raises(InvalidInput, match=f"POLHODE_LARGEST_FILE_MB is '{wrong}' in the environment; write a num"):
            reading.text(path, "tle")


def test_what_grows_while_it_is_read_and_what_has_no_end_of_line_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "x.tle"
    path.write_bytes(b"1" * reading.MB)
    with pytest.raises(InvalidInput, match="it has more, but at most 1 MB are read"), reading.opened(path, "tle") as f:
        with path.open("ab") as more:
            more.write(b"2")
        f.read()
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b\n1," + b"2" * (reading.LONGEST_LINE + 1))
    for read in (ph.estimation.read, ph.ensembles.sampling.members):
        with pytest.raises(FileProblem, match="line 2 has more than 4 MB"):
            read(path)


BOMB = {
    "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
    "accessors": [{"componentType": 5126, "count": 3, "type": "VEC3"}],
}  # fmt: skip


@pytest.mark.parametrize("change", [
    {"accessors": [{"componentType": 5126, "count": 2 * 10**9, "type": "VEC3"}]},
    {"accessors": [{"componentType": 5126, "count": 600_000, "type": "VEC3"}], "nodes": [{"mesh": 0}] * 1000},
])  # fmt: skip
def test_a_mesh_with_more_corners_than_bytes_is_refused_by_its_header(change, tmp_path, bounds):
    text = json.dumps(BOMB | change).encode()
    head = struct.pack("<4sIIII", b"glTF", 2, 20 + len(text), len(text), 0x4E4F534A)
    (tmp_path / "x.glb").write_bytes(head + text)
    with pytest.raises(InvalidInput, match=r"mesh has \d.* triangles; simplify it to 200,000 or fewer"):
        shaped(tmp_path / "x.glb")


def swept(folder):
    path = folder / "top.toml"
    path.write_text(
        'problem = "krysl_fast_top"\n[run]\nstep = 0.002\nsteps = 2\n[sweep.grid]\n"run.step" = [0.001, 0.002]\n'
    )
    return ph.sweep(path, store=folder / "s.zarr").encoding["store"]


def streamed(folder):
    turn(store=folder / "r.zarr")
    return folder / "r.zarr"


def turn(**words):
    return ph.integrate(ph.free_body((1, 2, 2.5)), "exact", step=0.5, steps=3, angular_velocity=(0.2, 1, 0.1), **words)


def more_rows(node):
    node["shape"] = [2**50, *node["shape"][1:]]
    node["chunk_grid"]["configuration"]["chunk_shape"] = [2**40, *node["shape"][1:]]


def other_codec(node):
    node["codecs"] = [*node["codecs"][:1], {"name": "numcodecs.pickle"}]


@pytest.mark.parametrize("gathered", [False, True], ids=["own", "gathered"])
@pytest.mark.parametrize("change", [more_rows, other_codec])
def test_bombs_in_stores_are_refused_by_their_headers(change, gathered, tmp_path, bounds):
    for folder, name, read in [
        (swept(tmp_path), "energy_error", ph.ensembles.open_sweep),
        (str(streamed(tmp_path)) + "/trajectory", "energy_error",
         lambda path: ph.load(os.path.dirname(path), lazy=True).energy_error.values),
    ]:  # fmt: skip
        read(folder)
        file = os.path.join(folder, *([] if gathered else [name]), "zarr.json")
        with open(file, encoding="utf-8") as text:
            node = json.load(text)
        change(node["consolidated_metadata"]["metadata"][name] if gathered else node)
        with open(file, "w", encoding="utf-8") as text:
            json.dump(node, text)
        with pytest.raises(FileProblem, match=r"is not read: variable 'energy_error' (has|is another)") as refused:
            read(folder)
        assert "\n" not in str(refused.value)


def test_a_folder_larger_than_the_memory_is_refused_before_its_digests_are_compared(tmp_path, monkeypatch):
    ph.save(turn(), tmp_path / "a.zarr")
    for k in range(3):
        (tmp_path / "a.zarr" / "energy" / f"more{k}").touch()
        os.truncate(tmp_path / "a.zarr" / "energy" / f"more{k}", int(reading.limit() // 2))
    with pytest.raises(FileProblem, match=r"but at most .* are given to a file; POLHODE_LARGEST_FILE_MB"):
        ph.load(tmp_path / "a.zarr")
    monkeypatch.setenv(reading.LIMIT, str(2 * reading.limit() / reading.MB))
    with pytest.raises(FileProblem, match="torn or was changed"):
        monkeypatch.setattr("polhode.trajectory.digests._of_file", lambda path: "")
        ph.load(tmp_path / "a.zarr")


def test_every_kind_of_file_has_a_stated_size():
    assert all(kind.most > 0 and "{why}" in kind.said and "{path" in kind.said for kind in reading.KINDS.values())
    assert reading.limit(float("inf")) <= operating_system.memory() / 2


def walked(data):
    """At which byte of a netCDF file each object of its heap of strings begins, the free space last."""
    at, found = data.index(b"GCOL") + 16, []
    while not found or data[found[-1] : found[-1] + 2] != b"\0\0":
        found.append(at)
        at += 16 + (int.from_bytes(data[at + 8 : at + 16], "little") + 7 & -8)
    return found


LOADED = """
import json, os, polhode
folder, names = json.loads({!r})
os.chdir(folder)
said = []
for name in names:
    try:
        polhode.load(name)
    except polhode.errors.FileProblem as refused:
        said.append(str(refused))
print(json.dumps(said))
"""


def test_a_heap_of_strings_without_end_is_refused(tmp_path, forked):
    """HDF5 reads such heaps for ever, and no signal stops it: so in a process of their own."""
    turn().drop_encoding().to_netcdf(tmp_path / "good.nc", engine="h5netcdf")
    good = (tmp_path / "good.nc").read_bytes()
    *strings, free = walked(good)
    longer = int.from_bytes(good[strings[-1] + 8 : strings[-1] + 16], "little") + 160
    damages = [(free, 0, 0), (free, 0, 8), (free, 90, 2**64 - 16), (strings[-1], 90, longer)]  # where, index, size
    for k, (at, index, size) in enumerate(damages):
        spoilt = bytearray(good)
        struct.pack_into("<HHIQ", spoilt, at, index, 1, 0, size)
        (tmp_path / f"{k}.nc").write_bytes(spoilt)
    names = ["good.nc", *(f"{k}.nc" for k in range(len(damages)))]
    said = forked(LOADED.format(json.dumps([str(tmp_path), names])))
    assert len(said) == len(damages), "one sentence for each, none for the good file"
    for name, sentence in zip(names[1:], said, strict=True):
        assert sentence.startswith(f"{name!r} is not read: its heap of strings at byte "), sentence
        assert sentence.endswith("it is damaged, or polhode did not write it")


def test_addresses_of_other_sizes_are_refused(tmp_path):
    import h5py

    asked = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    asked.set_sizes(8, 4)
    h5py.h5f.create(bytes(tmp_path / "narrow.nc"), h5py.h5f.ACC_TRUNC, asked).close()
    with pytest.raises(FileProblem, match="its addresses and lengths have other than 8 bytes"):
        ph.load(tmp_path / "narrow.nc")
