"""A mapping applied in the viewer: kept beside the graph, in force again for the next one and in exported pages; undone like a match."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Callable

import pytest
from panel_steps import matches_file, open_panel, panel
from playwright.sync_api import Page, Route, expect
from viewer import Viewer, forget_refusals, in_tensorboard, run_named

from tb_graph_ascend.view_cli import main

TEMPLATE = "megatron_core_to_hf_qwen2"


def _apply(viewer: Viewer) -> None:
    open_panel(viewer, "Layer mapping")
    panel(viewer).get_by_label("Template…").select_option(TEMPLATE)
    expect(panel(viewer).locator(".effect")).to_contain_text("pairs")
    panel(viewer).get_by_role("button", name="Apply", exact=True).click()
    expect(panel(viewer)).to_contain_text(f"In force: {TEMPLATE}.yaml")
    expect(panel(viewer)).to_contain_text("Kept in rank0.matches.yaml")


def test_an_applied_mapping_is_in_force_again_after_a_reload(qkv: Viewer, own_logs: str) -> None:
    _apply(qkv)
    assert "linear_qkv" in matches_file(own_logs)["mapping"]["text"]
    qkv.page.wait_for_function("location.hash.includes('panel=mapping')")
    qkv.reload()
    expect(panel(qkv)).to_contain_text(f"In force: {TEMPLATE}.yaml")
    expect(qkv.frame.locator(".details-head")).to_contain_text("how: mapping")


def test_undo_puts_the_former_mapping_into_force(qkv: Viewer, own_logs: str) -> None:
    _apply(qkv)
    open_panel(qkv, "Match by hand")
    panel(qkv).get_by_role("button", name="Undo").click()
    expect(qkv.frame.locator(".details-head")).to_contain_text("how: structural")
    open_panel(qkv, "Layer mapping")
    expect(panel(qkv)).to_contain_text("No mapping file is in force")
    assert matches_file(own_logs).get("mapping") is None


def test_an_exported_page_shows_the_pairs_of_the_applied_mapping(qkv: Viewer, own_logs: str, tmp_path: Path) -> None:
    _apply(qkv)
    output = tmp_path / "page.html"
    assert main(["export", os.path.join(own_logs, run_named(own_logs, "qkv")), "-o", str(output)]) == 0
    qkv.page.goto(output.as_uri())
    exported = Viewer(qkv.page, qkv.page).opened()
    expect(exported.frame.locator(".details-head")).to_contain_text("how: mapping")


def test_the_policy_of_the_verdicts_is_in_the_address(qkv: Viewer) -> None:
    open_panel(qkv, "Layer mapping")
    policy = panel(qkv).get_by_label("Judged by policy")
    policy.select_option("msprobe")
    qkv.page.wait_for_url("**policy=msprobe**")
    qkv.reload()
    expect(panel(qkv).get_by_label("Judged by policy")).to_have_value("msprobe")


def test_a_policy_that_is_not_there_does_not_keep_the_mapping_out_of_force(qkv: Viewer, own_logs: str, address: str) -> None:
    _apply(qkv)
    again = in_tensorboard(qkv.page, address, run=run_named(own_logs, "qkv"), policy="nonsense").opened()
    expect(again.frame.locator(".details-head")).to_contain_text("how: mapping")
    forget_refusals(qkv.page, 422)


@pytest.mark.parametrize(("locale", "words"), [("en-US", "Applying the kept mapping…"), ("zh-CN", "正在应用已保存的映射…")])
def test_until_a_kept_mapping_is_in_force_nobody_takes_the_files_own_pairs_for_the_result(
    qkv: Viewer, new_page: Callable[..., Page], own_logs: str, address: str, locale: str, words: str,
) -> None:
    _apply(qkv)
    page = new_page(locale=locale)
    held: list[Route] = []
    page.route("**/rematch*", lambda route: held.append(route))
    viewer = in_tensorboard(page, address, run=run_named(own_logs, "qkv")).opened()
    status = viewer.frame.locator(".verdict [role=status]")
    expect(status).to_contain_text(words)
    expect(status).to_be_in_viewport(ratio=1)
    expect(viewer.frame.locator(".verdict")).to_have_attribute("aria-busy", "true")
    for route in held:
        route.continue_()
    expect(status).to_have_count(0)
    expect(viewer.frame.locator(".verdict")).to_have_attribute("aria-busy", "false")
    viewer.wait("s.details && s.details.rows > 0")
    expect(viewer.frame.locator(".details-head")).to_contain_text("mapping" if locale == "en-US" else "映射文件")


def test_another_tab_of_the_browser_takes_over_the_mapping_at_once(qkv: Viewer, own_logs: str, address: str) -> None:
    other = in_tensorboard(qkv.page.context.new_page(), address, run=run_named(own_logs, "qkv")).opened()
    expect(other.frame.locator(".details-head")).to_contain_text("how: structural")
    _apply(qkv)
    expect(other.frame.locator(".toast")).to_contain_text("changed in another tab")
    expect(other.frame.locator(".details-head")).to_contain_text("how: mapping")
    open_panel(other, "Layer mapping")
    expect(panel(other)).to_contain_text(f"In force: {TEMPLATE}.yaml")
    open_panel(qkv, "Match by hand")
    panel(qkv).get_by_role("button", name="Undo").click()
    expect(panel(other)).to_contain_text("No mapping file is in force")
