"""The panel of the layer mapping: templates, mistakes, rules by form, what is left, proposals, another policy."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from conftest import convert
from graph_view_server import serving
from panel_steps import DATA, QKV, open_panel, panel
from playwright.sync_api import Page, expect
from viewer import Viewer, alone, run_named


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


def test_a_proposal_is_accepted_or_rejected_and_that_is_kept(page: Page, bundle: str, tmp_path: Path) -> None:
    convert(str(tmp_path / "doubtful"), "-tp", f"{DATA}/mindspore_vs_torch/mindspore", "-gp", f"{DATA}/megatron_vs_hf/megatron")
    with serving(str(tmp_path), allow_writing=True) as address:
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
