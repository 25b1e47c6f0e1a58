"""The exported page: opens from a disk, shows the same, and asks for nothing."""

from __future__ import annotations

import os

from playwright.sync_api import Page
from viewer import Viewer, run_named

from tb_graph_ascend.view_cli import main

WRONG = "Module.model.layers.12.mlp.down_proj.Linear.forward.0"


def test_the_page_opens_from_a_file_without_any_request(page: Page, bundle: str, logs: str, tmp_path) -> None:
    output = tmp_path / "面 page.html"
    assert main(["export", os.path.join(logs, run_named(logs, "qwen2")), "-o", str(output)]) == 0
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if not request.url.startswith(("data:", "blob:")) else None)
    page.goto(output.as_uri())
    viewer = Viewer(page, page).opened()
    viewer.wait(f"s.selection && s.selection.name === '{WRONG}' && s.details && s.details.rows > 0")
    assert asked == [output.as_uri()]
