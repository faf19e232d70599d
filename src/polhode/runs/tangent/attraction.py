"""Derivatives of bodies that attract each other, whose numbers plain kernels find in lanes: Kepler motions in Jacobi
coordinates, and the loads beside these."""

from __future__ import annotations

from math import sqrt

from polhode.algebra import kepler
from polhode.algebra.so3 import add, axpy, dot, scale
from polhode.flows import jacobi
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import helper
from polhode.kernel.tangent_mode import by_numbers, plain, with_derivatives
from polhode.systems import gravitation


@helper
def all_orbits(a, orbits, h):
    """``jacobi.all_orbits``, then the derivatives: one round of Newton's method, which takes them along, about the
    anomaly (b t + r1 . v1 - r . v) / mu."""
    status, n = by_numbers(jacobi.all_orbits, a, orbits, h), jacobi.width_of(orbits + 1)
    for i in range(orbits if status == L.OK else 0):
        r, v, at = jacobi.get_row(a, i, n), jacobi.get_row(a, 3 * n + i, n), jacobi.CHANGED * n + i
        end, velocity = add(r, jacobi.get_row(a, at, n)), add(v, jacobi.get_row(a, at + 3 * n, n))
        mu, r0, eta = a[jacobi.CENTRE * n + i], sqrt(dot(r, r)), dot(r, v)
        b = 2.0 * mu / r0 - dot(v, v)
        zeta, s = mu - b * r0, (plain(b) * plain(h) + dot(plain(end), plain(velocity)) - plain(eta)) / plain(mu)
        G1, G2, G3 = kepler.universal(b, s)
        G0, d = 1.0 - b * G2, ((h - r0 * s) - eta * G2 - zeta * G3) / plain(r0 + eta * G1 + zeta * G2)
        G1, G2 = G1 + d * (G0 - 0.5 * d * b * G1), G2 + d * (G1 + 0.5 * d * G0)
        r1, f = r0 + eta * G1 + zeta * G2, -mu / r0
        F, g, D, E = f * G2, r0 * G1 + eta * G2, f * G1 / r1, -mu * G2 / r1  # f - 1, g, df/dt, dg/dt - 1
        for k in range(3):
            j = at + k * n
            a[j] = with_derivatives(plain(a[j]), (1.0, F * r[k] + g * v[k]))
            a[j + 3 * n] = with_derivatives(plain(a[j + 3 * n]), (1.0, D * r[k] + E * v[k]))
    return status


def rest(part, t, N, y, bodies, parameters, out):
    """What the attraction does beside the orbits: derivatives of all of it less those of what holds the bodies on their
    orbits, where c_i / |c_i|^3 acts between body i and each before it; then the numbers, without what cancels."""
    for k in range(L.LOAD * N):
        out[k] = 0.0
    gravitation.add_pairs(N, y, bodies, parameters, out, False)
    R = get3(y, L.POSITION)
    for i in range(1, N):
        c = axpy(-1.0, R, get3(y, L.BODY * i + L.POSITION))
        R, square = axpy(parameters[2 * N + i], c, R), dot(c, c)
        held = scale(1.0 / (square * sqrt(square)), c)
        f, m = parameters[N + i - 1] * bodies[L.CONSTANTS * i + L.MASS], parameters[i]
        put3(out, L.LOAD * i, axpy(f, held, get3(out, L.LOAD * i)))
        for j in range(i):
            put3(out, L.LOAD * j, axpy(-m * bodies[L.CONSTANTS * j + L.MASS], held, get3(out, L.LOAD * j)))
    by_numbers(gravitation.between_orbits, N, y, bodies, parameters, out)


RULES = ((jacobi.all_orbits, all_orbits),)
"""Pairs (helper, rule), as ``flows.tangent_rules.RULES``."""
