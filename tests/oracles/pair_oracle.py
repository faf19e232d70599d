"""Dipolar spheres in plain numpy: the energy as [celledoni2008] prints it, its derivatives by complex steps.

Nothing is shared with polhode. The energy is an analytic function of positions, of turns and of the volume, so that
E(x + i h e) for h = 1e-30 gives derivatives to round-off. R holds rotation matrices, body to space.
"""

from __future__ import annotations

import numpy as np

TINY = 1e-30


def matrix(q):
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4), scalar first."""
    w, x, y, z = np.moveaxis(np.asarray(q), -1, 0)
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def hat(v):
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def energy(r, R, dipole, *, sigma=1.0, epsilon=1.0, attraction=0.0, cutoff=None, switch=None, box=None,
           reaction_field=None):  # fmt: skip
    """Potential energy; numbers may be complex."""
    mu = (R @ np.broadcast_to(dipole, (len(r), 3))[:, :, None])[:, :, 0]
    i, j = np.triu_indices(len(r), 1)
    d = r[i] - r[j]
    if box is not None:
        edges = np.broadcast_to(box, 3)
        d = d - edges * np.rint(np.real(d) / np.real(edges))
    r2 = (d * d).sum(axis=1)
    apart = np.sqrt(r2)
    mine, other, both = (mu[i] * d).sum(axis=1), (mu[j] * d).sum(axis=1), (mu[i] * mu[j]).sum(axis=1)
    V = 4 * epsilon * ((sigma / apart) ** 12 - attraction * (sigma / apart) ** 6)
    V = V + both / apart**3 - 3 * mine * other / apart**5
    if reaction_field is not None:
        e = reaction_field
        V = V - both / cutoff**3 * (1.0 if np.isinf(e) else 2 * (e - 1) / (2 * e + 1))
    if cutoff is not None:
        t = (apart - switch) / (cutoff - switch)
        falling = (1 - t) ** 5 * (1 + 5 * t + 15 * t**2 + 35 * t**3 + 70 * t**4)
        S = np.where(np.real(t) <= 0, 1.0, np.where(np.real(t) >= 1, 0.0, falling))
        V = V * S
    return V.sum()


def loads(r, R, dipole, **law):
    """Forces in space and torques in the body frames, (n, 3) each."""
    n = len(r)
    F, T = np.empty((n, 3)), np.empty((n, 3))
    for i in range(n):
        for k in range(3):
            moved = np.array(r, dtype=complex)
            moved[i, k] += 1j * TINY
            F[i, k] = -energy(moved, R, dipole, **law).imag / TINY
            turned = np.array(R, dtype=complex)
            turned[i] = turned[i] @ (np.eye(3) + 1j * TINY * hat(np.eye(3)[k]))
            T[i, k] = -energy(r, turned, dipole, **law).imag / TINY
    return F, T


def by_volume(r, R, dipole, box, **law):
    """dE/dV of a box whose molecules stay as they are while their centres move along with it."""
    box = np.broadcast_to(np.asarray(box, dtype=float), 3)
    grown = 1.0 + 1j * TINY
    return energy(r * grown, R, dipole, box=box * grown, **law).imag / TINY / (3.0 * np.prod(box))


def rates(r, p, R, m, dipole, mass, moments):
    """Rates of free dipolar spheres with R and m = body angular momenta: the formulas of the paper, in numpy."""
    mu = R @ dipole
    d = r[:, None] - r[None]
    r2 = (d * d).sum(axis=2)
    np.fill_diagonal(r2, np.inf)
    i2 = 1.0 / r2
    i3 = i2 * np.sqrt(i2)
    i5 = i3 * i2
    both, mine, other = mu @ mu.T, np.einsum("ijk,ik->ij", d, mu), np.einsum("ijk,jk->ij", d, mu)
    along = 48.0 * i2**7 + 3.0 * i5 * both - 15.0 * i5 * i2 * mine * other
    F = np.einsum("ij,ijk->ik", along, d)
    F += np.einsum("ij,ik->ik", 3.0 * i5 * other, mu) + np.einsum("ij,jk->ik", 3.0 * i5 * mine, mu)
    E = -i3 @ mu + np.einsum("ij,ijk->ik", 3.0 * i5 * other, d)
    w = m / moments
    T = np.cross(dipole, np.einsum("iba,ib->ia", R, E))
    spin = np.array([hat(x) for x in w])
    return p / mass, F, R @ spin, np.cross(m, w) + T
