"""Events of the rotors in the bodies of a sum: wheels that are saturated, gimbals at their stops."""

from __future__ import annotations

from math import inf

from polhode.bodies.body import Body
from polhode.systems.carried import Carried
from polhode.systems.event_record import Watch

NAMES = {"wheel_momentum": ("wheel_released", "wheel_saturated"), "gimbal_angle": ("gimbal_released", "gimbal_stopped")}


def watches_of(one: Carried, body: Body, first: int) -> tuple[Watch, ...]:
    """The events of the rotors in a body; ``first``: index in the state of the first variable that loads read."""
    wheels = [] if body.wheels is None else body.wheels.most_momentum
    gyros = [] if body.gyros is None else body.gyros.most_angle
    limits = [("wheel_momentum", k, most, one.wheel_flag(k)) for k, most in enumerate(wheels)]
    limits += [("gimbal_angle", one.gimbals * k + j, most, one.gimbal_flag(k, j))
               for k, angles in enumerate(gyros) for j, most in enumerate(angles)]  # fmt: skip
    return tuple(
        Watch((float(first + one.states[quantity][0] + k), float(most), float(flag)), *NAMES[quantity], cuts=True,
              flag=flag)
        for quantity, k, most, flag in limits if most < inf
    )  # fmt: skip
