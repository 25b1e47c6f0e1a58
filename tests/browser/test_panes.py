"""In TensorBoard: the two graphs, folds, gaps, what produced the inputs, colours, minimaps, and graphs of unusual shape."""

from __future__ import annotations

import pytest
from panel_steps import QKV, click, picture
from playwright.sync_api import Page, expect
from viewer import Viewer, in_tensorboard, run_named

MLP = "Module.0.decoder.layers.2.mlp.MLP.forward.0"
GOLDEN_MLP = "Module.model.layers.2.mlp.Qwen2MLP.forward.0"
FOLD = "b.name === 'Module.0.decoder.layers.0.TransformerLayer.forward.0' && (b.flags & 4)"


def opened(page: Page, address: str, logs: str, run: str, **fields: str) -> Viewer:
    return in_tensorboard(page, address, run=run_named(logs, run), **fields).opened()


def test_of_layers_in_which_nothing_is_wrong_none_is_called_the_worst(page: Page, tensorboard: str, logs: str) -> None:
    viewer = opened(page, tensorboard, logs, "megatron")
    words = [text["words"] for text in picture(viewer) if " alike, clean" in text["words"]]
    assert words and not [text for text in words if "worst" in text]


def test_equal_layers_are_one_box_that_opens_and_folds_again(bug: Viewer) -> None:
    bug.wait(f"s.boxes.some(b => {FOLD})")
    texts = [text["words"] for text in picture(bug)]
    assert "layers.0–1" in texts and "2 alike, clean" in texts
    click(bug, "target", "Module.0.decoder.layers.0.TransformerLayer.forward.0")
    bug.page.keyboard.press("Enter")
    bug.wait("s.boxes.filter(b => /layers.[01].(Transformer|Qwen2Decoder)Layer.forward.0$/.test(b.name)).length === 4")
    bug.page.keyboard.press("z")
    bug.wait(f"s.boxes.some(b => {FOLD})")


def test_the_sides_open_each_by_itself_when_asked_to(bug: Viewer) -> None:
    bug.frame.get_by_role("button", name="Open both sides together").click()
    bug.frame.locator("[role=tree]").first.focus()
    click(bug, "target", "Module.0.decoder.layers.2.self_attention.SelfAttention.forward.0")
    bug.page.keyboard.press("Enter")
    bug.wait("!s.boxes.some(b => b.name.includes('layers.2.self_attention.linear_qkv'))")
    assert any("self_attn.q_proj" in item["name"] for item in bug.snapshot()["boxes"])


def test_what_one_side_lacks_is_a_gap_that_says_so(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    viewer = opened(page, bug_tensorboard, bug_logs, "qkv", node="Module.model.rotary_emb.Qwen2RotaryEmbedding.forward.0", side="golden")
    viewer.wait("s.selection && s.selection.name.includes('rotary_emb')")
    assert any(text["words"].startswith("nothing here · ") and text["words"].endswith(" only in golden") for text in picture(viewer))


def test_a_click_on_the_producer_of_the_inputs_goes_there(bug: Viewer) -> None:
    bug.frame.locator(".producers").get_by_role("button", name="input_layernorm").click()
    bug.wait("s.selection.name.includes('layers.2.input_layernorm')")


@pytest.mark.parametrize(("colour", "words"), [
    ("status", ["pass", "error", "unmatched"]),
    ("how matched", ["exact", "fuzzy", "structural"]),
    ("overflow", ["clean", "medium", "high", "critical"]),
    ("output error", ["non-finite", "unmatched"]),
])
def test_boxes_are_coloured_by(page: Page, bug_tensorboard: str, bug_logs: str, colour: str, words: list[str]) -> None:
    viewer = opened(page, bug_tensorboard, bug_logs, "nan")
    viewer.frame.get_by_label("colour", exact=True).select_option(label=colour)
    for word in words:
        expect(viewer.frame.get_by_label("Legend")).to_contain_text(word)
    assert {text["words"] for text in picture(viewer)} >= {"linear_fc1", "gate_proj"}


def test_boxes_are_coloured_by_a_metric_of_the_elements(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    viewer = opened(page, bug_tensorboard, bug_logs, "tensor")
    metric = viewer.frame.get_by_label("colour", exact=True)
    expect(metric.locator("option", has_text="ULP Distance")).to_be_attached()
    metric.select_option(label="1 − Cosine")
    expect(viewer.frame.get_by_label("Counts as clean up to")).to_be_visible()
    page.wait_for_function("location.hash.includes('colour=metric:Cosine')")


def test_the_threshold_decides_what_counts_as_clean_and_is_in_the_address(bug: Viewer) -> None:
    bug.frame.get_by_label("colour", exact=True).select_option(label="output error")
    clean = bug.frame.get_by_label("Legend").locator(".entry", has_text="clean")
    before = clean.get_attribute("title")
    slider = bug.frame.get_by_label("Counts as clean up to")
    slider.focus()
    bug.page.keyboard.press("End")
    expect(clean).not_to_have_attribute("title", before or "")
    bug.page.wait_for_function("location.hash.includes('threshold=')")


def test_a_click_on_a_minimap_goes_to_that_part_of_that_side(bug: Viewer) -> None:
    before = bug.snapshot()["camera"]["scroll"]
    bug.frame.get_by_role("img", name="Overview of golden").click(position={"x": 8, "y": 250})
    bug.wait("s.selection.side === 'golden' && s.boxes.some(b => b.name === s.selection.name && b.side === 'golden')")
    assert bug.snapshot()["camera"]["scroll"] > before


def test_a_single_graph_has_no_words_of_a_comparison(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    viewer = opened(page, bug_tensorboard, bug_logs, "build", panel="matches")
    assert {item["side"] for item in viewer.snapshot()["boxes"]} == {"target"}
    rail = viewer.frame.get_by_role("navigation", name="Panels").get_by_role("button")
    assert [button.get_attribute("aria-label") for button in rail.all()] == ["Search", "Share"]
    for part in ("aside.panel", ".verdict", ".legend"):
        expect(viewer.frame.locator(part)).to_have_count(0)


@pytest.mark.parametrize(("run", "node"), [
    ("wide", "Module.model.层9999.线性层.forward.0"),
    ("deep", "Module.model.d9999.Block.forward.0"),
])
def test_ten_thousand_modules_beside_or_inside_each_other_are_shown(page: Page, bug_tensorboard: str, bug_logs: str, run: str,
                                                                  node: str) -> None:
    viewer = opened(page, bug_tensorboard, bug_logs, run, node=node)
    viewer.wait(f"s.boxes.filter(b => b.name === '{node}' && b.width > 150 && b.y > 0).length === 2")
    viewer.frame.get_by_role("button", name="Expand all").click()
    viewer.page.keyboard.press("o")
    viewer.wait("s.camera.scale < 0.1")
    viewer.page.keyboard.press("f")
    viewer.wait(f"s.camera.scale === 1 && s.boxes.some(b => b.name === '{node}')")


@pytest.mark.parametrize(("run", "width", "node"), [
    ("qkv", 800, QKV),
    ("wide", 800, "Module.model.层5000.线性层.forward.0"),
    ("deep", 800, "Module.model.d5000.Block.forward.0"),
    ("nan", 1600, QKV),
])
def test_no_label_reaches_out_of_the_page_or_over_another(page: Page, bug_tensorboard: str, bug_logs: str, run: str, width: int,
                                                         node: str) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    viewer = opened(page, bug_tensorboard, bug_logs, run, panel="share", node=node)
    viewer.wait("s.selection")
    texts = [text for text in picture(viewer) if not text["caption"]]
    assert len(texts) >= 8
    outside = [text for text in texts if text["left"] < 0 or text["right"] > text["width"]]
    lines: dict[int, list[dict[str, float]]] = {}
    for text in texts:
        lines.setdefault(round(text["top"]), []).append(text)
    over = [(a["words"], b["words"]) for line in lines.values() for a in line for b in line
            if a is not b and a["left"] < b["left"] < a["right"] - 1]
    assert (outside, over) == ([], [])


def test_the_graphs_stay_sharp_on_another_screen(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    # The browser's emulation of another screen changes the ratio without telling the page: the test tells it.
    page.add_init_script("const ask = matchMedia.bind(window); window.asked = [];"
                         "window.matchMedia = (...query) => { const list = ask(...query); window.asked.push(list); return list; }")
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "qkv")).opened()
    viewer.settled()
    pixels = "[...document.querySelectorAll('.canvas-host > canvas')].map(canvas => canvas.width / canvas.clientWidth).join()"
    assert viewer.frame.evaluate(pixels) == "1,1"
    size = page.viewport_size
    assert size
    page.context.new_cdp_session(page).send("Emulation.setDeviceMetricsOverride", {**size, "deviceScaleFactor": 2, "mobile": False})
    viewer.wait_for("devicePixelRatio === 2")
    viewer.frame.evaluate("window.asked.filter(list => list.media.includes('resolution'))"
                          ".forEach(list => list.dispatchEvent(new Event('change')))")
    viewer.wait_for(f"{pixels} === '2,2'")
