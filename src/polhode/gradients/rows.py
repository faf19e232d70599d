"""Rows of a run as an objective sees them, and derivatives by them as derivatives by the numbers of kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polhode.algebra.quaternion import to_matrix
from polhode.algebra.rotation import conjugate, multiply
from polhode.errors import InvalidInput, shown, unknown_name
from polhode.kernel import layout as L
from polhode.runs.tangent.columns import Columns

NAMES = ("position", "momentum", "velocity", "attitude", "angular_momentum", "angular_velocity")
TRANSLATION, ROTATION = NAMES[:3], NAMES[3:]


class States:
    """States of a run, handed to an objective: arrays (rows, 3), attitudes (rows, 4); with several bodies (rows, N, 3).

    Of the end of a run alone, the first axis is missing. What a system lacks is no attribute.

    Attributes
    ----------
    time : array (rows,) or float
        Times of the rows.
    position, momentum, velocity : array
        In the space frame.
    attitude : array
        Unit quaternions (w, x, y, z), body to space.
    angular_momentum, angular_velocity : array
        In the body frame of the user.

    States of its own, which loads read, have their names: arrays (rows,), or (rows, k) of several numbers.
    """

    def __init__(self, time: Any, arrays: Mapping[str, Any]) -> None:
        self.time = time
        self.__dict__.update(arrays)

    def __repr__(self) -> str:
        return f"States({', '.join(self.__dict__)})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise InvalidInput(f"an objective is given no {name}; its states have "
                           f"{', '.join(self.__dict__)}")  # fmt: skip


class Rows:
    """Translates between states of kernels and what an objective sees.

    Parameters
    ----------
    columns : Columns
        What it is differentiated by.
    times : array (rows,)
        Times of the rows.
    final : bool
        Whether the objective sees the end alone.
    """

    def __init__(self, columns: Columns, times: Any, final: bool) -> None:
        self.final, self.system, self.times = final, columns.system, float(times[-1]) if final else times
        start, system, N = columns.start, self.system, self.system.N
        self.moving = [i for i in range(N) if np.isfinite(system.mass[i])]
        self.turning = [i for i in range(N) if np.isfinite(system.moments[i]).any()]
        self.own: dict[str, list[int]] = {}  # where the states of the system's own stand, which loads read
        self.single = {one.quantity for one in system.auxiliary[system.read_from :] if not one.label}
        for k, one in enumerate(system.auxiliary[system.read_from :], L.BODY * N + system.read_from):
            self.own.setdefault(one.quantity, []).append(k)
        self.names = [*TRANSLATION * bool(self.moving), *ROTATION * bool(self.turning), *self.own]
        constants = start.bodies[: L.CONSTANTS * N].reshape(N, L.CONSTANTS)
        self.inverse_mass = constants[:, L.INVERSE_MASS]
        self.inverse = constants[:, L.INVERSE_INERTIA : L.INVERSE_INERTIA + 3]
        self.frames = start.frames.reshape(N, 4)
        self.turns = np.array([to_matrix(tuple(f)) for f in self.frames], dtype=float).reshape(N, 3, 3)
        self.P = len(columns.parameters)
        first = len(columns.rows)
        self.by_mass, self.by_inverse = np.zeros((N, self.P)), np.zeros((N, 3, self.P))
        self.turn = np.zeros((N, 3, self.P))
        if columns.varied is not None:
            bodies, frames, _ = (a[0][:, first:] for a in columns.varied)
            slopes = bodies[: L.CONSTANTS * N].reshape(N, L.CONSTANTS, self.P)
            self.by_mass = slopes[:, L.INVERSE_MASS]
            self.by_inverse = slopes[:, L.INVERSE_INERTIA : L.INVERSE_INERTIA + 3]
            changes = np.moveaxis(frames.reshape(N, 4, self.P), 2, 1)
            self.turn = 2.0 * np.moveaxis(multiply(conjugate(self.frames)[:, None], changes)[..., 1:], 1, 2)

    def arrays(self, states: Any) -> dict[str, Any]:
        """What an objective sees of states (rows, width)."""
        n, N = len(states), self.system.N
        body = states[:, : L.BODY * N].reshape(n, N, L.BODY)
        r, p = body[..., L.POSITION : L.POSITION + 3], body[..., L.MOMENTUM : L.MOMENTUM + 3]
        q, m = body[..., L.ATTITUDE : L.ATTITUDE + 4], body[..., L.ANGULAR : L.ANGULAR + 3]
        found: dict[str, Any] = {}
        if self.moving:
            found |= {"position": r, "momentum": p, "velocity": p * self.inverse_mass[:, None]}
        if self.turning:
            found |= {
                "attitude": multiply(q, conjugate(self.frames)[None]),
                "angular_momentum": np.einsum("ijk,nik->nij", self.turns, m),
                "angular_velocity": np.einsum("ijk,nik->nij", self.turns, m * self.inverse),
            }
        found = {name: np.array(a[:, 0] if N == 1 else a) for name, a in found.items()}
        found |= {name: states[:, at[0] if name in self.single else at] for name, at in self.own.items()}
        return {name: a[-1] for name, a in found.items()} if self.final else found

    def cotangents(self, states: Any, slopes: Mapping[str, Any]) -> tuple[Any, Any]:
        """Derivatives (rows, width) by the numbers of states and, beside these, by parameters (P,), from those by what
        an objective sees.

        Raises
        ------
        InvalidInput
            An unknown name, another shape, or numbers that are not finite.
        """
        n, N = len(states), self.system.N
        body = states[:, : L.BODY * N].reshape(n, N, L.BODY)
        q, m = body[..., L.ATTITUDE : L.ATTITUDE + 4], body[..., L.ANGULAR : L.ANGULAR + 3]
        given = {name: self._checked(name, value, n) for name, value in slopes.items()}
        found, direct = np.zeros(states.shape), np.zeros(self.P)
        into = found[:, : L.BODY * N].reshape(n, N, L.BODY)
        r, p = into[..., L.POSITION : L.POSITION + 3], into[..., L.MOMENTUM : L.MOMENTUM + 3]
        at_q, at_m = into[..., L.ATTITUDE : L.ATTITUDE + 4], into[..., L.ANGULAR : L.ANGULAR + 3]
        for name in given.keys() & self.own.keys():
            found[:, self.own[name]] += given[name]
        turned = np.zeros((N, 3))  # by small rotations of the principal frames
        if "position" in given:
            r += given["position"]
        if "momentum" in given:
            p += given["momentum"]
        if "velocity" in given:
            p += given["velocity"] * self.inverse_mass[:, None]
            momenta = body[..., L.MOMENTUM : L.MOMENTUM + 3]
            direct += np.einsum("nij,nij,ik->k", given["velocity"], momenta, self.by_mass)
        if "attitude" in given:
            own = multiply(given["attitude"], self.frames[None])  # q to q f^-1 is orthogonal
            at_q += own
            turned -= 0.5 * multiply(conjugate(q), own)[..., 1:].sum(axis=0)
        if "angular_momentum" in given:
            g = np.einsum("ijk,nij->nik", self.turns, given["angular_momentum"])
            at_m += g
            turned += np.cross(m, g).sum(axis=0)
        if "angular_velocity" in given:
            g = np.einsum("ijk,nij->nik", self.turns, given["angular_velocity"])
            at_m += g * self.inverse
            turned += np.cross(m * self.inverse, g).sum(axis=0)
            direct += np.einsum("nij,nij,ijk->k", g, m, self.by_inverse)
        direct += np.einsum("ij,ijk->k", turned, self.turn)
        return found, direct

    def _checked(self, name: str, value: Any, n: int) -> Any:
        """A derivative as an array (rows, N, 3 or 4); of the end alone in the last row."""
        if name not in self.names:
            raise unknown_name("name in the derivative of the objective", name, self.names)
        N, at = self.system.N, self.own.get(name)
        row: tuple[int, ...] = (N, 4 if name == "attitude" else 3) if at is None else (len(at),)
        shape = (*(() if self.final else (n,)), *(row[1:] if N == 1 and at is None else row))
        shape = shape[:-1] if name in self.single else shape
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            array = np.zeros(0)
        if array.shape != shape:
            raise InvalidInput(f"the derivative of the objective by {name} must be an array of shape {shape}, not "
                               f"{shown(value) if array.size == 0 else array.shape}")  # fmt: skip
        if not np.isfinite(array).all():
            raise InvalidInput(f"the derivative of the objective by {name} is not finite; mend the objective where its "
                               "slope is infinite or undefined, such as a square root of 0")  # fmt: skip
        whole = np.zeros((n, *row))
        whole[-1 if self.final else slice(None)] = array.reshape(row if self.final else whole.shape)
        return whole
