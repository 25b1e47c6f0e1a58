"""Finds the rank directories below a path, in every layout that collectors write.

    rank directory            holds dump.json
    rank{N}, rank, proc{pid}  one level: ranks of one step; `rank` and `proc{pid}` are rank 0 of a single-card dump
    step{N}/…                 two levels: the above, once a step

Whatever else lies beside them is passed over with a warning. Links are followed; neither ownership nor write permission is
asked for.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from converter.dumps.json_file import listed
from converter.errors import UserError
from converter.messages import GOLDEN, TARGET, message

DUMP_FILE, CONSTRUCT_FILE, STACK_FILE = "dump.json", "construct.json", "stack.json"
TENSOR_DIRECTORY = "dump_tensor_data"

_STEP = re.compile(r"step(\d+)", re.ASCII)
_RANK = re.compile(r"rank(\d*)", re.ASCII)
_PROCESS = re.compile(r"proc\d+", re.ASCII)
_FILES = frozenset((DUMP_FILE, CONSTRUCT_FILE, STACK_FILE, TENSOR_DIRECTORY, "debug.json", "dump_error_info.log"))
_EXPECTED = message("dump.expected",
                    "give a directory with dump.json and construct.json, or one whose subdirectories are called step0, rank0, … like a "
                    "dump")


@dataclass(frozen=True)
class RankDirectory:
    """One dump: the rank directory of a step."""

    step: int
    rank: int
    path: str


def find_ranks(path: str) -> tuple[list[RankDirectory], list[str]]:
    """All rank directories below a path, sorted by step and rank as numbers, and warnings about what was passed over.

    Raises UserError when the path is not there, is no directory, is empty, or holds nothing in a known layout. Of several
    rank directories some may be unfit to be read: `read_dump` says so, and the others can still be compared.
    """
    if os.path.isfile(path):
        raise UserError(message("dump.is_file", "{path} is a file: give the dump directory that it lies in", path=path))
    names = _names(path)
    if not names:
        raise UserError(message("dump.empty", "{path} is empty: {expected}", path=path, expected=_EXPECTED))
    if not _FILES.isdisjoint(names):
        require_files(path)
        return [RankDirectory(0, 0, path)], []
    steps = _numbered(path, names, _STEP)
    if steps:
        warnings = _passed_over(path, names, [name for _, name in steps])
        ranks: list[RankDirectory] = []
        for step, name in steps:
            folder = os.path.join(path, name)
            found, passed_over = _ranks_of_step(folder, _names(folder), step)
            ranks += found
            warnings += passed_over
            if not found:
                warnings.append(message("dump.no_rank_in_step", "{path} holds no rank directory and is passed over", path=folder))
        if not ranks:
            raise UserError(message("dump.no_rank_at_all", "{path}: no step holds a rank directory: {expected}",
                                    path=path, expected=_EXPECTED))
        return _unique(ranks), warnings
    ranks, warnings = _ranks_of_step(path, names, 0)
    if not ranks:
        raise UserError(message("dump.no_dump", "{path} holds no dump: {expected}; found {names}",
                                path=path, expected=_EXPECTED, names=listed(names)))
    return _unique(ranks), warnings


def require_files(path: str) -> None:
    """Raise UserError when a rank directory lacks one of the files without which there is no graph, or has something else instead."""
    names = _names(path)
    if DUMP_FILE not in names:
        raise UserError(message("dump.no_dump_json", "{path} has no {file}: was the dump finished? {expected}",
                                path=path, file=DUMP_FILE, expected=_EXPECTED))
    if CONSTRUCT_FILE not in names:
        raise UserError(message("dump.no_construct",
                                "{path} has no {file}, so there is no tree to draw: dump again with level L0 or mix and with extra_info",
                                path=path, file=CONSTRUCT_FILE))
    for name in (DUMP_FILE, CONSTRUCT_FILE, STACK_FILE):
        file = os.path.join(path, name)
        if name in names and not os.path.isfile(file):  # to open a pipe would be to wait for ever
            kind: str = (
                message("kind.directory", "a directory")
                if os.path.isdir(file)
                else message("kind.pipe", "a pipe or a device")
                if os.path.exists(file)
                else message("kind.broken_link", "a link to nowhere")
            )
            raise UserError(message("dump.no_file", "{path} is no file but {kind}: copy the dump again", path=file, kind=kind))


def _ranks_of_step(path: str, names: list[str], step: int) -> tuple[list[RankDirectory], list[str]]:
    """Rank directories of one step. A step directory that is itself a rank directory counts as rank 0."""
    if not _FILES.isdisjoint(names):
        return [RankDirectory(step, 0, path)], []
    found = _numbered(path, names, _RANK)
    if not found:
        processes = [name for name in names if _PROCESS.fullmatch(name) and os.path.isdir(os.path.join(path, name))]
        if len(processes) > 1:
            raise UserError(message("dump.processes",
                                    "{path} holds {count} process directories ({names}): only one can be rank 0; give one of them, or "
                                    "rename them to rank0, rank1, …",
                                    path=path, count=len(processes), names=listed(processes)))
        found = [(0, name) for name in processes]
    ranks = []
    warnings = _passed_over(path, names, [name for _, name in found])
    for rank, name in found:
        folder = os.path.join(path, name)
        content = _names(folder)
        if DUMP_FILE in content or CONSTRUCT_FILE in content:
            ranks.append(RankDirectory(step, rank, folder))
        else:
            warnings.append(message("dump.rank_without_dump", "{path} holds no dump.json and is passed over", path=folder))
    return ranks, warnings


def _numbered(path: str, names: list[str], pattern: re.Pattern[str]) -> list[tuple[int, str]]:
    """Directories that a pattern names, with their number (none = 0), in the order of the numbers."""
    found = []
    for name in names:
        match = pattern.fullmatch(name)
        if match and os.path.isdir(os.path.join(path, name)):
            found.append((int(match[1] or 0), name))
    return sorted(found)


def _unique(ranks: list[RankDirectory]) -> list[RankDirectory]:
    """Sorted; two directories for one rank ("rank" and "rank0", "step1" and "step01") leave open which one is meant."""
    ranks = sorted(ranks, key=lambda found: (found.step, found.rank))
    for first, second in zip(ranks, ranks[1:]):
        if (first.step, first.rank) == (second.step, second.rank):
            raise UserError(message("dump.same_rank",
                                    "{path} and {other} are both step {step}, rank {rank}: rename or remove one of them",
                                    path=first.path, other=second.path, step=first.step, rank=first.rank))
    return ranks


def _names(path: str) -> list[str]:
    """Names in a directory in natural order, without hidden ones."""
    try:
        names = os.listdir(path)
    except FileNotFoundError:
        raise UserError(message("dump.missing", "{path} is not there: check the path of the dump", path=path)) from None
    except OSError as error:
        raise UserError(message("file.unreadable", "{path} cannot be read: {why}", path=path, why=error.strerror or error)) from None
    return sorted((name for name in names if not name.startswith(".")), key=natural_key)


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """Sorts "rank10" behind "rank9"."""
    parts = re.split(r"(\d+)", name, flags=re.ASCII)
    return [(1, 0, part) if i % 2 == 0 else (0, int(part), part) for i, part in enumerate(parts) if part]


def _passed_over(path: str, names: list[str], used: list[str]) -> list[str]:
    rest = [name for name in names if name not in set(used)]
    return [message("dump.passed_over", "{path}: passed over, no part of a dump: {names}",
                    path=path, names=listed(rest))] if rest and used else []


def pair_ranks(target: list[RankDirectory], golden: list[RankDirectory],
               ) -> tuple[list[tuple[RankDirectory, RankDirectory]], list[str]]:
    """Rank directories of both sides that belong together, by step and rank, and warnings about those that stay alone.

    A single one against a single one always belong together, whatever their numbers. Raises UserError when none do.
    """
    if len(target) == 1 and len(golden) == 1:
        return [(target[0], golden[0])], []
    others = {(found.step, found.rank): found for found in golden}
    pairs = [(found, others[found.step, found.rank]) for found in target if (found.step, found.rank) in others]
    if not pairs:
        raise UserError(message("dump.no_common_rank",
                                "the two sides have no step and rank in common: target has {target}; golden has {golden}; give the "
                                "directories of single ranks to compare them whatever their numbers",
                                target=_told(target), golden=_told(golden)))
    both = {(found.step, found.rank) for found, _ in pairs}
    warnings = []
    for side, ranks in ((TARGET, target), (GOLDEN, golden)):
        alone = [found for found in ranks if (found.step, found.rank) not in both]
        if alone:
            warnings.append(message("dump.only_one_side", "only the {side} side has {ranks}: not compared", side=side, ranks=_told(alone)))
    return pairs, warnings


def _told(ranks: list[RankDirectory], most: int = 4) -> str:
    text = ", ".join(f"step {found.step} rank {found.rank}" for found in ranks[:most])
    return text if len(ranks) <= most else message("and_more", "{names} and {count} more", names=text, count=len(ranks) - most)
