"""Written by .ci/stubs.py from the names of `__init__.py`."""

from polhode import algebra as algebra
from polhode import chaos as chaos
from polhode import checks as checks
from polhode import display as display
from polhode import ensembles as ensembles
from polhode import errors as errors
from polhode import estimation as estimation
from polhode import gradients as gradients
from polhode import joints as joints
from polhode import loads as loads
from polhode import methods as methods
from polhode import plots as plots
from polhode import references as references
from polhode import runs as runs
from polhode import surroundings as surroundings
from polhode import systems as systems
from polhode import trajectory as trajectory
from polhode.algebra import orbits as kepler
from polhode.algebra import rotation as rotation
from polhode.bodies import inertia as inertia
from polhode.bodies.body import bodies as bodies
from polhode.bodies.body import body as body
from polhode.bodies.wheels import control_moment_gyros as control_moment_gyros
from polhode.bodies.wheels import reaction_wheels as reaction_wheels
from polhode.ensembles.ensemble import ensemble as ensemble
from polhode.ensembles.interactive import interactive as interactive
from polhode.ensembles.sweep import sweep as sweep
from polhode.estimation.batch import fit as fit
from polhode.gradients.derivative import gradient as gradient
from polhode.joints.joint import ground as ground
from polhode.loads import states as states
from polhode.loads.load import pairs as pairs
from polhode.programs.tracer import where as where
from polhode.runs.assembled import assemble as assemble
from polhode.runs.compare import compare as compare
from polhode.runs.free_motion import free_motion as free_motion
from polhode.runs.integrate import integrate as integrate
from polhode.runs.integrate import rerun as rerun
from polhode.runs.prepared import prepare as prepare
from polhode.runs.resume import load as load
from polhode.runs.resume import resume as resume
from polhode.runs.settings import Settings as Settings
from polhode.runs.state import State as State
from polhode.runs.steps import Tolerance as Tolerance
from polhode.runs.store import Store as Store
from polhode.surroundings import planets as planets
from polhode.systems import controller as controller
from polhode.systems import dipoles as dipoles
from polhode.systems import events as events
from polhode.systems import forces as forces
from polhode.systems import free_body as free_body
from polhode.systems import gravitating_bodies as gravitating_bodies
from polhode.systems import heavy_top as heavy_top
from polhode.systems import initial as initial
from polhode.systems import orbit as orbit
from polhode.systems import particle as particle
from polhode.systems import rigid_body as rigid_body
from polhode.systems import rigid_water as rigid_water
from polhode.systems import spacecraft as spacecraft
from polhode.systems import system as system
from polhode.trajectory.files import save as save
from polhode.viewer.view import view as view

__all__ = [
    "Settings",
    "State",
    "Store",
    "Tolerance",
    "algebra",
    "assemble",
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
    "ground",
    "heavy_top",
    "inertia",
    "initial",
    "integrate",
    "interactive",
    "joints",
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
