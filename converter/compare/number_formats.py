"""How the elements of a tensor are stored, and how to read them as float64, complex128 or exact integers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from converter.compare.dtypes import canonical


@dataclass(frozen=True)
class NumberFormat:
    """One number format.

    `fraction_bits` (explicit bits of the fraction) and `least_exponent` (of the smallest normal number) give the
    spacing of the format's numbers: 2^(max(exponent(x), least_exponent) - fraction_bits). Exact formats have spacing 1.
    """

    name: str
    kind: str  # float | complex | integer | bool
    stored: str  # little-endian numpy dtype of one element as it lies in a file
    fraction_bits: int = 0
    least_exponent: int = 0

    @property
    def exact(self) -> bool:
        return self.kind in ("integer", "bool")

    @property
    def width(self) -> int:
        """Bytes of one element."""
        return np.dtype(self.stored).itemsize

    @property
    def epsilon(self) -> float:
        """Distance from 1.0 to the next number; 1.0 for exact formats."""
        return float(2.0**-self.fraction_bits)


# Sources: IEEE 754-2019 (binary16, 32, 64); the OCP 8-bit floating point specification (e4m3fn, e5m2, e8m0);
# for the "fnuz" formats the definitions in ONNX's documentation of float8.
_FORMATS = (
    NumberFormat("float64", "float", "<f8", 52, -1022),
    NumberFormat("float32", "float", "<f4", 23, -126),
    NumberFormat("float16", "float", "<f2", 10, -14),
    NumberFormat("bfloat16", "float", "<u2", 7, -126),
    NumberFormat("float8_e4m3fn", "float", "|u1", 3, -6),
    NumberFormat("float8_e5m2", "float", "|u1", 2, -14),
    NumberFormat("float8_e4m3fnuz", "float", "|u1", 3, -7),
    NumberFormat("float8_e5m2fnuz", "float", "|u1", 2, -15),
    NumberFormat("float8_e8m0fnu", "float", "|u1", 0, -127),
    NumberFormat("complex128", "complex", "<c16", 52, -1022),
    NumberFormat("complex64", "complex", "<c8", 23, -126),
    NumberFormat("complex32", "complex", "<u4", 10, -14),
    NumberFormat("int64", "integer", "<i8"),
    NumberFormat("int32", "integer", "<i4"),
    NumberFormat("int16", "integer", "<i2"),
    NumberFormat("int8", "integer", "|i1"),
    NumberFormat("uint64", "integer", "<u8"),
    NumberFormat("uint32", "integer", "<u4"),
    NumberFormat("uint16", "integer", "<u2"),
    NumberFormat("uint8", "integer", "|u1"),
    NumberFormat("bool", "bool", "|b1"),
)
FORMATS = {number_format.name: number_format for number_format in _FORMATS}

def format_of(spelled: str) -> NumberFormat | None:
    """The format that a dump calls `torch.bfloat16`, `BFloat16`, `mindspore.bfloat16` …; None if it is not known."""
    return FORMATS.get(canonical(spelled))


def less_precise(one: NumberFormat, other: NumberFormat) -> NumberFormat:
    """The format with the larger spacing near 1. An exact format against a float is as precise as the float."""
    if one.exact or other.exact:
        return other if one.exact else one
    return one if one.fraction_bits <= other.fraction_bits else other


def decode(elements: NDArray[Any], number_format: NumberFormat) -> NDArray[Any]:
    """Stored elements as numbers: float64 for floats, complex128, int64 or uint64 for exact formats. Same shape."""
    name = number_format.name
    if name == "bfloat16":
        # A bfloat16 is the upper half of a float32.
        upper: NDArray[Any] = elements.astype(np.uint32)
        upper <<= np.uint32(16)
        return upper.view(np.float32).astype(np.float64)
    if name.startswith("float8"):
        values: NDArray[np.float64] = _float8_table(name)[elements]
        return values
    if name == "complex32":
        halves = np.ascontiguousarray(elements).reshape(-1).view("<f2").astype(np.float64)
        return halves.view(np.complex128).reshape(elements.shape)
    if number_format.exact:
        return elements.astype(np.uint64 if name == "uint64" else np.int64)
    return elements.astype(np.complex128 if number_format.kind == "complex" else np.float64)


@cache
def _float8_table(name: str) -> NDArray[np.float64]:
    """The 256 values of an 8-bit format, by code."""
    if name == "float8_e8m0fnu":
        scales = np.ldexp(1.0, np.arange(256) - 127)
        scales[255] = np.nan
        return scales
    number_format = FORMATS[name]
    codes = np.arange(256)
    bits = number_format.fraction_bits
    fraction = (codes & ((1 << bits) - 1)) / float(1 << bits)
    exponent = (codes & 0x7F) >> bits
    # The smallest normal number has exponent code 1; code 0 is subnormal: same exponent, no implicit one.
    magnitude = np.where(exponent == 0, np.ldexp(fraction, number_format.least_exponent),
                         np.ldexp(1.0 + fraction, exponent - 1 + number_format.least_exponent))
    values: NDArray[np.float64] = np.where(codes >= 128, -magnitude, magnitude)
    if name.endswith("fnuz"):
        values[128] = np.nan  # neither a negative zero nor infinities
    elif name == "float8_e4m3fn":
        values[[0x7F, 0xFF]] = np.nan
    else:  # e5m2 follows IEEE 754
        top = (codes & 0x7F) >> bits == 31
        values[top] = np.nan
        values[[0x7C, 0xFC]] = np.inf, -np.inf
    return values
