"""Files that change between two reads are read anew: nothing is kept by the name of a file."""

import json
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from each import each
from public_calls import MEAN_ELEMENTS, TWO_LINES, field_file, message_file, turning


def gravity(path, k):
    path.write_text("product_type gravity_field\nmodelname mine\nearth_gravity_constant 3.986e14\nradius 6378136.3\n"
                    "max_degree 2\nnorm fully_normalized\ntide_system tide_free\nend_of_head\ngfc 0 0 1.0 0.0 0 0\n"
                    f"gfc 2 0 -4.8{k}e-4 0.0 0 0\ngfc 2 1 0 0 0 0\ngfc 2 2 0 0 0 0\n")  # fmt: skip
    return ph.surroundings.gravity_field(path).C


def elements(path, k):
    path.write_text(json.dumps(MEAN_ELEMENTS | {"MEAN_ANOMALY": 100.0 + k}))
    return [ph.initial.omm(path).theory.mo]


def orbit(path, k):
    path.write_text(Path(message_file("oem")).read_text().replace("7000 0 0", f"700{k} 0 0"))
    return [repr(ph.initial.oem(path)), str(vars(ph.initial.oem(path)))]


def attitude(path, k):
    path.write_text(Path(message_file("aem")).read_text().replace("1 0 0 0", ["1 0 0 0", "0 1 0 0"][k]))
    return [str(vars(ph.initial.aem(path)))]


def magnetic(path, k):
    path.write_text(Path(field_file()).read_text().replace("-29400", f"-2940{k}"))
    return [ph.surroundings.magnetic_field("igrf", epoch=2022.5, file=str(path)).gauss[1, 0][0]]


def two_lines(path, k):
    """The start of a scenario, which holds nothing else of the elements: its run is repeated without the file."""
    pytest.importorskip("sgp4")
    first, second = TWO_LINES
    second = second[:44] + f"{k}" + second[45:68]
    path.write_text(f"{first}\n{second}{sum(int(c) if c.isdigit() else c == '-' for c in second) % 10}\n")
    scenario = path.with_suffix(".toml")
    scenario.write_text(f'method = "kepler"\n[system]\ntype = "orbit"\nmu = 3.986e14\n[initial]\ntle = "{path.name}"\n'
                        "[run]\nstep = 10.0\nsteps = 2\n")  # fmt: skip
    ds = ph.runs.read_scenario(scenario).integrate()
    path.unlink()
    assert ph.rerun(ds).equals(ds)
    path.touch()
    return ds.position.values


def mesh(path, k):
    pytest.importorskip("trimesh")
    path.write_text(f"v 0 0 0\nv {1 + k} 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    return np.frombuffer(ph.view(turning(), mesh=path).arrays, dtype="u1")


def measured(path, k):
    path.write_text(f"time,gyro_x,gyro_y,gyro_z\n0.5,0.{k + 1},0.2,0.3\n1.5,0.1,0.2,0.3\n")
    return [str([vars(one) for one in ph.estimation.read(path)])]


KINDS = {"x.gfc": gravity, "x.json": elements, "x.oem": orbit, "x.aem": attitude, "x.shc": magnetic, "x.obj": mesh,
         "x.csv": measured, "x.tle": two_lines}  # fmt: skip


@each("name", KINDS)
def test_a_file_that_changes_is_read_anew(name, tmp_path):
    """Also where size and time of the file are those of before."""
    import os

    first = np.array(KINDS[name](tmp_path / name, 0))
    times = os.stat(tmp_path / name)
    second = np.array(KINDS[name](tmp_path / name, 1))
    os.utime(tmp_path / name, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert not np.array_equal(first, second)
    assert np.array_equal(first, KINDS[name](tmp_path / name, 0))
