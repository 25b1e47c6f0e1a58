"""The exported page: opens from a disk, shows the same, and asks for nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
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


@pytest.fixture
def exported(page: Page, bundle: str, logs: str, tmp_path: Path) -> Viewer:
    """The exported page of "megatron", opened from the disk."""
    output = tmp_path / "page.html"
    assert main(["export", os.path.join(logs, run_named(logs, "megatron")), "-o", str(output)]) == 0
    page.goto(output.as_uri())
    return Viewer(page, page).opened()


@pytest.mark.parametrize(("language", "false", "true"), [
    ("en", ("this server", "log directory", "beside the graph"),
     ("What is in this file", "stay in this browser", "To change it and match again")),
    ("zh", ("此服务器", "日志目录", "图旁"),
     ("本文件的内容", "只保存在本浏览器中", "如需修改并重新匹配")),
])
def test_no_panel_of_an_exported_page_speaks_of_what_is_not_there(
    exported: Viewer, language: str, false: tuple[str, ...], true: tuple[str, ...]
) -> None:
    if language == "zh":
        exported.page.get_by_role("button", name="切换到中文").click()
    rail = exported.page.locator(".rail button")
    words = ""
    for number in range(rail.count()):
        if rail.nth(number).get_attribute("aria-pressed") != "true":
            rail.nth(number).click()
        words += exported.page.locator(".panel").inner_text()
    assert [text for text in false if text in words] == []
    assert [text for text in true if text not in words] == []
    assert exported.page.get_by_role("alert").count() == 0


def test_a_mark_made_in_an_exported_page_can_be_downloaded(exported: Viewer) -> None:
    page = exported.page
    exported.wait("s.boxes.length > 3")
    page.keyboard.press("ArrowDown")
    exported.wait("s.selection")
    page.get_by_role("button", name="Expected and ignored").click()
    page.get_by_role("button", name="Mark", exact=True).click()
    expect(page.get_by_text("Kept in this browser only")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as YAML").click()
    content = download.value.path().read_text(encoding="utf-8")
    assert exported.snapshot()["selection"]["name"] in content and "expected" in content
