"""Which tensor file belongs to a leaf of a graph file: read from the one block that holds it."""

from __future__ import annotations

from converter.graphfile import errors, graph_pb2
from converter.graphfile.columns import U8, U32, ColumnError, unpack
from converter.graphfile.file import GraphFile
from converter.graphfile.tensors import BLOCK_NODES

_TENSOR = 0  # LeafKind of graph.proto


def leaf_file(file: GraphFile, side: str, node: int, leaf: int) -> tuple[str, str] | None:
    """(name of the tensor file or "", dtype as the dump spells it) of leaf number `leaf` of a node of "target" or "golden".

    None where there is no such leaf, or where it is no tensor. Raises GraphFileError where the file cannot be read.
    """
    section = f"tensors/{side}/{node // BLOCK_NODES}"
    if section not in file.index.sections:
        return None
    block = file.message(section, graph_pb2.TensorBlock)
    try:
        ends = unpack(block.row_end, U32, block.node_count)
        at = node - block.first_node
        if not 0 <= at < len(ends):
            return None
        row = (int(ends[at - 1]) if at else 0) + leaf
        if row >= int(ends[at]) or int(unpack(block.kind, U8, block.row_count)[row]) != _TENSOR:
            return None
        name, dtype = (int(unpack(column, U32, block.row_count)[row]) for column in (block.data_name, block.dtype))
        return block.strings[name - 1] if name else "", block.strings[dtype]
    except (ColumnError, IndexError) as problem:
        raise errors.damaged(file.source.name, f"section \"{section}\": {problem}", f"分区 \"{section}\"：{problem}") from problem
