"""Result files at rest: what is torn is never read as something else, and what strangers made runs nothing."""

from __future__ import annotations

import json
import os
import random
import shutil
import warnings

import h5py
import numpy as np
import pytest
import xarray as xr
import zarr

import polhode as ph
from each import each
from polhode.trajectory import digests


@pytest.fixture(scope="module")
def trajectory():
    """One with variables of every size that is stored in its own way."""
    top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    start = {"attitude": (0.8, 0.6, 0, 0), "angular_velocity": (0.3, -0.2, 4)}
    return ph.integrate(top, "mkrk:rk4", step=0.01, steps=700, **start)


@pytest.fixture(scope="module", params=[".nc", ".zarr"])
def written(request, trajectory, tmp_path_factory):
    return ph.save(trajectory, tmp_path_factory.mktemp("written") / f"run{request.param}")


def copy_of(path, folder):
    """A copy beside others, and its files."""
    target = folder / path.name
    if path.is_file():
        shutil.copy(path, target)
        return target, [target]
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(path, target)
    return target, sorted(p for p in target.rglob("*") if p.is_file())


def mishap(content, rng):
    """What disks and copies do: a bit flipped, a block zeroed or swapped with another, the end lost."""
    torn, n = bytearray(content), len(content)
    at, size = rng.randrange(n), rng.choice((1, 16, 512, 4096))
    match rng.choice(("flip", "zero", "swap", "cut")):
        case "flip":
            torn[at] ^= 1 << rng.randrange(8)
        case "zero":
            torn[at : at + size] = bytes(len(torn[at : at + size]))
        case "swap":
            other = rng.randrange(n)
            a, b = torn[at : at + size], torn[other : other + size]
            torn[at : at + len(b)], torn[other : other + len(a)] = b, a
            torn = torn[:n]
        case "cut":
            del torn[at:]
    return bytes(torn)


def harm(path, folder, rng, count):
    """Load so many torn copies; how many were torn, and what was said."""
    said = []
    target, files = copy_of(path, folder)
    while len(said) < count:
        file = rng.choices(files, [f.stat().st_size ** 0.5 for f in files])[0]
        content = file.read_bytes()
        torn = mishap(content, rng)
        if torn == content:
            continue
        file.write_bytes(torn)
        with pytest.raises(ph.errors.FileProblem) as caught:
            ph.load(target)
        assert caught.value.exit_code == 5
        said.append(str(caught.value))
        file.write_bytes(content)
    assert ph.load(target).equals(ph.load(path))
    return said


# ------------------------------------------------------------------ torn files
def test_whole_files_are_read(written, trajectory):
    assert ph.load(written).equals(trajectory)
    assert ph.rerun(ph.load(written)).equals(trajectory)


def test_torn_files_are_not_read(written, tmp_path):
    said = harm(written, tmp_path, random.Random(1), 60)
    named = [words for words in said if "variable 'a" in words or "its attributes" in words]
    assert len(named) > 20


@pytest.mark.full
def test_many_torn_files(written, tmp_path):
    harm(written, tmp_path, random.Random(2), 1500)


def test_what_is_torn_is_named(trajectory, tmp_path):
    path = ph.save(trajectory, tmp_path / "run.nc")
    (tmp_path / "torn").mkdir()
    with h5py.File(path, "r") as file:
        places = {name: file[name].id.get_offset() for name in ("energy", "time")}
        first = []
        file["attitude"].id.chunk_iter(lambda chunk: first.append(chunk.byte_offset))
    for name, at in {**places, "attitude": first[0]}.items():
        target, _ = copy_of(path, tmp_path / "torn")
        content = bytearray(target.read_bytes())
        content[at + 8] ^= 1
        target.write_bytes(content)
        with pytest.raises(ph.errors.FileProblem, match=f"torn or was changed: variable '{name}'; take a copy"):
            ph.load(target)
    target, _ = copy_of(path, tmp_path / "torn")
    content = target.read_bytes()
    target.write_bytes(content.replace(b'"step": 0.01', b'"step": 0.02', 1))
    with pytest.raises(ph.errors.FileProblem, match="torn or was changed: its attributes"):
        ph.load(target)
    target.write_bytes(content[: content.rindex(b"polhode\n")])
    with pytest.raises(ph.errors.FileProblem, match="something else follows its end"):
        ph.load(target)
    store = ph.save(trajectory, tmp_path / "run.zarr")
    (store / "energy" / "c" / "0").unlink()  # Zarr alone reads that as fill values
    node = store / "time" / "zarr.json"
    node.write_text(node.read_text().replace('"units"', '"Units"'))
    with pytest.raises(ph.errors.FileProblem, match="variable 'energy', attributes of variable 'time'"):
        ph.load(store)
    (store / digests.GROUP / "zarr.json").write_text("{}")
    with pytest.raises(ph.errors.FileProblem, match="its digests"):
        ph.load(store)


def test_a_file_is_synced_with_its_digests_before_it_takes_its_place(trajectory, tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(os, "fsync", lambda handle: done.append(os.fstat(handle).st_size))
    monkeypatch.setattr(os, "replace", lambda a, b, real=os.replace: (done.append("replaced"), real(a, b)))
    path = ph.save(trajectory.isel(time=slice(0, 3)), tmp_path / "run.nc")
    assert done == [path.stat().st_size, "replaced"]


def test_checksums_for_other_readers(written, trajectory):
    """Large variables have the checksums of their format; xarray reads all of it, and takes no digests along."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if written.suffix == ".nc":
            with h5py.File(written, "r") as file:
                assert file["attitude"].fletcher32 and not file["energy"].chunks
            plain = xr.open_dataset(written).load()
        else:
            group = zarr.open_group(written, mode="r")
            for name in ("attitude", "energy", "axis"):
                last = group[name].metadata.codecs[-1].to_dict()
                assert last["name"] == "zstd" and last["configuration"]["checksum"]
            plain = xr.open_zarr(written, consolidated=False).load()
            chunk = written / "energy" / "c" / "0"
            data = chunk.read_bytes()
            try:
                chunk.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
                with pytest.raises(RuntimeError, match="checksum"):
                    xr.open_zarr(written, consolidated=False).energy.load()
            finally:
                chunk.write_bytes(data)
    assert plain.equals(trajectory) and plain.attrs == trajectory.attrs


def test_files_of_other_programs_have_no_digests(written, trajectory, tmp_path):
    """What xarray writes, as users do and earlier versions did, is read as it is; also of a Dataset from a file."""
    found = xr.open_dataset(written) if written.suffix == ".nc" else xr.open_zarr(written, consolidated=False)
    with found:
        changed = found.load().assign(more=("time", np.arange(701.0)))
    changed.attrs["title"] = "mine"
    changed.to_netcdf(tmp_path / "mine.nc", engine="h5netcdf")
    assert ph.load(tmp_path / "mine.nc").attrs["title"] == "mine"
    changed = changed.drop_encoding()
    strings = {name: c.astype(object) for name, c in changed.coords.items() if c.dtype.kind in "UT"}
    changed.assign_coords(strings).to_zarr(tmp_path / "mine.zarr", consolidated=False)
    assert float(ph.load(tmp_path / "mine.zarr").more[-1]) == 700.0
    packed = {"energy": {"zlib": True, "shuffle": True}}
    trajectory.to_netcdf(tmp_path / "packed.nc", engine="h5netcdf", encoding=packed)
    assert ph.load(tmp_path / "packed.nc").equals(trajectory)


def test_files_changed_in_their_place(trajectory, tmp_path):
    """A Zarr folder keeps its digests, which then tell; HDF5 cuts off what is behind its end when it has written."""
    store, file = (ph.save(trajectory, tmp_path / f"run{suffix}") for suffix in (".zarr", ".nc"))
    zarr.open_group(store, mode="r+")["energy"][3] = 7.0
    with pytest.raises(ph.errors.FileProblem, match="torn or was changed: variable 'energy'"):
        ph.load(store)
    with h5py.File(file, "r+") as content:
        content["energy"][3] = 7.0
    assert float(ph.load(file).energy[3]) == 7.0


# ------------------------------------------------------------------ files of strangers
@pytest.fixture(scope="module")
def foreign(trajectory, tmp_path_factory):
    """A trajectory as another program writes it."""
    folder = tmp_path_factory.mktemp("foreign")
    strings = {name: c.astype(object) for name, c in trajectory.coords.items() if c.dtype.kind == "U"}
    trajectory.to_netcdf(folder / "foreign.nc", engine="h5netcdf")
    trajectory.assign_coords(strings).to_zarr(folder / "foreign.zarr", consolidated=False)
    assert ph.load(folder / "foreign.zarr").attrs["polhode_version"]
    return folder


@pytest.fixture
def crafted(foreign, tmp_path):
    """A copy of it, to be made worse."""
    return shutil.copytree(foreign, tmp_path / "crafted")


def in_hdf5(make):
    def craft(folder):
        with h5py.File(folder / "foreign.nc", "r+") as file:
            make(file)
        return folder / "foreign.nc"

    return craft


def huge_shape(file):
    file.create_dataset("huge", shape=(10**13,), chunks=(1000,), dtype="f8")


def deflated(file):
    file.create_dataset("bomb", (10,), np.uint8, chunks=(2**27,), compression="gzip", maxshape=(None,))


def opaque(file):
    file["objects"] = np.frombuffer(b"cos\nsystem\n(S'true'\ntR.", dtype="V23")


def compound(file):
    file["table"] = np.zeros(3, dtype=[("a", "f8"), ("b", "i4")])


def same_strings(file):
    """Strings, to be made references to one of them, as a file can hold and h5py never writes."""
    strings = file.create_dataset("strings", (4,), dtype=h5py.string_dtype())
    strings[:] = ["x" * 50_000] * 4


def stranger_filter(file):
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((10,))
    properties.set_filter(32015, h5py.h5z.FLAG_OPTIONAL, (3,))
    h5py.h5d.create(file.id, b"filtered", h5py.h5t.NATIVE_DOUBLE, h5py.h5s.create_simple((10,)), properties)


def external_numbers(file):
    file.create_dataset("elsewhere", (2,), "f8", external=[("/etc/passwd", 0, 16)])


def virtual(file):
    layout = h5py.VirtualLayout((2,), "f8")
    layout[:] = h5py.VirtualSource("/etc/passwd", "x", (2,))
    file.create_virtual_dataset("elsewhere", layout)


def external_link(file):
    file["linked"] = h5py.ExternalLink("/etc/passwd", "/x")


def soft_link(file):
    file["linked"] = h5py.SoftLink("/energy")


HDF5 = {
    huge_shape: r"variable 'huge'.*8e\+04 GB of memory",
    deflated: "variable 'bomb' has chunks of 0.134 GB, more than all of it",
    opaque: "variable 'objects' holds .*V23.*, neither numbers nor text",
    compound: "variable 'table' holds .*, neither numbers nor text",
    stranger_filter: "variable 'filtered' has the filter 32015",
    external_numbers: "variable 'elsewhere' has its numbers in other files",
    virtual: "variable 'elsewhere' has its numbers in other files",
    external_link: "'linked' is a link out of its place",
    soft_link: "'linked' is a link out of its place",
}


@pytest.mark.parametrize("make", HDF5, ids=lambda make: make.__name__)
def test_netcdf_of_strangers(crafted, make):
    path = in_hdf5(make)(crafted)
    with pytest.raises(ph.errors.FileProblem, match=HDF5[make]):
        ph.load(path)


def test_strings_that_are_one(crafted, monkeypatch):
    path = in_hdf5(same_strings)(crafted)
    assert ph.load(path).strings.size == 4
    size = path.stat().st_size
    whole = bytearray(path.read_bytes())
    with h5py.File(path, "r") as file:  # 16 bytes each: a length, a place and a number
        at = file["strings"].id.get_offset()
    whole[at + 16 : at + 64] = 3 * whole[at : at + 16]
    path.write_bytes(whole)
    assert ph.load(path).strings.size == 4 and size < 400_000
    with h5py.File(path, "r+") as file:
        del file["strings"]
        file.create_dataset("strings", (4000,), dtype=h5py.string_dtype())
        file["strings"][0] = "x" * 50_000
        file["strings"][1:] = "a"
        file.flush()
        at = file["strings"].id.get_offset()
    whole = bytearray(path.read_bytes())
    whole[at + 16 : at + 64_000] = 3999 * whole[at : at + 16]
    path.write_bytes(whole)
    with pytest.raises(ph.errors.FileProblem, match="variable 'strings' has strings of more bytes than the file"):
        ph.load(path)


def node(folder, name, change):
    path = folder / "foreign.zarr" / name / "zarr.json"
    told = json.loads(path.read_text())
    change(told)
    path.write_text(json.dumps(told))


def codec_of_a_stranger(folder):
    node(folder, "energy", lambda told: told["codecs"].append({"name": "numcodecs.pickle", "configuration": {}}))


def kind_of_a_stranger(folder):
    node(folder, "energy", lambda told: told.update(data_type={"name": "object", "configuration": {}}))


def shape_beyond_memory(folder):
    node(folder, "energy", lambda told: told.update(shape=[10**15]))


def chunks_beyond_memory(folder):
    node(folder, "energy", lambda told: told["chunk_grid"]["configuration"].update(chunk_shape=[10**12]))


def chunks_without_number(folder):
    node(folder, "energy", lambda told: told["chunk_grid"]["configuration"].update(chunk_shape=[1]) or
         told.update(shape=[10**8]))  # fmt: skip


def no_shape(folder):
    node(folder, "energy", lambda told: told.update(shape=[-1]))


def shape_of_digits(folder):
    node(folder, "energy", lambda told: told.update(shape=[2**62] * 32, chunk_grid={
        "name": "regular", "configuration": {"chunk_shape": [2**62] * 32}}))  # fmt: skip


def other_grid(folder):
    node(folder, "energy", lambda told: told["chunk_grid"].update(name="rectilinear"))


def transformed(folder):
    node(folder, "energy", lambda told: told.update(storage_transformers=[{"name": "evil"}]))


def second_version(folder):
    node(folder, "", lambda told: told.update(zarr_format=2))


def out_of_the_folder(folder):
    chunk = folder / "foreign.zarr" / "energy" / "c" / "0"
    chunk.unlink()
    chunk.symlink_to("/etc/passwd")


def a_pipe(folder):
    os.mkfifo(folder / "foreign.zarr" / "energy" / "c" / "1")


def packed_bomb(folder):
    from numcodecs.zstd import Zstd

    (folder / "foreign.zarr" / "energy" / "c" / "0").write_bytes(Zstd().encode(bytes(2**27)))


def many_strings(folder):
    from numcodecs.zstd import Zstd

    (folder / "foreign.zarr" / "axis" / "c" / "0").write_bytes(Zstd().encode(b"\xff\xff\xff\xff" + bytes(12)))


def nested(folder):
    (folder / "foreign.zarr" / "energy" / "zarr.json").write_text("[" * 200_000)


ZARR = {
    codec_of_a_stranger: "variable 'energy' has the codec 'numcodecs.pickle'",
    kind_of_a_stranger: "variable 'energy' holds .*object.*, neither numbers nor text",
    shape_beyond_memory: r"variable 'energy' it needs 8e\+06 GB of memory",
    chunks_beyond_memory: r"variable 'energy' has chunks of 8e\+03 GB, more than all of it",
    chunks_without_number: "variable 'energy' is in more than 1000000 chunks",
    no_shape: r"variable 'energy' has the shape \[-1\]",
    shape_of_digits: "variable 'energy' it needs .* GB of memory",
    other_grid: "variable 'energy' has the chunk grid 'rectilinear'",
    transformed: "variable 'energy' has storage transformers",
    second_version: "is of Zarr version 2, not 3",
    out_of_the_folder: "energy/c/0 is a link, or no file at all",
    a_pipe: "energy/c/1 is a link, or no file at all",
    packed_bomb: "a chunk of variable 'energy' does not say that it unpacks to what its shape needs",
    many_strings: "a chunk of variable 'axis' says that it has more strings than 16 bytes can hold",
    nested: r"torn or not a trajectory \(RecursionError\)",
}


@pytest.mark.skipif(os.name != "posix", reason="links and pipes")
@pytest.mark.parametrize("make", ZARR, ids=lambda make: make.__name__)
def test_zarr_of_strangers(crafted, make):
    make(crafted)
    with pytest.raises(ph.errors.FileProblem, match=ZARR[make]):
        ph.load(crafted / "foreign.zarr")


# ------------------------------------------------------------------ records of runs that strangers wrote
JUNK = (None, True, -1, 1.5, 10**400, "x", "__import__('os')", [], {}, [[1]], 10**18, {"function": "f", "sha256": "y"})


def changed(thing, rng):
    """One part of a nest of lists and dicts in the place of another, missing, or nonsense."""
    if isinstance(thing, dict) and thing and rng.random() < 0.85:
        name, thing = rng.choice(list(thing)), dict(thing)
        if rng.random() < 0.15:
            del thing[name]
        else:
            thing[name] = changed(thing[name], rng)
        return thing
    if isinstance(thing, list) and thing and rng.random() < 0.6:
        k, thing = rng.randrange(len(thing)), list(thing)
        thing[k] = changed(thing[k], rng)
        return thing
    return rng.choice(JUNK)


def test_records_of_strangers(trajectory):
    """Whatever a record says, `rerun` computes or says what is wrong with it."""
    rng, recipe, refused = random.Random(6), json.loads(trajectory.attrs["run"]) | {"steps": 5}, 0
    for _ in range(150):
        told = trajectory.isel(time=slice(2)).assign_attrs(run=json.dumps(changed(recipe, rng)))
        try:
            ph.rerun(told)
        except ph.errors.PolhodeError:
            refused += 1
    assert refused > 80
    deep = trajectory.isel(time=slice(2)).assign_attrs(run="[" * 100_000)
    with pytest.raises(ph.errors.InvalidInput, match="not one that polhode wrote"):
        ph.rerun(deep)
    longer = json.dumps(recipe | {"state": recipe["state"] + [1.0]})  # which kernels would read past its end
    with pytest.raises(ph.errors.InvalidInput, match="state must be 13"):
        ph.rerun(trajectory.assign_attrs(run=longer))


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """A live store in the middle of a run."""
    path = tmp_path_factory.mktemp("live") / "run.zarr"
    top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)

    def stop(progress):
        if progress.done:
            raise KeyError("a stop")

    with pytest.raises(KeyError):
        ph.integrate(top, "mkrk:dp8", steps=ph.Tolerance(1e-9), t_end=30.0, angular_velocity=(0.3, -0.2, 4),
                     store=ph.Store(path, checkpoint_seconds=0.0), progress=stop)  # fmt: skip
    return path


def rewritten(live, folder, change):
    """A copy of the store, its checkpoint changed and sealed again, as a stranger can."""
    from polhode.runs.store import _sealed

    path = folder / "foreign.zarr"
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(live, path)
    body = json.loads((path / "checkpoint.json").read_text())
    del body["sha256"]
    body = change(body)
    (path / "checkpoint.json").write_text(json.dumps(body | {"sha256": _sealed(body)}) if body else "null")
    return path


@pytest.mark.filterwarnings("ignore::polhode.errors.OtherMachineWarning")
def test_checkpoints_of_strangers(live, tmp_path):
    assert ph.load(rewritten(live, tmp_path, dict)).attrs["incomplete"]
    rng, refused = random.Random(7), 0
    for _ in range(20):

        def change(body):
            found = changed(body, rng)
            return found if isinstance(found, dict) else {}

        path = rewritten(live, tmp_path, change)
        for read in (ph.load, ph.resume):
            try:
                read(path)
            except ph.errors.PolhodeError:
                refused += 1
    assert refused > 20


@each(
    ("name", "slot", "value"),
    [("report", 16, 1e9), ("report", 19, -1e6), ("course", "ACCEPTED", 1e300), ("course", "SAMPLE", -5.0),
     ("parameters", 0, 1e9)],
)  # fmt: skip
def test_numbers_by_which_kernels_find_others(live, tmp_path, name, slot, value):
    """In the memory of a run are places and counts, which compiled code trusts."""
    from polhode.kernel import layout

    at = getattr(layout, slot) if isinstance(slot, str) else slot

    def change(body):
        body["state"]["memory"][name][at] = float(value).hex()
        return body

    for read in (ph.load, ph.resume):
        with pytest.raises(ph.errors.FileProblem, match="is not of this run"):
            read(rewritten(live, tmp_path, change))


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_a_store_that_leads_out_of_its_folder(live, tmp_path):
    path = rewritten(live, tmp_path, dict)
    shutil.move(path / "state", tmp_path / "elsewhere")
    (path / "state").symlink_to(tmp_path / "elsewhere")
    for read in (ph.load, ph.resume):
        with pytest.raises(ph.errors.FileProblem, match="state is a link"):
            read(path)


# ------------------------------------------------------------------ a disk that is full
FULL = """
    import json, os, resource, signal
    from pathlib import Path
    import numpy as np
    import polhode as ph
    from polhode.trajectory import export
    from polhode.trajectory.files import appearing_whole

    os.chdir({!r})
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    body = ph.particle(mass=2.0, stiffness=3.0)
    ds = ph.integrate(body, "mkrk:rk4", step=0.01, steps=3000, position=(1, 0, 0), velocity=(0, 1, 0))
    kinds = {{
        "a.nc": ph.save, "a.zarr": ph.save, "a.xyz": export.extended_xyz, "a.dump": export.lammps_dump,
        "a.gsd": export.gsd,
        "a.oem": lambda ds, path: export.oem(
            ds, path, object_name="X", center_name="EARTH", units="km", epoch="2030-01-01T00:00:00 TDB"
        ),
    }}
    told = {{}}
    for name, write in kinds.items():
        path = Path(name)
        write(ds.isel(time=slice(0, 20)), path)
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        before = [file.read_bytes() for file in files]
        for most in (0, 30_000):
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
            try:
                write(ds, path)
                words = "written"
            except ph.errors.FileProblem as refused:
                words = str(refused)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            told[f"{{name}} {{most}}"] = words, before == [file.read_bytes() for file in files]
    left = [path.name for path in Path().iterdir() if path.name not in kinds]
    print(json.dumps([told, left]))
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_disk_that_is_full(forked, tmp_path):
    """The old file is kept, one sentence says so; HDF5 alone ends the process."""
    told, left = forked(FULL.format(str(tmp_path)))
    for name, (words, kept) in told.items():
        assert words.startswith(f"cannot write {name.split()[0]}: File too large; choose another place"), (name, words)
        assert kept, name
    assert left == []
