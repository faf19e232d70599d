"""Ten thousand bodies in one system: the same bits as each alone, errors that name the body, methods that refuse."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import polhode as ph
from cover import some
from each import each
from polhode.cli.run import summary
from polhode.methods import METHODS, method
from polhode.plots import dashboard
from polhode.runs import initial_state
from polhode.runs.initial_state import start_state
from polhode.runs.integrator import MOST_WORK
from polhode.systems.loads_roles import no_loads
from polhode.systems.record import System
from polhode.trajectory.convergence import momentum_errors

MOMENTS = (1.0, 1.88, 2.88)


def bodies(n, frames=None, mass=None, moments=None):
    """Bodies without loads."""
    frames = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)) if frames is None else frames
    return System(
        name="bodies", arguments={}, mass=np.ones(n) if mass is None else mass,
        moments=np.tile(MOMENTS, (n, 1)) if moments is None else moments, frames=frames, commutator=no_loads,
        provides={"velocity_independent"}, conserves=("energy",),
    )  # fmt: skip


def start(n, seed=0):
    rng = np.random.default_rng(seed)
    q = rng.standard_normal((n, 4))
    return {
        "position": rng.standard_normal((n, 3)), "momentum": rng.standard_normal((n, 3)),
        "attitude": q / np.linalg.norm(q, axis=1)[:, None], "angular_momentum": rng.standard_normal((n, 3)),
    }  # fmt: skip


# ------------------------------------------------------------------ the layers around the kernels
def test_each_of_many_bodies_has_the_bits_it_has_alone():
    n, rng = 50, np.random.default_rng(1)
    frames = rng.standard_normal((n, 4))
    frames /= np.linalg.norm(frames, axis=1)[:, None]
    moments = np.sort(rng.uniform(1.0, 1.9, (n, 3)), axis=1)
    mass, state = rng.uniform(1.0, 5.0, n), start(n)
    del state["momentum"], state["angular_momentum"]
    state |= {"velocity": rng.standard_normal((n, 3)), "angular_velocity": rng.standard_normal((n, 3))}
    together = ph.integrate(bodies(n, frames, mass, moments), "s6_10", step=0.1, steps=7, **state)
    for i in range(n):
        alone = ph.integrate(
            bodies(1, frames[[i]], mass[[i]], moments[[i]]), "s6_10", step=0.1, steps=7,
            **{name: value[i] for name, value in state.items()},
        )  # fmt: skip
        for name in ("attitude", "angular_momentum", "angular_velocity", "position", "momentum", "velocity",
                     "angular_momentum_space"):  # fmt: skip
            np.testing.assert_array_equal(together[name][:, i], alone[name], err_msg=name)


def test_one_value_for_all_bodies_is_that_value_for_each():
    one = {"attitude": (0.6, 0.0, 0.8, 0.0), "angular_velocity": (1.0, 2.0, 3.0), "position": (1.0, 0.0, 0.0)}
    for n in (1, 4):
        repeated = {name: [value] * n for name, value in one.items()}
        np.testing.assert_array_equal(start_state(bodies(n), **one), start_state(bodies(n), **repeated))


def test_a_kernel_writes_starts_of_many_bodies_with_the_bits_of_arrays(monkeypatch):
    n, rng = initial_state.MANY, np.random.default_rng(1)
    frames = rng.standard_normal((n, 4))
    frames /= np.linalg.norm(frames, axis=1)[:, None]
    system, given = (
        bodies(n, frames, rng.uniform(1.0, 5.0, n), np.sort(rng.uniform(1.0, 1.9, (n, 3)), axis=1)),
        start(n),
    )
    slower = {"velocity": rng.standard_normal((n, 3)), "angular_velocity": rng.standard_normal((n, 3))}
    used = []
    begin = initial_state.begin_members
    monkeypatch.setattr(initial_state, "begin_members", lambda *those: used.append(1) or begin(*those))
    starts = given, {"attitude": given["attitude"], **slower}
    quick = [start_state(system, **one) for one in starts]
    assert len(used) == 2
    given["attitude"][3] *= 2.0
    with pytest.raises(ph.errors.InvalidInput, match="attitude of body 3 has length 2"):
        start_state(system, **given)
    given["attitude"][3] /= 2.0
    monkeypatch.setattr(initial_state, "MANY", n + 1)
    for found, one in zip(quick, starts, strict=True):
        assert found.tobytes() == start_state(system, **one).tobytes()


@each("suffix", some(["nc", "zarr"], 1))
def test_ten_thousand_bodies_are_written_read_and_run_again(tmp_path, suffix):
    n = 10_000
    system = ph.orbit(mu=1.0, mass=np.ones(n))
    state = start(n)
    ds = ph.integrate(
        system, "rkn6_14a", step=1e-3, steps=2, position=state["position"] + (5.0, 0.0, 0.0), momentum=state["momentum"]
    )
    ph.save(ds, tmp_path / f"run.{suffix}")
    read = ph.load(tmp_path / f"run.{suffix}")
    assert read.attrs["run"] == ds.attrs["run"]
    again = ph.rerun(read)
    for name in ("position", "momentum", "energy"):
        np.testing.assert_array_equal(again[name], ds[name])


def test_blocks_are_what_moves():
    mass = np.array([1.0, np.inf, np.inf, 2.0])
    moments = np.array([(np.inf,) * 3, MOMENTS, (np.inf,) * 3, (1.0, np.inf, np.inf)])
    assert bodies(4, None, mass, moments).blocks.tolist() == [0, 0, 1, 1, 3, 0, 3, 1]


def test_a_component_that_begins_at_zero_is_judged_by_its_vector():
    """In the summary as in the picture; it was absolute there."""
    top = ph.heavy_top((0.9, 0.9, 0.5), center_of_mass=(0, 0, 1), weight=1.0)
    ds = ph.integrate(top, "trapm", step=0.02, steps=5, angular_velocity=(0, 3e3, 0), settings={"guard": False})
    size, vertical = np.linalg.norm(ds.angular_momentum_space[0]), ds.vertical_angular_momentum.values
    assert vertical[0] == 0.0 and size > 2e3
    errors, relative = momentum_errors(ds)["vertical_angular_momentum"]
    np.testing.assert_allclose(errors, abs(vertical) / size, rtol=1e-12)
    assert relative and summary(ds)["momentum_errors"]["vertical_angular_momentum"] == errors.max()


def test_kinetic_energies_are_those_of_the_rows():
    system = ph.gravitating_bodies(mass=np.linspace(1.0, 2.0, 3))
    state = ph.initial.cubic(2, spacing=2.0, noise=0.01, seed=1).state
    p = np.random.default_rng(2).normal(size=(3, 3))
    ds = ph.integrate(system, "v2", step=0.01, steps=2, position=state["position"][:3], momentum=p)
    plain = 0.5 * (ds.momentum**2 / xr.DataArray(system.mass, dims="body")).sum(("body", "axis"))
    np.testing.assert_allclose(ds.kinetic_energy, plain, rtol=1e-14)
    states = np.zeros((1, 13 * 3))
    states.reshape(3, 13)[:, 3:6] = p
    states.reshape(3, 13)[:, 10:] = 1.0  # points have no rotation: infinite moments
    np.testing.assert_array_equal(system.kinetic_energies(states), ds.kinetic_energy.values[:1])
    np.testing.assert_array_equal(system.kinetic_energies(states, turning=False), ds.kinetic_energy.values[:1])


def test_totals_that_begin_at_zero_are_judged_by_the_sizes_of_their_parts():
    """In the picture of a run and in its summary."""
    system = ph.gravitating_bodies(mass=np.linspace(1.0, 2.0, 8))
    state = ph.initial.cubic(2, spacing=2.0, noise=0.01, seed=1).state | ph.initial.thermal(system, 0.3, 1)
    ds = ph.integrate(system, "v2", step=0.01, steps=5, **state)
    assert np.linalg.norm(ds.total_momentum[0]) < 1e-14
    change = np.linalg.norm(ds.total_momentum - ds.total_momentum[0], axis=1)
    expected = change / np.linalg.norm(ds.momentum[0], axis=1).sum()
    drawn, relative = momentum_errors(ds)["total_momentum"]
    np.testing.assert_allclose(drawn, expected, rtol=1e-12)
    assert relative and summary(ds)["momentum_errors"]["total_momentum"] == pytest.approx(expected.max(), rel=1e-12)
    turning = np.linalg.norm(ds.total_angular_momentum, axis=1)[0]
    change = np.linalg.norm(ds.total_angular_momentum - ds.total_angular_momentum[0], axis=1).max()
    assert summary(ds)["momentum_errors"]["total_angular_momentum"] == pytest.approx(change / turning, rel=1e-9)
    titles = [axes.get_title(loc="left") for axes in dashboard(ds).axes]
    assert any("conserved momenta" in title for title in titles), titles


# ------------------------------------------------------------------ mistakes name the body
def spoiled(key, i, value):
    state = start(5)
    state[key][i] = value
    return state


@each(
    ("state", "told"),
    [
        (spoiled("position", (3, 1), np.nan), "position is not finite: position[3,1] is nan; give a finite number"),
        (spoiled("momentum", (0, 2), np.inf), "momentum[0,2] is inf"),
        (spoiled("angular_momentum", (4, 0), -np.inf), "angular_momentum[4,0] is -inf"),
        (spoiled("attitude", 2, (2.0, 0.0, 0.0, 0.0)), "attitude of body 2 has length 2; give a unit quaternion"),
        ({"attitude": (2.0, 0.0, 0.0, 0.0)}, "attitude has length 2; give a unit quaternion"),
        ({"position": np.zeros((4, 3))}, "position must be 3 numbers, or 3 for each of 5 bodies, but has shape (4, 3)"),
        ({"position": [0.0, 1.0]}, "position must be 3 numbers, but has shape (2,)"),
        ({"position": "far"}, "position must be real numbers"),
    ],
)
def test_mistakes_name_the_body(state, told):
    with pytest.raises(ph.errors.InvalidInput) as refused:
        start_state(bodies(5), **state)
    assert told in str(refused.value)


def test_what_cannot_move_may_be_told_to_rest_but_not_to_move():
    mass, moments = np.array([1.0, np.inf, 1.0]), np.array([MOMENTS, MOMENTS, (np.inf,) * 3])
    system = bodies(3, None, mass, moments)
    y = start_state(
        system, velocity=[(1, 0, 0), (0, 0, 0), (2, 0, 0)], angular_velocity=[(0, 1, 0), (3, 0, 0), (0, 0, 0)]
    )
    rows = y.reshape(3, 13)
    assert rows[:, 3:6].tolist() == [[1, 0, 0], [0, 0, 0], [2, 0, 0]]
    assert rows[:, 10:].tolist() == [[0, 1.88, 0], [3, 0, 0], [0, 0, 0]]
    with pytest.raises(
        ph.errors.InvalidInput, match="velocity of body 1 is not zero, but that body does not move through"
    ):
        start_state(system, velocity=(1, 0, 0))
    with pytest.raises(
        ph.errors.InvalidInput, match="angular_velocity of body 2 is not zero, but that body does not turn"
    ):
        start_state(system, angular_velocity=(0, 1, 0))


# ------------------------------------------------------------------ inertias
def body_tensors(n, seed=0):
    rng = np.random.default_rng(seed)
    q = rng.standard_normal((n, 4))
    R = ph.rotation.matrix_from_quaternion(q / np.linalg.norm(q, axis=1)[:, None])
    moments = rng.uniform(1.0, 1.9, (n, 3))
    tensors = np.einsum("nij,nj,nkj->nik", R, moments, R)
    return 0.5 * (tensors + tensors.transpose(0, 2, 1))


def test_inertias_of_many_bodies_are_those_of_each():
    tensors = body_tensors(40)
    tensors[[7, 21, 30]] = tensors[3]
    tensors[11] = np.diag(MOMENTS)
    found = ph.inertia.principals(tensors, 40)
    for i, tensor in enumerate(tensors):
        alone = ph.inertia.principal(tensor)
        np.testing.assert_array_equal(found.moments[i], alone.moments)
        np.testing.assert_array_equal(found.frame[i], alone.frame)
    for one in (MOMENTS, tensors[0]):
        alone, all_alike = ph.inertia.principal(one), ph.inertia.principals(one, 3)
        assert all_alike.moments.tolist() == [alone.moments.tolist()] * 3
        assert all_alike.frame.tolist() == [alone.frame.tolist()] * 3
    rows = np.random.default_rng(1).uniform(1.0, 1.9, (40, 3))
    rows[5] = MOMENTS  # planar
    found = ph.inertia.principals(rows, 40)
    np.testing.assert_array_equal(found.moments, rows)
    assert (found.frame == (1.0, 0.0, 0.0, 0.0)).all()


@each(
    ("value", "n", "told"),
    [
        ([(1, 1, 1), (1, 2, 9), (0, 1, 1)], 3, "is not symmetric"),
        (
            [(1, 1, 1), (1, 2, 9), (0, 1, 1), (1, 1, 1)],
            4,
            "inertia of body 1[2] = 9.0 exceeds inertia of body 1[0] + in",
        ),
        ([(1, 1, 1), (1, 1, 1), (0, 1, 2), (-1, 1, 1)], 4, "inertia of body 2[0] = 0.0 is not positive"),
        ([np.eye(3), [[1, 2, 0], [2, 1, 0], [0, 0, 1]]], 2, "inertia of body 1[0,1] = 2.0 exceeds the geometric mean"),
        (np.ones((2, 3)), 4, "or those of each of 4 bodies, but its shape is (2, 3)"),
        ([(1, 1, 1), (1, np.nan, 1)], 2, "inertia[1,1] is nan; give a finite number"),
        ((1, 1, 5), 2, "inertia[2] = 5.0 exceeds"),
    ],
)
def test_wrong_inertias_name_the_body(value, n, told):
    with pytest.raises(ph.errors.InvalidInput) as refused:
        ph.inertia.principals(value, n)
    assert told in str(refused.value)
    if n == 3:
        assert "a 3x3 array is one tensor; give moments of 3 bodies as 3 tensors" in str(refused.value)


def test_any_positive_moments_where_the_triangle_does_not_matter():
    assert ph.inertia.principals([(1, 1, 5), (1, 2, 3)], 2, triangle=False).moments.tolist() == [[1, 1, 5], [1, 2, 3]]


# ------------------------------------------------------------------ dense systems of equations
def dense(label):
    """Whether the scratch memory of a method grows with the square of the number of bodies."""
    prepared = method(label).prepare()
    blocks = 1 if "points" in prepared.needs else 2
    return prepared.work(2000, 2000 * blocks) > 3 * prepared.work(1000, 1000 * blocks)


LABELS = [*METHODS, "mkrk:gauss2", "mkrk:gauss12", "mkrk:rk4", "mkrk:dp8", "euler:gauss4", "rotation_vector:gauss4",
          "quaternion_rk:gauss4", "euler_direct:gauss4", "v2/implicit_midpoint", "rkn6_14a/dmv6"]  # fmt: skip


def test_which_methods_solve_one_dense_system():
    """Of the rows with their default options; all others work body by body, or need no equations solved."""
    assert [name for name in METHODS if dense(name)] == [
        "bbtrapwd", "variational", "variational_midpoint", "variational_midpoint4", "galerkin4", "galerkin6",
        "galerkin8",
    ]  # fmt: skip
    assert dense("mkrk:gauss2") and dense("euler:gauss4") and not dense("mkrk:rk4") and not dense("trapm")


@each("label", [label for label in LABELS if dense(label)])
def test_dense_systems_that_do_not_fit_are_refused(label):
    n = 10_000
    points = "points" in method(label).prepare().needs
    moments = np.full((n, 3), np.inf) if points else None
    with pytest.raises(
        ph.errors.InvalidInput, match=r"solves one dense system of equations for all 10000 bodies"
    ) as refused:
        ph.integrate(bodies(n, moments=moments), label, step=1e-3, steps=1)
    told = str(refused.value)
    assert told.startswith(f"method {label!r}") and "GB of memory" in told and "'rkn6_14a'" in told


@each("label", [label for label in LABELS if not dense(label)])
def test_no_other_method_needs_much_memory(label):
    prepared = method(label).prepare()
    assert 8e-9 * prepared.work(10_000, 20_000) < 0.1 * MOST_WORK


def test_loads_that_depend_on_velocities_are_told_of_another_method():
    n = 10_000
    system = System(
        name="bodies", arguments={}, mass=np.ones(n), moments=np.tile(MOMENTS, (n, 1)),
        frames=np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)), provides=frozenset(),
    )  # fmt: skip
    with pytest.raises(
        ph.errors.InvalidInput, match=r"691\.2 GB of memory; take 'mkrk:cv8', whose memory grows with the number"
    ):
        ph.integrate(system, "mkrk:gauss4", step=1e-3, steps=1)


def test_few_bodies_are_solved_together_as_ever():
    system = ph.gravitating_bodies(mass=np.full(20, 0.05))
    state = ph.initial.cubic((4, 5, 1), noise=0.1, seed=1).state
    implicit, explicit = (
        ph.integrate(system, label, step=0.01, steps=3, **state).position[-1] for label in ("mkrk:gauss6", "rkn6_14a")
    )
    np.testing.assert_allclose(implicit, explicit, rtol=0, atol=1e-13)
