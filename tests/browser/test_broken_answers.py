"""A server, or something in front of it, that fails while the viewer is opened: the page says so, and nothing stays blank."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from panel_steps import open_panel, panel
from playwright.sync_api import Frame, Page, expect
from viewer import Viewer, in_tensorboard, opened_at, run_named

ROUTE = "**/plugin/tb_graph_ascend/"
LOGIN = {"status": 200, "content_type": "text/html", "body": "<html><title>Log in</title></html>"}
MESSAGE = {"status": 200, "content_type": "application/json", "body": '{"message": "log in"}'}


@pytest.fixture
def run(bug_logs: str) -> str:
    return run_named(bug_logs, "qkv")


def frame_at(page: Page, address: str) -> Frame:
    """The plugin's frame, whether the viewer starts in it or not."""
    page.goto(address, wait_until="domcontentloaded")
    expect(page.locator("iframe")).to_be_visible()
    deadline = 100
    while deadline := deadline - 1:
        for frame in page.frames:
            if "plugin_entry.html?name=tb_graph_ascend" in frame.url:
                return frame
        page.wait_for_timeout(50)
    raise AssertionError("there is no frame of the plugin")


def answered(page: Page, route: str, answer: dict[str, Any]) -> None:
    page.route(f"{ROUTE}{route}", lambda asked: asked.fulfill(**answer))


def test_a_viewer_whose_script_is_missing_says_so(page: Page, bug_tensorboard: str) -> None:
    page.route("**/assets/app-*.js", lambda asked: asked.fulfill(status=404))
    frame = frame_at(page, f"{bug_tensorboard}/#tb_graph_ascend")
    expect(frame.get_by_role("alert")).to_contain_text("The viewer's script could not be loaded or started.")
    page.unroute("**/assets/app-*.js")
    page.problems.clear()  # type: ignore[attr-defined]  # the browser logs the refusal, not an error that nobody caught
    frame.get_by_role("button", name="Reload").click()
    expect(frame.locator(".canvas-host")).to_be_visible()


def test_a_viewer_whose_script_is_missing_says_so_without_an_uncaught_error(page: Page, bug_tensorboard: str) -> None:
    uncaught: list[str] = []
    page.on("pageerror", lambda error: uncaught.append(str(error)))
    page.route("**/assets/app-*.js", lambda asked: asked.fulfill(status=404))
    expect(frame_at(page, f"{bug_tensorboard}/#tb_graph_ascend").get_by_role("alert")).to_be_visible()
    assert uncaught == []
    page.problems.clear()  # type: ignore[attr-defined]


def test_an_empty_page_says_what_it_waits_for(page: Page, bug_tensorboard: str) -> None:
    page.route("**/assets/app-*.js", lambda asked: None)  # never answered
    expect(frame_at(page, f"{bug_tensorboard}/#tb_graph_ascend").get_by_role("status")).to_contain_text("Loading the viewer")


@pytest.mark.parametrize("route", ["runs", "graph?*", "section?*"])
@pytest.mark.parametrize("answer", [LOGIN, MESSAGE, {**MESSAGE, "body": "null"}], ids=["page", "object", "null"])
def test_an_answer_of_something_else_is_called_that(page: Page, bug_tensorboard: str, route: str, answer: dict[str, Any]) -> None:
    answered(page, route, answer)
    viewer = opened_at(page, f"{bug_tensorboard}/#tb_graph_ascend")
    expect(viewer.frame.get_by_role("alert")).to_contain_text("Something else than the plugin answered")


def test_a_graph_is_shown_where_the_list_of_runs_is_not_there(page: Page, bug_tensorboard: str, run: str) -> None:
    answered(page, "runs", {"status": 500, "body": "no"})
    viewer = in_tensorboard(page, bug_tensorboard, run=run).opened()
    expect(viewer.frame.locator(".canvas-host")).to_be_visible()
    notice = viewer.frame.locator(".notice")
    expect(notice).to_contain_text("The list of results could not be loaded. The server answered 500")
    page.problems.clear()  # type: ignore[attr-defined]
    page.unroute(f"{ROUTE}runs")
    notice.get_by_role("button", name="Try again").click()
    expect(notice).to_have_count(0)
    expect(viewer.frame.locator("select option", has_text="ranks").first).to_be_attached()


def test_trying_again_brings_the_list_of_runs_too(page: Page, bug_tensorboard: str, run: str) -> None:
    answered(page, "runs", {"status": 500, "body": "no"})
    answered(page, "graph?*", {"status": 500, "body": "no"})
    viewer = opened_at(page, f"{bug_tensorboard}/#tb_graph_ascend&p.tb_graph_ascend.run={run}")
    alert = viewer.frame.get_by_role("alert")
    expect(alert).to_contain_text("The server answered 500")
    page.problems.clear()  # type: ignore[attr-defined]
    page.unroute(f"{ROUTE}runs")
    page.unroute(f"{ROUTE}graph?*")
    alert.get_by_role("button", name="Try again").click()
    viewer.opened()
    expect(viewer.frame.locator("select option", has_text="ranks").first).to_be_attached()


def test_a_proxy_may_change_the_address_of_the_entry(new_page: Callable[..., Page], bug_tensorboard: str) -> None:
    page = new_page(locale="zh-CN", bypass_csp=True)

    def with_query(asked: Any) -> None:
        answer = asked.fetch()
        asked.fulfill(response=answer, body=answer.text().replace("/index.js", "/index.js?of=proxy"))

    page.route("**/plugin_entry.html?*", with_query)
    viewer = opened_at(page, f"{bug_tensorboard}/#tb_graph_ascend&p.tb_graph_ascend.run=gone")
    expect(viewer.frame.get_by_role("alert")).to_contain_text("日志目录下没有名为 \"gone\" 的运行")
    page.problems.clear()  # type: ignore[attr-defined]


def test_a_page_that_cannot_be_saved_says_why(page: Page, bug_tensorboard: str, run: str) -> None:
    viewer: Viewer = in_tensorboard(page, bug_tensorboard, run=run).opened()
    page.route(f"{ROUTE}export?*", lambda asked: asked.abort("connectionrefused"))
    open_panel(viewer, "Share")
    panel(viewer).get_by_role("button", name="Save").click()
    expect(viewer.frame.locator(".toast")).to_contain_text("The server does not answer")


@pytest.mark.parametrize("answer, said", [
    ({"status": 500, "body": "no"}, "The server answered 500"),
    ({"status": 409, "content_type": "application/json", "body": '{"error": {"code": "changed", "en": "It was written anew.", "zh": ""}}'},
     "It was written anew."),
    (LOGIN, "Something else than the plugin answered"),
], ids=["failure", "changed", "page"])
def test_missing_numbers_are_not_told_as_none(page: Page, bug_tensorboard: str, run: str, answer: dict[str, Any], said: str) -> None:
    answered(page, "section?*comparisons*", answer)
    viewer = in_tensorboard(page, bug_tensorboard, run=run).opened()
    expect(viewer.frame.locator(".details")).to_contain_text(said)
    expect(viewer.frame.locator(".details tbody tr")).to_have_count(0)
    expect(viewer.frame.locator(".notice")).to_have_count(1 if "changed" in str(answer["body"]) else 0)
    page.problems.clear()  # type: ignore[attr-defined]


def test_another_address_is_followed_while_a_graph_is_on_its_way(page: Page, bug_tensorboard: str, bug_logs: str, run: str) -> None:
    held: list[Any] = []
    page.route(f"{ROUTE}section?*qkv*", lambda r: held.append(r))
    viewer = opened_at(page, f"{bug_tensorboard}/#tb_graph_ascend&p.tb_graph_ascend.run={run}")
    viewer.wait("s.loading")
    other = run_named(bug_logs, "nan")
    page.evaluate("hash => { location.hash = hash; }", f"tb_graph_ascend&p.tb_graph_ascend.run={other}")
    viewer.wait(f"s.chosen.run === '{other}'")
    for asked in held:
        asked.continue_()
    viewer.opened()
    viewer.settled()
    assert viewer.snapshot()["chosen"]["run"] == other
    page.wait_for_function("name => location.hash.includes(name)", arg=other)
