"""Finds the tensor files of a dump that a graph file was made from, after the dump may have been moved."""

from __future__ import annotations

import os
from collections.abc import Sequence

from converter.dumps.layout import find_ranks
from converter.errors import UserError


class DumpGone(UserError):
    """The dump, or its tensor files, are not where they were. Both texts are shown to the user."""

    def __init__(self, en: str, zh: str) -> None:
        super().__init__(en)
        self.en = en
        self.zh = zh


def find_tensor_directory(path: str, below: str, step: int, rank: int, bases: Sequence[str] = ("",)) -> str:
    """The directory with the tensor files of one rank.

    Args:
        path: the dump as the user gave it to graph-convert; a relative path is looked for below each of `bases` in turn ("" = the current
            directory).
        below: where the tensor files lie below the rank directory (`Side.tensor_directory` of a graph file).
        step, rank: which rank, where `path` holds several.
    Raises:
        DumpGone: the dump has no tensor files, or there is none any more.
    """
    if not below:
        raise DumpGone("the dump has no tensor files, only statistics", "该 dump 只有统计量，没有张量文件")
    if "://" in path:
        raise DumpGone(f"the dump lies at {path}, and elements are read from local directories only",
                       f"dump 位于 {path}，只能从本地目录读取元素")
    if os.path.isabs(below) or os.pardir in below.replace("\\", "/").split("/"):
        raise DumpGone(f"its tensor files are said to lie outside of the dump, in {below}", f"其张量文件位于 dump 目录之外：{below}")
    gone = DumpGone(f"the dump is not at {path} any more", f"{path} 处已没有该 dump")
    for base in bases if not os.path.isabs(path) else ("",):
        try:
            ranks, _ = find_ranks(os.path.join(base, path))
        except UserError:
            continue
        found = [entry.path for entry in ranks if len(ranks) == 1 or (entry.step, entry.rank) == (step, rank)]
        if not found:
            gone = DumpGone(f"the dump at {path} has no step {step}, rank {rank} any more",
                            f"{path} 处的 dump 已没有 step {step}、rank {rank}")
            continue
        directory = os.path.join(found[0], below)
        if os.path.isdir(directory):
            return directory
        gone = DumpGone(f"the dump at {path} has no {below} any more", f"{path} 处的 dump 已没有 {below}")
    raise gone
