"""What a sweep is: scenario, members, what is kept of them. Written down once, it is the same for every worker."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import os
import re
import shutil
import tempfile
import tomllib
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import polhode
from polhode import reading
from polhode.arguments import Indices
from polhode.ensembles.sampling import KINDS, Distribution, Members, from_record
from polhode.errors import FileProblem, InvalidInput, shown
from polhode.runs.scenario import Scenario, read_scenario, sweep_table
from polhode.runs.scenario.tables import FUNCTION
from polhode.runs.store_parts import here

WAYS = ("random", "latin_hypercube", "sobol")
"""Tables of a [sweep] from which is drawn."""
SPAN = {"from", "to", "count"}
MOST = 2**53
"""Members, at most."""


class Axis(NamedTuple):
    """Keys whose values change together, and these values, one tuple for each place."""

    names: tuple[str, ...]
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True)
class Design:
    """The members of a sweep, counted through all combinations: of the grid, whose last key varies fastest, of the
    list, and of the draws, which are the same ones for every combination of the others."""

    axes: tuple[Axis, ...]  # of the grid, then the list
    drawn: dict[str, Distribution]  # what is drawn, by key
    count: int  # how many draws; 1 where nothing is drawn
    seed: int  # of the draws
    way: str  # how they are drawn, one of ``WAYS``

    @classmethod
    def of(cls, table: Mapping[str, Any], where: str) -> Design:
        """The design of a table [sweep] whose keys are known to be right."""
        axes = [Axis((name,), [(value,) for value in _values(given, f"{where}: sweep.grid: {name}")])
                for name, given in _entries(table.get("grid") or {})]  # fmt: skip
        listed = {
            name: _values(given, f"{where}: sweep.list: {name}") for name, given in _entries(table.get("list") or {})
        }
        lengths = {name: len(values) for name, values in listed.items()}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise InvalidInput(
                f"{where}: sweep.list: values that belong together are as many for each key (got {told})"
            )
        if listed:
            axes.append(Axis(tuple(listed), list(zip(*listed.values(), strict=True))))
        ways = [way for way in WAYS if table.get(way)]
        if len(ways) > 1:
            raise InvalidInput(f"{where}: sweep: {' and '.join(ways)} are given; keep one of them")
        found = {name: drawn(given, f"{where}: sweep.{way}: {name}")
                 for way in ways for name, given in _entries(table[way])}  # fmt: skip
        if found and table.get("count") is None:
            raise InvalidInput(f"{where}: sweep: {ways[0]} needs to know how many; write count = 1000 or the like")
        if not found and table.get("count") is not None:
            raise InvalidInput(f"{where}: sweep: count is given, but nothing is drawn; leave it out")
        design = cls(tuple(axes), found, table.get("count") or 1, table.get("seed", 0), ways[0] if ways else "random")
        names = design.names
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise InvalidInput(f"{where}: sweep: {twice[0]} is given twice; keep one of them")
        inside = [(a, b) for a in names for b in names if b.startswith(f"{a}.")]
        if inside:
            raise InvalidInput(f"{where}: sweep: {inside[0][1]} is a part of {inside[0][0]}; keep one of them")
        if not names:
            raise InvalidInput(f"{where}: nothing varies; write a table [sweep.grid], [sweep.list] or [sweep.random] "
                               "with keys such as \"run.step\" = [0.1, 0.05]")  # fmt: skip
        if design.members > MOST:
            raise InvalidInput(f"{where}: sweep: {design.members:.3g} members are more than numbers count, {MOST:.3g}")
        return design

    @property
    def names(self) -> list[str]:
        """All keys that vary."""
        return [*(name for axis in self.axes for name in axis.names), *self.drawn]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many places the axes have, and how many draws there are."""
        return (*(len(axis.rows) for axis in self.axes), *([self.count] if self.drawn else []))

    @property
    def members(self) -> int:
        """How many there are."""
        return prod(self.shape)

    def columns(self, first: int, last: int) -> dict[str, list[Any]]:
        """The values of members from ``first`` to before ``last`` by key, as a scenario has them."""
        found: dict[str, list[Any]] = {}
        left = np.arange(first, last, dtype=np.int64)
        draws = left % self.count
        left = left // self.count
        for axis in reversed(self.axes):
            at, left = left % len(axis.rows), left // len(axis.rows)
            found |= {name: [axis.rows[k][i] for k in at.tolist()] for i, name in enumerate(axis.names)}
        if self.drawn:
            found |= self._draws(draws)
        return {name: found[name] for name in self.names}

    def member(self, number: int) -> dict[str, Any]:
        """The values of one member by key."""
        return {name: values[0] for name, values in self.columns(number, number + 1).items()}

    def _draws(self, numbers: Indices) -> dict[str, list[Any]]:
        """What is drawn for draws that follow each other, the first one after the last one."""
        drawn, begin, end = Members(self.drawn, self.count, self.way, self.seed), int(numbers[0]), int(numbers[-1]) + 1
        every = len(numbers) >= self.count
        parts = [(0, self.count)] if every else [(begin, end)] if begin < end else [(begin, self.count), (0, end)]
        rows = [drawn.rows(*part) for part in parts]
        found = {name: [value for part in rows for value in part[name].tolist()] for name in self.drawn}
        return {name: [values[k] for k in numbers.tolist()] for name, values in found.items()} if every else found


def _entries(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Keys and what is said of them; ``run.step`` may be written as one word in quotes, or as tables in tables."""
    for name, value in table.items():
        if isinstance(value, Mapping) and not is_record(value) and not set(value) >= SPAN:
            yield from _entries(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _values(given: Any, where: str) -> list[Any]:
    """The values of a list, or of { from, to, count }."""
    if isinstance(given, list) and given:
        return given
    if not isinstance(given, Mapping) or not SPAN <= set(given) <= SPAN | {"spacing"}:
        raise InvalidInput(f"{where}: expected a list of values, or {{ from = 1.0, to = 2.0, count = 11 }}, with "
                           f"spacing = \"log\" or without (got {shown(given)})")  # fmt: skip
    start, stop, count = given["from"], given["to"], given["count"]
    numbers = all(isinstance(end, int | float) and not isinstance(end, bool) for end in (start, stop))
    if not numbers or not np.isfinite([start, stop]).all() or isinstance(count, bool) or not isinstance(count, int):
        raise InvalidInput(f"{where}: from and to are numbers, count a whole one (got {shown(dict(given))})")
    if count < 2:
        raise InvalidInput(f"{where}: count is 2 or more (got {count}); write a list of one value instead")
    if given.get("spacing", "log") != "log":
        raise InvalidInput(f'{where}: spacing may be "log"; leave it out for even spacing')
    if "spacing" in given:
        if not (start > 0 and stop > 0):
            raise InvalidInput(f'{where}: from and to must be positive where the spacing is "log"')
        inner = [start * (stop / start) ** (k / (count - 1)) for k in range(1, count - 1)]
    elif isinstance(start, int) and isinstance(stop, int) and (stop - start) % (count - 1) == 0:
        inner = [start + (stop - start) // (count - 1) * k for k in range(1, count - 1)]
    else:
        inner = [start + (stop - start) * (k / (count - 1)) for k in range(1, count - 1)]
    return [start, *inner, stop]


# ------------------------------------------------------------------ draws
def is_record(value: Any) -> bool:
    """Whether a table says what is drawn, and is no table of further keys, some of which have the names of kinds."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    ((kind, arguments),) = value.items()
    if kind not in KINDS or not isinstance(arguments, Mapping):
        return False
    return kind not in ("attitude", "inertia") or set(arguments) <= set(inspect.signature(KINDS[kind]).parameters)


def drawn(given: Any, where: str) -> Distribution:
    """The distribution of a key."""
    if not isinstance(given, Mapping) or len(given) != 1:
        raise InvalidInput(f"{where}: expected a distribution, such as {{ uniform = {{ low = 1.0, high = 2.0 }} }}; "
                           f"known here: {', '.join(KINDS)} (got {shown(given)})")  # fmt: skip
    try:
        return from_record(given)
    except (InvalidInput, TypeError) as wrong:
        raise InvalidInput(f"{where}: {wrong}") from None


FORMAT = "polhode sweep 1"
LAID_OUT = ("chunk", "store")
"""Words of the table that change where numbers lie, and no number."""


@functools.cache
def maker() -> dict[str, Any]:
    """What the bits of a number may depend on: versions, the processor, and a digest of the sources of polhode."""
    digest = hashlib.sha256()
    root = Path(polhode.__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return here() | {"source": digest.hexdigest()[:12]}


def sealed(body: Mapping[str, Any]) -> bytes:
    """A record as JSON, with a digest of itself."""
    text = json.dumps(body)
    return json.dumps({**body, "sha256": hashlib.sha256(text.encode()).hexdigest()}).encode()


def opened(data: bytes | None) -> dict[str, Any] | None:
    """The record, or None where it is torn, edited or no such record."""
    try:
        body = json.loads(data or b"")
        seal = body.pop("sha256")
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None
    return body if hashlib.sha256(json.dumps(body).encode()).hexdigest() == seal else None


@dataclass(frozen=True)
class Variable:
    """What is kept of each member under one name."""

    dims: list[str]  # dimensions behind that of the members
    shape: list[int]  # their sizes
    kind: str  # ``"f8"``, ``"i8"`` or ``"i1"``
    attributes: dict[str, Any] = field(default_factory=dict)  # of the variable

    @property
    def fill(self) -> float | int:
        """Stands where there is nothing: NaN, or -1."""
        return float("nan") if self.kind == "f8" else -1


@dataclass(frozen=True)
class Study:
    """A scenario with its [sweep], checked, before anything is computed."""

    path: str  # where the file is, or was
    text: str  # what it says
    table: dict[str, Any]  # its [sweep], with what the caller gave in the place of its words
    code: dict[str, str]  # the text of every Python file it names, by that name

    @classmethod
    def read(cls, path: str | os.PathLike[str], given: Mapping[str, Any] | None = None) -> Study:
        """A file."""
        text, table = sweep_table(path, given)
        path = Path(path).absolute()
        if "members" in tomllib.loads(text):
            raise InvalidInput(f"{path.name} has a [members] beside its [sweep]; write what varies there into "
                               "[sweep.random] or [sweep.list], and leave [members] out")  # fmt: skip
        files: dict[str, str] = {}
        for name in sorted(_files(tomllib.loads(text)) | _files(table)):
            source = path.parent / name
            if source.is_file():
                files[name] = reading.text(source, "python", "utf-8", "strict")
        study = cls(str(path), text, table, files)
        _ = study.design  # which is checked
        return study

    @property
    def name(self) -> str:
        """Of the file."""
        return Path(self.path).name

    @cached_property
    def design(self) -> Design:
        """Its members."""
        return Design.of(self.table, self.name)

    @cached_property
    def meaning(self) -> dict[str, str]:
        """What makes it this sweep and no other: by key, in JSON. Comments, titles, names of results do not count."""
        tables = {
            name: part for name, part in tomllib.loads(self.text).items() if name not in ("sweep", "output", "title")
        }
        found = {f"[{name}]" if isinstance(part, dict) else name: part for name, part in tables.items()}
        found |= {f"sweep.{name}": part for name, part in self.table.items() if name not in LAID_OUT}
        found |= {name: hashlib.sha256(text.encode()).hexdigest() for name, text in self.code.items()}
        return {name: json.dumps(part, sort_keys=True, default=str) for name, part in found.items()}

    @cached_property
    def digest(self) -> str:
        """Of its meaning."""
        return hashlib.sha256(json.dumps(self.meaning, sort_keys=True).encode()).hexdigest()

    def differs(self, other: Study) -> list[str]:
        """What in their files is not the same."""
        mine, theirs = self.meaning, other.meaning
        return sorted(name for name in {*mine, *theirs} if mine.get(name) != theirs.get(name))

    @cached_property
    def file(self) -> Path:
        """The scenario on this machine: where it was written, or, where it is not there as it was, a copy."""
        path = Path(self.path)
        kept = {path: self.text} | {path.parent / name: text for name, text in self.code.items()}
        try:
            if all(reading.text(file, "scenario", "utf-8", "strict") == text for file, text in kept.items()):
                return path
        except (FileProblem, InvalidInput):
            pass
        folder = Path(tempfile.mkdtemp(prefix="polhode-sweep-"))
        weakref.finalize(self, shutil.rmtree, folder, True)
        for name, text in ({self.name: self.text} | self.code).items():
            target = (folder / name).resolve()
            if not target.is_relative_to(folder.resolve()):
                raise FileProblem(f"{self.name} names {name!r}, which is not beside it, and {self.path} is not here; "
                                  "put the scenario and its functions where they were, or in one folder")  # fmt: skip
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        return folder / self.name

    @property
    def noise_by_number(self) -> bool:
        """Whether members have noise by their numbers, and not by seeds or baths of their own."""
        words = {name.rpartition(".")[2] for name in self.design.names if name != "initial.seed"}
        return not words & {"seed", "thermostat"}

    def scenario(self, number: int, allow_code: bool = False) -> Scenario:
        """The scenario of one member."""
        if not 0 <= number < self.design.members:
            raise InvalidInput(f"there is no member {number} in {self.name}; members are counted from 0 to "
                               f"{self.design.members - 1}")  # fmt: skip
        made = read_scenario(self.file, allow_code, changes=self.design.member(number))
        return replace(made, member=number) if self.noise_by_number else made


def _files(value: Any) -> set[str]:
    """Python files that are named somewhere in a table."""
    if isinstance(value, Mapping):
        return set().union(*map(_files, value.values()))
    if isinstance(value, list):
        return set().union(*map(_files, value))
    return {value.partition(":")[0]} if isinstance(value, str) and re.match(FUNCTION, value) else set()


@dataclass(frozen=True)
class Plan:
    """A sweep as its store has it."""

    study: Study  # the scenario and its members
    chunk: int  # members of a task, which are a chunk of every array
    variables: dict[str, Variable]  # what is kept, by name
    labels: dict[str, list[Any]]  # of dimensions whose places have names or numbers: by the dimension, a list
    attributes: dict[str, Any]  # of the Dataset
    made_by: dict[str, Any]  # who made the plan, see ``maker``

    @property
    def members(self) -> int:
        """How many there are."""
        return self.study.design.members

    @property
    def chunks(self) -> int:
        """How many tasks."""
        return -(-self.members // self.chunk)

    def range(self, chunk: int) -> tuple[int, int]:
        """The first member of a chunk, and the first behind it."""
        return chunk * self.chunk, min(self.members, (chunk + 1) * self.chunk)

    def to_json(self) -> bytes:
        """Itself as a file."""
        return sealed({"format": FORMAT, "members": self.members, **asdict(self)})

    @classmethod
    def from_json(cls, data: bytes | None, store: str) -> Plan:
        """The plan in a file."""
        body = opened(data)
        if body is None or body.get("format") != FORMAT:
            raise FileProblem(f"{store} is not the store of a sweep, or its sweep.json was changed; name another store")
        variables = {name: Variable(**given) for name, given in body["variables"].items()}
        return cls(
            Study(**body["study"]), body["chunk"], variables, body["labels"], body["attributes"], body["made_by"]
        )
