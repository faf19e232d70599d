"""Everything that a run can do, a sum can do: kinds of runs times five sums; what is refused is a sentence."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.systems.test_sums_of_pairs import SHAPE, TRAP, drag, repulsion, trap

import polhode as ph
from cover import some
from each import each
from polhode.errors import PolhodeError

MU, RADIUS, J2 = 3.986004415e14, 6378136.3, 1.08262668e-3


def spring(body, stiffness):
    return 0.5 * stiffness * body.position @ body.position


def warming(body, heat, power):
    return {"heat": power - 0.1 * heat}


def push(body, heat):
    return {"force": heat * np.array([1.0, 0.0, 0.0])}


def bond(a, b, stiffness, length):
    d = b.position - a.position
    return 0.5 * stiffness * (np.sqrt(d @ d) - length) ** 2


def follow(a, b, gain):
    return {"thrust": -gain * (b.position - a.position) - b.velocity + a.velocity}


def engine(body, thrust):
    return {"force": thrust}


def charged(n):
    pairs = ph.loads.of(repulsion, strength=2.0, share=0.1).each(charge=np.arange(1.0, n + 1.0)).on(ph.pairs)
    return case(
        ph.system(ph.bodies(n, 1.0, SHAPE), pairs, TRAP), {"position": np.eye(n, 3) + np.arange(n)[:, None]}, 1e-2,
        "repulsion.strength", repulsion, trap, drag,
    )  # fmt: skip


def case(system, start, step, number, *functions):
    by = {f.__name__: f for f in functions} or dict.fromkeys(system.functions, bond)
    return SimpleNamespace(system=system, start=start, step=step, number=number, by=by)


SUMS = {
    "pinned": lambda: case(
        ph.system(ph.body("top", inertia=(5, 5, 1), pinned=True), ph.loads.weight(20.0, at=(0, 0, 1))),
        {"angular_velocity": (0.0, 0.1, 5.0)}, 1e-2, "weight.newtons",
    ),
    "in orbit": lambda: case(
        ph.system(ph.body("craft", 120.0, (5.0, 4.0, 3.0)), ph.loads.central(MU), ph.loads.zonal(MU, RADIUS, J2),
                  ph.loads.gravity_gradient(MU)),
        {"position": (6878136.3, 0.0, 0.0), "velocity": (0.0, 5383.0, 5383.0), "angular_velocity": (0.02, 0.03, -0.01)},
        2.0, "zonal.J2",
    ),
    "two bodies": lambda: case(
        ph.system(ph.body("a", 2.0, (1, 2, 2.5)), ph.body("b", 1.0),
                  ph.loads.of(bond, stiffness=3.0, length=1.0).on("a", "b")),
        {"b": {"position": (1.2, 0.1, 0.0), "velocity": (0.0, 0.1, 0.0)}, "a": {"angular_velocity": (0.0, 0.1, 1.0)}},
        1e-2, "bond.stiffness", bond,
    ),
    "with a state": lambda: case(
        ph.system(ph.body("a", 2.0), ph.loads.of(warming, power=1.0).states(heat=0.5), ph.loads.of(push),
                  ph.loads.of(drag, rate=0.1)),
        {"position": (1.0, 0.0, 0.0), "velocity": (0.0, 1.0, 0.0)}, 1e-2, "drag.rate", warming, push, drag,
    ),
    "with a controller": lambda: case(
        ph.system(ph.body("a", 2.0, (1, 2, 2.5)), ph.body("b", 1.0), ph.loads.of(engine).on("b"),
                  ph.controller(follow, 4e-2, parameters={"gain": 3.0}).on("a", "b").states(thrust=np.zeros(3))),
        {"b": {"position": (1.2, 0.1, 0.0), "velocity": (0.0, 0.1, 0.0)}, "a": {"angular_velocity": (0.0, 0.1, 1.0)}},
        1e-2, "follow.gain", engine, follow,
    ),
    "with wheels": lambda: case(
        ph.system(ph.body("a", 2.0, (1, 2, 2.5), wheels=ph.reaction_wheels(np.eye(3), 0.01, speed=20.0, command=0.01,
                                                                         max_torque=0.02, viscous=1e-4)),
                  ph.body("b", 1.0, (0.5, 0.4, 0.6), wheels=ph.reaction_wheels([(0, 0, 1)], 0.01, speed=(5.0,))),
                  ph.loads.of(bond, stiffness=3.0, length=1.0).on("a", "b")),
        {"b": {"position": (1.2, 0.1, 0.0), "velocity": (0.0, 0.1, 0.0)}, "a": {"angular_velocity": (0.0, 0.1, 1.0)}},
        1e-2, "a.wheels.viscous", bond,
    ),
    "in air and a field": lambda: case(
        ph.system(ph.body("craft", 120.0, (5.0, 4.0, 3.0)), ph.loads.central(MU), ph.loads.drag(2.2, 5.0),
                  ph.loads.magnet((0.0, 0.1, 0.3)), surroundings={
                      "air_density": ph.surroundings.exponential_air(1e-12, 6878e3, 6e4),
                      "field": ph.surroundings.dipole_field()}),
        {"position": (6878136.3, 0.0, 0.0), "velocity": (0.0, 5383.0, 5383.0), "angular_velocity": (0.02, 0.03, -0.01)},
        2.0, "air_density.scale",
    ),
    "in a field of kernels": lambda: case(
        ph.system(ph.body("craft", 120.0, (5.0, 4.0, 3.0)), ph.loads.central(MU),
                  ph.loads.harmonics("egm2008", degree=6)),
        {"position": (6878136.3, 0.0, 0.0), "velocity": (0.0, 5383.0, 5383.0), "angular_velocity": (0.02, 0.03, -0.01)},
        2.0, "harmonics.angle",
    ),
    "many": lambda: case(
        ph.system(ph.bodies(5, 1.0), ph.loads.of(spring, stiffness=2.0)), {"position": np.eye(5, 3) + 1.0}, 1e-2,
        "spring.stiffness", spring,
    ),
    "a chain": lambda: case(
        ph.system(ph.bodies(6, 1.0, (1, 2, 2.5)),
                  [ph.loads.of(bond, stiffness=3.0, length=1.0 + 0.1 * i).on(f"body{i}", f"body{i + 1}").named(f"s{i}")
                   for i in range(5)]),
        {"position": np.eye(6, 3) + np.arange(6)[:, None]}, 1e-2, "s2.stiffness",
    ),
    "few pairs": lambda: charged(5), "pairs": lambda: charged(12),
}  # fmt: skip


def kinds(one, folder):
    s, start, h = one.system, one.start, one.step
    run = {"step": h, "steps": 20, "start": start}
    tight = {"steps": ph.Tolerance(1e-10), "t_end": 20 * h, "start": start}

    def base(method=None, **more):
        return ph.integrate(s, method, **run, **more)

    def first(rows):
        return (rows.position if s.translates else rows.angular_velocity).ravel()[0]

    def resumed():
        base(store=folder / "run.zarr")
        return ph.load(folder / "run.zarr", **one.by)

    def saved():
        ph.save(base(), folder / "run.nc")
        return ph.load(folder / "run.nc")

    def moved(*bodies):
        return bodies[0].position[0] - 0.5 + bodies[0].angular_velocity[0]

    names = list(s.names)[:1]
    return {
        "splitting": lambda: base("v2"), "Kepler splitting": lambda: base("v2/kepler"),
        "gradient splitting": lambda: base("fg6_5"), "Runge-Kutta": lambda: base("mkrk:cv8"),
        "implicit": lambda: base("mkrk:gauss4"), "Krysl": lambda: base("trap"), "variational": lambda: base("v2/dmv2"),
        "Taylor": lambda: ph.integrate(s, "taylor", **tight),
        "chosen steps": lambda: ph.integrate(s, "mkrk:dp8", **tight),
        "compensated": lambda: base(settings={"compensated": True}),
        "backwards": lambda: ph.integrate(s, step=h, t_end=-5 * h, start=start),
        "reversible": lambda: base("reversible:v2"),
        "tangent": lambda: base("mkrk:cv8", tangent=[one.number]),
        "gradient": lambda: ph.gradient(first, s, "mkrk:cv8", wrt=[one.number], **run),
        "chaos": lambda: ph.chaos.megno(s, **run),
        "threads": lambda: ph.ensemble(s, engine="threads", members={one.number: [1.0, 2.0]}, **run),
        "lanes": lambda: ph.ensemble(s, "mkrk:cv8", engine="lanes", members={one.number: [1.0, 2.0]}, **run),
        "lanes of Taylor": lambda: ph.ensemble(s, "taylor", members={one.number: [1.0, 1.1]}, **tight),
        "prepared": lambda: ph.prepare(s, step=h, steps=20).run(start), "rerun": lambda: ph.rerun(base(), **one.by),
        "store": resumed, "saved": saved, "goes on": lambda: ph.integrate(s, steps=10, start=base()),
        "from a row": lambda: ph.integrate(s, step=h, steps=10, start=ph.State.of(base(), -1)),
        "compared": lambda: ph.compare(s, ["v2", "mkrk:cv8"], steps=[h, h / 2], t_end=10 * h, start=start),
        "event": lambda: base(events=[ph.events.of(moved).on(*names)]),
        "seen": lambda: ph.view(base()), "drawn": lambda: ph.plots.dashboard(base()),
    }  # fmt: skip


REFUSED = {
    ("Kepler splitting", "pinned"): "a centre", ("Kepler splitting", "two bodies"): "a centre",
    ("Kepler splitting", "with wheels"): "a centre", ("reversible", "with wheels"): "about each other",
    ("Krysl", "with wheels"): "does not carry",
    ("Kepler splitting", "with a state"): "a centre", ("Kepler splitting", "many"): "a centre",
    ("Kepler splitting", "a chain"): "a centre", ("reversible", "a chain"): "about each other",
    ("Kepler splitting", "few pairs"): "a centre", ("Kepler splitting", "pairs"): "a centre",
    ("Taylor", "in a field of kernels"): "terms to degree 6", ("lanes", "in a field of kernels"): "terms to degree 6",
    ("lanes of Taylor", "in a field of kernels"): "terms to degree 6",
    ("Taylor", "pairs"): "a pass over neighbours", ("lanes of Taylor", "pairs"): "a pass over neighbours",
    ("reversible", "two bodies"): "about each other", ("Krysl", "with a state"): "does not carry",
    ("Kepler splitting", "with a controller"): "a centre", ("Krysl", "with a controller"): "does not carry",
    ("backwards", "with a controller"): "cannot be undone", ("reversible", "with a controller"): "does not take",
}  # fmt: skip


TAKEN = [name for name in some(SUMS, 5) if isinstance(name, str)]
"""The sums of an ordinary day."""


def tried(number, kind):
    """One of them for each kind of run, in turn, and those that refuse it."""
    runs = [name for name in (TAKEN * 2)[(number + 3) % 5 :][:5] if (kind, name) not in REFUSED]
    return {runs[0]} | {name for name in TAKEN if (kind, name) in REFUSED}


@pytest.mark.filterwarnings("ignore::polhode.errors.PolhodeWarning")
@each("name, every", [*((name, False) for name in TAKEN),
                      *(pytest.param(name, True, marks=pytest.mark.full) for name in SUMS)])  # fmt: skip
def test_a_sum_runs_in_every_way(name, every, tmp_path):
    one = SUMS[name]()
    told = {}
    for number, (kind, run) in enumerate(kinds(one, tmp_path).items()):
        if not every and name not in tried(number, kind):
            continue
        try:
            run()
        except PolhodeError as refused:
            told[kind] = str(refused)
    wanted = {kind: said for (kind, of), said in REFUSED.items() if of == name}
    for kind, sentence in told.items():
        assert wanted.get(kind, "?") in sentence, (kind, sentence)
    assert set(wanted) == set(told)


def test_every_kind_of_run_meets_a_sum_on_an_ordinary_day(tmp_path):
    for number, kind in enumerate(kinds(SUMS["many"](), tmp_path)):
        assert len([name for name in tried(number, kind) if (kind, name) not in REFUSED]) == 1, kind


@pytest.mark.filterwarnings("ignore::polhode.errors.PolhodeWarning")
def test_implicit_maps_of_many_bodies_at_rest():
    """Of some the forces nearly cancel, so that what the others do changes most of their small momenta; none turns."""
    one = SUMS["pairs"]()
    runs = [ph.integrate(one.system, name, step=1e-3, steps=3, start=one.start) for name in ("imid", "mkrk:gauss4")]
    assert abs(runs[0].energy_error[-1]) < 1e-8
    assert np.abs(runs[0].position - runs[1].position).max() < 1e-7
