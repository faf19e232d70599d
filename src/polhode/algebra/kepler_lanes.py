"""``kepler.short_motion`` of several points at once, each in a lane (SIMD)."""

from __future__ import annotations

from polhode.algebra import kepler
from polhode.kernel.jit import bind, helper
from polhode.kernel.simd import below

short_orbits = helper(bind(kepler.short_motion, within=below))
"""It takes and returns lanes; bit i of the integer is set where point i was solved. ``every``: the bits of all."""
