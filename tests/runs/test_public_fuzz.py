"""Good calls of every public function with one thing wrong inside an argument: a number, an entry, a key, a variable.

What a call may end in: an answer without nan, or an error of polhode in one sentence that names the place. No warning
but polhode's, no other exception, and soon.
"""

from __future__ import annotations

import inspect
import itertools
import re

import numpy as np
import pytest
import xarray as xr

from outcomes import EXPENSIVE, FUNCTIONS, few_gigabytes, outcome
from polhode.errors import InvalidInput
from public_calls import CALLS, arguments_of

SECONDS, LONGEST = 60.0, 500
NUMBERS = {
    "nan": np.nan, "inf": np.inf, "-inf": -np.inf, "0": 0, "1": 1, "1e300": 1e300, "-1e300": -1e300, "1e150": 1e150,
    "5e-324": 5e-324, "1e-200": 1e-200, "no fraction": 3, "10^400": 10**400, "a word": "north", "nothing": "",
    "None": None, "True": True, "complex": 1j, "a list": [1.0], "a mapping": {"a": 1.0}, "two": [[1.0, 2.0], [3.0]],
}  # fmt: skip
"""What takes the place of one number in an argument."""


def spoiled(value):
    """``(words, function that returns the value with one thing wrong)``, each a few words that say what."""
    if isinstance(value, xr.Dataset):
        yield from spoiled_datasets(value)
    elif isinstance(value, xr.DataArray):
        for what, change in spoiled_datasets(value.to_dataset(name="series")):
            if what != "empty" and what != "without series":
                yield what, lambda change=change: change()["series"]
    elif isinstance(value, np.ndarray):
        yield from spoiled(value.tolist())
    elif isinstance(value, dict):
        yield from given({"no key": {}, "a list": list(value), "a strange key": value | {1: 2.0}})
        for key, inner in value.items():
            yield f"without {key}", lambda key=key: {k: v for k, v in value.items() if k != key}
            yield f"{key} misspelled", lambda key=key: {k + "x" if k == key else k: v for k, v in value.items()}
            for what, change in spoiled(inner):
                yield f"{key}: {what}", lambda key=key, change=change: value | {key: change()}
    elif isinstance(value, list | tuple):
        kind = type(value)
        yield from given({"empty": kind(), "once more": kind([*value, *value[-1:]]), "nested": kind([value])})
        yield from given({"one less": value[:-1], "a mapping": dict(enumerate(value)), "None": None})
        for k in sorted({0, len(value) - 1} if value else ()):
            for what, change in spoiled(value[k]):
                yield f"[{k}] {what}", lambda k=k, change=change: kind([*value[:k], change(), *value[k + 1 :]])
    elif isinstance(value, bool | str):
        yield from given({what: NUMBERS[what] for what in FOR_WORDS})
        if isinstance(value, str):
            yield from given({"a word": "north", "twice": value + value, "upper case": value.upper()})
            yield from given({"a list": [value]})
    elif isinstance(value, int | float):
        yield from given({"negative": -value, **NUMBERS})


def given(wrongs):
    return [(what, lambda wrong=wrong: wrong) for what, wrong in wrongs.items()]


def spoiled_datasets(ds):
    """One variable, dimension or attribute wrong; made where it is asked for."""
    yield "empty", xr.Dataset
    for dim in ds.dims:
        yield f"one of {dim}", lambda dim=dim: ds.isel({dim: 0})
        yield f"none of {dim}", lambda dim=dim: ds.isel({dim: slice(0)})
        yield f"two of {dim}", lambda dim=dim: ds.isel({dim: slice(2)})
        yield f"{dim} renamed", lambda dim=dim: ds.rename({dim: "other"})
        yield f"{dim} backwards", lambda dim=dim: ds.isel({dim: slice(None, None, -1)})
    for name in ds.variables:
        yield f"without {name}", lambda name=name: ds.drop_vars(name)
        changes = ANY_VARIABLE if ds[name].dtype.kind not in "fiu" else ANY_VARIABLE | NUMERICAL
        for what, change in changes.items():
            yield f"{name}: {what}", lambda name=name, change=change: with_variable(ds, name, change(ds[name]))
    for key in ds.attrs:
        others = {k: v for k, v in ds.attrs.items() if k != key}
        yield f"without attribute {key}", lambda others=others: ds.drop_attrs().assign_attrs(others)
        for wrong in ("north", 1e300, -1, "{}", [1.0], ""):
            yield f"attribute {key}: {wrong!r}", lambda key=key, wrong=wrong: ds.assign_attrs({key: wrong})


def with_variable(ds, name, values):
    return ds.assign_coords({name: values}) if name in ds.coords else ds.assign({name: values})


def last(held, x):
    one = xr.zeros_like(held, dtype=float)
    one[{dim: -1 for dim in held.dims}] = 1.0
    return held.where(one == 0, x)


FOR_WORDS = ("nan", "0", "nothing", "None", "complex", "a list", "a mapping")
ANY_VARIABLE = {"strings": lambda held: held.astype(str), "objects": lambda held: held.astype(object)}
NUMERICAL = {
    "complex": lambda held: held + 1j, "zero": lambda held: held * 0, "same": lambda held: held * 0 + 1,
    "whole": lambda held: held.fillna(0.0).astype(int),
    **{f"all {x}": lambda held, x=x: held * 0 + x for x in (np.nan, np.inf, 1e300, -1e300, 5e-324)},
    **{f"last {x}": lambda held, x=x: last(held, x) for x in (np.nan, np.inf, 1e300, 5e-324)},
}  # fmt: skip
"""What becomes of a variable of a trajectory."""


def cases(name):
    """``(which call, argument, words, function that returns arguments)`` of all calls with one thing wrong."""
    for k in range(len(CALLS[name])):
        if name != "states.of":  # states have any names
            yield k, "nonsense", "unknown", lambda: {"nonsense": 1.0}
        for argument, value in arguments_of(name, k).items():
            for what, change in spoiled(value):
                if (name, argument) not in LONG_BY_WISH or what not in LONG:
                    yield k, argument, what, lambda argument=argument, change=change: {argument: change()}


LONG_BY_WISH = {("integrate", "t_end"), ("compare", "t_end"), ("ensemble", "t_end"), ("fit", "t_end")}
LONG = {"1e300", "-1e300", "1e150"}
"""Ends of runs that are as long as they are asked to be."""


def words_of(thing):
    """Names in an argument: keys, variables, dimensions, attributes."""
    if isinstance(thing, dict):
        yield from (word for key, inner in thing.items() for word in (str(key), *words_of(inner)))
    elif isinstance(thing, list | tuple):
        yield from (word for inner in thing for word in words_of(inner))
    elif isinstance(thing, str):
        yield from re.findall(r"\w+", thing)
    elif isinstance(thing, xr.Dataset | xr.DataArray):
        yield from ("row", "rows", "trajectory", "Dataset", *map(str, (*thing.coords, *thing.dims, *thing.attrs)))
        yield from map(str, getattr(thing, "variables", ()))


def names_in(name, k):
    """What a message may call the place by: an argument, what is in it, or what the function is about."""
    found = {"unknown", *FUNCTIONS[name].__name__.lower().split("_"), *inspect.signature(FUNCTIONS[name]).parameters}
    return found | set(words_of(arguments_of(name, k)))


def wrongs(name, every=1, start=0):
    """How many calls there were, and those that ended as none should."""
    count, wrong = 0, []
    for k, argument, what, change in itertools.islice(cases(name), start, None, every):
        ended, told = outcome(name, arguments_of(name, k) | change(), SECONDS)
        count += 1
        if argument == "nonsense":
            fault = ended not in ("TypeError", "refused") or "nonsense" not in str(told)
        elif ended == "refused":
            said = set(re.findall(r"\w+", str(told).lower()))
            named = (said | {f"{word}s" for word in said}) & {word.lower() for word in names_in(name, k)}
            one_sentence = "\n" not in str(told) and len(str(told)) < LONGEST
            fault = isinstance(told, InvalidInput) and not (named and (one_sentence or name == "read_scenario"))
        else:
            fault = ended != "fine" and not (ended == "nan" and re.search("nan|inf", what))
        if fault:
            wrong.append(f"{name} {k} {argument} {what}: {ended} {str(told)[:200]}")
    return count, wrong


RUNS = EXPENSIVE | {name for name in CALLS if name.startswith(("chaos.", "plots."))} | {
    "ensemble", "ensembles.ensemble_of", "fit", "estimation.kalman", "gradient", "sweep", "animate", "plots.animate",
    "view", "interactive",
}  # fmt: skip
"""What runs, compiles or draws: in the long form."""


def test_one_thing_wrong_ends_in_a_sentence(monkeypatch, tmp_path):
    """One call in 53 of those that compute; with ``-m full`` all of them, and of those that run."""
    monkeypatch.chdir(tmp_path)
    with few_gigabytes():
        found = [wrongs(name, 53, n % 53) for n, name in enumerate(CALLS) if name not in RUNS]
    faults = [one for _, wrong in found for one in wrong]
    assert not faults, f"{len(faults)}:\n" + "\n".join(faults[:20])
    assert sum(count for count, _ in found) > 500


@pytest.mark.full
@pytest.mark.parametrize("name", CALLS)
def test_everything_wrong_ends_in_a_sentence(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with few_gigabytes():
        count, wrong = wrongs(name)
    assert not wrong, f"{len(wrong)} of {count}:\n" + "\n".join(wrong[:20])
