"""Ensembles of one kind once more: what the first call has checked and set up holds for all that differ from it in the
values of their members alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from polhode.arguments import Array
from polhode.ensembles.engines import Engine
from polhode.ensembles.members import Kind, differences, system_of
from polhode.ensembles.plan import Plan
from polhode.kernel import layout as L
from polhode.methods import Method, MethodSpec
from polhode.runs.repeated import MOST_KEPT
from polhode.runs.request import Request, present_row, usual_method
from polhode.runs.stepping import Run
from polhode.runs.steps import Tolerance
from polhode.systems import System

MOST_KINDS = 16
"""Of how many kinds of calls with a system something is kept."""
Key = tuple[object, ...]


class Ready(NamedTuple):
    """What calls of a kind have in common, which one of them at a time has the use of."""

    plan: Plan
    kind: Kind
    run: Run
    engine: Any  # threads or lanes
    each: float  # seconds that a member took
    values: Mapping[str, Array]  # what varied of the systems

    def request_of(self, plan: Plan) -> tuple[Request | None, Kind | None]:
        """The request of the first member, and the systems of all; None where they are others."""
        request, now = self.run.request, plan.varied.values
        if all((values == now[name]).all() for name, values in self.values.items()):
            return request, self.kind
        made = replace(request, system=system_of(plan.system, plan.varied.at(0, self.values)))
        return None if differences([request.system, made.system]) else made, None

    def run_from(self, kind: Kind, state: Array) -> Run | None:
        """The run, to begin as the first member does; None where that is another."""
        ground, r = self.run.system.ground, state[L.POSITION : L.POSITION + 3]
        if kind.system is not self.run.system or (ground is not None and r @ r < ground.radius**2):
            return None
        self.run.start[:] = state
        return self.run


def leave(key: Key | None, plan: Plan, kind: Kind, run: Run, engine: Engine, why: str, each: float) -> None:
    """Leave what a call had to others, unless more than values of members may differ in these."""
    system, names = run.system, plan.names
    own = names.tolerances or names.options or plan.whole is not plan.varied or plan.between_steps(run.request)
    other = bool(system.sampled or system.memory or (system.called and system.called.no_programs))
    other |= run.integrator.prepared.bath is not None or run.event_detection.ground != system.ground
    if key is not None and not (why or own or other or engine.name == "device" or run.y.size > MOST_KEPT):
        left: dict[Key, Ready] = plan.system.__dict__.setdefault("_ensembles", {})
        left[key] = Ready(plan, kind, run, engine, each, {n: plan.varied.values[n].copy() for n in names.system})
        for oldest in list(left)[:-MOST_KINDS]:
            left.pop(oldest, None)


def left_of(system: System, method: str | Method | MethodSpec | None, members: object, given: Mapping[str, object],
            ) -> tuple[Key | None, Ready | None]:  # fmt: skip
    """What an ensemble depends on beside its system and the values of its members, where that is but numbers, and what
    a call of this kind has left."""
    plain = isinstance(members, dict) and all(type(value) is np.ndarray for value in members.values())
    words = any(given[word] is not None for word in ("parameters", "settings", "start"))
    if not isinstance(members, dict) or not plain or words:
        return None, None
    row = present_row(usual_method(system, given, {}) if method is None else method)
    try:
        key = (row, method, *((name, values.shape) for name, values in members.items()), *map(_plain, given.values()))
        return key, system.__dict__.get("_ensembles", {}).pop(key, None)  # at once: no two threads take the same
    except TypeError:
        return None, None


def _plain(value: object) -> object:
    """What tells a value from others of its kind; refused where it is not plain."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "if":
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, tuple | list):
        return type(value), *map(_plain, value)
    if isinstance(value, str | int | float | Tolerance) or value is None:
        return type(value), value
    raise TypeError
