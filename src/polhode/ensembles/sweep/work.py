"""A task of a sweep: the members of one chunk, computed and written by whoever comes to it."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from polhode import errors
from polhode.arguments.words import arguments_of
from polhode.ensembles.ensemble import ensemble
from polhode.ensembles.members import Varied
from polhode.ensembles.sweep.plan import KILLED, OK, Block, maker
from polhode.ensembles.sweep.store import Folder, SweepStore
from polhode.errors import FileProblem, Interrupted, PolhodeError
from polhode.runs.initial_state import OF_BODY
from polhode.runs.request import grouped
from polhode.runs.scenario import Scenario
from polhode.runs.scenario.record import has_step_density, named_path, path_of, with_changes
from polhode.runs.state import AS_GIVEN, given_state

_OPEN: dict[tuple[str, str], SweepStore] = {}
"""The store this process has worked on last, by its name and the digest of its study."""
_ONE = threading.RLock()
"""One task at a time in a process, however many threads a cluster gives it: Python notes warnings for all threads."""


def task(
    name: str, digest: str, by: Mapping[str, Any], chunk: int, allow_code: bool,
    begin: Callable[[int], str | None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Do one chunk of a sweep, unless it is done."""
    with _ONE:
        mine = maker()
        if (mine["polhode"], mine["source"]) != (by["polhode"], by["source"]):
            raise FileProblem(
                f"the worker on {socket.gethostname()} has polhode {mine['polhode']} (sources {mine['source']}), but "
                f"the sweep is run by {by['polhode']} ({by['source']}); install the same version there"
            )
        store = _OPEN.get((name, digest))
        if store is None:
            here = f"the worker on {socket.gethostname()}"
            try:
                store = SweepStore(Folder(name))
            except FileProblem as missing:
                raise FileProblem(f"{here} does not see the store {name}; put it where all reach it, on a shared disk "
                                  f"or in object storage ({missing})") from missing  # fmt: skip
            if store.plan.study.digest != digest:
                raise FileProblem(f"{here} finds another sweep in {name}; name a store that all workers share")
            _OPEN.clear()
            _OPEN[name, digest] = store
        found = store.mark(chunk)
        if found is not None:
            return found
        began = time.perf_counter()
        block = Block(store.plan, *store.plan.range(chunk), allow_code)
        fill(block, begin)
        store.write(chunk, block, time.perf_counter() - began)
        made = store.mark(chunk)
        if made is None:
            raise FileProblem(f"the mark of chunk {chunk} of {name} was written and is not there; is the disk sound?")
        return made


def fill(block: Block, begin: Callable[[int], str | None] | None = None) -> None:
    """Compute the members of a block: together those that can be, alone the others."""
    if begin is None:
        fill_together(block)
    for member in range(block.first, block.last):
        why = None if begin is None else begin(member)
        if why is not None:
            block.fail(member, KILLED, why)
        elif block.values["status"][member - block.first] != OK:
            block.fill_one(member)


def main() -> None:
    """A worker process on this machine: does tasks that come line by line, one after the other.

    Lines are JSON. In: ``{"chunk": 3, "careful": false, "given_up": {"17": "..."}}`` after a first line that says what
    sweep it is. Out: ``{"done": mark}``, ``{"problem": kind, "message": sentence}``, and of a careful task
    ``{"at": member}`` before each member. It ends when its input does, for then whoever asked is gone.
    """
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what functions of the user's print does not mix with answers

    def answer(said: object) -> None:
        out.write(json.dumps(said) + "\n")
        out.flush()

    told = json.loads(sys.stdin.readline())
    for line in sys.stdin:
        asked = json.loads(line)
        given_up = asked["given_up"]

        def begin(member: int, given_up: dict[str, str] = given_up) -> str | None:
            answer({"at": member})
            return given_up.get(str(member))

        careful = begin if asked["careful"] else None
        try:
            mark = task(told["store"], told["digest"], told["by"], asked["chunk"], told["allow_code"], careful)
        except errors.PolhodeError as problem:
            answer({"problem": type(problem).__name__, "message": str(problem)})
        else:
            answer({"done": mark})


FEWEST = 4
"""Members that are worth an ensemble."""
MOST_BYTES = 2**26
"""Of the rows of the members of one ensemble, about."""
NUMBERS = 60
"""In a row of one body, about, with all that follows from a state."""
ALONE = ("events", "breaks", "clock", "since", "store")
"""Words of a run whose members are runs of their own."""


def fill_together(block: Block) -> None:
    """Compute members together that differ in numbers of the system and of the start: each has the bits it has alone,
    for a hundredth of reading its scenario. Those that fail, or need a run of their own, are left without a status."""
    study = block.plan.study
    tables, columns = tomllib.loads(study.text), study.design.columns(block.first, block.last)
    together = [name for name in columns if _numeric(name, tables)]
    rest = [name for name in columns if name not in together]
    if not together:
        return
    groups: dict[str, list[int]] = {}
    for k in range(block.last - block.first):
        groups.setdefault(repr([columns[name][k] for name in rest]), []).append(k)
    for members in groups.values():
        if len(members) >= FEWEST:
            _fill_group(block, members, tables, {name: columns[name] for name in together})


def _numeric(name: str, tables: Mapping[str, Any]) -> bool:
    """Whether a key is a number, or numbers, of the system or of the start."""
    table, _, inside = path_of(tables, name).partition(".")
    listed = tables.get("system", {}).get("bodies", ())
    bodies = [str(one.get("name")) for one in listed if isinstance(one, Mapping)]
    if table == "initial" and inside.partition(".")[0] in bodies:
        return inside.partition(".")[2] in OF_BODY and "elements" not in tables
    if table == "initial":
        given = {*tables.get("initial", {}), inside.partition(".")[0]}
        plain = set(arguments_of(given_state)) - set(AS_GIVEN) - {"sequence"}
        return given - {"sequence"} <= plain and not {"elements", "problem"} & set(tables)
    return table == "system" and bool(inside) and isinstance(tables.get("system", {}), dict)


def _fill_group(block: Block, members: list[int], tables: Mapping[str, Any], varied: Mapping[str, list[Any]]) -> None:
    """Compute members that differ in numbers alone."""
    study = block.plan.study
    try:
        base = study.scenario(block.first + members[0], block.allow_code)
        request = base.request
    except (Interrupted, FileProblem):
        raise
    except PolhodeError:
        return
    if any(word in base.arguments for word in ALONE) or has_step_density(base.method):
        return
    if "rtol" in base.arguments and "steps" in block.values:  # rows where the steps of each member end
        return
    rows = len(request.samples) if request.samples is not None else (request.total or 0) // request.recording.every + 2
    most = max(FEWEST, int(MOST_BYTES / (8 * NUMBERS * base.system.N * rows)))
    for at in range(0, len(members), most):
        part = members[at : at + most]
        try:
            arrays = _arrays(
                tables, {name: [values[k] for k in part] for name, values in varied.items()}, len(part), base
            )
            if arrays is None:
                return
            words = grouped({name: value for name, value in base.arguments.items() if name not in arrays})
            with block.noted(block.first + part[0]):
                own = replace(Varied.of(arrays), first_number=(block.first + np.array(part)) * study.noise_by_number)
                ds = ensemble(base.system, base.asked, members=own, engine="threads", threads=1, **words)
            block.put(np.array(part), ds)
        except (Interrupted, FileProblem):
            raise
        except (PolhodeError, ValueError, TypeError):
            return


def _arrays(tables: Mapping[str, Any], varied: Mapping[str, Any], count: int, base: Scenario) -> dict[str, Any] | None:
    """What varies by the names that ``polhode.ensemble`` has for it; None where it has none."""
    from polhode.systems import SYSTEMS

    build, found = SYSTEMS.get(tables.get("system", {}).get("type", "")), dict[str, Any]()
    known = () if build is None else arguments_of(build)
    starting = {name: values for name, values in varied.items() if name.startswith("initial.")}
    for name, values in varied.items():
        if name in starting:
            continue
        if base.system.names:
            found[named_path(tables, name)] = np.array(values, dtype=float)
            continue
        inside = name.removeprefix("system.")
        argument, _, rest = inside.partition(".")
        if argument not in known:
            return None
        whole = tables.get("system", {}).get(argument)
        if rest and isinstance(whole, list) and all(type(part) in (int, float) for part in whole):
            array = found.get(argument)
            found[argument] = np.tile(np.array(whole, dtype=float), (count, 1)) if array is None else array
            found[argument][:, int(rest)] = values
        else:
            found[inside] = np.array(values, dtype=float)
    if starting and base.system.names:
        found |= {name.removeprefix("initial."): np.array(values, dtype=float) for name, values in starting.items()}
    elif starting:
        states = []
        for k in range(count):
            given = with_changes(tables, {name: values[k] for name, values in starting.items()})["initial"]
            states.append(given_state(**given))
        if any(state.keys() != states[0].keys() for state in states) or not set(states[0]) <= set(base.arguments):
            return None
        found |= {name: np.array([state[name] for state in states], dtype=float) for name in states[0]}
    return found
