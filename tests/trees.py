"""Trees for tests without dump files: from node names and parents, or from a model's list of modules."""

from __future__ import annotations

from typing import Optional

import numpy as np

from converter.dumps.columns import Dump, Leaves
from converter.tree.build import build_tree
from converter.tree.columns import Tree

Module = tuple[str, str]  # dotted path, class


def empty_leaves() -> Leaves:
    """No leaves: what a structure dump has."""
    ids = np.zeros(0, np.int32)
    small = np.zeros(0, np.uint8)
    return Leaves([], small, small, ids, ids, ids, ids, [], small, small, np.zeros((0, 4)), ids, ids, ids, {})


def dump_of(entries: list[tuple[str, Optional[str]]], data_only: Optional[list[str]] = None, framework: str = "pytorch",
            stacks: Optional[dict[str, tuple[str, ...]]] = None) -> Dump:
    """A structure dump from (node name, parent name) in call order; `data_only` are names that construct.json does not have."""
    names = [name for name, _ in entries] + list(data_only or [])
    lines = list(dict.fromkeys((stacks or {}).values()))
    stack = np.array([lines.index(stacks[name]) if stacks and name in stacks else -1 for name in names], np.int32)
    return Dump("test", "structure", "mix", framework, "none", "", names, len(entries), [parent for _, parent in entries], None,
                np.zeros(len(names), np.int64), np.zeros(len(names), np.bool_), empty_leaves(), lines, stack)


def tree_of(entries: list[tuple[str, Optional[str]]], data_only: Optional[list[str]] = None) -> Tree:
    """The tree of `dump_of`."""
    return build_tree(dump_of(entries, data_only))


def module_entries(modules: list[Module], apis: Optional[dict[str, list[str]]] = None,
                   backward: bool = True) -> tuple[list[tuple[str, Optional[str]]], list[str]]:
    """Entries of one forward and backward pass over a list of modules in call order, and its parameter gradients.

    Args:
        modules: (path, class); the parent is the nearest module whose path begins this one's.
        apis: path → APIs ("Torch.matmul") that this module calls; "" = at the root.
    """
    prefix = "Module"
    class_of = dict(modules)
    counts: dict[str, int] = {}

    def full(path: str, direction: str) -> str:
        return f"{prefix}.{path}.{class_of[path]}.{direction}.0"

    def parent(path: str, direction: str) -> Optional[str]:
        parts = path.split(".")[:-1]
        while parts and ".".join(parts) not in class_of:
            parts.pop()
        return full(".".join(parts), direction) if parts else None

    entries: list[tuple[str, Optional[str]]] = []
    calls: list[tuple[str, Optional[str], str]] = []  # API, calling module's path
    for path in ([""] if apis and "" in apis else []) + [path for path, _ in modules]:
        if path:
            entries.append((full(path, "forward"), parent(path, "forward")))
        for api in (apis or {}).get(path, []):
            name = f"{api}.{counts.setdefault(api, 0)}"
            counts[api] += 1
            entries.append((f"{name}.forward", full(path, "forward") if path else None))
            calls.append((name, full(path, "backward") if path else None, path))
    gradients: list[str] = []
    if backward:
        for path, _ in reversed(modules):
            entries.append((full(path, "backward"), parent(path, "backward")))
            entries.extend((f"{name}.backward", caller) for name, caller, at in reversed(calls) if at == path)
            gradients.append(f"{prefix}.{path}.{class_of[path]}.parameters_grad")
    return entries, gradients


def model_tree(modules: list[Module], apis: Optional[dict[str, list[str]]] = None) -> Tree:
    """The tree of a model that ran once forward and backward."""
    return tree_of(*module_entries(modules, apis))


def matched(target: Tree, golden: Tree, pairs: list) -> dict[str, object]:
    """Pairs by name: target name → golden name; a group on either side is a tuple."""
    def side(tree: Tree, nodes: tuple[int, ...]) -> object:
        names = tuple(tree.names[node] for node in nodes)
        return names[0] if len(names) == 1 else names

    return {side(target, pair.target): side(golden, pair.golden) for pair in pairs}  # type: ignore[misc]


def paths(target: Tree, golden: Tree, pairs: list) -> dict[str, object]:
    """Forward module pairs by path, without prefix, class and call number."""
    def side(tree: Tree, nodes: tuple[int, ...]) -> object:
        found = tuple(".".join(tree.paths[tree.path[node]]) for node in nodes)
        return found[0] if len(found) == 1 else found

    return {side(target, pair.target): side(golden, pair.golden) for pair in pairs  # type: ignore[misc]
            if ".forward." in target.names[pair.target[0]] and target.paths[target.path[pair.target[0]]]}
