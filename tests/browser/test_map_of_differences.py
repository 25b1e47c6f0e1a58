"""The map of differences beside the table: what it shows of a real fused layer, reading it by mouse and keys, and when it cannot be had."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import convert
from graph_view_server import serving
from playwright.sync_api import Page, expect
from tensorboard_process import TOP, running_tensorboard
from viewer import Viewer, alone, in_tensorboard, run_named

DATA = os.path.join(TOP, "tests", "data", "megatron_vs_hf")
AXE = os.path.join(TOP, "static", "node_modules", "axe-core", "axe.min.js")


class Logs:
    """A comparison of two tensor dumps, and the dumps, served."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address = folder, address

    def opened(self, page: Page) -> Viewer:
        viewer = alone(page, self.address, run=run_named(str(self.folder / "logs"), "qkv")).opened()
        viewer.wait("s.details && s.details.rows > 3")
        return viewer


@pytest.fixture(scope="module")
def logs(bundle: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Logs]:
    folder = tmp_path_factory.mktemp("tensors")
    for dump in ("megatron_tensor_bug_qkv_bias_layer2", "hf_tensor_layer2"):
        shutil.copytree(os.path.join(DATA, dump), folder / dump)
    convert(str(folder / "logs" / "qkv"), "-tp", str(folder / "megatron_tensor_bug_qkv_bias_layer2"),
            "-gp", str(folder / "hf_tensor_layer2"))
    with serving(str(folder / "logs")) as address:
        yield Logs(folder, address)


def open_map(page: Page, tensor: str) -> None:
    page.get_by_role("button", name=f"Map of the differences in {tensor}").click()


def test_a_map_shows_where_a_tensor_differs(page: Page, logs: Logs) -> None:
    logs.opened(page)
    open_map(page, "output.0")
    panel = page.locator(".heatmap")
    expect(panel).to_contain_text("2,048 of 2,048 elements differ")
    expect(panel).to_contain_text("worst element")
    expect(panel).to_contain_text("[9, 0, 5]")
    expect(panel).to_contain_text("0.3496118")  # target
    expect(panel).to_contain_text("0.3218456")  # golden
    expect(panel).to_contain_text("golden per_group(2): q_proj, k_proj, v_proj → permute(1,0,2)")
    colours = page.evaluate("""() => { const canvas = document.querySelector('.heatmap-canvas canvas');
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        return new Set(Array.from({length: data.length / 4}, (_, i) => data.slice(4 * i, 4 * i + 3).join())).size; }""")
    assert colours > 50


def test_a_map_opens_in_tensorboard(page: Page, logs: Logs) -> None:
    with running_tensorboard("--logdir", str(logs.folder / "logs")) as address:
        viewer = in_tensorboard(page, address, run=run_named(str(logs.folder / "logs"), "qkv")).opened()
        viewer.wait("s.details && s.details.rows > 3")
        viewer.frame.get_by_role("button", name="Map of the differences in bias").click()
        expect(viewer.frame.locator(".heatmap")).to_contain_text("128 of 128 elements differ")


def test_any_place_can_be_read_with_the_mouse_and_with_keys(page: Page, logs: Logs) -> None:
    viewer = logs.opened(page)
    open_map(page, "output.0")
    canvas = page.get_by_role("application", name="Differences in output.0")
    size = canvas.bounding_box()
    assert size is not None
    canvas.hover(position={"x": size["width"] * 17.5 / 128, "y": size["height"] * 3.5 / 16})
    facts = page.locator(".heatmap-facts")
    expect(facts).to_contain_text("[3, 0, 17]")
    page.mouse.move(5, 5)
    expect(facts).to_contain_text("[9, 0, 5]")
    selected = viewer.snapshot()["selection"]
    canvas.focus()
    for key in ("Home", "ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(facts).to_contain_text("[10, 0, 7]")
    assert viewer.snapshot()["selection"] == selected  # the arrows were the map's
    page.keyboard.press("Escape")
    expect(page.locator(".heatmap")).to_have_count(0)


def test_equal_tensors_are_said_to_be_equal(page: Page, logs: Logs) -> None:
    logs.opened(page)
    open_map(page, "input.0")
    expect(page.locator(".heatmap")).to_contain_text("All 1,024 elements are equal.")


def test_a_bias_has_channels_but_no_tokens(page: Page, logs: Logs) -> None:
    logs.opened(page)
    open_map(page, "bias")
    expect(page.locator(".heatmap")).to_contain_text("128 channels")
    expect(page.locator(".heatmap")).not_to_contain_text("token")


def test_the_mean_shows_the_sign(page: Page, logs: Logs) -> None:
    logs.opened(page)
    open_map(page, "bias")
    page.get_by_role("combobox", name="Show").select_option("mean difference")
    expect(page.locator(".heatmap-legend")).to_contain_text("−")


def test_it_follows_to_the_next_node(page: Page, logs: Logs) -> None:
    viewer = logs.opened(page)
    open_map(page, "output.0")
    expect(page.locator(".heatmap")).to_contain_text("[9, 0, 5]")
    page.locator("[role=tree]").first.focus()
    page.keyboard.press("ArrowDown")
    viewer.wait("s.selection.name.includes('linear_proj')")
    expect(page.locator(".heatmap")).to_contain_text("1,024 of 1,024 elements differ")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible_in_chinese_and_in_a_small_frame(page: Page, logs: Logs, scheme: str) -> None:
    page.set_viewport_size({"width": 800, "height": 700})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    logs.opened(page)
    open_map(page, "output.0")
    expect(page.locator(".heatmap-canvas")).to_be_visible()
    page.get_by_role("button", name="切换到中文").click()
    panel = page.locator(".heatmap")
    expect(panel).to_contain_text("output.0 的差异")
    size = page.locator(".heatmap-canvas").bounding_box()
    assert size is not None and size["width"] > 150 and size["height"] > 100
    assert size["x"] + size["width"] <= 800 and size["y"] + size["height"] <= 700
    with open(AXE, encoding="utf-8") as script:
        page.evaluate(f"() => {{ {script.read()} }}")
    found = page.evaluate("async () => (await axe.run('.details')).violations.map(v => v.id + ' ' + v.nodes.map(n => n.html).join(' '))")
    assert found == []


def test_a_dump_that_is_gone_is_named(page: Page, logs: Logs) -> None:
    logs.opened(page)
    place = logs.folder / "hf_tensor_layer2"
    place.rename(logs.folder / "elsewhere")
    try:
        open_map(page, "bias")
        expect(page.locator(".heatmap [role=alert]")).to_contain_text(f"Not available: The dump is not at {place} any more.")
    finally:
        (logs.folder / "elsewhere").rename(place)
    page.problems[:] = [problem for problem in page.problems if "404" not in problem]  # type: ignore[attr-defined]
