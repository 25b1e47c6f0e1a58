"""Rounding noise: differences no larger than what was rounded away while much larger magnitudes were added up.

The gradient of an attention key's bias is zero by mathematics: two correct runs give about 1e-11 with any relative
difference. The floor comes from what was added up to get there, never from a fixed constant:

* gradient of a vector parameter (bias, norm weight): sum over T rows of the gradient G of the module's output →
  floor = f · eps · sqrt(T) · ‖G‖;
* gradient of a matrix: Gᵀ·X → floor = f · eps · ‖G‖ · ‖X‖ with the module's input X;
* outputs of adding and subtracting APIs: floor = f · eps · largest input norm.

f is `rounding` of the policy, bounded so that f · eps never exceeds LARGEST_SHARE (half precision).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.dumps.columns import MAX, MEAN, MIN, NORM, PRESENT_NORM, LeafKind, Role
from converter.judge.policy import Policy
from converter.judge.row_facts import RowFacts
from converter.judge.tolerance import Tolerances
from converter.match.pairing import Pairing
from converter.tree.columns import Direction, NodeKind
from converter.tree.graph import Graph

LARGEST_SHARE = 0.02


@dataclass(frozen=True)
class Noise:
    """Rows whose difference is rounding noise, with the magnitude that was added up."""

    rows: dict[int, float]


def find_noise(
    comparison: Comparison,
    facts: RowFacts,
    pairing: Pairing,
    target: Graph,
    tolerances: Tolerances,
    suspects: NDArray[np.int64],
    policy: Policy,
) -> Noise:
    """Which of the suspect rows (those beyond their tolerance) hold nothing but rounding noise."""
    companions = _companions(target)
    found: dict[int, float] = {}
    seen: dict[tuple[bytes, bytes], float] = {}
    for row in suspects.tolist():
        if not facts.tensors[row] or facts.nonfinite[row]:
            continue
        pair = int(facts.pair[row])
        node = int(pairing.target_nodes[pairing.target_end[pair - 1] if pair else 0])
        if facts.role[row] == Role.GRADIENT:
            scale = _gradient_scale(comparison, target, node, row, companions)
        elif facts.role[row] == Role.OUTPUT and _label(target, node) in policy.cancelling:
            scale = _largest_input_norm(target, node)
        else:
            continue
        epsilon = float(tolerances.epsilon[row])
        share = min(policy.rounding * epsilon, max(2 * epsilon, LARGEST_SHARE))
        if scale > 0 and _largest_difference(comparison, row) <= share * scale:
            found[row] = scale
            seen[_statistics_of(comparison, row)] = scale
    # The same tensor met again (a gradient read by the optimizer) is the same noise.
    if seen:
        for row in suspects.tolist():
            if row not in found and facts.tensors[row]:
                again = seen.get(_statistics_of(comparison, row))
                if again is not None:
                    found[row] = again
    return Noise(found)


def _label(graph: Graph, node: int) -> str:
    number = int(graph.tree.label[node])
    return graph.tree.labels[number] if graph.tree.kind[node] == NodeKind.API and number >= 0 else ""


def _statistics_of(comparison: Comparison, row: int) -> tuple[bytes, bytes]:
    return (
        comparison.target.statistics[comparison.target_row[row]].tobytes(),
        comparison.golden.statistics[comparison.golden_row[row]].tobytes(),
    )


def _largest_difference(comparison: Comparison, row: int) -> float:
    a = comparison.target.statistics[comparison.target_row[row]]
    b = comparison.golden.statistics[comparison.golden_row[row]]
    present = int(comparison.target.present[comparison.target_row[row]] & comparison.golden.present[comparison.golden_row[row]])
    differences = [abs(float(a[column] - b[column])) for column in (MAX, MIN, MEAN, NORM) if present & (1 << column)]
    return max(differences, default=math.inf)


def _companions(target: Graph) -> dict[tuple[int, int, int], list[int]]:
    """(path, direction, micro step) → module nodes, to find the calls that a parameter gradient belongs to."""
    tree = target.tree
    found: dict[tuple[int, int, int], list[int]] = {}
    for node in np.flatnonzero(tree.kind == NodeKind.MODULE).tolist():
        found.setdefault((int(tree.path[node]), int(tree.direction[node]), int(tree.micro_step[node])), []).append(node)
    return found


def _gradient_scale(comparison: Comparison, target: Graph, node: int, row: int, companions: dict[tuple[int, int, int], list[int]]) -> float:
    tree = target.tree
    key = int(tree.path[node])
    step = int(tree.micro_step[node])
    backward = companions.get((key, int(Direction.BACKWARD), step), [])
    forward = companions.get((key, int(Direction.FORWARD), step), [])
    gradient = _tensor_norm(target, backward, (Role.INPUT, Role.KWARG))
    if gradient is None:
        return 0.0
    norm, size = gradient
    number = int(comparison.target.shape[comparison.target_row[row]])
    shape = comparison.target.shapes[number] if number >= 0 else ()
    calls = math.sqrt(len(backward))
    if len(shape) >= 2:
        inputs = _tensor_norm(target, forward, (Role.INPUT, Role.KWARG))
        return calls * norm * inputs[0] if inputs is not None else 0.0
    elements = math.prod(shape) or 1
    return calls * norm * math.sqrt(max(size / elements, 1.0))


def _tensor_norm(graph: Graph, nodes: list[int], roles: tuple[Role, ...]) -> tuple[float, int] | None:
    """Norm and size of the first tensor of the given roles, the largest over several calls."""
    best: tuple[float, int] | None = None
    leaves = graph.leaves
    for node in nodes:
        for row in graph.rows(node):
            if leaves.role[row] in roles and leaves.kind[row] == LeafKind.TENSOR and leaves.present[row] & PRESENT_NORM:
                norm = abs(float(leaves.statistics[row, NORM]))
                if math.isfinite(norm) and (best is None or norm > best[0]):
                    number = int(leaves.shape[row])
                    best = (norm, math.prod(leaves.shapes[number]) if number >= 0 else 1)
                break
    return best


def _largest_input_norm(graph: Graph, node: int) -> float:
    leaves = graph.leaves
    norms = [
        abs(float(leaves.statistics[row, NORM]))
        for row in graph.rows(node)
        if leaves.role[row] in (Role.INPUT, Role.KWARG) and leaves.kind[row] == LeafKind.TENSOR and leaves.present[row] & PRESENT_NORM
    ]
    return max((norm for norm in norms if math.isfinite(norm)), default=0.0)
