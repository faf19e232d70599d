"""The cases of ``data/tangent_maps.json`` as systems of polhode and arguments of ``integrate``."""

from __future__ import annotations

import numpy as np

import polhode as ph


def driven(t, q, omega, parameters):
    """Damping, and a push that swings."""
    k, s, w = parameters[0], parameters[1], parameters[2]
    return (s * np.sin(w * t) - k * omega[0], -k * omega[1], -k * omega[2])


def field(t, q, parameters):
    """c u_0^2 u_1 + d w_2 u_0 with u and w the third and first row of R(q)."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    u0, u1, w2 = 2 * (x * z - w * y), 2 * (y * z + w * x), 2 * (x * z + w * y)
    return parameters[0] * u0 * u0 * u1 + parameters[1] * w2 * u0


FUNCTIONS = {"damped_body": {"torque": driven}, "in_a_field": {"potential": field}}


def system_of(case):
    """The system of a case."""
    arguments = case["arguments"]
    if case["system"] in FUNCTIONS:
        return ph.rigid_body(**arguments, **FUNCTIONS[case["system"]])
    if case["system"] == "dipoles":
        return ph.dipoles(**arguments)
    return getattr(ph.systems, case["system"])(**arguments)


def run(case, **more):
    """The run of a case, with a row for each step; ``start`` of several bodies is one row for each."""
    start = dict(case["start"])
    return ph.integrate(
        system_of(case),
        case["method"],
        step=case["step"],
        steps=max(case["rows"]),
        **start,
        settings={"guard": False},
        **more,
    )


def coordinates(ds, row):
    """States of a row as in the data: position, momentum, attitude, angular momentum of each body."""
    one = ds.isel(time=row)
    names = [name for name in ("position", "momentum", "attitude", "angular_momentum") if name in one]
    parts = [np.atleast_2d(one[name].values) for name in names]
    return np.concatenate(parts, axis=1)


def distance(found, expected):
    """Largest difference over the size of each vector; attitudes up to their sign."""
    worst, at = 0.0, 0
    widths = {12: (3, 3), 6: (3, 3), 7: (4, 3), 13: (3, 3, 4, 3)}[found.shape[1]]
    for width in widths:
        a, b = found[:, at : at + width], expected[:, at : at + width]
        if width == 4:
            a = a * np.sign((a * b).sum(axis=1, keepdims=True))
        size = np.abs(b).max()
        worst, at = max(worst, np.abs(a - b).max() / (size or 1.0)), at + width
    return worst
