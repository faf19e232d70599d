"""Algebra of rotations, Kepler orbits and elliptic functions: the formulas that all other packages use.

From the lowest level up:

``series``
    Functions of a squared angle that lose digits near zero in closed form; all small-angle branches are here.
``quaternion``, ``so3``, ``euler``, ``charts``, ``printed_charts``
    Tuple kernels: unit quaternions; hat, exp, log, Cayley and their tangent operators; the 24 Euler sequences; updates
    of three-number attitudes, without loss of accuracy and as printed in papers.
``kepler``
    Tuple kernels of Kepler propagation in universal variables.
``vectorised``
    Makes a function of arrays, with checked arguments, of a kernel.
``rotation``, ``orbits``, ``elliptic``
    Public functions (``polhode.rotation``, ``polhode.kepler``, ``polhode.algebra.elliptic``): these kernels over
    arrays.
``variational``
    Public too: discrete Lagrangians, their equations and momenta, over arrays.

Conventions: quaternions are scalar first (w, x, y, z), Hamilton product, body to space, ``x_space = R(q) x_body``;
angles are radians. Kernels take and return plain tuples, matrices as 9 numbers in row order, and check nothing; public
functions take array_like and raise ``InvalidInput`` for bad arguments.

Masses, loads, time steps, methods and Datasets do not belong here. The package imports ``kernel``, ``arguments`` and
``errors`` only.
"""

from __future__ import annotations

from typing import Any

from polhode.lazy import loaded, public_names

_HOMES = {"elliptic": "elliptic", "variational": "variational"}
__all__ = [*_HOMES]
__dir__ = public_names(__all__)


def __getattr__(name: str) -> Any:
    return loaded(__name__, _HOMES, name)
