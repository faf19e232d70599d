"""One annotated function is a system everywhere: in Python, in scenarios, in their schema and in listings."""

import json
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from each import each
from polhode.arguments.words import Acceleration, Function, Length, Mass, Vector, arguments_of
from polhode.cli import group
from polhode.errors import InvalidInput, OldNameWarning
from polhode.runs.scenario import json_schema, read_scenario
from polhode.systems import SYSTEMS, System
from polhode.systems.forces import FORCES, Force, uniform


def bob(
    length: Length,
    mass: Mass = 1.0,
    gravity: Vector = (0.0, 0.0, -9.81),
    form: Literal["stiff", "soft"] = "soft",
    potential: Function | None = None,
) -> System:
    """A bob on a spring.

    Parameters
    ----------
    length : float
        Elongation at rest,
        positive.
    mass : float
        Mass of the ``bob``; an astropy quantity is converted to SI.
    gravity : array_like (3,)
        Acceleration, space frame.
    form : {"stiff", "soft"}
        Kind of the spring.
    potential : function, optional
        Instead of the spring.

    Returns
    -------
    System
    """
    given = {"length": length, "mass": mass, "gravity": list(gravity), "form": form}
    if potential is not None:
        return replace(ph.particle(mass, potential=potential), name="bob", arguments=given)
    stiffness = mass * 9.81 / length * (1000.0 if form == "stiff" else 1.0)
    return replace(ph.particle(mass, stiffness, gravity), name="bob", arguments=given)


TEXT = """\
method = "v2"
[system]
type = "bob"
length_km = 0.5e-3
mass = 2.0
[initial]
position = [0.1, 0.0, 0.0]
[run]
step_min = 0.001
steps = 3
"""


@pytest.fixture
def added():
    yield ph.systems.add_system(bob)
    del SYSTEMS["bob"]
    vars(ph).pop("bob", None)


@pytest.fixture
def read(tmp_path):
    def write_and_read(text, **options):
        path = tmp_path / "scenario.toml"
        path.write_text(text)
        return read_scenario(path, **options)

    return write_and_read


def test_arguments_are_what_the_signature_says():
    found = arguments_of(bob)
    assert found["length"].required and found["length"].unit == "m"
    assert found["length"].description == "Elongation at rest, positive"
    assert found["mass"].description == "Mass of the bob" and found["mass"].default == 1.0
    assert found["form"].type == Literal["stiff", "soft"] and found["form"].unit is None


def test_an_added_system_is_one_in_python_and_in_a_scenario(added, read):
    assert ph.systems.bob is bob and "bob" in dir(ph.systems) and ph.systems.add_system(bob) is bob
    with pytest.warns(OldNameWarning, match=r"^polhode\.bob is now polhode\.systems\.bob$"):
        assert ph.bob is bob
    ds = read(TEXT).integrate()
    same = ph.integrate(bob(0.5, 2.0), "v2", step=0.06, steps=3, position=(0.1, 0.0, 0.0), settings={"units": "SI"})
    assert ds.equals(same) and ds.attrs["system"] == "bob"
    np.testing.assert_array_equal(ph.rerun(ds).position, ds.position)


def test_an_added_system_reads_functions_where_they_are_allowed(added, read, tmp_path):
    (tmp_path / "mine.py").write_text("def well(t, position, parameters):\n    return position[0] ** 2\n")
    text = TEXT.replace("mass = 2.0", 'mass = 2.0\npotential = "mine.py:well"')
    with pytest.raises(InvalidInput, match=r":6: system\.potential: .* add --allow-code"):
        read(text)
    assert "potential" in read(text, allow_code=True).system.functions


@each(
    ("old", "new", "told"),
    [
        ("length_km = 0.5e-3", "", "2: system.length: expected this key (got nothing)"),
        ("mass = 2.0", "mas = 2.0", "5: system.mas: unknown key; did you mean 'mass'?"),
        ("mass = 2.0", "gravity = [1, 2]", "5: system.gravity: expected 3 entries (got 2: [1, 2])"),
        ("mass = 2.0", 'form = "stif"', "did you mean 'stiff'?"),
        ("mass = 2.0", "mass = true", "5: system.mass: expected a number (got true)"),
        ('"bob"', '"bop"', "did you mean 'bob'?"),
    ],
)
def test_mistakes_about_an_added_system(added, read, old, new, told):
    with pytest.raises(InvalidInput) as refused:
        read(TEXT.replace(old, new))
    assert told in str(refused.value)


def test_schema_and_listing_know_an_added_system(added):
    table = json_schema()["$defs"]["Bob"]
    assert table["description"] == "A bob on a spring."
    keys = table["properties"]
    assert keys["mass_kg"] == {
        "default": 1.0, "description": "Mass of the bob; in kg", "title": "mass_kg", "type": "number"
    }  # fmt: skip
    assert keys["form"]["enum"] == ["stiff", "soft"] and keys["potential"]["pattern"].endswith(r"\w*$")
    assert {"required": ["length_km"]} in table["allOf"][0]["anyOf"]
    rows = json.loads(CliRunner().invoke(group, ["systems", "--json"]).stdout)["systems"]
    assert rows[-1]["name"] == "bob" and rows[-1]["arguments"]["length"]["required"]


def test_a_force_is_one_annotated_function_too(monkeypatch, read):
    def tilt(strength: Acceleration) -> Force:
        """A force along z."""
        return uniform((0.0, 0.0, strength))

    monkeypatch.setitem(FORCES, "tilt", tilt)
    text = (
        'method = "v2/kepler"\n[system]\ntype = "orbit"\nmu = 1.0\nforces = [{ kind = "tilt", strength_m_s2 = 2.0 }]\n'
    )
    text += "[initial]\nposition = [1.0, 0.0, 0.0]\nvelocity = [0.0, 1.0, 0.0]\n[run]\nstep = 0.1\nsteps = 1\n"
    assert read(text).system.arguments["forces"] == [{"kind": "uniform", "acceleration": [0.0, 0.0, 2.0]}]
    assert "strength_km_s2" in json_schema()["$defs"]["TiltForce"]["properties"]
    with pytest.raises(InvalidInput, match=r"5: system\.forces\[0\]\.strangth: unknown key; did you mean 'strength'"):
        read(text.replace("strength_m_s2", "strangth"))
    monkeypatch.undo()
    assert "TiltForce" not in json_schema()["$defs"]


def test_what_was_added_goes_again(read):
    assert "bob" not in SYSTEMS and "Bob" not in json_schema()["$defs"] and not hasattr(ph, "bob")
    with pytest.raises(InvalidInput, match=r"2: system: expected type = "):
        read(TEXT)


def test_what_is_no_system_is_not_added():
    def orbit() -> System: ...

    def odd(mass) -> System: ...

    def strange(mass: list[Mass]) -> System: ...

    with pytest.raises(InvalidInput, match="there is already a system 'orbit'"):
        ph.systems.add_system(orbit)
    with pytest.raises(InvalidInput, match="'mass' of odd is annotated as nothing, which says nothing to a scenario"):
        ph.systems.add_system(odd)
    with pytest.raises(InvalidInput, match=r"annotate it with a word of polhode\.arguments\.words, such as Mass"):
        ph.systems.add_system(strange)
    with pytest.raises(InvalidInput, match="build must be a function that returns a System, not 3"):
        ph.systems.add_system(3)
    assert not {"odd", "strange"} & set(SYSTEMS)


def test_words_have_moved_and_say_where_to():
    with pytest.warns(OldNameWarning, match="is now polhode.arguments.words.Mass"):
        from polhode.systems.words import Mass as before
    assert before is Mass
