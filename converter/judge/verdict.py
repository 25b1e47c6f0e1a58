"""What the judge step returns: status and reasons of every row, status and cause of every pair, the first divergence."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


class Status(IntEnum):
    """Numbers as in proto/graph.proto."""

    NONE = 0
    PASS = 1
    WARNING = 2
    ERROR = 3
    NOT_COMPARABLE = 4


class Cause(IntEnum):
    """Numbers as in proto/graph.proto."""

    NONE = 0
    CLEAN = 1
    PARAMETER = 2
    INTRODUCED = 3
    AMPLIFIED = 4
    INHERITED = 5
    RECOVERED = 6


@dataclass(frozen=True)
class Note:
    """The numbers that a reason's sentence names, for one row."""

    row: int
    code: int
    arguments: dict[str, str]


@dataclass(frozen=True)
class FirstDivergence:
    """Where one direction first stops agreeing."""

    pair: int  # -1 = no pair (a gap outside every pair)
    target_node: int
    golden_nodes: tuple[int, ...]
    kind: str  # introduced | parameter | gap | nonfinite
    error: float
    reason_en: str
    reason_zh: str
    after: int  # last clean target node before it, -1 = none
    micro_step: int


@dataclass(frozen=True)
class ParameterDifference:
    """One parameter, or one parameter gradient, that differs."""

    pair: int
    target_node: int
    target: str  # "{node}.parameters.weight"
    golden: tuple[str, ...]
    error: float
    gradient: bool


@dataclass(frozen=True)
class UncomparedParameters:
    """Parameters that both sides have and that could not be compared, each tensor once; the first of them and why."""

    count: int
    target_node: int
    target: str  # "{node}.parameters.weight"
    reason_en: str
    reason_zh: str


@dataclass(frozen=True)
class Verdicts:
    """Columns per comparison row (`row_*`) and per pair, and the answers that a person asks for first."""

    row_status: NDArray[np.uint8]
    row_reasons: NDArray[np.uint32]  # bit r = reason code r (reasons.py)
    row_error: NDArray[np.float32]  # largest scale-aware error; NaN = not measured
    row_statistic: NDArray[np.uint8]  # 0 Max, 1 Min, 2 Mean, 3 Norm, 4 tensor, 255 none
    row_tolerance: NDArray[np.float32]
    notes: list[Note]
    status: NDArray[np.uint8]  # [pairs]
    cause: NDArray[np.uint8]
    error: NDArray[np.float32]  # largest output or gradient error; NaN = not measured, inf = non-finite
    input_error: NDArray[np.float32]
    parameter_error: NDArray[np.float32]
    reasons: NDArray[np.uint32]
    forward: FirstDivergence | None
    backward: FirstDivergence | None
    parameters: list[ParameterDifference]
    policy_name: str
    policy_text: str
    # of each micro step: (forward, backward); empty for a run of one micro step
    micro_steps: list[tuple[FirstDivergence | None, FirstDivergence | None]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    uncompared_parameters: UncomparedParameters | None = None
