"""The tables of a circular path, of the air and of the light that plates meet."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from polhode.runs.scenario.values import Angle, Length, Number, Place, Rate, Table, Time, Vector
from polhode.systems.words import Unit


class CirclePath(Table):
    """A circle about the centre."""

    radius: Length
    period: Annotated[Time, Field(description="time of one turn; negative: clockwise")]
    phase: Annotated[Angle, Field(description="rad, at time 0, from the ascending node on z = 0, or from x")] = 0.0
    normal: Vector | None = None


class Atmosphere(Table):
    """Air that plates meet."""

    density: Annotated[Number, Unit("kg_m3"), Field(description="at radius")] | None = None
    radius: Length | None = None
    scale: Annotated[Length, Field(description="height in which the density falls by e")] | None = None
    table: Annotated[list[list[Number]], Field(description="rows of radius and density")] | None = None
    rotation: Annotated[Rate, Field(description="rad / time")] | None = None
    axis: Vector | None = None


class Sunlight(Table):
    """Light that plates meet."""

    pressure: Annotated[Number, Unit("N_m2"), Field(description="in full light, on a black plate that faces the Sun")]
    direction: Annotated[Vector, Field(description="towards a Sun infinitely far away")] | None = None
    position: Place | None = None
    times: Annotated[list[Number], Unit("s")] | None = None
    positions: Annotated[list[Vector], Unit("m")] | None = None
    circle: CirclePath | None = None
    distance: Annotated[Length, Field(description="from the Sun, where the pressure is the one given")] | None = None
    shadow: Literal["none", "cylinder", "cone"] | None = None
    radius: Annotated[Length, Field(description="of the body that casts the shadow")] | None = None
    sun_radius: Length | None = None
