"""Drives the viewer in a browser: opens it in TensorBoard, reads what is on the screen, waits for it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Frame, Page, Request

WAIT = 20.0  # seconds
HEADER = 64  # pixels that TensorBoard's own bar takes of a page's height


@dataclass
class Viewer:
    """The viewer in its frame, or in a page of its own."""

    page: Page
    frame: Frame | Page
    sent: list[str] = field(default_factory=list, repr=False)  # addresses that the viewer asked for since the page was opened
    under_way: set[Request] = field(default_factory=set, repr=False)  # those of them that are not answered yet

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

    def settled(self) -> Any:
        """Waits until everything that the viewer asked for is answered and nothing moves any more; returns the snapshot."""
        deadline = time.monotonic() + WAIT
        while True:
            now = self.still()
            if not self.under_way:
                return now
            assert time.monotonic() < deadline, f"no answer: {[request.url for request in self.under_way]}"

    def opened(self) -> Viewer:
        """Waits until a graph is open and drawn."""
        self.wait("s.chosen && !s.loading && s.nodes.target > 0 && s.boxes.length > 0")
        return self

    def reload(self) -> Viewer:
        """Loads the page around again, as F5 does, and waits until a graph is open in the new frame."""
        self.page.reload(wait_until="domcontentloaded")
        return self.found_again()

    def found_again(self) -> Viewer:
        """The same after the page around was loaded again: in the new frame, once a graph is open there."""
        self.frame = plugin_frame(self.page)
        return self.opened()


def in_tensorboard(page: Page, address: str, **fields: str | int) -> Viewer:
    """Opens the plugin's tab of TensorBoard; `fields` go into the address (run="qwen2/compare_…", node="…")."""
    sent: list[str] = []
    under_way: set[Request] = set()

    def asked(request: Request) -> None:
        if not request.is_navigation_request() and _is_the_plugins(request.frame):
            sent.append(request.url)
            under_way.add(request)

    page.on("request", asked)
    page.on("requestfinished", lambda request: under_way.discard(request))
    page.on("requestfailed", lambda request: under_way.discard(request))
    parts = (f"p.tb_graph_ascend.{name}={quote(str(value), safe='')}" for name, value in fields.items())
    viewer = opened_at(page, f"{address}/#{'&'.join(('tb_graph_ascend', *parts))}")
    return Viewer(page, viewer.frame, sent, under_way)


def opened_at(page: Page, address: str) -> Viewer:
    """The viewer at a whole address, as somebody pastes it."""
    if page.url != "about:blank":
        page.goto("about:blank")  # another hash alone would not load the page again
    page.goto(address, wait_until="domcontentloaded")
    return Viewer(page, plugin_frame(page))


def plugin_frame(page: Page) -> Frame:
    """The frame that TensorBoard made for the plugin, once the viewer has started in it."""
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        for frame in page.frames:
            if _is_the_plugins(frame) and frame.evaluate("!!globalThis.__tb_graph_ascend"):
                return frame
        page.wait_for_timeout(30)
    raise AssertionError(f"TensorBoard did not open the plugin's frame, only {[frame.url for frame in page.frames]}")


def size_of_frame(page: Page, width: int, height: int) -> None:
    """Gives the plugin's frame that size: the page becomes higher by TensorBoard's own bar."""
    page.set_viewport_size({"width": width, "height": height + HEADER})


def forget_refusals(page: Page, status: int) -> None:
    """Chromium logs every answer of that status as an error: here it is one that the test has provoked."""
    problems = page.problems  # type: ignore[attr-defined]
    problems[:] = [text for text in problems if f"status of {status}" not in text]


def _is_the_plugins(frame: Frame) -> bool:
    return "plugin_entry.html?name=tb_graph_ascend" in frame.url


def run_named(logs: str, part: str) -> str:
    """The run of `logs` in the folder `part`, as the viewer names it."""
    name, = (name for name in os.listdir(os.path.join(logs, part)) if name.startswith(("compare_", "build_")))
    return f"{part}/{name}"
