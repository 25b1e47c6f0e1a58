"""In TensorBoard: keys alone, two tabs, no eval, no motion where none is wanted, nothing for axe to object to in any panel or state."""

from __future__ import annotations

import os
from typing import Any, Callable

import pytest
from panel_steps import PROJ, QKV, V_PROJ, details_title, matches_file, open_panel, panel
from playwright.sync_api import Page, Route, expect
from tensorboard_process import TOP
from viewer import Viewer, forget_refusals, in_tensorboard, run_named

AXE = os.path.join(TOP, "static", "node_modules", "axe-core", "axe.min.js")
PANELS = ["Search", "Match by hand", "Layer mapping", "Expected and ignored", "Share"]
PRESSES = 120  # of Tab at most, until anything on the page is reached


def tab_to(viewer: Viewer, role: str, name: str) -> None:
    """Presses Tab until the control of that role and name has the focus."""
    wanted = viewer.frame.get_by_role(role, name=name, exact=True).first  # type: ignore[arg-type]
    expect(wanted).to_be_enabled()
    for _ in range(PRESSES):
        viewer.page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement && document.hasFocus()"):
            return
    raise AssertionError(f"Tab does not reach the {role} {name}")


def test_a_whole_session_is_done_with_keys_alone(page: Page, address: str, own_logs: str) -> None:
    viewer = in_tensorboard(page, address, run=run_named(own_logs, "qkv")).opened()
    viewer.wait(f"s.selection && s.selection.name === '{QKV}' && s.details && s.details.rows > 0")
    press, write = page.keyboard.press, page.keyboard.type

    press("End")
    viewer.wait(f"s.selection.name !== '{QKV}'")
    press("p")  # back to the first divergence
    viewer.wait(f"s.selection.name === '{QKV}' && s.details && s.details.rows > 0")
    tab_to(viewer, "button", "Stack")
    press("Enter")
    expect(viewer.frame.locator(".stacks section").first).to_be_in_viewport()
    tab_to(viewer, "button", "Copy ▾")
    press("Enter")
    tab_to(viewer, "button", "as Markdown")
    press("Enter")
    expect(viewer.frame.locator(".toast")).to_have_text("Copied")

    press("l")
    tab_to(viewer, "tab", "Text")
    press("Enter")
    tab_to(viewer, "textbox", "Text of the mapping file")
    write("TopLayer:\n  0.decoder.layers: model.layers\n")
    press("Escape")
    tab_to(viewer, "button", "Apply")
    press("Enter")
    expect(panel(viewer)).to_contain_text("In force:")

    for side, query in (("target", "linear_proj"), ("golden", "v_proj")):
        press("/")
        press("Control+a")
        write(f"{query} layers.2 side:{side} kind:module dir:forward")
        expect(panel(viewer).locator("[role=option]").first).to_contain_text(query)
        press("ArrowDown")
        viewer.wait(f"s.selection.name === '{PROJ if side == 'target' else V_PROJ}'")
        press("m")
    tab_to(viewer, "button", "Match")
    press("Enter")
    expect(details_title(viewer)).to_contain_text("linear_proj ↔ v_proj")

    press("e")
    tab_to(viewer, "textbox", "Why")
    write("known")
    press("Enter")
    expect(panel(viewer).locator(".entry-row")).to_contain_text("known")
    expect(panel(viewer)).to_contain_text("Kept in rank0.matches.yaml")
    kept = matches_file(own_logs)
    assert len(kept["matches"]) == 2 and kept["triage"][0]["note"] == "known"

    tab_to(viewer, "button", "Share")
    press("Enter")
    expect(viewer.frame.locator(".toast")).to_have_text("Address copied")


def test_two_tabs_with_different_runs_and_languages_do_not_disturb_each_other(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    one = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "qkv")).opened()
    second = page.context.new_page()
    two = in_tensorboard(second, bug_tensorboard, run=run_named(bug_logs, "ranks"), rank=1).opened()
    two.frame.get_by_role("button", name="切换到中文").click()
    two.frame.get_by_label("着色", exact=True).select_option("status")
    one.frame.get_by_label("colour", exact=True).select_option("how")
    one.frame.locator("#search-box").fill("linear_qkv")
    two.frame.locator("#search-box").fill("gelu")
    for viewer, run, colour, language in ((one, "qkv", "how", "en"), (two, "ranks", "status", "zh-CN")):
        seen = viewer.snapshot()
        assert (seen["chosen"]["run"], seen["colouring"]) == (run_named(bug_logs, run), colour)
        assert viewer.frame.evaluate("document.documentElement.lang") == language
        viewer.page.wait_for_function("hash => location.hash.includes(hash)", arg=f"colour={colour}")
    for viewer in (one, two):
        viewer.page.reload(wait_until="commit")  # both at the same time
    for viewer, run, colour, language in ((one, "qkv", "how", "en"), (two, "ranks", "status", "zh-CN")):
        seen = viewer.found_again().snapshot()
        assert (seen["chosen"]["run"], seen["colouring"]) == (run_named(bug_logs, run), colour)
        assert viewer.frame.evaluate("document.documentElement.lang") == language
    second.close()


def test_no_panel_needs_eval_or_breaks_the_policy(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    """The `page` fixture listens to securitypolicyviolation: each one fails the test."""
    policies: list[str] = []

    def without_eval(route: Route) -> None:
        answer = route.fetch()
        policies.append(answer.headers["content-security-policy"].replace("'unsafe-eval'", ""))
        route.fulfill(response=answer, headers={**answer.headers, "content-security-policy": policies[-1]})

    page.route("**/data/plugin_entry.html*", without_eval)
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "tensor")).opened()
    viewer.wait("s.details && s.details.rows > 3")
    viewer.frame.get_by_role("button", name="Heatmap of the differences in bias").click()
    expect(viewer.frame.locator(".heatmap")).to_contain_text("128 of 128 elements differ")
    for name in PANELS:
        open_panel(viewer, name)
        expect(panel(viewer).locator("h2").first).to_be_visible()
    viewer.frame.locator("#search-box").fill("/linear_(qkv|proj)/ error>0.01")
    expect(panel(viewer).locator("[role=option]").first).to_be_visible()
    with page.expect_download():
        open_panel(viewer, "Share")
        panel(viewer).get_by_role("button", name="PNG", exact=True).click()
    open_panel(viewer, "Layer mapping")
    panel(viewer).get_by_role("tab", name="Text").click()
    panel(viewer).get_by_label("Text of the mapping file").fill("TopLayer:\n  0.decoder.layers: model.layers\n")
    expect(panel(viewer).locator(".effect b")).to_contain_text("pairs")
    assert policies and "script-src" in policies[0] and "unsafe-eval" not in policies[0]


def test_nothing_moves_for_those_who_want_no_motion(bug: Viewer) -> None:
    bug.page.emulate_media(reduced_motion="reduce")
    moving = """[...document.querySelectorAll('*')].filter(element => {
        const style = getComputedStyle(element);
        const seconds = text => Math.max(...text.split(',').map(parseFloat));
        return seconds(style.transitionDuration) > 0.01 || (style.animationName !== 'none' && seconds(style.animationDuration) > 0.01);
    }).map(element => element.className)"""
    assert bug.frame.evaluate(moving) == []


def objections(viewer: Viewer) -> Any:
    return viewer.frame.evaluate("axe.run().then(r => r.violations.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 160))]))")


@pytest.mark.parametrize(("width", "height", "scheme", "language"), [
    (1600, 1000, "light", "en-US"), (1600, 1000, "dark", "zh-CN"), (800, 700, "light", "zh-CN"), (800, 700, "dark", "en-US"),
])
def test_axe_finds_nothing_to_object_to_in_any_panel_or_state(new_page: Callable[..., Page], bug_tensorboard: str, bug_logs: str,
                                                              width: int, height: int, scheme: str, language: str) -> None:
    page = new_page(viewport={"width": width, "height": height}, color_scheme=scheme, locale=language)
    with open(AXE, encoding="utf-8") as stream:
        source = stream.read() + ";0"
    found: dict[str, Any] = {}

    def look(viewer: Viewer, state: str) -> None:
        viewer.still()
        wrong = objections(viewer)
        if wrong:
            found[state] = wrong
        assert viewer.frame.evaluate("document.documentElement.scrollWidth <= innerWidth"), state

    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "tensor")).opened()
    viewer.wait("s.details && s.details.rows > 3")
    assert viewer.frame.evaluate("getComputedStyle(document.documentElement).colorScheme") == scheme
    viewer.frame.evaluate(source)
    for button in viewer.frame.locator(".rail button").all():
        if button.get_attribute("aria-pressed") == "false":
            button.click()
        expect(panel(viewer).locator("h2").first).to_be_visible()
        look(viewer, button.get_attribute("aria-label") or "")
    viewer.frame.locator("#search-box").fill("linear eror>1")
    viewer.frame.locator(".search-tools button").click()
    look(viewer, "a query with a mistake, filters open")
    viewer.frame.locator(".details-head .menu-host > button").click()
    page.keyboard.press("?")
    look(viewer, "help and the menu of copies")
    page.keyboard.press("Escape")
    viewer.frame.locator("header select").last.select_option("error")
    look(viewer, "a scale with its slider")
    for run, rank in (("ranks", 1), ("build", 0)):
        viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, run), rank=rank).opened()
        viewer.frame.evaluate(source)
        look(viewer, run)
    viewer = in_tensorboard(page, bug_tensorboard, run="gone/compare_1")
    expect(viewer.frame.get_by_role("alert")).to_be_visible()
    viewer.frame.evaluate(source)
    wrong = objections(viewer)
    forget_refusals(page, 404)
    assert (found, wrong) == ({}, [])
