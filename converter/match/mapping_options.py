"""What a rule of a mapping file says behind its counterpart: how the parts of a group belong together and lie in the whole."""

from __future__ import annotations

from typing import Optional

import yaml

from converter.match.pairing import Layout, Relation
from converter.messages import message
from converter.yaml_nodes import Node
from converter.yaml_source import A_LIST, Entry, did_you_mean, error_at, error_in, is_empty, scalar_text

_RELATIONS = {"concat": Relation.CONCAT, "sum": Relation.SUM, "stack": Relation.STACK}
_LAYOUTS = {"stacked": (), "per_group": ("heads", "kv_heads"), "per_shard": ("shards",)}


def read_name(node: Node, name: str, wanted: str) -> str:
    """A scalar that must hold a name."""
    text = scalar_text(node)
    if text is None:
        kind = A_LIST if isinstance(node, yaml.SequenceNode) else message("kind.block_or_braces", "a block or braces")
        raise error_in(name, node, message("mapping.must_be_name", "{wanted} must be a name, but {found} stands here",
                                           wanted=wanted, found=kind))
    if is_empty(node):
        raise error_in(name, node, message("mapping.missing_behind_colon", "{wanted} is missing: write a name behind the colon",
                                           wanted=wanted))
    return text.strip()


def group_options(options: dict[str, Entry], group: bool, name: str) -> tuple[Relation, Optional[Layout]]:
    """The relation of a group, and how its parts lie in it; SAME and None where `group` is false. Raises UserError."""
    for key, entry in options.items():
        if key != "to" and not group:
            raise error_at(
                name,
                entry.line,
                entry.column,
                message("mapping.for_several", "'{key}' is for one name against several: write a list of names", key=key),
            )
    relation = Relation.CONCAT if group else Relation.SAME
    if "relation" in options:
        text = read_name(options["relation"].value, name, "'relation'")
        if text not in _RELATIONS:
            raise error_in(
                name,
                options["relation"].value,
                message(
                    "mapping.relation", "relation '{text}' is not known: {advice}", text=text, advice=did_you_mean(text, tuple(_RELATIONS))
                ),
            )
        relation = _RELATIONS[text]
    numbers = {key: _count(options[key], name) for key in ("heads", "kv_heads", "shards") if key in options}
    if "layout" not in options:
        for key in numbers:
            raise error_at(name, options[key].line, options[key].column,
                           message("mapping.needs_layout", "'{key}' belongs to a layout: add 'layout: per_group' or 'layout: per_shard'",
                                   key=key))
        return relation, None
    text = read_name(options["layout"].value, name, "'layout'")
    if text not in _LAYOUTS:
        raise error_in(
            name,
            options["layout"].value,
            message("mapping.layout", "layout '{text}' is not known: {advice}", text=text, advice=did_you_mean(text, tuple(_LAYOUTS))),
        )
    for key in numbers:
        if key not in _LAYOUTS[text]:
            raise error_at(
                name,
                options[key].line,
                options[key].column,
                message("mapping.not_of_layout", "'{key}' does not belong to layout '{layout}'", key=key, layout=text),
            )
    layout = Layout(text, **numbers)
    if layout.heads and layout.kv_heads and layout.heads % layout.kv_heads:
        raise error_at(name, options["heads"].line, options["heads"].column,
                       message("mapping.heads", "heads ({heads}) must be a multiple of kv_heads ({kv_heads})",
                               heads=layout.heads, kv_heads=layout.kv_heads))
    return relation, layout


def _count(entry: Entry, name: str) -> int:
    text = read_name(entry.value, name, f"'{entry.key}'")
    if not text.isascii() or not text.isdigit() or not int(text):
        raise error_in(
            name,
            entry.value,
            message("mapping.whole_number", "'{key}' must be a whole number above 0, not '{text}'", key=entry.key, text=text),
        )
    return int(text)
