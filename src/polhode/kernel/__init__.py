"""The engine: compilation, signatures of the compiled functions, time loops, Newton's method, sums over pairs.

``jit`` and ``cache`` compile kernels and keep them on disk; ``signatures`` and ``layout`` define the compiled
functions, the workspace of a step and its slots; ``drive`` holds the time loops, ``solve`` Newton's method to
round-off with status codes; ``pairs`` and ``work_sharing`` sum over pairs of bodies.

Nothing here depends on a physical system, a method's coefficients, a Dataset or a file format.
"""
