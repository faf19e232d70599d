"""Members of a sweep that differ in numbers of the system and in where they start, computed as one ensemble.

Such a member has the bits it has alone, and costs a hundredth of reading its scenario. What else varies (a step, a
method, a word) divides a block into groups, each of which is an ensemble. Members that this cannot serve, or that fail
in it, are left to be run alone, which says why they fail.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.arguments.words import arguments_of
from polhode.ensembles.ensemble import ensemble
from polhode.ensembles.members import Varied
from polhode.ensembles.sweep.members import ALWAYS, OK, WORST, Block, noted
from polhode.ensembles.sweep.plan import Study, Variable
from polhode.errors import FileProblem, Interrupted, PolhodeError
from polhode.runs.initial_state import OF_BODY
from polhode.runs.request import grouped
from polhode.runs.scenario import Scenario
from polhode.runs.scenario.changes import named_path, path_of, with_changes
from polhode.runs.scenario.initial_state import AS_GIVEN, given_state
from polhode.runs.scenario.record import has_step_density

FEWEST = 4
"""Members that are worth an ensemble."""
MOST_BYTES = 2**26
"""Of the rows of the members of one ensemble, about."""
NUMBERS = 60
"""In a row of one body, about, with all that follows from a state."""
ALONE = ("events", "breaks", "clock", "since", "store")
"""Words of a run whose members are runs of their own."""


def fill_together(
    block: Block, last: int, study: Study, variables: Mapping[str, Variable], times: Any, allow_code: bool
) -> None:
    """Compute what can be computed together; members that are done have the status 0 then."""
    tables = tomllib.loads(study.text)
    columns = study.design.columns(block.first, last)
    together = [name for name in columns if _numeric(name, tables)]
    rest = [name for name in columns if name not in together]
    if not together:
        return
    groups: dict[str, list[int]] = {}
    for k in range(last - block.first):
        groups.setdefault(repr([columns[name][k] for name in rest]), []).append(k)
    for members in groups.values():
        if len(members) >= FEWEST:
            varied = {name: columns[name] for name in together}
            _fill_group(block, members, study, tables, varied, variables, times, allow_code)


def _numeric(name: str, tables: Mapping[str, Any]) -> bool:
    """Whether a key is a number, or numbers, of the system or of the start."""
    table, _, inside = path_of(tables, name).partition(".")
    if table == "initial" and inside.partition(".")[0] in bodies_of(tables):
        return inside.partition(".")[2] in OF_BODY and "elements" not in tables
    if table == "initial":
        given = {*tables.get("initial", {}), inside.partition(".")[0]}
        plain = set(arguments_of(given_state)) - set(AS_GIVEN) - {"sequence"}
        return given - {"sequence"} <= plain and not {"elements", "problem"} & set(tables)
    return table == "system" and bool(inside) and isinstance(tables.get("system", {}), dict)


def _fill_group(
    block: Block, members: list[int], study: Study, tables: Mapping[str, Any], varied: Mapping[str, list[Any]],
    variables: Mapping[str, Variable], times: Any, allow_code: bool,
) -> None:  # fmt: skip
    """Compute members that differ in numbers alone."""
    try:
        base = study.scenario(block.first + members[0], allow_code)
        request = base.request
    except (Interrupted, FileProblem):
        raise
    except PolhodeError:
        return
    if any(word in base.arguments for word in ALONE) or has_step_density(base.method):
        return
    if "rtol" in base.arguments and "steps" in variables:  # rows where the steps of each member end
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
            with noted(block, block.first + part[0]):
                numbers = (block.first + np.array(part)) * study.noise_by_number
                own = replace(Varied.of(arrays), first_number=numbers)
                ds = ensemble(base.system, base.asked, members=own, engine="threads", threads=1, **words)
            _put(block, np.array(part), ds, variables, times)
        except (Interrupted, FileProblem):
            raise
        except (PolhodeError, ValueError, TypeError):
            return


def _arrays(tables: Mapping[str, Any], varied: Mapping[str, list[Any]], count: int, base: Scenario) -> Any:
    """What varies by the names that ``polhode.ensemble`` has for it; None where it has none."""
    known, found = arguments_of_system(tables), dict[str, Any]()
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


def bodies_of(tables: Mapping[str, Any]) -> list[str]:
    """Names of the bodies of a sum."""
    listed = tables.get("system", {}).get("bodies", ())
    return [str(one.get("name")) for one in listed if isinstance(one, Mapping)]


def arguments_of_system(tables: Mapping[str, Any]) -> set[str]:
    """Arguments of the function that builds the system of a scenario."""
    from polhode.systems import SYSTEMS

    build = SYSTEMS.get(tables.get("system", {}).get("type", ""))
    return set() if build is None else set(arguments_of(build))


def _put(block: Block, members: Any, ds: Any, variables: Mapping[str, Variable], times: Any) -> None:
    """Put the numbers of an ensemble into a block."""
    names = [name for name in variables if name not in ALWAYS and name != WORST]
    if not set(names) <= set(ds.variables) or (WORST in variables and "energy_error" not in ds.variables):
        return
    if times is not None and not np.array_equal(ds["time"].values, times):
        return
    good = ds["status"].values == OK
    at = members[good]
    found = {name: ds[name].values[good] if times is not None else ds[name].values[good, -1] for name in names}
    if any(values.shape[1:] != tuple(variables[name].shape) for name, values in found.items()):
        return
    for name, values in found.items():
        block.values[name][at] = values
    block.values["end_time"][at] = ds["time"].values[-1]
    if "steps" in variables:
        block.values["steps"][at] = int(ds.attrs["steps"])
    if WORST in variables:
        block.values[WORST][at] = np.abs(ds["energy_error"].values[good]).max(axis=1)
    block.values["status"][at] = OK
