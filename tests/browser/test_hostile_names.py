"""Names come from dumps of anybody: whatever they hold is text everywhere, in the page and in what is copied from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import convert
from graph_view_server import serving
from panel_steps import panel, picture
from playwright.sync_api import Page, expect
from viewer import Viewer, alone, run_named

from tb_graph_ascend.view_cli import main

SCRIPT = "<img src=x onerror=\"window.hacked=1\">"
HOSTILE = [
    SCRIPT,
    "'\"><svg onload=window.hacked=1>",
    "../../etc/passwd",
    "x" * 300,
    "\u202eltr\u202c العربية",
    "{name} %s ${x} \\u0041",
    "模型层",
    "",
    "constructor",
    "__proto__",
]
PARENT = "Module.model.Net.forward.0"


def name_of(part: str) -> str:
    return f"Module.model.{part}.Linear.forward.0"


def write_dump(directory: Path, scale: float) -> None:
    tensor = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4, 4], "requires_grad": False,
              "Max": 1.0 * scale, "Min": -1.0, "Mean": 0.1, "Norm": 2.0 * scale}
    names = [name_of(part) for part in HOSTILE]
    entry = {"input_args": [{**tensor, "Max": 1.0, "Norm": 2.0}], "input_kwargs": {SCRIPT: tensor}, "output": [tensor]}
    place = directory / "step0" / "rank0"
    place.mkdir(parents=True)
    data = dict.fromkeys([*names, PARENT], entry)
    head = {"task": "statistics", "level": "mix", "framework": "pytorch", "dump_data_dir": None}
    (place / "dump.json").write_text(json.dumps({**head, "data": data}))
    (place / "construct.json").write_text(json.dumps({**dict.fromkeys(names, PARENT), PARENT: None}))
    (place / "stack.json").write_text(json.dumps({"0": [[*names, PARENT], [f"File {SCRIPT}, line 1, in f, \n {SCRIPT}"]]}))


@pytest.fixture(scope="module")
def hostile(bundle: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    folder = tmp_path_factory.mktemp("hostile")
    write_dump(folder / "target", 1.5)
    write_dump(folder / "golden", 1.0)
    convert(str(folder / "logs" / "a&b=<b>c"), "-tp", str(folder / "target"), "-gp", str(folder / "golden"))
    with serving(str(folder / "logs")) as address:
        yield address, str(folder / "logs")


def opened(page: Page, hostile: tuple[str, str], part: str) -> Viewer:
    address, logs = hostile
    viewer = alone(page, address, run=run_named(logs, "a&b=<b>c"), node=name_of(part)).opened()
    viewer.wait("s.selection !== null && s.details && s.details.rows > 0")
    return viewer


@pytest.mark.parametrize("part", HOSTILE, ids=range(len(HOSTILE)))
def test_a_name_opens_by_its_address_and_stays_text(page: Page, hostile: tuple[str, str], part: str) -> None:
    viewer = opened(page, hostile, part)
    assert viewer.snapshot()["selection"]["name"] == name_of(part)
    page.get_by_role("button", name="Stack").click()
    expect(page.locator(".stacks code").first).to_contain_text("<img")
    page.wait_for_timeout(200)  # the tree for screen readers follows a moment later
    assert page.evaluate("[window.hacked, document.querySelectorAll('img, svg[onload]').length]") == [None, 0]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_is_copied_is_the_name_itself(page: Page, hostile: tuple[str, str]) -> None:
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    opened(page, hostile, SCRIPT)
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="names").click()
    page.evaluate("document.body.append(Object.assign(document.createElement('textarea'), {id: 'pasted'}))")
    page.locator("#pasted").focus()
    page.keyboard.press("Control+v")
    pasted: Any = page.locator("#pasted").input_value()
    assert pasted.split("\n") == [name_of(SCRIPT), name_of(SCRIPT)]
    assert page.evaluate("window.hacked") is None


def test_names_stay_text_in_the_exported_page(page: Page, hostile: tuple[str, str], tmp_path: Path) -> None:
    _, logs = hostile
    output = tmp_path / "page.html"
    assert main(["export", str(Path(logs) / run_named(logs, "a&b=<b>c")), "-o", str(output)]) == 0
    assert "<img src=x" not in output.read_text(encoding="utf-8")
    page.goto(output.as_uri())
    viewer = Viewer(page, page).opened()
    page.fill("#search-box", "onerror kind:module")
    panel(viewer).locator("[role=option]").first.click()
    viewer.wait(f"s.selection && s.selection.name === {json.dumps(name_of(SCRIPT))}")
    page.get_by_role("button", name="Stack").click()
    expect(page.locator(".stacks code").first).to_contain_text("<img")
    assert page.evaluate("[window.hacked, document.querySelectorAll('img, svg[onload]').length]") == [None, 0]


def test_names_stay_text_in_a_picture_of_the_graphs(page: Page, hostile: tuple[str, str]) -> None:
    viewer = opened(page, hostile, SCRIPT)
    words = [text["words"] for text in picture(viewer)]  # the picture is put into the page: a script in it would run
    assert any(word.startswith("<img src=x") for word in words) and any("模型层" in word for word in words)
    assert any(word.startswith("a&b=<b>c/compare_") for word in words)
    assert page.evaluate("[window.hacked, document.querySelectorAll('img, svg[onload]').length]") == [None, 0]
