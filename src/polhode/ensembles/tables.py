"""Tables of members: arrays by name from CSV files, data frames and Datasets, with the member axis first."""

from __future__ import annotations

import csv
import os
import re
import warnings
from array import array as flat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polhode import reading
from polhode.arguments import UNKNOWN, Array, array, has, path as checked_path, room_for
from polhode.errors import InvalidInput, answering, shown
from polhode.trajectory.reduction_kinds import MEMBER

SUFFIX = ".csv"

INDEXED = re.compile(r"(.+?)\[(\d)(?:, ?(\d))?\]")
LETTERED = re.compile(r"(.+?)[_.]([wxyz]{1,2})")
VECTOR, QUATERNION = ("x", "y", "z"), ("w", "x", "y", "z")
TENSOR = ("xx", "yy", "zz", "xy", "xz", "yz")


def is_table(value: object) -> bool:
    """Whether a value is the name of a CSV file, a path, a data frame or a Dataset."""
    named = isinstance(value, str) and value.lower().endswith(SUFFIX)
    return named or isinstance(value, os.PathLike) or _is_dataset(value) or _is_frame(value)


def _is_dataset(value: object) -> bool:
    return has(value, "data_vars") and has(value, "coords") and has(value, "sizes") and not isinstance(value, type)


def _is_frame(value: object) -> bool:
    return has(value, "columns") and has(value, "to_numpy") and not isinstance(value, type)


def member_array(value: Array, name: str) -> Array:
    """Finite numbers with the member axis first."""
    try:
        plain = np.asarray(value)
        wrong = ~np.isfinite(plain) if plain.dtype.kind == "f" and plain.ndim else np.zeros(0, dtype=bool)
    except Exception:  # whatever an object raises when it is converted; the next call says what is wrong with it
        wrong = np.zeros(0, dtype=bool)
    if wrong.any():
        where = np.argwhere(wrong)[0]
        raise InvalidInput(f"{name} of member {int(where[0])} is {plain[tuple(where)]}; give a finite number, or leave "
                           "that member out")  # fmt: skip
    given = array(value, name, UNKNOWN)
    if not given.ndim:
        raise InvalidInput(f"{name} is one number; give a list with one entry for each member, or a distribution")
    if not len(given):
        raise InvalidInput(f"{name} is empty; give one entry for each member")
    return given


@answering
def read_table(table: Any) -> dict[str, Array]:
    """Arrays of members from a table.

    Parameters
    ----------
    table : path, pandas.DataFrame or xarray.Dataset
        A CSV file with a line of names first, a data frame with columns, or a Dataset whose variables and coordinates
        have the dimension ``member``. Several columns make one vector if they are called ``name_x``, ``name_y``,
        ``name_z`` (of a quaternion also ``name_w``), or ``name[0]``, ``name[1]`` and so on; and one tensor if they are
        called ``name[0,0]`` to ``name[2,2]``, or ``name_xx``, ``name_yy``, ``name_zz``, ``name_xy``, ``name_xz``,
        ``name_yz``, which is symmetric.

    Returns
    -------
    dict
        Of each name an array with the member axis first, in the order of the table.

    Raises
    ------
    InvalidInput
        No table, no columns, entries that are missing or no finite numbers (named by member), vectors with gaps.
    FileProblem
        The file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polhode as ph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "draws.csv")
    ...     _ = file.write_text("weight,velocity_x,velocity_y,velocity_z\\n19.6,0,0,9\\n20.1,0,0.1,9\\n")
    ...     members = ph.ensembles.sampling.read_table(file)
    >>> members["weight"], members["velocity"].shape
    (array([19.6, 20.1]), (2, 3))
    """
    if isinstance(table, str | os.PathLike) and (name := checked_path(table, "table")).lower().endswith(SUFFIX):
        return _grouped(_csv(Path(name)))
    if _is_dataset(table):
        found = {
            str(name): member_array(table[name].transpose(MEMBER, ...).values, str(name))
            for name in (*table.data_vars, *table.coords) if MEMBER in table[name].dims and name != MEMBER
        }  # fmt: skip
        if not found:
            raise InvalidInput("this Dataset has no variable with the dimension 'member'; rename its dimension of "
                               "members")  # fmt: skip
        return _grouped(found)
    if _is_frame(table):
        return _grouped({str(name): member_array(_column(table, name), str(name)) for name in table.columns})
    raise InvalidInput(f"table must be the name of a CSV file (.csv), a DataFrame or a Dataset, not {shown(table)}")


def _column(frame: Any, name: Any) -> Any:
    column = frame[name]
    try:
        return column.to_numpy(dtype=float)
    except (TypeError, ValueError):  # polars knows no dtype there; text stays what it is
        return column.to_numpy()


def _csv(file: Path) -> dict[str, Array]:
    """Columns of a CSV file by name."""
    try:
        with reading.lines(file, "members") as lines:
            names = [name.strip() for name in next(csv.reader(lines), [])]
            if not names or not all(names) or len(set(names)) < len(names):
                raise InvalidInput(f"the first line of {file.name} must be the names of its columns, each once")
            room_for(float(file.stat().st_size), file.name)
            with warnings.catch_warnings():
                warnings.simplefilter("error", UserWarning)  # of no rows
                try:
                    rows = np.loadtxt(lines, delimiter=",", ndmin=2, comments=None)
                except (ValueError, UserWarning):
                    rows = np.empty((0, 0))
        if rows.shape[1:] != (len(names),):
            rows = _csv_slowly(file, names)
    except (UnicodeDecodeError, csv.Error):
        raise InvalidInput(f"{file.name} is no CSV file: it must be text, with commas between the columns") from None
    return {name: member_array(rows[:, k], name) for k, name in enumerate(names)}


def _csv_slowly(file: Path, names: Sequence[str]) -> Array:
    """The same for files with quotes or spaces, and the place of what is wrong."""
    found, count = flat("d"), 0
    with reading.lines(file, "members") as lines:
        reader = csv.reader(lines)
        next(reader)
        for cells in reader:
            if not cells:
                continue
            where = f"{file.name}, line {reader.line_num}"
            if len(cells) != len(names):
                raise InvalidInput(f"{where}: {len(cells)} entries, but {len(names)} columns have names")
            for name, cell in zip(names, cells, strict=True):
                if not cell.strip():
                    raise InvalidInput(f"{where}: {name} of member {count} is missing; give a number, or leave the "
                                       "member out")  # fmt: skip
                try:
                    float(cell)
                except ValueError:
                    raise InvalidInput(f"{where}: {name} must be a number, not {shown(cell)}") from None
            found.extend(map(float, cells))
            count += 1
    if not count:
        raise InvalidInput(f"{file.name} has names of columns, but no members below them")
    return np.array(found).reshape(count, len(names))


def _grouped(columns: Mapping[str, Array]) -> dict[str, Array]:
    """Join columns that are components of one quantity."""
    if not columns:
        raise InvalidInput("the table has no columns")
    parts: dict[str, dict[str, Array]] = {}
    for name, values in columns.items():
        match = (INDEXED.fullmatch(name) or LETTERED.fullmatch(name)) if values.ndim == 1 else None
        if match:
            parts.setdefault(match[1], {})["".join(part for part in match.groups()[1:] if part)] = values
    joined = {name: whole for name, components in parts.items() if (whole := _joined(name, components)) is not None}
    found: dict[str, Array] = {}
    for name, values in columns.items():
        match = (INDEXED.fullmatch(name) or LETTERED.fullmatch(name)) if values.ndim == 1 else None
        base = match[1] if match and match[1] in joined else name
        if base != name and base in columns:
            raise InvalidInput(f"the table has {base} as well as {name}; leave out one of them")
        found[base] = joined[base] if base != name else values
    return found


def _joined(name: str, components: Mapping[str, Array]) -> Array | None:
    """The vector or tensor of some components; None where they are names of their own, such as one ``k_x``."""
    given = set(components)
    for order in (VECTOR, QUATERNION):
        if given == set(order):
            return np.stack([components[letter] for letter in order], axis=1)
    if given == set(TENSOR):
        return np.stack([components["".join(sorted(a + b))] for a in VECTOR for b in VECTOR], axis=1).reshape(-1, 3, 3)
    if not all(suffix.isdigit() for suffix in given):
        return None
    width = len(next(iter(given)))
    size = 1 + max(int(digit) for suffix in given for digit in suffix)
    wanted = [f"{i}" for i in range(size)] if width == 1 else [f"{i}{j}" for i in range(size) for j in range(size)]
    missing = sorted(set(wanted) ^ given)
    if missing:
        raise InvalidInput(f"the columns of {name} have a gap: {name}[{','.join(missing[0])}] is missing or too much")
    return np.stack([components[key] for key in wanted], axis=1).reshape(-1, *[size] * width)
