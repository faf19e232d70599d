"""polhode: structure-preserving integration of things that rotate and orbit.

    import polhode as ph

    top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    ds = ph.integrate(top, "trapm", step=1e-3, t_end=20.0, every=10,
                      attitude=ph.rotation.exp_quaternion((0.3, 0, 0)), angular_velocity=(0, 0, 50))

Everything is loaded when it is first used; importing polhode costs a few milliseconds. ``dir(polhode)`` is what a first
week needs. The rest is in packages: ``polhode.trajectory`` (exports, observables), ``ensembles`` (distributions,
reductions, sweeps), ``runs`` (scenarios, points of bodies, Poinsot's curves), ``checks``, ``estimation``, ``chaos``,
``gradients``, ``algebra`` (elliptic functions, discrete mechanics), ``references`` and ``display``.
"""

from __future__ import annotations

import importlib
import sys
from operator import attrgetter
from typing import Any

from polhode.in_xarray import whenever_imported as _whenever_imported

_HOMES = {
    "system": "systems", "body": "bodies.body", "bodies": "bodies.body", "pairs": "loads.load", "controller": "systems",
    "reaction_wheels": "bodies.wheels", "control_moment_gyros": "bodies.wheels", "where": "programs.tracer",
    "ground": "joints.joint", "particle": "systems", "free_body": "systems", "rigid_body": "systems",
    "heavy_top": "systems", "orbit": "systems", "spacecraft": "systems", "gravitating_bodies": "systems",
    "dipoles": "systems", "rigid_water": "systems", "assemble": "runs.assembled",
    "integrate": "runs.integrate", "rerun": "runs.integrate", "prepare": "runs.prepared", "compare": "runs.compare",
    "Tolerance": "runs.steps", "State": "runs.state", "Settings": "runs.settings", "Store": "runs.store",
    "save": "trajectory.files", "load": "runs.resume", "resume": "runs.resume", "free_motion": "runs.free_motion",
    "ensemble": "ensembles.ensemble", "sweep": "ensembles.sweep", "fit": "estimation.batch",
    "gradient": "gradients.derivative", "view": "viewer.view", "interactive": "ensembles.interactive",
}  # fmt: skip
_MODULES = {
    "loads": "loads", "joints": "joints", "states": "loads.states", "surroundings": "surroundings",
    "events": "systems.events", "forces": "systems.forces", "initial": "systems.initial", "methods": "methods",
    "rotation": "algebra.rotation", "kepler": "algebra.orbits", "inertia": "bodies.inertia",
    "planets": "surroundings.planets", "plots": "plots",
}  # fmt: skip
_PACKAGES = (
    "trajectory", "ensembles", "runs", "checks", "estimation", "chaos", "gradients", "algebra", "references", "display",
    "systems", "errors", "forces",
)  # fmt: skip
"""Where names are that few users need."""
_MOVED = {
    name: f"{home}.{name}"
    for home, names in {
        "systems": "gravity_gradient soft_wall problem thruster plate magnetic_dipole magnetic_torquers"
        " pulsed_thrusters constrained System SYSTEMS add_system PROBLEMS",
        "systems.constrained": "to_constrained from_constrained to_cotangent from_cotangent",
        "surroundings": "gravity_field magnetic_field nrlmsis ephemeris",
        "initial": "tle omm oem aem",
        "methods": "METHODS method_table add_method add_tableau Method tableau Scheme splitting",
        "runs": "read_scenario write_scenario point_motion joint_forces poinsot",
        "runs.poinsot": "free_motion_periods polhode_curve herpolhode_curve",
        "ensembles": "ensemble_of open_sweep sweep_status sweep_member sampling",
        "trajectory": "export observables with_chart convert_branch",
        "algebra": "elliptic variational",
        "checks": "check_method check_system",
        "plots": "animate",
        "references": "cite",
        "display": "Progress",
        "errors": "PolhodeError InvalidInput ConvergenceError StepFailed StepTooLarge StepTooSmall NotFinite"
        " FileProblem UserFunctionError Interrupted MissingExtra PolhodeWarning SlowFunctionWarning OtherMachineWarning"
        " EnergyWarning CoarseStepWarning",
    }.items()
    for name in names.split()
} | {"reduce": "ensembles.reductions"}
"""Names that were here once, and where they are."""
__all__ = ["__version__", *_HOMES, *(_name for _name in _MODULES if _name not in _PACKAGES)]


def __getattr__(name: str) -> Any:
    value: Any
    if name == "__version__":
        value = _version()
    elif name in _MODULES or name in _PACKAGES:
        value = _module(_MODULES.get(name, name))
    elif name in _HOMES:
        value = getattr(_module(_HOMES[name]), name)
    elif name in _MOVED:
        return _moved(name, _MOVED[name])
    elif name.startswith("_") or importlib.import_module("importlib.util").find_spec(
        f"polhode.{name}"
    ):  # half imported
        raise AttributeError(f"module 'polhode' has no attribute {name!r}")
    elif name in importlib.import_module("polhode.systems").SYSTEMS:
        return _moved(name, f"systems.{name}")
    else:
        raise AttributeError(f"module 'polhode' has no attribute {name!r}")
    globals()[name] = value
    return value


def _module(name: str) -> Any:
    return importlib.import_module("polhode.lazy").opened(f"polhode.{name}")


def _moved(name: str, new: str) -> Any:
    """What has the old name, with a warning that says the new one."""
    value, errors = attrgetter(new)(sys.modules[__name__]), importlib.import_module("polhode.errors")
    errors.warn(f"polhode.{name} is now polhode.{new}", errors.OldNameWarning)
    return value


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # reads the files of the installation

    try:
        return version("polhode")
    except PackageNotFoundError:  # a source tree that was never installed
        return "0+unknown"


def __dir__() -> list[str]:
    return sorted(__all__)


_whenever_imported()
