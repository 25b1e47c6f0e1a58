"""The JSON report of a conversion (`--report`): a contract that scripts rely on. Also the summary on the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Optional

import numpy as np

from converter.graphfile.summary import unmatched_count
from converter.judge.verdict import Cause, FirstDivergence, Status, Verdicts
from converter.match.pairing import How, Pairing
from converter.outputs.overflow_report import overflow_lines, overflow_report
from converter.rank_task import RankData
from converter.tree.columns import NodeKind, Tree

REPORT_FORMAT = 1


def graph_report(data: RankData, file: str) -> dict[str, Any]:
    """The entry of one step and rank. Error values are numbers, or the texts "NaN", "Infinity" (strict JSON has neither)."""
    content = data.content
    entry: dict[str, Any] = {
        "step": content.step,
        "rank": content.rank,
        "file": file,
        "mode": data.mode,
        "target": node_counts(content.target.tree),
    }
    if content.overflow_check:
        entry["overflow"] = overflow_report(content)
    if content.golden is None or content.pairing is None or content.verdicts is None:
        entry["warnings"] = list(content.warnings)
        return entry
    target, golden, pairing, verdicts = content.target.tree, content.golden.tree, content.pairing, content.verdicts
    entry["golden"] = node_counts(golden)
    entry["pairs"] = pair_counts(pairing)
    entry["unmatched"] = {
        "target": unmatched_count(target, pairing.pair_of_target),
        "golden": unmatched_count(golden, pairing.pair_of_golden),
        "target_api_calls": int(((pairing.pair_of_target < 0) & (target.kind == NodeKind.API)).sum()),
        "golden_api_calls": int(((pairing.pair_of_golden < 0) & (golden.kind == NodeKind.API)).sum()),
    }
    entry["status"] = status_counts(verdicts)
    entry["causes"] = cause_counts(verdicts)
    entry["first_divergence"] = {
        "forward": divergence(verdicts.forward, target, golden),
        "backward": divergence(verdicts.backward, target, golden),
        "parameters": [
            {"target": found.target, "golden": list(found.golden), "error": finite_or_text(found.error)} for found in verdicts.parameters
        ],
    }
    if verdicts.micro_steps:
        entry["first_divergence"]["micro_steps"] = [
            {"micro_step": step, "forward": divergence(forward, target, golden), "backward": divergence(backward, target, golden)}
            for step, (forward, backward) in enumerate(verdicts.micro_steps)
        ]
    entry["policy"] = verdicts.policy_name
    entry["warnings"] = list(content.warnings)
    return entry


def node_counts(tree: Tree) -> dict[str, int]:
    """Nodes without the root; modules without parameter gradients and without what the converter made."""
    kinds = np.bincount(tree.kind, minlength=len(NodeKind))
    return {"nodes": tree.count - 1, "modules": int(kinds[NodeKind.MODULE]), "apis": int(kinds[NodeKind.API])}


def pair_counts(pairing: Pairing) -> dict[str, int]:
    """Pairs in all and by the step that made them."""
    counts = np.bincount(pairing.how, minlength=len(How)).tolist()
    return {
        "total": pairing.count,
        **{name: counts[How[name.upper()]] for name in ("exact", "mapping", "normalised", "fuzzy", "structural", "manual")},
    }


def status_counts(verdicts: Verdicts) -> dict[str, int]:
    """Pairs by status; a pair of which nothing was compared counts as not comparable."""
    counts = np.bincount(verdicts.status, minlength=len(Status)).tolist()
    return {
        "pass": counts[Status.PASS],
        "warning": counts[Status.WARNING],
        "error": counts[Status.ERROR],
        "not_comparable": counts[Status.NOT_COMPARABLE] + counts[Status.NONE],
    }


def cause_counts(verdicts: Verdicts) -> dict[str, int]:
    """Pairs by cause."""
    counts = np.bincount(verdicts.cause, minlength=len(Cause)).tolist()
    return {cause.name.lower(): counts[cause] for cause in Cause if cause != Cause.NONE}


def divergence(found: Optional[FirstDivergence], target: Tree, golden: Tree) -> Optional[dict[str, Any]]:
    """A first divergence by node names; None where the direction agrees."""
    if found is None:
        return None
    return {
        "target": target.names[found.target_node],
        "golden": [golden.names[node] for node in found.golden_nodes],
        "kind": found.kind,
        "error": finite_or_text(found.error),
        "reason": found.reason_en,
        "after": target.names[found.after] if found.after >= 0 else None,
        "micro_step": found.micro_step,
    }


def finite_or_text(value: float) -> Any:
    """The number, or its name as text where JSON has none."""
    if math.isnan(value):
        return "NaN"
    return value if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def whole_report(tool: str, command: list[str], graphs: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The report of all graphs, with the first divergence overall: the earliest step, then the lowest rank that has one of its own."""
    entries = list(graphs)
    return {"format": REPORT_FORMAT, "tool": tool, "command": command, "overall": _overall(entries), "graphs": entries}


def _overall(entries: list[dict[str, Any]]) -> Optional[dict[str, Any]]:
    for direction in ("forward", "backward"):
        for entry in sorted(entries, key=lambda graph: (graph["step"], graph["rank"])):
            found = entry.get("first_divergence", {}).get(direction)
            if found is not None:
                return {"step": entry["step"], "rank": entry["rank"], "direction": direction, **found}
    return None


def summary_lines(report: dict[str, Any]) -> list[str]:
    """The conversion in one screen: a line a graph (the first ten), then the first divergence in plain words."""
    graphs = report["graphs"]
    lines = []
    for entry in graphs[:10]:
        place = f"step {entry['step']} rank {entry['rank']}"
        if "error" in entry:
            lines.append(f"{place}: failed: {entry['error']}")
        elif "pairs" not in entry:
            lines.append(f"{place}: {entry['target']['nodes']} nodes, single graph")
        else:
            lines.append(_counts_line(place, entry))
        lines += overflow_lines(place, entry)
    if len(graphs) > 10:
        lines.append(f"… and {len(graphs) - 10} more graphs")
    lines += _warning_lines(graphs)
    compared = [entry for entry in graphs if "pairs" in entry]
    if compared:
        lines.append(_conclusion(report["overall"], compared))
    return lines


def _warning_lines(graphs: list[dict[str, Any]]) -> list[str]:
    """One line for each text, however many graphs it is about."""
    places: dict[str, list[str]] = {}
    for entry in graphs:
        for text in entry.get("warnings", []):
            places.setdefault(text, []).append(f"step {entry['step']} rank {entry['rank']}")
    lines = []
    for text, where in list(places.items())[:5]:
        more = f" and {len(where) - 1} more" if len(where) > 1 else ""
        lines.append(f"warning: {where[0]}{more}: {text}" if len(graphs) > 1 else f"warning: {text}")
    if len(places) > 5:
        lines.append(f"… and {len(places) - 5} more warnings (--report lists them all)")
    return lines


def _by_rules_only(entry: dict[str, Any]) -> bool:
    """Whether every value that was followed agrees, so that nothing but a policy with rules of its own (msprobe) objects to any."""
    causes = entry["causes"]
    return bool(causes["clean"]) and not any(count for cause, count in causes.items() if cause != "clean")


def _counts_line(place: str, entry: dict[str, Any]) -> str:
    status, causes, unmatched = entry["status"], entry["causes"], entry["unmatched"]
    differ = status["error"] + status["warning"]
    others = ", the others follow" if differ > causes["parameter"] + causes["introduced"] else ""
    origin = "" if not differ else (
        " (by rules of the policy only)" if _by_rules_only(entry)
        else f" ({causes['parameter']} by parameters, {causes['introduced']} introduced{others})")
    calls = unmatched["target_api_calls"], unmatched["golden_api_calls"]
    return (
        f"{place}: {entry['pairs']['total']} pairs of {entry['target']['nodes']} and {entry['golden']['nodes']} nodes: "
        f"{status['pass']} agree, {differ} differ{origin}, {status['not_comparable']} cannot be compared; "
        f"unmatched: {unmatched['target'] - calls[0]} and {unmatched['golden'] - calls[1]} modules, {calls[0]} and {calls[1]} API calls"
    )


def _conclusion(overall: Optional[dict[str, Any]], compared: list[dict[str, Any]]) -> str:
    if overall is None:
        judged = sum(entry["status"]["pass"] + entry["status"]["warning"] + entry["status"]["error"] for entry in compared)
        if not any(entry["pairs"]["total"] for entry in compared):
            return ("No node of target was paired with one of golden: are these the same model? "
                    "Without -lm, -fm and --match every way of matching is tried.")
        if not judged:
            return "Nothing could be judged: the dumps hold structure only, or no pair has tensors on both sides."
        if any(entry["status"]["error"] + entry["status"]["warning"] for entry in compared):
            if all(_by_rules_only(entry) for entry in compared):
                return ("No divergence was found: all numbers agree within what floating point explains; "
                        "what differs breaks rules of the policy (--policy default judges by scale).")
            return "No first divergence of its own was found: the differences come from elsewhere (another rank, or the inputs of the run)."
        return "The two runs agree wherever they could be compared."
    place = f"step {overall['step']} rank {overall['rank']}: " if len(compared) > 1 else ""
    after = f" Last agreement before it: {overall['after']}." if overall["after"] else ""
    words = {
        "introduced": "first differs at",
        "parameter": "first differs at",
        "gap": "first differs inside",
        "nonfinite": "is first non-finite at",
    }
    return f"First divergence: {place}{overall['direction']} {words[overall['kind']]} {overall['target']}: {overall['reason']}.{after}"
