"""The panels' manners: any name is text in them, both languages, keys, no request to anywhere else."""

from __future__ import annotations

import os

import pytest
import yaml
from playwright.sync_api import Browser, Page, expect
from test_hostile_names import HOSTILE, PARENT, SCRIPT, hostile, name_of, opened  # noqa: F401  # hostile is a fixture
from viewer import Viewer, alone, run_named

PANELS = ["search", "matches", "mapping", "triage", "share"]


def open_panel(viewer: Viewer, number: int) -> None:
    viewer.frame.locator(".rail button").nth(number).click()


def nothing_ran(page: Page) -> None:
    assert page.evaluate("[window.hacked, document.querySelectorAll('img, svg[onload]').length]") == [None, 0]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_names_are_text_in_every_panel(page: Page, hostile: tuple[str, str]) -> None:  # noqa: F811
    viewer = opened(page, hostile, SCRIPT)
    for number in range(1, len(PANELS) + 1):
        open_panel(viewer, number)
        if PANELS[number - 1] == "search":
            page.fill("#search-box", "kind:module")
            expect(page.locator(".search-panel [role=option]").first).to_be_visible()
        page.wait_for_timeout(400)
        nothing_ran(page)


@pytest.mark.parametrize("part", [part for part in HOSTILE if part], ids=range(len(HOSTILE) - 1))
def test_every_name_is_found_by_itself(page: Page, hostile: tuple[str, str], part: str) -> None:  # noqa: F811
    viewer = opened(page, hostile, SCRIPT)
    quoted = f'"{part}"' if '"' not in part else "is:matched " + " ".join(f'"{piece}"' for piece in part.split('"') if piece.strip())
    page.fill("#search-box", f"{quoted} kind:module")
    titles = page.locator(".search-panel [role=option] .words")
    expect(titles.first).to_be_visible()
    assert any(name_of(part) in (title or "") for title in titles.evaluate_all("all => all.map(one => one.title)"))
    nothing_ran(viewer.page)


def test_names_come_back_whole_from_the_file_and_marks_stay_text(page: Page, hostile: tuple[str, str]) -> None:  # noqa: F811
    address, logs = hostile
    viewer = opened(page, hostile, SCRIPT)
    open_panel(viewer, 2)
    page.get_by_role("button", name="Take apart").click()
    expect(page.locator(".details-head")).to_contain_text("no counterpart", timeout=20_000)
    open_panel(viewer, 4)
    page.get_by_label("Why").fill(SCRIPT)
    page.get_by_role("button", name="Mark", exact=True).click()
    expect(page.locator(".entry-row")).to_contain_text(SCRIPT)
    page.wait_for_timeout(400)
    path = os.path.join(logs, *run_named(logs, "a&b=<b>c").split("/"), "step0", "rank0.matches.yaml")
    with open(path, encoding="utf-8") as stream:
        content = yaml.safe_load(stream)
    assert content["matches"][0]["target"] == [name_of(SCRIPT)] and content["triage"][0]["note"] == SCRIPT
    nothing_ran(page)
    os.remove(path)
    assert PARENT and address


def test_a_panel_has_no_word_of_the_other_language(browser: Browser, served: str, logs: str) -> None:
    context = browser.new_context(viewport={"width": 1600, "height": 1000}, locale="zh-CN")
    page = context.new_page()
    viewer = alone(page, served, run=run_named(logs, "qwen2")).opened()
    for number in range(1, len(PANELS) + 1):
        open_panel(viewer, number)
        page.wait_for_timeout(300)
        heading = page.locator("aside.panel h2").inner_text()
        assert any("\u4e00" <= letter <= "\u9fff" for letter in heading), heading
        buttons = page.locator("aside.panel .action").all_inner_texts()
        wrong = [text for text in buttons if text.strip() and text.strip() not in ("PNG", "SVG")
                 and not any("\u4e00" <= letter <= "\u9fff" for letter in text)]
        assert wrong == []
    context.close()


def test_panels_open_by_their_keys(page: Page, served: str, logs: str) -> None:
    viewer = alone(page, served, run=run_named(logs, "qwen2")).opened()
    viewer.wait("s.selection !== null")
    for key, heading in (("m", "Match by hand"), ("l", "Layer mapping"), ("e", "Expected and ignored"), ("s", "Search")):
        page.keyboard.press(key)
        expect(page.locator("aside.panel h2").first).to_contain_text(heading)
