"""How a start may be turned: attitudes in their several forms, and what turns seen from space.

``polhode.integrate`` and the table [initial] of scenarios take the same words for it, and read them here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import array, has, has_quantity
from polhode.errors import InvalidInput

ATTITUDES = ("attitude", "rotation_vector", "euler_angles", "euler_angles_deg")
ANGLES = ("euler_angles", "euler_angles_deg")
TURNING = ("angular_velocity", "angular_momentum", "angular_velocity_space", "angular_momentum_space")
FORMS = (*ATTITUDES, "sequence", *TURNING)
"""All of the words."""


def as_kept(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same start with an attitude as quaternions and what turns in the body frame.

    Parameters
    ----------
    given : mapping
        By name: one of ``attitude`` (quaternions, rotation matrices, or a SciPy ``Rotation``), ``rotation_vector``
        (rad), ``euler_angles`` (rad) and ``euler_angles_deg``, the latter in the order of ``sequence`` (default
        ``"XYZ"``); one of ``angular_velocity`` and ``angular_momentum``, or of these with ``_space``. Other keys, and
        values that are None, mean nothing here.

    Returns
    -------
    dict
        ``attitude``, ``angular_velocity``, ``angular_momentum``, what there is of them.

    Raises
    ------
    InvalidInput
        Two forms of one thing, a sequence without angles, or a value that is none of its kind.
    """
    found = {name: given[name] for name in FORMS if given.get(name) is not None}
    for group in (ATTITUDES, TURNING):
        several = [name for name in group if name in found]
        if len(several) > 1:
            both = "both " if len(several) == 2 else ""
            raise InvalidInput(f"{' and '.join(several)} are {both}given; keep one of them")
    angles = next((name for name in ANGLES if name in found), None)
    if "sequence" in found and angles is None:
        raise InvalidInput("a sequence belongs to euler_angles or euler_angles_deg; leave it out")
    made = {name: found[name] for name in TURNING[:2] if name in found}
    if angles is not None:
        if angles != ANGLES[0] and has_quantity(found[angles]):
            raise InvalidInput("euler_angles_deg is a quantity; give it as euler_angles, which turns it into radians, "
                               "or give plain numbers of degrees")  # fmt: skip
        radians = found[angles] if angles == ANGLES[0] else np.deg2rad(array(found[angles], angles))
        made["attitude"] = rotation.quaternion_from_euler(radians, found.get("sequence", "XYZ"))
    elif "rotation_vector" in found:
        made["attitude"] = rotation.exp_quaternion(found["rotation_vector"])
    elif "attitude" in found:
        q = found["attitude"]
        other = has(q, "as_quat") or array(q, "attitude").shape[-2:] == (3, 3)
        made["attitude"] = rotation.as_quaternion(q) if other else q  # quaternions are read where bodies are known
    for name in TURNING[2:]:
        if name in found:
            attitude = made.get("attitude", (1.0, 0.0, 0.0, 0.0))
            made[name.removesuffix("_space")] = rotation.rotate_inverse(attitude, array(found[name], name))
    return made
