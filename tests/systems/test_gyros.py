"""Control moment gyros: motion against SciPy, orders, the momentum of the whole, stops, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from cover import crossed
from each import each
from polhode.errors import InvalidInput

INERTIA = np.array([[10.0, 0.3, -0.2], [0.3, 14.0, 0.1], [-0.2, 0.1, 18.0]])
G = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [-1.0, 0.0, 1.0]]) / np.sqrt(2.0)
S = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
H = np.array([2.0, 1.5, 1.0])
ANGLES, RATES = np.array([0.3, -0.7, 1.1]), np.array([0.2, -0.1, 0.05])
C = np.cross(G, S)
INNER = np.array([[0.4, -0.2], [0.1, 0.3], [-0.5, 0.6]]), np.array([[0.1, -0.2], [0.15, 0.05], [-0.3, 0.2]])
Q, OMEGA = np.array([0.9, 0.1, 0.3, 0.2]) / np.sqrt(0.95), np.array([0.05, -0.1, 0.2])
START = {"attitude": Q, "angular_velocity": OMEGA}
MU = 3.986004418e14
ORBIT = {"position": (7e6, 0.0, 0.0), "velocity": (0.0, 5300.0, 5300.0), **START}


def single(**words):
    return ph.control_moment_gyros(G, S, H, **{"angle": ANGLES, "command": RATES} | words)


def double(**words):
    return ph.control_moment_gyros(G, S, H, inner_axes=C, angle=INNER[0], command=INNER[1], **words)


def momentum(angles):
    """The sum of the momenta of the rotors by SciPy's rotations."""
    total = np.zeros(3)
    for k, mine in enumerate(np.reshape(angles, (3, -1))):
        s = S[k] if len(mine) == 1 else Rotation.from_rotvec(mine[1] * C[k]).apply(S[k])
        total += H[k] * Rotation.from_rotvec(mine[0] * G[k]).apply(s)
    return total


def by_scipy(t, angles, rates):
    """Attitude and angular velocity after t: the momentum of the whole stays in space, so only the attitude moves."""
    angles, rates = np.ravel(angles), np.ravel(rates)
    R = Rotation.from_quat(Q, scalar_first=True)
    whole = R.apply(INERTIA @ OMEGA + momentum(angles))

    def rate(q, at):
        inside = Rotation.from_quat(q, scalar_first=True).inv().apply(whole)
        return np.linalg.solve(INERTIA, inside - momentum(angles + rates * at))

    def rates_of(at, q):
        w = rate(q, at)
        return 0.5 * np.array([-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))])

    q = solve_ivp(rates_of, (0.0, t), Q, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return np.concatenate([q / np.linalg.norm(q), rate(q, t), angles + rates * t])


def final(ds):
    return np.concatenate([x.values[-1] for x in (ds.attitude, ds.angular_velocity, ds.gimbal_angle)])


ORDERS = {"v2": 2, "s4_6": 4, "v2/mr": 2, "mkrk:rk4": 4, "mkrk:cv8": 8, "kl8/mr8": 8}


USUAL = [method for method in ORDERS if method != "kl8/mr8"]


@each("method, gyros", [*crossed(USUAL, [single, double]), pytest.param("kl8/mr8", double, marks=pytest.mark.full)])
def test_methods_keep_their_order(method, gyros):
    body = ph.rigid_body(INERTIA, gyros=gyros())
    reference = by_scipy(10.0, *((ANGLES, RATES) if gyros is single else INNER))
    errors = []
    for n in (50, 100):
        errors.append(np.abs(final(ph.integrate(body, method, step=10.0 / n, steps=n, **START)) - reference).max())
    assert errors[1] < 2e-12 or np.log2(errors[0] / errors[1]) > ORDERS[method] - 0.35
    assert errors[1] < 1e-3


@each("method", ["v2", "s6_10", "rkn6_14a", "v2/kepler"])
def test_splittings_keep_the_momentum_of_the_whole(method):
    """Beside an energy that changes by the work of the gimbals' motors alone, with wheels too."""
    wheels = ph.reaction_wheels([(1, 0, 0), (0, 1, 1)], 0.05, speed=(100.0, -50.0), command=0.02)
    body, words = ph.rigid_body(INERTIA, gyros=double(), wheels=wheels), START
    if method == "v2/kepler":
        body, words = ph.spacecraft(INERTIA, MU, 100.0, gravity_gradient=False, gyros=double(), wheels=wheels), ORBIT
    ds = ph.integrate(body, method, step=0.1, steps=1000, settings={"compensated": True}, **words)
    spin = ds.spin.values
    assert np.abs(spin - spin[0]).max() < 1e-14 * np.linalg.norm(spin[0])
    start = ph.rotation.rotate(Q, INERTIA @ OMEGA + momentum(INNER[0]) + wheels.axes.T @ (0.05 * np.array((100, -50))))
    assert_allclose(spin[0], start, rtol=1e-13)
    assert list(ds.force.values)[-2:] == ["wheels", "gyros"] and ds.gimbal_angle.shape == (1001, 6)
    if method != "v2/kepler":
        assert np.abs(ds.energy_error.values).max() < {"v2": 1e-3, "rkn6_14a": 1e-8, "s6_10": 1e-8}[method]


def test_rates_are_limited_and_gimbals_stop():
    """At a stop the gimbal turns back only; the events tell when."""
    stopped = ph.control_moment_gyros([(0, 0, 1)], [(1, 0, 0)], 2.0, max_rate=0.5, max_angle=1.0, command=3.0)

    def back(t, position, velocity, q, omega, parameters, states):
        return (3.0 if t < 3.9 else -0.1,)

    body = ph.rigid_body((10.0, 14.0, 18.0), gyros=stopped, controllers=[ph.controller(back, 4.0, "gimbal_command")])
    ds = ph.integrate(body, "s6_10", step=0.25, t_end=8.0)
    assert ds.event_kind.values.tolist() == ["gimbal_stopped", "gimbal_released"]
    assert_allclose(ds.event_time.values, [2.0, 4.0], rtol=0, atol=1e-6)
    assert_allclose(ds.gimbal_angle.sel(time=[1.0, 3.0, 6.0]).values[:, 0], [0.5, 1.0, 0.8], rtol=0, atol=1e-12)
    free = ph.integrate(ph.rigid_body((10.0, 14.0, 18.0), gyros=stopped), "mkrk:cv8", step=0.25, t_end=8.0)
    assert_allclose(free.gimbal_angle.values[-1, 0], 1.0, rtol=0, atol=1e-12)


def test_a_controller_steers_by_the_gyros():
    """A pyramid of four turns a spacecraft by the pseudo-inverse of their torques."""
    c, s = np.cos(0.9553), np.sin(0.9553)
    axes = np.array([(s, 0, c), (0, s, c), (-s, 0, c), (0, -s, c)])
    spins = np.array([(0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (1.0, 0.0, 0.0)])
    gyros = ph.control_moment_gyros(axes, spins, 1.0, max_rate=0.5)

    def steer(t, position, velocity, q, omega, parameters, states):
        wanted = -8.0 * np.sign(q[0]) * np.array((q[1], q[2], q[3])) - 20.0 * omega
        angles = states.gimbal_angle
        A = np.zeros((3, 4))
        for k in range(4):
            A[:, k] = -(np.cos(angles[k]) * np.cross(axes[k], spins[k]) - np.sin(angles[k]) * spins[k])
        return np.linalg.solve(A @ A.T + 0.01 * np.eye(3), wanted) @ A

    craft = ph.spacecraft((20.0, 22.0, 25.0), MU, 100.0, gyros=gyros,
                          controllers=[ph.controller(steer, 0.1, "gimbal_command")])  # fmt: skip
    ds = ph.integrate(craft, "s4_6", step=0.1, t_end=120.0, position=(7e6, 0, 0), velocity=(0, 5300.0, 5300.0),
                      attitude=(0.8, 0.4, -0.4, 0.2))  # fmt: skip
    assert 2.0 * np.linalg.norm(ds.attitude.values[-1, 1:]) < 1e-3 and abs(ds.gimbal_angle).max() > 0.2
    assert float(abs(ds.energy_error).max()) < 1e-10


@pytest.mark.full
def test_derivatives_follow_the_gyros():
    body = ph.rigid_body(INERTIA, gyros=single())
    ds = ph.integrate(body, "s6_10", step=0.1, t_end=5.0, tangent=True, **START)
    J = np.linalg.eigvalsh(INERTIA)
    assert np.isfinite(ds.state_transition).all() and J[0] > 0.0

    def end(angle):
        other = ph.rigid_body(INERTIA, gyros=single(angle=ANGLES + angle))
        return ph.integrate(other, "s6_10", step=0.1, t_end=5.0, **START).angular_momentum[-1].values

    columns = list(ds.state_transition.coords[ds.state_transition.dims[-1]].values)
    for k in range(3):
        e = 1e-6 * np.eye(3)[k]
        column = ds.state_transition[-1].values[:, columns.index(f"gimbal_angle.{k}")]
        assert_allclose(column[9:12] if len(column) > 12 else column[3:6], (end(e) - end(-e)) / 2e-6, rtol=0, atol=1e-7)


def test_a_scenario_has_them(tmp_path):
    (tmp_path / "gyros.toml").write_text("""
method = "s6_10"
[system]
type = "rigid_body"
inertia = [10, 14, 18]
gyros = { gimbal_axes = [[0,0,1]], spin_axes = [[1, 0, 0]], momentum_N_m_s = 2.0, max_rate_deg_s = 5.0, command = 1 }
[initial]
angular_velocity = [0.1, 0, 0.05]
[run]
step = 0.1
t_end = 5.0
""")
    ds = ph.runs.read_scenario(tmp_path / "gyros.toml").integrate()
    assert_allclose(ds.gimbal_angle[-1], np.radians(25.0), rtol=1e-12)
    assert ds.gimbal_angle.attrs["units"] == "rad"
    ph.save(ds, tmp_path / "gyros.nc")
    assert (ph.rerun(ph.load(tmp_path / "gyros.nc")).attitude.values == ds.attitude.values).all()


ONE = {"gimbal_axes": [(0, 0, 1)], "spin_axes": [(1, 0, 0)], "momentum": 2.0}


@each(("given", "told"), [
    ({"spin_axes": [(1, 0, 1)]}, r"spin_axes\[0\] is not at right angles to gimbal_axes\[0\]"),
    ({"spin_axes": [(1, 0, 0), (0, 1, 0)]}, "spin_axes has 2 rows, but there are 1 gimbal_axes"),
    ({"inner_axes": [(0, 0, 1)]}, r"inner_axes\[0\] is not at right angles to gimbal_axes\[0\]"),
    ({"inner_axes": [(1, 0, 0)]}, r"spin_axes\[0\] is not at right angles to inner_axes\[0\]"),
    ({"momentum": 0.0}, "momentum is 0; give a positive number"),
    ({"max_rate": -1.0}, "max_rate is -1; give a positive number"),
    ({"max_angle": 0.5, "angle": 0.6}, "a gimbal of gyro 0 is beyond its stop from the start"),
    ({"angle": [0.1, 0.2]}, "angle must be one number or one for each of 1 gyros"),
    ({"command": np.nan}, "command"),
])  # fmt: skip
def test_what_is_wrong_is_said(given, told):
    with pytest.raises(InvalidInput, match=told):
        ph.rigid_body(INERTIA, gyros=ONE | given)


def test_other_things_are_no_gyros():
    with pytest.raises(InvalidInput, match=r"gyros must be made by polhode.control_moment_gyros"):
        ph.rigid_body(INERTIA, gyros=3)
    with pytest.raises(InvalidInput, match="gyros are those of one spacecraft, but there are 2"):
        ph.spacecraft([INERTIA, INERTIA], MU, [1.0, 2.0], gyros=ONE)
