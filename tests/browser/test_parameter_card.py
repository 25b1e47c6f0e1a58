"""The card of the parameters: it tells what could not be compared, and says where it counts otherwise than the chip."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import pytest
from comparisons import convert
from dump_files import tensor, write_dump
from playwright.sync_api import Page, expect
from viewer import Viewer

from tb_graph_ascend.view_cli import main

NET, FIRST, SECOND = "Module.model.Net.forward.0", "Module.model.fc.Linear.forward.0", "Module.model.fc.Linear.forward.1"


def _opened(page: Page, folder: Path, weight: dict[str, Any], bias: dict[str, Any]) -> Viewer:
    """A layer that is called twice, as in two micro steps: `weight` and `bias` against those of the golden side."""
    entry = {"input_args": [tensor()], "input_kwargs": {}, "output": [tensor()]}
    for side, parameters in (("target", {"weight": weight, "bias": bias}), ("golden", {"weight": tensor(), "bias": tensor()})):
        linear = {**entry, "parameters": parameters}
        write_dump(folder / side / "step0" / "rank0", {NET: entry, FIRST: linear, SECOND: linear}, {NET: None, FIRST: NET, SECOND: NET})
    convert(str(folder / "run"), "-tp", str(folder / "target"), "-gp", str(folder / "golden"))
    run, = (folder / "run").iterdir()
    assert main(["export", str(run), "-o", str(folder / "page.html")]) == 0
    page.goto((folder / "page.html").as_uri())
    return Viewer(page, page).opened()


@pytest.mark.parametrize(("locale", "words", "why"), [
    ("en-US", "1 not comparable", "no parameter differs; fc.weight cannot be compared: one side has no statistics"),
    ("zh-CN", "1 个无法比较", "没有不同的参数；fc.weight 无法比较"),
])
def test_what_could_not_be_compared_is_told_with_its_reason(new_page: Callable[..., Page], bundle: str, tmp_path: Path, locale: str,
                                                            words: str, why: str) -> None:
    viewer = _opened(new_page(locale=locale), tmp_path, tensor(None, None, None, None), tensor())
    card = viewer.frame.locator(".verdict .card").nth(2)
    expect(card.locator(".big")).to_contain_text(words)
    expect(card.locator(".why")).to_contain_text(why)


def test_card_and_chip_agree_on_a_parameter_that_two_calls_use(page: Page, bundle: str, tmp_path: Path) -> None:
    viewer = _opened(page, tmp_path, tensor(None, None, None, None), tensor(2.0, norm=3.0))
    card = viewer.frame.locator(".verdict .card").nth(2)
    expect(card.locator(".big")).to_contain_text("1 differs")
    expect(card.locator(".why")).to_contain_text("in 2 calls; 1 not comparable")
    chip = viewer.frame.locator(".chip", has_text="parameter")
    expect(chip).to_contain_text("2")
    assert (chip.get_attribute("title") or "").startswith("2 calls with a parameter that differs")
