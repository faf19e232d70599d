"""The script that draws every kind of system's pictures: it makes those of a run, and one page to look at them."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_run_has_a_wide_and_a_narrow_picture_on_one_page(tmp_path):
    script = ROOT / "docs" / "generate" / "all_pictures.py"
    words = ["slow top", "--dashboards"]
    made = subprocess.run(
        [sys.executable, str(script), str(tmp_path), *words],
        capture_output=True,
        text=True,
        env={**os.environ},
        cwd=ROOT,
    )
    assert made.returncode == 0, made.stderr
    from PIL import Image

    for width in (1400, 400):
        with Image.open(tmp_path / f"slow-top-{width}.png") as picture:
            assert picture.width == width
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert text.count("<img") == 2 and "slow-top-400.png" in text
