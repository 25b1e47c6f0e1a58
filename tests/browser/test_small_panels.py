"""The panels in a small frame (a notebook's, say): one search box, what a form does in sight, and names that leave nothing blank."""

from __future__ import annotations

from typing import Callable

import pytest
from hostile import name_of, open_hostile
from panel_steps import match_proj_with_v, open_panel, panel
from playwright.sync_api import Page, expect
from viewer import Viewer, in_tensorboard, run_named, size_of_frame

CUT_PLACEHOLDER = """e => {
    const context = document.createElement('canvas').getContext('2d');
    context.font = getComputedStyle(e).font;
    const padding = parseFloat(getComputedStyle(e).paddingLeft) + parseFloat(getComputedStyle(e).paddingRight);
    return context.measureText(e.placeholder).width > e.clientWidth - padding;
}"""


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_there_is_one_search_box_and_its_hint_is_whole(new_page: Callable[..., Page], bug_tensorboard: str, bug_logs: str,
                                                       locale: str) -> None:
    page = new_page(locale=locale)
    size_of_frame(page, 800, 700)
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "qkv")).opened()
    boxes = viewer.frame.get_by_role("searchbox")
    expect(boxes).to_have_count(1)
    assert not boxes.evaluate(CUT_PLACEHOLDER)
    page.keyboard.press("s")
    expect(panel(viewer).get_by_role("searchbox")).to_be_visible()
    expect(boxes).to_have_count(1)
    assert not boxes.evaluate(CUT_PLACEHOLDER)


def test_who_writes_in_the_bars_box_goes_on_in_the_panels(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    size_of_frame(page, 800, 700)
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "qkv")).opened()
    page.keyboard.press("/")
    page.keyboard.type("linear_qkv", delay=5)
    expect(viewer.frame.get_by_role("searchbox")).to_have_value("linear_qkv")
    page.keyboard.press("Enter")
    viewer.wait("s.selection && s.selection.name.includes('linear_qkv')")


def test_the_list_of_hand_made_matches_is_one_click_away(qkv: Viewer) -> None:
    match_proj_with_v(qkv)
    size_of_frame(qkv.page, 800, 700)
    panel(qkv).get_by_role("button", name="↓").click()
    expect(panel(qkv).locator(".match-list .entry-row").first).to_be_in_viewport(ratio=1)


def test_the_button_that_converts_is_in_sight(page: Page, address: str, own_logs: str) -> None:
    run = run_named(own_logs, "qkv")
    size_of_frame(page, 800, 700)
    dumps = [{"name": "hf", "ranks": 1}, {"name": "npu", "ranks": 1}]
    page.route("**/dumps*", lambda route: route.fulfill(json={"dumps": dumps, "running": None}))
    viewer = in_tensorboard(page, address, run=run, panel="convert").opened()
    expect(panel(viewer).get_by_label("Golden")).to_be_visible()
    expect(panel(viewer).get_by_label("policy")).to_be_attached()  # the form of a comparison, which is the longer one
    expect(panel(viewer).get_by_role("button", name="Convert", exact=True)).to_be_in_viewport(ratio=1)


def test_more_than_one_proposal_is_in_sight(page: Page, address: str, own_logs: str) -> None:
    size_of_frame(page, 800, 700)
    viewer = in_tensorboard(page, address, run=run_named(own_logs, "doubtful"), panel="mapping").opened()
    panel(viewer).get_by_role("tab", name="Proposals").click()
    for row in range(2):
        expect(panel(viewer).locator(".entry-row").nth(row).get_by_role("button", name="Reject")).to_be_in_viewport(ratio=1)


def test_a_node_without_a_name_has_a_title(page: Page, address: str, own_logs: str) -> None:
    viewer = open_hostile(page, address, own_logs, "")
    assert viewer.snapshot()["selection"]["name"] == name_of("")
    expect(viewer.frame.locator(".details-head .title")).to_have_text("(no name)")


def test_a_message_of_the_mapping_is_said_once_on_the_rules_tab(qkv: Viewer) -> None:
    open_panel(qkv, "Layer mapping")
    panel(qkv).get_by_role("tab", name="Text").click()
    panel(qkv).get_by_label("Text of the mapping file").fill("TopLayer:\n  0.decoder.layers: model.layers\n  nowhere: model.norm\n")
    expect(panel(qkv).locator(".effect-messages")).to_contain_text("nowhere")
    panel(qkv).get_by_role("tab", name="Rules").click()
    expect(panel(qkv).locator(".problem", has_text="nowhere")).to_have_count(1)
    panel(qkv).get_by_role("tab", name="Text").click()
    panel(qkv).get_by_label("Text of the mapping file").fill("TopLayer:\n  0.decoder.layers: model.layers\nNoSuchClass:\n  a: b\n")
    panel(qkv).get_by_role("tab", name="Rules").click()
    expect(panel(qkv).locator(".rule-problem")).to_contain_text("NoSuchClass")
    said = panel(qkv).locator(".problem, .messages li").all_text_contents()
    assert len(said) == len(set(said)), said
