"""What ``polhode run`` tells of an ensemble: a summary, a table, and a picture of bands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polhode as ph
from polhode.cli.text import laid_out
from polhode.display import duration
from polhode.lazy import xr

DRAWN = ("angular_velocity", "position", "energy")  # variables whose bands are drawn: the first that there is
TOLD = 3  # failures that are told in full


def is_ensemble(ds: xr.Dataset) -> bool:
    """Whether a Dataset is that of many members, or of reductions of them."""
    return "member" in ds.dims or "members" in ds.attrs


def summary_of_members(ds: xr.Dataset) -> dict[str, Any]:
    """How many members there were, which failed, how large energy errors are, in JSON's types."""
    import numpy as np

    worst = None
    if "energy_error" in ds:
        errors = np.abs(ds.energy_error.values)
        worst = float(np.nanmax(errors)) if np.isfinite(errors).any() else None
    if "status" in ds:
        failed = np.flatnonzero(ds.status.values != 0)
        failures = [f"member {k}: {ds.failure.values[k]}" for k in failed[:TOLD]]
        members, count = ds.sizes["member"], len(failed)
    else:
        members, count, failures = int(ds.attrs["members"]), int(ds.attrs["failed"]), list(ds.attrs["failures"])[:TOLD]
    return {
        "title": str(ds.attrs["title"]), "system": str(ds.attrs["system"]), "method": str(ds.attrs["method"]),
        "citation": str(ds.attrs["citation"]), "members": int(members), "failed": int(count), "failures": failures,
        "engine": str(ds.attrs["engine"]), "t": [float(ds.time.values.min()), float(ds.time.values.max())],
        "rows": ds.sizes["time"], "complete": not count, "energy_error": worst, "kept": sorted(map(str, ds.data_vars)),
        "seconds": ds.encoding.get("seconds"), "polhode_version": str(ds.attrs["polhode_version"]),
    }  # fmt: skip


def table_of_members(facts: dict[str, Any]) -> str:
    """The summary as a short table for people."""
    failed = f", {facts['failed']:,} failed" if facts["failed"] else ""
    seconds, error = facts["seconds"], facts["energy_error"]
    return laid_out(facts["title"], [
        ("method", f"{facts['method']}; cite {facts['citation']}"),
        ("members", f"{facts['members']:,}{failed}"),
        *(("", told) for told in facts["failures"]),
        ("span", f"t = {facts['t'][0]:g} to {facts['t'][1]:g}, {facts['rows']} rows"),
        ("energy error", error is not None and f"{error:.1e} relative, the largest"),
        ("engine", facts["engine"]),
        ("time", seconds is not None
         and f"{duration(seconds / max(1, facts['members']))} per member, {duration(seconds)}"),
        ("written", ", ".join(facts["written"])),
    ])  # fmt: skip


def picture_of_members(ds: xr.Dataset, path: Path) -> bool:
    """Draw bands over time of the first variable that has some; returns whether there is one."""
    names = [name for name in DRAWN if name in ds]
    for one in map(str, ds.data_vars):
        for ending in ("_quantile", "_mean"):
            base = one.removesuffix(ending)
            paired = ending == "_quantile" or f"{base}_std" in ds
            if one.endswith(ending) and paired and "time" in ds[one].dims and "quaternion" not in ds[one].dims:
                names.append(base)
    if names:
        ph.plots.bands(ds, names[0], path)
    return bool(names)
