"""In TensorBoard: the tensors of a pair, gradients, what the copies hold."""

from __future__ import annotations

import re

import pytest
from panel_steps import NO_CLIPBOARD, panel, pasted
from playwright.sync_api import Locator, Page, expect
from viewer import Viewer, in_tensorboard, run_named


def row_of(viewer: Viewer, tensor: str) -> Locator:
    return viewer.frame.locator(f".details tbody tr:has(th[title='{tensor}'])")


@pytest.mark.parametrize(("kind", "expected"), [
    ("as text", r"bias +target +float32 +\[128\] "),
    ("as TSV", r"bias\ttarget\tfloat32\t\[128\]\t"),
    ("as Markdown", r"\| bias \| target \| float32 \| "),
    ("names", r"Module\.model\.layers\.2\.self_attn\.q_proj\.Linear\.forward\.0\n"),
])
def test_numbers_and_reasons_are_copied_without_the_clipboard_api(page: Page, bug_tensorboard: str, bug_logs: str, kind: str,
                                                                 expected: str) -> None:
    page.add_init_script(NO_CLIPBOARD)
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "qkv")).opened()
    viewer.wait("s.details && s.details.rows > 0")
    viewer.frame.get_by_role("button", name="Copy").click()
    viewer.frame.get_by_role("button", name=kind).click()
    expect(viewer.frame.locator(".toast")).to_have_text("Copied")
    text = pasted(viewer)
    assert re.search(expected, text), text
    if kind != "names":
        assert "0.3100162" in text and "0.2066774" in text and "every statistic is 1.5 × golden" in text


def test_gradients_of_parameters_are_compared_beside_them(bug: Viewer) -> None:
    bug.frame.locator("#search-box").fill("kind:gradient layers.3 linear_fc2")
    panel(bug).locator("[role=option]").first.click()
    bug.wait("s.selection.name.includes('parameters_grad')")
    expect(bug.frame.locator(".details tbody tr")).to_contain_text(["weight.grad"])


def test_every_tensor_has_the_range_of_both_sides_on_one_axis(bug: Viewer) -> None:
    row = row_of(bug, "bias")
    target, golden = (row.locator(f"svg.range g.{side} line").bounding_box() for side in ("first", "second"))
    assert target and golden
    assert target["width"] == pytest.approx(1.5 * golden["width"], rel=0.05)  # the bias is 1.5 × golden


def test_a_difference_of_shape_is_marked(bug: Viewer) -> None:
    row = row_of(bug, "input.0")
    expect(row.locator("td.differs")).to_have_text("float32 [16,1,64] ~ [1,16,64]")
    expect(row).to_contain_text("same elements, other layout")


def test_a_reason_is_not_cut_where_its_row_has_room(bug: Viewer) -> None:
    reason = row_of(bug, "bias").locator(".reason")
    assert reason.evaluate("element => element.scrollHeight <= element.clientHeight + 1")
    expect(reason).to_contain_text("tolerance")
