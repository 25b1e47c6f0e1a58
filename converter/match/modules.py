"""The modules of one graph as a hierarchy of paths, with what is known of each: class, calls, shapes, statistics."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from converter.dumps.columns import NORM, PRESENT_NORM, LeafKind, Role
from converter.tree.columns import Direction, NodeKind
from converter.tree.graph import Graph

# Two statistics agree when they differ by less than this, relative to the larger one. Wide enough for other kernels,
# narrow enough that two different tensors of one model hardly ever agree by chance.
FINGERPRINT_TOLERANCE = 1e-4
# Keyword arguments by which a module is handed a parameter that it does not own.
HANDED_PARAMETERS = ("weight", "bias")
# Running statistics of a norm: MindSpore lists them among the parameters, PyTorch does not.
RUNNING_STATISTICS = frozenset({"moving_mean", "moving_variance", "moving_var", "running_mean", "running_var", "num_batches_tracked"})


@dataclass(frozen=True)
class TensorFeature:
    """What matching looks at in one tensor leaf."""

    name: str
    shape: tuple[int, ...]
    size: int
    statistics: tuple[float, float, float, float] | None  # Max, Min, Mean, Norm; None without a norm

    def agrees(self, other: TensorFeature) -> bool:
        """Same number of elements and the same statistics, whatever the layout."""
        if self.size != other.size or self.statistics is None or other.statistics is None:
            return False
        scale = max(abs(self.statistics[NORM]), abs(other.statistics[NORM]))
        largest = max(abs(self.statistics[0]), abs(self.statistics[1]), abs(other.statistics[0]), abs(other.statistics[1]))
        if not scale:
            return True
        return (
            abs(self.statistics[NORM] - other.statistics[NORM]) <= FINGERPRINT_TOLERANCE * scale
            and abs(self.statistics[0] - other.statistics[0]) <= FINGERPRINT_TOLERANCE * largest
            and abs(self.statistics[1] - other.statistics[1]) <= FINGERPRINT_TOLERANCE * largest
        )


@dataclass(frozen=True)
class ModuleFeatures:
    """Tensors of a module's first forward call."""

    parameters: tuple[TensorFeature, ...]
    inputs: tuple[TensorFeature, ...]
    outputs: tuple[TensorFeature, ...]

    @cached_property
    def parameter_shapes(self) -> tuple[tuple[int, ...], ...]:
        return tuple(sorted(tensor.shape for tensor in self.parameters))


def node_tensors(graph: Graph, node: int, roles: tuple[Role, ...]) -> tuple[TensorFeature, ...]:
    """Tensor leaves of a node in the given roles, in entry order."""
    leaves = graph.leaves
    found = []
    for row in graph.rows(node):
        if leaves.kind[row] != LeafKind.TENSOR or leaves.role[row] not in roles:
            continue
        shape = leaves.shapes[leaves.shape[row]] if leaves.shape[row] >= 0 else ()
        size = 1
        for extent in shape:
            size *= extent
        statistics = None
        if leaves.present[row] & PRESENT_NORM:
            values = leaves.statistics[row]
            statistics = (float(values[0]), float(values[1]), float(values[2]), float(values[3]))
        found.append(TensorFeature(leaves.strings[leaves.name[row]], shape, size, statistics))
    return tuple(found)


@dataclass
class ModuleTable:
    """Every module path of a tree and every level between, as a hierarchy. Entry 0 is the root (empty path)."""

    graph: Graph
    path: list[tuple[str, ...]]
    parent: list[int]
    children: list[list[int]]  # in order of their first call
    class_name: list[str]  # "" for a level that is never called (a ModuleList)
    first: list[int]  # first node of the module or, if it is never called, of what it holds
    nodes: list[list[int]]  # its nodes in call order
    _features: dict[int, ModuleFeatures] = field(default_factory=dict)
    _signatures: list[int] = field(default_factory=list)

    def called(self, module: int) -> bool:
        return bool(self.nodes[module])

    def component(self, module: int) -> str:
        path = self.path[module]
        return path[-1] if path else ""

    def features(self, module: int) -> ModuleFeatures:
        """Tensors of the first forward call (of the first call if there is no forward one)."""
        known = self._features.get(module)
        if known is None:
            tree = self.graph.tree
            node = next((n for n in self.nodes[module] if tree.direction[n] == Direction.FORWARD), -1)
            if node < 0:
                known = ModuleFeatures((), (), ())
            else:
                inputs = node_tensors(self.graph, node, (Role.INPUT, Role.KWARG))
                own = tuple(
                    tensor for tensor in node_tensors(self.graph, node, (Role.PARAMETER,)) if tensor.name not in RUNNING_STATISTICS
                )
                # A tied output layer has no weight of its own and is handed one.
                handed = tuple(tensor for tensor in inputs if tensor.name in HANDED_PARAMETERS)
                known = ModuleFeatures(
                    own or handed,
                    tuple(tensor for tensor in inputs if tensor.name not in HANDED_PARAMETERS),
                    node_tensors(self.graph, node, (Role.OUTPUT,)),
                )
            self._features[module] = known
        return known

    def signature(self, module: int) -> int:
        """Equal for modules of equal class, names, parameters and structure below: what may be matched alike."""
        if not self._signatures:
            self._signatures = [0] * len(self.path)
            for number in range(len(self.path) - 1, -1, -1):  # parents have lower numbers than their children
                features = self.features(number)
                self._signatures[number] = hash(
                    (
                        self.class_name[number],
                        features.parameter_shapes,
                        tuple(tensor.size for tensor in features.outputs),
                        tuple((self.component(child), self._signatures[child]) for child in self.children[number]),
                    )
                )
        return self._signatures[module]

    def is_list(self, module: int) -> bool:
        """A level that repeats one kind of block: at least two children, all with modules inside, half of one class."""
        children = self.children[module]
        if len(children) < 2 or any(not self.children[child] for child in children):
            return False
        classes: dict[str, int] = {}
        for child in children:
            classes[self.class_name[child]] = classes.get(self.class_name[child], 0) + 1
        most = max(classes.values())
        return most >= 2 and most * 2 >= len(children)


def module_table(graph: Graph) -> ModuleTable:
    """Collect the modules of a tree by path; nodes of all directions and parameter gradients of one path form one entry.

    Nodes whose name has no path (optimizer, unknown names) are entries below the root under their own name.
    """
    tree = graph.tree
    is_module = (tree.kind == NodeKind.MODULE) | (tree.kind == NodeKind.PARAMETERS_GRAD)
    module_of: dict[tuple[int, int], int] = {}
    table = ModuleTable(graph, [()], [-1], [[]], [""], [0], [[]])
    child_of: dict[tuple[int, str], int] = {}
    for node in np.flatnonzero(is_module).tolist():
        path_id = int(tree.path[node])
        raw = tree.paths[path_id]
        key = (path_id, -1 if raw else int(tree.label[node]))
        number = module_of.get(key, -1)
        if number < 0:
            number = 0
            for component in raw or (tree.labels[tree.label[node]],):
                parent = number
                number = child_of.get((parent, component), -1)
                if number < 0:
                    number = len(table.path)
                    child_of[parent, component] = number
                    table.path.append((*table.path[parent], component))
                    table.parent.append(parent)
                    table.children.append([])
                    table.children[parent].append(number)
                    table.class_name.append("")
                    table.first.append(-1)
                    table.nodes.append([])
            module_of[key] = number
            table.class_name[number] = tree.labels[tree.label[node]]
        table.nodes[number].append(node)
    _order_children(table)
    return table


def _order_children(table: ModuleTable) -> None:
    """Set `first` of every entry and put children into the order of their first call."""
    for number in range(len(table.path) - 1, -1, -1):
        own = table.nodes[number]
        below = [table.first[child] for child in table.children[number] if table.first[child] >= 0]
        table.first[number] = min([own[0], *below]) if own else min(below, default=-1)
        table.children[number].sort(key=lambda child: table.first[child])
