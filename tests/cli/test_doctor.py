"""``polhode doctor``: what it tells, and what it does about an installation that does not work."""

import json
import sys
from importlib import metadata

import pytest

from polhode import cli
from polhode.cli import doctor


@pytest.fixture
def polhode(monkeypatch, capsys, tmp_path):
    """Call the command in a folder of its own; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["polhode", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return call


@pytest.fixture
def quick(monkeypatch):
    """The facts without the run of the self check."""
    passed = {"passed": True, "error": 0.0, "at_most": doctor.AT_MOST, "seconds": 0.0}
    monkeypatch.setattr(doctor, "self_check", lambda problems: passed)


def test_all_is_well(polhode):
    code, out, err = polhode("doctor", "--json")
    facts = json.loads(out)
    assert (code, err, facts["problems"]) == (0, "", [])
    for name in doctor.PACKAGES:
        assert facts["versions"][name] == metadata.version(name)
    assert facts["check"]["passed"] and facts["check"]["error"] < 1e-11
    others = {"all", "test", "docs", "dev"}
    assert set(facts["extras"]) == set(metadata.metadata("polhode").get_all("Provides-Extra")) - others
    assert facts["cache"]["writable"] and facts["cache"]["bytes"] > 0
    assert facts["processors"]["threads"] >= 1 and facts["simd"]["doubles"] in (4, 8)
    assert facts["gpu"]["present"] or facts["gpu"]["why"]
    words = doctor.in_words(facts)
    assert words.endswith("all is well") and "passed, error" in words


def test_an_absent_extra_is_no_fault_and_says_what_brings_it(polhode, quick, monkeypatch):
    installed = doctor.version_of
    monkeypatch.setattr(doctor, "version_of", lambda name: None if name == "gsd" else installed(name))
    monkeypatch.setattr(doctor, "FOR_USERS", {"md": "GSD files"})
    code, out, _ = polhode("doctor")
    assert code == 0 and 'absent; python -m pip install "polhode[md]"; for GSD files' in out


def test_missing_and_old_packages(polhode, quick, monkeypatch):
    installed = doctor.version_of
    wrong = {"rich": None, "numba": "0.60.9"}
    monkeypatch.setattr(doctor, "version_of", lambda name: wrong[name] if name in wrong else installed(name))
    code, out, _ = polhode("doctor")
    assert code == 1
    assert 'problem: rich is missing; install it: python -m pip install "rich>=13.7"' in out
    assert "problem: numba 0.60.9 is too old; bring it up to date: python -m pip install" in out


def test_cache_that_cannot_be_written(polhode, quick, monkeypatch, tmp_path):
    from polhode.kernel import cache

    (tmp_path / "file").write_text("")
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path / "file" / "cache"))
    cache.cache_folder.cache_clear()
    try:
        code, out, _ = polhode("doctor")
    finally:
        cache.cache_folder.cache_clear()
    assert code == 1 and "not writable" in out and "set POLHODE_CACHE_DIR to a folder of your own" in out


def test_gpu_that_is_there_and_one_that_fails(polhode, quick, monkeypatch):
    from types import SimpleNamespace

    from polhode.ensembles import cuda

    found = SimpleNamespace(name="GPU 1", architecture="sm_90", multiprocessors=132, free_memory=2_000_000_000)
    monkeypatch.setattr(cuda, "why_none", lambda: "")
    monkeypatch.setattr(cuda, "Device", lambda: found)
    code, out, _ = polhode("doctor")
    assert code == 0 and "GPU 1, sm_90, 132 multiprocessors, 2.0 GB free" in out

    def refused():
        raise cuda.DeviceProblem("the device reports error 46")

    monkeypatch.setattr(cuda, "Device", refused)
    code, out, _ = polhode("doctor")
    assert code == 0 and "none: the device reports error 46" in out


def test_wrong_numbers_and_failures_are_told(polhode, monkeypatch):
    monkeypatch.setattr(doctor, "AT_MOST", 0.0)

    def broken(problems):
        raise OSError("no such library")

    monkeypatch.setattr(doctor, "gpu", broken)
    code, out, _ = polhode("doctor", "--json")
    facts = json.loads(out)
    assert code == 1 and not facts["check"]["passed"] and facts["gpu"] is None
    assert any("the self check is wrong by" in problem for problem in facts["problems"])
    assert any("gpu: OSError: no such library" in problem for problem in facts["problems"])
