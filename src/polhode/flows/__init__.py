"""Flows: maps that advance the state along one part of the dynamics, exactly or approximately.

``kick`` (impulse of the loads), ``drift`` and ``kepler`` (positions), and free rotation: ``free_rotation`` (exact),
``elliptic_forms``, ``semiexact``, ``dmv``, ``rotors``, ``midpoint_lie``, ``implicit_midpoint``; ``taylor`` (rotation
under a torque that depends on the vertical). A flow changes the state in a ``Workspace`` in place and returns a status
where it can fail; its docstring says which invariants it keeps.

Coefficients of methods, systems and time loops do not belong here.
"""
