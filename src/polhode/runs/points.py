"""Motion of a point that is fixed in a body: position, velocity and acceleration in space, from a recorded run.

    p = r + R x,     p' = r' + R (w x x),     p'' = F / mass + R (w' x x + w x (w x x)),     w' = I^-1 (T + m x w)

    x     the point, seen from the body's origin in the body frame: the fixed point of a pinned body, else the centre of
          mass
    r, R  position of the origin, attitude
    m, w  angular momentum and angular velocity, body frame
    F, T  force and torque at the row, from the system's own loads and its joints

Rows are taken one by one and nothing is differenced, so that rows far apart do as well as close ones. What a run
switches is set for every row anew: thrust by its time, on the side that comes next in the direction of the run, and
sunlight by its place, in the shadow or out of it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import xarray as xr

from polhode.algebra import rotation
from polhode.arguments import Array, ArrayLike, array, whole
from polhode.errors import InvalidInput, NotFinite, UserFunctionError, naming, shown
from polhode.kernel import drive, jit, layout as L
from polhode.kernel.signatures import A1, A2, LOADS, function_type, i8, void
from polhode.runs.parameters import with_parameters
from polhode.runs.reactions import held
from polhode.runs.request import rebuild
from polhode.systems.joined import Configuration
from polhode.systems.record import IDENTITY, System, present_system
from polhode.systems.registry import builder
from polhode.systems.structure import compiled_events, table_of
from polhode.trajectory.schema import AXES, UNITS, trajectory, unit_of

ACCELERATION = {"consistent": "length / time2", "SI": "m s-2"}
KEPT = ("title", "system", "method", "citation", "units", "polhode_version")


def point_motion(
    ds: xr.Dataset, point: ArrayLike, system: System | None = None, body: int = 0, **functions: Callable[..., Any]
) -> xr.Dataset:
    """Position, velocity and acceleration of points fixed in a body, at every row of a trajectory.

    Parameters
    ----------
    ds : xarray.Dataset
        From ``integrate`` or read from disk; any rows of it.
    point : array_like (3,) or (k, 3)
        Points in the user's body frame, from the body's origin: the fixed point of a pinned body, the centre of mass of
        one that moves through space. A body that does not turn keeps its axes along those of space.
    system : System, optional
        What was run; without it the system is built again from what the Dataset records.
    body : int
        Which body, from 0.
    **functions : function
        The user's functions by keyword (``torque=f``), as for ``rerun``: a Dataset never runs what it keeps of them.

    Returns
    -------
    xarray.Dataset
        ``position``, ``velocity`` and ``acceleration`` along ``time``, ``point`` (where several are asked for) and
        ``axis``, in the space frame; the coordinate ``body_point`` holds the points as given. To round-off of the rows:
        nothing is differenced, the angular acceleration follows from the loads. At a row where a thrust is switched,
        the acceleration is that just after it, in the direction of the run.

    Raises
    ------
    InvalidInput
        No recipe in the Dataset and no ``system``; a system with another number of bodies; a point that is not 3 finite
        numbers; no such body; a function missing or not wanted.
    UserFunctionError, NotFinite
        A load failed at a row.

    Examples
    --------
    The tip of a rod that turns steadily about z, at one turn a second:

    >>> from polhode.runs.integrate import integrate
    >>> from polhode.systems import free_body
    >>> ds = integrate(free_body((1, 1, 2)), "exact", step=0.25, steps=4, angular_velocity=(0, 0, 2 * np.pi))
    >>> point_motion(ds, (1, 0, 0)).acceleration[0].values.round(9) + 0.0
    array([-39.4784176,   0.       ,   0.       ])
    """
    points = _points(point, unit_of(trajectory(ds, "time"), "length"))
    system = _system_of(ds, system, functions)
    if not 0 <= whole(body, "body", -(2**53)) < system.N:
        bodies = "the system has one body, number 0" if system.N == 1 else f"bodies are numbered 0 to {system.N - 1}"
        raise InvalidInput(f"body is {shown(body)}, but {bodies}")
    rows = ds if "time" in ds.dims else ds.expand_dims("time")
    times, states = _states(rows, system)
    every = _loads(system, times, states, _direction(ds, times))
    if system.mechanism is not None:
        held(system, states, every)
    load = every[:, body]
    state, constants = states[:, L.BODY * body : L.BODY * (body + 1)], system.constants_of_bodies[body]
    q = state[:, None, L.ATTITUDE : L.ANGULAR]
    x = rotation.rotate_inverse(system.frames[body], points)  # from here on in the principal frame
    w = state[:, L.ANGULAR :] * constants[L.INVERSE_INERTIA :]
    turning = (load[:, 3:] + np.cross(state[:, L.ANGULAR :], w)) * constants[L.INVERSE_INERTIA :]
    w, turning = w[:, None], turning[:, None]
    about = np.cross(w, x)
    origin = state[:, None, L.POSITION : L.MOMENTUM]
    velocity = state[:, None, L.MOMENTUM : L.ATTITUDE] / constants[L.MASS]
    found = {
        "position": origin + rotation.rotate(q, x),
        "velocity": velocity + rotation.rotate(q, about),
        "acceleration": load[:, None, :3] / constants[L.MASS]
        + rotation.rotate(q, np.cross(turning, x) + np.cross(w, about)),
    }
    label = str(ds.attrs.get("units"))
    units = {**UNITS[label if label in UNITS else "consistent"], "acceleration": ACCELERATION.get(label, "")}
    single = np.ndim(point) == 1
    dims = ["time", "axis"] if single else ["time", "point", "axis"]
    variables = {
        name: (
            dims, values[:, 0] if single else values,
            {"long_name": f"{name} of a point of the body, space frame", "units": units[name]},
        )
        for name, values in found.items()
    }  # fmt: skip
    of_point = {"long_name": "the point, body frame, from the body's origin", "units": units["position"]}
    made = xr.Dataset(
        variables,
        {
            "time": ("time", times, rows["time"].attrs),
            "axis": ("axis", list(AXES)),
            "body_point": (dims[1:], points[0] if single else points, of_point),
        },
        {key: ds.attrs[key] for key in KEPT if key in ds.attrs},
    )
    return made if rows is ds else made.isel(time=0)


def joint_forces(ds: xr.Dataset, system: System | None = None, **functions: Callable[..., Any]) -> xr.Dataset:
    """The forces by which joints hold the bodies of a mechanism, at every row of a trajectory.

    They follow from the loads at the row, so that they are of the accuracy of its state, not of the impulses of steps.

    Parameters
    ----------
    ds : xarray.Dataset
        From ``integrate`` or read from disk; any rows of it.
    system, **functions
        As of ``point_motion``.

    Returns
    -------
    xarray.Dataset
        Along ``time``, ``joint`` and ``axis``, in space: ``force`` on the first body of each joint, and ``torque`` on
        it about the joint's point; the second body, or the ground, feels the opposite. Where rows of joints are implied
        by others, these have none of the load, which only bodies that give way would share out.

    Raises
    ------
    InvalidInput
        A system without joints; as ``point_motion``.
    UserFunctionError, NotFinite
        A load failed at a row.

    See Also
    --------
    polhode.point_motion

    Examples
    --------
    A rod that hangs from a hinge and swings through its lowest place feels its weight and what bends its path:

    >>> import polhode as ph
    >>> arm = ph.system(ph.body("arm", 2.0, (1, 1, 0.1)), ph.loads.weight(gravity=10.0),
    ...                 ph.joints.hinge(at=(0, 0, 1), axis=(0, 1, 0), name="shoulder").on("arm", ph.ground))
    >>> start = ph.assemble(arm, {"shoulder": 0.0}, rates={"shoulder": 3.0})
    >>> ds = ph.integrate(arm, step=0.01, steps=10, start=start)
    >>> joint_forces(ds).force.sel(joint="shoulder").values[0].round(9) + 0.0
    array([ 0.,  0., 38.])
    """
    system = _system_of(ds, system, functions)
    if system.mechanism is None:
        raise InvalidInput(f"joint_forces: {system.title} has no joints")
    rows = ds if "time" in ds.dims else ds.expand_dims("time")
    times, states = _states(rows, system)
    multipliers = held(system, states, _loads(system, times, states, _direction(ds, times)))
    here = Configuration(system, states[:, : L.BODY * system.N].reshape(len(states), system.N, L.BODY))
    on_first = multipliers[..., None] * here.rows[..., :6]
    joints = system.mechanism.joints
    force, torque = (np.zeros((len(states), len(joints), 3)) for _ in range(2))
    for k, one in enumerate(joints):
        both = on_first[:, one.row : one.row + one.rows].sum(axis=1)
        force[:, k], torque[:, k] = both[:, :3], both[:, 3:] - np.cross(here.u[:, one.piece], both[:, :3])
    dims, SI = ("time", "joint", "axis"), ds.attrs.get("units") == "SI"
    made = xr.Dataset(
        {"force": (dims, force, {"long_name": "force on the first body of a joint, space frame"}),
         "torque": (dims, torque, {"long_name": "torque on that about the joint's point, space frame"})},
        {"time": ("time", times, rows["time"].attrs), "joint": [one.name for one in joints], "axis": list(AXES)},
        {key: ds.attrs[key] for key in KEPT if key in ds.attrs},
    )  # fmt: skip
    if SI:
        made.force.attrs["units"], made.torque.attrs["units"] = "N", "N m"
    return made if rows is ds else made.isel(time=0)


def _points(point: ArrayLike, unit: str) -> Array:
    """The points as (k, 3)."""
    points = array(point, "point", unit)
    if points.ndim not in (1, 2) or points.shape[-1:] != (3,) or not points.size:
        raise InvalidInput(f"point must be 3 numbers, or rows of 3 numbers, but has shape {points.shape}")
    if not np.isfinite(points).all():
        raise InvalidInput("point has entries that are not finite; every entry must be a finite number")
    return np.atleast_2d(points)


def _system_of(ds: object, system: System | None, functions: dict[str, Callable[..., Any]]) -> System:
    """The system given, or the one the Dataset records, built again."""
    if not isinstance(ds, xr.Dataset) or "time" not in ds.coords:
        raise InvalidInput("the first argument must be the Dataset of a run, with its times")
    trajectory(ds)
    recipe = _recipe(ds)
    if system is None:
        if not recipe:
            raise InvalidInput("this Dataset records no run: it has no attribute 'run'; hand in the system: system=...")
        if builder(recipe["system"]["name"]) is None:
            raise InvalidInput(
                f"no function of polhode builds the system {recipe['system']['name']!r}; hand it in again: system=..."
            )
        try:
            system = rebuild(recipe["system"], functions)
        except InvalidInput as refused:
            raise InvalidInput(str(refused).replace("rerun(ds, ", "point_motion(ds, point, ")) from None
    elif (system := present_system(system, "system")) and functions:
        raise InvalidInput(f"a system brings its own functions; leave {', '.join(sorted(functions))} out beside it")
    elif "parameters" in recipe and recipe["system"]["name"] == system.name:
        system = with_parameters(system, recipe["parameters"])
    if ds.sizes.get("body", 1) != system.N:
        raise InvalidInput(f"the trajectory has {ds.sizes.get('body', 1)} bodies, the system {system.N}")
    return system


def _recipe(ds: xr.Dataset) -> dict[str, Any]:
    """What the Dataset records of its run; empty where that is nothing."""
    try:
        recipe: dict[str, Any] = json.loads(ds.attrs.get("run", "{}"))
        if recipe and not isinstance(recipe["system"]["name"], str):
            raise TypeError("name of the system")
    except Exception as wrong:  # of whatever kind the text is
        raise InvalidInput(
            f"the record of this run is not one that polhode wrote ({type(wrong).__name__}: {wrong}); take the Dataset "
            "of the run itself"
        ) from None
    return recipe


def _states(ds: xr.Dataset, system: System) -> tuple[Array, Array]:
    """Times, and the states as the kernels keep them (n, 13 N and the auxiliary variables, of which works are zero)."""
    times = np.array(ds["time"].values, dtype=float)
    states = np.zeros((len(times), system.N, L.BODY))

    def rows(name: str, last: str, width: int) -> Array:
        if name not in ds:
            raise InvalidInput(f"the trajectory has no variable {name!r}; take the whole Dataset of the run")
        order = [dim for dim in ("time", "body", last) if dim in ds[name].dims]
        return ds[name].transpose(*order).values.reshape(len(times), system.N, width)

    states[:, :, L.ATTITUDE : L.ANGULAR] = IDENTITY
    if system.rotates:
        attitude, m = rows("attitude", "quaternion", 4), rows("angular_momentum", "axis", 3)
        with naming(a="attitude", v="angular_momentum"):
            states[:, :, L.ATTITUDE : L.ANGULAR] = rotation.multiply(attitude, system.frames)
            states[:, :, L.ANGULAR :] = rotation.rotate_inverse(system.frames, m)
    if system.translates:
        states[:, :, L.POSITION : L.MOMENTUM] = rows("position", "axis", 3)
        states[:, :, L.MOMENTUM : L.ATTITUDE] = rows("momentum", "axis", 3)
    read, met = np.zeros((len(times), len(system.auxiliary))), Counter[str]()
    for k, name in [(k, one.quantity) for k, one in enumerate(system.auxiliary) if one.read]:
        if name not in ds:
            raise InvalidInput(f"the trajectory has no variable {name!r}; take the whole Dataset of the run")
        read[:, k] = ds[name].transpose("time", ...).values.reshape(len(times), -1)[:, met[name]]
        met[name] += 1
    return times, np.concatenate([states.reshape(len(times), L.BODY * system.N), read], axis=1)


# ------------------------------------------------------------------ loads of rows
def loads_of_rows(loads, N, times, states, bodies, parameters, places, flags, out):  # type: ignore[no-untyped-def]
    """All loads of every recorded state, and the rates behind them, with the flags of the row at their places."""
    for k in range(times.size):
        for f in range(places.size):
            parameters[int(places[f])] = flags[k, f]
        y, rates = jit.pointer(states[k]), jit.pointer(out[k])
        loads(L.ALL, times[k], N, y, jit.pointer(bodies), jit.pointer(parameters), rates)


@cache
def _loop() -> Callable[..., None]:
    signature = void(function_type(LOADS), i8, A1, A2, A1, A1, A1, A2, A2)
    compiled: Callable[..., None] = jit.compile_kernel(loads_of_rows, signature)  # type: ignore[no-untyped-call]
    return compiled


def _direction(ds: xr.Dataset, times: Array) -> float:
    """1, or -1 of a run that went backwards in time."""
    recipe = _recipe(ds)
    if not recipe:
        return -1.0 if len(times) and times[-1] < times[0] else 1.0
    end = recipe.get("t_end")
    return -1.0 if recipe.get("backwards") or (end is not None and end < recipe["t0"]) else 1.0


def _flags(system: System, times: Array, states: Array, direction: float) -> tuple[Array, Array]:
    """Where among the parameters the flags of a system stand, (k,), and what they are at every row, (n, k)."""
    watches = [watch for watch in system.watches if watch.flag >= 0]
    places = [switch.index for switch in system.switches] + [watch.flag for watch in watches]
    at, flags = np.array(places, dtype=int), np.zeros((len(times), len(places)))
    parameters, bodies = system.with_memory, system.bodies
    table, sides = table_of(watches, system), np.zeros(len(watches))
    role = compiled_events(watches, system, times[0], states[0]) if watches else None
    for k, t in enumerate(times):
        system.set_switches(parameters, float(t), direction)
        if watches:
            drive.event_values(role, float(t), states[k], bodies, parameters, table, sides)
            for watch, side in zip(watches, sides, strict=True):
                parameters[watch.flag] = float(side >= 0.0)
        flags[k] = parameters[at]
    return at.astype(float), flags


def _loads(system: System, times: Array, states: Array, direction: float) -> Array:
    """Forces (space frame) and torques (principal frame) of every row, (n, N, 6)."""
    out = np.full((len(times), L.LOAD * system.N + len(system.auxiliary)), np.nan)
    if not len(times):
        return out.reshape(0, system.N, L.LOAD)
    N, bodies, parameters = system.N, system.bodies, system.with_memory
    places, flags = _flags(system, times, states, direction)
    problem: Exception | None = None
    try:
        _loop()(system.compiled_loads(times[0], states[0]), N, times, states, bodies, parameters, places, flags, out)
    except Exception as caught:
        problem = caught
    failed = np.flatnonzero(~np.isfinite(out).all(axis=1))
    if not failed.size:
        return out[:, : L.LOAD * N].reshape(len(times), N, L.LOAD)
    k = int(failed[0])
    bridge = system.bridged_loads()
    if bridge is not None and not isinstance(problem, UserFunctionError):
        try:  # once more in plain Python, for the user's own exception
            row = slice(k, k + 1)
            _loop()(bridge, N, times[row], states[row], bodies, parameters, places, flags[row], out[row])
        except Exception as again:
            problem = again
    if problem is None:
        raise NotFinite(f"the loads are not finite at row {k} (time {times[k]:.9g})", time=float(times[k]))
    if bridge is None or isinstance(problem, UserFunctionError):
        raise problem
    raise UserFunctionError(
        f"a load raised {type(problem).__name__}: {problem} at row {k} (time {times[k]:.9g})", time=float(times[k])
    ) from problem
