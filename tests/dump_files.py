"""Writes small dumps and compares what the readers make of them. Used by the tests of readers and tree."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, Optional

import numpy as np
import pytest

from converter.dumps import reader
from converter.dumps.columns import Dump
from converter.dumps.reader import read_dump

DATA = Path(__file__).parent / "data"
RANK_DIRECTORIES = sorted({path.parent for path in DATA.rglob("dump.json")})


def write_dump(folder: Path, data: Optional[dict[str, Any]] = None, construct: Optional[dict[str, Any]] = None,
               stack: Optional[dict[str, Any]] = None, indent: Optional[int] = 1, **header: Any) -> str:
    """A rank directory as collectors write it. Without `construct` every node of `data` is a child of the root."""
    data = {} if data is None else data
    construct = dict.fromkeys(data) if construct is None else construct
    top = {"task": "statistics", "level": "mix", "framework": "pytorch", "dump_data_dir": None, **header, "data": data}
    return write_texts(folder, json.dumps(top, indent=indent), json.dumps(construct, indent=indent), json.dumps(stack or {}, indent=indent))


def write_texts(folder: Path, dump: str, construct: str = '{"A.f.0.forward": null}', stack: Optional[str] = "{}") -> str:
    """A rank directory with these texts in its files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("dump.json", dump), ("construct.json", construct), ("stack.json", stack)):
        if text is not None:
            (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    return str(folder)


def write_entry(folder: Path, entry: Any, name: str = "Functional.f.0.forward", **header: Any) -> str:
    """A dump of one entry."""
    return write_dump(folder, {name: entry}, **header)


def tensor(maximum: Any = 1.0, minimum: Any = -1.0, mean: Any = 0.5, norm: Any = 2.0, **more: Any) -> dict[str, Any]:
    return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 3], "Max": maximum, "Min": minimum, "Mean": mean, "Norm": norm,
            "requires_grad": True, **more}


def rows_of(dump: Dump, node: Optional[str] = None) -> list[dict[str, Any]]:
    """The leaves of a node, or of all nodes, as plain values."""
    leaves = dump.leaves
    begin, end = 0, leaves.rows
    if node is not None:
        number = dump.names.index(node)
        begin, end = (int(dump.row_end[number - 1]) if number else 0), int(dump.row_end[number])
    rows = []
    for row in range(begin, end):
        texts = {name: None if getattr(leaves, name)[row] < 0 else leaves.strings[getattr(leaves, name)[row]]
                 for name in ("name", "type", "dtype", "value", "checksum", "data_name")}
        rows.append({
            **texts,
            "role": int(leaves.role[row]),
            "kind": int(leaves.kind[row]),
            "shape": None if leaves.shape[row] < 0 else leaves.shapes[leaves.shape[row]],
            "requires_grad": int(leaves.requires_grad[row]),
            "present": int(leaves.present[row]),
            "statistics": tuple(repr(number) for number in leaves.statistics[row].tolist()),
            "exact": leaves.exact.get(row),
        })
    return rows


def plain(dump: Dump) -> dict[str, Any]:
    """A dump as plain values: equal where two dumps are equal, whatever the numbering of their texts."""
    result: dict[str, Any] = {"rows": rows_of(dump)}
    for field in fields(dump):
        value = getattr(dump, field.name)
        if field.name != "leaves":
            result[field.name] = (str(value.dtype), value.tolist()) if isinstance(value, np.ndarray) else value
    for field in fields(dump.leaves):
        value = getattr(dump.leaves, field.name)
        if isinstance(value, np.ndarray):
            result[f"type of {field.name}"] = (str(value.dtype), value.shape[1:])
    return result


def write_output(tmp_path: Path, text: str) -> str:
    """A dump whose only entry has this text as its only output."""
    return write_texts(tmp_path, f'{{"data": {{"A.f.0.forward": {{"output": [{text}]}}}}}}')


def leaf_of(tmp_path: Path, leaf: Any) -> dict[str, Any]:
    """The row of a leaf that is the only argument of a call."""
    [row] = rows_of(read_dump(write_entry(tmp_path, {"input_args": [leaf]})))
    return row


def refuse_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make it an error when the fast reader hands over to the reference reader."""
    def refuse(folder: Path) -> None:
        raise AssertionError(f"{folder} was left to the reference reader")
    monkeypatch.setattr(reader.reference, "read_dump", refuse)
