"""Micro steps: which forward-and-backward pass of the training step a node belongs to."""

from __future__ import annotations

from typing import Optional

import numpy as np
from numpy.typing import NDArray

from converter.dumps.construct import NOT_STATED
from converter.tree.calls import NO_NODE, ROOT, Calls
from converter.tree.columns import Direction, NodeKind
from converter.tree.names import NameColumns
from converter.tree.placement import top_of


def micro_steps_of(stated: Optional[list[int]], names: NameColumns, forward: Calls, parent: NDArray[np.int64],
                   recomputed: NDArray[np.bool_], count: int) -> NDArray[np.int32]:
    """Micro step of every node, from 0. `stated` is Dump.micro_steps, `count` the number of nodes with a call order.

    With a statement (Megatron) a node has the step that the dump gives it; one without has that of its parent, at the root
    that of its forward twin, else that of the node before it. A recomputed call has the step of the backward call around it.
    Without a statement the nodes at the root are gone through in call order: a forward module after a backward one
    begins a new step. Recomputed calls, optimizers and APIs belong to the step in which they run and begin none.
    """
    if stated is None:
        step = _by_order(names, parent, recomputed, count)
    else:
        step = np.full(len(parent), NOT_STATED, dtype=np.int32)
        step[:count] = stated
        step[recomputed & (parent >= 0)] = NOT_STATED
        _fill_root(step, names, forward, parent, count)
    return _inherited(step, names, forward, parent)


def _by_order(names: NameColumns, parent: NDArray[np.int64], recomputed: NDArray[np.bool_], count: int) -> NDArray[np.int32]:
    step = np.full(len(parent), NOT_STATED, dtype=np.int32)
    order = np.flatnonzero(parent[:count] < 0)
    module = names.kind[order] == NodeKind.MODULE
    forward = module & (names.direction[order] == Direction.FORWARD) & ~recomputed[order]
    begins_forward = (forward & (parent[order] == ROOT)).tolist()
    is_backward = (module & (names.direction[order] == Direction.BACKWARD)).tolist()
    steps = []
    current, seen_backward = 0, False
    for forward_module, backward_module in zip(begins_forward, is_backward):
        if forward_module and seen_backward:
            current, seen_backward = current + 1, False
        seen_backward = seen_backward or backward_module
        steps.append(current)
    step[order] = steps
    return step


def _fill_root(step: NDArray[np.int32], names: NameColumns, forward: Calls, parent: NDArray[np.int64], count: int) -> None:
    """Steps of the nodes at the root that state none."""
    order = np.flatnonzero(parent[:count] < 0)
    twin = forward.find(names.stem[order], names.call[order])
    twin_step = np.where((twin != NO_NODE) & (twin != order), step[np.maximum(twin, 0)], NOT_STATED).tolist()
    own = step[order].tolist()
    current = 0
    for i, value in enumerate(own):
        if value == NOT_STATED:
            own[i] = value = twin_step[i] if twin_step[i] != NOT_STATED else current
        current = value
    step[order] = own


def _inherited(step: NDArray[np.int32], names: NameColumns, forward: Calls, parent: NDArray[np.int64]) -> NDArray[np.int32]:
    """Give nodes without a step that of the nearest node above that has one; data of unknown place that of its forward twin."""
    above = np.where((parent >= 0) & (step == NOT_STATED), parent, -1)
    result = step[np.maximum(top_of(above), 0)]
    lost = np.flatnonzero(result == NOT_STATED)
    if len(lost):
        twin = forward.find(names.stem[lost], names.call[lost])
        result[lost] = np.where(twin != NO_NODE, result[np.maximum(twin, 0)], 0)
    return np.maximum(result, 0)
