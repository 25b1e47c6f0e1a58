"""Sections "strings" and "topology/{side}": the tree of one side, and the string table that both sides share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from converter.graphfile import graph_pb2
from converter.graphfile.columns import I32, U8, U16, U32, ColumnError, clean, pack, unpack
from converter.graphfile.content import GraphSide

NO_CALL = -(2**31)
DEEPEST = 0xFFFF


def encode_topology(side: GraphSide, table: dict[str, int]) -> graph_pb2.Topology:
    """The tree's columns. Strings are added to `table` (string → id), which both sides share.

    Raises ValueError where a node lies deeper than a uint16 tells.
    """
    tree = side.tree
    if tree.count and int(tree.depth.max()) > DEEPEST:
        raise ValueError(f"the graph is {int(tree.depth.max())} levels deep; a graph file holds {DEEPEST}")
    head, call, tail = split_names(tree.names, tree.call, table)
    message = graph_pb2.Topology(
        node_count=tree.count,
        depth=pack(tree.depth, U16),
        head=pack(head, U32),
        call_delta=pack(call_deltas(head, call), I32),
        tail=pack(tail, U32),
        kind=pack(tree.kind, U8),
        direction=pack(tree.direction, U8),
        micro_step=pack(tree.micro_step, U16),
        flags=pack(tree.flags, U8),
    )
    if side.overflow is not None:
        message.overflow = pack(side.overflow, U8)
    return message


def split_names(names: list[str], calls: NDArray[np.int32],
                table: dict[str, int]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Takes each name apart into head + call + tail, so that all calls of one thing share their strings.

    A name that does not spell its call as a plain component ("007", or none at all) is all head and has call -1.
    """
    identify = table.setdefault
    empty = identify("", len(table))
    head: list[int] = []
    call: list[int] = []
    tail: list[int] = []
    for name, number in zip(names, calls.tolist()):
        if number >= 0:
            component = f".{number}"
            at = name.rfind(component)
            rest = name[at + len(component) :]
            if at >= 0 and rest[:1] in ("", "."):
                head.append(identify(name[: at + 1], len(table)))
                call.append(number)
                tail.append(identify(rest, len(table)))
                continue
        head.append(identify(name, len(table)))
        call.append(-1)
        tail.append(empty)
    return np.array(head, np.int64), np.array(call, np.int64), np.array(tail, np.int64)


def call_deltas(head: NDArray[np.int64], call: NDArray[np.int64]) -> NDArray[np.int64]:
    """call[i] minus the call of the previous node with the same head, call[i] where there is none, NO_CALL without a call."""
    deltas = np.full(len(call), NO_CALL, np.int64)
    numbered = np.flatnonzero(call >= 0)
    order = numbered[np.argsort(head[numbered], kind="stable")]
    difference = np.diff(call[order], prepend=0)
    first = np.diff(head[order], prepend=-1) != 0
    deltas[order] = np.where(first, call[order], difference)
    return deltas


def calls_from_deltas(head: NDArray[np.int64], deltas: NDArray[np.int64]) -> NDArray[np.int64]:
    """The inverse of call_deltas; -1 without a call."""
    call = np.full(len(deltas), -1, np.int64)
    numbered = np.flatnonzero(deltas != NO_CALL)
    order = numbered[np.argsort(head[numbered], kind="stable")]
    if len(order):
        total = np.cumsum(deltas[order])
        first = np.flatnonzero(np.diff(head[order], prepend=-1) != 0)
        before = np.append(0, total)[first]  # sum of everything before each group
        call[order] = total - np.repeat(before, np.diff(first, append=len(order)))
    return call


def encode_strings(table: dict[str, int]) -> graph_pb2.Strings:
    """The table's strings in the order of their ids."""
    encoded = [clean(text).encode("utf-8") for text in table]
    end = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)))
    return graph_pb2.Strings(utf8=b"".join(encoded), end=pack(end, U32))


def decode_strings(message: graph_pb2.Strings) -> list[str]:
    """All strings by id. Raises ColumnError."""
    end = unpack(message.end, U32, len(message.end) // 4).astype(np.int64)
    if len(end) and (np.any(np.diff(end, prepend=0) < 0) or end[-1] != len(message.utf8)):
        raise ColumnError("the string table's ends do not fit its text")
    blob = message.utf8
    ends = end.tolist()
    return [blob[start:stop].decode("utf-8") for start, stop in zip([0, *ends[:-1]], ends)]


def decode_names(message: graph_pb2.Topology, strings: list[str]) -> list[str]:
    """The node names. Raises ColumnError, IndexError."""
    count = message.node_count
    head = unpack(message.head, U32, count).astype(np.int64)
    tail = unpack(message.tail, U32, count).tolist()
    call = calls_from_deltas(head, unpack(message.call_delta, I32, count).astype(np.int64)).tolist()
    return [
        strings[first] if number < 0 else f"{strings[first]}{number}{strings[last]}"
        for first, number, last in zip(head.tolist(), call, tail)
    ]
