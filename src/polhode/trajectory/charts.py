"""Recorded attitudes as three numbers: charts added to a trajectory, and changed from one branch to another.

    q   attitude of a row, a unit quaternion
    v   rotation vector, angle times axis; |v| = phi
    g   Gibbs-Rodrigues vector, tan(phi/2) times axis
    m   modified Rodrigues vector, tan(phi/4) times axis

Many triples of numbers are the same attitude; a **branch** is a rule that chooses one of them:

========== ============================================================================================================
principal  each row by itself: |v| at most pi, |m| at most 1; outer Euler angles in (-pi, pi], the middle one in
           [-pi/2, pi/2], or in [0, pi] where the sequence returns to its first axis. Jumps where a bound is passed.
tracked    by the sign of a quaternion that is followed from row to row: |v| at most 2 pi, m of any length. Jumps to the
           opposite side where a whole turn is passed [holzinger2021, eq. 26].
continuous the nearest to the row before, of any size: nothing jumps, turns add up.
========== ============================================================================================================

Every row is read off its own attitude, also where its branch is followed, so that errors never add up.
"""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.algebra import rotation
from polhode.algebra.euler import SEQUENCES
from polhode.arguments import choice
from polhode.errors import InvalidInput, unknown_name
from polhode.trajectory.schema import ANGLES, AXES, MEANING, UNITS

if TYPE_CHECKING:
    import xarray as xr

CHARTS: dict[str, tuple[str, ...]] = {
    "rotation_vector": ("tracked", "principal", "continuous"),
    "euler_angles": ("principal", "continuous"),
    "modified_rodrigues": ("principal", "tracked"),
    "gibbs_rodrigues": (),
}
"""Branches of every chart, the ordinary one first; the Gibbs-Rodrigues vector has no choice."""

LOCKED, UNSAFE = 1e-9, 1e-2
"""How near a singular value outer Euler angles are round-off, and how near it their rates are dangerous (rad)."""

HALF_TURN = 1e-15
"""|w| of a unit quaternion below which it is a half turn, which has no Gibbs-Rodrigues vector."""


def with_chart(ds: xr.Dataset, chart: str, *, sequence: str | None = None, branch: str | None = None) -> xr.Dataset:
    """A trajectory with its attitude also as three numbers.

    Parameters
    ----------
    ds : xarray.Dataset
        A trajectory, or any Dataset with a variable ``attitude``.
    chart : {"rotation_vector", "euler_angles", "modified_rodrigues", "gibbs_rodrigues"}
        What to add. A variable of that name is replaced.
    sequence : str, optional
        Of Euler angles, see ``polhode.rotation.quaternion_from_euler``; ``"XYZ"`` unless given.
    branch : {"principal", "tracked", "continuous"}, optional
        Which of the triples that are the same attitude, see ``polhode.convert_branch``. The ordinary ones are
        ``"tracked"`` for rotation vectors and ``"principal"`` for the others. Any branch begins with the principal
        triple of the first row.

    Returns
    -------
    xarray.Dataset
        A copy of ``ds`` with the variable, along ``time`` (and ``body``) and ``axis``, of Euler angles ``angle``; its
        attributes say branch and sequence. Attitudes come back from the numbers to 3e-15, from numbers beyond 2 pi
        to 4e-16 times their size.

    Raises
    ------
    InvalidInput
        No attitude; an unknown chart, sequence or branch; rows too far apart to follow a branch; a half turn, which has
        no Gibbs-Rodrigues vector.

    Examples
    --------
    >>> from polhode.systems import free_body
    >>> from polhode.runs.single import integrate
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
    import xarray as xr

    if not isinstance(ds, xr.Dataset) or "attitude" not in ds:
        raise InvalidInput("there is no variable 'attitude' to make a chart of; take the Dataset of a run")
    rows, sizes = _rows(ds["attitude"], "quaternion")
    q = rotation.normalize(rows)
    first = _principal(chart, q[:1], sequence, ds)[0]
    made = _branch(chart, branch, q, first, sequence, ds)
    attributes = {"long_name": MEANING[chart], "units": UNITS["consistent"][chart]}
    if branch is not None:
        attributes["branch"] = branch
    if sequence is not None:
        attributes["sequence"] = sequence
    times = np.atleast_1d(ds["time"].values) if "time" in ds.coords else np.arange(len(made))
    note = singular_note(chart, made, sequence, times)
    if note:
        attributes["note"] = note
    last = "angle" if chart == "euler_angles" else "axis"
    coordinates = {last: (last, list(ANGLES if last == "angle" else AXES))} if last not in ds.coords else {}
    return ds.assign_coords(coordinates).assign({chart: _shaped(made, sizes, last, attributes)})


def convert_branch(ds: xr.Dataset, branch: str, chart: str | None = None) -> xr.Dataset:
    """A trajectory whose three-number charts follow another branch.

    Parameters
    ----------
    ds : xarray.Dataset
        With charts: from a method that keeps its attitude in one, or from ``polhode.with_chart``.
    branch : {"principal", "tracked", "continuous"}
        ``"principal"``: each row by itself, vectors no longer than pi (modified Rodrigues vectors: than 1), outer Euler
        angles in (-pi, pi] and the middle one in its range. ``"tracked"``: by the sign of a quaternion followed from
        row to row, vectors up to 2 pi long. ``"continuous"``: the nearest to the row before, of any size, from the
        first row as it is.
    chart : str, optional
        Which variable; all charts unless given.

    Returns
    -------
    xarray.Dataset
        A copy; the attribute ``branch`` of the variables is the new one. The attitudes are the same to 3e-15, beyond
        2 pi to 4e-16 times the length. What already follows a branch from row to row is left as it is.

    Raises
    ------
    InvalidInput
        No chart, or one that has no such branch; rows that may be more than half a turn apart, by the angular velocity
        at their ends, between which a branch cannot be followed.

    Notes
    -----
    Close to gimbal lock, rows decide: where the middle angle comes within a row's turn of its bound, the nearest
    angles may go on beyond it although those of the motion itself turn back just before. Both are the same attitude.

    Examples
    --------
    >>> convert_branch(ds, "continuous", "euler_angles")                                           # doctest: +SKIP
    """
    import xarray as xr

    found = [name for name in CHARTS if isinstance(ds, xr.Dataset) and name in ds]
    if chart is not None:
        choice(chart, "chart of this Dataset", found or ["(none)"])
    if not found:
        raise InvalidInput("this Dataset has no chart; add one: with_chart(ds, 'euler_angles')")
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
        if branch == "tracked":
            first = _within_two_turns(name, first)
        made = _branch(name, branch, _attitudes(name, values, sequence), first, sequence, ds)
        changed[name] = _shaped(made, sizes, last, {**variable.attrs, "branch": branch})
    return ds.assign(changed)


def singular_note(chart: str, values: Any, sequence: str | None, times: Any, rates: bool = False) -> str:
    """What to say of rows at which a chart is singular; empty where there are none.

    Parameters
    ----------
    chart : str
        Name of the variable.
    values : array (n, bodies, 3)
        Its numbers.
    sequence : str or None
        Of Euler angles.
    times : array (n,)
        Times of the rows.
    rates : bool
        Whether the numbers come from integrating their rates.
    """
    if chart == "euler_angles" and sequence is not None:
        proper = sequence[0] == sequence[2]
        margin = np.sin(values[..., 1]) if proper else np.cos(values[..., 1])
        what = f"angles[0] and angles[2] of sequence {sequence!r}"
        where = f"angles[1] is within {{:g}} rad of {'0 or pi' if proper else '-pi/2 or pi/2'}"
    elif chart == "rotation_vector" and rates:
        angle = np.linalg.norm(values, axis=-1)
        margin = np.where(angle > 3.0, np.sin(0.5 * angle), 1.0)
        what, where = "the components", "the vector is within {:g} rad of a whole turn"
    else:
        return ""
    near = UNSAFE if rates else LOCKED
    rows = np.flatnonzero((np.abs(margin) < near).any(axis=1))
    if not len(rows):
        return ""
    rows_text = f"in {len(rows)} of {len(times)} rows, first at t = {times[rows[0]]:.9g}, {where.format(near)}"
    if rates:
        return f"{rows_text}: there the rates of {what} grow without bound, and the attitude after it may be wrong"
    return (
        f"{rows_text}: {what} are not determined one by one there, one of them was kept; the attitude is not affected"
    )


def _no_such_branch(chart: str, branch: object, among: list[str] | None = None) -> InvalidInput:
    if not CHARTS[chart]:
        other = "; name the chart to convert" if among and len(among) > 1 else ""
        return InvalidInput(f"the chart {chart!r} has no branches: one attitude has one such vector{other}")
    error = unknown_name(f"branch of {chart!r}", branch, CHARTS[chart])
    able = [name for name in among or () if isinstance(branch, str) and branch in CHARTS[name]]
    if not able:
        return error
    return InvalidInput(f"{error}; to convert the other chart alone: convert_branch(ds, {branch!r}, {able[0]!r})")


def _rows(variable: xr.DataArray, last: str) -> tuple[Any, dict[str, int]]:
    """Values as (rows, bodies, k), and the dimensions that the rows and bodies are, time first."""
    dims = sorted((str(dim) for dim in variable.dims if dim != last), key=lambda dim: dim != "time")
    values = np.asarray(variable.transpose(*dims, last).values, dtype=float)
    rows = variable.sizes["time"] if "time" in dims else 1
    return values.reshape(rows, -1, values.shape[-1]), {dim: variable.sizes[dim] for dim in dims}


def _shaped(made: Any, sizes: dict[str, int], last: str, attributes: dict[str, Any]) -> xr.Variable:
    """The inverse of ``_rows``, as a variable."""
    import xarray as xr

    return xr.Variable([*sizes, last], made.reshape(*sizes.values(), 3), attributes)


# ------------------------------------------------------------------ numbers of a chart and attitudes
def _attitudes(chart: str, values: Any, sequence: str | None) -> Any:
    """Unit quaternions (..., 4) of the numbers of a chart (..., 3)."""
    if chart == "euler_angles":
        return rotation.quaternion_from_euler(values, str(sequence))
    return rotation.exp_quaternion(_vector_of_modified(values) if chart == "modified_rodrigues" else values)


def _principal(chart: str, q: Any, sequence: str | None, ds: xr.Dataset) -> Any:
    """The principal numbers of attitudes, each by itself."""
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


def _branch(chart: str, branch: str | None, q: Any, first: Any, sequence: str | None, ds: xr.Dataset) -> Any:
    """The numbers (n, bodies, 3) of attitudes (n, bodies, 4); a branch that is followed begins with ``first``."""
    if branch in (None, "principal"):
        return _principal(chart, q, sequence, ds)
    _refuse_gaps(ds, str(branch))
    made = np.empty((*q.shape[:2], 3))
    modified = chart == "modified_rodrigues"
    for body in range(q.shape[1]):
        if chart == "euler_angles":
            made[:, body] = rotation.angles_along(q[:, body], first[body], str(sequence))
        else:
            start = _vector_of_modified(first[body]) if modified else first[body]
            v = rotation.vectors_along(q[:, body], start, str(branch))
            made[:, body] = _modified_of_vector(v) if modified else v
    return made


def _modified_of_vector(v: Any) -> Any:
    """tan(phi/4) n."""
    phi = np.linalg.norm(v, axis=-1, keepdims=True)
    return v * np.divide(np.tan(0.25 * phi), phi, out=np.full_like(phi, 0.25), where=phi > 0.0)


def _vector_of_modified(m: Any) -> Any:
    """The inverse of ``_modified_of_vector``, for |v| up to 2 pi."""
    size = np.linalg.norm(m, axis=-1, keepdims=True)
    return m * np.divide(4.0 * np.arctan(size), size, out=np.full_like(size, 4.0), where=size > 0.0)


def _within_two_turns(chart: str, first: Any) -> Any:
    """Vectors of the first row, those beyond 2 pi by others with the same quaternion."""
    long = (np.linalg.norm(first, axis=-1, keepdims=True) > 2.0 * pi) & (chart == "rotation_vector")
    return np.where(long, rotation.compose(first, np.zeros(3), branch="tracked"), first)


# ------------------------------------------------------------------ rows too far apart
def _refuse_gaps(ds: xr.Dataset, branch: str) -> None:
    """Refuse rows between which a body may turn by more than half a turn, by its angular velocity at both."""
    if "angular_velocity" not in ds or "time" not in ds.dims or "time" not in ds.coords:
        return
    omega, _ = _rows(ds["angular_velocity"], "axis")
    speed = np.linalg.norm(omega, axis=-1).max(axis=1, initial=0.0)
    turned = np.maximum(speed[1:], speed[:-1]) * np.abs(np.diff(ds["time"].values))
    far = np.flatnonzero(turned > pi)
    if len(far):
        k = int(far[0])
        more = int(np.ceil(turned.max() / pi))
        raise InvalidInput(
            f"{_place(ds, k + 1)} may be {turned[k]:.3g} rad from the row before, and branch {branch!r} is followed "
            f"over half a turn at most; record at least {more} times as many rows (every= or t_eval=), or take the "
            "branch 'principal', which needs no neighbours"
        )


def _place(ds: xr.Dataset, row: int) -> str:
    if "time" not in ds.coords:
        return f"row {row}"
    return f"row {row} (time {np.atleast_1d(ds['time'].values)[row]:.9g})"
