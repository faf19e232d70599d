"""What a sweep is: scenario, members, what is kept of them. Written down once, it is the same for every worker."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import json
import os
import re
import shutil
import tempfile
import tomllib
import warnings
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import polhode
from polhode import errors, reading
from polhode.arguments import Indices
from polhode.ensembles.sampling import KINDS, Distribution, Members, from_record
from polhode.errors import FileProblem, Interrupted, InvalidInput, PolhodeError, PolhodeWarning, shown, unknown_name
from polhode.lazy import xr
from polhode.runs.scenario import Scenario, read_scenario, sweep_table
from polhode.runs.scenario.tables import FUNCTION
from polhode.runs.store import here

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
        if self.drawn:  # draws that follow each other, the first one after the last one
            drawn, every = Members(self.drawn, self.count, self.way, self.seed), len(draws) >= self.count
            begin, end = int(draws[0]), int(draws[-1]) + 1
            parts = [(0, self.count)] if every else [(begin, end)] if begin < end else [(begin, self.count), (0, end)]
            rows = [drawn.rows(*part) for part in parts]
            own = {name: [value for part in rows for value in part[name].tolist()] for name in self.drawn}
            found |= {name: [values[k] for k in draws.tolist()] if every else values for name, values in own.items()}
        return {name: found[name] for name in self.names}

    def member(self, number: int) -> dict[str, Any]:
        """The values of one member by key."""
        return {name: values[0] for name, values in self.columns(number, number + 1).items()}


def _entries(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Keys and what is said of them; ``run.step`` may be written as one word in quotes, or as tables in tables."""
    for name, value in table.items():
        if isinstance(value, Mapping) and not is_record(value) and not set(value) >= SPAN:
            yield from _entries(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _values(given: object, where: str) -> list[Any]:
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
def is_record(value: object) -> bool:
    """Whether a table says what is drawn, and is no table of further keys, some of which have the names of kinds."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    ((kind, arguments),) = value.items()
    if kind not in KINDS or not isinstance(arguments, Mapping):
        return False
    return kind not in ("attitude", "inertia") or set(arguments) <= set(inspect.signature(KINDS[kind]).parameters)


def drawn(given: object, where: str) -> Distribution:
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
    return json.dumps({**body, "sha256": hashlib.sha256(json.dumps(body).encode()).hexdigest()}).encode()


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


def _files(value: object) -> set[str]:
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


# ------------------------------------------------------------------ what one member leaves
OK, REFUSED, KILLED, OTHER = 0, 1, 7, 8
STATUS: dict[int, str] = {
    OK: "ok", REFUSED: "refused", 2: "no convergence", 3: "step too large", 4: "not finite", 5: "step too small",
    6: "function failed", KILLED: "killed its worker", OTHER: "failed",
}  # fmt: skip
"""What the variable ``status`` says; -1 is a member that is not computed yet."""
FAILED: tuple[tuple[type[PolhodeError], int], ...] = (
    (errors.ConvergenceError, 2), (errors.StepTooLarge, 3), (errors.NotFinite, 4), (errors.StepTooSmall, 5),
    (errors.UserFunctionError, 6), (InvalidInput, REFUSED), (PolhodeError, OTHER),
)  # fmt: skip
ALWAYS = {
    "status": Variable([], [], "i1", {
        "long_name": "0 where the run came to its end", "flag_values": list(STATUS),
        "flag_meanings": list(STATUS.values()),
    }),
    "end_time": Variable([], [], "f8", {"long_name": "time of the last row"}),
    "steps": Variable([], [], "i8", {"long_name": "steps taken"}),
}  # fmt: skip
"""What is kept of every member."""
WORST = "largest_energy_error"
ABOUT = ("system", "units", "conventions", "polhode_version", "epoch")
"""Attributes of one run that those of a sweep have in common."""


@dataclass
class Block:
    """What members that follow each other leave."""

    plan: Plan
    first: int  # the first of them, and the first behind them
    last: int
    allow_code: bool = False
    values: dict[str, Any] = field(default_factory=dict)  # arrays by name, members first
    # of those that failed number, status and sentence
    failures: list[tuple[int, int, str]] = field(default_factory=list)
    # of each kind of warning how many members gave it, the first of them, and its words
    warned: dict[str, list[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, one in self.plan.variables.items():
            self.values[name] = np.full((self.last - self.first, *one.shape), one.fill, dtype=one.kind)
        study = self.plan.study
        self.times = np.asarray(self.plan.labels["time"]) if study.table.get("rows", "last") == "all" else None

    def fail(self, member: int, status: int, sentence: str) -> None:
        """A member is marked."""
        self.values["status"][member - self.first] = status
        self.failures.append((member, status, sentence))

    @contextlib.contextmanager
    def noted(self, member: int) -> Iterator[None]:
        """Count the warnings of a member."""
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always", PolhodeWarning)
            yield
        for warning in given:
            if issubclass(warning.category, PolhodeWarning):
                self.warned.setdefault(warning.category.__name__, [0, member, str(warning.message)])[0] += 1
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)

    def put(self, at: Indices, ds: xr.Dataset) -> None:
        """Put in the numbers of a trajectory, or of those members of an ensemble that came to their end: all rows where
        there are times, else the last one."""
        variables, times, several = self.plan.variables, self.times, "member" in ds.dims
        n = len(ds["time"])
        good = ds["status"].values == OK if several else slice(None)
        if not n:
            return
        if times is not None and not np.array_equal(ds["time"].values, times if several else times[:n]):
            raise InvalidInput("its rows are at other times than those of the first member; name them, t_eval = [...] "
                               "under [run]")  # fmt: skip
        kept = {"energy_error" if name == WORST else name for name in variables if name not in ALWAYS}
        if several and not kept <= {*ds.variables}:
            raise InvalidInput("not all of what is kept is known of members together")
        at = at[good]
        for name, one in variables.items():
            if name in ds.variables and name not in ALWAYS:
                values = ds[name].values if several else ds[name].values[None]
                wanted = (*one.shape[1:],) if times is not None else (*one.shape,)
                if values.shape[2:] != wanted:
                    raise InvalidInput(f"{name} has the shape {values.shape[2:]} and that of the first member "
                                       f"{wanted}; keep other variables, or sweep over another key")  # fmt: skip
                if times is not None:
                    self.values[name][at, :n] = values[good]
                else:
                    self.values[name][at] = values[good][:, -1]
        self.values["end_time"][at] = ds["time"].values[-1]
        if "steps" in variables:
            self.values["steps"][at] = int(ds.attrs["steps"])
        if WORST in variables and "energy_error" in ds.variables:
            errors = ds["energy_error"].values
            self.values[WORST][at] = np.abs(errors[good] if several else errors[None]).max(axis=1)
        if several:
            self.values["status"][at] = OK

    def fill_one(self, member: int) -> None:
        """Compute one member. What is wrong with it is noted; what is wrong with the machine is not the member's."""
        with self.noted(member):
            try:
                at = np.array([member - self.first])
                self.put(at, self.plan.study.scenario(member, self.allow_code).integrate())
                self.values["status"][at] = OK
            except (Interrupted, FileProblem):
                raise
            except PolhodeError as failed:
                self.mark(member, failed)

    def mark(self, member: int, failed: PolhodeError) -> None:
        """Note a failure: rows up to it stay where rows are kept, nothing where only the last one is."""
        k, study, ds = member - self.first, self.plan.study, failed.trajectory
        for name, one in self.plan.variables.items():
            self.values[name][k] = one.fill
        if ds is not None and len(ds["time"]):
            with contextlib.suppress(InvalidInput):
                if self.times is not None:
                    self.put(np.array([k]), ds)
                self.values["end_time"][k] = ds["time"].values[-1]
                if "steps" in self.values:
                    self.values["steps"][k] = int(ds.attrs["steps"])
        status = next(code for kind, code in FAILED if isinstance(failed, kind))
        self.fail(member, status, str(failed).replace(str(study.file), study.name))


def kept_of(ds: xr.Dataset, study: Study) -> tuple[dict[str, Variable], dict[str, list[Any]], dict[str, Any]]:
    """What is kept of members such as the one whose trajectory this is: variables, labels and attributes."""
    table, whole = study.table, study.table.get("rows", "last") == "all"
    of_time = {str(name): part for name, part in ds.variables.items()
               if part.dims[:1] == ("time",) and name != "time" and part.dtype.kind in "fib"}  # fmt: skip
    for name in table.get("keep") or ():
        if name not in of_time:
            raise InvalidInput(f"{study.name}: sweep.keep: {unknown_name('variable', name, of_time)}")
    if whole:
        _check_rows(ds, study)
    found = dict(ALWAYS)
    if "step" in of_time and _timed(study):
        del found["steps"]  # which members together do not tell
    for name in table.get("keep") or of_time:
        part = of_time[name]
        dims, shape = [str(dim) for dim in part.dims], list(part.shape)
        words = {key: part.attrs[key] for key in ("long_name", "units") if key in part.attrs}
        found[name] = Variable(dims[not whole :], shape[not whole :], "f8" if part.dtype.kind == "f" else "i8", words)
    if "energy_error" in of_time:
        words = {"long_name": "largest |energy error| of all rows", "units": "1"}
        found[WORST] = Variable([], [], "f8", words)
    used = {dim for one in found.values() for dim in one.dims}
    labels = {dim: ds[dim].values.tolist() for dim in sorted(used) if dim in ds.coords and ds[dim].ndim == 1}
    attributes = {name: ds.attrs[name] for name in ABOUT if name in ds.attrs}
    unit = ds["time"].attrs.get("units")
    if unit:
        one = found["end_time"]
        found["end_time"] = Variable(one.dims, one.shape, one.kind, {**one.attributes, "units": unit})
    return found, labels, attributes


def _timed(study: Study) -> bool:
    """Whether the scenario names the times of its rows."""
    return any(name.startswith("t_eval") for name in tomllib.loads(study.text).get("run", {}))


def _check_rows(ds: xr.Dataset, study: Study) -> None:
    """Whether all members have the rows of this one, as far as that can be known before."""
    timed = _timed(study)
    varies = [name for name in study.design.names if name.startswith(("run.", "method")) or name == "problem"]
    of_t_eval = [name for name in varies if name.startswith("run.t_eval")]
    if of_t_eval or (not timed and (varies or "step" in ds.variables or "stopped" in ds.attrs)):
        remedy = "keep it as it is" if of_t_eval else "name their times, t_eval = [...] under [run]"
        why = f"{(of_t_eval or varies)[0]} varies" if of_t_eval or varies else "they are where the motion puts them"
        raise InvalidInput(f'{study.name}: sweep.rows = "all" needs the same rows of all members, and {why}; {remedy}')
