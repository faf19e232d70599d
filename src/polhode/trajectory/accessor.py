"""The accessor ``ds.polhode``: what users do with a trajectory, as methods of its Dataset.

    ds.polhode.euler("ZYX", degrees=True)         # any of the 24 Euler sequences, optionally without jumps
    ds.polhode.rotation()                         # a SciPy Rotation, its scalar where SciPy wants it
    ds.polhode.lvlh(degrees=True)                 # roll, pitch, yaw from the local vertical and horizontal
    ds.polhode.elements()                         # osculating elements, a Dataset
    ds.polhode.relative("a", "b")                 # body b as seen from body a: position, velocity, attitude, distance
    ds.polhode.joints()                           # angles of hinges, lengths of sliders, forces
    ds.polhode.ground_track(degrees=True)         # longitude, latitude and altitude
    ds.polhode.altitude()                         # above a sphere
    ds.polhode.pointing_error(toward="sun")       # angle of an axis of the body from a direction
    ds.polhode.transition("elements")             # the state transition matrix in elements, or quaternions
    ds.polhode.to_pandas()                        # one flat table: attitude_w, position_x, ...
    ds.polhode.astropy_time()                     # the rows as an astropy Time
    ds.polhode.plot(), ds.polhode.view(), ds.polhode.animate()

Every Dataset has the accessor, whoever opened the file; a method says what it misses where the Dataset is not a
trajectory, or is one without the variable it needs. Nothing is changed in place. ``body`` and ``member`` choose one of
several, by number or bodies by their name; results keep these dimensions where they are not given.

The formulas live elsewhere: ``polhode.rotation``, ``polhode.trajectory.with_chart``, ``trajectory.frames``, ``epochs``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.algebra import rotation as rotations
from polhode.algebra.euler import SEQUENCES
from polhode.arguments import Array, ArrayLike, choice, truth, whole
from polhode.epochs import epoch_of
from polhode.errors import InvalidInput
from polhode.lazy import extra, xr
from polhode.trajectory import frames, transitions
from polhode.trajectory.charts import with_chart
from polhode.trajectory.relative import index_of, joint_motion, relative
from polhode.trajectory.schema import AXES, QUATERNION, own_rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from scipy.spatial.transform import Rotation

METHODS = (
    "euler", "rotation", "relative", "joints", "lvlh", "elements", "ground_track", "altitude", "pointing_error",
    "beta_angle", "eclipses", "transition", "to_pandas", "astropy_time", "plot", "view", "animate",
)  # fmt: skip
"""What the accessor offers, in the order of its text."""
LEADING = ("member", "time", "body")  # the order of dimensions in trajectories; that of components follows
CHOSEN = ("body", "member")  # dimensions of which one entry can be chosen


class TrajectoryAccessor:
    """Methods of a trajectory, as ``ds.polhode``.

    Parameters
    ----------
    ds : xarray.Dataset
        From ``polhode.integrate`` or ``polhode.ensemble``, from a file, or a part of such a Dataset.

    Examples
    --------
    >>> import polhode
    >>> ds = polhode.integrate(polhode.free_body((1, 2, 3)), "exact", step=0.5, steps=4, angular_velocity=(0, 0, 1))
    >>> [float(yaw.round(9)) for yaw in ds.polhode.euler("ZYX")[:, 0]]
    [0.0, 0.5, 1.0, 1.5, 2.0]
    >>> ds.polhode.to_pandas().columns[:4].to_list()
    ['attitude_w', 'attitude_x', 'attitude_y', 'attitude_z']
    """

    def __init__(self, ds: xr.Dataset) -> None:
        self._ds = own_rows(ds)

    def __repr__(self) -> str:
        ds = self._ds
        if "polhode_version" not in ds.attrs:
            return f"ds.polhode of a Dataset that polhode has not made; methods: {', '.join(METHODS)}"
        sizes = ", ".join(f"{name}: {ds.sizes[name]}" for name in ("member", "time", "body") if name in ds.sizes)
        title = ds.attrs.get("title", ds.attrs.get("system", "trajectory"))
        return f"ds.polhode of {title} ({sizes}); methods: {', '.join(METHODS)}"

    # ------------------------------------------------------------------ attitude
    def euler(
        self, sequence: str = "ZYX", *, degrees: bool = False, unwrap: bool = False, body: int | str | None = None,
        member: int | None = None,
    ) -> xr.DataArray:  # fmt: skip
        """Euler angles of the attitude, body to space.

        Parameters
        ----------
        sequence : str
            Any of SciPy's: capitals turn about the body's own axes (intrinsic), small letters about those of space
            (extrinsic); angles in the order of the letters. ``"ZYX"`` is yaw, pitch, roll.
        degrees : bool
            Degrees instead of radians.
        unwrap : bool
            Follow the angles from row to row without jumps; each row is still computed from its own attitude.
        body, member : int or str, optional
            One of several; default all.

        Returns
        -------
        xarray.DataArray
            Along ``time`` (and ``member``, ``body``) and ``angle``. The outer angles in (-pi, pi], the middle one in
            [-pi/2, pi/2], or in [0, pi] where the sequence repeats its first axis; with ``unwrap`` of any size.
            Attributes ``units``, ``sequence``, and a ``note`` where rows are in gimbal lock. NaN where the attitude is.

        Raises
        ------
        InvalidInput
            No attitude; an unknown sequence; with ``unwrap`` rows that may be more than half a turn apart.
        """
        ds = self._chosen("euler", "attitude", body=body, member=member)
        choice(sequence, "Euler sequence", SEQUENCES)
        branch = "continuous" if truth(unwrap, "unwrap") else "principal"
        attitude = ds["attitude"].transpose(..., "quaternion")
        q, known = _filled(attitude)
        made = with_chart(ds.assign(attitude=(attitude.dims, q)), "euler_angles", sequence=sequence, branch=branch)
        angles: xr.DataArray = made["euler_angles"].transpose(*attitude.dims[:-1], "angle").rename("euler")
        if not known.all():
            angles = angles.where(known[..., None])
        return _in_degrees(angles, degrees)

    def rotation(self, *, body: int | str | None = None, member: int | None = None) -> Rotation:
        """The attitudes as a SciPy ``Rotation``, body to space: ``ds.polhode.rotation().apply(vector_in_body)``.

        SciPy's quaternions have the scalar last, those of polhode first; here they are converted.

        Parameters
        ----------
        body, member : int or str, optional
            One of several; needed where there are several, since SciPy keeps no names of dimensions.

        Returns
        -------
        scipy.spatial.transform.Rotation
            One rotation per row, or a single one of a Dataset without ``time``.

        Raises
        ------
        InvalidInput
            No attitude; several bodies or members, and none is chosen; a row without attitude (NaN).
        """
        return _scipy(self._one("rotation", "attitude", body=body, member=member)["attitude"])

    # ------------------------------------------------------------------ two bodies
    def relative(
        self, origin: int | str = 0, other: int | str = 1, *, frame: str = "space", degrees: bool = False,
        member: int | str | None = None,
    ) -> xr.Dataset:  # fmt: skip
        """One body as seen from another.

        Parameters
        ----------
        origin, other : int or str
            The body that is seen from, and the one that is seen: names, or numbers; by default the first two.
        frame : {"space", "body", "lvlh"}
            Axes of position and velocity: of space, of ``origin`` itself, or of its LVLH (see ``lvlh``).
        degrees : bool
            ``angle`` in degrees instead of radians.
        member : int, optional
            One of several; default all.

        Returns
        -------
        xarray.Dataset
            ``position`` and ``velocity``, its rate of change in these axes; ``distance`` and ``range_rate``; and of
            bodies with attitudes ``attitude``, the quaternion that takes the axes of ``other`` to those of ``origin``,
            its ``angle`` (0 to pi), and the relative ``angular_velocity`` in the axes of ``other``. NaN where there is
            none, such as the LVLH of a straight motion.

        Raises
        ------
        InvalidInput
            One body, the same body twice, or an unknown one; no position or velocity.
        """
        ds = self._chosen("relative", "position", "velocity", member=member)
        return _in_degrees(relative(ds, origin, other, frame), degrees)

    def joints(self, *, forces: bool = False, member: int | None = None, **functions: Any) -> xr.Dataset:
        """How the joints of a mechanism move, and the forces by which they hold it.

        Parameters
        ----------
        forces : bool
            The forces, too, from the loads at the rows.
        member : int, optional
            One of several.
        **functions : function or System
            As of ``polhode.runs.joint_forces``.

        Returns
        -------
        xarray.Dataset
            Along ``time`` and ``joint``, by name: ``coordinate``, the angle of a hinge (rad) with its turns, where two
            rows are less than half a turn apart, or the length of a slider, NaN of others; ``rate``; ``gap``, how far
            the joint is open; on request ``force`` and ``torque``, as of ``polhode.runs.joint_forces``.

        Raises
        ------
        InvalidInput
            No joints, or several members.

        Examples
        --------
        >>> import polhode as ph
        >>> arm = ph.system(ph.body("arm", 2.0, (1, 1, 0.1)), ph.loads.weight(),
        ...                 ph.joints.hinge(at=(0, 0, 1), axis=(0, 1, 0), name="shoulder").on("arm", ph.ground))
        >>> ds = ph.integrate(arm, step=0.01, steps=100, start=ph.assemble(arm, {"shoulder": 0.3}))
        >>> ds.polhode.joints().coordinate.values[[0, -1], 0].round(6)
        array([ 0.3     , -0.247981])
        """
        import polhode

        ds = self._one("joints", "time", "position", "velocity", member=member)
        held = polhode.runs.joint_forces(ds, **functions) if truth(forces, "forces") else {}
        return joint_motion(ds).assign(held)

    # ------------------------------------------------------------------ orbit
    def lvlh(
        self, *, degrees: bool = False, rotation: bool = False, body: int | str | None = None, member: int | None = None
    ) -> Rotation:
        """Roll, pitch and yaw of the body relative to its orbit, or that rotation itself.

        LVLH (local vertical, local horizontal) has z to the centre, y against the orbit normal, x along the motion on a
        circle. Yaw, pitch, roll are the angles of the sequence ``"ZYX"`` of the attitude in it [wertz1978, ch. 12].

        Parameters
        ----------
        degrees : bool
            Degrees instead of radians.
        rotation : bool
            Return a SciPy ``Rotation``, body to LVLH, instead of angles.
        body, member : int or str, optional
            One of several; with ``rotation`` needed where there are several.

        Returns
        -------
        xarray.DataArray or scipy.spatial.transform.Rotation
            Along ``time`` (and others) and ``angle``, with the labels ``roll``, ``pitch``, ``yaw``; roll and yaw from
            -pi to pi, pitch from -pi/2 to pi/2. NaN where the motion is straight.

        Raises
        ------
        InvalidInput
            No position, velocity or attitude; as ``rotation``.
        """
        needed = ("position", "velocity", "attitude", "angular_velocity")
        if truth(rotation, "rotation"):
            return _scipy(frames.lvlh(self._one("lvlh", *needed, body=body, member=member))["attitude_in_lvlh"])
        ds = self._chosen("lvlh", *needed, body=body, member=member)
        return _in_degrees(frames.lvlh(ds)["roll_pitch_yaw"].rename("lvlh"), degrees)

    def elements(
        self, *, mu: float | None = None, about: int | str | None = None, degrees: bool = False,
        body: int | str | None = None, member: int | None = None,
    ) -> xr.Dataset:  # fmt: skip
        """Osculating orbital elements of every row.

        Parameters
        ----------
        mu : float, optional
            Gravity parameter of the centre, by default that of the run.
        about : {"heaviest"} or int, optional
            Which of gravitating bodies is the centre; by default the heaviest, whose own elements are NaN.
        degrees : bool
            Angles in degrees instead of radians.
        body, member : int or str, optional
            One of several; default all.

        Returns
        -------
        xarray.Dataset
            ``semi_major_axis``, ``eccentricity``, ``inclination``, ``node``, ``argument_of_periapsis``,
            ``true_anomaly``, ``argument_of_latitude``, ``mean_anomaly``, ``period``, ``periapsis``, ``apoapsis``,
            ``distance``, as of ``polhode.kepler.classical_elements``.

        Raises
        ------
        InvalidInput
            No position or velocity; no gravity parameter is known.
        """
        ds = self._chosen("elements", "position", "velocity", member=member)
        return _in_degrees(_pick(frames.elements(ds, mu, about), "body", body), degrees)

    def transition(self, to: str = "state", *, mu: float | None = None) -> xr.DataArray:
        """The state transition matrix of a run with ``tangent=``, in other coordinates.

        Parameters
        ----------
        to : {"state", "quaternion", "elements"}
            As it is; with the four numbers of quaternions in the place of rotations; with semi-latus rectum,
            eccentricity, inclination, node, argument of periapsis and true anomaly (rad) in the place of position and
            momentum. Rows and columns alike.
        mu : float, optional
            For elements, the gravity parameter of the centre, by default that of the run.

        Returns
        -------
        xarray.DataArray
            Along ``time``, ``row``, ``column``. Of a quaternion's columns the change along the quaternion itself is 0.

        Raises
        ------
        InvalidInput
            No ``state_transition``; no attitude, or no orbit of one body, that could be converted; an orbit too nearly
            circular or equatorial to have elements with derivatives.
        """
        ds = self._chosen("transition", *[] if "polhode_version" in self._ds.attrs else ["state_transition"])
        choice(to, "to", ("state", "quaternion", "elements"))
        if to == "quaternion":
            return transitions.in_quaternions(ds)
        return transitions.in_elements(ds, mu) if to == "elements" else transitions.matrix_of(ds)

    def ground_track(
        self, *, rotation_rate: float | None = None, radius: float | None = None, degrees: bool = False,
        body: int | str | None = None, member: int | None = None,
    ) -> xr.Dataset:  # fmt: skip
        """Longitude and latitude below each row on the rotating central body.

        Parameters
        ----------
        rotation_rate : float, optional
            Of the central body about z, rad per unit of time; by default that of the run, or of a known planet.
        radius : float, optional
            Of the sphere that ``altitude`` is measured from, by default that of the central body.
        degrees : bool
            Degrees instead of radians.
        body, member : int or str, optional
            One of several; default all.

        Returns
        -------
        xarray.Dataset
            ``longitude`` (-pi to pi), geocentric ``latitude``, and ``altitude`` where a radius is known. The prime
            meridian lies along x at time 0, or where the Earth's is if the run about the Earth has an epoch.

        Raises
        ------
        InvalidInput
            No position; no rotation known.
        """
        ds = self._chosen("ground_track", "position", body=body, member=member)
        return _in_degrees(frames.ground_track(ds, rotation_rate, radius), degrees)

    def altitude(
        self, *, radius: float | None = None, body: int | str | None = None, member: int | None = None
    ) -> xr.DataArray:
        """Height above a sphere about the centre.

        Parameters
        ----------
        radius : float, optional
            Of the sphere, by default the equatorial radius of the central body.
        body, member : int or str, optional
            One of several; default all.

        Returns
        -------
        xarray.DataArray
            In the unit of the position.

        Raises
        ------
        InvalidInput
            No position; no radius known.
        """
        return frames.altitude(self._chosen("altitude", "position", body=body, member=member), radius)

    def pointing_error(
        self, axis: ArrayLike = (0.0, 0.0, 1.0), toward: ArrayLike = "nadir", *, degrees: bool = False,
        body: int | str | None = None, member: int | None = None,
    ) -> xr.DataArray:  # fmt: skip
        """Angle between an axis of the body and a direction.

        Parameters
        ----------
        axis : array_like (3,)
            In the body frame, of any length.
        toward : {"nadir", "velocity", "normal", "sun"} or array_like (3,)
            To the centre, along the velocity, along r x v, to the Sun of the run; or a direction in space.
        degrees : bool
            Degrees instead of radians.
        body, member : int or str, optional
            One of several; default all.

        Returns
        -------
        xarray.DataArray
            From 0 to pi.

        Raises
        ------
        InvalidInput
            No attitude; what the direction needs is missing.
        """
        ds = self._chosen("pointing_error", "attitude", body=body, member=member)
        return _in_degrees(frames.pointing_error(ds, axis, toward), degrees)

    def beta_angle(
        self, sun: ArrayLike | None = None, *, degrees: bool = False, body: int | str | None = None
    ) -> xr.DataArray:
        """Angle of the Sun above the plane of the orbit.

        Parameters
        ----------
        sun : array_like (3,), optional
            Direction to it, for a run without sunlight, or with another.
        degrees : bool
            Degrees instead of radians.
        body : int or str, optional
            One of several; default all.

        Raises
        ------
        InvalidInput
            No position; no direction, and no sunlight in the run.
        """
        ds = self._chosen("beta_angle", "position", body=body, member=None)
        return _in_degrees(frames.beta_angle(ds, sun), degrees)

    def eclipses(
        self, sun: ArrayLike | None = None, radius: float | None = None, *, body: int | str | None = None
    ) -> Array | None:
        """Begin and end (k, 2) of each passage through the shadow of the centre, penumbra included.

        Parameters
        ----------
        sun, radius : optional
            Direction to the Sun (3,) and radius of what casts the shadow, for a run without, or another one.
        body : int or str, optional
            One of several; default the first.

        Raises
        ------
        InvalidInput
            No position; a direction without a radius; rows too far apart to tell.
        """
        return frames.shadow(self._chosen("eclipses", "position", body=body, member=None), sun, radius)

    # ------------------------------------------------------------------ tables and times
    def to_pandas(self, *, body: int | str | None = None, member: int | None = None) -> pd.DataFrame:
        """One flat table: a row for each time, a column for each number of a variable.

        Parameters
        ----------
        body, member : int or str, optional
            One of several; default all.

        Returns
        -------
        pandas.DataFrame
            Columns such as ``energy``, ``attitude_w``, ``position_x``, with several bodies ``position_0_x``, with
            forces ``work_drag``. The index is ``time``; with members, ``member`` and ``time``. Variables without
            ``time`` (events, constants of molecules) are left out. ``frame.attrs["units"]`` are those of the columns.

        Raises
        ------
        InvalidInput
            No rows along ``time``.
        MissingExtra
            pandas is not installed.
        """
        return table_of(self._chosen("to_pandas", "time", body=body, member=member))

    def astropy_time(self, epoch: object = None) -> Any:
        """The instants of the rows as an astropy ``Time``, in the time scale of the epoch.

        Parameters
        ----------
        epoch : str, datetime or astropy Time, optional
            The instant of time 0, UTC unless it says otherwise; by default that of the run (its setting ``epoch``).

        Returns
        -------
        astropy.time.Time
            To a nanosecond; leap seconds are counted in UTC.

        Raises
        ------
        InvalidInput
            No epoch, or times that are not in seconds.
        MissingExtra
            astropy is not installed.
        """
        ds = self._chosen("astropy_time", "time")
        if ds.attrs.get("units") == "molecular":
            raise InvalidInput("astropy_time: the times of this trajectory are picoseconds; an epoch counts seconds")
        given = ds.attrs.get("epoch") if epoch is None else epoch
        if given is None:
            raise InvalidInput("astropy_time: epoch is missing; give the instant of time 0, such as "
                               "'2030-01-01T00:00:00 UTC', here or in the settings of the run")  # fmt: skip
        start = epoch_of(given)
        clock = extra("astropy.time", "astropy_time needs astropy; pip install 'polhode[astropy]'")
        seconds, times = int(start.since), np.asarray(ds["time"].values, dtype=float)
        since = clock.TimeDelta(seconds, float(start.since - seconds), format="sec")
        zero = clock.Time("2000-01-01T00:00:00", scale=start.scale.lower())
        return zero + since + clock.TimeDelta(times, format="sec")

    # ------------------------------------------------------------------ pictures
    def plot(self, *arguments: Any, body: int | str | None = None, member: int | None = None, **more: Any) -> Figure:
        """The dashboard of ``polhode.plots.dashboard``, with its arguments.

        Parameters
        ----------
        *arguments, **more
            As of ``polhode.plots.dashboard`` after the Dataset.
        body, member : int or str, optional
            One of several. A dashboard shows one run, so of members one is needed; ``polhode.plots.bands`` shows all.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        InvalidInput
            Not a trajectory; several members, and none is chosen; as the dashboard.
        """
        import polhode

        words = "; polhode.plots.bands draws all of them"
        ds = self._one("plot", "time", "energy_error", besides=words, body=body, member=member)
        return polhode.plots.dashboard(ds, *arguments, **more)

    def view(
        self, *others: xr.Dataset, body: int | str | None = None, member: int | Sequence[int] | None = None, **more: Any
    ) -> Any:
        """The interactive view of ``polhode.view``, with its arguments.

        Parameters
        ----------
        *others : xarray.Dataset or path
            Further runs, shown beside this one.
        body : int or str, optional
            One of several bodies, of all these runs; default all.
        member : int or sequence of int, optional
            Members of an ensemble, shown side by side; default: the first few.
        **more
            As of ``polhode.view``.

        Returns
        -------
        View

        Raises
        ------
        InvalidInput
            Not a trajectory; as ``polhode.view``.
        """
        import polhode

        if member is not None:
            self._chosen("view", "time", member=member if isinstance(member, int) else None)
            more = {"members": [member] if isinstance(member, int | np.integer) else list(member)} | more
        runs = [self._chosen("view", "time", "energy_error", body=body)]
        for ds in others:  # or their files
            known = isinstance(ds, type(self._ds))
            runs.append(TrajectoryAccessor(ds)._chosen("view", "time", "energy_error", body=body) if known else ds)
        return polhode.view(*runs, **more)

    def animate(self, *arguments: Any, body: int | str | None = None, member: int | None = None, **more: Any) -> Any:
        """The moving picture of ``polhode.plots.animate``, with its arguments.

        Parameters
        ----------
        *arguments, **more
            As of ``polhode.plots.animate`` after the Dataset.
        body, member : int or str, optional
            One of several; of members one is needed.

        Raises
        ------
        InvalidInput
            Not a trajectory; several members, and none is chosen; as ``polhode.plots.animate``.
        """
        import polhode

        ds = self._one("animate", "time", "energy_error", body=body, member=member)
        return polhode.plots.animate(ds, *arguments, **more)

    # ------------------------------------------------------------------ what to work on
    def _chosen(self, method: str, *needed: str, **chosen: int | str | None) -> xr.Dataset:
        """The Dataset with what a method needs, of one body or member where one is chosen."""
        ds = self._ds
        missing = [name for name in needed if name not in ds.variables]
        if missing and "polhode_version" not in ds.attrs:
            raise InvalidInput(f"{method}: this Dataset is not a trajectory: it has no {missing[0]}; take one that "
                               "polhode.integrate or polhode.load gives")  # fmt: skip
        if missing:
            system = ds.attrs.get("system", "run")
            raise InvalidInput(f"{method} needs {' and '.join(needed)}, but this trajectory of {system!r} has no "
                               f"{missing[0]}")  # fmt: skip
        if ds.sizes.get("time") == 0:
            raise InvalidInput(f"{method}: this trajectory has no rows")
        for dim, one in chosen.items():
            ds = _pick(ds, dim, one)
        return ds.transpose(*LEADING, ..., missing_dims="ignore")

    def _one(self, method: str, *needed: str, besides: str = "", **chosen: int | str | None) -> xr.Dataset:
        """As ``_chosen``, and of one body and one member; of a picture, of one member."""
        ds = self._chosen(method, *needed, **chosen)
        for dim in ("member",) if "time" in needed else CHOSEN:
            if dim in (ds.dims if "time" in needed else ds[needed[0]].dims):
                told = f"there are {ds.sizes[dim]}, give one of 0 to {ds.sizes[dim] - 1}{besides}"
                raise InvalidInput(f"{method}: {dim} is missing; {told}")
        return ds


def _pick(ds: xr.Dataset, dim: str, one: int | str | None) -> xr.Dataset:
    """The Dataset of one body or member, by its place or name; the Dataset itself where none is named."""
    if one is None:
        return ds
    if dim not in ds.dims:
        if isinstance(one, str) or whole(one, dim) != 0:
            raise InvalidInput(f"{dim} is {one}, but this Dataset has one {dim}; leave it out")
        return ds
    return ds.isel({dim: index_of(ds, dim, one)})


def _filled(attitude: xr.DataArray) -> tuple[Any, Any]:
    """Attitudes with those before in place of NaN, and where they are known."""
    q = np.array(attitude.values, dtype=float)
    known = np.isfinite(q).all(axis=-1) & (q != 0.0).any(axis=-1)
    if known.all():
        return q, known
    if "time" in attitude.dims:
        at = attitude.dims.index("time")
        rows, seen = np.moveaxis(q, at, 0), np.moveaxis(known, at, 0)
    else:
        rows, seen = q[None], known[None]
    rows[0][~seen[0]] = (1.0, 0.0, 0.0, 0.0)
    for k in range(1, len(rows)):
        rows[k][~seen[k]] = rows[k - 1][~seen[k]]
    return q, known


def _scipy(attitude: xr.DataArray) -> Rotation:
    """SciPy's rotations of attitudes along ``time``."""
    q = np.asarray(attitude.transpose(..., "quaternion").values, dtype=float)
    unknown = np.flatnonzero(~np.atleast_1d(np.isfinite(q).all(axis=-1)))
    if len(unknown):
        raise InvalidInput(f"row {unknown[0]} has no such attitude (NaN), and a Rotation cannot say so; leave such "
                           "rows out: ds.isel(time=slice(...))")  # fmt: skip
    return rotations.to_scipy(q)


def _in_degrees(found: Any, degrees: bool) -> Any:
    """The angles of a DataArray or Dataset in degrees, if that is asked for."""
    if not truth(degrees, "degrees"):
        return found
    if hasattr(found, "data_vars"):
        return found.assign({name: _in_degrees(v, v.attrs.get("units") == "rad") for name, v in found.items()})
    return found.copy(data=np.rad2deg(found.values)).assign_attrs(units="deg")


# ------------------------------------------------------------------ tables
def table_of(ds: xr.Dataset) -> pd.DataFrame:
    """What ``ds.polhode.to_pandas`` returns, of a Dataset with members, times and bodies in this order."""
    if "time" not in ds.dims:
        raise InvalidInput("to_pandas: this Dataset has no dimension time, so there are no rows; take one with rows")
    pandas = extra("pandas", "to_pandas needs pandas; pip install pandas")
    outer = ("member", "time") if "member" in ds.dims else ("time",)
    columns, units = dict[str, Any](), dict[str, str]()
    for name, variable in ds.data_vars.items():
        if "time" not in variable.dims:
            continue
        inner = [str(dim) for dim in variable.dims if dim not in outer]
        absent = {dim: ds.sizes[dim] for dim in outer if dim not in variable.dims}
        filled = variable.expand_dims(absent).transpose(*outer, *inner)
        values = np.asarray(filled.values).reshape(int(np.prod([ds.sizes[dim] for dim in outer])), -1)
        for k, label in enumerate(_columns(ds, str(name), inner)):
            while label in columns:  # two forces of one name
                label += "_"
            columns[label] = values[:, k]
            units[label] = str(variable.attrs.get("units", ""))
    times = np.asarray(ds["time"].values)
    if outer == ("time",):
        index = pandas.Index(times, name="time")
    else:
        numbers = ds["member"].values if "member" in ds.coords else np.arange(ds.sizes["member"])
        both = [np.repeat(numbers, ds.sizes["time"]), np.broadcast_to(times, (len(numbers), ds.sizes["time"])).ravel()]
        index = pandas.MultiIndex.from_arrays(both, names=["member", "time"])
    frame = pandas.DataFrame(columns, index=index)
    frame.attrs = {"units": units, "title": str(ds.attrs.get("title", ""))}
    return frame


def _columns(ds: xr.Dataset, name: str, dims: Sequence[str]) -> list[str]:
    """Names of the columns of a variable, in the order of its numbers."""
    names = [name]
    for dim in dims:
        known = ds[dim].values if dim in ds.coords else {"axis": AXES, "quaternion": QUATERNION}.get(dim)
        entries = range(ds.sizes[dim]) if known is None else known
        names = [f"{before}_{entry}" for before in names for entry in entries]
    return names
