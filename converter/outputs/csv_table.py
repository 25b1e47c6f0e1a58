"""`--csv`: every compared tensor as one line, under the column names that users of msprobe know.

Numbers have all their digits; "N/A" stands for what is not there. `MaxRelativeErr` is, as with the peer, a ratio over
the elements in tensor mode and a percentage of Max in every other mode. Our own columns follow behind the peer's.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.compare.tensor_metrics import columns as metric_columns
from converter.dumps.columns import PRESENT_BOOLEAN, PRESENT_EXACT, LeafKind, Leaves
from converter.judge.sentences import notes_by_row, row_sentences
from converter.judge.verdict import Cause, Note, Status, Verdicts
from converter.match.pairing import Pairing
from converter.outputs.row_names import RowNames
from converter.tree.graph import Graph

_BASIC = ("NPU Name", "Bench Name", "NPU Dtype", "Bench Dtype", "NPU Tensor Shape", "Bench Tensor Shape", "NPU Requires_grad",
          "Bench Requires_grad")
_ELEMENTS = ("Cosine", "EucDist", "MaxAbsErr", "MaxRelativeErr", "One Thousandth Err Ratio", "Five Thousandths Err Ratio")
_DIFFERENCES = ("Max diff", "Min diff", "Mean diff", "L2norm diff")
_RELATIVE = ("MaxRelativeErr", "MinRelativeErr", "MeanRelativeErr", "NormRelativeErr")
_VALUES = ("max", "min", "mean", "l2norm")
_STATISTICS = (*(f"NPU {name}" for name in _VALUES), *(f"Bench {name}" for name in _VALUES))
_EXTRA = ("NPU MD5", "BENCH MD5", "Requires_grad Consistent", "Result", "Err_message", "Data_name")
_OURS = tuple(name for name in metric_columns() if name not in _ELEMENTS)
COLUMNS = (*_BASIC, *_ELEMENTS, *_DIFFERENCES, *_RELATIVE[1:], *_STATISTICS, *_EXTRA, *_OURS, "Layout", "Cause", "Step", "Rank")

MISSING = "N/A"
_BLOCK = 16384  # rows that are put into words at a time
_GRADS = (MISSING, "False", "True")
_RESULTS = {int(status): "" if status == Status.NONE else status.name.lower() for status in Status}
_CAUSES = {int(cause): "" if cause == Cause.NONE else cause.name.lower() for cause in Cause}

Cells = dict[str, list[str]]


def csv_header() -> str:
    """The first line."""
    return ",".join(COLUMNS) + "\n"


def csv_lines(target: Graph, golden: Graph, pairing: Pairing, comparison: Comparison, verdicts: Verdicts, step: int,
              rank: int) -> Iterator[str]:
    """One line a row of the comparison, in call order; several lines a piece."""
    names_t = RowNames(target, comparison.target, comparison.target_compositions)
    names_g = RowNames(golden, comparison.golden, comparison.golden_compositions)
    notes = notes_by_row(verdicts.notes)
    pair = comparison.pair_of_row()
    for start in range(0, comparison.rows, _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, comparison.rows))
        t, g = comparison.target_row[rows], comparison.golden_row[rows]
        numbers = rows.tolist()
        cells: Cells = {
            "NPU Name": [_safe(names_t.of(row)) for row in t.tolist()],
            "Bench Name": [_safe(names_g.of(row)) for row in g.tolist()],
            **_differences(comparison, t, g),
            **_side("NPU", comparison.target, t),
            **_side("Bench", comparison.golden, g),
            **_metrics(comparison, rows),
            "Result": [_RESULTS[status] for status in verdicts.row_status[rows].tolist()],
            "Err_message": [_message(comparison, verdicts, notes, row) for row in numbers],
            "Layout": [comparison.layouts.get(row, "") for row in numbers],
            "Cause": [_CAUSES[cause] for cause in verdicts.cause[pair[rows]].tolist()],
            "Step": [str(step)] * len(rows),
            "Rank": [str(rank)] * len(rows),
        }
        cells["BENCH MD5"] = cells.pop("Bench MD5")
        cells["Requires_grad Consistent"] = [
            str(a >= 0 and b >= 0 and one == other)
            for a, b, one, other in zip(t.tolist(), g.tolist(), cells["NPU Requires_grad"], cells["Bench Requires_grad"])
        ]
        nothing = [MISSING] * len(rows)
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows(zip(*(cells.get(name, nothing) for name in COLUMNS)))
        yield buffer.getvalue()


def _safe(text: str) -> str:
    """A text cell. Spreadsheets run what begins like a formula, and names come from whoever wrote the dump."""
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") and text else text or MISSING


def _side(side: str, leaves: Leaves, rows: NDArray[np.int64]) -> Cells:
    """What one side's leaves are. Of a scalar, its value stands for all four statistics, as the peer has it."""
    if not leaves.rows:
        return {"Bench MD5": [MISSING] * len(rows), f"{side} Requires_grad": [MISSING] * len(rows)}
    there = rows >= 0
    kind = np.where(there, leaves.kind[rows], LeafKind.NONE)
    tensors, described = kind == LeafKind.TENSOR, kind != LeafKind.NONE
    texts = [_safe(text) for text in leaves.strings] + [MISSING]
    types = [f"<class '{text}'>" for text in leaves.strings] + [MISSING]
    shapes = [str(list(shape)) for shape in leaves.shapes] + ["[]"]
    dtype, kind_type = leaves.dtype[rows].tolist(), leaves.type[rows].tolist()
    found = {
        f"{side} Dtype": [texts[d] if tensor else types[k] if known else MISSING
                          for d, k, tensor, known in zip(dtype, kind_type, tensors.tolist(), described.tolist())],
        f"{side} Tensor Shape": [shapes[shape] if known else MISSING
                                 for shape, known in zip(leaves.shape[rows].tolist(), described.tolist())],
        f"{side} Requires_grad": [_GRADS[grad] for grad in np.where(there, leaves.requires_grad[rows], 0).tolist()],
        f"{side} MD5": [texts[number] for number in np.where(there, leaves.checksum[rows], -1).tolist()],
    }
    if side == "NPU":
        found["Data_name"] = [texts[number] for number in np.where(there, leaves.data_name[rows], -1).tolist()]
    present = np.where(there & tensors, leaves.present[rows], 0)
    special = np.flatnonzero(there & (~tensors & described | ((present & (PRESENT_BOOLEAN | PRESENT_EXACT)) > 0))).tolist()
    scalars = {at: _scalar(leaves, int(rows[at])) for at in special if not tensors[at]}
    for column, name in enumerate(_VALUES):
        values = leaves.statistics[rows, column].tolist()
        cells = [repr(value) if shown else MISSING for value, shown in zip(values, ((present & (1 << column)) > 0).tolist())]
        for at in special:
            if at in scalars:
                cells[at] = scalars[at]
            elif present[at] & PRESENT_EXACT:
                cells[at] = leaves.exact[int(rows[at])][column] or MISSING
            elif cells[at] != MISSING:
                cells[at] = str(bool(values[at]))
        found[f"{side} {name}"] = cells
    return found


def _scalar(leaves: Leaves, row: int) -> str:
    text = leaves.strings[int(leaves.value[row])] if leaves.value[row] >= 0 else ""
    return text or MISSING if leaves.kind[row] in (LeafKind.NUMBER, LeafKind.BOOL) else _safe(text)


def _differences(comparison: Comparison, t: NDArray[np.int64], g: NDArray[np.int64]) -> Cells:
    """Differences of the statistics, and their share of golden's in per cent; golden 0 has no share."""
    left, right = comparison.target, comparison.golden
    if not left.rows or not right.rows:
        return {}
    both = (t >= 0) & (g >= 0) & (((left.present[t] | right.present[g]) & PRESENT_BOOLEAN) == 0)
    found = {}
    with np.errstate(all="ignore"):
        for column, (difference, relative) in enumerate(zip(_DIFFERENCES, _RELATIVE)):
            shown = both & ((left.present[t] & right.present[g] & (1 << column)) > 0)
            a, b = left.statistics[t, column], right.statistics[g, column]
            found[difference] = [repr(value) if there else MISSING for value, there in zip((a - b).tolist(), shown.tolist())]
            shares = (np.abs((a - b) / b) * 100).tolist()
            found[relative] = [f"{value}%" if there else MISSING for value, there in zip(shares, (shown & (b != 0)).tolist())]
    return found


def _metrics(comparison: Comparison, rows: NDArray[np.int64]) -> Cells:
    """Tensor mode. NaN = not available, but a worst element may be NaN itself."""
    if comparison.mode != "tensor":
        return {}
    found: Cells = {"MaxRelativeErr": [MISSING] * len(rows)}
    for name, column in comparison.metrics.items():
        shown = ~np.isnan(comparison.metrics["Worst Index" if name.startswith("Worst") else name][rows])
        found[name] = [repr(value) if there else MISSING for value, there in zip(column[rows].tolist(), shown.tolist())]
    return found


def _message(comparison: Comparison, verdicts: Verdicts, notes: dict[tuple[int, int], Note], row: int) -> str:
    """The peer's own words under policy msprobe, else our sentences."""
    mask = int(verdicts.row_reasons[row])
    if not mask:
        return ""
    for code in range(mask.bit_length()):
        note = notes.get((row, code)) if mask >> code & 1 else None
        if note is not None and "message" in note.arguments:
            return note.arguments["message"]
    found = verdicts.row_reasons, verdicts.row_statistic, verdicts.row_error, verdicts.row_tolerance
    return _safe("; ".join(row_sentences(comparison, *found, notes, row)))
