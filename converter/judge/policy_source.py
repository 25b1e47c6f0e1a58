"""The schema of policy files, and their text turned into checked values with places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Callable, Union

import yaml

from converter.errors import UserError
from converter.judge.policy_rules import read_rules
from converter.judge.policy_values import read_names, read_number, read_patterns, read_text, read_word, said
from converter.judge.reasons import CATALOGUE, DECOMPOSITION, IGNORED, OTHER_CODE
from converter.messages import message
from converter.yaml_nodes import Node
from converter.yaml_source import check_tag, compose, did_you_mean, entries, error_at, error_in, is_empty

SEVERITIES = ("note", "warning", "error", "not_comparable")
ENGINES = ("scale_aware", "msprobe")
# These say why a row is not judged: no severity changes them.
SETTLED = (IGNORED, OTHER_CODE, DECOMPOSITION)
TOLERANCES = ("float64", "float32", "tensorfloat32", "float16", "bfloat16", "float8", "complex", "integer", "boolean", "other")

Reader = Callable[[Node, str, str], object]  # (node, key, file) → value; raises UserError
Schema = Mapping[str, Union[Reader, "Schema"]]


def _at_least(least: float) -> Reader:
    return lambda node, key, file: read_number(node, key, file, least)


def _tolerance(node: Node, key: str, file: str) -> float:
    return read_number(node, key, file, endless=True)


def _divisor(node: Node, key: str, file: str) -> float:
    """Errors are divided by it: .inf switches a statistic off, 0 would mean nothing."""
    return read_number(node, key, file, endless=True, positive=True)


def _one_of(words: tuple[str, ...]) -> Reader:
    return lambda node, key, file: read_word(node, words, key, file)


SCHEMA: Schema = {
    "name": read_text,
    "extends": read_text,
    "engine": _one_of(ENGINES),
    "tolerances": {dtype: {"warning": _tolerance, "error": _tolerance} for dtype in TOLERANCES},
    "roles": {role: _at_least(0.0) for role in ("activation", "gradient", "parameter")},
    "statistics": dict.fromkeys(("Max", "Min", "Mean", "Norm"), _divisor),
    "noise": {"times": _at_least(0.0), "most": _at_least(1.0)},
    "rounding": _at_least(0.0),
    "gain": _at_least(1.0),
    "severities": {reason.id: _one_of(SEVERITIES) for reason in CATALOGUE if reason not in SETTLED},
    "apis": dict.fromkeys(("uninitialised", "placeholder_inputs", "receiving", "cancelling"), read_names),
    "ignore": read_patterns,
    "rules": read_rules,
    "msprobe": {
        "relative": {"input_below": _at_least(0.0), "output_above": _at_least(0.0)},
        "growth": {"factor": _at_least(0.0), "output_above": _at_least(0.0)},
        "thousandth": {"input_above": _at_least(0.0), "output_below": _at_least(0.0)},
        "cosine": {"input_above": _at_least(0.0), "drop_above": _at_least(0.0)},
        "dtype_exempt": read_names,
        "apis": dict.fromkeys(("ignored", "placeholder_inputs", "uninitialised"), read_names),
    },
}


@dataclass(frozen=True)
class Value:
    """One checked value and where its key stands."""

    value: object
    file: str
    line: int
    column: int


def read_values(text: str, file: str) -> dict[str, Value]:
    """Check the text of a policy file; `file` is what messages call it.

    Returns:
        Path of keys ("tolerances.float32.warning") → Value: float, str, or a tuple of str, re.Pattern or PolicyRule.

    Raises:
        UserError: not YAML, an unknown key, a key twice, a value of another kind; with line and column.
    """
    root = compose(text, file)
    if root is None or is_empty(root):
        raise UserError(message("policy.empty", "{file}: the file is empty: write 'extends: default' and below it what is to differ",
                                file=file))
    found: dict[str, Value] = {}
    _mapping(root, SCHEMA, "", file, found)
    return found


def _mapping(node: Node, schema: Schema, above: str, file: str, found: dict[str, Value]) -> None:
    if not isinstance(node, yaml.MappingNode):
        place = f"'{above}'" if above else message("policy.file", "a policy file")
        raise error_in(file, node, message("policy.no_block", "{place} holds 'key: value' with the keys {keys}, but {found} stands here",
                                           place=place, keys=tuple(schema), found=said(node)))
    check_tag(node, file)
    for entry in entries(node, file):
        key = entry.key.strip()
        path = f"{above}.{key}" if above else key
        if key not in schema:
            where = message("policy.in_key", "in '{key}'", key=above) if above else message("policy.in_policy", "in a policy")
            raise error_at(
                file,
                entry.line,
                entry.column,
                message(
                    "policy.unknown_key", "'{key}' means nothing {where}: {advice}", key=key, where=where, advice=did_you_mean(key, schema)
                ),
            )
        reader = schema[key]
        if isinstance(reader, Mapping):
            _mapping(entry.value, reader, path, file, found)
        else:
            found[path] = Value(reader(entry.value, path, file), file, entry.line, entry.column)


def every_key(schema: Schema = SCHEMA, above: str = "") -> list[str]:
    """All paths of keys, in the order of the schema."""
    found: list[str] = []
    for key, reader in schema.items():
        path = f"{above}.{key}" if above else key
        found.extend(every_key(reader, path) if isinstance(reader, Mapping) else [path])
    return found
