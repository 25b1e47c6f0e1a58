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
from converter.match.mapping_options import group_options, read_name
from converter.match.mapping_pattern import DEEP, Pattern, PatternError, hole_counts, parse_pattern
from converter.match.mapping_rules import OLD_ROOT_SCOPE, ROOT_SCOPE, Alternatives, MappingFile, ParameterAlias, Rule, Scope
from converter.messages import message
from converter.yaml_nodes import Node, is_plain
from converter.yaml_source import (
    A_LIST,
    NOTHING,
    Entry,
    check_tag,
    column_of,
    compose,
    did_you_mean,
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
_NAME_IN_LIST = message("mapping.name_in_list", "a name in this list")
_NAME_BEFORE_COLON = message("mapping.name_before_colon", "the name before the colon")
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
            raise UserError(message("mapping.did_you_mean",
                                    "mapping file {path} does not exist: check the path, or did you mean the template '{template}'?",
                                    path=path, template=close[0]))
    return parse_mapping(read_text(path, message("file.mapping", "mapping file")), path)


def parse_mapping(text: str, name: str) -> MappingFile:
    """Parse the text of a mapping file; `name` is what messages call it. Raises UserError."""
    root = compose(text, name)
    if root is None or is_empty(root):
        raise UserError(message("mapping.empty",
                                "{name}: the file holds no rules: write a class and its rules, or leave the mapping out",
                                name=name))
    if not isinstance(root, yaml.MappingNode):
        raise error_in(name, root, message("mapping.no_classes",
                                           "a mapping file holds classes with their rules, written 'Class:' and below it 'name: "
                                           "counterpart'"))
    check_tag(root, name)
    rules: list[Rule] = []
    parameters: list[ParameterAlias] = []
    classes: list[tuple[str, str]] = []
    switches = {"invert": False, "optional": False, "wrappers": False}
    root_scope: Optional[Entry] = None
    for entry in entries(root, name):
        if isinstance(entry.key_node, yaml.SequenceNode):
            raise error_in(
                name, entry.key_node, message("mapping.list_for_class", "a list cannot stand here: this is the place of a class name")
            )
        key = entry.key.strip()
        if not key:
            raise error_at(
                name,
                entry.line,
                entry.column,
                message("mapping.empty_class", "an empty class name: write the class that holds the modules below"),
            )
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
                                   message("mapping.two_roots",
                                           "'{old}' is the old name of '{root}', and '{key}' stands in line {line} already: join the "
                                           "two blocks",
                                           old=OLD_ROOT_SCOPE, root=ROOT_SCOPE, key=root_scope.key, line=root_scope.line))
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
                           message("mapping.rule_twice", "'{source}' of {scope} has a rule in line {line} already: keep one of the two",
                                   source=rule.source_text, scope=rule.scope.label, line=seen[key].line))
        seen[key] = rule


def _mapping(node: Node, name: str, wanted: str) -> list[Entry]:
    if not isinstance(node, yaml.MappingNode):
        found = NOTHING if is_empty(node) else A_LIST if isinstance(node, yaml.SequenceNode) else f"'{scalar_text(node)}'"
        raise error_in(name, node, message("mapping.no_block", "{wanted}, but {found} stands here", wanted=wanted, found=found))
    return entries(node, name)


def _switch(entry: Entry, key: str, name: str) -> bool:
    text = (scalar_text(entry.value) or "").strip().lower()
    if key == "wrappers":
        if text not in ("ignore", "keep"):
            raise error_in(name, entry.value, message("mapping.wrappers", "'wrappers' is 'ignore' or 'keep'"))
        return text == "ignore"
    if text not in (*_TRUE, *_FALSE):
        raise error_in(name, entry.value, message("mapping.true_or_false", "'{key}' is true or false", key=key))
    return text in _TRUE


def _classes(entry: Entry, name: str) -> list[tuple[str, str]]:
    found = []
    for inner in _mapping(entry.value, name, message("mapping.wanted_classes", "'classes' holds 'Class: Class', one in each line")):
        found.append(
            (
                inner.key.strip(),
                read_name(inner.value, name, message("mapping.counterpart_of_class", "the counterpart of class {name}", name=inner.key)),
            )
        )
    return found


def _parameters(entry: Entry, name: str) -> list[ParameterAlias]:
    found = []
    for block in _mapping(
        entry.value, name, message("mapping.wanted_parameters", "'parameters' holds classes ('*' for all) with 'name: name' below them")
    ):
        class_name = block.key.strip()
        for inner in _mapping(
            block.value,
            name,
            message("mapping.wanted_parameters_of", "'{name}' in 'parameters' holds 'name: name', one in each line", name=class_name),
        ):
            destination = read_name(
                inner.value, name, message("mapping.counterpart_of_parameter", "the counterpart of parameter {name}", name=inner.key)
            )
            found.append(ParameterAlias("" if class_name == ANY_CLASS else class_name, inner.key.strip(), destination,
                                        inner.line, inner.column))
    return found


def _scopes(entry: Entry, name: str) -> list[Rule]:
    if not isinstance(entry.value, yaml.SequenceNode):
        raise error_in(name, entry.value, message("mapping.scopes_list", "'scopes' is a list: write '- path: …' and 'rules:' below it"))
    rules: list[Rule] = []
    for item in entry.value.value:
        block = _mapping(item, name, message("mapping.wanted_scope", "each entry of 'scopes' holds 'path', 'class' or both, and 'rules'"))
        parts = {part.key.strip(): part for part in block}
        for key, part in parts.items():
            if key not in _SCOPE_KEYS:
                raise error_at(
                    name,
                    part.line,
                    part.column,
                    message(
                        "mapping.scope_key", "'{key}' means nothing in a scope: {advice}", key=key, advice=did_you_mean(key, _SCOPE_KEYS)
                    ),
                )
        if "rules" not in parts:
            raise error_in(name, item, message("mapping.scope_without_rules", "this scope has no 'rules'"))
        if "path" not in parts and "class" not in parts:
            raise error_in(name, item, message("mapping.scope_without_place", "this scope needs a 'path', a 'class' or both"))
        texts = {key: read_name(parts[key].value, name, f"'{key}'") for key in _SCOPE_KEYS[:-1] if key in parts}
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
        raise error_in(name, node, problem.told) from None


def _pattern(text: str, node: Node, name: str) -> Pattern:
    try:
        return parse_pattern(text)
    except PatternError as problem:
        raise error_in(name, node, problem.told) from None


def _rules(node: Node, scope: Scope, name: str) -> list[Rule]:
    wanted = message("mapping.wanted_rules", "{scope} holds rules, written 'name: counterpart'", scope=scope.label)
    return [_rule(entry, scope, name) for entry in _mapping(node, name, wanted)]


def _rule(entry: Entry, scope: Scope, name: str) -> Rule:
    source_text = key_identity(entry.key_node)
    if isinstance(entry.key_node, yaml.SequenceNode):
        sources = tuple(_side(part, name, _NAME_IN_LIST) for part in entry.key_node.value)
        source_text = "[" + ", ".join(_side_text(part) for part in entry.key_node.value) + "]"
    else:
        sources = (_side(entry.key_node, name, _NAME_BEFORE_COLON),)
        source_text = _side_text(entry.key_node)
    if not sources or any(not pattern for side in sources for pattern in side):
        raise error_at(
            name,
            entry.line,
            entry.column,
            message("mapping.empty_name", "the name before the colon is empty: write the path below the class"),
        )
    value: Node = entry.value
    options: dict[str, Entry] = {}
    if isinstance(value, yaml.MappingNode):
        options = _long_form(value, source_text, name)
        value = options["to"].value
    if is_empty(value):
        raise error_in(name, value, message("mapping.no_counterpart",
                                            "the counterpart of '{source}' is missing: write its name, or [] if there is none",
                                            source=source_text))
    if is_plain(value) and value.value in ("null", "Null", "NULL", "~"):
        raise error_in(name, value, message("mapping.null", "'{value}' is no name: write [] if '{source}' has no counterpart",
                                            value=value.value, source=source_text))
    if isinstance(value, yaml.SequenceNode):
        destinations = tuple(_side(part, name, _NAME_IN_LIST) for part in value.value)
        destination_text = "[" + ", ".join(_side_text(part) for part in value.value) + "]"
        if any(not pattern for side in destinations for pattern in side):
            raise error_in(name, value, message("mapping.empty_in_list", "a name in this list is empty"))
    else:
        destinations = (_side(value, name, message("mapping.counterpart", "the counterpart of '{source}'", source=source_text)),)
        destination_text = _side_text(value)
    if len(sources) > 1 and len(destinations) != 1:
        raise error_at(
            name, entry.line, entry.column, message("mapping.several_right", "a list on the left wants one single name on the right")
        )
    gather = len(sources) > 1 or (isinstance(entry.key_node, yaml.SequenceNode) and _spreads(destinations, sources))
    group = gather or len(destinations) > 1 or _spreads(sources, destinations)
    if not gather and len(sources) == 1:
        source_text = source_text.strip("[]")
    if len(destinations) == 1 and not _spreads(sources, destinations):
        destination_text = destination_text.strip("[]")
    relation, layout = group_options(options, group, name)
    _check_holes(sources, destinations, value, name)
    return Rule(scope, sources, destinations, relation, layout, gather, source_text, destination_text, entry.line, entry.column)


def _long_form(value: yaml.MappingNode, source_text: str, name: str) -> dict[str, Entry]:
    options = {part.key.strip(): part for part in entries(value, name)}
    for key, part in options.items():
        if key in _RULE_KEYS:
            continue
        if value.flow_style and len(options) == 1 and is_empty(part.value):
            raise error_in(
                name, value, message("mapping.brace_value", "a counterpart that begins with '{' needs quotes: write \"{{key}}\"", key=key)
            )
        raise error_at(
            name,
            part.line,
            part.column,
            message(
                "mapping.rule_key",
                "'{key}' means nothing in the rule of '{source}': {advice}",
                key=key,
                source=source_text,
                advice=did_you_mean(key, _RULE_KEYS),
            ),
        )
    if "to" not in options:
        raise error_in(name, value, message("mapping.no_to", "the rule of '{source}' has no 'to': write the counterpart there",
                                            source=source_text))
    return options


def _spreads(few: tuple[Alternatives, ...], many: tuple[Alternatives, ...]) -> bool:
    """True if a name of `many` stands for several, through a wildcard that `few` does not have."""
    holes = [counts for side in many for pattern in side if (counts := hole_counts(pattern))]
    if not holes:
        return False
    own = [hole_counts(pattern) for side in few for pattern in side]
    return any(counts.get(kind, 0) > mine.get(kind, 0) for counts in holes for mine in own for kind in ("*", "?", DEEP))


def _side(node: Node, name: str, wanted: str) -> Alternatives:
    """One name of a rule: alternatives between `|`, each cut at `(`."""
    if isinstance(node, yaml.MappingNode):
        raise error_in(name, node, message("mapping.brace_name", "{wanted} must be a name; one that begins with '{' needs quotes",
                                           wanted=wanted))
    text = scalar_text(node)
    if text is None:
        raise error_in(name, node, message("mapping.list_for_name", "{wanted} must be a name, but a list stands here", wanted=wanted))
    check_tag(node, name)
    if is_empty(node):
        raise error_in(name, node, message("mapping.missing_name", "{wanted} is missing: write a name", wanted=wanted))
    parts = [part.split("(", 1)[0].strip() for part in text.split("|")]
    if len(parts) > 1 and not all(parts):
        raise error_in(name, node, message("mapping.empty_alternative",
                                           "'{text}' has an empty alternative: '|' stands between two names",
                                           text=text.strip()))
    return tuple(_pattern(part, node, name) for part in parts)


def _side_text(node: Node) -> str:
    return " | ".join(part.split("(", 1)[0].strip() for part in (scalar_text(node) or "").split("|"))


def _check_holes(sources: tuple[Alternatives, ...], destinations: tuple[Alternatives, ...], value: Node, name: str) -> None:
    """A single counterpart must be complete once the key is known; a list may spread over what the wildcards find."""
    spread = isinstance(value, yaml.SequenceNode)
    for source in (pattern for side in sources for pattern in side):
        mine = hole_counts(source)
        for destination in (pattern for side in destinations for pattern in side):
            for kind, count in hole_counts(destination).items():
                if kind in ("*", "?", DEEP):
                    if count > mine.get(kind, 0) and not spread:
                        raise error_in(
                            name,
                            value,
                            message(
                                "mapping.more_wildcards",
                                "the counterpart has more '{kind}' than the name before the colon: put it "
                                "in brackets if all that fit belong together",
                                kind=kind,
                            ),
                        )
                elif kind not in mine:
                    raise error_in(
                        name,
                        value,
                        message(
                            "mapping.unknown_number",
                            "'{{kind}}' is not in the name before the colon, so its number is not known",
                            kind=kind,
                        ),
                    )
