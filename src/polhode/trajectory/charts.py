"""Attitudes as three numbers: add a chart to a trajectory, and convert it from one branch to another.

    q   attitude of a row, a unit quaternion
    v   rotation vector, angle times axis; |v| = phi
    g   Gibbs-Rodrigues vector, tan(phi/2) times axis
    m   modified Rodrigues vector, tan(phi/4) times axis

Many triples describe the same attitude; a **branch** is a rule that selects one of them:

========== ============================================================================================================
principal  each row independently: |v| at most pi, |m| at most 1; outer Euler angles in (-pi, pi], the middle one in
           [-pi/2, pi/2], or in [0, pi] where the sequence repeats its first axis. Jumps where a bound is passed.
tracked    follows the sign of a quaternion that is continuous from row to row: |v| at most 2 pi, m of any length. Jumps
           to the opposite side at a full revolution [holzinger2021, eq. 26].
continuous the triple nearest to the previous row, unbounded: no jumps, revolutions accumulate.
========== ============================================================================================================

Each row is computed from its own attitude on every branch, so errors do not accumulate.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.algebra.euler import SEQUENCES
from polhode.algebra.rotation.parameters import angles_along, vectors_along
from polhode.arguments import Array, Indices, choice
from polhode.errors import InvalidInput, naming, unknown_name
from polhode.lazy import xr
from polhode.trajectory.schema import ANGLES, AXES, MEANING, UNITS, trajectory

CHARTS: dict[str, tuple[str, ...]] = {
    "rotation_vector": ("tracked", "principal", "continuous"),
    "euler_angles": ("principal", "continuous"),
    "modified_rodrigues": ("principal", "tracked"),
    "gibbs_rodrigues": (),
}
"""Branches of each chart, the default first; the Gibbs-Rodrigues vector is unique."""

LOCKED, UNSAFE = 1e-9, 1e-2
"""Distance (rad) from a singularity below which the outer Euler angles, or integrated rates, are unreliable."""

HALF_TURN = 1e-15
"""|w| of a unit quaternion below which it counts as a rotation by pi, which has no Gibbs-Rodrigues vector."""


def with_chart(ds: xr.Dataset, chart: str, *, sequence: str | None = None, branch: str | None = None) -> xr.Dataset:
    """Return the trajectory with its attitude added as three numbers.

    Parameters
    ----------
    ds : xarray.Dataset
        A trajectory, or any Dataset with a variable ``attitude``.
    chart : {"rotation_vector", "euler_angles", "modified_rodrigues", "gibbs_rodrigues"}
        What to add. A variable of that name is replaced.
    sequence : str, optional
        Euler sequence, see ``polhode.rotation.quaternion_from_euler``; default ``"XYZ"``.
    branch : {"principal", "tracked", "continuous"}, optional
        Which of the equivalent triples, see ``polhode.trajectory.convert_branch``. Default: ``"tracked"`` for rotation
        vectors, ``"principal"`` for Euler angles and modified Rodrigues vectors. Every branch starts from the
        principal triple of the first row.

    Returns
    -------
    xarray.Dataset
        A copy of ``ds`` with the new variable, along ``time`` (and ``body``) and ``axis`` (``angle`` for Euler angles);
        attributes ``branch`` and ``sequence``. Converting back reproduces the attitude to 3e-15, beyond 2 pi to 4e-16
        times the size of the triple.

    Raises
    ------
    InvalidInput
        No attitude; an unknown chart, sequence or branch; rows too far apart to follow a branch; a rotation by pi,
        which has no Gibbs-Rodrigues vector.

    Examples
    --------
    >>> from polhode.systems import free_body
    >>> from polhode.runs.integrate import integrate
    >>> ds = integrate(free_body((1, 2, 3)), "exact", step=0.5, steps=10, angular_velocity=(0, 0, 1))
    >>> float(with_chart(ds, "euler_angles", branch="continuous").euler_angles[-1, 2].round(12))
    5.0
    """
    branches = CHARTS[choice(chart, "chart", CHARTS)]
    if branch is None:
        branch = branches[0] if branches else None
    elif not isinstance(branch, str) or branch not in branches:
        raise _no_such_branch(chart, branch)
    if chart != "euler_angles" and sequence is not None:
        raise InvalidInput(f"a sequence belongs to Euler angles; leave it out of chart {chart!r}")
    if chart == "euler_angles":
        sequence = choice("XYZ" if sequence is None else sequence, "Euler sequence", SEQUENCES)
    if not isinstance(ds, xr.Dataset) or "attitude" not in ds:
        raise InvalidInput("there is no variable 'attitude' to make a chart of; take the Dataset of a run")
    trajectory(ds)
    rows, sizes = _rows(ds["attitude"], "quaternion")
    with naming(q="attitude"):
        q = rotation.normalize(rows)
    triples = _branch(chart, branch, q, _principal(chart, q[:1], sequence, ds)[0], sequence, ds)
    attributes = {"long_name": MEANING[chart], "units": UNITS["consistent"][chart]}
    if branch is not None:
        attributes["branch"] = branch
    if sequence is not None:
        attributes["sequence"] = sequence
    times = np.atleast_1d(ds["time"].values) if "time" in ds.coords else np.arange(len(triples))
    note = singular_note(chart, triples, sequence, times)
    if note:
        attributes["note"] = note
    last = "angle" if chart == "euler_angles" else "axis"
    coordinates = {last: (last, list(ANGLES if last == "angle" else AXES))} if last not in ds.coords else {}
    return ds.assign_coords(coordinates).assign({chart: _shaped(triples, sizes, last, attributes)})


def convert_branch(ds: xr.Dataset, branch: str, chart: str | None = None) -> xr.Dataset:
    """Return the trajectory with its three-number attitudes converted to another branch.

    Parameters
    ----------
    ds : xarray.Dataset
        With charts: from a method that integrates in one, or from ``polhode.trajectory.with_chart``.
    branch : {"principal", "tracked", "continuous"}
        ``"principal"``: each row independently, vectors no longer than pi (modified Rodrigues vectors: 1), outer Euler
        angles in (-pi, pi] and the middle one in its range. ``"tracked"``: follows the sign of a quaternion continuous
        from row to row, vectors up to 2 pi long. ``"continuous"``: the triple nearest to the previous row, unbounded,
        starting from the first row unchanged.
    chart : str, optional
        Name of one chart; default all.

    Returns
    -------
    xarray.Dataset
        A copy; the attribute ``branch`` of the variables is updated. Attitudes are unchanged to 3e-15, beyond 2 pi to
        4e-16 times the length. A chart already on the requested tracked or continuous branch is left unchanged.

    Raises
    ------
    InvalidInput
        No chart, or one without this branch; consecutive rows that may be more than a rotation of pi apart, judged by
        their angular velocities, so that a branch cannot be followed.

    Notes
    -----
    Near gimbal lock the result depends on the spacing of rows: where the middle angle comes within one row's rotation
    of its bound, the nearest angles may continue past it although the motion turns back just before. Both triples
    describe the same attitude.

    Examples
    --------
    >>> convert_branch(ds, "continuous", "euler_angles")                                           # doctest: +SKIP
    """
    found = [name for name in CHARTS if isinstance(ds, xr.Dataset) and name in ds]
    if chart is not None:
        choice(chart, "chart of this Dataset", found or ["(none)"])
    if not found:
        raise InvalidInput("this Dataset has no chart; add one: with_chart(ds, 'euler_angles')")
    trajectory(ds)
    changed = {}
    for name in found if chart is None else [chart]:
        if not isinstance(branch, str) or branch not in CHARTS[name]:
            raise _no_such_branch(name, branch, found)
        variable = ds[name]
        old, sequence = variable.attrs.get("branch"), variable.attrs.get("sequence")
        if old not in CHARTS[name]:
            raise InvalidInput(f"the variable {name!r} does not say which branch it follows: its attribute 'branch'")
        if name == "euler_angles" and sequence not in SEQUENCES:
            raise InvalidInput("the variable 'euler_angles' does not say its Euler sequence: its attribute 'sequence'")
        if old == branch != "principal":
            continue
        last = "angle" if name == "euler_angles" else "axis"
        values, sizes = _rows(variable, last)
        first = values[0]
        if branch == "tracked" and name == "rotation_vector":  # longer than 2 pi: a shorter one, of the same quaternion
            long = np.linalg.norm(first, axis=-1, keepdims=True) > 2.0 * pi
            first = np.where(long, rotation.compose(first, np.zeros(3), branch="tracked"), first)
        with naming(v=name, angles=name):
            triples = _branch(name, branch, _attitudes(name, values, sequence), first, sequence, ds)
        changed[name] = _shaped(triples, sizes, last, {**variable.attrs, "branch": branch})
    return ds.assign(changed)


def singular_note(chart: str, values: Array, sequence: str | None, times: Array | Indices, rates: bool = False) -> str:
    """Return a note on the rows at which a chart is singular; empty where there are none."""
    rows = singular_rows(chart, values, sequence, rates)
    return singular_words(chart, sequence, len(rows), len(times), times[rows[0]], rates) if len(rows) else ""


def singular_rows(chart: str, values: Array, sequence: str | None, rates: bool = False) -> Indices:
    """Numbers of the rows at which a chart is singular; arguments as of ``singular_note``."""
    unsafe = sequence is not None if chart == "euler_angles" else chart == "rotation_vector" and rates
    if not unsafe:
        return np.empty(0, dtype=np.int64)
    if chart == "euler_angles":
        assert sequence is not None
        margin = np.sin(values[..., 1]) if sequence[0] == sequence[2] else np.cos(values[..., 1])
    else:
        angle = np.linalg.norm(values, axis=-1)
        margin = np.where(angle > 3.0, np.sin(0.5 * angle), 1.0)
    return np.flatnonzero((np.abs(margin) < (UNSAFE if rates else LOCKED)).any(axis=1))


def singular_words(chart: str, sequence: str | None, many: int, rows: int, first: float, rates: bool = False) -> str:
    """The note on so many singular rows among ``rows``, the first of them at time ``first``."""
    near = UNSAFE if rates else LOCKED
    what, where = "the components", f"the vector is within {near:g} rad of a whole turn"
    if chart == "euler_angles":
        assert sequence is not None
        poles = "0 or pi" if sequence[0] == sequence[2] else "-pi/2 or pi/2"
        what = f"angles[0] and angles[2] of sequence {sequence!r}"
        where = f"angles[1] is within {near:g} rad of {poles}"
    told = f"in {many} of {rows} rows, first at t = {first:.9g}, {where}"
    if rates:
        return f"{told}: there the rates of {what} grow without bound, and the attitude after it may be wrong"
    return f"{told}: {what} are not determined one by one there, one of them was kept; the attitude is not affected"


def _no_such_branch(chart: str, branch: object, among: list[str] | None = None) -> InvalidInput:
    if not CHARTS[chart]:
        other = "; name the chart to convert" if among and len(among) > 1 else ""
        return InvalidInput(f"the chart {chart!r} has no branches: one attitude has one such vector{other}")
    error = unknown_name(f"branch of {chart!r}", branch, CHARTS[chart])
    able = [name for name in among or () if isinstance(branch, str) and branch in CHARTS[name]]
    if not able:
        return error
    return InvalidInput(f"{error}; to convert the other chart alone: convert_branch(ds, {branch!r}, {able[0]!r})")


def _rows(variable: xr.DataArray, last: str) -> tuple[Array, dict[str, int]]:
    """Values reshaped to (rows, bodies, k), and the sizes of the leading dimensions, time first."""
    dims = sorted((str(dim) for dim in variable.dims if dim != last), key=lambda dim: dim != "time")
    values = np.asarray(variable.transpose(*dims, last).values, dtype=float)
    rows = variable.sizes["time"] if "time" in dims else 1
    if not values.size:
        raise InvalidInput(f"{variable.name} has no rows; leave some in the Dataset")
    return values.reshape(rows, -1, values.shape[-1]), {dim: variable.sizes[dim] for dim in dims}


def _shaped(values: Array, sizes: dict[str, int], last: str, attributes: dict[str, Any]) -> xr.Variable:
    """Inverse of ``_rows``: the values as an xarray Variable."""
    return xr.Variable([*sizes, last], values.reshape(*sizes.values(), 3), attributes)


# ------------------------------------------------------------------ between charts and quaternions
def _attitudes(chart: str, values: Array, sequence: str | None) -> Array:
    """Unit quaternions (..., 4) from the triples (..., 3) of a chart."""
    if chart == "euler_angles":
        return rotation.quaternion_from_euler(values, str(sequence))
    return rotation.exp_quaternion(_vector_of_modified(values) if chart == "modified_rodrigues" else values)


def _principal(chart: str, q: Array, sequence: str | None, ds: xr.Dataset) -> Array:
    """Principal triples (..., 3) of unit quaternions (..., 4), each row independently."""
    if chart == "euler_angles":
        return rotation.euler_from_quaternion(q, str(sequence))
    if chart == "gibbs_rodrigues":
        locked = np.argwhere(np.abs(q[..., 0]) < HALF_TURN)
        if len(locked):
            raise InvalidInput(
                f"{_place(ds, int(locked[0, 0]))} is a half turn, which has no Gibbs-Rodrigues vector; take "
                "'modified_rodrigues'"
            )
        return q[..., 1:] / q[..., :1]
    v = rotation.log_quaternion(q)
    return _modified_of_vector(v) if chart == "modified_rodrigues" else v


def _branch(chart: str, branch: str | None, q: Array, first: Array, sequence: str | None, ds: xr.Dataset) -> Array:
    """Triples (n, bodies, 3) of quaternions (n, bodies, 4); tracked and continuous branches start from ``first``."""
    if branch in (None, "principal"):
        return _principal(chart, q, sequence, ds)
    _refuse_gaps(ds, str(branch))
    triples = np.empty((*q.shape[:2], 3))
    modified = chart == "modified_rodrigues"
    for body in range(q.shape[1]):
        if chart == "euler_angles":
            triples[:, body] = angles_along(q[:, body], first[body], str(sequence))
        else:
            v = vectors_along(q[:, body], _vector_of_modified(first[body]) if modified else first[body], str(branch))
            triples[:, body] = _modified_of_vector(v) if modified else v
    return triples


def _modified_of_vector(v: Array) -> Array:
    """Modified Rodrigues vector tan(phi/4) n of the rotation vector phi n."""
    phi = np.linalg.norm(v, axis=-1, keepdims=True)
    return v * np.divide(np.tan(0.25 * phi), phi, out=np.full_like(phi, 0.25), where=phi > 0.0)


def _vector_of_modified(m: Array) -> Array:
    """The inverse of ``_modified_of_vector``, for |v| up to 2 pi."""
    size = np.linalg.norm(m, axis=-1, keepdims=True)
    return m * np.divide(4.0 * np.arctan(size), size, out=np.full_like(size, 4.0), where=size > 0.0)


# ------------------------------------------------------------------ rows too far apart
def _refuse_gaps(ds: xr.Dataset, branch: str) -> None:
    """Raise if a body may rotate by more than pi between consecutive rows, judged by its angular velocity at both."""
    if "angular_velocity" not in ds or "time" not in ds.dims or "time" not in ds.coords:
        return
    omega, _ = _rows(ds["angular_velocity"], "axis")
    with np.errstate(over="ignore", invalid="ignore"):
        speed = np.linalg.norm(omega, axis=-1).max(axis=1, initial=0.0)
        angle = np.maximum(speed[1:], speed[:-1]) * np.abs(np.diff(ds["time"].values))
    far = np.flatnonzero(angle > pi)
    if len(far):
        k = int(far[0])
        raise InvalidInput(
            f"{_place(ds, k + 1)} may be {angle[k]:.3g} rad from the row before, and branch {branch!r} is followed "
            f"over half a turn at most; record at least {np.ceil(angle.max() / pi):.6g} times as many rows (every= or "
            "t_eval=), or take the branch 'principal', which needs no neighbours"
        )


def _place(ds: xr.Dataset, row: int) -> str:
    if "time" not in ds.coords:
        return f"row {row}"
    return f"row {row} (time {np.atleast_1d(ds['time'].values)[row]:.9g})"
