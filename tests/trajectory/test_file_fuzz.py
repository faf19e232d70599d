"""Whatever is in a file of any kind: it is read as finite numbers, or refused in one sentence. Nothing else."""

import json
import random
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import polhode as ph
from each import each
from polhode.errors import FileProblem, InvalidInput, PolhodeError
from public_calls import CORNERS, FACES, MEAN_ELEMENTS, TWO_LINES, field_file, message_file, turning
from scenario_fuzz import torn

SEED, LONGEST = 7, 700
WORDS = (b"nan", b"inf", b"-1", b"1e400", b"0", b"9" * 400, b"", b"1e308", b"\xff", b"\x00", b"x", b"-", b",", b"=",
         b"2026-02-30T25:61:61", b"99999999", b"\r", b"1 2 3", b"<", b"&a;", b"]]>", b"\xe2\x80\xa8")  # fmt: skip


def mutated(chance, data):
    """One or some changes of a file: of its bytes as of a scenario, or of one word of it."""
    told = []
    for _ in range(chance.choice([1, 1, 2])):
        words = data.split(b" ") if b" " in data else data.split(b",")
        if chance.random() < 0.5 and len(words) > 2:
            words[chance.randrange(len(words))] = chance.choice(WORDS)
            data, what = (b" " if b" " in data else b",").join(words), "word"
        else:
            data, what = torn(chance, data)
        told.append(what)
    return data, ", ".join(told)


def gfc():
    rows = [f"gfc {n} {m} {1e-6 / n:.6e} {1e-7 * m:.6e} 1e-9 1e-9" for n in range(2, 5) for m in range(n + 1)]
    head = "product_type gravity_field\nmodelname mine\nearth_gravity_constant 3.986e14\nradius 6378136.3\n"
    return f"{head}max_degree 4\nnorm fully_normalized\ntide_system tide_free\nend_of_head\n" + "\n".join(
        ["gfc 0 0 1.0 0.0 0.0 0.0", *rows]
    )


def xml():
    leaves = "".join(f"<{key}>{value}</{key}>\n" for key, value in MEAN_ELEMENTS.items())
    return (
        f'<?xml version="1.0"?>\n<ndm><omm><body><segment><metadata/><data>{leaves}</data></segment></body></omm></ndm>'
    )


def stl():
    rows = []
    for face in FACES:
        corners = "\n".join("vertex {} {} {}".format(*CORNERS[k]) for k in face)
        rows.append(f"facet normal 0 0 0\nouter loop\n{corners}\nendloop\nendfacet")
    return "solid t\n" + "\n".join(rows) + "\nendsolid t\n"


def obj():
    return "".join("v {} {} {}\n".format(*c) for c in CORNERS) + "".join(
        "f {} {} {}\n".format(*(k + 1 for k in face)) for face in FACES
    )


def ply():
    head = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    rows = ["{} {} {}".format(*c) for c in CORNERS] + ["3 {} {} {}".format(*face) for face in FACES]
    return f"{head}element face 4\nproperty list uchar int vertex_indices\nend_header\n" + "\n".join(rows) + "\n"


def off():
    rows = ["{} {} {}".format(*c) for c in CORNERS] + ["3 {} {} {}".format(*face) for face in FACES]
    return "OFF\n4 4 0\n" + "\n".join(rows) + "\n"


def started_by(path):
    asking = path.with_name("asking.toml")
    asking.write_text('[system]\ntype = "orbit"\nmu_m3_s2 = 3.986e14\n[run]\nstep = 1.0\nsteps = 2\n'
                      f'[initial]\ntle = "{path.name}"\n')  # fmt: skip
    return ph.runs.read_scenario(asking).request.state


def numbers(thing):
    """All arrays of floats that a reader gives."""
    if isinstance(thing, xr.Dataset):
        return [v.values for v in thing.variables.values() if v.dtype.kind == "f"]
    if isinstance(thing, np.ndarray):
        return [thing]
    if isinstance(thing, list):
        return [array for part in thing for array in numbers(part)]
    if hasattr(thing, "scene"):
        return [np.frombuffer(thing.arrays, dtype="u1")]
    return [v for v in vars(thing).values() if isinstance(v, np.ndarray) and v.dtype.kind == "f"]


def in_a_view(path):
    pytest.importorskip("trimesh")
    return ph.view(turning(), mesh=path)


def netcdf(folder, how):
    if how == "sealed":
        ph.save(turning(), folder / "seed.nc")
    else:
        turning().drop_encoding().to_netcdf(folder / "seed.nc", engine="h5netcdf")
    return (folder / "seed.nc").read_bytes()


MEASURED = "# mine\ntime,gyro_x,gyro_y,gyro_z,gyro_sigma\n" + "".join(f"{k}.5,0.1,0.{k},-0.3,1e-3\n" for k in range(9))
KINDS = {
    "gravity field": ("x.gfc", lambda _: gfc(), ph.forces.gravity_field),
    "two lines": ("x.tle", lambda _: "ISS\n" + "\n".join(TWO_LINES), started_by),
    "elements in XML": ("x.xml", lambda _: xml(), ph.initial.omm),
    "elements in JSON": ("x.json", lambda _: json.dumps([MEAN_ELEMENTS], indent=1), ph.initial.omm),
    "elements in lines": ("x.kvn", lambda _: "CCSDS_OMM_VERS = 2.0\n" + "".join(
        f"{key} = {value}\n" for key, value in MEAN_ELEMENTS.items()), ph.initial.omm),
    "elements in CSV": ("x.csv", lambda _: ",".join(MEAN_ELEMENTS) + "\n" + ",".join(
        map(str, MEAN_ELEMENTS.values())) + "\n", ph.initial.omm),
    "orbit": ("x.oem", lambda _: Path(message_file("oem")).read_bytes(), ph.initial.oem),
    "attitude": ("x.aem", lambda _: Path(message_file("aem")).read_bytes(), ph.initial.aem),
    "magnetic field": ("x.shc", lambda _: Path(field_file()).read_bytes(),
                       lambda path: ph.surroundings.magnetic_field("igrf", epoch="2024-07-01", file=str(path))),
    "mesh, OBJ": ("x.obj", lambda _: obj(), in_a_view), "mesh, STL": ("x.stl", lambda _: stl(), in_a_view),
    "mesh, PLY": ("x.ply", lambda _: ply(), in_a_view), "mesh, OFF": ("x.off", lambda _: off(), in_a_view),
    "measurements": ("x.csv", lambda _: MEASURED, ph.estimation.read),
    "table of members": ("x.csv", lambda _: "mass,v_x,v_y,v_z\n" + "1.0, 2,3,4\n" * 9, ph.ensembles.sampling.members),
    "trajectory": ("x.nc", lambda folder: netcdf(folder, "sealed"), ph.load),
    "trajectory without digests": ("x.nc", lambda folder: netcdf(folder, "plain"), ph.load),
}  # fmt: skip
MAY_LACK = {"measurements"} | {kind for kind in KINDS if kind.startswith("trajectory")}
"""Have NaN where there is nothing: empty cells; a trajectory what it has."""


def verdict(kind, read, path):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = read(path)
            bad = kind not in MAY_LACK and not all(np.isfinite(array).all() for array in numbers(found))
            return "numbers that are not finite" if bad else "read"
    except (InvalidInput, FileProblem) as refused:
        said = str(refused)
        return "refused" if "\n" not in said and 20 < len(said) < LONGEST else f"told badly: {said[:200]}"
    except PolhodeError as other:
        return f"another error: {other}"
    except Exception as raw:
        return f"{type(raw).__name__}: {str(raw)[:200]}"


def faults(kind, folder, count):
    """Counts of verdicts, and what is neither read nor refused."""
    name, make, read = KINDS[kind]
    seed = make(folder)
    seed = seed.encode() if isinstance(seed, str) else seed
    assert verdict_of(kind, read, folder / name, seed) == "read", "the seed is a good file"
    chance, found, wrong = random.Random(f"{SEED} {kind}"), Counter(), []
    for number in range(count):
        data, what = mutated(chance, seed)
        judged = verdict_of(kind, read, folder / name, data)
        found[judged.partition(":")[0]] += 1
        if judged not in ("read", "refused"):
            wrong.append(f"{kind} {number}, {what}: {judged}")
    return found, wrong


def verdict_of(kind, read, path, data):
    path = path.with_name(f"{random.randrange(10**9)}{path.name}") if kind == "magnetic field" else path
    path.write_bytes(data)
    return verdict(kind, read, path)


@each("kind", KINDS)
def test_every_file_is_read_or_refused(kind, tmp_path):
    found, wrong = faults(kind, tmp_path, 40 if "mesh" not in kind else 15)
    assert not wrong, "\n".join(wrong[:20])
    assert found["refused"], "mutations should not all be harmless"


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_every_file_of_many_is_read_or_refused(kind, tmp_path):
    found, wrong = faults(kind, tmp_path, 3000 if "mesh" not in kind else 500)
    assert not wrong, f"{len(wrong)} ({dict(found)}):\n" + "\n".join(wrong[:20])


def test_an_empty_file_of_each_kind_is_refused(tmp_path):
    for kind, (name, _, read) in KINDS.items():
        for data in (b"", b"\n", b"\0" * 100, b"\xff" * 100, bytes(range(256))):
            assert verdict_of(kind, read, tmp_path / name, data) == "refused", (kind, data)


def test_a_number_that_overflows_in_metres_is_refused(tmp_path):
    text = Path(message_file("oem")).read_text()
    for given in ("1e308", "1e200"):
        (tmp_path / "x.oem").write_text(text.replace("6800 440", f"6800 {given}"))
        with pytest.raises(InvalidInput, match=r"line 9, has .* or too large") as refused:
            ph.initial.oem(tmp_path / "x.oem")
        assert given in str(refused.value)
