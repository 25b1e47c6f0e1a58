"""Modules that return their bias apart instead of adding it (Megatron's skip_bias_add), against modules that add it."""

from __future__ import annotations

from converter.compare.composition import Composer
from converter.compare.lone_vectors import Rows, lone_vectors
from converter.dumps.columns import MAX, MEAN, MIN, NORM, PRESENT_MAX, PRESENT_MEAN, PRESENT_MIN, LeafKind, Role
from converter.tree.graph import Graph

# Outputs of which no statistic differs by more than this (of the largest element) are the same without any bias: rounding.
SAME = 2e-5


def with_separate_bias(rows: Rows, target: Graph, composer_t: Composer, golden: Graph, composer_g: Composer) -> Rows:
    """The rows of a pair, with the output of the side that returns its bias apart replaced by output + bias.

    Recognised by an output that only one side has: a vector as long as the last axis of the first output. The mean of
    the sum is the sum of the means; its other statistics do not follow and are not compared.
    """
    lone_t, lone_g = lone_vectors(rows, 0, target, Role.OUTPUT), lone_vectors(rows, 1, golden, Role.OUTPUT)
    if len(lone_t) + len(lone_g) != 1:
        return rows
    side, graph, composer = (0, target, composer_t) if lone_t else (1, golden, composer_g)
    bias = (lone_t or lone_g)[0]
    leaves = graph.leaves
    for position, row in enumerate(rows):
        mine, other = row[side], row[1 - side]
        if mine < 0 or other < 0 or mine >= leaves.rows or leaves.role[mine] != Role.OUTPUT or leaves.kind[mine] != LeafKind.TENSOR:
            continue
        shape = leaves.shapes[int(leaves.shape[mine])] if leaves.shape[mine] >= 0 else ()
        if len(shape) < 2 or shape[-1] != leaves.shapes[int(leaves.shape[bias])][0] or not _fits(target, golden, row, graph, bias, side):
            return rows
        summed = composer.with_bias(mine, bias)
        kept = [entry for entry in rows if entry[side] != bias]
        kept[position if kept[position] == row else kept.index(row)] = (summed, other) if side == 0 else (other, summed)
        return kept
    return rows


def _fits(target: Graph, golden: Graph, row: tuple[int, int], graph: Graph, bias: int, side: int) -> bool:
    """Whether adding the bias brings the two means closer together; not where the outputs agree as they are.

    A small bias hardly changes Max, Min and Norm, so nothing coarser than rounding says that they agree.
    """
    a, b = row
    needed = PRESENT_MAX | PRESENT_MIN | PRESENT_MEAN
    if a >= target.leaves.rows or b >= golden.leaves.rows:
        return True
    if target.leaves.present[a] & golden.leaves.present[b] & graph.leaves.present[bias] & needed != needed:
        return True
    x, y = target.leaves.statistics[a], golden.leaves.statistics[b]
    scale = max(abs(float(y[MAX])), abs(float(y[MIN])), 1e-30)
    same_values = all(abs(float(x[each] - y[each])) <= SAME * scale for each in (MAX, MIN, MEAN))
    if same_values and abs(float(x[NORM] - y[NORM])) <= SAME * abs(float(y[NORM])):
        return False
    apart = float(x[MEAN] - y[MEAN])
    return abs(apart + (1 if side == 0 else -1) * float(graph.leaves.statistics[bias, MEAN])) <= abs(apart)
