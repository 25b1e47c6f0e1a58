"""parameters_grad nodes: dump.json holds them without a parent; they belong to the backward call that finished the gradient."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from converter.tree.calls import ROOT, UNPLACED, Calls
from converter.tree.columns import NodeKind
from converter.tree.names import NameColumns
from converter.tree.placement import stands_below


def place_gradients(names: NameColumns, forward: Calls, backward: Calls, parent: NDArray[np.int64], step: NDArray[np.int32]) -> None:
    """Put the parameters_grad nodes that stand at the root below their module (`parent` and `step` are changed in place).

    `….parameters_grad.{i}` is the i-th time that the gradients were ready, once a micro step. So: as many of them as backward
    calls, the i-th call; as many as micro steps with backward calls, the last call of the i-th of these; else, and for the
    older name without number, the highest-numbered backward call. Modules without one: the highest forward call, else
    "Unplaced", which is also for those that are filed as parents of their own module.
    """
    by_stem: dict[int, list[int]] = {}
    gradients = np.flatnonzero((names.kind == NodeKind.PARAMETERS_GRAD) & (parent == ROOT))
    parents = set(np.intersect1d(gradients, parent).tolist())  # never in a healthy dump
    for node in gradients.tolist():
        by_stem.setdefault(int(names.stem[node]), []).append(node)
    for stem, nodes in by_stem.items():
        calls = backward.of_stem(stem)
        if not len(calls):
            calls = forward.of_stem(stem)
        if not len(calls):
            parent[nodes] = UNPLACED
            continue
        nodes.sort(key=lambda node: int(names.call[node]))
        places = _places(calls.tolist(), step[calls].tolist(), len(nodes))
        for node, place in zip(nodes, places):
            parent[node] = place if node not in parents or not stands_below(place, node, parent) else UNPLACED
        step[nodes] = step[places]


def _places(calls: list[int], steps: list[int], count: int) -> list[int]:
    """The call for each of `count` nodes in the order of their numbers."""
    if count == len(calls):
        return calls
    last_of_step = dict(zip(steps, calls))
    if count == len(last_of_step):
        return [last_of_step[step] for step in sorted(last_of_step)]
    return [calls[-1]] * count
