"""In a small frame (a notebook's, say) the headlines of the verdict can be read to their ends."""

from __future__ import annotations

import os
from typing import Callable

import pytest
from panel_steps import QKV
from playwright.sync_api import Page
from viewer import in_tensorboard, run_named, size_of_frame

CUT = """[...document.querySelectorAll('.verdict .big > span:not(.sign)')]
    .filter(e => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight + 1).map(e => e.textContent)"""
LOW = "(verdict => verdict.scrollWidth <= innerWidth && verdict.offsetHeight <= 110)(document.querySelector('.verdict'))"


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
@pytest.mark.parametrize("run", ["qkv", "ranks", "nan", "tensor"])
def test_headlines_are_not_cut_in_a_small_frame(new_page: Callable[..., Page], bug_tensorboard: str, bug_logs: str, locale: str,
                                                run: str) -> None:
    page = new_page(locale=locale)
    size_of_frame(page, 800, 700)
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, run)).opened()
    viewer.wait_for("document.querySelectorAll('.verdict .big').length === 3")
    assert viewer.frame.evaluate(CUT) == []
    assert viewer.frame.evaluate(LOW)


@pytest.mark.parametrize(("locale", "words"), [("en-US", "follows from what is marked"), ("zh-CN", "由已标记处引起")])
def test_headlines_are_not_cut_where_marks_are_hidden(new_page: Callable[..., Page], address: str, own_logs: str, locale: str,
                                                      words: str) -> None:
    run = run_named(own_logs, "qkv")
    with open(os.path.join(own_logs, *run.split("/"), "step0", "rank0.matches.yaml"), "w", encoding="utf-8") as file:
        file.write(f"triage:\n- {{nodes: {QKV}, side: target, verdict: expected}}\n")
    page = new_page(locale=locale)
    size_of_frame(page, 800, 700)
    viewer = in_tensorboard(page, address, run=run, hide="expected").opened()
    viewer.wait_for(f"document.querySelectorAll('.verdict .big')[1]?.textContent === '{words}'")
    assert viewer.frame.evaluate(CUT) == []
    assert viewer.frame.evaluate(LOW)


def test_the_layer_strip_folds_anew_when_the_window_is_made_lower(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    rows = "document.querySelectorAll('.strip-names > span').length"
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "qkv"), q="Module").opened()
    high = viewer.frame.evaluate(rows)
    size_of_frame(page, 1600, 700)
    viewer.wait_for(f"{rows} < {high}")
    size_of_frame(page, 1600, 936)
    viewer.wait_for(f"{rows} === {high}")
