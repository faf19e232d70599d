"""Written by .ci/stubs.py from the names of `__init__.py`."""

from polhode import (
    algebra as algebra,
    chaos as chaos,
    checks as checks,
    display as display,
    ensembles as ensembles,
    errors as errors,
    estimation as estimation,
    gradients as gradients,
    loads as loads,
    methods as methods,
    plots as plots,
    references as references,
    runs as runs,
    surroundings as surroundings,
    systems as systems,
    trajectory as trajectory,
)
from polhode.algebra import orbits as kepler, rotation as rotation
from polhode.bodies import inertia as inertia
from polhode.bodies.body import bodies as bodies, body as body
from polhode.bodies.gyros import control_moment_gyros as control_moment_gyros
from polhode.bodies.wheels import reaction_wheels as reaction_wheels
from polhode.ensembles.ensemble import ensemble as ensemble
from polhode.ensembles.sweep import sweep as sweep
from polhode.estimation.batch import fit as fit
from polhode.gradients.derivative import gradient as gradient
from polhode.loads import states as states
from polhode.loads.load import pairs as pairs
from polhode.programs.tracer import where as where
from polhode.runs.compare import compare as compare
from polhode.runs.free_motion import free_motion as free_motion
from polhode.runs.integrate import integrate as integrate, rerun as rerun
from polhode.runs.prepared import prepare as prepare
from polhode.runs.resume import load as load, resume as resume
from polhode.runs.settings import Settings as Settings
from polhode.runs.state import State as State
from polhode.runs.steps import Tolerance as Tolerance
from polhode.runs.store import Store as Store
from polhode.surroundings import planets as planets
from polhode.systems import (
    controller as controller,
    dipoles as dipoles,
    events as events,
    forces as forces,
    free_body as free_body,
    gravitating_bodies as gravitating_bodies,
    heavy_top as heavy_top,
    initial as initial,
    orbit as orbit,
    particle as particle,
    rigid_body as rigid_body,
    rigid_water as rigid_water,
    spacecraft as spacecraft,
    system as system,
)
from polhode.trajectory import save as save
from polhode.viewer.view import view as view

__all__ = [
    "Settings",
    "State",
    "Store",
    "Tolerance",
    "algebra",
    "bodies",
    "body",
    "chaos",
    "checks",
    "compare",
    "control_moment_gyros",
    "controller",
    "dipoles",
    "display",
    "ensemble",
    "ensembles",
    "errors",
    "estimation",
    "events",
    "fit",
    "forces",
    "free_body",
    "free_motion",
    "gradient",
    "gradients",
    "gravitating_bodies",
    "heavy_top",
    "inertia",
    "initial",
    "integrate",
    "kepler",
    "load",
    "loads",
    "methods",
    "orbit",
    "pairs",
    "particle",
    "planets",
    "plots",
    "prepare",
    "reaction_wheels",
    "references",
    "rerun",
    "resume",
    "rigid_body",
    "rigid_water",
    "rotation",
    "runs",
    "save",
    "spacecraft",
    "states",
    "surroundings",
    "sweep",
    "system",
    "systems",
    "trajectory",
    "view",
    "where",
]

__version__: str
