"""Everything that goes into one graph file, and comes back out of it, as plain records."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.dumps.columns import Dump
from converter.judge.verdict import Verdicts
from converter.match.pairing import Pairing
from converter.tree.columns import Tree
from converter.tree.graph import Graph, graph_of


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
class GraphSide(Graph):
    """A graph with what only the viewer and re-measuring need besides. Columns are per tree node.

    The rows of different nodes may lie in any order in `leaves` (a dump keeps them in dump order, a graph file in tree
    order), but those of one node are together.
    """

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
    graph = graph_of(dump, tree)
    stack = np.append(dump.stack, -1).astype(np.int32)[tree.dump_node]  # number -1 reads the -1 behind the last
    directory = dump.tensor_directory
    if directory:
        relative = os.path.relpath(directory, dump.path)
        directory = directory if relative.startswith(os.pardir) else relative
    origin = Origin(dump.path if path is None else path, dump.framework, dump.task, dump.level, dump.summary_mode, directory, toolkit)
    return GraphSide(tree, graph.leaves, graph.row_start, graph.row_end, dump.stacks, stack, origin)
