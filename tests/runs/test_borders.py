"""Every public function, with quantities for its arguments and with wrong kinds of arguments.

What a call may end in: an answer without nan, or an error of polhode, which is one sentence. Functions are found by
introspection (``public_calls``), so that a new one without a good call there fails the first test.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import importlib.util
import inspect
import itertools
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import polhode as ph
from cover import some
from each import each
from outcomes import EXPENSIVE, FUNCTIONS, few_gigabytes, leaves, outcome
from polhode.errors import InvalidInput
from public_calls import CALLS, UNTRIED, R, V, arguments_of

pytestmark = pytest.mark.usefixtures("columns_by_twos")
KINDS = ("POSITIONAL_OR_KEYWORD", "KEYWORD_ONLY", "POSITIONAL_ONLY")


def test_every_public_function_has_a_good_call_of_all_its_arguments():
    assert set(FUNCTIONS) == set(CALLS) | UNTRIED
    missing = {}
    for name, calls in CALLS.items():
        known = {key for key, p in inspect.signature(FUNCTIONS[name]).parameters.items() if p.kind.name in KINDS}
        given = set().union(*calls)
        missing[name] = known - given - NOT_GIVEN.get(name, set()) - OF_FUNCTIONS
    assert not {name: words for name, words in missing.items() if words}


OF_FUNCTIONS = {
    "potential",
    "load",
    "controllers",
    "torque",
    "force",
    "work",
    "gradient",
    "sunlight",
    "reported_energy",
}
"""Where one function of the user's stands for all."""
NOT_GIVEN = {
    "load": {"system"}, "resume": {"system"}, "surroundings.ephemeris": {"digest"},
    "surroundings.magnetic_field": {"digest"}, "loads.harmonics": {"digest"}, "surroundings.igrf_field": {"digest"},
}  # fmt: skip


# ------------------------------------------------------------------ wrong kinds
class Hostile:
    """An object that fails in every way in which it is looked at."""

    def __getattr__(self, name):
        raise RuntimeError("hostile")

    def _fail(self, *_):
        raise RuntimeError("hostile")

    __repr__ = __str__ = __len__ = __iter__ = __float__ = __int__ = __index__ = __array__ = __eq__ = __bool__ = _fail
    __call__ = __getitem__ = __add__ = __lt__ = __fspath__ = __contains__ = __format__ = _fail
    __hash__ = None


LOOP: list = []
LOOP.append(LOOP)
DEEP: list = [1.0]
for _ in range(2000):
    DEEP = [DEEP]

WRONG = {
    "None": None, "True": True, "a word": "north", "a number in words": "1.5", "nothing": "", "zero byte": "a\0b",
    "long word": "x" * 100_000, "bytes": b"1.5", "complex": 1.0 + 1.0j, "no list": [], "no tuple": (), "no mapping": {},
    "a mapping": {"a": 1.0}, "keys": {1: 2.0}, "a set": {1.0}, "an object": object(), "a class": float,
    "a function": lambda *given: None, "hostile": Hostile(), "ragged": [[1.0], [1.0, 2.0]], "texts": ["a", "b", "c"],
    "nones": [None, None, None], "loop": LOOP, "deep": DEEP, "nan": float("nan"), "inf": float("inf"),
    "-inf": float("-inf"), "nans": [float("nan")] * 3, "nan4": [float("nan")] * 4, "huge": 10**400, "huger": 10**5000,
    "huges": [10**400] * 3, "-huge": -(10**400), "0": 0, "-1": -1, "0.0": 0.0, "-2.5": -2.5, "2.5": 2.5, "1e308": 1e308,
    "-1e308": -1e308, "5e-324": 5e-324, "1e308s": [1e308] * 3, "5e-324s": [5e-324] * 3, "zeros": [0.0] * 3,
    "10^12": 10**12, "10^18": 10**18, "no array": np.empty(0), "no rows": np.empty((0, 3)), "2 numbers": [1.0, 2.0],
    "5 numbers": [1.0] * 5, "block": np.ones((2, 2, 2)), "ones": np.ones((3, 3)), "objects": np.array([None, 1.0, "a"]),
    "complexes": np.array([1j, 0, 0]), "bools": np.array([True, False, True]), "a date": np.datetime64("2030-01-01"),
    "a time": np.timedelta64(5, "m"), "masked": np.ma.masked_array([1.0, 2.0, 3.0], [True, False, False]),
    "records": np.zeros(3, dtype=[("x", float)]), "endless": np.broadcast_to(1.0, (10**9, 10**6, 3)),
    "endless numbers": np.broadcast_to(1.0, (10**15,)), "range": range(3), "generator": (k for k in range(3)),
    "slice": slice(None), "no Dataset": xr.Dataset(), "a Dataset": xr.Dataset({"x": ("t", [1.0])}),
    "a DataArray": xr.DataArray([1.0, 2.0]), "a path": Path("none") / "here.nc", "an error": ValueError("x"),
    "int8": np.int8(-5), "float16": np.float16(0.1), "longdouble": np.longdouble("1e400"), "ellipsis": ...,
    "module": np,
}  # fmt: skip


def mutations(name):
    """All calls of a function with one argument of a wrong kind: (which call, argument, kind)."""
    for k, call in enumerate(CALLS[name]):
        for argument, kind in itertools.product(call, WRONG):
            yield k, argument, kind


LONG_BY_WISH = {("integrate", "t_end"), ("integrate", "t0"), ("compare", "t_end"), ("compare", "t0")}
"""Arguments that may ask for a run of any length."""
TOLD = {"progress", "tell"}
"""Arguments that are functions whose errors are the user's: they come through as they are, and so can stop a run."""
FAILING = {"a class", "hostile"}
LARGE = {"1e308", "-1e308", "10^12", "10^18"}


def walk(calls, monkeypatch, tmp_path):
    """How many calls ended in which way, and the calls that went wrong."""
    monkeypatch.chdir(tmp_path)
    counts, wrong = collections.Counter(), []
    with few_gigabytes():
        for name, k, changes in calls:
            if any((name, argument) in LONG_BY_WISH and kind in LARGE for argument, kind in changes.items()):
                continue
            if any(argument in TOLD and kind in FAILING for argument, kind in changes.items()):
                continue
            arguments = arguments_of(name, k) | {argument: WRONG[kind] for argument, kind in changes.items()}
            ended, told = outcome(name, arguments, warned=False)
            if ended == "refused":
                ended = type(told).__name__
                if len(str(told)) > 3000 or "Traceback" in str(told):
                    wrong.append((name, k, changes, "long", str(told)[:200]))
            elif ended != "fine":
                wrong.append((name, k, changes, ended, str(told)[:200] if ended not in ("nan", "TooLong") else ""))
            counts[ended] += 1
    return counts, wrong


FOUND = [
    ("bodies.bodies", 0, {"n": "10^12"}), ("states.of", 0, {"x": "nan"}), ("integrate", 5, {"parameters": "hostile"}),
    ("ensemble", 2, {"members": "10^12"}), ("ensemble", 4, {"parameters": "hostile"}), ("fit", 0, {"arcs": "10^12"}),
    ("estimation.range_rate", 0, {"station": "long word"}),
    ("estimation.range", 0, {"sigma": "deep", "name": "long word"}),
]  # fmt: skip
"""Calls that once ended in another error, in none, or never."""


def test_wrong_kinds_end_in_a_sentence(monkeypatch, tmp_path):
    """Some of the calls with one wrong argument, and those that went wrong once; with ``-m full`` all of them."""
    calls = (
        (name, k, {argument: kind})
        for name in CALLS if name not in EXPENSIVE
        for n, (k, argument, kind) in enumerate(mutations(name)) if n % 67 == len(name) % 67
    )  # fmt: skip
    counts, wrong = walk(itertools.chain(calls, FOUND), monkeypatch, tmp_path)
    assert not wrong, wrong[:20]
    ends = {"fine", "InvalidInput", "FileProblem", "UserFunctionError"}
    of_steps = {"StepTooLarge", "StepFailed", "NotFinite"}  # at values that a filter or a fit arrives at
    of_extras = set() if importlib.util.find_spec("ppigrf") else {"MissingExtra"}
    assert counts["InvalidInput"] > 1200 and set(counts) <= ends | of_steps | of_extras


@pytest.mark.full
def test_all_wrong_kinds_end_in_a_sentence(monkeypatch, tmp_path):
    single = ((name, k, {argument: kind}) for name in CALLS for k, argument, kind in mutations(name))
    counts, wrong = walk(single, monkeypatch, tmp_path)
    draws, pairs = np.random.default_rng(13), []
    cheap = sorted(set(CALLS) - EXPENSIVE)
    for _ in range(20_000):
        name = cheap[draws.integers(len(cheap))]
        k = int(draws.integers(len(CALLS[name])))
        given = [key for key in CALLS[name][k] if key != "path"]
        chosen = draws.choice(len(given), min(2, len(given)), replace=False) if given else []
        pairs.append((name, k, {given[c]: list(WRONG)[draws.integers(len(WRONG))] for c in chosen}))
    more, also = walk(pairs, monkeypatch, tmp_path)
    print(dict(counts + more))
    assert not (found := wrong + also), "\n".join(map(str, found[:50]))


LONG_NAMES = {
    "a tableau": lambda word: ph.methods.add_tableau(word, [[0.0]], [1.0]),
    "a scheme": lambda word: ph.methods.splitting("v2", "mr", word),
    "a method": lambda word: ph.methods.add_method(dataclasses.replace(ph.methods.METHODS["trapm"], name=word)),
    "a method string": lambda word: ph.integrate(ph.free_body([1.0, 2.0, 2.5]), f"mkrk/{word}", step=0.1, steps=1),
    "an option": lambda word: ph.methods.baoab(temperature=word),
}


@each("what", LONG_NAMES)
def test_long_names_are_refused_in_a_short_sentence(what):
    with pytest.raises(InvalidInput) as refused:
        LONG_NAMES[what]("x" * 100_000)
    assert len(str(refused.value)) < 400 and "xxx...xxx" in str(refused.value)


BEYOND = {"position": [1e90, 0.0, 0.0], "velocity": [0.0, 1e90, 0.0], "mu": 5e-324}


@each("name", [
    "apsides", "eccentricity_vector", "classical_elements", "modified_equinoctial_elements", "equinoctial_elements",
    "specific_energy", "period",
])  # fmt: skip
def test_orbits_beyond_the_range_of_numbers_are_refused(name):
    """Or answered with numbers."""
    for state in (BEYOND, BEYOND | {"velocity": [0.0, 1e-90, 0.0]}, BEYOND | {"mu": 1.0}):
        ended, answer = outcome(f"kepler.{name}", state)
        assert ended in ("fine", "refused"), (state, ended, answer)
        if ended == "fine":
            size = np.concatenate([np.ravel(leaf) for leaf in leaves(answer)])
            assert np.isfinite(size[: 1 if name == "apsides" else None]).all(), (state, answer)


# ------------------------------------------------------------------ quantities
UNITS = (
    "km", "min", "deg", "g", "km / s", "km / s**2", "km**3 / s**2", "deg / s", "g * cm**2", "g * cm**2 / s", "kN",
    "kN / m", "km**2", "1 / km", "cm**2 / g", "g / cm**3", "g * km / s", "", "kJ", "km**3 / (kg * s**2)", "mK", "kPa",
)  # fmt: skip
PLAIN = {"faces", "rows", "max_step", "first_step"}
"""Indices and slices; steps of a Tolerance, which become numbers in the units of a run."""


def same(a, b):
    left, right = list(leaves(a)), list(leaves(b))
    if len(left) != len(right):
        return False
    return all(x.shape == y.shape and np.allclose(x, y, rtol=1e-9, atol=0.0, equal_nan=True)
               for x, y in zip(left, right, strict=True))  # fmt: skip


@each("name", some(sorted(set(CALLS) - EXPENSIVE - {"plots.work_precision", "State"}), 32))
def test_a_quantity_for_every_argument_is_converted_or_refused(name, monkeypatch, tmp_path):
    """In every unit; where it is taken, the answer is that of the same value in SI. A State keeps quantities until the
    units of the run are known."""
    u = pytest.importorskip("astropy.units")
    units = [u.Unit(unit) for unit in UNITS]
    monkeypatch.chdir(tmp_path)
    for k, call in enumerate(CALLS[name]):
        made = arguments_of(name, k)
        for argument in call:
            value = made[argument]
            try:
                numbers = np.asarray(value, dtype=float)
            except Exception:
                continue
            if numbers.dtype.kind != "f" or isinstance(value, bool | str | type(None)) or argument in PLAIN:
                continue
            for unit in units:
                ended, answer = outcome(
                    name, arguments_of(name, k) | {argument: u.Quantity(numbers / scale_of(unit), unit)}
                )
                assert ended in ("fine", "refused"), (name, argument, unit, answer)
                if ended == "refused":
                    assert isinstance(answer, InvalidInput)
                    continue
                factor = 1e9 if name == "rigid_water" and unit.physical_type == "length" else 1.0  # it is in nm
                ended, expected = outcome(name, arguments_of(name, k) | {argument: (factor * numbers).tolist()})
                assert ended == "fine" and same(answer, expected), (name, argument, unit)


@functools.cache
def scale_of(unit):
    """What a number in the unit is multiplied by to be one in SI; astropy takes 10 ms to say so."""
    return float(unit.si.scale)


OVERFLOWING = {
    "particle": ({"mass": 1e300, "gravity": (0, 0, -1e10)}, "mass 1e.300 times gravity is a force beyond 1e308"),
    "integrate": ({"step": 1e308, "steps": 4}, "step is 1e.308, beyond 1e-100 to 1e.100, where"),
    "chaos.fli": ({"step": 5e-324, "steps": 4}, "step is 4.9.*e-324, beyond"),
    "chaos.megno": ({"step": 1e98, "steps": 1000}, "the end or start of the run is 1e.101, beyond"),
    "ensemble": ({"step": 0.1, "steps": 2, "t_eval": [1e308]}, "t_eval must lie between the start of the run"),
    "compare": ({"reference": {"angular_momentum": (1e300, 0, 0)}, "steps": [0.1], "t_end": 1.0},
                "angular_momentum of the reference has entries beyond 1e.100; check its units"),
    "free_motion": ({"inertia": (5e-324, 1, 1)}, "inertia has moments more than 1e.150 times as large as others"),
    "runs.poinsot.free_motion_periods": (
        {"inertia": (1e300, 1, 1.0), "physical": False}, "inertia has moments more than",
    ),
    "reaction_wheels": ({"inertia": 1e308, "speed": 10.0}, "inertia times speed is beyond 1e308"),
    "systems.thruster": ({"position": (0, 1e308, 0), "force": 9.0}, "position times force is a torque beyond 1e308"),
    "systems.constrained.from_cotangent": ({"inertia": [5e-324] * 3}, "the angular velocity is beyond 1e.100"),
    "inertia.inertia_from_d": ({"d": [1e308] * 3}, "d has entries beyond 1e.100, whose sums overflow"),
    "ensembles.sampling.lognormal": ({"sigma": 1e308}, "sigma is so large that values overflow"),
    "initial.fcc": ({"spacing": 1e308}, "spacing is 1e.308; it must be at most 1e.100"),
    "initial.at_energy": ({"state": {"position": [R, V], "momentum": [[1e300, 0, 0], R]}}, "momentum has entries b"),
    "algebra.variational.midpoint_energy_offset": ({"position": [1e300, 0, 0]}, "ellipse|overflow|units"),
    "trajectory.export.gsd": (
        {"mass": 1e300}, "mass has entries beyond 1e.38, which the 32 bits of a GSD file do not hold",
    ),
    "trajectory.observables.kirkwood_factor": ({"r_max": 5e-324}, "r_max is 5e-324; it must be 1e-90 or more"),
    "trajectory.observables.block_error": (
        {"series": [1e300] * 4}, "the series has entries beyond 1e.150, whose squares",
    ),
    "runs.poinsot.polhode_curve": ({"inertia": [5e-324] * 3}, "the angular velocity is beyond 1e308; check the units"),
    "runs.poinsot.herpolhode_curve": ({"inertia": [5e-324] * 3}, "beyond 1e308|overflows"),
    "gradient": ({"step": 1e-11, "t_end": 1.0}, "the run has 1e.11 steps, more than the 1e.10 that gradients"),
}  # fmt: skip


@each("name", OVERFLOWING)
def test_numbers_whose_products_overflow_are_refused(name):
    """In one sentence, and without a warning of NumPy on the way."""
    changes, sentence = OVERFLOWING[name]
    given = {
        key: value for key, value in arguments_of(name).items() if key not in ("t_end", "t_eval", "steps", "every")
    }
    with pytest.raises(InvalidInput, match=sentence):
        FUNCTIONS[name](**given | changes)


def test_moments_near_the_largest_number_are_some():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = ph.inertia.principal_of_many([[1e308, 1e308, 1e308], [5e-324] * 3]).moments
        axes = ph.forces.gravity_field("egm2008", degree=2, rotation=1e-5, axis=(0, 5e-324, 1e300)).numbers[:9]
    assert np.array_equal(told, [[1e308] * 3, [5e-324] * 3])
    assert np.isfinite(axes).all()
    with pytest.raises(InvalidInput, match="is not skew"):
        ph.rotation.vee([[0, 1, 0], [0, 1e308, 0], [0, 0, 0]])


def test_periods_of_moments_far_apart():
    """Of a symmetric body that is nearly a rod, by the formulas of its steady precession."""
    told = ph.runs.poinsot.free_motion_periods((1.0, 1.0, 1e-100), (0.6, 0.0, 0.8e-100))
    assert np.isclose(told.polhode, 2 * np.pi / 0.8, rtol=1e-14)  # 2 pi / ((1/I3 - 1/I1) m3)
    assert np.isclose(told.precession, 2 * np.pi / 0.6, rtol=1e-14)
    with pytest.raises(InvalidInput, match="the periods are beyond 1e308; check the units"):
        ph.runs.poinsot.free_motion_periods((1e300, 1e300, 0.9e300), (1e-300, 0.0, 1e-300))


def test_a_gradient_that_does_not_fit_says_what_it_needs():
    given = arguments_of("gradient", 1) | {"t_eval": None, "steps": 10**10, "step": 1e-3, "every": 1}
    sentence = r"a gradient over 1e\+10 steps, 1e\+10 of them shown, asks for .* numbers, .* GB, more than the memory"
    with pytest.raises(InvalidInput, match=sentence):
        ph.gradient(**given)


def test_a_limit_of_the_process_is_a_limit_of_memory():
    sentence = r"n asks for 8e\+08 numbers, 6.4 GB, more than the memory"
    with few_gigabytes(), pytest.raises(InvalidInput, match=sentence):
        ph.arguments.room_for(8e8, "n")
