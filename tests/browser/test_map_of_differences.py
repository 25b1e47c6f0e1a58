"""The map of differences beside the table: what it shows of a real fused layer, reading it by mouse and keys, and when it cannot be had."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tensorboard_process import TOP
from viewer import HEADER, Viewer, forget_refusals, in_tensorboard, run_named, size_of_frame

AXE = os.path.join(TOP, "static", "node_modules", "axe-core", "axe.min.js")


def opened(page: Page, address: str, logs: str) -> Viewer:
    viewer = in_tensorboard(page, address, run=run_named(logs, "tensor")).opened()
    viewer.wait("s.details && s.details.rows > 3")
    return viewer


@pytest.fixture
def tensors(page: Page, bug_tensorboard: str, bug_logs: str) -> Viewer:
    """A comparison of two tensor dumps, opened at the fused projection whose bias is wrong."""
    return opened(page, bug_tensorboard, bug_logs)


def open_map(viewer: Viewer, tensor: str) -> None:
    viewer.frame.get_by_role("button", name=f"Heatmap of the differences in {tensor}").click()


def test_a_map_shows_where_a_tensor_differs(tensors: Viewer) -> None:
    open_map(tensors, "output.0")
    panel = tensors.frame.locator(".heatmap")
    expect(panel).to_contain_text("2,048 of 2,048 elements differ")
    expect(panel).to_contain_text("worst element")
    expect(panel).to_contain_text("[9, 0, 5]")
    expect(panel).to_contain_text("0.3496118")  # target
    expect(panel).to_contain_text("0.3218456")  # golden
    expect(panel).to_contain_text("golden per_group(2): q_proj, k_proj, v_proj → permute(1,0,2)")
    colours = tensors.frame.evaluate("""() => { const canvas = document.querySelector('.heatmap-canvas canvas');
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        return new Set(Array.from({length: data.length / 4}, (_, i) => data.slice(4 * i, 4 * i + 3).join())).size; }""")
    assert colours > 50


def test_a_map_shows_the_elements_of_a_parameter(tensors: Viewer) -> None:
    open_map(tensors, "bias")
    expect(tensors.frame.locator(".heatmap")).to_contain_text("128 of 128 elements differ")


def test_any_place_can_be_read_with_the_mouse_and_with_keys(tensors: Viewer) -> None:
    open_map(tensors, "output.0")
    canvas = tensors.frame.get_by_role("application", name="Differences in output.0")
    size = canvas.bounding_box()
    assert size is not None
    canvas.hover(position={"x": size["width"] * 17.5 / 128, "y": size["height"] * 3.5 / 16})
    facts = tensors.frame.locator(".heatmap-facts")
    expect(facts).to_contain_text("[3, 0, 17]")
    tensors.page.mouse.move(5, 5)
    expect(facts).to_contain_text("[9, 0, 5]")
    selected = tensors.snapshot()["selection"]
    canvas.focus()
    for key in ("Home", "ArrowDown", "ArrowRight", "ArrowRight"):
        tensors.page.keyboard.press(key)
    expect(facts).to_contain_text("[10, 0, 7]")
    assert tensors.snapshot()["selection"] == selected  # the arrows were the map's
    tensors.page.keyboard.press("Escape")
    expect(tensors.frame.locator(".heatmap")).to_have_count(0)


def test_equal_tensors_are_said_to_be_equal(tensors: Viewer) -> None:
    open_map(tensors, "input.0")
    expect(tensors.frame.locator(".heatmap")).to_contain_text("All 1,024 elements are equal.")


def test_a_bias_has_channels_but_no_tokens(tensors: Viewer) -> None:
    open_map(tensors, "bias")
    expect(tensors.frame.locator(".heatmap")).to_contain_text("128 channels")
    expect(tensors.frame.locator(".heatmap")).not_to_contain_text("token")


def test_the_mean_shows_the_sign(tensors: Viewer) -> None:
    open_map(tensors, "bias")
    tensors.frame.get_by_role("combobox", name="Show").select_option("mean difference")
    expect(tensors.frame.locator(".heatmap-legend")).to_contain_text("−")


def test_it_follows_to_the_next_node(tensors: Viewer) -> None:
    open_map(tensors, "output.0")
    expect(tensors.frame.locator(".heatmap")).to_contain_text("[9, 0, 5]")
    tensors.frame.locator("[role=tree]").first.focus()
    tensors.page.keyboard.press("ArrowDown")
    tensors.wait("s.selection.name.includes('linear_proj')")
    expect(tensors.frame.locator(".heatmap")).to_contain_text("1,024 of 1,024 elements differ")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible_in_chinese_and_in_a_small_frame(page: Page, bug_tensorboard: str, bug_logs: str, scheme: str) -> None:
    size_of_frame(page, 800, 700)
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    tensors = opened(page, bug_tensorboard, bug_logs)
    open_map(tensors, "output.0")
    expect(tensors.frame.locator(".heatmap-canvas")).to_be_visible()
    tensors.frame.get_by_role("button", name="切换到中文").click()
    panel = tensors.frame.locator(".heatmap")
    expect(panel).to_contain_text("output.0 的差异")
    size = tensors.frame.locator(".heatmap-canvas").bounding_box()
    assert size is not None and size["width"] > 150 and size["height"] > 100
    assert size["x"] + size["width"] <= 800 and size["y"] + size["height"] <= HEADER + 700
    with open(AXE, encoding="utf-8") as script:
        tensors.frame.evaluate(f"() => {{ {script.read()} }}")
    found = tensors.frame.evaluate(
        "async () => (await axe.run('.details')).violations.map(v => v.id + ' ' + v.nodes.map(n => n.html).join(' '))")
    assert found == []


def test_a_dump_that_is_gone_is_named(tensors: Viewer, bug_logs: str) -> None:
    place = Path(bug_logs).parent / "hf_tensor_layer2"
    elsewhere = place.rename(place.with_name("elsewhere"))
    try:
        open_map(tensors, "bias")
        expect(tensors.frame.locator(".heatmap [role=alert]")).to_contain_text(f"Not available: The dump is not at {place} any more.")
    finally:
        elsewhere.rename(place)
    forget_refusals(tensors.page, 404)
