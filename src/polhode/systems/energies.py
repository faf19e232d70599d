"""Energies of orbit and attitude apart: for a real satellite the second is below the round-off of their sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.bodies.inertia import turning
from polhode.kernel import layout as L
from polhode.systems.carried import Spin


@dataclass(frozen=True)
class Energies:
    """Spin, attitude energy and orbital energy from recorded states."""

    mu: Any
    mass: Any
    moments: Any
    gradient: bool
    spun: tuple[Any, ...] = ()  # axes of wheels and their moments about them, which the others leave out
    spin: Spin | None = None  # of body and rotors

    def of_members(self, mass: Any, moments: Any, parameters: Any) -> Energies:
        """The same with constants of their own for each row: masses (n, N), moments (n, N, 3), parameters (n, P)."""
        spin = self.spin and self.spin.of_members(mass, moments, parameters)
        return Energies(parameters[:, 0, None], mass, np.where(np.isinf(moments), 0.0, moments), self.gradient,
                         self.spun, spin)  # fmt: skip

    def __call__(self, body: Any, read: Any = None) -> dict[str, Any]:
        r, p = body[..., L.POSITION : L.MOMENTUM], body[..., L.MOMENTUM : L.ATTITUDE]
        q, m = body[..., L.ATTITUDE : L.ANGULAR], body[..., L.ANGULAR :]
        size = np.linalg.norm(r, axis=-1)
        attitude = 0.5 * np.sum(m * m / turning(self.moments), axis=-1)
        if self.gradient:
            D = self.moments - self.moments[..., 2:]
            n = rotation.rotate_inverse(q, r) / size[..., None]
            attitude = attitude - 0.5 * self.mu / size**3 * (D.sum(axis=-1) - 3.0 * np.sum(n * n * D, axis=-1))
            if self.spun:
                axes, inertia = self.spun
                attitude = attitude - 0.5 * self.mu / size**3 * ((1.0 - 3.0 * (n @ axes.T) ** 2) @ inertia)
        orbital = 0.5 * np.sum(p * p, axis=-1) / self.mass - self.mu * self.mass / size
        spin = {"spin": rotation.rotate(q, m)} if self.spin is None else self.spin(body, read)
        return {**spin, "attitude_energy": attitude, "orbital_energy": orbital}
