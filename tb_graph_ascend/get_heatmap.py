"""GET heatmap: where the elements of one compared tensor differ, read from the dumps while they are still there."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from converter.graphfile import graph_pb2
from converter.graphfile.columns import F32, I32, U32, ColumnError, unpack
from converter.graphfile.errors import GraphFileError
from converter.graphfile.file import GraphFile
from tb_graph_ascend.open_graphs import OpenGraphs
from tb_graph_ascend.request_checks import RequestProblem, graph_of, number_of
from tb_graph_ascend.responses import json_response
from tb_graph_ascend.run_finder import RunFinder
from tb_graph_ascend.texts import DAMAGED, NO_TENSOR_FILES, bad_parameter, no_elements, of_error

if TYPE_CHECKING:
    from converter.compare.difference_map import DifferenceMap
    from converter.compare.tensor_rows import Operand
    from converter.match.pairing import Layout

BLOCK = 1024  # nodes of a tensor block, pairs of a comparison block (docs/graph_file.md)


def get_heatmap(request: Request, finder: RunFinder, graphs: OpenGraphs) -> Response:
    """The difference map of row `row` of pair `pair`, both counted as in section comparisons/{k}."""
    from converter.compare.difference_map import difference_map
    from converter.compare.stored_tensor import TensorUnavailable
    from converter.compare.tensor_rows import read_row
    from converter.rematch import tensor_directory

    _, graph = graph_of(request.args, finder)
    pair, ordinal = number_of(request.args, "pair"), number_of(request.args, "row")
    file = graphs.get(graph).file
    try:
        summary = file.summary()
        sides = (summary.target, summary.golden)
        places = [tensor_directory(side.path, side.tensor_directory, graph.step, graph.rank) for side in sides]
        if not all(places):
            raise RequestProblem(NO_TENSOR_FILES, 404)
        block = file.message(f"comparisons/{pair // BLOCK}", graph_pb2.ComparisonBlock)
        row = _row(block, pair, ordinal)
        parts = [_operand(file, block, row, side) for side in ("target", "golden")]
        as_it_lies = not block.layout or block.layout[row] == 0
        tolerance = float(unpack(block.tolerance, F32, block.row_count)[row])
        target, golden, layout = read_row(places[0], places[1], parts[0], parts[1], tolerance, as_it_lies, _layout(file, pair))
        return json_response(request, {**_as_json(difference_map(target, golden)), "layout": layout})
    except GraphFileError as error:
        raise RequestProblem(of_error(error), 404) from None
    except (ColumnError, IndexError):
        raise RequestProblem(DAMAGED, 404) from None
    except TensorUnavailable as error:
        raise RequestProblem(no_elements(error.why, error.why_zh), 404) from None


def _row(block: graph_pb2.ComparisonBlock, pair: int, ordinal: int) -> int:
    """Number of the row in its block. Raises RequestProblem."""
    ends = unpack(block.row_end, U32, block.pair_count)
    at = pair - block.first_pair
    start = int(ends[at - 1]) if at else 0
    if start + ordinal >= int(ends[at]):
        raise RequestProblem(bad_parameter("row", "is beyond the rows of this pair", "超出该配对的行数"), 400)
    return start + ordinal


def _operand(file: GraphFile, block: graph_pb2.ComparisonBlock, row: int, side: str) -> Operand:
    """Names of the tensor files of one side of a row: one, or those of all parts of a composed row."""
    from converter.compare.tensor_rows import Operand

    composed = next((entry for entry in block.compositions if entry.row == row and entry.golden == (side == "golden")), None)
    if composed is not None:
        leaves = list(zip(composed.node, composed.leaf))
    else:
        node = int(unpack(getattr(block, f"{side}_node"), I32, block.row_count)[row])
        if node < 0:
            raise RequestProblem(NO_TENSOR_FILES, 404)
        leaves = [(node, int(unpack(getattr(block, f"{side}_leaf"), U32, block.row_count)[row]))]
    named = [_leaf(file, side, node, leaf) for node, leaf in leaves]
    return Operand(tuple(name for name, _ in named), tuple(dtype for _, dtype in named), composed.relation if composed is not None else "")


def _leaf(file: GraphFile, side: str, node: int, leaf: int) -> tuple[str, str]:
    """(name of the tensor's file or "", dtype as the dump spells it) of one leaf."""
    block = file.message(f"tensors/{side}/{node // BLOCK}", graph_pb2.TensorBlock)
    ends = unpack(block.row_end, U32, block.node_count)
    at = node - block.first_node
    row = (int(ends[at - 1]) if at else 0) + leaf
    name = int(unpack(block.data_name, U32, block.row_count)[row])
    dtype = int(unpack(block.dtype, U32, block.row_count)[row])
    text = block.strings[name - 1] if name else ""
    return "" if text == "-1" else text, block.strings[dtype]


def _layout(file: GraphFile, pair: int) -> Layout | None:
    """What the mapping file in force says about the parts of this pair."""
    from converter.match.pairing import Layout

    found = next((entry for entry in file.message("pairs", graph_pb2.Pairs).layouts if entry.pair == pair), None)
    return Layout(found.kind, found.heads, found.kv_heads, found.shards) if found is not None else None


def _as_json(found: DifferenceMap) -> dict[str, Any]:
    """The cells as base64 of float32, row by row; numbers that JSON does not have as texts."""
    return {
        "shape": list(found.shape),
        "row_start": found.row_start,
        "column_start": found.column_start,
        "largest": base64.b64encode(found.largest.astype("<f4").tobytes()).decode("ascii"),
        "scale": found.scale,
        "worst": {"index": list(found.worst), "target": _text(found.worst_target), "golden": _text(found.worst_golden)},
    }


def _text(value: complex) -> str:
    return repr(value.real) if value.imag == 0 else repr(value)
