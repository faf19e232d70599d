"""Indicators of chaos of runs and of many runs: Lyapunov exponents, MEGNO, FLI, SALI, GALI, from exact tangent maps.

    polhode.chaos.megno(top, "rkn6_14a", step=0.05, t_end=500.0, angular_momentum=[0.3, 0.4, 2.0])
    polhode.chaos.megno(top, "v2", step=0.05, t_end=500.0, members={"angular_momentum": grid})       # a map
    polhode.chaos.lyapunov(top, "rkn6_14a", vectors=6, step=0.05, t_end=5000.0, ...)                  # the spectrum

Tangent vectors are carried along by the derivative of the numerical map itself (``polhode.integrate``, ``tangent=``),
so that of a symplectic map the spectrum pairs and adds up to zero.
"""

from __future__ import annotations

from polhode.chaos.indicators import fli, gali, lyapunov, megno, sali
from polhode.lazy import public_names

__all__ = ["fli", "gali", "lyapunov", "megno", "sali"]
__dir__ = public_names(__all__)
