"""The indicators: what each makes of the growth of tangent vectors, as a Dataset by member and time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from polhode.arguments import Array, ArrayLike, whole
from polhode.chaos.growth import WHY, Growth, plan_of, vectors_of
from polhode.display import Progress
from polhode.ensembles.of_scenario import members_of
from polhode.errors import InvalidInput
from polhode.kernel import layout as L, tangent_drive as D
from polhode.lazy import xr
from polhode.methods import Method
from polhode.runs.request import grouped
from polhode.runs.result import release
from polhode.runs.scenario import Scenario
from polhode.runs.tangent.columns import state_names
from polhode.systems.record import System, present_system

Members = int | Mapping[str, Any] | None
Report = Callable[[Progress], None] | bool | None
ROWS = 200  # rows of an indicator of one run where ``every`` does not say how many
BETWEEN = 8  # steps between two orthonormalisations
BLOCKS = 20  # parts of a run by which the error of an exponent is estimated


def lyapunov(
    system: System, method: str | Method | None = None, *, members: Members = None, vectors: ArrayLike = 1,
    between: int = BETWEEN, seed: int = 0, threads: int | None = None, progress: Report = None, **run: Any,
) -> xr.Dataset:  # fmt: skip
    """Lyapunov exponents: the mean rates at which the lengths of tangent vectors grow [benettin1980].

    Parameters
    ----------
    system, method
        As of ``polhode.integrate``; steps of one size.
    members : int or mapping, optional
        What varies, as of ``polhode.ensemble``; one run without it.
    vectors : int or array (vectors, coordinates)
        How many exponents, the largest first, or the vectors to begin with, in the coordinates of
        ``state_transition``; as many as there are coordinates for the spectrum.
    between : int
        Steps between two orthonormalisations.
    seed : int
        Of the vectors that are drawn.
    threads : int, optional
        By default as many as there are processors.
    progress : function or True, optional
        As of ``polhode.ensemble``.
    **run
        ``step``, ``steps`` or ``t_end``, ``every``, initial values, ``start``, ``parameters`` and
        ``settings``, as of ``polhode.integrate``.

    Returns
    -------
    xarray.Dataset
        ``lyapunov`` (member, time, vector): logarithm of the growth over the time, per unit of time; NaN at the start.
        ``exponent`` and ``exponent_error`` (member, vector): at the end, and the standard error by which the mean of
        twenty parts of the run is known, which does not tell how far the run is from the limit. ``status`` and
        ``failure`` as of ``polhode.ensemble``. Without ``members`` there is no dimension ``member``.

    Raises
    ------
    InvalidInput
        An argument is wrong; a method or loads without derivatives.
    Interrupted
        Ctrl-C.

    See Also
    --------
    megno : tells regular from chaotic motion sooner.

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.heavy_top(inertia=(1, 2, 2.5), center_of_mass=(0.5, 0, 1), weight=20.0)
    >>> ds = ph.chaos.lyapunov(top, "v2", step=0.01, steps=4000, every=100, angular_velocity=(2.0, 3.0, 0.5))
    >>> bool(ds.exponent[0] > 0.1)
    True
    """
    found = _grown(locals(), D.ORTHOGONAL, 1, between=whole(between, "between", 1))
    logarithms = found.of_vectors(D.LOGARITHM)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = logarithms / found.elapsed[:, None]
    final, error = _with_error(logarithms, found.elapsed)
    per_time = "1 / unit of time"
    return _dataset(found, members, {
        "lyapunov": (("time", "vector"), rates, "logarithm of the growth over the time", per_time),
        "exponent": (("vector",), final, "Lyapunov exponent", per_time),
        "exponent_error": (("vector",), error, "standard error of the mean of parts of the run", per_time),
    }, "Lyapunov exponents", "benettin1980")  # fmt: skip


def megno(
    system: System, method: str | Method | None = None, *, members: Members = None, vectors: ArrayLike = 1,
    seed: int = 0, threads: int | None = None, progress: Report = None, **run: Any,
) -> xr.Dataset:  # fmt: skip
    """MEGNO, the mean exponential growth of nearby orbits [cincotta2000]: 2 where the motion is regular, else growing.

    Y(t) = (2/t) times the integral of s d(log |v|)/ds over the time, and its mean over the time, which tends to 2 for
    quasi-periodic motion and grows as lambda t / 2 for chaotic motion, lambda being the largest Lyapunov exponent.

    Parameters
    ----------
    vectors : array (coordinates,), optional
        The tangent vector to begin with; drawn unless given.
    system, method, members, seed, threads, progress, **run
        As of ``lyapunov``.

    Returns
    -------
    xarray.Dataset
        ``megno`` (member, time): the mean; ``megno_now``: Y itself; ``final`` (member): the mean at the end;
        ``exponent`` (member): the estimate 2 megno / t of the largest Lyapunov exponent. NaN at the start.

    Raises
    ------
    InvalidInput
        An argument is wrong; a method or loads without derivatives.
    Interrupted
        Ctrl-C.

    See Also
    --------
    lyapunov : the exponents themselves.

    Examples
    --------
    >>> import polhode as ph
    >>> body = ph.free_body((1, 2, 2.5))
    >>> ds = ph.chaos.megno(body, "v2", step=0.05, steps=20000, every=1000, angular_velocity=(0.2, 0.1, 2.0))
    >>> bool(1.8 < ds.final < 2.2)
    True
    """
    found = _grown(locals(), D.SCALED, 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = found.of_vectors(D.MEGNO)[..., 0] / found.elapsed
        now = 2.0 * (found.of_vectors(D.LOGARITHM) - found.of_vectors(D.INTEGRAL) / found.elapsed[:, None])[..., 0]
    return _dataset(found, members, {
        "megno": (("time",), mean, "mean exponential growth of nearby orbits, averaged over the time", "1"),
        "megno_now": (("time",), now, "mean exponential growth of nearby orbits", "1"),
        "final": ((), mean[:, -1], "MEGNO at the end", "1"),
        "exponent": ((), 2.0 * mean[:, -1] / found.elapsed[-1], "estimate of the largest Lyapunov exponent",
                     "1 / unit of time"),
    }, "MEGNO", "cincotta2000")  # fmt: skip


def fli(
    system: System, method: str | Method | None = None, *, members: Members = None, vectors: ArrayLike = 1,
    seed: int = 0, threads: int | None = None, progress: Report = None, **run: Any,
) -> xr.Dataset:  # fmt: skip
    """FLI, the fast Lyapunov indicator [froeschle1997]: the largest logarithm of a tangent vector's growth so far.

    It grows as log t where the motion is regular, and as lambda t where it is chaotic. Of several vectors the largest
    counts.

    Parameters
    ----------
    vectors : int or array (vectors, coordinates)
        How many vectors are drawn, or they themselves.
    system, method, members, seed, threads, progress, **run
        As of ``lyapunov``.

    Returns
    -------
    xarray.Dataset
        ``fli`` (member, time), natural logarithm; ``final`` (member): at the end.

    Raises
    ------
    InvalidInput
        An argument is wrong; a method or loads without derivatives.
    Interrupted
        Ctrl-C.

    Examples
    --------
    >>> import polhode as ph
    >>> ds = ph.chaos.fli(ph.free_body((1, 2, 2.5)), "v2", step=0.05, steps=400, angular_velocity=(0.1, 2.0, 0.1))
    >>> round(float(ds.final), 1)
    4.1
    """
    found = _grown(locals(), D.SCALED, 1)
    largest = found.of_vectors(D.LARGEST).max(axis=-1)
    return _dataset(found, members, {
        "fli": (("time",), largest, "fast Lyapunov indicator, natural logarithm", "1"),
        "final": ((), largest[:, -1], "fast Lyapunov indicator at the end", "1"),
    }, "FLI", "froeschle1997")  # fmt: skip


def sali(
    system: System, method: str | Method | None = None, *, members: Members = None, vectors: ArrayLike = 2,
    seed: int = 0, threads: int | None = None, progress: Report = None, **run: Any,
) -> xr.Dataset:  # fmt: skip
    """SALI, the smaller alignment index [skokos2001]: how far two tangent vectors are from being parallel.

    The smaller of the lengths of v1 + v2 and v1 - v2, unit vectors: it falls to round-off where the motion is chaotic,
    as exp(-(lambda1 - lambda2) t), and stays, or falls as a power of the time, where it is regular.

    Parameters
    ----------
    vectors : array (2, coordinates), optional
        The vectors to begin with; drawn unless given.
    system, method, members, seed, threads, progress, **run
        As of ``lyapunov``.

    Returns
    -------
    xarray.Dataset
        ``sali`` (member, time), between 0 and the root of 2; ``final`` (member): at the end. NaN at the start.

    Raises
    ------
    InvalidInput
        An argument is wrong, or not two vectors, or parallel ones; a method or loads without derivatives.
    Interrupted
        Ctrl-C.

    See Also
    --------
    gali : of more than two vectors, which tells the dimension of a torus.

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.heavy_top(inertia=(1, 2, 2.5), center_of_mass=(0.5, 0, 1), weight=20.0)
    >>> ds = ph.chaos.sali(top, "v2", step=0.01, steps=4000, every=100, angular_velocity=(2.0, 3.0, 0.5))
    >>> bool(ds.final < 1e-3)
    True
    """
    dependent = "the two vectors of SALI are parallel, so that they say nothing; give others"
    found = _grown(locals(), D.SCALED, 2, 2, dependent)
    values = found.numbers[..., D.OF_VECTOR * found.vectors + D.ALIGNED].copy()
    values[:, 0] = np.nan
    return _dataset(found, members, {
        "sali": (("time",), values, "smaller alignment index", "1"),
        "final": ((), values[:, -1], "smaller alignment index at the end", "1"),
    }, "SALI", "skokos2001")  # fmt: skip


def gali(
    system: System, method: str | Method | None = None, *, order: int = 2, members: Members = None,
    vectors: ArrayLike | None = None, seed: int = 0, threads: int | None = None, progress: Report = None, **run: Any,
) -> xr.Dataset:  # fmt: skip
    """GALI, the generalised alignment index of an order [skokos2007]: the volume that unit tangent vectors span.

    It falls as exp(-((lambda1 - lambda2) + ... + (lambda1 - lambda_order)) t) where the motion is chaotic. Where it is
    regular, on a torus of d dimensions, half as many as there are coordinates, it stays if the order is at most d, and
    falls as t to the power -2 (order - d) else: so the orders tell the dimension of a torus. That of order 2 is
    the sine of the angle of two vectors.

    Parameters
    ----------
    order : int
        How many vectors, from 2 to the number of coordinates.
    vectors : array (order, coordinates), optional
        The vectors to begin with, which need not be orthogonal; drawn unless given.
    system, method, members, seed, threads, progress, **run
        As of ``lyapunov``.

    Returns
    -------
    xarray.Dataset
        ``gali`` (member, time), between 0 and 1; ``final`` (member): at the end. NaN at the start. It is computed at
        rows alone, as a product of singular values, of which each is known to about 1e-16.

    Raises
    ------
    InvalidInput
        An argument is wrong, such as vectors that depend on each other; a method or loads without derivatives.
    Interrupted
        Ctrl-C.

    See Also
    --------
    sali : of two vectors, at less cost.

    Examples
    --------
    >>> import polhode as ph
    >>> body = ph.free_body((1, 2, 2.5))
    >>> ds = ph.chaos.gali(body, "v2", order=3, step=0.05, steps=400, angular_velocity=(0.1, 2.0, 0.1))
    >>> bool(0.0 < ds.final <= 1.0)
    True
    """
    order = whole(order, "order", 2, len(state_names(present_system(system))))
    vectors = order if vectors is None else vectors
    dependent = "the vectors of GALI depend on each other linearly, so that they say nothing; give others"
    found = _grown(locals(), D.SCALED, order, order, dependent, volumes=True)
    return _dataset(found, members, {
        "gali": (("time",), found.volumes, f"generalised alignment index of order {order}", "1"),
        "final": ((), found.volumes[:, -1], f"generalised alignment index of order {order} at the end", "1"),
    }, f"GALI of order {order}", "skokos2007")  # fmt: skip


def _grown(
    words: Mapping[str, Any], treatment: int, least: int, most: int | None = None, dependent: str = "", **more: Any
) -> Growth:
    """What is known of the growth of vectors, by the arguments of an indicator."""
    plan = plan_of(words["system"], words["method"], words["members"], words["run"])
    vectors = vectors_of(words["vectors"], plan.system, least, most, dependent)
    rows = None if words["run"].get("every") is not None else ROWS
    given = {name: words[name] for name in ("seed", "threads", "progress")}
    return Growth(plan, vectors, treatment, rows=rows, **{"between": 1, **given, **more})


def _with_error(logarithms: Array, elapsed: Array) -> tuple[Array, Array]:
    """Exponents at the end (M, vectors), and the standard errors of the mean over parts of the run."""
    marks = np.unique(np.linspace(0, len(elapsed) - 1, BLOCKS + 1).astype(int))
    spans = np.diff(elapsed[marks])
    error = np.full((len(logarithms), logarithms.shape[2]), np.nan)
    with np.errstate(invalid="ignore"):  # of exponents that are minus infinity
        rates = np.diff(logarithms[:, marks], axis=1) / spans[:, None]
        error = rates.std(axis=1, ddof=1) / np.sqrt(len(spans)) if len(spans) > 1 else error
    return logarithms[:, -1] / elapsed[-1], error


def _dataset(
    found: Growth, members: object, variables: Mapping[str, tuple[Any, ...]], title: str, cite: str
) -> xr.Dataset:
    """The Dataset of an indicator; without ``members`` of its only run."""
    request = found.request
    made: dict[str, Any] = {
        name: (("member", *dimensions), values, {"long_name": words, "units": units})
        for name, (dimensions, values, words, units) in variables.items()
    }
    failure = [WHY.get(int(k), f"status {int(k)}") if k != L.OK else "" for k in found.status]
    made["status"] = (("member",), found.status, {"long_name": "0 of members that ran to their end"})
    made["failure"] = (("member",), np.array(failure, dtype=object), {"long_name": "why a member failed"})
    coordinates: dict[str, Any] = {"time": ("time", found.times)}
    if any("vector" in dimensions for dimensions, *_ in variables.values()):
        coordinates["vector"] = ("vector", np.arange(found.vectors))
    for name, value in found.plan.varied.values.items():
        label = f"initial_{name}" if name in found.plan.names.starting else name
        extra = tuple(f"{label}_{k}" for k in range(value.ndim - 1))
        coordinates[label] = (("member", *extra), value)
    attributes = {
        "title": f"{title}: {request.system.name}, {request.method.label}, step {abs(found.request.steps.h):g}",  # type: ignore[union-attr]
        "system": request.system.name,
        "method": request.method.label,
        "step": abs(request.steps.h),  # type: ignore[union-attr]
        "citation": cite,
        "polhode_version": release(),
        "coordinates_of_vectors": ", ".join(state_names(request.system)),
    }
    ds = xr.Dataset(made, coordinates, attributes)
    ds.encoding["seconds"] = found.seconds
    return ds.isel(member=0) if members is None else ds


# ------------------------------------------------------------------ of a scenario
INDICATORS = {"megno": megno, "lyapunov": lyapunov, "fli": fli, "sali": sali, "gali": gali}
RECORDED = ("every", "record", "progress")
"""Words of a run that say which rows a trajectory has, and nothing of an indicator."""
LENGTH = ("steps", "t_end", "t_eval")  # words of a run that say how long it is


def indicator_of(
    scenario: Scenario, indicator: str = "megno", *, t_end: float | None = None, vectors: int | None = None,
    seed: int = 0, threads: int | None = None, progress: Callable[[Progress], None] | bool | None = None,
) -> xr.Dataset:  # fmt: skip
    """An indicator of chaos of what a scenario describes."""
    try:
        varied, given = None, grouped(scenario.arguments)
        if scenario.members is not None:
            varied, given = members_of(scenario, scenario.members)
        given = {name: value for name, value in given.items() if name not in RECORDED}
        if t_end is not None:
            given = {name: value for name, value in given.items() if name not in LENGTH} | {"t_end": t_end}
        if vectors is not None:
            given["order" if indicator == "gali" else "vectors"] = vectors
        ds: xr.Dataset = INDICATORS[indicator](
            scenario.system, scenario.method, members=varied, seed=seed, threads=threads, progress=progress, **given
        )
    except InvalidInput as failed:
        failed.args = (f"{scenario.path}: {failed}",)
        raise
    return ds.assign_attrs(scenario.labels, title=f"{ds.attrs['title'].split(':')[0]} of {scenario.title}")
