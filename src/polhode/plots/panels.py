"""The table of panels: of each its name, what it shows, what it needs of a trajectory, and the function that draws it.

A dashboard is a choice of them by what the trajectory is of; ``polhode plot --panels`` and ``polhode.plots.figure``
take any that a trajectory offers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from polhode.errors import InvalidInput, shown as quoted, unknown_name
from polhode.plots import orbit_panels as orbits, sphere_panels as spheres, time_panels as along
from polhode.plots.shown import Shown
from polhode.plots.style import Axes
from polhode.trajectory.convergence import momentum_errors
from polhode.trajectory.surroundings import place_of_sun

ALONG, SQUARE, WIDE = "along time", "square", "wide"
"""Shapes of panels: with an axis of time; as high as wide; half as high as wide."""


@dataclass(frozen=True)
class Panel:
    """A row of the table."""

    name: str  # as users write it
    words: str  # what it shows
    needs: str  # what a trajectory must have, in words
    offered: Callable[[Shown], bool]  # whether a ``Shown`` has it
    draw: Callable[[Axes, Shown], None]  # of axes and a ``Shown``
    shape: str = ALONG  # ALONG, SQUARE or WIDE
    space: Callable[[Shown], bool] = lambda shown: False  # whether the axes are those of matplotlib's 3-D pictures


def _has(*names: str) -> Callable[[Shown], bool]:
    return lambda shown: all(name in shown for name in names)


def _molecules(shown: Shown) -> bool:
    return "temperature" in shown


def _craft(shown: Shown) -> bool:
    return shown.centre is not None and "attitude" in shown and "velocity" in shown


def _orbit(shown: Shown) -> bool:
    return shown.centre is not None and "velocity" in shown


def _point(shown: Shown) -> bool:
    return "position" in shown and "momentum" in shown and shown.pulling is None and not _molecules(shown)


def _solid(shown: Shown) -> bool:
    return "attitude" in shown and not _molecules(shown)


def _each(name: str, variable: str, words: str, title: str) -> Panel:
    return Panel(name, words, variable, _has(variable), partial(along.draw_each, variable, title))


TABLE = (
    Panel("energy", "error of the energy", "energy_error", _has("energy_error"), along.draw_energy),
    Panel("momenta", "errors of the conserved momenta, or the angular momentum", "angular_momentum_space or totals",
          lambda shown: any(name in shown for name in ("angular_momentum_space", *along.SHORT)), along.draw_momenta),
    Panel("angular_momentum", "components of the angular momentum in space", "angular_momentum_space",
          _has("angular_momentum_space"), along.draw_angular_momentum),
    Panel("energies", "kinetic and potential energy", "kinetic_energy and potential_energy",
          _has("kinetic_energy", "potential_energy"), along.draw_energies),
    Panel("work", "work of each force", "work", _has("work"), along.draw_work),
    Panel("step", "step sizes of a run with a tolerance", "step", lambda shown: "step" in shown and shown.count > 1,
          along.draw_steps),
    Panel("attitude", "quaternion, or the chart that the run integrates in", "attitude", _solid, along.draw_attitude),
    Panel("rates", "angular velocity in the body frame", "angular_velocity",
          lambda shown: "angular_velocity" in shown and not _molecules(shown), along.draw_rates),
    Panel("tilt", "nutation: angle of the axis from the vertical", "attitude", _solid, along.draw_tilt),
    Panel("precession", "turns of the axis about the vertical", "attitude", _solid, along.draw_precession),
    Panel("lvlh", "roll, pitch and yaw relative to the orbit", "attitude and an orbit about a centre", _craft,
          along.draw_lvlh),
    Panel("pointing", "angle of each body axis to nadir", "attitude and an orbit about a centre", _craft,
          partial(along.draw_angles, "nadir", "nadir")),
    Panel("sun", "angle of each body axis to the Sun", "attitude, an orbit, and sunlight",
          lambda shown: _craft(shown) and place_of_sun(shown.ds, [0.0]) is not None,
          partial(along.draw_angles, "sun", "the Sun")),
    _each("wheels", "wheel_momentum", "angular momentum of each wheel", "Momentum of each wheel"),
    _each("torquers", "dipole_command", "dipole moment of each magnetic torquer",
          "Dipole moment of each torquer"),
    _each("gimbals", "gimbal_angle", "angle of each gimbal", "Angle of each gimbal"),
    _each("thrust_time", "thruster_fired", "how long each pulsed thruster has fired",
          "Time of thrust of each thruster so far"),
    Panel("attitude_energy", "energy of the rotation, apart from the orbit's", "attitude", _solid,
          along.draw_attitude_energy),
    Panel("spin", "angular momentum about the centre of mass, apart from the orbit's", "attitude", _solid,
          along.draw_spin),
    Panel("altitude", "height above the central body", "an orbit, and the radius of its centre",
          lambda shown: _orbit(shown) and shown.centre.radius is not None, along.draw_altitude),  # type: ignore[union-attr]
    Panel("distance", "distance from the centre, the heaviest body or the centre of mass", "position",
          lambda shown: "position" in shown and "velocity" in shown and not _molecules(shown), along.draw_distance),
    Panel("relative_position", "where one of two bodies is as seen from the other; of several pairs the distances",
          "a load between two bodies", lambda shown: bool(shown.pairs), along.draw_relative_position),
    Panel("relative_attitude", "angle between the attitudes of two bodies", "a load between two bodies with an inertia",
          lambda shown: bool(shown.turning_pairs), along.draw_relative_attitude),
    Panel("joints", "how far joints are open", "joints", lambda shown: bool(shown.fastenings), along.draw_joints),
    *(Panel(name, f"{words.lower()} of the osculating orbit", "an orbit about a centre or the heaviest body",
            lambda shown: _orbit(shown) or shown.dominated, partial(along.draw_element, name))
      for name, words in along.NAMED.items()),
    Panel("position", "coordinates of the position", "position", _point,
          partial(along.draw_coordinates, "position", "Position in space")),
    Panel("momentum", "components of the momentum", "momentum", _point,
          partial(along.draw_coordinates, "momentum", "Momentum")),
    Panel("temperature", "temperatures of translation and rotation", "temperature", _molecules, along.draw_temperature),
    Panel("orbit", "orbits about the centre, drawn to scale", "an orbit about a centre", _orbit, orbits.draw_orbit,
          SQUARE),
    Panel("system", "orbits of all bodies about the heaviest or the centre of mass", "bodies that attract each other",
          lambda shown: shown.pulling is not None, orbits.draw_system, SQUARE),
    Panel("ground_track", "longitude and latitude below the body", "an orbit, and the rotation of its centre",
          lambda shown: _orbit(shown) and shown.centre.rotation is not None, orbits.draw_ground_track,  # type: ignore[union-attr]
          WIDE),
    Panel("path", "path of a point, in its plane or in space", "position in two or three dimensions",
          lambda shown: _point(shown) and shown.centre is None and len(along.coordinates(shown)) > 1,
          lambda axes, shown: (orbits.draw_space if axes.name == "3d" else orbits.draw_plane)(axes, shown), SQUARE,
          lambda shown: len(along.coordinates(shown)) > 2),
    Panel("phase", "momentum against position", "position and momentum", _point, orbits.draw_phase, SQUARE),
    Panel("polhode", "angular momentum in the body frame, on its sphere", "attitude",
          lambda shown: _solid(shown) and "angular_momentum" in shown, spheres.draw_polhode, SQUARE),
    Panel("axis", "path of the body's z axis in space", "attitude", _solid, spheres.draw_axis_in_space, SQUARE),
    Panel("bodies", "molecules and their dipoles at the end", "molecules", _molecules,
          lambda axes, shown: orbits.draw_bodies(axes, shown.ds), SQUARE, lambda shown: True),
    Panel("rdf", "radial distribution function of the second half", "molecules", _molecules,
          lambda axes, shown: orbits.draw_distances(axes, shown.ds), SQUARE),
)  # fmt: skip
PANELS = {panel.name: panel for panel in TABLE}
"""All panels by name."""
GROUPS = {"elements": tuple(along.NAMED)}
"""Names that stand for several panels."""


@dataclass(frozen=True)
class Kind:
    """What a trajectory is of, and the panels of its dashboard."""

    name: str  # in words
    fits: Callable[[Shown], bool]  # whether a ``Shown`` is of this kind; the first that fits is taken
    panels: tuple[str, ...]  # those that the trajectory does not offer are left out


STEERS = ("wheel_momentum", "dipole_command", "gimbal_angle", "thruster_fired")
KINDS = (
    Kind("molecules", _molecules, ("energy", "momenta", "energies", "temperature", "bodies", "rdf")),
    Kind("a spacecraft with wheels, gyros, torquers or thrusters in pulses",
         lambda shown: _craft(shown) and any(name in shown for name in STEERS),
         ("energy", "rates", "sun", "lvlh", "wheels", "gimbals", "torquers", "thrust_time", "altitude",
          "semi_major_axis", "orbit", "ground_track", "polhode")),
    Kind("spacecraft", _craft, ("energy", "rates", "lvlh", "attitude_energy", "spin", "altitude", "semi_major_axis",
                                "eccentricity", "orbit", "ground_track", "polhode")),
    Kind("bodies that attract each other", lambda shown: shown.pulling is not None,
         ("energy", "momenta", "distance", "semi_major_axis", "eccentricity", "inclination", "system")),
    Kind("an orbit", lambda shown: _orbit(shown) and "attitude" not in shown,
         ("energy", "momenta", "altitude", "semi_major_axis", "eccentricity", "inclination", "node", "orbit",
          "ground_track")),
    Kind("a mechanism", lambda shown: bool(shown.fastenings),
         ("energy", "joints", "energies", "momenta", "rates", "attitude")),
    Kind("a rigid body that also travels", lambda shown: _solid(shown) and "position" in shown,
         ("energy", "momenta", "attitude", "rates", "polhode", "path")),
    Kind("a top",
         lambda shown: _solid(shown) and shown.top is not None and not any(name in shown for name in along.CHARTS),
         ("energy", "momenta", "tilt", "precession", "polhode", "axis")),
    Kind("a rigid body", _solid, ("energy", "momenta", "rates", "attitude", "polhode", "axis")),
    Kind("a point mass on a line", lambda shown: "position" in shown and len(along.coordinates(shown)) == 1,
         ("energy", "position", "momentum", "phase")),
    Kind("a point mass", lambda shown: "position" in shown, ("energy", "momenta", "position", "path", "phase")),
    Kind("a trajectory", lambda shown: True, ("energy", "momenta")),
)  # fmt: skip
"""What dashboards show."""


def kind_of(shown: Shown) -> Kind:
    """What a trajectory is of."""
    return next(kind for kind in KINDS if kind.fits(shown))


def offered(shown: Shown) -> list[Panel]:
    """The panels that a trajectory offers."""
    return [panel for panel in TABLE if panel.offered(shown)]


def usual(shown: Shown) -> list[Panel]:
    """The panels of a trajectory's dashboard."""
    found = [PANELS[name] for name in kind_of(shown).panels if PANELS[name].offered(shown)]
    if not any(panel.name == "altitude" for panel in found) and _orbit(shown):
        at = next((k for k, panel in enumerate(found) if panel.name == "semi_major_axis"), len(found))
        found.insert(at, PANELS["distance"])
    found[1:1] = [PANELS[name] for name in ("relative_position", "relative_attitude") if PANELS[name].offered(shown)]
    if "energies" in (panel.name for panel in found) and "box" in shown and not momentum_errors(shown.ds):
        found = [panel for panel in found if panel.name != "energies"]  # momenta are replaced by it
    if shown.centre is not None and "position" in shown:
        r = shown.thin.all_bodies("position")
        r = r[np.isfinite(r).all(axis=-1)]
        if (np.abs(r[:, 2]) <= 0.01 * np.sqrt(np.einsum("ij,ij->i", r, r))).all():  # in the plane z = 0
            found = [panel for panel in found if panel.name not in ("inclination", "node", "ground_track")]
    if shown.thin.count > 1 and shown.bodies > 1 and not shown.dominated:
        found = [panel for panel in found if panel.name not in along.NAMED or _orbit(shown)]
    return found


def chosen(names: str | Sequence[str], shown: Shown) -> list[Panel]:
    """The panels of these names, which the trajectory must offer."""
    given = [part.strip() for part in names.split(",")] if isinstance(names, str) else names
    if not isinstance(given, list | tuple) or not given or not all(isinstance(name, str) for name in given):
        raise InvalidInput(f"panels must be the name of a panel, or several, not {quoted(names)}")
    found: list[Panel] = []
    for name in given:
        for one in GROUPS.get(name, (name,)):
            if one not in PANELS:
                raise unknown_name("panel", one, [*PANELS, *GROUPS])
            panel = PANELS[one]
            if not panel.offered(shown):
                here = ", ".join(other.name for other in offered(shown))
                raise InvalidInput(
                    f"the panel {one!r} needs {panel.needs}, which this trajectory lacks; it offers {here}"
                )
            if panel not in found:
                found.append(panel)
    return found
