"""Orbit mean-elements messages: the same orbit as two-line elements in every form, and what is refused."""

import csv
import json

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.errors import InvalidInput, MissingExtra
from polhode.runs.scenario import read_scenario

pytest.importorskip("sgp4")
LINES = """VANGUARD 1
1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753
2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667"""
KEYS = {
    "OBJECT_NAME": "VANGUARD 1", "OBJECT_ID": "1958-002B", "CENTER_NAME": "EARTH", "REF_FRAME": "TEME",
    "TIME_SYSTEM": "UTC", "MEAN_ELEMENT_THEORY": "SGP4", "EPOCH": "2000-06-27T18:50:19.733568",
    "MEAN_MOTION": "10.82419157", "ECCENTRICITY": "0.1859667", "INCLINATION": "34.2682", "RA_OF_ASC_NODE": "348.7242",
    "ARG_OF_PERICENTER": "331.7664", "MEAN_ANOMALY": "19.3264", "EPHEMERIS_TYPE": "0", "NORAD_CAT_ID": "00005",
    "BSTAR": "0.000028098", "MEAN_MOTION_DOT": "0.00000023", "MEAN_MOTION_DDOT": "0",
}  # fmt: skip
"""The same as the lines; the epoch is 0.78495062 of the day."""
META = ("OBJECT_NAME", "OBJECT_ID", "CENTER_NAME", "REF_FRAME", "TIME_SYSTEM", "MEAN_ELEMENT_THEORY")
OTHER = KEYS | {"OBJECT_NAME": "OTHER", "NORAD_CAT_ID": "100005", "MEAN_MOTION": "12.5"}


def of_xml(*many, space=""):
    def leaves(keys):
        return "".join(f"<{key}>{value}</{key}>" for key, value in keys.items())

    def segment(keys):
        meta, data = ({k: v for k, v in keys.items() if (k in META) == own} for own in (True, False))
        return (f"<omm id='CCSDS_OMM_VERS' version='2.0'><header><CREATION_DATE/></header><body><segment><metadata>"
                f"{leaves(meta)}</metadata><data><meanElements>{leaves(data)}</meanElements></data></segment></body>"
                "</omm>")  # fmt: skip

    return f"<?xml version='1.0' encoding='UTF-8'?>\n<ndm{space}>{''.join(map(segment, many))}</ndm>"


def of_lines(*many):
    units = {"MEAN_MOTION": "[rev/day]", "INCLINATION": "[deg]", "BSTAR": "[1/ER]"}
    rows = [f"{key} = {value} {units.get(key, '')}" for keys in many for key, value in keys.items()]
    return "\n".join(["CCSDS_OMM_VERS = 2.0", "COMMENT a = b", "ORIGINATOR = X", *rows])


def of_json(*many):
    numeric = ("MEAN_MOTION", "ECCENTRICITY", "INCLINATION", "BSTAR", "NORAD_CAT_ID", "EPHEMERIS_TYPE")
    plain = [{k: float(v) if k in numeric[:4] else int(v) if k in numeric else v for k, v in keys.items()
              if k not in META[2:]} for keys in many]  # fmt: skip
    return json.dumps(plain)


def of_csv(*many):
    class Rows(list):
        write = list.append

    rows = Rows()
    writer = csv.DictWriter(rows, list(many[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(many)
    return "".join(rows)


FORMS = {"xml": of_xml, "txt": of_lines, "json": of_json, "csv": of_csv,
         "spaced.xml": lambda *many: of_xml(*many, space=" xmlns='urn:ccsds:schema:ndmxml'")}  # fmt: skip


@pytest.fixture
def file(tmp_path):
    def made(form, *many, change=lambda text: text):
        path = tmp_path / f"elements.{form}"
        path.write_text(change(FORMS[form](*many)))
        return path

    return made


@pytest.mark.parametrize("form", FORMS)
def test_the_same_orbit_as_two_line_elements(file, form):
    one, lines = ph.initial.omm(file(form, KEYS)), ph.initial.tle(LINES)
    times = np.linspace(-86400.0, 86400.0, 7)
    for found, expected in zip(one.at(times, "TEME"), lines.at(times, "TEME"), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=0.02)  # of the microsecond of the epoch
    assert (one.name, one.number, one.bstar) == ("VANGUARD 1", 5, 2.8098e-5) and one.epoch == lines.epoch
    assert "VANGUARD" in repr(one)


def test_a_mapping_is_taken():
    np.testing.assert_array_equal(ph.initial.omm(KEYS).at(60.0), ph.initial.omm(KEYS | {"EPHEMERIS_TYPE": 0}).at(60.0))


@pytest.mark.parametrize("form", [form for form in FORMS if form != "txt"])
def test_one_of_several(file, form):
    path = file(form, KEYS, OTHER)
    for satellite in ("other", 100005, "100005"):
        assert ph.initial.omm(path, satellite).name == "OTHER"
    assert ph.initial.omm(path, 5).name == ph.initial.omm(path, "VANGUARD 1 ").name == "VANGUARD 1"
    with pytest.raises(InvalidInput, match=r"has 2 satellites, VANGUARD 1 \(0*5\), OTHER \(100005\); name one"):
        ph.initial.omm(path)
    with pytest.raises(InvalidInput, match="has no satellite 'Sputnik'; it has VANGUARD 1"):
        ph.initial.omm(path, "Sputnik")


def test_numbers_beyond_those_of_two_line_elements():
    one = ph.initial.omm(KEYS | {"NORAD_CAT_ID": 799_500_123})
    assert one.number == 799_500_123
    np.testing.assert_array_equal(one.at(0.0), ph.initial.omm(KEYS).at(0.0))


SCENARIO = """[system]
type = "orbit"
mu = 3.986004418e14
[initial]
omm = "elements.json"
[run]
step = 10
t_end = 60
"""


def test_a_scenario_begins_with_it(file, tmp_path):
    file("json", KEYS)
    path = tmp_path / "a.toml"
    path.write_text(SCENARIO)
    ds = read_scenario(path).integrate()
    np.testing.assert_array_equal(ds.position[0], ph.initial.omm(KEYS).at()[0])
    assert ds.attrs["epoch"] == ph.initial.omm(KEYS).epoch
    path.write_text(SCENARIO + 'epoch = "2000-06-27T18:51:19.733568 UTC"\n')
    np.testing.assert_allclose(
        read_scenario(path).integrate().position[0], ph.initial.omm(KEYS).at(60.0)[0], rtol=0, atol=1e-3
    )
    path.write_text(SCENARIO + 'epoch = "2001-06-27 UTC"\n')
    with pytest.raises(InvalidInput, match="days from the elements"):
        read_scenario(path).integrate()


@each(("change", "told"), [
    ({"BSTAR": None}, "the mapping has no BSTAR; SGP4 needs it"),
    ({"MEAN_MOTION": ""}, "has no MEAN_MOTION"),
    ({"MEAN_MOTION": 0}, "has MEAN_MOTION 0; give the revolutions"),
    ({"ECCENTRICITY": 1.0}, "ECCENTRICITY '1.0'; give a number from 0 to 1"),
    ({"INCLINATION": "51..2"}, "INCLINATION '51..2'; give a number from 0 to 180"),
    ({"MEAN_ANOMALY": float("nan")}, "MEAN_ANOMALY 'nan'"),
    ({"BSTAR": True}, "BSTAR 'True'"),
    ({"BSTAR": 10**400}, "BSTAR '1000"), ({"BSTAR": [1.0, 2.0]}, "BSTAR '.1.0, 2.0.'"),
    ({"BSTAR": "1_0"}, "BSTAR '1_0'"),
    ({"EPOCH": "41 March"}, "the mapping: .*41 March"),
    ({"EPOCH": None}, "the mapping has no EPOCH; SGP4 needs it"),
    ({"MEAN_ELEMENT_THEORY": "SGP4-XP"}, "MEAN_ELEMENT_THEORY 'SGP4-XP', but SGP4 is for MEAN_ELEMENT_THEORY SGP4"),
    ({"EPHEMERIS_TYPE": 4}, "EPHEMERIS_TYPE '4', but"), ({"REF_FRAME": "GCRF"}, "REF_FRAME 'GCRF', but"),
    ({"CENTER_NAME": "MARS"}, "CENTER_NAME 'MARS', but"), ({"TIME_SYSTEM": "TT"}, "TIME_SYSTEM 'TT', but"),
    ({"NORAD_CAT_ID": 2.5}, "NORAD_CAT_ID '2.5'; give a whole number"),
])  # fmt: skip
def test_what_is_wrong_is_said(change, told):
    with pytest.raises(InvalidInput, match=told):
        ph.initial.omm(KEYS | change)


@pytest.mark.parametrize(("form", "change", "told"), [
    ("xml", lambda text: text[: len(text) // 2], "elements.xml is torn or no OMM file"),
    ("json", lambda text: text[: len(text) // 2], "elements.json is torn or no OMM file"),
    ("json", lambda text: "[" * 100_000, "elements.json is torn or no OMM file"),
    ("json", lambda text: "[1, 2]", "elements.json has no elements with an EPOCH"),
    ("xml", lambda text: "<html><p>404</p></html>", "elements.xml has no elements with an EPOCH"),
    ("csv", lambda text: "No GP data found", "elements.csv has no elements with an EPOCH"),
    ("csv", lambda text: "", "elements.csv has no elements"),
    ("csv", lambda text: text[:-40], "elements.csv has "),
    ("txt", lambda text: text[: text.index("BSTAR")], "elements.txt has no BSTAR"),
    ("txt", lambda text: text + "\nwords", r"elements.txt, line \d+, is 'words'; write KEY = value"),
    ("txt", lambda text: text + "\nEPOCH = 2000-01-01", "has EPOCH for a second time"),
])  # fmt: skip
def test_torn_files(file, form, change, told):
    with pytest.raises(InvalidInput, match=told):
        ph.initial.omm(file(form, KEYS, change=change))


def test_what_is_no_file(tmp_path):
    with pytest.raises(InvalidInput, match=r"none.xml', which cannot be read: No such file"):
        ph.initial.omm(tmp_path / "none.xml")
    with pytest.raises(InvalidInput, match="given must be the name of a file"):
        ph.initial.omm(5)


def test_without_sgp4(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sgp4.api", None)
    with pytest.raises(MissingExtra, match=r"pip install 'polhode\[tle\]'"):
        ph.initial.omm(KEYS)
