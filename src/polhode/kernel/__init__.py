"""The engine: compilation, the roles a step may call, the time loop and the Newton solver.

Here live ``jit`` (the only caller of numba), ``signatures`` (the typed roles and the workspace a step sees), ``drive``
(the loop that repeats any step and records), ``solve`` (Newton to round-off with status codes) and ``userfunctions``
(plain Python functions turned into roles).

Nothing here knows a physical system, a method's coefficients, a Dataset or a file format.
"""
