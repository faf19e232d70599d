"""What may be written that nobody named: in the folder one is in, and over nothing but what polhode wrote, unless one
says so."""

import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import polhode as ph
from cover import some
from polhode.cli import group
from polhode.trajectory.outputs import made_by_polhode

RUN = 'problem = "krysl_fast_top"\n[run]\nstep = 0.002\nsteps = 2\n'
MINE = b"my thesis"


@pytest.fixture
def polhode(tmp_path, monkeypatch):
    """Calls the command in a folder beside another one, and answers its exit code and its sentence."""
    (tmp_path / "here").mkdir()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(ph.plots, "dashboard", lambda ds, path: ph.plots.figure(ds, "energy", path=path))

    def call(*words):
        ended = CliRunner().invoke(group, list(words))
        return getattr(ended.exception, "exit_code", ended.exit_code), str(ended.exception or "")

    return call


def scenario(**names):
    Path("top.toml").write_text(RUN + "[output]\n" + "".join(f'{key} = "{name}"\n' for key, name in names.items()))


def everything(folder):
    """All files below a folder, with what is in them."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


LEAVING = {
    "file, upwards": {"file": "../other/run.nc"}, "file, absolute": {"file": "{0}/other/run.nc"},
    "file, down and upwards": {"file": "new/../../other/new/run.nc"}, "picture, upwards": {"picture": "../other/a.png"},
    "picture, absolute": {"picture": "{0}/other/a.svg"}, "store, upwards": {"store": "../other/live.zarr"},
    "store, absolute": {"store": "{0}/other/live.zarr"}, "file, by a link": {"file": "link/run.nc"},
    "picture, by a link": {"picture": "link/a.png"}, "store, by a link": {"store": "link/live.zarr"},
    "file that is a link": {"file": "away.nc"}, "links in a circle": {"file": "circle/run.nc"},
}  # fmt: skip


@pytest.mark.parametrize("names", LEAVING.values(), ids=LEAVING)
def test_no_name_in_a_scenario_leads_out_of_the_folder(polhode, tmp_path, names):
    os.symlink("../other", "link")
    os.symlink("../other/away.nc", "away.nc")
    os.symlink("circle", "circle")
    scenario(**{key: name.format(tmp_path) for key, name in names.items()})
    before = everything(tmp_path)
    code, said = polhode("run", "top.toml", "-q")
    assert code == 5 and f"output.{next(iter(names))} is " in said and "which leads out of" in said, said
    assert "--overwrite" in said and everything(tmp_path) == before and not list((tmp_path / "other").iterdir())


def test_a_name_within_the_folder_and_ones_own_words_stand(polhode, tmp_path):
    scenario(file=f"{tmp_path}/here/a/run.nc", picture="a/../b/look.svg")
    assert polhode("run", "top.toml", "-q")[0] == 0
    assert Path("a/run.nc").is_file() and Path("b/look.svg").is_file()
    scenario(file="../other/run.nc", picture="../other/look.png")
    assert polhode("run", "top.toml", "-q", "-o", "../other/mine.nc", "--no-picture")[0] == 0
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["mine.nc"]
    assert polhode("run", "top.toml", "-q", "--overwrite")[0] == 0
    assert sorted(path.name for path in (tmp_path / "other").iterdir()) == ["look.png", "mine.nc", "run.nc"]


REPLACED = {
    "trajectory": ({"file": "run.nc"}, "run.nc"), "folder": ({"file": "run.zarr"}, "run.zarr/zarr.json"),
    "usual trajectory": ({}, "top.nc"), "picture": ({"picture": "look.png"}, "look.png"),
    "page": ({"picture": "look.pdf"}, "look.pdf"), "drawing": ({"picture": "look.svg"}, "look.svg"),
    "usual picture": ({}, "top.png"),
}  # fmt: skip


@pytest.mark.parametrize(("names", "mine"), some(REPLACED.values(), 2), ids=REPLACED)
def test_only_what_polhode_wrote_is_replaced(polhode, tmp_path, names, mine):
    run = ["run", "top.toml", "-q", *["--no-picture"] * mine.endswith((".nc", ".json"))]
    scenario(**names)
    Path(mine).parent.mkdir(exist_ok=True)
    Path(mine).write_bytes(MINE)
    before = everything(tmp_path)
    code, said = polhode("run", "top.toml", "-q")
    assert code == 5 and "is there already, and polhode did not write it" in said and "--overwrite" in said
    assert everything(tmp_path) == before, "nothing is written before it is refused"
    if mine != "run.zarr/zarr.json":
        assert polhode(*run, "--overwrite")[0] == 0 and Path(mine).read_bytes() != MINE
    else:
        shutil.rmtree("run.zarr")
    assert polhode(*run) == (0, ""), "what polhode wrote is replaced"
    assert polhode(*run) == (0, "")


def test_links_and_pictures_of_others_are_not_polhodes(polhode, tmp_path):
    from matplotlib.figure import Figure

    scenario()
    assert polhode("run", "top.toml", "-q")[0] == 0
    assert made_by_polhode(Path("top.nc")) and made_by_polhode(Path("top.png"))
    os.symlink("top.nc", "link.nc")
    for kind in ("png", "pdf", "svg"):
        ph.plots.figure(ph.load("top.nc"), "energy", path=f"ours.{kind}")
        assert made_by_polhode(Path(f"ours.{kind}"))
        figure = Figure()
        figure.suptitle("polhode")
        figure.savefig(f"mine.{kind}")
    os.mkfifo("pipe.nc")
    Path("text.nc").write_text("polhode")
    for name in ("link.nc", "pipe.nc", "text.nc", "mine.png", "mine.pdf", "mine.svg"):
        assert not made_by_polhode(Path(name)), name
    ph.save(ph.load("top.nc"), "top.zarr")
    assert made_by_polhode(Path("top.zarr"))


COMPARE, ANIMATE = ["compare", "top.toml", "--methods", "trapm"], ["animate", "top.nc", "--seconds", "0.2"]
USUAL = {
    "view": (["view", "top.nc", "--no-open"], "top.html"), "animate": (ANIMATE, "top.gif"),
    "plot": (["plot", "top.nc"], "top.png"), "resume": (["resume", "live.zarr"], "live.nc"),
    "picture of resume": (["resume", "live.zarr"], "live.png"), "compare": (COMPARE, "top-compare.csv"),
    "picture of compare": (COMPARE, "top-compare.png"), "chaos": (["chaos", "top.toml"], "top-megno.nc"),
    "picture of chaos": (["chaos", "top.toml"], "top-megno.png"),
}  # fmt: skip


@pytest.mark.parametrize(("words", "mine"), some(USUAL.values(), 3), ids=USUAL)
def test_names_that_a_command_has_chosen(polhode, tmp_path, words, mine):
    scenario()
    assert polhode("run", "top.toml", "-q", "--no-picture", "--store", "live.zarr", "-o", "top.nc")[0] == 0
    Path(mine).write_bytes(MINE)
    before = everything(tmp_path)
    code, said = polhode(*words)
    assert code == 5 and f"{mine!r} is there already, and polhode did not write it" in said and "--overwrite" in said
    assert everything(tmp_path) == before, "nothing is written before it is refused"
    assert polhode(*words, "--overwrite")[0] == 0 and Path(mine).read_bytes() != MINE
    assert polhode(*words) == (0, ""), "what polhode wrote is replaced"


def test_a_name_of_ones_own_stands(polhode, tmp_path):
    scenario()
    assert polhode("run", "top.toml", "-q")[0] == 0
    named = {"a.html": ["view", "top.nc", "--no-open"], "a.svg": ["plot", "top.nc"], "a.csv": COMPARE}
    for name, words in named.items():
        Path(name).write_bytes(MINE)
        assert polhode(*words, "-o", name)[0] == 0 and Path(name).read_bytes() != MINE
    Path("a.png").write_bytes(MINE)  # which nobody named
    assert polhode(*COMPARE, "-o", "a.csv")[0] == 5
    assert Path("a.png").read_bytes() == MINE


def test_the_member_of_a_sweep(polhode):
    Path("top.toml").write_text(f'{RUN}[sweep.grid]\n"run.step" = [0.001, 0.002]\n')
    Path("member-1.nc").write_bytes(MINE)
    assert polhode("sweep", "top.toml", "--member", "1")[0] == 5 and Path("member-1.nc").read_bytes() == MINE
    Path("member-1.nc").unlink()
    assert polhode("sweep", "top.toml", "--member", "1")[0] == polhode("sweep", "top.toml", "--member", "1")[0] == 0


@pytest.mark.parametrize("suffix", ["gif", "apng", "mp4", "webm"])
def test_films_name_their_maker(polhode, suffix):
    if suffix in ("mp4", "webm") and not shutil.which("ffmpeg"):
        pytest.skip("there is no ffmpeg")
    scenario()
    assert polhode("run", "top.toml", "-q", "--no-picture")[0] == 0
    assert polhode("animate", "top.nc", f"film.{suffix}", "--seconds", "0.2", "--panels", "body", "-q")[0] == 0
    assert made_by_polhode(Path(f"film.{suffix}"))
    Path(f"film.{suffix}").write_bytes(b"GIF89a of somebody, or a film, with no word of who made it")
    assert not made_by_polhode(Path(f"film.{suffix}"))


def test_the_store_of_a_sweep_stays_in_the_folder(polhode, tmp_path):
    for store in ("../other/s.zarr", f"{tmp_path}/other/s.zarr", "memory://s.zarr"):
        Path("top.toml").write_text(f'{RUN}[sweep]\nstore = "{store}"\n[sweep.grid]\n"run.step" = [0.001, 0.002]\n')
        code, said = polhode("sweep", "top.toml", "-q")
        assert code == 5 and "sweep.store is " in said and "--store" in said and not any((tmp_path / "other").iterdir())
    assert polhode("sweep", "top.toml", "-q", "--store", "../other/s.zarr", "--no-picture")[0] == 0
    Path("s.png").write_bytes(MINE)
    code, said = polhode("sweep", "top.toml", "-q", "--store", "s.zarr")
    assert code == 5 and "--no-picture" in said and Path("s.png").read_bytes() == MINE


def test_the_help_says_so():
    told = " ".join(CliRunner().invoke(group, ["run", "--help"]).output.split())
    assert "--overwrite" in told and "only trajectories and pictures that polhode wrote are replaced" in told
    assert "(exit code 5)" in told


def test_ctrl_c_while_the_picture_is_drawn_tells_where_the_trajectory_is(polhode, monkeypatch):
    def pressed(ds, path):
        raise KeyboardInterrupt

    monkeypatch.setattr(ph.plots, "dashboard", pressed)
    scenario()
    code, told = polhode("run", "top.toml")
    assert code == 130 and told == "interrupted when the run was over; written: top.nc"
    assert ph.load("top.nc").sizes["time"] == 3


def test_statistics_of_rows_are_told_and_one_row_is_not_drawn(polhode):
    """Neither are errors told between one row and itself."""
    Path("top.toml").write_text(RUN + "reduce = { energy = ['mean', 'extremes'], angular_momentum = 'std' }\n")
    told = CliRunner().invoke(group, ["run", "top.toml"]).output
    assert "t = 0 to 0.004, 2 steps of 0.002, the last row" in told and "momentum error" not in told
    ds = ph.load("top.nc")
    assert f"energy_mean {ds.energy_mean.item():.6g}" in told and "energy_min_row" not in told
    assert "angular_momentum_std " + " ".join(f"{x:.6g}" for x in ds.angular_momentum_std.values) in told
    assert ds.sizes["time"] == 1 and not Path("top.png").exists()
    assert polhode("run", "top.toml", "--store", "all.zarr")[0] == 0
    assert ph.load("top.nc").sizes["time"] == 3 and Path("top.png").exists()
