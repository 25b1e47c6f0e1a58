"""The first divergence of each direction: the earliest, deepest place where two runs stop agreeing.

Pairs are walked in call order, from the outside in. The walk ends at

* a pair whose inputs agree and whose parameter differs (`parameter`) or whose output differs (`introduced`), as deep
  as one can be found inside it;
* or a pair whose inputs differ although everything before it agrees: then the fault lies in the code of the enclosing
  module between the last clean call and this one (`gap`).

A finding that is not finite is `nonfinite`. Backward is searched only where forward agrees: gradients of another
forward pass differ everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from converter.judge.causes import PairFacts
from converter.judge.verdict import Cause, Status
from converter.tree.columns import Direction, NodeKind, Tree
from converter.tree.graph import Graph

FORWARD_PHASE, BACKWARD_PHASE = 0, 1
OPTIMIZER_NAMES = ("optimizer", "clip_grad")


@dataclass(frozen=True)
class Finding:
    """Where the walk ended. `place` is the pair to name; `seen` the pair whose inputs differ first (gap only)."""

    kind: str  # introduced | parameter | gap
    place: int  # pair, -1 = the root itself
    seen: int
    after: int  # last clean pair before it, -1 = none


def phases(tree: Tree) -> NDArray[np.uint8]:
    """[nodes] 0 = forward pass, 1 = backward pass and optimizer; by the outermost module a node lies in.

    APIs at the root belong to the pass that the module before them belongs to.
    """
    phase = np.zeros(tree.count, np.uint8)
    node, current = 1, FORWARD_PHASE
    while node < tree.count:
        end = int(tree.end[node])
        kind = tree.kind[node]
        if kind in (NodeKind.MODULE, NodeKind.PARAMETERS_GRAD):
            if tree.names[node] in OPTIMIZER_NAMES or tree.direction[node] == Direction.BACKWARD:
                current = BACKWARD_PHASE
            elif tree.direction[node] == Direction.FORWARD:
                current = FORWARD_PHASE
        elif kind == NodeKind.API and tree.direction[node] == Direction.BACKWARD:
            current = BACKWARD_PHASE
        phase[node:end] = current
        if kind == NodeKind.API_COLLECTION:
            phase[node + 1 : end] = np.where(tree.direction[node + 1 : end] == Direction.BACKWARD, BACKWARD_PHASE, current)
        node = end
    # A backward call that the collector filed inside a forward one is still backward.
    phase[(tree.direction == Direction.BACKWARD)] = BACKWARD_PHASE
    return phase


def children_of_pairs(pairs: PairFacts, target: Graph, group: NDArray[np.int64], groups: int) -> list[dict[int, list[int]]]:
    """Per group of nodes and pair (-1 = root): the pairs of the same group that lie directly below it, in call order.

    Args:
        group: [nodes] 0..groups-1, what each node is walked with: its phase, or its phase and micro step.
    """
    tree = target.tree
    pair_of = np.full(tree.count, -1, np.int64)
    pair_of[pairs.node] = np.arange(len(pairs.node))
    # Collections of APIs are none of the model's modules: their calls belong to what lies around.
    pair_of[tree.kind == NodeKind.API_COLLECTION] = -1
    parents, numbers, group_of = tree.parent.tolist(), pair_of.tolist(), group.tolist()
    owners = [-1] * tree.count  # pair of the nearest node around that is of the same group
    foreign = [0] * tree.count  # nearest node around that is of another group: runs of one group are climbed in one step
    below: list[dict[int, list[int]]] = [{} for _ in range(groups)]
    for node in range(1, tree.count):
        own, around = group_of[node], parents[node]
        foreign[node] = foreign[around] if group_of[around] == own else around
        while around > 0 and group_of[around] != own:
            around = foreign[around]
        above = -1 if around <= 0 else numbers[around] if numbers[around] >= 0 else owners[around]
        owners[node] = above
        if numbers[node] >= 0:
            below[own].setdefault(above, []).append(numbers[node])
    return below


def find_first(pairs: PairFacts, cause: NDArray[np.uint8], below: dict[int, list[int]]) -> Finding | None:
    """Walk the pairs of one phase; None if nothing diverges."""
    return _walk(-1, pairs, cause, below)


def _walk(owner: int, pairs: PairFacts, cause: NDArray[np.uint8], below: dict[int, list[int]]) -> Finding | None:
    """Iterative: the frames of the walk stand on a list, so that depth does not matter."""
    frames: list[tuple[int, int]] = [(owner, 0)]
    last_clean = {owner: -1}
    while frames:
        place, position = frames.pop()
        children = below.get(place, [])
        if position >= len(children):
            # Everything inside agrees: the difference of the module itself, if it has one, is its own.
            if place != owner and cause[place] in (Cause.INTRODUCED, Cause.PARAMETER):
                return _own(place, cause, last_clean[place], _last(frames, last_clean), bool(children))
            if frames and pairs.status[place] == Status.PASS:
                last_clean[frames[-1][0]] = place
            continue
        child = children[position]
        frames.append((place, position + 1))
        if cause[child] in (Cause.INHERITED, Cause.AMPLIFIED, Cause.RECOVERED) and pairs.bad_input[child]:
            if not _inside_parameter(frames, cause):
                return Finding("gap", place, child, _last(frames, last_clean))
            continue
        if cause[child] == Cause.INHERITED:
            return None if _from_elsewhere(child, pairs) else Finding("gap", place, child, _last(frames, last_clean))
        last_clean[child] = -1
        frames.append((child, 0))
    return None


def _inside_parameter(frames: list[tuple[int, int]], cause: NDArray[np.uint8]) -> bool:
    """Some enclosing module has a parameter that differs: calls inside read it as an argument."""
    return any(place >= 0 and cause[place] == Cause.PARAMETER for place, _ in frames)


def _last(frames: list[tuple[int, int]], last_clean: dict[int, int]) -> int:
    return next((last_clean[place] for place, _ in reversed(frames) if last_clean.get(place, -1) >= 0), -1)


def _from_elsewhere(child: int, pairs: PairFacts) -> bool:
    """Its outputs differ by what it received, not by its inputs: the fault is on another rank (or in forward)."""
    return not bool(pairs.bad_input[child])


def _own(place: int, cause: NDArray[np.uint8], inner: int, outer: int, has_children: bool) -> Finding:
    after = inner if inner >= 0 else outer
    if cause[place] == Cause.PARAMETER:
        return Finding("parameter", place, -1, outer)
    if has_children:
        return Finding("gap", place, -1, after)
    return Finding("introduced", place, -1, outer)
