"""Reads a scenario file: text, tables, units, then what each table means; mistakes are collected."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from polhode import reading
from polhode.algebra import orbits
from polhode.arguments import mapping, path as checked_path, truth
from polhode.arguments.words import FUNCTIONS, Form, ListOf, arguments_of, in_units_of
from polhode.bodies import inertia
from polhode.epochs import Epoch, epoch_of
from polhode.errors import InvalidInput, PolhodeError, answering
from polhode.methods import method as find_method, options_by_name
from polhode.runs.initial_state import check_moving, rows_by_name, start_state
from polhode.runs.integrator import check_estimate
from polhode.runs.request import for_tolerance, grouped, requested
from polhode.runs.scenario.initial_state import carried_out, keys, ways_to_give
from polhode.runs.scenario.record import Files, Scenario, dated, has_step_density, span_of, with_changes
from polhode.runs.scenario.schema import (
    MEMBERS,
    OUTPUT,
    RUN,
    SHAPES,
    SWEEP,
    TYPE,
    as_record,
    entries,
    entry,
    initial_table,
    of_whole,
    scenario_file,
)
from polhode.runs.scenario.sources import function_of
from polhode.runs.scenario.tables import Table, as_toml, check, dotted, inside, unknown_key
from polhode.runs.scenario.toml_lines import Key, deepest, key_lines, line_of_many_parts
from polhode.runs.state import AS_GIVEN, given_state
from polhode.runs.steps import checked_breaks, sample_times
from polhode.systems import SYSTEMS, System, problem, start_files
from polhode.systems.events import Event, event_of, events_of, why_not
from polhode.systems.forces import force_of
from polhode.systems.problems import ReadyMade
from polhode.systems.structure import bodies_of_event
from polhode.systems.sum import summand, system as sum_system
from polhode.trajectory.files import suffix_of

T = TypeVar("T")


@answering
def read_scenario(
    path: str | os.PathLike[str],
    allow_code: bool = False,
    *,
    method: str | None = None,
    step: float | None = None,
    rtol: float | None = None,
    stored: bool = False,
    changes: Mapping[str, Any] | None = None,
) -> Scenario:
    """Read and check a scenario.

    Parameters
    ----------
    path : path
        A TOML file; ``polhode schema`` describes it.
    allow_code : bool
        Whether Python functions named in it may be loaded, which runs their file.
    method, step, rtol : str, float, float, optional
        Instead of the file's; ``step`` also instead of its ``rtol``, and the other way round.
    stored : bool
        Whether the run will have a store that the file does not name, so that its rows need not fit into the memory.
    changes : mapping, optional
        Values in the place of the file's, by key, such as ``{"system.weight": 19.6, "run.t_end": 5.0}``; with them, be
        there none, a [sweep] is left out.

    Raises
    ------
    FileProblem
        The file cannot be read.
    InvalidInput
        All mistakes in it, one a line: file, line, key, what was expected, what was found. A scenario with a [sweep],
        which is many runs.
    UserFunctionError
        The Python file it names cannot be loaded.

    Examples
    --------
    >>> read_scenario("examples/fast-top.toml").integrate()                                       # doctest: +SKIP
    """
    if step is not None and rtol is not None:
        raise InvalidInput("step and rtol are both given; keep one of them")
    allow_code = truth(allow_code, "allow_code")
    changes = None if changes is None else mapping(changes, "changes")
    reader = _Reader(Path(checked_path(path)), allow_code, changes)
    reader.stored = truth(stored, "stored")
    return reader.scenario(method, step, rtol)


def sweep_table(path: str | os.PathLike[str], given: Mapping[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
    """The text of a scenario and its [sweep], checked, with words given in the place of the file's."""
    reader = _Reader(Path(checked_path(path)), False, {})
    return reader.text, reader.sweep(given or {})


DEEPEST = 16
"""Levels of lists and tables in each other; no key of a scenario is deeper than half of that."""
MOST_TOLD = 100
"""Mistakes that are told."""
WHOLE = "those of TOML are between -2^63 and 2^63 - 1; write 1e30 for a number as large as that"


class _Reader:
    """Reads one file, collecting what is wrong with it."""

    stored = False
    unreported = 0

    def __init__(self, path: Path, allow_code: bool, changes: Mapping[str, Any] | None = None) -> None:
        self.path, self.allow_code, self.changes = path, allow_code, dict(changes or {})
        self.text = reading.text(path, "scenario", "utf-8", "strict")
        self.raw: dict[str, Any] = self.tables()
        self.swept, self.varied = self.raw.pop("sweep", None), self.raw.pop("members", None)
        self.raw = with_changes(self.raw, self.changes)
        self.loaded: dict[Path, ModuleType] = {}
        self.seed: int | None = None
        self.spelled: dict[Key, str] = {}
        self.si: Key | None = None  # the first key with a unit of length, time or mass
        self.problems: list[tuple[int, str]] = []
        self.bad: set[str | int] = set()  # sections whose shape is wrong
        if self.swept is not None and changes is None:
            self.wrong(("sweep",), "this is many runs; run them with `polhode sweep`, one of them with --member (in "
                       "Python: polhode.sweep, polhode.ensembles.sweep_member)")  # fmt: skip
            self.report()

    @cached_property
    def lines(self) -> dict[Key, int]:
        """The line of every key, looked for where there is a mistake."""
        return key_lines(self.text)

    def tables(self) -> dict[str, Any]:
        """What the text says as TOML."""
        if (line := line_of_many_parts(self.text)) is not None:
            raise InvalidInput(f"{self.path}:{line}: a key of very many parts; a scenario has at most {DEEPEST} levels")
        try:
            raw = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as torn:
            found = re.search(r"line (\d+)", str(torn))
            line = int(found[1]) if found else self.text.count("\n") + 1
            said = re.sub(r"\s*\(at .*\)$", "", str(torn))
            what = f"not valid TOML: {said[:1].lower() + said[1:]}; see https://toml.io for the syntax"
        except RecursionError:
            line = self.text.count("\n", 0, deepest(self.text)) + 1
            what = f"lists and tables in each other; a scenario has at most {DEEPEST} levels, so close some"
        except ValueError:  # an integer of more digits than Python reads
            line = (
                self.text.count("\n", 0, max(re.finditer(r"\w+", self.text), key=lambda word: len(word[0])).start()) + 1
            )
            what = f"a whole number of very many digits; {WHOLE}"
        else:
            return raw
        raise InvalidInput(f"{self.path}:{line}: {what}") from None

    def bounded(self, value: object, key: Key = ()) -> Any:
        """The same without what no key of a scenario can be, which is noted."""
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            self.wrong(key, f"expected a number of 64 bits (got {as_toml(value)}); {WHOLE}")
            return 0
        if isinstance(value, dict | list) and len(key) >= DEEPEST:
            self.wrong(key, f"expected at most {DEEPEST} levels of lists and tables in each other; close some")
            return type(value)()
        if isinstance(value, dict):
            return {str(name): self.bounded(part, (*key, name)) for name, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.bounded(part, (*key, k)) for k, part in enumerate(value)]
        return value if isinstance(value, int | float | str | None) else str(value)

    def wrong(self, key: Key, message: str) -> None:
        """Note a mistake at a key."""
        at = written = tuple(self.spelled.get(key[: n + 1], part) for n, part in enumerate(key))
        while at and at not in self.lines:
            at = at[:-1]
        line = self.lines.get(at, 1)
        name = dotted(written)
        where = f"{self.path}:{line}: {name}" if name else f"{self.path}:{line}"
        self.problems.append((line, f"{where}: {message}"))

    def refused(self, section: Key, problem: PolhodeError) -> None:
        """Note what another part of polhode says about a section, at the key it speaks of."""
        table: Any = self.raw
        for part in section:
            inside = (isinstance(table, dict) and part in table) or isinstance(table, list)
            table = table[part] if inside else {}
        words = re.findall(r"\w+", str(problem)) if isinstance(table, dict) else []
        named = next((word for word in words if word in table), None)
        self.wrong((*section, named) if named else section, str(problem))

    def tried(self, key: Key, make: Callable[..., T], /, *given: Any, **words: Any) -> T | None:
        """What another part of polhode makes of a section; None where it refuses, which is noted."""
        try:
            return make(*given, **words)
        except InvalidInput as refused:
            self.refused(key, refused)
            return None

    def mistaken(self, key: Key, told: str | Table) -> None:
        """Note what the check of the file has found: a sentence, or the table that does not know a key."""
        self.bad.add(key[0])
        if len(self.problems) >= MOST_TOLD:
            self.unreported += 1
        else:
            self.wrong(key, told if isinstance(told, str) else self.unknown(str(key[-1]), told))

    def unknown(self, wrong: str, table: Table) -> str:
        """What is wrong with a key that its table does not know, but perhaps another part of the file."""
        if wrong in scenario_file().keys:
            return "unknown key; it belongs at the top of the file, before the first [table]"
        tables = {"run": RUN, "initial": initial_table(), "output": OUTPUT}
        there = next((name for name, table in tables.items() if wrong in table.keys), "")
        return f"unknown key; it belongs under [{there}]" if there else unknown_key(wrong, table)

    def scenario(self, method: str | None, step: float | None, rtol: float | None) -> Scenario:
        """The whole file."""
        parsed = self.parsed()
        if method is not None:
            parsed["method"] = method
        run = parsed["run"] = RUN.filled(parsed["run"] or {})
        if step is not None:
            run |= {"step": step} | dict.fromkeys(("rtol", "atol", "first_step", "max_step", "max_steps"))
        if rtol is not None:
            if run["step"] is not None and run["steps"] is not None:
                run["t_end"] = run["t0"] + run["step"] * run["steps"]
            run |= {"rtol": rtol, "step": None, "steps": None}
        sound = parsed.keys() - self.bad
        ready = None if parsed["problem"] is None else self.tried(("problem",), problem, parsed["problem"])
        if "problem" in sound and "system" in sound:
            if "problem" in self.raw and "system" in self.raw:
                self.wrong(("system",), "a system is given, but problem brings its own; keep one of them")
            elif "problem" not in self.raw and "system" not in self.raw:
                self.wrong((), "no system; write a [system] table, or name a problem (`polhode systems` lists both)")
        told = parsed["system"]
        system = self.system(told) if told is not None else ready.build() if ready else None
        label = self.method(parsed, system) if "method" in sound else ""
        state: dict[str, Any] = {}
        if "initial" in sound and "elements" in sound:
            start = dict(ready.initial) if ready else {}
            if parsed["elements"] is not None:
                said = sum(ways_to_give("position", "momentum"), ())
                start = {name: value for name, value in start.items() if name not in said}
                start |= self.elements(parsed["elements"], system)
            state = self.state(parsed["initial"] or {}, start, system, run)
        timed = "run" in sound and (ready or "problem" not in self.raw)
        times = self.times(run, ready, has_step_density(label)) if timed else {}
        output = self.output(parsed["output"] or {}) if "output" in sound else Files()
        self.stored = self.stored or output.store is not None
        events = self.events(parsed["events"] or [], system) if "events" in sound else []
        if events:
            times["events"] = events
        if system is not None and not self.problems:
            try:  # what ``integrate`` refuses before anything is compiled
                requested(system, label, grouped(times | state)).record(self.stored)
            except InvalidInput as refused:
                words, sections = re.findall(r"\w+", str(refused)), ["initial", "system", "run"]
                named = [name for name in sections if any(word in self.raw.get(name, {}) for word in words)]
                self.refused(((named or sections)[-1],), refused)
        members = self.members()
        self.report()
        assert system is not None
        title = parsed["title"] or (ready.description if ready else system.name)
        asked = (("method", method), ("step", step), ("rtol", rtol))
        changes = self.changes | {key: value for key, value in asked if value is not None}
        return Scenario(self.path, self.text, title, system, label, times | state, output, changes, self.seed, members,
                        named=parsed["method"] is not None)  # fmt: skip

    def members(self) -> dict[str, Any] | None:
        """The [members] of the file; its table by its path."""
        if self.varied is None:
            return None
        before = len(self.problems)
        given = check(MEMBERS, self.bounded(self.varied, ("members",)), ("members",), self.mistaken)
        if len(self.problems) > before:
            return None
        made = MEMBERS.filled(given)
        if (made["vary"] is None) == (made["table"] is None):
            self.wrong(("members",), "give either vary, what varies by name, or table, a CSV file")
        if made["table"] is not None:
            made["table"] = str(self.path.parent / made["table"])
        return made

    def report(self) -> None:
        """Raise all mistakes found, if any, in the order of their lines."""
        if self.problems:
            self.problems.sort(key=lambda found: found[0])
            told = [message for _, message in self.problems[:MOST_TOLD]]
            if len(told) > 1:
                count = len(self.problems) + self.unreported
                first = f", of which these are {MOST_TOLD}" * (count > MOST_TOLD)
                told.insert(0, f"{count} mistakes in {self.path}{first}:")
            raise InvalidInput("\n".join(told))

    def sweep(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The [sweep] of the file with other words in the place of its own, checked."""
        found = self.swept if self.swept is not None else {}
        if isinstance(found, dict):
            found = self.bounded({**found, **given}, ("sweep",))
        check(SWEEP, found, ("sweep",), self.mistaken)
        self.report()
        return found

    # -------------------------------------------------------------- shape
    def parsed(self) -> dict[str, Any]:
        """What the file says by the keys at its top; sections with mistakes are left out after noting them."""
        file = scenario_file()
        self.raw = self.in_si(self.bounded(self.raw), [file], (), ())
        run = self.raw.get("run")
        if self.si is not None and isinstance(run, dict | None):
            name = dotted(self.si)
            if "problem" in self.raw:
                self.wrong(self.si, "a ready-made problem has units of its own, which a unit in a key cannot change; "
                           "leave out the ending of this key")  # fmt: skip
            elif (run or {}).get("units", "SI") == "SI":
                self.raw["run"] = (run or {}) | {"units": "SI"}
            else:
                self.wrong(("run", "units"), f"{name} has a unit in its name, which makes the run one in SI; write "
                           "units = \"SI\", or leave it out")  # fmt: skip
        self.start_files()
        if isinstance(self.raw.get("run"), dict):
            self.raw = {name: dated(part, self.raw["run"]) for name, part in self.raw.items()}
        found = file.check(self.raw, (), self.mistaken)
        return file.filled({name: part for name, part in found.items() if name not in self.bad})

    def start_files(self) -> None:
        """What files under [initial] say of the run: it is in SI, and where it has no epoch it begins with them."""
        start, run = self.raw.get("initial"), self.raw.get("run", {})
        if not isinstance(start, dict) or not isinstance(run, dict):
            return
        files = [key for key in start_files.READERS if isinstance(start.get(key), str)]
        for key in set(files) & set(start_files.IN_SI):
            if "problem" in self.raw:
                self.wrong(("initial", key), "it is in SI, but a ready-made problem has units of its own; write a "
                           "[system] table")  # fmt: skip
            elif run.get("units", "SI") != "SI":
                self.wrong(("run", "units"), f"initial.{key} makes the run one in SI; write units = \"SI\", or leave "
                           "it out")  # fmt: skip
            run = {"units": "SI"} | run
        t0 = run.get("t0", 0.0)
        if files and "epoch" not in run and isinstance(t0, int | float):
            with suppress(PolhodeError):  # told where the state is made
                epoch = start_files.begins(files[0], self.path.parent / start[files[0]], float(t0))
                run = run | {"epoch": str(epoch)}
        if run:
            self.raw["run"] = run

    def in_si(self, table: dict[str, Any], tables: list[Table], key: Key, written: Key) -> dict[str, Any]:
        """A table with the values of keys that end in a unit turned into SI, under their plain names."""
        made: dict[str, Any] = {}
        tag = table.get("type", table.get("kind"))
        tables = [one for one in tables if one.tag == (tag if ":" not in str(tag) else "")] or tables
        endings = {ending: what for one in tables for ending, what in one.endings.items()}
        for name, value in table.items():
            known = [one for one in tables if name in one.keys]
            parts = [one.part_of(one.keys[name].type) for one in known] or [one.further or {} for one in tables]
            within = [inner for part in parts for inner in inside(part)]
            here, there = (*key, name), (*written, name)
            if not known and name in endings:
                base, _, factor = endings[name]
                if base in table or base in made:
                    self.wrong(there, f"{base} is given twice; keep one of the keys")
                    continue
                self.spelled[(*key, base)] = name
                if isinstance(factor, Decimal) and self.si is None:
                    self.si = there
                made[base] = in_units_of(value, factor)
            elif isinstance(value, dict):
                made[name] = self.in_si(value, within, here, there)
            elif isinstance(value, list):
                made[name] = [
                    self.in_si(part, within, (*here, k), (*there, k)) if isinstance(part, dict) else part
                    for k, part in enumerate(value)
                ]
            else:
                made[name] = value
        return made

    # -------------------------------------------------------------- meaning
    def system(self, table: dict[str, Any]) -> System | None:
        """Build the system of the [system] table from the keys it has."""
        if table["type"] == TYPE:
            return self.sum(table)
        before, build = len(self.problems), SYSTEMS[table["type"]]
        arguments = {
            name: self.argument(argument.type, ("system", name), table[name])
            for name, argument in arguments_of(build).items()
            if name in table
        }
        loads = [name for name in ("torque", "force", "load") if name in arguments]
        if "potential" in arguments and loads and self.raw.get("version") is None:
            self.wrong(("system", "potential"), f"beside a {loads[0]} it was only reported in scenarios before version "
                       "2, and acts now; write version = 2 above all tables if it shall act, or call it "
                       "reported_energy if not")  # fmt: skip
        return None if len(self.problems) > before else self.tried(("system",), build, **arguments)

    def sum(self, table: dict[str, Any]) -> System | None:
        """Build a sum: each summand by itself, so that what is wrong with one is told at its place."""
        before, made, at = len(self.problems), dict[str, list[Any]](), dict[str, Key]()
        for key, build, record in entries(table):
            one = self.summand(key, build, record)
            if one is not None:
                made.setdefault(str(key[1]), []).append(one)
                at[one.name] = key
        if len(self.problems) > before:
            return None
        try:
            around = {one.name: one for one in made.pop("surroundings", ())}
            whole = {name: table[name] for name in of_whole() if name in table}
            return sum_system(*made.values(), surroundings=around, **whole)
        except InvalidInput as refused:
            named = next((name for name in re.findall(r"'(\w+)'", str(refused)) if name in at), "")
            self.refused(at.get(named, ("system",)), refused)
            return None

    def summand(self, key: Key, build: Callable[..., Any] | None, record: dict[str, Any]) -> Any:
        """A summand by its record; None where something is wrong."""
        before = len(self.problems)
        words = {} if build is None else {name: one.type for name, one in arguments_of(build).items()}
        told = {name: self.argument(words.get(name), (*key, name), value) for name, value in record.items()}
        if "function" in told:
            told["function"] = self.function((*key, "kind"), told["function"])
        wrong = len(self.problems) > before
        return None if wrong else self.tried(key, summand, told.pop("name", None), as_record(told))

    def argument(self, kind: object, key: Key, value: Any) -> Any:
        """What a key means as an argument of a function."""
        if kind in FUNCTIONS and isinstance(value, str):
            return self.function(key, value)
        if isinstance(value, dict) and ":" in str(value.get("kind", "")):  # an event at which something happens
            return {**value, "kind": "of", "function": self.function((*key, "kind"), value["kind"])}
        if kind is Form.LOADS:
            return [self.summand((*key, k), *entry(load)) for k, load in enumerate(value)]
        if kind is Form.FORCES:
            return [self.tried((*key, k), force_of, force) for k, force in enumerate(value)]
        if kind is Form.INERTIA and isinstance(value, dict):
            return self.body(key, value)
        if isinstance(kind, ListOf) and isinstance(value, list):
            named = {name for name, one in arguments_of(kind.build).items() if one.type in FUNCTIONS}
            return [  # tables, with the functions that they name
                {
                    name: self.function((*key, k, name), one) if name in named and isinstance(one, str) else one
                    for name, one in part.items()
                }
                for k, part in enumerate(value)
            ]
        if isinstance(value, list):
            return [self.argument(None, (*key, k), part) for k, part in enumerate(value)]
        return value

    def body(self, at: Key, table: dict[str, Any]) -> Any:
        """The inertia tensor of a shape."""
        given = [name for name in SHAPES if table.get(name) is not None]
        if len(given) != 1:
            self.wrong(at, f"expected one shape of {', '.join(SHAPES)} (got {' and '.join(given) or 'none'})")
            return None
        made = self.tried((*at, given[0]), getattr(inertia, given[0]), **table[given[0]])
        return made if made is None or table.get("about") is None else made.about(table["about"])

    def events(self, tables: list[Any], system: System | None) -> list[Event]:
        """What to look for."""
        made: list[Event] = []
        for k, table in enumerate(tables):
            key: Key = ("events", k)
            given = table
            if not isinstance(table, str):
                own = ":" in table["kind"]
                given = table | ({"function": table["kind"], "kind": "of"} if own else {})
                if "function" in given:
                    given["function"] = self.function((*key, "kind" if own else "function"), given["function"])
                    if given["function"] is None:
                        continue
            try:
                made.append(event_of(given))
                if system is not None:
                    events_of(made[-1:], lambda one: why_not(one, system))
                    for load in (watch.of for watch in made[-1].watches if watch.of is not None):
                        bodies_of_event(load, system)
            except InvalidInput as refused:
                if isinstance(table, str) or str(refused).startswith("events[0]"):
                    self.wrong(key, str(refused).removeprefix("events[0]: "))
                else:
                    self.refused(key, refused)
        return made

    def function(self, key: Key, name: str) -> Callable[..., Any] | None:
        """The function ``file.py:function``, loaded when that is allowed."""
        try:
            return function_of(self.path.parent, name, self.allow_code, self.loaded)
        except InvalidInput as refused:
            self.wrong(key, str(refused))
            return None

    def method(self, parsed: Mapping[str, Any], system: System | None) -> str:
        """The method string, checked."""
        chosen, adaptive = parsed["method"], parsed["run"]["rtol"] is not None
        at: Key = ()
        options = {name: parsed[name] for name in options_by_name() if parsed[name] is not None}
        if chosen is None:
            for key in options:
                self.wrong((key,), f"{key} belongs to a method, and none is named; write method = ... too")
            return (for_tolerance(system) if adaptive else system.recommended) if system else ""
        if isinstance(chosen, dict):
            for key in options:
                self.wrong((key,), "the method has a table; write this key there, under [method]")
            options, chosen = {key: one for key, one in chosen.items() if key != "name"}, chosen.get("name")
            at = ("method",)
        wrong = len(self.problems)
        try:
            find_method(chosen)
            for key, value in options.items():
                self.tried((*at, key), find_method, chosen, **{key: value})
            if len(self.problems) > wrong:
                return ""
            found = find_method(chosen, **options)
            found.method.check_complete(found.options)
            if adaptive:
                check_estimate(found)
            return found.label
        except InvalidInput as refused:
            self.refused(("method",), refused)
            return ""

    def elements(self, table: Mapping[str, Any], system: System | None) -> dict[str, Any]:
        """Position and velocity from the [elements] table."""
        at: Key = ("elements",)
        before = len(self.problems)
        for name in sum(ways_to_give("position", "momentum"), ()):
            if name in self.raw.get("initial", {}):
                self.wrong(("initial", name), f"{name} is given beside [elements], which already says it; keep one")
        if system is not None and not ("central_gravity" in system.provides and system.N == 1):
            self.wrong(at, f"elements are those of an orbit about a centre, but the system is {system.name!r}; leave "
                       "them out")  # fmt: skip
        if system is None or len(self.problems) > before:
            return {}
        found = self.tried(at, orbits.state, float(system.parameters[0]), **table)
        return {} if found is None else {"position": found[0].tolist(), "velocity": found[1].tolist()}

    def state(
        self, table: dict[str, Any], ready: Mapping[str, Any], system: System | None, run: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Initial state as arguments of ``integrate``; what the file leaves out comes from the ready-made problem."""
        at: Key = ("initial",)
        arguments = keys()
        given = {name: table[name] for name in arguments if name in table}
        of_bodies = {name: one for name, one in table.items() if name not in arguments}
        before = len(self.problems)
        for group in ways_to_give():
            several = [name for name in group if name in given]
            if len(several) > 1:
                self.wrong((*at, several[1]), f"{' and '.join(several)} are given; keep one of them")
            if not several:
                given |= {name: value for name, value in ready.items() if name in group}
        for name, argument in arguments.items():
            if name in given and argument.beside and not set(argument.beside) & set(given):
                self.wrong((*at, name), f"{name} belongs to {' or '.join(argument.beside)}; leave it out")
        if len(self.problems) > before:
            return {}
        if set(arguments["seed"].beside) & set(given):
            self.seed = given.setdefault("seed", 0)
        try:
            state = given_state(**{name: value for name, value in given.items() if name in arguments_of(given_state)})
            later = {name: state.pop(name) for name in AS_GIVEN if name in state}
            if of_bodies and system is not None:
                state = self.of_bodies(system, state, of_bodies)
            if system is not None:
                files = [name for name, argument in arguments.items() if name in given and argument.type is Form.FILE]
                given |= {name: str(self.path.parent / given[name]) for name in files}
                state = carried_out(given, state, system, self.started(run))
                start_state(system, **state)
                attracted = "central_gravity" in system.provides
                check_moving(attracted, state.get("velocity"), state.get("momentum"))
        except InvalidInput as refused:
            self.refused(at, refused)
            return {}
        return state | later

    def of_bodies(self, system: System, state: dict[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
        """The state with that of bodies by their names."""
        for name in told:
            if name not in system.names:
                known = ", ".join(system.names) or "none, for it is no sum"
                self.wrong(("initial", name), f"there is no body {name!r} in [system]; its bodies are {known}")
        if not told.keys() <= set(system.names):
            return state
        return {k: np.asarray(one).tolist() for k, one in rows_by_name(system.names, {**state, **told}).items()}

    def started(self, run: Mapping[str, Any]) -> Epoch | None:
        """The instant at which the run starts, if its epoch is known."""
        if run["epoch"] is None:
            return None
        zero = epoch_of(run["epoch"])
        return Epoch(zero.scale, zero.since + Decimal(repr(float(run["t0"] or 0.0))))

    def times(self, run: dict[str, Any], ready: ReadyMade | None, time_transformed: bool) -> dict[str, Any]:
        """Step or tolerance, span and recording as arguments of ``integrate``."""
        at: Key = ("run",)
        if run["step"] is None and run["rtol"] is None:
            if ready is None:
                self.wrong(
                    at, "expected a step (got none); write step = 0.01 or the like under [run], or rtol = 1e-8 instead"
                )
                return {}
            run["step"] = ready.step
        if run["t_end"] is None and run["steps"] is None and ready is not None:
            run["t_end"] = run["t0"] + ready.t_end
        times = {name: value for name, value in run.items() if value is not None}
        if "epoch" in times:
            self.tried((*at, "epoch"), epoch_of, times["epoch"])
        try:
            h, n, start = span_of(times, time_transformed)
            if "t_eval" in times:
                sample_times(times["t_eval"], times["every"], start, h, n)
            if "breaks" in times:
                checked_breaks(times["breaks"], start, start + n * h)
        except InvalidInput as refused:
            self.refused(at, refused)
        return times

    def output(self, given: Mapping[str, Any]) -> Files:
        """Where results go, with their suffixes checked."""
        file, picture, store = (given.get(name) for name in OUTPUT.keys)
        if file is not None:
            self.tried(("output", "file"), suffix_of, file)
        if picture is not None and Path(picture).suffix not in (".png", ".pdf", ".svg"):
            self.wrong(("output", "picture"), f"expected a name that ends in .png, .pdf or .svg (got {picture!r})")
        if store is not None and Path(store).suffix != ".zarr":
            self.wrong(("output", "store"), f"expected a name that ends in .zarr (got {store!r})")
        elif store is not None and file is not None and Path(store) == Path(file):
            self.wrong(("output", "store"), "expected another name than that of file, which is written at the end")
        return Files(*(Path(name) if name else None for name in (file, picture, store)))
