"""The two sides of one row: reads their files and arranges them in one shape, for the comparison of elements and for its heatmap."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Optional

from converter.compare.fused_layouts import arrange_parts
from converter.compare.regrouping import regrouped_as
from converter.compare.stored_tensor import StoredTensor, TensorUnavailable
from converter.compare.tensor_files import read_tensor
from converter.compare.tensor_layouts import arrange
from converter.match.pairing import Layout

_JOINED = re.compile(r"(?:target|golden) (stacked|per_group|per_shard)(?:\((\d{1,9})\))?: ")  # as fused_layouts words it


@dataclass(frozen=True)
class Operand:
    """The files of one side of a row, with the dtypes that the dump states. Several: a composed row."""

    files: tuple[str, ...]
    dtypes: tuple[str, ...]
    relation: str  # concat | sum | stack; "" = one file


def read_operand(directory: str, operand: Operand, side: str, side_zh: str) -> list[StoredTensor]:
    """The tensors of one side. Raises TensorUnavailable, naming the side."""
    try:
        if not all(operand.files):
            raise TensorUnavailable("no tensor file was dumped", "未保存张量文件")
        return [read_tensor(directory, name, dtype) for name, dtype in zip(operand.files, operand.dtypes)]
    except TensorUnavailable as error:
        raise TensorUnavailable(f"{side}: {error.why}", f"{side_zh}：{error.why_zh}") from error


def arrange_operands(target: list[StoredTensor], golden: list[StoredTensor], target_operand: Operand, golden_operand: Operand,
                     tolerance: float, same_code: bool, given: Optional[Layout]) -> tuple[StoredTensor, StoredTensor, str]:
    """Both sides in one shape, and the layout that was used ("" = as they lay): golden in target's, target's parts in golden's.

    Raises TensorUnavailable where they do not hold the same elements.
    """
    if (target[0].format.kind == "bool") != (golden[0].format.kind == "bool"):  # a mask of one kind against one of another
        kinds = target[0].format.name, golden[0].format.name
        raise TensorUnavailable(f"{kinds[0]} against {kinds[1]} are different things", f"{kinds[0]} 与 {kinds[1]} 含义不同")
    if not target_operand.relation and not golden_operand.relation:
        arranged, layout = arrange(target[0], golden[0], tolerance, same_code)
        return target[0], arranged, layout
    if target_operand.relation and golden_operand.relation:
        raise TensorUnavailable("both sides are put together from several tensors", "两侧均由多个张量组成")
    if golden_operand.relation:
        names = part_names(golden_operand.files)
        arranged, layout = arrange_parts(target[0], golden, golden_operand.relation, names, tolerance, given)
        return target[0], arranged, "golden " + layout
    names = part_names(target_operand.files)
    arranged, layout = arrange_parts(golden[0], target, target_operand.relation, names, tolerance, given)
    return arranged, golden[0], "target " + layout


def arrange_again(used: str, target: list[StoredTensor], golden: list[StoredTensor], target_operand: Operand,
                  golden_operand: Operand) -> tuple[StoredTensor, StoredTensor, str]:
    """As arrange_operands, in the layout `used` that an earlier comparison of the same tensors reported ("" = as they lay).

    Raises TensorUnavailable.
    """
    if not target_operand.relation and not golden_operand.relation:
        regrouped = regrouped_as(used, target[0], golden[0])
        if regrouped is not None:
            return target[0], regrouped, used
    permuted = " → " in used  # then the order as it lies is not the one that was used, however well it agrees
    joined = _JOINED.match(used)
    given = None
    if joined is not None:
        pieces = int(joined[2] or 1)
        given = Layout(joined[1], pieces, pieces, pieces)
    return arrange_operands(target, golden, target_operand, golden_operand, 0.0 if permuted else math.inf, not permuted, given)


def part_names(files: tuple[str, ...]) -> list[str]:
    """What tells the files of a fused layer's parts apart: "…self_attn.q_proj.Linear.forward.0…" → "q_proj"."""
    components = [name.split(".") for name in files]
    if len({len(parts) for parts in components}) == 1:
        apart = [values for values in zip(*components) if len(set(values)) > 1]
        if apart:
            telling = next((values for values in apart if len(set(values)) == len(files)), None)
            return list(telling) if telling else [".".join(values) for values in zip(*apart)]
    return [str(number) for number in range(1, len(files) + 1)]
