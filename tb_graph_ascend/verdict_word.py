"""One word for what a graph file found, so that lists of runs and ranks can say where it is wrong before one is opened."""

from __future__ import annotations

from converter.graphfile import graph_pb2


def verdict_word(summary: graph_pb2.Summary) -> str:
    """parameter | introduced | inherited | warning | clean, after the cause that comes first; "" where nothing was measured.

    `inherited`: calls differ, but none in this graph began it (a later pipeline stage, say). Where all that was followed agrees and
    only the rules of a policy object (msprobe's), that is a warning.
    """
    for direction in ("forward", "backward"):
        if summary.HasField(direction):
            return "parameter" if getattr(summary, direction).kind == "parameter" else "introduced"
    if summary.parameters:
        return "parameter"
    causes = summary.causes
    carried = causes.amplified or causes.inherited or causes.recovered
    if summary.status.error and (carried or not causes.clean):
        return "inherited"
    if summary.status.error or summary.status.warning:
        return "warning"
    # `pass` is a keyword of this language.
    return "clean" if getattr(summary.status, "pass") else ""
