"""Rotations as numbers: the formulas every other room builds on, each written once.

What lives here, from the inside out:

``series``
    Functions of a squared angle that lose digits near zero in closed form; the only home of small-angle switches.
``quaternion``, ``so3``, ``euler``
    Tuple kernels: unit quaternions; hat, exp, log, Cayley and their tangent operators; the 24 Euler sequences.
``rotation``
    The public border: the same kernels over arrays of any shape, with their inputs checked.
``variational``
    Public too: discrete Lagrangians and what follows from them, over arrays.

Conventions: quaternions are scalar first (w, x, y, z), Hamilton product, body to space, ``x_space = R(q) x_body``;
angles are radians. Kernels take and return plain tuples, matrices as 9 numbers in row order, and check nothing;
``rotation`` takes array_like, refuses bad input with ``InvalidInput``, and holds no formula of its own.

What may not live here: masses, loads, time steps, methods, Datasets. The room imports ``kernel`` and ``errors`` only.
"""
