"""Everything that goes into one graph file, and comes back out of it, as plain records."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.dumps.columns import Dump, Leaves
from converter.judge.verdict import Verdicts
from converter.match.pairing import Pairing
from converter.tree.columns import Tree


@dataclass(frozen=True)
class Origin:
    """Which dump a side was read from. Fields as in message Side of proto/graph.proto."""

    path: str = ""
    framework: str = ""
    task: str = "statistics"
    level: str = ""
    summary_mode: str = "statistics"
    tensor_directory: str = ""  # relative to `path` where it lies below it
    toolkit: str = ""


@dataclass(frozen=True)
class GraphSide:
    """One graph with its data. All columns are per tree node; leaves of node i are rows row_start[i]:row_end[i].

    The rows of different nodes may lie in any order in `leaves` (a dump keeps them in dump order, a graph file in tree
    order), but those of one node are together.
    """

    tree: Tree
    leaves: Leaves
    row_start: NDArray[np.int64]
    row_end: NDArray[np.int64]
    stacks: list[tuple[str, ...]]  # distinct stacks, innermost frame first
    stack: NDArray[np.int32]  # id into `stacks`, -1 = none
    origin: Origin = field(default_factory=Origin)
    overflow: NDArray[np.uint8] | None = None  # 0 none, 1 medium, 2 high, 3 critical; None without the overflow check


@dataclass(frozen=True)
class Provenance:
    """How a graph file came to be."""

    tool: str
    command: list[str] = field(default_factory=list)
    created: str = ""  # RFC 3339, UTC
    inputs: list[tuple[str, int, int]] = field(default_factory=list)  # (file name, size, crc32)


@dataclass(frozen=True)
class MappingSource:
    """The mapping file in force: name as given and source text. Its rules with their hits are in the Pairing."""

    name: str
    text: str


@dataclass(frozen=True)
class GraphContent:
    """One graph file. A build (single graph) has neither golden, pairing, comparison nor verdicts."""

    step: int
    rank: int
    target: GraphSide
    provenance: Provenance
    golden: GraphSide | None = None
    pairing: Pairing | None = None
    comparison: Comparison | None = None
    verdicts: Verdicts | None = None
    mapping: MappingSource | None = None
    overflow_check: bool = False
    warnings: list[str] = field(default_factory=list)


def side_of(dump: Dump, tree: Tree, path: str | None = None, toolkit: str = "") -> GraphSide:
    """Joins a dump and its tree without copying the leaves. `path` is the dump directory as the user gave it."""
    at = tree.dump_node
    made = at < 0
    end = np.append(dump.row_end, 0)  # at[...] = -1 reads the 0 behind the last
    start = np.append(0, dump.row_end)
    row_start = start[np.where(made, 0, at)]
    row_end = np.where(made, row_start, end[at])
    stack = np.append(dump.stack, -1).astype(np.int32)[at]
    directory = dump.tensor_directory
    if directory:
        relative = os.path.relpath(directory, dump.path)
        directory = directory if relative.startswith(os.pardir) else relative
    origin = Origin(dump.path if path is None else path, dump.framework, dump.task, dump.level, dump.summary_mode, directory, toolkit)
    return GraphSide(tree, dump.leaves, row_start, row_end, dump.stacks, stack, origin)
