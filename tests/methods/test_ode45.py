"""The row ``ode45`` against its rules written out in numpy, and against what the orbits of Carson 2005 do with it."""

import contextlib

import numpy as np
import pytest
from scipy.integrate import RK45

import polhode as ph
from each import each
from polhode.errors import InvalidInput
from polhode.runs.request import grouped

MU = 3200.9998


def ode45(f, y, t, end, rtol=1e-3, atol=1e-6):
    """Dormand and Prince's pair (SciPy's numbers) with the norm, the first step and the controller of ode45."""
    A, b, c, E = RK45.A, RK45.B, RK45.C, RK45.E
    tried, threshold, longest = 0, atol / rtol, 0.1 * abs(end - t)
    times, states = [t], [y]
    k0 = f(t, y)
    h = longest
    rate = np.max(np.abs(k0) / np.maximum(np.abs(y), threshold)) / (0.8 * rtol**0.2)
    if h * rate > 1.0:
        h = 1.0 / rate
    while t < end:
        h = min(longest, h)
        last = 1.1 * h >= end - t
        h = end - t if last else h
        rejected = False
        while True:
            K = [k0]
            for row, node in zip(A[1:], c[1:], strict=True):
                K.append(f(t + node * h, y + h * np.dot(row[: len(K)], K)))
            new = y + h * np.dot(b, K)
            K.append(f(t + h, new))
            tried += 1
            error = h * np.max(np.abs(np.dot(E, K)) / np.maximum(np.maximum(np.abs(y), np.abs(new)), threshold)) / rtol
            if error <= 1.0:
                break
            h *= 0.5 if rejected else max(0.1, 0.8 * error**-0.2)
            rejected, last = True, False
        t, y, k0 = end if last else t + h, new, K[-1]
        times.append(t)
        states.append(y)
        if not rejected:
            h *= min(5.0, 0.8 * error**-0.2)
    return np.array(times), np.array(states), tried


def field(t, z):
    return np.concatenate([z[3:], -MU * z[:3] / np.linalg.norm(z[:3]) ** 3])


@each("name, tolerances", [
    ("carson_circular", {}), ("carson_elliptic", {}), ("carson_elliptic", {"rtol": 1e-5}),
    ("carson_elliptic", {"rtol": 1e-6, "atol": 1e-4}), ("carson_elliptic", {"rtol": 1e-3, "atol": 10.0}),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore::polhode.errors.EnergyWarning")  # atol = 10 km loses a fifth of all energies
def test_step_for_step(name, tolerances):
    ready = ph.systems.problem(name)
    ds = ph.integrate(ready.build(), "ode45", **grouped({"t_end": 20000.0} | tolerances), start=ready.initial)
    y = np.concatenate([ready.initial["position"], ready.initial["momentum"]])
    times, states, tried = ode45(field, y, 0.0, 20000.0, **tolerances)
    assert ds.attrs["steps_accepted"] + ds.attrs["steps_rejected"] == tried
    np.testing.assert_allclose(ds.time.values, times, 1e-9)
    np.testing.assert_allclose(ds.position.values, states[:, :3], 0, 1e-6)
    assert ds.attrs["rtol"] == tolerances.get("rtol", 1e-3) and ds.attrs["atol"] == tolerances.get("atol", 1e-6)


@each("name, steps, loss, radius", [
    ("carson_circular", 118, 0.247, 1332.0), ("carson_elliptic", None, 0.148, None),
])  # fmt: skip
def test_a_day_around_europa(name, steps, loss, radius):
    """With its defaults ode45 spirals inward: 118 steps on the circle, which loses a quarter of its energy."""
    ready = ph.systems.problem(name)
    with pytest.warns(ph.errors.EnergyWarning) if steps else contextlib.nullcontext():
        ds = ph.integrate(ready.build(), "ode45", t_end=86400.0, start=ready.initial)
    assert ds.energy_change.values[-1] / abs(ds.energy.values[0]) == pytest.approx(-loss, abs=5e-4)
    if steps:
        assert ds.attrs["steps_accepted"] == steps and ds.attrs["steps_rejected"] == 0
        assert np.linalg.norm(ds.position.values[-1]) == pytest.approx(radius, abs=0.5)


def test_mass_and_direction_do_not_matter():
    """The norm is that of velocities; and backwards the steps are those of the mirrored motion."""
    start = {"position": (0.0, 1664.029, 0.0), "velocity": (1.550663, 0.0, 0.0), "t_end": 5000.0}
    light, heavy = (ph.integrate(ph.orbit(MU, mass), "ode45", **start) for mass in (1e-3, 500.0))
    np.testing.assert_allclose(light.time.values, heavy.time.values, 1e-12)
    back = ph.integrate(ph.orbit(MU), "ode45", **(start | {"t_end": -5000.0, "velocity": (-1.550663, 0.0, 0.0)}))
    np.testing.assert_allclose(-back.time.values, light.time.values, 1e-12)


def test_with_steps_of_one_size_it_is_the_tableau():
    start = {"position": (0.0, 1664.029, 0.0), "velocity": (1.550663, 0.0, 0.0), "step": 60.0, "steps": 20}
    np.testing.assert_array_equal(
        ph.integrate(ph.orbit(MU), "ode45", **start).position, ph.integrate(ph.orbit(MU), "mkrk:dp5", **start).position
    )


def test_dense_output_and_bodies_that_turn():
    top = ph.heavy_top((1.0, 1.5, 2.2), (0.1, 0.2, 0.9), 1.0)
    run = {"angular_velocity": (0.6, 1.0, 0.5), "t_end": 10.0}
    truth = ph.integrate(top, "mkrk:dp8", steps=ph.Tolerance(1e-12), t_eval=np.linspace(0, 10, 41), **run)
    coarse, fine = (
        ph.integrate(top, "ode45", t_eval=np.linspace(0, 10, 41), **more, **run)
        for more in ({}, {"steps": ph.Tolerance(1e-7)})
    )
    assert np.abs(coarse.attitude.values - truth.attitude.values).max() < 2e-2
    assert np.abs(fine.attitude.values - truth.attitude.values).max() < 2e-6
    np.testing.assert_array_equal(ph.rerun(fine).attitude.values, fine.attitude.values)


def test_other_methods_still_ask_for_a_step():
    with pytest.raises(InvalidInput, match="give either step"):
        ph.integrate(ph.orbit(MU), "mkrk:dp5", t_end=10.0, position=(1664.0, 0, 0))
    with pytest.raises(InvalidInput, match="give either step"):
        ph.integrate(ph.orbit(MU), "ode45", step=1.0, steps=ph.Tolerance(1e-3), t_end=10.0, position=(1664.0, 0, 0))
