"""The extended Kalman filter with errors on the group, and its smoother.

The error of an attitude is a rotation vector in the body frame, multiplied onto the estimate from the right
[lefferts1982]; those of the other numbers are differences. Between data the covariance goes along the exact derivative
of the numerical motion; the smoother is that of [rauch1965] on these errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array, ArrayLike, mapping, number, truth
from polhode.errors import InvalidInput, answering, unknown_name, unwarned
from polhode.estimation import bodies
from polhode.estimation.batch import check_times, run_words
from polhode.estimation.bodies import STATE, blocks_of, does, heft_of, inverse_of, key_of, start_words
from polhode.estimation.data import read, with_noise
from polhode.estimation.guesses import guess_of
from polhode.estimation.measurements import Measurement
from polhode.estimation.models import Rows, right_jacobian, whitened
from polhode.estimation.problem import BEYOND, RunWords, Seen, checked, factor_of, numbers_in_range, rows_at
from polhode.estimation.quantities import Quantity, list_of_names, quantities
from polhode.estimation.solve import difference, moved
from polhode.lazy import xr
from polhode.methods import MethodSpec
from polhode.runs.integrate import integrate
from polhode.runs.settings import Settings
from polhode.runs.state import STATE_WORDS, Start
from polhode.systems import System
from polhode.systems.record import present_system

USERS = {"rotation": ("attitude",), "angular_momentum": ("angular_velocity", "angular_momentum"),
         "position": ("position",), "momentum": ("velocity", "momentum")}  # fmt: skip
"""What users call the blocks of a state; of a rate and a momentum either one."""
RUN = "run"  # key of a state: the last row of the run to it, where loads read states of their own


@answering
@numbers_in_range("the filter")
def kalman(
    system: System,
    data: Any,
    method: str | MethodSpec | None = None,
    *,
    prior: Mapping[str, Any],
    process_noise: Mapping[str, Any] | None = None,
    free: Sequence[str] = (),
    noise: Mapping[str, Any] | float | None = None,
    step: float | None = None,
    start: Start = None,
    attitude: ArrayLike | None = None,
    angular_velocity: ArrayLike | None = None,
    angular_momentum: ArrayLike | None = None,
    position: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    momentum: ArrayLike | None = None,
    smooth: bool = False,
    gate: float | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    **options: Any,
) -> xr.Dataset:
    """Estimate the state of bodies, and parameters, from one datum after the other: extended Kalman filter.

    Parameters
    ----------
    system : System
        What moves.
    data : list of Measurement, mapping, xarray.Dataset, pandas.DataFrame or path
        As for ``polhode.fit``.
    method, step, settings, **options
        As for ``polhode.integrate``; between data the run takes steps of at most ``step``, all of one size.
    prior : mapping
        Standard deviations, or covariances, of the first guess: of ``attitude`` (rotation vector in the body frame,
        rad), ``angular_velocity`` or ``angular_momentum``, ``position``, ``velocity`` or ``momentum``, as many as the
        body has (of several ``a.attitude`` and so on), and of everything in ``free``.
    process_noise : mapping, optional
        White noise of the motion, by the same names: standard deviation that a number gathers in the square root of a
        unit of time. ``{"angular_velocity": 1e-4}`` is a random torque, ``{"gyro.bias": 1e-5}`` a bias that wanders.
    free : list of str, optional
        Parameters and biases that are estimated with the state, as for ``polhode.fit``.
    noise : mapping, float or array_like, optional
        As for ``polhode.fit``; every instrument needs one.
    start, attitude, angular_velocity, angular_momentum, position, velocity, momentum
        First guess, as for ``polhode.fit``.
    smooth : bool, optional
        Use later data, too: each row is then the estimate from all data.
    gate : float, optional
        Data whose residual is larger than this many standard deviations of its prediction are left out.

    Returns
    -------
    xarray.Dataset
        A row for each time at which something was measured, after the data of that time: ``attitude``,
        ``angular_velocity``, ``angular_momentum``, ``position``, ``velocity``, ``momentum``, those that the body has;
        free quantities by name; ``covariance`` (time, row, row) and ``std`` (time, row) of the errors, rows as in
        ``state_transition``, then what is free. ``innovation_squared`` is the square of the residuals of that
        time over their covariance, on average ``innovation_count`` where prior and noises are right; ``rejected``
        counts the data left out.

    Raises
    ------
    InvalidInput
        Data or names that are wrong; a prior that is missing.
    PolhodeError
        A run between two data fails.

    See Also
    --------
    polhode.fit : one motion and its parameters from all data at once.

    Examples
    --------
    >>> import polhode as ph
    >>> body, prior = ph.free_body((1, 2, 2.5)), {"attitude": 0.1, "angular_velocity": 0.1}
    >>> truth = ph.integrate(body, step=0.1, steps=100, angular_velocity=(0.2, 1, 0.1))
    >>> tracker = ph.estimation.attitude(truth.time, truth.attitude, sigma=1e-3)
    >>> ds = ph.estimation.kalman(body, [tracker], prior=prior, step=0.1, angular_velocity=(0.2, 0.95, 0.1))
    >>> bool(abs(ds.angular_velocity[-1] - truth.angular_velocity[-1]).max() < 1e-3)
    True
    """
    said = {name: value for name, value in locals().items() if name in STATE_WORDS}
    system = present_system(system)
    measurements = with_noise(read(data), noise)
    lacking = next((one.name for one in measurements if one.whitening is None), None)
    if lacking is not None:
        raise InvalidInput(f"noise of {lacking} is missing; give noise={{{lacking!r}: ...}}, its standard deviation")
    guess, t0 = guess_of(system, start, said, None, measurements)
    check_times(measurements, t0, None)
    none = isinstance(free, Sequence) and not isinstance(free, str) and not free
    more = [] if none else quantities(system, list_of_names(free), guess, measurements)
    for one in more:
        if one.kind in ("attitude", "state"):
            raise InvalidInput(f"free has {one.name}, which a filter estimates anyway; leave it out")
    words = run_words(system, method, step, None, t0, measurements, settings, options)
    if gate is not None:
        number(gate, "gate", positive=True)
    filtered = Filter(system, measurements, more, words)
    state, P = filtered.begin(guess, mapping(prior, "prior"))
    noises = mapping({} if process_noise is None else process_noise, "process_noise")
    rates = filtered.covariance_of(noises, "process_noise")
    rows = filtered.run(state, P, rates, gate)
    if truth(smooth, "smooth"):
        filtered.smooth(rows)
    return filtered.dataset(rows)


@dataclass(eq=False)
class Row:
    """The filter at one time."""

    time: float  # when
    predicted: dict[str, Array]  # predicted, state: the state before and after the data
    before: Array  # before, P: (n, n): covariance before and after
    to_here: Array  # (n, n): derivative of the state before the data by that after the data of the row before
    state: dict[str, Array]
    P: Array
    squared: float = 0.0  # squared, count, rejected: normalised innovation squared, its numbers, data left out
    count: int = 0
    rejected: int = 0

    @property
    def numbers(self) -> list[Array]:
        """State and covariance."""
        return [self.P, *(value for name, value in self.state.items() if name != RUN)]


class Filter(Seen):
    """Prediction and update. A state is a mapping of attitude, momenta, position, and the numbers that a solver of the
    free quantities would change."""

    def __init__(
        self, system: System, measurements: Sequence[Measurement], free: Sequence[Quantity], words: RunWords
    ) -> None:
        super().__init__(system, measurements, free, words, 3 * len(blocks_of(system)))
        self.D = len(self.rows)
        self.has_states = system.read_from < len(system.auxiliary)
        self.places = [k for one, at in zip(self.free, self.slices, strict=True) if one in self.of_system
                       for k in range(at.start, at.stop)]  # fmt: skip

    # -------------------------------------------------------------- what is given
    def begin(self, guess: Mapping[str, Any], prior: Mapping[str, Any]) -> tuple[dict[str, Array], Array]:
        """The first state and its covariance."""
        state: dict[str, Any] = {one.name: one.start for one in self.free}
        for one in self.blocks:
            rate = {"angular_momentum": "angular_velocity", "momentum": "velocity"}.get(one.name, "")
            value = guess.get(one.key)
            if value is None:
                value = heft_of(self.system, one.body, one.name) @ guess[key_of(self.system, one.body, rate)]
            state[one.key] = value
        P = self.covariance_of(prior, "prior")
        named = [(slice(3 * k, 3 * k + 3), key_of(self.system, one.body, USERS[one.name][0]))
                 for k, one in enumerate(self.blocks)]  # fmt: skip
        for at, name in [*named, *((at, one.name) for at, one in zip(self.slices, self.free, strict=True))]:
            if not P[at, at].any():
                raise InvalidInput(f"prior has no {name}; give the standard deviation of its guess")
        return state, P

    def covariance_of(self, given: Mapping[str, Any], what: str) -> Array:
        """Covariance (n, n) from standard deviations or covariances by name."""
        places: dict[str, tuple[slice, Any]] = {}
        for k, one in enumerate(self.blocks):
            for word in USERS[one.name]:
                to_block = heft_of(self.system, one.body, one.name) if word in bodies.RATES else np.eye(3)
                places[key_of(self.system, one.body, word)] = (slice(3 * k, 3 * k + 3), to_block)
        for at, quantity in zip(self.slices, self.free, strict=True):
            places[quantity.name] = (at, np.eye(quantity.size))
        full = {name: name for name in places} | {
            one.name.rpartition(".")[2]: one.name for one in self.free if one.kind == "parameter"
        }
        C = np.zeros((self.n, self.n))
        for name, sigma in given.items():
            if name not in full:
                raise unknown_name(f"name in {what}", name, list(places))
            at, T = places[full[name]]
            if C[at, at].any():
                raise InvalidInput(f"{what} has {name} in two forms; keep one of them")
            half = T @ np.linalg.inv(factor_of(sigma, at.stop - at.start, f"{what} of {name}"))
            C[at, at] = half @ half.T
        return C

    # -------------------------------------------------------------- the filter
    def moved(self, state: Mapping[str, Array], error: Array) -> dict[str, Array]:
        """A state moved by an error (n,)."""
        out = moved(state, error[: self.D], self.blocks)
        for one, at in zip(self.free, self.slices, strict=True):
            out[one.name] = state[one.name] + np.linalg.solve(one.jacobian(state[one.name]), error[at])
        return out | {name: state[name] for name in (RUN,) if name in state}

    def difference(self, state: Mapping[str, Array], other: Mapping[str, Array]) -> Array:
        """The error (n,) that takes ``other`` to ``state``."""
        parts = [difference(state, other, self.blocks)]
        parts += [one.flat(one.value(state[one.name])) - one.flat(one.value(other[one.name])) for one in self.free]
        return np.concatenate(parts)

    def system_at(self, state: Mapping[str, Any]) -> System:
        """The system with the parameters of a state."""
        return self.system_with({one.name: one.value(state[one.name]) for one in self.of_system})

    def predict(self, state: dict[str, Any], t: float, to: float) -> tuple[dict[str, Array], Array]:
        """The state at a later time, and the derivative (n, n) of its error by that now."""
        by = np.eye(self.n)
        if to == t:
            return dict(state), by
        count = max(1, ceil((to - t) / self.words.step - BEYOND))
        system = self.system_at(state)
        begun = {"time": t, **start_words(system, {one.key: state[one.key] for one in self.blocks})}
        if self.has_states and RUN in state:  # loads read states of their own, such as momenta of wheels
            last = state[RUN]
            begun = last.assign({name: (last[name].dims, begun[name][None]) for name in begun if name != "time"})
        with unwarned():
            ds = integrate(
                system, self.words.method, step=(to - t) / count, steps=count, every=count,
                start=begun, tangent=self.paths or "state", **self.words.more,
            )  # fmt: skip
        by[: self.D, [*range(self.D), *self.places]] = self.transition(ds)[-1]
        after = bodies.values_of(ds, self.blocks, -1)
        return {**state, **after, **({RUN: ds.isel(time=[-1])} if self.has_states else {})}, by

    def update(self, row: Row, chosen: Sequence[tuple[Measurement, Any]], gate: float | None) -> None:
        """Take the data of one time into a row."""
        state, P = row.predicted, row.before
        rows = self.rows_at(state)
        residuals, slopes = [], []
        for one, index in chosen:
            residual, H = self.seen(one.part(index), rows, state)
            keep = np.ones(len(index), dtype=bool)
            for k in range(len(index)):
                S = H[k] @ P @ H[k].T + np.eye(len(residual[k]))
                away = float(residual[k] @ np.linalg.solve(S, residual[k])) / len(residual[k])
                keep[k] = gate is None or away <= gate * gate
            row.rejected += int((~keep).sum())
            residuals.append(residual[keep].ravel())
            slopes.append(H[keep].reshape(-1, self.n))
        r, H = np.concatenate(residuals), np.concatenate(slopes)
        checked(f"the filter at t = {row.time:g}", r, H @ P @ H.T)
        row.state, row.P, row.count = dict(state), P, len(r)
        if not len(r):
            return
        S = H @ P @ H.T + np.eye(len(r))
        gain = np.linalg.solve(S, H @ P).T
        row.squared = float(r @ np.linalg.solve(S, r))
        error = gain @ r
        left = np.eye(self.n) - gain @ H
        P = left @ P @ left.T + gain @ gain.T
        reset = np.eye(self.n)
        for k, block in enumerate(self.blocks):
            if block.name == "rotation":
                at = slice(3 * k, 3 * k + 3)
                reset[at, at] = right_jacobian(error[at])
        P = reset @ P @ reset.T
        row.state, row.P = self.moved(state, error), 0.5 * (P + P.T)

    def rows_at(self, state: Mapping[str, Any]) -> list[Rows]:
        """What measurements see of each body in a state: rows of one."""
        system = self.system_at(state)
        by_mass, by_inertia = self.heft_by(system)
        return [rows_at(system, i, self._seen(system, state, i), by_mass[i], by_inertia[i]) for i in range(system.N)]

    def _rates(self, system: System, momenta: Array, rate: str) -> Array:
        """Rates (N, 3) of all bodies from their momenta; zero of those that lack them."""
        found = np.zeros((system.N, 3))
        for i, momentum in enumerate(momenta.reshape(system.N, 3)):
            if does(system, i, rate):
                over = inverse_of(system, i) if rate == "angular_velocity" else np.eye(3) / float(system.mass[i])
                found[i] = over @ momentum
        return found

    def _seen(self, system: System, state: Mapping[str, Any], body: int) -> dict[str, Array]:
        """What measurements see of a body in a state: arrays of one row."""
        found: dict[str, Any] = {STATE[one.name]: state[one.key] for one in self.blocks if one.body == body}
        if "momentum" in found:
            found["velocity"] = found["momentum"] / float(system.mass[body])
        if "angular_momentum" in found:
            found["angular_velocity"] = inverse_of(system, body) @ found["angular_momentum"]
        return {word: np.asarray(value)[None] for word, value in found.items()}

    def seen(self, part: Measurement, rows: Sequence[Rows], state: Mapping[str, Any]) -> tuple[Array, Array]:
        """Whitened residuals (k, r), measured minus predicted, and slopes (k, r, n) of the prediction."""
        now = np.zeros(len(part.times), dtype=int)
        residual, H = self.linear(part, rows, now, np.eye(self.D, self.n)[None], state)
        return whitened(part, residual), whitened(part, H)

    def run(self, state: dict[str, Array], P: Array, rates: Array, gate: float | None) -> list[Row]:
        """All rows, one after the other."""
        found: list[Row] = []
        now = self.words.t0
        for t in map(float, self.times):
            state, by = self.predict(state, now, t)
            gathered = 0.5 * (t - now) * (rates + by @ rates @ by.T)
            before = by @ P @ by.T + gathered
            row = Row(t, state, 0.5 * (before + before.T), by, state, before)
            chosen = [(one, np.flatnonzero(one.times == t)) for one in self.measurements]
            checked(f"the filter at t = {t:g}", *row.numbers)
            self.update(row, [(one, index) for one, index in chosen if index.size], gate)
            checked(f"the filter at t = {t:g}", *row.numbers)
            found.append(row)
            state, P, now = row.state, row.P, t
        return found

    def smooth(self, rows: list[Row]) -> None:
        """Change states and covariances to those from all data [rauch1965]."""
        for row, after in zip(rows[-2::-1], rows[:0:-1], strict=True):
            gain = np.linalg.lstsq(after.before, after.to_here @ row.P, rcond=1e-14)[0].T
            error = gain @ self.difference(after.state, after.predicted)
            P = row.P + gain @ (after.P - after.before) @ gain.T
            row.state, row.P = self.moved(row.state, error), 0.5 * (P + P.T)
            checked(f"the smoother at t = {row.time:g}", *row.numbers)

    # -------------------------------------------------------------- the result
    def dataset(self, rows: list[Row]) -> xr.Dataset:
        """The estimates of all rows."""
        several = ("body",) * (self.system.N > 1)
        found: dict[str, Any] = {}
        systems = [self.system_at(row.state) for row in rows]
        words = [start_words(system, {one.key: row.state[one.key] for one in self.blocks})
                 for system, row in zip(systems, rows, strict=True)]  # fmt: skip
        for name in words[0]:
            dims = ("time", *several, "quaternion" if name == "attitude" else "axis")
            found[name] = (dims, np.array([one[name] for one in words]))
        for name, rate in (("angular_momentum", "angular_velocity"), ("momentum", "velocity")):
            if name in found:
                dims, values = found[name]
                found[rate] = (dims, np.array([self._rates(system, one, rate).reshape(one.shape)
                                               for system, one in zip(systems, values, strict=True)]))  # fmt: skip
        if "attitude" in found:
            found["attitude"] = (found["attitude"][0], rotation.normalize(found["attitude"][1]))
        for one in self.free:
            values = np.array([one.value(row.state[one.name]) for row in rows])
            inner = () if one.scalar else (f"{one.name}_{k}" for k in "ij"[: values.ndim - 1])
            found[one.name] = ("time", *inner), values[:, 0] if one.scalar else values
        P = np.array([row.P for row in rows])
        names = [*self.rows, *self.labels]
        found |= {
            "covariance": (("time", "row", "row_"), P, {"long_name": "covariance of the errors"}),
            "std": (("time", "row"), np.sqrt(np.maximum(np.einsum("tii->ti", P), 0.0))),
            "innovation_squared": (("time",), [row.squared for row in rows]),
            "innovation_count": (("time",), [row.count for row in rows]),
            "rejected": (("time",), [row.rejected for row in rows]),
        }
        coordinates: dict[str, Any] = {"body": list(bodies.names_of(self.system))} if several else {}
        coordinates |= {"time": [row.time for row in rows], "axis": list(bodies.LETTERS),
                       "quaternion": ["w", *bodies.LETTERS], "row": names, "row_": names}  # fmt: skip
        about = {"system": self.system.name, "frames": "attitude body to space; rotation and angular momentum body"}
        return xr.Dataset(found, {k: v for k, v in coordinates.items() if k != "quaternion" or "attitude" in found},
                          about)  # fmt: skip
