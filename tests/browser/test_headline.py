"""In a small window (a notebook's, say) the headlines of the verdict can be read to their ends."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from graph_view_server import serving
from panel_steps import QKV
from playwright.sync_api import Browser
from viewer import alone, run_named

CUT = """[...document.querySelectorAll('.verdict .big > span:not(.sign)')].filter(e => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight + 1)
         .map(e => e.textContent)"""


@pytest.fixture
def served_copy(bundle: str, own_logs: str) -> Iterator[tuple[str, str]]:
    """Address of a server and a run of it, all of whose causes are marked as expected."""
    run = run_named(own_logs, "qkv")
    with open(os.path.join(own_logs, *run.split("/"), "step0", "rank0.matches.yaml"), "w", encoding="utf-8") as file:
        file.write(f"triage:\n- {{nodes: {QKV}, side: target, verdict: expected}}\n")
    with serving(own_logs) as address:
        yield address, run


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
@pytest.mark.parametrize("run", ["qkv", "ranks", "nan", "tensor"])
def test_headlines_are_not_cut_in_a_small_window(browser: Browser, bug_served: str, bug_logs: str, locale: str, run: str) -> None:
    context = browser.new_context(viewport={"width": 800, "height": 700}, locale=locale)
    page = context.new_page()
    viewer = alone(page, bug_served, run=run_named(bug_logs, run)).opened()
    viewer.wait_for("document.querySelectorAll('.verdict .big').length === 3")
    assert page.evaluate(CUT) == []
    assert page.evaluate("document.querySelector('.verdict').scrollWidth <= innerWidth && document.querySelector('.verdict').offsetHeight <= 110")
    context.close()


def test_headlines_are_not_cut_where_marks_are_hidden(browser: Browser, served_copy: tuple[str, str]) -> None:
    address, run = served_copy
    for locale, words in (("en-US", "follows from what is marked"), ("zh-CN", "由已标记处引起")):
        context = browser.new_context(viewport={"width": 800, "height": 700}, locale=locale)
        page = context.new_page()
        viewer = alone(page, address, run=run, hide="expected").opened()
        viewer.wait_for(f"document.querySelectorAll('.verdict .big')[1]?.textContent === '{words}'")
        assert page.evaluate(CUT) == []
        assert page.evaluate("document.querySelector('.verdict').offsetHeight") <= 110
        context.close()


def test_the_layer_strip_folds_anew_when_the_window_is_made_lower(browser: Browser, bug_served: str, bug_logs: str) -> None:
    rows = "document.querySelectorAll('.strip-names > span').length"
    context = browser.new_context(viewport={"width": 1600, "height": 1000}, locale="en-US")
    page = context.new_page()
    viewer = alone(page, bug_served, run=run_named(bug_logs, "qkv"), q="Module").opened()
    high = page.evaluate(rows)
    page.set_viewport_size({"width": 1600, "height": 700})
    viewer.wait_for(f"{rows} < {high}")
    page.set_viewport_size({"width": 1600, "height": 1000})
    viewer.wait_for(f"{rows} === {high}")
    context.close()
