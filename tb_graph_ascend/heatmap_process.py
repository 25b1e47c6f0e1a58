"""The work behind GET heatmap, in a process of its own: JSON on standard input, JSON on standard output (docs/http_api.md)."""

from __future__ import annotations

import base64
import json
import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from converter.compare.stored_tensor import TensorUnavailable
from converter.dumps.tensor_place import DumpGone
from converter.graphfile.errors import GraphFileError
from converter.graphfile.file import open_graph
from converter.row_heatmap import NoSuchRow, row_heatmap

if TYPE_CHECKING:
    from converter.row_heatmap import RowHeatmap


def main() -> int:
    """0 answered, 1 the answer is an error for the user."""
    request = json.load(sys.stdin)
    try:
        answer = drawn(request)
    except GraphFileError as problem:
        answer = _error(problem.code, problem.en, problem.zh)
    except NoSuchRow as problem:
        answer = _error("no_such_row", f"{problem}.", "图中没有该张量。")
    except DumpGone as problem:
        answer = _error("dump_gone", f"{problem.en}.", f"{problem.zh}。")
    except TensorUnavailable as problem:
        answer = _error("tensor", f"{problem.why}.", f"{problem.why_zh}。")
    except MemoryError:
        answer = _error("tensor", "its elements do not fit into memory.", "内存不足，无法读取其元素。")
    json.dump(answer, sys.stdout, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return 1 if "error" in answer else 0


def drawn(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to GET heatmap. Raises what `row_heatmap` raises."""
    leaves = {side: [(node, leaf) for node, leaf in request[side]] for side in ("target", "golden")}
    file = open_graph(request["path"])
    return as_json(row_heatmap(file, leaves["target"], leaves["golden"], request["relation"], request["layout"], request["bases"]))


def as_json(found: RowHeatmap) -> dict[str, Any]:
    """Grids as base64 of little-endian arrays, row by row; numbers that may be no JSON as texts that JavaScript's Number() reads."""
    grid = found.grid
    rows, columns = grid.largest.shape
    return {
        "shape": list(grid.shape), "tokens": grid.tokens, "channels": grid.channels, "rows": rows, "columns": columns,
        "largest": _packed(grid.largest, "<f4"), "mean": _packed(grid.mean, "<f4"),
        "target": _packed(grid.target, "<f4"), "golden": _packed(grid.golden, "<f4"),
        "worst": _packed(grid.worst, "<f8"), "marks": _packed(grid.marks, "|u1"),
        "differing": grid.differing, "scale": grid.scale if math.isfinite(grid.scale) else 0.0, "worst_cell": grid.worst_cell,
        "worst_index": list(grid.worst_element), "worst_target": _number(grid.worst_target), "worst_golden": _number(grid.worst_golden),
        "worst_difference": _number(grid.worst_difference), "layout": found.layout,
    }


def _packed(column: NDArray[Any], kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(column).astype(kind, copy=False).tobytes()).decode("ascii")


def _number(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _error(code: str, en: str, zh: str) -> dict[str, Any]:
    return {"error": {"code": code, "en": en[:1].upper() + en[1:], "zh": zh}}


if __name__ == "__main__":
    sys.exit(main())
