"""A headless Chromium driven by its DevTools protocol: pages, what they ask for, what they complain of, keys, pixels.

Chromium is found by its usual names or by ``POLHODE_CHROMIUM``; without one, ``chromium`` says so and the test is
skipped. The protocol is spoken through tornado, which Jupyter brings, so the tests need no browser package.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--remote-debugging-port=0", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-sync",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--hide-scrollbars",
    "--password-store=basic", "--mute-audio", "--force-color-profile=srgb",
    "--disable-gpu-compositing", "--webgl-antialiasing-mode=none",
)  # fmt: skip
PATIENCE = 60.0
"""Seconds within which a page does what is waited for, on a slow machine."""
KEYS = {
    " ": ("Space", 32), "Home": ("Home", 36), "End": ("End", 35), "ArrowLeft": ("ArrowLeft", 37), "Tab": ("Tab", 9),
    "ArrowRight": ("ArrowRight", 39), "Enter": ("Enter", 13), ".": ("Period", 190), ",": ("Comma", 188),
    "0": ("Digit0", 48),
}  # fmt: skip


def found() -> str | None:
    """The program, if there is one."""
    named = os.environ.get("POLHODE_CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


def chromium() -> str:
    """The program; a test is skipped where there is none."""
    program = found()
    if program is None:
        pytest.skip("no browser: install chromium (Debian: apt-get install chromium), or name one by POLHODE_CHROMIUM")
    return program


class Browser:
    """One process of Chromium with a profile of its own. A context manager."""

    def __init__(self, *flags: str) -> None:
        self.folder = tempfile.mkdtemp(prefix="polhode-browser-")
        command = [chromium(), *FLAGS, *flags, f"--user-data-dir={self.folder}", "about:blank"]
        with (Path(self.folder) / "log").open("wb") as log:  # which the browser goes on writing
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        self.loop = asyncio.new_event_loop()
        self.number = 0
        self.pages: dict[str, Page] = {}
        try:
            self.socket = self.loop.run_until_complete(self._connect())
        except BaseException:
            self.close()
            raise

    async def _connect(self):
        from tornado.websocket import websocket_connect

        told, end = Path(self.folder) / "DevToolsActivePort", time.monotonic() + PATIENCE
        while not (told.exists() and len(told.read_text().splitlines()) == 2):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("the browser did not start:\n" + (Path(self.folder) / "log").read_text()[-2000:])
            await asyncio.sleep(0.05)
        port, path = told.read_text().splitlines()
        return await websocket_connect(f"ws://127.0.0.1:{port}{path}", max_message_size=2**28)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process and leave nothing behind."""
        if hasattr(self, "socket"):
            self.loop.run_until_complete(self._leave())
        self.loop.close()
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _leave(self):
        self.socket.close()  # within the loop, else tornado makes one that nobody closes
        await asyncio.sleep(0)

    def send(self, method: str, session: str | None = None, **words):
        """The answer to a command; what pages report meanwhile is kept with them."""
        return self.loop.run_until_complete(asyncio.wait_for(self._send(method, session, words), 2 * PATIENCE))

    async def _send(self, method, session, words):
        self.number += 1
        message = {"id": self.number, "method": method, "params": words} | ({"sessionId": session} if session else {})
        await self.socket.write_message(json.dumps(message))
        while True:
            text = await self.socket.read_message()
            if text is None:
                raise RuntimeError("the browser has gone")
            answer = json.loads(text)
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if answer.get("sessionId") in self.pages:
                self.pages[answer["sessionId"]].hear(answer["method"], answer["params"])

    def open(self, address: str, size: tuple[int, int] = (1000, 800), before: str = "", **features: str) -> Page:
        """A page of its own, loaded after a script; ``features`` are media features such as
        ``prefers_color_scheme="dark"``."""
        return Page(self, address, size, before, features)


class Page:
    """A tab: ``requests`` are the addresses it asked for, ``complaints`` its errors, warnings and refusals."""

    def __init__(
        self, browser: Browser, address: str, size: tuple[int, int], before: str, features: dict[str, str]
    ) -> None:
        self.browser, self.requests, self.complaints = browser, [], []
        self.target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.send("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.look(size, **features)
        self.send("Page.addScriptToEvaluateOnNewDocument", source=before)
        self.send("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def look(self, size: tuple[int, int], **features: str) -> None:
        """In front of all pages, of this size, with these media features."""
        width, height = size
        self.send("Page.bringToFront")
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        named = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.send("Emulation.setEmulatedMedia", features=named)

    def send(self, method: str, **words):
        return self.browser.send(method, self.session, **words)

    def hear(self, method: str, words: dict) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(words["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = words["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and words["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(one.get("value", "")) for one in words["args"]))
        elif method == "Log.entryAdded" and words["entry"]["level"] in ("error", "warning"):
            text = words["entry"]["text"]
            if "GPU stall" not in text and "GL Driver Message" not in text:  # of drawing by software
                self.complaints.append(text)

    def do(self, script: str):
        """The value of an expression, awaited, as JSON has it; no eval is allowed that the page's policy refuses."""
        answer = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True,
                           allowUnsafeEvalBlockedByCSP=False)  # fmt: skip
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def wait(self, condition: str, patience: float = PATIENCE) -> None:
        """Until an expression is true."""
        end = time.monotonic() + patience
        while True:
            try:
                if self.do(f"Boolean({condition})"):
                    return
            except RuntimeError:  # the page is just being replaced
                pass
            assert time.monotonic() < end, f"the page never had {condition}; it complained of {self.complaints}"
            self.drawn()

    def drawn(self) -> None:
        """Until what was asked for has been drawn."""
        self.do("new Promise((done) => { setTimeout(done, 1000);"
                " requestAnimationFrame(() => requestAnimationFrame(() => done())); })")  # fmt: skip

    def key(self, key: str) -> None:
        code, number = KEYS.get(key, (f"Key{key.upper()}", ord(key[0].upper())))
        words = {"key": key, "code": code, "windowsVirtualKeyCode": number}
        text = {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", **words, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", **words)
        self.drawn()

    def mouse(self, *places: tuple[float, float]) -> None:
        """Press at the first place, move to the others, release at the last."""
        button = {"button": "left", "clickCount": 1}
        self.send("Input.dispatchMouseEvent", type="mousePressed", x=places[0][0], y=places[0][1], **button)
        for x, y in places[1:]:
            self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, button="left")
        self.send("Input.dispatchMouseEvent", type="mouseReleased", x=places[-1][0], y=places[-1][1], **button)
        self.drawn()

    def place(self, selector: str) -> tuple[float, float, float, float]:
        """Left, top, width and height of an element, brought into view."""
        return tuple(self.do(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'nearest'}); const r = e.getBoundingClientRect();"
            " return [r.left, r.top, r.width, r.height]; })()"
        ))  # fmt: skip

    def click(self, selector: str, x: float = 0.5, y: float = 0.5) -> None:
        """Click an element, at a place in its width and height."""
        left, top, width, height = self.place(selector)
        self.mouse((left + x * width, top + y * height))

    def pixels(self, selector: str = "canvas") -> np.ndarray:
        """What is seen of an element, (height, width, 3)."""
        from PIL import Image

        self.drawn()
        left, top, width, height = self.place(selector)
        clip = {"x": left, "y": top, "width": width, "height": height, "scale": 1}
        data = self.send("Page.captureScreenshot", format="png", clip=clip)["data"]
        with Image.open(io.BytesIO(base64.b64decode(data))) as picture:
            return np.asarray(picture.convert("RGB")).astype(int)

    def close(self) -> None:
        self.browser.send("Target.closeTarget", targetId=self.target)
        self.browser.pages.pop(self.session, None)
