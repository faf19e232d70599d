"""The result of a fit: values, their covariance, residuals, and the fitted run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polhode.arguments import Array, ArrayLike, numbers
from polhode.errors import InvalidInput
from polhode.estimation import inertias
from polhode.estimation.measurements import KINDS
from polhode.estimation.models import whitened
from polhode.estimation.observability import Directions, Unobservable, scaled_together
from polhode.estimation.problem import Problem
from polhode.html import facts, rows_of
from polhode.lazy import xr
from polhode.runs.state import State
from polhode.systems import System

DIFFERENCE = 1e-5  # relative step of the differences in ``Fit.derived``
LEVEL = 1e-4
"""Part of a derivative along an unobservable direction above which what depends on it is not determined."""


@dataclass(frozen=True)
class Convergence:
    """How a solver came to its end.

    Attributes
    ----------
    converged : bool
        Whether a criterion of convergence was met.
    reason : str
        Which one, or why it stopped.
    evaluations : int
        Runs with their state transition.
    costs : tuple of float
        Half the sum of squares (or of losses) after each evaluation that improved it.
    gradient : float
        Largest component of the gradient, in standard deviations.
    """

    converged: bool
    reason: str
    evaluations: int
    costs: tuple[float, ...]
    gradient: float


@dataclass(frozen=True, eq=False)
class Fit:
    """What ``polhode.fit`` returns.

    Attributes
    ----------
    values : dict
        Fitted values by the names in ``free``: an attitude as a quaternion, moments of inertia, vectors, numbers.
    std : dict
        Standard deviations, likewise; of an attitude those of its error as a rotation vector in the body frame (rad).
        Infinite for what the data do not determine; where that is a common scale, ``ratios`` has what they do.
    covariance : xarray.DataArray (parameter, parameter)
        Covariance of all of them, by names such as ``rotation_x``, ``inertia.0``; infinite in the rows of what the data
        do not determine.
    residuals : xarray.Dataset
        Of each instrument, measured minus predicted, at its times, and the same over the noise (``gyro_normalised``).
    chi2, dof : float, int
        Sum of the squares of all normalised residuals, and their number less that of the quantities determined.
    unobservable : tuple of Unobservable
        Combinations that the data do not determine; along them the values are those of the guess.
    convergence : Convergence
        How the solver came to its end.
    notes : tuple of str
        What should be known: noise that was estimated, gaps in the data.
    system : System
        With the fitted parameters.
    start : State
        The fitted initial state.
    """

    values: dict[str, Any]
    std: dict[str, Any]
    covariance: xr.DataArray
    residuals: xr.Dataset
    chi2: float
    dof: int
    unobservable: tuple[Unobservable, ...]
    convergence: Convergence
    notes: tuple[str, ...]
    system: System
    start: State
    _problem: Problem
    _x: Array
    _directions: Directions
    _variance: float

    @property
    def reduced_chi2(self) -> float:
        """Chi squared over degrees of freedom: 1 if model and noise are right."""
        return self.chi2 / self.dof if self.dof else float("nan")

    @property
    def correlation(self) -> xr.DataArray:
        """Correlation of the errors, of what is determined; NaN for the rest."""
        found = self.covariance.copy(deep=True)
        spread = np.sqrt(np.diag(found.values))
        with np.errstate(invalid="ignore"):
            found.values = np.where(np.isinf(found.values), np.nan, found.values / np.outer(spread, spread))
        return found

    @cached_property
    def trajectory(self) -> xr.Dataset:
        """The fitted run, from its start to the last measurement, with a row for every step."""
        problem = self._problem
        return problem.run(problem.point(self._x), tangent=False, t_eval=None)

    def predict(self, times: ArrayLike) -> xr.Dataset:
        """The fitted run at any times, also beyond the data, with the covariance of the state there.

        Parameters
        ----------
        times : array_like (n,)
            Not before the start, rising.

        Returns
        -------
        xarray.Dataset
            A trajectory with ``state_transition`` and ``state_covariance`` (time, row, row): of the errors of
            position, momentum (space frame), rotation vector (rad, body frame) and angular momentum (body frame), in
            that order, without what the body lacks. Quantities that the data do not determine are held.

        Raises
        ------
        InvalidInput
            Times before the start.
        """
        problem = self._problem
        at = numbers(times, "times")
        if not at.size or at.min() < problem.words.t0:
            raise InvalidInput(f"times must not be before the start, {problem.words.t0:g}; give later ones")
        point = problem.point(self._x)
        ds = problem.run(point, t_eval=at, **problem.words.span(float(at.max())))
        slope = problem.transition(ds) @ point.inputs
        half = slope @ np.linalg.inv(problem.reported(self._x)) @ self._directions.half
        found = self._variance * half @ np.swapaxes(half, 1, 2)
        ds = ds.sel(row=problem.rows).assign_coords(row_=problem.rows)
        label = {"long_name": "covariance of the error of the state", "frames": "rotation and angular momentum: body"}
        return ds.assign(state_covariance=(("time", "row", "row_"), found, label))

    def derived(self, function: Callable[[dict[str, Any]], Any]) -> tuple[Any, Any]:
        """Value and standard deviation of anything that follows from the fitted values.

        Parameters
        ----------
        function : function
            ``function(values)`` of a mapping like ``Fit.values``; returns a number or a flat array of numbers.

        Returns
        -------
        tuple of array
            Its value and its standard deviation to first order; infinite where it depends on a combination that the
            data do not determine.

        Examples
        --------
        ``ratio, sigma = fit.derived(lambda v: v["inertia"][:2] / v["inertia"][2])``
        """
        problem, found = self._problem, self._directions
        value = np.asarray(function(self._named(self._x)), dtype=float)
        size = np.concatenate([np.maximum(np.abs(one.start), 1.0) for one in problem.free])
        slopes = []
        for step in np.diag(DIFFERENCE * np.minimum(size, problem.stride)):
            up, down = (np.asarray(function(self._named(self._x + sign * step)), dtype=float) for sign in (1.0, -1.0))
            slopes.append(np.atleast_1d(up - down).ravel() / (2.0 * step.max()))
        slope = np.stack(slopes, axis=1) @ np.linalg.inv(problem.reported(self._x))
        out = np.sqrt(self._variance * ((slope @ found.half) ** 2).sum(axis=1))
        if found.null.size:
            slope = slope * found.scale
            along, all_of = np.linalg.norm(slope @ found.null, axis=1), np.linalg.norm(slope, axis=1)
            out = np.where(along > LEVEL * np.maximum(all_of, 1e-300), np.inf, out)
        return (float(value), float(out[0])) if value.ndim == 0 else (value, out.reshape(value.shape))

    @cached_property
    def ratios(self) -> dict[str, tuple[float, float]]:
        """Values and standard deviations of ratios that are determined where a common scale is not.

        Of each combination in ``unobservable`` that is a scale: its numbers over the largest of them, by names such as
        ``inertia.0 / inertia.2``.
        """
        found: dict[str, tuple[float, float]] = {}
        for scaled in self._scales:
            over = max(scaled, key=lambda label: abs(scaled[label]))

            def ratios(values: dict[str, Array], labels: tuple[str, ...] = tuple(scaled), over: str = over) -> Array:
                flat = self._flat(values)
                return np.array([flat[label] / flat[over] for label in labels if label != over])

            names = [f"{label} / {over}" for label in scaled if label != over]
            found |= zip(names, zip(*(a.tolist() for a in self.derived(ratios)), strict=True), strict=True)
        return found

    @property
    def _scales(self) -> list[dict[str, float]]:
        """Of each common scale that is not determined, the values that it changes."""
        told = [scaled_together(one.direction, self._problem.free, self.values) for one in self.unobservable]
        return [scaled for scaled in told if scaled]

    def _flat(self, values: dict[str, Array]) -> dict[str, float]:
        """Numbers by their labels, without attitudes."""
        return {label: float(number) for one in self._problem.free if one.kind != "attitude" for label, number in
                zip(one.labels, one.flat(np.atleast_1d(values[one.name])), strict=True)}  # fmt: skip

    def _named(self, x: Array) -> dict[str, Array | float]:
        problem = self._problem
        return {one.name: one.shown(one.value(x[at])) for one, at in zip(problem.free, problem.slices, strict=True)}

    # -------------------------------------------------------------- in words
    def table(self) -> list[tuple[str, str, str]]:
        """Name, value and standard deviation of every fitted number, and of the ratios that are determined, as text."""
        found = []
        scaled = {label for scale in self._scales for label in scale}
        for one in self._problem.free:
            value, spread = (one.flat(np.atleast_1d(a[one.name])) for a in (self.values, self.std))
            if one.kind == "attitude":
                vector = ", ".join(f"{number:.6g}" for number in value)
                size = float(np.linalg.norm(spread))
                found.append((one.name, f"({vector})", f"{size:.2g} rad" if np.isfinite(size) else "not determined"))
                continue
            for label, number, sigma in zip(one.labels, value, spread, strict=True):
                lost = "scale not determined" if label in scaled else "not determined"
                found.append((label, digits(number, sigma), lost if np.isinf(sigma) else f"{sigma:.2g}"))
        return found + [(name, digits(*of), f"{of[1]:.2g}") for name, of in self.ratios.items()]

    @property
    def _facts(self) -> list[tuple[str, str]]:
        how = "converged" if self.convergence.converged else "NOT CONVERGED"
        count = sum(one.values.shape[0] for one in self._problem.measurements)
        told: list[tuple[str, Any]] = [
            ("data", f"{count} measurements of " + ", ".join(one.name for one in self._problem.measurements)),
            ("chi squared", f"{self.chi2:.6g} for {self.dof} degrees of freedom"),
            ("solver", f"{how} after {self.convergence.evaluations} runs: {self.convergence.reason}"),
        ]
        told += [("not determined", str(one)) for one in self.unobservable]
        return told + [("note", note) for note in self.notes]

    def __repr__(self) -> str:
        lines = [("", "value", "standard deviation"), *self.table()]
        widths = [max(len(line[k]) for line in lines) for k in range(3)]
        told = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
                for line in lines]  # fmt: skip
        return "\n".join([f"Fit of {self.system.name}", *told, *(f"{name}: {text}" for name, text in self._facts)])

    def _repr_html_(self) -> str:
        return facts(f"Fit of {self.system.name}", "", self._facts) + rows_of(
            ("", "value", "standard deviation"), self.table()
        )

    def to_json(self) -> dict[str, Any]:
        """Values, standard deviations and covariance in JSON's types; what is infinite is null."""

        def plain(a: ArrayLike) -> object:
            return _plain(np.asarray(a, dtype=float).tolist())

        return {
            "system": self.system.name,
            "values": {name: plain(value) for name, value in self.values.items()},
            "std": {name: plain(value) for name, value in self.std.items()},
            "ratios": {name: plain(value) for name, value in self.ratios.items()},
            "parameters": list(map(str, self.covariance["parameter"].values)),
            "covariance": plain(self.covariance.values),
            "chi2": self.chi2, "dof": self.dof, "converged": self.convergence.converged,
            "evaluations": self.convergence.evaluations,
            "unobservable": [{"name": one.name, "direction": one.direction} for one in self.unobservable],
            "notes": list(self.notes),
        }  # fmt: skip


def _plain(value: float | list[float]) -> object:
    return [_plain(one) for one in value] if isinstance(value, list) else value if np.isfinite(value) else None


def digits(value: float, sigma: float) -> str:
    """A number to two digits of its standard deviation."""
    if not np.isfinite(sigma) or sigma <= 0.0 or value == 0.0:
        return f"{value:.6g}"
    count = int(np.clip(np.floor(np.log10(abs(value))) - np.floor(np.log10(sigma)) + 2, 1, 16))
    return f"{value:.{count}g}"


def residuals_of(problem: Problem, raw: list[Array]) -> xr.Dataset:
    """Residuals of all instruments, measured minus predicted, as a Dataset."""
    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {}
    for one, residual in zip(problem.measurements, raw, strict=True):
        order = np.argsort(one.times, kind="stable")
        dims: tuple[str, ...] = (f"{one.name}_time",)
        normalised = whitened(one, residual)[order]
        residual = residual[order]
        if residual.shape[1] > 1:
            dims = (*dims, f"{one.name}_component")
            coordinates[dims[1]] = list(KINDS[one.kind].components)
        else:
            residual, normalised = residual[:, 0], normalised[:, 0]
        coordinates[dims[0]] = one.times[order]
        variables[one.name] = (dims, residual, {"long_name": f"{one.name}, measured minus predicted"})
        variables[f"{one.name}_normalised"] = (dims, normalised, {"long_name": f"{one.name}, over its noise"})
    return xr.Dataset(variables, coordinates)


def covariance_of(
    problem: Problem, found: Directions, variance: float
) -> tuple[xr.DataArray, dict[str, Array | float]]:
    """Covariance (n, n) of the errors that users see, infinite where nothing was measured, and standard deviations."""
    C = variance * found.half @ found.half.T
    if found.null.size:
        rows = (np.abs(found.null) > LEVEL).any(axis=1)
        C[rows, :], C[:, rows] = np.inf, np.inf
    spread = np.sqrt(np.diag(C))
    std = {}
    for one, at in zip(problem.free, problem.slices, strict=True):
        std[one.name] = float(spread[at][0]) if one.scalar and one.kind in ("parameter", "bias") else spread[at]
        if one.kind == "inertia":
            std[one.name] = inertias.square(spread[at])
    names = problem.labels
    named = xr.DataArray(C, dims=("parameter", "parameter_"), coords={"parameter": names, "parameter_": names},
                         name="covariance")  # fmt: skip
    return named, std
