"""A method that does not suit a system is refused before the run, in words that say what it is for."""

from __future__ import annotations

import pytest

WALK = r"""
import itertools, json, warnings
import polhode as ph
from polhode.methods import METHODS, method

def torque(t, q, omega, parameters):
    return (0.1, 0.0, -0.1 * omega[2])

def potential(t, q, parameters):
    return 0.3 * (1 - 2 * (q[1] * q[1] + q[2] * q[2]))

def load(t, position, velocity, q, omega, parameters):
    return (0.1, 0.0, 0.0), (0.0, 0.1, 0.0)

spin, body = {"angular_velocity": (0.3, 0.4, 0.5)}, (1.0, 2.0, 2.5)
moving = {"position": (1.5, 0.0, 0.1), "velocity": (0.0, 0.8, 0.2)}
apart = {"position": [(1, 0, 0), (-1, 0.1, 0), (0, 3, 0.1)], "velocity": [(0, 0.3, 0), (0, -0.5, 0.1), (0.3, 0, 0)]}
of = ph.forces
SYSTEMS = {
    "free": (ph.free_body(body), spin), "top": (ph.heavy_top(body, (0, 0, 1), 2.0), spin),
    "torque": (ph.rigid_body(body, torque=torque), spin), "potential": (ph.rigid_body(body, potential=potential), spin),
    "load": (ph.rigid_body(body, mass=2.0, load=load), spin),
    "particle": (ph.particle(stiffness=1.0), moving), "orbit": (ph.orbit(1.0), moving),
    "oblate": (ph.orbit(1.0, forces=[of.zonal(J2=1e-3, radius=1.0)]), moving),
    "impulse": (ph.orbit(1.0, forces=[of.impulse(time=0.005, delta_v=(0, 0.01, 0))]), moving),
    "craft": (ph.spacecraft(body, 1.0), {"position": (20.0, 0.0, 0.1), "velocity": (0.0, 0.2, 0.1)} | spin),
    "bodies": (ph.gravitating_bodies((1.0, 0.5, 0.2)), apart),
}
# One row of each kind that a system can fail to suit.
rows, kinds = [], set()
extra = ("v2/kepler", "reversible:v2", "reversible:distance:v2", "logarithmic:kl8", "rkn6_14a", "s6_10/mr6")
for text in (*extra, *METHODS):
    chosen = method(text).with_trials
    p = chosen.prepare()
    kind = (p.step_density, p.needs, p.bath is None, p.processed, p.controller,
            p.coordinates and p.coordinates.rates, chosen.method.family)
    if kind not in kinds:
        kinds.add(kind)
        rows.append(chosen)
found = []
warnings.simplefilter("ignore")
for chosen, (name, (system, start)) in itertools.product(rows, SYSTEMS.items()):
    pace = {"steps": ph.Tolerance(1e-3), "t_end": 0.01} if chosen.method.tolerances else {"step": 0.01, "steps": 1}
    try:
        ph.integrate(system, chosen.label, **pace, **start)
        said = ["", ""]
    except Exception as wrong:
        said = [type(wrong).__name__, str(wrong)]
    found.append([chosen.label, name, *said])
print(json.dumps(found))
"""

TURNING = {"free", "top", "torque", "potential"}
REASONS = {
    "follows the motion about a centre": ("or the method without '/kepler'", {*TURNING, "load", "particle", "bodies"}),
    "is the motion about a centre of attraction": ("rkn6_14a/kepler", {"oblate", "impulse", "craft"}),
    "moves bodies through space only": ("'mkrk:gauss6'", {*TURNING, "load", "craft"}),
    "do not move through space": ("take 'reversible:loads:...'", TURNING),
    "follow distances from a centre at the origin, as in orbit(...)": ("take steps of one size", {"bodies"}),
    "position is the origin": ("say where the body is", {"load"}),
}
"""What a refusal says, the remedy it names, and the systems it is for."""


@pytest.fixture(scope="module")
def walk(forked):
    """What one step of a method of every kind over every kind of system come to, in plain Python."""
    return forked(WALK, NUMBA_DISABLE_JIT="1")


def test_what_does_not_fit_is_refused_before_the_run(walk):
    met = set()
    for method, system, kind, said in walk:
        if not kind:
            continue
        assert kind == "InvalidInput" and repr(method) in said, (method, system, kind, said)
        reason = next((reason for reason in REASONS if reason in said), None)
        assert reason is not None, (method, system, said)
        remedy, systems = REASONS[reason]
        assert remedy in said and system in systems, (method, system, said)
        met.add((reason, system))
    assert met == {(reason, system) for reason, (_, systems) in REASONS.items() for system in systems}
    assert sum(not kind for _, _, kind, _ in walk) > len(walk) / 2
