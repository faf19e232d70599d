"""The look at every page of a site in a browser: each kind of fault is seen, and a page without any is passed."""

import runpy
from pathlib import Path

import pytest

from browser import chromium

SCRIPT = Path(__file__).parents[2] / ".ci" / "pages.py"
GOOD = "<title>x</title><meta name=viewport content='width=device-width'><link rel=icon href='data:,'><img src=a.png>"
BAD = {
    "wide": ("<div style='width: 700px'>as wide as that</div>", "scrolls sideways because of 'div.: as wide as that'"),
    "console": ("<script>console.error('a', 1)</script>", "its console says a 1"),
    "network": ("<img src='http://127.0.0.1:9/a.png'>", "it asks for http://127.0.0.1:9/a.png"),
    "absent": ("<img loading=lazy style='margin-top: 9999px' src=b.png>", "b.png does not load"),
    "empty": ("<img src=c.png>", "c.png is empty"),
}


def test_faults_of_pages_are_seen(tmp_path, monkeypatch, capsys):
    image = pytest.importorskip("PIL.Image")
    chromium()
    two = image.new("RGB", (4, 4), "white")
    two.save(tmp_path / "c.png")
    two.putpixel((1, 1), (0, 0, 0))
    two.save(tmp_path / "a.png")
    (tmp_path / "_modules").mkdir()
    (tmp_path / "_modules" / "unseen.html").write_text(GOOD + BAD["wide"][0])
    (tmp_path / "good.html").write_text(GOOD)
    monkeypatch.setattr("sys.argv", ["pages.py", str(tmp_path)])
    main = runpy.run_path(str(SCRIPT))["main"]
    assert main() == 0 and capsys.readouterr().out == "1 pages looked at, 0 faults\n"
    for name, (wrong, _) in BAD.items():
        (tmp_path / f"{name}.html").write_text(GOOD + wrong)
    assert main() == 1
    told = capsys.readouterr().out.splitlines()
    for name, (_, sentence) in BAD.items():
        widths = [400] if name == "wide" else [1400, 400]
        for width in widths:
            assert any(line.startswith(f"{name}.html at {width} pixels: ") and sentence in line for line in told), told
    assert not any(line.startswith(("good", "wide.html at 1400")) for line in told)
