"""Looks at every page of the documentation in a browser, as wide as a screen and as a phone: prints what its console
says, what it asks of the network, what sticks out at the side, and pictures that do not load or show nothing; ends with
1 then. Needs a Chromium, as the tests of pages do.

python .ci/pages.py docs/_build/html [--pictures FOLDER] [--width 1400 --width 400] [--dark] [--only TEXT]
"""

from __future__ import annotations

import argparse
import base64
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
from browser import Browser, Page

WIDTHS, HEIGHT = (1400, 400), 900
LOCAL = ("file:", "data:", "blob:", "about:")
UNSEEN = {"_modules", "_static", "_downloads", "_sources"}
WIDEST = """(() => {
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= wide) return "";
  const found = [...document.querySelectorAll("body *")].filter((one) => {
    if (one.getBoundingClientRect().right <= wide + 1) return false;
    for (let above = one.parentElement; above; above = above.parentElement)
      if (getComputedStyle(above).overflowX !== "visible" && above !== document.body) return false;
    return true;
  });
  const last = found[found.length - 1];
  return last ? `${last.tagName.toLowerCase()}.${last.className}: ${last.textContent.slice(0, 60)}` : "something";
})()"""
"""What sticks out of a page that scrolls sideways; nothing of one that does not."""
PICTURES = """(async () => {
  const all = [...document.images];
  for (const one of all) one.loading = "eager";
  await Promise.all(all.map((one) => one.decode().catch(() => {})));
  return all.filter((one) => one.currentSrc || one.src).map((one) => [one.currentSrc || one.src, one.naturalWidth]);
})()"""
"""The pictures of a page, when all have come, and how wide each is."""


def is_empty(address: str, known: dict[str, bool]) -> bool:
    """Whether a picture of a file has one colour alone."""
    from urllib.parse import unquote, urlsplit

    if address not in known:
        path = Path(unquote(urlsplit(address).path))
        known[address] = False
        if address.startswith("file:") and path.suffix in (".png", ".webp", ".jpg", ".gif"):
            from PIL import Image

            with Image.open(path) as picture:
                known[address] = all(low == high for low, high in picture.convert("RGB").getextrema())
    return known[address]


def faults(page: Page, address: str, width: int, scheme: str, known: dict[str, bool]) -> Iterator[str]:
    """What is wrong with a page."""
    page.look((width, HEIGHT), prefers_color_scheme=scheme)
    page.requests.clear()
    page.complaints.clear()
    page.send("Page.navigate", url=address)
    page.wait("document.readyState === 'complete'")
    pictures = page.do(PICTURES)
    page.drawn()
    if sticks_out := page.do(WIDEST):
        yield f"scrolls sideways because of {sticks_out!r}"
    yield from (f"its console says {line}" for line in page.complaints)
    yield from (f"it asks for {one}" for one in page.requests if not one.startswith(LOCAL))
    for picture, wide in pictures:
        if not wide:
            yield f"{picture} does not load"
        elif is_empty(picture, known):
            yield f"{picture} is empty"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("--pictures", type=Path, help="folder for a picture of every page")
    parser.add_argument("--width", type=int, action="append", help=f"{WIDTHS[0]} and {WIDTHS[1]} unless given")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--only", default="", help="pages whose name holds this text")
    asked = parser.parse_args()
    site, known, count = asked.site.resolve(), dict[str, bool](), 0
    names = [path.relative_to(site) for path in sorted(site.rglob("*.html"))]
    names = [name for name in names if name.parts[0] not in UNSEEN and asked.only in name.as_posix()]
    scheme = "dark" if asked.dark else "light"
    with Browser() as browser:
        page = browser.open("about:blank")
        for name in names:
            for width in asked.width or WIDTHS:
                for fault in faults(page, (site / name).as_uri(), width, scheme, known):
                    print(f"{name.as_posix()} at {width} pixels: {fault}", flush=True)
                    count += 1
                if asked.pictures:
                    asked.pictures.mkdir(parents=True, exist_ok=True)
                    whole = page.send("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
                    file = f"{'_'.join(name.with_suffix('').parts)}-{width}-{scheme}.png"
                    (asked.pictures / file).write_bytes(base64.b64decode(whole))
    print(f"{len(names)} pages looked at, {count} faults")
    return 1 if count or not names else 0


if __name__ == "__main__":
    sys.exit(main())
