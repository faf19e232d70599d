"""One good call of every public function, for tests that walk all of them.

``CALLS`` maps the name under ``polhode`` to a list of keyword arguments; ``public_functions`` finds by introspection
what must be in it. Trajectories and other things that cost time are made when a call is asked for.
"""

from __future__ import annotations

import functools
import inspect
import shutil
import tempfile
from operator import attrgetter
from pathlib import Path
from types import ModuleType

import numpy as np
import xarray as xr

import polhode as ph

R, V, MU, T = [7.0e6, 1.0e5, -2.0e5], [100.0, 7.4e3, 900.0], 3.986004418e14, 300.0
Q, W, INERTIA, LENGTH = [0.6, 0.0, 0.8, 0.0], [0.1, -0.2, 0.3], [2.0, 3.0, 4.5], [1.0, 2.0, 3.0]
TURN = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
NO_FUNCTIONS = {
    "Progress", "System", "Method", "Scheme", "Force", "Impulse", "Event", "Planet", "Lattice", "Principal",
    "Load", "Joint", "Surrounding", "Distribution", "Members", "Reduction", "Running", "Fit", "Convergence",
    "Measurement", "Unobservable",
    "ClassicalElements", "EquinoctialElements", "ModifiedEquinoctialElements",
}  # fmt: skip
"""Records, which users read and do not make; their numbers are checked where they are handed in."""

OF_FEW = ("systems", "methods", "checks", "errors")
"""Modules of which users need what is at the top, or was there once."""


@functools.cache
def public_functions():
    """``{name under polhode: function}``: every function, and every class whose making is one."""
    found = {}
    for name in [*ph.__all__, *ph._PACKAGES, *ph._MOVED.values()]:
        thing = attrgetter(name)(ph)
        if isinstance(thing, ModuleType):
            inside = () if name in OF_FEW else getattr(thing, "__all__", ())
            found |= {f"{name}.{key}": getattr(thing, key) for key in inside}
        else:
            found[name] = thing
    return {
        name: thing for name, thing in found.items()
        if callable(thing) and name.rpartition(".")[2] not in NO_FUNCTIONS
        and not (isinstance(thing, type) and issubclass(thing, BaseException))
    }  # fmt: skip


# ------------------------------------------------------------------ things that functions take
@functools.cache
def folder():
    return Path(tempfile.mkdtemp(prefix="polhode-calls-"))


def arm():
    return ph.system(ph.body("arm", 2.0, [1.0, 1.0, 0.1]), ph.joints.hinge(LENGTH, LENGTH).on("arm", ph.ground))


def field_file():
    """Coefficients of a magnetic field to degree 2 at two epochs, as an .shc file."""
    rows = [(1, 0, -29400, -29350), (1, 1, -1451, -1410), (1, -1, 4653, 4545), (2, 0, -2500, -2556),
            (2, 1, 2982, 2951), (2, -1, -2992, -3134), (2, 2, 1677, 1649), (2, -2, -735, -815)]  # fmt: skip
    path = folder() / "field.shc"
    path.write_text("# a field\n1 2 2 2 1\n2020.0 2025.0\n" + "\n".join(" ".join(map(str, row)) for row in rows))
    return str(path)


def message_file(kind):
    """An orbit or attitude ephemeris message."""
    meta = {"oem": "CENTER_NAME = EARTH\nREF_FRAME = ICRF",
            "aem": "REF_FRAME_A = ICRF\nREF_FRAME_B = SC_BODY_1\nATTITUDE_DIR = A2B\nATTITUDE_TYPE = QUATERNION\n"
                   "QUATERNION_TYPE = FIRST"}[kind]  # fmt: skip
    rows = {"oem": ["7000 0 0 0 7.5 0", "6800 440 0 -4 7.4 0"], "aem": ["1 0 0 0", "0.6 0.8 0 0"]}[kind]
    times = [f"2026-03-01T00:0{k}:00" for k in range(2)]
    path = folder() / f"message.{kind}"
    path.write_text(f"CCSDS_{kind.upper()}_VERS = 1.0\n"
                    f"META_START\nOBJECT_NAME = A\nTIME_SYSTEM = TDB\n{meta}\nMETA_STOP\n"
                    + "\n".join(f"{time} {row}" for time, row in zip(times, rows, strict=True)))  # fmt: skip
    return str(path)


def target(name):
    """A file that is not there yet."""
    path = folder() / name
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    return path


@functools.cache
def turning():
    return ph.integrate(ph.free_body(INERTIA), "v2/mr", step=0.05, steps=40, angular_velocity=W)


@functools.cache
def saved():
    return ph.save(turning(), folder() / "saved.nc")


@functools.cache
def stored():
    path = folder() / "store.zarr"
    ph.integrate(ph.free_body(INERTIA), "v2/mr", step=0.05, steps=40, angular_velocity=W, store=path)
    return path


@functools.cache
def scenario():
    path = folder() / "top.toml"
    path.write_text('method = "v2/mr"\n[system]\ntype = "free_body"\ninertia = [2.0, 3.0, 4.5]\n[initial]\n'
                    "angular_velocity = [0.1, 0.2, 1.0]\n[run]\nstep = 0.05\nt_end = 1.0\n")  # fmt: skip
    return path


@functools.cache
def with_members():
    path = folder() / "members.toml"
    path.write_text(scenario().read_text() + "[members]\ncount = 2\n[members.vary]\n"
                    "inertia = { inertia = { mean = [2.0, 3.0, 4.5], relative = 0.1 } }\n")  # fmt: skip
    return ph.runs.read_scenario(path)


@functools.cache
def swept():
    path = folder() / "swept.toml"
    path.write_text(scenario().read_text() + '[sweep.grid]\n"run.step" = [0.05, 0.1]\n')
    return path


@functools.cache
def swept_store():
    path = folder() / "swept.zarr"
    ph.sweep(swept(), store=path)
    return path


@functools.cache
def circling():
    return ph.integrate(ph.orbit(MU), "v2", step=10.0, steps=40, position=R, velocity=V,
                        settings={"units": "SI", "epoch": "2030-01-01T00:00:00"})  # fmt: skip


@functools.cache
def gas():
    """Eight molecules, 64 rows."""
    rng = np.random.default_rng(1)
    q = rng.normal(size=(64, 8, 4))
    last = {"attitude": "quaternion"}
    arrays = {
        "position": rng.uniform(0, 3, (64, 8, 3)), "velocity": rng.normal(size=(64, 8, 3)),
        "attitude": q / np.linalg.norm(q, axis=-1, keepdims=True), "angular_momentum": rng.normal(size=(64, 8, 3)),
        "momentum": rng.normal(size=(64, 8, 3)), "angular_velocity": rng.normal(size=(64, 8, 3)),
    }  # fmt: skip
    found = {name: (("time", "body", last.get(name, "axis")), a) for name, a in arrays.items()}
    found |= {"box": ("axis", np.full(3, 3.0)), "energy": ("time", rng.normal(size=64)),
              "dipole": (("body", "axis"), np.tile([0.0, 0.0, 0.1], (8, 1)))}  # fmt: skip
    return xr.Dataset(found, {"time": 0.5 * np.arange(64), "axis": ["x", "y", "z"]}, {"units": "molecular"})


@functools.cache
def members():
    """Three members of an ensemble, two rows."""
    return xr.Dataset({"x": (("member", "time"), [[1.0, 2.0], [2.0, 3.0], [5.0, 6.0]])},
                      {"time": [0.0, 1.0], "mass": ("member", [1.0, 2.0, 2.5])})  # fmt: skip


@functools.cache
def megno():
    """An indicator of chaos of three members, two rows."""
    return ph.chaos.megno(ph.free_body(INERTIA), "v2", step=0.05, steps=2, angular_velocity=W, members=3)


@functools.cache
def several():
    """An ensemble of two members, all rows of which are kept."""
    return ph.ensemble(ph.free_body(INERTIA), "v2/mr", members={"angular_velocity": [W, W]}, step=0.05, steps=4)


@functools.cache
def table():
    return ph.compare(ph.free_body(INERTIA), ["v2/mr"], [0.05, 0.1], t_end=1.0, angular_velocity=W)


@functools.cache
def water():
    return ph.rigid_water(8, box=3.0, cutoff=1.0)


def oscillator(x, v):
    """A Lagrangian."""
    return 0.5 * np.sum(np.asarray(v) ** 2) - 0.5 * np.sum(np.asarray(x) ** 2)


def pull(t, x, v):
    return -0.1 * np.asarray(v)


def torque(t, q, omega, parameters):
    return (0.0, 0.0, -0.1 * omega[2])


def command(t, position, velocity, q, omega, parameters, states):
    return -0.1 * velocity, velocity


def force(t, position, velocity, parameters):
    return (0.0, 0.0, -0.1 * velocity[2])


def level(t, position, parameters):
    return 9.8 * position[2]


def torque_with_states(t, q, omega, parameters, states):
    return (0.0, 0.0, -0.1 * states.heat), omega[2]


def force_with_states(t, position, velocity, parameters, states):
    return (0.0, 0.0, -0.1 * states.heat), velocity[2]


def ignore(told):
    """Of how far a run is."""


def damped():
    return ph.rigid_body(INERTIA, torque=torque, parameters=[1.0])


def far(t, position, velocity, q, omega, parameters):
    return position[0] - 1.0


CONSTRAINED = [[0.1, -0.2, 0.3], [0.2, 0.1, -0.1], [-0.3, 0.1, 0.2]]
HALF = {"q0": [1.0], "q1": [1.1], "h": 0.1, "alpha": 0.25}
STATE = {"position": R, "velocity": V}
PATH = {"times": [0.0, 1.0, 2.0, 3.0], "positions": [[1e8, 0, 0], [1e8, 1e6, 0], [1e8, 2e6, 0], [1e8, 3e6, 0]]}
CIRCLE = {"radius": 3.8e8, "period": 2.4e6}
MEAN_ELEMENTS = {
    "OBJECT_NAME": "ISS", "EPOCH": "2026-03-01T12:00:00", "MEAN_MOTION": 15.5, "ECCENTRICITY": 7e-4,
    "INCLINATION": 51.6, "RA_OF_ASC_NODE": 247.5, "ARG_OF_PERICENTER": 130.5, "MEAN_ANOMALY": 325.0, "BSTAR": 1e-4,
}  # fmt: skip
TWO_LINES = (
    "1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753",
    "2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667",
)
SUN = {"body": "sun", "epoch": "2026-03-20", "stop": 9000.0}
SITES = [("O", [0.0, 0.0, 0.01]), ("H", [0.0, 0.0, -0.08])]
CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
FACES = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]

TILTED = {"tilted": {"function": lambda body, k: 0.5 * k * body.in_space((1.0, 0.0, 0.0))[0] ** 2, "k": 1e-3}}

CALLS = {
    # systems
    "free_body": [{"inertia": INERTIA, "loads": TILTED}, {"inertia": [2.0, 1.0, 0.5], "physical": False}],
    "heavy_top": [
        {"inertia": INERTIA, "center_of_mass": [0, 0, 1.0], "weight": 20.0, "loads": TILTED},
        {"inertia": INERTIA, "center_of_mass": [0, 0, 1.0], "mass": 2.0, "gravity": 9.8,
         "inertia_about": "center_of_mass"},
        {"inertia": [2.0, 1.0, 0.5], "center_of_mass": [0, 0, 1.0], "weight": 20.0, "physical": False, "torque": torque,
         "parameters": [1.0]},
        {"inertia": INERTIA, "center_of_mass": [0, 0, 1.0], "weight": 20.0, "torque": torque_with_states,
         "states": {"heat": 1}},
    ],
    "particle": [{"mass": 2.0, "stiffness": [1.0, 2.0, 3.0], "gravity": [0, 0, -9.8], "loads": TILTED},
                 {"mass": 2.0, "force": force, "parameters": [1.0]},
                 {"mass": 2.0, "force": force_with_states, "states": {"heat": 1}},
                 {"mass": 2.0, "force": force, "parameters": [1.0], "reported_energy": level}],
    "rigid_body": [{"inertia": INERTIA, "loads": TILTED},
                   {"inertia": [2.0, 1.0, 0.5], "torque": torque, "parameters": [1.0], "physical": False},
                   {"inertia": INERTIA, "torque": torque, "parameters": [1.0], "mass": 2.0},
                   {"inertia": INERTIA, "torque": torque_with_states, "states": {"heat": {"start": 1.0, "unit": "J"}}},
                   {"inertia": INERTIA, "wheels": {"axes": [[0, 0, 1.0]], "inertia": 0.01, "speed": 10.0},
                    "gyros": {"gimbal_axes": [[0, 0, 1.0]], "spin_axes": [[1.0, 0, 0]], "momentum": 2.0}}],
    "systems.gravity_gradient": [{"inertia": INERTIA, "mu": MU, "radius": 7e6, "loads": TILTED}],
    "systems.soft_wall": [{"inertia": INERTIA, "sign": "physical", "loads": TILTED}],
    "orbit": [{"mu": MU, "loads": [{"kind": "zonal", "mu": MU, "radius": 6.378e6, "J2": 1.08e-3}]},
              {"mu": MU, "mass": 2.0, "forces": [{"kind": "uniform", "acceleration": [0, 0, 1e-3]}], "surface": 6.4e6,
               "force": force, "parameters": [1.0]},
              {"mu": MU, "force": force_with_states, "states": {"heat": [1.0]}}],

    "spacecraft": [{"inertia": INERTIA, "mu": MU, "loads": TILTED},
                   {"inertia": INERTIA, "mu": MU, "mass": 2.0, "gravity_gradient": True, "forces": [],
                    "thrusters": [{"force": 1.0, "direction": [1, 0, 0], "position": [0, 1, 0]}],
                    "plates": [{"area": 2.0, "normal": [1, 0, 0], "drag_coefficient": 2.2}],
                    "atmosphere": {"density": 1e-12, "radius": 6.8e6, "scale": 6e4}, "surface": 6.4e6},
                   {"inertia": INERTIA, "mu": MU, "torque": torque, "parameters": [1.0],
                    "magnetic_field": {"kind": "dipole"}, "dipoles": [{"moment": [0.1, 0.0, 0.2]}],
                    "torquers": {"axes": [[0, 0, 1.0]], "max_dipole": 0.2, "command": 0.1}},
                   {"inertia": INERTIA, "mu": MU, "torque": torque_with_states, "states": {"heat": 1},
                    "wheels": {"axes": [[0, 0, 1.0]], "inertia": 0.01, "speed": 10.0},
                    "gyros": {"gimbal_axes": [[0, 0, 1.0]], "spin_axes": [[1.0, 0, 0]], "momentum": 2.0},
                    "pulsed_thrusters": {"force": 0.5, "directions": [[1.0, 0, 0]], "every": 1.0},
                    "gradient_of_forces": True, "work": False}],
    "control_moment_gyros": [
        {"gimbal_axes": [[0, 0, 1.0], [1.0, 0, 0]], "spin_axes": [[1.0, 0, 0], [0, 0, 1.0]], "momentum": [2.0, 3.0],
         "inner_axes": [[0, 1.0, 0], [0, 1.0, 0]], "max_rate": 0.5, "max_angle": [1.0, 2.0], "angle": 0.1,
         "command": [0.1, 0.2]},
    ],
    "surroundings.nrlmsis": [{"epoch": "2026-03-20", "stop": 9000.0, "f107": 120.0, "f107a": 130.0, "ap": 10.0}],
    "systems.pulsed_thrusters": [
        {"force": [0.5, 0.6], "directions": [[1.0, 0, 0], [-1.0, 0, 0]], "every": 1.0,
         "positions": [[0, 0.5, 0], [0, 0, 0.5]], "min_on_time": 0.02, "resolution": 0.01, "phase": 0.5,
         "command": [0.1, 0.2]},
    ],
    "systems.thruster": [{"force": 3.0, "direction": [1.0, 0, 0], "position": [0, 1.0, 0], "start": 1.0, "stop": 2.0}],
    "systems.plate": [{"area": 2.0, "normal": [1.0, 0, 0], "position": [0, 1.0, 0], "drag_coefficient": 2.2},
              {"area": 2.0, "normal": [1.0, 0, 0], "specular": 0.25, "diffuse": 0.25, "absorbed": 0.5}],
    "surroundings.gravity_field": [{"source": "egm2008", "epoch": 2020.5}],
    "systems.magnetic_dipole": [{"moment": [0.1, 0.0, 0.2]}],
    "initial.oem": [{"path": lambda: message_file("oem"), "at": "2026-03-01T00:00:10 TDB"}],
    "initial.aem": [{"path": lambda: message_file("aem"), "at": "2026-03-01T00:00:10 TDB"}],
    "initial.tle": [{"lines": TWO_LINES[0], "second": TWO_LINES[1]}],
    "initial.omm": [{"given": MEAN_ELEMENTS, "satellite": "ISS"}],
    "surroundings.ephemeris": [{"body": "moon", "epoch": "2026-03-20", "stop": 9000.0, "start": -9.0, "centre": "earth",
                   "source": "builtin", "tolerance": 2.0}],
    "systems.magnetic_torquers": [{"axes": [[0, 0, 1.0], [1.0, 0, 0]], "max_dipole": [0.2, 0.3], "command": 0.1}],
    "surroundings.magnetic_field": [
        {"kind": "dipole", "epoch": 2024.5, "coefficients": [-30000.0, -1500.0, 4500.0], "radius": 6.4e6,
         "rotation": 7e-5, "angle": 0.5, "axis": [0, 0.1, 1.0]},
        {"kind": "igrf", "epoch": "2024-07-01", "degree": 2, "file": lambda: field_file()},
        {"kind": "dipole", "orientation": "2026-03-20T12:00:00 UTC"},
    ],
    "reaction_wheels": [
        {"axes": [[0, 0, 1.0], [1.0, 0, 0]], "inertia": 0.01, "max_torque": 0.1, "max_momentum": [3.0, 4.0],
         "speed": 10.0, "command": 20.0, "mode": "speed", "gain": 0.1, "viscous": 1e-4,
         "coulomb": 1e-3, "coulomb_speed": 2.0, "imbalance": [1e-6, 2e-6], "positions": [[0, 0.1, 0], [0, 0, 0.1]]},
    ],
    "controller": [
        {"command": {"x": 1.0}, "at": ph.events.apsis("apoapsis"), "once": True},
        {"command": command, "every": 0.1, "sets": ["push"], "keeps": ["memory"], "phase": 0.05, "delay": 0.2,
         "limit": 3.0, "resolution": 0.01},
        {"command": lambda body, gain: {"push": gain * body.velocity}, "every": 0.1, "parameters": {"gain": 2.0}},
    ],
    "body": [{"name": "a", "mass": 2.0, "inertia": INERTIA, "pinned": False, "physical": True,
              "wheels": {"axes": [[0, 0, 1.0]], "inertia": 0.01, "speed": 10.0},
              "gyros": {"gimbal_axes": [[0, 0, 1.0]], "spin_axes": [[1.0, 0, 0]], "momentum": 2.0}},
             {"name": "a", "inertia": INERTIA, "pinned": True, "at": LENGTH}],
    "bodies.bodies": [{"n": 3, "mass": 2.0, "inertia": INERTIA, "name": "b", "physical": True,
                       "wheels": {"axes": [[0, 0, 1.0]], "inertia": 0.01, "speed": 10.0},
                       "gyros": {"gimbal_axes": [[0, 0, 1.0]], "spin_axes": [[1.0, 0, 0]], "momentum": 2.0}}],
    "system": [{"a": {"kind": "body", "mass": 2.0, "inertia": INERTIA,
                      "wheels": {"axes": [[0, 0, 1.0]], "inertia": 0.01, "speed": 10.0}},
                "pull": {"kind": "weight", "gravity": 9.81},
                "surroundings": {"air_density": {"kind": "exponential_air", "density": 1e-12, "radius": 6.878e6,
                                                 "scale": 6e4}}},
               {"a": {"kind": "body", "mass": 2.0}, "b": {"kind": "body", "mass": 3.0},
                "near": {"kind": "sites", "at": [[0, 0, 0]], "epsilon": 1.0, "on": "pairs"},
                 "box": 9.0, "cutoff": 3.0, "switch": 2.5, "skin": 0.5, "name": "liquid", "work": False}],
    "assemble": [{"system": lambda: arm(), "given": {"hinge": 0.3}, "rates": {"hinge": 1.0}, "start": {"time": 0.0},
                  "near": {"hinge": 0.1}}],
    "joints.ball": [{"at": LENGTH, "of_other": LENGTH, "name": "socket"}],
    "joints.hinge": [{"at": LENGTH, "axis": LENGTH, "of_other": LENGTH, "axis_of_other": LENGTH, "name": "knee"}],
    "joints.slider": [{"axis": LENGTH, "at": LENGTH, "of_other": LENGTH, "axis_of_other": LENGTH, "name": "rail"},
                      {"axis": LENGTH, "attitude": Q}],
    "joints.weld": [{"at": LENGTH, "of_other": LENGTH, "attitude": Q, "name": "seam"}],
    "joints.rod": [{"length": 2.0, "at": LENGTH, "of_other": LENGTH, "name": "strut"}],
    "loads.add_load": [{"function": lambda: ph.loads.weight, "name": "weight", "description": "The weight of bodies."}],
    "loads.of": [{"function": lambda body, k: 0.5 * k * body.position @ body.position, "k": 3.0}],
    "loads.acceleration": [{"function": lambda body, k: k * body.velocity, "k": 3.0}],
    "loads.weight": [{"newtons": 20.0, "at": LENGTH}, {"gravity": 9.81}],
    "loads.central": [{"mu": MU, "surface": 6.4e6}],
    "loads.zonal": [{"mu": MU, "radius": 6.378e6, "J2": 1.08e-3, "J3": -2.5e-6, "J4": -1.6e-6, "J5": -2e-7,
                     "J6": 5e-7}],
    "loads.third_body": [{"of": "moon", "mu": 4.9e12}],
    "loads.thrust": [{"force": LENGTH, "position": LENGTH, "start": 1.0, "stop": 2.0}],
    "loads.plates_in_air": [{"area": [2.0, 3.0], "normals": [[1.0, 0, 0], [0, 1.0, 0]], "drag_coefficient": 2.2,
                             "positions": [[0, 0, 0.1], LENGTH], "rotation": 7e-5, "axis": LENGTH}],
    "loads.plates_in_light": [{"area": 2.0, "normals": [[1.0, 0, 0], [0, 1.0, 0]], "positions": [[0, 0, 0.1]],
                               "specular": [0.3, 0.1], "diffuse": 0.2}],
    "loads.radiation": [{"Cr": 1.3, "area": 4.0}],
    "surroundings.sunlight": [
        {"pressure": 4.56e-6, "distance": 1.5e11, "shadow": "cone", "radius": 6.4e6, "sun_radius": 7e8},
        {"pressure": 4.56e-6, "direction": LENGTH, "shadow": "cylinder", "radius": 6.4e6},
    ],
    "surroundings.path": [
        {"position": R}, {"circle": {"radius": 3.8e8, "period": 2.36e6}},
        {"times": [0.0, 1.0, 2.0, 3.0], "positions": [R, V, LENGTH, R]},
        {"ephemeris": {"body": "moon", "epoch": "2026-03-20", "stop": 9000.0}},
    ],
    "loads.gravity_gradient": [{"mu": MU}],
    "loads.mutual_gravity": [{"G": 6.674e-11}],
    "loads.drag": [{"Cd": 2.2, "area": 0.5, "rotation": 7.292115e-5, "axis": LENGTH}],
    "loads.magnet": [{"moment": LENGTH}],
    "loads.torquers": [{"axes": [[0, 0, 1.0], [1.0, 0, 0]], "max_dipole": [0.2, 0.3], "command": 0.1}],
    "loads.harmonics": [{"field": "egm2008", "degree": 4, "order": 2, "rotation": 7e-5, "angle": 0.1, "axis": LENGTH},
                        {"field": "egm2008", "orientation": "2026-03-20T12:00:00 UTC", "degree": 2}],
    "surroundings.layered_air": [{"table": [[6.6e6, 1e-10], [6.8e6, 1e-11]]}],
    "surroundings.nrlmsis_air": [{"epoch": "2026-03-20", "stop": 9000.0, "f107": 120.0, "f107a": 130.0, "ap": 10.0}],
    "surroundings.igrf_field": [
        {"epoch": "2024-07-01", "degree": 2, "file": lambda: field_file(), "radius": 6.4e6, "rotation": 7e-5,
         "angle": 0.5, "axis": [0, 0.1, 1.0]},
        {"file": lambda: field_file(), "epoch": 2022.5, "orientation": "2026-03-20T12:00:00 UTC"},
    ],
    "surroundings.of": [{"function": lambda body, k: k * body.position[2], "k": 3.0}],
    "surroundings.exponential_air": [{"density": 1e-12, "radius": 6.878e6, "scale": 6e4}],
    "surroundings.dipole_field": [
        {"epoch": 2025.0, "coefficients": [-3e4, 0.0, 100.0], "radius": 6.4e6, "rotation": 7e-5, "angle": 0.1,
         "axis": LENGTH},
        {"orientation": "2026-03-20T12:00:00 UTC"},
    ],
    "loads.gravitation": [{"G": 6.674e-11}],
    "states.of": [{"function": lambda x, k: {"x": -k * x}, "parameters": {"k": 3.0}, "x": 1.0}],
    "loads.sites": [{"at": [[0, 0, 0.1], [0, 0.1, 0]], "charge": [0.5, -0.5], "epsilon": 0.3, "sigma": 0.2,
                     "coulomb": 2.0, "reaction": 0.1}],
    "loads.impulse": [{"delta_v": [0, 1.0, 0], "at": 10.0, "frame": "rtn"},
                      {"delta_v": -2.0, "at": 1.0, "frame": "velocity"},
                      {"delta_v": -2.0, "at": ph.events.apsis(body="a"), "frame": "velocity", "once": True}],
    "loads.pulsed_thrusters": [{"force": [0.5, 0.6], "directions": [[1.0, 0, 0], [-1.0, 0, 0]], "every": 1.0,
                                "positions": [[0, 0.5, 0], [0, 0, 0.5]], "min_on_time": 0.02, "resolution": 0.01,
                                "phase": 0.5, "command": [0.1, 0.2]}],
    "loads.tether": [{"stiffness": 3.0, "length": 2.0, "of_a": LENGTH, "of_b": LENGTH}],
    "events.closest_approach": [{"a": "a", "b": "b", "terminal": True}],
    "events.distance": [{"a": "a", "b": "b", "distance": 3.0, "which": "falling", "terminal": True}],
    "events.transit": [{"body": "a", "behind": "b", "radius": 0.1, "toward": LENGTH, "which": "begin",
                        "terminal": True}],
    "events.of": [{"function": lambda body, k: body.position[0] - k, "direction": 1, "terminal": True, "name": "x",
                   "on": ["a"], "k": 3.0}],
    "gravitating_bodies": [{"mu": [1.0, 2.0], "names": ["a", "b"], "loads": TILTED},
                           {"mass": [1.0, 2.0], "G": 6.674e-11}],
    "dipoles": [{"n": 8, "loads": TILTED},
                {"n": 8, "mass": 2.0, "inertia": INERTIA, "dipole": [0, 0, 1.0], "sigma": 1.5, "epsilon": 2.0,
                 "attraction": True, "cutoff": 3.0, "switch": 2.5, "skin": 0.5, "box": 9.0, "reaction_field": 80.0}],
    "rigid_water": [{"n": 8, "model": "spc/e", "box": 3.0, "cutoff": 1.0, "switch": 0.9, "skin": 0.1,
                     "reaction_field": 80.0, "loads": TILTED}, {"n": 64, "density": 997.0}],
    "systems.problem": [{"name": "krysl_fast_top"}],
    # methods
    "methods.method_table": [{}],
    "methods.add_method": [{"row": lambda: ph.methods.METHODS["trapm"]}],
    "systems.add_system": [{"build": lambda: ph.systems.SYSTEMS["free_body"]}],
    "methods.add_tableau": [{"name": "border_euler", "A": [[0.0]], "b": [1.0], "c": [0.0], "cite": "",
                             "description": "x", "errors": (), "dense": None}],
    "methods.tableau": [{"name": "rk4"}],
    "methods.splitting": [{"chosen": "v2", "flow": "mr", "name": "border"}],
    # runs
    "integrate": [
        {"system": lambda: ph.free_body(INERTIA), "method": "v2/mr", "step": 0.05, "t_end": 1.0,
         "t_eval": [0.0, 0.5], "attitude": Q, "angular_velocity": W, "start": {"time": 0.0},
         "settings": {"guard": True, "units": "SI", "threads": 1, "epoch": "2030-01-01T00:00:00"}},
        {"system": lambda: ph.free_body(INERTIA), "method": "v2/mr", "step": 0.05, "steps": 4, "every": 2,
         "angular_momentum": W, "tangent": ["inertia"]},
        {"system": lambda: arm(), "method": "v2", "step": 0.05, "steps": 1, "project": True},
        {"system": lambda: ph.orbit(MU), "method": "v2", "step": 5.0, "steps": 4, "position": R, "velocity": V,
         "events": ["periapsis"], "settings": {"reduce": {"energy": "mean"}}},
        {"system": lambda: ph.orbit(MU), "method": "mkrk:dp5", "steps": lambda: ph.Tolerance(1e-6), "t_end": 20.0,
         "position": R, "momentum": V},
        {"system": lambda: ph.orbit(MU), "steps": lambda: ph.Tolerance(1e-6, 1e-9, max_step=5.0), "t_end": 20.0,
         "position": R, "momentum": V},
        {"system": damped, "method": "mkrk:gauss4", "step": 0.05, "steps": 4, "parameters": [0.2], "breaks": [0.1],
         "start": {"since": -1.0, "euler_angles": W, "sequence": "ZXZ", "angular_velocity_space": W},
         "progress": ignore, "store": lambda: ph.Store(target("new.zarr"), 30.0)},
        {"system": lambda: ph.free_body(INERTIA), "method": lambda: ph.methods.baoab(temperature=1, friction=2, seed=3),
         "step": 0.05, "steps": 4,
         "start": {"thermostat": [0.0, 0.0], "euler_angles_deg": LENGTH, "angular_momentum_space": W}},
        {"system": lambda: ph.orbit(MU), "method": "v2", "step": 5.0, "steps": 4, "position": R, "velocity": V,
         "settings": lambda: ph.Settings(compensated=True), "start": {"compensation": [0.0] * 6},
         "parameters": {"mass": 2.0}},
        {"system": lambda: ph.orbit(MU), "method": "reversible:v2", "step": 5.0, "steps": 4, "position": R,
         "velocity": V, "start": {"time_variables": [0.0, 0.0, 1.0, 0.0]}},
        {"system": lambda: ph.free_body(INERTIA), "method": lambda: ph.methods.rotation_vector(tableau="rk4"),
         "step": 0.05, "steps": 4, "start": {"coordinates": W}},
        {"system": lambda: ph.free_body(INERTIA), "method": "v2/mr", "step": 0.05, "steps": 4,
         "start": lambda: ph.State(rotation_vector=W)},
    ],
    "ensemble": [
        {"system": lambda: ph.free_body(INERTIA), "method": "v2/mr", "members": {"angular_velocity": [W, W]},
         "step": 0.05, "t_end": 1.0, "t_eval": [0.0, 0.5], "attitude": Q, "start": {"time": 0.0},
         "settings": {"guard": True}, "engine": "threads", "threads": 1, "progress": ignore},
        {"system": lambda: ph.free_body(INERTIA), "method": "v2/mr", "members": {"inertia": [INERTIA, INERTIA]},
         "step": 0.05, "steps": 4, "every": 2, "angular_velocity": W, "reduce": {"angular_velocity": ["mean"]}},
        {"system": lambda: ph.orbit(MU), "method": "v2", "members": 2, "step": 5.0, "steps": 4, "position": R,
         "velocity": V, "events": ["periapsis"]},
        {"system": lambda: ph.orbit(MU), "members": 2, "steps": lambda: ph.Tolerance(1e-6, max_steps=1000),
         "t_end": 20.0, "position": R, "momentum": V},
        {"system": damped, "method": "v2/mr", "members": {"angular_momentum": [W, W]}, "step": 0.05, "steps": 4,
         "parameters": [0.2], "breaks": [0.1]},
        {"system": damped, "method": "v2/mr", "members": 2, "step": 0.05, "steps": 4, "angular_momentum": W,
         "store": lambda: target("members.zarr")},
    ],
    "ensembles.ensemble_of": [{"scenario": with_members, "progress": ignore, "threads": 1}],
    "State": [{"time": 1.0, "euler_angles": W, "sequence": "ZXZ", "angular_velocity": W, "position": R, "velocity": V,
               "since": 0.0, "commanded": True},
              {"rotation_vector": W, "angular_momentum_space": W, "momentum": V, "thermostat": [0.0],
                               "compensation": [0.0] * 6, "time_variables": [0.0, 0.0, 1.0, 0.0]},
              {"attitude": Q, "angular_momentum": W}, {"euler_angles_deg": LENGTH, "angular_velocity_space": W},
              {"coordinates": W}, {"states": {"wheel_momentum": [1.0]}}],
    "Settings": [{"compensated": True, "guard": False, "units": "SI", "epoch": "2030-01-01T00:00:00", "threads": 2,
                  "reduce": {"energy": "mean"}}],
    "Store": [{"path": lambda: target("a.zarr"), "checkpoint_seconds": 3.0}],
    "Tolerance": [{"rtol": 1e-6, "atol": 1e-9, "max_step": 5.0, "first_step": 1.0, "max_steps": 1000}],
    "prepare": [{"system": lambda: ph.free_body(INERTIA), "method": "v2/mr", "step": 0.05, "steps": 4, "every": 2,
                 "settings": {"guard": True}},
                {"system": lambda: ph.free_body(INERTIA), "steps": lambda: ph.Tolerance(1e-6), "t_end": 1.0}],
    "rerun": [{"ds": turning, "threads": 1, "progress": ignore}],
    "compare": [{"system": lambda: ph.free_body(INERTIA), "methods": ["v2/mr"], "steps": [0.05, 0.1], "t_end": 1.0,
                 "start": {"time": 0.0}, "angular_velocity": W, "reference": {"attitude": Q, "angular_momentum": W},
                 "progress": ignore}],
    "runs.read_scenario": [{"path": scenario, "allow_code": False, "method": "v2/mr", "step": 0.1},
                      {"path": scenario, "method": "mkrk:dp5", "rtol": 1e-6},
                      {"path": scenario, "changes": {"run.step": 0.1}, "stored": True}],
    "runs.write_scenario": [
        {"path": lambda: folder() / "written.toml", "system": lambda: ph.free_body(INERTIA), "method": "v2/mr",
         "title": "a body", "step": 0.05, "steps": 4, "every": 2, "angular_velocity": W, "overwrite": True},
        {"path": lambda: folder() / "written.toml", "system": lambda: ph.free_body(INERTIA), "step": 0.05, "t_end": 0.2,
         "start": {"attitude": Q, "angular_momentum": W}, "settings": {"guard": False}, "overwrite": True}],
    "checks.check_method": [{"method": "v2/mr"}],
    "checks.check_system": [{"system": lambda: ph.free_body(INERTIA), "start": {"angular_velocity": W}, "states": 1,
                             "span": 0.5, "seed": 3}],
    "free_motion": [{"inertia": INERTIA, "momentum": W, "t": [0.5, 1.0], "attitude": Q},
                    {"inertia": [2.0, 1.0, 0.5], "momentum": W, "t": 0.5, "physical": False}],
    "runs.poinsot.free_motion_periods": [{"inertia": [2.0, 1.0, 0.5], "momentum": W, "physical": False}],
    "runs.poinsot.polhode_curve": [{"inertia": INERTIA, "momentum": W, "n": 11, "physical": True}],
    "runs.poinsot.herpolhode_curve": [{"inertia": INERTIA, "momentum": W, "t": [0.5, 1.0], "attitude": Q,
                                  "physical": True}],
    "systems.constrained.to_constrained": [{"inertia": INERTIA, "attitude": Q, "angular_momentum": W}],
    "systems.constrained.to_cotangent": [{"P": CONSTRAINED, "Q": TURN}],
    "systems.constrained.from_cotangent": [{"inertia": INERTIA, "P_bar": CONSTRAINED, "Q": TURN}],
    "systems.constrained.from_constrained": [{"P": CONSTRAINED, "Q": TURN}],
    "save": [{"ds": turning, "path": lambda: target("out.nc")}],
    "load": [{"path": saved}, {"path": stored, "lazy": True}],
    "resume": [{"store": stored, "threads": 1, "progress": ignore}],
    "references.cite": [{"what": "krysl2006"}],
    "runs.free_rotation": [{"flow": "dmv6", "guard": False, "solver": "fixed_point"}],
    "runs.start_state": [
        {"system": lambda: ph.free_body(INERTIA), "attitude": Q, "angular_velocity": W},
        {"system": lambda: ph.free_body(INERTIA), "angular_momentum": W},
        {"system": lambda: ph.orbit(MU), "position": R, "velocity": V},
        {"system": lambda: ph.orbit(MU), "position": R, "momentum": V},
    ],
    "runs.joint_forces": [{"ds": lambda: ph.integrate(arm(), "v2", step=0.05, steps=1, project=True),
                           "system": lambda: arm()}],
    "runs.point_motion": [{"ds": turning, "point": LENGTH, "body": 0}, {"ds": turning, "point": [LENGTH],
                           "system": lambda: ph.free_body(INERTIA)}],
    "view": [{"ds": turning, "labels": ["a top"], "mesh": (CORNERS, FACES), "frames": 10, "span": [0.0, 1.0],
              "title": "seen"}, {"ds": several, "members": [1, 0]}, {"ds": turning, "live": True}],
    "interactive": [{
        "system": lambda: ph.free_body(INERTIA), "method": "mkrk:rk4", "step": 0.05, "start": {"attitude": Q},
        "angular_velocity": W, "knobs": {"step": [0.02, 0.1]}, "mesh": (CORNERS, FACES), "title": "live",
        "settings": {"guard": True},
    }],
    # elliptic
    **{f"algebra.elliptic.{name}": [{"u": 0.7, "mc": 0.4}] for name in ("sn", "cn", "dn", "am", "jacobi")},
    "algebra.elliptic.K": [{"mc": 0.4}], "algebra.elliptic.E": [{"mc": 0.4}],
    "algebra.elliptic.Pi_complete": [{"n": 0.3, "mc": 0.4}],
    "algebra.elliptic.F": [{"phi": 0.7, "mc": 0.4}], "algebra.elliptic.Pi": [{"phi": 0.7, "n": 0.3, "mc": 0.4}],
    "algebra.elliptic.RF": [{"x": 1.0, "y": 2.0, "z": 3.0}], "algebra.elliptic.RD": [{"x": 1.0, "y": 2.0, "z": 3.0}],
    "algebra.elliptic.RC": [{"x": 1.0, "y": 2.0}], "algebra.elliptic.RJ": [{"x": 1.0, "y": 2.0, "z": 3.0, "p": 0.5}],
    # kepler
    "kepler.propagate": [{**STATE, "t": T, "mu": MU}],
    **{f"kepler.{name}": [{**STATE, "mu": MU}] for name in (
        "specific_energy", "period", "eccentricity_vector", "apsides", "classical_elements")},
    "kepler.angular_momentum": [STATE],
    "kepler.modified_equinoctial_elements": [{**STATE, "mu": MU, "retrograde": False}],
    "kepler.equinoctial_elements": [{**STATE, "mu": MU, "retrograde": False}],
    "kepler.state_from_classical": [{"semi_latus_rectum": 7e6, "eccentricity": 0.1, "inclination": 0.5, "node": 1.0,
                                     "argument_of_periapsis": 2.0, "true_anomaly": 0.3, "mu": MU}],
    "kepler.state_from_modified_equinoctial": [{"p": 7e6, "f": 0.1, "g": 0.05, "h": 0.2, "k": 0.1, "L": 1.0, "mu": MU,
                                                "retrograde": False}],
    "kepler.state_from_equinoctial": [{"a": 7e6, "h": 0.1, "k": 0.05, "p": 0.2, "q": 0.1, "mean_longitude": 1.0,
                                       "mu": MU, "retrograde": False}],
    "kepler.state": [
        {"mu": MU, "semi_major_axis": 7e6, "eccentricity": 0.1, "inclination": 0.5, "node": 1.0,
         "argument_of_periapsis": 2.0, "true_anomaly": 0.3},
        {"mu": MU, "semi_latus_rectum": 7e6, "mean_anomaly": 0.3}, {"mu": MU, "periapsis": 7e6},
    ],
    "kepler.semi_latus_rectum": [{"semi_major_axis": 7e6, "eccentricity": 0.1}],
    "kepler.mean_from_eccentric": [{"eccentric": 0.7, "eccentricity": 0.1}],
    "kepler.eccentric_from_mean": [{"mean": 0.7, "eccentricity": 0.1}],
    "kepler.true_from_eccentric": [{"eccentric": 0.7, "eccentricity": 0.1}],
    "kepler.eccentric_from_true": [{"true": 0.7, "eccentricity": 0.1}],
    "kepler.mean_from_hyperbolic": [{"hyperbolic": 0.7, "eccentricity": 1.1}],
    "kepler.hyperbolic_from_mean": [{"mean": 0.7, "eccentricity": 1.1}],
    "kepler.true_from_hyperbolic": [{"hyperbolic": 0.7, "eccentricity": 1.1}],
    "kepler.hyperbolic_from_true": [{"true": 0.7, "eccentricity": 1.1}],
    "kepler.mean_from_parabolic": [{"parabolic": 0.7}], "kepler.parabolic_from_mean": [{"mean": 0.7}],
    "kepler.true_from_parabolic": [{"parabolic": 0.7}], "kepler.parabolic_from_true": [{"true": 0.7}],
    "kepler.true_from_mean": [{"mean": 0.7, "eccentricity": 0.1}],
    "kepler.mean_from_true": [{"true": 0.7, "eccentricity": 0.1}],
    # rotation
    "rotation.hat": [{"v": LENGTH}], "rotation.vee": [{"matrix": [[0, -3.0, 2.0], [3.0, 0, -1.0], [-2.0, 1.0, 0]]}],
    "rotation.Ad": [{"matrix": TURN, "w": W}],
    **{f"rotation.{name}": [{"v": W}] for name in ("exp_quaternion", "exp_matrix", "cay_quaternion", "cay_matrix")},
    **{f"rotation.{name}": [{"q": Q}] for name in (
        "log_quaternion", "cayinv_quaternion", "conjugate", "normalize", "matrix_from_quaternion", "to_xyzw",
        "from_xyzw", "axis_angle_from_quaternion", "to_scipy")},
    **{f"rotation.{name}": [{"matrix": TURN}] for name in ("log_matrix", "cayinv_matrix", "quaternion_from_matrix")},
    **{f"rotation.{name}": [{"v": W, "w": LENGTH}] for name in ("dexp", "dexpinv", "dcay", "dcayinv")},
    "rotation.multiply": [{"a": Q, "b": Q}], "rotation.rotate": [{"q": Q, "v": LENGTH}],
    "rotation.rotate_inverse": [{"q": Q, "v": LENGTH}], "rotation.angle_between": [{"q1": Q, "q2": Q}],
    "rotation.quaternion_from_axis_angle": [{"axis": LENGTH, "angle": 0.7}],
    "rotation.quaternion_from_euler": [{"angles": W, "sequence": "ZXZ"}],
    "rotation.euler_from_quaternion": [{"q": Q, "sequence": "ZXZ"}],
    "rotation.euler_rates": [{"angles": W, "angular_velocity": W, "sequence": "ZXZ"}],
    "rotation.angular_velocity_from_euler_rates": [{"angles": W, "rates": W, "sequence": "ZXZ"}],
    "rotation.compose": [{"v": W, "increment": W, "map": "exp", "branch": "tracked"}],
    "rotation.euler_increment": [{"angles": W, "increment": W, "sequence": "ZXZ", "map": "exp", "branch": "principal"}],
    "rotation.from_scipy": [{"rotation": lambda: ph.rotation.to_scipy(Q)}],
    "rotation.as_quaternion": [{"attitude": Q, "name": "attitude"}, {"attitude": TURN}],
    # inertia
    "inertia.principal": [{"inertia": INERTIA, "triangle": True, "name": "inertia"}],
    "inertia.principal_of_many": [{"tensors": [INERTIA, INERTIA], "triangle": True, "name": "inertia"}],
    "inertia.principals": [{"inertia": INERTIA, "n": 2, "triangle": True, "name": "inertia"}],
    "inertia.second_moments_from_inertia": [{"inertia": INERTIA}],
    "inertia.inertia_from_second_moments": [{"second_moments": np.diag(INERTIA)}],
    "inertia.d_from_inertia": [{"moments": INERTIA}], "inertia.inertia_from_d": [{"d": INERTIA}],
    "inertia.parallel_axis": [{"inertia": INERTIA, "mass": 2.0, "offset": LENGTH}],
    "inertia.parallel_axis_inverse": [{"inertia": [31.0, 30.0, 29.0], "mass": 2.0, "offset": W}],
    "inertia.MassProperties": [{"mass": 2.0, "center_of_mass": LENGTH, "inertia": INERTIA}],
    "inertia.point_masses": [{"masses": LENGTH, "positions": [LENGTH, W, Q[:3]]}],
    "inertia.box": [{"mass": 2.0, "sides": LENGTH}], "inertia.ellipsoid": [{"mass": 2.0, "semi_axes": LENGTH}],
    "inertia.sphere": [{"mass": 2.0, "radius": 2.0, "inner_radius": 0.5}],
    "inertia.disk": [{"mass": 2.0, "radius": 2.0, "inner_radius": 0.5}],
    "inertia.cylinder": [{"mass": 2.0, "radius": 2.0, "height": 3.0, "inner_radius": 0.5}],
    "inertia.thin_rod": [{"mass": 2.0, "length": 3.0}],
    "inertia.mesh": [{"vertices": CORNERS, "faces": FACES, "density": 2.0},
                     {"vertices": CORNERS, "faces": FACES, "mass": 2.0}],
    # ensembles
    "ensembles.sampling.normal": [{"mean": LENGTH, "sigma": 0.1},
                                  {"mean": [1.0, 2.0], "covariance": [[2.0, 0.5], [0.5, 1.0]]}],
    "ensembles.sampling.lognormal": [{"median": LENGTH, "sigma": 0.1}],
    "ensembles.sampling.uniform": [{"low": 1.0, "high": LENGTH}],
    "ensembles.sampling.choice": [{"values": [W, LENGTH], "weights": [1.0, 2.0]}],
    "ensembles.sampling.uniform_attitude": [{}],
    "ensembles.sampling.attitude": [{"mean": Q, "sigma": 0.1},
                          {"mean": TURN, "covariance": [[0.2, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]}],
    "ensembles.sampling.inertia": [{"mean": INERTIA, "relative": 0.1, "axes": False}],
    "ensembles.sampling.from_record": [{"record": {"uniform": {"low": 1.0, "high": 2.0}}}],
    "ensembles.sampling.members": [{"varied": {"mass": {"uniform": {"low": 1.0, "high": 2.0}}}, "count": 3,
                          "design": "latin_hypercube", "seed": 1}],
    "ensembles.sampling.read_table": [{"table": lambda: xr.Dataset({"mass": ("member", [1.0, 2.0])})}],
    **{f"ensembles.reductions.{name}": [{"name": "energy", "of": max}]
       for name in ("mean", "std", "covariance", "extremes")},
    "ensembles.reductions.quantiles": [{"name": "energy", "q": [0.1, 0.5], "of": max, "size": 1024}],
    "ensembles.reductions.crossings": [{"name": "energy", "level": 1.0, "direction": "rising", "of": max}],
    "ensembles.reductions.events": [{"kind": "apsis"}],
    "ensembles.reductions.user": [{"name": "own", "start": list, "add": max, "merge": max, "result": max}],
    "ensembles.reductions.reductions_from": [{"given": {"energy": "mean"}}],
    "ensembles.reductions.apply": [{"ds": lambda: xr.Dataset({"x": ("member", [1.0, 2.0])}), "reduce": {"x": "mean"},
                                    "block": 1}],
    "sweep": [{"scenario": swept, "table": {"seed": 1}, "store": lambda: target("sweep.zarr"), "workers": 1,
               "scheduler": None, "part": (1, 1), "allow_code": False, "progress": False}],
    "ensembles.open_sweep": [{"store": swept_store}], "ensembles.sweep_status": [{"store": swept_store}],
    "ensembles.sweep_member": [{"scenario": swept, "member": 1, "table": {"seed": 1}, "allow_code": False}],
    # chaos
    **{f"chaos.{name}": [{"system": lambda: ph.heavy_top(INERTIA, LENGTH, 2.0), "method": "v2", "seed": 1, "threads": 1,
                          "members": {"weight": [1.0, 2.0]}, "progress": False, "step": 0.01, "steps": 8,
                          "angular_velocity": W} | more]
       for name, more in {"lyapunov": {"vectors": 2, "between": 4}, "fli": {"vectors": 2}, "megno": {"vectors": 1},
                          "sali": {"vectors": 2}, "gali": {"order": 3, "vectors": np.eye(6)[:3]}}.items()},
    # estimation
    "fit": [
        {"system": lambda: ph.free_body(INERTIA), "data": {"gyro": ([0.0, 0.5, 1.0], [W, W, W])},
         "free": ["angular_velocity"], "method": "trapm", "noise": {"gyro": 0.1}, "step": 0.25, "t_end": 1.0,
         "prior": {"angular_velocity": 1.0}, "start": {"time": 0.0}, "attitude": Q, "angular_velocity": W, "arcs": 1,
         "solver": "trf", "loss": "linear", "loss_scale": 1.0, "max_evaluations": 20, "settings": {"guard": True}},
        {"system": damped, "data": {"gyro": ([0.0, 0.5, 1.0], [W, W, W])}, "free": ["angular_momentum"],
         "method": "mkrk:rk4", "step": 0.25, "angular_momentum": W, "parameters": [0.2]},
        {"system": lambda: ph.orbit(MU), "data": {"position": ([0.0, 5.0, 10.0], [R, R, R], 1e6)},
         "free": ["momentum"], "method": "mkrk:cv8", "step": 5.0, "position": R, "momentum": V},
        {"system": lambda: ph.orbit(MU), "data": {"position": ([0.0, 5.0, 10.0], [R, R, R], 1e6)},
         "free": ["velocity"], "method": "taylor", "steps": lambda: ph.Tolerance(1e-6), "position": R, "velocity": V},
    ],
    "estimation.kalman": [
        {"system": lambda: ph.free_body(INERTIA), "data": {"gyro": ([0.0, 0.5], [W, W])}, "method": "trapm",
         "noise": {"gyro": 0.1}, "step": 0.25, "prior": {"attitude": 0.1, "angular_velocity": 0.1},
         "process_noise": {"angular_velocity": 0.1}, "free": [], "start": {"time": 0.0}, "attitude": Q,
         "angular_velocity": W, "smooth": True, "gate": 9.0, "settings": {"guard": True}},
        {"system": lambda: ph.free_body(INERTIA), "data": {"gyro": ([0.0, 0.5], [W, W])}, "method": "trapm",
         "noise": {"gyro": 0.1}, "step": 0.25, "prior": {"attitude": 0.1, "angular_momentum": 0.1},
         "angular_momentum": W},
        {"system": lambda: ph.orbit(MU), "data": {"position": ([0.0, 5.0], [R, R], 1e6)}, "method": "mkrk:cv8",
         "step": 5.0, "prior": {"position": 1.0, "velocity": 1.0}, "position": R, "velocity": V},
        {"system": lambda: ph.orbit(MU), "data": {"position": ([0.0, 5.0], [R, R], 1e6)}, "method": "mkrk:cv8",
         "step": 5.0, "prior": {"position": 1.0, "momentum": 1.0}, "position": R, "momentum": V},
    ],
    "estimation.read": [{"data": {"sun": ([0.0, 1.0], [Q[:3], Q[:3]])}, "noise": {"sun": 0.1},
                         "references": {"sun": LENGTH}, "stations": {}}],
    "estimation.gyro": [{"time": [0.0, 1.0], "values": [W, W], "sigma": 0.1, "name": "rates", "body": "a"}],
    "estimation.attitude": [{"time": [0.0, 1.0], "values": [Q, Q], "sigma": 0.1, "name": "tracker", "body": "a"}],
    "estimation.direction": [{"time": [0.0, 1.0], "values": [[1.0, 0, 0], [0, 1.0, 0]], "reference": LENGTH,
                              "sigma": 0.1, "name": "sun", "body": "a"}],
    "estimation.position": [{"time": [0.0, 1.0], "values": [R, R], "sigma": 0.1, "name": "gnss", "body": "a"}],
    "estimation.velocity": [{"time": [0.0, 1.0], "values": [V, V], "sigma": 0.1, "name": "doppler", "body": "a"}],
    "estimation.range": [{"time": [0.0, 1.0], "values": [1.0, 2.0], "station": R, "sigma": 0.1, "name": "there",
                          "body": "a"}],
    "estimation.range_rate": [{"time": [0.0, 1.0], "values": [1.0, 2.0], "station": R, "sigma": 0.1, "name": "there",
                               "body": "a", "station_velocity": V}],
    # gradients
    "gradient": [
        {"objective": lambda: lambda s: s.attitude[0], "system": lambda: ph.free_body(INERTIA), "method": "trapm",
         "wrt": ["attitude"], "slopes": lambda: lambda s: {}, "written_in": "numpy", "step": 0.25, "t_end": 1.0,
         "every": 2,
         "start": {"time": 0.0}, "attitude": Q, "angular_velocity": W, "settings": {"guard": True}},
        {"objective": lambda: lambda s: s.attitude[0], "system": damped, "method": "mkrk:rk4", "step": 0.25,
         "steps": 4, "t_eval": [0.0, 1.0], "angular_momentum": W, "parameters": [0.2]},
        {"objective": lambda: lambda s: s.position[0], "system": lambda: ph.orbit(MU), "method": "mkrk:cv8",
         "step": 5.0, "steps": 2, "position": R, "velocity": V},
        {"objective": lambda: lambda s: s.position[0], "system": lambda: ph.orbit(MU), "method": "mkrk:cv8",
         "step": 5.0, "steps": 2, "position": R, "momentum": V},
    ],
    # plots
    "plots.animate": [{"ds": turning, "path": lambda: target("film.gif"), "seconds": 0.1, "fps": 10, "size": [320, 200],
                       "panels": "body", "speed": 1.0, "frame": "body", "shape": "ellipsoid", "progress": False}],
    "plots.dashboard": [{"ds": turning, "path": lambda: target("picture.png")}],
    "plots.figure": [{"ds": turning, "panels": ["energy", "rates"], "size": "column",
                      "path": lambda: target("figure.pdf")}],
    "plots.work_precision": [{"table": table, "path": lambda: target("work.png"), "size": "page"}],
    "plots.bands": [{"ds": members, "names": "x", "path": lambda: target("bands.png"), "size": "column"}],
    "plots.corner": [{"ds": members, "names": ["x", "mass"], "path": lambda: target("corner.png"), "row": 0,
                      "size": "page"}],
    "plots.success": [{"ds": members, "names": ["x", "mass"], "path": lambda: target("success.png"),
                       "passed": [True, False, True]}],
    "plots.indicator": [{"ds": megno, "x": "time", "limits": (1.0, 5.0), "path": lambda: target("chaos.png")},
                        {"ds": megno, "x": [1.0, 2.0, 3.0], "y": [1.0, 3.0, 2.0], "axes": None}],
    # initial
    "initial.gaussian_draw": [{"n": 4, "seed": 1, "scale": 2.0}],
    "initial.random_rotations": [{"n": 4, "seed": 1}],
    **{f"initial.{name}": [{"cells": 2, "spacing": 1.5, "noise": 0.01, "seed": 1}] for name in ("cubic", "bcc", "fcc")},
    "initial.thermal": [{"system": water, "temperature": 300.0, "seed": 1, "zero_total_momentum": True,
                          "exact": False}],
    "initial.at_energy": [{"system": lambda: ph.gravitating_bodies(mass=[1.0, 2.0]), "energy": 2.0, "seed": 1,
                           "state": {"position": [R, V], "momentum": [V, R]}, "bodies": [0, 1]}],
    # variational
    "algebra.variational.discrete_lagrangian": [{"L": oscillator, **HALF}],
    "algebra.variational.slot_derivatives": [{"L": oscillator, **HALF}],
    "algebra.variational.discrete_forces": [{"F": pull, **HALF, "t": 0.5}],
    "algebra.variational.legendre_minus": [{"L": oscillator, **HALF, "F": pull, "t": 0.5}],
    "algebra.variational.legendre_plus": [{"L": oscillator, **HALF, "F": pull, "t": 0.5}],
    "algebra.variational.discrete_euler_lagrange": [{"L": oscillator, **HALF, "q2": [1.2], "F": pull, "t": 0.5}],
    "algebra.variational.midpoint_energy_offset": [{**STATE, "h": 10.0, "mu": MU}],
    "algebra.variational.midpoint_shifted_velocity": [{**STATE, "h": 10.0, "mu": MU}],
    "planets.earth_orientation": [{"epoch": "2026-03-20T12:00:00 UTC", "ut1_utc": 0.1, "source": "builtin"}],
    "planets.earth_rotation_angle": [{"epoch": "2026-03-20T12:00:00 UTC"}],
    # forces
    "events.add_event": [{"build": lambda: ph.events.node}],
    "initial.add_recipe": [{"build": lambda: ph.initial.on_lattice, "sets": ("position",)}],
    "forces.add_force": [{"build": lambda: ph.forces.uniform}],
    "forces.gravity_field": [
        {"field": "egm2008", "degree": 8, "order": 4, "rotation": 7e-5, "angle": 0.3, "axis": LENGTH, "digest": ""},
        {"field": "egm2008", "orientation": {"epoch": "2026-03-20T12:00:00 UTC", "ut1_utc": 0.1}},
    ],
    "forces.zonal": [{"radius": 6.4e6, "J2": 1e-3, "J3": 1e-6, "J4": 1e-6, "J5": 1e-7, "J6": 1e-7, "axis": LENGTH}],
    "forces.uniform": [{"acceleration": LENGTH}],
    "forces.third_body": [{"mu": MU, "position": [3.8e8, 0, 0]}, {"mu": MU, **PATH}, {"mu": MU, "circle": CIRCLE},
                           {"ephemeris": SUN}],
    "forces.standard_air": [{"surface": 6.4e6}],
    "forces.drag": [{"coefficient": 0.01, "density": 1e-12, "radius": 6.8e6, "scale": 6e4, "rotation": 7e-5,
                     "axis": LENGTH},
                    {"coefficient": 0.01, "table": [[6.8e6, 1e-12], [6.9e6, 2e-13]]},
                    {"coefficient": 0.01, "air": {"epoch": "2026-03-20", "f107": 120.0}},
                    {"kd": 1e-14, "radius": 6.8e6, "scale": 6e4}],
    "forces.radiation_pressure": [
        {"acceleration": 1e-7, "direction": LENGTH, "shadow": "cylinder", "radius": 6.4e6},
        {"acceleration": 1e-7, "position": [1.5e11, 0, 0], "distance": 1.5e11, "shadow": "cone", "radius": 6.4e6,
         "sun_radius": 7e8},
        {"acceleration": 1e-7, **PATH}, {"acceleration": 1e-7, "circle": CIRCLE},
        {"acceleration": 1e-7, "ephemeris": SUN},
    ],
    "forces.thrust": [{"acceleration": 1e-3, "direction": "inertial", "vector": LENGTH, "start": 1.0, "stop": 2.0},
                      {"force": 1.0, "direction": "velocity", "exhaust_velocity": 3e3, "start": 0.0, "stop": 9.0},
                      {"force": 1.0, "direction": "radial", "specific_impulse": 300.0, "start": 0.0, "stop": 9.0}],
    "forces.impulse": [{"time": 3.0, "delta_v": LENGTH, "frame": "inertial"}],
    # events
    "events.apsis": [{"which": "periapsis", "terminal": True, "body": "a", "about": "b"}],
    "events.node": [{"which": "ascending", "normal": LENGTH, "terminal": True, "body": "a", "about": "b"}],
    "events.altitude": [{"height": 1e5, "radius": 6.4e6, "which": "rising", "body": "a", "terminal": True}],
    "events.eclipse": [{"radius": 6.4e6, "direction": LENGTH, "shadow": "cylinder", "which": "entry",
                        "body": "a", "terminal": True},
                       {"radius": 6.4e6, "position": [1.5e11, 0, 0], "shadow": "cone", "sun_radius": 7e8},
                       {"radius": 6.4e6, **PATH}, {"radius": 6.4e6, "circle": CIRCLE},
                       {"radius": 6.4e6, "ephemeris": SUN}],
    "events.user": [{"function": far, "direction": 1, "terminal": True, "name": "far"}],
    # trajectory
    "trajectory.save": [{"ds": turning, "path": lambda: target("out.nc")}],
    "trajectory.load": [{"path": saved}], "trajectory.suffix_of": [{"path": "x.nc"}],
    "trajectory.with_chart": [{"ds": turning, "chart": "euler_angles", "sequence": "XYZ", "branch": "principal"}],
    "trajectory.convert_branch": [{"ds": lambda: ph.trajectory.with_chart(turning(), "rotation_vector"),
                                   "branch": "continuous", "chart": "rotation_vector"}],
    # exports
    "trajectory.export.aem": [{"ds": turning, "path": lambda: target("out.aem"), "object_name": "X",
                               "epoch": "2030-01-01", "object_id": "1", "center_name": "EARTH", "ref_frame": "ICRF",
                               "body_frame": "B", "scalar": "last", "time_system": "UTC", "originator": "ME",
                               "body": 0}],
    "trajectory.export.oem": [{"ds": circling, "path": lambda: target("out.oem"), "object_name": "X",
                               "center_name": "EARTH", "epoch": "2030-01-01", "object_id": "1", "ref_frame": "ICRF",
                               "time_system": "UTC", "originator": "ME", "units": "m", "body": 0}],
    "trajectory.export.extended_xyz": [{"ds": gas, "path": lambda: target("out.xyz"), "every": 8, "wrap": True,
                                        "species": "O", "mass": 1.0, "sites": SITES}],
    "trajectory.export.gsd": [{"ds": gas, "path": lambda: target("out.gsd"), "every": 8, "species": "O", "mass": 1.0,
                    "inertia": INERTIA},
                   {"ds": lambda: gas().drop_vars("box"), "path": lambda: target("out.gsd"), "box": 9.0,
                    "mass": [16.0, 1.0], "sites": SITES}],
    "trajectory.export.lammps_dump": [{"ds": gas, "path": lambda: target("out.dump"), "every": 8, "species": "O",
                                       "mass": 1.0, "sites": SITES}],
    # observables
    "trajectory.observables.radial_distribution": [{"ds": gas, "bins": 5, "r_max": 1.5, "rows": slice(40),
                                                    "blocks": 4}],
    **{f"trajectory.observables.{name}": [
        {"ds": gas, "bins": 5, "r_max": 1.5, "rows": slice(40), "dipole": LENGTH, "blocks": 4}]
       for name in ("dipole_correlations", "kirkwood_factor")},
    "trajectory.observables.total_dipole": [{"ds": gas, "dipole": LENGTH}],
    "trajectory.observables.dielectric_constant": [
        {"ds": lambda: gas().assign_attrs(units="reduced"), "temperature": 300.0, "dipole": LENGTH, "surroundings": 1e3,
         "boltzmann": 1.0, "coulomb": 1.0, "volume": 27.0, "blocks": 4},
    ],
    "trajectory.observables.autocorrelation": [{"series": lambda: gas().velocity, "lags": 10, "blocks": 4}],
    "trajectory.observables.velocity_autocorrelation": [{"ds": gas, "lags": 10, "blocks": 4}],
    "trajectory.observables.orientational_correlation": [{"ds": gas, "rank": 2, "lags": 10, "dipole": LENGTH,
                                                          "blocks": 4}],
    "trajectory.observables.mean_square_displacement": [{"ds": gas, "lags": 10, "blocks": 4}],
    "trajectory.observables.block_error": [{"series": [1.0, 2.0, 3.0, 4.0], "blocks": 2}],
    "trajectory.observables.drift": [{"ds": gas, "variable": "energy", "blocks": 4}],
}  # fmt: skip
UNTRIED = {
    "gradients.Gradient",
    "gradients.States",
    "gradients.gradient",
    "gradients.jax_run",
    "gradients.torch_run",
    "trajectory.dataset",
    "inertia.mass_of",
    "inertia.turning",
    "where",
}
"""What systems and users' functions call themselves, with their own arrays and what they have looked at."""


def arguments_of(name, k=0):
    """The arguments of a good call, made."""
    call = CALLS[name][k]
    signature = inspect.signature(public_functions()[name]).parameters
    making = {"function", "command", "force", "torque", "L", "F", "progress", "tell", "reported_energy"}
    return {
        key: value() if (inspect.isfunction(value) and key not in making) or hasattr(value, "cache_info") else value
        for key, value in call.items() if key in signature or "VAR_KEYWORD" in {p.kind.name for p in signature.values()}
    }  # fmt: skip
