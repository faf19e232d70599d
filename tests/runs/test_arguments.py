"""The gate that all public functions read their arguments through, and what it refuses."""

from __future__ import annotations

import decimal
import fractions

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode import arguments
from polhode.errors import InvalidInput

astropy_units = pytest.importorskip("astropy.units")

LOOP: list = []
LOOP.append(LOOP)

NO_NUMBERS = {
    "None": None, "text": "1.5", "bytes": b"1.5", "truth": True, "complex": 1j, "a mapping": {"a": 1.0}, "a set": {1.0},
    "an object": object(), "a class": float,
    "ragged": [[1.0], [1.0, 2.0]], "texts": ["1", "2"], "truths": [True, False],
    "None within": [None, 1.0], "a time": np.timedelta64(5, "m"), "a date": np.datetime64("2030-01-01"),
    "nan": float("nan"), "infinity": [1.0, -np.inf], "huge": 10**400, "huger": 10**5000, "a loop": LOOP,
    "masked": np.ma.masked_array([1.0, 2.0], [False, True]), "records": np.zeros(2, dtype=[("x", float)]),
    "too many": np.broadcast_to(1.0, (10**7, 10**7)), "objects": np.array([1.0, "2"], dtype=object),
}  # fmt: skip


@each("kind", NO_NUMBERS)
def test_what_is_no_number_is_refused_in_one_sentence_that_names_the_argument(kind):
    with pytest.raises(InvalidInput, match=r"^omega\b") as refused:
        arguments.array(NO_NUMBERS[kind], "omega", "rad / s")
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 300
    with pytest.raises(InvalidInput, match=r"^omega\b"):
        arguments.number(NO_NUMBERS[kind], "omega", "rad / s")


def test_numbers_of_every_kind_are_numbers():
    kinds = [2, 2.0, np.float32(2), np.int8(2), np.array(2.0), decimal.Decimal(2), fractions.Fraction(2), np.array([2])]
    assert [float(arguments.array(kind, "x").sum()) for kind in kinds] == [2.0] * len(kinds)
    for kind in kinds[:-1]:  # numbers of numpy too are plain ones from then on
        assert type(arguments.number(kind, "x")) is float
    assert type(arguments.number(np.float64(2), "x")) is float and arguments.array((), "x").shape == (0,)
    kept = np.arange(3.0)
    assert arguments.array(kept, "x") is kept
    fresh = arguments.vector(kept, "x")
    assert not np.shares_memory(fresh, kept) and fresh.tolist() == [0.0, 1.0, 2.0]


def test_quantities_turn_into_the_unit_of_the_argument_or_are_refused():
    u = astropy_units
    for given in ([7000.0, 0.0, 1.0] * u.km, [7000.0 * u.km, 0.0 * u.km, 1000.0 * u.m]):
        np.testing.assert_allclose(arguments.array(given, "position", "m"), [7e6, 0.0, 1e3], rtol=1e-15)
    assert arguments.number(90 * u.deg, "angle", "rad") == np.pi / 2
    assert arguments.number(50 * u.percent, "share") == 0.5
    np.testing.assert_allclose(arguments.number(1 * u.N * u.m * u.s**2 / u.rad, "inertia", "kg * m**2"), 1.0)
    for wrong, unit in ((1 * u.s, "m"), (1 * u.deg, ""), (1 / u.s, "rad / s"), (1 * u.m, arguments.UNKNOWN)):
        with pytest.raises(InvalidInput, match=r"^it is a quantity in "):
            arguments.number(wrong, "it", unit)
    with pytest.raises(InvalidInput, match=r"^it\[1\] is a quantity in s,"):
        arguments.array([1.0, 2.0 * u.s], "it", "m")


class Pint:
    """What polhode uses of a quantity of pint."""

    magnitude, units = 3.0, "kilometer"

    def m_as(self, unit):
        if unit != "m":
            raise ValueError("Cannot convert from 'kilometer'")
        return 3000.0

    def __array__(self, dtype=None, copy=None):
        return np.array(3.0)


def test_quantities_of_pint_are_never_stripped():
    assert arguments.number(Pint(), "height", "m") == 3000.0
    assert arguments.array([Pint(), Pint()], "height", "m").tolist() == [3000.0, 3000.0]
    with pytest.raises(InvalidInput, match=r"^height is a quantity in kilometer"):
        arguments.number(Pint(), "height", "s")


def test_an_attitude_may_be_a_quaternion_a_matrix_or_a_rotation_of_scipy():
    from scipy.spatial.transform import Rotation

    turned = Rotation.from_rotvec([[0.3, -0.2, 2.9], [0.0, 1.0, 0.0]])
    x, y, z, w = turned.as_quat().T
    expected = np.stack([w, x, y, z], axis=-1)
    as_quaternion = ph.rotation.as_quaternion
    np.testing.assert_allclose(as_quaternion(turned), expected, rtol=0, atol=1e-15)
    np.testing.assert_allclose(as_quaternion(turned.as_matrix()), expected, rtol=0, atol=1e-15)
    np.testing.assert_allclose(as_quaternion(expected.tolist()), expected, rtol=0, atol=1e-15)
    np.testing.assert_allclose(as_quaternion(turned[0].as_matrix()), expected[0], rtol=0, atol=1e-15)
    assert as_quaternion((1.0 + 5e-7, 0, 0, 0)).tolist() == [1.0, 0.0, 0.0, 0.0]
    for wrong, told in (
        ([[1, 0, 0, 0], [2, 0, 0, 0]], r"^attitude\[1\] has length 2; give a unit quaternion"),
        ((0.1, 0.2, 0.3), r"^attitude has shape \(3,\); give a unit quaternion \(w, x, y, z\), a rotation matrix"),
        (np.diag([1.0, 1.0, -1.0]), "^attitude is a reflection"),
        (2 * np.eye(3), "^attitude is not a rotation matrix"),
        ("north", "^attitude must be real numbers"),
        ([1, 0, 0, 0] * astropy_units.m, "^attitude is a quantity in m"),
    ):
        with pytest.raises(InvalidInput, match=told):
            as_quaternion(wrong)
