"""What one leaf of an entry means: the rules of the dump format, applied to plain JSON values.

Format: msprobe 26.2 dumps. A leaf is an object with a text `type` (or at least a text `dtype`); any other object is a container
(keyword arguments, namedtuple, dataclass, P2P operation), and so is every list. A container adds its position or
key to the name: "0.last_hidden_state", "position_embeddings.1". Empty lists hold nothing and are dropped; an empty object
where a leaf should stand is what the collector writes for something it cannot describe, and is kept as OTHER.
"""

from __future__ import annotations

import json
import math
from typing import Any, Optional

from converter.dumps.columns import (
    PRESENT_BOOLEAN,
    PRESENT_EXACT,
    PRESENT_MAX,
    PRESENT_MEAN,
    PRESENT_MIN,
    PRESENT_NORM,
    PRESENT_NUMBERS,
    LeafKind,
    Role,
)

# role, kind, name, type, dtype, shape, requires_grad, present, Max, Min, Mean, Norm, value, checksum, data_name, exact
Row = tuple[int, int, str, Optional[str], Optional[str], Optional[tuple[int, ...]], int, int, float, float, float, float,
            Optional[str], Optional[str], Optional[str], Optional[tuple[str, str, str, str]]]

MISSING_NUMBER = math.nan
LARGEST_EXACT_INTEGER = 2 ** 53

# The keys of an entry in the order in which their leaves stand in the columns.
GROUPS = (("input_args", Role.INPUT), ("input", Role.INPUT), ("input_kwargs", Role.KWARG), ("parameters", Role.PARAMETER),
          ("output", Role.OUTPUT))
GROUP_KEYS = frozenset(key for key, _ in GROUPS)

_STATISTICS = (("Max", PRESENT_MAX), ("Min", PRESENT_MIN), ("Mean", PRESENT_MEAN), ("Norm", PRESENT_NORM))
_TENSOR_KEYS = frozenset(("type", "dtype", "shape", "Max", "Min", "Mean", "Norm", "requires_grad", "md5", "data_name"))
_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf, "infinity": math.inf, "-infinity": -math.inf,
               "+inf": math.inf, "-nan": math.nan}


def is_parameters_grad(name: str) -> bool:
    """Whether a node name is one of the two forms `….parameters_grad` and `….parameters_grad.{index}`."""
    if name.endswith(".parameters_grad"):
        return True
    stem, _, index = name.rpartition(".")
    return index.isdecimal() and stem.endswith(".parameters_grad")


def flatten_entry(entry: dict[str, Any], gradients: bool) -> list[Row]:
    """The rows of one entry of dump.json. `gradients`: it is a parameters_grad entry (parameter name → one-element list)."""
    rows: list[Row] = []
    if gradients:
        for name, value in entry.items():
            if isinstance(value, list) and len(value) == 1:
                value = value[0]
            flatten(Role.GRADIENT, name, value, rows)
        return rows
    for key, role in GROUPS:
        group = entry.get(key)
        if group is None or group == {}:
            continue
        if isinstance(group, list):
            for i, value in enumerate(group):
                flatten(role, str(i), value, rows)
        elif isinstance(group, dict) and not is_leaf(group):
            for name, value in group.items():
                flatten(role, name, value, rows)
        else:
            flatten(role, "0", group, rows)
    return rows


def is_leaf(value: dict[str, Any]) -> bool:
    """Whether an object is a leaf and no container: containers hold leaves, and no text, under these keys."""
    return isinstance(value.get("type"), str) or isinstance(value.get("dtype"), str)


def flatten(role: int, name: str, value: Any, rows: list[Row]) -> None:
    """Append the rows of a value, depth first. Iterative: values may be nested thousands of levels deep."""
    todo = [(name, value)]
    while todo:
        name, value = todo.pop()
        if isinstance(value, list):
            todo.extend((f"{name}.{i}", value[i]) for i in range(len(value) - 1, -1, -1))
        elif isinstance(value, dict):
            if is_leaf(value):
                rows.append(leaf_row(role, name, value))
            elif value:
                children = [(f"{name}.{key}", child) for key, child in value.items() if key != "class_type"]
                todo.extend(reversed(children))
            else:
                rows.append(_row(role, LeafKind.OTHER, name))
        else:
            rows.append(_plain_row(role, name, None, value))


def leaf_row(role: int, name: str, leaf: dict[str, Any]) -> Row:
    """The row of an object that `is_leaf`."""
    if "dtype" in leaf or "shape" in leaf:
        return tensor_row(role, name, leaf)
    type_name = leaf["type"]
    rest = {key: value for key, value in leaf.items() if key != "type"}
    if len(rest) == 1 or "value" in rest:
        return _plain_row(role, name, type_name, rest["value"] if "value" in rest else next(iter(rest.values())))
    if "group_ranks" in rest:
        return _plain_row(role, name, type_name, rest["group_ranks"])
    return _plain_row(role, name, type_name, rest) if rest else _row(role, LeafKind.OTHER, name, type_name)


def _row(role: int, kind: int, name: str, type_name: Optional[str] = None, value: Optional[str] = None) -> Row:
    none = MISSING_NUMBER
    return (role, kind, name, type_name, None, None, 0, 0, none, none, none, none, value, None, None, None)


def _plain_row(role: int, name: str, type_name: Optional[str], value: Any) -> Row:
    """A leaf that is no tensor. A float may be spelled as text: "nan", "inf"."""
    if value is None:
        if type_name is None:
            return _row(role, LeafKind.NONE, name)
        return _row(role, LeafKind.OTHER, name, type_name, "null")
    if isinstance(value, bool):
        return _row(role, LeafKind.BOOL, name, type_name or "bool", str(value))
    if isinstance(value, str):
        number = _NON_FINITE.get(value.lower()) if type_name == "float" else None
        if number is None:
            return _row(role, LeafKind.TEXT, name, type_name or "str", value)
        value = number
    if isinstance(value, (int, float)):
        text = str(value) if isinstance(value, int) else repr(value)
        number = nearest_float(value)
        exact = isinstance(value, int) and abs(value) > LARGEST_EXACT_INTEGER
        present = PRESENT_NUMBERS | (PRESENT_EXACT if exact else 0)
        return (role, LeafKind.NUMBER, name, type_name or type(value).__name__, None, None, 0, present, number, number, number, number,
                text, None, None, (text, text, text, text) if exact else None)
    return _row(role, LeafKind.OTHER, name, type_name, json.dumps(value, ensure_ascii=False))


def tensor_row(role: int, name: str, leaf: dict[str, Any]) -> Row:
    """The row of a tensor. Fields that have no column (layout, device mesh …) are kept as JSON text in `value`."""
    numbers, texts = [], []
    present = 0
    exact = False
    for key, bit in _STATISTICS:
        number, text, is_number = _statistic(leaf.get(key))
        numbers.append(number)
        texts.append(text)
        if is_number:
            present |= bit
            if isinstance(leaf.get(key), bool):
                present |= PRESENT_BOOLEAN
        if text and (not is_number or _is_rounded(leaf[key], number)):
            exact = True
    extra = {key: value for key, value in leaf.items() if key not in _TENSOR_KEYS and value is not None}
    return (role, LeafKind.TENSOR, name, _text(leaf.get("type")), _text(leaf.get("dtype")), shape_of(leaf.get("shape")),
            requires_grad_of(leaf.get("requires_grad")), present | (PRESENT_EXACT if exact else 0),
            numbers[0], numbers[1], numbers[2], numbers[3],
            json.dumps(extra, ensure_ascii=False) if extra else None, _text(leaf.get("md5")) or None, _file_name(leaf.get("data_name")),
            (texts[0], texts[1], texts[2], texts[3]) if exact else None)


def _statistic(value: Any) -> tuple[float, str, bool]:
    """One of Max, Min, Mean, Norm: the nearest float64, its exact text ("" = missing), and whether it is a number."""
    if value is None:
        return MISSING_NUMBER, "", False
    if isinstance(value, float):
        return value, repr(value), True
    if isinstance(value, int):
        return nearest_float(value), str(value), True
    if isinstance(value, str):
        text = value.strip().lower()
        if text in _NON_FINITE:
            return _NON_FINITE[text], value, True
        try:
            return float(text), value, True
        except ValueError:
            return MISSING_NUMBER, value, False
    return MISSING_NUMBER, json.dumps(value, ensure_ascii=False), False


def _is_rounded(value: Any, number: float) -> bool:
    """Whether float64 does not hold the number as the dump spells it (integers beyond 2^53, digits in a text)."""
    if isinstance(value, str):
        return value.strip().lower() not in _NON_FINITE and value != repr(number)
    return isinstance(value, int) and abs(value) > LARGEST_EXACT_INTEGER


def nearest_float(value: Any) -> float:
    """As float64; an integer beyond its range becomes an infinity (its exact text is kept beside it)."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def requires_grad_of(value: Any) -> int:
    """0 unknown, 1 false, 2 true."""
    if isinstance(value, str):
        value = {"true": True, "false": False}.get(value.lower())
    return 0 if not isinstance(value, bool) else 2 if value else 1


def shape_of(value: Any) -> Optional[tuple[int, ...]]:
    """A shape, or None where the dump has none or something else than a list of integers (the fast reader
    decodes lists to tuples)."""
    if isinstance(value, (list, tuple)) and all(type(size) is int and abs(size) < 2 ** 63 for size in value):
        return tuple(value)
    return None


def _text(value: Any) -> Optional[str]:
    return value if isinstance(value, str) else None


def _file_name(value: Any) -> Optional[str]:
    return value if isinstance(value, str) and value not in ("", "-1") else None
