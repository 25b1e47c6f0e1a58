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
    node = np.flatnonzero((names.kind == NodeKind.PARAMETERS_GRAD) & (parent == ROOT))
    node = node[np.lexsort((names.call[node], names.stem[node]))]
    stems, start, count = np.unique(names.stem[node], return_index=True, return_counts=True)
    low, high = backward.range_of_stems(stems)
    # As many gradients as backward calls, as in nearly every dump: all at once.
    even = np.repeat(count == high - low, count)
    place = np.full(len(node), UNPLACED, dtype=np.int64)
    place[even] = backward.node[(np.repeat(low - start, count) + np.arange(len(node)))[even]]
    for i in np.flatnonzero(count != high - low).tolist():
        calls = backward.node[low[i]:high[i]] if high[i] > low[i] else forward.of_stem(int(stems[i]))
        if len(calls):
            place[start[i]:start[i] + count[i]] = _places(calls.tolist(), step[calls].tolist(), int(count[i]))
    step[node] = np.where(place >= 0, step[np.maximum(place, 0)], step[node])
    parents = np.isin(node, parent)  # never in a healthy dump
    parent[node[~parents]] = place[~parents]
    for child, above in zip(node[parents].tolist(), place[parents].tolist()):
        parent[child] = UNPLACED if stands_below(above, child, parent) else above


def _places(calls: list[int], steps: list[int], count: int) -> list[int]:
    """The call for each of `count` nodes in the order of their numbers."""
    if count == len(calls):
        return calls
    last_of_step = dict(zip(steps, calls))
    if count == len(last_of_step):
        return [last_of_step[step] for step in sorted(last_of_step)]
    return [calls[-1]] * count
