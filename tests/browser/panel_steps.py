"""What a person does in the panels: opens one, clicks a box, matches two nodes; and what is to be seen of it."""

from __future__ import annotations

import os
import time
from typing import Any, Callable

import yaml
from playwright.sync_api import Page, expect
from tensorboard_process import TOP
from viewer import WAIT, Viewer, in_tensorboard, run_named, size_of_frame

DATA = os.path.join(TOP, "tests", "data")
LAYER = "Module.0.decoder.layers.2.self_attention"
QKV = f"{LAYER}.linear_qkv.ColumnParallelLinear.forward.0"
PROJ = f"{LAYER}.linear_proj.RowParallelLinear.forward.0"
O_PROJ = "Module.model.layers.2.self_attn.o_proj.Linear.forward.0"
V_PROJ = "Module.model.layers.2.self_attn.v_proj.Linear.forward.0"
NO_CLIPBOARD = "Object.defineProperty(navigator, 'clipboard', {value: undefined})"  # as on plain http://address:port


def opened_at_cause(page: Page, address: str, logs: str, run: str) -> Viewer:
    """A run of which "qkv" is the original, in a frame that holds a whole layer."""
    size_of_frame(page, 1600, 1200)
    viewer = in_tensorboard(page, address, run=run_named(logs, run)).opened()
    viewer.wait(f"s.selection && s.selection.name === '{QKV}'")
    return viewer


def open_panel(viewer: Viewer, name: str) -> None:
    viewer.frame.get_by_role("navigation", name="Panels").get_by_role("button", name=name, exact=True).click()


def center(viewer: Viewer, side: str, name: str) -> tuple[float, float]:
    """A point in the header of a box, on the page."""
    place = next(item for item in viewer.still()["boxes"] if item["side"] == side and item["name"] == name)
    host = viewer.frame.locator(".canvas-host").bounding_box()
    assert host
    return host["x"] + place["x"] + min(120, place["width"] / 2), host["y"] + place["y"] + 8


def click(viewer: Viewer, side: str, name: str, **more: Any) -> None:
    viewer.page.mouse.move(0, 0)
    if more.get("modifiers"):
        viewer.page.keyboard.down(more["modifiers"])
    viewer.page.mouse.click(*center(viewer, side, name))
    if more.get("modifiers"):
        viewer.page.keyboard.up(more["modifiers"])


def panel(viewer: Viewer) -> Any:
    return viewer.frame.locator("aside.panel")


def details_title(viewer: Viewer) -> Any:
    return viewer.frame.locator(".details-head .title")


def matches_file(logs: str, run: str = "qkv", graph: str = "step0/rank0") -> Any:
    """What is kept beside a graph; None where there is no file."""
    path = os.path.join(logs, *run_named(logs, run).split("/"), *f"{graph}.matches.yaml".split("/"))
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as stream:
        return yaml.safe_load(stream)


def written(viewer: Viewer, logs: str, wanted: Callable[[Any], bool], run: str = "qkv") -> Any:
    """What is kept beside the graph of `run` as soon as it is as `wanted`: the viewer writes a moment after what it shows."""
    deadline = time.monotonic() + WAIT
    while True:
        kept = matches_file(logs, run)
        if kept is not None and wanted(kept):
            return kept
        assert time.monotonic() < deadline, f"waited {WAIT} s in vain for another content than {kept}"
        viewer.page.wait_for_timeout(30)


def match_proj_with_v(viewer: Viewer) -> None:
    open_panel(viewer, "Match by hand")
    click(viewer, "target", PROJ)
    viewer.wait(f"s.selection.name === '{PROJ}'")
    click(viewer, "golden", V_PROJ)
    viewer.wait(f"s.selection.name === '{V_PROJ}'")
    panel(viewer).get_by_role("button", name="Match", exact=True).click()
    expect(details_title(viewer)).to_contain_text("linear_proj ↔ v_proj")


def pasted(viewer: Viewer) -> str:
    """What Ctrl+V pastes now."""
    viewer.frame.evaluate("document.body.append(Object.assign(document.createElement('textarea'), {id: 'pasted'}))")
    viewer.frame.locator("#pasted").focus()
    viewer.page.keyboard.press("Control+v")
    return viewer.frame.locator("#pasted").input_value()


def picture(viewer: Viewer) -> list[dict[str, Any]]:
    """Every text in the graphs as they are drawn, with its place: read from the picture that the panel Share saves as SVG."""
    if panel(viewer).count() == 0 or panel(viewer).get_attribute("aria-label") != "Share":
        open_panel(viewer, "Share")
    with viewer.page.expect_download() as download:
        panel(viewer).get_by_role("button", name="SVG", exact=True).click()
    with open(download.value.path(), encoding="utf-8") as stream:
        svg = stream.read()
    return viewer.frame.evaluate(
        """svg => {
          const root = document.importNode(new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement, true);
          document.body.append(root);
          const { width, height } = root.viewBox.baseVal;
          const found = [...root.querySelectorAll('text')].map(text => {
            const box = text.getBBox();
            return { words: text.textContent, left: box.x, right: box.x + box.width, top: box.y, width, caption: box.y > height - 46 };
          });
          root.remove();
          return found;
        }""",
        svg,
    )
