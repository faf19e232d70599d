"""Gradients of functions of a run, by its steps with derivatives along all that is asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.algebra.quaternion import to_matrix
from polhode.arguments import choice
from polhode.errors import InvalidInput, shown, unknown_name
from polhode.gradients.rows import LANGUAGES, Rows, States, value_and_slopes
from polhode.kernel import layout as L
from polhode.methods import Method, MethodSpec
from polhode.runs.integrate import differentiated
from polhode.runs.parameters import arguments_of
from polhode.runs.request import ARGUMENTS, requested, with_options
from polhode.runs.settings import Settings
from polhode.runs.state import State
from polhode.runs.steps import Tolerance
from polhode.systems import System
from polhode.systems.record import present_system

if TYPE_CHECKING:
    import xarray as xr

STARTS = {
    "position": "position", "momentum": "momentum", "velocity": "momentum", "attitude": "rotation",
    "angular_momentum": "angular_momentum", "angular_velocity": "angular_momentum",
}  # fmt: skip
"""What of the start there are derivatives by, and the rows of the state by which these are found."""


@dataclass(frozen=True, eq=False)
class Gradient:
    """The value of an objective and its derivatives.

    Attributes
    ----------
    value : float
        The objective.
    by : dict of str to array
        Derivatives by the names asked for, in the shape of what they are by; by an attitude (3,) by the rotation vector
        theta in the body frame, R to R exp[theta]x, rad; with several bodies (N, 3). A number has a float.
    states : States
        What the objective has seen.
    """

    value: float
    by: dict[str, Any]
    states: Any

    def __getitem__(self, name: str) -> Any:
        if name not in self.by:
            raise unknown_name("name of a derivative", name, list(self.by))
        return self.by[name]

    def flat(self) -> Any:
        """All derivatives, one behind the other, in the order of the names asked for."""
        return np.concatenate([np.ravel(a) for a in self.by.values()])

    def __repr__(self) -> str:
        lines = [f"value {self.value:.12g}"]
        lines += [f"by {name}: {np.array2string(np.asarray(a), precision=8)}" for name, a in self.by.items()]
        return "\n".join(lines)


def names_of(wrt: Any, system: System) -> list[str]:
    """What to differentiate by, checked; None: all of the start."""
    known = [*("position", "momentum", "velocity") * bool(system.translates),
             *("attitude", "angular_momentum", "angular_velocity") * bool(system.rotates)]  # fmt: skip
    if wrt is None:
        return [name for name in known if name not in ("velocity", "angular_velocity")]
    names = [wrt] if isinstance(wrt, str) else wrt
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) and name for name in names):
        raise InvalidInput(f"wrt must be names such as ['attitude', 'inertia'], not {shown(wrt)}")
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput(f"wrt has {name} twice; keep one of them")
        if name in STARTS and name not in known:
            lacks = "does not move through space" if name in ("position", "momentum", "velocity") else "does not turn"
            raise InvalidInput(f"wrt has {name}, but {system.name!r} {lacks}; leave it out")
        if name not in STARTS and name.partition(".")[0] not in arguments_of(system):
            raise unknown_name("name in wrt", name, [*known, *arguments_of(system)])
    for pair in (("velocity", "momentum"), ("angular_velocity", "angular_momentum")):
        if set(pair) <= set(names):
            raise InvalidInput(f"wrt has both {pair[0]} and {pair[1]}, which follow from each other; keep one of them")
    return list(names)


class Derivative:
    """One run with the derivatives of what it shows."""

    def __init__(self, system: Any, method: Any, given: dict[str, Any], wrt: Any, final: bool) -> None:
        system = present_system(system)
        self.names = names_of(wrt, system)
        request = requested(system, method, given)
        if final:
            request = replace(request, recording=replace(request.recording, every=sys.maxsize))
        request = replace(request, tangent=tuple(name for name in self.names if name not in STARTS))
        self.request, self.system = request, request.system
        self.columns, times, self.carried = differentiated(request, any(name in STARTS for name in self.names))
        self.states = self.carried[0][1]
        self.rows = Rows(self.columns, times, final)

    @property
    def arrays(self) -> dict[str, Any]:
        """What is shown, by name."""
        return self.rows.arrays(self.states)

    def by(self, slopes: Mapping[str, Any]) -> dict[str, Any]:
        """Derivatives by all names of the sum of products of what is shown with the numbers given."""
        cotangents, direct = self.rows.cotangents(self.states, slopes)
        columns, whole = self.columns, np.zeros(len(self.columns.names))
        for part, _, changes in self.carried:
            whole[part.start : part.stop] = np.einsum("rw,rwk->k", cotangents, changes)
        whole[len(columns.rows) :] += direct
        labels, found = list(columns.names), {}
        by_state = columns.following(whole[: len(columns.rows)])
        by_parameter = whole[len(columns.rows) :].copy()
        for name in self.names:
            if name in STARTS:
                slope = self._by_start(STARTS[name], by_state)
                if name in ("velocity", "angular_velocity"):
                    slope, more = self._by_rate(name, slope)
                    by_parameter += more  # at a fixed rate the momentum changes with the inertia
                found[name] = slope[0] if self.system.N == 1 else slope
        for name in self.names:
            if name not in STARTS:
                places = [k for k, (_, path, _) in enumerate(columns.parameters) if path == name]
                places = places or [labels.index(name) - len(columns.rows)]
                at = [columns.parameters[k][2] for k in places]
                if not at[0] or labels[len(columns.rows) + places[0]] == name:  # a number, or one of a tensor
                    found[name] = float(by_parameter[places[0]])
                    continue
                found[name] = np.zeros(tuple(np.max(at, axis=0) + 1))
                for k, index in zip(places, at, strict=True):
                    found[name][index] = by_parameter[k]
        return {name: found[name] for name in self.names}

    def _by_start(self, quantity: str, by_state: Any) -> Any:
        """Derivatives (N, 3) by a quantity of all bodies; 0 of those that lack it."""
        found, labels = np.zeros((self.system.N, 3)), self.columns.rows
        for i in range(self.system.N):
            ending = f".{i}" if self.system.N > 1 else ""
            for k, axis in enumerate("xyz"):
                label = f"{quantity}_{axis}{ending}"
                if label in labels:
                    found[i, k] = by_state[labels.index(label)]
        return found

    def _by_rate(self, name: str, slope: Any) -> tuple[Any, Any]:
        """Derivatives by a rate from those by the momentum, and what they add to those by parameters."""
        rows, start = self.rows, self.columns.start.state
        found, more = np.zeros_like(slope), np.zeros(rows.P)
        for i in rows.moving if name == "velocity" else rows.turning:
            at = L.BODY * i
            if name == "velocity":
                p = start[at + L.MOMENTUM : at + L.MOMENTUM + 3]
                found[i] = slope[i] / rows.inverse_mass[i]
                more -= float(slope[i] @ p) / rows.inverse_mass[i] * rows.by_mass[i]
                continue
            F = np.array(to_matrix(tuple(rows.frames[i])), dtype=float).reshape(3, 3)
            inverse = rows.inverse[i]
            moments = np.where(inverse > 0.0, 1.0 / np.where(inverse > 0.0, inverse, 1.0), 0.0)
            m = start[at + L.ANGULAR : at + L.ANGULAR + 3]
            own, rate = F.T @ slope[i], m * inverse
            found[i] = F @ (moments * own)
            # L = F M F^T w: its change at fixed w is F (dM + [turn] M - M [turn]) F^T w
            more += (own * rate) @ (-(moments**2)[:, None] * rows.by_inverse[i])
            more += (np.cross(m, own) - np.cross(rate, moments * own)) @ rows.turn[i]
        return found, more


def gradient(
    objective: Callable[[Any], Any],
    system: System,
    method: str | Method | MethodSpec | None = None,
    *,
    wrt: str | Sequence[str] | None = None,
    slopes: Callable[[Any], Mapping[str, Any]] | None = None,
    written_in: str = "numpy",
    step: float | None = None,
    steps: int | Tolerance | None = None,
    t_end: float | None = None,
    every: int | None = None,
    t_eval: Any = None,
    start: State | Mapping[str, Any] | xr.Dataset | None = None,
    attitude: Any = None,
    angular_velocity: Any = None,
    angular_momentum: Any = None,
    position: Any = None,
    velocity: Any = None,
    momentum: Any = None,
    parameters: Any = None,
    settings: Settings | Mapping[str, Any] | None = None,
    **options: Any,
) -> Gradient:
    """The derivative of a function of a run by its start and by parameters, exact to round-off.

    It is that of the numerical map itself: the product of the derivatives of the objective with ``state_transition`` of
    ``polhode.integrate(tangent=...)``. The steps are taken once with derivatives along all that is asked for, 24
    numbers at a time; loads may change on the way, at sampling times of controllers, burns, impulses and events that
    act.

    Parameters
    ----------
    objective : function
        Of the states, returns one number: ``lambda s: (s.position**2).sum()``. It sees the end of the run, with arrays
        (3,), of attitudes (4,); with ``every`` or ``t_eval`` all rows, (rows, 3). Names: ``time``, ``position``,
        ``momentum``, ``velocity`` (space frame), ``attitude`` (w, x, y, z, body to space), ``angular_momentum``,
        ``angular_velocity`` (body frame); with several bodies (N, 3); and states that loads read, by their names.
    system, method, step, steps, t_end, every, t_eval, start, parameters, settings, **options
        As for ``polhode.integrate``.
    wrt : str or sequence of str, optional
        By what: ``"position"``, ``"momentum"`` or ``"velocity"``, ``"attitude"``, ``"angular_momentum"`` or
        ``"angular_velocity"`` of the start, and arguments of the function that builds the system, by path
        (``"inertia"``, ``"forces.0.coefficient"``, ``"parameters.0"``). By default all of the start. Derivatives by
        parameters are at a fixed start: at fixed momentum and angular momentum, unless ``"velocity"`` or
        ``"angular_velocity"`` is named here, which is then held.
    slopes : function, optional
        Of the states, returns the derivatives of the objective by them, by name, each in the shape of what it is by
        (that by an attitude by the four numbers); what is left out is zero. Without it the objective is traced.
    written_in : {"numpy", "jax", "torch"}
        What differentiates the objective: polhode's tracer of plain Python and numpy, or JAX or PyTorch.
    attitude, angular_velocity, angular_momentum, position, velocity, momentum : array_like
        As for ``polhode.integrate``.

    Returns
    -------
    Gradient
        ``value``, and the derivatives by name, ``found["inertia"]``; the derivative by an attitude is by the rotation
        vector theta in the body frame, R to R exp[theta]x, rad.

    Raises
    ------
    InvalidInput
        An argument is wrong, the objective returns no number or cannot be differentiated, the method or the loads have
        no derivatives.
    MissingExtra
        JAX or PyTorch is asked for and not installed.
    StepFailed
        A step failed.

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    >>> found = ph.gradient(lambda s: s.angular_velocity[2], top, "rkn6_14a", step=1e-2, steps=100,
    ...                     wrt=["angular_velocity"], attitude=(1, 0, 0, 0), angular_velocity=(0.1, 0, 8))
    >>> round(float(found["angular_velocity"][2]), 12)
    1.0
    """
    given = {name: value for name, value in locals().items() if name in ARGUMENTS}
    for name, function in (("objective", objective), ("slopes", slopes)):
        if not callable(function) and (name == "objective" or function is not None):
            raise InvalidInput(f"{name} must be a function of the states, not {shown(function)}")
    language = choice(written_in, "written_in", LANGUAGES)
    final = every is None and t_eval is None
    given["every"] = 1 if every is None else every
    method = with_options(method, system, given | options, "gradient")
    found = Derivative(system, method, given, wrt, final)

    arrays = found.arrays
    value, by_states = value_and_slopes(objective, slopes, language, found.rows.times, arrays)
    return Gradient(value, found.by(by_states), States(found.rows.times, arrays))
