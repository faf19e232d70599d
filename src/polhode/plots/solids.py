"""Convex solids and spheres drawn without mplot3d: faces, shading, what is in front; for moving pictures.

A camera is a matrix (3, 3) whose rows point right, up and towards the viewer; the projection is parallel. A face of a
convex solid is seen if its normal points towards the viewer, and what sticks out of a seen face is in front of the
solid: so nothing has to be sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from polhode.arguments import Array, ArrayLike, Mask

LIGHT = np.array([-0.42, 0.58, 0.70])
"""Direction of the light: right, up, towards the viewer."""
AMBIENT = 0.74  # brightness of a face that the light does not reach
THINNEST = 0.05  # least side of a cuboid as a part of its largest: a plate or a rod stays visible
WIDEST = 1.4  # largest radius of a cone over its height
SIDES = 16  # sides of a cone, every other one darker: it is seen to spin
AXIS_COLOURS = ("#d55e00", "#009e73", "#0072b2")
"""Of the body's axes x, y, z, and of the faces through which they go."""
PALE = 0.35  # how much white is in the colour of a face


def camera(azimuth: float, elevation: float) -> Array:
    """Camera matrix, z pointing up; angles in radians."""
    toward = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    return looking_along(toward, np.array([0.0, 0.0, 1.0]))


def looking_along(toward: Array, up: Array) -> Array:
    """Camera matrix with the viewer in the direction ``toward`` (unit vector), ``up`` pointing up."""
    up = up - (up @ toward) * toward
    if np.linalg.norm(up) < 1e-9:
        up = np.eye(3)[int(np.argmin(np.abs(toward)))]
        up = up - (up @ toward) * toward
    up = up / np.linalg.norm(up)
    return np.array([np.cross(up, toward), up, toward])


class Solid(NamedTuple):
    """A convex solid in the frame of its body, relative to the point that is drawn at rest."""

    faces: list[Array]  # (k, 3): corners of each face
    normals: Array  # (n, 3): outward unit normals
    colours: Array  # (n, 3): red, green, blue, 0 to 1
    reach: float  # largest distance of a corner from the resting point

    def seen(self, view: Array) -> tuple[list[Array], Array]:
        """Outlines on the screen and colours of the faces that are seen."""
        normals = self.normals @ view.T
        front = np.flatnonzero(normals[:, 2] > 0.0)
        light = LIGHT / np.linalg.norm(LIGHT)
        bright = AMBIENT + (1.0 - AMBIENT) * np.clip(normals[front] @ light, 0.0, None)
        return [self.faces[k] @ view[:2].T for k in front], self.colours[front] * bright[:, None]

    def exit(self, direction: Array) -> tuple[float, int]:
        """How far along a unit vector (body frame) from the resting point the surface is, and through which face."""
        heights = np.array([face[0] @ normal for face, normal in zip(self.faces, self.normals, strict=True)])
        slopes = self.normals @ direction
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.where(slopes > 1e-12, heights / slopes, np.inf)
        k = int(np.argmin(far))
        return max(float(far[k]), 0.0), k


def _solid(faces: list[Array], colours: list[Array]) -> Solid:
    normals = []
    middle = np.concatenate(faces).mean(axis=0)
    for face in faces:
        normal = np.cross(face[1] - face[0], face[2] - face[1])
        normal = normal / np.linalg.norm(normal)
        normals.append(normal if normal @ (face.mean(axis=0) - middle) >= 0.0 else -normal)
    reach = float(max(np.linalg.norm(face, axis=1).max() for face in faces))
    return Solid(faces, np.array(normals), np.array(colours), reach)


def rgb(colour: str) -> Array:
    """Red, green and blue of ``#rrggbb``, 0 to 1."""
    return np.array([int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)])


def mixed(colour: str, pale: float) -> Array:
    """A colour with a part of white."""
    return rgb(colour) * (1.0 - pale) + pale


def sides(moments: Array, mass: float | None = None, thinnest: float = THINNEST) -> Array:
    """Sides of the cuboid of uniform density with these principal moments; without a mass, such that the largest is 1.

    From the moments m (b^2 + c^2)/12, ... of a cuboid with sides a, b, c follows a^2 = 6 (I_y + I_z - I_x)/m. Moments
    that no body has give a side of zero; none is drawn thinner than this part of the largest.
    """
    moments = np.asarray(moments, dtype=float)
    largest = float(moments.max())
    if not np.isfinite(largest) or largest <= 0.0:
        return np.ones(3)
    relative = moments / largest
    found = np.sqrt(np.maximum(0.0, 6.0 * (relative.sum() - 2.0 * relative)))
    found = np.maximum(found, thinnest * found.max())
    return found * (np.sqrt(largest / mass) if mass else 1.0 / found.max())


def box(size: ArrayLike, frame: Array | None = None) -> Solid:
    """A cuboid with these sides along the columns of ``frame`` (3, 3); each pair of faces in the colour of its axis."""
    half = 0.5 * np.asarray(size, dtype=float)
    turn = np.eye(3) if frame is None else np.asarray(frame)
    faces, colours = [], []
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        for sign, pale in ((1.0, PALE), (-1.0, PALE + 0.3)):
            corners = np.zeros((4, 3))
            corners[:, k] = sign * half[k]
            corners[:, i] = half[i] * np.array([1, 1, -1, -1])
            corners[:, j] = half[j] * np.array([1, -1, -1, 1])
            faces.append(corners @ turn.T)
            colours.append(mixed(AXIS_COLOURS[k], pale))
    return _solid(faces, colours)


def ellipsoid(axes: ArrayLike, frame: Array | None = None, around: int = 24, along: int = 14) -> Solid:
    """An ellipsoid with these semi-axes along the columns of ``frame``; its octants in two colours, so turns show."""
    turn = np.eye(3) if frame is None else np.asarray(frame)
    u, v = np.linspace(0.0, 2.0 * np.pi, around + 1), np.linspace(0.0, np.pi, along + 1)
    grid = np.stack(
        [np.outer(np.cos(u), np.sin(v)), np.outer(np.sin(u), np.sin(v)), np.outer(np.ones_like(u), np.cos(v))], axis=-1
    ) * np.asarray(axes, dtype=float)
    faces, colours = [], []
    for i in range(around):
        for j in range(along):
            corners = np.array([grid[i, j], grid[i + 1, j], grid[i + 1, j + 1], grid[i, j + 1]])
            if j == 0:
                corners = corners[1:] if np.allclose(corners[0], corners[1]) else corners
            elif j == along - 1:
                corners = corners[:3]
            dark = (np.prod(np.sign(corners.mean(axis=0))) > 0) if around % 4 == 0 else bool((i + j) % 2)
            faces.append(corners @ turn.T)
            colours.append(mixed(AXIS_COLOURS[2], 0.3 if dark else 0.75))
    return _solid(faces, colours)


def ring(axis: Sequence[float] | Array, height: float, radius: float, many: int) -> Array:
    """Points (many, 3) around a unit vector, at a height along it."""
    aside = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    aside /= np.linalg.norm(aside)
    angles = 2.0 * np.pi * np.arange(many) / many
    around = np.cos(angles)[:, None] * aside + np.sin(angles)[:, None] * np.cross(axis, aside)
    return radius * around + height * np.asarray(axis)


def cone(axis: Sequence[float] | Array, height: float, radius: float) -> Solid:
    """A cone standing on its tip, which rests, about the unit vector ``axis``."""
    rim, tip = ring(axis, height, radius, SIDES), np.zeros(3)
    faces = [np.array([tip, rim[k], rim[(k + 1) % SIDES]]) for k in range(SIDES)]
    colours = [mixed(AXIS_COLOURS[2], 0.25 if k % 2 else 0.7) for k in range(SIDES)]
    faces += [np.array([height * np.asarray(axis), rim[k], rim[(k + 1) % SIDES]]) for k in range(SIDES)]
    colours += [mixed(AXIS_COLOURS[0] if k < SIDES // 4 else AXIS_COLOURS[1], 0.3 if k < SIDES // 4 else 0.75)
                for k in range(SIDES)]  # fmt: skip
    return _solid(faces, colours)


def hidden(points: Array, radius: float) -> Mask:
    """Which points (n, 3), as the camera sees them, are behind a sphere about the origin."""
    return (points[:, 2] < 0.0) & (np.hypot(points[:, 0], points[:, 1]) < radius)


def grown(side: Mask) -> Mask:
    """Points of a curve that are on a side, and the first one behind each such part."""
    found = side.copy()
    found[1:] |= side[:-1]
    return found


def near_and_far(points: Array, view: Array) -> tuple[Array, Array]:
    """Of a curve (n, 3) on a sphere, the parts on the near and on the far side, on the screen; gaps are NaN."""
    flat = points @ view.T
    near = flat[:, 2] >= 0.0
    return np.where(grown(near)[:, None], flat[:, :2], np.nan), np.where(near[:, None], np.nan, flat[:, :2])
