"""Parameters that could not be compared: each tensor once, with the first of them and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.conversions import result
from tests.dump_files import tensor, write_dump

NET, FIRST, SECOND = "Module.model.Net.forward.0", "Module.model.fc.Linear.forward.0", "Module.model.fc.Linear.forward.1"
WITHOUT_NUMBERS = tensor(None, None, None, None)


def _side(folder: Path, weight: dict[str, Any], bias: dict[str, Any]) -> str:
    entry = {"input_args": [tensor()], "input_kwargs": {}, "output": [tensor()]}
    linear = {**entry, "parameters": {"weight": weight, "bias": bias}}
    write_dump(folder / "step0" / "rank0", {NET: entry, FIRST: linear, SECOND: linear}, {NET: None, FIRST: NET, SECOND: NET})
    return str(folder)


def test_a_parameter_without_numbers_is_told_once_with_its_reason(tmp_path: Path) -> None:
    found = result(_side(tmp_path / "t", WITHOUT_NUMBERS, tensor()), _side(tmp_path / "g", tensor(), tensor())).verdicts
    assert found.parameters == []
    told = found.uncompared_parameters
    assert told is not None
    assert (told.count, told.target) == (1, f"{FIRST}.parameters.weight")
    assert told.reason_en == "cannot be compared: one side has no statistics"
    assert told.reason_zh.startswith("无法比较：")


def test_it_is_told_beside_one_that_differs(tmp_path: Path) -> None:
    found = result(_side(tmp_path / "t", WITHOUT_NUMBERS, tensor(2.0, norm=3.0)), _side(tmp_path / "g", tensor(), tensor())).verdicts
    assert [entry.target for entry in found.parameters] == [f"{FIRST}.parameters.bias"]
    assert found.uncompared_parameters is not None and found.uncompared_parameters.count == 1


def test_nothing_is_told_where_all_were_compared(tmp_path: Path) -> None:
    found = result(_side(tmp_path / "t", tensor(), tensor()), _side(tmp_path / "g", tensor(), tensor())).verdicts
    assert found.uncompared_parameters is None
