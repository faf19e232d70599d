"""``polhode fit``: a scenario and a CSV file in, values with their errors out."""

import json

import numpy as np
from click.testing import CliRunner

import polhode as ph
from polhode.cli import group

SCENARIO = """method = "v2"
[system]
type = "free_body"
inertia = [1.1, 2.0, 2.6]
[initial]
angular_velocity = [0.2, 1.0, 0.1]
[run]
step = 0.05
t_end = 20.0
"""


def files(tmp_path, t_end=20.0):
    truth = ph.integrate(ph.free_body((1, 2, 2.5)), "exact", step=0.25, t_end=t_end, angular_velocity=(0.2, 1, 0.1))
    w = truth.angular_velocity.values + 1e-3 * np.random.default_rng(1).standard_normal(truth.angular_velocity.shape)
    u = ph.rotation.rotate_inverse(truth.attitude.values, (1.0, 0.0, 0.0))
    table = np.column_stack([truth.time, w, u])
    np.savetxt(tmp_path / "gyro.csv", table, delimiter=",", comments="", fmt="%.17g",
               header="time,gyro_x,gyro_y,gyro_z,sun_x,sun_y,sun_z")  # fmt: skip
    (tmp_path / "body.toml").write_text(SCENARIO)
    return str(tmp_path / "body.toml"), str(tmp_path / "gyro.csv")


WORDS = ("--free", "inertia,angular_velocity", "--free", "attitude", "--noise", "gyro=1e-3", "--noise", "sun=1e-2",
         "--reference", "sun=1,0,0")  # fmt: skip


def run(*words):
    return CliRunner().invoke(group, ["fit", *words])


def test_values_and_errors_are_printed(tmp_path):
    out = tmp_path / "fitted.nc"
    ended = run(*files(tmp_path), *WORDS, "-o", str(out))
    assert ended.exit_code == 0, ended.output
    assert "common scale of inertia" in ended.output and "chi squared" in ended.output
    fitted = ph.load(out)
    assert fitted.sizes["time"] == 401
    np.testing.assert_allclose(fitted.angular_velocity[0], (0.2, 1, 0.1), rtol=0, atol=3e-3)


def test_machines_get_json(tmp_path):
    ended = run(*files(tmp_path), *WORDS, "--json", "--prior", "inertia=0.3", "--step", "0.1", "--method", "s4_6")
    assert ended.exit_code == 0, ended.output
    found = json.loads(ended.stdout)
    inertia = np.array(found["values"]["inertia"])
    np.testing.assert_allclose(inertia / inertia[0], (1, 2, 2.5), rtol=0, atol=2e-3)
    assert found["converged"] and len(found["unobservable"]) == 1 and len(found["parameters"]) == 9


def test_what_is_wrong_is_said(tmp_path):
    scenario, data = files(tmp_path, t_end=25.0)
    for words, message in (
        (WORDS, "gyro in row 81 is of t = 20.25, beyond the end at 20; leave it out"),
        ((*WORDS[:6], "--reference", "sun=north"), "--reference is 'sun=north'; write a name and numbers"),
        (("--free", "spin", "--noise", "gyro=1"), "sun has no reference; give the direction in the space frame"),
    ):
        ended = run(scenario, data, *words)
        assert ended.exit_code != 0 and message in str(ended.exception)
