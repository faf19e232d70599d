"""What a function reads beside its arguments is read anew by every run: in the same system, and in a new one."""

from __future__ import annotations

import types

import numpy as np
import pytest

import polhode as ph
from cover import chosen
from each import each


class Gains:
    shared = 1.0
    __slots__ = ("__dict__", "slot")

    def __init__(self):
        self.k, self.slot, self.table, self.array = 1.0, 1.0, {"k": 1.0}, np.ones(5000)
        self.inner = types.SimpleNamespace(deep=types.SimpleNamespace(k=1.0))

    @property
    def seen(self):
        return self.k

    def told(self):
        return self.k

    def __call__(self, t, x, v, p):
        return (self.k, 0.0, 0.0)

    def law(self, t, x, v, p):
        return (self.k, 0.0, 0.0)

    def double(self):
        self.k = self.slot = self.inner.deep.k = self.table["k"] = 2.0
        self.array[:] = 2.0
        type(self).shared = 2.0


def module():
    made = types.ModuleType("of_a_user")
    made.k = 1.0
    return made


READERS = {
    "attribute": lambda g, m, d: lambda t, x, v, p: (g.k, 0.0, 0.0),
    "class attribute": lambda g, m, d: lambda t, x, v, p: (Gains.shared, 0.0, 0.0),
    "slot": lambda g, m, d: lambda t, x, v, p: (g.slot, 0.0, 0.0),
    "property": lambda g, m, d: lambda t, x, v, p: (g.seen, 0.0, 0.0),
    "method": lambda g, m, d: lambda t, x, v, p: (g.told(), 0.0, 0.0),
    "callable object": lambda g, m, d: g,
    "bound method": lambda g, m, d: g.law,
    "nested": lambda g, m, d: lambda t, x, v, p: (g.inner.deep.k, 0.0, 0.0),
    "dictionary in an object": lambda g, m, d: lambda t, x, v, p: (g.table["k"], 0.0, 0.0),
    "array in an object": lambda g, m, d: lambda t, x, v, p: (g.array[2500], 0.0, 0.0),
    "module": lambda g, m, d: lambda t, x, v, p: (m.k, 0.0, 0.0),
    "array in a dictionary": lambda g, m, d: lambda t, x, v, p: (d["k"][2500], 0.0, 0.0),
    "by getattr": lambda g, m, d: lambda t, x, v, p: (getattr(g, "k"), 0.0, 0.0),  # noqa: B009
}


def drift(system):
    ds = ph.integrate(system, "forward_euler", step=0.1, steps=1, position=(0.3, 0.1, 0.1), settings={"guard": False})
    return float(ds.velocity[-1, 0]) / 0.1


@pytest.mark.filterwarnings("ignore::polhode.errors.SlowFunctionWarning")
@each("name", chosen(READERS, [one for one in READERS if one != "bound method"]))
def test_a_run_reads_what_is_there_now(name):
    gains, of_user, table = Gains(), module(), {"k": np.ones(5000)}
    force = READERS[name](gains, of_user, table)
    Gains.shared = 1.0
    system = ph.particle(force=force, work=False)
    assert drift(system) == pytest.approx(1.0, rel=1e-14)
    gains.double()
    of_user.k = 2.0
    table["k"][:] = 2.0
    assert drift(system) == pytest.approx(2.0, rel=1e-14)
    assert drift(ph.particle(force=force, work=False)) == pytest.approx(2.0, rel=1e-14)


def test_every_role_reads_what_is_there_now():
    gains = Gains()

    def run():
        def law(t, position, velocity, q, omega, parameters, states):
            return gains.k

        body = ph.rigid_body((1.0, 2.0, 2.5), torque=lambda t, q, omega, p, states: (gains.k, 0.0, states.u),
                             states={"u": 0.0}, controllers=ph.controller(law, 0.1, "u"))  # fmt: skip
        crossing = ph.events.user(lambda t, position, velocity, q, omega, p: omega[0] - 0.1 * gains.k, name="fast")
        ds = ph.integrate(body, "mkrk:cv8", step=0.05, steps=10, events=[crossing])
        held = ph.integrate(ph.particle(potential=lambda t, x, p: gains.k * x @ x), "v2", step=0.1, steps=1,
                            position=(1.0, 0.0, 0.0))  # fmt: skip
        return float(ds.u[-1]), float(ds.event_time[0]), float(held.potential_energy[0])

    before = run()
    gains.double()
    u, time, energy = run()
    assert before == pytest.approx((1.0, 0.1, 1.0), abs=1e-3) and (u, energy) == (2.0, 2.0)
    assert time == pytest.approx(0.1, abs=1e-3)


class AnyAttribute:
    """As mocks and delayed values are: each attribute is another such object, which knows the one before."""

    __slots__ = ("before", "gain")

    def __init__(self):
        self.gain = 1.0

    def __getattr__(self, name):
        found = AnyAttribute()
        found.before = self
        return found


@pytest.mark.filterwarnings("ignore::polhode.errors.SlowFunctionWarning")
def test_an_object_that_has_any_attribute_is_read_by_those_it_was_given():
    thing = AnyAttribute()
    system = ph.particle(force=lambda t, x, v, p: (thing.gain, 0.0, 0.0), work=False)
    assert drift(system) == pytest.approx(1.0, rel=1e-14)
    thing.gain = 2.0
    assert drift(system) == pytest.approx(2.0, rel=1e-14)


HEIGHT = 0.5


def above(t, position, velocity, q, omega, parameters):
    return position[2] - HEIGHT


def test_one_event_reads_a_global_anew_in_every_run(monkeypatch):
    ball, event = ph.particle(1.0), ph.events.user(above)
    for height in (0.5, 1.5, 0.5):
        monkeypatch.setitem(globals(), "HEIGHT", height)
        ds = ph.integrate(ball, "v2", step=0.2, t_end=2.0, velocity=(0, 0, 1.0), events=[event])
        np.testing.assert_allclose(ds.event_time, [height], rtol=1e-12)


wave = np.sin
WAVES = {
    "sin": (np.sin, lambda t, q, omega, parameters: (0.1 * np.sin(omega[1]), 0.0, 0.0)),
    "cos": (np.cos, lambda t, q, omega, parameters: (0.1 * np.cos(omega[1]), 0.0, 0.0)),
    "own": (lambda x: 0.5 * x, lambda t, q, omega, parameters: (0.05 * omega[1], 0.0, 0.0)),
}


def waving(t, q, omega, parameters):
    return (0.1 * wave(omega[1]), 0.0, 0.0)


def test_a_name_of_a_function_of_a_library_may_be_given_to_another(monkeypatch):
    steps, start = {"step": 0.05, "steps": 20}, {"angular_velocity": (1.0, 2.0, 3.0)}
    body = ph.rigid_body((1, 2, 3), torque=waving)
    prepared = ph.prepare(body, "v2", **steps)
    for name in ("sin", "cos", "own", "sin"):
        function, written = WAVES[name]
        monkeypatch.setitem(globals(), "wave", function)
        expected = ph.integrate(ph.rigid_body((1, 2, 3), torque=written), "v2", **steps, **start).angular_velocity
        for found in (ph.integrate(body, "v2", **steps, **start), prepared.run(start)):
            np.testing.assert_allclose(found.angular_velocity, expected, rtol=1e-13)
