"""Marks: hidden from lists and counts, and taken over by the next comparison."""

from __future__ import annotations

import re

from panel_steps import PROJ, QKV, details_title, match_proj_with_v, matches_file, open_panel, opened_at_cause, panel, written
from playwright.sync_api import Page, expect
from viewer import Viewer, in_tensorboard, run_named


def test_marked_nodes_are_hidden_from_lists_and_counts_by_a_switch(qkv: Viewer, own_logs: str) -> None:
    chip = qkv.frame.locator(".chip", has_text="parameter")
    expect(chip).to_contain_text("1")
    qkv.frame.get_by_role("button", name="Expected…").click()
    expect(panel(qkv).get_by_label("Hide marked nodes from lists and counts")).to_be_visible()
    panel(qkv).get_by_label("Why").fill("known <b>bug</b>")
    panel(qkv).get_by_role("button", name="Mark", exact=True).click()
    expect(panel(qkv).locator(".entry-row")).to_contain_text("known <b>bug</b>")
    panel(qkv).get_by_label(re.compile("Hide 1 marked")).check()
    expect(chip).to_contain_text("0")
    assert written(qkv, own_logs, lambda kept: bool(kept["triage"]))["triage"][0]["nodes"] == QKV
    open_panel(qkv, "Findings, in call order")
    expect(panel(qkv).locator("[role=option]")).to_have_count(0)


def test_with_marks_hidden_the_verdict_and_the_strip_go_on_to_the_next_cause(qkv: Viewer) -> None:
    forward = qkv.frame.locator(".verdict").locator(".card").first
    expect(forward).to_contain_text("linear_qkv")
    qkv.frame.get_by_role("button", name="Expected…").click()
    panel(qkv).get_by_role("button", name="Mark", exact=True).click()
    expect(forward).to_contain_text("linear_qkv")  # nothing changes before it is hidden
    panel(qkv).get_by_label(re.compile("Hide 1 marked")).check()
    expect(forward).to_contain_text("nothing else")
    expect(qkv.frame.locator(".legend")).to_contain_text("marked as expected")
    open_panel(qkv, "Findings, in call order")
    qkv.frame.get_by_role("button", name="1 marked as expected").first.click()
    expect(panel(qkv).get_by_role("heading", name="Expected and ignored")).to_be_visible()


def test_marked_nodes_are_still_found_by_whoever_asks_for_them(qkv: Viewer) -> None:
    qkv.frame.get_by_role("button", name="Expected…").click()
    panel(qkv).get_by_role("button", name="Mark", exact=True).click()
    panel(qkv).get_by_label(re.compile("Hide 1 marked")).check()
    panel(qkv).locator(".entry-row .node-link").click()
    expect(panel(qkv).locator("[role=option]")).to_have_count(1)


def test_the_next_comparison_takes_over_what_is_known(page: Page, address: str, own_logs: str) -> None:
    first = opened_at_cause(page, address, own_logs, "qkv")
    match_proj_with_v(first)
    written(first, own_logs, lambda kept: len(kept["matches"]) == 2)
    viewer = in_tensorboard(page, address, run=run_named(own_logs, "next"), node=PROJ, panel="triage").opened()
    viewer.wait(f"s.selection && s.selection.name === '{PROJ}'")
    expect(details_title(viewer)).to_contain_text("linear_proj ↔ o_proj")
    panel(viewer).get_by_label("Take over from…").select_option(run_named(own_logs, "qkv"))
    expect(viewer.frame.locator(".toast")).to_have_text("2 entries taken over")
    expect(details_title(viewer)).to_contain_text("linear_proj ↔ v_proj")
    assert written(viewer, own_logs, lambda kept: len(kept["matches"]) == 2, run="next")


def test_a_rule_marks_the_same_node_of_every_layer_and_is_remembered_after_a_reload(qkv: Viewer, own_logs: str) -> None:
    qkv.page.keyboard.press("e")
    panel(qkv).get_by_label(re.compile("the same in every layer")).check()
    expect(panel(qkv).locator("fieldset")).to_contain_text("layers.*.self_attention.linear_qkv")
    panel(qkv).get_by_label("of no interest").check()
    panel(qkv).get_by_role("button", name="Mark", exact=True).click()
    expect(panel(qkv).locator(".entry-row")).to_contain_text("4 nodes")
    expect(panel(qkv)).to_contain_text("Kept in rank0.matches.yaml")
    assert matches_file(own_logs)["triage"][0]["verdict"] == "ignored"
    qkv.page.wait_for_function("location.hash.includes('panel=triage')")
    qkv.reload()
    expect(panel(qkv).locator(".entry-row")).to_contain_text("4 nodes")
    panel(qkv).locator(".entry-row").get_by_role("button", name=re.compile("layers")).click()
    expect(panel(qkv).locator("[role=option]").first).to_have_attribute("aria-setsize", re.compile("[48]"))
