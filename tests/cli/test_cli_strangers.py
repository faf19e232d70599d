"""``polhode info``, ``resume`` and ``plot`` with files of strangers: one sentence, soon, and in little memory."""

import json
import os
import shutil

import h5py
import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from bounds import bounded, counted
from polhode.cli import group

SECONDS, MEMORY = 20, 2**30


def endless(path):
    path.symlink_to("/dev/zero")


def huge(path):
    path.touch()
    os.truncate(path, 2**42)  # without a byte on the disk


def text(path):
    path.write_text("{" * 5000)


SPECIAL = {"endless": endless, "pipe": os.mkfifo, "huge": huge, "text": text}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A live store of a run that is not over, and a trajectory."""

    def stop(progress):
        if progress.done >= 4:
            raise KeyboardInterrupt

    folder = tmp_path_factory.mktemp("made")
    how = {"step": 0.1, "steps": 50, "angular_velocity": (0.2, 1.0, 0.1)}
    body = ph.free_body((1, 2, 2.5))
    with pytest.raises(ph.errors.Interrupted):
        ph.integrate(body, "trapm", **how, store=ph.Store(folder / "x.zarr", 0), progress=stop)
    ph.save(ph.integrate(body, "trapm", **how), folder / "x.nc")
    return folder


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    """Copies of them, in the folder one is in."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(made / "x.zarr", "x.zarr")
    shutil.copy(made / "x.nc", "x.nc")
    return tmp_path


def replaced(path, make):
    """Something else in the place of a file or folder."""
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    make(path)


def refused(*words, of):
    """The sentence of a command that is refused within the bounds."""
    with bounded(MEMORY, SECONDS):
        ended = CliRunner().invoke(group, list(words))
    said = str(ended.exception or "")
    assert isinstance(ended.exception, ph.errors.PolhodeError), (ended.exception, ended.output)
    assert said and "\n" not in said and len(said) < 600 and of in said, said
    return said


@counted
@pytest.mark.parametrize("special", SPECIAL)
@pytest.mark.parametrize("inside", ["", "checkpoint.json", "zarr.json", "time/zarr.json", "state/c/0/0"])
@pytest.mark.parametrize("command", ["info", "resume"])
def test_what_is_no_store(here, command, inside, special):
    replaced(here / "x.zarr" / inside if inside else here / "x.zarr", SPECIAL[special])
    if command == "info" and inside not in ("", "checkpoint.json"):  # which it does not read
        with bounded(MEMORY, SECONDS):
            ended = CliRunner().invoke(group, ["info", "x.zarr"])
        assert "stopped" in ended.output or "x.zarr" in str(ended.exception)
        return
    refused(command, "x.zarr", of="x.zarr")


@counted
@pytest.mark.parametrize("command", ["info", "resume"])
def test_a_store_that_is_cut_off_or_a_bomb(here, command):
    file = here / "x.zarr" / "checkpoint.json"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert "torn" in refused(command, "x.zarr", of="checkpoint.json")
    file.write_bytes(whole)
    if command == "resume":
        for name in ("state", "time"):
            node = here / "x.zarr" / name / "zarr.json"
            kept = json.loads(node.read_text())
            large = {"shape": [2**50, *kept["shape"][1:]]}
            large["chunk_grid"] = {"name": "regular", "configuration": {"chunk_shape": [2**40, *kept["shape"][1:]]}}
            node.write_text(json.dumps(kept | large))
            refused(command, "x.zarr", of="x.zarr")
            node.write_text(json.dumps(kept))


@counted
@pytest.mark.parametrize("special", SPECIAL)
def test_plot_of_what_is_no_trajectory(here, special):
    replaced(here / "x.nc", SPECIAL[special])
    refused("plot", "x.nc", of="x.nc")
    assert not (here / "x.png").exists()


@counted
@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.99])
def test_plot_of_what_is_cut_off(here, part):
    whole = (here / "x.nc").read_bytes()
    (here / "x.nc").write_bytes(whole[: int(part * len(whole))])
    refused("plot", "x.nc", of="x.nc")


@counted
def test_plot_of_a_bomb(here):
    """Zeros of 8 TB in some kilobytes: chunks that were never written, and one that was, compressed a thousandfold."""
    for rows, chunk in ((2**40, 2**20), (2**30, 2**24)):
        with h5py.File("x.nc", "r+") as file:
            del file["energy"]
            file.create_dataset("energy", (rows,), "f8", chunks=(chunk,), compression="gzip", fillvalue=0.0)
            file["energy"][:chunk] = np.zeros(chunk)
        refused("plot", "x.nc", of="x.nc")
