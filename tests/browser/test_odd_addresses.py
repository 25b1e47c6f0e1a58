"""Addresses that name what is not there, or what would stop the page: something is shown, and it is said what is missing."""

from __future__ import annotations

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
