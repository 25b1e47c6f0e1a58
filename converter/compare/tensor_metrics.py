"""The metrics of tensor mode: one registered function each, fed chunk by chunk.

A metric is a function of one chunk that returns one number for each entry of its `merge`; the numbers of all chunks
are merged entry by entry, and `finish` makes the metric's columns of them. To add a metric, write one such function.

Two conventions hold for all of them. Non-finite elements that are the same on both sides are left out (they count as
equal zeros); any other non-finite element makes every distance inf, which no tolerance admits. NaN means "not defined
for this tensor" and never stands for agreement.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from converter.compare.number_formats import NumberFormat
from converter.compare.stored_tensor import StoredTensor
from converter.compare.tensor_chunks import QUIET, Chunk, chunks, dot, norm

Merge = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Metric:
    """A registered metric. `identical` holds its columns' values where both sides are bit for bit the same."""

    columns: tuple[str, ...]
    of_chunk: Callable[[Chunk], tuple[Any, ...]]
    merge: tuple[Merge, ...]
    finish: Callable[..., tuple[float, ...]]
    identical: tuple[float, ...]


METRICS: list[Metric] = []


def metric(*columns: str, merge: tuple[Merge, ...], identical: tuple[float, ...],
           finish: Callable[..., tuple[float, ...]] = lambda *numbers: numbers) -> Callable[[Callable[[Chunk], tuple[Any, ...]]], Metric]:
    """Registers the decorated function of a chunk as a metric with these columns."""

    def register(of_chunk: Callable[[Chunk], tuple[Any, ...]]) -> Metric:
        registered = Metric(columns, of_chunk, merge, finish, identical)
        METRICS.append(registered)
        return registered

    return register


def columns() -> list[str]:
    """Names of all columns, in the order of registration."""
    return [column for registered in METRICS for column in registered.columns]


def measure_pair(target: StoredTensor, golden: StoredTensor, tolerance: float,
                 precision: NumberFormat | None = None) -> NDArray[np.float64]:
    """All metrics of two tensors of equal shape: one float64 for each of `columns()`.

    `tolerance` is the relative error that Outside Tolerance admits; `precision` the format whose spacing is one ULP
    (default: the less precise one of the two).
    """
    if target.shape != golden.shape:
        raise ValueError(f"shapes {target.shape} and {golden.shape} differ")
    if _identical(target, golden):
        return np.array([value for registered in METRICS for value in registered.identical], np.float64)
    totals: list[tuple[Any, ...]] = []
    with np.errstate(**QUIET):
        for chunk in chunks(target, golden, tolerance, precision):
            parts = [registered.of_chunk(chunk) for registered in METRICS]
            totals = parts if not totals else [_merged(*of_one) for of_one in zip(METRICS, totals, parts)]
    return np.array([value for registered, total in zip(METRICS, totals) for value in registered.finish(*total)], np.float64)


def _merged(registered: Metric, total: tuple[Any, ...], part: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(merge(one, other) for merge, one, other in zip(registered.merge, total, part))


def _identical(target: StoredTensor, golden: StoredTensor) -> bool:
    """Whether all bits are the same. True for two empty tensors."""
    if target.size == 0:
        return True
    if target.format != golden.format:
        return False
    one, other = target.elements, golden.elements
    if not (one.flags.c_contiguous and other.flags.c_contiguous):
        return False  # comparing would copy; the metrics say the same
    one, other = one.reshape(-1), other.reshape(-1)
    if one[:64].tobytes() != other[:64].tobytes():  # most that differ do so at once
        return False
    return bool(np.array_equal(one.view(np.uint8), other.view(np.uint8)))


# ---- the peer's metrics, by its names ------------------------------------------------------------------------------


def _finish_cosine(product: float, target_norm: float, golden_norm: float, mismatches: int) -> tuple[float]:
    if mismatches:
        return (math.nan,)
    if target_norm == 0 or golden_norm == 0:
        return (1.0 if target_norm == golden_norm else math.nan,)
    return (max(-1.0, min(1.0, product / target_norm / golden_norm)),)


@metric("Cosine", merge=(operator.add, math.hypot, math.hypot, operator.add), finish=_finish_cosine, identical=(1.0,))
def cosine(chunk: Chunk) -> tuple[float, float, float, int]:
    """Re(t·ḡ) / (‖t‖ ‖g‖). Two zero tensors have 1, one zero tensor NaN: it has no direction."""
    target, golden = chunk.scaled_target, chunk.scaled_golden
    return dot(target, golden), norm(target), chunk.golden_norm if golden is chunk.golden else norm(golden), chunk.mismatches


@metric("EucDist", merge=(math.hypot,), identical=(0.0,))
def euclidean_distance(chunk: Chunk) -> tuple[float]:
    """‖t - g‖ = √Σ|t - g|²."""
    return (chunk.difference_norm,)


@metric("MaxAbsErr", merge=(max,), identical=(0.0,))
def largest_absolute_error(chunk: Chunk) -> tuple[float]:
    """max |t - g|."""
    return (float(chunk.difference.max()),)


@metric("MaxRelativeErr", merge=(max,), identical=(0.0,))
def largest_relative_error(chunk: Chunk) -> tuple[float]:
    """max |t - g| / |g|; where g is 0 the machine epsilon of the type takes its place. A ratio, not a percentage."""
    return (float(chunk.relative.max()),)


def _share(count: float, size: int) -> tuple[float]:
    return (count / size,)


@metric("One Thousandth Err Ratio", merge=(operator.add, operator.add), finish=_share, identical=(1.0,))
def one_thousandth(chunk: Chunk) -> tuple[int, int]:
    """Share of the elements with |t - g| / |g| < 0.001."""
    return int(np.count_nonzero(chunk.relative < 0.001)), chunk.size


@metric("Five Thousandths Err Ratio", merge=(operator.add, operator.add), finish=_share, identical=(1.0,))
def five_thousandths(chunk: Chunk) -> tuple[int, int]:
    """Share of the elements with |t - g| / |g| < 0.005."""
    return int(np.count_nonzero(chunk.relative < 0.005)), chunk.size


# ---- ours ----------------------------------------------------------------------------------------------------------


def _finish_relative_norm(difference: float, golden: float) -> tuple[float]:
    if difference == 0:
        return (0.0,)
    return (difference / golden if golden else math.inf,)


@metric("Relative Norm Err", merge=(math.hypot, math.hypot), finish=_finish_relative_norm, identical=(0.0,))
def relative_norm_error(chunk: Chunk) -> tuple[float, float]:
    """‖t - g‖ / ‖g‖: the error against the tensor's own scale. Something against zeros is inf, zeros against zeros 0."""
    return chunk.difference_norm, chunk.golden_norm


@metric("Outside Tolerance", merge=(operator.add, operator.add), finish=_share, identical=(0.0,))
def outside_tolerance(chunk: Chunk) -> tuple[float, int]:
    """Share of the elements with |t - g| > tolerance · max(|g|, √(Σ|g|²/n)).

    The root mean square keeps elements near zero from counting: they carry the rounding of their larger neighbours.
    """
    limit = np.maximum(chunk.golden_magnitude, chunk.facts.golden_scale)
    limit *= chunk.facts.tolerance
    outside = int(np.count_nonzero(chunk.difference > limit))
    return math.nan if math.isnan(chunk.facts.tolerance) else outside, chunk.size


@metric("Nonfinite Mismatches", merge=(operator.add,), identical=(0.0,))
def nonfinite_mismatches(chunk: Chunk) -> tuple[int]:
    """Number of elements that are NaN or infinite on one side and not the same on the other."""
    return (chunk.mismatches,)


@metric("ULP Distance", merge=(max,), identical=(0.0,))
def ulp_distance(chunk: Chunk) -> tuple[float]:
    """max |t - g| / ulp(max(|t|, |g|)), ulp(x) = 2^(max(exponent(x), least exponent) - fraction bits) of the less precise format.

    How many numbers of that format lie between the two, counted at the larger one: a difference in sign is at most
    2^(fraction bits + 2), not the number of all floats between. Integers and booleans have ulp 1.
    """
    precision = chunk.facts.precision
    if chunk.mismatches:
        return (math.inf,)
    if precision.exact:
        return (float(chunk.difference.max()),)
    exponent = (chunk.larger_magnitude.view(np.int64) >> 52) - 1023  # float64's own exponent field; zero and subnormals clip
    np.maximum(exponent, precision.least_exponent, out=exponent)
    exponent -= precision.fraction_bits
    if precision.fraction_bits < 52:
        # 2^-exponent written into the exponent field: several times faster than ldexp, in range for all but float64.
        return (float((chunk.difference * ((1023 - exponent) << 52).view(np.float64)).max()),)
    return (float(np.ldexp(chunk.difference, -exponent).max()),)


# (difference, index, target, golden) of one element
def _worse(one: tuple[float, ...], other: tuple[float, ...]) -> tuple[float, ...]:
    return other if other[0] > one[0] else one


def _finish_worst(worst: tuple[float, ...]) -> tuple[float, ...]:
    return worst[1:] if worst[0] > 0 else (math.nan, math.nan, math.nan)


@metric("Worst Index", "Worst Target", "Worst Golden", merge=(_worse,), finish=_finish_worst, identical=(math.nan,) * 3)
def worst_element(chunk: Chunk) -> tuple[tuple[float, ...]]:
    """The first element with the largest |t - g|: its number in C order and both values (of complex ones the magnitude).

    Non-finite mismatches come before everything else. NaN where nothing differs.
    """
    at = int(chunk.difference.argmax())
    return ((float(chunk.difference[at]), chunk.start + at, _number(chunk.raw_target[at]), _number(chunk.raw_golden[at])),)


def _number(value: Any) -> float:
    return float(abs(value)) if isinstance(value, complex) else float(value)
