"""Loads of one kind on many bodies or pairs are loops: the same numbers as written out one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph

N = 8
MOMENTS = (1.0, 2.0, 2.5)
STIFFNESS = 2.0 + 0.3 * np.arange(N)
RUN = {"step": 0.01, "steps": 100, "every": 100}


def spring(a, b, k, of_b):
    d = b.point(of_b) - a.position
    return 0.5 * k * ((d @ d) ** 0.5 - 1.0) ** 2


def damper(a, b, rate):
    d = b.position - a.position
    F = rate * (d @ (b.velocity - a.velocity)) * d
    return {"force": (F, -F)}


def pull(body, strength):
    return strength * body.mass * body.position[2]


def drag(body, rate):
    return {"force": -rate * body.velocity, "torque": -rate * body.angular_velocity}


def wear(a, b, worn):
    d = b.position - a.position
    return {"force": (worn * d, -worn * d), "worn": 0.1 * d @ d}


def to_anchor(anchor, b, k):
    return 0.5 * k * (b.position - anchor.position) @ (b.position - anchor.position)


def start():
    draw = np.random.default_rng(3)
    x = draw.normal(scale=0.1, size=(N, 3)) + np.arange(N)[:, None] * [1.1, 0.0, 0.0]
    return {"position": x, "velocity": draw.normal(scale=0.3, size=(N, 3)),
            "angular_velocity": draw.normal(size=(N, 3))}  # fmt: skip


def springs(of_b=(0.0, 0.1, 0.2), load=spring):
    return [ph.loads.of(load, k=STIFFNESS[i], of_b=of_b).on(f"body{i}", f"body{i + 1}").named(f"s{i}")
            for i in range(N - 1)]  # fmt: skip


def dampers():
    return [ph.loads.of(damper, rate=0.1 * i).on(f"body{i}", f"body{i + 1}").named(f"d{i}") for i in range(N - 1)]


FEW = 6


def everything():
    """Loops of pairs and of bodies, works, a pinned body, and what is written out: a state."""
    anchor = ph.body("anchor", inertia=(1.0, 1.0, 1.0), pinned=True)
    held = [ph.loads.of(to_anchor, k=0.1 * (i + 1)).on("anchor", f"body{i}").named(f"a{i}") for i in range(FEW)]
    return ph.system(
        ph.bodies(FEW, 2.0, ((2.0, 0.1, 0.0), (0.1, 3.0, 0.2), (0.0, 0.2, 2.5))), anchor, springs()[: FEW - 1],
        dampers()[: FEW - 1], held,
        [ph.loads.of(drag, rate=0.05).on(f"body{i}").named(f"drag{i}") for i in range(FEW)],
        ph.loads.of(wear).states(worn=0.1).on("body1", "body4"),
    )  # fmt: skip


def chain(inertia=MOMENTS, **k):
    return ph.system(ph.bodies(N, 2.0, inertia), springs(**k), ph.loads.of(pull, strength=1.5))


def alike(made, monkeypatch):
    """The system with loops, and the same with all loads written out."""
    looped = made()
    with monkeypatch.context() as patch:
        patch.setattr("polhode.systems.loops.MOST_WRITTEN_OUT", 10_000)
        patch.setattr("polhode.systems.summands.MOST_WRITTEN_OUT", 10_000)
        ph.systems.structure._kept.clear()
        written = made()
        ph.systems.structure._kept.clear()
    assert len(looped.parameters) > len(written.parameters)  # by the table
    return looped, written


def test_loops_are_what_is_written_out(monkeypatch):
    given = start()
    given = {name: np.concatenate([x[:FEW], np.zeros((1, 3))]) for name, x in given.items()}
    both = alike(everything, monkeypatch)
    for method in ("v2", "mkrk:cv8"):
        ends = [ph.integrate(one, method, **RUN, **given) for one in both]
        for name in ("position", "velocity", "attitude", "angular_velocity", "worn"):
            assert ends[0][name].values[-1] == pytest.approx(ends[1][name].values[-1], abs=1e-13), (method, name)
        works = [one.work[-1].to_series() for one in ends]
        assert {*works[0].index} == {*works[1].index} and len(works[0]) == 2 * FEW
        assert abs(works[0] - works[1]).max() < 1e-13, method
        assert float(abs(ends[0].energy_error).max()) < 1e-4 * float(abs(ends[0].work[-1]).sum()), method


def test_a_chain_moves_as_its_equations_say():
    """Each spring pulls at a point off the centre of its second body; against quaternions in DOP853."""
    of_b, m, I = np.array([0.0, 0.1, 0.2]), 2.0, np.array(MOMENTS)
    ds = ph.integrate(chain(), "mkrk:cv8", **RUN, **start())
    free = ph.integrate(ph.system(ph.bodies(N, m, MOMENTS)), **RUN, **start())
    assert abs(ds.position.values[-1] - free.position.values[-1]).max() > 0.1
    assert abs(ds.attitude.values[-1] - free.attitude.values[-1]).max() > 1e-3

    def rates(t, y):
        x, v, q, w = (y[: 3 * N].reshape(N, 3), y[3 * N : 6 * N].reshape(N, 3), y[6 * N : 10 * N].reshape(N, 4),
                      y[10 * N :].reshape(N, 3))  # fmt: skip
        R = ph.rotation.matrix_from_quaternion(q / np.linalg.norm(q, axis=1)[:, None])
        F, T = np.tile([0.0, 0.0, -1.5 * m], (N, 1)), np.zeros((N, 3))
        for i in range(N - 1):
            arm = R[i + 1] @ of_b
            d = x[i + 1] + arm - x[i]
            f = STIFFNESS[i] * (1.0 - 1.0 / np.linalg.norm(d)) * d
            F[i] += f
            F[i + 1] -= f
            T[i + 1] += R[i + 1].T @ np.cross(arm, -f)
        dq = 0.5 * np.concatenate([-(q[:, 1:] * w).sum(axis=1)[:, None], q[:, :1] * w + np.cross(q[:, 1:], w)], axis=1)
        return np.concatenate([v.ravel(), (F / m).ravel(), dq.ravel(), ((T + np.cross(I * w, w)) / I).ravel()])

    given = start()
    y = np.concatenate([given["position"].ravel(), given["velocity"].ravel(), np.tile([1.0, 0, 0, 0], N),
                        given["angular_velocity"].ravel()])  # fmt: skip
    end = solve_ivp(rates, (0.0, 1.0), y, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    assert abs(ds.position.values[-1].ravel() - end[: 3 * N]).max() < 1e-9
    assert abs(ds.attitude.values[-1].ravel() - end[6 * N : 10 * N]).max() < 1e-9
    assert abs(ds.angular_velocity.values[-1].ravel() - end[10 * N :]).max() < 1e-9
    assert float(abs(ds.energy_error).max()) < 1e-10


def test_states_controllers_and_surroundings_are_beside_loops(monkeypatch):
    def push(body, thrust):
        return {"force": thrust}

    def steer(body, thrust, gain):
        return {"thrust": -gain * body.velocity}

    def wind(body, t, speed):
        return speed * np.array([np.cos(t) + body.position[2], 0.0, 0.0])

    def blown(body, wind, area):
        return {"force": area * (wind - body.velocity)}

    def made():
        return ph.system(
            ph.bodies(N, 1.0, MOMENTS), springs(), ph.loads.of(push).states(thrust=np.zeros(3)).on("body2"),
            ph.controller(steer, every=0.1, parameters={"gain": 2.0}).on("body2"),
            [ph.loads.of(blown, area=0.1 * (i + 1)).on(f"body{i}").named(f"b{i}") for i in range(N)],
            surroundings={"wind": ph.surroundings.of(wind, speed=0.3)},
        )  # fmt: skip

    ends = [ph.integrate(one, "mkrk:cv8", **RUN, **start()) for one in alike(made, monkeypatch)]
    for name in ("position", "attitude", "thrust", "work"):
        assert ends[0][name].values[-1] == pytest.approx(ends[1][name].values[-1], abs=1e-13), name
    assert abs(ends[0].thrust.values[-1]).max() > 0.01 and float(abs(ends[0].energy_error).max()) < 1e-11


def test_every_number_in_a_loop_keeps_its_name():
    """In a chain of points, whose kernels are compiled sooner than those of bodies that turn."""
    given = start()
    one, run = chain(None), {**RUN, "position": given["position"], "velocity": given["velocity"]}

    def of(k):
        loads = [load if load.name != "s3" else ph.loads.of(spring, k=k, of_b=(0.0, 0.1, 0.2)).on("body3", "body4")
                 .named("s3") for load in springs()]  # fmt: skip
        other = ph.system(ph.bodies(N, 2.0), loads, ph.loads.of(pull, strength=1.5))
        return ph.integrate(other, "mkrk:cv8", **run).position.values[-1]

    changed = ph.integrate(one, "mkrk:cv8", parameters={"s3.k": 4.0}, **run)
    assert np.array_equal(changed.position.values[-1], of(4.0))
    for engine in ("threads", "lanes"):
        ds = ph.ensemble(one, "mkrk:cv8", engine=engine, members={"s3.k": [2.0, 4.0]}, **run)
        assert abs(ds.position.values[:, -1] - [of(2.0), of(4.0)]).max() < 1e-12, engine
    k, h = float(STIFFNESS[3]), 1e-4
    slope = (of(k + h) - of(k - h)) / (2.0 * h)
    found = ph.gradient(lambda rows: rows.position[-1, 3, 0], one, "mkrk:cv8", wrt=["s3.k", "s2.k"], **run)
    assert float(found.by["s3.k"]) == pytest.approx(slope[3, 0], rel=1e-6)
    assert abs(float(found.by["s2.k"])) > 1e-4


def test_what_a_loop_conserves_is_found():
    free = ph.system(ph.bodies(N, 2.0, MOMENTS), springs(), dampers())
    assert free.conserves == ("total_momentum", "total_angular_momentum")
    assert chain().conserves == ("energy", "vertical_angular_momentum")

    def lopsided(a, b, side):
        d = b.position - a.position
        return {"force": (d, -side * d)}

    def either(a, b, side):
        d = b.position - a.position
        return {"force": (d, -(0.5 if side > 2.0 else 1.0) * d)}

    def of(load, *sides):
        return ph.system(ph.bodies(N, 2.0, MOMENTS), [
            ph.loads.of(load, side=side).on(f"body{i}", f"body{i + 1}").named(f"s{i}") for i, side in enumerate(sides)
        ]).conserves  # fmt: skip

    for sides in ([1.0] * (N - 1), [1.0] * (N - 2) + [1.5]):
        assert of(lopsided, *sides) == ()  # whatever the numbers were when it was found
    assert of(either, *[1.0] * (N - 1)) == ("total_momentum", "total_angular_momentum")
    assert of(either, *[1.0] * (N - 2), 3.0) == ()


def test_what_functions_decide_by_parts_loops():
    def sided(a, b, side):
        d = b.position - a.position
        return 0.5 * d @ d if side > 2.5 else 2.0 * d @ d

    def known(a, b, side):
        d = b.position - a.position
        return (2.0 if a.name in ("body0", "body1", "body2") else 0.5) * d @ d

    def by_number(a, b, side):
        d = b.position - a.position
        return side * d @ d

    ends = []
    for load, sides in ((sided, np.arange(N - 1.0)), (known, np.arange(N - 1.0)), (by_number, [2.0] * 3 + [0.5] * 4)):
        one = ph.system(ph.bodies(N, 1.0), [ph.loads.of(load, side=side).on(f"body{i}", f"body{i + 1}").named(f"s{i}")
                                            for i, side in enumerate(sides)])  # fmt: skip
        ends.append(ph.integrate(one, "v2", **RUN, **{**start(), "angular_velocity": None}).position.values[-1])
    assert abs(ends[0] - ends[2]).max() < 1e-13 and abs(ends[1] - ends[2]).max() < 1e-13


def test_a_function_that_reads_the_name_of_each_body_is_that_of_each():
    def known(body):
        return body.position @ body.position * (2.0 if body.name == "body2" else 0.5)

    one = ph.system(ph.bodies(5, 1.0), ph.loads.of(known))
    ds = ph.integrate(one, "rkn6_14a", step=0.01, steps=100, position=np.ones((5, 3)))
    expected = np.cos(np.sqrt([1.0, 1.0, 4.0, 1.0, 1.0]))
    assert ds.position.values[-1, :, 0] == pytest.approx(expected, rel=1e-9)


def test_a_loop_is_as_long_for_many_as_for_few():
    def of(n):
        one = ph.system(ph.bodies(n, 1.0), [ph.loads.of(spring, k=1.0, of_b=(0, 0, 0)).on(f"body{i}", f"body{i + 1}")
                                            .named(f"s{i}") for i in range(n - 1)])  # fmt: skip
        return len(one.loads.__code__.co_code), len(one.potential.__code__.co_code)

    assert of(6) == of(200)


def test_a_long_sum_reads_as_a_short_one():
    one = ph.system(ph.bodies(200, 1.0), [ph.loads.of(damper, rate=i).on(f"body{i}", f"body{i + 1}").named(f"d{i}")
                                          for i in range(199)])  # fmt: skip
    lines = repr(one).split("\n")
    assert lines[:4] == ["system", "  body0: body, mass 1", "  ...: 198 more", "  body199: body, mass 1"]
    assert lines[4].startswith("  d0: your function damper on body0, body1") and lines[5] == "  ...: 197 more"
    assert len(lines) == 8 and lines[7].endswith("the work of d0, ..., d198 is recorded")
    assert "198 more" in one._repr_html_()
