"""Dumps for tests, written entry by entry and read by the real reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Optional

from converter.dumps.reader import read_dump
from converter.tree.build import build_tree
from converter.tree.graph import Graph, graph_of


def tensor(largest: Any = 1.0, least: Any = -1.0, mean: Any = 0.0, norm: Any = 1.0, shape: Optional[list[int]] = None,
           dtype: str = "torch.float32", requires_grad: bool = False, **more: Any) -> dict[str, Any]:
    """A tensor leaf."""
    return {"type": "torch.Tensor", "dtype": dtype, "shape": [2, 2] if shape is None else shape, "Max": largest, "Min": least, "Mean": mean,
            "Norm": norm, "requires_grad": requires_grad, **more}


def scalar(value: Any) -> dict[str, Any]:
    return {"type": type(value).__name__, "value": value}


def forward(inputs: list[Any], outputs: list[Any], parameters: Optional[dict[str, Any]] = None, **kwargs: Any) -> dict[str, Any]:
    """The entry of a forward call."""
    entry: dict[str, Any] = {"input_args": inputs, "input_kwargs": kwargs, "output": outputs}
    return entry if parameters is None else {**entry, "parameters": parameters}


def write_dump(directory: Path, data: dict[str, Any], parents: Optional[dict[str, Optional[str]]] = None, **top: Any) -> Path:
    """A rank directory. `parents`: node → parent of nodes that do not stand at the root."""
    directory.mkdir(parents=True, exist_ok=True)
    construct = {**dict.fromkeys(data), **(parents or {})}
    content = {"task": "statistics", "level": "mix", "framework": "pytorch", "dump_data_dir": None, **top, "data": data}
    (directory / "dump.json").write_text(json.dumps(content), encoding="utf-8")
    (directory / "construct.json").write_text(json.dumps(construct), encoding="utf-8")
    (directory / "stack.json").write_text("{}", encoding="utf-8")
    return directory


def graph(directory: Path, data: dict[str, Any], parents: Optional[dict[str, Optional[str]]] = None, **top: Any) -> Graph:
    """The graph of a dump with these entries."""
    dump = read_dump(str(write_dump(directory, data, parents, **top)))
    return graph_of(dump, build_tree(dump))
