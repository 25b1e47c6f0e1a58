"""Sharing: the address, the page in one file, pictures."""

from __future__ import annotations

from pathlib import Path

from panel_steps import PROJ, click, open_panel, panel
from playwright.sync_api import Browser, expect
from viewer import Viewer


def test_the_address_shows_a_colleague_the_same_and_is_copied_without_the_clipboard_api(qkv: Viewer, browser: Browser) -> None:
    qkv.page.fill("#search-box", "layers.2 is:inherited")
    click(qkv, "target", PROJ)
    qkv.wait(f"s.selection.name === '{PROJ}'")
    qkv.page.wait_for_timeout(400)
    open_panel(qkv, "Share")
    qkv.page.wait_for_timeout(400)
    shown = panel(qkv).get_by_label("Address of this view").input_value()
    other = browser.new_context(viewport={"width": 1600, "height": 1000}).new_page()
    other.goto(shown)
    viewer = Viewer(other, other).opened()
    viewer.wait(f"s.selection && s.selection.name === '{PROJ}'")
    expect(other.locator("#search-box")).to_have_value("layers.2 is:inherited")
    other.context.close()
    qkv.page.evaluate("delete Navigator.prototype.clipboard")
    panel(qkv).get_by_role("button", name="Copy", exact=True).click()
    expect(qkv.page.locator(".toast")).to_have_text("Address copied")


def test_page_and_pictures_are_saved(qkv: Viewer, browser: Browser, tmp_path: Path) -> None:
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
    page = browser.new_context().new_page()
    page.goto(saved["Save as HTML"].as_uri())
    Viewer(page, page).opened()
    page.context.close()
