"""Write a mapping file: records → YAML text that reads back as the same records, in the peer's format wherever that can say it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import yaml

from converter.match.mapping_rules import MappingFile, Rule, Scope
from converter.match.pairing import Relation

_PLAIN_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")
_NOT_TEXT = frozenset("yYnN")  # YAML 1.1 has them as booleans, though few readers do
_RESOLVER: Any = yaml.resolver.Resolver()  # its methods have no types


def write_mapping(mapping: MappingFile, header: str = "", comments: Mapping[int, str] | None = None) -> str:
    """The text of a mapping file.

    Args:
        header: lines for comments at the top.
        comments: rule number → comment behind the rule.
    """
    head = [f"# {line}".rstrip() for line in header.splitlines()]
    lines = []
    for key, value in (("invert", mapping.invert), ("optional", mapping.optional)):
        if value:
            lines.append(f"{key}: true")
    if mapping.ignore_wrappers:
        lines.append("wrappers: ignore")
    blocks: dict[Scope, list[str]] = {}
    for number, rule in enumerate(mapping.rules):
        comment = " ".join((comments or {}).get(number, "").split())
        blocks.setdefault(rule.scope, []).append(_rule(rule) + (f"  # {comment}" if comment else ""))
    for scope, rules in blocks.items():
        if not _in_list(scope):
            lines.append(f"{_scalar(scope.class_name)}:")
            lines.extend(f"  {rule}" for rule in rules)
    listed = {scope: rules for scope, rules in blocks.items() if _in_list(scope)}
    if listed:
        lines.append("scopes:")
    for scope, rules in listed.items():
        keys = (("path", scope.path_text), ("to_path", scope.to_path), ("class", scope.class_name), ("to_class", scope.to_class))
        given = [f"{key}: {_scalar(text)}" for key, text in keys if text]
        lines.extend(("  - " if number == 0 else "    ") + text for number, text in enumerate(given))
        lines.append("    rules:")
        lines.extend(f"      {rule}" for rule in rules)
    if mapping.parameters:
        lines.append("parameters:")
        for class_name in dict.fromkeys(alias.class_name for alias in mapping.parameters):
            lines.append(f"  {_scalar(class_name or '*')}:")
            lines.extend(f"    {_scalar(alias.source)}: {_scalar(alias.destination)}"
                         for alias in mapping.parameters if alias.class_name == class_name)
    if mapping.classes:
        lines.append("classes:")
        lines.extend(f"  {_scalar(source)}: {_scalar(destination)}" for source, destination in mapping.classes)
    return "\n".join(head + (lines or ["{}"])) + "\n"


def _in_list(scope: Scope) -> bool:
    return scope.path is not None or bool(scope.to_class or scope.to_path)


def _scalar(text: str) -> str:
    # For readers other than ours: what YAML would take for a number or a boolean is put in quotes.
    plain = text and _PLAIN_CHARACTERS.issuperset(text) and text not in _NOT_TEXT
    if plain and _RESOLVER.resolve(yaml.ScalarNode, text, (True, False)) == "tag:yaml.org,2002:str":
        return text
    return json.dumps(text, ensure_ascii=False)


def _side(text: str) -> str:
    """One side of a rule; a list is written as one."""
    if text.startswith("[") and text.endswith("]"):
        return "[" + ", ".join(_scalar(part) for part in text[1:-1].split(", ") if part) + "]"
    return _scalar(text)


def _rule(rule: Rule) -> str:
    options = []
    if rule.relation not in (Relation.SAME, Relation.CONCAT):
        options.append(f"relation: {rule.relation.name.lower()}")
    if rule.layout is not None:
        options.append(f"layout: {rule.layout.kind}")
        options.extend(f"{key}: {number}" for key, number in (
            ("heads", rule.layout.heads), ("kv_heads", rule.layout.kv_heads), ("shards", rule.layout.shards)) if number)
    right = _side(rule.destination_text)
    if options:
        right = "{to: " + ", ".join([right, *options]) + "}"
    return f"{_side(rule.source_text)}: {right}"
