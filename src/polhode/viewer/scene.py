"""A scene: what there is to see of some runs, as plain data and one run of bytes.

The scene is JSON: ``version``, ``title``, ``subtitle``, ``generator`` and ``runs``; each run has ``label``, ``facts``,
``clock``, ``bodies``, ``cell``, ``pivot``, ``vectors``, ``rotors``, ``poinsot``, ``orbit``, ``together``, ``series``,
``invariants`` and ``coarse`` (whether a body turns too far between frames for lines from one to the next), and numbers
of frames as references into the bytes (``polhode.viewer.arrays``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

import polhode
from polhode.errors import InvalidInput, shown
from polhode.lazy import xr
from polhode.plots.shown import PLAIN, Shown
from polhode.trajectory.schema import CONVENTIONS, renamed, trajectory
from polhode.viewer import frames, motions, orbits, series, shapes
from polhode.viewer.arrays import Arrays

VERSION = 1
METHOD = ("method", "method_description")
Mesh = tuple[Any, Any]


@np.errstate(all="ignore")  # a page shows numbers of any size
def scene_of(
    runs: Sequence[tuple[str, xr.Dataset]], most: int, span: tuple[float, float] | None = None,
    mesh: Mesh | None = None, title: str | None = None,
) -> tuple[dict[str, Any], bytes]:  # fmt: skip
    """The scene of runs, and its bytes."""
    arrays = Arrays()
    read = [_recorded(ds, most, span) for _, ds in runs]
    labels = _labels([label for label, _ in runs], [run for run, _ in read])
    made = [_run(run, label, arrays, told, mesh) for (run, told), label in zip(read, labels, strict=True)]
    heading, below = _headings([run for run, _ in read])
    scene = {
        "version": VERSION, "title": title or heading, "subtitle": below, "generator": f"polhode {polhode.__version__}",
        "runs": made,
    }  # fmt: skip
    return _plain(scene), bytes(arrays)


def _headings(runs: list[Shown]) -> tuple[str, str]:
    """Title and subtitle: what the user called it, or the systems; methods and steps, or how many runs there are."""
    systems = " and ".join(dict.fromkeys(run.called for run in runs if run.called))
    given = str(runs[0].whole.attrs.get("title", ""))[:LONGEST]
    own = bool(given) and not given.startswith(f"{runs[0].system}, ") and "member" not in given.partition(":")[0]
    told = [f"{len(runs)} runs"] if len(runs) > 1 else [method_of(runs[0])]
    if own:
        told.insert(0, systems)
    heading = given if own else systems[:1].upper() + systems[1:]
    return heading or "Trajectory", "  ·  ".join(part for part in told if part)


def _labels(given: list[str], runs: list[Shown]) -> list[str]:
    """Labels as given; else method and step, with a number where two are the same."""
    found = [label or method_of(run) or run.system or "run" for label, run in zip(given, runs, strict=True)]
    if len(set(found)) < len(found) and len({run.system for run in runs}) > 1:
        found = [f"{run.system}, {text}" if not label else text
                 for label, text, run in zip(given, found, runs, strict=True)]  # fmt: skip
    return [f"{text} ({found[:k].count(text) + 1})" if found.count(text) > 1 else text for k, text in enumerate(found)]


def _recorded(ds: xr.Dataset, most: int, span: tuple[float, float] | None) -> tuple[Shown, list[tuple[str, str]]]:
    ds = renamed(trajectory(ds))
    if "member" in ds.dims:
        raise InvalidInput("this Dataset has members; take some by ds.isel(member=0), or members= of polhode.view")
    if "time" not in ds.dims or not {"attitude", "position"} & set(ds.data_vars):
        raise InvalidInput("this Dataset is no trajectory: it has no attitudes and no positions along times; take that "
                           "of a run, such as polhode.integrate gives")  # fmt: skip
    rows, told = frames.chosen(ds, most, span)
    along = [name for name, variable in ds.data_vars.items() if "time" in variable.dims]
    return Shown(ds, ds[along].isel(time=rows).load(), rows), told


def _run(run: Shown, label: str, arrays: Arrays, told: list[tuple[str, str]], mesh: Mesh | None) -> dict[str, Any]:
    shape = shapes.of_run(run, arrays, mesh)
    told.append(("shape", shape.words))
    if run.bodies > 1 and not run.molecules and "attitude" in run.whole:
        told.append(("bodies", f"{run.bodies}; arrows and curves are those of the first"))
    elif run.bodies > 1:
        told.append(("bodies", f"{run.bodies:,}"))
    # Exact numbers come first: a page is compressed better by parts of one kind.
    found: dict[str, Any] = {
        "label": label, "clock": {"values": arrays.exact(run.seconds), "unit": run.unit("time")},
        "invariants": series.invariants(run, arrays), "bodies": motions.bodies(run, arrays, shape),
        "cell": motions.cell(run), "vectors": motions.vectors(run, arrays),
        "rotors": motions.rotors(run, arrays, told), "poinsot": motions.poinsot(run, arrays),
        "orbit": orbits.of_run(run, arrays, told), "together": orbits.together(run, arrays, told),
        "series": series.of_run(run, arrays), "coarse": any(name == "coarse" for name, _ in told),
    }  # fmt: skip
    if shape.pivot is not None:
        found["pivot"] = shape.pivot
    return found | {"facts": _facts(run, told)}


def _plain(value: object) -> Any:
    """The same in types of JSON; a number that is not finite becomes null, which JSON has in its place."""
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not isfinite(value) else value


def dumped(scene: dict[str, Any]) -> str:
    """The scene as JSON."""
    return json.dumps(scene, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


# ------------------------------------------------------------------ members
MEMBERS = 4  # members that are shown unless some are named


def members_of(ds: xr.Dataset, members: Sequence[int] | None) -> list[tuple[str, xr.Dataset]]:
    """Members of an ensemble as runs, with labels: those named, else the first ones."""
    if "member" not in ds.dims:
        if members is not None:
            raise InvalidInput("members are given, but this Dataset is that of one run; leave members out")
        return [("", ds)]
    n = int(ds.sizes["member"])
    if not any(name in ds and "time" in ds[name].dims for name in ("attitude", "position")):
        raise InvalidInput("this Dataset has members, but no trajectories of them; run the ensemble without reduce")
    if members is not None and not isinstance(members, list | tuple | range | np.ndarray):
        raise InvalidInput(f"members must be a list of their numbers, not {shown(members)}")
    picked = range(min(n, MEMBERS)) if members is None else members
    found = []
    for k in picked:
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 0 <= k < n:
            raise InvalidInput(f"members has {shown(k)}; there are {n} members, counted from 0")
        one = ds.isel(member=int(k))
        name = one["member"].item() if "member" in one.coords else int(k)
        found.append((f"member {name}", one.drop_vars("member", errors="ignore")))
    if not found:
        raise InvalidInput("members is empty; name those to show")
    return found


LONGEST = 400  # most characters of a line, and of a title that a file states


def _in(value: str, unit: str) -> str:
    return f"{value} {unit}".strip()


def number(value: float | str) -> str:
    """A number in six digits."""
    try:
        return f"{float(value):.6g}"
    except (TypeError, ValueError):
        return str(value)


def method_of(run: Shown) -> str:
    """The method as it is written, and the steps it took."""
    attrs = run.whole.attrs
    steps = f"rtol {number(attrs['rtol'])}" if "rtol" in attrs else ""
    steps = steps or (_in(f"step {number(attrs['step'])}", run.unit("time")) if "step" in attrs else "")
    return ", ".join(part for part in (str(attrs.get("method", "")), steps) if part)


def _facts(run: Shown, found: list[tuple[str, str]]) -> list[list[str]]:
    """The entry ``facts`` of a run; ``found`` is what frames, shape and orbit have to say."""
    attrs, n, seconds = run.whole.attrs, int(run.whole.sizes["time"]), run.seconds
    at = f"t = {seconds[0]:.6g}" + (f" to {seconds[-1]:.6g}" if len(seconds) > 1 else "")
    kinds = run.whole["event_kind"].values.ravel() if "event_kind" in run.whole else ()
    counts = Counter(str(kind).replace("_", " ") for kind in kinds)
    lines: list[tuple[str, Any]] = [("incomplete", attrs.get("incomplete"))]
    lines += [pair for pair in found if pair[0] in ("coarse", "shown")]
    lines += [
        ("system", run.system or attrs.get("title")),
        ("method", attrs.get("method") and ": ".join(str(attrs[word]) for word in METHOD if attrs.get(word))),
        ("order", attrs.get("order")),
        ("tolerance", "rtol" in attrs and number(attrs["rtol"])),
        ("step", "rtol" not in attrs and "step" in attrs and _in(number(attrs["step"]), run.unit("time"))),
        ("steps", "steps" in attrs and (f"{attrs['steps']:,}" if isinstance(attrs["steps"], int) else attrs["steps"])),
        ("rows", f"{n:,} row{'s' * (n != 1)}; frames from {_in(at, run.unit('time'))}"),
        ("largest energy error", _largest(run)),
        ("conserves", attrs.get("conserves")),
        ("events", ", ".join(f"{many} {kind}" for kind, many in counts.items())),
        ("ended by", attrs.get("stopped")),
        ("units", "consistent, of your own" if run.label in PLAIN else run.label),
        ("epoch", attrs.get("epoch") and f"{attrs['epoch']} at time 0"),
    ]
    lines += [pair for pair in found if pair[0] not in ("coarse", "shown")]
    notes = run.whole["energy_error"].attrs.get("note") if "energy_error" in run.whole else None
    lines += [("note", notes), ("conventions", attrs.get("conventions", CONVENTIONS)),
              ("made by", attrs.get("polhode_version") and f"polhode {attrs['polhode_version']}")]  # fmt: skip
    told = [(name, str(text)) for name, text in lines if text]
    return [[name, text if len(text) <= LONGEST else text[: LONGEST - 4] + " ..."] for name, text in told]


def _largest(run: Shown) -> str:
    if "energy_error" not in run.whole or run.whole["energy_error"].dims != ("time",):
        return ""
    values = run.bath_error if run.bath_error is not None else np.asarray(run.whole["energy_error"].values, dtype=float)
    over = "relative" if run.bath_error is None else "with the bath's, over the kinetic energy"
    values = np.abs(values[np.isfinite(values)])
    return f"{values.max():.3g}, {over}, of all rows" if values.size else ""
