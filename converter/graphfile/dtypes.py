"""Sections "dtypes/{side}": one data type a node, so that the viewer can search by it without fetching every tensor block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from converter.dumps.columns import LeafKind, Role
from converter.graphfile import graph_pb2
from converter.graphfile.columns import U8, clean, pack
from converter.graphfile.content import GraphSide

MOST_NAMES = 255


def node_dtypes(side: GraphSide) -> NDArray[np.int64]:
    """[nodes] id into `side.leaves.strings`: of the first output or gradient tensor, else of the first tensor; -1 = none."""
    leaves = side.leaves
    node, rows = side.node_rows()
    known = (leaves.kind[rows] == LeafKind.TENSOR) & (leaves.dtype[rows] >= 0)
    rows, node = rows[known], node[known]
    result = np.full(side.tree.count, -1, np.int64)
    output = np.isin(leaves.role[rows], (Role.OUTPUT, Role.GRADIENT))
    for chosen in (np.ones(len(rows), np.bool_), output):
        result[node[chosen][::-1]] = leaves.dtype[rows[chosen]][::-1]  # of several writes to one node the last stays: its first row
    return result


def encode_dtypes(side: GraphSide) -> graph_pb2.NodeDtypes:
    """The column; names in the order of their first node."""
    ids = node_dtypes(side)
    used, first = np.unique(ids[ids >= 0], return_index=True)
    order = used[np.argsort(first, kind="stable")][:MOST_NAMES]
    number = np.zeros(len(side.leaves.strings) + 1, np.int64)  # the last element is read by -1
    number[order] = np.arange(1, len(order) + 1)
    return graph_pb2.NodeDtypes(dtype=pack(number[ids], U8), names=[clean(side.leaves.strings[entry]) for entry in order.tolist()])
