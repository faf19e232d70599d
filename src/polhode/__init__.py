"""polhode: structure-preserving integration of things that rotate and orbit.

    import polhode as ph

    top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    ds = ph.integrate(top, "trapm", step=1e-3, t_end=20.0, every=10,
                      attitude=ph.rotation.exp_quaternion((0.3, 0, 0)), angular_velocity=(0, 0, 50))

Everything is loaded when it is first used; importing polhode costs a few milliseconds.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "System": "systems", "SYSTEMS": "systems", "add_system": "systems", "problem": "systems", "PROBLEMS": "systems",
    "thruster": "systems", "plate": "systems",
    "METHODS": "methods", "method_table": "methods", "add_method": "methods", "add_tableau": "methods",
    "Method": "methods", "tableau": "methods", "Scheme": "methods", "splitting": "methods",
    "integrate": "runs.integrate", "rerun": "runs.integrate", "Progress": "runs.display",
    "Tolerance": "runs.steps", "State": "runs.state", "Settings": "runs.settings", "Store": "runs.store",
    "prepare": "runs.prepared",
    "compare": "runs.compare", "read_scenario": "runs.scenario", "check_method": "checks",
    "check_system": "checks",
    "free_motion": "runs.free_motion",
    "save": "trajectory", "load": "runs.resume", "resume": "runs.resume", "cite": "references",
    "with_chart": "trajectory", "convert_branch": "trajectory", "point_motion": "runs.point_motion",
    "PolhodeError": "errors", "InvalidInput": "errors", "ConvergenceError": "errors", "StepTooLarge": "errors",
    "NotFinite": "errors", "FileProblem": "errors", "UserFunctionError": "errors", "Interrupted": "errors",
    "MissingExtra": "errors", "SlowFunctionWarning": "errors", "StepFailed": "errors",
    "StepTooSmall": "errors", "OtherMachineWarning": "errors", "PolhodeWarning": "errors",
    "EnergyWarning": "errors", "CoarseStepWarning": "errors",
}  # fmt: skip
_MODULES = {
    "elliptic": "algebra.elliptic", "kepler": "algebra.orbits",
    "rotation": "algebra.rotation", "inertia": "systems.inertia", "plots": "plots",
    "initial": "systems.initial",
    "variational": "algebra.variational", "forces": "systems.forces", "events": "systems.events",
    "planets": "systems.planets", "trajectory": "trajectory", "export": "trajectory.export", "errors": "errors",
    "observables": "trajectory.observables", "constrained": "systems.constrained", "poinsot": "runs.poinsot",
}  # fmt: skip
_MOVED = {
    "free_motion_periods": "poinsot", "polhode_curve": "poinsot", "herpolhode_curve": "poinsot",
    "to_constrained": "constrained", "from_constrained": "constrained",
    "to_cotangent": "constrained", "from_cotangent": "constrained",
}  # fmt: skip
"""Names that were here once, and the modules that have them now."""


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
    elif name in _MOVED:
        raise AttributeError(f"polhode.{name} moved to polhode.{_MOVED[name]}.{name}")
    elif not name.startswith("_") and name in (systems := importlib.import_module("polhode.systems").SYSTEMS):
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
