"""`--pairs`: every pair as one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator

from converter.judge.reasons import CATALOGUE
from converter.judge.verdict import Status, Verdicts
from converter.match.pairing import How, Pairing, Relation
from converter.tree.columns import Tree


def pairs_lines(target: Tree, golden: Tree, pairing: Pairing, verdicts: Verdicts, step: int, rank: int) -> Iterator[str]:
    """One line a pair, in target call order: names of both sides, relation, how, confidence, status, reason ids."""
    for number, (target_nodes, golden_nodes) in enumerate(pairing.nodes()):
        status = Status(int(verdicts.status[number]))
        mask = int(verdicts.reasons[number])
        entry = {
            "step": step, "rank": rank,
            "target": [target.names[node] for node in target_nodes],
            "golden": [golden.names[node] for node in golden_nodes],
            "relation": Relation(int(pairing.relation[number])).name.lower(), "how": How(int(pairing.how[number])).name.lower(),
            "confidence": round(float(pairing.confidence[number]), 4),
            "status": (Status.NOT_COMPARABLE if status == Status.NONE else status).name.lower(),
            "reasons": [reason.id for reason in CATALOGUE if mask >> reason.code & 1]}
        yield json.dumps(entry, ensure_ascii=False) + "\n"
