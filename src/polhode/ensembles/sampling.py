"""Distributions of members: what varies from member to member of an ensemble, and by which design it is drawn.

    varied = ph.ensembles.sampling.members({
        "angular_velocity": ph.ensembles.sampling.normal((0, 0, 1.0), sigma=0.02),
        "attitude": ph.ensembles.sampling.attitude((1, 0, 0, 0), sigma=0.05),
        "inertia": ph.ensembles.sampling.inertia((90, 70, 60), relative=0.05),
    }, 10_000, design="sobol", seed=7)
    ds = ph.ensemble(craft, "v2", members=varied, step=0.1, t_end=60.0)

A distribution is a map from uniform numbers to values: ``Distribution.of(u)`` takes an array (n, ``dimension``) and
returns one value for each row, so every design works with every distribution. Values of a member depend on the seed and
the number of the member alone, not on chunks or threads; with ``design="random"`` also not on the number of members or
on what varies beside.

Numbers are plain, in the units of the quantity they are for; attitudes are unit quaternions (w, x, y, z), body to
space; rotation vectors are in the body frame, in radians.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import sqrt
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode.algebra import rotation
from polhode.arguments import UNKNOWN, Array, array, mapping, number, room_for, truth, whole
from polhode.bodies.inertia import RELATIVE_TOLERANCE, principal, second_moments_from_inertia
from polhode.bodies.inertia.second_moments import KG_M2
from polhode.ensembles.designs import Design
from polhode.ensembles.tables import is_table, member_array, read_table
from polhode.errors import InvalidInput, answering, naming, shown, unknown_name
from polhode.lazy import public_names

__all__ = [
    "Distribution", "Members", "attitude", "choice", "from_record", "inertia", "lognormal", "members", "normal",
    "read_table", "uniform", "uniform_attitude",
]  # fmt: skip
__dir__ = public_names(__all__)

LEAST, MOST = 2.0**-54, 1.0 - 2.0**-53
"""Uniform numbers are moved into this range, so that no quantile is infinite: those of the normal one end at 8.2."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """A distribution of one quantity.

    Attributes
    ----------
    kind : str
        The function of this module that made it.
    arguments : mapping
        Its arguments, as numbers and lists.
    shape : tuple of int
        Shape of a member's value, () for a number.
    dimension : int
        How many uniform numbers a value takes.
    """

    kind: str
    arguments: Mapping[str, Any]
    shape: tuple[int, ...]
    dimension: int
    _values: Callable[[Array], Array] = field(repr=False)

    def of(self, u: ArrayLike) -> Array:
        """Values, n along the first axis, of uniform numbers (n, dimension) from 0 to 1, each from its row alone."""
        given = array(u, "u")
        if given.ndim != 2 or given.shape[1] != self.dimension:
            raise InvalidInput(f"u must have shape (n, {self.dimension}), but has shape {given.shape}")
        columns = np.ascontiguousarray(np.clip(given, LEAST, MOST).T)  # the same loops of NumPy whatever n is
        return np.ascontiguousarray(self._values(columns).reshape(len(given), *self.shape))

    def draw(self, count: int, seed: int | np.random.Generator = 0) -> Array:
        """Independent values along the first axis; ``seed`` is a whole number or a ``numpy.random.Generator``."""
        count = whole(count, "count")
        room_for(2.0 * count * self.dimension, "count")
        generator = seed if isinstance(seed, np.random.Generator) else np.random.default_rng(whole(seed, "seed"))
        return self.of(generator.random((count, self.dimension)))

    def record(self) -> dict[str, Any]:
        """What ``from_record`` makes the distribution from: ``{kind: arguments}``, for JSON and TOML."""
        return {self.kind: dict(self.arguments)}


def _made(
    kind: str, shape: tuple[int, ...], dimension: int, values: Callable[[Array], Array], /, **arguments: Any
) -> Distribution:
    given = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in arguments.items() if value is not None
    }  # fmt: skip
    return Distribution(kind, MappingProxyType(given), shape, dimension, values)


def _normal_quantiles(columns: Array) -> Array:
    from scipy.special import ndtri

    return np.asarray(ndtri(columns))


def _sizes(value: ArrayLike, name: str, shape: tuple[int, ...]) -> Array:
    """Numbers of 0 or above, one for all of a shape or one for each."""
    given = array(value, name, UNKNOWN)
    try:
        sizes = np.broadcast_to(given, shape)
    except ValueError:
        raise InvalidInput(
            f"{name} has shape {given.shape}; give one number, or one for each of shape {shape}"
        ) from None
    if (given < 0.0).any():
        raise InvalidInput(f"{name} is {given.min():g}; it must be 0 or positive")
    return sizes


def _mean(value: ArrayLike, name: str) -> Array:
    given = array(value, name, UNKNOWN)
    if not given.size or given.ndim > 2:
        raise InvalidInput(f"{name} must be a number, a vector or a matrix of numbers, but has shape {given.shape}")
    return given


def _factor(covariance: ArrayLike, length: int) -> Array:
    """Lower triangular L with L L^T = covariance."""
    given = array(covariance, "covariance", UNKNOWN)
    if given.shape != (length, length):
        raise InvalidInput(f"covariance must have shape ({length}, {length}), but has shape {given.shape}")
    if np.abs(given - given.T).max() > RELATIVE_TOLERANCE * np.abs(given).max():
        raise InvalidInput("covariance is not symmetric; give entries [i,j] and [j,i] the same value")
    try:
        return np.asarray(np.linalg.cholesky(given))
    except np.linalg.LinAlgError:
        least = float(np.linalg.eigvalsh(given)[0])
        raise InvalidInput(f"covariance is not positive definite: its smallest eigenvalue is {least:.3g}; leave out "
                           "what does not vary, or correct the correlations") from None  # fmt: skip


def _spread(
    sigma: ArrayLike | None, covariance: Any, shape: tuple[int, ...]
) -> tuple[Callable[[Array], Array], Array | None, Array | None]:
    """A map from standard normal numbers, a row for each coordinate, to those of the given spread; the arguments."""
    if (sigma is None) == (covariance is None):
        raise InvalidInput(f"give {'either sigma or' if sigma is not None else 'sigma or'} covariance"
                           + (", not both" if sigma is not None else ""))  # fmt: skip
    length = int(np.prod(shape, dtype=int))
    if sigma is not None:
        sizes = _sizes(sigma, "sigma", shape).reshape(length, 1)
        return lambda z: sizes * z, array(sigma, "sigma", UNKNOWN), None
    if len(shape) > 1:
        raise InvalidInput(f"covariance needs a mean of shape (n,), but it has shape {shape}; give sigma")
    factor = _factor(covariance, length)

    # sums written out, since those of BLAS depend on the number of columns in the last bit
    return (
        lambda z: np.stack([sum(factor[i, j] * z[j] for j in range(i + 1)) for i in range(length)]),
        None, array(covariance, "covariance", UNKNOWN),
    )  # fmt: skip


@answering
def normal(mean: ArrayLike, sigma: ArrayLike | None = None, *, covariance: ArrayLike | None = None) -> Distribution:
    """Normal distribution of a number, a vector or a matrix.

    Parameters
    ----------
    mean : array_like
        Of any shape of at most two axes, that of the quantity.
    sigma : array_like, optional
        Standard deviations of independent components: one for all, or one for each; 0 keeps a component fixed.
    covariance : array_like (k, k), optional
        In the place of ``sigma``, for a vector of k numbers: symmetric and positive definite.

    Raises
    ------
    InvalidInput
        Both or none of sigma and covariance, shapes that do not fit, negative sigma, a covariance that is not
        symmetric or not positive definite.

    Examples
    --------
    >>> normal((0, 0, 1), sigma=0.1).of([[0.5, 0.5, 0.8413447460685429]]).round(12).tolist()
    [[0.0, 0.0, 1.1]]
    """
    centre = _mean(mean, "mean")
    spread, sizes, matrix = _spread(sigma, covariance, centre.shape)
    flat = centre.reshape(-1, 1)
    return _made("normal", centre.shape, centre.size, lambda u: (flat + spread(_normal_quantiles(u))).T, mean=centre,
                 sigma=sizes, covariance=matrix)  # fmt: skip


@answering
def lognormal(median: ArrayLike, sigma: ArrayLike) -> Distribution:
    """Log-normal distribution: the median times the exponential of normal numbers, always of the sign of the median.

    Parameters
    ----------
    median : array_like
        Median, not 0; the mean is ``median * exp(sigma^2 / 2)``.
    sigma : array_like
        Standard deviation of the logarithm, one for all components or one for each: 0.1 is a spread of about 10 %.

    Raises
    ------
    InvalidInput
        A median of 0, a negative sigma, or shapes that do not fit.

    Examples
    --------
    >>> lognormal(2.2, sigma=0.5).of([[0.5]]).tolist()
    [2.2]
    """
    centre = _mean(median, "median")
    if not centre.all():
        raise InvalidInput("median is 0, which a log-normal quantity never is; take normal")
    flat, sizes = centre.reshape(-1, 1), _sizes(sigma, "sigma", centre.shape).reshape(-1, 1)
    if (sizes > 700.0 / 9.0 - np.log(np.abs(flat)) / 9.0).any():
        raise InvalidInput("sigma is so large that values overflow; it is the standard deviation of the logarithm")
    return _made("lognormal", centre.shape, centre.size, lambda u: (flat * np.exp(sizes * _normal_quantiles(u))).T,
                 median=centre, sigma=array(sigma, "sigma", UNKNOWN))  # fmt: skip


@answering
def uniform(low: ArrayLike, high: ArrayLike) -> Distribution:
    """Uniform distribution between two bounds, of each component by itself.

    Parameters
    ----------
    low, high : array_like
        Bounds, of one shape or one of them a number; ``low`` at most ``high``.

    Raises
    ------
    InvalidInput
        A lower bound above the upper one, or shapes that do not fit.

    Examples
    --------
    >>> uniform((0, -1), (1, 1)).of([[0.25, 0.25]]).tolist()
    [[0.25, -0.5]]
    """
    below, above = _mean(low, "low"), _mean(high, "high")
    try:
        shape = np.broadcast_shapes(below.shape, above.shape)
    except ValueError:
        raise InvalidInput(f"low has shape {below.shape} and high {above.shape}; give both one shape") from None
    first, last = (np.broadcast_to(bound, shape).reshape(-1, 1) for bound in (below, above))
    if (first > last).any():
        k = int(np.argmax((first > last).ravel()))
        raise InvalidInput(f"low is {first[k, 0]:g}, above high, which is {last[k, 0]:g}; exchange them")
    return _made("uniform", shape, first.size, lambda u: (first * (1.0 - u) + last * u).T, low=below, high=above)


@answering
def choice(values: ArrayLike, weights: ArrayLike | None = None) -> Distribution:
    """One of several values.

    Parameters
    ----------
    values : array_like (m, ...)
        Numbers, vectors or matrices, along the first axis.
    weights : array_like (m,), optional
        How often, relative to each other: 0 or positive, not all 0; equally often unless given.

    Raises
    ------
    InvalidInput
        No values, or weights that are negative, all 0, or not one for each.

    Examples
    --------
    >>> choice([1.0, 2.0, 4.0], weights=[1, 1, 2]).of([[0.1], [0.3], [0.6]]).tolist()
    [1.0, 2.0, 4.0]
    """
    given = array(values, "values", UNKNOWN)
    if not given.ndim or not given.size or given.ndim > 3:
        raise InvalidInput(f"values must be a list of numbers, vectors or matrices, but has shape {given.shape}")
    shares = np.ones(len(given)) if weights is None else array(weights, "weights")
    if shares.shape != (len(given),) or (shares < 0.0).any() or not shares.any():
        raise InvalidInput(f"weights must be {len(given)} numbers, 0 or positive and not all 0")
    bounds = np.cumsum(shares / shares.max())
    bounds = bounds / bounds[-1]
    last = int(np.flatnonzero(shares)[-1])

    return _made(
        "choice", given.shape[1:], 1, lambda u: given[np.minimum(np.searchsorted(bounds, u[0], "right"), last)],
        values=given, weights=None if weights is None else shares,
    )  # fmt: skip


@answering
def uniform_attitude() -> Distribution:
    """Attitudes uniform over all rotations, from three uniform numbers [shoemake1992].

    Returns
    -------
    Distribution
        Of unit quaternions (w, x, y, z) of either sign.

    Examples
    --------
    >>> uniform_attitude().draw(1000).shape
    (1000, 4)
    """

    def values(u: Array) -> Array:
        near, far = np.sqrt(1.0 - u[0]), np.sqrt(u[0])
        first, second = 2.0 * np.pi * u[1], 2.0 * np.pi * u[2]
        return np.stack(
            [far * np.cos(second), near * np.sin(first), near * np.cos(first), far * np.sin(second)], axis=1
        )

    return _made("uniform_attitude", (4,), 3, values)


@answering
def attitude(mean: ArrayLike, sigma: ArrayLike | None = None, *, covariance: ArrayLike | None = None) -> Distribution:
    """Attitudes about a mean: ``mean * exp(w)`` with a normal rotation vector w in the body frame.

    Parameters
    ----------
    mean : array_like (4,) or (3, 3), or scipy.spatial.transform.Rotation
        Unit quaternion (w, x, y, z), rotation matrix or SciPy ``Rotation``, body to space.
    sigma : array_like, optional
        Standard deviations of rotations about the body's axes in radians: one for all, or three.
    covariance : array_like (3, 3), optional
        In the place of ``sigma``: covariance of w in rad^2, positive definite.

    Returns
    -------
    Distribution
        Of unit quaternions.

    Raises
    ------
    InvalidInput
        No attitude; otherwise as ``normal``.

    Examples
    --------
    >>> attitude((1, 0, 0, 0), sigma=(0, 0, 0.1)).of([[0.5, 0.5, 0.5]]).tolist()
    [[1.0, 0.0, 0.0, 0.0]]
    """
    centre = rotation.as_quaternion(mean, "mean")
    if centre.shape != (4,):
        raise InvalidInput(f"mean must be one attitude, but there are {int(centre.size // 4)}")
    spread, sizes, matrix = _spread(sigma, covariance, (3,))

    def values(u: Array) -> Array:
        return rotation.multiply(centre, rotation.exp_quaternion(spread(_normal_quantiles(u)).T))

    return _made("attitude", (4,), 3, values, mean=centre, sigma=sizes, covariance=matrix)


@answering
def inertia(mean: ArrayLike, relative: float, *, axes: bool = True) -> Distribution:
    """Inertia of a body whose distribution of mass is uncertain; every draw is one that a body can have.

    Drawn are the second moments of mass J = integral of x x^T dm, which are positive exactly where the moments of
    inertia are positive and satisfy the triangle inequality. With J = A A^T, a draw is A E E^T A^T, where E is lower
    triangular with log-normal numbers on the diagonal and normal ones below it, as in the log-Cholesky parametrisation
    [rucker2022]. Rows of E are scaled so that the mean of J, and with it that of the inertia, is the given one.

    Parameters
    ----------
    mean : array_like (3,) or (3, 3)
        Moments or tensor in the user's body frame; flat bodies stay flat.
    relative : float
        Relative standard deviation of the second moments of mass along the principal axes, 0 to 1. A moment of inertia,
        the sum of two of them, has 0.71 to 1 times that; products of inertia about the principal axes i and j have
        ``relative * sqrt(J_i J_j / 2)``. All to first order.
    axes : bool
        Whether the principal axes vary too. Otherwise only the moments do, independently for each axis of mass.

    Returns
    -------
    Distribution
        Of tensors (3, 3); of moments (3,) if ``mean`` is three moments and the axes do not vary.

    Raises
    ------
    InvalidInput
        No physically possible inertia, or ``relative`` out of its range.

    Examples
    --------
    >>> drawn = inertia((3, 2.5, 1), 0.3, axes=False).draw(100)
    >>> bool((drawn.sum(axis=1) > 2 * drawn.max(axis=1)).all())
    True
    """
    principal(mean, name="mean")
    centre, turned = array(mean, "mean", KG_M2), truth(axes, "axes")
    spread = number(relative, "relative", zero=True, most=1.0)
    second, frame = np.linalg.eigh(second_moments_from_inertia(centre))
    if centre.ndim == 1:  # no rotation at all, not even an exchange of axes
        second, frame = np.diag(second_moments_from_inertia(centre)), np.eye(3)
    root = frame * np.sqrt(np.maximum(second, 0.0))

    def tensors(u: Array) -> Array:
        z = _normal_quantiles(u)
        lower = {(i, i): np.exp(0.5 * spread * z[i]) for i in range(3)}
        if turned:
            lower |= {entry: spread * sqrt(0.5) * z[k] for k, entry in enumerate(((1, 0), (2, 0), (2, 1)), 3)}
        for i, k in lower:
            below = i if turned else 0
            lower[i, k] = lower[i, k] / sqrt(np.exp(0.5 * spread**2) + 0.5 * below * spread**2)
        g = [[sum(root[i, m] * lower[m, k] for m in range(3) if (m, k) in lower) for k in range(3)] for i in range(3)]
        j = {(i, k): g[i][0] * g[k][0] + g[i][1] * g[k][1] + g[i][2] * g[k][2] for i in range(3) for k in range(i + 1)}
        moments = j[1, 1] + j[2, 2], j[2, 2] + j[0, 0], j[0, 0] + j[1, 1]
        if not turned and centre.ndim == 1:
            return np.stack(moments, axis=1)
        out = np.empty((u.shape[1], 3, 3))
        for i in range(3):
            out[:, i, i] = moments[i]
            for k in range(i):
                out[:, i, k] = out[:, k, i] = -j[i, k]
        return out

    shape = (3, 3) if turned else centre.shape
    return _made("inertia", shape, 6 if turned else 3, tensors, mean=centre, relative=spread, axes=turned)


KINDS: dict[str, Callable[..., Distribution]] = {
    made.__name__: made for made in (normal, lognormal, uniform, choice, uniform_attitude, attitude, inertia)
}
"""The distributions, by name."""


def from_record(record: Mapping[str, Any]) -> Distribution:
    """A distribution from its record.

    Parameters
    ----------
    record : mapping
        The name of a distribution, with its arguments: ``{"normal": {"mean": 2.0, "sigma": 0.1}}``.

    Returns
    -------
    Distribution

    Raises
    ------
    InvalidInput
        No such mapping, an unknown distribution, or arguments that it refuses.

    Examples
    --------
    >>> from_record(uniform(1.0, 3.0).record()).of([[0.5]]).tolist()
    [2.0]
    """
    given = mapping(record, "record")
    if len(given) != 1:
        raise InvalidInput(f"record must have one key, the name of a distribution, but has {len(given)}; "
                           f"known here: {', '.join(KINDS)}")  # fmt: skip
    ((kind, arguments),) = given.items()
    if kind not in KINDS:
        raise unknown_name("distribution", kind, KINDS)
    return KINDS[kind](**mapping(arguments, kind))


class Members(Mapping[str, Array]):
    """What varies from member to member, and how it is drawn; made by ``members``.

    A mapping of names to arrays with the member axis first. ``rows`` returns those of a range of members, which are the
    same numbers, so that ensembles of any size are drawn in parts.

    Attributes
    ----------
    count : int
        Number of members.
    design, seed : str, int
        How distributions are drawn.
    """

    def __init__(self, varied: Mapping[str, Distribution | Array], count: int, design: str, seed: int) -> None:
        self.count, self.design, self.seed = count, design, seed
        self._varied = dict(varied)
        drawn = {name: what.dimension for name, what in varied.items() if isinstance(what, Distribution)}
        self._design = Design(design, count, drawn, seed)

    def rows(self, first: int, stop: int, names: Iterable[str] | None = None) -> dict[str, Array]:
        """Arrays (stop - first, ...) of members ``first`` to ``stop``, of all names or some."""
        if not 0 <= first <= stop <= self.count:
            raise InvalidInput(f"members {first} to {stop} are asked for, but there are {self.count}")
        wanted = [self._named(name) for name in (self._varied if names is None else names)]
        drawn = [name for name in wanted if isinstance(self._varied[name], Distribution)]
        widths = [what.dimension for what in map(self._varied.get, drawn) if isinstance(what, Distribution)]
        room_for(2.0 * (stop - first) * sum(widths), "members")
        points = self._design.rows(first, stop, drawn) if drawn else {}
        pairs = ((name, self._varied[name]) for name in wanted)
        return {name: what.of(points[name]) if isinstance(what, Distribution) else what[first:stop]
                for name, what in pairs}  # fmt: skip

    def record(self) -> dict[str, Any]:
        """A description for JSON: count, design, seed, and of each name its distribution or a digest of its array."""
        varied = {
            name: what.record() if isinstance(what, Distribution) else {"array": {
                "shape": list(what.shape), "sha256": hashlib.sha256(what.tobytes()).hexdigest()}}
            for name, what in self._varied.items()
        }  # fmt: skip
        return {"count": self.count, "design": self.design, "seed": self.seed, "members": varied}

    def __getitem__(self, name: str) -> Array:
        return self.rows(0, self.count, [name])[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._varied)

    def __len__(self) -> int:
        return len(self._varied)

    def __repr__(self) -> str:
        return f"Members({self.count} of {', '.join(self._varied)}; design {self.design!r}, seed {self.seed})"

    def _named(self, name: str) -> str:
        if name not in self._varied:
            raise unknown_name("quantity of the members", name, self._varied)
        return name


@answering
def members(varied: Any, count: int | None = None, *, design: str = "random", seed: int = 0) -> Members:
    """What varies over the members of an ensemble, for ``ph.ensemble(..., members=...)``.

    Parameters
    ----------
    varied : mapping, path, pandas.DataFrame or xarray.Dataset
        Of each name a ``Distribution``, its record, or an array with the member axis first; or a table of such arrays,
        see ``read_table``. Names are initial quantities (``angular_velocity``), arguments of the system (``mass``),
        ``parameters``, ``rtol`` or ``atol``.
    count : int, optional
        Number of members; may be left out where there is an array.
    design : {"random", "latin_hypercube", "sobol"}
        How the distributions are drawn, all together; see ``polhode.ensembles.designs``. Sobol sequences and Latin
        hypercubes need fewer members for smooth results.
    seed : int
        From 0 to 2^63 - 1. The same seed draws the same members.

    Raises
    ------
    InvalidInput
        Nothing that varies, arrays of unequal lengths, numbers that are not finite (the message names the member),
        distributions without a count, an unknown design, a seed out of range.
    FileProblem
        The table cannot be read.

    Examples
    --------
    >>> drawn = members({"mass": uniform(1.0, 2.0), "velocity": [(0, 0, 1), (0, 0, 2)]}, seed=3)
    >>> drawn.count, drawn["mass"].shape, drawn["velocity"].shape
    (2, (2,), (2, 3))
    """
    given = read_table(varied) if is_table(varied) else mapping(varied, "varied")
    if not given:
        raise InvalidInput("varied is empty; give at least one quantity that varies")
    read: dict[str, Distribution | Array] = {}
    for name, what in given.items():
        if isinstance(what, Mapping):
            with naming(record=f"{shown(name)} of members"):
                what = from_record(what)
        read[name] = what if isinstance(what, Distribution) else member_array(what, name)
    lengths = {name: len(what) for name, what in read.items() if not isinstance(what, Distribution)}
    number_of = None if count is None else whole(count, "count", 1)
    if number_of is None and not lengths:
        raise InvalidInput("count is missing; say how many members to draw: "
                           "polhode.ensembles.sampling.members(varied, count)")  # fmt: skip
    first = next(iter(lengths), "count")
    total = lengths[first] if number_of is None else number_of
    for name, length in lengths.items():
        if length != total:
            other = f"{first} has {total}" if number_of is None else f"count is {total}"
            raise InvalidInput(f"members are of unequal numbers: {name} has {length} entries, but {other}; give one "
                               "entry for each member")  # fmt: skip
    return Members(read, total, design, seed)
