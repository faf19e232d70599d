"""Heat baths: random numbers, the maps against transcriptions and other solvers, and what they sample."""

import json

import numpy as np
import pytest
import scipy
from scipy.integrate import solve_ivp

import polhode as ph
from cover import chosen, some
from each import each
from polhode.algebra.quaternion import rotate_inverse
from polhode.algebra.so3 import axpy, cross, scale
from polhode.checks import check_method
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3
from polhode.kernel.sampling import normal_pair, philox
from polhode.methods import method
from polhode.methods.record import shortest
from polhode.systems import System

MOMENTS = (0.6, 1.0, 1.3)
STIFFNESS, FIELD = 1.0, 2.0
LANGEVIN = ("baoab", "obabo", "aboba")


def wells_loads(part, t, N, y, bodies, parameters, out):
    """Bodies that know nothing of each other: a spring to the origin, a dipole in a field."""
    for i in range(N):
        field = rotate_inverse(get4(y, L.BODY * i + L.ATTITUDE), (0.0, 0.0, 1.0))
        put3(out, L.LOAD * i, scale(-parameters[0], get3(y, L.BODY * i + L.POSITION)))
        put3(out, L.LOAD * i + 3, scale(parameters[1], cross((0.0, 0.0, 1.0), field)))


def wells_potential(t, N, y, bodies, parameters):
    total = 0.0
    for i in range(N):
        r = get3(y, L.BODY * i + L.POSITION)
        total += 0.5 * parameters[0] * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
        total -= parameters[1] * rotate_inverse(get4(y, L.BODY * i + L.ATTITUDE), (0.0, 0.0, 1.0))[2]
    return total


def wells(N=1, moments=MOMENTS, mass=1.0, boltzmann=1.0, stiffness=STIFFNESS, field=FIELD):
    return System(
        name="wells", arguments={}, mass=np.full(N, mass), moments=np.array([moments] * N, dtype=float),
        frames=np.array([(1.0, 0.0, 0.0, 0.0)] * N), loads=wells_loads, potential=wells_potential,
        provides={"velocity_independent"}, parameters=np.array([stiffness, field]), conserves=("energy",),
        boltzmann=boltzmann,
    )  # fmt: skip


def spring_loads(part, t, N, y, bodies, parameters, out):
    """A ring of bodies: springs between neighbours, and torques that turn their third axes towards each other."""
    for i in range(N):
        put3(out, L.LOAD * i, (0.0, 0.0, 0.0))
        put3(out, L.LOAD * i + 3, (0.0, 0.0, 0.0))
    for i in range(N):
        j = (i + 1) % N
        d = axpy(-1.0, get3(y, L.BODY * i + L.POSITION), get3(y, L.BODY * j + L.POSITION))
        s = parameters[0] * (1.0 + d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
        put3(out, L.LOAD * i, axpy(s, d, get3(out, L.LOAD * i)))
        put3(out, L.LOAD * j, axpy(-s, d, get3(out, L.LOAD * j)))


def spring_potential(t, N, y, bodies, parameters):
    total = 0.0
    for i in range(N):
        d = axpy(-1.0, get3(y, L.BODY * i + L.POSITION), get3(y, L.BODY * ((i + 1) % N) + L.POSITION))
        square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
        total += parameters[0] * (0.5 * square + 0.25 * square * square)
    return total


def ring(N=5):
    return System(
        name="ring", arguments={}, mass=1.0 + 0.3 * np.arange(N), moments=np.full((N, 3), np.inf),
        frames=np.array([(1.0, 0.0, 0.0, 0.0)] * N), loads=spring_loads, potential=spring_potential,
        provides={"velocity_independent"}, parameters=np.array([0.5]), conserves=("energy", "total_momentum"),
    )  # fmt: skip


def start(N, seed=7):
    draw = np.random.default_rng(seed).normal
    return {"position": draw(size=(N, 3)), "momentum": draw(size=(N, 3)), "angular_momentum": draw(size=(N, 3))}


def agrees(samples, value, most=4.0):
    """Whether the mean over independent bodies is a value, within so many standard errors; and is known to 2 %."""
    error = samples.std(ddof=1) / np.sqrt(len(samples))
    assert error < 0.02 * abs(value)
    assert abs(samples.mean() - value) < most * error, (samples.mean(), value, error)


# ------------------------------------------------------------------ random numbers
@each(
    ("given", "found"),
    [
        ([0] * 6, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([0xFFFFFFFF] * 6, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0],
         [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]),
    ],
)  # fmt: skip
def test_known_answers_of_philox(given, found):
    """The vectors of Random123 for philox4x32-10."""
    assert list(philox(*given)) == found


def test_normal_numbers_are_normal():
    x = np.array([normal_pair(n, 0, 3, 1, 42, 0) for n in range(4000)])
    assert scipy.stats.kstest(x.ravel(), "norm").pvalue > 1e-3
    assert abs(np.corrcoef(x.T)[0, 1]) < 4 / np.sqrt(len(x))
    assert abs(np.corrcoef(x[1:, 0], x[:-1, 0])[0, 1]) < 4 / np.sqrt(len(x))


# ------------------------------------------------------------------ Langevin, step by step
def words(n, k):
    """Philox written a second time, with NumPy's unsigned integers of 64 bits."""
    c, key = [np.uint64(x) for x in n], [np.uint64(x) for x in k]
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(b >> shift) ^ c[1] ^ key[0], b & low, (a >> shift) ^ c[3] ^ key[1], a & low]
        key = [(key[0] + np.uint64(0x9E3779B9)) & low, (key[1] + np.uint64(0xBB67AE85)) & low]
    return [int(x) for x in c]


def normals(draw, body, kind, seed):
    found = []
    for part in (0, 1):
        x = words((draw % 2**32, draw // 2**32, body, 2 * kind + part), (seed % 2**32, seed // 2**32))
        u, v = (((x[k] // 32) * 2**26 + x[k + 1] // 64 + (k == 0)) / 2**53 for k in (0, 2))
        found += [np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v), np.sqrt(-2 * np.log(u)) * np.sin(2 * np.pi * v)]
    return np.array(found[:3])


def turned(R, w):
    angle = np.linalg.norm(w)
    K = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]]) / angle
    return R @ (np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K)


@each("name", LANGEVIN)
def test_steps_of_round_bodies_against_a_transcription(name):
    """Of a body with equal moments a free rotation is a turn about a fixed axis; several steps, two bodies."""
    h, kT, gamma, turning, seed, I, mass, N = 0.3, 0.7, 0.8, 1.7, 2**40 + 5, 1.4, 1.3, 2
    begin = start(N)
    ds = ph.integrate(
        wells(N, (I, I, I), mass, boltzmann=0.5),
        method(name, temperature=kT / 0.5, friction=gamma, friction_rotation=turning, seed=seed),
        step=h,
        steps=4,
        **begin,
    )
    letters, draw = name.upper(), 0
    q, p, m = (begin[key].copy() for key in ("position", "momentum", "angular_momentum"))
    R = np.array([np.eye(3)] * N)
    for _ in range(4):
        for letter in letters:
            d = h / letters.count(letter)
            for i in range(N):
                if letter == "A":
                    q[i] += d * p[i] / mass
                    R[i] = turned(R[i], d * m[i] / I)
                elif letter == "B":
                    p[i] -= d * STIFFNESS * q[i]
                    m[i] += d * FIELD * np.cross((0, 0, 1), R[i].T @ (0, 0, 1))
                else:
                    c, s = np.exp(-gamma * d), np.exp(-turning * d)
                    p[i] = c * p[i] + np.sqrt((1 - c * c) * mass * kT) * normals(draw, i, 0, seed)
                    m[i] = s * m[i] + np.sqrt((1 - s * s) * I * kT) * normals(draw, i, 1, seed)
            draw += letter == "O"
    for found, expected in ((ds.position, q), (ds.momentum, p), (ds.angular_momentum, m)):
        np.testing.assert_allclose(found[-1], expected, rtol=0, atol=1e-13)
    assert ds.thermostat[-1, 0] == draw == 4 * letters.count("O")


def damped(t, z, gamma, turning):
    """One well with friction, no noise: position, momentum, quaternion, angular momentum."""
    q, p, (w, a, b, c), m = z[:3], z[3:6], z[6:10], z[10:]
    up = np.array([2 * (a * c - w * b), 2 * (b * c + w * a), 1 - 2 * (a * a + b * b)])
    v = m / MOMENTS
    spin = 0.5 * np.array([-a * v[0] - b * v[1] - c * v[2], w * v[0] + b * v[2] - c * v[1],
                           w * v[1] + c * v[0] - a * v[2], w * v[2] + a * v[1] - b * v[0]])  # fmt: skip
    torque = FIELD * np.cross((0, 0, 1), up)
    return np.concatenate([p, -STIFFNESS * q - gamma * p, spin, np.cross(m, v) + torque - turning * m])


TILT = np.array([0.8, 0.2, -0.4, 0.4]) / np.linalg.norm([0.8, 0.2, -0.4, 0.4])


def slope(errors):
    return np.log2(np.array(errors[:-1]) / errors[1:])


@each("name", [*LANGEVIN, "baoab/mr"])
def test_without_noise_the_order_is_two(name):
    """At temperature zero it is a damped rigid body, of any inertia, which SciPy integrates."""
    gamma, turning = 0.4, 0.9
    begin = {"position": (1.0, -0.5, 0.3), "momentum": (0.2, 0.9, -0.4), "angular_momentum": (1.1, -0.8, 0.6)}
    z = np.concatenate([begin["position"], begin["momentum"], TILT, begin["angular_momentum"]])
    end = solve_ivp(damped, (0, 3), z, "DOP853", args=(gamma, turning), rtol=1e-12, atol=1e-12).y[:, -1]
    errors = []
    for n in (20, 40, 80):
        ds = ph.integrate(
            wells(), f"{name}:temperature=0:friction=0.4:friction_rotation=0.9", step=3 / n, steps=n, attitude=TILT,
            every=n, **begin,
        )  # fmt: skip
        found = np.concatenate([ds[key].values[-1].ravel() for key in
                                ("position", "momentum", "attitude", "angular_momentum")])  # fmt: skip
        errors.append(np.abs(found - end).max())
    assert slope(errors) == pytest.approx(2, abs=0.15) and errors[-1] < 1e-2


def same(a, b, names=("position", "momentum", "attitude", "angular_momentum"), **how):
    for name in names:
        if how:
            np.testing.assert_allclose(a[name], b[name], **how)
        else:
            np.testing.assert_array_equal(a[name], b[name])


@each("flow", some(["", "/mr6"], 1))
def test_without_friction_it_is_leapfrog(flow):
    """To round-off where the same maps are composed, which LLVM fuses in each kernel by itself; to more where one of
    them is halved."""
    leap = {name: ph.integrate(wells(3), name + flow, step=0.1, steps=40, **start(3)) for name in ("v2", "v2_dkd")}
    for name, other in (("obabo", "v2"), ("baoab", "v2"), ("aboba", "v2_dkd")):
        ds = ph.integrate(wells(3), method(name + flow, temperature=2.0, friction=0.0), step=0.1, steps=40, **start(3))
        if flow and name == "baoab":  # two halves of an approximate rotation are another one
            assert 1e-12 < np.abs(ds.attitude - leap[other].attitude).max() < 1e-2
        else:
            same(ds, leap[other], rtol=0, atol=1e-14 if name == "obabo" else 1e-11)
    infinite = ph.integrate(wells(3), f"nose_hoover{flow}:temperature=2:tau=inf", step=0.1, steps=40, **start(3))
    same(infinite, leap["v2"], rtol=0, atol=1e-14)
    assert not infinite.thermostat.any()


# ------------------------------------------------------------------ what Langevin dynamics samples
BODIES = 400


def sampled(name, h, steps, skip=150, kT=0.7, friction=1.0, every=1, N=BODIES, seed=0):
    ds = ph.integrate(
        wells(N),
        method(name, temperature=kT, friction=friction, seed=seed),
        step=h,
        steps=steps,
        every=every,
        settings={"guard": False},
    )
    return ds.isel(time=slice(skip, None))


@each(
    ("name", "h", "factor"),
    chosen(
        [("baoab", 1.5, 1.0), ("baoab", 0.5, 1.0), ("aboba", 1.0, 1.0), ("obabo", 1.0, 4 / 3), ("obabo", 0.5, 16 / 15)],
        [("baoab", 1.5, 1.0), ("obabo", 1.0, 4 / 3)],
    ),
)
def test_variance_in_a_harmonic_well(name, h, factor):
    """BAOAB has kT/k at any stable step; OBABO kT/k / (1 - (h w)^2/4), order 2 [leimkuhler2013]."""
    ds = sampled(name, h, 2500, N=160)
    agrees((ds.position.values**2).mean(axis=(0, 2)), factor * 0.7 / STIFFNESS)


@pytest.fixture(scope="module")
def fine():
    return sampled("baoab", 0.08, 4800, skip=50, every=10, seed=5)


def test_equipartition(fine):
    agrees((fine.momentum.values**2).mean(axis=(0, 2)), 0.7)
    for k in range(3):
        agrees((fine.angular_momentum.values[..., k] ** 2).mean(axis=0) / MOMENTS[k], 0.7)


def test_momenta_have_maxwell_distributions(fine):
    """Rows 5 relaxation times apart, of all bodies."""
    rows = fine.isel(time=slice(0, None, 6))
    for k in range(3):
        assert scipy.stats.kstest(rows.momentum.values[..., k].ravel(), "norm", (0, 0.7**0.5)).pvalue > 1e-3
        m = rows.angular_momentum.values[..., k].ravel()
        assert scipy.stats.kstest(m, "norm", (0, (0.7 * MOMENTS[k]) ** 0.5)).pvalue > 1e-3
        wider = scipy.stats.kstest(1.05 * m, "norm", (0, (0.7 * MOMENTS[k]) ** 0.5))
        assert wider.pvalue < 1e-3  # it would have been seen


def test_a_dipole_follows_langevins_function(fine):
    a, b = fine.attitude.values[..., 1], fine.attitude.values[..., 2]
    x = FIELD / 0.7
    agrees((1 - 2 * (a**2 + b**2)).mean(axis=0), 1 / np.tanh(x) - 1 / x)


def test_a_linear_body_turns_about_two_axes():
    """A moment of infinity: nothing turns about that axis, and no heat is in it."""
    system = wells(BODIES, (1.0, 1.0, np.inf))
    assert system.degrees_of_freedom == (3 * BODIES, 2 * BODIES)
    bath = ph.methods.baoab(temperature=0.7, friction=1.0, flow="symmetric")
    ds = ph.integrate(system, bath, step=0.05, steps=1000, every=10)
    m = ds.angular_momentum.values[30:]
    assert not m[..., 2].any()
    agrees((m[..., :2] ** 2).mean(axis=(0, 2)), 0.7)


# ------------------------------------------------------------------ nothing but the state
@each("name", ["baoab:friction=0.7:seed=9", "nose_hoover:tau=0.6:separate"])
def test_slices_records_and_samples_change_nothing(name, monkeypatch):
    from polhode.runs import stepping

    how, name = {"step": 0.05, **start(3)}, method(name, temperature=0.7)
    whole = ph.integrate(wells(3), name, steps=60, **how)
    thin = ph.integrate(wells(3), name, steps=60, every=7, **how)
    names = ("position", "momentum", "attitude", "angular_momentum", "thermostat", "conserved_energy")
    same(thin, whole.isel(time=[*range(0, 60, 7), 60]), names)
    off = ph.integrate(wells(3), name, t_end=3.0, t_eval=[0.125, 1.5, 1.51, 3.0], **how)
    same(off.isel(time=[1, 3]), whole.isel(time=[30, 60]), names)
    monkeypatch.setattr(stepping, "FIRST_SLICE", 1)
    monkeypatch.setattr(stepping, "SLICE_SECONDS", 0.0)
    same(ph.integrate(wells(3), name, steps=60, **how), whole, names)


@each("name", ["baoab:temperature=0.7:friction=0.7:seed=9", "nose_hoover:temperature=0.7:tau=0.6"])
def test_going_on_from_a_row(name):
    """The bits of the uninterrupted run (of points, whose attitudes are not normalised when handed in)."""
    begin = {"position": start(5)["position"], "momentum": start(5)["momentum"]}
    whole = ph.integrate(ring(), name, step=0.0625, steps=80, **begin)
    row = whole.isel(time=32)
    rest = ph.integrate(ring(), name, step=0.0625, t_end=5.0, position=row.position, momentum=row.momentum,
                        start={"time": 2.0, "thermostat": row.thermostat})  # fmt: skip
    same(rest, whole.isel(time=slice(32, None)), ("position", "momentum", "thermostat", "conserved_energy", "time"))
    fresh = ph.integrate(
        ring(), name, step=0.0625, start={"time": 2.0}, t_end=5.0, position=row.position, momentum=row.momentum
    )
    assert np.abs(fresh.position[-1] - whole.position[-1]).max() > 1e-3


def test_rerun_and_seeds(tmp_path):
    body = ph.rigid_body(MOMENTS, mass=1.2)
    ds = ph.integrate(body, ph.methods.baoab(temperature=1.0, friction=0.3, seed=4), step=0.05, steps=20)
    ph.save(ds, tmp_path / "run.nc")
    again = ph.rerun(ph.load(tmp_path / "run.nc"))
    same(again, ds, ("position", "attitude", "angular_momentum", "thermostat", "conserved_energy"))
    other = ph.integrate(body, ph.methods.baoab(temperature=1.0, friction=0.3, seed=5), step=0.05, steps=20)
    assert np.abs(other.momentum - ds.momentum).max() > 0.1


def test_the_rest_of_a_scenario(tmp_path):
    path = tmp_path / "warm.toml"
    path.write_text("""
method = "baoab"
temperature = 0.7
friction = 0.5
seed = 3
system = { type = "particle", mass = 1.0, stiffness = 2.0 }
initial = { position = [1.0, 0.0, 0.5] }
run = { step = 0.125, t_end = 5.0 }
""")
    scenario = ph.runs.read_scenario(path)
    assert scenario.method == "baoab:temperature=0.7:friction=0.5:seed=3"
    whole = scenario.integrate()
    rest = scenario.continued(whole.isel(time=slice(None, 17))).integrate()
    same(rest, whole.isel(time=slice(16, None)), ("position", "momentum", "thermostat"))
    path.write_text(path.read_text().replace("friction = 0.5\n", ""))
    with pytest.raises(ph.errors.InvalidInput, match=r"needs friction; write 'baoab:friction=\.\.\.'"):
        ph.runs.read_scenario(path)


# ------------------------------------------------------------------ energy of bodies and bath
@each("name", ["nose_hoover:tau=0.7", "nose_hoover:tau=0.7:separate:chain=1", "baoab:friction=0.7"])
def test_the_energy_of_bodies_and_bath_is_kept_to_second_order(name):
    errors = []
    for h in (0.05, 0.025, 0.0125):
        energy = ph.integrate(wells(8), method(name, temperature=0.7), step=h, t_end=10.0, **start(8)).conserved_energy
        errors.append(float(np.abs(energy - energy[0]).max()))
    assert slope(errors) == pytest.approx(2, abs=0.25) and errors[-1] < 1e-2


def test_the_energy_of_bodies_and_chain_does_not_drift():
    """Its change over 20 runs of 1000 time units each: none on the average, and small beside what the bath gives."""
    changes, given = [], []
    for seed in range(20):
        begin = {name: start(5, seed)[name] for name in ("position", "momentum")}
        ds = ph.integrate(ring(), "nose_hoover:temperature=0.7:tau=0.7", step=0.05, steps=20_000, every=10, **begin)
        early, late = (ds.conserved_energy.values[rows].mean() for rows in (slice(1, 201), slice(-200, None)))
        changes.append(late - early)
        given.append(ds.energy.values.std())
    changes = np.array(changes)
    assert abs(changes.mean()) < 4 * changes.std(ddof=1) / np.sqrt(20)
    assert np.sqrt((changes**2).mean()) < 0.01 * np.mean(given)


def test_what_a_run_says_of_its_energies():
    ds = ph.integrate(wells(2), ph.methods.baoab(temperature=0.7, friction=1), step=0.05, steps=5)
    for name in ("energy", "energy_error", "energy_change"):
        assert ds[name].attrs["note"] == "not conserved: a heat bath takes part; see conserved_energy"
    assert ds.attrs["conserves"] == "" and ds.attrs["order"] == 2 and "averages" in ds.attrs["order_note"]
    assert ds.conserved_energy.attrs["units"] == "mass length2 / time2"
    assert json.loads(ds.attrs["run"])["method"] == "baoab:temperature=0.7:friction=1:seed=0"


# ------------------------------------------------------------------ Nose-Hoover chains
def extended(t, z, kT, tau, M):
    """One well with a chain of M links, as Martyna and others write it: link velocities xi, masses Q."""
    g = 6
    xi = z[13 : 13 + M]
    Q = np.array([g * kT * tau**2] + [kT * tau**2] * (M - 1))
    rates = damped(t, z[:13], xi[0], xi[0])
    K = z[3:6] @ z[3:6] + z[10:13] @ (z[10:13] / MOMENTS)
    gain = np.array([K - g * kT, *(Q[:-1] * xi[:-1] ** 2 - kT)]) / Q
    gain[:-1] -= xi[:-1] * xi[1:]
    return np.concatenate([rates, gain, xi])


@each("M", [1, 3, 4])
def test_chains_against_another_solver(M):
    kT, tau = 0.7, 0.4
    begin = {"position": (1.0, -0.5, 0.3), "momentum": (0.2, 0.9, -0.4), "angular_momentum": (1.1, -0.8, 0.6)}
    z = np.concatenate([begin["position"], begin["momentum"], TILT, begin["angular_momentum"], np.zeros(2 * M)])
    end = solve_ivp(extended, (0, 3), z, "DOP853", args=(kT, tau, M), rtol=1e-12, atol=1e-12).y[:, -1]
    errors = []
    for n in (80, 160, 320):
        chains = ph.methods.nose_hoover(temperature=kT, tau=tau, chain=M)
        ds = ph.integrate(wells(), chains, step=3 / n, steps=n, every=n, attitude=TILT, **begin)
        last = ds.isel(time=-1)
        own = last.thermostat.values * np.repeat([1 / tau, 1.0], M)
        found = np.concatenate([last.position, last.momentum, last.attitude, last.angular_momentum, own])
        errors.append(np.abs(found - end).max())
    assert slope(errors) == pytest.approx(2, abs=0.15) and errors[-1] < 1e-2


def test_chains_are_reversible():
    how, bath = {"step": 0.05}, ph.methods.nose_hoover(temperature=0.7, tau=0.5)
    there = ph.integrate(wells(3), bath, t_end=5.0, **how, **start(3)).isel(time=-1)
    state = {name: there[name] for name in ("position", "momentum", "attitude", "angular_momentum", "thermostat")}
    back = ph.integrate(wells(3), bath, t_end=0.0, **how, start=state | {"time": 5.0}).isel(time=-1)
    for name, value in start(3).items():
        np.testing.assert_allclose(back[name], value, rtol=0, atol=1e-11)
    np.testing.assert_allclose(back.thermostat, 0, rtol=0, atol=1e-11)


def test_total_momentum_is_kept_and_does_not_count():
    """A ring of springs that stiffen, moving fast as a whole: 12 degrees of freedom have the temperature."""
    begin = {"position": start(5)["position"], "momentum": start(5)["momentum"] + (30.0, 0.0, 0.0)}
    ds = ph.integrate(ring(), "nose_hoover:temperature=0.7:tau=0.5", step=0.05, steps=100_000, every=5, **begin)
    total = ds.total_momentum.values
    np.testing.assert_allclose(total, total[:1].repeat(len(total), 0), rtol=0, atol=1e-10)
    assert ds.attrs["conserves"] == "total_momentum"
    mass = ring().mass
    inner = 2 * ds.kinetic_energy.values - (total**2).sum(axis=1) / mass.sum()
    agrees(inner[1:].reshape(50, -1).mean(axis=1), 12 * 0.7)
    square = (inner[1:] - inner[1:].mean()) ** 2
    error = square.reshape(50, -1).mean(axis=1).std(ddof=1) / np.sqrt(50)
    assert abs(square.mean() - 2 * 12 * 0.7**2) < 4 * error < 0.1 * square.mean()  # canonical: 2 g (kT)^2
    v = ds.momentum.values[1::40] / mass[:, None] - total[1::40, None] / mass.sum()
    spread = np.sqrt(0.7 * (1 / mass[0] - 1 / mass.sum()))
    assert abs(v[:, 0].std() / spread - 1) < 0.05


def test_two_chains_hold_two_temperatures():
    """Nothing couples translation and rotation of the wells; with one chain each both are right."""
    ds = ph.integrate(wells(4), "nose_hoover:temperature=0.7:tau=0.5:separate", step=0.05, steps=60_000, every=5,
                      **start(4))  # fmt: skip
    moving = (ds.momentum.values**2).sum(axis=(1, 2))[1:]
    turning = (ds.angular_momentum.values**2 / MOMENTS).sum(axis=(1, 2))[1:]
    agrees(moving.reshape(30, -1).mean(axis=1), 12 * 0.7)
    agrees(turning.reshape(30, -1).mean(axis=1), 12 * 0.7)
    assert ds.sizes["thermostat_number"] == 12


# ------------------------------------------------------------------ words
def test_words_and_keywords_are_one():
    text = "baoab:temperature=300:friction=5:seed=1"
    assert method(text).label == method("baoab", temperature=300, friction=5.0, seed=1).label == text
    assert method("baoab:seed=1:friction=5.0:temperature=3e2").label == text
    assert (
        method("baoab", temperature=0.1 + 0.2, friction=1).label == f"baoab:temperature={0.1 + 0.2!r}:friction=1:seed=0"
    )
    assert method("baoab/dmv6:fixed_point:temperature=1:friction=0").label.endswith("friction=0:seed=0:fixed_point")
    assert method("nose_hoover:temperature=1:tau=2:separate").label == "nose_hoover:temperature=1:tau=2:separate"
    assert method("mkrk:tableau=gauss4").label == "mkrk:gauss4"
    assert method("variational", alpha=0.25).label == "variational:0.25" and method("variational", alpha=0.5).label == (
        "variational"
    )
    assert method("variational", alpha=0.1 + 0.2).label == f"variational:{0.1 + 0.2!r}"


def test_shortest_numbers_tell_all_numbers_apart():
    for x in (*np.random.default_rng(1).normal(size=100), 1e-7, 300.0, 5, np.float64(0.1), 2**60, np.int64(7)):
        assert type(x)(shortest(x)) == x
    assert shortest(300.0) == "300" and shortest(0.5) == "0.5"


@each(
    ("text", "said"),
    [
        ("baoab", "method 'baoab' needs temperature and friction; write 'baoab:temperature=...:friction=...'"),
        ("baoab:friction=1", "needs temperature; write 'baoab:temperature=...'"),
        ("nose_hoover:temperature=1", "needs tau"),
        ("baoab:temperature=-3:friction=1", "temperature of method 'baoab' is -3; it must be a number, 0 or more"),
        ("baoab:temperature=1:friction=-1", "friction of method 'baoab' is -1; it must be a number, 0 or more"),
        ("baoab:temperature=nan:friction=1", "temperature of method 'baoab' is nan"),
        ("nose_hoover:temperature=0:tau=1", "is 0; it must be a positive number"),
        ("nose_hoover:temperature=1:tau=1:chain=0", "it must be a whole number, 1 or more, at most 20"),
        ("baoab:temperature=1:friction=1:seed=1.5", "it must be a whole number, 0 or more"),
        ("baoab:temp=1:friction=1", "did you mean 'temperature='"),
        ("baoab:temperature=1:temperature=1:friction=1", "is given twice"),
        ("baoab/kepler:temperature=1:friction=1", "about a centre, which heat baths do not; write 'baoab', or name"),
        ("nose_hoover/kepler+mr:temperature=1:tau=1", "about a centre, which heat baths do not"),
        ("baoab/mr5:temperature=1:friction=1", "unknown free flow 'mr5'; did you mean 'mr'"),
        ("v2:temperature=1", "takes no options"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(text, said):
    with pytest.raises(ph.errors.InvalidInput) as told:
        ph.integrate(wells(), text, step=0.1, steps=1)
    assert said in str(told.value)


def test_numbers_of_a_bath_belong_to_a_bath():
    with pytest.raises(ph.errors.InvalidInput, match="has no heat bath; leave thermostat out"):
        ph.integrate(wells(), "v2", step=0.1, steps=1, start={"thermostat": (1, 2)})
    with pytest.raises(ph.errors.InvalidInput, match="thermostat must be 2 numbers"):
        ph.integrate(wells(), "baoab:temperature=1:friction=1", step=0.1, steps=1, start={"thermostat": (1, 2, 3)})
    with pytest.raises(ph.errors.InvalidInput, match="has a heat bath"):
        ph.compare(wells(), ["v2", "baoab:temperature=1:friction=1"], [0.1], t_end=1.0)


@each("label", ["baoab/mr:temperature=1:friction=0.5", "nose_hoover:temperature=1:tau=0.5"])
def test_a_bath_is_checked_for_slicing_only(label):
    report = check_method(label)
    report.raise_for_failure()
    assert len(report.lines) == 1


def test_a_clock_and_a_bath():
    """Reversible steps around leapfrog with an idle bath; with a bath at work the method is not time-symmetric."""
    begin = {name: value[0] for name, value in start(1).items()}
    ds = ph.integrate(wells(), "reversible:nose_hoover:temperature=1:tau=inf", step=0.05, steps=20, **begin)
    plain = ph.integrate(wells(), "reversible:v2", step=0.05, steps=20, **begin)
    same(ds, plain, ("position", "angular_momentum", "time_variables"))
    with pytest.raises(ph.errors.InvalidInput, match="not time-symmetric"):
        method("reversible:baoab:temperature=1:friction=1")


@each("name", some(LANGEVIN, 1))
def test_steps_that_damp_much_say_that_transport_is_too_fast(name):
    """The mean square of the way of free particles, measured: 31 percent more than 6 kT/(m friction) t at friction x
    step = 2."""
    bath = method(name, temperature=1.0, friction=1.0)
    ds = ph.ensemble(ph.particle(1.0), bath, members=3000, step=2.0, steps=300, every=300)
    way = ds.position.values[:, -1]
    assert (way**2).mean() / (2.0 * 600.0) == pytest.approx(1.313, abs=0.05)
    assert "is 2: bodies diffuse 31 % too fast" in ds.attrs["transport_note"]
    fine = ph.integrate(ph.particle(1.0), bath, step=0.5, steps=2)
    assert "transport_note" not in fine.attrs
