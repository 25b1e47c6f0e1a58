"""What the overflow check adds to the report (`--report` with -oc): levels, and where non-finite values begin."""

from __future__ import annotations

from typing import Any

import numpy as np

from converter.graphfile.content import GraphContent, GraphSide
from converter.judge.nonfinite import trace_nonfinite, trace_sentence
from converter.judge.overflow import CRITICAL, HIGH, MEDIUM


def overflow_report(content: GraphContent) -> dict[str, Any]:
    """{"target": …, "golden": …}: number of nodes by level, and the first non-finite tensor or null.

    `first_nonfinite` names the node, the value (NaN, Infinity, -Infinity), its origin (parameter, created, arrived), one
    sentence, the last call whose outputs were finite (or null), the calls entered since then and those that carried it on.
    """
    sides = {"target": content.target, "golden": content.golden}
    return {name: _side(side) for name, side in sides.items() if side is not None}


def _side(side: GraphSide) -> dict[str, Any]:
    levels = np.zeros(0, np.uint8) if side.overflow is None else side.overflow
    counts = np.bincount(levels, minlength=CRITICAL + 1).tolist()
    found = {"medium": counts[MEDIUM], "high": counts[HIGH], "critical": counts[CRITICAL]}
    trace = trace_nonfinite(side)
    if trace is None:
        return {**found, "first_nonfinite": None}
    names = side.tree.names
    return {
        **found,
        "first_nonfinite": {
            "node": names[trace.node],
            "value": trace.value,
            "origin": trace.origin,
            "reason": trace_sentence(side, trace)[0],
            "last_finite": names[trace.last_finite] if trace.last_finite >= 0 else None,
            "path": [names[node] for node in trace.path],
            "spread": [names[node] for node in trace.spread],
        },
    }


def overflow_lines(place: str, entry: dict[str, Any]) -> list[str]:
    """For the summary on the terminal: what was found on each side of a report's entry, or that nothing was."""
    if "overflow" not in entry:
        return []
    lines = []
    for side, found in entry["overflow"].items():
        counts = [f"{found[level]} {level}" for level in ("critical", "high", "medium") if found[level]]
        if counts:
            lines.append(f"{place} {side}: overflow check: {', '.join(counts)}")
        if found["first_nonfinite"] is not None:
            lines.append(f"{place} {side}: {found['first_nonfinite']['reason']}")
    return lines or [f"{place}: overflow check: nothing found"]
