"""A function run once on symbols becomes a straight-line program, from which all else follows.

``trace`` runs a plain Python function on tracers and writes down what it computes; ``graph`` holds what was written
down, ``primitives`` what a program looks up in tables; ``derive`` differentiates it, and makes loads, commutator loads
and rates of it; ``series`` turns it into Taylor coefficients; ``text`` writes any of these as the plain Python of a
helper, which is compiled and cached like any other. ``roles`` puts the results into the roles of a system.
"""
