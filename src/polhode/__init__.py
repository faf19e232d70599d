"""polhode: structure-preserving integration of things that rotate and orbit.

    import polhode as ph

    top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    ds = ph.integrate(top, "trapm", step=1e-3, t_end=20.0, every=10,
                      attitude=ph.rotation.exp_quaternion((0.3, 0, 0)), angular_velocity=(0, 0, 50))

Everything is loaded when it is first used; importing polhode costs a few milliseconds.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from polhode.in_xarray import whenever_imported as _whenever_imported

_HOMES = {
    "body": "bodies.body", "bodies": "bodies.body", "pairs": "loads.load",
    "system": "systems", "problem": "systems", "thruster": "systems", "plate": "systems", "reaction_wheels": "systems",
    "controller": "systems", "gravity_field": "systems",
    "magnetic_field": "systems", "magnetic_dipole": "systems", "magnetic_torquers": "systems",
    "control_moment_gyros": "systems", "nrlmsis": "systems", "pulsed_thrusters": "systems",
    "ephemeris": "systems", "tle": "systems.tle", "omm": "systems.omm",
    "oem": "systems.ephemeris_messages", "aem": "systems.ephemeris_messages",
    "integrate": "runs.integrate", "rerun": "runs.integrate", "prepare": "runs.prepared", "compare": "runs.compare",
    "ensemble": "ensembles.ensemble", "ensemble_of": "ensembles.of_scenario",
    "Tolerance": "runs.steps", "State": "runs.state", "Settings": "runs.settings", "Store": "runs.store",
    "Progress": "display", "read_scenario": "runs.scenario",
    "write_scenario": "runs.scenario",
    "check_method": "checks", "check_system": "checks",
    "free_motion": "runs.free_motion", "point_motion": "runs.point_motion",
    "save": "trajectory", "load": "runs.resume", "resume": "runs.resume", "cite": "references",
    "where": "programs.tracer", "animate": "plots",
    "sweep": "ensembles.sweep", "open_sweep": "ensembles.sweep", "sweep_status": "ensembles.sweep",
    "sweep_member": "ensembles.sweep", "view": "viewer.view", "fit": "estimation.batch",
    "gradient": "gradients.reverse",
}  # fmt: skip
_MODULES = {
    "elliptic": "algebra.elliptic", "kepler": "algebra.orbits",
    "rotation": "algebra.rotation", "inertia": "bodies.inertia", "plots": "plots",
    "initial": "systems.initial", "systems": "systems", "methods": "methods",
    "variational": "algebra.variational", "forces": "systems.forces", "loads": "loads", "states": "loads.states",
    "surroundings": "surroundings", "events": "systems.events",
    "planets": "surroundings.planets", "trajectory": "trajectory", "export": "trajectory.export", "errors": "errors",
    "observables": "trajectory.observables", "constrained": "systems.constrained", "poinsot": "runs.poinsot",
    "sampling": "ensembles.sampling", "reduce": "ensembles.reductions", "estimation": "estimation", "chaos": "chaos",
    "gradients": "gradients",
}  # fmt: skip
_MOVED = {
    "errors": (
        "PolhodeError", "InvalidInput", "ConvergenceError", "StepFailed", "StepTooLarge", "StepTooSmall", "NotFinite",
        "FileProblem", "UserFunctionError", "Interrupted", "MissingExtra", "PolhodeWarning", "SlowFunctionWarning",
        "OtherMachineWarning", "EnergyWarning", "CoarseStepWarning",
    ),
    "methods": ("METHODS", "method_table", "add_method", "add_tableau", "Method", "tableau", "Scheme", "splitting"),
    "systems": ("System", "SYSTEMS", "add_system", "PROBLEMS"),
    "trajectory": ("with_chart", "convert_branch"),
    "poinsot": ("free_motion_periods", "polhode_curve", "herpolhode_curve"),
    "constrained": ("to_constrained", "from_constrained", "to_cotangent", "from_cotangent"),
}  # fmt: skip
"""Modules, and the names in them that were here once."""


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return ["__version__", *_homes(), *_MODULES]
    value: Any
    if name == "__version__":
        value = _version()
    elif name in _MODULES:
        value = importlib.import_module(f"polhode.{_MODULES[name]}")
    elif name in _HOMES:
        value = getattr(importlib.import_module(f"polhode.{_HOMES[name]}"), name)
    elif home := next((home for home, names in _MOVED.items() if name in names), ""):
        raise AttributeError(f"polhode.{name} moved to polhode.{home}.{name}")
    elif name.startswith("_") or importlib.util.find_spec(f"polhode.{name}"):  # a package, which may be half imported
        raise AttributeError(f"module 'polhode' has no attribute {name!r}")
    elif name in (systems := importlib.import_module("polhode.systems").SYSTEMS):
        value = systems[name]
    else:
        raise AttributeError(f"module 'polhode' has no attribute {name!r}")
    globals()[name] = value
    return value


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # reads the files of the installation

    try:
        return version("polhode")
    except PackageNotFoundError:  # a source tree that was never installed
        return "0+unknown"


def _homes() -> dict[str, str]:
    """The module of every public name: of those above and of all systems."""
    return dict.fromkeys(importlib.import_module("polhode.systems").SYSTEMS, "systems") | _HOMES


def __dir__() -> list[str]:
    return sorted(["__version__", *_homes(), *_MODULES])


_whenever_imported()
