"""The viewer inside a real TensorBoard: it opens on the first divergence, within its budget, and behaves as a guest."""

from __future__ import annotations

import time

import pytest
from log_directories import graph_bytes, write_run
from playwright.sync_api import Page, Route, expect
from tensorboard_process import running_tensorboard
from viewer import WAIT, Viewer, forget_refusals, in_tensorboard, plugin_frame, run_named

WRONG = "Module.model.layers.12.mlp.down_proj.Linear.forward.0"


def test_the_first_divergence_is_selected_and_in_view(page: Page, tensorboard: str, logs: str) -> None:
    viewer = in_tensorboard(page, tensorboard, run=run_named(logs, "qwen2")).opened()
    viewer.wait(f"s.selection && s.selection.name === '{WRONG}' && s.details && s.details.rows > 0")
    boxes = {(box["side"], box["name"]) for box in viewer.snapshot()["boxes"]}
    assert {("target", WRONG), ("golden", WRONG)} <= boxes


def test_a_pair_with_nothing_wrong_opens_calmly(page: Page, tensorboard: str, logs: str) -> None:
    viewer = in_tensorboard(page, tensorboard, run=run_named(logs, "megatron")).opened()
    shown = viewer.snapshot()
    assert shown["nodes"]["golden"] > 0 and shown["selection"] is None
    headlines = viewer.frame.locator(".verdict .big")
    assert [text.strip() for text in headlines.all_inner_texts()] == ["agrees", "agrees", "all agree"]


def test_a_single_graph_has_one_side(page: Page, tensorboard: str, logs: str) -> None:
    viewer = in_tensorboard(page, tensorboard, run=run_named(logs, "build")).opened()
    assert viewer.snapshot()["nodes"] == {"target": 59, "golden": 0}


def test_a_link_opens_its_node(page: Page, tensorboard: str, logs: str) -> None:
    node = "Module.model.layers.3.self_attn.q_proj.Linear.forward.0"
    viewer = in_tensorboard(page, tensorboard, run=run_named(logs, "qwen2"), node=node, side="golden").opened()
    viewer.wait(f"s.selection && s.selection.name === '{node}' && s.selection.side === 'golden'")


def test_the_first_picture_takes_few_bytes(page: Page, tensorboard: str, logs: str) -> None:
    sizes: list[int] = []
    page.on("requestfinished", lambda request: sizes.append(request.sizes()["responseBodySize"])
            if "/data/plugin/tb_graph_ascend/" in request.url else None)
    in_tensorboard(page, tensorboard, run=run_named(logs, "qwen2")).opened()
    assert len(sizes) > 3 and 0 < sum(sizes) < 300_000


OPENING = tuple(f"name={name}" for name in ("summary", "strings", "topology%2Ftarget", "topology%2Fgolden", "pairs", "verdicts"))


def test_the_graph_is_asked_for_before_the_viewer_is_there_and_nothing_is_asked_twice(page: Page, tensorboard: str, logs: str) -> None:
    asked: list[str] = []
    held: list[Route] = []
    page.on("request", lambda request: asked.append(request.url.partition("/plugin/tb_graph_ascend/")[2]))
    page.route("**/tb_graph_ascend/assets/*.js", lambda route: held.append(route))
    page.goto(f"{tensorboard}/#tb_graph_ascend&p.tb_graph_ascend.run={run_named(logs, 'qwen2')}")
    deadline = time.monotonic() + WAIT
    while not held or not all(any(section in url for url in asked) for section in OPENING):
        assert time.monotonic() < deadline, asked
        page.wait_for_timeout(50)
    held[0].continue_()
    Viewer(page, plugin_frame(page)).opened()
    parts = ("index.js", "assets/", "runs", "graph?", *OPENING)
    opening = [url for url in asked if any(part in url for part in parts)]
    assert len(opening) == len(set(opening)) == 4 + len(OPENING)


def test_nothing_is_fetched_from_elsewhere_and_no_policy_is_violated(page: Page, tensorboard: str, logs: str) -> None:
    foreign: list[str] = []
    page.on("request", lambda request: foreign.append(request.url) if not request.url.startswith((tensorboard, "data:", "blob:")) else None)
    viewer = in_tensorboard(page, tensorboard, run=run_named(logs, "qwen2")).opened()
    assert any("/data/plugin/tb_graph_ascend/" in url for url in viewer.sent)
    assert [url for url in foreign if "fonts.g" not in url] == []  # TensorBoard's own page asks for fonts


def test_under_a_path_prefix_everything_resolves(page: Page, bundle: str, logs: str) -> None:
    with running_tensorboard("--logdir", logs, prefix="/pre/fix") as address:
        viewer = in_tensorboard(page, address, run=run_named(logs, "qwen2")).opened()
        assert viewer.sent and all(url.startswith(address) for url in viewer.sent)


def test_the_frame_has_a_language_and_follows_dark_mode(page: Page, tensorboard: str, logs: str) -> None:
    viewer = in_tensorboard(page, tensorboard, run=run_named(logs, "qwen2")).opened()
    assert viewer.frame.evaluate("document.documentElement.lang") == "en"
    background = "getComputedStyle(document.body).backgroundColor"
    light = viewer.frame.evaluate(background)
    page.evaluate("document.body.classList.add('dark-mode')")
    viewer.wait_for(f"{background} !== '{light}'")


def test_another_tab_of_tensorboard_and_back_keeps_the_view(page: Page, tensorboard: str, logs: str) -> None:
    viewer = in_tensorboard(page, tensorboard, run=run_named(logs, "qwen2")).opened()
    viewer.wait("s.selection")
    before = viewer.snapshot()
    page.evaluate("location.hash = '#timeseries'")
    frame = page.locator("iframe").first
    expect(frame).to_be_hidden()
    drawn = viewer.snapshot()["frame"]["frames"]
    page.evaluate("new Promise(done => { let left = 20; (function next() { left-- ? requestAnimationFrame(next) : done(); })(); })")
    assert viewer.snapshot()["frame"]["frames"] - drawn <= 1  # nothing is drawn while hidden
    page.evaluate("location.hash = '#tb_graph_ascend'")
    viewer.wait("s.boxes.length > 0")
    assert viewer.snapshot()["selection"] == before["selection"]


def test_an_empty_log_directory_shows_what_to_do(page: Page, bundle: str, tmp_path) -> None:
    with running_tensorboard("--logdir", str(tmp_path)) as address:
        viewer: Viewer = in_tensorboard(page, address)
        viewer.frame.get_by_text("graph-convert").first.wait_for()


@pytest.mark.parametrize(("locale", "name", "said"), [
    ("en", "nowhere", "does not exist"),
    ("en", "file", "is a file, not a log directory"),
    ("zh", "nowhere", "不存在"),
    ("zh", "file", "是文件，不是日志目录"),
])
def test_a_log_directory_that_is_missing_or_a_file_is_said(page: Page, bundle: str, tmp_path, locale: str, name: str, said: str) -> None:
    (tmp_path / "file").write_text("")
    page.add_init_script(f"localStorage.setItem('tb_graph_ascend.locale', '{locale}')")
    with running_tensorboard("--logdir", str(tmp_path / name)) as address:
        viewer: Viewer = in_tensorboard(page, address)
        viewer.frame.get_by_role("alert").filter(has_text=f"{tmp_path / name} {said}").wait_for()


def test_a_broken_graph_is_named_and_the_others_open(page: Page, bundle: str, logs: str, tmp_path) -> None:
    write_run(str(tmp_path / "compare_1"), ((0, 0), (0, 1)))
    (tmp_path / "compare_1" / "step0" / "rank0.pb").write_bytes(graph_bytes()[:60])
    with running_tensorboard("--logdir", str(tmp_path)) as address:
        viewer = in_tensorboard(page, address, run="compare_1", rank=0)
        viewer.frame.get_by_text("cut off").first.wait_for()
        forget_refusals(page, 404)
        in_tensorboard(page, address, run="compare_1", rank=1).opened()
