"""What a person sees first: the verdict, where it begins, both graphs at that place, the numbers with the reason."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from panel_steps import NO_CLIPBOARD, QKV, opened_at_cause, pasted
from playwright.sync_api import Page, expect
from viewer import Viewer, in_tensorboard, run_named, size_of_frame


@pytest.fixture
def qkv(page: Page, bug_tensorboard: str, bug_logs: str) -> Viewer:
    """The run "qkv" of the directory that nobody writes to."""
    viewer = opened_at_cause(page, bug_tensorboard, bug_logs, "qkv")
    viewer.wait("s.details && s.details.rows > 0")
    return viewer


def box(viewer: Viewer, side: str, name: str) -> Any:
    found = [item for item in viewer.still()["boxes"] if item["side"] == side and item["name"] == name]
    assert found, f"{name} is not on the {side} side of the screen"
    return found[0]


def click_box(viewer: Viewer, side: str, name: str, dx: float | None = None) -> None:
    """Clicks the header of a box; `dx` pixels from its left edge, else in its middle."""
    place = box(viewer, side, name)
    host = viewer.frame.locator(".canvas-host").bounding_box()
    assert host is not None
    x = host["x"] + place["x"] + (place["width"] / 2 if dx is None else dx)
    viewer.page.mouse.click(x, host["y"] + place["y"] + 10)


def test_the_verdict_says_whether_where_and_why(qkv: Viewer) -> None:
    cards = qkv.frame.locator(".card")
    expect(cards.nth(0)).to_contain_text("layers.2 · self_attention · linear_qkv")
    expect(cards.nth(0)).to_contain_text("bias differs")
    expect(cards.nth(1)).to_contain_text("follows from forward")
    expect(cards.nth(2)).to_contain_text("linear_qkv.bias")


def test_a_fused_layer_and_its_parts_stand_opposite_each_other(qkv: Viewer) -> None:
    parts = [f"Module.model.layers.2.self_attn.{name}_proj.Linear.forward.0" for name in "qkv"]
    fused = box(qkv, "target", QKV)
    assert box(qkv, "golden", parts[0])["y"] == fused["y"]
    assert box(qkv, "golden", parts[2])["y"] > fused["y"]


def test_paired_modules_stand_at_one_height(qkv: Viewer) -> None:
    pairs = {"self_attention.linear_proj.RowParallelLinear": "self_attn.o_proj.Linear", "mlp.MLP": "mlp.Qwen2MLP"}
    for target, golden in pairs.items():
        a = box(qkv, "target", f"Module.0.decoder.layers.2.{target}.forward.0")
        b = box(qkv, "golden", f"Module.model.layers.2.{golden}.forward.0")
        assert a["y"] == b["y"]


def test_the_details_give_both_sides_and_the_reason(qkv: Viewer) -> None:
    bias = qkv.frame.locator(".details tbody tr", has_text="bias").first  # another row says that it follows from it
    expect(bias).to_contain_text("float32 [128] = 64+32+32")
    expect(bias).to_contain_text("0.3100162")
    expect(bias).to_contain_text("0.2066774")
    expect(bias).to_contain_text("5.0e-1")
    expect(bias).to_contain_text("Norm differs")
    expect(qkv.frame.locator(".details-head")).to_contain_text("linear_qkv ↔ q_proj + k_proj + v_proj")
    expect(qkv.frame.locator(".details-head")).to_contain_text("concat")


def test_a_click_on_the_layer_strip_goes_to_the_layer(qkv: Viewer) -> None:
    grid = qkv.frame.locator(".strip-grid")
    size = grid.bounding_box()
    assert size is not None
    grid.click(position={"x": size["width"] * 3.5 / 4, "y": 22})  # the first sub-module of layer 3 of 4
    qkv.wait("s.selection && s.selection.name.startsWith('Module.0.decoder.layers.3.')")


def test_opening_a_box_opens_its_partner(qkv: Viewer) -> None:
    size_of_frame(qkv.page, 1600, 1300)  # both boxes in view
    mlp = {"target": "Module.0.decoder.layers.2.mlp.MLP.forward.0", "golden": "Module.model.layers.2.mlp.Qwen2MLP.forward.0"}
    click_box(qkv, "target", mlp["target"], dx=18)
    qkv.wait(f"s.boxes.filter(b => {list(mlp.values())}.includes(b.name) && (b.flags & 2)).length === 2")
    click_box(qkv, "golden", mlp["golden"], dx=18)
    qkv.wait(f"s.boxes.filter(b => {list(mlp.values())}.includes(b.name) && (b.flags & 2)).length === 0")


def test_everything_can_be_reached_with_the_keyboard(qkv: Viewer) -> None:
    press = qkv.page.keyboard.press
    press("x")
    qkv.wait("s.selection.side === 'golden' && s.selection.name.includes('q_proj')")
    press("x")
    press("ArrowLeft")
    qkv.wait("s.selection.name.includes('SelfAttention.forward')")
    press("Enter")
    qkv.wait("!s.boxes.some(b => b.name.includes('layers.2.self_attention.linear_qkv'))")
    press("n")
    qkv.wait(f"s.selection.name === '{QKV}' && s.boxes.some(b => b.name === '{QKV}')")
    press("Home")
    qkv.wait("s.selection.name.startsWith('Module.0.embedding')")
    press("?")
    expect(qkv.frame.locator(".help")).to_contain_text("next or previous finding")
    press("Escape")
    expect(qkv.frame.locator(".help")).to_have_count(0)


def test_overview_shows_everything_and_f_comes_back(qkv: Viewer) -> None:
    qkv.page.keyboard.press("o")
    qkv.wait("s.camera.scale < 1")
    qkv.page.keyboard.press("f")
    qkv.wait(f"s.camera.scale === 1 && s.boxes.some(b => b.name === '{QKV}')")


def test_the_tree_for_screen_readers_says_what_the_canvas_shows(qkv: Viewer) -> None:
    tree = qkv.frame.locator("[role=tree]").first
    item = tree.locator("[role=treeitem]", has_text="linear_qkv").first
    expect(item).to_have_attribute("aria-selected", "true")
    expect(item).to_contain_text("parameter")
    expect(item).to_contain_text("q_proj")
    expect(qkv.frame.locator("[aria-live=polite]")).to_contain_text("linear_qkv")


def test_ranks_show_where_it_is_wrong_before_one_is_chosen(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "ranks"), rank=2).opened()
    expect(viewer.frame.locator(".graph-cell")).to_have_count(4)
    expect(viewer.frame.get_by_role("button", name="step 0, rank 1: parameter")).to_have_count(1)
    expect(viewer.frame.get_by_role("button", name="step 0, rank 3: inherited")).to_have_count(1)
    viewer.frame.locator(".graph-cell").first.click()
    viewer.wait("s.chosen.rank === 0 && s.selection && s.selection.name.includes('dense_4h_to_h')")


def test_a_rank_that_only_received_a_difference_is_not_said_to_agree(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "ranks"), rank=2).opened()
    verdict = viewer.frame.get_by_role("region", name="Verdict")
    card = verdict.locator(".card", has_text="differs, began elsewhere")
    expect(card).to_contain_text("began on rank 0: Module.layers.2.mlp.dense_4h_to_h")
    expect(verdict.locator(".card", has_text="Backward")).to_contain_text("follows from forward")
    card.click()
    viewer.wait("s.chosen.rank === 0 && s.selection && s.selection.name.includes('dense_4h_to_h')")


def test_the_stack_is_in_sight_once_asked_for(qkv: Viewer) -> None:
    size_of_frame(qkv.page, 1600, 900)
    qkv.frame.get_by_role("button", name="Stack", exact=True).click()
    expect(qkv.frame.locator(".stacks section").first).to_be_in_viewport()


def test_escape_leaves_the_search_box_with_what_was_asked(qkv: Viewer) -> None:
    qkv.page.keyboard.press("/")
    qkv.page.keyboard.type("linear")
    qkv.page.keyboard.press("Escape")
    box = qkv.frame.locator("header input[type=search]")
    expect(box).to_have_value("linear")
    expect(box).not_to_be_focused()


def test_a_verdict_names_the_factor_between_the_sides(qkv: Viewer) -> None:
    expect(qkv.frame.get_by_role("row").filter(has_text="bias").first).to_contain_text("every statistic is 1.5 × golden")


def test_the_address_follows_in_tensorboard_and_a_reload_restores_it(page: Page, tensorboard: str, logs: str) -> None:
    viewer = in_tensorboard(page, tensorboard, run=run_named(logs, "qwen2")).opened()
    viewer.wait("s.selection !== null")
    viewer.page.keyboard.press("ArrowLeft")  # keys work at once: no click into the frame is needed
    viewer.wait("s.selection.name.includes('Qwen2MLP')")
    page.wait_for_function("location.hash.includes('Qwen2MLP')")
    assert "%" not in page.evaluate("location.hash")
    viewer.reload().wait("s.selection && s.selection.name.includes('Qwen2MLP')")


def test_copying_works_where_the_clipboard_api_does_not_exist(page: Page, tensorboard: str, logs: str) -> None:
    """Plain http on another machine's address is no secure context."""
    page.add_init_script(NO_CLIPBOARD)
    viewer = in_tensorboard(page, tensorboard, run=run_named(logs, "qwen2")).opened()
    viewer.wait("s.details && s.details.rows > 0")
    viewer.frame.get_by_role("button", name="Copy").click()
    viewer.frame.get_by_role("button", name="as Markdown").click()
    expect(viewer.frame.locator(".toast")).to_have_text("Copied")
    copied = pasted(viewer)
    assert "| weight | target | float32 |" in copied and "2.880822" in copied


def test_everything_is_there_in_chinese(new_page: Callable[..., Page], tensorboard: str, logs: str) -> None:
    viewer = in_tensorboard(new_page(locale="zh-CN"), tensorboard, run=run_named(logs, "qwen2")).opened()
    viewer.wait("s.details && s.details.rows > 0")
    assert viewer.frame.evaluate("document.documentElement.lang") == "zh-CN"
    parts = ".pick > span, .verdict, .findings h2, .tags, .legend, .details thead, .details-head button"
    words = viewer.frame.locator(parts).all_inner_texts()
    allowed = ("layers", "mlp", "down_proj", "weight", "Norm", "Max", "Min", "Mean", "step", "rank")
    shown = [word for text in words for word in text.split() if word.isascii() and word.isalpha() and len(word) > 2]
    assert [word for word in shown if not word.startswith(allowed)] == []
    viewer.frame.get_by_role("button", name="Switch to English").click()
    expect(viewer.frame.locator(".findings h2")).to_have_text("Findings, in call order")
    viewer.reload()
    expect(viewer.frame.locator(".findings h2")).to_have_text("Findings, in call order")  # remembered


@pytest.mark.parametrize(("width", "height"), [(1600, 1000), (800, 700)])
def test_nothing_jumps_while_a_graph_opens(page: Page, bug_tensorboard: str, bug_logs: str, width: int, height: int) -> None:
    page.add_init_script("""(globalThis.heights = new Set(), function look() {
        const panes = document.querySelector('main.main');
        if (panes) heights.add(panes.getBoundingClientRect().height);
        requestAnimationFrame(look);
    })()""")
    size_of_frame(page, width, height)
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "qkv")).opened()
    viewer.wait("s.details && s.details.rows > 0")
    viewer.settled()
    assert len(viewer.frame.evaluate("[...heights]")) == 1


def test_a_small_frame_shows_both_graphs_and_the_verdict(page: Page, tensorboard: str, logs: str) -> None:
    size_of_frame(page, 800, 700)
    viewer = in_tensorboard(page, tensorboard, run=run_named(logs, "qwen2")).opened()
    viewer.wait("s.selection")
    boxes = viewer.snapshot()["boxes"]
    assert all(item["width"] > 100 for item in boxes if not item["flags"] & 1)
    assert viewer.frame.evaluate("[innerWidth, innerHeight]") == [800, 700]
    assert viewer.frame.evaluate("document.documentElement.scrollWidth <= 800 && document.documentElement.scrollHeight <= 700")
    expect(viewer.frame.locator(".card").first).to_contain_text("down_proj")
