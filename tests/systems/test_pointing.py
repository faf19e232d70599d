"""Controllers of the gallery: the Earth is faced, and slews end, from wherever they begin."""

import ast
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from each import each

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"


def part_of(name):
    """What an example of the gallery defines before it draws: its functions and systems."""
    tree = ast.parse((GALLERY / f"{name}.py").read_text())
    last = next(k for k, one in enumerate(tree.body) if isinstance(one, ast.Assign) and "plt" in ast.unparse(one))
    tree.body = [one for one in tree.body[:last] if "plt" not in ast.unparse(one)]
    found = {}
    exec(compile(tree, name, "exec"), found)
    return found


def drawn(seed):
    """A random attitude and rate, up to 1.7 degrees a second."""
    draw = np.random.default_rng(seed)
    q, w = draw.normal(size=4), draw.normal(size=3)
    return {"attitude": q / np.linalg.norm(q), "angular_velocity": 0.03 * w / np.linalg.norm(w)}


@each("seed", range(5))
def test_the_earth_is_faced_from_any_attitude(seed):
    given = part_of("nadir_pointing")
    ds = ph.integrate(given["craft"], "s4_6", step=0.5, t_end=7200.0, every=40, position=given["r"],
                      velocity=given["v"], **drawn(seed))  # fmt: skip
    off = ds.polhode.pointing_error((0, 0, 1), "nadir", degrees=True).values
    assert off[-1] < 1e-3 and off[len(off) // 2 :].max() < 0.05
    assert float(abs(ds.energy_error).max()) < 1e-12


def test_without_the_sum_of_errors_the_leak_stays():
    """Torque of the leak over the stiffness."""
    given = part_of("nadir_pointing")
    ds = ph.integrate(given["craft"], "s4_6", step=0.5, t_end=3600.0, every=40, position=given["r"],
                      velocity=given["v"], attitude=(0.5, 0.5, -0.5, 0.5), parameters={"point.ki": 0.0})  # fmt: skip
    off = ds.polhode.pointing_error((0, 0, 1), "nadir").values
    assert off[-1] == pytest.approx(2e-4 / 0.02, rel=0.05)


@each("seed", range(5))
def test_slews_end_at_the_target_from_any_attitude(seed):
    given = part_of("slew_profile")
    ds = ph.integrate(given["craft"], "s4_6", step=0.5, t_end=600.0, **drawn(seed))
    q = ds.attitude.values[-1]
    assert abs(abs(q @ given["target"]) - 1.0) < 1e-12
    assert float(abs(ds.spin - ds.spin[0]).max()) < 1e-13  # of the whole, as nothing acts from outside


def test_the_profile_is_followed():
    given = part_of("slew_profile")
    ds = ph.integrate(given["craft"], "s4_6", step=0.5, t_end=150.0)
    off = ph.rotation.multiply(ph.rotation.conjugate(ds.attitude.values), given["target"])
    left = 2 * np.arctan2(off[:, 1:] @ given["along"], off[:, 0])
    x = np.minimum(1.0, ds.time.values / given["during"])
    wanted = given["whole"] * (1 - x**3 * (10 - 15 * x + 6 * x**2))
    assert np.abs(left - wanted).max() < 0.02 and abs(left[-1]) < 1e-4 and left.min() > -1e-3
