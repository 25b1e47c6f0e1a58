"""What people changed in the viewer, for a page that has no server behind it: marks, matches and mapping, and the pairs they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from converter.errors import UserError
from converter.graphfile.errors import GraphFileError
from converter.messages import message, of_json
from tb_graph_ascend.matches import matches_path, read_matches
from tb_graph_ascend.post_rematch import rematch_in_process
from tb_graph_ascend.request_checks import RequestProblem


class NotNow(GraphFileError):
    """What lies beside the graph cannot be put into force while the server has so much to do: trying again may help."""


@dataclass(frozen=True)
class KeptChanges:
    """Of one graph: the answer to GET matches, and sections (base64 of the stored bytes) that take the place of the file's."""

    marks: dict[str, Any]
    sections: dict[str, str]


def kept_changes(graph_path: str) -> KeptChanges:
    """What lies beside the graph; its pairs are matched and judged again where that changes them.

    Raises UserError where the matches file cannot be understood or cannot be put into force; NotNow where that is a matter of time.
    """
    kept = read_matches(graph_path)
    marks = kept.as_json(writable=False)
    if not kept.matches and kept.mapping is None:
        return KeptChanges(marks, {})
    work: dict[str, Any] = {"path": graph_path, "what": "rematch", "matches": kept.matches}
    if kept.mapping is not None:
        work["mapping"] = {"name": kept.mapping["name"], "text": kept.mapping["text"]} if kept.mapping["text"].strip() else None
    try:
        status, answer = rematch_in_process(work)
    except RequestProblem as problem:
        path, told = matches_path(graph_path), problem.problem
        kind = NotNow if problem.status == 503 else GraphFileError
        raise kind(told.code, f"{path}: {told.en}", f"{path}：{told.zh}") from None
    if status != 200:
        why = of_json(answer["error"].get("said", answer["error"]["en"]))
        raise UserError(message("matches.not_in_force", "{path} cannot be put into force: {why}", path=matches_path(graph_path), why=why))
    return KeptChanges(marks, {**answer["sections"], **answer["comparisons"]})
