"""Single values of a policy file, each checked where it stands: numbers, words, lists, regular expressions."""

from __future__ import annotations

import math
import re

import yaml

from converter.messages import message
from converter.yaml_nodes import Node, is_plain
from converter.yaml_source import A_LIST, NOTHING, check_tag, did_you_mean, error_in, is_empty, scalar_text

_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$")
_ENDLESS = (".inf", ".Inf", ".INF", "+.inf")

A_NUMBER = message("kind.number", "a number")
A_NUMBER_OR_INF = message("kind.number_or_inf", "a number, or .inf for no limit")


def said(node: Node) -> str:
    """What stands in the file, for messages."""
    if is_empty(node):
        return NOTHING
    if isinstance(node, yaml.ScalarNode):
        return f"'{node.value}'"
    return A_LIST if isinstance(node, yaml.SequenceNode) else message("kind.block", "a block of keys")


def read_number(node: Node, key: str, file: str, least: float = 0.0, endless: bool = False, positive: bool = False) -> float:
    """A number of at least `least`, or more than 0 with `positive`; with `endless` also .inf. Raises UserError."""
    check_tag(node, file)
    text = scalar_text(node)
    if text is not None and is_plain(node):
        if endless and text in _ENDLESS:
            return math.inf
        if _NUMBER.match(text) and math.isfinite(float(text)):
            if float(text) < least:
                raise error_in(
                    file,
                    node,
                    message("policy.too_small", "'{key}' is {value}: it must be {least} or more", key=key, value=text, least=f"{least:g}"),
                )
            if positive and float(text) <= 0:
                raise error_in(
                    file, node, message("policy.not_positive", "'{key}' is {value}: it must be more than 0", key=key, value=text)
                )
            return float(text)
    allowed = A_NUMBER_OR_INF if endless else A_NUMBER
    raise error_in(file, node, message("policy.no_number", "'{key}' must be {allowed}, without quotes, but {found} stands here",
                                       key=key, allowed=allowed, found=said(node)))


def read_text(node: Node, key: str, file: str) -> str:
    """A text that is not empty. Raises UserError."""
    check_tag(node, file)
    text = (scalar_text(node) or "").strip()
    if not text:
        raise error_in(file, node, message("policy.no_name", "'{key}' must be a name, but {found} stands here", key=key, found=said(node)))
    return text


def read_word(node: Node, words: tuple[str, ...], key: str, file: str) -> str:
    """One of several words. Raises UserError."""
    text = read_text(node, key, file)
    if text not in words:
        raise error_in(file, node, message("policy.no_word", "'{key}' cannot be '{text}': {advice}",
                                           key=key, text=text, advice=did_you_mean(text, words)))
    return text


def read_items(node: Node, key: str, file: str) -> list[Node]:
    """The items of a list; an empty list is written []. Raises UserError."""
    check_tag(node, file)
    if not isinstance(node, yaml.SequenceNode):
        raise error_in(file, node, message("policy.no_list", "'{key}' must be a list, [] if it is to be empty, but {found} stands here",
                                           key=key, found=said(node)))
    return list(node.value)


def read_names(node: Node, key: str, file: str) -> tuple[str, ...]:
    """A list of texts. Raises UserError."""
    return tuple(read_text(item, key, file) for item in read_items(node, key, file))


def read_pattern(node: Node, key: str, file: str) -> re.Pattern[str]:
    """A regular expression of Python's re. Raises UserError."""
    text = read_text(node, key, file)
    try:
        return re.compile(text)
    except re.error as problem:
        place = "" if problem.pos is None else message("policy.at_character", ", at its character {position}", position=problem.pos + 1)
        raise error_in(file, node, message("policy.no_expression",
                                           "'{text}' in '{key}' is no regular expression: {why}{place}; put a backslash before "
                                           "characters that stand for themselves",
                                           text=text, key=key, why=problem.msg, place=place)) from None


def read_patterns(node: Node, key: str, file: str) -> tuple[re.Pattern[str], ...]:
    """A list of regular expressions. Raises UserError."""
    return tuple(read_pattern(item, key, file) for item in read_items(node, key, file))
