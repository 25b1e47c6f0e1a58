"""Manual matches: the file beside a graph (`*.matches.yaml`), and what its entries mean for two trees.

    matches:
    - {action: match, target: [name], golden: [name, name], relation: concat, author: text, time: RFC 3339}
    - {action: unmatch, target: [name], golden: [name]}
    mapping: {name: file name, text: a layer mapping put into force in the viewer, author: text, time: RFC 3339}
    triage:
    - {nodes: name or glob, side: target, verdict: expected, note: text, author: text, time: RFC 3339}

Later entries win over earlier ones about the same node. `triage` concerns the viewer only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Optional

import yaml

from converter.errors import UserError
from converter.match.pairing import How, Pair, Relation
from converter.messages import message
from converter.tree.columns import Tree
from converter.yaml_nodes import collections_put_off
from converter.yaml_source import A_LIST, compose, entries, error_at, read_text

ACTIONS = ("match", "unmatch")
NULL = "tag:yaml.org,2002:null"
RELATIONS = {"same": Relation.SAME, "concat": Relation.CONCAT, "sum": Relation.SUM, "stack": Relation.STACK}


@dataclass(frozen=True)
class Pin:
    """One entry of `matches`: node names of both sides."""

    action: str  # match | unmatch
    target: tuple[str, ...]
    golden: tuple[str, ...]
    relation: Relation


@dataclass(frozen=True)
class KeptMapping:
    """A layer mapping that was put into force in the viewer; an empty text: none, whatever the graph was converted with."""

    name: str
    text: str


@dataclass(frozen=True)
class Pins:
    """The `matches` of a file, in file order, and its mapping."""

    name: str
    pins: tuple[Pin, ...]
    mapping: Optional[KeptMapping] = None


def read_pins(path: str) -> Pins:
    """Read a matches file.

    Raises:
        UserError: cannot be read, or an entry is not of the form above.
    """
    content = document_of(read_text(path, message("file.matches", "matches file")), path)
    return replace(pins_of(content.get("matches") or [], path), mapping=kept_mapping(content.get("mapping") or None, path))


def document_of(text: str, path: str) -> dict[str, object]:
    """What a matches file holds, all of it as text: a node may be called 1 or null. A part that is null is None.

    Raises:
        UserError: not YAML, no mapping, or a part that stands there twice.
    """
    root = compose(text, path)
    try:
        with collections_put_off():
            content = {} if root is None else yaml.constructor.BaseConstructor().construct_document(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise error_at(
            path,
            mark.line + 1 if mark else 1,
            mark.column + 1 if mark else 1,
            message("pins.invalid", "not valid here: {why}", why=error.problem),
        ) from None
    except RecursionError:
        raise UserError(message("pins.too_deep", "{path}: nested too deeply for a list of matches", path=path)) from None
    if isinstance(root, yaml.ScalarNode) and root.tag == NULL:
        content = {}
    if not isinstance(content, dict):
        raise UserError(message("pins.no_mapping", "{path}: expected a mapping with the key `matches`, found {found}",
                                path=path, found=_kind(content)))
    parts = entries(root, path) if isinstance(root, yaml.MappingNode) else []
    return {**content, **{part.key: None for part in parts if part.value.tag == NULL}}


def pins_of(found: object, name: str) -> Pins:
    """The pins of a list of entries (from a file, or from a request of the viewer).

    Raises:
        UserError: an entry is not of the form above; it is named by its position.
    """
    if not isinstance(found, list):
        raise UserError(message("pins.no_list", "{name}: `matches` must be a list, found {found}", name=name, found=_kind(found)))
    pins = []
    for number, entry in enumerate(found, 1):
        where = message("pins.entry", "{name}: entry {number} of `matches`", name=name, number=number)
        if not isinstance(entry, dict):
            raise UserError(message("pins.entry_no_mapping", "{where} must be a mapping with action, target and golden, found {found}",
                                    where=where, found=_kind(entry)))
        action = entry.get("action", "match")
        if not isinstance(action, str) or action not in ACTIONS:
            raise UserError(message("pins.action", "{where}: action must be match or unmatch, found {found}",
                                    where=where, found=_kind(action)))
        relation = entry.get("relation", "same")
        if not isinstance(relation, str) or relation not in RELATIONS:
            raise UserError(message("pins.relation", "{where}: relation must be one of {relations}, found {found}",
                                    where=where, relations=tuple(RELATIONS), found=_kind(relation)))
        pins.append(Pin(action, _names(entry, "target", where), _names(entry, "golden", where), RELATIONS[relation]))
    return Pins(name, tuple(pins))


def kept_mapping(entry: object, name: str) -> Optional[KeptMapping]:
    """The mapping of a matches file (or of a request of the viewer); None where there is none.

    Raises:
        UserError: not a mapping with name and text.
    """
    if entry is None:
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not isinstance(entry.get("text"), str):
        raise UserError(message("pins.mapping", "{name}: `mapping` must have a name and a text, the layer mapping itself, found {found}",
                                name=name, found=_kind(entry)))
    return KeptMapping(entry["name"], entry["text"])


def _names(entry: dict[object, object], key: str, where: str) -> tuple[str, ...]:
    value = entry.get(key)
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise UserError(message("pins.names", "{where}: {key} must be a node name or a list of node names", where=where, key=key))
    return tuple(names)


def _kind(value: object) -> str:
    """A value in a message: texts as they are, of the others the kind only, for they may be large."""
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:60] + "…")
    return message("kind.mapping", "a mapping") if isinstance(value, dict) else A_LIST if isinstance(value, list) else str(value)


def pinned_pairs(pins: Pins, target: Tree, golden: Tree) -> tuple[list[Pair], list[tuple[int, int]], list[str]]:
    """(pairs, node pairs that must not be joined again, warnings) of the pins on two trees.

    Names that a tree does not have (another rank, another dump) are passed over with a warning.
    """
    node_t = {name: node for node, name in enumerate(target.names)}
    node_g = {name: node for node, name in enumerate(golden.names)}
    pairs: dict[tuple[int, ...], Pair] = {}
    pair_of_target: dict[int, tuple[int, ...]] = {}  # node → key of its pair: lists of everything inside a node are long
    pair_of_golden: dict[int, tuple[int, ...]] = {}
    refused: set[tuple[int, int]] = set()
    unknown: list[str] = []
    for pin in pins.pins:
        missing = [name for name in pin.target if name not in node_t] + [name for name in pin.golden if name not in node_g]
        if missing:
            unknown += missing
            continue
        mine = tuple(sorted({node_t[name] for name in pin.target}))
        other = tuple(sorted({node_g[name] for name in pin.golden}))
        for key in {key for key in (*map(pair_of_target.get, mine), *map(pair_of_golden.get, other)) if key is not None}:
            old = pairs.pop(key)
            for node in old.target:
                del pair_of_target[node]
            for node in old.golden:
                del pair_of_golden[node]
        if pin.action == "match":
            refused -= {(a, b) for a in mine for b in other}
            relation = pin.relation if pin.relation != Relation.SAME or len(mine) == len(other) == 1 else Relation.CONCAT
            pairs[mine] = Pair(
                mine, other, relation, How.MANUAL, 1.0, message("evidence.by_hand", "matched by hand ({name})", name=pins.name)
            )
            pair_of_target.update(dict.fromkeys(mine, mine))
            pair_of_golden.update(dict.fromkeys(other, mine))
        else:
            refused |= {(a, b) for a in mine for b in other}
    warnings = [message("pins.unknown_nodes", "{name}: {count} node names are not in these graphs and are passed over: {first}",
                        name=pins.name, count=len(unknown), first=unknown[0])] if unknown else []
    return list(pairs.values()), sorted(refused), warnings
