"""What a build computes is kept for the next one, as long as the source of polhode is the same.

``folder()`` is named by a digest of ``src/polhode``, of ``examples`` and of the versions of what computes and draws: a
change of any of them begins an empty folder, in which every page runs again. Only the newest folders are kept.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPUTES = ("numpy", "numba", "scipy", "xarray", "matplotlib")
SUFFIXES = (".py", ".toml", ".bib", ".js", ".css", ".obj", ".stl")
KEPT_BY_OTHERS = {"gallery"}
"""Folders of examples whose results have a cache of their own."""
KEPT = 3
"""Folders of older sources that stay: those of a few branches."""


def sources(root: Path = ROOT) -> list[Path]:
    """The files on which the outputs of a page may depend; those of the gallery are kept one by one, by ``gallery``."""
    every = [path for below in ("src/polhode", "examples") for path in (root / below).rglob("*")]
    apart = root / "examples" / "gallery"
    return sorted(path for path in every if path.suffix in SUFFIXES and path.is_file() and apart not in path.parents)


def digest(root: Path = ROOT) -> str:
    """A short digest of the sources and of the versions behind the outputs.

    While pages are written ``POLHODE_DOCS_DIGEST`` may stand for it, so that results stay though sources change.
    """
    if os.environ.get("POLHODE_DOCS_DIGEST"):
        return os.environ["POLHODE_DOCS_DIGEST"]
    sum_ = hashlib.sha256(repr([sys.version_info[:3], [version(name) for name in COMPUTES]]).encode())
    for path in sources(root):
        sum_.update(f"\n{path.relative_to(root).as_posix()}\n".encode())
        sum_.update(path.read_bytes())
    return sum_.hexdigest()[:16]


def folder(root: Path = ROOT) -> Path:
    """The folder for results of these sources, made; below ``POLHODE_DOCS_CACHE``, by default ``docs/_build/cache``."""
    above = Path(os.environ.get("POLHODE_DOCS_CACHE") or root / "docs" / "_build" / "cache").resolve()
    chosen = above / digest(root)
    chosen.mkdir(parents=True, exist_ok=True)
    os.utime(chosen)
    for old in sorted((path for path in above.iterdir() if path.is_dir()), key=lambda path: -path.stat().st_mtime)[
        KEPT:
    ]:
        shutil.rmtree(old, ignore_errors=True)
    return chosen
