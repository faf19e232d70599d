"""One run, asked for, as a record that is checked once and can be written down.

``requested`` makes a ``Request`` of what a user gave. ``Request.to_json`` is the attribute ``run`` of every Dataset and
the record in every live store; ``Request.from_json`` reads it. Nothing else travels from a call to the run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.arguments import UNKNOWN, Array, ArrayLike, choice, has_quantity, in_unit, number, truth
from polhode.arguments.recorded import plain
from polhode.errors import InvalidInput, OldNameWarning, PolhodeError, unknown_name, warn
from polhode.kernel import layout as L
from polhode.lazy import later
from polhode.methods import METHODS, Method, MethodSpec, method as find_method
from polhode.runs import rows
from polhode.runs.event_detection import check_span
from polhode.runs.initial_state import (
    check_sums,
    from_json,
    initial_state,
    numbers_of,
    rows_by_name,
    to_json,
)
from polhode.runs.integrator import check_estimate, extended
from polhode.runs.parameters import value_at, with_parameters
from polhode.runs.rows import Record
from polhode.runs.settings import Settings, unknown_argument, wanted
from polhode.runs.state import (
    ANGLES,
    FORMS,
    OF_METHODS,
    STATE_WORDS,
    TURNING,
    UNITS_OF_STATE,
    State,
    as_kept,
    record_of,
    state_of,
)
from polhode.runs.steps import FixedStep, Recording, Steps, Tolerance, checked_breaks, planned, times_asked_for
from polhode.surroundings import planets
from polhode.systems import System, built
from polhode.systems.carried import carried_in
from polhode.systems.events import Event, event_of, events_of, why_not
from polhode.systems.loads_roles import no_loads
from polhode.systems.record import present_system
from polhode.systems.registry import builder, handed_in, named_now, recorded_functions
from polhode.systems.user.function import check_shared, numbers_read
from polhode.trajectory import UNITS
from polhode.trajectory.schema import trajectory
from polhode.trajectory.surroundings import central_mu

if TYPE_CHECKING:
    from polhode.trajectory.reductions import Reduction

of_rows: Callable[..., tuple[Reduction, ...]] = later("polhode.trajectory.reductions", "of_rows")
MOST_OF_SERIES = 8
"""Most bodies whose Taylor series are summed unless that is asked for: the text of a series grows with the pairs."""
WITHOUT_SERIES = "mkrk:dp8"
"""The method of a tolerance where loads have no series."""
TOLERANCE = ("rtol", "atol", "first_step", "max_step", "max_steps")
STARTED = {"t0": "time", "clock": "time_variables"} | {n: n for n in ("since", "commanded", *OF_METHODS[:3])}
SET = ("compensated", "guard", "units", "epoch", "reduce")
"""Flat words of a scenario and of a record that are one argument of a run each: ``steps``, ``start``, ``settings``."""
ARGUMENTS = (
    "step", "steps", "t_end", "every", "t_eval", "start", *STATE_WORDS, "parameters", "events", "breaks", "tangent",
    "store", "progress", "settings", "project",
)  # fmt: skip
"""Those of ``integrate`` by name."""
TIMES = ("step", "t_end", "time", "first_step", "max_step", "t_eval", "since", "breaks")
MEASURED = (*TIMES, *TURNING, "position", "velocity", "momentum")
BYTES = "-- the bytes of the state --"
GIVEN_IN = {
    "SI": {"time": "s"} | {word: unit for word, unit in UNITS_OF_STATE.items() if unit},
    "molecular": {"time": "ps", "position": "nm", "velocity": "nm / ps", "momentum": "u * nm / ps",
                  "angular_velocity": "rad / ps", "angular_momentum": "u * nm**2 / ps"},
}  # fmt: skip
"""What quantities among the arguments of a run are turned into, by its units."""


def grouped(words: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of ``polhode.integrate`` from the flat words of a scenario or of a record: those of a tolerance become
    ``steps``, those of the start that are no arguments become ``start``, others ``settings``."""
    found = dict(words)
    told = {name: found.pop(name) for name in TOLERANCE if found.get(name) is not None}
    if told:
        if "rtol" not in told:
            raise InvalidInput(f"{next(iter(told))} is given without rtol, to which it belongs; leave it out")
        if found.get("step") is not None:
            raise InvalidInput("rtol and step are both given; keep one of them")
        if found.get("steps") is not None or found.get("t_end") is None:
            raise InvalidInput("with rtol the steps are not counted beforehand; give t_end and no steps")
        found["steps"] = Tolerance(**told)
    start = {name: found.pop(word) for word, name in STARTED.items() if found.get(word) is not None}
    settings = {name: found.pop(name) for name in SET if found.get(name) is not None}
    return found | ({"start": start} if start else {}) | ({"settings": settings} if settings else {})


def in_units_of(
    own: str, name: str, about: Mapping[str, Any], units: str, given: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Arguments of a run by name, quantities among them as plain numbers in its units, and what these are called: of a
    system with units of its ``own``, a name and arguments."""
    if not units:
        units = own or ("SI" if planets.name_of(central_mu(about)) else "consistent")
    measured = [word for word in MEASURED if has_quantity(given.get(word))]
    if not measured:
        return units, dict(given)
    own = own or ("SI" if units == "consistent" else units)
    if own not in GIVEN_IN:
        raise InvalidInput(f"{name} is in units of its own, which a quantity cannot be turned into; give plain numbers")
    of = GIVEN_IN[own]
    plain = {word: in_unit(given[word], of.get(word.removesuffix("_space"), of["time"]), word) for word in measured}
    return own if units == "consistent" else units, dict(given) | plain


# ------------------------------------------------------------------ the request
Events = Event | str | Mapping[str, Any] | Sequence[Event | str | Mapping[str, Any]]
Parameters = Mapping[str, Any] | ArrayLike | None


@dataclass(frozen=True, eq=False)
class Request:
    """One run, asked for: all that it depends on."""

    system: System
    method: MethodSpec
    state: Array  # (13 N + S + extra): where it starts
    steps: Steps
    t0: float = 0.0
    t_end: float | None = None  # where ``steps`` do not say it
    recording: Recording = field(default_factory=Recording)
    events: tuple[Event, ...] = ()
    breaks: tuple[float, ...] = ()
    since: float | None = None  # of the rest of another run: where that began
    commanded: bool = False  # whether controllers have set states at the start already, as in a row of another run
    settings: Settings = field(default_factory=Settings)
    parameters: object = None  # of this run in the place of those the system was built with
    tangent: tuple[str, ...] | None = None  # with derivatives, the names of the parameters beside the state
    reduce: tuple[Reduction, ...] = ()  # statistics of the rows
    by_tolerance: bool = False  # whether the tolerance chose the method, a series, which then may give way

    @property
    def final(self) -> float:
        """Time at the end of the span."""
        return self.steps.final(self.t0, self.t_end)

    @property
    def total(self) -> int | None:
        """How many steps, where they are counted beforehand."""
        return None if isinstance(self.steps, Tolerance) else self.steps.steps

    @property
    def samples(self) -> Array | None:
        """The times to record, as an array, or None."""
        return None if self.recording.t_eval is None else np.array(self.recording.t_eval)

    @property
    def order(self) -> dict[str, Any]:
        """The order of the method on the system, and what is to be said of it."""
        system, p = self.system, self.method.promises
        if p.thermal:
            return {"order": p.order, "order_note": "order of averages: a heat bath takes part in the motion"}
        order = p.order_free if system.loads is no_loads and system.rotates else p.order
        if not isfinite(order):
            return {"order": "exact"}
        if order != p.order:
            return {"order": order, "order_note": f"order {order} in free motion; {p.order} under loads"}
        if p.order_velocity == p.order or not (
            system.velocity_dependent or any(own.by_velocity for own in system.auxiliary)
        ):
            return {"order": p.order}
        kept = f"{p.kept_by} keeps {p.order}" if p.kept_by else f"without such loads it is {p.order}"
        lower = f"order {p.order_velocity}"
        if system.velocity_dependent:
            return {"order": p.order_velocity, "order_note": f"{lower} with velocity-dependent loads; {kept}"}
        return {"order": p.order, "order_note": f"{lower} of the work, {p.order} of the motion; {kept}"}

    def record(self, stored: bool = False) -> Record:
        """Room for the rows of the run; where they are ``stored`` on the way, for those of some slices only."""
        width, samples = len(self.state), self.recording.t_eval
        most = max(rows.FEWEST, rows.SLICE // (8 * width))
        if samples is not None:  # room for all, of which what nothing was written to needs no memory
            return Record(len(samples) + 2, width, most if stored else rows.LARGEST_ROWS)
        count = rows.FIRST_ROWS if self.total is None else self.total // self.recording.every
        if not stored:
            return Record(count + 2, width)
        return Record(min(count, 2 * most + rows.KEPT // (8 * width)) + 2, width, most)

    def of_member(self, k: int) -> Request:
        """The same with the noise that member k of an ensemble has."""
        bath, at = self.method.prepare().bath, L.BODY * self.system.N + len(self.system.auxiliary)
        if bath is None or not bath.apart or not k:
            return self
        if 2 * (self.total or 0) > bath.apart or (k + 1) * bath.apart > 2.0**53:
            raise InvalidInput(f"a seed has noise of their own for {2.0**53 / bath.apart:.0f} members with "
                               f"{bath.apart / 2:.0f} steps each; give members={{'seed': ...}}, or "
                               "noise='common'")  # fmt: skip
        y = self.state.copy()
        y[at] += k * bath.apart
        return replace(self, state=y)

    def without_series(self) -> Request:
        """The same with the method that a tolerance takes where loads have no series."""
        chosen = replace(find_method(WITHOUT_SERIES), compensated=self.method.compensated)
        assert isinstance(self.steps, Tolerance)
        check_estimate(chosen, self.steps.rtol)
        check_sums(chosen, self.system.translates, self.system.name)
        end = L.BODY * self.system.N + len(self.system.auxiliary)
        y = extended(self.system, chosen.prepare(), self.state[: L.BODY * self.system.N])
        y[:end] = self.state[:end]
        return replace(self, method=chosen, state=y, by_tolerance=False)

    def on(self, threads: int) -> Request:
        """The same by so many threads."""
        return replace(self, settings=replace(self.settings, threads=threads))

    def to_json(self) -> dict[str, Any]:
        """Itself in JSON's types; what has its default and came later than others is left out."""
        return self._with_state(to_json(self.state))

    def _with_state(self, state: object) -> dict[str, Any]:
        """Itself in JSON's types, with what stands for the state."""
        found = {
            "system": {"name": self.system.name, "arguments": dict(self.system.arguments)},
            "method": self.method.label,
            **self.steps.to_json(self.t0, self.t_end),
            **self.recording.to_json(),
            "guard": self.settings.guard,
            "units": self.settings.units,
            "state": state,
        }
        rest = {
            "compensated": self.method.compensated or None,
            "events": [dict(event.arguments) for event in self.events] or None,
            "breaks": list(self.breaks) or None,
            "since": self.since,
            "commanded": self.commanded or None,
            "parameters": self.parameters,
            "epoch": self.settings.epoch,
            "tangent": None if self.tangent is None else list(self.tangent),
            "reduce": [one.record() for one in self.reduce] or None,
            "by_tolerance": self.by_tolerance or None,
            "numbers": ((self.system.functions or self.events) and self.numbers) or None,
        }
        return found | {name: value for name, value in rest.items() if value is not None}

    @property
    def numbers(self) -> dict[str, dict[str, float]]:
        """What functions of the user's read at present, by the names of these and of the numbers."""
        functions = dict[str, Any](handed_in(self.system))
        for event in self.events:
            if one := (event.watches[0].function or event.watches[0].of) if "function" in event.arguments else None:
                functions[event.arguments["name"]] = one.function
        return {name: found for name, one in functions.items() if (found := numbers_read(one))}

    def to_text(self) -> str:
        """The text of its record. A state that is a text of bytes is put in as it is: looking for what JSON has to
        escape takes longer than the run of 10^4 bodies."""
        state, (before, after) = to_json(self.state), self._around
        if isinstance(state, str):
            return f'{before}"{state}"{after}'
        return before + repr(state).replace("nan", "NaN").replace("inf", "Infinity") + after  # in half JSON's time

    @cached_property
    def _around(self) -> tuple[str, str]:
        """The text of its record before and behind the state."""
        before, mark, after = json.dumps(self._with_state(BYTES)).partition(f'"{BYTES}"')
        assert mark
        return before, after

    def from_another(self, state: Array) -> Request:
        """The same run from another state."""
        made = replace(self, state=state)
        made.__dict__["_around"] = self._around
        return made

    @classmethod
    def from_json(
        cls, text: str, functions: Mapping[str, Callable[..., Any]], system: System | None = None,
        call: str = "rerun(ds, ",
    ) -> Request:  # fmt: skip
        """The request of a record, with the user's functions, or a system of the user's, handed in again."""
        try:
            kept = json.loads(text)
            kept |= {"state": numbers_of(kept["state"])}
            return cls._read(kept, *_rebuilt(kept, functions, system, call))
        except PolhodeError:
            raise
        except Exception as wrong:  # of whatever kind and number things are that should be others
            raise InvalidInput(
                f"the record of this run is not one that polhode wrote ({type(wrong).__name__}: {wrong}); use "
                "integrate instead"
            ) from wrong

    @classmethod
    def _read(
        cls, kept: Mapping[str, Any], system: System, chosen: MethodSpec, events: list[Event],
        reduce: tuple[Reduction, ...],
    ) -> Request:  # fmt: skip
        """The request of a record whose system, method, events and reductions are made."""
        time_transformed = bool(chosen.prepare().step_density)
        equal = "rtol" not in kept and not time_transformed
        words = {name: kept.get(name) for name in ("step", "steps", *TOLERANCE)}
        words |= {"t_end": None if equal else kept["t_end"]}
        steps, t0, t_end = planned(grouped(words) | {"time": kept["t0"]}, time_transformed)
        if isinstance(steps, FixedStep) and equal:
            steps = replace(steps, backwards=truth(kept["backwards"], "backwards"))
        recording = Recording.of(kept["every"], kept["t_eval"], steps, t0, t_end)
        return cls(
            system, chosen, from_json(kept["state"], system, chosen), steps, t0, t_end, recording,
            tuple(events), tuple(checked_breaks(kept.get("breaks", []), -inf, inf)),
            None if kept.get("since") is None else number(kept["since"], "since"),
            truth(kept.get("commanded", False), "commanded"),
            Settings(chosen.compensated, kept["guard"], choice(kept["units"], "units", UNITS), kept.get("epoch")),
            kept.get("parameters"), wanted(kept.get("tangent")), reduce,
            truth(kept.get("by_tolerance", False), "by_tolerance"),
        )  # fmt: skip


def for_tolerance(system: System) -> str:
    """The method of a run with a tolerance that names none, as measured: ``taylor`` where the loads can be traced."""
    read = any(one.read for one in system.auxiliary)
    traced = system.mechanism is None and not read and system.N <= MOST_OF_SERIES and system.dynamics.traced
    return "taylor" if traced else WITHOUT_SERIES


def asked_before(kept: Iterable[Any], method: str | Method | MethodSpec, key: tuple[object, ...] | None) -> Any:
    """That of the requests kept by a system from which one with a ``key_of`` differs in the start alone, or None."""
    return next((request for before, request, row in kept if before == key and present_row(method) == row), None)


def requested(system: object, method: str | Method | MethodSpec | None, given: Mapping[str, Any]) -> Request:
    """The request of a call of ``polhode.integrate``, all of it checked."""
    if type(system) is not System or system.made_again is not None:
        system = present_system(system)
    key = key_of(method, given)
    given, parameters = dict(given), given.get("parameters")
    if parameters is not None:
        system = with_parameters(system, parameters)
        by_name = isinstance(parameters, Mapping)
        parameters = {k: value_at(system, k) for k in parameters} if by_name else plain(parameters)
    settings, kept = Settings.of(given.get("settings")), record_of(given.get("start"))
    if given.get("step") is None and not isinstance(given.get("steps"), Tolerance):
        given |= {name: kept[name] for name in ("step",) if name in kept}
        if "rtol" in kept:
            given["steps"] = Tolerance(kept["rtol"], kept.get("atol"), kept.get("max_step"))
    adaptive, by_tolerance = isinstance(given.get("steps"), Tolerance), False
    if method is None:
        method = usual_method(system, given, kept)
        by_tolerance = adaptive and bool(kept.get("by_tolerance", method == "taylor" and not kept))
        if kept and settings.compensated is None:
            settings = replace(settings, compensated=kept.get("compensated", False))
    chosen = find_method(method)
    if settings.compensated is None:
        carried = system.wheels_at >= 0 and system.mechanism is None
        sums = chosen.prepare().compensated if carried else None
        settings = replace(settings, compensated=sums is not None and sums().compensates_rotation)
    if chosen.compensated != settings.compensated:
        chosen = replace(chosen, compensated=bool(settings.compensated))
    before = given.get("start") if kept or hasattr(type(given.get("start")), "isel") else None
    if before is not None:
        settings = _going_on(given, kept, settings, system)
        state = State.of(given["start"], method=chosen)
        if state.commanded and kept["system"]["arguments"] != json.loads(json.dumps(dict(system.arguments))):
            state = replace(state, commanded=False)  # other controllers, or other numbers of theirs, act at once
    else:
        state = state_of(rows_by_name(system.names, given.get("start")))
    given |= _started(state, {name: given.get(name) for name in STATE_WORDS})
    if given["sequence"] is None and any(given[name] is not None for name in ANGLES):
        given["sequence"] = sequence_of(method)
    asked = given.get("steps") if isinstance(given.get("steps"), Tolerance) else None
    given |= {name: getattr(asked, name, None) for name in ("first_step", "max_step")}
    measured = {name: given.get(name) for name in MEASURED}
    units, measured = in_units_of(system.units, system.name, system.arguments, settings.units, measured)
    given |= measured | {"coordinates": in_unit(given["coordinates"], UNKNOWN, "coordinates")}
    given |= dict.fromkeys(STATE_WORDS[:3]) | as_kept({name: given.get(name) for name in FORMS})
    if asked is not None:
        given["steps"] = replace(asked, first_step=measured["first_step"], max_step=measured["max_step"])
    if given.get("t_end") is None and (asked or given.get("steps") is None) and given.get("t_eval") is not None:
        given["t_end"] = float(times_asked_for(given["t_eval"])[-1])
    steps, t0, t_end = planned(given, bool(chosen.prepare().step_density), chosen.method.tolerances)
    if any(system.arguments.get(name) for name in ("forces", "sunlight", "atmosphere")):
        settings = _dated(settings, system, sorted((t0, steps.final(t0, t_end))))
    if isinstance(steps, Tolerance):
        check_estimate(chosen, steps.rtol)
    final = steps.final(t0, t_end)
    first = t0 if given["since"] is None else number(given["since"], "since")
    check_span(system.switches, system.impulses, first, final)
    if system.sampled and final < first:
        raise InvalidInput(f"the run goes from t = {first:g} back to {final:g}, but what controllers have set cannot "
                           "be undone; run forwards in time")  # fmt: skip
    events = events_of(given.get("events", ()), lambda one: why_not(one, system))
    breaks = checked_breaks(given["breaks"], first, final)
    watched = (watch.function for event in events for watch in event.watches if watch.function is not None)
    check_shared([*system.functions.values(), *watched])
    if system.units:
        if units not in ("consistent", system.units):
            raise InvalidInput(f"{system.name} is in {system.units} units with k_B = {system.boltzmann:.6g}, not in "
                               f"{units} ones; leave units out and give plain numbers")  # fmt: skip
        units = system.units
    elif units == "molecular":
        raise InvalidInput(f"units is 'molecular', but {system.name} has no such units of its own; leave it out")
    recording = Recording.of(given.get("every", 1), given["t_eval"], steps, t0, t_end)
    words = {name: given.get(name) for name in (*STATE_WORDS, *OF_METHODS, "project")}
    y = initial_state(system, chosen, words, t0)
    if before is not None or given["states"]:
        go_on_with_states(y, given["states"] if before is None else before.isel(time=-1), system)
    made = Request(
        system, chosen, y, steps, t0, t_end, recording, tuple(events), tuple(breaks),
        None if first == t0 else first, truth(given.get("commanded") or False, "commanded"),
        settings if units == settings.units else replace(settings, units=units),
        parameters, wanted(given.get("tangent")),
        () if settings.reduce is None else of_rows(settings.reduce), by_tolerance,
    )  # fmt: skip
    if key is not None:
        made.__dict__["idle"] = []  # what its runs leave for others
        before = (one for one in system.__dict__.get("_requests", ()) if one[0] != key)
        system.__dict__["_requests"] = (key, made, present_row(method)), *islice(before, 1)
    return made


def usual_method(system: System, given: Mapping[str, Any], kept: Mapping[str, Any]) -> str:
    """The method of a run that names none; ``kept`` is the record of the run that it goes on from, if any."""
    adaptive = isinstance(given.get("steps"), Tolerance)
    return kept.get("method") or (for_tolerance(system) if adaptive else system.recommended)


def with_options(
    method: str | Method | MethodSpec | None, system: object, given: Mapping[str, Any], caller: str,
    arguments: Iterable[str] = ARGUMENTS,
) -> str | Method | MethodSpec | None:  # fmt: skip
    """The method with options that stand among the words of a call, as they did before, which is said."""
    options = {name: value for name, value in given.items() if name not in arguments}
    if not options:
        return method
    if method is None:
        method = usual_method(present_system(system), given, record_of(given.get("start")))
    row = find_method(method).method
    for name, value in options.items():
        if name not in row.options:
            what = f"argument of {caller} or option of method {row.name!r}"
            raise unknown_argument(name, value, [*arguments, *row.options], what)
    chosen, are = find_method(method, **options), "is an option" if len(options) == 1 else "are options"
    warn(f"{' and '.join(options)} {are} of the method: write method={chosen!r}", OldNameWarning)
    return chosen


def sequence_of(method: object) -> str | None:
    """The sequence of Euler angles that a method is given with as an option by name."""
    return method.options.get("sequence") if isinstance(method, MethodSpec) else None


def present_row(method: str | Method | MethodSpec) -> Method | MethodSpec:
    """The row that a method string begins with, or what it means: both change where another row gets the name."""
    head = method.partition(":")[0] if isinstance(method, str) else ""
    return find_method(method) if (row := dict.get(METHODS, head.partition("/")[0])) is None else row


COUNTED, SIZED, PLAIN = (int, type(None)), (float, int, type(None)), (float, int, bool, str)


def key_of(method: object, given: Mapping[str, Any]) -> tuple[object, ...] | None:
    """What a request depends on beside the system and the start, where that is but a method by name and plain numbers;
    else None."""
    get = given.get
    step, steps, t_end, every = get("step"), get("steps"), get("t_end"), get("every", 1)
    usual = get("t_eval") is get("start") is get("parameters") is get("tangent") is None and not get("project")
    settings: Any = {} if get("settings") is None else get("settings")
    usual = usual and type(settings) is dict and all(type(value) in PLAIN for value in settings.values())
    events, breaks = get("events", ()), get("breaks", ())
    empty = type(events) is type(breaks) is tuple and not events and not breaks
    plain_numbers = type(step) in SIZED and type(steps) in COUNTED and type(t_end) in SIZED and type(every) is int
    named = method is None or type(method) in (str, MethodSpec)
    usual = usual and plain_numbers and named and empty
    return (method, step, steps, t_end, every, *settings.items()) if usual else None


def _started(state: State, given: Mapping[str, Any]) -> dict[str, Any]:
    """The words of a state with those of the call itself."""
    words = (*FORMS, *STATE_WORDS[3:], *OF_METHODS, "states", "time", "since", "commanded")
    found = {name: getattr(state, name) for name in words}
    for name in STATE_WORDS:
        if given[name] is not None:
            if found[name] is not None:
                raise InvalidInput(f"{name} is given, and start has it too; keep one of them")
            found[name] = given[name]
    return found


def _going_on(given: dict[str, Any], kept: Mapping[str, Any], settings: Settings, system: System) -> Settings:
    """The settings of a run that goes on from a trajectory; its first chosen step is the last one there."""
    ds = trajectory(given["start"])
    if ds.attrs.get("system") != system.name:
        raise InvalidInput(f"start is a trajectory of {ds.attrs.get('system')!r}, but the run is of {system.name!r}")
    steps = given.get("steps")
    if isinstance(steps, Tolerance) and steps.first_step is None and "step" in ds.variables and ds.sizes.get("time"):
        last = float(ds["step"][-1])
        if last > 0.0:
            given["steps"] = replace(steps, first_step=last)
    units = settings.units or kept.get("units", "")
    return replace(settings, units=units, epoch=kept.get("epoch") if settings.epoch is None else settings.epoch)


def _dated(settings: Settings, system: System, span: list[float]) -> Settings:
    """The settings with the epoch of the ephemerides and the air that the system's loads read."""
    given = system.arguments
    tables = [one for one in (*(given.get("forces") or ()), *given.values()) if isinstance(one, Mapping)]
    seen = [one["ephemeris"] for one in tables if "ephemeris" in one]
    air = [one["air"] for one in tables if "air" in one] + [one for one in tables if one.get("kind") == "nrlmsis_air"]
    epochs = {one["epoch"] for one in (*seen, *air)}
    if not epochs:
        return settings
    slack = 1e-9 * max(map(abs, span))
    for one in seen:
        if span[0] < one["start"] - slack or span[1] > one["stop"] + slack:
            raise InvalidInput(
                f"the run goes from t = {span[0]:g} to {span[1]:g}, but the ephemeris of {one['body']!r} from "
                f"{one['start']:g} to {one['stop']:g}; give it another start or stop"
            )
    every = sorted(epochs if settings.epoch is None else epochs | {settings.epoch})
    if len(every) > 1:
        raise InvalidInput(f"epoch is {' and '.join(every)}: time 0 is one instant; give the ephemerides and air of "
                           "all loads and the settings the same epoch")  # fmt: skip
    return settings if settings.epoch else replace(settings, epoch=every[0])


def go_on_with_states(y: Array, states: Mapping[Any, Any], system: System) -> None:
    """Put states that loads read, such as momenta of wheels, into a state: by name, or from a row of a trajectory."""
    read: dict[str, list[int]] = {}
    for k, one in enumerate(system.auxiliary):
        if one.read:
            read.setdefault(one.quantity, []).append(L.BODY * system.N + k)
    behind = L.BODY * system.N + system.read_from
    for rotors in carried_in(system) if system.names else ():
        for name, (first, count) in rotors.states.items():
            read[f"{system.names[rotors.body]}.{name}"] = list(range(behind + first, behind + first + count))
    for name in states if isinstance(states, Mapping) and not hasattr(type(states), "isel") else ():
        if name not in read:
            raise unknown_name(f"state of {system.name}, given in start", name, read or ["(none)"])
    for name, places in read.items():
        if name in states:
            values = np.ravel(np.asarray(states[name], dtype=float))
            if len(values) != len(places):
                raise InvalidInput(f"start has {len(values)} numbers of {name!r}, but the system {len(places)}; give "
                                   "a trajectory of this system, or a mapping of its last row")  # fmt: skip
            y[places] = values


# ------------------------------------------------------------------ reading a record
def _rebuilt(
    recipe: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]], system: System | None, call: str
) -> tuple[System, MethodSpec, list[Event], tuple[Reduction, ...]]:
    events, rest = [], dict(functions)
    reduce = () if recipe.get("reduce") is None else of_rows(recipe["reduce"], rest, call)
    for given in recipe.get("events", ()):
        if given["kind"] in ("user", "of"):
            name = given["name"]
            if name not in functions:
                raise InvalidInput(f"this run used a function for the event {name!r}; hand it in again: "
                                   f"{call}{name}={given['function']['function']})")  # fmt: skip
            rest.pop(name, None)
            given = given | {"function": functions[name]}
        events.append(event_of(given))
    if system is None:
        if recipe["system"]["arguments"].get("n", 0) * L.BODY > len(recipe["state"]):
            raise InvalidInput("the record of this run has more bodies than its state")
        system = rebuild(recipe["system"], rest, call)
    else:
        for key in rest:
            raise unknown_name("function of this run", key, ["(none, for the system is handed in)"])
        name, width = recipe["system"]["name"], L.BODY * system.N + len(system.auxiliary)
        kept, _ = named_now(name, recipe["system"]["arguments"], {})
        before, now = (sorted(recorded_functions(one)) for one in (kept, system.arguments))
        if system.name == name and before != now:
            raise InvalidInput(f"this run is of a system with the functions {', '.join(before) or '(none)'}, but that "
                               f"handed in has {', '.join(now) or '(none)'}")  # fmt: skip
        if system.name != name or width > len(recipe["state"]):
            raise InvalidInput(f"this run is of a system {name!r}; {system.name!r} of {system.N} bodies is handed in")
        if "parameters" in recipe:
            system = with_parameters(system, recipe["parameters"])
    method = replace(find_method(recipe["method"]), compensated=recipe.get("compensated", False))
    return system, method, events, reduce


def rebuild(recipe: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]], call: str = "rerun(ds, ") -> System:
    """The system of a recipe, with the user's functions handed in again."""
    if builder(recipe["name"]) is None and not call.startswith("rerun"):
        raise InvalidInput(f"no function of polhode builds the system {recipe['name']!r}; hand it in: {call}system=s)")
    if builder(recipe["name"]) is None:
        raise InvalidInput(f"no function of polhode builds the system {recipe['name']!r}; use integrate instead")
    arguments, functions = named_now(recipe["name"], recipe["arguments"], functions)
    if recipe["name"] in ("orbit", "spacecraft"):
        arguments.setdefault("surface", 0.0)  # none, before there was one that nobody gave
    wanted = recorded_functions(arguments)
    for key in sorted(set(wanted) - set(functions)):
        name = wanted[key]["function"]
        raise InvalidInput(f"this run used a function for {key!r}, {name!r}; hand it in again: {call}{key}={name})")
    for key in sorted(set(functions) - set(wanted)):
        raise unknown_name("function of this run", key, wanted or ["(none)"])
    return built(recipe["name"], arguments, functions)
