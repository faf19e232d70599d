"""Forces of ``polhode.orbit`` and ``polhode.spacecraft``: zonal gravity, third bodies, drag, sunlight, thrust.

    from polhode import forces, planets
    ph.orbit(planets.EARTH.mu, mass=500.0, forces=[forces.zonal(**planets.EARTH.zonal), forces.thrust(1e-4)])

Each function returns one ``Force``: a record with the functions that are compiled into the loads, and the numbers they
read. A force of your own is such a function too, with an acceleration in plain Python, and a potential if there is one:

    def friction(rate: float) -> forces.Force:
        "Friction that is linear in the velocity."
        return forces.Force("friction", "linear friction", {"rate": rate}, (rate,), slowed)

    def slowed(p, at, mu, t, r, v):
        return (-p[at] * v[0], -p[at] * v[1], -p[at] * v[2])

    forces.add_force(friction)                            # now it has its table in scenarios, forces.friction(rate=...)

All are accelerations, so the path does not depend on the mass of the point; the load is mass times acceleration.
Positions are relative to the centre, in the axes of space; units are any consistent set, the same as those of
``orbit``.

Another body (a third body, the Sun) is at rest (``position``), on a ``circle``, or given by a table (``times`` and
``positions``), interpolated by a cubic spline with "not-a-knot" end conditions. The table must cover every time at
which the loads are evaluated (some methods evaluate slightly beyond their steps); outside it the run stops with
``NotFinite``.

Where loads jump (thrust at ``start`` and ``stop``, a ``cylinder`` shadow) or their derivatives do (the edges of a
``cone``), and at impulses, the run cuts its steps, so that each sees one side only and every method keeps its order:
whether a load is on is a parameter that the run switches, not a function of time. A shadow is detected if a step ends
on its other side; one that lies within a single step is missed, so take steps shorter than the passage.

====== ==================================================================
symbol meaning
====== ==================================================================
r, v   position and velocity of the point
s, d   position of another body, and the vector to it: d = s - r
k      unit vector of the axis of symmetry or of rotation
J_n    zonal coefficient, unnormalised; P_n Legendre's polynomial
rho    density of the air; u velocity relative to the air
====== ==================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from polhode.arguments import choice
from polhode.arguments.recorded import called
from polhode.errors import InvalidInput, shown
from polhode.lazy import public_names
from polhode.loads.thrust import Impulse
from polhode.plugins import Registry
from polhode.surroundings.air import standard_air
from polhode.systems.forces.kinds import (
    drag,
    gravity_field,
    impulse,
    radiation_pressure,
    third_body,
    thrust,
    uniform,
    zonal,
)
from polhode.systems.forces.record import Force

__all__ = [
    "Force",
    "Impulse",
    "add_force",
    "drag",
    "gravity_field",
    "impulse",
    "radiation_pressure",
    "standard_air",
    "third_body",
    "thrust",
    "uniform",
    "zonal",
]
__dir__ = public_names(__all__)

FORCES: Registry[Callable[..., Force]] = Registry({
    build.__name__: build
    for build in (zonal, gravity_field, uniform, third_body, drag, radiation_pressure, thrust, impulse)
})  # fmt: skip
"""Every kind of force by the name of the function that makes it."""


def add_force(build: Callable[..., Force]) -> Callable[..., Force]:
    """Add a kind of force under the name of the function that makes it; returns the function.

    From then on it is a ``kind`` of mappings and scenarios, with keys and units as its signature says, and an attribute
    of ``polhode.forces``; runs with it can be repeated from their files. Adding the same function twice does nothing.

    Parameters
    ----------
    build : function
        Returns a ``Force`` whose ``kind`` is the name of the function, or what another of these functions makes. Its
        arguments are annotated with words of ``polhode.arguments.words`` and described in the section Parameters of its
        docstring.

    Raises
    ------
    InvalidInput
        Not a function, a name that another force has, or an argument whose annotation says nothing to a scenario.

    Examples
    --------
    >>> import polhode as ph
    >>> from polhode.arguments.words import Acceleration
    >>> @ph.forces.add_force
    ... def along_track(size: Acceleration):
    ...     return ph.forces.thrust(size, "velocity")
    >>> craft = ph.orbit(ph.planets.EARTH.mu, forces=[{"kind": "along_track", "size": 1e-5}])
    >>> ds = ph.integrate(craft, step=60.0, steps=90, position=(6878e3, 0, 0), velocity=(0, 7.613e3, 0))
    >>> round(float(ds.energy[-1] - ds.energy[0]))
    411
    """
    return FORCES.add(build, "a force", "a Force")


def force_of(description: object) -> Force:
    """A ``Force``, or one made from its arguments as a mapping with a ``kind``."""
    if isinstance(description, Force):
        return description
    if not isinstance(description, Mapping):
        raise InvalidInput(f"a force must be made by polhode.forces (zonal, drag, ...), not {shown(description)}")
    arguments = dict(description)
    kind = arguments.pop("kind", None)
    try:
        choice(kind, "kind of force", FORCES)
    except InvalidInput as unknown:
        told = str(unknown)
        raise InvalidInput(told + "; add_force makes one of your own known" * ("did you mean" not in told)) from None
    return called(FORCES[kind], arguments)


def __getattr__(name: str) -> Callable[..., Force]:
    """The functions that were added, as attributes of the module."""
    if name.startswith("_") or name not in FORCES:
        raise AttributeError(f"module 'polhode.forces' has no attribute {name!r}")
    return FORCES[name]
