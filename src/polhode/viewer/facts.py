"""What the page says of a run in words: the panel beside the picture."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from polhode.trajectory.schema import CONVENTIONS
from polhode.viewer.recorded import PLAIN, Recorded

LONGEST = 400
"""Most characters of a line."""


def number(value: Any) -> str:
    """A number in six digits."""
    try:
        return f"{float(value):.6g}"
    except (TypeError, ValueError):
        return str(value)


def method_of(run: Recorded) -> str:
    """The method as it is written, and the steps it took."""
    attrs = run.whole.attrs
    steps = f"rtol {number(attrs['rtol'])}" if "rtol" in attrs else ""
    steps = steps or (_in(f"step {number(attrs['step'])}", run.unit("time")) if "step" in attrs else "")
    return ", ".join(part for part in (str(attrs.get("method", "")), steps) if part)


def of_run(run: Recorded, found: list[tuple[str, str]]) -> list[list[str]]:
    """The entry ``facts`` of a run; ``found`` is what frames, shape and orbit have to say."""
    attrs = run.whole.attrs
    lines: list[tuple[str, Any]] = [("incomplete", attrs.get("incomplete"))]
    lines += [pair for pair in found if pair[0] in ("coarse", "shown")]
    lines += [
        ("system", run.system or attrs.get("title")),
        ("method", attrs.get("method") and _with(attrs["method"], attrs.get("method_description"))),
        ("order", attrs.get("order")),
        ("tolerance", "rtol" in attrs and number(attrs["rtol"])),
        ("step", "rtol" not in attrs and "step" in attrs and _in(number(attrs["step"]), run.unit("time"))),
        ("steps", "steps" in attrs and (f"{attrs['steps']:,}" if isinstance(attrs["steps"], int) else attrs["steps"])),
        ("rows", _rows(run)),
        ("largest energy error", _largest(run, "energy_error")),
        ("conserves", attrs.get("conserves")),
        ("events", _events(run)),
        ("ended by", attrs.get("stopped")),
        ("units", "consistent, of your own" if run.units in PLAIN else run.units),
        ("epoch", attrs.get("epoch") and f"{attrs['epoch']} at time 0"),
    ]
    lines += [pair for pair in found if pair[0] not in ("coarse", "shown")]
    notes = run.whole["energy_error"].attrs.get("note") if "energy_error" in run.whole else None
    lines += [("note", notes), ("conventions", attrs.get("conventions", CONVENTIONS)),
              ("made by", attrs.get("polhode_version") and f"polhode {attrs['polhode_version']}")]  # fmt: skip
    told = [(name, str(text)) for name, text in lines if text]
    return [[name, text if len(text) <= LONGEST else text[: LONGEST - 4] + " ..."] for name, text in told]


def _with(name: object, described: object) -> str:
    return f"{name}: {described}" if described else str(name)


def _in(value: str, unit: str) -> str:
    return f"{value} {unit}".strip()


def _rows(run: Recorded) -> str:
    n = int(run.whole.sizes["time"])
    span = f"t = {run.times[0]:.6g} to {run.times[-1]:.6g}" if len(run.times) > 1 else f"t = {run.times[0]:.6g}"
    return f"{n:,} row{'s' * (n != 1)}; frames from {_in(span, run.unit('time'))}"


def _events(run: Recorded) -> str:
    """Kinds of events, and how many of each."""
    if "event_kind" not in run.whole:
        return ""
    counts = Counter(str(kind).replace("_", " ") for kind in run.whole["event_kind"].values.ravel())
    return ", ".join(f"{many} {kind}" for kind, many in counts.items())


def _largest(run: Recorded, name: str) -> str:
    if name not in run.whole or run.whole[name].dims != ("time",):
        return ""
    values = np.abs(np.asarray(run.whole[name].values, dtype=float))
    values = values[np.isfinite(values)]
    return f"{values.max():.3g}, relative, of all rows" if values.size else ""
