"""`--junit`: every pair as a test case, so that a build server shows what differs. One test suite a step and rank."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from converter.compare.columns import Comparison
from converter.judge.sentences import notes_by_row, row_sentences
from converter.judge.verdict import Cause, Note, Status, Verdicts
from converter.match.pairing import Pairing
from converter.outputs.row_names import RowNames
from converter.tree.graph import Graph

JUNIT_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="tb_graph_ascend">\n'
JUNIT_TAIL = "</testsuites>\n"

# What XML 1.0 cannot say, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NOTHING_TO_COMPARE = "nothing to compare"


def junit_suite(target: Graph, golden: Graph, pairing: Pairing, comparison: Comparison, verdicts: Verdicts, step: int,
                rank: int) -> Iterator[str]:
    """The test suite of one step and rank, in pieces.

    A pair with an error is a failure, one that cannot be compared is skipped, one with a warning passes and says so in
    its output. The class name of a case is the node's place in the tree, its name the node's.
    """
    status = np.where(verdicts.status == Status.NONE, Status.NOT_COMPARABLE, verdicts.status)
    failures, skipped = int(np.count_nonzero(status == Status.ERROR)), int(np.count_nonzero(status == Status.NOT_COMPARABLE))
    yield (f'<testsuite name="step{step} rank{rank}" tests="{pairing.count}" failures="{failures}" errors="0" skipped="{skipped}">\n')
    names_t = RowNames(target, comparison.target, comparison.target_compositions)
    names_g = RowNames(golden, comparison.golden, comparison.golden_compositions)
    notes = notes_by_row(verdicts.notes)
    for pair, node in enumerate(pairing.first_target_nodes().tolist()):
        case = f"<testcase classname={_attribute(_place(target, node))} name={_attribute(target.tree.names[node])}"
        lines = []
        if status[pair] != Status.PASS:
            lines = [f"{names_t.of(int(comparison.target_row[row])) or names_g.of(int(comparison.golden_row[row]))}: {text}"
                     for row in comparison.rows_of(pair) for text in _sentences(comparison, verdicts, notes, row, int(status[pair]))]
        yield case + _body(int(status[pair]), Cause(int(verdicts.cause[pair])), lines)
    yield "</testsuite>\n"


def _sentences(comparison: Comparison, verdicts: Verdicts, notes: dict[tuple[int, int], Note], row: int, status: int) -> list[str]:
    """Why the row is as bad as its pair, or, where no row is, everything that is said about it."""
    if not verdicts.row_reasons[row] or (status in (Status.ERROR, Status.WARNING) and verdicts.row_status[row] < Status.WARNING):
        return []
    return row_sentences(comparison, verdicts.row_reasons, verdicts.row_statistic, verdicts.row_error, verdicts.row_tolerance, notes, row)


def _body(status: int, cause: Cause, lines: list[str]) -> str:
    first = lines[0] if lines else _NOTHING_TO_COMPARE
    if status == Status.ERROR:
        return f">\n<failure type={_attribute(cause.name.lower())} message={_attribute(first)}>{_content(lines)}</failure>\n</testcase>\n"
    if status == Status.NOT_COMPARABLE:
        return f">\n<skipped message={_attribute(first)}/>\n</testcase>\n"
    if status == Status.WARNING:
        return f">\n<system-out>warning: {_content(lines)}</system-out>\n</testcase>\n"
    return "/>\n"


def _place(graph: Graph, node: int) -> str:
    """Names of the path's modules; the root's name for what stands at the root."""
    tree = graph.tree
    parent = int(tree.parent[node])
    path = tree.paths[int(tree.path[parent])] if parent > 0 else ()
    return ".".join(path) or tree.names[parent if parent >= 0 else node]


def _attribute(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("\ufffd", text))


def _content(lines: list[str]) -> str:
    return escape(_FORBIDDEN.sub("\ufffd", "\n".join(lines)))
