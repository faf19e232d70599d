"""The gallery: its files are as they should be, and a file becomes a notebook, a picture, a card and two downloads."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest
from PIL import Image

from each import each
from polhode.plots.style import COLOURS, RC

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "examples" / "gallery").glob("*.py"))
HEADER = "# ---\n# section: Orbits\n# order: 1\n# caption: A line.\n# alt: A line that goes\n#   up.\n# ---\n"
PROSE = "# %% [markdown]\n# # A line\n#\n# Of prose.\n\n"
SMALL = HEADER + PROSE + "# %%\nx = 2\n\n# %%\nimport matplotlib.pyplot as plt\n\nplt.plot([0, x])\n"


@pytest.fixture(scope="module")
def gallery():
    sys.path.append(str(ROOT / "docs" / "_ext"))
    spec = importlib.util.spec_from_file_location("docs_gallery", ROOT / "docs" / "_ext" / "gallery.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["docs_gallery"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["docs_gallery"]


def written(folder, text, name="small"):
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return path


@each("path", FILES, ids=lambda path: path.stem)
def test_every_file_is_a_short_example_that_draws(gallery, path):
    example = gallery.read(path)
    code = "\n".join(example.code)
    assert len(example.code) <= (gallery.MOST_OF_A_MISSION if path.stem.endswith("_mission") else gallery.MOST_LINES)
    assert len(example.caption) <= 140 and example.alt.endswith(".")
    assert (
        re.search(r"plt\.|dashboard|\.plot\(|plots\.figure\(", code)
        and "plt.show" not in code
        and "savefig" not in code
    )
    assert "import matplotlib.pyplot as plt" in code  # the script for download ends with plt.show()
    assert not re.search(r"""["'](/|~|[A-Z]:\\)""", code), "a path of one machine"
    compile(path.read_text(encoding="utf-8"), path.name, "exec")


def test_titles_and_places_are_told_apart(gallery):
    shown = gallery.examples()
    assert len({one.title for one in shown}) == len(shown) == len(FILES)
    text = gallery.index(shown)
    assert all(text.count(f"pictures/{one.name}.png") == 1 for one in shown)
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings == [section for section in gallery.SECTIONS if section in headings]


def test_a_file_is_read(gallery, tmp_path):
    example = gallery.read(written(tmp_path, SMALL))
    assert (example.title, example.section, example.alt) == ("A line", "Orbits", "A line that goes up.")
    assert [kind for kind, _ in example.cells] == ["markdown", "code", "code"]
    assert example.cells[0][1] == "# A line\n\nOf prose."
    assert example.code == ["x = 2", "import matplotlib.pyplot as plt", "plt.plot([0, x])"]
    assert [cell["source"] for cell in gallery.notebook(example)["cells"]] == [text for _, text in example.cells]


@each(
    ("old", "new", "said"),
    [
        ("# caption: A line.\n", "", "lacks caption"),
        ("Orbits", "Orbit", "section 'Orbit' is none of"),
        ("# # A line", "# A line", "begins with '# # Title'"),
        ("# ---\n", "", "header between two lines"),
        ("order: 1", "order: first", "order is a number"),
        ("plt.plot([0, x])\n", "plt.plot([0, x])\n# %% [markdown]\n# The end.\n", "last cell is the code"),
        ("x = 2\n", "x = 2\n" * 39, "41 lines of code, and at most 40"),
        ("# %% [markdown]\n# # A", "import os\n# %% [markdown]\n# # A", "stands before the first"),
    ],
)
def test_a_file_that_lacks_something_is_refused_by_name(gallery, tmp_path, old, new, said):
    with pytest.raises(gallery.GalleryError, match=r"small\.py: ") as refused:
        gallery.read(written(tmp_path, SMALL.replace(old, new)))
    assert said in str(refused.value)


BAD = [
    ("x = 2", "x = 2 / 0", "ZeroDivisionError"),
    ("plt.plot([0, x])", "x", "draws no picture"),
    ("x = 2", "x = 2\nimport warnings\n\nwarnings.warn('look out')", "look out"),
]
LEAVES = "left = x = 2\nimport matplotlib\n\nmatplotlib.rcParams['lines.linewidth'] = 7.5\nopen('left', 'w').close()"
LOOKS = (
    "import os\n\nimport matplotlib\n\nx = 2\n"
    "print('left' in dir(), os.listdir(), matplotlib.rcParams['lines.linewidth'])"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What ``gallery.run`` makes of files one after the other, in a build of its own: notebooks or errors."""
    pytest.importorskip("matplotlib_inline")
    pytest.importorskip("nbformat")
    texts = {"leaves": SMALL.replace("x = 2", LEAVES), "looks": SMALL.replace("x = 2", LOOKS), "small": SMALL}
    texts |= {f"bad{k}": SMALL.replace(old, new) for k, (old, new, _) in enumerate(BAD)}
    code = (
        "import json, pathlib, sys, gallery\n\n\n"
        "def of(path):\n    try:\n        return gallery.run([gallery.read(pathlib.Path(path))])[0]\n"
        "    except gallery.GalleryError as problem:\n        return str(problem)\n\n\n"
        "print(json.dumps({path: of(path) for path in sys.argv[1:]}))\n"
    )
    folder = tmp_path_factory.mktemp("files")
    files = [written(folder, text, name).name for name, text in texts.items()]
    done = subprocess.run([sys.executable, "-c", code, *files], cwd=folder, capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": str(ROOT / "docs" / "_ext")})  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {name.removesuffix(".py"): one for name, one in json.loads(done.stdout).items()}


def test_a_file_becomes_pages_once(gallery, made, tmp_path, monkeypatch):
    made = made["small"]
    assert [cell["source"] for cell in made["cells"]][-1].endswith("plt.plot([0, x]);")  # no list of lines
    assert [set(one["data"]) for one in made["cells"][-1]["outputs"]] == [{"image/png", "text/plain"}]
    assert made["cells"][-1]["metadata"]["mystnb"]["image"]["alt"] == "A line that goes up."

    runs = []
    monkeypatch.setattr(gallery, "surroundings", lambda: "here")

    def run(new, workers, done):
        runs.extend(one.name for one in new)
        for k in range(len(new)):
            done(k, json.loads(json.dumps(made)))

    monkeypatch.setattr(gallery, "run", run)
    source, pages = tmp_path / "source", tmp_path / "pages"
    written(source, SMALL)
    gallery.write(pages, source)
    page, clean = (json.loads((pages / place / "small.ipynb").read_text()) for place in ("", "files"))
    assert "files/small.py" in "".join(page["cells"][1]["source"])
    assert all(not cell.get("outputs") for cell in clean["cells"])
    script = (pages / "files" / "small.py").read_text()
    assert script.startswith(SMALL) and "plt.show()" in script.splitlines()[-1]  # a script that is run opens a window
    with Image.open(pages / "pictures" / "small.png") as drawn:
        assert drawn.size == gallery.THUMBNAIL and len(drawn.convert("RGB").getcolors(10**6)) > 2

    before = os.stat(pages / "small.ipynb").st_mtime_ns
    gallery.write(pages, source)
    assert os.stat(pages / "small.ipynb").st_mtime_ns == before and runs == ["small"]
    (source / "small.py").write_text(SMALL.replace("x = 2", "x = 3"))
    gallery.write(pages, source)
    assert runs == ["small", "small"]
    (source / "small.py").unlink()
    gallery.write(pages, source)
    assert [path.name for path in pages.rglob("*") if path.is_file()] == ["index.md"]


@each("k", range(len(BAD)))
def test_an_example_that_fails_warns_or_draws_nothing_is_named(made, k):
    assert made[f"bad{k}"].startswith(f"examples/gallery/bad{k}.py") and BAD[k][2] in made[f"bad{k}"]


def test_a_notebook_finds_nothing_of_the_one_before_it(made):
    assert "".join(made["looks"]["cells"][1]["outputs"][0]["text"]) == "False [] 1.5\n"


def test_the_style_of_plots_is_a_style_of_matplotlib():
    with plt.style.context("polhode.plots.style"):
        written_there = {key: matplotlib.rcParams[key] for key in RC}
        colours = matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]
    with matplotlib.rc_context(RC):
        assert {key: str(value).lstrip("#") for key, value in written_there.items()} == {
            key: str(matplotlib.rcParams[key]).lstrip("#") for key in RC
        }
    assert colours == list(COLOURS)
