"""Reasons and findings in words, English and Chinese. Every report, the summary and the viewer's file take them from here."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.dumps.columns import MIN, NORM, LeafKind, Leaves, Role
from converter.judge import reasons
from converter.judge.causes import PairFacts
from converter.judge.reasons import CATALOGUE, Reason
from converter.judge.rows import RowVerdicts
from converter.judge.verdict import Note, Status
from converter.tree.columns import NodeKind
from converter.tree.graph import Graph

SIDES_ZH = {"target": "待调试", "golden": "标杆"}
STATISTIC_NAMES = ("Max", "Min", "Mean", "Norm", "elements")


def number(value: float, against: float | None = None) -> str:
    """A number with 4 significant digits, or as many as it takes to look different from `against`."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    for digits in range(4, 18):
        text = f"{value:.{digits}g}"
        if against is None or value == against or text != f"{against:.{digits}g}":
            return text
    return repr(value)


def row_arguments(
    comparison: Comparison,
    statistic: NDArray[np.uint8],
    error: NDArray[np.floating],
    tolerance: NDArray[np.floating],
    row: int,
    reason: Reason,
    note: Note | None,
) -> dict[str, str]:
    """What a reason's sentence names, for one row: from the columns, and before those from its note (docs/graph_file.md)."""
    return {**_from_columns(comparison, statistic, error, tolerance, row, reason), **(note.arguments if note is not None else {})}


def _from_columns(
    comparison: Comparison,
    statistic: NDArray[np.uint8],
    error: NDArray[np.floating],
    tolerance: NDArray[np.floating],
    row: int,
    reason: Reason,
) -> dict[str, str]:
    t, g = int(comparison.target_row[row]), int(comparison.golden_row[row])
    if reason.code in (reasons.MISSING.code, reasons.OTHER_CODE.code):
        return {"side": "target" if t >= 0 else "golden"}
    if t < 0 or g < 0:
        return {}
    left, right = comparison.target, comparison.golden
    if reason.code in (reasons.SHAPE.code, reasons.LAYOUT.code, reasons.SHARDED.code):
        return {"target": shape_text(left, t), "golden": shape_text(right, g)}
    if reason.code in (reasons.DTYPE.code, reasons.PRECISION.code):
        return {"target": _string(left, left.dtype, t), "golden": _string(right, right.dtype, g)}
    if reason.code == reasons.REQUIRES_GRAD.code:
        return {"target": str(left.requires_grad[t] == 2), "golden": str(right.requires_grad[g] == 2)}
    if reason.code == reasons.CHECKSUM.code:
        return {"target": _string(left, left.checksum, t), "golden": _string(right, right.checksum, g)}
    if reason.code == reasons.VALUE.code and left.kind[t] != LeafKind.TENSOR:
        return {"target": _string(left, left.value, t), "golden": _string(right, right.value, g)}
    if reason.code == reasons.SCALED.code:
        return {"factor": number(float(left.statistics[t, NORM] / right.statistics[g, NORM]), 1.0)}
    if reason.code == reasons.MASK_FILL.code:
        return {"target": number(float(left.statistics[t, MIN])), "golden": number(float(right.statistics[g, MIN]))}
    column = int(statistic[row])
    if reason.code in (reasons.NONFINITE.code, reasons.NONFINITE_BOTH.code):
        column = _nonfinite_column(left, t, right, g)
    column = column if column < 4 else 3
    a, b = float(left.statistics[t, column]), float(right.statistics[g, column])
    return {
        "statistic": STATISTIC_NAMES[min(int(statistic[row]), 4) if reason.code == reasons.TENSOR.code else column],
        "target": number(a, b),
        "golden": number(b, a),
        "error": number(float(error[row]), float(tolerance[row])),
        "tolerance": number(float(tolerance[row]), float(error[row])),
    }


def _nonfinite_column(left: Leaves, t: int, right: Leaves, g: int) -> int:
    for column in range(4):
        a, b = float(left.statistics[t, column]), float(right.statistics[g, column])
        if left.present[t] & right.present[g] & (1 << column) and (not math.isfinite(a) or not math.isfinite(b)):
            return column
    return 0


def _string(leaves: Leaves, column: NDArray[np.int32], row: int) -> str:
    identifier = int(column[row])
    return leaves.strings[identifier] if identifier >= 0 else ""


def shape_text(leaves: Leaves, row: int) -> str:
    """ "16,1,64"; "" for a scalar."""
    identifier = int(leaves.shape[row])
    return ",".join(str(extent) for extent in leaves.shapes[identifier]) if identifier >= 0 else ""


def sentence(reason: Reason, arguments: dict[str, str], chinese: bool = False) -> str:
    """The reason's sentence with its arguments; what is not given is left out."""
    text = reason.zh if chinese else reason.en
    for key, value in arguments.items():
        text = text.replace("{" + key + "}", SIDES_ZH.get(value, value) if chinese and key == "side" else value)
    return text


def row_sentences(
    comparison: Comparison,
    mask: NDArray[np.uint32],
    statistic: NDArray[np.uint8],
    error: NDArray[np.floating],
    tolerance: NDArray[np.floating],
    notes: dict[tuple[int, int], Note],
    row: int,
    chinese: bool = False,
) -> list[str]:
    """All reasons of a row in words, in catalogue order."""
    return [
        sentence(reason, row_arguments(comparison, statistic, error, tolerance, row, reason, notes.get((row, reason.code))), chinese)
        for reason in CATALOGUE
        if int(mask[row]) >> reason.code & 1
    ]


def notes_by_row(notes: Iterable[Note]) -> dict[tuple[int, int], Note]:
    """(row, reason code) → note."""
    return {(note.row, note.code): note for note in notes}


def row_name(comparison: Comparison, row: int) -> tuple[str, str]:
    """What a person calls the row, in English and in Chinese: "input 0", "weight", "output 0"."""
    t, g = int(comparison.target_row[row]), int(comparison.golden_row[row])
    leaves, at = (comparison.target, t) if t >= 0 else (comparison.golden, g)
    name = leaves.strings[int(leaves.name[at])]
    role = int(leaves.role[at])
    if role in (Role.PARAMETER, Role.KWARG):
        return name, name if role == Role.PARAMETER else f"入参 {name}"
    if role == Role.GRADIENT:
        return f"gradient of {name}", f"{name} 的梯度"
    return (f"input {name}", f"输入 {name}") if role == Role.INPUT else (f"output {name}", f"输出 {name}")


def divergence_sentence(
    kind: str,
    comparison: Comparison,
    rows: RowVerdicts,
    pairs: PairFacts,
    target: Graph,
    pair: int,
    witness: int,
    after: int,
    lone: tuple[list[str], list[str]],
) -> tuple[str, str]:
    """One sentence about a first divergence, English and Chinese.

    Args:
        pair: the pair that is named; witness: the pair whose row shows the difference (another one for a gap);
        after: the last clean pair before it, -1 = none; lone: calls in between that only target, only golden makes.
    """
    roles = {"parameter": (Role.PARAMETER,), "introduced": (Role.OUTPUT, Role.GRADIENT)}.get(
        kind, (Role.INPUT, Role.KWARG) if witness != pair or (kind == "gap" and pairs.bad_input[witness]) else (Role.OUTPUT, Role.GRADIENT)
    )
    (what, what_zh), number_text, number_zh = _difference(comparison, rows, _worst_row(comparison, rows, witness, roles))
    seen = target.tree.names[int(pairs.node[witness])]
    before = target.tree.names[int(pairs.node[after])] if after >= 0 else ""
    if kind == "parameter":
        return (f"its {what} differs: {number_text}", f"参数 {what_zh} 不一致：{number_zh}")
    if kind == "introduced":
        call = f" (its call {seen})" if target.tree.kind[int(pairs.node[witness])] == NodeKind.API else ""
        call_zh = f"（调用 {seen}）" if call else ""
        return (
            f"its inputs and parameters agree, its {what} differs{call}: {number_text}",
            f"输入与参数一致，{what_zh} 不一致{call_zh}：{number_zh}",
        )
    if witness != pair or bool(pairs.bad_input[witness]):
        place = f"between {before} and {seen}" if before else f"before {seen}, the first call that was compared"
        place_zh = f"{before} 与 {seen} 之间" if before else f"首个被比较的调用 {seen} 之前"
        for side, side_zh, names in (("target", "待调试侧", lone[0]), ("golden", "标杆侧", lone[1])):
            if names:
                place += f", where only {side} calls {', '.join(names)}"
                place_zh += f"，其间仅{side_zh}调用 {'、'.join(names)}"
        return (
            f"every earlier output agrees, {what} of {seen} differs: the difference arises {place}: {number_text}",
            f"此前所有输出一致，{seen} 的{what_zh} 不一致：差异产生于 {place_zh}：{number_zh}",
        )
    place = f"after {before}" if before else "inside it"
    return (
        f"everything compared inside agrees, its {what} differs: the difference arises {place}: {number_text}",
        f"内部已比较的部分一致，其{what_zh} 不一致：差异产生于 {before + ' 之后' if before else '其内部'}：{number_zh}",
    )


def _difference(comparison: Comparison, rows: RowVerdicts, row: int) -> tuple[tuple[str, str], str, str]:
    """(names of a row, how it differs in English, in Chinese): the common factor if there is one, then the first reason beyond a note."""
    if row < 0:
        return ("", ""), "", ""
    notes = notes_by_row(rows.notes)
    has = int(rows.reasons[row])
    first = [r for r in (reasons.NONFINITE, reasons.STATISTICS, *CATALOGUE) if has >> r.code & 1 and r.severity != "note"][:1]
    told = [reasons.SCALED] * (has >> reasons.SCALED.code & 1) + first
    arguments = [
        row_arguments(comparison, rows.statistic, rows.error, rows.tolerance, row, reason, notes.get((row, reason.code))) for reason in told
    ]
    english = "; ".join(sentence(reason, given) for reason, given in zip(told, arguments))
    chinese = "；".join(sentence(reason, given, chinese=True) for reason, given in zip(told, arguments))
    return row_name(comparison, row), english, chinese


def why_not_compared(comparison: Comparison, rows: RowVerdicts, row: int) -> tuple[str, str]:
    """Why a row could not be compared, in English and in Chinese; empty where no reason was noted."""
    notes = notes_by_row(note for note in rows.notes if note.row == row)
    found = [reason for reason in CATALOGUE if int(rows.reasons[row]) >> reason.code & 1 and reason.severity == "not_comparable"][:1]
    for reason in found:
        given = row_arguments(comparison, rows.statistic, rows.error, rows.tolerance, row, reason, notes.get((row, reason.code)))
        return sentence(reason, given), sentence(reason, given, chinese=True)
    return "", ""


def _worst_row(comparison: Comparison, rows: RowVerdicts, pair: int, roles: tuple[Role, ...]) -> int:
    """The row of a pair, of the given roles, with the worst status and the largest error; -1 if none."""
    best, best_key = -1, (0, 0.0)
    for row in comparison.rows_of(pair):
        t, g = int(comparison.target_row[row]), int(comparison.golden_row[row])
        role = int(comparison.target.role[t] if t >= 0 else comparison.golden.role[g])
        status = int(rows.status[row])
        if role not in roles or status not in (Status.WARNING, Status.ERROR):
            continue
        error = float(rows.error[row])
        key = (status, error if not math.isnan(error) else 0.0)
        if key > best_key:
            best, best_key = row, key
    return best
