"""Fixtures of the browser tests: real conversions, a real tensorboard process, and the system's Chromium."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Optional

import pytest
from dump_files import tensor, write_dump
from graph_view_server import serving
from panel_steps import DATA, QKV
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright
from tensorboard_process import TOP, running_tensorboard
from viewer import Viewer, alone, in_tensorboard, run_named

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WAIT = 20_000  # milliseconds; matching again takes a process of its own
MANY = 10_000
ENTRY = {"input_args": [tensor()], "input_kwargs": {}, "output": [tensor()]}
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
    folder = tmp_path_factory.mktemp("logs")
    data = os.path.join(TOP, "tests", "data")
    convert(str(folder / "qwen2"), "-tp", f"{data}/qwen2_24l_mix_stat/target", "-gp", f"{data}/qwen2_24l_mix_stat/golden")
    convert(str(folder / "megatron"), "-tp", f"{data}/megatron_vs_hf/megatron", "-gp", f"{data}/megatron_vs_hf/hf",
            "-lm", os.path.join(TOP, "mappings", "megatron_core_to_hf_qwen2.yaml"))
    convert(str(folder / "build"), "-tp", f"{data}/ms_cnn_mix_stat/target")
    return str(folder)


def convert(output: str, *arguments: str) -> None:
    """graph-convert in a process of its own."""
    command = [sys.executable, "-m", "converter.cli", *arguments, "-o", output]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def tensorboard(bundle: str, logs: str) -> Iterator[str]:
    """Address of a tensorboard process over `logs`."""
    with running_tensorboard("--logdir", logs) as address:
        yield address


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


@pytest.fixture(scope="session")
def served(bundle: str, logs: str) -> Iterator[str]:
    """Address of graph-view serve over `logs`: a page opens there in a third of the time that TensorBoard's takes."""
    with serving(logs) as address:
        yield address


def _is_ours(message: ConsoleMessage) -> bool:
    """Whether an error in the console is the viewer's: not of TensorBoard's own page around it, nor of a server that a test has stopped."""
    address = message.location.get("url", "")
    if "net::ERR_" in message.text and "BLOCKED" not in message.text and address.startswith("http"):
        return False  # the viewer reads ahead while a test ends
    inside = "tb_graph_ascend" in address
    return inside or not any(part in address for part in ("/icon_bundle", "/font-", "fonts.g", "/data/", "/index.js", "/favicon"))


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of 1600 × 1000 in a fresh context. Fails the test afterwards for every error that the page raised or logged."""
    context = browser.new_context(viewport={"width": 1600, "height": 1000}, locale="en-US")
    # TensorBoard's own page asks for web fonts; nothing may leave this machine, or wait for it.
    context.route(lambda url: not url.startswith(("http://127.0.0.1:", "file:", "data:", "blob:")), lambda route: route.abort())
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    page.on("console", lambda message: problems.append(f"console: {message.text} ({message.location.get('url')})")
            if message.type == "error" and _is_ours(message) else None)
    page.add_init_script(REPORT_VIOLATIONS)
    page.set_default_timeout(WAIT)
    page.problems = problems  # type: ignore[attr-defined]
    yield page
    picture = re.sub("[^A-Za-z0-9_.-]+", "_", request.node.name)[:100]
    page.screenshot(path=os.path.join(SCREENSHOTS, f"{picture}.jpg"), type="jpeg", quality=70)
    context.close()
    assert not problems, problems


@pytest.fixture(scope="session")
def bug_logs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A log directory of what goes wrong, for tests that only look.

    "qkv": a fused bias is wrong, Megatron-Core against Hugging Face; "ranks": two steps of four ranks, two of them wrong; "nan": a NaN,
    with overflow check; "tensor": "qkv" with the elements of one layer; "build": one side of "qkv" alone; "wide" and "deep": ten thousand
    modules side by side, with Chinese names, and inside each other.
    """
    folder = tmp_path_factory.mktemp("bug_logs")
    sets = f"{DATA}/megatron_vs_hf"
    for shape, dump in (("wide", wide_dump()), ("deep", deep_dump())):
        write_dump(folder / shape / "step0" / "rank0", dict.fromkeys(dump, ENTRY), dump, indent=None)
    runs = {
        "qkv": ("-tp", f"{sets}/megatron_bug_qkv_bias", "-gp", f"{sets}/hf"),
        "ranks": ("-tp", f"{DATA}/dist_tp2pp2/target", "-gp", f"{DATA}/dist_tp2pp2/golden"),
        "nan": ("-tp", f"{sets}/megatron_bug_nan", "-gp", f"{sets}/hf", "--overflow_check"),
        "tensor": ("-tp", f"{sets}/megatron_tensor_bug_qkv_bias_layer2", "-gp", f"{sets}/hf_tensor_layer2"),
        "build": ("-tp", f"{sets}/megatron_bug_qkv_bias"),
        "wide": ("-tp", str(folder / "wide"), "-gp", str(folder / "wide")),
        "deep": ("-tp", str(folder / "deep"), "-gp", str(folder / "deep")),
    }
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda run: convert(str(folder / "logs" / run), *runs[run]), runs))
    return str(folder / "logs")


@pytest.fixture(scope="session")
def bug_served(bundle: str, bug_logs: str) -> Iterator[str]:
    """Address of graph-view serve over `bug_logs`."""
    with serving(bug_logs) as address:
        yield address


@pytest.fixture(scope="session")
def bug_tensorboard(bundle: str, bug_logs: str) -> Iterator[str]:
    """Address of a tensorboard process over `bug_logs`."""
    with running_tensorboard("--logdir", bug_logs) as address:
        yield address


@pytest.fixture
def bug(page: Page, bug_tensorboard: str, bug_logs: str) -> Viewer:
    """The run "qkv" in TensorBoard, opened at the fused projection whose bias is wrong."""
    viewer = in_tensorboard(page, bug_tensorboard, run=run_named(bug_logs, "qkv")).opened()
    viewer.wait(f"s.selection && s.selection.name === '{QKV}' && s.details && s.details.rows > 0")
    return viewer


def wide_dump() -> dict[str, Optional[str]]:
    """Ten thousand modules in one, as construct.json says it."""
    net = "Module.model.网络.Net.forward.0"
    return {net: None, **{f"Module.model.层{number}.线性层.forward.0": net for number in range(MANY)}}


def deep_dump() -> dict[str, Optional[str]]:
    """Ten thousand modules, each in the one before."""
    names = [f"Module.model.d{number}.Block.forward.0" for number in range(MANY)]
    return dict(zip(names, [None, *names]))


@pytest.fixture(scope="session")
def converted(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One conversion whose fused bias is wrong; copied for every test that writes."""
    folder = tmp_path_factory.mktemp("panels")
    convert(str(folder / "qkv"), "-tp", f"{DATA}/megatron_vs_hf/megatron_bug_qkv_bias", "-gp", f"{DATA}/megatron_vs_hf/hf")
    return str(folder)


@pytest.fixture
def own_logs(converted: str, tmp_path: Path) -> str:
    """A log directory that a test may write to, with the run "qkv"."""
    return str(shutil.copytree(converted, tmp_path / "logs"))


@pytest.fixture
def address(bundle: str, own_logs: str) -> Iterator[str]:
    """Address of graph-view serve over `own_logs`, where writing is allowed."""
    with serving(own_logs, allow_writing=True) as address:
        yield address


@pytest.fixture
def qkv(page: Page, address: str, own_logs: str) -> Viewer:
    """The viewer of `own_logs`, opened at the fused projection whose bias is wrong."""
    page.set_viewport_size({"width": 1600, "height": 1200})
    viewer = alone(page, address, run=run_named(own_logs, "qkv")).opened()
    viewer.wait(f"s.selection && s.selection.name === '{QKV}'")
    return viewer
