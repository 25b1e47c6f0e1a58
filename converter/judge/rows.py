"""The verdict of every row: facts and errors against tolerances give a status and a mask of reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

import numpy as np
from numpy.typing import NDArray

from converter.compare.broadcast import is_repeated
from converter.compare.columns import Comparison
from converter.dumps.columns import MAX, MIN, NORM, LeafKind, Role
from converter.judge import reasons
from converter.judge.mask_fill import mask_fills
from converter.judge.noise import find_noise
from converter.judge.policy import Policy
from converter.judge.reasons import Reason
from converter.judge.row_facts import RowFacts
from converter.judge.tolerance import row_tolerances, widen_by_noise, worst_statistic
from converter.judge.verdict import Note, Status
from converter.match.pairing import Pairing
from converter.match.similarity import shard_factor
from converter.tree.columns import NodeKind
from converter.tree.graph import Graph

_STATUS_OF = {"note": Status.PASS, "warning": Status.WARNING, "error": Status.ERROR, "not_comparable": Status.NOT_COMPARABLE}
INPUTS = (Role.INPUT, Role.KWARG)
# Nodes of a sharded layer with the APIs inside it; a module with more holds layers of its own.
LARGEST_SHARDED_MODULE = 32


@dataclass(frozen=True)
class RowVerdicts:
    """Columns over rows (see Verdicts), the notes, and by how much the tolerances were widened."""

    status: NDArray[np.uint8]
    reasons: NDArray[np.uint32]
    error: NDArray[np.float64]
    statistic: NDArray[np.uint8]
    tolerance: NDArray[np.float64]
    notes: list[Note]
    noise_factor: float


def judge_rows(
    comparison: Comparison, facts: RowFacts, pairing: Pairing, target: Graph, golden: Graph, forward: NDArray[np.bool_], policy: Policy
) -> RowVerdicts:
    """Judge all rows.

    Args:
        forward: [pairs] bool, the pair belongs to the forward pass (the noise of the run is read off there).
    A row is NONE where nothing was judged (one side only between different code, ignored by policy); it passes only
    where something was compared and agreed.
    """
    rows = comparison.rows
    status = np.zeros(rows, np.uint8)
    mask = np.zeros(rows, np.uint32)
    notes: list[Note] = []
    tolerances = row_tolerances(comparison, facts, pairing, target, policy)
    statistic, error, weighted = worst_statistic(comparison, tolerances)
    floating = tolerances.epsilon > 0
    tolerances, factor = widen_by_noise(
        tolerances, weighted, facts.tensors & floating & forward[facts.pair] & (facts.role == Role.OUTPUT), policy
    )
    labels, ignored_inputs, ignored_outputs, ignored_nodes = _ignored(pairing, target, policy)
    inputs = np.isin(facts.role, INPUTS)
    ignored = (
        ignored_nodes[facts.pair] | (ignored_inputs[facts.pair] & inputs) | (ignored_outputs[facts.pair] & (facts.role == Role.OUTPUT))
    )
    open_rows = ~ignored

    def mark(where: NDArray[np.bool_], reason: Reason, severity: str | None = None) -> None:
        mask[where] |= np.uint32(1 << reason.code)
        status[where] = np.maximum(status[where], _STATUS_OF[severity or policy.severities[reason.id]])

    def settle(where: NDArray[np.bool_], reason: Reason, severity: str | None = None) -> None:
        """Mark rows and keep them from every later test."""
        nonlocal open_rows
        mark(where, reason, severity)
        open_rows = open_rows & ~where

    mask[ignored] |= np.uint32(1 << reasons.IGNORED.code)
    for row in np.flatnonzero(ignored).tolist():
        notes.append(_ignored_note(row, labels[int(facts.pair[row])], bool(ignored_nodes[facts.pair[row]]), bool(inputs[row])))
    alone = open_rows & ~facts.both
    if comparison.mode == "structure":  # the side that was dumped without values lacks them all
        mark(alone, reasons.NOT_AVAILABLE)
        alone = np.zeros(rows, np.bool_)
    other_code = alone & (~facts.exact | facts.none_only)
    mask[other_code] |= np.uint32(1 << reasons.OTHER_CODE.code)
    mark(alone & ~other_code, reasons.MISSING)
    open_rows = open_rows & facts.both
    settle(open_rows & comparison.ambiguous if len(comparison.ambiguous) else np.zeros(rows, np.bool_), reasons.DIFFERENT_KIND)
    settle(open_rows & facts.kind_differs & facts.exact, reasons.VALUE)
    settle(open_rows & facts.kind_differs, reasons.DIFFERENT_KIND)
    settle(open_rows & facts.category_differs & ~facts.exact, reasons.DIFFERENT_KIND)
    notes += _kind_notes(comparison, mask)
    values = open_rows & ~facts.tensors
    named = _names_an_object(comparison)
    mark(values & facts.value_differs & facts.same_code & ~named, reasons.VALUE)
    mark(values & facts.value_differs & ~(facts.same_code & ~named), reasons.VALUE, "note")
    status[values & ~facts.value_differs] = Status.PASS
    tensors = open_rows & facts.tensors
    empty = tensors & facts.size_differs & _has_no_elements(comparison)
    settle(empty & (facts.role == Role.PARAMETER), reasons.SHARDED)
    settle(_repeated(comparison, tensors & open_rows & facts.size_differs & ~facts.exact), reasons.LAYOUT)
    may_shard = ~facts.same_code | _is_parallel(target) | _is_parallel(golden)
    sharded = tensors & open_rows & facts.size_differs & may_shard
    sharded &= _sharded(comparison, sharded)
    settle(sharded, reasons.SHARDED)
    tensors = tensors & open_rows
    settle(tensors & facts.size_differs, reasons.SHAPE)
    tensors = tensors & open_rows
    mark(tensors & facts.shape_differs, reasons.LAYOUT)
    mark(tensors & facts.requires_grad_differs, reasons.REQUIRES_GRAD)
    mark(tensors & facts.value_differs, reasons.VALUE)
    measured = tensors & ~np.isnan(weighted)
    unmeasured = tensors & np.isnan(weighted) & ~facts.value_differs
    judged_by_sum = unmeasured & (facts.checksum_differs | facts.checksum_equal)
    empty_both = unmeasured & ~judged_by_sum & _has_no_elements(comparison)
    mark(unmeasured & ~judged_by_sum & ~empty_both, reasons.NOT_AVAILABLE)
    without_file = np.zeros(rows, np.bool_)
    without_file[list(comparison.unavailable)] = True
    mark(measured & without_file, reasons.NOT_MEASURED)
    for row in np.flatnonzero(mask & np.uint32(1 << reasons.NOT_AVAILABLE.code | 1 << reasons.NOT_MEASURED.code)).tolist():
        why, why_zh = comparison.unavailable.get(row, ("one side has no statistics", "一侧没有统计量"))
        code = (reasons.NOT_MEASURED if measured[row] else reasons.NOT_AVAILABLE).code
        notes.append(Note(row, code, {"why": why, "why_zh": why_zh}))
    status[empty_both] = np.maximum(status[empty_both], Status.PASS)
    status[measured | (unmeasured & facts.checksum_equal)] = np.maximum(status[measured | (unmeasured & facts.checksum_equal)], Status.PASS)
    filled = measured & mask_fills(comparison)
    mark(filled, reasons.MASK_FILL)
    mark(measured & facts.nonfinite & ~filled, reasons.NONFINITE)
    mark(measured & facts.nonfinite_both, reasons.NONFINITE_BOTH)
    finite = measured & ~facts.nonfinite & ~filled
    beyond = finite & (weighted > tolerances.warning)
    partial = beyond & _beside_shards(sharded, facts, pairing, target)[facts.pair]
    mark(partial, reasons.SHARDED)
    status[partial] = Status.NOT_COMPARABLE
    beyond &= ~partial
    noise = find_noise(comparison, facts, pairing, target, tolerances, np.flatnonzero(beyond), policy)
    noisy = np.zeros(rows, np.bool_)
    noisy[list(noise.rows)] = True
    mark(noisy, reasons.NOISE)
    notes += [Note(row, reasons.NOISE.code, {"scale": f"{scale:.4g}"}) for row, scale in noise.rows.items()]
    beyond &= ~noisy
    for where, reason in ((beyond & (statistic != 4), reasons.STATISTICS), (beyond & (statistic == 4), reasons.TENSOR)):
        mark(where & (weighted > tolerances.error), reason)
        mark(where & (weighted <= tolerances.error), reason, "note" if policy.severities[reason.id] == "note" else "warning")
    mark(beyond & _scaled(comparison), reasons.SCALED)
    same_numbers = finite & ~beyond
    mark(tensors & facts.dtype_differs & same_numbers, reasons.PRECISION)
    mark(tensors & facts.dtype_differs & ~same_numbers, reasons.DTYPE)
    _judge_checksums(comparison, facts, tensors, measured, same_numbers, error, mark)
    unjudged = (status == Status.NONE) | (status == Status.NOT_COMPARABLE)
    error, statistic = np.where(unjudged, np.nan, error), np.where(unjudged, 255, statistic).astype(np.uint8)
    factors = np.append(tolerances.statistic_factor, [1.0])[np.minimum(statistic, 4)]
    return RowVerdicts(status, mask, error, statistic, tolerances.warning * factors, notes, factor)


def _judge_checksums(
    comparison: Comparison,
    facts: RowFacts,
    tensors: NDArray[np.bool_],
    measured: NDArray[np.bool_],
    same_numbers: NDArray[np.bool_],
    error: NDArray[np.float64],
    mark: Callable[..., None],
) -> None:
    """A checksum that differs is an error without statistics; beside them it says only that not every bit is equal."""
    comparable = tensors & facts.checksum_differs & ~facts.shape_differs & ~facts.dtype_differs
    mark(comparable & ~measured, reasons.CHECKSUM)
    equal_statistics = comparable & same_numbers & (error == 0)
    mark(equal_statistics, reasons.CHECKSUM, "warning")
    mark(comparable & same_numbers & ~equal_statistics, reasons.CHECKSUM, "note")


def _ignored(pairing: Pairing, target: Graph, policy: Policy) -> tuple[list[str], NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Per pair: API name ("" for modules), whether its inputs, its outputs, the whole of it are not judged."""
    count = pairing.count
    firsts = pairing.target_nodes[np.concatenate([[0], pairing.target_end[:-1]])].astype(np.int64) if count else np.zeros(0, np.int64)
    tree = target.tree
    label = np.where(tree.kind[firsts] == NodeKind.API, tree.label[firsts], -1)
    names = [*tree.labels, ""]
    uninitialised = np.array([name in policy.uninitialised for name in names])[label]
    placeholder = np.array([name in policy.placeholder_inputs for name in names])[label]
    nodes = np.zeros(count, np.bool_)
    if policy.ignore:
        for number, node in enumerate(firsts.tolist()):
            nodes[number] = any(pattern.search(tree.names[node]) for pattern in policy.ignore)
    return [names[number] for number in label.tolist()], placeholder, uninitialised, nodes


def _ignored_note(row: int, api: str, by_pattern: bool, is_input: bool) -> Note:
    if by_pattern:
        arguments = {"why": "the policy ignores this node", "why_zh": "策略忽略该节点"}
    elif is_input:
        arguments = {"why": f"{api} overwrites this argument", "why_zh": f"{api} 会覆盖该参数"}
    else:
        arguments = {"why": f"{api} returns memory that nobody has written", "why_zh": f"{api} 返回未初始化的内存"}
    return Note(row, reasons.IGNORED.code, arguments)


_KIND_WORDS = {
    LeafKind.TENSOR: "tensor",
    LeafKind.NUMBER: "number",
    LeafKind.BOOL: "bool",
    LeafKind.TEXT: "text",
    LeafKind.NONE: "None",
    LeafKind.OTHER: "object",
}


def _kind_notes(comparison: Comparison, mask: NDArray[np.uint32]) -> list[Note]:
    """What stands against what, where two different things were joined."""
    found = []
    for code in (reasons.DIFFERENT_KIND.code, reasons.VALUE.code):
        for row in np.flatnonzero(mask & np.uint32(1 << code)).tolist():
            ambiguous = bool(len(comparison.ambiguous)) and bool(comparison.ambiguous[row])
            texts = [
                _thing(leaves, int(rows[row]))
                for leaves, rows in ((comparison.target, comparison.target_row), (comparison.golden, comparison.golden_row))
            ]
            if ambiguous:
                texts[1] += " (one of several alike)"
            found.append(Note(row, code, {"target": texts[0], "golden": texts[1]}))
    return found


def _thing(leaves, row: int) -> str:  # type: ignore[no-untyped-def]
    kind = LeafKind(int(leaves.kind[row]))
    if kind != LeafKind.TENSOR:
        return _KIND_WORDS[kind]
    dtype = leaves.strings[leaves.dtype[row]] if leaves.dtype[row] >= 0 else "tensor"
    shape = leaves.shapes[leaves.shape[row]] if leaves.shape[row] >= 0 else ()
    return f"{dtype} {list(shape)}"


# Two ratios of statistics are one factor if they differ by no more than this, relative to the factor.
SAME_FACTOR = 1e-3


def _scaled(comparison: Comparison) -> NDArray[np.bool_]:
    """Rows in which Max, Min and Norm are one and the same multiple of golden's: a scale that one side applies."""
    found = np.zeros(comparison.rows, np.bool_)
    rows = np.flatnonzero((comparison.errors[:, (MAX, MIN, NORM)] > 0).all(axis=1))
    if not len(rows):
        return found
    a = comparison.target.statistics[comparison.target_row[rows]][:, (MAX, MIN, NORM)]
    b = comparison.golden.statistics[comparison.golden_row[rows]][:, (MAX, MIN, NORM)]
    with np.errstate(all="ignore"):
        ratio = a / b
        factor = ratio[:, 2:3]
        found[rows] = (np.isfinite(ratio) & (np.abs(ratio - factor) <= SAME_FACTOR * np.abs(factor - 1))).all(axis=1)
    return found


def _names_an_object(comparison: Comparison) -> NDArray[np.bool_]:
    """Values that name a thing of this machine (a device, a process group): another name is no difference of the model."""

    def of(leaves) -> NDArray[np.bool_]:  # type: ignore[no-untyped-def]
        return np.array(
            [any(word in text.lower() for word in ("device", "processgroup", "stream", "generator")) for text in leaves.strings] + [False]
        )

    t = of(comparison.target)[np.append(comparison.target.type, -1)[comparison.target_row]]
    g = of(comparison.golden)[np.append(comparison.golden.type, -1)[comparison.golden_row]]
    return t | g


def _has_no_elements(comparison: Comparison) -> NDArray[np.bool_]:
    """One of the two tensors is empty (ZeRO-3 shows parameters as Size([0]))."""

    def of(leaves, rows: NDArray[np.int64]) -> NDArray[np.bool_]:  # type: ignore[no-untyped-def]
        empty = np.array([0 in shape for shape in leaves.shapes] + [False])
        return empty[np.append(leaves.shape, -1)[rows]]  # row -1, a tensor that is not there, is not empty

    return of(comparison.target, comparison.target_row) | of(comparison.golden, comparison.golden_row)


def _is_parallel(graph: Graph) -> bool:
    """The model is built of tensor-parallel layers (ColumnParallelLinear, VocabParallelEmbedding, …)."""
    return any("Parallel" in label for label in graph.tree.labels)


def _beside_shards(sharded: NDArray[np.bool_], facts: RowFacts, pairing: Pairing, target: Graph) -> NDArray[np.bool_]:
    """[pairs] a tensor of the pair, or of the module around it, is a shard: its other tensors may be partial sums."""
    pairs = np.bincount(facts.pair[sharded], minlength=pairing.count) > 0 if pairing.count else np.zeros(0, np.bool_)
    if not pairs.any():
        return pairs
    tree = target.tree
    firsts = pairing.target_nodes[np.concatenate([[0], pairing.target_end[:-1]])]
    around = np.zeros(tree.count, np.bool_)
    leaves = (tree.end[firsts] - firsts <= LARGEST_SHARDED_MODULE) & (tree.kind[firsts] == NodeKind.MODULE)
    for node in firsts[pairs & leaves].tolist():
        around[node : int(tree.end[node])] = True
    beside: NDArray[np.bool_] = pairs | around[firsts]
    return beside


def _repeated(comparison: Comparison, where: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows of which one side holds the other's values several times over."""
    found = np.zeros(comparison.rows, np.bool_)
    for row in np.flatnonzero(where).tolist():
        found[row] = is_repeated(comparison.target, int(comparison.target_row[row]), comparison.golden, int(comparison.golden_row[row]))
    return found


def _sharded(comparison: Comparison, where: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows whose shapes differ by a whole factor along one extent, as a shard does from the whole."""
    found = np.zeros(comparison.rows, np.bool_)
    left, right = comparison.target, comparison.golden
    for row in np.flatnonzero(where).tolist():
        a = left.shapes[left.shape[comparison.target_row[row]]]
        b = right.shapes[right.shape[comparison.golden_row[row]]]
        plain_a, plain_b = tuple(sorted(e for e in a if e != 1)), tuple(sorted(e for e in b if e != 1))
        found[row] = shard_factor((a,), (b,)) > 1 or shard_factor((plain_a,), (plain_b,)) > 1
    return found
