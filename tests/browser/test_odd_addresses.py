"""Addresses that name what is not there, or what would stop the page: something is shown, and it is said what is missing."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect
from viewer import forget_refusals, in_tensorboard, run_named


def test_a_micro_step_that_is_not_there_does_not_leave_the_graphs_empty(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "qkv"), micro=99).opened()


def test_an_expression_that_would_never_end_does_not_stop_the_page(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "qkv"), panel="search", q="/(((.*)*)*)*x/").opened()
    expect(viewer.frame.locator("aside.panel")).to_contain_text("could take for ever")


def test_a_policy_that_is_not_there_is_told(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "qkv"), policy="nonsense").opened()
    expect(viewer.frame.locator(".toast")).to_contain_text("there is no policy 'nonsense'")
    forget_refusals(page, 422)


@pytest.mark.parametrize(("run", "fields", "step", "rank"), [
    ("qkv", {"step": 999}, 0, 0), ("qkv", {"step": "abc"}, 0, 0), ("qkv", {"rank": -3}, 0, 0), ("ranks", {"rank": 99}, 0, 0),
    ("ranks", {"step": 999, "rank": 2}, 0, 2),
])
def test_a_step_or_rank_that_is_not_there_gives_way_to_one_that_is_and_that_is_told(
    page: Page, bug_tensorboard: str, bug_logs: str, run: str, fields: dict[str, str | int], step: int, rank: int,
) -> None:
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, run), **fields).opened()
    expect(viewer.frame.locator(".toast")).to_contain_text(f"Shown: step {step}, rank {rank}.")
    assert viewer.snapshot()["chosen"] == {"run": run_named(bug_logs, run), "step": step, "rank": rank}
    wrong = {f"{name}={value}" for name, value in fields.items()} - {f"rank={rank}"}
    page.wait_for_url(lambda url: not any(field in url for field in wrong))
    forget_refusals(page, 404)
    forget_refusals(page, 400)


def test_a_run_that_is_not_there_offers_those_that_are(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    viewer = in_tensorboard(page, bug_tensorboard, run="nonsense")
    alert = viewer.frame.get_by_role("alert")
    expect(alert).to_contain_text('There is no run "nonsense"')
    alert.get_by_role("button", name="qkv", exact=True).click()
    assert viewer.opened().snapshot()["chosen"]["run"] == run_named(bug_logs, "qkv")
    expect(alert).to_have_count(0)
    forget_refusals(page, 404)


@pytest.mark.parametrize(("run", "asked", "shown"), [
    ("qkv", "nonsense", "Findings, in call order"), ("qkv", "convert", "Findings, in call order"), ("build", "mapping", None),
])
def test_a_panel_that_is_not_offered_gives_way_to_the_usual_one(page: Page, bug_tensorboard: str, bug_logs: str, run: str, asked: str,
                                                                shown: str | None) -> None:
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, run), panel=asked).opened()
    page.wait_for_url(re.compile(r"^((?!panel=).)*$"))
    side = viewer.frame.locator("aside.panel")
    expect(side).to_have_count(0 if shown is None else 1)
    if shown is not None:
        expect(side.locator("h2").first).to_contain_text(shown)
