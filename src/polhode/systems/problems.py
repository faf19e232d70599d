"""Ready-made problems from papers: a system with its initial state, step and end time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import pi, sqrt
from typing import Any

from polhode.arguments import choice
from polhode.systems.free_body import free_body
from polhode.systems.gravity_gradient import gravity_gradient
from polhode.systems.heavy_top import heavy_top
from polhode.systems.orbit import orbit
from polhode.systems.record import System
from polhode.systems.soft_wall import soft_wall


@dataclass(frozen=True)
class ReadyMade:
    """A problem from a paper, as printed there.

    Attributes
    ----------
    description, cite : str
        One-line description; key in ``references.bib``.
    build : function
        Builds the system.
    initial : mapping
        Initial state: of a rotating body, ``rotation_vector`` (rad) and ``angular_velocity`` or ``angular_momentum``
        (body frame); of a translating body, ``position`` and ``velocity`` or ``momentum`` (space frame).
    step, t_end : float
        A suitable step, and the end time of the paper.
    """

    description: str
    cite: str
    build: Callable[[], System]
    initial: Mapping[str, Any]
    step: float
    t_end: float


lagrange = partial(heavy_top, inertia=(5.0, 5.0, 1.0), center_of_mass=(0.0, 0.0, 1.0), weight=20.0)
carson = partial(orbit, mu=3200.9998)  # [carson2005, table 1], in km, s, kg
box = partial(free_body, (5.2988, 1.1775, 4.3568))  # [holzinger2021, 7.1]

PROBLEMS: dict[str, ReadyMade] = {
    "krysl_free_body": ReadyMade(
        "Torque-free motion of McLachlan and Zanna's body", "krysl2006",
        lambda: free_body((0.9144, 1.098, 1.66)),
        {"angular_velocity": (0.45549, 0.82623, 0.03476)}, 0.125, 100.0,
    ),
    "krysl_slow_top": ReadyMade(
        "Slow Lagrangian top", "krysl2006", lagrange,
        {"rotation_vector": (0.05, 0.0, 0.0), "angular_velocity": (0.0, 0.0, 5.0)}, 0.0125, 20.0,
    ),
    "krysl_fast_top": ReadyMade(
        "Fast Lagrangian top", "krysl2006", lagrange,
        {"rotation_vector": (0.3, 0.0, 0.0), "angular_velocity": (0.0, 0.0, 50.0)}, 0.0025, 20.0,
    ),
    "asymmetric_top": ReadyMade(
        "Asymmetric heavy top with its centre of mass off every axis", "celledoni2008",
        lambda: heavy_top((1.0, 1.5, 2.2), (0.1, 0.2, 0.9), 1.0),
        {"rotation_vector": (0.3, 0.1, 0.2), "angular_momentum": (0.6, 1.0, 0.5)}, 0.01, 20.0,
    ),
    "krysl_soft_wall": ReadyMade(
        "Coulomb potential with soft wall contact, sign as printed", "krysl2006", soft_wall,
        {"angular_momentum": (2.0, 2.0, 2.0)}, 0.5, 20000.0,
    ),
    "krysl_soft_wall_physical": ReadyMade(
        "Coulomb potential with soft wall contact, attractive with a repelling wall", "krysl2006",
        lambda: soft_wall(sign="physical"),
        {"angular_momentum": (2.0, 2.0, 2.0)}, 0.005, 200.0,
    ),
    "celledoni_satellite": ReadyMade(
        "Satellite in the gravity gradient, spinning fast", "celledoni2008",
        lambda: gravity_gradient((1.7e4, 3.7e4, 5.4e4), mu=3.986e14, radius=1.5e5),  # as printed: within the Earth
        {"angular_velocity": (15.0, -15.0, 15.0)}, 0.1, 400.0,
    ),
    # The paper averages over random bodies with I1 = 1 and kinetic energy 1, and does not print its seeds.
    "celledoni_perturbed_body": ReadyMade(
        "Body in gravity too weak to matter, one instance of the paper's random ones", "celledoni2008",
        lambda: heavy_top((1.0, 1.6, 2.1), (0.0, 0.0, 1.0), 1e-3),
        {"angular_momentum": (0.6, 0.8, sqrt(2.604))}, 0.1, 20.0,
    ),
    "vilmart_free_body": ReadyMade(
        "Torque-free motion of a book", "vilmart2013", lambda: free_body((0.376, 0.627, 1.0)),
        {"angular_momentum": (0.0, 0.6, -0.8)}, 0.01, 40.0,
    ),
    "holzinger_box": ReadyMade(
        "Torque-free box spinning fast about its middle axis, nearly", "holzinger2021", box,
        {"angular_velocity": (0.01, 0.0, 100.0)}, 1e-3, 1.0,
    ),
    "holzinger_box_vector": ReadyMade(
        "Torque-free box, rotation vector past zero, epsilon = 1", "holzinger2021", box,
        {"rotation_vector": (0.0, -pi / 2, 0.0), "angular_velocity": (0.0, 2 * pi, 2 * pi)}, 2.0**-7, 0.5,
    ),
    "holzinger_box_angles": ReadyMade(
        "Torque-free box past gimbal lock, epsilon = 0.1", "holzinger2021", box,
        {"angular_velocity": (0.0, pi, 0.1 * pi)}, 2.0**-7, 1.0,
    ),
    "holzinger_top": ReadyMade(
        "Fast heavy top that starts on its side", "holzinger2021",
        lambda: heavy_top(
            (0.234375, 0.46875, 0.234375), (0.0, 1.0, 0.0), mass=15.0, gravity=9.81, inertia_about="center_of_mass"
        ),
        {"angular_velocity": (0.0, 150.0, -4.61538)}, 1e-3, 1.0,
    ),
    # The paper gives no step; this one reproduces its figures.
    "carson_circular": ReadyMade(
        "Circular orbit, clockwise, in km and s", "carson2005", carson,
        {"position": (0.0, 1664.029, 0.0), "momentum": (1.386955, 0.0, 0.0)}, 10.0, 86400.0,
    ),
    "carson_elliptic": ReadyMade(
        "Orbit of eccentricity 1/4 from its periapsis, clockwise, in km and s", "carson2005", carson,
        {"position": (0.0, 1664.029, 0.0), "momentum": (1.550663, 0.0, 0.0)}, 10.0, 86400.0,
    ),
}  # fmt: skip
"""The ready-made problems by name."""


def problem(name: str) -> ReadyMade:
    """The ready-made problem of this name.

    Parameters
    ----------
    name : str
        One of ``polhode.systems.PROBLEMS``.

    Raises
    ------
    InvalidInput
        Unknown name; the message suggests the closest.

    Examples
    --------
    >>> import polhode as ph
    >>> ready = ph.systems.problem("holzinger_top")
    >>> ds = ph.integrate(ready.build(), step=ready.step, steps=100, start=ready.initial)
    >>> ready.description, bool(abs(ds.energy_error).max() < 1e-3)
    ('Fast heavy top that starts on its side', True)
    """
    return PROBLEMS[choice(name, "problem", PROBLEMS)]
