"""stack.json: the call stack of every node, alike stacks kept once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from converter.dumps.construct import kind_of
from converter.dumps.json_file import listed

Stack = tuple[str, ...]


def read_stacks(document: Any, index: dict[str, int], names: list[str]) -> tuple[list[Stack], NDArray[np.int32], list[str]]:
    """Distinct stacks, the stack of every node (int32, -1 = none), and warnings.

    `index` is the number of each name in `names`. Both formats are read, entry by entry: `{node: [line, …]}` and
    `{"0": [[node, …], [line, …]], …}`. A backward node, which the collector gives no stack, shows the one of its forward
    twin: the forward call of the same number, else of number 0.
    """
    stack = np.full(len(names), -1, dtype=np.int32)
    if not isinstance(document, dict):
        return [], stack, [f"stack.json must hold a JSON object, but holds {kind_of(document)}; call stacks are left out"]
    ids: dict[Stack, int] = {}
    owner: dict[str, int] = {}
    malformed: list[str] = []
    for key, value in document.items():
        if isinstance(value, list) and len(value) == 2 and isinstance(value[0], list):
            nodes, lines = value
        else:
            nodes, lines = [key], value
        if isinstance(lines, str):
            lines = [lines]
        try:
            number = ids.setdefault(tuple(map(_line, lines)), len(ids))
            owner.update(dict.fromkeys(nodes, number))
        except TypeError:
            malformed.append(key)
    numbers = list(map(index.get, owner))
    known = [(node, number) for node, number in zip(numbers, owner.values()) if node is not None]
    if known:
        pairs = np.array(known, dtype=np.int32)
        stack[pairs[:, 0]] = pairs[:, 1]
    _share_with_backward(stack, owner, names)
    warnings = [f"stack.json: malformed stacks are left out: {listed(malformed)}"] if malformed else []
    return list(ids), stack, warnings


def _line(line: Any) -> str:
    if not isinstance(line, str):
        raise TypeError
    return line


def _share_with_backward(stack: NDArray[np.int32], owner: dict[str, int], names: list[str]) -> None:
    """Give backward nodes the stack of their forward twin."""
    nodes: list[int] = []
    numbers: list[int] = []
    get = owner.get
    for node, name in enumerate(names):
        if name.endswith(".backward"):
            number = get(name[:-8] + "forward")
        elif ".backward." in name:
            stem, _, call = name.rpartition(".")
            if not stem.endswith(".backward"):
                continue
            number = get(f"{stem[:-8]}forward.{call}")
            if number is None:
                number = get(f"{stem[:-8]}forward.0")
        else:
            continue
        if number is not None and name not in owner:
            nodes.append(node)
            numbers.append(number)
    stack[nodes] = numbers
