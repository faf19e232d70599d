"""Build the Dataset of a trajectory from recorded states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from polhode.algebra import rotation
from polhode.arguments import Array, Indices
from polhode.flows.sums import COMPENSATION
from polhode.kernel import layout as L
from polhode.lazy import pd, xr
from polhode.methods.record import Coordinates
from polhode.systems.record import System
from polhode.trajectory import schema
from polhode.trajectory.charts import singular_note
from polhode.trajectory.energies import EnergyBalance, energy_balance, massless_note
from polhode.trajectory.quantities import Constants, OfBodies, of_bodies, potential_energies, turned_rows, writable

FEW_TIMES = 512  # most rows of which the index of times is kept for other runs
Named = dict[str, tuple[Any, Any, dict[str, str]]]
Sources = tuple[Any, ...]
SOURCES = (*OfBodies._fields, "potential_energy", "energy", "energy_change", "energy_error", "work", "iterations")
SPATIAL, STATES = SOURCES.index("angular_momentum_space"), len(SOURCES)
"""What variables are made of: these, the states, the symmetry axes, and others by name."""
Coords = tuple[dict[Any, int], dict[str, Any], list[tuple[Any, ...]]]


class Rows(NamedTuple):
    """What was recorded of a run of n rows, or of M runs of n rows each."""

    times: Array  # (n,), or (M, n) where members have times of their own: a coordinate along both dimensions
    # (n, 13 N + S + extra) or (M, n, ...): states in the kernels' layout, N bodies, S auxiliary variables, then what
    # the method appends. Rows of NaN, after a failure, give NaN
    states: Array
    iterations: Indices  # (n,) or (M, n): solver iterations of each row
    bodies: OfBodies | None = None  # what follows from the states, where that is known already
    balance: EnergyBalance | None = None  # likewise; to be given of rows whose scale begins before them
    virials: Array | None = None  # (n,): likewise, of pairs


def dataset(
    system: System, rows: Rows, potential: Callable[..., Any] | Array | None, attributes: Mapping[str, Any],
    units: str = "consistent", chart: Coordinates | None = None, compensation: str = "", *,
    members: Constants | None = None, more: Mapping[str, Any] | None = None, varied: Mapping[str, Any] | None = None,
) -> xr.Dataset:  # fmt: skip
    """Return the Dataset of a run, or of M runs of one kind with a dimension ``member`` before ``time``.

    Everything is computed on all rows of all members at once, the bodies' quantities by one call of a kernel
    (``trajectory.quantities``), energies, works and invariants by numpy: no member costs any Python.

    Parameters
    ----------
    system : System
        The system that was integrated; of members any one of them, whose names and kinds are those of all.
    rows : Rows
        Times, states and iterations that were recorded.
    potential : function, array (n,) or (M, n), or None
        The compiled potential energy (POTENTIAL role), or its values at the rows.
    attributes : mapping
        Attributes of the Dataset.
    units : {"consistent", "SI", "molecular"}
        Unit labels of the variables.
    chart : Coordinates, optional
        The method's three-number attitude coordinates, stored after the first 13 N + S columns of ``states``.
    compensation : {"", "points", "bodies"}
        Where those columns hold the compensation of sums instead: of position and momentum, or of attitude and angular
        momentum, too.
    members : Constants, optional
        Masses, moments, frames and parameters of the M members; without it this is one run.
    more, varied : mapping, optional
        Further variables, and further coordinates (what varies among members, of dimension ``member``): a name to
        dimensions, values and attributes. As part of the making they cost a tenth of what they would be added for.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> system, y = ph.checks.trial_problem("potential")
    >>> step = ph.checks.stepper("v2", system, y)
    >>> rows = ph.trajectory.build.Rows(np.array([0.0, 0.1]), np.array([y, step(y, 0.0, 0.1)]), np.zeros(2, int))
    >>> ph.trajectory.dataset(system, rows, None, {}).attitude.shape
    (2, 4)
    """
    times, states, iterations, made, balance, virials = rows
    N, S, shape = system.N, len(system.auxiliary), states.shape[:-1]
    leading = ("member", "time")[-len(shape) :]
    constants = Constants(*system.for_kernels) if members is None else members
    made = of_bodies(states.reshape(-1, states.shape[-1]), constants) if made is None else made
    if made.kinetic_energy.shape != shape:
        made = OfBodies(*(a.reshape(*shape, *a.shape[1:]) for a in made))
    if callable(potential):
        at = np.broadcast_to(np.asarray(times, dtype=float), shape).reshape(-1)
        potential = potential_energies(at, states.reshape(at.size, -1), constants, potential).reshape(shape)
    if balance is None:
        balance = energy_balance(system.work_columns, states, made.kinetic_energy, potential)
    others: dict[str, Any] = _compensations(system, states, constants, compensation) if compensation else {}
    if system.quantities is not None:
        others |= _further(system, states, virials, members)
    axis = system.axis if members is None or members.axis is None else members.axis[:, None, None, :]
    sources: Sources = (*made, potential, *balance[:3], balance.work, np.asarray(iterations), states, axis, others)
    chart = chart if system.rotates else None
    cached = members is None or "mutual_gravity" not in system.provides  # else notes are of the members
    known = system.__dict__.setdefault("_words", {}) if cached else {}
    key = (units, compensation, potential is None, chart and chart.name, leading)
    if key not in known:
        known[key] = _words_of(system, sources, leading, units, chart, constants)
    of_states, read, labels, along = known[key]
    label, meaning, (new, kind) = schema.UNITS[units], schema.MEANING, _maker()
    words_of: Any = lambda name: {"long_name": meaning[name], "units": label[name]}  # noqa: E731
    variables: dict[str, Any] = {}
    for name, source, at, dims, told in of_states:
        values = sources[source] if type(source) is int else source(sources)
        variables[name] = new(kind, dims, values if at is None else values[at], told.copy())
    for name, (columns, dims, told) in read.items():
        values = states[..., columns]
        variables[name] = new(kind, dims, values if dims != leading else values[..., 0], told.copy())
    given: dict[str, Any] = {
        name: (tuple(dims), np.array(one), words_of(name)) for name, (dims, one) in system.constants.items()
    }
    if system.box is not None:
        given["box"] = (("axis",), np.array(system.box, dtype=float), words_of("box"))
    if system.mass_at is not None:
        mass = system.mass_at(np.broadcast_to(np.asarray(times, dtype=float), shape).reshape(-1))
        mass = mass.reshape(*shape, N)
        if members is not None:  # all burn as much
            mass = mass - system.mass + constants.mass[:, None, :]
        about = {**words_of("mass"), "note": schema.FALLING}
        given["mass"] = ((*leading, "body"), mass, about) if N > 1 else (leading, mass[..., 0], about)
    if chart is not None and chart.name in schema.MEANING:
        first = L.BODY * N + S
        values = states[..., first : first + chart.size * N].reshape(*shape, N, chart.size)
        note = "" if members is not None else singular_note(
            chart.name, values, chart.attributes.get("sequence"), times, chart.rates
        )  # fmt: skip
        dims = (*leading, "body", schema.CHART_DIMENSION[chart.name])
        if N == 1:
            values, dims = values[..., 0, :], (*leading, dims[-1])
        told = {**words_of(chart.name), **chart.attributes}
        given[chart.name] = (dims, values, told | ({"note": note} if note else {}))
    times = np.asarray(times, dtype=float)
    stamp = (shape, times.tobytes()) if len(times) <= FEW_TIMES and times.ndim == 1 else None
    if (coordinates := along.get(stamp)) is None:
        coordinates = _coordinates(times, label["time"], labels, shape, N)
        along.clear()
        along |= {} if stamp is None else {stamp: coordinates}
    attributes = {**attributes, **(schema.COMMANDS if system.sampled else {})}
    given |= more or {}
    return assembled(variables, given, coordinates, attributes, varied or {})


def _further(system: System, states: Array, virials: Array | None, members: Constants | None) -> dict[str, Any]:
    """What molecules, wheels and others record beside what all bodies do."""
    shape, N, further = states.shape[:-1], system.N, cast(Any, system.quantities)
    body = states[..., : L.BODY * N].reshape(-1, N, L.BODY)
    if members is not None and hasattr(further, "of_members"):
        own = (members.mass, members.moments, members.parameters)
        further = further.of_members(*(a if len(a) == 1 else np.repeat(a, shape[-1], axis=0) for a in own))
    if "wheels" in system.provides:
        read = states[..., L.BODY * N + system.read_from : L.BODY * N + len(system.auxiliary)]
        found = further(body, read.reshape(-1, read.shape[-1]))
    else:
        found = further(body, *([virials] if hasattr(further, "of_virials") else []))
    return {name: values.reshape(*shape, *values.shape[1:]) for name, values in found.items()}


def _quantities(
    N: int, conserves: Sequence[str], rotates: bool, translates: bool, sources: Sources
) -> dict[str, int | Callable[[Sources], Any]]:
    """The variables of a system, each as the number of a source, or what makes it of all of them."""
    moving = rotates or translates
    found: dict[str, int | Callable[[Sources], Any]] = {}
    if rotates:
        found |= {name: SOURCES.index(name) for name in ("attitude", "angular_momentum", "angular_velocity")}
    if translates:
        found |= {"position": partial(_columns, N, L.POSITION), "momentum": partial(_columns, N, L.MOMENTUM),
                  "velocity": SOURCES.index("velocity")}  # fmt: skip
    others = {name: lambda all_, name=name: all_[-1][name] for name in sources[-1]}
    found |= {name: other for name, other in others.items() if name.endswith("_compensation")}
    if moving:
        found["angular_momentum_space"] = SPATIAL
    if "vertical_angular_momentum" in conserves:
        found["vertical_angular_momentum"] = lambda all_: _of_all(all_[SPATIAL][..., 2])
    if "axial_angular_momentum" in conserves:
        found["axial_angular_momentum"] = _axial
    if "total_momentum" in conserves:
        found["total_momentum"] = lambda all_: _columns(N, L.MOMENTUM, all_).sum(axis=-2)
    if "total_angular_momentum" in conserves:
        found["total_angular_momentum"] = lambda all_: all_[SPATIAL].sum(axis=-2)
    found |= others
    for name in ("kinetic_energy", "potential_energy", "energy", "energy_change", "energy_error", "iterations", "work"):
        there = sources[SOURCES.index(name)] is not None
        if there and (moving or name in ("potential_energy", "iterations", "work")):  # else there are states alone
            found[name] = SOURCES.index(name)
    return found


def _columns(N: int, first: int, sources: Sources) -> Array:
    """Three numbers of each body as they stand in the states."""
    states = sources[STATES]
    return states[..., : L.BODY * N].reshape(*states.shape[:-1], N, L.BODY)[..., first : first + 3]


def _axial(sources: Sources) -> Array:
    """The angular momentum about the axes of the bodies."""
    parts = sources[SOURCES.index("angular_momentum")] * sources[STATES + 1]
    return _of_all(parts[..., 0] + parts[..., 1] + parts[..., 2])


def _words_of(
    system: System, sources: Sources, leading: tuple[str, ...], units: str, chart: Coordinates | None,
    constants: Constants,
) -> tuple[list[Any], Named, list[tuple[str, Any]], dict[Any, Coords]]:  # fmt: skip
    """What is said of the variables of a system, the same in all its runs: of what follows from the states name, source
    (see ``_quantities``), what of the values is shown (None: all), dimensions, attributes; of what loads read, columns
    of the states, dimensions, attributes; names of dimensions, and what ``_labelled`` makes of the labels along them;
    and room for the coordinates of the last times."""
    N, label, meaning = system.N, schema.UNITS[units], schema.MEANING
    found: Named = {}
    quantities = _quantities(N, system.conserves, system.rotates, system.translates, sources)
    for name, source in quantities.items():
        values = sources[source] if isinstance(source, int) else source(sources)
        inner, total, dims, at = values.ndim - len(leading), name.startswith("total_"), leading, None
        if name == "work":
            inner, dims = 0, (*leading, "force")
        if inner and not total:
            if N == 1:
                at = (..., 0, slice(None)) if inner == 2 else (..., 0)
            else:
                dims = (*dims, "body")
        if total or inner == 2:
            dims = (*dims, "quaternion" if name in ("attitude", "attitude_compensation") else "axis")
        found[name] = dims, at, {"long_name": meaning[name], "units": label[name]}
    note = "" if system.potential is not None or system.conserves or system.work_columns else schema.KINETIC_ONLY
    if "mutual_gravity" in system.provides:
        note = massless_note(constants.parameters[..., :N])
    if not system.records_work:
        note = schema.UNRECORDED
    elif "reported_energy" in system.functions:
        note = schema.TAKEN_FOR_POTENTIAL
    elif not system.balanced:
        note = schema.CHANGING_POTENTIAL
    if "energy_error" in found:
        found["energy_error"][2]["scale"] = schema.SCALE
        if system.work_columns:
            found["energy_error"][2]["long_name"] = schema.BALANCE
        for name in ("energy", "energy_error", "energy_change") if note else ():
            found[name][2]["note"] = note
    columns, read, along = dict[str, list[int]](), Named(), dict[str, tuple[Any, ...]]()
    for k, own in enumerate(system.auxiliary):
        columns.setdefault(own.quantity, []).append(k)
    forces = tuple(system.auxiliary[k].label for k in columns.pop("work", ()))
    for name, numbers in columns.items():
        first = system.auxiliary[numbers[0]]
        unit, long_name = first.unit or label.get(name, ""), first.words or meaning[name]
        dims = (*leading, first.dimension) if first.dimension else leading
        told = {"long_name": long_name, "units": unit, "role": schema.ROLE}
        read[name] = [L.BODY * N + k for k in numbers], dims, told
        if first.dimension:
            words = [system.auxiliary[k].label for k in numbers]  # numbers, or with the name of a body
            along[first.dimension] = tuple(int(word) if word.isdigit() else word for word in words)
    angles = chart is not None and schema.CHART_DIMENSION.get(chart.name) == "angle"
    labels: list[tuple[str, tuple[Any, ...]]] = [
        ("axis", tuple(schema.AXES)), ("body", system.names if N > 1 else ()), ("force", forces), *along.items(),
        ("angle", tuple(schema.ANGLES) if angles else ()),
        ("quaternion", tuple(schema.QUATERNION) if system.rotates else ()),
    ]  # fmt: skip
    shown = [(name, source, found[name][1], found[name][0], found[name][2]) for name, source in quantities.items()]
    return shown, read, [(name, _labelled(name, words)) for name, words in labels if words], {}


def _of_all(values: Array) -> Array:
    """The sum over the bodies, the last axis."""
    return values[..., 0].copy() if values.shape[-1] == 1 else values.sum(axis=-1)


def _compensations(system: System, states: Array, constants: Constants, compensation: str) -> dict[str, Any]:
    """What rounding has left out of sums, by the names of variables."""
    shape, N = states.shape[:-1], system.N
    found: dict[str, Any] = {}
    first = L.BODY * N + len(system.auxiliary)
    if system.translates:
        left = states[..., first : first + COMPENSATION * N].reshape(*shape, N, COMPENSATION)
        r, p = left[..., L.POSITION : L.POSITION + 3], left[..., L.MOMENTUM : L.MOMENTUM + 3]
        found |= {"position_compensation": r.copy(), "momentum_compensation": p.copy()}
    if system.rotates and compensation == "bodies":
        rows, frames = states.reshape(-1, states.shape[-1]), writable(constants.frames)
        of = found["attitude_compensation"], found["angular_momentum_compensation"] = (
            np.empty((*shape, N, 4)), np.empty((*shape, N, 3))
        )  # fmt: skip
        flat = (one.reshape(-1, N, one.shape[-1]) for one in of)
        turned_rows(writable(rows), first, max(1, len(rows) // len(frames)), frames, *flat)
    return found


@lru_cache(64)
def _labelled(name: str, words: tuple[int | str, ...]) -> tuple[Any, ...]:
    """``_index`` of labels along a dimension, made once."""
    return _index(name, np.array(words), {})


@lru_cache(64)
def _timed(times: bytes, unit: str) -> tuple[Any, ...]:
    """Likewise of few times; they cannot be written, as runs that record at the same times share them."""
    return _index("time", np.frombuffer(times), {"long_name": "time", "units": unit})


@lru_cache(16)
def _numbered(count: int) -> tuple[Any, ...]:
    """Likewise of members."""
    return _index("member", np.arange(count), {"long_name": "number of the member"})


def _index(name: str, values: Array | Indices | NDArray[np.str_], about: Mapping[str, str]) -> tuple[Any, ...]:
    """An index along a dimension, its length, and kind, dimensions, values and attributes of its coordinate."""
    from xarray.indexes import PandasIndex

    index = PandasIndex(pd.Index(values, name=name), name)  # which need not give it its name
    (coordinate,) = index.create_variables().values()
    return index, len(values), type(coordinate), coordinate.dims, coordinate._data, dict(about)


@cache
def _maker() -> tuple[Callable[..., Any], Any]:
    """``made(kind, dims, values, attributes)``, a variable of xarray in a fifth of its constructor's time; the kind."""
    from xarray import Variable

    def made(kind: type, dims: tuple[str, ...], values: Any, attributes: dict[str, Any]) -> Any:
        one: Any = new(kind)
        one._dims, one._data, one._attrs, one._encoding = dims, values, attributes, None
        return one

    new, known = object.__new__, {"_attrs", "_data", "_dims", "_encoding"}
    usual = known == {*Variable.__slots__}
    return made if usual else lambda kind, *all_of_it: kind(*all_of_it, fastpath=True), Variable


def _coordinates(times: Array, unit: str, labels: list[tuple[str, Any]], shape: tuple[int, ...], N: int) -> Coords:
    """Sizes of dimensions, indexes, and of each coordinate name, kind, dimensions, values, attributes."""
    lengths: dict[Any, int] = {"time": shape[-1]} if len(shape) == 1 else {"member": shape[0], "time": shape[-1]}
    if N > 1:
        lengths["body"] = N
    found, indexes, indexed = [], dict[str, Any](), list(labels)
    if times.ndim > 1:
        found.append(("time", _maker()[1], ("member", "time"), times, {"long_name": "time", "units": unit}))
    elif len(times) <= FEW_TIMES:
        indexed.append(("time", _timed(times.tobytes(), unit)))
    else:
        indexed.append(("time", _index("time", times, {"long_name": "time", "units": unit})))
    if len(shape) > 1:
        indexed.append(("member", _numbered(shape[0])))
    for name, (indexes[name], lengths[name], *coordinate) in indexed:
        found.append((name, *coordinate))
    return lengths, indexes, found


def assembled(
    made: dict[str, Any], given: Mapping[str, Any], coordinates: Coords, attributes: dict[str, Any],
    varied: Mapping[str, Any],
) -> xr.Dataset:  # fmt: skip
    """The Dataset of variables that are known to fit together, ``made`` or ``given`` as dimensions, values, attributes.

    xarray's own constructor compares the dimensions, coordinates and indexes of all variables with each other, 0.2 ms
    for what is right by construction. So the checked pieces are put together as its own operations do it
    (``Dataset._construct_direct``), and by the constructor where a version of xarray should not have that."""
    from xarray import Dataset

    new, Variable = _maker()
    lengths, indexes = coordinates[0].copy(), coordinates[1].copy()
    coords = {name: new(kind, dims, values, told.copy()) for name, kind, dims, values, told in coordinates[2]}
    for into, those in ((made, given), (coords, varied)):
        for name, (dims, values, told) in those.items():
            if type(values) is np.ndarray and values.dtype.kind in "fi" and type(dims) is tuple and dims != (name,):
                into[name] = new(Variable, dims, values, dict(told))
                lengths.update(zip(dims, values.shape, strict=True))
                continue
            if tuple(dims) == (name,):  # labels
                words = np.asarray(values)
                found = _labelled(name, tuple(words.tolist())) if words.dtype.kind == "U" else _index(name, words, {})
                indexes[name], one = found[0], new(*found[2:5], dict(told))
            else:
                one = Variable(dims, values, told)
            (coords if one.dims == (name,) else into)[name] = one
            lengths.update(zip(one.dims, one.shape, strict=True))
    try:
        return Dataset._construct_direct(  # type: ignore[no-any-return, unused-ignore]
            made | coords, set(coords), dims=lengths, attrs=attributes, indexes=indexes
        )
    except (AttributeError, TypeError):
        return Dataset(made, xr.Coordinates(coords, indexes=indexes), attributes)


def enlarged(ds: xr.Dataset, given: Mapping[str, Any]) -> xr.Dataset:
    """A Dataset of this module with more variables, given as dimensions, values, attributes."""
    coords = [(name, type(one), one.dims, one._data, one.attrs) for name, one in ds.coords.variables.items()]
    known = dict(ds.sizes), dict(ds.xindexes), coords
    made = {str(name): one for name, one in ds.variables.items() if name not in ds.coords}
    return assembled(made, given, known, ds.attrs, {})


def with_events(
    ds: xr.Dataset, system: System, found: Mapping[str, Any], units: str = "consistent",
    members: Constants | None = None,
) -> xr.Dataset:  # fmt: skip
    """Add the events of a run to its Dataset, along the dimension ``event``, or of members of these constants."""
    shape, states = found["time"].shape, ["event_"]
    mass, moments, frames = system.mass, system.moments, np.asarray(system.frames)
    if members is not None:
        mass, moments, frames = (one[:, None] for one in members[:3])
    if system.kicked:
        states.append("event_before_")
    quantities: dict[str, Any] = {"event_time": found["time"], "event_kind": found["kind"]}
    bodies = {"event_": found["state"], "event_before_": found["before"]}
    for prefix in states:
        body = bodies[prefix].reshape(*shape, system.N, L.BODY)
        if system.translates:
            quantities[f"{prefix}velocity"] = body[..., L.MOMENTUM : L.MOMENTUM + 3] / mass[..., None]
            if prefix == "event_":
                quantities["event_position"] = body[..., L.POSITION : L.POSITION + 3]
        if system.rotates and prefix == "event_":
            attitude = rotation.multiply(body[..., L.ATTITUDE : L.ATTITUDE + 4], rotation.conjugate(frames))
            quantities["event_attitude"] = attitude
            quantities["event_angular_velocity"] = rotation.rotate(frames, body[..., L.ANGULAR :] / moments)
    if system.kicked:
        quantities["event_work"] = found["work"]
    variables = {}
    for name, values in quantities.items():
        dims = ["member", "event"][-len(shape) :]
        if values.ndim > len(shape):
            dims += ["body"] * (system.N > 1) + ["quaternion" if name == "event_attitude" else "axis"]
            values = values if system.N > 1 else values[..., 0, :]
        words = {"long_name": schema.MEANING[name]}
        if name != "event_kind":
            words["units"] = schema.UNITS[units][name]
        variables[name] = xr.Variable(dims, values, words, fastpath=True)  # without a look into dask
    return ds.assign(variables)


def with_bath(ds: xr.Dataset, numbers: Array, energy: Array, units: str = "consistent") -> xr.Dataset:
    """Add thermostat variables and the conserved energy to the Dataset of a thermostatted run."""
    total = ds.energy.values + energy
    if "work" in ds:
        total = total - ds.work.values.sum(axis=-1)
    names = ("conserved_energy", "thermostat")
    words = {name: {"long_name": schema.MEANING[name], "units": schema.UNITS[units][name]} for name in names}
    for name in ("energy", "energy_error", "energy_change"):
        before = ds[name].attrs.get("note")
        ds[name].attrs["note"] = "; ".join([*([before] if before else []), schema.BATHED])
    return ds.assign(
        conserved_energy=(ds.energy.dims, total, words["conserved_energy"]),
        thermostat=((*ds.energy.dims, "thermostat_number"), numbers, words["thermostat"]),
    )
