"""Two arranged tensors as a stream of chunks of float64, with what the metrics have in common worked out once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from converter.compare.number_formats import NumberFormat, decode, less_precise
from converter.compare.stored_tensor import StoredTensor

CHUNK = 1 << 15  # elements; a handful of float64 arrays of this size stay in a second-level cache

# What numpy may not warn of while elements are measured: infinities and NaN are found by their values.
QUIET: dict[str, Any] = {"over": "ignore", "invalid": "ignore", "under": "ignore", "divide": "ignore"}

# Squares of numbers between these neither overflow nor vanish, in sums of up to 2^60 of them.
_SQUARES_FROM, _SQUARES_TO = 1e-140, 1e140


@dataclass(frozen=True)
class PairFacts:
    """What all chunks of a pair need to know."""

    size: int  # elements
    tolerance: float
    precision: NumberFormat  # the less precise format of the two
    division_epsilon: float  # stands in for a golden zero in relative errors, as the peer does it
    golden_scale: float  # root mean square of the finite golden elements
    target_power: int  # exponents of two that keep squares of extreme float64 numbers in range
    golden_power: int


@dataclass(frozen=True)
class Chunk:
    """Elements start:start + size of both sides, as float64 or complex128, and what several metrics need of them.

    Non-finite elements are zero in `target` and `golden`. Their `difference` is 0 where both sides hold the same one
    (both NaN, or infinities of one sign; real and imaginary parts count separately), and inf where they do not.
    """

    facts: PairFacts
    start: int
    size: int
    target: NDArray[Any]
    golden: NDArray[Any]
    raw_target: NDArray[Any]  # with the non-finite elements in place
    raw_golden: NDArray[Any]
    mismatches: int  # elements that are non-finite on one side and not the same on the other
    difference: NDArray[np.float64]  # |target - golden|
    golden_magnitude: NDArray[np.float64]  # |golden|
    larger_magnitude: NDArray[np.float64]  # max(|target|, |golden|)
    relative: NDArray[np.float64]  # |target - golden| / |golden|; a golden zero counts as the division epsilon
    difference_norm: float
    golden_norm: float
    scaled_target: NDArray[Any]  # times a power of two (of all chunks the same): squares are in range
    scaled_golden: NDArray[Any]


def magnitude(numbers: NDArray[Any]) -> NDArray[np.float64]:
    absolute: NDArray[np.float64] = np.abs(numbers)
    return absolute


def dot(one: NDArray[Any], other: NDArray[Any]) -> float:
    """Re Σ one·conj(other): for complex numbers the sum over real and imaginary parts."""
    one, other = one.view(np.float64), other.view(np.float64)
    if len(one) <= 8192:
        return float(np.dot(one, other))
    # For longer vectors OpenBLAS wakes its threads, which costs a hundred times the product where the cores are busy.
    return float(np.einsum("i,i->", one, other))


def norm(numbers: NDArray[Any]) -> float:
    """Euclidean norm of float64 or complex128 numbers; no square overflows or vanishes on the way.

    Callers silence numpy's warnings of overflow and invalid operations (QUIET).
    """
    square = dot(numbers, numbers)
    if _SQUARES_FROM**2 < square < _SQUARES_TO**2:
        return math.sqrt(square)
    absolute = magnitude(numbers)
    largest = float(absolute.max(initial=0.0))
    if largest == 0 or not math.isfinite(largest):
        return largest
    power = -math.frexp(largest)[1]
    scaled = np.ldexp(absolute, power)
    return math.ldexp(math.sqrt(dot(scaled, scaled)), -power)


def chunks(target: StoredTensor, golden: StoredTensor, tolerance: float, precision: NumberFormat | None = None) -> Iterator[Chunk]:
    """All elements of two tensors of equal size, in C order. An empty pair has no chunk.

    `precision` is the format whose spacing counts; without it the less precise one of the two files.
    """
    target_pieces, golden_pieces = _pieces(target), _pieces(golden)
    facts = _facts(target, golden, target_pieces, golden_pieces, tolerance, precision)
    for number, (target_piece, golden_piece) in enumerate(zip(target_pieces(), golden_pieces())):
        yield _chunk(facts, number * CHUNK, target_piece, golden_piece)


def _pieces(tensor: StoredTensor) -> Callable[[], Iterable[NDArray[Any]]]:
    """A function that decodes the elements piece by piece, as often as it is called; a single piece only once."""
    flat = tensor.elements.reshape(-1)
    if len(flat) <= CHUNK:
        only = [decode(flat, tensor.format)] if len(flat) else []
        return lambda: only
    return lambda: (decode(flat[start : start + CHUNK], tensor.format) for start in range(0, len(flat), CHUNK))


def _facts(target: StoredTensor, golden: StoredTensor, target_pieces: Callable[[], Iterable[NDArray[Any]]],
           golden_pieces: Callable[[], Iterable[NDArray[Any]]], tolerance: float, precision: NumberFormat | None) -> PairFacts:
    golden_norm = 0.0
    for piece in golden_pieces():
        golden_norm = math.hypot(golden_norm, norm(_finite(piece)))
    return PairFacts(
        size=golden.size,
        tolerance=tolerance,
        precision=precision if precision is not None else less_precise(target.format, golden.format),
        division_epsilon=min(_division_epsilon(target.format), _division_epsilon(golden.format)),
        golden_scale=golden_norm / math.sqrt(golden.size) if golden.size else 0.0,
        target_power=_power(target, target_pieces),
        golden_power=_power(golden, golden_pieces),
    )


def _division_epsilon(number_format: NumberFormat) -> float:
    """Machine epsilon of the numpy type that the peer computes in: its own, float32 for narrower formats without one."""
    if number_format.exact or number_format.name in ("float64", "complex128"):
        return float(2.0**-52)
    return float(2.0**-10 if number_format.name == "float16" else 2.0**-23)


def _power(tensor: StoredTensor, pieces: Callable[[], Iterable[NDArray[Any]]]) -> int:
    """The exponent of two that brings the largest element near 1 where its square would leave float64's range."""
    if tensor.format.name not in ("float64", "complex128"):
        return 0
    largest = max((float(magnitude(_finite(piece)).max()) for piece in pieces()), default=0.0)
    if largest == 0 or _SQUARES_FROM < largest < _SQUARES_TO:
        return 0
    return max(-1000, min(1000, -math.frexp(largest)[1]))


def _finite(numbers: NDArray[Any]) -> NDArray[Any]:
    if numbers.dtype.kind in "iu":
        return numbers.astype(np.float64)
    finite = np.isfinite(numbers)
    return numbers if finite.all() else np.where(finite, numbers, 0)


def _chunk(facts: PairFacts, start: int, raw_target: NDArray[Any], raw_golden: NDArray[Any]) -> Chunk:
    raw_target, raw_golden, difference, finite = differences(raw_target, raw_golden)
    target, golden, mismatches = raw_target, raw_golden, 0
    if finite is not None:
        mismatches = int(np.count_nonzero(~finite & (difference != 0)))
        target, golden = np.where(finite, target, 0), np.where(finite, golden, 0)
    golden_magnitude = magnitude(golden)
    divisor = golden_magnitude if golden_magnitude.all() else np.where(golden_magnitude == 0, facts.division_epsilon, golden_magnitude)
    return Chunk(
        facts, start, len(difference), target, golden, raw_target, raw_golden, mismatches, difference, golden_magnitude,
        larger_magnitude=np.maximum(magnitude(target), golden_magnitude),
        relative=difference / divisor,
        difference_norm=norm(difference),
        golden_norm=norm(golden),
        scaled_target=target if facts.target_power == 0 else target * math.ldexp(1.0, facts.target_power),
        scaled_golden=golden if facts.golden_power == 0 else golden * math.ldexp(1.0, facts.golden_power),
    )


def differences(target: NDArray[Any], golden: NDArray[Any],
                ) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64], NDArray[np.bool_] | None]:
    """(target, golden, |target - golden|, where both are finite) of decoded numbers; both come back as float64 or complex128.

    The difference is 0 where both sides hold the same non-finite element, inf where a non-finite element has another
    opposite; None in place of the last column: everything is finite. Integers are subtracted exactly.
    """
    if target.dtype.kind in "iu" and golden.dtype.kind in "iu":
        return target.astype(np.float64), golden.astype(np.float64), _integer_distance(target, golden), None
    kind = np.complex128 if "c" in (target.dtype.kind, golden.dtype.kind) else np.float64
    target, golden = target.astype(kind, copy=False), golden.astype(kind, copy=False)
    difference = magnitude(target - golden)
    if math.isfinite(float(difference.max(initial=0.0))):  # a NaN among them makes the maximum NaN
        return target, golden, difference, None
    finite = np.isfinite(target) & np.isfinite(golden)
    difference[~finite] = np.where(_same_kind(target, golden)[~finite], 0.0, np.inf)
    return target, golden, difference, finite


def _same_kind(target: NDArray[Any], golden: NDArray[Any]) -> NDArray[np.bool_]:
    """Where both sides are NaN, or infinite with one sign."""
    if target.dtype.kind == "c":
        parts: NDArray[np.bool_] = _same_part(target.real, golden.real) & _same_part(target.imag, golden.imag)
        return parts
    return _same_part(target, golden)


def _same_part(target: NDArray[Any], golden: NDArray[Any]) -> NDArray[np.bool_]:
    both_finite = np.isfinite(target) & np.isfinite(golden)
    same: NDArray[np.bool_] = both_finite | (target == golden) | (np.isnan(target) & np.isnan(golden))
    return same


def _integer_distance(target: NDArray[Any], golden: NDArray[Any]) -> NDArray[np.float64]:
    """|target - golden| of int64 or uint64 numbers: zero only where they are equal, whatever their size."""
    if target.dtype != golden.dtype:
        signed, unsigned = (target, golden) if target.dtype.kind == "i" else (golden, target)
        below = signed < 0
        distance = _integer_distance(np.where(below, 0, signed).astype(np.uint64), unsigned)
        further: NDArray[np.float64] = distance - np.where(below, signed, 0)
        return further
    larger, smaller = np.maximum(target, golden), np.minimum(target, golden)
    # Wrap-around subtraction of the bit patterns is the exact distance, which may exceed int64.
    exact: NDArray[np.float64] = (larger.view(np.uint64) - smaller.view(np.uint64)).astype(np.float64)
    return exact
