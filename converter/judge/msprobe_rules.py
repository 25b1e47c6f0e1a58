"""The peer's verdicts (mindstudio-probe 26.2.0), for policies with `engine: msprobe`: to agree with an old result.

Reproduced as the peer does it, though `default` would not:
- only the Norm is judged in statistics mode; a golden zero, a golden infinity, None or bools against anything pass;
- inputs are excused by their own errors, a wrong weight (an "input") excuses its output;
- dtypes are compared by spelling ("Float32" is not "torch.float32"), shapes as they lie;
- gradients of parameters count as inputs of their node, so no relative rule ever looks at them;
- every tensor of a node whose name contains ".output." counts as an output;
- tensors that only golden has are ignored;
- the threshold of the one-thousandth rule is the program's (0.1), not the manual's (0.6);
- in tensor mode the elements of a tensor with other non-finite values than golden's do not count.
Not reproduced: tensors are joined by name, not by position; composed rows of fused layers, which the peer does not
have, are judged like any other; uninitialised results pass in checksum mode too (there the peer makes them errors).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.dumps.columns import MAX, MIN, NORM, PRESENT_BOOLEAN, PRESENT_MAX, PRESENT_MIN, PRESENT_NORM, LeafKind, Leaves, Role
from converter.judge import reasons
from converter.judge.policy import MsprobeThresholds, Policy
from converter.judge.reasons import Reason
from converter.judge.row_columns import of_rows
from converter.judge.sentences import number
from converter.judge.verdict import Note, Status, Verdicts
from converter.match.pairing import Pairing
from converter.tree.columns import NodeKind
from converter.tree.graph import Graph

Flags = NDArray[np.bool_]
Numbers = NDArray[np.float64]
Mark = Callable[[Flags, str, Reason], None]  # (rows, key of MESSAGES, reason)

MESSAGES = {
    "nonfinite": "error: There is nan/inf/-inf in the maximum or minimum value of NPU.",
    "relative": "error: The NormRelativeErr of output is greater than 0.5.",
    "thousandth": "error: The output of One Thousandth Err Ratio is less than 0.6, while the input is greater than 0.9.",
    "requires_grad": "error: The Required_Grad of NPU and Bench are inconsistent",
    "scalar": "error: The scalar parameters of NPU and Bench are inconsistent.",
    "dtype": "error: The dtype of NPU and Bench are inconsistent.",
    "shape": "error: The shape of NPU and Bench are inconsistent.",
    "growth": "warning: The norm relative error of output is 10 times that of input.",
    "cosine": "warning: The cosine of output is at least 0.1 lower than that of input.",
    "checksum": "error: The CRC-32 value of NPU differs from that of the bench.",
    "no_checksum": "warning: The parameter of NPU does not match the bench.",
}
_PYTHON_TYPES = (LeafKind.NUMBER, LeafKind.BOOL, LeafKind.TEXT)  # the peer gives their dtype as "<class 'int'>"
_PYTHON_OBJECTS = ("torch.Size", "slice")


@dataclass(frozen=True)
class MsprobeVerdicts:
    """The peer's verdicts: Status per row (NONE = ignored) and per pair (NONE = without data)."""

    row_status: NDArray[np.uint8]
    row_reasons: NDArray[np.uint32]
    messages: dict[int, list[str]]  # row → the peer's messages
    status: NDArray[np.uint8]
    norm_relative_error: Numbers  # [rows] ratio; NaN = N/A


def judge_like_msprobe(verdicts: Verdicts, comparison: Comparison, pairing: Pairing, target: Graph, golden: Graph,
                       policy: Policy) -> Verdicts:
    """The verdicts of the scale-aware engine with every status, reason and row error replaced by the peer's.

    Causes and the first divergence stay: the peer has none. `policy.msprobe` must be there (engine: msprobe).
    """
    if policy.msprobe is None:
        raise ValueError("the policy has no thresholds of msprobe")
    found = msprobe_verdicts(comparison, pairing, target, golden, policy.msprobe)
    mask = np.zeros(pairing.count, np.uint32)
    np.bitwise_or.at(mask, comparison.pair_of_row(), found.row_reasons)
    error = np.where(np.isnan(found.norm_relative_error), np.nan, found.norm_relative_error).astype(np.float32)
    return replace(
        verdicts,
        row_status=found.row_status,
        row_reasons=found.row_reasons,
        row_error=error,
        row_statistic=np.where(np.isnan(error), 255, NORM).astype(np.uint8),
        row_tolerance=np.full(comparison.rows, policy.msprobe.relative_output_above, np.float32),
        notes=_notes(comparison, found, policy.msprobe),
        status=found.status,
        reasons=mask,
    )


def msprobe_verdicts(comparison: Comparison, pairing: Pairing, target: Graph, golden: Graph,
                     thresholds: MsprobeThresholds) -> MsprobeVerdicts:
    """Status per row and per pair by the peer's rules for the comparison's mode."""
    rows = comparison.rows
    pair = comparison.pair_of_row()
    facts = _facts(comparison, pairing, target, golden, pair, thresholds)
    status = np.where(facts.has_target, Status.PASS, Status.NONE).astype(np.uint8)
    mask = np.zeros(rows, np.uint32)
    messages: dict[int, list[str]] = {}

    def mark(where: Flags, rule: str, reason: Reason) -> None:
        level = Status.ERROR if MESSAGES[rule].startswith("error") else Status.WARNING
        status[where] = np.maximum(status[where], level)
        mask[where] |= np.uint32(1 << reason.code)
        for row in np.flatnonzero(where).tolist():
            messages.setdefault(row, []).append(MESSAGES[rule])

    if comparison.mode == "checksum":
        _checksum_rules(comparison, facts, mark)
    elif comparison.mode != "structure":
        _rules(comparison, facts, thresholds, mark)
    else:
        status[:] = Status.NONE
    judged = np.zeros(pairing.count, np.uint8)
    np.maximum.at(judged, pair, status)
    judged[(judged > Status.NONE) & facts.uninitialised] = Status.PASS
    return MsprobeVerdicts(status, mask, messages, _with_collections(judged, pairing, target), facts.norm_error)


@dataclass(frozen=True)
class _Facts:
    """Columns over rows, then over pairs."""

    pair: NDArray[np.int64]
    has_target: Flags
    both: Flags
    output: Flags
    judged: Flags  # rows that the row rules look at
    scalar_rule: Flags  # rows that the scalar rule looks at
    exempt_dtype: Flags
    norm_error: Numbers
    count: int  # pairs
    uses_inputs: Flags  # [pairs] rules that look at inputs run
    uninitialised: Flags  # [pairs]


def _facts(comparison: Comparison, pairing: Pairing, target: Graph, golden: Graph, pair: NDArray[np.int64],
           thresholds: MsprobeThresholds) -> _Facts:
    t, g = comparison.target_row, comparison.golden_row
    has_target = t >= 0
    names = [target.tree.names[node] for node in pairing.first_target_nodes().tolist()]
    segment = [[*name.split("."), ""][1] for name in names]
    role = np.where(has_target, of_rows(comparison.target.role, t), of_rows(comparison.golden.role, g))
    in_name = np.array([".output." in f"{name}." for name in names], np.bool_)
    output = (role == Role.OUTPUT) | (in_name[pair] if len(names) else np.zeros(len(pair), np.bool_))
    has_input = np.zeros(pairing.count, np.bool_)
    has_input[pair[has_target & ~output]] = True
    ignored = np.array([name in thresholds.ignored for name in segment], np.bool_) & has_input
    placeholder = np.array([name in thresholds.placeholder_inputs for name in segment], np.bool_) & has_input
    golden_names = ["\n".join(golden.tree.names[node] for node in nodes) for _, nodes in pairing.nodes()]
    exempt = np.array([any(part in text for part in thresholds.dtype_exempt) for text in golden_names], np.bool_)
    judged = has_target & ~ignored[pair] & (output | ~placeholder[pair])
    return _Facts(
        pair, has_target, has_target & (g >= 0), output, judged, judged & ~output & ~placeholder[pair], exempt[pair],
        _norm_error(comparison), pairing.count, ~ignored & ~placeholder,
        np.array([name in thresholds.uninitialised for name in segment], np.bool_),
    )


def _rules(comparison: Comparison, facts: _Facts, thresholds: MsprobeThresholds, mark: Mark) -> None:
    """The rules of statistics and of tensor mode, in the peer's order."""
    left, right = comparison.target, comparison.golden
    t, g = comparison.target_row, comparison.golden_row
    both, judged = facts.both & facts.judged, facts.judged
    mark(both & _no_infinity(right, g) & _has_infinity(left, t), "nonfinite", reasons.NONFINITE)
    inputs, outputs = facts.has_target & ~facts.output, facts.has_target & facts.output
    if comparison.mode == "tensor":
        ratio, cosine = _tensor_metrics(comparison)
        at_least, least = _least(ratio, inputs, facts), _least(ratio, outputs, facts)
        wrong = (at_least > thresholds.thousandth_input_above) & (least < thresholds.thousandth_output_below)
        mark(_first_rows(outputs, facts, wrong & facts.uses_inputs), "thousandth", reasons.TENSOR)
    else:
        largest_input, largest_output = _largest(facts.norm_error, inputs, facts), _largest(facts.norm_error, outputs, facts)
        excused = ~(largest_input < thresholds.relative_input_below) | ~facts.uses_inputs
        mark(outputs & ~excused[facts.pair] & (facts.norm_error > thresholds.relative_output_above), "relative", reasons.STATISTICS)
    grad_t, grad_g = of_rows(left.requires_grad, t), of_rows(right.requires_grad, g)
    mark(both & (grad_t > 0) & (grad_g > 0) & (grad_t != grad_g), "requires_grad", reasons.REQUIRES_GRAD)
    texts_t, texts_g = _same_numbers(left.strings, right.strings)
    python = _is_python(left, t) & _is_python(right, g)
    other_value = texts_t[of_rows(left.value, t)] != texts_g[of_rows(right.value, g)]
    mark(facts.both & facts.scalar_rule & python & other_value, "scalar", reasons.VALUE)
    dtype_t, dtype_g = texts_t[_dtype(left, t)], texts_g[_dtype(right, g)]
    mark(both & (dtype_t >= 0) & (dtype_g >= 0) & (dtype_t != dtype_g) & ~facts.exempt_dtype, "dtype", reasons.DTYPE)
    mark(both & _shapes_differ(comparison), "shape", reasons.SHAPE)
    alone = judged & ~facts.both
    for rule, reason in (("requires_grad", reasons.MISSING), ("dtype", reasons.MISSING), ("shape", reasons.MISSING)):
        mark(alone, rule, reason)
    if comparison.mode == "tensor":
        at_least, least = _least(cosine, inputs, facts), _least(cosine, outputs, facts)
        fallen = (at_least > thresholds.cosine_input_above) & (at_least - least > thresholds.cosine_drop_above)
        mark(_first_rows(outputs, facts, fallen & facts.uses_inputs), "cosine", reasons.TENSOR)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            grown = np.where(largest_input == 0, largest_output > thresholds.growth_output_above,
                             largest_output / largest_input > thresholds.growth_factor)
        mark(_first_rows(outputs, facts, grown & facts.uses_inputs), "growth", reasons.STATISTICS)


def _checksum_rules(comparison: Comparison, facts: _Facts, mark: Mark) -> None:
    """Only the checksums count; of scalars the text of the value. Nothing else is checked."""
    left, right = comparison.target, comparison.golden
    texts_t, texts_g = _same_numbers(left.strings, right.strings)
    sums = []
    for leaves, rows, texts in ((left, comparison.target_row, texts_t), (right, comparison.golden_row, texts_g)):
        tensors = of_rows(leaves.kind, rows) == LeafKind.TENSOR
        sums.append(np.where(rows < 0, -1, texts[np.where(tensors, of_rows(leaves.checksum, rows), of_rows(leaves.value, rows))]))
    differ = facts.judged & (sums[0] != sums[1])
    missing = (sums[0] < 0) | (sums[1] < 0)
    mark(differ & ~missing, "checksum", reasons.CHECKSUM)
    mark(differ & missing, "no_checksum", reasons.MISSING)


def _norm_error(comparison: Comparison) -> Numbers:
    """|n - b| / |b| of the Norms, computed through per cent as the peer does; NaN where it writes N/A or Nan."""
    t, g = comparison.target_row, comparison.golden_row
    left, right = _norm(comparison.target, t), _norm(comparison.golden, g)
    with np.errstate(all="ignore"):
        percent = np.abs((left - right) / right) * 100
    # A golden zero is N/A; a golden infinity gives "nan%", which counts for nothing.
    return np.where((right == 0) | np.isinf(right), np.nan, percent / 100)


def _norm(leaves: Leaves, rows: NDArray[np.int64]) -> Numbers:
    present = of_rows(leaves.present, rows)
    usable = (rows >= 0) & ((present & PRESENT_NORM) > 0) & ((present & PRESENT_BOOLEAN) == 0)
    values: Numbers = leaves.statistics[rows, NORM] if leaves.rows else np.zeros(len(rows))
    return np.where(usable & (of_rows(leaves.kind, rows) != LeafKind.BOOL), values, np.nan)


def _no_infinity(leaves: Leaves, rows: NDArray[np.int64]) -> Flags:
    """Max and Min are there and finite."""
    there, finite = _max_and_min(leaves, rows)
    both: Flags = (there[0] & finite[0]) & (there[1] & finite[1])
    return both


def _has_infinity(leaves: Leaves, rows: NDArray[np.int64]) -> Flags:
    """Max or Min is NaN or infinite."""
    there, finite = _max_and_min(leaves, rows)
    either: Flags = (there[0] & ~finite[0]) | (there[1] & ~finite[1])
    return either


def _max_and_min(leaves: Leaves, rows: NDArray[np.int64]) -> tuple[Flags, Flags]:
    """[2, rows]: Max and Min are there; are finite."""
    if not leaves.rows:
        return np.zeros((2, len(rows)), np.bool_), np.zeros((2, len(rows)), np.bool_)
    present, statistics = leaves.present[rows], leaves.statistics[rows]
    there = np.stack([(rows >= 0) & ((present & bit) > 0) for bit in (PRESENT_MAX, PRESENT_MIN)])
    return there, np.isfinite(np.stack([statistics[:, MAX], statistics[:, MIN]]))


def _tensor_metrics(comparison: Comparison) -> tuple[Numbers, Numbers]:
    """One Thousandth Err Ratio and Cosine where the peer has them: more than one element, one shape but for ones."""
    usable = np.zeros(comparison.rows, np.bool_)
    for row in np.flatnonzero((comparison.target_row >= 0) & (comparison.golden_row >= 0)).tolist():
        shapes = [tuple(extent for extent in _shape(leaves, int(rows[row])) if extent != 1)
                  for leaves, rows in ((comparison.target, comparison.target_row), (comparison.golden, comparison.golden_row))]
        usable[row] = shapes[0] == shapes[1] != ()
    missing = np.full(comparison.rows, np.nan)
    ratio, cosine = comparison.metrics.get("One Thousandth Err Ratio", missing), comparison.metrics.get("Cosine", missing)
    usable &= ~(comparison.metrics.get("Nonfinite Mismatches", missing) > 0)
    cosine = np.where(cosine > 0.9999, np.round(cosine, 6), np.round(cosine, 12))
    return np.where(usable, ratio, np.nan), np.where(usable, cosine, np.nan)


def _shapes_differ(comparison: Comparison) -> Flags:
    """Both have a shape and it is not the same. None has none; scalars have []."""
    left, right = comparison.target, comparison.golden
    numbers = {shape: number for number, shape in enumerate(dict.fromkeys([(), *left.shapes, *right.shapes]))}
    sides = []
    for leaves, rows in ((left, comparison.target_row), (right, comparison.golden_row)):
        of_shape = np.array([numbers[shape] for shape in leaves.shapes] + [0], np.int64)
        kind = of_rows(leaves.kind, rows)
        sides.append(np.where((rows < 0) | (kind == LeafKind.NONE), -1, of_shape[of_rows(leaves.shape, rows)]))
    differ: Flags = (sides[0] >= 0) & (sides[1] >= 0) & (sides[0] != sides[1])
    return differ


def _shape(leaves: Leaves, row: int) -> tuple[int, ...]:
    return leaves.shapes[leaves.shape[row]] if leaves.shape[row] >= 0 else ()


def _dtype(leaves: Leaves, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """String number of what the peer calls the dtype: of a tensor its dtype, of a Python value its type."""
    kind = of_rows(leaves.kind, rows)
    python = np.where(_is_python(leaves, rows), of_rows(leaves.type, rows), -1)
    dtype: NDArray[np.int64] = np.where(kind == LeafKind.TENSOR, of_rows(leaves.dtype, rows), python)
    return np.where(rows < 0, -1, dtype)


def _is_python(leaves: Leaves, rows: NDArray[np.int64]) -> Flags:
    objects = np.array([text in _PYTHON_OBJECTS for text in leaves.strings] + [False])
    kind = of_rows(leaves.kind, rows)
    python: Flags = np.isin(kind, _PYTHON_TYPES) | ((kind == LeafKind.OTHER) & objects[of_rows(leaves.type, rows)])
    return python & (rows >= 0)


def _same_numbers(left: list[str], right: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers for the texts of two string tables; equal texts have equal numbers. The last entry (-1) serves "not there"."""
    numbers: dict[str, int] = {}
    return (np.array([numbers.setdefault(text, len(numbers)) for text in left] + [-1], np.int64),
            np.array([numbers.setdefault(text, len(numbers)) for text in right] + [-1], np.int64))


def _largest(values: Numbers, where: Flags, facts: _Facts) -> Numbers:
    """[pairs] largest usable value, at least 0."""
    largest = np.zeros(facts.count)
    chosen = where & ~np.isnan(values)
    np.maximum.at(largest, facts.pair[chosen], values[chosen])
    return largest


def _least(values: Numbers, where: Flags, facts: _Facts) -> Numbers:
    """[pairs] least usable value, at most 1."""
    least = np.ones(facts.count)
    chosen = where & ~np.isnan(values)
    np.minimum.at(least, facts.pair[chosen], values[chosen])
    return least


def _first_rows(where: Flags, facts: _Facts, of_pair: Flags) -> Flags:
    """The first such row of each chosen pair."""
    first = np.zeros(len(where), np.bool_)
    chosen = np.flatnonzero(where & of_pair[facts.pair]) if facts.count else np.zeros(0, np.int64)
    _, at = np.unique(facts.pair[chosen], return_index=True)
    first[chosen[at]] = True
    return first


def _with_collections(status: NDArray[np.uint8], pairing: Pairing, target: Graph) -> NDArray[np.uint8]:
    """A collection of APIs shows the worst status inside; modules do not show their children."""
    tree, firsts = target.tree, pairing.first_target_nodes()
    of_node = np.zeros(tree.count, np.uint8)
    of_node[firsts] = status
    for place in np.flatnonzero(tree.kind[firsts] == NodeKind.API_COLLECTION).tolist():
        inside = of_node[firsts[place] + 1 : int(tree.end[firsts[place]])]
        status[place] = inside.max() if len(inside) else Status.NONE
    return status


def _notes(comparison: Comparison, found: MsprobeVerdicts, thresholds: MsprobeThresholds) -> list[Note]:
    """The peer's own words for every row with a message, beside the numbers that our sentences name."""
    notes = []
    for row, texts in sorted(found.messages.items()):
        mask, t, g = int(found.row_reasons[row]), int(comparison.target_row[row]), int(comparison.golden_row[row])
        arguments = {"message": "\n".join(texts)}
        if mask >> reasons.STATISTICS.code & 1:
            a, b = float(comparison.target.statistics[t, NORM]), float(comparison.golden.statistics[g, NORM]) if g >= 0 else np.nan
            notes.append(Note(row, reasons.STATISTICS.code, {
                "statistic": "Norm", "target": number(a, b), "golden": number(b, a), "error": number(float(found.norm_relative_error[row])),
                "tolerance": f"{thresholds.relative_output_above:g}", **arguments}))
        if mask >> reasons.TENSOR.code & 1:
            error = comparison.metrics.get("Relative Norm Err", np.full(comparison.rows, np.nan))[row]
            notes.append(Note(row, reasons.TENSOR.code, {"error": number(float(error)), "tolerance": "by the peer's rule", **arguments}))
    return notes
