"""The work behind POST rematch and POST propose, in a process of its own: JSON on standard input, JSON on standard output.

A process can be ended when it takes too long, and what it needs of memory (numpy, both graphs) is gone afterwards. Fields of the
request: docs/http_api.md, with `path` for the graph file in place of run, step and rank.
"""

from __future__ import annotations

import base64
import gc
import gzip
import json
import os
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Optional

from converter.errors import UserError
from converter.match.methods import METHODS
from converter.messages import as_json, message, with_replaced
from tb_graph_ascend.texts import of_error

if TYPE_CHECKING:
    from converter.graphfile.graph_pb2 import Summary
    from converter.judge.policy import Policy
    from converter.match.mapping_rules import MappingFile
    from converter.match.pairing import NodesOfPair, Pairing
    from converter.match.pins import Pins
    from converter.rematch import Rematch

FROM_FILE = "file"  # the mapping or policy that the graph was converted with
MOST_LISTED = 200  # changed pairs that are listed one by one
EXTENDED = "\n--- # extends "  # judge/policy.py puts the files that a policy extends behind it


def main() -> int:
    """0 answered, 1 the answer is an error for the user."""
    gc.disable()  # millions of small objects are made and none of them in cycles; the process ends soon
    request = json.load(sys.stdin)
    try:
        answer = proposed(request) if request.get("what") == "propose" else rematched(request)
    except UserError as problem:
        print(json.dumps({"error": {**of_error(problem).as_json(), "code": "rematch"}}))
        return 1
    json.dump(answer, sys.stdout, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return 0


def rematched(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to POST rematch. Raises UserError."""
    from converter.match.mapping_lint import coverage
    from converter.match.mapping_report import first_unknown
    from converter.rematch import changed_pairs, rematch_sections

    result = _rematch(request)
    preview = bool(request.get("preview"))
    sections = rematch_sections(result, comparisons=not preview)
    content, pairing = result.content, result.pairing
    new, gone = changed_pairs(result.before, pairing)
    assert content.golden is not None
    left = {}
    for side, graph, pair_of in (("target", content.target, pairing.pair_of_target), ("golden", content.golden, pairing.pair_of_golden)):
        found = coverage(side, [graph.tree], [(pair_of >= 0).nonzero()[0]])
        left[side] = {"modules": found.modules, "paired": found.paired,
                      "classes": [{"class": name, "count": count, "sample": sample} for name, count, sample in found.left]}
    return {
        "sections": {name: _packed(data) for name, data in sections.items() if "/" not in name},
        "comparisons": {name: _packed(data) for name, data in sections.items() if "/" in name},
        "rules": [{"scope": rule.scope, "source": rule.source, "target": rule.target, "line": rule.line, "hits": rule.hits}
                  for rule in pairing.rules],
        "counts": {"pairs": pairing.count, "before": result.before.count, "new": len(new), "gone": len(gone),
                   "kept": pairing.count - len(new)},
        "new": _listed(new),
        "gone": _listed(gone),
        "left": left,
        "messages": [{"line": entry.line, "column": entry.column, "text": entry.message, "said": as_json(entry.message)}
                     for entry in first_unknown(result.unknown)]
                    + [{"line": 0, "column": 0, "text": text, "said": as_json(text)} for text in pairing.warnings],
    }


def proposed(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to POST propose: rules that say what the present pairs, or only the manual ones, say. Raises UserError."""
    import numpy as np

    from converter.match.mapping_propose import propose_mapping
    from converter.match.mapping_write import write_mapping
    from converter.match.pairing import How

    result = _rematch(request)
    pairing = result.pairing
    if request.get("pairs") == "manual":
        pairing = _only(pairing, np.flatnonzero(pairing.how == How.MANUAL).tolist())
    content = result.content
    assert content.golden is not None
    proposal = propose_mapping(content.target.tree, content.golden.tree, pairing)
    of = "the manual matches" if request.get("pairs") == "manual" else "the pairs"
    sides = f"target: {content.target.origin.path}\ngolden: {content.golden.origin.path}"
    header = f"Written by tb_graph_ascend from {of} of a comparison\n{sides}"
    return {"text": write_mapping(proposal.mapping, header, proposal.comments), "rules": len(proposal.mapping.rules),
            "agreed": proposal.agreed, "missing": proposal.missing[:MOST_LISTED], "added": proposal.added[:MOST_LISTED]}


def _rematch(request: dict[str, Any]) -> Rematch:
    from converter.graphfile.file import open_graph
    from converter.match.pins import pins_of
    from converter.rematch import rematch

    file = open_graph(request["path"])
    summary = file.summary()
    pins: Optional[Pins] = pins_of(request.get("matches") or [], "matches")
    mapping = _mapping(request.get("mapping", FROM_FILE), summary)
    method = request.get("match") or method_of(list(summary.provenance.command))
    if method not in METHODS:
        raise UserError(message("rematch.method", "match must be one of {methods}, found {found}", methods=METHODS, found=repr(method)))
    return rematch(file, mapping, pins, "auto" if method == "mapping" and mapping is None else method, _policy(request, summary), 1)


def _mapping(wanted: Any, summary: Summary) -> Optional[MappingFile]:
    from converter.match.mapping_file import parse_mapping

    if wanted == FROM_FILE:
        return parse_mapping(summary.mapping.text, summary.mapping.name) if summary.mapping.text.strip() else None
    if wanted is None:
        return None
    if not isinstance(wanted, dict) or not isinstance(wanted.get("text"), str):
        raise UserError(message("rematch.mapping", "mapping must be null or {name, text}"))
    return parse_mapping(wanted["text"], str(wanted.get("name") or "mapping"))


def method_of(command: list[str]) -> str:
    """How a file was matched, as its command line says; auto where that cannot be told."""
    from converter.cli import options_of, parser

    try:
        arguments, _ = parser().parse_known_args(command[1:])
        arguments.input = None
        arguments.target_path = arguments.target_path or "."
        return options_of(arguments, command)[0].match
    except (SystemExit, UserError):
        return "auto"


def _policy(request: dict[str, Any], summary: Summary) -> Policy:
    from converter.judge.policy import load_policy, shipped_policies

    wanted = request.get("policy", FROM_FILE)
    name, text = (summary.policy.name, summary.policy.text) if wanted == FROM_FILE else ("", "")
    if isinstance(wanted, dict):
        name, text = str(wanted.get("name") or "policy"), str(wanted.get("text") or "")
    elif isinstance(wanted, str) and wanted != FROM_FILE:
        name = wanted
    if not text or name in shipped_policies():
        if name not in shipped_policies():  # a name from a request is never a path
            raise UserError(message("rematch.policy", "there is no policy '{name}'; the shipped policies are {shipped}",
                                    name=name, shipped=shipped_policies()))
        return load_policy(name)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "policy.yaml")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text.split(EXTENDED)[0])
        try:
            return load_policy(path)
        except UserError as problem:
            raise UserError(with_replaced(problem.told, path, name)) from None


def _only(pairing: Pairing, pairs: list[int]) -> Pairing:
    from converter.match.assemble import assemble
    from converter.match.pairing import How, Pair, Relation

    nodes = pairing.nodes()
    chosen = [Pair(*nodes[pair], Relation(int(pairing.relation[pair])), How(int(pairing.how[pair])), 1.0,
                   pairing.evidence_texts[pairing.evidence[pair]]) for pair in pairs]
    return assemble(len(pairing.pair_of_target), len(pairing.pair_of_golden), chosen)


def _listed(pairs: list[NodesOfPair]) -> list[list[list[int]]]:
    return [[list(target), list(golden)] for target, golden in pairs[:MOST_LISTED]]


def _packed(message: bytes) -> str:
    return base64.b64encode(gzip.compress(message, 1, mtime=0)).decode("ascii")


if __name__ == "__main__":
    sys.exit(main())
