"""graph-view serve: the viewer on a page of its own, without TensorBoard."""

from __future__ import annotations

from graph_view_server import serving
from playwright.sync_api import Page
from viewer import Viewer, run_named


def test_the_page_opens_without_tensorboard_and_violates_no_policy(page: Page, bundle: str, logs: str) -> None:
    with serving(logs) as address:
        page.goto(f"{address}/#p.tb_graph_ascend.run={run_named(logs, 'qwen2')}")
        viewer = Viewer(page, page).opened()
        viewer.wait("s.details && s.details.rows > 0")
        assert page.title() and viewer.snapshot()["chosen"]["run"] == run_named(logs, "qwen2")
