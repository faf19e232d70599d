"""The axis of a body and the angle of its prime meridian, as arguments of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from polhode.arguments import number, unit_vector
from polhode.arguments.recorded import called
from polhode.arguments.words import Angle, TableOf, Vector
from polhode.errors import InvalidInput, shown
from polhode.surroundings.earth_axes import earth_orientation

Orientation = Annotated[Mapping[str, Any], TableOf(earth_orientation)]


def oriented(orientation: Any, axis: Vector, angle: Angle) -> tuple[Any, float]:
    """Axis (3,) of unit length and angle of a body, from an orientation in place of them if it is given."""
    if orientation is not None:
        if angle != 0.0 or not np.array_equal(axis, (0.0, 0.0, 1.0)):
            raise InvalidInput("orientation is given beside axis or angle, which follow from it; leave these out")
        given = orientation if isinstance(orientation, Mapping) else {"epoch": orientation}
        try:
            made = given if set(given) == {"axis", "angle"} else called(earth_orientation, given)
        except InvalidInput as refused:
            raise InvalidInput(f"orientation {shown(orientation)}: {refused}") from None
        axis, angle = made["axis"], made["angle"]
    return np.array(unit_vector(axis, "axis")), number(angle, "angle", "rad")
