"""Round-off of many revolutions: ``benchmarks/brouwer.py`` at reduced length."""

import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def brouwer():
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "brouwer.py"
    spec = importlib.util.spec_from_file_location("brouwer", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_compensated_sums_keep_brouwers_law_a_thousand_times_below(brouwer):
    """Measured: energy 5.2e-13 and 3.2e-16, place 4.2e-6 and 3.9e-9 km, powers of the latter 0.44 and 1.48.

    An error that is the same in every step has the powers 1 and 2.
    """
    _, energy, apart, *_ = brouwer.growth("rkn6_14a", 3, 512, False)
    _, energy_carried, apart_carried, *powers = brouwer.growth("rkn6_14a", 3, 512, True)
    print(energy[-1], energy_carried[-1], apart[-1], apart_carried[-1], powers)
    assert energy_carried[-1] < energy[-1] / 100 and apart_carried[-1] < apart[-1] / 100
    assert powers[0] < 0.8 and powers[1] < 1.8


def test_collocation_to_the_last_digit(brouwer):
    """Newton's iteration ends where carries see no more of it: measured energy 1.0e-15, with its usual end 3.5e-14."""
    _, energy, *_ = brouwer.growth("mkrk:gauss12", 2, 256, True)
    print(energy[-1])
    assert energy[-1] < 5e-15
