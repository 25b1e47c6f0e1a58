"""What a reader returns: one dump (a rank directory) as plain columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


class Role(IntEnum):
    """Where a leaf stands in its entry. Numbers as in proto/graph.proto."""

    INPUT = 0  # positional arguments; in a backward entry the gradients of the forward outputs
    KWARG = 1
    PARAMETER = 2
    OUTPUT = 3  # in a backward entry the gradients of the forward inputs
    GRADIENT = 4  # parameter gradients (parameters_grad entries)


class LeafKind(IntEnum):
    """What a leaf is. Numbers as in proto/graph.proto."""

    TENSOR = 0
    NUMBER = 1  # int, float (complex is TEXT)
    BOOL = 2
    TEXT = 3  # str, torch.dtype, torch.device, …
    NONE = 4
    OTHER = 5  # slice, torch.Size, process group, P2P op, …


# Bits of Leaves.present.
PRESENT_MAX, PRESENT_MIN, PRESENT_MEAN, PRESENT_NORM = 1, 2, 4, 8
PRESENT_NUMBERS = 15
PRESENT_BOOLEAN = 16  # Max and Min were JSON booleans, kept as 0.0 and 1.0
PRESENT_EXACT = 32  # the statistics do not fit a float64: see Leaves.exact

MAX, MIN, MEAN, NORM = 0, 1, 2, 3  # columns of Leaves.statistics


@dataclass(frozen=True)
class Leaves:
    """All leaves of a dump, one row a leaf, grouped by node in entry order (inputs, kwargs, parameters, outputs).

    `name`, `type`, `dtype`, `value`, `checksum` and `data_name` are int32 ids into `strings`; -1 means "not there".
    """

    strings: list[str]
    role: NDArray[np.uint8]
    kind: NDArray[np.uint8]
    name: NDArray[np.int32]  # "0", "hidden_states", "0.last_hidden_state", "weight"
    type: NDArray[np.int32]  # "torch.Tensor", "mindspore.Tensor", "int", …
    dtype: NDArray[np.int32]  # as the dump spells it: "torch.float32", "Float32"; -1 for None
    shape: NDArray[np.int32]  # id into `shapes`; -1 for leaves without a shape
    shapes: list[tuple[int, ...]]
    requires_grad: NDArray[np.uint8]  # 0 unknown, 1 false, 2 true
    present: NDArray[np.uint8]  # bits above; a NaN in `statistics` is a real NaN only where its bit is set
    statistics: NDArray[np.float64]  # [rows, 4]: Max, Min, Mean, Norm
    value: NDArray[np.int32]  # exact text of a scalar or other value
    checksum: NDArray[np.int32]  # md5 / xor text
    data_name: NDArray[np.int32]  # file of the tensor in task "tensor"
    exact: dict[int, tuple[str, str, str, str]]  # row → texts of Max, Min, Mean, Norm ("" = missing)

    @property
    def rows(self) -> int:
        return len(self.role)


@dataclass(frozen=True)
class Dump:
    """One rank directory. Nodes are numbered in the order of their first appearance: construct.json, then dump.json."""

    path: str
    task: str  # statistics | tensor | structure
    level: str  # L0 | L1 | mix | ""
    framework: str  # pytorch | mindspore | mindtorch | ""
    summary_mode: str  # statistics | md5 | xor | none
    tensor_directory: str  # absolute path of dump_tensor_data beside the JSON files, or ""
    names: list[str]
    construct_count: int  # names[:construct_count] have an entry in construct.json
    parents: list[str | None]  # per name of construct.json; None = child of the root
    micro_steps: list[int] | None  # per name of construct.json, from the Megatron key; None = derive (tree)
    row_end: NDArray[np.int64]  # [names]: leaves of node i are rows row_end[i-1]:row_end[i]
    has_data: NDArray[np.bool_]  # [names]: there is an entry in dump.json
    leaves: Leaves
    stacks: list[tuple[str, ...]]  # distinct stacks, innermost frame first
    stack: NDArray[np.int32]  # [names]: id into `stacks`, -1 = none
    inputs: list[tuple[str, int, int]] = field(default_factory=list)  # (file name, size, crc32) of what was read
    warnings: list[str] = field(default_factory=list)
