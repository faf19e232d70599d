"""One HTML page of a scene: scripts, style and numbers inline, and a policy under which it can ask for nothing."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from polhode.viewer.scene import dumped

ASSETS = Path(__file__).parent / "assets"
THREE = "three.min.js"  # three.js; the scripts of the viewer are listed in ``order.txt``
LIVE = "live.js"  # what a page with a live part has besides
ORDERS = 4  # orders of differences that are tried, from 0
LARGE = 2**21  # bytes above which numbers are compressed faster

START = """
"use strict";
(async () => {
  const element = document.getElementById("polhode-view");
  try {
    const scene = JSON.parse(document.getElementById("polhode-scene").textContent);
    const holder = document.getElementById("polhode-arrays");
    const packed = Uint8Array.from(atob(holder.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    const buffer = new ArrayBuffer(bytes.length);
    for (const [at, rows, columns, size, order] of JSON.parse(holder.dataset.layout)) {
      // Bytes of equal weight lie together, column by column; numbers are differences of the given order.
      const count = rows * columns;
      const low = new Uint32Array(count), high = new Uint32Array(count);
      for (let byte = 0, from = at; byte < size; byte++) {
        const part = byte < 4 ? low : high, shift = 8 * (byte % 4);
        for (let i = 0; i < count; i++) part[i] |= bytes[from++] << shift;
      }
      for (let start = 0; start < count; start += rows) {
        for (let first = order; first > 0; first--) {
          for (let i = start + first; i < start + rows; i++) {
            const sum = low[i] + low[i - 1];
            low[i] = sum;
            high[i] += high[i - 1] + (sum > 0xffffffff ? 1 : 0);
          }
        }
      }
      const whole = size === 2 ? new Uint16Array(buffer, at, count) : new Uint32Array(buffer, at, count * size / 4);
      for (let column = 0, i = 0; column < columns; column++) {
        for (let row = 0; row < rows; row++, i++) {
          const to = row * columns + column;
          if (size === 8) {
            whole[2 * to] = low[i];
            whole[2 * to + 1] = high[i];
          } else whole[to] = low[i];
        }
      }
    }
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
<script type="text/plain" id="polhode-arrays" data-layout="{layout}">{arrays}</script>
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


def scripts(live: bool = False) -> list[str]:
    """All scripts of a page, in their order; of one with a ``live`` part, whose scripts begin otherwise."""
    if not live:
        return [asset(THREE), viewer_scripts(), START]
    mount = "globalThis.polhode{}.mount(".format
    return [asset(THREE), viewer_scripts(), asset(LIVE), START.replace(mount("Viewer"), "await " + mount("Live"))]


def packed(scene: dict[str, Any], arrays: bytes) -> tuple[str, str]:
    """Layout (JSON: of each array first byte, rows, columns, bytes of a number, order of the differences) and text of
    the numbers of a scene: arrays as ``arranged``, compressed, in base 64; the same numbers give the same text."""
    found = bytearray(arrays)
    layout = []
    for one in references(scene):
        kind = {"float64": "<u8", "float32": "<u4", "uint32": "<u4", "int16": "<u2"}[one["type"]]
        rows, columns = one["shape"][0], int(np.prod(one["shape"][1:], dtype=int))
        if not rows * columns:
            continue
        raw = np.frombuffer(arrays, kind, rows * columns, one["at"]).reshape(rows, columns)
        order = min(range(ORDERS), key=lambda one: len(zlib.compress(arranged(raw, one), 1)))
        moved = arranged(raw, order)
        found[one["at"] : one["at"] + len(moved)] = moved
        layout.append([one["at"], rows, columns, raw.itemsize, order])
    text = base64.b64encode(gzip.compress(bytes(found), 9 if len(found) < LARGE else 6, mtime=0)).decode("ascii")
    return json.dumps(layout, separators=(",", ":")), text


def arranged(raw: Any, order: int) -> bytes:
    """Numbers as differences of this order from row to row, column by column, bytes of equal weight together: most of
    these are alike, which compresses to a third."""
    values = raw
    for first in range(1, order + 1):
        before = values
        values = before.copy()
        values[first:] = before[first:] - before[first - 1 : -1]  # modulo 2^bits, and so exact
    return np.ascontiguousarray(values.T).reshape(-1).view(np.uint8).reshape(-1, raw.itemsize).T.tobytes()


def references(scene: object) -> Iterator[dict[str, Any]]:
    """All references of a scene, each place once."""
    seen: set[int] = set()
    waiting = [scene]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict) and {"at", "shape", "type"} <= set(one):
            if one["at"] not in seen:
                seen.add(one["at"])
                yield one
        elif isinstance(one, dict | list):
            waiting += one.values() if isinstance(one, dict) else one


def inert(text: str) -> str:
    """JSON in which no HTML begins or ends."""
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _digest(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii") + "'"


def policy(code: list[str], style: str, live: bool = False) -> str:
    """The content security policy: these scripts and this style, pictures within the page, no request; WebAssembly of
    the page's own where it is ``live``."""
    allowed = [_digest(one) for one in code] + ["'wasm-unsafe-eval'"] * live
    return "; ".join((
        "default-src 'none'", f"script-src {' '.join(allowed)}", f"style-src {_digest(style)}", "img-src data:",
        "connect-src 'none'", "base-uri 'none'", "form-action 'none'",
    ))  # fmt: skip


def page(scene: dict[str, Any], arrays: bytes) -> str:
    """The page of a scene."""
    live = "live" in scene
    code, style = scripts(live), asset("viewer.css")
    layout, numbers = packed(scene, arrays)
    return PAGE.format(
        policy=html.escape(policy(code, style, live), quote=True).replace("&#x27;", "'"),
        generator=html.escape(str(scene["generator"])),
        title=html.escape(str(scene["title"])),
        style=style,
        scene=inert(dumped(scene)),
        layout=layout,
        arrays=numbers,
        scripts="\n".join(f"<script>{one}</script>" for one in code),
    )
