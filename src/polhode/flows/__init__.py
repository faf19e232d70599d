"""Flows: maps that move the state along one part of the dynamics, exactly or nearly. Each docstring says what it keeps.

``kick`` (impulse of the loads), ``drift`` (positions), ``midpoint_lie`` (free rotation by the midpoint Lie algorithm),
``rotors`` (free rotation split into exact rotations). A flow changes the state in a ``Workspace`` in place, for all
bodies, and returns a status where it can fail.

Here may not live: coefficients of methods, systems, time loops.
"""
