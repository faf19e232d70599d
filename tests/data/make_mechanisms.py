"""Writes ``mechanisms.json``: mechanisms, their starts, and where they are later, by ``support/mechanisms.py``.

    python tests/data/make_mechanisms.py [name ...]

Ends are those of the equations in all coordinates by DOP853 at 1e-13; ``accuracy`` is by how much another formulation
differs from it, or, where there is none, the same at 3e-12. The double four-bar, which passes singular positions, has
the end of its pendulum law.

four_bars      IFToMM's library of mechanisms, A02 with two windows: five uniform bars of 1 m and 1 kg, the upper left
               joint at 1 m/s (Gonzalez et al., Multibody Syst. Dyn. 2006); of thin rods the moment about themselves
               is nothing, here 1e-3.
bricard        The same library, A04 (a bar of 1 m and 1 kg, square of 0.1 m), as in Exudyn's
               TestModels/bricardMechanism.
chain_on_rail  Exudyn's TestModels/sphericalJointTest: four bodies, the first with its centre on a rail along x.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import mechanisms as mx
from mechanisms import Body, Joint, Mechanism, Redundant, matrix, turned

X, Y, Z = np.eye(3)
DOWN = np.array([0.0, 0.0, -9.81])
NONE = np.zeros(3)


def v(*numbers):
    return np.array(numbers, float)


def unit(*numbers):
    return v(*numbers) / np.linalg.norm(numbers)


def box(mass, *edges):
    a, b, c = (edge**2 for edge in edges)
    return np.diag(v(b + c, a + c, a + b)) * mass / 12


PIECES = 16
TENSOR = np.array([[0.12, 0.01, -0.02], [0.01, 0.10, 0.015], [-0.02, 0.015, 0.06]])


def started(name, bodies, joints, gravity, position, attitude, velocity, angular_velocity, stop, **more):
    """With the nearest velocities that open no joint."""
    start = {"position": np.array(position, float), "attitude": np.array(attitude, float),
             "velocity": np.array(velocity, float), "angular_velocity": np.array(angular_velocity, float)}  # fmt: skip
    given = Mechanism(name, bodies, joints, gravity, start, stop, **more)
    whole = Redundant(given)
    y = whole.closed(whole.flat(start))
    gaps, rates = whole.gaps(y)
    assert np.abs(gaps).max() < 1e-14, (name, gaps)
    assert np.abs(rates).max() < 1e-13, (name, rates)
    return replace(given, start=whole.state(y))


def hung(joints, bodies, attitudes, first=None, along=None):
    """Positions of bodies, each at its joint to one before it or the ground; ``along`` are gaps in space, by joint."""
    names, places = [body.name for body in bodies], {}
    if first is not None:
        places[names[0]] = v(*first)
    for k, joint in enumerate(joints):
        if joint.first in places:
            continue
        base = joint.of_other
        if joint.second is not None:
            base = places[joint.second] + matrix(attitudes[names.index(joint.second)]) @ joint.of_other
        gap = NONE if along is None or along[k] is None else v(*along[k])
        places[joint.first] = base + gap - matrix(attitudes[names.index(joint.first)]) @ joint.at
    return [places[name] for name in names]


def chained(axes, angles, twists):
    """Attitudes of links with hinges: each turned about the axis after a fixed twist."""
    q, out = v(1, 0, 0, 0), []
    for axis, angle in zip(axes, angles, strict=True):
        q = mx.product(q, turned(angle * axis))
        out.append(q)
    return out


# ------------------------------------------------------------------ mechanisms
def pendulum():
    """A link on a hinge, released at rest."""
    bodies = [Body("link", 1.5, np.diag(v(0.2, 0.3, 0.12)))]
    joints = [Joint("hinge", "link", None, v(0, 0, 0.4), NONE, "pin", Y, Y)]
    q = [turned(2.0 * Y)]
    return started("pendulum", bodies, joints, DOWN, hung(joints, bodies, q), q, [NONE], [NONE], 3.0)


def top():
    """A heavy top on a ball joint; the same as a body that is pinned at the point."""
    bodies = [Body("top", 15.0, np.diag(v(0.234375, 0.46875, 0.234375)))]
    joints = [Joint("ball", "top", None, v(0, -1, 0), NONE, "point")]
    q = [turned(v(0.2, 0.1, 0.05))]
    return started("top", bodies, joints, DOWN, hung(joints, bodies, q), q, [np.cross(v(0.3, 40, -1.0), Y)],
                   [v(0.3, 40, -1.0)], 1.0)  # fmt: skip


def triple_pendulum():
    """Three links in space, hinges along different axes."""
    bodies = [Body("upper", 1.0, np.diag(v(0.12, 0.10, 0.03))), Body("middle", 0.8, TENSOR),
              Body("lower", 0.6, np.diag(v(0.05, 0.07, 0.03)))]  # fmt: skip
    axes = [unit(0, 1, 0), unit(1, 0.3, 0), unit(0.2, 1, 0.5)]
    up, down = v(0, 0, 0.5), v(0, 0, -0.5)
    names = [body.name for body in bodies]
    joints = [Joint("hinge", names[k], names[k - 1] if k else None, up, down if k else NONE,
                    ("shoulder", "elbow", "wrist")[k], axes[k], axes[k]) for k in range(3)]  # fmt: skip
    q = chained(axes, (0.9, -0.6, 0.5), None)
    w = [1.0 * Y, v(0.5, 0.2, -0.3), v(-0.4, 0.8, 0.6)]
    return started("triple_pendulum", bodies, joints, DOWN, hung(joints, bodies, q), q, np.zeros((3, 3)), w, 5.0)


def damped_pendulum():
    """The triple pendulum with viscous friction in its hinges."""
    given = triple_pendulum()
    joints = [replace(joint, damping=damping) for joint, damping in zip(given.joints, (0.2, 0.1, 0.05), strict=True)]
    return replace(given, name="damped_pendulum", joints=joints, stop=2.0)


def ball_chain():
    """Three bodies of general inertia on ball joints."""
    bodies = [
        Body("one", 1.0, TENSOR),
        Body("two", 0.7, 0.6 * TENSOR[::-1, ::-1]),
        Body("three", 1.3, np.diag(v(0.2, 0.12, 0.09))),
    ]
    joints = [Joint("ball", "one", None, v(0.05, 0, 0.4), v(0.1, -0.2, 1.0), "first"),
              Joint("ball", "two", "one", v(0, 0.1, 0.3), v(0, 0.05, -0.4), "second"),
              Joint("ball", "three", "two", v(-0.1, 0, 0.35), v(0.02, 0, -0.3), "third")]  # fmt: skip
    q = [turned(v(0.9, 0.2, 0.1)), turned(v(-0.3, 0.8, 0.2)), turned(v(0.2, -0.5, 1.0))]
    w = [v(0.4, -0.6, 1.0), v(-1.0, 0.3, 0.7), v(0.5, 0.9, -1.2)]
    return started("ball_chain", bodies, joints, DOWN, hung(joints, bodies, q), q, np.zeros((3, 3)), w, 2.0)


def satellite():
    """A hub and two panels on hinges with springs, in free flight."""
    bodies = [Body("hub", 50.0, np.array([[9.0, 0.3, -0.2], [0.3, 11.0, 0.4], [-0.2, 0.4, 7.0]])),
              Body("left", 4.0, box(4.0, 1.0, 2.0, 0.05)), Body("right", 4.0, box(4.0, 1.0, 2.0, 0.05))]  # fmt: skip
    along = unit(1, 0, 0)
    joints = [Joint("hinge", "left", "hub", v(0, 1.0, 0), v(0.1, -0.5, 0), "left_hinge", along, along, stiffness=8.0),
              Joint("hinge", "right", "hub", v(0, -1.0, 0), v(0.1, 0.5, 0), "right_hinge", along, along,
                    stiffness=6.0)]  # fmt: skip
    hub = turned(v(0.2, 0.3, -0.1))
    q = [hub, mx.product(hub, turned(0.35 * along)), mx.product(hub, turned(-0.25 * along))]
    w = v(0.10, -0.25, 0.30)
    rates = [w, w + 0.2 * along, w - 0.4 * along]
    at = hung(joints, bodies, q, first=(0, 0, 0))
    speed = [np.cross(matrix(hub) @ w, x) for x in at]
    return started("satellite", bodies, joints, NONE, at, q, speed, rates, 20.0)


def four_bars():
    """IFToMM A02 with two windows: seven hinges, six rows implied; at a quarter turn all bars are in line."""
    rod = np.diag(v(1 / 12, 1 / 12, 1e-3))
    names = ["crank_0", "crank_1", "crank_2", "coupler_0", "coupler_1"]
    bodies = [Body(name, 1.0, rod) for name in names]
    e, f = v(0, 0, 0.5), v(0, 0, -0.5)
    joints = [Joint("hinge", names[k], None, f, v(k, 0, 0), f"ground_{k}", Y, Y) for k in range(3)]
    for first, second, at, to in (("coupler_0", "crank_0", f, "left_0"), ("coupler_0", "crank_1", e, "right_0"),
                                  ("coupler_1", "crank_1", f, "left_1"),
                                  ("coupler_1", "crank_2", e, "right_1")):  # fmt: skip
        joints.append(Joint("hinge", first, second, at, e, to, Y, Y))
    q = [v(1, 0, 0, 0)] * 3 + [turned(np.pi / 2 * Y)] * 2
    at = [v(k, 0, 0.5) for k in range(3)] + [v(k + 0.5, 0, 1.0) for k in range(2)]
    speed = [X / 2] * 3 + [X] * 2
    given = started("four_bars", bodies, joints, DOWN, at, q, speed, [Y] * 3 + [NONE] * 2, 10.0, implied=6)
    return given


def bricard():
    """IFToMM A04: six hinges, one of their thirty rows is implied; gravity along -y."""
    bar = box(1.0, 1.0, 0.1, 0.1)
    places = v(0, 0, 0), v(1, 0, 0), v(1, -1, 0), v(1, -1, 1), v(0, -1, 1), v(0, 0, 1)
    turns = [v(0, 0, 0), -np.pi / 2 * Z, -np.pi / 2 * Y, np.pi * Z, np.pi / 2 * Z]
    axes = [Y, Z, X, Y, Z, X]
    q = [turned(turn) for turn in turns]
    bodies = [Body(f"bar_{k}", 1.0, bar) for k in range(5)]
    half = X / 2
    joints = []
    for k in range(6):
        first = f"bar_{k}" if k < 5 else "bar_4"
        second = None if k in (0, 5) else f"bar_{k - 1}"
        mine = matrix(q[min(k, 4)]).T @ axes[k]
        other = axes[k] if second is None else matrix(q[k - 1]).T @ axes[k]
        joints.append(Joint("hinge", first, second, -half if k < 5 else half, places[k] if second is None else half,
                            f"hinge_{k}", mine, other))  # fmt: skip
    at = [places[k] + matrix(q[k]) @ half for k in range(5)]
    return started("bricard", bodies, joints, v(0, -9.81, 0), at, q, np.zeros((5, 3)), np.zeros((5, 3)), 5.0, implied=1)


def slider_crank():
    """Crank, rod, and a block on a rail: three hinges and a slider, three rows implied."""
    r, l = 0.3, 0.8
    bodies = [Body("crank", 1.0, np.diag(v(0.002, 0.01, 0.011))), Body("rod", 1.5, np.diag(v(0.006, 0.09, 0.085))),
              Body("block", 2.0, np.diag(v(0.01, 0.02, 0.025)))]  # fmt: skip
    joints = [Joint("hinge", "crank", None, v(-r / 2, 0, 0), NONE, "main", Y, Y),
              Joint("hinge", "rod", "crank", v(-l / 2, 0, 0), v(r / 2, 0, 0), "crank_pin", Y, Y),
              Joint("hinge", "block", "rod", NONE, v(l / 2, 0, 0), "wrist_pin", Y, Y),
              Joint("slider", "block", None, NONE, NONE, "rail", X, X)]  # fmt: skip
    angle = -0.7
    rod = np.arcsin(r * np.sin(angle) / l)
    q = [turned(angle * Y), turned(-rod * Y), v(1, 0, 0, 0)]
    at = hung(joints, bodies, q)
    at[2][2] = 0.0
    w = 5.0
    turn = r * np.cos(angle) / (l * np.cos(rod)) * w
    speed = [w * 0.5 * r * v(-np.sin(angle), 0, -np.cos(angle)),
             v(-r * np.sin(angle) * w - 0.5 * l * np.sin(rod) * turn, 0, -0.5 * r * np.cos(angle) * w),
             v(-r * np.sin(angle) * w - l * np.sin(rod) * turn, 0, 0)]  # fmt: skip
    return started("slider_crank", bodies, joints, DOWN, at, q, speed, [w * Y, -turn * Y, NONE], 4.0, implied=3)


def crane():
    """Every kind of joint: a carriage on a slope, a beam welded to it, a ball joint, two rods in a row, a hinge."""
    bodies = [Body("carriage", 3.0, np.diag(v(0.2, 0.3, 0.25))), Body("beam", 1.0, TENSOR),
              Body("hook", 0.8, 0.7 * TENSOR),
              Body("load", 1.2, np.diag(v(0.08, 0.11, 0.09))), Body("tail", 0.5, np.diag(v(0.03, 0.02, 0.025))),
              Body("arm", 0.4, np.diag(v(0.02, 0.03, 0.015)))]  # fmt: skip
    slope, axis = unit(1, 0.2, -0.3), unit(0.3, 1, 0.1)
    joints = [Joint("slider", "carriage", None, v(0, 0, -0.1), v(0.2, 0, 0), "rail", slope, slope),
              Joint("weld", "beam", "carriage", v(-0.3, 0, 0), v(0.1, 0.2, 0), "weld"),
              Joint("ball", "hook", "beam", v(0, 0, 0.4), v(0.3, 0, -0.1), "ball"),
              Joint("rod", "load", "hook", v(0, 0.1, 0.2), v(0.05, 0, -0.3), "first_rod", length=0.6),
              Joint("rod", "tail", "load", v(0.1, 0, 0.1), v(0, 0, -0.2), "second_rod", length=0.4),
              Joint("hinge", "arm", "hook", v(0, 0, 0.3), v(0, -0.1, 0), "pin", axis, axis)]  # fmt: skip
    q = [v(1, 0, 0, 0)] * 2 + [turned(v(0.5, 0.3, 0.2)), turned(v(-0.2, 0.6, 0.1)), turned(v(0.3, 0.1, -0.7))]
    q.append(mx.product(q[2], turned(0.8 * axis)))
    along = [0.15 * slope, None, None, 0.6 * unit(0.3, 0.1, -1), 0.4 * unit(-0.4, 0.3, -1), None]
    w = [NONE, NONE, v(0.6, -0.4, 0.5), v(-0.8, 0.5, 0.3), v(0.2, 1.0, -0.5), v(0.6, -0.4, 0.5) + 1.5 * axis]
    speed = [0.3 * slope, NONE, NONE, v(0.3, 0, 0), v(0, 0.4, 0.1), NONE]
    return started("crane", bodies, joints, DOWN, hung(joints, bodies, q, along=along), q, speed, w, 1.5)


def two(kind):
    """Two bodies with a joint of a kind, the first also on the ground (for sliders by a hinge), but of ``free_*``."""
    free = kind.startswith("free_")
    what = kind.removeprefix("free_")
    bodies = [Body("one", 1.0, TENSOR), Body("two", 0.7, np.diag(v(0.08, 0.05, 0.06)))]
    axes = unit(0.2, 1, 0.1), unit(1, -0.3, 0.4)
    pins = [(v(0, 0.05, 0.4), v(0.1, 0, 0.2)), (v(0.1, 0, 0.3), v(0.05, 0.1, -0.4))]
    joints = []
    for k, name in enumerate(("one", "two")):
        second = (None, "one")[k]
        if not (free and k == 0):
            extra = {"axis": axes[k], "axis_of_other": axes[k]} if what in ("hinge", "slider") else {}
            made = "hinge" if what == "slider" and k == 0 else what
            joints.append(
                Joint(made, name, second, *pins[k], f"joint_{name}", length=(0.5, 0.7)[k] * (what == "rod"), **extra)
            )
    q = [turned(v(0.4, 0.3, -0.2)), turned(v(-0.3, 0.7, 0.5))]
    if what == "hinge":
        q = chained(axes, (0.7, 0.5), None)
        if free:
            q[0] = turned(v(0.4, 0.3, -0.2))
            q[1] = mx.product(q[0], turned(0.5 * axes[1]))
    if what in ("slider", "weld"):
        q = [turned(v(0.4, 0.3, -0.2) if free else 0.7 * axes[0])] * 2
    gaps = [0.5 * unit(0.6, 0.2, -1), 0.7 * unit(-0.5, 0.4, -1)] if what == "rod" else [None, None]
    if what == "slider":
        gaps = [None, 0.2 * matrix(q[0]) @ axes[1]]
    first = v(0.1, 0.2, -0.3) if free else None
    at = hung(joints, bodies, q, first=first, along=gaps[1:] if free else gaps)
    w = [v(0.6, -0.4, 0.9), v(-0.8, 0.7, 0.5)]
    speed = [v(0.2, 0.1, -0.1), v(-0.1, 0.3, 0.2)]
    return started(f"two_{kind}", bodies, joints, DOWN, at, q, speed, w, 1.0)


def chain_on_rail():
    """Exudyn's TestModels/sphericalJointTest."""
    names = ["one", "two", "three", "four"]
    bodies = [Body(name, 2.0, np.diag(v(6, 1, 6))) for name in names]
    joints = [Joint("point", "one", None, NONE, v(-0.3, 0, 0), "rail", along=np.array([Y, Z]))]
    joints += [Joint("ball", names[k], names[k - 1], v(-0.3, 0, 0.1), v(0.3, 0, 0.1), f"ball_{k}") for k in (1, 2, 3)]
    at = [v(-0.3 + 0.6 * k, 0, 0) for k in range(4)]
    return started("chain_on_rail", bodies, joints, v(0, -9.81, 0), at, [v(1, 0, 0, 0)] * 4, np.zeros((4, 3)),
                   np.zeros((4, 3)), 1.0)  # fmt: skip


KINDS = ("ball", "hinge", "slider", "rod", "free_ball", "free_hinge", "free_slider", "free_weld", "free_rod")
MAKERS = {make.__name__: make for make in (pendulum, top, triple_pendulum, damped_pendulum, ball_chain, satellite,
                                           four_bars, bricard, slider_crank, crane, chain_on_rail)}  # fmt: skip
MAKERS |= {f"two_{kind}": (lambda kind=kind: two(kind)) for kind in KINDS}


# ------------------------------------------------------------------ references
def other_end(given):
    """The end by another formulation, and in words which."""
    if given.name in ("pendulum", "triple_pendulum", "damped_pendulum", "two_hinge", "two_slider"):
        return mx.Tree(given).motion(given.stop), "by the coordinates of the hinges"
    if given.name == "slider_crank":
        angle, rate = mx.slider_crank_motion(given, given.stop)
        return placed_slider_crank(given, angle, rate), "by the crank's angle"
    if given.name == "four_bars":
        return mx.placed_four_bars(*mx.four_bar_motion(2, given.stop)), "by the cranks' angle"
    whole = Redundant(given)
    return whole.state(whole.motion(given.stop, accuracy=3e-12, pieces=PIECES)), "by the same at 3e-12"


def placed_slider_crank(given, angle, rate):
    """State of the slider-crank with its crank at an angle."""
    r, l = (2 * np.linalg.norm(given.joints[k].of_other) for k in (1, 2))
    rod = np.arcsin(r * np.sin(angle) / l)
    turn = r * np.cos(angle) / (l * np.cos(rod)) * rate
    tip, dip = r * v(np.cos(angle), 0, -np.sin(angle)), r * rate * v(-np.sin(angle), 0, -np.cos(angle))
    half, pace = 0.5 * l * v(np.cos(rod), 0, np.sin(rod)), 0.5 * l * turn * v(-np.sin(rod), 0, np.cos(rod))
    return {"position": np.array([tip / 2, tip + half, tip + 2 * half]),
            "attitude": np.array([turned(angle * Y), turned(-rod * Y), [1, 0, 0, 0]]),
            "velocity": np.array([dip / 2, dip + pace, dip + 2 * pace]),
            "angular_velocity": np.array([rate * Y, -turn * Y, NONE])}  # fmt: skip


def finished(given):
    """With its end, reactions at both ends, and what another formulation says."""
    whole = Redundant(given)
    start = whole.flat(given.start)
    other, by = other_end(given)
    if given.name == "four_bars":
        end = whole.flat(other)
        early = 0.4  # the first singular position, at a quarter turn, comes later
        accuracy = mx.distance(
            whole.state(whole.motion(early, pieces=5)), mx.placed_four_bars(*mx.four_bar_motion(2, early))
        )
    else:
        end = whole.motion(given.stop, pieces=PIECES)
        accuracy = mx.distance(whole.state(end), other)
    last = whole.state(end)
    gaps, rates = whole.gaps(end)
    values = whole.rank(start)
    implied = len(gaps) - int((values > 1e-9 * values[0]).sum())
    drift = abs(whole.energy(end) - whole.energy(start))
    print(f"{given.name:16} rows {len(gaps):2}, implied {implied}, another {accuracy:.0e} ({by}), "
          f"gaps {np.abs(gaps).max():.0e}, "
          f"rates {np.abs(rates).max():.0e}, energy {drift:.0e}", flush=True)  # fmt: skip
    assert implied == given.implied, (given.name, values)
    if not given.implied:
        given = replace(given, start=given.start | {"reactions": whole.reactions(start)})
        last |= {"reactions": whole.reactions(end)}
    return replace(given, end=last, accuracy=float(f"{max(accuracy, np.abs(gaps).max()):.1e}"), note=by)


def main():
    known = json.loads(mx.DATA.read_text()) if mx.DATA.exists() else {}
    for name in sys.argv[1:] or MAKERS:
        known[name] = finished(MAKERS[name]()).as_text()
        known = {key: known[key] for key in MAKERS if key in known}
        mx.DATA.write_text("{\n" + ",\n".join(f'"{key}": {json.dumps(one)}' for key, one in known.items()) + "\n}\n")


if __name__ == "__main__":
    main()
