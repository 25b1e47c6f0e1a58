"""In TensorBoard: converting in the browser, where writing is allowed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from panel_steps import DATA, open_panel, panel
from playwright.sync_api import Page, expect
from tensorboard_process import running_tensorboard
from viewer import Viewer, in_tensorboard, run_named


class Writable(NamedTuple):
    """A tensorboard process that may convert, over two dumps."""

    logs: Path
    address: str

    def convert_panel(self, page: Page) -> Viewer:
        viewer = in_tensorboard(page, self.address)
        form = viewer.frame.get_by_label("Target dump (under debug)")
        expect(form.or_(viewer.frame.locator(".pane-column"))).to_be_visible()
        if not form.is_visible():
            open_panel(viewer, "Convert")
        form.select_option("dumps/megatron")
        viewer.frame.get_by_label("Golden dump (reference)").select_option("dumps/hf")
        return viewer

    def runs(self) -> list[str]:
        return [path.name for path in self.logs.iterdir() if path.name.startswith("compare_")]


@pytest.fixture(scope="module")
def writable(bundle: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Writable]:
    logs = tmp_path_factory.mktemp("convert")
    for name in ("megatron", "hf"):
        shutil.copytree(f"{DATA}/megatron_vs_hf/{name}", logs / "dumps" / name)
    with running_tensorboard("--logdir", str(logs), "--tb_graph_ascend_allow_writing") as address:
        yield Writable(logs, address)


def test_a_conversion_is_cancelled_and_leaves_nothing(page: Page, writable: Writable) -> None:
    viewer = writable.convert_panel(page)
    viewer.frame.get_by_role("button", name="Convert", exact=True).click()
    viewer.frame.get_by_role("button", name="Cancel").click()
    expect(viewer.frame.get_by_role("alert")).to_have_text("Cancelled; nothing was written.")
    assert writable.runs() == [] and viewer.snapshot()["chosen"] is None


def test_dumps_are_converted_with_a_mapping_and_opened_in_the_browser(page: Page, writable: Writable) -> None:
    viewer = writable.convert_panel(page)
    viewer.frame.locator("label.field", has_text=re.compile("^Mapping")).locator("select").select_option("megatron_core_to_hf_qwen2.yaml")
    viewer.frame.locator("label.field", has_text=re.compile("^Policy")).locator("select").select_option("msprobe")
    viewer.frame.get_by_role("button", name="Convert", exact=True).click()
    expect(viewer.frame.get_by_role("progressbar").or_(viewer.frame.locator(".pane-column"))).to_be_visible()
    viewer.wait("s.chosen && s.nodes.golden > 0 && s.boxes.length > 0")
    assert len(writable.runs()) == 1
    open_panel(viewer, "Layer mapping")
    expect(panel(viewer)).to_contain_text("In force: megatron_core_to_hf_qwen2.yaml")
    expect(panel(viewer)).to_contain_text("as converted (msprobe)")


def test_only_dumps_below_the_log_directory_are_offered(page: Page, writable: Writable) -> None:
    viewer = writable.convert_panel(page)
    offered = viewer.frame.get_by_label("Target dump (under debug)").locator("option").all_inner_texts()
    assert offered == ["dumps/hf", "dumps/megatron"]


def test_dumps_are_converted_and_opened_in_the_browser(page: Page, bundle: str, tmp_path: Path) -> None:
    for name in ("megatron", "hf"):
        shutil.copytree(f"{DATA}/megatron_vs_hf/{name}", tmp_path / "dumps" / name)
    with running_tensorboard("--logdir", str(tmp_path), "--tb_graph_ascend_allow_writing") as tensorboard:
        viewer = in_tensorboard(page, tensorboard)
        viewer.frame.get_by_label("Target dump (under debug)").select_option("dumps/megatron")
        viewer.frame.get_by_label("Golden dump (reference)").select_option("dumps/hf")
        viewer.frame.get_by_role("button", name="Convert", exact=True).click()
        expect(viewer.frame.get_by_role("heading", name="The comparison is being made")).to_be_visible()
        expect(viewer.frame.get_by_role("heading", name="No comparison here yet")).to_have_count(0)
        # Nothing else is open: the result opens by itself.
        viewer.opened()
        assert viewer.snapshot()["nodes"]["golden"] > 0
        # The next one leaves what is being looked at where it is.
        viewer.frame.get_by_role("button", name="Convert", exact=True).click()
        viewer.frame.get_by_label("Golden dump (reference)").select_option("")
        viewer.frame.locator("form").get_by_role("button", name="Convert", exact=True).click()
        viewer.frame.get_by_role("button", name="Open the result").click(timeout=60_000)
        viewer.wait("s.nodes.golden === 0 && s.boxes.length > 0")
        viewer.settled()  # the list of dumps is asked for once more


def test_without_the_flag_there_is_no_such_panel(page: Page, tensorboard: str, logs: str) -> None:
    viewer = in_tensorboard(page, tensorboard, run=run_named(logs, "megatron")).opened()
    expect(viewer.frame.get_by_role("navigation", name="Panels").get_by_role("button")).to_have_count(6)
