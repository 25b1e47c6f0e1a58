"""Matching by hand: picking and dragging, groups, undo, other writers, read-only directories, and what is kept."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Callable

import yaml
from comparisons import convert
from panel_steps import (
    DATA,
    O_PROJ,
    PROJ,
    V_PROJ,
    center,
    click,
    details_title,
    match_proj_with_v,
    matches_file,
    open_panel,
    opened_at_cause,
    panel,
    written,
)
from playwright.sync_api import Page, expect
from viewer import Viewer, forget_refusals


def test_two_clicks_and_a_button_match_measure_and_keep(qkv: Viewer, own_logs: str) -> None:
    match_proj_with_v(qkv)
    expect(qkv.frame.locator(".details-head")).to_contain_text("manual")
    qkv.wait("s.details && s.details.rows > 2")
    entries = written(qkv, own_logs, lambda kept: bool(kept["matches"]))["matches"]
    assert [(entry["action"], entry["target"], entry["golden"]) for entry in entries] == [
        ("match", [PROJ], [V_PROJ]), ("match", [PROJ.replace("forward", "backward")], [V_PROJ.replace("forward", "backward")])]
    assert all(entry["time"].endswith("Z") for entry in entries)


def test_what_was_matched_is_there_again_after_reload_and_for_graph_convert(qkv: Viewer, own_logs: str, tmp_path: Path) -> None:
    match_proj_with_v(qkv)
    written(qkv, own_logs, lambda kept: len(kept["matches"]) == 2)
    qkv.page.wait_for_function(f"location.hash.includes('{PROJ}')")
    qkv.reload()
    qkv.wait(f"s.selection && s.selection.name === '{PROJ}'")
    expect(details_title(qkv)).to_contain_text("linear_proj ↔ v_proj")
    file = next(Path(own_logs).glob("qkv/*/step0/rank0.matches.yaml"))
    sides = ("-tp", f"{DATA}/megatron_vs_hf/megatron_bug_qkv_bias", "-gp", f"{DATA}/megatron_vs_hf/hf")
    convert(str(tmp_path / "again"), *sides, "--matches", str(file))


def test_undo_and_redo_change_graph_and_file(qkv: Viewer, own_logs: str) -> None:
    match_proj_with_v(qkv)
    panel(qkv).get_by_role("button", name="Undo").click()
    expect(details_title(qkv)).to_contain_text("linear_proj ↔ o_proj")
    assert written(qkv, own_logs, lambda kept: kept["matches"] == [])
    panel(qkv).focus()
    panel(qkv).get_by_role("region").focus()
    qkv.page.keyboard.press("Control+y")
    expect(details_title(qkv)).to_contain_text("linear_proj ↔ v_proj")
    assert written(qkv, own_logs, lambda kept: len(kept["matches"]) == 2)


def test_a_pair_is_taken_apart(qkv: Viewer) -> None:
    open_panel(qkv, "Match by hand")
    panel(qkv).get_by_role("button", name="Take apart").click()
    expect(qkv.frame.locator(".details-head")).to_contain_text("no counterpart")


def test_a_box_is_dragged_onto_its_counterpart(qkv: Viewer) -> None:
    open_panel(qkv, "Match by hand")
    qkv.page.mouse.move(*center(qkv, "target", PROJ))
    qkv.page.mouse.down()
    x, y = center(qkv, "golden", V_PROJ)
    qkv.page.mouse.move(x - 200, y, steps=6)
    qkv.page.mouse.move(x, y, steps=3)
    qkv.page.mouse.up()
    expect(details_title(qkv)).to_contain_text("linear_proj ↔ v_proj")


def test_several_nodes_make_a_group_and_two_directions_do_not_mix(qkv: Viewer) -> None:
    open_panel(qkv, "Match by hand")
    click(qkv, "target", PROJ)
    click(qkv, "golden", V_PROJ)
    click(qkv, "golden", O_PROJ, modifiers="Control")
    expect(panel(qkv).get_by_label("the one side is")).to_be_visible()
    panel(qkv).get_by_role("button", name="Match", exact=True).click()
    expect(details_title(qkv)).to_contain_text("linear_proj ↔ v_proj + o_proj")
    expect(qkv.frame.locator(".details-head")).to_contain_text("concat")


def test_a_second_writers_change_is_not_lost(qkv: Viewer, new_page: Callable[..., Page], address: str, own_logs: str) -> None:
    other = opened_at_cause(new_page(locale="zh-CN"), address, own_logs, "qkv")
    match_proj_with_v(qkv)  # the first one writes
    written(qkv, own_logs, lambda kept: len(kept["matches"]) == 2)
    other.frame.get_by_role("button", name="手动匹配", exact=True).click()
    other.frame.locator("aside.panel").get_by_role("button", name="解除匹配").click()  # the second one, who has not read that
    notice = other.frame.locator(".notice-box")
    expect(notice).to_contain_text("v_proj")
    kept = written(other, own_logs, lambda kept: len(kept["matches"]) == 4)["matches"]
    assert sorted(entry["action"] for entry in kept) == ["match", "match", "unmatch", "unmatch"]
    forget_refusals(other.page, 409)


def test_on_a_read_only_directory_matches_stay_in_the_browser_and_can_be_downloaded(page: Page, address: str, own_logs: str) -> None:
    page.route("**/matches?*", lambda route: route.fulfill(json={"matches": [], "triage": [], "revision": "none", "writable": False}))
    viewer = opened_at_cause(page, address, own_logs, "qkv")
    match_proj_with_v(viewer)
    expect(panel(viewer)).to_contain_text("kept in this browser only")
    with page.expect_download() as download:
        panel(viewer).get_by_role("button", name="Download as YAML").click()
    content = yaml.safe_load(Path(download.value.path()).read_text(encoding="utf-8"))
    assert content["matches"][0]["target"] == [PROJ] and matches_file(own_logs) is None
    viewer.reload()
    expect(details_title(viewer)).to_contain_text("linear_proj ↔ v_proj")


def test_matches_become_mapping_rules(qkv: Viewer) -> None:
    match_proj_with_v(qkv)
    panel(qkv).get_by_role("button", name="Write as mapping rules").click()
    expect(panel(qkv).locator("h2")).to_have_text("Layer mapping")
    expect(panel(qkv).locator(".rule").first).to_contain_text("linear_proj")


def test_a_pair_is_matched_with_everything_inside(qkv: Viewer, own_logs: str) -> None:
    open_panel(qkv, "Match by hand")
    click(qkv, "target", "Module.0.decoder.layers.2.self_attention.SelfAttention.forward.0")
    click(qkv, "golden", "Module.model.layers.2.self_attn.Qwen2Attention.forward.0")
    panel(qkv).get_by_label("also everything inside").check()
    panel(qkv).get_by_role("button", name="Match", exact=True).click()
    expect(panel(qkv).locator(".entry-row").nth(3)).to_be_visible()
    expect(panel(qkv)).to_contain_text("Kept in rank0.matches.yaml")
    written = matches_file(own_logs)["matches"]
    assert len(written) > 3
    assert all(".layers.2." in name for entry in written for name in entry["target"][:1] if name.startswith("Module."))


def test_nodes_are_picked_from_the_list_of_hits(qkv: Viewer) -> None:
    for query in ("linear_proj layers.2 side:target kind:module dir:forward", "v_proj layers.2 side:golden kind:module dir:forward"):
        qkv.frame.fill("#search-box", query)
        panel(qkv).locator("[role=option]").first.click()
        qkv.frame.get_by_role("button", name="Match…").click()
    expect(panel(qkv).locator(".picked-node")).to_have_count(2)
    panel(qkv).get_by_role("button", name="Match", exact=True).click()
    expect(details_title(qkv)).to_contain_text("linear_proj ↔ v_proj")


def test_entries_say_who_made_them_and_when(qkv: Viewer, own_logs: str) -> None:
    open_panel(qkv, "Match by hand")
    panel(qkv).get_by_label("Your name, for the entries").fill("小明 <b>")
    open_panel(qkv, "Match by hand")  # closes it
    match_proj_with_v(qkv)
    expect(panel(qkv).locator(".entry-row").first).to_contain_text(re.compile(r"小明 <b> · .*\d{4}"))
    expect(panel(qkv)).to_contain_text("Kept in rank0.matches.yaml")
    assert {entry["author"] for entry in matches_file(own_logs)["matches"]} == {"小明 <b>"}
