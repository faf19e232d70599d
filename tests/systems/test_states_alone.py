"""States that belong to no body, alone and beside bodies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from each import each
from polhode.errors import InvalidInput, UserFunctionError


def lorenz(x, y, z, sigma, rho, beta):
    return {"x": sigma * (y - x), "y": x * (rho - z) - y, "z": x * y - beta * z}


def equations(rho=28.0, start=(1.0, 1.0, 1.0)):
    numbers = {"sigma": 10.0, "rho": rho, "beta": 8.0 / 3.0}
    return ph.system(ph.states.of(lorenz, numbers, x=start[0], y=start[1], z=start[2]))


def by_hand(t_end, rho=28.0, start=(1.0, 1.0, 1.0)):
    def rates(t, u):
        return [10.0 * (u[1] - u[0]), u[0] * (rho - u[2]) - u[1], u[0] * u[1] - 8.0 / 3.0 * u[2]]

    return solve_ivp(rates, (0.0, t_end), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


@each("method, tolerance", [("mkrk:cv8", 1e-10), ("mkrk:dp8", 1e-10), ("taylor", 1e-10), ("mkrk:gauss6", 1e-10)])
def test_methods_for_any_equations_integrate_them(method, tolerance):
    ds = ph.integrate(equations(), method, step=0.002, steps=500, every=500)
    found = np.array([float(ds[name][-1]) for name in "xyz"])
    assert abs(found - by_hand(1.0)).max() < tolerance
    assert "energy" not in ds and "position" not in ds and "angular_momentum_space" not in ds


def test_with_chosen_steps_and_a_default_method():
    ds = ph.integrate(equations(), t_end=1.0, steps=ph.Tolerance(1e-11), t_eval=[0.0, 0.5, 1.0])
    assert abs(float(ds.y[-1]) - by_hand(1.0)[1]) < 1e-7
    assert abs(float(ds.y[1]) - by_hand(0.5)[1]) < 1e-7


def test_members_events_and_reruns():
    words = {"step": 0.002, "steps": 200}
    ends = ph.ensemble(equations(), "mkrk:cv8", members={"lorenz.rho": [28.0, 30.0]}, **words)
    lanes = ph.ensemble(equations(), "taylor", members={"lorenz.rho": [28.0, 30.0]}, engine="lanes", **words)
    for k, rho in enumerate((28.0, 30.0)):
        expected = by_hand(0.4, rho)
        for found in (ends, lanes):
            assert abs(found.x.values[k, -1] - expected[0]) < 1e-10
    ds = ph.integrate(equations(), "mkrk:cv8", every=200, **words)
    assert np.array_equal(ph.rerun(ds, lorenz=lorenz).x.values, ds.x.values)

    def crosses(x, y):
        return x - y

    found = ph.integrate(equations(), "mkrk:cv8", step=0.002, t_end=1.0, events=[ph.events.of(crosses)])
    times = found.event_time.values
    assert len(times) > 1
    for t in times[times > 0.0]:
        x, y, _ = by_hand(t)
        assert abs(x - y) < 1e-8


@pytest.mark.full
def test_tangents():
    words = {"step": 0.002, "steps": 200}
    ds = ph.integrate(equations(), "mkrk:cv8", tangent=["lorenz.rho"], every=200, **words)
    h = 1e-5
    slope = (by_hand(0.4, 28.0 + h) - by_hand(0.4, 28.0 - h)) / (2.0 * h)
    assert abs(ds.state_transition.values[-1][:, -1] - slope).max() < 1e-6 * abs(slope).max()
    column = (by_hand(0.4, start=(1.0 + h, 1, 1)) - by_hand(0.4, start=(1.0 - h, 1, 1))) / (2.0 * h)
    assert abs(ds.state_transition.values[-1][:, 0] - column).max() < 1e-6 * abs(column).max()


def test_beside_a_body_which_reads_them():
    """A drag by a density that decays by itself."""

    def decay(density, life):
        return {"density": -density / life}

    def drag(body, density):
        return {"force": -density * body.velocity}

    system = ph.system(ph.body("a", 2.0), ph.loads.of(drag), ph.states.of(decay, {"life": 2.0}, density=0.5))
    for method in ("mkrk:cv8", "v2", "rkn6_14a", "taylor"):
        ds = ph.integrate(system, method, step=0.001, steps=1000, every=1000, velocity=(1.0, 0, 0))
        assert float(ds.density[-1]) == pytest.approx(0.5 * np.exp(-0.5), rel=1e-6)
        expected = np.exp(-0.5 * 0.5 * 2.0 * (1.0 - np.exp(-0.5)))
        assert float(ds.velocity[-1, 0]) == pytest.approx(expected, rel=1e-6), method
        assert float(abs(ds.energy_error).max()) < 1e-6
    again = ph.system(**{name: {**record, **({"function": {"drag": drag, "decay": decay}[name]} if name != "a" else {})}
                         for name, record in system.arguments.items()})  # fmt: skip
    assert str(again) == str(system)
    assert "decay: your function decay on no body" in str(system)


def test_a_vector_of_spins_and_a_number_called_acceleration():
    def turned(spins, acceleration):
        return {"spins": acceleration * np.array([spins[1], -spins[0], 0.0 * spins[2]])}

    ds = ph.integrate(ph.system(ph.states.of(turned, {"acceleration": 2.0}, spins=(1.0, 0.0, 5.0))), "mkrk:cv8",
                      step=0.01, steps=100)  # fmt: skip
    assert ds.spins.values[-1] == pytest.approx([np.cos(2.0), -np.sin(2.0), 5.0], abs=1e-10)
    assert np.array_equal(ph.rerun(ds, turned=turned).spins.values, ds.spins.values)

    def pushed(body, acceleration):
        return {"force": (acceleration, 0.0, 0.0)}

    one = ph.system(ph.body("a", 2.0), ph.loads.of(pushed, acceleration=3.0))
    ds = ph.integrate(one, "mkrk:cv8", step=0.01, steps=100)
    assert float(ds.velocity[-1, 0]) == pytest.approx(1.5)
    assert np.array_equal(ph.rerun(ds, pushed=pushed).velocity.values, ds.velocity.values)


def test_what_is_no_state_is_said():
    def one(x):
        return {"x": -x}

    def number(x):
        return -x

    def pushes(x):
        return {"force": (x, 0.0, 0.0)}

    with pytest.raises(InvalidInput, match="there is no state"):
        ph.states.of(one)
    with pytest.raises(InvalidInput, match="no body"):
        ph.states.of(one, x=1.0).on("a")
    with pytest.raises(UserFunctionError, match="must return the rates"):
        ph.system(ph.states.of(number, x=1.0))
    with pytest.raises(UserFunctionError, match="returns 'force'; it may return 'x'"):
        ph.system(ph.states.of(pushes, x=1.0))
    with pytest.raises(InvalidInput, match="needs a body"):
        ph.system()
