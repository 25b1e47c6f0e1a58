"""Truth tables of module counterparts (bench/truth/*.yaml)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from converter.tree.columns import NodeKind, Tree

Path = tuple[str, ...]
Link = tuple[int, int]  # (target node, golden node)
_LAYER = "{layer}"


class TruthError(Exception):
    """A truth table is wrong or incomplete."""


@dataclass(frozen=True)
class Truth:
    """Which modules belong together, by path; every module of both dumps is named somewhere."""

    name: str
    pairs: list[tuple[str, str]]  # (target, golden) below the directory of dumps
    wanted: dict[Path, list[Path]]  # target path → its counterparts; several for a fused layer
    open: dict[Path, list[Path]]  # may be paired or not
    without: tuple[set[Path], set[Path]]  # of target, of golden: nothing corresponds


def read_truth(file: str) -> Truth:
    """Read a truth table; `{layer}` stands for every layer number.

    Raises:
        TruthError: a path has two entries.
    """
    with open(file, encoding="utf-8") as stream:
        content = yaml.safe_load(stream)
    layers = range(content.get("layers", 1))
    without = content.get("without", {})
    truth = Truth(
        os.path.splitext(os.path.basename(file))[0],
        [(target, golden) for target, golden in content["pairs"]],
        dict(_counterparts(content["modules"], layers)),
        dict(_counterparts(content.get("open", {}), layers)),
        (set(_paths(without.get("target", []), layers)), set(_paths(without.get("golden", []), layers))))
    claimed = [path for paths in truth.wanted.values() for path in paths]
    repeated = {path for path in claimed if claimed.count(path) > 1}
    twice = sorted(repeated | (set(truth.wanted) & truth.without[0]) | (set(claimed) & truth.without[1]))
    if twice:
        raise TruthError(f"{file}: {'.'.join(twice[0])} has two entries")
    return truth


def _counterparts(block: dict[str, Any], layers: Iterable[int]) -> Iterator[tuple[Path, list[Path]]]:
    for target, golden in block.items():
        parts = golden if isinstance(golden, list) else [golden]
        for layer in layers if _LAYER in target else [0]:
            yield _path(target, layer), [_path(part, layer) for part in parts]


def _paths(block: list[str], layers: Iterable[int]) -> Iterator[Path]:
    for text in block:
        for layer in layers if _LAYER in text else [0]:
            yield _path(text, layer)


def _path(text: str, layer: int) -> Path:
    return tuple(str(text).replace(_LAYER, str(layer)).split("."))


Calls = dict[tuple[Path, str], dict[int, int]]  # (path, direction or kind) → call number → node


def module_calls(tree: Tree) -> Calls:
    """The calls of every module, and its gradients of parameters."""
    found: Calls = {}
    for node in range(tree.count):
        if tree.kind[node] in (NodeKind.MODULE, NodeKind.PARAMETERS_GRAD) and tree.paths[tree.path[node]]:
            kind = "gradient" if tree.kind[node] == NodeKind.PARAMETERS_GRAD else str(int(tree.direction[node]))
            found.setdefault((tree.paths[tree.path[node]], kind), {})[int(tree.call[node])] = node
    return found


def wanted_links(counterparts: dict[Path, list[Path]], target: Calls, golden: Calls) -> set[Link]:
    """Every pair of calls that the table asks for: same direction, same call number."""
    links: set[Link] = set()
    for (path, direction), calls in target.items():
        for other in counterparts.get(path, []):
            others = golden.get((other, direction), {})
            links.update((node, others[number]) for number, node in calls.items() if number in others)
    return links


def check_complete(truth: Truth, target: Calls, golden: Calls) -> None:
    """Raises TruthError if a dump has a module of which the table says nothing, or the table one that no dump has."""
    sides = (
        ("target", {path for path, _ in target}, {*truth.wanted, *truth.open, *truth.without[0]}),
        ("golden", {path for path, _ in golden},
         {path for paths in (*truth.wanted.values(), *truth.open.values()) for path in paths} | truth.without[1]))
    for side, there, named in sides:
        for path in sorted(there ^ named):
            what = "is in the dump but not in the table" if path in there else "is in the table but not in the dump"
            raise TruthError(f"truth {truth.name}: {side} module {'.'.join(path)} {what}")


def rename_paths(truth: Truth, words: dict[str, str], golden: bool) -> Truth:
    """The same table for a dump whose one side was renamed."""
    def new(path: Path) -> Path:
        return tuple(words.get(part, part) for part in path)

    def table(counterparts: dict[Path, list[Path]]) -> dict[Path, list[Path]]:
        if golden:
            return {path: [new(other) for other in others] for path, others in counterparts.items()}
        return {new(path): others for path, others in counterparts.items()}

    alone, alone_golden = truth.without
    if golden:
        alone_golden = {new(path) for path in alone_golden}
    else:
        alone = {new(path) for path in alone}
    return Truth(truth.name, truth.pairs, table(truth.wanted), table(truth.open), (alone, alone_golden))
