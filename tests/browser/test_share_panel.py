"""Sharing: the address, the page in one file, pictures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Callable

from panel_steps import PROJ, click, open_panel, panel, picture, written
from playwright.sync_api import Page, expect
from viewer import Viewer, in_tensorboard, opened_at, run_named, size_of_frame


def test_the_address_shows_a_colleague_the_same_and_is_copied_without_the_clipboard_api(qkv: Viewer, new_page: Callable[..., Page]) -> None:
    qkv.frame.fill("#search-box", "layers.2 is:inherited")
    click(qkv, "target", PROJ)
    qkv.wait(f"s.selection.name === '{PROJ}'")
    open_panel(qkv, "Share")
    address = panel(qkv).get_by_label("Address of this view")
    expect(address).to_have_value(re.compile(f"node={re.escape(PROJ)}.*q=layers.2"))
    viewer = opened_at(new_page(), address.input_value()).opened()
    viewer.wait(f"s.selection && s.selection.name === '{PROJ}'")
    expect(viewer.frame.locator("#search-box")).to_have_value("layers.2 is:inherited")
    qkv.frame.evaluate("delete Navigator.prototype.clipboard")
    panel(qkv).get_by_role("button", name="Copy", exact=True).click()
    expect(qkv.frame.locator(".toast")).to_have_text("Address copied")


def test_a_saved_page_opens_with_what_was_to_be_seen(qkv: Viewer, own_logs: str, new_page: Callable[..., Page], tmp_path: Path) -> None:
    qkv.frame.get_by_role("button", name="Expected…").click()
    panel(qkv).get_by_role("button", name="Mark", exact=True).click()
    panel(qkv).get_by_label(re.compile("Hide 1 marked")).check()
    written(qkv, own_logs, lambda kept: bool(kept["triage"]))
    qkv.frame.fill("#search-box", "layers.2 is:inherited")
    click(qkv, "target", PROJ)
    qkv.wait(f"s.selection.name === '{PROJ}'")
    open_panel(qkv, "Share")
    with qkv.page.expect_download() as download:
        panel(qkv).get_by_role("button", name="Save as HTML", exact=True).click()
    download.value.save_as(tmp_path / "page.html")
    page = new_page()
    page.goto((tmp_path / "page.html").as_uri())
    saved = Viewer(page, page).opened()
    saved.wait(f"s.selection && s.selection.name === '{PROJ}'")
    expect(page.locator("#search-box")).to_have_value("layers.2 is:inherited")
    expect(page.locator(".verdict .card").first).to_contain_text("nothing else")


def test_page_and_pictures_are_saved(qkv: Viewer, new_page: Callable[..., Page], tmp_path: Path) -> None:
    open_panel(qkv, "Share")
    saved = {}
    for name in ("Save as HTML", "PNG", "SVG"):
        with qkv.page.expect_download() as download:
            panel(qkv).get_by_role("button", name=name, exact=True).click()
        saved[name] = tmp_path / download.value.suggested_filename
        download.value.save_as(saved[name])
    assert saved["PNG"].read_bytes()[:4] == b"\x89PNG" and saved["PNG"].stat().st_size > 10_000
    svg = saved["SVG"].read_text(encoding="utf-8")
    assert svg.startswith("<svg") and "linear_qkv" in svg
    page = new_page()
    page.goto(saved["Save as HTML"].as_uri())
    Viewer(page, page).opened()


def test_the_address_in_tensorboard_brings_back_rank_micro_step_colour_threshold_and_panel(page: Page, bug_tensorboard: str,
                                                                                          bug_logs: str) -> None:
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "ranks"), rank=1).opened()
    viewer.frame.get_by_label("micro step", exact=True).select_option("1")
    viewer.wait("s.selection.name.endsWith('forward.1')")  # the same call, there
    viewer.frame.get_by_label("colour", exact=True).select_option(label="output error")
    viewer.frame.get_by_label("Counts as clean up to").focus()
    page.keyboard.press("ArrowRight")
    open_panel(viewer, "Match by hand")
    parts = ["rank=1", "micro=1", "colour=error", "threshold=", "panel=matches", "node="]
    page.wait_for_function("parts => parts.every(part => location.hash.includes(part))", arg=parts)
    before = viewer.still()
    again = viewer.reload()
    again.wait("s.selection")
    after = again.still()
    assert [after[part] for part in ("chosen", "selection", "colouring")] == [before[part] for part in ("chosen", "selection", "colouring")]
    expect(again.frame.locator("aside.panel h2").first).to_have_text("Match by hand")
    expect(again.frame.get_by_label("micro step", exact=True)).to_have_value("1")


def test_a_link_to_a_node_that_is_not_there_says_so(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "qkv"), node="Module.<b>gone</b>.forward.0").opened()
    expect(viewer.frame.locator(".toast")).to_have_text("The link names Module.<b>gone</b>.forward.0, which is not in this graph.")


def test_a_picture_names_run_and_sides_and_explains_its_colours(bug: Viewer) -> None:
    caption = " ".join(text["words"] for text in picture(bug) if text["caption"])
    for words in ("qkv/compare_", "step 0", "rank 0", "target ↔ golden", "clean", "inherited", "◆ parameter"):
        assert words in caption


def test_a_picture_of_a_narrow_page_has_its_whole_caption(bug: Viewer) -> None:
    size_of_frame(bug.page, 640, 800)
    bug.settled()
    texts = picture(bug)
    title = next(text for text in texts if "step 0 · rank 0 · target ↔ golden" in text["words"])
    caption = [text for text in texts if text["top"] >= title["top"]]
    assert {"clean", "↓ inherited", "◆ parameter"} <= {text["words"] for text in caption}
    assert len({round(text["top"]) for text in caption}) > 2  # the colours take more than one line
    assert all(text["right"] <= text["width"] for text in caption)
