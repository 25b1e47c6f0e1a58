"""In a small window (a notebook's, say) the headlines of the verdict can be read to their ends."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser
from viewer import alone, run_named

CUT = """[...document.querySelectorAll('.verdict .big > span:not(.sign)')].filter(e => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight + 1)
         .map(e => e.textContent)"""


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
