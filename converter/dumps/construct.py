"""construct.json: the names of the nodes in call order and the parent of each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from converter.dumps.json_file import listed
from converter.errors import UserError
from converter.messages import message

# Megatron dumps say under this key how many micro steps there are; parents are then [parent, micro step].
MICRO_STEP_KEY = "megatron_micro_step_number"
NOT_STATED = -1


@dataclass(frozen=True)
class Construct:
    """Columns of construct.json, one element a node, in file order."""

    names: list[str]
    parents: list[Optional[str]]  # None = child of the root
    micro_steps: Optional[list[int]]  # None = the file says nothing about micro steps; NOT_STATED for single nodes
    warnings: list[str]


def read_construct(document: Any, path: Path) -> Construct:
    """Take the decoded construct.json apart.

    Values are a parent's name, null or "" for children of the root, or `[parent, micro step]`, with or without the
    Megatron key. Raises UserError when there is no tree in the file.
    """
    if not isinstance(document, dict):
        raise UserError(message("construct.no_object",
                                "{path} must hold a JSON object (node name: parent), but holds {found}: dump again, or give another "
                                "rank directory",
                                path=path, found=kind_of(document)))
    stated = MICRO_STEP_KEY in document
    if len(document) == (1 if stated else 0):
        raise UserError(message("construct.empty", "{path} is empty, so there is no tree to draw: dump again with level L0 or mix",
                                path=path))
    names: list[str] = list(document)
    parents: list[Optional[str]] = list(document.values())
    if stated:
        at = names.index(MICRO_STEP_KEY)
        del names[at], parents[at]
    kinds = set(map(type, parents))
    if kinds <= {str, type(None)} and not stated:
        own = dict(zip(names, names))  # one text a name, not one a mention
        return Construct(names, [own.get(parent, parent) if parent else None for parent in parents], None, [])
    return _mixed(names, parents, stated)


def _mixed(names: list[str], values: list[Any], stated: bool) -> Construct:
    parents: list[Optional[str]] = []
    steps: list[int] = []
    malformed: list[str] = []
    for name, value in zip(names, values):
        step = NOT_STATED
        if isinstance(value, list):
            number = value[1] if len(value) == 2 else None
            if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2 ** 31:
                step = number
            else:
                malformed.append(name)
            value = value[0] if value else None
        if value is not None and not isinstance(value, str):
            malformed.append(name)
            value = None
        parents.append(value or None)
        steps.append(step)
    warnings = []
    if malformed:
        warnings.append(message("construct.parents",
                                "construct.json: a parent must be a name, null or [name, micro step]; what else is there is passed over at "
                                "{names}", names=listed(list(dict.fromkeys(malformed)))))
    return Construct(names, parents, steps if stated or max(steps) >= 0 else None, warnings)


_NUMBER, _AN_OBJECT = message("kind.number", "a number"), message("kind.object", "an object")
_KINDS: dict[type, str] = {list: message("kind.list", "a list"), str: message("kind.text", "a text"),
                           bool: message("kind.boolean", "true or false"), int: _NUMBER, float: _NUMBER,
                           type(None): message("kind.null", "null")}


def kind_of(value: Any) -> str:
    """What a JSON value is, in the words of a message."""
    return _KINDS.get(type(value), _AN_OBJECT)
