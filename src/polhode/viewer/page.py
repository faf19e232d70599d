"""One HTML page of a scene: scripts, style and numbers inline, and a policy under which it can ask for nothing."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
from functools import cache
from pathlib import Path
from typing import Any

from polhode.viewer.scene import dumped

ASSETS = Path(__file__).parent / "assets"
THREE = "three.min.js"
"""three.js; the scripts of the viewer are listed in ``order.txt``."""

START = """
"use strict";
(async () => {
  const element = document.getElementById("polhode-view");
  try {
    const scene = JSON.parse(document.getElementById("polhode-scene").textContent);
    const text = document.getElementById("polhode-arrays").textContent;
    const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const buffer = await new Response(stream).arrayBuffer();
    globalThis.polhodeHandle = globalThis.polhodeViewer.mount(element, scene, buffer);
  } catch (problem) {
    const line = document.createElement("p");
    line.setAttribute("role", "alert");
    line.textContent = "This browser cannot show the page: " + problem.message;
    element.append(line);
    throw problem;
  }
})();
"""
"""The last script of the page; DecompressionStream is in browsers since 2023."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="{generator}">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="polhode-view"></div>
<noscript>This page draws a run of polhode by a script; allow scripts to see it.</noscript>
<script type="application/json" id="polhode-scene">{scene}</script>
<script type="text/plain" id="polhode-arrays">{arrays}</script>
{scripts}
</body>
</html>
"""


@cache
def asset(name: str) -> str:
    """Text of a file of the viewer."""
    return (ASSETS / name).read_text(encoding="utf-8")


def viewer_scripts() -> str:
    """The viewer's own scripts as one text, in their order."""
    names = [line.strip() for line in asset("order.txt").splitlines()]
    return "\n".join(asset(name) for name in names if name and not name.startswith("#"))


def scripts() -> list[str]:
    """All scripts of a page, in their order."""
    return [asset(THREE), viewer_scripts(), START]


def packed(arrays: bytes) -> str:
    """Bytes as text: compressed, in base 64. The same bytes give the same text."""
    return base64.b64encode(gzip.compress(arrays, 9, mtime=0)).decode("ascii")


def inert(text: str) -> str:
    """JSON in which no HTML begins or ends."""
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _digest(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii") + "'"


def policy(code: list[str], style: str) -> str:
    """The content security policy: these scripts and this style, pictures within the page, no request."""
    return "; ".join((
        "default-src 'none'", f"script-src {' '.join(_digest(one) for one in code)}", f"style-src {_digest(style)}",
        "img-src data:", "connect-src 'none'", "base-uri 'none'", "form-action 'none'",
    ))  # fmt: skip


def page(scene: dict[str, Any], arrays: bytes) -> str:
    """The page of a scene."""
    code, style = scripts(), asset("viewer.css")
    return PAGE.format(
        policy=html.escape(policy(code, style), quote=True).replace("&#x27;", "'"),
        generator=html.escape(str(scene["generator"])),
        title=html.escape(str(scene["title"])),
        style=style,
        scene=inert(dumped(scene)),
        arrays=packed(arrays),
        scripts="\n".join(f"<script>{one}</script>" for one in code),
    )
