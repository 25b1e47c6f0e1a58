"""A dump whose names are an attack, as anybody could put them into a model's attributes and arguments; opens it, looks for damage."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import Page
from viewer import Viewer, in_tensorboard, run_named

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
RUN = "a&b=<b>c"  # a directory's name may be one too


def name_of(part: str) -> str:
    return f"Module.model.{part}.Linear.forward.0"


def write_hostile_dump(directory: Path, scale: float) -> None:
    """One rank; its outputs are `scale` times those of 1."""
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


def open_hostile(page: Page, address: str, logs: str, part: str) -> Viewer:
    """The comparison of such dumps, opened at the node of that name."""
    viewer = in_tensorboard(page, address, run=run_named(logs, RUN), node=name_of(part)).opened()
    viewer.wait("s.selection !== null && s.details && s.details.rows > 0")
    return viewer


def nothing_ran(viewer: Viewer) -> None:
    """No name became an element or a script, here or in the page around, and none made the page wider."""
    for place in (viewer.frame, viewer.page):
        assert place.evaluate("window.hacked ?? null") is None
    assert viewer.frame.evaluate("document.querySelectorAll('img, svg[onload]').length") == 0
    assert viewer.frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
