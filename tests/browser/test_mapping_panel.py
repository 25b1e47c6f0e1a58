"""The panel of the layer mapping: templates, mistakes, rules by form, what is left, proposals, another policy."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from panel_steps import QKV, open_panel, panel, written
from playwright.sync_api import Page, expect
from viewer import Viewer, forget_refusals, in_tensorboard, run_named, size_of_frame


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
    forget_refusals(qkv.page, 422)


def test_a_long_message_leaves_room_for_what_is_being_written(qkv: Viewer) -> None:
    size_of_frame(qkv.page, 1600, 1000)
    open_panel(qkv, "Layer mapping")
    panel(qkv).get_by_role("tab", name="Text").click()
    panel(qkv).get_by_label("Text of the mapping file").fill("TransformerLayer:\n  self_attention: self_attn\n")
    messages = panel(qkv).locator(".effect-messages")
    expect(messages).to_contain_text("no rule hit anything")
    assert messages.evaluate("e => e.offsetHeight") <= 70


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
        panel(qkv).get_by_role("button", name="Download", exact=True).click()
    assert yaml.safe_load(Path(download.value.path()).read_text(encoding="utf-8")) == {"TopLayer": {"0.decoder.layers": "model.layers"}}


def test_what_is_left_on_both_sides_leads_to_the_nodes(qkv: Viewer) -> None:
    open_panel(qkv, "Layer mapping")
    panel(qkv).get_by_role("tab", name="Unmatched").click()
    panel(qkv).get_by_role("button", name="IdentityOp").click()
    expect(qkv.frame.locator("#search-box")).to_have_value("class:IdentityOp is:unmatched side:target")
    qkv.wait("s.selection.name.includes('IdentityOp')")


def test_another_policy_judges_again(qkv: Viewer) -> None:
    open_panel(qkv, "Layer mapping")
    chips = qkv.frame.locator(".chips")
    before = chips.inner_text()
    panel(qkv).get_by_label("Judged by policy").select_option("msprobe")
    expect(chips).not_to_have_text(before)


def test_a_proposal_is_accepted_or_rejected_and_that_is_kept(page: Page, address: str, own_logs: str) -> None:
    viewer = in_tensorboard(page, address, run=run_named(own_logs, "doubtful"), panel="mapping").opened()
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
    assert len(written(viewer, own_logs, lambda kept: len(kept["matches"]) == 2, run="doubtful")["matches"]) == 2


def test_in_a_small_frame_effect_and_apply_are_in_sight_below_many_rules(qkv: Viewer) -> None:
    size_of_frame(qkv.page, 800, 700)
    open_panel(qkv, "Layer mapping")
    panel(qkv).get_by_label("Template…").select_option("megatron_core_to_hf_qwen2")
    expect(panel(qkv).locator(".effect")).to_contain_text("161 → 161 pairs")
    assert panel(qkv).locator(".rule").count() > 10
    for seen in (panel(qkv).locator(".effect b"), panel(qkv).get_by_role("button", name="Apply", exact=True)):
        expect(seen).to_be_in_viewport(ratio=1)


def test_two_rules_that_claim_one_module_are_named_in_sight_with_both_lines(qkv: Viewer) -> None:
    open_panel(qkv, "Layer mapping")
    panel(qkv).get_by_role("tab", name="Text").click()
    panel(qkv).get_by_label("Text of the mapping file").fill(
        "TopLayer:\n  0.decoder.layers: model.layers\nTransformerLayer:\n  self_attention: self_attn\n"
        "SelfAttention:\n  linear_qkv: q_proj\n  linear_proj: q_proj\n")
    problem = panel(qkv).get_by_role("alert")
    expect(problem).to_contain_text("linear_qkv (line 6)")
    expect(problem).to_contain_text("linear_proj (line 7)")
    expect(problem).to_be_in_viewport()
    panel(qkv).get_by_role("tab", name="Rules").click()
    problem.get_by_role("button", name="Show the line").click()
    expect(panel(qkv).get_by_label("Text of the mapping file")).to_be_focused()
    forget_refusals(qkv.page, 422)


def test_a_mapping_file_of_ones_own_is_loaded_and_its_unused_rules_are_named(qkv: Viewer, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("# mine\nTopLayer:\n  0.decoder.layers: model.layers\n  nowhere: model.norm\n", encoding="utf-8")
    open_panel(qkv, "Layer mapping")
    panel(qkv).locator("input[type=file]").set_input_files(str(file))
    expect(panel(qkv).locator(".rule", has_text="nowhere")).to_contain_text("unused")
    expect(panel(qkv).locator(".rule", has_text="0.decoder.layers")).to_contain_text(re.compile(r"\d"))
    panel(qkv).get_by_role("button", name="Apply", exact=True).click()
    expect(panel(qkv)).to_contain_text("In force: mine.yaml")


def test_no_two_proposals_look_alike(page: Page, address: str, own_logs: str) -> None:
    viewer = in_tensorboard(page, address, run=run_named(own_logs, "doubtful"), panel="mapping").opened()
    panel(viewer).get_by_role("tab", name="Proposals").click()
    expect(panel(viewer).locator(".entry-row").first).to_be_visible()
    seen = panel(viewer).locator(".entry-row .entry-words").all_inner_texts()
    assert len(seen) > 1 and len(set(seen)) == len(seen), seen
