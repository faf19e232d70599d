"""Reductions over the members of an ensemble, taken while it runs, so that memory does not grow with its members.

    ds = ph.ensemble(craft, "v2", members=varied, step=0.1, t_end=60.0, reduce=[
        ph.ensembles.reductions.mean("attitude"), ph.ensembles.reductions.covariance("attitude"),
        ph.ensembles.reductions.quantiles("rate", of=lambda block: (block.angular_velocity**2).sum("axis") ** 0.5),
    ])

Each reduction takes a variable of the trajectories, or a function ``of`` of a block: the Dataset of some members, with
the dimension ``member``, from which it computes a variable with the same ``member`` axis. The result is a Dataset
without that dimension: ``attitude_mean`` (time, quaternion), ``rate_quantile`` (quantile, time), and so on.
``ph.ensembles.reductions.apply`` does the same with the members of a Dataset.

A member counts at the rows where its values are finite: one that failed counts until then; ``<name>_count`` says how
many did.

**Order.** Members are summed up in batches of 512 by their numbers (0 to 511, and so on), whatever blocks they come in,
and batches are merged in pairs, the pairs in pairs, each time the lower numbers first. So engines, threads and sizes of
blocks change no bit. What lies in memory is a summary for each batch count's binary digit, a dozen for 10^6 members,
and the batches that are not complete.
"""

from __future__ import annotations

from polhode.lazy import public_names
from polhode.trajectory.reductions import (
    Reduction,
    Running,
    apply,
    covariance,
    crossings,
    events,
    extremes,
    mean,
    quantiles,
    reductions_from,
    std,
    user,
)

__all__ = [
    "Reduction", "Running", "apply", "covariance", "crossings", "events", "extremes", "mean", "quantiles",
    "reductions_from", "std", "user",
]  # fmt: skip
__dir__ = public_names(__all__)
