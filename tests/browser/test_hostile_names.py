"""Names come from dumps of anybody: whatever they hold is text everywhere, in the page and in what is copied from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hostile import HOSTILE, RUN, SCRIPT, name_of, nothing_ran, open_hostile
from panel_steps import NO_CLIPBOARD, panel, pasted, picture
from playwright.sync_api import Page, expect
from viewer import Viewer, run_named

from tb_graph_ascend.view_cli import main


@pytest.mark.parametrize("part", HOSTILE, ids=range(len(HOSTILE)))
def test_a_name_opens_by_its_address_and_stays_text(page: Page, address: str, own_logs: str, part: str) -> None:
    viewer = open_hostile(page, address, own_logs, part)
    assert viewer.snapshot()["selection"]["name"] == name_of(part)
    viewer.frame.get_by_role("button", name="Stack").click()
    expect(viewer.frame.locator(".stacks code").first).to_contain_text("<img")
    expect(viewer.frame.locator("[role=treeitem][aria-selected=true]")).not_to_have_count(0)  # the tree for screen readers comes later
    nothing_ran(viewer)


def test_an_address_with_a_hostile_name_survives_a_reload(page: Page, address: str, own_logs: str) -> None:
    viewer = open_hostile(page, address, own_logs, SCRIPT)
    viewer.page.keyboard.press("ArrowDown")
    viewer.wait(f"s.selection.name === {json.dumps(name_of(HOSTILE[1]))}")
    page.wait_for_function("location.hash.includes('svg')")
    viewer.reload().wait(f"s.selection && s.selection.name === {json.dumps(name_of(HOSTILE[1]))}")
    nothing_ran(viewer)


def test_what_is_copied_is_the_name_itself(page: Page, address: str, own_logs: str) -> None:
    page.add_init_script(NO_CLIPBOARD)
    viewer = open_hostile(page, address, own_logs, SCRIPT)
    viewer.frame.get_by_role("button", name="Copy").click()
    viewer.frame.get_by_role("button", name="names").click()
    assert pasted(viewer).split("\n") == [name_of(SCRIPT), name_of(SCRIPT)]
    nothing_ran(viewer)


def test_names_stay_text_in_the_exported_page(page: Page, bundle: str, own_logs: str, tmp_path: Path) -> None:
    output = tmp_path / "page.html"
    assert main(["export", str(Path(own_logs) / run_named(own_logs, RUN)), "-o", str(output)]) == 0
    assert "<img src=x" not in output.read_text(encoding="utf-8")
    page.goto(output.as_uri())
    viewer = Viewer(page, page).opened()
    page.fill("#search-box", "onerror kind:module")
    panel(viewer).locator("[role=option]").first.click()
    viewer.wait(f"s.selection && s.selection.name === {json.dumps(name_of(SCRIPT))}")
    page.get_by_role("button", name="Stack").click()
    expect(page.locator(".stacks code").first).to_contain_text("<img")
    nothing_ran(viewer)


def test_names_stay_text_in_a_picture_of_the_graphs(page: Page, address: str, own_logs: str) -> None:
    viewer = open_hostile(page, address, own_logs, SCRIPT)
    words = [text["words"] for text in picture(viewer)]  # the picture is put into the page: a script in it would run
    assert any(word.startswith("<img src=x") for word in words) and any("模型层" in word for word in words)
    assert any(word.startswith("a&b=<b>c/compare_") for word in words)
    nothing_ran(viewer)
