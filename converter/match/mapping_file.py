"""Read a mapping file: YAML text → MappingFile. Every mistake is one UserError with file, line, column and what to do.

The grammar, with examples, is docs/mapping.md. Unknown classes and rules that hit nothing cannot be seen here: match_by_mapping
finds them in the graphs.
"""

from __future__ import annotations

import difflib
import os
from dataclasses import replace
from typing import Optional

import yaml

from converter.errors import UserError
from converter.match.mapping_pattern import DEEP, Pattern, PatternError, hole_counts, parse_pattern
from converter.match.mapping_rules import OLD_ROOT_SCOPE, ROOT_SCOPE, Alternatives, MappingFile, ParameterAlias, Rule, Scope
from converter.match.pairing import Layout, Relation
from converter.yaml_source import (
    Entry,
    Node,
    check_tag,
    column_of,
    compose,
    entries,
    error_at,
    error_in,
    is_empty,
    key_identity,
    line_of,
    read_text,
    scalar_text,
)

ANY_CLASS = "*"
INVERT_PREFIX = "invert:"
_SWITCHES = ("invert", "optional", "wrappers")
_SECTIONS = ("classes", "parameters", "scopes")
_SCOPE_KEYS = ("path", "class", "to_path", "to_class", "rules")
_RULE_KEYS = ("to", "relation", "layout", "heads", "kv_heads", "shards")
_RELATIONS = {"concat": Relation.CONCAT, "sum": Relation.SUM, "stack": Relation.STACK}
_LAYOUTS = {"stacked": (), "per_group": ("heads", "kv_heads"), "per_shard": ("shards",)}
_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")


def read_mapping(path: str) -> MappingFile:
    """Read a mapping file, or a shipped template by its name. Raises UserError for everything that is wrong with it.

    With "invert:" in front the mapping is turned round, as if `invert` in the file were the opposite.
    """
    if path.startswith(INVERT_PREFIX) and not os.path.exists(path):
        mapping = read_mapping(path[len(INVERT_PREFIX):])
        return replace(mapping, invert=not mapping.invert)
    if not os.path.exists(path):
        from mappings import templates

        shipped = {template.name: template for template in templates()}
        name = path[:-5] if path.endswith(".yaml") else path
        if name in shipped:
            return parse_mapping(shipped[name].text, f"{name}.yaml")
        close = difflib.get_close_matches(os.path.basename(name), shipped, 1)
        if close:
            raise UserError(f"mapping file {path} does not exist: check the path, or did you mean the template '{close[0]}'?")
    return parse_mapping(read_text(path, "mapping file"), path)


def parse_mapping(text: str, name: str) -> MappingFile:
    """Parse the text of a mapping file; `name` is what messages call it. Raises UserError."""
    root = compose(text, name)
    if root is None or is_empty(root):
        raise UserError(f"{name}: the file holds no rules: write a class and its rules, or leave the mapping out")
    if not isinstance(root, yaml.MappingNode):
        raise error_in(name, root, "a mapping file holds classes with their rules, written 'Class:' and below it 'name: counterpart'")
    check_tag(root, name)
    rules: list[Rule] = []
    parameters: list[ParameterAlias] = []
    classes: list[tuple[str, str]] = []
    switches = {"invert": False, "optional": False, "wrappers": False}
    root_scope: Optional[Entry] = None
    for entry in entries(root, name):
        if isinstance(entry.key_node, yaml.SequenceNode):
            raise error_in(name, entry.key_node, "a list cannot stand here: this is the place of a class name")
        key = entry.key.strip()
        if not key:
            raise error_at(name, entry.line, entry.column, "an empty class name: write the class that holds the modules below")
        if key in _SWITCHES:
            switches[key] = _switch(entry, key, name)
        elif key == "classes":
            classes.extend(_classes(entry, name))
        elif key == "parameters":
            parameters.extend(_parameters(entry, name))
        elif key == "scopes":
            rules.extend(_scopes(entry, name))
        else:
            if key in (ROOT_SCOPE, OLD_ROOT_SCOPE):
                if root_scope is not None:
                    raise error_at(name, entry.line, entry.column,
                                   f"'{OLD_ROOT_SCOPE}' is the old name of '{ROOT_SCOPE}', and '{root_scope.key}' stands in line "
                                   f"{root_scope.line} already: join the two blocks")
                root_scope = entry
                key = ROOT_SCOPE
            scope = Scope(key, line=entry.line, column=entry.column)
            rules.extend(_rules(entry.value, scope, name))
    _check_twice(rules, name)
    return MappingFile(name, text, tuple(rules), tuple(parameters), tuple(classes), switches["invert"], switches["optional"],
                       switches["wrappers"])


def _check_twice(rules: list[Rule], name: str) -> None:
    seen: dict[tuple[str, str, str], Rule] = {}
    for rule in rules:
        key = (rule.scope.class_name, rule.scope.path_text, rule.source_text)
        if key in seen:
            raise error_at(name, rule.line, rule.column,
                           f"'{rule.source_text}' of {rule.scope.label} has a rule in line {seen[key].line} already: keep one of the two")
        seen[key] = rule


def _mapping(node: Node, name: str, wanted: str) -> list[Entry]:
    if not isinstance(node, yaml.MappingNode):
        found = "nothing" if is_empty(node) else "a list" if isinstance(node, yaml.SequenceNode) else f"'{scalar_text(node)}'"
        raise error_in(name, node, f"{wanted}, but {found} stands here")
    return entries(node, name)


def _name(node: Node, name: str, wanted: str) -> str:
    """A scalar that must hold a name."""
    text = scalar_text(node)
    if text is None:
        kind = "a list" if isinstance(node, yaml.SequenceNode) else "a block or braces"
        raise error_in(name, node, f"{wanted} must be a name, but {kind} stands here")
    if is_empty(node):
        raise error_in(name, node, f"{wanted} is missing: write a name behind the colon")
    return text.strip()


def _unknown(key: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(key, known, 1)
    return f"did you mean '{close[0]}'?" if close else f"known are {', '.join(known)}"


def _switch(entry: Entry, key: str, name: str) -> bool:
    text = (scalar_text(entry.value) or "").strip().lower()
    if key == "wrappers":
        if text not in ("ignore", "keep"):
            raise error_in(name, entry.value, "'wrappers' is 'ignore' or 'keep'")
        return text == "ignore"
    if text not in (*_TRUE, *_FALSE):
        raise error_in(name, entry.value, f"'{key}' is true or false")
    return text in _TRUE


def _classes(entry: Entry, name: str) -> list[tuple[str, str]]:
    found = []
    for inner in _mapping(entry.value, name, "'classes' holds 'Class: Class', one in each line"):
        found.append((inner.key.strip(), _name(inner.value, name, f"the counterpart of class {inner.key}")))
    return found


def _parameters(entry: Entry, name: str) -> list[ParameterAlias]:
    found = []
    for block in _mapping(entry.value, name, "'parameters' holds classes ('*' for all) with 'name: name' below them"):
        class_name = block.key.strip()
        for inner in _mapping(block.value, name, f"'{class_name}' in 'parameters' holds 'name: name', one in each line"):
            destination = _name(inner.value, name, f"the counterpart of parameter {inner.key}")
            found.append(ParameterAlias("" if class_name == ANY_CLASS else class_name, inner.key.strip(), destination,
                                        inner.line, inner.column))
    return found


def _scopes(entry: Entry, name: str) -> list[Rule]:
    if not isinstance(entry.value, yaml.SequenceNode):
        raise error_in(name, entry.value, "'scopes' is a list: write '- path: …' and 'rules:' below it")
    rules: list[Rule] = []
    for item in entry.value.value:
        block = _mapping(item, name, "each entry of 'scopes' holds 'path', 'class' or both, and 'rules'")
        parts = {part.key.strip(): part for part in block}
        for key, part in parts.items():
            if key not in _SCOPE_KEYS:
                raise error_at(name, part.line, part.column, f"'{key}' means nothing in a scope: {_unknown(key, _SCOPE_KEYS)}")
        if "rules" not in parts:
            raise error_in(name, item, "this scope has no 'rules'")
        if "path" not in parts and "class" not in parts:
            raise error_in(name, item, "this scope needs a 'path', a 'class' or both")
        texts = {key: _name(parts[key].value, name, f"'{key}'") for key in _SCOPE_KEYS[:-1] if key in parts}
        path, anchored = (None, False)
        if "path" in texts:
            path, anchored = _scope_path(texts["path"], parts["path"].value, name)
        if "to_path" in texts:
            _scope_path(texts["to_path"], parts["to_path"].value, name)
        class_name = texts.get("class", "")
        scope = Scope(ROOT_SCOPE if class_name == OLD_ROOT_SCOPE else class_name, path, anchored, texts.get("path", ""),
                      texts.get("to_class", ""), texts.get("to_path", ""), line_of(item), column_of(item))
        rules.extend(_rules(parts["rules"].value, scope, name))
    return rules


def scope_path(text: str) -> tuple[Pattern, bool]:
    """The pattern of a scope's path, and whether it begins at the root. Raises PatternError."""
    if text == ROOT_SCOPE:
        return (), True
    anchored = text.startswith(ROOT_SCOPE + ".")
    return parse_pattern(text[len(ROOT_SCOPE) + 1:] if anchored else text), anchored


def _scope_path(text: str, node: Node, name: str) -> tuple[Pattern, bool]:
    try:
        return scope_path(text)
    except PatternError as problem:
        raise error_in(name, node, str(problem)) from None


def _pattern(text: str, node: Node, name: str) -> Pattern:
    try:
        return parse_pattern(text)
    except PatternError as problem:
        raise error_in(name, node, str(problem)) from None


def _rules(node: Node, scope: Scope, name: str) -> list[Rule]:
    wanted = f"{scope.label} holds rules, written 'name: counterpart'"
    return [_rule(entry, scope, name) for entry in _mapping(node, name, wanted)]


def _rule(entry: Entry, scope: Scope, name: str) -> Rule:
    source_text = key_identity(entry.key_node)
    if isinstance(entry.key_node, yaml.SequenceNode):
        sources = tuple(_side(part, name, "a name in this list") for part in entry.key_node.value)
        source_text = "[" + ", ".join(_side_text(part) for part in entry.key_node.value) + "]"
    else:
        sources = (_side(entry.key_node, name, "the name before the colon"),)
        source_text = _side_text(entry.key_node)
    if not sources or any(not pattern for side in sources for pattern in side):
        raise error_at(name, entry.line, entry.column, "the name before the colon is empty: write the path below the class")
    value: Node = entry.value
    options: dict[str, Entry] = {}
    if isinstance(value, yaml.MappingNode):
        options = _long_form(value, source_text, name)
        value = options["to"].value
    if is_empty(value):
        raise error_in(name, value, f"the counterpart of '{source_text}' is missing: write its name, or [] if there is none")
    if isinstance(value, yaml.ScalarNode) and value.style is None and value.value in ("null", "Null", "NULL", "~"):
        raise error_in(name, value, f"'{value.value}' is no name: write [] if '{source_text}' has no counterpart")
    if isinstance(value, yaml.SequenceNode):
        destinations = tuple(_side(part, name, "a name in this list") for part in value.value)
        destination_text = "[" + ", ".join(_side_text(part) for part in value.value) + "]"
        if any(not pattern for side in destinations for pattern in side):
            raise error_in(name, value, "a name in this list is empty")
    else:
        destinations = (_side(value, name, f"the counterpart of '{source_text}'"),)
        destination_text = _side_text(value)
    if len(sources) > 1 and len(destinations) != 1:
        raise error_at(name, entry.line, entry.column, "a list on the left wants one single name on the right")
    gather = len(sources) > 1 or (isinstance(entry.key_node, yaml.SequenceNode) and _spreads(destinations, sources))
    group = gather or len(destinations) > 1 or _spreads(sources, destinations)
    if not gather and len(sources) == 1:
        source_text = source_text.strip("[]")
    if len(destinations) == 1 and not _spreads(sources, destinations):
        destination_text = destination_text.strip("[]")
    relation, layout = _group_options(options, group, name)
    _check_holes(sources, destinations, value, name)
    return Rule(scope, sources, destinations, relation, layout, gather, source_text, destination_text, entry.line, entry.column)


def _long_form(value: yaml.MappingNode, source_text: str, name: str) -> dict[str, Entry]:
    options = {part.key.strip(): part for part in entries(value, name)}
    for key, part in options.items():
        if key in _RULE_KEYS:
            continue
        if value.flow_style and len(options) == 1 and is_empty(part.value):
            raise error_in(name, value, f"a counterpart that begins with '{{' needs quotes: write \"{{{key}}}\"")
        raise error_at(name, part.line, part.column, f"'{key}' means nothing in the rule of '{source_text}': {_unknown(key, _RULE_KEYS)}")
    if "to" not in options:
        raise error_in(name, value, f"the rule of '{source_text}' has no 'to': write the counterpart there")
    return options


def _spreads(few: tuple[Alternatives, ...], many: tuple[Alternatives, ...]) -> bool:
    """True if a name of `many` stands for several, through a wildcard that `few` does not have."""
    counts = [hole_counts(pattern) for side in few for pattern in side]
    return any(hole_counts(pattern).get(kind, 0) > own.get(kind, 0)
               for side in many for pattern in side for own in counts for kind in ("*", "?", DEEP))


def _side(node: Node, name: str, wanted: str) -> Alternatives:
    """One name of a rule: alternatives between `|`, each cut at `(`."""
    if isinstance(node, yaml.MappingNode):
        raise error_in(name, node, f"{wanted} must be a name; one that begins with '{{' needs quotes")
    text = scalar_text(node)
    if text is None:
        raise error_in(name, node, f"{wanted} must be a name, but a list stands here")
    check_tag(node, name)
    if is_empty(node):
        raise error_in(name, node, f"{wanted} is missing: write a name")
    parts = [part.split("(", 1)[0].strip() for part in text.split("|")]
    if len(parts) > 1 and not all(parts):
        raise error_in(name, node, f"'{text.strip()}' has an empty alternative: '|' stands between two names")
    return tuple(_pattern(part, node, name) for part in parts)


def _side_text(node: Node) -> str:
    return " | ".join(part.split("(", 1)[0].strip() for part in (scalar_text(node) or "").split("|"))


def _group_options(options: dict[str, Entry], group: bool, name: str) -> tuple[Relation, Optional[Layout]]:
    for key, entry in options.items():
        if key != "to" and not group:
            raise error_at(name, entry.line, entry.column, f"'{key}' is for one name against several: write a list of names")
    relation = Relation.CONCAT if group else Relation.SAME
    if "relation" in options:
        text = _name(options["relation"].value, name, "'relation'")
        if text not in _RELATIONS:
            raise error_in(name, options["relation"].value, f"relation '{text}' is not known: {_unknown(text, tuple(_RELATIONS))}")
        relation = _RELATIONS[text]
    numbers = {key: _count(options[key], name) for key in ("heads", "kv_heads", "shards") if key in options}
    if "layout" not in options:
        for key in numbers:
            raise error_at(name, options[key].line, options[key].column,
                           f"'{key}' belongs to a layout: add 'layout: per_group' or 'layout: per_shard'")
        return relation, None
    text = _name(options["layout"].value, name, "'layout'")
    if text not in _LAYOUTS:
        raise error_in(name, options["layout"].value, f"layout '{text}' is not known: {_unknown(text, tuple(_LAYOUTS))}")
    for key in numbers:
        if key not in _LAYOUTS[text]:
            raise error_at(name, options[key].line, options[key].column, f"'{key}' does not belong to layout '{text}'")
    layout = Layout(text, **numbers)
    if layout.heads and layout.kv_heads and layout.heads % layout.kv_heads:
        raise error_at(name, options["heads"].line, options["heads"].column,
                       f"heads ({layout.heads}) must be a multiple of kv_heads ({layout.kv_heads})")
    return relation, layout


def _count(entry: Entry, name: str) -> int:
    text = _name(entry.value, name, f"'{entry.key}'")
    if not text.isascii() or not text.isdigit() or not int(text):
        raise error_in(name, entry.value, f"'{entry.key}' must be a whole number above 0, not '{text}'")
    return int(text)


def _check_holes(sources: tuple[Alternatives, ...], destinations: tuple[Alternatives, ...], value: Node, name: str) -> None:
    """A single counterpart must be complete once the key is known; a list may spread over what the wildcards find."""
    spread = isinstance(value, yaml.SequenceNode)
    for source in (pattern for side in sources for pattern in side):
        mine = hole_counts(source)
        for destination in (pattern for side in destinations for pattern in side):
            for kind, count in hole_counts(destination).items():
                if kind in ("*", "?", DEEP):
                    if count > mine.get(kind, 0) and not spread:
                        raise error_in(name, value, f"the counterpart has more '{kind}' than the name before the colon: "
                                                    "put it in brackets if all that fit belong together")
                elif kind not in mine:
                    raise error_in(name, value, f"'{{{kind}}}' is not in the name before the colon, so its number is not known")
