"""stack.json: the call stack of every node, alike stacks kept once."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from converter.dumps.construct import kind_of
from converter.dumps.json_file import listed
from converter.messages import message

Stack = tuple[str, ...]


def read_stacks(document: Any, index: dict[str, int], names: list[str]) -> tuple[list[Stack], NDArray[np.int32], list[str]]:
    """Distinct stacks, the stack of every node (int32, -1 = none), and warnings.

    `index` is the number of each name in `names`. Both formats are read, entry by entry: `{node: [line, …]}` and
    `{"0": [[node, …], [line, …]], …}`. A backward node, which the collector gives no stack, shows the one of its forward
    twin: the forward call of the same number, else of number 0.
    """
    stack = np.full(len(names), -1, dtype=np.int32)
    if not isinstance(document, dict):
        return [], stack, [message("stack.no_object", "stack.json must hold a JSON object, but holds {found}; call stacks are left out",
                                   found=kind_of(document))]
    ids: dict[Stack, int] = {}
    nodes: list[int] = []
    numbers: list[int] = []
    malformed: list[str] = []
    for key, value in document.items():
        if isinstance(value, list) and len(value) == 2 and isinstance(value[0], list):
            owners, lines = value
        else:
            owners, lines = [key], value
        if isinstance(lines, str):
            lines = [lines]
        try:
            number = ids.setdefault(tuple(map(_line, lines)), len(ids))
            known = [node for node in map(index.get, owners) if node is not None]
        except TypeError:
            malformed.append(key)
            continue
        nodes += known
        numbers += [number] * len(known)
    stack[nodes] = numbers
    _share_with_backward(stack, index, names)
    warnings = [message("stack.malformed", "stack.json: malformed stacks are left out: {names}",
                        names=listed(malformed))] if malformed else []
    return list(ids), stack, warnings


def _line(line: Any) -> str:
    if not isinstance(line, str):
        raise TypeError
    return line


def _share_with_backward(stack: NDArray[np.int32], index: dict[str, int], names: list[str]) -> None:
    """Give backward nodes without a stack the one of their forward twin."""
    size = len("backward")
    apis = [node for node, name in enumerate(names) if name.endswith(".backward")]
    _take(stack, apis, list(map(index.get, [names[node][:-size] + "forward" for node in apis])))
    modules = []
    stems = []
    for node, name in enumerate(names):
        if ".backward." in name:
            stem, _, call = name.rpartition(".")
            if stem.endswith(".backward"):
                modules.append(node)
                stems.append((stem[:-size] + "forward.", call))
    _take(stack, modules, [index.get(stem + call) for stem, call in stems])
    if (stack[modules] < 0).any():
        _take(stack, modules, [index.get(stem + "0") for stem, _ in stems])


def _take(stack: NDArray[np.int32], nodes: list[int], twins: list[Optional[int]]) -> None:
    """Copy the stacks of twins (None = there is none) to nodes that have none."""
    pairs = [(node, twin) for node, twin in zip(nodes, twins) if twin is not None]
    if pairs:
        at, twin = np.array(pairs).T
        stack[at] = np.where(stack[at] < 0, stack[twin], stack[at])
