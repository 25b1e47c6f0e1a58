"""In TensorBoard: from the verdict, the counts and the layer strip to the nodes they speak of."""

from __future__ import annotations

import re

import pytest
from panel_steps import QKV, panel
from playwright.sync_api import Page, expect
from viewer import Viewer, in_tensorboard, run_named


@pytest.mark.parametrize("card", ["Forward", "Parameters"])
def test_a_verdict_leads_to_its_node_and_centres_it(bug: Viewer, card: str) -> None:
    bug.page.keyboard.press("End")
    bug.wait(f"s.selection.name !== '{QKV}'")
    bug.frame.get_by_role("region", name="Verdict").get_by_role("button", name=re.compile(f"^{card}")).click()
    bug.wait(f"s.selection.name === '{QKV}' && s.boxes.some(b => b.name === '{QKV}' && b.y > 0)")


@pytest.mark.parametrize("word", ["inherited", "amplified", "clean"])
def test_a_count_lists_just_the_nodes_that_it_counts(bug: Viewer, word: str) -> None:
    chip = bug.frame.locator(".chip", has_text=word)
    count = chip.locator("b").inner_text()
    chip.click()
    expect(panel(bug).locator("[role=option]").first).to_have_attribute("aria-setsize", count)
    expect(panel(bug).locator("[aria-pressed=true]")).to_contain_text(word)


def test_the_layer_strip_is_read_and_followed_by_keys(bug: Viewer) -> None:
    bug.frame.locator(".strip-grid").focus()
    for key in ("Home", "ArrowRight", "ArrowDown"):
        bug.page.keyboard.press(key)
    read = re.compile("^Layers: layer 1 · self_attention.linear_qkv: clean ")
    expect(bug.frame.locator(".strip-grid")).to_have_attribute("aria-label", read)
    bug.page.keyboard.press("Enter")
    bug.wait("s.selection.name.includes('layers.1.self_attention.linear_qkv')")


def test_a_notebooks_frame_says_whether_where_and_why_at_once(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    page.set_viewport_size({"width": 800, "height": 700})
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "qkv")).opened()
    card = viewer.frame.locator(".card").first
    expect(card).to_contain_text("linear_qkv")
    expect(card).to_contain_text("its bias differs")
    golden = "Module.model.layers.2.self_attn.q_proj.Linear.forward.0"
    viewer.wait(f"['{QKV}', '{golden}'].every(name => s.boxes.some(b => b.name === name && b.y > 0 && b.width > 200))")
    expect(viewer.frame.get_by_role("row").filter(has_text="bias").first).to_be_in_viewport()
    assert viewer.frame.evaluate("(page => page.scrollWidth <= innerWidth && page.scrollHeight <= innerHeight)(document.documentElement)")
