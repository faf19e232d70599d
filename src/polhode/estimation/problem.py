"""The least-squares problem of a fit: whitened residuals of all data and their exact Jacobian, from one run with its
``state_transition``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np

from polhode.arguments import UNKNOWN, Array, Indices, array, mapping
from polhode.errors import InvalidInput, StepFailed, unknown_name, unwarned
from polhode.estimation import bodies, inertias
from polhode.estimation.bodies import blocks_of, body_of, does, heft_by, heft_of, key_of, start_words
from polhode.estimation.measurements import Measurement, in_range, inverse_cholesky
from polhode.estimation.models import SEEN, Rows, residual_among, whitened
from polhode.estimation.observability import Directions, directions
from polhode.estimation.quantities import Quantity
from polhode.lazy import xr
from polhode.methods import Method, MethodSpec
from polhode.runs.integrate import integrate
from polhode.runs.parameters import system_with
from polhode.runs.steps import Tolerance
from polhode.runs.tangent.columns import state_names, wheels_by_momentum
from polhode.systems import System

BEYOND = 1e-9  # part of a step by which the last measurement may lie beyond a grid point without another step


SQUARED = 1e140  # most that residuals, slopes and covariances may be, so that sums of their products are numbers


@contextmanager
def numbers_in_range(what: str) -> Iterator[None]:
    """Have arithmetic that leaves the range of numbers end in one sentence, without warnings on the way."""
    try:
        with np.errstate(all="ignore"):
            yield
    except np.linalg.LinAlgError:
        raise out_of_range(what) from None


def out_of_range(what: str) -> InvalidInput:
    """The error of numbers that are too large, or too far apart, to be computed with."""
    return InvalidInput(f"{what} has numbers too large, or of sizes too far apart, to compute with; check the units of "
                        "data, noise, prior and guess, and leave out rows that are far off")  # fmt: skip


def checked(what: str, *arrays: Array) -> None:
    """Refuse numbers that are not finite, or too large to be squared."""
    if not all((np.abs(a) < SQUARED).all() for a in arrays):
        raise out_of_range(what)


@dataclass(frozen=True, eq=False)
class RunWords:
    """How the runs of a fit are made: the words of ``polhode.integrate``."""

    method: str | Method | MethodSpec | None  # the integrator
    step: Any  # its step
    steps: Tolerance | None  # in the place of a step
    t0: float  # start time
    more: dict[str, Any] = field(default_factory=dict)  # settings, options of the method, breaks

    def span(self, last: float) -> dict[str, Any]:
        """The words that take a run from its start to a time, or to the first grid point beyond."""
        if isinstance(self.steps, Tolerance):
            return {"steps": self.steps, "t_end": last}
        count = (last - self.t0) / self.step - BEYOND
        if not count < 2.0**53:
            raise InvalidInput(
                f"step is {self.step:g}, of which the times of the data take {count:.1e}; take a larger one"
            )
        return {"step": self.step, "steps": max(1, ceil(count))}


@dataclass(frozen=True, eq=False)
class Point:
    """The problem at one set of numbers: the system, its initial values, and what they mean."""

    system: System
    start: dict[str, Any]
    values: dict[str, Array]
    inputs: Array  # derivative of the initial state and the parameters by the numbers
    by_mass: Array
    by_inertia: Array  # derivatives of masses (N, n) and inertias (N, n, 3, 3) by the numbers


@dataclass(frozen=True, eq=False)
class Linearisation:
    """Whitened residuals (m,), predicted minus measured, and their Jacobian (m, n) by the numbers."""

    f: Array
    J: Array
    residuals: list[Array]


class Seen:
    """A system, measurements of it, and what is free: the linear parts that fits and filters have in common."""

    def __init__(
        self, system: System, measurements: Sequence[Measurement], free: Sequence[Quantity], words: RunWords,
        first: int = 0,
    ) -> None:  # fmt: skip
        self.system, self.measurements, self.free, self.words = system, list(measurements), list(free), words
        self.blocks = blocks_of(system)
        self.rows = [label for one in self.blocks for label in one.labels(system.N > 1)]
        ends = [int(end) for end in first + np.cumsum([0, *(one.size for one in self.free)])]
        self.slices, self.n = [slice(a, b) for a, b in pairwise(ends)], ends[-1]
        self.labels = [label for one in self.free for label in one.labels]
        self.of_system = [one for one in self.free if one.kind in ("parameter", "inertia")]
        self.paths = [one.name for one in self.of_system]
        self.columns = [label for one in self.of_system for label in one.labels]
        self.of = {one.name: bodies_of(system, one) for one in self.measurements}
        # names of parameters with which masses or inertias change
        self.heavy = {one.name for one in self.free if one.kind == "parameter"
                      and any(by.any() for by in heft_by(system, one.name, one.size))}  # fmt: skip
        self.times = np.unique(np.concatenate([one.times for one in self.measurements]))

    def system_with(self, values: Mapping[str, Array]) -> System:
        """The system with these values of its parameters."""
        changes = {one.name: float(values[one.name][0]) if one.scalar else values[one.name] for one in self.of_system}
        return system_with(self.system, changes, "free")

    def heft_by(self, system: System, x: Array | None = None) -> tuple[Array, Array]:
        """Derivatives of masses (N, n) and inertias (N, n, 3, 3) by the errors of what is free, or by the numbers x."""
        by_mass, by_inertia = np.zeros((system.N, self.n)), np.zeros((system.N, self.n, 3, 3))
        for one, at in zip(self.free, self.slices, strict=True):
            if one.kind == "inertia":
                slope = np.eye(one.size) if x is None else one.jacobian(x[at])
                by_inertia[one.body, at] = np.einsum("kl,kij->lij", slope, inertias.units(one.size))
            elif one.name in self.heavy:
                by_mass[:, at], by_inertia[:, at] = heft_by(system, one.name, one.size)
        return by_mass, by_inertia

    def transition(self, ds: xr.Dataset) -> Array:
        """Derivatives (times, rows, rows and columns) of the state along a run."""
        order = [list(ds["row"].values).index(name) for name in self.rows]
        columns = [list(ds["column"].values).index(name) for name in (*self.rows, *self.columns)]
        return np.asarray(ds["state_transition"].values[:, order][:, :, columns])

    def linear(
        self, one: Measurement, rows: Sequence[Rows], index: Indices, transition: Array, values: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        """Residual (n, r) of a measurement, and the derivative (n, r, k) of what is predicted, from that of the state
        (times, rows, k), and from what does not come from the motion: biases, the inertia of a gyro."""
        residual, parts = residual_among(one, self.of[one.name], rows, index)
        slope = np.zeros((*residual.shape, transition.shape[-1]))
        for body, by in parts:
            for k, block in enumerate(self.blocks):
                if block.body == body and block.name in by:
                    slope += by[block.name] @ transition[index, 3 * k : 3 * k + 3]
            if "direct" in by:
                slope[:, :, : by["direct"].shape[-1]] += by["direct"]
        for quantity, at in zip(self.free, self.slices, strict=True):
            if quantity.name == f"{one.name}.bias":
                residual = residual - values[quantity.name]
                slope[:, :, at] += np.eye(quantity.size)
        return residual, slope


class Problem(Seen):
    """Residuals and Jacobian as functions of the numbers of all free quantities."""

    def __init__(
        self, system: System, measurements: Sequence[Measurement], free: Sequence[Quantity], guess: Mapping[str, Any],
        words: RunWords, prior: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(system, measurements, free, words)
        self.guess = dict(guess)
        self.start = np.concatenate([one.start for one in self.free])
        self.wheels = [name for name in state_names(system)[len(self.rows) :]] if system.wheels_at >= 0 else []
        self.columns += self.wheels  # their momenta at the start follow from the angular velocity
        self.indices = {one.name: np.searchsorted(self.times, one.times) for one in self.measurements}
        self.prior = priors(prior, self.free)
        bounded = [np.ones(3) if one.kind == "attitude" else inertias.stride(one.guess) if one.kind == "inertia"
                   else np.full(one.size, np.inf) for one in self.free]  # fmt: skip
        self.stride = np.concatenate(bounded)
        self.noise, self.suspicious, self.calls = 1.0, False, 0
        self._last: tuple[Any, Linearisation] | None = None

    # -------------------------------------------------------------- the run
    def point(self, x: Array) -> Point:
        """The system and the initial values at the numbers x."""
        values = {one.name: one.value(x[at]) for one, at in zip(self.free, self.slices, strict=True)}
        system = self.system_with(values)
        start = self.guess | {name: value for name, value in values.items() if name in self.guess}
        by_mass, by_inertia = self.heft_by(system, x)
        return Point(system, start, values, self._inputs(x, system, start, by_mass, by_inertia), by_mass, by_inertia)

    def _inputs(self, x: Array, system: System, start: Mapping[str, Any], by_mass: Array, by_inertia: Array) -> Array:
        D = len(self.rows)
        inputs = np.zeros((D + len(self.columns), len(x)))
        at_block = {(one.name, one.body): slice(3 * k, 3 * k + 3) for k, one in enumerate(self.blocks)}
        at_column = {name: D + k for k, name in enumerate(self.columns)}
        for one, at in zip(self.free, self.slices, strict=True):
            if one.kind == "attitude":
                inputs[at_block["rotation", one.body], at] = one.jacobian(x[at])
            elif one.word in bodies.RATES:
                block = bodies.RATES[one.word]
                inputs[at_block[block, one.body], at] = heft_of(system, one.body, block)
            elif one.kind == "state":
                inputs[at_block[one.word, one.body], at] = np.eye(3)
            elif one.kind in ("parameter", "inertia"):
                inputs[[at_column[label] for label in one.labels], at] = one.jacobian(x[at])
        for (name, i), at in at_block.items():  # momenta follow from rates that are held
            if name == "angular_momentum" and (rate := start.get(key_of(system, i, "angular_velocity"))) is not None:
                inputs[at] += np.einsum("nij,j->in", by_inertia[i], rate)
            elif name == "momentum" and (rate := start.get(key_of(system, i, "velocity"))) is not None:
                inputs[at] += np.outer(rate, by_mass[i])
        if self.wheels:
            by_momentum = wheels_by_momentum(system)
            inputs[[at_column[name] for name in self.wheels]] = sum(
                by_momentum[:, i] @ bodies.matrix_of(system, i).T @ inputs[at]
                for (name, i), at in at_block.items() if name == "angular_momentum"
            )  # fmt: skip
        return inputs

    def run(
        self, point: Point, state: Mapping[str, Any] | None = None, time: float | None = None, *, tangent: bool = True,
        **words: Any,
    ) -> xr.Dataset:  # fmt: skip
        """A run at a point, from its start or a state, at the times of the data unless told otherwise."""
        self.calls += 1
        told: dict[str, Any] = {"t_eval": self.times, **self.words.span(float(self.times[-1]))} | words
        if tangent:
            told["tangent"] = self.paths or "state"
        begun = start_words(point.system, point.start if state is None else state)
        start = {"time": self.words.t0 if time is None else time, **begun}
        return integrate(point.system, self.words.method, start=start, **told, **self.words.more)

    def evaluate(self, x: Array) -> Linearisation:
        """Residuals and Jacobian at the numbers x; those of the last call are kept."""
        if self._last is not None and np.array_equal(self._last[0], x):
            return self._last[1]
        point = self.point(x)
        with unwarned():
            ds = self.run(point)
        found = self.linearised(ds, point, x)
        self._last = (np.array(x), found)
        return found

    def linearised(self, ds: xr.Dataset, point: Point, x: Array, priors: bool = True) -> Linearisation:
        """Residuals and Jacobian from a run with its state transition; those of priors on demand."""
        rows, transition = rows_of(ds, point), self.transition(ds) @ point.inputs
        whole, f, J, raw = ds.sizes["time"] == len(self.times), [], [], []
        for one in self.measurements:
            index = self.indices[one.name] if whole else np.searchsorted(ds["time"].values, one.times)
            residual, slope = self.linear(one, rows, index, transition, point.values)
            raw.append(residual)
            f.append(-whitened(one, residual).ravel())
            J.append(whitened(one, slope).reshape(-1, len(x)))
            checked(one.name, f[-1], J[-1])
        for k, factor in self.prior if priors else ():
            quantity, at = self.free[k], self.slices[k]
            slope = np.zeros((quantity.size, len(x)))
            slope[:, at] = np.eye(3) if quantity.kind == "attitude" else quantity.jacobian(x[at])
            f.append(factor @ quantity.offset(x[at]))
            J.append(factor @ slope)
            checked(f"prior of {quantity.name}", f[-1], J[-1])
        return Linearisation(np.concatenate(f), np.concatenate(J), raw)

    def of_data(self, inside: Callable[[Any], Any]) -> Problem | None:
        """The same of some of the data only, those at whose times a function is true; None where there are none."""
        chosen = [(one, np.flatnonzero(inside(one.times))) for one in self.measurements]
        some = [one.part(index) for one, index in chosen if index.size]
        if not some:
            return None
        made = Problem(self.system, some, self.free, self.guess, self.words)
        made.prior, made.noise = self.prior, self.noise
        return made

    def within(self, end: float) -> Problem | None:
        """The same of the data up to a time."""
        return self.of_data(lambda t: t <= end)

    def reported(self, x: Array) -> Array:
        """Derivative (n, n) of the errors of the values by the numbers x."""
        out = np.zeros((len(x), len(x)))
        for one, at in zip(self.free, self.slices, strict=True):
            out[at, at] = one.jacobian(x[at])
        return out

    def reach(self, x: Array) -> Array:
        """Errors (n,) at which nothing is known of a value any more: a radian, a moment of inertia itself, others of a
        thousand times their size, where they have one, and ten times the size of an orbit."""
        found = []
        for one, at in zip(self.free, self.slices, strict=True):
            if one.kind in ("attitude", "inertia"):
                found.append(np.ones(3) if one.kind == "attitude" else inertias.size(one.value(x[at])))
            else:
                often = 10.0 if one.word in bodies.MOVING and "central_gravity" in self.system.provides else 1e3
                found.append(np.full(one.size, often * np.linalg.norm(one.guess) or np.inf))
        return np.concatenate(found)

    def directions(self, x: Array, factors: Array | float = 1.0) -> Directions:
        """What the data determine at the numbers x; ``factors`` (m, 1) weigh the residuals."""
        return directions(self.evaluate(x).J * factors @ np.linalg.inv(self.reported(x)), self.reach(x), self.noise)

    def failing(self, x: Array) -> Linearisation | None:
        """As ``evaluate``, but None where the run fails or the numbers make no system."""
        try:
            return self.evaluate(x)
        except (StepFailed, InvalidInput, FloatingPointError):
            return None


def rows_of(ds: xr.Dataset, point: Point) -> list[Rows]:
    """The states of each body in a run from a point."""
    return [rows_at(point.system, i, {word: ds[word].values[:, i] if point.system.N > 1 else ds[word].values
                                      for word in SEEN if word in ds}, point.by_mass[i], point.by_inertia[i])
            for i in range(point.system.N)]  # fmt: skip


def rows_at(system: System, body: int, seen: Mapping[str, Array], by_mass: Array, by_inertia: Array) -> Rows:
    """States of a body from what is seen of it, with the derivatives of its mass and its inertia."""
    here = {word: seen[word] if does(system, body, word) else None for word in SEEN}
    return Rows(
        **here, inverse_inertia=bodies.inverse_of(system, body) if does(system, body, "attitude") else None,
        mass=float(system.mass[body]) if does(system, body, "position") else None, by_mass=by_mass,
        by_inertia=by_inertia,
    )  # fmt: skip


def bodies_of(system: System, one: Measurement) -> tuple[int, int | None]:
    """The body that a measurement is of, and the one that it is seen from, if one is."""
    body = body_of(system, one.body, one.name)
    station = body_of(system, one.station, one.name) if one.station else None
    if station == body:
        raise InvalidInput(f"{one.name} is the distance of a body from itself; name another as its station")
    return body, station


def priors(given: Mapping[str, Any] | None, free: Sequence[Quantity]) -> list[tuple[int, Array]]:
    """Which quantities have a prior, and what whitens their errors."""
    found = []
    for name, sigma in mapping({} if given is None else given, "prior").items():
        k = next((k for k, one in enumerate(free) if one.name == name or one.name.endswith(f".{name}")), None)
        if k is None:
            raise unknown_name("name in prior", name, [one.name for one in free])
        found.append((k, factor_of(sigma, free[k].size, f"prior of {name}")))
    return found


def factor_of(sigma: Array | float, size: int, name: str) -> Array:
    """Inverse Cholesky factor (k, k) from a standard deviation, one for each number, or a covariance."""
    given = array(sigma, name, UNKNOWN)
    if given.shape == (size, size) and size > 1:
        return inverse_cholesky(given, name)
    if given.shape not in ((), (1,), (size,)):
        raise InvalidInput(f"{name} has shape {given.shape}; give a standard deviation, or {size} of them")
    in_range(given, name)
    return np.diag(1.0 / np.broadcast_to(given, (size,)))
