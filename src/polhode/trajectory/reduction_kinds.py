"""The kinds of reductions over members: what each keeps of a batch, how two groups merge, and what comes of it.

A reduction reads signals, variables of a block of members or what a function makes of them. ``summary`` describes the
members of a batch, ``merge`` two groups of members, ``result`` makes variables of the last summary.
``reductions`` makes reductions and runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from polhode.arguments import Array, Indices, function, text
from polhode.errors import InvalidInput, PolhodeError, UserFunctionError, shown, unknown_name
from polhode.lazy import xr
from polhode.trajectory import moments


class Sketch(NamedTuple):
    """Values of some members that stand for 1, 2, 4, ... members each, in a fixed memory.

    Up to ``2 size - 1`` members all are kept. Where two full sets of ``size`` values of one weight w meet, the sorted
    values are halved: every other one stays and stands for 2 w members, beginning with the first or the second by turns
    [munro1980] [manku1998]. A halving changes ranks by at most w, so among N members they are right to
    log2(N / size) / (2 size) of N. Nothing is random, and merging in the same order gives the same bits.
    """

    first: int  # number of the first member
    members: int  # how many there are, with those that have no value
    levels: dict[int, Array]  # of each weight, values (m, rows, ...); nan where there is none
    error: float  # bound of the error of ranks, in members


def sketches_merged(a: Sketch, b: Sketch, size: int) -> Sketch:
    """A sketch of two groups, ``b`` the one behind ``a``."""
    members, error = a.members + b.members, a.error + b.error
    levels: dict[int, Array] = {}
    for weight in sorted({*a.levels, *b.levels}):
        parts = [levels[weight]] if weight in levels else []
        parts += [part.levels[weight] for part in (a, b) if weight in part.levels]
        values = np.concatenate(parts) if len(parts) > 1 else parts[0]
        if len(values) < 2 * size:
            levels[weight] = values
            continue
        values = np.sort(values, axis=0)  # nan last
        pairs = len(values) // 2
        second = a.first // members % 2
        levels[2 * weight] = values[second : 2 * pairs : 2]
        if len(values) % 2:
            levels[weight] = values[-1:]
        error += weight
    return Sketch(a.first, members, levels, error)


def quantiles_of(sketch: Sketch, q: Sequence[float]) -> Array:
    """Quantiles (len(q), rows, ...), linear between neighbouring values as ``numpy.quantile``; nan without values."""
    values = np.concatenate([*sketch.levels.values()])
    weights = np.concatenate([np.full(len(part), float(w)) for w, part in sketch.levels.items()])
    columns = values.reshape(len(values), -1)
    out = np.full((len(q), columns.shape[1]), np.nan)
    for k in range(columns.shape[1]):
        there = np.isfinite(columns[:, k])
        if not there.any():
            continue
        order = np.argsort(columns[there, k], kind="stable")
        sizes = weights[there][order]
        total = sizes.sum()
        # Each value lies in the middle of the members it stands for; those are numbered from 0 to total - 1.
        ranks = np.cumsum(sizes) - 0.5 * (sizes + 1.0)
        out[:, k] = np.interp(np.multiply(q, total - 1.0), ranks, columns[there, k][order])
    return out.reshape(len(q), *values.shape[1:])


DIRECTIONS = {"any": (True, True), "rising": (True, False), "falling": (False, True)}
MEMBER, TIME, QUATERNION, OTHER = "member", "time", "quaternion", "other_"
NOUN = {MEMBER: "member", TIME: "row"}
"""Dimensions; the second one of a covariance is called as the first, with ``OTHER`` before it."""

Variables = dict[str, tuple[tuple[str, ...], Any, dict[str, Any]]]
"""Of each variable of a result its dimensions, values and attributes."""


class Signal:
    """A variable of a block, or what a function makes of the block."""

    def __init__(self, name: str, of: Callable[[Any], Any] | None) -> None:
        self.name, self.of = name, of
        self.key: object = name if of is None else (name, of)

    def read(self, block: xr.Dataset, over: str) -> xr.DataArray:
        """The values of a block, the axis of members or rows first."""
        if self.of is None:
            if self.name not in block:
                raise unknown_name("variable to reduce", self.name, map(str, block.data_vars))
            found = block[self.name]
            if over not in found.dims:
                raise InvalidInput(f"{self.name} is the same for all {NOUN[over]}s; there is nothing to reduce")
        else:
            found = called(self.of, f"the function of {self.name!r}", block)
            if over not in getattr(found, "dims", ()) or found.sizes[over] != block.sizes[over]:
                raise UserFunctionError(f"the function of {self.name!r} must return a DataArray with the dimension "
                                        f"{over!r} of its block, not {shown(found)}")  # fmt: skip
        return found if found.dims[0] == over else found.transpose(over, ...)


def called(of: Callable[..., Any], what: str, *given: object) -> Any:
    """What a user's function returns; its errors become polhode's."""
    try:
        return of(*given)
    except PolhodeError:
        raise
    except Exception as error:
        raise UserFunctionError(f"{what} failed: {type(error).__name__}: {error}") from error


class Shape:
    """What the values of a signal look like: dimensions behind members or rows, their coordinates, attributes."""

    def __init__(self, values: xr.DataArray) -> None:
        over, (self.dims, self.sizes) = str(values.dims[0]), self.of(values)
        self.noun = NOUN[over]
        self.coords = {
            str(name): coord.variable for name, coord in values.coords.items() if coord.dims and over not in coord.dims
        }
        units = values.attrs.get("units")
        self.attrs = {} if units is None else {"units": units}

    @staticmethod
    def of(values: xr.DataArray) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Dimensions and sizes behind members or rows."""
        return tuple(map(str, values.dims[1:])), tuple(map(int, values.shape[1:]))


class Reduction:
    """A reduction over members; made by the functions of this module.

    Attributes
    ----------
    name : str
        What the names of its variables begin with.
    """

    kind = ""

    def __init__(self, name: str, of: Callable[[Any], Any] | None, **options: Any) -> None:
        self.name = text(name, "name", 128)
        self.signals = [Signal(self.name, None if of is None else function(of, "of"))]
        self.options = options

    def check(self, shapes: Sequence[Shape]) -> None:
        """Refuse signals that the reduction makes nothing of."""

    def summary(self, first: int, values: Sequence[Array], block: Callable[[], xr.Dataset]) -> Any:
        """Of one batch: numbers of its first member, values (members, ...) of each signal, and its Dataset."""
        raise NotImplementedError

    def merge(self, a: Any, b: Any) -> Any:
        """Of two groups of members, ``b`` behind ``a``."""
        raise NotImplementedError

    def result(self, summary: Any, shapes: Sequence[Shape]) -> Variables:
        """Variables of the result."""
        raise NotImplementedError

    def coords(self) -> dict[str, Any]:
        """Coordinates of further dimensions of the result."""
        return {}

    def record(self) -> dict[str, Any]:
        """A description for JSON; of a function its name alone."""
        of = self.signals[0].of if self.signals else None
        how = {} if of is None else {"of": getattr(of, "__qualname__", "function")}
        return {self.kind: {"name": self.name, **how, **self.options}}


def _deviation(of: moments.Moments) -> Array:
    """Standard deviation, with n - 1; nan of fewer than two."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt(np.where(of.n > 1.0, of.products / (of.n - 1.0), np.nan))


class Moments(Reduction):
    """Mean, standard deviations or covariance."""

    def __init__(self, kind: str, name: str, of: Callable[[Any], Any] | None) -> None:
        super().__init__(name, of)
        self.kind, self.group, self.joint = kind, False, kind == "covariance"

    def check(self, shapes: Sequence[Shape]) -> None:
        dims = shapes[0].dims
        self.group = dims[-1:] == (QUATERNION,)
        if self.joint and (len(dims) < 1 or dims[-1] == TIME):
            raise InvalidInput(f"{self.name} is one number at each time and has no covariance; take std")

    def summary(self, first: int, values: Sequence[Array], block: object) -> moments.Moments:
        return moments.of_attitudes(values[0]) if self.group else moments.of_batch(values[0], self.joint)

    def merge(self, a: moments.Moments, b: moments.Moments) -> moments.Moments:
        return moments.merged_attitudes(a, b) if self.group else moments.merged(a, b, self.joint)

    def result(self, summary: moments.Moments, shapes: Sequence[Shape]) -> Variables:
        shape = shapes[0]
        dims, attrs, many = shape.dims, dict(shape.attrs), summary.n
        wide = many[..., None] if self.group or self.joint else many
        over = tuple(k for k in range(many.ndim) if dims[k] != TIME)
        present = many.min(axis=over, initial=np.inf) if many.size else many.sum(axis=over)
        found: Variables = {
            f"{self.name}_count": (
                tuple(dim for dim in dims if dim == TIME), present.astype(np.int64),
                {"meaning": f"{shape.noun}s with a finite value"},
            )
        }  # fmt: skip
        if self.kind == "mean":
            centre = summary.mean
            if self.group:  # of rows there is one mean, which nothing goes before
                centre = moments.continuous(centre) if TIME in dims else moments.continuous(centre[None])[0]
            return found | {f"{self.name}_mean": (dims, np.where(wide > 0, centre, np.nan), attrs)}
        with np.errstate(invalid="ignore", divide="ignore"):
            products = summary.products
            scale = np.where(many > 1, 1.0 / (many - 1.0), np.nan)
            if self.group or self.joint:
                scale = scale[..., None, None]
            variance = products * scale
        if self.group:
            dims, attrs = (*dims[:-1], "axis"), {"units": "rad", "of": "rotation vectors about the mean, body frame"}
        if self.kind == "std":
            spread = np.sqrt(np.diagonal(variance, axis1=-2, axis2=-1) if self.group else variance)
            return found | {f"{self.name}_std": (dims, spread, attrs)}
        if "units" in attrs:
            attrs["units"] = attrs["units"] if attrs["units"] in ("", "1") else f"({attrs['units']})2"
        return found | {f"{self.name}_covariance": ((*dims, OTHER + dims[-1]), variance, attrs)}

    def coords(self) -> dict[str, Any]:
        return {"axis": ["x", "y", "z"]} if self.group and self.kind != "mean" else {}


OF_MEMBERS = {"meaning": "number of the member, -1 for none"}


Worst = list[tuple[Array, Array]]
Crossed = tuple[Indices, Indices, moments.Moments]
Happened = tuple[float, float, moments.Moments, moments.Moments, Worst]


def extremes_of(first: int, values: Array) -> Worst:
    """Smallest and largest of values (members, ...), and the numbers of their members, the lowest of several."""
    found = []
    for worst, pick in ((np.inf, np.argmin), (-np.inf, np.argmax)):
        safe = np.where(np.isfinite(values), values, worst)
        at = np.expand_dims(pick(safe, axis=0), 0)
        extreme = np.take_along_axis(safe, at, axis=0)[0]
        found.append((extreme, np.where(np.isfinite(extreme), first + at[0], -1)))
    return found


def extremes_merged(a: Worst, b: Worst) -> Worst:
    found = []
    for (mine, whose), (other, others), better in zip(a, b, (np.less, np.greater), strict=True):
        won = better(other, mine)
        found.append((np.where(won, other, mine), np.where(won, others, whose)))
    return found


class Extremes(Reduction):
    """Smallest and largest values, and whose they are."""

    kind = "extremes"

    def summary(self, first: int, values: Sequence[Array], block: object) -> Worst:
        return extremes_of(first, values[0])

    def merge(self, a: Worst, b: Worst) -> Worst:
        return extremes_merged(a, b)

    def result(self, summary: Worst, shapes: Sequence[Shape]) -> Variables:
        dims, found = shapes[0].dims, Variables()
        for word, (values, whose) in zip(("min", "max"), summary, strict=True):
            found[f"{self.name}_{word}"] = dims, np.where(whose < 0, np.nan, values), shapes[0].attrs
            of = {"meaning": f"number of the {shapes[0].noun}, -1 for none"}
            found[f"{self.name}_{word}_{shapes[0].noun}"] = dims, whose, of
        return found


class Quantiles(Reduction):
    """Quantiles by a sketch."""

    kind = "quantiles"

    def check(self, shapes: Sequence[Shape]) -> None:
        if shapes[0].dims[-1:] == (QUATERNION,):
            raise InvalidInput(f"{self.name} are attitudes, which have no order and so no quantiles; take a function "
                               "of them, such as their angle from one attitude")  # fmt: skip

    def summary(self, first: int, values: Sequence[Array], block: object) -> Sketch:
        own = values[0]  # those that are not finite count for nothing
        return Sketch(first, len(own), {1: np.where(np.isfinite(own), own, np.nan)}, 0.0)

    def merge(self, a: Sketch, b: Sketch) -> Sketch:
        return sketches_merged(a, b, self.options["size"])

    def result(self, summary: Sketch, shapes: Sequence[Shape]) -> Variables:
        attrs = shapes[0].attrs | {"rank_error": summary.error / summary.members}
        values = quantiles_of(summary, self.options["q"])
        return {f"{self.name}_quantile": (("quantile", *shapes[0].dims), values, attrs)}

    def coords(self) -> dict[str, Any]:
        return {"quantile": list(self.options["q"])}


class Crossings(Reduction):
    """Counts and first times of crossings of a level."""

    kind = "crossings"

    def __init__(self, name: str, of: Callable[[Any], Any] | None, **options: Any) -> None:
        super().__init__(name, of, **options)
        self.signals.append(Signal("", lambda block: block[TIME].expand_dims({MEMBER: block.sizes[MEMBER]})))

    def check(self, shapes: Sequence[Shape]) -> None:
        if shapes[0].dims[:1] != (TIME,):
            raise InvalidInput(f"{self.name} does not depend on time and crosses no level")

    def summary(self, first: int, values: Sequence[Array], block: object) -> Crossed:
        x, times = values[0] - self.options["level"], values[1][0].reshape(-1, *[1] * (values[0].ndim - 2))
        rising, falling = DIRECTIONS[self.options["direction"]]
        before, after = x[:, :-1], x[:, 1:]
        with np.errstate(invalid="ignore"):
            crossed = ((before < 0.0) & (after >= 0.0) & rising) | ((before > 0.0) & (after <= 0.0) & falling)
            crossed &= np.isfinite(before) & np.isfinite(after)
            share = np.where(crossed, before / np.where(crossed, before - after, 1.0), 0.0)
        when = np.where(crossed, times[:-1] + share * np.diff(times, axis=0), np.inf)
        start = np.zeros((1, *x.shape[2:]), dtype=np.int64)
        counts = np.concatenate([start, crossed.sum(axis=0)])
        had = np.concatenate([start, np.logical_or.accumulate(crossed, axis=1).sum(axis=0)])
        backwards = bool(len(times) > 1 and times.ravel()[1] < times.ravel()[0])
        picked = np.where(np.isfinite(when), when, -np.inf if backwards else np.inf)
        empty = np.full(x[:, 0].shape, np.nan)
        first_time = (picked.max(axis=1) if backwards else picked.min(axis=1)) if x.shape[1] > 1 else empty
        first_time = np.where(np.isfinite(first_time), first_time, np.nan)
        return counts, had, moments.of_batch(first_time, False)

    def merge(self, a: Crossed, b: Crossed) -> Crossed:
        return a[0] + b[0], a[1] + b[1], moments.merged(a[2], b[2], False)

    def result(self, summary: Crossed, shapes: Sequence[Shape]) -> Variables:
        counts, had, times = summary
        dims, late = shapes[0].dims, shapes[0].dims[1:]
        unit = {"units": str(shapes[1].attrs["units"])} if "units" in shapes[1].attrs else {}
        about = {"level": self.options["level"], "direction": self.options["direction"]}
        mean = np.where(times.n > 0, times.mean, np.nan)
        return {
            f"{self.name}_crossings": (dims, np.cumsum(counts, axis=0), {"meaning": "crossings so far", **about}),
            f"{self.name}_crossed": (dims, had, {"meaning": "members that have crossed so far", **about}),
            f"{self.name}_first_crossing_mean": (late, mean, unit | about),
            f"{self.name}_first_crossing_std": (late, _deviation(times), unit | about),
        }


class Events(Reduction):
    """Counts and first times of the events of a kind."""

    kind = "events"

    def __init__(self, name: str) -> None:
        super().__init__(name, None)
        self.signals = [Signal(f"{name} events", self._numbers), Signal(f"{name} first", self._firsts)]

    def _times(self, block: xr.Dataset) -> xr.DataArray:
        """Times (members, events) of the events of the kind, nan elsewhere."""
        if "event_kind" not in block or "event_time" not in block:
            raise InvalidInput(f"there are no events to reduce; ask for events=[{self.name!r}]")
        return block["event_time"].where(block["event_kind"] == self.name).transpose(MEMBER, ...)

    def _numbers(self, block: xr.Dataset) -> xr.DataArray:
        times = self._times(block)
        return times.notnull().sum(str(times.dims[1]))

    def _firsts(self, block: xr.Dataset) -> xr.DataArray:
        times = self._times(block)
        there = np.isfinite(times.values)
        if there.shape[1]:  # events are in the order of the run, forward or backward in time
            begun = np.take_along_axis(times.values, np.argmax(there, axis=1)[:, None], axis=1)[:, 0]
        else:
            begun = np.full(len(there), np.nan)
        first = times.isel({times.dims[1]: 0}, drop=True) if there.shape[1] else times.sum(str(times.dims[1]))
        return first.copy(data=begun).assign_attrs(times.attrs)

    def record(self) -> dict[str, Any]:
        return {self.kind: self.name}

    def summary(self, first: int, values: Sequence[Array], block: object) -> Happened:
        many, begun = values
        counts, times = (moments.of_batch(part, False) for part in values)
        return many.sum(), (many > 0.0).sum(), counts, times, extremes_of(first, begun)

    def merge(self, a: Happened, b: Happened) -> Happened:
        counts, times = moments.merged(a[2], b[2], False), moments.merged(a[3], b[3], False)
        return a[0] + b[0], a[1] + b[1], counts, times, extremes_merged(a[4], b[4])

    def result(self, summary: Happened, shapes: Sequence[Shape]) -> Variables:
        total, members, many, begun, extremes = summary
        attrs = shapes[1].attrs
        found: Variables = {
            f"{self.name}_events": ((), int(total), {"meaning": "events of all members"}),
            f"{self.name}_members": ((), int(members), {"meaning": "members with at least one such event"}),
        }
        for word, of, units in (("events", many, dict[str, Any]()), ("first_time", begun, attrs)):
            found[f"{self.name}_{word}_mean"] = (), of.mean if of.n > 0 else np.nan, units
            found[f"{self.name}_{word}_std"] = (), _deviation(of), units
        for word, (value, whose) in zip(("min", "max"), extremes, strict=True):
            found[f"{self.name}_first_time_{word}"] = (), value if whose >= 0 else np.nan, attrs
            found[f"{self.name}_first_time_{word}_member"] = (), whose, OF_MEMBERS
        return found


class User(Reduction):
    """A user's functions."""

    kind = "user"

    def __init__(self, name: str, functions: Mapping[str, Callable[..., Any]]) -> None:
        super().__init__(name, None)
        self.signals, self.functions = [], functions

    def _call(self, which: str, *given: object) -> Any:
        return called(self.functions[which], f"{which} of the reduction {self.name!r}", *given)

    def summary(self, first: int, values: object, block: Callable[[], xr.Dataset]) -> Any:
        state = self._call("start")
        added = self._call("add", state, block())
        return state if added is None else added

    def merge(self, a: object, b: object) -> object:
        joined = self._call("merge", a, b)
        return a if joined is None else joined

    def result(self, summary: object, shapes: object) -> Variables:
        given = self._call("result", summary)
        found: Variables = {}
        for word, value in given.items() if isinstance(given, Mapping) else [("", given)]:
            name = f"{self.name}_{word}" if word else self.name
            if hasattr(value, "dims"):
                found[name] = tuple(value.dims), value.values, dict(value.attrs)
            else:
                try:
                    plain = np.asarray(value)
                except Exception:  # whatever an object raises
                    plain = np.asarray(None)
                if plain.dtype.kind not in "biufUS":
                    raise UserFunctionError(f"result of the reduction {self.name!r} must be numbers, a DataArray or a "
                                            f"mapping of them, not {shown(value)}")  # fmt: skip
                found[name] = tuple(f"{name}_{k}" for k in range(plain.ndim)), plain, {}
        return found
