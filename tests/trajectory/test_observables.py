"""Observables against closed forms and plain loops, and their errors against series whose errors are known."""

import re

import numpy as np
import pytest
import scipy
import xarray as xr
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

import polhode as ph
from cover import some
from each import each
from polhode.errors import InvalidInput
from polhode.trajectory import observables

EDGES = np.array([4.0, 5.0, 6.0])


def trajectory(position=None, box=None, attitude=None, velocity=None, spacing=0.5, **more):
    """A Dataset of arrays (time, body, ...)."""
    arrays = {"position": position, "velocity": velocity, "attitude": attitude}
    last = {"attitude": "quaternion"}
    found = {name: (("time", "body", last.get(name, "axis")), a) for name, a in arrays.items() if a is not None}
    n = len(next(iter(found.values()))[1])
    if box is not None:
        found["box"] = ("axis", np.asarray(box, dtype=float))
    return xr.Dataset(found | more, {"time": 1.0 + spacing * np.arange(n)})


def quaternions(rng, *shape):
    """Random attitudes, scalar first."""
    q = rng.normal(size=(*shape, 4))
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def along(directions):
    """Attitudes that take z to these directions."""
    flat = np.asarray(directions, dtype=float).reshape(-1, 3)
    turns = [Rotation.align_vectors([d], [[0.0, 0.0, 1.0]])[0].as_quat()[[3, 0, 1, 2]] for d in flat]
    return np.array(turns).reshape(*np.shape(directions)[:-1], 4)


def cubic(m, spacing=1.0):
    """A simple cubic lattice of m^3 bodies."""
    return spacing * np.stack(np.meshgrid(*[np.arange(m)] * 3, indexing="ij"), axis=-1).reshape(-1, 3).astype(float)


# ------------------------------------------------------------------ pairs
def test_an_ideal_gas_has_g_of_one_for_any_number():
    rng = np.random.default_rng(1)
    for n, rows in ((2, 20000), (60, 200)):
        ds = trajectory(rng.uniform(-9.0, 9.0, (rows, n, 3)) * EDGES, EDGES)
        found = observables.radial_distribution(ds, bins=8)
        assert found.r.values == pytest.approx(np.arange(8) * 0.25 + 0.125)
        z = (found.g - 1.0) / found.g_error
        assert (abs(z) < 3.5).all() and found.g_error.max() < 0.6 and found.g_error[-1] < 0.03


def test_pairs_are_counted_as_a_tree_counts_them():
    rng = np.random.default_rng(2)
    position = rng.uniform(0.0, 1.0, (3, 700, 3)) * EDGES  # more bodies than are looked at together
    far = position + EDGES * rng.integers(-3, 4, position.shape)
    edges = np.linspace(0.0, 2.0, 21)
    expected = np.zeros(20)
    for row in position:
        tree = cKDTree(row, boxsize=EDGES)
        expected += np.diff((tree.count_neighbors(tree, edges) - 700) // 2)
    found = observables.radial_distribution(trajectory(far, EDGES), bins=20)
    expected /= 3.0
    np.testing.assert_array_equal(found["count"], expected)
    shells = 4 / 3 * np.pi * np.diff(edges**3)
    np.testing.assert_allclose(found.g, expected * np.prod(EDGES) / (350 * 699 * shells), rtol=1e-13)


def test_shells_of_a_lattice():
    ds = trajectory(cubic(6)[None].repeat(2, axis=0), [6.0, 6.0, 6.0])
    found = observables.radial_distribution(ds, bins=150, r_max=3.0)
    neighbours = {int(k): int(v) for k, v in enumerate(found["count"].values * 2 / 216) if v}
    squares = {1: 6, 2: 12, 3: 8, 4: 6, 5: 24, 6: 24, 8: 12}
    assert neighbours == {int(np.sqrt(k) / 0.02): v for k, v in squares.items()}
    assert observables.radial_distribution(ds, bins=150, rows=slice(1)).sizes == {"r": 150}


def test_two_bodies_in_free_space():
    distance = np.linspace(1.0, 3.0, 400)
    position = np.zeros((400, 2, 3))
    position[:, 1, 2] = distance
    found = observables.radial_distribution(trajectory(position), bins=6, r_max=3.1)
    assert found.pair_density.values.sum() * 3.1 / 6 == pytest.approx(1.0, rel=1e-12)
    expected = [
        np.clip(hi, 1, 3) - np.clip(lo, 1, 3) for lo, hi in np.arange(7)[np.arange(6)[:, None] + [0, 1]] * 3.1 / 6
    ]
    np.testing.assert_allclose(found.pair_density * 3.1 / 6 * 2, expected, rtol=0, atol=0.006)
    assert observables.radial_distribution(trajectory(position), bins=4)["count"].sum() == 1.0


def test_dipole_correlations_by_a_plain_loop():
    rng = np.random.default_rng(3)
    position, q = rng.uniform(0.0, 1.0, (2, 12, 3)) * EDGES, quaternions(rng, 2, 12)
    mu = rng.normal(size=(12, 3))
    found = observables.dipole_correlations(trajectory(position, EDGES, q), bins=5, dipole=mu)
    kirkwood = observables.kirkwood_factor(trajectory(position, EDGES, q), bins=5, dipole=7.0 * mu)
    sums = np.zeros((3, 5))
    within = np.ones(5)
    for r, turns in zip(position, q, strict=True):
        u = np.array([Rotation.from_quat(a[[1, 2, 3, 0]]).apply(m) / np.linalg.norm(m)
                      for a, m in zip(turns, mu, strict=True)])  # fmt: skip
        for i in range(12):
            for j in range(12):
                d = min((r[i] - r[j] + EDGES * n for n in np.ndindex(3, 3, 3) for n in [np.array(n) - 1]),
                        key=np.linalg.norm)  # fmt: skip
                size = np.linalg.norm(d)
                if i == j or size >= 2.0:
                    continue
                e = d / size
                pair = np.array([1.0, u[i] @ u[j], 3 * (u[i] @ e) * (u[j] @ e) - u[i] @ u[j]])
                sums[:, int(size / 0.4)] += pair / 4
                within[int(size / 0.4) :] += pair[1] / 24
    np.testing.assert_allclose(found["count"], sums[0], rtol=1e-14)
    seen = sums[0] > 0
    np.testing.assert_allclose(found.h110[seen], (sums[1] / np.maximum(sums[0], 1e-9))[seen], rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.h112[seen], (sums[2] / np.maximum(sums[0], 1e-9))[seen], rtol=0, atol=1e-13)
    assert np.isnan(found.h110[~seen]).all() and np.isnan(found.h110_error).all()
    np.testing.assert_allclose(kirkwood.g_K, within, rtol=0, atol=1e-13)
    np.testing.assert_allclose(kirkwood.r, [0.4, 0.8, 1.2, 1.6, 2.0])


@each(
    ("second", "h110", "h112"), [((0, 0, 1), 1, 2), ((0, 0, -1), -1, -2), ((1, 0, 0), 0, 0), ((0, 0.6, 0.8), 0.8, 1.6)]
)
def test_dipoles_above_each_other(second, h110, h112):
    position = np.array([[[0.0, 0, 0], [0, 0, 1.5]]])
    ds = trajectory(position, None, along([[[0, 0, 1], second]]), dipole=(("body", "axis"), [[0, 0, 2.0], [0, 0, 3.0]]))
    found = observables.dipole_correlations(ds, bins=1, r_max=2.0)
    assert (float(found.h110[0]), float(found.h112[0])) == pytest.approx((h110, h112), abs=1e-14)
    np.testing.assert_allclose(observables.total_dipole(ds)[0], [0, 0, 2] + 3.0 * np.array(second), rtol=0, atol=1e-14)


def test_side_by_side_and_independent_dipoles():
    beside = trajectory(np.array([[[0.0, 0, 0], [1.0, 0, 0]]]), None, along([[[0, 0, 1], [0, 0, -1]]]))
    found = observables.dipole_correlations(beside, bins=1, r_max=2.0, dipole=(0, 0, 1))
    assert (float(found.h110[0]), float(found.h112[0])) == (-1.0, 1.0)
    rng = np.random.default_rng(4)
    many = trajectory(rng.uniform(0, 1, (150, 40, 3)) * EDGES, EDGES, quaternions(rng, 150, 40))
    found = observables.dipole_correlations(many, bins=6, dipole=(0, 1, 1))
    for name in ("h110", "h112"):
        assert (abs(found[name] / found[f"{name}_error"]) < 3.5).all() and found[f"{name}_error"][-1] < 0.02
    kirkwood = observables.kirkwood_factor(many, bins=6, dipole=(0, 1, 1))
    assert (abs((kirkwood.g_K - 1) / kirkwood.g_K_error) < 3.5).all() and kirkwood.g_K_error[-1] < 0.15


def test_parallel_dipoles_on_a_lattice():
    position = cubic(6)[None]
    ds = trajectory(position, [6.0] * 3, np.tile([1.0, 0, 0, 0], (1, 216, 1)))
    found = observables.kirkwood_factor(ds, bins=5, r_max=2.75, dipole=(0, 0, 1))  # 0.55, 1.1, 1.65, 2.2, 2.75
    np.testing.assert_allclose(found.g_K, [1, 7, 19, 33, 81], rtol=1e-13)


# ------------------------------------------------------------------ the dielectric constant
def dipole_rows():
    """One dipole that turns at random and its mean-square fluctuation."""
    q = quaternions(np.random.default_rng(5), 300, 2)
    ds = trajectory(None, EDGES, q, dipole=("axis", [0.0, 0.0, 1.5]))
    M = observables.total_dipole(ds).values
    return ds, (M**2).sum(axis=1).mean() - (M.mean(axis=0) ** 2).sum()


def test_the_dielectric_constant_in_any_surroundings():
    ds, fluctuation = dipole_rows()
    assert fluctuation == pytest.approx(2 * 1.5**2, rel=0.1)
    volume, kT = 120.0, 0.7 * 0.25
    y = 4 * np.pi * 3.0 * fluctuation / (3 * volume * kT)
    options = {"temperature": 0.7, "boltzmann": 0.25, "coulomb": 3.0}
    found = observables.dielectric_constant(ds, **options)
    assert float(found.epsilon) == pytest.approx(1 + y, rel=1e-13) and found.attrs["surroundings"] == "conducting"
    assert float(found.fluctuation) == pytest.approx(fluctuation, rel=1e-13)
    ratio = float(found.epsilon_error) / y
    vacuum = observables.dielectric_constant(ds, surroundings=1.0, **options)
    assert (vacuum.epsilon - 1) / (vacuum.epsilon + 2) == pytest.approx(y / 3, rel=1e-12)  # Clausius and Mossotti
    inside = 0.25 * (3 * y + 1 + np.sqrt((3 * y + 1) ** 2 + 8))  # Kirkwood and Froehlich: surroundings of the same kind
    same = observables.dielectric_constant(ds, surroundings=inside, **options)
    assert float(same.epsilon) == pytest.approx(inside, rel=1e-12)
    # Errors by differences: a change of the coupling by a part changes y by that part.
    for surroundings, at in ((1.0, vacuum), (inside, same)):
        more = observables.dielectric_constant(ds, surroundings=surroundings, **options | {"coulomb": 3.0 * (1 + 1e-7)})
        slope = float(more.epsilon - at.epsilon) / 1e-7
        assert float(at.epsilon_error) == pytest.approx(slope * ratio, rel=1e-5)
    with pytest.raises(InvalidInput, match="fluctuates too much"):
        observables.dielectric_constant(ds, surroundings=1.0, **options | {"coulomb": 3.0 * 3.01 / y})
    with pytest.raises(InvalidInput, match="volume is missing"):
        observables.dielectric_constant(ds.drop_vars("box"), 0.7)
    free = observables.dielectric_constant(ds.drop_vars("box"), 0.7, volume=240.0, boltzmann=0.25, coulomb=3.0)
    assert float(free.epsilon) == pytest.approx(1 + y / 2, rel=1e-13)


# ------------------------------------------------------------------ times
def test_autocorrelation_by_plain_sums():
    x = np.random.default_rng(6).normal(size=(37, 3, 2, 2))
    series = xr.DataArray(x, {"time": 0.1 * np.arange(37)}, ("time", "body", "axis", "other"))
    found = observables.autocorrelation(series, 10, blocks=4)
    starts = range(27)
    expected = [[(x[t] * x[t + k]).sum() / 3 for t in starts] for k in range(11)]
    np.testing.assert_allclose(found.correlation, np.mean(expected, axis=1), rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.lag, 0.1 * np.arange(11), rtol=0, atol=1e-15)
    blocks = [np.mean(np.array(expected)[:, a:b], axis=1) for a, b in ((0, 6), (6, 13), (13, 20), (20, 27))]
    np.testing.assert_allclose(found.correlation_error, np.std(blocks, axis=0, ddof=1) / 2, rtol=0, atol=1e-13)
    moved = observables.autocorrelation(series.transpose("axis", "time", "other", "body"), 10, blocks=4)
    np.testing.assert_allclose(moved.correlation, found.correlation, rtol=0, atol=1e-14)


def test_velocities_that_forget():
    """An Ornstein-Uhlenbeck process: <v(0) v(t)> falls by the same part in each row."""
    noise = np.random.default_rng(7).normal(size=(6000, 10, 3)) * np.sqrt(1 - 0.9**2)
    v = scipy.signal.lfilter([1.0], [1.0, -0.9], noise, axis=0)[400:]
    found = observables.velocity_autocorrelation(trajectory(velocity=v), 40, blocks=16)
    z = (found.correlation - 3 * 0.9 ** np.arange(41)) / found.correlation_error
    assert (abs(z) < 4).all() and found.correlation_error.max() < 0.05 and found.lag[-1] == 20.0


def test_a_free_symmetric_top_turns_its_axis_on_a_cone():
    ds = ph.integrate(ph.free_body((2.0, 2.0, 1.0)), "exact", step=0.05, steps=400, angular_velocity=(0.6, 0, 1.6))
    L = np.array([1.2, 0.0, 1.6])
    rate, cosine = np.linalg.norm(L) / 2.0, 0.8
    found = observables.orientational_correlation(ds, lags=100, dipole=(0, 0, 3.0))
    c = cosine**2 + (1 - cosine**2) * np.cos(rate * found.lag)
    np.testing.assert_allclose(found.correlation, c, rtol=0, atol=1e-12)
    second = observables.orientational_correlation(ds, 2, lags=100, dipole=(0, 0, 3.0))
    np.testing.assert_allclose(second.correlation, 1.5 * c**2 - 0.5, rtol=0, atol=1e-12)
    assert float(abs(second.correlation_error).max()) < 1e-12


def test_orientations_of_rank_two_by_plain_sums():
    q = quaternions(np.random.default_rng(8), 20, 2)
    u = Rotation.from_quat(q.reshape(-1, 4)[:, [1, 2, 3, 0]]).apply([0.36, 0.48, 0.8]).reshape(20, 2, 3)
    found = observables.orientational_correlation(trajectory(attitude=q), 2, 5, dipole=(0.36, 0.48, 0.8), blocks=3)
    for k in range(6):
        c = [(u[t] * u[t + k]).sum(axis=-1) for t in range(15)]
        assert float(found.correlation[k]) == pytest.approx(np.mean(1.5 * np.square(c) - 0.5), abs=1e-13)


def test_displacements_of_bodies_on_straight_lines():
    v = np.random.default_rng(9).normal(size=(30, 3))
    t = 0.5 * np.arange(200)[:, None, None]
    ds = trajectory(1e3 + v * t)
    found = observables.mean_square_displacement(ds, 60)
    expected = (v**2).sum(axis=1).mean() * found.lag**2
    np.testing.assert_allclose(found.displacement, expected, rtol=0, atol=1e-14 * (v**2).sum(axis=1).max() * 100**2)
    assert found.displacement[0] == 0.0 and found.displacement_error.max() < 1e-9


def test_displacements_of_a_random_walk():
    steps = np.random.default_rng(10).normal(size=(4000, 8, 3))
    found = observables.mean_square_displacement(trajectory(np.cumsum(steps, axis=0)), 50, blocks=20)
    z = (found.displacement[1:] - 3 * np.arange(1, 51)) / found.displacement_error[1:]
    assert (abs(z) < 3.5).all() and float(found.displacement_error[50]) < 10


def test_two_bodies_on_circles():
    """A run: equal masses a distance 2 apart, of angular velocity 1/2 with G = m = 1."""
    system = ph.gravitating_bodies(mass=(1.0, 1.0))
    ds = ph.integrate(system, step=0.02, steps=800, every=4, position=[[1, 0, 0], [-1, 0, 0]],
                      velocity=[[0, 0.5, 0], [0, -0.5, 0]])  # fmt: skip
    displacement = observables.mean_square_displacement(ds, 60)
    np.testing.assert_allclose(displacement.displacement, 2 - 2 * np.cos(0.5 * displacement.lag), rtol=0, atol=1e-9)
    velocity = observables.velocity_autocorrelation(ds, 60)
    np.testing.assert_allclose(velocity.correlation, 0.25 * np.cos(0.5 * velocity.lag), rtol=0, atol=1e-9)
    assert velocity.lag[1] == pytest.approx(0.08) and velocity.correlation.attrs["units"] == "(length / time)2"
    pairs = observables.radial_distribution(ds, bins=5, r_max=2.5)
    np.testing.assert_allclose(pairs.pair_density * 0.5, [0, 0, 0, pairs["count"][3], pairs["count"][4]])
    slope = observables.drift(ds)
    assert abs(float(slope.slope)) < 1e-12 and slope.attrs["rows"] == 201


# ------------------------------------------------------------------ errors
def correlated(phi, rows, series, seed):
    """Autoregressive series of order one and average zero."""
    noise = np.random.default_rng(seed).normal(size=(rows + 500, series))
    return scipy.signal.lfilter([1.0], [1.0, -phi], noise, axis=0)[500:]


@each("phi", [0.0, 0.5, 0.9])
def test_errors_of_averages_cover(phi):
    x = correlated(phi, 2500, 800, 11)
    found = observables.block_error(x + 3.0)
    z = ((found["mean"] - 3.0) / found.error).values
    assert np.isfinite(z).mean() > 0.99
    z = z[np.isfinite(z)]
    assert 0.7 < (z**2).mean() < 1.2 and (abs(z) < 3).mean() > 0.99
    inefficiency = (1 + phi) / (1 - phi)
    assert 0.9 * inefficiency < float(found.inefficiency.median()) < 1.5 * inefficiency
    naive = x.mean(axis=0) / (x.std(axis=0) / np.sqrt(2500))
    assert phi == 0.0 or (naive**2).mean() > 2.5


@each("phi", some([0.9, 0.0, 0.5], 1))
def test_errors_of_slopes_cover(phi):
    x, t = correlated(phi, 2500, 300, 12), 0.1 * np.arange(2500)
    z, freedom = [], []
    for k in range(300):
        ds = xr.Dataset({"energy": ("time", x[:, k] - 0.02 * t + 5.0)}, {"time": t})
        found = observables.drift(ds)
        z.append((float(found.slope) + 0.02) / float(found.slope_error))
        freedom.append(int(found.degrees_of_freedom))
    z = np.array(z)
    assert np.isfinite(z).mean() > 0.99 and min(freedom) >= 6 * np.isfinite(z).all()
    z = z[np.isfinite(z)]
    assert 0.65 < (z**2).mean() < 1.25 and (abs(z) < 3).mean() > 0.985


def test_series_that_are_too_short_say_so():
    x = correlated(0.99, 300, 50, 13)
    assert np.isnan(observables.block_error(x).error).mean() > 0.95
    ds = xr.Dataset({"energy": ("time", x[:, 0])}, {"time": np.arange(300.0)})
    found = observables.drift(ds)
    assert np.isnan(found.slope_error) and found.batches == 0 and np.isfinite(found.slope)
    assert np.isnan(observables.block_error([1.0, 2.0, 4.0]).error)


def test_given_blocks_and_constants():
    found = observables.block_error([9.0, 1.0, 3.0, 5.0, 9.0], blocks=2)  # averages 2 and 7, the first row left over
    assert float(found["mean"]) == 5.4 and float(found.error) == 2.5 and int(found.block_rows) == 2
    constant = observables.block_error(np.full((100, 2), 7.0))
    assert constant.error.values.tolist() == [0.0, 0.0] and constant.inefficiency.values.tolist() == [1.0, 1.0]
    ds = xr.Dataset({"energy": ("time", [0.0, 2.0, 1.0, 3.0, 3.0, 5.0])}, {"time": np.arange(6.0)})
    found = observables.drift(ds, blocks=3)
    # Averages 1, 2, 4 at 0.5, 2.5, 4.5: slope 3/4, residuals 1/6, -1/3, 1/6, one degree of freedom.
    assert float(found.slope_error) == pytest.approx(np.sqrt((1 / 36 + 1 / 9 + 1 / 36) / 8), rel=1e-13)
    assert float(found.slope) == pytest.approx(6 / 7, rel=1e-13) and int(found.degrees_of_freedom) == 1
    line = observables.drift(xr.Dataset({"energy": ("time", np.full(50, -3.0))}, {"time": np.arange(50.0)}))
    assert (float(line.slope), float(line.slope_error)) == (0.0, 0.0)


def test_series_of_vectors_keep_their_names():
    M = observables.total_dipole(dipole_rows()[0])
    assert M.dims == ("time", "axis")
    found = observables.block_error(M)
    assert found.error.dims == ("axis",) and found["axis"].values.tolist() == ["x", "y", "z"]
    np.testing.assert_allclose(found["mean"], M.mean("time"))


# ------------------------------------------------------------------ what is refused
def test_what_is_refused():
    rng = np.random.default_rng(14)
    ds = trajectory(rng.uniform(0, 4, (40, 5, 3)), EDGES, quaternions(rng, 40, 5))
    refused = (
        (lambda: observables.radial_distribution(ds, r_max=2.1), "at most 2, half the shortest edge"),
        (lambda: observables.radial_distribution(ds, r_max=-1.0), "r_max is -1.0"),
        (lambda: observables.radial_distribution(ds, bins=0), "bins is 0"),
        (lambda: observables.radial_distribution(ds, rows=slice(0, 0)), "no rows"),
        (lambda: observables.radial_distribution(ds.isel(body=[0])), "no pairs"),
        (lambda: observables.radial_distribution(ds, blocks=1), "blocks is 1; 40 rows can be cut into 2 to 40"),
        (lambda: observables.dipole_correlations(ds), "dipole is missing"),
        (lambda: observables.dipole_correlations(ds, dipole=(0, 0, 0)), "length zero"),
        (lambda: observables.total_dipole(ds, dipole=(1, 2)), "dipole must be numbers of the shape"),
        (lambda: observables.dielectric_constant(ds, 0.0, dipole=(0, 0, 1)), "temperature is 0; it must be positive"),
        (lambda: observables.dielectric_constant(ds, 1.0, dipole=(0, 0, 1), surroundings=0.5), "surroundings is 0.5"),
        (lambda: observables.velocity_autocorrelation(ds), "no velocity"),
        (lambda: observables.autocorrelation(np.ones(3)), "series must be a DataArray"),
        (lambda: observables.mean_square_displacement(ds, 39), "lags is 39; with 40 rows"),
        (lambda: observables.mean_square_displacement(ds, 35), "blocks is 8; 5 rows"),
        (lambda: observables.mean_square_displacement(ds.isel(time=[0, 1, 2, 4])), "not equally spaced"),
        (lambda: observables.mean_square_displacement(ds.isel(time=[0])), "needs two rows"),
        (lambda: observables.orientational_correlation(ds, 3, dipole=(0, 0, 1)), "rank is 3"),
        (lambda: observables.drift(ds), "variable is 'energy'"),
        (lambda: observables.drift(ds, "position"), "variable is 'position'"),
        (lambda: observables.drift(ds.assign(energy=ds.time), blocks=2), "blocks is 2"),
        (lambda: observables.drift(ds.assign(energy=ds.time * np.nan)), "energy is not finite"),
        (lambda: observables.block_error([1.0, np.inf]), "finite"),
        (lambda: observables.block_error([]), "^the series has no rows"),
    )
    for call, words in refused:
        with pytest.raises(InvalidInput, match=words):
            call()
    torn = ds.copy(deep=True)
    torn.position[7, 2, 1] = np.inf
    with pytest.raises(InvalidInput, match="position is not finite in row 7"):
        observables.mean_square_displacement(torn)


# ------------------------------------------------------------------ units
SI = {"length": 1e-9, "time": 1e-12, "mass": 1.66053906660e-27, "charge": 1.602176634e-19}
"""One of each molecular unit (nm, ps, u, e) in SI."""
K_B, COULOMB = 1.380649e-23, 8.9875517923e9
SIGMA, EPSILON = 0.316, 0.65e3 / 6.02214076e23
"""Units of reduced numbers: a length in nm, an energy in J; the mass u, and 4 pi epsilon_0 is 1."""


def in_units(kind):
    """The same molecules in molecular units, in SI and in reduced units, and what a length, a time, a speed, a dipole
    and a temperature are multiplied by."""
    rng = np.random.default_rng(21)
    position, velocity = rng.uniform(0, 3, (64, 20, 3)), rng.normal(size=(64, 20, 3))
    attitude, dipole = quaternions(rng, 64, 20), np.tile([0.0, 0.0, 0.05], (20, 1))
    length, time, moment, heat, label, more = 1.0, 1.0, 1.0, 1.0, "molecular", {}
    if kind == "SI":
        length, time, moment, label = SI["length"], SI["time"], SI["charge"] * SI["length"], "SI"
    elif kind == "reduced":
        length = 1.0 / SIGMA
        time = SI["time"] / (SIGMA * SI["length"] * np.sqrt(SI["mass"] / EPSILON))
        moment = SI["charge"] * SI["length"] * np.sqrt(COULOMB / (EPSILON * (SIGMA * SI["length"]) ** 3))
        heat, label = K_B / EPSILON, "consistent"
        more = {"boltzmann": ((), 1.0), "coulomb": ((), 1.0)}
    more |= {"dipole": (("body", "axis"), moment * dipole), "energy": ("time", rng.normal(size=64))}
    ds = trajectory(length * position, np.full(3, 3.0) * length, attitude, velocity * length / time, 0.5 * time, **more)
    ds = ds.assign_coords(time=ds.time * 0 + time * (1.0 + 0.5 * np.arange(64))).assign_attrs(units=label)
    return ds, {"length": length, "time": time, "speed": length / time, "dipole": moment, "heat": heat}


see = observables
OBSERVABLES = {
    # name: (call of a Dataset and the sizes of its units, variables that are compared, the power of each size in them)
    "radial_distribution": (lambda ds, s: see.radial_distribution(ds, 6), ("g", "count"), {}),
    "dipole_correlations": (lambda ds, s: see.dipole_correlations(ds, 6), ("h110", "h112"), {}),
    "kirkwood_factor": (lambda ds, s: see.kirkwood_factor(ds, 6), ("g_K",), {}),
    "total_dipole": (lambda ds, s: see.total_dipole(ds).to_dataset(), ("M",), {"dipole": 1}),
    "dielectric_constant": (
        lambda ds, s: see.dielectric_constant(ds, 300.0 * s["heat"]), ("epsilon", "epsilon_error"), {},
    ),
    "autocorrelation": (lambda ds, s: see.autocorrelation(ds.position, 9), ("correlation",), {"length": 2}),
    "velocity_autocorrelation": (lambda ds, s: see.velocity_autocorrelation(ds, 9), ("correlation",), {"speed": 2}),
    "orientational_correlation": (lambda ds, s: see.orientational_correlation(ds, 2, 9), ("correlation",), {}),
    "mean_square_displacement": (lambda ds, s: see.mean_square_displacement(ds, 9), ("displacement",), {"length": 2}),
    "block_error": (lambda ds, s: see.block_error(ds.position[:, 0], blocks=4), ("mean", "error"), {"length": 1}),
    "drift": (lambda ds, s: see.drift(ds, blocks=4), ("slope", "slope_error"), {"time": -1}),
}  # fmt: skip


@each("name", observables.__all__)
@each("kind", ["SI", "reduced"])
def test_observables_are_the_same_in_all_units(name, kind):
    call, variables, powers = OBSERVABLES[name]
    molecular, one = in_units("molecular")
    other, sizes = in_units(kind)
    expected, found = call(molecular, one), call(other, sizes)
    scale = np.prod([sizes[size] ** power for size, power in powers.items()])
    for variable in variables:
        np.testing.assert_allclose(found[variable], scale * expected[variable], rtol=1e-8, atol=1e-12 * abs(scale))


def test_the_constants_of_a_trajectory_are_its_own():
    molecular, _ = in_units("molecular")
    found = observables.dielectric_constant(molecular, 300.0)
    M = observables.total_dipole(molecular).values
    y = 4 * np.pi * 138.935457644 * float(found.fluctuation) / (3 * 27.0 * 0.00831446261815324 * 300.0)
    assert float(found.epsilon) == pytest.approx(1 + y, rel=1e-12) and float(found.epsilon) > 1.1
    assert float(found.fluctuation) == pytest.approx((M**2).sum(axis=1).mean() - (M.mean(axis=0) ** 2).sum(), rel=1e-10)
    again = observables.dielectric_constant(molecular, 300.0, boltzmann=0.0083144626, coulomb=138.9354576)
    assert float(again.epsilon) == pytest.approx(float(found.epsilon), rel=1e-7)
    with pytest.raises(InvalidInput, match=r"boltzmann is 1, but that of the trajectory is 0\.00831446; leave it out"):
        observables.dielectric_constant(molecular, 300.0, boltzmann=1.0)
    bare = molecular.assign_attrs(units="consistent")
    for given, told in (({}, "boltzmann is missing"), ({"boltzmann": 1.0}, "coulomb is missing")):
        with pytest.raises(InvalidInput, match=told):
            observables.dielectric_constant(bare, 300.0, **given)
    assert observables.total_dipole(molecular, dipole=(0, 0, 1)).attrs["units"] == "e nm"


def test_runs_record_the_constants_of_their_units():
    for system, constants, units in (
        (ph.rigid_water(8, box=3.0, cutoff=1.0), (0.00831446261815324, 138.935457644), "kJ / (mol K)"),
        (ph.dipoles(8), (1.0, 1.0), "energy / temperature"),
    ):
        state = ph.initial.cubic(2, spacing=1.5).state | ph.initial.random_rotations(8, 1)
        ds = ph.integrate(system, "v2", step=1e-3, steps=2, **state)
        assert (float(ds.boltzmann), float(ds.coulomb)) == constants and ds.boltzmann.attrs["units"] == units


def test_a_temperature_may_be_a_quantity():
    u = pytest.importorskip("astropy.units")
    molecular, _ = in_units("molecular")
    plain = observables.dielectric_constant(molecular, 300.0)
    assert observables.dielectric_constant(molecular, 300 * u.K).equals(plain)
    assert observables.dielectric_constant(molecular, 300.0, volume=27.0 * u.nm**3).equals(plain)
    np.testing.assert_allclose(observables.radial_distribution(molecular, 4, 1200 * u.pm).r[-1], 1.05)
    with pytest.raises(InvalidInput, match="temperature is a quantity in K"):
        observables.dielectric_constant(in_units("reduced")[0], 300 * u.K)


NO_TRAJECTORIES = {
    "one row": (lambda ds: ds.isel(time=0), "no dimension time"),
    "no rows": (lambda ds: ds.isel(time=slice(0)), "has no rows"),
    "no bodies": (lambda ds: ds.isel(body=slice(0)), "has no bodies"),
    "bodies of another name": (lambda ds: ds.rename(body="molecule"), r"has the dimensions \(time, molecule, "),
    "members": (lambda ds: xr.concat([ds, ds], "member"), r"of several members one: ds.isel\(member=0\)"),
    "attitude of no body": (lambda ds: ds.assign(attitude=ds.attitude.isel(body=0)), "attitude has the dimensions"),
    "velocity of no body": (lambda ds: ds.assign(velocity=ds.velocity.isel(body=0)), "velocity has the dimensions"),
    "position of no body": (lambda ds: ds.assign(position=ds.position.isel(body=0)), "position has the dimensions"),
    "a box that changes": (lambda ds: ds.assign(box=ds.box * (1 + 0 * ds.time)), "box has the dimensions"),
    "a box of no size": (lambda ds: ds.assign(box=0 * ds.box), "its edges must be finite and positive"),
    "a constant of bodies": (lambda ds: ds.assign(coulomb=("body", np.ones(5))), "coulomb has the dimensions"),
    "masses of others": (lambda ds: ds.assign(mass=("site", [1.0])), "mass has the dimensions"),
    "sites of no name": (lambda ds: ds.assign(site_position=("axis", np.ones(3))), "site_position has the dimensions"),
}


@each("case", NO_TRAJECTORIES)
def test_dimensions_of_another_dataset_are_refused(case, tmp_path):
    """Or nothing of what is wrong is read, and the answer is that of before."""
    rng = np.random.default_rng(15)
    extra = {"angular_momentum": (("time", "body", "axis"), rng.normal(size=(40, 5, 3)))}
    extra["momentum"] = extra["angular_velocity"] = extra["angular_momentum"]
    ds = trajectory(rng.uniform(0, 4, (40, 5, 3)), EDGES, quaternions(rng, 40, 5), rng.normal(size=(40, 5, 3)), **extra)
    change, sentence = NO_TRAJECTORIES[case]
    dipole, told = {"dipole": (0, 0, 1)}, []
    for call in (
        lambda ds: observables.radial_distribution(ds, blocks=4),
        lambda ds: observables.dipole_correlations(ds, rows=slice(None), blocks=4, **dipole),
        lambda ds: observables.kirkwood_factor(ds, blocks=4, **dipole),
        lambda ds: observables.total_dipole(ds, **dipole),
        lambda ds: observables.dielectric_constant(ds, 1.0, boltzmann=1.0, coulomb=1.0, **dipole),
        lambda ds: observables.orientational_correlation(ds, **dipole), observables.velocity_autocorrelation,
        observables.mean_square_displacement,
        lambda ds: ph.trajectory.export.lammps_dump(ds, tmp_path / "a.dump").read_text(),
        lambda ds: ph.trajectory.export.extended_xyz(ds, tmp_path / "a.xyz").read_text(),
    ):  # fmt: skip
        try:
            found = call(change(ds))
        except InvalidInput as refused:
            told.append(str(refused))
        else:
            whole = call(ds)
            assert found == whole if isinstance(found, str) else found.identical(whole)
    assert all(len(one) < 300 for one in told) and any(re.search(sentence, one) for one in told), told
