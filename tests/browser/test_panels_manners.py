"""The panels' manners: any name is text in them, both languages, keys."""

from __future__ import annotations

import re
from typing import Callable

import pytest
from hostile import HOSTILE, RUN, SCRIPT, name_of, nothing_ran, open_hostile
from panel_steps import panel, written
from playwright.sync_api import Page, expect
from viewer import Viewer, in_tensorboard, run_named

PANELS = ["search", "matches", "mapping", "triage", "share"]


def open_panel(viewer: Viewer, number: int) -> None:
    viewer.frame.locator(".rail button").nth(number).click()


def test_names_are_text_in_every_panel(page: Page, address: str, own_logs: str) -> None:
    viewer = open_hostile(page, address, own_logs, SCRIPT)
    headings = set()
    for number in range(1, len(PANELS) + 1):
        open_panel(viewer, number)
        if PANELS[number - 1] == "search":
            viewer.frame.fill("#search-box", "kind:module")
            expect(viewer.frame.locator(".search-panel [role=option]").first).to_be_visible()
        expect(panel(viewer).locator("h2").first).to_be_visible()
        headings.add(panel(viewer).locator("h2").first.inner_text())
        viewer.settled()  # with what the panel asked for
        nothing_ran(viewer)
    assert len(headings) == len(PANELS)


@pytest.mark.parametrize("part", [part for part in HOSTILE if part], ids=range(len(HOSTILE) - 1))
def test_every_name_is_found_by_itself(page: Page, address: str, own_logs: str, part: str) -> None:
    viewer = open_hostile(page, address, own_logs, SCRIPT)
    quoted = f'"{part}"' if '"' not in part else "is:matched " + " ".join(f'"{piece}"' for piece in part.split('"') if piece.strip())
    viewer.frame.fill("#search-box", f"{quoted} kind:module")
    titles = viewer.frame.locator(".search-panel [role=option] .words")
    expect(titles.first).to_be_visible()
    assert any(name_of(part) in (title or "") for title in titles.evaluate_all("all => all.map(one => one.title)"))
    nothing_ran(viewer)


def test_names_come_back_whole_from_the_file_and_marks_stay_text(page: Page, address: str, own_logs: str) -> None:
    viewer = open_hostile(page, address, own_logs, SCRIPT)
    open_panel(viewer, 2)
    panel(viewer).get_by_role("button", name="Take apart").click()
    expect(viewer.frame.locator(".details-head")).to_contain_text("no counterpart", timeout=20_000)
    open_panel(viewer, 4)
    panel(viewer).get_by_label("Why").fill(SCRIPT)
    panel(viewer).get_by_role("button", name="Mark", exact=True).click()
    expect(panel(viewer).locator(".entry-row")).to_contain_text(SCRIPT)
    content = written(viewer, own_logs, lambda kept: bool(kept["matches"] and kept["triage"]), run=RUN)
    assert content["matches"][0]["target"] == [name_of(SCRIPT)] and content["triage"][0]["note"] == SCRIPT
    nothing_ran(viewer)


def test_a_panel_has_no_word_of_the_other_language(new_page: Callable[..., Page], tensorboard: str, logs: str) -> None:
    viewer = in_tensorboard(new_page(locale="zh-CN"), tensorboard, run=run_named(logs, "qwen2")).opened()
    headings = set()
    for number in range(1, len(PANELS) + 1):
        open_panel(viewer, number)
        heading = panel(viewer).locator("h2")
        expect(heading).to_have_text(re.compile("[\u4e00-\u9fff]"))
        headings.add(heading.inner_text())
        viewer.settled()
        buttons = panel(viewer).locator(".action").all_inner_texts()
        wrong = [text for text in buttons if text.strip() and text.strip() not in ("PNG", "SVG")
                 and not any("\u4e00" <= letter <= "\u9fff" for letter in text)]
        assert wrong == []
    assert len(headings) == len(PANELS)


def test_panels_open_by_their_keys(page: Page, tensorboard: str, logs: str) -> None:
    viewer = in_tensorboard(page, tensorboard, run=run_named(logs, "qwen2")).opened()
    viewer.wait("s.selection !== null")
    for key, heading in (("m", "Match by hand"), ("l", "Layer mapping"), ("e", "Expected and ignored"), ("s", "Search")):
        page.keyboard.press(key)
        expect(viewer.frame.locator("aside.panel h2").first).to_contain_text(heading)
