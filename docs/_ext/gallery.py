"""The gallery: each file of ``examples/gallery`` becomes an executed notebook, its picture a card of the index page.

A file is plain Python in the percent format (``# %%`` begins a cell, ``# %% [markdown]`` one of prose), with a header

    # ---
    # section: Orbits
    # order: 30
    # caption: One line for its card.
    # alt: What its picture shows, for those who do not see it.
    # ---

(a longer line goes on in the next, after ``#   ``) and ``# # Title`` as the first line of prose. The pages are written
to ``docs/generated/gallery``: the executed notebooks, the pictures, and under ``files`` what readers download. A
notebook that is there and was made from the same cells, sources of polhode and versions is not executed again.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import io
import json
import os
import platform
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import forked

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "examples" / "gallery"
PAGES = ROOT / "docs" / "generated" / "gallery"

SECTIONS = {
    "Spacecraft": "Orbit and attitude in one: what turns a satellite, and what stops it turning.",
    "Orbits": "Around one centre or between two, for a day or for two hundred thousand years.",
    "Tops and rigid bodies": "A body with a fixed point, on a gimbal, or left to itself.",
    "Several bodies": "Bodies that pull, damp and steer each other, by loads and controllers of a few lines.",
    "Molecules": "Many rigid bodies that attract and repel each other.",
    "Ensembles and long runs": "Ten thousand runs in one call, and one run that survives a power cut.",
    "Methods and papers": "Which method, at which step; and figures of papers drawn again.",
}
"""Headings of the index page, in its order, each with its sentence."""

FIELDS = ("section", "order", "caption", "alt")
MOST_LINES, MOST_OF_A_MISSION = 40, 60
"""Lines of code a file may have, and one whose name ends in _mission; prose and empty lines are not counted."""
TIMEOUT = 600
"""Seconds after which an example has failed."""
THUMBNAIL = (720, 480)
"""Pixels of the picture of a card."""
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
SHOW = b"\nplt.show()  # as a script: in a window\n"
"""The last line of a script that readers download; a notebook needs none."""
CELL = re.compile(r"^# %%(.*)$")


class GalleryError(forked.Failed):
    """A file of the gallery that is not as it should be, or whose notebook failed."""


@dataclasses.dataclass(frozen=True)
class Example:
    """One file, read: its header, its title and its cells (kind, text)."""

    name: str
    title: str
    section: str
    order: float
    caption: str
    alt: str
    cells: tuple[tuple[str, str], ...]

    @property
    def code(self) -> list[str]:
        """The lines of code, without empty ones."""
        return [line for kind, text in self.cells if kind == "code" for line in text.splitlines() if line.strip()]


# ------------------------------------------------------------------ reading
def read(path: Path) -> Example:
    """The example in a file; a GalleryError names what it lacks."""
    lines = path.read_text(encoding="utf-8").splitlines()
    marks = [k for k, line in enumerate(lines) if line == "# ---"]
    if len(marks) != 2 or marks[0] != 0:
        raise GalleryError(f"{path.name}: it begins with a header between two lines '# ---'")
    header = dict(re.findall(r"^# (\w+): (.+)$", "\n".join(lines[1 : marks[1]]).replace("\n#   ", " "), re.MULTILINE))
    if missing := [field for field in FIELDS if field not in header]:
        raise GalleryError(f"{path.name}: its header lacks {', '.join(missing)}")
    if header["section"] not in SECTIONS:
        raise GalleryError(f"{path.name}: section {header['section']!r} is none of {', '.join(SECTIONS)}")
    cells = list(cells_of(lines[marks[1] + 1 :], path.name))
    titled = re.match(r"# (.+)", cells[0][1]) if cells and cells[0][0] == "markdown" else None
    if not titled:
        raise GalleryError(f"{path.name}: its first cell is prose that begins with '# # Title'")
    if cells[-1][0] != "code":
        raise GalleryError(f"{path.name}: its last cell is the code that draws the picture")
    if "/" in header["order"] or not re.fullmatch(r"[0-9.]+", header["order"]):
        raise GalleryError(f"{path.name}: order is a number, the place within the section")
    made = Example(
        path.stem, titled[1], header["section"], float(header["order"]), header["caption"], header["alt"], tuple(cells)
    )
    most = MOST_OF_A_MISSION if path.stem.endswith("_mission") else MOST_LINES
    if len(made.code) > most:
        raise GalleryError(f"{path.name}: {len(made.code)} lines of code, and at most {most} are allowed")
    return made


def cells_of(lines: Sequence[str], name: str) -> Iterable[tuple[str, str]]:
    """The cells of percent format as (kind, text); prose loses its comment signs."""
    kind, held = "", []
    for line in [*lines, "# %%"]:
        mark = CELL.match(line)
        if not mark:
            if line.strip() and not kind:
                raise GalleryError(f"{name}: {line!r} stands before the first '# %%'")
            held.append(line)
            continue
        text = "\n".join(held).strip("\n")
        if kind == "markdown":
            text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in text.splitlines())
        if text.strip():
            yield kind, text
        kind, held = ("markdown" if mark[1].strip() == "[markdown]" else "code"), []


def examples(folder: Path = SOURCE) -> list[Example]:
    """All examples of a folder, in the order of the index."""
    places = {section: k for k, section in enumerate(SECTIONS)}
    return sorted(map(read, sorted(folder.glob("*.py"))), key=lambda one: (places[one.section], one.order, one.name))


# ------------------------------------------------------------------ notebooks
def notebook(example: Example) -> dict[str, Any]:
    """The notebook (format 4.5) of an example, without outputs."""
    cells: list[dict[str, Any]] = []
    for k, (kind, text) in enumerate(example.cells):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{k}", "metadata": {}, "source": text}
        cells.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": KERNEL,
            "language_info": {"name": "python", "pygments_lexer": "ipython3"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def surroundings() -> str:
    """A digest of everything beside its text that decides what a notebook shows: polhode, the versions, these files."""
    import matplotlib
    import numpy

    digest = hashlib.sha256(f"{platform.python_version()} {numpy.__version__} {matplotlib.__version__}".encode())
    own = [Path(__file__).with_name(f"{name}.py") for name in ("cells", "forked", "gallery")]
    for path in [*own, *sorted((ROOT / "src" / "polhode").rglob("*"))]:
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def digest_of(example: Example, around: str) -> str:
    """A digest of what decides what the notebook of an example shows."""
    return hashlib.sha256(json.dumps([around, example.cells, example.alt]).encode()).hexdigest()


def stored(path: Path, digest: str) -> dict[str, Any] | None:
    """The executed notebook in a file, if it was made from what has this digest."""
    if path.is_file():
        made: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if made["metadata"].get("digest") == digest:
            return made
    return None


def executed(shown: Sequence[Example], folder: Path, workers: int) -> list[dict[str, Any]]:
    """Notebooks with their outputs: those in the folder, where nothing has changed, or new ones."""
    around = surroundings()
    paths = [folder / f"{one.name}.ipynb" for one in shown]
    new = [(one, path) for one, path in zip(shown, paths, strict=True) if stored(path, digest_of(one, around)) is None]

    def keep_notebook(k: int, made: dict[str, Any]) -> None:
        one, path = new[k]
        made["metadata"]["digest"] = digest_of(one, around)
        path.write_text(json.dumps(made, indent=1), encoding="utf-8")

    run([one for one, _ in new], workers, keep_notebook)
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def run(
    shown: Sequence[Example], workers: int = 1, done: Callable[[int, Any], None] = lambda k, made: None
) -> list[dict[str, Any]]:
    """Execute the cells of examples, each in an empty folder and in a process of its own."""
    if shown:
        import cells

        cells.warm()
    return forked.several([partial(run_here, one) for one in shown], workers, TIMEOUT, done)


def run_here(example: Example) -> dict[str, Any]:
    """The notebook of an example with its outputs, from this process, which then is of no other use."""
    import cells

    made = notebook(example)
    codes = [cell for cell in made["cells"] if cell["cell_type"] == "code"]
    with tempfile.TemporaryDirectory() as empty:
        found, problem, _ = cells.run([cell["source"] for cell in codes], empty, retina=True)
        os.chdir(ROOT)
    if problem:
        raise GalleryError(f"examples/gallery/{example.name}.py: {problem}")
    made["metadata"]["seconds"] = sum(one.seconds for one in found)
    for cell, one in zip(codes, found, strict=True):
        cell |= {"execution_count": one.count, "outputs": one.outputs}
        cell["metadata"] = {"mystnb": {"image": {"alt": example.alt, "width": "100%"}}}
        for output in cell["outputs"]:
            if output.get("name") == "stderr":
                raise GalleryError(f"examples/gallery/{example.name}.py warns: {''.join(output['text'])}")
            if drawn := output.get("data", {}).get("image/png"):
                output["data"]["image/png"] = base64.b64encode(lighter(base64.b64decode(drawn))).decode()
        without_words(cell)
    picture(made, example.name)
    return made


def without_words(cell: dict[str, Any]) -> None:
    """Of a cell that draws, silence what its last line returns if that is nothing but words (a list of labels)."""
    kinds = [output.get("data", {}) for output in cell["outputs"]]
    if any("image/png" in data for data in kinds):
        kept = [one for one in cell["outputs"] if set(one.get("data", {})) != {"text/plain"}]
        if len(kept) < len(cell["outputs"]):
            cell["outputs"], cell["source"] = kept, "".join(cell["source"]) + ";"


def emptied(made: dict[str, Any]) -> dict[str, Any]:
    """A notebook without its outputs, for download."""
    cells = [
        {**cell, "metadata": {}} | ({"execution_count": None, "outputs": []} if cell["cell_type"] == "code" else {})
        for cell in made["cells"]
    ]
    return {**made, "cells": cells, "metadata": {"kernelspec": KERNEL, "language_info": {"name": "python"}}}


def picture(made: dict[str, Any], name: str) -> bytes:
    """The last picture a notebook drew, as PNG."""
    found = [
        output["data"]["image/png"]
        for cell in made["cells"]
        for output in cell.get("outputs", ())
        if "image/png" in output.get("data", {})
    ]
    if not found:
        raise GalleryError(f"examples/gallery/{name}.py draws no picture")
    return base64.b64decode("".join(found[-1]))


def lighter(png: bytes) -> bytes:
    """A picture in at most 256 colours, which is all that lines and dots need, if that is smaller."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as drawn:
        few = drawn.convert("RGB").quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    out = io.BytesIO()
    few.save(out, "PNG")
    return min(out.getvalue(), png, key=len)


def thumbnail(png: bytes) -> bytes:
    """A picture made as small as those of all cards, whole and on white."""
    from PIL import Image, ImageOps

    with Image.open(io.BytesIO(png)) as drawn:
        small = ImageOps.pad(drawn.convert("RGB"), THUMBNAIL, Image.Resampling.LANCZOS, color="white")
        small = small.quantize(96, dither=Image.Dither.NONE)
    out = io.BytesIO()
    small.save(out, "PNG", optimize=True)
    return out.getvalue()


# ------------------------------------------------------------------ pages
def index(shown: Sequence[Example]) -> str:
    """The page of cards."""
    text = (
        "# Gallery\n\n"
        "Each picture was drawn by its page when this site was built, in at most 40 lines (missions in 60). Every\n"
        "page can be downloaded as a notebook and as a script; the scripts are in `examples/gallery`.\n"
    )
    for section, sentence in SECTIONS.items():
        here = [one for one in shown if one.section == section]
        if not here:
            continue
        cards = "\n".join(
            f":::{{figure}} pictures/{one.name}.png\n:target: {one.name}.html\n:alt: {one.alt}\n:figclass: card\n\n"
            f"[{one.title}]({one.name}.ipynb)\n\n{one.caption}\n:::\n"
            for one in here
        )
        text += f"\n## {section}\n\n{sentence}\n\n::::{{container}} cards\n{cards}::::\n"
        text += "\n```{toctree}\n:hidden:\n\n" + "".join(f"{one.name}\n" for one in here) + "```\n"
    return text


def with_downloads(made: dict[str, Any], name: str) -> dict[str, Any]:
    """A notebook whose first prose ends with links to its files."""
    seconds = made["metadata"]["seconds"]
    took = f"{seconds:.0f}" if seconds >= 1.5 else f"{max(seconds, 0.1):.1f}"
    links = f"{{download}}`Notebook <files/{name}.ipynb>` {{download}}`Script <files/{name}.py>`, which ran in {took} s"
    cell = {"cell_type": "markdown", "id": "files", "metadata": {}, "source": f":::{{container}} files\n{links}\n:::"}
    return {**made, "cells": [made["cells"][0], cell, *made["cells"][1:]]}


def keep(path: Path, content: bytes) -> None:
    """Write a file unless it has this content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_bytes() != content:
        path.write_bytes(content)


def write(folder: Path = PAGES, source: Path = SOURCE, workers: int = 2) -> list[Example]:
    """Execute what has changed, write all pages below ``folder``, and remove those of files that are gone."""
    shown, done = examples(source), folder / "executed"
    done.mkdir(parents=True, exist_ok=True)
    made = executed(shown, done, workers)
    written = {folder / "index.md": index(shown).encode()}
    for one, page in zip(shown, made, strict=True):
        written |= {
            folder / f"{one.name}.ipynb": json.dumps(with_downloads(page, one.name), indent=1).encode(),
            folder / "pictures" / f"{one.name}.png": thumbnail(picture(page, one.name)),
            folder / "files" / f"{one.name}.ipynb": json.dumps(emptied(page), indent=1).encode(),
            folder / "files" / f"{one.name}.py": (source / f"{one.name}.py").read_bytes() + SHOW,
        }
    for path, content in written.items():
        keep(path, content)
    kept = set(written) | {done / f"{one.name}.ipynb" for one in shown}
    for path in folder.rglob("*"):
        if path.is_file() and path not in kept:
            path.unlink()
    return shown


def build(app: Any, config: Any) -> None:
    """Write the gallery before Sphinx looks for pages; its notebooks are not executed again."""
    config.exclude_patterns += ["generated/gallery/files", "generated/gallery/executed"]
    config.nb_execution_excludepatterns = [*config.nb_execution_excludepatterns, "generated/gallery/*"]
    write()


def setup(app: Any) -> dict[str, Any]:
    app.connect("config-inited", build, priority=100)
    app.add_css_file("gallery.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
