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
    """``(words, value with one thing wrong)``, each a few words that say what."""
    if isinstance(value, xr.Dataset):
        yield from spoiled_datasets(value)
    elif isinstance(value, xr.DataArray):
        for what, ds in spoiled_datasets(value.to_dataset(name="series")):
            if "series" in ds:
                yield what, ds["series"]
    elif isinstance(value, np.ndarray):
        yield from spoiled(value.tolist())
    elif isinstance(value, bool | str):
        yield from ((what, NUMBERS[what]) for what in ("nan", "0", "nothing", "None", "complex", "a list", "a mapping"))
        if isinstance(value, str):
            yield from [
                ("a word", "north"),
                ("twice", value + value),
                ("upper case", value.upper()),
                ("a list", [value]),
            ]
    elif isinstance(value, int | float):
        yield from [("negative", -value), *NUMBERS.items()]
    elif isinstance(value, dict):
        yield from (("no key", {}), ("a list", list(value)), ("a strange key", value | {1: 2.0}))
        for key, inner in value.items():
            yield f"without {key}", {k: v for k, v in value.items() if k != key}
            yield f"{key} misspelled", {k + "x" if k == key else k: v for k, v in value.items()}
            yield from ((f"{key}: {what}", value | {key: wrong}) for what, wrong in spoiled(inner))
    elif isinstance(value, list | tuple):
        kind = type(value)
        yield from (("empty", kind()), ("once more", kind([*value, *value[-1:]])), ("nested", kind([value])))
        yield from (("one less", value[:-1]), ("a mapping", dict(enumerate(value))), ("None", None))
        for k in sorted({0, len(value) - 1} if value else ()):
            yield from (
                (f"[{k}] {what}", kind([*value[:k], wrong, *value[k + 1 :]])) for what, wrong in spoiled(value[k])
            )


def spoiled_datasets(ds):
    """One variable, dimension or attribute wrong."""
    yield "empty", xr.Dataset()
    for dim in ds.dims:
        yield f"one of {dim}", ds.isel({dim: 0})
        yield f"none of {dim}", ds.isel({dim: slice(0)})
        yield f"two of {dim}", ds.isel({dim: slice(2)})
        yield f"{dim} renamed", ds.rename({dim: "other"})
        yield f"{dim} backwards", ds.isel({dim: slice(None, None, -1)})
    for name in ds.variables:
        held = ds[name]
        yield f"without {name}", ds.drop_vars(name)
        changes = {"strings": held.astype(str), "objects": held.astype(object)}
        if held.dtype.kind in "fiu":
            one = xr.zeros_like(held, dtype=float)
            one[{dim: -1 for dim in held.dims}] = 1.0
            changes |= {
                "complex": held + 1j,
                "zero": held * 0,
                "same": held * 0 + 1,
                "whole": held.fillna(0.0).astype(int),
            }
            changes |= {f"all {x}": held * 0 + x for x in (np.nan, np.inf, 1e300, -1e300, 5e-324)}
            changes |= {f"last {x}": held.where(one == 0, x) for x in (np.nan, np.inf, 1e300, 5e-324)}
        for what, wrong in changes.items():
            yield f"{name}: {what}", ds.assign_coords({name: wrong}) if name in ds.coords else ds.assign({name: wrong})
    for key in ds.attrs:
        yield f"without attribute {key}", ds.drop_attrs().assign_attrs({k: v for k, v in ds.attrs.items() if k != key})
        for wrong in ("north", 1e300, -1, "{}", [1.0], ""):
            yield f"attribute {key}: {wrong!r}", ds.assign_attrs({key: wrong})


def cases(name):
    """``(which call, argument, words, arguments)`` of all calls of a function with one thing wrong."""
    for k in range(len(CALLS[name])):
        yield k, "nonsense", "unknown", {"nonsense": 1.0}
        for argument, value in arguments_of(name, k).items():
            for what, wrong in spoiled(value):
                if (name, argument) not in LONG_BY_WISH or what not in LONG:
                    yield k, argument, what, {argument: wrong}


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
    for k, argument, what, changes in itertools.islice(cases(name), start, None, every):
        ended, told = outcome(name, arguments_of(name, k) | changes, SECONDS)
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


RUNS = EXPENSIVE | {"ensemble", "fit", "estimation.kalman", "gradient", "sweep", "animate", "plots.animate", "view"} | {
    name for name in CALLS if name.startswith(("chaos.", "plots."))
}  # fmt: skip
"""What runs, compiles or draws: in the long form."""


def test_one_thing_wrong_ends_in_a_sentence(monkeypatch, tmp_path):
    """One call in 31 of those that compute; with ``-m full`` all of them, and of those that run."""
    monkeypatch.chdir(tmp_path)
    with few_gigabytes():
        found = [wrongs(name, 31, n % 31) for n, name in enumerate(CALLS) if name not in RUNS]
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
