"""Specification of the trajectory Dataset: names, dimensions, units and attributes.

========================= ==================== =====================================================================
variable                  dimensions           meaning
========================= ==================== =====================================================================
attitude                  time, quaternion     unit quaternion (w, x, y, z), body to space: x_space = R(q) x_body
angular_momentum          time, axis           body frame
angular_velocity          time, axis           body frame
angular_momentum_space    time, axis           about the origin, space frame: R m + r x p
position, momentum        time, axis           space frame; of bodies that translate
velocity                  time, axis           space frame; of bodies that translate
position_compensation     time, axis           and momentum_compensation, angular_momentum_compensation (body frame):
                                               rounding errors of the sums so far, added to the next ones; of methods
                                               with compensated summation
attitude_compensation     time, quaternion     likewise, of each number of the quaternion
kinetic_energy            time                 of all bodies
potential_energy          time                 where the system has a potential
energy                    time                 kinetic + potential
energy_error              time                 energy change less all work, over the energies so far (attribute
                                               ``scale``): at most 1, and zero for the exact motion of every system
                                               that records its work
energy_change             time                 energy - energy[0], including work
work                      time, force          work done on the bodies since time 0 by each force without potential
                                               (drag, thrust, a user function) or with a time-dependent one
mass                      time                 where burns consume propellant; momentum, energies and work are those of
                                               the mass before the burns
vertical_angular_momentum time                 z component of the spatial angular momentum, where it is conserved
axial_angular_momentum    time                 along the body's symmetry axis, where it is conserved
total_momentum            time, axis           of all bodies, space frame, where it is conserved
total_angular_momentum    time, axis           of all bodies about the origin, space frame, where it is conserved
spin                      time, axis           angular momentum about the centre of mass, space frame; of a spacecraft
attitude_energy           time                 of rotation and gravity gradient; of a spacecraft
orbital_energy            time                 of the osculating conic, |p|^2 / (2 m) - mu m / r; of a spacecraft
temperature               time                 of molecules, from motion relative to the common centre of mass; also
                                               temperature_translational and temperature_rotational
pressure                  time                 of molecules in a box
total_dipole              time, axis           of molecules, space frame
dipole                    body, axis           of each molecule, body frame
mass, inertia             body; body, axis     of each molecule; moments about the axes of the body frame
site_position             site, axis           of molecules with sites, body frame; also site_charge, site_mass, and
                                               ``site`` with names such as O, H1, H2
boltzmann, coulomb                             of molecules: Boltzmann's constant, and energy times distance of two unit
                                               charges, in the units of the trajectory
box                       axis                 edges of the periodic box, where there is one; positions are not wrapped
                                               into it
iterations                time                 most solver iterations of a step since the previous row
step                      time                 size of the step that ends at the row or contains it, 0 at the first; of
                                               adaptive and time-transformed runs
time_variables            time, time_variable  of time-transformed runs: time, its compensation, step density (nominal
                                               step over step), its rate or unit
thermostat                time,                of thermostatted runs: thermostat variables, see
                          thermostat_number    ``polhode.methods.thermostats``
conserved_energy          time                 of thermostatted runs: energy of bodies and heat bath, less work;
                                               conserved up to the error of the method, while ``energy`` is not
rotation_vector           time, axis           angle times axis of the attitude; attribute ``branch``
euler_angles              time, angle          in the order of the attribute ``sequence``; attribute ``branch``
gibbs_rodrigues           time, axis           tan(angle/2) times axis of the attitude
modified_rodrigues        time, axis           tan(angle/4) times axis of the attitude; attribute ``branch``
event_time, event_kind    event                time, and a word such as ``periapsis`` or ``impulse``
event_position            event, axis          and event_velocity, event_attitude, event_angular_velocity: at the event
event_before_velocity     event, axis          velocity just before the event; of systems with impulses
event_work                event                work of an impulse; of systems with impulses
========================= ==================== =====================================================================

With more than one body a dimension ``body`` follows ``time`` in the variables of single bodies, and only then. Event
variables are present where events were requested, or where the system has impulses or edges; the attribute ``stopped``
names the event that ended the run. A chart (``rotation_vector`` to ``modified_rodrigues``) is present where the method
integrates in it or ``polhode.trajectory.with_chart`` has added it; its attribute ``branch`` says which of the
equivalent triples it holds, see ``polhode.trajectory.convert_branch``.

The attribute ``epoch``, where it was given, is the instant of time 0: ``2030-01-01T00:00:00 TDB``.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from polhode.arguments import UNKNOWN, Array
from polhode.errors import InvalidInput, shown
from polhode.lazy import xr

QUATERNION = ("w", "x", "y", "z")
AXES = ("x", "y", "z")
ANGLES = (1, 2, 3)
ROLE = "state that loads read"
"""The attribute ``role`` of what a run has to go on with beside the bodies, such as momenta of wheels."""
COMMANDS = {"commands": "act from their row on"}
"""What a Dataset says of controllers; in those of earlier versions a row has what was held until then."""

CONVENTIONS = (
    "attitude: unit quaternion, scalar first (w, x, y, z), Hamilton product, body to space, x_space = R(q) x_body; "
    "angular momentum and velocity in the body frame unless the name ends in _space; "
    "position, momentum and velocity in the space frame; angles in radians"
)
"""The attribute ``conventions`` of every trajectory: frames, signs, the order of a quaternion's components."""

_WORDS = {
    "time": ("time", "time"),
    "attitude": ("1", "attitude quaternion, body to space"),
    "angular_momentum": ("mass length2 / time", "angular momentum, body frame"),
    "angular_velocity": ("rad / time", "angular velocity, body frame"),
    "angular_momentum_space": ("mass length2 / time", "angular momentum about the origin, space frame"),
    "vertical_angular_momentum": ("mass length2 / time", "vertical component of the spatial angular momentum"),
    "axial_angular_momentum": ("mass length2 / time", "angular momentum about the body's symmetry axis"),
    "total_momentum": ("mass length / time", "momentum of all bodies, space frame"),
    "total_angular_momentum": ("mass length2 / time", "angular momentum of all bodies about the origin, space frame"),
    "spin": (
        "mass length2 / time",
        "angular momentum about the centre of mass, wheels and gyros included, space frame",
    ),
    "wheel_momentum": ("mass length2 / time", "angular momentum of wheels about their axes"),
    "wheel_command": ("mass length2 / time2", "commanded torque of motors, or speed that they keep"),
    "dipole_command": ("mass length2 / (time2 field)", "commanded dipole moments of magnetic torquers"),
    "wheel_angle": ("rad", "angles through which wheels have turned"),
    "gimbal_angle": ("rad", "angles of gimbals"),
    "gimbal_command": ("rad / time", "commanded rates of gimbals"),
    "thruster_command": ("1", "commanded shares of the period in which thrusters fire"),
    "thruster_open": ("1", "whether the valves of thrusters are open"),
    "thruster_closes": ("time", "times at which the valves of thrusters close"),
    "thruster_fired": ("time", "how long thrusters have fired"),
    "attitude_energy": ("mass length2 / time2", "energy of rotation and gravity gradient"),
    "orbital_energy": ("mass length2 / time2", "energy of the osculating conic"),
    "position": ("length", "position, space frame"),
    "momentum": ("mass length / time", "momentum, space frame"),
    "velocity": ("length / time", "velocity, space frame"),
    "position_compensation": ("length", "what rounding has left out of the position"),
    "momentum_compensation": ("mass length / time", "what rounding has left out of the momentum"),
    "attitude_compensation": ("1", "what rounding has left out of the attitude quaternion"),
    "angular_momentum_compensation": (
        "mass length2 / time",
        "what rounding has left out of the angular momentum, body frame",
    ),
    "kinetic_energy": ("mass length2 / time2", "kinetic energy"),
    "potential_energy": ("mass length2 / time2", "potential energy"),
    "energy": ("mass length2 / time2", "total energy"),
    "energy_error": ("1", "energy error, (H - H0)/scale"),
    "energy_change": ("mass length2 / time2", "energy change, H - H0"),
    "work": ("mass length2 / time2", "work on the bodies since the start"),
    "mass": ("mass", "mass"),
    "box": ("length", "edges of the periodic box"),
    "boltzmann": ("energy / temperature", "Boltzmann's constant"),
    "coulomb": ("energy length / charge2", "energy times distance of two unit charges"),
    "temperature": ("energy / boltzmann", "temperature"),
    "temperature_translational": ("energy / boltzmann", "temperature of the translation"),
    "temperature_rotational": ("energy / boltzmann", "temperature of the rotation"),
    "pressure": ("energy / length3", "pressure"),
    "total_dipole": ("charge length", "dipole of all bodies, space frame"),
    "dipole": ("charge length", "dipole, body frame"),
    "site_position": ("length", "position of a site in its molecule, body frame"),
    "site_charge": ("charge", "charge of a site"),
    "site": ("1", "site of a molecule: its element and number; X is a charge without mass"),
    "site_mass": ("mass", "mass of a site"),
    "inertia": ("mass length2", "principal moments of inertia"),
    "iterations": ("1", "most solver iterations in a step since the previous row"),
    "step": ("time", "size of the step that ends at the row or holds it"),
    "time_variables": ("of each number its own", "time, its compensation, density of steps, its rate or unit"),
    "thermostat": ("of each number its own", "numbers of the heat bath"),
    "conserved_energy": ("mass length2 / time2", "energy of bodies and heat bath"),
    "rotation_vector": ("rad", "rotation vector of the attitude, body to space"),
    "euler_angles": ("rad", "Euler angles of the attitude, body to space"),
    "gibbs_rodrigues": ("1", "Gibbs-Rodrigues vector of the attitude, body to space"),
    "modified_rodrigues": ("1", "modified Rodrigues vector of the attitude, body to space"),
    "event_time": ("time", "time of the event"),
    "event_velocity": ("length / time", "velocity at the event, space frame"),
    "event_before_velocity": ("length / time", "velocity just before the event, space frame"),
    "event_position": ("length", "position at the event, space frame"),
    "event_attitude": ("1", "attitude quaternion at the event, body to space"),
    "event_angular_velocity": ("rad / time", "angular velocity at the event, body frame"),
    "event_work": ("mass length2 / time2", "work of the impulse"),
}
"""Units, in consistent ones, and meaning of each variable."""
MEANING = {name: meaning for name, (_, meaning) in _WORDS.items() if name != "time"} | {
    "event_kind": "kind of the event"
}
_CONSISTENT = {name: units for name, (units, _) in _WORDS.items()}
_SI = {
    "time": "s", "mass length2 / time": "kg m2 s-1", "rad / time": "rad s-1", "mass length / time": "kg m s-1",
    "mass length2 / (time2 field)": "A m2", "mass length2 / time2": "J", "length": "m", "length / time": "m s-1",
    "mass": "kg", "energy / temperature": "J / K", "energy length / charge2": "J m / C2", "energy / boltzmann": "K",
    "energy / length3": "Pa", "charge length": "C m", "charge": "C", "mass length2": "kg m2",
}  # fmt: skip
"""Consistent units in SI, but those that are called the same."""
_MOLECULAR = (
    ("mass length2 / time2", "kJ / mol"), ("energy / boltzmann", "K"), ("energy", "kJ / mol"), ("charge", "e"),
    ("mass", "u"), ("length", "nm"), ("time", "ps"),
)  # fmt: skip
"""Consistent units in those of molecular systems: nm, ps, u, e, kJ / mol, K."""


UNITS = {
    "consistent": _CONSISTENT,
    "SI": {name: _SI.get(units, units) for name, units in _CONSISTENT.items()} | {"wheel_command": "N m"},
    "molecular": {
        name: reduce(lambda told, pair: told.replace(*pair), _MOLECULAR, units) for name, units in _CONSISTENT.items()
    }
    | {"boltzmann": "kJ / (mol K)", "coulomb": "kJ nm / (mol e2)"},
}
"""Unit labels of the variables: consistent, SI, molecular."""

SCALES: dict[str, dict[str, str]] = {
    "SI": {"length": "m", "time": "s", "mass": "kg", "temperature": "K", "volume": "m**3", "dipole": "C * m"},
    "molecular": {"length": "nm", "time": "ps", "mass": "u", "temperature": "K", "volume": "nm**3"},
}
"""Units that quantities passed along with a trajectory are converted to, by the trajectory's unit label."""


def trajectory(ds: object, *needed: str) -> xr.Dataset:
    """Check that ``ds`` is a Dataset with the variables ``needed``, and return it."""
    if not isinstance(ds, xr.Dataset):
        raise InvalidInput(f"ds must be a Dataset such as polhode.integrate gives, not {shown(ds)}")
    for name in needed:
        if name not in ds.variables:
            raise InvalidInput(f"this Dataset has no {name}; take that of a run")
    for own, variable in ds.variables.items():
        if variable.dtype.kind == "c":
            raise InvalidInput(f"{own} holds {variable.dtype}, no real numbers; take the Dataset of a run")
    for name in WIDTHS:
        if name in ds.data_vars and "event" not in ds[name].dims:  # of members, what varies is a coordinate
            _laid_out(ds, name, ds.variables[name])
    if "time" in ds.coords and not (ds.time.dtype.kind in "fiu" and _are_times(ds.time.values, "member" in ds.coords)):
        raise InvalidInput("time has entries that are not finite numbers; take the Dataset of a run")
    return ds


WIDTHS = {"attitude": ("quaternion", 4)} | dict.fromkeys(
    ("angular_momentum", "angular_velocity", "angular_momentum_space", "position", "momentum", "velocity", "box",
     "dipole", "inertia", "site_position", "rotation_vector"), ("axis", 3),
) | {"euler_angles": ("angle", 3)}  # fmt: skip
"""Last dimensions of variables, and how long they are."""
MOVING = frozenset({"attitude", "angular_momentum", "angular_velocity", "position", "momentum", "velocity"})
"""Variables that change with the time, where there is one."""


def _are_times(times: Array, of_members: bool) -> bool:
    """Whether times are finite numbers, but for NaN behind the end of members that ended early."""
    there = np.isfinite(np.atleast_1d(times))
    if not of_members:
        return bool(there.all())
    return bool(not np.isinf(times).any() and (there.ndim > 1 or there[..., :1].all())
                and (there[..., :-1] | ~there[..., 1:]).all())  # fmt: skip


def labels_of(values: xr.DataArray) -> list[str]:
    """Names of the curves of a variable: numbers from 1 on, or labels with the name of a body."""
    labels = [str(one) for one in values[values.dims[-1]].values.tolist()]
    return [str(int(one) + 1) if one.isdigit() else one for one in labels]


def own_rows(ds: xr.Dataset) -> xr.Dataset:
    """The Dataset of one member without the rows behind its end, which fill it up to the longest member."""
    if "member" not in ds.coords or "member" in ds.dims or "time" not in ds.dims or "time" not in ds.coords:
        return ds
    there = np.isfinite(ds.time.values)
    count = int(there.sum())
    return ds if there.all() or not there[:count].all() else ds.isel(time=slice(count))


def _laid_out(ds: xr.Dataset, name: str, variable: xr.Variable) -> None:
    """Refuse a variable that has not the dimensions of trajectories, or no real numbers."""
    last, width = WIDTHS[name]
    lacks_time = name in MOVING and "time" in ds.dims and not {"time", "member"} & set(variable.dims)
    if variable.sizes.get(last) != width or lacks_time:
        raise InvalidInput(f"{name} has the dimensions {dict(variable.sizes)}; in a trajectory it has time, the bodies "
                           f"and {last}, of {width}: take the Dataset of a run")  # fmt: skip
    if variable.dtype.kind not in "fiu":
        raise InvalidInput(f"{name} holds {variable.dtype}, no real numbers; take the Dataset of a run")


RENAMED = {
    "clock": "time_variables", "clock_number": "time_variable", "position_carry": "position_compensation",
    "momentum_carry": "momentum_compensation",
}  # fmt: skip
"""Names in files of 0.1, and what they are called now."""


def renamed(ds: xr.Dataset) -> xr.Dataset:
    """The Dataset with names of before by those of now."""
    found = {old: new for old, new in RENAMED.items() if old in ds.variables or old in ds.dims}
    if not found:
        return ds
    ds = ds.rename(found)
    for name in found.values():
        if name in ds.variables:
            ds[name].attrs["long_name"] = MEANING[name]
    return ds


def unit_of(ds: xr.Dataset, kind: str) -> str:
    """Unit that a quantity passed along with a trajectory is converted to, or ``arguments.UNKNOWN``."""
    return SCALES.get(str(ds.attrs.get("units")), {}).get(kind, UNKNOWN)


CHART_DIMENSION = {
    "rotation_vector": "axis", "euler_angles": "angle", "gibbs_rodrigues": "axis", "modified_rodrigues": "axis",
}  # fmt: skip
"""Last dimension of the charts."""

BALANCE = "energy error, (H - H0 - work)/scale"  # long name of ``energy_error`` where work is recorded
SCALE = (
    "of the rows so far: largest kinetic energy + largest |V - V0| + largest |work| of each force; no constant in "
    "the potential V changes it"
)
"""Attribute ``scale`` of ``energy_error``."""
KINETIC_ONLY = "kinetic energy only: the loads state no potential"
TAKEN_FOR_POTENTIAL = "the loads are taken for those of reported_energy beside them; any other work is in the error"
CHANGING_POTENTIAL = "the potential reads the time; what that changes of the energy is not recorded as work"
UNRECORDED = "forces change the energy, and their work is not recorded (work=False)"
"""Notes attached to the energies."""

FALLING = "momentum, angular momentum, energies and work are those of the mass before the burns"
"""Note attached to a decreasing mass."""

BATHED = "not conserved: a heat bath takes part; see conserved_energy"
"""Note attached to the energies of a thermostatted run."""
