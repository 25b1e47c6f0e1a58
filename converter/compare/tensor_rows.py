"""Tensor mode: measures the elements of all rows whose files are there, row by row, with memory for one row at a time.

1. `_Tasks`: the rows of which a side names a file (composed rows: the files of all parts).
2. For each: read both sides and find the layout (tensor_operands), measure (tensor_metrics).
3. What cannot be measured is listed with its reason; it takes nothing else down with it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Callable, Optional

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison, Composition
from converter.compare.number_formats import NumberFormat, format_of, less_precise
from converter.compare.regrouping import regroup
from converter.compare.stored_tensor import StoredTensor, TensorUnavailable
from converter.compare.tensor_metrics import columns, measure_pair
from converter.compare.tensor_operands import Operand, arrange_operands, read_operand
from converter.dumps.columns import LeafKind, Leaves
from converter.match.pairing import Layout
from converter.processes import submit, worker_pool

_ERROR = columns().index("Relative Norm Err")
_BATCH = 64  # rows that a process is given at a time


@dataclass(frozen=True)
class _Task:
    row: int
    target: Operand
    golden: Operand
    tolerance: float
    same_code: bool
    layout: Optional[Layout]


@dataclass(frozen=True)
class _Result:
    row: int
    values: NDArray[np.float64] | None
    layout: str
    unavailable: tuple[str, str] | None


def measure_rows(comparison: Comparison, target_directory: str, golden_directory: str, tolerance_of_row: NDArray[np.float64],
                 progress: Callable[[int, int], None] | None = None, *, same_code_of_row: NDArray[np.bool_] | None = None,
                 layout_of_row: Mapping[int, Layout] | None = None, jobs: int = 1) -> Comparison:
    """The comparison with `metrics` (float64 [rows] per column, NaN = not measured), `layouts` and `unavailable` filled in.

    The directories are those of the dumps' tensor files (`Dump.tensor_directory`). `tolerance_of_row` ([rows]) is the
    relative error that a row's judge admits. `same_code_of_row` ([rows]): pairs of equal code, where tensors of equal
    shape are compared as they lie. `layout_of_row`: what the mapping file says about fused rows. `progress` is called
    with (rows done, rows to do). With `jobs` > 1 that many processes share the rows.

    Rows without files on both sides (scalars, None, one-sided rows) are left alone.
    """
    names = columns()
    metrics = {name: np.full(comparison.rows, np.nan) for name in names}
    layouts, unavailable = dict(comparison.layouts), dict(comparison.unavailable)
    tasks = _Tasks(comparison, tolerance_of_row, same_code_of_row, layout_of_row or {})
    for done, result in enumerate(_results(tasks, target_directory, golden_directory, jobs), 1):
        if result.values is not None:
            for name, value in zip(names, result.values.tolist()):
                metrics[name][result.row] = value
        if result.layout:
            layouts[result.row] = result.layout
        if result.unavailable is not None:
            unavailable[result.row] = result.unavailable
        if progress is not None and (done % _BATCH == 0 or done == len(tasks.rows)):
            progress(done, len(tasks.rows))
    return replace(comparison, metrics=metrics, layouts=layouts, unavailable=unavailable, mode="tensor")


class _Tasks:
    """The rows to measure, put into words batch by batch: a dump may hold a million tensors."""

    def __init__(self, comparison: Comparison, tolerance: NDArray[np.float64], same_code: NDArray[np.bool_] | None,
                 layouts: Mapping[int, Layout]) -> None:
        self._comparison, self._tolerance, self._same_code, self._layouts = comparison, tolerance, same_code, layouts
        self._parts_target = {composition.row: composition for composition in comparison.target_compositions}
        self._parts_golden = {composition.row: composition for composition in comparison.golden_compositions}
        both = (comparison.target_row >= 0) & (comparison.golden_row >= 0)
        sides = [_may_have_files(leaves, rows, both, parts)
                 for leaves, rows, parts in ((comparison.target, comparison.target_row, self._parts_target),
                                             (comparison.golden, comparison.golden_row, self._parts_golden))]
        tensors = [_are_tensors(leaves, rows, both) for leaves, rows in ((comparison.target, comparison.target_row),
                                                                         (comparison.golden, comparison.golden_row))]
        self.rows: NDArray[np.int64] = np.flatnonzero(tensors[0] & tensors[1] & (sides[0] | sides[1]))

    def batches(self) -> Iterator[list[_Task]]:
        for start in range(0, len(self.rows), _BATCH):
            yield [self._task(row) for row in self.rows[start : start + _BATCH].tolist()]

    def _task(self, row: int) -> _Task:
        comparison = self._comparison
        return _Task(
            row,
            _operand(comparison.target, int(comparison.target_row[row]), self._parts_target),
            _operand(comparison.golden, int(comparison.golden_row[row]), self._parts_golden),
            float(self._tolerance[row]),
            bool(self._same_code is not None and self._same_code[row]),
            self._layouts.get(row),
        )


def _are_tensors(leaves: Leaves, rows: NDArray[np.int64], there: NDArray[np.bool_]) -> NDArray[np.bool_]:
    tensors = np.zeros(len(rows), np.bool_)
    tensors[there] = leaves.kind[rows[there]] == LeafKind.TENSOR
    return tensors


def _may_have_files(leaves: Leaves, rows: NDArray[np.int64], there: NDArray[np.bool_],
                    parts: Mapping[int, Composition]) -> NDArray[np.bool_]:
    """Rows that name a file, or are put together from rows that do."""
    nothing = [number for number, text in enumerate(leaves.strings) if text == "-1"]  # the peer writes -1 where it saved nothing
    named = (leaves.data_name >= 0) & ~np.isin(leaves.data_name, nothing)
    named[[row for row, composition in parts.items() if named[list(composition.parts)].any()]] = True
    found = np.zeros(len(rows), np.bool_)
    found[there] = named[rows[there]]
    return found


def _operand(leaves: Leaves, row: int, compositions: Mapping[int, Composition]) -> Operand:
    composition = compositions.get(row)
    rows = (row,) if composition is None else composition.parts
    files = tuple(_text(leaves, leaves.data_name[part]) for part in rows)
    return Operand(tuple("" if name == "-1" else name for name in files),
                    tuple(_text(leaves, leaves.dtype[part]) for part in rows), "" if composition is None else composition.relation)


def _text(leaves: Leaves, number: int) -> str:
    return leaves.strings[number] if number >= 0 else ""


def _results(tasks: _Tasks, target_directory: str, golden_directory: str, jobs: int) -> Iterator[_Result]:
    measure = partial(_measure_batch, target_directory, golden_directory)
    if jobs <= 1 or len(tasks.rows) <= _BATCH:
        for batch in tasks.batches():
            yield from measure(batch)
        return
    with worker_pool(jobs) as pool:
        running: deque[Future[list[_Result]]] = deque()
        for batch in tasks.batches():
            running.append(submit(pool, measure, batch))
            if len(running) > 2 * jobs:  # nobody waits for work, and no more than that lies around
                yield from running.popleft().result()
        while running:
            yield from running.popleft().result()


def _measure_batch(target_directory: str, golden_directory: str, tasks: Iterable[_Task]) -> list[_Result]:
    _keep_freed_memory()
    return [_measure(target_directory, golden_directory, task) for task in tasks]


def _keep_freed_memory() -> None:
    """Freeing a block of several MB once teaches glibc to keep smaller ones: chunks are not paged in anew for each row.

    Four times as fast for tensors of 30,000 elements (docs/measuring.md); without effect elsewhere.
    """
    np.empty(1 << 24, np.uint8)


def _measure(target_directory: str, golden_directory: str, task: _Task) -> _Result:
    try:
        target = read_operand(target_directory, task.target, "target", "待调试侧")
        golden = read_operand(golden_directory, task.golden, "golden", "标杆侧")
        target_one, golden_one, layout = arrange_operands(
            target, golden, task.target, task.golden, task.tolerance, task.same_code, task.layout
        )
        precision = less_precise(_stated(task.target, target), _stated(task.golden, golden))
        values = measure_pair(target_one, golden_one, task.tolerance, precision)
        if not task.same_code and not task.target.relation and not task.golden.relation and values[_ERROR] > task.tolerance:
            regrouped = regroup(target[0], golden[0], task.tolerance)
            if regrouped is not None:
                golden_one, layout = regrouped
                values = measure_pair(target_one, golden_one, task.tolerance, precision)
        return _Result(task.row, values, layout, None)
    except TensorUnavailable as error:
        return _Result(task.row, None, "", (error.why, error.why_zh))
    except MemoryError:
        return _Result(task.row, None, "", ("its elements do not fit into memory", "内存不足，无法读取其元素"))


def _stated(operand: Operand, tensors: list[StoredTensor]) -> NumberFormat:
    """The format that the elements had in the run: a dump may have saved bfloat16 as float32."""
    formats = [format_of(dtype) or tensor.format for dtype, tensor in zip(operand.dtypes, tensors)]
    least = formats[0]
    for other in formats[1:]:
        least = less_precise(least, other)
    return least
