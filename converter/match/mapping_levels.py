"""The modules of one tree as levels of a hierarchy, as the mapping language sees them: by path, with class names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from converter.match.component_words import normalised_path
from converter.tree.columns import NodeKind, Tree

# Megatron's legacy trunk numbers the layers of a pipeline stage globally on one side and from 0 on the other, depending on
# the version. msprobe therefore counts them from 0 on both sides, for this class only.
_RENUMBERED_CLASS, _RENUMBERED_CHILD = "ParallelTransformer", "layers"


@dataclass(frozen=True)
class Levels:
    """Every module path of a tree and every level between. Level 0 is the root; parents come before their children."""

    paths: list[tuple[str, ...]]
    parent: list[int]
    children: list[dict[str, int]]  # component → level
    class_name: list[str]  # "" for a level that is never called (a ModuleList)
    of_path: dict[tuple[str, ...], int]
    of_node: NDArray[np.int32]  # level of a module or parameters_grad node; the root's for collections; -1 for all else

    @property
    def count(self) -> int:
        return len(self.paths)

    def type_of(self, level: int) -> str:
        """The name that scopes a rule: the class, or for a level that is never called its own component."""
        return self.class_name[level] or (self.paths[level][-1] if level else "")


def find_levels(tree: Tree, ignore_wrappers: bool) -> Levels:
    """Collect the levels of a tree.

    Args:
        ignore_wrappers: paths lose their wrapper components (component_words); the wrappers themselves get no level.
            Where two paths would become the same, both keep theirs.
    """
    is_module = (tree.kind == NodeKind.MODULE) | (tree.kind == NodeKind.PARAMETERS_GRAD)
    nodes = np.flatnonzero(is_module)
    # A name without a path (optimizer, unknown names) is a level below the root under its own name.
    key = tree.path[nodes].astype(np.int64) * (len(tree.labels) + 1)
    pathless = np.array([not path for path in tree.paths], dtype=np.bool_)[tree.path[nodes]]
    key[pathless] += tree.label[nodes][pathless] + 1
    unique, first, which = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    raw: list[tuple[str, ...]] = []
    classes: list[str] = []
    for number in order.tolist():
        node = int(nodes[first[number]])
        label = tree.labels[tree.label[node]]
        raw.append(tree.paths[tree.path[node]] or (label,))
        classes.append(label)
    paths = _without_wrappers(raw) if ignore_wrappers else raw
    levels = Levels([()], [-1], [{}], [""], {(): 0}, np.full(tree.count, -1, np.int32))
    level_of = np.full(len(unique), -1, np.int32)
    for number, path, class_name in zip(order.tolist(), paths, classes):
        if not path:
            continue
        level = _add(levels, path)
        level_of[number] = level
        if not levels.class_name[level]:
            levels.class_name[level] = class_name
    levels.of_node[nodes] = level_of[which.reshape(-1)]
    levels.of_node[(tree.kind == NodeKind.ROOT) | (tree.kind == NodeKind.API_COLLECTION)] = 0
    return _renumber(levels)


def _add(levels: Levels, path: tuple[str, ...]) -> int:
    known = levels.of_path.get(path, -1)
    if known >= 0:
        return known
    level = 0
    for depth, component in enumerate(path):
        below = levels.children[level].get(component, -1)
        if below < 0:
            below = len(levels.paths)
            levels.children[level][component] = below
            levels.paths.append(path[:depth + 1])
            levels.parent.append(level)
            levels.children.append({})
            levels.class_name.append("")
            levels.of_path[path[:depth + 1]] = below
        level = below
    return level


def _without_wrappers(raw: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    stripped = [normalised_path(path) for path in raw]
    leading = {path[0] for path in raw if path[0].isdigit()}
    if len(leading) > 1:
        # Several model chunks (a virtual pipeline) number their layers alike: without the index they would be mixed up.
        stripped = [(path[0], *short) if path[0] in leading else short for path, short in zip(raw, stripped)]
    owner: dict[tuple[str, ...], int] = {}
    clash: set[tuple[str, ...]] = set()
    for number, path in enumerate(stripped):
        if path and owner.setdefault(path, number) != number:
            clash.add(path)
    return [path if short in clash else short for path, short in zip(raw, stripped)]


def _renumber(levels: Levels) -> Levels:
    """Count the layers of a pipeline stage from 0 (see _RENUMBERED_CLASS)."""
    renamed: dict[int, str] = {}
    for level, class_name in enumerate(levels.class_name):
        holder = levels.children[level].get(_RENUMBERED_CHILD, -1) if class_name == _RENUMBERED_CLASS else -1
        children = levels.children[holder] if holder >= 0 else {}
        layers = {int(name): layer for name, layer in children.items() if name.isascii() and name.isdigit()}
        first = min(layers, default=0)
        if first:
            renamed.update({layer: str(number - first) for number, layer in layers.items()})
    if not renamed:
        return levels
    paths: list[tuple[str, ...]] = [()]
    below: list[dict[str, int]] = [{} for _ in levels.paths]
    for level in range(1, levels.count):
        component = renamed.get(level, levels.paths[level][-1])
        paths.append((*paths[levels.parent[level]], component))
        below[levels.parent[level]][component] = level
    return Levels(paths, levels.parent, below, levels.class_name, {path: level for level, path in enumerate(paths)}, levels.of_node)
