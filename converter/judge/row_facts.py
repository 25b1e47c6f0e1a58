"""What is known of every compared row before a tolerance is asked: facts as boolean columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.compare.dtypes import canonical, category
from converter.compare.row_pairing import same_code
from converter.compare.statistics import element_counts
from converter.dumps.columns import PRESENT_EXACT, LeafKind, Leaves, Role
from converter.judge.row_columns import of_rows, on_either_side, translated
from converter.match.pairing import How, Pairing, Relation
from converter.tree.columns import Direction
from converter.tree.graph import Graph

Flags = NDArray[np.bool_]

INPUTS = (Role.INPUT, Role.KWARG)
# Words in the type of a value that names a thing of this machine: another name is no difference of the model.
_MACHINE_OBJECTS = ("device", "processgroup", "stream", "generator")


@dataclass(frozen=True)
class RowFacts:
    """Columns over the rows of a Comparison."""

    pair: NDArray[np.int64]  # pair number of the row
    role: NDArray[np.uint8]  # of the side that is there
    both: Flags  # there on both sides
    tensors: Flags  # tensors on both sides
    same_code: Flags  # the pair joins two calls of the same code
    exact: Flags  # … and of the same name
    backward: Flags  # the row is a gradient
    kind_differs: Flags  # a tensor against None, a number against a tensor, …
    none_only: Flags  # one side only, and that is None
    category_differs: Flags  # float against integer, boolean against float, …
    dtype_differs: Flags
    size_differs: Flags  # another number of elements
    no_elements: Flags  # a tensor of one side at least is empty (ZeRO-3 shows parameters as Size([0]))
    shape_differs: Flags  # the same number of elements in another shape
    requires_grad_differs: Flags
    checksum_differs: Flags
    checksum_equal: Flags
    value_differs: Flags  # scalars and other values
    names_an_object: Flags  # the value of one side at least is a device, a process group, …
    nonfinite: Flags  # a statistic is not finite on one side only, or differently
    nonfinite_both: Flags  # not finite on both sides in the same way


def row_facts(comparison: Comparison, pairing: Pairing, target: Graph, golden: Graph) -> RowFacts:
    """Collect the facts of all rows."""
    rows = comparison.rows
    t, g = comparison.target_row, comparison.golden_row
    left, right = comparison.target, comparison.golden
    has_t, has_g = t >= 0, g >= 0
    both = has_t & has_g
    pair = comparison.pair_of_row()
    role = np.where(has_t, of_rows(left.role, t), of_rows(right.role, g)).astype(np.uint8)
    kind_t, kind_g = of_rows(left.kind, t), of_rows(right.kind, g)
    tensors = both & (kind_t == LeafKind.TENSOR) & (kind_g == LeafKind.TENSOR)
    pair_same, pair_exact, pair_backward = _pair_facts(pairing, target, golden)
    categories = _translate(left.strings, right.strings, category)
    names = _translate(left.strings, right.strings, canonical)
    dtype_t, dtype_g = of_rows(left.dtype, t), of_rows(right.dtype, g)
    shape_t, shape_g = of_rows(left.shape, t), of_rows(right.shape, g)
    shape_numbers: dict[tuple[int, ...], int] = {}
    number_t = np.array([shape_numbers.setdefault(shape, len(shape_numbers)) for shape in left.shapes] + [-1], np.int64)
    number_g = np.array([shape_numbers.setdefault(shape, len(shape_numbers)) for shape in right.shapes] + [-1], np.int64)
    size_differs = tensors & (of_rows(element_counts(left), t) != of_rows(element_counts(right), g))
    strings = _translate(left.strings, right.strings, str)
    sum_t, sum_g = of_rows(left.checksum, t), of_rows(right.checksum, g)
    checksums = both & (sum_t >= 0) & (sum_g >= 0)
    same_sum = strings[0][sum_t] == strings[1][sum_g]
    grad_t, grad_g = of_rows(left.requires_grad, t), of_rows(right.requires_grad, g)
    present_t, present_g = of_rows(left.present, t), of_rows(right.present, g)
    with np.errstate(invalid="ignore"):
        nonfinite = np.isinf(comparison.errors).any(axis=1)
    finite_t = np.zeros(rows, np.bool_)
    measured = ~np.isnan(comparison.errors)
    finite_t[both] = (np.isfinite(left.statistics[t[both]]) | ~measured[both]).all(axis=1)
    values = both & ~tensors & (kind_t == kind_g)
    return RowFacts(
        pair=pair,
        role=role,
        both=both,
        tensors=tensors,
        same_code=pair_same[pair],
        exact=pair_exact[pair],
        backward=pair_backward[pair] | (role == Role.GRADIENT),
        kind_differs=both & (kind_t != kind_g),
        none_only=~both & (np.where(has_t, kind_t, kind_g) == LeafKind.NONE),
        category_differs=tensors & (categories[0][dtype_t] != categories[1][dtype_g]),
        dtype_differs=tensors & (names[0][dtype_t] != names[1][dtype_g]),
        size_differs=size_differs,
        no_elements=on_either_side(comparison, _is_empty),
        shape_differs=tensors & ~size_differs & (number_t[shape_t] != number_g[shape_g]),
        requires_grad_differs=tensors & (grad_t > 0) & (grad_g > 0) & (grad_t != grad_g),
        checksum_differs=checksums & ~same_sum,
        checksum_equal=checksums & same_sum,
        value_differs=_value_differs(comparison, values, strings) | _exact_differs(comparison, tensors, present_t, present_g),
        names_an_object=on_either_side(comparison, _names_an_object),
        nonfinite=np.asarray(nonfinite),
        nonfinite_both=both & measured.any(axis=1) & ~finite_t & ~nonfinite,
    )


def _pair_facts(pairing: Pairing, target: Graph, golden: Graph) -> tuple[Flags, Flags, Flags]:
    count = pairing.count
    same, exact, backward = np.zeros(count, np.bool_), np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    firsts_t, firsts_g = pairing.first_target_nodes(), pairing.first_golden_nodes()
    backward[:] = target.tree.direction[firsts_t] == Direction.BACKWARD
    exact[:] = pairing.how == How.EXACT
    same[:] = exact
    for number in np.flatnonzero(~exact & (pairing.relation == Relation.SAME)).tolist():
        same[number] = same_code(target, int(firsts_t[number]), golden, int(firsts_g[number]))
    return same, exact, backward


def _translate(left: list[str], right: list[str], meaning: Callable[[str], str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers for the meanings of two string tables: equal numbers = equal meaning. The last entry serves id -1."""
    numbers: dict[str, int] = {}
    return (
        np.array([numbers.setdefault(meaning(text), len(numbers)) for text in left] + [-1], np.int64),
        np.array([numbers.setdefault(meaning(text), len(numbers)) for text in right] + [-1], np.int64),
    )


def _is_empty(leaves: Leaves, rows: NDArray[np.int64]) -> Flags:
    return translated(np.array([0 in shape for shape in leaves.shapes] + [False]), leaves.shape, rows)


def _names_an_object(leaves: Leaves, rows: NDArray[np.int64]) -> Flags:
    named = [any(word in text.lower() for word in _MACHINE_OBJECTS) for text in leaves.strings]
    return translated(np.array([*named, False]), leaves.type, rows)


def _value_differs(comparison: Comparison, values: Flags, strings: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Flags:
    """Scalars and other values whose texts differ; numbers of equal value are equal however they are written."""
    differs = np.zeros(comparison.rows, np.bool_)
    rows = np.flatnonzero(values)
    if not len(rows):
        return differs
    left, right = comparison.target, comparison.golden
    t, g = comparison.target_row[rows], comparison.golden_row[rows]
    unequal = strings[0][left.value[t]] != strings[1][right.value[g]]
    for row in rows[unequal].tolist():
        a = _text(left, int(comparison.target_row[row]))
        b = _text(right, int(comparison.golden_row[row]))
        differs[row] = not _equal_values(a, b)
    return differs


def _text(leaves: Leaves, row: int) -> str:
    number = int(leaves.value[row])
    return leaves.strings[number] if number >= 0 else ""


# Largest finite number of every floating type: what code takes for "minus infinity" in a mask.
LARGEST_FINITE = (65504.0, 3.3895313892515355e38, 3.4028234663852886e38, 1.7976931348623157e308)


def _equal_values(a: str, b: str) -> bool:
    """The same value, or the same thing in another precision: two floating types, the largest numbers of two types."""
    if canonical(a) == canonical(b) or category(a) == category(b) == "float":
        return True
    try:
        return int(a) == int(b)
    except ValueError:
        pass
    try:
        x, y = float(a), float(b)
    except ValueError:
        return False
    if x * y > 0 and _is_largest(x) and _is_largest(y):
        return True
    return x == y or math.isclose(x, y, rel_tol=1e-6) or (math.isnan(x) and math.isnan(y))


def _is_largest(value: float) -> bool:
    return any(math.isclose(abs(value), largest, rel_tol=1e-6) for largest in LARGEST_FINITE)


def _exact_differs(comparison: Comparison, tensors: Flags, present_t: NDArray[np.uint8], present_g: NDArray[np.uint8]) -> Flags:
    """Tensors whose statistics are kept as texts (integers beyond 2^53, complex numbers) and are not the same numbers."""
    differs = np.zeros(comparison.rows, np.bool_)
    for row in np.flatnonzero(tensors & (((present_t | present_g) & PRESENT_EXACT) != 0)).tolist():
        a = comparison.target.exact.get(int(comparison.target_row[row]))
        b = comparison.golden.exact.get(int(comparison.golden_row[row]))
        differs[row] = a is None or b is None or not all(_equal_statistic(x, y) for x, y in zip(a, b))
    return differs


def _equal_statistic(a: str, b: str) -> bool:
    if a == b or not a or not b:
        return True  # a statistic that only one framework computes says nothing
    try:
        return int(a) == int(b)
    except ValueError:
        pass
    try:
        x, y = complex(a.replace("i", "j").replace(" ", "")), complex(b.replace("i", "j").replace(" ", ""))
    except ValueError:
        return False
    return x == y or abs(x - y) <= 1e-5 * max(abs(x), abs(y))
