"""An ensemble, asked for and checked: the request of each member, and which of them one compiled loop can serve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import gcd
from typing import Any, cast

import numpy as np

from polhode.arguments import Array, array, room_for
from polhode.ensembles.members import Kind, Names, Varied, kind_of, sorted_out, states_of, system_of
from polhode.ensembles.sampling import Members
from polhode.errors import InvalidInput, unknown_name
from polhode.kernel import layout as L
from polhode.methods import Method, MethodSpec, method as find_method
from polhode.runs.initial_state import OF_BODY, rows_by_name
from polhode.runs.parameters import with_parameters
from polhode.runs.request import ARGUMENTS, Request, in_units_of, requested, sequence_of, with_options
from polhode.runs.state import OF_METHODS, STATE_WORDS, Start, State, as_kept, refuse_own_states, state_of
from polhode.runs.steps import FLOOR, FixedStep, Tolerance
from polhode.systems import System
from polhode.systems.record import present_system
from polhode.systems.sampling import cut_by
from polhode.trajectory.reduction_kinds import MEMBER

SWITCHED = "steps are cut where loads are switched or controllers sample"
"""Why members run by themselves that lanes take past the cuts together."""
BETWEEN = 8
"""Most rows of the grid that are computed for each one asked for by ``t_eval``."""


LISTED = (np.ndarray, list, tuple)  # what may hold a row for each member


@dataclass(frozen=True, eq=False)
class Plan:
    """All that an ensemble depends on."""

    system: System  # what all members have in common
    method: str | Method | MethodSpec | None  # as of ``integrate``
    varied: Varied  # what they do not
    whole: Varied  # the same with what varies of single bodies as that of all bodies
    names: Names  # what its names belong to
    words: Mapping[str, Any]  # the arguments of ``integrate`` for all members, without ``start``
    start: Mapping[str, Any]  # the words of ``State`` for all

    def request(self, k: int) -> Request:
        """The request of one member, as ``integrate`` makes it; with a tolerance and no word about rows, those at the
        start and the end."""
        varied, names = self.whole, self.names
        words = dict(self.words) | {"start": dict(self.start) | varied.at(k, names.starting)}
        if names.tolerances:
            words["steps"] = replace(words["steps"], **{n: float(v) for n, v in varied.at(k, names.tolerances).items()})
        own = {name: int(x) if float(x).is_integer() else float(x) for name, x in varied.at(k, names.options).items()}
        try:
            method = find_method(self.method, **own) if own else self.method  # type: ignore[arg-type]
            request = requested(system_of(self.system, varied.at(k, names.system)), method, words)
            request.settings.of_whole("many members, whose statistics are reduce= of polhode.ensemble")
        except InvalidInput as problem:
            rows = next((
                name for name, value in self.start.items()
                if isinstance(value, LISTED) and getattr(value, "ndim", True) and len(value) == varied.count
                and all(isinstance(one, LISTED) for one in value)
            ), "")  # fmt: skip
            if not rows or rows not in str(problem):
                raise
            raise InvalidInput(f"{problem}; a row for each member is given as members={{{rows!r}: ...}}") from None
        if self.noise_by_number:
            request = request.of_member(varied.number(k))
        if not isinstance(request.steps, Tolerance) or request.samples is not None or request.recording.every > 1:
            return request
        return replace(request, recording=replace(request.recording, t_eval=(request.t0, request.final)))

    def tolerances(self, steps: Tolerance) -> Array:
        """Relative and absolute tolerances (M, 2) of the members; ``steps`` are those of the first."""
        values, found = self.varied.values, np.empty((self.varied.count, 2))
        found[:, 0] = values.get("rtol", steps.rtol)
        follows = "rtol" in values and self.words["steps"].atol is None
        found[:, 1] = values.get("atol", found[:, 0] * FLOOR if follows else steps.atol)
        return found

    @property
    def noise_by_number(self) -> bool:
        """Whether members have noise by their numbers, and not by seeds or baths of their own."""
        return not {"seed", "thermostat"}.intersection(self.names.options + self.names.starting)

    def refused(self, k: int) -> str:
        """Why the request of a member is refused; empty where it is not."""
        try:
            self.request(k)
        except InvalidInput as problem:
            return str(problem)
        return ""

    def whose(self, k: int, problem: InvalidInput) -> InvalidInput:
        """The error of a member, with its number where others do not have it."""
        others = {0, self.varied.count // 2, self.varied.count - 1} - {k}
        if others and all(self.refused(other) == str(problem) for other in others):
            return problem
        return InvalidInput(f"member {k}: {problem}")

    def together(self, request: Request, kind: Kind | None = None) -> tuple[Kind, Array]:
        """The systems and initial states of all members, made at once; ``kind`` where the systems are known."""
        try:
            return self._together(request, self.whole, kind)
        except InvalidInput as problem:
            raise self.whose(*self._first_refused(request, problem)) from None

    def _together(self, request: Request, varied: Varied, kind: Kind | None = None) -> tuple[Kind, Any]:
        names = self.names
        for word in names.tolerances:  # which bound those of all others
            for k in (varied.values[word].argmin(), varied.values[word].argmax()):
                if told := self.refused(int(k)):
                    raise InvalidInput(told)
        kind = kind or kind_of(self.system, request.system, varied, names.system)
        if kind.alone:
            return kind, None
        if any(name in self.start or name in names.starting for name in OF_METHODS):
            return kind, np.array([self.request(k).state for k in range(varied.count)])
        states = states_of(kind, request, varied, names.starting, self.start_of_all(request))
        bath = request.method.prepare().bath
        if bath is not None and bath.apart and self.noise_by_number:
            request.of_member(int(varied.numbers.max()))  # which refuses too many
            after = varied.numbers - varied.numbers[0]
            states[:, L.BODY * kind.system.N + len(kind.system.auxiliary)] += bath.apart * after
        return kind, states

    def start_of_all(self, request: Request) -> dict[str, Any]:
        """The words of the start that all members have, as plain numbers."""
        _, plain = in_units_of(
            self.system.units, self.system.name, self.system.arguments, request.settings.units, self.start
        )
        return {"sequence": sequence_of(self.method)} | plain

    def _first_refused(self, request: Request, problem: InvalidInput) -> tuple[int, InvalidInput]:
        """The first member that is refused, by halving, and its own sentence."""
        good, bad = 0, self.varied.count  # the first ``good`` members pass, the first ``bad`` do not
        while bad - good > 1:
            middle = (good + bad) // 2
            try:
                self._together(request, self.whole.part(0, middle))
            except InvalidInput as found:
                bad, problem = middle, found
            else:
                good = middle
        own = self.refused(bad - 1)
        return bad - 1, InvalidInput(own) if own else problem

    def alone(self, request: Request, engine: str) -> str:
        """Why each member must be a run by itself, whatever the systems are, a clause; empty where it need not."""
        system, prepared = request.system, request.method.prepare()
        if names := self.names.options or (self.names.tolerances if engine == "device" else ()):
            return f"{names[0]} varies, which belongs to the steps"
        if prepared.step_density:
            return f"{request.method.label!r} has a time transformation"
        if system.mass_at is not None or (system.ground is not None and not system.ground.assumed):
            return "something is used up or watched during the run"
        if request.breaks:
            return "there are breaks"
        h = request.steps.h if isinstance(request.steps, FixedStep) else None
        between = self.between_steps(request)
        if between and (h is None or engine == "threads" or (engine == "device" and between != SWITCHED)):
            return f"{between}, each member with steps of its own" if h is None else between
        return "t_eval has times between the steps" if h is not None and rows_of(request) is None else ""

    @staticmethod
    def between_steps(request: Request) -> str:
        """What happens between steps of members, a clause, that lanes alone take past it together; or nothing."""
        system, h = request.system, request.steps.h if isinstance(request.steps, FixedStep) else None
        if request.events:
            return "events are looked for"
        if system.impulses or system.watches:
            return "something is fired or watched during the run"
        return SWITCHED if system.switches or cut_by(system.sampled, request.t0, h, request.final) else ""


def rows_of(request: Request) -> tuple[int, Any, Any] | None:
    """Rows of steps of one size: every how many steps, their times, and which of the rows computed they are (None
    for all); nothing where rows lie between steps."""
    steps, t0 = cast(FixedStep, request.steps), request.t0
    n, h, samples = cast(int, steps.steps), steps.h, request.samples
    if samples is None:
        every = request.recording.every
        numbers = np.append(np.arange(0, n + 1, every), [n] if n % every else [])
        return every, t0 + numbers * h, None
    along = (samples - t0) / h
    numbers = np.round(along).astype(int)
    if (np.abs(along - numbers) > 1e-12 * np.maximum(1.0, np.abs(along))).any() or numbers.max() > n:
        return None
    every = gcd(*numbers.tolist(), n) or 1
    if n // every + 1 > BETWEEN * max(16, len(numbers)):
        return None
    return every, samples, numbers // every


def planned(
    system: System, method: str | Method | MethodSpec | None, members: object, given: Mapping[str, Any], start: Start,
    options: Mapping[str, Any],
) -> Plan:  # fmt: skip
    """The plan of a call of ``polhode.ensemble``."""
    system = present_system(system)
    if given.get("parameters") is not None:
        system = with_parameters(system, given["parameters"])
    varied = Varied.of(by_path(system.names, members))
    room_for(3.0 * L.BODY * system.N * varied.count, "members")
    if "tangent" in options:
        raise InvalidInput(
            "tangent is for a single run; run the members one by one by polhode.integrate, or take the indicators of "
            "polhode.chaos, which have members"
        )
    whole_call, known = {**given, **options, "start": start}, [*ARGUMENTS, "members", "engine", "threads", "reduce"]
    method = with_options(method, system, whole_call, "ensemble", known)
    chosen = find_method(system.recommended if method is None else method)
    words = {name: value for name, value in given.items() if name != "parameters"}
    refuse_own_states(system, start, "members")
    common = words_of_start(system, start)
    for name, value in list(words.items()):
        if name in STATE_WORDS and value is not None:
            if common.get(name) is not None:
                raise InvalidInput(f"{name} is given, and start has it too; keep one of them")
            common[name] = words.pop(name)
    whole, common = of_all_bodies(system.names, varied, start, common)
    names = sorted_out(whole, system, chosen.method.options)
    for name in names.starting:
        if common.get(name) is not None:
            raise InvalidInput(f"{name} varies among the members, and is given for all too; keep one of them")
    for name in names.options:
        if chosen.options[name] != chosen.method.options[name].default:
            raise InvalidInput(f"{name} varies among the members, and is given for all too; keep one of them")
    if names.tolerances and not isinstance(words.get("steps"), Tolerance):
        raise InvalidInput(
            f"{names.tolerances[0]} varies among the members, but steps is no polhode.Tolerance, whose it is"
        )
    return Plan(system, chosen if names.options else method, varied, whole, names, words, common)


def words_of_start(system: System, start: Any) -> dict[str, Any]:
    """The words of a start that all members have."""
    if hasattr(type(start), "isel"):
        if MEMBER in start.dims:
            raise InvalidInput(
                "start has the dimension 'member'; take one of them, start.isel(member=0), or give their last rows as "
                "members"
            )
        return dict(State.of(start).given)
    return dict(state_of(rows_by_name(system.names, start)).given)


KEPT = {"attitude": (1.0, 0.0, 0.0, 0.0)}
"""What a body has of which nothing is said, where that is not zero."""


def by_path(names: tuple[str, ...], members: object) -> object:
    """Members with what a body has by paths: ``{"a": {"position": ...}}`` is ``{"a.position": ...}``."""
    if not isinstance(members, Mapping) or isinstance(members, Members):
        return members
    found: dict[str, Any] = {}
    for name, value in members.items():
        inside = isinstance(value, Mapping) and (name in names or bool(names and set(value) & set(OF_BODY)))
        if inside and name not in names:
            raise unknown_name("body of the system, given in members", name, names)
        found |= {f"{name}.{word}": one for word, one in value.items()} if inside else {name: value}
    return found


def of_all_bodies(
    names: tuple[str, ...], varied: Varied, start: object, common: Mapping[str, Any]
) -> tuple[Varied, dict[str, Any]]:
    """What varies, with values of single bodies as those of all, and the start of all members without them."""
    rest, told = dict(varied.values), dict[str, dict[str, Any]]()
    for path in varied.values:
        body, _, word = path.partition(".")
        if body in names and word in OF_BODY:
            told.setdefault(body, {})[word] = rest.pop(path)
            given = start.get(body) if isinstance(start, Mapping) else None
            if isinstance(given, Mapping) and word in given:
                raise InvalidInput(f"{path} varies among the members, and is given for all too; keep one of them")
    if not told:
        return varied, dict(common)
    base = as_kept(common) | {word: common[word] for word in STATE_WORDS[3:] if common.get(word) is not None}
    whole: dict[str, Any] = {}
    for body, given in told.items():
        moving = {word: given[word] for word in STATE_WORDS[3:] if word in given}
        for word, values in (as_kept(given) | moving).items():
            width = 4 if word == "attitude" else 3
            if np.shape(values) != (varied.count, width):
                raise InvalidInput(f"members has values of shape {np.shape(values)[1:]} of {body}.{word}; give {width} "
                                   "numbers for each member")  # fmt: skip
            if word in rest:
                raise InvalidInput(f"members has {word} of all bodies and of {body!r}; keep one of them")
            if word not in whole:
                row = array(base.get(word, KEPT.get(word, 0.0)), word)
                row = np.broadcast_to(row, (len(names), width))
                whole[word] = np.tile(row, (varied.count, 1, 1))
            whole[word][:, names.index(body)] = values
    left = {name: value for name, value in common.items() if name not in OF_BODY}
    return replace(varied, values=rest | whole), left | {word: base[word] for word in base if word not in whole}
