"""Derivatives of runs with respect to where they start and to parameters: the tangent of the numerical map itself."""
