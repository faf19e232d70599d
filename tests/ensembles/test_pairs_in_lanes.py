"""Loads on pairs in lanes: all pairs, none beyond the cut-off, are to rounding what neighbour lists come to."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from cover import chosen
from each import each
from polhode.ensembles import ensemble
from polhode.kernel import jit

pytestmark = pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")

N, M, CUTOFF = 12, 11, 2.0
BOX = (4.4, 4.2, 4.0)


def pull(body, k):
    return 0.5 * k * (body.position @ body.position)


def apart(a, b, strength, size):
    d = a.position - b.position
    s = (size**2 / (d @ d)) ** 3
    return 4.0 * strength * (s * s - s)


BODIES = [ph.body(f"b{k}", 1.0 + 0.1 * k) for k in range(N)]
CENTRE = ph.loads.of(pull, k=0.3)
SYSTEMS = {
    "dipoles": lambda: ph.dipoles(N, inertia=(1.0, 1.2, 1.4), dipole=(0.3, -0.5, 1.0), attraction=True, cutoff=CUTOFF,
                                  box=BOX, reaction_field=30.0),
    "points": lambda: ph.system(*BODIES, ph.loads.of(apart, strength=1.0, size=1.0).on(ph.pairs), CENTRE,
                                cutoff=CUTOFF),
    "free": lambda: ph.dipoles(N, epsilon=0.5, loads=[CENTRE]),
    "water": lambda: ph.rigid_water(N, box=1.3, cutoff=0.6),
}  # fmt: skip


def starts(name, system):
    """Positions on a lattice, to be scaled for water, and motions, of each member."""
    rng, (scale, push) = np.random.default_rng(3), (0.3, 10.0) if name == "water" else (1.3, 1.0)
    q = rng.standard_normal((M, N, 4))
    r = np.array(list(np.ndindex(3, 2, 2)), dtype=float) + 0.03 * rng.standard_normal((M, N, 3))
    found = {"position": scale * r, "momentum": push * rng.standard_normal((M, N, 3))}
    if system.rotates:
        found["attitude"] = q / np.linalg.norm(q, axis=-1, keepdims=True)
        found["angular_momentum"] = (0.02 if name == "water" else 0.5) * rng.standard_normal((M, N, 3))
    return found


def within(system, r, cutoff):
    """How many pairs of each member and row are within the cut-off."""
    d = r[..., :, None, :] - r[..., None, :, :]
    if system.box is not None:
        d -= system.box * np.rint(d / system.box)
    return ((d * d).sum(axis=-1) < cutoff**2).sum(axis=(-1, -2))


@each("name", chosen(SYSTEMS, ["dipoles", "points"]))
def test_members_are_single_runs_to_rounding_as_pairs_cross_the_cut_off(name):
    system, h = SYSTEMS[name](), 5e-4 if name == "water" else 0.005
    given = starts(name, system)
    call = {"step": h, "steps": 60, "every": 20}
    ds = ph.ensemble(system, "v2", members=given, engine="lanes", **call)
    assert ds.attrs["engine"].startswith("lanes")
    for k in (0, M - 1):
        alone = ph.integrate(system, "v2", **call, **{word: values[k] for word, values in given.items()})
        for word in given:
            one = ds[word][k]
            np.testing.assert_allclose(one, alone[word], rtol=0, atol=1e-13 * max(1.0, float(abs(one).max())))
    inside = within(system, ds.position.values, 0.6 if name == "water" else CUTOFF)
    assert name == "free" or (inside[:, 1:] != inside[:, :-1]).any()


def test_numbers_of_loads_vary_among_members():
    system, given = SYSTEMS["points"](), starts("points", SYSTEMS["points"]())
    call, strength = {"step": 0.005, "steps": 10, "every": 10}, np.linspace(0.5, 1.5, M)
    ds = ph.ensemble(system, "v2", members={**given, "apart.strength": strength}, engine="lanes", **call)
    for k in (1, M - 2):
        own = ph.system(*BODIES, ph.loads.of(apart, strength=strength[k], size=1.0).on(ph.pairs), CENTRE, cutoff=CUTOFF)
        alone = ph.integrate(own, "v2", **call, **{word: one[k] for word, one in given.items()})
        np.testing.assert_allclose(ds.momentum[k], alone.momentum, rtol=0, atol=1e-13)


CROWDS = {
    "dipoles": lambda: ph.dipoles(65, cutoff=2.0, box=6.5), "water": lambda: ph.rigid_water(27, box=1.3, cutoff=0.6),
}  # fmt: skip


@each("name", CROWDS)
def test_beyond_so_many_bodies_threads_over_neighbours_are_quicker(name, monkeypatch):
    system = CROWDS[name]()
    side = round(system.N ** (1 / 3) + 0.49)
    r = np.array(list(np.ndindex(side, side, side))[: system.N]) * float(system.box[0]) / side
    call = {"members": {"position": np.stack([r] * 8)}, "step": 1e-5, "steps": 1}
    told = f"loads on pairs of {system.N} bodies are done sooner by threads, over neighbours"
    with pytest.raises(ph.errors.InvalidInput, match=told):
        ph.ensemble(system, "v2", engine="lanes", **call)
    monkeypatch.setattr(ensemble, "WORTH_LANES", 8)
    assert told in ph.ensemble(system, "v2", **call).attrs["engine"]
