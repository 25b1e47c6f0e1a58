"""One key for an API however a framework spells it ("__truediv__", "true_divide" and "Div" are one operation)."""

from __future__ import annotations

from functools import lru_cache

# MindSpore primitives and Python operators → the name PyTorch uses. Facts of the two frameworks' API lists.
_SAME = {
    "truediv": "div",
    "truedivide": "div",
    "realdiv": "div",
    "divide": "div",
    "multiply": "mul",
    "subtract": "sub",
    "negative": "neg",
    "power": "pow",
    "batchmatmul": "matmul",
    "bmm": "matmul",
    "equal": "eq",
    "notequal": "ne",
    "greater": "gt",
    "less": "lt",
    "greaterequal": "ge",
    "lessequal": "le",
    "concat": "cat",
    "concatenate": "cat",
    "reducesum": "sum",
    "reducemean": "mean",
    "reducemax": "amax",
    "biasadd": "add",
    "cast": "to",
    "absolute": "abs",
    "logicalnot": "not",
    "invert": "not",
    "logicaland": "and",
    "logicalor": "or",
    "expanddims": "unsqueeze",
    "floordiv": "floordivide",
}


@lru_cache(maxsize=65536)
def api_key(label: str) -> str:
    """Comparison key of an API name: lower case, without underscores and operator dunders, synonyms unified.

    An in-place form ("add_", "__iadd__") has a key of its own family: "add!".
    """
    inplace = False
    name = label
    if name.startswith("__") and name.endswith("__") and len(name) > 4:
        name = name[2:-2]
        if name.startswith("i") and name[1:] in _INPLACE_OPERATORS:
            name, inplace = name[1:], True
        elif name.startswith("r") and name[1:] in _INPLACE_OPERATORS:
            name = name[1:]
    elif name.endswith("_") and not name.endswith("__"):
        name, inplace = name[:-1], True
    key = name.replace("_", "").lower()
    key = _SAME.get(key, key)
    return key + "!" if inplace else key


_INPLACE_OPERATORS = frozenset({"add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift"})
