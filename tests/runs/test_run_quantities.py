"""Quantities with units for every argument of a run that has a dimension, with every system.

Each is turned into the unit of the system or refused in one sentence; what comes out is the run with plain numbers. So
that nothing depends on one package, all is done with astropy and with a stand-in that has the interface of pint.
"""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from cover import crossed, some
from each import each
from flat_words import in_parts
from polhode.errors import InvalidInput
from polhode.runs.request import TIMES

u = pytest.importorskip("astropy.units")


def integrate(system, method=None, **words):
    """A run, with the words of a tolerance, of a start and of settings flat."""
    return ph.integrate(system, method, **in_parts(words))


# ------------------------------------------------------------------ two packages
class Pint:
    """What polhode uses of a quantity of pint. Where NumPy is let near it, it loses its unit without a word."""

    def __init__(self, numbers, unit):
        self._kept, self.magnitude, self.units = u.Quantity(numbers, unit), np.asarray(numbers), str(unit)

    def m_as(self, unit):
        return self._kept.to_value("" if unit == "dimensionless" else unit)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.magnitude, dtype=dtype)

    def __float__(self):
        return float(self.magnitude)

    def __len__(self):
        return len(self.magnitude)


def listed(numbers, unit):
    """A list of quantities, of rows a list of lists."""
    if np.ndim(numbers) == 0:
        return u.Quantity(numbers, unit)
    return [listed(part, unit) for part in numbers]


def objects(numbers, unit):
    """An array of quantities, as loops over Python's objects make it."""
    made = np.empty(np.shape(numbers), dtype=object)
    for index in np.ndindex(made.shape):
        made[index] = u.Quantity(np.asarray(numbers)[index], unit)
    return made if made.shape else made[()]


PACKAGES = {"astropy": u.Quantity, "pint": Pint, "lists": listed, "objects": objects}


# ------------------------------------------------------------------ the systems
def damping(t, q, omega, parameters):
    return (0.0, 0.0, -parameters[0] * omega[2])


INERTIA, BOX, AU = [2.0, 3.0, 4.5], 3.1, 1.495978707e11
Q = [0.6, 0.0, 0.8, 0.0]
TURN = {"attitude": Q, "angular_velocity": [0.3, -0.2, 1.1]}
LOW = {"position": [7.0e6, 1.0e5, -2.0e5], "velocity": [100.0, 7.4e3, 900.0]}
NEAR = {"position": [1.0, 0.2, 0.1], "velocity": [0.1, 0.8, 0.3]}
MU = 3.986004418e14
PAIR = {"position": [[0.0, 0.0, 0.0], [4.0e8, 0.0, 0.0]], "velocity": [[0.0, -12.0, 0.0], [0.0, 1.0e3, 0.0]]}
LATTICE = ph.initial.cubic(2, 1.55)
WATER = {
    "position": LATTICE.state["position"],
    "attitude": ph.initial.random_rotations(8, 3)["attitude"],
    "velocity": 0.1 * np.sin(np.arange(24.0)).reshape(8, 3), "angular_velocity": np.cos(np.arange(24.0)).reshape(8, 3),
}  # fmt: skip
SYSTEMS = {
    "particle": (lambda: ph.particle(2.0, stiffness=3.0, gravity=[0, 0, -9.8]), 0.05, NEAR),
    "free_body": (lambda: ph.free_body(INERTIA), 0.05, TURN),
    "rigid_body": (lambda: ph.rigid_body(INERTIA, torque=damping, parameters=[0.1], mass=2.0), 0.05, TURN | NEAR),
    "heavy_top": (lambda: ph.heavy_top(INERTIA, [0, 0, 1.0], 20.0), 0.05, TURN),
    "gravity_gradient": (lambda: ph.systems.gravity_gradient(INERTIA, MU, 7.0e6), 5.0, TURN | {
        "angular_velocity": [1e-3, 2e-3, 3e-3]}),
    "soft_wall": (lambda: ph.systems.soft_wall(), 0.05, TURN),
    "orbit": (lambda: ph.orbit(MU, 2.0), 5.0, LOW),
    "spacecraft": (lambda: ph.spacecraft(INERTIA, MU, 2.0), 5.0, LOW | TURN | {"angular_velocity": [1e-3, 2e-3, 3e-3]}),
    "gravitating_bodies": (lambda: ph.gravitating_bodies(mass=[6e24, 7e22], G=6.6743e-11), 3600.0, PAIR),
    "rigid_water": (lambda: ph.rigid_water(8, box=BOX, cutoff=1.0), 1e-3, WATER),
}  # fmt: skip
"""How they are built, a step, and a start; in SI, of water in nm, ps and u."""

KILO = {
    "time": "min", "position": "km", "velocity": "km / h", "momentum": "g * km / min", "angular_velocity": "deg / min",
    "angular_momentum": "g * km**2 / h",
}  # fmt: skip
SMALL = {"time": "fs", "position": "pm", "velocity": "m / s", "momentum": "u * m / s", "angular_velocity": "deg / fs",
         "angular_momentum": "u * pm**2 / fs"}  # fmt: skip
AUXILIARY = {
    "SI": {"time": "s", "position": "m", "velocity": "m / s", "momentum": "kg * m / s", "angular_velocity": "rad / s",
           "angular_momentum": "kg * m**2 / s"},
    "molecular": {"time": "ps", "position": "nm", "velocity": "nm / ps", "momentum": "u * nm / ps",
                  "angular_velocity": "rad / ps", "angular_momentum": "u * nm**2 / ps"},
}  # fmt: skip


def kind(name):
    return "time" if name in TIMES else name.removesuffix("_space")


def with_unit(make, system, name, value):
    """The value in another unit than the one of the system."""
    own = AUXILIARY["molecular" if system.units == "molecular" else "SI"][kind(name)]
    other = (SMALL if system.units == "molecular" else KILO)[kind(name)]
    return make((np.asarray(value) * u.Unit(own).to(other)).tolist(), u.Unit(other))


def same(one, other):
    """Whether two runs are the same to the round-off of conversions."""
    assert set(one.variables) == set(other.variables)
    for name, variable in one.variables.items():
        values, expected = variable.values, other[name].values
        if values.dtype.kind == "f" and name not in ("energy_error", "energy_change"):
            size = np.abs(expected).max(initial=0.0)
            np.testing.assert_allclose(values, expected, rtol=0, atol=1e-9 * size, err_msg=name)
    return True


def arguments_of(name):
    """All arguments that have a dimension, in turn: ``{argument: the whole call with plain numbers}``."""
    build, h, start = SYSTEMS[name]
    system, label = build(), "v2/mr" if name in ("rigid_water",) else "mkrk:rk4"
    base = {"method": label, "step": h, "t_end": 4 * h, **start}
    calls = {"step": base, "t_end": base, "time": base | {"time": h},
             "t_eval": base | {"t_eval": [0.0, 1.5 * h, 4 * h]}, "since": base | {"since": -h},
             "breaks": base | {"breaks": [0.7 * h, 2 * h]}}  # fmt: skip
    if name != "rigid_water":
        chosen = {"method": "mkrk:dp5", "rtol": 1e-8, "t_end": 4 * h, **start}
        calls |= {"first_step": chosen | {"first_step": h}, "max_step": chosen | {"max_step": 0.5 * h}}
    if system.rotates:
        rest = {key: value for key, value in base.items() if key != "angular_velocity"}
        ds = integrate(system, **base | {"t_end": h}, settings={"units": "consistent"}).isel(time=0)
        m, omega = ds.angular_momentum.values, ds.angular_velocity.values
        q = ds.attitude.values
        calls["angular_velocity"] = rest | {"angular_velocity": omega.tolist()}
        calls["angular_momentum"] = rest | {"angular_momentum": m.tolist()}
        for key, value in (("angular_velocity", omega), ("angular_momentum", m)):
            calls[f"{key}_space"] = rest | {f"{key}_space": ph.rotation.rotate(q, value).tolist()}
    if system.translates:
        rest = {key: value for key, value in base.items() if key != "velocity"}
        calls["position"], calls["velocity"] = base, base
        momentum = np.asarray(start["velocity"]) * (system.mass[:, None] if system.N > 1 else system.mass[0])
        calls["momentum"] = rest | {"momentum": momentum.tolist()}
    return system, calls


def test_every_system_is_in_the_table():
    assert set(SYSTEMS) | {"dipoles"} <= set(ph.systems.SYSTEMS)


@each(("name", "package"), crossed(SYSTEMS, PACKAGES))
def test_a_quantity_for_one_argument_is_the_plain_number_in_the_units_of_the_system(name, package):
    system, calls = arguments_of(name)
    for argument, call in calls.items():
        expected = integrate(system, **call)
        found = integrate(system, **call | {argument: with_unit(PACKAGES[package], system, argument, call[argument])})
        assert same(found, expected), argument
        assert found.attrs["units"] == (system.units or "SI"), argument


@each("package", ["astropy", "pint"])
@each("name", SYSTEMS)
def test_all_arguments_may_be_quantities(name, package):
    system, calls = arguments_of(name)
    call = dict(calls["step"])
    plain = integrate(system, **call)
    for key in set(call) & {"step", "t_end", "position", "velocity", "angular_velocity"}:
        call[key] = with_unit(PACKAGES[package], system, key, call[key])
    assert same(integrate(system, **call), plain)
    assert ph.rerun(integrate(system, **call), **({"torque": damping} if name == "rigid_body" else {})).equals(
        integrate(system, **call)
    )


@each("package", PACKAGES)
@each("name", SYSTEMS)
def test_a_quantity_of_another_kind_is_refused_by_name(name, package):
    system, calls = arguments_of(name)
    for argument, call in calls.items():
        value = PACKAGES[package](np.asarray(call[argument]).tolist(), u.Unit("V"))
        with pytest.raises(
            InvalidInput, match=rf"^{argument}\b.* is a quantity in V, which does not turn into"
        ) as told:
            integrate(system, **call | {argument: value})
        assert "\n" not in str(told.value)


@each("package", PACKAGES)
def test_reduced_units_take_no_quantities(package):
    system = ph.dipoles(8, box=6.0, cutoff=2.5)
    start = {
        "position": ph.initial.cubic(2, 3.0).state["position"],
        "attitude": ph.initial.random_rotations(8, 3)["attitude"],
    }
    call = {"method": "v2/mr", "step": 1e-3, "t_end": 2e-3, **start}
    integrate(system, **call)
    for argument, value in (call | {"time": 0.0, "velocity": np.zeros((8, 3)), "angular_velocity": np.zeros((8, 3)),
                                    "angular_velocity_space": np.zeros((8, 3)), "since": 0.0}).items():  # fmt: skip
        if argument in ("method", "attitude"):
            continue
        given = PACKAGES[package](np.asarray(value).tolist(), u.Unit(KILO[kind(argument)]))
        with pytest.raises(InvalidInput, match=r"^dipoles is in units of its own, which a quantity cannot be turned"):
            integrate(system, **call | {argument: given})


# ------------------------------------------------------------------ attitudes
@each("package", PACKAGES)
@each("unit", ["deg", "rad", "arcmin"])
@each("name", ["rotation_vector", "euler_angles"])
def test_angles_are_turned_into_radians(name, unit, package):
    body, angles = ph.free_body(INERTIA), np.array([0.3, -0.7, 1.1])
    call = {"method": "v2/mr", "step": 0.05, "steps": 4, "angular_velocity": [0.3, -0.2, 1.1]}
    expected = integrate(body, **call, **{name: angles})
    given = PACKAGES[package](angles * u.rad.to(unit), u.Unit(unit))
    found = integrate(body, **call, **{name: given})
    assert same(found, expected) and found.attrs["units"] == "consistent"
    with pytest.raises(InvalidInput, match=rf"^{'angles|euler_angles' if 'euler' in name else 'v|rotation_vector'}"):
        integrate(body, **call, **{name: PACKAGES[package](angles, u.m)})


def test_an_attitude_in_space_turns_quantities_with_it():
    """Also of molecules, whose units are not SI."""
    from scipy.spatial.transform import Rotation

    water, omega = ph.rigid_water(8, box=BOX, cutoff=1.0), WATER["angular_velocity"]
    x = np.roll(WATER["attitude"], -1, axis=1)
    call = {
        "method": "v2/mr",
        "step": 1e-3,
        "steps": 2,
        "position": WATER["position"],
        "attitude": Rotation.from_quat(x),
    }
    expected = integrate(water, **call, start={"angular_velocity_space": omega})
    found = integrate(water, **call, start={"angular_velocity_space": omega * 1e12 * u.rad / u.s})
    assert same(found, expected) and found.attrs["units"] == "molecular"


@each("package", PACKAGES)
@each("unit", ["deg", "rad", ""])
def test_degrees_by_name_are_plain_numbers(unit, package):
    given = PACKAGES[package]([10.0, 20.0, 30.0], u.Unit(unit))
    with pytest.raises(InvalidInput, match=r"^euler_angles_deg is a quantity; give it as euler_angles"):
        integrate(ph.free_body(INERTIA), "v2/mr", step=0.05, steps=4, start={"euler_angles_deg": given})


# ------------------------------------------------------------------ what takes no unit
CIRCLING = {"system": ph.orbit(MU), "method": "v2", "step": 5.0, "steps": 4, **LOW}
TUMBLING = {"system": ph.free_body(INERTIA), "method": "v2/mr", "step": 0.05, "steps": 4}
CHOSEN = {"system": ph.free_body(INERTIA), "method": "mkrk:dp5", "rtol": 1e-6, "t_end": 0.1}
REFUSED = {
    "steps": (CIRCLING, 4, "s"), "every": (CIRCLING, 2, ""), "threads": (CIRCLING, 1, ""),
    "max_steps": (CHOSEN, 100, ""), "rtol": (CHOSEN, 1e-6, "m"), "atol": (CHOSEN, 1e-9, "rad / s"),
    "guard": (CIRCLING, 1, ""), "compensated": (CIRCLING, 1, ""), "epoch": (CIRCLING, 0.0, "s"),
    "attitude": (TUMBLING, Q, "m"), "coordinates": (TUMBLING | {"method": "rotation_vector"}, [0.1, 0.2, 0.3], "deg"),
    "compensation": (CIRCLING | {"compensated": True}, [0.0] * 6, "m"),
    "time_variables": (CIRCLING | {"method": "reversible:v2"}, [0.0, 0.0, 1.0, 0.0], "s"),
    "thermostat": (TUMBLING | {"method": ph.methods.baoab(temperature=1.0, friction=1.0)}, [0.0, 0.0], "J"),
    "parameters": (TUMBLING | {"system": ph.rigid_body(INERTIA, torque=damping, parameters=[0.1])}, [0.2], "N * m * s"),
    "events": (CIRCLING, [1.0, 2.0], "s"), "sequence": (TUMBLING | {"euler_angles": [0.1, 0.2, 0.3]}, 1.0, "rad"),
}  # fmt: skip


OPTIONS = {"temperature": (300.0, "K"), "friction": (1.0, "1 / s"), "seed": (1, "")}


@each("package", PACKAGES)
@each("option", OPTIONS)
def test_options_of_methods_have_no_unit(option, package):
    value, unit = OPTIONS[option]
    with pytest.raises(InvalidInput) as told:
        ph.methods.baoab(**{option: PACKAGES[package](value, u.Unit(unit))})
    words = str(told.value)
    assert option in words and "\n" not in words and len(words) < 400, words


@each("package", PACKAGES)
@each("argument", REFUSED)
def test_what_has_no_unit_that_polhode_knows_is_refused(argument, package):
    call, value, unit = REFUSED[argument]
    call = {key: kept for key, kept in call.items() if kept is not None and key != argument}
    with pytest.raises(InvalidInput) as told:
        integrate(**call, **{argument: PACKAGES[package](value, u.Unit(unit))})
    words = str(told.value)
    assert argument in words and "\n" not in words and len(words) < 400, words


@each("package", PACKAGES)
def test_seconds_between_checkpoints_may_be_minutes(package, tmp_path):
    path = tmp_path / "run.zarr"
    ds = integrate(**CIRCLING, store=ph.Store(path, checkpoint_seconds=PACKAGES[package](0.5, u.min)))
    assert ph.load(path).equals(ds)
    with pytest.raises(InvalidInput, match=r"^checkpoint_seconds is a quantity in m, which does not turn into s"):
        integrate(**CIRCLING, store=ph.Store(tmp_path / "b.zarr", checkpoint_seconds=PACKAGES[package](0.5, u.m)))


def test_parameters_by_name_are_quantities_as_where_the_system_is_built():
    top = ph.heavy_top(INERTIA, [0, 0, 1.0], 20.0)
    call = {"method": "v2", "step": 0.05, "steps": 4, **TURN}
    expected = integrate(top, **call, parameters={"weight": 10.0})
    for make in (u.Quantity, Pint):
        assert same(integrate(top, **call, parameters={"weight": make(0.01, u.kN)}), expected)
        with pytest.raises(InvalidInput, match=r"^weight is a quantity in m, which does not turn into N"):
            integrate(top, **call, parameters={"weight": make(0.01, u.m)})


def test_units_of_another_name_are_told_before_anything_is_turned():
    water = ph.rigid_water(8, box=BOX, cutoff=1.0)
    call = {"method": "v2/mr", "steps": 2, "position": WATER["position"], "attitude": WATER["attitude"]}
    with pytest.raises(InvalidInput, match="rigid_water is in molecular units"):
        integrate(water, **call, step=1 * u.fs, settings={"units": "SI"})
    for units in ("imperial", ["SI"], None, {}):
        with pytest.raises(InvalidInput, match="units"):
            integrate(water, **call, step=1 * u.fs, settings={"units": units})
        with pytest.raises(InvalidInput, match="units"):
            integrate(water, **call, step=1e-3, settings={"units": units})


# ------------------------------------------------------------------ masses and the constant of gravity
def test_masses_with_units_need_a_constant_of_gravity_in_si():
    known = {"mass": [6e24, 7e22] * u.kg}
    for given in (known, {"mu": [4e14, 5e12] * u.m**3 / u.s**2}, {"mass": [6e24 * u.kg, 7e22 * u.kg]}):
        with pytest.raises(InvalidInput, match=r"is a quantity, but G is not given, which is 1 .* 6\.6743e-11"):
            ph.gravitating_bodies(**given)
    made = ph.gravitating_bodies(**known, G=6.6743e-11)
    np.testing.assert_array_equal(made.parameters, ph.gravitating_bodies(mass=[6e24, 7e22], G=6.6743e-11).parameters)
    assert ph.gravitating_bodies(mass=[1.0, 2.0]).arguments["G"] == 1.0


# ------------------------------------------------------------------ comparisons
@each("make", some([u.Quantity, objects, Pint], 1))
def test_comparisons_take_quantities_as_runs_do(make):
    water = ph.rigid_water(8, box=BOX, cutoff=1.0)
    start = {"position": WATER["position"], "attitude": WATER["attitude"]}
    end = integrate(water, "v2/mr", step=5e-4, steps=8, **start).isel(time=-1)
    plain = ph.compare(water, ["v2/mr"], [1e-3, 2e-3], t_end=4e-3, reference={"position": end.position.values}, **start)
    found = ph.compare(
        water, ["v2/mr"], make([1.0, 2.0], u.fs), t_end=make(4.0, u.fs), start={"time": make(0.0, u.fs)},
        reference={"position": make(1e-9 * end.position.values, u.m)}, **start,
    )  # fmt: skip
    for name in ("position_error", "step"):
        np.testing.assert_allclose(found[name], plain[name], rtol=1e-6, atol=1e-15)
    for wrong in ({"t_end": make(4.0, u.m)}, {"reference": {"position": make(end.position.values, u.s)}}):
        with pytest.raises(InvalidInput, match="is a quantity in"):
            ph.compare(water, "v2/mr", 1e-3, **{"t_end": 4e-3, **start} | wrong)
    with pytest.raises(InvalidInput, match=r"^dipoles is in units of its own"):
        ph.compare(ph.dipoles(8, box=6.0, cutoff=2.5), "v2/mr", 1e-3, t_end=make(4e-3, u.s))


def test_a_reference_is_numbers():
    body = ph.free_body(INERTIA)
    call = {"methods": "v2/mr", "steps": 0.1, "t_end": 0.2, "angular_velocity": [0.1, 0.2, 0.3]}
    for wrong in ("1.5", ["1", "2", "3"], [1.0, 2.0, np.inf], [1j, 0, 0], [1.0, 2.0], [True, False, True]):
        with pytest.raises(InvalidInput, match=r"^angular_momentum of the reference"):
            ph.compare(body, **call, reference={"angular_momentum": wrong})
