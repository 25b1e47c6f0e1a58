"""The search panel: hits as one types, queries and menus, sorting, what is wrong with a query."""

from __future__ import annotations

import re

import pytest
from panel_steps import QKV, open_panel, panel
from playwright.sync_api import Page, expect
from viewer import Viewer, in_tensorboard, run_named


def test_hits_appear_as_one_types_without_any_request_and_no_two_look_alike(qkv: Viewer) -> None:
    qkv.settled()
    qkv.sent.clear()
    qkv.page.keyboard.press("/")
    qkv.page.keyboard.type("layers.2.mlp kind:module")
    rows = panel(qkv).locator("[role=option]")
    expect(rows.first).to_be_visible()
    texts = rows.all_inner_texts()
    assert len(texts) > 4 and len(set(texts)) == len(texts), texts
    ahead = re.compile(r"/graph\?|/section\?.*name=errors(/|%2F)outputs")  # fetched by itself at some moment after opening
    assert [url for url in qkv.sent if not ahead.search(url)] == []


def test_a_query_on_names_and_numbers_is_walked_through_by_keys_alone(qkv: Viewer) -> None:
    qkv.page.keyboard.press("/")
    qkv.page.keyboard.type("layers.? error>0.01 is:inherited,parameter kind:module dir:forward")
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


def test_the_errors_of_single_statistics_are_fetched_once_at_most(qkv: Viewer) -> None:
    qkv.sent.clear()
    box = qkv.frame.locator("#search-box")
    box.fill("layers.2.self_attention min_err>0.02 kind:module dir:forward side:target")
    rows = panel(qkv).locator("[role=option]")
    expect(rows).to_have_count(1)  # of the fused projection's outputs the smallest number differs most
    expect(rows.first).to_contain_text("linear_qkv")
    box.fill("layers.2.self_attention norm_err>0.02 kind:module dir:forward side:target")
    expect(panel(qkv).get_by_text("Nothing fits.")).to_be_visible()
    assert len([address for address in qkv.sent if "errors%2Foutputs" in address]) <= 1  # 0 where it came ahead of the first query
    box.fill("cosine<0.5")
    expect(panel(qkv).get_by_role("alert")).to_contain_text("This graph holds no cosine:")


def test_what_is_wrong_with_a_query_is_said_with_what_was_meant(qkv: Viewer) -> None:
    qkv.frame.fill("#search-box", "linear eror>1 is:introduce /(/")
    problems = panel(qkv).get_by_role("alert")
    expect(problems).to_have_count(3)
    expect(problems.first).to_contain_text("Possible: error")
    expect(panel(qkv).locator("[role=option]").first).to_be_visible()


def test_menus_write_into_the_query_and_data_types_are_fetched_once(qkv: Viewer) -> None:
    open_panel(qkv, "Search")
    panel(qkv).get_by_role("button", name="Filters").click()
    qkv.sent.clear()
    panel(qkv).get_by_role("button", name="unmatched").click()
    panel(qkv).get_by_label("side").select_option("golden")
    expect(qkv.frame.locator("#search-box")).to_have_value("is:unmatched side:golden")
    assert qkv.sent == []
    panel(qkv).get_by_label("dtype").focus()
    expect(panel(qkv).get_by_label("dtype").locator("option", has_text="int64")).to_be_attached()
    panel(qkv).get_by_label("dtype").select_option("int64")
    expect(panel(qkv).locator("[role=option]").first).to_be_visible()
    assert sorted(re.findall(r"name=([^&]+)", " ".join(qkv.sent))) == ["dtypes%2Fgolden", "dtypes%2Ftarget"]


def test_sorting_by_severity_puts_the_cause_first(qkv: Viewer) -> None:
    qkv.frame.fill("#search-box", "is:matched")
    panel(qkv).locator(".sort select").select_option("severity")
    expect(panel(qkv).locator("[role=option]").first).to_contain_text("linear_qkv")


def test_a_query_can_ask_for_a_micro_step_a_side_and_a_kind(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "ranks")).opened()
    viewer.frame.fill("#search-box", "is:error")
    expect(panel(viewer).locator("[role=option]").first).to_be_visible()
    everywhere = int(panel(viewer).locator("[role=option]").first.get_attribute("aria-setsize") or 0)
    panel(viewer).get_by_role("button", name="Filters").click()
    panel(viewer).get_by_label("micro step").select_option("1")
    panel(viewer).get_by_label("kind").select_option("module")
    panel(viewer).get_by_label("direction").select_option("backward")
    expect(viewer.frame.locator("#search-box")).to_have_value("is:error micro:1 kind:module dir:backward")
    first = panel(viewer).locator("[role=option]").first
    expect(first).not_to_have_attribute("aria-setsize", str(everywhere))
    assert 0 < int(first.get_attribute("aria-setsize") or 0) < everywhere / 2


@pytest.mark.parametrize("group", ["cause", "inherited"])
def test_no_two_findings_look_alike(page: Page, bug_tensorboard: str, bug_logs: str, group: str) -> None:
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "ranks")).opened()
    if group != "cause":
        panel(viewer).get_by_role("button", name=re.compile(f"^{group}")).click()
    rows = panel(viewer).locator("[role=option]")
    expect(rows.first).to_be_visible()
    # What a person sees of a row: its name and as much of the second line as fits.
    seen = rows.evaluate_all("all => all.map(row => [row.querySelector('.name'), row.querySelector('small')].map(part => part.innerText))")
    alike = [name + small[:30] for name, small in seen]
    assert len(set(alike)) == len(alike), alike
