"""The menus of runs, steps and ranks: what is wrong is seen before anything is opened."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect
from viewer import in_tensorboard, run_named, size_of_frame


def test_runs_are_named_with_their_time_and_the_sign_of_their_worst_graph(page: Page, tensorboard: str, logs: str) -> None:
    viewer = in_tensorboard(page, tensorboard, run=run_named(logs, "megatron")).opened()
    menu = viewer.frame.get_by_role("combobox", name="run").first
    texts = menu.locator("option").all_inner_texts()
    time = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
    assert sorted(re.sub(time, "T", text) for text in texts) == [
        "build · T · ms_cnn_mix_stat/target", "◆ qwen2 · T · qwen2_24l_mix_stat/target ↔ golden · parameter",
        "✓ megatron · T · megatron_vs_hf/megatron ↔ hf · clean"]
    times = [re.search(time, text)[0] for text in texts]  # type: ignore[index]
    assert times == sorted(times, reverse=True)


def test_the_time_of_the_open_run_is_never_cut(page: Page, tensorboard: str, logs: str) -> None:
    size_of_frame(page, 800, 700)
    viewer = in_tensorboard(page, tensorboard, run=run_named(logs, "megatron")).opened()
    behind = viewer.frame.locator(".pick .behind").first
    expect(behind).to_have_text(re.compile(r"^\d\d-\d\d \d\d:\d\d$"))
    assert behind.evaluate("element => element.scrollWidth <= element.clientWidth + 1 && element.getBoundingClientRect().right < 400")


def test_a_rank_that_is_wrong_is_told_in_its_menu(page: Page, tensorboard: str, logs: str) -> None:
    viewer = in_tensorboard(page, tensorboard, run=run_named(logs, "qwen2")).opened()
    assert viewer.frame.get_by_role("combobox", name="rank").locator("option").all_inner_texts() == ["◆ 0 · parameter"]


def test_a_comparison_is_coloured_after_a_single_graph_was_looked_at(page: Page, tensorboard: str, logs: str) -> None:
    viewer = in_tensorboard(page, tensorboard, run=run_named(logs, "build")).opened()
    viewer.wait("s.colouring === 'none'")
    viewer.frame.get_by_role("combobox", name="run").first.select_option(run_named(logs, "qwen2"))
    viewer.wait("s.colouring === 'cause' && s.nodes.golden > 0")
    expect(viewer.frame.get_by_role("complementary", name="Findings, in call order")).to_be_visible()
