"""What a sweep is: scenario, members, what is kept of them. Written down once, it is the same for every worker."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import shutil
import tempfile
import tomllib
import weakref
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polhode
from polhode import reading
from polhode.ensembles.sweep.design import Design
from polhode.errors import FileProblem, InvalidInput
from polhode.runs.scenario import Scenario, read_scenario, sweep_table
from polhode.runs.scenario.values import FUNCTION
from polhode.runs.store_parts import here

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
