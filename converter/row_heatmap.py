"""The heatmap of one compared row of a graph file, its elements read from the dumps while they are still there.

The viewer's server asks for it. Only files that the graph file names are read, and only inside of the dump's tensor directory.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from converter.compare.heatmap import Heatmap, heatmap
from converter.compare.stored_tensor import StoredTensor, TensorUnavailable
from converter.compare.tensor_operands import Operand, arrange_again, read_operand
from converter.dumps.tensor_place import find_tensor_directory
from converter.errors import UserError
from converter.graphfile.file import GraphFile
from converter.graphfile.leaf_files import leaf_file

LARGEST = 4 << 30  # bytes of the tensor files of one row; twice that may be needed while a layout is resolved

Leaf = tuple[int, int]  # node, number of the leaf within the node


@dataclass(frozen=True)
class RowHeatmap:
    """The grid and how the two sides were laid over each other ("" = as they lie)."""

    grid: Heatmap
    layout: str


class NoSuchRow(UserError):
    """A leaf that was asked for is no tensor of the graph file."""


def row_heatmap(file: GraphFile, target: Sequence[Leaf], golden: Sequence[Leaf], relation: str, layout: str,
                bases: Sequence[str] = ("",), largest: int = LARGEST) -> RowHeatmap:
    """Compare the elements of a row that was compared before.

    Args:
        target, golden: its leaves; several on one side make up the other side's tensor.
        relation: how (concat, sum, stack); "" for one leaf on each side.
        layout: the layout that the row's comparison reported; "" = as the elements lie.
        bases: directories in which relative paths of dumps are looked for.
        largest: most bytes of tensor files that are read.
    Raises:
        GraphFileError: the graph file cannot be read.
        NoSuchRow: a leaf is no tensor of the file.
        DumpGone: a dump is not where it was.
        TensorUnavailable: a tensor file is missing, damaged or too large, or the sides do not hold the same elements.
    """
    summary = file.summary()
    sides = []
    for side, leaves in (("target", target), ("golden", golden)):
        found = [leaf_file(file, side, node, leaf) for node, leaf in leaves]
        if not found or None in found:
            raise NoSuchRow(f"the graph has no such tensor on the {side} side")
        sides.append([entry for entry in found if entry is not None])
    about = (summary.target, summary.golden)
    directories = [find_tensor_directory(side.path, side.tensor_directory, summary.step, summary.rank, bases) for side in about]
    operands = [Operand(tuple("" if name == "-1" else name for name, _ in files), tuple(dtype for _, dtype in files),
                        relation if len(files) > 1 else "") for files in sides]
    _check_files([(directory, name) for directory, operand in zip(directories, operands) for name in operand.files if name], largest)
    tensors: list[list[StoredTensor]] = [
        read_operand(directory, operand, side, side_zh)
        for directory, operand, side, side_zh in zip(directories, operands, ("target", "golden"), ("待调试侧", "标杆侧"))
    ]
    one, other, used = arrange_again(layout, tensors[0], tensors[1], operands[0], operands[1])
    return RowHeatmap(heatmap(one, other), used)


def _check_files(files: Sequence[tuple[str, str]], largest: int) -> None:
    """Links may lead even a plain name out of the dump, which whoever runs a server for others does not want to show."""
    size = 0
    for directory, name in files:
        try:
            real = os.path.realpath(os.path.join(directory, name))
            if not real.startswith(os.path.realpath(directory) + os.sep):
                raise TensorUnavailable(f"its file {name} leads out of the dump", f"文件 {name} 指向 dump 之外")
            size += os.path.getsize(real)
        except (OSError, ValueError):
            continue  # told by the reader, with the side
    if size > largest:
        raise TensorUnavailable(f"its files have {size / 1e9:.1f} GB, and the viewer reads up to {largest / 1e9:.1f} GB for a map",
                                f"其文件共 {size / 1e9:.1f} GB，热图最多读取 {largest / 1e9:.1f} GB")
