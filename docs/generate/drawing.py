"""Boxes, spheres and curves in space, drawn with light and depth on a dark ground: the pictures of the first page."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image, ImageDraw

GROUND = (11, 20, 36)
SHARP = 2
"""Pixels drawn for one shown, along each edge."""
LIGHT = np.array((-0.45, 0.55, 0.7)) / np.linalg.norm((-0.45, 0.55, 0.7))
"""Direction of the light: right, up, towards the viewer."""


class Scene:
    """A picture of points in space, seen along a direction without perspective; what is drawn later covers.

    Parameters
    ----------
    size : tuple of int
        Pixels.
    towards : array_like (3,)
        Direction to the viewer; z is up.
    scale : float
        Lengths that half of the height shows.
    """

    def __init__(self, size: tuple[int, int], towards: Any, scale: float, middle: tuple[float, float] = (0.5, 0.5)):
        self.size = size
        self.image = Image.new("RGB", (size[0] * SHARP, size[1] * SHARP), GROUND)
        self.pen = ImageDraw.Draw(self.image, "RGBA")
        depth = np.asarray(towards, dtype=float) / np.linalg.norm(towards)
        right = np.cross((0.0, 0.0, 1.0), depth)
        right /= np.linalg.norm(right)
        self.view = np.stack((right, np.cross(depth, right), depth))
        self.zoom = size[1] * SHARP / 2 / scale
        self.origin = np.array((size[0] * middle[0], size[1] * middle[1])) * SHARP

    def seen(self, points: Any) -> np.ndarray:
        """Points as right, up and towards the viewer."""
        return np.asarray(points, dtype=float) @ self.view.T

    def pixels(self, seen: Any) -> list[tuple[float, float]]:
        """Places in the picture."""
        seen = np.atleast_2d(seen)
        x, y = self.origin[0] + self.zoom * seen[:, 0], self.origin[1] - self.zoom * seen[:, 1]
        return list(zip(x.tolist(), y.tolist(), strict=True))

    def ball(self, centre: Any, radius: float, colour: Any, ambient: float = 0.25) -> None:
        """A sphere in the light."""
        (x, y), r = self.pixels(self.seen(centre))[0], radius * self.zoom
        n = max(3, int(np.ceil(r)))
        v, u = np.mgrid[n : -n - 1 : -1, -n : n + 1] / n
        inside = u**2 + v**2
        normal = np.stack((u, v, np.sqrt(np.clip(1 - inside, 0, 1))), axis=-1)
        light = np.clip(ambient + (1 - ambient) * np.clip(normal @ LIGHT, 0, 1), 0, 1)
        shine = np.clip(normal @ ((LIGHT + (0, 0, 1)) / np.linalg.norm(LIGHT + (0, 0, 1))), 0, 1) ** 40
        rgb = np.clip(np.asarray(colour, dtype=float) * light[..., None] + 90 * shine[..., None], 0, 255)
        alpha = np.clip((1.0 - np.sqrt(inside)) * n + 0.5, 0, 1) * 255
        disc = Image.fromarray(np.dstack((rgb, alpha)).astype(np.uint8), "RGBA")
        self.image.paste(disc, (round(x) - n, round(y) - n), disc)

    def curve(self, points: Any, colours: Any, width: float = 2.0, alpha: Any = 255) -> None:
        """A line through points, with a colour for each stretch or one for all."""
        places = self.pixels(self.seen(points))
        colours = np.broadcast_to(np.asarray(colours, dtype=int), (len(places), 3))
        alphas = np.broadcast_to(np.asarray(alpha, dtype=int), (len(places),))
        for k in range(len(places) - 1):
            fill = (*map(int, colours[k]), int(alphas[k]))
            self.pen.line((places[k], places[k + 1]), fill=fill, width=max(1, round(width * SHARP)))

    def box(self, edges: Any, rotation: Any, centre: Any, colours: Any) -> None:
        """A box with edges along the axes of a body; its three visible sides, with a colour for each axis."""
        half, rotation = np.asarray(edges) / 2, np.asarray(rotation)
        for axis in range(3):
            others = [k for k in range(3) if k != axis]
            sign = 1.0 if self.seen(rotation[:, axis])[2] > 0 else -1.0
            corners = []
            for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1)):
                corner = np.zeros(3)
                corner[axis], corner[others[0]], corner[others[1]] = sign, a, b
                corners.append(np.asarray(centre) + rotation @ (corner * half))
            light = 0.35 + 0.65 * max(0.0, float(self.seen(sign * rotation[:, axis]) @ LIGHT))
            fill = tuple(int(c * light) for c in colours[axis])
            places = self.pixels(self.seen(corners))
            self.pen.polygon(places, fill=fill)
            self.pen.line([*places, places[0]], fill=(255, 255, 255, 70), width=SHARP)

    def done(self) -> Image.Image:
        """The finished picture."""
        return self.image.resize(self.size, Image.Resampling.LANCZOS)


def ramp(values: Any, name: str = "plasma", low: float = 0.15, high: float = 0.95) -> np.ndarray:
    """Colours, 0 to 255, of values from 0 to 1."""
    import matplotlib

    chosen = matplotlib.colormaps[name](low + (high - low) * np.asarray(values, dtype=float))
    return (255 * np.asarray(chosen)[..., :3]).astype(int)


def matrices(quaternions: Any) -> np.ndarray:
    """Rotation matrices of quaternions, scalar first."""
    w, x, y, z = np.moveaxis(np.asarray(quaternions, dtype=float), -1, 0)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
