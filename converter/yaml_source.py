"""YAML of mapping files and policies as nodes with positions: keys as typed, duplicates and damage found by line and column."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

import yaml

from converter.errors import UserError
from converter.messages import message
from converter.yaml_nodes import Node, compose_alike, is_plain

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_MERGE = "tag:yaml.org,2002:merge"
_PLAIN_TAGS = frozenset("tag:yaml.org,2002:" + name for name in (
    "str", "int", "float", "bool", "null", "timestamp", "binary", "merge", "value", "map", "seq"))


@dataclass(frozen=True)
class Entry:
    """One `key: value` of a mapping. `key` is the text as typed; the empty text for a key that is a list."""

    key: str
    key_node: Node
    value: Node

    @property
    def line(self) -> int:
        return line_of(self.key_node)

    @property
    def column(self) -> int:
        return column_of(self.key_node)


def line_of(node: Node) -> int:
    return int(node.start_mark.line) + 1


def column_of(node: Node) -> int:
    return int(node.start_mark.column) + 1


NOTHING = message("kind.nothing", "nothing")
A_LIST = message("kind.list", "a list")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The advice behind an unknown word."""
    words = tuple(known)
    close = difflib.get_close_matches(word, words, 1)
    if close:
        return message("did_you_mean", "did you mean '{close}'?", close=close[0])
    return message("known_are", "known are {words}", words=words)


def error_at(name: str, line: int, column: int, text: str) -> UserError:
    """The one form of every message about a file that a user writes."""
    return UserError(message("at", "{name}, line {line}, column {column}: {text}", name=name, line=line, column=column, text=text))


def error_in(name: str, node: Node, text: str) -> UserError:
    return error_at(name, line_of(node), column_of(node), text)


def read_text(path: str, kind: str) -> str:
    """Read a file as UTF-8, with or without a byte order mark, with any line ends. `kind` is what messages call it.

    Raises:
        UserError: the file cannot be opened or is not UTF-8.
    """
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except IsADirectoryError:
        raise UserError(message("file.is_directory", "{path} is a directory: give the {kind} itself", path=path, kind=kind)) from None
    except FileNotFoundError:
        raise UserError(message("file.missing", "{kind} {path} does not exist: check the path", kind=kind, path=path)) from None
    except OSError as problem:
        raise UserError(message("file.kind_unreadable", "{kind} {path} cannot be read: {why}",
                                kind=kind, path=path, why=problem.strerror or problem)) from None
    return decode_text(data, path)


def decode_text(data: bytes, name: str) -> str:
    """Decode the bytes of a file. Raises UserError with line and column where they are not UTF-8."""
    if data.startswith(_UTF16_MARKS):
        raise error_at(name, 1, 1, message("yaml.utf16", "the file is encoded as UTF-16: save it as UTF-8"))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        before = data[:problem.start]
        line_start = max(before.rfind(b"\n"), before.rfind(b"\r")) + 1
        line = before.count(b"\n") + 1
        column = len(before[line_start:].decode("utf-8-sig", "replace")) + 1
        raise error_at(name, line, column,
                       message("yaml.not_utf8", "byte 0x{byte} is not UTF-8: save the file as UTF-8",
                               byte=f"{data[problem.start]:02X}")) from None


def compose(text: str, name: str) -> Node | None:
    """Parse YAML text into its node graph; None for an empty document.

    Raises:
        UserError: not YAML, more than one document, nested too deeply.
    """
    try:
        return compose_alike(text)
    except yaml.reader.ReaderError as problem:
        before = text[:problem.position]
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        raise error_at(name, line, column,
                       message("yaml.character", "character {character} is not allowed in YAML: remove it",
                               character=_code_point(problem.character))) from None
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        if "could not find expected ':'" in (problem.problem or ""):
            mark = problem.context_mark or mark  # where the line without ':' begins; the problem's mark lies behind it
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise error_at(name, line, column, _syntax_text(text, line, column, problem)) from None
    except RecursionError:
        raise UserError(message("yaml.too_deep", "{name}: the file is nested too deeply to be read as YAML: a few levels are enough",
                                name=name)) from None


def _code_point(character: object) -> str:
    number = ord(character) if isinstance(character, str) else int(str(character))
    return f"U+{number:04X}"


def _syntax_text(text: str, line: int, column: int, problem: yaml.MarkedYAMLError) -> str:
    """What is wrong with the YAML, with the advice that fits the usual mistakes."""
    lines = text.splitlines()
    content = lines[line - 1] if line <= len(lines) else ""
    said = problem.problem or message("yaml.unreadable", "cannot be read")
    if content[column - 1:column] == "\t" or "'\\t'" in said:
        return message("yaml.tab", "a tab stands where YAML wants spaces: indent with spaces")
    if content[column - 1:column] == "*" and "alias" in f"{problem.context or ''}{said}":
        return message("yaml.alias_quotes", "a text that begins with '*' needs quotes, because YAML reads it as an alias: write \"*…\"")
    if "another document" in said:
        return message("yaml.second_document", "a second document begins here ('---'): a file holds one")
    if "but got '?'" in said:
        return message("yaml.question_mark", "a text that holds '?' needs quotes inside braces")
    if "undefined alias" in said:
        return message("yaml.undefined_alias", "{said}: define it above with '&', or put quotes around the text if '*' is a wildcard",
                       said=said)
    if "mapping values are not allowed" in said:
        return message("yaml.second_colon",
                       "a second ': ' or wrong indentation: put one 'name: value' in each line and quotes around a text that contains "
                       "': '")
    if "could not find expected ':'" in said:
        return message("yaml.no_colon", "this line has no ': ': write 'name: value'")
    if "expected <block end>" in said:
        return message("yaml.indentation", "the indentation does not fit the lines above: indent all lines of one block alike")
    context = f" ({problem.context})" if problem.context else ""
    return message("yaml.invalid", "not valid YAML: {said}{context}", said=said, context=context)


def scalar_text(node: Node) -> str | None:
    """The text of a scalar as typed (`0`, `on`, `012`, `1.5` are texts), or None if the node is no scalar."""
    return str(node.value) if isinstance(node, yaml.ScalarNode) else None


def is_empty(node: Node) -> bool:
    """True for a value that was left out (`key:` with nothing behind it)."""
    return is_plain(node) and not node.value


def check_tag(node: Node, name: str) -> None:
    """Refuse tags of other applications (`!x`, `!!python/…`): nothing is ever constructed."""
    if node.tag not in _PLAIN_TAGS:
        raise error_in(name, node, message("yaml.tag", "the tag {tag} means nothing here: remove it", tag=node.tag))


def entries(node: yaml.MappingNode, name: str) -> list[Entry]:
    """The entries of a mapping in order. `<<: *block` brings in the entries of another one, as in YAML 1.1: own keys win.

    Raises:
        UserError: a key that occurs twice (with both lines), a key that is a mapping, a merge with something else.
    """
    return _entries(node, name, (), {})


def _entries(node: yaml.MappingNode, name: str, inside: tuple[int, ...], done: dict[int, list[Entry]]) -> list[Entry]:
    if id(node) in inside:
        raise error_in(name, node, message("yaml.merge_circle", "this block is merged into itself with '<<': remove the merge"))
    if id(node) in done:
        return done[id(node)]
    own: list[Entry] = []
    merged: list[Entry] = []
    seen: dict[str, Entry] = {}
    for key_node, value in node.value:
        check_tag(key_node, name)
        check_tag(value, name)
        if key_node.tag == _MERGE:
            blocks = value.value if isinstance(value, yaml.SequenceNode) else [value]
            for block in blocks:
                if not isinstance(block, yaml.MappingNode):
                    raise error_in(name, value, message("yaml.merge_block", "'<<' wants a block of 'name: value': write '<<: *anchor'"))
                merged.extend(_entries(block, name, (*inside, id(node)), done))
            continue
        if isinstance(key_node, yaml.MappingNode):
            raise error_in(
                name,
                key_node,
                message("yaml.brace_key", "a key that begins with '{' needs quotes, because YAML reads it as a block: write \"{i}\""),
            )
        entry = Entry(scalar_text(key_node) or "", key_node, value)
        identity = key_identity(key_node)
        if identity in seen:
            raise error_at(name, entry.line, entry.column,
                           message("yaml.twice", "'{key}' is used twice here, first in line {line}: keep one of the two",
                                   key=identity, line=seen[identity].line))
        seen[identity] = entry
        own.append(entry)
    for entry in merged:
        identity = key_identity(entry.key_node)
        if identity not in seen:
            seen[identity] = entry
            own.append(entry)
    done[id(node)] = own
    return own


def key_identity(node: Node) -> str:
    """What makes two keys the same: their text; for a list its texts in brackets."""
    if isinstance(node, yaml.SequenceNode):
        return "[" + ", ".join(scalar_text(part) or "" for part in node.value) + "]"
    return (scalar_text(node) or "").strip()
