"""Builds the tree of one dump.

    1. names          every node name taken apart                              names.py
    2. placement      recorded parents, put right; circles and strangers       placement.py
    3. recomputation  calls that ran again inside backward                     recompute.py
    4. micro steps    stated by the dump or derived from the call order        micro_steps.py
    5. gradients      parameters_grad nodes below their module                 gradients.py
    6. collections    runs of APIs at the root, the "Unplaced" parent          here
    7. numbering      depth-first, siblings in call order                      numbering.py
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from converter.dumps.columns import Dump
from converter.tree.calls import ROOT, UNPLACED, calls_of
from converter.tree.columns import FLAG_HAS_DATA, FLAG_INPLACE, FLAG_RECOMPUTED, ROOT_NAME, Direction, NodeKind, Tree
from converter.tree.gradients import place_gradients
from converter.tree.micro_steps import micro_steps_of
from converter.tree.names import NameColumns, parse_names
from converter.tree.numbering import number_nodes
from converter.tree.placement import place
from converter.tree.recompute import mark_descendants, place_recomputed

COLLECTION_NAME = "Apis_Between_Modules"
UNPLACED_NAME = "Unplaced"
SMALLEST_COLLECTION = 2  # a single API between modules stays where it is


def build_tree(dump: Dump) -> Tree:
    """The tree of a dump: every node of it once, in pre-order, in time linear in the number of nodes."""
    count = dump.construct_count
    names = parse_names(dump.names)
    forward = calls_of(names, Direction.FORWARD, count)
    backward = calls_of(names, Direction.BACKWARD, count)
    placement = place(dump, names, forward, backward)
    parent = placement.parent
    recomputed = place_recomputed(dump, names, forward, backward, parent)
    step = micro_steps_of(dump.micro_steps, names, forward, parent, recomputed, count)
    place_gradients(names, forward, backward, parent, step)
    return _assemble(dump, names, parent, recomputed, step, placement.warnings)


def _assemble(dump: Dump, names: NameColumns, parent: NDArray[np.int64], recomputed: NDArray[np.bool_], step: NDArray[np.int32],
              warnings: list[str]) -> Tree:
    """Add the made nodes (root, collections, "Unplaced") behind those of the dump and number all of them."""
    count = len(dump.names)
    members, first = _collections(names, parent, step)
    unplaced = bool((parent == UNPLACED).any())
    root = count + len(first) + unplaced
    above = np.full(root + 1, root, dtype=np.int64)
    above[:count] = np.where(parent == UNPLACED, count + len(first), np.where(parent == ROOT, root, parent))
    grouped = members >= 0
    above[:count][grouped] = count + members[grouped]
    above[root] = -1
    # A collection stands where its first API stood, "Unplaced" at the end.
    order = np.concatenate((np.arange(count), first, np.arange(count, count + unplaced + 1)))
    walk, parents, depth, end = number_nodes(above, order)

    labels = list(names.labels)
    made_labels = [len(labels)] * len(first) + [len(labels) + 1] * unplaced + [len(labels) + 1 + unplaced]
    labels += [COLLECTION_NAME] + [UNPLACED_NAME] * unplaced + [ROOT_NAME]
    made_names = [f"{COLLECTION_NAME}.{i}" for i in range(len(first))] + [UNPLACED_NAME] * unplaced + [ROOT_NAME]
    made_kinds = [NodeKind.API_COLLECTION] * len(first) + [NodeKind.UNPLACED] * unplaced + [NodeKind.ROOT]
    made = len(made_names)
    no_call = [-1] * (made - len(first))
    all_names = dump.names + made_names

    direction = np.concatenate((names.direction, np.zeros(made, dtype=np.uint8)))[walk]
    marks = mark_descendants(np.concatenate((recomputed, np.zeros(made, dtype=np.bool_)))[walk], parents, direction)
    flags = np.concatenate((_flags(dump, names), np.zeros(made, dtype=np.uint8)))[walk]
    flags[marks] |= FLAG_RECOMPUTED
    dump_node = walk.astype(np.int32)
    dump_node[walk >= count] = -1
    return Tree(
        names=[all_names[node] for node in walk.tolist()],
        parent=parents,
        depth=depth,
        end=end,
        kind=np.concatenate((names.kind, np.array(made_kinds, dtype=np.uint8)))[walk],
        direction=direction,
        micro_step=np.concatenate((step, step[first], np.zeros(made - len(first), dtype=np.int32)))[walk],
        micro_steps=int(step.max(initial=0)) + 1,
        call=np.concatenate((names.call, np.arange(len(first), dtype=np.int32), np.array(no_call, dtype=np.int32)))[walk],
        path=np.concatenate((names.path, np.zeros(made, dtype=np.int32)))[walk],
        paths=names.paths,
        label=np.concatenate((names.label, np.array(made_labels, dtype=np.int32)))[walk],
        prefix=np.concatenate((names.prefix, np.zeros(made, dtype=np.int32)))[walk],
        labels=labels,
        flags=flags,
        dump_node=dump_node,
        warnings=warnings,
    )


def _collections(names: NameColumns, parent: NDArray[np.int64], step: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The collection of every node (-1 = none) and the first API of every collection.

    A collection is a maximal run of at least two APIs of one micro step that follow each other at the root.
    """
    members = np.full(len(parent), -1, dtype=np.int64)
    top = np.flatnonzero(parent == ROOT)
    api = names.kind[top] == NodeKind.API
    begins = np.ones(len(top), dtype=np.bool_)
    begins[1:] = ~(api[1:] & api[:-1] & (step[top[1:]] == step[top[:-1]]))
    run = np.cumsum(begins) - 1
    large = (np.bincount(run, minlength=1) >= SMALLEST_COLLECTION) if len(run) else np.zeros(0, dtype=np.bool_)
    number = np.cumsum(large) - 1
    inside = large[run] if len(run) else np.zeros(0, dtype=np.bool_)
    members[top[inside]] = number[run[inside]]
    return members, top[begins & inside]


def _flags(dump: Dump, names: NameColumns) -> NDArray[np.uint8]:
    in_place = np.array([is_in_place(label) for label in names.labels], dtype=np.bool_)
    flags = np.where(dump.has_data, FLAG_HAS_DATA, 0)
    flags |= np.where(in_place[names.label] & (names.kind == NodeKind.API), FLAG_INPLACE, 0)
    return flags.astype(np.uint8)


def is_in_place(api: str) -> bool:
    """Whether the name of an API says that it writes to its input: `add_`, `__iadd__`, `__setitem__`."""
    name = api.rpartition(".")[2]
    if name.startswith("__") and name.endswith("__"):
        return name in _IN_PLACE_OPERATORS
    return name.endswith("_") and not name.endswith("__")


_IN_PLACE_OPERATORS = frozenset(f"__{name}__" for name in (
    "iadd", "isub", "imul", "imatmul", "itruediv", "ifloordiv", "imod", "ipow", "ilshift", "irshift", "iand", "ixor", "ior", "setitem"))
