"""Build the Dataset of a trajectory from recorded states."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.algebra import rotation
from polhode.flows.sums import COMPENSATION
from polhode.kernel import drive
from polhode.kernel import layout as L
from polhode.methods.record import Coordinates
from polhode.systems.record import System
from polhode.trajectory.charts import singular_note
from polhode.trajectory.schema import (
    ANGLES,
    AXES,
    BALANCE,
    BATHED,
    CHANGING_POTENTIAL,
    CHART_DIMENSION,
    FALLING,
    KINETIC_ONLY,
    MEANING,
    QUATERNION,
    TAKEN_FOR_POTENTIAL,
    UNITS,
    UNRECORDED,
)

if TYPE_CHECKING:
    import xarray as xr


def dataset(
    system: System,
    times: Any,
    states: Any,
    iterations: Any,
    potential: Any,
    attributes: Mapping[str, Any],
    units: str = "consistent",
    chart: Coordinates | None = None,
    compensation: str = "",
) -> xr.Dataset:
    """Return the Dataset of a run.

    Parameters
    ----------
    system : System
        The system that was integrated.
    times : array (n,)
        Times of the rows.
    states : array (n, 13 N + S + extra)
        States in the kernels' layout: N bodies, S auxiliary variables, then what the method appends.
    iterations : array (n,) of int
        Solver iterations of each row.
    potential : function, array (n,) or None
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
    """
    n, N, S = len(times), system.N, len(system.auxiliary)
    body = states[:, : L.BODY * N].reshape(n, N, L.BODY)
    frames = np.asarray(system.frames, dtype=float)
    attitude = rotation.multiply(body[:, :, L.ATTITUDE : L.ATTITUDE + 4], rotation.conjugate(frames))
    m = rotation.rotate(frames, body[:, :, L.ANGULAR : L.ANGULAR + 3])
    omega = rotation.rotate(frames, body[:, :, L.ANGULAR : L.ANGULAR + 3] / system.moments)
    r, p = body[:, :, L.POSITION : L.POSITION + 3], body[:, :, L.MOMENTUM : L.MOMENTUM + 3]
    spatial = rotation.rotate(attitude, m) + np.cross(r, p)
    kinetic = system.kinetic_energies(states)
    energy = kinetic.copy()
    quantities: dict[str, Any] = {}
    if system.rotates:
        quantities |= {"attitude": attitude, "angular_momentum": m, "angular_velocity": omega}
    if system.translates:
        quantities |= {"position": r, "momentum": p, "velocity": p / system.mass[:, None]}
    if compensation:
        left = states[:, L.BODY * N + S : L.BODY * N + S + COMPENSATION * N].reshape(n, N, COMPENSATION)
        if system.translates:
            r, p = left[:, :, L.POSITION : L.POSITION + 3], left[:, :, L.MOMENTUM : L.MOMENTUM + 3]
            quantities |= {"position_compensation": r.copy(), "momentum_compensation": p.copy()}
        if system.rotates and compensation == "bodies":
            quantities |= {
                "attitude_compensation": rotation.multiply(
                    left[:, :, L.ATTITUDE : L.ATTITUDE + 4], rotation.conjugate(frames)
                ),
                "angular_momentum_compensation": rotation.rotate(frames, left[:, :, L.ANGULAR : L.ANGULAR + 3]),
            }
    quantities["angular_momentum_space"] = spatial
    if "vertical_angular_momentum" in system.conserves:
        quantities["vertical_angular_momentum"] = spatial[:, :, 2].sum(axis=1)
    if "axial_angular_momentum" in system.conserves:
        quantities["axial_angular_momentum"] = (m @ system.axis).sum(axis=1)
    if "total_momentum" in system.conserves:
        quantities["total_momentum"] = p.sum(axis=1)
    if "total_angular_momentum" in system.conserves:
        quantities["total_angular_momentum"] = spatial.sum(axis=1)
    if system.quantities is not None:
        quantities |= system.quantities(body)
    quantities["kinetic_energy"] = kinetic
    if potential is not None:
        if callable(potential):
            stored, rows = np.zeros(n), np.ascontiguousarray(states, dtype=float)
            drive.energy_loop()(
                np.asarray(times, dtype=float), rows, system.bodies, system.with_memory, potential, stored
            )
            potential = stored
        quantities["potential_energy"] = potential
        energy += potential
    work_columns = [k for k, own in enumerate(system.auxiliary) if own.quantity == "work"]
    work = states[:, [L.BODY * N + k for k in work_columns]]
    change = energy - energy[0] if n else energy
    unexplained = change - (work - work[0]).sum(axis=1) if n and work_columns else change
    scale = abs(energy[0]) if n and energy[0] != 0.0 else 1.0
    quantities |= {"energy": energy, "energy_change": change, "energy_error": unexplained / scale}
    quantities["iterations"] = np.asarray(iterations)
    variables = {}
    for name, values in quantities.items():
        total = name.startswith("total_")
        single, vector = values.ndim > 1 and not total, values.ndim == 3 or total
        if single and N == 1:
            values = values[:, 0]
        dims = ["time"] + (["body"] if single and N > 1 else [])
        if vector:
            dims.append("quaternion" if name in ("attitude", "attitude_compensation") else "axis")
        variables[name] = (dims, values, {"long_name": MEANING[name], "units": UNITS[units][name]})
    if work_columns:
        about = {"long_name": MEANING["work"], "units": UNITS[units]["work"]}
        variables["work"] = (["time", "force"], work.copy(), about)
        variables["energy_error"][2]["long_name"] = BALANCE
    for name, (along, constant) in system.constants.items():
        about = {"long_name": MEANING[name], "units": UNITS[units][name]}
        variables[name] = (list(along), np.array(constant), about)
    if system.box is not None:
        about = {"long_name": MEANING["box"], "units": UNITS[units]["box"]}
        variables["box"] = (["axis"], np.array(system.box, dtype=float), about)
    if system.mass_at is not None:
        mass = system.mass_at(np.asarray(times, dtype=float))
        about = {"long_name": MEANING["mass"], "units": UNITS[units]["mass"], "note": FALLING}
        variables["mass"] = (["time", "body"], mass, about) if N > 1 else (["time"], mass[:, 0], about)
    if chart is not None and not system.rotates:
        chart = None
    if chart is not None and chart.name in MEANING:
        first = L.BODY * N + S
        values = states[:, first : first + chart.size * N].reshape(n, N, chart.size)
        note = singular_note(chart.name, values, chart.attributes.get("sequence"), times, chart.rates)
        dims = ["time", "body", CHART_DIMENSION[chart.name]]
        if N == 1:
            values, dims = values[:, 0], ["time", dims[-1]]
        words = {"long_name": MEANING[chart.name], "units": UNITS[units][chart.name], **chart.attributes}
        if note:
            words["note"] = note
        variables[chart.name] = (dims, values, words)
    has_energy_balance = system.potential is not None or system.conserves or work_columns
    note = "" if has_energy_balance else KINETIC_ONLY
    declared_potential = system.functions.get("potential")
    if not system.records_work:
        note = UNRECORDED
    elif declared_potential is not None and len(system.functions) > 1:
        note = TAKEN_FOR_POTENTIAL
    elif not system.balanced:
        note = CHANGING_POTENTIAL
    if note:
        for name in ("energy", "energy_error", "energy_change"):
            variables[name][2]["note"] = note
    labels: list[tuple[str, tuple[Any, ...]]] = [("axis", tuple(AXES))]
    if work_columns:
        labels.append(("force", tuple(system.auxiliary[k].label for k in work_columns)))
    if chart is not None and CHART_DIMENSION.get(chart.name) == "angle":
        labels.append(("angle", tuple(ANGLES)))
    if system.rotates:
        labels.append(("quaternion", tuple(QUATERNION)))
    import xarray as xr

    about = {"long_name": "time", "units": UNITS[units]["time"]}
    made = {name: xr.Variable(*given) for name, given in variables.items()}
    return xr.Dataset(made, coordinates(np.asarray(times, dtype=float), about, tuple(labels)), dict(attributes))


@lru_cache(64)
def _labelled(labels: tuple[tuple[str, tuple[Any, ...]], ...]) -> Any:
    """Coordinates of labels along dimensions, which take xarray as long to make as all the rest of a short Dataset."""
    import xarray as xr

    return xr.Dataset(coords={name: (name, list(words)) for name, words in labels}).coords


def coordinates(times: Any, about: Mapping[str, str], labels: tuple[tuple[str, tuple[Any, ...]], ...]) -> Any:
    """The coordinates of a Dataset: times, with attributes, and pairs (dimension, labels)."""
    import xarray as xr
    from xarray.indexes import PandasIndex

    kept = _labelled(labels)
    index = PandasIndex(times, "time")
    variables = {name: one.variable.copy(deep=False) for name, one in kept.items()}
    time = index.create_variables({"time": xr.Variable("time", times, dict(about))})
    return xr.Coordinates(variables | time, indexes={**kept.xindexes, "time": index})


def with_events(ds: xr.Dataset, system: System, found: Mapping[str, Any], units: str = "consistent") -> xr.Dataset:
    """Add the events of a run to its Dataset, along the dimension ``event``.

    Parameters
    ----------
    ds : xarray.Dataset
        Trajectory of the run.
    system : System
        The system that was integrated.
    found : mapping
        The events: arrays (n,) ``time``, ``kind`` and ``work``, (n, 13 N) ``state`` and ``before``.
    units : {"consistent", "SI", "molecular"}
        Unit labels of the variables.
    """
    n, states = len(found["time"]), ["event_"]
    if system.impulses:
        states.append("event_before_")
    quantities: dict[str, Any] = {"event_time": found["time"], "event_kind": found["kind"]}
    bodies = {"event_": found["state"], "event_before_": found["before"]}
    for prefix in states:
        body = bodies[prefix].reshape(n, system.N, L.BODY)[:, 0]
        if system.translates:
            quantities[f"{prefix}velocity"] = body[:, L.MOMENTUM : L.MOMENTUM + 3] / system.mass[0]
            if prefix == "event_":
                quantities["event_position"] = body[:, L.POSITION : L.POSITION + 3]
        if system.rotates and prefix == "event_":
            frame = system.frames[0]
            attitude = rotation.multiply(body[:, L.ATTITUDE : L.ATTITUDE + 4], rotation.conjugate(frame))
            quantities["event_attitude"] = attitude
            quantities["event_angular_velocity"] = rotation.rotate(
                frame, body[:, L.ANGULAR : L.ANGULAR + 3] / system.moments[0]
            )
    if system.impulses:
        quantities["event_work"] = found["work"]
    variables = {}
    for name, values in quantities.items():
        dims = ["event"]
        if values.ndim == 2:
            dims.append("quaternion" if name == "event_attitude" else "axis")
        words = {"long_name": MEANING[name]}
        if name != "event_kind":
            words["units"] = UNITS[units][name]
        variables[name] = (dims, values, words)
    return ds.assign(variables)


def with_bath(ds: xr.Dataset, numbers: Any, energy: Any, units: str = "consistent") -> xr.Dataset:
    """Add thermostat variables and the conserved energy to the Dataset of a thermostatted run.

    Parameters
    ----------
    ds : xarray.Dataset
        Trajectory of the run.
    numbers : array (n, k)
        Thermostat variables.
    energy : array (n,)
        Thermostat energy.
    units : {"consistent", "SI", "molecular"}
        Unit labels of the variables.
    """
    total = ds.energy.values + energy
    if "work" in ds:
        total = total - ds.work.values.sum(axis=1)
    names = ("conserved_energy", "thermostat")
    words = {name: {"long_name": MEANING[name], "units": UNITS[units][name]} for name in names}
    for name in ("energy", "energy_error", "energy_change"):
        before = ds[name].attrs.get("note")
        ds[name].attrs["note"] = "; ".join([*([before] if before else []), BATHED])
    return ds.assign(
        conserved_energy=("time", total, words["conserved_energy"]),
        thermostat=(("time", "thermostat_number"), numbers, words["thermostat"]),
    )
