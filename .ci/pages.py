"""Looks at every page of the documentation in a browser: prints the pages that scroll sideways at the width of a phone,
and what their consoles say; ends with 1 then. Run by hand, with the package playwright and a Chromium.

python .ci/pages.py docs/_build/html [--pictures FOLDER] [--width 400] [--dark] [--only TEXT]
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

WIDEST = """() => {
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= wide) return "";
  const found = [...document.querySelectorAll("article *")].filter((one) => {
    if (one.getBoundingClientRect().right <= wide + 1) return false;
    for (let above = one.parentElement; above; above = above.parentElement)
      if (getComputedStyle(above).overflowX !== "visible" && above !== document.body) return false;
    return true;
  });
  const last = found[found.length - 1];
  return last ? `${last.tagName.toLowerCase()}.${last.className}: ${last.textContent.slice(0, 60)}` : "something";
}"""
"""What sticks out of a page that scrolls sideways; nothing of one that does not."""


def main() -> int:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("--pictures", type=Path, help="folder for a picture of every page")
    parser.add_argument("--width", type=int, default=400)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--only", default="", help="pages whose name holds this text")
    asked = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    pages = [
        path
        for path in sorted(asked.site.resolve().rglob("*.html"))
        if path.relative_to(asked.site.resolve()).parts[0] not in {"_modules", "_static", "_downloads"}
        and asked.only in path.as_posix()
    ]
    faults = 0
    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        scheme = "dark" if asked.dark else "light"
        page = browser.new_page(viewport={"width": asked.width, "height": 900}, color_scheme=scheme)
        said: list[str] = []
        page.on("console", lambda line: said.append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda problem: said.append(str(problem)))
        for path in pages:
            name = path.relative_to(asked.site.resolve()).as_posix()
            page.goto(path.as_uri())
            wide = page.evaluate(WIDEST)
            if wide:
                print(f"{name}: scrolls sideways at {asked.width} pixels because of {wide!r}")
            for line in said:
                print(f"{name}: the console says {line}")
            faults += bool(wide) + len(said)
            said.clear()
            if asked.pictures:
                asked.pictures.mkdir(parents=True, exist_ok=True)
                picture = asked.pictures / f"{name.removesuffix('.html').replace('/', '_')}-{asked.width}-{scheme}.png"
                page.screenshot(path=picture, full_page=True)
    print(f"{len(pages)} pages looked at, {faults} faults")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
