"""Converting in the browser, where writing is allowed."""

from __future__ import annotations

import shutil
from pathlib import Path

from panel_steps import DATA
from playwright.sync_api import Page, expect
from tensorboard_process import running_tensorboard
from viewer import Viewer, in_tensorboard, run_named


def test_dumps_are_converted_and_opened_in_the_browser(page: Page, bundle: str, tmp_path: Path) -> None:
    for name in ("megatron", "hf"):
        shutil.copytree(f"{DATA}/megatron_vs_hf/{name}", tmp_path / "dumps" / name)
    with running_tensorboard("--logdir", str(tmp_path), "--tb_graph_ascend_allow_writing") as tensorboard:
        # TensorBoard shows no tab for a plugin without data: the address does.
        page.goto(f"{tensorboard}/data/plugin_entry.html?name=tb_graph_ascend")
        page.get_by_label("Target dump (under debug)").select_option("dumps/megatron")
        page.get_by_label("Golden dump (reference)").select_option("dumps/hf")
        page.get_by_role("button", name="Convert", exact=True).click()
        expect(page.get_by_role("heading", name="The comparison is being made")).to_be_visible()
        expect(page.get_by_role("heading", name="No comparison here yet")).to_have_count(0)
        # Nothing else is open: the result opens by itself.
        viewer = Viewer(page, page).opened()
        assert viewer.snapshot()["nodes"]["golden"] > 0
        # The next one leaves what is being looked at where it is.
        page.get_by_role("button", name="Convert", exact=True).click()
        page.get_by_label("Golden dump (reference)").select_option("")
        page.locator("form").get_by_role("button", name="Convert", exact=True).click()
        page.get_by_role("button", name="Open the result").click(timeout=60_000)
        viewer.wait("s.nodes.golden === 0 && s.boxes.length > 0")
        page.wait_for_load_state("networkidle")  # the list of dumps is asked for once more


def test_without_the_flag_there_is_no_such_panel(page: Page, tensorboard: str, logs: str) -> None:
    viewer = in_tensorboard(page, tensorboard, run=run_named(logs, "megatron")).opened()
    expect(viewer.frame.get_by_role("navigation", name="Panels").get_by_role("button")).to_have_count(6)
