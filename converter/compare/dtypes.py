"""dtypes by meaning: "Float32", "torch.float32" and "mindspore.float32" are one; which kind and how precise."""

from __future__ import annotations

from functools import lru_cache

# Distance from 1 to the next number of every floating type (machine epsilon).
EPSILON = {
    "float64": 2.0**-52,
    "float32": 2.0**-23,
    "tensorfloat32": 2.0**-10,
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float8_e4m3fn": 2.0**-3,
    "float8_e4m3fnuz": 2.0**-3,
    "float8_e5m2": 2.0**-2,
    "float8_e5m2fnuz": 2.0**-2,
    "hifloat8": 2.0**-2,
    "float4_e2m1fn_x2": 2.0**-1,
    "complex64": 2.0**-23,
    "complex128": 2.0**-52,
}
_ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "bfloat": "bfloat16",
    "float8e4m3fn": "float8_e4m3fn",
    "float8e5m2": "float8_e5m2",
    "float8_e4m3": "float8_e4m3fn",
    "bool_": "bool",
}


@lru_cache(maxsize=4096)
def canonical(dtype: str) -> str:
    """The dtype in lower case without its framework ("torch.float32", "Float32" → "float32")."""
    name = dtype.rsplit(".", 1)[-1].lower()
    return _ALIASES.get(name, name)


@lru_cache(maxsize=4096)
def category(dtype: str) -> str:
    """float | integer | boolean | complex | other."""
    name = canonical(dtype)
    if name.startswith("complex"):
        return "complex"
    if name in EPSILON:
        return "float"
    if name == "bool":
        return "boolean"
    if name.startswith(("int", "uint", "qint", "quint")):
        return "integer"
    return "other"
