"""What is answered to names of other fields: the method that does the job, and what a system can do; never a guess."""

import re

import pytest

import polhode as ph
from each import each
from polhode.errors import NOT_HERE, InvalidInput
from polhode.methods.other_names import INSTEAD, METHOD_OF


@each("name", sorted(INSTEAD))
def test_the_answer_names_methods_that_are_here(name):
    with pytest.raises(InvalidInput) as told:
        ph.methods.method(name.upper())
    said = str(told.value)
    assert "did you mean" not in said and "known:" not in said
    named = re.findall(r"'([a-z0-9_/:]+)'", said)
    assert named, said
    for word in named:
        ph.methods.method(word)


def test_names_that_were_answered_by_a_guess():
    """A row, a synonym or a sentence for each."""
    for name in (
        "lgvi", "langevin", "brownian", "whfast", "crouch_grossman", "commutator_free", "generalized_alpha", "shake",
        "ias15", "newmark", "symplectic_euler", "gl4",
    ):  # fmt: skip
        assert name in METHOD_OF or name in INSTEAD or ph.methods.METHODS[name].cite


BUILDERS = {
    "rigid_water": (216,), "dipoles": (8,), "particle": (1.0,), "rigid_body": ((1, 2, 2.5),),
    "spacecraft": ((1, 2, 2.5), 1.0), "orbit": (1.0,), "heavy_top": ((5, 5, 1), (0, 0, 1), 20.0),
    "gravitating_bodies": ((1.0, 1e-3),),
}  # fmt: skip


@each("builder", BUILDERS)
@each("word", ["pressure", "field", "charge"])
def test_words_without_an_argument_get_a_sentence(builder, word):
    with pytest.raises(InvalidInput) as told:
        getattr(ph, builder)(*BUILDERS[builder], **{word: 1.0})
    said = str(told.value)
    assert "did you mean" not in said and "known:" not in said
    assert any(sentence in said for _, sentence in NOT_HERE[word])
    for argument in re.findall(r"(\w+)=", said):  # what the sentence names can be given
        with pytest.raises(InvalidInput) as other:
            getattr(ph, builder)(*BUILDERS[builder], **{argument: object(), word: 1.0})
        assert f"{word!r}" in str(other.value)
    for force in re.findall(r"polhode\.forces\.(\w+)", said):
        assert force in ph.forces.FORCES


def test_runs_and_scenarios_answer_too(tmp_path):
    top = ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0)
    with pytest.raises(InvalidInput, match="no barostat; the system"):
        ph.integrate(top, "v2", step=0.1, steps=1, angular_velocity=(0, 0, 1), pressure=1.0)
    file = tmp_path / "top.toml"
    file.write_text(
        'method = "v2"\n[system]\ntype = "heavy_top"\ninertia = [5, 5, 1]\ncenter_of_mass = [0, 0, 1]\nweight = 20\n'
        "field = 1\n[run]\nstep = 0.1\nsteps = 1\n[initial]\nangular_velocity = [0, 0, 1]\n"
    )
    with pytest.raises(InvalidInput, match=r"system\.field: unknown key; a field acts by a torque= of your own"):
        ph.runs.read_scenario(file)
