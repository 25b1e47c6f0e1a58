"""`rules` of a policy file: tolerances for single places."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional

import yaml

from converter.compare.dtypes import EPSILON, canonical, category
from converter.judge.policy_values import read_items, read_names, read_number, read_pattern, read_word, said
from converter.messages import message
from converter.yaml_nodes import Node
from converter.yaml_source import check_tag, did_you_mean, entries, error_at, error_in

ROLES = ("input", "parameter", "output", "gradient")
_KEYS = ("nodes", "roles", "dtypes", "warning", "error")
_INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_GROUPS = {
    "float8": tuple(name for name in EPSILON if "float8" in name or "float4" in name),
    "complex": tuple(name for name in EPSILON if name.startswith("complex")),
    "integer": _INTEGERS,
    "boolean": ("bool",),
}


@dataclass(frozen=True)
class PolicyRule:
    """One entry of `rules`. An empty set stands for all; None leaves the tolerance as it is."""

    nodes: re.Pattern[str]  # searched in the node name
    roles: frozenset[str]  # of ROLES
    dtypes: frozenset[str]  # as converter.compare.dtypes.canonical
    warning: Optional[float]  # a number or inf
    error: Optional[float]
    line: int


def read_rules(node: Node, key: str, file: str) -> tuple[PolicyRule, ...]:
    """Read the list of rules. Raises UserError with line and column."""
    return tuple(_rule(item, key, file) for item in read_items(node, key, file))


def _rule(node: Node, key: str, file: str) -> PolicyRule:
    if not isinstance(node, yaml.MappingNode):
        raise error_in(file, node, message("policy.rule_no_block", "each entry of '{key}' holds {keys}, but {found} stands here",
                                           key=key, keys=tuple(_KEYS), found=said(node)))
    check_tag(node, file)
    nodes = re.compile("")
    roles: frozenset[str] = frozenset()
    dtypes: frozenset[str] = frozenset()
    limits: dict[str, float] = {}
    for entry in entries(node, file):
        if entry.key == "nodes":
            nodes = read_pattern(entry.value, "nodes", file)
        elif entry.key == "roles":
            roles = frozenset(read_word(item, ROLES, "roles", file) for item in read_items(entry.value, "roles", file))
        elif entry.key == "dtypes":
            dtypes = _dtypes(entry.value, file)
        elif entry.key in ("warning", "error"):
            limits[entry.key] = read_number(entry.value, entry.key, file, endless=True)
        else:
            raise error_at(
                file,
                entry.line,
                entry.column,
                message(
                    "policy.rule_key", "'{key}' means nothing in a rule: {advice}", key=entry.key, advice=did_you_mean(entry.key, _KEYS)
                ),
            )
    if not limits:
        raise error_in(file, node, message("policy.rule_empty",
                                           "this rule sets nothing: write 'warning', 'error' or both; nodes that are not to be judged "
                                           "at all belong into 'ignore'"))
    warning, error = limits.get("warning"), limits.get("error")
    if warning is not None and error is not None and error < warning:
        raise error_in(file, node, message("policy.rule_order",
                                           "'error' is {error} and 'warning' {warning} in this rule: an error is the larger one, swap "
                                           "them",
                                           error=f"{error:g}", warning=f"{warning:g}"))
    return PolicyRule(nodes, roles, dtypes, warning, error, int(node.start_mark.line) + 1)


def _dtypes(node: Node, file: str) -> frozenset[str]:
    """Names as users write them, also of groups (float8, complex, integer, boolean)."""
    found: set[str] = set()
    for item, text in zip(read_items(node, "dtypes", file), read_names(node, "dtypes", file)):
        name = canonical(text)
        if name not in _GROUPS and category(name) == "other":
            known = (*EPSILON, *_INTEGERS, "bool", *_GROUPS)
            raise error_in(file, item, message("policy.dtype", "dtype '{text}' is not known: {advice}",
                                               text=text, advice=did_you_mean(name, known)))
        found.update(_GROUPS.get(name, (name,)))
    return frozenset(found)
