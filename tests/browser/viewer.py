"""Drives the viewer in a browser: opens it in TensorBoard or alone, reads what is on the screen, waits for it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Frame, Page

WAIT = 20.0  # seconds


@dataclass
class Viewer:
    """The viewer in its frame, or in a page of its own."""

    page: Page
    frame: Frame | Page
    sent: list[str] = field(default_factory=list)  # addresses requested from the plugin

    def snapshot(self) -> Any:
        """What is on the screen (static/src/state/snapshot.ts)."""
        return self.frame.evaluate("__tb_graph_ascend.snapshot()")

    def wait(self, condition: str) -> None:
        """Waits until a condition on the snapshot `s` holds: wait("s.selection !== null")."""
        self.wait_for(f"(() => {{ const s = globalThis.__tb_graph_ascend?.snapshot(); return !!s && !!({condition}); }})()")

    def wait_for(self, expression: str) -> None:
        """Waits until an expression is true in the frame. Asks again and again from outside: the page may forbid eval."""
        deadline = time.monotonic() + WAIT
        while not self.frame.evaluate(expression):
            if time.monotonic() > deadline:
                shown = self.frame.evaluate("globalThis.__tb_graph_ascend ? __tb_graph_ascend.snapshot() : document.body.innerText")
                raise AssertionError(f"waited {WAIT} s in vain for: {expression}\non the screen: {str(shown)[:2000]}")
            self.page.wait_for_timeout(30)

    def still(self) -> Any:
        """Waits until nothing moves any more, so that a place on the screen can be clicked; returns the snapshot."""
        deadline = time.monotonic() + WAIT
        before, now = None, self.snapshot()
        while before is None or any(before[part] != now[part] for part in ("camera", "boxes", "loading", "details")):
            assert time.monotonic() < deadline, "the graphs do not come to rest"
            self.page.wait_for_timeout(60)
            before, now = now, self.snapshot()
        return now

    def opened(self) -> Viewer:
        """Waits until a graph is open and drawn."""
        self.wait("s.chosen && !s.loading && s.nodes.target > 0 && s.boxes.length > 0")
        return self


def alone(page: Page, address: str, **fields: str | int) -> Viewer:
    """Opens the page of graph-view serve; `fields` go into the address (run="qwen2/compare_…", node="…")."""
    page.goto(f"{address}/#{_hash(fields)}")
    return Viewer(page, page)


def _hash(fields: dict[str, str | int]) -> str:
    return "&".join(f"p.tb_graph_ascend.{name}={quote(str(value), safe='')}" for name, value in fields.items())


def in_tensorboard(page: Page, address: str, **fields: str | int) -> Viewer:
    """Opens the plugin's tab of TensorBoard; `fields` as in `alone`."""
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if "/data/plugin/tb_graph_ascend/" in request.url else None)
    fragment = "&".join(filter(None, ("tb_graph_ascend", _hash(fields))))
    page.goto(f"{address}/#{fragment}", wait_until="domcontentloaded")
    viewer = Viewer(page, plugin_frame(page), sent)
    viewer.wait_for("!!globalThis.__tb_graph_ascend")
    return viewer


def plugin_frame(page: Page) -> Frame:
    """The frame that TensorBoard made for the plugin."""
    for _ in range(200):
        for frame in page.frames:
            if "plugin_entry.html?name=tb_graph_ascend" in frame.url:
                return frame
        page.wait_for_timeout(50)
    raise AssertionError(f"TensorBoard did not open the plugin's frame, only {[frame.url for frame in page.frames]}")


def run_named(logs: str, part: str) -> str:
    """The run of `logs` in the folder `part`, as the viewer names it."""
    name, = (name for name in os.listdir(os.path.join(logs, part)) if name.startswith(("compare_", "build_")))
    return f"{part}/{name}"
