"""Reads graph files lazily: the header first, then whatever section is asked for; restores what re-judging needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.graphfile import errors, graph_pb2
from converter.graphfile.columns import U8, U16, ColumnError, unpack
from converter.graphfile.comparisons import decode_comparison_blocks
from converter.graphfile.content import GraphSide, Origin
from converter.graphfile.file import GraphFile
from converter.graphfile.pairs import decode_pairs
from converter.graphfile.summary import MADE_BY_THE_CONVERTER
from converter.graphfile.tensors import decode_stacks, decode_tensor_blocks
from converter.graphfile.topology import decode_names, decode_strings
from converter.match.pairing import Pairing
from converter.tree.columns import NodeKind, Tree
from converter.tree.names import parse_names


def read_side(file: GraphFile, side: str) -> GraphSide:
    """Restores one side ("target" or "golden"): tree, leaves, stacks and where they came from.

    The leaves lie in tree order; `tree.dump_node` numbers the nodes of the dump in tree order.
    """
    summary = file.summary()
    about = summary.golden if side == "golden" else summary.target
    strings = file.message("strings", graph_pb2.Strings)
    topology = file.message(f"topology/{side}", graph_pb2.Topology)
    with _checking(file, f"topology/{side}"):
        tree = _tree(topology, decode_strings(strings))
        overflow = unpack(topology.overflow, U8, tree.count) if topology.overflow else None
    blocks = file.blocks(f"tensors/{side}", graph_pb2.TensorBlock)
    with _checking(file, f"tensors/{side}"):
        leaves, row_end, stack = decode_tensor_blocks(blocks)
        if len(row_end) != tree.count:
            raise ColumnError(f"data of {len(row_end)} nodes, but the graph has {tree.count}")
    stacks_message = file.message(f"stacks/{side}", graph_pb2.Stacks)
    with _checking(file, f"stacks/{side}"):
        stacks = decode_stacks(stacks_message)
    row_start = np.concatenate([np.zeros(min(1, len(row_end)), np.int64), row_end[:-1]])
    origin = Origin(about.path, about.framework, about.task, about.level, about.summary_mode, about.tensor_directory, about.toolkit)
    return GraphSide(tree, leaves, row_start, row_end, stacks, stack, origin, overflow)


def read_pairing(file: GraphFile) -> Pairing:
    """Restores the pairing with its rules, aliases and proposals; confidences are rounded to 1/255."""
    message = file.message("pairs", graph_pb2.Pairs)
    counts = [file.message(f"topology/{side}", graph_pb2.Topology).node_count for side in ("target", "golden")]
    with _checking(file, "pairs"):
        return decode_pairs(message, file.summary(), counts[0], counts[1])


def read_comparison(file: GraphFile, target: GraphSide, golden: GraphSide) -> Comparison:
    """Restores the rows over the two sides that were read from the same file; measures their errors again."""
    blocks = file.blocks("comparisons", graph_pb2.ComparisonBlock)
    with _checking(file, "comparisons"):
        return decode_comparison_blocks(blocks, target, golden, file.summary().mode)


@contextmanager
def _checking(file: GraphFile, section: str) -> Iterator[None]:
    """Turns what decoding raises on senseless columns into the user's error."""
    try:
        yield
    except (ColumnError, IndexError, ValueError, OverflowError) as problem:
        raise errors.damaged(file.source.name, f"section \"{section}\": {problem}", f"分区 \"{section}\"：{problem}") from problem


def _tree(message: graph_pb2.Topology, strings: list[str]) -> Tree:
    count = message.node_count
    names = decode_names(message, strings)
    kind = unpack(message.kind, U8, count)
    micro_step = unpack(message.micro_step, U16, count).astype(np.int32)
    depth = unpack(message.depth, U16, count).astype(np.int32)
    parent, end = _parents_and_ends(depth)
    parsed = parse_names(names)
    labels = list(parsed.labels)
    call, label = parsed.call.copy(), parsed.label.copy()
    collections = np.flatnonzero(kind == NodeKind.API_COLLECTION).tolist()
    if collections:  # "{label}.{number}", which is no form of a dump's name
        known = {text: i for i, text in enumerate(labels)}
        for node in collections:
            text, _, number = names[node].rpartition(".")
            label[node] = known.setdefault(text, len(known))
            call[node] = int(number)
        labels = list(known)
    of_the_dump = ~np.isin(kind, MADE_BY_THE_CONVERTER)
    return Tree(
        names=names,
        parent=parent,
        depth=depth,
        end=end,
        kind=kind,
        direction=unpack(message.direction, U8, count),
        micro_step=micro_step,
        micro_steps=int(micro_step.max(initial=0)) + 1,
        call=call,
        path=parsed.path,
        paths=parsed.paths,
        label=label,
        prefix=parsed.prefix,
        labels=labels,
        flags=unpack(message.flags, U8, count),
        dump_node=np.where(of_the_dump, np.cumsum(of_the_dump) - 1, -1).astype(np.int32),
    )


def _parents_and_ends(depth: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Parents and subtree ends of a pre-order walk given by its depths. Raises ColumnError where it is none."""
    if len(depth) and (depth[0] != 0 or np.any(np.diff(depth) > 1) or np.any(depth[1:] == 0)):
        raise ColumnError("the depths are no pre-order walk")
    count = len(depth)
    parent = [-1] * count
    end = [count] * count
    path: list[int] = []
    for node, level in enumerate(depth.tolist()):
        for left in path[level:]:
            end[left] = node
        del path[level:]
        if path:
            parent[node] = path[-1]
        path.append(node)
    return np.array(parent, np.int32), np.array(end, np.int32)
