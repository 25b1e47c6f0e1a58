"""Full names of compared tensors, as the peer writes them: "{node}.input.0", "{node}.parameters.weight", "{node}.output.0"."""

from __future__ import annotations

from collections.abc import Sequence

from converter.compare.columns import Composition
from converter.dumps.columns import Leaves, Role
from converter.tree.graph import Graph

_GROUPS = {Role.INPUT: "input.", Role.KWARG: "input.", Role.PARAMETER: "parameters.", Role.OUTPUT: "output.", Role.GRADIENT: ""}


class RowNames:
    """Names of the leaves of one side, composed ones included: those are the names of their parts, joined by " + ".

    Gradients of parameters stand below nodes that say so: "{module}.parameters_grad.0.weight".
    """

    def __init__(self, graph: Graph, leaves: Leaves, compositions: Sequence[Composition]) -> None:
        self._names = graph.tree.names
        self._leaves = leaves
        self._parts = {composition.row: composition.parts for composition in compositions}
        self._owner = graph.node_of_row()

    def of(self, row: int) -> str:
        """The name of a row; "" for -1."""
        if row < 0:
            return ""
        if row in self._parts:
            return " + ".join(self.of(part) for part in self._parts[row])
        group = _GROUPS[Role(int(self._leaves.role[row]))]
        return f"{self._names[int(self._owner[row])]}.{group}{self._leaves.strings[int(self._leaves.name[row])]}"
