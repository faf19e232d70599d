"""What a Dataset and the record of its run say, for pictures, films and pages: system, bodies, masses, inertia."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array
from polhode.bodies.inertia import parallel_axis, principal
from polhode.errors import PolhodeError
from polhode.lazy_packages import xr
from polhode.plots.rows import thinned
from polhode.trajectory import surroundings

POINT = (np.zeros(3), np.array((1.0, 0.0, 0.0, 0.0)))
"""Inertia of a body that does not turn."""


class Recorded:
    """A Dataset with the record of its run."""

    def __init__(self, whole: xr.Dataset) -> None:
        self.whole = whole  # all rows, in the order of the run; variables may lie on disk

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the system."""
        return surroundings.recorded(self.whole)

    @cached_property
    def of_bodies(self) -> list[dict[str, Any]]:
        """Arguments of each body of a sum; empty of other systems, and where they are not known."""
        told = {
            name: one for name, one in self.arguments.items() if isinstance(one, dict) and one.get("kind") == "body"
        }
        if "body" in self.whole.coords:
            names = [str(one) for one in np.atleast_1d(self.whole["body"].values)]
            told = {name: told[name] for name in names if name in told}
        return list(told.values()) if len(told) == self.bodies else []

    @cached_property
    def system(self) -> str:
        """Name of the system."""
        return str(self.whole.attrs.get("system", ""))

    @cached_property
    def bodies(self) -> int:
        """How many bodies."""
        return int(self.whole.sizes.get("body", 1))

    @cached_property
    def conserved(self) -> list[str]:
        """What the run conserves by its system."""
        return [word for word in str(self.whole.attrs.get("conserves", "")).split(", ") if word]

    @cached_property
    def centre(self) -> surroundings.Centre | None:
        """The body at the origin."""
        return surroundings.centre(self.whole)

    @cached_property
    def top(self) -> Array | None:
        """Centre of mass of a top from its fixed point; None of what is no top."""
        return surroundings.centre_of_top(self.whole)

    @cached_property
    def axis(self) -> Array:
        """The axis of a pinned body, a unit vector in it: through its centre of mass, else z."""
        try:
            axis = self.arguments.get("center_of_mass") if self.top is None else self.top
            axis = np.asarray(axis, dtype=float).reshape(3)
        except (TypeError, ValueError):
            axis = np.zeros(3)
        axis = axis if np.isfinite(axis).all() and axis.any() else np.array([0.0, 0.0, 1.0])
        return axis / np.linalg.norm(axis)

    def first(self, name: str) -> Array | None:
        """Rows of the first body; None where there is no such variable."""
        if name not in self.whole:
            return None
        variable = self.whole[name]
        return np.asarray((variable.isel(body=0) if "body" in variable.dims else variable).values, dtype=float)

    @cached_property
    def mass(self) -> Any:
        """Masses (B,) where they are known, else None."""
        given: Any = None
        if "mass" in self.whole and "time" not in self.whole["mass"].dims:
            given = self.whole["mass"].values
        given = self.arguments.get("mass") if given is None else given
        given = [one.get("mass") for one in self.of_bodies] or None if given is None else given
        given = self.arguments.get("mu") if given is None and self.system == "gravitating_bodies" else given
        try:
            values = np.broadcast_to(np.asarray(given, dtype=float), (self.bodies,))
        except (TypeError, ValueError):
            return None
        return values if np.isfinite(values).all() and (values >= 0.0).all() and values.any() else None

    @cached_property
    def inertia(self) -> list[tuple[Array, Array]]:
        """Principal moments (3,) and the quaternion of the principal frame in the body's, of each body or of all.

        Empty where the bodies have none, or it is not known; that of a point among other bodies is zero.
        """
        if "attitude" not in self.whole:
            return []
        if any("inertia" in one for one in self.of_bodies):
            try:
                return [_pair(one["inertia"]) if "inertia" in one else POINT for one in self.of_bodies]
            except (TypeError, ValueError, PolhodeError):  # a record of another version
                pass
        if "inertia" in self.whole and self.whole["inertia"].dims == ("body", "axis"):
            given = np.unique(np.asarray(self.whole["inertia"].values, dtype=float), axis=0)
            one = [(given[0], np.array((1.0, 0.0, 0.0, 0.0)))]
            return one if len(given) == 1 else [(row, one[0][1]) for row in self.whole["inertia"].values]
        try:
            given = np.asarray(self.arguments.get("inertia"), dtype=float)
            tensor = given.shape == (3, 3) and (self.bodies != 3 or np.allclose(given, given.T, rtol=1e-9, atol=0.0))
            if given.shape == (3,) or tensor:
                return [_pair(self._about_fixed_point(given))]
            if len(given) == self.bodies:
                return [_pair(one) for one in given]
        except (TypeError, ValueError, KeyError, PolhodeError):  # a record of another version
            pass
        return [] if self.bodies > 1 else self.fitted

    def _about_fixed_point(self, given: Any) -> Any:
        """The inertia of a top about its fixed point, which the record may hold about its centre of mass."""
        if self.arguments.get("inertia_about") != "center_of_mass":
            return given
        tensor = np.diag(given) if given.ndim == 1 else given
        return parallel_axis(tensor, self.arguments["mass"], self.arguments["center_of_mass"])

    @cached_property
    def fitted(self) -> list[tuple[Array, Array]]:
        """That which belongs to the momenta and velocities of the first body, where they determine it."""
        m, w = self.first("angular_momentum"), self.first("angular_velocity")
        found = None if m is None or w is None else inverse_inertia(m, w)
        if found is None:
            return []
        values, axes = np.linalg.eigh(found)
        if not (values > 0.0).all():
            return []
        axes = axes * np.array([1.0, 1.0, np.linalg.det(axes)])
        return [(1.0 / values, rotation.quaternion_from_matrix(axes))]


def inverse_inertia(momentum: Array, velocity: Array) -> Array | None:
    """Symmetric matrix J with ``velocity = J momentum``, fitted to rows of both; None if they do not determine it."""
    moving = np.isfinite(momentum).all(axis=1)
    m, w = momentum[moving], velocity[moving]
    m, w = thinned(m, 2000), thinned(w, 2000)
    if len(m) < 3:
        return None
    singular = np.linalg.svd(m, compute_uv=False)
    if singular[0] == 0.0 or singular[2] < 1e-5 * singular[0]:
        return None
    J = np.linalg.lstsq(m, w, rcond=None)[0]
    return 0.5 * (J + J.T)


def _pair(given: Any) -> tuple[Any, Any]:
    found = principal(given, triangle=False)
    return found.moments, found.frame
