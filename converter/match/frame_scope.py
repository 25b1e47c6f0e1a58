"""The function of the framework from which an API was called, as msprobe's layer mapping scopes APIs.

An addition that the framework itself issues inside `Tensor.__getitem__` is not the addition that the user's code calls: the
function between the two becomes one more component of the API's scope. Only frames up to the forward of the module that
made the call count. Frames run from the innermost outwards, "File PATH, line N, in FUNCTION, ...".
"""

from __future__ import annotations

import re
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from converter.tree.columns import Direction, NodeKind, Tree

_HOOK = "Template"  # the collector's own wrapper
_FRAMEWORK = ("site-packages/torch", "package/torch", "site-packages/mindspore", "package/mindspore")
_NOT_FROM = ("msprobe", "MindSpeed")
_NOT_IN = ("construct", "__call__")
_TORCH_END = re.compile(r"in (for|back)ward,")
_NEVER = ("Primitive", "Jit")


class CallStacks(Protocol):
    """What is needed of a dump: the stack of each of its nodes. A graph file gives the same (rematch.py)."""

    @property
    def framework(self) -> str: ...

    @property
    def stacks(self) -> list[tuple[str, ...]]:
        """Distinct stacks, innermost frame first."""

    @property
    def stack(self) -> NDArray[np.int32]:
        """[dump nodes]: id into `stacks`, -1 = none."""


def frame_scope(lines: tuple[str, ...], mindspore: bool) -> str:
    """The framework function that issued a call, or "" if user code did.

    Args:
        lines: the stack of an API call, innermost frame first.
    """
    start, end = 0, len(lines)
    for number, line in enumerate(lines):
        if _HOOK in line:
            start = number + 1
        elif "construct" in line if mindspore else _TORCH_END.search(line):
            end = number
            break
    scope = ""
    for line in lines[start:end]:
        parts = line.split(",")
        path = parts[0]
        if not any(place in path for place in _FRAMEWORK):
            break
        function = parts[2].strip() if len(parts) > 2 else ""
        function = function[3:].strip() if function.startswith("in ") else function
        usable = not any(word in path for word in _NOT_FROM) and not any(word in function for word in _NOT_IN)
        scope = function if usable else ""
    return scope


def frame_scopes(tree: Tree, dump: CallStacks) -> list[str]:
    """Per node the framework function its API was called from; "" for modules, primitives and nodes without a stack.

    A backward API has the scope of the forward API of the same name and call number.
    """
    mindspore = dump.framework == "mindspore"
    of_stack = [frame_scope(lines, mindspore) for lines in dump.stacks]
    scopes = [""] * tree.count
    if not any(of_stack):
        return scopes
    never = {number for number, label in enumerate(tree.labels) if label in _NEVER}
    forward: dict[tuple[int, int, int], str] = {}
    for node in _apis(tree, Direction.FORWARD).tolist():
        if int(tree.prefix[node]) in never or tree.dump_node[node] < 0:
            continue
        stack = int(dump.stack[tree.dump_node[node]])
        if stack >= 0 and of_stack[stack]:
            scopes[node] = of_stack[stack]
            forward[int(tree.prefix[node]), int(tree.label[node]), int(tree.call[node])] = of_stack[stack]
    for node in _apis(tree, Direction.BACKWARD).tolist():
        scopes[node] = forward.get((int(tree.prefix[node]), int(tree.label[node]), int(tree.call[node])), "")
    return scopes


def _apis(tree: Tree, direction: Direction) -> NDArray[np.int64]:
    return np.flatnonzero((tree.kind == NodeKind.API) & (tree.direction == direction))
