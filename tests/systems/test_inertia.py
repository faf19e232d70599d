"""Mass and inertia against quadrature, mpmath and each other. No oracle here uses the code it checks."""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
import pytest

from each import each
from polhode.bodies import inertia as mass_of
from polhode.bodies.inertia import MassProperties, principal, principal_axes
from polhode.errors import InvalidInput

ULP = np.finfo(float).eps


def rotation(q):
    """R(q) column by column from the Hamilton products q e_k q*, written out apart from the library."""

    def product(a, b):
        return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])

    q = np.asarray(q, dtype=float)
    conjugate = q * [1, -1, -1, -1]
    return np.stack([product(product(q, np.eye(4)[k + 1]), conjugate)[1:] for k in range(3)], axis=1)


def random_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def turned(moments, q):
    tensor = rotation(q) @ np.diag(moments) @ rotation(q).T
    return 0.5 * (tensor + tensor.T)


def assert_reconstructs(tensor, **options):
    tensor = np.asarray(tensor, dtype=float)
    moments, frame = principal(tensor, **options)
    matrix = rotation(frame)
    assert abs(np.linalg.norm(frame) - 1.0) <= 1e-15
    assert frame[0] >= 0.0
    assert abs(np.linalg.det(matrix) - 1.0) <= 4e-15
    assert np.abs(matrix @ matrix.T - np.eye(3)).max() <= 2e-15
    assert np.abs(matrix @ np.diag(moments) @ matrix.T - tensor).max() <= 3e-15 * np.abs(tensor).max()
    return moments, frame


# ---------------------------------------------------------------------------------------------------------------------
# principal


def test_moments_and_diagonal_tensors_keep_their_order():
    for moments in itertools.permutations((3.0, 2.0, 4.5)):
        for given in (moments, list(moments), np.diag(moments)):
            result = principal(given)
            assert result.moments.tolist() == list(moments)
            assert result.frame.tolist() == [1.0, 0.0, 0.0, 0.0]


@each("kind", ["any", "symmetric", "flat", "graded"])
def test_random_tensors_are_reconstructed(kind):
    rng = np.random.default_rng(["any", "symmetric", "flat", "graded"].index(kind))
    for _ in range(60):
        d = rng.uniform(0.05, 1.0, size=3)
        if kind == "symmetric":
            d[1] = d[0]
        elif kind == "flat":
            d[rng.integers(3)] = 0.0
        elif kind == "graded":
            d = 10.0 ** rng.uniform(-9, 0, size=3)
        moments = np.array([d[1] + d[2], d[2] + d[0], d[0] + d[1]])
        tensor = turned(moments, random_quaternion(rng)) * 10.0 ** rng.uniform(-30, 30)
        found, _ = assert_reconstructs(tensor)
        np.testing.assert_allclose(
            np.sort(found), np.linalg.eigvalsh(tensor), rtol=0, atol=4e-15 * np.abs(tensor).max()
        )


def degenerate_tensors():
    rng = np.random.default_rng(7)
    yield np.eye(3) * 2.5
    for q in ([1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5], [0.5**0.5, 0.5**0.5, 0, 0], [0, 1, 0, 0], random_quaternion(rng)):
        for moments in (
            (1, 1, 1),
            (1, 1, 1 + ULP),
            (1 - ULP / 2, 1, 1 + ULP),
            (1, 1, 1 + 1e-12),
            (1, 1, 1.5),
            (1, 1, 1e-8),
            (1e-8, 1, 1),
            (1, 1e-8, 1),
            (1, 1, 1e-12),
            (2, 1, 1),
            (1, 1, 2),
        ):
            yield turned(np.array(moments, dtype=float), np.array(q, dtype=float))
    for noise in (ULP / 2, ULP, 4 * ULP, 1e-12, 1e-8, 5e-324):
        for i, j in ((0, 1), (0, 2), (1, 2)):
            tensor = np.diag([2.0, 2.0, 3.0])
            tensor[i, j] = tensor[j, i] = noise
            yield tensor
        yield np.eye(3) + noise * (np.ones((3, 3)) - np.eye(3))
        yield np.eye(3) - noise * np.outer([1, -1, 1], [1, -1, 1])


def test_degenerate_tensors_get_a_proper_unit_frame():
    count = 0
    for tensor in degenerate_tensors():
        assert_reconstructs(tensor)
        count += 1
    assert count > 80


def test_frame_maps_principal_to_user_components():
    q = np.array([0.8, 0.0, 0.0, 0.6])
    moments, frame = assert_reconstructs(turned([1.0, 2.0, 2.5], q))
    omega = np.array([0.3, -0.2, 0.9])  # in the user's frame
    matrix = rotation(frame)
    np.testing.assert_allclose(
        matrix @ (moments * (matrix.T @ omega)), turned([1.0, 2.0, 2.5], q) @ omega, rtol=0, atol=4e-15
    )


def test_a_nearly_diagonal_tensor_keeps_its_axes():
    tensor = np.array([[3.0, 1e-6, 0.0], [1e-6, 2.0, -2e-6], [0.0, -2e-6, 4.0]])
    moments, frame = assert_reconstructs(tensor)
    np.testing.assert_allclose(moments, [3.0, 2.0, 4.0], rtol=0, atol=4e-11)
    assert frame[0] > 1.0 - 1e-11


def test_small_moments_of_a_graded_tensor_keep_their_relative_accuracy():
    tensor = np.array([[1.0, 0.1, 3e-7], [0.1, 1.0, -2e-7], [3e-7, -2e-7, 1e-12]])
    with mpmath.workdps(50):
        exact = sorted(float(value) for value in mpmath.eigsy(mpmath.matrix(tensor.tolist()), eigvals_only=True))
    np.testing.assert_allclose(np.sort(principal(tensor, triangle=False).moments), exact, rtol=4e-15)


@each("scale", [1e-300, 1e-47, 1e-6, 1.0, 1e47, 1e300])
def test_the_scale_of_the_units_does_not_matter(scale):
    """No hidden epsilon: moments of 1e-47 kg m^2 (molecules in SI) are as good as any (LAMMPS issue 1657)."""
    assert principal([scale, scale, scale * 1e-3]).moments.tolist() == [scale, scale, scale * 1e-3]
    assert_reconstructs(turned([2.0, 2.5, 1.0], [0.5, -0.5, 0.1, 0.7]) * scale)


def test_tiny_moments_are_kept():
    assert principal([1.0, 1.0, 1e-300]).moments[2] == 1e-300
    moments, _ = assert_reconstructs(turned([1.0, 1.0, 1e-8], random_quaternion(np.random.default_rng(3))))
    assert abs(moments.min() - 1e-8) < 1e-15


def test_triangle_violations_within_the_tolerance_or_on_request_pass():
    principal([1.0, 1.0, 2.0 * (1.0 + 0.9e-9)])
    assert principal([1.0, 1.0, 5.0], triangle=False).moments[2] == 5.0
    assert_reconstructs(turned([1.0, 1.0, 5.0], [0.5, 0.5, 0.5, 0.5]), triangle=False)


def test_asymmetry_within_the_tolerance_is_averaged():
    tensor = np.array([[2.0, 0.5 + 1e-9, 0.0], [0.5, 3.0, 0.0], [0.0, 0.0, 4.0]])
    mean = 0.5 * (tensor + tensor.T)
    moments, frame = principal(tensor)
    np.testing.assert_allclose(rotation(frame) @ np.diag(moments) @ rotation(frame).T, mean, rtol=0, atol=1e-14)


def test_the_input_is_not_changed():
    tensor = np.array([[2.0, 0.1, 0.0], [0.1, 3.0, 0.2], [0.0, 0.2, 4.0]])
    before = tensor.copy()
    principal(tensor)
    MassProperties(1.0, np.zeros(3), tensor)
    assert np.array_equal(tensor, before)
    assert tensor.flags.writeable


# ---------------------------------------------------------------------------------------------------------------------
# second moments and the parallel axis


def test_d_back_and_forth():
    rng = np.random.default_rng(11)
    for _ in range(100):
        d = rng.uniform(0.0, 2.0, size=3)
        moments = mass_of.inertia_from_d(d)
        np.testing.assert_allclose(moments, [d[1] + d[2], d[0] + d[2], d[0] + d[1]], rtol=0, atol=0)
        np.testing.assert_allclose(mass_of.d_from_inertia(moments), d, rtol=0, atol=8e-16)
    assert mass_of.d_from_inertia([1, 1, 2]).tolist() == [1, 1, 0]
    assert mass_of.inertia_from_d([0, 0, 1]).tolist() == [1, 1, 0]
    for moments in ([1.0, 1.0, 2.0 * (1 + 5e-10)], [0.3, 0.1, 0.4]):  # flat bodies and round-off come back
        np.testing.assert_allclose(mass_of.inertia_from_d(mass_of.d_from_inertia(moments)), moments, rtol=1e-15)


def test_second_moments_are_d_in_principal_axes_and_covariant():
    rng = np.random.default_rng(12)
    moments, q = np.array([2.0, 3.0, 4.5]), random_quaternion(rng)
    d = mass_of.d_from_inertia(moments)
    np.testing.assert_allclose(mass_of.second_moments_from_inertia(moments), np.diag(d), rtol=0, atol=1e-15)
    tensor = turned(moments, q)
    second = mass_of.second_moments_from_inertia(tensor)
    np.testing.assert_allclose(second, turned(d, q), rtol=0, atol=4e-15)
    np.testing.assert_allclose(mass_of.inertia_from_second_moments(second), tensor, rtol=0, atol=2e-15)


def test_parallel_axis_round_trip_and_closed_form():
    rng = np.random.default_rng(13)
    for _ in range(50):
        tensor, offset, mass = turned([2.0, 3.0, 4.5], random_quaternion(rng)), rng.normal(size=3), rng.uniform(0.1, 5)
        moved = mass_of.parallel_axis(tensor, mass, offset)
        np.testing.assert_allclose(moved, tensor + mass * (offset @ offset * np.eye(3) - np.outer(offset, offset)))
        np.testing.assert_allclose(mass_of.parallel_axis_inverse(moved, mass, offset), tensor, rtol=0, atol=2e-14)
        assert np.array_equal(mass_of.parallel_axis(tensor, mass, -offset), moved)


def test_about_is_the_sum_over_the_points():
    rng = np.random.default_rng(14)
    masses, positions, point = rng.uniform(0.5, 2, size=9), rng.normal(size=(9, 3)), rng.normal(size=3)
    direct = np.zeros((3, 3))
    for m, x in zip(masses, positions - point, strict=True):
        direct += m * (x @ x * np.eye(3) - np.outer(x, x))
    np.testing.assert_allclose(mass_of.point_masses(masses, positions).about(point), direct, rtol=1e-13, atol=1e-13)


# ---------------------------------------------------------------------------------------------------------------------
# solids against quadrature


def gauss(low, high, n=8):
    x, w = np.polynomial.legendre.leggauss(n)
    return 0.5 * (high - low) * x + 0.5 * (high + low), 0.5 * (high - low) * w


def cloud(axes, chart, weight):
    """Quadrature points and masses (of total 1) of a body: Gauss rules on a box of coordinates, mapped by ``chart``."""
    nodes = np.meshgrid(*(x for x, _ in axes), indexing="ij")
    weights = np.ones_like(nodes[0])
    for factor in np.meshgrid(*(w for _, w in axes), indexing="ij"):
        weights = weights * factor
    m = (weights * weight(*nodes)).ravel()
    return m / m.sum(), np.stack([np.broadcast_to(part, nodes[0].shape).ravel() for part in chart(*nodes)], axis=1)


def ring(n=16):
    return 2 * np.pi * np.arange(n) / n, np.full(n, 2 * np.pi / n)


def tube(inner, outer, height):
    across = gauss(inner, outer) if outer > inner else (np.array([outer]), np.ones(1))
    along = gauss(-height / 2, height / 2) if height > 0 else (np.zeros(1), np.ones(1))
    return cloud((across, ring(), along), lambda r, p, z: (r * np.cos(p), r * np.sin(p), z), lambda r, p, z: r)


def ball(inner, a, b, c):
    across = gauss(inner, 1.0) if inner < 1.0 else (np.ones(1), np.ones(1))
    return cloud(
        (across, gauss(-1, 1), ring()),
        lambda r, u, p: (
            a * r * np.sqrt(1 - u * u) * np.cos(p),
            b * r * np.sqrt(1 - u * u) * np.sin(p),
            c * r * u,
        ),
        lambda r, u, p: r * r,
    )


SOLIDS = {
    "box": (
        lambda m: mass_of.box(m, (1.0, 2.0, 3.5)),
        cloud(
            (gauss(-0.5, 0.5), gauss(-1.0, 1.0), gauss(-1.75, 1.75)),
            lambda x, y, z: (x, y, z),
            lambda x, y, z: np.ones_like(x),
        ),
    ),
    "plate": (
        lambda m: mass_of.box(m, (1.0, 0.0, 3.0)),
        cloud(
            (gauss(-0.5, 0.5), (np.zeros(1), np.ones(1)), gauss(-1.5, 1.5)),
            lambda x, y, z: (x, y, z),
            lambda x, y, z: np.ones_like(x),
        ),
    ),
    "ellipsoid": (lambda m: mass_of.ellipsoid(m, (1.0, 0.5, 2.0)), ball(0.0, 1.0, 0.5, 2.0)),
    "sphere": (lambda m: mass_of.sphere(m, 1.5), ball(0.0, 1.5, 1.5, 1.5)),
    "hollow sphere": (lambda m: mass_of.sphere(m, 2.0, inner_radius=1.5), ball(0.75, 2.0, 2.0, 2.0)),
    "shell": (lambda m: mass_of.sphere(m, 2.0, inner_radius=2.0), ball(1.0, 2.0, 2.0, 2.0)),
    "cylinder": (lambda m: mass_of.cylinder(m, 0.7, 3.0), tube(0.0, 0.7, 3.0)),
    "bored cylinder": (lambda m: mass_of.cylinder(m, 0.7, 3.0, inner_radius=0.4), tube(0.4, 0.7, 3.0)),
    "thin tube": (lambda m: mass_of.cylinder(m, 0.7, 3.0, inner_radius=0.7), tube(0.7, 0.7, 3.0)),
    "disk": (lambda m: mass_of.disk(m, 1.3), tube(0.0, 1.3, 0.0)),
    "ring": (lambda m: mass_of.disk(m, 1.3, inner_radius=0.9), tube(0.9, 1.3, 0.0)),
    "hoop": (lambda m: mass_of.disk(m, 1.3, inner_radius=1.3), tube(1.3, 1.3, 0.0)),
    "thin rod": (
        lambda m: mass_of.thin_rod(m, 2.5),
        cloud((gauss(-1.25, 1.25),), lambda z: (0 * z, 0 * z, z), np.ones_like),
    ),
}


@each("name", SOLIDS)
def test_solids_against_quadrature(name):
    build, (weights, points) = SOLIDS[name]
    body = build(2.5)
    assert body.mass == 2.5
    assert not body.center_of_mass.any()
    direct = 2.5 * np.einsum("n,nij->ij", weights, [x @ x * np.eye(3) - np.outer(x, x) for x in points])
    np.testing.assert_allclose(body.inertia, direct, rtol=1e-14, atol=1e-14)


def test_thin_shell_limit_has_no_cancellation():
    with mpmath.workdps(60):
        outer, inner = mpmath.mpf(2), mpmath.mpf(2 * (1 - 1e-9))
        exact = float(mpmath.mpf(2) / 5 * (outer**5 - inner**5) / (outer**3 - inner**3))
    np.testing.assert_allclose(mass_of.sphere(1.0, 2.0, inner_radius=2 * (1 - 1e-9)).inertia[0, 0], exact, rtol=1e-15)


# ---------------------------------------------------------------------------------------------------------------------
# composition, rotation, translation


def assert_same(a, b, tolerance=1e-14):
    size = np.abs(b.inertia).max()
    assert a.mass == pytest.approx(b.mass, rel=tolerance)
    np.testing.assert_allclose(a.center_of_mass, b.center_of_mass, rtol=0, atol=tolerance)
    np.testing.assert_allclose(a.inertia, b.inertia, rtol=0, atol=tolerance * size)


def test_two_half_boxes_are_a_box():
    half = mass_of.box(1.5, (1.0, 2.0, 1.75))
    assert_same(half.translated((0, 0, -0.875)) + half.translated((0, 0, 0.875)), mass_of.box(3.0, (1.0, 2.0, 3.5)))


def test_eight_octants_are_a_box_anywhere_by_sum():
    rng = np.random.default_rng(21)
    q, v = random_quaternion(rng), rng.normal(size=3)
    part = mass_of.box(0.25, (0.5, 1.0, 1.5))
    corners = itertools.product((-0.25, 0.25), (-0.5, 0.5), (-0.75, 0.75))
    total = sum(part.translated(corner).rotated(q).translated(v) for corner in corners)
    assert_same(total, mass_of.box(2.0, (1.0, 2.0, 3.0)).rotated(q).translated(v), 4e-15)


def test_sphere_minus_nothing_is_sphere_plus_shell():
    inner, shell = mass_of.sphere(1.0, 1.0), mass_of.sphere(7.0, 2.0, inner_radius=1.0)
    assert_same(inner + shell, mass_of.sphere(8.0, 2.0))


def test_composition_commutes_and_associates():
    rng = np.random.default_rng(22)
    a, b, c = (
        mass_of.ellipsoid(rng.uniform(0.1, 3), rng.uniform(0.5, 2, size=3))
        .rotated(random_quaternion(rng))
        .translated(rng.normal(size=3))
        for _ in range(3)
    )
    assert_same(a + b, b + a)
    assert_same((a + b) + c, a + (b + c))


def test_rotation_covariance():
    rng = np.random.default_rng(23)
    masses, positions = rng.uniform(0.5, 2, size=6), rng.normal(size=(6, 3))
    body = mass_of.point_masses(masses, positions)
    for _ in range(20):
        q = random_quaternion(rng)
        assert_same(body.rotated(q), mass_of.point_masses(masses, positions @ rotation(q).T), 2e-14)
        np.testing.assert_allclose(
            np.sort(principal(body.rotated(q).inertia).moments), np.sort(principal(body.inertia).moments), rtol=1e-14
        )
        assert_same(body.rotated(q).rotated(q * [1, -1, -1, -1]), body, 2e-14)
    quarter = mass_of.box(12.0, (1, 2, 3)).translated((1, 0, 0)).rotated([0.5**0.5, 0, 0, 0.5**0.5])
    np.testing.assert_allclose(quarter.center_of_mass, [0, 1, 0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(quarter.inertia, np.diag([10, 13, 5]), rtol=0, atol=4e-14)


def test_point_masses_far_from_the_origin_and_massless_sites():
    masses = [15.9994, 1.008, 1.008, 0.0]
    positions = np.array([[0, 0, 0.0], [0.757, 0.586, 0], [-0.757, 0.586, 0], [0, 0.15, 0]])
    near, far = mass_of.point_masses(masses, positions), mass_of.point_masses(masses, positions + 1e6)
    np.testing.assert_allclose(
        far.inertia, near.inertia, rtol=0, atol=2e-9
    )  # the positions themselves are rounded to 1e-10
    np.testing.assert_allclose(far.center_of_mass - 1e6, near.center_of_mass, rtol=0, atol=3e-10)
    assert_same(mass_of.point_masses(masses[:3], positions[:3]), near)
    assert mass_of.d_from_inertia(principal(near.inertia).moments)[2] == pytest.approx(0.0, abs=1e-15)


def test_records_are_read_only_and_accept_moments():
    body = MassProperties(2, [0, 0, 1], (5, 5, 1))
    assert np.array_equal(body.inertia, np.diag([5.0, 5.0, 1.0]))
    with pytest.raises(ValueError, match="read-only"):
        body.inertia[0, 0] = 3.0
    with pytest.raises(TypeError):
        body + 1.0
    with pytest.raises(TypeError):
        1.0 + body


# ---------------------------------------------------------------------------------------------------------------------
# meshes

CUBE_CORNERS = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
CUBE_FACES = np.array(
    [
        (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
        (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
    ]
)  # fmt: skip


def sphere_mesh(levels):
    """An octahedron, each triangle cut in four and pushed out to the unit sphere ``levels`` times."""
    signs = itertools.product((1, -1), repeat=3)
    triangles = np.array(
        [
            [np.array([s, 0, 0]), np.array([0, t, 0]), np.array([0, 0, u])][:: 1 if s * t * u > 0 else -1]
            for s, t, u in signs
        ],
        dtype=float,
    )
    for _ in range(levels):
        a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
        ab, bc, ca = ((x + y) / np.linalg.norm(x + y, axis=1)[:, None] for x, y in ((a, b), (b, c), (c, a)))
        triangles = np.concatenate(
            [np.stack(part, axis=1) for part in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        )
    return triangles.reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3)


@each("flip", [False, True])
def test_box_as_a_mesh_is_the_box(flip):
    rng = np.random.default_rng(31)
    faces = CUBE_FACES[:, ::-1] if flip else CUBE_FACES
    for _ in range(10):
        sides, q, v = rng.uniform(0.2, 3, size=3), random_quaternion(rng), 3.0 * rng.normal(size=3)
        vertices = (CUBE_CORNERS - 0.5) * sides @ rotation(q).T + v
        expected = mass_of.box(1.7 * sides.prod(), sides).rotated(q).translated(v)
        assert_same(mass_of.mesh(vertices, faces, density=1.7), expected, 2e-14)
        assert_same(mass_of.mesh(vertices, faces, mass=expected.mass), expected, 2e-14)


def test_tetrahedron_in_rational_arithmetic():
    """Corner tetrahedron x + y + z <= 1: integral x^2 = 1/60, xy = 1/120, x = 1/24, volume 1/6."""
    body = mass_of.mesh(np.vstack([np.zeros(3), np.eye(3)]), [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)], density=1.0)
    assert body.mass == pytest.approx(1 / 6, rel=1e-15)
    np.testing.assert_allclose(body.center_of_mass, [0.25] * 3, rtol=1e-15)
    expected = np.full((3, 3), -1 / 120) + np.diag([2 / 60 + 1 / 120] * 3)
    np.testing.assert_allclose(body.about([0, 0, 0]), expected, rtol=1e-14)


def test_ellipsoid_mesh_converges_at_second_order():
    axes = np.array([1.0, 0.5, 2.0])
    exact = mass_of.ellipsoid(3.0, axes).inertia
    errors = []
    for levels in (2, 3, 4, 5):
        vertices, faces = sphere_mesh(levels)  # loose triangles: every vertex is repeated
        body = mass_of.mesh(vertices * axes, faces, mass=3.0)
        np.testing.assert_allclose(body.center_of_mass, 0.0, rtol=0, atol=1e-15)
        errors.append(np.abs(body.inertia - exact).max() / exact.max())
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 2.0, rtol=0, atol=0.1)
    assert errors[-1] < 2e-3


def test_loose_triangles_are_joined_across_signed_zeros():
    loose = CUBE_CORNERS[CUBE_FACES].reshape(-1, 3)
    loose[::2] *= np.where(loose[::2] == 0.0, -1.0, 1.0)
    body = mass_of.mesh(loose, np.arange(36).reshape(-1, 3), density=1.0)
    assert_same(body, mass_of.box(1.0, (1, 1, 1)).translated((0.5, 0.5, 0.5)))


def test_a_cavity_is_a_closed_surface_turned_inside_out():
    vertices = np.vstack([2.0 * (CUBE_CORNERS - 0.5), CUBE_CORNERS - 0.5])
    faces = np.vstack([CUBE_FACES, CUBE_FACES[:, ::-1] + 8])
    hollow = mass_of.mesh(vertices, faces, density=1.0)
    assert hollow.mass == pytest.approx(7.0, rel=1e-15)
    assert_same(hollow + mass_of.box(1.0, (1, 1, 1)), mass_of.box(8.0, (2, 2, 2)))


def test_bodies_touching_at_an_edge_and_collapsed_triangles_are_accepted():
    shifted = CUBE_CORNERS + [1.0, 1.0, 0.0]
    faces = np.vstack([CUBE_FACES, CUBE_FACES + 8, [[0, 0, 1]]])
    both = mass_of.mesh(np.vstack([CUBE_CORNERS, shifted]), faces, density=1.0)
    cube = mass_of.box(1.0, (1, 1, 1)).translated((0.5, 0.5, 0.5))
    assert_same(both, cube + cube.translated((1, 1, 0)))


# ---------------------------------------------------------------------------------------------------------------------
# refusals


def cube(vertices=CUBE_CORNERS, faces=CUBE_FACES, **options):
    return mass_of.mesh(vertices, faces, **(options or {"mass": 1.0}))


def with_entry(array, index, value):
    out = np.array(array)
    out[index] = value
    return out


REFUSALS = {
    "scalar": (lambda: principal(3.0), ["shape is ()", "(I, I, I)"]),
    "two moments": (lambda: principal([1, 2]), ["shape is (2,)"]),
    "2x2": (lambda: principal(np.eye(2)), ["shape is (2, 2)"]),
    "ragged": (lambda: principal([[1, 2], [3]]), ["real numbers"]),
    "text": (lambda: principal("round"), ["real numbers", "round"]),
    "complex": (lambda: principal(np.ones(3) + 0j), ["real numbers"]),
    "nan moment": (lambda: principal([1, np.nan, 1]), ["inertia[1] is nan", "finite"]),
    "inf entry": (lambda: principal(with_entry(np.eye(3), (1, 2), np.inf)), ["inertia[1,2] is inf", "finite"]),
    "not symmetric": (
        lambda: principal(with_entry(np.eye(3), (0, 2), 0.25)),
        ["not symmetric", "inertia[0,2] = 0.25", "inertia[2,0] = 0.0", "same value"],
    ),
    "barely not symmetric": (
        lambda: principal(with_entry(np.eye(3), (2, 1), 1.1e-9)),
        ["inertia[1,2]", "inertia[2,1]"],
    ),
    "zero moment": (lambda: principal([1, 2, 0]), ["inertia[2] = 0.0", "not positive", "thickness", "equal"]),
    "two zero moments": (lambda: principal([1, 0, 0]), ["inertia[1] = 0.0", "not positive"]),
    "negative moment": (lambda: principal([1, -2, 1]), ["inertia[1] = -2.0", "not positive"]),
    "negative diagonal": (lambda: principal(np.diag([1, -1, 1])), ["inertia[1,1] = -1.0"]),
    "large product": (
        lambda: principal([[1, 0, 0], [0, 1, 2], [0, 2, 1]]),
        ["inertia[1,2] = 2.0", "inertia[1,1] and inertia[2,2]", "negative"],
    ),
    "indefinite": (
        lambda: principal([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]]),
        ["smallest principal moment", "axis", "is -0.8", "signs of the products"],
    ),
    "drowned moment": (
        lambda: principal(np.outer([0.8, -0.6, 0], [0.8, -0.6, 0]) + 0.9 * np.diag([0, 0, 1])),
        ["smallest principal moment", "round-off", "thickness"],
    ),
    "triangle": (lambda: principal([1, 4, 2]), ["inertia[1] = 4.0", "inertia[2] + inertia[0] = 3.0", "no body"]),
    "triangle, barely": (lambda: principal([1, 1, 2 + 3e-9]), ["inertia[2]", "inertia[0] + inertia[1]"]),
    "triangle, diagonal": (
        lambda: principal(np.diag([9.0, 1, 1])),
        ["inertia[0,0] = 9.0", "inertia[1,1] + inertia[2,2]"],
    ),
    "triangle, tensor": (
        lambda: principal([[1, 0.1, 0], [0.1, 1, 0], [0, 0, 5]]),
        ["principal inertia[2] = 5.0", "principal inertia[0] + principal inertia[1]", "no body can have"],
    ),
    "another name": (lambda: principal([1, 1, 3], name="inertia_kg_m2"), ["inertia_kg_m2[2] = 3.0"]),
    "d of no body": (lambda: mass_of.d_from_inertia([1, 1, 3]), ["moments[2] = 3.0", "d_k would be negative"]),
    "d of a tensor": (lambda: mass_of.d_from_inertia(np.eye(3)), ["moments", "has shape (3, 3)"]),
    "negative d": (lambda: mass_of.inertia_from_d([1, -0.5, 1]), ["d[1] = -0.5", "d_from_inertia"]),
    "flat second moments": (lambda: mass_of.inertia_from_second_moments([1, 2, 3]), ["second_moments", "3x3"]),
    "zero mass": (lambda: mass_of.parallel_axis([1, 1, 1], 0.0, [0, 0, 1]), ["mass is 0", "positive"]),
    "many masses": (lambda: mass_of.parallel_axis([1, 1, 1], [1, 2], [0, 0, 1]), ["mass must be a number"]),
    "short offset": (lambda: mass_of.parallel_axis([1, 1, 1], 1.0, [0, 1]), ["offset", "has shape (2,)"]),
    "offset too long": (
        lambda: mass_of.parallel_axis_inverse([1, 1, 1], 1.0, [0, 0, 2]),
        ["inertia is too small", "offset", "centre of mass already"],
    ),
    "record of no body": (lambda: MassProperties(1, [0, 0, 0], (1, 1, 3)), ["3, exceeds", "2, which no body"]),
    "record negative": (lambda: MassProperties(1, [0, 0, 0], (1, -1, 1)), ["inertia[1,1] = -1.0"]),
    "record center": (lambda: MassProperties(1, [0, 0], (1, 1, 1)), ["center_of_mass", "has shape (2,)"]),
    "long q": (lambda: mass_of.sphere(1, 1).rotated([2, 0, 0, 0]), ["norm 2", "unit quaternion", "(w, x, y, z)"]),
    "short q": (lambda: mass_of.sphere(1, 1).rotated([1, 0, 0]), ["q must be 4 numbers"]),
    "box side": (lambda: mass_of.box(1.0, (1, -2, 1)), ["sides[1] is -2"]),
    "box line": (lambda: mass_of.box(1.0, (1, 0, 0)), ["more than one zero", "thin_rod"]),
    "semi-axis": (lambda: mass_of.ellipsoid(1.0, (1, 1, 0)), ["semi_axes[2] is 0"]),
    "radius": (lambda: mass_of.sphere(1.0, -1.0), ["radius is -1"]),
    "inner radius": (lambda: mass_of.disk(1.0, 1.0, inner_radius=2.0), ["inner_radius = 2.0", "radius = 1.0"]),
    "height": (lambda: mass_of.cylinder(1.0, 1.0, 0.0), ["height is 0"]),
    "length": (lambda: mass_of.thin_rod(1.0, np.inf), ["length is inf"]),
    "solid without mass": (lambda: mass_of.sphere(0.0, 1.0), ["mass is 0"]),
    "point shapes": (lambda: mass_of.point_masses([1, 2], [[0, 0, 0]]), ["(n, 3)", "(2,) and (1, 3)"]),
    "negative point": (lambda: mass_of.point_masses([1, -2], np.eye(3)[:2]), ["masses[1] = -2.0"]),
    "no mass": (lambda: mass_of.point_masses([0, 0], np.eye(3)[:2]), ["all zero"]),
    "no points": (lambda: mass_of.point_masses([], np.empty((0, 3))), ["all zero or there are none"]),
    "nan position": (lambda: mass_of.point_masses([1], [[0, np.nan, 0]]), ["positions[0,1] is nan"]),
    "mesh without mass": (lambda: mass_of.mesh(CUBE_CORNERS, CUBE_FACES), ["one of density and mass"]),
    "mesh with both": (lambda: cube(density=1.0, mass=1.0), ["one of density and mass"]),
    "mesh density": (lambda: cube(density=-1.0), ["density is -1"]),
    "mesh vertices": (lambda: cube(vertices=CUBE_CORNERS[:, :2]), ["vertices", "(8, 2)"]),
    "mesh nan": (lambda: cube(vertices=with_entry(CUBE_CORNERS, (3, 1), np.nan)), ["vertices[3,1] is nan"]),
    "quads": (lambda: cube(faces=[[0, 1, 3, 2]]), ["(m, 3)", "(1, 4)", "triangles"]),
    "mixed polygons": (lambda: cube(faces=[[0, 1, 3, 2], [0, 1, 2]]), ["(m, 3)", "triangles"]),
    "float faces": (lambda: cube(faces=CUBE_FACES * 1.0), ["integers", "float64"]),
    "index": (lambda: cube(faces=with_entry(CUBE_FACES, (4, 2), 8)), ["faces[4,2] = 8", "0 to 7"]),
    "one-based index": (lambda: cube(faces=CUBE_FACES + 1), ["= 8 is no vertex", "0 to 7"]),
    "open": (lambda: cube(faces=CUBE_FACES[1:]), ["open", "3 edges", "edge (0, 1) of face 4", "close the holes"]),
    "turned face": (
        lambda: cube(faces=with_entry(CUBE_FACES, 0, CUBE_FACES[0, ::-1])),
        ["inconsistently oriented", "faces 0 and 5", "(0, 1)", "reverse"],
    ),
    "repeated face": (
        lambda: cube(faces=np.vstack([CUBE_FACES, np.roll(CUBE_FACES[5], 1)])),
        ["face 12 repeats face 5"],
    ),
    "no volume": (lambda: cube(faces=[[0, 1, 2], [0, 2, 1]]), ["no volume"]),
    "all collapsed": (lambda: cube(faces=[[0, 0, 1]]), ["no volume", "coinciding"]),
}


@each("name", REFUSALS)
def test_refusals_name_the_entry_in_one_sentence(name):
    call, parts = REFUSALS[name]
    with pytest.raises(InvalidInput) as caught:
        call()
    message = str(caught.value)
    for part in parts:
        assert part in message, message
    assert ". " not in message
    assert not message.endswith(".")
    assert "\n" not in message
    assert "np.float64" not in message


def tensors(M, seed=7):
    """Tensors of bodies with random moments and axes, some of them diagonal, thin, or nearly so."""
    random = np.random.default_rng(seed)
    d = random.uniform(0.1, 1.0, (M, 3))
    moments = d.sum(axis=1)[:, None] - d
    frames = random.normal(size=(M, 4))
    R = np.array([rotation(q / np.linalg.norm(q)) for q in frames])
    made = np.einsum("nij,nj,nkj->nik", R, moments, R)
    made = 0.5 * (made + made.transpose(0, 2, 1))
    made[0] = np.diag([2.0, 1.0, 2.5])
    made[1] = np.diag([2.0, 0.0, 2.0])
    made[2] = R[2] @ np.diag([1.0, 1.0, 2.0 * (1 - 1e-10)]) @ R[2].T
    made[3] *= 1e-200
    made[4] = np.diag([1.0, 1e-6, 1.0]) + 1e-13 * (np.ones((3, 3)) - np.eye(3))
    return made


def test_many_at_once_are_bit_for_bit_what_one_alone_is():
    made = tensors(200)
    found = mass_of.principal_of_many(made)
    for k, one in enumerate(made):
        alone = mass_of.principal(one)
        assert (found.moments[k] == alone.moments).all() and (found.frame[k] == alone.frame).all(), k
    R = np.array([rotation(q) for q in found.frame])
    again = np.einsum("nij,nj,nkj->nik", R, found.moments, R)
    assert np.abs(again - made).max() < 4e-15
    moments = np.array([[1.0, 2.0, 3.0], [0.0, 2.0, 2.0], [5.0, 4.0, 3.0]])
    found = mass_of.principal_of_many(moments)
    assert (found.moments == moments).all() and (found.frame == [1.0, 0.0, 0.0, 0.0]).all()
    assert mass_of.principal_of_many(np.empty((0, 3, 3))).frame.shape == (0, 4)


def test_many_at_once_are_diagonalised_by_one_call_and_no_python(monkeypatch):
    counted = []
    monkeypatch.setattr(principal_axes, "principal", lambda *given, **_: counted.append(given))
    mass_of.principal_of_many(tensors(50)[5:])
    mass_of.principal_of_many(np.full((50, 3), 2.0))
    assert not counted


@each(
    ("change", "told"),
    [
        (lambda made: made.__setitem__((7, 0, 0), -1.0), r"inertia of member 7\[0,0\] = -1.0 is not positive"),
        (lambda made: made.__setitem__((9, 0, 1), 5.0), r"inertia of member 9 is not symmetric"),
        (lambda made: made.__setitem__(8, np.diag([1.0, 1.0, 3.0])), r"inertia of member 8\[2,2\] = 3.0 exceeds"),
        (lambda made: made.__setitem__((6, 1, 1), np.nan), r"inertia\[6,1,1\] is nan"),
    ],
)
def test_a_member_that_no_body_can_be_is_named(change, told):
    made = tensors(12)
    change(made)
    with pytest.raises(InvalidInput, match=told):
        mass_of.principal_of_many(made)
    with pytest.raises(InvalidInput, match=r"for each member, but its shape is \(3,\)"):
        mass_of.principal_of_many([1.0, 2.0, 3.0])
