"""Node names taken apart: (prefix, path, class, direction, call) of modules, (prefix, api, call, direction) of APIs.

    Module.{path}.{Class}.forward.{call}      Cell.{path}.{Class}.backward.{call}
    Module.{path}.{Class}.parameters_grad     Module.{path}.{Class}.parameters_grad.{index}
    {Prefix}.{api}.{call}.forward             {Prefix}.{api}.{call}.backward

A name is known by its first component, compared whole. Everything else ("optimizer", "ModuleTest.…") is a module
that keeps its own name as label. The part before call and direction is the *stem*: what is called, whichever call it is.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    stem_of: list[int] = []
    calls: list[int] = []
    directions: list[int] = []
    gradients: list[int] = []
    for node, name in enumerate(names):
        stem, last = _split(name)
        call = -1
        direction = Direction.NONE
        if last in _DIRECTIONS:
            before, number = _split(stem)
            direction = _DIRECTIONS[last]
            if _is_call(number):
                stem, call = before, int(number)
        elif last == _PARAMETERS_GRAD:
            direction = Direction.BACKWARD
            gradients.append(node)
        else:
            before, word = _split(stem)
            if word in _DIRECTIONS and _is_call(last):
                stem, call, direction = before, int(last), _DIRECTIONS[word]
            elif word == _PARAMETERS_GRAD and _is_call(last):
                stem, call, direction = before, int(last), Direction.BACKWARD
                gradients.append(node)
            else:
                stem = name
        stem_of.append(stems.setdefault(stem, len(stems)))
        calls.append(call)
        directions.append(direction)
    return _with_stems(list(stems), stem_of, calls, directions, gradients)


def _split(name: str) -> tuple[str, str]:
    before, _, last = name.rpartition(".")
    return before, last


def _is_call(text: str) -> bool:
    """Decimal digits that come back unchanged from an int32."""
    return text.isascii() and text.isdigit() and len(text) <= _LONGEST_CALL and (text[0] != "0" or text == "0")


def _with_stems(stems: list[str], stem_of: list[int], calls: list[int], directions: list[int], gradients: list[int]) -> NameColumns:
    paths: dict[tuple[str, ...], int] = {(): 0}
    labels: dict[str, int] = {"": 0}
    columns = np.empty((len(stems), 4), dtype=np.int32)
    for number, stem in enumerate(stems):
        prefix, path, label, kind = _take_apart(stem)
        columns[number] = (kind, paths.setdefault(path, len(paths)), labels.setdefault(label, len(labels)),
                           labels.setdefault(prefix, len(labels)))
    stem_column = np.array(stem_of, dtype=np.int32)
    kind_column = columns[stem_column, 0].astype(np.uint8)
    kind_column[gradients] = NodeKind.PARAMETERS_GRAD
    return NameColumns(
        stem=stem_column,
        kind=kind_column,
        direction=np.array(directions, dtype=np.uint8),
        call=np.array(calls, dtype=np.int32),
        path=columns[stem_column, 1],
        label=columns[stem_column, 2],
        prefix=columns[stem_column, 3],
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
