"""The panels, clicked through as a person would: searching, matching by hand, the mapping, marks, sharing, converting."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import convert
from playwright.sync_api import Browser, Page, expect
from tensorboard_process import TOP, running_tensorboard
from viewer import Viewer, alone, in_tensorboard, run_named

from tb_graph_ascend.serve import make_graph_server

expect.set_options(timeout=20_000)  # matching again takes a process of its own

DATA = os.path.join(TOP, "tests", "data")
LAYER = "Module.0.decoder.layers.2.self_attention"
QKV = f"{LAYER}.linear_qkv.ColumnParallelLinear.forward.0"
PROJ = f"{LAYER}.linear_proj.RowParallelLinear.forward.0"
O_PROJ = "Module.model.layers.2.self_attn.o_proj.Linear.forward.0"
V_PROJ = "Module.model.layers.2.self_attn.v_proj.Linear.forward.0"


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One conversion whose fused bias is wrong; copied for every test that writes."""
    folder = tmp_path_factory.mktemp("panels")
    convert(str(folder / "qkv"), "-tp", f"{DATA}/megatron_vs_hf/megatron_bug_qkv_bias", "-gp", f"{DATA}/megatron_vs_hf/hf")
    return str(folder)


@pytest.fixture
def own_logs(converted: str, tmp_path: Path) -> str:
    return str(shutil.copytree(converted, tmp_path / "logs"))


@pytest.fixture
def address(bundle: str, own_logs: str) -> Iterator[str]:
    yield from serving(own_logs)


def serving(logs: str) -> Iterator[str]:
    server = make_graph_server(logs, allow_writing=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def qkv(page: Page, address: str, own_logs: str) -> Viewer:
    page.set_viewport_size({"width": 1600, "height": 1200})
    viewer = alone(page, address, run=run_named(own_logs, "qkv")).opened()
    viewer.wait(f"s.selection && s.selection.name === '{QKV}'")
    return viewer


def open_panel(viewer: Viewer, name: str) -> None:
    viewer.frame.get_by_role("navigation", name="Panels").get_by_role("button", name=name, exact=True).click()


def center(viewer: Viewer, side: str, name: str) -> tuple[float, float]:
    """A point in the header of a box, on the page."""
    place = next(item for item in viewer.snapshot()["boxes"] if item["side"] == side and item["name"] == name)
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


def matches_file(logs: str) -> Any:
    path = os.path.join(logs, *run_named(logs, "qkv").split("/"), "step0", "rank0.matches.yaml")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as stream:
        return yaml.safe_load(stream)


def match_proj_with_v(viewer: Viewer) -> None:
    open_panel(viewer, "Match by hand")
    click(viewer, "target", PROJ)
    viewer.wait(f"s.selection.name === '{PROJ}'")
    click(viewer, "golden", V_PROJ)
    viewer.wait(f"s.selection.name === '{V_PROJ}'")
    panel(viewer).get_by_role("button", name="Match", exact=True).click()
    expect(details_title(viewer)).to_contain_text("linear_proj ↔ v_proj")


# ---------------------------------------------------------------- searching


def test_hits_appear_as_one_types_without_any_request_and_no_two_look_alike(qkv: Viewer) -> None:
    qkv.page.wait_for_timeout(300)
    asked: list[str] = []
    qkv.page.on("request", lambda request: asked.append(request.url))
    qkv.page.keyboard.press("/")
    qkv.page.keyboard.type("layers.2.mlp kind:module")
    rows = panel(qkv).locator("[role=option]")
    expect(rows.first).to_be_visible()
    texts = rows.all_inner_texts()
    assert len(texts) > 4 and len(set(texts)) == len(texts), texts
    assert asked == []


def test_a_query_on_names_and_numbers_is_walked_through_by_keys_alone(qkv: Viewer) -> None:
    qkv.page.keyboard.press("/")
    qkv.page.keyboard.type("layers.? norm_err>0.01 is:inherited,parameter kind:module dir:forward")
    expect(panel(qkv).locator("h2")).to_contain_text("hits")
    qkv.page.keyboard.press("ArrowDown")
    qkv.wait(f"s.selection.name === '{QKV}'")  # the selection was a hit: it stays the current one
    qkv.page.keyboard.press("ArrowDown")
    qkv.wait(f"s.selection.name !== '{QKV}' && s.selection.name.includes('layers.')")
    after = qkv.snapshot()["selection"]["name"]
    qkv.page.keyboard.press("n")
    qkv.wait(f"s.selection.name !== '{after}'")
    qkv.page.keyboard.press("p")
    qkv.wait(f"s.selection.name === '{after}'")


def test_what_is_wrong_with_a_query_is_said_with_what_was_meant(qkv: Viewer) -> None:
    qkv.page.fill("#search-box", "linear eror>1 is:introduce /(/")
    problems = panel(qkv).get_by_role("alert")
    expect(problems).to_have_count(3)
    expect(problems.first).to_contain_text("Possible: error")
    expect(panel(qkv).locator("[role=option]").first).to_be_visible()


def test_menus_write_into_the_query_and_data_types_are_fetched_once(qkv: Viewer) -> None:
    open_panel(qkv, "Search")
    panel(qkv).get_by_role("button", name="Filters").click()
    asked: list[str] = []
    qkv.page.on("request", lambda request: asked.append(request.url))
    panel(qkv).get_by_role("button", name="unmatched").click()
    panel(qkv).get_by_label("side").select_option("golden")
    expect(qkv.page.locator("#search-box")).to_have_value("is:unmatched side:golden")
    assert asked == []
    panel(qkv).get_by_label("dtype").focus()
    expect(panel(qkv).get_by_label("dtype").locator("option", has_text="int64")).to_be_attached()
    panel(qkv).get_by_label("dtype").select_option("int64")
    expect(panel(qkv).locator("[role=option]").first).to_be_visible()
    assert sorted(re.findall(r"name=([^&]+)", " ".join(asked))) == ["dtypes%2Fgolden", "dtypes%2Ftarget"]


def test_sorting_by_severity_puts_the_cause_first(qkv: Viewer) -> None:
    qkv.page.fill("#search-box", "is:matched")
    panel(qkv).locator(".sort select").select_option("severity")
    expect(panel(qkv).locator("[role=option]").first).to_contain_text("linear_qkv")


# ---------------------------------------------------------------- matching by hand


def test_two_clicks_and_a_button_match_measure_and_keep(qkv: Viewer, own_logs: str) -> None:
    match_proj_with_v(qkv)
    expect(qkv.frame.locator(".details-head")).to_contain_text("manual")
    qkv.wait("s.details && s.details.rows > 2")
    qkv.page.wait_for_timeout(300)
    entries = matches_file(own_logs)["matches"]
    assert [(entry["action"], entry["target"], entry["golden"]) for entry in entries] == [
        ("match", [PROJ], [V_PROJ]), ("match", [PROJ.replace("forward", "backward")], [V_PROJ.replace("forward", "backward")])]
    assert all(entry["time"].endswith("Z") for entry in entries)


def test_what_was_matched_is_there_again_after_reload_and_for_graph_convert(qkv: Viewer, own_logs: str, tmp_path: Path) -> None:
    match_proj_with_v(qkv)
    qkv.page.wait_for_timeout(400)
    qkv.page.reload()
    qkv.opened()
    qkv.wait(f"s.selection && s.selection.name === '{PROJ}'")
    expect(details_title(qkv)).to_contain_text("linear_proj ↔ v_proj")
    file = next(Path(own_logs).glob("qkv/*/step0/rank0.matches.yaml"))
    sides = ("-tp", f"{DATA}/megatron_vs_hf/megatron_bug_qkv_bias", "-gp", f"{DATA}/megatron_vs_hf/hf")
    convert(str(tmp_path / "again"), *sides, "--matches", str(file))


def test_undo_and_redo_change_graph_and_file(qkv: Viewer, own_logs: str) -> None:
    match_proj_with_v(qkv)
    panel(qkv).get_by_role("button", name="Undo").click()
    expect(details_title(qkv)).to_contain_text("linear_proj ↔ o_proj")
    qkv.page.wait_for_timeout(300)
    assert matches_file(own_logs)["matches"] == []
    panel(qkv).focus()
    panel(qkv).get_by_role("region").focus()
    qkv.page.keyboard.press("Control+y")
    expect(details_title(qkv)).to_contain_text("linear_proj ↔ v_proj")


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


def test_a_second_writers_change_is_not_lost(qkv: Viewer, browser: Browser, address: str, own_logs: str) -> None:
    other_page = browser.new_context(viewport={"width": 1600, "height": 1200}, locale="zh-CN").new_page()
    other = alone(other_page, address, run=run_named(own_logs, "qkv")).opened()
    other.wait(f"s.selection && s.selection.name === '{QKV}'")
    match_proj_with_v(qkv)  # the first one writes
    qkv.page.wait_for_timeout(400)
    other_page.get_by_role("button", name="手动匹配", exact=True).click()
    other_page.locator("aside.panel").get_by_role("button", name="解除匹配").click()  # the second one, who has not read that
    notice = other_page.locator(".notice-box")
    expect(notice).to_contain_text("v_proj")
    other_page.wait_for_timeout(500)
    assert sorted(entry["action"] for entry in matches_file(own_logs)["matches"]) == ["match", "match", "unmatch", "unmatch"]
    other_page.context.close()


def test_on_a_read_only_directory_matches_stay_in_the_browser_and_can_be_downloaded(page: Page, address: str, own_logs: str) -> None:
    page.route("**/matches?*", lambda route: route.fulfill(json={"matches": [], "triage": [], "revision": "none", "writable": False}))
    page.set_viewport_size({"width": 1600, "height": 1200})
    viewer = alone(page, address, run=run_named(own_logs, "qkv")).opened()
    viewer.wait(f"s.selection && s.selection.name === '{QKV}'")
    match_proj_with_v(viewer)
    expect(panel(viewer)).to_contain_text("kept in this browser only")
    with page.expect_download() as download:
        panel(viewer).get_by_role("button", name="Download as YAML").click()
    content = yaml.safe_load(Path(download.value.path()).read_text(encoding="utf-8"))
    assert content["matches"][0]["target"] == [PROJ] and matches_file(own_logs) is None
    page.reload()
    viewer.opened()
    expect(details_title(viewer)).to_contain_text("linear_proj ↔ v_proj")


def test_matches_become_mapping_rules(qkv: Viewer) -> None:
    match_proj_with_v(qkv)
    panel(qkv).get_by_role("button", name="Write as mapping rules").click()
    expect(panel(qkv).locator("h2")).to_have_text("Layer mapping")
    expect(panel(qkv).locator(".rule").first).to_contain_text("linear_proj")


# ---------------------------------------------------------------- the layer mapping


def test_a_template_shows_its_effect_before_it_is_applied(qkv: Viewer) -> None:
    open_panel(qkv, "Layer mapping")
    panel(qkv).get_by_label("Template…").select_option("megatron_core_to_hf_qwen2")
    expect(panel(qkv).locator(".rule", has_text="linear_qkv")).to_contain_text(re.compile(r"\d"))
    expect(panel(qkv).locator(".effect")).to_contain_text("pairs")
    expect(qkv.frame.locator(".details-head")).to_contain_text("structural")
    panel(qkv).get_by_role("button", name="Apply", exact=True).click()
    expect(qkv.frame.locator(".details-head")).to_contain_text("mapping")
    expect(panel(qkv)).to_contain_text("In force: megatron_core_to_hf_qwen2.yaml")
    assert qkv.snapshot()["selection"]["name"] == QKV


def test_a_mistake_is_told_with_its_line_and_nothing_can_be_applied(qkv: Viewer) -> None:
    open_panel(qkv, "Layer mapping")
    panel(qkv).get_by_role("tab", name="Text").click()
    panel(qkv).get_by_label("Text of the mapping file").fill("TopLayer:\n  decoder: [model\nMLP:\n")
    expect(panel(qkv).get_by_role("alert")).to_contain_text("line")
    expect(panel(qkv).locator(".line-numbers .wrong")).to_have_count(1)
    expect(panel(qkv).get_by_role("button", name="Apply", exact=True)).to_be_disabled()
    problems = qkv.page.problems  # type: ignore[attr-defined]
    problems[:] = [text for text in problems if "422" not in text]  # the browser notes the refused preview in its console


def test_rules_are_added_changed_and_deleted_by_form(qkv: Viewer) -> None:
    open_panel(qkv, "Layer mapping")
    form = panel(qkv).locator(".rule-form")
    for scope, source, target in (("TopLayer", "0.decoder.layers", "model.layers"), ("TransformerLayer", "self_attention", "nonsense")):
        form.get_by_label("In class").fill(scope)
        form.get_by_label("target name").fill(source)
        form.get_by_label("golden name").fill(target)
        form.get_by_role("button", name="Add rule").click()
    wrong = panel(qkv).locator(".rule", has_text="nonsense")
    expect(wrong).to_contain_text("unused")
    wrong.get_by_title("Change this rule").click()
    form.get_by_label("golden name").fill("self_attn")
    form.get_by_role("button", name="Change rule").click()
    right = panel(qkv).locator(".rule", has_text="self_attn")
    expect(right).not_to_contain_text("unused")
    right.get_by_role("button", name="Delete this rule").click()
    expect(panel(qkv).locator(".rule")).to_have_count(1)
    with qkv.page.expect_download() as download:
        panel(qkv).get_by_role("button", name="Save", exact=True).click()
    assert yaml.safe_load(Path(download.value.path()).read_text(encoding="utf-8")) == {"TopLayer": {"0.decoder.layers": "model.layers"}}


def test_what_is_left_on_both_sides_leads_to_the_nodes(qkv: Viewer) -> None:
    open_panel(qkv, "Layer mapping")
    panel(qkv).get_by_role("tab", name="Unmatched").click()
    panel(qkv).get_by_role("button", name="IdentityOp").click()
    expect(qkv.page.locator("#search-box")).to_have_value("class:IdentityOp is:unmatched side:target")
    qkv.wait("s.selection.name.includes('IdentityOp')")


def test_another_policy_judges_again(qkv: Viewer) -> None:
    open_panel(qkv, "Layer mapping")
    chips = qkv.frame.locator(".chips")
    before = chips.inner_text()
    panel(qkv).get_by_label("Judged by policy").select_option("msprobe")
    expect(chips).not_to_have_text(before)


# ---------------------------------------------------------------- marks


def test_marked_nodes_are_hidden_from_lists_and_counts_by_a_switch(qkv: Viewer, own_logs: str) -> None:
    chip = qkv.frame.locator(".chip", has_text="parameter")
    expect(chip).to_contain_text("1")
    qkv.frame.get_by_role("button", name="Expected…").click()
    panel(qkv).get_by_label("Why").fill("known <b>bug</b>")
    panel(qkv).get_by_role("button", name="Mark", exact=True).click()
    expect(panel(qkv).locator(".entry-row")).to_contain_text("known <b>bug</b>")
    panel(qkv).get_by_label(re.compile("Hide 1 marked")).check()
    expect(chip).to_contain_text("0")
    qkv.page.wait_for_timeout(300)
    assert matches_file(own_logs)["triage"][0]["nodes"] == QKV
    open_panel(qkv, "Findings, in call order")
    expect(panel(qkv).locator("[role=option]")).to_have_count(0)


# ---------------------------------------------------------------- sharing


def test_the_address_shows_a_colleague_the_same_and_is_copied_without_the_clipboard_api(qkv: Viewer, browser: Browser) -> None:
    qkv.page.fill("#search-box", "layers.2 is:inherited")
    click(qkv, "target", PROJ)
    qkv.wait(f"s.selection.name === '{PROJ}'")
    qkv.page.wait_for_timeout(400)
    open_panel(qkv, "Share")
    qkv.page.wait_for_timeout(400)
    shown = panel(qkv).get_by_label("Address of this view").input_value()
    other = browser.new_context(viewport={"width": 1600, "height": 1000}).new_page()
    other.goto(shown)
    viewer = Viewer(other, other).opened()
    viewer.wait(f"s.selection && s.selection.name === '{PROJ}'")
    expect(other.locator("#search-box")).to_have_value("layers.2 is:inherited")
    other.context.close()
    qkv.page.evaluate("delete Navigator.prototype.clipboard")
    panel(qkv).get_by_role("button", name="Copy", exact=True).click()
    expect(qkv.page.locator(".toast")).to_have_text("Address copied")


def test_page_and_pictures_are_saved(qkv: Viewer, browser: Browser, tmp_path: Path) -> None:
    open_panel(qkv, "Share")
    saved = {}
    for name in ("Save as HTML", "PNG", "SVG"):
        with qkv.page.expect_download() as download:
            panel(qkv).get_by_role("button", name=name, exact=True).click()
        saved[name] = tmp_path / download.value.suggested_filename
        download.value.save_as(saved[name])
    assert saved["PNG"].read_bytes()[:4] == b"\x89PNG" and saved["PNG"].stat().st_size > 10_000
    svg = saved["SVG"].read_text(encoding="utf-8")
    assert svg.startswith("<svg") and "linear_qkv" in svg
    page = browser.new_context().new_page()
    page.goto(saved["Save as HTML"].as_uri())
    Viewer(page, page).opened()
    page.context.close()


# ---------------------------------------------------------------- converting


def test_dumps_are_converted_and_opened_in_the_browser(page: Page, bundle: str, tmp_path: Path) -> None:
    for name in ("megatron", "hf"):
        shutil.copytree(f"{DATA}/megatron_vs_hf/{name}", tmp_path / "dumps" / name)
    with running_tensorboard("--logdir", str(tmp_path), "--tb_graph_ascend_allow_writing") as tensorboard:
        # TensorBoard shows no tab for a plugin without data: the address does.
        page.goto(f"{tensorboard}/data/plugin_entry.html?name=tb_graph_ascend")
        page.get_by_label("Target dump (under debug)").select_option("dumps/megatron")
        page.get_by_label("Golden dump (reference)").select_option("dumps/hf")
        page.get_by_role("button", name="Convert", exact=True).click()
        page.get_by_role("button", name="Open the result").click(timeout=60_000)
        viewer = Viewer(page, page).opened()
        assert viewer.snapshot()["nodes"]["golden"] > 0


def test_without_the_flag_there_is_no_such_panel(page: Page, tensorboard: str, logs: str) -> None:
    viewer = in_tensorboard(page, tensorboard, run=run_named(logs, "megatron")).opened()
    expect(viewer.frame.get_by_role("navigation", name="Panels").get_by_role("button")).to_have_count(6)


# ---------------------------------------------------------------- proposals


def test_a_proposal_is_accepted_or_rejected_and_that_is_kept(page: Page, bundle: str, tmp_path: Path) -> None:
    convert(str(tmp_path / "doubtful"), "-tp", f"{DATA}/mindspore_vs_torch/mindspore", "-gp", f"{DATA}/megatron_vs_hf/megatron")
    for address in serving(str(tmp_path)):
        viewer = alone(page, address, run=run_named(str(tmp_path), "doubtful"), panel="mapping").opened()
        tab = panel(viewer).get_by_role("tab", name="Proposals")
        tab.click()
        rows = panel(viewer).locator(".entry-row")
        expect(rows.first).to_contain_text("~")
        offered, before = rows.count(), viewer.frame.locator(".chips").inner_text()
        rows.first.get_by_role("button", name="Reject").click()
        expect(rows).to_have_count(offered - 1)
        rows.first.get_by_role("button", name="Accept").click()
        expect(viewer.frame.locator(".chips")).not_to_have_text(before)
        open_panel(viewer, "Match by hand")
        expect(panel(viewer).locator(".entry-row")).to_have_count(2)


# ---------------------------------------------------------------- from one comparison to the next


def test_the_next_comparison_takes_over_what_is_known(page: Page, bundle: str, own_logs: str) -> None:
    shutil.copytree(os.path.join(own_logs, "qkv"), os.path.join(own_logs, "next"))
    for address in serving(own_logs):
        page.set_viewport_size({"width": 1600, "height": 1200})
        first = alone(page, address, run=run_named(own_logs, "qkv")).opened()
        first.wait(f"s.selection && s.selection.name === '{QKV}'")
        match_proj_with_v(first)
        page.wait_for_timeout(400)
        page.goto("about:blank")
        viewer = alone(page, address, run=run_named(own_logs, "next"), node=PROJ, panel="triage").opened()
        viewer.wait(f"s.selection && s.selection.name === '{PROJ}'")
        expect(details_title(viewer)).to_contain_text("linear_proj ↔ o_proj")
        panel(viewer).get_by_label("Take over from…").select_option(run_named(own_logs, "qkv"))
        expect(page.locator(".toast")).to_have_text("2 entries taken over")
        expect(details_title(viewer)).to_contain_text("linear_proj ↔ v_proj")
