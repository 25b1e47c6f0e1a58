"""The trace of NaN and infinities: the first call in time that holds one, what was finite before, how it got out.

Time runs through the tree depth first: a node is entered (its inputs and parameters are there), its children run, it is
left (its outputs are there). The first moment that shows a non-finite tensor names the culprit:
  parameter  a parameter of the node that was entered is non-finite
  arrived    one of its inputs is, though every earlier output was finite: it comes from between two recorded calls
  created    its inputs and parameters are finite, its output is not
A tensor counts where its Max or Min is NaN, its Max +inf or Min -inf, or its Mean NaN. A Mean that overflows over finite
elements does not count, nor do placeholders and views (overflow.yaml): they show memory that nobody may have written
yet, and what reads from them tells. -inf alone is what attention masks are made of: it counts only where a call that makes no masks
(overflow.yaml) turns inputs without it into an output or has it as a parameter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from converter.dumps.columns import MAX, MEAN, MIN, LeafKind, Role
from converter.judge.overflow import OverflowRules, placeholder_rows, shipped_rules
from converter.tree.columns import NodeKind
from converter.tree.graph import Graph

SPREAD = 8  # nodes after the first that are listed


@dataclass(frozen=True)
class NonFiniteTrace:
    """Where non-finite values begin."""

    node: int  # tree node
    row: int  # leaf that shows it
    value: str  # NaN | Infinity | -Infinity
    origin: str  # parameter | arrived | created
    last_finite: int  # the last call before it whose outputs were all finite, -1 = none
    path: tuple[int, ...]  # nodes entered since then, down to `node`
    spread: tuple[int, ...]  # the first nodes after it that put out non-finite values, in the order in which they end


def trace_nonfinite(graph: Graph, rules: OverflowRules | None = None) -> NonFiniteTrace | None:
    """The first non-finite tensor of a run, or None if all are finite."""
    rules = shipped_rules() if rules is None else rules
    tree, leaves = graph.tree, graph.leaves
    owner, row = graph.node_rows()
    counted = (leaves.kind[row] == LeafKind.TENSOR) & ~placeholder_rows(graph, owner, row, rules) & ~_calls(graph, rules.views)[owner]
    strong, negative = _kinds(graph)
    strong, negative = strong[row] & counted, negative[row] & counted
    role = leaves.role[row]
    may_hold = _may_hold_minus_infinity(graph, owner, negative, role, rules)[owner]
    born = negative & ((role == Role.PARAMETER) | (role == Role.OUTPUT) & ~may_hold)
    bad = strong | born
    if not bad.any():
        return None
    results = (role == Role.OUTPUT) | (role == Role.GRADIENT)
    entered, left = _moments(graph)
    moment = np.where(results, left[owner], entered[owner])
    earliest = np.flatnonzero(bad & (moment == moment[bad].min()))
    # A parameter names the origin better than an input that is bad at the same moment.
    first = int(earliest[np.argmax(role[earliest] == Role.PARAMETER)])
    node, start = int(owner[first]), int(moment[first])
    origin = "created" if results[first] else "parameter" if role[first] == Role.PARAMETER else "arrived"
    with_results = np.zeros(tree.count, np.bool_)
    with_results[owner[results & counted]] = True
    before = np.flatnonzero(with_results & (left < start))
    last_finite = int(before[np.argmax(left[before])]) if len(before) else -1
    since = left[last_finite] if last_finite >= 0 else -1
    opened = np.flatnonzero((entered > since) & (entered <= entered[node]) & (np.arange(tree.count) <= node) & (tree.end > node))
    bad_results = np.zeros(tree.count, np.bool_)
    bad_results[owner[strong & results]] = True
    after = np.flatnonzero(bad_results & (left > start))
    after = after[np.argsort(left[after], kind="stable")][:SPREAD]
    return NonFiniteTrace(node, int(row[first]), _value(graph, int(row[first])), origin, last_finite,
                          tuple(opened.tolist()), tuple(after.tolist()))


def trace_sentence(graph: Graph, trace: NonFiniteTrace) -> tuple[str, str]:
    """One sentence about a trace, in English and in Chinese."""
    leaves, names = graph.leaves, graph.tree.names
    name, tensor = names[trace.node], leaves.strings[leaves.name[trace.row]]
    before = names[trace.last_finite] if trace.last_finite >= 0 else ""
    if trace.origin == "parameter":
        return (f"the first {trace.value} is in parameter {tensor} of {name}", f"首个 {trace.value} 出现在 {name} 的参数 {tensor} 中")
    if trace.origin == "arrived":
        place = f"after {before}, whose outputs are finite" if before else "before the first recorded call"
        place_zh = f"{before}（其输出有限）之后" if before else "首个被记录的调用之前"
        return (f"the first {trace.value} is in input {tensor} of {name}: it arises {place}",
                f"首个 {trace.value} 出现在 {name} 的输入 {tensor} 中：产生于 {place_zh}")
    return (f"the first {trace.value} is in output {tensor} of {name}, whose inputs and parameters are finite",
            f"首个 {trace.value} 出现在 {name} 的输出 {tensor} 中，其输入与参数均有限")


def _kinds(graph: Graph) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """[rows of leaves]: holds NaN or +inf; holds -inf and neither of these."""
    leaves = graph.leaves
    there = [(leaves.present & (1 << column)) > 0 for column in (MAX, MIN, MEAN)]
    largest, least, mean = (leaves.statistics[:, column] for column in (MAX, MIN, MEAN))
    # A NaN in Mean alone is one that Max and Min skipped, or +inf and -inf added up.
    strong: NDArray[np.bool_] = (there[0] & (np.isnan(largest) | (largest == math.inf)) | (there[1] & np.isnan(least))
                                 | (there[2] & np.isnan(mean)))
    return strong, there[1] & (least == -math.inf) & ~strong


def _may_hold_minus_infinity(graph: Graph, owner: NDArray[np.int64], negative: NDArray[np.bool_], role: NDArray[np.uint8],
                             rules: OverflowRules) -> NDArray[np.bool_]:
    """[nodes]: calls that make masks, calls that were given -inf, and modules with calls of their own inside."""
    tree = graph.tree
    given = np.zeros(tree.count, np.bool_)
    given[owner[negative & (role != Role.OUTPUT)]] = True
    has_children = tree.end > np.arange(tree.count) + 1
    exempt: NDArray[np.bool_] = _calls(graph, rules.masks) | given | has_children
    return exempt


def _calls(graph: Graph, names: frozenset[str]) -> NDArray[np.bool_]:
    """[nodes]: calls of an API with one of these names."""
    tree = graph.tree
    named = np.array([label in names for label in tree.labels] + [False])[tree.label]
    calls: NDArray[np.bool_] = named & (tree.kind == NodeKind.API)
    return calls


def _moments(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """When each node is entered and left: positions in the sequence of all entries and exits."""
    tree = graph.tree
    count = tree.count
    number = np.arange(count, dtype=np.int64)
    # Before node i is entered, i nodes were entered and all with end <= i were left.
    ends = np.sort(tree.end.astype(np.int64))
    entered = number + np.searchsorted(ends, number, side="right")
    # Exits at one place: deeper nodes first. Before an exit at end e, e nodes were entered.
    order = np.lexsort((-tree.depth.astype(np.int64), tree.end))
    left = np.empty(count, np.int64)
    left[order] = tree.end[order] + np.arange(count)
    return entered, left


def _value(graph: Graph, row: int) -> str:
    statistics, present = graph.leaves.statistics[row], int(graph.leaves.present[row])
    values = [float(statistics[column]) for column in (MAX, MIN, MEAN) if present & (1 << column)]
    if any(math.isnan(value) for value in values):
        return "NaN"
    return "Infinity" if math.inf in values[:1] else "-Infinity"
