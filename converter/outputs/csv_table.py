"""`--csv`: every compared tensor as one line, under the column names that users of msprobe know.

Numbers have all their digits; "N/A" stands for what is not there. `MaxRelativeErr` is, as with the peer, a ratio over
the elements in tensor mode and a percentage of Max in every other mode. Our own columns follow behind the peer's.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

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
_STATISTICS = ("NPU max", "NPU min", "NPU mean", "NPU l2norm", "Bench max", "Bench min", "Bench mean", "Bench l2norm")
_EXTRA = ("NPU MD5", "BENCH MD5", "Requires_grad Consistent", "Result", "Err_message", "Data_name")
_OURS = tuple(name for name in metric_columns() if name not in _ELEMENTS)
COLUMNS = (*_BASIC, *_ELEMENTS, *_DIFFERENCES, *_RELATIVE[1:], *_STATISTICS, *_EXTRA, *_OURS, "Layout", "Cause", "Step", "Rank")

MISSING = "N/A"


def csv_header() -> str:
    return _line(COLUMNS)


def csv_lines(target: Graph, golden: Graph, pairing: Pairing, comparison: Comparison, verdicts: Verdicts, step: int,
              rank: int) -> Iterator[str]:
    """One line a row of the comparison, in call order."""
    names_t = RowNames(target, comparison.target, comparison.target_compositions)
    names_g = RowNames(golden, comparison.golden, comparison.golden_compositions)
    notes = notes_by_row(verdicts.notes)
    start = 0
    for pair, end in enumerate(comparison.row_end.tolist()):
        cause = Cause(int(verdicts.cause[pair])).name.lower()
        for row in range(start, end):
            t, g = int(comparison.target_row[row]), int(comparison.golden_row[row])
            cells = {
                "NPU Name": _text(names_t.of(t)), "Bench Name": _text(names_g.of(g)),
                **_description("NPU", comparison.target, t), **_description("Bench", comparison.golden, g),
                **_differences(comparison, t, g), **_metrics(comparison, row),
                "Requires_grad Consistent": str(t >= 0 and g >= 0 and _grad(comparison.target, t) == _grad(comparison.golden, g)),
                "Result": _RESULTS[int(verdicts.row_status[row])], "Err_message": _message(comparison, verdicts, notes, row),
                "Layout": comparison.layouts.get(row, ""), "Cause": "" if cause == "none" else cause, "Step": str(step), "Rank": str(rank),
            }
            yield _line(cells.get(name, MISSING) for name in COLUMNS)
        start = end


_RESULTS = {int(status): "" if status == Status.NONE else status.name.lower() for status in Status}


def _line(cells) -> str:  # type: ignore[no-untyped-def]
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(cells)
    return buffer.getvalue()


def _text(text: str) -> str:
    """A text cell. Spreadsheets run what begins like a formula, and names come from whoever wrote the dump."""
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text or MISSING


def _description(side: str, leaves: Leaves, row: int) -> dict[str, str]:
    if row < 0:
        return {}
    kind, names = int(leaves.kind[row]), ("max", "min", "mean", "l2norm")
    dtype = _string(leaves, int(leaves.dtype[row])) if kind == LeafKind.TENSOR else f"<class '{_string(leaves, int(leaves.type[row]))}'>"
    found = {
        f"{side} Dtype": MISSING if kind == LeafKind.NONE else _text(dtype),
        f"{side} Tensor Shape": MISSING if kind == LeafKind.NONE else str(list(_shape(leaves, row))),
        f"{side} Requires_grad": _grad(leaves, row),
        f"{side.upper()} MD5" if side == "Bench" else "NPU MD5": _text(_string(leaves, int(leaves.checksum[row]))),
        **{f"{side} {name}": _text(value) if kind in (LeafKind.TEXT, LeafKind.OTHER) else value
           for name, value in zip(names, _values(leaves, row))},
    }
    if side == "NPU":
        found["Data_name"] = _text(_string(leaves, int(leaves.data_name[row])))
    return found


def _values(leaves: Leaves, row: int) -> list[str]:
    """Max, Min, Mean and Norm as texts; of a scalar its value four times, as the peer has it."""
    kind, present = int(leaves.kind[row]), int(leaves.present[row])
    if kind == LeafKind.NONE:
        return [MISSING] * 4
    if kind != LeafKind.TENSOR:
        return [_string(leaves, int(leaves.value[row])) or MISSING] * 4
    exact = leaves.exact.get(row) if present & PRESENT_EXACT else None
    values = []
    for column in range(4):
        if exact is not None and exact[column]:
            values.append(exact[column])
        elif not present & (1 << column):
            values.append(MISSING)
        else:
            value = float(leaves.statistics[row, column])
            values.append(str(bool(value)) if present & PRESENT_BOOLEAN else repr(value))
    return values


def _differences(comparison: Comparison, t: int, g: int) -> dict[str, str]:
    """Differences of the statistics and their share of golden's in per cent; golden 0 has no share."""
    if t < 0 or g < 0:
        return {}
    left, right = comparison.target, comparison.golden
    numbers = int(left.present[t]) & int(right.present[g])
    if (int(left.present[t]) | int(right.present[g])) & PRESENT_BOOLEAN:
        return {}
    found = {}
    for column, (difference, relative) in enumerate(zip(_DIFFERENCES, _RELATIVE)):
        if numbers & (1 << column):
            a, b = float(left.statistics[t, column]), float(right.statistics[g, column])
            found[difference] = repr(a - b)
            found[relative] = f"{abs((a - b) / b) * 100}%" if b else MISSING
    return found


def _metrics(comparison: Comparison, row: int) -> dict[str, str]:
    """Tensor mode; NaN = not available, but a worst element may be NaN itself."""
    found = {}
    for name, column in comparison.metrics.items():
        value = float(column[row])
        if value == value or (name.startswith("Worst") and comparison.metrics["Worst Index"][row] >= 0):
            found[name] = repr(value)
    if comparison.mode == "tensor":
        found.setdefault("MaxRelativeErr", MISSING)
    return found


def _message(comparison: Comparison, verdicts: Verdicts, notes: dict[tuple[int, int], Note], row: int) -> str:
    """The peer's own words under policy msprobe, else our sentences."""
    if not verdicts.row_reasons[row]:
        return ""
    mask = int(verdicts.row_reasons[row])
    for code in range(32):
        note = notes.get((row, code)) if mask >> code & 1 else None
        if note is not None and "message" in note.arguments:
            return note.arguments["message"]
    found = verdicts.row_reasons, verdicts.row_statistic, verdicts.row_error, verdicts.row_tolerance
    return _text("; ".join(row_sentences(comparison, *found, notes, row)))


def _grad(leaves: Leaves, row: int) -> str:
    return (MISSING, "False", "True")[int(leaves.requires_grad[row])]


def _shape(leaves: Leaves, row: int) -> tuple[int, ...]:
    return leaves.shapes[int(leaves.shape[row])] if leaves.shape[row] >= 0 else ()


def _string(leaves: Leaves, number: int) -> str:
    return leaves.strings[number] if number >= 0 else ""
