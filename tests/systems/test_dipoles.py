"""Soft dipolar spheres: energies of the paper's draws, forces and torques, what is conserved, states of the gas."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import DOP853

import pair_oracle as oracle
import polhode as ph
from cover import some
from each import each
from polhode.algebra import rotation
from polhode.checks import load_caller
from polhode.errors import InvalidInput, NotFinite
from polhode.kernel import layout as slots
from polhode.methods.splitting_tables import SCHEMES
from polhode.runs import integrator
from polhode.runs.initial_state import start_state
from polhode.runs.stepping import Run
from polhode.trajectory import schema


def draw(seed, n=100, scale=100.0):
    """Positions and attitudes of normal draws, as in [celledoni2008, section 3.4]."""
    rng = np.random.default_rng(seed)
    r, q = scale * rng.standard_normal((n, 3)), rng.standard_normal((n, 4))
    return {"position": r, "attitude": q / np.linalg.norm(q, axis=1, keepdims=True)}


def lattice(n, spacing, seed=5, noise=0.15, warm=0.5):
    """Bodies near the first places of a cubic lattice, with momenta."""
    rng = np.random.default_rng(seed)
    side = int(np.ceil(n ** (1 / 3) - 1e-9))
    r = spacing * np.array(list(np.ndindex(side, side, side))[:n], dtype=float) + noise * rng.standard_normal((n, 3))
    q = rng.standard_normal((n, 4))
    return {
        "position": r, "attitude": q / np.linalg.norm(q, axis=1, keepdims=True),
        "momentum": warm * rng.standard_normal((n, 3)), "angular_momentum": warm * rng.standard_normal((n, 3)),
    }  # fmt: skip


def tensors(n, seed=3):
    """Inertias of bodies of three points each, in no particular axes."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 6, 3))
    J = np.einsum("nka,nka->n", x, x)[:, None, None] * np.eye(3) - np.einsum("nka,nkb->nab", x, x)
    return (J + J.transpose(0, 2, 1)) / 2


def loads_of(system, **start):
    """Forces in space and torques in the users' body frames."""
    y, out = start_state(system, **start), np.full(6 * system.N, np.nan)
    load_caller()(system.compiled_loads(0.0, y), 0.0, system.N, y, system.bodies, system.with_memory, out)
    F, T = out.reshape(-1, 6)[:, :3], out.reshape(-1, 6)[:, 3:]
    return F, rotation.rotate(system.frames, T)


# ------------------------------------------------------------------ energies
ENERGIES = {
    0: 2.93847590483427e-05, 1: 0.000467083378851783, 2: 0.000188097659445363, 1481: 0.144083942012,
    2024: -0.0129394614779463,
}  # fmt: skip
"""Of a hundred bodies at rest, by an independent program in extended precision."""


@each("seed", ENERGIES)
def test_energy_of_the_draws(seed):
    ds = ph.integrate(ph.dipoles(100), step=1.0, steps=0, **draw(seed))
    assert ds.energy.item() == pytest.approx(ENERGIES[seed], rel=2e-13)


# max |E - E0| over [0, 1] by force evaluations per unit time; seed 1481 from rest.
ERRORS = {
    "v2_dkd": (1, {10: 5.6e-5, 40: 3.5e-6, 160: 2.2e-7, 640: 1.4e-8}),
    "s4_6": (6, {10: 2.9e-7, 40: 1.9e-9, 160: 8.8e-12}),
    "rkn4_6b": (6, {10: 3.6e-8, 40: 1.0e-10}),
    "s6_10": (10, {10: 3.9e-8, 40: 2.4e-11}),
    "rkn6_14a": (14, {10: 7.9e-9, 40: 1.3e-12}),
}


@each("label", ERRORS)
def test_energy_errors_of_a_close_pair(label):
    stages, errors = ERRORS[label]
    for evaluations, expected in errors.items():
        n = max(1, round(evaluations / stages))
        ds = ph.integrate(ph.dipoles(100), label, step=1.0 / n, steps=n, **draw(1481))
        assert abs(ds.energy - ds.energy[0]).max().item() == pytest.approx(expected, rel=0.2), evaluations


# ------------------------------------------------------------------ forces and torques
N = 11
EACH = {
    "mass": np.linspace(0.5, 2.0, N), "inertia": tensors(N),
    "dipole": np.random.default_rng(8).normal(size=(N, 3)),
}  # fmt: skip
NEAR = {"cutoff": 2.9, "switch": 1.7}
VARIANTS = {
    "as printed": {},
    "sizes": {"sigma": 0.9, "epsilon": 1.7},
    "attraction": {"attraction": True},
    "some attraction": {"attraction": 0.4, "epsilon": 2.0},
    "each its own": EACH,
    "three numbers each": {"inertia": np.tile((3.0, 1.0, 2.5), (N, 1))},
    "turned": {"inertia": tensors(1)[0], "dipole": (0.3, -1.0, 0.2)},
    "cut off": NEAR,
    "cut off, attraction, each its own": {**NEAR, **EACH, "attraction": True},
    "box": {**NEAR, "box": (5.9, 6.4, 7.0)},
    "box, edge twice the cut-off": {**NEAR, "box": 5.8, "attraction": True},
    "no dipoles": {"dipole": (0, 0, 0), "attraction": True, "cutoff": 2.5, "box": 6.0},
    "conductor": {**NEAR, "box": 6.1, "reaction_field": np.inf},
    "reaction field": {**NEAR, **EACH, "box": (6.1, 6.2, 6.3), "reaction_field": 4.5, "attraction": 1.2},
    "reaction field, free": {**NEAR, "reaction_field": 78.0},
}


def law_of(arguments):
    """What the oracle needs of the arguments of a system."""
    law = {k: v for k, v in arguments.items() if k not in ("mass", "inertia", "dipole", "skin")}
    if "cutoff" in law:
        law["switch"] = law.get("switch", 0.9 * law["cutoff"])
    return law, arguments.get("dipole", (0.0, 1.0, 1.0))


def dense(seed=4):
    start = lattice(N, 1.6, seed)
    return start["position"], start["attitude"]


@each("name", VARIANTS)
def test_forces_and_torques(name):
    law, dipole = law_of(VARIANTS[name])
    r, q = dense()
    if "cutoff" in law:  # some pairs must be where the switching is, and some beyond
        i, j = np.triu_indices(N, 1)
        apart = np.linalg.norm(r[i] - r[j], axis=1)
        assert ((law["switch"] < apart) & (apart < law["cutoff"])).sum() > 3 and (apart > law["cutoff"]).any()
    F, T = loads_of(ph.dipoles(N, **VARIANTS[name]), position=r, attitude=q)
    expected_F, expected_T = oracle.loads(r, oracle.matrix(q), dipole, **law)
    size = abs(expected_F).max()
    np.testing.assert_allclose(F, expected_F, rtol=0, atol=1e-13 * size)
    np.testing.assert_allclose(T, expected_T, rtol=0, atol=1e-13 * size)
    if name != "no dipoles":
        assert abs(expected_T).max() > 0.1
    ds = ph.integrate(ph.dipoles(N, **VARIANTS[name]), step=1.0, steps=0, position=r, attitude=q)
    expected = oracle.energy(r, oracle.matrix(q), dipole, **law)
    assert ds.potential_energy.item() == pytest.approx(expected, rel=1e-13, abs=1e-14 * size)


@each("name", VARIANTS)
def test_action_is_reaction(name):
    r, q = dense()
    F, T = loads_of(ph.dipoles(N, **VARIANTS[name]), position=r, attitude=q)
    assert abs(F.sum(axis=0)).max() < 3e-15 * abs(F).sum()
    if "box" not in VARIANTS[name]:
        turning = rotation.rotate(q, T) + np.cross(r, F)
        assert abs(turning.sum(axis=0)).max() < 3e-15 * (abs(r).max() * abs(F).sum() + abs(T).sum())


def test_the_opposite_force_to_the_last_bit():
    rng = np.random.default_rng(1)
    for _ in range(30):
        system = ph.dipoles(2, sigma=rng.uniform(0.5, 2.0), dipole=rng.normal(size=(2, 3)), attraction=True)
        start = draw(rng.integers(1000), 2, 1.0)
        F, _ = loads_of(system, **start)
        np.testing.assert_array_equal(F[0], -F[1])


def test_the_potential_ends_smoothly():
    """Energy, force and slope of the force go to zero at the cut-off; beyond it nothing acts."""
    system = ph.dipoles(2, attraction=True, dipole=(0, 0, 1), cutoff=2.0, switch=1.5)
    places = (1.49, 1.4999, 1.5001, 1.51, 1.99, 1.999, 2.0, 2.1)
    F = {x: loads_of(system, position=[(x, 0.1, 0), (0, 0.1, 0)])[0][0, 0] for x in places}
    slopes = (F[1.4999] - F[1.49]) / 0.0099, (F[1.51] - F[1.5001]) / 0.0099
    assert slopes[0] == pytest.approx(slopes[1], rel=0.2)
    assert abs(F[1.5001] - F[1.4999]) < 3 * 2e-4 * abs(slopes[0])
    # Near the cut-off the slope of S goes like the fourth power of the distance to it.
    assert F[1.999] / F[1.99] == pytest.approx(1e-4, rel=0.2)
    assert F[2.0] == F[2.1] == 0.0


def test_images_do_not_matter():
    system = ph.dipoles(N, **VARIANTS["reaction field"])
    r, q = dense()
    F, T = loads_of(system, position=r, attitude=q)
    shifts = np.random.default_rng(2).integers(-4, 5, size=(N, 3)) * (6.1, 6.2, 6.3)
    for moved in (r + shifts, r + 0.37, r * 1.0 - np.array((50.0, -20.0, 3.0))):
        again = loads_of(system, position=moved, attitude=q)
        np.testing.assert_allclose(again[0], F, rtol=0, atol=1e-11 * abs(F).max())
        np.testing.assert_allclose(again[1], T, rtol=0, atol=1e-11 * abs(F).max())


def test_the_system_check_passes():
    start = lattice(6, 2.0)
    for arguments in ({}, {"attraction": True, "inertia": tensors(6), "mass": np.linspace(1, 2, 6)}):
        ph.checks.check_system(ph.dipoles(6, **arguments), states=1, span=0.1, **start).raise_for_failure()
    boxed = ph.dipoles(6, cutoff=1.9, switch=1.0, box=4.0, reaction_field=2.0)
    report = ph.checks.check_system(boxed, states=1, span=0.05, **start)
    # Its differences of order 8 do not suit a switching with four continuous derivatives.
    assert {line.what for line in report.failures} <= {"loads and potential"}
    said = {line.what for line in report.lines}
    assert {"loads and potential", "conserves energy", "conserves total_momentum"} <= said
    assert "conserves total_angular_momentum" not in said


# ------------------------------------------------------------------ what is conserved
FLOWS = ["exact", "mr", "mr6", "dmv6", "symmetric", "semiexact6", "implicit_midpoint", "three_rotation"]


def conserved(system, label, start, step, steps):
    ds = ph.integrate(system, label, step=step, steps=steps, settings={"guard": False}, **start)
    r, P, p = ds.position.values, ds.momentum.values, ds.total_momentum.values
    sizes = abs(P).sum(axis=(1, 2)).max(), (abs(r).max() * abs(P).sum(axis=(1, 2)) + 1.0).max()
    assert abs(ds.momentum[-1] - ds.momentum[0]).max() > 1e-4  # something happened
    assert abs(p - p[0]).max() < 1e-14 * sizes[0]
    if system.box is None:
        L = ds.total_angular_momentum.values
        assert abs(L - L[0]).max() < 2e-14 * sizes[1]


@each("label", some([*SCHEMES, *(f"v2/{flow}" for flow in FLOWS), "s6_10/mr6", "rkn4_6b/dmv4"], 15))
def test_splittings_keep_both_momenta(label):
    moments = (1.0, 1.0, 1.5) if label.endswith("symmetric") else (1.0, 1.88, 2.5)
    system = ph.dipoles(6, inertia=moments)
    try:
        conserved(system, label, lattice(6, 2.0), 0.01, 4)
    except InvalidInput as refused:
        assert "commutator" in str(refused)


@each("label", ["rkn4_6b", "v2/mr"])
def test_momentum_is_kept_in_a_box(label):
    conserved(ph.dipoles(27, cutoff=2.5, box=6.0, reaction_field=np.inf), label, lattice(27, 2.0), 0.01, 10)


# ------------------------------------------------------------------ an independent integration
EIGHT = lattice(8, 2.0, seed=12, noise=0.1, warm=1.0)
MOMENTS, DIPOLE = np.array((1.0, 1.88, 2.88)), np.array((0.0, 1.0, 1.0))


def independent(t_end):
    """Positions, momenta, rotation matrices and body angular momenta at the end: matrices by SciPy's DOP853."""
    r, p, m = (EIGHT[k] for k in ("position", "momentum", "angular_momentum"))
    R = oracle.matrix(EIGHT["attitude"])
    shapes = [(8, 3), (8, 3), (8, 3, 3), (8, 3)]
    at = np.cumsum([0, 24, 24, 72, 24])

    def parts(z):
        return [z[a:b].reshape(shape) for a, b, shape in zip(at[:-1], at[1:], shapes, strict=True)]

    def slope(t, z):
        return np.concatenate([x.ravel() for x in oracle.rates(*parts(z), DIPOLE, 1.0, MOMENTS)])

    solver = DOP853(slope, 0.0, np.concatenate([x.ravel() for x in (r, p, R, m)]), t_end, rtol=3e-14, atol=3e-14)
    while solver.status == "running":
        solver.step()
    return parts(solver.y)


@pytest.fixture(scope="module")
def end():
    return independent(2.0)


@each(("label", "step"), [
    ("rkn6_14a", 0.005), ("s6_10", 0.002), ("kl8", 0.005), ("mkrk:cv8", 0.004), ("mkrk:gauss8", 0.01),
])  # fmt: skip
def test_eight_bodies_against_an_independent_program(end, label, step):
    ds = ph.integrate(ph.dipoles(8), label, step=step, t_end=2.0, every=10_000, settings={"guard": False}, **EIGHT)
    last = ds.isel(time=-1)
    assert abs(last.position - EIGHT["position"]).max() > 0.5
    for found, expected in zip(
        (last.position, last.momentum, oracle.matrix(last.attitude.values), last.angular_momentum), end, strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


# ------------------------------------------------------------------ the gas
def test_temperatures_by_hand():
    start = lattice(7, 2.0)
    mass, J = np.linspace(0.5, 2, 7), tensors(7)
    ds = ph.integrate(ph.dipoles(7, mass=mass, inertia=J), step=1.0, steps=0, **start).isel(time=0)
    v = start["momentum"] / mass[:, None]
    own = v - start["momentum"].sum(axis=0) / mass.sum()
    K = 0.5 * (mass[:, None] * own**2).sum()
    turning = 0.5 * sum(m @ np.linalg.solve(j, m) for m, j in zip(start["angular_momentum"], J, strict=True))
    assert ds.temperature_translational.item() == pytest.approx(2 * K / 18, rel=1e-13)
    assert ds.temperature_rotational.item() == pytest.approx(2 * turning / 21, rel=1e-13)
    assert ds.temperature.item() == pytest.approx(2 * (K + turning) / 39, rel=1e-13)


def test_total_dipole():
    start = lattice(7, 2.0)
    dipole = np.random.default_rng(3).normal(size=(7, 3))
    ds = ph.integrate(ph.dipoles(7, inertia=tensors(7), dipole=dipole), step=0.01, steps=3, **start)
    for k in range(4):
        expected = (oracle.matrix(ds.attitude[k].values) @ dipole[:, :, None]).sum(axis=0)[:, 0]
        np.testing.assert_allclose(ds.total_dipole[k], expected, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(ds.dipole, dipole)


@each("name", [name for name in VARIANTS if "box" in VARIANTS[name]])
def test_pressure_is_minus_the_derivative_by_the_volume(name):
    law, dipole = law_of(VARIANTS[name])
    start = lattice(N, 1.6, seed=4)
    ds = ph.integrate(ph.dipoles(N, **VARIANTS[name]), step=0.001, steps=2, **start)
    box = law.pop("box")
    for row in (0, -1):
        now = ds.isel(time=row)
        volume = np.prod(np.broadcast_to(box, 3))
        thermal = (N - 1) * now.temperature_translational.item() / volume
        static = -oracle.by_volume(now.position.values, oracle.matrix(now.attitude.values), dipole, box, **law)
        assert now.pressure.item() == pytest.approx(thermal + static, rel=1e-11)


def test_what_a_dataset_holds():
    start = lattice(8, 2.2)
    free = ph.integrate(ph.dipoles(8), step=0.01, steps=1, **start)
    boxed = ph.integrate(ph.dipoles(8, cutoff=2.0, box=(4.4, 5.0, 6.0)), step=0.01, steps=1, **start)
    for ds in (free, boxed):
        for name in ds.variables:
            assert name in schema.MEANING or name in ds.dims, name
            assert name in ds.dims or "units" in ds[name].attrs, name
        assert ds.temperature.dims == ds.temperature_rotational.dims == ("time",)
        assert ds.total_dipole.dims == ("time", "axis") and ds.dipole.dims == ("body", "axis")
    assert "pressure" not in free and "box" not in free and free.conserves.endswith("total_angular_momentum")
    assert boxed.pressure.dims == ("time",) and "total_angular_momentum" not in boxed.conserves
    np.testing.assert_array_equal(boxed.box, (4.4, 5.0, 6.0))


def test_numbers_of_numpy_are_recorded():
    """A run can be told again from what it records, whatever kinds of numbers it was given."""
    system = ph.dipoles(
        np.int64(8), mass=np.float32(1.5), cutoff=np.int64(2), switch=np.float64(1.5), skin=np.float32(0.5),
        box=np.full(3, 5), reaction_field=np.int32(3), attraction=np.float64(0.5),
    )  # fmt: skip
    ds = ph.integrate(system, step=0.01, steps=2, **lattice(8, 2.2))
    np.testing.assert_array_equal(ph.rerun(ds).position, ds.position)


def test_a_conductor_is_recorded():
    ds = ph.integrate(ph.dipoles(8, cutoff=2.0, box=5, reaction_field=np.inf), step=0.01, steps=2, **lattice(8, 2.2))
    np.testing.assert_array_equal(ph.rerun(ds).position, ds.position)


# ------------------------------------------------------------------ wrong input
@each(("arguments", "said"), [
    ({"n": 1}, "n is 1; it must be 2 or more"),
    ({"n": 2.0}, "n must be a whole number"),
    ({"n": True}, "n must be a whole number"),
    ({"mass": 0.0}, "mass is 0"),
    ({"mass": [1, 2]}, r"mass must be one number or one for each of 4 bodies, but has shape \(2,\)"),
    ({"mass": [1, 2, -3, 1]}, r"mass\[2\] is -3"),
    ({"mass": [1, 2, np.nan, 1]}, r"mass\[2\] is nan"),
    ({"mass": "heavy"}, "mass must be real numbers"),
    ({"inertia": (1, 1, 3)}, "inertia"),
    ({"inertia": (1, 2)}, "inertia must be 3 principal moments or a 3x3 tensor"),
    ({"inertia": [(1, 1, 1), (1, 1, 1), (1, 1, 3), (1, 1, 1)]}, "inertia of body 2"),
    ({"inertia": [(1, 1, 1), (1, 1)]}, "inertia"),
    ({"dipole": (1, 2)}, "dipole must be 3 numbers"),
    ({"dipole": np.ones((3, 3))}, r"dipole must be 3 numbers, or 3 for each of the 4 bodies"),
    ({"dipole": [(1, 1, 1), (1, np.inf, 1), (1, 1, 1), (1, 1, 1)]}, r"dipole\[1,1\] is inf"),
    ({"dipole": [(1, 1, 1), (1, 1)]}, "dipole"),
    ({"dipole": [("a", "b", "c")] * 4}, "dipole"),
    ({"sigma": 0.0}, "sigma is 0"),
    ({"sigma": np.nan}, "sigma is nan"),
    ({"epsilon": -1.0}, "epsilon is -1"),
    ({"attraction": -1.0}, "attraction is -1"),
    ({"attraction": "yes"}, "attraction must be a number"),
    ({"cutoff": 0.0}, "cutoff is 0"),
    ({"cutoff": -2.0}, "cutoff is -2"),
    ({"cutoff": 3.0, "switch": 3.0}, "switch is 3; it must lie between 0 and the cut-off 3"),
    ({"cutoff": 3.0, "switch": -0.1}, "switch is -0.1"),
    ({"cutoff": 3.0, "skin": -0.1}, "skin is -0.1; it must not be negative"),
    ({"switch": 1.0}, "switch is given without cutoff"),
    ({"skin": 1.0}, "skin is given without cutoff"),
    ({"box": 8.0}, "a periodic box needs a cut-off; give cutoff of at most half its smallest edge, 4"),
    ({"box": (8.0, 5.9, 9.0), "cutoff": 3.0}, "the smallest edge of the box, 5.9, is less than twice the cut-off 3"),
    ({"box": (8.0, -8.0, 9.0), "cutoff": 3.0}, "box has the edges"),
    ({"box": (8.0, 8.0), "cutoff": 3.0}, "box must be 3 numbers"),
    ({"box": 0.0, "cutoff": 3.0}, "box is 0"),
    ({"reaction_field": 3.0}, "reaction_field is given without cutoff"),
    ({"reaction_field": 0.9, "cutoff": 3.0}, "reaction_field is 0.9; a relative permittivity is 1 or more"),
    ({"reaction_field": np.nan, "cutoff": 3.0}, "reaction_field is nan"),
    ({"reaction_field": -np.inf, "cutoff": 3.0}, "reaction_field is -inf"),
])  # fmt: skip
def test_wrong_arguments(arguments, said):
    with pytest.raises(InvalidInput, match=said):
        ph.dipoles(**{"n": 4, **arguments})


def test_a_planar_body_is_allowed():
    assert ph.dipoles(4).moments.tolist() == [[1.0, 1.88, 2.88]] * 4
    assert ph.dipoles(3, inertia=np.eye(3)).moments.tolist() == [[1.0] * 3] * 3  # a tensor, not moments of each


@each("box", [None, 8.0])
def test_overlaps_at_the_start_are_told(box):
    arguments = {} if box is None else {"cutoff": 3.0, "box": box}
    r = lattice(8, 2.0, noise=0.0)["position"]
    r[5] = r[2] + (0.1, 0.0, 0.05)
    if box is not None:
        r[5] += (8.0, -16.0, 0.0)
    with pytest.raises(
        InvalidInput, match=r"cannot start: bodies 2 and 5 overlap: they are 0\.112 apart, and their di"
    ):
        ph.integrate(ph.dipoles(8, **arguments), step=0.1, steps=1, position=r)
    r[5] = r[2]
    with pytest.raises(InvalidInput, match="bodies 2 and 5 overlap: they are 0 apart"):
        ph.integrate(ph.dipoles(8, **arguments), step=0.1, steps=1, position=r)
    with pytest.raises(InvalidInput, match="position is missing; say where the bodies are"):
        ph.integrate(ph.dipoles(8, **arguments), step=0.1, steps=1)


def test_bodies_just_below_a_face_of_the_box():
    r = lattice(8, 4.0, noise=0.0)["position"]
    r[0] = (-1e-17, -1e-300, 0.0)
    ds = ph.integrate(ph.dipoles(8, cutoff=3.0, box=8.0), step=0.1, steps=1, position=r)
    assert np.isfinite(ds.energy).all()


@each("name", ["position", "momentum", "attitude"])
def test_what_is_not_a_number_is_told(name):
    start = lattice(8, 2.0)
    start[name] = start[name].copy()
    start[name][3, 1] = np.nan
    with pytest.raises(InvalidInput, match=rf"{name}\[3,1\] is nan"):
        ph.integrate(ph.dipoles(8), step=0.1, steps=1, **start)


@each("threads", [0, -1, 1.5, True, "2", None])
def test_wrong_numbers_of_threads(threads):
    with pytest.raises(InvalidInput, match=r"threads (is|must be)"):
        ph.integrate(ph.dipoles(8), step=0.1, steps=1, settings={"threads": threads}, **lattice(8, 2.0))


# ------------------------------------------------------------------ blow-ups
@each("arguments", [{}, {"cutoff": 2.5, "box": 6.0}])
def test_a_blow_up_is_told_and_the_last_good_state_kept(arguments):
    """Dense bodies with steps far too large."""
    start = lattice(27, 1.2, noise=0.05, warm=3.0)
    system = ph.dipoles(27, **arguments)
    with pytest.raises(NotFinite) as told:
        ph.integrate(system, "v2", step=0.1, steps=200, settings={"guard": False}, **start)
    said = str(told.value)
    assert "take a smaller step than 0.1" in said and ("blew up between t = " in said or "infinite" in said)
    assert said.count(". ") == 0
    ds = told.value.trajectory
    assert ds.attrs["incomplete"] == said
    assert np.isfinite(ds.position).all() and np.isfinite(ds.energy).all()
    scale = ds.kinetic_energy[0] + abs(ds.potential_energy[0]) + abs(ds.potential_energy)
    assert (abs(ds.energy - ds.energy[0]) <= 100 * scale).all()
    assert 0.0 < told.value.time <= 20.0 and ds.time[-1] < told.value.time + 1e-9


def test_a_blow_up_is_noticed_while_the_run_goes_on(monkeypatch):
    from polhode.runs import integrate

    monkeypatch.setattr(integrate, "BETWEEN_LOOKS", 0.0)
    start = lattice(27, 1.2, noise=0.05, warm=3.0)
    with pytest.raises(NotFinite, match=r"blew up|infinite") as told:
        ph.integrate(
            ph.dipoles(27), "v2", step=0.1, steps=10_000_000, every=10_000_000, settings={"guard": False}, **start
        )
    assert told.value.step < 100_000
    assert told.value.trajectory.time.size == 1


def test_large_errors_are_no_blow_up():
    """A poor run, but a run: its energy changes by a good part of itself."""
    ds = ph.integrate(ph.dipoles(8), "v2", step=0.05, steps=40, **lattice(8, 2.0))
    assert abs(ds.energy_error).max() > 1e-4


def test_the_state_of_a_row_has_13_numbers_for_each_body():
    y = start_state(ph.dipoles(5), **lattice(5, 2.0))
    assert y.size == 5 * slots.BODY


@pytest.mark.parametrize("box", [None, (7.0, 8.0, 9.5)])
def test_bodies_that_overlap_are_found_wherever_they_are(box):
    """By grids first: two bodies just nearer than the limit, on both sides of any boundary."""
    rng = np.random.default_rng(4)
    system = ph.dipoles(20, cutoff=3.0, box=box)
    for _ in range(40):
        r = 2.2 * np.array(list(np.ndindex(3, 3, 3))[:20]) + rng.uniform(0.0, 9.0, 3)
        y = np.tile([0.0] * 6 + [1.0] + [0.0] * 6, (20, 1))
        y[:, :3] = r
        assert not system.check(y.ravel())
        direction = rng.standard_normal(3)
        y[7, :3] = y[11, :3] + 0.1999 * direction / np.linalg.norm(direction)
        assert system.check(y.ravel()).startswith("bodies 7 and 11 overlap: they are 0.2 apart")
        y[15, :3] = y[2, :3] + 0.1 * direction / np.linalg.norm(direction) + np.multiply(box or 0.0, (-2, 1, 0))
        assert system.check(y.ravel()).startswith("bodies 2 and 15 overlap")
    for far in (1e18, -1e24, 1e200):  # where there is no telling, but also no harm
        y[:, :3] = far * rng.standard_normal((20, 3))
        system.check(y.ravel())


@pytest.mark.parametrize("method", ["v2", "baoab:temperature=1:friction=1", "compensated"])
def test_many_bodies_rotate_together_as_each_by_itself(method, monkeypatch):
    """Slow, fast and along an axis, at rest, a sphere, a rod; the last lanes are not all taken."""
    n, rng = 101, np.random.default_rng(3)
    inertia = 1.0 + np.sort(rng.random((n, 3)), axis=1)
    inertia[:2] = (1.0, 1.0, 1.0), (1e-3, 2.0, 2.0)
    momenta = np.exp(rng.uniform(-9.0, 6.0, (n, 1))) * rng.standard_normal((n, 3))
    momenta[2:4] = (0.0, 0.0, 0.0), (0.0, 3.0, 0.0)
    gas = ph.dipoles(n, inertia=inertia, epsilon=0.0, dipole=(0.0, 0.0, 0.0))
    start = {**lattice(n, 3.0), "angular_momentum": momenta}
    many = {"compensated": True} if method == "compensated" else {}
    ends = []
    for least in (n, n + 1):
        monkeypatch.setattr(integrator, "MANY", least)
        ds = ph.integrate(gas, "v2" if many else method, step=0.1, steps=3, settings=many, **start)
        ends.append(ds.isel(time=-1))
    one, other = ends
    np.testing.assert_allclose(one.attitude, other.attitude, rtol=0, atol=1e-14)
    size = np.linalg.norm(momenta, axis=1, keepdims=True)
    np.testing.assert_allclose(
        one.angular_momentum / (1 + size), other.angular_momentum / (1 + size), rtol=0, atol=1e-14
    )
    np.testing.assert_array_equal(one.position, other.position)


def test_ends_of_steps_tell_whether_they_resolve_loads_without_further_steps(monkeypatch):
    taken = []
    part = Run.part
    monkeypatch.setattr(Run, "part", lambda *those: taken.append(1) or part(*those))
    for every, few in ((1, 0), (4, 1)):
        start = lattice(130, 1.4, noise=0.1)
        ph.integrate(ph.dipoles(130), "v2", step=1e-4, steps=12, every=every, **start)
        assert len(taken) == few


@pytest.mark.parametrize("settings", [None, {"threads": 2}])
def test_runs_on_what_the_last_has_left_are_those_of_a_new_system(settings):
    """Lists and loads of states are kept; another start, the same, overlaps, two numbers of steps in turn."""

    def run(gas, scale, steps=4):
        start = lattice(130, 1.4, noise=0.1) | {"momentum": scale * lattice(130, 1.0)["momentum"]}
        return ph.integrate(gas, step=0.01, steps=steps, every=2, settings=settings, **start)

    def built():
        return ph.dipoles(130, attraction=True, cutoff=2.5, box=8.4)

    gas = built()
    for scale, steps in ((1.0, 4), (2.0, 4), (1.0, 4), (3.0, 6), (1.0, 4), (1.0, 6)):
        assert run(gas, scale, steps).equals(run(built(), scale, steps))
    assert len([one for request in gas.__dict__["_requests"] for one in request[1].__dict__["idle"]]) == 2
    with pytest.raises(InvalidInput, match="overlap"):
        ph.integrate(gas, step=0.01, steps=4, every=2, settings=settings, position=np.zeros((130, 3)))
