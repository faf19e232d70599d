"""A view that follows a run while it goes on: a widget for notebooks, which grows with the live store of the run."""

from __future__ import annotations

import json
import threading
import time
from functools import cache
from pathlib import Path
from typing import Any

from polhode.arguments import path as checked_path
from polhode.errors import FileProblem, InvalidInput, PolhodeError
from polhode.lazy import extra, xr
from polhode.trajectory.files import is_store
from polhode.viewer.page import THREE, asset, viewer_scripts
from polhode.viewer.scene import dumped, scene_of

LOOK_SECONDS = 0.5  # between two looks at a store
PATIENCE = 4.0
"""Between two scenes pass so many times what one takes to make, so that the run keeps its processor."""

MODULE = """
globalThis.THREE ??= (() => {{
{three}
return THREE;
}})();
{viewer}
function render({{ model, el }}) {{
  const box = document.createElement("div");
  box.style.height = model.get("height") + "px";
  box.style.overflow = "auto";
  el.append(box);
  let handle = null;
  const show = () => {{
    const bytes = model.get("arrays"), text = model.get("scene");
    if (!text) {{
      box.textContent = model.get("told");
      return;
    }}
    const scene = JSON.parse(text);
    const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    if (handle) handle.append(scene, buffer);
    else {{
      box.textContent = "";
      handle = globalThis.polhodeViewer.mount(box, scene, buffer);
    }}
    el.polhodeHandle = handle;
  }};
  model.on("change:scene", show);
  model.on("change:told", show);
  show();
  return () => {{
    model.off("change:scene", show);
    model.off("change:told", show);
    handle?.destroy();
  }};
}}
export default {{ render }};
"""
"""What the front end of a notebook loads; doubled braces are those of the script."""


def live_view(
    source: object, label: str, most: int, span: tuple[float, float] | None, mesh: object, title: str | None,
    height: int,
) -> Any:  # fmt: skip
    """A widget that shows a Dataset, or follows the live store of a run, which need not have begun."""
    words = {"most": most, "span": span, "mesh": mesh, "title": title}
    made = widget_class()(height=height)
    if isinstance(source, xr.Dataset):
        made.show_run(label, source, words)
        return made
    store = Path(checked_path(source))
    if store.suffix != ".zarr":
        raise InvalidInput(f"a live view follows the store of a run, which ends in .zarr, not {str(store)!r}")
    if store.exists() and not is_store(store):
        raise FileProblem(f"{store} is not the live store of a run; leave live out")
    made.follow(store, label, words)
    return made


@cache
def widget_class() -> Any:
    """The class of the widget."""
    told = "for a live view the package anywidget is needed; pip install 'polhode[notebook]', or leave live out"
    anywidget, traitlets = extra("anywidget", told), extra("traitlets", told)

    class LiveView(anywidget.AnyWidget):  # type: ignore[misc, name-defined]
        """A view that grows with its run.


        Attributes
        ----------
        scene, arrays : str, bytes
            What is shown, as JSON and its numbers.
        told : str
            What there is to say while nothing is shown.
        going : bool
            Whether the run is followed.
        """

        _esm = MODULE.format(three=asset(THREE), viewer=viewer_scripts())
        _css = asset("viewer.css")
        scene = traitlets.Unicode("").tag(sync=True)
        arrays = traitlets.Bytes(b"").tag(sync=True)
        told = traitlets.Unicode("").tag(sync=True)
        going = traitlets.Bool(False).tag(sync=True)
        height = traitlets.Int(820).tag(sync=True)

        def __repr__(self) -> str:
            rest = "it goes on" if self.going else "it is not followed"
            return f"<live View: {rest}; stop(), wait()>"

        def show_run(self, label: str, ds: xr.Dataset, words: dict[str, Any]) -> None:
            """Show a Dataset in place of what is shown."""
            scene, arrays = scene_of([(label, ds)], **words)
            with self.hold_sync():
                self.arrays, self.scene = arrays, dumped(scene)

        def follow(self, store: Path, label: str, words: dict[str, Any]) -> None:
            """Follow a store in a thread of its own, until its run has ended."""
            self.going, self.told = True, f"waiting for {store}"
            self._stopped = threading.Event()
            self._follower = threading.Thread(target=self._look, args=(store, label, words), daemon=True)
            self._follower.start()

        def _look(self, store: Path, label: str, words: dict[str, Any]) -> None:
            try:
                self._follow(store, label, words)
            finally:
                self.going = False

        def _follow(self, store: Path, label: str, words: dict[str, Any]) -> None:
            seen, begun = (0, False), False
            while not self._stopped.is_set():
                running, ds = _so_far(store)
                begun = begun or ds is not None
                now = (0 if ds is None else int(ds.sizes["time"]), running)
                wait = LOOK_SECONDS
                if ds is not None and now != seen and now[0]:
                    start = time.perf_counter()
                    try:
                        self.show_run(label, ds, words)
                    except PolhodeError as problem:
                        self.told = str(problem)
                    wait = max(wait, PATIENCE * (time.perf_counter() - start))
                    seen = now
                if begun and not running:
                    break
                self._stopped.wait(wait)

        def wait(self, seconds: float | None = None) -> bool:
            """Wait until the run has ended and all of it is shown, at most so many seconds; whether it has."""
            follower = getattr(self, "_follower", None)
            if follower is not None:
                follower.join(seconds)
            return not self.going

        def stop(self) -> None:
            """Follow the run no more."""
            if getattr(self, "_stopped", None) is not None:
                self._stopped.set()

    return LiveView


def _so_far(store: Path) -> tuple[bool, Any]:
    """Whether a run writes to a store, and the rows that it has shown; None before there are any."""
    from polhode.runs.resume import load
    from polhode.runs.store import in_use

    if not is_store(store):
        return False, None
    running = in_use(store)  # before the rows are read, so that the last ones are not missed
    try:
        return running, load(store, lazy=True)
    except (FileProblem, json.JSONDecodeError, OSError):  # not yet there, or just being written
        return running, None
