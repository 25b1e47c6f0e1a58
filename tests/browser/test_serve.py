"""graph-view serve: the viewer on a page of its own."""

from __future__ import annotations

from playwright.sync_api import Page
from viewer import alone, run_named


def test_the_page_opens_without_tensorboard_and_violates_no_policy(page: Page, served: str, logs: str) -> None:
    viewer = alone(page, served, run=run_named(logs, "qwen2")).opened()
    viewer.wait("s.details && s.details.rows > 0")
    assert page.title()
