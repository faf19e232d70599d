"""Data of a fit: lists of measurements, mappings of arrays, Datasets, data frames and CSV files become measurements."""

from __future__ import annotations

import csv
import os
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polhode import reading
from polhode.arguments import Array, has, mapping, path as checked_path
from polhode.errors import FileProblem, InvalidInput, answering, shown, unknown_name
from polhode.estimation.measurements import DIRECTIONS, KINDS, Measurement, measurement
from polhode.lazy import xr

OTHER_NAMES = {"angular_velocity": "gyro", "gyroscope": "gyro", "rates": "gyro", "quaternion": "attitude",
               "star_tracker": "attitude", "gnss": "position", "gps": "position", "doppler": "range_rate"}  # fmt: skip
"""Names of data whose kind is known."""
WORDS = ("station_velocity", "station", "reference", "sigma")
"""What may stand behind the name of an instrument in the name of a column."""
COMPONENT = re.compile(r"(.+?)(?:[_.]([wxyz])|\[(\d)\])")
TIME = ("time", "t")
RECORDED = ("angular_velocity", "attitude", "position", "velocity")
"""Variables of a trajectory that are data, where a Dataset says nothing else."""


def _known(name: str) -> str | None:
    """The kind of measurement that the name of an instrument begins with."""
    known = sorted([*KINDS, *OTHER_NAMES, *DIRECTIONS], key=len, reverse=True)
    start = next((word for word in known if re.fullmatch(rf"{word}(?:[_.\-\d].*)?", name)), "")
    return "direction" if start in DIRECTIONS else OTHER_NAMES.get(start, start) or None


def _named(name: str, given: Mapping[str, Any]) -> Measurement:
    """The measurement of an instrument: of the kind said, or its name, or a direction; of ``a.gyro`` on body a."""
    words = {**given, "name": name}
    kind, (body, _, own) = words.pop("kind", None) or _known(name), name.partition(".")
    if kind is None and own and (kind := _known(own)) is not None:
        words.setdefault("body", body)
    if kind is None and words.get("reference") is None:
        wrong = unknown_name("data", name, [*KINDS, *DIRECTIONS])
        raise InvalidInput(f"{wrong}; a direction of another name needs its reference, as {name}_reference")
    return measurement(kind or "direction", words)


@answering
def read(
    data: Any, *, noise: Mapping[str, Any] | None = None, references: Mapping[str, Any] | None = None,
    stations: Mapping[str, Any] | None = None,
) -> list[Measurement]:  # fmt: skip
    """Measurements from data in any form that ``polhode.fit`` takes.

    Parameters
    ----------
    data : list of Measurement, mapping, xarray.Dataset, pandas.DataFrame or path
        * What ``polhode.estimation.gyro`` and so on return, one or a list.
        * A mapping of names to ``(time, values)``, or to mappings of the words of these functions (``time``,
          ``values``, ``sigma``, ``reference``, ``station``, ``kind``).
        * A mapping that has ``time``, and beside it arrays by name, at these times: ``{"time": t, "gyro": w,
          "sun": u, "sun_reference": (1, 0, 0)}``.
        * A Dataset of variables of these names along ``time``, with ``kind``, ``sigma``, ``reference`` and ``station``
          in their attributes; of a trajectory its angular velocities, attitudes, positions and velocities.
        * A CSV file, or a data frame, with a column ``time`` and columns ``gyro_x``, ``gyro_y``, ``gyro_z``; ``sun_x``
          and so on with ``sun_reference_x`` and so on; ``attitude_w`` to ``attitude_z``; ``position_x``,
          ``velocity_x``; ``range`` and ``range_rate`` with ``range_station_x`` and so on; each may have a column
          ``gyro_sigma``. Empty cells: nothing was measured then.
    noise, references, stations : mapping, optional
        Standard deviations or covariances, directions in space, and positions of stations, by name.

    Returns
    -------
    list of Measurement
        One for each instrument.

    Raises
    ------
    InvalidInput
        Names that are not known, wrong shapes, numbers that are missing or not finite, with their row.
    FileProblem
        A file that cannot be read.

    Examples
    --------
    >>> import polhode as ph
    >>> truth = ph.integrate(ph.free_body((1, 2, 2.5)), step=0.1, steps=100, angular_velocity=(0.2, 1, 0.1))
    >>> gyro, = ph.estimation.read({"gyro": (truth.time, truth.angular_velocity)}, noise={"gyro": 1e-3})
    >>> gyro.kind, gyro.values.shape
    ('gyro', (101, 3))
    """
    more: dict[str, dict[str, Any]] = {}
    for word, given in (("reference", references), ("station", stations)):
        for name, value in mapping({} if given is None else given, f"{word}s").items():
            more.setdefault(name, {})[word] = value
    found = _measurements(data, more)
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput(f"data has two instruments called {name}; give them names of their own (name=...)")
    for name in more:
        if name not in names:
            raise unknown_name("name in references and stations", name, names)
    return with_noise(found, noise)


def with_noise(measurements: Sequence[Measurement], noise: Mapping[str, Any] | float | None) -> list[Measurement]:
    """Measurements with the noise that is given by name, or by kind."""
    if noise is None:
        return list(measurements)
    if not isinstance(noise, Mapping):
        if len({one.kind for one in measurements}) > 1:
            names = ", ".join(one.name for one in measurements)
            raise InvalidInput(f"noise is one value, but the data have {names}; give noise by name")
        return [one.with_noise(noise) for one in measurements]
    known = {one.name for one in measurements} | {one.kind for one in measurements}
    for name in noise:
        if OTHER_NAMES.get(name, name) not in known and name not in known:
            raise unknown_name("name in noise", name, sorted(known))
    by_name = {OTHER_NAMES.get(name, name): value for name, value in noise.items()} | dict(noise)
    return [
        one.with_noise(by_name[one.name]) if one.name in by_name
        else one.with_noise(by_name[one.kind]) if one.kind in by_name else one
        for one in measurements
    ]  # fmt: skip


def _measurements(data: Any, more: Mapping[str, Mapping[str, Any]]) -> list[Measurement]:
    if isinstance(data, Measurement):
        data = [data]
    if isinstance(data, str | os.PathLike):
        return _of_table(_read_csv(checked_path(data, "data")), more, 2)
    if has(data, "data_vars") and has(data, "coords") and not isinstance(data, type):
        return _of_dataset(data, more)
    if has(data, "columns") and has(data, "to_numpy") and not isinstance(data, type):
        return _of_table(_grouped({str(name): np.asarray(data[name], dtype=float) for name in data.columns}), more, 0)
    if isinstance(data, Mapping):
        return _of_mapping(mapping(data, "data"), more)
    if isinstance(data, Sequence) and data and all(isinstance(one, Measurement) for one in data):
        return [
            measurement(one.kind, {"time": one.times, "values": one.values, "name": one.name, **more[one.name]})
            if one.name in more else one for one in data
        ]  # fmt: skip
    raise InvalidInput("data must be measurements such as polhode.estimation.gyro(t, w), a mapping of arrays by name, "
                       f"a Dataset, a data frame, or the name of a CSV file, not {shown(data)}")  # fmt: skip


def _of_mapping(data: Mapping[str, Any], more: Mapping[str, Mapping[str, Any]]) -> list[Measurement]:
    if not data:
        raise InvalidInput("data is empty; give arrays by name")
    if any(name in data for name in TIME):
        return _of_table(dict(data), more, None)
    found = []
    for name, given in data.items():
        if isinstance(given, Measurement):
            found.append(replace(given, name=name))
            continue
        if isinstance(given, Mapping):
            words = dict(given)
            if "t" in words:
                words["time"] = words.pop("t")
        elif isinstance(given, tuple) and len(given) in (2, 3):
            words = dict(zip(("time", "values", "sigma"), given, strict=False))
        else:
            raise InvalidInput(f"data has no times for {name}; give (time, values), or 'time' beside the arrays")
        found.append(_named(name, {**words, **more.get(name, {})}))
    return found


def _of_dataset(ds: xr.Dataset, more: Mapping[str, Mapping[str, Any]]) -> list[Measurement]:
    if "time" not in ds.coords:
        raise InvalidInput("the Dataset of data has no coordinate 'time'; give one, the times of the rows")
    recorded = "run" in ds.attrs or "method" in ds.attrs
    names = [
        name for name, one in ds.data_vars.items()
        if one.dims[:1] == ("time",) and (name in RECORDED if recorded else not str(name).endswith(WORDS))
    ]  # fmt: skip
    if not names:
        raise InvalidInput("the Dataset has no variable along 'time' that is data; give gyro, attitude, position ...")
    found = []
    for name in map(str, names):
        if recorded and "body" in ds[name].dims:
            found += _of_bodies(ds, name)
            continue
        words = {key: ds[name].attrs[key] for key in ("sigma", "reference", "station") if key in ds[name].attrs}
        words |= {word: ds[f"{name}_{word}"].values for word in WORDS if f"{name}_{word}" in ds}
        called = OTHER_NAMES.get(name, name) if recorded else name
        words |= {"time": ds["time"].values, "values": ds[name].values} | dict(more.get(name, {}))
        found.append(_named(called, words | {"kind": ds[name].attrs.get("kind")}))
    return found


def _of_bodies(ds: xr.Dataset, name: str) -> list[Measurement]:
    """A recorded quantity of each body that has it: those that never turn, or move, have none."""
    every, names = ds[name].transpose("time", "body", ...).values, ds["body"].values if "body" in ds.coords else None
    found = []
    for i in range(every.shape[1]):
        if np.ptp(every[:, i], axis=0).any():
            body = str(i if names is None else names[i])
            kind = OTHER_NAMES.get(name, name)
            found.append(measurement(kind, {"time": ds["time"].values, "values": every[:, i], "name": f"{body}.{kind}",
                                            "body": body}))  # fmt: skip
    return found


def _of_table(
    columns: Mapping[str, Any], more: Mapping[str, Mapping[str, Any]], first: int | None
) -> list[Measurement]:
    """Measurements at common times; rows without numbers are left out where ``first``, that of the first, is given."""
    columns = dict(columns)
    name = next((name for name in TIME if name in columns), None)
    if name is None:
        raise unknown_name("column of times", "(none)", ["time"])
    time = columns.pop(name)
    words: dict[str, dict[str, Any]] = {}
    for column, values in columns.items():
        word = next((word for word in WORDS if column.endswith(f"_{word}")), None)
        instrument = column if word is None else column.removesuffix(f"_{word}")
        words.setdefault(instrument, {})["values" if word is None else word] = values
    found = []
    for instrument, given in words.items():
        if "values" not in given:
            raise InvalidInput(f"the data have {instrument}_{next(iter(given))}, but no {instrument} to which it "
                               "belongs; check the names of the columns")  # fmt: skip
        given |= {"time": time} | dict(more.get(instrument, {}))
        found.append(_named(instrument, given if first is None else _with_numbers(given, instrument, first)))
    if not found:
        raise InvalidInput("the data have times but nothing measured; give columns such as gyro_x, gyro_y, gyro_z")
    return found


def _with_numbers(words: Mapping[str, Any], name: str, first: int) -> dict[str, Array | str]:
    """The rows of one instrument in which there is a number."""
    time, values = np.asarray(words["time"], dtype=float), np.asarray(words["values"], dtype=float)
    flat = values.reshape(len(values), -1)
    there = ~np.isnan(flat).all(axis=1)
    for row in map(int, np.flatnonzero(there)):
        if not np.isfinite(flat[row]).all() or not np.isfinite(time[row]):
            missing = name if np.isfinite(time[row]) else "time"
            raise InvalidInput(f"{missing} is not complete in row {row + first}; give all its numbers there, or none")
    n = len(time)
    return {
        word: value[there] if word not in ("name", "kind") and np.ndim(value) and len(value) == n else value
        for word, value in ({**words, "values": values}).items()
    }


def _grouped(columns: Mapping[str, Any]) -> dict[str, Array]:
    """Columns ``name_x``, ``name_y`` ... as one array ``name``."""
    groups: dict[str, dict[str, Any]] = {}
    found: dict[str, Any] = {}
    for column, values in columns.items():
        match = COMPONENT.fullmatch(column)
        if match is None or column in TIME:
            found[column] = values
        else:
            groups.setdefault(match[1], {})[match[2] or match[3]] = values
    for name, parts in groups.items():
        letters = "wxyz" if "w" in parts else "xyz"
        order = sorted(parts) if all(key.isdigit() for key in parts) else list(letters)
        for key in order:
            if key not in parts:
                raise InvalidInput(f"the data have no column {name}_{key}, but {name}_{next(iter(parts))}; give all of "
                                   f"{', '.join(f'{name}_{letter}' for letter in letters)}")  # fmt: skip
        found[name] = np.stack([parts[key] for key in order], axis=1)
    return found


def _read_csv(path: str) -> dict[str, Array]:
    """Columns of a CSV file; empty cells are NaN."""
    head: list[str] = []
    cells = array("d")
    try:
        with reading.lines(path, "measurements") as lines:
            reader = csv.reader(lines)
            for line in reader:
                if line and not line[0].startswith("#"):
                    cells.extend(_numbers(path, f"in line {reader.line_num}", head, line) if head else ())
                    head = head or [name.strip() for name in line]
    except (UnicodeDecodeError, csv.Error) as problem:
        raise FileProblem(f"cannot read {path}: {problem}") from None
    if not cells:
        raise InvalidInput(f"{path} has no rows of data; give a line of names and lines of numbers")
    for name in head:
        if head.count(name) > 1:
            raise InvalidInput(f"{path} has two columns {name!r}; name each once")
    table = np.array(cells).reshape(-1, len(head))
    return _grouped({name: table[:, j] for j, name in enumerate(head)})


def _numbers(path: str, where: str, head: list[str], line: list[str]) -> Iterator[float]:
    """The numbers of a line, NaN for an empty cell."""
    if len(line) != len(head):
        raise InvalidInput(f"{path} has {len(line)} cells {where}, but {len(head)} names; check that line")
    for name, cell in zip(head, map(str.strip, line), strict=True):
        try:
            value = float(cell or "nan")
        except ValueError:
            raise InvalidInput(f"{path} has {shown(cell)} {where}, column {name}; give a number, or leave the cell "
                               "empty") from None  # fmt: skip
        if cell and not np.isfinite(value):
            raise InvalidInput(f"{path} has {cell} {where}, column {name}; give a finite number, or leave the cell "
                               "empty")  # fmt: skip
        yield value
