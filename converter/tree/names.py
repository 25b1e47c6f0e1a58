"""Node names taken apart: (prefix, path, class, direction, call) of modules, (prefix, api, call, direction) of APIs.

    Module.{path}.{Class}.forward.{call}      Cell.{path}.{Class}.backward.{call}
    Module.{path}.{Class}.parameters_grad     Module.{path}.{Class}.parameters_grad.{index}
    {Prefix}.{api}.{call}.forward             {Prefix}.{api}.{call}.backward

A name is known by its first component, compared whole. Everything else ("optimizer", "ModuleTest.…") is a module
that keeps its own name as label. The part before call and direction is the *stem*: what is called, whichever call it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from converter.tree.columns import Direction, NodeKind

MODULE_PREFIXES = frozenset(("Module", "Cell"))
API_PREFIXES = frozenset(("Tensor", "Torch", "Functional", "NPU", "VF", "Distributed", "Aten", "Mint", "MintFunctional",
                          "MintDistributed", "Primitive", "Jit", "MindSpeed"))

_DIRECTIONS = {"forward": Direction.FORWARD, "backward": Direction.BACKWARD}
_PARAMETERS_GRAD = "parameters_grad"
_LONGEST_CALL = 9  # digits: a call number is an int32


@dataclass(frozen=True)
class NameColumns:
    """One row a name. `path` ids index `paths`, `label` and `prefix` ids index `labels`."""

    stem: NDArray[np.int32]  # same number = same module or API
    kind: NDArray[np.uint8]  # NodeKind: MODULE, API or PARAMETERS_GRAD
    direction: NDArray[np.uint8]
    call: NDArray[np.int32]  # -1 = none
    path: NDArray[np.int32]
    label: NDArray[np.int32]
    prefix: NDArray[np.int32]
    paths: list[tuple[str, ...]]
    labels: list[str]


def parse_names(names: list[str]) -> NameColumns:
    """Take all names apart. Linear in their total length."""
    stems: dict[str, int] = {}
    number = stems.setdefault
    rules = _Rules()
    stem_of: list[int] = []
    found: list[_Rule] = []
    for name in names:
        rest, _, last = name.rpartition(".")
        stem, _, word = rest.rpartition(".")
        rule = rules[word, last]
        if rule.parts != 2:
            stem = rest if rule.parts else name
        stem_of.append(number(stem, len(stems)))
        found.append(rule)
    _, kinds, directions, calls = zip(*found) if found else ((), (), (), ())
    return _with_stems(list(stems), np.array(stem_of, dtype=np.int32),
                       np.array(kinds, dtype=np.uint8), np.array(directions, dtype=np.uint8), np.array(calls, dtype=np.int32))


class _Rule(NamedTuple):
    """What the last two components of a name say."""

    parts: int  # how many components stand behind the stem
    kind: int  # PARAMETERS_GRAD, or ROOT for what the stem decides
    direction: int
    call: int


class _Rules(dict):  # type: ignore[type-arg]
    """The rule of every pair of last components; there are few, because call numbers are shared."""

    def __missing__(self, ends: tuple[str, str]) -> _Rule:
        rule = self[ends] = _rule(*ends)
        return rule


def _rule(word: str, last: str) -> _Rule:
    if last in _DIRECTIONS:
        if _is_call(word):
            return _Rule(2, NodeKind.ROOT, _DIRECTIONS[last], int(word))
        return _Rule(1, NodeKind.ROOT, _DIRECTIONS[last], -1)
    if last == _PARAMETERS_GRAD:
        return _Rule(1, NodeKind.PARAMETERS_GRAD, Direction.BACKWARD, -1)
    if _is_call(last):
        if word in _DIRECTIONS:
            return _Rule(2, NodeKind.ROOT, _DIRECTIONS[word], int(last))
        if word == _PARAMETERS_GRAD:
            return _Rule(2, NodeKind.PARAMETERS_GRAD, Direction.BACKWARD, int(last))
    return _Rule(0, NodeKind.ROOT, Direction.NONE, -1)


def _is_call(text: str) -> bool:
    """Decimal digits that come back unchanged from an int32."""
    return text.isascii() and text.isdigit() and len(text) <= _LONGEST_CALL and (text[0] != "0" or text == "0")


def _with_stems(stems: list[str], stem: NDArray[np.int32], kind: NDArray[np.uint8], direction: NDArray[np.uint8],
                call: NDArray[np.int32]) -> NameColumns:
    paths: dict[tuple[str, ...], int] = {(): 0}
    labels: dict[str, int] = {"": 0}
    rows = []
    for text in stems:
        prefix, path, label, own_kind = _take_apart(text)
        rows.append((own_kind, paths.setdefault(path, len(paths)), labels.setdefault(label, len(labels)),
                     labels.setdefault(prefix, len(labels))))
    columns = np.array(rows, dtype=np.int32).reshape(len(rows), 4)[stem]
    return NameColumns(
        stem=stem,
        kind=np.where(kind == NodeKind.ROOT, columns[:, 0], kind).astype(np.uint8),
        direction=direction,
        call=call,
        path=columns[:, 1],
        label=columns[:, 2],
        prefix=columns[:, 3],
        paths=list(paths),
        labels=list(labels),
    )


def _take_apart(stem: str) -> tuple[str, tuple[str, ...], str, int]:
    """Prefix, path, label and kind of a stem."""
    prefix, _, rest = stem.partition(".")
    if rest and prefix in API_PREFIXES:
        return prefix, (), rest, NodeKind.API
    if rest and prefix in MODULE_PREFIXES:
        components = rest.split(".")
        return prefix, tuple(components[:-1]), components[-1], NodeKind.MODULE
    return "", (), stem, NodeKind.MODULE
