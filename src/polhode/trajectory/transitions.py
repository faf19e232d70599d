"""State transition matrices in other coordinates: quaternions for rotations, orbital elements for orbits.

A trajectory's ``state_transition`` is of minimal coordinates (``polhode.integrate``, ``tangent=``). Here rows and
columns of a body's rotation become the four numbers of its quaternion, or those of its position and momentum six
elements.
"""

from __future__ import annotations

import numpy as np

from polhode.algebra import orbits, rotation as rotations
from polhode.arguments import Array
from polhode.errors import InvalidInput
from polhode.lazy import xr
from polhode.trajectory.frames import gravity_parameter

ROTATION = ("rotation_x", "rotation_y", "rotation_z")
QUATERNION = ("attitude_w", "attitude_x", "attitude_y", "attitude_z")
ORBIT = ("position_x", "position_y", "position_z", "momentum_x", "momentum_y", "momentum_z")
ELEMENTS = (
    "semi_latus_rectum", "eccentricity", "inclination", "node", "argument_of_periapsis", "true_anomaly",
)  # fmt: skip
OFFSET = 1e-3  # relative offset of the differences of order 8 by which elements are differentiated
STENCIL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
FLAT = 1e-6
"""Eccentricity and inclination (rad from an equatorial plane) below which elements are not differentiated."""


def matrix_of(ds: xr.Dataset) -> xr.DataArray:
    """The ``state_transition`` of a trajectory."""
    if "state_transition" not in ds.variables:
        raise InvalidInput("the trajectory has no state_transition; ask for it: polhode.integrate(..., tangent=True)")
    return ds["state_transition"]


def in_quaternions(ds: xr.Dataset) -> xr.DataArray:
    """The transition matrix with quaternions in the place of rotations, rows and columns: a change theta of the
    rotation is q (0, theta)/2 of the quaternion q, and one along q itself is 0."""
    matrix = matrix_of(ds)
    rows, columns = (list(map(str, matrix[name].values)) for name in ("row", "column"))
    several = "body" in ds["attitude"].dims if "attitude" in ds.variables else False
    bodies = [name[len("rotation_x") :] for name in rows if name.startswith("rotation_x")]
    if not bodies:
        raise InvalidInput("state_transition has no rotations: the bodies have no attitude")
    values = matrix.transpose("time", "row", "column").values
    for ending in bodies:
        q = ds["attitude"].isel(body=int(ending[1:])) if several else ds["attitude"]
        here = q.transpose("time", "quaternion").values
        turning = [rotations.multiply(here, 0.5 * np.eye(4)[1 + k]) for k in range(3)]
        spread = np.stack(turning, axis=-1)  # derivatives by the rotation vector in the body frame (time, 4, 3)
        names = [name + ending for name in ROTATION]
        k = rows.index(names[0])
        values = np.concatenate([values[:, :k], spread @ values[:, k : k + 3], values[:, k + 3 :]], axis=1)
        rows[k : k + 3] = [name + ending for name in QUATERNION]
        k = columns.index(names[0])
        back = 4.0 * np.swapaxes(spread[:1], 1, 2)  # theta = 2 vec(q* dq)
        values = np.concatenate([values[..., :k], values[..., k : k + 3] @ back, values[..., k + 3 :]], axis=2)
        columns[k : k + 3] = [name + ending for name in QUATERNION]
    return _array(matrix, values, rows, columns)


def in_elements(ds: xr.Dataset, mu: float | None = None) -> xr.DataArray:
    """The transition matrix with six orbital elements in the place of position and momentum, differentiated by
    differences of order 8 (relative error about 1e-12); columns of parameters stay derivatives at fixed position and
    momentum."""
    matrix = matrix_of(ds)
    rows, columns = (list(map(str, matrix[name].values)) for name in ("row", "column"))
    if ORBIT[0] not in rows:
        raise InvalidInput("state_transition has no orbit of one body, whose elements these could be")
    known = gravity_parameter(ds, mu)
    r, v, p = (ds[name].transpose("time", "axis").values for name in ("position", "velocity", "momentum"))
    mass = float(np.sum(p[0] * v[0]) / np.sum(v[0] * v[0]))
    slopes = _of_elements(r, v, known)
    slopes[..., 3:] /= mass
    values = matrix.transpose("time", "row", "column").values.copy()
    k, n = rows.index(ORBIT[0]), columns.index(ORBIT[0])
    values[:, k : k + 6] = slopes @ values[:, k : k + 6]
    values[..., n : n + 6] = values[..., n : n + 6] @ np.linalg.inv(slopes[0])
    rows[k : k + 6] = columns[n : n + 6] = ELEMENTS
    return _array(matrix, values, rows, columns)


def _of_elements(r: Array, v: Array, mu: float) -> Array:
    """Derivatives of the elements by position and velocity (n, 6, 6)."""
    found = orbits.classical_elements(r, v, mu)
    tilt = np.asarray(found.inclination)
    for name, small in (("circular", np.asarray(found.eccentricity) < FLAT),
                        ("equatorial", np.minimum(tilt, np.pi - tilt) < FLAT)):  # fmt: skip
        if small.any():
            raise InvalidInput(
                f"the orbit is nearly {name} in row {int(np.argmax(small))}, so that its elements have no derivatives; "
                "use state_transition as it is"
            )

    def elements(x: Array) -> Array:
        one = orbits.classical_elements(x[:, :3], x[:, 3:], mu)
        return np.stack([np.asarray(getattr(one, name)) for name in ELEMENTS], axis=1)

    x = np.concatenate([r, v], axis=1)
    slopes = np.empty((len(x), 6, 6))
    sizes = [np.linalg.norm(r, axis=1), np.linalg.norm(v, axis=1)]
    smallest = np.minimum(np.asarray(found.eccentricity), np.minimum(np.sin(tilt), 1.0))
    for k in range(6):
        offset = OFFSET * smallest * sizes[k // 3]
        total: Array | float = 0.0
        for n, weight in STENCIL:
            step = np.zeros_like(x)
            step[:, k] = n * offset
            change = elements(x + step) - elements(x - step)
            change[:, 2:] = np.remainder(change[:, 2:] + np.pi, 2.0 * np.pi) - np.pi
            total = total + weight * change
        slopes[:, :, k] = total / offset[:, None]
    return slopes


def _array(matrix: xr.DataArray, values: object, rows: list[str], columns: list[str]) -> xr.DataArray:
    """The matrix with other rows and columns."""
    coordinates = {"time": matrix["time"], "row": rows, "column": columns}
    attributes = {"long_name": matrix.attrs["long_name"], "units": matrix.attrs["units"]}
    return xr.DataArray(values, coordinates, ("time", "row", "column"), "state_transition", attributes)
