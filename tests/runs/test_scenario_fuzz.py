"""Whatever is in a scenario: it is valid, or refused with file, line, key and remedy. Nothing else, and soon."""

import contextlib
import re
import signal
from collections import Counter

import pytest

from bounds import bounded, counted
from polhode.cli import group
from polhode.errors import InvalidInput
from polhode.runs.scenario import read_scenario
from scenario_fuzz import mutants

SEED = 13
SECONDS = 60
"""Of one file; the slowest takes two on an idle machine."""
MEMORY = 3 * 2**30
LONGEST = 600
"""Characters of one mistake in words."""


@pytest.fixture
def bounds():
    with bounded(MEMORY):
        yield


def verdict(path):
    """What became of a file: ``valid``, ``refused``, or what is wrong with that."""
    signal.alarm(SECONDS)
    try:
        read_scenario(path)
    except InvalidInput as refused:
        mistakes = str(refused).splitlines()
        if re.match(r"\d+ mistakes in ", mistakes[0]):
            mistakes = mistakes[1:]
        placed = all(re.match(re.escape(str(path)) + r"(:\d+:| is not a text) ?\S", line) for line in mistakes)
        if not placed or max(map(len, mistakes)) > LONGEST:
            return f"told badly: {mistakes[0][:200]}"
        return "refused"
    except BaseException as wrong:
        if isinstance(wrong, KeyboardInterrupt):
            raise
        return f"{type(wrong).__name__}: {str(wrong)[:200]}"
    finally:
        signal.alarm(0)
    return "valid"


def faults(folder, count):
    """Counts of verdicts, and those files that are neither valid nor refused as they should be."""
    found, wrong = Counter(), []
    for what, data in mutants(SEED, count):
        path = folder / "scenario.toml"
        path.write_bytes(data)
        judged = verdict(path)
        found[judged.partition(":")[0]] += 1
        if judged not in ("valid", "refused"):
            wrong.append(f"{what}: {judged}")
    return found, wrong


@counted
def test_every_file_is_valid_or_refused(tmp_path, bounds):
    found, wrong = faults(tmp_path, 400)
    assert not wrong, "\n".join(wrong[:20])
    assert min(found["valid"], found["refused"]) > 50, "mutations should neither all be seen nor all be harmless"


@pytest.mark.full
def test_every_file_of_many_is_valid_or_refused(tmp_path, bounds):
    found, wrong = faults(tmp_path, 10_000)
    print(dict(found))
    assert not wrong, f"{len(wrong)} of 10,000 ({dict(found)}):\n" + "\n".join(wrong[:20])


TOP = 'problem = "krysl_fast_top"\n[run]\n'
ONE = "[run]\nstep = 0.1\nsteps = 1\n"
WORST = {
    "tables in tables": "a = " + "{a=" * 3000 + "1" + "}" * 3000,
    "lists in lists": "[run]\nstep = " + "[" * 3000,
    "deeper than any key": "[run]\nstep = " + "[" * 150 + "1" + "]" * 150,
    "digits": "[run]\nstep = 1" + "0" * 400,
    "more digits than Python reads": "[run]\nstep = 1" + "0" * 5000,
    "a heading of so many parts that each line below it takes as long": f"[{'a.' * 20_000}a]\n" + "k = 1\n" * 2000,
    "more mistakes than anybody reads": TOP + "".join(f"k{k} = 1\n" for k in range(5000)),
    "steps without end": f"{TOP}step = 1e-300\nt_end = 1e300\n",
    "more rows than any machine holds": f"{TOP}step = 1e-3\nsteps = 1000000000000000\n",
    "more steps than can be counted": f"{TOP}step = 1e-3\nt_end = 1e18\nevery = 10000000000000000\n",
    "more bodies than any machine holds":
        f'[system]\ntype = "rigid_water"\nn = 1000000000000\nbox = 1e6\n{ONE}',
    "a lattice larger than any machine":
        f'[system]\ntype = "dipoles"\nn = 8\n[initial]\nlattice = "cubic"\ncells = 1000000\n{ONE}',
}  # fmt: skip


@pytest.mark.parametrize("text", WORST.values(), ids=WORST)
def test_the_worst_files_end_at_once_with_exit_code_3(tmp_path, bounds, text):
    from click.testing import CliRunner

    path = tmp_path / "scenario.toml"
    path.write_text(text)
    assert verdict(path) == "refused"
    with contextlib.chdir(tmp_path):
        ended = CliRunner().invoke(group, ["run", str(path)])
    assert isinstance(ended.exception, InvalidInput) and ended.exception.exit_code == 3
    assert [made.name for made in tmp_path.iterdir()] == ["scenario.toml"]
