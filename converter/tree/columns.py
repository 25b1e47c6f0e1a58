"""What the tree step returns: one graph, its nodes numbered in pre-order."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


class NodeKind(IntEnum):
    """Numbers as in proto/graph.proto."""

    ROOT = 0
    MODULE = 1
    API = 2
    API_COLLECTION = 3
    PARAMETERS_GRAD = 4
    UNPLACED = 5


class Direction(IntEnum):
    """Numbers as in proto/graph.proto. A parameters_grad node is BACKWARD."""

    NONE = 0
    FORWARD = 1
    BACKWARD = 2


FLAG_RECOMPUTED = 1
FLAG_HAS_DATA = 2
FLAG_INPLACE = 4

ROOT_NAME = "DefaultModel"


@dataclass(frozen=True)
class Tree:
    """One graph. Node i's subtree is the range i:end[i]; siblings stand in call order; node 0 is the root.

    Names are taken apart once: a module call is (path, class, direction, call), an API call (prefix, api, call,
    direction). `path` ids index `paths`: tuples of components without class, call and direction; an API has the
    path id of the empty tuple.
    """

    names: list[str]  # full node names as the dump has them
    parent: NDArray[np.int32]  # parent[0] = -1
    depth: NDArray[np.int32]
    end: NDArray[np.int32]
    kind: NDArray[np.uint8]
    direction: NDArray[np.uint8]
    micro_step: NDArray[np.int32]
    micro_steps: int  # number of micro steps, at least 1
    call: NDArray[np.int32]  # call number, -1 = none
    path: NDArray[np.int32]
    paths: list[tuple[str, ...]]
    label: NDArray[np.int32]  # id into `labels`: class name of a module, name of an API ("linear")
    prefix: NDArray[np.int32]  # id into `labels`: "Module", "Cell", "Functional", "Primitive", …
    labels: list[str]
    flags: NDArray[np.uint8]
    dump_node: NDArray[np.int32]  # number in the Dump, -1 = made by the converter
    warnings: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        return len(self.names)
