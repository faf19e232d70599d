"""What a force of polhode does to a point of mass 1: by its load in plain Python, and as a run has it compiled."""

from types import SimpleNamespace

import numpy as np

import polhode as ph
from polhode.checks import load_caller
from polhode.kernel import layout as L
from polhode.loads.load import names_of
from polhode.programs.memory import Rows
from polhode.surroundings.surrounding import Table


def acting(force, r, v=(0.0, 0.0, 0.0), t=0.0, mu=1.0):
    """The mapping that the function of its load returns for numbers."""
    body = SimpleNamespace(position=np.array(r, float), velocity=np.array(v, float), mass=1.0)
    numbers = {
        name: Rows(np.array(one), 0) if isinstance(one, Table) else one for name, one in force.load.parameters.items()
    }
    given = {"t": t, "mu": mu, **numbers}
    names = names_of(force.load.function)[1:]
    return force.load.function(body, **{name: given[name] for name in names if name in given})


def compiled(force, r, t):
    """Its force at rest, and the rate in time of its potential, as a run has them."""
    system = ph.orbit(1.0, forces=[force])
    y, out = np.array([*r, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), np.zeros(L.LOAD + 1)
    role = system.compiled_loads(t, y)
    load_caller(L.WITHOUT_SOLVED)(role, t, 1, y, system.bodies, system.with_memory, out)
    return out[:3], out[L.LOAD]
