"""Writes a system made in Python, and a run of it, as a scenario."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from polhode.arguments import path as checked_path, text, truth
from polhode.arguments.recorded import plain
from polhode.errors import FileProblem, InvalidInput, answering
from polhode.methods import Method, MethodSpec
from polhode.runs.initial_state import rows_by_name
from polhode.runs.request import ARGUMENTS, Request, in_units_of, requested, with_options
from polhode.runs.scenario.schema import TYPE
from polhode.runs.scenario.sources import Sources
from polhode.runs.scenario.starters import as_toml
from polhode.runs.state import FORMS, OF_METHODS, STATE_WORDS, as_kept, state_of
from polhode.runs.steps import FixedStep, Tolerance
from polhode.surroundings.surrounding import OWN
from polhode.systems import SYSTEMS, System
from polhode.systems.controllers import SAMPLING
from polhode.systems.events import EVENTS
from polhode.systems.listing import SUMMANDS
from polhode.systems.registry import AT_EVENTS, handed_in, key_of
from polhode.systems.sum import ORDER
from polhode.trajectory.files import appearing_whole
from polhode.trajectory.reductions import as_words

WIDTH = {"attitude": 4}
"""Numbers of a body, where these are not three."""


@answering
def write_scenario(
    path: str | os.PathLike[str],
    system: System,
    method: str | Method | MethodSpec | None = None,
    *,
    title: str | None = None,
    overwrite: bool = False,
    **run: Any,
) -> list[Path]:
    """Write a system made in Python, and a run of it, as a scenario, which ``polhode run`` integrates.

    A function of yours is named by its module, where that is installed, or by its file. Of one that was written in a
    notebook, a script or another function, the source is written beside the scenario, to NAME_functions.py, with the
    imports and the values that it reads; such a scenario is run with ``--allow-code``.

    Parameters
    ----------
    path : path
        The scenario, which ends in .toml.
    system : System
        What moves.
    method : str or Method, optional
        As of ``polhode.integrate``.
    title : str, optional
        One line; by default what the system is called.
    overwrite : bool
        Whether files that are there are replaced. A folder that is missing is created.
    **run
        The arguments of ``polhode.integrate``.

    Returns
    -------
    list of Path
        The scenario, and the file of functions where there is one.

    Raises
    ------
    InvalidInput
        As ``polhode.integrate``; a system that no function of polhode builds, a state of its own in the start, or a
        function whose source cannot be written.
    FileProblem
        A file that is there already, or cannot be written.

    Examples
    --------
    >>> import polhode as ph
    >>> pair = ph.system(ph.body("a", 2.0), ph.body("b", 1.0), ph.loads.tether(5.0, 1.0).on("a", "b"))
    >>> start = {"b": {"position": (1.2, 0.0, 0.0)}}
    >>> files = ph.runs.write_scenario("pair.toml", pair, step=0.01, steps=100, start=start)     # doctest: +SKIP
    """
    file = Path(checked_path(path))
    if file.suffix != ".toml":
        raise InvalidInput(f"path is {str(file)!r}; it must end in .toml, as a scenario does")
    for word in ("store", "progress"):
        if run.get(word) is not None:
            raise InvalidInput(f"{word} is no part of a scenario; leave it out")
    words = {word: run.get(word) for word in ARGUMENTS if word in run or word in STATE_WORDS or word == "start"}
    request = requested(system, with_options(method, system, run, "write_scenario"), words)
    sources = Sources(file.parent, f"{file.stem}_functions.py")
    lines = [f"title = {as_toml(system.title if title is None else text(title, 'title'))}"]
    lines += [f"method = {as_toml(request.method.label)}", "version = 2"]
    lines += [*_system(request.system, sources), *_initial(request, words), *_events(request, sources), *_run(request)]
    lines += ["project = true"] * bool(words.get("project"))
    files = {file: "\n".join(lines) + "\n"} | ({file.parent / sources.file: sources.text} if sources.text else {})
    for one in () if truth(overwrite, "overwrite") else files:
        if one.exists():
            raise FileProblem(f"there is already a file {one}; name another, or say overwrite=True")
    for one, written in files.items():
        with appearing_whole(one) as draft:
            draft.write_text(written, encoding="utf-8")
    return list(files)


def _system(system: System, sources: Sources) -> Iterator[str]:
    """The lines of a system."""
    functions = {name: sources.reference(one) for name, one in handed_in(system).items()}
    yield from ("", "[system]", f"type = {as_toml(system.name)}")
    if system.name == TYPE:
        records = {name: one for name, one in system.arguments.items() if isinstance(one, Mapping)}
        yield from (f"{name} = {as_toml(one)}" for name, one in system.arguments.items()
                    if name not in records and name != ORDER)  # fmt: skip
        for name, record in records.items():
            yield from _summand(name, dict(record), functions)
        return
    if system.name not in SYSTEMS:
        raise InvalidInput(f"no function of polhode builds the system {system.name!r}, so that no scenario describes "
                           "it; build it by one")  # fmt: skip
    arguments = dict(system.arguments)
    controllers = arguments.pop("controllers", None) or ()
    if controllers:
        keys = [key_of(k, len(controllers)) for k in range(len(controllers))]
        arguments["controllers"] = [
            {**one, "command": functions.pop(key)} for one, key in zip(controllers, keys, strict=True)
        ]
    loads = arguments.pop("loads", None) or {}
    of_loads = {name for load in loads for name in (load, *(f"{load}_{word}" for word in AT_EVENTS))}
    for name, value in (arguments | {key: one for key, one in functions.items() if key not in of_loads}).items():
        if value is not None:
            yield f"{name} = {as_toml(_without_none(value))}"
    for name, record in loads.items():
        yield from _summand(name, dict(record), functions)


def _summand(name: str, record: dict[str, Any], functions: Mapping[str, str]) -> Iterator[str]:
    """The table of a body, a load, a controller or a quantity of the surroundings."""
    kind, function = record.pop("kind", ""), functions.get(name, "")
    for word in AT_EVENTS:
        if f"{name}_{word}" in functions:
            event = {key: one for key, one in record[word].items() if key not in ("kind", "function")}
            record[word] = {"kind": functions[f"{name}_{word}"], **event}
    group = next((one for one, makers in SUMMANDS.items() if kind in makers), "loads")
    told: dict[str, Any] = {}
    if function:
        record.pop("function")
    if kind == "controller":
        group = "controllers"
        beside = {word: record.pop(word) for word in (*SAMPLING, "on", "states") if word in record}
        told = {"command": function or record, **beside} | ({"parameters": record} if function and record else {})
    elif kind == OWN:
        group, told = "surroundings", {"kind": function, **record}
    elif function:
        told = {"kind": function, **({"returns": kind} if kind else {}), **record}
    else:
        told = record if group == "bodies" else {"kind": kind, **record}
    head = f"[system.surroundings.{name}]" if group == "surroundings" else f"[[system.{group}]]"
    yield from ("", head)
    for word, value in (({} if group == "surroundings" else {"name": name}) | told).items():
        if value is not None:
            yield f"{word} = {as_toml(_without_none(value))}"


def _without_none(value: object) -> object:
    """A value without what is left out."""
    if isinstance(value, Mapping):
        return {name: _without_none(one) for name, one in value.items() if one is not None}
    return [_without_none(one) for one in value] if isinstance(value, list | tuple) else value


def _initial(request: Request, words: Mapping[str, Any]) -> Iterator[str]:
    """The lines of the start, in the words that gave it."""
    system, start = request.system, words["start"]
    if hasattr(type(start), "isel"):
        raise InvalidInput("start is a trajectory, which a scenario does not name; give polhode.State.of(ds)")
    given = dict(state_of(rows_by_name(system.names, start)).given)
    if given.get("states"):
        raise InvalidInput("start has states of the system, which a scenario has with their load or body; give them "
                           "there")  # fmt: skip
    given |= {word: words[word] for word in STATE_WORDS if words[word] is not None}
    given = in_units_of(system.units, system.name, system.arguments, request.settings.units, given)[1]
    found = as_kept({word: given.get(word) for word in FORMS})
    found |= {word: given[word] for word in STATE_WORDS[3:] if word in given}
    own = {{"time_variables": "clock"}.get(word, word): plain(given[word]) for word in OF_METHODS if word in given}
    if not system.names:
        yield from ("", "[initial]")
        yield from (f"{word} = {as_toml(plain(value))}" for word, value in (found | own).items())
        return
    if own:
        yield from ("", "[initial]", *(f"{word} = {as_toml(value)}" for word, value in own.items()))
    shape = {word: (system.N, WIDTH.get(word, 3)) for word in found}
    rows = {word: np.broadcast_to(np.asarray(value, dtype=float), shape[word]) for word, value in found.items()}
    for i, name in enumerate(system.names):
        turns, moves = np.isfinite(system.moments[i]).any(), np.isfinite(system.mass[i])
        yield from ("", f"[initial.{name}]")
        for word, each in rows.items():
            if (moves if word in STATE_WORDS[3:] else turns) or (each[i].any() and word != "attitude"):
                yield f"{word} = {as_toml(each[i].tolist())}"


def _events(request: Request, sources: Sources) -> Iterator[str]:
    """The lines of the events."""
    for event in request.events:
        told = dict(event.arguments)
        if event.kind not in (*EVENTS, "of"):
            raise InvalidInput(f"an event {event.kind!r} has no table in scenarios; leave it out, and look for it in "
                               "Python")  # fmt: skip
        if "function" in told:
            user = next(one for watch in event.watches if (one := watch.function or watch.of) is not None)
            told["kind" if event.kind == "of" else "function"] = sources.reference(user.function)
        if event.kind == "of":
            del told["function"]
        yield from ("", "[[events]]")
        yield from (f"{word} = {as_toml(_without_none(value))}" for word, value in told.items() if value is not None)


def _run(request: Request) -> Iterator[str]:
    """The lines of the run."""
    steps, settings, record = request.steps, request.settings, request.to_json()
    words = [*("step", "steps"), "every", "t_eval", "breaks", "since", "commanded"]
    if isinstance(steps, Tolerance):
        words = ["rtol", "atol", "first_step", "max_step", "max_steps", "t_end", *words]
    elif request.t_end is not None or (isinstance(steps, FixedStep) and steps.backwards):
        words[words.index("steps")] = "t_end"
        record["t_end"] = request.final
    yield from ("", "[run]")
    found = {word: record.get(word) for word in words}
    found |= {"t0": request.t0 or None, "units": settings.units, "epoch": settings.epoch}
    found |= {"tangent": None if request.tangent is None else list(request.tangent) or True}
    found |= {"reduce": as_words(request.reduce) or None}
    found |= {"guard": None if settings.guard else False, "compensated": request.method.compensated or None}
    yield from (f"{word} = {as_toml(value)}" for word, value in found.items() if value is not None)
