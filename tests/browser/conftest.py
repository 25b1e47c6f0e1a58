"""Fixtures of the browser tests: real conversions, real tensorboard processes, and the system's Chromium."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest
from comparisons import write_bug_logs, write_calm_logs, write_own_logs
from panel_steps import QKV, opened_at_cause
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect, sync_playwright
from tensorboard_process import TOP, running_tensorboard
from viewer import Viewer, in_tensorboard, run_named

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WAIT = 20_000  # milliseconds; matching again takes a process of its own
SCREENSHOTS = os.path.join(TOP, "screenshots")  # to be looked at; never committed
REPORT_VIOLATIONS = "addEventListener('securitypolicyviolation', e => console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`))"

expect.set_options(timeout=WAIT)


@pytest.fixture(scope="session")
def bundle() -> str:
    """The front end, built from the sources as they are."""
    subprocess.run([sys.executable, os.path.join("build_backend", "front_end.py")], check=True, cwd=TOP)
    return os.path.join(TOP, "tb_graph_ascend", "static")


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A log directory with two real comparisons ("qwen2": one wrong weight; "megatron": nothing wrong) and a "build"."""
    return write_calm_logs(tmp_path_factory.mktemp("logs"))


@pytest.fixture(scope="session")
def tensorboard(bundle: str, logs: str) -> Iterator[str]:
    """Address of a tensorboard process over `logs`."""
    with running_tensorboard("--logdir", logs) as address:
        yield address


@pytest.fixture(scope="session")
def bug_logs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A log directory of what goes wrong, for tests that only look.

    "qkv": a fused bias is wrong, Megatron-Core against Hugging Face; "ranks": two steps of four ranks, two of them wrong; "nan": a NaN,
    with overflow check; "tensor": "qkv" with the elements of one layer; "build": one side of "qkv" alone; "wide" and "deep": ten thousand
    modules side by side, with Chinese names, and inside each other.
    """
    return write_bug_logs(tmp_path_factory.mktemp("bug_logs"))


@pytest.fixture(scope="session")
def bug_tensorboard(bundle: str, bug_logs: str) -> Iterator[str]:
    """Address of a tensorboard process over `bug_logs`."""
    with running_tensorboard("--logdir", bug_logs) as address:
        yield address


@pytest.fixture(scope="session")
def writable_logs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A log directory for tests that write. Ask for `own_logs` instead, which begins without what other tests wrote.

    "qkv": a fused bias is wrong; "next": the same once more; "several": the same as ranks 0–2 of step 0 and rank 0 of step 1; "doubtful":
    a pair whose matching is uncertain; "a&b=<b>c": hostile names.
    """
    return write_own_logs(tmp_path_factory.mktemp("own_logs"))


@pytest.fixture(scope="session")
def writable_tensorboard(bundle: str, writable_logs: str) -> Iterator[str]:
    """Address of a tensorboard process over `writable_logs`, which may convert too."""
    with running_tensorboard("--logdir", writable_logs, "--tb_graph_ascend_allow_writing") as address:
        yield address


@pytest.fixture
def own_logs(writable_logs: str) -> str:
    """A log directory that a test may write to. What viewers write are matches files: those of earlier tests are taken away."""
    for path in Path(writable_logs).rglob("*.matches.yaml"):
        path.unlink()
    return writable_logs


@pytest.fixture
def address(writable_tensorboard: str, own_logs: str) -> str:
    """Address of a tensorboard process over `own_logs`."""
    return writable_tensorboard


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium; playwright's own browsers are never downloaded."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    assert path, "the browser tests need Chromium: apt-get install chromium, or name it in the environment variable CHROMIUM"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


def _is_ours(message: ConsoleMessage) -> bool:
    """Whether an error in the console is the viewer's: not of TensorBoard's own page around it, nor of a server that a test has stopped."""
    address = message.location.get("url", "")
    if "net::ERR_" in message.text and "BLOCKED" not in message.text and address.startswith("http"):
        return False  # the viewer reads ahead while a test ends
    inside = "tb_graph_ascend" in address
    return inside or not any(part in address for part in ("/icon_bundle", "/font-", "fonts.g", "/data/", "/index.js", "/favicon"))


@pytest.fixture
def new_page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Callable[..., Page]]:
    """Makes pages, each as another person's: with cookies and storage of its own. Arguments are those of a playwright context.

    Fails the test afterwards for every error that one of them raised or logged.
    """
    pages: list[tuple[Page, list[str], set[Request]]] = []

    def make(**context: Any) -> Page:
        own = browser.new_context(**{"viewport": {"width": 1600, "height": 1000}, "locale": "en-US", **context})
        own.set_default_timeout(WAIT)
        problems, writing = _watch(own)
        page = own.new_page()
        page.problems = problems  # type: ignore[attr-defined]
        pages.append((page, problems, writing))
        return page

    yield make
    picture = re.sub("[^A-Za-z0-9_.-]+", "_", request.node.name)[:100]
    for number, (page, _, writing) in enumerate(pages):
        path = os.path.join(SCREENSHOTS, f"{picture}{f'_{number + 1}' if number else ''}.jpg")
        page.screenshot(path=path, type="jpeg", quality=70)
        _wait_until_written(page, writing)
        page.context.close()
    problems = [text for _, problems, _ in pages for text in problems]
    assert not problems, problems


def _watch(context: BrowserContext) -> tuple[list[str], set[Request]]:
    """(what goes wrong in the pages of a context, the requests under way that may write): both go on to change."""
    # TensorBoard's own page asks for web fonts; nothing may leave this machine, or wait for it.
    context.route(lambda url: not url.startswith(("http://127.0.0.1:", "file:", "data:", "blob:")), lambda route: route.abort())
    problems: list[str] = []
    writing: set[Request] = set()
    context.on("weberror", lambda error: problems.append(f"error: {error.error}"))
    context.on("console", lambda message: problems.append(f"console: {message.text} ({message.location.get('url')})")
               if message.type == "error" and _is_ours(message) else None)
    context.on("request", lambda request: writing.add(request) if request.method == "POST" else None)
    context.on("requestfinished", lambda request: writing.discard(request))
    context.on("requestfailed", lambda request: writing.discard(request))
    context.add_init_script(REPORT_VIOLATIONS)
    return problems, writing


def _wait_until_written(page: Page, writing: set[Request]) -> None:
    """The next test must not find what this one has sent and the server has not written yet."""
    deadline = time.monotonic() + WAIT / 1000
    while writing and time.monotonic() < deadline:
        page.wait_for_timeout(20)


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A page of 1600 × 1000 of somebody who speaks English."""
    return new_page()


@pytest.fixture
def bug(page: Page, bug_tensorboard: str, bug_logs: str) -> Viewer:
    """The run "qkv", opened at the fused projection whose bias is wrong."""
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "qkv")).opened()
    viewer.wait(f"s.selection && s.selection.name === '{QKV}' && s.details && s.details.rows > 0")
    return viewer


@pytest.fixture
def qkv(page: Page, address: str, own_logs: str) -> Viewer:
    """The run "qkv" of `own_logs`, opened at the fused projection whose bias is wrong."""
    return opened_at_cause(page, address, own_logs, "qkv")
