"""Which tensor of a pair's target side is compared with which of its golden side.

Pairs of equal layout (the same names in the same roles, as between two runs of one code) are joined in one pass over
the columns; the others one by one: by name, then by shape and order (row_pairing.py); fused layers through the
composition of their parts (composition.py).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison, Composition
from converter.compare.composition import Composer
from converter.compare.inner_norm import InnerNorms
from converter.compare.other_level import join_across_levels
from converter.compare.row_pairing import Side, pair_rows, parameter_aliases
from converter.compare.separate_bias import with_separate_bias
from converter.compare.statistics import scale_aware_errors
from converter.dumps.columns import MAX, MIN, NORM, Leaves
from converter.match.pairing import EQUAL_OUTPUTS, Pairing, Relation
from converter.tree.graph import Graph, ranges


def compare(target: Graph, golden: Graph, pairing: Pairing, mode: str) -> Comparison:
    """Join and measure the tensors of all pairs (statistics only; tensor files are measured by tensor_rows.py).

    Rows of a pair stand in the order inputs, kwargs, parameters, outputs of the target side; what only golden has
    follows. `Comparison.errors` is [rows, 4] float64, NaN where a statistic could not be measured.
    """
    starts_t, ends_t = _row_ranges(target, pairing.first_target_nodes())
    starts_g, ends_g = _row_ranges(golden, pairing.first_golden_nodes())
    alike = _alike(target, golden, pairing, starts_t, ends_t, starts_g, ends_g)
    composer_t, composer_g = Composer(target.leaves), Composer(golden.leaves)
    single: dict[int, list[tuple[int, int]]] = {}
    target_side, golden_side = Side(target), Side(golden)
    inner_norms = InnerNorms()
    by_outputs = np.array([text == EQUAL_OUTPUTS for text in pairing.evidence_texts] or [False])[pairing.evidence]
    alike &= ~by_outputs
    counts = np.where(alike, ends_t - starts_t, 0)
    for pair in np.flatnonzero(~alike).tolist():
        nodes_t, nodes_g = pairing.target_nodes_of(pair), pairing.golden_nodes_of(pair)
        relation, aliases = Relation(int(pairing.relation[pair])), parameter_aliases(pairing.aliases, golden, nodes_g[0])
        if relation == Relation.SAME and len(nodes_t) == len(nodes_g) == 1:
            rows = pair_rows(target_side, nodes_t[0], golden_side, nodes_g[0], aliases, bool(by_outputs[pair]))
        elif len(nodes_t) == 1:
            rows = composer_g.against_whole(target, nodes_t[0], golden, nodes_g, relation, aliases, whole_first=True)
        elif len(nodes_g) == 1:
            rows = composer_t.against_whole(golden, nodes_g[0], target, nodes_t, relation, aliases, whole_first=False)
        else:
            rows = []
        rows = inner_norms.without_inputs(rows, target, nodes_t[0], golden)
        rows = with_separate_bias(rows, target, composer_t, golden, composer_g)
        single[pair] = rows
    join_across_levels(single, target, composer_t, golden, composer_g, pairing)
    for pair, rows in single.items():
        counts[pair] = len(rows)
    row_end = np.cumsum(counts, dtype=np.int64)
    total = int(row_end[-1]) if len(row_end) else 0
    target_row, golden_row = np.full(total, -1, np.int64), np.full(total, -1, np.int64)
    _fill_alike(target_row, golden_row, alike, counts, row_end, starts_t, starts_g)
    for pair, rows in single.items():
        end = int(row_end[pair])
        for offset, (a, b) in enumerate(rows):
            target_row[end - len(rows) + offset] = a
            golden_row[end - len(rows) + offset] = b
    leaves_t, parts_t = composer_t.result()
    leaves_g, parts_g = composer_g.result()
    errors = measure(leaves_t, target_row, leaves_g, golden_row, parts_t, parts_g)
    ambiguous = np.isin(target_row, list(target_side.ambiguous)) & np.isin(golden_row, list(golden_side.ambiguous))
    return Comparison(row_end, target_row, golden_row, leaves_t, leaves_g, parts_t, parts_g, errors, ambiguous, mode=mode)


def measure(
    target: Leaves,
    target_row: NDArray[np.int64],
    golden: Leaves,
    golden_row: NDArray[np.int64],
    target_parts: list[Composition],
    golden_parts: list[Composition],
) -> NDArray[np.float64]:
    """The errors of joined rows, [rows, 4]. They follow from the statistics alone, so a graph file does not hold them."""
    errors = scale_aware_errors(target, target_row, golden, golden_row)
    _only_mean_of_sums(errors, target_row, golden_row, target_parts, golden_parts)
    return errors


def _row_ranges(graph: Graph, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(first row, row behind the last) of every node."""
    return graph.row_start[nodes].astype(np.int64), graph.row_end[nodes].astype(np.int64)


def _alike(
    target: Graph,
    golden: Graph,
    pairing: Pairing,
    starts_t: NDArray[np.int64],
    ends_t: NDArray[np.int64],
    starts_g: NDArray[np.int64],
    ends_g: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """[pairs]: one node on each side, of one class, with the same leaves by role, kind and name in the same order."""
    if not pairing.count:
        return np.zeros(0, np.bool_)
    sizes_t = np.diff(pairing.target_end, prepend=0)
    sizes_g = np.diff(pairing.golden_end, prepend=0)
    alike: NDArray[np.bool_] = (sizes_t == 1) & (sizes_g == 1) & (ends_t - starts_t == ends_g - starts_g)
    labels = {label: number for number, label in enumerate(golden.tree.labels)}
    translated = np.array([labels.get(label, -2) for label in target.tree.labels] or [-2], np.int64)
    label_t = target.tree.label[pairing.first_target_nodes()]
    label_g = golden.tree.label[pairing.first_golden_nodes()]
    alike &= np.where(label_t >= 0, translated[label_t], -1) == np.where(label_g >= 0, label_g, -1)
    chosen = np.flatnonzero(alike)
    lengths = (ends_t - starts_t)[chosen]
    if not lengths.sum():
        return alike
    rows_t, rows_g = ranges(starts_t[chosen], ends_t[chosen]), ranges(starts_g[chosen], ends_g[chosen])
    names = {name: number for number, name in enumerate(golden.leaves.strings)}
    name_of = np.array([names.get(name, -2) for name in target.leaves.strings] or [-2], np.int64)
    differs = (
        (target.leaves.role[rows_t] != golden.leaves.role[rows_g])
        | (target.leaves.kind[rows_t] != golden.leaves.kind[rows_g])
        | (name_of[target.leaves.name[rows_t]] != golden.leaves.name[rows_g])
    )
    owner = np.repeat(np.arange(len(chosen)), lengths)
    alike[chosen[np.bincount(owner, weights=differs, minlength=len(chosen)) > 0]] = False
    return alike


def _fill_alike(
    target_row: NDArray[np.int64],
    golden_row: NDArray[np.int64],
    alike: NDArray[np.bool_],
    counts: NDArray[np.int64],
    row_end: NDArray[np.int64],
    starts_t: NDArray[np.int64],
    starts_g: NDArray[np.int64],
) -> None:
    chosen = np.flatnonzero(alike)
    lengths = counts[chosen].astype(np.int64)
    at = ranges(row_end[chosen] - lengths, row_end[chosen])
    target_row[at] = ranges(starts_t[chosen], starts_t[chosen] + lengths)
    golden_row[at] = ranges(starts_g[chosen], starts_g[chosen] + lengths)


def _only_mean_of_sums(
    errors: NDArray[np.float64],
    target_row: NDArray[np.int64],
    golden_row: NDArray[np.int64],
    parts_t: list[Composition],
    parts_g: list[Composition],
) -> None:
    """Of a sum of tensors only the mean follows from the parts; its other statistics were not composed."""
    sums_t = [part.row for part in parts_t if part.relation == "sum"]
    sums_g = [part.row for part in parts_g if part.relation == "sum"]
    if sums_t or sums_g:
        rows = np.isin(target_row, sums_t) | np.isin(golden_row, sums_g)
        errors[np.flatnonzero(rows)[:, None], np.array([MAX, MIN, NORM])] = np.nan
