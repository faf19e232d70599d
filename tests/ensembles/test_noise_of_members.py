"""Members of an ensemble with a thermostat: each has noise of its own, by its number alone."""

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.ensembles import ensemble as home
from polhode.errors import InvalidInput

S = ph.ensembles.sampling
BODY = ph.free_body((1, 2, 2.5))
BATH = "baoab:temperature=1:friction=1"
HOW = {"step": 0.05, "steps": 20}
SPIN = (0.1, 0.2, 0.3)


def alone(k, **words):
    """Member k as a run of its own."""
    start = {"thermostat": (k * 2.0**30, 0.0), "angular_velocity": SPIN}
    return ph.integrate(words.pop("body", BODY), BATH, start=start, **(HOW | words))


@pytest.fixture(scope="module")
def one_by_one():
    return np.array([alone(k).angular_velocity.values for k in range(7)])


def test_each_has_its_own_by_its_number(one_by_one, tmp_path):
    same = {"angular_velocity": SPIN}
    several = {
        "count": ph.ensemble(BODY, BATH, members=7, **same, **HOW),
        "one thread": ph.ensemble(BODY, BATH, members=7, threads=1, **same, **HOW),
        "states": ph.ensemble(BODY, BATH, members={"angular_velocity": [SPIN] * 7}, **HOW),
        "constants": ph.ensemble(BODY, BATH, members={"inertia": [(1, 2, 2.5)] * 7}, **same, **HOW),
        "runs of their own": ph.ensemble(BODY, BATH, members=7, breaks=[0.5], **same, **HOW),
        "a store": ph.ensemble(BODY, BATH, members=7, store=tmp_path / "m.zarr", **same, **HOW),
        "a bath for all": ph.ensemble(BODY, BATH, members=7, start={"thermostat": (0.0, 0.0)}, **same, **HOW),
    }
    for name, ds in several.items():
        np.testing.assert_array_equal(ds.angular_velocity.values, one_by_one, err_msg=name)
    assert len({one[-1].tobytes() for one in one_by_one}) == 7
    on = ph.ensemble(BODY, BATH, members={"thermostat": several["count"].thermostat.values[:, 10],
                     "angular_velocity": one_by_one[:, 10], "attitude": several["count"].attitude.values[:, 10]},
                     step=0.05, steps=10)  # fmt: skip
    np.testing.assert_allclose(on.angular_velocity.values[:, -1], one_by_one[:, -1], rtol=1e-12)


def test_parts_have_the_numbers_of_the_whole(monkeypatch):
    drawn = S.members({"angular_velocity": S.normal((0, 0.1, 1.0), sigma=0.05)}, 1100, seed=3)
    words = {"step": 0.1, "steps": 3, "reduce": ph.ensembles.reductions.extremes("angular_velocity")}
    whole = ph.ensemble(BODY, BATH, members=drawn, **words)
    monkeypatch.setattr(home, "PART", 512)
    parts = ph.ensemble(BODY, BATH, members=drawn, **words)
    for name in whole.data_vars:
        np.testing.assert_array_equal(parts[name].values, whole[name].values)


def test_common_noise_is_said(one_by_one):
    words = {"angular_velocity": SPIN, **HOW}
    for members, bath in ((3, ph.methods.method(BATH, noise="common")), ({"seed": [0, 0, 0]}, BATH)):
        ds = ph.ensemble(BODY, bath, members=members, **words)
        for own in ds.angular_velocity.values:
            np.testing.assert_array_equal(own, one_by_one[0])
    with pytest.raises(InvalidInput, match="a seed has noise of their own for 8388608 members"):
        ph.ensemble(BODY, BATH, members={"angular_velocity": [SPIN] * 3}, step=0.1, steps=2**29 + 1, every=2**29)


SCENARIO = """method = "baoab"
temperature = 1.0
friction = 1.0
[system]
type = "free_body"
inertia = [1.0, 2.0, 2.5]
[initial]
angular_velocity = [0.1, 0.2, 0.3]
[run]
step = 0.05
t_end = 1.0
[sweep]
chunk = 5
[sweep.list]
"""


@each(("vary", "first"), [
    ('"initial.angular_velocity.0" = [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]', None),  # an ensemble, four and more at once
    ('"run.t_end" = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]', None),  # one after the other
    ('"seed" = [0, 0, 0, 0, 0, 0, 0]', 0),  # noise is said
])  # fmt: skip
def test_members_of_a_sweep(vary, first, one_by_one, tmp_path):
    path = tmp_path / "noise.toml"
    path.write_text(SCENARIO + vary)
    ds = ph.sweep(path, store=tmp_path / "noise.zarr", workers=1)
    for k, own in enumerate(ds.angular_velocity.values):
        np.testing.assert_array_equal(own, one_by_one[k if first is None else first, -1])
