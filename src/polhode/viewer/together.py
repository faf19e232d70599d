"""Bodies that loads act between, seen from the first of them or from their centre of mass; tethers between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.trajectory.relative import joined
from polhode.viewer import motions, orbits
from polhode.viewer.arrays import Arrays
from polhode.viewer.recorded import Recorded

MOST = 25
"""Most bodies that are drawn so."""


def of_run(run: Recorded, arrays: Arrays, facts: list[tuple[str, str]]) -> dict[str, Any] | None:
    """The entry ``together`` of a run; None where no load is on two bodies that move.

    ``position`` (F, B, 3) and ``attitude`` (F, B, 4) are in LVLH of the first body, with it at the origin, about a
    centre, else in space with the centre of mass at the origin. Each link has its two ``bodies``, of a tether also
    where it is fastened, in their axes, and its length.
    """
    r, pairs = run.of("position"), joined(run.whole)
    if r is None or not pairs or run.bodies > MOST:
        return None
    q, frame = motions.attitude(run), orbits.lvlh(run) if orbits.about_a_centre(run) else None
    if frame is None:
        weights = np.ones(run.bodies) if run.mass is None else run.mass / run.mass.sum()
        r = r - np.einsum("b,fbi->fi", weights / weights.sum(), r)[:, None]
    else:
        turns = np.repeat(frame, run.bodies, axis=0)
        r = rotation.rotate_inverse(turns, (r - r[:, :1]).reshape(-1, 3)).reshape(r.shape)
        if q is not None:
            q = rotation.multiply(rotation.conjugate(turns), q.reshape(-1, 4)).reshape(q.shape)
    if not np.isfinite(r).all() or not np.any(r):
        return None
    where = "the centre of mass, in space" if frame is None else f"{motions.names_of(run)[0]}, in its LVLH: z is down"
    facts.append(("together", f"seen from {where}; bodies are magnified where they are small"))
    tethers = [tether for tether in map(_tether, run.arguments.values()) if tether is not None]
    links: list[dict[str, Any]] = [{"bodies": list(pair)} for pair in pairs]
    names = motions.names_of(run)
    for on, told in tethers:
        if all(name in names for name in on):
            links.append({"bodies": [names.index(name) for name in on], **told})
    return {
        "position": arrays.single(r), "attitude": None if q is None else arrays.short(motions.steady(q), 1.0),
        "links": links, "local": frame is not None,
    }  # fmt: skip


def _tether(load: object) -> tuple[list[str], dict[str, Any]] | None:
    """The bodies that a tether is on, where it is fastened to them, and its length."""
    if not isinstance(load, Mapping) or load.get("kind") != "tether" or len(load.get("on", ())) != 2:
        return None
    ends = [[float(x) for x in load.get(word, (0.0, 0.0, 0.0))] for word in ("of_a", "of_b")]
    return list(load["on"]), {"at": ends, "length": float(load["length"])}
