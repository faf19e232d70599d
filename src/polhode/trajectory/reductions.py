"""Reductions over the members of an ensemble or over the rows of a run, taken while they come.

``polhode.ensembles.reductions`` is where users find them and what they compute.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from polhode.arguments import Array, ArrayLike, array, choice, function, mapping, number, whole
from polhode.errors import InvalidInput, answering, naming, shown, unknown_name
from polhode.lazy import public_names, xr
from polhode.trajectory import reduction_kinds as kinds
from polhode.trajectory.reduction_kinds import MEMBER, TIME, Reduction

__all__ = [
    "Reduction", "Running", "apply", "covariance", "crossings", "events", "extremes", "mean", "quantiles",
    "reductions_from", "std", "user",
]  # fmt: skip
__dir__ = public_names(__all__)

BATCH = 512  # members in a batch
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SIZES = tuple(BATCH << k for k in range(8))  # sizes of sketches: batches fill them without a rest

Function = Callable[[Any], Any]
Reductions = Reduction | Mapping[str, Any] | Sequence[Reduction | Mapping[str, Any]]


@answering
def mean(name: str, *, of: Function | None = None) -> Reduction:
    """Mean over the members: ``<name>_mean``, and ``<name>_count``, how many had a finite value.

    Of attitudes (last dimension ``quaternion``) it is the mean on the group [pennec2006]: the rotation from which the
    rotation vectors to the members sum to zero; see ``polhode.trajectory.moments`` for its accuracy.

    Parameters
    ----------
    name : str
        A variable of the trajectories, such as ``angular_velocity``; with ``of`` any name.
    of : function, optional
        Of a block, the Dataset of some members: returns what to reduce, a DataArray with the dimension ``member``.

    Raises
    ------
    InvalidInput
        No text, or no function.

    Examples
    --------
    >>> mean("energy_error").record()
    {'mean': {'name': 'energy_error'}}
    """
    return kinds.Moments("mean", name, of)


@answering
def std(name: str, *, of: Function | None = None) -> Reduction:
    """Standard deviation over the members, with n - 1: ``<name>_std``, and ``<name>_count``.

    Of attitudes: of the components of the rotation vectors from the mean to the members, in its body frame, in radians.
    Arguments, result and errors as ``mean``.

    Parameters
    ----------
    name, of
        As for ``mean``.

    Examples
    --------
    >>> import polhode as ph
    >>> spins = [(0.0, 0.1, 1.9), (0.0, 0.1, 2.0), (0.0, 0.1, 2.1)]
    >>> ds = ph.ensemble(ph.free_body((1, 2, 3)), members={"angular_velocity": spins}, step=0.1, steps=20,
    ...                  reduce=[ph.ensembles.reductions.std("angular_velocity")])
    >>> ds.angular_velocity_std[0].values.round(4)
    array([0. , 0. , 0.1])
    """
    return kinds.Moments("std", name, of)


@answering
def covariance(name: str, *, of: Function | None = None) -> Reduction:
    """Covariance of the components along the last dimension, with n - 1: ``<name>_covariance``, and ``<name>_count``.

    Its last two dimensions are that dimension and ``other_`` with its name: ``(time, axis, other_axis)``. Of attitudes:
    of the rotation vectors from the mean to the members, in its body frame, in rad^2. Arguments, result and errors as
    ``mean``.

    Parameters
    ----------
    name, of
        As for ``mean``.

    Examples
    --------
    >>> import polhode as ph
    >>> spin = ph.ensembles.sampling.normal((0.0, 0.1, 2.0), sigma=0.05)
    >>> members = ph.ensembles.sampling.members({"angular_velocity": spin}, 50, seed=1)
    >>> ds = ph.ensemble(ph.free_body((1, 2, 3)), members=members, step=0.1, steps=20,
    ...                  reduce=[ph.ensembles.reductions.covariance("angular_velocity")])
    >>> ds.angular_velocity_covariance.shape
    (21, 3, 3)
    """
    return kinds.Moments("covariance", name, of)


@answering
def extremes(name: str, *, of: Function | None = None) -> Reduction:
    """Smallest and largest value over the members, and whose: ``<name>_min``, ``<name>_min_member``, likewise ``max``.

    Numbers of members count from 0; the lowest of several, -1 where no value is finite. Arguments, result and errors as
    ``mean``.

    Parameters
    ----------
    name, of
        As for ``mean``.

    Examples
    --------
    >>> import polhode as ph
    >>> spins = [(0.0, 0.1, 1.9), (0.0, 0.1, 2.1), (0.0, 0.1, 2.0)]
    >>> ds = ph.ensemble(ph.free_body((1, 2, 3)), members={"angular_velocity": spins}, step=0.1, steps=20,
    ...                  reduce=[ph.ensembles.reductions.extremes("energy")])
    >>> int(ds.energy_max_member[-1])
    1
    """
    return kinds.Extremes(name, of)


@answering
def quantiles(name: str, q: ArrayLike = QUANTILES, *, of: Function | None = None, size: int = 2048) -> Reduction:
    """Quantiles over the members: ``<name>_quantile`` (quantile, time, ...).

    Exact up to ``2 size - 1`` members, as ``numpy.quantile``. Of more, from a sketch [munro1980]: the rank of each
    quantile is right to log2(members / size) / (2 size) of the members, 0.3 % of 10^7 members; the attribute
    ``rank_error`` has the bound that holds. Measured for 10^6 members: 0.04 %.

    Parameters
    ----------
    name : str
        As of ``mean``.
    q : array_like
        Probabilities between 0 and 1, increasing.
    of : function, optional
        As of ``mean``.
    size : int
        512 times a power of two up to 65536. A sketch keeps about ``size * log2(members / size)`` numbers for each
        number of a row.

    Raises
    ------
    InvalidInput
        Probabilities out of range or not increasing, another size; as ``mean``.

    Examples
    --------
    >>> quantiles("energy_error", (0.5, 0.99)).record()["quantiles"]["q"]
    [0.5, 0.99]
    """
    points = np.atleast_1d(array(q, "q"))
    if points.ndim > 1 or not len(points) or points[0] < 0.0 or points[-1] > 1.0 or (np.diff(points) <= 0.0).any():
        raise InvalidInput("q must be probabilities between 0 and 1, increasing")
    if whole(size, "size", BATCH) not in SIZES:
        raise InvalidInput(f"size is {size}; it must be one of {', '.join(map(str, SIZES))}")
    return kinds.Quantiles(name, of, q=points.tolist(), size=int(size))


@answering
def crossings(name: str, level: float = 0.0, direction: str = "any", *, of: Function | None = None) -> Reduction:
    """Crossings of a level, between rows: how many, by how many members, and when first.

    ``<name>_crossings`` and ``<name>_crossed`` (time, ...) count crossings, and members with a crossing, up to each
    row; so the latter over the number of members is the distribution of the first crossing. Mean and standard deviation
    of its time, found by linear interpolation between two rows, over the members that have one:
    ``<name>_first_crossing_mean`` and ``_std``. Two crossings between two rows are not seen; where that matters ask the
    run for ``events``.

    Parameters
    ----------
    name : str
        As of ``mean``; each component is taken by itself.
    level : float
        The level, in units of the variable. A value on it counts as past it.
    direction : {"any", "rising", "falling"}
        Which crossings count, in the order of the rows.
    of : function, optional
        As of ``mean``.

    Raises
    ------
    InvalidInput
        A level that is no number, another direction; as ``mean``.

    Examples
    --------
    >>> crossings("height", 120e3, "falling", of=lambda block: block.position.sel(axis="z")).kind
    'crossings'
    """
    return kinds.Crossings(
        name, of, level=number(level, "level"), direction=choice(direction, "direction", kinds.DIRECTIONS)
    )


@answering
def events(kind: str) -> Reduction:
    """Events of a kind that the run was asked for: how many, by how many members, and when first.

    ``<kind>_events`` and ``<kind>_members`` count events, and members with at least one. Over the members:
    ``<kind>_events_mean`` and ``_std``, and ``<kind>_first_time_mean``, ``_std``, ``_min``, ``_min_member``, ``_max``,
    ``_max_member`` of the first event in the order of the run.

    Parameters
    ----------
    kind : str
        A word of ``event_kind``, such as ``periapsis``.

    Raises
    ------
    InvalidInput
        No text; and in the run, no events.

    Examples
    --------
    >>> import polhode as ph
    >>> speeds = [(0.0, 7.5e3, 0.0), (0.0, 7.6e3, 0.0)]
    >>> ds = ph.ensemble(ph.orbit(ph.planets.EARTH.mu), members={"velocity": speeds}, position=(7000e3, 0, 0),
    ...                  step=30.0, t_end=6000.0, events=["periapsis"],
    ...                  reduce=[ph.ensembles.reductions.events("periapsis")])
    >>> int(ds.periapsis_members), round(float(ds.periapsis_first_time_mean))
    (2, 1431)
    """
    with naming(name="kind"):
        return kinds.Events(kind)


@answering
def user(
    name: str, *, start: Callable[..., Any], add: Callable[..., Any], merge: Callable[..., Any],
    result: Callable[..., Any],
) -> Reduction:  # fmt: skip
    """A reduction of your own, from four functions of plain Python.

    Parameters
    ----------
    name : str
        Name of the result.
    start : function
        ``start()`` returns an empty state.
    add : function
        ``add(state, block)`` returns the state with a block of members added, the Dataset of up to 512 of them with the
        dimension ``member``; or changes it and returns None. Each batch starts from a new ``start()``.
    merge : function
        ``merge(a, b)`` returns the state of both, ``b`` being that of members with higher numbers; or changes ``a`` and
        returns None.
    result : function
        ``result(state)`` returns a number, an array, a DataArray, or a mapping of names to these, which become
        variables ``<name>_<key>``.

    Raises
    ------
    InvalidInput
        Something that is no function.
    UserFunctionError
        In the run, a function failed or the result is none of these.

    Examples
    --------
    >>> def add(total, block):
    ...     return total + int((abs(block.angular_velocity) > 3.0).any(["time", "axis"]).sum())
    >>> user("fast", start=lambda: 0, add=add, merge=lambda a, b: a + b, result=lambda total: total).name
    'fast'
    """
    given = {"start": start, "add": add, "merge": merge, "result": result}
    return kinds.User(name, {word: function(one, word) for word, one in given.items()})


KINDS: dict[str, Callable[..., Reduction]] = {
    made.__name__: made for made in (mean, std, covariance, extremes, quantiles, crossings, events)
}
"""The reductions that a word names."""


@answering
def reductions_from(given: object) -> list[Reduction]:
    """Reductions as users and scenarios write them.

    Parameters
    ----------
    given : Reduction, list, or mapping
        Reductions, or their records ``{"quantiles": {"name": "energy", "q": [0.5]}}``; or of each variable one word or
        several: ``{"attitude": "mean", "energy_error": ["extremes", "quantiles"]}``.

    Returns
    -------
    list of Reduction

    Raises
    ------
    InvalidInput
        None of these, unknown words, two reductions that would give one variable two meanings.

    Examples
    --------
    >>> [one.kind for one in reductions_from({"energy_error": ["extremes", "mean"]})]
    ['extremes', 'mean']
    """
    found = list(_each(given))
    if not found:
        raise InvalidInput("reduce is empty; give at least one reduction, or leave it out to keep all members")
    for k, one in enumerate(found):
        for other in found[:k]:
            both = one.name != other.name and {one.kind, other.kind} == {"quantiles"}
            if both and one.options["q"] != other.options["q"]:
                raise InvalidInput(f"quantiles of {other.name} and {one.name} are at different q; give both the same")
            keys = [[signal.key for signal in each.signals[:1]] for each in (one, other)]
            if one.name == other.name and (one.kind == other.kind or keys[0] != keys[1]):
                raise InvalidInput(f"two reductions are called {one.name!r}; give one of them another name, with of=")
    return found


def _each(given: object) -> Iterator[Reduction]:
    if isinstance(given, Reduction):
        yield given
    elif isinstance(given, list | tuple):
        for one in given:
            yield one if isinstance(one, Reduction) else _from_record(one)
    else:
        for name, words in mapping(given, "reduce").items():
            for word in words if isinstance(words, list | tuple) else [words]:
                if not isinstance(word, str) or word not in KINDS:
                    raise unknown_name("reduction", word, KINDS)
                yield KINDS[word](name)


def _from_record(record: object) -> Reduction:
    given = mapping(record, "reduce")
    if len(given) != 1:
        raise InvalidInput(f"a reduction must have one key, such as mean, but {shown(dict(given))} has {len(given)}")
    ((kind, arguments),) = given.items()
    if kind not in KINDS:
        raise unknown_name("reduction", kind, KINDS)
    return KINDS[kind](arguments) if isinstance(arguments, str) else KINDS[kind](**mapping(arguments, kind))


def of_rows(given: object, functions: dict[str, Any] | None = None, call: str = "") -> tuple[Reduction, ...]:
    """Reductions over the rows of one run; of a record with the user's functions, which are taken out of those given.

    Raises
    ------
    InvalidInput
        As ``reductions_from``; what is counted of members; a function that is missing.
    """
    if given is None:
        return ()
    if functions is not None:
        records: Any = given
        given = [_again(kind, words, functions, call) for one in records for kind, words in one.items()]
    found = reductions_from(given)
    for one in found:
        if one.kind in ("crossings", "events"):
            raise InvalidInput(f"reduce has {one.kind} of {one.name}, which are counted of members; of one run give "
                               "events=, which it records")  # fmt: skip
    for name in {one.name for one in found}.intersection(functions or ()):
        del (functions or {})[name]
    return tuple(found)


def _again(kind: str, words: dict[str, Any], functions: Mapping[str, Any], call: str) -> Reduction:
    """A reduction of a record, with the user's function; one of several functions is handed in as a whole."""
    name, of = words["name"], words.get("of", f"reductions.user({words['name']!r}, ...)" if kind == "user" else None)
    if of is None:
        return KINDS[kind](**words)
    if name not in functions:
        raise InvalidInput(f"this run used a function for the reduction {name!r}; hand it in again: {call}{name}={of})")
    own: Reduction = functions[name] if kind == "user" else KINDS[kind](**words | {"of": functions[name]})
    return own


def as_words(reductions: Sequence[Reduction]) -> dict[str, list[str]]:
    """Reductions as scenarios write them: of each variable some words."""
    found: dict[str, list[str]] = {}
    for one in reductions:
        if one.kind not in KINDS or one.record() != KINDS[one.kind](one.name).record():
            raise InvalidInput(f"reduce has {one.kind} of {one.name!r} with a function or numbers of its own, which "
                               "scenarios have no words for; leave it out")  # fmt: skip
        found.setdefault(one.name, []).append(one.kind)
    return found


class Running:
    """Reductions of an ensemble, or of the rows of a run, while it goes; any thread may add any block, in any order.

    Parameters
    ----------
    reduce : as ``reductions_from``
        What to compute.
    members : int
        Number of members of the ensemble, or most rows.
    over : {"member", "time"}
        The dimension of members, or that of rows.
    """

    def __init__(self, reduce: Reductions, members: int, over: str = MEMBER) -> None:
        self.reductions = reductions_from(reduce)
        self.members, self.over = whole(members, "members", 1), over
        self.failed, self.added = 0, 0
        self._shapes: dict[Any, kinds.Shape] = {}
        self._attrs: dict[str, Any] = {}
        self._keeps_blocks = any(isinstance(one, kinds.User) for one in self.reductions)
        self._pending: dict[int, list[tuple[int, dict[Any, Array], Any]]] = {}
        self._nodes: dict[tuple[int, int], list[Any]] = {}
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())

    def add(self, first: int, block: xr.Dataset) -> None:
        """Take in members ``first`` and following: a Dataset with the dimension ``member``.

        Raises
        ------
        InvalidInput
            A variable to reduce is missing, its rows differ from those of other blocks, or each member has other times.
        UserFunctionError
            A function of the user failed.
        """
        size = int(block.sizes[self.over])
        if whole(first, "first") + size > self.members:
            raise InvalidInput(f"members {first} to {first + size - 1} are added to an ensemble of {self.members}")
        arrays = self._read(block)
        with self._lock:
            self.added += size
            if "status" in block:
                self.failed += int((block["status"].values != 0).sum())
        begin = 0
        while begin < size:
            batch = (first + begin) // BATCH
            end = min(size, (batch + 1) * BATCH - first)
            piece = {key: values[begin:end] for key, values in arrays.items()}
            self._take(
                batch, first + begin, piece, block.isel({self.over: slice(begin, end)}) if self._keeps_blocks else None
            )
            begin = end

    def absorb(self, other: Running) -> None:
        """Take in what another process or machine has reduced: the same reductions of other members."""
        with self._lock:
            self.added, self.failed = self.added + other.added, self.failed + other.failed
            self._shapes, self._attrs = self._shapes or other._shapes, self._attrs or other._attrs
            if self._shapes:
                self._check()
        for batch, pieces in sorted(other._pending.items()):
            for start, arrays, block in pieces:
                self._take(batch, start, arrays, block)
        for (level, index), summaries in sorted(other._nodes.items()):
            self._insert(level, index, summaries)

    def result(self) -> xr.Dataset:
        """The reductions of all members added so far.

        Raises
        ------
        InvalidInput
            There are none.
        """
        with self._lock:
            for batch in sorted(self._pending):
                self._nodes[0, batch] = self._summaries(sorted(self._pending[batch], key=lambda piece: piece[0]))
            self._pending = {}
            nodes = sorted(self._nodes, key=lambda node: node[1] << node[0])
        if not nodes:
            raise InvalidInput("no member has been reduced yet")
        total = self._nodes[nodes[-1]]
        for node in reversed(nodes[:-1]):
            total = self._merged(self._nodes[node], total)
        variables: dict[str, Any] = {}
        coords: dict[str, Any] = {}
        for one, summary in zip(self.reductions, total, strict=True):
            shapes = [self._shapes[signal.key] for signal in one.signals]
            made = one.result(summary, shapes)
            variables |= made
            dims = {dim for of, _, _ in made.values() for dim in of}
            for shape in shapes:
                coords |= {name: coord for name, coord in shape.coords.items() if dims.issuperset(coord.dims)}
            coords |= {name: values for name, values in one.coords().items() if name in dims}
        for dim in {dim for of, _, _ in variables.values() for dim in of if dim.startswith(kinds.OTHER)}:
            if dim.removeprefix(kinds.OTHER) in coords:
                coords[dim] = np.asarray(coords[dim.removeprefix(kinds.OTHER)])
        attrs = self._attrs | {
            "members": self.added, "failed": self.failed,
            "reductions": json.dumps([one.record() for one in self.reductions]),
        }  # fmt: skip
        try:
            return xr.Dataset(variables, coords, attrs)
        except ValueError as problem:
            raise InvalidInput(f"the reductions do not fit into one Dataset: {problem}; rename dimensions in the "
                               "functions that make them") from None  # fmt: skip

    def _read(self, block: xr.Dataset) -> dict[Any, Array]:
        """The values of all signals of a block, in memory as one row of members after the other."""
        arrays: dict[Any, Array] = {}
        for one in self.reductions:
            for signal in one.signals:
                if signal.key in arrays:
                    continue
                values = signal.read(block, self.over)
                if TIME in values.dims[1:] and TIME in block.coords and MEMBER in block[TIME].dims:
                    raise InvalidInput(f"{signal.name} is at other times in each member; give t_eval, or reduce what "
                                       "does not depend on time")  # fmt: skip
                if values.dtype.kind not in "biuf":
                    raise InvalidInput(f"{signal.name} are no numbers; there is nothing to reduce")
                arrays[signal.key] = np.ascontiguousarray(values.values, dtype=float)
                with self._lock:
                    if signal.key not in self._shapes:
                        self._shapes[signal.key] = kinds.Shape(values)
                    self._attrs = self._attrs or dict(block.attrs)
                known, (dims, sizes) = self._shapes[signal.key], kinds.Shape.of(values)
                if known.dims != dims or known.sizes != sizes:
                    raise InvalidInput(f"{signal.name} has shape {sizes} in some members and {known.sizes} in others; "
                                       "record all members at the same times")  # fmt: skip
        self._check()
        return arrays

    def _check(self) -> None:
        for one in self.reductions:
            one.check([self._shapes[signal.key] for signal in one.signals])

    def _take(self, batch: int, start: int, arrays: dict[Any, Array], block: xr.Dataset | None) -> None:
        """A part of a batch; once it is complete it is summed up."""
        size = min(BATCH, self.members - batch * BATCH)
        with self._lock:
            pieces = self._pending.setdefault(batch, [])
            pieces.append((start, arrays, block))
            lengths = (len(next(iter(own.values()))) if own else int(of.sizes[self.over]) for _, own, of in pieces)
            if sum(lengths) < size:
                # Copies, so that the rest of the block can be forgotten.
                pieces[-1] = start, {key: values.copy() for key, values in arrays.items()}, block
                return
            del self._pending[batch]
        self._insert(0, batch, self._summaries(sorted(pieces, key=lambda piece: piece[0])))

    def _summaries(self, pieces: list[tuple[int, dict[Any, Array], Any]]) -> list[Any]:
        def block() -> xr.Dataset:
            kept = [piece[2] for piece in pieces]
            return kept[0] if len(kept) == 1 else xr.concat(kept, self.over)

        found = []
        for one in self.reductions:
            values = [
                np.concatenate([arrays[signal.key] for _, arrays, _ in pieces]) if len(pieces) > 1
                else pieces[0][1][signal.key] for signal in one.signals
            ]  # fmt: skip
            found.append(one.summary(pieces[0][0], values, block))
        return found

    def _merged(self, a: list[Any], b: list[Any]) -> list[Any]:
        return [one.merge(mine, other) for one, mine, other in zip(self.reductions, a, b, strict=True)]

    def _insert(self, level: int, index: int, summaries: list[Any]) -> None:
        """Put in the summaries of a group of 2^level batches, and merge it with its neighbour if that is there."""
        while True:
            with self._lock:
                neighbour = self._nodes.pop((level, index ^ 1), None)
                if neighbour is None:
                    self._nodes[level, index] = summaries
                    return
            summaries = self._merged(*((neighbour, summaries) if index & 1 else (summaries, neighbour)))
            level, index = level + 1, index >> 1


@answering
def apply(ds: xr.Dataset, reduce: Reductions, *, block: int = 4096) -> xr.Dataset:
    """Reductions of the members of a Dataset, the same bits as of the run that kept them.

    Parameters
    ----------
    ds : xarray.Dataset
        With the dimension ``member``; may be larger than memory, opened from a store.
    reduce : list of Reduction, or mapping
        As for ``ph.ensemble``: reductions, or of each variable one word or several.
    block : int
        Members read at a time.

    Returns
    -------
    xarray.Dataset

    Raises
    ------
    InvalidInput
        No Dataset of members, a variable that is not in it, no reductions.
    UserFunctionError
        A function of the user failed.

    Examples
    --------
    >>> import xarray as xr
    >>> ds = xr.Dataset({"x": (("member", "time"), [[1.0, 2.0], [3.0, 6.0]])}, {"time": [0.0, 1.0]})
    >>> apply(ds, {"x": "mean"}).x_mean.values.tolist()
    [2.0, 4.0]
    """
    if not isinstance(ds, xr.Dataset) or not ds.sizes.get(MEMBER):
        raise InvalidInput(f"ds must be a Dataset with the dimension 'member', not {shown(ds)}")
    size, members = whole(block, "block", 1), int(ds.sizes[MEMBER])
    running = Running(reduce, members)
    for first in range(0, members, size):
        running.add(first, ds.isel({MEMBER: slice(first, first + size)}))
    return running.result()
