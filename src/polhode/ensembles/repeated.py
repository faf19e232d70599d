"""Ensembles of one kind once more: what the first call has checked and set up holds for all that differ from it in the
values of their members alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from polhode.arguments import Array
from polhode.ensembles.engines import NOT_RUN, Engine
from polhode.ensembles.members import Kind, Varied, differences, states_of, system_of
from polhode.ensembles.outcome import Outcome, Work
from polhode.ensembles.plan import Plan
from polhode.errors import InvalidInput
from polhode.kernel import layout as L
from polhode.kernel.jit import FLOAT
from polhode.lazy import xr
from polhode.methods import Method, MethodSpec
from polhode.runs.repeated import MOST_KEPT
from polhode.runs.request import Request, present_row, usual_method
from polhode.runs.resolution import coarse_loads, coarse_orbit
from polhode.runs.state import OF_METHODS
from polhode.runs.stepping import Run
from polhode.runs.steps import Tolerance
from polhode.systems import System

WORTH_THREADS = 5e-3
"""Seconds of work that are left from which on further threads are started."""
OWN = "states", "rows", "iterations", "status", "done", "sizes"
"""Arrays of a block that each call has of its own."""
MOST_KINDS = 16
"""Of how many kinds of calls with a system something is kept."""
PLAIN = str, int, float, type(None), Tolerance
"""Types of what keys have as it is."""
Key = tuple[object, ...]


class Ready(NamedTuple):
    """What calls of a kind have in common, which one of them at a time has the use of."""

    plan: Plan
    kind: Kind
    run: Run
    engine: Any  # threads or lanes
    each: float  # seconds that a member took
    values: Mapping[str, bytes]  # what varied of the systems
    work: Work  # whose block has no arrays of members
    about: Mapping[str, str]  # attributes of this call
    start: Mapping[str, Any]  # what all members begin with

    def dataset(self, members: dict[str, Array]) -> xr.Dataset | None:
        """The Dataset of members that differ from the last in their starts alone, and take too little time for threads
        and Ctrl-C; None where there is more to do or to tell, which is for the ordinary call."""
        run, work, varied = self.run, self.work, Varied(self.plan.varied.count, members)
        plain = all(values.dtype is FLOAT and values.flags.c_contiguous for values in members.values())
        if not plain or self.each * varied.count > WORTH_THREADS or not self._same(members):
            return None
        plan = work.plan = replace(self.plan, varied=varied, whole=varied)
        try:
            states = states_of(self.kind, run.request, varied, plan.names.starting, self.start)
        except InvalidInput:
            return None
        if self.run_from(self.kind, states[0]) is None or (run.guard and coarse_orbit(run)):
            return None
        work.times, (status, done) = work.times.copy(), np.full((2, varied.count), NOT_RUN)
        block, begun = work.with_room(work.block, states=states, status=status, done=done), perf_counter()
        self.engine.run(block)
        seconds, outcome = perf_counter() - begun, None if status.any() else Outcome(work, block, 0)
        if outcome is None or outcome.off or outcome.status.any():
            return None
        if run.guard and not run.adaptive and coarse_loads(run, outcome.times_of(0), outcome.rows[0]):
            return None
        ds = outcome.dataset(self.about, varied)
        ds.encoding["seconds"] = seconds
        return ds

    def _same(self, now: Mapping[str, Array]) -> bool:
        """Whether members have the systems of the last call."""
        return all(now[name].tobytes() == values for name, values in self.values.items())

    def request_of(self, plan: Plan) -> tuple[Request | None, Kind | None]:
        """The request of the first member, and the systems of all; None where they are others."""
        request, now = self.run.request, plan.varied.values
        if self._same(now):
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


def leave(key: Key | None, kind: Kind, work: Work, engine: Engine, about: Mapping[str, str], why: str, each: float,
          ) -> None:  # fmt: skip
    """Leave what a call had to others, unless more than values of members may differ in these."""
    plan, run = work.plan, work.run
    system, names = run.system, plan.names
    own = names.tolerances or names.options or plan.whole is not plan.varied or plan.between_steps(run.request)
    other = bool(system.sampled or system.memory or (system.called and system.called.no_programs))
    other |= not {*names.starting, *plan.start}.isdisjoint(OF_METHODS)
    other |= run.integrator.prepared.bath is not None or run.event_detection.ground != system.ground
    if key is not None and not (why or own or other or engine.name == "device" or run.y.size > MOST_KEPT):
        work.block = work.block.having(**dict.fromkeys(OWN))
        values = {name: plan.varied.values[name].tobytes() for name in names.system}
        left: dict[Key, Ready] = plan.system.__dict__.setdefault("_ensembles", {})
        left[key] = Ready(plan, kind, run, engine, each, values, work, about, plan.start_of_all(run.request))
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
    if isinstance(value, PLAIN):
        return type(value), value
    if isinstance(value, np.ndarray) and value.dtype.kind in "if":
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, tuple | list):
        return type(value), *map(_plain, value)
    raise TypeError
