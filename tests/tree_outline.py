"""Builds small trees and tells what is in them. Used by the tests of the tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

import numpy as np

from converter.dumps.reader import read_dump
from converter.tree.build import build_tree
from converter.tree.columns import NodeKind, Tree
from tests.dump_files import write_dump

CALL = "File /env/torch/nn/modules/module.py, line 1, in _call_impl, \n"
ENGINE = "File /env/torch/autograd/function.py, line 2, in apply, \n"
CHECKPOINT = [CALL, "File /env/torch/utils/checkpoint.py, line 2, in recompute_fn, \n"]
TRAINING = [CALL, "File /code/train.py, line 2, in <module>, \n"]


def build_from(folder: Path, construct: dict[str, Any], data: Optional[dict[str, Any]] = None, stack: Optional[dict[str, Any]] = None,
               **header: Any) -> Tree:
    """The tree of a dump with these files, written to `folder`."""
    return build_tree(read_dump(write_dump(folder, data, construct, stack, task="structure", **header)))


def outline(tree: Tree) -> list[str]:
    """The names in pre-order, each behind as many dots as it is deep; without the root."""
    return ["." * (tree.depth[node] - 1) + tree.names[node] for node in range(1, tree.count)]


def steps(tree: Tree) -> dict[str, int]:
    return dict(zip(tree.names, tree.micro_step.tolist()))


def flagged(tree: Tree, flag: int) -> list[str]:
    return [name for name, flags in zip(tree.names, tree.flags.tolist()) if flags & flag]


def parent_of(tree: Tree, name: str) -> str:
    return tree.names[tree.parent[tree.names.index(name)]]


def check_columns(tree: Tree) -> None:
    """What must hold of any tree."""
    count = tree.count
    assert tree.parent[0] == -1 and tree.depth[0] == 0 and tree.end[0] == count and tree.kind[0] == NodeKind.ROOT
    nodes = np.arange(1, count)
    parent = tree.parent[1:]
    assert (parent < nodes).all() and (tree.end[parent] >= tree.end[1:]).all() and (tree.end[1:] > nodes).all()
    assert (tree.depth[1:] == tree.depth[parent] + 1).all()
    assert (tree.parent[np.minimum(tree.end[1:], count - 1)] < nodes)[tree.end[1:] < count].all()
    for column in (tree.call, tree.path, tree.label, tree.prefix, tree.micro_step, tree.dump_node):
        assert column.dtype == np.int32 and len(column) == count
    for column in (tree.kind, tree.direction, tree.flags):
        assert column.dtype == np.uint8 and len(column) == count
    assert tree.micro_step.min() >= 0 and tree.micro_step.max() < tree.micro_steps
