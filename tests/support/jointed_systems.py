"""The mechanisms of ``mechanisms.py`` as systems of polhode."""

from __future__ import annotations

import math

import numpy as np

import mechanisms as mx
import polhode as ph

TREE = ("triple_pendulum", "ball_chain", "satellite", "crane")
STATE = ("position", "velocity", "attitude", "angular_velocity")


def weight(body, gravity):
    """The potential of a uniform field."""
    x = body.position
    return -body.mass * (gravity[0] * x[0] + gravity[1] * x[1] + gravity[2] * x[2])


def spring(one, other, stiffness, axis):
    """The potential of a spring in a hinge that has the same axis in both bodies."""
    p, q = other.attitude, one.attitude
    w = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3]
    x = p[0] * q[1] - q[0] * p[1] - (p[2] * q[3] - p[3] * q[2])
    y = p[0] * q[2] - q[0] * p[2] - (p[3] * q[1] - p[1] * q[3])
    z = p[0] * q[3] - q[0] * p[3] - (p[1] * q[2] - p[2] * q[1])
    angle = 2.0 * math.atan2(axis[0] * x + axis[1] * y + axis[2] * z, w)
    return 0.5 * stiffness * angle * angle


def damper(one, other, damping, axis):
    """The torques of viscous friction in such a hinge."""
    w = one.angular_velocity @ axis - other.angular_velocity @ axis
    return {"torque": [[-damping * w * x for x in axis], [damping * w * x for x in axis]]}


def damper_on_the_ground(one, damping, axis):
    """The torque of viscous friction in a hinge that holds a body to the ground."""
    w = one.angular_velocity @ axis
    return {"torque": [-damping * w * x for x in axis]}


def joint_of(given, bodies=None):
    """A joint of a record."""
    words = {"at": given.at, "of_other": given.of_other, "name": given.name}
    if given.kind in ("hinge", "slider"):
        words |= {"axis": given.axis, "axis_of_other": given.axis_of_other}
    if given.kind == "rod":
        words["length"] = given.length
    return getattr(ph.joints, given.kind)(**words).on(given.first, given.second or ph.ground)


def system_of(given, *more):
    """Bodies, joints, weight and springs of a record, and further summands."""
    loads = []
    if np.any(given.gravity):
        loads.append(ph.loads.of(weight, gravity=given.gravity))
    for joint in given.joints:
        if joint.stiffness:
            one = ph.loads.of(spring, stiffness=joint.stiffness, axis=joint.axis).on(joint.first, joint.second)
            loads.append(one.named(f"spring_{joint.name}"))
        if joint.damping:
            ends = (joint.first,) if joint.second is None else (joint.first, joint.second)
            law = damper_on_the_ground if joint.second is None else damper
            one = ph.loads.of(law, damping=joint.damping, axis=joint.axis).on(*ends)
            loads.append(one.named(f"damper_{joint.name}"))
    bodies = [ph.body(body.name, body.mass, body.inertia) for body in given.bodies]
    return ph.system(*bodies, *map(joint_of, given.joints), *loads, *more, name=given.name)


def start_of(given):
    """What ``integrate`` takes."""
    alone = len(given.bodies) == 1
    return {name: given.start[name][0] if alone else given.start[name] for name in STATE}


def state_of(ds, row=-1):
    """A row as the records have it."""
    return {name: np.reshape(ds[name].values[row], (-1, 4 if name == "attitude" else 3)) for name in STATE}


def reversed_start(ds, row=-1):
    """The start of the run backward."""
    state = state_of(ds, row)
    return state | {"velocity": -state["velocity"], "angular_velocity": -state["angular_velocity"]}


def run(given, method, steps, stop=None, system=None, every=None, **words):
    """A run of a record; ``every`` as a rule the end alone. Where bodies are held from turning, rates of 1e-17 rad/s
    are projected."""
    words = {"project": any(joint.kind in ("slider", "weld") for joint in given.joints)} | words
    stop = given.stop if stop is None else stop
    words = {"step": stop / steps, "steps": steps, "every": every or steps, **start_of(given), **words}
    return ph.integrate(system or system_of(given), method, **words)


def error_at_end(given, method, steps, system=None):
    """The distance of places and attitudes from the reference."""
    return mx.apart(state_of(run(given, method, steps, system=system)), given.end)
