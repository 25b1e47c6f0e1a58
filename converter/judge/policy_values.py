"""Single values of a policy file, each checked where it stands: numbers, words, lists, regular expressions."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable

import yaml

from converter.yaml_source import Node, check_tag, error_in, is_empty, scalar_text

_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$")
_ENDLESS = (".inf", ".Inf", ".INF", "+.inf")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The advice behind an unknown word."""
    words = list(known)
    close = difflib.get_close_matches(word, words, 1)
    return f"did you mean '{close[0]}'?" if close else f"known are {', '.join(words)}"


def said(node: Node) -> str:
    """What stands in the file, for messages."""
    if is_empty(node):
        return "nothing"
    if isinstance(node, yaml.ScalarNode):
        return f"'{node.value}'"
    return "a list" if isinstance(node, yaml.SequenceNode) else "a block of keys"


def read_number(node: Node, key: str, file: str, least: float = 0.0, endless: bool = False, positive: bool = False) -> float:
    """A number of at least `least`, or more than 0 with `positive`; with `endless` also .inf. Raises UserError."""
    check_tag(node, file)
    text = scalar_text(node)
    if text is not None and isinstance(node, yaml.ScalarNode) and node.style is None:
        if endless and text in _ENDLESS:
            return math.inf
        if _NUMBER.match(text) and math.isfinite(float(text)):
            if float(text) < least:
                raise error_in(file, node, f"'{key}' is {text}: it must be {least:g} or more")
            if positive and float(text) <= 0:
                raise error_in(file, node, f"'{key}' is {text}: it must be more than 0")
            return float(text)
    allowed = "a number, or .inf for no limit" if endless else "a number"
    raise error_in(file, node, f"'{key}' must be {allowed}, without quotes, but {said(node)} stands here")


def read_text(node: Node, key: str, file: str) -> str:
    """A text that is not empty. Raises UserError."""
    check_tag(node, file)
    text = (scalar_text(node) or "").strip()
    if not text:
        raise error_in(file, node, f"'{key}' must be a name, but {said(node)} stands here")
    return text


def read_word(node: Node, words: tuple[str, ...], key: str, file: str) -> str:
    """One of several words. Raises UserError."""
    text = read_text(node, key, file)
    if text not in words:
        raise error_in(file, node, f"'{key}' cannot be '{text}': {did_you_mean(text, words)}")
    return text


def read_items(node: Node, key: str, file: str) -> list[Node]:
    """The items of a list; an empty list is written []. Raises UserError."""
    check_tag(node, file)
    if not isinstance(node, yaml.SequenceNode):
        raise error_in(file, node, f"'{key}' must be a list, [] if it is to be empty, but {said(node)} stands here")
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
        place = "" if problem.pos is None else f", at its character {problem.pos + 1}"
        raise error_in(file, node, f"'{text}' in '{key}' is no regular expression: {problem.msg}{place}; "
                                   "put a backslash before characters that stand for themselves") from None


def read_patterns(node: Node, key: str, file: str) -> tuple[re.Pattern[str], ...]:
    """A list of regular expressions. Raises UserError."""
    return tuple(read_pattern(item, key, file) for item in read_items(node, key, file))
