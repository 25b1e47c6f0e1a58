"""Tiny dumps for tests: one Linear below one Net, with leaves as given."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Optional

from converter.compare.rows import compare
from converter.judge.judge import judge
from converter.judge.policy import load_policy
from converter.match.automatic import match_trees
from converter.rank_task import read_tree
from converter.tree.graph import graph_of
from tests.conversions import Result

LINEAR = "Module.net.fc.Linear.forward.0"
NET = "Module.net.Net.forward.0"


def tensor(
    maximum: Any = 1.0,
    minimum: Any = -1.0,
    mean: Any = 0.1,
    norm: Any = 4.0,
    shape: tuple[int, ...] = (8, 4),
    dtype: str = "torch.float32",
    **more: Any,
) -> dict[str, Any]:
    """A tensor leaf as msprobe writes it."""
    return {
        "type": "torch.Tensor",
        "dtype": dtype,
        "shape": list(shape),
        "Max": maximum,
        "Min": minimum,
        "Mean": mean,
        "Norm": norm,
        "requires_grad": True,
        **more,
    }


def scalar(value: Any, kind: Optional[str] = None) -> dict[str, Any]:
    """A scalar leaf."""
    return {"type": kind or type(value).__name__, "value": value}


def entry(
    args: Any = (), output: Any = (), parameters: Optional[dict[str, Any]] = None, kwargs: Optional[dict[str, Any]] = None
) -> dict[str, Any]:
    """A forward entry of a module."""
    return {"input_args": list(args), "input_kwargs": kwargs or {}, "output": list(output), "parameters": parameters or {}}


SAME = {LINEAR: entry([tensor()], [tensor()])}  # data for a dump to compare with itself


def write_dump(directory: str, data: dict[str, Any], construct: Optional[dict[str, Any]] = None, **head: Any) -> str:
    """Write the three files of a rank directory; returns the directory."""
    os.makedirs(directory, exist_ok=True)
    files = {
        "dump.json": {"task": "statistics", "level": "mix", "framework": "pytorch", "dump_data_dir": None, **head, "data": data},
        "construct.json": construct or {NET: None, **{name: NET for name in data if name != NET}},
        "stack.json": {},
    }
    for name, content in files.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            json.dump(content, file)
    return directory


def write_ranks(folder: Path, data: dict[str, Any], count: int = 3) -> Path:
    """Write the same dump as rank 0, 1, …; returns the folder of the ranks."""
    for rank in range(count):
        write_dump(str(folder / f"rank{rank}"), data)
    return folder


def cut_off(path: Path) -> None:
    """Damage a file as a full disk does: its end is missing."""
    path.write_bytes(path.read_bytes()[:-20])


def compared(directory: str, target: dict[str, Any], golden: dict[str, Any], policy: str = "default") -> Result:
    """Compare two dumps of the same nodes: `target` and `golden` are the data of their dump.json."""
    left = graph_of(*read_tree(write_dump(os.path.join(directory, "target"), target)))
    right = graph_of(*read_tree(write_dump(os.path.join(directory, "golden"), golden)))
    pairing = match_trees(left, right)
    comparison = compare(left, right, pairing, "statistics")
    return Result(left, right, pairing, comparison, judge(comparison, pairing, left, right, load_policy(policy)))


def status_of_output(directory: str, target: Any, golden: Any) -> str:
    """Status of the Linear's pair when only its output differs."""
    same = tensor(0.5, -0.5, 0.0, 2.0)
    found = compared(directory, {LINEAR: entry([same], [target])}, {LINEAR: entry([same], [golden])})
    return status_of(found, LINEAR)


def status_of(found: Result, name: str) -> str:
    """Status of the pair of a target node, in lower case."""
    from converter.judge.verdict import Status

    pair = int(found.pairing.pair_of_target[found.target.tree.names.index(name)])
    return Status(int(found.verdicts.status[pair])).name.lower()
